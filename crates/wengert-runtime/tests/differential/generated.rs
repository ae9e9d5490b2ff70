//! Random programs and their derivatives.

use crate::random::Random;
use crate::{Arg, Both, Ran};
use wengert_core::check::Derived;
use wengert_core::generate;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type};
use wengert_core::ops::Scalar;

/// Iterations after which a `while` loop of a generated program is taken not to end.
const MAX_ITERATIONS: u64 = 200;

fn args(vals: &[Val]) -> Vec<Arg<'_>> {
    let arg = |val| match val {
        &Val::Scalar(Scalar::F64(x)) => Arg::F64(x),
        &Val::Scalar(Scalar::I64(x)) => Arg::I64(x),
        &Val::Scalar(Scalar::Bool(x)) => Arg::Bool(x),
        Val::Array(x) => Arg::Array(x),
        Val::Tape(_) => panic!("a tape is not an argument"),
    };
    vals.iter().map(arg).collect()
}

/// A number in the place of each float of a value.
fn like(val: &Val, random: &mut Random) -> Val {
    let mut any = || (random.bits() % 2000) as f64 / 500.0 - 2.0;
    match val {
        Val::Array(x) => Val::array(x.iter().map(|_| any()).collect()),
        _ => Val::f64(any()),
    }
}

fn agree(module: &Module, entry: &str, vals: &[Val]) -> Ran {
    let mut both = Both::of(module.clone());
    both.options.max_iterations = MAX_ITERATIONS;
    both.agree(entry, &args(vals))
}

#[test]
fn programs_and_their_derivatives() {
    let programs =
        std::env::var("WENGERT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    for seed in 0..programs {
        let case = generate::case(seed);
        let Ok(derived) = Derived::new(case.func.clone(), case.wrt.clone()) else { continue };
        let name = &derived.func.name;
        let mut random = Random(seed);
        let vals = &case.args;
        let Ok(_) = agree(&derived.primal, name, vals) else { continue };

        let tangents: Vec<Val> = case.wrt.iter().map(|k| like(&vals[*k], &mut random)).collect();
        let with_tangents: Vec<Val> = vals.iter().chain(&tangents).cloned().collect();
        let _ = agree(&derived.forward, &format!("{name}.jvp"), &with_tangents);

        let results = Interp::new(&derived.primal).call(name, vals.clone()).unwrap();
        let types: Vec<Type> = derived.func.results.clone();
        let floats = results.into_iter().zip(types).filter(|(_, t)| t.is_float());
        let adjoints: Vec<Val> = floats.map(|(r, _)| like(&r, &mut random)).collect();
        let with_adjoints: Vec<Val> = vals.iter().chain(&adjoints).cloned().collect();
        let _ = agree(&derived.reverse, &format!("{name}.vjp"), &with_adjoints);
    }
}
