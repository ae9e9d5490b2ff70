//! Which schedule, for what was measured.

use wengert_schedule::{Binomial, Effort, Impossible, InBytes, Online, Schedule, Times};

/// What a slot takes beside its state, here and in the schedule.
const PER_SLOT: u64 = 32;

/// Of the memory, the part for the records of one unit of a loop whose end is not known.
const FOR_RECORDS: u64 = 5;

/// More slots are of no use.
const MOST_SLOTS: usize = 1 << 24;

/// The most sums in a table, about a nanosecond each.
const MOST_SUMS: u64 = 20_000_000;

/// Nanoseconds to begin with a range of steps.
const BEGIN: u64 = 300;

/// The least time that a unit should take, in nanoseconds: less, and carrying out actions would take longer than steps.
const WORTH: u64 = 20_000;

/// What is known of a loop from running a few of its steps. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What a state takes.
    pub state_bytes: u64,
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

/// A schedule and how it is carried out.
pub(crate) struct Plan {
    pub(crate) schedule: Box<dyn Schedule + Send>,
    /// How many steps the schedule counts as one.
    pub(crate) unit: u64,
    /// The first state lies in a place before those of the schedule, which may drop it.
    pub(crate) keeps_first: bool,
}

impl Plan {
    /// A schedule that drops the first state last.
    pub(crate) fn of(schedule: impl Schedule + Send + 'static, unit: u64) -> Plan {
        Plan { schedule: Box::new(schedule), unit, keeps_first: false }
    }

    /// The fastest way through a loop of so many steps, or of nobody knows how many, in so many bytes.
    pub(crate) fn new(
        steps: Option<u64>,
        measured: &Measured,
        memory: u64,
    ) -> Result<Plan, Impossible> {
        let Some(steps) = steps else {
            let unit = Plan::unit(measured, memory);
            return Ok(Plan::of(Online::new(Plan::slots(measured, unit, memory))?, unit));
        };
        let (state, record) = (Plan::slot_bytes(measured), measured.record_bytes);
        let slots = Plan::slots(measured, 1, memory);
        let few = Binomial::new(steps, slots);
        let beside = memory.saturating_sub(state);
        let times = measured.times();
        // A hundredth of the time that the loop takes, and a sixteenth of the memory.
        let least = measured.record.saturating_add(measured.reverse).saturating_mul(steps);
        let effort =
            Effort { sums: (least / 500).min(MOST_SUMS), bytes: memory / 16, begin: BEGIN };
        match InBytes::with_effort(steps, [state, record, beside], &times, effort) {
            Ok(schedule) => Ok(Plan { keeps_first: true, ..Plan::of(schedule, 1) }),
            Err(_) => Ok(Plan::of(few?, 1)),
        }
    }

    /// How many steps of a loop whose end is not known are recorded together.
    pub(crate) fn unit(measured: &Measured, memory: u64) -> u64 {
        let fit = memory / FOR_RECORDS / measured.record_bytes.max(1);
        let worth = WORTH / measured.record.max(1);
        fit.min(worth).max(1)
    }

    /// How many states fit beside the records of a unit.
    pub(crate) fn slots(measured: &Measured, unit: u64, memory: u64) -> usize {
        let records = measured.record_bytes.saturating_mul(unit);
        let slots = memory.saturating_sub(records) / Plan::slot_bytes(measured);
        usize::try_from(slots).unwrap_or(usize::MAX).min(MOST_SLOTS)
    }

    fn slot_bytes(measured: &Measured) -> u64 {
        measured.state_bytes.saturating_add(PER_SLOT)
    }
}
