//! The order of passes: [`run`] before differentiation, [`finish`] before native code.
//!
//! The first ones decide the order of adjoint sums and where products are fused, so they are part of
//! what a program means and are never switched off. Passes after differentiation change no bit.

use super::{
    branches, calls, carries, copies, dce, deferred, elementwise, expand, fma, fuse, hoist, inline,
};
use super::{order, parts, raise, registers, reuse, scalars, simplify, tiles, unroll, views};
use crate::ir::{Func, Module, Op, parallel, verify};
use crate::span::Diagnostic;
use std::sync::Arc;

/// A pass of the fixed pipeline.
struct Stage {
    name: &'static str,
    about: &'static str,
    pass: Pass,
}

/// The fixed pipeline after inlining, in order. `fma` alone changes rounding; the others change no bit.
const FIXED: &[Stage] = &[
    Stage {
        name: "simplify",
        about: "constants, identities, common subexpressions",
        pass: simplify::simplify,
    },
    Stage {
        name: "unroll",
        about: "small loops with constant bounds become their iterations",
        pass: unroll::small_loops,
    },
    Stage {
        name: "scalars",
        about: "small arrays of constant shape become one value per element",
        pass: scalars::replace,
    },
    Stage {
        name: "views",
        about: "copies and whole slices that are only read are what they were made of",
        pass: views::remove,
    },
    Stage {
        name: "hoist",
        about: "what a loop computes from values outside it is computed before it",
        pass: hoist::before_differentiation,
    },
    Stage { name: "fuse", about: "loops over the same range become one", pass: fuse::loops },
    Stage {
        name: "carries",
        about: "what a loop carries and never changes is not carried",
        pass: carries::drop_invariant,
    },
    Stage { name: "dce", about: "dead code goes", pass: dce::remove_dead },
    Stage {
        name: "group",
        about: "tiny loops run in groups of iterations, with one record each",
        pass: unroll::tiny_loops,
    },
    Stage {
        name: "fma",
        about: "products and sums are fused, transposed factors read in place; rounding changes",
        pass: |func| fma::fuse(&views::products(func)),
    },
    Stage {
        name: "raise",
        about: "loops over elements become operations on arrays",
        pass: raise::loops,
    },
];

/// The names of the stages of the fixed pipeline, in order, with a line about each.
pub fn names() -> Vec<(&'static str, &'static str)> {
    let first = ("inline", "calls become the code of the functions called");
    std::iter::once(first).chain(FIXED.iter().map(|s| (s.name, s.about))).collect()
}

/// The function after each stage of the fixed pipeline, by the name of the stage.
pub fn stages(module: &Module, name: &str) -> Result<Vec<(&'static str, Func)>, Diagnostic> {
    let mut all = vec![("inline", inline::inline(module, name)?)];
    for stage in FIXED {
        let func = settled(stage.pass, &all[all.len() - 1].1);
        all.push((stage.name, func));
    }
    Ok(all)
}

/// Runs the fixed pipeline on one function.
pub fn run(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    Ok(prepared(&inline::inline(module, name)?))
}

fn prepared(func: &Func) -> Func {
    through(&FIXED.iter().collect::<Vec<_>>(), func)
}

fn through(stages: &[&Stage], func: &Func) -> Func {
    stages.iter().fold(func.clone(), |func, stage| settled(stage.pass, &func))
}

/// A pass, and no loop left marked parallel that it has made otherwise.
fn settled(pass: Pass, func: &Func) -> Func {
    let mut after = pass(func);
    parallel::settle(&mut after);
    after
}

/// A function ready to be differentiated, and the functions whose calls stay calls (recursive ones and
/// those with a rule), each through the pipeline, with the rules. The function comes first.
///
/// What stays a call reads the arrays it is given: a function copies those it writes.
pub fn module(module: &Module, name: &str) -> Result<Module, Diagnostic> {
    module_through(&FIXED.iter().collect::<Vec<_>>(), module, name)
}

/// The same without the one pass that changes rounding: for a program that must give the bits of what it was recorded from.
pub fn module_as_rounded(module: &Module, name: &str) -> Result<Module, Diagnostic> {
    let exact: Vec<&Stage> = FIXED.iter().filter(|stage| stage.name != "fma").collect();
    module_through(&exact, module, name)
}

fn module_through(stages: &[&Stage], module: &Module, name: &str) -> Result<Module, Diagnostic> {
    let kept = inline::stays(module);
    let mut result = Module::default();
    let mut work: Vec<Arc<str>> = vec![name.into()];
    while let Some(name) = work.pop() {
        if result.func(&name).is_some() {
            continue;
        }
        if let Some(external) = module.external(&name) {
            calls::declare(&mut result, external.clone());
            continue;
        }
        let func = through(stages, &inline::inline_some(module, &name, &kept)?);
        let mut driven = None;
        func.body.walk(&mut |inst| match &inst.op {
            Op::Call(callee) => work.push(callee.clone()),
            Op::Drive(..) => driven = driven.or(Some(inst.span)),
            _ => {}
        });
        if let Some(span) = driven {
            let message =
                format!("`@{name}` drives outlined loops, which these passes do not know");
            return Err(Diagnostic::new("unsupported-transform", message)
                .label(span, "this instruction")
                .help("`flat::flat` puts outlined loops in place"));
        }
        if let Some(rule) = module.rule(&name) {
            work.extend(rule.jvp.iter().chain(&rule.vjp).cloned());
            result.rules.push(rule.clone());
        }
        let first = result.funcs.is_empty() && !kept.contains(&name);
        result.funcs.push(if first { func } else { calls::by_value(&func) });
    }
    // What stands in one block after inlining may be seen not to fit: a record, and what pops it.
    verify::module(&result)?;
    Ok(result)
}

/// One function becomes another.
type Pass = fn(&Func) -> Func;

/// The passes that change no bit, each of which can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Passes {
    pub parts: bool,
    pub elementwise: bool,
    pub fuse: bool,
    pub copies: bool,
    pub reuse: bool,
    pub tiles: bool,
    pub deferred: bool,
    pub expand: bool,
    pub hoist: bool,
    pub branches: bool,
    pub registers: bool,
    pub order: bool,
}

impl Passes {
    /// Every pass.
    pub const ALL: Passes = Passes {
        parts: true,
        elementwise: true,
        fuse: true,
        copies: true,
        reuse: true,
        tiles: true,
        deferred: true,
        expand: true,
        hoist: true,
        branches: true,
        registers: true,
        order: true,
    };

    /// Those for text that another compiler reads: it has the elementary functions itself, and orders arithmetic its own way. Loops that are made
    /// twice, and several steps in one pass, would make the text of a stencil four times as long, and its users wait for it.
    pub const TEXT: Passes = Passes { expand: false, order: false, ..Passes::ALL };

    /// Those that a bit of a number each says.
    pub fn some(bits: u64) -> Passes {
        let on = |k: u32| bits >> k & 1 == 1;
        Passes {
            elementwise: on(0),
            fuse: on(1),
            copies: on(2),
            reuse: on(3),
            deferred: on(4),
            expand: true,
            hoist: on(5),
            parts: on(6),
            tiles: on(7),
            branches: on(8),
            registers: on(9),
            order: on(10),
        }
    }

    /// No pass but those that native code needs.
    pub const NONE: Passes = Passes {
        parts: false,
        elementwise: false,
        fuse: false,
        copies: false,
        reuse: false,
        tiles: false,
        deferred: false,
        expand: true,
        hoist: false,
        branches: false,
        registers: false,
        order: false,
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
    let mut all = finish_stages(module, passes);
    all.pop().map_or_else(|| module.clone(), |(_, module)| module)
}

/// A pass after differentiation, and the switch it belongs to.
struct Free {
    name: &'static str,
    about: &'static str,
    on: fn(&Passes) -> bool,
    pass: fn(&Module) -> Module,
}

/// The passes after differentiation, in order.
const FREE: &[Free] = &[
    Free {
        name: "parts",
        about: "writes to parts of an array become one loop over the whole",
        on: |p| p.parts,
        pass: |m| each(m, parts::whole),
    },
    Free {
        name: "elementwise",
        about: "operations on whole arrays become loops, as many in one as fit",
        on: |p| p.elementwise,
        pass: |m| each(m, elementwise::fuse),
    },
    Free {
        name: "fuse-after",
        about: "loops over the same range become one",
        on: |p| p.fuse,
        pass: |m| each(m, fuse::loops),
    },
    Free {
        name: "copies",
        about: "a copy of an array that nothing else uses is that array",
        on: |p| p.copies,
        pass: |m| each(m, copies::remove),
    },
    Free {
        name: "hoist-after",
        about: "what a loop computes from values outside it is computed before it",
        on: |p| p.hoist,
        pass: |m| each(m, hoist::invariants),
    },
    Free {
        name: "reuse",
        about: "dead arrays give their storage to new ones",
        on: |p| p.reuse,
        pass: |m| each(m, reuse::storage),
    },
    Free {
        name: "tiles",
        about: "loops over arrays take several steps in one pass",
        on: |p| p.tiles,
        pass: |m| each(m, tiles::steps),
    },
    Free {
        name: "deferred",
        about: "outer products added to a matrix are applied a block at a time",
        on: |p| p.deferred,
        pass: |m| each(m, deferred::products),
    },
    Free {
        name: "registers",
        about: "elements stored in one iteration and loaded in the next are carried",
        on: |p| p.registers,
        pass: |m| each(m, registers::carry_elements),
    },
    // Shapes are checked by instructions of their own by now: what is dead goes without them.
    Free {
        name: "dce-after",
        about: "dead code goes",
        on: |p| p.elementwise,
        pass: |m| each(m, dce::remove_dead),
    },
    Free {
        name: "expand",
        about: "elementary functions become their programs",
        on: |p| p.expand,
        pass: expand::module,
    },
    Free {
        name: "branches",
        about: "branches on the same condition become one",
        on: |p| p.branches,
        pass: |m| each(m, branches::join),
    },
    Free {
        name: "hoist-expanded",
        about: "what those programs compute from constants leaves the loops",
        on: |p| p.hoist,
        pass: |m| each(m, hoist::invariants),
    },
    Free {
        name: "order",
        about: "arithmetic in loops is put in an order that keeps few numbers alive",
        on: |p| p.order,
        pass: |m| each(m, order::loops),
    },
];

fn each(module: &Module, pass: Pass) -> Module {
    let funcs = module.funcs.iter().map(|func| settled(pass, func)).collect();
    Module { funcs, ..module.clone() }
}

/// The names of the passes after differentiation, in order, with a line about each.
pub fn free_names() -> Vec<(&'static str, &'static str)> {
    FREE.iter().map(|free| (free.name, free.about)).collect()
}

/// The module after each of those that are switched on.
pub fn finish_stages(module: &Module, passes: &Passes) -> Vec<(&'static str, Module)> {
    let mut all: Vec<(&'static str, Module)> = Vec::new();
    for free in FREE.iter().filter(|free| (free.on)(passes)) {
        let before = all.last().map_or(module, |(_, module)| module);
        let after = (free.pass)(before);
        all.push((free.name, after));
    }
    all
}
