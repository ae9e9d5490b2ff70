//! Reversing array operations.
//!
//! The adjoint of an array is an array of its shape. An operation in place hands the adjoint of what it
//! makes on to what it took over; everything else adds to the adjoints of what it read. The
//! transposes are in the table of array operations: `slice` and `add_slice`, `gather` and `scatter_add`,
//! `expand` and `sum`, `cumsum` from either end, `gemm` with itself.

use super::layout::Slot;
use super::nest::{named_once, written_at};
use super::reverse::Reverse;
use crate::ir::{Inst, Op, Value};
use crate::ops::{ArrayOp, Partial, Prim, Transposed};
use crate::transform::emit::accumulate;
use crate::transform::when::When;

impl Reverse<'_> {
    /// A primal value: an array in the storage that holds it now, or a scalar.
    pub(super) fn at_hand(&mut self, v: Value) -> Value {
        if self.asked.is_none() && self.layout.restores(self.nest, v) {
            return match self.scope.held.get(&v) {
                Some(held) => *held,
                None => panic!("nothing holds {v:?} of @{}", self.nest.func.name),
            };
        }
        self.get(v)
    }

    /// The shape of an array: that of its adjoint, or as recorded where it has none yet; nothing for a
    /// scalar. (What a loop reads from outside has an adjoint when the loop is reversed.)
    pub(super) fn dims(&mut self, v: Value) -> Vec<Value> {
        if let Some(bar) = self.scope.adjoint.get(v) {
            return self.b.dims(bar);
        }
        let rank = self.nest.func.ty(v).rank() as u8;
        (0..rank).map(|axis| self.ask(Slot::Dim(v, axis))).collect()
    }

    /// What an elementwise operation contributes to operand `v`: where that is a number spread over an
    /// array, the sum over all elements.
    pub(super) fn gathered(
        &mut self,
        v: Value,
        partial: Partial<Value>,
        d: Value,
    ) -> (Partial<Value>, Value) {
        if self.nest.func.ty(v).is_array() || !self.b.ty(d).is_array() {
            return (partial, d);
        }
        match partial {
            Partial::Of(p) if self.b.ty(p).is_array() => {
                (Partial::Const(1.0), self.b.array(ArrayOp::Dot, &[p, d]))
            }
            Partial::Where(c) if self.b.ty(c).is_array() => {
                let chosen = accumulate(&mut self.b, partial, d, None);
                (Partial::Const(1.0), self.b.array(ArrayOp::Sum(None), &[chosen]))
            }
            other => (other, self.b.array(ArrayOp::Sum(None), &[d])),
        }
    }

    /// `v = x[i]`: the element's adjoint grows by the value's.
    pub(super) fn load(&mut self, inst: &Inst) {
        self.read_element(inst, Op::Load, Op::Store);
    }

    fn read_element(&mut self, inst: &Inst, load: Op, store: Op) {
        let Some(d) = self.scope.adjoint.take(inst.results[0]) else { return };
        let x = inst.args[0];
        let at = self.get_all(&inst.args[1..]);
        let bar = self.adjoint_or_zero(x);
        let place: Vec<Value> = std::iter::once(bar).chain(at).collect();
        let old = self.b.op(load, &place)[0];
        let sum = self.b.add(old, d);
        // Elements are flushed as they are accumulated, never by sweeping the array.
        let sum = self.b.prim(Prim::Flush, &[sum]);
        let bar = self.b.op(store, &[&place[..], &[sum]].concat())[0];
        self.scope.adjoint.set(x, bar);
    }

    /// `x1 = (x0 with v at i)`: the element's adjoint goes to `v`; `x0` had no part in it.
    pub(super) fn store(&mut self, inst: &Inst) {
        self.write_element(inst, Op::Load, Op::Store);
    }

    fn write_element(&mut self, inst: &Inst, load: Op, store: Op) {
        let (x0, x1) = (inst.args[0], inst.results[0]);
        let v = inst.args[inst.args.len() - 1];
        if let Some(bar) = self.scope.adjoint.take(x1) {
            let place = self.place(bar, inst);
            if self.activity.is_active(v) {
                let d = self.b.op(load, &place)[0];
                self.contribute(v, d);
            }
            if self.activity.is_active(x0) {
                let zero = self.b.zero(self.b.ty(bar));
                let bar = self.b.op(store.clone(), &[&place[..], &[zero]].concat())[0];
                self.scope.adjoint.set(x0, bar);
            }
        }
        self.take_back(inst, |reverse, inst, held, old| {
            let place = reverse.place(held, inst);
            reverse.b.op(store, &[&place[..], &[old]].concat())[0]
        });
    }

    /// An array and where an operation in place writes.
    fn place(&mut self, x: Value, inst: &Inst) -> Vec<Value> {
        let at = self.get_all(written_at(inst));
        std::iter::once(x).chain(at).collect()
    }

    /// Takes storage back over an operation in place, where the layout says so.
    fn take_back(
        &mut self,
        inst: &Inst,
        restore: impl FnOnce(&mut Self, &Inst, Value, Value) -> Value,
    ) {
        let (x0, x1) = (inst.args[0], inst.results[0]);
        if self.layout.takes_back(self.nest, inst) {
            let old = self.ask(Slot::Old(x1));
            let held = self.held(x1);
            let held = restore(self, inst, held, old);
            self.scope.held.insert(x0, held);
        }
    }

    pub(super) fn fill(&mut self, inst: &Inst) {
        let Some(bar) = self.scope.adjoint.take(inst.results[0]) else { return };
        let v = inst.args[inst.args.len() - 1];
        if self.activity.is_active(v) {
            let d = self.b.array(ArrayOp::Sum(None), &[bar]);
            self.contribute(v, d);
        }
    }

    pub(super) fn copy(&mut self, inst: &Inst) {
        let Some(bar) = self.scope.adjoint.take(inst.results[0]) else { return };
        self.contribute(inst.args[0], bar);
    }

    pub(super) fn array_op(&mut self, op: &ArrayOp, inst: &Inst) {
        match op {
            ArrayOp::Peek => {
                self.read_element(inst, Op::Array(ArrayOp::Peek), Op::Array(ArrayOp::Poke))
            }
            ArrayOp::Poke => {
                self.write_element(inst, Op::Array(ArrayOp::Peek), Op::Array(ArrayOp::Poke))
            }
            ArrayOp::Put | ArrayOp::AddSlice => self.write_slice(op, inst),
            ArrayOp::ScatterAdd => self.scatter_add(inst),
            ArrayOp::Refill => self.refill(inst),
            // A check has been passed.
            ArrayOp::Conform(_) => {}
            ArrayOp::Gemm(ta, tb) => self.gemm((*ta, *tb), inst),
            _ => self.read_array(op, inst),
        }
    }

    /// Operations that read an array and make something new: the transpose adds to its adjoint.
    fn read_array(&mut self, op: &ArrayOp, inst: &Inst) {
        let Some(d) = self.scope.adjoint.take(inst.results[0]) else { return };
        let x = inst.args[0];
        if *op == ArrayOp::Dot {
            for (this, other) in [(0, 1), (1, 0)] {
                if self.activity.is_active(inst.args[this]) {
                    let factor = self.at_hand(inst.args[other]);
                    self.contribute_partial(inst.args[this], Partial::Of(factor), d, When::Always);
                }
            }
            return;
        }
        if !self.activity.is_active(x) {
            return;
        }
        match op {
            ArrayOp::Slice => {
                let bar = self.adjoint_or_zero(x);
                let section = self.get_all(&inst.args[1..]);
                let args = [&[bar][..], &section, &[d]].concat();
                let bar = self.b.array(ArrayOp::AddSlice, &args);
                self.scope.adjoint.set(x, bar);
            }
            ArrayOp::Gather => {
                let bar = self.adjoint_or_zero(x);
                let at = self.at_hand(inst.args[1]);
                let bar = self.b.array(ArrayOp::ScatterAdd, &[bar, at, d]);
                self.scope.adjoint.set(x, bar);
            }
            ArrayOp::Reshape => {
                let dims = self.dims(x);
                let d = self.b.array(ArrayOp::Reshape, &[&[d][..], &dims].concat());
                self.contribute(x, d);
            }
            ArrayOp::Transpose(axes) => {
                let mut back = vec![0; axes.len()];
                for (k, axis) in axes.iter().enumerate() {
                    back[*axis as usize] = k as u8;
                }
                let d = self.b.array(ArrayOp::Transpose(back.into()), &[d]);
                self.contribute(x, d);
            }
            ArrayOp::Expand(axis) => {
                let d = self.b.array(ArrayOp::Sum(Some(*axis)), &[d]);
                self.contribute(x, d);
            }
            ArrayOp::Sum(None) => match self.scope.adjoint.get(x).is_some() {
                true => self.contribute(x, d),
                false => {
                    let dims = self.dims(x);
                    let bar = self.b.filled(&dims, d);
                    self.scope.adjoint.set(x, bar);
                }
            },
            ArrayOp::Sum(Some(axis)) => {
                let n = self.dims(x)[*axis as usize];
                let d = self.b.array(ArrayOp::Expand(*axis), &[d, n]);
                self.contribute(x, d);
            }
            ArrayOp::CumSum(axis, way) => {
                let d = self.b.array(ArrayOp::CumSum(*axis, way.flip()), &[d]);
                self.contribute(x, d);
            }
            _ => {}
        }
    }

    /// `x1 = (x0 with v in a slice)`, or `(x0 with v added to a slice)`.
    fn write_slice(&mut self, op: &ArrayOp, inst: &Inst) {
        let (x0, x1) = (inst.args[0], inst.results[0]);
        let v = inst.args[inst.args.len() - 1];
        if let Some(mut bar) = self.scope.adjoint.take(x1) {
            let place = self.place(bar, inst);
            if self.activity.is_active(v) {
                let d = self.b.array(ArrayOp::Slice, &place);
                self.contribute(v, d);
            }
            if self.activity.is_active(x0) {
                if *op == ArrayOp::Put {
                    let counts: Vec<Value> = place[1..].chunks(3).map(|axis| axis[1]).collect();
                    let zero = self.b.zero(self.b.ty(bar));
                    let zeros = self.b.filled(&counts, zero);
                    bar = self.b.array(ArrayOp::Put, &[&place[..], &[zeros]].concat());
                }
                self.scope.adjoint.set(x0, bar);
            }
        }
        let adds = *op == ArrayOp::AddSlice;
        self.take_back(inst, |reverse, inst, held, old| {
            let mut place = reverse.place(held, inst);
            if adds {
                place = named_once(&mut reverse.b, &place);
            }
            reverse.b.array(ArrayOp::Put, &[&place[..], &[old]].concat())
        });
    }

    /// `x1 = (x0 with v everywhere)`: `x0` had no part in it.
    fn refill(&mut self, inst: &Inst) {
        let (x0, v) = (inst.args[0], inst.args[1]);
        if let Some(bar) = self.scope.adjoint.take(inst.results[0]) {
            if self.activity.is_active(v) {
                let d = self.b.array(ArrayOp::Sum(None), &[bar]);
                self.contribute(v, d);
            }
            if self.activity.is_active(x0) {
                let zero = self.b.zero(self.b.ty(bar));
                let bar = self.b.array(ArrayOp::Refill, &[bar, zero]);
                self.scope.adjoint.set(x0, bar);
            }
        }
        self.take_back(inst, |_, _, _, old| old);
    }

    fn scatter_add(&mut self, inst: &Inst) {
        let (x0, v) = (inst.args[0], inst.args[2]);
        if let Some(bar) = self.scope.adjoint.take(inst.results[0]) {
            if self.activity.is_active(v) {
                let at = self.at_hand(inst.args[1]);
                let d = self.b.array(ArrayOp::Gather, &[bar, at]);
                self.contribute(v, d);
            }
            if self.activity.is_active(x0) {
                self.scope.adjoint.set(x0, bar);
            }
        }
        self.take_back(inst, |_, _, _, old| old);
    }

    /// `c1 = c0 + a b`: the adjoints of the factors grow by products with the other factor.
    fn gemm(&mut self, (ta, tb): (Transposed, Transposed), inst: &Inst) {
        use Transposed::{No, Yes};
        let (c0, a, b) = (inst.args[0], inst.args[1], inst.args[2]);
        if let Some(bar) = self.scope.adjoint.take(inst.results[0]) {
            let rank = |v: Value| self.nest.func.ty(v).rank();
            let outer = (rank(a), rank(b)) == (1, 1);
            let matvec = (rank(a), rank(b)) == (2, 1);
            if self.activity.is_active(a) {
                let other = self.at_hand(b);
                let (form, factors) = match (outer, ta) {
                    (true, _) => ((No, No), [bar, other]),
                    (false, No) => ((No, if matvec { No } else { tb.flip() }), [bar, other]),
                    (false, Yes) => (
                        (if matvec { No } else { tb }, if matvec { No } else { Yes }),
                        [other, bar],
                    ),
                };
                self.add_product(a, form, factors);
            }
            if self.activity.is_active(b) {
                let other = self.at_hand(a);
                let (form, factors) = match (outer, tb) {
                    (true, _) => ((Yes, No), [bar, other]),
                    (false, No) => ((ta.flip(), No), [other, bar]),
                    (false, Yes) => ((Yes, ta), [bar, other]),
                };
                self.add_product(b, form, factors);
            }
            if self.activity.is_active(c0) {
                self.scope.adjoint.set(c0, bar);
            }
        }
        self.take_back(inst, |_, _, _, old| old);
    }

    fn add_product(&mut self, v: Value, form: (Transposed, Transposed), factors: [Value; 2]) {
        let sum = self.adjoint_or_zero(v);
        let op = ArrayOp::Gemm(form.0, form.1);
        let sum = self.b.array(op, &[sum, factors[0], factors[1]]);
        self.scope.adjoint.set(v, sum);
    }
}
