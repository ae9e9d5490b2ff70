//! Arrays that iterations of a loop write to and never read.
//!
//! What such a loop makes of its inputs, as in `out[i] = y`, is no part of the state that the next iteration needs. Nothing is
//! ever taken from it, so after running some iterations again it is what it was: each element has what was written there last. And an
//! in-place write stays where it is: at every moment there is one array, at one address.

use rustc_hash::FxHashSet as HashSet;
use wengert_core::ir::{Block, Func, Inst, Op, Value};
use wengert_core::ops::ArrayOp;

/// Whether the array given as a parameter is the one given back as result `k`, after nothing but writes to it.
pub(super) fn only_written(func: &Func, param: Value, k: usize) -> bool {
    if !func.ty(param).is_array() {
        return false;
    }
    let mut versions = Versions { all: HashSet::from_iter([param]) };
    while versions.grow(&func.body) {}
    let is_last = |(at, v): (usize, &Value)| versions.all.contains(v) == (at == k);
    versions.hold_in(&func.body) && func.body.yields.iter().enumerate().all(is_last)
}

/// The versions of one array.
struct Versions {
    all: HashSet<Value>,
}

/// Whether an instruction overwrites elements of its first operand, and looks at none.
fn overwrites(op: &Op) -> bool {
    matches!(op, Op::Store | Op::Array(ArrayOp::Poke | ArrayOp::Put | ArrayOp::Refill))
}

/// What a loop begins with.
fn inits(inst: &Inst) -> &[Value] {
    if inst.op == Op::For { &inst.args[2..] } else { &inst.args }
}

/// What each way out of a loop's body hands on.
fn ends(inst: &Inst) -> impl Iterator<Item = &[Value]> {
    let body = &inst.blocks[0];
    let exits = body.insts.iter().filter(|inst| inst.op == Op::ExitIf);
    exits.map(|exit| &exit.blocks[0].yields[..]).chain([&body.yields[..]])
}

impl Versions {
    fn has(&self, v: &Value) -> bool {
        self.all.contains(v)
    }

    fn grow(&mut self, block: &Block) -> bool {
        block.insts.iter().fold(false, |grown, inst| self.grow_by(inst) | grown)
    }

    fn grow_by(&mut self, inst: &Inst) -> bool {
        let before = self.all.len();
        match &inst.op {
            op if overwrites(op) && self.has(&inst.args[0]) => self.all.extend(&inst.results),
            Op::If => {
                for (j, r) in inst.results.iter().enumerate() {
                    if inst.blocks.iter().any(|block| self.has(&block.yields[j])) {
                        self.all.insert(*r);
                    }
                }
            }
            Op::For | Op::While => {
                for (j, r) in inst.results.iter().enumerate() {
                    let param = inst.blocks[0].params[j + 1];
                    let comes = self.has(&inits(inst)[j]) || ends(inst).any(|e| self.has(&e[j]));
                    if comes || self.has(&param) {
                        self.all.extend([*r, param]);
                    }
                }
            }
            _ => {}
        }
        let mut grown = self.all.len() > before;
        for block in &inst.blocks {
            grown |= self.grow(block);
        }
        grown
    }

    /// Whether every use of a version makes the next one of it, and of nothing else. What a block hands on is looked at where the block
    /// belongs to.
    fn hold_in(&self, block: &Block) -> bool {
        block.insts.iter().all(|inst| self.hold_by(inst))
    }

    fn hold_by(&self, inst: &Inst) -> bool {
        // Each place either hands versions on, whichever way is taken, or none.
        let here = match &inst.op {
            op if overwrites(op) => inst.args[1..].iter().all(|v| !self.has(v)),
            // Shapes stay what they are.
            Op::Dim(_) | Op::Array(ArrayOp::Conform(_)) => true,
            Op::If => inst.results.iter().enumerate().all(|(j, r)| {
                inst.blocks.iter().all(|block| self.has(&block.yields[j]) == self.has(r))
            }),
            Op::For | Op::While => {
                let bounds = inst.args.len() - inits(inst).len();
                let is_bounded_by = inst.args[..bounds].iter().any(|v| self.has(v));
                let fits = |(j, r): (usize, &Value)| {
                    let mut values = ends(inst).map(|end| &end[j]).chain([&inits(inst)[j]]);
                    values.all(|v| self.has(v) == self.has(r))
                };
                !is_bounded_by && inst.results.iter().enumerate().all(fits)
            }
            _ => inst.args.iter().all(|v| !self.has(v)),
        };
        here && inst.blocks.iter().all(|block| self.hold_in(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::parse;

    /// Whether `%a` is only written by a loop with this body.
    fn is_only_written(body: &str) -> bool {
        let text = format!(
            "func @f(%from: i64, %to: i64, %y: f64, %a: [f64], %b: [f64]) -> (f64, [f64], [f64]) {{
               %r, %s, %t = for %i in %from..%to carry (%z = %y, %c = %a, %d = %b) {{
                 {body}
               }}
               return %r, %s, %t
             }}"
        );
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = &module.funcs[0];
        only_written(func, func.params()[3], 1)
    }

    #[test]
    fn written() {
        for body in [
            "yield %z, %c, %d",
            "%e = store %c, %i, %z  yield %z, %e, %d",
            "%e = store %c, %i, %z  %n = dim[0] %e  %g = store %e, %n, %z  yield %z, %g, %d",
            "%e = refill %c, %z  yield %z, %e, %d",
            "%e = put %c, %i, 3, 1, %d  yield %z, %e, %d",
            "%p = gt %z, 1.0
             %e = if %p {
               %g = store %c, 0, %z
               yield %g
             } else {
               yield %c
             }
             yield %z, %e, %d",
            "%e = for %j in 0..%i carry (%g = %c) {
               %h = store %g, %j, %z
               yield %h
             }
             yield %z, %e, %d",
            "%p = gt %z, 1.0
             exit_if %p {
               yield %z, %c, %d
             }
             %e = store %c, %i, %z
             yield %z, %e, %d",
        ] {
            assert!(is_only_written(body), "{body}");
        }
    }

    #[test]
    fn read_or_exchanged() {
        for body in [
            "%v = load %c, 0  %w = mul %z, %v  yield %w, %c, %d",
            "%v = load %c, 0  %e = store %c, %i, %v  yield %z, %e, %d",
            "%v = sum %c  yield %v, %c, %d",
            "%e = add_slice %c, %i, 3, 1, %d  yield %z, %e, %d",
            "yield %z, %d, %c",
            "%e = copy %c  yield %z, %e, %d",
            "%e = put %d, 0, 3, 1, %c  yield %z, %c, %e",
            "%e = add %c, %c  yield %z, %e, %d",
            "%p = gt %z, 1.0
             %e, %g = if %p {
               yield %c, %d
             } else {
               yield %d, %c
             }
             yield %z, %e, %g",
            "%p = gt %z, 1.0
             exit_if %p {
               yield %z, %d, %c
             }
             yield %z, %c, %d",
            "%e, %h = for %j in 0..%i carry (%g = %c, %k = %d) {
               yield %k, %g
             }
             yield %z, %e, %h",
            "%e = for %j in 0..%i carry (%g = %c) {
               %v = load %g, %j
               %h = store %g, 0, %v
               yield %h
             }
             yield %z, %e, %d",
        ] {
            assert!(!is_only_written(body), "{body}");
        }
        let text = "func @f(%x: f64, %a: [f64]) -> (f64, [f64]) { return %x, %a }";
        let module = parse::module(text).unwrap();
        let func = &module.funcs[0];
        // A number is part of the state, and a result is that of its own place.
        assert!(!only_written(func, func.params()[0], 0));
        assert!(
            only_written(func, func.params()[1], 1) && !only_written(func, func.params()[1], 0)
        );
    }
}
