//! IR to native code, through Cranelift.
//!
//! Reading order: [`compile`] here (the order of things), `graph` (which functions, and what is
//! known of each), `abi` (how values travel), `identity` (values that need no register of their own),
//! `ownership` (which arrays die where), `emit` (one function), `loops`, `prims`, `memory`, `kernel`, `products`, `batches`, `tapes`, `pool` and `bounds` (its parts), `cold` (what happens on a
//! fault), `entry` (how the outside calls in), [`link`] (finished code), `site` (from a fault's number
//! to what is said about it), `target` (the machine).
//!
//! Values of a function live in virtual registers: scalars in one each, an array in one more than it
//! has dimensions (address, dimensions), a tape in one (its top). A function takes the context first and gives back
//! a status first: 0, or 1 after a fault has been written to the context.

mod abi;
mod ahead;
mod batches;
mod bounds;
mod cold;
mod eights;
mod emit;
mod entry;
mod graph;
mod identity;
mod kernel;
pub(crate) mod lanes;
#[allow(unsafe_code)] // calls compiled code, and frees it
pub(crate) mod link;
mod loops;
mod machine;
mod memory;
mod neighbours;
mod nest;
mod ownership;
mod pairs;
mod pool;
mod prims;
mod products;
mod sides;
pub(crate) mod site;
mod tapes;
mod target;
mod vectors;
mod written;

use crate::cc::print::{Callee, Printer};
use crate::hooks;
use crate::kernel::Kernel;
pub(crate) use abi::slots as abi_slots;
use abi::{aside_signature, frame_signature, hook_signatures, native_signature, stands_aside};
use cranelift_codegen::Context as Codegen;
use cranelift_codegen::ir::Function;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use graph::{Graph, Info};
use lanes::look::{Lanes, Order, look};
use link::{Code, Ways};
use pool::Pool;
use rustc_hash::FxHashMap as HashMap;
use site::Site;
use std::fmt::Write;
use std::sync::Arc;
use wengert_core::ir::{Func, Module, Op, verify};
use wengert_core::span::Diagnostic;
use wengert_core::transform::{flatten, pipeline, spread};

/// Why a module could not be compiled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompileError {
    /// The module is not well-formed.
    #[error("{0}")]
    Invalid(Diagnostic),
    /// An entry that is not in the module.
    #[error("there is no function `@{0}`")]
    UnknownEntry(String),
    /// This machine's code cannot be generated.
    #[error("native code cannot be generated on this machine: {0}")]
    Unsupported(String),
    /// There is no C compiler.
    #[error("there is no C compiler: neither $CC nor `cc`, `clang` or `gcc` answers")]
    NoCCompiler,
    /// The C compiler, or what it made, did not work.
    #[error("the C compiler failed: {0}")]
    CCompiler(String),
    /// The code generator refused the program.
    #[error("the code generator failed on `@{func}`: {message}")]
    Backend {
        /// The function it was working on.
        func: String,
        /// What it said.
        message: String,
    },
}

/// The native code of the given entries and everything they call, as text: first in Cranelift's IR
/// as it is handed over, then as instructions of this machine.
///
/// ```
/// let module = wengert_core::ir::parse::module("func @id(%x: f64) -> f64 { return %x }")?;
/// let text = wengert_runtime::disassemble(&module, &["id"])?;
/// assert!(text.contains("@id"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn disassemble(module: &Module, entries: &[&str]) -> Result<String, CompileError> {
    let mut listing = String::new();
    compile(module, entries, Some(&mut listing))?;
    Ok(listing)
}

/// A compiled module: the code and the outside's way into each entry, in the order asked for.
pub(crate) fn compile(
    module: &Module,
    entries: &[&str],
    listing: Option<&mut String>,
) -> Result<Code, CompileError> {
    let module = finished(module)?;
    let graph = Graph::new(&module, entries)?;
    let mut compiler = Compiler::new(&graph, Target::Machine(listing))?;
    compiler.define_all(&module, &graph)?;
    compiler.finish(&graph, entries)
}

/// A module as C text, to be compiled with others.
pub(crate) struct Printed {
    /// Its functions.
    pub(crate) text: String,
    /// The names of those called on frames.
    pub(crate) framed: Vec<String>,
    /// What runs need, functions being places in `framed`.
    pub(crate) ways: Ways<usize>,
}

/// The same as C text; names in it begin with the prefix.
pub(crate) fn print(
    module: &Module,
    entries: &[&str],
    prefix: &str,
) -> Result<Printed, CompileError> {
    let reverses = module.reverses();
    let mut module = finished(module)?;
    module.funcs = module.funcs.iter().map(flatten::loops).collect();
    let graph = Graph::new(&module, entries)?;
    let mut compiler = Compiler::new(&graph, Target::Text(Printer::new(prefix)))?;
    compiler.lanes = in_lockstep(&graph, &compiler.declared, reverses);
    compiler.define_all(&module, &graph)?;
    compiler.finish_text(&graph, entries)
}

/// The module after the passes that native code needs.
fn finished(module: &Module) -> Result<Module, CompileError> {
    verify::module(module).map_err(CompileError::Invalid)?;
    if let Some(external) = module.externals.first() {
        let message = format!("`@{}` is declared and has no body here", external.name);
        let error = Diagnostic::new("external-function", message)
            .help("give it a body: `func` in the place of `extern`");
        return Err(CompileError::Invalid(error));
    }
    let mut finished = pipeline::finish(module);
    // That iterations which are recorded and reversed leave each other alone cannot be seen in a plan's functions.
    let vouched = module.vouched();
    for plan in &mut finished.loops {
        plan.parallel &= plan.is_only_run() || vouched.contains(&&*plan);
    }
    Ok(spread::outline(&finished).unwrap_or(finished))
}

/// Room for the code of these functions in one piece: they call each other over distances of 32 bits. It is
/// only reserved, so it may be far too large.
fn room(funcs: &[&Func]) -> Result<ArenaMemoryProvider, CompileError> {
    let mut insts = 0usize;
    funcs.iter().for_each(|f| f.body.walk(&mut |_| insts += 1));
    let bytes = (16 << 20) + insts.saturating_mul(4096);
    ArenaMemoryProvider::new_with_size(bytes.min(1 << 30))
        .map_err(|e| CompileError::Unsupported(format!("there is no memory for it: {e}")))
}

/// The functions of parallel loops whose iterations run in lockstep: of a loop that is recorded, both or neither. Those
/// whose iterations reverse what they record do only where it is known that each `reverses` its own.
fn in_lockstep(
    graph: &Graph,
    declared: &HashMap<Arc<str>, Declared>,
    reverses: bool,
) -> HashMap<Arc<str>, Lanes> {
    let mut found = HashMap::default();
    if graph.several_tapes() || (graph.own_tape() && !reverses) {
        return found;
    }
    let aside = |name: &str| declared.get(name).is_some_and(|d| d.stands_aside);
    for plan in graph.plans.iter().filter(|plan| graph.pieces(plan).is_some()) {
        let look = |name: &Arc<str>, order| {
            let func = graph.funcs.iter().find(|f| f.name == *name)?;
            Some((name.clone(), look(func, order, &aside)?))
        };
        let ways = match plan.is_only_run() {
            true => vec![look(&plan.advance, Order::Up)],
            false => vec![look(&plan.record, Order::Up), look(&plan.reverse, Order::Down)],
        };
        let ways = ways.into_iter().collect::<Option<Vec<_>>>();
        let alike = |ways: &Vec<(Arc<str>, Lanes)>| match &ways[..] {
            [record, reverse] => record.1.fits(&reverse.1),
            _ => true,
        };
        found.extend(ways.filter(alike).into_iter().flatten());
    }
    found
}

/// Rows of the scalar table reach native code on scalars only: on arrays they have become loops.
fn only_scalars(func: &Func) -> Result<(), CompileError> {
    let mut found = None;
    func.body.walk(&mut |inst| match inst.op {
        Op::Prim(prim) if !func.ty(inst.results[0]).is_scalar() => found = Some(prim),
        _ => {}
    });
    match found {
        None => Ok(()),
        Some(prim) => Err(CompileError::Backend {
            func: func.name.to_string(),
            message: format!("`{}` works on whole arrays and was not made a loop", prim.name()),
        }),
    }
}

/// What is known of a function when calls to it are compiled.
pub(crate) struct Declared {
    native: FuncId,
    frame: Option<FuncId>,
    /// Scalar code that cannot fail: a slow path.
    stands_aside: bool,
    /// The way into such a function that changes no register; C compilers have ways of their own.
    aside: Option<FuncId>,
    counted: bool,
    pushes: bool,
    pops: bool,
    makes_tapes: bool,
    /// Whether it may run on one of several threads that share the room for tapes.
    shares: bool,
}

/// What is known of an outlined loop when it is driven.
struct Outlined {
    /// The number the driver knows it by.
    number: usize,
    record: Arc<str>,
    reverse: Arc<str>,
    carries: usize,
    bounded: bool,
}

/// The runtime's functions that compiled code calls.
struct Hooks {
    fill: FuncId,
    blank: FuncId,
    copy: FuncId,
    free: FuncId,
    note_site: FuncId,
    drive: FuncId,
    kernel: FuncId,
    new_tape: FuncId,
    tape_base: FuncId,
    note_tape: FuncId,
    end_tape: FuncId,
    hold_array: FuncId,
    take_array: FuncId,
    refill: FuncId,
    rows: FuncId,
    columns: FuncId,
    many: FuncId,
    add: FuncId,
    dot: FuncId,
    sum: FuncId,
}

/// One compilation: what the parts of it share.
struct Compiler<'l> {
    jit: JITModule,
    declared: HashMap<Arc<str>, Declared>,
    plans: HashMap<Arc<str>, Outlined>,
    hooks: Hooks,
    sites: Vec<Site>,
    /// What the runtime does for compiled code, by number.
    kernels: Vec<Kernel>,
    /// Whether a run may have more than one tape.
    several_tapes: bool,
    /// Whether it has one that begins anew with every iteration of a parallel loop.
    own_tape: bool,
    /// Functions of parallel loops that run in lockstep, with what is known of their loops.
    lanes: HashMap<Arc<str>, Lanes>,
    pool: Pool,
    codegen: Codegen,
    scratch: FunctionBuilderContext,
    target: Target<'l>,
}

/// What becomes of the code.
enum Target<'l> {
    /// It is compiled for this machine, and listed where someone asks for it.
    Machine(Option<&'l mut String>),
    /// It is printed in C.
    Text(Printer),
}

impl<'l> Compiler<'l> {
    fn new(graph: &Graph, mut target: Target<'l>) -> Result<Self, CompileError> {
        let funcs = &graph.funcs;
        funcs.iter().try_for_each(|func| only_scalars(func))?;
        let isa = target::isa()?;
        let host = isa.default_call_conv();
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbols(hooks::symbols());
        if matches!(target, Target::Machine(_)) {
            builder.memory_provider(Box::new(room(funcs)?));
        }
        let mut jit = JITModule::new(builder);

        let failed = |name: &str| {
            let func = name.to_string();
            move |e: cranelift_module::ModuleError| CompileError::Backend {
                func,
                message: e.to_string(),
            }
        };
        let mut hook = 0;
        let mut import = |(name, signature)| {
            let id = jit.declare_function(name, Linkage::Import, &signature).map_err(failed(name));
            if let (Target::Text(printer), Ok(id)) = (&mut target, &id) {
                printer.declare(id.as_u32(), Callee::Hook(hook));
            }
            hook += 1;
            id
        };
        let [
            fill,
            blank,
            copy,
            free,
            note_site,
            drive,
            kernel,
            new_tape,
            tape_base,
            note_tape,
            end_tape,
            hold_array,
            take_array,
            refill,
            rows,
            columns,
            many,
            add,
            dot,
            sum,
        ] = hook_signatures(host).map(&mut import);
        let hooks = Hooks {
            fill: fill?,
            blank: blank?,
            copy: copy?,
            free: free?,
            note_site: note_site?,
            drive: drive?,
            kernel: kernel?,
            new_tape: new_tape?,
            tape_base: tape_base?,
            note_tape: note_tape?,
            end_tape: end_tape?,
            hold_array: hold_array?,
            take_array: take_array?,
            refill: refill?,
            rows: rows?,
            columns: columns?,
            many: many?,
            add: add?,
            dot: dot?,
            sum: sum?,
        };
        let mut declared = HashMap::default();
        for func in funcs {
            let signature = native_signature(func);
            let native = jit.declare_function(&func.name, Linkage::Local, &signature);
            let native = native.map_err(failed(&func.name))?;
            let framed = graph.framed().any(|name| *name == *func.name);
            let frame = if framed {
                let name = format!("{}$frame", func.name);
                let signature = frame_signature(host);
                Some(
                    jit.declare_function(&name, Linkage::Local, &signature)
                        .map_err(failed(&name))?,
                )
            } else {
                None
            };
            if let Target::Text(printer) = &mut target {
                printer.declare(native.as_u32(), Callee::Own);
            }
            let stands_aside = stands_aside(func) && !framed;
            let aside = if stands_aside && matches!(target, Target::Machine(_)) {
                let name = format!("{}$aside", func.name);
                let declared = jit.declare_function(&name, Linkage::Local, &aside_signature());
                Some(declared.map_err(failed(&name))?)
            } else {
                None
            };
            let info = graph.info(&func.name);
            let Info { counted, pushes, pops, makes_tapes, shares } = info;
            let known = Declared {
                native,
                frame,
                stands_aside,
                aside,
                counted,
                pushes,
                pops,
                makes_tapes,
                shares,
            };
            declared.insert(func.name.clone(), known);
        }
        let plans = graph.plans.iter().enumerate().map(|(number, plan)| {
            let (record, reverse) = (plan.record.clone(), plan.reverse.clone());
            let (carries, bounded) = (plan.carries, plan.bounded);
            (plan.name.clone(), Outlined { number, record, reverse, carries, bounded })
        });
        let pool = Pool::new(&mut jit)?;
        Ok(Compiler {
            pool,
            codegen: jit.make_context(),
            declared,
            plans: plans.collect(),
            hooks,
            sites: Vec::new(),
            kernels: Vec::new(),
            several_tapes: graph.several_tapes(),
            own_tape: graph.own_tape(),
            lanes: HashMap::default(),
            scratch: FunctionBuilderContext::new(),
            target,
            jit,
        })
    }

    /// Compiles every function and the ways in.
    fn define_all(&mut self, module: &Module, graph: &Graph) -> Result<(), CompileError> {
        for func in &graph.funcs {
            self.define(module, func)?;
            self.define_aside(func)?;
        }
        for name in graph.framed() {
            let func = graph.funcs.iter().find(|f| &*f.name == name);
            let func = func.unwrap_or_else(|| unreachable!("framed functions are reachable"));
            self.define_entry(func)?;
        }
        Ok(())
    }

    /// Whether the code becomes C text.
    fn prints(&self) -> bool {
        matches!(self.target, Target::Text(_))
    }

    /// Compiles one function.
    fn define(&mut self, module: &Module, func: &Func) -> Result<(), CompileError> {
        let id = self.declared[&func.name].native;
        let body = emit::function(self, module, func);
        self.finish_function(id, &func.name, body)
    }

    /// Compiles the outside's way into a function.
    fn define_entry(&mut self, func: &Func) -> Result<(), CompileError> {
        let Some(id) = self.declared[&func.name].frame else { return Ok(()) };
        let body = entry::function(self, func);
        self.finish_function(id, &format!("{} (frame)", func.name), body)
    }

    /// Compiles the way into a function that changes no register.
    fn define_aside(&mut self, func: &Func) -> Result<(), CompileError> {
        let Some(id) = self.declared[&func.name].aside else { return Ok(()) };
        let body = entry::aside(self, func, id);
        self.finish_function(id, &format!("{} (aside)", func.name), body)
    }

    fn finish_function(
        &mut self,
        id: FuncId,
        name: &str,
        body: Function,
    ) -> Result<(), CompileError> {
        let listing = match &mut self.target {
            Target::Machine(listing) => listing,
            Target::Text(printer) => {
                return printer.function(id.as_u32(), name, &body).map_err(|unknown| {
                    let message = format!("{} cannot be written in C", unknown.0);
                    CompileError::Backend { func: name.to_string(), message }
                });
            }
        };
        self.codegen.clear();
        self.codegen.func = body;
        if let Some(listing) = listing {
            self.codegen.set_disasm(true);
            let _ = writeln!(listing, "// @{name}\n{}", self.codegen.func.display());
        }
        self.jit.define_function(id, &mut self.codegen).map_err(|e| {
            // The alternative form shows what a verifier or backend error is about.
            CompileError::Backend { func: name.to_string(), message: format!("{e:?}") }
        })?;
        if let Target::Machine(Some(listing)) = &mut self.target {
            let text = self.codegen.compiled_code().and_then(|code| code.vcode.as_deref());
            let _ = writeln!(listing, "{}", text.unwrap_or_default());
        }
        Ok(())
    }

    fn finish(mut self, graph: &Graph, entries: &[&str]) -> Result<Code, CompileError> {
        self.pool.define(&mut self.jit)?;
        self.jit.finalize_definitions().map_err(|e| CompileError::Unsupported(e.to_string()))?;
        let ways = self.ways(graph, entries);
        Ok(Code::new(self.jit, ways))
    }

    fn finish_text(mut self, graph: &Graph, entries: &[&str]) -> Result<Printed, CompileError> {
        let ways = self.ways(graph, entries);
        let mut framed: Vec<FuncId> = Vec::new();
        let ways = ways.map(|id| {
            framed.iter().position(|known| *known == id).unwrap_or_else(|| {
                framed.push(id);
                framed.len() - 1
            })
        });
        let Target::Text(printer) = self.target else { unreachable!("asked for text") };
        let framed = framed.iter().map(|id| printer.name(id.as_u32())).collect();
        Ok(Printed { text: printer.finish(), framed, ways })
    }

    /// What runs need to know.
    fn ways(&mut self, graph: &Graph, entries: &[&str]) -> Ways<FuncId> {
        let frame = |name: &str| self.declared.get(name).and_then(|d| d.frame);
        let steps = entries.iter().filter_map(|name| frame(name)).collect();
        let plans = graph.plans.iter().filter_map(|plan| {
            let steps = (frame(&plan.record)?, frame(&plan.reverse)?, frame(&plan.advance));
            let shape = graph.shape(plan).filter(|_| !self.several_tapes);
            let unstep = plan.unstep.as_ref().and_then(|unstep| frame(&unstep.func));
            Some(((steps, graph.pieces(plan)), (shape, unstep)))
        });
        let (plans, rest): (Vec<_>, Vec<_>) = plans.unzip();
        let (plans, pieces) = plans.into_iter().unzip();
        let (shapes, unsteps) = rest.into_iter().unzip();
        let max_loops = self.sites.iter().map(|s| s.loops.len()).max().unwrap_or(0);
        Ways {
            entries: steps,
            plans,
            unsteps,
            pieces,
            shapes,
            sites: std::mem::take(&mut self.sites),
            kernels: std::mem::take(&mut self.kernels),
            several_tapes: self.several_tapes,
            own_tape: self.own_tape,
            max_loops,
        }
    }
}
