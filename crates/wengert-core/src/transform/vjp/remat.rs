//! What to save and what to compute again: a minimum cut.
//!
//! Every value the reverse sweep needs is either *saved* (pushed on the tape: bytes written and read
//! back) or *recomputed* (its operands are then needed in turn). With `a` = "v is available" and
//! `b` = "v is recomputed", the total cost is a cut:
//!
//! ```text
//! source --inf--> a(v)            v is needed
//! a(v) --save cost--> b(v)        available but not recomputed: saved
//! b(v) --compute cost--> sink     recomputed
//! b(v) --inf--> a(operand)        which takes its operands
//! ```
//!
//! Arrays that elementwise operations make, and that nothing changes, are values like others: kept, or computed again
//! from arrays that nothing changes either.
//!
//! Three things beyond plain values. A load can be recomputed only where the reverse sweep holds the
//! version it read, and then its storage must be *restored*: one saved element per store. A saved
//! carry serves twice: popped for iteration t+1 it is also the carry-out of t. And since a cut
//! cannot say "either of two ways", the cut is taken with and without those *joined* carries, and
//! the cheaper layout wins. Costs are weighted by how often a block runs.

use super::flow::{INFINITE, Network};
use super::layout::Layout;
use super::nest::{Nest, takes_over, written_at};
use super::reverse::{Asked, Need, Preload};
use crate::ir::{Inst, Op, Value};
use crate::ops::ArrayOp;
use crate::transform::activity::Activity;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Cost of saving one value, in the units of the rule table's cost column. Writing and reading eight
/// bytes of a tape that streams through memory takes the time of some twenty additions, which an
/// out-of-order core executes several at a time.
const SAVE: u64 = 24;

/// How many elements arrays are taken to have.
const ELEMENTS: u64 = 16;

/// The cheapest layout for what the reverse sweep asks for.
pub(super) fn plan(nest: &Nest, activity: &Activity, asked: &Asked) -> Layout {
    let restorable = Restorable::new(nest, activity);
    let plain = Cut::new(nest, &restorable, asked, false).solve();
    let joined = Cut::new(nest, &restorable, asked, true).solve();
    let (_, mut layout) = if joined.0 <= plain.0 { joined } else { plain };
    layout.asked = asked.slots.clone();
    let arrays = asked.needs.iter().map(|n| n.value).filter(|v| nest.func.ty(*v).is_array());
    layout.snapshots = arrays.filter(|v| !restorable.allows(nest.storage_of(*v))).collect();
    layout.given = layout.read_again(nest);
    layout
}

/// Array storage whose stores the reverse sweep visits, so that it can be taken back.
struct Restorable {
    /// Per restorable storage: each operation in place, by its result, and what taking it back costs, in the order
    /// of the versions they take over.
    stores: BTreeMap<u32, Vec<(Value, u64)>>,
    refused: BTreeSet<u32>,
}

impl Restorable {
    fn new(nest: &Nest, activity: &Activity) -> Restorable {
        let mut found = Restorable { stores: BTreeMap::new(), refused: BTreeSet::new() };
        if nest.is_callee {
            // The caller's arrays are only read: none of them goes onto the tape.
            found.refused.extend(nest.func.params().iter().map(|p| nest.storage_of(*p)));
        }
        for (id, info) in nest.blocks.iter().enumerate() {
            for inst in &info.block.insts {
                let visited = reversed(nest, activity, id);
                // What is pushed is gone; it comes back as another array.
                if inst.op == Op::Push {
                    let arrays = inst.args.iter().filter(|a| nest.func.ty(**a).is_array());
                    found.refused.extend(arrays.map(|a| nest.storage_of(*a)));
                }
                let skipped = matches!(inst.op, Op::If | Op::For | Op::While)
                    && !activity.is_active_inst(inst);
                for r in inst.results.iter().filter(|r| nest.func.ty(**r).is_array()) {
                    let storage = nest.storage_of(*r);
                    if !visited || skipped {
                        found.refused.insert(storage);
                    }
                    if inst.op.takes().is_some() {
                        let store = (*r, overwritten(inst) * SAVE * info.weight);
                        found.stores.entry(storage).or_default().push(store);
                    }
                }
            }
        }
        let taken = |result: &Value| nest.inst_of(*result).map_or(0, |i| nest.time(i.args[0]));
        for stores in found.stores.values_mut() {
            stores.sort_by_key(|(result, _)| taken(result));
        }
        found
    }

    fn allows(&self, storage: u32) -> bool {
        !self.refused.contains(&storage)
    }
}

/// Whether the reverse sweep walks a block: everything around it is active.
fn reversed(nest: &Nest, activity: &Activity, mut id: usize) -> bool {
    while let Some((parent, at)) = nest.blocks[id].parent {
        let inst = &nest.blocks[parent].block.insts[at];
        if inst.op != Op::ExitIf && !activity.is_active_inst(inst) {
            return false;
        }
        id = parent;
    }
    true
}

/// One cut: the network and the nodes in it.
struct Cut<'a> {
    nest: &'a Nest<'a>,
    restorable: &'a Restorable,
    join: bool,
    net: Network,
    source: usize,
    sink: usize,
    /// Nodes of values reached: available and (where it can be) recomputed.
    nodes: BTreeMap<Value, (usize, Option<usize>)>,
    /// Nodes of joined carries, by block parameter.
    streams: BTreeMap<Value, usize>,
    /// Nodes of restored storage, by how far back it is taken.
    restored: BTreeMap<(u32, u32), usize>,
    /// Nodes of operations in place that are taken back, by their results.
    undone: BTreeMap<Value, usize>,
    /// Latest position each value may be asked for at, in the block that defines it.
    latest: HashMap<Value, usize>,
}

impl<'a> Cut<'a> {
    fn new(nest: &'a Nest<'a>, restorable: &'a Restorable, asked: &Asked, join: bool) -> Cut<'a> {
        let mut net = Network::default();
        let (source, sink) = (net.node(), net.node());
        let mut cut = Cut {
            nest,
            restorable,
            join,
            net,
            source,
            sink,
            nodes: BTreeMap::new(),
            streams: BTreeMap::new(),
            restored: BTreeMap::new(),
            undone: BTreeMap::new(),
            latest: HashMap::default(),
        };
        cut.find_latest(&asked.needs);
        for need in &asked.needs {
            if nest.func.ty(need.value).is_array() {
                if restorable.allows(nest.storage_of(need.value)) {
                    let node = cut.array(need.value);
                    cut.net.edge(source, node, INFINITE);
                }
            } else if let Some(a) = cut.available(need.value) {
                cut.net.edge(source, a, INFINITE);
            }
        }
        cut
    }

    fn solve(mut self) -> (u64, Layout) {
        let (cost, side) = std::mem::take(&mut self.net).min_cut(self.source, self.sink);
        let mut layout = Layout::default();
        for (p, node) in &self.streams {
            if side[*node] {
                layout.saved.insert(*p);
            }
        }
        for (v, (a, b)) in &self.nodes {
            let recomputed = b.is_some_and(|b| side[b]);
            if recomputed {
                layout.recomputed.insert(*v);
            } else if side[*a] && self.nest.func.ty(*v).is_array() {
                layout.restored.insert(self.nest.storage_of(*v), self.nest.back_to(*v));
            } else if side[*a] {
                match self.joined_carry(*v) {
                    Some(p) => {
                        layout.joined.insert(p);
                    }
                    None if self.streams.contains_key(v) => {}
                    None => {
                        layout.saved.insert(*v);
                    }
                }
            }
        }
        layout.saved.retain(|p| !layout.joined.contains(p));
        for ((storage, back_to), _) in self.restored.iter().filter(|(_, node)| side[**node]) {
            // In order: the earliest comes first.
            layout.restored.entry(*storage).or_insert(*back_to);
        }
        (cost, layout)
    }

    /// Values at hand in every reverse program: constants and the counter of the loop.
    fn is_free(&self, v: Value) -> bool {
        self.nest.func.as_const(v).is_some() || self.nest.is_counter(v)
    }

    /// The carry whose next popped value a body's value equals, where carries are joined.
    fn joined_carry(&self, v: Value) -> Option<Value> {
        if !self.join {
            return None;
        }
        let block = self.nest.blocks[self.nest.block_of(v)?].block;
        self.nest.position(v)?;
        let k = block.yields.iter().position(|y| *y == v)?;
        let p = *block.params.get(k + 1)?;
        self.nest.carry(p).map(|_| p)
    }

    /// How an instruction is executed again: its operands, or nothing where it cannot be.
    fn operands(&self, inst: &Inst) -> Option<Vec<Value>> {
        match &inst.op {
            Op::Prim(_) => Some(inst.args.clone()),
            Op::Load => Some(inst.args[1..].to_vec()),
            Op::If if inst.blocks.iter().all(is_scalar_code) => {
                let mut operands = inst.args.clone();
                operands.extend(inst.blocks.iter().flat_map(|b| b.captures(self.nest.func)));
                // Handing on an array or a tape takes it over, which cannot be done a second time.
                let scalar = |v: &Value| self.nest.func.ty(*v).is_scalar();
                operands.iter().all(scalar).then_some(operands)
            }
            _ => None,
        }
    }

    /// The latest positions, as if everything that can be recomputed were: then no load is taken for
    /// possible that is not.
    fn find_latest(&mut self, needs: &[Need]) {
        // Latest first, so that a value is mostly visited once.
        let mut work: BinaryHeap<(usize, Value)> =
            needs.iter().map(|n| (n.position, n.value)).collect();
        for stores in self.restorable.stores.values() {
            // A store taken back needs its index while the sweep stands at it.
            for (result, _) in stores {
                let here = self.nest.block_of(*result).unwrap_or(0);
                for index in self.nest.inst_of(*result).map_or(&[][..], written_at) {
                    let position = match self.nest.block_of(*index) {
                        Some(home) if home == here => self.nest.position(*result),
                        Some(home) => self.nest.position_in(home, here),
                        None => None,
                    };
                    work.extend(position.map(|p| (p, *index)));
                }
            }
        }
        while let Some((position, v)) = work.pop() {
            if self.is_free(v) || self.latest.get(&v).is_some_and(|p| *p >= position) {
                continue;
            }
            self.latest.insert(v, position);
            if self.joined_carry(v).is_some() {
                continue;
            }
            let Some(inst) = self.nest.inst_of(v) else { continue };
            let home = self.nest.block_of(v).unwrap_or(0);
            for u in self.operands(inst).unwrap_or_default() {
                let at = match self.nest.block_of(u) {
                    Some(b) if b == home => Some(position),
                    Some(b) => self.nest.position_in(b, home),
                    None => None,
                };
                work.extend(at.map(|at| (at, u)));
            }
        }
    }

    /// Whether a load can be executed again wherever its value may be asked for: the sweep must hold
    /// the version it read.
    fn is_held(&self, inst: &Inst, result: Value) -> bool {
        let x = inst.args[0];
        let (Some(id), Some(at)) = (self.nest.block_of(result), self.nest.position(result)) else {
            return false;
        };
        let insts = &self.nest.blocks[id].block.insts;
        let last = self.latest.get(&result).copied().unwrap_or(insts.len());
        let upto = (last + 1).min(insts.len());
        self.restorable.allows(self.nest.storage_of(x))
            && !insts[at..upto].iter().any(|i| takes_over(i, x))
    }

    /// The node that says a value is available; none where it always is.
    fn available(&mut self, v: Value) -> Option<usize> {
        if self.is_free(v) {
            return None;
        }
        if let Some((a, _)) = self.nodes.get(&v) {
            return Some(*a);
        }
        let a = self.net.node();
        self.nodes.insert(v, (a, None));
        let save = SAVE * self.nest.weight_of(v);
        if let Some(p) = self.joined_carry(v) {
            let stream = self.stream(p);
            self.net.edge(a, stream, INFINITE);
            // After the last iteration the carry-out is the loop's result.
            let result = self.nest.carry(p).map(|(inst, k)| inst.results[k]);
            if let Some(result) = result.and_then(|r| self.available(r)) {
                self.net.edge(a, result, INFINITE);
            }
            return Some(a);
        }
        if self.join && self.nest.carry(v).is_some() {
            let stream = self.stream(v);
            self.net.edge(a, stream, INFINITE);
            return Some(a);
        }
        let again = self.nest.inst_of(v).and_then(|inst| {
            let possible = inst.op != Op::Load || self.is_held(inst, v);
            self.operands(inst).filter(|_| possible).map(|operands| (inst, operands))
        });
        let Some((inst, operands)) = again else {
            self.net.edge(a, self.sink, save);
            return Some(a);
        };
        let b = self.net.node();
        self.nodes.insert(v, (a, Some(b)));
        self.net.edge(a, b, save);
        let weight = self.nest.weight_of(v);
        self.net.edge(b, self.sink, cost(inst) * weight);
        for u in operands {
            if let Some(node) = self.available(u) {
                self.net.edge(b, node, INFINITE);
            }
        }
        if inst.op == Op::Load {
            let version = self.version(inst.args[0]);
            self.net.edge(b, version, INFINITE);
        }
        Some(a)
    }

    /// The elementwise operation that makes an array which nothing changes, of arrays that nothing changes.
    fn made_of_arrays(&self, v: Value) -> Option<&'a Inst> {
        let nest = self.nest;
        let inst = nest.inst_of(v).filter(|inst| matches!(inst.op, Op::Prim(_)))?;
        let lasts = |u: &Value| {
            let storage = nest.storage_of(*u);
            let changes = self.restorable.stores.contains_key(&storage);
            self.restorable.allows(storage) && !changes && (nest.is_alone(*u) || self.stays(*u))
        };
        let mut arrays = inst.args.iter().filter(|u| nest.func.ty(**u).is_array());
        (nest.is_alone(v) && lasts(&v) && arrays.all(lasts)).then_some(inst)
    }

    /// Whether an array that a loop carries is what an iteration is given, and no loop or branch inside carries it on: then
    /// it would not be at hand before that has been reversed.
    fn stays(&self, v: Value) -> bool {
        let Some(id) = self.nest.block_of(v).filter(|_| self.nest.position(v).is_none()) else {
            return false;
        };
        let carries_on = |inst: &Inst| {
            let yields = inst.blocks.iter().flat_map(|b| &b.yields);
            !inst.blocks.is_empty() && inst.args.iter().chain(yields).any(|u| *u == v)
        };
        let block = self.nest.blocks[id].block;
        !self.nest.func.params().contains(&v) && !block.insts.iter().any(carries_on)
    }

    /// The node that says an array is at hand.
    fn array(&mut self, v: Value) -> usize {
        if let Some((a, _)) = self.nodes.get(&v) {
            return *a;
        }
        let Some(inst) = self.made_of_arrays(v) else { return self.version(v) };
        let (a, b) = (self.net.node(), self.net.node());
        self.nodes.insert(v, (a, Some(b)));
        let weight = ELEMENTS * self.nest.weight_of(v);
        self.net.edge(a, b, SAVE * weight);
        self.net.edge(b, self.sink, cost(inst) * weight);
        for u in &inst.args {
            let node = match self.nest.func.ty(*u).is_array() {
                true => Some(self.array(*u)),
                false => self.available(*u),
            };
            if let Some(node) = node {
                self.net.edge(b, node, INFINITE);
            }
        }
        a
    }

    fn stream(&mut self, p: Value) -> usize {
        if let Some(node) = self.streams.get(&p) {
            return *node;
        }
        let node = self.net.node();
        self.streams.insert(p, node);
        self.net.edge(node, self.sink, SAVE * self.nest.weight_of(p));
        node
    }

    /// The node that says a version of an array is held at some time.
    fn version(&mut self, v: Value) -> usize {
        let (storage, back_to) = (self.nest.storage_of(v), self.nest.back_to(v));
        if let Some(node) = self.restored.get(&(storage, back_to)) {
            return *node;
        }
        let node = self.net.node();
        self.restored.insert((storage, back_to), node);
        let restorable = self.restorable;
        let stores = restorable.stores.get(&storage).map_or(&[][..], Vec::as_slice);
        let earlier = |(result, _): &(Value, u64)| {
            self.nest.inst_of(*result).is_some_and(|i| self.nest.time(i.args[0]) < back_to)
        };
        let first = stores.partition_point(earlier);
        if stores.is_empty() && !self.nest.func.params().contains(&v) {
            self.net.edge(node, self.sink, SAVE * ELEMENTS * self.nest.weight_of(v));
        }
        // Who takes a store back has taken back all that come after it.
        let mut before = node;
        for (result, cost) in &stores[first..] {
            if let Some(known) = self.undone.get(result) {
                self.net.edge(before, *known, INFINITE);
                break;
            }
            let undo = self.net.node();
            self.undone.insert(*result, undo);
            self.net.edge(before, undo, INFINITE);
            self.net.edge(undo, self.sink, *cost);
            for index in self.nest.inst_of(*result).map_or(&[][..], written_at) {
                if let Some(index) = self.available(*index) {
                    self.net.edge(undo, index, INFINITE);
                }
            }
            before = undo;
        }
        node
    }
}

/// Whether a branch is nothing but scalar operations.
fn is_scalar_code(block: &crate::ir::Block) -> bool {
    block.insts.iter().all(|inst| match inst.op {
        Op::Prim(_) => inst.results.len() == 1,
        Op::If => inst.blocks.iter().all(is_scalar_code),
        _ => false,
    })
}

/// How many values an operation in place is taken to overwrite.
fn overwritten(inst: &Inst) -> u64 {
    match inst.op {
        Op::Store | Op::Array(ArrayOp::Poke) => 1,
        Op::Array(ArrayOp::Put | ArrayOp::AddSlice) => ELEMENTS,
        _ => 4 * ELEMENTS,
    }
}

fn cost(inst: &Inst) -> u64 {
    match &inst.op {
        Op::Prim(prim) => prim.cost() as u64,
        // Both branches, and the branch that may be mispredicted.
        Op::If => 4 + inst.blocks.iter().flat_map(|b| &b.insts).map(cost).sum::<u64>(),
        _ => 2,
    }
}

/// For every block, the values its reverse uses from outside it.
pub(super) fn preload(nest: &Nest, layout: &Layout, asked: &Asked) -> Preload {
    let mut preload = Preload::default();
    // Arrays that are taken back are at hand wherever they are read.
    let needs = asked.needs.iter().filter(|n| !layout.restores(nest, n.value));
    let mut work: Vec<(Value, usize)> = needs.map(|n| (n.value, n.block)).collect();
    for info in &nest.blocks {
        for inst in info.block.insts.iter().filter(|i| layout.takes_back(nest, i)) {
            work.extend(written_at(inst).iter().map(|i| (*i, nest.id(info.block))));
        }
    }
    let mut seen = BTreeSet::new();
    while let Some((v, block)) = work.pop() {
        let Some(home) = nest.block_of(v) else { continue };
        if !seen.insert((v, block)) {
            continue;
        }
        let mut at = block;
        while at != home {
            preload.entry(at).or_default().insert(v);
            match nest.blocks[at].parent {
                Some((parent, _)) => at = parent,
                None => break,
            }
        }
        let again = nest.inst_of(v).filter(|_| layout.recomputed.contains(&v));
        if let Some(inst) = again {
            let first = usize::from(inst.op == Op::Load);
            let nested = inst.blocks.iter().flat_map(|b| b.captures(nest.func));
            let wanted = inst.args[first..].iter().copied().chain(nested);
            work.extend(wanted.filter(|u| !layout.restores(nest, *u)).map(|u| (u, home)));
        }
    }
    preload
}
