//! Invariant motion: what a loop computes anew in every iteration from values outside it is computed
//! once before it.
//!
//! Only instructions that cannot fail move, so a loop of no iterations still does no harm. The
//! values are the same, so no bit changes.

use super::copy::rebuild;
use crate::ir::{Block, Func, Inst, Op, Value};
use std::collections::HashSet;

/// The function with invariant instructions before their loops.
pub fn invariants(func: &Func) -> Func {
    let mut result = func.clone();
    block(func, &mut result.body);
    rebuild(&result, &func.name, &mut |_, _, _| false)
}

fn block(func: &Func, block_: &mut Block) {
    let insts = std::mem::take(&mut block_.insts);
    for mut inst in insts {
        inst.blocks.iter_mut().for_each(|b| block(func, b));
        if matches!(inst.op, Op::For | Op::While) {
            block_.insts.extend(extract(func, &mut inst.blocks[0]));
        }
        block_.insts.push(inst);
    }
}

/// Takes the invariant instructions out of a loop body. What inner loops gave up stands in the body
/// by now and may move on.
fn extract(func: &Func, body: &mut Block) -> Vec<Inst> {
    let mut inside: HashSet<Value> = body.params.iter().copied().collect();
    let mut moved = Vec::new();
    let insts = std::mem::take(&mut body.insts);
    for inst in insts {
        // An array belongs to the iteration that makes it: the next one may take it over.
        let scalar = inst.results.iter().all(|r| func.ty(*r).is_scalar());
        if scalar && func.is_movable(&inst) && !inst.args.iter().any(|a| inside.contains(a)) {
            moved.push(inst);
        } else {
            inside.extend(&inst.results);
            body.insts.push(inst);
        }
    }
    moved
}
