//! Checking derivatives: the modes against each other and against finite differences.
//!
//! [`derivatives`] is the whole check of one function at one point. Forward mode is compared with
//! extrapolated central differences along random directions, and reverse mode with forward mode:
//! `w . (J u) = (J' w) . u` for random `w` and `u`. How programs are run is an [`Engine`], so the same
//! check serves the interpreter and compiled code. [`check_grads`] does so for higher orders. [`inspect`]
//! looks for what makes derivatives doubtful at a point: kinks, stopping tests, numbers that are none.

mod inspect;
mod nested;

use crate::fault::Fault;
use crate::interp::{Interp, Val};
use crate::ir::{Elem, Func, Module, Type};
use crate::ops::Scalar;
use crate::ops::shaped::same_bits;
use crate::span::Diagnostic;
use crate::transform::{jvp, vjp};
pub use inspect::{Finding, FindingKind, inspect};
pub use nested::{
    CheckError, Comparison, GradReport, check_grads, check_jvp, check_vjp, hessian_products,
};

/// A way to run programs.
pub trait Engine {
    /// Calls a function of a module. Tapes are not passed: the engine supplies an empty one for the
    /// parameter and leaves it out of the results.
    fn call(&mut self, module: &Module, name: &str, args: &[Val]) -> Result<Vec<Val>, Fault>;
}

/// The interpreter.
#[derive(Debug, Clone, Copy)]
pub struct Interpreter {
    /// Most iterations of a `while` loop.
    pub max_iterations: u64,
}

impl Default for Interpreter {
    fn default() -> Self {
        Interpreter { max_iterations: 1_000_000_000 }
    }
}

impl Engine for Interpreter {
    fn call(&mut self, module: &Module, name: &str, args: &[Val]) -> Result<Vec<Val>, Fault> {
        let mut interp = Interp::new(module);
        interp.max_iterations = self.max_iterations;
        let mut args = args.to_vec();
        if module.func(name).is_some_and(|f| f.param_types().contains(&Type::Tape)) {
            args.push(Val::tape());
        }
        let mut results = interp.call(name, args)?;
        results.retain(|v| !matches!(v, Val::Tape(_)));
        Ok(results)
    }
}

/// A function with its derivative programs.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The function after the fixed pipeline.
    pub func: Func,
    /// Parameters differentiated by.
    pub wrt: Vec<usize>,
    /// The function itself, as a module.
    pub primal: Module,
    /// Forward mode.
    pub forward: Module,
    /// Reverse mode.
    pub reverse: Module,
}

impl Derived {
    /// Differentiates a function of a module by parameters, both ways, and verifies the programs.
    pub fn new(func: Func, wrt: Vec<usize>) -> Result<Derived, Diagnostic> {
        let forward = Module::of(jvp::jvp(&func, &wrt)?);
        let reverse = vjp::vjp(&func, &wrt)?;
        let primal = Module::of(func.clone());
        crate::ir::verify::module(&primal)?;
        crate::ir::verify::module(&forward)?;
        crate::ir::verify::module(&reverse)?;
        Ok(Derived { func, wrt, primal, forward, reverse })
    }

    /// The same for a function that calls others, all from
    /// [`pipeline::module`](crate::transform::pipeline::module).
    pub fn of(module: &Module, name: &str, wrt: Vec<usize>) -> Result<Derived, Diagnostic> {
        let forward = jvp::in_module(module, name, &wrt, 1)?;
        let reverse = vjp::in_module(module, name, &wrt)?;
        crate::ir::verify::module(&forward)?;
        crate::ir::verify::module(&reverse)?;
        let func = module.func(name).cloned().unwrap_or_else(|| Func::new(name));
        Ok(Derived { func, wrt, primal: module.clone(), forward, reverse })
    }

    /// The function's results.
    pub fn value(&self, engine: &mut dyn Engine, args: &[Val]) -> Result<Vec<Val>, Fault> {
        engine.call(&self.primal, &self.func.name, args)
    }

    /// Results, and their tangents along the given tangents of the `wrt` parameters.
    pub fn jvp(
        &self,
        engine: &mut dyn Engine,
        args: &[Val],
        tangents: &[Val],
    ) -> Result<(Vec<Val>, Vec<Val>), Fault> {
        let args: Vec<Val> = args.iter().chain(tangents).cloned().collect();
        let mut results = engine.call(&self.forward, &format!("{}.jvp", self.func.name), &args)?;
        let tangents = results.split_off(self.func.results.len());
        Ok((results, tangents))
    }

    /// Results, and the adjoints of the `wrt` parameters for the given adjoints of float results.
    pub fn vjp(
        &self,
        engine: &mut dyn Engine,
        args: &[Val],
        adjoints: &[Val],
    ) -> Result<(Vec<Val>, Vec<Val>), Fault> {
        let args: Vec<Val> = args.iter().chain(adjoints).cloned().collect();
        let mut results = engine.call(&self.reverse, &format!("{}.vjp", self.func.name), &args)?;
        let adjoints = results.split_off(self.func.results.len());
        Ok((results, adjoints))
    }
}

/// What a check found. Errors are relative to the size of what is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Worst disagreement of forward mode with finite differences.
    pub forward_error: f64,
    /// Worst disagreement of reverse with forward mode.
    pub reverse_error: f64,
    /// Directions in which finite differences did not settle (a kink or a jump close by).
    pub unsettled: usize,
    /// Directions tried.
    pub directions: usize,
    /// Whether the function computes in single precision anywhere.
    pub single: bool,
}

impl Report {
    /// Whether everything agrees: the modes to rounding, finite differences to what they can give.
    pub fn passes(&self) -> bool {
        let reverse = if self.single { 1e-4 } else { 1e-9 };
        self.forward_error <= forward_tolerance(self.single) && self.reverse_error <= reverse
    }
}

/// How far forward mode may be from finite differences.
fn forward_tolerance(single: bool) -> f64 {
    if single { 1e-2 } else { 1e-6 }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.passes() { "agree" } else { "DISAGREE" };
        writeln!(f, "derivatives {verdict} along {} directions", self.directions)?;
        if self.unsettled < self.directions {
            writeln!(f, "  forward against finite differences  {:.1e}", self.forward_error)?;
        }
        write!(f, "  reverse against forward             {:.1e}", self.reverse_error)?;
        if self.unsettled > 0 {
            write!(
                f,
                "\n  not compared with differences       {} (no limit found: a kink or jump is near, or rounding hides it)",
                self.unsettled
            )?;
        }
        Ok(())
    }
}

/// Checks the derivatives of a function at a point along `directions` random directions.
pub fn derivatives(
    derived: &Derived,
    engine: &mut dyn Engine,
    args: &[Val],
    directions: usize,
    seed: u64,
) -> Result<Report, Fault> {
    let mut random = Random(seed);
    let base = floats(&derived.value(engine, args)?);
    let single = derived.func.values.iter().any(|v| v.ty.elem() == Some(Elem::F32));
    let mut report =
        Report { forward_error: 0.0, reverse_error: 0.0, unsettled: 0, directions, single };
    for _ in 0..directions {
        let u: Vec<Val> = derived.wrt.iter().map(|k| random.like(&args[*k])).collect();
        let (values, tangents) = derived.jvp(engine, args, &u)?;
        let tangent = floats(&tangents);
        let results: Vec<Val> = values.iter().filter(|v| is_float(v)).cloned().collect();
        let w: Vec<Val> = results.iter().map(|v| random.like(v)).collect();
        let (again, adjoints) = derived.vjp(engine, args, &w)?;
        // Recording must not change the value, nor must carrying tangents.
        let same = bits(&values) == bits(&again) && same_bits(&floats(&values), &base);
        let along = dot(&floats(&w), &tangent);
        let back = dot(&floats(&adjoints), &floats(&u));
        let scale = magnitude(&floats(&w), &tangent) + magnitude(&floats(&adjoints), &floats(&u));
        // Where everything cancels, what is left are the errors of rounding.
        let rest = 1e-4 * (norm(&w) * norm(&u));
        let scale = scale.max(rest);
        let error = if same { difference(along, back, scale) } else { f64::INFINITY };
        report.reverse_error = report.reverse_error.max(error);

        let step = |h: f64| -> Result<Vec<f64>, Fault> {
            let mut moved = args.to_vec();
            for (k, d) in derived.wrt.iter().zip(&u) {
                moved[*k] = shifted(&args[*k], d, h);
            }
            Ok(floats(&derived.value(engine, &moved)?))
        };
        match differences(step, single)? {
            Some(Limit { values, uncertainty, rounding }) => {
                let scale = tangent.iter().fold(1e-3f64, |m, t| m.max(t.abs()));
                let told = |rounding: f64| rounding <= forward_tolerance(single) * scale;
                let hidden = !rounding.is_empty() && !rounding.iter().any(|r| told(*r));
                report.unsettled += usize::from(hidden);
                for ((t, d), _) in tangent.iter().zip(&values).zip(&rounding).filter(|x| told(*x.1))
                {
                    let error = difference(*t, *d, scale) - uncertainty / scale;
                    report.forward_error = report.forward_error.max(error);
                }
            }
            None => report.unsettled += 1,
        }
    }
    Ok(report)
}

fn difference(a: f64, b: f64, scale: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        0.0
    } else {
        let error = (a - b).abs() / scale.max(f64::MIN_POSITIVE);
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

fn magnitude(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x * y).abs()).sum()
}

fn norm(values: &[Val]) -> f64 {
    let x = floats(values);
    dot(&x, &x).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// What differences tend to.
struct Limit {
    values: Vec<f64>,
    /// How well they settled.
    uncertainty: f64,
    /// Per value, what rounding it can make of them: of large values differences may agree, and be wrong.
    rounding: Vec<f64>,
}

/// Ridders' extrapolation of central differences (1982): the limit, or nothing where the differences do not converge.
fn differences(
    mut f: impl FnMut(f64) -> Result<Vec<f64>, Fault>,
    single: bool,
) -> Result<Option<Limit>, Fault> {
    let settles_at = if single { 1e-3 } else { 1e-5 };
    let epsilon = if single { f32::EPSILON.into() } else { f64::EPSILON };
    const ROWS: usize = 6;
    let mut table: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut best: Option<Limit> = None;
    let mut h = 1e-2;
    for _ in 0..ROWS {
        // A step may leave the domain; then a smaller one is tried.
        let (Ok(plus), Ok(minus)) = (f(h), f(-h)) else {
            h /= 4.0;
            table.clear();
            continue;
        };
        if plus.len() != minus.len() {
            return Ok(None);
        }
        if plus.iter().chain(&minus).any(|x| !x.is_finite()) {
            h /= 4.0;
            table.clear();
            continue;
        }
        let central: Vec<f64> = plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * h)).collect();
        let mut line = vec![central];
        if let Some(above) = table.last() {
            let mut factor = 4.0;
            for k in 0..above.len() {
                let next: Vec<f64> = line[k]
                    .iter()
                    .zip(&above[k])
                    .map(|(fine, coarse)| (factor * fine - coarse) / (factor - 1.0))
                    .collect();
                factor *= 4.0;
                let distance = |a: &[f64], b: &[f64]| {
                    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
                };
                let error = distance(&next, &line[k]).max(distance(&next, &above[k]));
                if error.is_finite() && best.as_ref().is_none_or(|b| error < b.uncertainty) {
                    let of = |(p, m): (&f64, &f64)| 4.0 * epsilon * p.abs().max(m.abs()) / h;
                    let rounding = plus.iter().zip(&minus).map(of).collect();
                    best = Some(Limit { values: next.clone(), uncertainty: error, rounding });
                }
                line.push(next);
            }
        }
        table.push(line);
        h /= 2.0;
    }
    let settled = best.filter(|limit| {
        let size = limit.values.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
        limit.uncertainty <= settles_at * size
    });
    Ok(settled)
}

fn is_float(v: &Val) -> bool {
    v.ty().is_float()
}

/// All floats of some values, in order.
pub fn floats(values: &[Val]) -> Vec<f64> {
    let mut out = Vec::new();
    for v in values {
        match v {
            Val::Scalar(Scalar::F64(x)) => out.push(*x),
            Val::Scalar(Scalar::F32(x)) => out.push(f64::from(*x)),
            Val::Array(x) => out.extend(x.floats()),
            _ => {}
        }
    }
    out
}

/// The bits of values, any NaN being the same; tapes have none.
pub fn bits(values: &[Val]) -> Vec<u64> {
    let mut out = Vec::new();
    for v in values {
        match v {
            Val::Scalar(s) => out.push(s.key().1),
            Val::Array(x) => {
                let (shape, elements) = x.key();
                // A vector's length shows; other shapes are told apart.
                let shape = shape.into_iter().map(|n| n as u64).filter(|_| x.shape.len() > 1);
                out.extend(shape.chain(elements));
            }
            Val::Tape(_) => {}
        }
    }
    out
}

/// A value moved by `h` along a direction.
pub fn shifted(v: &Val, d: &Val, h: f64) -> Val {
    match (v, d) {
        (Val::Scalar(Scalar::F64(x)), Val::Scalar(Scalar::F64(d))) => Val::f64(x + h * d),
        (Val::Scalar(Scalar::F32(x)), Val::Scalar(Scalar::F32(d))) => {
            Val::Scalar(Scalar::F32((f64::from(*x) + h * f64::from(*d)) as f32))
        }
        (Val::Array(x), Val::Array(d)) => {
            let moved = x.floats().into_iter().zip(d.floats()).map(|(x, d)| x + h * d);
            Val::shaped(x.with_floats(moved))
        }
        _ => v.clone(),
    }
}

/// Counter-based random numbers (splitmix64), so that a seed names a check.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }

    /// A float in `lo..hi`.
    pub fn float(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A direction shaped like a value and of its size, so that a small parameter takes small steps.
    pub fn like(&mut self, v: &Val) -> Val {
        match v {
            Val::Array(x) => {
                let floats = x.floats();
                let size = size(floats.iter().fold(0.0, |m: f64, x| m.max(x.abs())));
                let direction = floats.iter().map(|_| size * self.float(-1.0, 1.0));
                Val::shaped(x.with_floats(direction))
            }
            Val::Scalar(Scalar::F64(x)) => Val::f64(size(x.abs()) * self.float(-1.0, 1.0)),
            Val::Scalar(Scalar::F32(x)) => {
                let direction = size(f64::from(x.abs())) * self.float(-1.0, 1.0);
                Val::Scalar(Scalar::F32(direction as f32))
            }
            _ => Val::f64(self.float(-1.0, 1.0)),
        }
    }
}

/// The step a value of this magnitude is moved by: of order one where it says nothing.
fn size(magnitude: f64) -> f64 {
    if magnitude.is_normal() { magnitude.clamp(1e-100, 1e100) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn report(text: &str) -> Report {
        let module = parse::module(text).unwrap();
        let derived = Derived::of(&module, "f", vec![0]).unwrap();
        derivatives(&derived, &mut Interpreter::default(), &[Val::f64(0.3372)], 2, 7).unwrap()
    }

    #[test]
    fn differences_that_rounding_drowns_are_not_believed() {
        let report = report("func @f(%x: f64) -> f64 { %y = add %x, 4e12  return %y }");
        assert!(report.passes(), "{report}");
        assert_eq!(report.unsettled, 2);
        // Beside a small one, too, that says nothing against either.
        let two = "func @f(%x: f64) -> (f64, f64) {
          %y = add %x, 4e12
          %z = mul %x, %x
          return %y, %z
        }";
        assert!(self::report(two).passes());
    }
}
