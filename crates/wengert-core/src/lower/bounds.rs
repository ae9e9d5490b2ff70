//! What is known of integers from below, and the wrap-around of negative indices and the checks that it
//! saves.

use super::Lowering;
use crate::ir::{Op, Value};
use crate::ops::{Prim, Scalar};
use crate::surface::tree::BinaryOp;

impl Lowering<'_> {
    /// An integer that is a constant.
    pub(super) fn known_integer(&self, v: Value) -> Option<i64> {
        match self.b.func().as_const(v) {
            Some(Scalar::I64(k)) => Some(k),
            _ => None,
        }
    }

    /// What is known of an integer from below.
    pub(super) fn lower_bound(&self, v: Value) -> Option<i64> {
        self.known_integer(v).or_else(|| self.lower_bounds.get(&v).copied())
    }

    /// Whether `a - b` is known to fit: `b` is a constant, and `a` is bounded from below.
    pub(super) fn cannot_underflow(&self, a: Value, b: Value) -> bool {
        let known = self.known_integer(b).filter(|k| *k >= 0).zip(self.lower_bound(a));
        known.is_some_and(|(k, low)| low.checked_sub(k).is_some())
    }

    /// Keeps track of lower bounds through integer arithmetic.
    pub(super) fn note_bound(&mut self, op: BinaryOp, a: Value, b: Value, result: Value) {
        let upper = self.known_integer(b);
        let (low_a, low_b) = (self.lower_bound(a), self.lower_bound(b));
        let bound = match op {
            BinaryOp::Add => low_a.zip(low_b).and_then(|(a, b)| a.checked_add(b)),
            BinaryOp::Sub => low_a.zip(upper).and_then(|(a, b)| a.checked_sub(b)),
            BinaryOp::Mul => match (low_a, low_b) {
                (Some(a), Some(b)) if a >= 0 && b >= 0 => a.checked_mul(b),
                _ => None,
            },
            BinaryOp::FloorDiv => match (low_a, upper) {
                (Some(a), Some(d)) if d > 0 => Some(a.div_euclid(d)),
                _ => None,
            },
            // The remainder has the sign of the divisor.
            BinaryOp::Rem => low_b.filter(|d| *d > 0).map(|_| 0),
            _ => None,
        };
        if let Some(bound) = bound {
            self.lower_bounds.insert(result, bound);
        }
    }

    /// A negative index counts from the end of `n` elements.
    pub(super) fn wrapped_index(&mut self, n: Value, i: Value) -> Value {
        match self.known_integer(i) {
            Some(k) if k >= 0 => return i,
            Some(_) => {
                let zero = self.b.i64(0);
                let shifted = self.b.prim(Prim::WAdd, &[n, i]);
                let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
                return self.b.select(inside, shifted, i);
            }
            None => {}
        }
        if self.lower_bounds.get(&i).is_some_and(|lo| *lo >= 0) {
            return i;
        }
        let zero = self.b.i64(0);
        let negative = self.b.prim(Prim::ILt, &[i, zero]);
        let shifted = self.b.prim(Prim::WAdd, &[i, n]);
        // An index that is out of range either way is reported as it was written.
        let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
        let wraps = self.b.prim(Prim::And, &[negative, inside]);
        self.b.select(wraps, shifted, i)
    }

    /// Row numbers, negative ones counted from the end.
    pub(super) fn wrapped_rows(&mut self, x: Value, rows: Value) -> Value {
        let n = self.b.op(Op::Dim(0), &[x])[0];
        let zero = self.b.i64(0);
        let negative = self.b.prim(Prim::ILt, &[rows, zero]);
        let shifted = self.b.prim(Prim::WAdd, &[rows, n]);
        self.b.select(negative, shifted, rows)
    }
}
