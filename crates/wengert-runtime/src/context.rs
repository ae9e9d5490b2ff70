//! What running code and the runtime share.
//!
//! Compiled code addresses the first fields of [`Context`] by their offsets ([`field`]), and what the tapes
//! may still hold; the rest belongs to the runtime alone.

use crate::arrays::Arrays;
use crate::budget::Budget;
use crate::held::Held;
use crate::jit::link::Linked;
use crate::jit::site::{SiteKind, Wrote};
use crate::tapes::Tapes;
use crate::workers::{self, Workers};
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicI64};
use wengert_checkpoint::Precision;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::span::Span;

/// The state of one run.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Context<'p> {
    /// Where a run's only tape begins.
    pub(crate) tape_base: usize,
    /// One past the last address that may be written of it.
    pub(crate) tape_limit: usize,
    /// The highest top of that tape noted so far.
    pub(crate) tape_peak: usize,
    /// Set by the user to end the run.
    pub(crate) interrupt: *const AtomicBool,
    /// How often a `while` loop may begin an iteration: once more than it may complete one.
    pub(crate) rounds: u64,
    /// Calls in progress, counted where recursion is possible.
    pub(crate) depth: u64,
    /// The site of the fault, or of the call it passed through, not yet in the trail.
    pub(crate) site: u64,
    /// What the fault speaks of: index and length, or a length.
    pub(crate) operands: [i64; 2],
    /// The iterations of the loops around the site, innermost first.
    pub(crate) counters: *mut i64,
    /// Bytes that all threads of the run may still take for their tapes; null on the thread of the run itself.
    pub(crate) tape_shared: *const AtomicI64,
    /// How many of them are taken at a time.
    pub(crate) tape_block: usize,

    /// What the pointers above point to.
    counter_storage: Vec<i64>,
    /// The program that runs.
    pub(crate) program: &'p Linked,
    /// Every array of the run.
    pub(crate) arrays: Arrays,
    /// Every tape of the run.
    pub(crate) tapes: Tapes,
    /// The arrays on them.
    pub(crate) held: Held,
    /// What a kernel has reported.
    pub(crate) kernel_fault: Option<FaultKind>,
    /// How many threads parallel loops run on.
    pub(crate) threads: usize,
    /// What each of them has.
    pub(crate) workers: Workers<'p>,
    /// The memory for states and records.
    pub(crate) budget: Budget,
    /// Sites from the fault outwards through the calls around it, with their iterations.
    trail: Vec<(u64, Vec<i64>)>,
}

/// Offsets of the fields compiled code uses.
pub(crate) mod field {
    use super::{Context, Tapes, offset_of};

    pub(crate) const TAPE_BASE: i32 = offset_of!(Context, tape_base) as i32;
    pub(crate) const TAPE_LIMIT: i32 = offset_of!(Context, tape_limit) as i32;
    pub(crate) const TAPE_PEAK: i32 = offset_of!(Context, tape_peak) as i32;
    pub(crate) const TAPE_LEFT: i32 = (offset_of!(Context, tapes) + Tapes::LEFT) as i32;
    pub(crate) const INTERRUPT: i32 = offset_of!(Context, interrupt) as i32;
    pub(crate) const ROUNDS: i32 = offset_of!(Context, rounds) as i32;
    pub(crate) const DEPTH: i32 = offset_of!(Context, depth) as i32;
    pub(crate) const SITE: i32 = offset_of!(Context, site) as i32;
    pub(crate) const OPERANDS: i32 = offset_of!(Context, operands) as i32;
    pub(crate) const COUNTERS: i32 = offset_of!(Context, counters) as i32;
    pub(crate) const TAPE_SHARED: i32 = offset_of!(Context, tape_shared) as i32;
    pub(crate) const TAPE_BLOCK: i32 = offset_of!(Context, tape_block) as i32;
}

impl<'p> Context<'p> {
    /// The state before a run. `only_tape` is where the first of its tapes begins.
    pub(crate) fn new(
        program: &'p Linked,
        rounds: u64,
        interrupt: &'p AtomicBool,
        tapes: Tapes,
        only_tape: usize,
        threads: usize,
    ) -> Self {
        Context::begin(program, rounds, interrupt, tapes, only_tape, threads)
    }

    fn begin(
        program: &'p Linked,
        rounds: u64,
        interrupt: *const AtomicBool,
        tapes: Tapes,
        only_tape: usize,
        threads: usize,
    ) -> Self {
        let mut counter_storage = vec![0; program.max_loops];
        Context {
            tape_base: only_tape,
            tape_limit: tapes.limit(only_tape),
            tape_peak: only_tape,
            interrupt,
            rounds,
            depth: 1,
            site: 0,
            operands: [0; 2],
            counters: counter_storage.as_mut_ptr(),
            tape_shared: std::ptr::null(),
            tape_block: 0,
            counter_storage,
            program,
            arrays: Arrays::default(),
            tapes,
            held: Held::default(),
            kernel_fault: None,
            threads,
            workers: Workers::default(),
            budget: Budget::default(),
            trail: Vec::new(),
        }
    }

    /// The state of one thread of this run. It has no tape yet.
    pub(crate) fn worker(&self) -> Context<'p> {
        // It may end in the midst of a block, and begins with one.
        let tapes = Tapes::new(Some(self.tapes.bytes().saturating_add(2 * workers::BLOCK)));
        let worker = Context::begin(self.program, self.rounds, self.interrupt, tapes, 0, 1);
        Context { depth: self.depth, ..worker }
    }

    /// Opens a tape where there is none; gives back where it begins, or nothing where there are no addresses.
    pub(crate) fn open_tape(&mut self) -> Option<usize> {
        let base = self.tapes.open().ok()?;
        (self.tape_base, self.tape_peak) = (base, base);
        self.tape_limit = self.tapes.limit(base);
        Some(base)
    }

    /// Takes over the fault of a thread of this run.
    pub(crate) fn take_fault(&mut self, worker: &mut Context) {
        self.trail = std::mem::take(&mut worker.trail);
        (self.site, self.operands) = (worker.site, worker.operands);
        self.kernel_fault = worker.kernel_fault.take();
        self.counter_storage.copy_from_slice(&worker.counter_storage);
    }

    /// The tapes of all threads together are full, at this site.
    pub(crate) fn full(&mut self, site: u64) {
        self.trail.clear();
        self.site = site;
    }

    /// Something is wrong at a site, and this is what.
    pub(crate) fn stop(&mut self, site: u64, kind: FaultKind) {
        self.trail.clear();
        self.site = site;
        self.kernel_fault = Some(kind);
    }

    /// Whether the fault that compiled code has reported is that there is no room on the tape.
    pub(crate) fn is_full(&self) -> bool {
        let first = self.trail.first().map_or(self.site, |(site, _)| *site);
        matches!(self.program.sites[first as usize].kind, SiteKind::TapeLimit)
    }

    /// Whether the fault that compiled code has reported is one of the program: no lack of memory, and nobody's wish.
    fn is_of_program(&self) -> bool {
        let first = self.trail.first().map_or(self.site, |(site, _)| *site);
        let told = match &self.kernel_fault {
            Some(FaultKind::OutOfMemory(_) | FaultKind::NoAddresses | FaultKind::Interrupted) => {
                false
            }
            Some(FaultKind::Budget { .. } | FaultKind::TapeLimit(_)) => false,
            Some(_) | None => true,
        };
        let kind = &self.program.sites[first as usize].kind;
        let is_full = matches!(kind, SiteKind::TapeLimit | SiteKind::OutOfMemory);
        told && !is_full && !matches!(kind, SiteKind::NoAddresses | SiteKind::Interrupted)
    }

    /// A fault of the program in a step that began in a state with fewer digits than it had may be due to that.
    pub(crate) fn blame(&mut self, site: u64, precision: Precision) {
        if self.is_of_program() {
            let why = self.fault().message();
            let why = format!("run again from a state kept as {precision}, the loop failed: {why}");
            let why = format!("{why}; keep states with more digits, or exactly").into();
            self.stop(site, FaultKind::Budget { why, too_small: false });
        }
    }

    /// That fault is none.
    pub(crate) fn clear_fault(&mut self) {
        self.trail.clear();
        self.kernel_fault = None;
    }

    /// The site written last is one of a loop's function that began with a later iteration than the loop: there, iterations are
    /// counted from it.
    pub(crate) fn count_from(&mut self, span: Span, first: u64) {
        let loops = &self.program.sites[self.site as usize].loops;
        if let Some(outermost) = loops.len().checked_sub(1)
            && loops[outermost] == span
        {
            let counter = &mut self.counter_storage[outermost];
            *counter = counter.saturating_add(i64::try_from(first).unwrap_or(i64::MAX));
        }
    }

    /// Moves the site written last, with its iterations, to the trail.
    pub(crate) fn note_site(&mut self) {
        let loops = self.program.sites[self.site as usize].loops.len();
        // Compiled code wrote the counters through the pointer.
        let counters = self.counter_storage[..loops].to_vec();
        self.trail.push((self.site, counters));
    }

    /// The fault compiled code has reported.
    pub(crate) fn fault(&mut self) -> Fault {
        self.note_site();
        let site = |k: u64| &self.program.sites[k as usize];
        let first = site(self.trail[0].0);
        let iterations = self
            .trail
            .iter()
            .flat_map(|(k, counters)| site(*k).loops.iter().copied().zip(counters.iter().copied()));
        let (kind, span) = (first.kind.clone(), first.span);
        // A loop at the very place of the fault is what a compiler made of one instruction.
        // One that is interrupted is at fault itself.
        let itself = matches!(kind, SiteKind::Interrupted);
        let iterations = iterations.filter(|(at, _)| itself || *at != span).collect();
        Fault {
            kind: kind.fault(Wrote {
                operands: self.operands,
                kernel: self.kernel_fault.take(),
                iterations: self.rounds - 1,
                tape_bytes: self.tapes.bytes(),
            }),
            span,
            iterations,
        }
    }
}
