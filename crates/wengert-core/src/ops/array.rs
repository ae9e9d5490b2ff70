//! The table of array operations: one row each, like the scalar rows.
//!
//! Everything numpy-like is made of these few (see `arrays`): they are closed under differentiation,
//! so the derivative of each is written with the others. Element by element, the scalar rows
//! themselves work on arrays.
//!
//! Class, as it is used by forward and reverse mode:
//!
//! - `linear`: the tangent is the same operation on tangents; the adjoint is the row's transpose.
//! - `bilinear`: linear in each of two operands (`gemm`: and in its accumulator).
//! - `zero`: the result is made of integers, and integers carry no derivative.

use super::table::Prim;
use std::sync::Arc;

/// An operation on whole arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArrayOp {
    /// `peek x, k`: element `k` in row-major order.
    Peek,
    /// `poke x, k, v`: the next version of `x` with `v` as element `k` in row-major order.
    Poke,
    /// `slice x, start, count, step ..` (three per axis): a new array. A step may be negative, or 0 to
    /// repeat one element.
    Slice,
    /// `put x, start, count, step .., v`: the next version of `x` with `v` in that slice, which names no
    /// element twice.
    Put,
    /// `add_slice x, start, count, step .., v`: the next version of `x` with `v` added to that slice.
    AddSlice,
    /// `reshape x, n ..`: the same elements in row-major order.
    Reshape,
    /// `transpose[axes] x`: axis `k` of the result is axis `axes[k]` of `x`.
    Transpose(Arc<[u8]>),
    /// `expand[axis] x, n`: `x` repeated `n` times along a new axis.
    Expand(u8),
    /// `sum x` over all elements, in eight interleaved lanes; `sum[axis] x` along one axis, in order.
    Sum(Option<u8>),
    /// `cumsum[axis] x`, or `cumsum_back[axis] x` from the end.
    CumSum(u8, Direction),
    /// `dot a, b`: the sum of products over all elements, in eight interleaved lanes.
    Dot,
    /// `gemm c, a, b`: the next version of `c`, plus the product of `a` and `b`; `gemm[t,n]` with `a`
    /// transposed. One-dimensional operands are a row, a column, or a sum over their elements:
    ///
    /// | c | a | b | product |
    /// |---|---|---|---|
    /// | matrix | matrix | matrix | `a b` |
    /// | vector | matrix | vector | `a b`, one dot per row (`gemm[t,n]`: a chain per element) |
    /// | matrix | vector | vector | the outer product |
    Gemm(Transposed, Transposed),
    /// `gather x, idx`: element (row, ..) `idx[k]` of `x` for every `k`.
    Gather,
    /// `scatter_add x, idx, v`: the next version of `x` with `v[k]` added to element `idx[k]`, in order.
    ScatterAdd,
    /// `argmax x`: where the largest element is, in row-major order (the first of equals; a NaN is larger
    /// than every number). An error where there is no element.
    ArgMax,
    /// `argmin x`: where the smallest element is (the first of equals; a NaN is smaller than every number).
    ArgMin,
    /// `argsort x`: the permutation that sorts a vector, equals in order, NaN last.
    ArgSort,
    /// `conform[add] x, y`: nothing but the error that `add` gives where the shapes of `x` and `y` differ,
    /// and so for other operations (see [`Check`]). No result.
    Conform(Check),
    /// `refill x, v`: the next version of `x` with every element `v`.
    Refill,
}

/// The operation whose error a `conform` gives, instead of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// A row on two arrays, or on two of the given sizes (first those of one, then those of the other).
    Row(Prim),
    /// `gemm c, a, b`, nothing transposed.
    Gemm,
    /// `slice`.
    Slice,
    /// `expand`.
    Expand,
}

impl Check {
    /// The name of the operation.
    pub fn name(self) -> &'static str {
        match self {
            Check::Row(row) => row.name(),
            Check::Gemm => "gemm",
            Check::Slice => "slice",
            Check::Expand => "expand",
        }
    }

    /// The check of that name.
    pub fn from_name(name: &str) -> Option<Check> {
        let found =
            [Check::Gemm, Check::Slice, Check::Expand].into_iter().find(|c| c.name() == name);
        found.or_else(|| Prim::from_name(name).map(Check::Row))
    }
}

/// Which way a sum accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first element on.
    Forward,
    /// From the last element back.
    Backward,
}

impl Direction {
    /// The other way.
    pub fn flip(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

/// Whether a matrix stands for its transpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transposed {
    /// As it is.
    No,
    /// Rows are columns.
    Yes,
}

impl Transposed {
    /// The transpose of that.
    pub fn flip(self) -> Transposed {
        if self == Transposed::Yes { Transposed::No } else { Transposed::Yes }
    }
}

impl ArrayOp {
    /// The name in IR text, without attributes.
    pub fn name(&self) -> &'static str {
        match self {
            ArrayOp::Peek => "peek",
            ArrayOp::Poke => "poke",
            ArrayOp::Slice => "slice",
            ArrayOp::Put => "put",
            ArrayOp::AddSlice => "add_slice",
            ArrayOp::Reshape => "reshape",
            ArrayOp::Transpose(_) => "transpose",
            ArrayOp::Expand(_) => "expand",
            ArrayOp::Sum(_) => "sum",
            ArrayOp::CumSum(_, Direction::Forward) => "cumsum",
            ArrayOp::CumSum(_, Direction::Backward) => "cumsum_back",
            ArrayOp::Dot => "dot",
            ArrayOp::Gemm(..) => "gemm",
            ArrayOp::Gather => "gather",
            ArrayOp::ScatterAdd => "scatter_add",
            ArrayOp::ArgMax => "argmax",
            ArrayOp::ArgMin => "argmin",
            ArrayOp::ArgSort => "argsort",
            ArrayOp::Conform(_) => "conform",
            ArrayOp::Refill => "refill",
        }
    }

    /// Whether it takes over its first operand and makes the next version of it in place.
    pub fn in_place(&self) -> bool {
        use ArrayOp::*;
        matches!(self, Poke | Put | AddSlice | Gemm(..) | ScatterAdd | Refill)
    }

    /// Whether it can fail although what it works on exists: by an index, a shape or a length. (Shapes that
    /// differ matter only where the result does.)
    pub fn can_fail(&self) -> bool {
        use ArrayOp::*;
        !matches!(self, Transpose(_) | Sum(_) | CumSum(..) | Dot | ArgSort | Refill)
    }

    /// Whether no derivative passes: the result is made of integers.
    pub fn is_zero(&self) -> bool {
        matches!(self, ArrayOp::ArgMax | ArrayOp::ArgMin | ArrayOp::ArgSort)
    }

    /// The attributes in IR text, with their brackets; empty where there are none.
    pub fn attributes(&self) -> String {
        let letter = |t: &Transposed| if *t == Transposed::Yes { "t" } else { "n" };
        match self {
            ArrayOp::Transpose(axes) => {
                let axes: Vec<String> = axes.iter().map(u8::to_string).collect();
                format!("[{}]", axes.join(","))
            }
            ArrayOp::Expand(axis) | ArrayOp::Sum(Some(axis)) | ArrayOp::CumSum(axis, _) => {
                format!("[{axis}]")
            }
            ArrayOp::Gemm(Transposed::No, Transposed::No) => String::new(),
            ArrayOp::Gemm(a, b) => format!("[{},{}]", letter(a), letter(b)),
            ArrayOp::Conform(row) => format!("[{}]", row.name()),
            _ => String::new(),
        }
    }

    /// The row of that name with these attributes (as written between the brackets).
    pub fn from_text(name: &str, attributes: &[&str]) -> Result<Option<ArrayOp>, String> {
        use ArrayOp::*;
        let plain = [Peek, Poke, Slice, Put, AddSlice, Reshape, Dot, Gather, ScatterAdd, Refill];
        let found = [ArgMax, ArgMin, ArgSort].into_iter().chain(plain).find(|o| o.name() == name);
        let axis = || match attributes {
            [axis] => axis.parse::<u8>().map_err(|_| format!("`{axis}` is not an axis")),
            _ => Err(format!("`{name}` needs one axis, as in `{name}[0]`")),
        };
        let letter = |text: &str| match text {
            "t" => Ok(Transposed::Yes),
            "n" => Ok(Transposed::No),
            _ => Err(format!("`{text}` is neither `t` (transposed) nor `n`")),
        };
        Ok(Some(match (found, name, attributes) {
            (Some(op), _, []) => op,
            (Some(_), _, _) => return Err(format!("`{name}` takes nothing in brackets")),
            (_, "transpose", axes) => {
                let axes: Result<Vec<u8>, _> = axes.iter().map(|a| a.parse()).collect();
                Transpose(axes.map_err(|_| "the axes of `transpose` are numbers")?.into())
            }
            (_, "expand", _) => Expand(axis()?),
            (_, "sum", []) => Sum(None),
            (_, "sum", _) => Sum(Some(axis()?)),
            (_, "cumsum", _) => CumSum(axis()?, Direction::Forward),
            (_, "cumsum_back", _) => CumSum(axis()?, Direction::Backward),
            (_, "conform", attributes) => match attributes {
                [name] if Check::from_name(name).is_some() => {
                    return Ok(Check::from_name(name).map(Conform));
                }
                _ => return Err("`conform` needs an operation, as in `conform[add]`".into()),
            },
            (_, "gemm", []) => Gemm(Transposed::No, Transposed::No),
            (_, "gemm", [a, b]) => Gemm(letter(a)?, letter(b)?),
            (_, "gemm", _) => {
                return Err("`gemm` takes two letters in brackets, as in `gemm[t,n]`".into());
            }
            _ => return Ok(None),
        }))
    }
}
