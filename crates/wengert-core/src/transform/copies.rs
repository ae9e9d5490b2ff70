//! Copies that are not needed: of arrays that nothing uses afterwards, and copies that are only read
//! while what they are copies of stays as it is.
//!
//! An array from outside the block (a loop's body runs again) or that the caller keeps is never handed
//! out for its copy. Errors name arrays, so a copy that is indexed by another name stays. No bit changes.

use super::carries::rename_inside;
use crate::ir::verify::consumes_itself;
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use crate::ops::ArrayOp;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function without copies that nothing can tell from the original.
pub fn remove(func: &Func) -> Func {
    let kept = func.params().iter().copied().filter(|p| !consumes_itself(func, *p)).collect();
    let mut result = func.clone();
    block(func, &mut result.body, &kept);
    result
}

fn block(func: &Func, block_: &mut Block, kept: &HashSet<Value>) {
    for inst in &mut block_.insts {
        inst.blocks.iter_mut().for_each(|b| block(func, b, kept));
    }
    let mut at = 0;
    while at < block_.insts.len() {
        if block_.insts[at].op == Op::Copy
            && is_needless(block_, at, kept)
            && !is_named(func, block_, &block_.insts[at])
        {
            let inst = block_.insts.remove(at);
            let renamed = HashMap::from_iter([(inst.results[0], inst.args[0])]);
            rename_inside(block_, &renamed);
        } else {
            at += 1;
        }
    }
}

/// Whether an error could tell the copy from the array by its name.
fn is_named(func: &Func, block: &Block, inst: &Inst) -> bool {
    let (x, copy) = (inst.args[0], inst.results[0]);
    let mut indexed = false;
    block.walk(&mut |i| indexed |= names_its_array(&i.op) && i.args.first() == Some(&copy));
    indexed && func.name_of(x) != func.name_of(copy)
}

/// Whether errors of an operation say the name of its first operand.
pub(super) fn names_its_array(op: &Op) -> bool {
    match op {
        Op::Load | Op::Store => true,
        // These two are made by passes, in range.
        Op::Array(ArrayOp::Peek | ArrayOp::Poke) => false,
        Op::Array(op) => op.can_fail(),
        _ => false,
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

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;

    #[test]
    fn carries_are_handed_out_for_their_copies() {
        let text = "func @f(%x: [f64], %n: i64) -> [f64] {
           %x0 = copy %x
           %y = for %i in 0..%n carry (%a = %x0) {
             %c = copy %a
             %d = poke %c, %i, 2.5
             yield %d
           }
           return %y
         }";
        let func = same(text, remove, &[array(&[4]), Val::i64(3)]);
        // The caller keeps its array.
        assert_eq!(count(&func, |op| *op == Op::Copy), 1, "{func}");
    }
}
