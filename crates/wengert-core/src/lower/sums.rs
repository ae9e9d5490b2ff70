//! Sums over the iterations of a parallel loop, as they are written.
//!
//! A name is a sum if nothing is done to it but `s += x` and `s -= x`, or the same at more length: `s = s + x - y` and
//! `s = x + s`. A loop inside may add to it as well, be it parallel or not. [`spelled_out`] gives the body back
//! with nothing but the short forms.

use super::names::{children, target as names_in};
use crate::span::Span;
use crate::surface::tree::{BinaryOp, Expr, ExprKind, Name, Stmt, StmtKind, Target};
use std::collections::BTreeMap;

/// Whether statements do nothing to a number but add to it and subtract from it.
pub(super) fn only_added(stmts: &[Stmt], name: &str) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::AugAssign { target, op, .. } if sets(target, name) => is_added(*op),
        StmtKind::Assign { targets, value } if targets.iter().any(|t| sets(t, name)) => {
            added(targets, value).is_some_and(|(to, _)| to.text == name)
        }
        StmtKind::For { target, body, .. } => !sets(target, name) && only_added(body, name),
        StmtKind::While { body, .. } => only_added(body, name),
        StmtKind::If { then, otherwise, .. } => {
            only_added(then, name) && only_added(otherwise, name)
        }
        StmtKind::Define(func) => func.name.text != name,
        _ => true,
    })
}

/// The statements with sums in their short forms, and by the names that are given for them.
pub(super) fn spelled_out(stmts: &[Stmt], sums: &BTreeMap<String, String>) -> Vec<Stmt> {
    let block = |stmts: &[Stmt]| spelled_out(stmts, sums);
    let short = |to: &Name, (op, value): (BinaryOp, Expr), span: Span| {
        let target = Target::Name(Name { text: sums[&to.text].clone(), span: to.span });
        Stmt { kind: StmtKind::AugAssign { target, op, value }, span }
    };
    let one = |stmt: &Stmt| {
        let kind = match &stmt.kind {
            StmtKind::AugAssign { target: Target::Name(to), op, value }
                if sums.contains_key(&to.text) =>
            {
                return vec![short(to, (*op, value.clone()), stmt.span)];
            }
            StmtKind::Assign { targets, value } => match added(targets, value) {
                Some((to, parts)) if sums.contains_key(&to.text) => {
                    return parts.into_iter().map(|part| short(to, part, stmt.span)).collect();
                }
                _ => stmt.kind.clone(),
            },
            StmtKind::For { target, iter, body } => {
                StmtKind::For { target: target.clone(), iter: iter.clone(), body: block(body) }
            }
            StmtKind::While { cond, body } => {
                StmtKind::While { cond: cond.clone(), body: block(body) }
            }
            StmtKind::If { cond, then, otherwise } => {
                StmtKind::If { cond: cond.clone(), then: block(then), otherwise: block(otherwise) }
            }
            other => other.clone(),
        };
        vec![Stmt { kind, span: stmt.span }]
    };
    stmts.iter().flat_map(one).collect()
}

/// What an assignment adds to which variable: `s = s + x - y`, `s = x + s`.
fn added<'s>(targets: &'s [Target], value: &Expr) -> Option<(&'s Name, Vec<(BinaryOp, Expr)>)> {
    let ([Target::Name(to)], ExprKind::Binary { first, rest }) = (targets, &value.kind) else {
        return None;
    };
    let is_it = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if *n == to.text);
    let parts = match &rest[..] {
        parts if is_it(first) => parts.to_vec(),
        [(BinaryOp::Add, last)] if is_it(last) => vec![(BinaryOp::Add, (**first).clone())],
        [before @ .., (BinaryOp::Add, last)] if is_it(last) => {
            let kind = ExprKind::Binary { first: first.clone(), rest: before.to_vec() };
            vec![(BinaryOp::Add, Expr { kind, span: value.span })]
        }
        _ => return None,
    };
    let plain = parts.iter().all(|(op, e)| is_added(*op) && !mentions(e, &to.text));
    plain.then_some((to, parts))
}

fn is_added(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub)
}

fn sets(target: &Target, name: &str) -> bool {
    let mut names = BTreeMap::new();
    names_in(target, &mut names);
    names.contains_key(name)
}

fn mentions(e: &Expr, name: &str) -> bool {
    let mut found = matches!(&e.kind, ExprKind::Name(n) if n == name);
    children(e, &mut |c| found |= mentions(c, name));
    found
}
