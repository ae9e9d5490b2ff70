//! Values that are the same machine value as an earlier one.
//!
//! A `store` works in place, so the new version has the old one's address and dimensions. A carry that
//! every iteration hands on unchanged is its initial value. Such values need no register of their
//! own: a loop that stores into an array carries neither its address nor its dimensions.
//!
//! One pass over the function, inside out. A carry is found unchanged if the value the body yields
//! leads back to the carry itself; only then is the carry linked to its initial value, so links
//! always point outwards and the search ends.

use wengert_core::ir::{Block, Func, Inst, Op, Value};

/// Links from values to the values they are the same as.
#[derive(Debug)]
pub(super) struct Identity {
    links: Vec<Option<Value>>,
}

impl Identity {
    /// What is the same in a function.
    pub(super) fn of(func: &Func) -> Self {
        let mut identity = Identity { links: vec![None; func.values.len()] };
        identity.block(&func.body);
        identity
    }

    /// The value that `v` is the same as; itself if there is no other.
    pub(super) fn find(&self, mut v: Value) -> Value {
        while let Some(to) = self.links[v.index()] {
            v = to;
        }
        v
    }

    /// Whether a value is another one under a new name.
    pub(super) fn is_linked(&self, v: Value) -> bool {
        self.links[v.index()].is_some()
    }

    fn link(&mut self, from: Value, to: Value) {
        let to = self.find(to);
        if to != from {
            self.links[from.index()] = Some(to);
        }
    }

    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            inst.blocks.iter().for_each(|nested| self.block(nested));
            if let Some(taken) = inst.op.takes() {
                self.link(inst.results[0], inst.args[taken]);
            }
            match inst.op {
                Op::If => {
                    for (k, r) in inst.results.iter().enumerate() {
                        let yields = [0, 1].map(|b: usize| self.find(inst.blocks[b].yields[k]));
                        // Two branches can only agree on a value from outside both.
                        if yields[0] == yields[1] {
                            self.link(*r, yields[0]);
                        }
                    }
                }
                Op::For => self.looping(inst, 2),
                Op::While => self.looping(inst, 0),
                _ => {}
            }
        }
    }

    fn looping(&mut self, inst: &Inst, bounds: usize) {
        let (body, inits) = (&inst.blocks[0], &inst.args[bounds..]);
        // One carry may stand for another that is found unchanged after it.
        for _ in 0..2 {
            for (k, init) in inits.iter().enumerate() {
                let carry = body.params[k + 1];
                let next = self.find(body.yields[k]);
                if !self.is_linked(carry) && (next == carry || next == self.find(*init)) {
                    self.link(carry, *init);
                }
            }
        }
        for (k, init) in inits.iter().enumerate() {
            let init = self.find(*init);
            let unchanged = self.find(body.params[k + 1]) == init;
            let mut exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
            if unchanged && exits.all(|e| self.find(e.blocks[0].yields[k]) == init) {
                self.link(inst.results[k], init);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::parse;

    #[test]
    fn an_array_stored_into_is_not_carried() {
        let text = "
            func @f(%x: [f64], %c: f64, %n: i64) -> ([f64], f64) {
              %y, %d, %s = for %i in 0..%n carry (%a = %x, %b = %c, %t = 0.0) {
                %a1 = for %j in 0..%n carry (%e = %a) {
                  %e1 = store %e, %j, %b
                  yield %e1
                }
                %u = add %t, %b
                yield %a1, %b, %u
              }
              return %y, %s
            }";
        let module = parse::module(text).unwrap();
        let func = &module.funcs[0];
        let identity = Identity::of(func);
        let outer = &func.body.insts[0];
        let found: Vec<Value> = outer.results.iter().map(|r| identity.find(*r)).collect();
        assert_eq!(found, [func.params()[0], func.params()[1], outer.results[2]]);
    }
}
