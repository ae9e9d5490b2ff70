//! Inlining: calls to other functions of the module become their bodies.
//!
//! A function that (directly or not) calls itself is refused here with its name.

use super::copy::{Copier, rebuild};
use crate::ir::{Builder, Func, Inst, Module, Op};
use crate::span::Diagnostic;

/// A function with every call in it inlined.
pub fn inline(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    let Some(func) = module.func(name) else {
        return Err(Diagnostic::new("unknown-function", format!("there is no function `{name}`")));
    };
    let mut stack = vec![name.to_string()];
    let mut error = None;
    let result = rebuild(func, name, &mut |copier, b, inst| {
        call(module, func, copier, b, inst, &mut stack, &mut error)
    });
    error.map_or(Ok(result), Err)
}

fn call(
    module: &Module,
    caller: &Func,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
    stack: &mut Vec<String>,
    error: &mut Option<Diagnostic>,
) -> bool {
    let Op::Call(name) = &inst.op else { return false };
    let callee = match module.func(name) {
        Some(callee) if error.is_none() && !stack.iter().any(|s| **s == **name) => callee,
        _ => {
            error.get_or_insert_with(|| {
                Diagnostic::new("recursion", format!("`{name}` calls itself"))
                    .label(inst.span, "this call")
                    .help("write the recursion as a loop; recursive functions cannot be differentiated yet")
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
        call(module, callee, copier, b, inst, stack, error)
    });
    stack.pop();
    let results = inner.all(callee, b, &callee.body.yields);
    for (r, v) in inst.results.iter().zip(results) {
        copier.bind(*r, v);
    }
    true
}
