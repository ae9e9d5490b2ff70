//! Arithmetic on numbers that are written out, as it stands in default values.

use crate::span::Span;
use crate::surface::tree::{BinaryOp, Expr, ExprKind, UnaryOp};

/// A number that is known before anything runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f64),
    Bool(bool),
}

/// The expression as a number written out, where it is arithmetic on such; `named` gives the values of names.
pub(super) fn folded<'e>(
    expr: &'e Expr,
    named: &impl Fn(&str) -> Option<&'e Expr>,
) -> Option<Expr> {
    let value = number(expr, named)?;
    Some(if is_written(expr) { expr.clone() } else { written(value, expr.span) })
}

/// Whether a number is written out as it is, perhaps with a sign.
fn is_written(expr: &Expr) -> bool {
    let literal =
        |e: &Expr| matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_));
    match &expr.kind {
        ExprKind::Unary { operand, .. } => literal(operand),
        _ => literal(expr),
    }
}

fn written(number: Number, span: Span) -> Expr {
    let at = |kind: ExprKind| Expr { kind, span };
    let (kind, negative) = match number {
        Number::Bool(b) => (ExprKind::Bool(b), false),
        // The least integer has no opposite.
        Number::Int(n) => match n.checked_abs() {
            Some(size) => (ExprKind::Int(size), n < 0),
            None => (ExprKind::Int(n), false),
        },
        Number::Float(x) if x.is_nan() => (ExprKind::Builtin("nan".into()), false),
        Number::Float(x) => (ExprKind::Float(x.abs()), x.is_sign_negative()),
    };
    match negative {
        true => at(ExprKind::Unary { op: UnaryOp::Neg, operand: Box::new(at(kind)) }),
        false => at(kind),
    }
}

fn number<'e>(expr: &'e Expr, named: &impl Fn(&str) -> Option<&'e Expr>) -> Option<Number> {
    Some(match &expr.kind {
        ExprKind::Int(n) => Number::Int(*n),
        ExprKind::Float(x) => Number::Float(*x),
        ExprKind::Bool(b) => Number::Bool(*b),
        ExprKind::Builtin(name) => Number::Float(match name.as_str() {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "tau" => std::f64::consts::TAU,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return None,
        }),
        ExprKind::Name(name) => number(named(name)?, named)?,
        ExprKind::Unary { op, operand } => match (op, number(operand, named)?) {
            (UnaryOp::Plus, Number::Int(n)) => Number::Int(n),
            (UnaryOp::Plus, Number::Float(x)) => Number::Float(x),
            (UnaryOp::Neg, Number::Int(n)) => Number::Int(n.checked_neg()?),
            (UnaryOp::Neg, Number::Float(x)) => Number::Float(-x),
            _ => return None,
        },
        ExprKind::Binary { first, rest } => {
            let mut left = number(first, named)?;
            for (op, right) in rest {
                left = combined(*op, left, number(right, named)?)?;
            }
            left
        }
        _ => return None,
    })
}

/// What Python makes of two numbers; nothing where it refuses, or where bits and remainders are asked for.
fn combined(op: BinaryOp, a: Number, b: Number) -> Option<Number> {
    if let (Number::Int(a), Number::Int(b)) = (a, b) {
        match op {
            BinaryOp::Add => return a.checked_add(b).map(Number::Int),
            BinaryOp::Sub => return a.checked_sub(b).map(Number::Int),
            BinaryOp::Mul => return a.checked_mul(b).map(Number::Int),
            BinaryOp::Pow if b >= 0 => {
                return a.checked_pow(u32::try_from(b).ok()?).map(Number::Int);
            }
            _ => {}
        }
    }
    let float = |n: Number| match n {
        Number::Int(n) => Some(n as f64),
        Number::Float(x) => Some(x),
        Number::Bool(_) => None,
    };
    let (a, b) = (float(a)?, float(b)?);
    Some(Number::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b != 0.0 => a / b,
        BinaryOp::Pow if a > 0.0 => a.powf(b),
        _ => return None,
    }))
}
