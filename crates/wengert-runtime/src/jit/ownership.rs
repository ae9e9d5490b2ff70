//! Arrays and tapes that die in the block that defines them: they are freed at its end.
//!
//! Arrays are linear, so every one has one owner: the block that allocated it, was given it as a
//! carry or got it from a call, until an operation takes it over. An array nothing takes over dies
//! with its block; without this a loop that makes a new array in every iteration would keep them
//! all until the run ends.
//!
//! A tape made by the program has one owner too; records left on it go with it, and arrays in them
//! stay until the end of the run.
//!
//! The analysis is one walk and errs on the side of keeping: an array taken over on some path only
//! stays until the end of the run. Versions that share storage (see `identity`) count as one.

use super::identity::Identity;
use rustc_hash::FxHashSet as HashSet;
use wengert_core::ir::verify::consumes;
use wengert_core::ir::{Block, Func, Inst, Module, Op, Phase, Type, Value};

/// What happens to the arrays of a function.
#[derive(Debug)]
pub(super) struct Ownership {
    kept: HashSet<Value>,
}

impl Ownership {
    /// Follows every array of a function of a module.
    pub(super) fn of(module: &Module, func: &Func, identity: &Identity) -> Self {
        let mut walk = Walk { module, identity, kept: HashSet::default() };
        walk.keep(&func.body.yields);
        // The caller's, unless the function takes them over.
        let lent = |p: &&Value| func.ty(**p) != Type::Tape && !consumes(module, func, **p);
        walk.kept.extend(func.params().iter().filter(lent));
        walk.block(&func.body);
        Ownership { kept: walk.kept }
    }

    /// Whether an array or tape defined in a block dies with it.
    pub(super) fn dies(&self, func: &Func, identity: &Identity, v: Value) -> bool {
        func.ty(v).is_linear() && !identity.is_linked(v) && !self.kept.contains(&v)
    }
}

struct Walk<'a> {
    module: &'a Module,
    identity: &'a Identity,
    /// Arrays that outlive their block.
    kept: HashSet<Value>,
}

impl Walk<'_> {
    fn keep(&mut self, values: &[Value]) {
        self.kept.extend(values.iter().map(|v| self.identity.find(*v)));
    }

    /// A value handed on under another name: it lives on, unless that name means the same storage.
    fn hand_on(&mut self, from: Value, to: Value) {
        if self.identity.find(from) != self.identity.find(to) {
            self.keep(&[from]);
        }
    }

    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            self.inst(inst);
            inst.blocks.iter().for_each(|nested| self.block(nested));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match &inst.op {
            Op::Push | Op::Pop => self.keep(&inst.args),
            Op::Call(name) => self.call(inst, name),
            Op::Drive(name, phase) => {
                let plan = self.module.plan(name).unwrap_or_else(|| unreachable!("verified"));
                self.call(
                    inst,
                    if *phase == Phase::Forward { &plan.record } else { &plan.reverse },
                );
            }
            Op::If => {
                for nested in &inst.blocks {
                    for (y, r) in nested.yields.iter().zip(&inst.results) {
                        self.hand_on(*y, *r);
                    }
                }
            }
            Op::For => self.looping(inst, 2),
            Op::While => self.looping(inst, 0),
            _ => {}
        }
    }

    fn call(&mut self, inst: &Inst, name: &str) {
        let callee = self.module.func(name).unwrap_or_else(|| unreachable!("verified"));
        for (a, p) in inst.args.iter().zip(callee.params()) {
            if callee.ty(*p) == Type::Tape || consumes(self.module, callee, *p) {
                self.keep(&[*a]);
            }
        }
    }

    fn looping(&mut self, inst: &Inst, bounds: usize) {
        let body = &inst.blocks[0];
        for (k, r) in inst.results.iter().enumerate() {
            for from in [inst.args[bounds + k], body.yields[k]] {
                self.hand_on(from, body.params[k + 1]);
                self.hand_on(from, *r);
            }
            for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                self.hand_on(exit.blocks[0].yields[k], *r);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::parse;

    #[test]
    fn what_dies() {
        let text = "
            func @read(%x: [f64]) -> f64 { %v = load %x, 0  return %v }
            func @f(%x: [f64], %r: [f64], %n: i64) -> ([f64], f64) {
              %tmp = fill %n, 0.0
              %y, %s = for %i in 0..%n carry (%a = %x, %t = 0.0) {
                %new = fill %n, 1.0
                %new1 = store %new, 0, %t
                %old = load %a, 0
                %scratch = copy %new1
                %u = call @read(%scratch) : f64
                yield %new1, %u
              }
              %z = load %r, 0
              return %y, %z
            }";
        let module = parse::module(text).unwrap();
        let func = &module.funcs[1];
        let identity = Identity::of(func);
        let ownership = Ownership::of(&module, func, &identity);
        let dying: Vec<String> = (0..func.values.len() as u32)
            .map(Value)
            .filter(|v| ownership.dies(func, &identity, *v))
            .filter_map(|v| func.name_of(v))
            .map(|name| name.to_string())
            .collect();
        assert_eq!(dying, ["tmp", "a", "scratch"]);
    }
}
