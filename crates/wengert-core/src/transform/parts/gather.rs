//! Chains of writes as loops that compute each element once.

use super::{Chain, Conforming, Frame, Link, Sizes};
use crate::ir::{Builder, Func, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Check, Prim};
use crate::transform::copy::Copier;
use rustc_hash::FxHashMap as HashMap;

/// Elements that have been computed: of which array, and where its first one stands.
type Known = HashMap<(Value, Vec<Value>), Value>;

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
            [(from, to), meet] => {
                // Rows that some parts do not reach, those that all do, and the others.
                let rows = [(none, from, None), (from, to, Some(meet)), (to, sizes[0], None)];
                rows.into_iter().fold(made, |made, (from, to, meet)| {
                    self.round(made, from, to, |this, i, array| match meet {
                        Some(meet) => this.row(array, &[i], meet),
                        None => this.cells(array, &[i], (none, sizes[1]), 0),
                    })
                })
            }
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

    /// The elements along the last axis, where all parts meet along the one before: those before they meet along this
    /// one too, those where they do, and the others.
    fn row(&mut self, array: Value, outer: &[Value], (left, right): (Value, Value)) -> Value {
        let none = self.b.i64(0);
        let (axis, size) = (outer.len(), self.frame.sizes[outer.len()]);
        let array = self.cells(array, outer, (none, left), axis);
        let array = self.cells(array, outer, (left, right), axis + 1);
        self.cells(array, outer, (right, size), axis)
    }

    /// Elements along the last axis. Along so many axes, all parts reach them.
    fn cells(
        &mut self,
        array: Value,
        outer: &[Value],
        (from, to): (Value, Value),
        reached: usize,
    ) -> Value {
        let none = self.b.i64(0);
        self.round(array, from, to, |this, j, array| {
            let index = [outer, &[j]].concat();
            let at = place(this.b, &index, &vec![none; index.len()], &this.frame.sizes);
            let x = this.get(this.chain.target);
            let x = this.b.array(ArrayOp::Peek, &[x, at]);
            let value = this.element(&index, x, reached);
            this.b.array(ArrayOp::Poke, &[array, at, value])
        })
    }

    /// What the chain makes of an element that all parts reach along the first axes.
    fn element(&mut self, index: &[Value], x: Value, reached: usize) -> Value {
        let (chain, ty) = (self.chain, self.b.ty(x));
        let same = |a: &Link, b: &Link| (&a.starts, &a.counts) == (&b.starts, &b.counts);
        let mut known = HashMap::default();
        // Writes to one part, one after the other, have one question.
        chain.links.chunk_by(same).fold(x, |x, links| {
            if reached == index.len() {
                return self.written(links, index, x, &mut known);
            }
            let starts = self.copier.all(self.func, self.b, &links[0].starts);
            let counts = self.copier.all(self.func, self.b, &links[0].counts);
            let mut inside = self.b.bool(true);
            for axis in reached..index.len() {
                let end = self.b.prim(Prim::WAdd, &[starts[axis], counts[axis]]);
                let reached = self.b.prim(Prim::ILe, &[starts[axis], index[axis]]);
                let left = self.b.prim(Prim::ILt, &[index[axis], end]);
                inside = self.b.prim(Prim::And, &[inside, reached]);
                inside = self.b.prim(Prim::And, &[inside, left]);
            }
            self.b.open_block(&[]);
            let v = self.written(links, index, x, &mut HashMap::default());
            let written = self.b.close_block(vec![v]);
            self.b.open_block(&[]);
            let other = self.b.close_block(vec![x]);
            self.b.inst(Op::If, vec![inside], &[ty], vec![written, other])[0]
        })
    }

    /// What writes to one part make of an element in it.
    fn written(&mut self, links: &[Link], index: &[Value], x: Value, known: &mut Known) -> Value {
        let starts = self.copier.all(self.func, self.b, &links[0].starts);
        links.iter().fold(x, |x, link| {
            let v = self.value(link.value, index, &starts, known);
            if link.adds { self.b.add(x, v) } else { v }
        })
    }

    /// The element of an array that comes to stand at an index, where the array's first stands at `starts`.
    fn value(&mut self, v: Value, index: &[Value], starts: &[Value], known: &mut Known) -> Value {
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
