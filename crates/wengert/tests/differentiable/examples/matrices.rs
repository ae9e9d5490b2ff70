//! The examples about matrices and grids, as one would write them in Rust.

use wengert::differentiable;

#[differentiable]
#[allow(clippy::needless_range_loop)]
pub(crate) mod matrices {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    pub(crate) fn cholesky(a: &mut [[f64; 4]]) -> f64 {
        let mut total = 0.0;
        for j in 0..a.len() {
            for k in 0..j {
                a[j][j] -= a[j][k] * a[j][k];
            }
            a[j][j] = a[j][j].sqrt();
            for i in j + 1..a.len() {
                for k in 0..j {
                    a[i][j] -= a[i][k] * a[j][k];
                }
                a[i][j] /= a[j][j];
            }
            total += 2.0 * a[j][j].ln();
        }
        total
    }

    pub(crate) fn conjugate_gradients(a: &[[f64; 4]], b: &[f64]) -> f64 {
        let n = b.len();
        let mut x = vec![0.0; n];
        let mut r = b.to_vec();
        let mut p = r.clone();
        let mut rr = dot(&r, &r);
        while rr > 1e-20 {
            let ap: Vec<f64> = a.iter().map(|row| dot(row, &p)).collect();
            let alpha = rr / dot(&p, &ap);
            for i in 0..n {
                x[i] += alpha * p[i];
                r[i] -= alpha * ap[i];
            }
            let new = dot(&r, &r);
            for (p, r) in p.iter_mut().zip(&r) {
                *p = r + new / rr * *p;
            }
            rr = new;
        }
        -0.5 * dot(b, &x)
    }

    pub(crate) fn convolution(image: &[[f64; 5]; 4], kernel: &[[f64; 3]; 2]) -> [[f64; 3]; 3] {
        let mut out = [[0.0; 3]; 3];
        for (i, row) in out.iter_mut().enumerate() {
            for (j, v) in row.iter_mut().enumerate() {
                for p in 0..2 {
                    for q in 0..3 {
                        *v += image[i + p][j + q] * kernel[p][q];
                    }
                }
            }
        }
        out
    }

    pub(crate) fn floyd_warshall(d: &mut [[f64; 4]; 4]) -> f64 {
        for k in 0..4 {
            for i in 0..4 {
                for j in 0..4 {
                    if i != k && j != k {
                        d[i][j] = d[i][j].min(d[i][k] + d[k][j]);
                    }
                }
            }
        }
        let mut total = 0.0;
        for row in d.iter() {
            total += row.iter().sum::<f64>();
        }
        total / 16.0
    }

    /// The matrix is one slice, row after row.
    pub(crate) fn gauss_seidel(x: &mut [f64], a: &[f64], b: &[f64], sweeps: usize) {
        let n = b.len();
        for _ in 0..sweeps {
            for (i, row) in a.chunks_exact(n).enumerate() {
                x[i] += (b[i] - dot(row, x)) / row[i];
            }
        }
    }

    /// The matrix is one slice, row after row.
    pub(crate) fn gaussian_elimination(a: &mut [f64], n: usize) -> f64 {
        assert!(a.len() == n * n, "the matrix is not square");
        let mut det = 1.0;
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[p * n + k].abs() {
                    p = i;
                }
            }
            if p != k {
                for j in 0..n {
                    a.swap(k * n + j, p * n + j);
                }
                det = -det;
            }
            det *= a[k * n + k];
            let (above, below) = a.split_at_mut((k + 1) * n);
            let pivot = &above[k * n..];
            for row in below.chunks_exact_mut(n) {
                let factor = row[k] / pivot[k];
                for (v, p) in row.iter_mut().zip(pivot) {
                    *v -= factor * p;
                }
            }
        }
        det
    }

    pub(crate) fn gram_schmidt(a: &mut [[f64; 4]]) -> f64 {
        let mut product = 1.0;
        for i in 0..a.len() {
            for j in 0..i {
                let along = dot(&a[i], &a[j]);
                for k in 0..4 {
                    a[i][k] -= along * a[j][k];
                }
            }
            let row = &mut a[i];
            let length = dot(row, row).sqrt();
            for v in row.iter_mut() {
                *v /= length;
            }
            product *= length;
        }
        product
    }

    pub(crate) fn heat_2d(u: &mut [[f64; 6]], k: f64, n: usize) -> f64 {
        for _ in 0..n {
            let old = u.to_vec();
            for i in 1..u.len() - 1 {
                for j in 1..5 {
                    let c = old[i][j];
                    let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                    u[i][j] = c + k * (around - 4.0 * c);
                }
            }
        }
        let mut total = 0.0;
        for row in u.iter() {
            for v in row {
                total += v;
            }
        }
        total / (u.len() * 6) as f64
    }

    pub(crate) fn jacobi(a: &[[f64; 4]], b: &[f64], #[nondiff] tol: f64) -> f64 {
        let mut x = vec![0.0; b.len()];
        loop {
            let mut change: f64 = 0.0;
            let mut new = vec![0.0; b.len()];
            for (i, row) in a.iter().enumerate() {
                new[i] = x[i] + (b[i] - dot(row, &x)) / row[i];
                change = change.max((new[i] - x[i]).abs());
            }
            x = new;
            if change <= tol {
                return x[0] + x[x.len() - 1];
            }
        }
    }

    pub(crate) fn markov_chain(
        p: &[f64; 3],
        matrix: &[[f64; 3]; 3],
        cost: &[f64; 3],
        discount: f64,
        n: usize,
    ) -> f64 {
        let mut p = *p;
        let (mut total, mut weight) = (0.0, 1.0);
        for _ in 0..n {
            total += weight * dot(&p, cost);
            let mut next = [0.0; 3];
            for (v, row) in p.iter().zip(matrix) {
                for (to, chance) in next.iter_mut().zip(row) {
                    *to += v * chance;
                }
            }
            p = next;
            weight *= discount;
        }
        total
    }

    pub(crate) fn matrix_exponential(a: &[[f64; 2]; 2]) -> [[f64; 2]; 2] {
        let mut term = [[1.0, 0.0], [0.0, 1.0]];
        let mut total = term;
        let mut k = 0.0;
        loop {
            k += 1.0;
            let mut next = [[0.0; 2]; 2];
            let mut largest: f64 = 0.0;
            for i in 0..2 {
                for j in 0..2 {
                    next[i][j] = (term[i][0] * a[0][j] + term[i][1] * a[1][j]) / k;
                    total[i][j] += next[i][j];
                    largest = largest.max(next[i][j].abs());
                }
            }
            term = next;
            if largest <= 1e-17 {
                break total;
            }
        }
    }

    fn accelerations(x: &[[f64; 2]], m: &[f64]) -> Vec<[f64; 2]> {
        let mut a = vec![[0.0; 2]; x.len()];
        for i in 0..m.len() {
            for j in 0..m.len() {
                if i == j {
                    continue;
                }
                let d = [x[j][0] - x[i][0], x[j][1] - x[i][1]];
                let pull = m[j] / (d[0] * d[0] + d[1] * d[1] + 0.01).powf(1.5);
                a[i][0] += pull * d[0];
                a[i][1] += pull * d[1];
            }
        }
        a
    }

    pub(crate) fn n_body(
        x: &mut [[f64; 2]],
        v: &mut [[f64; 2]],
        m: &[f64],
        dt: f64,
        n: usize,
    ) -> f64 {
        let mut a = accelerations(x, m);
        for _ in 0..n {
            for i in 0..m.len() {
                for k in 0..2 {
                    v[i][k] += 0.5 * dt * a[i][k];
                    x[i][k] += dt * v[i][k];
                }
            }
            a = accelerations(x, m);
            for (v, a) in v.iter_mut().zip(&a) {
                v[0] += 0.5 * dt * a[0];
                v[1] += 0.5 * dt * a[1];
            }
        }
        (x[0][0] - x[1][0]).hypot(x[0][1] - x[1][1])
    }

    /// The matrix is one slice, row after row.
    pub(crate) fn power_iteration(a: &[f64], size: usize, n: usize) -> f64 {
        let mut v = vec![1.0; size];
        for _ in 0..n {
            let new: Vec<f64> = a.chunks_exact(size).map(|row| dot(row, &v)).collect();
            let length = dot(&new, &new).sqrt();
            v = new.iter().map(|x| x / length).collect();
        }
        a.chunks_exact(size).zip(&v).map(|(row, x)| x * dot(row, &v)).sum()
    }

    pub(crate) fn tensor_contraction(t: &[[[f64; 3]; 3]; 3], v: &[f64; 3], n: usize) -> f64 {
        let mut v = *v;
        for _ in 0..n {
            let mut new = [0.0; 3];
            for i in 0..3 {
                for j in 0..3 {
                    new[i] += v[j] * dot(&t[i][j], &v);
                }
            }
            let length = dot(&new, &new).sqrt();
            for i in 0..3 {
                v[i] = new[i] / length;
            }
        }
        let mut total = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                total += v[i] * v[j] * dot(&t[i][j], &v);
            }
        }
        total
    }

    pub(crate) fn while_norm(
        a: &[[f64; 3]; 3],
        b: &[f64; 3],
        rate: f64,
        #[nondiff] tol: f64,
    ) -> f64 {
        let mut x = [0.0; 3];
        let mut r = *b;
        while dot(&r, &r).sqrt() > tol {
            for i in 0..3 {
                x[i] += rate * r[i];
            }
            for i in 0..3 {
                r[i] = b[i] - dot(&a[i], &x);
            }
        }
        dot(&x, &x)
    }

    const SIZE: usize = 12;
    type Plate = [[f64; SIZE]; SIZE];

    pub(crate) fn workload_d(u: &mut Plate, n: usize) -> f64 {
        for _ in 0..n {
            let old = *u;
            for i in 1..SIZE - 1 {
                for j in 1..SIZE - 1 {
                    let c = old[i][j];
                    let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                    u[i][j] = c + 0.2 * (around - 4.0 * c);
                }
            }
        }
        let mut sum = 0.0;
        for row in u.iter() {
            sum += dot(row, row);
        }
        0.5 * sum
    }

    pub(crate) fn workload_d2(u: &mut Plate, n: usize) -> f64 {
        for _ in 0..n {
            let old = *u;
            for i in 1..SIZE - 1 {
                for j in 1..SIZE - 1 {
                    let c = old[i][j];
                    let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                    u[i][j] = c + 0.2 * (around - 4.0 * c) + 0.01 * (c - c.powi(3));
                }
            }
        }
        let mut sum = 0.0;
        for row in u.iter() {
            sum += dot(row, row);
        }
        0.5 * sum
    }

    pub(crate) fn workload_f1(a: &[[f64; 5]], #[nondiff] v: &[f64], #[nondiff] tol: f64) -> f64 {
        let mut v = v.to_vec();
        let mut change = 1.0;
        while change > tol {
            let mut new: Vec<f64> = a.iter().map(|row| dot(row, &v)).collect();
            let length = dot(&new, &new).sqrt();
            new.iter_mut().for_each(|x| *x /= length);
            change = new.iter().zip(&v).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            v = new;
        }
        let quadratic: f64 = a.iter().zip(&v).map(|(row, x)| x * dot(row, &v)).sum();
        quadratic + v.iter().enumerate().map(|(i, x)| (i as f64).sin() * x).sum::<f64>()
    }
}
