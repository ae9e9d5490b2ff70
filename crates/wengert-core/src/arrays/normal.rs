//! Norms, variances, exponentials and their sums, over all elements or along one axis.
//!
//! Subgradients: a norm and a standard deviation have 0 at 0.

use super::Made;
use super::kinds::{axis as checked, converted, floats, kind, like};
use super::parts::{count, spread};
use super::reduce::{any_true, averaged, largest, summed};
use crate::ir::{Builder, Elem, Op, Value};
use crate::ops::{ArrayOp, Prim};

/// The Euclidean norm of all elements, or along an axis; its derivative at 0 is 0. Squares that overflow or
/// vanish are taken again of elements scaled by a power of two, which changes no bit of them.
pub fn norm(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "norm", x, axis)?;
    let x = floats(b, x);
    let axis = axis.filter(|_| rank > 1);
    let squares = squared(b, x, axis);
    let kind = kind(b, x);
    let (far, scale) = if kind == Elem::F32 { (90, 75) } else { (900, 600) };
    let power = |b: &mut Builder, n: i32| b.float(kind, 2f64.powi(n));
    let (least, most) = (power(b, -far), power(b, far));
    let small = b.prim(Prim::Lt, &[squares, least]);
    let large = b.prim(Prim::Gt, &[squares, most]);
    let extreme = b.prim(Prim::Or, &[small, large]);
    let extreme = if axis.is_some() { any_true(b, extreme, None) } else { extreme };
    let ty = b.ty(squares);
    b.open_block(&[]);
    let (one, up, down) = (power(b, 0), power(b, scale), power(b, -scale));
    let by = b.select(small, up, one);
    let by = b.select(large, down, by);
    let back = b.select(small, down, one);
    let back = b.select(large, up, back);
    let n = count(b, x, axis);
    let by = spread(b, by, axis, n);
    let scaled = b.mul(x, by);
    let again = squared(b, scaled, axis);
    let again = root(b, again);
    let result = b.mul(again, back);
    let rescaled = b.close_block(vec![result]);
    b.open_block(&[]);
    let result = root(b, squares);
    let plain = b.close_block(vec![result]);
    Ok(b.inst(Op::If, vec![extreme], &[ty], vec![rescaled, plain])[0])
}

/// The sum of squares.
fn squared(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    match axis {
        None => b.array(ArrayOp::Dot, &[x, x]),
        Some(_) => {
            let squares = b.mul(x, x);
            summed(b, squares, axis)
        }
    }
}

/// The square root of a sum of squares, with derivative 0 at 0.
fn root(b: &mut Builder, squares: Value) -> Value {
    let (zero, one) = (like(b, squares, 0.0), like(b, squares, 1.0));
    let positive = b.prim(Prim::Gt, &[squares, zero]);
    let safe = b.select(positive, squares, one);
    let root = b.prim(Prim::Sqrt, &[safe]);
    // NaN is not positive, and stays NaN.
    b.select(positive, root, squares)
}

/// The mean of squared deviations from the mean, over all elements or along an axis: their sum by the number of
/// elements less `ddof`.
pub fn variance(b: &mut Builder, x: Value, axis: Option<usize>, ddof: i64) -> Made {
    let rank = checked(b, "var", x, axis)?;
    let x = floats(b, x);
    let axis = axis.filter(|_| rank > 1);
    let n = count(b, x, axis);
    let mean = averaged(b, x, axis);
    let mean = spread(b, mean, axis, n);
    let deviations = b.sub(x, mean);
    let total = squared(b, deviations, axis);
    let (zero, less) = (b.i64(0), b.i64(ddof));
    let free = b.prim(Prim::ISub, &[n, less]);
    let free = b.prim(Prim::IMax, &[free, zero]);
    let to = kind(b, x);
    let free = converted(b, free, to);
    Ok(b.prim(Prim::Div, &[total, free]))
}

/// The square root of the variance; its derivative is 0 where all elements are equal.
pub fn std(b: &mut Builder, x: Value, axis: Option<usize>, ddof: i64) -> Made {
    checked(b, "std", x, axis)?;
    let variance = variance(b, x, axis, ddof)?;
    Ok(root(b, variance))
}

/// `exp(x)` over its sum, over all elements or along an axis, without overflow. The largest elements share the
/// whole where they are infinite, of either sign.
pub fn softmax(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "softmax", x, axis)?;
    let x = floats(b, x);
    let axis = axis.filter(|_| rank > 1);
    let e = shifted_exp(b, x, axis).1;
    let (total, n) = (summed(b, e, axis), count(b, x, axis));
    let total = spread(b, total, axis, n);
    Ok(b.prim(Prim::Div, &[e, total]))
}

/// The logarithm of the sum of `exp(x)` over all elements or along an axis, without overflow. Where that is
/// infinite, it is the largest element, with the derivative of that.
pub fn logsumexp(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "logsumexp", x, axis)?;
    let x = floats(b, x);
    let axis = axis.filter(|_| rank > 1);
    let (m, e) = shifted_exp(b, x, axis);
    let total = summed(b, e, axis);
    let log = b.prim(Prim::Log, &[total]);
    let shift = b.prim(Prim::StopGradient, &[m]);
    let finite = b.add(shift, log);
    let infinite = is_infinite(b, m);
    Ok(b.select(infinite, m, finite))
}

/// Whether floats are infinite.
fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let infinity = like(b, x, f64::INFINITY);
    let size = b.prim(Prim::Abs, &[x]);
    b.prim(Prim::Eq, &[size, infinity])
}

/// The largest element, and `exp` of what the others are below it. The shift cancels, so no derivative passes
/// through it. Infinite elements are 0 below an equal one: chosen before the difference is taken, which has
/// no derivative.
fn shifted_exp(b: &mut Builder, x: Value, axis: Option<usize>) -> (Value, Value) {
    let m = largest(b, x, axis);
    let top = b.prim(Prim::StopGradient, &[m]);
    let n = count(b, x, axis);
    let top = spread(b, top, axis, n);
    let infinite = is_infinite(b, top);
    let equal = b.prim(Prim::Eq, &[x, top]);
    let level = b.prim(Prim::And, &[equal, infinite]);
    let none = b.zero(b.ty(x));
    let (x, top) = (b.select(level, none, x), b.select(level, none, top));
    let below = b.sub(x, top);
    (m, b.prim(Prim::Exp, &[below]))
}
