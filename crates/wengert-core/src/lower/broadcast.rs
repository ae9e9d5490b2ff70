//! Broadcasting: operands of one elementwise operation with one kind and one shape.
//!
//! Which axes have one element is part of what a function is specialised for. It is followed through the
//! program for each array, as bits ("units"); an axis of which that is not known does not broadcast.

use super::Lowering;
use super::operand::join_elem;
use crate::ir::{Elem, Value};
use crate::ops::{ArrayOp, Prim};
use crate::span::Span;

impl Lowering<'_> {
    /// Notes which axes of an array have one element.
    pub(super) fn note_units(&mut self, v: Value, units: u8) {
        if units != 0 && self.b.ty(v).is_array() {
            self.units.insert(v, units);
        }
    }

    pub(super) fn units_of(&self, v: Value) -> u8 {
        self.units.get(&v).copied().unwrap_or(0)
    }

    /// An array with the shape of another.
    pub(super) fn keep_units(&mut self, v: Value, like: Value) {
        let units = self.units_of(like);
        self.note_units(v, units);
    }

    /// Notes the axes whose number of elements is the constant 1.
    pub(super) fn note_dims(&mut self, v: Value, dims: &[Value]) {
        let one = |d: &Value| self.known_integer(*d) == Some(1);
        let bits = dims.iter().enumerate().filter(|(_, d)| one(d)).map(|(k, _)| 1u8 << k);
        let units = bits.fold(0, |a, b| a | b);
        self.note_units(v, units);
    }

    /// The kind two numbers or arrays have in common. Among floats an array decides over a number, and what
    /// is not a constant over what is.
    pub(super) fn common_elem(&self, x: Value, y: Value) -> Elem {
        let (ex, ey) = (self.elem(x), self.elem(y));
        let weak = |v: Value, other: Value| {
            !self.b.ty(v).is_array()
                && (self.b.ty(other).is_array() || self.b.func().as_const(v).is_some())
        };
        match (ex, ey) {
            (Elem::F32, Elem::F64 | Elem::I64) if weak(y, x) => Elem::F32,
            (Elem::F64 | Elem::I64, Elem::F32) if weak(x, y) => Elem::F32,
            _ => join_elem(ex, ey),
        }
    }

    /// An array (or a number) with this shape: missing axes in front are repeated, and so are axes that
    /// are known to have one element and are not in `keep`.
    pub(super) fn spread(&mut self, v: Value, dims: &[Value], keep: &[usize]) -> Value {
        let ty = self.b.ty(v);
        if !ty.is_array() {
            return self.b.filled(dims, v);
        }
        let missing = dims.len() - ty.rank();
        let units = self.units_of(v);
        let wide = |l: &Self, k: usize| {
            units >> k & 1 == 1
                && !keep.contains(&(k + missing))
                && l.known_integer(dims[k + missing]) != Some(1)
        };
        let mut v = v;
        if (0..ty.rank()).any(|k| wide(self, k)) {
            let own = self.b.dims(v);
            let (zero, step) = (self.b.i64(0), self.b.i64(1));
            let section: Vec<Value> = (0..ty.rank())
                .flat_map(|k| {
                    if wide(self, k) {
                        [zero, dims[k + missing], zero]
                    } else {
                        [zero, own[k], step]
                    }
                })
                .collect();
            v = self.b.array(ArrayOp::Slice, &[&[v][..], &section].concat());
        }
        for axis in (0..missing).rev() {
            v = self.b.array(ArrayOp::Expand(0), &[v, dims[axis]]);
        }
        v
    }

    /// Two arrays, or an array and a number, as operands of one elementwise operation: of one kind, and
    /// with one shape where one is known to repeat.
    pub(super) fn aligned(&mut self, x: Value, y: Value) -> (Value, Value) {
        let (tx, ty) = (self.b.ty(x), self.b.ty(y));
        if !tx.is_array() || !ty.is_array() {
            return (x, y);
        }
        let (ux, uy) = (self.units_of(x), self.units_of(y));
        if tx.rank() == ty.rank() && ux == uy {
            return (x, y);
        }
        let rank = tx.rank().max(ty.rank());
        let (skip_x, skip_y) = (rank - tx.rank(), rank - ty.rank());
        let (dims_x, dims_y) = (self.b.dims(x), self.b.dims(y));
        let own = |k: usize, skip: usize, units: u8, dims: &[Value]| {
            (k >= skip).then(|| (dims[k - skip], units >> (k - skip) & 1 == 1))
        };
        let dims: Vec<Value> = (0..rank)
            .map(|k| match (own(k, skip_x, ux, &dims_x), own(k, skip_y, uy, &dims_y)) {
                (Some((n, false)), _) | (Some((n, _)), None) => n,
                (_, Some((n, _))) => n,
                (None, None) => unreachable!("one of them has the axis"),
            })
            .collect();
        (self.spread(x, &dims, &[]), self.spread(y, &dims, &[]))
    }

    /// A row on operands of one kind, broadcast to one shape.
    pub(super) fn spread_row(&mut self, prim: Prim, mut values: Vec<Value>, span: Span) -> Value {
        for k in 1..values.len() {
            let (first, other) = self.aligned(values[0], values[k]);
            (values[0], values[k]) = (first, other);
        }
        // The first has the common shape now; those before the last to change it follow.
        for k in 1..values.len() {
            let (first, other) = self.aligned(values[0], values[k]);
            (values[0], values[k]) = (first, other);
        }
        self.b.at(span);
        let units = values
            .iter()
            .filter(|v| self.b.ty(**v).is_array())
            .map(|v| self.units_of(*v))
            .fold(u8::MAX, |a, b| a & b);
        let v = self.b.prim(prim, &values);
        self.note_units(v, units);
        v
    }
}
