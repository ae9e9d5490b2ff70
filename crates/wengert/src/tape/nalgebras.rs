//! Numbers with derivatives as elements of the matrices of crate `nalgebra`.
//!
//! ```
//! use nalgebra::{Matrix2, Vector2};
//! use wengert::tape::{Tape, Var};
//!
//! let tape = Tape::new();
//! let k = tape.var(3.0);
//! let one = Var::from(1.0);
//! let stiffness = Matrix2::new(k, -one, -one, k);
//! let x = stiffness.lu().solve(&Vector2::new(one, one)).unwrap();
//! assert_eq!(x[0].value(), 0.5);
//! assert!((x[0].backward()?.wrt(k)? + 0.25).abs() < 1e-15);
//! # Ok::<(), wengert::tape::Error>(())
//! ```

use super::dual::Dual;
use super::jet::Jet;
use super::number::Elementary;
use super::scalar::Scalar;
use super::var::Var;
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use num_traits::{Float, FloatConst};
use simba::scalar::{ComplexField, Field, RealField, SubsetOf};
use simba::simd::{PrimitiveSimdValue, SimdValue};

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
    (constants $($method:ident $name:ident),*) => {$(
        fn $method() -> Self {
            <Self as FloatConst>::$name()
        }
    )*};
}

macro_rules! subset {
    ([$($generics:tt)*] $type:ty) => {
        subset! { @number [$($generics)*] $type, f64 }
        subset! { @number [$($generics)*] $type, f32 }
        subset! { @number [$($generics)*] $type, i32 }
        subset! { @number [$($generics)*] $type, i64 }
        subset! { @number [$($generics)*] $type, u32 }
        subset! { @number [$($generics)*] $type, u64 }
        subset! { @number [$($generics)*] $type, usize }

        impl<$($generics)*> SubsetOf<$type> for $type {
            fn to_superset(&self) -> $type {
                *self
            }
            fn from_superset_unchecked(element: &$type) -> $type {
                *element
            }
            fn is_in_subset(_: &$type) -> bool {
                true
            }
        }
    };
    (@number [$($generics:tt)*] $type:ty, $number:ty) => {
        /// Constants; the way back is a conversion, through which no derivative passes.
        impl<$($generics)*> SubsetOf<$type> for $number {
            fn to_superset(&self) -> $type {
                <$type as Scalar>::of(*self as f64)
            }
            fn from_superset_unchecked(element: &$type) -> $number {
                element.converted() as $number
            }
            fn is_in_subset(_: &$type) -> bool {
                true
            }
        }
    };
}

macro_rules! field {
    ([$($generics:tt)*] $type:ty) => {
        subset! { [$($generics)*] $type }

        impl<$($generics)*> PrimitiveSimdValue for $type {}

        impl<$($generics)*> SimdValue for $type {
            const LANES: usize = 1;
            type Element = $type;
            type SimdBool = bool;

            #[inline(always)]
            fn splat(value: $type) -> $type {
                value
            }
            #[inline(always)]
            fn extract(&self, _: usize) -> $type {
                *self
            }
            #[allow(unsafe_code)] // declared unsafe by the trait; nothing in it is
            #[inline(always)]
            unsafe fn extract_unchecked(&self, _: usize) -> $type {
                *self
            }
            #[inline(always)]
            fn replace(&mut self, _: usize, value: $type) {
                *self = value;
            }
            #[allow(unsafe_code)] // declared unsafe by the trait; nothing in it is
            #[inline(always)]
            unsafe fn replace_unchecked(&mut self, _: usize, value: $type) {
                *self = value;
            }
            #[inline(always)]
            fn select(self, this: bool, other: $type) -> $type {
                if this { self } else { other }
            }
        }

        impl<$($generics)*> Field for $type {}

        /// By value.
        impl<$($generics)*> AbsDiffEq for $type {
            type Epsilon = Self;

            fn default_epsilon() -> Self {
                Self::of(f64::default_epsilon())
            }
            fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
                self.number().abs_diff_eq(&other.number(), epsilon.number())
            }
        }

        /// By value.
        impl<$($generics)*> RelativeEq for $type {
            fn default_max_relative() -> Self {
                Self::of(f64::default_max_relative())
            }
            fn relative_eq(&self, other: &Self, epsilon: Self, most: Self) -> bool {
                self.number().relative_eq(&other.number(), epsilon.number(), most.number())
            }
        }

        /// By value.
        impl<$($generics)*> UlpsEq for $type {
            fn default_max_ulps() -> u32 {
                f64::default_max_ulps()
            }
            fn ulps_eq(&self, other: &Self, epsilon: Self, most: u32) -> bool {
                self.number().ulps_eq(&other.number(), epsilon.number(), most)
            }
        }

        impl<$($generics)*> ComplexField for $type {
            type RealField = Self;

            forwarded!(
                floor, ceil, round, trunc, fract, abs, recip, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh,
                acosh, atanh, log2, log10, ln, ln_1p, sqrt, exp, exp2, exp_m1, cbrt, signum
            );
            forwarded!(two hypot, log, powf);

            #[inline]
            fn from_real(re: Self) -> Self {
                re
            }
            #[inline]
            fn real(self) -> Self {
                self
            }
            fn imaginary(self) -> Self {
                Self::of(0.0)
            }
            #[inline]
            #[track_caller]
            fn modulus(self) -> Self {
                Self::abs(self)
            }
            #[inline]
            #[track_caller]
            fn modulus_squared(self) -> Self {
                self * self
            }
            #[track_caller]
            fn argument(self) -> Self {
                if self >= 0.0 { Self::of(0.0) } else { Self::of(std::f64::consts::PI) }
            }
            #[inline]
            #[track_caller]
            fn norm1(self) -> Self {
                Self::abs(self)
            }
            #[inline]
            #[track_caller]
            fn scale(self, factor: Self) -> Self {
                self * factor
            }
            #[inline]
            #[track_caller]
            fn unscale(self, factor: Self) -> Self {
                self / factor
            }
            #[track_caller]
            fn to_exp(self) -> (Self, Self) {
                if self >= 0.0 { (self, Self::of(1.0)) } else { (-self, Self::of(-1.0)) }
            }
            #[track_caller]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Self::mul_add(self, a, b)
            }
            #[inline]
            fn conjugate(self) -> Self {
                self
            }
            #[track_caller]
            fn sin_cos(self) -> (Self, Self) {
                Self::sin_cos(self)
            }
            #[track_caller]
            fn powi(self, n: i32) -> Self {
                Self::powi(self, n)
            }
            #[track_caller]
            fn powc(self, n: Self) -> Self {
                Self::powf(self, n)
            }
            fn is_finite(&self) -> bool {
                Self::is_finite(*self)
            }
            #[track_caller]
            fn try_sqrt(self) -> Option<Self> {
                (self >= 0.0).then(|| Self::sqrt(self))
            }
        }

        impl<$($generics)*> RealField for $type {
            forwarded!(two copysign, atan2);
            forwarded!(constants
                pi PI, two_pi TAU, frac_pi_2 FRAC_PI_2, frac_pi_3 FRAC_PI_3, frac_pi_4 FRAC_PI_4, frac_pi_6 FRAC_PI_6,
                frac_pi_8 FRAC_PI_8, frac_1_pi FRAC_1_PI, frac_2_pi FRAC_2_PI, frac_2_sqrt_pi FRAC_2_SQRT_PI, e E,
                log2_e LOG2_E, log10_e LOG10_E, ln_2 LN_2, ln_10 LN_10
            );

            fn is_sign_positive(&self) -> bool {
                Self::is_sign_positive(*self)
            }
            fn is_sign_negative(&self) -> bool {
                Self::is_sign_negative(*self)
            }
            #[track_caller]
            fn max(self, other: Self) -> Self {
                Float::max(self, other)
            }
            #[track_caller]
            fn min(self, other: Self) -> Self {
                Float::min(self, other)
            }
            #[track_caller]
            fn clamp(self, low: Self, high: Self) -> Self {
                Self::clamp(self, low, high)
            }
            fn min_value() -> Option<Self> {
                Some(Self::of(f64::MIN))
            }
            fn max_value() -> Option<Self> {
                Some(Self::of(f64::MAX))
            }
        }
    };
}
field! { [] Var }
field! { [T: Scalar, const N: usize] Dual<T, N> }
field! { [T: Scalar, const K: usize] Jet<T, K> }
