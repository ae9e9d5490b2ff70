//! `#[differentiable]`: what is made of plain Rust functions.

use wengert::differentiable;

/// Newton's square root.
#[differentiable]
fn root(a: f64) -> f64 {
    let mut x = 1.0;
    while (x * x - a).abs() > 1e-12 {
        x -= (x * x - a) / (2.0 * x);
    }
    x
}

#[test]
fn a_while_loop() {
    let (x, d) = root::value_and_grad(2.0);
    assert!((x - root(2.0)).abs() < 1e-15);
    assert!((d - 0.5 / 2f64.sqrt()).abs() < 1e-6);
    assert_eq!(root::grad(2.0), d);
    assert_eq!(root::jvp(2.0, 1.0), (x, d));
    assert_eq!(root::vjp(2.0, 1.0), (x, d));
    let second = root::hvp(2.0, 1.0);
    assert!((second + 0.25 * 2f64.powf(-1.5)).abs() < 1e-3, "{second}");
}

#[differentiable]
fn energy(x: &[f64], k: f64, #[nondiff] rest: f64) -> f64 {
    let mut total = 0.0;
    for w in x.windows(2) {
        let stretch = w[1] - w[0] - rest;
        total += 0.5 * k * stretch * stretch;
    }
    total
}

#[test]
fn slices_and_numbers() {
    let x = [0.0, 1.5, 2.0, 4.0];
    let (value, (dx, dk)) = energy::value_and_grad(&x, 3.0, 1.0);
    assert_eq!(value, energy(&x, 3.0, 1.0));
    assert_eq!(dx, [-1.5, 3.0, -4.5, 3.0]);
    assert_eq!(dk, 0.75);
    let error = energy::try_jvp(&x, 3.0, 1.0, &[1.0], 0.0).unwrap_err();
    assert_eq!(error.to_string(), "shapes do not fit: `dx` has 1 element, `x` has 4 elements");
}

#[differentiable]
fn relax(u: &mut [f64], steps: usize, rate: f64) {
    for _ in 0..steps {
        let before = u.to_vec();
        for i in 1..u.len() - 1 {
            u[i] += rate * (before[i - 1] - 2.0 * before[i] + before[i + 1]);
        }
    }
}

#[test]
fn arrays_changed_in_place() {
    let start = [0.0, 1.0, 0.0, 2.0, 0.0];
    let (mut u, mut plain) = (start, start);
    relax(&mut plain, 3, 0.1);
    relax::value(&mut u, 3, 0.1);
    assert!(u.iter().zip(plain).all(|(a, b)| (a - b).abs() < 1e-15));
    let (mut u, mut du) = (start, [0.0, 1.0, 0.0, 0.0, 0.0]);
    relax::jvp(&mut u, 3, 0.1, &mut du, 0.5);
    let (mut v, mut bar) = (start, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let ((), rate) = relax::vjp(&mut v, 3, 0.1, &mut bar);
    assert_eq!(u, v);
    let forward: f64 = du.iter().zip([1.0, 2.0, 3.0, 4.0, 5.0]).map(|(a, b)| a * b).sum();
    assert!((forward - (bar[1] + 0.5 * rate)).abs() < 1e-12);
}

#[differentiable]
fn fields(p: (f64, [f64; 2]), m: [[f64; 2]; 2], n: i32) -> [f64; 2] {
    let (s, v) = p;
    let mut y = [0.0; 2];
    for i in 0..2 {
        for j in 0..2 {
            y[i] += m[i][j] * v[j] * s;
        }
        y[i] = y[i].powi(n);
    }
    y
}

#[test]
fn tuples_matrices_and_a_jacobian() {
    let (p, m) = ((2.0, [1.0, 3.0]), [[1.0, 2.0], [3.0, 4.0]]);
    let (dp, dm) = fields::jacobian(p, m, 2);
    let y = [(1.0 + 6.0) * 2.0, (3.0 + 12.0) * 2.0];
    assert_eq!(fields(p, m, 2), y.map(|y| y * y));
    assert_eq!(dp[0], (2.0 * y[0] * 7.0, [2.0 * y[0] * 2.0, 2.0 * y[0] * 4.0]));
    assert_eq!(dm[1][0], [0.0, 0.0]);
    assert_eq!(dm[1][1], [2.0 * y[1] * 2.0, 2.0 * y[1] * 6.0]);
}

#[differentiable]
fn pick(x: &[f64], i: usize) -> f64 {
    let mut total = 0.0;
    for k in 0..4 {
        total += x[i + k];
    }
    assert!(total > 0.0, "the total is not positive");
    total
}

#[test]
fn faults_have_a_place() {
    let error = pick::try_value(&[1.0; 5], 3).unwrap_err();
    let line = line!() - 9;
    assert_eq!(error.line(), Some(line), "{error}");
    assert!(
        error.to_string().contains("index 5 is out of range: `x` has 5 elements, in iteration 2"),
        "{error}"
    );
    let error = pick::try_grad(&[-1.0; 5], 0).unwrap_err();
    assert!(error.to_string().ends_with("assertion failed: the total is not positive"), "{error}");
}

/// Functions that call each other.
#[differentiable]
mod springs {
    const STIFFNESS: f64 = 2.0;

    pub(crate) fn force(x: f64) -> f64 {
        -STIFFNESS * x - 0.1 * x.powi(3)
    }

    pub(crate) fn swing(x0: f64, v0: f64, steps: u32) -> (f64, f64) {
        let (mut x, mut v) = (x0, v0);
        for _ in 0..steps {
            v += 0.01 * force(x);
            x += 0.01 * v;
        }
        (x, v)
    }
}

#[test]
fn modules() {
    let ((x, v), (dx, dv)) = springs::swing::jvp(1.0, 0.5, 100, 1.0, 0.0);
    let plain = springs::swing(1.0, 0.5, 100);
    assert!((x - plain.0).abs() < 1e-13 && (v - plain.1).abs() < 1e-13);
    let (_, (x0, v0)) = springs::swing::vjp(1.0, 0.5, 100, (1.0, 0.0));
    assert!((x0 - dx).abs() < 1e-12 && v0 != 0.0 && dv != 0.0);
    assert!((springs::force::grad(0.5) + 2.0 + 0.075).abs() < 1e-15);
}
