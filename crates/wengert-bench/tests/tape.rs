//! The workloads recorded on the eager tape, against the compiler.

use wengert::tape::{Tape, Var};
use wengert_bench::generic::{inputs, run};
use wengert_bench::workload::{ALL, Workload};
use wengert_core::check::{Interpreter, floats};
use wengert_core::interp::Val;

/// Value and gradient by the tape, in the order of the workload's parameters.
fn recorded(workload: &Workload, args: &[Val]) -> (f64, Vec<f64>) {
    let tape = Tape::new();
    let mut by: Vec<Vec<Var>> = vec![Vec::new(); args.len()];
    let inputs = inputs(args, |k, x| {
        if !workload.wrt.contains(&k) {
            return Var::constant(x);
        }
        by[k].push(tape.var(x));
        by[k][by[k].len() - 1]
    });
    let y = run(workload.name, &inputs).unwrap();
    let d = y.backward().unwrap();
    let gradient = workload.wrt.iter().flat_map(|k| d.wrt_all(&by[*k]).unwrap()).collect();
    (y.value(), gradient)
}

#[test]
fn tape_and_compiler_agree() {
    for workload in ALL {
        let (derived, _) = workload.compile().unwrap();
        for n in workload.small.iter().copied().filter(|n| *n > 0) {
            let args = (workload.args)(n);
            let engine = &mut Interpreter::default();
            let (value, adjoints) = derived.vjp(engine, &args, &[Val::f64(1.0)]).unwrap();
            let (value, wanted) = (floats(&value)[0], floats(&adjoints));
            let (y, gradient) = recorded(workload, &args);
            let scale = wanted.iter().fold(f64::MIN_POSITIVE, |most, d| most.max(d.abs()));
            assert!((y - value).abs() <= 1e-12 * value.abs(), "{} {n}: {y} {value}", workload.name);
            assert_eq!(gradient.len(), wanted.len(), "{} {n}", workload.name);
            for (got, want) in gradient.iter().zip(&wanted) {
                let error = (got - want).abs() / scale;
                assert!(error <= 1e-12, "{} {n}: {got} {want}, {error:e}", workload.name);
            }
        }
    }
}
