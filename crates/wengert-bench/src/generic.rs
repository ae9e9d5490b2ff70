//! The workloads as generic Rust: for plain numbers, and for the variables of a tape.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use wengert::tape::Var;
use wengert_core::interp::Val;
use wengert_core::ops::{Data, Scalar as Plain};

/// What the workloads compute with.
pub trait Scalar:
    Copy
    + From<f64>
    + PartialOrd
    + PartialOrd<f64>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
{
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The greater.
    fn max(self, other: Self) -> Self;
}

macro_rules! scalar {
    ($type:ty, $sqrt:path, $exp:path, $sin:path, $tanh:path, $abs:path, $max:path) => {
        impl Scalar for $type {
            #[inline]
            #[track_caller]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline]
            #[track_caller]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline]
            #[track_caller]
            fn sin(self) -> Self {
                $sin(self)
            }
            #[inline]
            #[track_caller]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline]
            #[track_caller]
            fn abs(self) -> Self {
                $abs(self)
            }
            #[inline]
            #[track_caller]
            fn max(self, other: Self) -> Self {
                $max(self, other)
            }
        }
    };
}
use wengert_math as math;
scalar!(f64, f64::sqrt, math::exp, math::sin, math::tanh, f64::abs, math::max);
scalar!(Var, Var::sqrt, Var::exp, Var::sin, Var::tanh, Var::abs, Var::max);

/// An argument of a workload.
#[derive(Clone, Debug)]
pub enum Input<T> {
    /// A number.
    Number(T),
    /// An array of any rank, row by row.
    Array(Vec<T>),
    /// An integer.
    Count(usize),
}

impl<T: Copy> Input<T> {
    fn number(&self) -> T {
        match self {
            Input::Number(x) => *x,
            _ => panic!("a number is wanted"),
        }
    }

    fn array(&self) -> &[T] {
        match self {
            Input::Array(x) => x,
            _ => panic!("an array is wanted"),
        }
    }

    fn count(&self) -> usize {
        match self {
            Input::Count(n) => *n,
            _ => panic!("an integer is wanted"),
        }
    }
}

/// The arguments of a workload, their floats made into whatever `make` gives: it is told which argument they are of.
pub fn inputs<T>(args: &[Val], mut make: impl FnMut(usize, f64) -> T) -> Vec<Input<T>> {
    let mut input = |(k, arg): (usize, &Val)| match arg {
        Val::Scalar(Plain::F64(x)) => Input::Number(make(k, *x)),
        Val::Scalar(Plain::I64(n)) => Input::Count(*n as usize),
        Val::Array(array) => match &array.data {
            Data::F64(x) => Input::Array(x.iter().map(|x| make(k, *x)).collect()),
            _ => panic!("only arrays of doubles"),
        },
        other => panic!("no argument of a workload: {other:?}"),
    };
    args.iter().enumerate().map(&mut input).collect()
}

/// A workload by its name, in this many numbers.
pub fn run<T: Scalar>(name: &str, args: &[Input<T>]) -> Option<T> {
    let number = |k: usize| args[k].number();
    Some(match name {
        "a" => recurrence(number(0), number(1), number(2), args[3].count(), true),
        "a0" => recurrence(number(0), number(1), number(2), args[3].count(), false),
        "b" => network(args[0].array(), args[1].array(), args[2].array(), args[3].array()),
        "c" | "c3" => {
            let start = [number(3), number(4), number(5)];
            lorenz([number(0), number(1), number(2)], start, args[6].count())
        }
        "d" => plate(args[0].array(), args[1].count(), false),
        "d2" => plate(args[0].array(), args[1].count(), true),
        "e" => {
            let model = [number(2), number(3), number(4), number(5), number(6), number(7)];
            heston(args[0].array(), args[1].array(), model)
        }
        "f1" => power_iteration(args[0].array(), args[1].array(), number(2)),
        "f2" => kepler(number(0), number(1)),
        "f3" => gauss_seidel(number(0), args[1].array()),
        "g" => adam(
            args[0].array(),
            args[1].array(),
            number(2),
            [number(3), number(4)],
            args[5].count(),
        ),
        "h" => in_place(args[0].array()),
        _ => return None,
    })
}

fn recurrence<T: Scalar>(w: T, b: T, h0: T, n: usize, mean: bool) -> T {
    let (mut h, mut total) = (h0, T::from(0.0));
    for _ in 0..n {
        h = (w * h + b).tanh();
        if mean {
            total += h;
        }
    }
    if mean { total / n as f64 } else { h }
}

fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sum = T::from(0.0);
    for (a, b) in a.iter().zip(b) {
        sum += *a * *b;
    }
    sum
}

fn network<T: Scalar>(w: &[T], u: &[T], b: &[T], x: &[T]) -> T {
    let d = b.len();
    let inner = u.len() / d;
    let mut h = vec![T::from(0.0); d];
    let mut total = T::from(0.0);
    let steps = x.len() / inner;
    for x in x.chunks(inner) {
        let row = |k: usize| dot(&w[k * d..][..d], &h) + dot(&u[k * inner..][..inner], x) + b[k];
        h = (0..d).map(|k| row(k).tanh()).collect();
        total += dot(&h, &h) * 0.5;
    }
    total / steps as f64
}

fn slope<T: Scalar>([x, y, z]: [T; 3], [sigma, rho, beta]: [T; 3]) -> [T; 3] {
    [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]
}

/// The Lorenz system.
pub fn lorenz<T: Scalar>(p: [T; 3], mut at: [T; 3], n: usize) -> T {
    let dt = 2.0 / n as f64;
    let h = dt / 2.0;
    let along =
        |at: [T; 3], d: [T; 3], h: f64| [at[0] + d[0] * h, at[1] + d[1] * h, at[2] + d[2] * h];
    for _ in 0..n {
        let a = slope(at, p);
        let b = slope(along(at, a, h), p);
        let c = slope(along(at, b, h), p);
        let d = slope(along(at, c, dt), p);
        for k in 0..3 {
            at[k] += (a[k] + b[k] * 2.0 + c[k] * 2.0 + d[k]) * (dt / 6.0);
        }
    }
    at[0]
}

fn plate<T: Scalar>(start: &[T], n: usize, reacts: bool) -> T {
    let edge = (start.len() as f64).sqrt() as usize;
    let mut u = start.to_vec();
    for _ in 0..n {
        let old = u.clone();
        for i in 1..edge - 1 {
            for j in 1..edge - 1 {
                let k = i * edge + j;
                let c = old[k];
                let around = old[k - edge] + old[k + edge] + old[k - 1] + old[k + 1];
                u[k] = c + (around - c * 4.0) * 0.2;
                if reacts {
                    u[k] += (c - c * c * c) * 0.01;
                }
            }
        }
    }
    dot(&u, &u) * 0.5
}

fn heston<T: Scalar>(z1: &[T], z2: &[T], [v0, kappa, theta, xi, rho, r]: [T; 6]) -> T {
    const STEPS: usize = 252;
    let dt = 1.0 / 252.0;
    let other = (-(rho * rho) + 1.0).sqrt();
    let mut total = T::from(0.0);
    let paths = z1.len() / STEPS;
    for (z1, z2) in z1.chunks(STEPS).zip(z2.chunks(STEPS)) {
        let (mut x, mut v) = (T::from(100f64.ln()), v0);
        for (z1, z2) in z1.iter().zip(z2) {
            let vp = v.max(T::from(1e-6));
            let s = (vp * dt).sqrt();
            x += (r - vp / 2.0) * dt + s * *z1;
            v += kappa * (theta - vp) * dt + xi * s * (rho * *z1 + other * *z2);
        }
        total += (x.exp() - 100.0).max(T::from(0.0));
    }
    (-r).exp() * total / paths as f64
}

fn norm<T: Scalar>(x: &[T]) -> T {
    dot(x, x).sqrt()
}

fn power_iteration<T: Scalar>(a: &[T], start: &[T], tolerance: T) -> T {
    let n = start.len();
    let times = |v: &[T]| -> Vec<T> { a.chunks(n).map(|row| dot(row, v)).collect() };
    let (mut v, mut change) = (start.to_vec(), T::from(1.0));
    while change > tolerance {
        let new = times(&v);
        let length = norm(&new);
        let new: Vec<T> = new.iter().map(|x| *x / length).collect();
        let moved: Vec<T> = new.iter().zip(&v).map(|(new, old)| *new - *old).collect();
        change = norm(&moved);
        v = new;
    }
    let mut sum = dot(&v, &times(&v));
    for (k, v) in v.iter().enumerate() {
        sum += *v * math::sin(k as f64);
    }
    sum
}

fn kepler<T: Scalar>(m: T, e: T) -> T {
    let (mut at, mut change) = (m, T::from(1.0));
    while change.abs() > 1e-14 {
        let new = m + e * at.sin();
        change = new - at;
        at = new;
    }
    at
}

fn gauss_seidel<T: Scalar>(a: T, b: &[T]) -> T {
    let n = b.len();
    let mut x = vec![T::from(0.0); n + 2];
    let mut change = T::from(1.0);
    while change > 1e-12 {
        change = T::from(0.0);
        for i in 1..=n {
            let new = (b[i - 1] + x[i - 1] + x[i + 1]) / a;
            change = change.max((new - x[i]).abs());
            x[i] = new;
        }
    }
    dot(&x, &x)
}

fn adam<T: Scalar>(a: &[T], y: &[T], rate: T, [b1, b2]: [T; 2], n: usize) -> T {
    let m = y.len();
    let d = a.len() / m;
    let zero = T::from(0.0);
    let (mut x, mut mean, mut var) = (vec![zero; d], vec![zero; d], vec![zero; d]);
    let (mut p1, mut p2) = (T::from(1.0), T::from(1.0));
    let one = T::from(1.0);
    let residual =
        |x: &[T]| -> Vec<T> { a.chunks(d).zip(y).map(|(row, y)| dot(row, x) - *y).collect() };
    for _ in 0..n {
        let r = residual(&x);
        p1 = p1 * b1;
        p2 = p2 * b2;
        for k in 0..d {
            let mut g = zero;
            for (row, r) in a.chunks(d).zip(&r) {
                g += row[k] * *r;
            }
            g = g / m as f64;
            mean[k] = b1 * mean[k] + (one - b1) * g;
            var[k] = b2 * var[k] + (one - b2) * g * g;
            let step = rate * (mean[k] / (one - p1)) / ((var[k] / (one - p2)).sqrt() + 1e-8);
            x[k] = x[k] - step;
        }
    }
    let r = residual(&x);
    dot(&r, &r) / (2.0 * m as f64)
}

fn in_place<T: Scalar>(start: &[T]) -> T {
    let mut x = start.to_vec();
    for i in 1..x.len() {
        x[i] = x[i - 1] * x[i] + x[i].sin();
    }
    let mut sum = T::from(0.0);
    for x in x {
        sum += x;
    }
    sum
}
