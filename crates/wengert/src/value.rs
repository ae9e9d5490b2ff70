//! Values that go into and come out of functions.

use std::fmt;
use wengert_core::interp::Val;
use wengert_core::ir::Type;
use wengert_core::ops::{Elem, Scalar};

/// A number, a truth value or an array.
///
/// ```
/// use wengert::Value;
///
/// assert_eq!(Value::from(2.5), Value::Float(2.5));
/// assert_eq!(Value::from(3), Value::Int(3));
/// assert_eq!(Value::from([1.0, 2.0]), Value::Array(vec![1.0, 2.0]));
/// assert_eq!(Value::from([1.0, 2.0]).to_string(), "[1.0, 2.0]");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A float.
    Float(f64),
    /// An integer. It becomes a float unless the program uses it as an index or a bound.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A one-dimensional array of floats.
    Array(Vec<f64>),
}

impl Value {
    /// The number, where this is a float or an integer.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Float(x) => Some(*x),
            Value::Int(n) => Some(*n as f64),
            Value::Bool(_) | Value::Array(_) => None,
        }
    }

    /// The elements, where this is an array.
    pub fn as_slice(&self) -> Option<&[f64]> {
        match self {
            Value::Array(x) => Some(x),
            _ => None,
        }
    }

    /// What kind of value it is, in words: "a float".
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Float(_) => "a float",
            Value::Int(_) => "an integer",
            Value::Bool(_) => "a bool",
            Value::Array(_) => "an array",
        }
    }

    pub(crate) fn ty(&self) -> Type {
        match self {
            Value::Float(_) => Type::F64,
            Value::Int(_) => Type::I64,
            Value::Bool(_) => Type::Bool,
            Value::Array(_) => Type::VECTOR,
        }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        match self {
            Value::Array(x) => x.len(),
            _ => 1,
        }
    }

    /// Sets one of its numbers.
    pub(crate) fn set(&mut self, component: usize, x: f64) {
        match self {
            Value::Array(a) => a[component] = x,
            other => *other = Value::Float(x),
        }
    }

    /// The same number everywhere, in the same shape.
    pub(crate) fn filled(&self, x: f64) -> Value {
        match self {
            Value::Array(a) => Value::Array(vec![x; a.len()]),
            _ => Value::Float(x),
        }
    }

    pub(crate) fn to_val(&self) -> Val {
        match self {
            Value::Float(x) => Val::f64(*x),
            Value::Int(n) => Val::i64(*n),
            Value::Bool(b) => Val::Scalar(Scalar::Bool(*b)),
            Value::Array(x) => Val::array(x.clone()),
        }
    }

    /// Nothing for a tape, which no caller sees.
    ///
    /// # Panics
    /// For what the language has no values of: single precision, and arrays that are not vectors of doubles.
    /// No function it lowers has such a result.
    pub(crate) fn from_val(val: Val) -> Option<Value> {
        match val {
            Val::Scalar(Scalar::F64(x)) => Some(Value::Float(x)),
            Val::Scalar(Scalar::I64(n)) => Some(Value::Int(n)),
            Val::Scalar(Scalar::Bool(b)) => Some(Value::Bool(b)),
            Val::Array(x) if x.shape.len() == 1 && x.elem() == Elem::F64 => {
                Some(Value::Array(x.floats()))
            }
            Val::Tape(_) => None,
            other => unreachable!("the language has no values of type {}", other.ty()),
        }
    }
}

/// Floats print with the fewest digits that read back as the same float.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Array(x) => write!(f, "{x:?}"),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Float(x)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Int(n)
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Value {
        Value::Int(n.into())
    }
}

impl From<u32> for Value {
    fn from(n: u32) -> Value {
        Value::Int(n.into())
    }
}

impl From<Vec<f64>> for Value {
    fn from(x: Vec<f64>) -> Value {
        Value::Array(x)
    }
}

impl From<&[f64]> for Value {
    fn from(x: &[f64]) -> Value {
        Value::Array(x.to_vec())
    }
}

impl From<&Vec<f64>> for Value {
    fn from(x: &Vec<f64>) -> Value {
        Value::Array(x.clone())
    }
}

impl<const N: usize> From<[f64; N]> for Value {
    fn from(x: [f64; N]) -> Value {
        Value::Array(x.to_vec())
    }
}
