//! The tape: words of numbers, and arrays beside them, last in, first out.

use super::array::{Array, Element};
use crate::ir::MAX_RANK;
use crate::ops::shaped::Data;
use std::cell::Cell;

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
///
/// Functions that are not compiled into their callers are given its parts, never itself: so it need not be in memory, and loops
/// that push and pop numbers keep it in registers.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    words: Vec<u64>,
    arrays: Option<Box<Arrays>>,
}

#[derive(Clone, Debug, Default)]
struct Arrays {
    all: Vec<(Data, [usize; MAX_RANK])>,
    bytes: usize,
}

impl Tape {
    /// A tape without records.
    #[inline(always)]
    pub fn new() -> Tape {
        Tape::default()
    }

    /// A tape without records, with the memory of the last one of this thread.
    #[inline(always)]
    pub fn again() -> Tape {
        Tape { words: spare(), arrays: None }
    }

    /// Leaves the memory to the next tape of this thread, unless it is a lot.
    #[inline(always)]
    pub fn leave(self) {
        leave(self.words);
    }

    /// A record of numbers on the tape; false where there is no memory for it.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, record: [u64; N]) -> bool {
        if self.words.capacity() - self.words.len() < N {
            self.words = grown(std::mem::take(&mut self.words), N);
            if self.words.capacity() - self.words.len() < N {
                return false;
            }
        }
        self.words.extend_from_slice(&record);
        true
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
    #[inline(always)]
    pub fn keep<T: Element, const R: usize>(&mut self, array: Array<T, R>) {
        let dims = std::array::from_fn(|axis| array.dims().get(axis).copied().unwrap_or(0));
        self.arrays = Some(kept(self.arrays.take(), T::data(array.into_data()), dims));
    }

    /// Takes the last array back.
    #[inline(always)]
    pub fn give<T: Element, const R: usize>(&mut self) -> Option<Array<T, R>> {
        let (data, dims) = self.arrays.as_deref_mut().and_then(last)?;
        Array::new(std::array::from_fn(|axis| dims[axis]), T::taken(data)?)
    }

    /// Bytes that its records take now.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8 + self.arrays.as_ref().map_or(0, |arrays| arrays.bytes)
    }
}

/// The most bytes that a thread keeps for its next tape.
const KEPT: usize = 64 << 20;

thread_local! {
    static SPARE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

#[inline(never)]
fn spare() -> Vec<u64> {
    SPARE.try_with(Cell::take).unwrap_or_default()
}

#[inline(never)]
fn leave(mut words: Vec<u64>) {
    words.clear();
    if words.capacity() * 8 <= KEPT {
        // Where the thread is about to end, the memory is freed.
        let _ = SPARE.try_with(|spare| spare.set(words));
    }
}

/// Words with room for some more, where there is memory.
#[cold]
#[inline(never)]
fn grown(mut words: Vec<u64>, more: usize) -> Vec<u64> {
    // Where there is none, there is no room, which is looked at next.
    let _ = words.try_reserve(more.max(64));
    words
}

#[inline(never)]
fn kept(arrays: Option<Box<Arrays>>, data: Data, dims: [usize; MAX_RANK]) -> Box<Arrays> {
    let mut arrays = arrays.unwrap_or_default();
    arrays.bytes += bytes(&data);
    arrays.all.push((data, dims));
    arrays
}

#[inline(never)]
fn last(arrays: &mut Arrays) -> Option<(Data, [usize; MAX_RANK])> {
    let (data, dims) = arrays.all.pop()?;
    arrays.bytes -= bytes(&data);
    Some((data, dims))
}

fn bytes(data: &Data) -> usize {
    match data {
        Data::F64(x) => size_of_val(&x[..]),
        Data::F32(x) => size_of_val(&x[..]),
        Data::I64(x) => size_of_val(&x[..]),
        Data::Bool(x) => size_of_val(&x[..]),
    }
}
