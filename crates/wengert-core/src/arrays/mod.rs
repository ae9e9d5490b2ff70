//! Array functions made of array operations.
//!
//! The table of array operations is small and closed under differentiation; what people know from
//! numerical libraries is made of it here, as code appended to a [`Builder`]. None of these has a
//! derivative rule: theirs is that of what they are made of. Shapes that do not fit are errors at
//! run time.
//!
//! Reading order: [`shape`] (slices, broadcasting, joining), [`reduce`] (sums, products, extremes, norms),
//! [`order`] (sorting, searching, interpolation), [`einsum`].
//!
//! ```
//! use wengert_core::arrays;
//! use wengert_core::interp::{Interp, Val};
//! use wengert_core::ir::{Builder, Module, Type};
//!
//! let (mut b, x) = Builder::new("f", &[(Type::VECTOR, None)]);
//! let p = arrays::softmax(&mut b, x[0]);
//! let module = Module::of(b.finish(vec![p]));
//! let p = Interp::new(&module).call("f", vec![Val::array(vec![1.0, 1.0])])?;
//! assert_eq!(wengert_core::check::floats(&p), [0.5, 0.5]);
//! # Ok::<(), wengert_core::fault::Fault>(())
//! ```

pub mod einsum;
pub mod order;
pub mod reduce;
pub mod shape;

pub use einsum::einsum;
pub use order::{argsort, interp, searchsorted, sort};
pub use reduce::{
    argmax, argmin, cumprod, cumsum, dot, logsumexp, matmul, matvec, max, mean, min, norm, outer,
    prod, softmax, sum,
};
pub use shape::{Range, broadcast, concatenate, read_slice, stack, transpose, write_slice};

use crate::ir::{Block, Builder, Op, Type, Value};

/// A counted loop from 0 that carries values: `body` gets the builder, the counter and the carries, and gives
/// back the next carries.
pub fn repeat(
    b: &mut Builder,
    n: Value,
    carries: &[Value],
    body: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let types: Vec<Type> = carries.iter().map(|c| b.ty(*c)).collect();
    let params = std::iter::once(Type::I64).chain(types.iter().copied());
    let params: Vec<(Type, Option<std::sync::Arc<str>>)> = params.map(|t| (t, None)).collect();
    let values = b.open_block(&params);
    let next = body(b, values[0], &values[1..]);
    let block: Block = b.close_block(next);
    let zero = b.i64(0);
    let args = [&[zero, n][..], carries].concat();
    b.inst(Op::For, args, &types, vec![block])
}
