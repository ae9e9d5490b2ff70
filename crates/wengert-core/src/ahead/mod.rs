//! What programs printed as Rust ([`crate::emit::rust`]) are made of when they run: arrays, a tape and faults.
//!
//! The text is compiled by rustc ahead of time, so everything here is small, typed and compiled into its caller.
//! Values are those of the IR: an [`Array`] has a rank known to the compiler and a shape known when it runs, and
//! is moved by what takes it over; a [`Tape`] is a stack of records of words, with the arrays of records beside it.
//! Kernels are those of [`crate::ops::kernels`], so they give the bits of the interpreter.
//!
//! Reading order: [`array`], [`windows`], [`tape`], [`faults`], [`drive`] (loops in pieces), [`pass`] (arguments and results); what a
//! caller is told of a fault is [`crate::fault::report`].

pub mod array;
pub mod drive;
pub mod faults;
pub mod pass;
pub mod tape;
pub mod windows;

pub use crate::fault::report::{CallSite, RunError, left};
pub use crate::fault::{Fault, FaultKind};
pub use crate::ops::kernels::Operand;
pub use crate::ops::value::{floor_div, floor_mod};
pub use crate::ops::{ArrayOp, Check, Direction, Prim, Scalar, Transposed};
pub use array::{
    Array, Element, Made, compute, dot, fill, has_slice, made, nothing, scalar, sum, update,
};
pub use drive::{All, Backward, Driver, Forward, Ran, Values};
pub use faults::{
    Loops, Result, assertion, at, enter, no_room, not_given, overflow, range, trapped, within,
};
pub use pass::{ByMut, Takes};
pub use tape::{Tape, Word};
pub use windows::{count, small};

/// The bits of a float, any NaN being the same NaN.
#[inline(always)]
pub fn bits(x: f64) -> i64 {
    crate::ops::value::canonical_bits(x) as i64
}

/// The upper half of the product of two unsigned integers.
#[inline(always)]
pub fn umulh(a: i64, b: i64) -> i64 {
    ((a as u64 as u128 * b as u64 as u128) >> 64) as i64
}
