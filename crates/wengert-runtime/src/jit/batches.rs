//! Products of a matrix with the rows of an array, for several iterations at once.
//!
//! A loop that multiplies one matrix by row after row of an array, neither of which it changes, reads the matrix in
//! every iteration. Here the iteration that needs the first row lets the runtime multiply the matrix by the next ones
//! too, as many as the loop will come to, and keeps what it gets for those iterations. Each element is the dot it was,
//! so no bit changes; nothing is computed that the loop would not compute, unless it fails before.
//!
//! Only products that every iteration computes are treated so, in loops that run to their bound.

use super::emit::Emitter;
use super::machine::Shaped;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, StackSlotData, StackSlotKind};
use rustc_hash::FxHashSet as HashSet;
use wengert_core::ir::{Block, Elem, Inst, Op, Type, Value, uses};
use wengert_core::ops::{ArrayOp, Scalar, Transposed};

/// Rows that are multiplied at once.
const ROWS: i64 = 32;

/// A matrix with more rows is not treated so: its products would take too much memory.
const MOST: i64 = 1 << 16;

/// A product of a loop.
#[derive(Clone, Copy)]
pub(super) struct Batch {
    /// What rows are taken of, in order.
    rows: Value,
    /// The number of the row: the loop's counter.
    counter: Value,
    /// The iteration the loop ends before.
    bound: ir::Value,
    /// Where products lie that have been computed, or null.
    block: ir::Value,
    /// The first iteration they are for, and the one behind the last.
    known: StackSlot,
}

impl Emitter<'_, '_, '_> {
    /// Finds the products of a loop that can be computed for several iterations, and makes room for them. Gives back
    /// their results.
    pub(super) fn open_batches(
        &mut self,
        inst: &Inst,
        start: ir::Value,
        bound: ir::Value,
    ) -> Vec<Value> {
        let found = self.find_batches(inst);
        for (product, matrix, rows) in &found {
            let m = self.array(*matrix).dims()[0];
            let most = self.b.ins().iconst(I64, MOST);
            let m = self.b.ins().umin(m, most);
            let len = self.b.ins().imul_imm_s(m, ROWS);
            let blank = self.import(self.compiler.hooks.blank);
            let call = self.b.ins().call(blank, &[self.context, len]);
            let block = self.b.inst_results(call)[0];
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 3);
            let known = self.b.create_sized_stack_slot(slot);
            let place = self.b.ins().stack_addr(I64, known, 0);
            self.b.ins().store(self.regions.frame, start, place, 0);
            self.b.ins().store(self.regions.frame, start, place, 8);
            let counter = inst.blocks[0].params[0];
            let batch = Batch { rows: *rows, counter, bound, block, known };
            self.batches.insert(*product, batch);
        }
        found.into_iter().map(|(product, ..)| product).collect()
    }

    /// The loop is over: the room is not used again.
    pub(super) fn close_batches(&mut self, products: Vec<Value>) {
        for product in products {
            if let Some(batch) = self.batches.remove(&product) {
                let free = self.import(self.compiler.hooks.free);
                self.b.ins().call(free, &[self.context, batch.block]);
            }
        }
    }

    /// The product of an iteration, with the matrices and vectors of it; goes on where it is not one of several.
    pub(super) fn batched(&mut self, batch: &Batch, [c, a, b]: [Shaped; 3], after: ir::Block) {
        let rows = self.array(batch.rows);
        let (m, k) = (c.dims()[0], b.dims()[0]);
        let whole = self.b.ins().icmp(IntCC::Equal, rows.dims()[1], k);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, m, MOST);
        let room = self.b.ins().icmp_imm_s(IntCC::NotEqual, batch.block, 0);
        let several = self.all(&[whole, few, room]);
        let [seek, make, have, alone] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().brif(several, seek, &[], alone, &[]);

        self.enter(seek);
        let flags = self.regions.frame;
        let known = self.b.ins().stack_addr(I64, batch.known, 0);
        let t = self.one(batch.counter);
        let end = self.b.ins().load(I64, flags, known, 8);
        let computed = self.b.ins().icmp(IntCC::SignedLessThan, t, end);
        self.b.ins().brif(computed, have, &[], make, &[]);

        // The row is there: it has been taken as a slice.
        self.enter(make);
        let left = self.b.ins().isub(batch.bound, t);
        let there = self.b.ins().isub(rows.dims()[0], t);
        let most = self.b.ins().iconst(I64, ROWS);
        let n = self.b.ins().umin(left, there);
        let n = self.b.ins().umin(n, most);
        let from = self.row(rows.address(), t, k);
        let many = self.import(self.compiler.hooks.many);
        self.b.ins().call(many, &[batch.block, a.address(), from, m, k, n]);
        let end = self.b.ins().iadd(t, n);
        self.b.ins().store(flags, t, known, 0);
        self.b.ins().store(flags, end, known, 8);
        self.b.ins().jump(have, &[]);

        self.enter(have);
        let first = self.b.ins().load(I64, flags, known, 0);
        let number = self.b.ins().isub(t, first);
        let row = self.row(batch.block, number, m);
        let add = self.import(self.compiler.hooks.add);
        self.b.ins().call(add, &[c.address(), row, m]);
        self.b.ins().jump(after, &[]);
        self.enter(alone);
    }

    /// Where a row of so many doubles begins.
    fn row(&mut self, base: ir::Value, number: ir::Value, length: ir::Value) -> ir::Value {
        let elements = self.b.ins().imul(number, length);
        let bytes = self.b.ins().ishl_imm_u(elements, 3);
        self.b.ins().iadd(base, bytes)
    }

    /// The products of matrices with rows that the iterations of a loop take one after the other: result, matrix, and
    /// what the rows are taken of.
    fn find_batches(&self, inst: &Inst) -> Vec<(Value, Value, Value)> {
        let body = &inst.blocks[0];
        let leaves = body.insts.iter().any(|i| i.op == Op::ExitIf);
        let product = |i: &&Inst| matches!(i.op, Op::Array(ArrayOp::Gemm(Transposed::No, _)));
        if inst.op != Op::For || leaves || !body.insts.iter().any(|i| product(&i)) {
            return Vec::new();
        }
        let mut inside = HashSet::default();
        defined(body, &mut inside);
        let makers = uses::makers(body);
        let outside =
            |v: Value| !inside.contains(&v) && self.func.ty(v) == Type::Array(Elem::F64, 2);
        let found = body.insts.iter().filter(product).filter_map(|gemm| {
            let [_, matrix, vector] = gemm.args[..] else { return None };
            let reshaped = makers.get(&vector).filter(|i| i.op == Op::Array(ArrayOp::Reshape))?;
            let slice = makers.get(&reshaped.args[0])?;
            if slice.op != Op::Array(ArrayOp::Slice) || !outside(slice.args[0]) || !outside(matrix)
            {
                return None;
            }
            // All of one row. That its length is that of the rows is seen when the program runs.
            let [rows, at, n, step, first, _, next] = slice.args[..] else { return None };
            let is = |v: Value, n: i64| self.func.as_const(v) == Some(Scalar::I64(n));
            let one_row =
                at == body.params[0] && is(n, 1) && is(step, 1) && is(first, 0) && is(next, 1);
            one_row.then_some((gemm.results[0], matrix, rows))
        });
        found.collect()
    }
}

/// Every value that is defined in a block or in one inside it.
fn defined(block: &Block, all: &mut HashSet<Value>) {
    all.extend(&block.params);
    for inst in &block.insts {
        all.extend(&inst.results);
        inst.blocks.iter().for_each(|nested| defined(nested, all));
    }
}
