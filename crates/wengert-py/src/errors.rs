//! Errors as exceptions of the package.

use pyo3::prelude::*;
use wengert::{Error, ErrorKind, FaultKind};

/// The exception for an error; after Ctrl-C, what Python raises for that.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let is_interrupted =
        error.fault().is_some_and(|fault| matches!(fault.kind, FaultKind::Interrupted));
    if is_interrupted && let Err(raised) = py.check_signals() {
        return raised;
    }
    exception(py, error).unwrap_or_else(|failed| failed)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error.kind() {
        ErrorKind::Source => "CompileError",
        ErrorKind::Arguments => "ArgumentError",
        ErrorKind::Backend => "BackendError",
        ErrorKind::Run => "RunError",
    };
    let Some(first) = error.diagnostics().first() else {
        return Ok(pyo3::exceptions::PyRuntimeError::new_err(error.to_string()));
    };
    let help = first.help.as_deref().map(in_python);
    let fields = (
        in_python(&error.render()),
        first.code,
        first.message.as_str(),
        help,
        error.place(),
        error.iterations(),
    );
    let made = py.import("wengert._errors")?.getattr(class)?.call1(fields)?;
    Ok(PyErr::from_value(made))
}

/// A message in which options of the command are those of the package: `--tape-limit` is `tape_limit=`, `true` is `True`.
pub(crate) fn in_python(text: &str) -> String {
    let line = |line: &str| {
        let is_help = line.trim_start().starts_with("= help:") || !line.contains(" | ");
        if is_help { of_package(line) } else { line.to_string() }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Options that the package calls otherwise, or has functions for that are named beside them.
const OTHERWISE: [(&str, &str); 5] = [
    (" (`--seed` or `--jacobian`)", ""),
    (" (`--seed`)", ""),
    (" (`--jacobian`)", ""),
    ("`--invert-every`", "`invert={\"every\": ..}`"),
    ("`--invert-within`", "`invert={\"within\": ..}`"),
];

fn of_package(line: &str) -> String {
    let line =
        OTHERWISE.iter().fold(line.to_string(), |line, (option, here)| line.replace(option, here));
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find("`--") {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 3..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        out.push_str(&rest[..end].replace('-', "_"));
        out.push('=');
        rest = &rest[end..];
        // What follows the option is its value.
        rest = rest.strip_prefix(' ').or(rest.strip_prefix('=')).unwrap_or(rest);
        if rest.starts_with('`') {
            continue;
        }
    }
    out.push_str(rest);
    out.replace("=true`", "=True`").replace("=false`", "=False`")
}
