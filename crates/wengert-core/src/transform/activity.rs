//! Activity: which values carry a derivative.
//!
//! A value is *varied* when it depends on an input differentiated by, and *useful* when a result
//! depends on it. Forward mode follows varied values; reverse mode those that are both. Loops are
//! iterated to a fixed point; facts only grow, so that ends.

use crate::ir::{Block, Func, Inst, Op, Value};
use crate::ops::Class;

/// Facts about every value of a function.
#[derive(Clone, Debug)]
pub struct Activity {
    varied: Vec<bool>,
    useful: Vec<bool>,
}

impl Activity {
    /// Analyses a function differentiated by the parameters in `wrt`.
    pub fn new(func: &Func, wrt: &[Value]) -> Activity {
        let n = func.values.len();
        let mut a = Activity { varied: vec![false; n], useful: vec![false; n] };
        for v in wrt {
            a.varied[v.index()] = true;
        }
        while a.vary_block(func, &func.body) {}
        for y in &func.body.yields {
            if func.ty(*y).is_float() {
                a.useful[y.index()] = true;
            }
        }
        while a.use_block(func, &func.body, &[]) {}
        a
    }

    /// Whether the value depends on an input differentiated by.
    pub fn is_varied(&self, v: Value) -> bool {
        self.varied[v.index()]
    }

    /// Whether the value lies between such an input and a result.
    pub fn is_active(&self, v: Value) -> bool {
        self.varied[v.index()] && self.useful[v.index()]
    }

    /// Whether an instruction has a part in the derivative of the results.
    pub fn is_active_inst(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|r| self.is_active(*r))
    }

    fn vary(&mut self, func: &Func, from: Value, to: Value) -> bool {
        let new = self.varied[from.index()] && !self.varied[to.index()] && func.ty(to).is_float();
        self.varied[to.index()] |= new;
        new
    }

    fn vary_block(&mut self, func: &Func, block: &Block) -> bool {
        block.insts.iter().fold(false, |changed, inst| self.vary_inst(func, inst) | changed)
    }

    fn vary_inst(&mut self, func: &Func, inst: &Inst) -> bool {
        let mut changed = false;
        match &inst.op {
            Op::Prim(p) => {
                if p.class() != Class::Zero {
                    for a in &inst.args {
                        changed |= self.vary(func, *a, inst.results[0]);
                    }
                }
            }
            Op::If => {
                for block in &inst.blocks {
                    changed |= self.vary_block(func, block);
                    changed |= self.vary_all(func, &block.yields, &inst.results);
                }
            }
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let inits = if inst.op == Op::For { &inst.args[2..] } else { &inst.args[..] };
                changed |= self.vary_all(func, inits, &body.params[1..]);
                changed |= self.vary_block(func, body);
                for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                    changed |= self.vary_block(func, &exit.blocks[0]);
                    changed |= self.vary_all(func, &exit.blocks[0].yields, &inst.results);
                }
                changed |= self.vary_all(func, &body.yields, &inst.results);
                // A result that varies makes the carry vary: its adjoint enters through either.
                changed |= self.vary_all(func, &inst.results, &body.params[1..]);
                changed |= self.vary_all(func, &body.params[1..], &inst.results);
            }
            _ => {
                for r in &inst.results {
                    for a in &inst.args {
                        changed |= self.vary(func, *a, *r);
                    }
                }
            }
        }
        changed
    }

    fn vary_all(&mut self, func: &Func, from: &[Value], to: &[Value]) -> bool {
        from.iter().zip(to).fold(false, |changed, (f, t)| self.vary(func, *f, *t) | changed)
    }

    fn make_use(&mut self, func: &Func, v: Value) -> bool {
        let new = !self.useful[v.index()] && func.ty(v).is_float();
        self.useful[v.index()] |= new;
        new
    }

    /// `ends` are the values the block's yields become, where they are not the function's results.
    fn use_block(&mut self, func: &Func, block: &Block, ends: &[Value]) -> bool {
        let mut changed = false;
        for (y, end) in block.yields.iter().zip(ends) {
            if self.useful[end.index()] {
                changed |= self.make_use(func, *y);
            }
        }
        for inst in block.insts.iter().rev() {
            changed |= self.use_inst(func, inst);
        }
        changed
    }

    fn use_inst(&mut self, func: &Func, inst: &Inst) -> bool {
        let mut changed = false;
        match &inst.op {
            Op::If => {
                for block in &inst.blocks {
                    changed |= self.use_block(func, block, &inst.results);
                }
            }
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let inits = if inst.op == Op::For { &inst.args[2..] } else { &inst.args[..] };
                // Results and carries are one stream of values.
                for (p, r) in body.params[1..].iter().zip(&inst.results) {
                    if self.useful[r.index()] {
                        changed |= self.make_use(func, *p);
                    }
                    if self.useful[p.index()] {
                        changed |= self.make_use(func, *r);
                    }
                }
                changed |= self.use_block(func, body, &inst.results);
                for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                    changed |= self.use_block(func, &exit.blocks[0], &inst.results);
                }
                for (p, init) in body.params[1..].iter().zip(inits) {
                    if self.useful[p.index()] {
                        changed |= self.make_use(func, *init);
                    }
                }
            }
            Op::Prim(p) if p.class() == Class::Zero => {}
            _ => {
                if inst.results.iter().any(|r| self.useful[r.index()]) {
                    for a in &inst.args {
                        changed |= self.make_use(func, *a);
                    }
                }
            }
        }
        changed
    }
}
