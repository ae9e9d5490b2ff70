//! Arguments from Python, and results to it.
//!
//! Arrays of doubles, single-precision floats and integers that lie in order are read where they are; others are copied once. Results
//! are handed over, not copied.

use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{Element, PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt};
use wengert::{Borrowed, Value};

/// The most axes an array can have.
const MAX_RANK: usize = 8;

/// An argument as Python gave it.
pub(crate) enum Given<'py> {
    Float(f64),
    Int(i64),
    F64(Bound<'py, PyArrayDyn<f64>>),
    F32(Bound<'py, PyArrayDyn<f32>>),
    I64(Bound<'py, PyArrayDyn<i64>>),
    /// What there is a copy of.
    Own(Value),
}

impl<'py> Given<'py> {
    /// Of any object; what is no number and no array is an error that names the argument.
    pub(crate) fn new(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Given<'py>> {
        if let Some(given) = Given::at_once(value)? {
            return Ok(given);
        }
        let converted = argument(value.py())?.call1((value, name))?;
        match Given::at_once(&converted)? {
            Some(given) => Ok(given),
            None => {
                let single: f32 = converted.extract()?;
                Ok(Given::Own(Value::Single(single)))
            }
        }
    }

    /// Of what needs no conversion.
    fn at_once(value: &Bound<'py, PyAny>) -> PyResult<Option<Given<'py>>> {
        if let Ok(x) = value.cast::<PyFloat>() {
            return Ok(Some(Given::Float(x.value())));
        }
        if let Ok(x) = value.cast::<PyArrayDyn<f64>>() {
            return Ok(is_in_order(x).then(|| Given::F64(x.clone())));
        }
        if let Ok(b) = value.cast::<PyBool>() {
            return Ok(Some(Given::Own(Value::Bool(b.is_true()))));
        }
        if let Ok(n) = value.cast::<PyInt>() {
            return match n.extract::<i64>() {
                Ok(n) => Ok(Some(Given::Int(n))),
                // It is too large, and the conversion says so.
                Err(_) => Ok(None),
            };
        }
        if let Ok(x) = value.cast::<PyArrayDyn<f32>>() {
            return Ok(is_in_order(x).then(|| Given::F32(x.clone())));
        }
        if let Ok(x) = value.cast::<PyArrayDyn<i64>>() {
            return Ok(is_in_order(x).then(|| Given::I64(x.clone())));
        }
        if let Ok(x) = value.cast::<PyArrayDyn<bool>>() {
            let array = is_in_order(x).then(|| wengert::Array::new(x.shape(), truths(x)));
            return Ok(array.and_then(Result::ok).map(|array| Given::Own(Value::Array(array))));
        }
        Ok(None)
    }

    /// As programs take it.
    pub(crate) fn borrowed(&self) -> Borrowed<'_> {
        match self {
            Given::Float(x) => Borrowed::Float(*x),
            Given::Int(n) => Borrowed::Int(*n),
            Given::F64(x) => Borrowed::F64(x.shape(), elements(x)),
            Given::F32(x) => Borrowed::F32(x.shape(), elements(x)),
            Given::I64(x) => Borrowed::I64(x.shape(), elements(x)),
            Given::Own(value) => Borrowed::from(value),
        }
    }

    /// With elements of its own.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Given::Own(value) => value.clone(),
            other => other.borrowed().to_value(),
        }
    }
}

/// Whether the elements can be read as a slice: as many axes as programs have, row-major, without gaps, aligned; and an array of
/// NumPy's own, because others may mean something else, as masked ones do.
fn is_in_order<T: Element>(x: &Bound<'_, PyArrayDyn<T>>) -> bool {
    let is_aligned = (x.data() as usize).is_multiple_of(align_of::<T>());
    let is_plain = x.as_any().is_exact_instance_of::<PyUntypedArray>();
    (1..=MAX_RANK).contains(&x.ndim()) && x.is_c_contiguous() && is_aligned && is_plain
}

/// The elements of an array that is in order.
fn elements<'a, T: Element>(x: &'a Bound<'_, PyArrayDyn<T>>) -> &'a [T] {
    if x.len() == 0 {
        return &[];
    }
    // SAFETY: the elements lie in order and aligned, as `is_in_order` has found, and the array is held. As with every function of NumPy
    // that lets other threads run meanwhile, who writes into an array that is being read gets numbers from before or after.
    unsafe { std::slice::from_raw_parts(x.data(), x.len()) }
}

/// Truth values. Where they are a view of other bytes, these may be other than 0 and 1.
fn truths(x: &Bound<'_, PyArrayDyn<bool>>) -> Vec<bool> {
    if x.len() == 0 {
        return Vec::new();
    }
    // SAFETY: the bytes lie in order, as `is_in_order` has found, and the array is held.
    let bytes = unsafe { std::slice::from_raw_parts(x.data().cast::<u8>(), x.len()) };
    bytes.iter().map(|b| *b != 0).collect()
}

/// The function of the package that converts what is not taken as it is.
fn argument(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ARGUMENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    ARGUMENT.import(py, "wengert._values", "argument")
}

/// A result as Python has it: numbers, or arrays that are handed over.
pub(crate) fn to_python<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
    static SINGLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(match value {
        Value::Float(x) => PyFloat::new(py, x).into_any(),
        Value::Single(x) => SINGLE.import(py, "numpy", "float32")?.call1((x,))?,
        Value::Int(n) => n.into_pyobject(py)?.into_any(),
        Value::Bool(b) => PyBool::new(py, b).to_owned().into_any(),
        Value::Array(x) => {
            let x = match x.into_f64() {
                Ok((shape, x)) => return array(py, shape, x),
                Err(x) => x,
            };
            let x = match x.into_f32() {
                Ok((shape, x)) => return array(py, shape, x),
                Err(x) => x,
            };
            let x = match x.into_i64() {
                Ok((shape, x)) => return array(py, shape, x),
                Err(x) => x,
            };
            match x.into_bool() {
                Ok((shape, x)) => return array(py, shape, x),
                Err(x) => unreachable!("an array of one of four kinds: {x}"),
            }
        }
    })
}

fn array<T: Element>(py: Python<'_>, shape: Vec<usize>, x: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    let array = ArrayD::from_shape_vec(IxDyn(&shape), x);
    let array = array.map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
    Ok(PyArray::from_owned_array(py, array).into_any())
}

/// What a function returned, as Python has it: one value, several as a tuple, or `None`.
pub(crate) fn results<'py>(py: Python<'py>, mut values: Vec<Value>) -> PyResult<Bound<'py, PyAny>> {
    match values.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => to_python(py, values.remove(0)),
        _ => {
            let all = values.into_iter().map(|v| to_python(py, v)).collect::<PyResult<Vec<_>>>()?;
            Ok(pyo3::types::PyTuple::new(py, all)?.into_any())
        }
    }
}

/// Where the elements of an argument are that programs read: in the array itself, or in a copy. For tests.
#[pyfunction]
pub(crate) fn address(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    Ok(match Given::new(value, "x")?.borrowed() {
        Borrowed::F64(_, x) => Some(x.as_ptr() as usize),
        Borrowed::F32(_, x) => Some(x.as_ptr() as usize),
        Borrowed::I64(_, x) => Some(x.as_ptr() as usize),
        _ => None,
    })
}
