//! The workloads as plain Rust functions, differentiated ahead of time by `#[differentiable]`, against those by hand.
//!
//! Each is written as one would write it in Rust: loops over elements.

use crate::by_hand::{A, KEPLER, LORENZ};
use crate::clock::Least;
use crate::data;
use crate::hand;
use crate::workload::Workload;
use std::time::Instant;
use wengert::differentiable;

/// Workload a.
#[differentiable]
pub fn mean_state(w: f64, b: f64, h0: f64, n: usize) -> f64 {
    let mut h = h0;
    let mut total = 0.0;
    for _ in 0..n {
        h = (w * h + b).tanh();
        total += h;
    }
    total / n as f64
}

/// Workload b.
#[differentiable]
pub fn rnn(
    w: &[[f64; 64]; 64],
    u: &[[f64; 64]; 64],
    b: &[f64; 64],
    #[nondiff] x: &[[f64; 64]],
) -> f64 {
    let mut h = [0.0; 64];
    let mut total = 0.0;
    for row in x {
        let mut new = [0.0; 64];
        for i in 0..64 {
            let by_state: f64 = w[i].iter().zip(&h).map(|(w, h)| w * h).sum();
            let by_input: f64 = u[i].iter().zip(row).map(|(u, x)| u * x).sum();
            new[i] = (by_state + by_input + b[i]).tanh();
        }
        h = new;
        for v in h {
            total += 0.5 * v * v;
        }
    }
    total / x.len() as f64
}

/// Workload c.
#[differentiable]
pub fn lorenz(sigma: f64, rho: f64, beta: f64, x0: f64, y0: f64, z0: f64, n: usize) -> f64 {
    let slope = |x: f64, y: f64, z: f64| (sigma * (y - x), x * (rho - z) - y, x * y - beta * z);
    let dt = 2.0 / n as f64;
    let h = dt / 2.0;
    let (mut x, mut y, mut z) = (x0, y0, z0);
    for _ in 0..n {
        let (ax, ay, az) = slope(x, y, z);
        let (bx, by, bz) = slope(x + h * ax, y + h * ay, z + h * az);
        let (cx, cy, cz) = slope(x + h * bx, y + h * by, z + h * bz);
        let (dx, dy, dz) = slope(x + dt * cx, y + dt * cy, z + dt * cz);
        x += dt / 6.0 * (ax + 2.0 * bx + 2.0 * cx + dx);
        y += dt / 6.0 * (ay + 2.0 * by + 2.0 * cy + dy);
        z += dt / 6.0 * (az + 2.0 * bz + 2.0 * cz + dz);
    }
    x
}

/// Workload d.
#[differentiable]
pub fn heat(u: &mut [[f64; 256]], steps: usize) -> f64 {
    let n = u.len();
    for _ in 0..steps {
        let old = u.to_vec();
        for i in 1..n - 1 {
            for j in 1..255 {
                let c = old[i][j];
                let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                u[i][j] = c + 0.2 * (around - 4.0 * c);
            }
        }
    }
    let mut sum = 0.0;
    for row in u.iter() {
        for v in row {
            sum += v * v;
        }
    }
    0.5 * sum
}

/// Workload d2.
#[differentiable]
pub fn react(u: &mut [[f64; 256]], steps: usize) -> f64 {
    let n = u.len();
    for _ in 0..steps {
        let old = u.to_vec();
        for i in 1..n - 1 {
            for j in 1..255 {
                let c = old[i][j];
                let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                u[i][j] = c + 0.2 * (around - 4.0 * c) + 0.01 * (c - c * c * c);
            }
        }
    }
    let mut sum = 0.0;
    for row in u.iter() {
        for v in row {
            sum += v * v;
        }
    }
    0.5 * sum
}

/// Workload e.
#[differentiable]
#[allow(clippy::too_many_arguments)]
pub fn price(
    #[nondiff] z1: &[[f64; 252]],
    #[nondiff] z2: &[[f64; 252]],
    v0: f64,
    kappa: f64,
    theta: f64,
    xi: f64,
    rho: f64,
    #[nondiff] r: f64,
) -> f64 {
    const DT: f64 = 1.0 / 252.0;
    let other = (1.0 - rho * rho).sqrt();
    let mut total = 0.0;
    for i in 0..z1.len() {
        let (mut x, mut v) = (100.0_f64.ln(), v0);
        for t in 0..252 {
            let vp = v.max(1e-6);
            let s = (vp * DT).sqrt();
            x += (r - vp / 2.0) * DT + s * z1[i][t];
            v += kappa * (theta - vp) * DT + xi * s * (rho * z1[i][t] + other * z2[i][t]);
        }
        total += (x.exp() - 100.0).max(0.0);
    }
    (-r).exp() * total / z1.len() as f64
}

/// Workload f1.
#[differentiable]
pub fn leading(a: &[[f64; 64]; 64], #[nondiff] start: &[f64; 64], #[nondiff] tol: f64) -> f64 {
    let mut v = *start;
    let mut change = 1.0;
    while change > tol {
        let mut new = [0.0; 64];
        let mut size = 0.0;
        for i in 0..64 {
            new[i] = a[i].iter().zip(&v).map(|(a, v)| a * v).sum();
            size += new[i] * new[i];
        }
        let size = size.sqrt();
        let mut square = 0.0;
        for i in 0..64 {
            new[i] /= size;
            square += (new[i] - v[i]) * (new[i] - v[i]);
        }
        change = square.sqrt();
        v = new;
    }
    let mut total = 0.0;
    for i in 0..64 {
        for j in 0..64 {
            total += v[i] * a[i][j] * v[j];
        }
        total += (i as f64).sin() * v[i];
    }
    total
}

/// Workload f2.
#[differentiable]
pub fn kepler(m: f64, e: f64) -> f64 {
    let mut x = m;
    loop {
        let new = m + e * x.sin();
        let change = new - x;
        x = new;
        if change.abs() <= 1e-14 {
            break x;
        }
    }
}

/// Workload f3.
#[differentiable]
pub fn gauss_seidel(a: f64, b: &[f64]) -> f64 {
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

/// Workload g.
#[differentiable]
pub fn final_loss(
    #[nondiff] a: &[[f64; 50]],
    #[nondiff] y: &[f64],
    lr: f64,
    b1: f64,
    b2: f64,
    n: usize,
) -> f64 {
    let m = a.len();
    assert!(y.len() == m);
    let mut x = [0.0; 50];
    let mut mean = [0.0; 50];
    let mut var = [0.0; 50];
    let (mut p1, mut p2) = (1.0, 1.0);
    for _ in 0..n {
        let mut g = [0.0; 50];
        for k in 0..m {
            let mut r = -y[k];
            for j in 0..50 {
                r += a[k][j] * x[j];
            }
            for j in 0..50 {
                g[j] += a[k][j] * r;
            }
        }
        p1 *= b1;
        p2 *= b2;
        for j in 0..50 {
            let s = g[j] / m as f64;
            mean[j] = b1 * mean[j] + (1.0 - b1) * s;
            var[j] = b2 * var[j] + (1.0 - b2) * s * s;
            x[j] -= lr * (mean[j] / (1.0 - p1)) / ((var[j] / (1.0 - p2)).sqrt() + 1e-8);
        }
    }
    let mut total = 0.0;
    for k in 0..m {
        let mut r = -y[k];
        for j in 0..50 {
            r += a[k][j] * x[j];
        }
        total += r * r;
    }
    total / (2.0 * m as f64)
}

/// Workload h.
#[differentiable]
pub fn in_place(x: &mut [f64]) -> f64 {
    for i in 1..x.len() {
        x[i] = x[i - 1] * x[i] + x[i].sin();
    }
    x.iter().sum()
}

/// Computes value and gradient.
pub type Task = Box<dyn FnMut() -> (f64, Vec<f64>)>;

/// Value and gradient of a workload at a size, by what `#[differentiable]` has made: ready to be run again and again.
pub fn task(name: &str, n: usize) -> Option<Task> {
    fn rows<const N: usize>(x: &[f64]) -> Vec<[f64; N]> {
        x.as_chunks::<N>().0.to_vec()
    }
    fn square(x: &[f64]) -> Box<[[f64; 64]; 64]> {
        let mut made = Box::new([[0.0; 64]; 64]);
        made.as_flattened_mut().copy_from_slice(x);
        made
    }
    Some(match name {
        "a" => Box::new(move || {
            let (value, (w, b, h)) = mean_state::value_and_grad(A[0], A[1], A[2], n);
            (value, vec![w, b, h])
        }),
        "b" => {
            let [w, u, b, x] = data::rnn(n);
            let (w, u, x) = (square(&w), square(&u), rows(&x));
            let b: [f64; 64] = b.try_into().ok()?;
            Box::new(move || {
                let (value, (w, u, b)) = rnn::value_and_grad(&w, &u, &b, &x);
                (value, [w.as_flattened(), u.as_flattened(), &b].concat())
            })
        }
        "c" => Box::new(move || {
            let [s, r, b, x, y, z] = LORENZ;
            let (value, g) = lorenz::value_and_grad(s, r, b, x, y, z, n);
            (value, vec![g.0, g.1, g.2, g.3, g.4, g.5])
        }),
        "d" | "d2" => {
            let plate = rows::<256>(&data::plate(256));
            let (mut u, reacts) = (plate.clone(), name == "d2");
            Box::new(move || {
                u.copy_from_slice(&plate);
                let f = if reacts { react::value_and_grad } else { heat::value_and_grad };
                let (value, gradient) = f(&mut u, n);
                (value, gradient.as_flattened().to_vec())
            })
        }
        "e" => {
            let [z1, z2] = data::normals(n, data::HESTON.1).map(|z| rows::<252>(&z));
            Box::new(move || {
                let [v, k, t, x, r] = data::HESTON_POINT;
                let (value, g) = price::value_and_grad(&z1, &z2, v, k, t, x, r, data::HESTON_RATE);
                (value, vec![g.0, g.1, g.2, g.3, g.4])
            })
        }
        "f1" => {
            let a = square(&data::power_matrix());
            Box::new(move || {
                let (value, gradient) = leading::value_and_grad(&a, &[0.125; 64], 1e-10);
                (value, gradient.as_flattened().to_vec())
            })
        }
        "f2" => Box::new(|| {
            let (value, (m, e)) = kepler::value_and_grad(KEPLER[0], KEPLER[1]);
            (value, vec![m, e])
        }),
        "f3" => {
            let b = data::chain();
            Box::new(move || {
                let (value, (a, mut g)) = gauss_seidel::value_and_grad(data::CHAIN_DIAGONAL, &b);
                g.push(a);
                (value, g)
            })
        }
        "g" => {
            let [a, y] = data::least_squares();
            let a = rows::<50>(&a);
            Box::new(move || {
                let [lr, b1, b2] = data::ADAM_POINT;
                let (value, (l, p, q)) = final_loss::value_and_grad(&a, &y, lr, b1, b2, n);
                (value, vec![l, p, q])
            })
        }
        "h" => {
            let start = hand::h_start(n);
            let mut x = start.clone();
            Box::new(move || {
                x.copy_from_slice(&start);
                in_place::value_and_grad(&mut x)
            })
        }
        _ => return None,
    })
}

/// What a workload takes.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload.
    pub name: &'static str,
    /// Seconds for value and gradient.
    pub gradient_s: f64,
    /// The same by hand.
    pub hand_s: f64,
    /// By hand with vector lanes, where looking ahead allows them.
    pub lanes_s: Option<f64>,
    /// How many times the time by hand it should take at most.
    pub bar: f64,
    /// Disagreement with the reference, and whether that is small enough.
    pub error: Option<(f64, bool)>,
}

impl Row {
    /// How many times the time by hand.
    pub fn ratio(&self) -> f64 {
        self.gradient_s / self.hand_s
    }

    /// What the columns of [`Row::line`] are.
    pub fn heading() -> String {
        format!(
            "{:<4} {:>11} {:>11} {:>7} {:>5} {:>7} {:>11} {:>9}",
            "", "gradient s", "by hand s", "ratio", "bar", "", "in lanes s", "error"
        )
    }

    /// The row of a table.
    pub fn line(&self) -> String {
        let Row { name, gradient_s, hand_s, lanes_s, bar, error } = self;
        let lanes = lanes_s.map_or("-".into(), |s| format!("{s:.3e}"));
        let error = error.map_or("-".into(), |(e, _)| format!("{e:.1e}"));
        let ratio = self.ratio();
        let met = if ratio <= *bar { "met" } else { "missed" };
        format!(
            "{name:<4} {gradient_s:>11.3e} {hand_s:>11.3e} {ratio:>7.2} {bar:>5.2} {met:>7} {lanes:>11} {error:>9}"
        )
    }

    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let Row { name, gradient_s, hand_s, lanes_s, bar, .. } = self;
        let lanes = lanes_s.map_or("null".into(), |s| format!("{s:e}"));
        let ratio = self.ratio();
        format!(
            "{{\"name\": \"{name}\", \"gradient_s\": {gradient_s:e}, \"hand_s\": {hand_s:e}, \"hand_lanes_s\": {lanes}, \"ratio\": {ratio:.3}, \"bar\": {bar}}}"
        )
    }
}

/// Times a workload, turn by turn with the same by hand.
pub fn measure(workload: &'static Workload, budget: f64) -> Option<Row> {
    let n = workload.size();
    let mut task = task(workload.name, n)?;
    let mut by_hand = (workload.hand)(n);
    let mut lanes = workload.lanes.map(|lanes| lanes(n));
    let [mut ahead, mut hand, mut in_lanes] = [Least::default(); 3];
    let (start, mut error) = (Instant::now(), None);
    let mut runs = 0;
    while runs < 3 || start.elapsed().as_secs_f64() < budget {
        let (value, gradient) = ahead.time(&mut task);
        error = workload.compare(n, value, &gradient);
        std::hint::black_box(hand.time(|| by_hand.run()));
        if let Some(lanes) = &mut lanes {
            std::hint::black_box(in_lanes.time(|| lanes.run()));
        }
        runs += 1;
    }
    Some(Row {
        name: workload.name,
        gradient_s: ahead.seconds(),
        hand_s: hand.seconds(),
        lanes_s: lanes.is_some().then(|| in_lanes.seconds()),
        bar: workload.bars.cc,
        error,
    })
}
