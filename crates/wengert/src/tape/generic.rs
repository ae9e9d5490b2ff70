//! Numbers with derivatives in code that is generic over `num_traits`.
//!
//! Conversions to plain numbers (`to_f64` and its like) give the value; tapes count them, because no derivative
//! passes.

use super::dual::Dual;
use super::jet::Jet;
use super::scalar::Scalar;
use super::var::Var;
use num_traits::{
    AsPrimitive, Bounded, Euclid, Float, FloatConst, FromPrimitive, Inv, MulAdd, MulAddAssign, Num,
    NumCast, One, Pow, Signed, ToPrimitive, Zero,
};
use std::num::FpCategory;

macro_rules! constants {
    ($trait:ident for [$($generics:tt)*] $type:ty: $($name:ident),*) => {
        impl<$($generics)*> $trait for $type {$(
            fn $name() -> Self {
                <Self as Scalar>::of(<f64 as $trait>::$name())
            }
        )*}
    };
}

macro_rules! to_primitive {
    ($($method:ident $int:ty),*) => {$(
        fn $method(&self) -> Option<$int> {
            Scalar::converted(*self).$method()
        }
    )*};
}

macro_rules! from_primitive {
    ($($method:ident $int:ty),*) => {$(
        fn $method(n: $int) -> Option<Self> {
            f64::$method(n).map(<Self as Scalar>::of)
        }
    )*};
}

/// By how much a number is greater than another, or 0.
#[track_caller]
fn excess<S: Scalar>(a: S, b: S) -> S {
    // Two equal infinities have no difference.
    if a.is_infinite() && a == b { S::of(0.0) } else { (a - b).relu() }
}

/// What is a method of the type already.
macro_rules! forwarded {
    ($($method:ident),*) => {$(
        #[inline]
        #[track_caller]
        fn $method(self) -> Self {
            Self::$method(self)
        }
    )*};
    (two $($method:ident),*) => {$(
        #[inline]
        #[track_caller]
        fn $method(self, other: Self) -> Self {
            Self::$method(self, other)
        }
    )*};
    (asked $($method:ident),*) => {$(
        #[inline]
        fn $method(self) -> bool {
            Self::$method(self)
        }
    )*};
    (number $($method:ident),*) => {$(
        fn $method() -> Self {
            <Self as Scalar>::of(<f64 as Float>::$method())
        }
    )*};
}

macro_rules! numeric {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Zero for $type {
            #[inline]
            fn zero() -> Self {
                <Self as Scalar>::of(0.0)
            }
            #[track_caller]
            fn is_zero(&self) -> bool {
                *self == 0.0
            }
        }

        impl<$($generics)*> One for $type {
            #[inline]
            fn one() -> Self {
                <Self as Scalar>::of(1.0)
            }
        }

        impl<$($generics)*> Num for $type {
            type FromStrRadixErr = <f64 as Num>::FromStrRadixErr;

            fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                f64::from_str_radix(text, radix).map(<Self as Scalar>::of)
            }
        }

        impl<$($generics)*> Bounded for $type {
            fn min_value() -> Self {
                <Self as Scalar>::of(f64::MIN)
            }
            fn max_value() -> Self {
                <Self as Scalar>::of(f64::MAX)
            }
        }

        /// Each is a conversion, through which no derivative passes.
        impl<$($generics)*> ToPrimitive for $type {
            to_primitive!(
                to_i8 i8, to_i16 i16, to_i32 i32, to_i64 i64, to_i128 i128, to_isize isize, to_u8 u8, to_u16 u16,
                to_u32 u32, to_u64 u64, to_u128 u128, to_usize usize, to_f32 f32, to_f64 f64
            );
        }

        /// Constants.
        impl<$($generics)*> FromPrimitive for $type {
            from_primitive!(
                from_i8 i8, from_i16 i16, from_i32 i32, from_i64 i64, from_i128 i128, from_isize isize, from_u8 u8,
                from_u16 u16, from_u32 u32, from_u64 u64, from_u128 u128, from_usize usize, from_f32 f32, from_f64 f64
            );
        }

        /// A constant: of a variable the derivative is lost, which its tape counts.
        impl<$($generics)*> NumCast for $type {
            fn from<C: ToPrimitive>(n: C) -> Option<Self> {
                n.to_f64().map(<Self as Scalar>::of)
            }
        }

        impl<$($generics)*> Signed for $type {
            #[track_caller]
            fn abs(&self) -> Self {
                Self::abs(*self)
            }
            #[track_caller]
            fn abs_sub(&self, other: &Self) -> Self {
                excess(*self, *other)
            }
            #[track_caller]
            fn signum(&self) -> Self {
                Self::signum(*self)
            }
            fn is_positive(&self) -> bool {
                self.is_sign_positive()
            }
            fn is_negative(&self) -> bool {
                self.is_sign_negative()
            }
        }

        impl<$($generics)*> Inv for $type {
            type Output = Self;
            #[track_caller]
            fn inv(self) -> Self {
                self.recip()
            }
        }

        impl<$($generics)*> MulAdd for $type {
            type Output = Self;
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Self::mul_add(self, a, b)
            }
        }

        impl<$($generics)*> MulAddAssign for $type {
            #[track_caller]
            fn mul_add_assign(&mut self, a: Self, b: Self) {
                *self = Self::mul_add(*self, a, b);
            }
        }

        impl<$($generics)*> Pow<i32> for $type {
            type Output = Self;
            #[track_caller]
            fn pow(self, n: i32) -> Self {
                self.powi(n)
            }
        }

        impl<$($generics)*> Pow<f64> for $type {
            type Output = Self;
            #[track_caller]
            fn pow(self, exponent: f64) -> Self {
                self.powf(exponent)
            }
        }

        impl<$($generics)*> Pow<Self> for $type {
            type Output = Self;
            #[track_caller]
            fn pow(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
        }

        impl<$($generics)*> Euclid for $type {
            #[track_caller]
            fn div_euclid(&self, divisor: &Self) -> Self {
                Self::div_euclid(*self, *divisor)
            }
            #[track_caller]
            fn rem_euclid(&self, divisor: &Self) -> Self {
                Self::rem_euclid(*self, *divisor)
            }
        }

        constants!(FloatConst for [$($generics)*] $type:
            E, FRAC_1_PI, FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_6,
            FRAC_PI_8, LN_10, LN_2, LOG10_E, LOG2_E, PI, SQRT_2, TAU, LOG10_2, LOG2_10);

        impl<$($generics)*> Float for $type {
            forwarded!(
                floor, ceil, round, trunc, fract, abs, signum, recip, sqrt, exp, exp2, ln, log2, log10, to_degrees,
                to_radians, cbrt, sin, cos, tan, asin, acos, atan, exp_m1, ln_1p, sinh, cosh, tanh, asinh, acosh, atanh
            );
            forwarded!(two powf, log, hypot, atan2, copysign);
            forwarded!(asked is_nan, is_infinite, is_finite, is_normal, is_sign_positive, is_sign_negative);
            forwarded!(number nan, infinity, neg_infinity, neg_zero, min_value, min_positive_value, epsilon, max_value);

            fn classify(self) -> FpCategory {
                $crate::tape::number::Elementary::number(self).classify()
            }
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Self::mul_add(self, a, b)
            }
            #[track_caller]
            fn powi(self, n: i32) -> Self {
                Self::powi(self, n)
            }
            /// The greater; the other one where one is NaN.
            #[track_caller]
            fn max(self, other: Self) -> Self {
                if other.is_nan() { self } else { Self::max(self, other) }
            }
            /// The lesser; the other one where one is NaN.
            #[track_caller]
            fn min(self, other: Self) -> Self {
                if other.is_nan() { self } else { Self::min(self, other) }
            }
            #[track_caller]
            fn clamp(self, low: Self, high: Self) -> Self {
                Self::clamp(self, low, high)
            }
            #[track_caller]
            fn abs_sub(self, other: Self) -> Self {
                excess(self, other)
            }
            #[track_caller]
            fn sin_cos(self) -> (Self, Self) {
                Self::sin_cos(self)
            }
            fn integer_decode(self) -> (u64, i16, i8) {
                Float::integer_decode(Scalar::converted(self))
            }
        }
    };
}
numeric! { [] Var }
numeric! { [T: Scalar, const N: usize] Dual<T, N> }
numeric! { [T: Scalar, const K: usize] Jet<T, K> }

macro_rules! as_primitive {
    ($($number:ty),*) => {$(
        /// A constant.
        impl AsPrimitive<Var> for $number {
            fn as_(self) -> Var {
                Var::constant(self as f64)
            }
        }

        /// A conversion, through which no derivative passes.
        impl AsPrimitive<$number> for Var {
            fn as_(self) -> $number {
                Scalar::converted(self) as $number
            }
        }
    )*};
}
as_primitive!(f64, f32, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl AsPrimitive<Var> for Var {
    fn as_(self) -> Var {
        self
    }
}
