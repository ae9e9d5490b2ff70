//! Calls of a function, or of its value and gradient.
//!
//! What happens millions of times: names around the function are looked at, arguments are borrowed, the program for them is found and
//! run. The package's own functions are subclasses; what is not needed each time is theirs.

use crate::errors::raised;
use crate::options::RunOptions;
use crate::program::{Program, Wanted};
use crate::values::{results, to_python};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Mutex;
use wengert::{Borrowed, Value};

/// How derivatives are handed over.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// The one there is.
    Single,
    /// In the order asked for.
    Tuple,
    /// By name.
    Dict,
}

/// Calls a function that its method `_program` gives, when there is none yet or what is around it has changed.
#[pyclass(frozen, subclass, module = "wengert._wengert")]
pub(crate) struct Caller {
    wanted: Wanted,
    form: Form,
    with_value: bool,
    options: Py<RunOptions>,
    program: Mutex<Option<Py<Program>>>,
}

#[pymethods]
impl Caller {
    /// Of a function, or (with `form`) of its derivatives by `wrt`.
    #[new]
    #[pyo3(signature = (options, form=None, wrt=None, with_value=false))]
    fn new(
        options: Py<RunOptions>,
        form: Option<&str>,
        wrt: Option<Vec<String>>,
        with_value: bool,
    ) -> Caller {
        let wanted = match form {
            None => Wanted::Value,
            Some(_) => Wanted::Gradient(wrt),
        };
        let form = match form {
            Some("dict") => Form::Dict,
            Some("tuple") => Form::Tuple,
            _ => Form::Single,
        };
        Caller { wanted, form, with_value, options, program: Mutex::new(None) }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let program = this.current(slf)?;
        let program = program.get();
        let args = program.arguments(py, args, kwargs)?;
        let given = match program.given(py, &args) {
            Ok(given) => given,
            Err(refused) if is_tree(&refused, py)? => {
                let args = PyTuple::new(py, args)?;
                return slf.call_method1(pyo3::intern!(py, "_with_trees"), (args,));
            }
            Err(refused) => return Err(refused),
        };
        let borrowed: Vec<Borrowed<'_>> = given.iter().map(|g| g.borrowed()).collect();
        let run_options = this.options.get();
        let ran = py.detach(|| {
            let (options, _listening) = run_options.here();
            let found = program.specialised(&this.wanted, &borrowed, options)?;
            let (values, _) = found.run(&borrowed, options)?;
            Ok((found, values))
        });
        let (found, mut values) = ran.map_err(|e: wengert::Error| raised(py, &e))?;
        if this.wanted == Wanted::Value {
            return results(py, values);
        }
        let partials = values.split_off(1);
        let names: Vec<&str> = match this.form {
            Form::Dict => found.by().iter().map(|k| program.name_of(*k)).collect(),
            Form::Single | Form::Tuple => Vec::new(),
        };
        let partials = this.shaped(py, partials, &names)?;
        match this.with_value {
            true => {
                let value = to_python(py, values.remove(0))?;
                Ok(PyTuple::new(py, [value, partials])?.into_any())
            }
            false => Ok(partials),
        }
    }

    /// The program as it is now.
    fn program<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Program>> {
        slf.get().current(slf)
    }

    /// How it is run.
    #[getter]
    fn run_options(&self, py: Python<'_>) -> Py<RunOptions> {
        self.options.clone_ref(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.program.try_lock() {
            Ok(program) => program.iter().try_for_each(|program| visit.call(program)),
            Err(_) => Ok(()),
        }
    }
}

/// Whether an argument was refused because it is made of parts, which the package knows how to pass.
fn is_tree(refused: &PyErr, py: Python<'_>) -> PyResult<bool> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(refused.is_instance(py, CLASS.import(py, "wengert._values", "IsTree")?))
}

impl Caller {
    /// The program that was called last, or where something around it has changed since, another.
    fn current<'py>(&self, slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Program>> {
        let py = slf.py();
        let last = {
            let last = self.program.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            last.as_ref().map(|program| program.bind(py).clone())
        };
        if let Some(program) = last.filter(|program| program.get().is_current(py)) {
            return Ok(program);
        }
        let program = slf.call_method0(pyo3::intern!(py, "_program"))?;
        let program = program.cast_into::<Program>()?;
        let mut last = self.program.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let before = last.replace(program.clone().unbind());
        drop(last);
        // What it held may run code of its own when it goes.
        drop(before);
        Ok(program)
    }

    /// Derivatives as they were asked for.
    fn shaped<'py>(
        &self,
        py: Python<'py>,
        mut partials: Vec<Value>,
        names: &[&str],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.form {
            Form::Single if partials.len() == 1 => to_python(py, partials.remove(0)),
            Form::Dict => {
                let out = PyDict::new(py);
                for (name, partial) in names.iter().zip(partials) {
                    out.set_item(name, to_python(py, partial)?)?;
                }
                Ok(out.into_any())
            }
            Form::Single | Form::Tuple => {
                let all = partials.into_iter().map(|x| to_python(py, x));
                Ok(PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
        }
    }
}
