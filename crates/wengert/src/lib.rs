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
//! - [`Function::call`], [`Function::value_and_grad`], [`Function::jvp`] and [`Function::vjp`] run it;
//!   each compiles on the first call with arguments of new kinds, in milliseconds.
//! - [`Function::jacobian`], [`Function::hessian`], their sparse forms [`Function::sparse_jacobian`] and
//!   [`Function::sparse_hessian`], and [`Function::hvp`] give whole derivatives and second ones.
//! - [`Function::batch`] runs and differentiates it for many values of some of its arguments, on all cores.
//! - [`Value`] and [`Array`] are what goes in and comes out; feature `ndarray` converts from and to that
//!   crate's arrays.
//! - [`Function::check`] compares the derivatives with each other and with finite differences;
//!   [`Function::check_grads`] does so for second and third derivatives too; [`Function::inspect`] looks
//!   for kinks, NaN and loops that could have stopped earlier.
//! - [`Function::emit_c`] writes the function and its gradient as C that needs no other library.
//! - [`tape`] records any Rust program as it runs, for what cannot be compiled.
//! - [`Options`] chooses the backend, forward or reverse mode, and the limits.
//! - [`Error`] says what is wrong where in the source, and the way out.
//!
//! Reading order: `function` (specialising, compiling, running), `derivative` (gradients), `batch` (many of them), `dense` and
//! `sparse` (Jacobians and Hessians), `value` and `array`, `args` and `bind` (arguments to parameters), `executable` (backends), `error`, `render` and `explain`
//! (messages),
//! `stages`, `saved` and `outline` (looking inside), `emit` (C for others to compile), `inspect`.
#![cfg_attr(not(feature = "nalgebra"), forbid(unsafe_code))]
// Two methods of a trait of its scalars are declared unsafe, whatever they do.
#![cfg_attr(feature = "nalgebra", deny(unsafe_code))]

mod args;
mod array;
mod batch;
mod bind;
mod dense;
mod derivative;
mod doctor;
mod emit;
mod error;
mod executable;
mod explain;
mod function;
mod inspect;
mod memory;
#[cfg(feature = "ndarray")]
mod ndarrays;
mod options;
mod outline;
mod render;
mod saved;
mod shapes;
mod source;
mod sparse;
mod stages;
pub mod tape;
mod value;

pub use args::{Arg, Args, Wrt};
pub use array::{Array, Element, ShapeError};
pub use batch::{Batch, BatchEvaluation, BatchGradient};
pub use dense::{Hessian, HessianProduct, Jacobian, JacobianBlock};
pub use derivative::{Adjoints, Gradient, Tangents};
pub use doctor::{CacheState, Doctor};
pub use emit::Emitted;
pub use error::{Error, ErrorKind};
pub use explain::{explain, explanations};
pub use function::{Evaluation, Function};
pub use inspect::Inspection;
pub use memory::{LoopReport, TakenBack};
pub use options::{Backend, Disk, Invert, Mode, Options, Stats};
pub use source::Source;
pub use sparse::{SparseDerivative, SparseMatrix};
pub use stages::Stage;
pub use value::Value;
pub use wengert_checkpoint as checkpoint;
pub use wengert_checkpoint::Precision;
pub use wengert_core::check::{Comparison, Finding, FindingKind, GradReport, Report};
pub use wengert_core::fault::{Fault, FaultKind};
pub use wengert_core::span::{Diagnostic, Span};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/tape.md")]
struct TapePage;
