//! Axes come, go and change places; the elements stay in order unless axes move.

use super::kinds::{axis, rank, room, whole};
use super::parts::{count, flat, require, volume};
use super::{Made, parts};
use crate::ir::{Builder, Value};
use crate::ops::{ArrayOp, Prim};

/// A new axis of one element, before axis `at` of `x` (or behind the last). A number becomes a vector.
pub fn expand_dims(b: &mut Builder, x: Value, at: usize) -> Made {
    let rank = b.ty(x).rank();
    if at > rank {
        return Err(format!("`expand_dims`: the new axis is one of 0 to {rank}, not {at}"));
    }
    room("expand_dims", rank + 1)?;
    let one = b.i64(1);
    Ok(match rank {
        0 => b.filled(&[one], x),
        _ => b.array(ArrayOp::Expand(at as u8), &[x, one]),
    })
}

/// Without an axis, which must have one element; a vector becomes a number.
pub fn squeeze(b: &mut Builder, x: Value, at: usize) -> Made {
    axis(b, "squeeze", x, Some(at))?;
    let dims = b.dims(x);
    let (zero, one) = (b.i64(0), b.i64(1));
    let single = b.prim(Prim::IEq, &[dims[at], one]);
    require(b, single, format!("`squeeze`: axis {at} must have one element"));
    Ok(parts::cross_section(b, x, at, zero))
}

/// Two axes change places.
pub fn swapaxes(b: &mut Builder, x: Value, i: usize, j: usize) -> Made {
    let rank = axis(b, "swapaxes", x, Some(i.max(j)))?;
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(i, j);
    transpose_by(b, x, &order)
}

/// Axis `k` of the result is axis `order[k]` of `x`.
pub fn transpose_by(b: &mut Builder, x: Value, order: &[usize]) -> Made {
    let rank = rank(b, "transpose", x)?;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        return Err(format!(
            "`transpose` needs each of the {rank} axes of the array once, counted from 0, but is given {order:?}"
        ));
    }
    if order.is_sorted() {
        return Ok(x);
    }
    let order: Vec<u8> = order.iter().map(|a| *a as u8).collect();
    Ok(b.array(ArrayOp::Transpose(order.into()), &[x]))
}

/// The axes in reverse order.
pub fn transpose(b: &mut Builder, x: Value) -> Made {
    let order: Vec<usize> = (0..rank(b, "transpose", x)?).rev().collect();
    transpose_by(b, x, &order)
}

/// The elements as a vector; a number as a vector of one.
pub fn flatten(b: &mut Builder, x: Value) -> Made {
    match b.ty(x).is_array() {
        true => Ok(flat(b, x)),
        false => expand_dims(b, x, 0),
    }
}

/// The elements in another shape, in row-major order; one size may be `None`, and follows from the others.
/// Without sizes, a number.
pub fn reshape(b: &mut Builder, x: Value, dims: &[Option<Value>]) -> Made {
    room("reshape", dims.len())?;
    if dims.iter().filter(|n| n.is_none()).count() > 1 {
        return Err("`reshape`: only one size can follow from the others".into());
    }
    for n in dims.iter().flatten() {
        whole(b, "reshape", "a size", *n)?;
    }
    let x = if b.ty(x).is_array() { x } else { expand_dims(b, x, 0)? };
    let known: Vec<Value> = dims.iter().flatten().copied().collect();
    let (zero, one, n) = (b.i64(0), b.i64(1), count(b, x, None));
    if dims.is_empty() {
        let single = b.prim(Prim::IEq, &[n, one]);
        require(b, single, "`reshape`: only an array of one element becomes a number");
        return Ok(b.array(ArrayOp::Peek, &[x, zero]));
    }
    let mut wanted = known.clone();
    if let Some(open) = dims.iter().position(Option::is_none) {
        let others = volume(b, &known);
        let some = b.prim(Prim::IGt, &[others, zero]);
        let divisor = b.select(some, others, one);
        let over = b.prim(Prim::IMod, &[n, divisor]);
        let fits = b.prim(Prim::IEq, &[over, zero]);
        let fits = b.prim(Prim::And, &[some, fits]);
        require(b, fits, "`reshape`: the sizes given do not divide the number of elements");
        let open_size = b.prim(Prim::IDiv, &[n, divisor]);
        wanted.insert(open, open_size);
    }
    Ok(b.array(ArrayOp::Reshape, &[&[x][..], &wanted].concat()))
}
