//! Checkpoint schedules.
#![forbid(unsafe_code)]

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
pub use sized::InBytes;
pub use two_level::TwoLevel;
