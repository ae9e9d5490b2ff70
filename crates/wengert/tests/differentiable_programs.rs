//! Many functions by `#[differentiable]`: values against Rust's own, derivatives against each other and differences.

#[path = "differentiable/programs.rs"]
#[allow(clippy::all, clippy::pedantic, unused_assignments)]
#[rustfmt::skip]
mod file;

use file::programs;

/// A function and what was made of it.
struct Case {
    name: &'static str,
    plain: fn(&[f64]) -> f64,
    value: fn(&[f64]) -> f64,
    gradient: fn(&[f64]) -> (f64, Vec<f64>),
    jvp: fn(&[f64], &[f64]) -> (f64, f64),
    hvp: fn(&[f64], &[f64]) -> Vec<f64>,
}

macro_rules! cases {
    ($($name:ident)*) => {
        &[$(Case {
            name: stringify!($name),
            plain: programs::$name,
            value: programs::$name::value,
            gradient: programs::$name::value_and_grad,
            jvp: programs::$name::jvp,
            hvp: programs::$name::hvp,
        }),*]
    };
}

const CASES: &[Case] = cases! {
    shadowing tuples branches matching ranges iterators folds labels loops early slices matrices references helpers
    closures floats integers rk4 thomas lu sorting knapsack softmax kahan single order factorial
};

const POINTS: [[f64; 6]; 4] = [
    [0.45, -0.62, 0.81, 0.33, -0.27, 0.95],
    [-0.35, 0.74, 0.12, -0.48, 0.66, 0.23],
    [1.31, 0.87, -0.53, 0.71, 1.12, -0.94],
    [0.11, 0.22, 0.35, 0.41, 0.53, 0.67],
];

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || (a.is_nan() && b.is_nan())
}

#[test]
fn values_are_those_of_rust() {
    for case in CASES {
        for x in &POINTS {
            let (wanted, given) = ((case.plain)(x), (case.value)(x));
            // A product and a sum that are rounded once differ in the last bits, of singles more.
            let tolerance = if case.name == "single" { 1e-6 } else { 1e-12 };
            assert!(close(wanted, given, tolerance), "{}({x:?}): {wanted} {given}", case.name);
        }
    }
}

#[test]
fn both_modes_and_differences_agree() {
    for case in CASES {
        for x in &POINTS {
            let (value, gradient) = (case.gradient)(x);
            assert_eq!(value.to_bits(), (case.value)(x).to_bits(), "{}", case.name);
            let direction: Vec<f64> = (0..6).map(|k| (1.0 + k as f64).sin()).collect();
            let (same, tangent) = (case.jvp)(x, &direction);
            assert_eq!(value.to_bits(), same.to_bits(), "{}", case.name);
            let along: f64 = gradient.iter().zip(&direction).map(|(a, b)| a * b).sum();
            // Singles have singles as derivatives.
            let tolerance = if case.name == "single" { 1e-6 } else { 1e-11 };
            assert!(close(along, tangent, tolerance), "{}({x:?}): {along} {tangent}", case.name);
            if case.name == "single" {
                continue;
            }
            let moved = |h: f64| {
                let x: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
                (case.plain)(&x)
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!(close(along, difference, 1e-6), "{}({x:?}): {along} {difference}", case.name);
        }
    }
}

#[test]
fn second_derivatives_are_differences_of_gradients() {
    for case in CASES.iter().filter(|case| case.name != "single") {
        for x in &POINTS {
            let direction: Vec<f64> = (0..6).map(|k| (2.0 + k as f64).cos()).collect();
            let product = (case.hvp)(x, &direction);
            let moved = |h: f64| {
                let x: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
                (case.gradient)(&x).1
            };
            for ((p, up), down) in product.iter().zip(moved(1e-5)).zip(moved(-1e-5)) {
                let difference = (up - down) / 2e-5;
                assert!(close(*p, difference, 2e-4), "{}({x:?}): {p} {difference}", case.name);
            }
        }
    }
}
