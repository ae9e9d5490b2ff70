//! Looking for chains of writes to parts of an array that a loop carries.

use super::{Chain, Conforming, Link, Part, Plan, Sizes};
use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The most instructions of a loop that is made twice.
const LARGEST: usize = 300;

/// The most operations per element.
const OPERATIONS: usize = 64;

/// The parts that slicing instructions name: starts and counts. Steps must be 1.
fn part(func: &Func, triples: &[Value]) -> Option<(Vec<Value>, Vec<Value>)> {
    let ones = triples.chunks(3).all(|t| func.as_const(t[2]) == Some(Scalar::I64(1)));
    let of = |k: usize| triples.chunks(3).map(|t| t[k]).collect();
    ones.then(|| (of(0), of(1)))
}

/// Looks for chains in the body of a loop.
pub(super) struct Finder<'f> {
    func: &'f Func,
    kept: &'f HashMap<Value, Value>,
    inst: &'f Inst,
    body: &'f Block,
    /// What is made in the body, and by which of its instructions.
    made: HashMap<Value, usize>,
    inside: HashSet<Value>,
    counts: HashMap<Value, usize>,
    plan: Plan,
    /// What the new loop of a chain does, by its results, and arrays that any of them reads as they are.
    nodes: HashSet<Value>,
    leaves: HashSet<Value>,
    /// Operations, and the parts they are computed for.
    places: HashMap<(Value, Vec<Value>), Sizes>,
}

impl<'f> Finder<'f> {
    pub(super) fn new(
        func: &'f Func,
        kept: &'f HashMap<Value, Value>,
        inst: &'f Inst,
    ) -> Option<Self> {
        if inst.op != Op::For || inst.blocks[0].parallel {
            return None;
        }
        let body = &inst.blocks[0];
        let writes = |i: &Inst| matches!(i.op, Op::Array(ArrayOp::Put | ArrayOp::AddSlice));
        let mut size = 0;
        body.walk(&mut |_| size += 1);
        if size > LARGEST || !body.insts.iter().any(writes) {
            return None;
        }
        let results = body.insts.iter().enumerate();
        let made = results.flat_map(|(at, i)| i.results.iter().map(move |r| (*r, at))).collect();
        Some(Finder {
            func,
            kept,
            inst,
            body,
            made,
            inside: uses::defined(body),
            counts: uses::counts(body),
            plan: Plan {
                chains: Vec::new(),
                equal: Vec::new(),
                inside: Vec::new(),
                gone: HashSet::default(),
            },
            nodes: HashSet::default(),
            leaves: HashSet::default(),
            places: HashMap::default(),
        })
    }

    pub(super) fn plan(mut self) -> Option<Plan> {
        let carries = &self.body.params[1..];
        let inits = &self.inst.args[2..];
        for (target, init) in carries.iter().zip(inits) {
            if self.kept.get(target) != Some(init) {
                continue;
            }
            let (equal, inside) = (self.plan.equal.len(), self.plan.inside.len());
            self.nodes.clear();
            self.places.clear();
            match self.chain(*target, *init) {
                Some(chain) => self.plan.chains.push(chain),
                None => {
                    self.plan.equal.truncate(equal);
                    self.plan.inside.truncate(inside);
                }
            }
        }
        if self.plan.chains.is_empty() {
            return None;
        }
        self.find_gone();
        Some(self.plan)
    }

    /// Whether integers are the same in every iteration.
    fn outside(&self, values: &[Value]) -> bool {
        values.iter().all(|v| !self.inside.contains(v))
    }

    fn chain(&mut self, target: Value, init: Value) -> Option<Chain> {
        let Type::Array(elem, rank) = self.func.ty(target) else { return None };
        if !elem.is_float() || rank > 2 {
            return None;
        }
        let (mut links, mut ends) = (Vec::new(), Vec::new());
        let mut version = target;
        while let Some(at) = self.taker(version) {
            let i = &self.body.insts[at];
            let Op::Array(op @ (ArrayOp::Put | ArrayOp::AddSlice)) = &i.op else { break };
            let (value, triples) = i.args[1..].split_last()?;
            let (starts, counts) = part(self.func, triples)?;
            if !self.outside(&starts) || !self.outside(&counts) {
                return None;
            }
            let adds = *op == ArrayOp::AddSlice;
            links.push(Link { adds, starts, counts, value: *value });
            ends.push(i.results[0]);
            version = i.results[0];
            // The last one may be used by anything.
            if self.counts.get(&version) != Some(&1) {
                break;
            }
        }
        let last = self.made[ends.last()?];
        let mut chain = Chain {
            target,
            init,
            links,
            result: version,
            nodes: HashSet::default(),
            conforming: Vec::new(),
        };
        let mut read = false;
        for k in 0..chain.links.len() {
            let link = &chain.links[k];
            let (starts, counts) = (link.starts.clone(), link.counts.clone());
            let part = Part { array: init, starts: starts.clone(), counts: counts.clone() };
            self.plan.inside.push(part);
            let mut tree = Tree { target, last, starts, counts, reads: false, checks: Vec::new() };
            let Sizes::Known(_) = self.tree(link.value, &mut tree)? else { return None };
            read |= tree.reads;
            let unknown = |c: &Conforming| !chain.conforming.contains(c);
            let mut checks = tree.checks;
            checks.retain(unknown);
            chain.conforming.extend(checks);
        }
        chain.conforming.sort_by_key(|c| c.at);
        // Nothing that can fail or has an effect may come to stand before a check that has moved.
        let first = self.nodes.iter().chain(&ends).map(|v| self.made[v]).min()?;
        let between = self.body.insts[first..last].iter();
        let mut others = between
            .filter(|i| !i.results.iter().all(|r| self.nodes.contains(r) || ends.contains(r)));
        if !chain.conforming.is_empty() && !others.all(|i| self.func.is_movable(i)) {
            return None;
        }
        chain.nodes = std::mem::take(&mut self.nodes);
        chain.nodes.extend(&ends);
        // A part that is only copied goes through memory once as it is.
        (read || chain.links.len() > 1).then_some(chain)
    }

    /// The instruction that takes a version of an array over.
    fn taker(&self, version: Value) -> Option<usize> {
        self.body.insts.iter().position(|i| {
            let mut taken = false;
            uses::each(i, &mut |v, takes| taken |= takes && v == version);
            taken
        })
    }

    /// Notes what an array is computed from, element by element, and gives back how large it is; none where it is
    /// not computed that way.
    fn tree(&mut self, v: Value, tree: &mut Tree) -> Option<Sizes> {
        let Some((at, inst)) = self.made.get(&v).map(|at| (*at, &self.body.insts[*at])) else {
            return self.leaf(v, tree);
        };
        match &inst.op {
            Op::Prim(prim) => {
                let key = (v, [&tree.starts[..], &tree.counts].concat());
                if let Some(known) = self.places.get(&key) {
                    return Some(known.clone());
                }
                let again = self.nodes.contains(&v);
                if prim.can_trap() || (again && !is_cheap(*prim)) || self.places.len() > OPERATIONS
                {
                    return None;
                }
                self.nodes.insert(v);
                let arrays = inst.args.iter().filter(|a| self.func.ty(**a).is_array());
                let mut sizes: Option<Sizes> = None;
                for a in arrays {
                    let other = self.tree(*a, tree)?;
                    let first = sizes.get_or_insert_with(|| other.clone());
                    if *first != other {
                        let sizes = [first.clone(), other.clone()];
                        tree.checks.push(Conforming { at, span: inst.span, row: *prim, sizes });
                        if let Sizes::Known(_) = other {
                            *first = other;
                        }
                    }
                }
                self.places.insert(key, sizes.clone()?);
                sizes
            }
            Op::Copy => {
                self.nodes.insert(v);
                self.tree(inst.args[0], tree)
            }
            Op::Array(ArrayOp::Slice) => {
                let x = inst.args[0];
                let (starts, counts) = part(self.func, &inst.args[1..])?;
                let array = if x == tree.target { *self.kept.get(&x)? } else { x };
                if !self.outside(&[array]) || !self.outside(&starts) || !self.outside(&counts) {
                    return self.leaf(v, tree);
                }
                self.is_there(x, tree).then_some(())?;
                self.equal(&counts, &tree.counts);
                self.plan.inside.push(Part { array, starts, counts });
                self.nodes.insert(v);
                tree.reads = true;
                Some(Sizes::Known(tree.counts.clone()))
            }
            Op::Fill if self.outside(&inst.args[..inst.args.len() - 1]) => {
                self.equal(&inst.args[..inst.args.len() - 1], &tree.counts);
                self.nodes.insert(v);
                Some(Sizes::Known(tree.counts.clone()))
            }
            _ => self.leaf(v, tree),
        }
    }

    /// An array that is read as a whole.
    fn leaf(&mut self, v: Value, tree: &mut Tree) -> Option<Sizes> {
        tree.reads = true;
        self.leaves.insert(v);
        self.is_there(v, tree).then_some(Sizes::Of(v))
    }

    fn equal(&mut self, a: &[Value], b: &[Value]) {
        for pair in a.iter().copied().zip(b.iter().copied()).filter(|(a, b)| a != b) {
            if !self.plan.equal.contains(&pair) {
                self.plan.equal.push(pair);
            }
        }
    }

    /// Whether an array is still what it was where the chain ends.
    fn is_there(&self, x: Value, tree: &Tree) -> bool {
        x == tree.target || self.taker(x).is_none_or(|at| at > tree.last)
    }

    /// Finds what nothing needs as an array any more.
    fn find_gone(&mut self) {
        let nodes = self.plan.chains.iter().flat_map(|c| c.nodes.iter().copied());
        let mut gone: HashSet<Value> = nodes.filter(|v| !self.leaves.contains(v)).collect();
        loop {
            let mut left = HashMap::default();
            for i in self.body.insts.iter().filter(|i| i.results.iter().any(|r| gone.contains(r))) {
                i.args.iter().for_each(|a| *left.entry(*a).or_insert(0) += 1);
            }
            let results = |v: &Value| self.plan.chains.iter().any(|c| c.result == *v);
            let before = gone.len();
            gone.retain(|v| results(v) || self.counts.get(v) == left.get(v));
            if gone.len() == before {
                break;
            }
        }
        self.plan.gone = gone;
    }
}

/// What a link's value is computed from.
struct Tree {
    target: Value,
    /// Where the chain ends.
    last: usize,
    starts: Vec<Value>,
    counts: Vec<Value>,
    /// Whether arrays are read.
    reads: bool,
    checks: Vec<Conforming>,
}

/// Whether a row may be computed several times instead of once.
fn is_cheap(prim: Prim) -> bool {
    use Prim::*;
    matches!(prim, Add | Sub | Mul | Fma | Neg | Abs | Min | Max | Flush | StopGradient | Select)
}
