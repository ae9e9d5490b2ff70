//! Loops run backwards without anything stored.
//!
//! Leapfrog and its kin add to each variable something that depends on the others: `v -= h * f(x)`, then `x += h * v`. Such a step can
//! be taken back: what was added last is known when it ends, and is taken away first. [`of_loop`] makes of a loop a function that runs
//! any range of its iterations backwards, from the state after it to the state before it, up to rounding:
//!
//! `@f.loop0.unstep(from, to, carries.., captures..) -> (carries..)`
//!
//! - Sums, differences, signs, products and quotients with what the state has no part in, fused multiply-adds, integer sums and `xor` are
//!   undone, of numbers and of whole arrays; so are elements that are read, changed and written back, parts of arrays that are added to,
//!   branches, and loops inside.
//! - What carries swap is swapped back.
//! - A carry that each iteration makes of nothing but what it ends with, as an acceleration is of places, is made again.
//! - A carry that the body does not use is left as it is: it is *free*.
//!
//! Reading order: [`solve`] (what is known, and how), [`rules`] (operation by operation), [`emit`] (the code), [`legal`] (copies of
//! arrays), [`why`] (what is said where it cannot be done).

mod emit;
mod legal;
mod rules;
mod solve;
mod why;

use super::dce;
use crate::ir::{self, Func, Inst, Module, Op, Value};
use crate::span::{Diagnostic, Span};
use solve::{How, Solver, is_used};

pub use why::no_such_loop;

/// A function that runs the iterations of a loop backwards.
#[derive(Debug)]
pub struct Unstep {
    /// The function.
    pub func: Func,
    /// The carries that no iteration begins with: what comes out of them means nothing.
    pub free: Vec<usize>,
    /// Whether a carry is made again of what the iteration before has ended with: of the first one of all there is none.
    pub apart: bool,
}

/// Adds such functions to the programs of reverse mode: for each outlined loop of which `chosen` says so by where it stands, but for parallel
/// ones.
pub fn add(programs: &mut Module, chosen: &dyn Fn(Span) -> bool) -> Result<(), Diagnostic> {
    let (mut loops, mut made) = (std::mem::take(&mut programs.loops), Vec::new());
    for plan in loops.iter_mut().filter(|plan| !plan.parallel && !plan.is_only_run()) {
        let Some(advance) = programs.func(&plan.advance) else { continue };
        if find(advance).is_none_or(|at| chosen(advance.body.insts[at].span)) {
            let name = format!("{}.unstep", plan.name);
            let Unstep { func, free, apart } = of_loop(advance, plan.carries, &name)?;
            plan.unstep = Some(ir::Unstep { func: func.name.clone(), free, apart });
            made.push(func);
        }
    }
    programs.loops = loops;
    programs.funcs.extend(made);
    Ok(())
}

/// The loop of a function that runs a range of iterations.
fn find(advance: &Func) -> Option<usize> {
    advance.body.insts.iter().position(|inst| matches!(inst.op, Op::For | Op::While))
}

/// The function that runs a loop backwards, given the one that runs it forwards: `(from, to, carries.., captures..)`.
pub fn of_loop(advance: &Func, carries: usize, name: &str) -> Result<Unstep, Diagnostic> {
    let Some(at) = find(advance) else {
        // No iteration changes anything.
        let func = emit::unchanged(advance, carries, name);
        let func = legal::with_copies(func, 2 + carries);
        return Ok(Unstep { func, free: Vec::new(), apart: false });
    };
    let inst: &Inst = &advance.body.insts[at];
    let body = &inst.blocks[0];
    let left = body.insts.iter().find(|inside| inside.op == Op::ExitIf);
    if inst.op != Op::For || left.is_some() {
        return Err(why::exit(inst.span, left.map_or(inst.span, |exit| exit.span)));
    }
    let solver = Solver::new(advance, body);
    let solution = solver.whole(body);
    let is_free = |j: &usize| !is_used(body, body.params[j + 1]);
    let is_solved = |j: &usize| solution.how.contains_key(&body.params[j + 1]);
    let all = 0..body.yields.len();
    let unsolved: Vec<usize> = all.filter(|j| !is_free(j) && !is_solved(j)).collect();
    if !unsolved.is_empty() {
        return Err(why::unsolved(&solver, &solution, &unsolved, inst.span));
    }
    let of_result = |v: &Value| inst.results.iter().position(|r| r == v);
    let results = advance.body.yields.iter().take(carries).enumerate();
    let free = results.filter(|(_, v)| of_result(v).is_some_and(|j| is_free(&j)));
    let free = free.map(|(k, _)| k).collect();
    let made = emit::function(&solver, &solution, name, carries, at);
    let func = dce::remove_dead(&legal::with_copies(made, 2 + carries));
    let apart = solution.how.values().any(|how| matches!(how, How::Remade(_)));
    Ok(Unstep { func, free, apart })
}
