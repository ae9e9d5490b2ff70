//! Products of matrices and vectors of doubles, in lanes.
//!
//! Every element is summed in the order that `wengert_core::ops::kernels` fixes: a dot in eight lanes where a matrix
//! is multiplied by a vector, a chain in index order elsewhere. Lanes lie across elements or are those of the dot, so
//! the bits are those of the kernels there, which have no lanes and run on every machine.

use super::lanes::{Lane, Lanes};
use std::mem::MaybeUninit;
use wengert_core::ops::Transposed;
use wengert_core::ops::kernels::{BLOCK, Product};

/// Terms of each chain that are added before the next part of a product is looked at.
const DEPTH: usize = 256;
/// Doubles of a row, in the widest part of a product that is kept in registers.
const WIDEST: usize = 16;
/// Rows longer than this lie too far from one another to be read where they are.
const FAR: usize = 256;

/// A matrix times a vector: one dot per row, eight rows at a time.
///
/// # Safety
/// The machine has the instructions of `V`; the matrix has as many rows as `c` elements, of the length of `b`.
#[inline(always)]
pub(crate) unsafe fn rows<V: Lanes>(c: &mut [f64], a: &[f64], b: &[f64]) {
    let (m, k) = (c.len(), b.len());
    debug_assert_eq!(a.len(), m * k);
    let apart = alike(k);
    let span = 8 * apart;
    // SAFETY: rows up to `whole` are there; of the rest, those past the last one are the last one, whose sum is not
    // stored.
    unsafe {
        let (a, c) = (a.as_ptr(), c.as_mut_ptr());
        let whole = m - m % span;
        for i in (0..whole).step_by(span) {
            if apart == 1 {
                let sums = dots::<V>(std::array::from_fn(|r| a.add((i + r) * k)), b);
                V::load(c.add(i)).plus(sums).store(c.add(i));
                continue;
            }
            for first in i..i + apart {
                let sums = dots::<V>(std::array::from_fn(|r| a.add((first + r * apart) * k)), b);
                let mut room = [0.0; 8];
                sums.store(room.as_mut_ptr());
                for (r, sum) in room.iter().enumerate() {
                    *c.add(first + r * apart) += sum;
                }
            }
        }
        for i in (whole..m).step_by(8) {
            let some = Lane::first((m - i).min(8));
            let sums = dots::<V>(std::array::from_fn(|r| a.add((i + r).min(m - 1) * k)), b);
            V::load_some(c.add(i), some).plus(sums).store_some(c.add(i), some);
        }
    }
}

/// The sum of products of two vectors of at most a block of elements; `None` where they are longer.
///
/// # Safety
/// The machine has the instructions of `V`; both have as many elements.
#[inline(always)]
pub(crate) unsafe fn dot<V: Lanes>(x: &[f64], y: &[f64]) -> Option<f64> {
    debug_assert_eq!(x.len(), y.len());
    if x.len() > BLOCK {
        return None;
    }
    let whole = x.len() / 8 * 8;
    // SAFETY: the caller's promise; lanes past the last element are neither read nor added.
    unsafe {
        let (x, y, some) = (x.as_ptr(), y.as_ptr(), Lane::first(x.len() - whole));
        let mut sum = V::zero();
        for p in (0..whole).step_by(8) {
            sum = V::load(x.add(p)).fused(V::load(y.add(p)), sum);
        }
        let (x, y) = (V::load_some(x.add(whole), some), V::load_some(y.add(whole), some));
        Some(x.fused_some(y, sum, some).tree())
    }
}

/// How many rows of this length further a row begins at the same place of a line of memory, unless that is far.
#[inline(always)]
fn alike(length: usize) -> usize {
    match length % 8 {
        4 => 2,
        2 | 6 => 4,
        _ => 1,
    }
}

/// The dots of `b` with eight rows, which begin at the same place of a line of memory or are of an odd length.
#[inline(always)]
unsafe fn dots<V: Lanes>(row: [*const f64; 8], b: &[f64]) -> V {
    // SAFETY: the rows have the elements of `b`.
    unsafe {
        if b.len() <= BLOCK {
            return block_dots::<V>(row, b);
        }
        let parts = b.chunks(BLOCK).enumerate();
        let parts = parts.map(|(k, b)| block_dots::<V>(row.map(|row| row.add(k * BLOCK)), b));
        pairwise(&parts.collect::<Vec<V>>())
    }
}

/// The sum of the parts, as the kernels add blocks: the largest power of two of parts that leaves some, and the rest.
///
/// # Safety
/// The machine has the instructions.
#[inline(always)]
unsafe fn pairwise<V: Lanes>(parts: &[V]) -> V {
    // SAFETY: the caller's promise.
    let add = |a: V, b: V| unsafe { a.plus(b) };
    // Sums not yet added to another, of ever fewer parts: the binary digits of their number.
    let mut waiting: Vec<V> = Vec::with_capacity(64);
    for (k, part) in parts.iter().enumerate() {
        let mut sum = *part;
        for _ in 0..(k + 1).trailing_zeros() {
            sum = waiting.pop().map_or(sum, |left| add(left, sum));
        }
        waiting.push(sum);
    }
    // SAFETY: the caller's promise.
    let none = || unsafe { V::zero() };
    waiting.into_iter().rev().reduce(|sum, left| add(left, sum)).unwrap_or_else(none)
}

/// Eight dots of at most a block of elements.
#[inline(always)]
unsafe fn block_dots<V: Lanes>(row: [*const f64; 8], b: &[f64]) -> V {
    let at = [b.as_ptr()];
    // SAFETY: the rows have the elements of `b`.
    unsafe {
        if V::ROWS == 8 {
            let [sums] = lanes::<V, 8, 1>(row, at, b.len());
            return V::trees(sums);
        }
        let [r0, r1, r2, r3, r4, r5, r6, r7] = row;
        let [[s0, s1, s2, s3]] = lanes::<V, 4, 1>([r0, r1, r2, r3], at, b.len());
        let [[s4, s5, s6, s7]] = lanes::<V, 4, 1>([r4, r5, r6, r7], at, b.len());
        V::trees([s0, s1, s2, s3, s4, s5, s6, s7])
    }
}

/// The dots of every row of a matrix with every one of `n` vectors, which lie one behind the other as they do in `x`:
/// eight rows at a time, so that they are read from the nearest cache, and two vectors where registers hold the sums.
///
/// # Safety
/// The machine has the instructions of `V`; the matrix has `m` rows of `k`, `x` has `n` of `k` and `c` `n` of `m`.
#[inline(always)]
pub(crate) unsafe fn many<V: Lanes>(
    c: *mut f64,
    a: *const f64,
    x: *const f64,
    (m, k, n): (usize, usize, usize),
) {
    for i in (0..m).step_by(8) {
        let some = Lane::first((m - i).min(8));
        // SAFETY: rows past the last one are the last one, whose sums are not stored.
        unsafe {
            let row: [*const f64; 8] = std::array::from_fn(|r| a.add((i + r).min(m - 1) * k));
            let mut t = 0;
            while V::ROWS == 8 && k <= BLOCK && t + 2 <= n {
                let [first, second] = lanes::<V, 8, 2>(row, [x.add(t * k), x.add((t + 1) * k)], k);
                V::trees(first).store_some(c.add(t * m + i), some);
                V::trees(second).store_some(c.add((t + 1) * m + i), some);
                t += 2;
            }
            for t in t..n {
                let b = std::slice::from_raw_parts(x.add(t * k), k);
                dots::<V>(row, b).store_some(c.add(t * m + i), some);
            }
        }
    }
}

/// Doubles before `x` from which a line of memory begins: loads that lie in one line take half the time of others.
#[inline(always)]
fn before_line(x: *const f64) -> usize {
    x as usize / 8 % 8
}

/// The lanes of the dots of some rows with some vectors of as many elements; they may be turned by an even number of
/// places.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // rows of sums and of memory go together
unsafe fn lanes<V: Lanes, const R: usize, const T: usize>(
    row: [*const f64; R],
    b: [*const f64; T],
    length: usize,
) -> [[V; R]; T] {
    // An odd number of places would make another tree.
    let skip = match before_line(row[0]) {
        skip if skip % 2 == 0 => skip,
        _ => 0,
    };
    let (at, row) = (b.map(|b| b.wrapping_sub(skip)), row.map(|row| row.wrapping_sub(skip)));
    let end = skip + length;
    // SAFETY: rows and vectors have so many elements, all of them behind the first `skip` places.
    unsafe {
        let mut sums = [[V::zero(); R]; T];
        let mut p = 0;
        if skip > 0 && end >= 8 {
            let some = Lane::between(skip, 8);
            let y: [V; T] = std::array::from_fn(|t| V::load_some(at[t], some));
            for r in 0..R {
                let x = V::load_some(row[r], some);
                for t in 0..T {
                    sums[t][r] = x.fused_some(y[t], sums[t][r], some);
                }
            }
            p = 8;
        }
        while p + 8 <= end {
            let y: [V; T] = std::array::from_fn(|t| V::load(at[t].wrapping_add(p)));
            for r in 0..R {
                let x = V::load(row[r].wrapping_add(p));
                for t in 0..T {
                    sums[t][r] = x.fused(y[t], sums[t][r]);
                }
            }
            p += 8;
        }
        if p < end {
            let some = Lane::between(skip.saturating_sub(p), end - p);
            let y: [V; T] = std::array::from_fn(|t| V::load_some(at[t].wrapping_add(p), some));
            for r in 0..R {
                let x = V::load_some(row[r].wrapping_add(p), some);
                for t in 0..T {
                    sums[t][r] = x.fused_some(y[t], sums[t][r], some);
                }
            }
        }
        sums
    }
}

/// The transpose of a matrix times a vector: a chain per element, as many side by side as registers hold.
///
/// # Safety
/// The machine has the instructions of `V`; the matrix has as many rows as `b` elements, of the length of `c`.
#[inline(always)]
pub(crate) unsafe fn columns<V: Lanes>(c: &mut [f64], a: &[f64], b: &[f64]) {
    let m = c.len();
    debug_assert_eq!(a.len(), m * b.len());
    if m == 0 {
        return;
    }
    // Narrower loads seldom lie in two lines, and take longer where lanes are missing.
    let begin_together = V::ROWS == 8 && m.is_multiple_of(8);
    let skip = if begin_together { before_line(a.as_ptr()) } else { 0 };
    let (c, a) = (c.as_mut_ptr().wrapping_sub(skip), a.as_ptr().wrapping_sub(skip));
    let vectors = (skip + m).div_ceil(8);
    let strips = vectors.div_ceil(V::STRIP);
    let mut at = 0;
    for left in (1..=strips).rev() {
        let wide = (vectors - at).div_ceil(left);
        let first = Lane::between(if at == 0 { skip } else { 0 }, 8);
        let part = Strip {
            c: c.wrapping_add(8 * at),
            a: a.wrapping_add(8 * at),
            m,
            first,
            last: Lane::first((skip + m - 8 * (at + wide - 1)).min(8)),
        };
        // SAFETY: `wide` vectors begin there, of which the first and the last have the lanes given.
        unsafe {
            match wide {
                1 => part.any::<V, 1>(b),
                2 => part.any::<V, 2>(b),
                3 => part.any::<V, 3>(b),
                4 => part.any::<V, 4>(b),
                5 => part.any::<V, 5>(b),
                6 => part.any::<V, 6>(b),
                7 => part.any::<V, 7>(b),
                8 => part.any::<V, 8>(b),
                9 => part.any::<V, 9>(b),
                10 => part.any::<V, 10>(b),
                11 => part.any::<V, 11>(b),
                _ => part.any::<V, 12>(b),
            }
        }
        at += wide;
    }
}

/// Some columns of a matrix with rows of `m`, and the sums that belong to them.
struct Strip {
    c: *mut f64,
    a: *const f64,
    m: usize,
    /// Lanes of the first vector.
    first: Lane,
    /// Lanes of the last one.
    last: Lane,
}

impl Strip {
    /// Adds the rows times the elements of `b`.
    ///
    /// # Safety
    /// There are `S` vectors of elements in `c` and in every row of `a`, except for lanes missing in the first and the
    /// last; `S` is not zero.
    #[inline(always)]
    unsafe fn any<V: Lanes, const S: usize>(&self, b: &[f64]) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.first.and(self.last).is_all() {
                true => self.run::<V, S, true>(b),
                false => self.run::<V, S, false>(b),
            }
        }
    }

    /// The same, where it is known whether all lanes are there.
    #[inline(always)]
    unsafe fn run<V: Lanes, const S: usize, const ALL: bool>(&self, b: &[f64]) {
        let some = |s: usize| match s {
            0 if S == 1 => self.first.and(self.last),
            0 => self.first,
            _ => self.last,
        };
        let whole = |s: usize| ALL || (s > 0 && s < S - 1);
        // SAFETY: the caller's promise.
        unsafe {
            let load = |from: *const f64, s: usize| {
                let from = from.wrapping_add(8 * s);
                if whole(s) { V::load(from) } else { V::load_some(from, some(s)) }
            };
            let mut sums: [V; S] = std::array::from_fn(|s| load(self.c, s));
            let mut row = self.a;
            for b in b {
                let b = V::splat(*b);
                for (s, sum) in sums.iter_mut().enumerate() {
                    *sum = load(row, s).fused(b, *sum);
                }
                row = row.wrapping_add(self.m);
            }
            for (s, sum) in sums.iter().enumerate() {
                let to = self.c.wrapping_add(8 * s);
                if whole(s) { sum.store(to) } else { sum.store_some(to, some(s)) }
            }
        }
    }
}

/// Two matrices: a chain per element, in parts that are kept in registers.
///
/// # Safety
/// The machine has the instructions of `V`. The arrays have the shapes the product was made for.
#[inline(always)]
pub(crate) unsafe fn matrices<V: Lanes>(shape: &Product, c: &mut [f64], a: &[f64], b: &[f64]) {
    let Product { m, n, k, ta, tb, .. } = *shape;
    debug_assert!(c.len() == m * n && a.len() == m * k && b.len() == k * n);
    // From row to row, and from column to column.
    let (down, right) = if ta == Transposed::No { (k, 1) } else { (1, m) };
    let (b_down, b_right) = if tb == Transposed::No { (n, 1) } else { (1, k) };
    let width = if V::ROWS == 8 { WIDEST } else { 8 };
    let mut room = Room([const { MaybeUninit::uninit() }; DEPTH * WIDEST]);
    for from in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - from);
        for j in (0..n).step_by(width) {
            let columns = width.min(n - j);
            // SAFETY: everything read and written has an index within its matrix.
            unsafe {
                let mut b = (b.as_ptr().add(from * b_down + j * b_right), b_down);
                if b_right != 1 || columns < width || n > FAR {
                    // Rows of this part one behind the other, filled up with zeros.
                    for p in 0..depth {
                        for q in 0..width {
                            let x =
                                if q < columns { *b.0.add(p * b_down + q * b_right) } else { 0.0 };
                            room.0[p * width + q].write(x);
                        }
                    }
                    b = (room.0.as_ptr().cast(), width);
                }
                let mut i = 0;
                while i < m {
                    let a = Factor { x: a.as_ptr().add(i * down + from * right), down, right };
                    let c = Target { x: c.as_mut_ptr().add(i * n + j), n, columns };
                    i += if V::ROWS == 8 {
                        match m - i {
                            8.. => tile::<V, 8, 2>(c, a, b, depth),
                            4.. => tile::<V, 4, 2>(c, a, b, depth),
                            2.. => tile::<V, 2, 2>(c, a, b, depth),
                            _ => tile::<V, 1, 2>(c, a, b, depth),
                        }
                    } else {
                        match m - i {
                            4.. => tile::<V, 4, 1>(c, a, b, depth),
                            2.. => tile::<V, 2, 1>(c, a, b, depth),
                            _ => tile::<V, 1, 1>(c, a, b, depth),
                        }
                    };
                }
            }
        }
    }
}

/// Room for a part of the right factor, from where a line of memory begins.
#[repr(align(64))]
struct Room([MaybeUninit<f64>; DEPTH * WIDEST]);

/// Where the left factor of a part begins, and how far its rows and columns are from one another.
#[derive(Clone, Copy)]
struct Factor {
    x: *const f64,
    down: usize,
    right: usize,
}

/// Where a part of the product lies, in rows of `n`, and how many of its columns are wanted.
#[derive(Clone, Copy)]
struct Target {
    x: *mut f64,
    n: usize,
    columns: usize,
}

/// `R` rows of `S` vectors, kept in registers while `depth` terms are added; gives `R` back.
#[allow(clippy::needless_range_loop)] // rows of sums and of memory go together
#[inline(always)]
unsafe fn tile<V: Lanes, const R: usize, const S: usize>(
    c: Target,
    a: Factor,
    (b, step): (*const f64, usize),
    depth: usize,
) -> usize {
    let some = |s: usize| Lane::first(c.columns.saturating_sub(8 * s).min(8));
    // SAFETY: there are `R` rows in `a` and `c`; lanes past the last column are neither read nor written in `c`, and
    // are zeros in `b`.
    unsafe {
        let mut sums = [[V::zero(); S]; R];
        for r in 0..R {
            for s in 0..S {
                sums[r][s] = V::load_some(c.x.wrapping_add(r * c.n + 8 * s), some(s));
            }
        }
        for p in 0..depth {
            let right: [V; S] = std::array::from_fn(|s| V::load(b.add(p * step + 8 * s)));
            for r in 0..R {
                let left = V::splat(*a.x.add(r * a.down + p * a.right));
                for s in 0..S {
                    sums[r][s] = left.fused(right[s], sums[r][s]);
                }
            }
        }
        for r in 0..R {
            for s in 0..S {
                sums[r][s].store_some(c.x.wrapping_add(r * c.n + 8 * s), some(s));
            }
        }
    }
    R
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::numbers;
    use crate::x86::{available, has_512, multiply};
    use wengert_core::ops::ArrayOp;
    use wengert_core::ops::kernels::{self, Operand};
    use wengert_core::ops::shaped::{Elements, ElementsMut};

    /// A product of these shapes, by the plain kernel and in lanes, at several distances from the lines of memory.
    fn same_bits(c: &[usize], (a, ta): (&[usize], Transposed), (b, tb): (&[usize], Transposed)) {
        let product = Product::new(c, (a, ta), (b, tb)).expect("the shapes fit");
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        for offset in [0, 1, 2, 6] {
            let of = |shape: &[usize], seed| {
                let mut x = numbers(offset + count(shape), seed);
                // Sums of such are a negative zero before something is added, and are not after it.
                x.iter_mut().step_by(7).for_each(|x| *x = -1e-200);
                x
            };
            let (x, y, z) = (of(a, 1), of(b, 2), of(c, 3));
            let args = [
                Operand::Array(a, Elements::F64(&x[offset..])),
                Operand::Array(b, Elements::F64(&y[offset..])),
            ];
            let mut plain = z.clone();
            let elements = ElementsMut::F64(&mut plain[offset..]);
            kernels::update(&ArrayOp::Gemm(ta, tb), c, elements, &args).expect("the shapes fit");
            let widths = [(has_512(), true), (available(), false)];
            for (_, widest) in widths.into_iter().filter(|(has, _)| *has) {
                let mut fast = z.clone();
                let (c, a, b) = (&mut fast[offset..], &x[offset..], &y[offset..]);
                // SAFETY: the machine has the instructions; the arrays have the shapes.
                let done = unsafe { multiply(widest, &product, c, a, b) };
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(!done || bits(&plain) == bits(&fast), "{product:?}, offset {offset}");
            }
        }
    }

    #[test]
    fn products_in_lanes_have_the_bits_of_the_kernels() {
        use Transposed::{No, Yes};
        for m in [0, 1, 7, 8, 16, 20, 64, 97, 200] {
            for k in [0, 1, 2, 7, 8, 9, 16, 50, 64, 1024, 1032, 3000] {
                same_bits(&[m], (&[m, k], No), (&[k], No));
                same_bits(&[m], (&[k, m], Yes), (&[k], No));
            }
        }
        for (m, n, k) in
            [(1, 1, 1), (4, 8, 16), (9, 33, 300), (64, 64, 32), (7, 300, 5), (0, 3, 2), (3, 2, 0)]
        {
            for (ta, tb) in [(No, No), (No, Yes), (Yes, No), (Yes, Yes)] {
                let sa = if ta == No { [m, k] } else { [k, m] };
                let sb = if tb == No { [k, n] } else { [n, k] };
                same_bits(&[m, n], (&sa, ta), (&sb, tb));
            }
        }
    }
}
