//! Forward mode through outlined loops.
//!
//! A loop that is driven stays one: each of its functions is differentiated, and what it carries has its tangents beside it. So a
//! driver can run parts of it again, as it does with the loop itself:
//!
//! ```text
//! record(from, to, carries.., captures.., tape) -> (carries.., done, exit, tape)
//! record(from, to, carries.., dcarries.., captures.., dcaptures.., tape) -> (carries.., dcarries.., done, exit, tape)
//! ```
//!
//! Records hold the tangents of what they hold.

use super::calls::Wanted;
use super::{Done, Jvp, derive};
use crate::ir::{Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::span::Diagnostic;
use crate::transform::activity::Activity;
use crate::transform::{calls, dce};
use std::sync::Arc;

/// An outlined loop to be differentiated.
#[derive(Debug)]
pub(super) struct Driven {
    plan: LoopPlan,
    forward: Moving,
    reverse: Moving,
}

/// The parameters of a function over a range that vary.
#[derive(Clone, Debug, Default)]
struct Moving {
    /// Those that are handed on are these.
    first: usize,
    count: usize,
    /// In order; those that are handed on come first.
    by: Vec<usize>,
}

impl Moving {
    /// How many of those that vary are handed on.
    fn carried(&self) -> usize {
        self.by.iter().filter(|k| **k < self.first + self.count).count()
    }

    /// Finds out what else varies: what is handed on does, if what comes out of it may.
    fn grow(&mut self, func: &Func) {
        loop {
            let tapes = func.params().iter().copied().filter(|p| func.ty(*p) == Type::Tape);
            let varied: Vec<Value> = self
                .by
                .iter()
                .filter_map(|k| func.params().get(*k).copied())
                .chain(tapes)
                .collect();
            let activity = Activity::new(func, &varied);
            let varies = |k: &usize| {
                let out = func.body.yields.get(*k);
                out.is_some_and(|y| func.ty(*y).is_float() && activity.is_varied(*y))
            };
            let carried = (0..self.count).filter(varies).map(|k| self.first + k);
            let more: Vec<usize> = carried.filter(|k| !self.by.contains(k)).collect();
            if more.is_empty() {
                return;
            }
            self.by.extend(more);
            self.by.sort_unstable();
        }
    }
}

/// The loops that a function drives, and what varies in them.
pub(super) fn of(module: &Module, func: &Func, activity: &Activity) -> Vec<Driven> {
    let mut found: Vec<Driven> = Vec::new();
    func.body.walk(&mut |inst| {
        let Op::Drive(name, phase) = &inst.op else { return };
        let Some(plan) = module.plan(name) else { return };
        let at = found.iter().position(|of| of.plan.name == plan.name).unwrap_or_else(|| {
            let moving = |first, count| Moving { first, count, by: Vec::new() };
            let (forward, reverse) = (moving(2, plan.carries), moving(3, plan.state));
            found.push(Driven { plan: plan.clone(), forward, reverse });
            found.len() - 1
        });
        let moving = found[at].phase(*phase);
        for (k, arg) in inst.args.iter().enumerate() {
            let varies = func.ty(*arg).is_float() && activity.is_varied(*arg);
            if varies && !moving.by.contains(&k) {
                moving.by.push(k);
            }
        }
        moving.by.sort_unstable();
    });
    for driven in &mut found {
        for phase in [Phase::Forward, Phase::Reverse] {
            let part = driven.part(phase).clone();
            if let Some(func) = module.func(&part) {
                driven.phase(phase).grow(func);
            }
        }
    }
    found
}

/// Callees drive no loops.
pub(super) fn none(driven: &[Driven], func: &Func) -> Done<()> {
    match driven {
        [] => Ok(()),
        _ => Err(unsupported(&format!("`@{}` is called and runs a loop in pieces", func.name))),
    }
}

fn unsupported(what: &str) -> Diagnostic {
    Diagnostic::new(
        "unsupported-transform",
        format!("forward mode does not yet pass through this: {what}"),
    )
    .help("`flat::flat` puts outlined loops in place")
}

/// The name of the loop with tangents.
fn title(plan: &str, directions: usize) -> String {
    super::name(plan, directions)
}

impl Driven {
    fn phase(&mut self, phase: Phase) -> &mut Moving {
        match phase {
            Phase::Forward => &mut self.forward,
            Phase::Reverse => &mut self.reverse,
        }
    }

    /// The function that decides what varies.
    fn part(&self, phase: Phase) -> &Arc<str> {
        match phase {
            Phase::Forward => &self.plan.record,
            Phase::Reverse => &self.plan.reverse,
        }
    }

    /// Adds the loop with tangents; gives back what its functions call.
    pub(super) fn add(
        self,
        module: &Module,
        to: &mut Module,
        directions: usize,
    ) -> Result<Vec<Wanted>, Diagnostic> {
        let Driven { plan, forward, reverse } = self;
        if plan.parallel {
            return Err(unsupported(&format!("`@{}` runs in several ranges at once", plan.name)));
        }
        let mut wanted = Vec::new();
        let parts =
            [(&plan.advance, &forward), (&plan.record, &forward), (&plan.reverse, &reverse)];
        let mut names = Vec::new();
        for (part, moving) in parts {
            let func = calls::find(module, part)?;
            let title = super::name(part, directions);
            let derived = derive(module, func, &title, &moving.by, directions)?;
            none(&derived.driven, func)?;
            calls::add(to, ordered(func, &derived.func, moving, directions))?;
            wanted.extend(derived.wanted);
            names.push(derived.func.name.clone());
        }
        let [advance, record, reversed] = [0, 1, 2].map(|k: usize| names[k].clone());
        to.loops.push(LoopPlan {
            name: title(&plan.name, directions).into(),
            advance,
            record,
            reverse: reversed,
            carries: plan.carries + directions * forward.carried(),
            state: plan.state + directions * reverse.carried(),
            finals: Vec::new(),
            ..plan
        });
        Ok(wanted)
    }
}

/// A derived function with tangents behind what they belong to: those of what is handed on, and of what is only read.
fn ordered(func: &Func, derived: &Func, moving: &Moving, directions: usize) -> Func {
    let Moving { first, count, by } = moving;
    let (params, handed) = (func.params().len(), first + count);
    let has_tape = func.params().last().is_some_and(|p| func.ty(*p) == Type::Tape);
    let read = params - usize::from(has_tape);
    let carried = moving.carried();
    // All tangents of one direction, then those of the next.
    let tangents = |from: usize, to: usize| {
        (0..directions).flat_map(move |d| (from..to).map(move |k| params + d * by.len() + k))
    };
    let mut order: Vec<usize> = (0..handed).collect();
    order.extend(tangents(0, carried));
    order.extend(handed..read);
    order.extend(tangents(carried, by.len()));
    order.extend(read..params);

    let results = func.results.len();
    let floats: Vec<usize> = (0..results).filter(|r| func.results[*r].is_float()).collect();
    let tangent = |d: usize, param: usize| {
        let place = floats.iter().position(|r| *r == param - first);
        place.map(|place| results + d * floats.len() + place)
    };
    let mut given: Vec<usize> = (0..*count).collect();
    for d in 0..directions {
        given.extend(by[..carried].iter().filter_map(|k| tangent(d, *k)));
    }
    given.extend(*count..results);

    let mut made = derived.clone();
    made.body.params = order.iter().map(|k| derived.body.params[*k]).collect();
    made.body.yields = given.iter().map(|k| derived.body.yields[*k]).collect();
    made.results = given.iter().map(|k| derived.results[*k]).collect();
    // Tangents that are not handed on are not needed.
    dce::remove_dead(&made)
}

impl Jvp<'_> {
    pub(super) fn drive(&mut self, name: &Arc<str>, phase: Phase, inst: &Inst) -> Done<()> {
        let Some(at) = self.driven.iter().position(|of| of.plan.name == *name) else {
            let none = format!("there is no loop `@{name}`");
            return Err(unsupported(&none).label(inst.span, "this instruction"));
        };
        let moving = self.driven[at].phase(phase).clone();
        let Moving { first, count, by } = &moving;
        let (handed, carried) = (first + count, moving.carried());
        let read = inst.args.len() - 1;
        let at = |of: &[usize]| -> Vec<Value> { of.iter().map(|k| inst.args[*k]).collect() };
        let (carried_args, read_args) = (at(&by[..carried]), at(&by[carried..]));

        let mut args: Vec<Value> = inst.args[..handed].iter().map(|a| self.get(*a)).collect();
        args.extend(self.tangents_of(&carried_args));
        args.extend(inst.args[handed..read].iter().map(|a| self.get(*a)).collect::<Vec<_>>());
        args.extend(self.tangents_of(&read_args));
        args.push(self.get(inst.args[read]));

        let moved: Vec<Value> = by[..carried].iter().map(|k| inst.results[k - first]).collect();
        let mut types: Vec<Type> = Vec::new();
        let ty = |v: &Value| self.func.ty(*v);
        types.extend(inst.results[..*count].iter().map(ty));
        for _ in 0..self.tangents.len() {
            types.extend(moved.iter().map(ty));
        }
        types.extend(inst.results[*count..].iter().map(ty));
        let title = title(name, self.tangents.len());
        let results = self.b.inst(Op::Drive(title.into(), phase), args, &types, Vec::new());
        let tangents = self.tangents.len() * carried;
        let plain = results[..*count].iter().chain(&results[count + tangents..]);
        for (r, v) in inst.results.iter().zip(plain) {
            self.bind(*r, *v);
        }
        self.bind_tangents(&moved, &results[*count..count + tangents]);
        Ok(())
    }
}
