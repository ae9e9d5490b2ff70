//! wengert's elementary functions in Rust: the same bits on every machine.
//!
//! The functions of a math library, each with a stated error bound, and with results that depend on nothing but the
//! arguments: not on the operating system's library, the compiler or the processor. They are printed from the
//! programs that wengert's interpreter and native code run, and tests hold them to the same bits.
//!
//! ```
//! use wengert_math as math;
//!
//! // The same digits wherever this runs.
//! assert_eq!(math::exp(1.0), 2.718281828459045);
//! assert_eq!(math::sin(1e22), -0.8522008497671888);
//! assert_eq!(math::powi(1.5, -3), 0.2962962962962963);
//! assert_eq!(math::polygamma(0, 1.0), -0.5772156649015329);
//! ```
//!
//! Which NaN a NaN is, is not promised. Nothing is allocated, and nothing panics.
//!
//! On x86-64 every function is there twice, with and without the processor's fused multiply-add
//! ([`fused`]); a call chooses, in less than a nanosecond. [`inline`] is for callers that choose themselves.
#![deny(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
#[rustfmt::skip]
#[allow(clippy::all, unused, reason = "one line per instruction of the program it is printed from")]
mod generated;
mod dispatch;

pub use dispatch::{Work, fastest, fused, wide};

/// The functions as bodies, to be compiled into their callers.
///
/// For code that is itself compiled for processors with fused multiply-add: in a function with
/// `#[target_feature(enable = "avx2,bmi2,fma")]`, called where [`fused`] holds, or in a program compiled with
/// `-C target-cpu`. Compiled for any x86-64, these give the same bits, slowly. Each use is a copy of a hundred
/// instructions.
///
/// ```
/// # #[cfg(target_arch = "x86_64")]
/// # {
/// #[target_feature(enable = "avx2,bmi2,fma")]
/// fn total(x: &[f64]) -> f64 {
///     x.iter().map(|x| wengert_math::inline::tanh(*x)).sum()
/// }
///
/// let x = [0.5, 1.0, 2.0];
/// if wengert_math::fused() {
///     // SAFETY: the processor has these features.
///     let sum = unsafe { total(&x) };
///     assert_eq!(sum, x.iter().map(|x| wengert_math::tanh(*x)).sum());
/// }
/// # }
/// ```
pub mod inline {
    macro_rules! bodies {
        ($($how:ident $about:literal $name:ident($($x:ident: $ty:ty),*);)*) => {
            pub use crate::generated::{$($name),*};
        };
    }
    rows!(bodies);
    pub use crate::generated::sin_cos;
}

/// The versions for every processor, for tests.
#[doc(hidden)]
pub mod portable {
    pub use crate::dispatch::functions::portable::*;
    pub use crate::dispatch::parts::portable::*;
}

macro_rules! functions {
    ($($how:ident $about:literal $name:ident($($x:ident: $ty:ty),*);)*) => {
        $(functions! { @$how $about $name($($x: $ty),*) })*
    };
    (@plain $about:literal $name:ident($($x:ident: $ty:ty),*)) => {
        #[doc = $about]
        #[inline(always)]
        pub fn $name($($x: $ty),*) -> f64 {
            generated::$name($($x),*)
        }
    };
    (@versions $about:literal $name:ident($($x:ident: $ty:ty),*)) => {
        #[doc = $about]
        #[inline]
        pub fn $name($($x: $ty),*) -> f64 {
            dispatch::functions::$name($($x),*)
        }
    };
}
rows!(functions);
