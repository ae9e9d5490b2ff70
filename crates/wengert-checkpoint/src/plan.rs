//! Which schedule, for what was measured.

use wengert_schedule::{Binomial, Effort, Impossible, InBytes, Schedule, Times, TwoLevel};

/// What a slot takes beside its state, here and in the schedule.
const PER_SLOT: u64 = 48;

/// What a state takes beside its bytes from which a loop can go on whose end is not known.
const PER_POINT: u64 = 80;

/// Of the memory, the part for the records of one unit of a loop whose end is not known.
const FOR_RECORDS: u64 = 5;

/// States in memory on their way to a disk, and one from it.
const ON_THEIR_WAY: u64 = 3;

/// More slots are of no use.
const MOST_SLOTS: usize = 1 << 24;

/// The most sums in a table, about a nanosecond each.
pub(crate) const MOST_SUMS: u64 = 20_000_000;

/// The same for one that is not carried out.
const FEW_SUMS: u64 = 50_000;

/// Nanoseconds to begin with a range of steps.
const BEGIN: u64 = 300;

/// A table for a disk may always have so many entries, some kilobytes: without one, states on disk lie where they are of no use.
const LEAST_ENTRIES: u64 = 128;

/// What a state on disk may cost, as a part of what lies between two.
const FOR_DISK: u64 = 20;

/// The most exact copies of shortened states.
const MOST_COPIES: usize = 3;

/// What is known of a loop from running a few of its steps. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What a state takes where it is stored.
    pub state_bytes: u64,
    /// What it takes before it is shortened; the same where it is not.
    pub whole_bytes: u64,
    /// What the record of a step takes.
    pub record_bytes: u64,
    /// To run a step.
    pub advance: u64,
    /// To record one.
    pub record: u64,
    /// To reverse one.
    pub reverse: u64,
}

impl Measured {
    fn times(&self) -> Times {
        let Measured { advance, record, reverse, state_bytes, .. } = *self;
        // Copies at some ten bytes per nanosecond.
        let copy = state_bytes / 10 + 20;
        Times { advance, record, reverse, store: copy, load: copy, disk_store: 0, disk_load: 0 }
    }
}

/// What the way through a loop will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Evaluations of steps, recorded or not.
    pub evaluations: u128,
    /// The most bytes of states and records at one time.
    pub peak_bytes: u64,
    /// Nanoseconds.
    pub time: u128,
}

impl Measured {
    /// What a loop of so many steps takes in so many bytes of memory; nothing where they do not hold a state and the record of one
    /// step.
    pub fn forecast(&self, steps: u64, memory: u64) -> Option<Forecast> {
        let everything = self.record_bytes.saturating_mul(steps).saturating_add(self.least_bytes());
        if everything <= memory {
            let step = u128::from(self.record) + u128::from(self.reverse);
            let evaluations = u128::from(steps);
            return Some(Forecast {
                evaluations,
                peak_bytes: everything,
                time: step * evaluations,
            });
        }
        let beside = self.whole_states(memory);
        let room = Room { memory: memory.saturating_sub(beside), disk: None, sums: FEW_SUMS };
        let forecast = Plan::new(steps, self, &room).ok()?.forecast(self);
        Some(Forecast { peak_bytes: forecast.peak_bytes.saturating_add(beside), ..forecast })
    }

    /// Whether states are shortened.
    pub fn is_short(&self) -> bool {
        self.state_bytes != self.whole_bytes
    }

    /// The first state, and what it takes to shorten others.
    pub fn least_bytes(&self) -> u64 {
        self.whole_bytes.saturating_mul(if self.is_short() { 2 } else { 1 })
    }

    /// What is held of whole states beside those that are shortened.
    fn whole_states(&self, memory: u64) -> u64 {
        if !self.is_short() {
            return 0;
        }
        let copies = copies(memory, self.whole_bytes) as u64;
        let least = self.least_bytes().saturating_sub(self.state_bytes);
        least.saturating_add(copies.saturating_mul(self.whole_bytes))
    }

    /// Whether keeping states of so many steps spares nothing: one takes as much as all records.
    pub fn is_of_no_use(&self, steps: u64) -> bool {
        self.state_bytes >= self.record_bytes.saturating_mul(steps)
    }
}

/// Of how many shortened states exact copies are held, so that what shortening does is known: they take at most an eighth of the memory.
pub(crate) fn copies(memory: u64, whole_bytes: u64) -> usize {
    let fit = memory / 8 / whole_bytes.max(1);
    usize::try_from(fit).unwrap_or(usize::MAX).min(MOST_COPIES)
}

/// A schedule and how it is carried out.
pub(crate) struct Plan {
    pub(crate) schedule: Box<dyn Schedule + Send>,
    /// How many steps the schedule counts as one.
    pub(crate) unit: u64,
}

/// What there is for states and records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes in memory.
    pub(crate) memory: u64,
    pub(crate) disk: Option<DiskRoom>,
    /// How many sums may be spent on a plan, if it saves so much.
    pub(crate) sums: u64,
}

/// Slots on disk, and the nanoseconds that it takes to write and read a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskRoom {
    pub(crate) slots: u64,
    pub(crate) write: u64,
    pub(crate) read: u64,
    /// In a run that can be resumed, a state is to be there every so many nanoseconds, unless that takes too long; with none between,
    /// as many as there is room for.
    pub(crate) every: Option<u64>,
}

impl Plan {
    fn of(schedule: impl Schedule + Send + 'static, unit: u64) -> Plan {
        Plan { schedule: Box::new(schedule), unit }
    }

    /// The fastest way through so many steps, of which the first state is there and stays.
    pub(crate) fn new(steps: u64, measured: &Measured, room: &Room) -> Result<Plan, Impossible> {
        let Room { memory, disk, sums } = *room;
        let (state, record) = (Plan::slot_bytes(measured), measured.record_bytes);
        let times = measured.times();
        let beside = memory.saturating_sub(state);
        // A hundredth of the time that the loop takes, and some of the memory.
        let least = measured.record.saturating_add(measured.reverse).saturating_mul(steps);
        let effort = Effort { sums: (least / 500).min(sums), bytes: memory / 32, begin: BEGIN };
        let mixed = InBytes::with_effort(steps, [state, record, beside], &times, effort);
        let mixed_time = mixed.as_ref().map_or(u128::MAX, |plan| plan.cost().time(&times));
        // Of few slots, that of the first state should be one of them.
        let few = Few::new(steps, measured, memory).filter(|few| few.time < mixed_time);
        let in_memory_time = few.as_ref().map_or(mixed_time, |few| few.time);
        // Beside a disk there are states on their way to it and back.
        let unit = Plan::unit(measured, memory);
        let on_their_way = ON_THEIR_WAY.saturating_mul(measured.state_bytes);
        let slots = Plan::slots(measured, unit, memory.saturating_sub(on_their_way));
        if let Some(disk) = disk.filter(|disk| slots > 0 && disk.slots > 0) {
            let groups = steps.div_ceil(unit);
            let per_unit =
                Times { disk_store: disk.write, disk_load: disk.read, ..per_unit(&times, unit) };
            // A table of so many sums has at most the two thirds power of that as entries.
            let entries = (effort.bytes / 32).max(LEAST_ENTRIES);
            let sums = effort.sums.min(entries.saturating_mul(entries.isqrt()));
            let on_disk = most(disk.slots);
            let with_disk = TwoLevel::with_effort(groups, slots, on_disk, &per_unit, sums)?;
            if with_disk.cost().time(&per_unit) < in_memory_time {
                return Ok(Plan::of(with_disk, unit));
            }
        }
        match (few, mixed) {
            (Some(few), _) => Ok(Plan::of(few.schedule, few.unit)),
            (None, Ok(mixed)) => Ok(Plan::of(mixed, 1)),
            (None, Err(e)) => Err(e),
        }
    }

    /// What it takes.
    pub(crate) fn forecast(&self, measured: &Measured) -> Forecast {
        let (cost, unit) = (self.schedule.cost(), self.unit);
        let states = cost.peak_slots.saturating_mul(measured.state_bytes);
        let records = cost.peak_tapes.saturating_mul(unit).saturating_mul(measured.record_bytes);
        let known = u64::try_from(cost.peak_bytes).ok().filter(|bytes| *bytes > 0);
        Forecast {
            evaluations: cost.evaluations().saturating_mul(unit.into()),
            peak_bytes: known.unwrap_or(states.saturating_add(records)),
            time: cost.time(&per_unit(&measured.times(), unit)),
        }
    }

    /// The plan that takes least memory, whatever it costs.
    pub(crate) fn least(steps: u64) -> Result<Plan, Impossible> {
        Ok(Plan::of(Binomial::new(steps, 1)?, 1))
    }

    /// Into how many parts the first sweep of a run is cut that can be resumed.
    pub(crate) fn parts(steps: u64, measured: &Measured, room: &Room) -> u64 {
        let Some((disk, every)) = room.disk.and_then(|disk| Some((disk, disk.every?))) else {
            return 1;
        };
        let step = [measured.advance, measured.record, measured.reverse];
        let time = step.iter().fold(1, |sum: u64, t| sum.saturating_add(*t)).saturating_mul(steps);
        // As many as it takes for the records of one to fit, and what is lost is soon done again; but writing takes time, and half
        // of the slots are for what lies between.
        let fit = measured.record_bytes.saturating_mul(steps) / (room.memory / 2).max(1);
        let cheap = time / FOR_DISK / disk.write.saturating_add(disk.read).max(1);
        let wanted = time.checked_div(every).map_or(u64::MAX, |wanted| wanted.max(fit).min(cheap));
        wanted.min(disk.slots.div_ceil(2)).min(steps).saturating_add(1)
    }

    /// How a loop whose end is not known is run: how many steps are one to it, how many states it stores, and how many of
    /// them in memory.
    pub(crate) fn online(measured: &Measured, room: &Room) -> (u64, usize, usize) {
        let Room { memory, disk, .. } = *room;
        let state = measured.state_bytes.saturating_add(PER_POINT);
        let unit = Plan::unit(measured, memory);
        let records = measured.record_bytes.saturating_mul(unit);
        let slots = |memory: u64| most(memory.saturating_sub(records) / state);
        let Some(disk) = disk else { return (unit, slots(memory), slots(memory)) };
        let on_their_way = ON_THEIR_WAY.saturating_mul(measured.state_bytes);
        let in_memory = slots(memory.saturating_sub(on_their_way));
        let in_memory = if disk.every.is_some() { in_memory.min(1) } else { in_memory };
        let mut between = disk.write.saturating_mul(FOR_DISK);
        if disk.every == Some(0) {
            between = 0;
        }
        let unit = unit.max(between / measured.advance.max(1));
        (unit, in_memory, in_memory.saturating_add(most(disk.slots)))
    }

    /// How many steps of a loop whose end is not known are recorded together.
    pub(crate) fn unit(measured: &Measured, memory: u64) -> u64 {
        (memory / FOR_RECORDS / measured.record_bytes.max(1)).max(1)
    }

    /// How many states fit beside the records of a unit.
    fn slots(measured: &Measured, unit: u64, memory: u64) -> usize {
        let records = measured.record_bytes.saturating_mul(unit);
        most(memory.saturating_sub(records) / Plan::slot_bytes(measured))
    }

    pub(crate) fn slot_bytes(measured: &Measured) -> u64 {
        measured.state_bytes.saturating_add(PER_SLOT)
    }
}

/// Few states at binomial distances, of which the first is one, with the records of as many steps as fit beside them.
struct Few {
    schedule: Binomial,
    unit: u64,
    time: u128,
}

impl Few {
    /// The fastest.
    fn new(steps: u64, measured: &Measured, memory: u64) -> Option<Few> {
        let times = measured.times();
        let with = |slots: u64| {
            let states = slots.saturating_mul(Plan::slot_bytes(measured));
            let unit = memory.checked_sub(states)? / measured.record_bytes.max(1);
            let unit = unit.min(steps);
            let schedule = Binomial::new(steps.div_ceil(unit.max(1)), most(slots)).ok()?;
            let time = schedule.cost().time(&per_unit(&times, unit));
            (unit > 0).then_some(Few { schedule, unit, time })
        };
        (1..=8).chain((4..20).map(|k| 1 << k)).map_while(with).min_by_key(|few| few.time)
    }
}

/// What so many steps take.
fn per_unit(times: &Times, unit: u64) -> Times {
    let Times { advance, record, reverse, .. } = *times;
    let [advance, record, reverse] = [advance, record, reverse].map(|t| t.saturating_mul(unit));
    Times { advance, record, reverse, ..*times }
}

/// A number of slots.
fn most(slots: u64) -> usize {
    usize::try_from(slots).unwrap_or(usize::MAX).min(MOST_SLOTS)
}
