//! Functions of numbers, and of arrays element by element: rows of the rule table, conversions,
//! comparisons.

use super::arguments::{Argument, Given};
use crate::arrays;
use crate::ir::{Elem, Op, Value};
use crate::lower::operand::{Operand, described_rank, join_elem};
use crate::lower::{Lowered, Lowering};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::names::shown;
use crate::surface::tree::{BinaryOp, Keyword};

impl Lowering<'_> {
    /// A row of the table.
    pub(super) fn row_call(
        &mut self,
        name: &str,
        prim: Prim,
        args: Vec<Argument>,
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        let name = shown(name);
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

    /// `abs`, of integers as well.
    pub(super) fn absolute(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
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

    /// `float(x)` and `np.float32(x)`.
    pub(super) fn float_of(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let elem = if given.name == "float" { Elem::F64 } else { Elem::F32 };
        let a = given.needed(0);
        let operand = self.operand(a)?;
        if let Operand::Text(text) = &operand {
            let Ok(x) = text.trim().parse::<f64>() else {
                return Err(Diagnostic::new("type", "this text is not a number")
                    .label(a.span(), "here")
                    .help("write `float(\"inf\")`, `float(\"nan\")`, or the number itself"));
            };
            return Ok(Operand::Scalar(self.b.float(elem, x)));
        }
        let x = self.value(&operand, a.span())?;
        let v = self.convert(x, elem, span)?;
        Ok(self.made(v))
    }

    /// `int(x)`, and the roundings of `math` that give integers.
    pub(super) fn integer_of(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let operand = self.operand(a)?;
        let x = self.as_scalar(&operand, a.span())?;
        self.whole(given.name, x, span).map(Operand::Scalar)
    }

    /// A float as an integer: cut, or rounded one way or the other.
    pub(super) fn whole(&mut self, name: &str, x: Value, span: Span) -> Lowered<Value> {
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

    /// `np.round`, to whole numbers that stay floats.
    pub(super) fn rounded(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let x = self.number(given, 0)?;
        self.b.at(span);
        let v = if self.elem(x).is_float() { self.row(Prim::Round, x) } else { x };
        Ok(self.made(v))
    }

    /// `bool(x)`.
    pub(super) fn truth_of(&mut self, given: &Given) -> Lowered<Operand> {
        let a = given.needed(0);
        let operand = self.operand(a)?;
        self.truth(&operand, a.span()).map(Operand::Scalar)
    }

    /// Numbers of any other kind, also floats cut to integers.
    pub(super) fn cast_to(&mut self, v: Value, elem: Elem, span: Span) -> Lowered<Value> {
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

    /// Python's `min` and `max`: of several numbers, or of the elements of a vector.
    pub(super) fn extreme(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let mut values = Vec::new();
        for k in 0..given.args.len() {
            let a = given.needed(k);
            match self.operand(a)? {
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
                let message = format!("`{}` takes several numbers or a vector", given.shown());
                return Err(Diagnostic::new("type", message)
                    .label(at, format!("this is {}", described_rank(self.b.ty(x).rank())))
                    .help(format!("use `np.{}(x)`", given.shown())));
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
                format!("`{}` needs arguments", given.shown()),
            )
            .label(span, "this call"));
        };
        let mut best = *first;
        for (v, other) in [(*first, *at)].iter().chain(rest) {
            if self.b.ty(*v).is_array() {
                return Err(Diagnostic::new(
                    "type",
                    format!("`{}` compares numbers", given.shown()),
                )
                .label(*other, "this is an array")
                .help(format!("use `np.{}imum(x, y)`", given.shown())));
            }
        }
        for (v, _) in rest {
            best = self.larger(least, best, *v, false, span)?;
        }
        Ok(Operand::Scalar(best))
    }

    /// `np.minimum` and `np.maximum`.
    pub(super) fn extreme_of_two(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let v = self.larger(given.name == "minimum", x, y, true, span)?;
        Ok(self.made(v))
    }

    /// The smaller or the larger of two, element by element.
    pub(super) fn larger(
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

    /// `pow`, `np.float_power` and `np.mod`.
    pub(super) fn power_or_rest(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (mut x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        if given.name == "float_power" {
            let elem = self.float_elem(x);
            x = self.convert(x, elem, span)?;
        }
        let op = if given.name == "mod" { BinaryOp::Rem } else { BinaryOp::Pow };
        let v = self.combine(op, x, y, span)?;
        Ok(self.made(v))
    }

    /// `divmod`.
    pub(super) fn divided(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let whole = self.combine(BinaryOp::FloorDiv, x, y, span)?;
        let rest = self.combine(BinaryOp::Rem, x, y, span)?;
        Ok(Operand::Tuple(vec![(self.made(whole), span), (self.made(rest), span)]))
    }

    /// `np.heaviside`.
    pub(super) fn heaviside(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let v = self.by(given, |b| arrays::heaviside(b, x, y))?;
        Ok(self.made(v))
    }

    /// `math.log`, to any base.
    pub(super) fn logarithm(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let mut logs = Vec::new();
        for a in given.args.iter().flatten() {
            let x = self.argument(a)?;
            let x = self.convert(x, self.float_elem(x), span)?;
            self.b.at(span);
            logs.push(self.row(Prim::Log, x));
        }
        let v = match logs[..] {
            [x, base] => self.combine(BinaryOp::Div, x, base, span)?,
            _ => logs[0],
        };
        Ok(self.made(v))
    }

    /// `np.add` and its kin: operators under a name.
    pub(super) fn arithmetic_of_two(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let op = match given.name {
            "add" => BinaryOp::Add,
            "subtract" => BinaryOp::Sub,
            "multiply" => BinaryOp::Mul,
            "divide" => BinaryOp::Div,
            _ => BinaryOp::FloorDiv,
        };
        let v = self.combine(op, x, y, given.span)?;
        Ok(self.made(v))
    }

    /// `np.negative`.
    pub(super) fn opposite(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.number(given, 0)?;
        self.b.at(given.span);
        let v = if self.elem(x).is_float() {
            self.row(Prim::Neg, x)
        } else {
            let x = self.convert(x, Elem::I64, given.span)?;
            self.row(Prim::INeg, x)
        };
        Ok(self.made(v))
    }

    /// `np.square`.
    pub(super) fn squared(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let x = self.number(given, 0)?;
        let v = self.combine(BinaryOp::Mul, x, x, span)?;
        Ok(self.made(v))
    }

    /// `degrees` and `radians`.
    pub(super) fn angle(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
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

    /// `isnan`, `isinf` and `isfinite`.
    pub(super) fn classified(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
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

    /// `np.logical_and`, `np.logical_or` and `np.logical_xor`.
    pub(super) fn both_or_either(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (x, y) = (self.truths(given, 0)?, self.truths(given, 1)?);
        let op = match given.name {
            "logical_and" => BinaryOp::BitAnd,
            "logical_or" => BinaryOp::BitOr,
            _ => BinaryOp::BitXor,
        };
        let v = self.combine(op, x, y, span)?;
        Ok(self.made(v))
    }

    /// `np.logical_not`.
    pub(super) fn negated(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let x = self.truths(given, 0)?;
        self.b.at(span);
        let v = self.row(Prim::Not, x);
        Ok(self.made(v))
    }

    /// `digamma` and `polygamma`.
    pub(super) fn polygamma(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (n, x) = if given.name == "digamma" {
            (self.b.i64(0), self.number(given, 0)?)
        } else {
            (self.number(given, 0)?, self.number(given, 1)?)
        };
        if self.elem(n) != Elem::I64 {
            return Err(Diagnostic::new("type", "the order of `polygamma` is an integer")
                .label(given.needed(0).span(), "this is a float"));
        }
        let elem = self.float_elem(x);
        let x = self.convert(x, elem, span)?;
        let v = self.spread_row(Prim::PolyGamma, vec![n, x], span);
        Ok(self.made(v))
    }

    /// `np.where` with three arguments.
    pub(super) fn picked(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let c = self.truths(given, 0)?;
        let (x, y) = (self.number(given, 1)?, self.number(given, 2)?);
        let elem = self.common_elem(x, y);
        let (x, y) = (self.convert(x, elem, span)?, self.convert(y, elem, span)?);
        let v = self.spread_row(Prim::Select, vec![c, x, y], span);
        Ok(self.made(v))
    }

    /// `np.clip`; a bound that is `None` or left out is none.
    pub(super) fn clipped(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let x = self.number(given, 0)?;
        let mut bounds = [None, None];
        for (k, bound) in bounds.iter_mut().enumerate() {
            let Some(a) = given.optional(k + 1) else { continue };
            let operand = self.operand(a)?;
            if !matches!(operand, Operand::None) {
                *bound = Some(self.value(&operand, a.span())?);
            }
        }
        let given = [Some(x), bounds[0], bounds[1]].into_iter().flatten();
        let elem = given.map(|v| self.elem(v)).reduce(join_elem).unwrap_or(Elem::F64);
        if !elem.is_float() {
            let mut v = x;
            for (least, bound) in [(false, bounds[0]), (true, bounds[1])] {
                if let Some(bound) = bound {
                    v = self.larger(least, v, bound, true, span)?;
                }
            }
            return self.copied(v, x);
        }
        let mut args = vec![self.convert(x, elem, span)?];
        for (bound, none) in bounds.into_iter().zip([f64::NEG_INFINITY, f64::INFINITY]) {
            args.push(match bound {
                Some(v) => self.convert(v, elem, span)?,
                None => self.b.float(elem, none),
            });
        }
        let v = self.spread_row(Prim::Clamp, args, span);
        Ok(self.made(v))
    }
}
