//! Products of vectors and matrices. Whole numbers are multiplied too, by plain loops.

use super::kinds::{alike_two, is_float, like, numbers, rank, room, vector};
use super::moving::roll;
use super::parts::{along, count, cross_section, flat, repeat, require, shaped_as, spread, volume};
use super::reduce::summed;
use super::{Made, einsum};
use crate::ir::{Builder, Op, Value};
use crate::ops::{ArrayOp, Prim, Transposed};

/// Two arrays of one kind, which is no truth value.
fn factors(
    b: &mut Builder,
    name: &str,
    x: Value,
    y: Value,
) -> Result<(Value, Value, usize, usize), String> {
    let (m, n) = (rank(b, name, x)?, rank(b, name, y)?);
    let (x, y) = alike_two(b, x, y)?;
    Ok((numbers(b, x), numbers(b, y), m, n))
}

/// The sum of products of all elements of two arrays of the same shape.
pub fn dot(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, m, n) = factors(b, "dot", x, y)?;
    match m == n {
        true => Ok(multiplied(b, x, y)),
        false => Err(format!("`dot` of arrays with {m} and {n} axes; `matmul` multiplies those")),
    }
}

fn multiplied(b: &mut Builder, x: Value, y: Value) -> Value {
    if is_float(b, x) {
        return b.array(ArrayOp::Dot, &[x, y]);
    }
    let products = b.prim(Prim::IMul, &[x, y]);
    summed(b, products, None)
}

/// The sum of products of all elements in row-major order, whatever their shapes.
pub fn vdot(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, ..) = factors(b, "vdot", x, y)?;
    let (x, y) = (flat(b, x), flat(b, y));
    Ok(multiplied(b, x, y))
}

/// The sums of products along the last axes: of two vectors a number, of matrices `x` times `y` transposed.
pub fn inner(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, m, n) = factors(b, "inner", x, y)?;
    if (m, n) == (1, 1) {
        return Ok(multiplied(b, x, y));
    }
    let letters = |from: u8, n: usize| (0..n as u8).map(move |k| char::from(from + k));
    let left: String = letters(b'a', m - 1).collect();
    let right: String = letters(b'a' + m as u8 - 1, n - 1).collect();
    if !is_float(b, x) {
        return Err("`inner` of whole numbers takes vectors; make floats of them".into());
    }
    einsum(b, &format!("{left}z,{right}z->{left}{right}"), &[x, y])
}

/// `x @ y`: of two vectors their dot, of matrices and vectors their product; of arrays with more axes the
/// products of the matrices in their last two. Axes before those are equal, or missing in one of them.
pub fn matmul(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, m, n) = factors(b, "matmul", x, y)?;
    match (m, n) {
        (1, 1) => return Ok(multiplied(b, x, y)),
        (m, n) if m > 2 || n > 2 => return batched(b, x, y, m, n),
        _ if !is_float(b, x) => return Ok(whole_product(b, x, y, m, n)),
        _ => {}
    }
    Ok(match (m, n) {
        (2, 2) => {
            let sizes = [b.op(Op::Dim(0), &[x])[0], b.op(Op::Dim(1), &[y])[0]];
            product(b, &sizes, x, y, Transposed::No)
        }
        (2, _) => {
            let rows = b.op(Op::Dim(0), &[x])[0];
            product(b, &[rows], x, y, Transposed::No)
        }
        _ => {
            let columns = b.op(Op::Dim(1), &[y])[0];
            product(b, &[columns], y, x, Transposed::Yes)
        }
    })
}

/// A matrix times a vector.
pub fn matvec(b: &mut Builder, a: Value, x: Value) -> Made {
    vector(b, "matvec", "the second factor", x)?;
    matmul(b, a, x)
}

/// A vector times a matrix.
pub fn vecmat(b: &mut Builder, x: Value, a: Value) -> Made {
    vector(b, "vecmat", "the first factor", x)?;
    matmul(b, x, a)
}

/// The cross products of vectors of three elements, along the last axis.
pub fn cross(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, m, n) = factors(b, "cross", x, y)?;
    if m != n {
        return Err(format!("`cross` of arrays with {m} and {n} axes"));
    }
    let (three, back) = (b.i64(3), b.i64(-1));
    for v in [x, y] {
        let size = count(b, v, Some(m - 1));
        let fits = b.prim(Prim::IEq, &[size, three]);
        require(b, fits, "`cross` takes vectors of three elements");
    }
    // Element 2 is `x0 y1 - x1 y0`, and so on round.
    let (times, minus) =
        if is_float(b, x) { (Prim::Mul, Prim::Sub) } else { (Prim::IMul, Prim::ISub) };
    let (next_x, next_y) = (roll(b, x, back, Some(m - 1))?, roll(b, y, back, Some(m - 1))?);
    let (left, right) = (b.prim(times, &[x, next_y]), b.prim(times, &[next_x, y]));
    let turned = b.prim(minus, &[left, right]);
    roll(b, turned, back, Some(m - 1))
}

/// The sums of products over the last `axes` axes of `x` and the first of `y`.
pub fn tensordot(b: &mut Builder, x: Value, y: Value, axes: usize) -> Made {
    let (x, y, m, n) = factors(b, "tensordot", x, y)?;
    if axes > m || axes > n {
        return Err(format!("`tensordot` over {axes} axes of arrays with {m} and {n} axes"));
    }
    let (left, right) = (b.dims(x), b.dims(y));
    for (p, q) in left[m - axes..].iter().zip(&right[..axes]) {
        let equal = b.prim(Prim::IEq, &[*p, *q]);
        require(b, equal, "`tensordot`: the axes summed over have different lengths");
    }
    let dims = [&left[..m - axes], &right[axes..]].concat();
    if dims.is_empty() {
        let (x, y) = (flat(b, x), flat(b, y));
        return Ok(multiplied(b, x, y));
    }
    room("tensordot", dims.len())?;
    let rows = volume(b, &left[..m - axes]);
    let summed = volume(b, &right[..axes]);
    let columns = volume(b, &right[axes..]);
    let (x, y) = (shaped_as(b, x, &[rows, summed]), shaped_as(b, y, &[summed, columns]));
    let product = matmul(b, x, y)?;
    Ok(shaped_as(b, product, &dims))
}

/// Which part of a convolution is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Wherever the two overlap.
    Full,
    /// As many elements as the longer one has, in the middle.
    Same,
    /// Where the shorter one lies all inside the longer one.
    Valid,
}

/// The sums of `x[i] * y[k - i]` for every `k`.
pub fn convolve(b: &mut Builder, x: Value, y: Value, overlap: Overlap) -> Made {
    vector(b, "convolve", "the first factor", x)?;
    vector(b, "convolve", "the second factor", y)?;
    let (x, y, ..) = factors(b, "convolve", x, y)?;
    if !is_float(b, x) {
        return Err("`convolve` of whole numbers is not supported; make floats of them".into());
    }
    let (zero, one) = (b.i64(0), b.i64(1));
    let (m, n) = (count(b, x, None), count(b, y, None));
    let shorter = b.prim(Prim::IMin, &[m, n]);
    let longer = b.prim(Prim::IMax, &[m, n]);
    let some = b.prim(Prim::IGt, &[shorter, zero]);
    require(b, some, "`convolve`: there are no elements");
    let both = b.prim(Prim::IAdd, &[m, n]);
    let all = b.prim(Prim::ISub, &[both, one]);
    let none = like(b, x, 0.0);
    let out = b.filled(&[all], none);
    let full = repeat(b, n, &[out], |b, k, carry| {
        let factor = b.load(y, k);
        let part = b.mul(x, factor);
        vec![b.array(ArrayOp::AddSlice, &[carry[0], k, m, one, part])]
    })[0];
    let less = b.prim(Prim::ISub, &[shorter, one]);
    let [start, length] = match overlap {
        Overlap::Full => return Ok(full),
        Overlap::Same => {
            let two = b.i64(2);
            [b.prim(Prim::IDiv, &[less, two]), longer]
        }
        Overlap::Valid => [less, b.prim(Prim::ISub, &[longer, less])],
    };
    Ok(along(b, full, 0, [start, length, one]))
}

/// The products of every two elements of two arrays, as a matrix.
pub fn outer(b: &mut Builder, x: Value, y: Value) -> Made {
    let (x, y, ..) = factors(b, "outer", x, y)?;
    let (x, y) = (flat(b, x), flat(b, y));
    let (m, n) = (count(b, x, None), count(b, y, None));
    if is_float(b, x) {
        return Ok(product(b, &[m, n], x, y, Transposed::No));
    }
    let (x, y) = (spread(b, x, Some(1), n), spread(b, y, Some(0), m));
    Ok(b.prim(Prim::IMul, &[x, y]))
}

fn product(b: &mut Builder, dims: &[Value], x: Value, y: Value, tx: Transposed) -> Value {
    let zero = b.zero(b.ty(x));
    let c = b.filled(dims, zero);
    b.array(ArrayOp::Gemm(tx, Transposed::No), &[c, x, y])
}

/// Matrices in the last two axes, one product for each place in the axes before.
fn batched(b: &mut Builder, x: Value, y: Value, m: usize, n: usize) -> Made {
    if !is_float(b, x) {
        return Err(
            "`matmul` of whole numbers takes vectors and matrices; make floats of them".into()
        );
    }
    // The axes before the last two, counted from the last.
    let batch = |rank: usize| -> String {
        (0..rank.saturating_sub(2)).rev().map(|k| char::from(b'a' + k as u8)).collect()
    };
    let all = batch(m.max(n));
    let (left, right, out) = match (m, n) {
        (1, _) => ("y".into(), format!("{}yz", batch(n)), format!("{all}z")),
        (_, 1) => (format!("{}xy", batch(m)), "y".into(), format!("{all}x")),
        _ => (format!("{}xy", batch(m)), format!("{}yz", batch(n)), format!("{all}xz")),
    };
    einsum(b, &format!("{left},{right}->{out}"), &[x, y])
}

/// The product of matrices or vectors of whole numbers: the outer products of columns and rows, added.
fn whole_product(b: &mut Builder, x: Value, y: Value, m: usize, n: usize) -> Value {
    let (last, zero) = (count(b, x, Some(m - 1)), b.i64(0));
    let inner = count(b, y, Some(0));
    let fits = b.prim(Prim::IEq, &[last, inner]);
    require(
        b,
        fits,
        "`matmul`: the rows of the first factor must be as long as the columns of the second",
    );
    let rows = (m == 2).then(|| count(b, x, Some(0)));
    let columns = (n == 2).then(|| count(b, y, Some(1)));
    let dims: Vec<Value> = [rows, columns].into_iter().flatten().collect();
    let start = b.filled(&dims, zero);
    repeat(b, last, &[start], |b, k, carry| {
        let mut column = cross_section(b, x, m - 1, k);
        let mut row = cross_section(b, y, 0, k);
        if let (Some(rows), Some(columns)) = (rows, columns) {
            column = spread(b, column, Some(1), columns);
            row = spread(b, row, Some(0), rows);
        }
        let products = b.prim(Prim::IMul, &[column, row]);
        vec![b.prim(Prim::IAdd, &[carry[0], products])]
    })[0]
}
