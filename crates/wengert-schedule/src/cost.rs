//! What a schedule costs.

/// Counts of a whole schedule. Reversed steps are not counted: every schedule reverses each step once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Steps run without being recorded.
    pub advances: u128,
    /// Steps recorded; as many are reversed.
    pub records: u128,
    /// States stored in memory.
    pub stores: u128,
    /// States loaded from memory.
    pub loads: u128,
    /// States written to disk.
    pub disk_stores: u128,
    /// States read from disk.
    pub disk_loads: u128,
    /// The most slots in memory that hold a state at one time.
    pub peak_slots: u64,
    /// The most slots on disk that hold a state at one time.
    pub peak_disk_slots: u64,
    /// The most steps whose tapes are held at one time.
    pub peak_tapes: u64,
    /// The most bytes held at one time in slots in memory and tapes; zero where sizes are not known. What a long schedule of
    /// groups of steps says before it is run may be up to one state more.
    pub peak_bytes: u128,
}

/// How long things take, in any unit: nanoseconds, or advances of one step.
///
/// ```
/// use wengert_schedule::{Binomial, Schedule, Times};
///
/// let cost = Binomial::new(1000, 10)?.cost();
/// assert_eq!(cost.evaluations(), 4636);
/// let times = Times { advance: 5, record: 8, reverse: 14, ..Times::default() };
/// assert_eq!(cost.time(&times), 3636 * 5 + 1000 * 8 + 1000 * 14);
/// # Ok::<(), wengert_schedule::Impossible>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Times {
    /// To advance by one step.
    pub advance: u64,
    /// To record one step.
    pub record: u64,
    /// To reverse one step.
    pub reverse: u64,
    /// To store a state in memory.
    pub store: u64,
    /// To load a state from memory.
    pub load: u64,
    /// To write a state to disk.
    pub disk_store: u64,
    /// To read a state from disk.
    pub disk_load: u64,
}

impl Times {
    /// One for every evaluation of a step, nothing for the rest.
    pub const EVALUATIONS: Times =
        Times { advance: 1, record: 1, reverse: 0, store: 0, load: 0, disk_store: 0, disk_load: 0 };
}

impl Cost {
    /// All evaluations of steps, recorded or not.
    pub fn evaluations(&self) -> u128 {
        self.advances.saturating_add(self.records)
    }

    /// The time all of it takes; the largest number where that is too long to be told.
    pub fn time(&self, times: &Times) -> u128 {
        [
            (self.advances, times.advance),
            (self.records, times.record),
            (self.records, times.reverse),
            (self.stores, times.store),
            (self.loads, times.load),
            (self.disk_stores, times.disk_store),
            (self.disk_loads, times.disk_load),
        ]
        .into_iter()
        .fold(0, |sum: u128, (count, each)| {
            sum.saturating_add(count.saturating_mul(u128::from(each)))
        })
    }
}
