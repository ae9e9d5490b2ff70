//! The faults, by where they are planted: see `faults`.

mod ahead;
mod back;
mod checkpoint;
mod core;
mod math;
mod memory;
mod raise;
mod runtime;
mod rust;
mod schedule;
mod tape;

use crate::faults::Fault;

const CORE: &str = "wengert-core";
const RUNTIME: &str = "wengert-runtime";
const WHOLE: &str = "wengert";
const CHECKPOINT: &str = "wengert-checkpoint";
const SCHEDULE: &str = "wengert-schedule";
const MATH: &str = "wengert-math";
const COMMAND: &str = "wengert-cli";

/// Tests that look for a fault: packages, and their tests.
type Tests = &'static [(&'static str, &'static str)];

/// Every fault.
pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    let of_core = [
        core::FAULTS,
        raise::FAULTS,
        math::FAULTS,
        runtime::FAULTS,
        rust::FAULTS,
        schedule::FAULTS,
    ];
    let of_memory = [ahead::FAULTS, checkpoint::FAULTS, memory::FAULTS, back::FAULTS, tape::FAULTS];
    of_core.into_iter().chain(of_memory).flatten()
}
