//! Invariant carries: a loop-carried value that the loop never changes is not carried.
//!
//! Lowering carries every array that is in sight of a loop; this is what makes those that are only
//! read plain captures again.

use super::copy::rebuild;
use crate::ir::{Block, Func, Inst, Op, Value};
use std::collections::HashMap;

/// The function with unchanged carries replaced by the value they start with.
pub fn drop_invariant(func: &Func) -> Func {
    let mut result = func.clone();
    let mut renamed = HashMap::new();
    block(&mut result.body, &mut renamed);
    rebuild(&result, &func.name, &mut |_, _, _| false)
}

fn rename(values: &mut [Value], renamed: &HashMap<Value, Value>) {
    for v in values {
        // A replacement may itself have been replaced.
        while let Some(other) = renamed.get(v) {
            *v = *other;
        }
    }
}

fn block(block_: &mut Block, renamed: &mut HashMap<Value, Value>) {
    for inst in &mut block_.insts {
        rename(&mut inst.args, renamed);
        // Inner loops first: an array they pass through unchanged is unchanged for the outer one.
        for nested in &mut inst.blocks {
            block(nested, renamed);
        }
        if matches!(inst.op, Op::For | Op::While) {
            loop_carries(inst, renamed);
        }
    }
    rename(&mut block_.yields, renamed);
}

fn loop_carries(inst: &mut Inst, renamed: &mut HashMap<Value, Value>) {
    let bounds = if inst.op == Op::For { 2 } else { 0 };
    let mut replaced = HashMap::new();
    for k in (0..inst.results.len()).rev() {
        let body = &mut inst.blocks[0];
        let p = body.params[k + 1];
        let unchanged = body.yields[k] == p
            && body.insts.iter().all(|i| i.op != Op::ExitIf || i.blocks[0].yields[k] == p);
        if !unchanged {
            continue;
        }
        body.params.remove(k + 1);
        body.yields.remove(k);
        for exit in body.insts.iter_mut().filter(|i| i.op == Op::ExitIf) {
            exit.blocks[0].yields.remove(k);
        }
        let init = inst.args.remove(bounds + k);
        replaced.insert(p, init);
        renamed.insert(inst.results.remove(k), init);
    }
    if !replaced.is_empty() {
        rename_inside(&mut inst.blocks[0], &replaced);
    }
}

/// Replaces values in a block and everything nested in it.
pub(super) fn rename_inside(block: &mut Block, renamed: &HashMap<Value, Value>) {
    for inst in &mut block.insts {
        rename(&mut inst.args, renamed);
        inst.blocks.iter_mut().for_each(|b| rename_inside(b, renamed));
    }
    rename(&mut block.yields, renamed);
}
