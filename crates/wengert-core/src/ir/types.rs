//! Types and operations.
//!
//! Scalars are `f64`, `f32`, `i64`, `bool`. An array has a rank known here and a shape known when it
//! runs: `[f64]` is a vector, `[[f64]]` a matrix. It is a *version*: `store` makes a new version and
//! consumes the old one, which is why it can run in place. The `tape` is linear too: every `push`
//! and `pop` consumes one version of it and makes the next.

pub use crate::ops::value::Elem;
use crate::ops::{ArrayOp, Prim};
use std::sync::Arc;

/// The most dimensions an array can have.
pub const MAX_RANK: usize = 8;

impl Elem {
    /// The type of one element.
    pub fn scalar(self) -> Type {
        match self {
            Elem::F64 => Type::F64,
            Elem::F32 => Type::F32,
            Elem::I64 => Type::I64,
            Elem::Bool => Type::Bool,
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A double.
    F64,
    /// A single-precision float.
    F32,
    /// A 64-bit integer.
    I64,
    /// A truth value.
    Bool,
    /// An array: what it holds and how many dimensions it has (at least one).
    Array(Elem, u8),
    /// The stack of records a reverse sweep pops.
    Tape,
}

impl Type {
    /// A one-dimensional array of doubles.
    pub const VECTOR: Type = Type::Array(Elem::F64, 1);

    /// Whether values of this type can carry a derivative.
    pub fn is_float(self) -> bool {
        match self {
            Type::F64 | Type::F32 => true,
            Type::Array(elem, _) => elem.is_float(),
            _ => false,
        }
    }

    /// Whether a derivative goes with values of this type: floats, and the tape that may hold them.
    pub fn has_adjoint(self) -> bool {
        self.is_float() || self == Type::Tape
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        matches!(self, Type::Array(..))
    }

    /// Whether it is a number or a truth value.
    pub fn is_scalar(self) -> bool {
        !self.is_linear()
    }

    /// Whether versions of this type are consumed by the operation that makes the next one.
    pub fn is_linear(self) -> bool {
        matches!(self, Type::Array(..) | Type::Tape)
    }

    /// The number of dimensions; 0 for scalars.
    pub fn rank(self) -> usize {
        match self {
            Type::Array(_, rank) => rank as usize,
            _ => 0,
        }
    }

    /// What an array holds, or what kind of scalar it is; the tape is neither.
    pub fn elem(self) -> Option<Elem> {
        match self {
            Type::F64 => Some(Elem::F64),
            Type::F32 => Some(Elem::F32),
            Type::I64 => Some(Elem::I64),
            Type::Bool => Some(Elem::Bool),
            Type::Array(elem, _) => Some(elem),
            Type::Tape => None,
        }
    }

    /// An array of `elem` with this rank, or the scalar where the rank is 0.
    pub fn of(elem: Elem, rank: usize) -> Type {
        if rank == 0 { elem.scalar() } else { Type::Array(elem, rank as u8) }
    }

    /// The same shape, holding something else.
    pub fn with_elem(self, elem: Elem) -> Type {
        Type::of(elem, self.rank())
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::F64 => f.write_str("f64"),
            Type::F32 => f.write_str("f32"),
            Type::I64 => f.write_str("i64"),
            Type::Bool => f.write_str("bool"),
            Type::Tape => f.write_str("tape"),
            Type::Array(elem, rank) => {
                let rank = *rank as usize;
                write!(f, "{}{}{}", "[".repeat(rank), elem.scalar(), "]".repeat(rank))
            }
        }
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
    /// A row of the rule table. On arrays it works element by element; scalar operands among them stand
    /// for an array of equal elements.
    Prim(Prim),
    /// `dim[k] x`: the number of elements along axis `k`; `len x` is `dim[0] x`.
    Dim(u8),
    /// `load x, i..`: one element; out of range is an error.
    Load,
    /// `store x, i.., v`: the next version of `x`.
    Store,
    /// `fill n.., v`: a new array of that shape; a negative `n` is an error.
    Fill,
    /// `copy x`: a new array with the same elements; `x` stays usable.
    Copy,
    /// A row of the table of array operations.
    Array(ArrayOp),
    /// `tape`: a new tape without records.
    Tape,
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
    /// The number of elements along the first axis.
    #[allow(non_upper_case_globals)]
    pub const Len: Op = Op::Dim(0);

    /// Whether it has no effect and cannot fail, but where it is given arrays of different shapes.
    pub fn is_pure(&self) -> bool {
        match self {
            Op::Prim(p) => !p.can_trap(),
            Op::Dim(_) | Op::Copy | Op::Tape => true,
            Op::Array(op) => !op.can_fail(),
            _ => false,
        }
    }

    /// Which operand the operation takes over to make the next version in place.
    pub fn takes(&self) -> Option<usize> {
        match self {
            Op::Store => Some(0),
            Op::Array(op) if op.in_place() => Some(0),
            _ => None,
        }
    }
}
