//! Products with small dense matrices, for the hand-written adjoints.
//!
//! Everything is held in blocks of registers: a block of results stays there while the whole sum runs, so
//! a fused multiply-add needs one load (a product with a vector) or less (products of matrices).

/// The width of the workloads with dense matrices, and their vectors and matrices.
pub(super) const N: usize = 64;
pub(super) type Row = [f64; N];
pub(super) type Square = [Row; N];

/// Columns whose sums stay in registers together: eight vectors of four.
const STRIP: usize = 32;

/// `y += M' x`: the combination of the rows of M with the weights x. No sum runs across lanes.
#[inline(always)]
pub(super) fn add_rows<const N: usize>(rows: &[[f64; N]], x: &[f64], y: &mut [f64; N]) {
    let (strips, rest) = y.as_chunks_mut::<STRIP>();
    assert!(rest.is_empty(), "the width is a multiple of {STRIP}");
    for (s, y) in strips.iter_mut().enumerate() {
        let mut sum = *y;
        for (row, &c) in rows.iter().zip(x) {
            let row = &row.as_chunks::<STRIP>().0[s];
            for j in 0..STRIP {
                sum[j] = row[j].mul_add(c, sum[j]);
            }
        }
        *y = sum;
    }
}

/// `G += A' B` for matrices of as many rows: a rank-k update, in tiles of 4 by 8 sums.
#[inline(always)]
pub(super) fn add_outer<const N: usize>(a: &[[f64; N]], b: &[[f64; N]], g: &mut [[f64; N]; N]) {
    for i in (0..N).step_by(4) {
        for j in (0..N).step_by(8) {
            let mut sum = [[0.0; 8]; 4];
            for r in 0..4 {
                sum[r].copy_from_slice(&g[i + r][j..j + 8]);
            }
            for (a, b) in a.iter().zip(b) {
                for r in 0..4 {
                    for c in 0..8 {
                        sum[r][c] = b[j + c].mul_add(a[i + r], sum[r][c]);
                    }
                }
            }
            for r in 0..4 {
                g[i + r][j..j + 8].copy_from_slice(&sum[r]);
            }
        }
    }
}

/// `P = X M + b` row by row, in tiles of 4 by 8 sums.
#[inline(always)]
pub(super) fn product<const N: usize>(
    x: &[[f64; N]],
    m: &[[f64; N]; N],
    b: &[f64; N],
    p: &mut [[f64; N]],
) {
    let (x4, x_rest) = x.as_chunks::<4>();
    let (p4, p_rest) = p.as_chunks_mut::<4>();
    for (x, p) in x4.iter().zip(p4) {
        for j in (0..N).step_by(8) {
            let mut sum = [[0.0; 8]; 4];
            for sum in &mut sum {
                sum.copy_from_slice(&b[j..j + 8]);
            }
            for k in 0..N {
                for r in 0..4 {
                    for c in 0..8 {
                        sum[r][c] = m[k][j + c].mul_add(x[r][k], sum[r][c]);
                    }
                }
            }
            for r in 0..4 {
                p[r][j..j + 8].copy_from_slice(&sum[r]);
            }
        }
    }
    for (x, p) in x_rest.iter().zip(p_rest) {
        *p = *b;
        add_rows(m, x, p);
    }
}

/// The transpose, so that a product with the matrix combines rows as well.
#[inline(always)]
pub(super) fn transposed<const N: usize>(m: &[[f64; N]; N], t: &mut [[f64; N]; N]) {
    for i in 0..N {
        for j in 0..N {
            t[j][i] = m[i][j];
        }
    }
}

/// The sum of products, in lanes.
#[inline(always)]
pub(super) fn dot<const N: usize>(x: &[f64; N], y: &[f64; N]) -> f64 {
    let mut sum = [0.0; 8];
    for (x, y) in x.as_chunks::<8>().0.iter().zip(y.as_chunks::<8>().0) {
        for l in 0..8 {
            sum[l] = x[l].mul_add(y[l], sum[l]);
        }
    }
    sum.iter().sum()
}
