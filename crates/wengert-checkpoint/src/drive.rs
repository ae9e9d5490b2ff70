//! Carries out schedules.
//!
//! A [`Run`] is one loop, from its first step to the adjoint of its first state. Between the two sweeps it waits: results are
//! there, and somebody else works with them until an adjoint of theirs is known.
//!
//! The first steps are recorded in any case, because what a record takes is not known before. Where it looks as if all
//! records fit, the rest is recorded as well, and that was it. Otherwise the loop begins again under a [`Plan`]; one
//! whose end is not known goes on from where it stands. Records that turn out to take more than the plan had expected are
//! dropped, and the loop is reversed from the states that are stored, with room for more. So the first state is always stored.

use crate::disk::{Disk, DiskError, Folder};
use crate::journal::{Journal, Standing};
use crate::plan::{DISK, DiskRoom, LAST, MOST_SLOTS, Measured, Plan, Room};
use crate::slots::Slots;
use crate::steps::Steps;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::{Duration, Instant};
use wengert_schedule::{Action, Cost, Impossible, Online, Resume, Schedule};

/// Steps that are recorded to see what records take.
const LOOKED_AT: u64 = 8;

/// How many actions are looked through for the next state on disk.
const LOOK_AHEAD: usize = 64;

/// So many bytes of memory for each number of a state that is remembered.
const PER_PRINT: u64 = 1024;

/// Why a loop could not be reversed in the memory that was allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error<E> {
    /// A step has failed.
    #[error(transparent)]
    Step(E),
    /// The memory allowed holds no state and the record of one step.
    #[error(
        "{allowed} bytes are too few: a state takes {state}, and the record of step {step} does not fit beside it; allow more memory"
    )]
    TooSmall {
        /// What was allowed.
        allowed: u64,
        /// What a state takes.
        state: u64,
        /// The step that could not be recorded.
        step: u64,
    },
    /// The system has no memory for a state.
    #[error("there is no memory for a state of {0} bytes")]
    NoMemory(u64),
    /// The loop did something else when it was run again.
    #[error(
        "the loop has ended after {now} steps, and before after {before}: it does not do the same when it is run again"
    )]
    OtherEnd {
        /// The first time.
        before: u64,
        /// Later.
        now: u64,
    },
    /// A state is another one than it was the first time.
    #[error(
        "the state before step {0} was another one when the loop ran again: something that a step reads has changed, or it does not do the same twice"
    )]
    OtherState(u64),
    /// Something is wrong with the disk.
    #[error("{0}")]
    Disk(String),
    /// A schedule and its executor disagree: a fault of this crate.
    #[error("the schedule asks for something impossible: {0}")]
    Schedule(String),
}

impl<E> From<DiskError> for Error<E> {
    fn from(error: DiskError) -> Self {
        Error::Disk(error.to_string())
    }
}

impl<E> From<Impossible> for Error<E> {
    fn from(why: Impossible) -> Self {
        Error::Schedule(why.to_string())
    }
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Steps of the loop.
    pub steps: u64,
    /// Steps run without being recorded.
    pub advanced: u64,
    /// Steps recorded.
    pub recorded: u64,
    /// States stored.
    pub stored: u64,
    /// States loaded.
    pub loaded: u64,
    /// States written to disk; among those stored.
    pub written: u64,
    /// States read from disk; among those loaded.
    pub read: u64,
    /// The most bytes of states and records that were held at one time.
    pub peak_bytes: u64,
    /// How long both sweeps took.
    pub time: Duration,
}

impl Done {
    /// Evaluations of steps.
    pub fn evaluations(&self) -> u64 {
        self.advanced + self.recorded
    }
}

/// One loop under a budget.
pub struct Run {
    /// Bytes for states and records.
    memory: u64,
    /// How many steps there are, once it is known.
    steps: Option<u64>,
    how: How,
    /// What the first state takes.
    state_bytes: u64,
    slots: Slots,
    disk: Option<Disk>,
    journal: Option<Journal>,
    /// Where the run stood when it was left.
    left: Option<Standing>,
    /// The steps of states on disk, by their places.
    on_disk: BTreeMap<usize, u64>,
    /// What comes next, as far as it has been looked at.
    ahead: VecDeque<Action>,
    /// Steps from here on are reversed.
    adjoint: u64,
    is_back: bool,
    /// The numbers of states at which something began or ended, by their steps; those that were dropped are among them.
    prints: BTreeMap<u64, u64>,
    measured: Option<Measured>,
    done: Done,
}

/// How a loop is run.
enum How {
    /// All of it is recorded.
    Everything,
    /// By a schedule.
    Planned(Plan),
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("memory", &self.memory)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// A loop of so many steps, or one whose end is not known, in so many bytes for states and records. What was measured when it ran
    /// before spares measuring again.
    pub fn new(memory: u64, steps: Option<u64>, measured: Option<Measured>) -> Run {
        Run {
            memory,
            steps,
            how: How::Everything,
            state_bytes: 0,
            slots: Slots::default(),
            disk: None,
            journal: None,
            left: None,
            on_disk: BTreeMap::new(),
            ahead: VecDeque::new(),
            adjoint: 0,
            is_back: false,
            prints: BTreeMap::new(),
            measured,
            done: Done::default(),
        }
    }

    /// With a disk for states beside the memory.
    pub fn with_disk(self, disk: Disk) -> Run {
        Run { disk: Some(disk), ..self }
    }

    /// In a folder, from which another process can go on where this one was cut off. One in which a run was left is an error; see
    /// [`Run::resumed`].
    pub fn in_folder(self, folder: &Folder) -> Result<Run, DiskError> {
        let journal = Journal::new(folder);
        if journal.exists() {
            let what = "a run was left there: resume it, or remove the folder";
            return Err(DiskError::Refused { path: folder.path.clone(), what });
        }
        let disk = Disk::staying(folder)?;
        Ok(Run { disk: Some(disk), journal: Some(journal), ..self })
    }

    /// Goes on with a run that was left in a folder, on the same loop from its first state. Where there is none it begins.
    pub fn resumed(self, folder: &Folder) -> Result<Run, DiskError> {
        let journal = Journal::new(folder);
        let left = if journal.exists() { Some(journal.read()?) } else { None };
        let mut disk = Disk::staying(folder)?;
        let found = disk.find()?;
        let on_disk = found.into_iter().map(|(step, slot)| (DISK + slot, step)).collect();
        Ok(Run { disk: Some(disk), journal: Some(journal), left, on_disk, ..self })
    }

    /// How often where the run stands is written, at most; once a second if it is not said.
    pub fn noted_every(mut self, time: Duration) -> Run {
        if let Some(journal) = &mut self.journal {
            journal.between = time;
        }
        self
    }

    /// What has been measured, for the next run of the same loop.
    pub fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref()
    }

    /// What has been done so far.
    pub fn done(&self) -> &Done {
        &self.done
    }

    /// What the schedule costs, if there is one.
    pub fn cost(&self) -> Option<Cost> {
        match &self.how {
            How::Everything => None,
            How::Planned(plan) => Some(plan.schedule.cost()),
        }
    }

    /// The first sweep: the last state is live afterwards.
    pub fn forward<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let start = Instant::now();
        self.state_bytes = steps.state_bytes();
        self.slots = Slots::new(self.state_bytes);
        if self.steps != Some(0) {
            self.store(steps, 0, 0)?;
        }
        let is_over = match self.go_on(steps)? {
            Some(is_over) => is_over,
            None => self.look(steps)?,
        };
        let ran = match is_over {
            true => Ok(()),
            false => self.follow(steps),
        };
        self.done.time += start.elapsed();
        ran?;
        if self.left.is_none() {
            self.adjoint = self.steps.unwrap_or(0);
        }
        self.done.steps = self.steps.unwrap_or(0);
        self.keep_last(steps)
    }

    /// Takes up a run that was left, if there is one. Whether its first sweep was over: then the last state is live.
    fn go_on<S: Steps>(&mut self, steps: &mut S) -> Result<Option<bool>, Error<S::Error>> {
        let Some(left) = &self.left else {
            // States of a run that has not written where it stands are of no use.
            if let Some(disk) = self.disk.as_mut().filter(|_| self.journal.is_some()) {
                disk.clear();
                self.on_disk.clear();
            }
            return Ok(None);
        };
        let Standing { steps: all, unit, measured, adjoint } = left.clone();
        let other = self.steps.zip(all).is_some_and(|(now, then)| now != then);
        if measured.state_bytes != self.state_bytes || other {
            let what = "the run that was left had other states, or another number of steps";
            return Err(Error::Disk(what.into()));
        }
        let last = self.on_disk.remove(&LAST);
        let Some(disk) = &mut self.disk else { return Ok(None) };
        let end = adjoint.as_ref().map(|(at, _)| *at).or(all).unwrap_or(u64::MAX);
        // Steps that are reversed need no states, and all are where units begin.
        let useless = |step: u64| step == 0 || step >= end || !step.is_multiple_of(unit);
        for place in self.on_disk.extract_if(.., |_, step| useless(*step)).map(|(place, _)| place) {
            disk.free(place - DISK)?;
        }
        let mut stored: Vec<(u64, usize)> =
            self.on_disk.iter().map(|(place, step)| (*step / unit, *place)).collect();
        stored.push((0, 0));
        stored.sort_unstable();
        let slots = Plan::slots(&measured, unit, self.memory).max(1) + self.on_disk.len();
        (self.steps, self.measured) = (all, Some(measured));
        let is_back = adjoint.is_some();
        self.how = How::Planned(match all {
            Some(_) => Plan::of(Resume::new(&stored, slots, end.div_ceil(unit), is_back)?, unit),
            None => {
                // The first one is in memory, in a slot before those on disk.
                let number = |place: usize| if place >= DISK { 1 + place - DISK } else { place };
                stored.iter_mut().for_each(|(_, place)| *place = number(*place));
                let slots = 1 + disk_slots(disk, self.state_bytes, true);
                Plan { in_memory: 1, ..Plan::of(Online::resumed(&stored, slots)?, unit) }
            }
        });
        if !is_back {
            self.left = None;
            return Ok(Some(false));
        }
        let (Some(all), Some(_)) = (all, last) else {
            return Err(Error::Disk("the last state of the run that was left is gone".into()));
        };
        steps.load(&disk.get(LAST - DISK, all)?).map_err(Error::Step)?;
        self.on_disk.insert(LAST, all);
        self.adjoint = end;
        Ok(Some(true))
    }

    /// Keeps the last state for those who resume the run.
    fn keep_last<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let planned = matches!(self.how, How::Planned(_));
        if self.journal.is_some() && planned && !self.on_disk.contains_key(&LAST) {
            self.store(steps, self.done.steps, LAST)?;
        }
        Ok(())
    }

    /// Writes where the run stands, from time to time.
    fn note<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        let (Some(journal), Some(disk), How::Planned(plan), Some(measured)) =
            (&mut self.journal, &mut self.disk, &self.how, self.measured)
        else {
            return Ok(());
        };
        if !journal.is_due() {
            return Ok(());
        }
        // What it speaks of must be there.
        disk.flush()?;
        let mut adjoint = None;
        if self.is_back {
            let bytes = steps.adjoint_bytes();
            let storage = usize::try_from(bytes).ok().and_then(|bytes| disk.storage(bytes));
            let mut storage = storage.ok_or(Error::NoMemory(bytes))?;
            steps.save_adjoint(&mut storage);
            adjoint = Some((self.adjoint, storage));
        }
        journal.write(&Standing { steps: self.steps, unit: plan.unit, measured, adjoint })?;
        Ok(())
    }

    /// The way back: what `steps` holds as the adjoint of the last state becomes that of the first.
    pub fn backward<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let start = Instant::now();
        self.is_back = true;
        if let Some((_, adjoint)) = self.left.take().and_then(|left| left.adjoint) {
            steps.load_adjoint(&adjoint).map_err(Error::Step)?;
        }
        let ran = match self.how {
            How::Everything => match self.adjoint {
                0 => Ok(()),
                all => self.reverse(steps, 0..all),
            },
            How::Planned(_) => self.follow(steps),
        };
        self.done.time += start.elapsed();
        if let (Ok(()), Some(journal), Some(disk)) = (&ran, &self.journal, &mut self.disk) {
            journal.remove();
            disk.clear();
        }
        ran
    }

    /// Records steps from the first one on, and the whole loop if that fits: then nothing else is to be done.
    fn look<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        let state = self.state_bytes;
        let end = self.steps.unwrap_or(u64::MAX);
        let known = self.measured.filter(|known| known.state_bytes == state);
        if end == 0 {
            return Ok(true);
        }
        let mut few = LOOKED_AT.min(end);
        let begin = Instant::now();
        let mut recorded = self.try_record(steps, 0..few)?;
        if recorded.is_none() && few > 1 {
            // Not so many, but one may fit.
            self.load(steps, 0, 0)?;
            few = 1;
            recorded = self.try_record(steps, 0..few)?;
        }
        let Some(mut at) = recorded else { return Err(self.too_small(0)) };
        let looked_at = at.max(1);
        let record = nanoseconds(begin.elapsed()) / looked_at;
        let tape = steps.record_bytes().div_ceil(looked_at);
        let mut measured = Measured {
            state_bytes: state,
            record_bytes: tape,
            advance: record,
            record,
            reverse: 2 * record,
        };
        if let Some(known) = known {
            measured = Measured { record_bytes: tape.max(known.record_bytes), ..known };
        }
        // The rest of it, as long as there is room.
        let per_step = measured.record_bytes.max(1);
        let unit = Plan::unit(&measured, self.memory);
        let mut ended = at < few || at == end;
        while !ended {
            let room = self.memory.saturating_sub(self.held(steps));
            let fit = room / per_step;
            let to = match self.steps {
                Some(end) if fit < end - at => break,
                Some(end) => end,
                // Whole units, twice as many as there are.
                None => at.saturating_add(at.max(unit).min(fit)) / unit * unit,
            };
            if to <= at {
                break;
            }
            match self.try_record(steps, at..to)? {
                Some(now) => {
                    ended = now < to || now == end;
                    at = now;
                }
                None => {
                    measured.record_bytes = per_step.saturating_mul(2);
                    self.measured = Some(measured);
                    return self.begin_again(steps).map(|()| false);
                }
            }
        }
        self.measured = Some(measured);
        if ended {
            self.steps = Some(at);
            self.slots.clear();
            return Ok(true);
        }
        if self.steps.is_none() && at % unit == 0 && at > 0 {
            // What comes now begins here.
            steps.forget();
            let slots = Plan::slots(&measured, unit, self.memory);
            if slots >= 2 && self.disk.is_none() {
                self.store(steps, at, 1)?;
                let schedule = Online::resumed(&[(0, 0), (at / unit, 1)], slots)?;
                self.how = How::Planned(Plan::of(schedule, unit));
                return Ok(false);
            }
        }
        self.begin_again(steps).map(|()| false)
    }

    /// From the first state, under a plan.
    fn begin_again<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        steps.forget();
        let Some(measured) = &mut self.measured else {
            return Err(Error::Schedule("nothing is measured".into()));
        };
        self.slots.get(0).map_or(Ok(()), |state| steps.load(state)).map_err(Error::Step)?;
        let few = LOOKED_AT.min(self.steps.unwrap_or(u64::MAX));
        let begin = Instant::now();
        let at = steps.advance(0..few).map_err(Error::Step)?;
        measured.advance = nanoseconds(begin.elapsed()) / at.max(1);
        let measured = *measured;
        self.load(steps, 0, 0)?;
        let room = Room { memory: self.memory, disk: self.disk_room(&measured)? };
        let plan = match Plan::new(self.steps, &measured, &room) {
            Ok(plan) => plan,
            Err(Impossible::TooFewBytes { .. } | Impossible::NoSlot) => {
                return Err(self.too_small(0));
            }
            Err(e) => return Err(e.into()),
        };
        if !plan.keeps_first {
            self.slots.free(0);
        }
        self.how = How::Planned(plan);
        Ok(())
    }

    /// Carries out actions: up to the end of the first sweep, or of everything.
    fn follow<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        loop {
            let Some(action) = self.next_action() else { return Ok(()) };
            let How::Planned(plan) = &mut self.how else { return Ok(()) };
            let unit = plan.unit;
            let place = plan.place();
            let end = self.steps.unwrap_or(u64::MAX);
            let step = |k: u64| k.saturating_mul(unit).min(end);
            match action {
                Action::Advance { from, to } => {
                    let now = steps.advance(step(from)..step(to)).map_err(Error::Step)?;
                    self.done.advanced += now - step(from);
                    self.compare(steps, now)?;
                    let How::Planned(plan) = &mut self.how else { return Ok(()) };
                    if self.steps.is_none() && now < step(to) {
                        self.steps = Some(now);
                        plan.schedule.ended(now.div_ceil(unit))?;
                    } else if now != step(to) {
                        return Err(Error::OtherEnd { before: end, now });
                    }
                }
                Action::Record { from, to } => {
                    let range = step(from)..step(to);
                    match self.try_record(steps, range.clone())? {
                        Some(now) if now == range.end => {}
                        Some(now) => return Err(Error::OtherEnd { before: end, now }),
                        None => self.make_room(steps, range)?,
                    }
                }
                Action::Store { step: k, slot } => {
                    self.store(steps, step(k), place(slot))?;
                    self.note(steps)?;
                }
                Action::Load { step: k, slot } => self.load(steps, step(k), place(slot))?,
                // The first state is dropped for the last unit; should its records not fit, it begins once more.
                Action::Free { slot } if unit > 1 && self.step_at(place(slot)) == Some(0) => {}
                Action::Free { slot } => self.free(place(slot))?,
                Action::PrimalDone => return Ok(()),
                Action::Reverse { from, to } => {
                    self.reverse(steps, step(from)..step(to))?;
                    self.note(steps)?;
                }
            }
        }
    }

    /// Records took more than was planned: states are given up for them, and every record is dropped.
    fn make_room<S: Steps>(
        &mut self,
        steps: &mut S,
        range: Range<u64>,
    ) -> Result<(), Error<S::Error>> {
        steps.forget();
        let end = if self.is_back { self.adjoint } else { self.steps.unwrap_or(range.end) };
        let mut stored = self.slots.held();
        let on_disk = self.on_disk.iter().filter(|(place, _)| **place != LAST);
        stored.extend(on_disk.map(|(place, step)| (*step, *place)));
        stored.sort_unstable();
        stored.dedup_by_key(|(step, _)| *step);
        if stored.len() <= 1 && range.end - range.start <= 1 {
            return Err(self.too_small(range.start));
        }
        let Some(measured) = &mut self.measured else {
            return Err(Error::Schedule("nothing is measured".into()));
        };
        measured.record_bytes = measured.record_bytes.max(1).saturating_mul(2);
        let slots = Plan::slots(measured, 1, self.memory).max(1);
        let schedule: Box<dyn Schedule + Send> = match self.steps {
            Some(_) => Box::new(Resume::new(&stored, slots, end, self.is_back)?),
            None => Box::new(Online::resumed(&stored, slots)?),
        };
        // Of slots that have numbers now, some are on disk; others are in memory.
        let in_memory = usize::MAX;
        self.how = How::Planned(Plan { schedule, unit: 1, keeps_first: false, in_memory });
        self.ahead.clear();
        Ok(())
    }

    /// Records a range where there is room for it.
    fn try_record<S: Steps>(
        &mut self,
        steps: &mut S,
        range: Range<u64>,
    ) -> Result<Option<u64>, Error<S::Error>> {
        let room = self.memory.saturating_sub(self.held(steps));
        let from = range.start;
        let now = steps.record(range, room).map_err(Error::Step)?;
        self.done.recorded += now.unwrap_or(from) - from;
        self.note_peak(steps);
        if let Some(now) = now {
            self.compare(steps, now)?;
        }
        Ok(now)
    }

    fn reverse<S: Steps>(
        &mut self,
        steps: &mut S,
        range: Range<u64>,
    ) -> Result<(), Error<S::Error>> {
        self.adjoint = range.start;
        steps.reverse(range).map_err(Error::Step)
    }

    /// The next action. On the way back the next state on disk is being read meanwhile.
    fn next_action(&mut self) -> Option<Action> {
        let How::Planned(plan) = &mut self.how else { return None };
        if let (true, Some(disk)) = (self.is_back, &mut self.disk) {
            let place = plan.place();
            let mut from_disk = |action: &Action| match action {
                Action::Load { step, slot } => {
                    let step = step.saturating_mul(plan.unit);
                    place(*slot).checked_sub(DISK).map(|slot| disk.look_ahead(slot, step)).is_some()
                }
                _ => false,
            };
            // The first one is carried out now.
            let mut found = self.ahead.iter().skip(1).any(&mut from_disk);
            while !found && self.ahead.len() < LOOK_AHEAD {
                let Some(action) = plan.schedule.next() else { break };
                found = !self.ahead.is_empty() && from_disk(&action);
                self.ahead.push_back(action);
            }
        }
        self.ahead.pop_front().or_else(|| plan.schedule.next())
    }

    fn store<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: usize,
    ) -> Result<(), Error<S::Error>> {
        let bytes = steps.state_bytes();
        if let (Some(slot), Some(disk)) = (place.checked_sub(DISK), &mut self.disk) {
            let storage = usize::try_from(bytes).ok().and_then(|bytes| disk.storage(bytes));
            let mut storage = storage.ok_or(Error::NoMemory(bytes))?;
            steps.save(&mut storage);
            disk.put(slot, step, storage)?;
            self.on_disk.insert(place, step);
            self.done.written += 1;
        } else {
            steps.save(self.slots.put(place, step, bytes).ok_or(Error::NoMemory(bytes))?);
        }
        self.done.stored += 1;
        self.note_peak(steps);
        self.compare(steps, step)
    }

    fn load<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: usize,
    ) -> Result<(), Error<S::Error>> {
        self.done.loaded += 1;
        if let (Some(slot), Some(disk)) = (place.checked_sub(DISK), &mut self.disk) {
            self.done.read += 1;
            return steps.load(&disk.get(slot, step)?).map_err(Error::Step);
        }
        let state = self.slots.get(place);
        let state = state.ok_or_else(|| Error::Schedule(format!("state {step} is not stored")))?;
        steps.load(state).map_err(Error::Step)
    }

    fn free<E>(&mut self, place: usize) -> Result<(), Error<E>> {
        match (place.checked_sub(DISK), &mut self.disk) {
            (Some(slot), Some(disk)) => {
                self.on_disk.remove(&place);
                disk.free(slot)?;
            }
            _ => self.slots.free(place),
        }
        Ok(())
    }

    /// The step of the state at a place.
    fn step_at(&self, place: usize) -> Option<u64> {
        self.on_disk.get(&place).copied().or_else(|| self.slots.step(place))
    }

    /// What there is of the disk: a state is written and read to see how long that takes.
    fn disk_room<E>(&mut self, measured: &Measured) -> Result<Option<DiskRoom>, Error<E>> {
        let Some(disk) = &mut self.disk else { return Ok(None) };
        let slots = disk_slots(disk, measured.state_bytes, self.journal.is_some());
        let Some(state) = self.slots.get(0).filter(|_| slots > 0) else { return Ok(None) };
        let begin = Instant::now();
        let mut storage = disk.storage(state.len()).ok_or(Error::NoMemory(state.len() as u64))?;
        storage.copy_from_slice(state);
        disk.put(0, 0, storage)?;
        disk.flush()?;
        let written = Instant::now();
        disk.get(0, 0)?;
        let read = nanoseconds(written.elapsed());
        disk.free(0)?;
        let is_wanted = self.journal.is_some();
        Ok(Some(DiskRoom { slots, write: nanoseconds(written - begin), read, is_wanted }))
    }

    /// Whether the live state is the one that it was before; one that is new is remembered.
    fn compare<S: Steps>(&mut self, steps: &S, step: u64) -> Result<(), Error<S::Error>> {
        match self.prints.get(&step) {
            Some(print) if *print != steps.fingerprint() => return Err(Error::OtherState(step)),
            None if (self.prints.len() as u64) < self.memory / PER_PRINT => {
                self.prints.insert(step, steps.fingerprint());
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of states and records.
    fn held<S: Steps>(&self, steps: &S) -> u64 {
        self.slots.bytes() + steps.record_bytes()
    }

    fn note_peak<S: Steps>(&mut self, steps: &S) {
        self.done.peak_bytes = self.done.peak_bytes.max(self.held(steps));
    }

    fn too_small<E>(&self, step: u64) -> Error<E> {
        Error::TooSmall { allowed: self.memory, state: self.state_bytes, step }
    }
}

/// How many states fit on a disk, beside the last one where that is kept.
fn disk_slots(disk: &Disk, state: u64, last: bool) -> usize {
    let slots = (disk.limit() / Disk::file_bytes(state)).saturating_sub(u64::from(last));
    usize::try_from(slots).unwrap_or(usize::MAX).min(MOST_SLOTS)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
