//! The operators of numbers that are made of other numbers: duals and jets.

/// Writes operators, comparisons and conversions of a type, whose rows two functions compute: of one input and of two.
macro_rules! operators {
    ([$($generics:tt)*] $type:ty, $one:path, $two:path) => {
        operators! { @each [$($generics)*] $type, $two; Add add AddAssign add_assign }
        operators! { @each [$($generics)*] $type, $two; Sub sub SubAssign sub_assign }
        operators! { @each [$($generics)*] $type, $two; Mul mul MulAssign mul_assign }
        operators! { @each [$($generics)*] $type, $two; Div div DivAssign div_assign }
        operators! { @each [$($generics)*] $type, $two; Rem rem RemAssign rem_assign }

        impl<$($generics)*> std::ops::Neg for $type {
            type Output = $type;
            #[inline]
            #[track_caller]
            fn neg(self) -> $type {
                $one(wengert_core::ops::Prim::Neg, self)
            }
        }

        impl<$($generics)*> std::ops::Neg for &$type {
            type Output = $type;
            #[inline]
            #[track_caller]
            fn neg(self) -> $type {
                -*self
            }
        }

        /// A constant.
        impl<$($generics)*> From<f64> for $type {
            #[inline]
            fn from(value: f64) -> $type {
                <$type as Scalar>::of(value)
            }
        }

        impl<$($generics)*> Default for $type {
            fn default() -> $type {
                Scalar::of(0.0)
            }
        }

        /// By value.
        impl<$($generics)*> PartialEq for $type {
            #[track_caller]
            fn eq(&self, other: &$type) -> bool {
                self.value() == other.value()
            }
        }

        impl<$($generics)*> PartialEq<f64> for $type {
            #[track_caller]
            fn eq(&self, other: &f64) -> bool {
                self.value() == T::of(*other)
            }
        }

        /// By value.
        impl<$($generics)*> PartialOrd for $type {
            #[track_caller]
            fn partial_cmp(&self, other: &$type) -> Option<std::cmp::Ordering> {
                self.value().partial_cmp(&other.value())
            }
        }

        impl<$($generics)*> PartialOrd<f64> for $type {
            #[track_caller]
            fn partial_cmp(&self, other: &f64) -> Option<std::cmp::Ordering> {
                self.value().partial_cmp(&T::of(*other))
            }
        }

        /// Shows the value.
        impl<$($generics)*> std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.value(), f)
            }
        }

        impl<$($generics)*> std::iter::Sum for $type {
            fn sum<I: Iterator<Item = $type>>(terms: I) -> $type {
                terms.fold(Scalar::of(0.0), |sum, x| sum + x)
            }
        }

        impl<'a, $($generics)*> std::iter::Sum<&'a $type> for $type {
            fn sum<I: Iterator<Item = &'a $type>>(terms: I) -> $type {
                terms.copied().sum()
            }
        }

        impl<$($generics)*> std::iter::Product for $type {
            fn product<I: Iterator<Item = $type>>(factors: I) -> $type {
                factors.fold(Scalar::of(1.0), |product, x| product * x)
            }
        }

        impl<'a, $($generics)*> std::iter::Product<&'a $type> for $type {
            fn product<I: Iterator<Item = &'a $type>>(factors: I) -> $type {
                factors.copied().product()
            }
        }
    };
    (@each [$($generics:tt)*] $type:ty, $two:path; $trait:ident $method:ident $assign:ident $assign_method:ident) => {
        impl<$($generics)*> std::ops::$trait for $type {
            type Output = $type;
            #[inline]
            #[track_caller]
            fn $method(self, other: $type) -> $type {
                $two(wengert_core::ops::Prim::$trait, self, other)
            }
        }

        operators! { @mixed [$($generics)*] $type, $trait $method, $type, &$type, self, other, self, *other }
        operators! { @mixed [$($generics)*] $type, $trait $method, &$type, $type, self, other, *self, other }
        operators! { @mixed [$($generics)*] $type, $trait $method, &$type, &$type, self, other, *self, *other }
        operators! { @mixed [$($generics)*] $type, $trait $method, $type, f64, self, other, self, <$type as Scalar>::of(other) }
        operators! { @mixed [$($generics)*] $type, $trait $method, &$type, f64, self, other, *self, <$type as Scalar>::of(other) }
        operators! { @mixed [$($generics)*] $type, $trait $method, f64, $type, self, other, <$type as Scalar>::of(self), other }
        operators! { @mixed [$($generics)*] $type, $trait $method, f64, &$type, self, other, <$type as Scalar>::of(self), *other }

        impl<$($generics)*> std::ops::$assign for $type {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: $type) {
                *self = std::ops::$trait::$method(*self, other);
            }
        }

        impl<$($generics)*> std::ops::$assign<&$type> for $type {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: &$type) {
                *self = std::ops::$trait::$method(*self, *other);
            }
        }

        impl<$($generics)*> std::ops::$assign<f64> for $type {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: f64) {
                *self = std::ops::$trait::$method(*self, <$type as Scalar>::of(other));
            }
        }
    };
    (@mixed [$($generics:tt)*] $type:ty, $trait:ident $method:ident, $left:ty, $right:ty, $self:ident, $other:ident, $a:expr, $b:expr) => {
        impl<$($generics)*> std::ops::$trait<$right> for $left {
            type Output = $type;
            #[inline]
            #[track_caller]
            fn $method($self, $other: $right) -> $type {
                std::ops::$trait::$method($a, $b)
            }
        }
    };
}

pub(super) use operators;
