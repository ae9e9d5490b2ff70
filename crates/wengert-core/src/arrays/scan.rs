//! Sums and products so far, differences, and the area under points.

use super::kinds::{alike, axis as checked, elem, floats, is_float, like, numbers, rank};
use super::parts::{
    along, count, cross_section, flat, repeat, require, with_cross_section, without,
};
use super::reduce::summed;
use super::{Made, elementwise};
use crate::ir::{Builder, Elem, Value};
use crate::ops::{ArrayOp, Direction, Prim};

/// Sums up to each element along an axis; without one, of all elements as a vector.
pub fn cumsum(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "cumsum", x, axis)?;
    let x = numbers(b, x);
    let x = if axis.is_none() { flat(b, x) } else { x };
    let axis = axis.unwrap_or(0);
    Ok(match is_float(b, x) {
        true => b.array(ArrayOp::CumSum(axis as u8, Direction::Forward), &[x]),
        false => scan(b, x, axis, Prim::IAdd, 0.0),
    })
}

/// Products up to each element along an axis, in order; without one, of all elements as a vector.
pub fn cumprod(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "cumprod", x, axis)?;
    let x = numbers(b, x);
    let x = if axis.is_none() { flat(b, x) } else { x };
    let row = if is_float(b, x) { Prim::Mul } else { Prim::IMul };
    Ok(scan(b, x, axis.unwrap_or(0), row, 1.0))
}

/// What a row of two inputs makes of all elements up to each, from `start`.
fn scan(b: &mut Builder, x: Value, axis: usize, row: Prim, start: f64) -> Value {
    let start = like(b, x, start);
    let dims = b.dims(x);
    let out = b.filled(&dims, start);
    let so_far = b.filled(&without(&dims, axis), start);
    repeat(b, dims[axis], &[out, so_far], |b, k, carry| {
        let next = cross_section(b, x, axis, k);
        let so_far = b.prim(row, &[carry[1], next]);
        vec![with_cross_section(b, carry[0], axis, k, so_far), so_far]
    })[0]
}

/// Along an axis, all elements but the last, and all but the first.
fn neighbours(b: &mut Builder, x: Value, axis: usize) -> (Value, Value) {
    let (zero, one, n) = (b.i64(0), b.i64(1), count(b, x, Some(axis)));
    let less = b.prim(Prim::ISub, &[n, one]);
    let pairs = b.prim(Prim::IMax, &[less, zero]);
    (along(b, x, axis, [zero, pairs, one]), along(b, x, axis, [one, pairs, one]))
}

/// Each element less the one before it, along an axis (without one, the last). Truth values: whether they differ.
pub fn diff(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "diff", x, axis)?;
    let truth = elem(b, x) == Some(Elem::Bool);
    let x = numbers(b, x);
    let (before, after) = neighbours(b, x, axis.unwrap_or(rank - 1));
    let row = match is_float(b, x) {
        true => Prim::Sub,
        false if truth => Prim::INe,
        false => Prim::ISub,
    };
    Ok(b.prim(row, &[after, before]))
}

/// The area under points by trapezoids, along the last axis of `y`: at `x` (a vector, or as many as `y`), or
/// `dx` apart, or 1 apart.
pub fn trapezoid(b: &mut Builder, y: Value, x: Option<Value>, dx: Option<Value>) -> Made {
    let last = rank(b, "trapezoid", y)? - 1;
    let given = [Some(y), x, dx].into_iter().flatten().collect::<Vec<_>>();
    let alike = alike(b, &given)?;
    let alike: Vec<Value> = alike.into_iter().map(|v| floats(b, v)).collect();
    let y = alike[0];
    let width = match (x, dx) {
        (Some(_), Some(_)) => {
            return Err("`trapezoid` takes the places `x` or their distance `dx`, not both".into());
        }
        (Some(_), None) => {
            let x = alike[1];
            let own = rank(b, "trapezoid", x)?;
            if own != 1 && own != last + 1 {
                return Err("`trapezoid`: `x` must be a vector, or have the shape of `y`".into());
            }
            let (m, n) = (count(b, x, Some(own - 1)), count(b, y, Some(last)));
            let equal = b.prim(Prim::IEq, &[m, n]);
            require(b, equal, "`trapezoid`: there must be as many places `x` as heights `y`");
            diff(b, x, None)?
        }
        (None, Some(_)) => alike[1],
        (None, None) => like(b, y, 1.0),
    };
    let (before, after) = neighbours(b, y, last);
    let heights = b.add(before, after);
    let areas = elementwise::elementwise_same(b, Prim::Mul, width, heights)?;
    let half = like(b, y, 0.5);
    let total = summed(b, areas, Some(last));
    Ok(b.mul(total, half))
}
