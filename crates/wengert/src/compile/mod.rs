//! Functions given as text at run time, compiled to native code: feature `compile`.
//!
//! Reading order: `function` (specialising, compiling, running), `derivative` (gradients), `batch` (many of them), `dense` and
//! `sparse` (Jacobians and Hessians), `values` and `arrays` (what goes in and comes out), `args` and `bind` (arguments to
//! parameters), `executable` (backends), `specialised` and `borrowed` (programs called many times), `error` and `render` (messages), `stages`, `saved` and `outline` (looking inside),
//! `emit` (C for others to compile), `inspect`.

mod args;
mod arrays;
mod batch;
mod bind;
mod borrowed;
mod dense;
mod derivative;
mod doctor;
mod emit;
mod error;
mod executable;
mod function;
mod inspect;
mod memory;
mod options;
mod outline;
mod render;
mod saved;
mod shapes;
mod source;
mod sparse;
mod specialised;
mod stages;
mod values;

pub use args::{Arg, Args, Wrt};
pub use batch::{Batch, BatchEvaluation, BatchGradient};
pub use borrowed::Borrowed;
pub use dense::{Hessian, HessianProduct, Jacobian, JacobianBlock};
pub use derivative::{Adjoints, Gradient, Tangents};
pub use doctor::{CacheState, Doctor};
pub use emit::Emitted;
pub use error::{Error, ErrorKind};
pub use function::{Evaluation, Function};
pub use inspect::Inspection;
pub use memory::{LoopReport, TakenBack};
pub use options::{Backend, Disk, Invert, Mode, Options, Stats};
pub use source::Source;
pub use sparse::{SparseDerivative, SparseMatrix};
pub use specialised::Specialised;
pub use stages::Stage;
pub use wengert_core::check::{Comparison, Finding, FindingKind, GradReport, Report};
