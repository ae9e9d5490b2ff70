//! Compiled code against the interpreter: the same bits and the same faults.
//!
//! Every test is a text program and arguments; [`agree`] runs both and compares.

mod arrays;
mod calls;
mod faults;
mod generated;
mod kernels;
mod loops;
mod prims;
mod random;
mod tape;
mod tapes;
mod threads;

use wengert_core::fault::Fault;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type, parse};
use wengert_core::ops::value::canonical_bits;
use wengert_core::ops::{Array, Data, Elem, Scalar};
use wengert_runtime::{Arg, Options, Out, Program, RunError, Stats};

/// A result in which equal bits, and any two NaN, are equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bits {
    Scalar(Scalar),
    Array(Vec<u64>),
    Shaped(Elem, (Vec<usize>, Vec<u64>)),
}

pub(crate) fn float(x: f64) -> Bits {
    Bits::Scalar(Scalar::F64(x))
}

pub(crate) fn int(x: i64) -> Bits {
    Bits::Scalar(Scalar::I64(x))
}

/// The bits of an array; a vector of doubles needs no shape.
fn array(x: &Array) -> Bits {
    match &x.data {
        Data::F64(v) if x.shape.len() == 1 => {
            Bits::Array(v.iter().map(|v| canonical_bits(*v)).collect())
        }
        _ => Bits::Shaped(x.elem(), x.key()),
    }
}

pub(crate) type Ran = Result<Vec<Bits>, Fault>;

pub(crate) fn module(text: &str) -> Module {
    match parse::module(text) {
        Ok(module) => module,
        Err(e) => panic!("line {}: {e}", e.labels[0].0.line(text)),
    }
}

/// A program both ways.
pub(crate) struct Both {
    module: Module,
    program: Program,
    pub(crate) options: Options,
}

impl Both {
    /// Compiles all functions of a text.
    pub(crate) fn new(text: &str) -> Both {
        Both::of(module(text))
    }

    /// Compiles all functions of a module.
    pub(crate) fn of(module: Module) -> Both {
        let names: Vec<&str> = module.funcs.iter().map(|f| &*f.name).collect();
        let program = Program::compile(&module, &names).unwrap_or_else(|e| panic!("{e}"));
        Both { program, options: Options::default(), module }
    }

    pub(crate) fn interpreted(&self, entry: &str, args: &[Arg]) -> Ran {
        let func = self.module.func(entry).unwrap();
        let mut args = args.iter();
        let vals = func.param_types().into_iter().map(|ty| match ty {
            Type::Tape => Val::tape(),
            _ => match args.next().unwrap() {
                Arg::F64(x) => Val::f64(*x),
                Arg::F32(x) => Val::Scalar(Scalar::F32(*x)),
                Arg::I64(x) => Val::i64(*x),
                Arg::Bool(x) => Val::Scalar(Scalar::Bool(*x)),
                Arg::Array(x) => Val::array(x.to_vec()),
                Arg::Shaped(x) => Val::shaped((*x).clone()),
            },
        });
        let mut interp = Interp::new(&self.module);
        interp.max_iterations = self.options.max_iterations;
        let bits = |val: Val| match val {
            Val::Scalar(s) => Some(Bits::Scalar(s)),
            Val::Array(x) => Some(array(&x)),
            Val::Tape(_) => None,
        };
        Ok(interp.call(entry, vals.collect())?.into_iter().filter_map(bits).collect())
    }

    pub(crate) fn compiled(&self, entry: &str, args: &[Arg]) -> (Ran, Stats) {
        let bits = |out: Out| match out {
            Out::F64(x) => Bits::Scalar(Scalar::F64(x)),
            Out::F32(x) => Bits::Scalar(Scalar::F32(x)),
            Out::I64(x) => Bits::Scalar(Scalar::I64(x)),
            Out::Bool(x) => Bits::Scalar(Scalar::Bool(x)),
            Out::Array(x) => array(&Array::vector(x)),
            Out::Shaped(x) => array(&x),
        };
        match self.program.call(entry, args, &self.options) {
            Ok((out, stats)) => (Ok(out.into_iter().map(bits).collect()), stats),
            Err(RunError::Fault(fault)) => (Err(fault), Stats::default()),
            Err(other) => panic!("{other}"),
        }
    }

    /// Runs both ways, insists on the same outcome, and gives it back.
    pub(crate) fn agree(&self, entry: &str, args: &[Arg]) -> Ran {
        let wanted = self.interpreted(entry, args);
        let (given, _) = self.compiled(entry, args);
        assert_eq!(wanted, given, "interpreted (left) and compiled (right) @{entry}{args:?}");
        wanted
    }
}

/// Runs `@f` of a text both ways.
pub(crate) fn agree(text: &str, args: &[Arg]) -> Ran {
    Both::new(text).agree("f", args)
}
