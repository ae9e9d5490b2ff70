//! What is known of a loop: its indices, whether they are in range, what is computed element by element.

use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use crate::transform::shapes::{Shapes, Size};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// An index: a value and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) of: Option<Value>,
    pub(super) offset: i64,
}

/// The range of a loop, by its counter.
pub(super) type Ranges = HashMap<Value, (Value, Value)>;

/// Looks at one loop.
pub(super) struct Look<'a> {
    pub(super) func: &'a Func,
    pub(super) shapes: &'a Shapes,
    pub(super) makers: &'a HashMap<Value, &'a Inst>,
    /// The loops around, and those inside.
    pub(super) ranges: &'a Ranges,
    /// What is defined in the loop.
    pub(super) inside: HashSet<Value>,
    /// Versions of arrays that stand for what they were before the loop.
    pub(super) first: HashMap<Value, Value>,
}

/// Collects what a block and those in it define.
pub(super) fn defined(block: &Block, all: &mut HashSet<Value>) {
    all.extend(uses::defined(block));
    block.insts.iter().flat_map(|inst| &inst.blocks).for_each(|inner| defined(inner, all));
}

impl Look<'_> {
    fn constant(&self, v: Value) -> Option<i64> {
        match self.func.as_const(v) {
            Some(Scalar::I64(n)) => Some(n),
            _ => None,
        }
    }

    /// The instruction that makes a value inside the loop.
    pub(super) fn maker(&self, v: Value) -> Option<&Inst> {
        self.makers.get(&v).copied().filter(|_| self.inside.contains(&v))
    }

    /// An index as a value and a constant; what is added to it is small, so that proofs of its range need no other.
    pub(super) fn index(&self, v: Value) -> Index {
        if let Some(n) = self.constant(v) {
            return Index { of: None, offset: n };
        }
        let plain = Index { of: Some(v), offset: 0 };
        let Some(inst) = self.makers.get(&v) else { return plain };
        let Op::Prim(prim) = inst.op else { return plain };
        let sign = match prim {
            Prim::IAdd | Prim::WAdd => 1,
            Prim::ISub | Prim::WSub => -1,
            _ => return plain,
        };
        let [a, b] = [self.index(inst.args[0]), self.index(inst.args[1])];
        let (a, b) = if a.of.is_none() && sign > 0 { (b, a) } else { (a, b) };
        match (b.of, a.offset.checked_add(sign * b.offset)) {
            (None, Some(offset)) if offset.abs() < 1 << 20 => Index { of: a.of, offset },
            _ => plain,
        }
    }

    /// The end of a range, where it is reached at all: a size and a constant.
    fn end(&self, v: Value) -> (Size, i64) {
        if let Some(n) = self.constant(v) {
            return (Size::Number(n), 0);
        }
        if let Some(inst) = self.makers.get(&v)
            && let Op::Prim(prim) = inst.op
        {
            let [a, b] = [0, 1].map(|k| inst.args.get(k).copied().unwrap_or(v));
            match (prim, self.constant(a), self.constant(b)) {
                // At least as much as a loop begins with, which does not run then.
                (Prim::IMax, _, Some(0)) => return self.end(a),
                (Prim::IMax, Some(0), _) => return self.end(b),
                (Prim::WSub | Prim::ISub, _, Some(c)) if c.abs() < 1 << 20 => {
                    let (size, offset) = self.end(a);
                    return plain(size, offset - c);
                }
                (Prim::WAdd | Prim::IAdd, _, Some(c)) if c.abs() < 1 << 20 => {
                    let (size, offset) = self.end(a);
                    return plain(size, offset + c);
                }
                _ => {}
            }
        }
        (self.shapes.int(self.func, v), 0)
    }

    /// Whether an index stays below a size and is not negative whenever the loops around run.
    fn is_below(&self, index: Index, size: &Size) -> bool {
        let Some(counter) = index.of else {
            return matches!(size, Size::Number(n) if (0..*n).contains(&index.offset));
        };
        let Some((lo, hi)) = self.ranges.get(&counter) else { return false };
        let Some(lo) = self.constant(*lo).filter(|lo| (0..1 << 20).contains(lo)) else {
            return false;
        };
        let (end, more) = self.end(*hi);
        let room = match (&end, size) {
            (Size::Number(end), Size::Number(size)) => size.saturating_sub(*end),
            _ if end == *size => 0,
            _ => return false,
        };
        lo + index.offset >= 0 && more + index.offset <= room
    }

    /// The sizes of an array, as far as it is one of before the loop.
    pub(super) fn sizes(&self, array: Value) -> Option<Vec<Size>> {
        let array = self.first.get(&array).copied().unwrap_or(array);
        (!self.inside.contains(&array)).then(|| self.shapes.shape(array))
    }

    /// The indices of an element that is certainly there.
    pub(super) fn place(&self, array: Value, at: &[Value]) -> Option<Vec<Index>> {
        let sizes = self.sizes(array)?;
        let index: Vec<Index> = at.iter().map(|v| self.index(*v)).collect();
        let fits = index.len() == sizes.len()
            && index.iter().zip(&sizes).all(|(index, size)| self.is_below(*index, size));
        fits.then_some(index)
    }

    /// Whether a loop goes through all of an axis.
    pub(super) fn is_whole(&self, counter: Value, offset: i64, size: &Size) -> bool {
        let (lo, hi) = self.ranges[&counter];
        self.constant(lo) == Some(0) && offset == 0 && self.end(hi) == (size.clone(), 0)
    }

    /// Whether a loop is known to be short.
    pub(super) fn is_short(&self, inst: &Inst, least: i64) -> bool {
        let [lo, hi] = [0, 1].map(|k| self.constant(inst.args[k]));
        matches!((lo, hi), (Some(lo), Some(hi)) if hi.saturating_sub(lo) < least)
    }

    /// Whether an instruction is sure not to fail: rows, elements that are there, and what is asserted and known.
    pub(super) fn is_quiet(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Prim(prim) => !prim.can_trap() || self.is_small(inst),
            Op::Load => self.place(inst.args[0], &inst.args[1..]).is_some(),
            Op::Dim(_) => true,
            Op::Assert(_) => self.holds(inst.args[0]),
            Op::Array(ArrayOp::Conform(Check::Slice)) => self.is_part(inst),
            _ => false,
        }
    }

    /// Whether a slice of no elements, or of one, along each axis is there.
    fn is_part(&self, inst: &Inst) -> bool {
        let Some(sizes) = self.sizes(inst.args[0]) else { return false };
        inst.args[1..].chunks(3).zip(&sizes).all(|(part, size)| match self.constant(part[1]) {
            Some(0) => true,
            Some(1) => self.is_below(self.index(part[0]), size),
            _ => false,
        })
    }

    /// Whether a sum of a counter and a constant is sure to fit.
    fn is_small(&self, inst: &Inst) -> bool {
        let Some(result) = inst.results.first() else { return false };
        if !matches!(inst.op, Op::Prim(Prim::IAdd | Prim::ISub)) {
            return false;
        }
        let index = self.index(*result);
        // Sizes of arrays are far from the largest integer.
        index.of.is_some_and(|counter| {
            counter != *result
                && self.ranges.get(&counter).is_some_and(|(lo, hi)| {
                    let (end, more) = self.end(*hi);
                    let size = matches!(end, Size::Axis(..))
                        || matches!(end, Size::Number(n) if n < 1 << 40);
                    size && more.abs() < 1 << 20
                        && self.constant(*lo).is_some_and(|lo| lo.abs() < 1 << 40)
                })
        })
    }

    /// Whether a condition on indices holds all the time.
    fn holds(&self, cond: Value) -> bool {
        let Some(inst) = self.makers.get(&cond) else {
            return self.func.as_const(cond) == Some(Scalar::Bool(true));
        };
        let side = |k: usize| self.index(inst.args[k]);
        match inst.op {
            Op::Prim(Prim::And) => inst.args.iter().all(|side| self.holds(*side)),
            Op::Prim(Prim::IGe) => {
                let (a, b) = (side(0), side(1));
                let least = a.of.and_then(|c| self.constant(self.ranges.get(&c)?.0));
                let from = a.of.map_or(Some(0), |_| least);
                b.of.is_none() && from.is_some_and(|from| from + a.offset >= b.offset)
            }
            Op::Prim(Prim::ILt) => {
                let size = match self.constant(inst.args[1]) {
                    Some(n) => Size::Number(n),
                    None => self.shapes.int(self.func, inst.args[1]),
                };
                let a = side(0);
                // The lower side does not matter here.
                let Some((lo, hi)) = a.of.and_then(|c| self.ranges.get(&c)) else { return false };
                let (end, more) = self.end(*hi);
                let room = match (&end, &size) {
                    (Size::Number(end), Size::Number(size)) => size.saturating_sub(*end),
                    _ if end == size => 0,
                    _ => return false,
                };
                self.constant(*lo).is_some() && more + a.offset <= room
            }
            _ => false,
        }
    }

    /// Whether a float is computed element by element from arrays of before the loop, along these counters.
    pub(super) fn is_vector(&self, v: Value, counters: &[Value]) -> bool {
        if !self.inside.contains(&v) {
            return self.func.ty(v).is_float() && self.func.ty(v).is_scalar();
        }
        let Some(inst) = self.maker(v) else { return false };
        match &inst.op {
            Op::Prim(prim) => {
                let floats = inst.args.iter().chain(&inst.results);
                let same = floats.clone().all(|a| self.func.ty(*a) == self.func.ty(v));
                same && self.func.ty(v).is_float()
                    && !prim.can_trap()
                    && inst.args.iter().all(|a| self.is_vector(*a, counters))
            }
            Op::Load => {
                let ty = self.func.ty(inst.args[0]);
                let Type::Array(..) = ty else { return false };
                let Some(index) = self.place(inst.args[0], &inst.args[1..]) else { return false };
                self.func.ty(v).is_float() && self.lies(&index, counters)
            }
            _ => false,
        }
    }

    /// Whether indices go along the counters in their order, one axis each, and otherwise stay.
    pub(super) fn lies(&self, index: &[Index], counters: &[Value]) -> bool {
        let mut next = 0;
        index.iter().all(|index| match index.of {
            None => true,
            Some(of) => match counters[next..].iter().position(|c| *c == of) {
                Some(skipped) => {
                    next += skipped + 1;
                    true
                }
                None => !self.inside.contains(&of),
            },
        })
    }
}

fn plain(size: Size, offset: i64) -> (Size, i64) {
    match size {
        Size::Number(n) => (Size::Number(n.saturating_add(offset)), 0),
        other => (other, offset),
    }
}
