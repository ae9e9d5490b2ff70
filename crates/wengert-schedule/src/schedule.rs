//! What all schedules have in common.

use crate::action::Action;
use crate::cost::Cost;
use std::fmt;

/// A schedule: an iterator over actions that reverses a loop.
pub trait Schedule: Iterator<Item = Action> {
    /// The number of steps, once it is known.
    fn steps(&self) -> Option<u64>;

    /// Says that the loop has ended: the live state is state `n`, and there is no step `n`.
    ///
    /// It is called where the last action was an advance that could not be carried out to its end, or not at all. The
    /// next action is what follows. A schedule for a known number of steps refuses every other number.
    fn ended(&mut self, n: u64) -> Result<(), Impossible> {
        match self.steps() {
            Some(steps) if steps == n => Ok(()),
            _ => Err(Impossible::OtherLength),
        }
    }

    /// What the whole schedule costs, from its first action to its last. Of a schedule that does not know its length yet,
    /// what it has cost so far.
    fn cost(&self) -> Cost;
}

/// Why there is no such schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Impossible {
    /// More than one step, and no slot for the first state.
    NoSlot,
    /// The bytes allowed are too few; so many are needed at least.
    TooFewBytes {
        /// What the smallest schedule holds.
        needed: u128,
    },
    /// The first state is not among those stored.
    NoFirstState,
    /// A slot is named twice, or one state is in two slots.
    Twice,
    /// The loop ended after another number of steps than it was said to have, or before a state that is stored.
    OtherLength,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Impossible::NoSlot => write!(f, "there is no slot for the first state"),
            Impossible::TooFewBytes { needed } => {
                write!(f, "the memory allowed is too small: at least {needed} bytes are needed")
            }
            Impossible::NoFirstState => write!(f, "the first state is not stored"),
            Impossible::Twice => write!(f, "two of the stored states share a slot or a step"),
            Impossible::OtherLength => {
                write!(f, "the loop ended after another number of steps than it was said to have")
            }
        }
    }
}

impl std::error::Error for Impossible {}
