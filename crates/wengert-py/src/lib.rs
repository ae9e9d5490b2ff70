//! The Python module `wengert._wengert`: what the package `wengert` needs of Rust.
//!
//! Everything that concerns Python alone (sources, closures, docstrings, trees of arguments) is Python, in `python/wengert/`.
//! Here a [`program::Program`] is a text with what it captures, a [`caller::Caller`] calls it, or its gradient, with as little
//! between as there can be.
//!
//! Reading order: [`values`] (arguments and results), [`errors`], [`options`], [`interrupt`], [`program`], [`caller`], [`derivatives`] (all
//! that is not called a million times).
#![deny(unsafe_code)]

mod caller;
mod derivatives;
mod errors;
#[allow(unsafe_code)] // a signal handler
mod interrupt;
mod options;
mod program;
#[allow(unsafe_code)] // reads the elements of arrays of NumPy
mod values;

use pyo3::prelude::*;

/// What the package is made of.
#[pymodule]
fn _wengert(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<caller::Caller>()?;
    m.add_class::<options::RunOptions>()?;
    m.add_class::<program::Program>()?;
    m.add_function(wrap_pyfunction!(derivatives::command, m)?)?;
    m.add_function(wrap_pyfunction!(derivatives::doctor, m)?)?;
    m.add_function(wrap_pyfunction!(derivatives::explain, m)?)?;
    m.add_function(wrap_pyfunction!(derivatives::schedule, m)?)?;
    m.add_function(wrap_pyfunction!(derivatives::stages, m)?)?;
    m.add_function(wrap_pyfunction!(values::address, m)?)
}
