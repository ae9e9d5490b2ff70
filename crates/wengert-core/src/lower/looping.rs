//! Loops: what they carry, and how they are left.

use super::branch::diverges;
use super::env::{Binding, StorageId, Unset, UnsetReason};
use super::infer::{Infer, join};
use super::names::{assigned, escapes, escapes_of};
use super::stmt::{BROKEN, CONTINUED, RETURNED, returned};
use super::{Lowered, Lowering};
use crate::ir::{Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, Name, Stmt, StmtKind};
use std::sync::Arc;

/// One value a loop carries.
enum Carry {
    /// A scalar variable.
    Scalar { name: String, ty: Type, at: Span },
    /// A piece of storage, under the name that is bound anew in the loop, if there is one.
    Storage { storage: StorageId, rebound: Option<(String, Span)> },
}

impl Lowering<'_> {
    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt], span: Span) -> Lowered<()> {
        self.looping(None, Some(cond), body, span)
    }

    pub(super) fn for_loop(
        &mut self,
        var: &Name,
        [start, stop, step]: [&Expr; 3],
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        let lo = self.integer(start, "the start of a range")?;
        let hi = self.integer(stop, "the end of a range")?;
        let by = self.integer(step, "the step of a range")?;
        self.b.at(start.span.to(step.span));
        let range = self.range(lo, hi, by, step.span)?;
        self.looping(Some((var, range)), None, body, span)
    }

    /// The trips of a range and how the variable follows from the counter.
    fn range(&mut self, lo: Value, hi: Value, by: Value, span: Span) -> Lowered<Range> {
        let constant = match self.b.func().as_const(by) {
            Some(Scalar::I64(k)) => Some(k),
            _ => None,
        };
        if constant == Some(1) {
            let bound = self.lower_bound(lo);
            return Ok(Range { from: lo, to: hi, steps: None, bound });
        }
        if constant == Some(0) {
            return Err(Diagnostic::new("zero-step", "the step of a range cannot be 0")
                .label(span, "this step"));
        }
        let zero = self.b.i64(0);
        // ceil((hi - lo) / by), which floor division gives with the signs turned.
        let nonzero = self.b.prim(Prim::INe, &[by, zero]);
        self.b.op(Op::Assert("the step of a range cannot be 0".into()), &[nonzero]);
        let distance = self.b.prim(Prim::ISub, &[lo, hi]);
        let trips = self.b.prim(Prim::IDiv, &[distance, by]);
        let trips = self.b.prim(Prim::INeg, &[trips]);
        let bound = match constant {
            Some(k) if k > 0 => self.lower_bound(lo),
            Some(_) => self.lower_bound(hi).and_then(|h| h.checked_add(1)),
            None => None,
        };
        Ok(Range { from: zero, to: trips, steps: Some((lo, by)), bound })
    }

    fn looping(
        &mut self,
        range: Option<(&Name, Range)>,
        cond: Option<&Expr>,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        let escapes = escapes(body);
        if escapes.returns {
            self.prepare_returns(range.as_ref().map(|r| r.0), body, span)?;
        }
        let carries = self.carries(range.as_ref().map(|r| r.0), body, escapes.returns, span)?;
        let mut args = Vec::new();
        let mut params: Vec<(Type, Option<Arc<str>>)> = Vec::new();
        let var: Option<Arc<str>> = range.as_ref().map(|(n, _)| n.text.as_str().into());
        params.push((Type::I64, var));
        for carry in &carries {
            let (v, name) = match carry {
                Carry::Scalar { name, ty, at } => {
                    let v = self.scalar_named(name)?;
                    (self.convert(v, *ty, *at)?, Some(name.as_str()).filter(|n| !n.contains(' ')))
                }
                Carry::Storage { storage, .. } => (self.env.version(*storage), None),
            };
            let hint = name.map(Arc::from).or_else(|| self.b.func().name_of(v));
            params.push((self.b.ty(v), hint));
            args.push(v);
        }
        let before = self.env.clone();
        let count = before.storage_count();
        let values = self.b.open_block(&params);
        for (carry, p) in carries.iter().zip(&values[1..]) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    // A loop that goes on has not returned.
                    let p = if name == RETURNED { self.b.bool(false) } else { *p };
                    self.env.bind(name, Binding::Scalar(p), *at);
                }
                Carry::Storage { storage, .. } => self.env.set_version(*storage, *p),
            }
        }
        for flag in [BROKEN, CONTINUED] {
            let no = self.b.bool(false);
            self.env.bind(flag, Binding::Scalar(no), span);
        }
        if let Some((name, range)) = &range {
            let i = self.variable(values[0], range);
            self.env.bind(&name.text, Binding::Scalar(i), name.span);
        }
        if let Some(cond) = cond {
            let goes_on = self.condition(cond)?;
            if self.constant_condition(goes_on) != Some(true) {
                self.b.at(cond.span);
                let ends = self.b.prim(Prim::Not, &[goes_on]);
                self.exit(ends, &[], &carries, count, cond.span)?;
            }
        }
        self.loop_body(body, &carries, count)?;
        if escapes.breaks || escapes.returns {
            let left = self.left_early();
            if self.constant_condition(left) != Some(false) {
                self.exit(left, &[], &carries, count, span)?;
            }
        }
        let yields = self.yields(&carries, count)?;
        let block = self.b.close_block(yields);
        let inner = std::mem::replace(&mut self.env, before);

        self.b.at(span);
        let types: Vec<Type> = params[1..].iter().map(|(t, _)| *t).collect();
        let (op, args) = match &range {
            Some((_, r)) => (Op::For, [r.from, r.to].into_iter().chain(args).collect()),
            None => (Op::While, args),
        };
        let results = self.b.inst(op, args, &types, vec![block]);
        for (carry, v) in carries.iter().zip(&results) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    if !name.contains(' ') {
                        self.b.name(*v, &name.as_str().into());
                    }
                    self.env.bind(name, Binding::Scalar(*v), *at);
                }
                Carry::Storage { storage, .. } => {
                    if let Some(name) = self.b.func().name_of(self.env.version(*storage)) {
                        self.b.name(*v, &name);
                    }
                    self.env.set_version(*storage, *v);
                }
            }
        }
        // What only the body sets is there only if the body ran.
        let new: Vec<(String, Span)> = inner
            .names()
            .filter(|(n, _)| !n.contains(' ') && self.env.get(n).is_none())
            .map(|(n, (_, at))| (n.clone(), *at))
            .collect();
        for (name, set_at) in new {
            let unset = Unset { reason: UnsetReason::Loop, set_at, by: span };
            self.env.bind(&name, Binding::Maybe(unset), set_at);
        }
        Ok(())
    }

    /// The loop variable.
    fn variable(&mut self, counter: Value, range: &Range) -> Value {
        let i = match range.steps {
            None => counter,
            Some((lo, by)) => {
                // The range has been computed without overflow, so this cannot.
                let offset = self.b.prim(Prim::WMul, &[counter, by]);
                self.b.prim(Prim::WAdd, &[lo, offset])
            }
        };
        if let Some(bound) = range.bound {
            self.lower_bounds.insert(i, bound);
        }
        i
    }

    /// Statements of a loop body. `if c: ...; break` standing directly in it is an exit of the loop.
    fn loop_body(&mut self, body: &[Stmt], carries: &[Carry], count: usize) -> Lowered<()> {
        for (k, stmt) in body.iter().enumerate() {
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind
                && let Some(work) = exit_work(then)
            {
                let c = self.condition(cond)?;
                self.exit(c, work, carries, count, stmt.span)?;
                // Past the exit the condition is false.
                let mut rest: Vec<Stmt> = otherwise.clone();
                rest.extend_from_slice(&body[k + 1..]);
                return self.loop_body(&rest, carries, count);
            }
            if escapes_of(stmt).any() {
                return self.stmts(&body[k..].iter().collect::<Vec<_>>());
            }
            self.stmts(&[stmt])?;
        }
        Ok(())
    }

    /// `exit_if`, after some last work.
    fn exit(
        &mut self,
        cond: Value,
        work: &[Stmt],
        carries: &[Carry],
        count: usize,
        span: Span,
    ) -> Lowered<()> {
        let before = self.env.clone();
        self.b.open_block(&[]);
        self.stmts(&work.iter().collect::<Vec<_>>())?;
        let yields = self.yields(carries, count)?;
        let block = self.b.close_block(yields);
        self.env = before;
        self.b.at(span);
        self.b.inst(Op::ExitIf, vec![cond], &[], vec![block]);
        Ok(())
    }

    fn left_early(&mut self) -> Value {
        let mut flags = [BROKEN, RETURNED].map(|flag| match self.env.get(flag) {
            Some((Binding::Scalar(v), _)) => Some(*v),
            _ => None,
        });
        let no = self.b.bool(false);
        let (a, b) = (flags[0].take().unwrap_or(no), flags[1].take().unwrap_or(no));
        self.b.prim(Prim::Or, &[a, b])
    }

    /// Gives the hidden variables of returned values their types before a loop that returns.
    fn prepare_returns(&mut self, var: Option<&Name>, body: &[Stmt], span: Span) -> Lowered<()> {
        let mut infer = Infer::new(self.module);
        let mut types = self.types();
        types.extend(var.map(|v| (v.text.clone(), Type::I64)));
        infer.loop_head(body, &mut types);
        for (k, ty) in infer.returned.clone().into_iter().enumerate() {
            if ty == Type::VECTOR {
                return Err(Diagnostic::new(
                    "unsupported-syntax",
                    "returning an array from inside a loop is not supported yet",
                )
                .label(span, "in this loop")
                .help("`break` out of the loop, and return the array after it"));
            }
            if self.env.get(&returned(k)).is_none() {
                let zero = self.zero(ty);
                self.env.bind(&returned(k), Binding::Scalar(zero), span);
            }
        }
        Ok(())
    }

    /// What the loop carries: scalars its body assigns, and all storage.
    fn carries(
        &mut self,
        var: Option<&Name>,
        body: &[Stmt],
        returns: bool,
        span: Span,
    ) -> Lowered<Vec<Carry>> {
        let mut types = self.types();
        if let Some(var) = var {
            types.insert(var.text.clone(), Type::I64);
        }
        Infer::new(self.module).loop_head(body, &mut types);
        let names = assigned(body);
        let mut carries = Vec::new();
        let mut rebound = Vec::new();
        for (name, (binding, at)) in self.env.names() {
            let of_return = name.starts_with("returned value") || name == RETURNED;
            let as_variable = var.filter(|v| v.text == *name).map(|v| v.span);
            let assigned_at = names.get(name).copied().or(as_variable);
            let Some(assigned_at) = assigned_at.or(of_return.then_some(span)) else { continue };
            if of_return && !returns {
                continue;
            }
            match binding {
                Binding::Scalar(v) => {
                    let ty = types.get(name).map_or(self.b.ty(*v), |t| join(self.b.ty(*v), *t));
                    if ty == Type::VECTOR {
                        return Err(Diagnostic::new(
                            "rank-change",
                            format!("`{name}` is a number before the loop and an array in it"),
                        )
                        .label(assigned_at, "an array here")
                        .label(*at, "a number here")
                        .help("use two names"));
                    }
                    carries.push(Carry::Scalar { name: name.clone(), ty, at: *at });
                }
                Binding::Array(s) => rebound.push((*s, name.clone(), assigned_at)),
                Binding::Maybe(_) => {}
            }
        }
        for storage in self.env.all_storage() {
            let name = rebound.iter().find(|(s, ..)| *s == storage);
            let name = name.map(|(_, n, at)| (n.clone(), *at));
            if let Some((name, at)) = &name {
                let others: Vec<(String, Span)> =
                    self.env.names_of(storage).into_iter().filter(|(n, _)| n != name).collect();
                if let Some((other, other_at)) = others.first() {
                    return Err(Diagnostic::new(
                        "ambiguous-alias",
                        format!(
                            "`{name}` and `{other}` are the same array before the loop, and `{name}` stands for another one after the first iteration"
                        ),
                    )
                    .label(*at, format!("`{name}` is set here"))
                    .label(*other_at, format!("`{other}` is set here"))
                    .help(format!("make one of them a copy before the loop: `{name} = np.copy({name})`")));
                }
            }
            carries.push(Carry::Storage { storage, rebound: name });
        }
        Ok(carries)
    }

    /// The values of the carries where an iteration or the loop ends.
    fn yields(&mut self, carries: &[Carry], count: usize) -> Lowered<Vec<Value>> {
        let mut yields = Vec::new();
        let mut taken: Vec<(StorageId, Option<(String, Span)>)> = Vec::new();
        for carry in carries {
            let v = match carry {
                Carry::Scalar { name, ty, at } => {
                    let v = self.scalar_named(name)?;
                    self.convert(v, *ty, *at).map_err(|_| {
                        Diagnostic::new(
                            "type-change",
                            format!(
                                "`{name}` is {} in the loop, but another type before it",
                                self.describe(v)
                            ),
                        )
                        .label(*at, "set here")
                        .help("use two names, or the same type from the start")
                    })?
                }
                Carry::Storage { storage, rebound } => {
                    let now = match rebound {
                        None => *storage,
                        Some((name, at)) => self.array_named(name, *at)?,
                    };
                    let clash = taken.iter().find(|(s, _)| *s == now);
                    if let Some((_, other)) = clash {
                        let (name, at) = rebound.clone().or(other.clone()).unwrap_or_default();
                        let held = self.env.names_of(now);
                        let other = held.iter().map(|(n, _)| n.as_str()).find(|n| *n != name);
                        return Err(Diagnostic::new(
                            "ambiguous-alias",
                            format!(
                                "`{name}` and `{}` become the same array, but were different ones before",
                                other.unwrap_or("another variable")
                            ),
                        )
                        .label(at, "set here")
                        .help(format!("copy the elements instead: `{name} = np.copy(...)`")));
                    }
                    if self.env.made_since(now, count) && self.env.names_of(now).len() > 1 {
                        let names = self.env.names_of(now);
                        return Err(Diagnostic::new(
                            "ambiguous-alias",
                            format!(
                                "`{}` and `{}` are the same array only in some iterations",
                                names[0].0, names[1].0
                            ),
                        )
                        .label(names[0].1, "set here")
                        .label(names[1].1, "and here")
                        .help("make one of them a copy: `np.copy(...)`"));
                    }
                    taken.push((now, rebound.clone()));
                    self.env.version(now)
                }
            };
            yields.push(v);
        }
        Ok(yields)
    }

    fn scalar_named(&mut self, name: &str) -> Lowered<Value> {
        match self.env.get(name) {
            Some((Binding::Scalar(v), _)) => Ok(*v),
            Some((Binding::Array(_), at)) => Err(Diagnostic::new(
                "rank-change",
                format!("`{name}` is a number before the loop and an array in it"),
            )
            .label(*at, "an array here")
            .help("use two names")),
            Some((Binding::Maybe(unset), at)) => Err(Diagnostic::new(
                "maybe-undefined",
                format!("`{name}` is not set on every path through the loop"),
            )
            .label(unset.set_at, "set here")
            .label(*at, "but not on the other path")
            .help(format!("give `{name}` the same kind of value on every path"))),
            None => Err(Diagnostic::new("undefined-variable", format!("`{name}` is not defined"))),
        }
    }

    fn array_named(&self, name: &str, at: Span) -> Lowered<StorageId> {
        match self.env.get(name) {
            Some((Binding::Array(s), _)) => Ok(*s),
            _ => Err(Diagnostic::new(
                "ambiguous-alias",
                format!("`{name}` does not stand for one array on every path through the loop"),
            )
            .label(at, "set here")
            .help(format!("copy the elements instead: `{name} = np.copy(...)`"))),
        }
    }
}

/// The counter's range, and the variable as `lo + counter * step` where the step is not 1.
struct Range {
    from: Value,
    to: Value,
    steps: Option<(Value, Value)>,
    /// What is known of the variable from below.
    bound: Option<i64>,
}

/// The work before leaving, where a branch does some and then leaves the loop, and does not leave in
/// any other way.
fn exit_work(then: &[Stmt]) -> Option<&[Stmt]> {
    let (last, work) = then.split_last()?;
    let clean = |stmts: &[Stmt]| !stmts.iter().any(|s| escapes_of(s).any());
    match last.kind {
        StmtKind::Break if clean(work) => Some(work),
        // The return itself is part of the work: it sets the hidden variables.
        StmtKind::Return { .. } if clean(work) && diverges(&[last]) => Some(then),
        _ => None,
    }
}
