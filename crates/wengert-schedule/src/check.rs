//! Schedules run on integers: a dry run, and the judge of every schedule in the tests.
//!
//! [`Checker`] knows which state is live, what each slot holds, which steps are recorded and how far the adjoint has come.
//! It takes one action after another, refuses the first that cannot be carried out, and counts. [`check`] does so for a
//! whole schedule.

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::schedule::{Impossible, Schedule};
use std::collections::BTreeMap;
use std::fmt;

/// What a schedule has to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of steps of the loop. A schedule that does not know it is told when it gets there.
    pub steps: u64,
    /// How many slots there are in memory.
    pub slots: usize,
    /// How many slots there are on disk.
    pub disk_slots: usize,
    /// How many steps may have their tapes held at one time.
    pub tapes: u64,
    /// The bytes of one state.
    pub state_bytes: u64,
    /// The bytes of the tape of one step.
    pub tape_bytes: u64,
    /// How many bytes slots in memory and tapes may take at one time.
    pub bytes: u128,
}

impl Limits {
    /// So many slots, one tape, and nothing on disk; bytes do not count.
    pub fn slots(steps: u64, slots: usize) -> Limits {
        Limits { slots, tapes: 1, ..Limits::none(steps) }
    }

    /// So many bytes in memory, for states and tapes of these sizes.
    pub fn bytes(steps: u64, state_bytes: u64, tape_bytes: u64, bytes: u128) -> Limits {
        Limits { state_bytes, tape_bytes, bytes, ..Limits::none(steps) }
    }

    /// No limit in memory, and nothing on disk.
    pub fn none(steps: u64) -> Limits {
        Limits {
            steps,
            slots: usize::MAX,
            disk_slots: 0,
            tapes: u64::MAX,
            state_bytes: 0,
            tape_bytes: 0,
            bytes: u128::MAX,
        }
    }
}

/// The first action that cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// How many actions came before it.
    pub position: u64,
    /// The action; none where the schedule ended too early.
    pub action: Option<Action>,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// A range without a step, or from right to left.
    EmptyRange,
    /// Steps that the loop does not have.
    BeyondTheEnd,
    /// The live state is another one, or none.
    NotLive(Option<u64>),
    /// There is no such slot.
    NoSuchSlot,
    /// The slot holds a state already.
    Occupied(u64),
    /// The slot holds another state, or none.
    NotStored(Option<u64>),
    /// More slots hold a state than are allowed.
    TooManySlots,
    /// A step that is recorded already, or reversed.
    RecordedAgain,
    /// More tapes are held than are allowed.
    TooManyTapes,
    /// More bytes are held than are allowed; these.
    TooManyBytes(u128),
    /// The last state has not been reached, or was reached and said to be.
    NotThePrimalsEnd,
    /// The adjoint is at another state.
    AdjointElsewhere(u64),
    /// A step to be reversed is not recorded.
    NotRecorded,
    /// The schedule ends before everything is reversed.
    Unfinished,
    /// The schedule ends and leaves a state in a slot, or a tape.
    Leftover,
    /// The schedule refuses the number of steps.
    Refused(Impossible),
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Some(action) => write!(f, "action {}, {action}: ", self.position)?,
            None => write!(f, "after {} actions: ", self.position)?,
        }
        match self.why {
            Why::EmptyRange => write!(f, "the range is empty"),
            Why::BeyondTheEnd => write!(f, "the loop has fewer steps"),
            Why::NotLive(Some(step)) => write!(f, "the live state is {step}"),
            Why::NotLive(None) => write!(f, "no state is live"),
            Why::NoSuchSlot => write!(f, "there is no such slot"),
            Why::Occupied(step) => write!(f, "the slot holds state {step}"),
            Why::NotStored(Some(step)) => write!(f, "the slot holds state {step}"),
            Why::NotStored(None) => write!(f, "the slot is empty"),
            Why::TooManySlots => write!(f, "more slots are taken than there are"),
            Why::RecordedAgain => write!(f, "the step was recorded before"),
            Why::TooManyTapes => write!(f, "more tapes are held than are allowed"),
            Why::TooManyBytes(bytes) => write!(f, "{bytes} bytes are more than are allowed"),
            Why::NotThePrimalsEnd => write!(f, "the first sweep does not end here"),
            Why::AdjointElsewhere(step) => write!(f, "the adjoint is that of state {step}"),
            Why::NotRecorded => write!(f, "the steps are not recorded"),
            Why::Unfinished => write!(f, "steps are left to be reversed"),
            Why::Leftover => write!(f, "a slot or a tape is still held"),
            Why::Refused(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for Illegal {}

/// Runs actions on integers.
#[derive(Clone, Debug)]
pub struct Checker {
    limits: Limits,
    /// Slots are numbered below these; states that were stored before may be in others.
    indices: (usize, usize),
    live: Option<u64>,
    slots: BTreeMap<Slot, u64>,
    disk_held: usize,
    /// Recorded ranges, the lowest first; they end where the next begins at the most.
    tapes: Vec<(u64, u64)>,
    tapes_held: u64,
    /// The state whose adjoint is known, once the first sweep is done.
    adjoint: u64,
    reached_end: bool,
    primal_done: bool,
    actions: u64,
    cost: Cost,
}

impl Checker {
    /// At the beginning: the first state is live, and nothing is stored.
    pub fn new(limits: Limits) -> Checker {
        Checker {
            limits,
            indices: (limits.slots, limits.disk_slots),
            live: Some(0),
            slots: BTreeMap::new(),
            disk_held: 0,
            tapes: Vec::new(),
            tapes_held: 0,
            adjoint: limits.steps,
            reached_end: limits.steps == 0,
            primal_done: false,
            actions: 0,
            cost: Cost::default(),
        }
    }

    /// In the middle: these states are stored, none is live. With `primal_done` the first sweep is over, and
    /// `limits.steps` is where the adjoint is.
    ///
    /// There may be more states than slots, until the next one is stored.
    pub fn resumed(limits: Limits, stored: &[(u64, Slot)], primal_done: bool) -> Checker {
        let mut checker = Checker::new(limits);
        checker.live = None;
        checker.primal_done = primal_done;
        for (step, slot) in stored {
            match slot {
                Slot::Memory(k) => checker.indices.0 = checker.indices.0.max(k.saturating_add(1)),
                Slot::Disk(k) => checker.indices.1 = checker.indices.1.max(k.saturating_add(1)),
            }
            checker.slots.insert(*slot, *step);
        }
        checker.disk_held = checker.slots.keys().filter(|s| matches!(s, Slot::Disk(_))).count();
        checker.note_peaks();
        checker
    }

    /// Carries out one action, or says why it cannot be.
    pub fn act(&mut self, action: Action) -> Result<(), Illegal> {
        self.perform(action).and_then(|()| self.note_bytes()).map_err(|why| Illegal {
            position: self.actions,
            action: Some(action),
            why,
        })?;
        self.actions += 1;
        Ok(())
    }

    /// Carries out all actions of a schedule that knows its length.
    pub fn run(mut self, actions: impl IntoIterator<Item = Action>) -> Result<Cost, Illegal> {
        actions.into_iter().try_for_each(|action| self.act(action))?;
        self.finish()
    }

    /// What it all cost, at the end.
    pub fn finish(self) -> Result<Cost, Illegal> {
        let why = if !self.primal_done || self.adjoint > 0 {
            Why::Unfinished
        } else if !self.slots.is_empty() || self.tapes_held > 0 {
            Why::Leftover
        } else {
            return Ok(self.cost);
        };
        Err(Illegal { position: self.actions, action: None, why })
    }

    /// What it has cost so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// How far the adjoint has come: the steps from this one on are reversed.
    pub fn adjoint(&self) -> u64 {
        self.adjoint
    }

    /// The states that are stored, in order of their slots.
    pub fn stored(&self) -> Vec<(u64, Slot)> {
        self.slots.iter().map(|(slot, step)| (*step, *slot)).collect()
    }

    /// Whether the last state has been reached, and said to be.
    pub fn primal_done(&self) -> bool {
        self.primal_done
    }

    fn perform(&mut self, action: Action) -> Result<(), Why> {
        match action {
            Action::Advance { from, to } => {
                self.pass(from, to)?;
                self.cost.advances += u128::from(to - from);
            }
            Action::Record { from, to } => {
                self.pass(from, to)?;
                self.keep(from, to)?;
                self.cost.records += u128::from(to - from);
            }
            Action::Store { step, slot } => {
                self.is_live(step)?;
                self.store(step, slot)?;
            }
            Action::Load { step, slot } => {
                let held = self.slots.get(&slot).copied();
                if held != Some(step) {
                    return Err(Why::NotStored(held));
                }
                self.live = Some(step);
                self.reached_end |= step == self.limits.steps;
                match slot {
                    Slot::Memory(_) => self.cost.loads += 1,
                    Slot::Disk(_) => self.cost.disk_loads += 1,
                }
            }
            Action::Free { slot } => {
                self.slots.remove(&slot).ok_or(Why::NotStored(None))?;
                self.disk_held -= usize::from(matches!(slot, Slot::Disk(_)));
            }
            Action::PrimalDone => {
                if !self.reached_end || self.primal_done {
                    return Err(Why::NotThePrimalsEnd);
                }
                self.primal_done = true;
            }
            Action::Reverse { from, to } => self.reverse(from, to)?,
        }
        Ok(())
    }

    fn is_live(&self, step: u64) -> Result<(), Why> {
        if self.live == Some(step) { Ok(()) } else { Err(Why::NotLive(self.live)) }
    }

    fn pass(&mut self, from: u64, to: u64) -> Result<(), Why> {
        if from >= to {
            return Err(Why::EmptyRange);
        }
        if to > self.limits.steps {
            return Err(Why::BeyondTheEnd);
        }
        self.is_live(from)?;
        self.live = Some(to);
        self.reached_end |= to == self.limits.steps;
        Ok(())
    }

    /// Keeps the tapes of a range.
    fn keep(&mut self, from: u64, to: u64) -> Result<(), Why> {
        let at = self.tapes.partition_point(|(begin, _)| *begin < from);
        let before = at.checked_sub(1).is_some_and(|k| self.tapes[k].1 > from);
        let behind = self.tapes.get(at).is_some_and(|(begin, _)| *begin < to);
        if before || behind || to > self.adjoint {
            return Err(Why::RecordedAgain);
        }
        self.tapes.insert(at, (from, to));
        self.tapes_held += to - from;
        if self.tapes_held > self.limits.tapes {
            return Err(Why::TooManyTapes);
        }
        self.cost.peak_tapes = self.cost.peak_tapes.max(self.tapes_held);
        Ok(())
    }

    fn store(&mut self, step: u64, slot: Slot) -> Result<(), Why> {
        let known = match slot {
            Slot::Memory(k) => k < self.indices.0,
            Slot::Disk(k) => k < self.indices.1,
        };
        if !known {
            return Err(Why::NoSuchSlot);
        }
        if let Some(held) = self.slots.get(&slot) {
            return Err(Why::Occupied(*held));
        }
        self.slots.insert(slot, step);
        match slot {
            Slot::Memory(_) => self.cost.stores += 1,
            Slot::Disk(_) => {
                self.cost.disk_stores += 1;
                self.disk_held += 1;
            }
        }
        if self.slots.len() - self.disk_held > self.limits.slots
            || self.disk_held > self.limits.disk_slots
        {
            return Err(Why::TooManySlots);
        }
        self.note_peaks();
        Ok(())
    }

    fn reverse(&mut self, from: u64, to: u64) -> Result<(), Why> {
        if from >= to {
            return Err(Why::EmptyRange);
        }
        if !self.primal_done {
            return Err(Why::NotThePrimalsEnd);
        }
        if to != self.adjoint {
            return Err(Why::AdjointElsewhere(self.adjoint));
        }
        // A range may be recorded in pieces, and reversed in others.
        let mut left = to;
        while left > from {
            match self.tapes.pop() {
                Some((begin, end)) if end == left => {
                    let taken = begin.max(from);
                    if begin < taken {
                        self.tapes.push((begin, taken));
                    }
                    self.tapes_held -= left - taken;
                    left = taken;
                }
                _ => return Err(Why::NotRecorded),
            }
        }
        self.adjoint = from;
        Ok(())
    }

    fn note_peaks(&mut self) {
        let memory = (self.slots.len() - self.disk_held) as u64;
        self.cost.peak_slots = self.cost.peak_slots.max(memory);
        self.cost.peak_disk_slots = self.cost.peak_disk_slots.max(self.disk_held as u64);
    }

    fn note_bytes(&mut self) -> Result<(), Why> {
        let memory = (self.slots.len() - self.disk_held) as u128;
        let tapes = u128::from(self.tapes_held) * u128::from(self.limits.tape_bytes);
        let bytes = (memory * u128::from(self.limits.state_bytes)).saturating_add(tapes);
        if bytes > self.limits.bytes {
            return Err(Why::TooManyBytes(bytes));
        }
        self.cost.peak_bytes = self.cost.peak_bytes.max(bytes);
        Ok(())
    }
}

/// Runs a schedule on integers, from its beginning.
///
/// ```
/// use wengert_schedule::{Binomial, Illegal, Limits, check};
///
/// let cost = check(Binomial::new(100, 5).unwrap(), Limits::slots(100, 5))?;
/// assert_eq!(cost.evaluations(), 416);
/// // With four slots it cannot be carried out.
/// assert!(check(Binomial::new(100, 5).unwrap(), Limits::slots(100, 4)).is_err());
/// # Ok::<(), Illegal>(())
/// ```
pub fn check(schedule: impl Schedule, limits: Limits) -> Result<Cost, Illegal> {
    check_from(schedule, Checker::new(limits))
}

/// Runs a schedule on integers, from where a [`Checker`] is.
pub fn check_from(mut schedule: impl Schedule, mut checker: Checker) -> Result<Cost, Illegal> {
    let steps = checker.limits.steps;
    while let Some(action) = schedule.next() {
        match action {
            // The loop ends in the middle of the range, or is found to have ended before it.
            Action::Advance { from, to } if schedule.steps().is_none() && to > steps => {
                if from < steps {
                    checker.act(Action::Advance { from, to: steps })?;
                }
                schedule.ended(steps).map_err(|why| Illegal {
                    position: checker.actions,
                    action: Some(action),
                    why: Why::Refused(why),
                })?;
            }
            _ => checker.act(action)?,
        }
    }
    checker.finish()
}

/// How often the step that is evaluated most often is evaluated, advanced or recorded, in actions that are legal.
///
/// It takes memory for every step at which a range begins or ends.
pub fn most_evaluations(actions: impl IntoIterator<Item = Action>) -> u64 {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for action in actions {
        if let Action::Advance { from, to } | Action::Record { from, to } = action {
            *changes.entry(from).or_default() += 1;
            *changes.entry(to).or_default() -= 1;
        }
    }
    let mut count = 0;
    let counts = changes.values().map(|change| {
        count += change;
        count
    });
    counts.max().unwrap_or(0) as u64
}
