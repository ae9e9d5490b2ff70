//! `#[derivative(of = f)]`: derivatives written by hand, in functions that `#[differentiable]` is before.

use wengert::{FaultKind, derivative, differentiable};

/// A table between whose points a line is drawn: nothing that wengert would look into.
fn lookup(x: f64) -> f64 {
    static TABLE: std::sync::OnceLock<Vec<f64>> = std::sync::OnceLock::new();
    let table = TABLE.get_or_init(|| (0..12).map(|k| f64::from(k * k)).collect());
    let k = (x as usize).min(10);
    table[k] + (table[k + 1] - table[k]) * (x - k as f64)
}

fn lookup_jvp(x: f64, dx: f64) -> (f64, f64) {
    (lookup(x), (2.0 * x.floor() + 1.0) * dx)
}

#[derivative(of = lookup, jvp = lookup_jvp)]
fn lookup_vjp(x: f64, y: f64, y_bar: f64) -> f64 {
    assert_eq!(y, lookup(x));
    (2.0 * x.floor() + 1.0) * y_bar
}

#[differentiable]
fn walk(x: f64, n: usize) -> f64 {
    let mut y = x;
    for _ in 0..n {
        let z: f64 = lookup(y);
        y = (0.3 * z).sqrt() + 0.1 * x;
    }
    y
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} {b}");
}

fn quotient(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
}

#[test]
fn both_modes() {
    let (y, d) = walk::value_and_grad(2.3, 4);
    near(y, walk(2.3, 4));
    near(d, quotient(|x| walk(x, 4), 2.3));
    assert!((walk::jvp(2.3, 4, 1.0).1 - d).abs() < 1e-13 * d.abs());
    let error = walk::try_hvp(2.3, 4, 1.0).unwrap_err();
    assert!(matches!(error.kind(), FaultKind::NoDerivative(_)));
    let line = include_str!("derivative.rs").lines().position(|l| l.contains("= lookup(y);"));
    assert_eq!(error.line(), line.map(|k| k as u32 + 1));
    assert!(error.to_string().contains("`lookup` is given by its author"), "{error}");
    assert!(error.to_string().contains("in iteration 0 of the loop"), "{error}");
}

/// Arrays, integers, several results; what is kept of a call in a loop comes back in reverse.
mod solver {
    use wengert::derivative;

    /// `m x = v` by elimination, for a diagonal, and how much of it was positive.
    pub(crate) fn solve(m: &[f64], v: [f64; 2], shift: f64, power: i32) -> (Vec<f64>, usize, f64) {
        let x: Vec<f64> = (0..2).map(|k| v[k] / (m[k] + shift).powi(power)).collect();
        let positive = x.iter().filter(|x| **x > 0.0).count();
        (x, positive, shift * 2.0)
    }

    #[derivative(of = solve)]
    pub(crate) fn solve_vjp(
        m: &[f64],
        v: [f64; 2],
        shift: f64,
        power: i32,
        y: (Vec<f64>, usize, f64),
        y_bar: (Vec<f64>, (), f64),
    ) -> (Vec<f64>, [f64; 2], f64) {
        let (x, x_bar) = (y.0, y_bar.0);
        let v_bar = [0, 1].map(|k| x_bar[k] / (m[k] + shift).powi(power));
        let m_bar: Vec<f64> = (0..2)
            .map(|k| -f64::from(power) * x[k] * v_bar[k] * (m[k] + shift).powi(power - 1))
            .collect();
        let shift_bar = m_bar[0] + m_bar[1] + 2.0 * y_bar.2;
        assert!(v[0].is_finite());
        (m_bar, v_bar, shift_bar)
    }

    #[derivative(of = scaled, jvp)]
    pub(crate) fn scaled_jvp(
        v: &[f64],
        a: f64,
        n: usize,
        dv: &[f64],
        da: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let y = scaled(v, a, n);
        let dy = v.iter().zip(dv).map(|(v, dv)| n as f64 * (a * dv + da * v)).collect();
        (y, dy)
    }

    pub(crate) fn scaled(v: &[f64], a: f64, n: usize) -> Vec<f64> {
        v.iter().map(|v| v * a * n as f64).collect()
    }
}

#[differentiable]
fn iterate(m: &[f64], start: f64, n: usize) -> f64 {
    let mut v = [start, 1.0];
    let mut total = 0.0;
    for k in 0..n {
        let (x, positive, twice): (Vec<f64>, usize, f64) =
            solver::solve(m, v, start, 1 + (k % 2) as i32);
        v[0] = x[1] * positive as f64 + twice;
        v[1] = x[0] * x[0];
        total += v[0] * x[1];
    }
    total
}

#[test]
fn arrays_and_several_results() {
    let m = [1.5, 2.5];
    let (y, (dm, ds)) = iterate::value_and_grad(&m, 0.4, 5);
    near(y, iterate(&m, 0.4, 5));
    near(ds, quotient(|s| iterate(&m, s, 5), 0.4));
    near(dm[0], quotient(|a| iterate(&[a, m[1]], 0.4, 5), m[0]));
    near(dm[1], quotient(|b| iterate(&[m[0], b], 0.4, 5), m[1]));
    let error = iterate::try_jvp(&m, 0.4, 5, &[1.0, 0.0], 0.0).unwrap_err();
    assert!(
        error.to_string().contains("given for reverse mode, and not for forward mode"),
        "{error}"
    );
}

#[differentiable]
fn forward_only(v: &[f64], a: f64) -> f64 {
    let y: Vec<f64> = solver::scaled(v, a * a, 3);
    y.iter().map(|y| y.sin()).sum()
}

#[test]
fn forward_mode_alone() {
    let v = [0.3, -0.2];
    let (y, d) = forward_only::jvp(&v, 0.7, &[0.0, 0.0], 1.0);
    near(y, forward_only(&v, 0.7));
    near(d, quotient(|a| forward_only(&v, a), 0.7));
    let (_, d) = forward_only::jvp(&v, 0.7, &[1.0, 0.0], 0.0);
    near(d, quotient(|x| forward_only(&[x, v[1]], 0.7), v[0]));
    let error = forward_only::try_grad(&v, 0.7).unwrap_err();
    assert!(
        error.to_string().contains("given for forward mode, and not for reverse mode"),
        "{error}"
    );
}

/// An adjoint of another shape is an error, not a wrong number.
mod misfit {
    use wengert::derivative;

    pub(crate) fn sum(v: &[f64]) -> f64 {
        v.iter().sum()
    }

    #[derivative(of = sum)]
    pub(crate) fn sum_vjp(v: &[f64], _y: f64, y_bar: f64) -> Vec<f64> {
        vec![y_bar; v.len() - 1]
    }
}

#[differentiable]
fn misfitting(v: &[f64]) -> f64 {
    misfit::sum(v)
}

#[test]
fn adjoints_fit() {
    let error = misfitting::try_grad(&[1.0, 2.0]).unwrap_err();
    assert!(
        error.to_string().contains("`the adjoint that sum_vjp gives` has 1 element"),
        "{error}"
    );
}
