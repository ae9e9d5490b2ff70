//! Tapes.
//!
//! A run usually has one tape, and its limit is a field of the context. Programs that make tapes of
//! their own have several: then what all of them may still hold is counted, [`Tapes`] says which versions
//! are of the same tape, and the runtime is asked for a tape's beginning where the tape appears in a
//! function. Where the iterations of a parallel loop make a tape each, a thread has one for all of them, and the limit is
//! that of each.
//!
//! Nothing says that a program pops what it has pushed, so memory must stay safe where it does not: a pop
//! stays above the beginning of its tape, scalars are taken as the bits that are there, and arrays are
//! kept by the runtime, which hands out only those that were pushed to the very place.

use super::abi;
use super::cold::OpenLoop;
use super::emit::Emitter;
use super::identity::Identity;
use super::machine::Machine;
use super::site::SiteKind;
use crate::context::field;
use crate::held;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, AtomicRmwOp, InstBuilder, MemFlagsData};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::ir::{Block, Func, Inst, Op, Type, Value};
use wengert_core::span::Span;

/// Per version of a tape the version it first appeared as.
#[derive(Debug, Default)]
pub(super) struct Tapes {
    roots: HashMap<Value, Value>,
    /// Results that are of one tape or another, depending on the way taken.
    mixed: HashSet<Value>,
}

impl Tapes {
    /// The tapes of a function.
    pub(super) fn of(func: &Func, identity: &Identity) -> Self {
        let mut tapes = Tapes::default();
        loop {
            let mixed = tapes.mixed.len();
            tapes.roots.clear();
            tapes.block(func, identity, &func.body);
            if tapes.mixed.len() == mixed {
                return tapes;
            }
        }
    }

    /// The version a tape first appeared as; nothing where there is only one tape.
    pub(super) fn root(&self, tape: Value) -> Option<Value> {
        self.roots.get(&tape).copied()
    }

    fn block(&mut self, func: &Func, identity: &Identity, block: &Block) {
        let is_tape = |v: &&Value| func.ty(**v) == Type::Tape;
        for p in block.params.iter().filter(is_tape) {
            self.roots.entry(*p).or_insert(*p);
        }
        for inst in &block.insts {
            let bounds = if inst.op == Op::For { 2 } else { 0 };
            match inst.op {
                Op::For | Op::While => {
                    let carries = &inst.blocks[0].params[1..];
                    for (p, init) in carries.iter().zip(&inst.args[bounds..]) {
                        self.meet(func, identity, *p, &[*init]);
                    }
                }
                _ => {}
            }
            inst.blocks.iter().for_each(|nested| self.block(func, identity, nested));
            for (k, r) in inst.results.iter().enumerate().filter(|(_, r)| is_tape(r)) {
                let from: Vec<Value> = match inst.op {
                    Op::Push | Op::Pop => vec![inst.args[0]],
                    Op::If => inst.blocks.iter().map(|b| b.yields[k]).collect(),
                    Op::For | Op::While => {
                        let body = &inst.blocks[0];
                        let ways = [inst.args[bounds + k], body.yields[k]];
                        self.meet(func, identity, body.params[k + 1], &ways);
                        let exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
                        let exits = exits.map(|i| i.blocks[0].yields[k]);
                        ways.into_iter().chain(exits).collect()
                    }
                    _ => Vec::new(),
                };
                self.meet(func, identity, *r, &from);
            }
        }
    }

    /// A version that one of several others becomes.
    fn meet(&mut self, func: &Func, identity: &Identity, to: Value, from: &[Value]) {
        if func.ty(to) != Type::Tape {
            return;
        }
        // The same machine value as an earlier one: defined there.
        if identity.is_linked(to) {
            let root = self.roots.get(&identity.find(to)).copied();
            self.roots.insert(to, root.unwrap_or(to));
            return;
        }
        let roots: HashSet<Option<Value>> = from.iter().map(|v| self.root(*v)).collect();
        match roots.iter().next() {
            Some(Some(root)) if roots.len() == 1 && !self.mixed.contains(&to) => {
                self.roots.insert(to, *root);
            }
            Some(_) => {
                self.mixed.insert(to);
                self.roots.insert(to, to);
            }
            None => _ = self.roots.insert(to, to),
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// Writes a record and gives back the new top.
    pub(super) fn push(&mut self, inst: &Inst) -> ir::Value {
        let top = self.one(inst.args[0]);
        let record: Vec<ir::Value> = self.words_of(&inst.args[1..]);
        let size = 8 * record.len() as i64;
        if self.compiler.several_tapes {
            let left = self.load_context(I64, field::TAPE_LEFT);
            let needed = self.b.ins().iconst(I64, size);
            let over = self.b.ins().icmp(IntCC::UnsignedLessThan, left, needed);
            self.fault_if(over, SiteKind::TapeLimit, inst.span, &[]);
            let left = self.b.ins().isub(left, needed);
            self.store_context(left, field::TAPE_LEFT);
        } else {
            // The old top against the last one that leaves room: the new top is needed after the stores
            // only, and counted up in place.
            let last = self.tape_limit[&record.len()];
            let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, last);
            let size = self.b.ins().iconst(I64, size);
            self.take_tape(over, top, size, inst.span);
        }
        for (k, word) in record.into_iter().enumerate() {
            self.b.ins().store(self.regions.tape, word, top, 8 * k as i32);
        }
        let types: Vec<Type> = inst.args[1..].iter().map(|a| self.func.ty(*a)).collect();
        for (offset, ty) in arrays(&types) {
            let hold = self.import(self.compiler.hooks.hold_array);
            let (slot, ty) = self.array_slot(top, offset, ty);
            self.b.ins().call(hold, &[self.context, slot, ty]);
        }
        let next = self.b.ins().iadd_imm_s(top, size);
        self.raised.insert(inst.results[0]);
        next
    }

    /// What happens where there may be no room for a record.
    pub(super) fn take_tape(
        &mut self,
        over: ir::Value,
        top: ir::Value,
        size: ir::Value,
        span: Span,
    ) {
        if self.compiler.declared[&self.func.name].shares {
            self.take_room(over, top, size, span);
        } else {
            self.fault_if(over, SiteKind::TapeLimit, span, &[]);
        }
    }

    /// Where the limit may be reached, takes more of the room that threads share; a fault where there is none. The
    /// limit known here stays as it was, so from then on every record asks again.
    fn take_room(&mut self, over: ir::Value, top: ir::Value, size: ir::Value, span: Span) {
        let full = self.cold_block(SiteKind::TapeLimit, span, &[]);
        let on = self.b.create_block();
        let [ask, shared, take, grow] = [(); 4].map(|()| self.b.create_block());
        [ask, shared, take, grow].iter().for_each(|block| self.b.set_cold_block(*block));
        self.b.ins().brif(over, ask, &[], on, &[]);

        self.enter(ask);
        let limit = self.load_context(I64, field::TAPE_LIMIT);
        let last = self.b.ins().isub(limit, size);
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, last);
        self.b.ins().brif(over, shared, &[], on, &[]);

        self.enter(shared);
        let room = self.load_context(I64, field::TAPE_SHARED);
        self.b.ins().brif(room, take, &[], full, &[]);

        self.enter(take);
        let block = self.load_context(I64, field::TAPE_BLOCK);
        let less = self.b.ins().ineg(block);
        let flags = MemFlagsData::trusted();
        let left = self.b.ins().atomic_rmw(I64, flags, AtomicRmwOp::Add, room, less);
        let none = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, left, 0);
        self.b.ins().brif(none, full, &[], grow, &[]);

        self.enter(grow);
        let limit = self.b.ins().iadd(limit, block);
        self.store_context(limit, field::TAPE_LIMIT);
        self.b.ins().jump(ask, &[]);
        self.enter(on);
    }

    /// The place of an array in a record, and the number of its type.
    fn array_slot(&mut self, record: ir::Value, offset: i64, ty: Type) -> (ir::Value, ir::Value) {
        let slot = self.b.ins().iadd_imm_s(record, offset);
        (slot, self.b.ins().iconst(I64, held::code(ty)))
    }

    /// The sizes of records pushed on a tape or popped from it, in slots.
    fn record_sizes(&self, op: Op, root: Option<Value>) -> Vec<usize> {
        let mut sizes = Vec::new();
        self.func.body.walk(&mut |inst| {
            if inst.op == op && self.tapes.root(inst.args[0]) == root {
                let record = if op == Op::Push { &inst.args[1..] } else { &inst.results[1..] };
                let types: Vec<Type> = record.iter().map(|v| self.func.ty(*v)).collect();
                let size = abi::slots(&types);
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        });
        sizes
    }

    /// Loads the limits of the run's only tape: the upper one where the function pushes, less each size of
    /// record; the lower one where it pops, and each size more.
    pub(super) fn find_tape_limits(&mut self) {
        if self.compiler.several_tapes {
            return;
        }
        let sizes = self.record_sizes(Op::Push, None);
        if !sizes.is_empty() {
            let limit = self.load_context(I64, field::TAPE_LIMIT);
            for size in sizes {
                // The limit is an address, so this does not wrap.
                let last = self.b.ins().iadd_imm_s(limit, -8 * size as i64);
                self.tape_limit.insert(size, last);
            }
        }
        let sizes = self.record_sizes(Op::Pop, None);
        if !sizes.is_empty() {
            let base = self.load_context(I64, field::TAPE_BASE);
            self.set_floors(None, sizes, base);
        }
    }

    fn set_floors(&mut self, root: Option<Value>, sizes: Vec<usize>, base: ir::Value) {
        self.tape_floor.insert((root, 0), base);
        for size in sizes {
            let least = self.b.ins().iadd_imm_s(base, 8 * size as i64);
            self.tape_floor.insert((root, size), least);
        }
    }

    /// Asks where one of several tapes begins, where it appears.
    pub(super) fn found_tape(&mut self, tape: Value) {
        let root = self.tapes.root(tape);
        if root != Some(tape) {
            return;
        }
        let sizes = self.record_sizes(Op::Pop, root);
        if !sizes.is_empty() {
            let top = self.one(tape);
            let base = self.import(self.compiler.hooks.tape_base);
            let call = self.b.ins().call(base, &[self.context, top]);
            let base = self.b.inst_results(call)[0];
            self.set_floors(root, sizes, base);
        }
    }

    /// A new tape.
    pub(super) fn new_tape(&mut self, inst: &Inst) -> ir::Value {
        if self.compiler.own_tape {
            return self.load_context(I64, field::TAPE_BASE);
        }
        self.note_open_tapes(true);
        let make = self.import(self.compiler.hooks.new_tape);
        let call = self.b.ins().call(make, &[self.context]);
        let base = self.b.inst_results(call)[0];
        self.fault_unless(base, SiteKind::NoAddresses, inst.span, &[]);
        base
    }

    /// Tells the runtime where the tapes stand, before one more is made, so that the peak is right.
    pub(super) fn note_open_tapes(&mut self, before_another: bool) {
        if before_another && self.compiler.several_tapes {
            for tape in self.open_tapes.clone() {
                self.note_top(tape);
            }
        }
    }

    /// Follows versions of tapes over an instruction.
    pub(super) fn note_tapes(&mut self, args: &[Value], results: &[Value]) {
        if self.compiler.several_tapes {
            self.open_tapes.retain(|t| !args.contains(t));
            let tapes = results.iter().filter(|r| self.func.ty(**r) == Type::Tape);
            self.open_tapes.extend(tapes);
        }
    }

    /// Takes the last record back: the lower top, and the values.
    pub(super) fn pop(&mut self, inst: &Inst) {
        if self.is_raised(inst.args[0]) {
            self.note_top(inst.args[0]);
        }
        let top = self.one(inst.args[0]);
        let types: Vec<Type> = inst.results[1..].iter().map(|r| self.func.ty(*r)).collect();
        let slots = abi::slots(&types);
        if !self.checked_pops.remove(&inst.results[0]) {
            let least = self.tape_floor[&(self.tapes.root(inst.args[0]), slots)];
            let empty = self.b.ins().icmp(IntCC::UnsignedLessThan, top, least);
            self.fault_if(empty, SiteKind::Record, inst.span, &[]);
        }
        let size = self.b.ins().iconst(I64, 8 * slots as i64);
        let below = self.b.ins().isub(top, size);
        if self.compiler.several_tapes {
            let left = self.load_context(I64, field::TAPE_LEFT);
            let left = self.b.ins().iadd(left, size);
            self.store_context(left, field::TAPE_LEFT);
        }
        // The last one first, as they are kept.
        for (offset, ty) in arrays(&types).collect::<Vec<_>>().into_iter().rev() {
            let take = self.import(self.compiler.hooks.take_array);
            let (slot, ty) = self.array_slot(below, offset, ty);
            let call = self.b.ins().call(take, &[self.context, slot, ty]);
            let there = self.b.inst_results(call)[0];
            self.fault_unless(there, SiteKind::Record, inst.span, &[]);
        }
        let (mut values, _) = abi::load_slots(&mut self.b, self.regions.tape, below, 0, &types);
        for (value, ty) in values.iter_mut().zip(&types) {
            // Nothing but 0 and 1 is a truth value.
            if let (Machine::One(word), Type::Bool) = (&mut *value, ty) {
                *value = Machine::One(self.b.ins().band_imm_s(*word, 1));
            }
        }
        self.set(inst.results[0], Machine::One(below));
        for (r, machine) in inst.results[1..].iter().zip(values) {
            self.set(*r, machine);
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// Sees before a `for` loop that takes one record per iteration that there are as many. A program in
    /// which there are not may so be told before a fault of an earlier iteration.
    pub(super) fn check_pops(&mut self, inst: &Inst, start: ir::Value, bound: ir::Value) {
        let body = &inst.blocks[0];
        if inst.op != Op::For || body.insts.iter().any(|i| i.op == Op::ExitIf) {
            return;
        }
        let pops = body.insts.iter().filter(|i| i.op == Op::Pop);
        let once = pops.filter_map(|pop| {
            let k = body.params[1..].iter().position(|p| *p == pop.args[0])?;
            (body.yields[k] == pop.results[0]).then_some((inst.args[2 + k], pop))
        });
        for (tape, pop) in once.collect::<Vec<_>>() {
            let types: Vec<Type> = pop.results[1..].iter().map(|r| self.func.ty(*r)).collect();
            let (root, slots) = (self.tapes.root(pop.args[0]), abi::slots(&types));
            let known = self.tape_floor.get(&(root, 0)).copied().filter(|_| slots > 0);
            let Some(base) = known else { continue };
            let top = self.one(tape);
            let held = self.b.ins().isub(top, base);
            let count = self.b.ins().isub(bound, start);
            let size = self.b.ins().iconst(I64, 8 * slots as i64);
            let (needed, beyond) = self.b.ins().umul_overflow(count, size);
            let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, needed, held);
            let lacking = self.b.ins().bor(more, beyond);
            let runs = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
            let lacking = self.b.ins().band(lacking, runs);
            let (short, on) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(short);
            self.b.ins().brif(lacking, short, &[], on, &[]);
            self.enter(short);
            let records = self.b.ins().udiv(held, size);
            let counter = self.b.ins().iadd(start, records);
            let (span, first, numbering) = (inst.span, body.params[0], body.numbering);
            self.loops.push(OpenLoop { span, counter, start, numbering, first });
            let fault = self.cold_block(SiteKind::Record, pop.span, &[]);
            self.loops.pop();
            self.b.ins().jump(fault, &[]);
            self.enter(on);
            self.checked_pops.insert(pop.results[0]);
        }
    }
}

/// The arrays among the fields of a record, with where they lie in it.
fn arrays(types: &[Type]) -> impl Iterator<Item = (i64, Type)> + '_ {
    let offset = |k: usize| 8 * abi::slots(&types[..k]) as i64;
    let fields = types.iter().enumerate().filter(|(_, ty)| ty.is_array());
    fields.map(move |(k, ty)| (offset(k), *ty))
}

/// The highest top of the tape is noted where a tape that has risen begins to fall: before a pop,
/// or before a loop or call that pops. A sweep that only records or only reverses notes nothing.
impl Emitter<'_, '_, '_> {
    /// Whether a tape may stand higher than any top noted so far.
    pub(super) fn is_raised(&self, tape: Value) -> bool {
        self.raised.contains(&tape) || self.raised.contains(&self.identity.find(tape))
    }

    /// Notes a top.
    pub(super) fn note_top(&mut self, tape: Value) {
        let top = self.one(tape);
        if self.compiler.several_tapes {
            let note = self.import(self.compiler.hooks.note_tape);
            self.b.ins().call(note, &[self.context, top]);
            return;
        }
        let peak = self.load_context(I64, field::TAPE_PEAK);
        let higher = self.b.ins().umax(top, peak);
        self.store_context(higher, field::TAPE_PEAK);
    }

    /// Notes the tapes an instruction is given, if it pops.
    pub(super) fn note_tops(&mut self, inst: &Inst, pops: bool) {
        for a in &inst.args {
            if pops && self.func.ty(*a) == Type::Tape && self.is_raised(*a) {
                self.note_top(*a);
            }
        }
    }

    /// The tapes an instruction gives back have risen if it pushes, or if it does neither and was
    /// given one that had.
    pub(super) fn raise_results(&mut self, inst: &Inst, (pushes, pops): (bool, bool)) {
        let given = inst.args.iter().any(|a| self.func.ty(*a) == Type::Tape && self.is_raised(*a));
        if pushes || (!pops && given) {
            let tapes = inst.results.iter().filter(|r| self.func.ty(**r) == Type::Tape);
            self.raised.extend(tapes.copied().collect::<Vec<_>>());
        }
    }
}
