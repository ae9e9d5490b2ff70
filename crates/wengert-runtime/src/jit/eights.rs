//! Loops over doubles, eight at a time, for C compilers.
//!
//! What [`pairs`](super::pairs) do for Cranelift, in vectors of eight: the iterations are known not to touch each other's
//! elements, so no compiler has to ask whether arrays overlap. Where a loop reads nothing of what it writes, an iteration
//! that runs twice does the same twice. So the last eight iterations are the last ones, whether or not some of them
//! have been done before, and nothing is left over; and the second eight begin where what is written lies at a multiple
//! of a vector's size, because memory is slower at other places. Fewer iterations than eight run one by one.

use super::emit::Emitter;
use super::neighbours::Frame;
use super::pairs::Pairs;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use wengert_core::ir::{Inst, Op};
use wengert_core::ops::ArrayOp;

/// Iterations at once.
const LANES: i64 = 8;

/// Bytes of a vector.
const BYTES: i64 = 8 * LANES;

impl Emitter<'_, '_, '_> {
    /// All iterations of a loop of at least eight, which then goes on `after` it; a shorter one is left to what follows.
    pub(super) fn in_eights(
        &mut self,
        inst: &Inst,
        pairs: &Pairs,
        (start, bound): (ir::Value, ir::Value),
        after: (ir::Block, &[BlockArg]),
    ) {
        let body = &inst.blocks[0];
        let trips = self.b.ins().isub(bound, start);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
        let least = self.b.ins().iconst(I64, LANES);
        let enough = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, trips, least);
        let many = self.b.ins().band(some, enough);
        let (vectors, few) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(many, vectors, &[], few, &[]);
        self.enter(vectors);
        let lanes = self.outside_lanes(pairs);
        let places = self.first_places(body, pairs, start);
        let bytes = self.b.ins().ishl_imm_u(trips, 3);
        let frame = Frame { body, pairs, lanes, places, bytes };
        let vector = self.b.ins().iconst(I64, BYTES);
        let last = self.b.ins().isub(bytes, vector);
        let writes = |i: &&Inst| matches!(i.op, Op::Store | Op::Array(ArrayOp::Poke));
        let written = body.insts.iter().find(writes).map(|i| frame.places[&i.results[0]]);
        let zero = self.b.ins().iconst(I64, 0);
        let beyond = self.b.ins().iconst(I64, BYTES - 1);
        let beyond = self.b.ins().band(written.unwrap_or(zero), beyond);
        let second = self.b.ins().isub(vector, beyond);
        let header = self.b.create_block();
        let [offset, next] = [0, 1].map(|_| self.b.append_block_param(header, I64));
        let third = self.b.ins().iadd(second, vector);
        let found = self.neighbours(body, pairs);
        let way = found.map(|found| self.beside_each_other(found, &frame, third));
        let second = self.b.ins().umin(second, last);
        self.b.ins().jump(header, &[BlockArg::Value(zero), BlockArg::Value(second)]);
        self.enter(header);
        let mut lanes = frame.lanes.clone();
        for i in &body.insts {
            self.pair(i, pairs, &mut lanes, &frame.places, (offset, 0));
        }
        let further = self.b.ins().iadd(next, vector);
        let further = self.b.ins().umin(further, last);
        let on = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, last);
        let again = [BlockArg::Value(next), BlockArg::Value(further)];
        if let Some(way) = way {
            let more = self.b.create_block();
            self.b.ins().brif(on, more, &[], after.0, after.1);
            self.enter(more);
            let there = self.b.ins().icmp(IntCC::Equal, next, way.wanted);
            self.b.ins().brif(there, way.entry, &again[..1], header, &again);
            self.carry_on(&way, &frame, (header, last));
        } else {
            self.b.ins().brif(on, header, &again, after.0, after.1);
        }
        self.enter(few);
    }
}
