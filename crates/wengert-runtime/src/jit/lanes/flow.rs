//! Loops and branches in lockstep.

use super::look::{has, is_uneven};
use super::mirror::{count_exits, given, is_swept, takes_back};
use super::{LANES, Lane};
use crate::context::field;
use crate::jit::emit::Emitter;
use crate::jit::machine::Machine;
use crate::jit::site::SiteKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64X8, I64, I64X8};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use wengert_core::ir::{Block, Inst, Op, Type, Value};

/// More instructions than this on a side of a branch are run only where a lane takes it.
const FEW: usize = 30;

impl Emitter<'_, '_, '_> {
    /// Adds parameters for values to a block, in lanes where they differ. Integers are one by one where it is a loop's:
    /// places in arrays are computed from them.
    pub(super) fn add_lane_params(&mut self, block: ir::Block, values: &[Value], one_by_one: bool) {
        for v in values {
            match self.func.ty(*v) {
                _ if !self.varies(*v) => self.add_params(block, &[*v]),
                Type::I64 if one_by_one => {
                    (0..LANES).for_each(|_| _ = self.b.append_block_param(block, I64));
                }
                Type::F64 => _ = self.b.append_block_param(block, F64X8),
                _ => _ = self.b.append_block_param(block, I64X8),
            }
        }
    }

    /// What is handed over for such parameters.
    pub(super) fn lane_args(
        &mut self,
        values: &[Value],
        params: &[Value],
        one_by_one: bool,
    ) -> Vec<BlockArg> {
        let mut args = Vec::new();
        for (v, p) in values.iter().zip(params) {
            match self.func.ty(*v) {
                _ if !self.varies(*p) => args.extend(self.block_args(&[*v])),
                Type::I64 if one_by_one => {
                    args.extend(self.words_each(*v).map(BlockArg::Value));
                }
                _ => args.push(BlockArg::Value(self.vector(*v))),
            }
        }
        args
    }

    /// Defines values by such parameters.
    pub(super) fn bind_lane_params(
        &mut self,
        words: &[ir::Value],
        values: &[Value],
        one_by_one: bool,
    ) {
        let mut words = words.iter().copied();
        let mut next = || words.next().unwrap_or_else(|| unreachable!("one for each"));
        for v in values {
            match self.func.ty(*v) {
                _ if !self.varies(*v) => {
                    let word = next();
                    self.set(*v, Machine::One(word));
                }
                Type::I64 if one_by_one => {
                    let each = std::array::from_fn(|_| next());
                    self.set_lane(*v, Lane::Each(each, None));
                }
                _ => {
                    let vector = next();
                    self.set_lane(*v, Lane::Vector(vector));
                }
            }
        }
    }

    /// A loop.
    pub(super) fn lane_loop(&mut self, inst: &Inst) {
        let even = self.lockstep().lanes.even;
        if !is_uneven(inst, even, |v| self.varies(v)) {
            return match self.any_varies(&inst.args[..2.min(inst.args.len())]) && inst.op == Op::For
            {
                true => self.chunk_loop(inst),
                false => self.common_loop(inst, None),
            };
        }
        let exits = count_exits(&inst.blocks[0]) > 0;
        if exits || self.lockstep().mask.is_some() {
            return self.uneven_loop(inst);
        }
        // Where it runs equally often in all lanes after all, no mask is needed.
        let results = self.own_results(inst);
        let (trips, differ) = self.trips(inst);
        let [equal, unequal, after] = [(); 3].map(|()| self.b.create_block());
        self.add_lane_params(after, &results, false);
        self.b.ins().brif(differ, unequal, &[], equal, &[]);
        for block in [equal, unequal] {
            self.enter(block);
            match block == equal {
                true => self.common_loop(inst, Some(trips)),
                false => self.uneven_loop(inst),
            }
            let args = self.lane_args(&results, &results, false);
            self.b.ins().jump(after, &args);
        }
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_lane_params(&words, &results, false);
    }

    /// The results of an instruction that are not the same as earlier values.
    fn own_results(&self, inst: &Inst) -> Vec<Value> {
        inst.results.iter().copied().filter(|r| !self.identity.is_linked(*r)).collect()
    }

    /// The loop over the iterations of a chunk: where it does not run equally often in all lanes the group is not run in
    /// lockstep.
    fn chunk_loop(&mut self, inst: &Inst) {
        let (trips, differ) = self.trips(inst);
        let (decline, on) = (self.lockstep().decline, self.b.create_block());
        self.b.ins().brif(differ, decline, &[], on, &[]);
        self.enter(on);
        self.common_loop(inst, Some(trips));
    }

    /// A loop that runs equally often in all lanes; how often, where its ends differ between them.
    fn common_loop(&mut self, inst: &Inst, trips: Option<ir::Value>) {
        let counts = inst.op == Op::For;
        let body = &inst.blocks[0];
        let inits = &inst.args[if counts { 2 } else { 0 }..];
        let own = |v: Value| !self.identity.is_linked(v);
        let carried: Vec<usize> = (0..inits.len()).filter(|k| own(body.params[k + 1])).collect();
        let taken: Vec<usize> = (0..inits.len()).filter(|k| own(inst.results[*k])).collect();
        let of = |values: &[Value], which: &[usize]| -> Vec<Value> {
            which.iter().map(|k| values[*k]).collect()
        };
        let (params, results) = (of(&body.params[1..], &carried), of(&inst.results, &taken));
        let effect = self.tape_effect(body);
        self.note_tops(inst, effect.1);

        let (start, bound) = match trips {
            Some(trips) => (self.b.ins().iconst(I64, 0), trips),
            None => self.ends(inst),
        };
        let (header, after) = (self.b.create_block(), self.b.create_block());
        let counter = self.b.append_block_param(header, I64);
        self.add_lane_params(header, &params, true);
        self.add_lane_params(after, &results, true);
        let mut args = vec![BlockArg::Value(start)];
        args.extend(self.lane_args(&of(inits, &carried), &params, true));
        if counts {
            let none = self.lane_args(&of(inits, &taken), &results, true);
            let some = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
            self.b.ins().brif(some, header, &args, after, &none);
        } else {
            self.b.ins().jump(header, &args);
        }

        self.enter(header);
        let words = self.b.block_params(header)[1..].to_vec();
        self.bind_lane_params(&words, &params, true);
        match trips {
            Some(_) => self.count_from(body.params[0], inst.args[0], counter),
            None => self.set(body.params[0], Machine::One(counter)),
        }
        self.bounds.open();
        for inner in &body.insts {
            if inner.op != Op::ExitIf {
                self.lane_inst(inner);
                continue;
            }
            let condition = self.one(inner.args[0]);
            let (leave, on) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(condition, leave, &[], on, &[]);
            self.enter(leave);
            self.lane_block(&inner.blocks[0]);
            let ends = self.lane_args(&of(&inner.blocks[0].yields, &taken), &results, true);
            self.b.ins().jump(after, &ends);
            self.enter(on);
        }
        self.bounds.close();
        let next = self.next_trip(inst, counter, bound);
        let mut args = vec![BlockArg::Value(next)];
        args.extend(self.lane_args(&of(&body.yields, &carried), &params, true));
        if counts {
            let ends = self.lane_args(&of(&body.yields, &taken), &results, true);
            let more = self.b.ins().icmp(IntCC::SignedLessThan, next, bound);
            self.b.ins().brif(more, header, &args, after, &ends);
        } else {
            self.b.ins().jump(header, &args);
        }
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_lane_params(&words, &results, true);
        self.raise_results(inst, effect);
    }

    /// Where a loop begins and ends that does so equally in all lanes; of a `while` the limit, which is not zero.
    pub(super) fn ends(&mut self, inst: &Inst) -> (ir::Value, ir::Value) {
        if inst.op == Op::While {
            let limit = self.load_context(I64, field::ROUNDS);
            self.fault_unless(limit, SiteKind::IterationLimit, inst.span, &[]);
            return (self.b.ins().iconst(I64, 0), limit);
        }
        let [from, to] = [0, 1].map(|k: usize| self.identity.find(inst.args[k]));
        self.bounds.open_loop(inst.blocks[0].params[0], from, to, self.func);
        (self.one(inst.args[0]), self.one(inst.args[1]))
    }

    /// At the end of an iteration: the number of the next one. Sees to it that a run can be interrupted, and that a
    /// `while` keeps below its limit.
    pub(super) fn next_trip(
        &mut self,
        inst: &Inst,
        trip: ir::Value,
        limit: ir::Value,
    ) -> ir::Value {
        let body = &inst.blocks[0];
        if inst.op == Op::While || has(body, Op::For) || has(body, Op::While) {
            self.poll(inst.span);
        }
        let one = self.b.ins().iconst(I64, 1);
        let next = self.b.ins().iadd(trip, one);
        if inst.op == Op::While {
            let within = self.b.ins().icmp(IntCC::UnsignedLessThan, next, limit);
            self.fault_unless(within, SiteKind::IterationLimit, inst.span, &[]);
        }
        next
    }

    /// The counter of a loop that may start elsewhere in each lane.
    pub(super) fn count_from(&mut self, counter: Value, starts: Value, trip: ir::Value) {
        if !self.varies(counter) {
            let start = self.one(starts);
            let word = self.b.ins().iadd(start, trip);
            return self.set(counter, Machine::One(word));
        }
        let apart = self.apart(starts);
        let each = self.words_each(starts).map(|start| self.b.ins().iadd(start, trip));
        self.set_lane(counter, Lane::Each(each, apart));
    }

    /// How often the first lane runs a loop whose ends differ between lanes, and whether others run it more or less often.
    fn trips(&mut self, inst: &Inst) -> (ir::Value, ir::Value) {
        let (from, to) = (self.words_each(inst.args[0]), self.words_each(inst.args[1]));
        let zero = self.b.ins().iconst(I64, 0);
        let trips: [ir::Value; LANES] = std::array::from_fn(|l| {
            let trips = self.b.ins().isub(to[l], from[l]);
            let some = self.b.ins().icmp(IntCC::SignedLessThan, from[l], to[l]);
            self.b.ins().select(some, trips, zero)
        });
        // More often than can be counted is different, too.
        let mut differ = self.b.ins().icmp(IntCC::SignedLessThan, trips[0], zero);
        for other in &trips[1..] {
            let differs = self.b.ins().icmp(IntCC::NotEqual, trips[0], *other);
            differ = self.b.ins().bor(differ, differs);
        }
        (trips[0], differ)
    }

    /// A branch.
    pub(super) fn lane_branch(&mut self, inst: &Inst) {
        self.lane_sides(inst);
        for (k, r) in inst.results.iter().enumerate() {
            let risen = inst.blocks.iter().any(|b| self.is_raised(b.yields[k]));
            if risen && self.func.ty(*r) == Type::Tape {
                self.raised.insert(*r);
            }
        }
    }

    fn lane_sides(&mut self, inst: &Inst) {
        let own = |k: &usize| !self.identity.is_linked(inst.results[*k]);
        let taken: Vec<usize> = (0..inst.results.len()).filter(own).collect();
        let results: Vec<Value> = taken.iter().map(|k| inst.results[*k]).collect();
        if !self.varies(inst.args[0]) {
            return self.common_branch(inst, &taken, &results);
        }
        let condition = self.vector(inst.args[0]);
        if is_swept(self.func, &self.identity, inst) {
            return self.swept(inst, condition, &taken, &results);
        }
        let is_tape = |k: &usize| self.func.ty(inst.results[*k]) == Type::Tape;
        let (tape, taken): (Vec<usize>, Vec<usize>) = taken.into_iter().partition(is_tape);
        let given = tape.first().and_then(|_| given(self.func, &self.identity, &inst.blocks[0]));
        let before = given.map(|tape| self.one(tape));
        // On the way back the records of the second side come first.
        let down = given.is_some() && takes_back(inst);
        let mut ends = [Vec::new(), Vec::new()];
        for k in if down { [1, 0] } else { [0, 1] } {
            let mask = if k == 0 { condition } else { self.b.ins().bnot(condition) };
            let side = &inst.blocks[k];
            let yields: Vec<Value> = taken.iter().map(|k| side.yields[*k]).collect();
            let threaded = given.zip(tape.first().map(|k| side.yields[*k]));
            let (words, top) = self.side(side, mask, &yields, threaded);
            ends[k] = words;
            // The other side goes on from there.
            if let (Some(tape), Some(top)) = (given, top) {
                self.set(tape, Machine::One(top));
            }
        }
        if let (Some(given), Some(k), Some(before)) = (given, tape.first(), before) {
            let top = self.one(given);
            self.set(inst.results[*k], Machine::One(top));
            self.set(given, Machine::One(before));
        }
        let [then, otherwise] = ends;
        for ((k, x), y) in taken.iter().zip(then).zip(otherwise) {
            let chosen = self.choose(condition, x, y);
            self.set_lane(inst.results[*k], Lane::Vector(chosen));
        }
    }

    /// The mask of those lanes that are meant, of these.
    fn masked(&mut self, mask: ir::Value) -> ir::Value {
        match self.lockstep().mask {
            Some(outer) => self.b.ins().band(outer, mask),
            None => mask,
        }
    }

    /// One side of a branch, for the lanes that take it; what it yields. Of a tape, which version it is given and which it
    /// yields.
    pub(super) fn side(
        &mut self,
        side: &Block,
        mask: ir::Value,
        yields: &[Value],
        tape: Option<(Value, Value)>,
    ) -> (Vec<ir::Value>, Option<ir::Value>) {
        let before = tape.map(|(given, _)| self.one(given));
        let plain = side.insts.len() <= FEW
            && side.insts.iter().all(|i| matches!(i.op, Op::Prim(p) if !p.can_trap()));
        if plain {
            self.lane_block(side);
            return (yields.iter().map(|y| self.vector(*y)).collect(), before);
        }
        let mask = self.masked(mask);
        let (run, on) = (self.b.create_block(), self.b.create_block());
        let mut nothing = Vec::new();
        for y in yields {
            let zero = self.nothing(self.func.ty(*y));
            self.b.append_block_param(on, self.b.func.dfg.value_type(zero));
            nothing.push(BlockArg::Value(zero));
        }
        if let Some(top) = before {
            self.b.append_block_param(on, I64);
            nothing.push(BlockArg::Value(top));
        }
        let any = self.any(mask);
        self.b.ins().brif(any, run, &[], on, &nothing);
        self.enter(run);
        let outer = self.meant(Some(mask));
        self.lane_block(side);
        let ends: Vec<ir::Value> = yields.iter().map(|y| self.vector(*y)).collect();
        let top = tape.map(|(_, yielded)| self.one(yielded));
        self.put_back(outer);
        let ends: Vec<BlockArg> = ends.into_iter().chain(top).map(BlockArg::Value).collect();
        self.b.ins().jump(on, &ends);
        self.enter(on);
        let mut words = self.b.block_params(on).to_vec();
        let top = before.and_then(|_| words.pop());
        (words, top)
    }

    /// Zero in all lanes.
    pub(super) fn nothing(&mut self, ty: Type) -> ir::Value {
        match ty {
            Type::F64 => {
                let zero = self.b.ins().f64const(0.0);
                self.b.ins().splat(F64X8, zero)
            }
            _ => {
                let zero = self.b.ins().iconst(I64, 0);
                self.b.ins().splat(I64X8, zero)
            }
        }
    }

    /// A branch that all lanes take the same way.
    fn common_branch(&mut self, inst: &Inst, taken: &[usize], results: &[Value]) {
        let condition = self.one(inst.args[0]);
        let [then, otherwise, after] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
        self.add_lane_params(after, results, false);
        for (block, side) in [(then, &inst.blocks[0]), (otherwise, &inst.blocks[1])] {
            self.enter(block);
            self.lane_block(side);
            let yields: Vec<Value> = taken.iter().map(|k| side.yields[*k]).collect();
            let args = self.lane_args(&yields, results, false);
            self.b.ins().jump(after, &args);
        }
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_lane_params(&words, results, false);
    }

    /// The way back of a loop where any lane needs it, otherwise its records are dropped. Lanes that do not
    /// need it keep what they have.
    fn swept(&mut self, inst: &Inst, condition: ir::Value, taken: &[usize], results: &[Value]) {
        let outer = self.lockstep().mask;
        let mask = self.masked(condition);
        // Records are there for the others, too.
        let [swept, dropped, after] = [(); 3].map(|()| self.b.create_block());
        let any = self.any(mask);
        self.b.ins().brif(any, swept, &[], dropped, &[]);
        self.add_lane_params(after, results, false);
        let [then, otherwise] = [0, 1].map(|b: usize| -> Vec<Value> {
            taken.iter().map(|k| inst.blocks[b].yields[*k]).collect()
        });
        self.enter(swept);
        self.lockstep().mask = Some(mask);
        self.lane_block(&inst.blocks[0]);
        self.lockstep().mask = outer;
        let mut args = self.lane_args(&then, results, false);
        for ((arg, r), y) in args.iter_mut().zip(results).zip(&otherwise) {
            if let (BlockArg::Value(x), true) = (&mut *arg, self.varies(*r)) {
                let y = self.vector(*y);
                *x = self.choose(condition, *x, y);
            }
        }
        self.b.ins().jump(after, &args);
        self.enter(dropped);
        self.lane_block(&inst.blocks[1]);
        let args = self.lane_args(&otherwise, results, false);
        self.b.ins().jump(after, &args);
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_lane_params(&words, results, false);
    }
}
