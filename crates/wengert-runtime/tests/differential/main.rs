//! Compiled code against the interpreter: the same bits and the same faults.
//!
//! Every test is a text program and arguments; [`agree`] runs both and compares. Where there is a C compiler the
//! program runs through it as well, and must give the same once more, down to the memory it takes; some tests
//! ask for the same from the runtime in C ([`standalone`]).

mod arrays;
mod back;
mod batches;
mod budget;
mod calls;
mod faults;
mod generated;
mod kernels;
mod lanes;
mod loops;
mod members;
mod parallel;
mod prims;
mod random;
mod rows;
mod standalone;
mod tape;
mod tapes;
mod threads;
mod tiles;
mod uneven;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use wengert_core::fault::Fault;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Inst, Module, Type, parse};
use wengert_core::ops::value::canonical_bits;
use wengert_core::ops::{Array, Data, Elem, Scalar};
use wengert_runtime::cc::cache::Cache;
use wengert_runtime::cc::toolchain::Toolchain;
use wengert_runtime::{Arg, Options, Out, Program, RunError, Stats};

/// A result in which equal bits, and any two NaN, are equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bits {
    Scalar(Scalar),
    Array(Vec<u64>),
    Shaped(Elem, (Vec<usize>, Vec<u64>)),
}

/// All of something in a long run; else each test takes a part, which takes its time through C.
pub(crate) fn all_or<T>(all: T, part: T) -> T {
    if std::env::var_os("WENGERT_PROGRAMS").is_some() { all } else { part }
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

/// Where tests keep what they make.
pub(crate) fn cache_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// What the compiler has made for these tests, now or before.
pub(crate) fn cache() -> &'static Cache {
    static CACHE: OnceLock<Cache> = OnceLock::new();
    let folder = || cache_folder().join("libraries");
    CACHE.get_or_init(|| Cache::at(&folder()).unwrap_or_else(|e| panic!("{e}")))
}

/// Modules compiled by one run of the C compiler; nothing where there is none.
pub(crate) fn printed(modules: &[&Module]) -> Option<Vec<Program>> {
    Toolchain::get()?;
    let names = |module: &Module| -> Vec<String> {
        module.funcs.iter().map(|f| f.name.to_string()).collect()
    };
    let names: Vec<Vec<String>> = modules.iter().map(|m| names(m)).collect();
    let names: Vec<Vec<&str>> =
        names.iter().map(|n| n.iter().map(String::as_str).collect()).collect();
    let all: Vec<(&Module, &[&str])> =
        modules.iter().copied().zip(names.iter().map(Vec::as_slice)).collect();
    Some(Program::compile_c_all(&all, Some(cache())).unwrap_or_else(|e| panic!("{e}")))
}

/// Where tests are made to count, there is a compiler.
#[test]
fn there_is_a_compiler() {
    if std::env::var_os("CI").is_some() {
        assert!(Toolchain::get().is_some());
    }
}

/// A program both ways, and through C.
pub(crate) struct Both {
    pub(crate) module: Module,
    program: Program,
    /// Made when it is first needed.
    printed: OnceLock<Option<Program>>,
    pub(crate) options: Options,
    /// What tells it from others.
    id: usize,
}

/// What a program gives.
pub(crate) fn native(
    program: &Program,
    entry: &str,
    args: &[Arg],
    options: &Options,
) -> (Ran, Stats) {
    let bits = |out: Out| match out {
        Out::F64(x) => Bits::Scalar(Scalar::F64(x)),
        Out::F32(x) => Bits::Scalar(Scalar::F32(x)),
        Out::I64(x) => Bits::Scalar(Scalar::I64(x)),
        Out::Bool(x) => Bits::Scalar(Scalar::Bool(x)),
        Out::Array(x) => array(&Array::vector(x)),
        Out::Shaped(x) => array(&x),
    };
    match program.call(entry, args, options) {
        Ok((out, stats)) => (Ok(out.into_iter().map(bits).collect()), stats),
        Err(RunError::Fault(fault)) => (Err(fault), Stats::default()),
        Err(other) => panic!("{other}"),
    }
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
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let id = MADE.fetch_add(1, Ordering::Relaxed);
        let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
        Both { program, printed: OnceLock::new(), options, module, id }
    }

    /// The same for many, with few runs of the C compiler.
    pub(crate) fn all(texts: &[String]) -> Vec<Both> {
        let all: Vec<Both> = texts.iter().map(|text| Both::new(text)).collect();
        for some in all.chunks(100) {
            let modules: Vec<&Module> = some.iter().map(|both| &both.module).collect();
            for (both, program) in some.iter().zip(printed(&modules).into_iter().flatten()) {
                assert!(both.printed.set(Some(program)).is_ok());
            }
        }
        all
    }

    /// The program through C.
    pub(crate) fn printed(&self) -> Option<&Program> {
        let make = || printed(&[&self.module])?.pop();
        self.printed.get_or_init(make).as_ref()
    }

    pub(crate) fn interpreted(&self, entry: &str, args: &[Arg]) -> Ran {
        let func = self.module.func(entry).unwrap();
        let mut args = args.iter();
        let vals = func.param_types().into_iter().map(|ty| match ty {
            Type::Tape => Val::tape(),
            _ => args.next().unwrap().to_val(),
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

    /// Native code: Cranelift's, with which that of the C compiler must agree.
    pub(crate) fn compiled(&self, entry: &str, args: &[Arg]) -> (Ran, Stats) {
        let ran = self.native(&self.program, entry, args);
        if let Some(printed) = self.printed() {
            let given = self.native(printed, entry, args);
            let text = self.module.to_string();
            assert_eq!(
                ran, given,
                "by Cranelift (left) and through C (right) @{entry}{args:?}\n{text}"
            );
        }
        ran
    }

    /// A run of one of its programs.
    pub(crate) fn native(&self, program: &Program, entry: &str, args: &[Arg]) -> (Ran, Stats) {
        let run = |options: &Options| native(program, entry, args, options);
        let ran: (Ran, Stats) = run(&self.options);
        // How much memory threads take depends on who is first. The tape's limit holds for each.
        if self.is_parallel() && self.options.tape_limit.is_none() {
            for threads in [2, 3, 8] {
                let threads = NonZeroUsize::new(threads);
                let (given, _) = run(&Options { threads, ..self.options.clone() });
                assert_eq!(ran.0, given, "on one thread (left) and {threads:?} @{entry}{args:?}");
            }
        }
        ran
    }

    /// Whether a loop of it may run on threads.
    fn is_parallel(&self) -> bool {
        let mut any = self.module.loops.iter().any(|plan| plan.parallel);
        let mut note = |inst: &Inst| any |= inst.blocks.iter().any(|b| b.parallel);
        self.module.funcs.iter().for_each(|f| f.body.walk(&mut note));
        any
    }

    /// Cranelift's program.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Runs all ways, insists on the same outcome, and gives it back.
    pub(crate) fn agree(&self, entry: &str, args: &[Arg]) -> Ran {
        let wanted = self.interpreted(entry, args);
        let (given, _) = self.compiled(entry, args);
        assert_eq!(wanted, given, "interpreted (left) and compiled (right) @{entry}{args:?}");
        self.note(entry, args, &wanted);
        wanted
    }

    /// To be run standalone, where a test asks for that.
    pub(crate) fn note(&self, entry: &str, args: &[Arg], wanted: &Ran) {
        let Options { max_iterations, tape_limit, interrupt, .. } = &self.options;
        if tape_limit.is_none() && interrupt.is_none() {
            let program = (self.id, &self.module, *max_iterations);
            standalone::note(program, entry, args, wanted);
        }
    }
}

/// Runs `@f` of a text both ways.
pub(crate) fn agree(text: &str, args: &[Arg]) -> Ran {
    Both::new(text).agree("f", args)
}
