//! Loops: what they carry, and how they are left.
//!
//! What a loop carries depends on its body, and what the body means on what is carried: an integer before
//! the loop may be a float after the first iteration, two names may come to share an array, a called
//! function may write one. So the body is lowered under a [`Guess`]. Wherever an iteration ends, the
//! variables are compared with the guess ([`super::ends`]); where they do not fit, the code is thrown away
//! and made again under a wider guess. Guesses only grow, and the first one, read off the tree, is mostly
//! right.

use super::ends::Head;
use super::env::{Binding, Unset, UnsetReason};
use super::guess::{Carry, Found, Guess};
use super::items::{Items, Source};
use super::names::{always, escapes, escapes_of, set_at_breaks};
use super::operand::Operand;
use super::parallel::Sum;
use super::stmt::{BROKEN, CONTINUED, RETURNED, left_with};
use super::{Lowered, Lowering};
use crate::ir::{Op, Type, Value};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, Iter, IterKind, Stmt, StmtKind, Target};
use std::sync::Arc;

/// Most times the body of one loop is lowered again.
const MAX_ROUNDS: usize = 200;

/// What a loop does each time before its body.
enum Kind<'e> {
    For {
        target: &'e Target,
        items: Items,
        from: Value,
        to: Value,
        at: Span,
    },
    /// One whose iterations run in any order.
    Parallel {
        target: &'e Target,
        items: &'e Items,
        range: (Value, Value),
        at: Span,
        sums: &'e [Sum],
    },
    While(&'e Expr),
}

impl<'e> Kind<'e> {
    /// Whether only `break` and `return` leave it.
    fn is_endless(&self) -> bool {
        matches!(self, Kind::While(cond) if always(cond))
    }

    /// What each iteration assigns first.
    fn target(&self) -> Option<&'e Target> {
        match self {
            Kind::For { target, .. } | Kind::Parallel { target, .. } => Some(target),
            Kind::While(_) => None,
        }
    }
}

impl Lowering<'_> {
    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt], span: Span) -> Lowered<()> {
        self.looping(&Kind::While(cond), body, span)
    }

    pub(super) fn for_loop(
        &mut self,
        target: &Target,
        iter: &Iter,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        if let IterKind::Range { start, stop, step } = &iter.kind {
            let [lo, hi, by] = self.bounds(start, stop, step)?;
            self.b.at(iter.span);
            let (items, from, to) = self.range(lo, hi, by, step.span)?;
            return self.looping(&Kind::For { target, items, from, to, at: iter.span }, body, span);
        }
        if let IterKind::Parallel(over) = &iter.kind {
            return self.parallel_loop(target, over, body, span);
        }
        match self.items(iter)? {
            Source::Written(items) => self.written_out(target, items, body, span),
            Source::Counted(items, to) => self.counted(target, items, to, iter.span, body, span),
        }
    }

    /// A loop whose iterations are independent; gives back what its sums are sums of.
    pub(super) fn independent_loop(
        &mut self,
        (target, items): (&Target, &Items),
        range: (Value, Value),
        over: &Iter,
        sums: &[Sum],
        body: &[Stmt],
        span: Span,
    ) -> Lowered<Vec<Sum>> {
        let kind = Kind::Parallel { target, items, range, at: over.span, sums };
        self.looping(&kind, body, span)?;
        let found = std::mem::take(&mut self.sums);
        if found == sums {
            self.mark_parallel(over.span)?;
        }
        Ok(found)
    }

    /// A loop over items counted from 0.
    fn counted(
        &mut self,
        target: &Target,
        items: Items,
        to: Value,
        at: Span,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        let from = self.b.i64(0);
        let kind = Kind::For { target, items, from, to, at };
        self.looping(&kind, body, span)?;
        if let Kind::For { items, .. } = &kind {
            self.unbind_items(items);
        }
        Ok(())
    }

    /// A loop over a tuple of different things: its body once for each.
    fn written_out(
        &mut self,
        target: &Target,
        items: Vec<(Operand, Span)>,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        if escapes(body).any() {
            return Err(Diagnostic::new(
                "unsupported-syntax",
                "a loop over a tuple of arrays cannot be left early",
            )
            .label(span, "this loop")
            .help("loop over a range, or over one array with an axis more: `np.stack([...])`"));
        }
        let path = self.scopes.last().map_or(0, |s| s.path);
        for (k, (item, at)) in items.into_iter().enumerate() {
            // What loops in the body carry depends on the item.
            self.enter_path((path, span, k));
            self.assign(target, item, at)?;
            self.stmts(&body.iter().collect::<Vec<_>>())?;
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.path = path;
        }
        Ok(())
    }

    /// Finds what the loop carries, and appends it.
    fn looping(&mut self, kind: &Kind, body: &[Stmt], span: Span) -> Lowered<()> {
        let key = (self.scopes.last().map_or(0, |s| s.path), span);
        let mut guess = self.first_guess(kind.target(), body);
        if let Kind::Parallel { sums, .. } = kind {
            for sum in *sums {
                if let Some((Binding::Array(view), _)) = self.env.own(&sum.parts()) {
                    guess.storage.insert(view.storage);
                }
            }
        }
        if let Some(found) = self.found.get(&key) {
            guess.widen(self.recalled(found));
        }
        // What is set wherever the loop is left is set after it, if it is left nowhere else.
        let mut kept: Vec<(String, String)> = Vec::new();
        if kind.is_endless() {
            let set = set_at_breaks(body).into_iter();
            let unset = |n: &String| matches!(self.env.own(n), None | Some((Binding::Maybe(_), _)));
            kept.extend(set.filter(unset).map(|n| (n.clone(), left_with(&n, span))));
        }
        let before = self.env.clone();
        let mark = self.b.mark();
        for _ in 0..MAX_ROUNDS {
            let around = std::mem::replace(&mut self.kept, kept.clone());
            let wanted = self.attempt(kind, body, span, &guess);
            self.kept = around;
            let wanted = wanted?;
            let mut wider = guess.clone();
            wider.widen(wanted);
            if wider == guess {
                self.found.insert(key, Found { guess, env: before });
                self.never_ends(kind, body, span);
                return Ok(());
            }
            guess = wider;
            self.b.rollback(&mark);
            self.env = before.clone();
        }
        Err(Diagnostic::new("too-large", "what this loop carries cannot be found")
            .label(span, "this loop")
            .help("use fewer variables that change their kind or share arrays"))
    }

    /// What follows `while True` without a `break` is never reached: the function has returned.
    fn never_ends(&mut self, kind: &Kind, body: &[Stmt], span: Span) {
        let escapes = escapes(body);
        if kind.is_endless() && escapes.returns && !escapes.breaks {
            let yes = self.b.bool(true);
            self.env.bind(RETURNED, Binding::Scalar(yes), span);
        }
    }

    /// Appends the loop under a guess; gives back what it needs beyond it.
    fn attempt(&mut self, kind: &Kind, body: &[Stmt], span: Span, guess: &Guess) -> Lowered<Guess> {
        let carries = self.prepare(guess, span)?;
        let mut args = Vec::new();
        let counter = match kind {
            Kind::For { target: Target::Name(n), items: Items::Range { by: None, .. }, .. }
            | Kind::Parallel {
                target: Target::Name(n),
                items: Items::Range { by: None, .. },
                ..
            } => Some(Arc::from(n.text.as_str())),
            _ => None,
        };
        let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, counter)];
        for carry in &carries {
            let (v, name) = match carry {
                Carry::Scalar { name, elem, at } => {
                    let v = match self.env.own(name) {
                        Some((Binding::Scalar(v), _)) => *v,
                        _ => unreachable!("scalars are carried"),
                    };
                    let name = Some(name.clone()).filter(|n| !n.contains(' '));
                    (self.convert(v, *elem, *at)?, name)
                }
                Carry::Storage { storage, .. } => (self.env.version(*storage), None),
            };
            let hint = name.or_else(|| self.b.func().name_of(v));
            params.push((self.b.ty(v), hint));
            args.push(v);
        }
        let before = self.env.clone();
        let values = self.b.open_block(&params);
        for ((carry, p), arg) in carries.iter().zip(&values[1..]).zip(&args) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    // A loop that goes on has not returned.
                    let p = if &**name == RETURNED { self.b.bool(false) } else { *p };
                    self.env.bind(name, Binding::Scalar(p), *at);
                }
                Carry::Storage { storage, slot } => {
                    if !guess.growing.contains(slot) {
                        self.keep_units(*p, *arg);
                    }
                    self.env.set_version(*storage, *p);
                }
            }
        }
        for flag in [BROKEN, CONTINUED] {
            let no = self.b.bool(false);
            self.env.bind(flag, Binding::Scalar(no), span);
        }
        let env = self.env.clone();
        let mut head = Head { env, carries, wanted: Guess::default(), span };
        match kind {
            Kind::For { target, items, at, .. } => {
                let item = self.item(items, values[0], *at)?;
                self.assign(target, item, target.span())?;
            }
            Kind::Parallel { target, items, at, sums, .. } => {
                let item = self.item(items, values[0], *at)?;
                self.assign(target, item, target.span())?;
                let zero = self.b.i64(0);
                for sum in *sums {
                    self.env.bind(&sum.part(), Binding::Scalar(zero), span);
                }
            }
            Kind::While(cond) => {
                let goes_on = self.condition(cond)?;
                if self.constant_condition(goes_on) != Some(true) {
                    self.b.at(cond.span);
                    let ends = self.b.prim(Prim::Not, &[goes_on]);
                    self.exit(ends, &[], &mut head, cond.span)?;
                }
            }
        }
        self.loop_body(&body.iter().collect::<Vec<_>>(), &mut head)?;
        let escapes = escapes(body);
        if escapes.breaks || escapes.returns {
            let left = self.left_early();
            if self.constant_condition(left) != Some(false) {
                self.exit(left, &[], &mut head, span)?;
            }
        }
        if let Kind::Parallel { range, sums, .. } = kind {
            self.sums = self.keep_parts(sums, (values[0], range.0), span)?;
        }
        let yields = self.yields(&mut head)?;
        let block = self.b.close_block(yields);
        let inner = std::mem::replace(&mut self.env, before);
        self.b.at(span);
        let types: Vec<Type> = params[1..].iter().map(|(t, _)| *t).collect();
        let (op, args) = match kind {
            Kind::For { from, to, .. } | Kind::Parallel { range: (from, to), .. } => {
                (Op::For, [*from, *to].into_iter().chain(args).collect())
            }
            Kind::While(_) => (Op::While, args),
        };
        let results = self.b.inst(op, args, &types, vec![block]);
        for ((carry, v), p) in head.carries.iter().zip(&results).zip(&values[1..]) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    if !name.contains(' ') {
                        self.b.name(*v, name);
                    }
                    self.env.bind(name, Binding::Scalar(*v), *at);
                }
                Carry::Storage { storage, .. } => {
                    let old = self.env.version(*storage);
                    if let Some(name) = self.b.func().name_of(old) {
                        self.b.name(*v, &name);
                    }
                    self.keep_units(*v, *p);
                    self.env.set_version(*storage, *v);
                }
            }
        }
        // What only the body sets is there only if the body ran.
        let new: Vec<(Arc<str>, Span)> = inner
            .names()
            .filter(|(n, _)| !n.contains(' ') && self.env.own(n).is_none())
            .map(|(n, (_, at))| (n.clone(), *at))
            .collect();
        let reason = if kind.is_endless() { UnsetReason::Break } else { UnsetReason::Loop };
        for (name, set_at) in new {
            let unset = Unset { reason: reason.clone(), set_at, by: span };
            self.env.bind(&name, Binding::Maybe(unset), set_at);
        }
        for (name, hidden) in self.kept.clone() {
            if let Some((binding, _)) = self.env.own(&hidden).cloned() {
                let set_at = inner.own(&name).map_or(span, |(_, at)| *at);
                self.env.bind(&name, binding, set_at);
                self.env.unbind(&hidden);
            }
        }
        Ok(head.wanted)
    }

    /// Statements of a loop body. `if c: ...; break` standing directly in it is an exit of the loop.
    fn loop_body(&mut self, body: &[&Stmt], head: &mut Head) -> Lowered<()> {
        for (k, stmt) in body.iter().enumerate() {
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind
                && is_exit(then)
            {
                let c = self.condition(cond)?;
                self.exit(c, then, head, stmt.span)?;
                // Past the exit the condition is false.
                let rest: Vec<&Stmt> =
                    otherwise.iter().chain(body[k + 1..].iter().copied()).collect();
                return self.loop_body(&rest, head);
            }
            if escapes_of(stmt).any() {
                return self.stmts(&body[k..]);
            }
            self.stmts(&[stmt])?;
        }
        Ok(())
    }

    /// `exit_if`, after some last work.
    fn exit(&mut self, cond: Value, work: &[Stmt], head: &mut Head, span: Span) -> Lowered<()> {
        let before = self.env.clone();
        self.b.open_block(&[]);
        self.stmts(&work.iter().collect::<Vec<_>>())?;
        let yields = self.yields(head)?;
        let block = self.b.close_block(yields);
        self.env = before;
        self.b.at(span);
        self.b.inst(Op::ExitIf, vec![cond], &[], vec![block]);
        Ok(())
    }

    fn left_early(&mut self) -> Value {
        let mut flags = [BROKEN, RETURNED].map(|flag| match self.env.own(flag) {
            Some((Binding::Scalar(v), _)) => Some(*v),
            _ => None,
        });
        let no = self.b.bool(false);
        let (a, b) = (flags[0].take().unwrap_or(no), flags[1].take().unwrap_or(no));
        self.b.prim(Prim::Or, &[a, b])
    }
}

/// Whether a branch does some work and then leaves the loop, and does not leave in any other way. To leave is part
/// of the work: it sets the hidden variables.
fn is_exit(then: &[Stmt]) -> bool {
    let Some((last, work)) = then.split_last() else { return false };
    let leaves = matches!(last.kind, StmtKind::Break | StmtKind::Return { .. });
    leaves && !work.iter().any(|s| escapes_of(s).any())
}
