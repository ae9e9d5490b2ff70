//! How to run, as Python says it.

use crate::interrupt::{self, Listening};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use wengert::checkpoint::Watch;
use wengert::{Backend, Disk, Invert, Options, Precision};

/// How to run: what the keywords of the package say, in numbers.
#[pyclass(frozen, module = "wengert._wengert")]
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    /// In any thread.
    pub(crate) options: Options,
    /// In the main thread, where Ctrl-C ends a run.
    main: Options,
}

impl RunOptions {
    /// How to run here, and what listens to Ctrl-C until it is dropped.
    pub(crate) fn here(&self) -> (&Options, Listening) {
        let listening = Listening::start();
        (if listening.is_on() { &self.main } else { &self.options }, listening)
    }
}

#[pymethods]
impl RunOptions {
    #[new]
    #[pyo3(signature = (*, backend="auto", max_iterations=None, tape_limit=None, memory=None, disk=None,
        precision="exact", invert=None, threads=None, watched=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        backend: &str,
        max_iterations: Option<u64>,
        tape_limit: Option<u64>,
        memory: Option<u64>,
        disk: Option<(String, u64, bool, bool)>,
        precision: &str,
        invert: Option<(Option<usize>, Option<u64>, f64)>,
        threads: Option<usize>,
        watched: bool,
    ) -> PyResult<RunOptions> {
        let other = |what: &str, given: &str, known: &str| {
            PyValueError::new_err(format!("{what}={given:?}: it is one of {known}"))
        };
        let backend = match backend {
            "auto" => Backend::Auto,
            "jit" => Backend::Jit,
            "cc" => Backend::Cc,
            "interp" => Backend::Interp,
            given => return Err(other("backend", given, "'auto', 'jit', 'cc' and 'interp'")),
        };
        let precision = match precision {
            "exact" => Precision::Exact,
            "f32" => Precision::F32,
            "bf16" => Precision::Bf16,
            given => return Err(other("precision", given, "'exact', 'f32' and 'bf16'")),
        };
        let disk = disk.map(|(folder, bytes, resume, fsync)| Disk {
            folder: folder.into(),
            bytes,
            resume,
            fsync,
        });
        let invert = invert.map(|(line, every, within)| Invert { line, every, within });
        let options = Options {
            backend,
            tape_limit,
            memory,
            invert,
            disk,
            precision,
            watch: watched.then(Arc::<Watch>::default),
            threads,
            ..Options::default()
        };
        let max_iterations = max_iterations.unwrap_or(options.max_iterations);
        let options = Options { max_iterations, ..options };
        let main = Options { interrupt: Some(interrupt::flag()), ..options.clone() };
        Ok(RunOptions { options, main })
    }

    /// Where the loop stands that is being run in limited memory.
    fn seen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let seen = self.options.watch.as_ref().map(|watch| watch.look()).unwrap_or_default();
        let out = PyDict::new(py);
        out.set_item("steps", seen.steps)?;
        out.set_item("position", seen.position)?;
        out.set_item("is_back", seen.is_back)?;
        out.set_item("evaluations", seen.evaluations)?;
        out.set_item("part", seen.part())?;
        Ok(out)
    }
}
