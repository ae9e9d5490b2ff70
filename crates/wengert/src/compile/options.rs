//! How to run and differentiate, and what it cost.

use crate::compile::memory::LoopReport;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wengert_checkpoint::{Precision, Watch};

/// What runs the program. All give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Native code, compiled in milliseconds; for a program that is called again after it has run for 50 ms the
    /// C compiler of the machine, if there is one, makes faster code in the background.
    #[default]
    Auto,
    /// The interpreter: the specification, and slow.
    Interp,
    /// Native code, compiled in milliseconds by Cranelift.
    Jit,
    /// Native code by the C compiler of the machine, before the first run; where there is none, an
    /// error. What was compiled is kept in `$WENGERT_CACHE`, or in `wengert` in the user's folder of cached data.
    Cc,
}

/// How gradients are computed. Both ways give the same derivatives up to rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One run per component of the parameters; memory does not grow with the number of iterations.
    Forward,
    /// One run for all parameters; records every iteration on a tape.
    #[default]
    Reverse,
}

/// How a function is run. The default suits most uses.
///
/// ```
/// use wengert::{Backend, Options};
///
/// let careful = Options { backend: Backend::Interp, max_iterations: 1000, ..Options::default() };
/// # assert_eq!(careful.tape_limit, None);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// What runs the program.
    pub backend: Backend,
    /// How gradients are computed.
    pub mode: Mode,
    /// Most iterations of a `while` loop before it is reported as endless.
    pub max_iterations: u64,
    /// Most bytes of tape; most of the free memory where there is no limit given. Of a batch, each member may take as
    /// much, and as many run at once as there are threads. Threads of a parallel loop share equally what is left when
    /// the loop begins.
    pub tape_limit: Option<u64>,
    /// Bytes for what the way back through loops needs. A loop that needs more keeps some of its states and runs again from
    /// them; that takes longer and changes no bit. Native code, first and second derivatives; parallel loops keep
    /// everything, and members of a batch that run at the same time share it. Without it everything is kept.
    pub memory: Option<u64>,
    /// Loops are taken back, step by step, instead of storing their states; see [`Invert`]. With or without `memory`.
    pub invert: Option<Invert>,
    /// A folder where loops keep states beside the memory; see [`Disk`]. Only with `memory`.
    pub disk: Option<Disk>,
    /// How loops keep floats in the states that they store, in memory and in files. With [`Precision::F32`] and
    /// [`Precision::Bf16`] some two or four times as many states fit, so fewer iterations are run again. Results stay exact; gradients do not, and
    /// [`Done::shortened`](crate::checkpoint::Done::shortened) of every loop in [`Stats::loops`] says how far they are from the exact ones, about.
    /// Loops inside others keep exact states. Only with `memory`.
    pub precision: Precision,
    /// Set it to `true` from another thread to end a run with an error. Native code only.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Shows where the loop stands that is being run in limited memory.
    pub watch: Option<Arc<Watch>>,
    /// How many threads run the members of a batch; as many as the machine has cores where it is not said. It
    /// changes no bit.
    pub threads: Option<usize>,
}

/// Loops that run backwards: the gradient of a loop of any length in the memory of a few states.
///
/// A step such as `v -= h * f(x); x += h * v` can be undone, so the way back takes the last state back step by step. Rounding makes
/// that drift away from the states there were. How far is measured wherever a state was stored, told by
/// [`LoopReport::taken_back`](crate::LoopReport::taken_back), and an error where it is more than is allowed. Loops that cannot be
/// undone are an error that says why. Native code, first derivatives in reverse mode; parallel loops keep everything.
///
/// ```
/// use wengert::{Function, Invert, Options};
///
/// let text = "
/// import math
///
/// def pendulum(x, v, h, n):
///     for i in range(n):
///         v -= h * math.sin(x)
///         x += h * v
///     return x
/// ";
/// let f = Function::from_source(text, "pendulum")?;
/// let exact = f.value_and_grad((1.0, 0.0, 0.01, 10_000), "x")?;
/// let options = Options { invert: Some(Invert::default()), ..Options::default() };
/// let f = f.with_options(options);
/// let run = f.value_and_grad((1.0, 0.0, 0.01, 10_000), "x")?;
/// let back = run.stats.loops[0].taken_back.unwrap();
/// assert!(back.done.peak_bytes < 4096 && back.done.drift.relative < 1e-11);
/// let by_x = |g: &wengert::Gradient| g.get("x").unwrap().as_f64().unwrap();
/// assert!((by_x(&run) / by_x(&exact) - 1.0).abs() < 1e-9);
/// # Ok::<(), wengert::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invert {
    /// The line of the loop that is taken back; where it is not said, all are.
    pub line: Option<usize>,
    /// A state is stored every so many iterations, beside the first and the last one. With 1 all states are the exact ones, and so is
    /// the gradient. Where it is not said, as many are stored as half of the memory holds, and none where that is not limited.
    pub every: Option<u64>,
    /// How far a state may come out from the one that was stored, relative to the largest number.
    pub within: f64,
}

impl Default for Invert {
    fn default() -> Invert {
        Invert { line: None, every: None, within: 1e-6 }
    }
}

/// A folder where loops keep states, and where they stand, beside the memory that is allowed.
///
/// What is there is removed when the gradient is there. A process that was cut off leaves it, and another one can go on
/// with it: the same function with the same arguments and `resume`, to the same bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The folder. It is made where there is none.
    pub folder: PathBuf,
    /// How many bytes states may take there.
    pub bytes: u64,
    /// Whether to go on with what was left there; where nothing was left, it begins.
    pub resume: bool,
    /// Whether what is written survives a loss of power, too. It takes longer.
    pub fsync: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            backend: Backend::default(),
            mode: Mode::default(),
            max_iterations: 1_000_000_000,
            tape_limit: None,
            memory: None,
            invert: None,
            disk: None,
            precision: Precision::Exact,
            interrupt: None,
            watch: None,
            threads: None,
        }
    }
}

/// What a call took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// What ran it, once it has run: not [`Backend::Auto`], but what that chose.
    pub backend: Backend,
    /// The most bytes the tape held.
    pub tape_bytes: u64,
    /// Iterations of loops that were run more than once, where there is a limit of memory.
    pub run_again: u64,
    /// Time to lower, differentiate and compile; next to nothing when that was done by an earlier call.
    pub compile_seconds: f64,
    /// Time to run.
    pub run_seconds: f64,
    /// The loops that were run in limited memory, in the order in which they were done.
    pub loops: Vec<LoopReport>,
}
