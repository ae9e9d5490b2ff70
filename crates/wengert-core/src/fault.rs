//! What can go wrong while a program runs.
//!
//! The interpreter and compiled code report the same faults: what happened, where in the source, and
//! in which iteration of which loop.

pub mod report;

use crate::span::{Diagnostic, Span};
use report::RunError;
use std::sync::Arc;

/// A run-time error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.message())]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The instruction's place in the source.
    pub span: Span,
    /// The loops around it, innermost first: the loop's place and the iteration counted from 0.
    pub iterations: Vec<(Span, i64)>,
}

/// The kinds of run-time errors.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// An index outside an array.
    Index {
        /// The array's name, where it has one.
        array: Option<Arc<str>>,
        /// The index asked for.
        index: i64,
        /// The number of elements.
        len: i64,
        /// The axis indexed, where there are several.
        axis: Option<u8>,
    },
    /// Shapes that do not fit each other, in words.
    Shape(Arc<str>),
    /// An integer result does not fit 64 bits.
    Overflow,
    /// Integer division or remainder by zero.
    DivisionByZero,
    /// An array of negative length.
    NegativeLength(i64),
    /// An assertion of the user's.
    Assert(Arc<str>),
    /// A check of the language, and what it says.
    Check(&'static Check, Arc<str>),
    /// A `while` loop ran this many iterations without ending.
    IterationLimit(u64),
    /// The last record of a tape is not what is popped.
    Record,
    /// The tape would need more than this many bytes.
    TapeLimit(u64),
    /// Calls nested too deep.
    CallDepth(usize),
    /// An array of this many bytes could not be allocated.
    OutOfMemory(u64),
    /// There are no addresses left for a tape.
    NoAddresses,
    /// A loop could not be reversed in the memory allowed.
    Budget {
        /// In words.
        why: Arc<str>,
        /// Whether the record of one iteration was too large.
        too_small: bool,
    },
    /// A loop could not keep states in its folder, or not go on with those that are there.
    Folder(Arc<str>),
    /// A loop was taken back and came out too far from where it had been.
    Drift(Arc<str>),
    /// A call of a function that is declared and is somewhere else.
    External(Arc<str>),
    /// A derivative that the author of a function does not give, in words.
    NoDerivative(Arc<str>),
    /// A fault of a function that is somewhere else, as it is told there.
    Elsewhere(Arc<RunError>),
    /// The user interrupted the run.
    Interrupted,
}

/// A check that a program makes by itself, as an assertion with this message.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// How the message starts.
    pub message: &'static str,
    /// The code of the error.
    pub code: &'static str,
    label: &'static str,
    help: &'static str,
}

/// The checks of the language. An assertion whose message is none of these is the user's.
#[rustfmt::skip]
pub const CHECKS: &[Check] = &[
    Check {
        message: "the number has no integer part that fits 64 bits",
        code: "no-integer",
        label: "this number",
        help: "NaN, infinities and numbers of 2**63 and more have none: test the number first",
    },
    Check {
        message: "the index is out of range for",
        code: "index-out-of-range",
        label: "this index",
        help: "a part of an array is indexed from 0 to its own number of elements less one, or back from -1",
    },
    Check {
        message: "the step of a range cannot be 0",
        code: "zero-step",
        label: "this step",
        help: "use a positive or a negative step",
    },
    Check {
        message: "the step of a slice cannot be 0",
        code: "zero-step",
        label: "this slice",
        help: "use a positive or a negative step",
    },
    Check {
        message: "a number cannot be shifted by a negative amount",
        code: "negative-shift",
        label: "this shift",
        help: "shift the other way: `<<` and `>>` undo each other",
    },
    Check {
        message: "the shifted number does not fit 64 bits",
        code: "integer-overflow",
        label: "this shift",
        help: "integers have 64 bits: mask the upper ones first, `(x & mask) << n`",
    },
    Check {
        message: "an integer to a negative power",
        code: "negative-power",
        label: "this power",
        help: "write `float(a) ** n`",
    },
    Check {
        message: "the array does not have",
        code: "tuple-length",
        label: "this array",
        help: "give as many names as it has items",
    },
    Check {
        message: "this axis does not have one element",
        code: "shape-mismatch",
        label: "this call",
        help: "only an axis of one element can be left out",
    },
    Check {
        message: "`item` needs",
        code: "shape-mismatch",
        label: "this array",
        help: "name the element: `x[i]`",
    },
];

impl FaultKind {
    /// A failed assertion: the user's, or a check of the language.
    pub fn assertion(message: &Arc<str>) -> FaultKind {
        match CHECKS.iter().find(|check| message.starts_with(check.message)) {
            Some(check) => FaultKind::Check(check, message.clone()),
            None => FaultKind::Assert(message.clone()),
        }
    }
}

impl Fault {
    /// What went wrong, in words.
    pub fn message(&self) -> String {
        match &self.kind {
            FaultKind::Index { array, index, len, axis } => {
                let array = array.as_ref().map_or("the array".to_string(), |a| format!("`{a}`"));
                let elements = if *len == 1 { "element" } else { "elements" };
                let along = axis.map_or(String::new(), |axis| format!(" along axis {axis}"));
                format!("index {index} is out of range: {array} has {len} {elements}{along}")
            }
            FaultKind::Shape(message) => format!("shapes do not fit: {message}"),
            FaultKind::Overflow => "an integer result does not fit 64 bits".into(),
            FaultKind::DivisionByZero => "integer division by zero".into(),
            FaultKind::NegativeLength(n) => format!("an array cannot have {n} elements"),
            FaultKind::Assert(message) if message.is_empty() => "assertion failed".into(),
            FaultKind::Assert(message) => format!("assertion failed: {message}"),
            FaultKind::Check(_, message) => message.to_string(),
            FaultKind::IterationLimit(n) => {
                format!("the loop did not end within the limit of {n} iterations")
            }
            FaultKind::TapeLimit(n) => {
                format!("the tape needs more than the {n} bytes it may use")
            }
            FaultKind::Record => "the last record of the tape is not what is popped".into(),
            FaultKind::CallDepth(n) => format!("calls are nested more than {n} deep"),
            FaultKind::OutOfMemory(bytes) => {
                let more = if *bytes == u64::MAX { "at least " } else { "" };
                format!("there is not enough memory for an array of {more}{bytes} bytes")
            }
            FaultKind::NoAddresses => "there are no addresses left for a tape".into(),
            FaultKind::Budget { why, .. }
            | FaultKind::Folder(why)
            | FaultKind::Drift(why)
            | FaultKind::NoDerivative(why) => why.to_string(),
            FaultKind::External(name) => {
                format!("`@{name}` is declared and has no body here")
            }
            FaultKind::Elsewhere(error) => error.to_string(),
            FaultKind::Interrupted => "interrupted".into(),
        }
    }

    /// The fault as an error to show with its source.
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, label, help): (_, &str, Option<&str>) = match &self.kind {
            FaultKind::Index { .. } => (
                "index-out-of-range",
                "this index",
                Some(
                    "indices run from 0 to the number of elements less one, or back from -1; check the bounds of the loop",
                ),
            ),
            FaultKind::Shape(_) => (
                "shape-mismatch",
                "this operation",
                Some("print the shapes, and `reshape`, `transpose` or slice one of the arrays"),
            ),
            FaultKind::Overflow => (
                "integer-overflow",
                "this operation",
                Some("use floats (`2.0` instead of `2`) where the numbers grow without bound"),
            ),
            FaultKind::DivisionByZero => (
                "division-by-zero",
                "the divisor is 0",
                Some("use `/` for float division, or test the divisor first"),
            ),
            FaultKind::NegativeLength(_) => (
                "negative-length",
                "this length",
                Some(
                    "check how the length is computed; `max(n, 0)` makes an empty array of a negative one",
                ),
            ),
            FaultKind::Assert(_) => ("assertion", "this was false", None),
            FaultKind::Check(check, _) => (check.code, check.label, Some(check.help)),
            FaultKind::IterationLimit(_) => (
                "iteration-limit",
                "this loop",
                Some(
                    "check that its condition becomes false, or raise the limit with `--max-iterations`",
                ),
            ),
            FaultKind::TapeLimit(_) => (
                "tape-limit",
                "recording this loop",
                Some("shorten the loop, or raise the limit with `--tape-limit`"),
            ),
            FaultKind::Record => (
                "tape-record",
                "this pop",
                Some("pop each record with the types it was pushed with, the last one first"),
            ),
            FaultKind::CallDepth(_) => {
                ("call-depth", "this call", Some("write the recursion as a loop"))
            }
            FaultKind::OutOfMemory(_) => (
                "out-of-memory",
                "this array",
                Some("make the array smaller, or compute it part by part in a loop"),
            ),
            FaultKind::NoAddresses => (
                "no-addresses",
                "this derivative",
                Some("raise the limit of the addresses a process may use (`ulimit -v unlimited`)"),
            ),
            FaultKind::Budget { .. } => (
                "memory-budget",
                "reversing this loop",
                Some("allow more with `--memory`, or leave it out: then everything is kept"),
            ),
            FaultKind::Folder(_) => (
                "folder",
                "reversing this loop",
                Some(
                    "make room there, or name another folder with `--disk`; what a run has noted there stays, for `--resume`, until it is removed",
                ),
            ),
            FaultKind::Drift(_) => (
                "drift",
                "taking back this loop",
                Some(
                    "store a state every so many steps with `--invert-every`, or allow more with `--invert-within`",
                ),
            ),
            FaultKind::External(_) => (
                "external-function",
                "this call",
                Some("give it a body: `func` in the place of `extern`"),
            ),
            FaultKind::NoDerivative(_) => (
                "no-derivative",
                "this call",
                Some("use another mode, or give that derivative as well"),
            ),
            FaultKind::Elsewhere(_) => {
                ("elsewhere", "this call", Some("see the line of the function that was called"))
            }
            FaultKind::Interrupted => (
                "interrupted",
                "while running this",
                Some("call it again to start over; with `--disk` a run can be gone on with"),
            ),
        };
        let mut diagnostic = Diagnostic::new(code, self.message()).label(self.span, label);
        for (span, iteration) in &self.iterations {
            // The loop itself needs no second label where it is the instruction at fault.
            if *span != self.span {
                diagnostic =
                    diagnostic.label(*span, format!("in iteration {iteration} of this loop"));
            }
        }
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One fault of each kind.
    fn all() -> Vec<FaultKind> {
        let index = FaultKind::Index { array: None, index: 3, len: 2, axis: None };
        let mut kinds = vec![index];
        // Each kind names the next one, so that none can be left out.
        while let Some(last) = kinds.last() {
            kinds.push(match last {
                FaultKind::Index { .. } => FaultKind::Shape("(2,) and (3,)".into()),
                FaultKind::Shape(_) => FaultKind::Overflow,
                FaultKind::Overflow => FaultKind::DivisionByZero,
                FaultKind::DivisionByZero => FaultKind::NegativeLength(-1),
                FaultKind::NegativeLength(_) => FaultKind::Assert("x > 0".into()),
                FaultKind::Assert(_) => FaultKind::assertion(&CHECKS[0].message.into()),
                FaultKind::Check(..) => FaultKind::IterationLimit(10),
                FaultKind::IterationLimit(_) => FaultKind::Record,
                FaultKind::Record => FaultKind::TapeLimit(800),
                FaultKind::TapeLimit(_) => FaultKind::CallDepth(100),
                FaultKind::CallDepth(_) => FaultKind::OutOfMemory(1 << 50),
                FaultKind::OutOfMemory(_) => FaultKind::NoAddresses,
                FaultKind::NoAddresses => {
                    FaultKind::Budget { why: "too few bytes".into(), too_small: true }
                }
                FaultKind::Budget { .. } => FaultKind::Folder("no space left".into()),
                FaultKind::Folder(_) => FaultKind::Drift("too far".into()),
                FaultKind::Drift(_) => FaultKind::External("f".into()),
                FaultKind::External(_) => {
                    let (kind, span, iterations) = (FaultKind::Overflow, Span::default(), vec![]);
                    let fault = Box::new(Fault { kind, span, iterations });
                    FaultKind::Elsewhere(Arc::new(RunError::new(fault, "f.rs", "3:5")))
                }
                FaultKind::Elsewhere(_) => FaultKind::NoDerivative("none".into()),
                FaultKind::NoDerivative(_) => FaultKind::Interrupted,
                FaultKind::Interrupted => break,
            });
        }
        kinds
    }

    #[test]
    fn every_fault_names_a_way_out() {
        let mut codes = Vec::new();
        for kind in all() {
            let (span, iterations) = (Span::default(), Vec::new());
            let diagnostic = Fault { kind: kind.clone(), span, iterations }.diagnostic();
            let of_the_user = matches!(kind, FaultKind::Assert(_));
            assert_eq!(diagnostic.help.is_none(), of_the_user, "{kind:?}");
            assert!(!codes.contains(&diagnostic.code), "{kind:?}");
            codes.push(diagnostic.code);
        }
    }

    #[test]
    fn conversions_fail_with_a_kind_of_their_own() {
        let check = FaultKind::assertion(&CHECKS[0].message.into());
        assert!(matches!(check, FaultKind::Check(..)));
        assert_eq!(FaultKind::assertion(&"x".into()), FaultKind::Assert("x".into()));
    }
}
