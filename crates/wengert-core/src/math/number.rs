//! Partial derivatives as numbers: the table's expressions over `f64`.

use crate::math;
use crate::ops::real::NO_RECIPROCAL;
use crate::ops::{Prim, Real, Scalar};

impl Real for f64 {
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn log(self) -> Self {
        f64::ln(self)
    }
    fn sin(self) -> Self {
        f64::sin(self)
    }
    fn cos(self) -> Self {
        f64::cos(self)
    }
    fn less(self, other: Self) -> Self {
        if self < other { 1.0 } else { 0.0 }
    }
    fn positive(self) -> Self {
        if self > 0.0 { 1.0 } else { 0.0 }
    }
    fn recip_of(self, c: f64) -> Self {
        c / self
    }
    fn sign(self) -> Self {
        if self > 0.0 {
            1.0
        } else if self < 0.0 {
            -1.0
        } else {
            0.0
        }
    }
    fn round(self) -> Self {
        self.round_ties_even()
    }
    fn sinh(self) -> Self {
        f64::sinh(self)
    }
    fn cosh(self) -> Self {
        f64::cosh(self)
    }
    fn hypot(self, other: Self) -> Self {
        f64::hypot(self, other)
    }
    fn hypot_of(self, c: f64) -> Self {
        f64::hypot(self, c)
    }
    fn nonzero(self) -> Self {
        if self == 0.0 { 1.0 } else { self }
    }
    fn gap(self, other: Self) -> Self {
        if self == other { 0.0 } else { self - other }
    }
    fn pow_less_one(self, b: Self) -> Self {
        let none = self.abs() <= NO_RECIPROCAL && b == 0.0;
        if none { 1.0 } else { self.powf(b - 1.0) }
    }
    fn log_of_base(self, b: Self) -> Self {
        if self == 0.0 && b >= 0.0 { 0.0 } else { self.ln() }
    }
    fn as_float(self, _: Self) -> Self {
        self
    }
    fn powi_less_one(self, n: Self) -> Self {
        if n == 0.0 { 1.0 } else { self.powf(n - 1.0) }
    }
    fn sigmoid(self) -> Self {
        math::value(Prim::Sigmoid, &[Scalar::F64(self)])
    }
    fn polygamma(self, order: Self) -> Self {
        math::value(Prim::PolyGamma, &[Scalar::I64(order as i64), Scalar::F64(self)])
    }
    fn integer(self, c: i64) -> Self {
        c as f64
    }
    fn next(self) -> Self {
        self + 1.0
    }
}
