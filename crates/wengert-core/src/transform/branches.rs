//! Branches on the same condition become one.
//!
//! The sine and the cosine of an angle ask the same questions about it and begin with the same arithmetic. Standing in
//! one branch they ask once, and what both compute is computed once. Of branches that only compute numbers and cannot
//! fail, a later one joins an earlier one of its block where all that it reads is known by then. No bit changes.

use super::copy::{Copier, rebuild};
use crate::ir::{Block, Builder, Func, Inst, Op, Value, parse};
use crate::ops::Scalar;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::borrow::Cow;

/// The function with branches joined.
pub fn join(func: &Func) -> Func {
    let mut joined = Cow::Borrowed(func);
    loop {
        let mut joins =
            Joins { func: &joined, followers: HashMap::default(), moved: HashSet::default() };
        joins.look(&joined.body);
        if joins.moved.is_empty() {
            return joined.into_owned();
        }
        // What stood apart stands side by side now.
        joined = Cow::Owned(rebuild(&joined, &joined.name, &mut |copier, b, inst| {
            joins.put(copier, b, inst)
        }));
    }
}

/// Which branches join which.
struct Joins<'f> {
    func: &'f Func,
    /// By the first result of a branch, those that join it.
    followers: HashMap<Value, Vec<&'f Inst>>,
    /// The first results of those.
    moved: HashSet<Value>,
}

impl<'f> Joins<'f> {
    fn look(&mut self, block: &'f Block) {
        let mut places: HashMap<Value, usize> = HashMap::default();
        let mut leaders: HashMap<Value, (usize, Value)> = HashMap::default();
        for (at, inst) in block.insts.iter().enumerate() {
            inst.blocks.iter().for_each(|nested| self.look(nested));
            places.extend(inst.results.iter().map(|r| (*r, at)));
            let (Op::If, Some(first)) = (&inst.op, inst.results.first()) else { continue };
            if !self.is_plain(inst) {
                continue;
            }
            let known = |v: &Value, before: usize| places.get(v).is_none_or(|at| *at < before);
            let leader = leaders.get(&inst.args[0]).filter(|(before, _)| {
                let mut read = inst.blocks.iter().flat_map(|side| side.captures(self.func));
                read.all(|v| known(&v, *before))
            });
            match leader {
                Some((_, leader)) => {
                    self.followers.entry(*leader).or_default().push(inst);
                    self.moved.insert(*first);
                }
                None => _ = leaders.insert(inst.args[0], (at, *first)),
            }
        }
    }

    /// Whether a branch only computes numbers, and nothing can go wrong.
    fn is_plain(&self, branch: &Inst) -> bool {
        let plain = |inst: &Inst| {
            let numbers = inst.results.iter().all(|r| self.func.ty(*r).is_scalar());
            numbers
                && match &inst.op {
                    Op::Prim(prim) => !prim.can_trap(),
                    Op::Call(name) => name.starts_with(parse::LIBRARY),
                    Op::If => self.is_plain(inst),
                    _ => false,
                }
        };
        branch.results.iter().all(|r| self.func.ty(*r).is_scalar())
            && branch.blocks.iter().all(|side| side.insts.iter().all(plain))
    }

    /// A branch with those that join it; says of others, and of all where the condition is decided, that they are
    /// to be copied as they are.
    fn put(&self, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> bool {
        let (Op::If, Some(first)) = (&inst.op, inst.results.first()) else { return false };
        let condition = copier.get(self.func, b, inst.args[0]);
        if let Some(Scalar::Bool(_)) = b.func().as_const(condition) {
            return false;
        }
        if self.moved.contains(first) {
            return true;
        }
        let Some(followers) = self.followers.get(first) else { return false };
        let all: Vec<&Inst> = std::iter::once(inst).chain(followers.iter().copied()).collect();
        let sides = [0, 1].map(|k: usize| self.side(copier, b, &all, k));

        // What is the same on both sides is handed out once.
        let (mut pairs, mut at) = (Vec::new(), Vec::new());
        for pair in sides[0].0.iter().copied().zip(sides[1].0.iter().copied()) {
            let found = pairs.iter().position(|other| *other == pair);
            at.push(found.unwrap_or(pairs.len()));
            if found.is_none() {
                pairs.push(pair);
            }
        }
        let blocks = sides.map(|(yields, mut block)| {
            block.yields = (0..pairs.len())
                .filter_map(|k| at.iter().position(|a| *a == k).map(|first| yields[first]))
                .collect();
            block
        });
        let types: Vec<_> = pairs.iter().map(|(v, _)| b.ty(*v)).collect();
        b.at(inst.span);
        let results = b.inst(Op::If, vec![condition], &types, blocks.into());
        let wanted = all.iter().flat_map(|branch| &branch.results);
        for (from, k) in wanted.zip(at) {
            copier.bind(*from, results[k]);
            if let Some(name) = self.func.name_of(*from) {
                b.name(results[k], &name);
            }
        }
        true
    }

    /// One side of all these branches, and what it yields.
    fn side(
        &self,
        copier: &mut Copier,
        b: &mut Builder,
        branches: &[&Inst],
        k: usize,
    ) -> (Vec<Value>, Block) {
        b.open_block(&[]);
        let mut calls: HashMap<(&str, Vec<Value>), Vec<Value>> = HashMap::default();
        for branch in branches {
            for inst in &branch.blocks[k].insts {
                let Op::Call(name) = &inst.op else {
                    copier.inst_with(self.func, b, inst, &mut |c, b, i| self.put(c, b, i));
                    continue;
                };
                let call = (&**name, copier.all(self.func, b, &inst.args));
                match calls.get(&call) {
                    Some(known) => {
                        inst.results.iter().zip(known).for_each(|(r, to)| copier.bind(*r, *to));
                    }
                    None => {
                        copier.inst(self.func, b, inst);
                        calls.insert(call, copier.all(self.func, b, &inst.results));
                    }
                }
            }
        }
        let yields: Vec<Value> = branches
            .iter()
            .flat_map(|branch| copier.all(self.func, b, &branch.blocks[k].yields))
            .collect();
        let block = Block { end: branches[0].blocks[k].end, ..b.close_block(yields.clone()) };
        (yields, block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, verify};
    use crate::transform::expand;
    use crate::transform::testing::branches;

    fn joined(text: &str) -> (Module, Module) {
        let before = expand::module(&parse::module(text).unwrap());
        let funcs = before.funcs.iter().map(join).collect();
        let after = Module { funcs, ..before.clone() };
        verify::module(&after).unwrap();
        (before, after)
    }

    fn keys(module: &Module, args: &[Val]) -> Vec<Scalar> {
        let out = Interp::new(module).call("f", args.to_vec()).unwrap();
        let scalar = |v: Val| match v {
            Val::Scalar(s) => s,
            _ => unreachable!(),
        };
        out.into_iter().map(scalar).collect()
    }

    #[test]
    fn a_sine_and_a_cosine_ask_once() {
        let text = "
            func @f(%x: f64) -> (f64, f64) {
              %s = sin %x
              %t = mul %s, 2.0
              %c = cos %x
              return %t, %c
            }";
        let (before, after) = joined(text);
        // Small, middling, and the parity of each.
        assert_eq!((branches(&before.funcs[0]), branches(&after.funcs[0])), (6, 4));
        let mut calls = 0;
        after.funcs[0].body.walk(&mut |i| calls += usize::from(matches!(i.op, Op::Call(_))));
        assert_eq!(calls, 1);
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e22, 5e-324];
        let many = (-400..400).map(|k| f64::from(k) * 0.05);
        for x in
            special.into_iter().chain(many).chain([std::f64::consts::FRAC_PI_4, 1e6, -999_999.5])
        {
            let args = [Val::f64(x)];
            assert_eq!(keys(&before, &args), keys(&after, &args), "x = {x}");
        }
    }

    #[test]
    fn one_that_reads_what_the_other_gives_stays() {
        let text = "
            func @f(%x: f64) -> (f64, f64) {
              %c = lt %x, 0.0
              %a = if %c { %n = neg %x  yield %n } else { yield %x }
              %d = mul %a, 3.0
              %b = if %c { %m = add %d, 1.0  yield %m } else { %l = sub %d, 1.0  yield %l }
              %e = if %c { %p = add %b, %a  yield %p } else { yield %d }
              %g = add %b, %e
              return %a, %g
            }";
        let (before, after) = joined(text);
        assert_eq!(branches(&after.funcs[0]), 3);
        for x in [-2.0, 0.0, 5.0, f64::NAN] {
            assert_eq!(keys(&before, &[Val::f64(x)]), keys(&after, &[Val::f64(x)]));
        }
    }

    #[test]
    fn what_may_fail_stays() {
        let text = "
            func @f(%x: f64, %n: i64) -> (f64, i64) {
              %c = lt %x, 0.0
              %a = if %c { %s = neg %x  yield %s } else { yield %x }
              %k = iadd %n, 1
              %b = if %c { %q = imul %n, %n  yield %q } else { yield %n }
              return %a, %b
            }";
        let (before, after) = joined(text);
        assert_eq!(branches(&after.funcs[0]), branches(&before.funcs[0]));
    }

    #[test]
    fn what_both_give_is_handed_out_once() {
        let text = "
            func @f(%x: f64) -> f64 {
              %c = lt %x, 0.0
              %a, %z = if %c { %n = neg %x  yield %n, 1.0 } else { yield %x, 2.0 }
              %b = if %c { %m = neg %x  yield %m } else { yield %x }
              %d = add %a, %b
              %e = mul %d, %z
              return %e
            }";
        let (before, after) = joined(text);
        let mut results = 0;
        after.funcs[0].body.walk(&mut |i| {
            if i.op == Op::If {
                results += i.results.len();
            }
        });
        assert_eq!((branches(&after.funcs[0]), results), (1, 2));
        for x in [-2.0, 0.0, 5.0, f64::NAN] {
            assert_eq!(keys(&before, &[Val::f64(x)]), keys(&after, &[Val::f64(x)]));
        }
    }
}
