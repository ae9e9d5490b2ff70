//! Parts of arrays, and loops over them: what the other functions are made of.
//!
//! Nothing here checks anything: the operands are known to fit.

use crate::ir::{Block, Builder, Op, Type, Value};
use crate::ops::{ArrayOp, Prim, Scalar};

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

/// An error at run time, unless the condition holds.
pub(super) fn require(b: &mut Builder, holds: Value, message: impl Into<std::sync::Arc<str>>) {
    if b.func().as_const(holds) != Some(Scalar::Bool(true)) {
        b.op(Op::Assert(message.into()), &[holds]);
    }
}

/// How many elements there are, or how many along an axis.
pub(super) fn count(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let dims = b.dims(x);
    match axis {
        Some(axis) => dims[axis],
        None => volume(b, &dims),
    }
}

/// How many elements an array of this shape has, which exists. (A size of 0 may stand beside ones whose
/// product does not fit.)
pub(super) fn volume(b: &mut Builder, dims: &[Value]) -> Value {
    let one = b.i64(1);
    dims.iter().fold(one, |n, d| b.prim(Prim::WMul, &[n, *d]))
}

/// The elements as a vector.
pub(super) fn flat(b: &mut Builder, x: Value) -> Value {
    if b.ty(x).rank() == 1 {
        return x;
    }
    let n = count(b, x, None);
    b.array(ArrayOp::Reshape, &[x, n])
}

/// The elements in another shape; `x` itself where it is a vector that stays one.
pub(super) fn shaped_as(b: &mut Builder, x: Value, dims: &[Value]) -> Value {
    if b.ty(x).rank() == 1 && dims.len() == 1 {
        return x;
    }
    b.array(ArrayOp::Reshape, &[&[x][..], dims].concat())
}

/// The sizes without that of an axis.
pub(super) fn without(dims: &[Value], axis: usize) -> Vec<Value> {
    let others = dims.iter().enumerate().filter(|(a, _)| *a != axis);
    others.map(|(_, n)| *n).collect()
}

/// Start, count and step of every axis: all of it, but `range` of one axis.
fn section(b: &mut Builder, dims: &[Value], axis: usize, range: [Value; 3]) -> Vec<Value> {
    let (zero, one) = (b.i64(0), b.i64(1));
    let of = |(a, n): (usize, &Value)| if a == axis { range } else { [zero, *n, one] };
    dims.iter().enumerate().flat_map(of).collect()
}

/// `count` elements along an axis from `start` on, `step` apart.
pub(super) fn along(b: &mut Builder, x: Value, axis: usize, range: [Value; 3]) -> Value {
    let dims = b.dims(x);
    let section = section(b, &dims, axis, range);
    b.array(ArrayOp::Slice, &[&[x][..], &section].concat())
}

/// What is left of `x` at position `k` of an axis: an element of a vector, or an array of one axis less.
pub(super) fn cross_section(b: &mut Builder, x: Value, axis: usize, k: Value) -> Value {
    let dims = b.dims(x);
    if dims.len() == 1 {
        return b.load(x, k);
    }
    let one = b.i64(1);
    let thin = along(b, x, axis, [k, one, one]);
    let rest = without(&dims, axis);
    b.array(ArrayOp::Reshape, &[&[thin][..], &rest].concat())
}

/// The next version of `x` with `v` at position `k` of an axis.
pub(super) fn with_cross_section(
    b: &mut Builder,
    x: Value,
    axis: usize,
    k: Value,
    v: Value,
) -> Value {
    let mut dims = b.dims(x);
    if dims.len() == 1 {
        return b.store(x, k, v);
    }
    let one = b.i64(1);
    let section = section(b, &dims, axis, [k, one, one]);
    dims[axis] = one;
    let thin = b.array(ArrayOp::Reshape, &[&[v][..], &dims].concat());
    b.array(ArrayOp::Put, &[&[x][..], &section, &[thin]].concat())
}

/// A reduced value, again with the axis it lost: `n` times the same. A number stays a number.
pub(super) fn spread(b: &mut Builder, v: Value, axis: Option<usize>, n: Value) -> Value {
    match axis {
        Some(axis) if b.ty(v).is_array() => b.array(ArrayOp::Expand(axis as u8), &[v, n]),
        _ => v,
    }
}

/// Folds a row of two inputs over all elements or along an axis, from `start`.
pub(super) fn fold(
    b: &mut Builder,
    x: Value,
    axis: Option<usize>,
    row: Prim,
    start: Value,
) -> Value {
    let (x, axis) = match axis {
        Some(axis) => (x, axis),
        None => (flat(b, x), 0),
    };
    let dims = b.dims(x);
    let first = b.filled(&without(&dims, axis), start);
    repeat(b, dims[axis], &[first], |b, k, carry| {
        let next = cross_section(b, x, axis, k);
        vec![b.prim(row, &[carry[0], next])]
    })[0]
}

/// 0, 1, 2 .. as a vector of `n` whole numbers.
pub(super) fn counted(b: &mut Builder, n: Value) -> Value {
    let zero = b.i64(0);
    let out = b.filled(&[n], zero);
    repeat(b, n, &[out], |b, i, carry| vec![b.store(carry[0], i, i)])[0]
}

/// The axis moved to the end, the others in order.
pub(super) fn axis_last(b: &mut Builder, x: Value, axis: usize) -> Value {
    let rank = b.ty(x).rank();
    if axis + 1 == rank {
        return x;
    }
    let order: Vec<u8> = (0..rank).filter(|a| *a != axis).chain([axis]).map(|a| a as u8).collect();
    b.array(ArrayOp::Transpose(order.into()), &[x])
}

/// The last axis moved to where it came from.
pub(super) fn axis_back(b: &mut Builder, x: Value, axis: usize) -> Value {
    let last = b.ty(x).rank() - 1;
    if axis == last {
        return x;
    }
    let from = |a: usize| match a {
        a if a < axis => a,
        a if a == axis => last,
        a => a - 1,
    };
    let order: Vec<u8> = (0..=last).map(|a| from(a) as u8).collect();
    b.array(ArrayOp::Transpose(order.into()), &[x])
}
