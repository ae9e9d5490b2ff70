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
    /// An index out of range, of the array of that name along that axis; the operands are index and
    /// length.
    Index(Option<Arc<str>>, Option<u8>),
    /// What an operation on whole arrays reports; the name is that of its first operand.
    Kernel(Option<Arc<str>>),
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
    /// The tape does not hold what is popped.
    Record,
    /// The tape has reached its limit.
    TapeLimit,
    /// Calls are nested too deep.
    CallDepth,
    /// There is no memory for an array of doubles; the operand is how many.
    OutOfMemory,
    /// There are no addresses for a tape.
    NoAddresses,
    /// The user has set the flag.
    Interrupted,
    /// A fault passes through a call.
    Call,
}

/// What a fault is made of besides its site.
pub(crate) struct Wrote {
    /// What the code wrote.
    pub(crate) operands: [i64; 2],
    /// What a kernel reported.
    pub(crate) kernel: Option<FaultKind>,
    /// The limit of `while` loops.
    pub(crate) iterations: u64,
    /// The limit of the tapes.
    pub(crate) tape_bytes: u64,
}

impl SiteKind {
    /// What is reported, given what the code wrote and the limits of the run.
    pub(crate) fn fault(&self, wrote: Wrote) -> FaultKind {
        let Wrote { operands, kernel, iterations, tape_bytes } = wrote;
        match self {
            SiteKind::Index(array, axis) => {
                let (index, len) = (operands[0], operands[1]);
                FaultKind::Index { array: array.clone(), index, len, axis: *axis }
            }
            SiteKind::Kernel(name) => match kernel {
                Some(FaultKind::Index { index, len, axis, .. }) => {
                    FaultKind::Index { array: name.clone(), index, len, axis }
                }
                other => other.unwrap_or_else(|| unreachable!("a kernel says what is wrong")),
            },
            SiteKind::Overflow => FaultKind::Overflow,
            SiteKind::DivisionByZero => FaultKind::DivisionByZero,
            SiteKind::NegativeLength => FaultKind::NegativeLength(operands[0]),
            SiteKind::Assert(message) => FaultKind::assertion(message),
            SiteKind::IterationLimit => FaultKind::IterationLimit(iterations),
            SiteKind::Record => FaultKind::Record,
            SiteKind::TapeLimit => FaultKind::TapeLimit(tape_bytes),
            SiteKind::CallDepth => FaultKind::CallDepth(MAX_CALLS),
            SiteKind::OutOfMemory => {
                FaultKind::OutOfMemory(operands[0].cast_unsigned().saturating_mul(8))
            }
            SiteKind::NoAddresses => FaultKind::NoAddresses,
            SiteKind::Interrupted => FaultKind::Interrupted,
            SiteKind::Call => unreachable!("a fault starts at a site of another kind"),
        }
    }
}
