//! Which parallel loops run in lockstep, and what differs between their iterations.
//!
//! A value is the same in all lanes, or it *varies*: it comes from the counter, from a record or from an element
//! at a place that varies. Loops inside must run equally often in all lanes. Branches on a condition that varies are
//! taken by some lanes only: what they do must be harmless for the others.

use crate::jit::identity::Identity;
use std::collections::HashSet;
use wengert_core::ir::{Block, Elem, Func, Inst, Op, Type, Value};
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
    let (varying, changed) = (HashSet::new(), HashSet::new());
    let mut looker =
        Looker { func, identity, aside, varying, changed, recorded: false, pops: true };
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
    // What is recorded on a tape of the iteration's own is reversed by it.
    looker.recorded = (pushes || pops) && !own_tape;
    let one_way = match order {
        Order::Up if own_tape => looker.pushes_first(body, &mut false),
        Order::Up => !pops,
        Order::Down => !pushes && !own_tape,
    };
    let fits = one_way
        && (order == Order::Down || looker.can_run_again(body))
        && looker.block(body, Place { alone: true, ..Place::default() });
    fits.then_some(Lanes { order, counter: body.params[0], varying: looker.varying })
}

/// Where an instruction stands.
#[derive(Clone, Copy, Default)]
struct Place {
    /// In the loop itself, and nothing has been changed before: here it can still be decided not to run in lockstep.
    alone: bool,
    /// On a side of a branch that not all lanes take.
    masked: bool,
    /// Where all lanes take back their records, whether they need them or not.
    pops: bool,
}

struct Looker<'f> {
    func: &'f Func,
    identity: Identity,
    aside: &'f dyn Fn(&str) -> bool,
    varying: HashSet<Value>,
    /// Arrays that the loop writes to.
    changed: HashSet<Value>,
    /// Whether it has to do with a tape that outlives an iteration.
    recorded: bool,
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
                Op::For | Op::While => {
                    let bounds = if inst.op == Op::For { 2 } else { 0 };
                    let body = &inst.blocks[0];
                    if bounds > 0 && self.varies(inst.args[0]) {
                        self.note(body.params[0]);
                    }
                    let ways = inst.args[bounds..].iter().zip(&body.yields).enumerate();
                    for (k, (init, next)) in ways {
                        if self.varies(*init) || self.varies(*next) {
                            self.note(body.params[k + 1]);
                            self.note(inst.results[k]);
                        }
                    }
                    self.spread(body);
                }
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

    /// Whether running an iteration once more, after a part of it has been run, meets the same fault: what decides over
    /// faults is not changed by it.
    fn can_run_again(&self, body: &Block) -> bool {
        let mut decides = false;
        // What depends on elements that are read where they may have been changed.
        let mut read = Looker {
            identity: Identity::of(self.func),
            varying: HashSet::new(),
            changed: HashSet::new(),
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
            Op::If => decides |= read.varies(inst.args[0]),
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

    fn block(&self, block: &Block, mut place: Place) -> bool {
        block.insts.iter().all(|inst| {
            let fits = self.inst(inst, place);
            place.alone &= match inst.op {
                Op::Prim(_) | Op::Dim(_) => true,
                // What is recorded and what reads the record must decide alike, by the counter alone.
                Op::Load | Op::Array(ArrayOp::Peek) => !self.recorded,
                Op::Tape => true,
                Op::Push | Op::Pop | Op::For | Op::If => {
                    !self.recorded && !changes(inst) && !place.masked
                }
                _ => false,
            };
            fits
        })
    }

    /// Whether lanes can hold a value.
    fn holds(&self, v: Value) -> bool {
        !self.varies(v) || self.func.ty(v) != Type::F32
    }

    fn inst(&self, inst: &Inst, place: Place) -> bool {
        let func = self.func;
        let numbers = |values: &[Value]| {
            values.iter().all(|v| matches!(func.ty(*v), Type::F64 | Type::I64 | Type::Bool))
        };
        if !inst.args.iter().chain(&inst.results).all(|v| self.holds(*v)) {
            return false;
        }
        match &inst.op {
            Op::Prim(Prim::IDiv | Prim::IMod) if place.masked && self.any_varies(&inst.args) => {
                // Lanes that are not meant may divide by zero.
                matches!(func.as_const(inst.args[1]), Some(Scalar::I64(c)) if c > 0)
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
            Op::Push => !place.masked && numbers(&inst.args[1..]),
            Op::Pop => (!place.masked || place.pops) && numbers(&inst.results[1..]),
            Op::Assert(_) | Op::Tape => true,
            Op::If => self.branch(inst, place),
            Op::For => {
                let body = &inst.blocks[0];
                let linked = |p: &Value| !func.ty(*p).is_array() || self.identity.is_linked(*p);
                let equal = !self.any_varies(&inst.args[..2]) || place.alone;
                let exits = body.insts.iter().any(|i| i.op == Op::ExitIf);
                equal
                    && !exits
                    && body.params.iter().chain(&inst.results).all(linked)
                    && body.params.iter().all(|p| self.holds(*p))
                    && self.block(body, Place { alone: false, ..place })
            }
            Op::Call(name) => (self.aside)(name) && numbers(&inst.args) && numbers(&inst.results),
            _ => false,
        }
    }

    fn elements(&self, array: Value) -> bool {
        matches!(self.func.ty(array).elem(), Some(Elem::F64 | Elem::I64 | Elem::Bool))
    }

    fn branch(&self, inst: &Inst, place: Place) -> bool {
        let linked = |r: &Value| !self.func.ty(*r).is_array() || self.identity.is_linked(*r);
        if !inst.results.iter().all(linked) {
            return false;
        }
        if !self.varies(inst.args[0]) {
            let place = Place { alone: false, ..place };
            return inst.blocks.iter().all(|b| self.block(b, place));
        }
        let tape = |v: &Value| self.func.ty(*v) == Type::Tape && !self.identity.is_linked(*v);
        let pops = inst.results.iter().any(tape);
        if pops && place.masked && !place.pops {
            return false;
        }
        let masked = Place { alone: false, masked: true, pops };
        match pops {
            true => {
                is_swept(self.func, &self.identity, inst)
                    && self.block(&inst.blocks[0], masked)
                    && self.block(&inst.blocks[1], Place { masked: false, ..masked })
            }
            false => inst.blocks.iter().all(|b| self.block(b, masked)),
        }
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

/// Whether a branch reverses a loop or drops its records, as many in either case: then all lanes do the one or the other.
/// What the second side hands on beside the tape comes from outside.
fn is_swept(func: &Func, identity: &Identity, inst: &Inst) -> bool {
    let [swept, dropped] = [&inst.blocks[0], &inst.blocks[1]];
    let [drops] = &dropped.insts[..] else { return false };
    let mut pops_of_swept = 0;
    swept.walk(&mut |i| pops_of_swept += usize::from(i.op == Op::Pop));
    let types = |pop: &Inst| -> Vec<Type> { pop.results.iter().map(|r| func.ty(*r)).collect() };
    // Where it begins, where it ends, the tape it is given, and the record of an iteration.
    let range = |looping: &Inst| {
        let body = &looping.blocks.first()?;
        let pop = body.insts.iter().find(|i| i.op == Op::Pop)?;
        let k = body.params.iter().position(|p| *p == pop.args[0])?.checked_sub(1)?;
        let once = looping.op == Op::For && body.yields[k] == pop.results[0];
        let of = |v: Value| identity.find(v);
        let [lo, hi] = [0, 1].map(|k: usize| of(looping.args[k]));
        once.then(|| (lo, hi, of(looping.args[2 + k]), types(pop), looping.results[k]))
    };
    let Some(other) = range(drops).filter(|_| drops.blocks[0].insts.len() == 1) else {
        return false;
    };
    let same = swept.insts.iter().find_map(range).is_some_and(|found| {
        let tape = inst.results.iter().position(|r| func.ty(*r) == Type::Tape);
        let ends = tape.is_some_and(|k| swept.yields[k] == found.4 && dropped.yields[k] == other.4);
        ends && (found.0, found.1, found.2, &found.3) == (other.0, other.1, other.2, &other.3)
    });
    let outside =
        dropped.yields.iter().all(|y| func.ty(*y) == Type::Tape || !drops.results.contains(y));
    same && outside && pops_of_swept == 1
}
