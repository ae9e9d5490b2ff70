//! What statements assign and how they can leave early: read off the tree.

use crate::span::Span;
use crate::surface::tree::{Callee, Expr, ExprKind, Index, Iter, IterKind, Stmt, StmtKind, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Names assigned by statements (nested ones included) and where each is first assigned.
pub(super) fn assigned(stmts: &[Stmt]) -> BTreeMap<String, Span> {
    let mut names = BTreeMap::new();
    stmts.iter().for_each(|s| collect(s, &mut names));
    names
}

fn collect(stmt: &Stmt, names: &mut BTreeMap<String, Span>) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target(t, names)),
        StmtKind::AugAssign { target: t, .. } => target(t, names),
        StmtKind::For { target: t, body, .. } => {
            target(t, names);
            body.iter().for_each(|s| collect(s, names));
        }
        StmtKind::While { body, .. } => body.iter().for_each(|s| collect(s, names)),
        StmtKind::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).for_each(|s| collect(s, names));
        }
        StmtKind::Define(func) => {
            names.entry(func.name.text.clone()).or_insert(func.name.span);
        }
        _ => {}
    }
}

/// The names a target binds.
pub(super) fn target(t: &Target, names: &mut BTreeMap<String, Span>) {
    match t {
        Target::Name(name) => {
            names.entry(name.text.clone()).or_insert(name.span);
        }
        Target::Tuple { elements, .. } => elements.iter().for_each(|e| target(e, names)),
        Target::Element { .. } => {}
    }
}

/// Names whose arrays statements are likely to write: a first guess, which need not hold.
pub(super) fn likely_written(stmts: &[&Stmt]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    stmts.iter().for_each(|s| written(s, &mut names));
    names
}

fn written(stmt: &Stmt, names: &mut BTreeSet<String>) {
    let mut base_of = |t: &Target| {
        if let Target::Element { base, .. } = t {
            names.extend(root(base).map(str::to_owned));
        }
    };
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(&mut base_of),
        StmtKind::AugAssign { target: Target::Name(n), .. } => {
            names.insert(n.text.clone());
        }
        StmtKind::AugAssign { target, .. } => base_of(target),
        StmtKind::For { target, .. } => base_of(target),
        _ => {}
    }
    // A called function may write what it is given.
    exprs_of(stmt, &mut |e| arguments(e, names));
    blocks_of(stmt).into_iter().flatten().for_each(|s| written(s, names));
}

fn root(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Name(n) => Some(n),
        ExprKind::Index { base, .. } | ExprKind::Attribute { base, .. } => root(base),
        _ => None,
    }
}

fn arguments(e: &Expr, names: &mut BTreeSet<String>) {
    if let ExprKind::Call { callee, args, keywords } = &e.kind {
        let given = args.iter().chain(keywords.iter().map(|k| &k.value));
        match callee {
            Callee::Function(_) | Callee::External(_) => {
                names.extend(given.filter_map(root).map(str::to_owned))
            }
            Callee::Method { base, .. } => names.extend(root(base).map(str::to_owned)),
            Callee::Builtin(_) => {}
        }
    }
    children(e, &mut |c| arguments(c, names));
}

/// The blocks of a statement.
fn blocks_of(stmt: &Stmt) -> [&[Stmt]; 2] {
    match &stmt.kind {
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => [body, &[]],
        StmtKind::If { then, otherwise, .. } => [then, otherwise],
        _ => [&[], &[]],
    }
}

/// The expressions that stand in a statement itself.
pub(super) fn exprs_of(stmt: &Stmt, f: &mut impl FnMut(&Expr)) {
    let in_target = |t: &Target, f: &mut dyn FnMut(&Expr)| target_exprs(t, f);
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            targets.iter().for_each(|t| in_target(t, f));
            f(value);
        }
        StmtKind::AugAssign { target, value, .. } => {
            in_target(target, f);
            f(value);
        }
        StmtKind::For { target, iter, .. } => {
            in_target(target, f);
            iter_exprs(iter, f);
        }
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => f(cond),
        StmtKind::Assert { cond, .. } => f(cond),
        StmtKind::Return { values } => values.iter().for_each(f),
        StmtKind::Call(e) => f(e),
        StmtKind::Break | StmtKind::Continue | StmtKind::Pass | StmtKind::Define(_) => {}
    }
}

fn target_exprs(t: &Target, f: &mut dyn FnMut(&Expr)) {
    match t {
        Target::Name(_) => {}
        Target::Tuple { elements, .. } => elements.iter().for_each(|e| target_exprs(e, f)),
        Target::Element { base, indices, .. } => {
            f(base);
            indices.iter().flat_map(Index::exprs).for_each(f);
        }
    }
}

/// The expressions a loop goes over.
pub(super) fn iter_exprs(iter: &Iter, f: &mut dyn FnMut(&Expr)) {
    match &iter.kind {
        IterKind::Range { start, stop, step } => [start, stop, step].into_iter().for_each(f),
        IterKind::Items(e) => f(e),
        IterKind::Enumerate { of, start } => {
            iter_exprs(of, f);
            start.iter().for_each(f);
        }
        IterKind::Zip(all) => all.iter().for_each(|i| iter_exprs(i, f)),
        IterKind::Reversed(of) | IterKind::Parallel(of) => iter_exprs(of, f),
    }
}

/// The expressions directly inside an expression.
pub(super) fn children(e: &Expr, f: &mut impl FnMut(&Expr)) {
    match &e.kind {
        ExprKind::Unary { operand, .. } => f(operand),
        ExprKind::Binary { first, rest } => {
            f(first);
            rest.iter().for_each(|(_, r)| f(r));
        }
        ExprKind::Compare { first, rest } => {
            f(first);
            rest.iter().for_each(|(_, r)| f(r));
        }
        ExprKind::Logical { operands, .. } => operands.iter().for_each(f),
        ExprKind::Conditional { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|c| f(c));
        }
        ExprKind::Call { callee, args, keywords } => {
            if let Callee::Method { base, .. } = callee {
                f(base);
            }
            args.iter().for_each(&mut *f);
            keywords.iter().for_each(|k| f(&k.value));
        }
        ExprKind::Index { base, indices } => {
            f(base);
            indices.iter().flat_map(Index::exprs).for_each(f);
        }
        ExprKind::Attribute { base, .. } => f(base),
        ExprKind::Tuple(elements) | ExprKind::List(elements) => elements.iter().for_each(f),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_)
        | ExprKind::Builtin(_)
        | ExprKind::Lambda(_)
        | ExprKind::Text(_)
        | ExprKind::None => {}
    }
}

/// The ways a statement can be left other than by its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// By `break` of the loop around it.
    pub(super) breaks: bool,
    /// By `continue` of the loop around it.
    pub(super) continues: bool,
    /// By `return`.
    pub(super) returns: bool,
}

impl Escapes {
    pub(super) fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    fn or(self, other: Escapes) -> Escapes {
        Escapes {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }
}

pub(super) fn escapes<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> Escapes {
    stmts.into_iter().map(escapes_of).fold(Escapes::default(), Escapes::or)
}

pub(super) fn escapes_of(stmt: &Stmt) -> Escapes {
    match &stmt.kind {
        StmtKind::Break => Escapes { breaks: true, ..Escapes::default() },
        StmtKind::Continue => Escapes { continues: true, ..Escapes::default() },
        StmtKind::Return { .. } => Escapes { returns: true, ..Escapes::default() },
        StmtKind::If { then, otherwise, .. } => escapes(then).or(escapes(otherwise)),
        // A loop keeps its own breaks; a return goes through it.
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
            Escapes { returns: escapes(body).returns, ..Escapes::default() }
        }
        _ => Escapes::default(),
    }
}

/// Names that are set wherever a loop with this body is left by `break`.
pub(super) fn set_at_breaks(body: &[Stmt]) -> BTreeSet<String> {
    let mut at_breaks = None;
    set_by(body, BTreeSet::new(), &mut at_breaks);
    at_breaks.unwrap_or_default()
}

/// The names that are set after statements, given those before; nothing where their end is not reached.
fn set_by(
    stmts: &[Stmt],
    mut set: BTreeSet<String>,
    at_breaks: &mut Option<BTreeSet<String>>,
) -> Option<BTreeSet<String>> {
    let common = |a: Option<BTreeSet<String>>, b: Option<BTreeSet<String>>| match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).cloned().collect()),
        (a, b) => a.or(b),
    };
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => {
                let mut names = BTreeMap::new();
                targets.iter().for_each(|t| target(t, &mut names));
                set.extend(names.into_keys());
            }
            StmtKind::If { then, otherwise, .. } => {
                let then = set_by(then, set.clone(), at_breaks);
                let otherwise = set_by(otherwise, set, at_breaks);
                set = common(then, otherwise)?;
            }
            StmtKind::While { cond, body } if always(cond) => set.extend(set_at_breaks(body)),
            StmtKind::Break => {
                *at_breaks = common(at_breaks.take(), Some(set));
                return None;
            }
            StmtKind::Continue | StmtKind::Return { .. } => return None,
            _ => {}
        }
    }
    Some(set)
}

/// Whether a condition is written as one that always holds.
pub(super) fn always(cond: &Expr) -> bool {
    matches!(cond.kind, ExprKind::Bool(true) | ExprKind::Int(1))
}

/// Whether statements always leave the block around them early.
pub(super) fn diverges<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> bool {
    stmts.into_iter().any(|s| match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return { .. } => true,
        StmtKind::If { then, otherwise, .. } => diverges(then) && diverges(otherwise),
        _ => false,
    })
}
