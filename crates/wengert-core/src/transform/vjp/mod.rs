//! Reverse mode: a recording program and a reversing program, joined by a tape layout.
//!
//! `@f(x..) -> (y..)` becomes
//!
//! - `@f.record(x.., tape) -> (y.., tape)`: the function, pushing records;
//! - `@f.reverse(x.., y_bar.., tape) -> (x_bar.., tape)`: pops them and accumulates adjoints; it is given the
//!   arrays among the parameters that it reads again and that nothing changes;
//! - `@f.vjp(x.., y_bar.., tape) -> (y.., x_bar.., tape)`: the one after the other;
//! - per outermost loop, `advance`, `record` and `reverse` over a range of iterations, called
//!   through the plan driver.
//!
//! Reading order: [`chunks`] (parallel loops), [`companions`] (functions that are cheaper together), [`nest`] (where values are defined), [`layout`] (what is on the tape), [`reverse`]
//! with [`adjoints`], [`arrays`] and [`reverse_loop`] (the backward walk), [`tapes`] and [`calls`] (derivatives of what
//! others made), [`remat`] (what to save: a minimum cut over [`flow`]), [`record`], [`report`] (what is
//! saved, for people).

mod adjoints;
mod arrays;
mod calls;
pub(crate) mod chunks;
mod companions;
mod flow;
mod inner;
mod layout;
mod nest;
mod record;
mod remat;
pub mod report;
mod reverse;
mod reverse_loop;
mod tapes;

use super::activity::Activity;
use super::calls as calls_of;
use super::{carries, copy, dce, fma, registers, rotate, stores, unstep};
use crate::ir::{Builder, Func, Module, Op, Type, Value};
use crate::span::{Diagnostic, Span};
use chunks::Chunks;
use inner::Inner;
use layout::Layout;
use nest::Nest;
use record::Record;
use reverse::{Preload, Reverse};
use rustc_hash::FxHashSet as HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Differentiates a function backwards by the parameters with these indices.
///
/// The function has been through the fixed pipeline: it holds no calls ([`in_module`] takes those).
pub fn vjp(func: &Func, wrt: &[usize]) -> Result<Module, Diagnostic> {
    let (mut programs, _) = derive(&Module::default(), func, wrt, Of::Function)?;
    programs.vouch(&Module::default(), &programs.loops.clone());
    Ok(programs)
}

/// [`vjp`] with inner loops outlined as well, so that a driver can run parts of them again. It gives the same bits. Nothing where there is no inner
/// loop to be outlined.
pub fn nested(func: &Func, wrt: &[usize]) -> Result<Option<Module>, Diagnostic> {
    let (mut programs, _) = derive(&Module::default(), func, wrt, Of::Nested)?;
    programs.vouch(&Module::default(), &programs.loops.clone());
    Ok(Some(programs).filter(is_nested))
}

/// Differentiates a function of a module backwards; gives back the module with `@f.vjp`, its parts and
/// what they call.
pub fn in_module(module: &Module, name: &str, wrt: &[usize]) -> Result<Module, Diagnostic> {
    added(module, name, wrt, Of::Function, None)
}

/// [`in_module`] with functions that run loops backwards ([`unstep`]), so that a driver can take states back instead of storing them: of
/// the loops of which `chosen` says so, by where they stand. It gives the same bits. An error where a loop cannot be run
/// backwards, or where none was chosen; parallel ones are left as they are.
pub fn inverted_in_module(
    module: &Module,
    name: &str,
    wrt: &[usize],
    chosen: &dyn Fn(Span) -> bool,
) -> Result<Module, Diagnostic> {
    added(module, name, wrt, Of::Function, Some(chosen))
}

/// [`in_module`] with inner loops outlined as well: see [`nested`].
pub fn nested_in_module(
    module: &Module,
    name: &str,
    wrt: &[usize],
) -> Result<Option<Module>, Diagnostic> {
    added(module, name, wrt, Of::Nested, None).map(|derived| Some(derived).filter(is_nested))
}

/// What programs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// A function: its outermost loops are outlined.
    Function,
    /// A function: inner loops are outlined as well.
    Nested,
    /// A function that others call: no loop is outlined.
    Callee,
}

/// Whether a loop is driven by a function of another one.
fn is_nested(module: &Module) -> bool {
    let mut found = false;
    for plan in module.loops.iter().filter(|plan| !plan.parallel) {
        let body = module.func(&plan.record).map(|func| &func.body);
        body.into_iter().for_each(|body| {
            body.walk(&mut |inst| {
                let driven = match &inst.op {
                    Op::Drive(name, _) => module.plan(name),
                    _ => None,
                };
                found |= driven.is_some_and(|plan| !plan.parallel);
            });
        });
    }
    found
}

fn added(
    module: &Module,
    name: &str,
    wrt: &[usize],
    of: Of,
    taken_back: Option<&dyn Fn(Span) -> bool>,
) -> Result<Module, Diagnostic> {
    let mut result = module.clone();
    let (mut programs, work) = derive(module, &calls_of::subject(module, name)?, wrt, of)?;
    if let Some(chosen) = taken_back {
        unstep::add(&mut programs, chosen)?;
    }
    if let Some(twice) = programs.funcs.iter().find(|f| module.func(&f.name).is_some()) {
        return Err(calls_of::taken(&twice.name));
    }
    result.funcs.extend(programs.funcs);
    result.loops.extend(programs.loops.iter().cloned());
    callees(module, &mut result, work)?;
    result.vouch(module, &programs.loops);
    Ok(result)
}

/// What calls of a function become: gives back the module with `@f.call.record(x.., tape) -> (y.., tape)` and
/// `@f.call.reverse(y_bar.., tape) -> (x_bar.., tape)`, by all floats, and what they call. Callers that are somewhere else can
/// use them as those of the module do.
pub fn callee_in_module(module: &Module, name: &str) -> Result<Module, Diagnostic> {
    let mut result = module.clone();
    callees(module, &mut result, vec![name.into()])?;
    Ok(result)
}

/// Adds the programs of functions that programs call.
fn callees(
    module: &Module,
    result: &mut Module,
    mut work: Vec<Arc<str>>,
) -> Result<(), Diagnostic> {
    let mut made = HashSet::default();
    while let Some(callee) = work.pop() {
        if let Some(external) = module.external(&callee) {
            calls_of::declare(result, external.record());
            calls_of::declare(result, external.reverse());
            continue;
        }
        let mut func = calls_of::find(module, &callee)?.clone();
        func.name = calls::callee_name(&callee).into();
        if !made.insert(callee) {
            continue;
        }
        let wrt: Vec<usize> =
            (0..func.params().len()).filter(|k| func.param_types()[*k].has_adjoint()).collect();
        let (programs, wanted) = derive(module, &func, &wrt, Of::Callee)?;
        // Callees read what they are given, in every order of derivatives.
        for program in programs.funcs.iter().skip(1).map(calls_of::by_value) {
            calls_of::add(result, program)?;
        }
        work.extend(wanted);
    }
    Ok(())
}

/// The programs of one function, and the functions whose programs they call.
fn derive(
    module: &Module,
    func: &Func,
    wrt: &[usize],
    of: Of,
) -> Result<(Module, Vec<Arc<str>>), Diagnostic> {
    refuse(func)?;
    let func = &*companions::added(func, wrt);
    let by = calls_of::parameters(func, wrt)?;
    let activity = Activity::new(func, &by);
    // The caller decides what of a callee runs when.
    if let Some((split, chunks)) = chunks::split(func, &activity).filter(|_| of != Of::Callee) {
        let by = calls_of::parameters(&split, wrt)?;
        let activity = Activity::new(&split, &by);
        return programs(module, &split, &by, &activity, &chunks, of);
    }
    programs(module, func, &by, &activity, &[], of)
}

fn programs(
    module: &Module,
    func: &Func,
    by: &[Value],
    activity: &Activity,
    chunks: &[Chunks],
    of: Of,
) -> Result<(Module, Vec<Arc<str>>), Diagnostic> {
    let callees = calls::callees(module, func, activity)?;
    let nest = Nest::new(func, of == Of::Callee);
    let mut counters = match of {
        Of::Callee => Vec::new(),
        _ => outlined(&nest, activity, chunks),
    };
    let inner = match of {
        Of::Nested => inner::loops(&nest, activity, chunks),
        _ => Vec::new(),
    };
    let outlined = Outlined { counters: &counters, chunks, inner: &inner };
    let (layout, preload) = (Layout::default(), Preload::default());
    let dry = Reverse::function(module, &nest, activity, &layout, &preload, outlined, by, true);
    let asked = dry.asked.unwrap_or_default();
    let mut layout = remat::plan(&nest, activity, &asked);
    let preload = remat::preload(&nest, &layout, &asked);
    // What a loop tells, the loop around it may have to tell in turn.
    let reversed = loop {
        let reversed =
            Reverse::function(module, &nest, activity, &layout, &preload, outlined, by, false);
        if reversed.told.is_subset(&layout.told) {
            break reversed;
        }
        layout.told.extend(reversed.told);
    };
    let mut programs = Module { loops: reversed.plans, ..Module::default() };
    let is_ranged = |func: &Func| programs.loops.iter().any(|plan| plan.reverse == func.name);
    let tidied = reversed.funcs.iter();
    let tidied = tidied.map(|(func, bars)| tidy_reverse(func, bars, is_ranged(func)));
    let tidied: Vec<Func> = tidied.collect();
    programs.funcs.extend(tidied);
    rotate::hand_on(&mut programs);
    // Everything that rounds has been decided: the same of every loop, whether it is outlined or not.
    let apart = inner::outline(&mut programs, &func.name, counters.len(), &inner, &reversed.whole);
    counters.extend(apart);
    let recorded = Record::function(module, &nest, activity, &layout, &counters);
    let joined = join(func, by, &layout.given);
    let recorded = std::iter::once(joined).chain(recorded.iter().map(tidy));
    programs.funcs.splice(0..0, recorded);
    Ok((programs, callees))
}

/// Free passes: they change no bit.
fn tidy(func: &Func) -> Func {
    dce::remove_dead(&carries::drop_invariant(func))
}

/// Free passes, and those that would move or lose an error: in a reverse program every index has been in
/// range and all shapes have been compared before.
///
/// Products and sums of adjoints are fused, which are what depends on the parameters that are adjoints, `bars`. Values
/// of the program that are computed again keep the rounding that they had.
fn tidy_reverse(func: &Func, bars: &Range<usize>, is_ranged: bool) -> Func {
    let func = dce::remove_dead_unchecked(&carries::drop_invariant_unnamed(func));
    let carried = registers::carry_known_elements(&stores::remove_dead(&func));
    // Folds what the passes leave.
    let folded = copy::rebuild(&carried, &func.name, &mut |_, _, _| false);
    let adjoints = |func: &Func| Activity::by_arithmetic(func, &func.params()[bars.clone()]);
    let of_folded = adjoints(&folded);
    let turned = rotate::sums(&folded, is_ranged, &|sum| of_folded.is_varied(sum));
    let of_turned = adjoints(&turned);
    fma::fuse_adjoints(&turned, &|sum| of_turned.is_varied(sum))
}

/// The parts of the IR that reverse mode does not take yet.
fn refuse(func: &Func) -> Result<(), Diagnostic> {
    let mut refused = None;
    func.body.walk(&mut |inst| {
        if matches!(inst.op, Op::Drive(..)) {
            refused.get_or_insert(inst.span);
        }
    });
    match refused {
        None => Ok(()),
        Some(span) => Err(Diagnostic::new(
            "unsupported-transform",
            "reverse mode does not pass through a loop that runs in pieces",
        )
        .label(span, "this instruction")
        .help("`flat::flat` puts outlined loops in place")),
    }
}

/// The loops that become functions.
#[derive(Clone, Copy)]
struct Outlined<'a> {
    /// All of them, by their counters, in walking order.
    counters: &'a [Value],
    /// Those over chunks of iterations.
    chunks: &'a [Chunks],
    /// Those inside others that may become functions when everything else is done; their reversals are marked.
    inner: &'a [Inner],
}

/// Outermost active loops and those over chunks, by their counters, in walking order.
fn outlined(nest: &Nest, activity: &Activity, chunks: &[Chunks]) -> Vec<Value> {
    let mut counters = Vec::new();
    for (id, info) in nest.blocks.iter().enumerate() {
        for inst in &info.block.insts {
            // A tape cannot be kept as part of a checkpoint: such a loop runs store-all.
            let is_loop = matches!(inst.op, Op::For | Op::While)
                && inst.results.iter().all(|r| nest.func.ty(*r) != Type::Tape);
            let in_chunks = || chunks.iter().any(|c| c.counter == inst.blocks[0].params[0]);
            if is_loop && activity.is_active_inst(inst) && (!nest.in_loop(id) || in_chunks()) {
                counters.push(inst.blocks[0].params[0]);
            }
        }
    }
    counters
}

/// `@f.vjp`: record, then reverse.
fn join(func: &Func, wrt: &[Value], given: &[Value]) -> Func {
    let floats: Vec<Value> =
        func.body.yields.iter().copied().filter(|y| func.ty(*y).has_adjoint()).collect();
    let mut params: Vec<(Type, Option<Arc<str>>)> =
        func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    params.extend(floats.iter().map(|y| (func.ty(*y), reverse::bar(func, *y))));
    params.push((Type::Tape, None));
    let (mut b, values) = Builder::new(format!("{}.vjp", func.name), &params);
    let n = func.params().len();
    let tape = values[values.len() - 1];

    let mut args = values[..n].to_vec();
    args.push(tape);
    let mut types = func.results.clone();
    types.push(Type::Tape);
    let record = Op::Call(format!("{}.record", func.name).into());
    let mut results = b.inst(record, args, &types, Vec::new());
    let tape = results.pop().unwrap_or(tape);

    let again = func.params().iter().zip(&values).filter(|(p, _)| given.contains(p));
    let mut args: Vec<Value> = again.map(|(_, v)| *v).collect();
    args.extend(&values[n..n + floats.len()]);
    args.push(tape);
    let mut types: Vec<Type> = wrt.iter().map(|p| func.ty(*p)).collect();
    types.push(Type::Tape);
    let reverse = Op::Call(format!("{}.reverse", func.name).into());
    results.extend(b.inst(reverse, args, &types, Vec::new()));
    b.finish(results)
}
