//! Fault sites: from the number compiled code writes to what is said about it.

use std::sync::Arc;
use wengert_core::fault::FaultKind;
use wengert_core::interp::MAX_CALLS;
use wengert_core::span::Span;

/// A place in a program where a fault can happen or pass through.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// What can happen.
    pub(crate) kind: SiteKind,
    /// The instruction.
    pub(crate) span: Span,
    /// The loops around it in its function, innermost first.
    pub(crate) loops: Vec<Span>,
}

/// What can happen at a site.
#[derive(Clone, Debug)]
pub(crate) enum SiteKind {
    /// An index out of range; the operands are index and length.
    Index(Option<Arc<str>>),
    /// An integer result does not fit.
    Overflow,
    /// An integer divisor is zero.
    DivisionByZero,
    /// A negative length; the operand is the length.
    NegativeLength,
    /// A condition of the user's is false.
    Assert(Arc<str>),
    /// A `while` loop has reached the limit.
    IterationLimit,
    /// The tape has reached its limit.
    TapeLimit,
    /// Calls are nested too deep.
    CallDepth,
    /// There is no memory for an array.
    OutOfMemory,
    /// The user has set the flag.
    Interrupted,
    /// A fault passes through a call.
    Call,
}

impl SiteKind {
    /// What is reported, given what the code wrote and the limits of the run.
    pub(crate) fn fault(&self, operands: [i64; 2], iterations: u64, tape_bytes: u64) -> FaultKind {
        match self {
            SiteKind::Index(array) => {
                FaultKind::Index { array: array.clone(), index: operands[0], len: operands[1] }
            }
            SiteKind::Overflow => FaultKind::Overflow,
            SiteKind::DivisionByZero => FaultKind::DivisionByZero,
            SiteKind::NegativeLength => FaultKind::NegativeLength(operands[0]),
            SiteKind::Assert(message) => FaultKind::Assert(message.clone()),
            SiteKind::IterationLimit => FaultKind::IterationLimit(iterations),
            SiteKind::TapeLimit => FaultKind::TapeLimit(tape_bytes),
            SiteKind::CallDepth => FaultKind::CallDepth(MAX_CALLS),
            SiteKind::OutOfMemory => FaultKind::OutOfMemory,
            SiteKind::Interrupted => FaultKind::Interrupted,
            SiteKind::Call => unreachable!("a fault starts at a site of another kind"),
        }
    }
}
