//! Finished code.
//!
//! [`Code`] owns the memory the instructions lie in; [`Linked`] is what a run needs of it: ways in,
//! outlined loops and fault sites. After this point nothing of it changes, so it can be shared
//! between threads.

use super::abi;
use super::site::{Site, SiteKind};
use crate::context::Context;
use crate::kernel::Kernel;
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use libloading::Library;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use wengert_checkpoint::Measured;
use wengert_core::ir::Type;
use wengert_core::span::Span;

/// A way into compiled code: parameters in consecutive slots of the frame, results after them.
/// Gives back 0, or another number when a fault has been written to the context.
type FrameFn = unsafe extern "C" fn(*mut Context, *mut u64) -> u32;

/// A function of a program that can be called on a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step(FrameFn);

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Step {
    /// Runs it.
    ///
    /// # Safety
    /// The code it belongs to must be alive. The context must be one of that program's, valid and
    /// used by nobody else until this returns. The frame must have a slot for each word of the
    /// function's parameters, holding values of their types, and for each word of its results.
    pub(crate) unsafe fn call(self, context: *mut Context, frame: *mut u64) -> u32 {
        // SAFETY: the caller's promises are what the generated function relies on.
        unsafe { (self.0)(context, frame) }
    }
}

/// The functions of an outlined loop.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Runs iterations and records each.
    pub(crate) record: Step,
    /// Runs recorded iterations backwards.
    pub(crate) reverse: Step,
    /// Runs iterations without recording.
    pub(crate) advance: Option<Step>,
    /// Runs iterations backwards from the state after them.
    pub(crate) unstep: Option<Step>,
    /// What it takes to run it in pieces, one after the other, if that is possible.
    pub(crate) shape: Option<Shape>,
    /// The site of the fault that it cannot be run so.
    pub(crate) stopped: u64,
    /// What was measured when it ran so, and how many iterations it had.
    measured: Mutex<Option<(Measured, u64)>>,
    /// How pieces of it can run at the same time, if they can.
    pub(crate) pieces: Option<Pieces>,
    /// The site of the fault that the pieces together need more tape than there may be.
    pub(crate) full: u64,
    /// Nanoseconds per iteration when it last ran, forward and backward; 0 before it has run.
    pub(crate) pace: [AtomicU64; 2],
}

impl Plan {
    /// What is known of the loop from when it ran in limited memory, and how many iterations it had.
    pub(crate) fn known(&self) -> Option<(Measured, u64)> {
        *self.measured.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Remembers it for the next time.
    pub(crate) fn learn(&self, known: Option<(Measured, u64)>) {
        *self.measured.lock().unwrap_or_else(|e| e.into_inner()) = known;
    }
}

/// What the functions of an outlined loop take and give back.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) advance: Signature,
    pub(crate) record: Signature,
    pub(crate) reverse: Signature,
    /// Of the one that runs iterations backwards, if there is one.
    pub(crate) unstep: Option<Signature>,
    /// The carries that no iteration begins with.
    pub(crate) free: Vec<usize>,
    /// Whether its first iteration cannot be run so.
    pub(crate) apart: bool,
    /// How many values are carried from one iteration to the next.
    pub(crate) carries: usize,
    /// Those of them that are arrays to which iterations only write.
    pub(crate) written: Vec<usize>,
    /// How many the second sweep carries.
    pub(crate) state: usize,
    /// How many of them are adjoints; those come first.
    pub(crate) adjoints: usize,
    /// Whether there are as many iterations as its range says.
    pub(crate) counted: bool,
    /// Whether an iteration that an exit cut short is reversed by the code around it.
    pub(crate) cut_apart: bool,
    /// How many loops share a memory with it, itself among them: those of the function that runs it.
    pub(crate) beside: usize,
    /// How many loops its iterations run that can be run in pieces as well.
    pub(crate) inside: usize,
    /// Whether a range counts its iterations from where it begins.
    pub(crate) counts_anew: bool,
    /// The loop.
    pub(crate) span: Span,
}

/// Parameters, each with whether it is taken over, and results.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) params: Vec<(Type, bool)>,
    pub(crate) results: Vec<Type>,
}

impl Signature {
    /// The words of some of the parameters in the frame.
    pub(crate) fn slots(&self, params: Range<usize>) -> Range<usize> {
        let before = |k: usize| self.params[..k].iter().map(|(ty, _)| abi::slots(&[*ty])).sum();
        before(params.start)..before(params.end)
    }

    /// How many words all parameters have.
    pub(crate) fn words_of_params(&self) -> usize {
        self.slots(0..self.params.len()).end
    }

    /// How many words the frame has.
    pub(crate) fn words(&self) -> usize {
        self.words_of_params() + abi::slots(&self.results)
    }

    /// The arrays among some of the parameters: where their words begin, their types, and whether they are taken over.
    pub(crate) fn arrays(
        &self,
        params: Range<usize>,
    ) -> impl Iterator<Item = (usize, Type, bool)> + '_ {
        let arrays = params.filter(|k| self.params[*k].0.is_array());
        arrays.map(|k| (self.slots(0..k).end, self.params[k].0, self.params[k].1))
    }
}

/// The frames of a parallel loop whose ranges can run at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    pub(crate) forward: Frame,
    /// The same of the way back, where there is one.
    pub(crate) reverse: Option<Frame>,
    /// The loop.
    pub(crate) span: Span,
}

/// Where things lie in the frame of a function over a range, in words. The range comes first.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The words of the parameters; results come behind them.
    pub(crate) params: usize,
    pub(crate) results: usize,
    /// Arrays that are handed back: first words of parameter and result, and how many there are.
    pub(crate) arrays: Vec<(usize, usize, usize)>,
    /// How far it came, and by which exit, among the results.
    pub(crate) ended: Option<usize>,
    /// The tape among the parameters and among the results.
    pub(crate) tape: Option<(usize, usize)>,
}

/// What a run needs to know of its program.
#[derive(Debug)]
pub(crate) struct Linked {
    /// The entries, in the order they were asked for.
    pub(crate) entries: Vec<Step>,
    /// The outlined loops, by the number compiled code passes to the driver.
    pub(crate) plans: Vec<Plan>,
    /// What fault numbers mean.
    pub(crate) sites: Vec<Site>,
    /// What the runtime does for compiled code, by the number it passes.
    pub(crate) kernels: Vec<Kernel>,
    /// Whether a run may have more than one tape.
    pub(crate) several_tapes: bool,
    /// Whether it has one that begins anew with every iteration of a parallel loop.
    pub(crate) own_tape: bool,
    /// The deepest nesting of loops around a site.
    pub(crate) max_loops: usize,
}

/// The same, functions being something else than addresses.
#[derive(Debug)]
pub(crate) struct Ways<F> {
    pub(crate) entries: Vec<F>,
    /// Record, reverse, advance.
    pub(crate) plans: Vec<(F, F, Option<F>)>,
    /// What runs iterations backwards, per plan.
    pub(crate) unsteps: Vec<Option<F>>,
    /// Per plan.
    pub(crate) pieces: Vec<Option<Pieces>>,
    /// Per plan.
    pub(crate) shapes: Vec<Option<Shape>>,
    pub(crate) sites: Vec<Site>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) several_tapes: bool,
    pub(crate) own_tape: bool,
    pub(crate) max_loops: usize,
}

impl<F> Ways<F> {
    /// The same with each function as something else.
    pub(crate) fn map<G>(self, mut f: impl FnMut(F) -> G) -> Ways<G> {
        let Ways {
            entries,
            plans,
            unsteps,
            pieces,
            shapes,
            sites,
            kernels,
            several_tapes,
            own_tape,
            max_loops,
        } = self;
        let entries = entries.into_iter().map(&mut f).collect();
        let plans = plans.into_iter().map(|(r, v, a)| (f(r), f(v), a.map(&mut f))).collect();
        let unsteps = unsteps.into_iter().map(|unstep| unstep.map(&mut f)).collect();
        Ways {
            entries,
            plans,
            unsteps,
            pieces,
            shapes,
            sites,
            kernels,
            several_tapes,
            own_tape,
            max_loops,
        }
    }
}

impl Ways<Step> {
    fn linked(self) -> Linked {
        let mut sites = self.sites;
        let mut site = |kind, span: Option<Span>| {
            sites.extend(span.map(|span| Site { kind, span, loops: Vec::new() }));
            sites.len().saturating_sub(1) as u64
        };
        let plan = |((((record, reverse, advance), unstep), pieces), shape)| {
            let (pieces, shape): (Option<Pieces>, Option<Shape>) = (pieces, shape);
            let full = site(SiteKind::TapeLimit, pieces.as_ref().map(|p| p.span));
            let budget = SiteKind::Kernel(None);
            let stopped = site(budget, shape.as_ref().map(|shape| shape.span));
            let (pace, measured) = Default::default();
            Plan { record, reverse, advance, unstep, pieces, shape, stopped, measured, full, pace }
        };
        // One tape per piece: a program that has several counts what all of them hold together.
        let several = self.several_tapes;
        let pieces = self.pieces.into_iter().map(|p: Option<Pieces>| {
            p.filter(|p| !several || (p.forward.tape.is_none() && p.reverse.is_none()))
        });
        let plans = self.plans.into_iter().zip(self.unsteps).zip(pieces).zip(self.shapes);
        let plans = plans.map(plan).collect();
        Linked {
            entries: self.entries,
            plans,
            sites,
            kernels: self.kernels,
            several_tapes: self.several_tapes,
            own_tape: self.own_tape,
            max_loops: self.max_loops,
        }
    }
}

/// Compiled code; freed on drop.
pub(crate) struct Code {
    linked: Linked,
    memory: Memory,
}

/// What keeps the instructions where they are.
enum Memory {
    /// Made here; nothing once it is freed.
    Jit(Option<Box<JITModule>>),
    /// A library that is loaded; several programs may share one.
    Library { _library: Arc<Library> },
}

// SAFETY: `memory` is only held to be freed; the code in it is finalised and never written again.
unsafe impl Send for Code {}
// SAFETY: as above; a shared `Code` gives out function addresses and plain data.
unsafe impl Sync for Code {}

impl Code {
    /// Takes over finalised code.
    pub(super) fn new(memory: JITModule, ways: Ways<FuncId>) -> Self {
        let ways = ways.map(|id| {
            let address = memory.get_finalized_function(id);
            // SAFETY: only functions compiled with the frame signature are linked: they are what
            // `Declared::frame` holds.
            Step(unsafe { std::mem::transmute::<*const u8, FrameFn>(address) })
        });
        Code { linked: ways.linked(), memory: Memory::Jit(Some(Box::new(memory))) }
    }

    /// Code of a library.
    ///
    /// # Safety
    /// The addresses must be those of functions of the library with the frame signature, printed from
    /// the program that the rest describes.
    pub(crate) unsafe fn of_library(library: Arc<Library>, ways: Ways<*const u8>) -> Self {
        let ways = ways.map(|address| {
            // SAFETY: as the caller promises.
            Step(unsafe { std::mem::transmute::<*const u8, FrameFn>(address) })
        });
        Code { linked: ways.linked(), memory: Memory::Library { _library: library } }
    }

    /// What runs need.
    pub(crate) fn linked(&self) -> &Linked {
        &self.linked
    }

    /// Runs an entry on a frame.
    ///
    /// # Safety
    /// The frame must fit the entry's parameters and results as described at [`Step::call`].
    pub(crate) unsafe fn run(&self, entry: usize, context: &mut Context, frame: &mut [u64]) -> u32 {
        // SAFETY: `self` keeps the code alive, the context is borrowed for the call, and the frame
        // is as the caller promises.
        unsafe { self.linked.entries[entry].call(context, frame.as_mut_ptr()) }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("linked", &self.linked).finish_non_exhaustive()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Memory::Jit(Some(memory)) = std::mem::replace(&mut self.memory, Memory::Jit(None)) {
            // SAFETY: a run borrows the `Code` it executes, so none is under way, and the addresses
            // in `linked` cannot be called without it.
            unsafe { memory.free_memory() };
        }
    }
}
