//! Slices of arrays: which elements they name.

use super::kernels::{Operand, index, length, reserve};
use super::shaped::{Data, Elements, count};
use crate::fault::FaultKind;

type Kernel<T> = Result<T, FaultKind>;

/// A slice of an array: where it starts, and per axis how many elements how far apart.
pub(super) struct Section {
    base: i64,
    axes: Vec<(usize, i64)>,
}

impl Section {
    /// `args` are start, count and step per axis; every element must exist.
    pub(super) fn new(shape: &[usize], args: &[Operand]) -> Kernel<Section> {
        let mut section = Section { base: 0, axes: Vec::new() };
        let strides = strides(shape);
        for (axis, triple) in args.chunks(3).enumerate() {
            let (start, count, step) = (triple[0].int(), length(triple[1].int())?, triple[2].int());
            let named = (shape.len() > 1).then_some(axis as u8);
            if count > 0 {
                let span = (count as i64 - 1).checked_mul(step).and_then(|d| d.checked_add(start));
                index(start, shape[axis], named)?;
                index(
                    span.unwrap_or(if step < 0 { i64::MIN } else { i64::MAX }),
                    shape[axis],
                    named,
                )?;
                section.base = section.base.wrapping_add(start.wrapping_mul(strides[axis] as i64));
            }
            section.axes.push((count, step.wrapping_mul(strides[axis] as i64)));
        }
        reserve(&section.counts())?;
        Ok(section)
    }

    /// From the first element on, given count and stride per axis.
    pub(super) fn all(axes: &[(usize, usize)]) -> Section {
        Section { base: 0, axes: axes.iter().map(|(n, stride)| (*n, *stride as i64)).collect() }
    }

    /// The elements, as a new array has them.
    pub(super) fn of(&self, x: Elements) -> Data {
        map_kind(x, |x| self.read(x), |x| self.read(x), |x| self.read(x), |x| self.read(x))
    }

    pub(super) fn counts(&self) -> Vec<usize> {
        self.axes.iter().map(|(n, _)| *n).collect()
    }

    /// Whether it names an element several times.
    pub(super) fn repeats(&self) -> bool {
        // Beside an axis without elements, strides are 0 and no element is named.
        let any = self.axes.iter().all(|(n, _)| *n > 0);
        any && self.axes.iter().any(|(n, step)| *n > 1 && *step == 0)
    }

    /// Calls `f` with the position of every element, in row-major order.
    pub(super) fn each(&self, mut f: impl FnMut(usize)) {
        fn walk(base: i64, axes: &[(usize, i64)], f: &mut impl FnMut(usize)) {
            match axes {
                [] => f(base as usize),
                [(n, step)] => (0..*n as i64).for_each(|k| f((base + k * step) as usize)),
                [(n, step), rest @ ..] => {
                    for k in 0..*n as i64 {
                        walk(base + k * step, rest, f);
                    }
                }
            }
        }
        if self.axes.iter().all(|(n, _)| *n > 0) {
            walk(self.base, &self.axes, &mut f);
        }
    }

    pub(super) fn read<T: Copy>(&self, x: &[T]) -> Vec<T> {
        let mut out = Vec::with_capacity(count(&self.counts()));
        self.each(|at| out.push(x[at]));
        out
    }

    pub(super) fn write<T: Copy>(&self, x: &mut [T], v: &[T], f: impl Fn(T, T) -> T) {
        let mut v = v.iter();
        self.each(|at| {
            if let Some(v) = v.next() {
                x[at] = f(x[at], *v);
            }
        });
    }
}

pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for k in (1..shape.len()).rev() {
        // A dimension of 0 may stand beside ones whose product does not fit.
        strides[k - 1] = strides[k].wrapping_mul(shape[k]);
    }
    strides
}

pub(super) fn map_kind(
    x: Elements,
    f64s: impl FnOnce(&[f64]) -> Vec<f64>,
    f32s: impl FnOnce(&[f32]) -> Vec<f32>,
    i64s: impl FnOnce(&[i64]) -> Vec<i64>,
    bools: impl FnOnce(&[bool]) -> Vec<bool>,
) -> Data {
    match x {
        Elements::F64(x) => Data::F64(f64s(x)),
        Elements::F32(x) => Data::F32(f32s(x)),
        Elements::I64(x) => Data::I64(i64s(x)),
        Elements::Bool(x) => Data::Bool(bools(x)),
    }
}
