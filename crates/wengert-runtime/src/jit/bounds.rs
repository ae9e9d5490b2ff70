//! Indices known to be in range: their check is left out.
//!
//! Two cases, both exact: the same index of the same array has been checked on every way here, or
//! the index is the counter of a loop from 0 or more up to the array's length. An array's storage
//! never changes its length, so versions count as the same array.

use std::collections::{HashMap, HashSet};
use wengert_core::ir::{Func, Value};
use wengert_core::ops::Scalar;

/// What is known about indices at a place in the code.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Per open block: checked pairs of array and index.
    checked: Vec<HashSet<(Value, Value)>>,
    /// Pairs of array and a value that is its length.
    lengths: HashSet<(Value, Value)>,
    /// Loop counters that are not negative, and the value they stay below.
    counters: HashMap<Value, Value>,
}

impl Bounds {
    /// Enters a block that may not be executed.
    pub(super) fn open(&mut self) {
        self.checked.push(HashSet::new());
    }

    /// Leaves it.
    pub(super) fn close(&mut self) {
        self.checked.pop();
    }

    /// The value is the array's length.
    pub(super) fn length(&mut self, array: Value, length: Value) {
        self.lengths.insert((array, length));
    }

    /// The counter runs from `start` up to, not including, `end`.
    pub(super) fn open_loop(&mut self, counter: Value, start: Value, end: Value, func: &Func) {
        if matches!(func.as_const(start), Some(Scalar::I64(c)) if c >= 0) {
            self.counters.insert(counter, end);
        }
    }

    /// The code from here on runs only if the index is in range.
    pub(super) fn checked(&mut self, array: Value, index: Value) {
        if let Some(scope) = self.checked.last_mut() {
            scope.insert((array, index));
        }
    }

    /// Whether the index is known to be in range.
    pub(super) fn in_range(&self, array: Value, index: Value) -> bool {
        let counted =
            self.counters.get(&index).is_some_and(|end| self.lengths.contains(&(array, *end)));
        counted || self.checked.iter().any(|scope| scope.contains(&(array, index)))
    }
}
