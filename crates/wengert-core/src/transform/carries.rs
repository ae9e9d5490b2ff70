//! Invariant carries: a loop-carried value that the loop never changes is not carried.
//!
//! Lowering carries every array that is in sight of a loop; this is what makes those that are only
//! read plain captures again. Errors name arrays, so one that is indexed by another name stays carried.

use super::copies::names_its_array;
use super::copy::rebuild;
use crate::ir::{Block, Func, Inst, Op, Value};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function with unchanged carries replaced by the value they start with.
pub fn drop_invariant(func: &Func) -> Func {
    let mut indexed = HashSet::default();
    func.body.walk(&mut |inst| {
        if names_its_array(&inst.op) {
            indexed.extend(inst.args.first());
        }
    });
    without(func, indexed)
}

/// The same for a reverse program: its indices have been in range before.
pub fn drop_invariant_unnamed(func: &Func) -> Func {
    without(func, HashSet::default())
}

fn without(func: &Func, indexed: HashSet<Value>) -> Func {
    let mut result = func.clone();
    let mut pass = Pass { func, indexed, renamed: HashMap::default() };
    pass.block(&mut result.body);
    rebuild(&result, &func.name, &mut |_, _, _| false)
}

struct Pass<'f> {
    func: &'f Func,
    /// Arrays that an error can name.
    indexed: HashSet<Value>,
    renamed: HashMap<Value, Value>,
}

fn rename(values: &mut [Value], renamed: &HashMap<Value, Value>) {
    for v in values {
        // A replacement may itself have been replaced.
        while let Some(other) = renamed.get(v) {
            *v = *other;
        }
    }
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        for inst in &mut block.insts {
            rename(&mut inst.args, &self.renamed);
            // Inner loops first: an array they pass through unchanged is unchanged for the outer one.
            for nested in &mut inst.blocks {
                self.block(nested);
            }
            if matches!(inst.op, Op::For | Op::While) {
                self.loop_carries(inst);
            }
        }
        rename(&mut block.yields, &self.renamed);
    }

    /// Whether an error could tell a value from the one to stand for it.
    fn is_named(&self, v: Value, init: Value) -> bool {
        let name = self.func.name_of(v);
        self.indexed.contains(&v) && name.is_some() && name != self.func.name_of(init)
    }

    fn loop_carries(&mut self, inst: &mut Inst) {
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let mut replaced = HashMap::default();
        for k in (0..inst.results.len()).rev() {
            let body = &mut inst.blocks[0];
            let (p, init) = (body.params[k + 1], inst.args[bounds + k]);
            let unchanged = body.yields[k] == p
                && body.insts.iter().all(|i| i.op != Op::ExitIf || i.blocks[0].yields[k] == p);
            let result = inst.results[k];
            if !unchanged || self.is_named(p, init) || self.is_named(result, init) {
                continue;
            }
            if self.indexed.contains(&p) || self.indexed.contains(&result) {
                self.indexed.insert(init);
            }
            body.params.remove(k + 1);
            body.yields.remove(k);
            for exit in body.insts.iter_mut().filter(|i| i.op == Op::ExitIf) {
                exit.blocks[0].yields.remove(k);
            }
            inst.args.remove(bounds + k);
            replaced.insert(p, init);
            self.renamed.insert(inst.results.remove(k), init);
        }
        if !replaced.is_empty() {
            rename_inside(&mut inst.blocks[0], &replaced);
        }
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
