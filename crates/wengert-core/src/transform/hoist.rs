//! Invariant motion: what a loop computes anew in every iteration from values outside it is computed
//! once before it.
//!
//! Only instructions that cannot fail move, so a loop of no iterations still does no harm. The
//! values are the same, so no bit changes.
//!
//! Before differentiation, more care is needed: the adjoint of what has moved passes back through it even
//! if the loop never ran, as zero times a partial, and zero times infinity is no number. So what carries a
//! derivative moves only if the loop is sure to compute it, or if its partials are finite wherever its
//! operands are.

use super::activity::Activity;
use super::copy::rebuild;
use crate::ir::{Block, Func, Inst, Op, Value};
use crate::ops::{Class, Prim, Scalar};
use std::collections::HashSet;

/// The function with invariant instructions before their loops.
pub fn invariants(func: &Func) -> Func {
    moved(func, &|_, _| true)
}

/// The same for a function that will be differentiated.
pub fn before_differentiation(func: &Func) -> Func {
    let floats: Vec<Value> =
        func.params().iter().copied().filter(|p| func.ty(*p).is_float()).collect();
    let activity = Activity::new(func, &floats);
    moved(func, &|inst, surely| {
        surely || !activity.is_varied(inst.results[0]) || has_finite_partials(func, inst)
    })
}

/// Whether the partials are finite wherever the operands are.
fn has_finite_partials(func: &Func, inst: &Inst) -> bool {
    let Op::Prim(prim) = inst.op else { return true };
    match prim {
        Prim::Div => match func.as_const(inst.args[1]) {
            Some(Scalar::F64(c)) => (1.0 / c).is_finite(),
            Some(Scalar::F32(c)) => (1.0 / c).is_finite(),
            _ => false,
        },
        Prim::Exp | Prim::Log | Prim::Sqrt => false,
        Prim::Mul | Prim::Fma | Prim::Abs | Prim::Min | Prim::Max => true,
        Prim::Sin | Prim::Cos | Prim::Tanh => true,
        other => other.class() != Class::Smooth,
    }
}

/// Whether an instruction that could move may: it is given, and whether the loop is sure to reach it.
type May<'a> = dyn Fn(&Inst, bool) -> bool + 'a;

fn moved(func: &Func, may: &May<'_>) -> Func {
    let mut result = func.clone();
    block(func, &mut result.body, may);
    rebuild(&result, &func.name, &mut |_, _, _| false)
}

fn block(func: &Func, block_: &mut Block, may: &May<'_>) {
    let insts = std::mem::take(&mut block_.insts);
    for mut inst in insts {
        inst.blocks.iter_mut().for_each(|b| block(func, b, may));
        if matches!(inst.op, Op::For | Op::While) {
            let runs = inst.op == Op::While
                || {
                    let bound = |k: usize| func.as_const(inst.args[k]);
                    matches!((bound(0), bound(1)), (Some(Scalar::I64(lo)), Some(Scalar::I64(hi))) if lo < hi)
                };
            block_.insts.extend(extract(func, &mut inst.blocks[0], runs, may));
        }
        block_.insts.push(inst);
    }
}

/// Takes the invariant instructions out of a loop body. What inner loops gave up stands in the body
/// by now and may move on. `runs`: there is a first iteration.
fn extract(func: &Func, body: &mut Block, runs: bool, may: &May<'_>) -> Vec<Inst> {
    let mut inside: HashSet<Value> = body.params.iter().copied().collect();
    let mut surely = runs;
    let mut moved = Vec::new();
    let insts = std::mem::take(&mut body.insts);
    for inst in insts {
        surely &= inst.op != Op::ExitIf;
        // An array belongs to the iteration that makes it: the next one may take it over.
        let scalar = inst.results.iter().all(|r| func.ty(*r).is_scalar());
        let outside = !inst.args.iter().any(|a| inside.contains(a));
        if scalar && func.is_movable(&inst) && outside && may(&inst, surely) {
            moved.push(inst);
        } else {
            inside.extend(&inst.results);
            body.insts.push(inst);
        }
    }
    moved
}
