//! Methods of numbers, and what a method call is.

use super::array::unknown_method;
use super::call::{expected, mismatch};
use super::expr::Pending;
use super::item::natural;
use super::types::IntKind;
use super::value::{Leaf, Ty, Val, binary, call, compare, float, int, not};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{BinaryOp, CompareOp, Expr, ExprKind};

/// Methods of a float without arguments, and the library functions they are.
const PLAIN: &[(&str, &str)] = &[
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("asin", "asin"),
    ("acos", "acos"),
    ("atan", "atan"),
    ("sinh", "sinh"),
    ("cosh", "cosh"),
    ("tanh", "tanh"),
    ("asinh", "asinh"),
    ("acosh", "acosh"),
    ("atanh", "atanh"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("exp_m1", "expm1"),
    ("ln", "log"),
    ("ln_1p", "log1p"),
    ("log2", "log2"),
    ("log10", "log10"),
    ("sqrt", "sqrt"),
    ("cbrt", "cbrt"),
    ("abs", "abs"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("round", "rust.round"),
    ("round_ties_even", "round"),
    ("signum", "rust.signum"),
    ("to_degrees", "degrees"),
    ("to_radians", "radians"),
    ("is_nan", "isnan"),
    ("is_infinite", "isinf"),
    ("is_finite", "isfinite"),
];

/// Those with one more float.
const PAIRED: &[(&str, &str)] = &[
    ("atan2", "atan2"),
    ("hypot", "hypot"),
    ("copysign", "copysign"),
    ("min", "rust.min"),
    ("max", "rust.max"),
    ("powf", "rust.powf"),
    ("rem_euclid", "rust.rem_euclid"),
    ("div_euclid", "rust.div_euclid"),
];

/// The others.
const OTHERS: &[&str] = &[
    "powi",
    "mul_add",
    "clamp",
    "recip",
    "fract",
    "log",
    "sin_cos",
    "is_sign_negative",
    "is_sign_positive",
    "clone",
];

const INTEGER: &[&str] = &[
    "abs",
    "pow",
    "min",
    "max",
    "clamp",
    "signum",
    "rem_euclid",
    "div_euclid",
    "abs_diff",
    "div_ceil",
    "saturating_sub",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "is_positive",
    "is_negative",
    "clone",
    "is_multiple_of",
];

/// The number type of a name.
pub(super) fn type_named(name: &str) -> Option<Ty> {
    match name {
        "f64" => Some(Ty::F64),
        "f32" => Some(Ty::F32),
        name => IntKind::from_name(name).map(|kind| Ty::Int(Some(kind))),
    }
}

/// The type of argument `k` of a function of numbers, the number itself being the first.
pub(super) fn argument(name: &str, k: usize, of: &Ty) -> Option<Ty> {
    match (name, k) {
        (_, 0) => Some(of.clone()),
        ("powi", _) => Some(Ty::Int(Some(IntKind::I32))),
        ("pow", _) => Some(Ty::Int(Some(IntKind::U32))),
        _ => Some(of.clone()),
    }
}

impl<'a> Converter<'a> {
    /// `value.method(arguments)`.
    pub(super) fn method(
        &mut self,
        method: &'a syn::ExprMethodCall,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let name = method.method.to_string();
        if let Some(def) = self.struct_before(&method.receiver) {
            return self.struct_method(&def, method, None, want, at);
        }
        if super::fold::consumes(&name, method.args.len()) && self.is_sequence(&method.receiver) {
            return self.consumed(method, &name, want, at);
        }
        if super::sequence::is_adapter(&name) {
            if let syn::Expr::MethodCall(inner) = super::expr::strip(&method.receiver)
                && super::array::gives_option(&inner.method.to_string())
            {
                let at_inner = self.at(&inner.method);
                return Err(no::OPTIONS.at(at_inner));
            }
            return Err(no::ITERATOR.at(at));
        }
        let receiver_want = match name.as_str() {
            "clone" | "to_owned" => want,
            "abs" | "min" | "max" | "clamp" | "sqrt" | "powi" | "powf" => {
                want.filter(|ty| ty.is_number())
            }
            _ => None,
        };
        let receiver = self.expr(&method.receiver, receiver_want)?;
        let leaf = match receiver {
            Val::Never => return Ok(Val::Never),
            Val::Leaf(leaf) if leaf.ty.is_array() => {
                return self.array_method(leaf, &name, method, at);
            }
            val @ Val::Tuple(_) if name == "clone" => return Ok(self.cloned(val, at)),
            val @ Val::Rows(..) => return self.rows_method(val, method, at),
            Val::Struct(def, all) => {
                let val = Val::Struct(def.clone(), all);
                return self.struct_method(&def, method, Some(val), want, at);
            }
            other => {
                let at = self.at(&*method.receiver);
                self.as_scalar(other, at)?
            }
        };
        let at_name = self.at(&method.method);
        // A literal is a float of either size; what it is combined with says which.
        let (ty, from) = (leaf.ty.clone(), leaf.from.clone());
        let mut pending = Pending::default();
        self.next(&mut pending, Val::Leaf(leaf))?;
        for (k, arg) in method.args.iter().enumerate() {
            let val = self.expr(arg, argument(&name, k + 1, &ty).as_ref())?;
            self.next(&mut pending, val)?;
        }
        let mut args = pending.done();
        let leaf = match args.remove(0) {
            Val::Leaf(leaf) => Leaf { ty, from, ..leaf },
            _ => return Ok(Val::Never),
        };
        self.number_method(leaf, &name, args, at_name, at)
    }

    /// `f64::max(a, b)`.
    pub(super) fn number_function(
        &mut self,
        ty: &Ty,
        name: &str,
        mut args: Vec<Val<'a>>,
        at: Span,
    ) -> Made<Val<'a>> {
        if args.is_empty() {
            return Err(unknown_method(name, ty, at, OTHERS));
        }
        let first = args.remove(0);
        let leaf = self.as_scalar(first, at)?;
        let leaf = self.fitted_leaf(leaf, ty, at)?;
        self.number_method(leaf, name, args, at, at)
    }

    fn number_method(
        &mut self,
        leaf: Leaf,
        name: &str,
        args: Vec<Val<'a>>,
        at_name: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        match leaf.ty {
            Ty::Bool | Ty::Never if name == "clone" => Ok(Val::Leaf(leaf)),
            Ty::Int(_) => self.integer_method(leaf, name, args, at_name, at),
            ref ty if ty.is_float() => self.float_method(leaf, name, args, at_name, at),
            Ty::Never => Ok(Val::Never),
            ref ty => Err(unknown_method(name, ty, at_name, &["clone"])),
        }
    }

    fn float_method(
        &mut self,
        leaf: Leaf,
        name: &str,
        args: Vec<Val<'a>>,
        at_name: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        let same = |e: Expr, leaf: &Leaf| {
            Val::Leaf(Leaf { from: leaf.from.clone(), ..Leaf::new(e, leaf.ty.clone()) })
        };
        let plain = PLAIN.iter().find(|(known, _)| *known == name);
        if let (Some((_, function)), []) = (plain, args.as_slice()) {
            let e = call(function, vec![leaf.e.clone()], at);
            return Ok(if name.starts_with("is_") { Val::of(e, Ty::Bool) } else { same(e, &leaf) });
        }
        if let (Some((_, function)), [_]) =
            (PAIRED.iter().find(|(known, _)| *known == name), args.as_slice())
        {
            let (leaf, others) = self.of_one_type(leaf, args, at)?;
            let e = call(function, [vec![leaf.e.clone()], others].concat(), at);
            return Ok(same(e, &leaf));
        }
        match (name, args.len()) {
            ("clone", 0) => Ok(Val::Leaf(leaf)),
            ("recip", 0) => {
                let one = self.float_of(1.0, leaf.ty == Ty::F32, at);
                let e = binary(one, BinaryOp::Div, leaf.e.clone(), at);
                Ok(same(e, &leaf))
            }
            ("fract", 0) => {
                let x = self.kept(leaf.e.clone());
                let whole = call("trunc", vec![x.clone()], at);
                Ok(same(binary(x, BinaryOp::Sub, whole, at), &leaf))
            }
            ("sin_cos", 0) => {
                let x = self.kept(leaf.e.clone());
                let both = ["sin", "cos"].map(|f| same(call(f, vec![x.clone()], at), &leaf));
                Ok(Val::Tuple(both.into()))
            }
            ("is_sign_negative" | "is_sign_positive", 0) => {
                let one = float(1.0, at);
                let sign = call("copysign", vec![one, leaf.e], at);
                let op = if name == "is_sign_negative" { CompareOp::Lt } else { CompareOp::Gt };
                Ok(Val::of(compare(sign, op, float(0.0, at), at), Ty::Bool))
            }
            ("log", 1) => {
                let (leaf, others) = self.of_one_type(leaf, args, at)?;
                let logs: Vec<Expr> = [vec![leaf.e.clone()], others]
                    .concat()
                    .into_iter()
                    .map(|x| call("log", vec![x], at))
                    .collect();
                let [a, b] = <[Expr; 2]>::try_from(logs).map_err(|_| no::CALLED.at(at))?;
                Ok(same(binary(a, BinaryOp::Div, b, at), &leaf))
            }
            ("mul_add", 2) => {
                let (leaf, others) = self.of_one_type(leaf, args, at)?;
                let e = call("rust.mul_add", [vec![leaf.e.clone()], others].concat(), at);
                Ok(same(e, &leaf))
            }
            ("clamp", 2) => {
                let (leaf, others) = self.of_one_type(leaf, args, at)?;
                let [low, high] = <[Expr; 2]>::try_from(others).map_err(|_| no::CALLED.at(at))?;
                let e = call("clip", vec![leaf.e.clone(), low, high], at);
                Ok(same(e, &leaf))
            }
            ("powi", 1) => {
                let exponent = self.one_integer(args, at)?;
                Ok(same(call("pow", vec![leaf.e.clone(), exponent], at), &leaf))
            }
            ("to_bits" | "to_int_unchecked", _) => Err(no::BITS.at(at_name)),
            ("partial_cmp" | "total_cmp", _) => Err(no::ORDERING.at(at_name)),
            _ => {
                let known: Vec<&str> = PLAIN
                    .iter()
                    .chain(PAIRED)
                    .map(|(n, _)| *n)
                    .chain(OTHERS.iter().copied())
                    .collect();
                Err(unknown_method(name, &leaf.ty, at_name, &known))
            }
        }
    }

    /// A number and others, all of the type they have in common.
    fn of_one_type(&mut self, leaf: Leaf, args: Vec<Val<'a>>, at: Span) -> Made<(Leaf, Vec<Expr>)> {
        let mut others = Vec::new();
        let mut ty = leaf.ty.clone();
        for val in args {
            let other = self.as_scalar(val, at)?;
            ty = match ty.join(&other.ty) {
                Some(ty) => ty,
                None => return Err(expected(&ty, &other.ty, other.e.span)),
            };
            others.push(other);
        }
        let leaf = self.fitted_leaf(leaf, &ty, at)?;
        let mut fitted = Vec::new();
        for other in others {
            fitted.push(self.fitted_leaf(other, &ty, at)?.e);
        }
        Ok((leaf, fitted))
    }

    fn one_integer(&mut self, mut args: Vec<Val<'a>>, at: Span) -> Made<Expr> {
        let Some(val) = args.pop() else { return Err(no::CALLED.at(at)) };
        let leaf = self.as_scalar(val, at)?;
        if !leaf.ty.is_int() {
            return Err(mismatch(
                "an integer is needed here".into(),
                leaf.e.span,
                &leaf.ty.shown(),
            )
            .help("use `powf` for a float exponent"));
        }
        Ok(leaf.e)
    }

    /// A method of an integer.
    pub(super) fn integer_method(
        &mut self,
        leaf: Leaf,
        name: &str,
        args: Vec<Val<'a>>,
        at_name: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        if leaf.ty.is_float() {
            return self.float_method(leaf, name, args, at_name, at);
        }
        let Ty::Int(kind) = leaf.ty else {
            return Err(unknown_method(name, &leaf.ty, at_name, &[]));
        };
        if name == "pow" && args.len() == 1 {
            let exponent = self.one_integer(args, at)?;
            let exponent = natural(exponent, "the exponent is negative", at);
            let e = call("pow", vec![leaf.e, exponent], at);
            return Ok(Val::Leaf(Leaf { from: leaf.from, ..Leaf::new(e, leaf.ty) }));
        }
        if name.starts_with("checked_") || name.starts_with("overflowing_") {
            return Err(no::CHECKED.at(at_name));
        }
        let count = args.len();
        let (leaf, others) = self.of_one_type(leaf, args, at)?;
        let (ty, a) = (leaf.ty.clone(), leaf.e.clone());
        let b = others.first().cloned().unwrap_or_else(|| int(0, at));
        let e = match (name, count) {
            ("clone", 0) => a,
            ("abs" | "unsigned_abs", 0) => call("abs", vec![a], at),
            ("signum", 0) => {
                let low = call("max", vec![a, int(-1, at)], at);
                call("min", vec![low, int(1, at)], at)
            }
            ("is_positive", 0) => {
                return Ok(Val::of(compare(a, CompareOp::Gt, int(0, at), at), Ty::Bool));
            }
            ("is_negative", 0) => {
                return Ok(Val::of(compare(a, CompareOp::Lt, int(0, at), at), Ty::Bool));
            }
            ("is_multiple_of", 1) => {
                let rest = binary(a, BinaryOp::Rem, b, at);
                return Ok(Val::of(
                    not(compare(rest, CompareOp::Ne, int(0, at), at), at),
                    Ty::Bool,
                ));
            }
            ("min" | "max", 1) => call(name, vec![a, b], at),
            ("clamp", 2) => {
                let low = call("max", vec![a, b], at);
                call("min", vec![low, others[1].clone()], at)
            }
            // Rust's has a remainder that is not negative; Python's has the sign of the divisor.
            ("rem_euclid", 1) => {
                let size = call("abs", vec![b], at);
                binary(a, BinaryOp::Rem, size, at)
            }
            ("div_euclid", 1) if ty.is_unsigned() || known_positive(&b) => {
                binary(a, BinaryOp::FloorDiv, b, at)
            }
            ("abs_diff", 1) => call("abs", vec![binary(a, BinaryOp::Sub, b, at)], at),
            ("div_ceil", 1) if ty.is_unsigned() => {
                let less = binary(b.clone(), BinaryOp::Sub, int(1, at), at);
                binary(binary(a, BinaryOp::Add, less, at), BinaryOp::FloorDiv, b, at)
            }
            ("saturating_sub", 1) if ty.is_unsigned() => {
                call("max", vec![binary(a, BinaryOp::Sub, b, at), int(0, at)], at)
            }
            ("wrapping_add" | "wrapping_sub" | "wrapping_mul", 1) => {
                let Some(kind) = kind.filter(|kind| kind.bits() <= 32) else {
                    return Err(no::WRAPPING.at(at_name));
                };
                let op = match name {
                    "wrapping_add" => BinaryOp::Add,
                    "wrapping_sub" => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                super::cast::wrapped(binary(a, op, b, at), kind, at)
            }
            (name, _) if name.starts_with("wrapping_") => return Err(no::WRAPPING.at(at_name)),
            _ => return Err(unknown_method(name, &ty, at_name, INTEGER)),
        };
        Ok(Val::Leaf(Leaf { from: leaf.from, ..Leaf::new(e, ty) }))
    }
}

fn known_positive(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Int(k) if k > 0)
}
