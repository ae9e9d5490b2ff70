//! Elementary functions, written in the IR.
//!
//! Each is one `.wir` file beside this one. The interpreter runs these programs and compiled code
//! inlines them, so every backend gives the same bits whatever the machine's own math library does.
//! A program may use other elementary functions, and call the parts that several programs share.

use crate::interp::{Interp, Val};
use crate::ir::{Func, Module, parse};
use crate::ops::{Prim, Scalar};
use std::sync::{Arc, LazyLock};

static PROGRAMS: LazyLock<Vec<(Prim, Func)>> = LazyLock::new(|| {
    let sources = [
        (Prim::Exp, include_str!("exp.wir")),
        (Prim::Log, include_str!("log.wir")),
        (Prim::Sin, include_str!("sin.wir")),
        (Prim::Cos, include_str!("cos.wir")),
        (Prim::Tanh, include_str!("tanh.wir")),
        (Prim::Erf, include_str!("erf.wir")),
        (Prim::Erfc, include_str!("erfc.wir")),
        (Prim::NormCdf, include_str!("normcdf.wir")),
        (Prim::NormInv, include_str!("norminv.wir")),
        (Prim::LGamma, include_str!("lgamma.wir")),
        (Prim::PolyGamma, include_str!("polygamma.wir")),
        (Prim::Sigmoid, include_str!("sigmoid.wir")),
        (Prim::Softplus, include_str!("softplus.wir")),
    ];
    sources.into_iter().map(|(prim, text)| (prim, parsed(prim.name(), text))).collect()
});

/// Functions that expanded programs call: slow paths, shared parts, and the programs themselves.
static CALLED: LazyLock<Vec<Func>> = LazyLock::new(|| {
    let parts = [
        parsed("reduce_huge", include_str!("reduce_huge.wir")),
        parsed("log_parts", include_str!("log_parts.wir")),
        parsed("erfc_scaled", include_str!("erfc_scaled.wir")),
        parsed("digamma_parts", include_str!("digamma_parts.wir")),
        parsed("hurwitz", include_str!("hurwitz.wir")),
    ];
    let programs = PROGRAMS.iter().map(|(_, program)| {
        let mut program = program.clone();
        program.name = callable(&program);
        program
    });
    programs.chain(parts).collect()
});

fn parsed(name: &str, text: &str) -> Func {
    match parse::module(text) {
        Ok(mut module) if module.funcs.len() == 1 => module.funcs.remove(0),
        Ok(_) => panic!("{name}.wir must hold one function"),
        Err(e) => panic!("{name}.wir, line {}: {e}", e.labels[0].0.line(text)),
    }
}

/// A function that expanded programs call, by its name.
pub fn called(name: &str) -> Option<&'static Func> {
    CALLED.iter().find(|f| &*f.name == name)
}

/// The name a program is called by; no user's function can have it.
pub fn callable(program: &Func) -> Arc<str> {
    format!("math.{}", program.name).into()
}

/// The program of an elementary function.
pub fn program(prim: Prim) -> &'static Func {
    match find(prim) {
        Some(func) => func,
        None => panic!("`{}` has neither a value nor a program", prim.name()),
    }
}

/// The program of an operation, where it is one.
pub fn find(prim: Prim) -> Option<&'static Func> {
    PROGRAMS.iter().find(|(p, _)| *p == prim).map(|(_, f)| f)
}

/// The value of an elementary function of floats and integers, as the interpreter computes it.
pub fn value(prim: Prim, inputs: &[Scalar]) -> f64 {
    let module = Module { funcs: vec![program(prim).clone()], loops: Vec::new() };
    let inputs = inputs.iter().copied().map(Val::Scalar).collect();
    match Interp::new(&module).call(prim.name(), inputs).as_deref() {
        Ok([Val::Scalar(Scalar::F64(y))]) => *y,
        _ => f64::NAN,
    }
}
