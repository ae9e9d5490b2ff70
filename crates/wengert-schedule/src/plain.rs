//! The schedules everybody knows: keep everything, keep nothing, keep every so many states.

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::schedule::{Impossible, Schedule};

/// Records everything, then reverses everything: no step is evaluated twice, and all tapes are held.
#[derive(Clone, Debug)]
pub struct StoreAll(Uniform);

/// Keeps the first state only, and advances from it to every step.
#[derive(Clone, Debug)]
pub struct RecomputeAll(Uniform);

/// Stores states at equal distances in the first sweep, then records and reverses the steps between two of them at once. No
/// step is evaluated more than twice; the tapes of all steps between two states are held.
///
/// ```
/// use wengert_schedule::{Limits, Uniform, check};
///
/// let cost = check(Uniform::new(100, 10)?, Limits { tapes: 10, ..Limits::slots(100, 10) })?;
/// // All but the last ten steps are evaluated twice.
/// assert_eq!((cost.evaluations(), cost.peak_slots, cost.peak_tapes), (190, 9, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uniform {
    steps: u64,
    /// How many steps are recorded at a time.
    length: u64,
    /// Whether only the first state is stored, and every piece begins with it.
    restart: bool,
    /// Steps from here on are reversed.
    end: u64,
    at: At,
}

/// What a uniform schedule does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the first sweep, at a state that is to be stored.
    Store(u64),
    /// In the first sweep, behind a stored state.
    Sweep(u64),
    Load,
    /// Between a stored state and the steps to be recorded.
    Approach,
    Free,
    Record,
    PrimalDone,
    Reverse,
    Done,
}

impl StoreAll {
    /// For so many steps.
    pub fn new(steps: u64) -> StoreAll {
        StoreAll(Uniform::of(steps, steps.max(1), false))
    }
}

impl RecomputeAll {
    /// For so many steps.
    pub fn new(steps: u64) -> RecomputeAll {
        RecomputeAll(Uniform::of(steps, 1, true))
    }
}

impl Uniform {
    /// For so many steps and slots: of as many steps between two states as are needed. More than one step needs a slot.
    pub fn new(steps: u64, slots: usize) -> Result<Uniform, Impossible> {
        if steps > 1 && slots == 0 {
            return Err(Impossible::NoSlot);
        }
        // The last steps are recorded as they come: there is no state to be stored for them.
        let pieces = (slots as u64).saturating_add(1);
        Ok(Uniform::of(steps, steps.div_ceil(pieces).max(1), false))
    }

    /// How many steps are recorded at a time.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Recording so many steps at a time, at least one; with `restart` all from the first state.
    pub(crate) fn of(steps: u64, length: u64, restart: bool) -> Uniform {
        let at = match steps {
            0 => At::PrimalDone,
            _ if steps <= length => At::Record,
            _ => At::Store(0),
        };
        Uniform { steps, length, restart, end: steps, at }
    }

    /// Where the steps to be recorded next begin.
    fn begin(&self) -> u64 {
        (self.end - 1) / self.length * self.length
    }

    /// Where the state is stored that leads there, and its slot.
    fn stored(&self) -> (u64, Slot) {
        let step = if self.restart { 0 } else { self.begin() };
        (step, Slot::Memory((step / self.length) as usize))
    }

    /// Behind a load: the last one of a state frees it.
    fn loaded(&self) -> At {
        if self.stored().0 == self.begin() { At::Free } else { At::Approach }
    }
}

impl Iterator for Uniform {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let action = match self.at {
            At::Store(step) => {
                self.at = At::Sweep(step);
                Action::Store { step, slot: Slot::Memory((step / self.length) as usize) }
            }
            At::Sweep(from) => {
                let last = self.begin();
                let to = if self.restart { last } else { from + self.length };
                self.at = if to == last { At::Record } else { At::Store(to) };
                Action::Advance { from, to }
            }
            At::Load => {
                let (step, slot) = self.stored();
                self.at = self.loaded();
                Action::Load { step, slot }
            }
            At::Approach => {
                self.at = At::Record;
                Action::Advance { from: self.stored().0, to: self.begin() }
            }
            At::Free => {
                self.at = At::Record;
                Action::Free { slot: self.stored().1 }
            }
            At::Record => {
                let first = self.end == self.steps;
                self.at = if first { At::PrimalDone } else { At::Reverse };
                Action::Record { from: self.begin(), to: self.end }
            }
            At::PrimalDone => {
                self.at = if self.end == 0 { At::Done } else { At::Reverse };
                Action::PrimalDone
            }
            At::Reverse => {
                let (from, to) = (self.begin(), self.end);
                self.end = from;
                self.at = if from == 0 { At::Done } else { At::Load };
                Action::Reverse { from, to }
            }
            At::Done => return None,
        };
        Some(action)
    }
}

impl Schedule for Uniform {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn cost(&self) -> Cost {
        if self.steps == 0 {
            return Cost::default();
        }
        let pieces = self.steps.div_ceil(self.length);
        let before = u128::from(pieces) - 1;
        // Every piece but the last is advanced over once, or as often as there are pieces behind it.
        let advances = if self.restart { before * (before + 1) / 2 } else { before };
        let stored = if self.restart { before.min(1) } else { before };
        Cost {
            advances: advances * u128::from(self.length),
            records: u128::from(self.steps),
            stores: stored,
            loads: before,
            peak_slots: stored as u64,
            peak_tapes: self.length.min(self.steps),
            ..Cost::default()
        }
    }
}

macro_rules! uniform {
    ($name:ident) => {
        impl Iterator for $name {
            type Item = Action;

            fn next(&mut self) -> Option<Action> {
                self.0.next()
            }
        }

        impl Schedule for $name {
            fn steps(&self) -> Option<u64> {
                self.0.steps()
            }

            fn cost(&self) -> Cost {
                self.0.cost()
            }
        }
    };
}

uniform!(StoreAll);
uniform!(RecomputeAll);
