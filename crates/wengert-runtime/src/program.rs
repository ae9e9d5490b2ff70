//! Compiled programs as callers see them.

use crate::budget::Budget;
use crate::cc;
use crate::cc::cache::Cache;
use crate::context::Context;
use crate::control::DefaultFloats;
use crate::jit::{self, CompileError, abi_slots, link::Code};
use crate::kernel::{scalar, word};
use crate::memory;
use crate::tape::NoTape;
use crate::tapes::Tapes;
use rustc_hash::FxHashMap as HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use wengert_checkpoint::{Done, Measured, Precision, Unwound, Watch};
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type, verify};
use wengert_core::ops::shaped::{self, Elements};
use wengert_core::ops::{Array, Data, Elem, Scalar, kernels, room};
use wengert_core::span::Span;

/// An argument. Tapes are not passed: the runtime supplies empty ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// A float.
    F64(f64),
    /// A single-precision float.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// A vector of doubles. It is only read: a function that writes into it gets a copy.
    Array(&'a [f64]),
    /// Any array, as the one above.
    Shaped(&'a Array),
    /// The same where shape and elements lie apart: as many elements as the shape says.
    Apart(&'a [usize], Elements<'a>),
}

/// A result. Tapes are not handed out.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// A float.
    F64(f64),
    /// A single-precision float.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// A vector of doubles.
    Array(Vec<f64>),
    /// Any other array.
    Shaped(Array),
}

impl<'a> Arg<'a> {
    fn ty(&self) -> Type {
        match self {
            Arg::F64(_) => Type::F64,
            Arg::F32(_) => Type::F32,
            Arg::I64(_) => Type::I64,
            Arg::Bool(_) => Type::Bool,
            Arg::Array(_) => Type::VECTOR,
            Arg::Shaped(x) => Type::of(x.elem(), x.shape.len()),
            Arg::Apart(shape, x) => Type::of(x.elem(), shape.len()),
        }
    }

    /// As the interpreter takes it.
    pub fn to_val(&self) -> Val {
        match *self {
            Arg::F64(x) => Val::f64(x),
            Arg::F32(x) => Val::Scalar(Scalar::F32(x)),
            Arg::I64(x) => Val::i64(x),
            Arg::Bool(x) => Val::Scalar(Scalar::Bool(x)),
            Arg::Array(x) => Val::array(x.to_vec()),
            Arg::Shaped(x) => Val::shaped(x.clone()),
            Arg::Apart(shape, x) => Val::shaped(Array { shape: shape.to_vec(), data: x.to_data() }),
        }
    }

    /// An interpreter's value as an argument; tapes are not passed.
    pub fn from_val(v: &'a Val) -> Option<Arg<'a>> {
        Some(match v {
            Val::Scalar(Scalar::F64(x)) => Arg::F64(*x),
            Val::Scalar(Scalar::F32(x)) => Arg::F32(*x),
            Val::Scalar(Scalar::I64(x)) => Arg::I64(*x),
            Val::Scalar(Scalar::Bool(x)) => Arg::Bool(*x),
            Val::Array(x) => match &x.data {
                Data::F64(elements) if x.shape.len() == 1 => Arg::Array(elements),
                _ => Arg::Shaped(x),
            },
            Val::Tape(_) => return None,
        })
    }
}

impl From<Out> for Val {
    fn from(out: Out) -> Val {
        match out {
            Out::F64(x) => Val::f64(x),
            Out::F32(x) => Val::Scalar(Scalar::F32(x)),
            Out::I64(x) => Val::i64(x),
            Out::Bool(x) => Val::Scalar(Scalar::Bool(x)),
            Out::Array(x) => Val::array(x),
            Out::Shaped(x) => Val::shaped(x),
        }
    }
}

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most iterations of each `while` loop.
    pub max_iterations: u64,
    /// Most bytes on all tapes together; by default most of the memory that is left.
    pub tape_limit: Option<u64>,
    /// Set from another thread or a signal handler, this ends the run with a fault.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Bytes for what the reversal of loops needs: states and records. Loops that need more are run again in part. It changes no bit.
    pub memory: Option<u64>,
    /// Loops that can be are taken back, step by step, instead of storing their states.
    pub invert: Option<Invert>,
    /// A folder for states of such loops beside the memory.
    pub disk: Option<OnDisk>,
    /// How loops keep floats in the states that they store. With fewer digits more states fit, and derivatives are not exact.
    pub precision: Precision,
    /// Whether to run no more than it takes to say what loops would take in that memory. There are no results then.
    pub only_planned: bool,
    /// Shows where the loop stands that is being run in limited memory.
    pub watch: Option<Arc<Watch>>,
    /// How many threads parallel loops run on; as many as the machine has cores where it is not said. It changes no
    /// bit.
    pub threads: Option<NonZeroUsize>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_iterations: 1_000_000_000,
            tape_limit: None,
            interrupt: None,
            memory: None,
            invert: None,
            disk: None,
            precision: Precision::Exact,
            only_planned: false,
            watch: None,
            threads: None,
        }
    }
}

/// How loops are taken back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invert {
    /// A state is stored every so many iterations beside the first and the last one.
    pub every: Option<u64>,
    /// How far a state may come out from the one that was stored, relative to the largest number.
    pub within: f64,
}

/// A folder for states of loops, from which another process can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Where.
    pub folder: PathBuf,
    /// How many bytes states may take there.
    pub bytes: u64,
    /// A number that tells the program from others.
    pub program: u64,
    /// Whether to go on with what was left there.
    pub resumed: bool,
    /// Whether what is written survives a loss of power.
    pub synced: bool,
}

/// A loop that was run in limited memory, or could be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopStats {
    /// Where it is.
    pub span: Span,
    /// The bytes it was allowed.
    pub memory: u64,
    /// How many iterations it has, where that is known.
    pub steps: Option<u64>,
    /// What iterations take.
    pub measured: Option<Measured>,
    /// What was done; nothing where it was only looked at.
    pub done: Option<Done>,
    /// What was done instead, where it was taken back, and how many iterations lie between two states that were stored.
    pub taken_back: Option<(Unwound, u64)>,
}

/// What a run took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The most bytes that stood on tapes at once; where there are several, at most this many.
    pub tape_peak_bytes: u64,
    /// The most bytes of arrays held at once: those the program makes, and arguments copied.
    pub array_peak_bytes: u64,
    /// Iterations of loops that were run again because there was a budget.
    pub run_again: u64,
    /// Pieces of parallel loops that other threads than the caller's have run, forward and backward.
    pub pieces_elsewhere: u64,
    /// The loops under a budget.
    pub loops: Vec<LoopStats>,
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
    /// An array whose shape does not fit its elements.
    #[error("argument {position} of `{entry}` has another number of elements than its shape says")]
    ArgumentShape {
        /// The entry.
        entry: String,
        /// Which argument, counted from 1.
        position: usize,
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
/// as programs made by the transforms do. The interpreter reports one that does not. Compiled code
/// reports one that asks for more than there is or for an array where none was pushed, and otherwise
/// takes the bits that are there.
#[derive(Debug)]
pub struct Program {
    code: Code,
    entries: HashMap<String, Entry>,
}

impl Program {
    /// Compiles the entries and everything they call.
    pub fn compile(module: &Module, entries: &[&str]) -> Result<Program, CompileError> {
        room::ask(memory::now);
        let code = jit::compile(module, entries, None)?;
        Ok(Program::new(module, entries, code))
    }

    /// Compiles the same with the C compiler of this machine; what it has compiled before comes from the user's
    /// cache, where there is one.
    pub fn compile_c(module: &Module, entries: &[&str]) -> Result<Program, CompileError> {
        let cache = Cache::of_user().ok();
        let made = Program::compile_c_all(&[(module, entries)], cache.as_ref())?;
        made.into_iter().next().ok_or(CompileError::NoCCompiler)
    }

    /// Compiles several modules, each with its entries, by one run of the C compiler.
    pub fn compile_c_all(
        modules: &[(&Module, &[&str])],
        cache: Option<&Cache>,
    ) -> Result<Vec<Program>, CompileError> {
        room::ask(memory::now);
        Ok(Program::all(modules, cc::compile(modules, cache)?))
    }

    /// The same of what the C compiler has made before; nothing is compiled.
    pub(crate) fn cached_c(module: &Module, entries: &[&str]) -> Option<Program> {
        room::ask(memory::now);
        let modules = [(module, entries)];
        Program::all(&modules, cc::cached(&modules, &Cache::of_user().ok()?)?).pop()
    }

    fn all(modules: &[(&Module, &[&str])], codes: Vec<Code>) -> Vec<Program> {
        let program = |((module, entries), code): (&(&Module, &[&str]), Code)| {
            Program::new(module, entries, code)
        };
        modules.iter().zip(codes).map(program).collect()
    }

    fn new(module: &Module, entries: &[&str], code: Code) -> Program {
        let entry = |(number, name): (usize, &&str)| {
            let func = module.func(name)?;
            let param =
                |p: &_| Param { ty: func.ty(*p), consumed: verify::consumes(module, func, *p) };
            let params = func.params().iter().map(param).collect();
            Some((name.to_string(), Entry { number, params, results: func.results.clone() }))
        };
        let entries = entries.iter().enumerate().filter_map(entry).collect();
        Program { code, entries }
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
        let mut tapes = Tapes::new(options.tape_limit);
        let linked = self.code.linked();
        let given = found.params.iter().filter(|p| p.ty == Type::Tape).count();
        let needed = given.max(usize::from(linked.own_tape));
        let bases: Result<Vec<usize>, NoTape> = (0..needed).map(|_| tapes.open()).collect();
        let bases = bases.map_err(|NoTape| at_the_start(FaultKind::NoAddresses))?;
        let base = bases.first().copied().unwrap_or(0);

        // One more, in which a loop that has run as often as it may finds that it ends.
        let rounds = options.max_iterations.saturating_add(1);
        let threads = options.threads.map_or_else(cores, NonZeroUsize::get);
        let mut context = Context::new(linked, rounds, interrupt, tapes, base, threads);
        context.budget = Budget::new(options);
        let mut frame = found.frame(args, &mut context, &bases)?;
        let status = {
            let _floats = DefaultFloats::set();
            // SAFETY: `frame` holds the arguments, checked against the entry's parameters, and has
            // a slot for every word of its results; arrays in it outlive the call.
            unsafe { self.code.run(found.number, &mut context, &mut frame) }
        };
        if context.budget.is_planned {
            let stats = Stats { loops: context.budget.loops, ..Stats::default() };
            return Ok((Vec::new(), stats));
        }
        if status != 0 {
            return Err(RunError::Fault(context.fault()));
        }
        if !linked.several_tapes {
            context.tapes.note(context.tape_peak);
        }
        context.tapes.close();
        let workers = context.workers.close();
        let stats = Stats {
            tape_peak_bytes: context.tapes.peak().max(workers.tape_peak_bytes),
            array_peak_bytes: context.arrays.peak_bytes() + workers.array_peak_bytes,
            run_again: context.budget.run_again(),
            loops: std::mem::take(&mut context.budget.loops),
            ..workers
        };
        Ok((found.results(&frame, &mut context), stats))
    }
}

/// How many cores there are. Finding out takes longer than a short program, so it is done once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
}

/// A fault before the first instruction.
fn at_the_start(kind: FaultKind) -> RunError {
    RunError::Fault(Fault { kind, span: Span::default(), iterations: Vec::new() })
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
            let (shape, len) = match arg {
                Arg::Shaped(x) => (&x.shape[..], x.len()),
                Arg::Apart(shape, x) => (*shape, x.len()),
                _ => continue,
            };
            if shaped::checked_count(shape) != Some(len) {
                return Err(RunError::ArgumentShape { entry: entry.into(), position: k + 1 });
            }
        }
        Ok(())
    }

    /// The frame: arguments in consecutive slots, then room for the results.
    fn frame(
        &self,
        args: &[Arg],
        context: &mut Context,
        tapes: &[usize],
    ) -> Result<Vec<u64>, RunError> {
        let mut frame = Vec::new();
        let (mut args, mut tapes) = (args.iter(), tapes.iter());
        for param in &self.params {
            if param.ty == Type::Tape {
                frame.extend(tapes.next().map(|top| *top as u64));
                continue;
            }
            let mut array = |shape: &[usize], x: Elements| -> Result<(), RunError> {
                let address = if param.consumed {
                    let copy = context.arrays.copy(x);
                    copy.ok_or_else(|| at_the_start(kernels::no_room(shape)))?
                } else {
                    address(x)
                };
                frame.push(address as u64);
                frame.extend(shape.iter().map(|dim| *dim as u64));
                Ok(())
            };
            match args.next() {
                Some(Arg::F64(x)) => frame.push(word(Scalar::F64(*x))),
                Some(Arg::F32(x)) => frame.push(word(Scalar::F32(*x))),
                Some(Arg::I64(x)) => frame.push(word(Scalar::I64(*x))),
                Some(Arg::Bool(x)) => frame.push(word(Scalar::Bool(*x))),
                Some(Arg::Array(x)) => array(&[x.len()], Elements::F64(x))?,
                Some(Arg::Shaped(x)) => array(&x.shape, x.elements())?,
                Some(Arg::Apart(shape, x)) => array(shape, *x)?,
                None => unreachable!("the number of arguments has been checked"),
            }
        }
        frame.resize(frame.len() + abi_slots(&self.results), 0);
        Ok(frame)
    }

    /// The results, from the end of the frame.
    fn results(&self, frame: &[u64], context: &mut Context) -> Vec<Out> {
        let mut words = frame[frame.len() - abi_slots(&self.results)..].iter().copied();
        let mut next = || words.next().unwrap_or_else(|| unreachable!("the frame has these slots"));
        let mut out = Vec::new();
        for ty in &self.results {
            let first = next();
            let shape: Vec<usize> = (0..ty.rank()).map(|_| next() as usize).collect();
            out.extend(ty.elem().map(|elem| result(*ty, elem, first, shape, context)));
        }
        out
    }
}

/// A result of that type from its words; there is no tape among them.
fn result(ty: Type, elem: Elem, first: u64, shape: Vec<usize>, context: &mut Context) -> Out {
    if !ty.is_array() {
        return match scalar(elem, first) {
            Scalar::F64(x) => Out::F64(x),
            Scalar::F32(x) => Out::F32(x),
            Scalar::I64(x) => Out::I64(x),
            Scalar::Bool(x) => Out::Bool(x),
        };
    }
    let data = context.arrays.take(first as usize, elem, shaped::count(&shape));
    // An array handed out was made, copied or passed to be consumed, and every version is handed
    // out once.
    match data.unwrap_or_else(|| unreachable!("verified: owned")) {
        Data::F64(x) if shape.len() == 1 => Out::Array(x),
        data => Out::Shaped(Array { shape, data }),
    }
}

fn address(x: Elements) -> usize {
    match x {
        Elements::F64(x) => x.as_ptr() as usize,
        Elements::F32(x) => x.as_ptr() as usize,
        Elements::I64(x) => x.as_ptr() as usize,
        Elements::Bool(x) => x.as_ptr() as usize,
    }
}
