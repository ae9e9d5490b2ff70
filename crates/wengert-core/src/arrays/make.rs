//! Arrays made from numbers: ranges, identities and diagonals.

use super::Made;
use super::kinds::{alike, converted, described, elem, like, number, numbers, rank, whole};
use super::parts::{count, counted, require};
use super::reduce::summed;
use crate::ir::{Builder, Elem, Value};
use crate::ops::{ArrayOp, Prim};

/// `start`, `start + step` .. up to, but without, `stop`: whole numbers where all three are, doubles otherwise.
/// Of floats, element `k` is `start + k * step`, rounded twice.
pub fn arange(b: &mut Builder, start: Value, stop: Value, step: Value) -> Made {
    if let Some(x) = [start, stop, step].into_iter().find(|x| !b.ty(*x).is_scalar()) {
        return Err(format!("`arange` takes numbers, but is given {}", described(b.ty(x))));
    }
    let all = alike(b, &[start, stop, step])?;
    let all: Vec<Value> = all.into_iter().map(|v| numbers(b, v)).collect();
    if elem(b, all[0]) == Some(Elem::I64) {
        return Ok(whole_range(b, all[0], all[1], all[2]));
    }
    let all: Vec<Value> = all.into_iter().map(|v| converted(b, v, Elem::F64)).collect();
    let (start, stop, step) = (all[0], all[1], all[2]);
    let zero = b.f64(0.0);
    let moves = b.prim(Prim::Ne, &[step, zero]);
    require(b, moves, "`arange`: the step cannot be 0");
    let width = b.sub(stop, start);
    let steps = b.prim(Prim::Div, &[width, step]);
    let finite = super::isfinite(b, steps)?;
    require(b, finite, "`arange`: start, stop and step do not give a finite number of elements");
    let n = b.prim(Prim::Ceil, &[steps]);
    let n = b.prim(Prim::FToI, &[n]);
    let none = b.i64(0);
    let n = b.prim(Prim::IMax, &[n, none]);
    let k = counted(b, n);
    let k = b.prim(Prim::IToF, &[k]);
    let away = b.mul(k, step);
    Ok(b.add(away, start))
}

fn whole_range(b: &mut Builder, start: Value, stop: Value, step: Value) -> Value {
    let (zero, one) = (b.i64(0), b.i64(1));
    let moves = b.prim(Prim::INe, &[step, zero]);
    require(b, moves, "`arange`: the step cannot be 0");
    let width = b.prim(Prim::ISub, &[stop, start]);
    // Rounded up.
    let steps = b.prim(Prim::IDiv, &[width, step]);
    let over = b.prim(Prim::IMod, &[width, step]);
    let more = b.prim(Prim::INe, &[over, zero]);
    let more = b.select(more, one, zero);
    let n = b.prim(Prim::IAdd, &[steps, more]);
    let n = b.prim(Prim::IMax, &[n, zero]);
    let k = counted(b, n);
    let away = b.prim(Prim::IMul, &[k, step]);
    b.prim(Prim::IAdd, &[away, start])
}

/// `n` doubles at equal distances from `start` to `stop`: the last is `stop` itself, or one before it where
/// `endpoint` is not asked for.
pub fn linspace(b: &mut Builder, start: Value, stop: Value, n: Value, endpoint: bool) -> Made {
    whole(b, "linspace", "the number of elements", n)?;
    if let Some(x) = [start, stop].into_iter().find(|x| !b.ty(*x).is_scalar()) {
        return Err(format!(
            "`linspace` goes from number to number, but is given {}",
            described(b.ty(x))
        ));
    }
    let (start, stop) = (converted(b, start, Elem::F64), converted(b, stop, Elem::F64));
    let one = b.i64(1);
    let less = b.prim(Prim::WSub, &[n, one]);
    let steps = b.prim(Prim::IMax, &[if endpoint { less } else { n }, one]);
    let steps = b.prim(Prim::IToF, &[steps]);
    let width = b.sub(stop, start);
    let step = b.prim(Prim::Div, &[width, steps]);
    let k = counted(b, n);
    let places = b.prim(Prim::IToF, &[k]);
    let away = b.mul(places, step);
    let x = b.add(away, start);
    if !endpoint {
        return Ok(x);
    }
    // One element alone is the start.
    let (several, never) = (b.prim(Prim::IGt, &[n, one]), b.i64(-1));
    let last = b.select(several, less, never);
    let at_end = b.prim(Prim::IEq, &[k, last]);
    Ok(b.select(at_end, stop, x))
}

/// An `n` by `m` matrix with 1 on its diagonal.
pub fn eye(b: &mut Builder, n: Value, m: Value, kind: Elem) -> Made {
    whole(b, "eye", "the number of rows", n)?;
    whole(b, "eye", "the number of columns", m)?;
    let one = number(b, kind, 1.0);
    let shorter = b.prim(Prim::IMin, &[n, m]);
    let ones = b.filled(&[shorter], one);
    Ok(on_diagonal(b, ones, n, m))
}

/// A matrix with these elements on its diagonal, all others 0.
fn on_diagonal(b: &mut Builder, x: Value, n: Value, m: Value) -> Value {
    let none = like(b, x, 0.0);
    let (zero, one) = (b.i64(0), b.i64(1));
    let size = b.prim(Prim::IMul, &[n, m]);
    let flat = b.filled(&[size], none);
    let (length, apart) = (count(b, x, None), b.prim(Prim::IAdd, &[m, one]));
    let flat = b.array(ArrayOp::Put, &[flat, zero, length, apart, x]);
    b.array(ArrayOp::Reshape, &[flat, n, m])
}

/// The matrix with a vector on its diagonal, or the diagonal of a matrix.
pub fn diag(b: &mut Builder, x: Value) -> Made {
    match rank(b, "diag", x)? {
        1 => {
            let n = count(b, x, None);
            Ok(on_diagonal(b, x, n, n))
        }
        2 => Ok(diagonal(b, x)),
        rank => Err(format!("`diag` takes a vector or a matrix, not an array with {rank} axes")),
    }
}

fn diagonal(b: &mut Builder, x: Value) -> Value {
    let dims = b.dims(x);
    let (zero, one) = (b.i64(0), b.i64(1));
    let shorter = b.prim(Prim::IMin, &[dims[0], dims[1]]);
    let apart = b.prim(Prim::IAdd, &[dims[1], one]);
    let flat = super::parts::flat(b, x);
    b.array(ArrayOp::Slice, &[flat, zero, shorter, apart])
}

/// The sum of the diagonal of a matrix.
pub fn trace(b: &mut Builder, x: Value) -> Made {
    match rank(b, "trace", x)? {
        2 => {
            let x = numbers(b, x);
            let diagonal = diagonal(b, x);
            Ok(summed(b, diagonal, None))
        }
        _ => Err(format!("`trace` takes a matrix, but is given {}", described(b.ty(x)))),
    }
}

/// A matrix without what is above its `k`-th diagonal; with `upper`, without what is below it.
pub fn triangle(b: &mut Builder, x: Value, k: Value, upper: bool) -> Made {
    let name = if upper { "triu" } else { "tril" };
    whole(b, name, "the diagonal", k)?;
    if rank(b, name, x)? != 2 {
        return Err(format!("`{name}` takes a matrix, but is given {}", described(b.ty(x))));
    }
    let dims = b.dims(x);
    let (rows, columns) = (counted(b, dims[0]), counted(b, dims[1]));
    let rows = b.array(ArrayOp::Expand(1), &[rows, dims[1]]);
    let columns = b.array(ArrayOp::Expand(0), &[columns, dims[0]]);
    let right_of = b.prim(Prim::ISub, &[columns, rows]);
    let row = if upper { Prim::IGe } else { Prim::ILe };
    let kept = b.prim(row, &[right_of, k]);
    let none = like(b, x, 0.0);
    Ok(b.select(kept, x, none))
}
