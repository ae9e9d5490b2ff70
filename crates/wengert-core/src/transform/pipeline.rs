//! The order of passes: [`run`] before differentiation, [`finish`] before native code.
//!
//! The first ones decide the order of adjoint sums and where products are fused, so they are part of
//! what a program means and are never switched off. Passes after differentiation change no bit.

use super::{calls, carries, dce, expand, fma, hoist, inline};
use crate::ir::{Func, Module, Op};
use crate::span::Diagnostic;
use std::sync::Arc;

/// Runs the pipeline on one function: inline, invariant carries (and, as the
/// function is rebuilt, simplification and common subexpressions), dead code, fma.
pub fn run(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    Ok(prepared(&inline::inline(module, name)?))
}

fn prepared(func: &Func) -> Func {
    fma::fuse(&dce::remove_dead(&carries::drop_invariant(func)))
}

/// A function ready to be differentiated, and the functions whose calls stay calls (recursive ones and
/// those with a rule), each through the pipeline, with the rules. The function comes first.
///
/// What stays a call reads the arrays it is given: a function copies those it writes.
pub fn module(module: &Module, name: &str) -> Result<Module, Diagnostic> {
    let kept = inline::stays(module);
    let mut result = Module::default();
    let mut work: Vec<Arc<str>> = vec![name.into()];
    while let Some(name) = work.pop() {
        if result.func(&name).is_some() {
            continue;
        }
        let func = prepared(&inline::inline_some(module, &name, &kept)?);
        func.body.walk(&mut |inst| {
            if let Op::Call(callee) = &inst.op {
                work.push(callee.clone());
            }
        });
        if let Some(rule) = module.rule(&name) {
            work.extend(rule.jvp.iter().chain(&rule.vjp).cloned());
            result.rules.push(rule.clone());
        }
        let first = result.funcs.is_empty() && !kept.contains(&name);
        result.funcs.push(if first { func } else { calls::by_value(&func) });
    }
    Ok(result)
}

/// What happens to programs on their way to native code: elementary functions are expanded, invariant
/// instructions leave their loops. Changes no bit.
pub fn finish(module: &Module) -> Module {
    let expanded = expand::module(module);
    let funcs = expanded.funcs.iter().map(hoist::invariants).collect();
    Module { funcs, ..expanded }
}
