//! The examples about networks, chances and fits, as one would write them in Rust.

use wengert::differentiable;

#[differentiable]
#[allow(clippy::needless_range_loop)]
#[allow(clippy::too_many_arguments)]
pub(crate) mod models {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..a.len() {
            sum += a[i] * b[i];
        }
        sum
    }

    fn largest(x: &[f64]) -> f64 {
        x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The logarithm of a sum of exponentials.
    fn log_sum(x: &[f64]) -> f64 {
        let top = largest(x);
        top + x.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
    }

    fn project(x: &[[f64; 3]], m: &[[f64; 2]; 3]) -> Vec<[f64; 2]> {
        let mut y = vec![[0.0; 2]; x.len()];
        for (row, out) in x.iter().zip(&mut y) {
            for (v, weights) in row.iter().zip(m) {
                for (o, w) in out.iter_mut().zip(weights) {
                    *o += v * w;
                }
            }
        }
        y
    }

    pub(crate) fn attention(
        x: &[[f64; 3]],
        q: &[[f64; 2]; 3],
        k: &[[f64; 2]; 3],
        v: &[[f64; 2]; 3],
    ) -> f64 {
        let (queries, keys, values) = (project(x, q), project(x, k), project(x, v));
        let size = (q.len() as f64).sqrt();
        let mut total = 0.0;
        for query in &queries {
            let scores: Vec<f64> = keys.iter().map(|key| dot(query, key) / size).collect();
            let top = largest(&scores);
            let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let mut mixed = [0.0; 2];
            for (w, value) in weights.iter().zip(&values) {
                mixed[0] += w / sum * value[0];
                mixed[1] += w / sum * value[1];
            }
            total += dot(&mixed, &mixed);
        }
        total
    }

    pub(crate) fn hidden_markov(
        start: &[f64; 3],
        step: &[[f64; 3]; 3],
        emit: &[[f64; 2]; 3],
        observed: &[usize],
    ) -> f64 {
        let mut alpha = *start;
        for i in 0..3 {
            alpha[i] += emit[i][observed[0]];
        }
        for &o in &observed[1..] {
            let mut next = [0.0; 3];
            for j in 0..3 {
                let paths = [alpha[0] + step[0][j], alpha[1] + step[1][j], alpha[2] + step[2][j]];
                next[j] = log_sum(&paths) + emit[j][o];
            }
            alpha = next;
        }
        log_sum(&alpha)
    }

    pub(crate) fn k_means(centres: &mut [[f64; 2]], points: &[[f64; 2]]) -> f64 {
        let square = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        let k = centres.len();
        let mut sums = vec![[0.0; 2]; k];
        let mut counts = vec![0_u32; k];
        let mut nearest = vec![0; points.len()];
        for (i, p) in points.iter().enumerate() {
            let mut least = f64::INFINITY;
            for (j, c) in centres.iter().enumerate() {
                let distance = square(c, p);
                if distance < least {
                    (nearest[i], least) = (j, distance);
                }
            }
            counts[nearest[i]] += 1;
            for (sum, v) in sums[nearest[i]].iter_mut().zip(p) {
                *sum += v;
            }
        }
        for j in 0..k {
            if counts[j] > 0 {
                for d in 0..2 {
                    centres[j][d] = sums[j][d] / f64::from(counts[j]);
                }
            }
        }
        let mut total = 0.0;
        for (p, &j) in points.iter().zip(&nearest) {
            total += square(p, &centres[j]);
        }
        total
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    pub(crate) fn lstm(
        inputs: &[[f64; 2]],
        wf: &[[f64; 5]; 3],
        wi: &[[f64; 5]; 3],
        wo: &[[f64; 5]; 3],
        wc: &[[f64; 5]; 3],
        bias: f64,
    ) -> f64 {
        let mut h = [0.0; 3];
        let mut c = [0.0; 3];
        for x in inputs {
            let z = [h[0], h[1], h[2], x[0], x[1]];
            for i in 0..3 {
                let keep = sigmoid(dot(&wf[i], &z) + bias);
                c[i] = keep * c[i] + sigmoid(dot(&wi[i], &z)) * dot(&wc[i], &z).tanh();
                h[i] = sigmoid(dot(&wo[i], &z)) * c[i].tanh();
            }
        }
        h.iter().map(|v| v * v).sum()
    }

    pub(crate) fn relu_network(
        x: &[f64; 3],
        weights: &[[[f64; 3]; 3]],
        biases: &[[f64; 3]],
    ) -> f64 {
        let mut h = *x;
        for (layer, bias) in weights.iter().zip(biases) {
            let mut new = *bias;
            for i in 0..3 {
                new[i] += dot(&layer[i], &h);
            }
            for v in &mut new {
                if *v < 0.0 {
                    *v = 0.0;
                }
            }
            h = new;
        }
        h.iter().sum()
    }

    pub(crate) fn rnn(
        inputs: &[[f64; 2]],
        target: &[f64; 2],
        w: &[[f64; 3]; 3],
        u: &[[f64; 2]; 3],
        v: &[[f64; 3]; 2],
        b: &[f64; 3],
    ) -> f64 {
        let mut h = [0.0; 3];
        for x in inputs {
            let old = h;
            for i in 0..3 {
                h[i] = (dot(&w[i], &old) + dot(&u[i], x) + b[i]).tanh();
            }
        }
        let mut total = 0.0;
        for (row, target) in v.iter().zip(target) {
            total += (dot(row, &h) - target).powi(2);
        }
        0.5 * total
    }

    pub(crate) fn softmax_regression(
        x: &[[f64; 3]],
        w: &[[f64; 3]; 3],
        b: &[f64; 3],
        decay: f64,
        labels: &[usize],
    ) -> f64 {
        let mut total = 0.0;
        for (row, &label) in x.iter().zip(labels) {
            let mut logits = *b;
            for (v, weights) in row.iter().zip(w) {
                for (logit, weight) in logits.iter_mut().zip(weights) {
                    *logit += v * weight;
                }
            }
            total += log_sum(&logits) - logits[label];
        }
        let mut squares = 0.0;
        for row in w {
            squares += row.iter().map(|v| v * v).sum::<f64>();
        }
        total / x.len() as f64 + decay * squares
    }

    pub(crate) fn viterbi(
        start: &[f64; 3],
        step: &[[f64; 3]; 3],
        emit: &[[f64; 2]; 3],
        observed: &[usize],
    ) -> f64 {
        let mut score = [0.0; 3];
        for (i, s) in score.iter_mut().enumerate() {
            *s = start[i] + emit[i][observed[0]];
        }
        for &o in observed.iter().skip(1) {
            let old = score;
            for j in 0..3 {
                let mut best = f64::NEG_INFINITY;
                for i in 0..3 {
                    best = best.max(old[i] + step[i][j]);
                }
                score[j] = best + emit[j][o];
            }
        }
        score[0].max(score[1]).max(score[2])
    }

    pub(crate) fn workload_b(
        w: &[[f64; 8]; 8],
        u: &[[f64; 8]; 8],
        b: &[f64; 8],
        x: &[[f64; 8]],
    ) -> f64 {
        let mut h = [0.0; 8];
        let mut total = 0.0;
        for row in x {
            let mut new = *b;
            for i in 0..8 {
                for j in 0..8 {
                    new[i] += w[i][j] * h[j] + u[i][j] * row[j];
                }
                new[i] = new[i].tanh();
            }
            h = new;
            total += 0.5 * dot(&h, &h);
        }
        total / x.len() as f64
    }

    const STRIKE: f64 = 100.0;
    const DT: f64 = 1.0 / 252.0;

    pub(crate) fn workload_e(
        z1: &[[f64; 12]],
        v0: f64,
        kappa: f64,
        theta: f64,
        xi: f64,
        rho: f64,
        #[nondiff] z2: &[[f64; 12]],
        #[nondiff] r: f64,
    ) -> f64 {
        let other = (1.0 - rho * rho).sqrt();
        let mut total = 0.0;
        for (first, second) in z1.iter().zip(z2) {
            let (mut x, mut v) = (100.0_f64.ln(), v0);
            for (a, b) in first.iter().zip(second) {
                let vp = v.max(1e-6);
                let s = (vp * DT).sqrt();
                x += (r - vp / 2.0) * DT + s * a;
                v += kappa * (theta - vp) * DT + xi * s * (rho * a + other * b);
            }
            total += (x.exp() - STRIKE).max(0.0);
        }
        (-r).exp() * total / z1.len() as f64
    }

    pub(crate) fn workload_g(
        a: &[[f64; 3]],
        y: &[f64],
        lr: f64,
        b1: f64,
        b2: f64,
        n: usize,
    ) -> f64 {
        let m = a.len() as f64;
        let mut x = [0.0; 3];
        let mut mean = [0.0; 3];
        let mut var = [0.0; 3];
        let (mut p1, mut p2) = (1.0, 1.0);
        for _ in 0..n {
            let mut g = [0.0; 3];
            for (row, y) in a.iter().zip(y) {
                let r = dot(row, &x) - y;
                for (g, v) in g.iter_mut().zip(row) {
                    *g += v * r / m;
                }
            }
            p1 *= b1;
            p2 *= b2;
            for j in 0..3 {
                mean[j] = b1 * mean[j] + (1.0 - b1) * g[j];
                var[j] = b2 * var[j] + (1.0 - b2) * g[j] * g[j];
                x[j] -= lr * (mean[j] / (1.0 - p1)) / ((var[j] / (1.0 - p2)).sqrt() + 1e-8);
            }
        }
        let total: f64 = a.iter().zip(y).map(|(row, y)| (dot(row, &x) - y).powi(2)).sum();
        total / (2.0 * m)
    }
}
