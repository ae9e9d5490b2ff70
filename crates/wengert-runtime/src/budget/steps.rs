//! A compiled loop as steps that are run in ranges, recorded and reversed.
//!
//! Unsafe code: the context is a pointer, because compiled code has it as well.

use super::outputs::Outputs;
use super::values::{bytes_in, fingerprint, floats, load, outline, save};
use super::way::Way;
use super::{Place, drop_open};
use crate::context::Context;
use crate::jit::link::{Plan, Shape};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use wengert_checkpoint::Steps;
use wengert_core::fault::FaultKind;
use wengert_core::ir::Type;
use wengert_core::ops::room;

/// A loop in the middle of a sweep.
pub(super) struct Loop<'c, 'p> {
    pub(super) context: *mut Context<'p>,
    pub(super) plan: &'c Plan,
    pub(super) shape: &'c Shape,
    pub(super) advance: Way,
    pub(super) record: Way,
    pub(super) reverse: Option<Way>,
    pub(super) unstep: Option<Way>,
    pub(super) place: Place,
    /// What is carried and belongs to a state: where the words of each value begin, and its type.
    pub(super) carries: Vec<(usize, Type)>,
    /// What is carried and does not.
    pub(super) outputs: Outputs,
    /// The same of what the second sweep carries.
    pub(super) adjoints: Vec<(usize, Type)>,
    /// The words of what is carried; those of arrays belong to the loop.
    pub(super) live: Vec<u64>,
    /// The tape, and how far it was written.
    pub(super) top: u64,
    pub(super) touched: u64,
    /// The words of what the second sweep carries.
    pub(super) back: Vec<u64>,
    /// Arrays in `back` belong to the loop, after its first call.
    pub(super) owns_back: bool,
    /// Ranges of records: where the tape stood before each, and how many bytes of arrays are on it.
    pub(super) ranges: Vec<(u64, u64)>,
    /// Loops inside it whose steps are recorded are behind so many others.
    pub(super) first: usize,
    /// How many bytes the record of a step may take, where loops inside keep to that.
    pub(super) tight: Option<u64>,
    /// The number by which the way back calls its first iteration.
    pub(super) back_from: i64,
    /// About how many bytes the adjoint takes, before there is one: those of all that it can be by.
    pub(super) expected: u64,
    /// Set when the run is to end.
    pub(super) asked: *const AtomicBool,
    /// It ends between ranges only: in the middle of one there would be nothing to go on with.
    pub(super) ends_between: bool,
}

/// Never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'p> Loop<'_, 'p> {
    fn context(&self) -> &Context<'p> {
        // SAFETY: compiled code is not running while a reference is in use, and nobody else has the context.
        unsafe { &*self.context }
    }

    fn context_mut(&mut self) -> &mut Context<'p> {
        // SAFETY: as above.
        unsafe { &mut *self.context }
    }

    /// Runs steps forward, recording them or not; gives back the state that is live then.
    fn run(&mut self, range: Range<u64>, recorded: bool) -> Result<u64, u32> {
        let Place { from, to, .. } = self.place;
        if let Some(all) = self.place.steps().filter(|all| *all <= range.start) {
            return Ok(all);
        }
        let at = |k: u64| (i128::from(from) + i128::from(k)).min(i128::from(to)) as u64;
        let bounds = [at(range.start), at(range.end)];
        self.hear(false);
        let way = if recorded { &mut self.record } else { &mut self.advance };
        let ran = way.call(self.context, &bounds, &mut self.live, &mut self.top, true);
        self.hear(true);
        if let Err(status) = ran {
            // Its arrays are where nobody knows.
            self.live.clear();
            if self.shape.counts_anew {
                let span = self.shape.span;
                self.context_mut().count_from(span, range.start);
            }
            return Err(status);
        }
        self.outputs.note(&self.live);
        let way = if recorded { &self.record } else { &self.advance };
        let (done, exit) = way.ended();
        let now = self.place.steps_to(done, exit);
        match self.place.ended {
            // It has ended there before, and otherwise.
            Some(then) if then != (done, exit) && self.place.steps() <= Some(now) => Ok(now + 1),
            None if exit != 0 || done == to => {
                self.place.ended = Some((done, exit));
                Ok(now)
            }
            _ => Ok(now),
        }
    }

    /// Counts the bytes of arrays on the tape from a place on.
    fn note_range(&mut self, start: u64) {
        let bytes = self.context().held.bytes_from(start as usize);
        self.ranges.push((start, bytes));
    }

    /// What was recorded in the first sweep is one range.
    pub(super) fn find_records(&mut self) {
        let base = self.place.base;
        if self.top > base {
            self.note_range(base);
        }
    }

    /// Frees what is live.
    pub(super) fn drop_live(&mut self) {
        for (at, ty) in &self.carries {
            if ty.is_array() && *at < self.live.len() {
                // SAFETY: as in `context`.
                unsafe { &mut *self.context }.arrays.free(self.live[*at] as usize);
            }
        }
        self.live.clear();
    }
}

impl Steps for Loop<'_, '_> {
    type Error = u32;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, u32> {
        self.end_if_asked()?;
        self.run(range, false)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, u32> {
        self.end_if_asked()?;
        let Some(tight) = self.tight else { return self.record_range(range, room) };
        // Each step has what the ones before it have left.
        let (before, mut at) = (self.record_bytes(), range.start);
        while at < range.end {
            let left = room.saturating_sub(self.record_bytes() - before);
            let memory = left.min(tight);
            // Some of it is for what the step records itself.
            self.open_inside(Some(memory - memory / 8));
            let ran = self.record_range(at..at + 1, left);
            self.open_inside(None);
            match ran? {
                Some(now) if now > at => at = now,
                other => return Ok(other),
            }
        }
        Ok(Some(at))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), u32> {
        self.end_if_asked()?;
        let (from, ended) = (self.back_from, self.place.ended);
        let at = |k: u64| i128::from(from).saturating_add(i128::from(k)) as i64;
        let (mut to, mut exit) = (at(range.end), 0);
        if let Some((done, by)) = ended
            && by != 0
            && to > done
            && !self.shape.cut_apart
        {
            (to, exit) = (done, by);
        }
        let bounds = [at(range.start) as u64, to as u64, exit];
        self.open_inside(self.tight);
        self.hear(false);
        let Some(way) = &mut self.reverse else { return Err(1) };
        let ran = way.call(self.context, &bounds, &mut self.back, &mut self.top, self.owns_back);
        self.hear(true);
        self.open_inside(None);
        ran?;
        // The first ones belong to the caller, who frees those that were lent.
        self.owns_back = true;
        while self.ranges.pop_if(|(start, _)| *start >= self.top).is_some() {}
        if let Some((start, _)) = self.ranges.pop() {
            self.note_range(start);
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.drop_records(self.place.base, self.first);
        self.ranges.clear();
    }

    fn spare(&mut self, bytes: u64) {
        let taken = self.record_bytes();
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        room::keep(whole(taken), whole(bytes));
        if self.touched - self.place.base > bytes {
            let (top, touched) = (self.top as usize, self.touched as usize);
            self.context_mut().tapes.give_back_above(top, touched);
            self.touched = self.top;
        }
    }

    fn tighten(&mut self, bytes: u64) -> bool {
        let can = self.shape.inside > 0 && bytes > 0;
        self.tight = can.then_some(bytes);
        can
    }

    fn is_asked_to_end(&self) -> bool {
        // SAFETY: the flag is the caller's, and outlives the run.
        unsafe { &*self.asked }.load(Ordering::Relaxed)
    }

    fn record_bytes(&self) -> u64 {
        let arrays = self.ranges.iter().map(|(_, bytes)| bytes).sum::<u64>();
        (self.top - self.place.base + arrays).saturating_add(self.bytes_inside(self.first))
    }

    fn state_bytes(&self) -> u64 {
        bytes_in(&self.carries, &self.live)
    }

    fn save(&self, to: &mut [u8]) {
        save(&self.carries, &self.live, to);
    }

    fn load(&mut self, from: &[u8]) -> Result<(), u32> {
        self.drop_live();
        // SAFETY: as in `context`.
        let context = unsafe { &mut *self.context };
        self.live.resize(self.advance.words_carried(), 0);
        let loaded = load(&mut context.arrays, &self.carries, &mut self.live, from);
        let placed = loaded.and_then(|()| self.outputs.place(&mut context.arrays, &mut self.live));
        placed.map_err(|bytes| {
            context.stop(self.plan.stopped, FaultKind::OutOfMemory(bytes));
            1
        })
    }

    fn floats(&self) -> Vec<Range<usize>> {
        floats(&self.carries, &self.live)
    }

    fn outline(&self) -> u64 {
        outline(&self.carries, &self.live)
    }

    fn adjoint_floats(&self) -> Vec<Range<usize>> {
        // Behind adjoints there is what is carried as well.
        floats(&self.adjoints[..self.shape.adjoints.min(self.adjoints.len())], &self.back)
    }

    fn adjoint_bytes(&self) -> u64 {
        if self.back.is_empty() { self.expected } else { bytes_in(&self.adjoints, &self.back) }
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        save(&self.adjoints, &self.back, to);
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), u32> {
        // SAFETY: as in `context`.
        let context = unsafe { &mut *self.context };
        let lent = self.reverse.as_ref().map_or(&[][..], |way| &way.lent);
        for (at, _) in self.adjoints.iter().filter(|(_, ty)| ty.is_array()) {
            // What was lent belongs to the caller.
            if self.owns_back || !lent.contains(at) {
                context.arrays.free(self.back[*at] as usize);
            }
        }
        self.owns_back = true;
        load(&mut context.arrays, &self.adjoints, &mut self.back, from).map_err(|bytes| {
            context.stop(self.plan.stopped, FaultKind::OutOfMemory(bytes));
            1
        })
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(&self.carries, &self.live)
    }
}

impl Loop<'_, '_> {
    fn end_if_asked(&mut self) -> Result<(), u32> {
        if self.is_asked_to_end() {
            let stopped = self.plan.stopped;
            self.context_mut().stop(stopped, FaultKind::Interrupted);
            return Err(1);
        }
        Ok(())
    }

    /// Whether compiled code is to look whether it should end.
    fn hear(&mut self, heard: bool) {
        if self.ends_between {
            self.context_mut().interrupt = if heard { self.asked } else { &NEVER };
        }
    }

    /// Records a range, all of it or nothing.
    fn record_range(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, u32> {
        let start = self.top;
        let limit = self.context().tape_limit;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let allowed = (start as usize).saturating_add(room);
        // What it takes over may be lost as well as what it makes.
        let arrays = self.carries.iter().filter(|(at, ty)| ty.is_array() && *at < self.live.len());
        let taken: Vec<u64> = arrays.map(|(at, _)| self.live[*at]).collect();
        let context = self.context_mut();
        let waiting = context.budget.open.len();
        context.tape_limit = limit.min(allowed);
        context.arrays.watch(&taken);
        let ran = self.run(range, true);
        let context = self.context_mut();
        context.tape_limit = limit;
        let made = context.arrays.watched();
        let reached = if ran.is_ok() { self.top } else { limit.min(allowed) as u64 };
        self.touched = self.touched.max(reached);
        match ran {
            Ok(now) => {
                self.note_range(start);
                let bytes = self.top - start + self.ranges.last().map_or(0, |(_, bytes)| *bytes);
                if bytes.saturating_add(self.bytes_inside(waiting)) <= room as u64 {
                    return Ok(Some(now));
                }
                self.ranges.pop();
                self.drop_records(start, waiting);
                self.drop_live();
                Ok(None)
            }
            Err(status) => {
                let context = self.context_mut();
                let is_small = std::mem::take(&mut context.budget.is_small);
                if !is_small && (allowed >= limit || !context.is_full()) {
                    return Err(status);
                }
                context.clear_fault();
                self.drop_records(start, waiting);
                let context = self.context_mut();
                made.into_iter().for_each(|address| context.arrays.free(address));
                Ok(None)
            }
        }
    }

    /// Gives loops inside so much memory; none, and they are parts of steps.
    fn open_inside(&mut self, memory: Option<u64>) {
        let budget = &mut self.context_mut().budget;
        (budget.memory, budget.is_shut) = (memory, memory.is_none());
    }

    /// What loops inside take that wait behind so many others.
    fn bytes_inside(&self, first: usize) -> u64 {
        let open = self.context().budget.open.get(first..).unwrap_or_default();
        open.iter().fold(0, |sum: u64, open| sum.saturating_add(open.bytes()))
    }

    /// Takes records off the tape, and frees the arrays among them; loops inside wait no more.
    fn drop_records(&mut self, start: u64, first: usize) {
        let context = self.context_mut();
        for address in context.held.drop_from(start as usize) {
            context.arrays.free(address);
        }
        drop_open(context, first.min(context.budget.open.len()));
        self.top = start;
    }
}
