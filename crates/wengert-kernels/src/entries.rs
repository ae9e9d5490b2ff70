//! Kernels that compiled code calls with their operands in registers.
//!
//! There is a set of them per level of machine. Which one it is, is found out once, when code is linked.

use wengert_core::ops::kernels::{self, Operand};
use wengert_core::ops::shaped::{Elements, ElementsMut};
use wengert_core::ops::{ArrayOp, Transposed};

/// A matrix times a vector, added to `c`, which has `m` elements; the vector has `k`.
pub type Times =
    unsafe extern "C" fn(c: *mut f64, a: *const f64, b: *const f64, m: usize, k: usize);
/// The dots of `n` vectors with the `m` rows of a matrix; all of them have `k` elements. `c` has a row per vector.
pub type Many =
    unsafe extern "C" fn(c: *mut f64, a: *const f64, x: *const f64, m: usize, k: usize, n: usize);
/// Adds to each of `n` elements another.
pub type Add = unsafe extern "C" fn(c: *mut f64, x: *const f64, n: usize);
/// The sum of `n` products.
pub type Dot = unsafe extern "C" fn(x: *const f64, y: *const f64, n: usize) -> f64;
/// The sum of `n` elements.
pub type Sum = unsafe extern "C" fn(x: *const f64, n: usize) -> f64;

/// The kernels of a level.
///
/// # Safety
/// Of every function: the machine has the instructions of the level; elements lie where the operands say, as many as
/// they say, and nobody else uses those of `c` meanwhile.
#[derive(Clone, Copy)]
pub struct Entries {
    /// `m` rows of `k`: a dot per row.
    pub rows: Times,
    /// `k` rows of `m`, the matrix transposed: a chain per element.
    pub columns: Times,
    /// Many such products, as dots.
    pub many: Many,
    /// Sums of two vectors.
    pub add: Add,
    /// The sum of the products of two vectors.
    pub dot: Dot,
    /// The sum of a vector.
    pub sum: Sum,
}

/// Those for this machine.
pub fn entries() -> Entries {
    #[cfg(target_arch = "x86_64")]
    {
        if crate::x86::has_512() {
            return wide_512::ENTRIES;
        }
        if crate::x86::available() {
            return wide_256::ENTRIES;
        }
    }
    PLAIN
}

/// For machines without wide registers.
pub(crate) const PLAIN: Entries = Entries { rows, columns, many, add, dot, sum };

unsafe extern "C" fn rows(c: *mut f64, a: *const f64, b: *const f64, m: usize, k: usize) {
    // SAFETY: the caller's promise.
    unsafe { times(c, (a, [m, k], Transposed::No), b, m, k) }
}

unsafe extern "C" fn columns(c: *mut f64, a: *const f64, b: *const f64, m: usize, k: usize) {
    // SAFETY: the caller's promise.
    unsafe { times(c, (a, [k, m], Transposed::Yes), b, m, k) }
}

/// # Safety
/// As for the entries.
unsafe fn times(
    c: *mut f64,
    (a, shape, transposed): (*const f64, [usize; 2], Transposed),
    b: *const f64,
    m: usize,
    k: usize,
) {
    // SAFETY: the caller's promise.
    let (c, a, b) = unsafe { operands(c, a, b, m, k) };
    let vector = [k];
    let args =
        [Operand::Array(&shape, Elements::F64(a)), Operand::Array(&vector, Elements::F64(b))];
    let op = ArrayOp::Gemm(transposed, Transposed::No);
    let done = kernels::update(&op, &[m], ElementsMut::F64(c), &args);
    debug_assert!(done.is_ok(), "the shapes fit");
}

unsafe extern "C" fn many(c: *mut f64, a: *const f64, x: *const f64, m: usize, k: usize, n: usize) {
    for t in 0..n {
        for i in 0..m {
            // SAFETY: the caller's promise.
            unsafe { *c.add(t * m + i) = dot(a.add(i * k), x.add(t * k), k) };
        }
    }
}

unsafe extern "C" fn add(c: *mut f64, x: *const f64, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { add_all(c, x, n) }
}

/// # Safety
/// As for the entries.
#[inline(always)]
unsafe fn add_all(c: *mut f64, x: *const f64, n: usize) {
    // SAFETY: the caller's promise.
    let (c, x) =
        unsafe { (std::slice::from_raw_parts_mut(c, n), std::slice::from_raw_parts(x, n)) };
    c.iter_mut().zip(x).for_each(|(c, x)| *c += x);
}

unsafe extern "C" fn dot(x: *const f64, y: *const f64, n: usize) -> f64 {
    // SAFETY: the caller's promise.
    let (x, y) = unsafe { vectors(x, y, n) };
    kernels::dot(x, y)
}

/// # Safety
/// As for the entries.
#[inline(always)]
unsafe fn vectors<'a>(x: *const f64, y: *const f64, n: usize) -> (&'a [f64], &'a [f64]) {
    // SAFETY: the caller's promise.
    unsafe { (std::slice::from_raw_parts(x, n), std::slice::from_raw_parts(y, n)) }
}

unsafe extern "C" fn sum(x: *const f64, n: usize) -> f64 {
    // SAFETY: the caller's promise.
    kernels::sum(unsafe { std::slice::from_raw_parts(x, n) })
}

/// # Safety
/// As for the entries.
#[inline(always)]
unsafe fn operands<'a>(
    c: *mut f64,
    a: *const f64,
    b: *const f64,
    m: usize,
    k: usize,
) -> (&'a mut [f64], &'a [f64], &'a [f64]) {
    // SAFETY: the caller's promise. A matrix that is there has a size that does not overflow, and one with a
    // dimension of zero has no elements.
    unsafe {
        (
            std::slice::from_raw_parts_mut(c, m),
            std::slice::from_raw_parts(a, m.wrapping_mul(k)),
            std::slice::from_raw_parts(b, k),
        )
    }
}

/// The kernels written out in lanes of some kind, with the instructions they need.
#[cfg(target_arch = "x86_64")]
macro_rules! level {
    ($name:ident, $features:literal, $lanes:ty) => {
        pub(crate) mod $name {
            use super::{Entries, add_all, operands, vectors};
            use crate::products;
            use wengert_core::ops::kernels;

            pub(crate) const ENTRIES: Entries = Entries { rows, columns, many, add, dot, sum };

            #[target_feature(enable = $features)]
            unsafe extern "C" fn rows(
                c: *mut f64,
                a: *const f64,
                b: *const f64,
                m: usize,
                k: usize,
            ) {
                // SAFETY: the caller's promise; the instructions are those of this function.
                unsafe {
                    let (c, a, b) = operands(c, a, b, m, k);
                    products::rows::<$lanes>(c, a, b);
                }
            }

            #[target_feature(enable = $features)]
            unsafe extern "C" fn columns(
                c: *mut f64,
                a: *const f64,
                b: *const f64,
                m: usize,
                k: usize,
            ) {
                // SAFETY: the caller's promise; the instructions are those of this function.
                unsafe {
                    let (c, a, b) = operands(c, a, b, m, k);
                    products::columns::<$lanes>(c, a, b);
                }
            }

            #[target_feature(enable = $features)]
            unsafe extern "C" fn many(
                c: *mut f64,
                a: *const f64,
                x: *const f64,
                m: usize,
                k: usize,
                n: usize,
            ) {
                // SAFETY: the caller's promise; the instructions are those of this function.
                unsafe { products::many::<$lanes>(c, a, x, (m, k, n)) }
            }

            #[target_feature(enable = $features)]
            unsafe extern "C" fn add(c: *mut f64, x: *const f64, n: usize) {
                // SAFETY: the caller's promise.
                unsafe { add_all(c, x, n) }
            }

            #[target_feature(enable = $features)]
            unsafe extern "C" fn dot(x: *const f64, y: *const f64, n: usize) -> f64 {
                // SAFETY: the caller's promise; the instructions are those of this function.
                unsafe {
                    let (x, y) = vectors(x, y, n);
                    products::dot::<$lanes>(x, y).unwrap_or_else(|| kernels::dot(x, y))
                }
            }

            #[target_feature(enable = $features)]
            unsafe extern "C" fn sum(x: *const f64, n: usize) -> f64 {
                // SAFETY: the caller's promise.
                kernels::sum(unsafe { std::slice::from_raw_parts(x, n) })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
level!(wide_512, "avx512f,avx2,fma", crate::lanes::One);
#[cfg(target_arch = "x86_64")]
level!(wide_256, "avx2,fma", crate::lanes::Two);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::numbers;

    /// The sets this machine has.
    fn sets() -> Vec<Entries> {
        let mut all = vec![PLAIN, entries()];
        #[cfg(target_arch = "x86_64")]
        if crate::x86::available() {
            all.push(wide_256::ENTRIES);
        }
        all
    }

    #[test]
    fn every_set_gives_the_bits_of_the_kernels() {
        for n in [0, 1, 5, 8, 9, 50, 64, 100, 1024, 1025, 5000] {
            for offset in [0, 1, 2] {
                let mut x = numbers(n + offset, 1);
                // Such a sum begins with a negative zero, or does not.
                x.iter_mut().step_by(7).for_each(|x| *x = -1e-200);
                let y = numbers(n + offset, 2);
                let (x, y) = (&x[offset..], &y[offset..]);
                for set in sets() {
                    // SAFETY: the machine has the instructions, and the vectors `n` elements.
                    let (dot, sum) =
                        unsafe { ((set.dot)(x.as_ptr(), y.as_ptr(), n), (set.sum)(x.as_ptr(), n)) };
                    assert_eq!(dot.to_bits(), kernels::dot(x, y).to_bits(), "dot of {n}");
                    assert_eq!(sum.to_bits(), kernels::sum(x).to_bits(), "sum of {n}");
                }
            }
        }
        for (m, k) in [(0, 3), (3, 0), (1, 1), (100, 50), (64, 64), (33, 1030), (9, 7)] {
            let (a, b, c) = (numbers(m * k, 1), numbers(k, 2), numbers(m, 3));
            let vectors = 5;
            let x = numbers(vectors * k, 4);
            for set in sets() {
                let mut found = vec![f64::NAN; vectors * m];
                let row = |x: &[f64], i: usize| x[i * k..][..k].to_vec();
                let each = (0..vectors * m).map(|at| (at / m, at % m));
                let wanted = each.map(|(t, i)| kernels::dot(&row(&a, i), &row(&x, t)).to_bits());
                // SAFETY: the machine has the instructions, and the arrays those shapes.
                unsafe {
                    (set.many)(found.as_mut_ptr(), a.as_ptr(), x.as_ptr(), m, k, vectors);
                }
                let found: Vec<u64> = found.iter().map(|x| x.to_bits()).collect();
                assert_eq!(found, wanted.collect::<Vec<_>>(), "{vectors} with {m} by {k}");
                let mut sum = c.clone();
                // SAFETY: as above; a vector to itself.
                unsafe { (set.add)(sum.as_mut_ptr(), c.as_ptr(), m) };
                assert!(sum.iter().zip(&c).all(|(s, c)| *s == c + c));
                for (times, shape, t) in
                    [(set.rows, [m, k], Transposed::No), (set.columns, [k, m], Transposed::Yes)]
                {
                    let (mut direct, mut plain) = (c.clone(), c.clone());
                    // SAFETY: the machine has the instructions, and the arrays those shapes.
                    unsafe { times(direct.as_mut_ptr(), a.as_ptr(), b.as_ptr(), m, k) };
                    let vector = [k];
                    let args = [
                        Operand::Array(&shape, Elements::F64(&a)),
                        Operand::Array(&vector, Elements::F64(&b)),
                    ];
                    let op = ArrayOp::Gemm(t, Transposed::No);
                    kernels::update(&op, &[m], ElementsMut::F64(&mut plain), &args).unwrap();
                    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&direct), bits(&plain), "{m} by {k}, {t:?}");
                }
            }
        }
    }
}
