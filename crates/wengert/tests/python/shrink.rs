//! Making a program that fails smaller: statements go while it still fails in the same way.

use crate::compare::{Verdict, verdict};
use crate::cpython;
use crate::generate::Program;
use std::sync::Arc;
use wengert_core::surface::tree::{Block, Expr, ExprKind, Module, Stmt, StmtKind};
use wengert_core::surface::{print, python};

/// Rounds of trying everything that could go.
const ROUNDS: usize = 120;

/// Most programs tried in a round.
const TRIED: usize = 400;

/// The smallest program found that fails in the same way, and what it says.
pub(crate) fn shrink(program: &Program, what: &'static str, seed: u64) -> (Program, String) {
    let mut best = program.clone();
    let mut message = String::new();
    for _ in 0..ROUNDS {
        let Ok(tree) = python::parse(&best.text) else { break };
        let mut all: Vec<Program> = smaller(&tree)
            .into_iter()
            .map(|m| Program { text: print::module(&m), args: best.args.clone() })
            .filter(|p| p.text.len() < best.text.len())
            .collect();
        // What takes away most first.
        all.sort_by_key(|p| p.text.len());
        all.truncate(TRIED);
        let outcomes = cpython::run(&all);
        let fails = |(p, o): &(Program, cpython::Outcome)| match verdict(p, o, seed) {
            Verdict::Wrong(w, text) if w == what && !nonsense(o) => Some((p.clone(), text)),
            _ => None,
        };
        let found = all.into_iter().zip(outcomes).find_map(|pair| fails(&pair));
        let Some((smaller, text)) = found else { break };
        best = smaller;
        message = text;
    }
    (best, message)
}

/// An exception that comes from taking away too much.
fn nonsense(outcome: &cpython::Outcome) -> bool {
    matches!(outcome, cpython::Outcome::Exception { name, .. }
        if ["NameError", "UnboundLocalError", "TypeError", "KeyError", "TimeoutError", "AttributeError"]
            .contains(&name.as_str()))
}

/// Programs with a function, a statement, a branch or an operand less.
fn smaller(tree: &Module) -> Vec<Module> {
    let mut all = Vec::new();
    for k in 0..tree.functions.len().saturating_sub(1) {
        let mut module = tree.clone();
        module.functions.remove(k);
        all.push(module);
    }
    for k in 0..tree.constants.len() {
        let mut module = tree.clone();
        module.constants.remove(k);
        all.push(module);
    }
    for edit in [Edit::Remove, Edit::Open, Edit::Operand(0), Edit::Operand(1), Edit::Operand(2)] {
        for at in 0.. {
            let mut module = tree.clone();
            let mut left = at;
            let mut done = false;
            for f in &mut module.functions {
                done = done || in_block(&mut f.body, edit, &mut left);
            }
            if !done {
                break;
            }
            all.push(module);
        }
    }
    all
}

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    /// A statement goes.
    Remove,
    /// A statement becomes the statements inside it.
    Open,
    /// An expression becomes one of its operands.
    Operand(usize),
}

/// Applies an edit at the `left`th place it fits; whether there was one.
fn in_block(block: &mut Block, edit: Edit, left: &mut usize) -> bool {
    for k in 0..block.len() {
        let inner = match (&edit, &block[k].kind) {
            (Edit::Remove, _) => Some(Vec::new()),
            (Edit::Open, StmtKind::If { then, otherwise, .. }) => {
                Some(then.iter().chain(otherwise).cloned().collect::<Vec<Stmt>>())
            }
            (Edit::Open, StmtKind::While { body, .. } | StmtKind::For { body, .. }) => {
                Some(body.clone())
            }
            _ => None,
        };
        if let Some(inner) = inner {
            if *left == 0 {
                block.splice(k..=k, inner);
                return true;
            }
            *left -= 1;
        }
        let stmt = &mut block[k];
        let done = match &mut stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                in_expr(cond, edit, left)
                    || in_block(then, edit, left)
                    || in_block(otherwise, edit, left)
            }
            StmtKind::While { cond, body } => {
                in_expr(cond, edit, left) || in_block(body, edit, left)
            }
            StmtKind::For { body, .. } => in_block(body, edit, left),
            StmtKind::Define(f) => in_block(&mut Arc::make_mut(f).body, edit, left),
            StmtKind::Assign { value, .. } | StmtKind::AugAssign { value, .. } => {
                in_expr(value, edit, left)
            }
            StmtKind::Return { values } => {
                // A function returns fewer values only where every return does.
                values.iter_mut().any(|e| in_expr(e, edit, left))
            }
            StmtKind::Assert { cond, .. } => in_expr(cond, edit, left),
            _ => false,
        };
        if done {
            return true;
        }
    }
    false
}

fn in_expr(e: &mut Expr, edit: Edit, left: &mut usize) -> bool {
    let Edit::Operand(which) = edit else { return false };
    let operands = operands(e);
    if let Some(operand) = operands.get(which) {
        if *left == 0 {
            *e = (*operand).clone();
            return true;
        }
        *left -= 1;
    }
    match &mut e.kind {
        ExprKind::Unary { operand, .. } => in_expr(operand, edit, left),
        ExprKind::Binary { first, rest } => {
            in_expr(first, edit, left) || rest.iter_mut().any(|(_, e)| in_expr(e, edit, left))
        }
        ExprKind::Compare { first, rest } => {
            in_expr(first, edit, left) || rest.iter_mut().any(|(_, e)| in_expr(e, edit, left))
        }
        ExprKind::Logical { operands, .. }
        | ExprKind::List(operands)
        | ExprKind::Tuple(operands) => operands.iter_mut().any(|e| in_expr(e, edit, left)),
        ExprKind::Conditional { cond, then, otherwise } => {
            in_expr(cond, edit, left) || in_expr(then, edit, left) || in_expr(otherwise, edit, left)
        }
        ExprKind::Call { args, .. } => args.iter_mut().any(|e| in_expr(e, edit, left)),
        ExprKind::Index { base, .. } => in_expr(base, edit, left),
        ExprKind::Lambda(f) => in_block(&mut Arc::make_mut(f).body, edit, left),
        _ => false,
    }
}

fn operands(e: &Expr) -> Vec<Expr> {
    match &e.kind {
        ExprKind::Unary { operand, .. } => vec![(**operand).clone()],
        ExprKind::Binary { first, rest } => {
            let mut all = vec![(**first).clone()];
            all.extend(rest.iter().map(|(_, e)| e.clone()));
            if rest.len() > 1 {
                // All but the last.
                let rest = rest[..rest.len() - 1].to_vec();
                let kind = ExprKind::Binary { first: first.clone(), rest };
                all.insert(0, Expr { kind, span: e.span });
            }
            all
        }
        ExprKind::Logical { operands, .. } => operands.clone(),
        ExprKind::Conditional { then, otherwise, .. } => {
            vec![(**then).clone(), (**otherwise).clone()]
        }
        ExprKind::Call { args, .. } => args.clone(),
        ExprKind::Index { base, .. } => vec![(**base).clone()],
        ExprKind::Tuple(items) | ExprKind::List(items) => items.clone(),
        _ => Vec::new(),
    }
}
