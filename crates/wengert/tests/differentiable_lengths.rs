//! `#[differentiable]` and constant parameters: `const N: usize`.

#![allow(clippy::needless_range_loop)]

use wengert::differentiable;

#[differentiable]
fn norm<const N: usize>(x: [f64; N]) -> f64 {
    let mut sum = 0.0;
    for i in 0..N {
        sum += x[i] * x[i];
    }
    (sum / N as f64).sqrt()
}

#[test]
fn a_length() {
    let x = [0.5, -1.0, 2.0];
    let (value, dx) = norm::value_and_grad(x);
    assert!((value - norm(x)).abs() < 1e-15);
    for (d, x) in dx.iter().zip(x) {
        assert!((d - x / (3.0 * value)).abs() < 1e-15);
    }
    let direction = [1.0, 0.5, -2.0];
    let along: f64 = dx.iter().zip(direction).map(|(a, b)| a * b).sum();
    assert!((norm::jvp(x, direction).1 - along).abs() < 1e-15);
    assert_eq!(norm::grad::<1>([3.0]), [1.0]);
    assert!(norm::value([]).is_nan());
    let up = norm::grad([0.5 + 1e-6, -1.0 + 0.5e-6, 2.0 - 2e-6]);
    for ((second, up), here) in norm::hvp(x, direction).iter().zip(up).zip(dx) {
        assert!((second - (up - here) / 1e-6).abs() < 1e-5);
    }
}

#[differentiable]
mod matrices {
    const THREE: usize = 3;

    pub(crate) fn product<const M: usize, const N: usize>(
        a: &[[f64; N]; M],
        x: &[f64; N],
    ) -> [f64; M] {
        let mut y = [0.0; M];
        for i in 0..M {
            for j in 0..N {
                y[i] += a[i][j] * x[j];
            }
        }
        y
    }

    pub(crate) fn shifted<const N: usize>(x: &mut [f64; N], by: f64) -> usize {
        let before = *x;
        for i in 0..N {
            x[i] = before[(i + 1) % N] + by;
        }
        N
    }

    fn unit<const N: usize>() -> [f64; N] {
        [1.0; N]
    }

    /// Calls find the lengths: of arrays, of others' parameters, of what is wanted, and as they are written.
    pub(crate) fn all<const N: usize>(a: [[f64; N]; 2], mut x: [f64; N]) -> f64 {
        let n = shifted(&mut x, 0.5);
        let [u, v] = product(&a, &x);
        let wide: [[f64; 2]; THREE] = [[u, 1.0], [v, u], [u * v, 2.0]];
        let y = product(&wide, &[u, v]);
        let ones: [f64; N] = unit();
        let one = product::<2, N>(&a, &ones)[1] + unit::<4>()[3];
        let choice = if u > 0.0 { x } else { ones };
        y[0] + y[1] * y[2] + one + n as f64 * choice[0]
    }
}

#[test]
fn several_lengths() {
    let (a, x) = ([[0.3, -0.2, 0.7], [0.1, 0.9, -0.4]], [0.5, 0.25, -1.0]);
    let (value, (da, dx)) = matrices::all::value_and_grad(a, x);
    assert!((value - matrices::all(a, x)).abs() < 1e-13);
    let moved = |h: f64| {
        let (mut a, mut x) = (a, x);
        a[0][1] += 2.0 * h;
        a[1][2] -= h;
        x[0] += 0.5 * h;
        matrices::all(a, x)
    };
    let along = 2.0 * da[0][1] - da[1][2] + 0.5 * dx[0];
    let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
    assert!((along - difference).abs() < 1e-8, "{along} {difference}");
    let tangent = ([[0.0, 2.0, 0.0], [0.0, 0.0, -1.0]], [0.5, 0.0, 0.0]);
    let (same, forward) = matrices::all::jvp(a, x, tangent.0, tangent.1);
    assert_eq!(same.to_bits(), value.to_bits());
    assert!((forward - along).abs() < 1e-12);

    let (rows, by_x) = matrices::product::jacobian(&a, &x);
    assert_eq!(by_x, a);
    assert_eq!(rows[1], [[0.0; 3], x]);
    let mut bar = [1.0, 2.0, 4.0];
    let (n, by) = matrices::shifted::vjp(&mut x.clone(), 0.5, &mut bar);
    assert_eq!((n, bar, by), (3, [4.0, 1.0, 2.0], 7.0));
}
