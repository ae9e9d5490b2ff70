//! Functions from source to gradients: arguments, modes, backends, caching, threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wengert::{Args, Backend, Function, Mode, Options, Value, Wrt};

const ENERGY: &str = "
def spring(x, k):
    return 0.5 * k * x * x

def energy(x, k=2.0, n=1):
    e = 0.0
    for step in range(n):
        for i in range(len(x)):
            e += spring(x[i], k)
    return e
";

fn energy() -> Function {
    Function::from_source(ENERGY, "energy").unwrap()
}

#[test]
fn arguments_by_name_by_position_and_by_default() {
    let x = vec![1.0, 2.0];
    let value = |args: Args| energy().value(args).unwrap().values;
    assert_eq!(value((&x,).into()), [5.0.into()]);
    assert_eq!(value((&x, 4.0).into()), [10.0.into()]);
    assert_eq!(value((&x, 4, 3).into()), [30.0.into()]);
    assert_eq!(value((("n", 3), ("x", &x)).into()), [15.0.into()]);
    let bound = energy().bind([&x]).unwrap();
    assert_eq!(bound, [Value::from(&x), Value::Float(2.0), Value::Int(1)]);
}

#[test]
fn gradients_by_default_are_by_all_floats() {
    let g = energy().value_and_grad([vec![1.0, 2.0]], Wrt::All).unwrap();
    assert_eq!(g.value, 5.0);
    assert_eq!(g.grad, [("x".into(), [2.0, 4.0].into()), ("k".into(), 2.5.into())]);
    // An integer that is used as a float is one.
    let g = energy().value_and_grad((vec![1.0, 2.0], 4), "k").unwrap();
    assert_eq!(g.grad, [("k".into(), 2.5.into())]);
}

#[test]
fn modes_and_backends_agree() {
    let args = || Args::from((vec![0.3, -0.7, 1.1], 1.5, 2));
    for mode in [Mode::Reverse, Mode::Forward] {
        let run = |backend| {
            let options = Options { mode, backend, ..Options::default() };
            energy().with_options(options).value_and_grad(args(), Wrt::All).unwrap()
        };
        let (interp, jit) = (run(Backend::Interp), run(Backend::Jit));
        // Backends to the bit.
        assert_eq!((interp.value, &interp.grad), (jit.value, &jit.grad));
        let Some(dx) = jit.get("x").and_then(Value::as_slice) else { panic!("an array") };
        for (d, x) in dx.iter().zip([0.3, -0.7, 1.1]) {
            assert!((d - 2.0 * 1.5 * x).abs() < 1e-12);
        }
        assert_eq!(jit.stats.tape_bytes > 0, mode == Mode::Reverse);
    }
}

#[test]
fn an_empty_array_has_an_empty_gradient() {
    for mode in [Mode::Reverse, Mode::Forward] {
        let f = energy().with_options(Options { mode, ..Options::default() });
        let g = f.value_and_grad([Vec::<f64>::new()], "x").unwrap();
        assert_eq!((g.value, g.grad), (0.0, vec![("x".into(), Vec::<f64>::new().into())]));
    }
}

#[test]
fn tangents_and_adjoints_are_transposes() {
    let f = Function::last_of("def f(x, y):\n    return x * y, x / y\n").unwrap();
    let (x, y) = (3.0, 2.0);
    let t = f.jvp([x, y], [("y", 1)]).unwrap();
    assert_eq!(t.tangents, [x.into(), (-x / (y * y)).into()]);
    let a = f.vjp([x, y], [1.0, 4.0], "y").unwrap();
    assert_eq!(a.adjoints, [("y".into(), (x - 4.0 * x / (y * y)).into())]);
    assert_eq!(a.values, t.values);
    let none = f.jvp([x, y], ()).unwrap();
    assert_eq!(none.tangents, [0.0.into(), 0.0.into()]);
}

#[test]
fn mismatched_tangents_and_adjoints_are_refused() {
    let f = energy();
    let x = || Args::from([vec![1.0, 2.0]]);
    for (tangent, text) in [
        (Value::from([1.0]), "`x` has 2 elements, but its tangent has 1"),
        (Value::Float(1.0), "`x` must be an array, but a float is given"),
    ] {
        let error = f.jvp(x(), [("x", tangent)]).unwrap_err();
        assert!(error.to_string().ends_with(text), "{error}");
    }
    let error = f.vjp(x(), (), Wrt::All).unwrap_err();
    assert!(
        error.to_string().ends_with("`energy` has 1 float result, but 0 adjoints are given"),
        "{error}"
    );
    let error = f.vjp(x(), [[1.0]], Wrt::All).unwrap_err();
    assert!(
        error.to_string().ends_with("adjoint 1 must be a number, but an array is given"),
        "{error}"
    );
    // An adjoint of an array has as many elements as the array.
    let f = Function::last_of("def f(x):\n    x[0] = 2 * x[1]\n    return x\n").unwrap();
    let error = f.vjp(x(), [[1.0, 2.0, 3.0]], Wrt::All).unwrap_err();
    assert!(
        error.to_string().ends_with("result 1 has 2 elements, but its adjoint has 3"),
        "{error}"
    );
}

#[test]
fn the_callers_array_stays_as_it_is() {
    let f = Function::last_of("def f(x):\n    x[0] = 2 * x[1]\n    return x\n").unwrap();
    let x = vec![1.0, 5.0];
    assert_eq!(f.value([&x]).unwrap().values, [[10.0, 5.0].into()]);
    assert_eq!(x, [1.0, 5.0]);
}

#[test]
fn the_second_call_compiles_nothing() {
    let f = energy();
    let first = f.value_and_grad([vec![1.0; 3]], Wrt::All).unwrap();
    let second = f.value_and_grad([vec![2.0; 5]], Wrt::All).unwrap();
    assert!(second.stats.compile_seconds < first.stats.compile_seconds);
    // Other kinds of arguments are another program.
    assert_eq!(f.value((vec![1.0], 2)).unwrap().values, [1.0.into()]);
}

#[test]
fn one_function_on_many_threads() {
    let f = Arc::new(energy());
    std::thread::scope(|scope| {
        for t in 0..4 {
            let f = f.clone();
            scope.spawn(move || {
                for k in 0..20 {
                    let x = vec![f64::from(t * 20 + k); 4];
                    let g = f.value_and_grad([&x], "x").unwrap();
                    assert_eq!(
                        g.get("x"),
                        Some(&x.iter().map(|x| 2.0 * x).collect::<Vec<_>>().into())
                    );
                }
            });
        }
    });
}

#[test]
fn a_run_can_be_interrupted() {
    let f = Function::last_of("def f(x):\n    while x > 0:\n        x = x + 1\n    return x\n")
        .unwrap();
    let interrupt = Some(Arc::new(AtomicBool::new(true)));
    let error =
        f.with_options(Options { interrupt, ..Options::default() }).value([1.0]).unwrap_err();
    assert!(error.to_string().ends_with("interrupted"), "{error}");
}

#[test]
fn checks_pass_on_both_backends() {
    for backend in [Backend::Interp, Backend::Jit] {
        let f = energy().with_options(Options { backend, ..Options::default() });
        let report = f.check((vec![0.5, 1.5], 0.7, 2), Wrt::All, 5).unwrap();
        assert!(report.passes() && report.unsettled == 0, "{report}");
    }
}
