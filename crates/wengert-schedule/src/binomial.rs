//! The binomial schedule: the fewest evaluations for a number of slots.

use crate::action::Action;
use crate::cost::Cost;
use crate::counts::repeats;
use crate::reversal::Reversal;
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
        Ok(Binomial { steps, slots, actions: Reversal::from_live(0, steps, slots, false) })
    }

    /// How often the step evaluated most often is evaluated. No schedule with as many slots does with less.
    pub fn most_evaluations(&self) -> u64 {
        if self.steps == 0 { 0 } else { repeats(self.steps, self.slots) + 1 }
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
        Reversal::cost_from_live(self.steps, self.slots)
    }
}
