//! Dead code: instructions without a use and without an effect go, and carries that feed only
//! themselves.
//!
//! An instruction that can fail stays, used or not: removing it would remove its error. A row on arrays whose
//! shapes may differ leaves the comparison of the shapes behind (`conform`).

use super::copy::rebuild;
use super::shapes;
use crate::ir::{Block, Func, Inst, Op, Value};
use crate::ops::{ArrayOp, Check};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function without dead instructions.
pub fn remove_dead(func: &Func) -> Func {
    let pairs = shapes::uneven(func);
    let mut checks = HashMap::default();
    func.body.walk(&mut |inst| {
        if let Some(pairs) = inst.results.first().and_then(|r| pairs.get(r)) {
            checks.insert(inst.results[0], checks_of(inst, pairs));
        }
    });
    without(func, checks)
}

/// The function without dead instructions, where all shapes are known to fit: those of a reverse program
/// have been compared when it was recorded.
pub fn remove_dead_unchecked(func: &Func) -> Func {
    without(func, HashMap::default())
}

/// What is left of an instruction whose result is dead: the errors its shapes can give.
fn checks_of(inst: &Inst, pairs: &[(Value, Value)]) -> Vec<Inst> {
    let Op::Prim(prim) = inst.op else { return vec![inst.clone()] };
    let check = |(a, b): &(Value, Value)| Inst {
        op: Op::Array(ArrayOp::Conform(Check::Row(prim))),
        args: vec![*a, *b],
        results: Vec::new(),
        blocks: Vec::new(),
        span: inst.span,
    };
    pairs.iter().map(check).collect()
}

fn without(func: &Func, checks: HashMap<Value, Vec<Inst>>) -> Func {
    let mut dead = Dead { live: HashSet::default(), checks };
    dead.live.extend(&func.body.yields);
    // A loop's carries can make each other live, so repeat until nothing is added.
    loop {
        let before = dead.live.len();
        dead.mark(&func.body);
        if dead.live.len() == before {
            break;
        }
    }
    let mut marked = func.clone();
    dead.sweep(&mut marked.body);
    let name = marked.name.clone();
    rebuild(&marked, &name, &mut |_, _, _| false)
}

struct Dead {
    live: HashSet<Value>,
    /// By the result of an instruction, what stays of it where that is dead.
    checks: HashMap<Value, Vec<Inst>>,
}

impl Dead {
    fn is_used(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|r| self.live.contains(r))
    }

    /// What stays of an instruction that nothing uses, where that is not all or nothing.
    fn checks(&self, inst: &Inst) -> Option<&[Inst]> {
        let checks = self.checks.get(inst.results.first()?)?;
        inst.op.is_pure().then_some(checks)
    }

    /// Whether an instruction has to stay, in part at least, although nothing uses it.
    fn has_effect(&self, inst: &Inst) -> bool {
        let nested =
            |inst: &Inst| inst.blocks.iter().any(|b| b.insts.iter().any(|i| self.has_effect(i)));
        match &inst.op {
            // A loop may not end, and says so.
            Op::While | Op::ExitIf => true,
            Op::If | Op::For => nested(inst),
            op => !op.is_pure() || self.checks(inst).is_some(),
        }
    }

    fn mark(&mut self, block: &Block) {
        for inst in block.insts.iter().rev() {
            if !self.is_used(inst) {
                let checks = self.checks(inst).into_iter().flatten();
                let compared: Vec<Value> = checks.flat_map(|c| c.args.clone()).collect();
                if !compared.is_empty() {
                    self.live.extend(compared);
                    continue;
                }
                if !self.has_effect(inst) {
                    continue;
                }
            }
            let live = &mut self.live;
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
                    self.mark(body);
                }
                Op::If => {
                    live.extend(&inst.args);
                    for nested in &inst.blocks {
                        for (r, y) in inst.results.iter().zip(&nested.yields) {
                            if self.live.contains(r) {
                                self.live.insert(*y);
                            }
                        }
                        self.mark(nested);
                    }
                }
                _ => {
                    live.extend(&inst.args);
                    inst.blocks.iter().for_each(|b| self.mark(b));
                }
            }
        }
    }

    fn sweep(&self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        for inst in insts {
            match self.checks(&inst) {
                _ if self.is_used(&inst) => block.insts.push(inst),
                Some(checks) => block.insts.extend_from_slice(checks),
                None if self.has_effect(&inst) => block.insts.push(inst),
                None => {}
            }
        }
        let live = &self.live;
        for inst in &mut block.insts {
            let dead: Vec<usize> =
                (0..inst.results.len()).filter(|k| !live.contains(&inst.results[*k])).collect();
            match inst.op {
                Op::For | Op::While => {
                    let bounds = if inst.op == Op::For { 2 } else { 0 };
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
                    for k in dead.into_iter().rev() {
                        inst.results.remove(k);
                        inst.blocks.iter_mut().for_each(|b| {
                            b.yields.remove(k);
                        });
                    }
                }
                _ => {}
            }
            inst.blocks.iter_mut().for_each(|b| self.sweep(b));
        }
    }
}
