//! What statements assign and how they can leave early: read off the tree.

use crate::span::Span;
use crate::surface::tree::{Stmt, StmtKind, Target};
use std::collections::BTreeMap;

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
        _ => {}
    }
}

fn target(t: &Target, names: &mut BTreeMap<String, Span>) {
    match t {
        Target::Name(name) => {
            names.entry(name.text.clone()).or_insert(name.span);
        }
        Target::Tuple { elements, .. } => elements.iter().for_each(|e| target(e, names)),
        Target::Element { .. } => {}
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

pub(super) fn escapes(stmts: &[Stmt]) -> Escapes {
    stmts.iter().map(escapes_of).fold(Escapes::default(), Escapes::or)
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
