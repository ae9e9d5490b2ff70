//! What a schedule tells its executor to do.

use std::fmt;

/// A place for one state.
///
/// Places of a kind are numbered from zero, so an executor can make them all before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// In memory.
    Memory(usize),
    /// In the slower place: a file.
    Disk(usize),
}

/// One action. Steps are numbered from zero, and step `k` leads from state `k` to state `k + 1`.
///
/// There is one *live* state, on which the executor works; it is not in a slot. Ranges go from `from`
/// up to and without `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Run the steps of a range on the live state, keeping nothing.
    ///
    /// Of a loop whose length is not known this is a wish: when the loop ends first, the executor stops there and
    /// says so ([`Schedule::ended`](crate::Schedule::ended)).
    Advance {
        /// The live state.
        from: u64,
        /// What it becomes.
        to: u64,
    },
    /// Copy the live state into an empty slot.
    Store {
        /// The live state.
        step: u64,
        /// Where to.
        slot: Slot,
    },
    /// Make a copy of a stored state the live one. Where the slot is freed next, it may be moved.
    Load {
        /// The state.
        step: u64,
        /// Where it is.
        slot: Slot,
    },
    /// What is in a slot is needed no more.
    Free {
        /// The slot.
        slot: Slot,
    },
    /// Run the steps of a range on the live state, keeping for each what its reversal needs: its tape.
    Record {
        /// The live state.
        from: u64,
        /// What it becomes.
        to: u64,
    },
    /// The last state has been reached for the first time: results are there, and adjoints of them can be given.
    PrimalDone,
    /// Take the adjoint of state `to` to that of state `from`, using up the tapes of the steps between them.
    Reverse {
        /// The state whose adjoint comes out.
        from: u64,
        /// The state whose adjoint goes in.
        to: u64,
    },
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Memory(k) => write!(f, "slot {k}"),
            Slot::Disk(k) => write!(f, "disk slot {k}"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Advance { from, to } => write!(f, "advance {from}..{to}"),
            Action::Store { step, slot } => write!(f, "store {step} in {slot}"),
            Action::Load { step, slot } => write!(f, "load {step} from {slot}"),
            Action::Free { slot } => write!(f, "free {slot}"),
            Action::Record { from, to } => write!(f, "record {from}..{to}"),
            Action::PrimalDone => write!(f, "primal done"),
            Action::Reverse { from, to } => write!(f, "reverse {from}..{to}"),
        }
    }
}
