//! Sums and products of whole arrays: the inner loops of the kernels.
//!
//! Everything here is inlined into its caller, so that a caller compiled for wide registers and fused
//! multiply-adds gets loops made of those. The order of operations is written out, and compilers do
//! not change it: every instance gives the same bits.

use super::array::{Direction, Transposed};
use super::room;

/// Elements summed in lanes before a tree takes over.
pub const BLOCK: usize = 1024;

/// A float: what sums and products are made of.
pub trait Float: Copy + Default + PartialOrd {
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
    /// Whether it is no number.
    fn nan(self) -> bool;
}

macro_rules! float {
    ($($t:ident),*) => {$(
        impl Float for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
        }
    )*};
}
float!(f64, f32);

/// The lanes of one block, added as a tree.
#[inline(always)]
fn tree<T: Float>(l: [T; 8]) -> T {
    let low = l[0].plus(l[4]).plus(l[2].plus(l[6]));
    let high = l[1].plus(l[5]).plus(l[3].plus(l[7]));
    low.plus(high)
}

/// One sum, or several side by side.
trait Sums: Copy {
    fn add(self, other: Self) -> Self;
}

impl<T: Float> Sums for T {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl<T: Float> Sums for [T; 4] {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self, other);
        [a.plus(e), b.plus(f), c.plus(g), d.plus(h)]
    }
}

/// Adds what a block of code gives for ranges of at most [`BLOCK`] of `n` elements, pairwise: the
/// largest power of two of ranges that leaves some, and the rest, and so on within both. It is no
/// function, so that the code stands in the caller.
macro_rules! pairwise {
    ($n:expr, $sums:ty, |$from:ident, $to:ident| $range:expr) => {{
        let n: usize = $n;
        if n <= BLOCK {
            let ($from, $to) = (0, n);
            $range
        } else {
            // Sums not yet added to another, of ever fewer ranges: the binary digits of their number.
            let mut waiting: [$sums; 64] = [Default::default(); 64];
            let mut open = 0;
            for k in 0..n.div_ceil(BLOCK) {
                let ($from, $to) = (k * BLOCK, n.min((k + 1) * BLOCK));
                let mut sum = $range;
                for _ in 0..(k + 1).trailing_zeros() {
                    open -= 1;
                    sum = waiting[open].add(sum);
                }
                waiting[open] = sum;
                open += 1;
            }
            let mut sum = waiting[open - 1];
            for left in waiting[..open - 1].iter().rev() {
                sum = left.add(sum);
            }
            sum
        }
    }};
}

/// The sum of all elements.
#[inline(always)]
pub fn sum<T: Float>(x: &[T]) -> T {
    pairwise!(x.len(), T, |from, to| sum_range(&x[from..to]))
}

#[inline(always)]
fn sum_range<T: Float>(x: &[T]) -> T {
    let mut lanes = [T::default(); 8];
    let (whole, tail) = x.as_chunks::<8>();
    for chunk in whole {
        for k in 0..8 {
            lanes[k] = lanes[k].plus(chunk[k]);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(tail) {
        *lane = lane.plus(*x);
    }
    tree(lanes)
}

/// The sum of products; both have as many elements.
#[inline(always)]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    pairwise!(x.len(), T, |from, to| dot_range(&x[from..to], &y[from..to]))
}

#[inline(always)]
fn dot_range<T: Float>(x: &[T], y: &[T]) -> T {
    let mut lanes = [T::default(); 8];
    let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in xs.iter().zip(ys) {
        for k in 0..8 {
            lanes[k] = x[k].fused(y[k], lanes[k]);
        }
    }
    for (lane, (x, y)) in lanes.iter_mut().zip(x_tail.iter().zip(y_tail)) {
        *lane = x.fused(*y, *lane);
    }
    tree(lanes)
}

/// The sums along an axis with `n` elements, `outer` before and `inner` after it.
#[inline(always)]
pub(super) fn sum_axis<T: Float + 'static>(
    x: &[T],
    (outer, n, inner): (usize, usize, usize),
) -> Vec<T> {
    let mut out = room::vector(outer * inner);
    out.resize(outer * inner, T::default());
    if inner > 0 {
        for (o, sums) in out.chunks_mut(inner).enumerate() {
            for k in 0..n {
                let row = &x[(o * n + k) * inner..][..inner];
                for (s, x) in sums.iter_mut().zip(row) {
                    *s = s.plus(*x);
                }
            }
        }
    }
    out
}

/// Partial sums along an axis, in place.
#[inline(always)]
pub(super) fn cumsum<T: Float>(
    x: &mut [T],
    (outer, n, inner): (usize, usize, usize),
    way: Direction,
) {
    // Sizes of an axis that is empty may stand beside ones whose product does not fit.
    if x.is_empty() {
        return;
    }
    for part in x.chunks_mut(n * inner).take(outer) {
        match (way, inner) {
            (Direction::Forward, 1) => {
                let mut sum = part[0];
                for x in &mut part[1..] {
                    sum = sum.plus(*x);
                    *x = sum;
                }
            }
            (Direction::Backward, 1) => {
                let mut sum = part[n - 1];
                for x in part[..n - 1].iter_mut().rev() {
                    sum = sum.plus(*x);
                    *x = sum;
                }
            }
            _ => {
                for k in 1..n {
                    let (from, to) = match way {
                        Direction::Forward => {
                            let (before, after) = part.split_at_mut(k * inner);
                            (&before[(k - 1) * inner..], &mut after[..inner])
                        }
                        Direction::Backward => {
                            let (before, after) = part.split_at_mut((n - k) * inner);
                            (&after[..inner], &mut before[(n - k - 1) * inner..])
                        }
                    };
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = from.plus(*to);
                    }
                }
            }
        }
    }
}

/// Rows and columns of the part of a product that is kept in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// Terms of each chain that are added before the next part is looked at: what fits the nearest memory.
const DEPTH: usize = 256;

/// A matrix in memory: the element in row `i`, column `p` is `x[i * row + p * column]`.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    x: &'a [T],
    row: usize,
    column: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// One of `rows` by `columns`, or the transpose of one of `columns` by `rows`.
    #[inline(always)]
    fn new(x: &'a [T], rows: usize, columns: usize, transposed: Transposed) -> Self {
        match transposed {
            Transposed::No => Matrix { x, row: columns, column: 1 },
            Transposed::Yes => Matrix { x, row: 1, column: rows },
        }
    }
}

/// The product of `a` (m by k) and `b` (k by n), added to `c`: per element a chain of fused
/// multiply-adds in index order.
#[inline(always)]
pub(super) fn product<T: Float>(
    (m, n, k): (usize, usize, usize),
    c: &mut [T],
    (a, ta): (&[T], Transposed),
    (b, tb): (&[T], Transposed),
) {
    let (a, b) = (Matrix::new(a, m, k, ta), Matrix::new(b, k, n, tb));
    if n == 0 || m == 0 {
        return;
    }
    // Room for a part of `b`, and for one of `a`: in the order in which they are read.
    let mut right = vec![T::default(); DEPTH.min(k) * COLUMNS];
    let mut left = vec![T::default(); DEPTH.min(k) * m.next_multiple_of(ROWS)];
    for from in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - from);
        for (part, i) in left.chunks_mut(depth * ROWS).zip((0..m).step_by(ROWS)) {
            let rows = ROWS.min(m - i);
            for (p, out) in part.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
                for (r, out) in out[..rows].iter_mut().enumerate() {
                    *out = a.x[(i + r) * a.row + (from + p) * a.column];
                }
            }
        }
        for j in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - j);
            for (p, out) in right.as_chunks_mut::<COLUMNS>().0[..depth].iter_mut().enumerate() {
                for (q, out) in out[..columns].iter_mut().enumerate() {
                    *out = b.x[(from + p) * b.row + (j + q) * b.column];
                }
            }
            let right = &right.as_chunks::<COLUMNS>().0[..depth];
            for (part, i) in left.chunks(depth * ROWS).zip((0..m).step_by(ROWS)) {
                let rows = ROWS.min(m - i);
                let mut tile = [[T::default(); COLUMNS]; ROWS];
                for (r, tile) in tile[..rows].iter_mut().enumerate() {
                    tile[..columns].copy_from_slice(&c[(i + r) * n + j..][..columns]);
                }
                chains(&mut tile, part.as_chunks::<ROWS>().0, right);
                for (r, tile) in tile[..rows].iter().enumerate() {
                    c[(i + r) * n + j..][..columns].copy_from_slice(&tile[..columns]);
                }
            }
        }
    }
}

/// The part of a product that is kept in registers.
#[inline(always)]
fn chains<T: Float>(tile: &mut [[T; COLUMNS]; ROWS], left: &[[T; ROWS]], right: &[[T; COLUMNS]]) {
    let mut sums = *tile;
    for (a, b) in left.iter().zip(right) {
        for r in 0..ROWS {
            for q in 0..COLUMNS {
                sums[r][q] = a[r].fused(b[q], sums[r][q]);
            }
        }
    }
    *tile = sums;
}

/// A matrix (m by k) times a vector, added to `c`: one dot per row.
#[inline(always)]
pub(super) fn rows<T: Float>(c: &mut [T], a: &[T], b: &[T]) {
    let k = b.len();
    let row = |i: usize| &a[i * k..][..k];
    let (fours, rest) = c.as_chunks_mut::<4>();
    let done = 4 * fours.len();
    for (i, c) in fours.iter_mut().enumerate() {
        *c = c.add(dots([row(4 * i), row(4 * i + 1), row(4 * i + 2), row(4 * i + 3)], b));
    }
    for (i, c) in rest.iter_mut().enumerate() {
        *c = c.plus(dot(row(done + i), b));
    }
}

/// Four dots with the same vector: a machine does several sums in the time of one.
#[inline(always)]
fn dots<T: Float>(x: [&[T]; 4], y: &[T]) -> [T; 4] {
    pairwise!(y.len(), [T; 4], |from, to| {
        let [x0, x1, x2, x3] = x;
        dots_range([&x0[from..to], &x1[from..to], &x2[from..to], &x3[from..to]], &y[from..to])
    })
}

#[inline(always)]
fn dots_range<T: Float>([x0, x1, x2, x3]: [&[T]; 4], y: &[T]) -> [T; 4] {
    // The lanes of each row are an array of their own, added to by a loop of its own: so compilers keep them
    // in wide registers.
    let [mut l0, mut l1, mut l2, mut l3] = [[T::default(); 8]; 4];
    let (ys, y_tail) = y.as_chunks::<8>();
    let (x0, x1) = (x0.as_chunks::<8>(), x1.as_chunks::<8>());
    let (x2, x3) = (x2.as_chunks::<8>(), x3.as_chunks::<8>());
    let rows = x0.0.iter().zip(x1.0).zip(x2.0.iter().zip(x3.0));
    for (y, ((x0, x1), (x2, x3))) in ys.iter().zip(rows) {
        add_products(&mut l0, x0, y);
        add_products(&mut l1, x1, y);
        add_products(&mut l2, x2, y);
        add_products(&mut l3, x3, y);
    }
    for (lanes, x) in [(&mut l0, x0.1), (&mut l1, x1.1), (&mut l2, x2.1), (&mut l3, x3.1)] {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y_tail)) {
            *lane = x.fused(*y, *lane);
        }
    }
    [tree(l0), tree(l1), tree(l2), tree(l3)]
}

#[inline(always)]
fn add_products<T: Float>(lanes: &mut [T; 8], x: &[T; 8], y: &[T; 8]) {
    for k in 0..8 {
        lanes[k] = x[k].fused(y[k], lanes[k]);
    }
}

/// The transpose of a matrix (k by m) times a vector, added to `c`: a chain per element.
#[inline(always)]
pub(super) fn columns<T: Float>(c: &mut [T], a: &[T], b: &[T]) {
    let m = c.len();
    let mut p = 0;
    // Four terms of every chain at a time.
    while p + 4 <= b.len() {
        let (a0, rest) = a[p * m..].split_at(m);
        let (a1, rest) = rest.split_at(m);
        let (a2, rest) = rest.split_at(m);
        let a3 = &rest[..m];
        for (i, c) in c.iter_mut().enumerate() {
            let c0 = a0[i].fused(b[p], *c);
            let c1 = a1[i].fused(b[p + 1], c0);
            let c2 = a2[i].fused(b[p + 2], c1);
            *c = a3[i].fused(b[p + 3], c2);
        }
        p += 4;
    }
    for (p, b) in b.iter().enumerate().skip(p) {
        for (c, a) in c.iter_mut().zip(&a[p * m..]) {
            *c = a.fused(*b, *c);
        }
    }
}

/// The product of a column and a row, added to `c`.
#[inline(always)]
pub(super) fn outer<T: Float>(c: &mut [T], a: &[T], b: &[T]) {
    if b.is_empty() {
        return;
    }
    for (row, a) in c.chunks_mut(b.len()).zip(a) {
        for (c, b) in row.iter_mut().zip(b) {
            *c = a.fused(*b, *c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f64> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    /// The order of `sum` as it is described.
    fn described(x: &[f64]) -> f64 {
        let count = x.len().div_ceil(BLOCK);
        if count <= 1 {
            let lane = |k: usize| x.iter().skip(k).step_by(8).fold(0.0, |s, x| s + x);
            return tree([0, 1, 2, 3, 4, 5, 6, 7].map(lane));
        }
        let (left, right) = x.split_at(count.next_power_of_two() / 2 * BLOCK);
        described(left) + described(right)
    }

    #[test]
    fn sums_are_added_in_the_order_described() {
        for n in [0, 1, 9, 1024, 1025, 3000, 5000, 7 * 1024, 13 * 1024 + 5] {
            let x = numbers(n);
            assert_eq!(sum(&x).to_bits(), described(&x).to_bits(), "{n}");
            let ones = vec![1.0; n];
            assert_eq!(dot(&x, &ones).to_bits(), described(&x).to_bits(), "{n}");
        }
    }

    #[test]
    fn products_are_chains_in_index_order() {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (4, 8, 256), (9, 17, 600), (2, 3, 0)] {
            let (a, b, c) = (numbers(m * k), numbers(k * n), numbers(m * n));
            let mut done = c.clone();
            product((m, n, k), &mut done, (&a, Transposed::No), (&b, Transposed::No));
            for i in 0..m {
                for j in 0..n {
                    let chain =
                        (0..k).fold(c[i * n + j], |s, p| a[i * k + p].mul_add(b[p * n + j], s));
                    assert_eq!(done[i * n + j].to_bits(), chain.to_bits());
                }
            }
            let (mut one, x) = (numbers(m), numbers(k));
            let plain: Vec<f64> = (0..m).map(|i| one[i] + dot(&a[i * k..][..k], &x)).collect();
            rows(&mut one, &a, &x);
            assert!(one.iter().zip(&plain).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
