//! What a workload is: an ordinary loop, compiled from its source, with a reference gradient.
//!
//! The list of them is [`ALL`](crate::catalogue::ALL).

use std::time::Instant;
use wengert_core::check::Derived;
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type};
use wengert_core::lower::lower;
use wengert_core::span::Diagnostic;
use wengert_core::surface::python;
use wengert_core::transform::pipeline;
use wengert_runtime::{CompileError, Program};

use crate::by_hand::ByHand;
pub use crate::catalogue::ALL;

/// A workload: its source, its arguments for a size, and the adjoint by hand.
pub struct Workload {
    /// Its name in the table.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// Its program; the last function is the one to differentiate.
    pub source: &'static str,
    /// Parameters differentiated by.
    pub wrt: &'static [usize],
    /// Sizes it is measured at.
    pub sizes: &'static [usize],
    /// Sizes the interpreter can run.
    pub small: &'static [usize],
    /// Arguments for a size.
    pub args: fn(usize) -> Vec<Val>,
    /// Value and gradient by hand.
    pub hand: fn(usize) -> Box<dyn ByHand>,
    /// The same where it can look ahead, or beside, and use vector lanes.
    pub lanes: Option<fn(usize) -> Box<dyn ByHand>>,
    /// Iterations the loop makes at a size.
    pub iterations: fn(usize) -> usize,
    /// At most so many times the time by hand.
    pub bars: Bars,
    /// How the gradient is compared: what its numbers, in order, are turned into.
    pub parts: &'static [Part],
    /// Reference value and gradient (or its digest) at a size, and the agreement expected.
    pub reference: Option<Reference>,
}

/// How many times the time by hand a gradient may take.
#[derive(Clone, Copy, Debug)]
pub struct Bars {
    /// With Cranelift's code, where something is asked of it.
    pub jit: Option<f64>,
    /// With the C compiler's, which `auto` comes to.
    pub cc: f64,
}

/// A part of a gradient, compared relative to its own largest number.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// All that are left, as they are.
    Numbers,
    /// The digest of so many numbers, or of all that are left.
    Digest(Option<usize>),
}

/// What a workload must give.
pub struct Reference {
    /// The size it holds for.
    pub n: usize,
    /// The value, then the gradient or its digest.
    pub expected: &'static [f64],
    /// Largest disagreement relative to the largest component.
    pub tolerance: f64,
}

impl Workload {
    /// The workload of that name.
    pub fn named(name: &str) -> Option<&'static Workload> {
        ALL.iter().find(|w| w.name == name)
    }

    /// Compiles the workload; also gives the seconds that took, from source text to native code.
    pub fn compile(&self) -> Result<(Derived, Compiled), BuildError> {
        let start = Instant::now();
        let (ir, function) = self.lowered()?;
        let func = pipeline::run(&ir, &function)?;
        let derived = Derived::new(func, self.wrt.to_vec())?;
        let native = |module: &Module, entry: &str| Program::compile(module, &[entry]);
        let value = native(&derived.primal, &function)?;
        let entry = format!("{function}.vjp");
        let gradient = native(&derived.reverse, &entry)?;
        let compile_s = start.elapsed().as_secs_f64();
        // A machine may have no C compiler.
        let through_c = Program::compile_c(&derived.reverse, &[&entry]).ok();
        Ok((derived, Compiled { function, value, gradient, through_c, compile_s }))
    }

    /// The IR of the workload as lowered, and the name of its function.
    pub fn lowered(&self) -> Result<(Module, String), BuildError> {
        let module = python::parse(self.source)?;
        let function = module.functions.last().map(|f| f.name.text.clone()).unwrap_or_default();
        let kinds: Vec<Type> = (self.args)(1).iter().map(Val::ty).collect();
        let ir = lower(&module, &function, &kinds)?;
        Ok((ir, function))
    }

    /// The size it is compared at: that of its reference, or the last one.
    pub fn size(&self) -> usize {
        match &self.reference {
            Some(reference) => reference.n,
            None => self.sizes.last().copied().unwrap_or(1),
        }
    }

    /// Compares a value and gradient with the reference for this size, where there is one: the largest
    /// disagreement relative to the largest component, and whether it is within tolerance.
    pub fn compare(&self, n: usize, value: f64, gradient: &[f64]) -> Option<(f64, bool)> {
        let reference = self.reference.as_ref().filter(|r| r.n == n)?;
        let (first, mut expected) = reference.expected.split_first()?;
        let mut worst = ((value - first) / first).abs();
        let mut left = gradient;
        for part in self.parts {
            let (numbers, rest) = match part {
                Part::Digest(Some(count)) => left.split_at_checked(*count)?,
                _ => (left, &left[left.len()..]),
            };
            let got = match part {
                Part::Numbers => numbers.to_vec(),
                Part::Digest(_) => digest(numbers),
            };
            let (want, more) = expected.split_at_checked(got.len())?;
            let scale = want.iter().fold(0f64, |m, x| m.max(x.abs()));
            for (got, want) in got.iter().zip(want) {
                let error = (got - want).abs() / scale;
                // NaN is no agreement.
                worst = if error <= worst { worst } else { error };
            }
            (left, expected) = (rest, more);
        }
        Some((worst, left.is_empty() && expected.is_empty() && worst <= reference.tolerance))
    }
}

/// The native code of a workload.
#[derive(Debug)]
pub struct Compiled {
    /// The function's name.
    pub function: String,
    /// The function itself.
    pub value: Program,
    /// Value and gradient.
    pub gradient: Program,
    /// The same through the C compiler, where there is one.
    pub through_c: Option<Program>,
    /// Seconds from source text to Cranelift's code, for value and gradient.
    pub compile_s: f64,
}

/// Why a workload does not compile.
#[derive(Debug)]
pub enum BuildError {
    /// Its source.
    Source(Vec<Diagnostic>),
    /// The backend.
    Native(CompileError),
}

impl From<Vec<Diagnostic>> for BuildError {
    fn from(errors: Vec<Diagnostic>) -> Self {
        BuildError::Source(errors)
    }
}
impl From<Diagnostic> for BuildError {
    fn from(error: Diagnostic) -> Self {
        BuildError::Source(vec![error])
    }
}
impl From<CompileError> for BuildError {
    fn from(error: CompileError) -> Self {
        BuildError::Native(error)
    }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Source(errors) => {
                errors.iter().try_for_each(|e| write!(f, "{}: {}", e.code, e.message))
            }
            BuildError::Native(error) => write!(f, "{error}"),
        }
    }
}
impl std::error::Error for BuildError {}

/// First, middle and last element, sum, and sum weighted by cosines.
pub fn digest(g: &[f64]) -> Vec<f64> {
    let sum = g.iter().sum();
    let weighted = g.iter().enumerate().map(|(k, x)| x * (k as f64).cos()).sum();
    vec![g[0], g[g.len() / 2], g[g.len() - 1], sum, weighted]
}
