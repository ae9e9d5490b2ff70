//! Compiled programs as callers see them.

use crate::context::Context;
use crate::control::DefaultFloats;
use crate::jit::{self, CompileError, abi_slots, link::Code};
use crate::tape;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type, verify};
use wengert_core::ops::Scalar;
use wengert_core::span::Span;

/// An argument. Tapes are not passed: the runtime supplies an empty one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// A float.
    F64(f64),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// An array. It is only read: a function that writes into it gets a copy.
    Array(&'a [f64]),
}

impl Arg<'_> {
    fn ty(&self) -> Type {
        match self {
            Arg::F64(_) => Type::F64,
            Arg::I64(_) => Type::I64,
            Arg::Bool(_) => Type::Bool,
            Arg::Array(_) => Type::VECTOR,
        }
    }
}

/// A result. Tapes are not handed out.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// A float.
    F64(f64),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// An array.
    Array(Vec<f64>),
}

impl<'a> Arg<'a> {
    /// An interpreter's value as an argument; tapes are not passed.
    pub fn from_val(v: &'a Val) -> Option<Arg<'a>> {
        Some(match v {
            Val::Scalar(Scalar::F64(x)) => Arg::F64(*x),
            Val::Scalar(Scalar::I64(x)) => Arg::I64(*x),
            Val::Scalar(Scalar::Bool(x)) => Arg::Bool(*x),
            Val::Array(x) => Arg::Array(x),
            Val::Tape(_) => return None,
        })
    }
}

impl From<Out> for Val {
    fn from(out: Out) -> Val {
        match out {
            Out::F64(x) => Val::f64(x),
            Out::I64(x) => Val::i64(x),
            Out::Bool(x) => Val::Scalar(Scalar::Bool(x)),
            Out::Array(x) => Val::array(x),
        }
    }
}

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most iterations of each `while` loop.
    pub max_iterations: u64,
    /// Most bytes on the tape; by default most of the memory that is left.
    pub tape_limit: Option<u64>,
    /// Set from another thread or a signal handler, this ends the run with a fault.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_iterations: 1_000_000_000, tape_limit: None, interrupt: None }
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The most bytes that stood on the tape at once.
    pub tape_peak_bytes: u64,
    /// The most bytes of arrays held at once: those the program makes, and arguments copied.
    pub array_peak_bytes: u64,
}

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// No entry of that name was compiled.
    #[error("there is no entry `{entry}`; the entries are {known}")]
    UnknownEntry {
        /// The name asked for.
        entry: String,
        /// The names there are.
        known: String,
    },
    /// The wrong number of arguments.
    #[error("`{entry}` takes {wanted} arguments, but {given} are given")]
    ArgumentCount {
        /// The entry.
        entry: String,
        /// How many it takes.
        wanted: usize,
        /// How many were given.
        given: usize,
    },
    /// An argument of the wrong type.
    #[error("argument {position} of `{entry}` is {given}, but must be {wanted}")]
    ArgumentType {
        /// The entry.
        entry: String,
        /// Which argument, counted from 1.
        position: usize,
        /// The type it must have.
        wanted: Type,
        /// The type given.
        given: Type,
    },
    /// The program ended with an error.
    #[error(transparent)]
    Fault(#[from] Fault),
}

#[derive(Debug)]
struct Entry {
    /// Its number in the code.
    number: usize,
    params: Vec<Param>,
    results: Vec<Type>,
}

#[derive(Clone, Copy, Debug)]
struct Param {
    ty: Type,
    /// An array the function writes into or hands on: it gets a copy.
    consumed: bool,
}

/// A compiled module. It can be shared between threads; the code is freed when it is dropped.
///
/// The module has been verified, so types, scopes and linearity are right. What the verifier cannot
/// see is the order of records on a tape: every `pop` must ask for the types of the record on top,
/// as programs made by the transforms do. The interpreter reports one that does not; compiled code
/// does not check.
#[derive(Debug)]
pub struct Program {
    code: Code,
    entries: HashMap<String, Entry>,
}

impl Program {
    /// Compiles the entries and everything they call.
    pub fn compile(module: &Module, entries: &[&str]) -> Result<Program, CompileError> {
        let code = jit::compile(module, entries, None)?;
        let entry = |(number, name): (usize, &&str)| {
            let func = module.func(name)?;
            let param =
                |p: &_| Param { ty: func.ty(*p), consumed: verify::consumes(module, func, *p) };
            let params = func.params().iter().map(param).collect();
            Some((name.to_string(), Entry { number, params, results: func.results.clone() }))
        };
        let entries = entries.iter().enumerate().filter_map(entry).collect();
        Ok(Program { code, entries })
    }

    /// Runs an entry.
    pub fn call(
        &self,
        entry: &str,
        args: &[Arg],
        options: &Options,
    ) -> Result<(Vec<Out>, Stats), RunError> {
        let found = self.entries.get(entry).ok_or_else(|| {
            let mut known: Vec<String> = self.entries.keys().map(|k| format!("`{k}`")).collect();
            known.sort();
            RunError::UnknownEntry { entry: entry.into(), known: known.join(", ") }
        })?;
        found.check(entry, args)?;
        static NEVER: AtomicBool = AtomicBool::new(false);
        let interrupt = options.interrupt.as_deref().unwrap_or(&NEVER);
        let needs_tape = found.params.iter().any(|p| p.ty == Type::Tape);
        let mut tape = match needs_tape.then(|| tape::lease(options.tape_limit)).transpose() {
            Ok(tape) => tape,
            Err(tape::NoTape) => return Err(out_of_memory()),
        };
        let (base, bytes) = tape.as_mut().map_or((0, 0), |t| (t.base(), t.limit()));

        let linked = self.code.linked();
        // One more, in which a loop that has run as often as it may finds that it ends.
        let rounds = options.max_iterations.saturating_add(1);
        let mut context = Context::new(linked, rounds, interrupt, (base, bytes));
        let mut frame = found.frame(args, &mut context, base)?;
        let status = {
            let _floats = DefaultFloats::set();
            // SAFETY: `frame` holds the arguments, checked against the entry's parameters, and has
            // a slot for every word of its results; arrays in it outlive the call.
            unsafe { self.code.run(found.number, &mut context, &mut frame) }
        };
        let peak = (context.tape_peak - base) as u64;
        if status != 0 {
            return Err(RunError::Fault(context.fault()));
        }
        if let Some(tape) = &mut tape {
            tape.used(peak);
        }
        let stats = Stats { tape_peak_bytes: peak, array_peak_bytes: context.arrays.peak_bytes() };
        Ok((found.results(&frame, &mut context), stats))
    }
}

fn out_of_memory() -> RunError {
    let (kind, span) = (FaultKind::OutOfMemory, Span::default());
    RunError::Fault(Fault { kind, span, iterations: Vec::new() })
}

impl Entry {
    fn check(&self, entry: &str, args: &[Arg]) -> Result<(), RunError> {
        let wanted: Vec<Type> =
            self.params.iter().map(|p| p.ty).filter(|t| *t != Type::Tape).collect();
        if wanted.len() != args.len() {
            let (entry, wanted, given) = (entry.into(), wanted.len(), args.len());
            return Err(RunError::ArgumentCount { entry, wanted, given });
        }
        for (k, (wanted, arg)) in wanted.into_iter().zip(args).enumerate() {
            if arg.ty() != wanted {
                let (entry, position, given) = (entry.into(), k + 1, arg.ty());
                return Err(RunError::ArgumentType { entry, position, wanted, given });
            }
        }
        Ok(())
    }

    /// The frame: arguments in consecutive slots, then room for the results.
    fn frame(
        &self,
        args: &[Arg],
        context: &mut Context,
        tape: usize,
    ) -> Result<Vec<u64>, RunError> {
        let mut frame = Vec::new();
        let mut args = args.iter();
        for param in &self.params {
            if param.ty == Type::Tape {
                frame.push(tape as u64);
                continue;
            }
            match args.next() {
                Some(Arg::F64(x)) => frame.push(x.to_bits()),
                Some(Arg::I64(x)) => frame.push(*x as u64),
                Some(Arg::Bool(x)) => frame.push(*x as u64),
                Some(Arg::Array(x)) => {
                    let address = if param.consumed {
                        context.arrays.copy(x).ok_or_else(out_of_memory)?.as_ptr() as usize
                    } else {
                        x.as_ptr() as usize
                    };
                    frame.extend([address as u64, x.len() as u64]);
                }
                None => unreachable!("the number of arguments has been checked"),
            }
        }
        frame.resize(frame.len() + abi_slots(&self.results), 0);
        Ok(frame)
    }

    /// The results, from the end of the frame.
    fn results(&self, frame: &[u64], context: &mut Context) -> Vec<Out> {
        let mut words = frame[frame.len() - abi_slots(&self.results)..].iter().copied();
        let mut word = || words.next().unwrap_or_else(|| unreachable!("the frame has these slots"));
        let mut out = Vec::new();
        for ty in &self.results {
            match ty {
                Type::F64 => out.push(Out::F64(f64::from_bits(word()))),
                Type::I64 => out.push(Out::I64(word() as i64)),
                Type::Bool => out.push(Out::Bool(word() != 0)),
                Type::Tape => _ = word(),
                Type::VECTOR => {
                    let (address, len) = (word() as usize, word() as usize);
                    let array = context.arrays.take(address, len);
                    // An array handed out was filled, copied or passed to be consumed, and every
                    // version is handed out once.
                    out.push(Out::Array(array.unwrap_or_else(|| unreachable!("verified: owned"))));
                }
            }
        }
        out
    }
}
