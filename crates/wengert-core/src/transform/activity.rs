//! Activity: which values carry a derivative.
//!
//! A value is *varied* when it depends on an input differentiated by, and *useful* when a result
//! depends on it. Forward mode follows varied values; reverse mode those that are both. Loops are
//! iterated to a fixed point; facts only grow, so that ends.
//!
//! A tape is varied when something varied was pushed on it. What is pushed and what is popped must
//! fit, so all versions of a tape share their facts.

use crate::ir::{Block, Func, Inst, Op, Type, Value};
use crate::ops::Class;
use rustc_hash::FxHashSet as HashSet;

/// Facts about every value of a function.
#[derive(Clone, Debug)]
pub struct Activity {
    varied: Vec<bool>,
    useful: Vec<bool>,
    /// Whether tapes, and loops that are functions of their own, hand on what is varied.
    through_tapes: bool,
}

impl Activity {
    /// Analyses a function differentiated by the parameters in `wrt`.
    pub fn new(func: &Func, wrt: &[Value]) -> Activity {
        let mut a = Activity::start(func, wrt, true);
        let tapes = Tapes::new(func);
        while a.vary_block(func, &func.body) | tapes.share(&mut a.varied) {}
        for y in &func.body.yields {
            if func.ty(*y).has_adjoint() {
                a.useful[y.index()] = true;
            }
        }
        while a.use_block(func, &func.body, &[]) | tapes.share(&mut a.useful) {}
        a
    }

    /// What depends on parameters by arithmetic alone: nothing that comes from a tape, or from a loop that is a
    /// function of its own, is varied. Nothing is useful.
    pub fn by_arithmetic(func: &Func, from: &[Value]) -> Activity {
        let mut a = Activity::start(func, from, false);
        while a.vary_block(func, &func.body) {}
        a
    }

    fn start(func: &Func, wrt: &[Value], through_tapes: bool) -> Activity {
        let n = func.values.len();
        let mut a = Activity { varied: vec![false; n], useful: vec![false; n], through_tapes };
        for v in wrt {
            a.varied[v.index()] = true;
        }
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

    /// Whether an instruction has a part in the derivative of the results. One that pops records has, even
    /// where nothing comes of it: what was pushed finds its adjoints only if what was popped pushes some.
    pub fn is_active_inst(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|r| self.is_active(*r))
            || inst.blocks.iter().any(|block| block.insts.iter().any(|i| self.pops(i)))
    }

    fn pops(&self, inst: &Inst) -> bool {
        let here = inst.op == Op::Pop && self.is_active(inst.args[0]);
        here || inst.blocks.iter().any(|block| block.insts.iter().any(|i| self.pops(i)))
    }

    fn vary(&mut self, func: &Func, from: Value, to: Value) -> bool {
        let stops = func.ty(to) == Type::Tape && !self.through_tapes;
        let new = self.varied[from.index()]
            && !self.varied[to.index()]
            && func.ty(to).has_adjoint()
            && !stops;
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
            Op::Drive(..) if !self.through_tapes => {}
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
        let new = !self.useful[v.index()] && func.ty(v).has_adjoint();
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

/// The versions of tapes, grouped by the tape they are versions of.
struct Tapes {
    group: Vec<u32>,
    versions: Vec<Value>,
}

impl Tapes {
    fn new(func: &Func) -> Tapes {
        let all = (0..func.values.len() as u32).map(Value);
        let versions: Vec<Value> = all.filter(|v| func.ty(*v) == Type::Tape).collect();
        let mut tapes = Tapes { group: (0..func.values.len() as u32).collect(), versions };
        if !tapes.versions.is_empty() {
            func.body.walk(&mut |inst| tapes.unite(func, inst));
        }
        tapes
    }

    fn unite(&mut self, func: &Func, inst: &Inst) {
        let mut join = |a: &[Value], b: &[Value]| {
            for (a, b) in a.iter().zip(b).filter(|(a, _)| func.ty(**a) == Type::Tape) {
                let (a, b) = (self.root(*a), self.root(*b));
                self.group[a as usize] = b;
            }
        };
        match &inst.op {
            Op::Push | Op::Pop => join(&inst.args[..1], &inst.results[..1]),
            Op::If => inst.blocks.iter().for_each(|b| join(&b.yields, &inst.results)),
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                join(if inst.op == Op::For { &inst.args[2..] } else { &inst.args }, &inst.results);
                join(&body.params[1..], &inst.results);
                join(&body.yields, &inst.results);
                for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                    join(&exit.blocks[0].yields, &inst.results);
                }
            }
            Op::Call(_) | Op::Drive(..) => {
                let tapes = |values: &[Value]| -> Vec<Value> {
                    values.iter().copied().filter(|v| func.ty(*v) == Type::Tape).collect()
                };
                join(&tapes(&inst.args), &tapes(&inst.results));
            }
            _ => {}
        }
    }

    fn root(&self, v: Value) -> u32 {
        let mut at = v.0;
        while self.group[at as usize] != at {
            at = self.group[at as usize];
        }
        at
    }

    /// Gives every version a fact that one of its tape's has.
    fn share(&self, facts: &mut [bool]) -> bool {
        let known: HashSet<u32> =
            self.versions.iter().filter(|v| facts[v.index()]).map(|v| self.root(*v)).collect();
        let mut changed = false;
        for v in self.versions.iter().filter(|v| known.contains(&self.root(**v))) {
            changed |= !std::mem::replace(&mut facts[v.index()], true);
        }
        changed
    }
}
