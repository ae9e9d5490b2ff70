//! The tape: words of numbers, and arrays beside them, last in, first out.
//!
//! Mostly it is one piece of memory that grows as it is written. In limited memory it is many small ones ([`Limited`]), of which none moves
//! and none is longer than its records need: what it takes is what is on it, and no record goes beyond the limit.

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
    limited: Option<Box<Limited>>,
}

/// What a tape in limited memory has beside the words of its last piece.
#[derive(Clone, Debug, Default)]
struct Limited {
    /// The bytes that its records may take.
    most: usize,
    /// Words in a piece.
    piece: usize,
    /// The pieces before the last one, and how many words are on them.
    pieces: Vec<Vec<u64>>,
    before: usize,
    /// A piece that became empty, for the next one.
    empty: Option<Vec<u64>>,
    /// Whether a record did not fit.
    is_full: bool,
}

/// How far a tape has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    words: usize,
    arrays: usize,
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
        Tape { words: spare(), arrays: None, limited: None }
    }

    /// A tape without records, which lies in pieces of so many bytes, about, and may be given a limit.
    pub fn in_pieces(bytes: usize) -> Tape {
        let piece = bytes.clamp(8, MOST_IN_PIECE) / 8;
        let limited = Limited { most: usize::MAX, piece, ..Limited::default() };
        Tape { words: Vec::new(), arrays: None, limited: Some(Box::new(limited)) }
    }

    /// Leaves the memory to the next tape of this thread, unless it is a lot.
    #[inline(always)]
    pub fn leave(self) {
        if self.limited.is_none() {
            leave(self.words);
        }
    }

    /// A record of numbers on the tape; false where there is no memory for it.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, record: [u64; N]) -> bool {
        if self.words.capacity() - self.words.len() < N {
            let limited = self.limited.take();
            (self.words, self.limited) =
                grown(std::mem::take(&mut self.words), limited, N, array_bytes(&self.arrays));
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
        if self.words.len() < N {
            let limited = self.limited.take();
            (self.words, self.limited) = before(std::mem::take(&mut self.words), limited);
        }
        let start = self.words.len().checked_sub(N)?;
        let record = *self.words[start..].first_chunk::<N>()?;
        self.words.truncate(start);
        Some(record)
    }

    /// An array of a record on the tape; false where it does not fit.
    #[inline(always)]
    pub fn keep<T: Element, const R: usize>(&mut self, array: Array<T, R>) -> bool {
        let dims = std::array::from_fn(|axis| array.dims().get(axis).copied().unwrap_or(0));
        self.arrays = Some(kept(self.arrays.take(), T::data(array.into_data()), dims));
        self.limited.is_none() || self.fits()
    }

    /// Takes the last array back.
    #[inline(always)]
    pub fn give<T: Element, const R: usize>(&mut self) -> Option<Array<T, R>> {
        let (data, dims) = self.arrays.as_deref_mut().and_then(last)?;
        Array::new(std::array::from_fn(|axis| dims[axis]), T::taken(data)?)
    }

    /// Bytes that its records take now.
    pub fn bytes(&self) -> usize {
        let before = self.limited.as_ref().map_or(0, |limited| limited.before);
        (before + self.words.len()) * 8 + array_bytes(&self.arrays)
    }

    /// Whether it is within its limit; notes that it is not.
    #[inline(never)]
    fn fits(&mut self) -> bool {
        let bytes = self.bytes();
        self.limited.as_mut().is_none_or(|limited| {
            limited.is_full |= bytes > limited.most;
            bytes <= limited.most
        })
    }

    /// All records may take so many bytes from now on; gives back how many they might before. One that is not in pieces has no limit.
    pub fn limit(&mut self, bytes: usize) -> usize {
        let limited = self.limited.as_mut();
        limited.map_or(usize::MAX, |limited| std::mem::replace(&mut limited.most, bytes))
    }

    /// Whether a record did not fit since this was asked last.
    pub fn was_full(&mut self) -> bool {
        self.limited.as_mut().is_some_and(|limited| std::mem::take(&mut limited.is_full))
    }

    /// That one did not fit.
    pub fn note_full(&mut self) {
        if let Some(limited) = &mut self.limited {
            limited.is_full = true;
        }
    }

    /// How far it has been written.
    pub fn mark(&self) -> Mark {
        let before = self.limited.as_ref().map_or(0, |limited| limited.before);
        let arrays = self.arrays.as_ref().map_or(0, |arrays| arrays.all.len());
        Mark { words: before + self.words.len(), arrays }
    }

    /// Drops what was written since.
    pub fn back_to(&mut self, mark: Mark) {
        while let Some(limited) =
            self.limited.as_mut().filter(|limited| limited.before > mark.words)
        {
            let Some(last) = limited.pieces.pop() else { break };
            limited.before -= last.len();
            self.words = last;
        }
        let before = self.limited.as_ref().map_or(0, |limited| limited.before);
        self.words.truncate(mark.words - before.min(mark.words));
        while let Some(arrays) = self.arrays.as_mut().filter(|a| a.all.len() > mark.arrays) {
            last(arrays);
        }
    }

    /// Gives back memory in which there is nothing.
    pub fn shrink(&mut self) {
        if let Some(limited) = &mut self.limited {
            limited.empty = None;
            if self.words.is_empty() {
                self.words = Vec::new();
            }
        }
    }
}

/// The most bytes in a piece of a tape in limited memory.
const MOST_IN_PIECE: usize = 256 << 10;

#[inline(always)]
fn array_bytes(arrays: &Option<Box<Arrays>>) -> usize {
    arrays.as_ref().map_or(0, |arrays| arrays.bytes)
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

/// Words with room for some more, where there is memory; arrays take so many bytes beside them.
#[cold]
#[inline(never)]
fn grown(
    mut words: Vec<u64>,
    mut limited: Option<Box<Limited>>,
    more: usize,
    arrays: usize,
) -> (Vec<u64>, Option<Box<Limited>>) {
    let Some(of) = &mut limited else {
        // Where there is none, there is no room, which is looked at next.
        let _ = words.try_reserve(more.max(64));
        return (words, limited);
    };
    let held = of.before + words.len();
    let room = (of.most.saturating_sub(arrays) / 8).saturating_sub(held);
    if room < more {
        of.is_full = true;
        return (words, limited);
    }
    let mut next = of.empty.take().unwrap_or_default();
    // A piece that begins has no more room than the limit leaves.
    let size = of.piece.max(more).min(room);
    if next.capacity() < more || next.capacity() > room {
        next = Vec::new();
    }
    if next.try_reserve_exact(size).is_err() {
        return (words, limited);
    }
    of.before = held;
    if !words.is_empty() {
        of.pieces.push(words);
    }
    (next, limited)
}

/// The last words, where those of the last piece are used up.
#[cold]
#[inline(never)]
fn before(words: Vec<u64>, mut limited: Option<Box<Limited>>) -> (Vec<u64>, Option<Box<Limited>>) {
    let Some(of) = limited.as_mut().filter(|_| words.is_empty()) else { return (words, limited) };
    let Some(last) = of.pieces.pop() else { return (words, limited) };
    of.before -= last.len();
    if words.capacity() > 0 {
        of.empty = Some(words);
    }
    (last, limited)
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
