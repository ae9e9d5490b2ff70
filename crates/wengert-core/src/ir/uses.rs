//! Where values are used, and which uses take them over.

use super::func::{Block, Func, Inst, Value};
use super::types::Op;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Whether an instruction takes over its operand `k`, as far as can be told without its callee: a call
/// may take every array it is given.
pub fn takes(inst: &Inst, k: usize) -> bool {
    match &inst.op {
        op if op.takes().is_some() => op.takes() == Some(k),
        Op::Push | Op::Pop | Op::Call(_) | Op::Drive(..) | Op::While => true,
        Op::For => k >= 2,
        _ => false,
    }
}

/// Calls `f` with every use an instruction and the blocks nested in it make: the value, and whether the
/// use takes it over.
pub fn each(inst: &Inst, f: &mut impl FnMut(Value, bool)) {
    for (k, a) in inst.args.iter().enumerate() {
        f(*a, takes(inst, k));
    }
    for block in &inst.blocks {
        each_in(block, f);
    }
}

/// Calls `f` with every use in a block and the blocks nested in it.
pub fn each_in(block: &Block, f: &mut impl FnMut(Value, bool)) {
    block.insts.iter().for_each(|inst| each(inst, f));
    block.yields.iter().for_each(|y| f(*y, true));
}

/// How often each value is used, nested blocks included.
pub fn counts(block: &Block) -> HashMap<Value, usize> {
    let mut counts = HashMap::default();
    each_in(block, &mut |v, _| *counts.entry(v).or_default() += 1);
    counts
}

/// The last instruction of a block that uses each value (nested blocks count for the instruction they
/// belong to); the number of instructions for what the block yields.
pub fn last(block: &Block) -> HashMap<Value, usize> {
    let mut last = HashMap::default();
    for (at, inst) in block.insts.iter().enumerate() {
        each(inst, &mut |v, _| {
            last.insert(v, at);
        });
    }
    block.yields.iter().for_each(|y| {
        last.insert(*y, block.insts.len());
    });
    last
}

/// What a block itself defines: parameters and results, without nested blocks.
pub fn defined(block: &Block) -> HashSet<Value> {
    let results = block.insts.iter().flat_map(|i| &i.results);
    block.params.iter().chain(results).copied().collect()
}

/// The instruction that makes each value, for every value made by one in a block or a block inside.
pub fn makers(block: &Block) -> HashMap<Value, &Inst> {
    let mut makers = HashMap::default();
    block.walk(&mut |inst| makers.extend(inst.results.iter().map(|r| (*r, inst))));
    makers
}

/// Per instruction of a block, the arrays defined in the block that are not used after it.
pub fn dying(func: &Func, block: &Block) -> Vec<Vec<Value>> {
    let last = last(block);
    let mut dying = vec![Vec::new(); block.insts.len()];
    let params = block.params.iter().map(|p| (*p, 0));
    let results =
        block.insts.iter().enumerate().flat_map(|(at, i)| i.results.iter().map(move |r| (*r, at)));
    for (v, made) in params.chain(results).filter(|(v, _)| func.ty(*v).is_array()) {
        if let Some(at) = dying.get_mut(last.get(&v).copied().unwrap_or(made)) {
            at.push(v);
        }
    }
    dying
}
