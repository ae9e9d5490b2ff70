//! The plan driver: runs outlined loops.
//!
//! An outlined loop is three functions over ranges of iterations (advance, record, reverse; see
//! `LoopPlan` in the IR). A policy decides which of them run over which ranges: the driver asks it
//! for one [`Action`] after another and executes each by one call of compiled code, so nothing here
//! is done per iteration.
//!
//! Store-all, the policy here, needs one action per phase, over the whole range the program asked
//! for; the frame is passed through as it is. A checkpointing policy will answer the same
//! [`Phase`]s with several actions: advances and records over parts of the range, with the carries
//! copied out of and into the frame between them. That is what `Action` is an enumeration for.

use crate::jit::link::{Plan, Step};
use wengert_core::ir::Phase;

/// One step of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run the range and record every iteration.
    Record,
    /// Run the range backwards from its records.
    Reverse,
}

/// What store-all does in a phase.
fn store_all(phase: Phase) -> [Action; 1] {
    match phase {
        Phase::Forward => [Action::Record],
        Phase::Reverse => [Action::Reverse],
    }
}

/// Runs one phase of a loop; `call` runs compiled code on the caller's frame. The status is 0, or
/// that of the first action at fault.
pub(crate) fn drive(plan: &Plan, phase: Phase, mut call: impl FnMut(Step) -> u32) -> u32 {
    for action in store_all(phase) {
        let status = execute(plan, action, &mut call);
        if status != 0 {
            return status;
        }
    }
    0
}

fn execute(plan: &Plan, action: Action, call: &mut impl FnMut(Step) -> u32) -> u32 {
    match action {
        Action::Record => call(plan.record),
        Action::Reverse => call(plan.reverse),
    }
}
