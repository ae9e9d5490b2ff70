//! Nanoseconds per call, beside those of the standard library.
//!
//!     cargo run --release -p wengert-math --example speed
//!
//! `one after the other`: each argument waits for the result before it, as in a recurrence. `side by side`: calls
//! that do not depend on each other. `every processor`: without the processor's fused multiply-add.

use std::hint::black_box;
use std::time::Instant;
use wengert_math as math;

/// A function of one argument, with what it is compared to.
macro_rules! row {
    ($name:literal, $lo:literal, $hi:literal, $f:expr, $portable:expr, $std:expr) => {
        Row {
            name: $name,
            range: ($lo, $hi),
            chained: |x, y| chained(x, y, $f),
            beside: |x, y| beside(x, y, $f),
            portable: |x, y| beside(x, y, $portable),
            library: |x, y| beside(x, y, $std),
        }
    };
}

/// Computes results from arguments.
type Run = fn(&[f64], &mut [f64]);

struct Row {
    name: &'static str,
    range: (f64, f64),
    chained: Run,
    beside: Run,
    portable: Run,
    library: Run,
}

#[inline(always)]
fn chained(x: &[f64], y: &mut [f64], f: impl Fn(f64) -> f64) {
    // Adds nothing, but waits for the result.
    let last = x.iter().fold(0.0, |y, x| f(x + y * 0.0));
    y[0] = last;
}

#[inline(always)]
fn beside(x: &[f64], y: &mut [f64], f: impl Fn(f64) -> f64) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f(*x);
    }
}

fn nanoseconds(x: &[f64], run: Run) -> f64 {
    let mut y = vec![0.0; x.len()];
    let mut once = || {
        let start = Instant::now();
        run(black_box(x), &mut y);
        black_box(&y);
        start.elapsed().as_secs_f64() * 1e9 / x.len() as f64
    };
    (0..15).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let rows = [
        row!("exp", -5.0, 5.0, math::exp, math::portable::exp, f64::exp),
        row!("log", 0.01, 100.0, math::log, math::portable::log, f64::ln),
        row!("sin", -10.0, 10.0, math::sin, math::portable::sin, f64::sin),
        row!("cos", -10.0, 10.0, math::cos, math::portable::cos, f64::cos),
        row!("tan", -1.2, 1.2, math::tan, math::portable::tan, f64::tan),
        row!("tanh", -4.0, 4.0, math::tanh, math::portable::tanh, f64::tanh),
        row!("atan", -10.0, 10.0, math::atan, math::portable::atan, f64::atan),
        row!("expm1", -5.0, 5.0, math::expm1, math::portable::expm1, f64::exp_m1),
        row!("log1p", -0.9, 50.0, math::log1p, math::portable::log1p, f64::ln_1p),
        row!(
            "pow(x, 1.7)",
            0.1,
            5.0,
            |x| math::pow(x, 1.7),
            |x| math::portable::pow(x, 1.7),
            |x: f64| x.powf(1.7)
        ),
        row!("powi(x, 2)", 0.2, 3.0, |x| math::powi(x, 2), |x| math::portable::powi(x, 2), |_| {
            f64::NAN
        }),
        row!("powi(x, 7)", 0.2, 3.0, |x| math::powi(x, 7), |x| math::portable::powi(x, 7), |_| {
            f64::NAN
        }),
        row!("sigmoid", -5.0, 5.0, math::sigmoid, math::portable::sigmoid, |_| f64::NAN),
        row!("softplus", -5.0, 5.0, math::softplus, math::portable::softplus, |_| f64::NAN),
        row!("erf", -2.5, 2.5, math::erf, math::portable::erf, |_| f64::NAN),
        row!("lgamma", 0.3, 10.0, math::lgamma, math::portable::lgamma, |_| f64::NAN),
        row!(
            "polygamma(0, x)",
            0.5,
            10.0,
            |x| math::polygamma(0, x),
            |x| math::portable::polygamma(0, x),
            |_| f64::NAN
        ),
        row!(
            "polygamma(1, x)",
            0.5,
            10.0,
            |x| math::polygamma(1, x),
            |x| math::portable::polygamma(1, x),
            |_| f64::NAN
        ),
        row!("sin, huge", 1e7, 1e12, math::sin, math::portable::sin, f64::sin),
        row!("floor", -9.0, 9.0, math::floor, math::portable::floor, f64::floor),
    ];
    println!("fused multiply-add: {}", math::fused());
    println!(
        "{:16} {:>20} {:>13} {:>16} {:>10}",
        "ns per call", "one after the other", "side by side", "every processor", "std"
    );
    for row in rows {
        // Neighbours are far apart, so that branches cannot be guessed from them.
        let (lo, hi) = row.range;
        let at = |k: u32| lo + (hi - lo) * f64::from(k.wrapping_mul(0x9e37_79b9) >> 8) / 16777216.0;
        let x: Vec<f64> = (1..=65536).map(at).collect();
        let time = |run| nanoseconds(&x, run);
        let mut probe = [0.0];
        (row.library)(&x[..1], &mut probe);
        println!(
            "{:16} {:20.1} {:13.1} {:16.1} {:>10}",
            row.name,
            time(row.chained),
            time(row.beside),
            time(row.portable),
            if probe[0].is_nan() { "-".into() } else { format!("{:.1}", time(row.library)) }
        );
    }
}
