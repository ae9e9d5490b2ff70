//! Checkpoint schedules: the gradient of a long loop in little memory.
//!
//! The reverse of a loop needs what its steps computed, last step first. Keeping all of it (a *tape*) takes memory for every
//! step. A few *states* kept instead are enough: from each, the steps behind it can be run again. Which states to keep when, and
//! which steps to run again, is a schedule; a good one takes very little time for very little memory. With 100 slots
//! for states, a loop of a million steps is reversed with fewer than five evaluations of each step.
//!
//! A schedule here is an iterator over [`Action`]s, integers and nothing else: it knows nothing of your states, your
//! steps or of how they are differentiated. You carry out its actions, with a hand-written adjoint as below, or
//! with whatever you have.
//!
//! | schedule | for | keeps | evaluations |
//! | --- | --- | --- | --- |
//! | [`StoreAll`] | short loops | all tapes | one of each step |
//! | [`RecomputeAll`] | comparison | the first state | half the square of the number of steps |
//! | [`Uniform`] | comparison | states at equal distances, and the tapes between two of them | at most two of each step |
//! | [`Binomial`] | a number of slots | that many states, one tape | the fewest there are |
//! | [`InBytes`] | a number of bytes | states and tapes, as fits best | the fewest, or nearly |
//! | [`TwoLevel`] | slots in memory and on disk | states in both, one tape | the least time, or nearly |
//! | [`Online`] | a loop whose end is not known | a number of states, one tape | a few percent more than with a known end |
//! | [`Resume`] | states that are there already | these, or fewer | the fewest there are |
//!
//! [`Schedule::cost`] says what a schedule costs before it is run. [`check`] runs one on integers: it
//! counts, and finds the first action that cannot be carried out.
//!
//! # An example
//!
//! The derivative of a million steps of the logistic map by its parameter, with twenty numbers stored:
//!
//! ```
//! use wengert_schedule::{Action, Binomial, Schedule, Slot};
//!
//! /// A step, and its adjoint: what the adjoint of `x` and of `r` are before it.
//! fn step(r: f64, x: f64) -> f64 {
//!     r * x * (1.0 - x)
//! }
//! fn reverse(r: f64, x: f64, (dx, dr): (f64, f64)) -> (f64, f64) {
//!     (dx * r * (1.0 - 2.0 * x), dr + dx * x * (1.0 - x))
//! }
//!
//! let (r, n, slots) = (3.2, 1_000_000, 20);
//! let schedule = Binomial::new(n, slots)?;
//! assert!(schedule.cost().evaluations() < 9 * u128::from(n));
//!
//! let mut live = 0.3;
//! let mut stored = vec![0.0; slots];
//! let mut tape = Vec::new();
//! let (mut result, mut adjoint) = (0.0, (0.0, 0.0));
//! for action in schedule {
//!     match action {
//!         Action::Advance { from, to } => (from..to).for_each(|_| live = step(r, live)),
//!         Action::Store { slot: Slot::Memory(k), .. } => stored[k] = live,
//!         Action::Load { slot: Slot::Memory(k), .. } => live = stored[k],
//!         Action::Record { from, to } => {
//!             for _ in from..to {
//!                 tape.push(live);
//!                 live = step(r, live);
//!             }
//!         }
//!         // The result is there; its adjoint is 1.
//!         Action::PrimalDone => (result, adjoint.0) = (live, 1.0),
//!         Action::Reverse { from, to } => {
//!             for _ in from..to {
//!                 adjoint = reverse(r, tape.pop().unwrap(), adjoint);
//!             }
//!         }
//!         // Nothing is on disk here, and a slot need not be cleared.
//!         Action::Free { .. } | Action::Store { .. } | Action::Load { .. } => {}
//!     }
//! }
//! // It ends on a cycle of two, of which this is the larger number.
//! let exact = (r + 1.0 + f64::sqrt((r - 3.0) * (r + 1.0))) / (2.0 * r);
//! assert!((result - exact).abs() < 1e-12);
//! assert!((adjoint.1 - 0.281_482_158_072).abs() < 1e-9);
//! # Ok::<(), wengert_schedule::Impossible>(())
//! ```
//!
//! # Reading order
//!
//! `action` and `schedule` (what a schedule is), `check` (what it means), `counts` (the closed forms), `reversal` (the engine
//! behind most schedules), then one file for each kind: `plain`, `binomial`, `resume`, `online`, `sized`, `two_level`.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod action;
mod binomial;
mod check;
mod cost;
mod counts;
mod online;
mod plain;
mod resume;
mod reversal;
mod schedule;
mod sized;
mod two_level;

pub use action::{Action, Slot};
pub use binomial::Binomial;
pub use check::{Checker, Illegal, Limits, Why, check, check_from, most_evaluations};
pub use cost::{Cost, Times};
pub use counts::fewest_advances;
pub use online::Online;
pub use plain::{RecomputeAll, StoreAll, Uniform};
pub use resume::Resume;
pub use schedule::{Impossible, Schedule};
pub use sized::{Effort, InBytes};
pub use two_level::TwoLevel;
