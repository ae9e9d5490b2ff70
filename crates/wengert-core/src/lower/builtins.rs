//! Library functions, methods and attributes.
//!
//! Rows of the rule table work on numbers and, element by element, on arrays. What else NumPy has is made
//! of array operations in [`crate::arrays`]; here its arguments are read.

use super::env::View;
use super::expr::similar;
use super::operand::{Fresh, Operand, described, described_operand, described_rank, join_elem};
use super::{Lowered, Lowering, functions};
use crate::arrays;
use crate::ir::{Builder, Elem, Op, Type, Value};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Expr, ExprKind, Keyword, Name};

/// The arguments of a library function, in the order of its parameters.
struct Given<'e> {
    name: &'e str,
    args: Vec<Option<Argument<'e>>>,
    span: Span,
}

/// One argument: still to be evaluated, or the value a method is called on.
#[derive(Clone)]
enum Argument<'e> {
    Expr(&'e Expr),
    Value(Operand, Span),
}

impl Argument<'_> {
    fn span(&self) -> Span {
        match self {
            Argument::Expr(e) => e.span,
            Argument::Value(_, span) => *span,
        }
    }
}

/// Functions of arrays: canonical name and parameters. A `?` marks one that can be left out, a `*` all
/// further arguments by position.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("abs", &["x"]), ("float", &["x"]), ("bool", &["x"]), ("float32", &["x"]),
    ("int", &["x"]), ("int_trunc", &["x"]), ("int_floor", &["x"]), ("int_ceil", &["x"]),
    ("int_round", &["number"]), ("round", &["a"]),
    ("min", &["*"]), ("max", &["*"]), ("minimum", &["x1", "x2"]), ("maximum", &["x1", "x2"]),
    ("pow", &["x1", "x2"]), ("float_power", &["x1", "x2"]), ("mod", &["x1", "x2"]),
    ("divmod", &["x1", "x2"]), ("square", &["x"]),
    ("isnan", &["x"]), ("isinf", &["x"]), ("isfinite", &["x"]), ("heaviside", &["x1", "x2"]),
    ("logical_and", &["x1", "x2"]), ("logical_or", &["x1", "x2"]), ("logical_xor", &["x1", "x2"]),
    ("logical_not", &["x"]),
    ("degrees", &["x"]), ("radians", &["x"]),
    ("digamma", &["x"]), ("polygamma", &["n", "x"]),
    ("len", &["x"]), ("ndim", &["a"]), ("size", &["a"]), ("shape", &["a"]),
    ("zeros", &["shape", "dtype?"]), ("ones", &["shape", "dtype?"]), ("empty", &["shape", "dtype?"]),
    ("full", &["shape", "fill_value", "dtype?"]),
    ("zeros_like", &["a"]), ("ones_like", &["a"]), ("empty_like", &["a"]),
    ("full_like", &["a", "fill_value"]),
    ("array", &["object", "dtype?"]), ("asarray", &["a", "dtype?"]), ("copy", &["a"]),
    ("list", &["x"]), ("tuple", &["x"]),
    ("arange", &["start", "stop?", "step?"]), ("linspace", &["start", "stop", "num?", "endpoint?"]),
    ("eye", &["N", "M?"]), ("identity", &["n"]), ("diag", &["v"]), ("trace", &["a"]),
    ("sum", &["a", "axis?", "keepdims?"]), ("mean", &["a", "axis?", "keepdims?"]),
    ("prod", &["a", "axis?", "keepdims?"]),
    ("amax", &["a", "axis?", "keepdims?"]), ("amin", &["a", "axis?", "keepdims?"]),
    ("any", &["a", "axis?", "keepdims?"]), ("all", &["a", "axis?", "keepdims?"]),
    ("argmax", &["a", "axis?"]), ("argmin", &["a", "axis?"]),
    ("std", &["a", "axis?", "ddof?", "keepdims?"]), ("var", &["a", "axis?", "ddof?", "keepdims?"]),
    ("norm", &["x", "ord?", "axis?", "keepdims?"]),
    ("sum_items", &["iterable", "start?"]), ("fsum", &["seq"]), ("prod_items", &["iterable"]),
    ("dist", &["p", "q"]),
    ("cumsum", &["a", "axis?"]), ("cumprod", &["a", "axis?"]), ("diff", &["a", "n?", "axis?"]),
    ("trapezoid", &["y", "x?", "dx?"]),
    ("dot", &["a", "b"]), ("matmul", &["x1", "x2"]), ("vdot", &["a", "b"]), ("inner", &["a", "b"]),
    ("outer", &["a", "b"]), ("einsum", &["subscripts", "*"]),
    ("transpose", &["a", "axes?"]), ("swapaxes", &["a", "axis1", "axis2"]),
    ("moveaxis", &["a", "source", "destination"]),
    ("reshape", &["a", "shape"]), ("ravel", &["a"]), ("squeeze", &["a", "axis"]),
    ("expand_dims", &["a", "axis"]), ("broadcast_to", &["array", "shape"]),
    ("concatenate", &["arrays", "axis?"]), ("stack", &["arrays", "axis?"]),
    ("hstack", &["arrays"]), ("vstack", &["arrays"]),
    ("flip", &["m", "axis?"]), ("roll", &["a", "shift", "axis?"]), ("tile", &["A", "reps"]),
    ("repeat", &["a", "repeats"]),
    ("where", &["condition", "x", "y"]), ("clip", &["a", "a_min", "a_max"]),
    ("sort", &["a", "axis?"]), ("argsort", &["a", "axis?"]), ("sorted", &["iterable"]),
    ("take", &["a", "indices", "axis?"]),
    ("searchsorted", &["a", "v", "side?"]), ("interp", &["x", "xp", "fp"]),
    ("softmax", &["x", "axis?"]), ("logsumexp", &["a", "axis?", "keepdims?"]),
];

impl Lowering<'_> {
    /// A library name used as a value.
    pub(super) fn builtin_value(&mut self, name: &str, span: Span) -> Lowered<Operand> {
        Ok(Operand::Scalar(match name {
            "pi" => self.b.f64(std::f64::consts::PI),
            "e" => self.b.f64(std::f64::consts::E),
            "tau" => self.b.f64(std::f64::consts::TAU),
            "inf" => self.b.f64(f64::INFINITY),
            "nan" => self.b.f64(f64::NAN),
            "newaxis" => return Ok(Operand::None),
            _ => {
                return Err(Diagnostic::new(
                    "unsupported-function",
                    format!("`{name}` is not a value that can be used here"),
                )
                .label(span, "used as a value")
                .help("call it, as in `np.sin(x)`, or wrap it in a function of your own"));
            }
        }))
    }

    /// A call of a library function.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        let args = args.iter().map(Argument::Expr).collect();
        self.function(name, args, keywords, span)
    }

    fn function<'e>(
        &mut self,
        name: &'e str,
        args: Vec<Argument<'e>>,
        keywords: &'e [Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        if let Some(prim) = functions::row(name) {
            return self.row_call(name, prim, args, keywords, span);
        }
        let found = FUNCTIONS.iter().find(|(canonical, _)| *canonical == name);
        let Some((name, params)) = found else { return Err(unknown_function(name, span)) };
        let given = arrange(name, params, args, keywords, span)?;
        self.known_function(&given)
    }

    /// A row of the table.
    fn row_call(
        &mut self,
        name: &str,
        prim: Prim,
        args: Vec<Argument>,
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        if let Some(k) = keywords.first() {
            let message = format!("`{name}` takes no argument called `{}`", k.name.text);
            return Err(Diagnostic::new("unsupported-syntax", message)
                .label(k.name.span, "here")
                .help("give the arguments by their position"));
        }
        let n = prim.arity();
        if args.len() != n {
            let s = if n == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {n} argument{s}, but {} are given", args.len());
            return Err(Diagnostic::new("argument-count", message).label(span, "this call"));
        }
        let mut values = Vec::new();
        for a in args {
            values.push(self.argument(&a)?);
        }
        let elem = values.iter().skip(1).fold(self.elem(values[0]), |e, v| {
            if e == self.elem(*v) { e } else { self.common_elem(values[0], *v) }
        });
        let elem = if elem == Elem::F32 { Elem::F32 } else { Elem::F64 };
        let mut floats = Vec::new();
        for v in values {
            floats.push(self.convert(v, elem, span)?);
        }
        let v = self.spread_row(prim, floats, span);
        Ok(self.made(v))
    }

    /// A row on operands of one kind, broadcast to one shape.
    fn spread_row(&mut self, prim: Prim, mut values: Vec<Value>, span: Span) -> Value {
        for k in 1..values.len() {
            let (first, other) = self.aligned(values[0], values[k]);
            (values[0], values[k]) = (first, other);
        }
        // The first has the common shape now; those before the last to change it follow.
        for k in 1..values.len() {
            let (first, other) = self.aligned(values[0], values[k]);
            (values[0], values[k]) = (first, other);
        }
        self.b.at(span);
        let units = values
            .iter()
            .filter(|v| self.b.ty(**v).is_array())
            .map(|v| self.units_of(*v))
            .fold(u8::MAX, |a, b| a & b);
        let v = self.b.prim(prim, &values);
        self.note_units(v, units);
        v
    }

    /// The value of an argument that is a number or an array.
    fn argument(&mut self, a: &Argument) -> Lowered<Value> {
        let operand = self.operand(a)?;
        self.value(&operand, a.span())
    }

    fn operand(&mut self, a: &Argument) -> Lowered<Operand> {
        match a {
            Argument::Expr(e) => self.expr(e),
            Argument::Value(operand, _) => Ok(operand.clone()),
        }
    }

    /// Argument `k`, which cannot be left out.
    fn needed<'g, 'e>(&self, given: &'g Given<'e>, k: usize) -> &'g Argument<'e> {
        match given.args.get(k) {
            Some(Some(a)) => a,
            _ => unreachable!("arranged"),
        }
    }

    fn number(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let a = self.needed(given, k).clone();
        self.argument(&a)
    }

    /// An argument that must be an array.
    fn array_value(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let a = self.needed(given, k).clone();
        let v = self.argument(&a)?;
        if self.b.ty(v).is_array() {
            return Ok(v);
        }
        let message = format!("`{}` takes an array", given.name);
        Err(Diagnostic::new("type", message)
            .label(a.span(), format!("this is {}", described(self.b.ty(v))))
            .help("make one, as in `np.array([a, b])`"))
    }

    /// An integer that is written out.
    fn constant(&mut self, given: &Given, k: usize, what: &str) -> Lowered<Option<i64>> {
        let Some(Some(a)) = given.args.get(k) else { return Ok(None) };
        let operand = self.operand(&a.clone())?;
        if matches!(operand, Operand::None) {
            return Ok(None);
        }
        let v = self.as_scalar(&operand, a.span())?;
        match self.b.func().as_const(v) {
            Some(Scalar::I64(k)) => Ok(Some(k)),
            Some(Scalar::Bool(b)) => Ok(Some(i64::from(b))),
            _ => Err(Diagnostic::new("type", format!("{what} must be written out"))
                .label(a.span(), "this is known only when it runs")
                .help("write the number itself")),
        }
    }

    /// The axis given as argument `k`, for an array of this rank.
    fn axis(&mut self, given: &Given, k: usize, rank: usize) -> Lowered<Option<usize>> {
        let Some(axis) = self.constant(given, k, "an axis")? else { return Ok(None) };
        let at = if axis < 0 { axis + rank as i64 } else { axis };
        if (0..rank as i64).contains(&at) {
            return Ok(Some(at as usize));
        }
        let span = given.args[k].as_ref().map_or(given.span, Argument::span);
        let message = format!("axis {axis} does not exist: this is {}", described_rank(rank));
        Err(Diagnostic::new("shape-mismatch", message)
            .label(span, "this axis")
            .help(format!("use one of 0 to {}", rank - 1)))
    }

    /// A shape: an integer or a tuple of them.
    fn shape(&mut self, a: &Argument) -> Lowered<Vec<Value>> {
        let operand = self.operand(a)?;
        let sizes = match operand {
            Operand::Tuple(sizes) | Operand::List(sizes) => sizes,
            one => vec![(one, a.span())],
        };
        let mut dims = Vec::new();
        for (size, at) in sizes {
            let v = self.as_scalar(&size, at)?;
            if self.b.ty(v) != Type::I64 {
                return Err(Diagnostic::new("type", "the size of an array must be an integer")
                    .label(at, format!("this is {}", described(self.b.ty(v))))
                    .help("use `int(...)` or `//` to make it an integer"));
            }
            dims.push(v);
        }
        if dims.len() > crate::ir::MAX_RANK || dims.is_empty() {
            let message = format!("an array has 1 to {} axes", crate::ir::MAX_RANK);
            return Err(Diagnostic::new("shape-mismatch", message).label(a.span(), "this shape"));
        }
        Ok(dims)
    }

    /// The kind of numbers a `dtype` names.
    fn dtype(&mut self, given: &Given, k: usize) -> Lowered<Option<Elem>> {
        let Some(Some(a)) = given.args.get(k) else { return Ok(None) };
        let name = match a {
            Argument::Expr(e) => match &e.kind {
                ExprKind::Builtin(name) | ExprKind::Text(name) => name.clone(),
                ExprKind::None => return Ok(None),
                _ => String::new(),
            },
            Argument::Value(..) => String::new(),
        };
        Ok(Some(match name.as_str() {
            "float" | "float64" | "f64" | "f8" | "d" => Elem::F64,
            "float32" | "f32" | "f4" => Elem::F32,
            "int" | "int64" | "i8" => Elem::I64,
            "bool" => Elem::Bool,
            _ => {
                return Err(Diagnostic::new("type", "this is not a kind of number there is here")
                    .label(a.span(), "this type")
                    .help("use `float`, `np.float32`, `int` or `bool`"));
            }
        }))
    }

    fn filled(&mut self, dims: &[Value], v: Value, span: Span) -> Operand {
        self.b.at(span);
        let x = self.b.filled(dims, v);
        self.note_dims(x, dims);
        Operand::fresh(x)
    }

    /// Several arrays given as a list or a tuple.
    fn parts(&mut self, given: &Given, k: usize) -> Lowered<Vec<(Value, Span)>> {
        let a = self.needed(given, k).clone();
        match self.operand(&a)? {
            Operand::Tuple(all) | Operand::List(all) if !all.is_empty() => {
                let mut values = Vec::new();
                for (part, at) in all {
                    values.push((self.value(&part, at)?, at));
                }
                let elem = values.iter().map(|(v, _)| self.elem(*v)).reduce(join_elem);
                let elem = elem.unwrap_or(Elem::F64);
                values.into_iter().map(|(v, at)| Ok((self.convert(v, elem, at)?, at))).collect()
            }
            other => {
                Err(Diagnostic::new("type", format!("`{}` takes a list of arrays", given.name))
                    .label(a.span(), format!("this is {}", described_operand(&other)))
                    .help(format!("write `np.{}([a, b])`", given.name)))
            }
        }
    }

    fn same_rank(&self, given: &Given, parts: &[(Value, Span)], least: usize) -> Lowered<usize> {
        let rank = self.b.ty(parts[0].0).rank();
        let odd = parts
            .iter()
            .find(|(v, _)| self.b.ty(*v).rank() != rank || self.b.ty(*v).rank() < least);
        match odd {
            None => Ok(rank),
            Some((v, at)) => {
                let message = format!("`{}` takes arrays of one rank", given.name);
                Err(Diagnostic::new("shape-mismatch", message)
                    .label(*at, format!("this is {}", described_rank(self.b.ty(*v).rank())))
                    .label(parts[0].1, format!("the first is {}", described_rank(rank))))
            }
        }
    }

    /// Puts back the axis a reduction took away.
    fn keep_axis(
        &mut self,
        given: &Given,
        k: usize,
        x: Value,
        axis: Option<usize>,
        v: Value,
    ) -> Lowered<Operand> {
        if self.constant(given, k, "`keepdims`")?.unwrap_or(0) == 0 {
            return Ok(self.made(v));
        }
        let one = self.b.i64(1);
        let mut dims = self.b.dims(x);
        match axis {
            Some(axis) => dims[axis] = one,
            None => dims.iter_mut().for_each(|d| *d = one),
        }
        let v = if self.b.ty(v).is_array() {
            self.b.array(ArrayOp::Reshape, &[&[v][..], &dims].concat())
        } else {
            self.b.filled(&dims, v)
        };
        self.note_dims(v, &dims);
        Ok(Operand::fresh(v))
    }

    /// A function of the list above, its arguments in order.
    fn known_function(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        match given.name {
            "abs" => {
                let x = self.number(given, 0)?;
                self.b.at(span);
                let v = match self.elem(x) {
                    Elem::I64 | Elem::Bool => {
                        let x = self.convert(x, Elem::I64, span)?;
                        let minus = self.row(Prim::INeg, x);
                        let v = self.b.prim(Prim::IMax, &[x, minus]);
                        self.keep_units(v, x);
                        v
                    }
                    _ => self.row(Prim::Abs, x),
                };
                Ok(self.made(v))
            }
            "float" | "float32" => {
                let x = self.number(given, 0)?;
                let elem = if given.name == "float" { Elem::F64 } else { Elem::F32 };
                let v = self.convert(x, elem, span)?;
                Ok(self.made(v))
            }
            "int" | "int_trunc" | "int_floor" | "int_ceil" | "int_round" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                let x = self.as_scalar(&operand, a.span())?;
                self.whole(given.name, x, span).map(Operand::Scalar)
            }
            "round" => {
                let x = self.number(given, 0)?;
                self.b.at(span);
                let v = if self.elem(x).is_float() { self.row(Prim::Round, x) } else { x };
                Ok(self.made(v))
            }
            "bool" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                self.truth(&operand, a.span()).map(Operand::Scalar)
            }
            "min" | "max" => self.extreme(given),
            "minimum" | "maximum" => {
                let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
                let v = self.larger(given.name == "minimum", x, y, true, span)?;
                Ok(self.made(v))
            }
            "pow" | "float_power" | "mod" => {
                let (mut x, y) = (self.number(given, 0)?, self.number(given, 1)?);
                if given.name == "float_power" {
                    let elem = self.float_elem(x);
                    x = self.convert(x, elem, span)?;
                }
                let op = if given.name == "mod" { BinaryOp::Rem } else { BinaryOp::Pow };
                let v = self.combine(op, x, y, span)?;
                Ok(self.made(v))
            }
            "divmod" => {
                let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
                let whole = self.combine(BinaryOp::FloorDiv, x, y, span)?;
                let rest = self.combine(BinaryOp::Rem, x, y, span)?;
                Ok(Operand::Tuple(vec![(self.made(whole), span), (self.made(rest), span)]))
            }
            "heaviside" => {
                let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
                let v = self.by(given, |b| arrays::heaviside(b, x, y))?;
                Ok(self.made(v))
            }
            "list" | "tuple" => {
                let a = self.needed(given, 0).clone();
                match self.operand(&a)? {
                    items @ (Operand::Tuple(_) | Operand::List(_)) => Ok(items),
                    _ => Err(unknown_function(given.name, span)),
                }
            }
            "square" => {
                let x = self.number(given, 0)?;
                let v = self.combine(BinaryOp::Mul, x, x, span)?;
                Ok(self.made(v))
            }
            "degrees" | "radians" => {
                let x = self.number(given, 0)?;
                let elem = self.float_elem(x);
                let x = self.convert(x, elem, span)?;
                let half_turn = std::f64::consts::PI / 180.0;
                let factor = if given.name == "radians" { half_turn } else { half_turn.recip() };
                let factor = self.b.float(elem, factor);
                self.b.at(span);
                let v = self.b.mul(x, factor);
                self.keep_units(v, x);
                Ok(self.made(v))
            }
            "isnan" | "isinf" | "isfinite" => {
                let x = self.number(given, 0)?;
                let elem = self.float_elem(x);
                let x = self.convert(x, elem, span)?;
                self.b.at(span);
                let v = if given.name == "isnan" {
                    self.b.prim(Prim::Ne, &[x, x])
                } else {
                    let size = self.b.prim(Prim::Abs, &[x]);
                    let inf = self.b.float(elem, f64::INFINITY);
                    let row = if given.name == "isinf" { Prim::Eq } else { Prim::Lt };
                    self.b.prim(row, &[size, inf])
                };
                self.keep_units(v, x);
                Ok(self.made(v))
            }
            "logical_and" | "logical_or" | "logical_xor" => {
                let (x, y) = (self.truths(given, 0)?, self.truths(given, 1)?);
                let op = match given.name {
                    "logical_and" => BinaryOp::BitAnd,
                    "logical_or" => BinaryOp::BitOr,
                    _ => BinaryOp::BitXor,
                };
                let v = self.combine(op, x, y, span)?;
                Ok(self.made(v))
            }
            "logical_not" => {
                let x = self.truths(given, 0)?;
                self.b.at(span);
                let v = self.row(Prim::Not, x);
                Ok(self.made(v))
            }
            "digamma" | "polygamma" => {
                let (n, x) = if given.name == "digamma" {
                    (self.b.i64(0), self.number(given, 0)?)
                } else {
                    (self.number(given, 0)?, self.number(given, 1)?)
                };
                if self.elem(n) != Elem::I64 {
                    return Err(Diagnostic::new("type", "the order of `polygamma` is an integer")
                        .label(self.needed(given, 0).span(), "this is a float"));
                }
                let elem = self.float_elem(x);
                let x = self.convert(x, elem, span)?;
                let v = self.spread_row(Prim::PolyGamma, vec![n, x], span);
                Ok(self.made(v))
            }
            "len" => {
                let a = self.needed(given, 0).clone();
                match self.operand(&a)? {
                    Operand::Tuple(all) | Operand::List(all) => {
                        Ok(Operand::Scalar(self.b.i64(all.len() as i64)))
                    }
                    operand => {
                        let view = self.as_view(operand, a.span())?;
                        self.b.at(span);
                        Ok(Operand::Scalar(self.dims_of(&view)[0]))
                    }
                }
            }
            "shape" | "ndim" | "size" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                self.property(given.name, operand, a.span(), span)
            }
            "zeros" | "ones" | "empty" | "full" => {
                let a = self.needed(given, 0).clone();
                let dims = self.shape(&a)?;
                let v = if given.name == "full" {
                    let v = self.number(given, 1)?;
                    match self.dtype(given, 2)? {
                        Some(elem) => self.convert(v, elem, span)?,
                        None => v,
                    }
                } else {
                    let elem = self.dtype(given, 1)?.unwrap_or(Elem::F64);
                    match (given.name, elem) {
                        ("ones", Elem::I64) => self.b.i64(1),
                        ("ones", Elem::Bool) => self.b.bool(true),
                        ("ones", float) => self.b.float(float, 1.0),
                        _ => self.zero(elem),
                    }
                };
                if self.b.ty(v).is_array() {
                    return Err(Diagnostic::new("type", "an array is filled with one number")
                        .label(self.needed(given, 1).span(), "this is an array")
                        .help("use `np.broadcast_to(x, shape)`"));
                }
                Ok(self.filled(&dims, v, span))
            }
            "zeros_like" | "ones_like" | "empty_like" | "full_like" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                let view = self.as_view(operand, a.span())?;
                let elem = self.elem(self.env.version(view.storage));
                self.b.at(span);
                let dims = self.dims_of(&view);
                let v = match (given.name, elem) {
                    ("full_like", _) => {
                        let v = self.number(given, 1)?;
                        self.convert(v, elem, span)?
                    }
                    ("ones_like", Elem::I64) => self.b.i64(1),
                    ("ones_like", Elem::Bool) => self.b.bool(true),
                    ("ones_like", float) => self.b.float(float, 1.0),
                    _ => self.zero(elem),
                };
                Ok(self.filled(&dims, v, span))
            }
            "array" | "copy" => {
                let v = self.number(given, 0)?;
                let fresh = match &self.needed(given, 0).clone() {
                    Argument::Expr(e) => !matches!(e.kind, ExprKind::List(_)),
                    Argument::Value(..) => true,
                };
                let elem = if given.name == "array" { self.dtype(given, 1)? } else { None };
                let elem = elem.unwrap_or(self.elem(v));
                if elem != self.elem(v) {
                    let v = self.cast_to(v, elem, span)?;
                    return Ok(self.made(v));
                }
                self.b.at(span);
                if !fresh || !self.b.ty(v).is_array() {
                    return Ok(self.made(v));
                }
                let copy = self.b.op(Op::Copy, &[v])[0];
                self.keep_units(copy, v);
                Ok(Operand::fresh(copy))
            }
            "asarray" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                match self.dtype(given, 1)? {
                    None => Ok(match operand {
                        Operand::List(all) => Operand::fresh(self.array_of(&all, span)?),
                        other => other,
                    }),
                    Some(elem) => {
                        let v = self.value(&operand, a.span())?;
                        let v = self.cast_to(v, elem, span)?;
                        Ok(self.made(v))
                    }
                }
            }
            "sum" | "mean" | "prod" | "amax" | "amin" | "any" | "all" | "logsumexp" => {
                let x = self.array_value(given, 0)?;
                let axis = self.axis(given, 1, self.b.ty(x).rank())?;
                let v = self.by(given, |b| match given.name {
                    "sum" => arrays::sum(b, x, axis),
                    "mean" => arrays::mean(b, x, axis),
                    "prod" => arrays::prod(b, x, axis),
                    "amax" => arrays::max(b, x, axis),
                    "amin" => arrays::min(b, x, axis),
                    "any" => arrays::any(b, x, axis),
                    "all" => arrays::all(b, x, axis),
                    _ => arrays::logsumexp(b, x, axis),
                })?;
                self.keep_axis(given, 2, x, axis, v)
            }
            "std" | "var" => {
                let x = self.array_value(given, 0)?;
                let axis = self.axis(given, 1, self.b.ty(x).rank())?;
                let ddof = self.constant(given, 2, "`ddof`")?.unwrap_or(0);
                let v = self.by(given, |b| match given.name {
                    "std" => arrays::std(b, x, axis, ddof),
                    _ => arrays::variance(b, x, axis, ddof),
                })?;
                self.keep_axis(given, 3, x, axis, v)
            }
            "norm" => {
                let x = self.array_value(given, 0)?;
                let order = self.constant(given, 1, "the order of a norm")?;
                if !matches!(order, None | Some(2)) {
                    let span = given.args[1].as_ref().map_or(span, Argument::span);
                    return Err(Diagnostic::new("unsupported-function", "only the 2-norm is supported")
                        .label(span, "this order")
                        .help("for others write `np.sum(np.abs(x) ** p) ** (1 / p)` or `np.max(np.abs(x))`"));
                }
                let axis = self.axis(given, 2, self.b.ty(x).rank())?;
                let v = self.by(given, |b| arrays::norm(b, x, axis))?;
                self.keep_axis(given, 3, x, axis, v)
            }
            "sum_items" | "fsum" | "prod_items" => self.folded(given),
            "dist" => {
                let (x, y) = (self.array_value(given, 0)?, self.array_value(given, 1)?);
                let d = self.combine(BinaryOp::Sub, x, y, span)?;
                let v = self.by(given, |b| arrays::norm(b, d, None))?;
                Ok(self.made(v))
            }
            "argmax" | "argmin" | "cumsum" | "cumprod" | "softmax" | "sort" | "argsort"
            | "flip" | "sorted" => {
                let x = self.array_value(given, 0)?;
                let rank = self.b.ty(x).rank();
                let axis = if given.name == "sorted" { None } else { self.axis(given, 1, rank)? };
                let v = self.by(given, |b| match given.name {
                    "argmax" => arrays::argmax(b, x, axis),
                    "argmin" => arrays::argmin(b, x, axis),
                    "cumsum" => arrays::cumsum(b, x, axis),
                    "cumprod" => arrays::cumprod(b, x, axis),
                    "softmax" => arrays::softmax(b, x, axis),
                    "argsort" => arrays::argsort(b, x, axis),
                    "flip" => arrays::flip(b, x, axis),
                    _ => arrays::sort(b, x, axis),
                })?;
                if matches!(given.name, "argmax" | "argmin") {
                    self.lower_bounds.insert(v, 0);
                }
                self.copied(v, x)
            }
            "diff" => {
                let x = self.array_value(given, 0)?;
                if !matches!(self.constant(given, 1, "`n`")?, None | Some(1)) {
                    return Err(Diagnostic::new(
                        "unsupported-function",
                        "only first differences are supported",
                    )
                    .label(span, "this call")
                    .help("call `np.diff` again on the result"));
                }
                let axis = self.axis(given, 2, self.b.ty(x).rank())?;
                let v = self.by(given, |b| arrays::diff(b, x, axis))?;
                Ok(self.made(v))
            }
            "trapezoid" => {
                let y = self.array_value(given, 0)?;
                let mut others = [None, None];
                for (k, slot) in others.iter_mut().enumerate() {
                    if let Some(Some(a)) = given.args.get(k + 1).cloned() {
                        *slot = Some(self.argument(&a)?);
                    }
                }
                let v = self.by(given, |b| arrays::trapezoid(b, y, others[0], others[1]))?;
                Ok(self.made(v))
            }
            "dot" | "matmul" | "vdot" | "inner" | "outer" => {
                let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
                let scalars = [x, y].iter().any(|v| !self.b.ty(*v).is_array());
                if scalars && matches!(given.name, "dot" | "inner") {
                    let v = self.combine(BinaryOp::Mul, x, y, span)?;
                    return Ok(self.made(v));
                }
                let (x, y) = (self.array_value(given, 0)?, self.array_value(given, 1)?);
                let ranks = (self.b.ty(x).rank(), self.b.ty(y).rank());
                let v = self.by(given, |b| match given.name {
                    "dot" if ranks.0 == 1 && ranks.1 == 1 => arrays::dot(b, x, y),
                    "dot" if ranks.0 <= 2 && ranks.1 <= 2 => arrays::matmul(b, x, y),
                    "dot" => {
                        Err("`dot` of arrays with more than two axes: use `matmul` or `einsum`"
                            .into())
                    }
                    "matmul" => arrays::matmul(b, x, y),
                    "vdot" => arrays::vdot(b, x, y),
                    "inner" => arrays::inner(b, x, y),
                    _ => arrays::outer(b, x, y),
                })?;
                Ok(self.made(v))
            }
            "einsum" => self.einsum(given),
            "transpose" | "swapaxes" | "moveaxis" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                let view = self.as_view(operand, a.span())?;
                let rank = self.rank_of(&view);
                let mut order: Vec<usize> = (0..rank).collect();
                match (given.name, given.args.get(1)) {
                    ("transpose", Some(Some(axes))) => order = self.order(&axes.clone(), rank)?,
                    ("transpose", _) => order.reverse(),
                    _ => {
                        let (i, j) = (self.axis(given, 1, rank)?, self.axis(given, 2, rank)?);
                        let (i, j) = (i.unwrap_or(0), j.unwrap_or(0));
                        if given.name == "swapaxes" {
                            order.swap(i, j);
                        } else {
                            let axis = order.remove(i);
                            order.insert(j, axis);
                        }
                    }
                }
                self.b.at(span);
                Ok(Operand::Array(self.permuted(&view, &order)))
            }
            "reshape" | "ravel" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                let dims = match given.args.get(1) {
                    Some(Some(shape)) => Some(self.shape(&shape.clone())?),
                    _ => None,
                };
                self.reshaped(operand, dims, a.span(), span)
            }
            "expand_dims" | "squeeze" => {
                let a = self.needed(given, 0).clone();
                let operand = self.operand(&a)?;
                let view = self.as_view(operand, a.span())?;
                let rank = self.rank_of(&view);
                let mut dims = self.dims_of(&view);
                let one = self.b.i64(1);
                if given.name == "expand_dims" {
                    let axis = self.axis(given, 1, rank + 1)?.unwrap_or(0);
                    dims.insert(axis, one);
                } else {
                    let axis = self.axis(given, 1, rank)?.unwrap_or(0);
                    let n = dims.remove(axis);
                    self.b.at(span);
                    let single = self.b.prim(Prim::IEq, &[n, one]);
                    let message = "this axis does not have one element";
                    self.b.op(Op::Assert(message.into()), &[single]);
                    if dims.is_empty() {
                        let zero = self.b.i64(0);
                        return Ok(self.item_of(&view, zero, span));
                    }
                }
                self.reshaped(Operand::Array(view), Some(dims), a.span(), span)
            }
            "broadcast_to" => {
                let x = self.number(given, 0)?;
                let a = self.needed(given, 1).clone();
                let dims = self.shape(&a)?;
                let v = self.by(given, |b| arrays::broadcast(b, x, &dims))?;
                self.note_dims(v, &dims);
                self.copied(v, x)
            }
            "concatenate" | "stack" | "hstack" | "vstack" => self.joined(given),
            "roll" => {
                let x = self.array_value(given, 0)?;
                let shift = self.whole_number(given, 1)?;
                let axis = self.axis(given, 2, self.b.ty(x).rank())?;
                let v = self.by(given, |b| arrays::roll(b, x, shift, axis))?;
                self.copied(v, x)
            }
            "tile" | "repeat" => {
                let x = self.array_value(given, 0)?;
                let n = self.whole_number(given, 1)?;
                let v = self.by(given, |b| match given.name {
                    "tile" => arrays::tile(b, x, n),
                    _ => arrays::repeat_elements(b, x, n),
                })?;
                self.copied(v, x)
            }
            "where" => {
                let c = self.truths(given, 0)?;
                let (x, y) = (self.number(given, 1)?, self.number(given, 2)?);
                let elem = self.common_elem(x, y);
                let (x, y) = (self.convert(x, elem, span)?, self.convert(y, elem, span)?);
                let v = self.spread_row(Prim::Select, vec![c, x, y], span);
                Ok(self.made(v))
            }
            "clip" => {
                let (x, lo, hi) =
                    (self.number(given, 0)?, self.number(given, 1)?, self.number(given, 2)?);
                let elem = self.float_elem(x);
                let all = [x, lo, hi].map(|v| self.convert(v, elem, span));
                let [x, lo, hi] = all;
                let v = self.spread_row(Prim::Clamp, vec![x?, lo?, hi?], span);
                Ok(self.made(v))
            }
            "take" => {
                let x = self.array_value(given, 0)?;
                let idx = self.number(given, 1)?;
                let (x, axis) = match self.axis(given, 2, self.b.ty(x).rank())? {
                    Some(axis) => (x, axis),
                    None => (self.by(given, |b| arrays::flatten(b, x))?, 0),
                };
                let v = self.by(given, |b| arrays::take(b, x, idx, axis))?;
                Ok(self.made(v))
            }
            "searchsorted" => {
                let (x, v) = (self.array_value(given, 0)?, self.number(given, 1)?);
                let side = match given.args.get(2).cloned() {
                    Some(Some(a)) => match self.operand(&a)? {
                        Operand::Text(side) if side == "left" || side == "right" => side,
                        _ => {
                            return Err(Diagnostic::new("type", "`side` is \"left\" or \"right\"")
                                .label(a.span(), "neither"));
                        }
                    },
                    _ => "left".into(),
                };
                let at = self.by(given, |b| arrays::searchsorted(b, x, v, side == "right"))?;
                self.lower_bounds.insert(at, 0);
                Ok(self.made(at))
            }
            "interp" => {
                let v = self.number(given, 0)?;
                let (x, y) = (self.array_value(given, 1)?, self.array_value(given, 2)?);
                let y = self.by(given, |b| arrays::interp(b, v, x, y))?;
                Ok(self.made(y))
            }
            "arange" => {
                let first = self.number(given, 0)?;
                let mut bounds = [None, Some(first), None];
                if let Some(Some(a)) = given.args.get(1).cloned() {
                    bounds = [Some(first), Some(self.argument(&a)?), None];
                }
                if let Some(Some(a)) = given.args.get(2).cloned() {
                    bounds[2] = Some(self.argument(&a)?);
                }
                let float = bounds.iter().flatten().any(|v| self.elem(*v).is_float());
                let elem = if float { Elem::F64 } else { Elem::I64 };
                let defaults = [0.0, 0.0, 1.0];
                let mut values = Vec::new();
                for (bound, default) in bounds.into_iter().zip(defaults) {
                    let v = match bound {
                        Some(v) => v,
                        None => self.b.i64(default as i64),
                    };
                    values.push(self.convert(v, elem, span)?);
                }
                let v = self.by(given, |b| arrays::arange(b, values[0], values[1], values[2]))?;
                Ok(self.made(v))
            }
            "linspace" => {
                let (start, stop) = (self.number(given, 0)?, self.number(given, 1)?);
                let (start, stop) =
                    (self.convert(start, Elem::F64, span)?, self.convert(stop, Elem::F64, span)?);
                let n = match given.args.get(2) {
                    Some(Some(_)) => self.whole_number(given, 2)?,
                    _ => self.b.i64(50),
                };
                let endpoint = self.constant(given, 3, "`endpoint`")?.unwrap_or(1) != 0;
                let v = self.by(given, |b| arrays::linspace(b, start, stop, n, endpoint))?;
                Ok(self.made(v))
            }
            "eye" | "identity" => {
                let n = self.whole_number(given, 0)?;
                let m = match given.args.get(1) {
                    Some(Some(_)) => self.whole_number(given, 1)?,
                    _ => n,
                };
                let v = self.by(given, |b| arrays::eye(b, n, m, Elem::F64))?;
                Ok(self.made(v))
            }
            "diag" | "trace" => {
                let x = self.array_value(given, 0)?;
                let v = self.by(given, |b| match given.name {
                    "diag" => arrays::diag(b, x),
                    _ => arrays::trace(b, x),
                })?;
                Ok(self.made(v))
            }
            other => Err(unknown_function(other, span)),
        }
    }

    /// What a function of arrays appends, at the place of the call.
    fn by(
        &mut self,
        given: &Given,
        make: impl FnOnce(&mut Builder) -> Result<Value, String>,
    ) -> Lowered<Value> {
        self.b.at(given.span);
        make(&mut self.b).map_err(|message| {
            Diagnostic::new("shape-mismatch", message)
                .label(given.span, "this call")
                .help("look at the ranks and kinds of its arguments")
        })
    }

    /// A result that may be the operand itself, which others may write.
    fn copied(&mut self, v: Value, operand: Value) -> Lowered<Operand> {
        if v != operand || !self.b.ty(v).is_array() {
            return Ok(self.made(v));
        }
        let copy = self.b.op(Op::Copy, &[v])[0];
        self.keep_units(copy, v);
        Ok(Operand::fresh(copy))
    }

    /// An argument that must be one integer.
    fn whole_number(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let a = self.needed(given, k).clone();
        let dims = self.shape(&a)?;
        match dims[..] {
            [n] => Ok(n),
            _ => Err(Diagnostic::new("type", format!("`{}` takes one integer here", given.name))
                .label(a.span(), "several numbers")),
        }
    }

    /// Python's `sum` and `math.prod`: of the items of a list or an array along its first axis.
    fn folded(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = self.needed(given, 0).clone();
        let op = if given.name == "prod_items" { BinaryOp::Mul } else { BinaryOp::Add };
        let start = match given.args.get(1).cloned() {
            Some(Some(start)) => Some((self.operand(&start)?, start.span())),
            _ => None,
        };
        let total = match self.operand(&a)? {
            Operand::Tuple(items) | Operand::List(items) => {
                let one = self.b.i64(i64::from(op == BinaryOp::Mul));
                let mut total = Operand::Scalar(one);
                for (item, at) in items {
                    total = self.binary(op, (&total, span), (&item, at))?;
                }
                total
            }
            operand => {
                let x = self.value(&operand, a.span())?;
                let rank = self.b.ty(x).rank();
                let axis = (rank > 1).then_some(0);
                let v = self.by(given, |b| match op {
                    BinaryOp::Mul => arrays::prod(b, x, axis),
                    _ => arrays::sum(b, x, axis),
                })?;
                self.made(v)
            }
        };
        match start {
            Some((start, at)) => self.binary(op, (&start, at), (&total, span)),
            None => Ok(total),
        }
    }

    /// Truth values: conditions, or what numbers are not zero.
    fn truths(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let v = self.number(given, k)?;
        self.b.at(given.span);
        Ok(match self.elem(v) {
            Elem::Bool => v,
            Elem::I64 => {
                let zero = self.b.i64(0);
                let t = self.b.prim(Prim::INe, &[v, zero]);
                self.keep_units(t, v);
                t
            }
            float => {
                let zero = self.b.float(float, 0.0);
                let t = self.b.prim(Prim::Ne, &[v, zero]);
                self.keep_units(t, v);
                t
            }
        })
    }

    /// Numbers of any other kind, also floats cut to integers.
    fn cast_to(&mut self, v: Value, elem: Elem, span: Span) -> Lowered<Value> {
        self.b.at(span);
        if self.elem(v).is_float() && elem == Elem::I64 {
            let out = self.b.prim(Prim::FToI, &[v]);
            self.keep_units(out, v);
            return Ok(out);
        }
        if elem == Elem::Bool && self.elem(v) != Elem::Bool {
            let zero = self.zero(self.elem(v));
            let row = if self.elem(v).is_float() { Prim::Ne } else { Prim::INe };
            let out = self.b.prim(row, &[v, zero]);
            self.keep_units(out, v);
            return Ok(out);
        }
        self.convert(v, elem, span)
    }

    /// A float as an integer: cut, or rounded one way or the other.
    fn whole(&mut self, name: &str, x: Value, span: Span) -> Lowered<Value> {
        self.b.at(span);
        if !self.elem(x).is_float() {
            return self.convert(x, Elem::I64, span);
        }
        let x = match name {
            "int_floor" => self.b.prim(Prim::Floor, &[x]),
            "int_ceil" => self.b.prim(Prim::Ceil, &[x]),
            "int_round" => self.b.prim(Prim::Round, &[x]),
            _ => x,
        };
        let x = self.convert(x, Elem::F64, span)?;
        self.b.at(span);
        let limit = self.b.f64(2f64.powi(63));
        let size = self.b.prim(Prim::Abs, &[x]);
        let fits = self.b.prim(Prim::Lt, &[size, limit]);
        let message = "the number has no integer part that fits 64 bits";
        self.b.op(Op::Assert(message.into()), &[fits]);
        Ok(self.b.prim(Prim::FToI, &[x]))
    }

    /// Python's `min` and `max`: of several numbers, or of the elements of a vector.
    fn extreme(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let mut values = Vec::new();
        for k in 0..given.args.len() {
            let a = self.needed(given, k).clone();
            match self.operand(&a)? {
                Operand::Tuple(all) | Operand::List(all) if given.args.len() == 1 => {
                    for (x, at) in all {
                        values.push((self.value(&x, at)?, at));
                    }
                }
                operand => values.push((self.value(&operand, a.span())?, a.span())),
            }
        }
        let least = given.name == "min";
        if let [(x, at)] = values[..] {
            if self.b.ty(x).rank() != 1 {
                let message = format!("`{}` takes several numbers or a vector", given.name);
                return Err(Diagnostic::new("type", message)
                    .label(at, format!("this is {}", described_rank(self.b.ty(x).rank())))
                    .help(format!("use `np.{}(x)`", given.name)));
            }
            let v = self.by(given, |b| match least {
                true => arrays::min(b, x, None),
                false => arrays::max(b, x, None),
            })?;
            return Ok(self.made(v));
        }
        let Some(((first, at), rest)) = values.split_first() else {
            return Err(Diagnostic::new(
                "argument-count",
                format!("`{}` needs arguments", given.name),
            )
            .label(span, "this call"));
        };
        let mut best = *first;
        for (v, other) in [(*first, *at)].iter().chain(rest) {
            if self.b.ty(*v).is_array() {
                return Err(Diagnostic::new("type", format!("`{}` compares numbers", given.name))
                    .label(*other, "this is an array")
                    .help(format!("use `np.{}imum(x, y)`", given.name)));
            }
        }
        for (v, _) in rest {
            best = self.larger(least, best, *v, false, span)?;
        }
        Ok(Operand::Scalar(best))
    }

    /// The smaller or the larger of two, element by element.
    fn larger(
        &mut self,
        least: bool,
        x: Value,
        y: Value,
        nan_wins: bool,
        span: Span,
    ) -> Lowered<Value> {
        let elem = match self.common_elem(x, y) {
            Elem::Bool => Elem::I64,
            elem => elem,
        };
        let (x, y) = (self.convert(x, elem, span)?, self.convert(y, elem, span)?);
        let (x, y) = self.aligned(x, y);
        // The first wins a tie, and where they cannot be compared, as in Python.
        let (row, args) = match (least, elem.is_float()) {
            (true, true) => (Prim::Min, [y, x]),
            (false, true) => (Prim::Max, [y, x]),
            (true, false) => (Prim::IMin, [x, y]),
            (false, false) => (Prim::IMax, [x, y]),
        };
        let best = self.spread_row(row, args.to_vec(), span);
        // NumPy's give NaN whichever of the two is NaN.
        if nan_wins && elem.is_float() {
            let nan = self.b.prim(Prim::Ne, &[y, y]);
            return Ok(self.spread_row(Prim::Select, vec![nan, y, best], span));
        }
        Ok(best)
    }

    /// How many elements an array has.
    fn count(&mut self, x: Value) -> Value {
        let dims = self.b.dims(x);
        dims.into_iter()
            .reduce(|n, d| self.b.prim(Prim::IMul, &[n, d]))
            .unwrap_or_else(|| self.b.i64(1))
    }

    fn einsum(&mut self, given: &Given) -> Lowered<Operand> {
        let a = self.needed(given, 0).clone();
        let Operand::Text(formula) = self.operand(&a)? else {
            return Err(Diagnostic::new("type", "`einsum` starts with its formula")
                .label(a.span(), "not text")
                .help("write it first: `np.einsum('ij,j->i', a, x)`"));
        };
        let mut values = Vec::new();
        for k in 1..given.args.len() {
            values.push(self.number(given, k)?);
        }
        let shaped =
            |message| Diagnostic::new("shape-mismatch", message).label(given.span, "this call");
        let values = arrays::alike(&mut self.b, &values).map_err(shaped)?;
        self.b.at(given.span);
        match arrays::einsum(&mut self.b, &formula, &values) {
            Ok(v) => Ok(self.made(v)),
            Err(message) => Err(Diagnostic::new("shape-mismatch", message)
                .label(a.span(), "this formula")
                .help("one letter for each axis, as in `np.einsum('ij,jk->ik', a, b)`")),
        }
    }

    /// The order of axes a `transpose` asks for.
    fn order(&mut self, a: &Argument, rank: usize) -> Lowered<Vec<usize>> {
        let dims = self.shape(a)?;
        let order: Option<Vec<usize>> = dims
            .iter()
            .map(|d| match self.b.func().as_const(*d) {
                Some(Scalar::I64(k)) => {
                    let k = if k < 0 { k + rank as i64 } else { k };
                    (0..rank as i64).contains(&k).then_some(k as usize)
                }
                _ => None,
            })
            .collect();
        let all = |order: &Vec<usize>| order.len() == rank && (0..rank).all(|k| order.contains(&k));
        order.filter(all).ok_or_else(|| {
            Diagnostic::new("shape-mismatch", "`transpose` names each axis once")
                .label(a.span(), "these axes")
                .help(format!("name each of 0 to {}", rank.saturating_sub(1)))
        })
    }

    /// The same elements in another shape; NumPy shares them with the array where it can.
    fn reshaped(
        &mut self,
        operand: Operand,
        dims: Option<Vec<Value>>,
        at: Span,
        span: Span,
    ) -> Lowered<Operand> {
        let shares = match &operand {
            Operand::Array(view) => Some(view.storage),
            Operand::Fresh(fresh) => fresh.shares,
            _ => None,
        };
        let x = self.value(&operand, at)?;
        self.b.at(span);
        if !self.b.ty(x).is_array() {
            let dims = dims.unwrap_or_else(|| vec![self.b.i64(1)]);
            return Ok(self.filled(&dims, x, span));
        }
        let mut dims = match dims {
            Some(dims) => dims,
            None => vec![self.count(x)],
        };
        // One size can be left to be found.
        let minus = |l: &Self, d: &Value| l.b.func().as_const(*d) == Some(Scalar::I64(-1));
        if let Some(open) = dims.iter().position(|d| minus(self, d)) {
            let all = self.count(x);
            let one = self.b.i64(1);
            let mut rest = one;
            for (k, d) in dims.clone().into_iter().enumerate() {
                if k != open {
                    rest = self.b.prim(Prim::IMul, &[rest, d]);
                }
            }
            // Nothing divided by nothing is nothing.
            let safe = self.b.prim(Prim::IMax, &[rest, one]);
            dims[open] = self.b.prim(Prim::IDiv, &[all, safe]);
        }
        let v = self.b.array(ArrayOp::Reshape, &[&[x][..], &dims].concat());
        self.note_dims(v, &dims);
        Ok(Operand::Fresh(Fresh { value: v, shares }))
    }

    fn joined(&mut self, given: &Given) -> Lowered<Operand> {
        let parts = self.parts(given, 0)?;
        let stacked = matches!(given.name, "stack");
        let rank = self.same_rank(given, &parts, usize::from(given.name == "concatenate"))?;
        let values: Vec<Value> = parts.iter().map(|(v, _)| *v).collect();
        let vertical = given.name == "vstack" && rank < 2;
        let axes = rank + usize::from(stacked);
        let axis = match given.name {
            "concatenate" | "stack" => self.axis(given, 1, axes.max(1))?.unwrap_or(0),
            "hstack" if rank > 1 => 1,
            _ => 0,
        };
        let v = self.by(given, |b| {
            if stacked || vertical || rank == 0 {
                arrays::stack(b, &values, axis)
            } else {
                arrays::concatenate(b, &values, axis)
            }
        })?;
        Ok(self.made(v))
    }

    /// `x.name`.
    pub(super) fn attribute(&mut self, base: &Expr, name: &Name, span: Span) -> Lowered<Operand> {
        let operand = self.expr(base)?;
        match name.text.as_str() {
            "T" => {
                let view = self.as_view(operand, base.span)?;
                let order: Vec<usize> = (0..self.rank_of(&view)).rev().collect();
                self.b.at(span);
                Ok(Operand::Array(self.permuted(&view, &order)))
            }
            "shape" | "size" | "ndim" => self.property(&name.text, operand, base.span, span),
            other => Err(Diagnostic::new(
                "unsupported-syntax",
                format!("`.{other}` is not supported"),
            )
            .label(name.span, "this attribute")
            .help(
                "arrays have `.shape`, `.size`, `.ndim` and `.T`; pass other values as arguments",
            )),
        }
    }

    fn property(&mut self, name: &str, operand: Operand, at: Span, span: Span) -> Lowered<Operand> {
        let view = self.as_view(operand, at)?;
        self.b.at(span);
        let dims = self.dims_of(&view);
        Ok(match name {
            "shape" => {
                Operand::Tuple(dims.into_iter().map(|d| (Operand::Scalar(d), span)).collect())
            }
            "ndim" => Operand::Scalar(self.b.i64(dims.len() as i64)),
            _ => {
                let n = dims.into_iter().reduce(|n, d| self.b.prim(Prim::IMul, &[n, d]));
                Operand::Scalar(n.unwrap_or_else(|| self.b.i64(1)))
            }
        })
    }

    /// `x.name(...)`: most methods are functions of the same name.
    pub(super) fn method(
        &mut self,
        base: &Expr,
        name: &Name,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        if name.text == "append" {
            return Err(Diagnostic::new("unsupported-syntax", "lists cannot grow")
                .label(span, "this makes the list longer")
                .help("allocate an array before the loop, `states = np.zeros(n)`, and assign its elements, `states[i] = x`"));
        }
        let operand = self.expr(base)?;
        let all = |receiver: Operand| {
            let rest = args.iter().map(Argument::Expr);
            std::iter::once(Argument::Value(receiver, base.span)).chain(rest).collect()
        };
        match name.text.as_str() {
            "max" => self.function("amax", all(operand), keywords, span),
            "min" => self.function("amin", all(operand), keywords, span),
            "sum" | "mean" | "prod" | "argmax" | "argmin" | "cumsum" | "cumprod" | "dot"
            | "copy" | "clip" | "any" | "all" | "argsort" | "round" | "ravel" | "take"
            | "swapaxes" | "searchsorted" | "std" | "var" | "trace" | "repeat" | "squeeze" => {
                self.function(&name.text, all(operand), keywords, span)
            }
            "flatten" => {
                let flat = self.function("ravel", all(operand), keywords, span)?;
                let v = self.value(&flat, span)?;
                let v = self.b.op(Op::Copy, &[v])[0];
                Ok(Operand::fresh(v))
            }
            "reshape" | "transpose" if args.len() > 1 => {
                // `x.reshape(2, 3)` is `x.reshape((2, 3))`.
                let kind = ExprKind::Tuple(args.to_vec());
                let shape = Expr { kind, span: args[0].span.to(args[args.len() - 1].span) };
                let given = vec![Argument::Value(operand, base.span), Argument::Expr(&shape)];
                self.function(&name.text, given, keywords, span)
            }
            "reshape" | "transpose" => self.function(&name.text, all(operand), keywords, span),
            "astype" => {
                let given = arrange("asarray", &["a", "dtype?"], all(operand), keywords, span)?;
                let v = self.number(&given, 0)?;
                let elem = self.dtype(&given, 1)?.unwrap_or(Elem::F64);
                let cast = self.cast_to(v, elem, span)?;
                if cast != v || !self.b.ty(v).is_array() {
                    return Ok(self.made(cast));
                }
                Ok(Operand::fresh(self.b.op(Op::Copy, &[v])[0]))
            }
            "item" => {
                let v = self.value(&operand, base.span)?;
                if !self.b.ty(v).is_array() {
                    return Ok(Operand::Scalar(v));
                }
                self.b.at(span);
                let n = self.count(v);
                let (zero, one) = (self.b.i64(0), self.b.i64(1));
                let single = self.b.prim(Prim::IEq, &[n, one]);
                let message = "`item` needs an array with one element";
                self.b.op(Op::Assert(message.into()), &[single]);
                Ok(Operand::Scalar(self.b.array(ArrayOp::Peek, &[v, zero])))
            }
            "fill" => {
                let view = self.as_view(operand, base.span)?;
                let [value] = args else {
                    return Err(Diagnostic::new("argument-count", "`fill` takes one number")
                        .label(span, "this call"));
                };
                let v = self.scalar(value)?;
                self.put(&view, v, value.span, span)?;
                Ok(Operand::None)
            }
            "sort" => {
                let view: View = self.as_view(operand, base.span)?;
                let x = self.read(&view, span);
                self.b.at(span);
                let sorted = arrays::sort(&mut self.b, x, None)
                    .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "this call"))?;
                self.replace(&view, sorted, span, span)?;
                Ok(Operand::None)
            }
            other => Err(Diagnostic::new(
                "unsupported-function",
                format!("the method `{other}` is not supported"),
            )
            .label(name.span, "this method")
            .help(format!("write `np.{other}(x)` if there is such a function, or a loop"))),
        }
    }
}

/// The arguments in the order of the parameters.
fn arrange<'e>(
    name: &'e str,
    params: &[&str],
    args: Vec<Argument<'e>>,
    keywords: &'e [Keyword],
    span: Span,
) -> Lowered<Given<'e>> {
    let many = params.last() == Some(&"*");
    let names: Vec<&str> = params.iter().map(|p| p.trim_end_matches('?')).collect();
    let wrong = |message: String| {
        Diagnostic::new("argument-count", message).label(span, "this call").help(format!(
            "its arguments are {}",
            params.iter().map(|p| p.replace('*', "...")).collect::<Vec<_>>().join(", ")
        ))
    };
    if args.len() > params.len() && !many {
        let s = if params.len() == 1 { "" } else { "s" };
        return Err(wrong(format!(
            "`{name}` takes {} argument{s}, but {} are given",
            params.len(),
            args.len()
        )));
    }
    let mut given: Vec<Option<Argument>> = args.into_iter().map(Some).collect();
    let fixed = if many { params.len() - 1 } else { params.len() };
    while given.len() < fixed {
        given.push(None);
    }
    for k in keywords {
        let at = names.iter().position(|p| *p == k.name.text && *p != "*");
        let Some(at) = at else {
            return Err(wrong(format!("`{name}` has no argument `{}` here", k.name.text))
                .label(k.name.span, "this one"));
        };
        if given[at].replace(Argument::Expr(&k.value)).is_some() {
            return Err(wrong(format!("`{}` is given twice", k.name.text)));
        }
    }
    for (p, slot) in params.iter().zip(&given) {
        if slot.is_none() && !p.ends_with('?') && *p != "*" {
            return Err(wrong(format!("`{name}` is called without its `{p}`")));
        }
    }
    Ok(Given { name, args: given, span })
}

fn unknown_function(name: &str, span: Span) -> Diagnostic {
    let known = FUNCTIONS.iter().map(|(name, _)| *name).chain(functions::names());
    let near = known.filter(|k| !k.contains('_')).find(|k| similar(k, name));
    let error = Diagnostic::new("unsupported-function", format!("`{name}` is not supported"))
        .label(span, "here");
    error.help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write it with the functions there are, or as a loop; or compute it outside, and pass the result as an argument".into(),
    })
}
