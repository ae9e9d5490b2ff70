//! Operations on small arrays, written out in scalar rows.
//!
//! Where elements come from is asked of the kernels themselves, run on positions instead of numbers. Sums
//! and products are those of the kernels term by term: the same lanes, the same zeros to start from.

use super::MOST;
use crate::ir::{Builder, Elem, Func, Inst, Op, Value};
use crate::ops::kernels::{self, Computed};
use crate::ops::shaped::{Array, Data, Elements};
use crate::ops::{ArrayOp, Direction, Prim, Scalar, Transposed};
use rustc_hash::FxHashMap as HashMap;

/// An operand: a number, or the shape and elements of a small array.
pub(super) enum Operand<'a> {
    Scalar(Value),
    Rows(&'a [usize], &'a [Value]),
}

/// The shape of what an instruction gives (that of a number has no axes), where it can be written out:
/// its arrays have these shapes, and it cannot fail by an index or a shape.
pub(super) fn shape(
    func: &Func,
    inst: &Inst,
    shapes: &HashMap<Value, Vec<usize>>,
) -> Option<Vec<usize>> {
    let int = |v: &Value| match func.as_const(*v) {
        Some(Scalar::I64(c)) => Some(c),
        _ => None,
    };
    let ints = |values: &[Value]| values.iter().map(int).collect::<Option<Vec<i64>>>();
    let of = |v: &Value| shapes.get(v).cloned();
    let args = &inst.args;
    let last = args.len().saturating_sub(1);
    let found = match &inst.op {
        Op::Fill => {
            let dims = ints(&args[..last])?;
            dims.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<Vec<usize>>>()?
        }
        Op::Dim(_) => Vec::new(),
        Op::Load => place(&of(&args[0])?, &ints(&args[1..])?).map(|_| Vec::new())?,
        Op::Store => place(&of(&args[0])?, &ints(&args[1..last])?).and(of(&args[0]))?,
        Op::Array(ArrayOp::Peek) => {
            place(&[of(&args[0])?.iter().product()], &ints(&args[1..])?).map(|_| Vec::new())?
        }
        Op::Array(ArrayOp::Poke) => {
            let shape = of(&args[0])?;
            place(&[shape.iter().product()], &ints(&args[1..2])?).map(|_| shape)?
        }
        Op::Prim(_) | Op::Array(ArrayOp::Dot) => {
            let mut arrays = args.iter().filter(|a| func.ty(**a).is_array());
            let first = of(arrays.next()?)?;
            if !arrays.all(|a| shapes.get(a) == Some(&first)) {
                return None;
            }
            if matches!(inst.op, Op::Prim(_)) { first } else { Vec::new() }
        }
        Op::Array(
            op @ (ArrayOp::Slice
            | ArrayOp::Put
            | ArrayOp::AddSlice
            | ArrayOp::Reshape
            | ArrayOp::Transpose(_)
            | ArrayOp::Expand(_)
            | ArrayOp::Sum(_)
            | ArrayOp::CumSum(..)
            | ArrayOp::Gemm(..)),
        ) => {
            let operand = |v: &Value| match shapes.get(v) {
                Some(shape) => Some(Position::Of(shape, 0)),
                None => int(v).map(Position::Int),
            };
            let operands = args.iter().map(operand).collect::<Option<Vec<Position>>>()?;
            positions(op, &operands)?.0
        }
        _ => return None,
    };
    (found.iter().try_fold(1usize, |n, d| n.checked_mul(*d))? <= MOST).then_some(found)
}

/// The place of an element in row-major order, where there is one.
fn place(shape: &[usize], indices: &[i64]) -> Option<usize> {
    let mut at = 0;
    for (i, n) in indices.iter().zip(shape) {
        at = at * n + usize::try_from(*i).ok().filter(|i| i < n)?;
    }
    Some(at)
}

/// An operand of a kernel that is run on positions: an array has its own from the number given on.
#[derive(Clone, Copy)]
enum Position<'a> {
    Int(i64),
    Of(&'a [usize], usize),
}

/// The shape an operation gives, and where each of its elements comes from (for those that only move them).
fn positions(op: &ArrayOp, operands: &[Position]) -> Option<(Vec<usize>, Vec<usize>)> {
    let arrays: Vec<Option<Array>> = operands
        .iter()
        .map(|o| match o {
            Position::Int(_) => None,
            Position::Of(shape, from) => {
                let n: usize = shape.iter().product();
                let ids = (*from..from + n).map(|k| k as i64).collect();
                Some(Array { shape: shape.to_vec(), data: Data::I64(ids) })
            }
        })
        .collect();
    let given: Vec<kernels::Operand> = operands
        .iter()
        .zip(&arrays)
        .map(|(o, array)| match (o, array) {
            (Position::Int(i), _) => kernels::Operand::Scalar(Scalar::I64(*i)),
            (_, Some(array)) => kernels::Operand::Array(&array.shape, array.elements()),
            _ => unreachable!("an array has its positions"),
        })
        .collect();
    let array = if op.in_place() {
        let mut first = arrays.first()?.clone()?;
        let shape = first.shape.clone();
        kernels::update(op, &shape, first.elements_mut(), &given[1..]).ok()?;
        first
    } else {
        match kernels::compute(op, &given).ok()? {
            Computed::Scalar(_) | Computed::Nothing => return Some((Vec::new(), Vec::new())),
            Computed::Array(array) => array,
        }
    };
    let from = match array.elements() {
        Elements::I64(ids) => ids.iter().map(|k| *k as usize).collect(),
        _ => Vec::new(),
    };
    Some((array.shape.clone(), from))
}

/// The elements an instruction gives. [`shape`] has said that it can be written out.
pub(super) fn expand(b: &mut Builder, op: &Op, elem: Elem, operands: &[Operand]) -> Vec<Value> {
    let scalar = |k: usize| match operands[k] {
        Operand::Scalar(v) => v,
        Operand::Rows(..) => unreachable!("an operand that is a number"),
    };
    let rows = |k: usize| match operands[k] {
        Operand::Rows(shape, elements) => (shape, elements),
        Operand::Scalar(_) => (&[][..], &[][..]),
    };
    let last = operands.len().saturating_sub(1);
    let ints = |b: &Builder, from: usize, to: usize| -> Vec<i64> {
        let int = |k| match b.func().as_const(scalar(k)) {
            Some(Scalar::I64(c)) => c,
            _ => 0,
        };
        (from..to).map(int).collect()
    };
    let at = |b: &Builder, shape: &[usize], to: usize| place(shape, &ints(b, 1, to)).unwrap_or(0);
    match op {
        Op::Fill => {
            let n: i64 = ints(b, 0, last).iter().product();
            vec![scalar(last); n as usize]
        }
        Op::Dim(axis) => vec![b.i64(rows(0).0[*axis as usize] as i64)],
        Op::Load => vec![rows(0).1[at(b, rows(0).0, last + 1)]],
        Op::Array(ArrayOp::Peek) => vec![rows(0).1[at(b, &[rows(0).1.len()], 2)]],
        Op::Store | Op::Array(ArrayOp::Poke) => {
            let (shape, elements) = rows(0);
            let flat = [elements.len()];
            let place = at(b, if *op == Op::Store { shape } else { &flat }, last);
            let mut elements = elements.to_vec();
            elements[place] = scalar(last);
            elements
        }
        Op::Prim(prim) => {
            let n = (0..=last).map(|k| rows(k).1.len()).max().unwrap_or(0);
            let row = |k: usize| {
                let one = |o: &Operand| match o {
                    Operand::Scalar(v) => *v,
                    Operand::Rows(_, elements) => elements[k],
                };
                operands.iter().map(one).collect::<Vec<Value>>()
            };
            (0..n).map(|k| b.prim(*prim, &row(k))).collect()
        }
        Op::Array(op) => array(b, op, elem, operands),
        _ => unreachable!("`{op:?}` is not written out"),
    }
}

fn array(b: &mut Builder, op: &ArrayOp, elem: Elem, operands: &[Operand]) -> Vec<Value> {
    // Positions of later arrays follow those of the first.
    let mut all: Vec<Value> = Vec::new();
    let mut given = Vec::new();
    for o in operands {
        given.push(match o {
            Operand::Scalar(v) => match b.func().as_const(*v) {
                Some(Scalar::I64(c)) => Position::Int(c),
                _ => Position::Int(0),
            },
            Operand::Rows(shape, elements) => {
                all.extend(*elements);
                Position::Of(shape, all.len() - elements.len())
            }
        });
    }
    let rows = |k: usize| match &operands[k] {
        Operand::Rows(shape, elements) => (*shape, *elements),
        Operand::Scalar(_) => (&[][..], &[][..]),
    };
    let (shape, x) = rows(0);
    match op {
        ArrayOp::AddSlice => {
            let last = operands.len() - 1;
            let places = positions(&ArrayOp::Slice, &given[..last]).map_or(Vec::new(), |p| p.1);
            let mut out = x.to_vec();
            for (place, v) in places.into_iter().zip(rows(last).1) {
                out[place] = b.add(out[place], *v);
            }
            out
        }
        ArrayOp::Sum(None) => {
            let mut lanes = [b.float(elem, 0.0); 8];
            for (k, x) in x.iter().enumerate() {
                lanes[k % 8] = b.add(lanes[k % 8], *x);
            }
            vec![tree(b, lanes)]
        }
        ArrayOp::Dot => vec![dot(b, elem, x, rows(1).1)],
        ArrayOp::Sum(Some(axis)) => {
            let (outer, n, inner) = split(shape, *axis);
            let zero = b.float(elem, 0.0);
            let mut out = vec![zero; outer * inner];
            for (o, k, i) in each(outer, n, inner) {
                let sum = &mut out[o * inner + i];
                *sum = b.add(*sum, x[(o * n + k) * inner + i]);
            }
            out
        }
        ArrayOp::CumSum(axis, way) => {
            let (outer, n, inner) = split(shape, *axis);
            let mut out = x.to_vec();
            for (o, k, i) in each(outer, n, inner).filter(|(_, k, _)| *k > 0) {
                let at = |k: usize| (o * n + k) * inner + i;
                let (from, to) = match way {
                    Direction::Forward => (at(k - 1), at(k)),
                    Direction::Backward => (at(n - k), at(n - k - 1)),
                };
                out[to] = b.add(out[from], out[to]);
            }
            out
        }
        ArrayOp::Gemm(ta, tb) => product(b, elem, (*ta, *tb), [rows(0), rows(1), rows(2)]),
        _ => {
            let from = positions(op, &given).map_or(Vec::new(), |p| p.1);
            from.into_iter().map(|k| all[k]).collect()
        }
    }
}

/// The elements before, along and after an axis.
fn split(shape: &[usize], axis: u8) -> (usize, usize, usize) {
    let axis = axis as usize;
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

fn each(outer: usize, n: usize, inner: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let along = move |o| (0..n).flat_map(move |k| (0..inner).map(move |i| (o, k, i)));
    (0..outer).flat_map(along)
}

/// The lanes of a sum, added as the kernels do.
fn tree(b: &mut Builder, l: [Value; 8]) -> Value {
    let mut pair = |x: usize, y: usize| b.add(l[x], l[y]);
    let (l04, l26, l15, l37) = (pair(0, 4), pair(2, 6), pair(1, 5), pair(3, 7));
    let (low, high) = (b.add(l04, l26), b.add(l15, l37));
    b.add(low, high)
}

fn dot(b: &mut Builder, elem: Elem, x: &[Value], y: &[Value]) -> Value {
    let mut lanes = [b.float(elem, 0.0); 8];
    for (k, (x, y)) in x.iter().zip(y).enumerate() {
        lanes[k % 8] = b.prim(Prim::Fma, &[*x, *y, lanes[k % 8]]);
    }
    tree(b, lanes)
}

type Rows<'a> = (&'a [usize], &'a [Value]);

/// `c` plus the product of `a` and `b`.
fn product(
    b: &mut Builder,
    elem: Elem,
    (ta, tb): (Transposed, Transposed),
    [(shape_c, c), (shape_x, x), (shape_y, y)]: [Rows; 3],
) -> Vec<Value> {
    let mut out = c.to_vec();
    let (m, n) = (shape_c[0], shape_c.get(1).copied().unwrap_or(1));
    let k = if shape_x.len() == 1 { 1 } else { x.len() / m.max(1) };
    if (shape_x.len(), shape_y.len(), ta) == (2, 1, Transposed::No) {
        for (i, c) in out.iter_mut().enumerate() {
            let row = dot(b, elem, &x[i * k..][..k], y);
            *c = b.add(*c, row);
        }
        return out;
    }
    for (i, p, j) in each(m, k, n) {
        let left = x[if ta == Transposed::No { i * k + p } else { p * m + i }];
        let right = y[if tb == Transposed::No { p * n + j } else { j * k + p }];
        out[i * n + j] = b.fma(left, right, out[i * n + j]);
    }
    out
}
