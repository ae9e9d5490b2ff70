//! Arithmetic as Rust has it, where that is not Python's: only the Rust front end calls these.
//!
//! All work on single numbers. What depends on the sign of an integer leaves its checks out where the
//! integer is known not to be negative.

use super::Lower;
use super::arguments::Given;
use crate::ir::{Elem, Op, Value};
use crate::lower::operand::Operand;
use crate::lower::{Lowered, Lowering};
use crate::ops::{Prim, Scalar};
use crate::surface::tree::BinaryOp;

/// Canonical names, parameters, and how they are lowered.
#[rustfmt::skip]
pub(super) const FUNCTIONS: &[(&str, &[&str], Lower)] = &[
    ("rust.natural", &["x", "message"], |l, g| l.natural(g)),
    ("rust.saturate", &["x"], |l, g| l.saturated(g)),
    ("rust.quotient", &["a", "b"], |l, g| l.toward_zero(g, true)),
    ("rust.rest", &["a", "b"], |l, g| l.toward_zero(g, false)),
    ("rust.min", &["a", "b"], |l, g| l.numeric_extreme(g, Prim::Min)),
    ("rust.max", &["a", "b"], |l, g| l.numeric_extreme(g, Prim::Max)),
    ("rust.mul_add", &["a", "b", "c"], |l, g| l.fused(g)),
    ("rust.powf", &["x", "y"], |l, g| l.float_to_power(g)),
    ("rust.round", &["x"], |l, g| l.away_from_zero(g)),
    ("rust.signum", &["x"], |l, g| l.signum(g)),
    ("rust.rem_euclid", &["x", "y"], |l, g| l.euclid(g, false)),
    ("rust.div_euclid", &["x", "y"], |l, g| l.euclid(g, true)),
];

impl Lowering<'_> {
    /// An integer that must not be negative.
    fn natural(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.number(given, 0)?;
        if self.lower_bound(x).is_some_and(|low| low >= 0) {
            return Ok(Operand::Scalar(x));
        }
        let message = match self.operand(given.needed(1))? {
            Operand::Text(text) => text,
            _ => String::new(),
        };
        self.b.at(given.span);
        let zero = self.b.i64(0);
        let fits = self.b.prim(Prim::IGe, &[x, zero]);
        self.b.op(Op::Assert(message.into()), &[fits]);
        // A value of its own: elsewhere the integer may be negative.
        let natural = self.b.prim(Prim::IMax, &[x, zero]);
        self.lower_bounds.insert(natural, 0);
        Ok(Operand::Scalar(natural))
    }

    /// A float cut to an integer, the nearest one where it does not fit, 0 for NaN.
    fn saturated(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.number(given, 0)?;
        let x = self.convert(x, Elem::F64, given.span)?;
        self.b.at(given.span);
        Ok(Operand::Scalar(self.b.prim(Prim::FToI, &[x])))
    }

    /// Integers divided, rounded towards zero: the quotient or the remainder.
    fn toward_zero(&mut self, given: &Given, quotient: bool) -> Lowered<Operand> {
        let (a, b) = (self.number(given, 0)?, self.number(given, 1)?);
        let span = given.span;
        self.b.at(span);
        let zero = self.b.i64(0);
        let natural = |l: &Self, v: Value| l.lower_bound(v).is_some_and(|low| low >= 0);
        let plain = if quotient { BinaryOp::FloorDiv } else { BinaryOp::Rem };
        let down = self.combine(plain, a, b, span)?;
        if natural(self, a) && natural(self, b) {
            return Ok(Operand::Scalar(down));
        }
        let rest = if quotient { self.combine(BinaryOp::Rem, a, b, span)? } else { down };
        self.b.at(span);
        let inexact = self.b.prim(Prim::INe, &[rest, zero]);
        let (below_a, below_b) =
            (self.b.prim(Prim::ILt, &[a, zero]), self.b.prim(Prim::ILt, &[b, zero]));
        let either = self.b.prim(Prim::Or, &[below_a, below_b]);
        let both = self.b.prim(Prim::And, &[below_a, below_b]);
        let not_both = self.b.prim(Prim::Not, &[both]);
        let differ = self.b.prim(Prim::And, &[either, not_both]);
        let moves = self.b.prim(Prim::And, &[inexact, differ]);
        let (by, back) = match quotient {
            true => (self.b.i64(1), Prim::WAdd),
            false => (b, Prim::WSub),
        };
        let moved = self.b.prim(back, &[down, by]);
        Ok(Operand::Scalar(self.b.select(moves, moved, down)))
    }

    /// The smaller or larger of two floats; a NaN is left aside. A tie goes to the second.
    fn numeric_extreme(&mut self, given: &Given, row: Prim) -> Lowered<Operand> {
        let (x, y) = self.two_floats(given)?;
        let best = self.b.prim(row, &[x, y]);
        let constant = self.b.func().as_const(y);
        if let Some(Scalar::F64(_) | Scalar::F32(_)) = constant.filter(|c| !is_nan(*c)) {
            return Ok(Operand::Scalar(best));
        }
        let nan = self.b.prim(Prim::Ne, &[y, y]);
        Ok(Operand::Scalar(self.b.select(nan, x, best)))
    }

    /// `a * b + c`, rounded once.
    fn fused(&mut self, given: &Given) -> Lowered<Operand> {
        let (a, b) = self.two_floats(given)?;
        let c = self.number(given, 2)?;
        let c = self.convert(c, self.elem(a), given.span)?;
        self.b.at(given.span);
        Ok(Operand::Scalar(self.b.prim(Prim::Fma, &[a, b, c])))
    }

    /// A float to a float power; a constant whole one is repeated multiplication.
    fn float_to_power(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, y) = self.two_floats(given)?;
        let whole = match self.b.func().as_const(y) {
            Some(Scalar::F64(k)) => k.fract() == 0.0,
            Some(Scalar::F32(k)) => k.fract() == 0.0,
            _ => false,
        };
        if whole {
            return self.combine(BinaryOp::Pow, x, y, given.span).map(Operand::Scalar);
        }
        Ok(Operand::Scalar(self.b.prim(Prim::Pow, &[x, y])))
    }

    /// The nearest whole number, halves away from zero.
    fn away_from_zero(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, elem) = self.one_float(given)?;
        let whole = self.b.prim(Prim::Trunc, &[x]);
        let part = self.b.sub(x, whole);
        let size = self.b.prim(Prim::Abs, &[part]);
        let (half, one) = (self.b.float(elem, 0.5), self.b.float(elem, 1.0));
        let far = self.b.prim(Prim::Ge, &[size, half]);
        let step = self.b.prim(Prim::CopySign, &[one, x]);
        let next = self.b.add(whole, step);
        Ok(Operand::Scalar(self.b.select(far, next, whole)))
    }

    /// 1 or -1 by the sign bit, NaN for NaN.
    fn signum(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, elem) = self.one_float(given)?;
        let one = self.b.float(elem, 1.0);
        let sign = self.b.prim(Prim::CopySign, &[one, x]);
        let nan = self.b.prim(Prim::Ne, &[x, x]);
        let none = self.b.float(elem, f64::NAN);
        Ok(Operand::Scalar(self.b.select(nan, none, sign)))
    }

    /// Division with a remainder that is not negative.
    fn euclid(&mut self, given: &Given, quotient: bool) -> Lowered<Operand> {
        let (x, y) = self.two_floats(given)?;
        let elem = self.elem(x);
        let rest = self.b.prim(Prim::Rem, &[x, y]);
        let zero = self.b.float(elem, 0.0);
        let below = self.b.prim(Prim::Lt, &[rest, zero]);
        if !quotient {
            let size = self.b.prim(Prim::Abs, &[y]);
            let moved = self.b.add(rest, size);
            return Ok(Operand::Scalar(self.b.select(below, moved, rest)));
        }
        let ratio = self.b.prim(Prim::Div, &[x, y]);
        let whole = self.b.prim(Prim::Trunc, &[ratio]);
        let one = self.b.float(elem, 1.0);
        let (less, more) = (self.b.sub(whole, one), self.b.add(whole, one));
        let up = self.b.prim(Prim::Gt, &[y, zero]);
        let moved = self.b.select(up, less, more);
        Ok(Operand::Scalar(self.b.select(below, moved, whole)))
    }

    fn one_float(&mut self, given: &Given) -> Lowered<(Value, Elem)> {
        let x = self.number(given, 0)?;
        let elem = self.float_elem(x);
        let x = self.convert(x, elem, given.span)?;
        self.b.at(given.span);
        Ok((x, elem))
    }

    fn two_floats(&mut self, given: &Given) -> Lowered<(Value, Value)> {
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let elem = match self.common_elem(x, y) {
            Elem::F32 => Elem::F32,
            _ => Elem::F64,
        };
        let (x, y) = (self.convert(x, elem, given.span)?, self.convert(y, elem, given.span)?);
        self.b.at(given.span);
        Ok((x, y))
    }
}

fn is_nan(c: Scalar) -> bool {
    match c {
        Scalar::F64(x) => x.is_nan(),
        Scalar::F32(x) => x.is_nan(),
        _ => false,
    }
}
