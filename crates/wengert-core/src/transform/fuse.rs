//! Loop fusion: a `for` loop and the next one over the same range become one.
//!
//! The rule. Neither loop has exits, and at most one of them can fail or has an effect, so no error is seen
//! earlier or later than another; the loop in their place stands where that one stood. The second loop may
//! use what the first one makes only element by element: arrays that the first writes at its counter
//! and the second reads (or changes in place) at its counter. It may overwrite an array that the
//! first one reads if both touch it at their counters only. Scalars the first one accumulates are known
//! only after it, so a loop that needs one stays apart. What stands between the loops moves before or
//! behind them if that makes no difference.
//!
//! Every iteration computes what it did, so no bit changes.

use super::activity::Activity;
use super::carries::rename_inside;
use super::shapes::{self, Shapes, Size};
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use crate::ops::{ArrayOp, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function with loops fused.
pub fn loops(from: &Func) -> Func {
    let mut func = from.clone();
    let floats: Vec<Value> =
        func.params().iter().copied().filter(|p| func.ty(*p).is_float()).collect();
    let activity = Activity::new(from, &floats);
    let body = std::mem::take(&mut func.body);
    let mut pass =
        Pass { shapes: Shapes::of_params(from), func: &func, ranges: HashMap::default(), activity };
    let body = pass.block(body);
    func.body = body;
    func
}

struct Pass<'f> {
    func: &'f Func,
    shapes: Shapes,
    /// The counters of loops, and their bounds.
    ranges: HashMap<Value, (Value, Value)>,
    activity: Activity,
}

/// An instruction that has been walked past.
#[derive(Clone)]
struct Passed {
    inst: Inst,
    /// Whether it can neither fail nor has an effect, by what was known at its place.
    quiet: bool,
}

/// How an array is indexed by a counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// By position.
    Flat,
    /// Along its first axis.
    Row,
}

/// What happens to the two loops' carries.
#[derive(Default)]
struct Links {
    /// Carries of the second that go on with a carry of the first: second, first.
    carried: Vec<(usize, usize)>,
    /// What values of the loops' bodies are called in the fused one.
    first: HashMap<Value, Value>,
    second: HashMap<Value, Value>,
}

impl Pass<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out: Vec<Passed> = Vec::new();
        for mut inst in block.insts {
            let looping = matches!(inst.op, Op::For | Op::While);
            if inst.op == Op::For {
                self.ranges.insert(inst.blocks[0].params[0], (inst.args[0], inst.args[1]));
            }
            for k in 0..inst.blocks.len() {
                if looping {
                    self.shapes.enter_loop(self.func, &inst);
                } else {
                    self.shapes.enter();
                }
                let nested = std::mem::take(&mut inst.blocks[k]);
                inst.blocks[k] = self.block(nested);
                self.shapes.leave();
            }
            self.shapes.note(self.func, &inst);
            match self.fused(&out, &inst) {
                Some((at, insts)) => {
                    out.truncate(at);
                    out.extend(insts);
                }
                None => {
                    let quiet = !self.can_fail(&inst);
                    out.push(Passed { inst, quiet });
                }
            }
        }
        let insts = out.into_iter().map(|p| p.inst).collect();
        Block { insts, ..block }
    }

    /// The last loop before `second` and what follows it, with `second` fused into it.
    fn fused(&self, before: &[Passed], second: &Inst) -> Option<(usize, Vec<Passed>)> {
        if second.op != Op::For {
            return None;
        }
        let at = before.iter().rposition(|p| p.inst.op == Op::For)?;
        let first = &before[at].inst;
        let bound = |inst: &Inst, k: usize| self.shapes.int(self.func, inst.args[k]);
        if bound(first, 0) != bound(second, 0) || bound(first, 1) != bound(second, 1) {
            return None;
        }
        // What runs on threads does not wait for what does not.
        if first.blocks[0].parallel != second.blocks[0].parallel {
            return None;
        }
        // A loop that is there for its errors or for a size has no part in derivatives, and must not get one.
        let idle = |i: &Inst| {
            let mut varied = i.results.iter().filter(|r| self.activity.is_varied(**r)).peekable();
            varied.peek().is_some() && !varied.any(|r| self.activity.is_active(*r))
        };
        if idle(first) != idle(second) {
            return None;
        }
        let exits = |i: &Inst| i.blocks[0].insts.iter().any(|i| i.op == Op::ExitIf);
        let fail = (!before[at].quiet, self.can_fail(second));
        if exits(first) || exits(second) || fail == (true, true) {
            return None;
        }
        let links = self.links(first, second)?;
        // An array read under another name must be read in range.
        if fail.0 && !links.first.is_empty() {
            return None;
        }
        let (mut ahead, mut behind) = self.parted(&before[at + 1..], first, second, fail.0)?;
        let span = if fail.1 { second.span } else { first.span };
        let inst = Inst { span, ..merged(first, second, links) };
        ahead.push(Passed { inst, quiet: fail == (false, false) });
        ahead.append(&mut behind);
        Some((at, ahead))
    }

    /// What stands between two loops: what goes before both, and what goes behind.
    fn parted(
        &self,
        between: &[Passed],
        first: &Inst,
        second: &Inst,
        first_fails: bool,
    ) -> Option<(Vec<Passed>, Vec<Passed>)> {
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        let mut late: HashSet<Value> = first.results.iter().copied().collect();
        let (mut used, mut taken) = (HashSet::default(), HashSet::default());
        uses::each(second, &mut |v, takes| {
            used.insert(v);
            if takes {
                taken.insert(v);
            }
        });
        for passed in between {
            let inst = &passed.inst;
            let mut depends = false;
            uses::each(inst, &mut |v, _| depends |= late.contains(&v));
            let mut takes = false;
            uses::each(inst, &mut |v, taken| takes |= taken && self.func.ty(v).is_linear());
            let plain = inst.blocks.is_empty() || inst.op == Op::If;
            let harmless = passed.quiet && plain && !takes;
            if !depends && (harmless || (only_fails(inst) && !first_fails)) {
                ahead.push(passed.clone());
                continue;
            }
            let needed = inst.results.iter().any(|r| used.contains(r));
            let mut overwritten = false;
            uses::each(inst, &mut |v, _| overwritten |= taken.contains(&v));
            if !harmless || needed || overwritten {
                return None;
            }
            late.extend(&inst.results);
            behind.push(passed.clone());
        }
        Some((ahead, behind))
    }

    /// How the second loop uses what the first one makes and reads; `None` where it must wait for it.
    fn links(&self, first: &Inst, second: &Inst) -> Option<Links> {
        let (a, b) = (&first.blocks[0], &second.blocks[0]);
        let mut links = Links::default();
        links.second.insert(b.params[0], a.params[0]);
        for (k, made) in first.results.iter().enumerate() {
            let inits: Vec<usize> =
                (0..second.results.len()).filter(|j| second.args[2 + j] == *made).collect();
            let captured = uses_value(b, *made);
            if inits.is_empty() && !captured {
                continue;
            }
            if !self.func.ty(*made).is_array() {
                return None;
            }
            let mut walk = Walk { func: self.func, at: None, anywhere: captured };
            let written = a.yields[k] != a.params[k + 1];
            if !written || !walk.carry(a, a.params[0], k) {
                return None;
            }
            walk.anywhere = false;
            match inits[..] {
                [] if walk.reads(b, b.params[0], *made) => {
                    links.second.insert(*made, a.yields[k]);
                }
                [j] if !captured && walk.carry(b, b.params[0], j) => {
                    links.carried.push((j, k));
                    links.second.insert(b.params[j + 1], a.yields[k]);
                }
                _ => return None,
            }
        }
        // What the second overwrites the first may still read, one element ahead of it.
        for (j, init) in second.args[2..].iter().enumerate() {
            if uses_value(a, *init) && self.func.ty(*init).is_array() {
                let mut walk = Walk { func: self.func, at: None, anywhere: false };
                let apart = walk.reads(a, a.params[0], *init) && walk.carry(b, b.params[0], j);
                if !apart {
                    return None;
                }
                links.first.insert(*init, b.params[j + 1]);
            }
        }
        Some(links)
    }

    /// Whether executing an instruction can fail or has an effect.
    fn can_fail(&self, inst: &Inst) -> bool {
        let args = &inst.args;
        let in_range = |index: Value, size: &Size| {
            let Some((lo, hi)) = self.ranges.get(&index) else { return false };
            let from_zero = matches!(self.func.as_const(*lo), Some(Scalar::I64(n)) if n >= 0);
            from_zero && self.shapes.int(self.func, *hi) == *size
        };
        match &inst.op {
            Op::Load | Op::Store => {
                let sizes = self.shapes.shape(args[0]);
                !args[1..].iter().zip(&sizes).all(|(i, size)| in_range(*i, size))
            }
            Op::Array(ArrayOp::Peek | ArrayOp::Poke) => {
                !in_range(args[1], &self.shapes.total(args[0]))
            }
            Op::Array(ArrayOp::Refill) => false,
            Op::If | Op::For => {
                inst.blocks.iter().any(|b| b.insts.iter().any(|i| self.can_fail(i)))
            }
            _ => !shapes::is_harmless(&self.shapes, self.func, inst),
        }
    }
}

/// Whether an instruction has no effect but that it can fail.
fn only_fails(inst: &Inst) -> bool {
    match &inst.op {
        Op::Prim(_) | Op::Dim(_) | Op::Load | Op::Fill | Op::Copy => true,
        Op::Array(op) => !op.in_place(),
        _ => false,
    }
}

fn uses_value(block: &Block, v: Value) -> bool {
    let mut found = false;
    uses::each_in(block, &mut |u, _| found |= u == v);
    found
}

/// Follows an array through a loop body.
struct Walk<'f> {
    func: &'f Func,
    /// How it is indexed by the counter, once that is known.
    at: Option<At>,
    /// Whether it may be read at other places too.
    anywhere: bool,
}

impl Walk<'_> {
    /// Whether an instruction touches array `v` at the counter's place only.
    fn touches(&mut self, inst: &Inst, counter: Value, v: Value) -> bool {
        if inst.args[0] != v || inst.args[1] != counter || inst.args[2..].contains(&v) {
            return false;
        }
        let flat = self.func.ty(v).rank() == 1 || matches!(inst.op, Op::Array(_));
        let at = if flat { At::Flat } else { At::Row };
        *self.at.get_or_insert(at) == at
    }

    fn is_read(&mut self, inst: &Inst, counter: Value, v: Value) -> bool {
        let taken = (0..inst.args.len()).any(|k| inst.args[k] == v && uses::takes(inst, k));
        match &inst.op {
            _ if self.anywhere => !taken,
            Op::Dim(_) => true,
            Op::Load | Op::Array(ArrayOp::Peek) => self.touches(inst, counter, v),
            _ => !inst.args.contains(&v),
        }
    }

    /// Whether a block only reads array `v`, at the counter's place.
    fn reads(&mut self, block: &Block, counter: Value, v: Value) -> bool {
        !block.yields.contains(&v)
            && block.insts.iter().all(|i| {
                (!i.args.contains(&v) || self.is_read(i, counter, v))
                    && i.blocks.iter().all(|b| self.reads(b, counter, v))
            })
    }

    /// Whether a loop body hands carry `k` on with writes at the counter's place alone.
    fn carry(&mut self, body: &Block, counter: Value, k: usize) -> bool {
        self.chain(body, counter, body.params[k + 1], k)
    }

    /// Whether `start` becomes what a block yields as number `k`, at every exit too, by writes at the
    /// counter's place.
    fn chain(&mut self, block: &Block, counter: Value, start: Value, k: usize) -> bool {
        let mut version = start;
        for inst in &block.insts {
            if inst.op == Op::ExitIf {
                if !self.chain(&inst.blocks[0], counter, version, k) {
                    return false;
                }
                continue;
            }
            let taken = inst.args.iter().enumerate().filter(|(_, a)| **a == version);
            let taken: Vec<usize> =
                taken.map(|(k, _)| k).filter(|k| uses::takes(inst, *k)).collect();
            match (&inst.op, &taken[..]) {
                (_, []) => {
                    let nested = inst.blocks.iter().all(|b| self.reads(b, counter, version));
                    let read =
                        !inst.args.contains(&version) || self.is_read(inst, counter, version);
                    if !nested || !read {
                        return false;
                    }
                }
                (Op::Store | Op::Array(ArrayOp::Poke), _) => {
                    if !self.touches(inst, counter, version) {
                        return false;
                    }
                    version = inst.results[0];
                }
                (Op::For, [k]) => {
                    if !self.carry(&inst.blocks[0], counter, k - 2) {
                        return false;
                    }
                    version = inst.results[k - 2];
                }
                _ => return false,
            }
        }
        version == block.yields[k]
    }
}

/// One loop that does the work of two.
fn merged(first: &Inst, second: &Inst, links: Links) -> Inst {
    let (mut a, mut b) = (first.blocks[0].clone(), second.blocks[0].clone());
    let mut inst = Inst { blocks: Vec::new(), ..first.clone() };
    rename_inside(&mut a, &links.first);
    rename_inside(&mut b, &links.second);
    a.insts.append(&mut b.insts);
    for (k, result) in second.results.iter().enumerate() {
        match links.carried.iter().find(|(j, _)| *j == k) {
            Some((_, carry)) => {
                a.yields[*carry] = b.yields[k];
                inst.results[*carry] = *result;
            }
            None => {
                inst.args.push(second.args[2 + k]);
                inst.results.push(*result);
                a.params.push(b.params[k + 1]);
                a.yields.push(b.yields[k]);
            }
        }
    }
    inst.blocks.push(a);
    inst
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;

    /// Two loops; the second writes `written` and reads `x` or what the first one made.
    fn fused(read: &str, at: &str, written: &str) -> bool {
        let text = format!(
            "func @f(%x0: [f64]) -> ([f64], [f64]) {{
               %x = copy %x0
               %n = len %x
               %z = fill %n, 0.0
               %w = fill %n, 1.0
               %a = for %i in 0..%n carry (%a1 = %z) {{
                 %v = load %x, %i
                 %a2 = store %a1, %i, %v
                 yield %a2
               }}
               %b = for %j in 0..%n carry (%b1 = {written}) {{
                 %zero = wsub %j, %j
                 %p = load {read}, {at}
                 %q = add %p, 1.0
                 %b2 = store %b1, %j, %q
                 yield %b2
               }}
               %out = copy {}
               return %out, %b
             }}",
            if written == "%a" { "%w" } else { "%a" }
        );
        let func = same(&text, loops, &[array(&[5])]);
        count(&func, |op| *op == Op::For) == 1
    }

    #[test]
    fn elements_in_step_fuse() {
        assert!(fused("%a", "%j", "%w"));
        assert!(fused("%b1", "%j", "%a"));
        assert!(fused("%x0", "%j", "%x"), "the first reads what the second overwrites");
    }

    #[test]
    fn other_elements_keep_loops_apart() {
        assert!(!fused("%a", "%zero", "%w"));
        assert!(!fused("%b1", "%zero", "%a"));
        assert!(!fused("%b1", "%zero", "%x"));
    }
}
