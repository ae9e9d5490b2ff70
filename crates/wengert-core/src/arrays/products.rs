//! Products of vectors and matrices. Whole numbers are multiplied too, by plain loops.

use super::kinds::{alike_two, is_float, numbers, rank, vector};
use super::parts::{count, cross_section, flat, repeat, require, spread};
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
