//! A text, what it captures from around it, and the programs made of it so far.

use crate::errors::raised;
use crate::options::RunOptions;
use crate::values::Given;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::{Arc, Mutex, MutexGuard};
use wengert::{Arg, Args, Backend, Borrowed, Function, Options, Source, Specialised, Wrt};

/// Programs for so many kinds of arguments are kept.
const KEPT: usize = 64;

/// What a program gives: of a gradient, the names it is by, and none where it is by all floats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    Value,
    Gradient(Option<Vec<String>>),
}

/// A program made, and what for.
struct Made {
    wanted: Wanted,
    backend: Backend,
    program: Arc<Specialised>,
}

/// What programs with one text have in common.
struct Text {
    function: Function,
    made: Mutex<Vec<Made>>,
}

/// Where a name was looked up, and what it stood for: a dictionary and the name in it, or a cell and `None`.
type Watched = (Py<PyAny>, Option<Py<PyAny>>, Py<PyAny>);

/// A function as text, with what it captures.
#[pyclass(frozen, module = "wengert._wengert")]
pub(crate) struct Program {
    text: Arc<Text>,
    /// Its own parameters, and their defaults where they have one.
    params: Vec<String>,
    defaults: Vec<Option<Py<PyAny>>>,
    /// The values of what it captures, which follow the arguments.
    captured: Vec<Py<PyAny>>,
    /// The names around it.
    watched: Vec<Watched>,
}

#[pymethods]
impl Program {
    /// Of parts of files: their names, the lines they begin with, and their text.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        parts: Vec<(String, usize, String)>,
        name: &str,
        defaults: Bound<'_, PyDict>,
        captured: Vec<(String, Py<PyAny>)>,
        watched: Vec<Watched>,
    ) -> PyResult<Program> {
        let function = Function::from_source(Source::of_parts(parts), name);
        let function = function.map_err(|e| raised(py, &e))?;
        let params: Vec<String> = function.parameters().map(String::from).collect();
        let of = |name: &String| Ok(defaults.get_item(name)?.map(Bound::unbind));
        let defaults = params.iter().map(of).collect::<PyResult<_>>()?;
        let (names, captured): (Vec<String>, Vec<Py<PyAny>>) = captured.into_iter().unzip();
        let function = function.capturing(names).map_err(|e| raised(py, &e))?;
        let text = Arc::new(Text { function, made: Mutex::default() });
        Ok(Program { text, params, defaults, captured, watched })
    }

    /// The same text, with what is around it as it is now.
    fn around(&self, py: Python<'_>, captured: Vec<Py<PyAny>>, watched: Vec<Watched>) -> Program {
        let defaults = self.defaults.iter().map(|d| d.as_ref().map(|d| d.clone_ref(py))).collect();
        let (text, params) = (self.text.clone(), self.params.clone());
        Program { text, params, defaults, captured, watched }
    }

    /// The names of its parameters.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.params.clone()
    }

    /// One value for each parameter, defaults filled in.
    fn bind<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.arguments(py, args, kwargs)?)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for (place, name, object) in &self.watched {
            visit.call(place)?;
            visit.call(name)?;
            visit.call(object)?;
        }
        self.captured.iter().try_for_each(|object| visit.call(object))?;
        self.defaults.iter().try_for_each(|object| visit.call(object))
    }
}

impl Program {
    pub(crate) fn function(&self) -> &Function {
        &self.text.function
    }

    /// The name of a parameter, or of what is captured.
    pub(crate) fn name_of(&self, k: usize) -> &str {
        match self.params.get(k) {
            Some(name) => name,
            None => self.function().parameters().nth(k).unwrap_or_default(),
        }
    }

    /// Whether the names around it still stand for what they stood for.
    pub(crate) fn is_current(&self, py: Python<'_>) -> bool {
        self.watched.iter().all(|(place, name, object)| {
            let place = place.bind(py);
            let now = match name {
                Some(name) => match place.cast::<PyDict>() {
                    Ok(names) => names.get_item(name).ok().flatten(),
                    Err(_) => None,
                },
                None => place.getattr(pyo3::intern!(py, "cell_contents")).ok(),
            };
            now.is_some_and(|now| now.is(object))
        })
    }

    /// The arguments of a call: one for each parameter.
    pub(crate) fn arguments<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let count = self.params.len();
        if args.len() == count && kwargs.is_none_or(|k| k.is_empty()) {
            return Ok(args.iter().collect());
        }
        let mut slots: Vec<Option<Bound<'py, PyAny>>> = vec![None; count];
        let name = self.function().name();
        if args.len() > count {
            let plural = if count == 1 { "argument" } else { "arguments" };
            let told = format!("`{name}` takes {count} {plural}, but {} are given", args.len());
            return Err(refused(py, "argument-count", told, self.shown()));
        }
        for (slot, value) in slots.iter_mut().zip(args) {
            *slot = Some(value);
        }
        for (key, value) in kwargs.into_iter().flatten() {
            let key: String = key.extract()?;
            let Some(k) = self.params.iter().position(|param| *param == key) else {
                let told = format!("`{name}` has no parameter `{key}`");
                return Err(refused(py, "unknown-argument", told, self.shown()));
            };
            if slots[k].replace(value).is_some() {
                let told = format!("`{key}` is given twice");
                let help = "arguments without a name are taken in order, before those with one";
                return Err(refused(py, "argument-twice", told, help.into()));
            }
        }
        let filled = slots.into_iter().enumerate().map(|(k, slot)| {
            let default = || self.defaults[k].as_ref().map(|value| value.bind(py).clone());
            slot.or_else(default).ok_or_else(|| {
                let told = format!("`{name}` needs a value for `{}`", self.params[k]);
                refused(py, "missing-argument", told, self.shown())
            })
        });
        filled.collect()
    }

    /// How it is called.
    fn shown(&self) -> String {
        let params = self.params.iter().zip(&self.defaults);
        let params: Vec<String> = params
            .map(|(name, default)| match default {
                Some(_) => format!("{name}=.."),
                None => name.clone(),
            })
            .collect();
        format!("it is `{}({})`", self.function().name(), params.join(", "))
    }

    /// The arguments, and what is captured, as they are read.
    pub(crate) fn given<'py>(
        &self,
        py: Python<'py>,
        args: &[Bound<'py, PyAny>],
    ) -> PyResult<Vec<Given<'py>>> {
        let mut given = Vec::with_capacity(args.len() + self.captured.len());
        for (value, name) in args.iter().zip(&self.params) {
            given.push(Given::new(value, name)?);
        }
        if !self.captured.is_empty() {
            let names = self.function().parameters().skip(self.params.len());
            for (value, name) in self.captured.iter().zip(names) {
                given.push(Given::new(value.bind(py), name)?);
            }
        }
        Ok(given)
    }

    /// The same as arguments of the general functions, by position.
    pub(crate) fn args<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Args> {
        let args: Vec<_> = args.iter().collect();
        let given = self.given(py, &args)?;
        Ok(Args(given.iter().map(|g| Arg { name: None, value: g.to_value() }).collect()))
    }

    /// The function, run so.
    pub(crate) fn run_as(&self, options: &Options) -> Function {
        self.function().clone().with_options(options.clone())
    }

    /// What derivatives are by: these names, or all floats among the parameters.
    pub(crate) fn by(
        &self,
        args: &[Borrowed<'_>],
        wrt: Option<&[String]>,
    ) -> Result<Wrt, wengert::Error> {
        if let Some(names) = wrt {
            return Ok(Wrt::Names(names.to_vec()));
        }
        let mut floats = self.function().floats(args)?;
        floats.retain(|name| self.params.contains(name));
        // Where there are none, the error of those who ask for all says so.
        Ok(if floats.is_empty() { Wrt::All } else { Wrt::Names(floats) })
    }

    /// The program for arguments of these kinds.
    pub(crate) fn specialised(
        &self,
        wanted: &Wanted,
        args: &[Borrowed<'_>],
        options: &Options,
    ) -> Result<Arc<Specialised>, wengert::Error> {
        let fits = |made: &&Made| {
            made.backend == options.backend && made.wanted == *wanted && made.program.fits(args)
        };
        // A loop that is taken back is another program.
        let is_kept = options.invert.is_none();
        if let Some(made) = self.made().iter().find(fits).filter(|_| is_kept) {
            return Ok(made.program.clone());
        }
        let program = match wanted {
            Wanted::Value => self.function().specialised(args, options)?,
            Wanted::Gradient(wrt) => {
                let by = self.by(args, wrt.as_deref())?;
                self.function().specialised_gradient(args, by, options)?
            }
        };
        let program = Arc::new(program);
        if is_kept {
            let mut made = self.made();
            if made.len() >= KEPT {
                made.remove(0);
            }
            let (wanted, backend) = (wanted.clone(), options.backend);
            made.push(Made { wanted, backend, program: program.clone() });
        }
        Ok(program)
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        // Entries are put in whole, so a panic elsewhere leaves it usable.
        self.text.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// An error about the arguments of a call.
fn refused(py: Python<'_>, code: &str, told: String, help: String) -> PyErr {
    let make = || {
        let errors = py.import("wengert._errors")?;
        errors.getattr("refused")?.call1((code, told.as_str(), help))
    };
    match make() {
        Ok(made) => PyErr::from_value(made),
        Err(_) => PyTypeError::new_err(told.clone()),
    }
}

/// Runs while other threads of Python do, and listens to Ctrl-C.
pub(crate) fn detached<R: Send>(
    py: Python<'_>,
    options: &RunOptions,
    run: impl FnOnce(&Options) -> Result<R, wengert::Error> + Send,
) -> PyResult<R> {
    let ran = py.detach(|| {
        let (options, _listening) = options.here();
        run(options)
    });
    ran.map_err(|e| raised(py, &e))
}
