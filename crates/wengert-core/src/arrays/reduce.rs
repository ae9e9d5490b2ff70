//! Sums, products, extremes and norms, over all elements or along one axis, and products of matrices.
//!
//! Subgradients: an extreme gives its whole derivative to the first of equal elements; a norm has 0 at 0. A NaN
//! is both the largest and the smallest element.

use super::{repeat, shape};
use crate::ir::{Builder, Elem, Op, Value};
use crate::ops::{ArrayOp, Direction, Prim, Transposed};

/// The sum over all elements, or along an axis.
pub fn sum(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let axis = axis.filter(|_| b.ty(x).rank() > 1);
    b.array(ArrayOp::Sum(axis.map(|a| a as u8)), &[x])
}

/// How many elements a reduction takes together.
fn count(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let dims = b.dims(x);
    match axis {
        Some(axis) => dims[axis],
        None => {
            dims.into_iter().reduce(|n, d| b.prim(Prim::IMul, &[n, d])).unwrap_or_else(|| b.i64(1))
        }
    }
}

/// The mean over all elements, or along an axis.
pub fn mean(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let total = sum(b, x, axis);
    let n = count(b, x, axis);
    let mut n = b.prim(Prim::IToF, &[n]);
    if b.ty(x).elem() == Some(Elem::F32) {
        n = b.prim(Prim::Demote, &[n]);
    }
    b.prim(Prim::Div, &[total, n])
}

/// The elements of an array as a vector.
fn flat(b: &mut Builder, x: Value) -> Value {
    if b.ty(x).rank() == 1 {
        return x;
    }
    let n = count(b, x, None);
    b.array(ArrayOp::Reshape, &[x, n])
}

/// What is left of `x` at position `k` of an axis: an element of a vector, or an array of one axis less.
fn cross_section(b: &mut Builder, x: Value, axis: usize, k: Value) -> Value {
    let dims = b.dims(x);
    if dims.len() == 1 {
        return b.load(x, k);
    }
    let (zero, one) = (b.i64(0), b.i64(1));
    let mut section = Vec::new();
    for (a, n) in dims.iter().enumerate() {
        section.extend(if a == axis { [k, one, one] } else { [zero, *n, one] });
    }
    let thin = b.array(ArrayOp::Slice, &[&[x][..], &section].concat());
    let rest: Vec<Value> = (0..dims.len()).filter(|a| *a != axis).map(|a| dims[a]).collect();
    b.array(ArrayOp::Reshape, &[&[thin][..], &rest].concat())
}

/// Folds a row of two inputs over an axis, from its first element.
fn fold(b: &mut Builder, x: Value, axis: Option<usize>, row: Prim) -> Value {
    let (x, axis) = match axis {
        Some(axis) => (x, axis),
        None => (flat(b, x), 0),
    };
    let n = count(b, x, Some(axis));
    let (zero, one) = (b.i64(0), b.i64(1));
    let first = cross_section(b, x, axis, zero);
    let rest = b.prim(Prim::ISub, &[n, one]);
    repeat(b, rest, &[first], |b, i, carry| {
        let k = b.prim(Prim::IAdd, &[i, one]);
        let next = cross_section(b, x, axis, k);
        vec![b.prim(row, &[carry[0], next])]
    })[0]
}

/// The product over all elements, or along an axis, in order. There must be an element.
pub fn prod(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    fold(b, x, axis, Prim::Mul)
}

/// The largest element, or the largest along an axis.
pub fn max(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    match axis.filter(|_| b.ty(x).rank() > 1) {
        None => {
            let k = argmax(b, x);
            b.array(ArrayOp::Peek, &[x, k])
        }
        Some(axis) => extreme(b, x, axis, Prim::Le),
    }
}

/// The smallest element, or the smallest along an axis.
pub fn min(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    match axis.filter(|_| b.ty(x).rank() > 1) {
        None => {
            let k = argmin(b, x);
            b.array(ArrayOp::Peek, &[x, k])
        }
        Some(axis) => extreme(b, x, axis, Prim::Ge),
    }
}

/// The extreme along an axis: the first element, then every next one that does not stay within it. A NaN
/// does not, and nothing comes after it.
fn extreme(b: &mut Builder, x: Value, axis: usize, within: Prim) -> Value {
    let n = count(b, x, Some(axis));
    let (zero, one) = (b.i64(0), b.i64(1));
    let first = cross_section(b, x, axis, zero);
    let rest = b.prim(Prim::ISub, &[n, one]);
    repeat(b, rest, &[first], |b, i, carry| {
        let k = b.prim(Prim::IAdd, &[i, one]);
        let next = cross_section(b, x, axis, k);
        let stays = b.prim(within, &[next, carry[0]]);
        let done = b.prim(Prim::Ne, &[carry[0], carry[0]]);
        let stays = b.prim(Prim::Or, &[stays, done]);
        vec![b.select(stays, carry[0], next)]
    })[0]
}

/// Where the largest element is, in row-major order: the first of equals.
pub fn argmax(b: &mut Builder, x: Value) -> Value {
    b.array(ArrayOp::ArgMax, &[x])
}

/// Where the smallest element is, in row-major order: the first of equals.
pub fn argmin(b: &mut Builder, x: Value) -> Value {
    b.array(ArrayOp::ArgMin, &[x])
}

/// The Euclidean norm of all elements, or along an axis; its derivative at 0 is 0. Squares that overflow or
/// vanish are taken again of elements scaled by a power of two, which changes no bit of them.
pub fn norm(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let axis = axis.filter(|_| b.ty(x).rank() > 1);
    let squares = squared(b, x, axis);
    let elem = b.ty(x).elem().unwrap_or(Elem::F64);
    let (far, scale) = if elem == Elem::F32 { (90, 75) } else { (900, 600) };
    let power = |b: &mut Builder, n: i32| b.float(elem, 2f64.powi(n));
    let (least, most) = (power(b, -far), power(b, far));
    let small = b.prim(Prim::Lt, &[squares, least]);
    let large = b.prim(Prim::Gt, &[squares, most]);
    let extreme = b.prim(Prim::Or, &[small, large]);
    let extreme = if axis.is_some() { any_of(b, extreme) } else { extreme };
    let ty = b.ty(squares);
    b.open_block(&[]);
    let (one, up, down) = (power(b, 0), power(b, scale), power(b, -scale));
    let by = b.select(small, up, one);
    let by = b.select(large, down, by);
    let back = b.select(small, down, one);
    let back = b.select(large, up, back);
    let spread = match axis {
        Some(axis) => {
            let n = count(b, x, Some(axis));
            b.array(ArrayOp::Expand(axis as u8), &[by, n])
        }
        None => by,
    };
    let scaled = b.mul(x, spread);
    let again = squared(b, scaled, axis);
    let root = root(b, again);
    let result = b.mul(root, back);
    let rescaled = b.close_block(vec![result]);
    b.open_block(&[]);
    let result = self::root(b, squares);
    let plain = b.close_block(vec![result]);
    b.inst(Op::If, vec![extreme], &[ty], vec![rescaled, plain])[0]
}

/// The sum of squares.
fn squared(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    match axis {
        None => b.array(ArrayOp::Dot, &[x, x]),
        Some(_) => {
            let squares = b.mul(x, x);
            sum(b, squares, axis)
        }
    }
}

/// The square root of a sum of squares, with derivative 0 at 0.
fn root(b: &mut Builder, squares: Value) -> Value {
    let elem = b.ty(squares).elem().unwrap_or(Elem::F64);
    let (zero, one) = (b.float(elem, 0.0), b.float(elem, 1.0));
    let positive = b.prim(Prim::Gt, &[squares, zero]);
    let safe = b.select(positive, squares, one);
    let root = b.prim(Prim::Sqrt, &[safe]);
    // NaN is not positive, and stays NaN.
    b.select(positive, root, squares)
}

/// Whether one of the elements is true; not where there are none.
fn any_of(b: &mut Builder, x: Value) -> Value {
    let x = flat(b, x);
    let (n, no) = (count(b, x, None), b.bool(false));
    repeat(b, n, &[no], |b, i, carry| {
        let v = b.load(x, i);
        vec![b.prim(Prim::Or, &[carry[0], v])]
    })[0]
}

/// Sums up to each element along an axis.
pub fn cumsum(b: &mut Builder, x: Value, axis: usize) -> Value {
    b.array(ArrayOp::CumSum(axis as u8, Direction::Forward), &[x])
}

/// Products up to each element of a vector, in order.
pub fn cumprod(b: &mut Builder, x: Value) -> Value {
    let n = count(b, x, None);
    let elem = b.ty(x).elem().unwrap_or(Elem::F64);
    let one = b.float(elem, 1.0);
    let out = b.filled(&[n], one);
    repeat(b, n, &[out, one], |b, i, carry| {
        let v = b.load(x, i);
        let p = b.mul(carry[1], v);
        vec![b.store(carry[0], i, p), p]
    })[0]
}

/// The sum of products of all elements.
pub fn dot(b: &mut Builder, x: Value, y: Value) -> Value {
    b.array(ArrayOp::Dot, &[x, y])
}

/// The product of two matrices.
pub fn matmul(b: &mut Builder, x: Value, y: Value) -> Value {
    let (m, n) = (b.op(Op::Dim(0), &[x])[0], b.op(Op::Dim(1), &[y])[0]);
    product(b, &[m, n], x, y, Transposed::No)
}

/// A matrix times a vector.
pub fn matvec(b: &mut Builder, a: Value, x: Value) -> Value {
    let m = b.op(Op::Dim(0), &[a])[0];
    product(b, &[m], a, x, Transposed::No)
}

/// A vector times a matrix.
pub fn vecmat(b: &mut Builder, x: Value, a: Value) -> Value {
    let n = b.op(Op::Dim(1), &[a])[0];
    product(b, &[n], a, x, Transposed::Yes)
}

/// The products of every two elements of two vectors.
pub fn outer(b: &mut Builder, x: Value, y: Value) -> Value {
    let (m, n) = (b.op(Op::Dim(0), &[x])[0], b.op(Op::Dim(0), &[y])[0]);
    product(b, &[m, n], x, y, Transposed::No)
}

fn product(b: &mut Builder, dims: &[Value], x: Value, y: Value, tx: Transposed) -> Value {
    let zero = b.zero(b.ty(x));
    let c = b.filled(dims, zero);
    b.array(ArrayOp::Gemm(tx, Transposed::No), &[c, x, y])
}

/// `exp(x)` over its sum, over all elements, without overflow. The largest elements share the whole where
/// they are infinite, of either sign.
pub fn softmax(b: &mut Builder, x: Value) -> Value {
    let e = shifted_exp(b, x).1;
    let total = sum(b, e, None);
    b.prim(Prim::Div, &[e, total])
}

/// The logarithm of the sum of `exp(x)` over all elements, without overflow. Where that is infinite, it is the
/// largest element, with the derivative of that.
pub fn logsumexp(b: &mut Builder, x: Value) -> Value {
    let (m, e) = shifted_exp(b, x);
    let total = sum(b, e, None);
    let log = b.prim(Prim::Log, &[total]);
    let shift = b.prim(Prim::StopGradient, &[m]);
    let finite = b.add(shift, log);
    let infinite = is_infinite(b, m);
    b.select(infinite, m, finite)
}

/// Whether a float is infinite.
fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let infinity = b.float(b.ty(x).elem().unwrap_or(Elem::F64), f64::INFINITY);
    let size = b.prim(Prim::Abs, &[x]);
    b.prim(Prim::Eq, &[size, infinity])
}

/// The largest element, and `exp` of what the others are below it. The shift cancels, so no derivative passes
/// through it. Infinite elements are 0 below an equal one: chosen before the difference is taken, which has
/// no derivative.
fn shifted_exp(b: &mut Builder, x: Value) -> (Value, Value) {
    let m = max(b, x, None);
    let top = b.prim(Prim::StopGradient, &[m]);
    let infinite = is_infinite(b, top);
    let equal = b.prim(Prim::Eq, &[x, top]);
    let level = b.prim(Prim::And, &[equal, infinite]);
    let none = b.zero(b.ty(x));
    let (x, top) = (b.select(level, none, x), b.select(level, none, top));
    let below = b.sub(x, top);
    (m, b.prim(Prim::Exp, &[below]))
}

/// Elementwise operation on two arrays or numbers, broadcast to one shape.
pub fn elementwise(b: &mut Builder, row: Prim, x: Value, y: Value) -> Value {
    let (x, y) = shape::aligned(b, x, y);
    b.prim(row, &[x, y])
}
