//! What becomes of a run.

use crate::disk::DiskError;
use crate::plan::Forecast;
use crate::short::Precision;
use std::time::Duration;
use wengert_schedule::Impossible;

/// Why a loop could not be reversed in the memory that was allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error<E> {
    /// A step has failed.
    #[error(transparent)]
    Step(E),
    /// The memory allowed holds no state and the record of one step.
    #[error(
        "{allowed} bytes are too few: a state takes {state}, and the record of step {step} does not fit beside it; allow more memory"
    )]
    TooSmall {
        /// What was allowed.
        allowed: u64,
        /// What a state takes.
        state: u64,
        /// The step that could not be recorded.
        step: u64,
    },
    /// The system has no memory for a state.
    #[error("there is no memory for a state of {0} bytes")]
    NoMemory(u64),
    /// The loop did something else when it was run again.
    #[error(
        "the loop has ended after {now} steps, and before after {before}: it does not do the same when it is run again"
    )]
    OtherEnd {
        /// The first time.
        before: u64,
        /// Later.
        now: u64,
    },
    /// A state is another one than it was the first time.
    #[error(
        "the state before step {0} was another one when the loop ran again: something that a step reads has changed, or it does not do the same twice"
    )]
    OtherState(u64),
    /// The loop went another way when it was run from a state with fewer digits.
    #[error(
        "run again from a state kept as {precision}, the loop went another way before step {step}: it ended elsewhere, or a counter or the size of an array is another one; keep states with more digits, or exactly"
    )]
    Astray {
        /// How states are kept.
        precision: Precision,
        /// Where that was found.
        step: u64,
    },
    /// Something is wrong with the disk.
    #[error("{0}")]
    Disk(String),
    /// A schedule and its executor disagree: a fault of this crate.
    #[error("the schedule asks for something impossible: {0}")]
    Schedule(String),
}

impl<E> From<DiskError> for Error<E> {
    fn from(error: DiskError) -> Self {
        Error::Disk(error.to_string())
    }
}

impl<E> From<Impossible> for Error<E> {
    fn from(why: Impossible) -> Self {
        Error::Schedule(why.to_string())
    }
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// Steps of the loop.
    pub steps: u64,
    /// Steps run without being recorded.
    pub advanced: u64,
    /// Steps recorded.
    pub recorded: u64,
    /// States stored.
    pub stored: u64,
    /// States loaded.
    pub loaded: u64,
    /// States written to disk; among those stored.
    pub written: u64,
    /// States read from disk; among those loaded.
    pub read: u64,
    /// The most bytes of states and records that were held at one time.
    pub peak_bytes: u64,
    /// How long both sweeps took.
    pub time: Duration,
    /// What they were expected to take, when the way was chosen.
    pub forecast: Option<Forecast>,
    /// What was done to states that are kept with fewer digits, where that was asked for.
    pub shortened: Option<Shortened>,
    /// Whether this is what was left of a run that another process had begun.
    pub resumed: bool,
}

/// States kept with fewer digits, and what that does to the gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shortened {
    /// How their floats are kept.
    pub precision: Precision,
    /// How many states were stored so. None, where there is nothing to be shortened, or it spares nothing.
    pub states: u64,
    /// How many were stored as they are, because a number is too large for the shorter kind.
    pub too_large: u64,
    /// The largest change of a number in a stored state, relative to the largest number in that state.
    pub rounding: f64,
    /// Ranges of steps that were reversed with what was computed from such states.
    pub reversals: u64,
    /// How many of them were reversed a second time, from an exact copy.
    pub compared: u64,
    /// The largest difference that this made to the adjoint behind one of them, relative to its largest number.
    pub largest: f64,
    /// About how far the gradient is from the exact one at most, relative to its largest number; nothing where no range was compared.
    /// What a loop does to differences further on its way back is not known: one that forgets them ends with less.
    pub effect: Option<f64>,
}

impl Done {
    /// Evaluations of steps.
    pub fn evaluations(&self) -> u64 {
        self.advanced + self.recorded
    }
}
