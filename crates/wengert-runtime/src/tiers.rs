//! A program in two stages: Cranelift's code at once, the C compiler's when it is worth its time.
//!
//! A compiler is started by a call of a program that has already run for [`WORTH`]: a run that is not repeated
//! starts none. It works in a thread of its own, which nobody waits for, and its code serves the calls that
//! begin after it is there. Both give the same bits, so nobody can tell but by the time. What goes wrong
//! with the compiler is remembered and changes nothing. Where its code is there from before, nothing is compiled at all.

use crate::jit::CompileError;
use crate::program::{Arg, Options, Out, Program, RunError, Stats};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use wengert_core::ir::Module;

/// How long a program must have run before a C compiler is started for it.
pub const WORTH: Duration = Duration::from_millis(50);

/// The C compiler of this machine has failed: it is not tried again in this process.
static FAILED: AtomicBool = AtomicBool::new(false);
/// One compiler at a time; the others wait.
static AT_WORK: Mutex<()> = Mutex::new(());

/// A program that becomes faster while it is used.
#[derive(Debug)]
pub struct Tiered(Stage);

#[derive(Debug)]
enum Stage {
    /// The C compiler has made it before.
    Last(Program),
    /// It may do so yet.
    First(Box<First>),
}

#[derive(Debug)]
struct First {
    program: Program,
    /// What the C compiler is given.
    source: Arc<(Module, Vec<String>)>,
    second: Arc<OnceLock<Program>>,
    nanoseconds: AtomicU64,
    started: AtomicBool,
}

impl Tiered {
    /// Compiles the entries and everything they call, as [`Program::compile`], unless the C compiler has done so
    /// before.
    pub fn compile(module: &Module, entries: &[&str]) -> Result<Tiered, CompileError> {
        if let Some(program) = Program::cached_c(module, entries) {
            return Ok(Tiered(Stage::Last(program)));
        }
        let names = entries.iter().map(|name| name.to_string()).collect();
        Ok(Tiered(Stage::First(Box::new(First {
            program: Program::compile(module, entries)?,
            source: Arc::new((module.clone(), names)),
            second: Arc::default(),
            nanoseconds: AtomicU64::new(0),
            started: AtomicBool::new(false),
        }))))
    }

    /// Whether calls from now on run code of the C compiler.
    pub fn is_through_c(&self) -> bool {
        match &self.0 {
            Stage::Last(_) => true,
            Stage::First(first) => first.second.get().is_some(),
        }
    }

    /// Runs an entry.
    pub fn call(
        &self,
        entry: &str,
        args: &[Arg],
        options: &Options,
    ) -> Result<(Vec<Out>, Stats), RunError> {
        match &self.0 {
            Stage::Last(program) => program.call(entry, args, options),
            Stage::First(first) => first.call(entry, args, options),
        }
    }
}

impl First {
    fn call(
        &self,
        entry: &str,
        args: &[Arg],
        options: &Options,
    ) -> Result<(Vec<Out>, Stats), RunError> {
        if let Some(program) = self.second.get() {
            return program.call(entry, args, options);
        }
        let worth = self.nanoseconds.load(Ordering::Relaxed) >= WORTH.as_nanos() as u64;
        if worth && !FAILED.load(Ordering::Relaxed) && !self.started.swap(true, Ordering::Relaxed) {
            self.start();
        }
        let start = Instant::now();
        let ran = self.program.call(entry, args, options);
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(took, Ordering::Relaxed);
        ran
    }

    /// Starts the compiler in a thread that nobody waits for.
    fn start(&self) {
        let (source, second) = (self.source.clone(), self.second.clone());
        let work = move || {
            let _one = AT_WORK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // Nobody is left to run it, or the compiler has failed for another program meanwhile.
            if Arc::strong_count(&second) == 1 || FAILED.load(Ordering::Relaxed) {
                return;
            }
            let (module, names) = &*source;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match Program::compile_c(module, &names) {
                Ok(program) => _ = second.set(program),
                Err(_) => FAILED.store(true, Ordering::Relaxed),
            }
        };
        // Without a thread there is the first stage.
        let _ = std::thread::Builder::new().name("wengert-cc".into()).spawn(work);
    }
}
