//! Derivatives other than gradients, and what there is to know about a function: methods of [`Program`] that take one argument for each
//! parameter, as a tuple, and give plain data, which the package shapes.

use crate::options::RunOptions;
use crate::program::{Program, detached};
use crate::values::to_python;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use wengert::{Arg, Args, Borrowed, Doctor, Stage, Value, Wrt};

type Named = Vec<(String, Value)>;

#[pymethods]
impl Program {
    /// Values, and the tangents of the float ones: along one direction, given for parameters by name.
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        tangents: &Bound<'py, PyDict>,
        options: &RunOptions,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let (args, tangents) = (self.args(py, args)?, named(tangents)?);
        let ran = detached(py, options, |o| self.run_as(o).jvp(args, tangents))?;
        Ok((list(py, ran.values)?, list(py, ran.tangents)?))
    }

    /// Values, and the adjoints of parameters for those of the float results.
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        adjoints: Vec<Bound<'py, PyAny>>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let args = self.args(py, args)?;
        let adjoints = adjoints.iter().map(|x| Ok(Arg { name: None, value: value(x, "adjoint")? }));
        let adjoints = Args(adjoints.collect::<PyResult<_>>()?);
        let ran = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            self.run_as(o).vjp(args, adjoints, by)
        })?;
        Ok((list(py, ran.values)?, dict(py, ran.adjoints)?))
    }

    /// Values, and for each float result (by its number) and parameter the derivative.
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<Vec<String>>,
        mode: Option<&str>,
        options: &RunOptions,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let args = self.args(py, args)?;
        let mode = match mode {
            None => None,
            Some("forward") => Some(wengert::Mode::Forward),
            Some("reverse") => Some(wengert::Mode::Reverse),
            Some(other) => {
                let told = format!("mode={other:?}: it is one of 'reverse' and 'forward'");
                return Err(PyValueError::new_err(told));
            }
        };
        let ran = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            match mode {
                Some(mode) => self.run_as(o).jacobian_in(mode, args, by),
                None => self.run_as(o).jacobian(args, by),
            }
        })?;
        let blocks = PyList::empty(py);
        for block in ran.blocks {
            blocks.append((block.result, block.parameter, to_python(py, block.derivative)?))?;
        }
        Ok((list(py, ran.values)?, blocks))
    }

    /// The value, the gradient, and for each pair of parameters the second derivative.
    fn hessian<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<(f64, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let args = self.args(py, args)?;
        let ran = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            self.run_as(o).hessian(args, by)
        })?;
        let blocks = PyDict::new(py);
        for (names, block) in ran.blocks {
            blocks.set_item(names, to_python(py, block)?)?;
        }
        Ok((ran.value, dict(py, ran.grad)?, blocks))
    }

    /// The value, the gradient, and the Hessian times a direction, given for parameters by name.
    fn hvp<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        direction: &Bound<'py, PyDict>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<(f64, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (args, direction) = (self.args(py, args)?, named(direction)?);
        let ran = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            self.run_as(o).hvp(args, direction, by)
        })?;
        Ok((ran.value, dict(py, ran.grad)?, dict(py, ran.product)?))
    }

    /// A Jacobian, or with `is_hessian` a Hessian, in compressed rows: values, shape, row starts, columns, entries, runs taken.
    fn sparse<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<Vec<String>>,
        is_hessian: bool,
        options: &RunOptions,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let args = self.args(py, args)?;
        let ran = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            match is_hessian {
                true => self.run_as(o).sparse_hessian(args, by),
                false => self.run_as(o).sparse_jacobian(args, by),
            }
        })?;
        let matrix = ran.matrix;
        let whole =
            |x: &[usize]| PyArray1::from_vec(py, x.iter().map(|n| *n as i64).collect::<Vec<_>>());
        let parts = (
            list(py, ran.values)?,
            matrix.shape(),
            whole(matrix.row_starts()),
            whole(matrix.cols()),
            PyArray1::from_slice(py, matrix.values()),
            ran.runs,
        );
        parts.into_pyobject(py)
    }

    /// Values for many members, along a first axis of the results.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        over: Vec<String>,
        options: &RunOptions,
    ) -> PyResult<Bound<'py, PyList>> {
        let args = self.args(py, args)?;
        let ran = detached(py, options, |o| self.run_as(o).batch(over).call(args))?;
        list(py, ran.values)
    }

    /// Values and derivatives for many members.
    fn batch_gradient<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        over: Vec<String>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
        let args = self.args(py, args)?;
        let ran = detached(py, options, |o| {
            let by = match wrt {
                Some(names) => Wrt::Names(names),
                None => {
                    let first = Args(
                        args.0
                            .iter()
                            .zip(self.function().parameters())
                            .map(|(arg, name)| {
                                let is_own = over.iter().any(|own| own == name);
                                Arg {
                                    name: None,
                                    value: if is_own {
                                        first(&arg.value)
                                    } else {
                                        arg.value.clone()
                                    },
                                }
                            })
                            .collect(),
                    );
                    self.by_of(&first, None)?
                }
            };
            self.run_as(o).batch(over).value_and_grad(args, by)
        })?;
        Ok((to_python(py, ran.values.into())?, dict(py, ran.grad)?))
    }

    /// What the loops of a gradient would take in limited memory.
    fn plan<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<Bound<'py, PyList>> {
        let args = self.args(py, args)?;
        let loops = detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            self.run_as(o).plan(args, by)
        })?;
        let out = PyList::empty(py);
        for of in loops {
            let one = PyDict::new(py);
            one.set_item("line", of.line)?;
            one.set_item("steps", of.steps)?;
            one.set_item("state_bytes", of.measured.map(|m| m.state_bytes))?;
            one.set_item("record_bytes", of.measured.map(|m| m.record_bytes))?;
            one.set_item("everything", of.everything())?;
            let limit = options.options.memory;
            let sizes = of.everything().into_iter().chain(limit).chain(
                of.everything().into_iter().flat_map(|all| [all / 10, all / 100, all / 1000]),
            );
            let forecasts = PyList::empty(py);
            for memory in sizes {
                if let Some(forecast) = of.forecast(memory) {
                    let row = PyDict::new(py);
                    row.set_item("memory", memory)?;
                    row.set_item("evaluations", forecast.evaluations)?;
                    row.set_item("bytes", forecast.peak_bytes)?;
                    row.set_item("seconds", forecast.time as f64 * 1e-9)?;
                    forecasts.append(row)?;
                }
            }
            one.set_item("forecasts", forecasts)?;
            out.append(one)?;
        }
        Ok(out)
    }

    /// Whether derivatives agree along so many directions, and what there is to say.
    fn check(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        wrt: Option<Vec<String>>,
        directions: usize,
        order: usize,
        options: &RunOptions,
    ) -> PyResult<(bool, String)> {
        let args = self.args(py, args)?;
        detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            let function = self.run_as(o);
            let report = function.check(args.clone(), by.clone(), directions)?;
            let found = function.inspect(args.clone(), by)?;
            let (mut passes, mut text) = (report.passes(), report.to_string());
            if order > 1 {
                let higher = function.check_grads(args, order)?;
                passes &= higher.passes();
                text = format!("{text}\n{higher}");
            }
            if !found.findings.is_empty() {
                text = format!("{text}\n\n{}", found.render());
            }
            Ok((passes && found.passes(), text))
        })
    }

    /// The program at a stage of the compiler.
    fn show(
        &self,
        py: Python<'_>,
        stage: &str,
        args: &Bound<'_, PyTuple>,
        wrt: Option<Vec<String>>,
        options: &RunOptions,
    ) -> PyResult<String> {
        let Some(stage) = Stage::named(stage) else {
            let known: Vec<&str> = Stage::all().iter().map(|(name, _)| *name).collect();
            let told = format!("there is no stage {stage:?}; there are {}", known.join(", "));
            return Err(PyValueError::new_err(told));
        };
        let args = self.args(py, args)?;
        detached(py, options, |o| {
            let by = self.by_of(&args, wrt.as_deref())?;
            self.run_as(o).show(stage, args, by)
        })
    }

    /// The parameters that there are derivatives by for these arguments.
    fn floats(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<String>> {
        let args = self.args(py, args)?;
        let by = self.by_of(&args, None).map_err(|e| crate::errors::raised(py, &e))?;
        Ok(match by {
            Wrt::Names(names) => names,
            Wrt::All => Vec::new(),
        })
    }

    /// The types of what it returns for such arguments, in the words of the IR.
    fn result_types(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<String>> {
        let args: Vec<_> = args.iter().collect();
        let given = self.given(py, &args)?;
        let borrowed: Vec<Borrowed<'_>> = given.iter().map(|g| g.borrowed()).collect();
        self.function().result_types(&borrowed).map_err(|e| crate::errors::raised(py, &e))
    }
}

impl Program {
    /// What derivatives are by, for these arguments.
    fn by_of(&self, args: &Args, wrt: Option<&[String]>) -> Result<Wrt, wengert::Error> {
        let borrowed: Vec<Borrowed<'_>> =
            args.0.iter().map(|arg| Borrowed::from(&arg.value)).collect();
        self.by(&borrowed, wrt)
    }
}

/// The first of the members that an argument of a batch has.
fn first(value: &Value) -> Value {
    match value {
        Value::Array(x) => x.item(0).unwrap_or_else(|| value.clone()),
        other => other.clone(),
    }
}

fn value(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    Ok(crate::values::Given::new(object, name)?.to_value())
}

/// Values by name.
fn named(values: &Bound<'_, PyDict>) -> PyResult<Args> {
    let named = values.iter().map(|(name, x)| {
        let name: String = name.extract()?;
        Ok(Arg { value: value(&x, &name)?, name: Some(name) })
    });
    Ok(Args(named.collect::<PyResult<_>>()?))
}

fn list(py: Python<'_>, values: Vec<Value>) -> PyResult<Bound<'_, PyList>> {
    let values = values.into_iter().map(|v| to_python(py, v)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, values)
}

fn dict(py: Python<'_>, values: Named) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in values {
        out.set_item(name, to_python(py, value)?)?;
    }
    Ok(out)
}

/// What programs run with on this machine.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = py.detach(Doctor::look);
    let out = PyDict::new(py);
    out.set_item("architecture", found.architecture)?;
    out.set_item("features", found.features)?;
    out.set_item("cranelift", found.cranelift.map_or_else(|e| e, |()| "works".into()))?;
    out.set_item("compiler", found.compiler)?;
    let compiles = found.compiles.map(|ran| ran.map_or_else(|e| e, |()| "works".into()));
    out.set_item("compiles", compiles)?;
    match found.cache {
        Ok(cache) => {
            out.set_item("cache", cache.folder)?;
            out.set_item("cached", (cache.entries, cache.bytes, cache.limit))?;
        }
        Err(why) => out.set_item("cache", why)?,
    }
    Ok(out)
}

/// The schedule that fits so many bytes, as SVG; `None` where there is none, or none that can be drawn.
#[pyfunction]
pub(crate) fn schedule(steps: u64, state: u64, record: u64, memory: u64) -> Option<String> {
    wengert_cli::schedule_in_bytes(steps, state, record, memory).ok()
}

/// What an error code means.
#[pyfunction]
pub(crate) fn explain(code: &str) -> Option<&'static str> {
    wengert::explain(code)
}

/// The stages of the compiler, in order, with a line about each.
#[pyfunction]
pub(crate) fn stages() -> Vec<(&'static str, &'static str)> {
    Stage::all()
}

/// Runs the command with what was typed, its own name first; gives back its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, typed: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| wengert_cli::run(typed))
}
