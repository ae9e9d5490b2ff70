//! Shapes and indices that do not fit, told in the words of the source.
//!
//! A fault knows the shapes and the place; the tree knows what stands there. Together they say which operand has
//! which shape: "`W` is 64x32, but `h` has 64 elements". An index is one of the array that is named there, whatever
//! it was called before names were exchanged.

use wengert_core::fault::{Fault, FaultKind};
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::tree::{
    Block, Callee, Expr, ExprKind, Function, Index, Iter, IterKind, Module, Stmt, StmtKind, Target,
};

/// The error for a fault about shapes or an index, where its operands can be found in the source.
pub(crate) fn named(module: &Module, source: &str, fault: &Fault) -> Option<Diagnostic> {
    let message = match &fault.kind {
        FaultKind::Shape(message) => message,
        FaultKind::Index { .. } => return indexed(source, fault),
        _ => return None,
    };
    let [left, right] = &shapes(message)[..] else { return None };
    let operands = module.functions.iter().find_map(|f| in_function(f, fault.span));
    let (product, [a, b]) = operands?;
    let text = |span: Span| source.get(span.start as usize..span.end as usize);
    let (a_text, b_text) = (text(a)?, text(b)?);
    if a_text.len() + b_text.len() > 60 || a_text.contains('\n') || b_text.contains('\n') {
        return None;
    }
    let needed = match (product, &left[..], right.len()) {
        (true, [.., n], 1) => format!(": {n} are needed"),
        (true, [.., n], 2) => format!(": {n} rows are needed"),
        _ => String::new(),
    };
    let told =
        format!("`{a_text}` {}, but `{b_text}` {}{needed}", described(left), described(right));
    let mut error = fault.diagnostic();
    error.message = told;
    error.labels[0].1 = "these do not fit".into();
    Some(error)
}

/// The error for an index, by the name that stands before its brackets.
fn indexed(source: &str, fault: &Fault) -> Option<Diagnostic> {
    let name = array_at(source, fault.span)?;
    let mut fault = fault.clone();
    if let FaultKind::Index { array, .. } = &mut fault.kind {
        *array = Some(name.into());
    }
    Some(fault.diagnostic())
}

/// The name that stands before the brackets at a place.
pub(crate) fn array_at(source: &str, at: Span) -> Option<&str> {
    let text = source.get(at.start as usize..at.end as usize)?;
    let (name, _) = text.split_once('[')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// The first two shapes a message mentions.
fn shapes(message: &str) -> Vec<Vec<u64>> {
    let inside = message.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    let numbers = inside.filter_map(|(dims, _)| {
        let dims = dims.split(',').map(str::trim).filter(|d| !d.is_empty());
        dims.map(|d| d.parse().ok()).collect::<Option<Vec<u64>>>()
    });
    numbers.take(2).collect()
}

fn described(shape: &[u64]) -> String {
    match shape {
        [] => "is a number".into(),
        [1] => "has 1 element".into(),
        [n] => format!("has {n} elements"),
        dims => {
            let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
            format!("is {}", dims.join("x"))
        }
    }
}

/// Library functions of two arrays of one shape.
const ELEMENTWISE: &[&str] = &[
    "maximum",
    "minimum",
    "atan2",
    "hypot",
    "logaddexp",
    "xlogy",
    "copysign",
    "fmod",
    "mod",
    "pow",
];

/// The operands of what stands at a place, and whether it is a product of matrices.
type Found = (bool, [Span; 2]);

fn in_function(func: &Function, at: Span) -> Option<Found> {
    in_block(&func.body, at)
}

fn in_block(block: &Block, at: Span) -> Option<Found> {
    block.iter().find_map(|stmt| in_stmt(stmt, at))
}

fn in_stmt(stmt: &Stmt, at: Span) -> Option<Found> {
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            targets.iter().find_map(|t| in_target(t, at)).or_else(|| in_expr(value, at))
        }
        StmtKind::AugAssign { target, value, .. } => {
            // `x += y` computes `x + y`.
            if target.span().to(value.span) == at {
                return Some((false, [target.span(), value.span]));
            }
            in_target(target, at).or_else(|| in_expr(value, at))
        }
        StmtKind::For { target, iter, body } => {
            in_target(target, at).or_else(|| in_iter(iter, at)).or_else(|| in_block(body, at))
        }
        StmtKind::While { cond, body } => in_expr(cond, at).or_else(|| in_block(body, at)),
        StmtKind::If { cond, then, otherwise } => {
            in_expr(cond, at).or_else(|| in_block(then, at)).or_else(|| in_block(otherwise, at))
        }
        StmtKind::Return { values } => values.iter().find_map(|e| in_expr(e, at)),
        StmtKind::Assert { cond, .. } => in_expr(cond, at),
        StmtKind::Call(e) => in_expr(e, at),
        StmtKind::Define(func) => in_function(func, at),
        StmtKind::Break | StmtKind::Continue | StmtKind::Pass => None,
    }
}

fn in_target(target: &Target, at: Span) -> Option<Found> {
    match target {
        Target::Name(_) => None,
        Target::Tuple { elements, .. } => elements.iter().find_map(|t| in_target(t, at)),
        Target::Element { base, indices, .. } => {
            in_expr(base, at).or_else(|| in_indices(indices, at))
        }
    }
}

fn in_indices(indices: &[Index], at: Span) -> Option<Found> {
    indices.iter().flat_map(Index::exprs).find_map(|e| in_expr(e, at))
}

fn in_iter(iter: &Iter, at: Span) -> Option<Found> {
    match &iter.kind {
        IterKind::Range { start, stop, step } => {
            [start, stop, step].into_iter().find_map(|e| in_expr(e, at))
        }
        IterKind::Items(e) => in_expr(e, at),
        IterKind::Enumerate { of, .. } | IterKind::Reversed(of) | IterKind::Parallel(of) => {
            in_iter(of, at)
        }
        IterKind::Zip(all) => all.iter().find_map(|i| in_iter(i, at)),
    }
}

fn in_expr(e: &Expr, at: Span) -> Option<Found> {
    let all = |exprs: &[Expr]| exprs.iter().find_map(|e| in_expr(e, at));
    match &e.kind {
        ExprKind::Binary { first, rest } => {
            let mut left = first.span;
            for (_, right) in rest {
                let both = left.to(right.span);
                if both == at {
                    return Some((false, [left, right.span]));
                }
                left = both;
            }
            in_expr(first, at).or_else(|| rest.iter().find_map(|(_, r)| in_expr(r, at)))
        }
        ExprKind::Compare { first, rest } => {
            let mut left = first.span;
            for (_, right) in rest {
                if left.to(right.span) == at {
                    return Some((false, [left, right.span]));
                }
                left = right.span;
            }
            in_expr(first, at).or_else(|| rest.iter().find_map(|(_, r)| in_expr(r, at)))
        }
        ExprKind::Call { callee, args, keywords } => {
            if let (Callee::Builtin(name), [a, b], true) = (callee, &args[..], e.span == at) {
                let name = name.text.as_str();
                let product = ["matmul", "dot", "vdot", "inner"].contains(&name);
                return (product || ELEMENTWISE.contains(&name))
                    .then_some((product, [a.span, b.span]));
            }
            let base = match callee {
                Callee::Method { base, .. } => in_expr(base, at),
                _ => None,
            };
            base.or_else(|| all(args))
                .or_else(|| keywords.iter().find_map(|k| in_expr(&k.value, at)))
        }
        ExprKind::Unary { operand, .. } => in_expr(operand, at),
        ExprKind::Logical { operands, .. } => all(operands),
        ExprKind::Conditional { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().find_map(|e| in_expr(e, at))
        }
        ExprKind::Index { base, indices } => in_expr(base, at).or_else(|| in_indices(indices, at)),
        ExprKind::Tuple(elements) | ExprKind::List(elements) => all(elements),
        ExprKind::Attribute { base, .. } => in_expr(base, at),
        ExprKind::Lambda(func) => in_function(func, at),
        _ => None,
    }
}
