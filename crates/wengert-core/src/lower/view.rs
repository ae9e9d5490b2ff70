//! Views: parts of storage as arrays, read, written and with their axes in another order.

use super::env::{Env, Part, Pick, View};
use super::operand::{Operand, described_rank};
use super::{Lowered, Lowering};
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{ArrayOp, Prim};
use crate::span::{Diagnostic, Span};
use std::rc::Rc;

impl Lowering<'_> {
    /// The number of axes of a view.
    pub(super) fn rank_of(&self, view: &View) -> usize {
        match &view.part {
            Some(part) => part.axes.len(),
            None => self.b.ty(self.env.version(view.storage)).rank(),
        }
    }

    /// The type a view has when it is read.
    pub(super) fn type_of(&self, view: &View) -> Type {
        self.type_in(&self.env, view)
    }

    /// The type a view has under other bindings.
    pub(super) fn type_in(&self, env: &Env, view: &View) -> Type {
        let ty = self.b.ty(env.version(view.storage));
        let rank = view.part.as_ref().map_or(ty.rank(), |part| part.axes.len());
        Type::of(ty.elem().unwrap_or(Elem::F64), rank)
    }

    /// The number of elements along each axis of a view.
    pub(super) fn dims_of(&mut self, view: &View) -> Vec<Value> {
        match &view.part {
            None => {
                let x = self.env.version(view.storage);
                self.b.dims(x)
            }
            Some(part) => {
                let count = |axis: &usize| match part.picks[*axis] {
                    Pick::Range { count, .. } => count,
                    Pick::At(i) => i,
                };
                part.axes.iter().map(count).collect()
            }
        }
    }

    /// What is picked on each axis of the storage.
    pub(super) fn picks(&mut self, view: &View) -> Vec<Pick> {
        match &view.part {
            Some(part) => part.picks.clone(),
            None => {
                let x = self.env.version(view.storage);
                let (zero, one) = (self.b.i64(0), self.b.i64(1));
                let all = |count| Pick::Range { start: zero, count, step: one };
                self.b.dims(x).into_iter().map(all).collect()
            }
        }
    }

    /// Start, count and step for each axis of the storage.
    fn section(&mut self, view: &View) -> Vec<Value> {
        let one = self.b.i64(1);
        let picks = self.picks(view);
        let triple = |p: Pick| match p {
            Pick::At(i) => [i, one, one],
            Pick::Range { start, count, step } => [start, count, step],
        };
        picks.into_iter().flat_map(triple).collect()
    }

    /// The elements of a view as an array of their own; all of an array is the array itself.
    pub(super) fn read(&mut self, view: &View, span: Span) -> Value {
        let x = self.env.version(view.storage);
        let Some(part) = &view.part else { return x };
        self.b.at(span);
        let section = self.section(view);
        let mut v = self.b.array(ArrayOp::Slice, &[&[x][..], &section].concat());
        let mut kept: Vec<usize> = part.axes.clone();
        kept.sort_unstable();
        let dims = self.dims_of(view);
        if kept.len() < part.picks.len() {
            let sizes: Vec<Value> = kept
                .iter()
                .map(|axis| match part.picks[*axis] {
                    Pick::Range { count, .. } => count,
                    Pick::At(i) => i,
                })
                .collect();
            v = self.b.array(ArrayOp::Reshape, &[&[v][..], &sizes].concat());
        }
        if kept != part.axes {
            let place = |axis: &usize| kept.iter().position(|k| k == axis).unwrap_or(0) as u8;
            let order: Vec<u8> = part.axes.iter().map(place).collect();
            v = self.b.array(ArrayOp::Transpose(order.into()), &[v]);
        }
        if let Some(name) = self.b.func().name_of(x) {
            self.b.name(v, &name);
        }
        self.note_dims(v, &dims);
        v
    }

    /// The elements of a view as an array that nothing else holds.
    pub(super) fn read_copy(&mut self, view: &View, span: Span) -> Value {
        let v = self.read(view, span);
        // A part has been read into an array of its own.
        if view.part.is_some() { v } else { self.copy(v) }
    }

    /// Item `k` of a view along its first axis; it is known to exist.
    pub(super) fn item_of(&mut self, view: &View, k: Value, span: Span) -> Operand {
        let mut picks = self.picks(view);
        let mut axes: Vec<usize> = match &view.part {
            Some(part) => part.axes.clone(),
            None => (0..picks.len()).collect(),
        };
        self.b.at(span);
        let axis = axes.remove(0);
        if let Pick::Range { start, step, .. } = picks[axis] {
            picks[axis] = Pick::At(self.along(start, k, step));
        }
        if axes.is_empty() {
            let x = self.env.version(view.storage);
            let index: Vec<Value> = picks
                .iter()
                .map(|p| match p {
                    Pick::At(i) => *i,
                    Pick::Range { start, .. } => *start,
                })
                .collect();
            return Operand::Scalar(self.b.element(x, &index));
        }
        let part = Part { picks, axes };
        Operand::Array(View { storage: view.storage, part: Some(Rc::new(part)) })
    }

    /// A view with its axes in another order.
    pub(super) fn permuted(&mut self, view: &View, order: &[usize]) -> View {
        let picks = self.picks(view);
        let axes: Vec<usize> = match &view.part {
            Some(part) => part.axes.clone(),
            None => (0..picks.len()).collect(),
        };
        let axes = order.iter().map(|k| axes[*k]).collect();
        View { storage: view.storage, part: Some(Rc::new(Part { picks, axes })) }
    }

    /// Writes an array (or a number, everywhere) into a view.
    pub(super) fn put(&mut self, view: &View, v: Value, at: Span, span: Span) -> Lowered<()> {
        let x = self.env.version(view.storage);
        let rank = self.rank_of(view);
        if self.b.ty(v).rank() > rank {
            let message = "more axes are assigned than the target has";
            return Err(Diagnostic::new("shape-mismatch", message)
                .label(at, format!("this is {}", described_rank(self.b.ty(v).rank())))
                .label(span, format!("this is {}", described_rank(rank))));
        }
        if self.elem(v).is_float() && self.elem(x) == Elem::I64 {
            self.element_of(v, x, at)?;
        }
        let v = self.convert(v, self.elem(x), at)?;
        self.b.at(span);
        let dims = self.dims_of(view);
        let mut v = self.spread(v, &dims, &[]);
        if let Some(part) = &view.part {
            v = self.in_base_order(v, part);
        }
        if v == x {
            // An array is not written while it is read.
            v = self.b.op(Op::Copy, &[x])[0];
        }
        let section = self.section(view);
        let next = self.b.array(ArrayOp::Put, &[&[x][..], &section, &[v]].concat());
        self.next_version(view, next, span);
        Ok(())
    }

    /// The elements of a view, all of them new: an array of the same shape.
    pub(super) fn replace(&mut self, view: &View, v: Value, at: Span, span: Span) -> Lowered<()> {
        let x = self.env.version(view.storage);
        let (old, new) = (self.type_of(view), self.b.ty(v));
        if new.rank() > old.rank() || (view.part.is_none() && self.units_of(v) != self.units_of(x))
        {
            return Err(Diagnostic::new(
                "shape-mismatch",
                "an array keeps its shape when it is updated in place",
            )
            .label(at, format!("this makes it {}", described_rank(new.rank())))
            .label(span, format!("this is {}", described_rank(old.rank())))
            .help("make a new array: `x = x + y`"));
        }
        if view.part.is_some() {
            return self.put(view, v, at, span);
        }
        if self.elem(v).is_float() && self.elem(x) == Elem::I64 {
            self.element_of(v, x, at)?;
        }
        let v = self.convert(v, self.elem(x), at)?;
        self.next_version(view, v, span);
        Ok(())
    }

    /// The storage of a view has a new version.
    pub(super) fn next_version(&mut self, view: &View, next: Value, span: Span) {
        let old = self.env.version(view.storage);
        if let Some(name) = self.b.func().name_of(old) {
            self.b.name(next, &name);
        }
        self.keep_units(next, old);
        self.env.write(view.storage, next, span);
    }

    /// A number as an element of an array.
    pub(super) fn element_of(&mut self, v: Value, array: Value, at: Span) -> Lowered<Value> {
        let (from, to) = (self.elem(v), self.elem(array));
        if from.is_float() && to == Elem::I64 {
            return Err(Diagnostic::new("type", "a float cannot be put into an array of integers")
                .label(at, "this is a float")
                .help("convert it with `int(...)`, or make the array of floats: `np.zeros(n)`"));
        }
        self.convert(v, to, at)
    }

    /// An array with the axes of a part, with those of the array it is part of.
    fn in_base_order(&mut self, v: Value, part: &Part) -> Value {
        let mut order: Vec<u8> = (0..part.axes.len() as u8).collect();
        order.sort_by_key(|k| part.axes[*k as usize]);
        let sorted = order.windows(2).all(|w| w[0] < w[1]);
        let v =
            if sorted { v } else { self.b.array(ArrayOp::Transpose(order.clone().into()), &[v]) };
        if part.axes.len() == part.picks.len() {
            return v;
        }
        let one = self.b.i64(1);
        let dims: Vec<Value> = part
            .picks
            .iter()
            .map(|p| match p {
                Pick::At(_) => one,
                Pick::Range { count, .. } => *count,
            })
            .collect();
        if part.axes.is_empty() {
            return self.b.filled(&dims, v);
        }
        self.b.array(ArrayOp::Reshape, &[&[v][..], &dims].concat())
    }

    /// `start + i * step`, which cannot overflow where the element exists.
    pub(super) fn along(&mut self, start: Value, i: Value, step: Value) -> Value {
        let offset = self.b.prim(Prim::WMul, &[i, step]);
        let at = self.b.prim(Prim::WAdd, &[start, offset]);
        if let (Some(low), Some(from), Some(by)) =
            (self.lower_bound(i), self.lower_bound(start), self.known_integer(step))
            && by >= 0
            && let Some(bound) = low.checked_mul(by).and_then(|o| o.checked_add(from))
        {
            self.lower_bounds.insert(at, bound);
        }
        at
    }
}
