//! What tests of nested derivatives share.
#![allow(dead_code)]

use wengert_core::check::{self, Engine, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type, parse, verify};
use wengert_core::transform::{derivative, pipeline};

pub(crate) fn prepared(text: &str) -> (Module, String) {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}"));
    let name = module.funcs[0].name.to_string();
    (pipeline::module(&module, &name).unwrap_or_else(|e| panic!("{e}")), name)
}

pub(crate) fn run(module: &Module, name: &str, args: &[Val]) -> Vec<f64> {
    let results = Interpreter::default().call(module, name, args);
    check::floats(&results.unwrap_or_else(|e| panic!("{e}\n{module}")))
}

pub(crate) fn verified(module: &Module) {
    verify::module(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
}

/// The derivative of order `modes.len()` of a function of one float (`x`, then others) at a point: the
/// modes are applied from left to right, `f` forward and `r` reverse.
pub(crate) fn higher(text: &str, modes: &str, x: f64, others: &[Val]) -> f64 {
    let (mut module, mut name) = prepared(text);
    // Which result is the derivative, and what its parameters are.
    let mut args = vec![Val::f64(x)];
    args.extend(others.iter().cloned());
    let mut result = 0;
    for mode in modes.chars() {
        let results = module.func(&name).unwrap().results.clone();
        if mode == 'f' {
            module = derivative::jvp_of(&module, &name, &[0], 1).unwrap_or_else(|e| panic!("{e}"));
            name += ".jvp";
            args.push(Val::f64(1.0));
            let floats = |types: &[Type]| types.iter().filter(|t| t.is_float()).count();
            result = results.len() + floats(&results[..result]);
        } else {
            module = derivative::vjp_of(&module, &name, &[0]).unwrap_or_else(|e| panic!("{e}"));
            name += ".vjp";
            for (k, _) in results.iter().enumerate().filter(|(_, t)| t.is_float()) {
                args.push(Val::f64(if k == result { 1.0 } else { 0.0 }));
            }
            result = results.len();
        }
        verified(&module);
    }
    let out = run(&module, &name, &args);
    out[result]
}

pub(crate) const ALL: [&str; 14] =
    ["f", "r", "ff", "fr", "rf", "rr", "fff", "ffr", "frf", "frr", "rff", "rfr", "rrf", "rrr"];

/// The gradient by both modes at order one, checked against each other and differences.
pub(crate) fn checked(text: &str, args: &[Val], order: usize) {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    let name = module.funcs[0].name.to_string();
    let report = check::check_grads(&module, &name, args, order).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.passes(), "{report}");
    assert_eq!(report.rows.len(), 2 * ((1 << order) - 1), "{report}");
}
