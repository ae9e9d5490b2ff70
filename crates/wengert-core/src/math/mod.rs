//! Elementary functions, written in the IR.
//!
//! Each is one `.wir` file beside this one. The interpreter runs these programs and compiled code
//! inlines them, so every backend gives the same bits whatever the machine's own math library does.
//! A program may use other elementary functions, and call the parts that several programs share.

mod number;

use crate::interp::{Interp, Val};
use crate::ir::{Func, Module, parse};
use crate::ops::{Prim, Scalar};
use std::sync::{Arc, LazyLock};

/// One elementary function: as expanded code has it, and as a function under the name it is called by.
struct Program {
    prim: Prim,
    inline: LazyLock<Func>,
    called: LazyLock<Func>,
}

macro_rules! programs {
    ($($prim:ident $name:literal;)*) => {
        static PROGRAMS: [Program; [$($name),*].len()] = [$(Program {
            prim: Prim::$prim,
            inline: LazyLock::new(|| parsed($name, include_str!(concat!($name, ".wir")))),
            called: LazyLock::new(|| {
                let mut func = parsed($name, include_str!(concat!($name, ".wir")));
                func.name = callable(&func);
                func
            }),
        }),*];
    };
}

/// Functions that programs call: slow paths, and what several of them share.
macro_rules! parts {
    ($($name:literal;)*) => {
        static PARTS: [(&str, LazyLock<Func>); [$($name),*].len()] = [$((
            concat!("math.", $name),
            LazyLock::new(|| parsed($name, include_str!(concat!($name, ".wir")))),
        )),*];
    };
}

programs! {
    Ceil "ceil";
    Trunc "trunc";
    Sign "sign";
    CopySign "copysign";
    Relu "relu";
    Clamp "clamp";
    Rem "rem";
    Exp "exp";
    Log "log";
    Sin "sin";
    Cos "cos";
    Tanh "tanh";
    Cbrt "cbrt";
    Exp2 "exp2";
    Expm1 "expm1";
    Log2 "log2";
    Log10 "log10";
    Log1p "log1p";
    Tan "tan";
    Asin "asin";
    Acos "acos";
    Atan "atan";
    Atan2 "atan2";
    Sinh "sinh";
    Cosh "cosh";
    Asinh "asinh";
    Acosh "acosh";
    Atanh "atanh";
    Pow "pow";
    PowI "powi";
    Hypot "hypot";
    LogAddExp "logaddexp";
    XLogY "xlogy";
    Erf "erf";
    Erfc "erfc";
    NormCdf "normcdf";
    NormInv "norminv";
    LGamma "lgamma";
    PolyGamma "polygamma";
    Sigmoid "sigmoid";
    Softplus "softplus";
}

parts! {
    "reduce_huge";
    "rem_huge";
    "log_pair";
    "pow_core";
    "log_parts";
    "erfc_scaled";
    "digamma_parts";
    "hurwitz";
}

fn parsed(name: &str, text: &str) -> Func {
    match parse::library(text) {
        Ok(mut module) if module.funcs.len() == 1 => module.funcs.remove(0),
        Ok(_) => panic!("{name}.wir must hold one function"),
        Err(e) => panic!("{name}.wir, line {}: {e}", e.labels[0].0.line(text)),
    }
}

/// A function that expanded programs call, by its name.
pub fn called(name: &str) -> Option<&'static Func> {
    let part = PARTS.iter().find(|(part, _)| *part == name).map(|(_, func)| &**func);
    part.or_else(|| {
        let row = Prim::from_name(name.strip_prefix(parse::LIBRARY)?)?;
        PROGRAMS.iter().find(|p| p.prim == row).map(|p| &*p.called)
    })
}

/// The name a program is called by; no text can give it to a function.
pub fn callable(program: &Func) -> Arc<str> {
    format!("{}{}", parse::LIBRARY, program.name).into()
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
    PROGRAMS.iter().find(|p| p.prim == prim).map(|p| &*p.inline)
}

/// The value of an elementary function of floats and integers, as the interpreter computes it.
pub fn value(prim: Prim, inputs: &[Scalar]) -> f64 {
    let module = Module::of(program(prim).clone());
    let inputs = inputs.iter().copied().map(Val::Scalar).collect();
    match Interp::new(&module).call(prim.name(), inputs).as_deref() {
        Ok([Val::Scalar(Scalar::F64(y))]) => *y,
        _ => f64::NAN,
    }
}

/// The size of a result below which a row's error bound is absolute: a result `y` is within the bound in
/// units in the last place of `max(|y|, absolute_below)`. 0 where the bound holds for results of any size.
/// Only functions that cancel near a curve or close to poles have such zeros; see their programs.
pub fn absolute_below(prim: Prim, inputs: &[Scalar]) -> f64 {
    let float = |k: usize| match inputs.get(k) {
        Some(Scalar::F64(x)) => *x,
        Some(Scalar::F32(x)) => f64::from(*x),
        _ => 0.0,
    };
    match (prim, inputs.first()) {
        (Prim::LGamma, _) if float(0) <= -0.5 => 1.0,
        (Prim::PolyGamma, Some(Scalar::I64(0))) => {
            if float(1) < 0.0 {
                1.0
            } else {
                1.0 / 16.0
            }
        }
        (Prim::LogAddExp, _) => float(0).max(float(1)).abs() / 64.0,
        _ => 0.0,
    }
}
