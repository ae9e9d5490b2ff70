//! Derivatives of programs with loops and state.
//!
//! You write an ordinary loop. It may run a data-dependent number of times, break early and overwrite
//! arrays in place. You get its exact derivatives, with the same bits every time.
//!
//! Newton's square root, and its derivative by `a`, which is `1 / (2 sqrt(a))`, compiled with the function:
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! use wengert::differentiable;
//!
//! #[differentiable]
//! fn root(a: f64) -> f64 {
//!     let mut x = 1.0;
//!     while (x * x - a).abs() > 1e-12 {
//!         x -= (x * x - a) / (2.0 * x);
//!     }
//!     x
//! }
//!
//! let (x, da) = root::value_and_grad(2.0);
//! assert!((x - 2f64.sqrt()).abs() < 1e-12);
//! assert!((da - 0.5 / 2f64.sqrt()).abs() < 1e-6);
//! # }
//! ```
//!
//! The same from a [`tape`] that records any Rust program as it runs:
//!
//! ```
//! use wengert::tape::Tape;
//!
//! let tape = Tape::new();
//! let a = tape.var(2.0);
//! let mut x = tape.var(1.0);
//! while (x * x - a).abs() > 1e-12 {
//!     x = x - (x * x - a) / (2.0 * x);
//! }
//! let da = x.backward()?.wrt(a)?;
//! assert!((da - 0.5 / 2f64.sqrt()).abs() < 1e-6);
//! # Ok::<(), wengert::tape::Error>(())
//! ```
//!
//! - [`tape`] also takes loops in little memory, linear solves, fixed points and functions with derivatives of their own.
//! - [`checkpoint`] reverses loops whose steps and adjoints are written by hand, in the memory allowed.
//! - [`Value`] and [`Array`] are numbers and arrays of any kind.
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `macros` | `#[differentiable]`; on unless `default-features = false` |
//! | `avx512` | functions with `#[differentiable]` also in a version for processors with vectors of eight doubles; on unless `default-features = false` |
//! | `compile` | functions given as text at run time, compiled to native code: `Function`. It takes longer to build, because it brings Cranelift and a parser of Python |
//! | `ndarray` | arrays of that crate as parameters of functions with `#[differentiable]`, conversions from and to them, and variables of tapes as their elements |
//! | `nalgebra` | variables of tapes as elements of the matrices of that crate |
//!
//! The others are on where the line of the dependency asks for them: `features = ["compile"]`.
//!
//! Reading order: `tape`, `value` and `array`, `explain` (what error codes mean), `compile`.
#![cfg_attr(feature = "compile", doc = include_str!("compile/about.md"))]
#![cfg_attr(not(feature = "nalgebra"), forbid(unsafe_code))]
// Two methods of a trait of its scalars are declared unsafe, whatever they do.
#![cfg_attr(feature = "nalgebra", deny(unsafe_code))]

#[cfg(feature = "macros")]
mod ahead;
mod array;
#[cfg(feature = "compile")]
mod compile;
mod explain;
mod foreseen;
#[cfg(feature = "ndarray")]
mod ndarrays;
#[cfg(feature = "macros")]
mod structs;
pub mod tape;
mod value;

#[cfg(feature = "macros")]
pub use ahead::memory::{IntoMemory, Memory, MemoryError};
pub use array::{Array, Element, ShapeError};
#[cfg(feature = "compile")]
pub use compile::*;
pub use explain::{explain, explanations};
pub use foreseen::{Foreseen, Plan};
#[cfg(feature = "macros")]
pub use structs::Differentiable;
pub use value::Value;
pub use wengert_checkpoint as checkpoint;
pub use wengert_checkpoint::Precision;
pub use wengert_core::ahead::{CallSite, RunError};
pub use wengert_core::fault::{Fault, FaultKind};
pub use wengert_core::span::{Diagnostic, Span};
#[cfg(feature = "macros")]
pub use wengert_macros::{Differentiable, derivative, differentiable};

/// Bytes and seconds in words, as the command line reads and writes them.
#[doc(hidden)]
pub use wengert_core::quantity;

/// What the text that `#[differentiable]` makes refers to.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use crate::ahead::arrays as ahead;
    pub use crate::ahead::columns as structs;
    pub use crate::ahead::members::Members;
    #[cfg(feature = "ndarray")]
    pub use crate::ahead::nd;
    pub use crate::ahead::within::Within;
    #[cfg(feature = "ndarray")]
    pub use ndarray;
    pub use wengert_macros::__with_structs;
    pub use wengert_math as functions;
    pub use wengert_math::{Work, fastest, inline as math};
}

#[cfg(all(doctest, feature = "compile"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "compile"))]
#[doc = include_str!("../../../docs/tape.md")]
struct TapePage;

#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/differentiable.md")]
struct DifferentiablePage;
