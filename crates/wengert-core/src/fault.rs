//! What can go wrong while a program runs.
//!
//! The interpreter and compiled code report the same faults: what happened, where in the source, and
//! in which iteration of which loop.

use crate::span::{Diagnostic, Span};
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
    /// A `while` loop ran this many iterations without ending.
    IterationLimit(u64),
    /// The last record of a tape is not what is popped.
    Record,
    /// The tape would need more than this many bytes.
    TapeLimit(u64),
    /// Calls nested too deep.
    CallDepth(usize),
    /// An array could not be allocated.
    OutOfMemory,
    /// The user interrupted the run.
    Interrupted,
}

impl Fault {
    fn message(&self) -> String {
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
            FaultKind::IterationLimit(n) => {
                format!("the loop did not end within the limit of {n} iterations")
            }
            FaultKind::TapeLimit(n) => {
                format!("the tape needs more than the {n} bytes it may use")
            }
            FaultKind::Record => "the last record of the tape is not what is popped".into(),
            FaultKind::CallDepth(n) => format!("calls are nested more than {n} deep"),
            FaultKind::OutOfMemory => "there is not enough memory for an array".into(),
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
            FaultKind::NegativeLength(_) => ("negative-length", "this length", None),
            FaultKind::Assert(_) => ("assertion", "this was false", None),
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
            FaultKind::OutOfMemory => ("out-of-memory", "this array", None),
            FaultKind::Interrupted => ("interrupted", "while running this", None),
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
