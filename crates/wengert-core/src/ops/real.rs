//! What partial derivatives are written in.
//!
//! A partial in the table is an expression over any type that implements [`Real`]. Evaluating the
//! same expression over different types gives every use of the table: over `f64` it is a number,
//! over the emitter in `transform` it appends IR instructions, over [`Uses`] it tells which inputs
//! (and whether the output) the reverse sweep needs.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A type partials can be evaluated in.
pub trait Real:
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
    /// Square root.
    fn sqrt(self) -> Self;
    /// e to the power.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// 1 where `self < other`, else 0.
    fn less(self, other: Self) -> Self;
    /// 1 where `self > 0`, else 0.
    fn positive(self) -> Self;
    /// `c / self`.
    fn recip_of(self, c: f64) -> Self;
    /// -1, 0 or 1 with the sign of `self` (0 at 0).
    fn sign(self) -> Self;
    /// 1 for 0 and 0 for 1.
    fn flipped(self) -> Self {
        -self + 1.0
    }
    /// 1 where this and the other are 1, else 0, for numbers that are 0 or 1.
    fn and(self, other: Self) -> Self {
        self * other
    }
    /// The nearest integer; no derivative passes.
    fn round(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// `1 / (1 + exp(-self))`.
    fn sigmoid(self) -> Self;
    /// The root of the sum of squares.
    fn hypot(self, other: Self) -> Self;
    /// The root of the sum of squares of `self` and a constant.
    fn hypot_of(self, c: f64) -> Self;
    /// `self`, but 1 where it is 0.
    fn nonzero(self) -> Self;
    /// `self - other`, but 0 for two equal infinities.
    fn gap(self, other: Self) -> Self;
    /// `self` to the power `b - 1`; 1 where `b` is 0 and `self` so small that it has no reciprocal: there
    /// `b` times this is 0. (For others it stays the reciprocal, which the derivative by `b` needs.)
    fn pow_less_one(self, b: Self) -> Self;
    /// The logarithm of a base whose exponent is `b`; 0 where the base is 0 and `b` is not negative.
    fn log_of_base(self, b: Self) -> Self;
    /// An integer input as a float like another.
    fn as_float(self, like: Self) -> Self;
    /// `self` to the power `n - 1` for an integer input `n`; 1 where `n` is 0.
    fn powi_less_one(self, n: Self) -> Self;
    /// The polygamma function of an order that is an integer.
    fn polygamma(self, order: Self) -> Self;
    /// An integer constant. Integers stand among inputs as values of the same type.
    fn integer(self, c: i64) -> Self;
    /// The integer after this one.
    fn next(self) -> Self;
    /// This expression as a partial.
    fn partial(self) -> Partial<Self> {
        Partial::Of(self)
    }
}

/// The largest double whose reciprocal overflows: 2 to the power -1024.
pub(crate) const NO_RECIPROCAL: f64 = f64::from_bits(1 << 50);
/// The largest single-precision number whose reciprocal overflows: 2 to the power -128.
pub(crate) const NO_RECIPROCAL_32: f64 = f64::from_bits((1023 - 128) << 52);

/// The constant partial 1 among partials that are expressions.
#[derive(Clone, Copy, Debug)]
pub(super) struct One;

impl One {
    pub(super) fn partial<T>(self) -> Partial<T> {
        Partial::Const(1.0)
    }
}

/// The constant partial 0: no derivative passes by this input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero;

impl Zero {
    pub(super) fn partial<T>(self) -> Partial<T> {
        Partial::Const(0.0)
    }
}

/// The partial of an input that is the output where a number is 1, and has no part in it where it is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<T>(pub(super) T);

impl<T> Chosen<T> {
    pub(super) fn partial(self) -> Partial<T> {
        Partial::Where(self.0)
    }
}

/// One partial derivative of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Partial<T> {
    /// A constant: the row is linear in this input.
    Const(f64),
    /// An expression in the inputs and the output.
    Of(T),
    /// 1 where this is 1, and 0 where it is 0: a choice, which lets nothing through from what it leaves aside
    /// (0 as a factor would make NaN of an infinite derivative).
    Where(T),
}

/// Which inputs of a row an expression mentions: bit `k` is input `k`, bit 7 is the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses(pub u8);

impl Uses {
    /// The bit of the row's output.
    pub const OUTPUT: Uses = Uses(1 << 7);

    /// The bit of input `k`.
    pub fn input(k: usize) -> Uses {
        Uses(1 << k)
    }

    /// Whether input `k` is mentioned.
    pub fn has_input(self, k: usize) -> bool {
        self.0 & (1 << k) != 0
    }

    /// Whether the output is mentioned.
    pub fn has_output(self) -> bool {
        self.0 & Self::OUTPUT.0 != 0
    }
}

macro_rules! uses_op {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Uses {
            type Output = Uses;
            // A union is what any operator does to the sets of inputs mentioned.
            #[allow(clippy::suspicious_arithmetic_impl)]
            fn $method(self, other: Uses) -> Uses {
                Uses(self.0 | other.0)
            }
        }
        impl $trait<f64> for Uses {
            type Output = Uses;
            fn $method(self, _: f64) -> Uses {
                self
            }
        }
    )*};
}
uses_op!(Add add, Sub sub, Mul mul, Div div);

impl Neg for Uses {
    type Output = Uses;
    fn neg(self) -> Uses {
        self
    }
}

impl Real for Uses {
    fn sqrt(self) -> Self {
        self
    }
    fn exp(self) -> Self {
        self
    }
    fn log(self) -> Self {
        self
    }
    fn sin(self) -> Self {
        self
    }
    fn cos(self) -> Self {
        self
    }
    fn less(self, other: Self) -> Self {
        self + other
    }
    fn positive(self) -> Self {
        self
    }
    fn recip_of(self, _: f64) -> Self {
        self
    }
    fn sign(self) -> Self {
        self
    }
    fn round(self) -> Self {
        self
    }
    fn sinh(self) -> Self {
        self
    }
    fn cosh(self) -> Self {
        self
    }
    fn sigmoid(self) -> Self {
        self
    }
    fn hypot(self, other: Self) -> Self {
        self + other
    }
    fn hypot_of(self, _: f64) -> Self {
        self
    }
    fn nonzero(self) -> Self {
        self
    }
    fn gap(self, other: Self) -> Self {
        self + other
    }
    fn pow_less_one(self, other: Self) -> Self {
        self + other
    }
    fn log_of_base(self, other: Self) -> Self {
        self + other
    }
    fn as_float(self, _: Self) -> Self {
        self
    }
    fn powi_less_one(self, other: Self) -> Self {
        self + other
    }
    fn polygamma(self, order: Self) -> Self {
        self + order
    }
    fn integer(self, _: i64) -> Self {
        Uses::default()
    }
    fn next(self) -> Self {
        self
    }
}
