//! Shrinking: a failing program made small while it fails the same way.
//!
//! Edits are tried one by one and kept where the check still finds the same kind of trouble: an
//! instruction is forgotten (its operand or a constant stands for its result), a branch or a loop
//! body is put in place of its instruction, loops get constant bounds, carries, results and parameters go.
//! Most edits make ill-formed programs; the verifier sorts those out.

use super::case::{Case, Kind, Trouble};
use crate::interp::Val;
use crate::ir::{Block, Func, Inst, Module, Op, Type, Value, parse};
use crate::ops::Scalar;
use crate::transform::pipeline;
use rustc_hash::FxHashMap as HashMap;

/// Checks after which shrinking stops.
const MOST_CHECKS: usize = 20_000;

/// Operands that are tried in the place of a result.
const OPERANDS: usize = 3;

/// One way to make a program smaller. Instructions are numbered in printing order.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Delete an instruction; one of its first operands or a constant stands for each result.
    Forget(usize, usize),
    /// Put a nested block in the place of its instruction.
    Inline(usize, usize),
    /// Give a `for` constant bounds `0..n`.
    Bounds(usize, i64),
    /// Drop a carry or a result of a branch.
    Carry(usize, usize),
    /// A constant for an operand.
    Operand(usize, usize),
    /// A constant for something yielded by a nested block.
    Yield(usize, usize, usize),
    /// Drop a result of the function.
    Result(usize),
    /// Differentiate by one parameter less.
    Wrt(usize),
    /// Drop a parameter, its argument standing for it.
    Param(usize),
    /// Round an argument.
    Round(usize),
    /// Drop an array argument's last element.
    Shorten(usize),
}

/// The smallest program found that fails like this one.
pub fn shrink(case: &Case, trouble: &Trouble) -> Case {
    let mut shrinker =
        Shrinker { best: case.clone(), kind: trouble.kind, sign: sign(trouble), checks: 0 };
    if trouble.kind == Kind::Invalid {
        return shrinker.best;
    }
    let module = Module::of(case.func.clone());
    if let Ok(func) = pipeline::run(&module, &case.func.name) {
        shrinker.keep(Case { func, ..case.clone() });
    }
    while shrinker.pass() && shrinker.checks < MOST_CHECKS {}
    // Numbered afresh, as it will be when someone pastes it into a test.
    let module = Module::of(shrinker.best.func.clone());
    if let Ok(mut fresh) = parse::module(&module.to_string()) {
        let func = fresh.funcs.remove(0);
        shrinker.keep(Case { func, ..shrinker.best.clone() });
    }
    shrinker.best
}

/// What tells one trouble of a kind from another: the message without its numbers.
fn sign(trouble: &Trouble) -> String {
    match trouble.kind {
        Kind::Panic | Kind::Refused => {
            trouble.message.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
        }
        _ => String::new(),
    }
}

struct Shrinker {
    best: Case,
    kind: Kind,
    sign: String,
    checks: usize,
}

impl Shrinker {
    /// Keeps a candidate that still fails the same way.
    fn keep(&mut self, candidate: Case) -> bool {
        self.checks += 1;
        let fails = match candidate.check() {
            Err(trouble) => trouble.kind == self.kind && sign(&trouble) == self.sign,
            Ok(_) => false,
        };
        if fails {
            self.best = candidate;
        }
        fails
    }

    fn attempt(&mut self, edit: Edit) -> bool {
        apply(&self.best, edit).is_some_and(|candidate| self.keep(candidate))
    }

    /// Tries every edit once, from the end of the program; says whether one was kept.
    fn pass(&mut self) -> bool {
        let mut any = false;
        for k in (0..self.best.func.results.len()).rev() {
            any |= self.attempt(Edit::Result(k));
        }
        for n in (0..count(&self.best.func.body)).rev() {
            for choice in 0..OPERANDS + 2 {
                if self.attempt(Edit::Forget(n, choice)) {
                    any = true;
                    break;
                }
            }
            for b in 0..2 {
                any |= self.attempt(Edit::Inline(n, b));
            }
            any |= self.attempt(Edit::Bounds(n, 1)) || self.attempt(Edit::Bounds(n, 2));
            for k in (0..8).rev() {
                any |= self.attempt(Edit::Carry(n, k));
            }
            for k in 0..6 {
                any |= self.attempt(Edit::Operand(n, k));
            }
            for (b, k) in (0..2).flat_map(|b| (0..4).map(move |k| (b, k))) {
                any |= self.attempt(Edit::Yield(n, b, k));
            }
        }
        for k in (0..self.best.args.len()).rev() {
            any |= self.attempt(Edit::Wrt(k));
            any |= self.attempt(Edit::Param(k));
            any |= self.attempt(Edit::Round(k));
            any |= self.attempt(Edit::Shorten(k));
        }
        any
    }
}

/// Instructions in a block, nested ones included.
fn count(block: &Block) -> usize {
    let mut n = 0;
    block.walk(&mut |_| n += 1);
    n
}

/// Calls `f` on the block that holds instruction `n`, and its position there.
fn visit<T>(
    block: &mut Block,
    n: &mut usize,
    f: &mut dyn FnMut(&mut Block, usize) -> T,
) -> Option<T> {
    for at in 0..block.insts.len() {
        if *n == 0 {
            return Some(f(block, at));
        }
        *n -= 1;
        for k in 0..block.insts[at].blocks.len() {
            if let Some(t) = visit(&mut block.insts[at].blocks[k], n, f) {
                return Some(t);
            }
        }
    }
    None
}

fn replace(block: &mut Block, map: &HashMap<Value, Value>) {
    let rename = |values: &mut Vec<Value>| {
        for v in values {
            while let Some(other) = map.get(v).filter(|other| *other != v) {
                *v = *other;
            }
        }
    };
    for inst in &mut block.insts {
        rename(&mut inst.args);
        inst.blocks.iter_mut().for_each(|b| replace(b, map));
    }
    rename(&mut block.yields);
}

/// A constant of a type.
fn constant(func: &mut Func, ty: Type, choice: usize) -> Option<Value> {
    let c = match (ty, choice) {
        (Type::F64, 1) => Scalar::F64(0.5),
        (Type::F64, _) => Scalar::F64(0.0),
        (Type::I64, 1) => Scalar::I64(1),
        (Type::I64, _) => Scalar::I64(0),
        (Type::Bool, c) => Scalar::Bool(c == 1),
        _ => return None,
    };
    Some(func.constant(c))
}

fn bounds(inst: &Inst) -> usize {
    if inst.op == Op::For { 2 } else { 0 }
}

fn apply(case: &Case, edit: Edit) -> Option<Case> {
    let mut next = case.clone();
    let func = &mut next.func;
    match edit {
        Edit::Forget(n, choice) => {
            let mut body = std::mem::take(&mut func.body);
            let gone = visit(&mut body, &mut { n }, &mut |block, at| block.insts.remove(at))?;
            let mut map = HashMap::default();
            for (k, r) in gone.results.iter().enumerate() {
                let ty = func.ty(*r);
                let stand_in = if choice >= OPERANDS {
                    constant(func, ty, choice - OPERANDS)
                } else if matches!(gone.op, Op::For | Op::While) {
                    Some(gone.args[bounds(&gone) + k])
                } else {
                    gone.args.get(choice).copied().filter(|a| func.ty(*a) == ty)
                };
                // Where nothing can stand for it, nothing may use it: the verifier will tell.
                map.extend(stand_in.map(|v| (*r, v)));
            }
            if choice > 0 && map.is_empty() {
                return None;
            }
            replace(&mut body, &map);
            func.body = body;
        }
        Edit::Inline(n, b) => {
            let mut body = std::mem::take(&mut func.body);
            let zero = func.constant(Scalar::I64(0));
            let map = visit(&mut body, &mut { n }, &mut |block, at| {
                if b >= block.insts[at].blocks.len() {
                    return None;
                }
                let mut gone = block.insts.remove(at);
                let inner = gone.blocks.swap_remove(b);
                let mut map: HashMap<Value, Value> =
                    gone.results.iter().copied().zip(inner.yields).collect();
                if let Some((counter, carries)) = inner.params.split_first() {
                    let lo = if gone.op == Op::For { gone.args[0] } else { zero };
                    map.insert(*counter, lo);
                    let inits = gone.args[bounds(&gone)..].iter().copied();
                    map.extend(carries.iter().copied().zip(inits));
                }
                let kept = inner.insts.into_iter().filter(|i| i.op != Op::ExitIf);
                block.insts.splice(at..at, kept);
                Some(map)
            })??;
            replace(&mut body, &map);
            func.body = body;
        }
        Edit::Bounds(n, trips) => {
            let (lo, hi) = (func.constant(Scalar::I64(0)), func.constant(Scalar::I64(trips)));
            let changed = visit(&mut func.body, &mut { n }, &mut |block, at| {
                let inst = &mut block.insts[at];
                if inst.op != Op::For || inst.args[..2] == [lo, hi] {
                    return false;
                }
                // One with a single iteration is not made longer.
                let single = trips == 2 && inst.args[0] == lo;
                let one = func.values.get(inst.args[1].index()).and_then(|v| v.constant);
                if single && one == Some(Scalar::I64(1)) {
                    return false;
                }
                inst.args[0] = lo;
                inst.args[1] = hi;
                true
            })?;
            if !changed {
                return None;
            }
        }
        Edit::Carry(n, k) => {
            let mut body = std::mem::take(&mut func.body);
            let mut map = HashMap::default();
            let result = visit(&mut body, &mut { n }, &mut |block, at| {
                let inst = &mut block.insts[at];
                if k >= inst.results.len() || inst.blocks.is_empty() {
                    return None;
                }
                let result = inst.results.remove(k);
                for nested in &mut inst.blocks {
                    nested.yields.remove(k);
                }
                if inst.op != Op::If {
                    let init = inst.args.remove(bounds(inst) + k);
                    let body = &mut inst.blocks[0];
                    map.insert(body.params.remove(k + 1), init);
                    map.insert(result, init);
                    for exit in body.insts.iter_mut().filter(|i| i.op == Op::ExitIf) {
                        exit.blocks[0].yields.remove(k);
                    }
                }
                Some(result)
            })??;
            let ty = func.ty(result);
            if let Some(c) = constant(func, ty, 1) {
                map.entry(result).or_insert(c);
            }
            replace(&mut body, &map);
            func.body = body;
        }
        Edit::Operand(n, k) => {
            let mut body = std::mem::take(&mut func.body);
            let operand = visit(&mut body, &mut { n }, &mut |block, at| {
                block.insts[at].args.get(k).copied()
            })??;
            if func.as_const(operand).is_some() {
                return None;
            }
            let ty = func.ty(operand);
            let c = constant(func, ty, 1)?;
            visit(&mut body, &mut { n }, &mut |block, at| block.insts[at].args[k] = c)?;
            func.body = body;
        }
        Edit::Yield(n, b, k) => {
            let mut body = std::mem::take(&mut func.body);
            let yielded = visit(&mut body, &mut { n }, &mut |block, at| {
                let nested = block.insts[at].blocks.get(b)?;
                nested.yields.get(k).copied()
            })??;
            if func.as_const(yielded).is_some() {
                return None;
            }
            let ty = func.ty(yielded);
            let c = constant(func, ty, 1)?;
            visit(&mut body, &mut { n }, &mut |block, at| block.insts[at].blocks[b].yields[k] = c)?;
            func.body = body;
        }
        Edit::Result(k) => {
            if func.results.len() == 1 || k >= func.results.len() {
                return None;
            }
            func.results.remove(k);
            func.body.yields.remove(k);
        }
        Edit::Wrt(k) => {
            let at = next.wrt.iter().position(|w| *w == k).filter(|_| next.wrt.len() > 1)?;
            next.wrt.remove(at);
        }
        Edit::Param(k) => {
            if next.wrt == [k] || k >= next.args.len() {
                return None;
            }
            let param = func.body.params.remove(k);
            if let Val::Scalar(s) = next.args.remove(k) {
                let c = func.constant(s);
                let mut body = std::mem::take(&mut func.body);
                replace(&mut body, &HashMap::from_iter([(param, c)]));
                func.body = body;
            }
            next.wrt.retain(|w| *w != k);
            next.wrt.iter_mut().filter(|w| **w > k).for_each(|w| *w -= 1);
        }
        Edit::Round(k) => {
            let round = |x: f64| (x * 10.0).round() / 10.0;
            let rounded = match next.args.get(k)? {
                Val::Scalar(Scalar::F64(x)) if round(*x) != *x => Val::f64(round(*x)),
                Val::Scalar(Scalar::I64(i)) if *i > 1 => Val::i64(i - 1),
                Val::Array(x) if x.floats().iter().any(|x| round(*x) != *x) => {
                    Val::shaped(x.with_floats(x.floats().into_iter().map(round)))
                }
                _ => return None,
            };
            next.args[k] = rounded;
        }
        Edit::Shorten(k) => match next.args.get(k)? {
            Val::Array(x) if x.shape.len() == 1 && x.len() > 1 => {
                next.args[k] = Val::array(x.f64s()[..x.len() - 1].to_vec());
            }
            _ => return None,
        },
    }
    Some(next)
}
