//! The faults, by where they are planted: see `faults`.

mod checkpoint;
mod core;
mod runtime;
mod schedule;

use crate::faults::Fault;

const CORE: &str = "wengert-core";
const RUNTIME: &str = "wengert-runtime";
const WHOLE: &str = "wengert";
const SCHEDULE: &str = "wengert-schedule";
const CHECKPOINT: &str = "wengert-checkpoint";
const COMMAND: &str = "wengert-cli";

/// Tests that look for a fault: packages, and their tests.
type Tests = &'static [(&'static str, &'static str)];

/// Every fault.
pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    [core::FAULTS, runtime::FAULTS, schedule::FAULTS, checkpoint::FAULTS].into_iter().flatten()
}
