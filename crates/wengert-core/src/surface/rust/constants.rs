//! Constants: those of the text, and those of the standard library.

use super::scope::Entry;
use super::types::IntKind;
use super::value::{How, Leaf, Ty, Val, call, float, int, named};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    BinaryOp, Callee, Expr, ExprKind, Name, Stmt, StmtKind, Target, UnaryOp,
};
use std::f64::consts as c;

/// The constants of `std::f64::consts`.
const NUMBERS: &[(&str, f64)] = &[
    ("PI", c::PI),
    ("TAU", c::TAU),
    ("E", c::E),
    ("SQRT_2", c::SQRT_2),
    ("LN_2", c::LN_2),
    ("LN_10", c::LN_10),
    ("LOG2_E", c::LOG2_E),
    ("LOG10_E", c::LOG10_E),
    ("LOG2_10", c::LOG2_10),
    ("LOG10_2", c::LOG10_2),
    ("FRAC_PI_2", c::FRAC_PI_2),
    ("FRAC_PI_3", c::FRAC_PI_3),
    ("FRAC_PI_4", c::FRAC_PI_4),
    ("FRAC_PI_6", c::FRAC_PI_6),
    ("FRAC_PI_8", c::FRAC_PI_8),
    ("FRAC_1_PI", c::FRAC_1_PI),
    ("FRAC_2_PI", c::FRAC_2_PI),
    ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
    ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
];

/// A constant of `std::f64::consts`.
pub(super) fn by_name(name: &str) -> Option<f64> {
    NUMBERS.iter().find(|(known, _)| *known == name).map(|(_, x)| *x)
}

/// A constant of a float type.
fn of_float(name: &str, single: bool) -> Option<f64> {
    Some(match (name, single) {
        ("MAX", false) => f64::MAX,
        ("MIN", false) => f64::MIN,
        ("EPSILON", false) => f64::EPSILON,
        ("MIN_POSITIVE", false) => f64::MIN_POSITIVE,
        ("MAX", true) => f64::from(f32::MAX),
        ("MIN", true) => f64::from(f32::MIN),
        ("EPSILON", true) => f64::from(f32::EPSILON),
        ("MIN_POSITIVE", true) => f64::from(f32::MIN_POSITIVE),
        ("INFINITY", _) => f64::INFINITY,
        ("NEG_INFINITY", _) => f64::NEG_INFINITY,
        ("NAN", _) => f64::NAN,
        _ => return None,
    })
}

impl<'a> Converter<'a> {
    /// A constant of the text.
    pub(super) fn constant_value(
        &mut self,
        name: &str,
        ty: &'a syn::Type,
        value: &'a syn::Expr,
        span: Span,
    ) -> Made<Val<'a>> {
        let (ty, _) = self.passed_type(ty)?;
        let ty = ty.ty();
        let scopes = std::mem::take(&mut self.scopes);
        self.scopes = scopes.items();
        let made = self.deeper(span, |c| c.inside(|c| c.expr(value, Some(&ty))));
        self.scopes = scopes;
        let (stmts, val) = made?;
        if !stmts.is_empty() {
            let at = self.at(value);
            return Err(no::CONSTANT.at(at));
        }
        let val = self.fitted(val, &ty, span)?;
        let Val::Leaf(leaf) = &val else { return Ok(val) };
        if !leaf.ty.is_array() || self.current.is_none() {
            return Ok(val);
        }
        // An array is made once, at the beginning of the function.
        let key = format!("constant {name} {}", leaf.e.span.start);
        let known = self.current.as_ref().and_then(|c| c.constants.get(&key).cloned());
        let made = match known {
            Some(name) => name,
            None => {
                let text = self.fresh(name);
                let target = Target::Name(Name { text: text.clone(), span });
                let kind = StmtKind::Assign { targets: vec![target], value: leaf.e.clone() };
                self.prologue.push(Stmt { kind, span });
                if let Some(current) = &mut self.current {
                    current.constants.insert(key, text.clone());
                }
                text
            }
        };
        Ok(Val::Leaf(Leaf { e: named(&made, span), how: How::Place, ..leaf.clone() }))
    }

    /// The value of a path of several words: `f64::MAX`, `std::f64::consts::PI`.
    pub(super) fn path_value(&mut self, path: &syn::Path, span: Span) -> Made<Val<'a>> {
        let words: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let last = words.last().map_or("", String::as_str);
        let owner = words.len().checked_sub(2).map_or("", |k| words[k].as_str());
        if let Some(kind) = IntKind::from_name(owner) {
            let (least, most) = kind.range();
            match last {
                "MAX" => return Ok(Val::of(int(most, span), Ty::Int(Some(kind)))),
                "MIN" => return Ok(Val::of(int(least, span), Ty::Int(Some(kind)))),
                "BITS" => {
                    let bits = int(i64::from(kind.bits()), span);
                    return Ok(Val::of(bits, Ty::Int(Some(IntKind::U32))));
                }
                _ => {}
            }
        }
        let single = words.iter().any(|w| w == "f32");
        if let ("f64" | "f32", Some(x)) = (owner, of_float(last, single)) {
            return Ok(Val::of(self.float_of(x, single, span), float_type(single)));
        }
        if let Some(x) = by_name(last) {
            return Ok(Val::of(self.float_of(x, single, span), float_type(single)));
        }
        if let Some(val) = self.constant_of(path, span)? {
            return Ok(val);
        }
        if let Some(Entry::Constant(..)) = self.scopes.get(last) {
            return self.name_value(last, span);
        }
        Err(Diagnostic::new(
            "undefined-variable",
            format!("`{}` is not known here", words.join("::")),
        )
        .label(span, "used here")
        .help("define it as a `const` beside the function, or pass it as a parameter"))
    }

    /// A float of either size.
    pub(super) fn float_of(&mut self, x: f64, single: bool, span: Span) -> Expr {
        if single { call("float32", vec![float(x, span)], span) } else { float(x, span) }
    }

    /// The length of an array type.
    pub(super) fn constant_length(&mut self, e: &syn::Expr) -> Made<usize> {
        let at = self.at(e);
        let known = self.constant_integer(e);
        known.and_then(|k| usize::try_from(k).ok()).ok_or_else(|| no::ARRAY_LENGTH.at(at))
    }

    /// An integer that the text says: a literal, a constant, or arithmetic on them.
    pub(super) fn constant_integer(&mut self, e: &syn::Expr) -> Option<i64> {
        if self.depth >= crate::surface::tree::MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let value = self.constant_integer_here(e);
        self.depth -= 1;
        value
    }

    fn constant_integer_here(&mut self, e: &syn::Expr) -> Option<i64> {
        match e {
            syn::Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Int(k) => k.base10_parse().ok(),
                _ => None,
            },
            syn::Expr::Paren(inner) => self.constant_integer(&inner.expr),
            syn::Expr::Group(inner) => self.constant_integer(&inner.expr),
            syn::Expr::Cast(cast) => self.constant_integer(&cast.expr),
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
                self.constant_integer(&unary.expr)?.checked_neg()
            }
            syn::Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                match self.scopes.get(&name).cloned() {
                    Some(Entry::Constant(_, value)) => self.constant_integer(value),
                    _ => None,
                }
            }
            syn::Expr::Binary(binary) => {
                let a = self.constant_integer(&binary.left)?;
                let b = self.constant_integer(&binary.right)?;
                match binary.op {
                    syn::BinOp::Add(_) => a.checked_add(b),
                    syn::BinOp::Sub(_) => a.checked_sub(b),
                    syn::BinOp::Mul(_) => a.checked_mul(b),
                    syn::BinOp::Div(_) => a.checked_div(b),
                    syn::BinOp::Rem(_) => a.checked_rem(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn float_type(single: bool) -> Ty {
    if single { Ty::F32 } else { Ty::F64 }
}

/// The integer that an expression of the tree is, where it is one.
pub(super) fn known_integer(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(k) => Some(*k),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => known_integer(operand)?.checked_neg(),
        ExprKind::Call { callee: Callee::Builtin(name), args, .. }
            if name.text == "rust.natural" =>
        {
            known_integer(args.first()?).filter(|k| *k >= 0)
        }
        ExprKind::Binary { first, rest } => {
            rest.iter().try_fold(known_integer(first)?, |a, (op, b)| {
                let b = known_integer(b)?;
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    _ => None,
                }
            })
        }
        _ => None,
    }
}
