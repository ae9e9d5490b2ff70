//! Every row of the rule table: its partials against finite differences of its own value, in both
//! modes, at random points of its domain.

use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::interp::Val;
use wengert_core::ir::parse;
use wengert_core::ops::{Class, Partial, Prim, Uses};

/// A program that applies a row to its parameters, conditions fixed.
fn program(prim: Prim) -> String {
    let inputs = prim.signature().split('>').next().unwrap();
    let (mut params, mut args) = (Vec::new(), Vec::new());
    for (k, letter) in inputs.chars().enumerate() {
        if letter == 'b' {
            args.push("true".to_string());
        } else {
            params.push(format!("%x{k}: f64"));
            args.push(format!("%x{k}"));
        }
    }
    format!(
        "func @f({}) -> f64 {{\n  %y = {} {}\n  return %y\n}}\n",
        params.join(", "),
        prim.name(),
        args.join(", ")
    )
}

#[test]
fn partials_are_the_derivatives_of_values() {
    let mut random = Random(11);
    let mut checked = 0;
    for prim in
        Prim::ALL.iter().copied().filter(|p| !matches!(p.class(), Class::Zero | Class::Cast))
    {
        let module = parse::module(&program(prim)).unwrap();
        let func = module.funcs[0].clone();
        let n = func.params().len();
        let derived = Derived::new(func, (0..n).collect()).unwrap();
        let (lo, hi) = prim.domain();
        for _ in 0..20 {
            let args: Vec<Val> = (0..n).map(|_| Val::f64(random.float(lo, hi))).collect();
            let mut engine = Interpreter::default();
            let report =
                check::derivatives(&derived, &mut engine, &args, 2, random.bits()).unwrap();
            assert!(report.passes(), "{} at {args:?}: {report}", prim.name());
        }
        checked += 1;
    }
    assert!(checked >= 17, "only {checked} rows have a derivative");
}

#[test]
fn rows_are_well_formed() {
    for prim in Prim::ALL.iter().copied() {
        assert_eq!(Prim::from_name(prim.name()), Some(prim), "two rows are called {}", prim.name());
        let inputs: Vec<Uses> = (0..prim.arity()).map(Uses::input).collect();
        let partials = prim.partials(&inputs, Uses::OUTPUT);
        match prim.class() {
            Class::Linear | Class::Smooth => assert_eq!(partials.len(), prim.arity()),
            Class::Zero | Class::Select | Class::Cast => {
                assert!(partials.is_empty(), "{}", prim.name())
            }
        }
        if prim.class() == Class::Linear {
            let constant = |p: &Partial<Uses>| matches!(p, Partial::Const(_));
            assert!(partials.iter().all(constant), "{}", prim.name());
        }
    }
}
