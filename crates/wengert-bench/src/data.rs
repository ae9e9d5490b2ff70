//! The inputs of the workloads: numbers from a counter, so that every program computes with the same ones.

use std::f64::consts::PI;

/// Steps of the recurrent network, and the width of its state.
pub const RNN: (usize, usize) = (1000, 64);
/// Cells along an edge of the plate, and steps.
pub const HEAT: (usize, usize) = (256, 1000);
/// Simulated paths, and days of each.
pub const HESTON: (usize, usize) = (20_000, 252);
/// (v0, kappa, theta, xi, rho) of Heston's model.
pub const HESTON_POINT: [f64; 5] = [0.04, 2.0, 0.05, 0.3, -0.7];
/// The rate of interest.
pub const HESTON_RATE: f64 = 0.02;
/// (lr, b1, b2) of Adam.
pub const ADAM_POINT: [f64; 3] = [0.001, 0.9, 0.999];
/// Rows and columns of Adam's least-squares problem.
pub const ADAM: (usize, usize) = (100, 50);
/// The diagonal of Gauss and Seidel's chain.
pub const CHAIN_DIAGONAL: f64 = 2.01;

/// The 64 random bits with this number (splitmix64 by counter, seed 42).
pub fn bits(i: u64) -> u64 {
    let mut z = 42u64.wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The uniform number in [-0.5, 0.5) with this number.
pub fn uniform(i: u64) -> f64 {
    (bits(i) >> 11) as f64 * 2f64.powi(-53) - 0.5
}

fn uniforms(from: u64, count: usize, scale: f64) -> Vec<f64> {
    (from..from + count as u64).map(|i| scale * uniform(i)).collect()
}

/// W, U, b and the inputs X (one row per step) of the recurrent network.
pub fn rnn(steps: usize) -> [Vec<f64>; 4] {
    let wave = |k: usize| (0.01 * (k / 64 + 1) as f64 * (k % 64 + 1) as f64).sin();
    [
        uniforms(0, 4096, 0.3),
        uniforms(4096, 4096, 0.5),
        uniforms(8192, 64, 0.1),
        (0..64 * steps).map(wave).collect(),
    ]
}

/// The plate at the start, `edge` by `edge`.
pub fn plate(edge: usize) -> Vec<f64> {
    let last = (edge - 1) as f64;
    let cell = |k: usize| {
        let (i, j) = ((k / edge) as f64, (k % edge) as f64);
        (3.0 * PI * i / last).sin() * (2.0 * PI * j / last).sin() + 0.1 * (0.01 * i * j).cos()
    };
    (0..edge * edge).map(cell).collect()
}

/// Two normal numbers per path and step, each as one row per path. Their numbers count the paths of a
/// step, then the steps.
pub fn normals(paths: usize, steps: usize) -> [Vec<f64>; 2] {
    let (mut z1, mut z2) = (vec![0.0; paths * steps], vec![0.0; paths * steps]);
    for t in 0..steps {
        for p in 0..paths {
            let k = (t * paths + p) as u64;
            let unit = 2f64.powi(-53);
            let u1 = ((bits(2 * k) >> 11) + 1) as f64 * unit;
            let u2 = (bits(2 * k + 1) >> 11) as f64 * unit;
            let radius = (-2.0 * u1.ln()).sqrt();
            let (s, c) = (2.0 * PI * u2).sin_cos();
            z1[p * steps + t] = radius * c;
            z2[p * steps + t] = radius * s;
        }
    }
    [z1, z2]
}

/// The symmetric matrix whose leading eigenvector is sought.
pub fn power_matrix() -> Vec<f64> {
    let m = uniforms(0, 4096, 1.0);
    let entry = |k: usize| {
        let (i, j) = (k / 64, k % 64);
        let diagonal = if i == j { 20.0 } else { 0.0 };
        (m[64 * i + j] + m[64 * j + i]) / 2.0 + 5.0 / 64.0 + diagonal
    };
    (0..4096).map(entry).collect()
}

/// The right-hand side of Gauss and Seidel's chain.
pub fn chain() -> Vec<f64> {
    (0..32).map(|i| f64::from(i + 1).sin()).collect()
}

/// Matrix and right-hand side of Adam's least-squares problem.
pub fn least_squares() -> [Vec<f64>; 2] {
    let (rows, columns) = ADAM;
    let count = rows * columns;
    [uniforms(0, count, 1.0), uniforms(count as u64, rows, 1.0)]
}
