//! The loops that go wrong elsewhere: values overwritten before the reverse sweep needs them, loops that
//! do not run, exits in the first iteration, inner counts that depend on data. Each on both backends in
//! both modes, against the derivative worked out by hand.

use wengert::{Args, Backend, Function, Mode, Options, Value};

/// The gradient by all parameters, flattened; bits must not depend on the backend.
fn gradient(text: &str, args: impl Into<Args> + Clone, wrt: &[&str]) -> Vec<f64> {
    let mut all: Vec<(Mode, Vec<f64>)> = Vec::new();
    for mode in [Mode::Reverse, Mode::Forward] {
        for backend in [Backend::Jit, Backend::Interp] {
            let options = Options { backend, mode, ..Options::default() };
            let function = Function::last_of(text).unwrap().with_options(options);
            let found = function.value_and_grad(args.clone(), wrt).unwrap();
            let mut flat = Vec::new();
            for name in wrt {
                match found.get(name).unwrap() {
                    Value::Array(x) => flat.extend(x.as_f64().unwrap()),
                    other => flat.extend(other.as_f64()),
                }
            }
            all.push((mode, flat));
        }
    }
    let bits = |k: usize| all[k].1.iter().map(|x: &f64| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(0), bits(1), "reverse mode depends on the backend");
    assert_eq!(bits(2), bits(3), "forward mode depends on the backend");
    for (r, f) in all[0].1.iter().zip(&all[2].1) {
        assert!((r - f).abs() <= 1e-12 * (1.0 + r.abs()), "{r} backwards, {f} forwards");
    }
    all.swap_remove(0).1
}

#[track_caller]
fn close(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= 1e-12 * (1.0 + w.abs()), "{got:?}, not {want:?}");
    }
}

const TRAP: &str = "
import math
def trap(x, c, i, j):
    y = 0.0
    for k in range(2):
        a = x[j]
        x[i] = c * a
        y += math.sin(a)
    return y
";

#[test]
fn a_value_loaded_before_it_is_overwritten() {
    let (c, x) = (1.7, [0.3, 0.5f64]);
    // i == j: the second iteration sees c x_j.
    let (a, b) = (x[1], c * x[1]);
    let got = gradient(TRAP, (x.to_vec(), c, ("i", 1), ("j", 1)), &["x", "c"]);
    close(&got, &[0.0, a.cos() + c * b.cos(), a * b.cos()]);
    // i != j: it sees x_j again, and c has no part in it.
    let got = gradient(TRAP, (x.to_vec(), c, ("i", 0), ("j", 1)), &["x", "c"]);
    close(&got, &[0.0, 2.0 * x[1].cos(), 0.0]);
}

#[test]
fn a_loop_that_does_not_run() {
    let text = "
def f(x, n):
    y = 3.0 * x
    for i in range(n):
        y = y * y
    return y
";
    for n in [0, -5] {
        close(&gradient(text, (2.0, ("n", n)), &["x"]), &[3.0]);
    }
    close(&gradient(text, (2.0, ("n", 2)), &["x"]), &[4.0 * 6f64.powi(3) * 3.0]);
}

#[test]
fn an_exit_in_the_first_iteration() {
    let text = "
def f(x, tol):
    y = x
    while True:
        new = 0.5 * (y + x / y)
        if abs(new - y) < tol:
            y = new * new
            break
        y = new
    return y
";
    // Left at once: y = ((x + 1) / 2)^2.
    close(&gradient(text, (1.5, 100.0), &["x"]), &[0.5 * 2.5]);
    // Left when it has converged: y = x.
    close(&gradient(text, (1.5, 1e-9), &["x"]), &[1.0]);
}

#[test]
fn an_inner_count_that_depends_on_data() {
    let text = "
def f(x, n):
    s = 0.0
    for i in range(n):
        t = x + i
        while t < 10.0:
            t = 2.0 * t
        s += t
    return s
";
    // x = 1: 1 doubles four times, 2 three times, 3 and 4 twice.
    close(&gradient(text, (1.0, ("n", 4)), &["x"]), &[16.0 + 8.0 + 4.0 + 4.0]);
}

/// An array that a loop replaces, and another made of it before the loop: it cannot be made again while the loop has
/// not been reversed.
#[test]
fn an_array_made_of_one_that_a_loop_replaces() {
    let text = "
import numpy as np
def f(a, n):
    b = a * a
    for i in range(n):
        a = 0.5 * a
    return np.sum(a * b)
";
    // The sum of a cubed, over four.
    let args = vec![Value::from(vec![1.0, -2.0, 3.0]), Value::Int(2)];
    let args: Vec<wengert::Arg> = args.into_iter().map(Into::into).collect();
    close(&gradient(text, args, &["a"]), &[0.75, 3.0, 6.75]);
}

/// An array that is read while a loop writes it: what has not been written yet is as it was filled.
#[test]
fn an_array_read_while_it_is_written() {
    let text = "
import numpy as np
def f(x):
    s = 0.0
    z = np.full(len(x), 3.0)
    for i in range(len(x)):
        z[i] = x[i]
        s += np.sum(z * z)
    return s
";
    // Element k is in the last n - k sums.
    close(&gradient(text, [vec![1.0, 2.0, 4.0]], &["x"]), &[6.0, 8.0, 8.0]);
}

/// An array that is returned on one side of a branch and has a name after it: two of what is one there.
#[test]
fn an_array_returned_and_named() {
    let text = "
def f(x):
    if x[0, 0] > 0.0:
        return x[1, :]
    w = x[2, :]
    w = -w
    return w
";
    let f = Function::last_of(text).unwrap();
    for (first, wanted) in [(1.0, [3.0, 4.0]), (-1.0, [-5.0, -6.0])] {
        let x = wengert::Array::new([3, 2], vec![first, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let given: Vec<wengert::Arg> = vec![Value::from(x).into()];
        let ran = f.call(given).unwrap();
        assert_eq!(ran.values, [Value::from(wanted.to_vec())]);
    }
}
