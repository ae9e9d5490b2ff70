//! Array operations on values with what they depend on. All of them, and only they, are here.
//!
//! Values come from the kernels every backend runs. Dependences take two ways: an operation that moves
//! elements is run once more on the numbers of the elements, which says where each comes from; one that
//! computes (sums and products) joins what the elements it reads depend on.

use super::interactions::Interactions;
use super::traced::{Dep, Deps, Traced};
use crate::fault::FaultKind;
use crate::interp::Val;
use crate::ir::Op;
use crate::ops::kernels::{self, Computed, Operand};
use crate::ops::shaped::Elements;
use crate::ops::{Array, ArrayOp, Direction, Scalar, Transposed, room};
use std::rc::Rc;

type Kernel<T> = Result<T, FaultKind>;

/// Runs array operations.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// The numbers from 0 on: as many as the largest array so far has elements.
    numbers: Vec<i64>,
}

impl Arrays {
    /// The result of an array operation; nothing for what is not one. An index out of range is reported
    /// without the name of the array.
    pub(super) fn apply(
        &mut self,
        interactions: &mut Interactions,
        op: &Op,
        mut args: Vec<Traced>,
    ) -> Option<Kernel<Traced>> {
        Some(match op {
            Op::Dim(axis) => {
                Ok(Traced::passive(Val::i64(array(&args[0]).shape[*axis as usize] as i64)))
            }
            Op::Load => position(array(&args[0]), &args[1..]).map(|at| element(&args[0], at)),
            Op::Store => {
                let v = args.pop()?;
                let at = position(array(&args[0]), &args[1..]);
                at.map(|at| replaced(args.swap_remove(0), at, &v))
            }
            Op::Fill => {
                let v = args.pop()?;
                filled(&args, &v)
            }
            // Versions are taken over one by one: sharing the storage until then is a copy.
            Op::Copy => Ok(args.swap_remove(0)),
            Op::Array(op) if op.in_place() => self.update(interactions, op, args),
            Op::Array(op) => self.compute(interactions, op, &args),
            _ => return None,
        })
    }

    /// An operation that makes something new.
    fn compute(
        &mut self,
        interactions: &mut Interactions,
        op: &ArrayOp,
        args: &[Traced],
    ) -> Kernel<Traced> {
        let operands: Vec<Operand> = args.iter().map(operand).collect();
        let x = args[0].all();
        if *op == ArrayOp::Peek {
            let len = array(&args[0]).len();
            return Ok(element(&args[0], kernels::index(integer(&args[1]), len, None)?));
        }
        let val = match kernels::compute(op, &operands)? {
            Computed::Scalar(s) => Val::Scalar(s),
            Computed::Array(x) => Val::shaped(x),
            Computed::Nothing => return Ok(Traced::passive(Val::i64(0))),
        };
        let shape = &array(&args[0]).shape;
        let deps = match op {
            // Made of integers, or moves what has no derivative.
            _ if !val.ty().is_float() => Deps::None,
            ArrayOp::Reshape => args[0].deps.clone(),
            ArrayOp::Slice | ArrayOp::Transpose(_) | ArrayOp::Expand(_) | ArrayOp::Gather => {
                let from = self.places(op, shape, &operands[1..])?;
                Deps::each(from.iter().map(|k| x[*k as usize].clone()).collect())
            }
            ArrayOp::Sum(None) => Deps::One(interactions.join(x)),
            ArrayOp::Sum(Some(axis)) => Deps::each(sum_axis(interactions, x, shape, *axis)),
            ArrayOp::CumSum(axis, way) => {
                let mut sums = x.to_vec();
                cumsum(interactions, &mut sums, shape, *axis, *way);
                Deps::each(sums)
            }
            ArrayOp::Dot => {
                let y = args[1].all();
                let parts = [interactions.join(x), interactions.join(y)];
                Deps::One(interactions.products(&parts, x.iter().zip(y)))
            }
            ArrayOp::Peek
            | ArrayOp::ArgMax
            | ArrayOp::ArgMin
            | ArrayOp::ArgSort
            | ArrayOp::Poke
            | ArrayOp::Put
            | ArrayOp::AddSlice
            | ArrayOp::Gemm(..)
            | ArrayOp::ScatterAdd
            | ArrayOp::Conform(_)
            | ArrayOp::Refill => unreachable!("handled before"),
        };
        Ok(Traced { val, deps })
    }

    /// An operation in place on its first operand.
    fn update(
        &mut self,
        interactions: &mut Interactions,
        op: &ArrayOp,
        mut args: Vec<Traced>,
    ) -> Kernel<Traced> {
        let mut target = args.remove(0);
        if *op == ArrayOp::Poke {
            let at = kernels::index(integer(&args[0]), array(&target).len(), None)?;
            return Ok(replaced(target, at, &args[1]));
        }
        let operands: Vec<Operand> = args.iter().map(operand).collect();
        let Val::Array(x) = &mut target.val else { unreachable!("verified") };
        let x = Rc::make_mut(x);
        let shape = x.shape.clone();
        kernels::update(op, &shape, x.elements_mut(), &operands)?;
        let Deps::Each(deps) = &mut target.deps else { return Ok(target) };
        let deps = Rc::make_mut(deps);
        let (others, last) = (&operands[..operands.len() - 1], args[args.len() - 1].all());
        match op {
            ArrayOp::Put => {
                let to = self.places(&ArrayOp::Slice, &shape, others)?;
                to.iter().zip(last).for_each(|(k, v)| deps[*k as usize] = v.clone());
            }
            ArrayOp::AddSlice | ArrayOp::ScatterAdd => {
                let read = if *op == ArrayOp::AddSlice { ArrayOp::Slice } else { ArrayOp::Gather };
                for (k, v) in self.places(&read, &shape, others)?.iter().zip(last) {
                    let at = &mut deps[*k as usize];
                    *at = interactions.sum(at, v);
                }
            }
            ArrayOp::Refill => deps.iter_mut().for_each(|d| *d = last[0].clone()),
            ArrayOp::Gemm(ta, tb) => {
                gemm(interactions, (&shape, deps), (&args[0], *ta), (&args[1], *tb));
            }
            _ => unreachable!("makes something new, or handled before"),
        }
        Ok(target)
    }

    /// Which element of an array of this shape every element of the result is.
    fn places(&mut self, op: &ArrayOp, shape: &[usize], others: &[Operand]) -> Kernel<Vec<i64>> {
        let n: usize = shape.iter().product();
        let known = self.numbers.len() as i64;
        self.numbers.extend(known..known.max(n as i64));
        let all = Operand::Array(shape, Elements::I64(&self.numbers[..n]));
        let args: Vec<Operand> = std::iter::once(all).chain(others.iter().copied()).collect();
        match kernels::compute(op, &args)? {
            Computed::Array(Array { data: crate::ops::shaped::Data::I64(places), .. }) => {
                Ok(places)
            }
            _ => unreachable!("moves elements of an array"),
        }
    }
}

fn sum_axis(interactions: &mut Interactions, x: &[Dep], shape: &[usize], axis: u8) -> Vec<Dep> {
    let (outer, n, inner) = split(shape, axis);
    let columns = (0..outer * inner).map(|k| (k / inner, k % inner));
    columns
        .map(|(o, i)| {
            let column: Vec<Dep> = (0..n).map(|k| x[(o * n + k) * inner + i].clone()).collect();
            interactions.join(&column)
        })
        .collect()
}

fn cumsum(
    interactions: &mut Interactions,
    x: &mut [Dep],
    shape: &[usize],
    axis: u8,
    way: Direction,
) {
    let (outer, n, inner) = split(shape, axis);
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let at = |k: usize| (o * n + k) * inner + i;
        for k in 1..n {
            let (from, to) = match way {
                Direction::Forward => (at(k - 1), at(k)),
                Direction::Backward => (at(n - k), at(n - k - 1)),
            };
            x[to] = interactions.sum(&x[from], &x[to]);
        }
    }
}

/// `c` plus the product of `a` and `b`: an element depends on a row of `a`, a column of `b` and what it was.
fn gemm(
    interactions: &mut Interactions,
    (shape, c): (&[usize], &mut [Dep]),
    (a, ta): (&Traced, Transposed),
    (b, tb): (&Traced, Transposed),
) {
    let (m, n) = (shape[0], shape.get(1).copied().unwrap_or(1));
    let k = match (array(a).shape.as_slice(), ta) {
        ([rows, _], Transposed::Yes) => *rows,
        ([_, cols], Transposed::No) => *cols,
        // An outer product sums over one.
        _ => 1,
    };
    let at_a = |i: usize, p: usize| if ta == Transposed::No { i * k + p } else { p * m + i };
    let at_b = |p: usize, j: usize| if tb == Transposed::No { p * n + j } else { j * k + p };
    let row = |i: usize| (0..k).map(move |p| &a.all()[at_a(i, p)]);
    let column = |j: usize| (0..k).map(move |p| &b.all()[at_b(p, j)]);
    let mut all = |parts: Vec<Dep>| interactions.join(&parts);
    let rows: Vec<Dep> = (0..m).map(|i| all(row(i).cloned().collect())).collect();
    let columns: Vec<Dep> = (0..n).map(|j| all(column(j).cloned().collect())).collect();
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let at = &mut c[i * n + j];
        let parts = [at.clone(), rows[i].clone(), columns[j].clone()];
        *at = interactions.products(&parts, row(i).zip(column(j)));
    }
}

/// The elements before, along and after an axis.
fn split(shape: &[usize], axis: u8) -> (usize, usize, usize) {
    let axis = axis as usize;
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

/// Element `at` of an array, which exists.
fn element(x: &Traced, at: usize) -> Traced {
    let mut one = Traced::passive(Val::Scalar(array(x).elements().get(at)));
    if let (Deps::One(dep), Some(known)) = (&mut one.deps, x.all().get(at)) {
        *dep = known.clone();
    }
    one
}

/// An array with another element `at`, which exists.
fn replaced(mut x: Traced, at: usize, v: &Traced) -> Traced {
    if let (Val::Array(x), Val::Scalar(v)) = (&mut x.val, &v.val) {
        Rc::make_mut(x).elements_mut().set(at, *v);
    }
    if let Deps::Each(deps) = &mut x.deps {
        Rc::make_mut(deps)[at] = v.dep();
    }
    x
}

fn filled(dims: &[Traced], v: &Traced) -> Kernel<Traced> {
    let dims: Vec<Operand> = dims.iter().map(operand).collect();
    let Val::Scalar(value) = v.val else { unreachable!("verified") };
    let shape = kernels::dims(&dims)?;
    let no_room = kernels::no_room(&shape);
    let Some(x) = Array::filled(shape, value) else { return Err(no_room) };
    if let Deps::One(dep) = &v.deps {
        let Some(mut deps) = room::reserve(x.len()) else { return Err(no_room) };
        deps.resize(x.len(), dep.clone());
        return Ok(Traced { val: Val::shaped(x), deps: Deps::each(deps) });
    }
    Ok(Traced { val: Val::shaped(x), deps: Deps::None })
}

/// The place of an element in row-major order.
fn position(x: &Array, indices: &[Traced]) -> Kernel<usize> {
    let mut at = 0;
    for (axis, (i, n)) in indices.iter().zip(&x.shape).enumerate() {
        let named = (x.shape.len() > 1).then_some(axis as u8);
        at = at * n + kernels::index(integer(i), *n, named)?;
    }
    Ok(at)
}

/// A value as an operand of a kernel.
pub(super) fn operand(v: &Traced) -> Operand<'_> {
    match &v.val {
        Val::Scalar(s) => Operand::Scalar(*s),
        Val::Array(x) => Operand::Array(&x.shape, x.elements()),
        Val::Tape(_) => unreachable!("verified"),
    }
}

fn array(v: &Traced) -> &Array {
    match &v.val {
        Val::Array(x) => x,
        _ => unreachable!("verified"),
    }
}

fn integer(v: &Traced) -> i64 {
    match v.val {
        Val::Scalar(Scalar::I64(x)) => x,
        _ => unreachable!("verified"),
    }
}
