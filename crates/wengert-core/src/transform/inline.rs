//! Inlining: calls to other functions of the module become their bodies.
//!
//! A function that (directly or not) calls itself cannot be inlined, and one with a rule of its own for
//! derivatives must not be: [`inline`] refuses them, [`inline_some`] leaves their calls.

use super::copy::{Copier, rebuild};
use crate::ir::{Builder, Func, Inst, Module, Op};
use crate::span::Diagnostic;
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

/// Names of functions whose calls stay calls.
pub type Kept = HashSet<Arc<str>>;

/// The functions of a module whose calls stay calls: those that come back to themselves, those with a rule, and those that are
/// somewhere else.
pub fn stays(module: &Module) -> Kept {
    let kept = module.funcs.iter().filter(|f| module.rule(&f.name).is_some() || returns(module, f));
    let external = module.externals.iter().map(|e| e.name.clone());
    kept.map(|f| f.name.clone()).chain(external).collect()
}

/// Whether a function calls itself, directly or not.
fn returns(module: &Module, func: &Func) -> bool {
    let (mut seen, mut work) = (HashSet::default(), vec![func]);
    while let Some(f) = work.pop() {
        let mut calls = Vec::new();
        f.body.walk(&mut |inst| {
            if let Op::Call(name) = &inst.op {
                calls.push(name.clone());
            }
        });
        for name in calls {
            if name == func.name {
                return true;
            }
            if let (true, Some(callee)) = (seen.insert(name.clone()), module.func(&name)) {
                work.push(callee);
            }
        }
    }
    false
}

/// A function with every call in it inlined but those of `kept` functions.
pub fn inline_some(module: &Module, name: &str, kept: &Kept) -> Result<Func, Diagnostic> {
    let Some(func) = module.func(name) else {
        return Err(Diagnostic::new("unknown-function", format!("there is no function `{name}`")));
    };
    let mut stack = vec![name.to_string()];
    let mut error = None;
    let result = rebuild(func, name, &mut |copier, b, inst| {
        call(module, func, kept, copier, b, inst, &mut stack, &mut error)
    });
    error.map_or(Ok(result), Err)
}

/// A function with every call in it inlined.
pub fn inline(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    inline_some(module, name, &Kept::default())
}

#[allow(clippy::too_many_arguments)]
fn call(
    module: &Module,
    caller: &Func,
    kept: &Kept,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
    stack: &mut Vec<String>,
    error: &mut Option<Diagnostic>,
) -> bool {
    let Op::Call(name) = &inst.op else { return false };
    if kept.contains(name) {
        return false;
    }
    let callee = match module.func(name) {
        Some(_) if module.rule(name).is_some() => {
            error.get_or_insert_with(|| {
                let message = format!("`{name}` has a rule for its derivatives and stays a call");
                Diagnostic::new("rule", message).label(inst.span, "this call")
            });
            return false;
        }
        Some(callee) if error.is_none() && !stack.iter().any(|s| **s == **name) => callee,
        _ => {
            error.get_or_insert_with(|| {
                Diagnostic::new("recursion", format!("`{name}` calls itself"))
                    .label(inst.span, "this call")
                    .help("write the recursion as a loop, or leave the call in place")
            });
            return false;
        }
    };
    let args = copier.all(caller, b, &inst.args);
    let mut inner = Copier::default();
    for (p, a) in callee.params().iter().zip(args) {
        inner.bind(*p, a);
    }
    stack.push(name.to_string());
    inner.insts_with(callee, b, &callee.body, &mut |copier, b, inst| {
        call(module, callee, kept, copier, b, inst, stack, error)
    });
    stack.pop();
    let results = inner.all(callee, b, &callee.body.yields);
    for (r, v) in inst.results.iter().zip(results) {
        copier.bind(*r, v);
    }
    true
}
