//! The rule table: every scalar operation, declared once.
//!
//! Reading order: [`table`] (one row per operation: name, signature, class, cost, partials), then
//! [`real`] (what a partial may be written in; each consumer of the table is one implementation of
//! it), then [`value`] (what each row computes); [`array`] (one row per operation on whole arrays),
//! [`shaped`] (arrays as values), [`room`] (memory for them), [`kernels`] (what those rows compute) and [`sums`] (their inner loops);
//! `about` (every row in words, for docs/operations.md).
//!
//! No derivative is written anywhere else: forward mode, reverse mode, the analysis of what the
//! reverse sweep needs, and the tests all read these rows.

mod about;
pub mod array;
pub mod kernels;
pub mod real;
pub mod room;
mod section;
pub mod shaped;
pub mod sums;
pub mod table;
pub mod value;

pub use array::{ArrayOp, Check, Direction, Transposed};
pub use real::{Partial, Real, Uses};
pub use shaped::{Array, Data};
pub use table::{Class, Looks, Prim};
pub use value::{Elem, Scalar, Trap};
