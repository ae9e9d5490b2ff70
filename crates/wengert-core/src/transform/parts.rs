//! Writes to parts of an array become one loop over the whole.
//!
//! A stencil overwrites the inner part of an array with what is computed from shifted parts of it, and its adjoint adds
//! several shifted parts to one array. Taken one after the other, each such write goes through all of the memory. A
//! chain of them, on an array that a loop carries, is made one pass here: a new array whose every element is what
//! the chain makes of it, computed from the array as it was. The order of the sums of an element stays, so no bit
//! changes.
//!
//! ```text
//! %b = put %a, .., %v            %b' = fill ..        every element of it is written
//! %c = add_slice %b, .., %w  ->  for each element:    where all parts meet, without questions;
//!                                                     near the edges, asking which parts it lies in
//! ```
//!
//! That pays where the parts are most of the array, and saves the checks where all of them lie inside; neither is
//! known before the program runs. So the loop is made twice, and before it there is the question which one it shall be.

use super::copy::{Copier, rebuild};
use super::shapes;
use crate::ir::{Block, Builder, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// The most instructions of a loop that is made twice.
const LARGEST: usize = 300;

/// The most operations per element.
const OPERATIONS: usize = 64;

/// The function with chains of writes to parts as one loop each.
pub fn whole(func: &Func) -> Func {
    let kept = shapes::kept_carries(func);
    let mut plans = HashMap::new();
    func.body.walk(&mut |inst| {
        if let Some(plan) = Finder::new(func, &kept, inst).and_then(|finder| finder.plan()) {
            plans.insert(inst.blocks[0].params[0], plan);
        }
    });
    if plans.is_empty() {
        return func.clone();
    }
    let mut pass = Pass { func, makers: uses::makers(&func.body), plans, within: None };
    rebuild(func, &func.name, &mut |copier, b, inst| pass.inst(copier, b, inst))
}

/// One write to a part of an array.
struct Link {
    adds: bool,
    /// Start and count per axis.
    starts: Vec<Value>,
    counts: Vec<Value>,
    value: Value,
}

/// Writes to one array, one after the other.
struct Chain {
    /// The carry they begin with, and what it starts with.
    target: Value,
    init: Value,
    links: Vec<Link>,
    result: Value,
    /// Operations, parts and writes that the new loop does, by their results.
    nodes: HashSet<Value>,
    /// Operations on arrays of which it is not known that they have one shape, in order.
    conforming: Vec<Conforming>,
}

/// How large an array is that a link is computed from.
#[derive(Clone, Debug, PartialEq)]
enum Sizes {
    /// As the part it comes to stand in: the question before the loop says so.
    Known(Vec<Value>),
    /// As this array.
    Of(Value),
}

/// Two arrays that an operation takes to have one shape.
#[derive(Clone, PartialEq)]
struct Conforming {
    /// Which instruction of the body it is.
    at: usize,
    span: Span,
    row: Prim,
    sizes: [Sizes; 2],
}

/// What a loop becomes.
struct Plan {
    chains: Vec<Chain>,
    /// What must hold: these are equal, and these parts lie in arrays.
    equal: Vec<(Value, Value)>,
    inside: Vec<Part>,
    /// What nothing needs as an array any more.
    gone: HashSet<Value>,
}

/// A part of an array that exists before the loop.
struct Part {
    array: Value,
    starts: Vec<Value>,
    counts: Vec<Value>,
}

/// The parts that slicing instructions name: starts and counts. Steps must be 1.
fn part(func: &Func, triples: &[Value]) -> Option<(Vec<Value>, Vec<Value>)> {
    let ones = triples.chunks(3).all(|t| func.as_const(t[2]) == Some(Scalar::I64(1)));
    let of = |k: usize| triples.chunks(3).map(|t| t[k]).collect();
    ones.then(|| (of(0), of(1)))
}

/// Looks for chains in the body of a loop.
struct Finder<'f> {
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
    fn new(func: &'f Func, kept: &'f HashMap<Value, Value>, inst: &'f Inst) -> Option<Self> {
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
                gone: HashSet::new(),
            },
            nodes: HashSet::new(),
            leaves: HashSet::new(),
            places: HashMap::new(),
        })
    }

    fn plan(mut self) -> Option<Plan> {
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
            nodes: HashSet::new(),
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
            let mut left = HashMap::new();
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

struct Pass<'f> {
    func: &'f Func,
    makers: HashMap<Value, &'f Inst>,
    plans: HashMap<Value, Plan>,
    /// The loop that is being copied; loops in it are copied as they are.
    within: Option<Within>,
}

/// A loop that is being copied.
enum Within {
    /// As it is.
    Plain,
    /// With its chains as loops: its counter, and per array that a chain begins with, its frame.
    Anew(Value, HashMap<Value, Frame>),
}

/// What is known of an array before the loop.
struct Frame {
    sizes: Vec<Value>,
    /// Where all parts meet, per axis: from where up to where.
    meet: Vec<(Value, Value)>,
}

impl Pass<'_> {
    fn inst(&mut self, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> bool {
        match &self.within {
            None => {
                let counter = inst.blocks.first().and_then(|body| body.params.first()).copied();
                let Some(counter) = counter.filter(|c| self.plans.contains_key(c)) else {
                    return false;
                };
                self.twice(copier, b, inst, counter);
                true
            }
            Some(Within::Plain) => false,
            Some(Within::Anew(counter, frames)) => {
                let plan = &self.plans[counter];
                if let Some(chain) = plan.chains.iter().find(|c| inst.results.contains(&c.result)) {
                    let frame = &frames[&chain.target];
                    let (func, makers) = (self.func, &self.makers);
                    let made = Gather { func, makers, copier, b, chain, frame }.emit();
                    copier.bind(chain.result, made);
                    return true;
                }
                inst.results.first().is_some_and(|r| plan.gone.contains(r))
            }
        }
    }

    /// The loop made anew, and as it is; a question before it says which one runs.
    fn twice(&mut self, copier: &mut Copier, b: &mut Builder, inst: &Inst, counter: Value) {
        let func = self.func;
        let plan = &self.plans[&counter];
        let holds = question(func, copier, b, plan);
        let frames =
            plan.chains.iter().map(|c| (c.target, Frame::of(func, copier, b, c))).collect();
        let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        let blocks = [Within::Anew(counter, frames), Within::Plain].map(|within| {
            self.within = Some(within);
            let mut copier = copier.clone();
            b.open_block(&[]);
            copier.inst_with(func, b, inst, &mut |copier, b, i| {
                // The loop itself, then what stands in it.
                i.results != inst.results && self.inst(copier, b, i)
            });
            let yields = copier.all(func, b, &inst.results);
            b.close_block(yields)
        });
        self.within = None;
        b.at(inst.span);
        let results = b.inst(Op::If, vec![holds], &types, blocks.into());
        for (from, to) in inst.results.iter().zip(results) {
            copier.bind(*from, to);
            func.name_of(*from).iter().for_each(|name| b.name(to, name));
        }
    }
}

/// Whether the parts of a plan lie in their arrays and fit each other, and those written are most of theirs.
fn question(func: &Func, copier: &Copier, b: &mut Builder, plan: &Plan) -> Value {
    let mut all = b.bool(true);
    let mut asked = HashSet::new();
    let mut ask = |b: &mut Builder, prim: Prim, x: Value, y: Value| {
        if asked.insert((prim, x, y)) {
            let holds = b.prim(prim, &[x, y]);
            all = b.prim(Prim::And, &[all, holds]);
        }
    };
    let zero = b.i64(0);
    for part in &plan.inside {
        let array = copier.get(func, b, part.array);
        let sizes = b.dims(array);
        let (starts, counts) =
            (copier.all(func, b, &part.starts), copier.all(func, b, &part.counts));
        for ((size, start), count) in sizes.into_iter().zip(starts).zip(counts) {
            ask(b, Prim::ILe, zero, start);
            ask(b, Prim::ILe, zero, count);
            // No difference of what is not negative wraps.
            let room = b.prim(Prim::WSub, &[size, count]);
            ask(b, Prim::ILe, start, room);
        }
    }
    for (x, y) in &plan.equal {
        let (x, y) = (copier.get(func, b, *x), copier.get(func, b, *y));
        ask(b, Prim::IEq, x, y);
    }
    for chain in &plan.chains {
        let init = copier.get(func, b, chain.init);
        let sizes = b.dims(init);
        for link in &chain.links {
            let counts = copier.all(func, b, &link.counts);
            for (size, count) in sizes.iter().zip(counts) {
                let rest = b.prim(Prim::WSub, &[*size, count]);
                ask(b, Prim::ILe, rest, count);
            }
        }
    }
    all
}

impl Frame {
    fn of(func: &Func, copier: &Copier, b: &mut Builder, chain: &Chain) -> Frame {
        let init = copier.get(func, b, chain.init);
        let sizes = b.dims(init);
        let meet = (0..sizes.len()).map(|axis| {
            let (mut from, mut to) = (b.i64(0), sizes[axis]);
            for link in &chain.links {
                let start = copier.get(func, b, link.starts[axis]);
                let count = copier.get(func, b, link.counts[axis]);
                let end = b.prim(Prim::WAdd, &[start, count]);
                from = b.prim(Prim::IMax, &[from, start]);
                to = b.prim(Prim::IMin, &[to, end]);
            }
            (from, b.prim(Prim::IMax, &[from, to]))
        });
        let meet = meet.collect();
        Frame { sizes, meet }
    }
}

/// Emits a chain as a loop.
struct Gather<'a> {
    func: &'a Func,
    makers: &'a HashMap<Value, &'a Inst>,
    copier: &'a Copier,
    b: &'a mut Builder,
    chain: &'a Chain,
    frame: &'a Frame,
}

impl Gather<'_> {
    fn emit(mut self) -> Value {
        let span = self.b.span();
        for Conforming { row, sizes, span, .. } in &self.chain.conforming {
            let mut all = Vec::new();
            for sizes in sizes {
                all.extend(match sizes {
                    Sizes::Known(counts) => self.copier.all(self.func, self.b, counts),
                    Sizes::Of(x) => {
                        let x = self.get(*x);
                        self.b.dims(x)
                    }
                });
            }
            self.b.at(*span);
            self.b.op(Op::Array(ArrayOp::Conform(Check::Row(*row))), &all);
        }
        self.b.at(span);
        let ty = self.func.ty(self.chain.target);
        let zero = self.b.zero(ty);
        let sizes = self.frame.sizes.clone();
        let made = self.b.filled(&sizes, zero);
        let none = self.b.i64(0);
        match self.frame.meet[..] {
            [(left, right)] => self.row(made, &[], (left, right)),
            [(from, to), (left, right)] => self.round(made, none, sizes[0], |this, i, array| {
                let reached = this.b.prim(Prim::ILe, &[from, i]);
                let left_behind = this.b.prim(Prim::ILt, &[i, to]);
                let meets = this.b.prim(Prim::And, &[reached, left_behind]);
                let left = this.b.prim(Prim::Select, &[meets, left, sizes[1]]);
                let right = this.b.prim(Prim::Select, &[meets, right, sizes[1]]);
                this.row(array, &[i], (left, right))
            }),
            _ => unreachable!("one axis or two"),
        }
    }

    /// A value of the function, as it is called in the copy.
    fn get(&mut self, v: Value) -> Value {
        self.copier.get(self.func, self.b, v)
    }

    /// A loop over one index, which hands the array on.
    fn round(
        &mut self,
        array: Value,
        from: Value,
        to: Value,
        body: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let ty = self.b.ty(array);
        let params = self.b.open_block(&[(Type::I64, None), (ty, None)]);
        let next = body(self, params[0], params[1]);
        let body = self.b.close_block(vec![next]);
        self.b.inst(Op::For, vec![from, to, array], &[ty], vec![body])[0]
    }

    /// The elements along the last axis: those before all parts meet, those where they do, and the others.
    fn row(&mut self, array: Value, outer: &[Value], (left, right): (Value, Value)) -> Value {
        let none = self.b.i64(0);
        let size = self.frame.sizes[outer.len()];
        let mut array = array;
        for (from, to, meets) in [(none, left, false), (left, right, true), (right, size, false)] {
            array = self.round(array, from, to, |this, j, array| {
                let index = [outer, &[j]].concat();
                let at = place(this.b, &index, &vec![none; index.len()], &this.frame.sizes);
                let x = this.get(this.chain.target);
                let x = this.b.array(ArrayOp::Peek, &[x, at]);
                let value = this.element(&index, x, meets);
                this.b.array(ArrayOp::Poke, &[array, at, value])
            });
        }
        array
    }

    /// What the chain makes of an element.
    fn element(&mut self, index: &[Value], x: Value, meets: bool) -> Value {
        let (mut x, ty) = (x, self.b.ty(x));
        let mut known = HashMap::new();
        for link in &self.chain.links {
            let starts = self.copier.all(self.func, self.b, &link.starts);
            if meets {
                let v = self.value(link.value, index, &starts, &mut known);
                x = if link.adds { self.b.add(x, v) } else { v };
                continue;
            }
            let counts = self.copier.all(self.func, self.b, &link.counts);
            let mut inside = self.b.bool(true);
            for ((i, start), count) in index.iter().zip(&starts).zip(counts) {
                let end = self.b.prim(Prim::WAdd, &[*start, count]);
                let reached = self.b.prim(Prim::ILe, &[*start, *i]);
                let left = self.b.prim(Prim::ILt, &[*i, end]);
                inside = self.b.prim(Prim::And, &[inside, reached]);
                inside = self.b.prim(Prim::And, &[inside, left]);
            }
            self.b.open_block(&[]);
            let v = self.value(link.value, index, &starts, &mut HashMap::new());
            let v = if link.adds { self.b.add(x, v) } else { v };
            let written = self.b.close_block(vec![v]);
            self.b.open_block(&[]);
            let other = self.b.close_block(vec![x]);
            x = self.b.inst(Op::If, vec![inside], &[ty], vec![written, other])[0];
        }
        x
    }

    /// The element of an array that comes to stand at an index, where the array's first stands at `starts`.
    fn value(
        &mut self,
        v: Value,
        index: &[Value],
        starts: &[Value],
        known: &mut HashMap<(Value, Vec<Value>), Value>,
    ) -> Value {
        if !self.func.ty(v).is_array() {
            return self.get(v);
        }
        let key = (v, starts.to_vec());
        if let Some(found) = known.get(&key) {
            return *found;
        }
        let maker = self.makers.get(&v).copied().filter(|_| self.chain.nodes.contains(&v));
        let found = match maker.map(|i| (&i.op, i)) {
            Some((Op::Prim(prim), i)) => {
                let of = |a: &Value| self.value(*a, index, starts, known);
                let args: Vec<Value> = i.args.iter().map(of).collect();
                self.b.prim(*prim, &args)
            }
            Some((Op::Copy, i)) => self.value(i.args[0], index, starts, known),
            Some((Op::Fill, i)) => self.get(i.args[i.args.len() - 1]),
            Some((Op::Array(ArrayOp::Slice), i)) => {
                let firsts: Vec<Value> = i.args[1..].chunks(3).map(|t| t[0]).collect();
                let firsts = self.copier.all(self.func, self.b, &firsts);
                self.peek(i.args[0], index, starts, &firsts)
            }
            _ => {
                let firsts = vec![self.b.i64(0); index.len()];
                self.peek(v, index, starts, &firsts)
            }
        };
        known.insert(key, found);
        found
    }

    /// The element of an array at an index, counted from `firsts` where that begins at `starts`.
    fn peek(&mut self, x: Value, index: &[Value], starts: &[Value], firsts: &[Value]) -> Value {
        let far = firsts.iter().zip(starts);
        let far: Vec<Value> = far.map(|(f, s)| self.b.prim(Prim::WSub, &[*f, *s])).collect();
        let x = self.get(x);
        let sizes = self.b.dims(x);
        let at = place(self.b, index, &far, &sizes);
        self.b.array(ArrayOp::Peek, &[x, at])
    }
}

/// The place of an element in row-major order: at an index, and as far from it along each axis. What does not depend
/// on the last index is added first: an inner loop has it from outside.
fn place(b: &mut Builder, index: &[Value], far: &[Value], sizes: &[Value]) -> Value {
    let mut at = b.prim(Prim::WAdd, &[far[0], index[0]]);
    for axis in 1..index.len() {
        let row = b.prim(Prim::WMul, &[at, sizes[axis]]);
        let first = b.prim(Prim::WAdd, &[row, far[axis]]);
        at = b.prim(Prim::WAdd, &[first, index[axis]]);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;
    use crate::ops::{Array, Data};

    /// Integers from -1 up, mostly small.
    fn integers() -> impl FnMut(u64) -> i64 {
        let mut state = 7u64;
        move |below| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below) as i64 - i64::from((state >> 20).is_multiple_of(16))
        }
    }

    fn is_made(func: &Func) -> bool {
        count(func, |op| *op == Op::If) > 0 && count(func, |op| *op == Op::Array(ArrayOp::Poke)) > 0
    }

    #[test]
    fn parts_of_a_matrix() {
        let text = "func @f(%x: [[f64]], %w: [[f64]], %n: i64, %a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %g: i64) -> [[f64]] {
           %r = for %i in 0..%n carry (%u = %x) {
             %p = slice %u, %a, %c, 1, %b, %d, 1
             %q = slice %u, %e, %c, 1, %g, %d, 1
             %z = fill %c, %d, 0.0
             %h = mul 0.5, %p
             %k = mul %h, %w
             %u1 = put %u, %a, %c, 1, %b, %d, 1, %z
             %l = copy %h
             %u2 = add_slice %u1, %a, %c, 1, %b, %d, 1, %k
             %u3 = add_slice %u2, %e, %c, 1, %g, %d, 1, %l
             %u4 = add_slice %u3, %a, %c, 1, %g, %d, 1, %q
             yield %u4
           }
           return %r
         }";
        let mut next = integers();
        let (mut fitting, mut most) = (0, 0);
        for _ in 0..2000 {
            let sizes = [next(6).max(0), next(6).max(0)];
            let counts = [0, 1].map(|k: usize| (sizes[k] - next(3)).max(0));
            let starts: [i64; 4] = std::array::from_fn(|_| next(3));
            let odd = i64::from(next(9) == 0);
            let shape = [sizes[0] as usize, sizes[1] as usize];
            let args = [
                array(&shape),
                array(&[counts[0] as usize, (counts[1] + odd) as usize]),
                Val::i64(next(4)),
                Val::i64(starts[0]),
                Val::i64(starts[1]),
                Val::i64(counts[0]),
                Val::i64(counts[1]),
                Val::i64(starts[2]),
                Val::i64(starts[3]),
            ];
            assert!(is_made(&same(text, whole, &args)));
            let within =
                (0..4).all(|k| 0 <= starts[k] && starts[k] + counts[k % 2] <= sizes[k % 2]);
            fitting += i32::from(within);
            most += i32::from(within && (0..2).all(|k| 2 * counts[k] >= sizes[k]));
        }
        assert!(fitting - most > 20 && most > 100, "{fitting} {most}");
    }

    /// Two arrays side by side, the second computed from parts of the first: what one chain computes element by element
    /// the other reads as an array.
    #[test]
    fn two_chains() {
        let puts = ["%u1 = put %u, 1, %m, 1, %d", "%w1 = put %w, 1, %m, 1, %e"];
        // Behind a write that can fail, a check may not move.
        for (puts, left) in [(puts, 3), ([puts[1], puts[0]], 2)] {
            let text = format!(
                "func @f(%x: [f64], %y: [f64], %n: i64) -> (f64, f64) {{
                   %k = len %x
                   %m = wsub %k, 2
                   %r, %s = for %i in 0..%n carry (%u = %x, %w = %y) {{
                     %a = slice %u, 0, %m, 1
                     %b = slice %u, 2, %m, 1
                     %c = slice %w, 1, %m, 1
                     %d = mul %a, %b
                     %e = mul %d, %c
                     {}
                     {}
                     yield %u1, %w1
                   }}
                   %p = dot %r, %r
                   %q = dot %s, %s
                   return %p, %q
                 }}",
                puts[0], puts[1]
            );
            for (k, l) in [(0, 0), (1, 1), (2, 2), (3, 3), (5, 5), (9, 9), (9, 8)] {
                let func = same(&text, whole, &[array(&[k]), array(&[l]), Val::i64(3)]);
                assert_eq!(count(&func, |op| *op == Op::Array(ArrayOp::Put)), left, "{func}");
            }
        }
    }

    #[test]
    fn parts_of_a_vector() {
        let text = "func @f(%x: [f32], %n: i64, %a: i64, %b: i64, %c: i64, %d: i64) -> f32 {
           %r = for %i in 0..%n carry (%u = %x) {
             %p = slice %u, %a, %c, 1
             %q = slice %u, %b, %c, 1
             %s = add %p, %q
             %u1 = put %u, %b, %c, 1, %s
             %u2 = add_slice %u1, %d, %c, 1, %p
             yield %u2
           }
           %y = dot %r, %r
           return %y
         }";
        let mut next = integers();
        for _ in 0..500 {
            let size = next(8).max(0);
            let count = (size - next(4)).max(0);
            let singles = (0..size).map(|k| 0.3 + (k as f32 * 1.7).sin()).collect();
            let ints = [next(4), next(3), next(3), count, next(3)].map(Val::i64);
            let args = [
                vec![Val::shaped(Array { shape: vec![size as usize], data: Data::F32(singles) })],
                ints.into(),
            ]
            .concat();
            assert!(is_made(&same(text, whole, &args)));
        }
    }

    /// What a loop makes of parts that it finds while it runs, of arrays that are gone, or of a version in between.
    #[test]
    fn other_loops_stay() {
        for line in [
            "%v = put %u, %i, 2, 1, %p",
            "%t = put %u, 0, 2, 1, %p  %y = dot %t, %t  %v = add_slice %t, 1, 2, 1, %p",
            "%v = put %u, 0, 2, 2, %p",
            "%o = load %u, 0  %m = ftoi %o  %v = put %u, %m, 2, 1, %p",
        ] {
            let text = format!(
                "func @f(%x: [f64]) -> [f64] {{
                   %r = for %i in 0..2 carry (%u = %x) {{
                     %q = slice %u, 0, 2, 1
                     %p = mul 2.0, %q
                     {line}
                     yield %v
                   }}
                   return %r
                 }}"
            );
            let func = same(&text, whole, &[array(&[5])]);
            // The second has a chain of one before the dot product.
            assert_eq!(is_made(&func), line.contains("dot"), "{func}");
        }
    }
}
