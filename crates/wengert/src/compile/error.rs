//! What can go wrong, with its place in the source.

use crate::compile::render;
use crate::compile::source::Source;
use std::fmt;
use std::sync::Arc;
use wengert_core::fault::Fault;
use wengert_core::span::Diagnostic;

/// Why a function could not be made, differentiated or run.
///
/// It prints as `file:line:column: message`. [`Error::render`] and the debug form show the source
/// line as well, so `fn main() -> Result<(), wengert::Error>` ends in a readable message.
///
/// ```
/// use wengert::{Function, Source};
///
/// let source = Source::new("f.py", "def f(x):\n    return x * k\n");
/// let error = Function::from_source(source, "f").unwrap().value([1.0]).unwrap_err();
/// assert!(error.to_string().starts_with("f.py:2:16: "), "{error}");
/// assert!(error.render().contains("return x * k"));
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("{}", render::short(&self.text, &self.diagnostics))]
pub struct Error {
    kind: ErrorKind,
    diagnostics: Vec<Diagnostic>,
    fault: Option<Fault>,
    text: Arc<Source>,
}

/// Which step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The source is not a program that can be differentiated.
    Source,
    /// The arguments, or the parameters to differentiate by, do not fit the function.
    Arguments,
    /// Native code could not be made of it.
    Backend,
    /// The program was run and failed.
    Run,
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        source: &Arc<Source>,
        diagnostics: Vec<Diagnostic>,
    ) -> Error {
        Error { kind, diagnostics, fault: None, text: source.clone() }
    }

    pub(crate) fn one(kind: ErrorKind, source: &Arc<Source>, diagnostic: Diagnostic) -> Error {
        Error::new(kind, source, vec![diagnostic])
    }

    /// A fault, told as it is or in other words.
    pub(crate) fn run(source: &Arc<Source>, fault: Fault, told: Option<Diagnostic>) -> Error {
        let diagnostics = vec![told.unwrap_or_else(|| fault.diagnostic())];
        Error { kind: ErrorKind::Run, diagnostics, fault: Some(fault), text: source.clone() }
    }

    /// The same, of a member of a batch.
    pub(crate) fn in_member(mut self, k: usize) -> Error {
        for diagnostic in self.diagnostics.iter_mut().take(1) {
            diagnostic.message = format!("member {k} of the batch: {}", diagnostic.message);
        }
        self
    }

    /// Which step failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, as data: at least one entry.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What happened at run time, where [`ErrorKind::Run`] is the kind.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Where the first of them is: the file, and in it line and column, counted from 1. Nothing where it is nowhere in the
    /// text.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        render::place(&self.text, self.diagnostics.first()?)
    }

    /// The loops that were running when it failed, innermost first: the line where each begins, and its iteration, counted
    /// from 0.
    pub fn iterations(&self) -> Vec<(usize, i64)> {
        let loops = self.fault.iter().flat_map(|fault| &fault.iterations);
        loops.map(|(span, iteration)| (self.text.line(*span), *iteration)).collect()
    }

    /// The text with the lines at fault, as one reads it in a log.
    pub fn render(&self) -> String {
        render::full(&self.text, &self.diagnostics, false)
    }

    /// The same with terminal colours.
    pub fn render_coloured(&self) -> String {
        render::full(&self.text, &self.diagnostics, true)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{}", self.kind, self.render())
    }
}
