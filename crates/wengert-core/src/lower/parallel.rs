//! Parallel loops: `for i in wengert.parallel(range(n))`.
//!
//! The loop becomes a `parallel for`, of which the verifier's own check ([`parallel::independent`]) says whether it
//! is one. What lowering does is to keep iterations apart by their names: a variable that the body assigns is one
//! of the iteration's own, whatever it was before the loop, and means nothing after it. The exception are
//! sums ([`super::sums`]): a number that the body does nothing with but `+=` and `-=` is collected per iteration, in an
//! element of a hidden array, which is summed up after the loop. Where that loop is inside another one over which the
//! same is summed up, it adds to what the outer iteration collects.

use super::env::{Binding, Unset, UnsetReason, View};
use super::items::Items;
use super::names::{assigned, escapes, target as names_in};
use super::operand::{Operand, join_elem};
use super::sums::{only_added, spelled_out};
use super::{Lowered, Lowering};
use crate::arrays;
use crate::ir::parallel::ConflictKind;
use crate::ir::{Elem, Op, Value};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Iter, IterKind, Stmt, StmtKind, Target};
use std::collections::BTreeMap;

/// Most times a loop is lowered again because a sum turns out to be of another kind.
const MAX_ROUNDS: usize = 4;

/// A sum over the iterations of a parallel loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    pub(super) name: String,
    /// The kind of what is added.
    pub(super) elem: Elem,
}

impl Sum {
    /// The hidden variable that an iteration adds up in.
    pub(super) fn part(&self) -> String {
        part_of(&self.name)
    }

    /// The hidden variable for what each iteration has come to.
    pub(super) fn parts(&self) -> String {
        format!("parts of {}", self.name)
    }
}

fn part_of(name: &str) -> String {
    format!("part of {name}")
}

impl Lowering<'_> {
    pub(super) fn parallel_loop(
        &mut self,
        target: &Target,
        over: &Iter,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        let IterKind::Range { start, stop, step } = &over.kind else {
            return Err(not_around_a_loop(over.span));
        };
        if escapes(body).breaks || escapes(body).returns {
            let at = way_out(body).unwrap_or(span);
            return Err(Diagnostic::new(
                "parallel",
                "a parallel loop cannot be left early: other iterations may have run",
            )
            .label(at, "leaves the loop")
            .label(over.span, "its iterations run in any order")
            .help("use `continue` to end one iteration, or leave out `parallel`"));
        }
        let [lo, hi, by] = self.bounds(start, stop, step)?;
        self.b.at(over.span);
        let (mut items, from, to) = self.range(lo, hi, by, step.span)?;
        if let Items::Range { by: None, bound, .. } = &mut items
            && bound.is_none_or(|b| b < 0)
        {
            // Below 0 an index would count from the end, and two iterations could mean the same element.
            let zero = self.b.i64(0);
            let fits = self.b.prim(Prim::ILe, &[zero, lo]);
            let message = "the range of a parallel loop cannot start below 0";
            self.b.op(Op::Assert(message.into()), &[fits]);
            *bound = Some(0);
        }
        let trips = {
            let zero = self.b.i64(0);
            let n = self.b.prim(Prim::ISub, &[to, from]);
            self.b.prim(Prim::IMax, &[n, zero])
        };

        let names: Vec<String> = assigned(body).into_keys().collect();
        let summed = names.iter().filter(|name| only_added(body, name));
        let summed: BTreeMap<String, String> =
            summed.filter_map(|name| Some((name.clone(), self.summed_in(name)?))).collect();
        let body = &spelled_out(body, &summed)[..];
        let mut names = assigned(body);
        names_in(target, &mut names);
        let mut before = BTreeMap::new();
        let mut sums = Vec::new();
        for (name, set_at) in &names {
            let Some((binding, at)) = self.env.own(name).cloned() else { continue };
            let is_sum = summed.values().any(|sum| sum == name);
            if is_sum {
                sums.push(Sum { name: name.clone(), elem: Elem::I64 });
            }
            let reason = if is_sum { UnsetReason::Sum } else { UnsetReason::Own };
            let unset = Unset { reason, set_at: *set_at, by: over.span };
            self.env.bind(name, Binding::Maybe(unset), at);
            before.insert(name.clone(), (binding, at));
        }
        let (env, mark) = (self.env.clone(), self.b.mark());
        for _ in 0..MAX_ROUNDS {
            for sum in &sums {
                self.b.at(over.span);
                let zero = self.zero(sum.elem);
                let parts = self.b.filled(&[trips], zero);
                let storage = self.env.new_storage(parts);
                self.env.bind(&sum.parts(), Binding::Array(View::whole(storage)), span);
            }
            let found =
                self.independent_loop((target, &items), (from, to), over, &sums, body, span)?;
            if found == sums {
                self.sum_up(&sums, &before, over.span)?;
                return Ok(());
            }
            sums = found;
            self.b.rollback(&mark);
            self.env = env.clone();
        }
        unreachable!("there are fewer kinds of numbers")
    }

    /// The number to which a loop that does nothing else to a name adds: that of this name, or what the iteration
    /// collects of a sum over a loop around this one.
    fn summed_in(&self, name: &str) -> Option<String> {
        let is_number = |name: &str| matches!(self.env.own(name), Some((Binding::Scalar(_), _)));
        if is_number(name) {
            return Some(name.into());
        }
        let outer = matches!(self.env.own(name), Some((Binding::Maybe(unset), _)) if unset.reason == UnsetReason::Sum);
        Some(part_of(name)).filter(|part| outer && is_number(part))
    }

    /// Puts an iteration's parts of the sums where they belong; gives back what the sums are sums of.
    pub(super) fn keep_parts(
        &mut self,
        sums: &[Sum],
        (counter, from): (Value, Value),
        span: Span,
    ) -> Lowered<Vec<Sum>> {
        let mut found = Vec::new();
        for sum in sums {
            let Some((Binding::Scalar(part), _)) = self.env.own(&sum.part()).cloned() else {
                return Err(Diagnostic::new(
                    "parallel",
                    format!(
                        "`{}` is not a number in every iteration of the parallel loop",
                        sum.name
                    ),
                )
                .label(span, "this loop")
                .help("add numbers to it"));
            };
            self.env.unbind(&sum.part());
            let elem = join_elem(sum.elem, self.elem(part));
            found.push(Sum { elem, ..sum.clone() });
            if elem == sum.elem {
                self.b.at(span);
                let part = self.convert(part, elem, span)?;
                let at = self.b.prim(Prim::WSub, &[counter, from]);
                if let Some((Binding::Array(view), _)) = self.env.own(&sum.parts()).cloned() {
                    let parts = self.env.version(view.storage);
                    let next = self.b.with_element(parts, &[at], part);
                    self.env.set_version(view.storage, next);
                }
            }
        }
        Ok(found)
    }

    /// The sums over all iterations.
    fn sum_up(
        &mut self,
        sums: &[Sum],
        before: &BTreeMap<String, (Binding, Span)>,
        span: Span,
    ) -> Lowered<()> {
        for sum in sums {
            let Some((Binding::Array(view), _)) = self.env.own(&sum.parts()).cloned() else {
                unreachable!("the parts have been put there");
            };
            let Some((Binding::Scalar(start), at)) = before.get(&sum.name).cloned() else {
                unreachable!("only numbers are summed up");
            };
            self.b.at(span);
            let parts = self.env.version(view.storage);
            let all =
                arrays::sum(&mut self.b, parts, None).unwrap_or_else(|e| unreachable!("{e:?}"));
            let (start, all) = (Operand::Scalar(start), Operand::Scalar(all));
            let total = self.binary(BinaryOp::Add, (&start, span), (&all, span))?;
            self.env.unbind(&sum.parts());
            self.bind(&sum.name, total, at)?;
        }
        Ok(())
    }

    /// `total += value` in a parallel loop: whether it was one.
    pub(super) fn add_to_part(
        &mut self,
        name: &str,
        op: BinaryOp,
        value: (&Operand, Span),
        at: Span,
    ) -> Lowered<bool> {
        let sums = matches!(op, BinaryOp::Add | BinaryOp::Sub);
        let Some((Binding::Maybe(Unset { reason: UnsetReason::Sum, .. }), _)) = self.env.own(name)
        else {
            return Ok(false);
        };
        let Some((Binding::Scalar(part), _)) = self.env.own(&part_of(name)).cloned() else {
            return Ok(false);
        };
        if !sums {
            return Ok(false);
        }
        let new = self.binary(op, (&Operand::Scalar(part), at), value)?;
        let Operand::Scalar(new) = new else {
            return Err(Diagnostic::new(
                "parallel",
                format!("an array is added to `{name}` in every iteration of a parallel loop"),
            )
            .label(value.1, "an array")
            .help("put it into a row of a larger array, and sum that up after the loop"));
        };
        self.env.bind(&part_of(name), Binding::Scalar(new), at);
        Ok(true)
    }

    /// Marks the loop appended last, if its iterations are independent.
    pub(super) fn mark_parallel(&mut self, at: Span) -> Lowered<()> {
        let Err((conflict, array)) = self.b.try_parallel() else { return Ok(()) };
        let name = array.and_then(|v| self.b.func().name_of(v));
        let name = name.map_or("an array".into(), |name| format!("`{name}`"));
        let (message, here, help) = match conflict.kind {
            ConflictKind::Carry(_) => (
                format!("{name} goes from one iteration of the parallel loop to the next"),
                "needed by the next iteration",
                "keep it in an element of an array, one for each iteration; or leave out `parallel`",
            ),
            ConflictKind::HandsOn(_) => (
                format!("{name} is another array after an iteration of the parallel loop"),
                "the next iteration sees it",
                "write its elements instead, each iteration its own; or leave out `parallel`",
            ),
            _ => (
                format!(
                    "{name} is written by the parallel loop, and touched at the index of another iteration"
                ),
                "not at the iteration's own index",
                "read from another array than the one written, and write at the loop's own index only; or leave out `parallel`",
            ),
        };
        Err(Diagnostic::new("parallel", message)
            .label(conflict.span, here)
            .label(at, "iterations run in any order")
            .help(help))
    }
}

/// `parallel` anywhere else than around the range of a loop.
pub(super) fn not_around_a_loop(span: Span) -> Diagnostic {
    Diagnostic::new("parallel", "`parallel` goes around the range of a `for` loop")
        .label(span, "not such a range")
        .help("write `for i in wengert.parallel(range(n)):`")
}

/// Where a loop is left by `break` or `return`.
fn way_out(stmts: &[Stmt]) -> Option<Span> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Return { .. } => Some(stmt.span),
        StmtKind::If { then, otherwise, .. } => way_out(then).or_else(|| way_out(otherwise)),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => returned(body),
        _ => None,
    })
}

/// Where a function is left from inside a loop.
fn returned(stmts: &[Stmt]) -> Option<Span> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Return { .. } => Some(stmt.span),
        StmtKind::If { then, otherwise, .. } => returned(then).or_else(|| returned(otherwise)),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => returned(body),
        _ => None,
    })
}
