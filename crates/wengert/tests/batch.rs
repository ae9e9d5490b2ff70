//! Batches: the bits of the members alone, for every number of threads.

use wengert::{
    Args, Array, Backend, Error, ErrorKind, FaultKind, Function, Mode, Options, Value, Wrt,
};

const PROGRAMS: &str = "
import numpy as np
import wengert

def root(a, x0):
    x = x0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x

def decay(x, rate: float, n: int):
    for i in range(n):
        x = x * rate + np.sin(x)
    return x

def network(x, W, b):
    h = np.zeros(len(b))
    for t in range(len(x)):
        h = np.tanh(W @ h + x[t] * b)
    return np.sum(h * h)

def pick(x, i: int):
    total = 0.0
    for k in range(i + 1):
        total += x[k]
    return total

def several(x, n: int):
    return np.arange(3) * x, x > 1, n

def ragged(n: int):
    return np.zeros(n)

def plain(x):
    return 2.0 * x

def pendulum(theta, omega, g, h):
    for k in range(20):
        omega = omega - h * g * np.sin(theta)
        theta = theta + h * omega
    return 0.5 * omega * omega + g * (1.0 - np.cos(theta))

def path(z, rate, weights):
    price = 1.0
    for k in range(len(z)):
        if z[k] > 0.9:
            break
        price = price * np.exp(rate + weights[k] * z[k])
    return max(price - 0.9, 0.0)

def written(x, k):
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1] + k
    return x[len(x) - 1] + np.sum(x * x)

def steps(x, n: int, table):
    total = x
    for i in range(n):
        assert total < 1e6
        total = total * 1.5 + table[i]
    return total

def factorial(x, n: int):
    return x if n <= 1 else x * n * factorial(x, n - 1)

def spread(x, w):
    total = 0.0
    for i in wengert.parallel(range(len(w))):
        total += w[i] * x * x
    return total

def length(x):
    total = np.float32(0.0)
    for i in range(len(x)):
        total += np.float32(x[i]) * np.float32(x[i])
    return total
";

fn function(name: &str, options: Options) -> Function {
    Function::from_source(PROGRAMS, name).unwrap().with_options(options)
}

fn threads(n: usize) -> Options {
    Options { threads: Some(n), ..Options::default() }
}

/// Numbers between -1 and 1, another for every count.
fn number(k: usize) -> f64 {
    (k as f64 * 1.618).sin()
}

fn bits(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(x) => x.to_f64().unwrap().into_iter().map(f64::to_bits).collect(),
        other => vec![other.as_f64().unwrap().to_bits()],
    }
}

/// The sum over members in the order that is promised: two halves, split at the greatest power of two below.
fn summed(members: &[Vec<f64>]) -> Vec<f64> {
    if let [one] = members {
        return one.clone();
    }
    let (first, second) = members.split_at(members.len().next_power_of_two() / 2);
    summed(first).iter().zip(summed(second)).map(|(a, b)| a + b).collect()
}

#[test]
fn members_have_the_bits_they_have_alone() {
    let a: Vec<f64> = (0..37).map(|k| 2.0 + number(k)).collect();
    let compiler = wengert_runtime::cc::toolchain::Toolchain::get();
    let backends = [Backend::Interp, Backend::Jit, Backend::Auto].into_iter();
    for backend in backends.chain(compiler.map(|_| Backend::Cc)) {
        for mode in [Mode::Forward, Mode::Reverse] {
            let alone = function("root", Options { backend, mode, ..Options::default() });
            let alone: Vec<_> =
                a.iter().map(|a| alone.value_and_grad([*a, 1.5], Wrt::All).unwrap()).collect();
            let of = |name: &str| -> Vec<f64> {
                alone.iter().map(|g| g.get(name).unwrap().as_f64().unwrap()).collect()
            };
            let shared: Vec<Vec<f64>> = of("x0").into_iter().map(|d| vec![d]).collect();
            for n in [1, 2, 3, 8] {
                let f = function("root", Options { backend, mode, ..threads(n) });
                let g = f.batch(["a"]).value_and_grad((a.clone(), 1.5), Wrt::All).unwrap();
                assert_eq!(g.values, alone.iter().map(|g| g.value).collect::<Vec<_>>());
                assert_eq!(g.get("a"), Some(&of("a").into()));
                assert_eq!(bits(g.get("x0").unwrap()), [summed(&shared)[0].to_bits()]);
            }
        }
    }
}

#[test]
fn shared_arrays_are_summed_in_one_order() {
    let (members, steps, wide) = (21, 5, 4);
    let x: Vec<f64> = (0..members * steps).map(number).collect();
    let w = Array::new([wide, wide], (0..wide * wide).map(|k| number(k + 7)).collect()).unwrap();
    let b: Vec<f64> = (0..wide).map(|k| number(k + 99)).collect();
    let alone: Vec<_> = (0..members)
        .map(|k| {
            let args = (x[k * steps..(k + 1) * steps].to_vec(), w.clone(), b.clone());
            function("network", Options::default()).value_and_grad(args, Wrt::All).unwrap()
        })
        .collect();
    let rows: Vec<Vec<f64>> =
        alone.iter().map(|g| g.get("W").unwrap().as_slice().unwrap().to_vec()).collect();
    let batch = Array::new([members, steps], x.clone()).unwrap();
    for n in [1, 2, 3, 8] {
        let f = function("network", threads(n));
        let args = (Value::from(batch.clone()), w.clone(), b.clone());
        let g = f.batch(["x"]).value_and_grad(args, ["x", "W"]).unwrap();
        assert_eq!(g.get("W").unwrap().shape(), [wide, wide]);
        assert_eq!(g.get("W").unwrap().as_slice().unwrap(), summed(&rows));
        assert_eq!(g.get("x").unwrap().shape(), [members, steps]);
        let own: Vec<f64> =
            alone.iter().flat_map(|g| g.get("x").unwrap().as_slice().unwrap().to_vec()).collect();
        assert_eq!(g.get("x").unwrap().as_slice().unwrap(), own);
    }
}

#[test]
fn integers_differ_between_members_too() {
    let f = function("decay", threads(2));
    let g =
        f.batch(["n", "x"]).value_and_grad((vec![0.5, 0.25, 1.0], 0.5, vec![0_i64, 3, 11]), ["x"]);
    let g = g.unwrap();
    assert_eq!(g.values[0], 0.5);
    for (k, (x, n)) in [(0.5, 0), (0.25, 3), (1.0, 11)].into_iter().enumerate() {
        let alone = function("decay", Options::default()).value_and_grad((x, 0.5, n), ["x"]);
        let alone = alone.unwrap();
        assert_eq!(g.values[k], alone.value);
        assert_eq!(g.get("x").unwrap().as_slice().unwrap()[k], alone.grad[0].1.as_f64().unwrap());
    }
}

#[test]
fn results_of_every_kind() {
    let f = function("several", threads(2));
    // Integers given for a float.
    let run = f.batch(["x"]).call((vec![1_i64, 2], 5)).unwrap();
    let expected: [Value; 3] = [
        [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]].into(),
        vec![false, true].into(),
        vec![5_i64, 5].into(),
    ];
    assert_eq!(run.values, expected);
}

fn refused(error: Error, kind: ErrorKind, words: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn the_first_member_that_fails_is_named() {
    let places: Vec<i64> = (0..50).map(|k| if k == 17 || k == 40 { 9 } else { 1 }).collect();
    for n in [1, 2, 3, 8] {
        let f = function("pick", threads(n));
        let args = (vec![1.0, 2.0], places.clone());
        let error = f.batch(["i"]).value_and_grad(args, ["x"]).unwrap_err();
        assert!(error.render().contains("total += x[k]"), "{}", error.render());
        refused(error, ErrorKind::Run, "member 17 of the batch: index 2 is out of range");
    }
}

#[test]
fn what_is_no_batch_is_refused() {
    let f = function("decay", Options::default());
    let call = |over: &[&str], args: Args| {
        f.batch(over.iter().copied()).value_and_grad(args, ["x"]).unwrap_err()
    };
    let arguments = ErrorKind::Arguments;
    let error = call(&["x"], (1.0, 0.5, 3).into());
    refused(error, arguments, "`x` must have one value per member, but a float is given");
    let error = call(&["x", "n"], (vec![1.0, 2.0], 0.5, vec![1_i64, 2, 3]).into());
    refused(error, arguments, "`x` has 2 members along its first axis, but `n` has 3");
    let error = call(&["x"], (Vec::<f64>::new(), 0.5, 3).into());
    refused(error, arguments, "the batch has no members: `x` is empty");
    let error = call(&[], (1.0, 0.5, 3).into());
    refused(error, arguments, "no argument differs between the members");
    let error = call(&["y"], (1.0, 0.5, 3).into());
    refused(error, arguments, "no parameter `y`");
    let error = call(&["x", "n"], (vec![1.0, 2.0], 0.5, vec![1.5, 2.0]).into());
    refused(error, arguments, "`n` must be");
    // What is declared is declared for a member.
    let error = call(&["rate"], (1.0, [[0.5, 0.25]], 3).into());
    refused(error, arguments, "`rate` must be");
    let error = function("ragged", Options::default()).batch(["n"]).call((vec![1_i64, 2],));
    refused(
        error.unwrap_err(),
        ErrorKind::Run,
        "has shape (2,) for member 1 of the batch and (1,)",
    );
}

#[test]
fn a_batch_can_be_interrupted() {
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let f = function("plain", Options { interrupt: Some(stop), ..threads(2) });
    let error = f.batch(["x"]).call((vec![1.0, 2.0],)).unwrap_err();
    assert_eq!(error.fault().map(|f| &f.kind), Some(&FaultKind::Interrupted));
}

/// Values that members have of their own: an array with a row for each, as a batch is given it, and the rows.
fn rows(members: usize, shape: &[usize], at: usize) -> (Value, Vec<Value>) {
    let size: usize = shape.iter().product();
    let all: Vec<f64> = (0..members * size).map(|k| number(k + at)).collect();
    let row = |k: usize| -> Value {
        let row = all[k * size..(k + 1) * size].to_vec();
        if shape.is_empty() { row[0].into() } else { Array::new(shape, row).unwrap().into() }
    };
    let alone = (0..members).map(row).collect();
    let whole: Vec<usize> = std::iter::once(members).chain(shape.iter().copied()).collect();
    (Array::new(whole, all).unwrap().into(), alone)
}

fn given(values: Vec<Value>) -> Args {
    values.into_iter().collect()
}

/// Functions with arguments for a member, and those that differ between members.
fn cases() -> Vec<(&'static str, Vec<Value>, Vec<&'static str>)> {
    let (vector, weights): (Vec<f64>, Vec<f64>) =
        ((0..5).map(number).collect(), (0..5).map(|k| number(k + 50)).collect());
    let numbers = || vec![0.3.into(), 0.1.into(), 9.81.into(), 0.01.into()];
    let path = || vec![vector.clone().into(), 0.01.into(), weights.clone().into()];
    let written = || vec![vector.clone().into(), 0.4.into()];
    vec![
        ("pendulum", numbers(), vec!["theta", "omega"]),
        ("pendulum", numbers(), vec!["h"]),
        ("path", path(), vec!["z"]),
        ("path", path(), vec!["rate"]),
        ("path", path(), vec!["weights", "z"]),
        ("written", written(), vec!["x"]),
        ("written", written(), vec!["k"]),
        ("factorial", vec![1.1.into(), 5.into()], vec!["x"]),
        ("spread", vec![1.1.into(), vector.clone().into()], vec!["x"]),
        ("length", vec![vector.clone().into()], vec!["x"]),
    ]
}

/// By every backend, on any number of threads, in groups and beside them: values and gradients of members are those
/// they have alone, and what they share is the sum.
#[test]
fn batches_of_all_sizes_are_their_members() {
    let compiler = wengert_runtime::cc::toolchain::Toolchain::get();
    for backend in [Backend::Jit, Backend::Auto].into_iter().chain(compiler.map(|_| Backend::Cc)) {
        for (name, args, over) in cases() {
            let f = function(name, Options { backend, ..Options::default() });
            let names: Vec<String> = f.parameters().map(str::to_string).collect();
            let is_own = |k: usize| over.contains(&names[k].as_str());
            let most = 40;
            let given_rows: Vec<(Value, Vec<Value>)> =
                args.iter().enumerate().map(|(k, arg)| rows(most, arg.shape(), 100 * k)).collect();
            let member = |m: usize| -> Vec<Value> {
                let own =
                    |k: usize| if is_own(k) { given_rows[k].1[m].clone() } else { args[k].clone() };
                (0..args.len()).map(own).collect()
            };
            let alone: Vec<_> =
                (0..most).map(|m| f.value_and_grad(given(member(m)), Wrt::All).unwrap()).collect();
            for count in [1, 2, 7, 8, 9, 23, 40] {
                let whole = |k: usize| match is_own(k) {
                    true => rows(count, args[k].shape(), 100 * k).0,
                    false => args[k].clone(),
                };
                let whole: Vec<Value> = (0..args.len()).map(whole).collect();
                for n in [1, 2, 3, 8] {
                    let f = function(name, Options { backend, ..threads(n) });
                    let batch = f.batch(over.iter().copied());
                    let about = format!("{name} over {over:?} by {backend:?}: {count} on {n}");
                    let g = batch.value_and_grad(given(whole.clone()), Wrt::All).unwrap();
                    let values: Vec<u64> = g.values.iter().map(|v| v.to_bits()).collect();
                    let wanted: Vec<u64> =
                        alone[..count].iter().map(|g| g.value.to_bits()).collect();
                    assert_eq!(values, wanted, "{about}");
                    let run = batch.call(given(whole.clone())).unwrap();
                    assert_eq!(bits(&run.values[0]), wanted, "{about}");
                    for (k, name) in names.iter().enumerate() {
                        let Some(found) = g.get(name) else { continue };
                        let each: Vec<Vec<f64>> = alone[..count]
                            .iter()
                            .map(|g| match g.get(name).unwrap() {
                                Value::Array(x) => x.to_f64().unwrap(),
                                number => vec![number.as_f64().unwrap()],
                            })
                            .collect();
                        let wanted = if is_own(k) { each.concat() } else { summed(&each) };
                        let wanted: Vec<u64> = wanted.into_iter().map(f64::to_bits).collect();
                        assert_eq!(bits(found), wanted, "{about}, by {name}");
                    }
                }
            }
        }
    }
}

/// The lowest member that fails is told of in the words of a call of its own.
#[test]
fn members_fail_as_they_do_alone() {
    let compiler = wengert_runtime::cc::toolchain::Toolchain::get();
    for backend in [Backend::Jit, Backend::Interp].into_iter().chain(compiler.map(|_| Backend::Cc))
    {
        for bad in [0, 5, 8, 22] {
            // Beyond the end of an array, and a condition that does not hold.
            for (x, n) in [(0.5, 9_i64), (1e7, 3)] {
                let is_bad = |m: usize| m == bad || m == 22;
                let xs: Vec<f64> = (0..23).map(|m| if is_bad(m) { x } else { 0.5 }).collect();
                let ns: Vec<i64> =
                    (0..23).map(|m| if is_bad(m) { n } else { m as i64 % 5 }).collect();
                let table = vec![0.1, 0.2, 0.3, 0.4];
                let alone = function("steps", Options { backend, ..Options::default() });
                let alone = alone.value_and_grad((x, n, table.clone()), ["x"]).unwrap_err();
                for threads in [1, 2, 3, 8] {
                    let f = function(
                        "steps",
                        Options { backend, threads: Some(threads), ..Options::default() },
                    );
                    let args = || (xs.clone(), ns.clone(), table.clone());
                    for error in [
                        f.batch(["x", "n"]).value_and_grad(args(), ["x", "table"]).unwrap_err(),
                        f.batch(["x", "n"]).call(args()).unwrap_err(),
                    ] {
                        assert_eq!(
                            error.fault().map(|f| (&f.span, &f.iterations)),
                            alone.fault().map(|f| (&f.span, &f.iterations))
                        );
                        let told = format!(
                            "member {bad} of the batch: {}",
                            alone.diagnostics()[0].message
                        );
                        assert_eq!(error.diagnostics()[0].message, told);
                        assert_eq!(error.diagnostics()[0].labels, alone.diagnostics()[0].labels);
                    }
                }
            }
        }
    }
}

/// Each member may record as much as the limit says, and no more.
#[test]
fn the_limit_of_the_tape_is_that_of_a_member() {
    let compiler = wengert_runtime::cc::toolchain::Toolchain::get();
    for backend in [Backend::Jit].into_iter().chain(compiler.map(|_| Backend::Cc)) {
        let options = |limit| Options { backend, tape_limit: limit, ..threads(2) };
        let x: Vec<f64> = (0..50).map(number).collect();
        let args = || (x.clone(), 0.5, 100);
        let one = function("decay", options(None)).value_and_grad((0.3, 0.5, 100), ["x"]).unwrap();
        let needed = one.stats.tape_bytes;
        assert!(needed > 0);
        let free =
            function("decay", options(None)).batch(["x"]).value_and_grad(args(), ["x"]).unwrap();
        // Of eight at once it may be eight times as much.
        assert!((needed / 2..=8 * needed).contains(&free.stats.tape_bytes), "{:?}", free.stats);
        let f = function("decay", options(Some(needed)));
        let limited = f.batch(["x"]).value_and_grad(args(), ["x"]).unwrap();
        assert_eq!(limited.grad, free.grad);
        assert!(limited.stats.tape_bytes <= needed);
        let f = function("decay", options(Some(needed / 2)));
        let error = f.batch(["x"]).value_and_grad(args(), ["x"]).unwrap_err();
        refused(error, ErrorKind::Run, "member 0 of the batch: the tape");
    }
}

/// In limited memory a batch has the bits that it has without a limit, on any number of threads.
#[test]
fn a_batch_in_little_memory() {
    let x: Vec<f64> = (0..20).map(number).collect();
    let args = || (x.clone(), 0.5, 1000);
    let gradient = |memory, count| {
        let options = Options { backend: Backend::Jit, memory, ..threads(count) };
        let all = function("decay", options).batch(["x"]).value_and_grad(args(), ["x", "rate"]);
        all.map(|all| (all.values, all.grad, all.stats.run_again))
    };
    let (values, grad, none) = gradient(None, 1).unwrap();
    assert_eq!(none, 0);
    for count in [1, 2, 3] {
        let (in_little, by, again) = gradient(Some(6_000), count).unwrap();
        assert_eq!((in_little, by), (values.clone(), grad.clone()));
        assert!(again > 10_000, "{again}");
    }
    refused(gradient(Some(10), 2).unwrap_err(), ErrorKind::Run, "bytes are too few");
}
