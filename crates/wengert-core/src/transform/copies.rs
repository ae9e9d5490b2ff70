//! Copies that are not needed: of arrays that nothing uses afterwards, and copies that are only read
//! while what they are copies of stays as it is.
//!
//! An array from outside the block (a loop's body runs again) or that the caller keeps is never handed
//! out for its copy. No bit changes.

use super::carries::rename_inside;
use crate::ir::verify::consumes;
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use std::collections::{HashMap, HashSet};

/// The function without copies that nothing can tell from the original.
pub fn remove(func: &Func) -> Func {
    let kept = func.params().iter().copied().filter(|p| !consumes(func, *p)).collect();
    let mut result = func.clone();
    block(&mut result.body, &kept);
    result
}

fn block(block_: &mut Block, kept: &HashSet<Value>) {
    for inst in &mut block_.insts {
        inst.blocks.iter_mut().for_each(|b| block(b, kept));
    }
    let mut at = 0;
    while at < block_.insts.len() {
        if block_.insts[at].op == Op::Copy && is_needless(block_, at, kept) {
            let inst = block_.insts.remove(at);
            let renamed = HashMap::from([(inst.results[0], inst.args[0])]);
            rename_inside(block_, &renamed);
        } else {
            at += 1;
        }
    }
}

/// Whether the array can be used where its copy is.
fn is_needless(block: &Block, at: usize, kept: &HashSet<Value>) -> bool {
    let (x, copy) = (block.insts[at].args[0], block.insts[at].results[0]);
    let after = &block.insts[at + 1..];
    let last = |v: Value| {
        let used = |i: &Inst| {
            let mut found = false;
            uses::each(i, &mut |u, _| found |= u == v);
            found
        };
        if block.yields.contains(&v) { Some(after.len()) } else { after.iter().rposition(used) }
    };
    let owned = uses::defined(block).contains(&x) && !kept.contains(&x);
    if owned && last(x).is_none() {
        return true;
    }
    // Only read, and `x` is not taken over before the last time.
    let Some(end) = last(copy) else { return true };
    let taken = |v: Value, insts: &[Inst]| {
        let mut taken = false;
        insts.iter().for_each(|i| uses::each(i, &mut |u, takes| taken |= takes && u == v));
        taken
    };
    end < after.len() && !taken(copy, after) && !taken(x, &after[..=end])
}
