//! A program ready to run, by any backend.

use crate::compile::options::{Backend, Disk, Invert, Options};
use crate::value::Value;
use std::borrow::Borrow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use wengert_core::check::Engine;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type, verify};
use wengert_core::span::Diagnostic;
use wengert_core::transform::vjp;
use wengert_runtime as runtime;

/// A module with one entry.
#[derive(Debug)]
pub(crate) struct Executable {
    entry: String,
    code: Code,
    /// Tells the program from others.
    number: u64,
    inner: Option<Inner>,
}

/// The same program with inner loops that can be run in pieces as well, for those who have little memory. Made when it is first needed.
#[derive(Debug)]
struct Inner {
    /// What it is made of: the reverse mode of this function of the module, by these parameters.
    module: Arc<Module>,
    name: String,
    by: Vec<usize>,
    backend: Backend,
    made: OnceLock<Option<Box<Executable>>>,
    /// The most memory in which it was needed.
    memory: AtomicU64,
}

impl Inner {
    /// The program, if there are inner loops.
    fn program(&self, number: u64) -> Option<&Executable> {
        let make = || {
            let module = vjp::nested_in_module(&self.module, &self.name, &self.by).ok()??;
            verify::module(&module).ok()?;
            let made = Executable::new(module, format!("{}.vjp", self.name), self.backend).ok()?;
            // Its states are those of the other one.
            Some(Box::new(Executable { number, ..made }))
        };
        self.made.get_or_init(make).as_deref()
    }
}

#[derive(Debug)]
enum Code {
    Interp(Module),
    /// Native code, and who has made it.
    Native(Box<runtime::Program>, Backend),
    Auto(Box<runtime::Tiered>),
}

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) values: Vec<Value>,
    pub(crate) tape_bytes: u64,
    pub(crate) run_again: u64,
    pub(crate) loops: Vec<runtime::LoopStats>,
    pub(crate) seconds: f64,
    pub(crate) backend: Backend,
}

impl Executable {
    pub(crate) fn new(module: Module, entry: String, backend: Backend) -> Result<Self, Diagnostic> {
        let mut hasher = DefaultHasher::new();
        (&module, &entry).hash(&mut hasher);
        let number = hasher.finish();
        let code = match backend {
            Backend::Interp => Code::Interp(module),
            Backend::Jit => {
                let program = runtime::Program::compile(&module, &[&entry]);
                Code::Native(Box::new(program.map_err(not_compiled)?), Backend::Jit)
            }
            Backend::Cc => {
                let program = runtime::Program::compile_c(&module, &[&entry]);
                Code::Native(Box::new(program.map_err(not_compiled)?), Backend::Cc)
            }
            Backend::Auto => {
                let program = runtime::Tiered::compile(&module, &[&entry]);
                Code::Auto(Box::new(program.map_err(not_compiled)?))
            }
        };
        Ok(Executable { entry, code, number, inner: None })
    }

    /// The reverse mode of a function by some of its parameters: where the record of one iteration is too large for the
    /// memory allowed, loops inside it are run in pieces as well.
    pub(crate) fn with_inner(self, module: Arc<Module>, name: &str, by: &[usize]) -> Self {
        let backend = match &self.code {
            Code::Interp(_) => return self,
            Code::Native(_, backend) => *backend,
            Code::Auto(_) => Backend::Auto,
        };
        let (name, by) = (name.to_string(), by.to_vec());
        let (made, memory) = Default::default();
        Executable { inner: Some(Inner { module, name, by, backend, made, memory }), ..self }
    }

    /// The arguments fit the entry's parameters; its tape, if it has one, is not among them.
    pub(crate) fn run<V: Borrow<Value>>(
        &self,
        args: &[V],
        options: &Options,
    ) -> Result<Ran, Fault> {
        self.run_borrowed(&native_args(args), options)
    }

    /// The same with arguments that lie elsewhere.
    pub(crate) fn run_borrowed(
        &self,
        args: &[runtime::Arg<'_>],
        options: &Options,
    ) -> Result<Ran, Fault> {
        let (Some(inner), Some(memory)) = (&self.inner, options.memory) else {
            return self.run_once(args, options);
        };
        if memory <= inner.memory.load(Ordering::Relaxed)
            && let Some(program) = inner.program(self.number)
        {
            return program.run_once(args, options);
        }
        let ran = self.run_once(args, options);
        let is_large =
            |fault: &Fault| matches!(fault.kind, FaultKind::Budget { too_small: true, .. });
        let program = match &ran {
            Err(fault) if is_large(fault) => inner.program(self.number),
            _ => None,
        };
        let Some(program) = program else { return ran };
        inner.memory.fetch_max(memory, Ordering::Relaxed);
        // What has been written is of use.
        let disk = options.disk.clone().map(|disk| Disk { resume: true, ..disk });
        program.run_once(args, &Options { disk, ..options.clone() })
    }

    fn run_once(&self, args: &[runtime::Arg<'_>], options: &Options) -> Result<Ran, Fault> {
        let start = Instant::now();
        let ((values, took), backend) = match &self.code {
            Code::Interp(module) => (self.interpret(module, args, options)?, Backend::Interp),
            Code::Native(program, backend) => {
                let limits = self.limits(options);
                (native(program.call(&self.entry, args, &limits))?, *backend)
            }
            Code::Auto(program) => {
                let limits = self.limits(options);
                let backend = if program.is_through_c() { Backend::Cc } else { Backend::Jit };
                (native(program.call(&self.entry, args, &limits))?, backend)
            }
        };
        let runtime::Stats { tape_peak_bytes: tape_bytes, run_again, loops, .. } = took;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Ran { values, tape_bytes, run_again, loops, seconds, backend })
    }

    /// What its loops would take in limited memory. The interpreter has none.
    pub(crate) fn plan<V: Borrow<Value>>(
        &self,
        args: &[V],
        options: &Options,
    ) -> Result<Vec<runtime::LoopStats>, Fault> {
        let (args, limits) = (native_args(args), self.limits(options));
        let limits = runtime::Options { only_planned: true, ..limits };
        let ran = match &self.code {
            Code::Interp(_) => return Ok(Vec::new()),
            Code::Native(program, _) => program.call(&self.entry, &args, &limits),
            Code::Auto(program) => program.call(&self.entry, &args, &limits),
        };
        native(ran).map(|(_, took)| took.loops)
    }

    fn limits(&self, options: &Options) -> runtime::Options {
        // A member of a batch is one of many already.
        let (threads, members) = match rayon::current_thread_index() {
            Some(_) => (Some(1), rayon::current_num_threads()),
            None => (options.threads, 1),
        };
        runtime::Options {
            max_iterations: options.max_iterations,
            tape_limit: options.tape_limit,
            interrupt: options.interrupt.clone(),
            memory: options.memory.map(|memory| memory / members as u64),
            invert: options
                .invert
                .map(|Invert { every, within, .. }| runtime::Invert { every, within }),
            disk: options.disk.as_ref().map(|disk| runtime::OnDisk {
                folder: disk.folder.clone(),
                bytes: disk.bytes,
                program: self.number,
                resumed: disk.resume,
                synced: disk.fsync,
            }),
            precision: options.precision,
            only_planned: false,
            watch: options.watch.clone(),
            threads: threads.and_then(NonZeroUsize::new),
        }
    }

    fn interpret(
        &self,
        module: &Module,
        args: &[runtime::Arg<'_>],
        options: &Options,
    ) -> Result<(Vec<Value>, runtime::Stats), Fault> {
        let mut args: Vec<Val> = args.iter().map(runtime::Arg::to_val).collect();
        if module.func(&self.entry).is_some_and(|f| f.param_types().contains(&Type::Tape)) {
            args.push(Val::tape());
        }
        let mut interp = Interp::new(module);
        interp.max_iterations = options.max_iterations;
        let results = interp.call(&self.entry, args)?;
        let tape_peak_bytes = interp.counters().pushed_bytes;
        let took = runtime::Stats { tape_peak_bytes, ..runtime::Stats::default() };
        Ok((results.into_iter().filter_map(Value::from_val).collect(), took))
    }
}

fn native_args<V: Borrow<Value>>(args: &[V]) -> Vec<runtime::Arg<'_>> {
    args.iter().map(|v| v.borrow().to_arg()).collect()
}

/// What native code gave.
fn native(
    ran: Result<(Vec<runtime::Out>, runtime::Stats), runtime::RunError>,
) -> Result<(Vec<Value>, runtime::Stats), Fault> {
    match ran {
        Ok((results, stats)) => Ok((results.into_iter().map(Value::from_out).collect(), stats)),
        Err(runtime::RunError::Fault(fault)) => Err(fault),
        Err(mismatch) => unreachable!("the arguments have been bound: {mismatch}"),
    }
}

/// The program is well-formed, so this is a machine without a code generator, or a bug.
pub(crate) fn not_compiled(error: runtime::CompileError) -> Diagnostic {
    let help = match error {
        runtime::CompileError::Unsupported(_) => "the interpreter runs everywhere",
        runtime::CompileError::NoCCompiler => {
            "install one or set CC to it, or choose the backend `auto` or `jit`, which need none"
        }
        runtime::CompileError::CCompiler(_) => {
            "set CC to another compiler, or choose the backend `jit`, which needs none"
        }
        _ => "this is a bug in wengert; the interpreter may run the program meanwhile",
    };
    Diagnostic::new("not-compiled", error.to_string()).help(help)
}

/// Runs what it was made for: the modules of a check, each by the name of its entry.
pub(crate) struct Engines<'a> {
    pub(crate) executables: Vec<Executable>,
    pub(crate) options: &'a Options,
}

impl Engine for Engines<'_> {
    fn call(&mut self, _: &Module, name: &str, args: &[Val]) -> Result<Vec<Val>, Fault> {
        let found = self.executables.iter().find(|e| e.entry == name);
        let executable = found.unwrap_or_else(|| unreachable!("a check runs three entries"));
        let args: Vec<Value> = args.iter().cloned().filter_map(Value::from_val).collect();
        let ran = executable.run(&args, self.options)?;
        Ok(ran.values.iter().map(Value::to_val).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::parse;
    use wengert_core::transform::{jvp, vjp};

    /// Values of every rank and kind go through derivative programs of both backends alike.
    #[test]
    fn matrices_and_their_derivatives() {
        let text =
            "func @f(%a: [[f64]], %s: f64, %b: [f32], %on: [bool]) -> ([[f64]], [f32], f64) {
             %p = mul %a, %a
             %q = mul %p, %s
             %t = sum %q
             %c = mul %b, %b
             return %q, %c, %t
           }";
        let module = parse::module(text).unwrap();
        let func = &module.funcs[0];
        let args: Vec<Value> = vec![
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].into(),
            2.0.into(),
            [0.5f32, 1.5].into(),
            [true].into(),
        ];
        let run = |module: &Module, entry: &str, more: &[Value]| {
            let args: Vec<Value> = args.iter().chain(more).cloned().collect();
            let compiler = runtime::cc::toolchain::Toolchain::get();
            let backends = [Backend::Interp, Backend::Jit, Backend::Auto].into_iter();
            let backends = backends.chain(compiler.map(|_| Backend::Cc));
            let run = |backend| {
                let executable = Executable::new(module.clone(), entry.into(), backend).unwrap();
                executable.run(&args, &Options::default()).unwrap().values
            };
            let values: Vec<_> = backends.map(run).collect();
            assert!(values.iter().all(|v| *v == values[0]), "{values:?}");
            values[0].clone()
        };
        let values = run(&module, "f", &[]);
        let q = Value::from([[2.0, 8.0, 18.0], [32.0, 50.0, 72.0]]);
        assert_eq!(values, [q.clone(), [0.25f32, 2.25].into(), 182.0.into()]);

        let forward = Module::of(jvp::jvp(func, &[0, 1, 2]).unwrap());
        let ones = [args[0].filled(1.0), 0.0.into(), args[2].filled(1.0)];
        let tangents = run(&forward, "f.jvp", &ones).split_off(3);
        let dq = Value::from([[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]);
        assert_eq!(tangents, [dq.clone(), [1.0f32, 3.0].into(), 84.0.into()]);

        let reverse = vjp::vjp(func, &[0, 1, 2]).unwrap();
        let seeds = [q.filled(0.0), args[2].filled(1.0), 1.0.into()];
        let adjoints = run(&reverse, "f.vjp", &seeds).split_off(3);
        assert_eq!(adjoints, [dq, 91.0.into(), [1.0f32, 3.0].into()]);
    }
}
