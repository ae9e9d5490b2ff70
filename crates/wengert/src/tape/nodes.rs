//! The list itself: what was computed, in order.
//!
//! One entry per operation, in two arrays: the operation (1 byte); the value it gave (8 bytes) and the entries it
//! read (4 bytes each): 17 bytes in all. Arrays come in chunks, so that a list that grows is never copied and one that
//! is begun anew finds its memory there. Partials are not kept: the sweeps make them from the values.

use wengert_core::ops::Prim;

const SHIFT: u32 = 14;
/// Entries of a chunk.
pub(super) const CHUNK: usize = 1 << SHIFT;
const WITHIN: usize = CHUNK - 1;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Given from outside: derivatives are taken by it.
    Input,
    /// A number.
    Constant,
    /// A row of the rule table, of entries `a` and `b`, and of a third where the entry before it is [`Op::Third`].
    Row(Prim),
    /// The third input of the next entry, which is entry `a`.
    Third,
    /// A sum of `b` terms from the `a`-th on, with partials that are known.
    Sum,
    /// The same with partials in single precision.
    Single,
    /// Output `b` of call `a`; outputs of a call stand beside each other.
    Called,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) value: f64,
}

/// An entry without its operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) value: f64,
    pub(super) a: u32,
    pub(super) b: u32,
}

/// Arrays of one chunk.
pub(super) struct Chunk {
    entry: Box<[Entry; CHUNK]>,
    op: Box<[Op; CHUNK]>,
}

/// An array on the heap that was never on the stack.
fn boxed<T: Copy>(fill: T) -> Box<[T; CHUNK]> {
    match vec![fill; CHUNK].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it has this length"),
    }
}

impl Chunk {
    fn new() -> Chunk {
        Chunk { entry: boxed(Entry { value: 0.0, a: 0, b: 0 }), op: boxed(Op::Input) }
    }
}

/// The entries of a tape.
#[derive(Default)]
pub(super) struct Nodes {
    chunks: Vec<Chunk>,
    len: usize,
}

impl Nodes {
    /// The most entries there can be: their numbers have 32 bits.
    pub(super) const MOST: usize = u32::MAX as usize - 2;

    pub(super) const fn none() -> Nodes {
        Nodes { chunks: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends an entry where there is room for it without memory being asked for; gives back its number.
    #[inline(always)]
    pub(super) fn push_here(&mut self, op: Op, a: u32, b: u32, value: f64) -> Option<u32> {
        let at = self.len;
        let (chunk, k) = (self.chunks.get_mut(at >> SHIFT)?, at & WITHIN);
        chunk.entry[k] = Entry { value, a, b };
        chunk.op[k] = op;
        self.len = at + 1;
        Some(at as u32)
    }

    /// Appends an entry; gives back its number.
    pub(super) fn push(&mut self, op: Op, a: u32, b: u32, value: f64) -> u32 {
        if self.len >> SHIFT == self.chunks.len() {
            self.chunks.push(SPARE.take_one().unwrap_or_else(Chunk::new));
        }
        match self.push_here(op, a, b, value) {
            Some(at) => at,
            None => unreachable!("there is a chunk for it"),
        }
    }

    #[inline(always)]
    pub(super) fn value(&self, at: u32) -> f64 {
        self.chunks[at as usize >> SHIFT].entry[at as usize & WITHIN].value
    }

    #[inline(always)]
    pub(super) fn set_value(&mut self, at: u32, value: f64) {
        self.chunks[at as usize >> SHIFT].entry[at as usize & WITHIN].value = value;
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Node {
        let (chunk, k) = (&self.chunks[at >> SHIFT], at & WITHIN);
        let Entry { value, a, b } = chunk.entry[k];
        Node { op: chunk.op[k], a, b, value }
    }

    /// Entries `first..end` that are in the chunk of the last of them.
    pub(super) fn last_of(&self, first: usize, end: usize) -> (&[Entry], &[Op]) {
        let (chunk, k) = (&self.chunks[(end - 1) >> SHIFT], (end - 1) & WITHIN);
        let within = k - k.min(end - 1 - first)..k + 1;
        (&chunk.entry[within.clone()], &chunk.op[within])
    }

    /// The entries that a row reads, by their numbers.
    #[inline(always)]
    pub(super) fn inputs(&self, at: usize, node: Node) -> [u32; 3] {
        let third = match node.op {
            Op::Row(row) if row.slope_count() == 3 => self.get(at - 1).a,
            _ => 0,
        };
        [node.a, node.b, third]
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, Node)> + '_ {
        (0..self.len).map(|at| (at, self.get(at)))
    }

    /// Forgets entries from this one on. Their memory stays, for those that come.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives back memory that no entry is in.
    pub(super) fn free_unused(&mut self) {
        self.chunks.truncate(self.len.div_ceil(CHUNK));
        self.chunks.shrink_to_fit();
    }

    /// What its arrays take.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK * BYTES
    }
}

/// What an entry takes.
pub(super) const BYTES: usize = size_of::<Entry>() + size_of::<Op>();

impl Drop for Nodes {
    fn drop(&mut self) {
        SPARE.put(&mut self.chunks);
    }
}

/// Chunks of tapes that have ended, for the next one of the thread: a gradient that takes a microsecond should not
/// wait for memory.
struct Spare;

/// How many are kept: about 9 MB.
const KEPT: usize = 32;

thread_local! {
    static CHUNKS: std::cell::RefCell<Vec<Chunk>> = const { std::cell::RefCell::new(Vec::new()) };
}
const SPARE: Spare = Spare;

impl Spare {
    fn take_one(&self) -> Option<Chunk> {
        CHUNKS.try_with(|chunks| chunks.borrow_mut().pop()).ok().flatten()
    }

    fn put(&self, chunks: &mut Vec<Chunk>) {
        let keep = |kept: &std::cell::RefCell<Vec<Chunk>>| {
            let mut kept = kept.borrow_mut();
            let room = KEPT - kept.len().min(KEPT);
            kept.extend(chunks.drain(..room.min(chunks.len())));
        };
        // At the end of a thread they are freed.
        let _ = CHUNKS.try_with(keep);
    }
}

/// Frees what is kept for the next tape of this thread.
pub(super) fn free_spare() {
    let _ = CHUNKS.try_with(|chunks| chunks.borrow_mut().clear());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_take_seventeen_bytes() {
        assert_eq!((size_of::<Op>(), BYTES), (1, 17));
    }
}
