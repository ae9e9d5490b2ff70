//! Arrays that a loop only writes to.
//!
//! They are no part of what is stored. Whatever state is loaded, they stay where they are: what the iterations write again is what they
//! have written before. On the way back nobody looks at them, so there they are arrays of the same shapes.

use super::values::{blank, extent};
use crate::arrays::Arrays;
use crate::jit::abi_slots;
use wengert_core::ir::Type;

/// Where they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Outputs {
    /// Where the words of each begin among those of what is carried, its type, and these words. An address of zero is none yet.
    all: Vec<(usize, Type, Vec<u64>)>,
}

impl Outputs {
    /// None of them is anywhere.
    pub(super) fn of(values: Vec<(usize, Type)>) -> Outputs {
        let words = |ty: Type| vec![0; abi_slots(&[ty])];
        Outputs { all: values.into_iter().map(|(at, ty)| (at, ty, words(ty))).collect() }
    }

    /// Takes over where they are now.
    pub(super) fn note(&mut self, live: &[u64]) {
        for (at, _, words) in &mut self.all {
            let count = words.len();
            words.copy_from_slice(&live[*at..*at + count]);
        }
    }

    /// The same shapes, without arrays.
    pub(super) fn elsewhere(mut self) -> Outputs {
        self.all.iter_mut().for_each(|(.., words)| words[0] = 0);
        self
    }

    /// Puts them where iterations find them, and makes those that are not there. Where there is no memory for one, gives back how many
    /// bytes it needs.
    pub(super) fn place(&mut self, arrays: &mut Arrays, live: &mut [u64]) -> Result<(), u64> {
        for (at, ty, words) in &mut self.all {
            if words[0] == 0 {
                let (elem, count) = extent(*ty, words);
                words[0] = blank(arrays, elem, count)? as u64;
            }
            live[*at..*at + words.len()].copy_from_slice(words);
        }
        Ok(())
    }

    pub(super) fn free(self, arrays: &mut Arrays) {
        self.all.iter().for_each(|(.., words)| arrays.free(words[0] as usize));
    }
}
