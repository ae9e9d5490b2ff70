//! Loops and branches in lockstep.

use super::{LANES, Lane};
use crate::jit::emit::Emitter;
use crate::jit::machine::Machine;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64X8, I64, I64X8};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use wengert_core::ir::{Block, Inst, Op, Type, Value};

/// More instructions than this on a side of a branch are run only where a lane takes it.
const FEW: usize = 8;

impl Emitter<'_, '_, '_> {
    /// Adds parameters for values to a block, in lanes where they differ. Integers are one by one where it is a loop's:
    /// places in arrays are computed from them.
    fn add_lane_params(&mut self, block: ir::Block, values: &[Value], one_by_one: bool) {
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
    fn lane_args(&mut self, values: &[Value], params: &[Value], one_by_one: bool) -> Vec<BlockArg> {
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
    fn bind_lane_params(&mut self, words: &[ir::Value], values: &[Value], one_by_one: bool) {
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

    /// A loop that runs equally often in all lanes.
    pub(super) fn lane_loop(&mut self, inst: &Inst) {
        let body = &inst.blocks[0];
        let inits = &inst.args[2..];
        let own = |v: Value| !self.identity.is_linked(v);
        let carried: Vec<usize> = (0..inits.len()).filter(|k| own(body.params[k + 1])).collect();
        let taken: Vec<usize> = (0..inits.len()).filter(|k| own(inst.results[*k])).collect();
        let of = |values: &[Value], which: &[usize]| -> Vec<Value> {
            which.iter().map(|k| values[*k]).collect()
        };
        let (params, results) = (of(&body.params[1..], &carried), of(&inst.results, &taken));
        let effect = self.tape_effect(body);
        self.note_tops(inst, effect.1);

        let mut starts = None;
        let (start, bound) = if self.any_varies(&inst.args[..2]) {
            let (lo, trips) = self.equal_trips(inst);
            starts = Some(lo);
            (self.b.ins().iconst(I64, 0), trips)
        } else {
            let [from, to] = [0, 1].map(|k: usize| self.identity.find(inst.args[k]));
            self.bounds.open_loop(body.params[0], from, to, self.func);
            (self.one(inst.args[0]), self.one(inst.args[1]))
        };
        let (header, after) = (self.b.create_block(), self.b.create_block());
        let counter = self.b.append_block_param(header, I64);
        self.add_lane_params(header, &params, true);
        self.add_lane_params(after, &results, true);
        let mut args = vec![BlockArg::Value(start)];
        args.extend(self.lane_args(&of(inits, &carried), &params, true));
        let none = self.lane_args(&of(inits, &taken), &results, true);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
        self.b.ins().brif(some, header, &args, after, &none);

        self.enter(header);
        let words = self.b.block_params(header)[1..].to_vec();
        self.bind_lane_params(&words, &params, true);
        match starts {
            Some(starts) => self.count_from(body.params[0], starts, counter),
            None => self.set(body.params[0], Machine::One(counter)),
        }
        self.lane_block(body);
        let mut long = false;
        body.walk(&mut |i| long |= matches!(i.op, Op::For));
        if long {
            self.poll(inst.span);
        }
        let one = self.b.ins().iconst(I64, 1);
        let next = self.b.ins().iadd(counter, one);
        let mut args = vec![BlockArg::Value(next)];
        args.extend(self.lane_args(&of(&body.yields, &carried), &params, true));
        let ends = self.lane_args(&of(&body.yields, &taken), &results, true);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, bound);
        self.b.ins().brif(more, header, &args, after, &ends);
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_lane_params(&words, &results, true);
        self.raise_results(inst, effect);
    }

    /// The counter of a loop that starts elsewhere in each lane.
    fn count_from(&mut self, counter: Value, starts: Value, trip: ir::Value) {
        if !self.varies(starts) {
            let start = self.one(starts);
            let word = self.b.ins().iadd(start, trip);
            return self.set(counter, Machine::One(word));
        }
        let apart = self.apart(starts);
        let each = self.words_each(starts).map(|start| self.b.ins().iadd(start, trip));
        self.set_lane(counter, Lane::Each(each, apart));
    }

    /// How often a loop runs whose ends differ between lanes; where it does not run equally often in all of them the
    /// group is not run in lockstep. Gives back where it starts, too.
    fn equal_trips(&mut self, inst: &Inst) -> (Value, ir::Value) {
        let (from, to) = (self.words_each(inst.args[0]), self.words_each(inst.args[1]));
        let zero = self.b.ins().iconst(I64, 0);
        let trips: [ir::Value; LANES] = std::array::from_fn(|l| {
            let trips = self.b.ins().isub(to[l], from[l]);
            let some = self.b.ins().icmp(IntCC::SignedLessThan, from[l], to[l]);
            self.b.ins().select(some, trips, zero)
        });
        // Neither do loops that would run for ever.
        let mut wrong = self.b.ins().icmp(IntCC::SignedLessThan, trips[0], zero);
        for other in &trips[1..] {
            let differs = self.b.ins().icmp(IntCC::NotEqual, trips[0], *other);
            wrong = self.b.ins().bor(wrong, differs);
        }
        let (decline, on) = (self.lockstep().decline, self.b.create_block());
        self.b.ins().brif(wrong, decline, &[], on, &[]);
        self.enter(on);
        (inst.args[0], trips[0])
    }

    /// A branch.
    pub(super) fn lane_branch(&mut self, inst: &Inst) {
        let own = |k: &usize| !self.identity.is_linked(inst.results[*k]);
        let taken: Vec<usize> = (0..inst.results.len()).filter(own).collect();
        let results: Vec<Value> = taken.iter().map(|k| inst.results[*k]).collect();
        if !self.varies(inst.args[0]) {
            return self.common_branch(inst, &taken, &results);
        }
        let condition = self.vector(inst.args[0]);
        if results.iter().any(|r| self.func.ty(*r) == Type::Tape) {
            return self.swept(inst, condition, &taken, &results);
        }
        let otherwise = self.b.ins().bnot(condition);
        let [then, otherwise] = [(0, condition), (1, otherwise)].map(|(k, mask): (usize, _)| {
            let side = &inst.blocks[k];
            let yields: Vec<Value> = taken.iter().map(|k| side.yields[*k]).collect();
            self.side(side, mask, &yields)
        });
        for ((r, x), y) in results.iter().zip(then).zip(otherwise) {
            let chosen = self.choose(condition, x, y);
            self.set_lane(*r, Lane::Vector(chosen));
        }
    }

    /// The mask of those lanes that are meant, of these.
    fn masked(&mut self, mask: ir::Value) -> ir::Value {
        match self.lockstep().mask {
            Some(outer) => self.b.ins().band(outer, mask),
            None => mask,
        }
    }

    /// One side of a branch, for the lanes that take it; what it yields.
    fn side(&mut self, side: &Block, mask: ir::Value, yields: &[Value]) -> Vec<ir::Value> {
        let plain = side.insts.len() <= FEW
            && side.insts.iter().all(|i| matches!(i.op, Op::Prim(p) if !p.can_trap()));
        if plain {
            self.lane_block(side);
            return yields.iter().map(|y| self.vector(*y)).collect();
        }
        let outer = self.lockstep().mask;
        let mask = self.masked(mask);
        let (run, on) = (self.b.create_block(), self.b.create_block());
        let mut nothing = Vec::new();
        for y in yields {
            let zero = match self.func.ty(*y) {
                Type::F64 => {
                    self.b.append_block_param(on, F64X8);
                    let zero = self.b.ins().f64const(0.0);
                    self.b.ins().splat(F64X8, zero)
                }
                _ => {
                    self.b.append_block_param(on, I64X8);
                    let zero = self.b.ins().iconst(I64, 0);
                    self.b.ins().splat(I64X8, zero)
                }
            };
            nothing.push(BlockArg::Value(zero));
        }
        let any = self.any(mask);
        self.b.ins().brif(any, run, &[], on, &nothing);
        self.enter(run);
        self.lockstep().mask = Some(mask);
        self.lane_block(side);
        let ends: Vec<BlockArg> = yields.iter().map(|y| BlockArg::Value(self.vector(*y))).collect();
        self.lockstep().mask = outer;
        self.b.ins().jump(on, &ends);
        self.enter(on);
        self.b.block_params(on).to_vec()
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
