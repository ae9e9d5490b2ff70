//! Dead code: instructions without a use and without an effect go, and carries that feed only
//! themselves.
//!
//! An instruction that can fail stays, used or not: removing it would remove its error.

use super::copy::rebuild;
use crate::ir::{Block, Func, Inst, Op, Value};
use std::collections::HashSet;

/// The function without dead instructions.
pub fn remove_dead(func: &Func) -> Func {
    let mut live = HashSet::new();
    live.extend(&func.body.yields);
    // A loop's carries can make each other live, so repeat until nothing is added.
    loop {
        let before = live.len();
        mark(&func.body, &mut live);
        if live.len() == before {
            break;
        }
    }
    let mut marked = func.clone();
    sweep(&mut marked.body, &live);
    let name = marked.name.clone();
    rebuild(&marked, &name, &mut |_, _, _| false)
}

/// Whether an instruction has to stay although nothing uses it.
fn has_effect(inst: &Inst) -> bool {
    match &inst.op {
        Op::If => inst.blocks.iter().any(|b| b.insts.iter().any(has_effect)),
        // A loop may not end, and says so.
        Op::While => true,
        Op::For => inst.blocks[0].insts.iter().any(has_effect),
        Op::ExitIf => true,
        op => !op.is_pure(),
    }
}

fn mark(block: &Block, live: &mut HashSet<Value>) {
    for inst in block.insts.iter().rev() {
        let used = inst.results.iter().any(|r| live.contains(r));
        if !used && !has_effect(inst) {
            continue;
        }
        match inst.op {
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let bounds = if inst.op == Op::For { 2 } else { 0 };
                live.extend(&inst.args[..bounds]);
                for (k, r) in inst.results.iter().enumerate() {
                    let p = body.params[k + 1];
                    if live.contains(r) || live.contains(&p) {
                        live.extend([p, *r, body.yields[k], inst.args[bounds + k]]);
                        let exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
                        live.extend(exits.map(|e| e.blocks[0].yields[k]));
                    }
                }
                mark(body, live);
            }
            Op::If => {
                live.extend(&inst.args);
                for nested in &inst.blocks {
                    for (r, y) in inst.results.iter().zip(&nested.yields) {
                        if live.contains(r) {
                            live.insert(*y);
                        }
                    }
                    mark(nested, live);
                }
            }
            _ => {
                live.extend(&inst.args);
                inst.blocks.iter().for_each(|b| mark(b, live));
            }
        }
    }
}

fn sweep(block: &mut Block, live: &HashSet<Value>) {
    block.insts.retain(|inst| inst.results.iter().any(|r| live.contains(r)) || has_effect(inst));
    for inst in &mut block.insts {
        match inst.op {
            Op::For | Op::While => {
                let bounds = if inst.op == Op::For { 2 } else { 0 };
                let dead: Vec<usize> =
                    (0..inst.results.len()).filter(|k| !live.contains(&inst.results[*k])).collect();
                for k in dead.into_iter().rev() {
                    inst.results.remove(k);
                    inst.args.remove(bounds + k);
                    let body = &mut inst.blocks[0];
                    body.params.remove(k + 1);
                    body.yields.remove(k);
                    for exit in body.insts.iter_mut().filter(|i| i.op == Op::ExitIf) {
                        exit.blocks[0].yields.remove(k);
                    }
                }
            }
            Op::If => {
                let dead: Vec<usize> =
                    (0..inst.results.len()).filter(|k| !live.contains(&inst.results[*k])).collect();
                for k in dead.into_iter().rev() {
                    inst.results.remove(k);
                    inst.blocks.iter_mut().for_each(|b| {
                        b.yields.remove(k);
                    });
                }
            }
            _ => {}
        }
        inst.blocks.iter_mut().for_each(|b| sweep(b, live));
    }
}
