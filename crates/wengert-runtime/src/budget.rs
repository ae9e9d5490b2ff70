//! Outlined loops in a number of bytes.
//!
//! A loop that is recorded under a budget is run by the checkpointing driver, in pieces: its three functions over ranges of
//! iterations, on frames made here. What the loop carries is its state; stored, it is words and the elements
//! of arrays. What it only reads, its captures, is kept from the first sweep to the end of the second, because the program may overwrite
//! an array between the two.
//!
//! A loop may be left in the middle of an iteration. As far as it got, that iteration is a step like the others: the
//! last one.
//!
//! Loops inside belong to the steps, as long as the record of one step fits. Where it does not, they are run here as well, each time the loop
//! around them records a step or reverses it, in the memory that is left for that step. What they keep between their two sweeps is part of
//! the step's record.
//!
//! Arrays have one owner. Those that are carried belong to the loop here, from the first call to the last; a function that takes
//! one over gives another one back, and what it only reads is freed behind it.

mod back;
mod outputs;
mod shares;
mod steps;
mod told;
mod values;
mod way;

use self::back::Course;
use self::outputs::Outputs;
use self::shares::shares;
use self::steps::Loop;
use self::told::told;
use self::values::{bytes_in, copy_of, extent, fingerprint, size, values};
use self::way::Way;
use crate::context::Context;
use crate::jit::link::{Plan, Shape, Step};
use crate::program::{Invert, LoopStats, OnDisk, Options};
use std::slice;
use std::sync::Arc;
use wengert_checkpoint::{Done, Error, Folder, LOOKED_AT, Precision, Run, Steps, Watch};
use wengert_core::ir::Phase;
use wengert_core::ops::room;

/// The loops of a run that have been recorded and not yet reversed, and what is left of the memory.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Bytes for the states and records of every loop.
    memory: Option<u64>,
    invert: Option<Invert>,
    disk: Option<OnDisk>,
    /// How loops that are not inside others keep floats in their states.
    precision: Precision,
    /// What each loop may have of the memory, once one has begun.
    shares: Option<Vec<u64>>,
    /// How many loops have been begun.
    begun: usize,
    open: Vec<Open>,
    /// Whether a loop is being run.
    is_inside: bool,
    watch: Option<Arc<Watch>>,
    /// Loops are only looked at, and everything ends when all of them are.
    is_dry: bool,
    /// That has happened.
    pub(crate) is_planned: bool,
    /// Whether loops that begin now are parts of the steps of the one being run.
    is_shut: bool,
    /// Whether the memory was too small for a loop inside another.
    is_small: bool,
    /// Iterations of loops inside others that were run more than once.
    again_inside: u64,
    /// What is known of loops that are not inside others.
    pub(crate) loops: Vec<LoopStats>,
}

/// A loop between its two sweeps.
#[derive(Debug)]
struct Open {
    /// The function that has recorded it, which tells it from others.
    record: Step,
    memory: u64,
    run: Course,
    place: Place,
    captures: Vec<u64>,
    /// Copies of captures, which are freed at the end, and their bytes.
    copies: Vec<u64>,
    copied: u64,
    outputs: Outputs,
    /// Loops inside it whose steps are recorded are behind so many others.
    first: usize,
    tight: Option<u64>,
}

impl Open {
    /// The most bytes it takes until it is reversed, beside the records it has now.
    fn bytes(&self) -> u64 {
        self.run.most_bytes().saturating_add(self.copied)
    }
}

/// Where a loop lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its range.
    from: i64,
    to: i64,
    /// How far it came, and by which exit, once that is known.
    ended: Option<(i64, u64)>,
    /// The tape before its records.
    base: u64,
}

impl Place {
    /// How many steps it is until there.
    fn steps_to(&self, done: i64, exit: u64) -> u64 {
        (i128::from(done) - i128::from(self.from)) as u64 + u64::from(exit != 0)
    }

    /// How many steps there are, once that is known.
    fn steps(&self) -> Option<u64> {
        self.ended.map(|(done, exit)| self.steps_to(done, exit))
    }
}

impl Budget {
    pub(crate) fn new(options: &Options) -> Budget {
        let is_dry = options.only_planned;
        let memory = options.memory.or(is_dry.then_some(u64::MAX));
        let (disk, watch) = (options.disk.clone(), options.watch.clone());
        let (invert, precision) = (options.invert, options.precision);
        Budget { memory, invert, disk, precision, watch, is_dry, ..Budget::default() }
    }

    /// Where one of so many loops keeps states on disk, and whether it goes on with what is there.
    fn folder(&mut self, loops: u64, owner: u64) -> Option<(Folder, bool)> {
        self.begun += 1;
        let OnDisk { folder, bytes, program, resumed, synced } = self.disk.as_ref()?;
        let path = folder.join(format!("loop-{}", self.begun));
        let owner = owner ^ program.rotate_left(17);
        Some((Folder { path, bytes: bytes / loops, owner, synced: *synced }, *resumed))
    }

    /// Iterations that were run more than once.
    pub(crate) fn run_again(&self) -> u64 {
        let done = self.loops.iter().filter_map(|of| of.done);
        let back = self.loops.iter().filter_map(|of| of.taken_back);
        let back = back.map(|(done, _)| done.advanced + done.recorded - done.steps);
        done.map(|done| run_again(&done)).chain(back).sum::<u64>() + self.again_inside
    }

    /// Notes what a loop has done. Those inside others are too many to be listed.
    fn note(&mut self, of: LoopStats, is_inner: bool) {
        match is_inner {
            true => self.again_inside += of.done.map_or(0, |done| run_again(&done)),
            false => self.loops.push(of),
        }
    }

    /// Whether a loop under a budget is being run: what it does belongs to its steps, on its own tape.
    pub(crate) fn is_inside(&self) -> bool {
        self.is_inside
    }

    /// Whether a loop is to be run here.
    pub(crate) fn is_for(&self, plan: &Plan) -> bool {
        let can = plan.shape.is_some() && plan.advance.is_some();
        let is_asked = self.memory.is_some() || self.is_taken_back(plan);
        can && is_asked && !self.is_shut
    }
}

/// Loops that wait behind so many others are never reversed.
fn drop_open(context: &mut Context, first: usize) {
    for open in context.budget.open.drain(first..) {
        open.copies.iter().for_each(|copy| context.arrays.free(*copy as usize));
    }
}

/// Iterations that were run more than once.
fn run_again(done: &Done) -> u64 {
    done.evaluations().saturating_sub(done.steps)
}

/// What went wrong: compiled code has written a fault, or there is something to be told.
type Failed = Error<u32>;

/// Runs one phase of a loop under the budget. The status is 0, or that of the first call at fault.
///
/// # Safety
/// As for `Step::call`: the frame is laid out for the plan's functions, and nobody else uses the context.
pub(crate) unsafe fn drive<'p>(
    context: *mut Context<'p>,
    (number, plan): (usize, &Plan),
    phase: Phase,
    frame: *mut u64,
) -> u32 {
    let (Some(shape), Some(advance)) = (&plan.shape, plan.advance) else {
        return 1;
    };
    let signature = if phase == Phase::Forward { &shape.record } else { &shape.reverse };
    // SAFETY: the caller's frame has these words.
    let frame = unsafe { slice::from_raw_parts_mut(frame, signature.words()) };
    // SAFETY: compiled code is not running.
    let budget = unsafe { &mut (*context).budget };
    let (is_inner, memory) = (budget.is_inside, budget.memory);
    (budget.is_inside, budget.is_shut) = (true, true);
    let of = Of { context, plan, shape, advance, is_inner };
    let ran = match phase {
        Phase::Forward => of.forward(number, frame),
        Phase::Reverse => of.backward(frame),
    };
    // SAFETY: compiled code is not running.
    let context = unsafe { &mut *context };
    let budget = &mut context.budget;
    (budget.is_inside, budget.is_shut, budget.memory) = (is_inner, false, memory);
    if !is_inner {
        room::keep_as_usual();
    }
    match ran {
        Ok(()) => 0,
        Err(Error::Step(status)) => status,
        Err(other) => {
            let (kind, too_small) = told(&other);
            budget.is_small = is_inner && too_small;
            context.stop(plan.stopped, kind);
            1
        }
    }
}

/// A loop of a run.
struct Of<'c, 'p> {
    context: *mut Context<'p>,
    plan: &'c Plan,
    shape: &'c Shape,
    advance: Step,
    /// Whether it is part of a step of another one.
    is_inner: bool,
}

impl<'c, 'p> Of<'c, 'p> {
    fn context(&mut self) -> &mut Context<'p> {
        // SAFETY: compiled code is not running while a reference is in use, and nobody else has the context.
        unsafe { &mut *self.context }
    }

    /// The loop with what it captures, before its first sweep.
    fn steps(&self, place: Place, captures: &[u64]) -> Loop<'c, 'p> {
        let Of { context, plan, shape, advance, is_inner } = *self;
        // SAFETY: compiled code is not running.
        let budget = unsafe { &(*context).budget };
        // What is to be resumed by another process has to be stored.
        let stays = (is_inner || budget.disk.is_none()) && !budget.is_taken_back(plan);
        let all = values(&shape.record, 2, shape.carries).into_iter().enumerate();
        let (outputs, carries): (Vec<_>, Vec<_>) =
            all.partition(|(k, _)| stays && shape.written.contains(k));
        let [outputs, carries] =
            [outputs, carries].map(|of| of.into_iter().map(|(_, v)| v).collect());
        Loop {
            context,
            plan,
            shape,
            advance: Way::new(advance, &shape.advance, 2, shape.carries, captures),
            record: Way::new(plan.record, &shape.record, 2, shape.carries, captures),
            reverse: None,
            unstep: self.unstep(captures),
            place,
            carries,
            outputs: Outputs::of(outputs),
            adjoints: values(&shape.reverse, 3, shape.state),
            live: Vec::new(),
            top: place.base,
            touched: place.base,
            back: Vec::new(),
            owns_back: false,
            ranges: Vec::new(),
            first: 0,
            tight: None,
            back_from: place.from,
            expected: 0,
            // SAFETY: as above.
            asked: unsafe { (*context).interrupt },
            ends_between: !is_inner && budget.disk.is_some(),
        }
    }

    fn forward(mut self, number: usize, frame: &mut [u64]) -> Result<(), Failed> {
        let shape = self.shape;
        let record = &shape.record;
        let (carried, captured) = (
            record.slots(2..2 + shape.carries),
            record.slots(2 + shape.carries..record.params.len() - 1),
        );
        let (from, to) = (frame[0] as i64, frame[1] as i64);
        let tape = record.slots(record.params.len() - 1..record.params.len()).start;
        let place = Place { from, to, ended: None, base: frame[tape] };
        let (mut live, mut captures) = (frame[carried.clone()].to_vec(), frame[captured].to_vec());
        let arrays = &mut self.context().arrays;
        let (mut copies, mut copied) = (Vec::new(), 0);
        for (at, ty, consumed) in record.arrays(2..2 + shape.carries) {
            if !consumed {
                let at = at - carried.start;
                live[at] = copy_of(arrays, ty, &live[at..])?;
            }
        }
        for (at, ty, _) in record.arrays(2 + shape.carries..record.params.len() - 1) {
            let at = at - carried.end;
            if arrays.owns(captures[at] as usize) {
                captures[at] = copy_of(arrays, ty, &captures[at..])?;
                copies.push(captures[at]);
                let (elem, count) = extent(ty, &captures[at..]);
                copied += (count * size(elem)) as u64;
            }
        }
        let is_inner = self.is_inner;
        let context = self.context();
        let first = context.budget.open.len();
        let memory = context.budget.memory.unwrap_or(u64::MAX);
        let loops = shape.beside.max(1) as u64;
        let mut memory = match is_inner {
            true => memory / loops,
            false => {
                let plans = &context.program.plans;
                context.budget.shares.get_or_insert_with(|| shares(plans, memory))[number]
            }
        };
        if is_inner {
            memory = memory.saturating_sub(copied);
        }
        let watch = context.budget.watch.clone().filter(|_| !is_inner);
        let length = u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0);
        // One that may be left early, but has no iteration, has none.
        let counted = (shape.counted || length == 0).then_some(length);
        // The first steps are slow: what few of them took says little of many.
        let says = |steps: u64| steps >= 2 * LOOKED_AT || counted.is_none_or(|n| n / 4 < steps);
        let known = self.plan.known().filter(|(_, steps)| says(*steps));
        let known = known.map(|(measured, _)| measured);
        let mut run = Run::new(memory, counted, known);
        if !is_inner {
            run = run.keeping(self.context().budget.precision);
        }
        if let Some(watch) = watch {
            run = run.watched(watch);
        }
        let mut steps = self.steps(place, &captures);
        let captured = values(record, 2 + shape.carries, record.params.len() - 3 - shape.carries);
        let expected = bytes_in(&steps.carries, &live) + bytes_in(&captured, &captures);
        (steps.live, steps.first, steps.expected) = (live, first, expected);
        steps.outputs.note(&steps.live);
        if self.context().budget.is_dry {
            return self.look(steps, run, counted, frame);
        }
        if !is_inner && self.context().budget.disk.is_some() {
            // States are those of this loop, begun so.
            let owner =
                steps.fingerprint() ^ fingerprint(&captured, &captures) ^ length.rotate_left(32);
            if let Some((folder, resumed)) = self.context().budget.folder(loops, owner) {
                run = if resumed { run.resumed(&folder)? } else { run.in_folder(&folder)? };
            }
        }
        let run = match self.back(&steps, memory, length) {
            Some(mut back) => {
                back.forward(&mut steps).map_err(|why| self.not_taken_back(why))?;
                Course::Back(back)
            }
            None => {
                run.forward(&mut steps)?;
                if shape.cut_apart && steps.place.ended.is_some_and(|(_, exit)| exit != 0) {
                    run.leave_last(&mut steps)?;
                }
                self.plan.learn(run.measured().copied().zip(Some(run.done().steps)));
                Course::Stored(Box::new(run))
            }
        };
        let ended = self.hand_back(&steps, frame);
        let (place, tight) = (Place { ended: Some(ended), ..steps.place }, steps.tight);
        let record = self.plan.record;
        let outputs = steps.outputs.elsewhere();
        let open =
            Open { record, memory, run, place, captures, copies, copied, outputs, first, tight };
        self.context().budget.open.push(open);
        Ok(())
    }

    /// Gives the last state and where the loop ended to who called it.
    fn hand_back(&self, steps: &Loop, frame: &mut [u64]) -> (i64, u64) {
        let Loop { place, live, top, .. } = steps;
        let (done, exit) = place.ended.unwrap_or((place.from.max(place.to), 0));
        let results = self.shape.record.words_of_params();
        let ends = results + live.len();
        frame[results..ends].copy_from_slice(live);
        frame[ends..ends + 3].copy_from_slice(&[done as u64, exit, *top]);
        (done, exit)
    }

    /// Looks at a loop, and runs it without recording it if there is another one to be looked at.
    fn look(
        mut self,
        mut steps: Loop,
        mut run: Run,
        counted: Option<u64>,
        frame: &mut [u64],
    ) -> Result<(), Failed> {
        let measured = match counted {
            Some(0) => None,
            _ => Some(run.measure(&mut steps)?),
        };
        let (span, memory) = (self.shape.span, run.memory());
        let budget = &mut self.context().budget;
        let (done, taken_back) = (None, None);
        budget.loops.push(LoopStats { span, memory, steps: counted, measured, done, taken_back });
        let seen = budget.loops.len();
        let all = self.context().program.plans.iter().filter(|p| p.shape.is_some()).count();
        if seen >= all {
            self.context().budget.is_planned = true;
            return Err(Error::Step(1));
        }
        let end = counted.unwrap_or(u64::MAX);
        let at = steps.place.steps().unwrap_or(LOOKED_AT.min(end));
        if at < end && steps.place.steps().is_none() {
            steps.advance(at..end).map_err(Error::Step)?;
        }
        self.hand_back(&steps, frame);
        Ok(())
    }

    fn backward(mut self, frame: &mut [u64]) -> Result<(), Failed> {
        let shape = self.shape;
        let reverse = &shape.reverse;
        if self.context().budget.is_dry {
            self.context().budget.is_planned = true;
            return Err(Error::Step(1));
        }
        let record = self.plan.record;
        let context = self.context();
        // Those behind it are never reversed.
        let last = context.budget.open.iter().rposition(|open| open.record == record);
        last.into_iter().for_each(|k| drop_open(context, k + 1));
        let open = last.and_then(|_| context.budget.open.pop());
        let Some(open) = open else {
            return Err(Error::Schedule("a loop is reversed that was not recorded".into()));
        };
        let Open { run, memory, place, captures, copies, outputs, first, tight, .. } = open;
        let stated = reverse.slots(3..3 + shape.state);
        let fixed = reverse.slots(3 + shape.state..reverse.params.len() - 1);
        let tape = fixed.end;
        let mut steps = self.steps(place, &captures);
        let way = Way::new(self.plan.reverse, reverse, 3, shape.state, &frame[fixed]);
        (steps.reverse, steps.outputs) = (Some(way), outputs);
        steps.back = frame[stated].to_vec();
        (steps.top, steps.touched) = (frame[tape], frame[tape]);
        (steps.first, steps.tight, steps.back_from) = (first, tight, frame[0] as i64);
        steps.find_records();
        let (done, measured, taken_back) = match run {
            Course::Stored(mut run) => {
                if let Err(e) = run.backward(&mut steps) {
                    if run.is_rounded() && matches!(e, Error::Step(_)) {
                        let stopped = self.plan.stopped;
                        self.context().blame(stopped, run.precision());
                    }
                    return Err(e);
                }
                (Some(*run.done()), run.measured().copied(), None)
            }
            Course::Back(mut back) => {
                back.backward(&mut steps).map_err(|why| self.not_taken_back(why))?;
                (None, None, Some((*back.done(), back.every())))
            }
        };
        if !steps.owns_back {
            // Of no iterations, too, what comes out is not what was given.
            steps.reverse(0..0).map_err(Error::Step)?;
        }
        steps.drop_live();
        std::mem::take(&mut steps.outputs).free(&mut self.context().arrays);
        let results = reverse.words_of_params();
        let ends = results + steps.back.len();
        frame[results..ends].copy_from_slice(&steps.back);
        frame[ends] = steps.top;
        let is_inner = self.is_inner;
        let context = self.context();
        copies.iter().for_each(|copy| context.arrays.free(*copy as usize));
        let steps = place.steps();
        let of = LoopStats { span: shape.span, memory, steps, measured, done, taken_back };
        context.budget.note(of, is_inner);
        if taken_back.is_none() {
            self.plan.learn(measured.zip(steps));
        }
        Ok(())
    }
}
