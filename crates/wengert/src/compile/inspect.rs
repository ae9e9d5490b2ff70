//! What makes the derivative at a point doubtful.

use crate::compile::args::{Args, Wrt};
use crate::compile::error::Error;
use crate::compile::function::Function;
use crate::compile::render;
use crate::compile::source::Source;
use crate::value::Value;
use std::sync::Arc;
use wengert_core::check::{self, Finding};
use wengert_core::interp::Val;

/// The result of [`Function::inspect`].
#[derive(Clone, Debug)]
pub struct Inspection {
    /// What was found, in the order of the source.
    pub findings: Vec<Finding>,
    source: Arc<Source>,
}

impl Inspection {
    /// Whether no NaN came to a result. Everything else is a warning.
    pub fn passes(&self) -> bool {
        !self.findings.iter().any(Finding::is_failure)
    }

    /// Each finding with its source lines; empty where nothing was found.
    pub fn render(&self) -> String {
        render::findings(&self.source, &self.findings, false)
    }

    /// The same with terminal colours.
    pub fn render_coloured(&self) -> String {
        render::findings(&self.source, &self.findings, true)
    }

    /// The line of the source a finding is on.
    pub fn line(&self, finding: &Finding) -> usize {
        self.source.line(finding.span)
    }
}

impl Function {
    /// Runs it in the interpreter and looks for what makes its derivative doubtful there: a NaN or an
    /// infinity that appears, a kink hit exactly, a loop whose stopping test depends on what is
    /// differentiated by and came very near to deciding otherwise.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let f = Function::from_source("def f(x, y):\n    return max(x, y)\n", "f")?;
    /// assert!(f.inspect([1.0, 2.0], Wrt::All)?.findings.is_empty());
    /// let tie = f.inspect([2.0, 2.0], Wrt::All)?;
    /// assert!(tie.render().contains("`max` stands exactly on its kink"));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn inspect(&self, args: impl Into<Args>, wrt: impl Into<Wrt>) -> Result<Inspection, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        // As it was written.
        let module = self.lower(call.kinds())?;
        let args: Vec<Val> = call.values.iter().map(Value::to_val).collect();
        let limit = self.options.max_iterations;
        let mut findings = check::inspect(&module, self.name(), &by, &args, limit)
            .map_err(|fault| self.fault(fault))?;
        findings.retain(Finding::is_doubtful);
        Ok(Inspection { findings, source: self.source().clone() })
    }
}
