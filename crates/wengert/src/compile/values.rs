//! Values as compiled functions take and give them.

use crate::array::Array;
use crate::value::Value;
use std::rc::Rc;
use wengert_core::interp::Val;
use wengert_core::ir::Type;
use wengert_core::lower;
use wengert_core::ops::Scalar;
use wengert_runtime as runtime;

impl Value {
    /// Whether it can carry a derivative.
    pub(crate) fn is_float(&self) -> bool {
        self.ty().is_float()
    }

    pub(crate) fn ty(&self) -> Type {
        match self {
            Value::Float(_) => Type::F64,
            Value::Single(_) => Type::F32,
            Value::Int(_) => Type::I64,
            Value::Bool(_) => Type::Bool,
            Value::Array(x) => Type::of(x.elem(), x.rank()),
        }
    }

    /// What a function is specialised for.
    pub(crate) fn described(&self) -> lower::Arg {
        let shape = if let Value::Array(x) = self { x.shape() } else { &[] };
        let single = shape.iter().enumerate().filter(|(_, n)| **n == 1);
        lower::Arg { ty: self.ty(), units: single.fold(0, |bits, (axis, _)| bits | 1 << axis) }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        match self {
            Value::Array(x) => x.len(),
            _ => 1,
        }
    }

    /// Sets one of its floats.
    pub(crate) fn set(&mut self, component: usize, x: f64) {
        match self {
            Value::Array(a) => a.set(component, x),
            Value::Single(s) => *s = x as f32,
            other => *other = Value::Float(x),
        }
    }

    /// Adds the floats of a value of the same kind and shape.
    pub(crate) fn add(&mut self, other: &Value) {
        match (self, other) {
            (Value::Float(x), Value::Float(y)) => *x += y,
            (Value::Single(x), Value::Single(y)) => *x += y,
            (Value::Array(x), Value::Array(y)) => x.add(y),
            _ => {}
        }
    }

    /// Its floats, in order; none for what carries no derivative.
    pub(crate) fn floats(&self) -> Vec<f64> {
        match self {
            Value::Float(x) => vec![*x],
            Value::Single(x) => vec![f64::from(*x)],
            Value::Array(x) => x.inner().floats(),
            Value::Int(_) | Value::Bool(_) => Vec::new(),
        }
    }

    /// The same shape and kind with these floats.
    pub(crate) fn with_floats(&self, floats: impl IntoIterator<Item = f64>) -> Value {
        let mut floats = floats.into_iter();
        match self {
            Value::Array(x) => Value::Array(Array::of(x.inner().with_floats(floats))),
            Value::Single(_) => Value::Single(floats.next().unwrap_or(0.0) as f32),
            _ => Value::Float(floats.next().unwrap_or(0.0)),
        }
    }

    /// The same number everywhere, in the same shape.
    pub(crate) fn filled(&self, x: f64) -> Value {
        self.with_floats(std::iter::repeat_n(x, self.len()))
    }

    /// The value as one of that type, where that loses nothing: integers become floats, floats that are
    /// integers become integers.
    pub(crate) fn as_type(&self, ty: Type) -> Option<Value> {
        Some(match (self, ty) {
            (value, ty) if value.ty() == ty => value.clone(),
            (Value::Int(n), Type::F64) => Value::Float(*n as f64),
            (Value::Int(n), Type::F32) => Value::Single(*n as f32),
            (Value::Float(x), Type::F32) => Value::Single(*x as f32),
            (Value::Single(x), Type::F64) => Value::Float(f64::from(*x)),
            (Value::Array(x), Type::Array(elem, rank)) if x.rank() == rank as usize => {
                Value::Array(x.as_elem(elem)?)
            }
            _ => return None,
        })
    }

    pub(crate) fn to_val(&self) -> Val {
        match self {
            Value::Float(x) => Val::f64(*x),
            Value::Single(x) => Val::Scalar(Scalar::F32(*x)),
            Value::Int(n) => Val::i64(*n),
            Value::Bool(b) => Val::Scalar(Scalar::Bool(*b)),
            Value::Array(x) => Val::shaped(x.inner().clone()),
        }
    }

    /// Nothing for a tape, which no caller sees.
    pub(crate) fn from_val(val: Val) -> Option<Value> {
        Some(match val {
            Val::Scalar(Scalar::F64(x)) => Value::Float(x),
            Val::Scalar(Scalar::F32(x)) => Value::Single(x),
            Val::Scalar(Scalar::I64(n)) => Value::Int(n),
            Val::Scalar(Scalar::Bool(b)) => Value::Bool(b),
            Val::Array(x) => Value::Array(Array::of(Rc::unwrap_or_clone(x))),
            Val::Tape(_) => return None,
        })
    }

    /// As native code takes it, borrowed.
    pub(crate) fn to_arg(&self) -> runtime::Arg<'_> {
        match self {
            Value::Float(x) => runtime::Arg::F64(*x),
            Value::Single(x) => runtime::Arg::F32(*x),
            Value::Int(n) => runtime::Arg::I64(*n),
            Value::Bool(b) => runtime::Arg::Bool(*b),
            Value::Array(x) => runtime::Arg::Shaped(x.inner()),
        }
    }

    /// What native code gave: the same as what the interpreter would have given.
    pub(crate) fn from_out(out: runtime::Out) -> Value {
        Value::from_val(out.into()).unwrap_or_else(|| unreachable!("native code gives no tapes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Value> {
        vec![
            2.5.into(),
            0.1f32.into(),
            7.into(),
            true.into(),
            [1.0, 2.0].into(),
            [[1.0f32, 2.0], [3.0, 4.0]].into(),
            [[[1, 2, 3]]].into(),
            [true, false].into(),
            Value::try_from((&[0.0; 0][..], &[3, 0][..])).unwrap(),
        ]
    }

    #[test]
    fn both_backends_take_and_give_every_kind() {
        for value in samples() {
            assert_eq!(Value::from_val(value.to_val()), Some(value.clone()));
            let val = value.to_val();
            assert_eq!(val.ty(), value.ty());
            let arg = runtime::Arg::from_val(&val).unwrap();
            match (arg, value.to_arg()) {
                // A vector of doubles can be passed in two ways.
                (runtime::Arg::Array(a), runtime::Arg::Shaped(b)) => assert_eq!(a, b.f64s()),
                (a, b) => assert_eq!(a, b),
            }
        }
        assert_eq!(Value::from_val(Val::tape()), None);
    }

    #[test]
    fn native_code_takes_and_gives_every_kind() {
        use wengert_core::ir::parse;
        for value in samples() {
            let ty = value.ty();
            let body = if ty.is_array() { "%y = copy %x  return %y" } else { "return %x" };
            let text = format!("func @f(%x: {ty}) -> {ty} {{ {body} }}");
            let module = parse::module(&text).unwrap();
            let program = runtime::Program::compile(&module, &["f"]).unwrap();
            let options = runtime::Options::default();
            let (out, _) = program.call("f", &[value.to_arg()], &options).unwrap();
            let out: Vec<Value> = out.into_iter().map(Value::from_out).collect();
            assert_eq!(out, [value]);
        }
    }

    #[test]
    fn conversions_that_lose_nothing() {
        assert_eq!(Value::Int(2).as_type(Type::F64), Some(2.0.into()));
        assert_eq!(Value::Float(2.0).as_type(Type::I64), None);
        assert_eq!(Value::from([1, 2]).as_type(Type::VECTOR), Some([1.0, 2.0].into()));
        assert_eq!(Value::from([[1.0]]).as_type(Type::VECTOR), None);
        assert_eq!(Value::Bool(true).as_type(Type::F64), None);
    }
}
