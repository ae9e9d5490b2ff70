//! What compiled functions do with arrays: batches take them apart and put them together, arguments become what
//! programs expect.

use crate::array::{Array, MAX_RANK};
use crate::value::Value;
use wengert_core::interp::Val;
use wengert_core::ops::{Array as Inner, Data, Elem};

impl Array {
    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn of(inner: Inner) -> Array {
        Array(inner)
    }

    /// What lies at a place along the first axis: a number, or an array with an axis less.
    pub(crate) fn member(&self, k: usize) -> Value {
        let rest = &self.0.shape[1..];
        let size: usize = rest.iter().product();
        let range = k * size..(k + 1) * size;
        let scalar = rest.is_empty();
        let data = match &self.0.data {
            Data::F64(x) if scalar => return Value::Float(x[k]),
            Data::F32(x) if scalar => return Value::Single(x[k]),
            Data::I64(x) if scalar => return Value::Int(x[k]),
            Data::Bool(x) if scalar => return Value::Bool(x[k]),
            Data::F64(x) => Data::F64(x[range].to_vec()),
            Data::F32(x) => Data::F32(x[range].to_vec()),
            Data::I64(x) => Data::I64(x[range].to_vec()),
            Data::Bool(x) => Data::Bool(x[range].to_vec()),
        };
        Value::Array(Array(Inner { shape: rest.to_vec(), data }))
    }

    /// Values of one kind and shape along a new first axis; `None` where that is one axis too many.
    pub(crate) fn stacked<'a>(values: impl ExactSizeIterator<Item = &'a Value>) -> Option<Array> {
        let (mut shape, mut data) = (vec![values.len()], None);
        for value in values {
            let val = value.to_val();
            let one = match &val {
                Val::Array(x) => Inner::clone(x),
                Val::Scalar(s) => Inner::filled(vec![1], *s)?,
                Val::Tape(_) => return None,
            };
            match (&mut data, one.data) {
                (None, first) => {
                    shape.extend(value.shape());
                    data = Some(first);
                }
                (Some(Data::F64(all)), Data::F64(x)) => all.extend(x),
                (Some(Data::F32(all)), Data::F32(x)) => all.extend(x),
                (Some(Data::I64(all)), Data::I64(x)) => all.extend(x),
                (Some(Data::Bool(all)), Data::Bool(x)) => all.extend(x),
                _ => return None,
            }
        }
        let data = data.filter(|_| shape.len() <= MAX_RANK)?;
        Some(Array(Inner { shape, data }))
    }

    /// Puts the members of an array of the same kind behind its own, along the first axis.
    pub(crate) fn append(&mut self, other: Array) {
        match (&mut self.0.data, other.0.data) {
            (Data::F64(all), Data::F64(x)) => all.extend(x),
            (Data::F32(all), Data::F32(x)) => all.extend(x),
            (Data::I64(all), Data::I64(x)) => all.extend(x),
            (Data::Bool(all), Data::Bool(x)) => all.extend(x),
            _ => return,
        }
        self.0.shape[0] += other.0.shape[0];
    }

    /// Adds the floats of an array of the same kind and shape.
    pub(crate) fn add(&mut self, other: &Array) {
        match (&mut self.0.data, &other.0.data) {
            (Data::F64(x), Data::F64(y)) => x.iter_mut().zip(y).for_each(|(x, y)| *x += y),
            (Data::F32(x), Data::F32(y)) => x.iter_mut().zip(y).for_each(|(x, y)| *x += y),
            _ => {}
        }
    }

    /// Sets a float in row-major order.
    pub(crate) fn set(&mut self, k: usize, x: f64) {
        match &mut self.0.data {
            Data::F64(data) => data[k] = x,
            Data::F32(data) => data[k] = x as f32,
            Data::I64(_) | Data::Bool(_) => {}
        }
    }

    /// The same elements as elements of another kind, where every one of them is one of that kind too
    /// (integers become the nearest float).
    pub(crate) fn as_elem(&self, elem: Elem) -> Option<Array> {
        let data = match (&self.0.data, elem) {
            (data, elem) if self.0.elem() == elem => data.clone(),
            (Data::I64(x), Elem::F64) => Data::F64(x.iter().map(|n| *n as f64).collect()),
            (Data::I64(x), Elem::F32) => Data::F32(x.iter().map(|n| *n as f32).collect()),
            (Data::F64(x), Elem::F32) => Data::F32(x.iter().map(|x| *x as f32).collect()),
            (Data::F32(x), Elem::F64) => Data::F64(x.iter().map(|x| f64::from(*x)).collect()),
            (Data::F64(x), Elem::I64) => {
                Data::I64(x.iter().map(|x| whole(*x)).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Array(Inner { shape: self.0.shape.clone(), data }))
    }
}

/// The integer a float is.
fn whole(x: f64) -> Option<i64> {
    (x.trunc() == x && x.abs() <= 2f64.powi(53)).then_some(x as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_another_kind() {
        let ints = Array::from([1, 2]);
        assert_eq!(ints.as_elem(Elem::F64), Some(Array::from([1.0, 2.0])));
        assert_eq!(Array::from([1.0, 2.0]).as_elem(Elem::I64), Some(ints));
        assert_eq!(Array::from([1.5]).as_elem(Elem::I64), None);
        assert_eq!(Array::from([true]).as_elem(Elem::F64), None);
    }
}
