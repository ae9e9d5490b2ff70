//! Slices as Python writes them, broadcasting, and joining arrays.

use super::Made;
use super::kinds::{alike, axis as checked, converted, described, elem, kind, like, room};
use super::parts::require;
use crate::ir::{Builder, Elem, Op, Value};
use crate::ops::{ArrayOp, Prim};

/// One axis of a slice: `start:stop:step`, each of which may be left out. Negative bounds count from the
/// end, and bounds beyond the end are cut, as in Python.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range {
    /// The first element.
    pub start: Option<Value>,
    /// The element to stop before.
    pub stop: Option<Value>,
    /// How far apart; negative steps go backwards, 0 is an error.
    pub step: Option<i64>,
}

/// Start, count and step of one axis with `n` elements.
fn resolved(b: &mut Builder, n: Value, range: Range) -> [Value; 3] {
    let step = range.step.unwrap_or(1);
    let (zero, one) = (b.i64(0), b.i64(1));
    let forward = step >= 0;
    // Bounds are cut to 0..n forward and to -1..n-1 backward.
    let last = b.prim(Prim::ISub, &[n, one]);
    let minus = b.i64(-1);
    let (low, high) = if forward { (zero, n) } else { (minus, last) };
    let bound = |b: &mut Builder, given: Option<Value>, default: Value| match given {
        None => default,
        Some(v) => {
            let negative = b.prim(Prim::ILt, &[v, zero]);
            let wrapped = b.prim(Prim::WAdd, &[v, n]);
            let v = b.select(negative, wrapped, v);
            let v = b.prim(Prim::IMax, &[v, low]);
            b.prim(Prim::IMin, &[v, high])
        }
    };
    let start = bound(b, range.start, if forward { zero } else { last });
    let stop = bound(b, range.stop, if forward { n } else { minus });
    let width = if forward { [stop, start] } else { [start, stop] };
    let width = b.prim(Prim::ISub, &width);
    let width = b.prim(Prim::IMax, &[width, zero]);
    // Division rounds down, so that no width gives no elements; nothing here overflows for any step.
    let size = b.i64(step.unsigned_abs().max(1).min(i64::MAX as u64) as i64);
    let before = b.prim(Prim::ISub, &[width, one]);
    let steps = b.prim(Prim::IDiv, &[before, size]);
    let count = b.prim(Prim::IAdd, &[steps, one]);
    if step == 0 {
        let never = b.bool(false);
        require(b, never, "the step of a slice cannot be 0");
    }
    let step = b.i64(step);
    [start, count, step]
}

/// Start, count and step per axis; axes without a range are taken whole.
fn section(b: &mut Builder, x: Value, ranges: &[Range]) -> Result<Vec<Value>, String> {
    let rank = b.ty(x).rank();
    if rank == 0 {
        return Err(format!("only arrays have slices, not {}", described(b.ty(x))));
    }
    if ranges.len() > rank {
        let axes = if rank == 1 { "axis" } else { "axes" };
        return Err(format!("{} slices of an array with {rank} {axes}", ranges.len()));
    }
    let dims = b.dims(x);
    let whole = Range::default();
    let axes = dims.into_iter().enumerate();
    Ok(axes.flat_map(|(k, n)| resolved(b, n, ranges.get(k).copied().unwrap_or(whole))).collect())
}

/// `x[a:b:c, ..]`, as a new array.
pub fn read_slice(b: &mut Builder, x: Value, ranges: &[Range]) -> Made {
    let section = section(b, x, ranges)?;
    Ok(b.array(ArrayOp::Slice, &[&[x][..], &section].concat()))
}

/// `x[a:b:c, ..] = v`: the next version of `x`. A number, or an array that broadcasts to the slice; whole
/// numbers become floats among floats, but not the other way.
pub fn write_slice(b: &mut Builder, x: Value, ranges: &[Range], v: Value) -> Made {
    let section = section(b, x, ranges)?;
    let kind = kind(b, x);
    if !elem(b, v).is_some_and(|v| v == kind || v == Elem::Bool || kind.is_float()) {
        let (to, from) = (described(b.ty(x)), described(b.ty(v)));
        return Err(format!("{from} cannot be written into {to}"));
    }
    let v = converted(b, v, kind);
    let counts: Vec<Value> = section.chunks(3).map(|axis| axis[1]).collect();
    let v = broadcast(b, v, &counts)?;
    Ok(b.array(ArrayOp::Put, &[&[x][..], &section, &[v]].concat()))
}

/// `x` with this shape, as numpy broadcasts: missing axes in front are repeated, and so is an axis of one
/// element. A number becomes an array of equal elements.
pub fn broadcast(b: &mut Builder, x: Value, dims: &[Value]) -> Made {
    let ty = b.ty(x);
    if !ty.is_array() {
        return Ok(b.filled(dims, x));
    }
    let Some(missing) = dims.len().checked_sub(ty.rank()) else {
        let (has, wanted) = (ty.rank(), dims.len());
        return Err(format!("an array with {has} axes does not broadcast to one with {wanted}"));
    };
    let found = b.dims(x);
    let (zero, one) = (b.i64(0), b.i64(1));
    let mut section = Vec::new();
    for (have, want) in found.iter().zip(&dims[missing..]) {
        let single = b.prim(Prim::IEq, &[*have, one]);
        let equal = b.prim(Prim::IEq, &[*have, *want]);
        let fits = b.prim(Prim::Or, &[single, equal]);
        require(b, fits, "shapes do not broadcast: axes must be equal, or have one element");
        let step = b.select(single, zero, one);
        section.extend([zero, *want, step]);
    }
    let mut x = b.array(ArrayOp::Slice, &[&[x][..], &section].concat());
    for axis in (0..missing).rev() {
        x = b.array(ArrayOp::Expand(0), &[x, dims[axis]]);
    }
    Ok(x)
}

/// The shape two arrays broadcast to: per axis the one that is not 1, counted from the last.
pub fn common(b: &mut Builder, x: Value, y: Value) -> Vec<Value> {
    let (x, y) = (b.dims(x), b.dims(y));
    joined(b, x, y)
}

/// The same, of two shapes.
pub(super) fn joined(b: &mut Builder, mut x: Vec<Value>, mut y: Vec<Value>) -> Vec<Value> {
    if x.len() < y.len() {
        std::mem::swap(&mut x, &mut y);
    }
    let missing = x.len() - y.len();
    let one = b.i64(1);
    for (k, n) in y.into_iter().enumerate() {
        let m = x[missing + k];
        let single = b.prim(Prim::IEq, &[m, one]);
        x[missing + k] = b.select(single, n, m);
    }
    x
}

/// Two arrays (or an array and a number), broadcast to one shape.
pub fn aligned(b: &mut Builder, x: Value, y: Value) -> Result<(Value, Value), String> {
    if b.ty(x).rank() == 0 || b.ty(y).rank() == 0 {
        return Ok((x, y));
    }
    let dims = common(b, x, y);
    Ok((broadcast(b, x, &dims)?, broadcast(b, y, &dims)?))
}

/// Arrays one after the other along an axis; their other axes are equal.
pub fn concatenate(b: &mut Builder, parts: &[Value], axis: usize) -> Made {
    let parts = alike(b, parts)?;
    let Some(first) = parts.first() else {
        return Err("`concatenate` takes at least one array".into());
    };
    let rank = checked(b, "concatenate", *first, Some(axis))?;
    if let Some(other) = parts.iter().find(|part| b.ty(**part).rank() != rank) {
        let (a, b) = (described(b.ty(*first)), described(b.ty(*other)));
        return Err(format!("`concatenate` takes arrays with equally many axes, not {a} and {b}"));
    }
    let mut dims = b.dims(*first);
    let mut total = b.i64(0);
    for part in &parts {
        let n = b.op(Op::Dim(axis as u8), &[*part])[0];
        total = b.prim(Prim::IAdd, &[total, n]);
    }
    dims[axis] = total;
    let zero = like(b, *first, 0.0);
    let mut whole = b.filled(&dims, zero);
    let (none, one) = (b.i64(0), b.i64(1));
    let mut start = none;
    for part in &parts {
        let n = b.op(Op::Dim(axis as u8), &[*part])[0];
        let mut section = Vec::new();
        for (k, count) in dims.iter().enumerate() {
            section.extend(if k == axis { [start, n, one] } else { [none, *count, one] });
        }
        whole = b.array(ArrayOp::Put, &[&[whole][..], &section, &[*part]].concat());
        start = b.prim(Prim::IAdd, &[start, n]);
    }
    Ok(whole)
}

/// Equal arrays side by side along a new axis; numbers become a vector.
pub fn stack(b: &mut Builder, parts: &[Value], axis: usize) -> Made {
    let Some(rank) = parts.first().map(|part| b.ty(*part).rank()) else {
        return Err("`stack` takes at least one array".into());
    };
    if axis > rank {
        return Err(format!("`stack`: the new axis is one of 0 to {rank}, not {axis}"));
    }
    room("stack", rank + 1)?;
    let mut thin = Vec::new();
    for part in parts {
        let at = axis.min(b.ty(*part).rank());
        thin.push(super::expand_dims(b, *part, at)?);
    }
    concatenate(b, &thin, axis)
}
