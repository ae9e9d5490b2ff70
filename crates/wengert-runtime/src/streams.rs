//! Copies that nobody reads soon.
//!
//! What a loop keeps of a large array for the way back is not read until then, and by then it has left the caches. Written
//! past them it does not push out what the loop works on, and memory is not read before it is overwritten.

use crate::arrays::Arrays;
use std::slice;
use wengert_core::ops::Scalar;
use wengert_core::ops::kernels::Operand;
use wengert_core::ops::shaped::Elements;

/// Smaller copies may still be in a cache when they are read.
const LEAST: usize = 256 << 10;

/// Rows of a matrix, or parts of them, as an array of its own: its address and shape. Nothing where it is small, is no such
/// section, or there is no memory; then there is another way, which also says what is wrong.
pub(crate) fn section(arrays: &mut Arrays, operands: &[Operand]) -> Option<(usize, [usize; 2])> {
    let [Operand::Array(shape, Elements::F64(x)), ends @ ..] = operands else { return None };
    let [rows, columns] = **shape else { return None };
    let number = |k: usize| match ends.get(k) {
        Some(Operand::Scalar(Scalar::I64(n))) => usize::try_from(*n).ok(),
        _ => None,
    };
    let range = |first: usize, length: usize| {
        let (start, count) = (number(first)?, number(first + 1)?);
        let fits = number(first + 2)? == 1 && start.checked_add(count)? <= length;
        fits.then_some((start, count))
    };
    let ((top, height), (left, width)) = (range(0, rows)?, range(3, columns)?);
    let count = height.checked_mul(width)?;
    if ends.len() != 6 || count * size_of::<f64>() < LEAST {
        return None;
    }
    let address = arrays.blank(count)?;
    // SAFETY: the array has just been made, has so many elements, and nobody else knows of it.
    let out = unsafe { slice::from_raw_parts_mut(address as *mut f64, count) };
    for (to, row) in out.chunks_exact_mut(width).zip(x.chunks_exact(columns).skip(top)) {
        stream(&row[left..left + width], to);
    }
    done();
    Some((address, [height, width]))
}

/// Copies doubles past the caches.
#[cfg(target_arch = "x86_64")]
fn stream(from: &[f64], to: &mut [f64]) {
    use std::arch::x86_64::{_mm_loadu_pd, _mm_stream_pd, _mm_stream_si64};
    // Two at a time, where they lie at a multiple of their size.
    let odd = usize::from(to.as_ptr().align_offset(16) != 0).min(to.len());
    let (first, rest) = to.split_at_mut(odd);
    let (one, others) = from.split_at(odd);
    let single = |from: &f64, to: &mut f64| {
        // SAFETY: every machine of this kind can; it is written where the reference says.
        unsafe { _mm_stream_si64(std::ptr::from_mut(to).cast(), from.to_bits().cast_signed()) };
    };
    one.iter().zip(first).for_each(|(from, to)| single(from, to));
    let (pairs, last) = rest.as_chunks_mut::<2>();
    let (twos, left) = others.as_chunks::<2>();
    for (from, to) in twos.iter().zip(pairs) {
        // SAFETY: as above; two are read where there are two, and written at a multiple of their size.
        unsafe { _mm_stream_pd(to.as_mut_ptr(), _mm_loadu_pd(from.as_ptr())) };
    }
    left.iter().zip(last).for_each(|(from, to)| single(from, to));
}

/// What has been written so is seen by what is read after this.
#[cfg(target_arch = "x86_64")]
fn done() {
    // SAFETY: every machine of this kind can.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn stream(from: &[f64], to: &mut [f64]) {
    to.copy_from_slice(from);
}

#[cfg(not(target_arch = "x86_64"))]
fn done() {}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::Elem;
    use wengert_core::ops::ArrayOp;
    use wengert_core::ops::kernels::Computed;

    /// What is taken is what slicing gives, wherever rows begin; what is small or no such section is left alone.
    #[test]
    fn sections_are_slices() {
        let (rows, columns) = (183, 190);
        let x: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
        let shape = [rows, columns];
        let mut taken = 0;
        for (top, height) in [(0, 183), (1, 181), (2, 181), (3, 181), (0, 0), (-1, 180)] {
            for (left, width) in [(0, 190), (1, 188), (1, 189), (2, 187), (0, 191), (5, 3)] {
                for step in [1, 2, -1] {
                    let ends = [top, height, 1, left, width, step];
                    let mut operands = vec![Operand::Array(&shape, Elements::F64(&x))];
                    operands.extend(ends.map(|n| Operand::Scalar(Scalar::I64(n))));
                    let mut arrays = Arrays::default();
                    let Some((address, found)) = section(&mut arrays, &operands) else {
                        let fits = top >= 0 && top + height <= 183 && left + width <= 190;
                        let large = (height * width) as usize * 8 >= LEAST;
                        assert!(!fits || !large || step != 1, "{ends:?}");
                        continue;
                    };
                    taken += 1;
                    let Ok(Computed::Array(wanted)) =
                        wengert_kernels::compute(&ArrayOp::Slice, &operands)
                    else {
                        panic!("{ends:?} is no slice")
                    };
                    assert_eq!(wanted.shape, found);
                    let count = found[0] * found[1];
                    assert_eq!(arrays.take(address, Elem::F64, count), Some(wanted.data));
                }
            }
        }
        assert_eq!(taken, 12);
    }
}
