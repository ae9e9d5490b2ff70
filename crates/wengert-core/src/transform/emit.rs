//! The rule table, evaluated into IR: partials become instructions.

use crate::ir::{Builder, Elem, Value};
use crate::ops::real::{NO_RECIPROCAL, NO_RECIPROCAL_32};
use crate::ops::{Partial, Prim, Real};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The partials of a row as values of the function under construction.
///
/// Expressions are appended whether or not their partial is used; what is not is dead code. `known` is the value
/// of a function of the inputs that the partials take.
pub fn partials(
    b: &mut Builder,
    prim: Prim,
    inputs: &[Value],
    y: Value,
    known: Option<(Prim, Value)>,
) -> Vec<Partial<Value>> {
    let cell = RefCell::new(b);
    let emit = |v: Value| Emit { b: &cell, v, truth: None, known };
    let inputs: Vec<Emit> = inputs.iter().map(|v| emit(*v)).collect();
    let partials = prim.partials(&inputs, emit(y));
    let plain = partials.into_iter().map(|p| match p {
        Partial::Const(c) => Partial::Const(c),
        Partial::Of(e) => Partial::Of(e.v),
        Partial::Where(e) => Partial::Where(e.as_truth()),
    });
    plain.collect()
}

/// `partial * d`, added to `sum` where there is one: the one way derivatives are accumulated.
pub fn accumulate(b: &mut Builder, partial: Partial<Value>, d: Value, sum: Option<Value>) -> Value {
    match (partial, sum) {
        (Partial::Const(0.0), None) => b.float(b.ty(d).elem().unwrap_or(Elem::F64), 0.0),
        (Partial::Const(0.0), Some(sum)) => sum,
        (Partial::Const(1.0), None) => d,
        (Partial::Const(1.0), Some(sum)) => b.add(sum, d),
        (Partial::Const(-1.0), None) => b.neg(d),
        (Partial::Const(-1.0), Some(sum)) => b.sub(sum, d),
        (Partial::Const(c), sum) => {
            let c = b.float(b.ty(d).elem().unwrap_or(Elem::F64), c);
            accumulate(b, Partial::Of(c), d, sum)
        }
        (Partial::Of(p), None) => b.mul(p, d),
        (Partial::Of(p), Some(sum)) => b.fma(p, d, sum),
        (Partial::Where(c), sum) => {
            let zero = b.zero(b.ty(d));
            let chosen = b.select(c, d, zero);
            sum.map_or(chosen, |sum| b.add(sum, chosen))
        }
    }
}

/// A value that appends an instruction for every operator applied to it.
#[derive(Clone, Copy)]
struct Emit<'a, 'b> {
    b: &'a RefCell<&'b mut Builder>,
    v: Value,
    /// The truth value that this is 1 or 0 for.
    truth: Option<Value>,
    /// A function of the inputs whose value is at hand.
    known: Option<(Prim, Value)>,
}

impl Emit<'_, '_> {
    fn prim(self, prim: Prim, args: &[Value]) -> Self {
        let v = match self.known {
            Some((known, v)) if known == prim => v,
            _ => self.b.borrow_mut().prim(prim, args),
        };
        Emit { v, truth: None, ..self }
    }

    /// 1 where a condition holds, else 0.
    fn counted(self, like: Self) -> Self {
        let (one, zero) = (like.constant(1.0), like.constant(0.0));
        Emit { truth: Some(self.v), ..self.prim(Prim::Select, &[self.v, one, zero]) }
    }

    /// Whether this 0 or 1 is 1.
    fn as_truth(self) -> Value {
        self.truth.unwrap_or_else(|| self.compared(Prim::Ne, 0.0).v)
    }

    fn constant(self, c: f64) -> Value {
        let mut b = self.b.borrow_mut();
        let elem = b.ty(self.v).elem().unwrap_or(Elem::F64);
        b.float(elem, c)
    }

    fn whole(self, c: i64) -> Value {
        self.b.borrow_mut().i64(c)
    }

    /// This value, but `c` where the condition holds.
    fn unless(self, condition: Self, c: f64) -> Self {
        let c = self.constant(c);
        self.prim(Prim::Select, &[condition.v, c, self.v])
    }

    /// The condition that this value stands so to a constant.
    fn compared(self, prim: Prim, c: f64) -> Self {
        let c = self.constant(c);
        self.prim(prim, &[self.v, c])
    }

    /// This condition, and that one.
    fn both(self, other: Self) -> Self {
        self.prim(Prim::And, &[self.v, other.v])
    }
}

macro_rules! emit_op {
    ($($trait:ident $method:ident $prim:ident),*) => {$(
        impl $trait for Emit<'_, '_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.prim(Prim::$prim, &[self.v, other.v])
            }
        }
        impl $trait<f64> for Emit<'_, '_> {
            type Output = Self;
            fn $method(self, c: f64) -> Self {
                let c = self.constant(c);
                self.prim(Prim::$prim, &[self.v, c])
            }
        }
        impl<'a, 'b> $trait<Emit<'a, 'b>> for f64 {
            type Output = Emit<'a, 'b>;
            fn $method(self, other: Emit<'a, 'b>) -> Emit<'a, 'b> {
                let c = other.constant(self);
                other.prim(Prim::$prim, &[c, other.v])
            }
        }
    )*};
}
emit_op!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);

impl Neg for Emit<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.prim(Prim::Neg, &[self.v])
    }
}

impl Real for Emit<'_, '_> {
    fn sqrt(self) -> Self {
        self.prim(Prim::Sqrt, &[self.v])
    }
    fn exp(self) -> Self {
        self.prim(Prim::Exp, &[self.v])
    }
    fn log(self) -> Self {
        self.prim(Prim::Log, &[self.v])
    }
    fn sin(self) -> Self {
        self.prim(Prim::Sin, &[self.v])
    }
    fn cos(self) -> Self {
        self.prim(Prim::Cos, &[self.v])
    }
    fn less(self, other: Self) -> Self {
        self.prim(Prim::Lt, &[self.v, other.v]).counted(self)
    }
    fn positive(self) -> Self {
        self.compared(Prim::Gt, 0.0).counted(self)
    }
    fn flipped(self) -> Self {
        let c = self.as_truth();
        self.prim(Prim::Not, &[c]).counted(self)
    }
    fn and(self, other: Self) -> Self {
        let both = [self.as_truth(), other.as_truth()];
        self.prim(Prim::And, &both).counted(self)
    }
    fn recip_of(self, c: f64) -> Self {
        c / self
    }
    fn sign(self) -> Self {
        let (one, zero, minus) = (self.constant(1.0), self.constant(0.0), self.constant(-1.0));
        let negative = self.prim(Prim::Lt, &[self.v, zero]);
        let below = self.prim(Prim::Select, &[negative.v, minus, zero]);
        let positive = self.prim(Prim::Gt, &[self.v, zero]);
        self.prim(Prim::Select, &[positive.v, one, below.v])
    }
    fn round(self) -> Self {
        self.prim(Prim::Round, &[self.v])
    }
    fn sinh(self) -> Self {
        self.prim(Prim::Sinh, &[self.v])
    }
    fn cosh(self) -> Self {
        self.prim(Prim::Cosh, &[self.v])
    }
    fn hypot(self, other: Self) -> Self {
        self.prim(Prim::Hypot, &[self.v, other.v])
    }
    fn hypot_of(self, c: f64) -> Self {
        let c = self.constant(c);
        self.prim(Prim::Hypot, &[self.v, c])
    }
    fn nonzero(self) -> Self {
        self.unless(self.compared(Prim::Eq, 0.0), 1.0)
    }
    fn gap(self, other: Self) -> Self {
        let size = self.prim(Prim::Abs, &[self.v]);
        let same = self.prim(Prim::Eq, &[self.v, other.v]);
        let infinite = size.compared(Prim::Eq, f64::INFINITY).both(same);
        // Chosen before the difference is taken: that of infinities has no derivative.
        self.unless(infinite, 0.0) - other.unless(infinite, 0.0)
    }
    fn pow_less_one(self, b: Self) -> Self {
        let single = self.b.borrow().ty(self.v).elem() == Some(Elem::F32);
        let least = if single { NO_RECIPROCAL_32 } else { NO_RECIPROCAL };
        let tiny = self.prim(Prim::Abs, &[self.v]).compared(Prim::Le, least);
        let less = (b - 1.0).unless(tiny.both(b.compared(Prim::Eq, 0.0)), 0.0);
        self.prim(Prim::Pow, &[self.v, less.v])
    }
    fn log_of_base(self, b: Self) -> Self {
        let flat = self.compared(Prim::Eq, 0.0).both(b.compared(Prim::Ge, 0.0));
        self.unless(flat, 1.0).log()
    }
    fn as_float(self, like: Self) -> Self {
        let wide = self.prim(Prim::IToF, &[self.v]);
        let single = self.b.borrow().ty(like.v).elem() == Some(Elem::F32);
        if single { wide.prim(Prim::Demote, &[wide.v]) } else { wide }
    }
    fn powi_less_one(self, n: Self) -> Self {
        // The least integer has none below it; so far out, one more or less is nothing.
        let (least, one, zero) = (self.whole(i64::MIN + 1), self.whole(1), self.whole(0));
        let above = self.prim(Prim::IMax, &[n.v, least]);
        let less = self.prim(Prim::WSub, &[above.v, one]);
        let none = self.prim(Prim::IEq, &[n.v, zero]);
        let exponent = self.prim(Prim::Select, &[none.v, zero, less.v]);
        self.prim(Prim::PowI, &[self.v, exponent.v])
    }
    fn sigmoid(self) -> Self {
        self.prim(Prim::Sigmoid, &[self.v])
    }
    fn polygamma(self, order: Self) -> Self {
        self.prim(Prim::PolyGamma, &[order.v, self.v])
    }
    fn integer(self, c: i64) -> Self {
        Emit { v: self.b.borrow_mut().i64(c), truth: None, ..self }
    }
    fn next(self) -> Self {
        let one = self.integer(1);
        self.prim(Prim::WAdd, &[self.v, one.v])
    }
}
