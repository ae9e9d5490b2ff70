//! Every workload against its reference gradient, in both modes, and the interpreter against native
//! code to the bit.

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

/// The gradient, forwards: one run per component. Arrays are differentiated along a few directions.
fn forward(derived: &Derived, engine: &mut dyn Engine, args: &[Val], along: &[Val]) -> Vec<Val> {
    derived.jvp(engine, args, along).unwrap().1
}

fn directions(derived: &Derived, args: &[Val]) -> Vec<Vec<Val>> {
    if let Val::Array(x) = &args[derived.wrt[0]] {
        let wave = (0..x.len()).map(|k| (k as f64).cos()).collect();
        return vec![vec![Val::array(wave)], vec![Val::array(vec![1.0; x.len()])]];
    }
    let n = derived.wrt.len();
    let unit = |k: usize| (0..n).map(|j| Val::f64(f64::from(u8::from(j == k)))).collect();
    (0..n).map(unit).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn gradients_match_their_references_in_both_modes() {
    for workload in ALL {
        let (derived, _) = workload.compile().unwrap();
        let Some(reference) = &workload.reference else { continue };
        let args = (workload.args)(reference.n);
        let (value, gradient) = reverse(&derived, &mut Native, &args);
        let gradient = floats(&gradient);
        let (error, good) = workload.compare(reference.n, floats(&value)[0], &gradient).unwrap();
        assert!(good, "{}: off by {error:e}", workload.name);
        let scale = gradient.iter().fold(0f64, |m, g| m.max(g.abs()));
        for u in directions(&derived, &args) {
            let along = floats(&forward(&derived, &mut Native, &args, &u))[0];
            let expected = dot(&gradient, &floats(&u));
            let size = scale.max(expected.abs());
            assert!(
                (along - expected).abs() <= 1e-9 * size,
                "{}: {along} {expected}",
                workload.name
            );
        }
    }
}

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

#[test]
fn interpreter_and_native_code_agree_to_the_bit() {
    for workload in ALL {
        let (derived, _) = workload.compile().unwrap();
        for n in [0, 1, 2, 3000] {
            let args = (workload.args)(n);
            // The in-place recurrence starts from its first element.
            if n == 0 && workload.name == "h" {
                continue;
            }
            let mut interp = Interpreter::default();
            let (v1, g1) = reverse(&derived, &mut interp, &args);
            let (v2, g2) = reverse(&derived, &mut Native, &args);
            assert_eq!(bits(&v1), bits(&v2), "{} value at {n}", workload.name);
            assert_eq!(bits(&g1), bits(&g2), "{} gradient at {n}", workload.name);
            for u in directions(&derived, &args) {
                let f1 = forward(&derived, &mut interp, &args, &u);
                let f2 = forward(&derived, &mut Native, &args, &u);
                assert_eq!(bits(&f1), bits(&f2), "{} forward at {n}", workload.name);
            }
        }
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

/// What goes on the tape per iteration.
#[test]
fn tapes_are_small() {
    for (name, most) in [("a", 8.1), ("a0", 8.1), ("c", 24.1), ("h", 16.1)] {
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
