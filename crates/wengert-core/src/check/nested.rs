//! Checking derivatives of any order.
//!
//! [`check_grads`] differentiates a function in every combination of modes. A derivative of order n is an
//! ordinary function, so the check of order n + 1 is the check of its own derivatives: forward mode against
//! finite differences of it, reverse mode against forward mode.
//!
//! ```
//! use wengert_core::check::check_grads;
//! use wengert_core::{interp::Val, ir::parse};
//!
//! let module = parse::module("func @f(%x: f64) -> f64 { %s = sin %x  %y = mul %s, %x  return %y }")?;
//! let report = check_grads(&module, "f", &[Val::f64(0.7)], 2)?;
//! assert!(report.passes(), "{report}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Derived, Engine, Interpreter, Random, derivatives, floats, is_float};
use crate::fault::Fault;
use crate::interp::Val;
use crate::ir::{Module, verify};
use crate::span::Diagnostic;
use crate::transform::{derivative, pipeline};
use std::fmt;

/// Directions per comparison.
const DIRECTIONS: usize = 3;

/// Why a check could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CheckError {
    /// The function has no such derivative, or is ill-formed.
    #[error("{0}")]
    Refused(Diagnostic),
    /// A program failed.
    #[error("{0}")]
    Fault(Fault),
    /// The order asked for.
    #[error("derivatives of order {0} are not checked: 1, 2 and 3 are")]
    Order(usize),
}

impl From<Diagnostic> for CheckError {
    fn from(e: Diagnostic) -> Self {
        CheckError::Refused(e)
    }
}

impl From<Fault> for CheckError {
    fn from(e: Fault) -> Self {
        CheckError::Fault(e)
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The modes, outermost first: `forward over reverse`.
    pub modes: String,
    /// What it was compared with.
    pub against: String,
    /// The largest error, relative to what is compared. None where differences did not settle (a kink or
    /// a jump is near).
    pub error: Option<f64>,
    /// The largest error that is rounding.
    pub tolerance: f64,
}

impl Comparison {
    /// Whether the two agree, or could not be compared.
    pub fn agrees(&self) -> bool {
        self.error.is_none_or(|e| e <= self.tolerance)
    }
}

/// What a check found, as a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradReport {
    /// Every comparison made.
    pub rows: Vec<Comparison>,
}

impl GradReport {
    /// Whether everything agrees.
    pub fn passes(&self) -> bool {
        self.rows.iter().all(Comparison::agrees)
    }
}

impl fmt::Display for GradReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            |of: fn(&Comparison) -> &str| self.rows.iter().map(|r| of(r).len()).max().unwrap_or(0);
        let (modes, against) = (width(|r| &r.modes).max(4), width(|r| &r.against).max(8));
        write!(f, "{:modes$}  {:against$}  {:>7}  verdict", "mode", "compared", "error")?;
        for row in &self.rows {
            let error = row.error.map_or("-".into(), |e| format!("{e:.1e}"));
            let verdict = match row.error {
                None => "not compared: no limit found",
                _ if row.agrees() => "agrees",
                _ => "DISAGREES",
            };
            write!(f, "\n{:modes$}  {:against$}  {error:>7}  {verdict}", row.modes, row.against)?;
        }
        Ok(())
    }
}

/// Which of the two comparisons of one function to make.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Forward,
    Reverse,
    Both,
}

/// Forward mode of a function by all its float parameters, against finite differences.
pub fn check_jvp(module: &Module, name: &str, args: &[Val]) -> Result<GradReport, CheckError> {
    check(module, name, args, 1, Which::Forward)
}

/// Reverse mode of a function by all its float parameters, against forward mode.
pub fn check_vjp(module: &Module, name: &str, args: &[Val]) -> Result<GradReport, CheckError> {
    check(module, name, args, 1, Which::Reverse)
}

/// Derivatives of orders 1 to `order` (at most 3), in every combination of modes.
pub fn check_grads(
    module: &Module,
    name: &str,
    args: &[Val],
    order: usize,
) -> Result<GradReport, CheckError> {
    check(module, name, args, order, Which::Both)
}

/// A function made by some modes from another, and where to evaluate it.
struct Nested {
    module: Module,
    name: String,
    modes: String,
    args: Vec<Val>,
}

fn check(
    module: &Module,
    name: &str,
    args: &[Val],
    order: usize,
    which: Which,
) -> Result<GradReport, CheckError> {
    if !(1..=3).contains(&order) {
        return Err(CheckError::Order(order));
    }
    verify::module(module)?;
    let engine = &mut Interpreter::default();
    let module = pipeline::module(module, name)?;
    let (name, args) = (name.to_string(), args.to_vec());
    let mut level = vec![Nested { module, name, modes: String::new(), args }];
    let mut report = GradReport::default();
    for k in 0..order {
        for nested in &level {
            report.rows.extend(nested.compare(engine, which)?);
        }
        if k + 1 < order {
            let mut next = Vec::new();
            for nested in &level {
                next.push(nested.forward()?);
                next.push(nested.reverse(engine)?);
            }
            level = next;
        }
    }
    Ok(report)
}

impl Nested {
    fn wrt(&self) -> Vec<usize> {
        (0..self.args.len()).filter(|k| is_float(&self.args[*k])).collect()
    }

    fn forward(&self) -> Result<Nested, CheckError> {
        let module = derivative::jvp_of(&self.module, &self.name, &self.wrt(), 1)?;
        let mut random = Random(1);
        let tangents: Vec<Val> = self.wrt().iter().map(|k| random.like(&self.args[*k])).collect();
        Ok(self.then("forward", "jvp", module, tangents))
    }

    fn reverse(&self, engine: &mut dyn Engine) -> Result<Nested, CheckError> {
        let module = derivative::vjp_of(&self.module, &self.name, &self.wrt())?;
        let mut random = Random(2);
        let results = engine.call(&self.module, &self.name, &self.args)?;
        let adjoints = results.iter().filter(|v| is_float(v)).map(|v| random.like(v)).collect();
        Ok(self.then("reverse", "vjp", module, adjoints))
    }

    fn then(&self, mode: &str, suffix: &str, module: Module, more: Vec<Val>) -> Nested {
        let over = if self.modes.is_empty() { "" } else { " over " };
        Nested {
            module,
            name: format!("{}.{suffix}", self.name),
            modes: format!("{mode}{over}{}", self.modes),
            args: self.args.iter().cloned().chain(more).collect(),
        }
    }

    fn compare(
        &self,
        engine: &mut dyn Engine,
        which: Which,
    ) -> Result<Vec<Comparison>, CheckError> {
        let derived = Derived::of(&self.module, &self.name, self.wrt())?;
        let report = derivatives(&derived, engine, &self.args, DIRECTIONS, 3)?;
        let over = |mode: &str| match self.modes.is_empty() {
            true => mode.to_string(),
            false => format!("{mode} over {}", self.modes),
        };
        let inner = if self.modes.is_empty() { "the function" } else { &self.modes };
        let mut rows = Vec::new();
        if which != Which::Reverse {
            rows.push(Comparison {
                modes: over("forward"),
                against: format!("differences of {inner}"),
                error: (report.unsettled < report.directions).then_some(report.forward_error),
                tolerance: 1e-6,
            });
        }
        if which != Which::Forward {
            rows.push(Comparison {
                modes: over("reverse"),
                against: over("forward"),
                error: Some(report.reverse_error),
                tolerance: 1e-9,
            });
        }
        Ok(rows)
    }
}

/// A Hessian times a vector, three ways: forward over reverse, reverse over forward, reverse over
/// reverse. The function's float results are weighted by `weights`, the direction is `along` the `wrt`
/// parameters.
pub fn hessian_products(
    module: &Module,
    name: &str,
    wrt: &[usize],
    engine: &mut dyn Engine,
    args: &[Val],
    (weights, along): (&[Val], &[Val]),
) -> Result<[Vec<f64>; 3], CheckError> {
    let all = |parts: &[&[Val]]| parts.concat();
    let zero =
        |values: &[Val]| values.iter().map(|v| super::shifted(v, v, -1.0)).collect::<Vec<_>>();
    let func = module.func(name).ok_or_else(|| {
        Diagnostic::new("unknown-function", format!("there is no function `@{name}`"))
    })?;
    let results = func.results.len();

    let reverse = derivative::vjp_of(module, name, wrt)?;
    let gradient = format!("{name}.vjp");
    let over = derivative::jvp_of(&reverse, &gradient, wrt, 1)?;
    verify::module(&over)?;
    let out = engine.call(&over, &format!("{gradient}.jvp"), &all(&[args, weights, along]))?;
    let last = out.len() - wrt.len();
    let forward_over_reverse = floats(&out[last..]);

    let over = derivative::vjp_of(&reverse, &gradient, wrt)?;
    verify::module(&over)?;
    let seeds = all(&[args, weights, &zero(weights), along]);
    let out = engine.call(&over, &format!("{gradient}.vjp"), &seeds)?;
    let reverse_over_reverse = floats(&out[results + wrt.len()..]);

    let forward = derivative::jvp_of(module, name, wrt, 1)?;
    let tangent = format!("{name}.jvp");
    let over = derivative::vjp_of(&forward, &tangent, wrt)?;
    verify::module(&over)?;
    let seeds = all(&[args, along, &zero(weights), weights]);
    let out = engine.call(&over, &format!("{tangent}.vjp"), &seeds)?;
    let reverse_over_forward = floats(&out[results + weights.len()..]);
    Ok([forward_over_reverse, reverse_over_forward, reverse_over_reverse])
}
