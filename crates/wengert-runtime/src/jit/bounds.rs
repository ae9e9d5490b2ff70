//! Indices known to be in range: their check is left out.
//!
//! Two cases, both exact: the same index of the same array has been checked on every way here, or
//! the index is the counter of a loop from 0 or more up to the array's length. An array's storage
//! never changes its shape, so versions count as the same array, and so do arrays whose shapes have been
//! compared on the way here.
//!
//! An index counts along an axis, or over all elements in row-major order; then the end of the loop
//! is the product of the dimensions.

use super::ahead::Ahead;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::ir::{Func, Value};
use wengert_core::ops::Scalar;

/// What an index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Along {
    /// Elements along an axis.
    Axis(u8),
    /// All elements of an array of this rank.
    All(u8),
}

/// What is known about indices at a place in the code.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Per open block: checked triples of array, what the index counts, and index.
    checked: Vec<HashSet<(Value, Along, Value)>>,
    /// Per open block: pairs of arrays of one shape.
    alike: Vec<Vec<(Value, Value)>>,
    /// Triples of array, axis and a value that is its length there.
    lengths: HashSet<(Value, u8, Value)>,
    /// Products: their factors in order.
    products: HashMap<Value, Vec<Value>>,
    /// Per open block: sums and products that are known to fit.
    exact: Vec<HashSet<Value>>,
    /// Loop counters that are not negative, and the value they stay below.
    counters: HashMap<Value, Value>,
}

impl Bounds {
    /// Enters a block that may not be executed.
    pub(super) fn open(&mut self) {
        self.checked.push(HashSet::default());
        self.alike.push(Vec::new());
        self.exact.push(HashSet::default());
    }

    /// Leaves it.
    pub(super) fn close(&mut self) {
        self.checked.pop();
        self.alike.pop();
        self.exact.pop();
    }

    /// The value is the array's length along an axis.
    pub(super) fn length(&mut self, array: Value, axis: u8, length: Value) {
        self.lengths.insert((array, axis, length));
    }

    /// The code from here on runs only if the arrays have the same shape.
    pub(super) fn alike(&mut self, a: Value, b: Value) {
        if let Some(scope) = self.alike.last_mut() {
            scope.push((a, b));
        }
    }

    /// The arrays known to have the shape of this one, itself among them.
    fn of_one_shape(&self, array: Value) -> Vec<Value> {
        let mut found = vec![array];
        let mut next = 0;
        while let Some(&known) = found.get(next) {
            for (a, b) in self.alike.iter().flatten() {
                for (from, to) in [(a, b), (b, a)] {
                    if *from == known && !found.contains(to) {
                        found.push(*to);
                    }
                }
            }
            next += 1;
        }
        found
    }

    /// The value is the product of two others.
    pub(super) fn product(&mut self, value: Value, factors: [Value; 2]) {
        let all = factors.map(|f| self.products.get(&f).cloned().unwrap_or(vec![f])).concat();
        self.products.insert(value, all);
    }

    /// The counter runs from `start` up to, not including, `end`.
    pub(super) fn open_loop(&mut self, counter: Value, start: Value, end: Value, func: &Func) {
        if matches!(func.as_const(start), Some(Scalar::I64(c)) if c >= 0) {
            self.counters.insert(counter, end);
        }
    }

    /// The code from here on runs only if the index is in range.
    pub(super) fn checked(&mut self, array: Value, along: Along, index: Value) {
        if let Some(scope) = self.checked.last_mut() {
            scope.insert((array, along, index));
        }
    }

    /// The code from here on runs only if all this has been looked at, and is well.
    pub(super) fn know(&mut self, ahead: &Ahead) {
        ahead.indices.iter().for_each(|(array, along, at)| self.checked(*array, *along, *at));
        self.exact.last_mut().into_iter().for_each(|scope| scope.extend(&ahead.exact));
    }

    /// Whether a sum or product is known to fit.
    pub(super) fn is_exact(&self, result: Value) -> bool {
        self.exact.iter().any(|scope| scope.contains(&result))
    }

    /// Whether the index is known to be in range.
    pub(super) fn in_range(&self, array: Value, along: Along, index: Value) -> bool {
        let counted = self.counters.get(&index).is_some_and(|end| {
            self.of_one_shape(array).into_iter().any(|like| self.ends(like, along, *end))
        });
        counted || self.checked.iter().any(|scope| scope.contains(&(array, along, index)))
    }

    /// Whether the value is how many there are.
    fn ends(&self, array: Value, along: Along, end: Value) -> bool {
        match along {
            Along::Axis(axis) => self.lengths.contains(&(array, axis, end)),
            Along::All(1) => self.lengths.contains(&(array, 0, end)),
            Along::All(rank) => self.products.get(&end).is_some_and(|factors| {
                let mut axes = (0..).zip(factors);
                factors.len() == rank as usize
                    && axes.all(|(axis, f)| self.lengths.contains(&(array, axis, *f)))
            }),
        }
    }
}
