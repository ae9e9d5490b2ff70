//! What derivatives are computed over: numbers, variables, and what is made of them.

use super::number::{Elementary, value};
use super::var::Var;
use num_traits::{Float, FloatConst, FromPrimitive, NumAssign};
use std::fmt::{Debug, Display};
use wengert_core::ops::Prim;

/// Functions that `num_traits` does not have.
macro_rules! one_input {
    ($($(#[$doc:meta])* $method:ident $row:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        fn $method(self) -> Self {
            Self::row(Prim::$row, [self; 3])
        }
    )*};
}

/// A number that derivatives can be computed over: `f64`, [`Var`], and a [`Dual`](super::Dual) or a [`Jet`](super::Jet) over any
/// of these, and no others. Functions written for it (or for `num_traits::Float`) take all of them.
///
/// ```
/// use wengert::tape::{Dual, Scalar, grad};
///
/// fn energy<T: Scalar>(x: T, v: T) -> T {
///     v * v * 0.5 - x.cos()
/// }
///
/// assert_eq!(energy(0.0, 2.0), 1.0);
/// assert_eq!(energy(Dual::variable(0.0, 0), Dual::<f64, 1>::constant(2.0)).tangents(), &[0.0]);
/// assert_eq!(grad(|x| energy(x[0], x[1]), &[0.0, 2.0])?, [0.0, 2.0]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
pub trait Scalar:
    Elementary
    + Float
    + FloatConst
    + FromPrimitive
    + NumAssign
    + Default
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// A constant.
    fn of(number: f64) -> Self;

    /// Whether it is 0, and its derivatives too, whatever they are taken by.
    fn vanishes(self) -> bool;

    /// Its value as a plain number, through which no derivative passes; tapes count this.
    fn converted(self) -> f64;

    one_input! {
        /// `max(x, 0)`; its derivative is 0 at 0.
        relu Relu;
        /// `1 / (1 + exp(-x))`.
        sigmoid Sigmoid;
        /// `ln(1 + exp(x))`.
        softplus Softplus;
        /// The error function.
        erf Erf;
        /// `1 - erf(x)`.
        erfc Erfc;
        /// The distribution function of the normal distribution.
        norm_cdf NormCdf;
        /// The inverse of the distribution function of the normal distribution.
        norm_inv NormInv;
        /// The logarithm of the gamma function's absolute value.
        ln_gamma LGamma;
        /// The value, through which no derivative passes.
        stop_gradient StopGradient;
    }

    /// `ln(exp(x) + exp(y))`, without overflow.
    #[track_caller]
    fn logaddexp(self, other: Self) -> Self {
        Self::row(Prim::LogAddExp, [self, other, other])
    }

    /// `x ln(y)`, 0 where `x` is 0.
    #[track_caller]
    fn xlogy(self, other: Self) -> Self {
        Self::row(Prim::XLogY, [self, other, other])
    }
}

impl Elementary for f64 {
    #[inline(always)]
    fn row(row: Prim, inputs: [f64; 3]) -> f64 {
        value(row, inputs)
    }
    #[inline(always)]
    fn constant(self, c: f64) -> f64 {
        c
    }
    #[inline(always)]
    fn number(self) -> f64 {
        self
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn of(number: f64) -> f64 {
        number
    }
    #[inline(always)]
    fn vanishes(self) -> bool {
        self == 0.0
    }
    #[inline(always)]
    fn converted(self) -> f64 {
        self
    }
}

impl Scalar for Var {
    fn of(number: f64) -> Var {
        Var::constant(number)
    }
    fn vanishes(self) -> bool {
        self.is_constant() && self.value() == 0.0
    }
    fn converted(self) -> f64 {
        self.into()
    }
}
