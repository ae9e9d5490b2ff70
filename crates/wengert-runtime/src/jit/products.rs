//! Operations on whole arrays of doubles that need not go through a frame: products with vectors, dots, sums, rows of
//! arrays, and checks of shapes.
//!
//! The kernel is called with its operands in registers where the shapes fit and the case is the usual one. Otherwise,
//! and to say what is wrong, the general way is taken: see `kernel`.

use super::emit::Emitter;
use super::machine::{Machine, Shaped};
use crate::kernel::Work;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use cranelift_module::FuncId;
use wengert_core::ir::{Elem, Inst};
use wengert_core::ops::{ArrayOp, Check, Scalar, Transposed};

/// Blocks of an operation with a fast way, which is taken first, and a general one.
struct Ways {
    general: ir::Block,
    after: ir::Block,
}

impl Emitter<'_, '_, '_> {
    /// An operation on whole arrays; gives back what it makes, if that is something new.
    pub(super) fn whole(&mut self, inst: &Inst, op: &ArrayOp) -> Option<Machine> {
        let types = inst.args.iter().map(|a| self.func.ty(*a));
        let doubles = types.clone().all(|t| !t.is_array() || t.elem() == Some(Elem::F64));
        let ranks: Vec<usize> = types.map(|t| t.rank()).collect();
        match op {
            ArrayOp::Conform(Check::Gemm) => {
                let fits = self.product_fits(inst, [Transposed::No; 2]);
                self.conform_if(inst, op, fits);
                None
            }
            ArrayOp::Conform(Check::Slice) if self.has_unit_steps(inst) => {
                let within = self.section_within(inst, false);
                self.conform_if(inst, op, within);
                None
            }
            ArrayOp::Refill if doubles => {
                let (array, value) = (self.array(inst.args[0]), self.one(inst.args[1]));
                let count = self.count(&array);
                let refill = self.import(self.compiler.hooks.refill);
                self.b.ins().call(refill, &[array.address(), count, value]);
                None
            }
            ArrayOp::Gemm(ta, tb) if doubles && ranks == [1, 2, 1] => {
                self.times_vector(inst, op, [*ta, *tb]);
                None
            }
            ArrayOp::Dot if doubles => Some(self.dot(inst, op)),
            ArrayOp::Sum(None) if doubles => {
                let array = self.array(inst.args[0]);
                let count = self.count(&array);
                let hook = self.compiler.hooks.sum;
                Some(Machine::One(self.number(hook, &[array.address(), count])))
            }
            ArrayOp::Slice if doubles && self.has_unit_steps(inst) => Some(self.slice(inst, op)),
            _ => {
                let made = self.kernel(inst, Work::Array(op.clone()));
                made.filter(|_| !op.in_place())
            }
        }
    }

    /// Calls a kernel that gives a number.
    fn number(&mut self, hook: FuncId, args: &[ir::Value]) -> ir::Value {
        let hook = self.import(hook);
        let call = self.b.ins().call(hook, args);
        self.b.inst_results(call)[0]
    }

    /// Two ways, of which the first is taken where the condition holds; goes on in it.
    fn ways(&mut self, condition: ir::Value) -> Ways {
        let [fast, general, after] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(condition, fast, &[], general, &[]);
        self.enter(fast);
        Ways { general, after }
    }

    pub(super) fn all(&mut self, conditions: &[ir::Value]) -> ir::Value {
        let mut all = self.b.ins().iconst(I8, 1);
        for condition in conditions {
            all = self.b.ins().band(all, *condition);
        }
        all
    }

    /// Whether the arrays of a product have the shapes for it.
    fn product_fits(&mut self, inst: &Inst, transposed: [Transposed; 2]) -> ir::Value {
        let [c, a, b] = [0, 1, 2].map(|k: usize| self.array(inst.args[k]));
        let turned = |x: &Shaped, t: Transposed| match (x.dims(), t) {
            ([m, n], Transposed::Yes) => vec![*n, *m],
            (dims, _) => dims.to_vec(),
        };
        let (c, a, b) = (c.dims(), turned(&a, transposed[0]), turned(&b, transposed[1]));
        let pairs = match (c, &a[..], &b[..]) {
            ([m, n], [i, j], [k, l]) => vec![(m, i), (j, k), (n, l)],
            ([m], [i, j], [k]) => vec![(m, i), (j, k)],
            ([m, n], [i], [l]) => vec![(m, i), (n, l)],
            _ => unreachable!("verified: a product"),
        };
        let equal = |(x, y): (&ir::Value, &ir::Value)| self.b.ins().icmp(IntCC::Equal, *x, *y);
        let equal: Vec<ir::Value> = pairs.into_iter().map(equal).collect();
        self.all(&equal)
    }

    /// Lets the runtime say what is wrong, unless the condition holds.
    fn conform_if(&mut self, inst: &Inst, op: &ArrayOp, condition: ir::Value) {
        let Ways { general, after } = self.ways(condition);
        self.b.ins().jump(after, &[]);
        self.b.set_cold_block(general);
        self.enter(general);
        self.kernel(inst, Work::Array(op.clone()));
        self.b.ins().jump(after, &[]);
        self.enter(after);
    }

    /// A matrix, or its transpose, times a vector, in place.
    fn times_vector(&mut self, inst: &Inst, op: &ArrayOp, transposed: [Transposed; 2]) {
        let fits = self.product_fits(inst, transposed);
        let Ways { general, after } = self.ways(fits);
        let [c, a, b] = [0, 1, 2].map(|k: usize| self.array(inst.args[k]));
        let hook = match transposed[0] {
            Transposed::No => self.compiler.hooks.rows,
            Transposed::Yes => self.compiler.hooks.columns,
        };
        if let Some(batch) = self.batches.get(&inst.results[0]).copied() {
            self.batched(&batch, [c, a, b], after);
        }
        let hook = self.import(hook);
        let args = [c.address(), a.address(), b.address(), c.dims()[0], b.dims()[0]];
        self.b.ins().call(hook, &args);
        self.b.ins().jump(after, &[]);
        self.b.set_cold_block(general);
        self.enter(general);
        self.kernel(inst, Work::Array(op.clone()));
        self.b.ins().jump(after, &[]);
        self.enter(after);
    }

    fn dot(&mut self, inst: &Inst, op: &ArrayOp) -> Machine {
        let [x, y] = [0, 1].map(|k: usize| self.array(inst.args[k]));
        let pairs = x.dims().iter().zip(y.dims());
        let equal = pairs.map(|(x, y)| self.b.ins().icmp(IntCC::Equal, *x, *y));
        let equal: Vec<ir::Value> = equal.collect();
        let alike = self.all(&equal);
        let Ways { general, after } = self.ways(alike);
        let result = self.b.append_block_param(after, F64);
        let count = self.count(&x);
        let hook = self.compiler.hooks.dot;
        let sum = self.number(hook, &[x.address(), y.address(), count]);
        self.b.ins().jump(after, &[BlockArg::Value(sum)]);
        self.b.set_cold_block(general);
        self.enter(general);
        let Some(Machine::One(sum)) = self.kernel(inst, Work::Array(op.clone())) else {
            unreachable!("it makes a number")
        };
        self.b.ins().jump(after, &[BlockArg::Value(sum)]);
        self.enter(after);
        Machine::One(result)
    }

    /// Whether a slice is known to leave nothing out between its elements.
    fn has_unit_steps(&self, inst: &Inst) -> bool {
        let is_one = |v| self.func.as_const(v) == Some(Scalar::I64(1));
        inst.args[1..].chunks(3).all(|triple| is_one(triple[2]))
    }

    /// Whether a slice with steps of one lies within its array, and is of elements one behind the other, where that is
    /// asked. A `false` says nothing.
    fn section_within(&mut self, inst: &Inst, together: bool) -> ir::Value {
        let array = self.array(inst.args[0]);
        let mut conditions = Vec::new();
        for (axis, (dim, triple)) in array.dims().iter().zip(inst.args[1..].chunks(3)).enumerate() {
            let (start, count) = (self.one(triple[0]), self.one(triple[1]));
            if together && axis > 0 {
                conditions.push(self.b.ins().icmp_imm_s(IntCC::Equal, start, 0));
                conditions.push(self.b.ins().icmp(IntCC::Equal, count, *dim));
                continue;
            }
            // As unsigned numbers negative ones are larger than any length.
            conditions.push(self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, count, *dim));
            let last = self.b.ins().isub(*dim, count);
            conditions.push(self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, start, last));
        }
        self.all(&conditions)
    }

    /// A slice with steps of one: whole rows are copied at once.
    fn slice(&mut self, inst: &Inst, op: &ArrayOp) -> Machine {
        // Used on both ways, so constants among them stand before those.
        let (array, start) = (self.array(inst.args[0]), self.one(inst.args[1]));
        let counts = inst.args[1..].chunks(3).map(|triple| self.one(triple[1]));
        let counts: Vec<ir::Value> = counts.collect();
        let together = self.section_within(inst, true);
        let Ways { general, after } = self.ways(together);
        let place = |from: ir::Value, this: &mut Self| {
            array.dims()[1..].iter().fold(from, |n, dim| this.b.ins().imul(n, *dim))
        };
        let (skipped, count) = (place(start, self), place(counts[0], self));
        let skipped = self.b.ins().ishl_imm_u(skipped, 3);
        let from = self.b.ins().iadd(array.address(), skipped);
        let copy = self.import(self.compiler.hooks.copy);
        let call = self.b.ins().call(copy, &[self.context, from, count]);
        let made = self.b.inst_results(call)[0];
        let result = self.b.append_block_param(after, I64);
        // Without memory the general way is taken, which says so.
        self.b.ins().brif(made, after, &[BlockArg::Value(made)], general, &[]);
        self.enter(general);
        let keep = self.kept.contains(&self.identity.find(inst.results[0]));
        let work = if keep { Work::Keep } else { Work::Array(op.clone()) };
        let Some(Machine::Array(made)) = self.kernel(inst, work) else {
            unreachable!("it makes an array")
        };
        self.b.ins().jump(after, &[BlockArg::Value(made.address())]);
        self.enter(after);
        Machine::Array(Shaped::new(result, &counts))
    }
}
