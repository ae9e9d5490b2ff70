//! Slices of arrays: which elements they name.

use super::kernels::{Operand, index, length, reserve};
use super::room;
use super::shaped::{Data, Elements, count};
use crate::fault::FaultKind;
use smallvec::{SmallVec, smallvec};

type Kernel<T> = Result<T, FaultKind>;

/// One thing per axis: few arrays have more than four.
pub(super) type PerAxis<T> = SmallVec<[T; 4]>;

/// A slice of an array: where it starts, and per axis how many elements how far apart.
pub(super) struct Section {
    base: i64,
    axes: PerAxis<(usize, i64)>,
}

impl Section {
    /// `args` are start, count and step per axis; every element must exist.
    pub(super) fn new(shape: &[usize], args: &[Operand]) -> Kernel<Section> {
        let mut section = Section { base: 0, axes: PerAxis::new() };
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

    pub(super) fn counts(&self) -> PerAxis<usize> {
        self.axes.iter().map(|(n, _)| *n).collect()
    }

    /// Whether it names an element several times.
    pub(super) fn repeats(&self) -> bool {
        // Beside an axis without elements, strides are 0 and no element is named.
        let any = self.axes.iter().all(|(n, _)| *n > 0);
        any && self.axes.iter().any(|(n, step)| *n > 1 && *step == 0)
    }

    /// The rows, in row-major order. A row is as long as its elements lie at one distance.
    #[inline(always)]
    fn rows(&self) -> Rows<'_> {
        // Beside an axis without elements others may be of any length.
        if self.axes.iter().any(|(n, _)| *n == 0) {
            return Rows { count: 0, step: 1, next: None, outer: &[], at: PerAxis::new() };
        }
        let (mut count, mut step) = (1, 1);
        let mut outer = self.axes.len();
        while let Some((n, far)) = self.axes[..outer].last().copied() {
            let next =
                count == 1 || i64::try_from(count).is_ok_and(|c| c.checked_mul(step) == Some(far));
            if !next && n > 1 {
                break;
            }
            if n > 1 {
                step = if count == 1 { far } else { step };
                count *= n;
            }
            outer -= 1;
        }
        let next = Some(self.base);
        Rows { count, step, next, outer: &self.axes[..outer], at: smallvec![0; outer] }
    }

    #[inline(always)]
    pub(super) fn read<T: Copy + 'static>(&self, x: &[T]) -> Vec<T> {
        let mut out = room::vector(count(&self.counts()));
        let rows = self.rows();
        let (n, step) = (rows.count, rows.step);
        for start in rows {
            match step {
                1 => out.extend_from_slice(&x[start..start + n]),
                0 => out.extend(std::iter::repeat_n(x[start], n)),
                _ if step > 0 => out.extend(x[start..].iter().step_by(step as usize).take(n)),
                _ => out.extend((0..n as i64).map(|k| x[(start as i64 + k * step) as usize])),
            }
        }
        out
    }

    #[inline(always)]
    pub(super) fn write<T: Copy>(&self, x: &mut [T], v: &[T], f: impl Fn(T, T) -> T) {
        let mut rest = v;
        let rows = self.rows();
        let (n, step) = (rows.count, rows.step);
        for start in rows {
            let (row, after) = rest.split_at(n.min(rest.len()));
            rest = after;
            if step == 1 {
                for (x, v) in x[start..start + n].iter_mut().zip(row) {
                    *x = f(*x, *v);
                }
            } else {
                for (k, v) in row.iter().enumerate() {
                    let at = (start as i64 + k as i64 * step) as usize;
                    x[at] = f(x[at], *v);
                }
            }
        }
    }
}

/// Where the rows of a section begin.
struct Rows<'s> {
    /// Elements of each, and how far apart.
    count: usize,
    step: i64,
    next: Option<i64>,
    /// The axes that count rows, and the place along each.
    outer: &'s [(usize, i64)],
    at: PerAxis<usize>,
}

impl Iterator for Rows<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let here = self.next?;
        let mut after = here;
        self.next = None;
        for (at, (n, step)) in self.at.iter_mut().zip(self.outer).rev() {
            *at += 1;
            if *at < *n {
                self.next = Some(after + step);
                break;
            }
            // Back to the start of this axis, and on along the one before.
            *at = 0;
            after -= (*n as i64 - 1) * step;
        }
        Some(here as usize)
    }
}

pub(super) fn strides(shape: &[usize]) -> PerAxis<usize> {
    let mut strides: PerAxis<usize> = smallvec![1; shape.len()];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element by its indices.
    fn described(section: &Section) -> Vec<usize> {
        let mut at = vec![section.base];
        for (n, step) in &section.axes {
            at = at.iter().flat_map(|b| (0..*n as i64).map(move |k| b + k * step)).collect();
        }
        at.into_iter().map(|at| at as usize).collect()
    }

    #[test]
    fn rows_are_all_elements_in_order() {
        let x: Vec<usize> = (0..120).collect();
        let sections = [
            (0, vec![(4, 30), (5, 6), (6, 1)]),
            (7, vec![(3, 30), (2, 6), (4, 1)]),
            (0, vec![(6, 1), (5, 6), (4, 30)]),
            (119, vec![(4, -30), (5, -6), (6, -1)]),
            (5, vec![(1, 99), (3, -2)]),
            (3, vec![(4, 0), (2, 50)]),
            (3, vec![(4, 7), (2, 0), (1, 5)]),
            (9, vec![(5, 12), (3, 4)]),
            (0, vec![(0, 1), (5, 6)]),
            (11, vec![]),
        ];
        for (base, axes) in sections {
            let section = Section { base, axes: axes.into() };
            assert_eq!(section.read(&x), described(&section), "{:?}", section.axes);
            if section.repeats() {
                continue;
            }
            let (mut written, mut expected) = (vec![0; 120], vec![0; 120]);
            let v: Vec<usize> = (1..=described(&section).len()).collect();
            section.write(&mut written, &v, |old, v| old + v);
            for (at, v) in described(&section).into_iter().zip(v) {
                expected[at] += v;
            }
            assert_eq!(written, expected, "{:?}", section.axes);
        }
    }
}
