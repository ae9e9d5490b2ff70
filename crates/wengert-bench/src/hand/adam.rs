//! Workload g by hand: the gradient of the loss after n steps of Adam by the settings of Adam.
//!
//! Products with the least-squares matrix (100 by 50) and with its transpose combine rows of 52 numbers, whose 13
//! sums of vectors stay in registers: the matrix lies in padded rows, its transpose in two halves of padded
//! rows. The way forward keeps g, the two means, the root and the reciprocal of the denominator, so that
//! the way back has one division per element; it runs the same two products on the adjoint of g.

const ROWS: usize = 100;
/// Half of them, with their padding as long as a row.
const HALF: usize = 50;
const N: usize = 50;
/// Columns with padding, as vectors of four.
const VECTORS: usize = 13;
type Row = [[f64; 4]; VECTORS];
const ZERO: Row = [[0.0; 4]; VECTORS];

/// What the way back needs of a step.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The gradient of the loss.
    g: Row,
    /// The means of g and of its square, after the step.
    mean: Row,
    var: Row,
    /// sqrt(var / (1 - b2^t)), and 1 / (that + eps).
    root: Row,
    inverse: Row,
}

/// Memory used again from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    a: Matrix,
    kept: Vec<Kept>,
}

fn padded(x: &[f64]) -> Row {
    let mut row = ZERO;
    row.as_flattened_mut()[..x.len()].copy_from_slice(x);
    row
}

/// The matrix by rows, and the upper and lower halves of its transpose.
#[derive(Debug, Default)]
struct Matrix {
    rows: Vec<Row>,
    turned: [Vec<Row>; 2],
}

impl Matrix {
    fn set(&mut self, a: &[f64]) {
        self.rows.clear();
        self.rows.extend(a.chunks_exact(N).map(padded));
        for (half, turned) in self.turned.iter_mut().enumerate() {
            turned.clear();
            turned.resize(N, ZERO);
            for (i, row) in a.chunks_exact(N).enumerate().skip(half * HALF).take(HALF) {
                for j in 0..N {
                    turned[j].as_flattened_mut()[i - half * HALF] = row[j];
                }
            }
        }
    }

    /// `A x`, in two halves.
    #[inline(always)]
    fn times(&self, x: &Row) -> [Row; 2] {
        let x = &x.as_flattened()[..N];
        [combined(&self.turned[0], x), combined(&self.turned[1], x)]
    }

    /// `A' r / m`.
    #[inline(always)]
    fn transposed_times(&self, [upper, lower]: &[Row; 2]) -> Row {
        let mut sums = combined(&self.rows[..HALF], upper.as_flattened());
        let more = combined(&self.rows[HALF..], lower.as_flattened());
        for v in 0..VECTORS {
            for l in 0..4 {
                sums[v][l] = (sums[v][l] + more[v][l]) * (1.0 / ROWS as f64);
            }
        }
        sums
    }
}

/// The combination of rows with these weights.
#[inline(always)]
fn combined(rows: &[Row], weights: &[f64]) -> Row {
    let mut sums = ZERO;
    for (row, &c) in rows.iter().zip(weights) {
        for v in 0..VECTORS {
            for l in 0..4 {
                sums[v][l] = row[v][l].mul_add(c, sums[v][l]);
            }
        }
    }
    sums
}

#[inline(always)]
fn minus(x: [Row; 2], y: &[Row; 2]) -> [Row; 2] {
    let mut out = x;
    for (out, y) in out.as_flattened_mut().iter_mut().zip(y.as_flattened()) {
        for l in 0..4 {
            out[l] -= y[l];
        }
    }
    out
}

dispatch! {
    /// Value and gradient in (lr, b1, b2); `a` has 100 rows of 50, `y` 100 elements.
    grad = body(a: &[f64], y: &[f64], p: [f64; 3], steps: usize, s: &mut Scratch) -> (f64, [f64; 3])
}

#[inline(always)]
fn body(
    a: &[f64],
    y: &[f64],
    [lr, b1, b2]: [f64; 3],
    steps: usize,
    s: &mut Scratch,
) -> (f64, [f64; 3]) {
    s.a.set(a);
    let y = [padded(&y[..HALF]), padded(&y[HALF..])];
    let blank = Kept { g: ZERO, mean: ZERO, var: ZERO, root: ZERO, inverse: ZERO };
    s.kept.resize(steps, blank);
    let (mut x, mut mean, mut var) = (ZERO, ZERO, ZERO);
    let (mut p1, mut p2) = (1.0, 1.0);
    for kept in &mut s.kept {
        let g = s.a.transposed_times(&minus(s.a.times(&x), &y));
        p1 *= b1;
        p2 *= b2;
        let (c1, c2) = (lr / (1.0 - p1), 1.0 / (1.0 - p2));
        kept.g = g;
        for v in 0..VECTORS {
            for l in 0..4 {
                let g = g[v][l];
                let m = b1.mul_add(mean[v][l], (1.0 - b1) * g);
                let q = b2.mul_add(var[v][l], (1.0 - b2) * g * g);
                let root = (q * c2).sqrt();
                let inverse = 1.0 / (root + 1e-8);
                x[v][l] = (-c1 * m).mul_add(inverse, x[v][l]);
                (mean[v][l], var[v][l]) = (m, q);
                (kept.root[v][l], kept.inverse[v][l]) = (root, inverse);
            }
        }
        (kept.mean, kept.var) = (mean, var);
    }
    let r = minus(s.a.times(&x), &y);
    let squares = r.as_flattened().as_flattened().iter().map(|r| r * r);
    let value = squares.sum::<f64>() / (2 * ROWS) as f64;

    let mut xb = s.a.transposed_times(&r);
    let (mut mb, mut vb) = (ZERO, ZERO);
    let (mut lrb, mut b1b, mut b2b) = (0.0f64, 0.0f64, 0.0f64);
    for t in (0..steps).rev() {
        let kept = &s.kept[t];
        let (mean0, var0) = match t.checked_sub(1) {
            Some(t) => (&s.kept[t].mean, &s.kept[t].var),
            None => (&ZERO, &ZERO),
        };
        let power = i32::try_from(t).unwrap_or(i32::MAX);
        let (q1, q2) = (b1.powi(power), b2.powi(power));
        let (c1, c2) = (1.0 / (1.0 - q1 * b1), 1.0 / (1.0 - q2 * b2));
        let mut gb = ZERO;
        // Sums over the elements: by lr, c1, c2, b1, b2.
        let mut sum = [[0.0f64; 4]; 5];
        for v in 0..VECTORS {
            for l in 0..4 {
                let (g, m, q) = (kept.g[v][l], kept.mean[v][l], kept.var[v][l]);
                let (root, inverse) = (kept.root[v][l], kept.inverse[v][l]);
                // x -= lr c1 m inverse
                let ub = -xb[v][l] * inverse;
                let by_mean = lr * c1 * ub;
                sum[0][l] = ub.mul_add(m * c1, sum[0][l]);
                sum[1][l] = ub.mul_add(m * lr, sum[1][l]);
                let mbar = mb[v][l] + by_mean;
                // inverse = 1 / (root + eps), root = sqrt(c2 q); padding has no root
                let half = if root > 0.0 { 0.5 / root } else { 0.0 };
                let hb = -by_mean * m * inverse * half;
                let vbar = hb.mul_add(c2, vb[v][l]);
                sum[2][l] = hb.mul_add(q, sum[2][l]);
                sum[3][l] = mbar.mul_add(mean0[v][l] - g, sum[3][l]);
                sum[4][l] = vbar.mul_add((-g).mul_add(g, var0[v][l]), sum[4][l]);
                gb[v][l] = mbar.mul_add(1.0 - b1, 2.0 * (1.0 - b2) * vbar * g);
                mb[v][l] = b1 * mbar;
                vb[v][l] = b2 * vbar;
            }
        }
        let [by_lr, by_c1, by_c2, by_b1, by_b2] = sum.map(|[s0, s1, s2, s3]| (s0 + s1) + (s2 + s3));
        // c = 1 / (1 - b^k) with k = t + 1
        let k = (t + 1) as f64;
        lrb += by_lr;
        b1b += by_b1 + by_c1 * c1 * c1 * k * q1;
        b2b += by_b2 + by_c2 * c2 * c2 * k * q2;
        // g = A' (A x - y) / m
        let back = s.a.transposed_times(&s.a.times(&gb));
        for v in 0..VECTORS {
            for l in 0..4 {
                xb[v][l] += back[v][l];
            }
        }
    }
    (value, [lrb, b1b, b2b])
}
