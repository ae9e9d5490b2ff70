//! What it takes to run outlined loops in pieces, one after the other.

use super::func::{Block, Func, LoopPlan, Module, Value};
use super::types::{Op, Phase, Type};
use super::verify::consumes;
use crate::ops::Scalar;
use rustc_hash::FxHashSet as HashSet;

/// What is known of a loop that can be run so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    /// Whether there are as many iterations as its range says.
    pub counted: bool,
    /// Whether an iteration that an exit cut short is reversed by the code around it.
    pub cut_apart: bool,
    /// How many loops share a memory with it, itself among them: those of the function that runs it.
    pub beside: usize,
    /// How many loops its iterations run that can be run in pieces as well.
    pub inside: usize,
}

/// The outlined loops that nobody but the driver runs, both ways.
pub fn by_driver<'m>(funcs: &[&'m Func], plans: &[&'m LoopPlan]) -> HashSet<&'m str> {
    let (mut driven, mut called_plainly) = (HashSet::default(), HashSet::default());
    for func in funcs {
        func.body.walk(&mut |inst| match &inst.op {
            Op::Call(callee) => _ = called_plainly.insert(&**callee),
            Op::Drive(name, phase) => _ = driven.insert((&**name, *phase)),
            _ => {}
        });
    }
    // What is recorded on threads must be reversed by the driver too, which knows where it lies. There may be several ways back, each
    // with a plan.
    let is_driven = |plan: &LoopPlan, phase: Phase| {
        let alike = plans.iter().filter(|other| other.record == plan.record);
        alike.into_iter().any(|other| driven.contains(&(&*other.name, phase)))
    };
    let by_driver = |plan: &&LoopPlan| {
        let phases = [Phase::Forward, Phase::Reverse];
        let steps = [&*plan.record, &*plan.reverse];
        plan.is_only_run()
            || (phases.into_iter().all(|phase| is_driven(plan, phase))
                && !steps.iter().any(|step| called_plainly.contains(step)))
    };
    plans.iter().copied().filter(by_driver).map(|plan| &*plan.name).collect()
}

/// Whether a loop can be run in pieces, one after the other: if it is recorded and can be advanced, has one tape, and leaves what it only reads
/// to others. `funcs` and `plans` are those of the module that are used, and nobody but the driver runs the loop ([`by_driver`]).
pub fn driven(
    module: &Module,
    funcs: &[&Func],
    plans: &[&LoopPlan],
    plan: &LoopPlan,
) -> Option<Driven> {
    let func = |name: &str| funcs.iter().copied().find(|f| &*f.name == name);
    if plan.parallel || plan.is_only_run() {
        return None;
    }
    let (advanced, recorded) = (func(&plan.advance)?, func(&plan.record)?);
    let reversed = func(&plan.reverse)?;
    let lent = |of: &Func, first: usize| {
        let read = of.params().get(first..)?;
        let tapes = read.iter().filter(|p| of.ty(**p) == Type::Tape).count();
        let taken = read.iter().any(|p| of.ty(*p).is_array() && consumes(module, of, *p));
        (!taken).then_some(tapes)
    };
    let (carries, state) = (plan.carries, plan.state);
    let tapes =
        [lent(advanced, 2 + carries)?, lent(recorded, 2 + carries)?, lent(reversed, 3 + state)?];
    let handed_on = |of: &Func, first: usize, count: usize| {
        of.params().get(first..first + count).is_some_and(|given| {
            let same = |(p, r): (&Value, &Type)| of.ty(*p) == *r && *r != Type::Tape;
            given.iter().zip(&of.results).all(same)
        })
    };
    let ends_in_tape =
        |of: &Func| of.params().last().is_some_and(|last| of.ty(*last) == Type::Tape);
    let fits = tapes == [0, 1, 1]
        && handed_on(advanced, 2, carries)
        && handed_on(recorded, 2, carries)
        && handed_on(reversed, 3, state)
        && recorded.results.len() == carries + 3
        && advanced.results.len() == carries + 2
        && reversed.results.len() == state + 1
        && ends_in_tape(recorded)
        && ends_in_tape(reversed);
    if !fits {
        return None;
    }
    let never = |func: &Func| {
        let exit = func.body.yields.get(carries + 1);
        exit.and_then(|v| func.as_const(*v)) == Some(Scalar::I64(0))
    };
    let counted = plan.bounded && never(advanced) && never(recorded);
    let around = around(module, funcs, plans, plan);
    let is_cut_here = uses(&reversed.body, reversed.params()[2]);
    let outermost = || {
        let others = plans.iter().filter(|p| !p.parallel && !p.is_only_run());
        others.filter(|p| self::around(module, funcs, plans, p).is_none()).count()
    };
    Some(Driven {
        counted,
        cut_apart: around.is_some() && !counted && !is_cut_here,
        beside: around.map_or_else(outermost, |around| run_by(module, around)),
        inside: run_by(module, recorded),
    })
}

/// How many loops a function runs that may be run in pieces, one after the other.
fn run_by(module: &Module, func: &Func) -> usize {
    let mut found = 0;
    func.body.walk(&mut |inst| {
        if let Op::Drive(name, Phase::Forward) = &inst.op {
            found += usize::from(module.plan(name).is_some_and(|plan| !plan.parallel));
        }
    });
    found
}

/// The function over iterations that runs a loop, if one does.
fn around<'m>(
    module: &Module,
    funcs: &[&'m Func],
    plans: &[&LoopPlan],
    inner: &LoopPlan,
) -> Option<&'m Func> {
    let runs = |func: &&Func| {
        let mut found = false;
        func.body.walk(&mut |inst| {
            let Op::Drive(name, Phase::Forward) = &inst.op else { return };
            found |= module.plan(name).is_some_and(|plan| plan.record == inner.record);
        });
        found
    };
    let is_recorded = |func: &&Func| plans.iter().any(|plan| plan.record == func.name);
    funcs.iter().copied().filter(is_recorded).find(runs)
}

/// Whether a block uses a value, nested code included.
fn uses(block: &Block, v: Value) -> bool {
    let inside = |inst: &super::Inst| inst.blocks.iter().any(|block| uses(block, v));
    block.yields.contains(&v) || block.insts.iter().any(|i| i.args.contains(&v) || inside(i))
}
