//! Arrays that lie on tapes.
//!
//! An array on a tape is an address and dimensions, and a program that pops something else than it pushed
//! could make an array of any words. So what was pushed is kept here, by its place, and only that is
//! handed out, once.

use crate::addresses::Addresses;
use std::collections::HashMap;
use wengert_core::ir::{MAX_RANK, Type};
use wengert_core::ops::Elem;

/// What was pushed and has not been popped as an array.
#[derive(Debug, Default)]
pub(crate) struct Held {
    by_slot: HashMap<usize, Array, Addresses>,
}

#[derive(Debug)]
struct Array {
    code: i64,
    /// Its address and dimensions.
    words: [u64; 1 + MAX_RANK],
}

impl Held {
    /// An array of that type has been pushed to a place.
    pub(crate) fn hold(&mut self, slot: usize, code: i64, given: &[u64]) {
        let mut words = [0; 1 + MAX_RANK];
        words[..given.len()].copy_from_slice(given);
        self.by_slot.insert(slot, Array { code, words });
    }

    /// Hands out the array at a place, if there is one of that type.
    pub(crate) fn take(&mut self, slot: usize, code: i64, words: &mut [u64]) -> bool {
        match self.by_slot.remove(&slot) {
            Some(held) if held.code == code => {
                words.copy_from_slice(&held.words[..words.len()]);
                true
            }
            _ => false,
        }
    }
}

/// The number of an array's type, as compiled code passes it: rank and kind of element.
pub(crate) fn code(ty: Type) -> i64 {
    let elem = match ty.elem() {
        Some(Elem::F32) => 1,
        Some(Elem::I64) => 2,
        Some(Elem::Bool) => 3,
        _ => 0,
    };
    4 * ty.rank() as i64 + elem
}

/// How many words an array of that type has.
pub(crate) fn words(code: i64) -> usize {
    1 + code as usize / 4
}
