//! Chains of writes as loops that compute each element once.

use super::{Chain, Conforming, Frame, Sizes};
use crate::ir::{Builder, Func, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Check, Prim};
use crate::transform::copy::Copier;
use std::collections::HashMap;

/// Emits a chain as a loop.
pub(super) struct Gather<'a> {
    pub(super) func: &'a Func,
    pub(super) makers: &'a HashMap<Value, &'a Inst>,
    pub(super) copier: &'a Copier,
    pub(super) b: &'a mut Builder,
    pub(super) chain: &'a Chain,
    pub(super) frame: &'a Frame,
}

impl Gather<'_> {
    pub(super) fn emit(mut self) -> Value {
        let span = self.b.span();
        for Conforming { row, sizes, span, .. } in &self.chain.conforming {
            let mut all = Vec::new();
            for sizes in sizes {
                all.extend(match sizes {
                    Sizes::Known(counts) => self.copier.all(self.func, self.b, counts),
                    Sizes::Of(x) => {
                        let x = self.get(*x);
                        self.b.dims(x)
                    }
                });
            }
            self.b.at(*span);
            self.b.op(Op::Array(ArrayOp::Conform(Check::Row(*row))), &all);
        }
        self.b.at(span);
        let ty = self.func.ty(self.chain.target);
        let zero = self.b.zero(ty);
        let sizes = self.frame.sizes.clone();
        let made = self.b.filled(&sizes, zero);
        let none = self.b.i64(0);
        match self.frame.meet[..] {
            [(left, right)] => self.row(made, &[], (left, right)),
            [(from, to), (left, right)] => self.round(made, none, sizes[0], |this, i, array| {
                let reached = this.b.prim(Prim::ILe, &[from, i]);
                let left_behind = this.b.prim(Prim::ILt, &[i, to]);
                let meets = this.b.prim(Prim::And, &[reached, left_behind]);
                let left = this.b.prim(Prim::Select, &[meets, left, sizes[1]]);
                let right = this.b.prim(Prim::Select, &[meets, right, sizes[1]]);
                this.row(array, &[i], (left, right))
            }),
            _ => unreachable!("one axis or two"),
        }
    }

    /// A value of the function, as it is called in the copy.
    fn get(&mut self, v: Value) -> Value {
        self.copier.get(self.func, self.b, v)
    }

    /// A loop over one index, which hands the array on.
    fn round(
        &mut self,
        array: Value,
        from: Value,
        to: Value,
        body: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let ty = self.b.ty(array);
        let params = self.b.open_block(&[(Type::I64, None), (ty, None)]);
        let next = body(self, params[0], params[1]);
        let body = self.b.close_block(vec![next]);
        self.b.inst(Op::For, vec![from, to, array], &[ty], vec![body])[0]
    }

    /// The elements along the last axis: those before all parts meet, those where they do, and the others.
    fn row(&mut self, array: Value, outer: &[Value], (left, right): (Value, Value)) -> Value {
        let none = self.b.i64(0);
        let size = self.frame.sizes[outer.len()];
        let mut array = array;
        for (from, to, meets) in [(none, left, false), (left, right, true), (right, size, false)] {
            array = self.round(array, from, to, |this, j, array| {
                let index = [outer, &[j]].concat();
                let at = place(this.b, &index, &vec![none; index.len()], &this.frame.sizes);
                let x = this.get(this.chain.target);
                let x = this.b.array(ArrayOp::Peek, &[x, at]);
                let value = this.element(&index, x, meets);
                this.b.array(ArrayOp::Poke, &[array, at, value])
            });
        }
        array
    }

    /// What the chain makes of an element.
    fn element(&mut self, index: &[Value], x: Value, meets: bool) -> Value {
        let (mut x, ty) = (x, self.b.ty(x));
        let mut known = HashMap::new();
        for link in &self.chain.links {
            let starts = self.copier.all(self.func, self.b, &link.starts);
            if meets {
                let v = self.value(link.value, index, &starts, &mut known);
                x = if link.adds { self.b.add(x, v) } else { v };
                continue;
            }
            let counts = self.copier.all(self.func, self.b, &link.counts);
            let mut inside = self.b.bool(true);
            for ((i, start), count) in index.iter().zip(&starts).zip(counts) {
                let end = self.b.prim(Prim::WAdd, &[*start, count]);
                let reached = self.b.prim(Prim::ILe, &[*start, *i]);
                let left = self.b.prim(Prim::ILt, &[*i, end]);
                inside = self.b.prim(Prim::And, &[inside, reached]);
                inside = self.b.prim(Prim::And, &[inside, left]);
            }
            self.b.open_block(&[]);
            let v = self.value(link.value, index, &starts, &mut HashMap::new());
            let v = if link.adds { self.b.add(x, v) } else { v };
            let written = self.b.close_block(vec![v]);
            self.b.open_block(&[]);
            let other = self.b.close_block(vec![x]);
            x = self.b.inst(Op::If, vec![inside], &[ty], vec![written, other])[0];
        }
        x
    }

    /// The element of an array that comes to stand at an index, where the array's first stands at `starts`.
    fn value(
        &mut self,
        v: Value,
        index: &[Value],
        starts: &[Value],
        known: &mut HashMap<(Value, Vec<Value>), Value>,
    ) -> Value {
        if !self.func.ty(v).is_array() {
            return self.get(v);
        }
        let key = (v, starts.to_vec());
        if let Some(found) = known.get(&key) {
            return *found;
        }
        let maker = self.makers.get(&v).copied().filter(|_| self.chain.nodes.contains(&v));
        let found = match maker.map(|i| (&i.op, i)) {
            Some((Op::Prim(prim), i)) => {
                let of = |a: &Value| self.value(*a, index, starts, known);
                let args: Vec<Value> = i.args.iter().map(of).collect();
                self.b.prim(*prim, &args)
            }
            Some((Op::Copy, i)) => self.value(i.args[0], index, starts, known),
            Some((Op::Fill, i)) => self.get(i.args[i.args.len() - 1]),
            Some((Op::Array(ArrayOp::Slice), i)) => {
                let firsts: Vec<Value> = i.args[1..].chunks(3).map(|t| t[0]).collect();
                let firsts = self.copier.all(self.func, self.b, &firsts);
                self.peek(i.args[0], index, starts, &firsts)
            }
            _ => {
                let firsts = vec![self.b.i64(0); index.len()];
                self.peek(v, index, starts, &firsts)
            }
        };
        known.insert(key, found);
        found
    }

    /// The element of an array at an index, counted from `firsts` where that begins at `starts`.
    fn peek(&mut self, x: Value, index: &[Value], starts: &[Value], firsts: &[Value]) -> Value {
        let far = firsts.iter().zip(starts);
        let far: Vec<Value> = far.map(|(f, s)| self.b.prim(Prim::WSub, &[*f, *s])).collect();
        let x = self.get(x);
        let sizes = self.b.dims(x);
        let at = place(self.b, index, &far, &sizes);
        self.b.array(ArrayOp::Peek, &[x, at])
    }
}

/// The place of an element in row-major order: at an index, and as far from it along each axis. What does not depend
/// on the last index is added first: an inner loop has it from outside.
fn place(b: &mut Builder, index: &[Value], far: &[Value], sizes: &[Value]) -> Value {
    let mut at = b.prim(Prim::WAdd, &[far[0], index[0]]);
    for axis in 1..index.len() {
        let row = b.prim(Prim::WMul, &[at, sizes[axis]]);
        let first = b.prim(Prim::WAdd, &[row, far[axis]]);
        at = b.prim(Prim::WAdd, &[first, index[axis]]);
    }
    at
}
