//! What elements are: conversions, the kind two operands have in common, and the checks of ranks and axes.

use super::Made;
use crate::ir::{Builder, Elem, MAX_RANK, Type, Value};
use crate::ops::{Prim, Scalar};

/// A number or an array as elements of another kind. Truth values are 0 and 1; numbers other than 0 are true,
/// NaN too; floats are cut to whole numbers towards 0 (and to the ends of their range, NaN is 0).
pub fn convert(b: &mut Builder, x: Value, to: Elem) -> Made {
    elem(b, x).map(|_| converted(b, x, to)).ok_or_else(|| "only numbers have kinds".into())
}

/// The same, for what is known to be a number or an array.
pub(super) fn converted(b: &mut Builder, x: Value, to: Elem) -> Value {
    let from = elem(b, x).unwrap_or(to);
    match (from, to) {
        (from, to) if from == to => x,
        (Elem::Bool, to) => {
            let (yes, no) = (number(b, to, 1.0), number(b, to, 0.0));
            b.select(x, yes, no)
        }
        (Elem::I64, Elem::Bool) => {
            let zero = b.i64(0);
            b.prim(Prim::INe, &[x, zero])
        }
        (from, Elem::Bool) => {
            let zero = b.float(from, 0.0);
            b.prim(Prim::Ne, &[x, zero])
        }
        (Elem::I64, Elem::F64) => b.prim(Prim::IToF, &[x]),
        (Elem::I64, _) => {
            let wide = b.prim(Prim::IToF, &[x]);
            b.prim(Prim::Demote, &[wide])
        }
        (_, Elem::I64) => b.prim(Prim::FToI, &[x]),
        (_, Elem::F32) => b.prim(Prim::Demote, &[x]),
        (_, Elem::F64) => b.prim(Prim::Promote, &[x]),
    }
}

/// A constant of a kind; a truth value where it is not 0.
pub(super) fn number(b: &mut Builder, elem: Elem, x: f64) -> Value {
    b.constant(match elem {
        Elem::I64 => Scalar::I64(x as i64),
        Elem::Bool => Scalar::Bool(x != 0.0),
        elem => Scalar::float(elem, x),
    })
}

/// A constant of the kind of another value.
pub(super) fn like(b: &mut Builder, x: Value, c: f64) -> Value {
    let kind = kind(b, x);
    number(b, kind, c)
}

/// What a number is, or what an array holds; both have been checked to be either.
pub(super) fn kind(b: &Builder, x: Value) -> Elem {
    elem(b, x).unwrap_or(Elem::F64)
}

/// What a number is, or what an array holds.
pub(super) fn elem(b: &Builder, x: Value) -> Option<Elem> {
    b.ty(x).elem()
}

/// Whether it is a float or an array of floats.
pub(super) fn is_float(b: &Builder, x: Value) -> bool {
    b.ty(x).is_float()
}

/// Truth values as whole numbers, numbers as they are.
pub(super) fn numbers(b: &mut Builder, x: Value) -> Value {
    if elem(b, x) == Some(Elem::Bool) { converted(b, x, Elem::I64) } else { x }
}

/// Floats as they are, everything else as doubles.
pub(super) fn floats(b: &mut Builder, x: Value) -> Value {
    if is_float(b, x) { x } else { converted(b, x, Elem::F64) }
}

/// Operands as elements of the kind they have in common: of arrays (or of numbers alone) the widest, whole
/// numbers with single-precision floats being doubles; a number beside arrays matters only where it is a
/// float and they are not, or whole and they are truth values.
pub fn alike(b: &mut Builder, operands: &[Value]) -> Result<Vec<Value>, String> {
    let kinds: Option<Vec<Elem>> = operands.iter().map(|x| elem(b, *x)).collect();
    let kinds = kinds.ok_or("only numbers and arrays of them have a kind in common")?;
    let arrays = operands.iter().zip(&kinds).filter(|(x, _)| b.ty(**x).is_array());
    let arrays = arrays.map(|(_, elem)| *elem).reduce(wider);
    let common = kinds.iter().fold(arrays, |common, elem| match common {
        Some(common) if arrays.is_some() && class(*elem) <= class(common) => Some(common),
        Some(common) => Some(wider(common, *elem)),
        None => Some(*elem),
    });
    let common = common.unwrap_or(Elem::F64);
    Ok(operands.iter().map(|x| converted(b, *x, common)).collect())
}

/// Two of those.
pub(super) fn alike_two(b: &mut Builder, x: Value, y: Value) -> Result<(Value, Value), String> {
    let both = alike(b, &[x, y])?;
    Ok((both[0], both[1]))
}

fn class(elem: Elem) -> u8 {
    match elem {
        Elem::Bool => 0,
        Elem::I64 => 1,
        Elem::F32 | Elem::F64 => 2,
    }
}

fn wider(a: Elem, b: Elem) -> Elem {
    match (a, b) {
        (a, b) if a == b => a,
        (Elem::Bool, other) | (other, Elem::Bool) => other,
        _ => Elem::F64,
    }
}

/// The rank of an array; a number or anything else is not one.
pub(super) fn rank(b: &Builder, name: &str, x: Value) -> Result<usize, String> {
    match b.ty(x) {
        Type::Array(_, rank) => Ok(rank as usize),
        ty => Err(format!("`{name}` takes an array, but is given {}", described(ty))),
    }
}

/// The rank of an array that has the axis.
pub(super) fn axis(
    b: &Builder,
    name: &str,
    x: Value,
    axis: Option<usize>,
) -> Result<usize, String> {
    let rank = rank(b, name, x)?;
    match axis {
        Some(axis) if axis >= rank => {
            let has = match rank {
                1 => "a vector, which has only axis 0".into(),
                rank => format!("an array with {rank} axes, counted from 0 to {}", rank - 1),
            };
            Err(format!("`{name}` along axis {axis} of {has}"))
        }
        _ => Ok(rank),
    }
}

/// A vector.
pub(super) fn vector(b: &Builder, name: &str, what: &str, x: Value) -> Result<(), String> {
    match b.ty(x) {
        Type::Array(_, 1) => Ok(()),
        ty => Err(format!("`{name}`: {what} must be a vector, but is {}", described(ty))),
    }
}

/// A number that is whole.
pub(super) fn whole(b: &Builder, name: &str, what: &str, x: Value) -> Result<(), String> {
    match b.ty(x) {
        Type::I64 => Ok(()),
        ty => Err(format!("`{name}`: {what} must be a whole number, but is {}", described(ty))),
    }
}

/// One axis more is no more than there can be.
pub(super) fn room(name: &str, rank: usize) -> Result<(), String> {
    match rank > MAX_RANK {
        true => Err(format!("`{name}` would make an array with more than {MAX_RANK} axes")),
        false => Ok(()),
    }
}

/// A type in words.
pub(super) fn described(ty: Type) -> String {
    let (one, many) = match ty.elem() {
        Some(Elem::F64 | Elem::F32) => ("a float", "floats"),
        Some(Elem::I64) => ("a whole number", "whole numbers"),
        Some(Elem::Bool) => ("a truth value", "truth values"),
        None => ("a tape", "tapes"),
    };
    match ty.rank() {
        0 => one.into(),
        1 => format!("a vector of {many}"),
        2 => format!("a matrix of {many}"),
        rank => format!("an array of {many} with {rank} axes"),
    }
}
