//! Types and operations.
//!
//! Scalars are `f64`, `i64`, `bool`. An array `[f64]` is a *version*: `store` makes a new version and
//! consumes the old one, which is why it can run in place. The `tape` is linear too: every `push`
//! and `pop` consumes one version of it and makes the next.

use crate::ops::Prim;
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A double.
    F64,
    /// A 64-bit integer.
    I64,
    /// A truth value.
    Bool,
    /// A one-dimensional array of doubles with a run-time length.
    Array,
    /// The stack of records a reverse sweep pops.
    Tape,
}

impl Type {
    /// Whether values of this type can carry a derivative.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F64 | Type::Array)
    }

    /// Whether versions of this type are consumed by the operation that makes the next one.
    pub fn is_linear(self) -> bool {
        matches!(self, Type::Array | Type::Tape)
    }

    /// The name in IR text.
    pub fn name(self) -> &'static str {
        match self {
            Type::F64 => "f64",
            Type::I64 => "i64",
            Type::Bool => "bool",
            Type::Array => "[f64]",
            Type::Tape => "tape",
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Which sweep a [`Op::Drive`] asks the driver for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Run the loop so that it can be reversed.
    Forward,
    /// Run it backwards.
    Reverse,
}

/// What an instruction does. Operands are the instruction's `args`, nested code its `blocks`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A row of the rule table.
    Prim(Prim),
    /// `len x`: the number of elements.
    Len,
    /// `load x, i`: one element; out of range is an error.
    Load,
    /// `store x, i, v`: the next version of `x`.
    Store,
    /// `fill n, v`: a new array of `n` elements; a negative `n` is an error.
    Fill,
    /// `copy x`: a new array with the same elements; `x` stays usable.
    Copy,
    /// `push t, v..`: one record on the tape.
    Push,
    /// `pop t : types`: takes the last record back; results are the tape and the values.
    Pop,
    /// `if c { .. yield a } else { .. yield b }`.
    If,
    /// `for i in lo..hi carry (x = x0) { .. yield x1 }`; block parameters are `i` and the carries.
    For,
    /// `while i carry (x = x0) { .. yield x1 }`: runs until an `exit_if`; `i` counts iterations.
    While,
    /// `exit_if c { .. yield r }`: leaves the loop whose body it stands in, with these results.
    ExitIf,
    /// `call @f(args)`.
    Call(Arc<str>),
    /// `drive @plan forward (args)`: one outlined loop, run by the plan driver.
    Drive(Arc<str>, Phase),
    /// `assert c, "message"`: an error when `c` is false.
    Assert(Arc<str>),
}

impl Op {
    /// Whether executing it can fail or must not be dropped or moved.
    pub fn is_pure(&self) -> bool {
        match self {
            Op::Prim(p) => !p.can_trap(),
            Op::Len | Op::Copy => true,
            _ => false,
        }
    }
}
