//! Batches: the bits of the members alone, for every number of threads.

use wengert::{
    Args, Array, Backend, Error, ErrorKind, FaultKind, Function, Mode, Options, Value, Wrt,
};

const PROGRAMS: &str = "
import numpy as np

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
