//! Elementary functions, written in the IR.
//!
//! Each is one `.wir` file beside this one. The interpreter runs these programs and compiled code
//! inlines them, so every backend gives the same bits whatever the machine's own math library does.

use crate::ir::{Func, parse};
use crate::ops::Prim;
use std::sync::{Arc, LazyLock};

static PROGRAMS: LazyLock<Vec<(Prim, Func)>> = LazyLock::new(|| {
    let sources = [
        (Prim::Exp, include_str!("exp.wir")),
        (Prim::Log, include_str!("log.wir")),
        (Prim::Sin, include_str!("sin.wir")),
        (Prim::Cos, include_str!("cos.wir")),
        (Prim::Tanh, include_str!("tanh.wir")),
    ];
    sources.into_iter().map(|(prim, text)| (prim, parsed(prim.name(), text))).collect()
});

/// Functions that expanded programs call: slow paths, and the programs themselves.
static CALLED: LazyLock<Vec<Func>> = LazyLock::new(|| {
    let slow_path = parsed("reduce_huge", include_str!("reduce_huge.wir"));
    let programs = PROGRAMS.iter().map(|(_, program)| {
        let mut program = program.clone();
        program.name = callable(&program);
        program
    });
    programs.chain([slow_path]).collect()
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
