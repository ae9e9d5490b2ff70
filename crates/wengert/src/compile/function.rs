//! Functions: a source text, specialised and compiled for the arguments it is called with.
//!
//! A [`Function`] holds the surface tree. The first call with arguments of given kinds lowers it,
//! runs the fixed pipeline, differentiates and compiles; the result is kept for the next call.

use crate::compile::args::Args;
use crate::compile::bind;
use crate::compile::error::{Error, ErrorKind};
use crate::compile::executable::Executable;
use crate::compile::memory::LoopReport;
use crate::compile::options::{Backend, Options, Stats};
use crate::compile::shapes;
use crate::compile::source::Source;
use crate::value::Value;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use wengert_core::fault::Fault;
use wengert_core::ir::{Elem, Func, Module, Type, verify};
use wengert_core::lower::{self, Arg};
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::names::nearest;
use wengert_core::surface::{python, tree};
use wengert_core::transform::{batch, derivative, jvp, pipeline, unstep, vjp};
use wengert_runtime as runtime;

/// The stack that recordings are compiled on. Only what is used of it takes memory.
const RECORDED_STACK: usize = 256 << 20;

/// A function that can be run and differentiated.
///
/// It can be shared between threads. A clone, which may run in another way ([`Function::with_options`]), has what this one has
/// compiled, and the other way round.
#[derive(Clone, Debug)]
pub struct Function {
    source: Arc<Source>,
    module: Arc<tree::Module>,
    /// The function as it is called: with what is captured among its parameters.
    tree: Arc<tree::Function>,
    /// A recording, as IR: then the tree has only a name and parameters, and arithmetic rounds as it was recorded.
    recorded: Option<Arc<Module>>,
    pub(crate) options: Options,
    cache: Arc<Mutex<Cache>>,
}

/// What calls have made so far, by the kinds of their arguments.
#[derive(Debug, Default)]
struct Cache {
    lowered: HashMap<Vec<Arg>, Arc<Module>>,
    /// Nothing where there is no such program.
    compiled: HashMap<(Vec<Arg>, Task, Backend), Option<Arc<Executable>>>,
}

/// A program made from a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// The function itself.
    Value,
    /// Forward mode by these parameters.
    Forward(Vec<usize>),
    /// Reverse mode by these parameters.
    Reverse(Vec<usize>),
    /// The same with loops that can be taken back: all of them, or the one at this line.
    Inverted(Vec<usize>, Option<usize>),
    /// Forward mode along the second of these sets of parameters, of reverse mode by the first.
    Products(Vec<usize>, Vec<usize>),
    /// The function over many values of these parameters.
    Batch(Vec<usize>),
    /// Reverse mode by the first of these sets of parameters, over many values of the second.
    BatchReverse(Vec<usize>, Vec<usize>),
}

/// The result of [`Function::call`].
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// What the function returned, one entry per result.
    pub values: Vec<Value>,
    /// What it took.
    pub stats: Stats,
}

/// A call whose arguments have been bound: the specialised function and one value per parameter.
pub(crate) struct Call {
    /// The function, and those that stay calls in it.
    pub(crate) module: Arc<Module>,
    kinds: Vec<Arg>,
    pub(crate) values: Vec<Value>,
    started: Instant,
}

impl Function {
    /// The function of this name in a source text.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def double(x):\n    return 2 * x\n", "double")?;
    /// assert_eq!(f.call([4.0])?.values, [8.0.into()]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn from_source(source: impl Into<Source>, name: &str) -> Result<Function, Error> {
        let (source, module) = parse(source.into())?;
        match module.functions.iter().position(|f| f.name.text == name) {
            Some(index) => Ok(Function::new(source, module, index)),
            None => Err(Error::one(ErrorKind::Source, &source, unknown(&module, name))),
        }
    }

    /// The last function of a source text: the one that uses the others.
    ///
    /// ```
    /// let text = "def half(x):\n    return x / 2\n\ndef quarter(x):\n    return half(half(x))\n";
    /// let f = wengert::Function::last_of(text)?;
    /// assert_eq!(f.name(), "quarter");
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn last_of(source: impl Into<Source>) -> Result<Function, Error> {
        let (source, module) = parse(source.into())?;
        match module.functions.len().checked_sub(1) {
            Some(index) => Ok(Function::new(source, module, index)),
            None => {
                let error = Diagnostic::new("unknown-function", "the source defines no function")
                    .help("write one, as in `def f(x): return x * x`");
                Err(Error::one(ErrorKind::Source, &source, error))
            }
        }
    }

    /// A recording as a function of an array `x`: its first function, whose arithmetic keeps its rounding.
    pub(crate) fn from_recording(module: Module) -> Result<Function, Error> {
        let func = &module.funcs[0];
        let results: Vec<String> = func.results.iter().map(Type::to_string).collect();
        let text = format!("func @{}(%x: [f64]) -> ({})", func.name, results.join(", "));
        let source = Arc::new(Source::new("<recording>", text));
        verify::module(&module).map_err(|e| Error::one(ErrorKind::Source, &source, e))?;
        let place = |part: &str| {
            let start = source.text().find(part).unwrap_or(0);
            Span { start: start as u32, end: (start + part.len()) as u32 }
        };
        let span = place("%x: [f64]");
        let ty = tree::DeclaredType::Array(Some(Elem::F64));
        let annotation = Some(tree::Annotation { ty, span });
        let name = tree::Name { text: "x".into(), span: place("%x") };
        let x = tree::Param { name, annotation, lengths: Vec::new(), default: None, span };
        let name = tree::Name { text: func.name.to_string(), span: place(&func.name) };
        let span = place(source.text());
        let function = tree::Function { name, params: vec![x], body: Vec::new(), span };
        let tree = tree::Module { functions: vec![function], ..tree::Module::default() };
        Ok(Function { recorded: Some(Arc::new(module)), ..Function::new(source, tree, 0) })
    }

    fn new(source: Arc<Source>, module: tree::Module, index: usize) -> Function {
        let (options, cache) = (Options::default(), Arc::default());
        let tree = Arc::new(module.functions[index].clone());
        Function { source, module: Arc::new(module), tree, recorded: None, options, cache }
    }

    /// The same function with variables from outside its text: it and the functions it calls read these names, and they
    /// are its parameters, after its own. A text that has none of them is as it was.
    ///
    /// ```
    /// let text = "def f(x):\n    return scale * x\n";
    /// let f = wengert::Function::from_source(text, "f")?.capturing(["scale"])?;
    /// assert_eq!(f.parameters().collect::<Vec<_>>(), ["x", "scale"]);
    /// let g = f.value_and_grad([3.0, 2.0], "x")?;
    /// assert_eq!((g.value, g.get("x")), (6.0, Some(&2.0.into())));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where one of the names is already that of a parameter.
    pub fn capturing<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Function, Error> {
        let mut tree = tree::Function::clone(&self.tree);
        let mut module = tree::Module::clone(&self.module);
        for text in names.into_iter().map(Into::into) {
            if let Some(same) = tree.params.iter().find(|p| p.name.text == text) {
                let message = format!("`{text}` is a parameter, and also a variable from outside");
                let error = Diagnostic::new("captured", message)
                    .label(same.name.span, "this parameter")
                    .help("give one of them another name");
                return Err(self.error(ErrorKind::Source, error));
            }
            let span = tree.name.span;
            let name = tree::Name { text, span };
            let param =
                tree::Param { name, annotation: None, lengths: Vec::new(), default: None, span };
            tree.params.push(param.clone());
            module.captured.push(param);
        }
        (self.tree, self.module, self.cache) = (Arc::new(tree), Arc::new(module), Arc::default());
        Ok(self)
    }

    /// The same function, run in another way.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Function {
        self.options = options;
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.tree().name.text
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.tree().params.iter().map(|p| p.name.text.as_str())
    }

    /// One value per parameter, in order, defaults filled in: how a call with these arguments reads.
    pub fn bind(&self, args: impl Into<Args>) -> Result<Vec<Value>, Error> {
        bind::arguments(self.tree(), args.into()).map_err(|e| self.error(ErrorKind::Arguments, e))
    }

    /// The parameters that are given an array of integers, and so have no derivative, though they are neither
    /// declared as integers nor used as a number of things: perhaps floats were meant.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, k):\n    return x[k[0]]\n", "f")?;
    /// assert_eq!(f.integers_by_chance((vec![1_i64, 2], vec![0_i64]))?, ["x"]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn integers_by_chance(&self, args: impl Into<Args>) -> Result<Vec<String>, Error> {
        let values = self.bind(args)?;
        let counted = lower::counted_parameters(&self.module, self.name());
        let given = self.tree().params.iter().zip(&values);
        let by_chance = given.filter(|(param, value)| {
            let integers = value.ty().is_array() && value.ty().elem() == Some(Elem::I64);
            let declared = param.annotation.and_then(|a| a.ty.elements()).flatten();
            integers && declared != Some(Elem::I64) && !counted.contains(&param.name.text)
        });
        Ok(by_chance.map(|(param, _)| param.name.text.clone()).collect())
    }

    /// Runs it.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, y):\n    return x * y, x > y\n", "f")?;
    /// let run = f.call((2.0, ("y", 3.0)))?;
    /// assert_eq!(run.values, [6.0.into(), false.into()]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn call(&self, args: impl Into<Args>) -> Result<Evaluation, Error> {
        let call = self.prepare(args.into())?;
        let program = self.program(&call, Task::Value)?;
        let mut stats = Stats { compile_seconds: call.elapsed(), ..Stats::default() };
        let values = self.run(&program, &call.values, &mut stats)?;
        Ok(Evaluation { values, stats })
    }

    /// Another name for [`Function::call`].
    pub fn value(&self, args: impl Into<Args>) -> Result<Evaluation, Error> {
        self.call(args)
    }

    /// Binds arguments and specialises.
    pub(crate) fn prepare(&self, args: Args) -> Result<Call, Error> {
        let started = Instant::now();
        let refused = |e| self.error(ErrorKind::Arguments, e);
        if self.options.backend == Backend::Interp && self.options.tape_limit.is_some() {
            let error = Diagnostic::new("tape-limit", "the interpreter does not limit its tape")
                .help("leave the limit out, or run native code");
            return Err(refused(error));
        }
        if self.options.backend == Backend::Interp && self.options.memory.is_some() {
            let error = Diagnostic::new("memory-budget", "the interpreter keeps everything")
                .help("leave the limit of memory out, or run native code");
            return Err(refused(error));
        }
        let Options { backend, invert, disk, .. } = &self.options;
        if invert.is_some() && (*backend == Backend::Interp || disk.is_some()) {
            let error =
                Diagnostic::new("not-invertible", "loops are taken back in memory, by native code")
                    .help("leave taking back out, or leave out the folder and the interpreter");
            return Err(refused(error));
        }
        let values = bind::arguments(self.tree(), args).map_err(refused)?;
        Ok(Call { started, ..self.prepared(values)? })
    }

    /// Specialises for these values, one per parameter.
    pub(crate) fn prepared(&self, mut values: Vec<Value>) -> Result<Call, Error> {
        let started = Instant::now();
        let kinds: Vec<Arg> = values.iter().map(Value::described).collect();
        let module = self.specialise(&kinds)?;
        let call = Call { module, kinds, values: Vec::new(), started };
        bind::convert(self.tree(), call.func(), &mut values)
            .map_err(|e| self.error(ErrorKind::Arguments, e))?;
        Ok(Call { values, ..call })
    }

    /// The function for arguments of these kinds, lowered.
    pub(crate) fn lower(&self, kinds: &[Arg]) -> Result<Module, Error> {
        if let Some(recorded) = &self.recorded {
            return Ok(Module::clone(recorded));
        }
        let module = lower::lower(&self.module, self.name(), kinds)
            .map_err(|errors| Error::new(ErrorKind::Source, &self.source, errors))?;
        verify::module(&module).map_err(|e| self.error(ErrorKind::Source, e))?;
        Ok(module)
    }

    /// The function for arguments of these kinds, after the fixed pipeline.
    pub(crate) fn specialise(&self, kinds: &[Arg]) -> Result<Arc<Module>, Error> {
        if let Some(module) = self.cache().lowered.get(kinds) {
            return Ok(module.clone());
        }
        let module = self.with_room(|| {
            let module = self.lower(kinds)?;
            let module = match &self.recorded {
                Some(_) => pipeline::module_as_rounded(&module, self.name()),
                None => pipeline::module(&module, self.name()),
            };
            module.map_err(|e| self.error(ErrorKind::Source, e))
        });
        let module = Arc::new(module?);
        self.cache().lowered.insert(kinds.to_vec(), module.clone());
        Ok(module)
    }

    pub(crate) fn program(&self, call: &Call, task: Task) -> Result<Arc<Executable>, Error> {
        let program = self.program_if(call, task)?;
        Ok(program.unwrap_or_else(|| unreachable!("only batches may have no program of their own")))
    }

    /// The program for a task, if there is one: of a batch there may be none.
    pub(crate) fn program_if(
        &self,
        call: &Call,
        task: Task,
    ) -> Result<Option<Arc<Executable>>, Error> {
        let task = match (task, self.options.invert) {
            (Task::Reverse(by), Some(invert)) => Task::Inverted(by, invert.line),
            (task, _) => task,
        };
        let key = (call.kinds.clone(), task, self.options.backend);
        if let Some(program) = self.cache().compiled.get(&key) {
            return Ok(program.clone());
        }
        let program = self.with_room(|| self.compile(call, &key))?;
        self.cache().compiled.insert(key, program.clone());
        Ok(program)
    }

    /// Does what passes do by recursion over what a value is computed of: of recordings that can be deep.
    fn with_room<R: Send>(
        &self,
        make: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        if self.recorded.is_none() {
            return make();
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(RECORDED_STACK);
            match thread.spawn_scoped(scope, make) {
                Ok(running) => running.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(e) => {
                    let what = format!("there is no thread to compile a recording on: {e}");
                    Err(self.error(ErrorKind::Backend, Diagnostic::new("not-compiled", what)))
                }
            }
        })
    }

    /// The program for a task, made.
    fn compile(
        &self,
        call: &Call,
        key: &(Vec<Arg>, Task, Backend),
    ) -> Result<Option<Arc<Executable>>, Error> {
        let wrong = |e| self.error(ErrorKind::Source, e);
        let name = self.name();
        if matches!(key.1, Task::Products(..)) && self.options.invert.is_some() {
            let what = "second derivatives do not take loops back";
            let error = Diagnostic::new("memory-budget", what)
                .help("leave taking back out; a limit of memory works");
            return Err(self.error(ErrorKind::Arguments, error));
        }
        let (module, entry) = match &key.1 {
            Task::Value => (Module::clone(&call.module), name.to_string()),
            Task::Forward(by) => {
                let module = jvp::in_module(&call.module, name, by, 1);
                (module.map_err(wrong)?, format!("{name}.jvp"))
            }
            Task::Reverse(by) => {
                let module = vjp::in_module(&call.module, name, by);
                (module.map_err(wrong)?, format!("{name}.vjp"))
            }
            Task::Inverted(by, line) => {
                let chosen = |span: Span| line.is_none_or(|line| self.source.line(span) == line);
                let module = vjp::inverted_in_module(&call.module, name, by, &chosen);
                let module = module.map_err(wrong)?;
                let is_taken_back = module.loops.iter().any(|plan| plan.unstep.is_some());
                if let Some(line) = line.filter(|_| !is_taken_back) {
                    return Err(wrong(unstep::no_such_loop(line)));
                }
                (module, format!("{name}.vjp"))
            }
            Task::Products(by, along) => {
                let module = derivative::products(&call.module, name, by, along);
                (module.map_err(wrong)?, format!("{name}.vjp.jvp"))
            }
            Task::Batch(_) | Task::BatchReverse(..) => {
                let module = match &key.1 {
                    Task::BatchReverse(by, over) => batch::gradients(&call.module, name, by, over),
                    Task::Batch(over) => Ok(batch::values(call.func(), over).map(Module::of)),
                    _ => Ok(None),
                };
                let Some(module) = module.map_err(wrong)? else { return Ok(None) };
                let entry = module.funcs[0].name.to_string();
                (module, entry)
            }
        };
        verify::module(&module).map_err(wrong)?;
        let program = Executable::new(module, entry, self.options.backend);
        let mut program = program.map_err(|e| self.error(ErrorKind::Backend, e))?;
        if let Task::Reverse(by) = &key.1 {
            program = program.with_inner(call.module.clone(), name, by);
        }
        Ok(Some(Arc::new(program)))
    }

    pub(crate) fn run<V: Borrow<Value>>(
        &self,
        program: &Executable,
        args: &[V],
        stats: &mut Stats,
    ) -> Result<Vec<Value>, Error> {
        let args: Vec<runtime::Arg<'_>> = args.iter().map(|v| v.borrow().to_arg()).collect();
        self.run_borrowed(program, &args, &self.options, stats)
    }

    pub(crate) fn run_borrowed(
        &self,
        program: &Executable,
        args: &[runtime::Arg<'_>],
        options: &Options,
        stats: &mut Stats,
    ) -> Result<Vec<Value>, Error> {
        let ran = program.run_borrowed(args, options).map_err(|fault| self.fault(fault))?;
        stats.backend = ran.backend;
        stats.run_seconds += ran.seconds;
        stats.tape_bytes = stats.tape_bytes.max(ran.tape_bytes);
        stats.run_again += ran.run_again;
        let source = &self.source;
        stats.loops.extend(ran.loops.into_iter().map(|of| LoopReport::new(source, of)));
        Ok(ran.values)
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(crate) fn tree(&self) -> &tree::Function {
        &self.tree
    }

    pub(crate) fn error(&self, kind: ErrorKind, diagnostic: Diagnostic) -> Error {
        Error::one(kind, &self.source, diagnostic)
    }

    pub(crate) fn fault(&self, fault: Fault) -> Error {
        let told = shapes::named(&self.module, self.source.text(), &fault);
        Error::run(&self.source, fault, told)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        // Entries are inserted whole, so a panic elsewhere leaves the cache usable.
        self.cache.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Call {
    /// The specialised function.
    pub(crate) fn func(&self) -> &Func {
        &self.module.funcs[0]
    }

    /// The arguments as given, without their values.
    pub(crate) fn kinds(&self) -> &[Arg] {
        &self.kinds
    }

    /// Seconds since the call began: what compiling took, when asked just before the run.
    pub(crate) fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

fn parse(source: Source) -> Result<(Arc<Source>, tree::Module), Error> {
    let source = Arc::new(source);
    match python::parse(source.text()) {
        Ok(module) => Ok((source, module)),
        Err(errors) => Err(Error::new(ErrorKind::Source, &source, errors)),
    }
}

fn unknown(module: &tree::Module, name: &str) -> Diagnostic {
    let known: Vec<&str> = module.functions.iter().map(|f| f.name.text.as_str()).collect();
    let error = Diagnostic::new("unknown-function", format!("there is no function `{name}`"));
    let meant = nearest(name, known.iter().copied()).or(match known[..] {
        [only] => Some(only),
        _ => None,
    });
    match meant.and_then(|meant| module.function(meant)) {
        Some(function) => error
            .label(function.name.span, "this one exists")
            .help(format!("did you mean `{}`?", function.name.text)),
        None if known.is_empty() => error.help("the source defines no function"),
        None => error.help(format!("the source defines {}", bind::quoted(&known))),
    }
}
