//! The order of passes: [`run`] before differentiation, [`finish`] before native code.
//!
//! The first ones decide the order of adjoint sums and where products are fused, so they are part of
//! what a program means and are never switched off. Passes after differentiation change no bit.

use super::{carries, dce, expand, fma, hoist, inline};
use crate::ir::{Func, Module};
use crate::span::Diagnostic;

/// Runs the pipeline on one function: inline, invariant carries (and, as the
/// function is rebuilt, simplification and common subexpressions), dead code, fma.
pub fn run(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    let func = inline::inline(module, name)?;
    let func = carries::drop_invariant(&func);
    let func = dce::remove_dead(&func);
    Ok(fma::fuse(&func))
}

/// What happens to programs on their way to native code: elementary functions are expanded, invariant
/// instructions leave their loops. Changes no bit.
pub fn finish(module: &Module) -> Module {
    let expanded = expand::module(module);
    let funcs = expanded.funcs.iter().map(hoist::invariants).collect();
    Module { funcs, loops: expanded.loops }
}
