//! Carries out schedules.
//!
//! A [`Run`] is one loop, from its first step to the adjoint of its first state. Between the two sweeps it waits: results are
//! there, and somebody else works with them until an adjoint of theirs is known.
//!
//! The first steps are recorded in any case, because what a record takes is not known before. Where it looks as if all
//! records fit, the rest is recorded as well, and that was it. Otherwise the first sweep leaves *points*, states from which the loop
//! can go on, and the way back goes from point to point, the last one first: each *part* behind one is reversed under a
//! [`Plan`] of its own, with the memory that the points before it leave. A loop whose end is known is one part at first.
//!
//! So whatever happens can be mended alike. Records that take more than was expected, or memory that has become less: the
//! states of the part become points, some are given up, and the way back goes on from what there is. A run that is resumed
//! begins with the points that it finds in files.

mod effect;
mod first;
mod part;
mod rounded;
mod standing;

use self::part::Part;
use self::rounded::Rounded;
use crate::disk::{Disk, DiskError, Folder};
use crate::journal::{Journal, Standing};
use crate::kept::{HEAD, Kept, LAST};
use crate::outcome::{Done, Error};
use crate::plan::{DiskRoom, Measured};
use crate::short::{Precision, whole_size};
use crate::slots::Slots;
use crate::steps::Steps;
use crate::watch::{Seen, Watch};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wengert_schedule::{Cost, Slot};

/// Nanoseconds after which it shows where it stands.
const PIECE: u64 = 50_000_000;

/// Steps that are run and recorded to see what they take.
pub const LOOKED_AT: u64 = 8;

/// One loop under a budget.
pub struct Run {
    /// Bytes for states and records; what is allowed now may be less.
    memory: u64,
    allowed: Arc<AtomicU64>,
    /// How many steps there are, once it is known.
    steps: Option<u64>,
    /// What the first state takes.
    state_bytes: u64,
    /// How states are to be kept, what one takes then, what an adjoint takes, and what is known where that is not exactly.
    precision: Precision,
    stored_bytes: u64,
    adjoint_bytes: u64,
    rounded: Option<Box<Rounded>>,
    kept: Kept,
    journal: Option<Journal>,
    /// Where the run stood when it was left.
    left: Option<Standing>,
    /// The step of the live state of the first sweep that was left, if there is one.
    head: Option<u64>,
    /// The step before which the live state is, if there is one.
    live: Option<u64>,
    /// Whether every step is recorded that is not reversed.
    is_recorded: bool,
    part: Option<Part>,
    /// Steps from here on are reversed.
    adjoint: u64,
    is_back: bool,
    measured: Option<Measured>,
    /// Whether steps took more than was measured.
    is_surprised: bool,
    /// How many bytes the record of a step takes at most, where steps have been told to keep to that.
    tight: Option<u64>,
    done: Done,
    watch: Option<Arc<Watch>>,
    /// How many evaluations there will have been at the end.
    expected: u64,
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
            allowed: Arc::new(AtomicU64::new(memory)),
            steps,
            state_bytes: 0,
            precision: Precision::Exact,
            stored_bytes: 0,
            adjoint_bytes: 0,
            rounded: None,
            kept: Kept::default(),
            journal: None,
            left: None,
            head: None,
            live: None,
            is_recorded: false,
            part: None,
            adjoint: 0,
            is_back: false,
            measured,
            is_surprised: false,
            tight: None,
            done: Done::default(),
            watch: None,
            expected: 0,
        }
    }

    /// With fewer digits in stored states, so that more of them fit; which of their bytes are floats, [`Steps::floats`] says.
    ///
    /// The first state is kept as it is, and results are exact. The gradient is not; [`Done::shortened`] says how far it is from the exact
    /// one, about. A state with a number that is too large for the shorter kind is kept as it is. A loop that goes another
    /// way when it is run from such a state, and ends elsewhere, is an error.
    pub fn keeping(self, precision: Precision) -> Run {
        Run { precision, ..self }
    }

    /// With a disk for states beside the memory.
    pub fn with_disk(mut self, disk: Disk) -> Run {
        self.kept.disk = Some(disk);
        self
    }

    /// In a folder, from which another process can go on where this one was cut off. One in which a run was left is an error; see
    /// [`Run::resumed`].
    pub fn in_folder(mut self, folder: &Folder) -> Result<Run, DiskError> {
        let journal = Journal::new(folder);
        if journal.exists() {
            let what = "a run was left there: resume it, or remove the folder";
            return Err(DiskError::Refused { path: folder.path.clone(), what });
        }
        self.kept.disk = Some(Disk::staying(folder)?);
        self.journal = Some(journal);
        Ok(self)
    }

    /// Goes on with a run that was left in a folder, on the same loop from its first state. Where there is none it begins.
    pub fn resumed(mut self, folder: &Folder) -> Result<Run, DiskError> {
        let journal = Journal::new(folder);
        self.left = if journal.exists() { Some(journal.read()?) } else { None };
        let mut disk = Disk::staying(folder)?;
        let found = disk.find()?;
        self.kept.disk = Some(disk);
        // States of a run that has not written where it stands are of no use.
        for (step, slot) in found {
            let place = Slot::Disk(slot);
            match place {
                _ if self.left.is_none() => self.kept.free(place)?,
                LAST => {}
                HEAD => self.head = Some(step),
                _ => self.kept.make_point(step, place)?,
            }
        }
        self.journal = Some(journal);
        Ok(self)
    }

    /// How often where the run stands is written, at most; once a second if it is not said.
    pub fn noted_every(mut self, time: Duration) -> Run {
        if let Some(journal) = &mut self.journal {
            journal.between = time;
        }
        self
    }

    /// Shows where it stands while it runs.
    pub fn watched(self, watch: Arc<Watch>) -> Run {
        Run { watch: Some(watch), ..self }
    }

    /// The bytes allowed. They may be lowered while the loop runs, from another thread too: it goes on with fewer states.
    pub fn allowed(&self) -> Arc<AtomicU64> {
        self.allowed.clone()
    }

    /// What has been measured, for the next run of the same loop; nothing where it was not what steps took later.
    pub fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref().filter(|_| !self.is_surprised)
    }

    /// Runs a few steps, to see what they take; then the live state is another one, and there are no records.
    pub fn measure<S: Steps>(&mut self, steps: &mut S) -> Result<Measured, Error<S::Error>> {
        self.keep_first(steps)?;
        let few = LOOKED_AT.min(self.steps.unwrap_or(u64::MAX));
        if self.record_first(steps, few, u64::MAX)?.is_none() {
            return Err(not_measured());
        }
        self.time(steps, few, u64::MAX)?;
        self.measured.ok_or_else(not_measured)
    }

    /// How states are kept.
    pub fn precision(&self) -> Precision {
        self.kept.precision
    }

    /// Whether the live state was computed from one that was stored with fewer digits than it had.
    pub fn is_rounded(&self) -> bool {
        !self.is_same()
    }

    /// What has been done so far.
    pub fn done(&self) -> &Done {
        &self.done
    }

    /// Bytes for states and records.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Bytes of states in memory.
    pub fn state_bytes(&self) -> u64 {
        self.kept.bytes() + self.rounded.as_ref().map_or(0, |rounded| rounded.bytes())
    }

    /// The most bytes of states in memory, and of records beyond those there are, that it will hold until its end.
    pub fn most_bytes(&self) -> u64 {
        if self.is_recorded { self.state_bytes() } else { self.memory }
    }

    /// What the plan of the present part costs, if there is one.
    pub fn cost(&self) -> Option<Cost> {
        self.part.as_ref().map(|part| part.plan.schedule.cost())
    }

    /// The first sweep: the last state is live afterwards.
    pub fn forward<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let start = Instant::now();
        let ran = self.first_sweep(steps);
        self.done.time += start.elapsed();
        self.done.steps = self.steps.unwrap_or(0);
        if let (Err(_), Some(journal), Some(disk)) = (&ran, &self.journal, &mut self.kept.disk)
            && !journal.is_written()
            && self.left.is_none()
        {
            // Nobody can go on with it.
            disk.end();
        }
        ran
    }

    fn first_sweep<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        if self.steps == Some(0) {
            return Ok(());
        }
        self.keep_first(steps)?;
        let is_over = match self.left.clone() {
            Some(left) => self.go_on(steps, left)?,
            None => self.look(steps)?,
        };
        if !is_over {
            while !self.sweep(steps)? {}
        }
        let all = self.steps.unwrap_or(0);
        if self.left.is_none() {
            self.adjoint = all;
            self.set_joint(steps, all);
        }
        // For those who resume the run.
        if self.journal.is_some() && self.left.is_none() {
            self.kept.free(HEAD)?;
            self.store_whole(steps, all, LAST)?;
            self.note(steps)?;
        }
        self.kept.drop_points_from(all)?;
        Ok(())
    }

    /// The first state is the first point.
    fn keep_first<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        self.state_bytes = steps.state_bytes();
        self.begin_rounded(steps)?;
        self.kept.slots = Slots::new(self.stored_bytes, self.memory);
        self.live = Some(0);
        let first = Slot::Memory(self.kept.slots.vacant());
        self.store_whole(steps, 0, first)?;
        Ok(self.kept.make_point(0, first)?)
    }

    /// After the first sweep: the last step is reversed by somebody else, who finds its record as the last one there is.
    pub fn leave_last<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let Some(last) = self.adjoint.checked_sub(1) else { return Ok(()) };
        if self.part.is_some() {
            // A plan would reverse it.
            self.give_up(steps)?;
        }
        while !self.is_recorded {
            let Some((base, _)) = self.kept.point_before(self.adjoint) else {
                return Err(Error::Schedule("the first state is gone".into()));
            };
            self.load_point(steps, base)?;
            self.advance(steps, base..last)?;
            if self.try_record(steps, last..self.adjoint)?.is_some() {
                break;
            }
            steps.forget();
            if !self.kept.drop_one() && !self.tighten(steps) {
                return Err(self.too_small(last));
            }
        }
        self.kept.drop_points_from(last)?;
        self.adjoint = last;
        Ok(())
    }

    /// The way back: what `steps` holds as the adjoint of the last state becomes that of the first.
    pub fn backward<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        let start = Instant::now();
        self.is_back = true;
        let ran = self.second_sweep(steps);
        if ran.is_ok() {
            self.find_effect(steps);
        }
        self.done.time += start.elapsed();
        if let (Ok(()), Some(journal), Some(disk)) = (&ran, &self.journal, &mut self.kept.disk) {
            journal.remove();
            disk.end();
        }
        ran
    }

    fn second_sweep<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        if let Some((_, adjoint)) = self.left.take().and_then(|left| left.adjoint) {
            steps.load_adjoint(&adjoint).map_err(Error::Step)?;
        }
        while self.adjoint > 0 {
            if self.is_less() {
                self.give_up(steps)?;
            }
            if self.is_recorded {
                let from = self.kept.point_before(self.adjoint).map_or(0, |(step, _)| step);
                self.reverse(steps, from..self.adjoint)?;
                if from > 0 {
                    self.kept.drop_point_before(from + 1)?;
                }
                continue;
            }
            if self.part.is_none() {
                self.find_joint(steps)?;
                self.begin_part(steps, self.adjoint)?;
            }
            if self.follow(steps)? {
                let base = self.part.take().map(|part| part.base.0);
                if base != Some(self.adjoint) {
                    return Err(Error::Schedule("a plan has ended early".into()));
                }
                self.kept.drop_point_before(self.adjoint + 1)?;
            }
        }
        Ok(())
    }

    /// Whether there is less memory than there was.
    fn is_less(&mut self) -> bool {
        let allowed = self.allowed.load(Ordering::Relaxed);
        let is_less = allowed < self.memory;
        self.memory = allowed.min(self.memory);
        is_less
    }

    /// The end of the next piece of a range. Pieces are short enough to be told of and to be stopped between.
    fn piece(&self, range: &Range<u64>, time: fn(&Measured) -> u64) -> u64 {
        let Some(measured) = &self.measured else { return range.end };
        let steps = (PIECE / time(measured).max(1)).max(LOOKED_AT);
        range.start.saturating_add(steps).min(range.end)
    }

    fn advance<S: Steps>(
        &mut self,
        steps: &mut S,
        mut range: Range<u64>,
    ) -> Result<u64, Error<S::Error>> {
        while range.start < range.end {
            let (from, to) = (range.start, self.piece(&range, |measured| measured.advance));
            self.note_last(steps)?;
            self.live = None;
            let begin = Instant::now();
            let now = steps.advance(from..to).map_err(Error::Step)?;
            if let (Some(measured), true) = (&mut self.measured, now >= from + LOOKED_AT) {
                measured.advance = nanoseconds(begin.elapsed()) / (now - from);
            }
            self.done.advanced += now.saturating_sub(from);
            (self.live, range.start) = (Some(now), now);
            self.show();
            if now < to {
                break;
            }
        }
        self.compare(steps, range.start)?;
        Ok(range.start)
    }

    /// Records a range where there is room for it.
    fn try_record<S: Steps>(
        &mut self,
        steps: &mut S,
        mut range: Range<u64>,
    ) -> Result<Option<u64>, Error<S::Error>> {
        while range.start < range.end {
            let (from, to) = (range.start, self.piece(&range, |measured| measured.record));
            let room = self.memory.saturating_sub(self.held(steps));
            self.note_last(steps)?;
            self.live = None;
            self.room_for_records(steps, to - from);
            let begin = Instant::now();
            let now = steps.record(from..to, room).map_err(Error::Step)?;
            if let (Some(measured), Some(now)) = (&mut self.measured, now)
                && now >= from + LOOKED_AT
            {
                measured.record = nanoseconds(begin.elapsed()) / (now - from);
            }
            self.done.recorded += now.unwrap_or(from).saturating_sub(from);
            self.note_peak(steps);
            let Some(now) = now else { return Ok(None) };
            (self.live, range.start) = (Some(now), now);
            self.show();
            if now < to {
                break;
            }
        }
        self.compare(steps, range.start)?;
        Ok(Some(range.start))
    }

    fn reverse<S: Steps>(
        &mut self,
        steps: &mut S,
        mut range: Range<u64>,
    ) -> Result<(), Error<S::Error>> {
        while range.start < range.end {
            let most = self.piece(&range, |measured| measured.reverse) - range.start;
            let from = range.end - most;
            self.note_last(steps)?;
            let begin = Instant::now();
            steps.reverse(from..range.end).map_err(Error::Step)?;
            if let (Some(measured), true) = (&mut self.measured, most >= LOOKED_AT) {
                measured.reverse = nanoseconds(begin.elapsed()) / most;
            }
            (self.adjoint, range.end) = (from, from);
            self.show();
            self.note(steps)?;
        }
        Ok(())
    }

    /// Shows where it stands.
    fn show(&self) {
        if let Some(watch) = &self.watch {
            watch.show(&Seen {
                steps: self.steps,
                position: if self.is_back { self.adjoint } else { self.live.unwrap_or(0) },
                is_back: self.is_back,
                evaluations: self.done.evaluations(),
                expected: self.expected,
            });
        }
    }

    fn store<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: Slot,
    ) -> Result<(), Error<S::Error>> {
        self.room_for_state(steps, place);
        self.kept.store(steps, (step, place), None, &mut self.done)?;
        self.note_peak(steps);
        self.compare(steps, step)
    }

    /// Before a state is stored: where memory has to be found for it, records keep less for others to come.
    fn room_for_state<S: Steps>(&mut self, steps: &mut S, place: Slot) {
        let Slot::Memory(slot) = place else { return };
        let slots = &self.kept.slots;
        if slots.lacks(slot, self.state_bytes) {
            let taken =
                slots.bytes().saturating_add(slots.unused()).saturating_add(self.state_bytes);
            steps.spare(self.memory.saturating_sub(taken));
        }
    }

    /// Before steps are recorded: where they need it, memory that holds no state is given back.
    fn room_for_records<S: Steps>(&mut self, steps: &mut S, count: u64) {
        let each = self.measured.map_or(u64::MAX, |measured| measured.record_bytes);
        let wanted = self.held(steps).saturating_add(each.saturating_mul(count));
        let slots = &mut self.kept.slots;
        if slots.unused() > 0 && wanted.saturating_add(slots.unused()) > self.memory {
            slots.shrink();
            steps.spare(self.memory.saturating_sub(slots.bytes() + slots.unused()));
        }
    }

    /// Whether the live state is the one that it was before, where it should be.
    fn compare<S: Steps>(&mut self, steps: &S, step: u64) -> Result<(), Error<S::Error>> {
        if self.is_same() { self.kept.compare(steps, step, self.memory) } else { Ok(()) }
    }

    fn load<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: Slot,
    ) -> Result<(), Error<S::Error>> {
        self.live = None;
        let is_same = self.kept.load(steps, (step, place), &mut self.done)?;
        self.live = Some(step);
        self.came_from(step, is_same);
        Ok(())
    }

    /// Makes a point the live state, if it is not.
    fn load_point<S: Steps>(&mut self, steps: &mut S, step: u64) -> Result<(), Error<S::Error>> {
        if self.live == Some(step) && (self.is_back || self.is_same()) {
            return Ok(());
        }
        if self.rounded.is_some() && !self.is_back {
            return self.load_exactly(steps, step);
        }
        let Some(place) = self.kept.points.get(&step).copied() else {
            return Err(Error::Schedule(format!("state {step} is not stored")));
        };
        self.load(steps, step, place)
    }

    /// What there is of the disk. The first time a state is written and read to see how long that takes.
    fn disk_room<E>(&mut self) -> Result<Option<DiskRoom>, Error<E>> {
        let (Some(disk), Some(measured)) = (&mut self.kept.disk, &self.measured) else {
            return Ok(None);
        };
        // One for the last state, where that is kept.
        let mut reserved = 0;
        if self.journal.is_some() && !self.is_back {
            reserved = match self.rounded {
                Some(_) => 2 * Disk::file_bytes(whole_size(self.state_bytes)),
                None => Disk::file_bytes(self.state_bytes),
            };
        }
        let room = disk.room().saturating_sub(reserved);
        let slots = room / Disk::file_bytes(measured.state_bytes);
        if slots == 0 {
            return Ok(None);
        }
        let state = usize::try_from(measured.state_bytes).unwrap_or(usize::MAX);
        let [write, read] = disk.times(state)?.map(nanoseconds);
        let every = self.journal.as_ref().map(|journal| nanoseconds(journal.between) / 4);
        Ok(Some(DiskRoom { slots, write, read, every }))
    }

    /// Bytes of states and records.
    fn held<S: Steps>(&self, steps: &S) -> u64 {
        self.state_bytes() + steps.record_bytes()
    }

    fn note_peak<S: Steps>(&mut self, steps: &S) {
        self.done.peak_bytes = self.done.peak_bytes.max(self.held(steps));
    }

    fn too_small<E>(&self, step: u64) -> Error<E> {
        Error::TooSmall { allowed: self.memory, state: self.state_bytes, step }
    }
}

fn not_measured<E>() -> Error<E> {
    Error::Schedule("nothing is measured".into())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
