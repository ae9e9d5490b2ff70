//! The binomial schedule: the fewest evaluations for a number of slots.

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::counts::repeats;
use crate::reversal::{Place, Reversal, Spare};
use crate::schedule::{Impossible, Schedule};

/// Reverses a known number of steps with a number of slots, evaluating as few steps as possible: `revolve` (Griewank and
/// Walther, *Algorithm 799*, 2000). The first state takes one of the slots; one tape of one step is held at a time.
///
/// It takes memory for as many integers as there are slots, whatever the number of steps.
///
/// ```
/// use wengert_schedule::{Binomial, Schedule};
///
/// let schedule = Binomial::new(1_000_000_000_000, 100)?;
/// assert_eq!(schedule.cost().evaluations(), 9_620_091_152_461);
/// assert_eq!(schedule.most_evaluations(), 10);
/// # Ok::<(), wengert_schedule::Impossible>(())
/// ```
#[derive(Clone, Debug)]
pub struct Binomial {
    steps: u64,
    slots: u64,
    actions: Reversal,
}

impl Binomial {
    /// For so many steps and slots. More than one step needs a slot.
    pub fn new(steps: u64, slots: usize) -> Result<Binomial, Impossible> {
        if steps > 1 && slots == 0 {
            return Err(Impossible::NoSlot);
        }
        let slots = slots as u64;
        Ok(Binomial { steps, slots, actions: begin(steps, slots) })
    }

    /// How often the step evaluated most often is evaluated. No schedule with as many slots does with less.
    pub fn most_evaluations(&self) -> u64 {
        if self.steps == 0 { 0 } else { repeats(self.steps, self.slots) + 1 }
    }
}

/// All of it, from the first state, which is live and not stored.
fn begin(steps: u64, slots: u64) -> Reversal {
    match steps {
        0 => Reversal::only([Action::PrimalDone]),
        1 => Reversal::only([
            Action::Record { from: 0, to: 1 },
            Action::PrimalDone,
            Action::Reverse { from: 0, to: 1 },
        ]),
        _ => {
            let slot = Slot::Memory(0);
            let place = Place { step: 0, slot, wanted: 0 };
            let spare = Spare::beside(&[0]);
            let mut actions = Reversal::new(vec![place], slots, spare, steps, Some(0), false);
            actions.first(Action::Store { step: 0, slot });
            actions
        }
    }
}

impl Iterator for Binomial {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.actions.next()
    }
}

impl Schedule for Binomial {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn cost(&self) -> Cost {
        let (actions, cost) = (begin(self.steps, self.slots), Cost::default());
        match self.steps {
            0 => cost,
            1 => Cost { records: 1, peak_tapes: 1, ..cost },
            _ => {
                let cost = actions.cost();
                Cost { stores: cost.stores + 1, ..cost }
            }
        }
    }
}
