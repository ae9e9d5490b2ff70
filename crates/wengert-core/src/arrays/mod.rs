//! Array functions made of array operations.
//!
//! The table of array operations is small and closed under differentiation; what people know from
//! numerical libraries is made of it here, as code appended to a [`Builder`]. None of these has a
//! derivative rule: theirs is that of what they are made of.
//!
//! What holds for all of them:
//!
//! - They follow numpy, where nothing else is said. Whole numbers and truth values are taken where numpy takes
//!   them: truth values count as 0 and 1, and what needs floats makes doubles of them. Whole numbers that grow
//!   beyond 64 bits are an error.
//! - What is wrong with ranks, axes and kinds is known here: the function gives an `Err` that says so and has no
//!   place, which the caller adds. (Code may have been appended by then; the function under construction is of
//!   no use any more.) What is wrong with sizes, indices and other values is an error at run time.
//! - An axis is counted from 0. `None` stands for all elements where a function reduces, and for what numpy does
//!   without an axis elsewhere; each function says so.
//! - The result may be the operand itself where nothing is to be done: to write it, copy it first.
//!
//! Reading order: [`kinds`] (what elements are, conversions), [`parts`] (sections of arrays), [`shape`] (slices,
//! broadcasting, joining), [`axes`] (axes come, go and change places), [`mod@elementwise`], [`reduce`] (sums,
//! products, extremes), [`normal`] (norms, variances, exponentials and their sums), [`scan`] (sums so far,
//! differences), [`products`], [`make`] (ranges and diagonals), [`moving`] (elements change places), [`order`]
//! (sorting, searching, interpolation), [`mod@einsum`].
//!
//! ```
//! use wengert_core::arrays;
//! use wengert_core::interp::{Interp, Val};
//! use wengert_core::ir::{Builder, Module, Type};
//!
//! let (mut b, x) = Builder::new("f", &[(Type::VECTOR, None)]);
//! let p = arrays::softmax(&mut b, x[0], None)?;
//! let wrong = arrays::softmax(&mut b, x[0], Some(1));
//! assert_eq!(wrong.unwrap_err(), "`softmax` along axis 1 of a vector, which has only axis 0");
//! let module = Module::of(b.finish(vec![p]));
//! let p = Interp::new(&module).call("f", vec![Val::array(vec![1.0, 1.0])]).unwrap();
//! assert_eq!(wengert_core::check::floats(&p), [0.5, 0.5]);
//! # Ok::<(), String>(())
//! ```

pub mod axes;
pub mod einsum;
pub mod elementwise;
pub mod kinds;
pub mod make;
pub mod moving;
pub mod normal;
pub mod order;
pub mod parts;
pub mod products;
pub mod reduce;
pub mod scan;
pub mod shape;

pub use axes::{expand_dims, flatten, reshape, squeeze, swapaxes, transpose, transpose_by};
pub use einsum::einsum;
pub use elementwise::{
    choose, clip, elementwise, elementwise_same, heaviside, isfinite, isinf, isnan, maximum,
    minimum, round_half_even, square,
};
pub use kinds::{alike, convert};
pub use make::{arange, diag, eye, linspace, trace, triangle};
pub use moving::{flip, repeat_elements, roll, take, tile};
pub use normal::{logsumexp, norm, softmax, std, variance};
pub use order::{argsort, interp, median, searchsorted, sort};
pub use parts::repeat;
pub use products::{
    Overlap, convolve, cross, dot, inner, matmul, matvec, outer, tensordot, vdot, vecmat,
};
pub use reduce::{all, any, argmax, argmin, max, mean, min, prod, sum};
pub use scan::{cumprod, cumsum, diff, trapezoid};
pub use shape::{Range, broadcast, concatenate, read_slice, stack, write_slice};

#[cfg(doc)]
use crate::ir::Builder;
use crate::ir::Value;

/// What a function here gives: a value, or what is wrong with ranks, axes or kinds, in words.
pub type Made = Result<Value, String>;
