//! A value in machine words.

use cranelift_codegen::ir;
use wengert_core::ir::{MAX_RANK, Type};

/// A value in machine words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Machine {
    /// A scalar, or the top of a tape.
    One(ir::Value),
    /// An array.
    Array(Shaped),
}

/// An array in machine words: its address, then its dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaped {
    words: [ir::Value; 1 + MAX_RANK],
    rank: usize,
}

impl Shaped {
    /// An array at an address.
    pub(super) fn new(address: ir::Value, dims: &[ir::Value]) -> Self {
        let mut words = [address; 1 + MAX_RANK];
        words[1..=dims.len()].copy_from_slice(dims);
        Shaped { words, rank: dims.len() }
    }

    /// Where its elements lie.
    pub(super) fn address(&self) -> ir::Value {
        self.words[0]
    }

    /// How many there are along each axis.
    pub(super) fn dims(&self) -> &[ir::Value] {
        &self.words[1..=self.rank]
    }
}

impl Machine {
    /// Its words.
    pub(super) fn words(&self) -> impl Iterator<Item = ir::Value> + use<> {
        let (words, n) = match *self {
            Machine::One(v) => ([v; 1 + MAX_RANK], 1),
            Machine::Array(Shaped { words, rank }) => (words, 1 + rank),
        };
        words.into_iter().take(n)
    }

    /// A value of a type from its words.
    pub(super) fn from_words(ty: Type, words: &[ir::Value]) -> Self {
        if ty.is_array() {
            Machine::Array(Shaped::new(words[0], &words[1..]))
        } else {
            Machine::One(words[0])
        }
    }
}
