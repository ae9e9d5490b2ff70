//! Arguments that are read where they lie.

use crate::array::Array;
use crate::value::Value;
use wengert_core::ir::Type;
use wengert_core::lower;
use wengert_core::ops::shaped::Elements;
use wengert_core::ops::{Array as Inner, Elem};
use wengert_runtime as runtime;

/// A value whose elements, if it is an array, are borrowed: a shape, and as many elements in row-major order.
///
/// ```
/// use wengert::{Borrowed, Value};
///
/// let value = Value::from([[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(Borrowed::from(&value).to_value(), value);
/// assert_eq!(Borrowed::F64(&[2], &[5.0, 6.0]).to_value(), [5.0, 6.0].into());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Borrowed<'a> {
    /// A float.
    Float(f64),
    /// A single-precision float.
    Single(f32),
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// An array of doubles.
    F64(&'a [usize], &'a [f64]),
    /// An array of single-precision floats.
    F32(&'a [usize], &'a [f32]),
    /// An array of integers.
    I64(&'a [usize], &'a [i64]),
    /// An array of truth values.
    Bools(&'a [usize], &'a [bool]),
}

impl<'a> From<&'a Value> for Borrowed<'a> {
    fn from(value: &'a Value) -> Borrowed<'a> {
        match value {
            Value::Float(x) => Borrowed::Float(*x),
            Value::Single(x) => Borrowed::Single(*x),
            Value::Int(n) => Borrowed::Int(*n),
            Value::Bool(b) => Borrowed::Bool(*b),
            Value::Array(x) => match x.inner().elements() {
                Elements::F64(data) => Borrowed::F64(x.shape(), data),
                Elements::F32(data) => Borrowed::F32(x.shape(), data),
                Elements::I64(data) => Borrowed::I64(x.shape(), data),
                Elements::Bool(data) => Borrowed::Bools(x.shape(), data),
            },
        }
    }
}

impl<'a> Borrowed<'a> {
    /// A value with elements of its own.
    ///
    /// # Panics
    ///
    /// Where a shape does not have as many elements as there are.
    pub fn to_value(&self) -> Value {
        match self.to_arg() {
            runtime::Arg::Apart(shape, data) => {
                let array = Inner { shape: shape.to_vec(), data: data.to_data() };
                assert_eq!(shape.iter().product::<usize>(), array.len(), "as the shape says");
                Value::Array(Array::of(array))
            }
            runtime::Arg::F64(x) => Value::Float(x),
            runtime::Arg::F32(x) => Value::Single(x),
            runtime::Arg::I64(n) => Value::Int(n),
            runtime::Arg::Bool(b) => Value::Bool(b),
            runtime::Arg::Array(x) => Value::from(x),
            runtime::Arg::Shaped(x) => Value::Array(Array::of(x.clone())),
        }
    }

    /// Elements along each axis; none for a number.
    pub fn shape(&self) -> &'a [usize] {
        match self {
            Borrowed::F64(shape, _)
            | Borrowed::F32(shape, _)
            | Borrowed::I64(shape, _)
            | Borrowed::Bools(shape, _) => shape,
            _ => &[],
        }
    }

    pub(crate) fn ty(&self) -> Type {
        match self {
            Borrowed::Float(_) => Type::F64,
            Borrowed::Single(_) => Type::F32,
            Borrowed::Int(_) => Type::I64,
            Borrowed::Bool(_) => Type::Bool,
            Borrowed::F64(shape, _) => Type::of(Elem::F64, shape.len()),
            Borrowed::F32(shape, _) => Type::of(Elem::F32, shape.len()),
            Borrowed::I64(shape, _) => Type::of(Elem::I64, shape.len()),
            Borrowed::Bools(shape, _) => Type::of(Elem::Bool, shape.len()),
        }
    }

    /// What a function is specialised for.
    pub(crate) fn described(&self) -> lower::Arg {
        let single = self.shape().iter().enumerate().filter(|(_, n)| **n == 1);
        lower::Arg { ty: self.ty(), units: single.fold(0, |bits, (axis, _)| bits | 1 << axis) }
    }

    /// As programs take it.
    pub(crate) fn to_arg(self) -> runtime::Arg<'a> {
        match self {
            Borrowed::Float(x) => runtime::Arg::F64(x),
            Borrowed::Single(x) => runtime::Arg::F32(x),
            Borrowed::Int(n) => runtime::Arg::I64(n),
            Borrowed::Bool(b) => runtime::Arg::Bool(b),
            Borrowed::F64(shape, x) => runtime::Arg::Apart(shape, Elements::F64(x)),
            Borrowed::F32(shape, x) => runtime::Arg::Apart(shape, Elements::F32(x)),
            Borrowed::I64(shape, x) => runtime::Arg::Apart(shape, Elements::I64(x)),
            Borrowed::Bools(shape, x) => runtime::Arg::Apart(shape, Elements::Bool(x)),
        }
    }
}
