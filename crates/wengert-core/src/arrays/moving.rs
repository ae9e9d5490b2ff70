//! Elements change places, or are repeated.

use super::kinds::{axis as checked, described, rank, room, whole};
use super::parts::{along, axis_back, axis_last, count, cross_section, flat, shaped_as};
use super::{Made, shape};
use crate::ir::{Builder, Elem, Type, Value};
use crate::ops::{ArrayOp, Prim};

/// The elements along an axis from the last to the first; without an axis, along every one.
pub fn flip(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "flip", x, axis)?;
    let axes = axis.map_or(0..rank, |a| a..a + 1);
    Ok(axes.fold(x, |x, axis| {
        let (one, back, n) = (b.i64(1), b.i64(-1), count(b, x, Some(axis)));
        let last = b.prim(Prim::ISub, &[n, one]);
        along(b, x, axis, [last, n, back])
    }))
}

/// The elements along an axis moved on by `shift` places, those pushed out coming in again at the other end;
/// without an axis, in row-major order.
pub fn roll(b: &mut Builder, x: Value, shift: Value, axis: Option<usize>) -> Made {
    checked(b, "roll", x, axis)?;
    whole(b, "roll", "the shift", shift)?;
    let dims = b.dims(x);
    let line = if axis.is_none() { flat(b, x) } else { x };
    let at = axis.unwrap_or(0);
    let (zero, one, n) = (b.i64(0), b.i64(1), count(b, line, Some(at)));
    let some = b.prim(Prim::IMax, &[n, one]);
    let shift = b.prim(Prim::IMod, &[shift, some]);
    let rest = b.prim(Prim::ISub, &[n, shift]);
    let (front, back) =
        (along(b, line, at, [rest, shift, one]), along(b, line, at, [zero, rest, one]));
    let rolled = shape::concatenate(b, &[front, back], at)?;
    Ok(if axis.is_none() { shaped_as(b, rolled, &dims) } else { rolled })
}

/// The array `n` times, one after the other along its last axis; a number becomes a vector.
pub fn tile(b: &mut Builder, x: Value, n: Value) -> Made {
    whole(b, "tile", "the number of times", n)?;
    repeated(b, x, n, "tile", 0)
}

/// Every element `n` times, in row-major order, as a vector.
pub fn repeat_elements(b: &mut Builder, x: Value, n: Value) -> Made {
    whole(b, "repeat", "the number of times", n)?;
    let x = if b.ty(x).is_array() { flat(b, x) } else { x };
    repeated(b, x, n, "repeat", 1)
}

/// A new axis of `n` elements before the last one or behind it, joined with that.
fn repeated(b: &mut Builder, x: Value, n: Value, name: &str, behind: usize) -> Made {
    if !b.ty(x).is_array() {
        return Ok(b.filled(&[n], x));
    }
    let rank = rank(b, name, x)?;
    room(name, rank + 1)?;
    let mut dims = b.dims(x);
    let more = b.array(ArrayOp::Expand((rank - 1 + behind) as u8), &[x, n]);
    dims[rank - 1] = b.prim(Prim::IMul, &[dims[rank - 1], n]);
    Ok(b.array(ArrayOp::Reshape, &[&[more][..], &dims].concat()))
}

/// What stands at the given places of an axis: at one place, or for every element of an array of places.
/// Places less than 0 count from the end; one out of range is an error.
pub fn take(b: &mut Builder, x: Value, idx: Value, axis: usize) -> Made {
    let rank = checked(b, "take", x, Some(axis))?;
    let n = count(b, x, Some(axis));
    let inside = |b: &mut Builder, i: Value| {
        // A place that is too far back stays as it is, so that the error names it.
        let (zero, least) = (b.i64(0), b.prim(Prim::INeg, &[n]));
        let negative = b.prim(Prim::ILt, &[i, zero]);
        let near = b.prim(Prim::IGe, &[i, least]);
        let wraps = b.prim(Prim::And, &[negative, near]);
        let wrapped = b.prim(Prim::WAdd, &[i, n]);
        b.select(wraps, wrapped, i)
    };
    match b.ty(idx) {
        Type::I64 => {
            let k = inside(b, idx);
            Ok(cross_section(b, x, axis, k))
        }
        Type::Array(Elem::I64, ranks) => {
            let ranks = ranks as usize;
            room("take", rank - 1 + ranks)?;
            let (dims, places) = (b.dims(x), b.dims(idx));
            let line = flat(b, idx);
            let line = inside(b, line);
            // `gather` takes rows: the axis goes first and comes back.
            let order: Vec<u8> = [axis]
                .into_iter()
                .chain((0..rank).filter(|a| *a != axis))
                .map(|a| a as u8)
                .collect();
            let x = if axis == 0 { x } else { b.array(ArrayOp::Transpose(order.into()), &[x]) };
            let mut taken = b.array(ArrayOp::Gather, &[x, line]);
            if axis > 0 {
                let back: Vec<u8> =
                    (1..=axis).chain([0]).chain(axis + 1..rank).map(|a| a as u8).collect();
                taken = b.array(ArrayOp::Transpose(back.into()), &[taken]);
            }
            if ranks == 1 {
                return Ok(taken);
            }
            let wanted = [&dims[..axis], &places, &dims[axis + 1..]].concat();
            Ok(b.array(ArrayOp::Reshape, &[&[taken][..], &wanted].concat()))
        }
        ty => Err(format!("`take`: places are whole numbers, but {} is given", described(ty))),
    }
}

/// Rows of an array along an axis, as a matrix, and back: `change` gets the matrix and gives one of its shape.
pub(super) fn by_rows(
    b: &mut Builder,
    x: Value,
    axis: usize,
    change: impl FnOnce(&mut Builder, Value, Value, Value) -> Value,
) -> Value {
    let moved = axis_last(b, x, axis);
    let dims = b.dims(moved);
    let n = dims[dims.len() - 1];
    let rows = super::parts::volume(b, &dims[..dims.len() - 1]);
    let matrix = shaped_as(b, moved, &[rows, n]);
    let changed = change(b, matrix, rows, n);
    let back = shaped_as(b, changed, &dims);
    axis_back(b, back, axis)
}
