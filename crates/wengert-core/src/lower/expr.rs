//! Expressions.

use super::call::Callable;
use super::env::{Binding, Unset, UnsetReason, element_name};
use super::operand::{Operand, described};
use super::{Lowered, Lowering, quoted};
use crate::ir::{Type, Value};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::names::nearest;
use crate::surface::tree::{Callee, Expr, ExprKind, LogicalOp};

impl Lowering<'_> {
    /// A truth value.
    pub(super) fn condition(&mut self, e: &Expr) -> Lowered<Value> {
        if let ExprKind::Logical { op, operands } = &e.kind {
            return self.logical(*op, operands, false);
        }
        let operand = self.expr(e)?;
        self.truth(&operand, e.span)
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Lowered<Operand> {
        self.b.at(e.span);
        Ok(match &e.kind {
            ExprKind::Int(x) => Operand::Scalar(self.b.i64(*x)),
            ExprKind::Float(x) => Operand::Scalar(self.b.f64(*x)),
            ExprKind::Bool(x) => Operand::Scalar(self.b.bool(*x)),
            ExprKind::Text(text) => Operand::Text(text.clone()),
            ExprKind::None => Operand::None,
            ExprKind::Name(name) => self.name(name, e.span)?,
            ExprKind::Builtin(name) => self.builtin_value(name, e.span)?,
            ExprKind::Unary { op, operand } => self.unary(*op, operand, e.span)?,
            ExprKind::Binary { first, rest } => {
                let (mut left, mut at) = (self.expr(first)?, first.span);
                for (op, e) in rest {
                    let right = self.expr(e)?;
                    left = self.binary(*op, (&left, at), (&right, e.span))?;
                    at = at.to(e.span);
                }
                left
            }
            ExprKind::Compare { first, rest } => {
                let left = self.expr(first)?;
                self.compare(left, first.span, rest)?
            }
            ExprKind::Logical { op, operands } => {
                Operand::Scalar(self.logical(*op, operands, true)?)
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                self.conditional(cond, then, otherwise, e.span)?
            }
            ExprKind::Call { callee, args, keywords } => match callee {
                Callee::Builtin(name) => self.builtin(&name.text, args, keywords, e.span)?,
                Callee::Function(name) => self.call(name, args, keywords, e.span, true)?,
                Callee::External(external) => self.external(external, args, e.span)?,
                Callee::Method { base, name } => self.method(base, name, args, keywords, e.span)?,
            },
            ExprKind::Index { base, indices } => self.indexed(base, indices, e.span)?,
            ExprKind::Attribute { base, name } => self.attribute(base, name, e.span)?,
            ExprKind::Lambda(func) => {
                Operand::Function(Callable::inner(func, self.env.depth() - 1))
            }
            ExprKind::Tuple(elements) => Operand::Tuple(self.operands(elements)?),
            ExprKind::List(elements) => Operand::List(self.operands(elements)?),
        })
    }

    fn operands(&mut self, elements: &[Expr]) -> Lowered<Vec<(Operand, Span)>> {
        elements.iter().map(|x| Ok((self.expr(x)?, x.span))).collect()
    }

    fn name(&mut self, name: &str, span: Span) -> Lowered<Operand> {
        let found = self.env.get(name).map(|(b, _)| b.clone());
        match found {
            Some(binding) => self.bound(name, &binding, span),
            None => {
                // A name the function assigns anywhere is its own everywhere.
                if let Some(set_at) = self.scopes.last().and_then(|s| s.locals.get(name)) {
                    return Err(Diagnostic::new(
                        "undefined-variable",
                        format!("`{name}` is used before it is set"),
                    )
                    .label(span, "used here")
                    .label(*set_at, "set here")
                    .help(format!("set `{name}` first, on every path to here")));
                }
                if let Some(constant) = self.module.constant(name) {
                    return self.expr(&constant.value);
                }
                if let Some(k) = self.module.functions.iter().position(|f| f.name.text == name) {
                    return Ok(Operand::Function(Callable::Module(k)));
                }
                if self.module.captured.iter().any(|p| p.name.text == name) {
                    let what = format!(
                        "a function that calls itself cannot read `{name}`, which is from outside"
                    );
                    return Err(Diagnostic::new("undefined-variable", what)
                        .label(span, "used here")
                        .help("pass it as an argument"));
                }
                let error =
                    Diagnostic::new("undefined-variable", format!("`{name}` is not defined"))
                        .label(span, "used here");
                let known = self.env.known_names();
                let near = nearest(name, known.iter().copied());
                Err(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("defined here are {}", quoted(&known))),
                })
            }
        }
    }

    /// What a name stands for, as an operand.
    pub(super) fn bound(&mut self, name: &str, binding: &Binding, span: Span) -> Lowered<Operand> {
        Ok(match binding {
            Binding::Scalar(v) => Operand::Scalar(*v),
            Binding::Array(view) => Operand::Array(view.clone()),
            Binding::Function(callable) => Operand::Function(callable.clone()),
            Binding::Tuple(n) => {
                let mut elements = Vec::new();
                for k in 0..*n {
                    elements.push((self.name(&element_name(name, k), span)?, span));
                }
                Operand::Tuple(elements)
            }
            Binding::Maybe(unset) => return Err(maybe_unset(name, unset, span)),
        })
    }

    /// `and`, `or`: later operands are evaluated only where they matter, if evaluating them can fail. As a
    /// value, `a and b` is one of its operands; only for truth values is that a truth value.
    fn logical(&mut self, op: LogicalOp, operands: &[Expr], value: bool) -> Lowered<Value> {
        let Some((first, rest)) = operands.split_first() else { return Ok(self.b.bool(true)) };
        let mut left = self.decided(op, first, value)?;
        for e in rest {
            left = if can_fail(e) {
                let and = op == LogicalOp::And;
                self.branch_value(
                    left,
                    e.span,
                    |l| if and { l.decided(op, e, value) } else { Ok(l.b.bool(true)) },
                    |l| if and { Ok(l.b.bool(false)) } else { l.decided(op, e, value) },
                )?
            } else {
                let right = self.decided(op, e, value)?;
                let prim = if op == LogicalOp::And { Prim::And } else { Prim::Or };
                self.b.prim(prim, &[left, right])
            };
        }
        Ok(left)
    }

    /// An operand of `and` or `or`.
    fn decided(&mut self, op: LogicalOp, e: &Expr, value: bool) -> Lowered<Value> {
        if let ExprKind::Logical { op, operands } = &e.kind {
            return self.logical(*op, operands, value);
        }
        let operand = self.expr(e)?;
        if let (true, Operand::Scalar(v)) = (value, &operand)
            && self.b.ty(*v) != Type::Bool
        {
            let word = if op == LogicalOp::And { "and" } else { "or" };
            let message = format!("the value of `{word}` between numbers is not supported");
            return Err(Diagnostic::new("type", message)
                .label(e.span, format!("this is {}", described(self.b.ty(*v))))
                .help("compare first (`x != 0`), or write `a if c else b`"));
        }
        self.truth(&operand, e.span)
    }
}

/// Whether evaluating an expression can fail, so that it must not be evaluated where Python would not.
pub(super) fn can_fail(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => false,
        ExprKind::Name(_) | ExprKind::Builtin(_) => false,
        ExprKind::Unary { operand, .. } => can_fail(operand),
        ExprKind::Compare { first, rest } => {
            can_fail(first) || rest.iter().any(|(_, r)| can_fail(r))
        }
        ExprKind::Logical { operands, .. } => operands.iter().any(can_fail),
        // Integer arithmetic overflows, elements are out of range, calls do anything.
        _ => true,
    }
}

pub(super) fn maybe_unset(name: &str, unset: &Unset, span: Span) -> Diagnostic {
    // The hidden variables of a tuple are its elements.
    let (name, element) = match name.split_once(' ') {
        Some((tuple, _)) => (tuple, true),
        None => (name, false),
    };
    let (code, message, by, help) = match &unset.reason {
        UnsetReason::Branch => (
            "maybe-undefined",
            format!("`{name}` is not set on every path to here"),
            "it stays unset on the other path".into(),
            format!("set `{name}` on both paths, or before the `if`"),
        ),
        UnsetReason::Loop => (
            "maybe-undefined",
            format!("`{name}` is set only inside a loop, which may run no iteration"),
            "this loop may not run".into(),
            format!("set `{name}` before the loop"),
        ),
        UnsetReason::Break => (
            "maybe-undefined",
            format!("`{name}` is not set at every `break` that leads here"),
            "this loop can be left before it is set".into(),
            format!("set `{name}` before the loop, or before each `break`"),
        ),
        UnsetReason::Kind => (
            "kind-change",
            format!("`{name}` is not the same kind of value on every path to here"),
            "the paths join here".into(),
            "give it a number, or an array of one rank, on every path; or use two names".into(),
        ),
        UnsetReason::Own => (
            "parallel",
            format!("`{name}` is read where no iteration of the parallel loop has set it"),
            "every iteration has its own".into(),
            format!(
                "set `{name}` in the iteration before it is read; a number can be summed up with `+=` and nothing else; keep other things that are needed after the loop in an array, one element for each iteration"
            ),
        ),
        UnsetReason::Sum => (
            "parallel",
            format!("`{name}` is read inside the parallel loop that sums it up"),
            "its iterations run in any order, so there is no sum before the last".into(),
            format!(
                "do nothing with `{name}` in the loop but `+=` and `-=`, or leave out `parallel`"
            ),
        ),
        UnsetReason::Stale(other) => (
            "ambiguous-alias",
            format!(
                "`{name}` and `{other}` may be the same array, and `{other}` has been written since"
            ),
            format!("`{other}` is written here"),
            match element {
                true => format!("put a copy into `{name}`: `np.copy(...)`"),
                false => {
                    format!("make one of them a copy: `{name} = np.copy({name})` before the write")
                }
            },
        ),
    };
    Diagnostic::new(code, message)
        .label(span, "used here")
        .label(unset.set_at, "set here")
        .label(unset.by, by)
        .help(help)
}
