//! The methods of every kind of number that derivatives are computed with: each function of the table, and what code written for
//! `f64` calls besides.

/// Writes the methods of a type, whose rows are computed by three functions: of one, two and three inputs.
macro_rules! methods {
    ([$($generics:tt)*] $type:ty, $one:path, $two:path, $three:path) => {
        methods! { @one [$($generics)*] $type, $one;
            /// The absolute value; its derivative is 0 at 0.
            abs Abs;
            /// The square root.
            sqrt Sqrt;
            /// The cube root.
            cbrt Cbrt;
            /// e to the power.
            exp Exp;
            /// 2 to the power.
            exp2 Exp2;
            /// `exp(x) - 1`, exact near 0.
            exp_m1 Expm1;
            /// The natural logarithm.
            ln Log;
            /// The logarithm to base 2.
            log2 Log2;
            /// The logarithm to base 10.
            log10 Log10;
            /// `ln(1 + x)`, exact near 0.
            ln_1p Log1p;
            /// Sine.
            sin Sin;
            /// Cosine.
            cos Cos;
            /// Tangent.
            tan Tan;
            /// Arc sine.
            asin Asin;
            /// Arc cosine.
            acos Acos;
            /// Arc tangent.
            atan Atan;
            /// Hyperbolic sine.
            sinh Sinh;
            /// Hyperbolic cosine.
            cosh Cosh;
            /// Hyperbolic tangent.
            tanh Tanh;
            /// Inverse hyperbolic sine.
            asinh Asinh;
            /// Inverse hyperbolic cosine.
            acosh Acosh;
            /// Inverse hyperbolic tangent.
            atanh Atanh;
            /// The largest integer not above; its derivative is 0.
            floor Floor;
            /// The smallest integer not below; its derivative is 0.
            ceil Ceil;
            /// The nearest integer, halves to the even one; its derivative is 0.
            round_ties_even Round;
            /// The integer part; its derivative is 0.
            trunc Trunc;
            /// -1, 0 or 1; its derivative is 0.
            sign Sign;
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
            /// The value, 0 where it is subnormal.
            flush Flush;
        }
        methods! { @two [$($generics)*] $type, $two;
            /// The angle of the point `(other, self)`.
            atan2 Atan2;
            /// The root of the sum of squares, without overflow.
            hypot Hypot;
            /// The power; `powi` is for integers.
            powf Pow;
            /// The lesser; a tie's derivative goes to the other.
            min Min;
            /// The greater; a tie's derivative goes to the other.
            max Max;
            /// The absolute value of this with the sign of the other.
            copysign CopySign;
            /// `ln(exp(x) + exp(y))`, without overflow.
            logaddexp LogAddExp;
            /// `x ln(y)`, 0 where `x` is 0.
            xlogy XLogY;
        }

        impl<$($generics)*> $type {
            /// A power with an integer.
            #[inline]
            #[track_caller]
            pub fn powi(self, n: i32) -> Self {
                $two(wengert_core::ops::Prim::PowI, self, <Self as From<f64>>::from(f64::from(n)))
            }

            /// `self * a + b`, rounded once.
            #[track_caller]
            pub fn mul_add(self, a: impl Into<Self>, b: impl Into<Self>) -> Self {
                $three(wengert_core::ops::Prim::Fma, [self, a.into(), b.into()])
            }

            /// The value within bounds.
            #[track_caller]
            pub fn clamp(self, low: impl Into<Self>, high: impl Into<Self>) -> Self {
                $three(wengert_core::ops::Prim::Clamp, [self, low.into(), high.into()])
            }

            /// The polygamma function of order `n`: the derivative of order `n + 1` of `ln_gamma`.
            #[track_caller]
            pub fn polygamma(self, n: u32) -> Self {
                $two(wengert_core::ops::Prim::PolyGamma, <Self as From<f64>>::from(f64::from(n)), self)
            }

            /// `1 / self`.
            #[inline]
            #[track_caller]
            pub fn recip(self) -> Self {
                <Self as From<f64>>::from(1.0) / self
            }

            /// Sine and cosine.
            #[track_caller]
            pub fn sin_cos(self) -> (Self, Self) {
                (self.sin(), self.cos())
            }

            /// The logarithm to any base.
            #[track_caller]
            pub fn log(self, base: impl Into<Self>) -> Self {
                self.ln() / base.into().ln()
            }

            /// The nearest integer, halves away from 0; its derivative is 0.
            #[track_caller]
            pub fn round(self) -> Self {
                // The double before 1/2: with it no sum rounds up to an integer that it should stay below.
                (self + <Self as From<f64>>::from(0.499_999_999_999_999_94).copysign(self)).trunc()
            }

            /// What is behind the point, with its sign.
            #[track_caller]
            pub fn fract(self) -> Self {
                self - self.trunc()
            }

            /// 1 with its sign, also that of a zero; its derivative is 0.
            #[track_caller]
            pub fn signum(self) -> Self {
                if self.is_nan() { self } else { <Self as From<f64>>::from(1.0).copysign(self) }
            }

            /// From radians to degrees.
            #[track_caller]
            pub fn to_degrees(self) -> Self {
                self * 1f64.to_degrees()
            }

            /// From degrees to radians.
            #[track_caller]
            pub fn to_radians(self) -> Self {
                self * 1f64.to_radians()
            }

            /// The remainder that is not negative.
            #[track_caller]
            pub fn rem_euclid(self, divisor: impl Into<Self>) -> Self {
                let divisor = divisor.into();
                let rest = self % divisor;
                if rest < 0.0 { rest + divisor.abs() } else { rest }
            }

            /// The integer quotient that goes with the remainder that is not negative; its derivative is 0.
            #[track_caller]
            pub fn div_euclid(self, divisor: impl Into<Self>) -> Self {
                let divisor = divisor.into();
                let quotient = (self / divisor).trunc();
                if self % divisor < 0.0 { quotient - divisor.signum() } else { quotient }
            }
        }

        methods! { @asked [$($generics)*] $type;
            /// Whether its value is NaN.
            is_nan;
            /// Whether its value is infinite.
            is_infinite;
            /// Whether its value is neither NaN nor infinite.
            is_finite;
            /// Whether its value is neither 0, subnormal, infinite nor NaN.
            is_normal;
            /// Whether its value has no minus sign.
            is_sign_positive;
            /// Whether its value has a minus sign.
            is_sign_negative;
        }
    };
    (@one [$($generics:tt)*] $type:ty, $one:path; $($(#[$doc:meta])* $method:ident $row:ident;)*) => {
        impl<$($generics)*> $type {$(
            $(#[$doc])*
            #[inline]
            #[track_caller]
            pub fn $method(self) -> Self {
                $one(wengert_core::ops::Prim::$row, self)
            }
        )*}
    };
    (@two [$($generics:tt)*] $type:ty, $two:path; $($(#[$doc:meta])* $method:ident $row:ident;)*) => {
        impl<$($generics)*> $type {$(
            $(#[$doc])*
            #[inline]
            #[track_caller]
            pub fn $method(self, other: impl Into<Self>) -> Self {
                $two(wengert_core::ops::Prim::$row, self, other.into())
            }
        )*}
    };
    (@asked [$($generics:tt)*] $type:ty; $($(#[$doc:meta])* $method:ident;)*) => {
        impl<$($generics)*> $type {$(
            $(#[$doc])*
            #[inline]
            pub fn $method(self) -> bool {
                $crate::tape::number::Elementary::number(self).$method()
            }
        )*}
    };
}

pub(super) use methods;
