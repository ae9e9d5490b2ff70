//! Dead stores: of two stores to the same element with no load between them, the first goes.
//!
//! The second store fails where the first would have, but what stands between them may fail or leave
//! the loop before that. So the pass is for reverse programs, where every index has been in range
//! before.

use super::copy::rebuild;
use crate::ir::{Block, Func, Op, Value};
use rustc_hash::FxHashMap as HashMap;

/// The function without stores that are overwritten at once.
pub fn remove_dead(func: &Func) -> Func {
    let mut uses = HashMap::default();
    count(&func.body, &mut uses);
    let mut result = func.clone();
    block(&mut result.body, &uses);
    rebuild(&result, &func.name, &mut |_, _, _| false)
}

fn count(block: &Block, uses: &mut HashMap<Value, usize>) {
    block.yields.iter().for_each(|v| *uses.entry(*v).or_default() += 1);
    for inst in &block.insts {
        inst.args.iter().for_each(|v| *uses.entry(*v).or_default() += 1);
        inst.blocks.iter().for_each(|b| count(b, uses));
    }
}

fn block(block_: &mut Block, uses: &HashMap<Value, usize>) {
    // Stores whose version only the next store uses: what they stored over, and where.
    let mut overwritten: HashMap<Value, (Value, Vec<Value>)> = HashMap::default();
    let mut dead = Vec::new();
    for inst in &mut block_.insts {
        if inst.op == Op::Store {
            // The version below may be that of an earlier store that has just been removed.
            while let Some((below, index)) = overwritten.get(&inst.args[0]) {
                if *index != inst.args[1..inst.args.len() - 1] {
                    break;
                }
                dead.push(inst.args[0]);
                inst.args[0] = *below;
            }
            if uses.get(&inst.results[0]) == Some(&1) {
                let index = inst.args[1..inst.args.len() - 1].to_vec();
                overwritten.insert(inst.results[0], (inst.args[0], index));
            }
        }
        inst.blocks.iter_mut().for_each(|b| block(b, uses));
    }
    block_.insts.retain(|i| i.op != Op::Store || !dead.contains(&i.results[0]));
}
