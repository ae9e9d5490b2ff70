//! What is known of a step from what it ends with.
//!
//! Known are at first what comes from outside the loop, its counter, and what the body yields. From there it goes both ways: an
//! instruction whose operands are known gives its results, and one whose result is known gives the one operand that is not, where it can be
//! undone. Branches are solved side by side; a loop inside whose body can be solved runs backwards.

use super::rules::{self, Dims};
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::Arc;

/// How a value is found.
#[derive(Clone, Debug)]
pub(super) enum How {
    /// It is what the block yields in some place, or its counter.
    Given,
    /// By the instruction that makes it.
    Again,
    /// As this operand of an instruction, from the result; an array that has lost its shape gets it back.
    Back(usize, usize, Option<Dims>),
    /// As what an instruction has written to an array, from the array.
    Written(usize),
    /// As an array before an instruction has written to it: with the element that was there before.
    Before(usize, Value),
    /// As an element that the first instruction reads and the second one leaves alone.
    Aside(usize, usize),
    /// As a length of an array that has the same shape.
    Length(Value, u8),
    /// By the loop or the branches of this number, taken back.
    Inside(usize),
    /// As a carry, which every iteration makes of the others it ends with.
    Remade(Arc<Made>),
}

/// What is known in a block, and how.
#[derive(Debug)]
pub(super) struct Solution<'f> {
    pub(super) block: &'f Block,
    pub(super) how: HashMap<Value, How>,
    pub(super) inside: Vec<Inside<'f>>,
}

/// A loop or branches taken back.
#[derive(Debug)]
pub(super) enum Inside<'f> {
    Loop {
        inst: &'f Inst,
        /// The carries that are taken back; the others are left out.
        carries: Vec<usize>,
        body: Box<Solution<'f>>,
    },
    Branch {
        inst: &'f Inst,
        /// The results that are known.
        outs: Vec<usize>,
        /// What both sides find.
        values: Vec<Value>,
        sides: Vec<Solution<'f>>,
    },
}

/// Finds what is known in the body of a loop.
pub(super) struct Solver<'f> {
    pub(super) func: &'f Func,
    /// What is defined in the body.
    inner: HashSet<Value>,
    /// What is the same in every run of an iteration, whatever the state.
    fixed: HashSet<Value>,
    makers: HashMap<Value, &'f Inst>,
}

impl<'f> Solver<'f> {
    pub(super) fn new(func: &'f Func, body: &'f Block) -> Self {
        let mut inner = HashSet::default();
        note_defined(body, &mut inner);
        let makers = uses::makers(body);
        let mut solver = Solver { func, inner, fixed: HashSet::default(), makers };
        solver.note_fixed(body);
        solver
    }

    fn note_fixed(&mut self, body: &Block) {
        self.fixed.extend(body.params.first());
        for inst in &body.insts {
            let captures = inst.blocks.iter().flat_map(|block| block.captures(self.func));
            if inst.args.iter().copied().chain(captures).all(|v| self.is_fixed(v)) {
                self.fixed.extend(&inst.results);
            }
            for block in &inst.blocks {
                self.note_fixed(block);
            }
        }
    }

    /// Whether a value does not depend on the state of the loop.
    pub(super) fn is_fixed(&self, v: Value) -> bool {
        !self.inner.contains(&v) || self.fixed.contains(&v)
    }

    /// Whether a value can be divided by.
    pub(super) fn is_factor(&self, v: Value) -> bool {
        let is_zero = match self.func.as_const(v) {
            Some(Scalar::F64(x)) => x == 0.0 || !x.is_finite(),
            Some(Scalar::F32(x)) => x == 0.0 || !x.is_finite(),
            _ => false,
        };
        self.is_fixed(v) && !is_zero
    }

    pub(super) fn maker(&self, v: Value) -> Option<&'f Inst> {
        self.makers.get(&v).copied()
    }

    /// Whether a value is known where a loop begins.
    pub(super) fn is_outside(&self, v: Value) -> bool {
        self.func.as_const(v).is_some() || !self.inner.contains(&v)
    }

    /// The body of the loop itself, all that it yields being known.
    pub(super) fn whole(&self, body: &'f Block) -> Solution<'f> {
        let outs: Vec<usize> = (0..body.yields.len()).collect();
        self.solve(body, &outs, &|v| self.is_outside(v), true)
    }

    /// What is known in a block of which some yields are known, and what `outside` says.
    pub(super) fn solve(
        &self,
        block: &'f Block,
        outs: &[usize],
        outside: &dyn Fn(Value) -> bool,
        is_whole: bool,
    ) -> Solution<'f> {
        let mut solution = Solution { block, how: HashMap::default(), inside: Vec::new() };
        solution.how.extend(block.params.first().map(|counter| (*counter, How::Given)));
        for k in outs {
            if !outside(block.yields[*k]) {
                solution.how.insert(block.yields[*k], How::Given);
            }
        }
        loop {
            self.forward(&mut solution, outside);
            let mut later = (0..block.insts.len()).rev();
            let found = later.any(|at| self.backward(&mut solution, at, outside))
                || (is_whole && self.remake(&mut solution, outside));
            if !found {
                return solution;
            }
        }
    }

    /// Instructions whose operands are known.
    fn forward(&self, of: &mut Solution<'f>, outside: &dyn Fn(Value) -> bool) {
        for inst in &of.block.insts {
            let is_known = |v: Value| of.how.contains_key(&v) || outside(v);
            if inst.results.iter().all(|r| is_known(*r)) {
                continue;
            }
            let captures = inst.blocks.iter().flat_map(|block| block.captures(self.func));
            if inst.args.iter().copied().chain(captures).all(is_known) {
                let new: Vec<Value> =
                    inst.results.iter().copied().filter(|r| !is_known(*r)).collect();
                of.how.extend(new.into_iter().map(|r| (r, How::Again)));
            }
        }
    }

    /// What one instruction says of its operands. Whether that is anything new.
    fn backward(&self, of: &mut Solution<'f>, at: usize, outside: &dyn Fn(Value) -> bool) -> bool {
        let block = of.block;
        let inst = &block.insts[at];
        let is_known = |v: Value| of.how.contains_key(&v) || outside(v);
        let found: Vec<(Value, How)> = match &inst.op {
            Op::Dim(axis) if !is_known(inst.args[0]) && !is_known(inst.results[0]) => {
                let like = rules::same_shape(self.func, block, inst.args[0], &is_known);
                like.map(|like| (inst.results[0], How::Length(like, *axis))).into_iter().collect()
            }
            op if rules::read_of(op).is_some() => self.written(block, at, &is_known),
            Op::Prim(_) | Op::Copy | Op::Array(_) => {
                let unknown: Vec<usize> =
                    (0..inst.args.len()).filter(|k| !is_known(inst.args[*k])).collect();
                match (&unknown[..], &inst.results[..]) {
                    ([k], [result]) if is_known(*result) && self.can_undo(inst, *k) => {
                        let dims = match inst.op {
                            Op::Array(ArrayOp::Reshape) => Some(self.dims(inst.args[0], &is_known)),
                            _ => None,
                        };
                        match dims {
                            Some(None) => Vec::new(),
                            dims => vec![(inst.args[*k], How::Back(at, *k, dims.flatten()))],
                        }
                    }
                    _ => Vec::new(),
                }
            }
            Op::For => return self.looping(of, at, outside),
            Op::If => return self.branches(of, at, outside),
            _ => Vec::new(),
        };
        let is_new = !found.is_empty();
        of.how.extend(found);
        is_new
    }

    /// Whether operand `k` of an instruction follows from the result and the other operands.
    pub(super) fn can_undo(&self, inst: &Inst, k: usize) -> bool {
        let alike = self.func.ty(inst.args[k]) == self.func.ty(inst.results[0]);
        match &inst.op {
            Op::Prim(Prim::Promote) => true,
            Op::Prim(prim) => {
                let factor = rules::divisor(*prim, k).map(|by| inst.args[by]);
                alike && rules::undoes(*prim, k) && factor.is_none_or(|v| self.is_factor(v))
            }
            Op::Copy | Op::Array(ArrayOp::Transpose(_)) => true,
            Op::Array(
                ArrayOp::Reshape | ArrayOp::AddSlice | ArrayOp::ScatterAdd | ArrayOp::Gemm(..),
            ) => k == 0,
            _ => false,
        }
    }

    /// Where the lengths of an array come from.
    fn dims(&self, v: Value, is_known: &dyn Fn(Value) -> bool) -> Option<Dims> {
        rules::dims(self.func, &self.makers, v, is_known)
    }

    /// What a write to an array says, where the array after it is known.
    fn written(
        &self,
        block: &Block,
        at: usize,
        is_known: &dyn Fn(Value) -> bool,
    ) -> Vec<(Value, How)> {
        let inst = &block.insts[at];
        let (Some((array, indices, value)), Some(read)) =
            (rules::parts_of_write(inst), rules::read_of(&inst.op))
        else {
            return Vec::new();
        };
        if !is_known(inst.results[0]) || !indices.iter().all(|i| is_known(*i)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        if !is_known(value) {
            found.push((value, How::Written(at)));
        }
        if is_known(array) {
            return found;
        }
        if let Some(old) = self.element(block, array, indices, &read, is_known) {
            found.push((array, How::Before(at, old)));
            return found;
        }
        for (place, other) in block.insts.iter().enumerate() {
            let reads = other.op == Op::Load && other.op == read && other.args[0] == array;
            let (theirs, result) = (other.args.get(1..), other.results.first());
            if let (true, Some(theirs), Some(result)) = (reads, theirs, result)
                && theirs.iter().all(|i| is_known(*i))
                && !is_known(*result)
                && rules::are_apart(self, indices, theirs)
            {
                found.push((*result, How::Aside(place, at)));
            }
        }
        found
    }

    /// A value that is known and is what an array has in a place: it was read there, or written, before or after writes to other
    /// places.
    fn element(
        &self,
        block: &Block,
        mut array: Value,
        place: &[Value],
        read: &Op,
        is_known: &dyn Fn(Value) -> bool,
    ) -> Option<Value> {
        loop {
            let reads = |i: &&Inst| i.op == *read && i.args[0] == array && i.args[1..] == *place;
            let mut found = block.insts.iter().filter(reads).map(|i| i.results[0]);
            if let Some(old) = found.find(|old| is_known(*old)) {
                return Some(old);
            }
            let made = block.insts.iter().find(|i| i.results.contains(&array))?;
            let (before, theirs, value) = rules::parts_of_write(made)?;
            let is_same = rules::read_of(&made.op).as_ref() == Some(read) && theirs == place;
            if is_same {
                return Some(value).filter(|v| is_known(*v));
            }
            if *read != Op::Load || made.op != Op::Store || !rules::are_apart(self, theirs, place) {
                return None;
            }
            array = before;
        }
    }

    /// A loop inside whose results are known runs backwards.
    fn looping(&self, of: &mut Solution<'f>, at: usize, outside: &dyn Fn(Value) -> bool) -> bool {
        let inst = &of.block.insts[at];
        let body = &inst.blocks[0];
        let is_known = |v: Value| of.how.contains_key(&v) || outside(v);
        let inits = &inst.args[2..];
        let wanted = |k: &usize| !is_known(inits[*k]);
        let mut carries: Vec<usize> =
            (0..inits.len()).filter(|k| is_known(inst.results[*k])).collect();
        let can = inst.args[..2].iter().all(|v| is_known(*v))
            && !body.insts.iter().any(|i| i.op == Op::ExitIf);
        if !can || !carries.iter().any(wanted) {
            return false;
        }
        let body = loop {
            let solved = self.solve(body, &carries, &is_known, false);
            let is_solved = |k: &usize| {
                let p = body.params[k + 1];
                solved.how.contains_key(&p) || is_known(p)
            };
            let left: Vec<usize> = carries.iter().copied().filter(is_solved).collect();
            if left.len() == carries.len() {
                break solved;
            }
            carries = left;
        };
        let found: Vec<Value> = carries.iter().filter(|k| wanted(k)).map(|k| inits[*k]).collect();
        let number = of.inside.len();
        let is_new = !found.is_empty();
        if is_new {
            of.inside.push(Inside::Loop { inst, carries, body: Box::new(body) });
            of.how.extend(found.into_iter().map(|v| (v, How::Inside(number))));
        }
        is_new
    }

    /// What both sides of a branch find of values from before it.
    fn branches(&self, of: &mut Solution<'f>, at: usize, outside: &dyn Fn(Value) -> bool) -> bool {
        let inst = &of.block.insts[at];
        let is_known = |v: Value| of.how.contains_key(&v) || outside(v);
        let captures = inst.blocks.iter().flat_map(|block| block.captures(self.func));
        let mut values: Vec<Value> = Vec::new();
        for v in captures.filter(|v| !is_known(*v)) {
            if !values.contains(&v) {
                values.push(v);
            }
        }
        let outs: Vec<usize> =
            (0..inst.results.len()).filter(|k| is_known(inst.results[*k])).collect();
        if values.is_empty() || outs.is_empty() || !is_known(inst.args[0]) {
            return false;
        }
        let side = |block: &'f Block| self.solve(block, &outs, &is_known, false);
        let sides: Vec<Solution> = inst.blocks.iter().map(side).collect();
        values.retain(|v| sides.iter().all(|side| side.how.contains_key(v)));
        if values.is_empty() {
            return false;
        }
        let number = of.inside.len();
        of.how.extend(values.iter().map(|v| (*v, How::Inside(number))));
        of.inside.push(Inside::Branch { inst, outs, values, sides });
        true
    }

    /// A carry that every iteration makes of nothing but what it ends with: what the one before has ended with gives what this
    /// one began with.
    fn remake(&self, of: &mut Solution<'f>, outside: &dyn Fn(Value) -> bool) -> bool {
        let block = of.block;
        for k in 0..block.yields.len() {
            let carry = block.params[k + 1];
            let is_known = |v: Value| of.how.contains_key(&v) || outside(v);
            if is_known(carry) || !is_used(block, carry) {
                continue;
            }
            let made = self.made_of(block, k, &is_known);
            let made = made.filter(|made| made.cuts.iter().all(|(_, from)| is_known(*from)));
            if let Some(made) = made {
                of.how.insert(carry, How::Remade(Arc::new(made)));
                return true;
            }
        }
        false
    }

    /// How an iteration makes a carry of the others that it ends with; nothing if it needs what it began with.
    fn made_of(
        &self,
        block: &'f Block,
        k: usize,
        is_known: &dyn Fn(Value) -> bool,
    ) -> Option<Made> {
        let mut made = Made { value: block.yields[k], insts: Vec::new(), cuts: Vec::new() };
        let (root, mut open, mut seen) = (block.yields[k], Vec::new(), HashSet::default());
        let carries = &block.params[1..];
        open.push(root);
        while let Some(v) = open.pop() {
            if self.is_outside(v) || v == block.params[0] || !seen.insert(v) {
                continue;
            }
            // As a carry of the iteration after it, a known one if there is one.
            let mut handed = (0..carries.len()).filter(|j| *j != k && block.yields[*j] == v);
            let known = handed.clone().find(|j| is_known(carries[*j]));
            match known.or(handed.next()) {
                Some(j) => made.cuts.push((v, carries[j])),
                None => {
                    let at = block.insts.iter().position(|i| i.results.contains(&v))?;
                    let inst = &block.insts[at];
                    made.insts.push(at);
                    open.extend(&inst.args);
                    open.extend(inst.blocks.iter().flat_map(|b| b.captures(self.func)));
                }
            }
        }
        made.insts.sort_unstable();
        made.insts.dedup();
        Some(made)
    }
}

/// How a carry is made at the end of an iteration.
#[derive(Debug)]
pub(super) struct Made {
    /// What it is then.
    pub(super) value: Value,
    /// The instructions.
    pub(super) insts: Vec<usize>,
    /// Values that are handed on as well, and the carries that hold them in the next iteration.
    pub(super) cuts: Vec<(Value, Value)>,
}

/// Whether a block uses a value at all.
pub(super) fn is_used(block: &Block, v: Value) -> bool {
    let mut found = false;
    uses::each_in(block, &mut |u, _| found |= u == v);
    found
}

fn note_defined(block: &Block, all: &mut HashSet<Value>) {
    all.extend(uses::defined(block));
    for inst in &block.insts {
        inst.blocks.iter().for_each(|inside| note_defined(inside, all));
    }
}
