//! Faults of printed programs: built where they happen, with the loops around them, off the hot path.

use crate::fault::{Fault, FaultKind};
use crate::interp::MAX_CALLS;
use crate::ops::Trap;
use crate::ops::kernels;
use crate::span::Span;
use std::cell::Cell;

/// What a printed function comes to.
pub type Result<T> = std::result::Result<T, Box<Fault>>;

/// The loops around a place, innermost first: where each begins and ends in the source, and its iteration.
pub type Loops<'a> = &'a [((u32, u32), i64)];

/// A fault at a place.
#[cold]
#[inline(never)]
pub fn at(kind: FaultKind, (start, end): (u32, u32), loops: Loops) -> Box<Fault> {
    let span = |(start, end): (u32, u32)| Span { start, end };
    let iterations = loops.iter().map(|(place, i)| (span(*place), *i)).collect();
    Box::new(Fault { kind, span: span((start, end)), iterations })
}

/// A fault of a kernel, which knows the name of its array; an empty one is none.
#[cold]
#[inline(never)]
pub fn trapped(mut kind: FaultKind, name: &str, place: (u32, u32), loops: Loops) -> Box<Fault> {
    if let FaultKind::Index { array, .. } = &mut kind {
        *array = (!name.is_empty()).then(|| name.into());
    }
    at(kind, place, loops)
}

/// An index out of range.
#[cold]
#[inline(never)]
pub fn range(
    dims: &[usize],
    index: &[i64],
    name: &str,
    place: (u32, u32),
    loops: Loops,
) -> Box<Fault> {
    let wrong = dims.iter().zip(index).enumerate().find_map(|(axis, (len, i))| {
        kernels::index(*i, *len, (dims.len() > 1).then_some(axis as u8)).err()
    });
    trapped(wrong.unwrap_or(FaultKind::Record), name, place, loops)
}

/// An integer that does not fit.
#[cold]
#[inline(never)]
pub fn overflow(place: (u32, u32), loops: Loops) -> Box<Fault> {
    at(FaultKind::Overflow, place, loops)
}

/// An assertion that does not hold.
#[cold]
#[inline(never)]
pub fn assertion(message: &str, place: (u32, u32), loops: Loops) -> Box<Fault> {
    at(FaultKind::assertion(&message.into()), place, loops)
}

/// No memory for more records on a tape of so many bytes.
#[cold]
#[inline(never)]
pub fn no_room(bytes: usize, place: (u32, u32), loops: Loops) -> Box<Fault> {
    at(FaultKind::OutOfMemory(2 * bytes as u64), place, loops)
}

/// A derivative that is not given, at no place: it is told where it was asked for.
#[cold]
#[inline(never)]
pub fn not_given(why: &str) -> Box<Fault> {
    at(FaultKind::NoDerivative(why.into()), (0, 0), &[])
}

/// A fault of a function that was called in loops.
#[cold]
#[inline(never)]
pub fn within(mut fault: Box<Fault>, (start, end): (u32, u32), loops: Loops) -> Box<Fault> {
    // A loop at the very place is what a compiler made of one instruction.
    let span = |(start, end): (u32, u32)| Span { start, end };
    let around = loops.iter().filter(|(place, _)| span(*place) != fault.span);
    let around: Vec<(Span, i64)> = around.map(|(place, i)| (span(*place), *i)).collect();
    fault.iterations.extend(around);
    if fault.span == Span::default() {
        fault.span = Span { start, end };
    }
    fault
}

impl From<Trap> for FaultKind {
    fn from(trap: Trap) -> FaultKind {
        match trap {
            Trap::Overflow => FaultKind::Overflow,
            Trap::DivisionByZero => FaultKind::DivisionByZero,
        }
    }
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call of a function that may call itself, for as long as this lives.
#[derive(Debug)]
pub struct Call;

impl Drop for Call {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Enters a function that may call itself; too many calls in each other are a fault.
pub fn enter() -> Result<Call> {
    let depth = DEPTH.get();
    if depth >= MAX_CALLS {
        return Err(at(FaultKind::CallDepth(MAX_CALLS), (0, 0), &[]));
    }
    DEPTH.set(depth + 1);
    Ok(Call)
}
