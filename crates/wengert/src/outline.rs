//! The surface tree as text: one statement per line, expressions fully parenthesised, library names
//! by their canonical name with a `$`.

use std::fmt::Write;
use wengert_core::surface::tree::{
    Block, Callee, Expr, ExprKind, Function, Index, Iter, IterKind, LogicalOp, Stmt, StmtKind,
    Target, UnaryOp,
};

/// A function as an outline.
pub(crate) fn function(function: &Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|p| match &p.default {
            Some(default) => format!("{} = {}", p.name.text, expr(default)),
            None => p.name.text.clone(),
        })
        .collect();
    let mut out = format!("function {}({})\n", function.name.text, params.join(", "));
    block(&mut out, &function.body, 1);
    out
}

fn block(out: &mut String, stmts: &Block, depth: usize) {
    for s in stmts {
        stmt(out, s, depth);
    }
}

fn stmt(out: &mut String, stmt: &Stmt, depth: usize) {
    let mut inner: Vec<(&str, &Block)> = Vec::new();
    let head = match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            let targets: Vec<String> = targets.iter().map(target).collect();
            format!("{} = {}", targets.join(" = "), expr(value))
        }
        StmtKind::AugAssign { target: t, op, value } => {
            format!("{} {}= {}", target(t), op.symbol(), expr(value))
        }
        StmtKind::For { target: t, iter: over, body } => {
            inner.push(("", body));
            format!("for {} in {}", target(t), iter(over))
        }
        StmtKind::Define(func) => {
            inner.push(("", &func.body));
            format!("def {}", func.name.text)
        }
        StmtKind::While { cond, body } => {
            inner.push(("", body));
            format!("while {}", expr(cond))
        }
        StmtKind::If { cond, then, otherwise } => {
            inner.push(("", then));
            if !otherwise.is_empty() {
                inner.push(("else", otherwise));
            }
            format!("if {}", expr(cond))
        }
        StmtKind::Break => "break".into(),
        StmtKind::Continue => "continue".into(),
        StmtKind::Return { values } => format!("return {}", list(values)),
        StmtKind::Assert { cond, message } => match message {
            Some(message) => format!("assert {}, {message:?}", expr(cond)),
            None => format!("assert {}", expr(cond)),
        },
        StmtKind::Pass => "pass".into(),
        StmtKind::Call(call) => expr(call),
    };
    line(out, depth, &head);
    for (title, stmts) in inner {
        if !title.is_empty() {
            line(out, depth, title);
        }
        block(out, stmts, depth + 1);
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:indent$}{}", "", text.trim_end(), indent = 2 * depth);
}

fn target(t: &Target) -> String {
    match t {
        Target::Name(name) => name.text.clone(),
        Target::Tuple { elements, .. } => {
            let elements: Vec<String> = elements.iter().map(target).collect();
            format!("({})", elements.join(", "))
        }
        Target::Element { base, indices, .. } => format!("{}[{}]", expr(base), places(indices)),
    }
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(n) => n.to_string(),
        ExprKind::Float(x) => format!("{x:?}"),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Builtin(name) => format!("${name}"),
        ExprKind::Unary { op, operand } => {
            let op = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Plus => "+",
                UnaryOp::Invert => "~",
                UnaryOp::Not => "not ",
            };
            format!("{op}{}", expr(operand))
        }
        ExprKind::Binary { first, rest } => rest.iter().fold(expr(first), |left, (op, right)| {
            format!("({left} {} {})", op.symbol(), expr(right))
        }),
        ExprKind::Compare { first, rest } => {
            let rest: String =
                rest.iter().map(|(op, e)| format!(" {} {}", op.symbol(), expr(e))).collect();
            format!("({}{rest})", expr(first))
        }
        ExprKind::Logical { op, operands } => {
            let op = match op {
                LogicalOp::And => " and ",
                LogicalOp::Or => " or ",
            };
            format!("({})", operands.iter().map(expr).collect::<Vec<_>>().join(op))
        }
        ExprKind::Conditional { cond, then, otherwise } => {
            format!("({} if {} else {})", expr(then), expr(cond), expr(otherwise))
        }
        ExprKind::Call { callee, args, keywords } => {
            let name = match callee {
                Callee::Builtin(name) => format!("${}", name.text),
                Callee::Function(name) => name.text.clone(),
                Callee::Method { base, name } => format!("{}.{}", expr(base), name.text),
            };
            let keywords = keywords.iter().map(|k| format!("{}={}", k.name.text, expr(&k.value)));
            let args: Vec<String> = args.iter().map(expr).chain(keywords).collect();
            format!("{name}({})", args.join(", "))
        }
        ExprKind::Index { base, indices } => format!("{}[{}]", expr(base), places(indices)),
        ExprKind::Tuple(elements) => format!("({})", list(elements)),
        ExprKind::List(elements) => format!("[{}]", list(elements)),
        ExprKind::Attribute { base, name } => format!("{}.{}", expr(base), name.text),
        ExprKind::Lambda(_) => "lambda".to_owned(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::None => "None".to_owned(),
    }
}

fn iter(iter: &Iter) -> String {
    match &iter.kind {
        IterKind::Range { start, stop, step } => {
            format!("range({}, {}, {})", expr(start), expr(stop), expr(step))
        }
        IterKind::Items(e) => expr(e),
        IterKind::Enumerate { of, .. } => format!("enumerate({})", self::iter(of)),
        IterKind::Zip(of) => {
            format!("zip({})", of.iter().map(self::iter).collect::<Vec<_>>().join(", "))
        }
        IterKind::Reversed(of) => format!("reversed({})", self::iter(of)),
    }
}

fn index(index: &Index) -> String {
    let part = |e: &Option<Expr>| e.as_ref().map_or(String::new(), expr);
    match index {
        Index::At(e) => expr(e),
        Index::Slice { start, stop, step, .. } => {
            format!("{}:{}:{}", part(start), part(stop), part(step))
        }
        Index::NewAxis(_) => "None".to_owned(),
        Index::Rest(_) => "...".to_owned(),
    }
}

fn places(indices: &[Index]) -> String {
    indices.iter().map(index).collect::<Vec<_>>().join(", ")
}
