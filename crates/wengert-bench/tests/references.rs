//! Every workload against its reference gradient, in both modes, and the interpreter against native
//! code to the bit.

use wengert::{Backend, Function, Mode};
use wengert_bench::compile_time;
use wengert_bench::workload::{ALL, Workload};
use wengert_core::check::{Derived, Engine, Interpreter, bits, floats};
use wengert_core::fault::Fault;
use wengert_core::interp::Val;
use wengert_core::ir::Module;
use wengert_runtime::{Arg, Options, Program, RunError};

/// Native code, compiled anew for each call.
struct Native;

impl Engine for Native {
    fn call(&mut self, module: &Module, name: &str, args: &[Val]) -> Result<Vec<Val>, Fault> {
        let program = Program::compile(module, &[name]).unwrap();
        let args: Vec<Arg> = args.iter().filter_map(Arg::from_val).collect();
        let (out, _) =
            program.call(name, &args, &Options::default()).map_err(|error| match error {
                RunError::Fault(fault) => fault,
                other => panic!("{other}"),
            })?;
        Ok(out.into_iter().map(Val::from).collect())
    }
}

/// The gradient, backwards.
fn reverse(derived: &Derived, engine: &mut dyn Engine, args: &[Val]) -> (Vec<Val>, Vec<Val>) {
    derived.vjp(engine, args, &[Val::f64(1.0)]).unwrap()
}

/// The derivative along a direction, forwards.
fn forward(derived: &Derived, engine: &mut dyn Engine, args: &[Val], along: &[Val]) -> Vec<Val> {
    derived.jvp(engine, args, along).unwrap().1
}

/// A direction with a different part of each number.
fn direction(derived: &Derived, args: &[Val]) -> Vec<Val> {
    let mut k = 0u32;
    let mut next = || {
        k += 1;
        f64::from(k).cos()
    };
    let mut along = |k: &usize| match &args[*k] {
        Val::Array(x) => Val::shaped(x.with_floats((0..x.len()).map(|_| next()))),
        _ => Val::f64(next()),
    };
    derived.wrt.iter().map(&mut along).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The most iterations of what takes seconds to run to its end: the plates. `cargo xtask long` runs them all.
fn most() -> usize {
    std::env::var("WENGERT_ITERATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Native code against the reference and against the adjoint by hand, backwards; and forwards.
fn matches_its_reference(name: &str) {
    let workload = Workload::named(name).unwrap();
    let (derived, _) = workload.compile().unwrap();
    let slow = ["d", "d2"].contains(&name);
    let n = if slow { workload.size().min(most()) } else { workload.size() };
    let args = (workload.args)(n);
    let (value, gradient) = reverse(&derived, &mut Native, &args);
    let (value, gradient) = (floats(&value)[0], floats(&gradient));
    if n == workload.size() {
        let (error, good) = workload.compare(n, value, &gradient).unwrap();
        assert!(good, "off by {error:e}");
    }
    let scale = gradient.iter().fold(0f64, |m, g| m.max(g.abs()));
    let tolerance = workload.reference.as_ref().unwrap().tolerance.max(1e-9);
    let mut hand = (workload.hand)(n);
    assert!((hand.run() - value).abs() <= tolerance * value.abs());
    let by_hand = hand.gradient();
    assert_eq!(by_hand.len(), gradient.len());
    for (k, (got, want)) in gradient.iter().zip(by_hand).enumerate() {
        assert!((got - want).abs() <= tolerance * scale, "by hand, {k}: {got} {want}");
    }
    let u = direction(&derived, &args);
    let along = floats(&forward(&derived, &mut Native, &args, &u))[0];
    let expected = dot(&gradient, &floats(&u));
    let size = scale.max(expected.abs());
    assert!((along - expected).abs() <= tolerance * size, "forward: {along} {expected}");
}

/// Interpreter against native code at sizes the interpreter can run, both ways.
fn agrees_to_the_bit(name: &str) {
    let workload = Workload::named(name).unwrap();
    let (derived, _) = workload.compile().unwrap();
    for n in workload.small {
        let args = (workload.args)(*n);
        let mut interp = Interpreter::default();
        let (v1, g1) = reverse(&derived, &mut interp, &args);
        let (v2, g2) = reverse(&derived, &mut Native, &args);
        assert_eq!(bits(&v1), bits(&v2), "value at {n}");
        assert_eq!(bits(&g1), bits(&g2), "gradient at {n}");
        let u = direction(&derived, &args);
        let f1 = forward(&derived, &mut interp, &args, &u);
        let f2 = forward(&derived, &mut Native, &args, &u);
        assert_eq!(bits(&f1), bits(&f2), "forward at {n}");
    }
}

/// One test of each kind for each workload, so that they run beside one another.
macro_rules! workloads {
    ($($name:ident)*) => {
        mod reference {
            $(#[test] fn $name() { super::matches_its_reference(stringify!($name)); })*
        }
        mod bit {
            #[test] fn a0() { super::agrees_to_the_bit("a0"); }
            $(#[test] fn $name() { super::agrees_to_the_bit(stringify!($name)); })*
        }
        /// None is left out.
        #[test]
        fn every_workload_is_tested() {
            let tested = ["a0", $(stringify!($name)),*];
            assert!(ALL.iter().all(|w| tested.contains(&w.name)));
            assert!(ALL.iter().all(|w| w.reference.is_some() || w.name == "a0"));
        }
    };
}

workloads! { a b c c3 d d2 e f1 f2 f3 g h }

/// Lorenz at a size where rounding has not grown: the tighter of its two references.
#[test]
fn lorenz_over_ten_thousand_steps() {
    let workload = Workload::named("c").unwrap();
    let (derived, _) = workload.compile().unwrap();
    let (value, gradient) = reverse(&derived, &mut Native, &(workload.args)(10_000));
    let expected = [
        5.454020252614165e-2,
        -8.951256868041752e-1,
        -5.021772002876552e0,
        -6.388427378382429e-1,
        -5.176357176081137e-1,
        2.5602533261621822e-1,
    ];
    assert!((floats(&value)[0] + 8.173499932239537).abs() <= 8.2e-11);
    for (got, want) in floats(&gradient).iter().zip(expected) {
        assert!((got - want).abs() <= 1e-11 * 5.03, "{got} {want}");
    }
}

/// An adjoint that decays into subnormals is flushed, and costs no more for it.
#[test]
fn a_decaying_adjoint_ends_in_zero() {
    let workload = Workload::named("a0").unwrap();
    let (derived, _) = workload.compile().unwrap();
    let args = (workload.args)(100_000);
    let (value, gradient) = reverse(&derived, &mut Native, &args);
    let (h, w) = (floats(&value)[0], 0.9);
    // At the fixed point h = tanh(w h + b): dh/db = s / (1 - w s) with s = 1 - h^2.
    let s = 1.0 - h * h;
    let expected = [h * s / (1.0 - w * s), s / (1.0 - w * s)];
    for (got, want) in floats(&gradient).iter().zip(expected) {
        assert!((got - want).abs() <= 1e-10, "{got} {want}");
    }
}

/// Workload k: bodies of many statements. Both modes agree, and so do both backends.
#[test]
fn long_bodies() {
    for length in [10, 100, 1000] {
        let text = compile_time::long_body(length);
        let n = if length > 100 { 10 } else { 1000 };
        let run = |backend, mode| {
            let f = Function::last_of(text.as_str()).unwrap();
            let f = f.with_options(wengert::Options { backend, mode, ..Default::default() });
            let g = f.value_and_grad((0.9, 0.1, 0.5, n), ["w", "b", "h"]).unwrap();
            let gradient = ["w", "b", "h"].map(|p| g.get(p).and_then(|d| d.as_f64()).unwrap());
            (g.value, gradient)
        };
        let native = run(Backend::Jit, Mode::Reverse);
        assert_eq!(native, run(Backend::Interp, Mode::Reverse), "{length}");
        let forward = run(Backend::Jit, Mode::Forward);
        assert_eq!(native.0, forward.0);
        let size = native.1.iter().fold(0f64, |m, g| m.max(g.abs()));
        for (r, f) in native.1.iter().zip(forward.1) {
            assert!((r - f).abs() <= 1e-10 * size, "{length}: {native:?} {forward:?}");
        }
        // Statement by statement in Rust, with the machine's sine.
        let mut h = 0.5f64;
        for _ in 0..n {
            for j in 0..length {
                h = [0.9 * h, h + 0.1, h.sin(), h * h][j % 4];
            }
        }
        assert!((native.0 - h).abs() <= 1e-13, "{length}: {} {h}", native.0);
    }
}

/// Workload l: derivatives of second order of workload c.
#[test]
fn second_order() {
    let f = compile_time::lorenz().unwrap();
    let names = ["sigma", "rho", "beta"];
    let want = [
        [0.35465482120450, 0.21315822910809, -2.1931644597087],
        [0.21315822910809, 0.19243463499193, -1.9010291339900],
        [-2.1931644597087, -1.9010291339900, -7.8420710881088],
    ];
    let hessian = compile_time::lorenz_hessian(&f).unwrap();
    for (i, p) in names.iter().enumerate() {
        for (j, q) in names.iter().enumerate() {
            let got = hessian.get(p, q).and_then(|h| h.as_f64()).unwrap();
            assert!((got - want[i][j]).abs() <= 1e-9 * 7.9, "{p} {q}: {got}");
        }
    }
    let product = compile_time::lorenz_product(&f).unwrap();
    let want = [-5.7985220997053535, -5.1050599028782, -29.521435992015];
    for (p, want) in names.iter().zip(want) {
        let got = product.get(p).and_then(|h| h.as_f64()).unwrap();
        assert!((got - want).abs() <= 1e-9 * 29.6, "{p}: {got}");
    }
}

/// What goes on the tape per iteration.
#[test]
fn tapes_are_small() {
    for (name, most) in [("a", 8.1), ("a0", 8.1), ("c", 24.1), ("c3", 24.1), ("h", 16.1)] {
        let workload = Workload::named(name).unwrap();
        let (derived, compiled) = workload.compile().unwrap();
        let n = 10_000;
        let values = (workload.args)(n);
        let entry = format!("{}.vjp", derived.func.name);
        let mut args: Vec<Arg> = values.iter().filter_map(Arg::from_val).collect();
        args.push(Arg::F64(1.0));
        let (_, stats) = compiled.gradient.call(&entry, &args, &Options::default()).unwrap();
        let bytes = stats.tape_peak_bytes as f64 / n as f64;
        assert!(bytes <= most, "{name}: {bytes} bytes per iteration");
    }
}
