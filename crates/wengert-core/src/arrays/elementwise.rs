//! Functions of elements: with two operands, and those that are no row of the table.
//!
//! Two shapes fit where they are equal. Arrays of different ranks are broadcast, and so are axes that are known
//! to have one element, as `expand_dims` makes them; what may or may not have one element is not, so that
//! arrays of the same shape cost nothing. [`elementwise`] broadcasts whatever comes.

use super::kinds::{alike, alike_two, converted, elem, floats, is_float, like, numbers};
use super::{Made, shape};
use crate::ir::{Builder, Elem, Value, infer};
use crate::ops::{Prim, Scalar};

/// A row of the table on operands that fit; its kinds are checked.
fn row(b: &mut Builder, row: Prim, operands: &[Value]) -> Made {
    let types: Vec<_> = operands.iter().map(|x| b.ty(*x)).collect();
    infer::prim_result(row, &types)?;
    Ok(b.prim(row, operands))
}

/// A row of the table on two arrays or numbers, broadcast to one shape when the program runs.
pub fn elementwise(b: &mut Builder, prim: Prim, x: Value, y: Value) -> Made {
    let (x, y) = shape::aligned(b, x, y)?;
    row(b, prim, &[x, y])
}

/// A row of the table on two arrays of the same shape, or numbers. Broadcast is only what is known to differ:
/// ranks, and axes of one element.
pub fn elementwise_same(b: &mut Builder, prim: Prim, x: Value, y: Value) -> Made {
    let fitted = fitted(b, &[x, y])?;
    row(b, prim, &fitted)
}

/// Operands broadcast to one shape, where ranks differ or an axis is known to have one element in some only.
fn fitted(b: &mut Builder, operands: &[Value]) -> Result<Vec<Value>, String> {
    let ranks: Vec<usize> = operands.iter().map(|x| b.ty(*x).rank()).collect();
    let rank = ranks.iter().copied().max().unwrap_or(0);
    let mut differ = ranks.iter().any(|r| *r != 0 && *r != rank);
    for axis in 0..if differ { 0 } else { rank } {
        let arrays = operands.iter().filter(|x| b.ty(**x).is_array()).copied();
        let sizes: Vec<Value> =
            arrays.collect::<Vec<_>>().iter().map(|x| b.dims(*x)[axis]).collect();
        let single = |n: &Value| b.func().as_const(*n) == Some(Scalar::I64(1));
        let singles = sizes.iter().filter(|n| single(n)).count();
        differ |= singles > 0 && singles < sizes.len();
    }
    if !differ {
        return Ok(operands.to_vec());
    }
    let mut dims = Vec::new();
    for x in operands {
        let own = b.dims(*x);
        dims = shape::joined(b, dims, own);
    }
    let each = operands.iter().map(|x| match b.ty(*x).is_array() {
        true => shape::broadcast(b, *x, &dims),
        false => Ok(*x),
    });
    each.collect()
}

/// The larger of every two elements; NaN where one is. A tie gives its derivative to `y`.
pub fn maximum(b: &mut Builder, x: Value, y: Value) -> Made {
    extreme(b, x, y, [Prim::Max, Prim::IMax, Prim::Or])
}

/// The smaller of every two elements; NaN where one is. A tie gives its derivative to `y`.
pub fn minimum(b: &mut Builder, x: Value, y: Value) -> Made {
    extreme(b, x, y, [Prim::Min, Prim::IMin, Prim::And])
}

fn extreme(b: &mut Builder, x: Value, y: Value, rows: [Prim; 3]) -> Made {
    let (x, y) = alike_two(b, x, y)?;
    let both = fitted(b, &[x, y])?;
    let (x, y) = (both[0], both[1]);
    Ok(match elem(b, x) {
        Some(Elem::I64) => b.prim(rows[1], &[x, y]),
        Some(Elem::Bool) => b.prim(rows[2], &[x, y]),
        _ => {
            // The row gives `y` where a comparison is false: only a NaN in `x` would be lost.
            let chosen = b.prim(rows[0], &[x, y]);
            let nan = b.prim(Prim::Ne, &[x, x]);
            b.select(nan, x, chosen)
        }
    })
}

/// `where`: an element of `x` where `c` holds, else of `y`.
pub fn choose(b: &mut Builder, c: Value, x: Value, y: Value) -> Made {
    let (x, y) = alike_two(b, x, y)?;
    let c = converted(b, c, Elem::Bool);
    let fitted = fitted(b, &[c, x, y])?;
    row(b, Prim::Select, &fitted)
}

/// Elements kept between bounds; the upper one wins where they cross. NaN stays, and a bound that is NaN does
/// not bind.
pub fn clip(b: &mut Builder, x: Value, lo: Value, hi: Value) -> Made {
    let all = alike(b, &[x, lo, hi])?;
    let all: Vec<Value> = all.into_iter().map(|v| numbers(b, v)).collect();
    let all = fitted(b, &all)?;
    if is_float(b, all[0]) {
        return row(b, Prim::Clamp, &all);
    }
    let above = b.prim(Prim::IMax, &[all[0], all[1]]);
    Ok(b.prim(Prim::IMin, &[above, all[2]]))
}

/// 0 below 0, 1 above, and `at_zero` at 0.
pub fn heaviside(b: &mut Builder, x: Value, at_zero: Value) -> Made {
    let (x, at_zero) = alike_two(b, x, at_zero)?;
    let (x, at_zero) = (floats(b, x), floats(b, at_zero));
    let both = fitted(b, &[x, at_zero])?;
    let (x, at_zero) = (both[0], both[1]);
    let (zero, one) = (like(b, x, 0.0), like(b, x, 1.0));
    let (above, below) = (b.prim(Prim::Gt, &[x, zero]), b.prim(Prim::Lt, &[x, zero]));
    let nan = b.prim(Prim::Ne, &[x, x]);
    let fixed = b.prim(Prim::StopGradient, &[x]);
    let rest = b.select(nan, fixed, at_zero);
    let rest = b.select(below, zero, rest);
    Ok(b.select(above, one, rest))
}

/// Every element times itself.
pub fn square(b: &mut Builder, x: Value) -> Made {
    let x = numbers(b, x);
    row(b, if is_float(b, x) { Prim::Mul } else { Prim::IMul }, &[x, x])
}

/// The nearest whole number as a float, the even one of two; whole numbers stay.
pub fn round_half_even(b: &mut Builder, x: Value) -> Made {
    if is_float(b, x) { row(b, Prim::Round, &[x]) } else { Ok(numbers(b, x)) }
}

/// Whether an element is NaN.
pub fn isnan(b: &mut Builder, x: Value) -> Made {
    let x = numbers(b, x);
    row(b, if is_float(b, x) { Prim::Ne } else { Prim::INe }, &[x, x])
}

/// Whether an element is infinite.
pub fn isinf(b: &mut Builder, x: Value) -> Made {
    sized(b, x, Prim::Eq, Prim::INe)
}

/// Whether an element is a number that is not infinite.
pub fn isfinite(b: &mut Builder, x: Value) -> Made {
    sized(b, x, Prim::Lt, Prim::IEq)
}

/// The magnitude compared with infinity; of whole numbers, themselves with themselves.
fn sized(b: &mut Builder, x: Value, compared: Prim, whole: Prim) -> Made {
    let x = numbers(b, x);
    if !is_float(b, x) {
        return row(b, whole, &[x, x]);
    }
    let size = b.prim(Prim::Abs, &[x]);
    let infinity = like(b, x, f64::INFINITY);
    row(b, compared, &[size, infinity])
}
