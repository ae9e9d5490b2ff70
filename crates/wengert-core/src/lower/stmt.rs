//! Statements.

use super::arith::list_arithmetic;
use super::call::Callable;
use super::env::{Binding, UnsetReason};
use super::expr::maybe_unset;
use super::names::{diverges, escapes_of};
use super::operand::{Operand, described_operand};
use super::place::Place;
use super::{Lowered, Lowering};
use crate::ir::Op;
use crate::ir::Value;
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Callee, Expr, ExprKind, Stmt, StmtKind, Target};

/// Hidden variables. No program can name them: they hold a space.
pub(super) const RETURNED: &str = "the function has returned";
pub(super) const BROKEN: &str = "the loop is left";
pub(super) const CONTINUED: &str = "the iteration is over";

/// The hidden variable of a returned value.
pub(super) fn returned(k: usize) -> String {
    format!("{RETURNED_VALUE}{k}")
}

const RETURNED_VALUE: &str = "returned value ";

/// The hidden variable that holds a variable where a loop is left by `break`. Each loop has its own.
pub(super) fn left_with(name: &str, span: Span) -> String {
    format!("{LEFT_WITH}{name} at {}", span.start)
}

const LEFT_WITH: &str = "left with ";

/// Whether a loop sets a variable for the code after it.
pub(super) fn is_for_after(name: &str) -> bool {
    name.starts_with(RETURNED_VALUE) || name.starts_with(LEFT_WITH)
}

impl Lowering<'_> {
    /// Statements in order. What follows a statement that may leave early runs only if it did not.
    pub(super) fn stmts(&mut self, stmts: &[&Stmt]) -> Lowered<()> {
        for (k, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[k + 1..];
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
                // The side that goes on takes the rest with it; no flag is looked at.
                let (left, right) = (diverges(then), diverges(otherwise));
                let clean = |side: &[Stmt]| !side.iter().any(|s| escapes_of(s).any());
                let moves_rest =
                    (left && clean(otherwise)) || (right && clean(then)) || (left && right);
                let mut then: Vec<&Stmt> = then.iter().collect();
                let mut otherwise: Vec<&Stmt> = otherwise.iter().collect();
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
            if diverges([*stmt]) {
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
                    if let Some((Binding::Scalar(v), _)) = self.env.own(flag) {
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

    /// Where a loop is left by `break`: the variables that are set there are looked at after it.
    pub(super) fn keep_for_after(&mut self) {
        for (name, hidden) in self.kept.clone() {
            if let Some((binding @ (Binding::Scalar(_) | Binding::Array(_)), at)) =
                self.env.own(&name).cloned()
            {
                self.env.bind(&hidden, binding, at);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        self.b.at(stmt.span);
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let mut operand = self.expr(value)?;
                if targets.len() > 1
                    && let Operand::Fresh(fresh) = &operand
                {
                    // Several names for one array.
                    operand = Operand::Array(self.stored(&fresh.clone()));
                }
                for t in targets {
                    self.assign(t, operand.clone(), value.span)?;
                }
                Ok(())
            }
            StmtKind::AugAssign { target, op, value } => self.update(target, *op, value, stmt.span),
            StmtKind::For { target, iter, body } => self.for_loop(target, iter, body, stmt.span),
            StmtKind::While { cond, body } => self.while_loop(cond, body, stmt.span),
            StmtKind::If { .. } => self.stmts(&[stmt]),
            StmtKind::Break => {
                self.keep_for_after();
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
            StmtKind::Define(func) => {
                let callable = Callable::inner(func, self.env.depth() - 1);
                self.env.bind(&func.name.text, Binding::Function(callable), func.name.span);
                Ok(())
            }
            StmtKind::Call(e) => match &e.kind {
                ExprKind::Call { callee: Callee::Function(name), args, keywords } => {
                    self.call(name, args, keywords, e.span, false).map(|_| ())
                }
                _ => self.expr(e).map(|_| ()),
            },
        }
    }

    fn returns(&mut self, values: &[Expr], span: Span) -> Lowered<()> {
        let mut flat = Vec::new();
        for e in values {
            match self.expr(e)? {
                Operand::Tuple(elements) => flat.extend(elements.into_iter().map(|(o, _)| o)),
                operand => flat.push(operand),
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            let (count, first) = *scope.returns.get_or_insert((flat.len(), span));
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

    pub(super) fn assign(
        &mut self,
        target: &Target,
        operand: Operand,
        value_span: Span,
    ) -> Lowered<()> {
        match target {
            Target::Name(name) => self.bind(&name.text, operand, name.span),
            Target::Tuple { elements, span } => {
                let values = match operand {
                    Operand::Tuple(values) | Operand::List(values) => values,
                    Operand::Array(_) | Operand::Fresh(_) => {
                        return self.take_apart(elements, operand, value_span);
                    }
                    other => {
                        return Err(Diagnostic::new(
                            "type",
                            "only a tuple or an array can be taken apart",
                        )
                        .label(value_span, format!("this is {}", described_operand(&other))));
                    }
                };
                if values.len() != elements.len() {
                    let message = format!(
                        "{} values cannot be taken apart into {} names",
                        values.len(),
                        elements.len()
                    );
                    return Err(Diagnostic::new("tuple-length", message)
                        .label(*span, "these names")
                        .label(value_span, "these values")
                        .help("give each value a name"));
                }
                for (t, (v, at)) in elements.iter().zip(values) {
                    self.assign(t, v, at)?;
                }
                Ok(())
            }
            Target::Element { base, indices, span } => {
                let place = self.place(base, indices, *span)?;
                self.write_place(place, &operand, value_span, *span)
            }
        }
    }

    /// `a, b = x`: an array with as many items as there are targets.
    fn take_apart(&mut self, targets: &[Target], operand: Operand, at: Span) -> Lowered<()> {
        let view = self.as_view(operand, at)?;
        let n = self.dims_of(&view)[0];
        self.b.at(at);
        let wanted = self.b.i64(targets.len() as i64);
        let fits = self.b.prim(Prim::IEq, &[n, wanted]);
        let message = format!("the array does not have {} items", targets.len());
        self.b.op(Op::Assert(message.into()), &[fits]);
        let mut items = Vec::new();
        for k in 0..targets.len() {
            let k = self.b.i64(k as i64);
            items.push(self.item_of(&view, k, at));
        }
        for (t, item) in targets.iter().zip(items) {
            self.assign(t, item, at)?;
        }
        Ok(())
    }

    /// `target op= value`; the target's index is evaluated once. An array is updated in place.
    fn update(&mut self, target: &Target, op: BinaryOp, value: &Expr, span: Span) -> Lowered<()> {
        match target {
            Target::Name(name) => {
                let found = self.env.own(&name.text).map(|(b, _)| b.clone());
                let binding = found.ok_or_else(|| {
                    Diagnostic::new("undefined-variable", format!("`{}` is not defined", name.text))
                        .label(name.span, "updated before it is set")
                        .help(format!("set it first: `{} = 0.0`", name.text))
                })?;
                if let Binding::Maybe(unset) = &binding {
                    if matches!(unset.reason, UnsetReason::Sum) {
                        let right = self.expr(value)?;
                        let value = (&right, value.span);
                        if self.add_to_part(&name.text, op, value, name.span)? {
                            return Ok(());
                        }
                    }
                    return Err(maybe_unset(&name.text, unset, name.span));
                }
                let old = self.bound(&name.text, &binding, name.span)?;
                if self.is_list(&old) {
                    return Err(list_arithmetic(name.span));
                }
                let right = self.expr(value)?;
                let new = self.binary(op, (&old, name.span), (&right, value.span))?;
                match old {
                    Operand::Array(view) => {
                        let v = self.value(&new, span)?;
                        self.replace(&view, v, value.span, span)
                    }
                    _ => self.bind(&name.text, new, name.span),
                }
            }
            Target::Element { base, indices, span: at } => {
                let place = self.place(base, indices, *at)?;
                let old = match &place {
                    Place::Element(view, index) => {
                        let x = self.env.version(view.storage);
                        self.b.at(*at);
                        Operand::Scalar(self.b.element(x, index))
                    }
                    Place::Part(view) | Place::Inner(view) | Place::Masked(view, _) => {
                        Operand::Array(view.clone())
                    }
                    Place::Rows(..) | Place::Along(..) | Place::Picked(..) => {
                        return Err(Diagnostic::new(
                            "unsupported-array",
                            "updating elements picked by an array of indices is not supported",
                        )
                        .label(*at, "picked by an array")
                        .help("write a loop over the indices: `for k in range(len(idx)): x[idx[k]] += v[k]`"));
                    }
                    Place::Item(_) => {
                        return Err(Diagnostic::new(
                            "type",
                            "an element of a tuple cannot be updated",
                        )
                        .label(*at, "a tuple, or a list of arrays")
                        .help("give each element a name of its own"));
                    }
                };
                if self.is_list(&old) {
                    return Err(list_arithmetic(*at));
                }
                let right = self.expr(value)?;
                let new = self.binary(op, (&old, *at), (&right, value.span))?;
                if let Place::Masked(view, mask) = &place {
                    // Only where the mask holds.
                    let (new, old) = (self.value(&new, span)?, self.read(view, *at));
                    let new = self.convert(new, self.elem(old), span)?;
                    self.b.at(span);
                    let chosen = self.b.select(*mask, new, old);
                    return self.put(view, chosen, value.span, *at);
                }
                self.write_place(place, &new, value.span, *at)
            }
            Target::Tuple { span, .. } => {
                Err(Diagnostic::new("unsupported-syntax", "a tuple cannot be updated in place")
                    .label(*span, "this is a tuple")
                    .help("update each of its elements"))
            }
        }
    }

    /// Whether a condition is a constant.
    pub(super) fn constant_condition(&self, v: Value) -> Option<bool> {
        match self.b.func().as_const(v) {
            Some(Scalar::Bool(c)) => Some(c),
            _ => None,
        }
    }
}
