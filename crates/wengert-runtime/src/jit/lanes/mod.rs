//! Eight iterations of a parallel loop at once.
//!
//! Iterations of such a loop have nothing to do with each other, so eight of them run in *lockstep*: one instruction
//! after the other, for all of them. Each has a lane in the registers, in which happens what would happen without the
//! others, so no bit changes. Only the C backend does this: Cranelift has no registers of that width.
//!
//! A value that differs between lanes is a [`Lane`]; all others are computed once, as ever. Branches that only some
//! lanes take are run under a *mask*, and what lanes outside it get is thrown away. So are loops inside that run for
//! different times in different lanes, as long as any lane goes on; on the way back lanes join such a loop when it comes
//! to the iterations they have run. A record of a group holds a record for each lane that is meant, so it is
//! as long as theirs are; the way back runs the same groups.
//!
//! What can fail does not fail here: where any lane meets a fault the whole group is left and its iterations
//! are run one by one, which finds the fault that comes first.
//!
//! [`look`] finds the loops, [`mirror`] compares what they record with what is read on the way back, [`flow`] has loops
//! and branches, [`uneven`] loops that lanes run for different times, [`rows`] arithmetic, [`memory`] elements and
//! records.

mod flow;
pub(super) mod look;
mod memory;
mod mirror;
mod rows;
mod uneven;

use super::cold::OpenLoop;
use super::emit::Emitter;
use super::loops::Shape;
use super::machine::Machine;
use super::site::SiteKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64X8, I8, I64, I64X8};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use look::{Lanes, Order};
use rustc_hash::FxHashMap as HashMap;
use wengert_core::ir::{Block, Inst, Op, Type, Value};
use wengert_core::ops::{ArrayOp, Prim, Scalar};

/// How many iterations run at once.
pub(crate) const LANES: usize = 8;

/// A value that differs between lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    /// In one register. Truth values are masks: all bits or none.
    Vector(ir::Value),
    /// In a register for each lane: integers that places in arrays are computed from, and what there are no
    /// instructions for. How far neighbours are apart, where that is known.
    Each([ir::Value; LANES], Option<i64>),
}

/// The lanes that are meant, and those whose records are written or read.
type Masks = (Option<ir::Value>, Option<ir::Value>);

/// The group of iterations under construction.
pub(super) struct Lockstep {
    lanes: Lanes,
    values: HashMap<Value, Lane>,
    /// The lanes that are meant, where not all of them are.
    mask: Option<ir::Value>,
    /// The lanes whose records are written or read here: those that are meant, and on a way back that only some lanes
    /// need, the others as well.
    recorded: Option<ir::Value>,
    /// Of the one lane that code is made for, whether it is meant.
    active: Option<ir::Value>,
    /// Where a fault leads: the iterations are run one by one, up to the first that fails.
    bail: ir::Block,
    /// Where the iterations are run one by one because they cannot run in lockstep.
    decline: ir::Block,
}

impl Lockstep {
    /// Where a fault leads.
    pub(super) fn bail(&self) -> ir::Block {
        self.bail
    }

    /// Of the one lane that code is made for, whether it is meant; nothing where it always is.
    pub(super) fn active(&self) -> Option<ir::Value> {
        self.active
    }
}

impl Emitter<'_, '_, '_> {
    /// What is known of a loop that runs in lockstep.
    pub(super) fn lanes_of(&self, inst: &Inst) -> Option<Lanes> {
        let lanes = self.compiler.lanes.get(&self.func.name)?;
        let is_it = inst.op == Op::For && inst.blocks[0].params[0] == lanes.counter;
        let outermost = is_it && self.loops.is_empty() && self.lockstep.is_none();
        outermost.then(|| lanes.clone())
    }

    /// The loop in groups of eight iterations, those left over alone. It ends in the block after it.
    pub(super) fn in_lockstep(&mut self, shape: &mut Shape, inits: &[Value], lanes: Lanes) {
        let body = &shape.inst.blocks[0];
        let (start, bound) = (shape.start, shape.bound);
        let tapes: Vec<Value> = shape.carried.iter().map(|k| inits[*k]).collect();
        let [header, group, rest, single, done] = [(); 5].map(|()| self.b.create_block());
        let [bail, decline] = [(); 2].map(|()| self.b.create_block());
        let counter = self.b.append_block_param(header, I64);
        self.add_params(header, &tapes);
        let given = self.block_args(&tapes);
        let order = lanes.order;
        let width = LANES as i64;

        let left = self.b.ins().isub(bound, start);
        match order {
            Order::Up => {
                let args = [&[BlockArg::Value(start)], &given[..]].concat();
                self.b.ins().jump(header, &args);
            }
            Order::Down => {
                // Those left over have been run last, so they come first.
                let zero = self.b.ins().iconst(I64, 0);
                let some = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
                let trips = self.b.ins().select(some, left, zero);
                let mask = self.b.ins().iconst(I64, width - 1);
                let odd = self.b.ins().band(trips, mask);
                let end = self.b.ins().iadd(start, odd);
                let flag = self.b.ins().iconst(I8, 0);
                let alone = [start, end, flag].map(BlockArg::Value);
                let all = [&[BlockArg::Value(start)], &given[..]].concat();
                self.b.ins().brif(odd, single, &[&alone, &given[..]].concat(), header, &all);
            }
        }

        self.enter(header);
        let words = self.b.block_params(header).to_vec();
        let held: Vec<BlockArg> = words[1..].iter().copied().map(BlockArg::Value).collect();
        self.bind_words(&tapes, &words[1..]);
        let (span, numbering, first) = (shape.inst.span, body.numbering, body.params[0]);
        self.loops.push(OpenLoop { span, counter, start, numbering, first });
        self.poll(span);
        let less = self.b.ins().icmp(IntCC::SignedLessThan, counter, bound);
        let taken = held.clone();
        let some = self.b.create_block();
        self.b.ins().brif(less, some, &[], shape.exit.after, &taken);
        self.enter(some);
        let left = self.b.ins().isub(bound, counter);
        let wanted = self.b.ins().iconst(I64, width);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, left, wanted);
        self.b.ins().brif(full, group, &[], rest, &[]);

        self.enter(group);
        let end = self.b.ins().iadd(counter, wanted);
        let each = std::array::from_fn(|l| {
            let l = if order == Order::Up { l } else { LANES - 1 - l };
            let l = self.b.ins().iconst(I64, l as i64);
            self.b.ins().iadd(counter, l)
        });
        let apart = if order == Order::Up { 1 } else { -1 };
        let values = HashMap::from_iter([(body.params[0], Lane::Each(each, Some(apart)))]);
        self.lockstep = Some(Lockstep {
            lanes,
            values,
            mask: None,
            recorded: None,
            active: None,
            bail,
            decline,
        });
        for (k, tape) in shape.carried.iter().zip(&tapes) {
            let top = self.get(*tape);
            self.set(body.params[k + 1], top);
        }
        self.lane_block(body);
        let ends: Vec<Value> = shape.carried.iter().map(|k| body.yields[*k]).collect();
        let ends = self.block_args(&ends);
        self.lockstep = None;
        self.b.ins().jump(header, &[&[BlockArg::Value(end)], &ends[..]].concat());
        self.loops.pop();

        for (block, to, flag) in [(rest, bound, 0), (decline, end, 0), (bail, end, 1)] {
            self.enter(block);
            if block != rest {
                self.b.set_cold_block(block);
            }
            let flag = self.b.ins().iconst(I8, flag);
            let alone = [counter, to, flag].map(BlockArg::Value);
            self.b.ins().jump(single, &[&alone, &held[..]].concat());
        }

        let [from, to] = [(); 2].map(|()| self.b.append_block_param(single, I64));
        let failed = self.b.append_block_param(single, I8);
        self.add_params(single, &tapes);
        self.enter(single);
        let words = self.b.block_params(single)[3..].to_vec();
        self.bind_words(&tapes, &words);
        (shape.start, shape.bound) = (from, to);
        let after = std::mem::replace(&mut shape.exit.after, done);
        self.add_params(done, &tapes);
        self.round(shape, inits);
        (shape.start, shape.bound) = (start, bound);
        shape.exit.after = after;

        self.enter(done);
        let words = self.b.block_params(done).to_vec();
        let words: Vec<BlockArg> = words.into_iter().map(BlockArg::Value).collect();
        // A lane has met a fault, so one of the iterations does.
        self.fault_if(failed, SiteKind::Record, span, &[]);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, to, bound);
        let again = [&[BlockArg::Value(to)], &words[..]].concat();
        self.b.ins().brif(more, header, &again, after, &words);
    }

    fn lockstep(&mut self) -> &mut Lockstep {
        self.lockstep.as_mut().unwrap_or_else(|| unreachable!("only called in lockstep"))
    }

    /// Means other lanes from here on. Gives back which were meant.
    fn meant(&mut self, mask: Option<ir::Value>) -> Masks {
        let lockstep = self.lockstep();
        let before = (lockstep.mask, lockstep.recorded);
        (lockstep.mask, lockstep.recorded) = (mask, mask);
        before
    }

    /// Means those that were meant before.
    fn put_back(&mut self, before: Masks) {
        let lockstep = self.lockstep();
        (lockstep.mask, lockstep.recorded) = before;
    }

    /// Whether a value differs between lanes.
    fn varies(&self, v: Value) -> bool {
        let v = self.identity.find(v);
        self.lockstep.as_ref().is_some_and(|l| l.lanes.varying.contains(&v))
    }

    fn any_varies(&self, values: &[Value]) -> bool {
        values.iter().any(|v| self.varies(*v))
    }

    /// A value that differs between lanes.
    fn lane(&mut self, v: Value) -> Lane {
        let v = self.identity.find(v);
        self.lockstep().values[&v]
    }

    /// Defines a value that differs between lanes.
    fn set_lane(&mut self, v: Value, lane: Lane) {
        if !self.identity.is_linked(v) {
            self.lockstep().values.insert(v, lane);
        }
    }

    /// A value in one register.
    fn vector(&mut self, v: Value) -> ir::Value {
        let ty = self.func.ty(v);
        if !self.varies(v) {
            let one = self.one(v);
            return self.everywhere(one, ty);
        }
        match self.lane(v) {
            Lane::Vector(vector) => vector,
            Lane::Each(words, _) => self.gathered(words, ty),
        }
    }

    /// The same in all lanes.
    fn everywhere(&mut self, word: ir::Value, ty: Type) -> ir::Value {
        match ty {
            Type::F64 => self.b.ins().splat(F64X8, word),
            Type::I64 => self.b.ins().splat(I64X8, word),
            _ => {
                let bits = self.b.ins().uextend(I64, word);
                let bits = self.b.ins().ineg(bits);
                self.b.ins().splat(I64X8, bits)
            }
        }
    }

    /// What lies in a register for each lane, in one.
    fn gathered(&mut self, words: [ir::Value; LANES], ty: Type) -> ir::Value {
        let first = match ty {
            Type::Bool => self.b.ins().uextend(I64, words[0]),
            _ => words[0],
        };
        let vector = if ty == Type::F64 { F64X8 } else { I64X8 };
        let mut all = self.b.ins().splat(vector, first);
        for (l, word) in words.into_iter().enumerate() {
            let word = match ty {
                Type::Bool => self.b.ins().uextend(I64, word),
                _ => word,
            };
            all = self.b.ins().insertlane(all, word, l as u8);
        }
        if ty == Type::Bool { self.b.ins().ineg(all) } else { all }
    }

    /// A value in a register for each lane.
    fn words_each(&mut self, v: Value) -> [ir::Value; LANES] {
        let ty = self.func.ty(v);
        if !self.varies(v) {
            return [self.one(v); LANES];
        }
        match self.lane(v) {
            Lane::Each(words, _) => words,
            Lane::Vector(vector) => std::array::from_fn(|l| self.extracted(vector, l, ty)),
        }
    }

    /// A lane of a register.
    fn extracted(&mut self, vector: ir::Value, l: usize, ty: Type) -> ir::Value {
        let word = self.b.ins().extractlane(vector, l as u8);
        if ty != Type::Bool {
            return word;
        }
        let one = self.b.ins().iconst(I64, 1);
        let bit = self.b.ins().band(word, one);
        self.b.ins().ireduce(I8, bit)
    }

    /// Whether a mask has any lane.
    fn any(&mut self, mask: ir::Value) -> ir::Value {
        self.b.ins().vany_true(mask)
    }

    /// How far neighbouring lanes are apart, where that is known.
    fn apart(&mut self, v: Value) -> Option<i64> {
        if !self.varies(v) {
            return Some(0);
        }
        match self.lane(v) {
            Lane::Each(_, apart) => apart,
            Lane::Vector(_) => None,
        }
    }

    /// The instructions of a block.
    fn lane_block(&mut self, block: &Block) {
        self.bounds.open();
        for inst in &block.insts {
            self.lane_inst(inst);
        }
        self.bounds.close();
    }

    fn lane_inst(&mut self, inst: &Inst) {
        match &inst.op {
            Op::If => self.lane_branch(inst),
            Op::For | Op::While => self.lane_loop(inst),
            Op::Push => self.lane_push(inst),
            Op::Pop => self.lane_pop(inst),
            Op::Store | Op::Array(ArrayOp::Poke) => self.lane_store(inst),
            Op::Load | Op::Array(ArrayOp::Peek) if self.any_varies(&inst.args) => {
                self.lane_load(inst);
            }
            Op::Assert(_) if self.varies(inst.args[0]) => {
                let holds = self.vector(inst.args[0]);
                let fails = self.b.ins().bnot(holds);
                self.bail_where(fails);
            }
            Op::Prim(prim) if self.any_varies(&inst.args) => self.lane_prim(*prim, inst),
            Op::Call(_) if self.any_varies(&inst.args) => self.one_by_one(inst),
            _ => self.inst(inst, None),
        }
    }

    /// Leaves the group where a lane that is meant meets a fault.
    fn bail_where(&mut self, fails: ir::Value) {
        let fails = match self.lockstep().mask {
            Some(mask) => self.b.ins().band(fails, mask),
            None => fails,
        };
        let any = self.any(fails);
        let (bail, on) = (self.lockstep().bail, self.b.create_block());
        self.b.ins().brif(any, bail, &[], on, &[]);
        self.enter(on);
    }

    /// An instruction for one lane after the other, as it would be without lanes.
    fn one_by_one(&mut self, inst: &Inst) {
        let mut varying: Vec<Value> = inst.args.iter().map(|a| self.identity.find(*a)).collect();
        let divisor = match inst.op {
            Op::Prim(Prim::IDiv | Prim::IMod) if self.lockstep().mask.is_some() => {
                varying.get(1).copied()
            }
            _ => None,
        };
        varying.retain(|v| self.varies(*v) || Some(*v) == divisor);
        let common = divisor.filter(|v| !self.varies(*v)).map(|v| (v, self.get(v)));
        let args: Vec<[ir::Value; LANES]> = varying.iter().map(|v| self.words_each(*v)).collect();
        let mask = self.lockstep().mask;
        let mut results: Vec<Vec<ir::Value>> = vec![Vec::new(); inst.results.len()];
        for l in 0..LANES {
            self.lockstep().active = None;
            if let Some(mask) = mask {
                let active = self.extracted(mask, l, Type::Bool);
                self.lockstep().active = Some(active);
            }
            for (v, words) in varying.iter().zip(&args) {
                let mut word = words[l];
                if let (Some(active), true) = (self.lockstep().active, Some(*v) == divisor) {
                    // Lanes that are not meant do not divide by zero.
                    let one = self.b.ins().iconst(I64, 1);
                    word = self.b.ins().select(active, word, one);
                }
                self.set(*v, Machine::One(word));
            }
            self.inst(inst, None);
            for (k, r) in inst.results.iter().enumerate() {
                results[k].push(self.one(*r));
            }
        }
        self.lockstep().active = None;
        if let Some((v, machine)) = common {
            self.set(v, machine);
        }
        let apart = self.apart_after(inst);
        for (r, words) in inst.results.iter().zip(results) {
            let words: [ir::Value; LANES] = std::array::from_fn(|l| words[l]);
            let lane = match self.func.ty(*r) {
                Type::I64 => Lane::Each(words, apart),
                ty => Lane::Vector(self.gathered(words, ty)),
            };
            self.set_lane(*r, lane);
        }
    }

    /// How far neighbouring lanes of a sum or product are apart.
    fn apart_after(&mut self, inst: &Inst) -> Option<i64> {
        use wengert_core::ops::Prim::{IAdd, IMul, ISub, WAdd, WMul, WSub};
        let Op::Prim(prim) = inst.op else { return None };
        let (a, b) = (*inst.args.first()?, *inst.args.get(1)?);
        let constant = |v: Value| match self.func.as_const(self.identity.find(v)) {
            Some(Scalar::I64(c)) => Some(c),
            _ => None,
        };
        let (of_a, of_b) = (constant(a), constant(b));
        match prim {
            IAdd | WAdd => self.apart(a)?.checked_add(self.apart(b)?),
            ISub | WSub => self.apart(a)?.checked_sub(self.apart(b)?),
            IMul | WMul => match (of_a, of_b) {
                (_, Some(c)) => self.apart(a)?.checked_mul(c),
                (Some(c), _) => self.apart(b)?.checked_mul(c),
                _ => None,
            },
            _ => None,
        }
    }
}
