//! Loops that lanes run for different times, under masks.
//!
//! On the way forward a loop runs as long as any lane goes on. What a lane carries when it leaves is held in its lane of
//! the carries, which the others go on with; where a carry is the same in all lanes that go on, what it is when they leave
//! is held beside it. What is pushed on the way out is held as well, and written after the loop.
//!
//! The way back takes the records of the last iteration first, which belong to the lanes that have run most of them. So
//! it runs as often as those, and a lane joins when as many iterations are left as it has run.

use super::mirror::count_exits;
use super::{LANES, Lane};
use crate::jit::abi;
use crate::jit::emit::Emitter;
use crate::jit::machine::Machine;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64X8, I64, I64X8};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use wengert_core::ir::{Block, Inst, Op, Type, Value};

/// Of a loop: which carries and results are what.
struct Uneven<'i> {
    inst: &'i Inst,
    inits: &'i [Value],
    /// Those that differ between lanes, and the results of others: each has a register that holds what lanes leave with.
    slots: Vec<Slot>,
    /// Carries that are the same in all lanes that go on, the tape among them.
    plain: Vec<usize>,
    /// The ways out that push records.
    exits: Vec<Pushing<'i>>,
}

/// A register that holds, per lane, what it leaves the loop with.
struct Slot {
    k: usize,
    /// Whether it is the carry itself.
    own: bool,
    /// Whether what an iteration yields goes into it, where that is not the carry as it was.
    follows: bool,
}

/// A way out on which records are pushed.
struct Pushing<'i> {
    /// Which of the ways out it is.
    number: usize,
    pushes: Vec<&'i Inst>,
}

/// What is known of lanes at a place in the loop.
struct State {
    /// The lanes that go on.
    going: ir::Value,
    slots: Vec<ir::Value>,
    /// Per way out that pushes records: which lanes have taken it.
    left: Vec<ir::Value>,
    /// What those lanes push.
    fields: Vec<ir::Value>,
}

impl State {
    fn held(&self) -> impl Iterator<Item = BlockArg> + '_ {
        let all = self.slots.iter().chain(&self.left).chain(&self.fields);
        all.copied().map(BlockArg::Value)
    }
}

impl<'i> Uneven<'i> {
    fn fields(&self) -> impl Iterator<Item = Value> + '_ {
        self.exits.iter().flat_map(|e| &e.pushes).flat_map(|p| p.args[1..].iter().copied())
    }
}

impl Emitter<'_, '_, '_> {
    /// A loop that lanes run for different times.
    pub(super) fn uneven_loop(&mut self, inst: &Inst) {
        match super::look::has(&inst.blocks[0], Op::Pop) {
            true => self.late_loop(inst),
            false => self.early_loop(inst),
        }
    }

    /// All lanes that are meant, as a mask.
    fn all_meant(&mut self, mask: Option<ir::Value>) -> ir::Value {
        mask.unwrap_or_else(|| {
            let all = self.b.ins().iconst(I64, -1);
            self.b.ins().splat(I64X8, all)
        })
    }

    fn uneven<'i>(&self, inst: &'i Inst) -> Uneven<'i> {
        let counts = inst.op == Op::For;
        let (body, inits) = (&inst.blocks[0], &inst.args[if counts { 2 } else { 0 }..]);
        let (mut slots, mut plain) = (Vec::new(), Vec::new());
        for k in 0..inits.len() {
            let (param, ty) = (body.params[k + 1], self.func.ty(body.params[k + 1]));
            let carried = !self.identity.is_linked(param);
            let own = carried && self.varies(param);
            if carried && !own {
                plain.push(k);
            }
            let taken = !self.identity.is_linked(inst.results[k]);
            if own || (taken && ty != Type::Tape) {
                let changed = self.identity.find(body.yields[k]) != param;
                slots.push(Slot { k, own, follows: carried && (own || counts) && changed });
            }
        }
        let exits = body.insts.iter().filter(|i| i.op == Op::ExitIf).enumerate();
        let exits = exits.map(|(number, exit)| {
            let pushes = exit.blocks[0].insts.iter().filter(|i| i.op == Op::Push).collect();
            Pushing { number, pushes }
        });
        let exits = exits.filter(|e| !e.pushes.is_empty()).collect();
        Uneven { inst, inits, slots, plain, exits }
    }

    /// A loop on the way forward.
    fn early_loop(&mut self, inst: &Inst) {
        let uneven = self.uneven(inst);
        let body = &inst.blocks[0];
        let counts = inst.op == Op::For;
        let outer = self.lockstep().mask;
        let meant = self.all_meant(outer);
        // How often lanes run it, where they count for themselves; otherwise all have the same end.
        let mut trips = None;
        let (start, bound, going) = if counts && self.any_varies(&inst.args[..2]) {
            let [from, to] = [0, 1].map(|k: usize| self.vector(inst.args[k]));
            let some = self.b.ins().icmp(IntCC::SignedLessThan, from, to);
            let between = self.b.ins().isub(to, from);
            trips = Some(between);
            let zero = self.b.ins().iconst(I64, 0);
            (zero, zero, self.b.ins().band(meant, some))
        } else {
            let (start, bound) = self.ends(inst);
            (start, bound, meant)
        };
        let (header, after) = (self.b.create_block(), self.b.create_block());
        let slots = uneven.slots.iter().map(|s| self.vector(uneven.inits[s.k])).collect();
        let fields: Vec<Type> = uneven.fields().map(|v| self.func.ty(v)).collect();
        let left = uneven.exits.iter().map(|_| self.nothing(Type::Bool)).collect();
        let fields = fields.into_iter().map(|ty| self.nothing(ty)).collect();
        let mut state = State { going, slots, left, fields };
        let params: Vec<Value> = uneven.plain.iter().map(|k| body.params[k + 1]).collect();
        let trip = self.b.append_block_param(header, I64);
        self.add_params(header, &params);
        self.b.append_block_param(header, I64X8);
        self.add_params(after, &params);
        for held in state.held() {
            let BlockArg::Value(held) = held else { unreachable!("only values are held") };
            let ty = self.b.func.dfg.value_type(held);
            self.b.append_block_param(header, ty);
            self.b.append_block_param(after, ty);
        }

        let plain: Vec<Value> = uneven.plain.iter().map(|k| uneven.inits[*k]).collect();
        let plain = self.block_args(&plain);
        let first = self.trip_args(start, &plain, &state);
        let none = [plain, state.held().collect()].concat();
        match counts {
            true => {
                let some = match trips {
                    Some(_) => self.any(going),
                    None => self.b.ins().icmp(IntCC::SignedLessThan, start, bound),
                };
                self.b.ins().brif(some, header, &first, after, &none);
            }
            false => _ = self.b.ins().jump(header, &first),
        }

        self.enter(header);
        let words = self.b.block_params(header)[1..].to_vec();
        let (words, held) = words.split_at(words.len() - 1 - state.held().count());
        self.bind_words(&params, words);
        state = split(&uneven, held[0], &held[1..]);
        for (slot, vector) in uneven.slots.iter().zip(&state.slots).filter(|(s, _)| s.own) {
            self.set_lane(body.params[slot.k + 1], Lane::Vector(*vector));
        }
        match trips {
            Some(_) => self.count_from(body.params[0], inst.args[0], trip),
            None => self.set(body.params[0], Machine::One(trip)),
        }
        let before = self.meant(Some(state.going));
        self.bounds.open();
        let mut number = 0;
        for inner in &body.insts {
            if inner.op == Op::ExitIf {
                self.lane_exit(&uneven, (number, inner), &mut state, after);
                number += 1;
            } else {
                self.lane_inst(inner);
            }
        }
        self.bounds.close();
        let next = self.next_trip(inst, trip, bound);
        for (i, slot) in uneven.slots.iter().enumerate().filter(|(_, s)| s.follows) {
            let yielded = self.vector(body.yields[slot.k]);
            state.slots[i] = self.choose(state.going, yielded, state.slots[i]);
        }
        let plain: Vec<Value> = uneven.plain.iter().map(|k| body.yields[*k]).collect();
        let plain = self.block_args(&plain);
        let more = trips.map(|trips| {
            let next = self.b.ins().splat(I64X8, next);
            let over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, trips);
            state.going = self.b.ins().band_not(state.going, over);
            self.any(state.going)
        });
        let again = self.trip_args(next, &plain, &state);
        if counts {
            let less = IntCC::SignedLessThan;
            let more = more.unwrap_or_else(|| self.b.ins().icmp(less, next, bound));
            let ends = [plain, state.held().collect()].concat();
            self.b.ins().brif(more, header, &again, after, &ends);
        } else {
            self.b.ins().jump(header, &again);
        }
        self.put_back(before);

        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        let (words, held) = words.split_at(words.len() - state.held().count());
        self.bind_words(&params, words);
        let state = split(&uneven, meant, held);
        for (slot, vector) in uneven.slots.iter().zip(&state.slots) {
            self.set_lane(inst.results[slot.k], Lane::Vector(*vector));
        }
        self.push_exits(&uneven, &state);
    }

    /// What the header of a loop is given.
    fn trip_args(&mut self, trip: ir::Value, plain: &[BlockArg], state: &State) -> Vec<BlockArg> {
        let mut args = vec![BlockArg::Value(trip)];
        args.extend_from_slice(plain);
        args.push(BlockArg::Value(state.going));
        args.extend(state.held());
        args
    }

    /// Lanes leave a loop: what they leave with is held, and where no lane goes on, all leave it.
    fn lane_exit(
        &mut self,
        uneven: &Uneven,
        (number, exit): (usize, &Inst),
        state: &mut State,
        after: ir::Block,
    ) {
        let (body, block) = (&uneven.inst.blocks[0], &exit.blocks[0]);
        let condition = self.vector(exit.args[0]);
        let leaving = self.b.ins().band(state.going, condition);
        let changed = |slot: &Slot| {
            !slot.own || self.identity.find(block.yields[slot.k]) != body.params[slot.k + 1]
        };
        let slots: Vec<usize> =
            (0..uneven.slots.len()).filter(|i| changed(&uneven.slots[*i])).collect();
        let mut wanted: Vec<Value> =
            slots.iter().map(|i| block.yields[uneven.slots[*i].k]).collect();
        let mut at = 0;
        let mut pushing = None;
        for (e, own) in uneven.exits.iter().enumerate() {
            let fields = own.pushes.iter().flat_map(|p| &p.args[1..]).copied();
            if own.number == number {
                wanted.extend(fields);
                pushing = Some((e, at));
                break;
            }
            at += fields.count();
        }
        // What is pushed is only held here.
        let quiet = block.insts.iter().filter(|i| i.op != Op::Push).cloned().collect();
        let quiet = Block { insts: quiet, ..block.clone() };
        let (words, _) = self.side(&quiet, leaving, &wanted, None);
        let (yielded, pushed) = words.split_at(slots.len());
        for (i, word) in slots.into_iter().zip(yielded) {
            state.slots[i] = self.choose(leaving, *word, state.slots[i]);
        }
        if let Some((e, at)) = pushing {
            state.left[e] = self.b.ins().bor(state.left[e], leaving);
            for (k, word) in pushed.iter().enumerate() {
                state.fields[at + k] = self.choose(leaving, *word, state.fields[at + k]);
            }
        }
        state.going = self.b.ins().band_not(state.going, condition);
        let any = self.any(state.going);
        let on = self.b.create_block();
        let plain: Vec<Value> = uneven.plain.iter().map(|k| body.params[k + 1]).collect();
        let plain = self.block_args(&plain);
        let ends = [plain, state.held().collect()].concat();
        self.b.ins().brif(any, on, &[], after, &ends);
        self.enter(on);
        self.meant(Some(state.going));
    }

    /// Pushes what lanes have left behind for that, exit by exit.
    fn push_exits(&mut self, uneven: &Uneven, state: &State) {
        let inst = uneven.inst;
        let is_tape = |k: &usize| self.func.ty(inst.results[*k]) == Type::Tape;
        let own = |k: &usize| !self.identity.is_linked(inst.results[*k]);
        let Some(k) = (0..inst.results.len()).find(|k| is_tape(k) && own(k)) else { return };
        let mut top = self.one(inst.blocks[0].params[k + 1]);
        let only = inst.op == Op::While && count_exits(&inst.blocks[0]) == 1;
        let mut at = 0;
        for (exit, left) in uneven.exits.iter().zip(&state.left) {
            let before = (!only).then(|| {
                let (push, on) = (self.b.create_block(), self.b.create_block());
                self.b.append_block_param(on, I64);
                let any = self.any(*left);
                self.b.ins().brif(any, push, &[], on, &[BlockArg::Value(top)]);
                self.enter(push);
                (self.meant(Some(*left)), on)
            });
            for push in &exit.pushes {
                let end = at + push.args.len() - 1;
                top = self.push_row(top, &state.fields[at..end], push.span);
                at = end;
            }
            if let Some((before, on)) = before {
                self.put_back(before);
                self.b.ins().jump(on, &[BlockArg::Value(top)]);
                self.enter(on);
                top = self.b.block_params(on)[0];
            }
        }
        self.raised.insert(inst.results[k]);
        self.set(inst.results[k], Machine::One(top));
    }

    /// A loop on the way back, which takes records.
    fn late_loop(&mut self, inst: &Inst) {
        let body = &inst.blocks[0];
        self.note_tops(inst, true);
        let (outer, recorded) = (self.lockstep().mask, self.lockstep().recorded);
        let meant = self.all_meant(outer);
        let [from, to] = [0, 1].map(|k: usize| self.vector(inst.args[k]));
        let some = self.b.ins().icmp(IntCC::SignedLessThan, from, to);
        let trips = self.b.ins().isub(to, from);
        let trips = self.b.ins().band(trips, some);
        let counted = self.b.ins().band(trips, meant);
        let each: [ir::Value; LANES] =
            std::array::from_fn(|l| self.b.ins().extractlane(counted, l as u8));
        let most = each[1..].iter().fold(each[0], |most, t| self.b.ins().smax(most, *t));
        // In which iteration a lane joins.
        let joins = self.b.ins().splat(I64X8, most);
        let joins = self.b.ins().isub(joins, trips);

        let own = |k: &usize| !self.identity.is_linked(body.params[k + 1]);
        let carried: Vec<usize> = (0..inst.results.len()).filter(own).collect();
        let is_tape = |k: &usize| self.func.ty(inst.results[*k]) == Type::Tape;
        let (tapes, slots): (Vec<usize>, Vec<usize>) = carried.into_iter().partition(is_tape);
        let of = |values: &[Value], which: &[usize]| -> Vec<Value> {
            which.iter().map(|k| values[*k]).collect()
        };
        let (header, after) = (self.b.create_block(), self.b.create_block());
        let trip = self.b.append_block_param(header, I64);
        for block in [header, after] {
            self.add_params(block, &of(&inst.results, &tapes));
            for k in &slots {
                let ty = if self.func.ty(inst.results[*k]) == Type::F64 { F64X8 } else { I64X8 };
                self.b.append_block_param(block, ty);
            }
        }
        let mut tops = self.words_of(&of(&inst.args[2..], &tapes));
        if outer != recorded {
            // Records of lanes that do not need the way back, of iterations that no other lane has run.
            tops = tops.into_iter().map(|top| self.dropped(inst, top, recorded, joins)).collect();
        }
        let inits: Vec<ir::Value> =
            of(&inst.args[2..], &slots).iter().map(|v| self.vector(*v)).collect();
        let none: Vec<BlockArg> = tops.iter().chain(&inits).copied().map(BlockArg::Value).collect();
        let zero = self.b.ins().iconst(I64, 0);
        let first = [&[BlockArg::Value(zero)], &none[..]].concat();
        let any = self.b.ins().icmp(IntCC::SignedLessThan, zero, most);
        self.b.ins().brif(any, header, &first, after, &none);

        self.enter(header);
        let words = self.b.block_params(header)[1..].to_vec();
        let (words, held) = words.split_at(tapes.len());
        self.bind_words(&of(&body.params[1..], &tapes), words);
        for (k, vector) in slots.iter().zip(held) {
            self.set_lane(body.params[k + 1], Lane::Vector(*vector));
        }
        let here = self.b.ins().splat(I64X8, trip);
        let since = self.b.ins().isub(here, joins);
        let count = self.b.ins().iadd(from, since);
        self.set_lane(body.params[0], Lane::Vector(count));
        let joined = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, here, joins);
        let going = self.b.ins().band(meant, joined);
        let before = self.meant(Some(going));
        if outer != recorded {
            let all = self.all_meant(recorded);
            let all = self.b.ins().band(all, joined);
            self.lockstep().recorded = Some(all);
        }
        self.lane_block(body);
        let next = self.next_trip(inst, trip, most);
        let mut ends = self.block_args(&of(&body.yields, &tapes));
        for (k, held) in slots.iter().zip(held) {
            let yielded = self.vector(body.yields[*k]);
            ends.push(BlockArg::Value(self.choose(going, yielded, *held)));
        }
        self.put_back(before);
        let again = [&[BlockArg::Value(next)], &ends[..]].concat();
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, most);
        self.b.ins().brif(more, header, &again, after, &ends);

        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        let (words, held) = words.split_at(tapes.len());
        self.bind_words(&of(&inst.results, &tapes), words);
        for (k, vector) in slots.iter().zip(held) {
            self.set_lane(inst.results[*k], Lane::Vector(*vector));
        }
    }

    /// The top below the records of the iterations that come before those a loop is run for. They are in lanes that
    /// would have joined earlier.
    fn dropped(
        &mut self,
        inst: &Inst,
        top: ir::Value,
        recorded: Option<ir::Value>,
        joins: ir::Value,
    ) -> ir::Value {
        let mut pop = None;
        inst.blocks[0].insts.iter().filter(|i| i.op == Op::Pop).for_each(|i| pop = Some(i));
        let pop = pop.unwrap_or_else(|| unreachable!("looked at before: it takes one record"));
        let types: Vec<Type> = pop.results[1..].iter().map(|r| self.func.ty(*r)).collect();
        let all = self.all_meant(recorded);
        let joins = self.b.ins().band(all, joins);
        let zero = self.b.ins().iconst(I64, 0);
        let mut records = zero;
        for l in 0..LANES {
            let join = self.b.ins().extractlane(joins, l as u8);
            let early = self.b.ins().smin(join, zero);
            records = self.b.ins().isub(records, early);
        }
        let size = self.b.ins().iconst(I64, 8 * abi::slots(&types) as i64);
        let size = self.b.ins().imul(records, size);
        self.lowered(top, size, pop)
    }
}

/// What is held, in order.
fn split(uneven: &Uneven, going: ir::Value, held: &[ir::Value]) -> State {
    let (slots, rest) = held.split_at(uneven.slots.len());
    let (left, fields) = rest.split_at(uneven.exits.len());
    State { going, slots: slots.to_vec(), left: left.to_vec(), fields: fields.to_vec() }
}
