//! Sums of products over named axes, lowered to the operations there are.
//!
//! Two operands at a time, from the left: axes that only one of them has and nobody needs later are summed
//! away first; axes are sorted into batch (kept, in both), summed (in both, not kept), left and right
//! ones; operands become `[batch, left, summed]` and `[batch, summed, right]` matrices, multiplied one batch
//! after the other by `gemm`.

use super::Made;
use super::kinds::{alike, floats};
use super::parts::{repeat, require};
use crate::ir::{Builder, MAX_RANK, Value};
use crate::ops::{ArrayOp, Prim, Transposed};

/// An operand with a letter for each of its axes; numbers have none.
struct Term {
    value: Value,
    axes: Vec<char>,
}

/// `einsum("ij,jk->ik", ..)`: the sum over all letters that the result does not name. A letter twice in one
/// operand is its diagonal. Without `->` the result has the letters that occur once, in alphabetical order.
pub fn einsum(b: &mut Builder, formula: &str, operands: &[Value]) -> Made {
    let formula: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match formula.split_once("->") {
        Some((inputs, output)) => (inputs, output.chars().collect()),
        None => (&formula[..], implied(&formula)),
    };
    let inputs: Vec<Vec<char>> = inputs.split(',').map(|part| part.chars().collect()).collect();
    check(b, &inputs, &output, operands)?;
    let operands = alike(b, operands)?;
    let operands: Vec<Value> = operands.into_iter().map(|x| floats(b, x)).collect();
    let mut terms: Vec<Term> = inputs
        .into_iter()
        .zip(operands)
        .map(|(axes, value)| diagonals(b, Term { value, axes }))
        .collect();
    let mut left = terms.remove(0);
    while !terms.is_empty() {
        let right = terms.remove(0);
        let needed = |c: &char| output.contains(c) || terms.iter().any(|t| t.axes.contains(c));
        left = multiply(b, left, right, &needed)?;
    }
    let left = sum_away(b, left, &|c| output.contains(c));
    Ok(arrange(b, &left, &output))
}

/// The letters of a result that is not written: those that occur once, in alphabetical order.
fn implied(inputs: &str) -> Vec<char> {
    let once = |c: &char| *c != ',' && inputs.chars().filter(|d| d == c).count() == 1;
    let mut letters: Vec<char> = inputs.chars().filter(once).collect();
    letters.sort_unstable();
    letters
}

fn check(
    b: &Builder,
    inputs: &[Vec<char>],
    output: &[char],
    operands: &[Value],
) -> Result<(), String> {
    if inputs.len() != operands.len() {
        return Err(format!(
            "the formula has {} operands, but {} are given",
            inputs.len(),
            operands.len()
        ));
    }
    for (k, (axes, v)) in inputs.iter().zip(operands).enumerate() {
        let rank = b.ty(*v).rank();
        if axes.len() != rank {
            return Err(format!("operand {} has {rank} axes, but {} letters", k + 1, axes.len()));
        }
    }
    for axes in inputs.iter().map(Vec::as_slice).chain([output]) {
        if let Some(c) = axes.iter().find(|c| !c.is_alphabetic()) {
            return Err(format!("`{c}` is not a letter"));
        }
    }
    if let Some(c) = output.iter().find(|c| output.iter().filter(|d| d == c).count() > 1) {
        return Err(format!("`{c}` occurs twice in the result"));
    }
    match output.iter().find(|c| !inputs.iter().any(|axes| axes.contains(c))) {
        Some(c) => Err(format!("`{c}` is in the result, but in no operand")),
        None => Ok(()),
    }
}

/// Axes with one letter have one size.
fn same_size(b: &mut Builder, c: char, m: Value, n: Value) {
    let same = b.prim(Prim::IEq, &[m, n]);
    require(b, same, format!("`einsum`: the axes called `{c}` have different sizes"));
}

/// The diagonals of every letter that an operand has twice.
fn diagonals(b: &mut Builder, mut term: Term) -> Term {
    let twice = |axes: &[char]| {
        (0..axes.len()).find_map(|i| {
            let j = (0..i).find(|j| axes[*j] == axes[i])?;
            Some((j, i))
        })
    };
    while let Some((i, j)) = twice(&term.axes) {
        let c = term.axes[i];
        let dims = b.dims(term.value);
        same_size(b, c, dims[i], dims[j]);
        // Both axes last, then as one: its elements at a distance of one row and one column.
        let rest: Vec<usize> = (0..dims.len()).filter(|k| *k != i && *k != j).collect();
        let order: Vec<u8> = rest.iter().chain([&i, &j]).map(|k| *k as u8).collect();
        let moved = b.array(ArrayOp::Transpose(order.into()), &[term.value]);
        let mut shape: Vec<Value> = rest.iter().map(|k| dims[*k]).collect();
        let (zero, one, n) = (b.i64(0), b.i64(1), dims[i]);
        let mut section: Vec<Value> = shape.iter().flat_map(|d| [zero, *d, one]).collect();
        shape.push(b.prim(Prim::IMul, &[n, n]));
        let step = b.prim(Prim::IAdd, &[n, one]);
        section.extend([zero, n, step]);
        let flat = b.array(ArrayOp::Reshape, &[&[moved][..], &shape].concat());
        term.value = b.array(ArrayOp::Slice, &[&[flat][..], &section].concat());
        term.axes = rest.iter().map(|k| term.axes[*k]).chain([c]).collect();
    }
    term
}

/// Sums over the axes that are not kept.
fn sum_away(b: &mut Builder, mut term: Term, keep: &dyn Fn(&char) -> bool) -> Term {
    while let Some(axis) = term.axes.iter().position(|c| !keep(c)) {
        let along = (term.axes.len() > 1).then_some(axis as u8);
        term.value = b.array(ArrayOp::Sum(along), &[term.value]);
        term.axes.remove(axis);
    }
    term
}

/// The axes in this order.
fn arrange(b: &mut Builder, term: &Term, order: &[char]) -> Value {
    if term.axes == order {
        return term.value;
    }
    let position = |c: &char| term.axes.iter().position(|d| d == c).unwrap_or(0) as u8;
    let axes: Vec<u8> = order.iter().map(position).collect();
    b.array(ArrayOp::Transpose(axes.into()), &[term.value])
}

fn multiply(
    b: &mut Builder,
    left: Term,
    right: Term,
    needed: &dyn Fn(&char) -> bool,
) -> Result<Term, String> {
    let other = right.axes.clone();
    let left = sum_away(b, left, &|c| needed(c) || other.contains(c));
    let other = left.axes.clone();
    let right = sum_away(b, right, &|c| needed(c) || other.contains(c));
    let both = |c: &&char| right.axes.contains(c);
    let batch: Vec<char> = left.axes.iter().filter(both).filter(|c| needed(c)).copied().collect();
    let summed: Vec<char> = left.axes.iter().filter(both).filter(|c| !needed(c)).copied().collect();
    let rows: Vec<char> = left.axes.iter().filter(|c| !both(c)).copied().collect();
    let columns: Vec<char> =
        right.axes.iter().filter(|c| !left.axes.contains(c)).copied().collect();
    let axes = [&batch[..], &rows, &columns].concat();
    if axes.len() > MAX_RANK {
        return Err(format!("an intermediate result would have more than {MAX_RANK} axes"));
    }
    if left.axes.is_empty() || right.axes.is_empty() {
        return Ok(Term { value: b.mul(left.value, right.value), axes });
    }
    let find = |term: &Term, c: &char| term.axes.iter().position(|d| d == c);
    for c in &left.axes {
        if let (Some(i), Some(j)) = (find(&left, c), find(&right, c)) {
            let (m, n) = (b.dims(left.value)[i], b.dims(right.value)[j]);
            same_size(b, *c, m, n);
        }
    }
    let dims = |b: &mut Builder, letters: &[char]| -> Vec<Value> {
        letters
            .iter()
            .map(|c| match (find(&left, c), find(&right, c)) {
                (Some(k), _) => b.dims(left.value)[k],
                (None, Some(k)) => b.dims(right.value)[k],
                (None, None) => b.i64(1),
            })
            .collect()
    };
    let size = |b: &mut Builder, dims: &[Value]| {
        let one = b.i64(1);
        dims.iter().fold(one, |n, d| b.prim(Prim::IMul, &[n, *d]))
    };
    let parts = [dims(b, &batch), dims(b, &rows), dims(b, &summed), dims(b, &columns)];
    let [n, m, k, p] = parts.each_ref().map(|dims| size(b, dims));
    let x = arrange(b, &left, &[&batch[..], &rows, &summed].concat());
    let y = arrange(b, &right, &[&batch[..], &summed, &columns].concat());
    let x = b.array(ArrayOp::Reshape, &[x, n, m, k]);
    let y = b.array(ArrayOp::Reshape, &[y, n, k, p]);
    let zero = b.zero(b.ty(x));
    let out = b.filled(&[n, m, p], zero);
    let out = repeat(b, n, &[out], |b, i, carry| {
        let (zero, one) = (b.i64(0), b.i64(1));
        let plane = |b: &mut Builder, x: Value, m: Value, k: Value| {
            let thin = b.array(ArrayOp::Slice, &[x, i, one, one, zero, m, one, zero, k, one]);
            b.array(ArrayOp::Reshape, &[thin, m, k])
        };
        let (a, c) = (plane(b, x, m, k), plane(b, y, k, p));
        let none = b.zero(b.ty(x));
        let start = b.filled(&[m, p], none);
        let product = b.array(ArrayOp::Gemm(Transposed::No, Transposed::No), &[start, a, c]);
        let thick = b.array(ArrayOp::Reshape, &[product, one, m, p]);
        let section = [carry[0], i, one, one, zero, m, one, zero, p, one, thick];
        vec![b.array(ArrayOp::Put, &section)]
    })[0];
    let [batch_dims, row_dims, _, column_dims] = parts;
    let shape = [batch_dims, row_dims, column_dims].concat();
    let value = if shape.is_empty() {
        let first = b.i64(0);
        b.array(ArrayOp::Peek, &[out, first])
    } else {
        b.array(ArrayOp::Reshape, &[&[out][..], &shape].concat())
    };
    Ok(Term { value, axes })
}
