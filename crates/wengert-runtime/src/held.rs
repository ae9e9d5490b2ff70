//! Arrays that lie on tapes.
//!
//! An array on a tape is an address and dimensions, and a program that pops something else than it pushed
//! could make an array of any words. So what was pushed is kept here, by its place, and only that is
//! handed out, once.

use crate::addresses::Addresses;
use crate::kept;
use std::collections::HashMap;
use wengert_core::ir::{MAX_RANK, Type};
use wengert_core::ops::Elem;

/// What was pushed and has not been popped as an array.
///
/// Mostly the last one pushed is the first one popped, so arrays are kept as a stack while they follow one another.
/// Where a program does otherwise, they are looked up by their places.
#[derive(Debug)]
pub(crate) struct Held {
    /// The last ones pushed, at rising places: of each its address and dimensions, its type and its place.
    stack: Vec<u64>,
    /// Others; none of them at a place that is also in the stack.
    by_slot: HashMap<usize, Array, Addresses>,
}

#[derive(Debug)]
struct Array {
    code: i64,
    /// Its address and dimensions.
    words: [u64; 1 + MAX_RANK],
}

impl Default for Held {
    fn default() -> Self {
        Held { stack: kept::list(), by_slot: HashMap::default() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        kept::give_back(std::mem::take(&mut self.stack));
    }
}

impl Held {
    /// An array of that type has been pushed to a place.
    pub(crate) fn hold(&mut self, slot: usize, code: i64, given: &[u64]) {
        if self.stack.last().is_some_and(|last| *last >= slot as u64) {
            self.look_up();
        }
        if !self.by_slot.is_empty() {
            self.by_slot.remove(&slot);
        }
        self.stack.extend_from_slice(given);
        self.stack.extend([code as u64, slot as u64]);
    }

    /// Hands out the array at a place, if there is one of that type.
    pub(crate) fn take(&mut self, slot: usize, code: i64, to: &mut [u64]) -> bool {
        if let [.., held, last] = self.stack[..]
            && last == slot as u64
        {
            let rest = self.stack.len() - 2 - words(held as i64);
            let right = held as i64 == code;
            if right {
                to.copy_from_slice(&self.stack[rest..rest + to.len()]);
            }
            self.stack.truncate(rest);
            return right;
        }
        self.look_up();
        match self.by_slot.remove(&slot) {
            Some(held) if held.code == code => {
                to.copy_from_slice(&held.words[..to.len()]);
                true
            }
            _ => false,
        }
    }

    /// Bytes of the arrays at a place and after it.
    pub(crate) fn bytes_from(&self, place: usize) -> u64 {
        let mut sum = 0;
        let mut rest = &self.stack[..];
        while let [.., code, slot] = *rest
            && slot >= place as u64
        {
            let (before, given) =
                rest[..rest.len() - 2].split_at(rest.len() - 2 - words(code as i64));
            sum += bytes(code as i64, given);
            rest = before;
        }
        let others = self.by_slot.iter().filter(|(slot, _)| **slot >= place);
        sum + others.map(|(_, array)| bytes(array.code, &array.words)).sum::<u64>()
    }

    /// Arrays at a place and after it are held no more: their addresses.
    pub(crate) fn drop_from(&mut self, place: usize) -> Vec<usize> {
        let mut dropped = Vec::new();
        while let [.., code, slot] = self.stack[..]
            && slot >= place as u64
        {
            let rest = self.stack.len() - 2 - words(code as i64);
            dropped.push(self.stack[rest] as usize);
            self.stack.truncate(rest);
        }
        let gone = self.by_slot.extract_if(|slot, _| *slot >= place);
        dropped.extend(gone.map(|(_, array)| array.words[0] as usize));
        dropped
    }

    /// From here on, arrays pushed so far are looked up.
    fn look_up(&mut self) {
        while let [.., code, slot] = self.stack[..] {
            let rest = self.stack.len() - 2 - words(code as i64);
            let given = &self.stack[rest..self.stack.len() - 2];
            let mut words = [0; 1 + MAX_RANK];
            words[..given.len()].copy_from_slice(given);
            self.by_slot.insert(slot as usize, Array { code: code as i64, words });
            self.stack.truncate(rest);
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

/// How many bytes the elements of an array of that type take.
fn bytes(code: i64, given: &[u64]) -> u64 {
    let each = [8, 4, 8, 1][code as usize % 4];
    given[1..words(code)].iter().product::<u64>().saturating_mul(each)
}

/// How many words an array of that type has.
pub(crate) fn words(code: i64) -> usize {
    1 + code as usize / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Any order of pushes and pops gives what a table of places gives.
    #[test]
    fn a_stack_gives_what_a_table_gives() {
        let mut state = 7u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for orderly in [1, 2, 4, 32] {
            let (mut held, mut table) = (Held::default(), HashMap::new());
            let mut top = 0;
            for step in 0..4000u64 {
                // Mostly at the top, as a program does.
                let slot = if next(orderly) == 0 { next(12) } else { top } as usize;
                let code = 4 * (1 + next(2) as i64);
                if next(2) == 0 {
                    held.hold(slot, code, &[step, 1, 1][..words(code)]);
                    table.insert(slot, (code, step));
                    top = slot as u64 + 1;
                } else {
                    let slot = slot.saturating_sub(1);
                    let mut to = [0; 3];
                    let found = held.take(slot, code, &mut to[..words(code)]).then_some(to[0]);
                    let wanted = table.remove(&slot).filter(|(c, _)| *c == code);
                    assert_eq!(found, wanted.map(|(_, step)| step));
                    top = slot as u64;
                }
            }
        }
    }
}
