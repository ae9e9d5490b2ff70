//! Which schedule, for what was measured.

use wengert_schedule::{
    Binomial, Effort, Impossible, InBytes, Online, Schedule, Slot, Times, TwoLevel,
};

/// What a slot takes beside its state, here and in the schedule.
const PER_SLOT: u64 = 32;

/// Of the memory, the part for the records of one unit of a loop whose end is not known.
const FOR_RECORDS: u64 = 5;

/// Places from here on are on disk.
pub(crate) const DISK: usize = usize::MAX / 2;

/// Where the last state is kept, for those who resume the run.
pub(crate) const LAST: usize = usize::MAX - 1;

/// States in memory on their way to a disk, and one from it.
const ON_THEIR_WAY: u64 = 3;

/// More slots are of no use.
pub(crate) const MOST_SLOTS: usize = 1 << 24;

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
    /// Slots in memory from this number on are on disk.
    pub(crate) in_memory: usize,
}

/// What there is for states and records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes in memory.
    pub(crate) memory: u64,
    pub(crate) disk: Option<DiskRoom>,
}

/// Slots on disk, and the nanoseconds that it takes to write and read a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskRoom {
    pub(crate) slots: usize,
    pub(crate) write: u64,
    pub(crate) read: u64,
    /// Whether states are to be there in any case: somebody may have to go on with them.
    pub(crate) is_wanted: bool,
}

impl Plan {
    /// A schedule that drops the first state last.
    pub(crate) fn of(schedule: impl Schedule + Send + 'static, unit: u64) -> Plan {
        let in_memory = usize::MAX;
        Plan { schedule: Box::new(schedule), unit, keeps_first: false, in_memory }
    }

    /// The fastest way through a loop of so many steps, or of nobody knows how many.
    pub(crate) fn new(
        steps: Option<u64>,
        measured: &Measured,
        room: &Room,
    ) -> Result<Plan, Impossible> {
        let Room { memory, disk } = *room;
        // Beside a disk there are states on their way to it and back.
        let on_their_way =
            if disk.is_some() { ON_THEIR_WAY.saturating_mul(measured.state_bytes) } else { 0 };
        let unit = Plan::unit(measured, memory);
        let beside_disk = Plan::slots(measured, unit, memory.saturating_sub(on_their_way));
        let Some(steps) = steps else {
            return Ok(match disk.filter(|disk| beside_disk > 0 && disk.slots > 0) {
                Some(disk) => {
                    let in_memory = if disk.is_wanted { 1 } else { beside_disk };
                    let online = Online::new(in_memory.saturating_add(disk.slots))?;
                    Plan { in_memory, ..Plan::of(online, unit) }
                }
                None => Plan::of(Online::new(Plan::slots(measured, unit, memory))?, unit),
            });
        };
        let (state, record) = (Plan::slot_bytes(measured), measured.record_bytes);
        let times = measured.times();
        let beside = memory.saturating_sub(state);
        // A hundredth of the time that the loop takes, and a sixteenth of the memory.
        let least = measured.record.saturating_add(measured.reverse).saturating_mul(steps);
        let effort =
            Effort { sums: (least / 500).min(MOST_SUMS), bytes: memory / 16, begin: BEGIN };
        let in_memory = InBytes::with_effort(steps, [state, record, beside], &times, effort);
        if let Some(disk) = disk.filter(|disk| beside_disk > 0 && disk.slots > 0) {
            let groups = steps.div_ceil(unit);
            let per_unit = Times {
                advance: times.advance.saturating_mul(unit),
                record: times.record.saturating_mul(unit),
                reverse: times.reverse.saturating_mul(unit),
                disk_store: if disk.is_wanted { 0 } else { disk.write },
                disk_load: if disk.is_wanted { 0 } else { disk.read },
                ..times
            };
            let with_disk = TwoLevel::new(groups, beside_disk, disk.slots, &per_unit)?;
            let time = with_disk.cost().time(&per_unit);
            let is_faster = |plan: &InBytes| time < plan.cost().time(&times);
            if disk.is_wanted || in_memory.as_ref().map_or(true, is_faster) {
                return Ok(Plan::of(with_disk, unit));
            }
        }
        match in_memory {
            Ok(schedule) => Ok(Plan { keeps_first: true, ..Plan::of(schedule, 1) }),
            Err(_) => Ok(Plan::of(Binomial::new(steps, Plan::slots(measured, 1, memory))?, 1)),
        }
    }

    /// Where slots are.
    pub(crate) fn place(&self) -> impl Fn(Slot) -> usize + use<> {
        let (first, in_memory) = (usize::from(self.keeps_first), self.in_memory);
        move |slot| match slot {
            Slot::Memory(k) if k >= DISK => k,
            Slot::Memory(k) if k >= in_memory => DISK + (k - in_memory),
            Slot::Memory(k) => k + first,
            Slot::Disk(k) => DISK + k,
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
