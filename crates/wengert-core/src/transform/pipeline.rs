//! The order of passes: [`run`] before differentiation, [`finish`] before native code.
//!
//! The first ones decide the order of adjoint sums and where products are fused, so they are part of
//! what a program means and are never switched off. Passes after differentiation change no bit.

use super::{carries, copies, dce, deferred, elementwise, expand, fma, fuse, hoist, inline, reuse};
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

/// One function becomes another.
type Pass = fn(&Func) -> Func;

/// The passes that change no bit, each of which can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Passes {
    pub elementwise: bool,
    pub fuse: bool,
    pub copies: bool,
    pub reuse: bool,
    pub deferred: bool,
    pub hoist: bool,
}

impl Passes {
    /// Every pass.
    pub const ALL: Passes = Passes {
        elementwise: true,
        fuse: true,
        copies: true,
        reuse: true,
        deferred: true,
        hoist: true,
    };

    /// No pass but those that native code needs.
    pub const NONE: Passes = Passes {
        elementwise: false,
        fuse: false,
        copies: false,
        reuse: false,
        deferred: false,
        hoist: false,
    };
}

impl Default for Passes {
    fn default() -> Self {
        Passes::ALL
    }
}

/// What happens to programs on their way to native code: array operations become loops and share
/// storage, elementary functions are expanded, invariant instructions leave their loops. Changes no bit.
pub fn finish(module: &Module) -> Module {
    finish_with(module, &Passes::ALL)
}

/// [`finish`] with some passes only. (Native code knows no elementwise operations, so without that pass the
/// result is for the interpreter.)
pub fn finish_with(module: &Module, passes: &Passes) -> Module {
    let free = |func: &Func| {
        let mut func = func.clone();
        let steps: [(bool, Pass); 7] = [
            (passes.elementwise, elementwise::fuse),
            (passes.fuse, fuse::loops),
            (passes.copies, copies::remove),
            (passes.hoist, hoist::invariants),
            (passes.reuse, reuse::storage),
            (passes.deferred, deferred::products),
            // Shapes are checked by instructions of their own by now: what is dead goes without them.
            (passes.elementwise, dce::remove_dead),
        ];
        for (on, pass) in steps {
            if on {
                func = pass(&func);
            }
        }
        func
    };
    let funcs = module.funcs.iter().map(free).collect();
    let expanded = expand::module(&Module { funcs, loops: module.loops.clone() });
    if !passes.hoist {
        return expanded;
    }
    let funcs = expanded.funcs.iter().map(hoist::invariants).collect();
    Module { funcs, loops: expanded.loops }
}
