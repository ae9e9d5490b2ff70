//! The tape: words of numbers, and arrays beside them, last in, first out.

use super::array::{Array, Element};
use crate::ir::MAX_RANK;
use crate::ops::shaped::Data;

/// A number as one word of a record.
pub trait Word: Copy {
    /// Its bits.
    fn word(self) -> u64;
    /// The number of these bits.
    fn number(word: u64) -> Self;
}

macro_rules! words {
    ($($ty:ty, $x:ident => $word:expr, $w:ident => $number:expr;)*) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn word(self) -> u64 {
                let $x = self;
                $word
            }

            #[inline(always)]
            fn number($w: u64) -> $ty {
                $number
            }
        }
    )*};
}
words! {
    f64, x => x.to_bits(), w => f64::from_bits(w);
    f32, x => u64::from(x.to_bits()), w => f32::from_bits(w as u32);
    i64, x => x as u64, w => w as i64;
    bool, x => u64::from(x), w => w != 0;
}

/// A stack of records. What is popped is what was pushed last.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    words: Vec<u64>,
    arrays: Vec<(Data, [usize; MAX_RANK])>,
    array_bytes: usize,
}

impl Tape {
    /// A tape without records.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// A record of numbers on the tape; false where there is no memory for it.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, record: [u64; N]) -> bool {
        if self.words.capacity() - self.words.len() < N && !self.grow(N) {
            return false;
        }
        self.words.extend_from_slice(&record);
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, words: usize) -> bool {
        self.words.try_reserve(words.max(64)).is_ok()
    }

    /// Takes the last record of that many numbers back.
    #[inline(always)]
    pub fn pop<const N: usize>(&mut self) -> Option<[u64; N]> {
        let start = self.words.len().checked_sub(N)?;
        let record = *self.words[start..].first_chunk::<N>()?;
        self.words.truncate(start);
        Some(record)
    }

    /// An array of a record on the tape.
    pub fn keep<T: Element, const R: usize>(&mut self, array: Array<T, R>) {
        let dims = std::array::from_fn(|axis| array.dims().get(axis).copied().unwrap_or(0));
        self.array_bytes += size_of_val(array.data());
        self.arrays.push((T::data(array.into_data()), dims));
    }

    /// Takes the last array back.
    pub fn give<T: Element, const R: usize>(&mut self) -> Option<Array<T, R>> {
        let (data, dims) = self.arrays.pop()?;
        let data = T::taken(data)?;
        self.array_bytes -= size_of_val(&data[..]);
        Array::new(std::array::from_fn(|axis| dims[axis]), data)
    }

    /// Bytes that its records take now.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8 + self.array_bytes
    }

    /// Forgets its records. The memory of words stays, for those that come.
    pub fn clear(&mut self) {
        self.words.clear();
        self.arrays.clear();
        self.array_bytes = 0;
    }

    /// How much memory it could give back.
    pub fn room(&self) -> usize {
        self.words.capacity() * 8
    }
}
