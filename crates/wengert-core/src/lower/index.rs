//! Elements of arrays.

use super::env::StorageId;
use super::{Lowered, Lowering, Operand};
use crate::ir::{Op, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Expr, Index};

impl Lowering<'_> {
    /// An expression that must be an array.
    pub(super) fn array(&mut self, e: &Expr) -> Lowered<StorageId> {
        match self.expr(e)? {
            Operand::Array(storage) => Ok(storage),
            _ => {
                Err(Diagnostic::new("type", "an array is needed here")
                    .label(e.span, "not an array"))
            }
        }
    }

    /// `x[i]`, read.
    pub(super) fn element(&mut self, base: &Expr, indices: &[Index], span: Span) -> Lowered<Value> {
        let (storage, i) = self.place(base, indices, span)?;
        let x = self.env.version(storage);
        self.b.at(span);
        Ok(self.b.load(x, i))
    }

    /// `x[i] = v`.
    pub(super) fn store(&mut self, storage: StorageId, i: Value, v: Value, span: Span) {
        let x = self.env.version(storage);
        self.b.at(span);
        let next = self.b.store(x, i, v);
        if let Some(name) = self.b.func().name_of(x) {
            self.b.name(next, &name);
        }
        self.env.set_version(storage, next);
    }

    /// The storage and the element an index expression names.
    pub(super) fn place(
        &mut self,
        base: &Expr,
        indices: &[Index],
        span: Span,
    ) -> Lowered<(StorageId, Value)> {
        let storage = self.array(base)?;
        let [Index::At(index)] = indices else {
            return Err(Diagnostic::new(
                "unsupported-array",
                "arrays of more than one dimension are not supported yet",
            )
            .label(span, "two or more indices")
            .help("store the rows one after another: `a[i * columns + j]`"));
        };
        let i = self.integer(index, "an index")?;
        let x = self.env.version(storage);
        self.b.at(index.span);
        Ok((storage, self.wrapped_index(x, i)))
    }

    /// A negative index counts from the end.
    fn wrapped_index(&mut self, x: Value, i: Value) -> Value {
        match self.b.func().as_const(i) {
            Some(Scalar::I64(k)) if k >= 0 => return i,
            Some(Scalar::I64(_)) => {
                let (n, zero) = (self.b.op(Op::Len, &[x])[0], self.b.i64(0));
                let shifted = self.b.prim(Prim::WAdd, &[n, i]);
                let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
                return self.b.select(inside, shifted, i);
            }
            _ => {}
        }
        if self.lower_bounds.get(&i).is_some_and(|lo| *lo >= 0) {
            return i;
        }
        let zero = self.b.i64(0);
        let n = self.b.op(Op::Len, &[x])[0];
        let negative = self.b.prim(Prim::ILt, &[i, zero]);
        let shifted = self.b.prim(Prim::WAdd, &[i, n]);
        // An index that is out of range either way is reported as it was written.
        let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
        let wraps = self.b.prim(Prim::And, &[negative, inside]);
        self.b.select(wraps, shifted, i)
    }

    /// What is known of an integer from below.
    pub(super) fn lower_bound(&self, v: Value) -> Option<i64> {
        match self.b.func().as_const(v) {
            Some(Scalar::I64(k)) => Some(k),
            _ => self.lower_bounds.get(&v).copied(),
        }
    }

    /// Whether `a - b` is known to fit: `b` is a constant, and `a` is bounded from below.
    pub(super) fn cannot_underflow(&self, a: Value, b: Value) -> bool {
        let low = self.lower_bound(a);
        match self.b.func().as_const(b) {
            Some(Scalar::I64(k)) if k >= 0 => low.is_some_and(|low| low.checked_sub(k).is_some()),
            _ => false,
        }
    }

    /// Keeps track of lower bounds through integer arithmetic.
    pub(super) fn note_bound(&mut self, op: BinaryOp, a: Value, b: Value, result: Value) {
        let upper = match self.b.func().as_const(b) {
            Some(Scalar::I64(k)) => Some(k),
            _ => None,
        };
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
}
