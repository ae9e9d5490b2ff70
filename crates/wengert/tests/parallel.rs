//! Parallel loops: the same bits on any number of threads and by every backend, the derivatives of the loop run in
//! order, and errors that say what iterations have to do with each other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use wengert::{Arg, Args, Array, Backend, Error, FaultKind, Function, Mode, Options, Value, Wrt};

const PROGRAMS: &str = "
import math
import numpy as np
import wengert
from wengert import parallel

def paths(Z, v0, kappa, theta):
    n, steps = Z.shape
    total = 0.0
    hits = 0
    for i in wengert.parallel(range(n)):
        x = 0.1
        v = v0
        for t in range(steps):
            vp = max(v, 1e-6)
            x += 0.01 * theta + math.sqrt(vp * 0.1) * Z[i, t]
            v += kappa * (theta - vp) * 0.1
            if x > 1.5:
                break
        if x > 0.2:
            total += math.exp(x) - 1.0
            hits += 1
        else:
            total -= 0.1 * x
    return total / (n + 1) + 0.001 * hits

def rows(X, W, b):
    n, m = X.shape
    out = np.zeros((n, len(b)))
    for i in parallel(range(n)):
        h = np.tanh(W @ X[i] + b)
        out[i] = h * h
        out[i, 0] += 0.5 * h[0]
    return np.sum(out * out)

def roots(a, x0, scale):
    total = 0.0
    for i in wengert.parallel(range(len(a))):
        x = x0
        while abs(x * x - a[i] * scale) > 1e-10:
            x = x - (x * x - a[i] * scale) / (2 * x)
        total += x
    return total

def near(values, k):
    return values[k] * values[0] + np.sum(values * values)

def helped(x, s):
    y = x * s
    total = 0.0
    for i in wengert.parallel(range(len(x))):
        total += near(y, i) + near(x, len(x) - 1 - i)
    return total

def table(x, weights):
    n = len(x)
    m = len(weights)
    y = np.zeros(n)
    for i in wengert.parallel(range(n)):
        s = 0.0
        for j in range(n):
            s += math.sin(x[i] - x[j]) * weights[(i + j) % m]
        y[i] = s
    return np.sum(y * y)

def waves(u, k, steps: int):
    n = len(u)
    for t in range(steps):
        old = np.copy(u)
        for i in wengert.parallel(range(1, n - 1)):
            u[i] = old[i] + k * (old[i - 1] - 2.0 * old[i] + old[i + 1]) + 0.1 * math.sin(old[i])
    return np.sum(u * u)

def nested(A, s):
    n, m = A.shape
    out = np.zeros((n, m))
    for i in wengert.parallel(range(n)):
        row = np.zeros(m)
        for j in wengert.parallel(range(m)):
            row[j] = math.sin(A[i, j] * s) + s
        for j in range(m):
            out[i, j] = row[j] * row[(j + 1) % m]
    return np.sum(out)

def strided(x, s):
    n = len(x)
    y = x * s
    for i in wengert.parallel(range(0, n, 3)):
        y[i] = y[i] * y[i] + s
    for i in wengert.parallel(range(n - 1, -1, -2)):
        y[i] = math.sin(y[i])
    return np.sum(y)

def early(x, s):
    total = 1.0
    for i in wengert.parallel(range(len(x))):
        if x[i] < 0.0:
            continue
        total += math.sqrt(x[i]) * s
    return total

def summed(x, s):
    total = 1.0
    count = 0
    for i in wengert.parallel(range(len(x))):
        for k in range(2):
            for j in wengert.parallel(range(3)):
                total = x[i] * j * k + total
                count = count + 1
                if j > 1:
                    total = total - math.sin(x[i]) + s * x[i]
        total += x[i] * x[i]
    return total * s + 0.01 * count

def kepler(M, e):
    total = 0.0
    for i in wengert.parallel(range(len(M))):
        E = M[i]
        step = 1.0
        rounds = 0
        while abs(step) > 1e-12 and rounds < 50:
            step = (E - e * math.sin(E) - M[i]) / (1 - e * math.cos(E))
            E = E - step
            rounds += 1
        total += E * E + 0.001 * rounds
    return total

def barrier(Z, drift, scale):
    n, steps = Z.shape
    total = 0.0
    for i in wengert.parallel(range(n)):
        x = 0.0
        for t in range(steps):
            old = x
            x = math.sin(x) + drift + scale * Z[i, t]
            if x > 0.9:
                total += t + (0.9 - old) / (x - old)
                break
            if x < -0.8:
                x = x * x * scale
                break
        total += x * x
    return total

def staircase(x, s):
    n = len(x)
    y = np.zeros(n)
    for i in wengert.parallel(range(n)):
        v = x[i]
        for k in range(i % 5, (i * 7) % 11):
            v = math.sin(v * s) + 0.1 * k
            w = v
            while w > 0.3:
                w = w * 0.5 * s
            v = v + w
        if v > 0.5:
            for k in range(i % 4):
                v = v * math.exp(-v)
        y[i] = v
    return np.sum(y * y)

def looked_up(x, index):
    total = 0.0
    for i in wengert.parallel(range(len(index))):
        total += x[index[i]] ** 2
    return total
";

fn options(backend: Backend, threads: usize) -> Options {
    Options { backend, threads: Some(threads), ..Options::default() }
}

fn function(name: &str, options: Options) -> Function {
    Function::from_source(PROGRAMS, name).unwrap().with_options(options)
}

/// The same program with its loops in order.
fn in_order(name: &str) -> Function {
    let text =
        PROGRAMS.replace("wengert.parallel(range", "(range").replace("parallel(range", "(range");
    let text = text.replace("from wengert import (range", "from wengert import parallel");
    Function::from_source(text, name).unwrap()
}

fn given(values: Vec<Value>) -> Args {
    Args::from(values.into_iter().map(Arg::from).collect::<Vec<Arg>>())
}

/// Numbers between -1 and 1, another for every count.
fn number(k: usize) -> f64 {
    (k as f64 * 1.618).sin()
}

fn vector(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| number(k + seed)).collect()
}

fn matrix(n: usize, m: usize, seed: usize) -> Value {
    Array::new([n, m], vector(n * m, seed)).unwrap().into()
}

fn positive(n: usize) -> Vec<f64> {
    vector(n, 3).into_iter().map(|x| 2.0 + x).collect()
}

fn bits(value: &Value) -> Vec<u64> {
    floats(value).into_iter().map(f64::to_bits).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(x) => x.to_f64().unwrap(),
        other => vec![other.as_f64().unwrap()],
    }
}

/// Every program with arguments for loops of `n` iterations.
fn cases(n: usize) -> Vec<(&'static str, Vec<Value>)> {
    let v = |x: f64| Value::Float(x);
    vec![
        ("paths", vec![matrix(n, 7, 1), v(0.04), v(2.0), v(0.05)]),
        ("rows", vec![matrix(n, 3, 2), matrix(4, 3, 9), vector(4, 5).into()]),
        ("roots", vec![positive(n).into(), v(1.5), v(1.1)]),
        ("helped", vec![vector(n, 3).into(), 0.7.into()]),
        ("table", vec![vector(n, 4).into(), vector(5, 6).into()]),
        ("waves", vec![vector(n + 2, 7).into(), v(0.1), Value::Int(4)]),
        ("nested", vec![matrix(n, 5, 8), v(0.7)]),
        ("strided", vec![vector(n, 9).into(), v(0.9)]),
        ("early", vec![vector(n, 10).into(), v(0.4)]),
        ("summed", vec![vector(n, 11).into(), v(0.6)]),
        ("kepler", vec![positive(n).into(), v(0.6)]),
        ("barrier", vec![matrix(n, 9, 12), v(0.05), v(0.7)]),
        ("staircase", vec![vector(n, 13).into(), v(0.8)]),
    ]
}

/// Value, tangent and gradient, as bits.
fn all_bits(f: &Function, args: &[Value]) -> Vec<u64> {
    let value = f.call(given(args.to_vec())).unwrap();
    let gradient = f.value_and_grad(given(args.to_vec()), Wrt::All).unwrap();
    let mut all: Vec<u64> = value.values.iter().flat_map(bits).collect();
    all.push(gradient.value.to_bits());
    all.extend(gradient.grad.iter().flat_map(|(_, d)| bits(d)));
    all
}

#[test]
fn backends_and_threads_give_the_same_bits() {
    for n in [0, 1, 2, 63, 64, 65, 200] {
        for (name, args) in cases(n) {
            for mode in [Mode::Forward, Mode::Reverse] {
                // Forward mode takes a run for each number.
                if mode == Mode::Forward && n > 65 {
                    continue;
                }
                let with = |backend, threads| Options { mode, ..options(backend, threads) };
                let wanted = all_bits(&function(name, with(Backend::Interp, 1)), &args);
                for threads in [1, 2, 3, 8] {
                    let f = function(name, with(Backend::Jit, threads));
                    // The first run is on threads, whatever it takes; later ones if it is worth it.
                    for _ in 0..2 {
                        assert_eq!(all_bits(&f, &args), wanted, "{name} {n} {threads} {mode:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_c_compiler_gives_the_same_bits() {
    for (name, args) in cases(65).into_iter().chain(cases(20)) {
        let wanted = all_bits(&function(name, options(Backend::Interp, 1)), &args);
        for threads in [1, 2, 3, 8] {
            let f = function(name, options(Backend::Cc, threads));
            assert_eq!(all_bits(&f, &args), wanted, "{name} {threads}");
        }
    }
}

#[test]
fn loops_in_order_give_the_same_up_to_rounding() {
    for n in [1, 65, 200] {
        for (name, args) in cases(n) {
            let args = || given(args.clone());
            let here = function(name, options(Backend::Jit, 2));
            let (here, there) = (
                here.value_and_grad(args(), Wrt::All).unwrap(),
                in_order(name).value_and_grad(args(), Wrt::All).unwrap(),
            );
            let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-11 * (1.0 + scale);
            assert!(close(here.value, there.value, there.value.abs()), "{name} {n}");
            for ((which, a), (_, b)) in here.grad.iter().zip(&there.grad) {
                let (a, b) = (floats(a), floats(b));
                let scale = b.iter().fold(0f64, |m, x| m.max(x.abs()));
                for (a, b) in a.iter().zip(&b) {
                    assert!(close(*a, *b, scale), "{name} {n} {which}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn finite_differences_agree() {
    for (name, args) in cases(9) {
        for (k, arg) in args.iter().enumerate().filter(|(_, a)| !matches!(a, Value::Int(_))) {
            let f = function(name, options(Backend::Jit, 3));
            let gradient = f.value_and_grad(given(args.clone()), Wrt::All).unwrap();
            let by = f.parameters().nth(k).unwrap();
            let partials = floats(gradient.get(by).unwrap());
            let moved = |step: f64| -> f64 {
                let mut args = args.clone();
                args[k] = match arg {
                    Value::Array(x) => {
                        let data = x.to_f64().unwrap();
                        let data = data.iter().enumerate().map(|(k, x)| x + step * number(k + 40));
                        Array::new(x.shape().to_vec(), data.collect()).unwrap().into()
                    }
                    other => Value::Float(other.as_f64().unwrap() + step * number(40)),
                };
                f.call(given(args)).unwrap().values[0].as_f64().unwrap()
            };
            let h = 1e-6;
            let difference = (moved(h) - moved(-h)) / (2.0 * h);
            let along: f64 = partials.iter().enumerate().map(|(k, d)| d * number(k + 40)).sum();
            let scale = partials.iter().map(|d| d.abs()).sum::<f64>() + 1.0;
            assert!((difference - along).abs() < 1e-6 * scale, "{name} {by}: {difference} {along}");
        }
    }
}

#[test]
fn second_derivatives_do_not_depend_on_threads() {
    let args = || given(vec![positive(20).into(), Value::Float(1.5), Value::Float(1.1)]);
    let wanted = function("roots", options(Backend::Interp, 1)).hessian(args(), "scale").unwrap();
    for threads in [1, 2, 8] {
        let f = function("roots", options(Backend::Jit, threads));
        let given = f.hessian(args(), "scale").unwrap();
        assert_eq!(
            bits(given.get("scale", "scale").unwrap()),
            bits(wanted.get("scale", "scale").unwrap())
        );
    }
}

#[test]
fn the_fault_is_that_of_the_lowest_iteration() {
    let x = vector(100, 1);
    let mut index: Vec<i64> = (0..1000).map(|k| k % 100).collect();
    (index[777], index[431], index[999]) = (100, 250, -300);
    let index = Value::Array(Array::from(index));
    let run = |backend, threads, gradient: bool| -> Error {
        let f = function("looked_up", options(backend, threads));
        let args = given(vec![x.clone().into(), index.clone()]);
        match gradient {
            true => f.value_and_grad(args, "x").unwrap_err(),
            false => f.call(args).unwrap_err(),
        }
    };
    for gradient in [false, true] {
        let wanted = run(Backend::Interp, 1, gradient);
        let fault = wanted.fault().unwrap();
        assert!(matches!(fault.kind, FaultKind::Index { index: 250, .. }), "{wanted}");
        assert_eq!(fault.iterations.iter().map(|(_, i)| *i).collect::<Vec<_>>(), [431]);
        for threads in [1, 2, 3, 8] {
            for _ in 0..5 {
                let given = run(Backend::Jit, threads, gradient);
                assert_eq!(given.fault(), wanted.fault(), "{threads}");
            }
        }
    }
}

#[test]
fn an_interrupt_ends_all_threads() {
    // Some minutes of work, if it were not interrupted, and little to be recorded.
    let text = "
import math
import wengert

def long(x, rounds: int):
    total = 0.0
    for i in wengert.parallel(range(len(x))):
        s = 0
        for j in range(rounds):
            s = (s * 31 + j) % 1000003
        total += math.sin(x[i]) * s
    return total
";
    for gradient in [false, true] {
        for threads in [2, 4] {
            let stop = Arc::new(AtomicBool::new(false));
            let interrupt = Some(stop.clone());
            let f = Function::from_source(text, "long").unwrap();
            let f = f.with_options(Options { interrupt, ..options(Backend::Jit, threads) });
            // Compiled, so that it is the loop that is interrupted.
            let args = |rounds| given(vec![vector(1000, 1).into(), Value::Int(rounds)]);
            let run = move |rounds| match gradient {
                true => f.value_and_grad(args(rounds), "x").map(|_| ()),
                false => f.call(args(rounds)).map(|_| ()),
            };
            run(1000).unwrap();
            let (done, ended) = mpsc::channel();
            let runner = thread::spawn(move || done.send(run(100_000_000)));
            thread::sleep(Duration::from_millis(200));
            assert!(ended.try_recv().is_err(), "it has ended before it was interrupted");
            stop.store(true, Ordering::Relaxed);
            let error = ended.recv_timeout(Duration::from_secs(60)).expect("it goes on");
            let error = error.unwrap_err();
            assert!(matches!(error.fault().unwrap().kind, FaultKind::Interrupted), "{error}");
            runner.join().unwrap().unwrap();
        }
    }
}

/// The same where iterations run in lockstep, in a loop that each of them leaves at another time.
#[test]
fn an_interrupt_ends_loops_in_lockstep() {
    let text = "
import math
import wengert

def long(x, rounds: float):
    total = 0.0
    for i in wengert.parallel(range(len(x))):
        s = x[i]
        k = x[i]
        while k < rounds:
            s = math.sin(s)
            k += 1.0
        total += s
    return total
";
    let stop = Arc::new(AtomicBool::new(false));
    let interrupt = Some(stop.clone());
    let f = Function::from_source(text, "long").unwrap();
    let f = f.with_options(Options { interrupt, ..options(Backend::Cc, 1) });
    let run = move |rounds| f.call(given(vec![vector(1000, 1).into(), Value::Float(rounds)]));
    run(1000.0).unwrap();
    let (done, ended) = mpsc::channel();
    let runner = thread::spawn(move || done.send(run(1e8)));
    thread::sleep(Duration::from_millis(200));
    assert!(ended.try_recv().is_err(), "it has ended before it was interrupted");
    stop.store(true, Ordering::Relaxed);
    let error = ended.recv_timeout(Duration::from_secs(60)).expect("it goes on").unwrap_err();
    assert!(matches!(error.fault().unwrap().kind, FaultKind::Interrupted), "{error}");
    runner.join().unwrap().unwrap();
}

#[test]
fn the_tape_has_a_limit_on_threads_too() {
    let args = || given(vec![vector(3000, 1).into(), vector(5, 6).into()]);
    for threads in [1, 2] {
        let limited = Options { tape_limit: Some(100_000), ..options(Backend::Jit, threads) };
        let error = function("roots", limited)
            .value_and_grad(
                given(vec![positive(30_000).into(), Value::Float(1.5), Value::Float(1.1)]),
                Wrt::All,
            )
            .unwrap_err();
        assert!(matches!(error.fault().unwrap().kind, FaultKind::TapeLimit(_)), "{error}");
    }
    assert!(function("table", options(Backend::Jit, 2)).value_and_grad(args(), Wrt::All).is_ok());
}

/// Whether there is room for what is recorded has nothing to do with who records it.
#[test]
fn the_limit_of_the_tape_is_the_same_for_any_number_of_threads() {
    let args = || given(vec![positive(30_000).into(), Value::Float(1.5), Value::Float(1.1)]);
    for backend in [Backend::Jit, Backend::Cc] {
        let run = |threads, tape_limit| {
            let f = function("roots", Options { tape_limit, ..options(backend, threads) });
            move || f.value_and_grad(args(), Wrt::All)
        };
        let wanted = run(1, None)().unwrap();
        let needed = wanted.stats.tape_bytes;
        assert!(needed > 1 << 20, "{needed}");
        for threads in [2, 8] {
            for (percent, enough) in [(80, true), (99, true), (102, false), (120, false)] {
                let run = run(threads, Some(needed * 100 / percent));
                for _ in 0..20 {
                    match run() {
                        Ok(found) if enough => {
                            assert_eq!(found.value.to_bits(), wanted.value.to_bits());
                        }
                        Ok(_) => panic!("{percent} % of the limit on {threads} threads"),
                        Err(error) => {
                            let kind = &error.fault().unwrap().kind;
                            assert!(!enough && matches!(kind, FaultKind::TapeLimit(_)), "{error}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn members_of_a_batch_have_the_bits_they_have_alone() {
    let f = |threads| function("table", options(Backend::Jit, threads));
    let x: Vec<f64> = vector(5 * 70, 1);
    let w = vector(5, 6);
    let batch = Array::new([5, 70], x.clone()).unwrap();
    for threads in [1, 3] {
        let f = f(threads);
        let together =
            f.batch(["x"]).value_and_grad((Value::Array(batch.clone()), w.clone()), "x").unwrap();
        let rows = floats(together.get("x").unwrap());
        for k in 0..5 {
            let args = (x[k * 70..(k + 1) * 70].to_vec(), w.clone());
            let alone = f.value_and_grad(args, "x").unwrap();
            assert_eq!(together.values[k].to_bits(), alone.value.to_bits());
            let wanted: Vec<u64> = bits(alone.get("x").unwrap());
            let given = rows[k * 70..(k + 1) * 70].iter().map(|x| x.to_bits());
            assert_eq!(given.collect::<Vec<_>>(), wanted);
        }
    }
}
