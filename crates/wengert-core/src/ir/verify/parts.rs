//! Functions that are somewhere else, rules and outlined loops: the functions they name must be there and fit.

use super::super::external::External;
use super::super::func::{LoopPlan, Module, Rule, Unstep};
use super::super::infer;
use super::super::types::Type;
use crate::span::Diagnostic;

/// Checks that a function that is somewhere else has derivatives only where they have a form.
pub(super) fn external(external: &External) -> Result<(), Diagnostic> {
    let name = &external.name;
    let error = |message: String| Err(Diagnostic::new("ir-invalid", message));
    let tapes = |types: &[Type]| types.iter().filter(|ty| **ty == Type::Tape).count();
    if tapes(&external.params) != tapes(&external.results) {
        return error(format!("`extern @{name}` must give back the tapes it takes"));
    }
    if external.vjp && tapes(&external.params) > 0 {
        return error(format!("`extern @{name}` takes a tape, so it cannot have a vjp"));
    }
    Ok(())
}

/// Checks that the functions of a rule have the types that derivatives of its function have.
pub(super) fn rule(module: &Module, rule: &Rule) -> Result<(), Diagnostic> {
    let error = |message: String| {
        Err(Diagnostic::new("ir-invalid", format!("in the rule of `@{}`: {message}", rule.func)))
    };
    let Some(func) = module.func(&rule.func) else {
        return error(format!("there is no function `@{}`", rule.func));
    };
    let floats =
        |types: &[Type]| types.iter().copied().filter(|t| t.is_float()).collect::<Vec<_>>();
    let (params, results) = (func.param_types(), func.results.clone());
    if params.contains(&Type::Tape) || results.contains(&Type::Tape) {
        return error("a function that takes or gives a tape cannot have one".into());
    }
    let (dx, dy) = (floats(&params), floats(&results));
    let jvp = ([&params[..], &dx].concat(), [&results[..], &dy].concat());
    let vjp = ([&params[..], &results, &dy].concat(), dx);
    for (mode, name, (takes, gives)) in [("jvp", &rule.jvp, jvp), ("vjp", &rule.vjp, vjp)] {
        let Some(name) = name else { continue };
        let Some(by) = module.func(name) else {
            return error(format!("there is no function `@{name}`"));
        };
        if by.param_types() != takes || by.results != gives {
            return error(format!(
                "its {mode} `@{name}` must be ({}) -> ({}), but is ({}) -> ({})",
                infer::list(&takes),
                infer::list(&gives),
                infer::list(&by.param_types()),
                infer::list(&by.results)
            ));
        }
    }
    Ok(())
}

/// Checks that the functions of an outlined loop fit together.
pub(super) fn plan(module: &Module, plan: &LoopPlan) -> Result<(), Diagnostic> {
    let error = |message: String| {
        Err(Diagnostic::new("ir-invalid", format!("in loop `@{}`: {message}", plan.name)))
    };
    let found = |name: &str| module.func(name).map(|f| (f.param_types(), f.results.clone()));
    let names = [("advance", &plan.advance), ("record", &plan.record), ("reverse", &plan.reverse)];
    if let Some((part, name)) = names.into_iter().find(|(_, name)| module.func(name).is_none()) {
        return error(format!("its `{part}` is `@{name}`, but there is no such function"));
    }
    let (Some(advance), Some(record), Some(reverse)) =
        (found(&plan.advance), found(&plan.record), found(&plan.reverse))
    else {
        unreachable!("just found");
    };
    let is = |name: &str, (takes, gives): &(Vec<Type>, Vec<Type>)| {
        format!("but `@{name}` is ({}) -> ({})", infer::list(takes), infer::list(gives))
    };
    let (integers, tape) = ([Type::I64; 3], Type::Tape);
    let (n, state) = (plan.carries, plan.state);
    let forward = advance.0.len() >= n + 2
        && advance.0[..2] == integers[..2]
        && [&advance.0[2..2 + n], &integers[..2]].concat() == advance.1;
    if !forward {
        return error(format!(
            "with {n} carries, `advance` must be (from, to, carries.., captures..) -> (carries.., done, exit), {}",
            is(&plan.advance, &advance)
        ));
    }
    if plan.is_only_run() {
        return Ok(());
    }
    let with_tape = |types: &[Type]| [types, &[tape]].concat();
    let wanted = (with_tape(&advance.0), with_tape(&advance.1));
    if record != wanted {
        return error(format!(
            "`record` must be `advance` with a tape, ({}) -> ({}), {}",
            infer::list(&wanted.0),
            infer::list(&wanted.1),
            is(&plan.record, &record)
        ));
    }
    let backward = reverse.0.len() >= state + 4
        && reverse.0[..3] == integers
        && reverse.0.last() == Some(&tape)
        && with_tape(&reverse.0[3..3 + state]) == reverse.1;
    if !backward {
        return error(format!(
            "with a state of {state}, `reverse` must be (from, to, exit, state.., fixed.., tape) -> (state.., tape), {}",
            is(&plan.reverse, &reverse)
        ));
    }
    if let Some(Unstep { func, free, .. }) = &plan.unstep {
        let Some(unstep) = found(func) else {
            return error(format!("its `unstep` is `@{func}`, but there is no such function"));
        };
        let wanted = (advance.0.clone(), advance.1[..n].to_vec());
        if unstep != wanted || plan.parallel || !plan.bounded {
            return error(format!(
                "of a `for` loop that is not parallel, `unstep` must be ({}) -> ({}), {}",
                infer::list(&wanted.0),
                infer::list(&wanted.1),
                is(func, &unstep)
            ));
        }
        if let Some(k) = free.iter().find(|k| **k >= n) {
            return error(format!("there is no carry {k} to be free"));
        }
    }
    let first = state.checked_sub(plan.finals.len());
    let fits = first.is_some_and(|first| {
        let finals = plan.finals.iter().enumerate();
        finals.clone().all(|(k, carry)| advance.1[..n].get(*carry) == reverse.1.get(first + k))
    });
    if fits {
        return Ok(());
    }
    error(format!(
        "the last {} of the reverse state must have the types of the carries its finals name",
        plan.finals.len()
    ))
}
