//! Derivatives of programs with loops and state.
//!
//! You write an ordinary loop. It may run a data-dependent number of times, break early and overwrite
//! arrays in place. You get its exact derivatives, from native code, with the same bits every time.
//!
//! Newton's square root, and its derivative by `a`, which is `1 / (2 sqrt(a))`:
//!
//! ```
//! use wengert::Function;
//!
//! let newton = Function::from_source(
//!     "
//! def newton(a, x0):
//!     x = x0
//!     while abs(x * x - a) > 1e-12:
//!         x = x - (x * x - a) / (2 * x)
//!     return x
//! ",
//!     "newton",
//! )?;
//! let g = newton.value_and_grad([("a", 2.0), ("x0", 1.0)], "a")?;
//! let da = g.get("a").and_then(|d| d.as_f64()).unwrap();
//! assert!((g.value - 2f64.sqrt()).abs() < 1e-12);
//! assert!((da - 0.5 / 2f64.sqrt()).abs() < 1e-6);
//! # Ok::<(), wengert::Error>(())
//! ```
//!
//! - [`Function::value`], [`Function::value_and_grad`], [`Function::jvp`] and [`Function::vjp`] run it;
//!   each compiles on the first call with arguments of new kinds, in milliseconds.
//! - [`Function::check`] compares the derivatives with each other and with finite differences;
//!   [`Function::check_grads`] does so for second and third derivatives too.
//! - [`Options`] chooses the backend, forward or reverse mode, and the limits.
//! - [`Error`] says what is wrong where in the source, and the way out.
//!
//! Reading order: `function` (specialising, compiling, running), `derivative` (gradients), `args` and
//! `bind` (arguments to parameters), `executable` (backends), `error` and `render` (messages),
//! `stages` and `outline` (looking inside).
#![forbid(unsafe_code)]

mod args;
mod bind;
mod derivative;
mod error;
mod executable;
mod function;
mod options;
mod outline;
mod render;
mod source;
mod stages;
mod value;

pub use args::{Arg, Args, Wrt};
pub use derivative::{Adjoints, Gradient, Tangents};
pub use error::{Error, ErrorKind};
pub use function::{Evaluation, Function};
pub use options::{Backend, Mode, Options, Stats};
pub use source::Source;
pub use stages::Stage;
pub use value::Value;
pub use wengert_core::check::{Comparison, GradReport, Report};
pub use wengert_core::fault::{Fault, FaultKind};
pub use wengert_core::span::{Diagnostic, Span};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
