//! The tape: words of numbers, and arrays beside them, last in, first out.
//!
//! Mostly it is one piece of memory that grows as it is written. A loop that knows how many records it makes gets room for all of them
//! at once ([`Tape::records`]): then no record is asked whether it fits, and what the loop carries stays in registers.
//! In limited memory it is many small ones ([`Limited`]), of which none moves
//! and none is longer than its records need: what it takes is what is on it, and no record goes beyond the limit.

use super::array::{Array, Element};
use crate::ir::MAX_RANK;
use crate::ops::room;
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
    /// Room for words, and how many are records. What is behind them is left from before.
    words: Vec<u64>,
    used: usize,
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
    /// The pieces before the last one, each as long as its records, and how many words are on them.
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
        Tape { words: spare(), ..Tape::default() }
    }

    /// A tape without records, which lies in pieces of so many bytes, about, and may be given a limit.
    pub fn in_pieces(bytes: usize) -> Tape {
        let piece = bytes.clamp(8, MOST_IN_PIECE) / 8;
        let limited = Limited { most: usize::MAX, piece, ..Limited::default() };
        Tape { limited: Some(Box::new(limited)), ..Tape::default() }
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
        if self.room::<N>().is_none() {
            self.grow(N);
        }
        let Some(place) = self.room::<N>() else { return false };
        *place = record;
        self.used += N;
        true
    }

    /// Takes the last record of that many numbers back.
    #[inline(always)]
    pub fn pop<const N: usize>(&mut self) -> Option<[u64; N]> {
        if self.used < N {
            self.go_back();
        }
        self.used = self.used.checked_sub(N)?;
        self.words.get(self.used..)?.first_chunk::<N>().copied()
    }

    /// Where the next record comes to stand.
    #[inline(always)]
    fn room<const N: usize>(&mut self) -> Option<&mut [u64; N]> {
        self.words.get_mut(self.used..)?.first_chunk_mut::<N>()
    }

    /// Room for so many records of numbers, all of which will be written; none where there is no memory for them, or
    /// not in one piece.
    #[inline(always)]
    pub fn records<const N: usize>(&mut self, count: usize) -> Option<&mut [[u64; N]]> {
        let more = count.checked_mul(N).filter(|_| self.limited.is_none())?;
        if self.words.len().saturating_sub(self.used) < more {
            self.grow(more);
        }
        let room = self.words.get_mut(self.used..)?.get_mut(..more)?;
        self.used += more;
        // So that a compiler sees how many there are.
        room.as_chunks_mut().0.get_mut(..count)
    }

    /// The last records of so many numbers, taken back together, the last one at the end; none where there are not so many, or
    /// not in one piece.
    #[inline(always)]
    pub fn last_records<const N: usize>(&mut self, count: usize) -> Option<&[[u64; N]]> {
        let start = self.used.checked_sub(count.checked_mul(N)?)?;
        let records = self.words.get(start..self.used)?;
        self.used = start;
        records.as_chunks().0.get(..count)
    }

    /// Makes room for so many words more, where there is memory.
    #[inline(always)]
    fn grow(&mut self, more: usize) {
        let (words, limited) = (std::mem::take(&mut self.words), self.limited.take());
        (self.words, self.used, self.limited) =
            grown(words, self.used, limited, more, array_bytes(&self.arrays));
    }

    /// Goes back to the last piece, where the records of this one are used up.
    #[inline(always)]
    fn go_back(&mut self) {
        let (words, limited) = (std::mem::take(&mut self.words), self.limited.take());
        (self.words, self.used, self.limited) = before(words, self.used, limited);
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
        (before + self.used) * 8 + array_bytes(&self.arrays)
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
        Mark { words: before + self.used, arrays }
    }

    /// Drops what was written since.
    pub fn back_to(&mut self, mark: Mark) {
        while let Some(limited) =
            self.limited.as_mut().filter(|limited| limited.before > mark.words)
        {
            let Some(last) = limited.pieces.pop() else { break };
            limited.before -= last.len();
            (self.used, self.words) = (last.len(), last);
        }
        let before = self.limited.as_ref().map_or(0, |limited| limited.before);
        self.used = self.used.min(mark.words - before.min(mark.words));
        while let Some(arrays) = self.arrays.as_mut().filter(|a| a.all.len() > mark.arrays) {
            last(arrays);
        }
    }

    /// Gives back memory in which there is nothing.
    pub fn shrink(&mut self) {
        if let Some(limited) = &mut self.limited {
            limited.empty = None;
            if self.used == 0 {
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
fn leave(words: Vec<u64>) {
    if words.capacity() * 8 <= KEPT {
        // Where the thread is about to end, the memory is freed.
        let _ = SPARE.try_with(|spare| spare.set(words));
    }
}

/// Words of which some are used, with room for some more, where there is memory; arrays take so many bytes beside them.
#[cold]
#[inline(never)]
fn grown(
    mut words: Vec<u64>,
    used: usize,
    mut limited: Option<Box<Limited>>,
    more: usize,
    arrays: usize,
) -> (Vec<u64>, usize, Option<Box<Limited>>) {
    let Some(of) = &mut limited else {
        // Where there is none, there is no room, which is looked at next.
        widen(&mut words, used, more);
        return (words, used, limited);
    };
    let held = of.before + used;
    let room = (of.most.saturating_sub(arrays) / 8).saturating_sub(held);
    if room < more {
        of.is_full = true;
        return (words, used, limited);
    }
    let mut next = of.empty.take().unwrap_or_default();
    // A piece that begins has no more room than the limit leaves.
    let size = of.piece.max(more).min(room);
    if next.capacity() < more || next.capacity() > room {
        next = Vec::new();
    }
    if next.try_reserve_exact(size.saturating_sub(next.len())).is_err() {
        return (words, used, limited);
    }
    next.resize(next.capacity(), 0);
    of.before = held;
    if used > 0 {
        words.truncate(used);
        of.pieces.push(words);
    }
    (next, 0, limited)
}

/// Makes room for some more words behind those that are used, where there is memory.
fn widen(words: &mut Vec<u64>, used: usize, more: usize) {
    let Some(wanted) = used.checked_add(more.max(64)) else { return };
    if used == 0 {
        // Blank pages of the system's, which nobody need write.
        *words = Vec::new();
        if wanted.checked_mul(8).is_some_and(room::fits) {
            *words = vec![0; wanted];
        }
        return;
    }
    words.truncate(used);
    if words.try_reserve(wanted - used).is_ok() {
        words.resize(words.capacity(), 0);
    }
}

/// The last words, where those of the last piece are used up.
#[cold]
#[inline(never)]
fn before(
    words: Vec<u64>,
    used: usize,
    mut limited: Option<Box<Limited>>,
) -> (Vec<u64>, usize, Option<Box<Limited>>) {
    let Some(of) = limited.as_mut().filter(|_| used == 0) else { return (words, used, limited) };
    let Some(last) = of.pieces.pop() else { return (words, used, limited) };
    of.before -= last.len();
    if words.capacity() > 0 {
        of.empty = Some(words);
    }
    let used = last.len();
    (last, used, limited)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_together_and_one_by_one() {
        let mut tape = Tape::new();
        assert!(tape.push([1, 2]));
        let room = tape.records::<3>(1000).unwrap();
        assert_eq!(room.len(), 1000);
        for (k, record) in room.iter_mut().enumerate() {
            *record = [k as u64; 3];
        }
        assert!(tape.push([7]));
        assert_eq!(tape.bytes(), 8 * (2 + 3000 + 1));
        assert_eq!(tape.pop::<1>(), Some([7]));
        assert_eq!(tape.pop::<3>(), Some([999; 3]));
        let last = tape.last_records::<3>(999).unwrap();
        assert!(last.iter().enumerate().all(|(k, record)| *record == [k as u64; 3]));
        assert_eq!(tape.last_records::<3>(1), None);
        assert_eq!(tape.pop::<2>(), Some([1, 2]));
        assert_eq!(tape.pop::<1>(), None);
        assert_eq!(tape.last_records::<2>(0), Some(&[][..]));
    }

    #[test]
    fn records_that_no_memory_holds() {
        let mut tape = Tape::new();
        assert!(tape.push([1]));
        assert!(tape.records::<2>(usize::MAX / 2 + 1).is_none());
        assert!(tape.records::<1>(1 << 60).is_none());
        assert_eq!((tape.bytes(), tape.pop::<1>()), (8, Some([1])));
        // In pieces there is no room for all of them in one.
        let mut tape = Tape::in_pieces(64);
        assert!(tape.records::<1>(2).is_none());
        assert!((0..100).all(|k| tape.push([k])));
        assert!(tape.last_records::<1>(100).is_none());
        assert!((0..100).rev().all(|k| tape.pop() == Some([k])));
    }
}
