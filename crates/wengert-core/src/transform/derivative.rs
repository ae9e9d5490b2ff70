//! Derivatives that can be differentiated again.
//!
//! [`jvp_of`] and [`vjp_of`] take a module and a function of it (both from
//! [`pipeline::module`](super::pipeline::module)) and add one function, which is like any other: it takes no
//! tape and drives no loops. So they nest in any order:
//!
//! ```
//! use wengert_core::ir::parse;
//! use wengert_core::interp::{Interp, Val};
//! use wengert_core::transform::{derivative, pipeline};
//!
//! let text = "func @cube(%x: f64) -> f64 { %q = mul %x, %x  %c = mul %q, %x  return %c }";
//! let module = pipeline::module(&parse::module(text)?, "cube")?;
//! let module = derivative::vjp_of(&module, "cube", &[0])?;
//! let module = derivative::jvp_of(&module, "cube.vjp", &[0], 1)?;
//! // x, y_bar, dx -> y, x_bar, dy, dx_bar
//! let args = [2.0, 1.0, 1.0].map(Val::f64).to_vec();
//! let results = Interp::new(&module).call("cube.vjp.jvp", args).unwrap();
//! assert_eq!(wengert_core::check::floats(&results), [8.0, 12.0, 12.0, 12.0]);
//! # Ok::<(), wengert_core::span::Diagnostic>(())
//! ```
//!
//! [`products`] is forward over reverse whose loops can still run in pieces.
//!
//! Tangents and adjoints of each order are values of their own in the program, so one derivative is
//! never taken for another.

use super::copy::Copier;
use super::flat::{self, flat};
use super::{jvp, vjp};
use crate::ir::{Builder, Func, Module, Type};
use crate::ops::Prim;
use crate::span::Diagnostic;
use rustc_hash::FxHashSet as HashSet;

/// Forward mode: adds `@f.jvp(x.., dx..) -> (y.., dy..)`, for several directions `@f.jvp8`.
pub fn jvp_of(
    module: &Module,
    name: &str,
    wrt: &[usize],
    directions: usize,
) -> Result<Module, Diagnostic> {
    let mut derived = jvp::in_module(module, name, wrt, directions)?;
    let title = jvp::name(name, directions);
    let joined = flat(&derived, &title)?;
    derived.funcs.retain(|f| *f.name != *title);
    derived.funcs.push(joined);
    Ok(derived)
}

/// Reverse mode: adds `@f.vjp(x.., y_bar..) -> (y.., x_bar..)`.
pub fn vjp_of(module: &Module, name: &str, wrt: &[usize]) -> Result<Module, Diagnostic> {
    let mut derived = vjp::in_module(module, name, wrt)?;
    let joined = flat(&derived, &format!("{name}.vjp"))?;
    // What has been put in place is not called any more.
    let parts = [".vjp", ".record", ".reverse"].map(|part| format!("{name}{part}"));
    let outlined = derived.loops.iter().filter(|plan| module.plan(&plan.name).is_none());
    let parts: HashSet<String> = outlined
        .flat_map(|plan| [&plan.advance, &plan.record, &plan.reverse])
        .map(|part| part.to_string())
        .chain(parts)
        .collect();
    derived.funcs.retain(|f| module.func(&f.name).is_some() || !parts.contains(&*f.name));
    derived.loops.clone_from(&module.loops);
    derived.funcs.push(joined);
    Ok(derived)
}

/// The function, with derivatives of nothing by the parameters with these indices.
pub fn held(func: &Func, params: &[usize]) -> Func {
    let typed = func.params().iter().map(|p| (func.ty(*p), func.name_of(*p)));
    let (mut b, mut values) = Builder::new(func.name.clone(), &typed.collect::<Vec<_>>());
    for k in params {
        values[*k] = b.prim(Prim::StopGradient, &[values[*k]]);
    }
    let results = Copier::of(func, &values).body(func, &mut b, &mut |_, _, _| false);
    b.finish(results)
}

/// Forward over reverse: adds `@f.vjp.jvp(x.., y_bar.., dx.., tape) -> (y.., x_bar.., dy.., dx_bar.., tape)`, by the parameters in
/// `wrt` and along those in `along`. Loops that a driver can run in pieces can be run so again.
pub fn products(
    module: &Module,
    name: &str,
    wrt: &[usize],
    along: &[usize],
) -> Result<Module, Diagnostic> {
    let gradient = format!("{name}.vjp");
    let once = flat::but_loops(&vjp::in_module(module, name, wrt)?, &gradient)?;
    let mut twice = jvp::in_module(&once, &gradient, along, 1)?;
    let title = jvp::name(&gradient, 1);
    // Only what is driven now is made.
    twice.loops.retain(|plan| once.plan(&plan.name).is_none());
    twice.funcs.retain(|f| {
        !once
            .loops
            .iter()
            .any(|plan| [&plan.advance, &plan.record, &plan.reverse].contains(&&f.name))
            && *f.name != *gradient
    });
    for func in twice.funcs.iter_mut().filter(|f| *f.name == *title) {
        // The tape comes last, as everywhere.
        let (tapes, others): (Vec<_>, Vec<_>) =
            func.body.params.iter().partition(|p| func.ty(**p) == Type::Tape);
        func.body.params = [others, tapes].concat();
        let (tapes, others): (Vec<_>, Vec<_>) =
            func.body.yields.iter().partition(|y| func.ty(**y) == Type::Tape);
        func.body.yields = [others, tapes].concat();
        func.results = func.body.yields.iter().map(|y| func.ty(*y)).collect();
    }
    Ok(twice)
}
