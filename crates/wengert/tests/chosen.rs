//! What a program does not choose has no part in its derivative, even where its own slope is infinite.

use wengert::{Args, Backend, Function, Mode, Options, Value, Wrt};

const PROGRAMS: &str = "
import math
import numpy as np

def branch(x):
    s = math.sqrt(x)
    return s if x > 0 else 2.0 * x

def chain(x):
    s = math.log(math.sqrt(x)) * x
    y = 3.0 * x
    if x > 0:
        y = s
    return y

def nested(x):
    s = math.sqrt(x)
    y = x
    if x < 1:
        if x > 0:
            y = s
    return y

def both(x):
    s = math.sqrt(x)
    if x > 1:
        y = 2.0 * s
    else:
        y = 3.0 * s
    return y

def either(x, y):
    s = math.sqrt(x)
    a, b = 0.0, 0.0
    if y > 0:
        a = s
    if y < 1:
        b = 3.0 * s
    return a + b

def either_by_element(x):
    s = np.sqrt(x)
    return np.sum(np.where(x > 0.5, s, 0.0) + np.where(x < 1.5, 3.0 * s, 0.0))

def left_by_break(x):
    s = math.sqrt(x)
    y = 5.0 * x
    for i in range(4):
        if x > i + 1:
            y = y + s
            break
        y = y + x
    return y

def never_runs(x, n: int):
    s = math.sqrt(x)
    y = 7.0 * x
    for i in range(n):
        y = y + s
    return y

def never_of_use(x, a):
    y = x
    for i in range(len(a)):
        s = math.sqrt(x)
        if a[i] > 0:
            y = y + a[i] * s
    return y

def never_of_use_within(x, a, n: int):
    s = math.sqrt(x)
    t = math.log(s)
    y = x
    for i in range(len(a)):
        for j in range(n):
            if a[i] > j:
                y = y + s * t
                if a[i] > 9:
                    break
            y = y + x
    return y

def where(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 2.0 * x))

def where_in_where(x):
    return np.sum(np.where(x > 0, np.where(x > 1, np.log(np.sqrt(x)), 4.0 * x), -x))

def elu(x):
    return np.sum(np.where(x > 0, x, np.exp(x) - 1.0))

def root_of_the_positive(x):
    return np.sum(np.sqrt(np.maximum(x, 0.0)))

def floored(x):
    return np.sum(np.maximum(np.sqrt(x), 1.0) + np.minimum(1.0 / x, 3.0))

def kept_in(x, y):
    return np.sum(np.clip(np.sqrt(x), 0.5, 1.5)) + np.sum(np.sqrt(np.clip(y, 0.0, 9.0)))

def skipped(x, k, n: int, m: int):
    total = 0.0
    for i in range(n):
        scale = x * (i + 1)
        v = k
        for j in range(m):
            v = v * scale + math.sqrt(x)
        p = x
        for j in range(2 * m):
            p = math.sqrt(p * k)
        if v > 3.0:
            total += v * v
        total += max(p - 1.0, 0.0) + scale * scale
    return total

def scaled(x, w):
    return np.sum(np.where(x > 0, w * np.sqrt(x) / x, w))
";

fn gradient(name: &str, args: &[Value], mode: Mode, backend: Backend) -> Vec<f64> {
    let options = Options { mode, backend, ..Options::default() };
    let f = Function::from_source(PROGRAMS, name).unwrap().with_options(options);
    let args: Args = args.iter().cloned().collect();
    let grad = f.value_and_grad(args, Wrt::All).unwrap();
    let all = grad.grad.iter().map(|(_, v)| match v {
        Value::Array(x) => x.to_f64().unwrap(),
        other => vec![other.as_f64().unwrap()],
    });
    all.flatten().collect()
}

fn has(name: &str, args: &[Value], expected: &[f64]) {
    for mode in [Mode::Forward, Mode::Reverse] {
        for backend in [Backend::Interp, Backend::Jit] {
            let found = gradient(name, args, mode, backend);
            let near = |(a, b): (&f64, &f64)| {
                (a - b).abs() < 1e-14 || (a.is_nan() && b.is_nan()) || a == b
            };
            let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
            assert!(same, "{name} {args:?}, {mode:?}, {backend:?}: {found:?}");
        }
    }
}

#[test]
fn branches() {
    has("branch", &[0.0.into()], &[2.0]);
    has("branch", &[0.25.into()], &[1.0]);
    has("chain", &[0.0.into()], &[3.0]);
    has("chain", &[1.0.into()], &[0.5]);
    has("nested", &[0.0.into()], &[1.0]);
    has("nested", &[0.25.into()], &[1.0]);
    has("both", &[0.25.into()], &[3.0]);
    has("either", &[0.25.into(), 2.0.into()], &[1.0, 0.0]);
    has("either", &[0.25.into(), (-1.0).into()], &[3.0, 0.0]);
    has("either", &[0.25.into(), 0.5.into()], &[4.0, 0.0]);
    has("both", &[0.0.into()], &[f64::INFINITY]);
}

#[test]
fn loops() {
    has("left_by_break", &[0.0.into()], &[9.0]);
    has("left_by_break", &[4.0.into()], &[5.25]);
    has("never_runs", &[0.0.into(), 0.into()], &[7.0]);
    has("never_runs", &[0.25.into(), 2.into()], &[9.0]);
    has("never_runs", &[0.0.into(), 1.into()], &[f64::INFINITY]);
    let never = || Value::from(vec![-1.0, -2.0, 0.0]);
    let once = || Value::from(vec![-1.0, 4.0, 0.0]);
    has("never_of_use", &[0.0.into(), never()], &[1.0, 0.0, 0.0, 0.0]);
    has("never_of_use", &[0.25.into(), once()], &[5.0, 0.0, 0.5, 0.0]);
    has("never_of_use_within", &[0.0.into(), never(), 2.into()], &[7.0, 0.0, 0.0, 0.0]);
    has("never_of_use_within", &[1.0.into(), once(), 2.into()], &[8.0, 0.0, 0.0, 0.0]);
    has(
        "never_of_use_within",
        &[1.0.into(), Value::from(vec![-1.0, 40.0, 0.0]), 2.into()],
        &[5.5, 0.0, 0.0, 0.0],
    );
}

#[test]
fn choices_by_element() {
    has("where", &[[0.0, 0.25, -1.0].into()], &[2.0, 1.0, 2.0]);
    has("where_in_where", &[[0.0, 2.0, 0.5, -1.0].into()], &[-1.0, 0.25, 4.0, -1.0]);
    has("either_by_element", &[[0.25, 1.0, 4.0].into()], &[3.0, 2.0, 0.25]);
    has("elu", &[[1000.0, 0.0].into()], &[1.0, 1.0]);
    has("scaled", &[[0.0, 4.0].into(), 2.0.into()], &[0.0, -0.125, 1.5]);
}

#[test]
fn the_greater_and_the_lesser() {
    has("root_of_the_positive", &[[-1.0, 0.25].into()], &[0.0, 1.0]);
    has("floored", &[[0.0, 4.0].into()], &[0.0, 0.25 - 0.0625]);
    let (x, y) = ([0.0, 1.0, 16.0], [-1.0, 1.0, 16.0]);
    has("kept_in", &[x.into(), y.into()], &[0.0, 0.5, 0.0, 0.0, 0.5, 0.0]);
}

/// A zero that is computed is a factor like others: there is no telling what the product tends to.
#[test]
fn zeros_that_are_computed() {
    let text = "import math\ndef f(x):\n    s = math.sqrt(x)\n    return s * s\n";
    for mode in [Mode::Forward, Mode::Reverse] {
        let options = Options { mode, ..Options::default() };
        let f = Function::from_source(text, "f").unwrap().with_options(options);
        let grad = f.value_and_grad((0.0,), Wrt::All).unwrap();
        assert!(grad.get("x").unwrap().as_f64().unwrap().is_nan());
    }
}

/// An inner loop whose results are left aside has no part, whatever its slopes are, and what comes before it on the tape is
/// found where it was.
#[test]
fn loops_that_are_left_aside() {
    let f = |x: f64, k: f64, n: i64, m: i64| {
        let mut total = 0.0;
        for i in 0..n {
            let scale = x * (i + 1) as f64;
            let v = (0..m).fold(k, |v, _| v * scale + x.sqrt());
            let p = (0..2 * m).fold(x, |p, _| (p * k).sqrt());
            total += if v > 3.0 { v * v } else { 0.0 };
            total += (p - 1.0).max(0.0) + scale * scale;
        }
        total
    };
    let mut parts = 0;
    for (x, k, n, m) in [(0.5, 0.7, 6, 5), (1.5, 2.0, 4, 3), (0.5, 0.7, 6, 0), (0.2, 0.1, 3, 9)] {
        let h = 1e-6;
        let by_x = (f(x + h, k, n, m) - f(x - h, k, n, m)) / (2.0 * h);
        let by_k = (f(x, k + h, n, m) - f(x, k - h, n, m)) / (2.0 * h);
        parts += i32::from(by_k != 0.0);
        for mode in [Mode::Forward, Mode::Reverse] {
            let args: [Value; 4] = [x.into(), k.into(), n.into(), m.into()];
            let [interpreted, compiled] = [Backend::Interp, Backend::Jit]
                .map(|backend| gradient("skipped", &args, mode, backend));
            assert_eq!(interpreted, compiled);
            for (d, difference) in compiled.iter().zip([by_x, by_k]) {
                let near = (d - difference).abs() < 1e-4 * difference.abs().max(1.0);
                assert!(near, "{mode:?} {args:?}: {compiled:?}, not {by_x} and {by_k}");
            }
        }
    }
    assert!(0 < parts && parts < 4, "{parts}");
    // Slopes that are infinite where nothing is made of them.
    has("skipped", &[0.0.into(), 0.5.into(), 2.into(), 1.into()], &[0.0, 0.0]);
}
