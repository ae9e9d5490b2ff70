//! Inner loops as functions of their own.
//!
//! Mostly a loop inside another is part of its iterations. Where what one iteration records is too much, the driver has to run parts of the
//! inner loop again, so that must be a function over ranges as well. Its results must not depend on whether it is
//! one, and what is fused with what does depend on the code around: so the reversing programs are made and tidied as
//! always, with the reversals of inner loops marked, and what becomes functions here is taken out of what came out.
//!
//! An iteration that an exit cut short is reversed before the loop over the full ones, by the code around it. So these functions have no
//! use for the number of an exit, and who drives such a loop leaves the record of that iteration where it is.

use super::chunks::Chunks;
use super::nest::Nest;
use super::reverse_loop::loop_name;
use crate::ir::{Block, Builder, Func, Inst, LoopPlan, Module, Numbering, Op, Phase, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::Span;
use crate::transform::activity::Activity;
use crate::transform::copy::{Copier, rebuild};
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

/// A loop inside another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inner {
    /// Its counter, which stands for it.
    pub(super) counter: Value,
    /// Its number among the marks.
    number: usize,
    span: Span,
    carries: usize,
    bounded: bool,
}

/// The active loops inside others, but for those in parallel ones, in walking order.
pub(super) fn loops(nest: &Nest, activity: &Activity, chunks: &[Chunks]) -> Vec<Inner> {
    let in_chunks = |inst: &Inst| chunks.iter().any(|c| c.counter == inst.blocks[0].params[0]);
    let is_loop = |inst: &Inst| matches!(inst.op, Op::For | Op::While);
    let mut found = Vec::new();
    for (id, info) in nest.blocks.iter().enumerate() {
        let (mut around, mut is_parallel, mut at) = (false, false, id);
        while let Some((parent, position)) = nest.blocks[at].parent {
            let inst = &nest.blocks[parent].block.insts[position];
            if is_loop(inst) {
                around = true;
                is_parallel |= inst.blocks[0].parallel || in_chunks(inst);
            }
            at = parent;
        }
        let inside = info.block.insts.iter().filter(|_| around && !is_parallel);
        for inst in inside.filter(|inst| is_loop(inst) && !in_chunks(inst)) {
            // A tape cannot be kept as part of a checkpoint.
            let has_tape = inst.results.iter().any(|r| nest.func.ty(*r) == Type::Tape);
            if activity.is_active_inst(inst) && !has_tape {
                found.push(Inner {
                    counter: inst.blocks[0].params[0],
                    number: found.len(),
                    span: inst.span,
                    carries: inst.results.len(),
                    bounded: inst.op == Op::For,
                });
            }
        }
    }
    found
}

/// The place of the reversal of an inner loop: none in any text.
pub(super) fn mark(number: usize) -> Span {
    Span { start: u32::MAX, end: number as u32 }
}

/// Makes functions of inner loops, in programs that hold the reversals of a function; their numbers follow those
/// of `before` others. Those of which the counter is among `whole` stay. Gives back the counters of those that are functions now.
pub(super) fn outline(
    programs: &mut Module,
    name: &Arc<str>,
    before: usize,
    inner: &[Inner],
    whole: &HashSet<Value>,
) -> Vec<Value> {
    let mut found = vec![(0, true); inner.len()];
    for reverse in &programs.funcs {
        reverse.body.walk(&mut |inst| {
            if let Some((count, fits)) = number_of(inst).and_then(|k| found.get_mut(k)) {
                *count += 1;
                *fits &= is_sweep(reverse, inst);
            }
        });
    }
    let chosen = inner.iter().filter(|inner| {
        let (count, fits) = found[inner.number];
        count > 0 && fits && !whole.contains(&inner.counter)
    });
    let chosen: Vec<Inner> = chosen.copied().collect();
    let name = name.clone();
    let mut outliner =
        Outliner { name, before, chosen: &chosen, funcs: Vec::new(), plans: Vec::new() };
    for reverse in &mut programs.funcs {
        let old = reverse.clone();
        if !chosen.is_empty() {
            *reverse = rebuild(&old, &old.name, &mut |copier, b, inst| {
                outliner.inst(&old, copier, b, inst)
            });
        }
    }
    let Outliner { funcs, plans, .. } = outliner;
    programs.funcs.extend(funcs);
    programs.loops.extend(plans);
    programs.funcs.iter_mut().for_each(|func| unmark(&mut func.body, inner));
    chosen.iter().map(|inner| inner.counter).collect()
}

/// The number of the inner loop that an instruction reverses.
fn number_of(inst: &Inst) -> Option<usize> {
    let is_marked = inst.op == Op::For && inst.span.start == u32::MAX;
    is_marked.then_some(inst.span.end as usize)
}

/// Whether a loop counts from 0 and takes records from one tape.
fn is_sweep(func: &Func, inst: &Inst) -> bool {
    let tapes = inst.results.iter().filter(|r| func.ty(**r) == Type::Tape).count();
    func.as_const(inst.args[0]) == Some(Scalar::I64(0)) && tapes == 1
}

/// Puts everything back to where it stands in the text.
fn unmark(block: &mut Block, inner: &[Inner]) {
    for inst in &mut block.insts {
        if inst.span.start == u32::MAX {
            inst.span = inner.get(inst.span.end as usize).map_or(Span::default(), |i| i.span);
        }
        inst.blocks.iter_mut().for_each(|block| unmark(block, inner));
    }
}

struct Outliner<'a> {
    /// The function that is differentiated.
    name: Arc<str>,
    before: usize,
    chosen: &'a [Inner],
    funcs: Vec<Func>,
    plans: Vec<LoopPlan>,
}

impl Outliner<'_> {
    /// Makes the reversal of an inner loop a function, and calls that through the driver.
    fn inst(&mut self, func: &Func, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> bool {
        let number = number_of(inst);
        let Some(at) = self.chosen.iter().position(|inner| Some(inner.number) == number) else {
            return false;
        };
        let inner = self.chosen[at];
        let body = &inst.blocks[0];
        let captures = body.captures(func);
        let tape = inst.results.iter().position(|r| func.ty(*r) == Type::Tape).unwrap_or(0);
        let carried = 0..inst.results.len();
        let state: Vec<usize> = carried.clone().filter(|k| *k != tape).collect();
        let trips = inst.args[1];

        // (from, to, exit, state.., trips, captures.., tape)
        let param = |v: Value| (func.ty(v), func.name_of(v));
        let carry = |k: usize| param(body.params[k + 1]);
        let mut params = vec![(Type::I64, None); 3];
        params.extend(state.iter().map(|k| carry(*k)));
        params.push((Type::I64, None));
        params.extend(captures.iter().map(|v| param(*v)));
        params.push(carry(tape));

        let plain = loop_name(&self.name, self.before + at);
        let others = self.plans.iter().filter(|plan| *plan.record == *format!("{plain}.record"));
        // Where the loop around it has exits there are several ways to come by it.
        let name = match others.count() {
            0 => plain.clone(),
            more => format!("{plain}.{more}"),
        };
        let (mut inside, values) = Builder::new(format!("{name}.reverse"), &params);
        inside.at(inst.span);
        let fixed = 3 + state.len();
        let mut known = Copier::default();
        for (v, given) in captures.iter().zip(&values[fixed + 1..]) {
            known.bind(*v, *given);
        }
        // It counts from the last iteration on.
        let all = values[fixed];
        let (lo, hi) = (
            inside.prim(Prim::WSub, &[all, values[1]]),
            inside.prim(Prim::WSub, &[all, values[0]]),
        );
        let place =
            |k: usize| state.iter().position(|s| *s == k).map_or(params.len() - 1, |p| 3 + p);
        let mut args = vec![lo, hi];
        args.extend(carried.clone().map(|k| values[place(k)]));
        let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        let swept = known.block_with(func, &mut inside, body, &mut |copier, b, inst| {
            self.inst(func, copier, b, inst)
        });
        let numbering = match swept.numbering {
            Numbering::FromStart => Numbering::ByCounter,
            other => other,
        };
        inside.at(inst.span);
        let swept = Block { numbering, ..swept };
        let swept = inside.inst(Op::For, args, &types, vec![swept]);
        let ordered = |all: &[Value]| -> Vec<Value> {
            state.iter().chain([&tape]).map(|k| all[*k]).collect()
        };
        let made = inside.finish(ordered(&swept));

        let mut args = vec![inst.args[0], trips, inst.args[0]];
        args.extend(state.iter().map(|k| inst.args[2 + k]));
        args.push(trips);
        args.extend(&captures);
        args.push(inst.args[2 + tape]);
        let args = copier.all(func, b, &args);
        b.at(inst.span);
        let driven = Op::Drive(name.as_str().into(), Phase::Reverse);
        let results = b.inst(driven, args, &made.results, Vec::new());
        for (r, v) in ordered(&inst.results).iter().zip(results) {
            copier.bind(*r, v);
            if let Some(name) = func.name_of(*r) {
                b.name(v, &name);
            }
        }
        self.plans.push(LoopPlan {
            name: name.as_str().into(),
            advance: format!("{plain}.advance").into(),
            record: format!("{plain}.record").into(),
            reverse: made.name.clone(),
            carries: inner.carries,
            state: state.len(),
            finals: Vec::new(),
            bounded: inner.bounded,
            parallel: false,
            unstep: None,
        });
        self.funcs.push(made);
        true
    }
}
