//! The examples about rows of numbers, as one would write them in Rust.

use wengert::differentiable;

#[differentiable]
pub(crate) mod arrays {
    pub(crate) fn adam(
        x: &[f64],
        curvature: &[f64],
        rate: f64,
        beta1: f64,
        beta2: f64,
        n: i32,
    ) -> f64 {
        let mut x = x.to_vec();
        let mut m = vec![0.0; x.len()];
        let mut v = vec![0.0; x.len()];
        for step in 1..=n {
            let (p1, p2) = (1.0 - beta1.powi(step), 1.0 - beta2.powi(step));
            for i in 0..x.len() {
                let g = curvature[i] * x[i];
                m[i] = beta1 * m[i] + (1.0 - beta1) * g;
                v[i] = beta2 * v[i] + (1.0 - beta2) * g.powi(2);
                x[i] -= rate * (m[i] / p1) / ((v[i] / p2).sqrt() + 1e-8);
            }
        }
        0.5 * x.iter().zip(curvature).map(|(x, c)| c * x * x).sum::<f64>()
    }

    pub(crate) fn array_map(x: &[f64]) -> Vec<f64> {
        x.iter().map(|x| x * (-x * x).exp()).collect()
    }

    pub(crate) fn bellman_ford(
        length: &[f64],
        tail: &[usize],
        head: &[usize],
        nodes: usize,
    ) -> f64 {
        let mut dist = vec![f64::INFINITY; nodes];
        dist[0] = 0.0;
        for _ in 1..nodes {
            let mut changed = false;
            for ((&i, &j), &l) in tail.iter().zip(head).zip(length) {
                if dist[i] + l < dist[j] {
                    dist[j] = dist[i] + l;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        dist[nodes - 1]
    }

    pub(crate) fn binomial_tree(
        spot: f64,
        strike: f64,
        rate: f64,
        sigma: f64,
        years: f64,
        n: usize,
    ) -> f64 {
        let dt = years / n as f64;
        let up = (sigma * dt.sqrt()).exp();
        let down = 1.0 / up;
        let p = ((rate * dt).exp() - down) / (up - down);
        let discount = (-rate * dt).exp();
        let gain = |i: usize, step: usize| strike - spot * up.powi(2 * i as i32 - step as i32);
        let mut value: Vec<f64> = (0..=n).map(|i| gain(i, n).max(0.0)).collect();
        for step in (0..n).rev() {
            for i in 0..=step {
                let hold = discount * (p * value[i + 1] + (1.0 - p) * value[i]);
                value[i] = gain(i, step).max(hold);
            }
        }
        value[0]
    }

    fn chebyshev(c: &[f64], x: f64) -> f64 {
        let (mut b1, mut b2) = (0.0, 0.0);
        for ck in c.iter().rev() {
            (b1, b2) = (2.0 * x * b1 - b2 + ck, b1);
        }
        b1 - x * b2
    }

    pub(crate) fn clenshaw(c: &[f64], xs: &[f64], ys: &[f64]) -> f64 {
        let mut total = 0.0;
        for (k, (&x, y)) in xs.iter().zip(ys).enumerate() {
            total += (k + 1) as f64 * (chebyshev(c, x) - y).powi(2);
        }
        total
    }

    pub(crate) fn cubic_spline(xs: &[f64], ys: &[f64], x: f64) -> f64 {
        let n = xs.len();
        let h: Vec<f64> = xs.windows(2).map(|w| w[1] - w[0]).collect();
        let slope: Vec<f64> = ys.windows(2).zip(&h).map(|(w, h)| (w[1] - w[0]) / h).collect();
        let mut m = vec![0.0; n];
        let mut c = vec![0.0; n];
        for i in 1..n - 1 {
            let w = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * c[i - 1];
            c[i] = h[i] / w;
            m[i] = (6.0 * (slope[i] - slope[i - 1]) - h[i - 1] * m[i - 1]) / w;
        }
        for i in (1..n - 1).rev() {
            m[i] -= c[i] * m[i + 1];
        }
        let mut k = 0;
        while k < n - 2 && x > xs[k + 1] {
            k += 1;
        }
        let a = (xs[k + 1] - x) / h[k];
        let b = 1.0 - a;
        let bend = (a.powi(3) - a) * m[k] + (b.powi(3) - b) * m[k + 1];
        a * ys[k] + b * ys[k + 1] + bend * h[k].powi(2) / 6.0
    }

    pub(crate) fn double_buffer(u: &[f64], speed: f64, n: usize) -> f64 {
        let mut old = u.to_vec();
        let mut now = u.to_vec();
        let mut new = vec![0.0; u.len()];
        for _ in 0..n {
            for i in 1..u.len() - 1 {
                let bend = now[i - 1] - 2.0 * now[i] + now[i + 1];
                new[i] = 2.0 * now[i] - old[i] + speed * speed * bend;
            }
            std::mem::swap(&mut old, &mut now);
            std::mem::swap(&mut now, &mut new);
        }
        now.iter().map(|v| v * v).sum()
    }

    pub(crate) fn doubling_in_place(x: &mut [f64], n: usize) -> f64 {
        for _ in 0..n {
            for v in x.iter_mut() {
                *v *= 2.0;
            }
        }
        x[0] + 10.0 * x[x.len() - 1]
    }

    pub(crate) fn edit_distance(x: &[f64], y: &[f64], gap: f64, t: f64) -> f64 {
        let soft_min = |all: [f64; 3]| {
            let low = all.iter().copied().fold(f64::INFINITY, f64::min);
            low - t * all.iter().map(|v| ((low - v) / t).exp()).sum::<f64>().ln()
        };
        let width = y.len() + 1;
        let mut d = vec![0.0; (x.len() + 1) * width];
        for j in 1..width {
            d[j] = j as f64 * gap;
        }
        for (i, a) in x.iter().enumerate() {
            let (above, here) = (i * width, (i + 1) * width);
            d[here] = (i + 1) as f64 * gap;
            for (j, b) in y.iter().enumerate() {
                let change = d[above + j] + (a - b).powi(2);
                d[here + j + 1] = soft_min([change, d[above + j + 1] + gap, d[here + j] + gap]);
            }
        }
        d[d.len() - 1]
    }

    pub(crate) fn heat(u: &mut [f64], k: f64, n: usize) -> f64 {
        for _ in 0..n {
            let mut left = u[0];
            for i in 1..u.len() - 1 {
                let here = u[i];
                u[i] += k * (left - 2.0 * here + u[i + 1]);
                left = here;
            }
        }
        u[u.len() / 2]
    }

    pub(crate) fn horner(coefficients: &[f64], x: f64) -> f64 {
        coefficients.iter().fold(0.0, |value, c| value * x + c)
    }

    pub(crate) fn kalman_filter(y: &[f64], q: f64, r: f64, seen: &[u8]) -> f64 {
        let (mut x, mut p, mut total) = (0.0, 1.0, 0.0);
        for (value, &there) in y.iter().zip(seen) {
            p += q;
            if there == 0 {
                continue;
            }
            let s = p + r;
            let e = value - x;
            total -= 0.5 * ((2.0 * std::f64::consts::PI * s).ln() + e * e / s);
            x += p / s * e;
            p *= r / s;
        }
        total
    }

    pub(crate) fn linear_interpolation(xs: &[f64], ys: &[f64], x: f64) -> f64 {
        let (mut low, mut high) = (0, xs.len() - 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if xs[middle] <= x { low = middle } else { high = middle }
        }
        let t = (x - xs[low]) / (xs[high] - xs[low]);
        (1.0 - t) * ys[low] + t * ys[high]
    }

    pub(crate) fn prefix_sum(x: &mut [f64]) {
        for i in 1..x.len() {
            x[i] += x[i - 1];
        }
    }

    pub(crate) fn red_black(u: &mut [f64], f: &[f64], omega: f64, sweeps: usize) -> f64 {
        for _ in 0..sweeps {
            for first in [1, 2] {
                for i in (first..u.len() - 1).step_by(2) {
                    u[i] += omega * (0.5 * (u[i - 1] + u[i + 1] + f[i]) - u[i]);
                }
            }
        }
        for odd in u.iter_mut().skip(1).step_by(2) {
            *odd *= 2.0;
        }
        u.iter().map(|v| v * v).sum()
    }

    pub(crate) fn sum_of_squares(x: &[f64]) -> f64 {
        x.iter().map(|v| v * v).sum()
    }

    pub(crate) fn thomas(diagonal: &mut [f64], x: &mut [f64], lower: &[f64], upper: &[f64]) {
        let n = x.len();
        for i in 1..n {
            let w = lower[i - 1] / diagonal[i - 1];
            diagonal[i] -= w * upper[i - 1];
            x[i] -= w * x[i - 1];
        }
        x[n - 1] /= diagonal[n - 1];
        for i in (0..n - 1).rev() {
            x[i] = (x[i] - upper[i] * x[i + 1]) / diagonal[i];
        }
    }

    pub(crate) fn trimmed_mean(x: &[f64], k: usize) -> f64 {
        let mut y = x.to_vec();
        for i in 1..y.len() {
            let mut j = i;
            while j > 0 && y[j - 1] > y[j] {
                y.swap(j - 1, j);
                j -= 1;
            }
        }
        let kept = &y[k..y.len() - k];
        kept.iter().sum::<f64>() / kept.len() as f64
    }

    pub(crate) fn workload_f3(a: f64, b: &[f64]) -> f64 {
        let n = b.len();
        let mut x = vec![0.0; n + 2];
        let mut change = 1.0;
        while change > 1e-12 {
            change = 0.0;
            for i in 1..=n {
                let new = (b[i - 1] + x[i - 1] + x[i + 1]) / a;
                change = f64::max(change, (new - x[i]).abs());
                x[i] = new;
            }
        }
        x.iter().map(|v| v * v).sum()
    }

    pub(crate) fn workload_h(x: &mut [f64]) -> f64 {
        for i in 1..x.len() {
            x[i] = x[i - 1] * x[i] + x[i].sin();
        }
        x.iter().sum()
    }
}
