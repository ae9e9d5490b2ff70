//! Checks ahead of a loop.
//!
//! An index that counts evenly with the iterations is in range in all of them if it is in the first and in
//! the last. So an innermost loop over such indices is made twice: once with its checks, and once without those
//! that can be made beforehand. Before it both ends are looked at; if all is well the loop without checks runs,
//! otherwise the other one, which finds the fault where it happens. What is computed is the same.
//!
//! The same holds for additions and products of integers that must fit their 64 bits.

use super::bounds::Along;
use super::emit::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::ir::{Block, Func, Inst, Op, Value, uses};
use wengert_core::ops::{ArrayOp, Prim};

/// The most instructions of a loop that is made twice.
const LARGEST: usize = 160;

/// What can be looked at before a loop.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Array, what the index counts, and the index.
    pub(super) indices: Vec<(Value, Along, Value)>,
    /// Sums and products that must fit, by their results.
    pub(super) exact: Vec<Value>,
}

/// What a loop, and loops in it, compute from their counters alone.
pub(super) struct Even<'i> {
    pub(super) func: &'i Func,
    /// The counters, from the outer loop to the inner one.
    pub(super) counters: &'i [Value],
    /// The instructions of the body, by their results.
    pub(super) made: &'i HashMap<Value, &'i Inst>,
}

impl Even<'_> {
    /// Whether a value is the same in every iteration: values are numbered in the order of the text.
    pub(super) fn is_outside(&self, v: Value) -> bool {
        v < self.counters[0] || self.func.as_const(v).is_some()
    }

    /// Whether a value is a sum of the counters, each times something fixed, and of something fixed.
    fn is_even(&self, v: Value) -> bool {
        if self.counters.contains(&v) || self.is_outside(v) {
            return true;
        }
        let Some(inst) = self.made.get(&v) else { return false };
        match inst.op {
            Op::Prim(Prim::IAdd | Prim::WAdd | Prim::ISub | Prim::WSub) => {
                inst.args.iter().all(|a| self.is_even(*a))
            }
            Op::Prim(Prim::IMul | Prim::WMul) => {
                inst.args.iter().any(|a| self.is_outside(*a))
                    && inst.args.iter().all(|a| self.is_even(*a))
            }
            _ => false,
        }
    }

    /// Whether a value is the only counter plus something fixed, in arithmetic that wraps.
    pub(super) fn counts_on(&self, v: Value) -> bool {
        v == self.counters[0]
            || self.two(v).is_some_and(|(prim, [a, b])| match prim {
                Prim::WAdd if self.is_fixed(a) => self.counts_on(b),
                Prim::WAdd | Prim::WSub => self.counts_on(a) && self.is_fixed(b),
                _ => false,
            })
    }

    /// Whether a value is computed, in arithmetic that wraps, from what is the same in every iteration.
    fn is_fixed(&self, v: Value) -> bool {
        self.is_outside(v)
            || self.two(v).is_some_and(|(_, args)| args.into_iter().all(|a| self.is_fixed(a)))
    }

    /// A sum, difference or product that wraps, and its operands.
    fn two(&self, v: Value) -> Option<(Prim, [Value; 2])> {
        let inst = self.made.get(&v)?;
        match inst.op {
            Op::Prim(prim @ (Prim::WAdd | Prim::WSub | Prim::WMul)) => {
                Some((prim, [inst.args[0], inst.args[1]]))
            }
            _ => None,
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// What can be looked at before this loop; nothing where that is not worth it.
    pub(super) fn ahead(&self, inst: &Inst) -> Option<Ahead> {
        let body = &inst.blocks[0];
        if inst.op != Op::For || self.once || !self.is_small(body) {
            return None;
        }
        let made = uses::makers(body);
        let even = Even { func: self.func, counters: &body.params[..1], made: &made };
        let mut ahead = Ahead::default();
        let mut seen = HashSet::default();
        body.walk(&mut |inst| self.look_at(inst, &even, &mut seen, &mut ahead));
        (!ahead.indices.is_empty()).then_some(ahead)
    }

    /// Notes what of an instruction can be looked at ahead.
    pub(super) fn look_at(
        &self,
        inst: &Inst,
        even: &Even,
        seen: &mut HashSet<(Value, Along, Value)>,
        ahead: &mut Ahead,
    ) {
        match &inst.op {
            Op::Load | Op::Store | Op::Array(ArrayOp::Peek | ArrayOp::Poke) => {
                let array = self.identity.find(inst.args[0]);
                if !even.is_outside(array) {
                    return;
                }
                let rank = self.func.ty(array).rank();
                let flat = matches!(inst.op, Op::Array(_));
                for axis in 0..if flat { 1 } else { rank } {
                    let index = self.identity.find(inst.args[1 + axis]);
                    let along = if flat { Along::All(rank as u8) } else { Along::Axis(axis as u8) };
                    let known = self.bounds.in_range(array, along, index);
                    if !known && even.is_even(index) && seen.insert((array, along, index)) {
                        ahead.indices.push((array, along, index));
                    }
                }
            }
            Op::Prim(Prim::IAdd | Prim::ISub | Prim::IMul) => {
                let result = inst.results[0];
                if !self.bounds.is_exact(result) && even.is_even(result) {
                    ahead.exact.push(result);
                }
            }
            _ => {}
        }
    }

    /// A loop without loops inside, of few instructions.
    pub(super) fn is_small(&self, body: &Block) -> bool {
        let (mut count, mut plain) = (0, true);
        body.walk(&mut |inst| {
            count += 1;
            plain &= match &inst.op {
                Op::Call(name) => self.compiler.declared[name].stands_aside,
                Op::For | Op::While | Op::Drive(..) => false,
                _ => true,
            };
        });
        plain && count <= LARGEST
    }

    /// Whether all that is looked at ahead is well in the first and in the last iteration.
    pub(super) fn look_ahead(
        &mut self,
        inst: &Inst,
        ahead: &Ahead,
        (start, bound): (ir::Value, ir::Value),
    ) -> ir::Value {
        let body = &inst.blocks[0];
        let made = uses::makers(body);
        let even = Even { func: self.func, counters: &body.params[..1], made: &made };
        let one = self.b.ins().iconst(I64, 1);
        let (last, none) = self.b.ins().ssub_overflow(bound, one);
        let mut wrong = vec![none];
        // Of an index that counts with the iterations the first is looked at alone: it is in range, with as many behind it
        // as there are iterations. Nothing wraps then.
        let (counting, other): (Vec<_>, Vec<_>) =
            ahead.indices.iter().copied().partition(|(_, _, index)| even.counts_on(*index));
        let way = self.b.ins().isub(last, start);
        let mut firsts = HashMap::from_iter([(body.params[0], start)]);
        let mut rooms: HashMap<(Value, Along), ir::Value> = HashMap::default();
        for (array, along, index) in counting {
            let index = self.first(index, &even, &mut firsts);
            let room = match rooms.get(&(array, along)) {
                Some(room) => *room,
                None => {
                    let len = self.length_along(array, along);
                    let more = IntCC::UnsignedGreaterThanOrEqual;
                    wrong.push(self.b.ins().icmp(more, way, len));
                    self.b.ins().isub(len, way)
                }
            };
            rooms.insert((array, along), room);
            wrong.push(self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, room));
        }
        let ends =
            if other.is_empty() && ahead.exact.is_empty() { vec![] } else { vec![start, last] };
        for end in ends {
            let mut known = HashMap::from_iter([(body.params[0], end)]);
            for v in &ahead.exact {
                self.at_end(*v, &made, &mut known, &mut wrong);
            }
            for (array, along, index) in &other {
                let index = self.at_end(*index, &made, &mut known, &mut wrong);
                let len = self.length_along(*array, *along);
                wrong.push(self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len));
            }
        }
        let first = wrong[0];
        wrong[1..].iter().fold(first, |all, w| self.b.ins().bor(all, *w))
    }

    /// A value that counts with the iterations, in the first one.
    fn first(&mut self, v: Value, even: &Even, known: &mut HashMap<Value, ir::Value>) -> ir::Value {
        let v = self.identity.find(v);
        if let Some(value) = known.get(&v) {
            return *value;
        }
        let value = match even.two(v) {
            None => self.one(v),
            Some((prim, args)) => {
                let [a, b] = args.map(|a| self.first(a, even, known));
                match prim {
                    Prim::WAdd => self.b.ins().iadd(a, b),
                    Prim::WSub => self.b.ins().isub(a, b),
                    _ => self.b.ins().imul(a, b),
                }
            }
        };
        known.insert(v, value);
        value
    }

    /// A value that counts evenly, in the iteration whose values are known; notes what does not fit.
    pub(super) fn at_end(
        &mut self,
        v: Value,
        made: &HashMap<Value, &Inst>,
        known: &mut HashMap<Value, ir::Value>,
        wrong: &mut Vec<ir::Value>,
    ) -> ir::Value {
        let v = self.identity.find(v);
        if let Some(value) = known.get(&v) {
            return *value;
        }
        let value = match made.get(&v) {
            None => self.one(v),
            Some(inst) => {
                let [a, b] = [0, 1].map(|k: usize| inst.args[k]);
                let a = self.at_end(a, made, known, wrong);
                let b = self.at_end(b, made, known, wrong);
                let (value, overflow) = match inst.op {
                    Op::Prim(Prim::IAdd | Prim::WAdd) => self.b.ins().sadd_overflow(a, b),
                    Op::Prim(Prim::ISub | Prim::WSub) => self.b.ins().ssub_overflow(a, b),
                    _ => self.b.ins().smul_overflow(a, b),
                };
                wrong.push(overflow);
                value
            }
        };
        known.insert(v, value);
        value
    }
}
