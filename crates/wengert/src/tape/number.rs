//! Values and partials of rows as numbers: the rule table over doubles, with wengert's elementary functions.

use std::ops::{Add, Div, Mul, Neg, Sub};
use wengert_core::ops::{Prim, Real, value};
use wengert_math as math;

/// The value of a row of floats.
#[inline(always)]
pub(super) fn value(row: Prim, x: [f64; 3]) -> f64 {
    if let Some(y) = value::double(row, x) {
        return y;
    }
    use Prim::*;
    let [a, b, c] = x;
    match row {
        Ceil => math::ceil(a),
        Trunc => math::trunc(a),
        Sign => math::sign(a),
        CopySign => math::copysign(a, b),
        Relu => math::relu(a),
        Clamp => math::clamp(a, b, c),
        Rem => math::rem(a, b),
        Exp => math::exp(a),
        Log => math::log(a),
        Sin => math::sin(a),
        Cos => math::cos(a),
        Tanh => math::tanh(a),
        Cbrt => math::cbrt(a),
        Exp2 => math::exp2(a),
        Expm1 => math::expm1(a),
        Log2 => math::log2(a),
        Log10 => math::log10(a),
        Log1p => math::log1p(a),
        Tan => math::tan(a),
        Asin => math::asin(a),
        Acos => math::acos(a),
        Atan => math::atan(a),
        Atan2 => math::atan2(a, b),
        Sinh => math::sinh(a),
        Cosh => math::cosh(a),
        Asinh => math::asinh(a),
        Acosh => math::acosh(a),
        Atanh => math::atanh(a),
        Pow => math::pow(a, b),
        PowI => math::powi(a, b as i64),
        Hypot => math::hypot(a, b),
        LogAddExp => math::logaddexp(a, b),
        XLogY => math::xlogy(a, b),
        Erf => math::erf(a),
        Erfc => math::erfc(a),
        NormCdf => math::normcdf(a),
        NormInv => math::norminv(a),
        LGamma => math::lgamma(a),
        PolyGamma => math::polygamma(a as i64, b),
        Sigmoid => math::sigmoid(a),
        Softplus => math::softplus(a),
        _ => f64::NAN,
    }
}

/// A number that partials are evaluated in. Integers stand among them as doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub(super) f64);

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Number {
            type Output = Number;
            #[inline(always)]
            fn $method(self, other: Number) -> Number {
                Number(self.0.$method(other.0))
            }
        }
        impl $trait<f64> for Number {
            type Output = Number;
            #[inline(always)]
            fn $method(self, other: f64) -> Number {
                Number(self.0.$method(other))
            }
        }
        impl $trait<Number> for f64 {
            type Output = Number;
            #[inline(always)]
            fn $method(self, other: Number) -> Number {
                Number(self.$method(other.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for Number {
    type Output = Number;
    #[inline(always)]
    fn neg(self) -> Number {
        Number(-self.0)
    }
}

impl Elementary for Number {
    #[inline(always)]
    fn row(row: Prim, inputs: [Number; 3]) -> Number {
        Number(value(row, inputs.map(|x| x.0)))
    }
    #[inline(always)]
    fn constant(self, c: f64) -> Number {
        Number(c)
    }
    #[inline(always)]
    fn number(self) -> f64 {
        self.0
    }
}

/// What the table's expressions ask of a type, in terms of the table's own rows.
pub trait Elementary:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// The value of a row.
    #[track_caller]
    fn row(row: Prim, inputs: [Self; 3]) -> Self;
    /// A number, as a value of the kind this is.
    fn constant(self, c: f64) -> Self;
    /// Its value as a number.
    fn number(self) -> f64;
}

/// 1 or 0.
#[inline(always)]
fn truth<T: Elementary>(like: T, holds: bool) -> T {
    like.constant(if holds { 1.0 } else { 0.0 })
}

/// 2 to the power -1024: the largest double whose reciprocal overflows.
const NO_RECIPROCAL: f64 = f64::from_bits(1 << 50);

macro_rules! rows {
    ($($method:ident $row:ident),*) => {$(
        #[inline(always)]
        fn $method(self) -> Self {
            T::row(Prim::$row, [self.0; 3]).into()
        }
    )*};
}

/// A value of any such type as the table wants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<T>(pub(super) T);

impl<T> From<T> for Of<T> {
    #[inline(always)]
    fn from(x: T) -> Of<T> {
        Of(x)
    }
}

macro_rules! of_operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: Elementary> $trait for Of<T> {
            type Output = Of<T>;
            #[inline(always)]
            fn $method(self, other: Of<T>) -> Of<T> {
                Of(self.0.$method(other.0))
            }
        }
    )*};
    (number: $($trait:ident $method:ident),*) => {$(
        impl<T: Elementary> $trait<f64> for Of<T> {
            type Output = Of<T>;
            #[inline(always)]
            fn $method(self, other: f64) -> Of<T> {
                Of(self.0.$method(other))
            }
        }
    )*};
}
of_operators!(Add add, Sub sub, Mul mul, Div div);
of_operators!(number: Add add, Sub sub, Mul mul);

impl<T: Elementary> Sub<Of<T>> for f64 {
    type Output = Of<T>;
    #[inline(always)]
    fn sub(self, other: Of<T>) -> Of<T> {
        Of(other.0.constant(self) - other.0)
    }
}

impl<T: Elementary> Mul<Of<T>> for f64 {
    type Output = Of<T>;
    #[inline(always)]
    fn mul(self, other: Of<T>) -> Of<T> {
        Of(other.0.constant(self) * other.0)
    }
}

impl<T: Elementary> Neg for Of<T> {
    type Output = Of<T>;
    #[inline(always)]
    fn neg(self) -> Of<T> {
        Of(-self.0)
    }
}

impl<T: Elementary> Real for Of<T> {
    rows!(sqrt Sqrt, exp Exp, log Log, sin Sin, cos Cos, sign Sign, round Round, sinh Sinh, cosh Cosh, sigmoid Sigmoid);

    #[inline(always)]
    fn less(self, other: Self) -> Self {
        Of(truth(self.0, self.0.number() < other.0.number()))
    }
    #[inline(always)]
    fn positive(self) -> Self {
        Of(truth(self.0, self.0.number() > 0.0))
    }
    #[inline(always)]
    fn recip_of(self, c: f64) -> Self {
        Of(self.0.constant(c) / self.0)
    }
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        Of(T::row(Prim::Hypot, [self.0, other.0, self.0]))
    }
    #[inline(always)]
    fn hypot_of(self, c: f64) -> Self {
        Of(T::row(Prim::Hypot, [self.0, self.0.constant(c), self.0]))
    }
    #[inline(always)]
    fn nonzero(self) -> Self {
        if self.0.number() == 0.0 { Of(self.0.constant(1.0)) } else { self }
    }
    #[inline(always)]
    fn gap(self, other: Self) -> Self {
        let same = self.0.number() == other.0.number();
        if same && self.0.number().is_infinite() { Of(self.0.constant(0.0)) } else { self - other }
    }
    #[inline(always)]
    fn pow_less_one(self, b: Self) -> Self {
        let none = self.0.number().abs() <= NO_RECIPROCAL && b.0.number() == 0.0;
        if none {
            return Of(self.0.constant(1.0));
        }
        Of(T::row(Prim::Pow, [self.0, b.0 - 1.0, self.0]))
    }
    #[inline(always)]
    fn log_of_base(self, b: Self) -> Self {
        let none = self.0.number() == 0.0 && b.0.number() >= 0.0;
        if none { Of(self.0.constant(0.0)) } else { self.log() }
    }
    #[inline(always)]
    fn as_float(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn powi_less_one(self, n: Self) -> Self {
        let n = n.0.number();
        if n == 0.0 {
            return Of(self.0.constant(1.0));
        }
        Of(T::row(Prim::PowI, [self.0, self.0.constant(n - 1.0), self.0]))
    }
    #[inline(always)]
    fn polygamma(self, order: Self) -> Self {
        Of(T::row(Prim::PolyGamma, [order.0, self.0, self.0]))
    }
    #[inline(always)]
    fn integer(self, c: i64) -> Self {
        Of(self.0.constant(c as f64))
    }
    #[inline(always)]
    fn next(self) -> Self {
        Of(self.0.constant(self.0.number() + 1.0))
    }
}
