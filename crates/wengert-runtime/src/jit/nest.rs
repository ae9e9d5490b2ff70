//! Checks ahead of a loop over loops.
//!
//! A pass over the rows of arrays is a loop with loops inside, whose ends are the same for every row. An index that counts
//! evenly with the rows and evenly along a row is in range everywhere if it is at the first and at the last element of the
//! first row and of the last one. So such a loop is made twice, as in [`ahead`](super::ahead): once with its checks, and
//! once without those that are made here, before it. What only some iterations touch is left to the loops inside.
//!
//! Everything looked at is sure to happen, unless something fails before: so the loop with checks runs only where there
//! is a fault to be found, or where a loop has no iterations, and need not be fast.

use super::ahead::{Ahead, Even};
use super::bounds::Along;
use super::emit::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::ir::{Inst, Op, Value, uses};
use wengert_core::ops::ArrayOp;

/// The most instructions of a loop over loops that is made twice.
const LARGEST: usize = 320;

/// What can be looked at before a loop over loops: for each of those inside.
pub(super) struct Nest<'i> {
    rows: Vec<(&'i Inst, Ahead)>,
}

impl Nest<'_> {
    /// Everything that has been looked at.
    pub(super) fn all(&self) -> impl Iterator<Item = &Ahead> {
        self.rows.iter().map(|(_, ahead)| ahead)
    }
}

impl Emitter<'_, '_, '_> {
    /// What can be looked at before this loop over loops; nothing where that is not worth it.
    pub(super) fn nest<'i>(&self, inst: &'i Inst) -> Option<Nest<'i>> {
        let body = inst.blocks.first()?;
        let mut count = 0;
        body.walk(&mut |_| count += 1);
        if inst.op != Op::For || self.once || count > LARGEST {
            return None;
        }
        let made = uses::makers(body);
        let mut nest = Nest { rows: Vec::new() };
        let mut whole = false;
        for inner in &body.insts {
            match inner.op {
                Op::For if self.is_small(&inner.blocks[0]) => {
                    let counters = [body.params[0], inner.blocks[0].params[0]];
                    let even = Even { func: self.func, counters: &counters, made: &made };
                    let fixed = inner.args[..2].iter().all(|bound| even.is_outside(*bound));
                    if fixed && let Some(ahead) = self.certain(inner, &even) {
                        nest.rows.push((inner, ahead));
                        whole |= inner.blocks[0].insts.iter().all(|i| i.blocks.is_empty());
                    }
                }
                Op::Prim(_) | Op::Dim(_) | Op::Load | Op::Store => {}
                Op::Array(ArrayOp::Peek | ArrayOp::Poke) => {}
                _ => return None,
            }
        }
        // Where there are questions in every iteration, one more is little.
        whole.then_some(nest)
    }

    /// What every iteration of a loop inside looks at.
    fn certain(&self, inner: &Inst, even: &Even) -> Option<Ahead> {
        let body = &inner.blocks[0];
        if body.insts.iter().any(|i| i.op == Op::ExitIf) {
            return None;
        }
        let mut ahead = Ahead::default();
        let mut seen = HashSet::default();
        body.insts.iter().for_each(|i| self.look_at(i, even, &mut seen, &mut ahead));
        (!ahead.indices.is_empty()).then_some(ahead)
    }

    /// Whether all that is looked at is well at the ends of the first row and of the last one.
    pub(super) fn look_at_nest(
        &mut self,
        inst: &Inst,
        nest: &Nest,
        (start, bound): (ir::Value, ir::Value),
    ) -> ir::Value {
        let body = &inst.blocks[0];
        let made = uses::makers(body);
        let one = self.b.ins().iconst(I64, 1);
        let (last, none) = self.b.ins().ssub_overflow(bound, one);
        let mut wrong = vec![none];
        for row in [start, last] {
            // What all loops inside know of this row.
            let mut of_row = HashMap::from_iter([(body.params[0], row)]);
            for (inner, ahead) in &nest.rows {
                let counter = inner.blocks[0].params[0];
                let counters = [counter];
                let along = Even { func: self.func, counters: &counters, made: &made };
                let [from, to] = [0, 1].map(|k: usize| self.one(inner.args[k]));
                let end = self.b.ins().isub(to, one);
                let way = self.b.ins().isub(end, from);
                // What does not happen cannot go wrong.
                let mut outside: Vec<ir::Value> = Vec::new();
                of_row.insert(counter, from);
                let mut of_end = HashMap::from_iter([(body.params[0], row), (counter, end)]);
                let mut rooms: HashMap<(Value, Along), ir::Value> = HashMap::default();
                for v in &ahead.exact {
                    self.at_end(*v, &made, &mut of_row, &mut wrong);
                    self.at_end(*v, &made, &mut of_end, &mut wrong);
                }
                for (array, along_axis, index) in &ahead.indices {
                    let len = self.length_along(*array, *along_axis);
                    let first = self.at_end(*index, &made, &mut of_row, &mut wrong);
                    if along.counts_on(*index) {
                        // In range, with as many behind it as there are iterations.
                        let room = match rooms.get(&(*array, *along_axis)) {
                            Some(room) => *room,
                            None => {
                                let more = IntCC::UnsignedGreaterThanOrEqual;
                                outside.push(self.b.ins().icmp(more, way, len));
                                self.b.ins().isub(len, way)
                            }
                        };
                        rooms.insert((*array, *along_axis), room);
                        outside.push(self.beyond(first, room));
                    } else {
                        let end = self.at_end(*index, &made, &mut of_end, &mut wrong);
                        outside.push(self.beyond(first, len));
                        outside.push(self.beyond(end, len));
                    }
                }
                let first = outside[0];
                let outside = outside[1..].iter().fold(first, |all, o| self.b.ins().bor(all, *o));
                let some = self.b.ins().icmp(IntCC::SignedLessThan, from, to);
                wrong.push(self.b.ins().band(some, outside));
            }
        }
        let first = wrong[0];
        wrong[1..].iter().fold(first, |all, w| self.b.ins().bor(all, *w))
    }

    /// Whether an index is negative or too large.
    fn beyond(&mut self, index: ir::Value, len: ir::Value) -> ir::Value {
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len)
    }
}
