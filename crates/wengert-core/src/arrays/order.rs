//! Sorting, searching and interpolation.

use super::Made;
use super::kinds::{alike, alike_two, axis as checked, floats, is_float, like, numbers, vector};
use super::moving::by_rows;
use super::parts::{count, cross_section, flat, repeat, require, shaped_as, with_cross_section};
use crate::ir::{Builder, Op, Type, Value};
use crate::ops::{ArrayOp, Prim};

/// The permutation that sorts along an axis (without one, the last): equals stay in order, NaN comes last.
pub fn argsort(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "argsort", x, axis)?;
    if rank == 1 {
        return Ok(b.array(ArrayOp::ArgSort, &[x]));
    }
    Ok(by_rows(b, x, axis.unwrap_or(rank - 1), |b, rows, m, n| orders(b, rows, m, n, false)))
}

/// Per row of a matrix the permutation that sorts it; with `flat`, as places in the matrix.
fn orders(b: &mut Builder, rows: Value, m: Value, n: Value, flat: bool) -> Value {
    let zero = b.i64(0);
    let out = b.filled(&[m, n], zero);
    repeat(b, m, &[out], |b, i, carry| {
        let row = cross_section(b, rows, 0, i);
        let mut order = b.array(ArrayOp::ArgSort, &[row]);
        if flat {
            let before = b.prim(Prim::IMul, &[i, n]);
            order = b.prim(Prim::IAdd, &[order, before]);
        }
        vec![with_cross_section(b, carry[0], 0, i, order)]
    })[0]
}

/// The elements sorted along an axis (without one, the last). The derivative moves with the elements.
pub fn sort(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    let rank = checked(b, "sort", x, axis)?;
    if rank == 1 {
        let order = b.array(ArrayOp::ArgSort, &[x]);
        return Ok(b.array(ArrayOp::Gather, &[x, order]));
    }
    Ok(by_rows(b, x, axis.unwrap_or(rank - 1), |b, rows, m, n| {
        let order = orders(b, rows, m, n, true);
        let (order, line) = (flat(b, order), flat(b, rows));
        b.array(ArrayOp::Gather, &[line, order])
    }))
}

/// The middle element in order, or the mean of the two in the middle, of all or along an axis; NaN where one is.
pub fn median(b: &mut Builder, x: Value, axis: Option<usize>) -> Made {
    checked(b, "median", x, axis)?;
    let x = floats(b, x);
    let (x, axis) = match axis {
        Some(axis) => (x, axis),
        None => (flat(b, x), 0),
    };
    let (zero, one, two) = (b.i64(0), b.i64(1), b.i64(2));
    let n = count(b, x, Some(axis));
    let some = b.prim(Prim::IGt, &[n, zero]);
    require(b, some, "`median`: there are no elements");
    let sorted = sort(b, x, Some(axis))?;
    let last = b.prim(Prim::ISub, &[n, one]);
    let (low, high) = (b.prim(Prim::IDiv, &[last, two]), b.prim(Prim::IDiv, &[n, two]));
    let [low, high, last] = [low, high, last].map(|k| cross_section(b, sorted, axis, k));
    let (both, half) = (b.add(low, high), like(b, x, 0.5));
    let middle = b.mul(both, half);
    // NaN comes last.
    let nan = b.prim(Prim::Ne, &[last, last]);
    Ok(b.select(nan, last, middle))
}

/// How many elements of a sorted vector are less than `v` (or not greater, with `right`): where `v` would be
/// put in. For a number, or for every element of an array.
pub fn searchsorted(b: &mut Builder, x: Value, v: Value, right: bool) -> Made {
    vector(b, "searchsorted", "what is searched", x)?;
    let (x, v) = alike_two(b, x, v)?;
    let (x, v) = (numbers(b, x), numbers(b, v));
    if !b.ty(v).is_array() {
        return Ok(search(b, x, v, right));
    }
    let (dims, line) = (b.dims(v), flat(b, v));
    let (n, zero) = (count(b, line, None), b.i64(0));
    let out = b.filled(&[n], zero);
    let found = repeat(b, n, &[out], |b, i, carry| {
        let v = b.load(line, i);
        let k = search(b, x, v, right);
        vec![b.store(carry[0], i, k)]
    })[0];
    Ok(shaped_as(b, found, &dims))
}

/// By bisection, for one number.
fn search(b: &mut Builder, x: Value, v: Value, right: bool) -> Value {
    let row = match (is_float(b, v), right) {
        (true, true) => Prim::Le,
        (true, false) => Prim::Lt,
        (false, true) => Prim::ILe,
        (false, false) => Prim::ILt,
    };
    let n = b.op(Op::Len, &[x])[0];
    let (zero, one) = (b.i64(0), b.i64(1));
    let params = b.open_block(&[(Type::I64, None), (Type::I64, None), (Type::I64, None)]);
    let (low, high) = (params[1], params[2]);
    let done = b.prim(Prim::IGe, &[low, high]);
    b.open_block(&[]);
    let exit = b.close_block(vec![low, high]);
    b.inst(Op::ExitIf, vec![done], &[], vec![exit]);
    let total = b.prim(Prim::IAdd, &[low, high]);
    let middle = b.prim(Prim::Sar, &[total, one]);
    let at = b.load(x, middle);
    let before = b.prim(row, &[at, v]);
    let above = b.prim(Prim::IAdd, &[middle, one]);
    let low = b.select(before, above, low);
    let high = b.select(before, high, middle);
    let body = b.close_block(vec![low, high]);
    b.inst(Op::While, vec![zero, n], &[Type::I64, Type::I64], vec![body])[0]
}

/// The value at `v` (a number, or every element of an array) of the broken line through the points
/// `(x[k], y[k])`, `x` increasing; constant beyond the ends. At a corner the derivative is that of the piece
/// on the right.
pub fn interp(b: &mut Builder, v: Value, x: Value, y: Value) -> Made {
    vector(b, "interp", "the points", x)?;
    vector(b, "interp", "the heights", y)?;
    let all = alike(b, &[v, x, y])?;
    let all: Vec<Value> = all.into_iter().map(|v| floats(b, v)).collect();
    let (v, x, y) = (all[0], all[1], all[2]);
    let (n, m) = (b.op(Op::Len, &[x])[0], b.op(Op::Len, &[y])[0]);
    let equal = b.prim(Prim::IEq, &[n, m]);
    require(b, equal, "`interp`: there must be as many heights as points");
    let dims = b.dims(v);
    let v = if dims.is_empty() { v } else { flat(b, v) };
    let (zero, one, two) = (b.i64(0), b.i64(1), b.i64(2));
    let some = b.prim(Prim::IGe, &[n, one]);
    require(b, some, "`interp`: there must be a point");
    let above = searchsorted(b, x, v, true)?;
    // The piece, kept within the points there are.
    let k = b.prim(Prim::ISub, &[above, one]);
    let last = b.prim(Prim::ISub, &[n, two]);
    let k = b.prim(Prim::IMin, &[k, last]);
    let k = b.prim(Prim::IMax, &[k, zero]);
    let next = b.prim(Prim::IAdd, &[k, one]);
    let end = b.prim(Prim::ISub, &[n, one]);
    let next = b.prim(Prim::IMin, &[next, end]);
    let at = |b: &mut Builder, x: Value, k: Value| match b.ty(k).is_array() {
        true => b.array(ArrayOp::Gather, &[x, k]),
        false => b.load(x, k),
    };
    let (x0, x1, y0, y1) = (at(b, x, k), at(b, x, next), at(b, y, k), at(b, y, next));
    let first = b.prim(Prim::Lt, &[v, x0]);
    let beyond = b.prim(Prim::Ge, &[v, x1]);
    // Outside, the line is not used: nothing infinite may get into it.
    let outside = b.prim(Prim::Or, &[first, beyond]);
    let within = b.select(outside, x0, v);
    let (rise, run, along) = (b.sub(y1, y0), b.sub(x1, x0), b.sub(within, x0));
    let (none, whole) = (like(b, run, 0.0), like(b, run, 1.0));
    let flat_piece = b.prim(Prim::Eq, &[run, none]);
    let run = b.select(flat_piece, whole, run);
    let slope = b.prim(Prim::Div, &[rise, run]);
    let part = b.mul(slope, along);
    let inside = b.add(y0, part);
    let low = b.select(first, y0, inside);
    let found = b.select(beyond, y1, low);
    Ok(if dims.is_empty() { found } else { shaped_as(b, found, &dims) })
}
