//! Conversion from and to the arrays of crate `ndarray`.

use crate::array::{Array, Element, ShapeError};
use crate::value::Value;
use ndarray::{ArrayD, Dimension, IxDyn};

/// Of any number of dimensions from 1 to 8, which only shows when it runs.
impl<T: Element> TryFrom<ArrayD<T>> for Array {
    type Error = ShapeError;

    fn try_from(x: ArrayD<T>) -> Result<Array, ShapeError> {
        Array::new(x.shape().to_vec(), row_major(x))
    }
}

impl<T: Element> TryFrom<ArrayD<T>> for Value {
    type Error = ShapeError;

    fn try_from(x: ArrayD<T>) -> Result<Value, ShapeError> {
        Array::try_from(x).map(Value::Array)
    }
}

macro_rules! known_rank {
    ($($array:ident)+) => {
        $(
            impl<T: Element> From<ndarray::$array<T>> for Array {
                fn from(x: ndarray::$array<T>) -> Array {
                    let shape = x.shape().to_vec();
                    Array::new(shape, row_major(x))
                        .unwrap_or_else(|e| unreachable!("its shape fits its elements: {e}"))
                }
            }

            impl<T: Element> From<ndarray::$array<T>> for Value {
                fn from(x: ndarray::$array<T>) -> Value {
                    Value::Array(x.into())
                }
            }
        )+
    };
}

known_rank! {
    Array1
    Array2
    Array3
}

fn row_major<T: Element, D: Dimension>(x: ndarray::Array<T, D>) -> Vec<T> {
    if !x.is_standard_layout() {
        return x.iter().copied().collect();
    }
    // One that is in order already gives its storage away.
    let n = x.len();
    let (mut elements, offset) = x.into_raw_vec_and_offset();
    elements.drain(..offset.unwrap_or(0));
    elements.truncate(n);
    elements
}

/// An array of doubles; the array again where it holds something else.
impl TryFrom<Array> for ArrayD<f64> {
    type Error = Array;

    fn try_from(x: Array) -> Result<ArrayD<f64>, Array> {
        let (shape, elements) = x.into_f64()?;
        Ok(ArrayD::from_shape_vec(IxDyn(&shape), elements)
            .unwrap_or_else(|e| unreachable!("its shape fits its elements: {e}")))
    }
}

/// An array of doubles, or a number as one without dimensions; the value again where it is neither.
impl TryFrom<Value> for ArrayD<f64> {
    type Error = Value;

    fn try_from(value: Value) -> Result<ArrayD<f64>, Value> {
        match value {
            Value::Array(x) => ArrayD::try_from(x).map_err(Value::Array),
            Value::Float(x) => Ok(ndarray::arr0(x).into_dyn()),
            other => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, arr2};

    #[test]
    fn there_and_back() {
        let matrix = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let value = Value::from(matrix.clone());
        assert_eq!(value, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].into());
        assert_eq!(ArrayD::try_from(value), Ok(matrix.clone().into_dyn()));
        // In the order of its axes, however it is stored.
        let turned = Value::from(matrix.clone().reversed_axes());
        assert_eq!(turned, [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]].into());
        let mut part = matrix;
        part.slice_axis_inplace(ndarray::Axis(0), ndarray::Slice::from(1..));
        assert_eq!(Value::from(part), [[4.0, 5.0, 6.0]].into());
        assert_eq!(Value::from(Array1::from(vec![1i64, 2])), [1, 2].into());
        assert!(Value::try_from(ndarray::arr0(1.0).into_dyn()).is_err());
        assert_eq!(ArrayD::try_from(Value::Float(2.0)), Ok(ndarray::arr0(2.0).into_dyn()));
    }
}
