//! The memory that a gradient of `#[differentiable]` takes under a budget, counted where it is allocated.

mod counting;

use counting::most;
use wengert::differentiable;

#[differentiable]
fn lorenz(sigma: f64, rho: f64, beta: f64, n: usize) -> f64 {
    let (mut x, mut y, mut z) = (1.0, 1.0, 1.0);
    let dt = 0.001;
    for _ in 0..n {
        let (dx, dy, dz) = (sigma * (y - x), x * (rho - z) - y, x * y - beta * z);
        x += dt * dx;
        y += dt * dy;
        z += dt * dz;
    }
    x + y + z
}

#[differentiable]
fn plate(u: &[f64], steps: usize) -> f64 {
    let mut now = u.to_vec();
    for _ in 0..steps {
        for i in 1..now.len() - 1 {
            now[i] += 0.1 * (now[i - 1] - 2.0 * now[i] + now[i + 1]) + 0.01 * now[i].sin();
        }
    }
    now.iter().map(|x| x * x).sum()
}

/// One test, because what is counted is of the whole process.
#[test]
fn within_the_budget() {
    const MEMORY: u64 = 1 << 20;
    let n = 1_000_000;
    let limited = lorenz::within(MEMORY);
    limited.grad(10.0, 28.0, 2.5, 1000);
    let taken = most(|| _ = limited.grad(10.0, 28.0, 2.5, n));
    assert!(taken <= MEMORY + MEMORY / 20, "{taken} bytes");
    assert!(taken >= MEMORY / 2, "{taken} bytes");
    let plan = lorenz::plan(10.0, 28.0, 2.5, n);
    let everything = plan.loops[0].everything().unwrap();
    assert!(everything >= 24 * n as u64, "{everything}");
    let forecast = plan.loops[0].forecast(MEMORY).unwrap();
    assert!(forecast.peak_bytes <= MEMORY && forecast.peak_bytes >= MEMORY / 2, "{forecast:?}");
    assert!(forecast.evaluations < 3 * n as u128, "{forecast:?}");

    // Arrays: what the function itself has beside it are the array it is given, copies of that and its adjoint.
    let u: Vec<f64> = (0..1000).map(|k| f64::from(k % 13)).collect();
    let least = most(|| _ = plate::grad(&u, 1));
    let memory = 256 << 10;
    let whole = plate::grad(&u, 400);
    let mut grad = Vec::new();
    let taken = most(|| grad = plate::within(memory).grad(&u, 400));
    assert_eq!(grad, whole);
    assert!(taken <= memory + memory / 20 + least, "{taken} bytes, and {least} at least");
}
