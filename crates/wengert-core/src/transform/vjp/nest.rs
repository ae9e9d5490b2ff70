//! The nest: where every value of a function is defined, and which array versions share storage.
//!
//! Blocks get numbers in walking order. The *position* of something in a block is the index of its
//! instruction; the reverse sweep visits positions from last to first, and while it stands at
//! position `q` the arrays hold the versions they had after instruction `q`.

use super::companions;
use crate::ir::{Block, Builder, Func, Inst, Op, Value};
use crate::ops::{ArrayOp, Prim};
use rustc_hash::FxHashMap as HashMap;

/// A numbered block.
pub(super) type BlockId = usize;

/// How many times more often a loop body is taken to run than the code around it.
const TRIPS: u64 = 100;

pub(super) struct BlockInfo<'f> {
    pub(super) block: &'f Block,
    /// The block around it and the position of the instruction it belongs to.
    pub(super) parent: Option<(BlockId, usize)>,
    /// How often it runs, estimated.
    pub(super) weight: u64,
}

pub(super) struct Nest<'f> {
    pub(super) func: &'f Func,
    /// Whether it is called by other programs, which go on using the arrays they pass.
    pub(super) is_callee: bool,
    pub(super) blocks: Vec<BlockInfo<'f>>,
    ids: HashMap<*const Block, BlockId>,
    /// Per value: the block that defines it and the position, none for block parameters.
    defs: Vec<Option<(BlockId, Option<usize>)>>,
    /// Per value: a representative of the array versions that may share its storage.
    storage: Vec<u32>,
    /// Per representative: how many versions it stands for.
    versions: Vec<u32>,
    /// Per representative: whether a loop carries it.
    carried: Vec<bool>,
    /// Per value: when it is defined, in the order of the program.
    times: Vec<u32>,
    /// Per block: when the outermost loop around it begins; none where there is no loop.
    loops: Vec<Option<u32>>,
    /// Functions that are others' companions, of an argument.
    companions: HashMap<(Prim, Value), Vec<Value>>,
}

impl<'f> Nest<'f> {
    pub(super) fn new(func: &'f Func, is_callee: bool) -> Nest<'f> {
        let n = func.values.len();
        let mut nest = Nest {
            func,
            is_callee,
            blocks: Vec::new(),
            ids: HashMap::default(),
            defs: vec![None; n],
            storage: (0..n as u32).collect(),
            versions: vec![0; n],
            carried: vec![false; n],
            times: vec![0; n],
            loops: Vec::new(),
            companions: HashMap::default(),
        };
        nest.add(&func.body, None, 1, &mut 0, None);
        let roots: Vec<u32> = (0..n as u32).map(|v| nest.storage_of(Value(v))).collect();
        roots.iter().for_each(|root| nest.versions[*root as usize] += 1);
        for p in nest.blocks.iter().skip(1).flat_map(|info| &info.block.params) {
            nest.carried[roots[p.index()] as usize] = true;
        }
        nest.storage = roots;
        nest
    }

    fn add(
        &mut self,
        block: &'f Block,
        parent: Option<(BlockId, usize)>,
        weight: u64,
        now: &mut u32,
        outermost: Option<u32>,
    ) {
        let id = self.blocks.len();
        self.blocks.push(BlockInfo { block, parent, weight });
        self.loops.push(outermost);
        self.ids.insert(block, id);
        for p in &block.params {
            self.defs[p.index()] = Some((id, None));
            self.times[p.index()] = *now;
        }
        for (at, inst) in block.insts.iter().enumerate() {
            *now += 1;
            for r in &inst.results {
                self.defs[r.index()] = Some((id, Some(at)));
            }
            let looping = matches!(inst.op, Op::For | Op::While).then_some(*now);
            let inner = match inst.op {
                Op::For | Op::While => weight.saturating_mul(TRIPS).min(1 << 30),
                // An exit is taken once per loop.
                Op::ExitIf => (weight / TRIPS).max(1),
                _ => weight,
            };
            for nested in &inst.blocks {
                self.add(nested, Some((id, at)), inner, now, outermost.or(looping));
                *now += 1;
            }
            inst.results.iter().for_each(|r| self.times[r.index()] = *now);
            self.unite_storage(inst);
            if let Some(prim) = companions::of(self.func, inst).and_then(companions::beside) {
                let known = self.companions.entry((prim, inst.args[0])).or_default();
                known.push(inst.results[0]);
            }
        }
    }

    fn unite_storage(&mut self, inst: &Inst) {
        match inst.op {
            ref op if op.takes().is_some() => self.unite(inst.args[0], inst.results[0]),
            Op::If => {
                for block in &inst.blocks {
                    self.unite_all(&block.yields, &inst.results);
                }
            }
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                self.unite_all(carried(inst), &inst.results);
                self.unite_all(&body.params[1..], &inst.results);
                self.unite_all(&body.yields, &inst.results);
                for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                    self.unite_all(&exit.blocks[0].yields, &inst.results);
                }
            }
            _ => {}
        }
    }

    fn unite_all(&mut self, a: &[Value], b: &[Value]) {
        for (a, b) in a.iter().zip(b) {
            self.unite(*a, *b);
        }
    }

    fn unite(&mut self, a: Value, b: Value) {
        if self.func.ty(a).is_array() {
            let (a, b) = (self.storage_of(a), self.storage_of(b));
            self.storage[a as usize] = b;
        }
    }

    /// When a value is defined: greater for what stands further down in the program.
    pub(super) fn time(&self, v: Value) -> u32 {
        self.times[v.index()]
    }

    /// The earliest version of its storage that must be held for version `v` to be: itself, or in a loop that carries
    /// it, and so comes by again, what there is when the outermost loop begins.
    pub(super) fn back_to(&self, v: Value) -> u32 {
        let carried = self.carried[self.storage_of(v) as usize];
        let around = self.block_of(v).filter(|_| carried).and_then(|id| self.loops[id]);
        around.unwrap_or(self.time(v))
    }

    /// The representative of the versions that may share storage with `v`.
    pub(super) fn storage_of(&self, v: Value) -> u32 {
        let mut at = v.0;
        while self.storage[at as usize] != at {
            at = self.storage[at as usize];
        }
        at
    }

    /// Whether a version shares its storage with no other.
    pub(super) fn is_alone(&self, v: Value) -> bool {
        self.versions[self.storage_of(v) as usize] == 1
    }

    pub(super) fn id(&self, block: &Block) -> BlockId {
        self.ids[&(block as *const Block)]
    }

    /// The block that defines a value; constants have none.
    pub(super) fn block_of(&self, v: Value) -> Option<BlockId> {
        self.defs[v.index()].map(|d| d.0)
    }

    /// The position of a value's instruction; block parameters have none.
    pub(super) fn position(&self, v: Value) -> Option<usize> {
        self.defs[v.index()].and_then(|d| d.1)
    }

    /// The instruction that defines a value.
    pub(super) fn inst_of(&self, v: Value) -> Option<&'f Inst> {
        let (block, at) = self.defs[v.index()]?;
        at.map(|at| &self.blocks[block].block.insts[at])
    }

    pub(super) fn weight_of(&self, v: Value) -> u64 {
        self.block_of(v).map_or(1, |b| self.blocks[b].weight)
    }

    /// The companion of a function, where it is known at a place: the positions before which it must stand, in each
    /// block around.
    pub(super) fn companion(
        &self,
        inst: &Inst,
        path: &[(BlockId, usize)],
    ) -> Option<(Prim, Value)> {
        let beside = companions::of(self.func, inst)?;
        let before = |v: &&Value| {
            let home = self.block_of(**v);
            let around = path.iter().find(|(block, _)| Some(*block) == home);
            around.is_some_and(|(_, at)| self.position(**v).is_some_and(|p| p < *at))
        };
        let known = self.companions.get(&(beside, inst.args[0]))?.iter().find(before)?;
        Some((beside, *known))
    }

    /// The position in `outer` of the instruction that holds `inner`; none if it is not around it.
    pub(super) fn position_in(&self, outer: BlockId, mut inner: BlockId) -> Option<usize> {
        while let Some((parent, at)) = self.blocks[inner].parent {
            if parent == outer {
                return Some(at);
            }
            inner = parent;
        }
        None
    }

    /// Whether a block is inside a loop.
    pub(super) fn in_loop(&self, mut block: BlockId) -> bool {
        while let Some((parent, at)) = self.blocks[block].parent {
            if matches!(self.blocks[parent].block.insts[at].op, Op::For | Op::While) {
                return true;
            }
            block = parent;
        }
        false
    }

    /// The loop whose body a carry is a parameter of, and which carry it is.
    pub(super) fn carry(&self, v: Value) -> Option<(&'f Inst, usize)> {
        let (block, at) = self.defs[v.index()]?;
        let (parent, loop_at) = self.blocks[block].parent?;
        if at.is_some() {
            return None;
        }
        let k = self.blocks[block].block.params.iter().position(|p| *p == v)?;
        Some((&self.blocks[parent].block.insts[loop_at], k.checked_sub(1)?))
    }

    /// Whether a value is the counter of a loop.
    pub(super) fn is_counter(&self, v: Value) -> bool {
        match self.defs[v.index()] {
            Some((block, None)) => {
                self.blocks[block].parent.is_some() && self.blocks[block].block.params[0] == v
            }
            _ => false,
        }
    }
}

/// The initial carries among a loop's operands.
pub(super) fn carried(inst: &Inst) -> &[Value] {
    if inst.op == Op::For { &inst.args[2..] } else { &inst.args }
}

/// The integers that say where an operation in place writes; none where it may write everywhere.
pub(super) fn written_at(inst: &Inst) -> &[Value] {
    match &inst.op {
        Op::Store | Op::Array(ArrayOp::Poke | ArrayOp::Put | ArrayOp::AddSlice) => {
            &inst.args[1..inst.args.len() - 1]
        }
        _ => &[],
    }
}

/// A slice, given as an array and start, count and step per axis, with no element named twice: those
/// with step 0 are named once. What `add_slice` overwrites is saved and put back so.
pub(super) fn named_once(b: &mut Builder, place: &[Value]) -> Vec<Value> {
    let (zero, one) = (b.i64(0), b.i64(1));
    let mut out = vec![place[0]];
    for axis in place[1..].chunks(3) {
        let still = b.prim(Prim::IEq, &[axis[2], zero]);
        let single = b.prim(Prim::IMin, &[axis[1], one]);
        out.extend([axis[0], b.select(still, single, axis[1]), axis[2]]);
    }
    out
}

/// The exits of a loop: positions in its body.
pub(super) fn exits(inst: &Inst) -> Vec<usize> {
    let body = &inst.blocks[0];
    (0..body.insts.len()).filter(|at| body.insts[*at].op == Op::ExitIf).collect()
}

/// Whether an instruction takes over array or tape version `v`, so that what follows sees another version.
/// An exit counts only by what stands in it: merely handing `v` on changes nothing.
pub(super) fn takes_over(inst: &Inst, v: Value) -> bool {
    let direct = match inst.op {
        ref op if op.takes().is_some() => inst.args[0] == v,
        Op::Pop => inst.args[0] == v,
        Op::Push => inst.args.contains(&v),
        Op::For | Op::While => carried(inst).contains(&v),
        _ => false,
    };
    let hands_on = inst.op == Op::If;
    direct
        || inst.blocks.iter().any(|b| {
            (hands_on && b.yields.contains(&v)) || b.insts.iter().any(|i| takes_over(i, v))
        })
}
