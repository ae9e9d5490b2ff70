//! The tape layout: what each block records, in which order.
//!
//! The recording and the reversing program both ask [`Layout::slots`]; nothing else decides what
//! is pushed or popped. A record is pushed when its block ends, after the records of the blocks
//! nested in it; where a loop is left by an exit, the record holds what was computed up to there.

use super::nest::{BlockId, Nest, exits, takes_over};
use crate::ir::{Elem, Inst, Op, Type, Value};
use crate::ops::ArrayOp;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// One field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A scalar of the program.
    Value(Value),
    /// What an operation in place overwrote: an element, a slice or the whole array (the operation's
    /// result stands for it).
    Old(Value),
    /// The number of elements along an axis of an array whose adjoint starts as zeros.
    Dim(Value, u8),
    /// A copy of an array as it was made, where its storage cannot be taken back to that version.
    Snapshot(Value),
    /// How far a loop came: its counter when it ended (the counter stands for the loop).
    Done(Value),
    /// By which exit a loop ended: 0 for none.
    Exit(Value),
    /// A copy of an array that a function with a rule was given or gave: the first result of the call, and
    /// the place among its operands and results.
    Copied(Value, u16),
    /// An array that ends here and that the reverse sweep reads; its storage goes onto the tape.
    Held(Value),
}

impl Slot {
    pub(super) fn ty(self, nest: &Nest) -> Type {
        match self {
            Slot::Value(v) | Slot::Held(v) | Slot::Snapshot(v) => nest.func.ty(v),
            Slot::Old(v) => match nest.inst_of(v).map(|inst| &inst.op) {
                Some(Op::Store | Op::Array(ArrayOp::Poke)) => {
                    nest.func.ty(v).elem().unwrap_or(Elem::F64).scalar()
                }
                _ => nest.func.ty(v),
            },
            Slot::Dim(..) | Slot::Done(_) | Slot::Exit(_) => Type::I64,
            Slot::Copied(call, k) => {
                let inst = nest.inst_of(call).into_iter();
                let mut values = inst.flat_map(|i| i.args.iter().chain(&i.results));
                values.nth(k as usize).map_or(Type::VECTOR, |v| nest.func.ty(*v))
            }
        }
    }
}

/// Where a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of its block.
    Block,
    /// At the exit at this position of a loop body.
    Exit(usize),
}

/// What is recorded, recomputed and restored.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Scalars pushed by the block that defines them.
    pub(super) saved: HashSet<Value>,
    /// Scalars computed again by the reverse sweep.
    pub(super) recomputed: HashSet<Value>,
    /// Carries (block parameters) that are pushed and whose popped value also serves as the
    /// carry-out of the iteration before.
    pub(super) joined: HashSet<Value>,
    /// Array storage that the reverse sweep takes back to earlier versions and reads, and how far back: the time
    /// of the first of these versions.
    pub(super) restored: HashMap<u32, u32>,
    /// Arrays of which a copy is pushed by the block that defines them.
    pub(super) snapshots: HashSet<Value>,
    /// Lengths, trip counts and exits the reverse sweep asks for.
    pub(super) asked: HashSet<Slot>,
    /// Parameters that the reversing program is given again, so that they need not be copied.
    pub(super) given: Vec<Value>,
    /// Loops, by their counters, that tell whether any of their iterations had a use for a value from outside.
    pub(super) told: Told,
}

/// A loop's counter, and a value the loop captures.
pub(super) type Told = HashSet<(Value, Value)>;

impl Layout {
    /// Whether the reverse sweep holds this version of an array at some time.
    pub(super) fn restores(&self, nest: &Nest, v: Value) -> bool {
        let first = self.restored.get(&nest.storage_of(v));
        nest.func.ty(v).is_array() && first.is_some_and(|first| nest.time(v) >= *first)
    }

    /// Whether an operation in place is taken back.
    pub(super) fn takes_back(&self, nest: &Nest, inst: &Inst) -> bool {
        inst.op.takes().is_some() && self.restores(nest, inst.args[0])
    }

    /// The record of a block.
    pub(super) fn slots(&self, nest: &Nest, id: BlockId, end: End) -> Vec<Slot> {
        let block = nest.blocks[id].block;
        let upto = match end {
            End::Block => block.insts.len(),
            End::Exit(at) => at,
        };
        let mut slots = Vec::new();
        let asked = |slots: &mut Vec<Slot>, slot: Slot| {
            if self.asked.contains(&slot) {
                slots.push(slot);
            }
        };
        let of_array = |slots: &mut Vec<Slot>, v: Value| {
            for axis in 0..nest.func.ty(v).rank() {
                asked(slots, Slot::Dim(v, axis as u8));
            }
            if self.snapshots.contains(&v) {
                slots.push(Slot::Snapshot(v));
            }
        };
        let mut defined = block.params.clone();
        for p in &block.params {
            of_array(&mut slots, *p);
            if self.saved.contains(p) || self.joined.contains(p) {
                slots.push(Slot::Value(*p));
            }
        }
        // What an iteration cut short computed for the next one is not on the tape as its carry.
        let carry_outs: Vec<Value> = match end {
            End::Block => Vec::new(),
            End::Exit(_) => self.joined_outs(nest, id).into_iter().map(|(_, out)| out).collect(),
        };
        for inst in &block.insts[..upto] {
            for r in &inst.results {
                defined.push(*r);
                of_array(&mut slots, *r);
                if self.saved.contains(r) || carry_outs.contains(r) {
                    slots.push(Slot::Value(*r));
                }
            }
            match inst.op {
                _ if self.takes_back(nest, inst) => {
                    slots.push(Slot::Old(inst.results[0]));
                }
                Op::Call(_) if !inst.results.is_empty() => {
                    for k in 0..inst.args.len() + inst.results.len() {
                        asked(&mut slots, Slot::Copied(inst.results[0], k as u16));
                    }
                }
                Op::For | Op::While => {
                    let counter = inst.blocks[0].params[0];
                    asked(&mut slots, Slot::Done(counter));
                    asked(&mut slots, Slot::Exit(counter));
                }
                _ => {}
            }
        }
        let ending = defined.into_iter().filter(|v| self.restores(nest, *v));
        let ending = ending.filter(|v| !self.given.contains(v));
        slots.extend(ending.filter(|v| self.ends_in(nest, id, end, *v)).map(Slot::Held));
        slots.extend(self.lost_to_sibling(nest, id).into_iter().map(Slot::Held));
        slots
    }

    /// Parameters that the reverse sweep reads and that nothing changes or hands out.
    pub(super) fn read_again(&self, nest: &Nest) -> Vec<Value> {
        let func = nest.func;
        let read = |p: &Value| {
            self.restores(nest, *p)
                && !func.body.yields.contains(p)
                && self.ends_in(nest, 0, End::Block, *p)
        };
        // Who calls a callee goes on with its arrays as it likes.
        let params = func.params().iter().filter(|_| !nest.is_callee);
        params.copied().filter(read).collect()
    }

    /// Joined carries of a loop body: the parameter and the value the body yields for it.
    pub(super) fn joined_outs(&self, nest: &Nest, body: BlockId) -> Vec<(Value, Value)> {
        let block = nest.blocks[body].block;
        let pairs = block.params.iter().skip(1).zip(&block.yields);
        pairs.filter(|(p, _)| self.joined.contains(p)).map(|(p, y)| (*p, *y)).collect()
    }

    /// Whether array version `v`, defined in this block, is neither changed nor handed on.
    fn ends_in(&self, nest: &Nest, id: BlockId, end: End, v: Value) -> bool {
        let block = nest.blocks[id].block;
        let (insts, handed_on) = match end {
            End::Block => (&block.insts[..], block.yields.contains(&v)),
            End::Exit(at) => {
                let exit = &block.insts[at].blocks[0];
                let taken = exit.insts.iter().any(|i| takes_over(i, v));
                (&block.insts[..at], taken || exit.yields.contains(&v))
            }
        };
        // A function's results go to its caller: the reverse sweep keeps a copy.
        let handed_on = handed_on && nest.blocks[id].parent.is_some();
        !handed_on && !insts.iter().any(|i| i.op != Op::ExitIf && takes_over(i, v))
    }

    /// Outer versions that the other branch of an `if` takes over and this one drops.
    fn lost_to_sibling(&self, nest: &Nest, id: BlockId) -> Vec<Value> {
        let Some((parent, at)) = nest.blocks[id].parent else { return Vec::new() };
        let inst = &nest.blocks[parent].block.insts[at];
        if inst.op != Op::If {
            return Vec::new();
        }
        let block = nest.blocks[id].block;
        let mut lost = self.taken_by_branches(nest, parent, at);
        lost.retain(|v| {
            !block.yields.contains(v) && !block.insts.iter().any(|i| takes_over(i, *v))
        });
        lost
    }

    /// Restored outer versions that a branch of the `if` at this position takes over.
    pub(super) fn taken_by_branches(&self, nest: &Nest, id: BlockId, at: usize) -> Vec<Value> {
        let inst = &nest.blocks[id].block.insts[at];
        let mut captured: Vec<Value> =
            inst.blocks.iter().flat_map(|b| b.captures(nest.func)).collect();
        captured.sort();
        captured.dedup();
        captured.retain(|v| self.restores(nest, *v) && takes_over(inst, *v));
        captured
    }
}

/// The shape of an array, as fields of a record.
pub(super) fn dims(nest: &Nest, v: Value) -> impl Iterator<Item = Slot> + use<> {
    (0..nest.func.ty(v).rank() as u8).map(move |axis| Slot::Dim(v, axis))
}

/// Which ends a loop can have: the number of exits, and whether it can also run to its bound.
pub(super) fn needs_exit_slot(inst: &Inst) -> bool {
    exits(inst).len() + usize::from(inst.op == Op::For) > 1
}
