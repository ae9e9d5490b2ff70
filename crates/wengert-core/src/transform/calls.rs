//! What both modes ask about calls.

use super::copy::Copier;
use crate::ir::verify::consumes;
use crate::ir::{Builder, External, Func, Module, Op, Value};
use crate::span::{Diagnostic, Span};

/// The function of that name, or an error.
pub(super) fn find<'m>(module: &'m Module, name: &str) -> Result<&'m Func, Diagnostic> {
    let unknown =
        || Diagnostic::new("unknown-function", format!("there is no function `@{name}` to call"));
    module.func(name).ok_or_else(unknown)
}

/// The function to differentiate: one with a rule is a call of itself, so that its rule is used.
pub(super) fn subject(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    let func = find(module, name)?;
    if module.rule(name).is_none() {
        return Ok(func.clone());
    }
    let params: Vec<_> = func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let (mut b, values) = Builder::new(func.name.clone(), &params);
    let results = b.inst(Op::Call(func.name.clone()), values, &func.results, Vec::new());
    Ok(b.finish(results))
}

/// The parameters a function is differentiated by: floats, or tapes of a function called by others.
pub(super) fn parameters(func: &Func, wrt: &[usize]) -> Result<Vec<Value>, Diagnostic> {
    let each = wrt.iter().map(|k| {
        let error = |message: String| Err(Diagnostic::new("not-differentiable", message));
        match func.params().get(*k) {
            Some(p) if func.ty(*p).has_adjoint() => Ok(*p),
            Some(p) => error(format!(
                "parameter {k} of `@{}` is {}; only floats can be differentiated by",
                func.name,
                func.ty(*p)
            )),
            None => error(format!("`@{}` has no parameter {k}", func.name)),
        }
    });
    each.collect()
}

/// A name that a derivative cannot have.
pub(super) fn taken(name: &str) -> Diagnostic {
    Diagnostic::new("defined-twice", format!("there is a function `@{name}` already"))
}

/// Adds a function that calls are to become. One of its name that an earlier derivative made serves as well;
/// any other is not taken for it.
pub(super) fn add(module: &mut Module, func: Func) -> Result<(), Diagnostic> {
    match module.func(&func.name) {
        None => module.funcs.push(func),
        Some(there) if there.has_code_of(&func) => {}
        Some(there) => return Err(taken(&there.name)),
    }
    Ok(())
}

/// Declares a function that is somewhere else.
pub(super) fn declare(module: &mut Module, external: External) {
    if module.external(&external.name).is_none() {
        module.externals.push(external);
    }
}

/// A callee must not take over the arrays it is given: the derivative program needs them too.
pub(super) fn only_reads(module: &Module, name: &str, span: Span) -> Result<(), Diagnostic> {
    if module.external(name).is_some() {
        return Ok(());
    }
    let callee = find(module, name)?;
    let taken =
        callee.params().iter().find(|p| callee.ty(**p).is_array() && consumes(module, callee, **p));
    match taken {
        None => Ok(()),
        Some(_) => Err(Diagnostic::new(
            "unsupported-transform",
            format!("`@{name}` takes over an array it is given, so its calls have no derivative as they are"),
        )
        .label(span, "this call")
        .help("`pipeline::module` puts calls in place or makes them copy what they write")),
    }
}

/// A rule that lacks the mode asked for.
pub(super) fn no_rule(name: &str, mode: &str, span: Span) -> Diagnostic {
    let other = if mode == "jvp" { "vjp" } else { "jvp" };
    let message = format!("the rule of `@{name}` has no {mode}, which this derivative needs");
    Diagnostic::new("rule", message)
        .label(span, "this call")
        .help(format!("add `{mode} @..` to the rule, or use the mode it has: {other}"))
}

/// A function that is somewhere else, in a mode in which it has no derivative.
pub(super) fn no_mode(external: &External, mode: &str, span: Span) -> Diagnostic {
    let message = format!("`extern @{}` has no {mode}, which this derivative needs", external.name);
    Diagnostic::new("external-function", message).label(span, "this call").help(format!(
        "add `{mode}` to its declaration; what is made of such calls has derivatives forward over reverse, and no others"
    ))
}

/// The function again, with copies of the arrays it would take over. A call of it then reads its
/// arguments only.
pub(super) fn by_value(func: &Func) -> Func {
    let params: Vec<_> = func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let (mut b, mut values) = Builder::new(func.name.clone(), &params);
    // No function is in sight: what is passed on to calls is read there.
    let nobody = Module::default();
    for (p, v) in func.params().iter().zip(&mut values) {
        if func.ty(*p).is_array() && consumes(&nobody, func, *p) {
            *v = b.op(Op::Copy, &[*v])[0];
        }
    }
    let results = Copier::of(func, &values).body(func, &mut b, &mut |_, _, _| false);
    b.finish(results)
}
