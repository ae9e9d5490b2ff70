//! What can be wrong with a tape, or with how it is used.

use std::fmt;
use std::panic::Location;
use std::sync::Mutex;

/// Why there is no derivative.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable was used where it does not belong.
    #[error("{0}")]
    Misuse(Misuse),
    /// The tape that is asked has ended, or is in use.
    #[error(
        "the tape has ended, or is in use: it is asked from a function that its own sweep calls; make a tape inside that function"
    )]
    NoTape,
    /// A position that the tape does not have.
    #[error(
        "{at}: the tape has {len} entries and cannot go back to position {position}, which is one of another tape, or was forgotten by an earlier `rewind` or `compress`; take it with `tape.position()` after that"
    )]
    NoPosition {
        /// The one asked for.
        position: u32,
        /// How many entries there are.
        len: u32,
        /// Where it was asked for.
        at: &'static Location<'static>,
    },
    /// Adjoints that are asked to go forward.
    #[error(
        "{at}: adjoints that have been taken back to position {reached} do not go forward to position {position}; begin anew with `tape.seeded`"
    )]
    Passed {
        /// The position asked for.
        position: u32,
        /// Where they are.
        reached: u32,
        /// Where it was asked for.
        at: &'static Location<'static>,
    },
    /// There are as many numbers as there should be.
    #[error("{what}: {wanted} are wanted, and there are {given}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
    /// A branch would have gone the other way: the recording does not hold at these inputs.
    #[error("comparison {number}{} would have come out {}: record anew at these inputs", at(*.place), !.was)]
    OtherBranch {
        /// Which one of all that were made, from 0 on.
        number: usize,
        /// How it came out when it was recorded.
        was: bool,
        /// Where it was made.
        place: Option<&'static Location<'static>>,
    },
    /// Something that the recording holds cannot be done again.
    #[error("{0}")]
    NotReplayable(String),
    /// A closure that is run again uses a variable that is not among its inputs, whose derivative would be missing.
    #[error(
        "{0}: the closure uses a variable that is not among its inputs, and its derivative would be missing; name it among the inputs, or take its number with `.value()` outside"
    )]
    Captured(&'static Location<'static>),
    /// A closure that is run again computed something else.
    #[error(
        "{at}: the closure does not compute the same when it is run again: {what}; keep counters, clocks and random numbers outside, and give their numbers as inputs"
    )]
    NotRepeatable {
        /// Where the closure was given.
        at: &'static Location<'static>,
        /// What is different.
        what: String,
    },
    /// A function with derivatives of its own gave another number of values than there should be.
    #[error(
        "{at}: the function called here gave {given} {what}, and there are {wanted}; give one for each"
    )]
    Outside {
        /// Where it was called.
        at: &'static Location<'static>,
        /// Of what.
        what: &'static str,
        /// How many there should be.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
    /// A system of linear equations has no solution, or many.
    #[error("{at}: {why}")]
    Singular {
        /// Where it was to be solved.
        at: &'static Location<'static>,
        /// What was found.
        why: String,
    },
    /// An iteration did not settle, so what it came to has no derivative.
    #[error("{0}")]
    NotConverged(String),
    /// A loop could not be kept in the memory allowed.
    #[error("{0}")]
    Memory(String),
    /// A recording cannot be shown in the way that was asked for.
    #[error("{0}")]
    Inspection(String),
    /// A recording could not be made a program.
    #[error("{0}")]
    Program(String),
}

fn at(place: Option<&'static Location<'static>>) -> String {
    place.map_or(String::new(), |place| format!(" at {place}"))
}

/// A variable where it does not belong, and the operation that met it first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// What is wrong with it.
    pub kind: MisuseKind,
    /// The line of the operation.
    pub at: &'static Location<'static>,
}

/// What is wrong with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MisuseKind {
    /// Its tape has ended, was cleared, or was rewound to before it.
    Stale,
    /// Its tape is one of another thread.
    OtherThread,
    /// Its tape is being swept.
    Busy,
    /// It is of another tape, or another recording, than the one that is asked.
    OtherTape,
    /// It is a constant, by which there are no derivatives.
    Constant,
    /// It was computed, and is not one of those that are given.
    Computed,
    /// It is to be an input of its own tape, or of an earlier one.
    Later,
    /// A sweep was broken off, and what it came to is not a derivative.
    Unfinished,
    /// The tape holds as many entries as can be numbered.
    Full,
    /// There have been so many recordings that variables can no longer be told apart.
    Recordings,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, way_out) = match self.kind {
            MisuseKind::Stale => (
                "a variable is used after its tape has ended, was cleared or was rewound to before it",
                "make it anew with `tape.var`, or take its number with `.value()`",
            ),
            MisuseKind::OtherThread => (
                "a variable is used on another thread than the one that records it",
                "record on one thread, or give each its own tape and add up what they give; `.value()` is the number",
            ),
            MisuseKind::Busy => (
                "a tape, or a variable of it, is used while it is swept",
                "functions with derivatives of their own work on numbers, or on a tape that they make",
            ),
            MisuseKind::OtherTape => (
                "a variable of another tape, or of another recording on this one, is used with this tape or its derivatives",
                "sweep the tape that it was made on, after it was made",
            ),
            MisuseKind::Constant => (
                "a derivative by a constant is asked for",
                "make it a variable with `tape.var` before it is used",
            ),
            MisuseKind::Computed => (
                "a number or a direction is given to a variable that was computed",
                "give it to variables made with `tape.var`",
            ),
            MisuseKind::Later => (
                "a variable of the same tape, or of a later one, is made an input of this tape",
                "use it as it is, or take its number with `.value()`",
            ),
            MisuseKind::Unfinished => (
                "derivatives of a sweep that was broken off by an error are asked for",
                "mend what the error says, and sweep again",
            ),
            MisuseKind::Full => (
                "the tape holds four billion entries, which is as many as there can be",
                "record parts of it with `tape.checkpoint`, or loops with `for_each`",
            ),
            MisuseKind::Recordings => (
                "there have been four billion recordings in this process, which is as many as there can be",
                "record once and use `replay`, or divide the work among processes",
            ),
        };
        write!(f, "{}: {what}; {way_out}", self.at)
    }
}

/// What went wrong, by number: a variable that comes of it has that number.
static MISUSES: Mutex<Vec<Misuse>> = Mutex::new(Vec::new());

/// More are not told apart: each is one that was there.
const TOLD: usize = 1000;

/// Remembers one, and gives back its number.
pub(super) fn remember(misuse: Misuse) -> u32 {
    let mut all = MISUSES.lock().unwrap_or_else(|all| all.into_inner());
    if let Some(known) = all.iter().position(|one| *one == misuse) {
        return known as u32;
    }
    if all.len() < TOLD {
        all.push(misuse);
    }
    (all.len() - 1) as u32
}

/// The one of this number.
pub(super) fn remembered(number: u32) -> Option<Misuse> {
    MISUSES.lock().unwrap_or_else(|all| all.into_inner()).get(number as usize).copied()
}
