//! Sums, products, means and extremes, over all elements or along one axis.
//!
//! Subgradients: an extreme gives its whole derivative to the first of equal elements. A NaN is both the largest
//! and the smallest element.

use super::Made;
use super::kinds::{axis as checked, converted, elem, floats, is_float, kind, like, numbers};
use super::parts::{count, cross_section, fold, repeat, require};
use crate::ir::{Builder, Elem, Value};
use crate::ops::{ArrayOp, Prim};

/// The sum over all elements, or along an axis. Truth values are counted.
pub fn sum(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "sum", x, axis)?;
    let x = numbers(b, x);
    Ok(summed(b, x, axis))
}

/// The same, of numbers.
pub(super) fn summed(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    if !is_float(b, x) {
        let none = b.i64(0);
        return fold(b, x, axis, Prim::IAdd, none);
    }
    let axis = axis.filter(|_| b.ty(x).rank() > 1);
    b.array(ArrayOp::Sum(axis.map(|a| a as u8)), &[x])
}

/// The product over all elements, or along an axis, in order; 1 where there are none.
pub fn prod(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "prod", x, axis)?;
    let x = numbers(b, x);
    let one = like(b, x, 1.0);
    Ok(fold(b, x, axis, if is_float(b, x) { Prim::Mul } else { Prim::IMul }, one))
}

/// The mean over all elements, or along an axis; NaN where there are none.
pub fn mean(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "mean", x, axis)?;
    let x = floats(b, x);
    Ok(averaged(b, x, axis))
}

/// The same, of floats.
pub(super) fn averaged(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let total = summed(b, x, axis);
    let n = count(b, x, axis);
    let to = kind(b, x);
    let n = converted(b, n, to);
    b.prim(Prim::Div, &[total, n])
}

/// The largest element, or the largest along an axis.
pub fn max(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "max", x, axis)?;
    Ok(largest(b, x, axis))
}

/// The same, of an array that has the axis.
pub(super) fn largest(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    extreme(b, x, axis, &MAX)
}

/// The smallest element, or the smallest along an axis.
pub fn min(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "min", x, axis)?;
    Ok(extreme(b, x, axis, &MIN))
}

/// Where the largest element is: in row-major order, or along an axis. The first of equals.
pub fn argmax(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "argmax", x, axis)?;
    Ok(match axis.filter(|_| rank > 1) {
        Some(axis) => places(b, x, axis, &MAX),
        None => b.array(ArrayOp::ArgMax, &[x]),
    })
}

/// Where the smallest element is: in row-major order, or along an axis. The first of equals.
pub fn argmin(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "argmin", x, axis)?;
    Ok(match axis.filter(|_| rank > 1) {
        Some(axis) => places(b, x, axis, &MIN),
        None => b.array(ArrayOp::ArgMin, &[x]),
    })
}

/// Whether one of the elements is true, or one along an axis; not where there are none.
pub fn any(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "any", x, axis)?;
    let x = converted(b, x, Elem::Bool);
    Ok(any_true(b, x, axis))
}

/// The same, of truth values.
pub(super) fn any_true(b: &mut Builder, x: Value, axis: Option<usize>) -> Value {
    let no = b.bool(false);
    fold(b, x, axis, Prim::Or, no)
}

/// Whether all elements are true, or all along an axis; so it is where there are none.
pub fn all(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "all", x, axis)?;
    let (x, yes) = (converted(b, x, Elem::Bool), b.bool(true));
    Ok(fold(b, x, axis, Prim::And, yes))
}

/// What makes an element more extreme than another: the operation for all elements, and how a next element
/// compares that does not replace the one found before.
struct Extreme {
    name: &'static str,
    whole: ArrayOp,
    floats: Prim,
    ints: Prim,
}

const MAX: Extreme =
    Extreme { name: "max", whole: ArrayOp::ArgMax, floats: Prim::Le, ints: Prim::ILe };
const MIN: Extreme =
    Extreme { name: "min", whole: ArrayOp::ArgMin, floats: Prim::Ge, ints: Prim::IGe };

fn extreme(b: &mut Builder, x: Value, axis: Option<usize>, which: &Extreme) -> Value {
    match axis.filter(|_| b.ty(x).rank() > 1) {
        Some(axis) => {
            let truth = elem(b, x) == Some(Elem::Bool);
            let found = extremes(b, x, axis, which, false)[0];
            if truth { converted(b, found, Elem::Bool) } else { found }
        }
        None => {
            let (n, zero) = (count(b, x, None), b.i64(0));
            let some = b.prim(Prim::IGt, &[n, zero]);
            require(b, some, format!("`{}` of an array without elements", which.name));
            let k = b.array(which.whole.clone(), &[x]);
            b.array(ArrayOp::Peek, &[x, k])
        }
    }
}

/// Where the extremes along an axis are, of an array that has more.
fn places(b: &mut Builder, x: Value, axis: usize, which: &Extreme) -> Value {
    let x = if is_float(b, x) { b.prim(Prim::StopGradient, &[x]) } else { x };
    extremes(b, x, axis, which, true)[1]
}

/// The extremes along an axis of an array that has more, and on demand their places: the first elements, then
/// every next one that does not stay within what was found. A NaN does not, and nothing comes after it.
fn extremes(
    b: &mut Builder,
    x: Value,
    axis: usize,
    which: &Extreme,
    with_places: bool,
) -> Vec<Value> {
    let n = count(b, x, Some(axis));
    let (zero, one) = (b.i64(0), b.i64(1));
    let some = b.prim(Prim::IGt, &[n, zero]);
    require(b, some, format!("`{}` along axis {axis}, which has no elements", which.name));
    let x = numbers(b, x);
    let float = is_float(b, x);
    let mut found = vec![cross_section(b, x, axis, zero)];
    if with_places {
        let dims = b.dims(found[0]);
        found.push(b.filled(&dims, zero));
    }
    let rest = b.prim(Prim::ISub, &[n, one]);
    repeat(b, rest, &found, |b, i, carry| {
        let k = b.prim(Prim::IAdd, &[i, one]);
        let next = cross_section(b, x, axis, k);
        let within = if float { which.floats } else { which.ints };
        let mut stays = b.prim(within, &[next, carry[0]]);
        if float {
            let done = b.prim(Prim::Ne, &[carry[0], carry[0]]);
            stays = b.prim(Prim::Or, &[stays, done]);
        }
        let others = [next, k];
        carry.iter().zip(others).map(|(found, other)| b.select(stays, *found, other)).collect()
    })
}
