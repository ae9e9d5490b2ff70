//! Programs run with arguments they were not made for.
//!
//! Generated programs do not fail with the arguments they come with. With arrays of other lengths and other
//! integers many do, and then they must do so in the same way after every pass: the same error, at the same
//! place. With numbers so large and so small that products overflow, a gradient that is finite must not
//! become one that is no number.

use super::case::{Case, Checked, Kind, engine, trouble};
use crate::check::{self, Derived, Engine, Random};
use crate::fault::{Fault, FaultKind};
use crate::interp::Val;
use crate::ir::{Module, Type, parse};
use crate::ops::{Array, Scalar};
use crate::transform::{pipeline, vjp};

/// How many times a program is run with other arguments.
const TIMES: u64 = 3;

/// Whether an error is that of the program: what happened, and where. A name must not be lost; which one an array
/// has that had several in turn is for passes to choose.
pub fn same_fault(of_program: &Fault, after: &Fault) -> bool {
    let named = |fault: &Fault| matches!(&fault.kind, FaultKind::Index { array: Some(_), .. });
    let unnamed = |fault: &Fault| match fault.kind.clone() {
        FaultKind::Index { index, len, axis, .. } => {
            FaultKind::Index { array: None, index, len, axis }
        }
        kind => kind,
    };
    let same = unnamed(of_program) == unnamed(after) && of_program.span == after.span;
    same && (named(after) || !named(of_program))
}

impl Case {
    /// The pipeline and both modes keep errors, and results where there is none. Says whether there were any.
    pub(super) fn misfits(&self, module: &Module) -> Checked<bool> {
        let name = &*self.func.name;
        // Read again, every instruction has a place.
        let module = parse::module(&module.to_string()).or_else(|e| trouble(Kind::Text, e))?;
        let mut random = Random(self.seed ^ 0x0dd);
        let stages = pipeline::stages(&module, name).or_else(|e| trouble(Kind::Pipeline, e))?;
        let (_, last) = stages[stages.len() - 1].clone();
        let derived =
            Derived::new(last, self.wrt.clone()).or_else(|e| trouble(Kind::Refused, e))?;
        let mut any = false;
        for _ in 0..TIMES {
            let args: Vec<Val> = self.args.iter().map(|v| misfit(v, &mut random)).collect();
            let mut raw = engine().call(&module, name, &args).map(|v| check::bits(&v));
            let shown = || args.iter().map(super::show).collect::<Vec<_>>().join(", ");
            for (stage, func) in &stages {
                let after = engine().call(&Module::of(func.clone()), name, &args);
                let after = after.map(|v| check::bits(&v));
                let same = match (&raw, &after) {
                    (Ok(a), Ok(b)) => *stage == "fma" || a == b,
                    (Err(a), Err(b)) => same_fault(a, b),
                    // Rounding may tip a comparison over.
                    _ => *stage == "fma",
                };
                if *stage == "fma" {
                    // What comes behind it keeps what this gives.
                    raw = after;
                }
                if !same {
                    let message =
                        format!("{stage} at ({}), where the program gives {raw:?}", shown());
                    return trouble(Kind::Pipeline, message);
                }
            }
            // Both modes start from the last stage.
            let Err(fault) = derived.value(&mut engine(), &args) else { continue };
            any = true;
            let along: Vec<Val> = self.wrt.iter().map(|k| random.like(&args[*k])).collect();
            let forward = derived.jvp(&mut engine(), &args, &along).err();
            let record = engine().call(&derived.reverse, &format!("{name}.record"), &args).err();
            for (mode, found) in [("forward mode", forward), ("recording", record)] {
                if !found.as_ref().is_some_and(|found| same_fault(&fault, found)) {
                    let message = format!("{mode} at ({}): {found:?}, not {fault:?}", shown());
                    return trouble(Kind::Fault, message);
                }
            }
        }
        Ok(any)
    }

    /// What the pipeline does before fusing makes no finite gradient one that is no number.
    pub(super) fn extremes(&self, module: &Module) -> Checked<()> {
        let name = &*self.func.name;
        let mut random = Random(self.seed ^ 0xb16);
        let args: Vec<Val> = self.args.iter().map(|v| extreme(v, &mut random)).collect();
        let stages = pipeline::stages(module, name).or_else(|e| trouble(Kind::Pipeline, e))?;
        let Ok(value) = engine().call(module, name, &args) else { return Ok(()) };
        let floats = value.iter().filter(|v| v.ty().is_float());
        let seeds: Vec<Val> = floats.map(|v| random.like(v)).collect();
        let all: Vec<Val> = args.iter().chain(&seeds).cloned().collect();
        let mut gradients = Vec::new();
        for (stage, func) in stages.iter().filter(|(stage, _)| ["inline", "group"].contains(stage))
        {
            let module = vjp::vjp(func, &self.wrt).or_else(|e| trouble(Kind::Refused, e))?;
            let results = engine().call(&module, &format!("{name}.vjp"), &all);
            let results =
                results.or_else(|e| trouble(Kind::Fault, format!("after {stage}: {e}")))?;
            gradients.push(check::floats(&results[value.len()..]));
        }
        let [before, after] = &gradients[..] else { return Ok(()) };
        if before.iter().all(|x| x.is_finite()) && after.iter().any(|x| x.is_nan()) {
            let shown = args.iter().map(super::show).collect::<Vec<_>>().join(", ");
            let message = format!("at ({shown}) the gradient was {before:?} and is {after:?}");
            return trouble(Kind::Pipeline, message);
        }
        Ok(())
    }
}

/// An argument of the same type: mostly an array of another shape, or another integer.
fn misfit(v: &Val, random: &mut Random) -> Val {
    match v {
        Val::Scalar(Scalar::I64(_)) => Val::i64(random.below(12) as i64 - 3),
        Val::Array(x) if v.ty().is_float() && v.ty() != Type::Tape => {
            let other = |n: &usize, random: &mut Random| match random.below(4) {
                0 => n.saturating_sub(1),
                1 => n + 1,
                2 => 0,
                _ => *n,
            };
            let shape: Vec<usize> = x.shape.iter().map(|n| other(n, random)).collect();
            let n = shape.iter().product();
            let elements: Vec<f64> = (0..n).map(|_| random.float(-1.5, 1.5)).collect();
            Val::shaped(Array::new(shape, elements))
        }
        other => other.clone(),
    }
}

/// Floats some of which are very large or very small; now and then an integer that is zero.
fn extreme(v: &Val, random: &mut Random) -> Val {
    let one = |x: f64, random: &mut Random| match random.below(4) {
        0 => 1e200 * x,
        1 => 1e-200 * x,
        _ => x,
    };
    match v {
        Val::Scalar(Scalar::F64(x)) => Val::f64(one(*x, random)),
        Val::Scalar(Scalar::I64(_)) if random.below(2) == 0 => Val::i64(0),
        Val::Array(x) if v.ty().is_float() => {
            let elements: Vec<f64> =
                check::floats(std::slice::from_ref(v)).iter().map(|x| one(*x, random)).collect();
            Val::shaped(x.with_floats(elements.into_iter()))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[test]
    fn names_may_be_found_and_not_lost() {
        let fault = |array: Option<&str>, index| Fault {
            kind: FaultKind::Index { array: array.map(Into::into), index, len: 3, axis: None },
            span: Span::default(),
            iterations: Vec::new(),
        };
        assert!(same_fault(&fault(None, 4), &fault(Some("x"), 4)));
        assert!(!same_fault(&fault(Some("x"), 4), &fault(None, 4)));
        assert!(same_fault(&fault(Some("x"), 4), &fault(Some("y"), 4)));
        assert!(!same_fault(&fault(None, 4), &fault(None, 5)));
    }
}
