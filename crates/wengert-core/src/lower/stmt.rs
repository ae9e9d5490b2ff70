//! Statements, and calls of the functions they are in.

use super::branch::diverges;
use super::env::{Binding, UnsetReason};
use super::expr::described;
use super::names::{assigned, escapes_of};
use super::{Lowered, Lowering, MAX_CALLS, MAX_EXPANSIONS, MAX_VALUES, Operand, not_yet};
use crate::ir::{Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    BinaryOp, Callee, Expr, ExprKind, Function, IterKind, Keyword, Name, Stmt, StmtKind, Target,
};

/// Hidden variables. No program can name them: they hold a space.
pub(super) const RETURNED: &str = "the function has returned";
pub(super) const BROKEN: &str = "the loop is left";
pub(super) const CONTINUED: &str = "the iteration is over";

/// The hidden variable of a returned value.
pub(super) fn returned(k: usize) -> String {
    format!("returned value {k}")
}

impl Lowering<'_> {
    /// Lowers the body of a function whose parameters are bound; gives back what it returns.
    /// A function called for what it writes alone (`needs_value` is false) may return nothing.
    pub(super) fn body(
        &mut self,
        func: &Function,
        span: Span,
        needs_value: bool,
    ) -> Lowered<Vec<Operand>> {
        self.locals.push(assigned(&func.body));
        self.return_counts.push(None);
        let results = self.body_in_scope(func, span, needs_value);
        self.return_counts.pop();
        self.locals.pop();
        results
    }

    fn body_in_scope(
        &mut self,
        func: &Function,
        span: Span,
        needs_value: bool,
    ) -> Lowered<Vec<Operand>> {
        let no = self.b.bool(false);
        self.env.bind(RETURNED, Binding::Scalar(no), span);
        self.stmts(&func.body.iter().collect::<Vec<_>>())?;
        let yes = self.b.bool(true);
        let always = matches!(self.env.get(RETURNED), Some((Binding::Scalar(v), _)) if *v == yes);
        if !needs_value && !always {
            return Ok(Vec::new());
        }
        if !always {
            let message = format!("`{}` does not return a value on every path", func.name.text);
            return Err(Diagnostic::new("missing-return", message)
                .label(func.name.span, "this function")
                .help("end it with `return` and the value to differentiate"));
        }
        let mut results = Vec::new();
        while let Some((binding, _)) = self.env.get(&returned(results.len())) {
            results.push(match binding {
                Binding::Scalar(v) => Operand::Scalar(*v),
                Binding::Array(s) => Operand::Array(*s),
                Binding::Maybe(unset) if unset.reason == UnsetReason::Ambiguous => {
                    return Err(self.ambiguous_return(unset, func.name.span));
                }
                Binding::Maybe(unset) => {
                    let message =
                        "the `return` statements give different numbers or kinds of values";
                    return Err(Diagnostic::new("return-mismatch", message)
                        .label(unset.set_at, "one of them")
                        .label(func.name.span, "in this function"));
                }
            });
        }
        if results.is_empty() && needs_value {
            let message = format!("`{}` returns nothing", func.name.text);
            return Err(Diagnostic::new("missing-return", message)
                .label(func.name.span, "this function")
                .help("return the value to differentiate"));
        }
        Ok(results)
    }

    /// A call of another function of the file, lowered in place.
    pub(super) fn call(
        &mut self,
        name: &Name,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
        needs_value: bool,
    ) -> Lowered<Operand> {
        let Some(func) = self.module.function(&name.text) else {
            return Err(Diagnostic::new(
                "undefined-function",
                format!("there is no function `{}`", name.text),
            )
            .label(name.span, "called here")
            .help("define it in the same file, or import it from math or numpy"));
        };
        if self.calls.contains(&name.text) || self.calls.len() >= MAX_CALLS {
            return Err(Diagnostic::new("recursion", format!("`{}` calls itself", name.text))
                .label(span, "this call")
                .help("write the recursion as a loop; recursive functions are not supported yet"));
        }
        self.expansions += 1;
        if self.b.func().values.len() > MAX_VALUES || self.expansions > MAX_EXPANSIONS {
            return Err(Diagnostic::new("too-large", "the program grows too large")
                .label(span, "when this call is written out")
                .help(
                    "functions are expanded where they are called: call them from a loop instead",
                ));
        }
        let given = arrange(func, args, keywords, span)?;
        let mut operands = Vec::new();
        for e in &given {
            operands.push(e.map(|e| self.expr(e)).transpose()?);
        }
        self.env.enter();
        self.calls.push(name.text.clone());
        for (k, p) in func.params.iter().enumerate() {
            let operand = match (operands[k].take(), &p.default) {
                (Some(operand), _) => operand,
                (None, Some(default)) => self.expr(default)?,
                (None, None) => unreachable!("arranged above"),
            };
            self.bind(&p.name.text, operand, p.name.span)?;
        }
        let mut results = self.body(func, span, needs_value)?;
        self.calls.pop();
        self.env.leave();
        Ok(match results.len() {
            1 => results.remove(0),
            _ => Operand::Tuple(results.into_iter().map(|r| (r, span)).collect()),
        })
    }

    /// Statements in order. What follows a statement that may leave early runs only if it did not.
    pub(super) fn stmts(&mut self, stmts: &[&Stmt]) -> Lowered<()> {
        for (k, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[k + 1..];
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
                // The side that goes on takes the rest with it; no flag is looked at.
                let mut then: Vec<&Stmt> = then.iter().collect();
                let mut otherwise: Vec<&Stmt> = otherwise.iter().collect();
                let (left, right) = (diverges(&then), diverges(&otherwise));
                let clean = |side: &[&Stmt]| !side.iter().any(|s| escapes_of(s).any());
                let moves_rest =
                    (left && clean(&otherwise)) || (right && clean(&then)) || (left && right);
                if moves_rest && !left {
                    then.extend(rest);
                } else if moves_rest && !right {
                    otherwise.extend(rest);
                }
                let c = self.condition(cond)?;
                self.if_statement(c, &then, &otherwise, stmt.span, None)?;
                if moves_rest {
                    return Ok(());
                }
            } else {
                self.stmt(stmt)?;
            }
            if diverges(&[stmt]) {
                return Ok(());
            }
            let escapes = escapes_of(stmt);
            if escapes.any() && !rest.is_empty() {
                let mut left = None;
                let mut flags = 0;
                for (may, flag) in [
                    (escapes.breaks, BROKEN),
                    (escapes.continues, CONTINUED),
                    (escapes.returns, RETURNED),
                ] {
                    if !may {
                        continue;
                    }
                    flags += 1;
                    if let Some((Binding::Scalar(v), _)) = self.env.get(flag) {
                        let v = *v;
                        left = Some(match left {
                            None => v,
                            Some(other) => self.b.prim(Prim::Or, &[other, v]),
                        });
                    }
                }
                let left = left.unwrap_or_else(|| self.b.bool(false));
                let goes_on = self.b.prim(Prim::Not, &[left]);
                let only_return = flags == 1 && escapes.returns;
                let span = rest[0].span.to(rest[rest.len() - 1].span);
                return self.if_statement(
                    goes_on,
                    rest,
                    &[],
                    span,
                    only_return.then_some(RETURNED),
                );
            }
        }
        Ok(())
    }

    fn set_flag(&mut self, flag: &str, span: Span) {
        let yes = self.b.bool(true);
        self.env.bind(flag, Binding::Scalar(yes), span);
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        self.b.at(stmt.span);
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let operand = self.expr(value)?;
                for t in targets {
                    self.assign(t, operand.clone(), value.span)?;
                }
                Ok(())
            }
            StmtKind::AugAssign { target, op, value } => self.update(target, *op, value, stmt.span),
            StmtKind::For { target, iter, body } => match (target, &iter.kind) {
                (Target::Name(var), IterKind::Range { start, stop, step }) => {
                    self.for_loop(var, [start, stop, step], body, stmt.span)
                }
                _ => Err(not_yet(iter.span)),
            },
            StmtKind::Define(func) => Err(not_yet(func.span)),
            StmtKind::While { cond, body } => self.while_loop(cond, body, stmt.span),
            StmtKind::If { .. } => self.stmts(&[stmt]),
            StmtKind::Break => {
                self.set_flag(BROKEN, stmt.span);
                Ok(())
            }
            StmtKind::Continue => {
                self.set_flag(CONTINUED, stmt.span);
                Ok(())
            }
            StmtKind::Return { values } => self.returns(values, stmt.span),
            StmtKind::Assert { cond, message } => {
                let c = self.condition(cond)?;
                self.b.at(stmt.span);
                let message = message.as_deref().unwrap_or("");
                self.b.op(Op::Assert(message.into()), &[c]);
                Ok(())
            }
            StmtKind::Pass => Ok(()),
            StmtKind::Call(e) => match &e.kind {
                ExprKind::Call { callee: Callee::Function(name), args, keywords } => {
                    self.call(name, args, keywords, e.span, false).map(|_| ())
                }
                _ => self.expr(e).map(|_| ()),
            },
        }
    }

    pub(super) fn returns(&mut self, values: &[Expr], span: Span) -> Lowered<()> {
        let mut flat = Vec::new();
        for e in values {
            match self.expr(e)? {
                Operand::Tuple(elements) => flat.extend(elements.into_iter().map(|(o, _)| o)),
                operand => flat.push(operand),
            }
        }
        if let Some(counted) = self.return_counts.last_mut() {
            let (count, first) = *counted.get_or_insert((flat.len(), span));
            if count != flat.len() {
                let message = "the `return` statements give different numbers of values";
                return Err(Diagnostic::new("return-mismatch", message)
                    .label(span, format!("{} here", flat.len()))
                    .label(first, format!("{count} here"))
                    .help("return the same number of values on every path"));
            }
        }
        for (k, operand) in flat.into_iter().enumerate() {
            self.bind(&returned(k), operand, span)?;
        }
        self.set_flag(RETURNED, span);
        Ok(())
    }

    fn bind(&mut self, name: &str, operand: Operand, span: Span) -> Lowered<()> {
        let binding = match operand {
            Operand::Scalar(v) => {
                if !name.contains(' ') {
                    self.b.name(v, &name.into());
                }
                Binding::Scalar(v)
            }
            Operand::Array(s) => Binding::Array(s),
            Operand::Tuple(_) => {
                return Err(Diagnostic::new(
                    "unsupported-syntax",
                    "a tuple cannot be kept in a variable",
                )
                .label(span, "this variable would hold a tuple")
                .help("take it apart: `a, b = ...`"));
            }
        };
        self.env.bind(name, binding, span);
        Ok(())
    }

    fn assign(&mut self, target: &Target, operand: Operand, value_span: Span) -> Lowered<()> {
        match target {
            Target::Name(name) => self.bind(&name.text, operand, name.span),
            Target::Tuple { elements, span } => {
                let Operand::Tuple(values) = operand else {
                    return Err(Diagnostic::new("type", "only a tuple can be taken apart")
                        .label(value_span, "this is not a tuple"));
                };
                if values.len() != elements.len() {
                    let message = format!(
                        "{} values cannot be taken apart into {} names",
                        values.len(),
                        elements.len()
                    );
                    return Err(
                        Diagnostic::new("tuple-length", message).label(*span, "these names")
                    );
                }
                for (t, (v, at)) in elements.iter().zip(values) {
                    self.assign(t, v, at)?;
                }
                Ok(())
            }
            Target::Element { base, indices, span } => {
                let v = match operand {
                    Operand::Scalar(v) => v,
                    Operand::Array(_) => return Err(self.array_arithmetic(value_span)),
                    Operand::Tuple(_) => {
                        return Err(Diagnostic::new("type", "an element must be a number")
                            .label(value_span, "this is a tuple"));
                    }
                };
                let (storage, i) = self.place(base, indices, *span)?;
                let v = self.convert(v, Type::F64, value_span)?;
                self.store(storage, i, v, *span);
                Ok(())
            }
        }
    }

    /// `target op= value`; the target's index is evaluated once.
    fn update(&mut self, target: &Target, op: BinaryOp, value: &Expr, span: Span) -> Lowered<()> {
        match target {
            Target::Name(name) => {
                let (binding, _) = self.env.get(&name.text).cloned().ok_or_else(|| {
                    Diagnostic::new("undefined-variable", format!("`{}` is not defined", name.text))
                        .label(name.span, "updated before it is set")
                        .help(format!("set it first: `{} = 0.0`", name.text))
                })?;
                let old = match binding {
                    Binding::Scalar(v) => v,
                    Binding::Array(_) => return Err(self.array_arithmetic(name.span)),
                    Binding::Maybe(_) => {
                        let e = Expr { kind: ExprKind::Name(name.text.clone()), span: name.span };
                        self.scalar(&e)?
                    }
                };
                let new = self.combine(op, old, value, span)?;
                self.bind(&name.text, Operand::Scalar(new), name.span)
            }
            Target::Element { base, indices, span: at } => {
                let (storage, i) = self.place(base, indices, *at)?;
                let x = self.env.version(storage);
                self.b.at(*at);
                let old = self.b.load(x, i);
                let new = self.combine(op, old, value, span)?;
                self.store(storage, i, new, *at);
                Ok(())
            }
            Target::Tuple { span, .. } => {
                Err(Diagnostic::new("unsupported-syntax", "a tuple cannot be updated in place")
                    .label(*span, "this is a tuple"))
            }
        }
    }

    fn combine(&mut self, op: BinaryOp, old: Value, value: &Expr, span: Span) -> Lowered<Value> {
        if op == BinaryOp::Pow {
            return self.power(old, value, span);
        }
        let right = self.scalar(value)?;
        self.binary(op, old, right, span)
    }

    /// Whether a condition is a constant.
    pub(super) fn constant_condition(&self, v: Value) -> Option<bool> {
        match self.b.func().as_const(v) {
            Some(Scalar::Bool(c)) => Some(c),
            _ => None,
        }
    }

    /// Says what a variable is, for messages.
    pub(super) fn describe(&self, v: Value) -> &'static str {
        described(self.b.ty(v))
    }
}

/// The arguments of a call in the order of the parameters; none where the default is to be taken.
fn arrange<'e>(
    func: &Function,
    args: &'e [Expr],
    keywords: &'e [Keyword],
    span: Span,
) -> Lowered<Vec<Option<&'e Expr>>> {
    let name = &func.name.text;
    let wrong = |message: String| {
        Diagnostic::new("argument-count", message)
            .label(span, "this call")
            .label(func.name.span, "defined here")
    };
    let mut given: Vec<Option<&Expr>> = vec![None; func.params.len()];
    if args.len() > given.len() {
        let s = if given.len() == 1 { "" } else { "s" };
        let message =
            format!("`{name}` takes {} argument{s}, but {} are given", given.len(), args.len());
        return Err(wrong(message));
    }
    for (slot, e) in given.iter_mut().zip(args) {
        *slot = Some(e);
    }
    for k in keywords {
        let Some(at) = func.params.iter().position(|p| p.name.text == k.name.text) else {
            return Err(wrong(format!("`{name}` has no parameter `{}`", k.name.text)));
        };
        if given[at].replace(&k.value).is_some() {
            return Err(wrong(format!("`{}` is given twice", k.name.text)));
        }
    }
    for (p, slot) in func.params.iter().zip(&given) {
        if slot.is_none() && p.default.is_none() {
            return Err(wrong(format!("`{name}` is called without its `{}`", p.name.text)));
        }
    }
    Ok(given)
}
