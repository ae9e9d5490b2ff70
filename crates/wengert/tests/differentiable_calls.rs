//! `#[differentiable]` functions that call each other across modules: against the same functions in one module, forward
//! against reverse mode, and both against differences.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over indices and small macros are what is tested"
)]

mod springs {
    use wengert::differentiable;

    /// The force of a spring that hardens.
    #[differentiable]
    pub(crate) fn force(x: f64, stiffness: f64) -> f64 {
        -stiffness * x - 0.1 * x.powi(3)
    }

    pub(crate) mod field {
        use wengert::differentiable;

        #[differentiable]
        pub(crate) fn push(x: f64, #[nondiff] at: f64) -> f64 {
            super::force(x - at, 0.5) * x.cos()
        }
    }

    #[differentiable]
    pub(crate) fn relax(u: &mut [f64], rate: f64, steps: usize) -> f64 {
        let mut moved = 0.0;
        for _ in 0..steps {
            for i in 1..u.len() - 1 {
                let by = rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
                u[i] += by;
                moved += by * by;
            }
        }
        moved
    }

    #[differentiable]
    pub(crate) fn step(state: &mut f64, speed: &mut f64, dt: f64) {
        *speed -= dt * state.sin();
        *state += dt * *speed;
    }

    #[differentiable]
    pub(crate) fn pick(v: &[f64; 3], k: usize, twice: bool) -> (f64, i32) {
        let x = if twice { 2.0 * v[k] } else { v[k] };
        (x * v[0], if x > 0.0 { 1 } else { -1 })
    }

    #[differentiable]
    pub(crate) fn spread(x: f64, n: usize) -> Vec<f64> {
        let mut all = vec![0.0; n];
        for i in 0..n {
            all[i] = x.powi(2) * (i as f64 + 1.0);
        }
        all
    }

    #[differentiable]
    pub(crate) fn single(x: f32, v: &[f32]) -> f32 {
        v.iter().map(|y| (x * y).sin()).sum()
    }

    #[differentiable]
    pub(crate) fn rows(m: &[[f64; 2]], p: (f64, f64)) -> f64 {
        let mut sum = 0.0;
        for row in m {
            sum += (row[0] * p.0 + row[1] * p.1).tanh();
        }
        sum
    }

    #[differentiable]
    pub(crate) fn count(v: &[f64], above: f64) -> usize {
        v.iter().filter(|x| **x > above).count()
    }
}

mod calls {
    use super::springs;
    use super::springs::{field, force};
    use wengert::differentiable;

    #[differentiable]
    pub(crate) fn swing(x0: f64, v0: f64, stiffness: f64, steps: u32) -> f64 {
        let (mut x, mut v) = (x0, v0);
        for _ in 0..steps {
            let f: f64 = force(x, stiffness);
            v += 0.1 * f;
            x += 0.1 * v;
            if x < -0.9 {
                break;
            }
        }
        let last: f64 = force(x, 1.0);
        x + last
    }

    /// Calls what calls another.
    #[differentiable]
    pub(crate) fn chain(x: f64, a: f64) -> f64 {
        let mut y = x;
        while y.abs() < 3.0 {
            let p: f64 = field::push(y, 0.25);
            y += 0.2 * p * a + 0.4;
        }
        y * field::push(x * a, 0.5)
    }

    /// Calls what calls what calls another.
    #[differentiable]
    pub(crate) fn chained(x: f64) -> f64 {
        let y: f64 = chain(x, 1.2);
        y * y
    }

    #[differentiable]
    pub(crate) fn smooth(u: &mut [f64], rate: f64) -> f64 {
        let mut total = 0.0;
        for k in 0..3 {
            let moved: f64 = springs::relax(u, rate, k + 1);
            total += moved;
            u[2] *= 1.1;
            let slow = rate * u[2];
            let part: f64 = springs::relax(&mut u[1..4], slow, 1);
            total += part * u[1];
        }
        total
    }

    #[differentiable]
    pub(crate) fn pendulum(angle: f64, dt: f64, n: usize) -> (f64, f64) {
        let mut state = [angle, 0.0];
        let mut speed = 0.3;
        for i in 0..n {
            springs::step(&mut state[i % 2], &mut speed, dt);
        }
        (state[0] * state[1], speed)
    }

    #[differentiable]
    pub(crate) fn picked(v: [f64; 3], k: usize) -> f64 {
        let mut sum = 0.0;
        for j in 0..3 {
            let (x, sign): (f64, i32) = springs::pick(&v, (j + k) % 3, j == 1);
            sum += x * sign as f64;
        }
        sum
    }

    #[differentiable]
    pub(crate) fn dotted(x: f64, w: &[f64]) -> f64 {
        let all: Vec<f64> = super::springs::spread(x, w.len());
        let n: usize = crate::springs::count(&all, 1.0);
        let more: f64 = springs::rows(&[[x, 1.0], [0.5, x * x]], (x, w[0]));
        all.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() + more * n as f64
    }

    #[differentiable]
    pub(crate) fn narrow(x: f32, v: &[f32]) -> f32 {
        let y: f32 = springs::single(x, v);
        y * y + x
    }
}

/// The same functions where each sees the others.
#[wengert::differentiable]
mod whole {
    pub(crate) fn force(x: f64, stiffness: f64) -> f64 {
        -stiffness * x - 0.1 * x.powi(3)
    }

    pub(crate) fn push(x: f64, #[nondiff] at: f64) -> f64 {
        force(x - at, 0.5) * x.cos()
    }

    pub(crate) fn relax(u: &mut [f64], rate: f64, steps: usize) -> f64 {
        let mut moved = 0.0;
        for _ in 0..steps {
            for i in 1..u.len() - 1 {
                let by = rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
                u[i] += by;
                moved += by * by;
            }
        }
        moved
    }

    pub(crate) fn swing(x0: f64, v0: f64, stiffness: f64, steps: u32) -> f64 {
        let (mut x, mut v) = (x0, v0);
        for _ in 0..steps {
            let f: f64 = force(x, stiffness);
            v += 0.1 * f;
            x += 0.1 * v;
            if x < -0.9 {
                break;
            }
        }
        let last: f64 = force(x, 1.0);
        x + last
    }

    pub(crate) fn chain(x: f64, a: f64) -> f64 {
        let mut y = x;
        while y.abs() < 3.0 {
            let p: f64 = push(y, 0.25);
            y += 0.2 * p * a + 0.4;
        }
        y * push(x * a, 0.5)
    }

    pub(crate) fn chained(x: f64) -> f64 {
        let y: f64 = chain(x, 1.2);
        y * y
    }

    pub(crate) fn smooth(u: &mut [f64], rate: f64) -> f64 {
        let mut total = 0.0;
        for k in 0..3 {
            let moved: f64 = relax(u, rate, k + 1);
            total += moved;
            u[2] *= 1.1;
            let slow = rate * u[2];
            let part: f64 = relax(&mut u[1..4], slow, 1);
            total += part * u[1];
        }
        total
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} {b}");
}

/// The difference quotient of a function.
fn quotient(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
}

#[test]
fn calls_in_a_loop() {
    let (x, v, k, n) = (0.7, 0.2, 1.3, 60);
    let (y, (dx, dv, dk)) = calls::swing::value_and_grad(x, v, k, n);
    close(y, calls::swing(x, v, k, n));
    let (same, (sx, sv, sk)) = whole::swing::value_and_grad(x, v, k, n);
    close(y, same);
    [(dx, sx), (dv, sv), (dk, sk)].iter().for_each(|(a, b)| close(*a, *b));
    near(dk, quotient(|k| calls::swing(x, v, k, n), k));
    let (value, along) = calls::swing::jvp(x, v, k, n, 1.0, -2.0, 0.5);
    assert_eq!(value, y);
    close(along, dx - 2.0 * dv + 0.5 * dk);
    let (value, adjoints) = calls::swing::vjp(x, v, k, n, 2.0);
    assert_eq!((value, adjoints), (y, (2.0 * dx, 2.0 * dv, 2.0 * dk)));
    // Again, to the bit.
    assert_eq!(calls::swing::value_and_grad(x, v, k, n), (y, (dx, dv, dk)));
    assert_eq!(calls::swing::value(x, v, k, n), y);
}

#[test]
fn second_derivatives() {
    let (x, v, k, n) = (0.7, 0.2, 1.3, 60);
    let second = calls::swing::hvp(x, v, k, n, 0.3, 1.0, -0.4);
    let same = whole::swing::hvp(x, v, k, n, 0.3, 1.0, -0.4);
    close(second.0, same.0);
    close(second.1, same.1);
    close(second.2, same.2);
    let along = |t: f64| calls::swing::grad(x + 0.3 * t, v + t, k - 0.4 * t, n).2;
    near(second.2, quotient(along, 0.0));
    let second = calls::chained::hvp(0.4, 1.0);
    close(second, whole::chained::hvp(0.4, 1.0));
    near(second, quotient(calls::chained::grad, 0.4));
}

#[test]
fn chains_of_modules() {
    let (y, (dx, da)) = calls::chain::value_and_grad(0.4, 1.2);
    let (same, (sx, sa)) = whole::chain::value_and_grad(0.4, 1.2);
    [(y, same), (dx, sx), (da, sa), (y, calls::chain(0.4, 1.2))]
        .iter()
        .for_each(|(a, b)| close(*a, *b));
    near(da, quotient(|a| calls::chain(0.4, a), 1.2));
    let (y, d) = calls::chained::value_and_grad(0.4);
    let (same, s) = whole::chained::value_and_grad(0.4);
    [(y, same), (d, s), (calls::chained::jvp(0.4, 1.0).1, d)]
        .iter()
        .for_each(|(a, b)| close(*a, *b));
    near(d, quotient(calls::chained, 0.4));
}

#[test]
fn arrays_that_the_callee_overwrites() {
    let start = [0.3, 1.0, -0.2, 2.0, 0.7];
    let (mut u, mut bar) = (start, [0.1, -0.4, 0.9, 0.2, 1.0]);
    let seeds = bar;
    let (y, rate_bar) = calls::smooth::vjp(&mut u, 0.1, 1.5, &mut bar);
    let (mut w, mut same) = (start, seeds);
    let (whole_y, whole_rate) = whole::smooth::vjp(&mut w, 0.1, 1.5, &mut same);
    close(y, whole_y);
    close(rate_bar, whole_rate);
    u.iter().zip(w).for_each(|(a, b)| close(*a, b));
    bar.iter().zip(same).for_each(|(a, b)| close(*a, b));
    let mut plain = start;
    close(y, calls::smooth(&mut plain, 0.1));
    u.iter().zip(plain).for_each(|(a, b)| close(*a, b));
    // Forward against reverse.
    let direction = [1.0, 0.5, -1.0, 2.0, 0.25];
    let (mut u, mut du) = (start, direction);
    let (_, dy) = calls::smooth::jvp(&mut u, 0.1, &mut du, 0.7);
    let forward = 1.5 * dy + du.iter().zip(seeds).map(|(a, b)| a * b).sum::<f64>();
    let reverse = 0.7 * rate_bar + bar.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
    close(forward, reverse);
    let at = |rate: f64| calls::smooth(&mut start.clone(), rate);
    let mut nothing = [0.0; 5];
    near(dy, {
        let (mut u, mut du) = (start, direction);
        calls::smooth::jvp(&mut u, 0.1, &mut du, 0.7).1
    });
    near(calls::smooth::jvp(&mut start.clone(), 0.1, &mut nothing, 1.0).1, quotient(at, 0.1));
    // Second derivatives, along the same direction.
    let (dx, drate) = calls::smooth::hvp(&mut start.clone(), 0.1, &direction, 0.7);
    let (sx, srate) = whole::smooth::hvp(&mut start.clone(), 0.1, &direction, 0.7);
    close(drate, srate);
    dx.iter().zip(sx).for_each(|(a, b)| close(*a, b));
}

#[test]
fn numbers_behind_references() {
    let (y, tangent) = calls::pendulum::jvp(0.8, 0.1, 7, 1.0, 0.5);
    let (value, (by_angle, by_dt)) = calls::pendulum::vjp(0.8, 0.1, 7, (1.0, 2.0));
    assert_eq!(y, value);
    close(tangent.0 + 2.0 * tangent.1, by_angle + 0.5 * by_dt);
    let sum = |(a, b): (f64, f64)| a + 2.0 * b;
    near(by_dt, quotient(|dt| sum(calls::pendulum(0.8, dt, 7)), 0.1));
    near(by_angle, quotient(|angle| sum(calls::pendulum(angle, 0.1, 7)), 0.8));
}

#[test]
fn tuples_integers_and_truth() {
    let v = [0.4, -1.5, 2.5];
    let (y, d) = calls::picked::value_and_grad(v, 1);
    close(y, calls::picked(v, 1));
    for k in 0..3 {
        let at = |x: f64| {
            let mut v = v;
            v[k] = x;
            calls::picked(v, 1)
        };
        near(d[k], quotient(at, v[k]));
        let mut along = [0.0; 3];
        along[k] = 1.0;
        close(calls::picked::jvp(v, 1, along).1, d[k]);
    }
}

#[test]
fn arrays_that_the_callee_makes() {
    let w = [0.3, -0.2, 1.0];
    let (y, (dx, dw)) = calls::dotted::value_and_grad(0.8, &w);
    close(y, calls::dotted(0.8, &w));
    near(dx, quotient(|x| calls::dotted(x, &w), 0.8));
    close(calls::dotted::jvp(0.8, &w, 1.0, &[0.0; 3]).1, dx);
    close(calls::dotted::jvp(0.8, &w, 0.0, &[1.0, 2.0, 3.0]).1, dw[0] + 2.0 * dw[1] + 3.0 * dw[2]);
    let (second, _) = calls::dotted::hvp(0.8, &w, 1.0, &[0.0; 3]);
    near(second, quotient(|x| calls::dotted::grad(x, &w).0, 0.8));
}

#[test]
fn single_precision() {
    let v = [0.5, 0.25];
    let (y, (dx, dv)) = calls::narrow::value_and_grad(0.5, &v);
    assert!((y - calls::narrow(0.5, &v)).abs() < 1e-6);
    let inner: f32 = v.iter().map(|y| (0.5 * y).sin()).sum();
    let by_x: f32 = v.iter().map(|y| (0.5 * y).cos() * y).sum();
    assert!((dx - (2.0 * inner * by_x + 1.0)).abs() < 1e-6);
    assert!((dv[0] - 2.0 * inner * 0.25_f32.cos() * 0.5).abs() < 1e-6);
}

/// What is marked `#[nondiff]` where it is declared has derivative zero for callers.
#[test]
fn parameters_that_are_not_differentiated_by() {
    #[wengert::differentiable]
    fn at(x: f64, a: f64) -> f64 {
        springs::field::push(x, a)
    }
    let (_, (dx, da)) = at::value_and_grad(0.5, 0.25);
    assert_eq!((dx, da), (springs::field::push::grad(0.5, 0.25), 0.0));
    assert_eq!(at::jvp(0.5, 0.25, 0.0, 1.0).1, 0.0);
    assert_eq!(at::jvp(0.5, 0.25, 1.0, 1.0).1, springs::field::push::jvp(0.5, 0.25, 1.0).1);
    let (hx, ha) = at::hvp(0.5, 0.25, 1.0, 1.0);
    assert_eq!(ha, 0.0);
    near(hx, quotient(|x| at::grad(x, 0.25).0, 0.5));
}

/// Functions of a block see each other as well.
#[test]
fn functions_in_a_block() {
    use wengert::differentiable;

    #[differentiable]
    fn inner(x: f64) -> f64 {
        x.exp() * x
    }

    #[differentiable]
    fn outer(x: f64) -> f64 {
        let y: f64 = inner(x);
        let z: f64 = self::springs::force(y, 2.0);
        z + y
    }

    close(outer::grad(0.3), outer::jvp(0.3, 1.0).1);
    near(outer::grad(0.3), quotient(outer, 0.3));
}

mod even {
    #[wengert::differentiable]
    pub(crate) fn even(x: f64, n: u32) -> f64 {
        if n == 0 {
            return x;
        }
        let y: f64 = super::odd::odd(x, n - 1);
        y.sin()
    }
}

mod odd {
    #[wengert::differentiable]
    pub(crate) fn odd(x: f64, n: u32) -> f64 {
        if n == 0 {
            return 1.0;
        }
        let y: f64 = crate::even::even(x, n - 1);
        y * x
    }
}

#[test]
fn recursion_through_modules() {
    let (y, d) = even::even::value_and_grad(0.8, 6);
    close(y, even::even(0.8, 6));
    near(d, quotient(|x| even::even(x, 6), 0.8));
    close(even::even::jvp(0.8, 6, 1.0).1, d);
    near(even::even::hvp(0.8, 6, 1.0), quotient(|x| even::even::grad(x, 6), 0.8));
    let error = even::even::try_grad(0.8, 1_000_000).unwrap_err();
    assert!(error.to_string().contains("calls are nested more than"), "{error}");
    // The depth is what it was.
    assert_eq!(even::even::grad(0.8, 6), d);
}

mod faulty {
    use wengert::differentiable;

    #[differentiable]
    pub(crate) fn last(v: &[f64], n: usize) -> f64 {
        let mut sum = 0.0;
        for i in 0..n {
            sum += v[i];
        }
        sum
    }

    #[differentiable]
    pub(crate) fn between(v: &[f64], n: usize) -> f64 {
        let mut sum = 0.0;
        for i in 0..2 {
            let x: f64 = last(v, n + i);
            sum += x;
        }
        sum
    }
}

#[differentiable]
fn calls_faulty(v: &[f64], n: usize) -> f64 {
    let sum: f64 = faulty::between(v, n);
    sum * sum
}

/// The line of this file that holds a text, from 1.
fn line(text: &str) -> u32 {
    let found = include_str!("differentiable_calls.rs").lines().position(|l| l.contains(text));
    found.unwrap() as u32 + 1
}

#[test]
fn faults_keep_their_place() {
    let v = [1.0, 2.0, 3.0];
    // The first two elements are in both sums.
    assert_eq!(calls_faulty::grad(&v, 2), [36.0, 36.0, 18.0]);
    for error in [
        calls_faulty::try_value(&v, 3).unwrap_err(),
        calls_faulty::try_grad(&v, 3).unwrap_err(),
        calls_faulty::try_jvp(&v, 3, &[1.0; 3]).unwrap_err(),
        calls_faulty::try_hvp(&v, 3, &[1.0; 3]).unwrap_err(),
    ] {
        assert!(matches!(error.kind(), wengert_core::fault::FaultKind::Index { index: 3, .. }));
        assert!(error.file().ends_with("differentiable_calls.rs"));
        let at = line("sum += v[i];");
        assert_eq!(error.line(), Some(at));
        assert_eq!(error.loops(), [(at - 1, 3)]);
        let calls: Vec<_> = error.calls().iter().map(|c| (c.line(), c.loops().to_vec())).collect();
        let between = line("let x: f64 = last(v, n + i);");
        let outer = line("let sum: f64 = faulty::between(v, n);");
        assert_eq!(calls, [(Some(between), vec![(between - 1, 1)]), (Some(outer), vec![])]);
        let file = error.file();
        let expected = format!(
            "{file}:{at}:20: index 3 is out of range: `v` has 3 elements, in iteration 3 of the loop in line {}, \
             called in {file}:{between}:26, in iteration 1 of the loop in line {}, called in {file}:{outer}:20",
            at - 1,
            between - 1
        );
        assert_eq!(error.to_string(), expected);
    }
}

use wengert::differentiable;
