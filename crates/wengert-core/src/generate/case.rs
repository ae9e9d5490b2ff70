//! The check of one program.
//!
//! [`Case::check`] puts a program through everything: the text form, the fixed pipeline, both modes of
//! differentiation against each other and against finite differences, and its outlined loops run in
//! two parts; then with arguments that do not fit (`unusual`). A panic of the compiler or of the interpreter is a finding like any other.

use super::compose;
use super::coverage::Coverage;
use crate::check::{self, Derived, Engine, Interpreter, Random};
use crate::fault::Fault;
use crate::interp::Val;
use crate::ir::{Func, Module, Op, parse, verify};
use crate::transform::pipeline::{self, Passes};
use crate::transform::{derivative, vjp};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Iterations after which a `while` loop of a generated program is taken not to end.
const MAX_ITERATIONS: u64 = 200;

/// Points near the case's own at which a doubtful disagreement is looked at again.
const NEARBY: usize = 5;

/// A program, where to run it, and what to differentiate by.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function.
    pub func: Func,
    /// Functions it calls.
    pub callees: Vec<Func>,
    /// Its arguments.
    pub args: Vec<Val>,
    /// Parameters differentiated by.
    pub wrt: Vec<usize>,
    /// Seed of directions and of where loops are split.
    pub seed: u64,
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program itself is ill-formed or fails at run time.
    Invalid,
    /// Printing and parsing again gives another program.
    Text,
    /// The fixed pipeline changes what the program computes, or its error.
    Pipeline,
    /// A derivative program is refused or ill-formed.
    Refused,
    /// The compiler or the interpreter panicked.
    Panic,
    /// A derivative program fails at run time.
    Fault,
    /// Reverse mode disagrees with forward mode, or recording changes the results.
    Reverse,
    /// Forward mode disagrees with finite differences.
    Forward,
    /// A loop in two parts is not the loop.
    Compose,
    /// A pass after differentiation changes bits.
    Finish,
    /// Second derivatives disagree.
    Nested,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Its kind.
    pub kind: Kind,
    /// What was seen.
    pub message: String,
}

pub(super) type Checked<T> = Result<T, Trouble>;

pub(super) fn trouble<T>(kind: Kind, message: impl ToString) -> Checked<T> {
    Err(Trouble { kind, message: message.to_string() })
}

fn calls(func: &Func) -> bool {
    let mut found = false;
    func.body.walk(&mut |inst| found |= matches!(inst.op, Op::Call(_)));
    found
}

pub(super) fn engine() -> Interpreter {
    Interpreter { max_iterations: MAX_ITERATIONS }
}

impl Case {
    /// Checks everything; gives back what was covered.
    pub fn check(&self) -> Checked<Coverage> {
        match quietly(|| self.steps()) {
            Ok(result) => result,
            Err(message) => trouble(Kind::Panic, message),
        }
    }

    fn steps(&self) -> Checked<Coverage> {
        let funcs = std::iter::once(&self.func).chain(&self.callees).cloned().collect();
        let module = Module { funcs, ..Module::default() };
        verify::module(&module).or_else(|e| trouble(Kind::Invalid, e))?;
        round_trip(&module)?;
        let func = self.simplify(&module)?;
        let errors = self.misfits(&module)?;
        self.extremes(&module)?;
        let mut coverage = Coverage::of(&func, !self.callees.is_empty() && calls(&self.func));
        coverage.with.insert("errors at other arguments", errors.into());
        let derived =
            Derived::new(func, self.wrt.clone()).or_else(|e| trouble(Kind::Refused, e))?;
        coverage.reversed(&derived.reverse);
        round_trip(&derived.forward)?;
        round_trip(&derived.reverse)?;
        let value =
            derived.value(&mut engine(), &self.args).or_else(|e| trouble(Kind::Fault, e))?;

        let report = check::derivatives(&derived, &mut engine(), &self.args, 2, self.seed)
            .or_else(|e| trouble(Kind::Fault, e))?;
        coverage.directions = report.directions as u64;
        coverage.unsettled = report.unsettled as u64;
        let modes_agree = report.reverse_error <= 1e-9;
        if !modes_agree {
            return trouble(Kind::Reverse, &report);
        }
        if !report.passes() && self.persists(&derived) {
            return trouble(Kind::Forward, &report);
        }

        self.split(&derived, &value)?;
        if self.seed.is_multiple_of(2) {
            self.nested(&derived, &value)?;
        }
        self.finish(&derived, &value)?;
        Ok(coverage)
    }

    /// The fixed pipeline. What comes before fusing may change no bit, and the gradient only by the order
    /// of sums; fusing may change rounding.
    fn simplify(&self, module: &Module) -> Checked<Func> {
        let raw = Run { module, args: &self.args };
        let value = raw.bits(&self.func.name).or_else(|e| trouble(Kind::Invalid, e))?;
        let stages =
            pipeline::stages(module, &self.func.name).or_else(|e| trouble(Kind::Pipeline, e))?;
        let inlined = stages[0].1.clone();
        let (mut plain, mut value, mut fused) = (None, value, false);
        for (name, func) in stages {
            let after = Module::of(func);
            verify::module(&after)
                .or_else(|e| trouble(Kind::Pipeline, format!("after {name}: {e}")))?;
            let found = (Run { module: &after, args: &self.args }).bits(&self.func.name);
            if name == "fma" {
                // What comes behind it keeps the bits that this gives.
                let Ok(bits) = found else { break };
                (value, fused) = (bits, true);
                continue;
            }
            match found {
                Ok(bits) if bits == value && fused => {}
                Ok(bits) if bits == value => plain = Some(after),
                Ok(_) => return trouble(Kind::Pipeline, format!("{name} changes bits")),
                Err(fault) => return trouble(Kind::Pipeline, format!("{name}: {fault}")),
            }
        }
        if let Some(plain) = plain {
            self.same_gradient(&inlined, &plain)?;
        }
        let fused =
            pipeline::run(module, &self.func.name).or_else(|e| trouble(Kind::Pipeline, e))?;
        let after = Module::of(fused);
        let differs = |args: &[Val]| {
            let a = engine().call(module, &self.func.name, args);
            let b = engine().call(&after, &self.func.name, args);
            match (a, b) {
                (Ok(a), Ok(b)) => !close(&check::floats(&a), &check::floats(&b)),
                (a, b) => a.is_ok() != b.is_ok(),
            }
        };
        // Rounding may tip a comparison over; a mistake shows nearby too.
        let mut random = Random(self.seed);
        if differs(&self.args)
            && (0..NEARBY).all(|_| differs(&moved(&self.args, &mut random, 1e-3)))
        {
            return trouble(Kind::Pipeline, "the pipeline changes the results beyond rounding");
        }
        let [func] = <[Func; 1]>::try_from(after.funcs).unwrap_or_else(|_| unreachable!());
        Ok(func)
    }

    /// What the pipeline does before fusing leaves the gradient as it was, but for the order of sums.
    fn same_gradient(&self, before: &Func, after: &Module) -> Checked<()> {
        let gradient = |func: &Func| {
            let module = vjp::vjp(func, &self.wrt).or_else(|e| trouble(Kind::Refused, e))?;
            let value = engine().call(after, &func.name, &self.args);
            let value = value.or_else(|e| trouble(Kind::Fault, e))?;
            let mut random = Random(self.seed);
            let floats = func.results.iter().zip(&value).filter(|(ty, _)| ty.is_float());
            let seeds: Vec<Val> = floats.map(|(_, v)| random.like(v)).collect();
            let args: Vec<Val> = self.args.iter().chain(&seeds).cloned().collect();
            let results = engine().call(&module, &format!("{}.vjp", func.name), &args);
            let results = results.or_else(|e| trouble(Kind::Fault, e))?;
            Ok(check::floats(&results[func.results.len()..]))
        };
        let (a, b) = (gradient(before)?, gradient(&after.funcs[0])?);
        if agree(&a, &b, 1e-9 * size(&a)) {
            Ok(())
        } else {
            trouble(Kind::Pipeline, format!("the gradient was {a:?} and is {b:?}"))
        }
    }

    /// Whether forward mode and finite differences disagree at most points nearby, in a way that no kink
    /// explains: differences to both sides, at two steps, agree with each other and not with the tangent.
    fn persists(&self, derived: &Derived) -> bool {
        let mut random = Random(self.seed ^ 0x5eed);
        let mut wrong = 0;
        for k in 0..NEARBY {
            let size = if k == 0 { 0.0 } else { 1e-3 };
            let at = moved(&self.args, &mut random, size);
            let u: Vec<Val> = derived.wrt.iter().map(|k| random.like(&at[*k])).collect();
            wrong += usize::from(disagrees(derived, &at, &u).unwrap_or(false));
        }
        2 * wrong > NEARBY
    }

    /// Runs outlined loops in two parts.
    fn split(&self, derived: &Derived, value: &[Val]) -> Checked<()> {
        if derived.reverse.loops.is_empty() {
            return Ok(());
        }
        let record = format!("{}.record", self.func.name);
        let head = Random(self.seed).below(5) as i64;
        let module = compose::split(&derived.reverse, &record, head);
        verify::module(&module).or_else(|e| trouble(Kind::Compose, e))?;
        match engine().call(&module, &record, &self.args) {
            Ok(results) if check::bits(&results) == check::bits(value) => {}
            Ok(_) => {
                return trouble(Kind::Compose, format!("results differ after {head} iterations"));
            }
            Err(fault) => return trouble(Kind::Compose, format!("{fault} (split after {head})")),
        }
        let reverse = format!("{}.reverse", self.func.name);
        let module = compose::split_reverse(&derived.reverse, &reverse, head);
        verify::module(&module).or_else(|e| trouble(Kind::Compose, e))?;
        let (args, name) = self.vjp_call(derived, value);
        let whole = Run { module: &derived.reverse, args: &args }.bits(&name);
        let split = Run { module: &module, args: &args }.bits(&name);
        if whole != split {
            let message = format!("the gradient differs, reversed in parts at {head}");
            return trouble(Kind::Compose, message);
        }
        self.outlined(derived, (&args, &name), head)
    }

    /// With inner loops outlined as well, at once and in two parts.
    fn outlined(&self, derived: &Derived, (args, name): (&[Val], &str), head: i64) -> Checked<()> {
        let nested =
            vjp::nested(&derived.func, &self.wrt).or_else(|e| trouble(Kind::Refused, e))?;
        let Some(nested) = nested else { return Ok(()) };
        let whole = Run { module: &derived.reverse, args }.bits(name);
        let mut parts = nested.clone();
        for func in &nested.funcs {
            parts = compose::split_reverse(&parts, &func.name, head);
        }
        for (module, how) in [(nested, "whole"), (parts, "in parts")] {
            verify::module(&module).or_else(|e| trouble(Kind::Compose, e))?;
            if (Run { module: &module, args }).bits(name) != whole {
                let message = format!("the gradient differs, inner loops outlined, {how}");
                return trouble(Kind::Compose, message);
            }
        }
        Ok(())
    }

    /// Arguments for the vjp with random adjoints, and its name.
    fn vjp_call(&self, derived: &Derived, value: &[Val]) -> (Vec<Val>, String) {
        let mut random = Random(self.seed);
        let floats = derived.func.results.iter().zip(value).filter(|(ty, _)| ty.is_float());
        let seeds: Vec<Val> = floats.map(|(_, v)| random.like(v)).collect();
        let args = self.args.iter().chain(&seeds).cloned().collect();
        (args, format!("{}.vjp", derived.func.name))
    }

    /// A Hessian times a vector is the same whichever way it is made, and differences of the gradient give
    /// it too.
    fn nested(&self, derived: &Derived, value: &[Val]) -> Checked<()> {
        let mut random = Random(self.seed ^ 0x4e57);
        let results = value.iter().zip(&derived.func.results).filter(|(_, ty)| ty.is_float());
        let weights: Vec<Val> = results.map(|(v, _)| random.like(v)).collect();
        let along: Vec<Val> = self.wrt.iter().map(|k| random.like(&self.args[*k])).collect();
        let products = check::hessian_products(
            &derived.primal,
            &derived.func.name,
            &self.wrt,
            &mut engine(),
            &self.args,
            (&weights, &along),
        )
        .or_else(|e| trouble(Kind::Nested, e))?;
        let [first, others @ ..] = &products;
        let size = products.iter().map(|p| size(p)).fold(0.0, f64::max);
        for (other, way) in others.iter().zip(["reverse over forward", "reverse over reverse"]) {
            if !agree(first, other, 1e-7 * size) {
                let message = format!("forward over reverse {first:?}\n{way} {other:?}");
                return trouble(Kind::Nested, message);
            }
        }
        self.gradient(derived, weights)
    }

    /// The gradient as a function of its own: the bits of the reverse program, and derivatives of it that
    /// agree with differences.
    fn gradient(&self, derived: &Derived, weights: Vec<Val>) -> Checked<()> {
        let name = format!("{}.vjp", derived.func.name);
        let module = derivative::vjp_of(&derived.primal, &derived.func.name, &self.wrt)
            .or_else(|e| trouble(Kind::Nested, e))?;
        let args: Vec<Val> = self.args.iter().cloned().chain(weights).collect();
        let flat = Run { module: &module, args: &args }.bits(&name);
        if flat != (Run { module: &derived.reverse, args: &args }.bits(&name)) {
            return trouble(Kind::Nested, "the gradient as one function has other bits");
        }
        let second =
            Derived::of(&module, &name, self.wrt.clone()).or_else(|e| trouble(Kind::Nested, e))?;
        let report = check::derivatives(&second, &mut engine(), &args, 1, self.seed)
            .or_else(|e| trouble(Kind::Nested, e))?;
        let case = Case { args, ..self.clone() };
        let modes_agree = report.reverse_error <= 1e-7;
        if !modes_agree || (!report.passes() && case.persists(&second)) {
            return trouble(Kind::Nested, &report);
        }
        Ok(())
    }

    /// What happens to programs on their way to native code changes no bit.
    fn finish(&self, derived: &Derived, value: &[Val]) -> Checked<()> {
        let (args, name) = self.vjp_call(derived, value);
        let plain = Run { module: &derived.reverse, args: &args }.bits(&name);
        // Every pass, and some of them.
        for passes in [Passes::ALL, Passes::some(self.seed)] {
            let finished = pipeline::finish_with(&derived.reverse, &passes);
            verify::module(&finished)
                .or_else(|e| trouble(Kind::Finish, format!("{passes:?}: {e}")))?;
            if plain != (Run { module: &finished, args: &args }).bits(&name) {
                return trouble(Kind::Finish, format!("{passes:?}: bits differ"));
            }
        }
        Ok(())
    }
}

struct Run<'a> {
    module: &'a Module,
    args: &'a [Val],
}

impl Run<'_> {
    fn bits(&self, name: &str) -> Result<Vec<u64>, Fault> {
        engine().call(self.module, name, self.args).map(|values| check::bits(&values))
    }
}

/// The arguments with floats moved a little.
fn moved(args: &[Val], random: &mut Random, size: f64) -> Vec<Val> {
    args.iter().map(|v| check::shifted(v, &random.like(v), size)).collect()
}

/// The largest of the numbers that are finite, for errors to be measured by.
fn size(numbers: &[f64]) -> f64 {
    numbers.iter().filter(|x| x.is_finite()).fold(1e-3, |m, x| m.max(x.abs()))
}

/// Whether numbers are the same, or finite and at most `most` apart.
fn agree(a: &[f64], b: &[f64], most: f64) -> bool {
    let close = |(x, y): (&f64, &f64)| {
        x == y || (x.is_nan() && y.is_nan()) || (most.is_finite() && (x - y).abs() <= most)
    };
    a.len() == b.len() && a.iter().zip(b).all(close)
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-6 * (1.0 + x.abs()))
}

/// Whether differences settle on something other than the tangent.
fn disagrees(derived: &Derived, at: &[Val], u: &[Val]) -> Result<bool, Fault> {
    let (value, tangents) = derived.jvp(&mut engine(), at, u)?;
    let (value, tangent) = (check::floats(&value), check::floats(&tangents));
    let mut slopes = Vec::new();
    for h in [1e-5, -1e-5, 1e-6, -1e-6] {
        let mut args = at.to_vec();
        for (k, d) in derived.wrt.iter().zip(u) {
            args[*k] = check::shifted(&at[*k], d, h);
        }
        let there = check::floats(&derived.value(&mut engine(), &args)?);
        if there.len() != value.len() {
            return Ok(false);
        }
        slopes.push(there.iter().zip(&value).map(|(a, b)| (a - b) / h).collect::<Vec<f64>>());
    }
    Ok((0..tangent.len()).any(|k| {
        let all: Vec<f64> = slopes.iter().map(|s| s[k]).collect();
        let (lo, hi) = all.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        let size = 1e-3 + tangent[k].abs().max(all[2].abs());
        let settled = hi - lo <= 1e-2 * size;
        let off = (tangent[k] - all[2]).abs() > 5e-2 * size;
        settled && (off || !tangent[k].is_finite())
    }))
}

/// What is printed can be read, and is the same program but for the numbers of values.
fn round_trip(module: &Module) -> Checked<()> {
    let text = module.to_string();
    let once = parse::module(&text).or_else(|e| trouble(Kind::Text, format!("{e}\n{text}")))?;
    let again = once.to_string();
    let twice = parse::module(&again).or_else(|e| trouble(Kind::Text, e))?.to_string();
    if again != twice || renumbered(&text) != renumbered(&again) {
        return trouble(Kind::Text, format!("printed:\n{text}\nread and printed:\n{again}"));
    }
    Ok(())
}

/// Text with values numbered by their first appearance, from each function on.
fn renumbered(text: &str) -> String {
    let mut out = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for (k, piece) in text.split('%').enumerate() {
        if k == 0 {
            out.push_str(piece);
            continue;
        }
        let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        let (mut name, mut rest) = piece.split_at(end.unwrap_or(piece.len()));
        if let Some(at) = name.find("..") {
            (name, rest) = piece.split_at(at);
        }
        let number = seen.iter().position(|s| *s == name).unwrap_or_else(|| {
            seen.push(name);
            seen.len() - 1
        });
        let hint = name.rsplit_once('.').map_or("", |(hint, _)| hint);
        out.push_str(&format!("%{hint}.{number}{rest}"));
        if rest.contains("func @") {
            seen.clear();
        }
    }
    out
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs something, its panics caught and not printed.
fn quietly<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(before);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            Kind::Invalid => "the program is not well-formed",
            Kind::Text => "the text form does not hold the program",
            Kind::Pipeline => "the fixed pipeline changes the program",
            Kind::Refused => "a derivative program is refused",
            Kind::Panic => "panic",
            Kind::Fault => "a derivative program fails",
            Kind::Reverse => "reverse mode disagrees with forward mode",
            Kind::Forward => "forward mode disagrees with finite differences",
            Kind::Compose => "a loop in two parts is not the loop",
            Kind::Nested => "second derivatives disagree",
            Kind::Finish => "a pass after differentiation changes bits",
        };
        write!(f, "{what}: {}", self.message)
    }
}
