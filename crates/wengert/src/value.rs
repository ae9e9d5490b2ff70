//! Values that go into and come out of functions.

use crate::array::{self, Array, Element, ShapeError};
use std::fmt;
use wengert_core::ops::Elem;

/// A number, a truth value or an array.
///
/// ```
/// use wengert::{Array, Value};
///
/// assert_eq!(Value::from(2.5), Value::Float(2.5));
/// assert_eq!(Value::from(3), Value::Int(3));
/// assert_eq!(Value::from([1.0, 2.0]), Value::Array(Array::from([1.0, 2.0])));
/// assert_eq!(Value::from([[1.0, 2.0], [3.0, 4.0]]).to_string(), "[[1.0, 2.0], [3.0, 4.0]]");
///
/// // Rows may turn out to differ in length.
/// assert!(Value::try_from(vec![vec![1.0, 2.0], vec![3.0]]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A float.
    Float(f64),
    /// A single-precision float.
    Single(f32),
    /// An integer. It becomes a float unless the program uses it as an index or a bound.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// An array.
    Array(Array),
}

impl Value {
    /// The number, where this is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Float(x) => Some(*x),
            Value::Single(x) => Some(f64::from(*x)),
            Value::Int(n) => Some(*n as f64),
            Value::Bool(_) | Value::Array(_) => None,
        }
    }

    /// The integer, where this is one.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Int(n) = self { Some(*n) } else { None }
    }

    /// The truth value, where this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(b) = self { Some(*b) } else { None }
    }

    /// The array, where this is one.
    pub fn as_array(&self) -> Option<&Array> {
        if let Value::Array(x) = self { Some(x) } else { None }
    }

    /// The elements in row-major order, where this is an array of doubles.
    pub fn as_slice(&self) -> Option<&[f64]> {
        self.as_array()?.as_f64()
    }

    /// Elements along each axis; none for a number.
    pub fn shape(&self) -> &[usize] {
        match self {
            Value::Array(x) => x.shape(),
            _ => &[],
        }
    }

    /// What kind of value it is, in words: "a float".
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Float(_) => "a float",
            Value::Single(_) => "a single-precision float",
            Value::Int(_) => "an integer",
            Value::Bool(_) => "a bool",
            Value::Array(x) => match x.elem() {
                Elem::F64 => "an array",
                Elem::F32 => "an array of single-precision floats",
                Elem::I64 => "an array of integers",
                Elem::Bool => "an array of bools",
            },
        }
    }

    /// As it prints, long arrays cut short.
    pub fn abridged(&self) -> String {
        match self {
            Value::Array(x) => x.abridged(),
            other => other.to_string(),
        }
    }
}

/// Floats print with the fewest digits that read back as the same float, arrays as nested lists.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Float(x) => array::float(f, *x, format_args!("{x:?}")),
            Value::Single(x) => array::float(f, f64::from(*x), format_args!("{x:?}")),
            Value::Int(n) => write!(f, "{n}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Array(x) => write!(f, "{x}"),
        }
    }
}

macro_rules! scalars {
    ($($ty:ty => $variant:ident)+) => {
        $(
            impl From<$ty> for Value {
                fn from(x: $ty) -> Value {
                    Value::$variant(x.into())
                }
            }
        )+
    };
}

scalars! {
    f64 => Float
    f32 => Single
    i64 => Int
    i32 => Int
    u32 => Int
    bool => Bool
}

macro_rules! arrays {
    ($([$($generics:tt)*] $ty:ty)+) => {
        $(
            impl<$($generics)*> From<$ty> for Value {
                fn from(x: $ty) -> Value {
                    Value::Array(x.into())
                }
            }
        )+
    };
}

arrays! {
    [] Array
    [T: Element] Vec<T>
    [T: Element] &Vec<T>
    [T: Element] &[T]
    [T: Element, const N: usize] [T; N]
    [T: Element, const N: usize, const M: usize] [[T; M]; N]
    [T: Element, const N: usize, const M: usize, const K: usize] [[[T; K]; M]; N]
}

macro_rules! checked {
    ($($ty:ty)+) => {
        $(
            impl<T: Element> TryFrom<$ty> for Value {
                type Error = ShapeError;

                fn try_from(x: $ty) -> Result<Value, ShapeError> {
                    Array::try_from(x).map(Value::Array)
                }
            }
        )+
    };
}

checked! {
    Vec<Vec<T>>
    Vec<Vec<Vec<T>>>
    (&[T], &[usize])
}
