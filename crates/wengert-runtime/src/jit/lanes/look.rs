//! Which parallel loops run in lockstep, and what differs between their iterations.
//!
//! A value is the same in all lanes, or it *varies*: it comes from the counter, from a record or from an element
//! at a place that varies. What is done in some lanes only, on a side of a branch or in a loop that the others have
//! left, must be harmless for the others.

use super::mirror::{self, Effect};
use crate::jit::identity::Identity;
use rustc_hash::FxHashSet as HashSet;
use wengert_core::ir::{Block, Elem, Func, Inst, Numbering, Op, Type, Value};
use wengert_core::ops::{ArrayOp, Check, Prim, Scalar};

/// In which order a loop counts the iterations of the range it is given: a loop and its way back run the same ones in
/// lockstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::jit) enum Order {
    /// From the first to the last; those left over come last.
    Up,
    /// From the last to the first; those left over come first.
    Down,
}

/// What is known of a loop that runs in lockstep.
#[derive(Clone, Debug)]
pub(in crate::jit) struct Lanes {
    pub(super) order: Order,
    /// The counter of the loop, by which it is known.
    pub(super) counter: Value,
    /// What differs between lanes.
    pub(super) varying: HashSet<Value>,
    /// The counter of the loop over the iterations of a chunk. Chunks differ by one iteration at most, so it is run in
    /// lockstep only where it runs equally often in all lanes. That is seen from the counters, before anything is done.
    pub(super) even: Option<Value>,
    /// The records it leaves for the way back, or reads as such.
    effect: Effect,
}

impl Lanes {
    /// Whether the way back of this loop takes the records of a group as the loop has left them: in the same order, and of the
    /// same groups.
    pub(in crate::jit) fn fits(&self, back: &Lanes) -> bool {
        self.effect.written == mirror::mirrored(&back.effect.read)
            && self.even.is_some() == back.even.is_some()
    }
}

/// Whether lanes may run a loop inside for different times.
pub(super) fn is_uneven(inst: &Inst, even: Option<Value>, varies: impl Fn(Value) -> bool) -> bool {
    let body = &inst.blocks[0];
    let bounds = if inst.op == Op::For { 2 } else { 0 };
    let mut exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
    even != Some(body.params[0])
        && (inst.args[..bounds].iter().any(|v| varies(*v)) || exits.any(|e| varies(e.args[0])))
}

/// Whether there are instructions of a kind in a block, or in those inside it.
pub(super) fn has(block: &Block, op: Op) -> bool {
    let mut found = false;
    block.walk(&mut |i| found |= i.op == op);
    found
}

/// The loop over the iterations of a chunk, by its counter: in a loop over chunks, after nothing but arithmetic.
fn even_loop(body: &Block) -> Option<Value> {
    let mut after = body.insts.iter().skip_while(|i| matches!(i.op, Op::Prim(_) | Op::Dim(_)));
    let found = after.next().filter(|i| i.op == Op::For && body.numbering == Numbering::Hidden)?;
    let exits = found.blocks[0].insts.iter().any(|i| i.op == Op::ExitIf);
    (!exits).then_some(found.blocks[0].params[0])
}

/// The only loop of a function that stands in no other.
fn only_loop(func: &Func) -> Option<&Inst> {
    let mut loops = func.body.insts.iter().filter(|i| matches!(i.op, Op::For | Op::While));
    let found = loops.next().filter(|i| i.op == Op::For);
    found.filter(|_| loops.next().is_none())
}

/// Looks whether the loop of a function over a range of a parallel loop can run in lockstep. `aside` tells of
/// functions whether they are scalar code that cannot fail.
pub(in crate::jit) fn look(
    func: &Func,
    order: Order,
    aside: &dyn Fn(&str) -> bool,
) -> Option<Lanes> {
    let inst = only_loop(func)?;
    let identity = Identity::of(func);
    let body = &inst.blocks[0];
    let (varying, changed) = (HashSet::default(), HashSet::default());
    let even = even_loop(body);
    let mut looker = Looker { func, identity, aside, varying, changed, even, pops: true };
    for (k, p) in body.params[1..].iter().enumerate() {
        let carried = !looker.identity.is_linked(*p);
        if carried == looker.identity.is_linked(inst.results[k])
            || (carried && func.ty(*p) != Type::Tape)
        {
            return None;
        }
    }
    looker.varying.insert(body.params[0]);
    looker.spread_all(body);
    let (mut pushes, mut pops, mut own_tape) = (false, false, false);
    body.walk(&mut |i| match &i.op {
        Op::Push => pushes = true,
        Op::Pop => pops = true,
        Op::Tape => own_tape = true,
        Op::Store | Op::Array(ArrayOp::Poke) => {
            looker.changed.insert(looker.identity.find(i.args[0]));
        }
        _ => {}
    });
    let one_way = match order {
        Order::Up if own_tape => looker.pushes_first(body, &mut false),
        Order::Up => !pops,
        Order::Down => !pushes && !own_tape,
    };
    let fits = one_way
        && (order == Order::Down || looker.can_run_again(body))
        && looker.block(body, false);
    let effect = mirror::effect(func, &looker.identity, body).filter(|_| fits)?;
    // What it reads before it has written it is not there.
    let reads = order == Order::Down || effect.read.is_empty();
    let (counter, varying) = (body.params[0], looker.varying);
    reads.then_some(Lanes { order, counter, varying, even, effect })
}

struct Looker<'f> {
    func: &'f Func,
    identity: Identity,
    aside: &'f dyn Fn(&str) -> bool,
    varying: HashSet<Value>,
    /// Arrays that the loop writes to.
    changed: HashSet<Value>,
    /// The loop over the iterations of a chunk.
    even: Option<Value>,
    /// Whether what is popped varies.
    pops: bool,
}

impl Looker<'_> {
    fn varies(&self, v: Value) -> bool {
        self.varying.contains(&self.identity.find(v))
    }

    fn any_varies(&self, values: &[Value]) -> bool {
        values.iter().any(|v| self.varies(*v))
    }

    fn note(&mut self, v: Value) {
        if !self.identity.is_linked(v) && self.func.ty(v).is_scalar() {
            self.varying.insert(v);
        }
    }

    /// Notes all that varies because of what is known to.
    fn spread_all(&mut self, body: &Block) {
        loop {
            let known = self.varying.len();
            self.spread(body);
            if self.varying.len() == known {
                break;
            }
        }
    }

    /// Notes what varies because of what is known to.
    fn spread(&mut self, block: &Block) {
        for inst in &block.insts {
            match inst.op {
                Op::For | Op::While => self.spread_loop(inst),
                Op::ExitIf => self.spread(&inst.blocks[0]),
                Op::If => {
                    inst.blocks.iter().for_each(|b| self.spread(b));
                    let decided = self.varies(inst.args[0]);
                    for (k, r) in inst.results.iter().enumerate() {
                        if decided || inst.blocks.iter().any(|b| self.varies(b.yields[k])) {
                            self.note(*r);
                        }
                    }
                }
                Op::Pop if self.pops => inst.results[1..].iter().for_each(|r| self.note(*r)),
                _ if self.any_varies(&inst.args) => inst.results.iter().for_each(|r| self.note(*r)),
                _ => {}
            }
        }
    }

    fn spread_loop(&mut self, inst: &Inst) {
        let body = &inst.blocks[0];
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let uneven = is_uneven(inst, self.even, |v| self.varies(v));
        // Lanes join such a loop one after the other, and each counts for itself.
        let late = uneven && has(body, Op::Pop);
        if late || (bounds > 0 && self.varies(inst.args[0])) {
            self.note(body.params[0]);
        }
        for (k, init) in inst.args[bounds..].iter().enumerate() {
            let carried = late || self.varies(*init) || self.varies(body.yields[k]);
            if carried {
                self.note(body.params[k + 1]);
            }
            let mut exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
            if carried || uneven || exits.any(|e| self.varies(e.blocks[0].yields[k])) {
                self.note(inst.results[k]);
            }
        }
        self.spread(body);
    }

    /// Whether running an iteration once more, after a part of it has been run, meets the same fault: what decides over
    /// faults is not changed by it.
    fn can_run_again(&self, body: &Block) -> bool {
        let mut decides = false;
        // What depends on elements that are read where they may have been changed.
        let mut read = Looker {
            identity: Identity::of(self.func),
            varying: HashSet::default(),
            changed: HashSet::default(),
            pops: false,
            ..*self
        };
        body.walk(&mut |inst| match &inst.op {
            Op::Load | Op::Array(ArrayOp::Peek) => {
                let array = self.identity.find(inst.args[0]);
                if self.changed.contains(&array) {
                    read.note(inst.results[0]);
                    decides |= self.func.ty(array).elem().is_some_and(|e| !e.is_float());
                }
            }
            _ => {}
        });
        read.spread_all(body);
        body.walk(&mut |inst| match &inst.op {
            // Integers and truth values that are made of floats.
            Op::Prim(_) => {
                let float = |v: &Value| self.func.ty(*v).is_float();
                let made = read.any_varies(&inst.args) && inst.args.iter().any(float);
                decides |= made && !inst.results.iter().all(float);
            }
            Op::Assert(_) | Op::Push => decides |= read.any_varies(&inst.args),
            Op::If | Op::ExitIf => decides |= read.varies(inst.args[0]),
            _ => {}
        });
        !decides
    }

    /// Whether nothing is recorded after anything has been changed: a group that has no room for its records can then
    /// be run one by one.
    fn pushes_first(&self, block: &Block, changed: &mut bool) -> bool {
        block.insts.iter().all(|inst| match &inst.op {
            Op::Push => !*changed,
            Op::Store | Op::Array(ArrayOp::Poke) => {
                *changed = true;
                true
            }
            Op::For | Op::While => {
                *changed |= changes(inst) && pushes(inst);
                self.pushes_first(&inst.blocks[0], changed)
            }
            _ => inst.blocks.iter().all(|nested| self.pushes_first(nested, changed)),
        })
    }

    /// Whether a block fits; `masked` where only some lanes may be meant.
    fn block(&self, block: &Block, masked: bool) -> bool {
        block.insts.iter().all(|inst| self.inst(inst, masked))
    }

    /// Whether lanes can hold a value.
    fn holds(&self, v: Value) -> bool {
        !self.varies(v) || self.func.ty(v) != Type::F32
    }

    fn inst(&self, inst: &Inst, masked: bool) -> bool {
        let func = self.func;
        let numbers = |values: &[Value]| {
            values.iter().all(|v| matches!(func.ty(*v), Type::F64 | Type::I64 | Type::Bool))
        };
        if !inst.args.iter().chain(&inst.results).all(|v| self.holds(*v)) {
            return false;
        }
        match &inst.op {
            Op::Prim(Prim::IDiv | Prim::IMod) if masked && self.any_varies(&inst.args) => {
                // Lanes that are not meant are given another divisor, where it is no constant.
                match func.as_const(self.identity.find(inst.args[1])) {
                    Some(Scalar::I64(c)) => c > 0,
                    _ => true,
                }
            }
            Op::Prim(_) => numbers(&inst.args) && numbers(&inst.results),
            Op::Dim(_) => true,
            Op::Array(ArrayOp::Conform(Check::Row(_))) => !self.any_varies(&inst.args),
            Op::Load | Op::Array(ArrayOp::Peek) => {
                let array = self.identity.find(inst.args[0]);
                let shared = !self.changed.contains(&array);
                self.elements(array) && (shared || self.any_varies(&inst.args[1..]))
            }
            Op::Store | Op::Array(ArrayOp::Poke) => {
                let (_, at) = inst.args[1..].split_last().unwrap_or((&inst.args[0], &[]));
                self.elements(inst.args[0]) && self.any_varies(at)
            }
            Op::Push => numbers(&inst.args[1..]),
            Op::Pop => numbers(&inst.results[1..]),
            Op::Tape => !masked,
            Op::Assert(_) => true,
            Op::If => self.branch(inst, masked),
            Op::For | Op::While => self.looping(inst, masked),
            Op::ExitIf => self.block(&inst.blocks[0], masked),
            Op::Call(name) => (self.aside)(name) && numbers(&inst.args) && numbers(&inst.results),
            _ => false,
        }
    }

    fn elements(&self, array: Value) -> bool {
        matches!(self.func.ty(array).elem(), Some(Elem::F64 | Elem::I64 | Elem::Bool))
    }

    /// Whether a value is no array of its own.
    fn linked(&self, v: Value) -> bool {
        !self.func.ty(v).is_array() || self.identity.is_linked(v)
    }

    fn looping(&self, inst: &Inst, masked: bool) -> bool {
        let body = &inst.blocks[0];
        let uneven = is_uneven(inst, self.even, |v| self.varies(v));
        let last = body.insts.iter().rposition(|i| i.op == Op::ExitIf);
        let exits = last.is_some() || inst.op == Op::While;
        // What lanes push before they leave would lie among the records of those that go on.
        let nested = |i: &Inst| i.blocks.iter().any(|b| has(b, Op::Push));
        let early = body.insts[..last.map_or(0, |last| last + 1)].iter().any(|i| match i.op {
            Op::Push => true,
            // Its own are written after the loop.
            Op::ExitIf => i.blocks[0].insts.iter().any(nested),
            _ => nested(i),
        });
        let written = !early || !uneven;
        let read = !exits || !has(body, Op::Pop);
        written
            && read
            && body.params.iter().chain(&inst.results).all(|v| self.linked(*v))
            && body.params.iter().all(|p| self.holds(*p))
            && self.block(body, masked || uneven)
    }

    fn branch(&self, inst: &Inst, masked: bool) -> bool {
        if !inst.results.iter().all(|r| self.linked(*r)) {
            return false;
        }
        let decided = self.varies(inst.args[0]);
        let tape = |v: &&Value| self.func.ty(**v) == Type::Tape && !self.identity.is_linked(**v);
        let sides = inst.blocks.iter().all(|b| self.block(b, masked || decided));
        if !decided || inst.results.iter().find(tape).is_none() {
            return sides;
        }
        let given = inst.blocks.iter().map(|b| mirror::given(self.func, &self.identity, b));
        let given: HashSet<Option<Value>> = given.collect();
        sides && given.len() == 1 && !given.contains(&None)
    }
}

/// Whether an instruction or what is nested in it is one of these.
fn any(inst: &Inst, wanted: &impl Fn(&Op) -> bool) -> bool {
    let mut found = wanted(&inst.op);
    inst.blocks.iter().for_each(|block| block.walk(&mut |i| found |= wanted(&i.op)));
    found
}

/// Whether it changes elements of arrays.
fn changes(inst: &Inst) -> bool {
    any(inst, &|op| matches!(op, Op::Store | Op::Array(ArrayOp::Poke)))
}

/// Whether it records anything.
fn pushes(inst: &Inst) -> bool {
    any(inst, &|op| *op == Op::Push)
}
