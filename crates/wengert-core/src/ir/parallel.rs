//! Loops whose iterations can run in any order.
//!
//! A loop marked `parallel` carries arrays only, and an iteration touches only those of their elements (or
//! rows, ..) whose first index is its own counter. What it reads from outside the loop it may read anywhere,
//! for nothing there changes. So no iteration sees what another has done, and running them in order, as the
//! interpreter does, gives what any other order gives.

use super::func::{Block, Func, Inst, Value};
use super::types::Op;
use crate::ops::{ArrayOp, Scalar};
use std::collections::HashMap;

/// Checks that the iterations of a loop are independent; says why they are not.
pub fn independent(func: &Func, inst: &Inst) -> Result<(), String> {
    if inst.op != Op::For {
        return Err(
            "only a `for` loop can be parallel: a `while` loop ends by what it computes".into()
        );
    }
    let body = &inst.blocks[0];
    let mut walk = Walk { func, counter: body.params[0], versions: HashMap::new() };
    for (k, p) in body.params[1..].iter().enumerate() {
        if !func.ty(*p).is_array() {
            return Err(format!(
                "the parallel loop carries `{}` from one iteration to the next; store it into an element of an array, and sum up after the loop",
                walk.shown(*p)
            ));
        }
        walk.versions.insert(*p, k);
    }
    walk.block(body)?;
    walk.hands_on(&body.yields, &(0..body.yields.len()).map(Some).collect::<Vec<_>>())
}

/// Takes the mark off loops that have lost what it says, as passes may make them.
pub fn settle(func: &mut Func) {
    fn block(func: &Func, block_: &mut Block) {
        for inst in &mut block_.insts {
            inst.blocks.iter_mut().for_each(|b| block(func, b));
            if inst.blocks.iter().any(|b| b.parallel) && independent(func, inst).is_err() {
                inst.blocks[0].parallel = false;
            }
        }
    }
    let mut body = std::mem::take(&mut func.body);
    block(func, &mut body);
    func.body = body;
}

struct Walk<'f> {
    func: &'f Func,
    counter: Value,
    /// Versions of the carried arrays: which carry they belong to.
    versions: HashMap<Value, usize>,
}

impl Walk<'_> {
    fn shown(&self, v: Value) -> String {
        match self.func.name_of(v) {
            Some(name) => format!("%{name}"),
            None => format!("%{}", v.0),
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), String> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), String> {
        if inst.op == Op::ExitIf {
            return Err(
                "a parallel loop cannot be left early: other iterations may have run".into()
            );
        }
        let carried = |v: &Value| self.versions.get(v).copied();
        let touched: Vec<Option<usize>> = inst.args.iter().map(carried).collect();
        let one = Some(Scalar::I64(1));
        let at_counter = inst.args.get(1) == Some(&self.counter);
        let own = match &inst.op {
            Op::Load | Op::Store => at_counter,
            Op::Array(ArrayOp::Peek | ArrayOp::Poke) => {
                at_counter && self.func.ty(inst.args[0]).rank() == 1
            }
            Op::Array(ArrayOp::Slice | ArrayOp::Put | ArrayOp::AddSlice) => {
                at_counter && self.func.as_const(inst.args[2]) == one
            }
            Op::Dim(_) => true,
            _ => false,
        };
        match inst.op {
            Op::For | Op::While => {
                let bounds = if inst.op == Op::For { 2 } else { 0 };
                let body = &inst.blocks[0];
                for (k, carry) in touched[bounds..].iter().enumerate() {
                    if let Some(carry) = carry {
                        self.versions.insert(body.params[k + 1], *carry);
                        self.versions.insert(inst.results[k], *carry);
                    }
                }
                // Exits of an inner loop are its own affair.
                for step in &body.insts {
                    match step.op {
                        Op::ExitIf => {
                            self.block(&step.blocks[0])?;
                            self.hands_on(&step.blocks[0].yields, &touched[bounds..])?;
                        }
                        _ => self.inst(step)?,
                    }
                }
                return self.hands_on(&body.yields, &touched[bounds..]);
            }
            Op::If => {
                for block in &inst.blocks {
                    self.block(block)?;
                }
                let ends: Vec<Option<usize>> =
                    inst.blocks[0].yields.iter().map(|y| self.versions.get(y).copied()).collect();
                for (r, carry) in inst.results.iter().zip(&ends) {
                    if let Some(carry) = carry {
                        self.versions.insert(*r, *carry);
                    }
                }
                return self.hands_on(&inst.blocks[1].yields, &ends);
            }
            _ => {}
        }
        let first = touched.iter().position(Option::is_some);
        match first {
            None => Ok(()),
            Some(0) if own && touched[1..].iter().all(Option::is_none) => {
                if inst.op.takes().is_some() {
                    self.versions.insert(inst.results[0], touched[0].unwrap_or(0));
                }
                Ok(())
            }
            Some(k) => Err(format!(
                "an iteration of the parallel loop may touch `{}` only at its own index `{}`; read another array, or leave out `parallel`",
                self.shown(inst.args[k]),
                self.shown(self.counter)
            )),
        }
    }

    /// Values handed on belong to these carries.
    fn hands_on(&self, values: &[Value], carries: &[Option<usize>]) -> Result<(), String> {
        let wrong = |(v, k): &(&Value, &Option<usize>)| self.versions.get(*v) != k.as_ref();
        match values.iter().zip(carries).find(wrong) {
            None => Ok(()),
            Some((v, _)) => Err(format!(
                "the parallel loop hands on `{}` in the place of an array it carries",
                self.shown(*v)
            )),
        }
    }
}
