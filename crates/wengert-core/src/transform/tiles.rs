//! Several steps of a loop in one pass over its arrays.
//!
//! A loop over time that makes the next state of an array from the last one goes through all of the memory in every
//! step. Here a few steps are taken while a part of it is at hand: rows are taken in blocks, and when
//! step `s` does a block, step `s + 1` does one that lies so far behind that all it reads has been made, and all it
//! writes over has been read.
//!
//! ```text
//! for step in 0..n:               for group of steps:
//!   for row in 0..rows:     ->      for block in 0..blocks and a few more:
//!     w[row] = .. u[row + 1] ..       for step in the group:
//!   u, w = w, u                         for row in the block, (step - first step) * delay blocks behind:
//!                                         w[row] = .. u[row + 1] ..
//!                                       u, w = w, u
//! ```
//!
//! The rule. The loop carries arrays only, and hands them on in turn ([`reuse`](super::reuse) makes such loops). Its body is made
//! of passes: loops that read and write elements of those arrays at places that are formulas of the loops'
//! counters, and do nothing else that could fail or be seen. In each array an iteration of a pass touches an interval
//! that moves by the width of a row with every iteration; from these intervals, which are known
//! before the loop runs, it follows how many rows apart two iterations can be that touch one element, if one of them
//! writes it. A delay of as many rows keeps the order of any two. Every element is computed by the same operations, so no
//! bit changes. (An index out of range is an error as before; with several of them it may be another one.)
//!
//! Where little would be gained, or the numbers are so large that the intervals could be wrong, the blocks hold all
//! rows: then the passes run one after the other, as they did.

use super::copy::{Copier, rebuild};
use crate::ir::{Block, Builder, Func, Inst, Numbering, Op, Type, Value};
use crate::ops::Prim;
use find::{Access, Finder, Plan};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

mod find;
mod formula;

/// How large the parts are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// How many elements a block has at least.
    pub block: i64,
    /// Of how many blocks (for each that a step is behind another) arrays must consist to be worth it.
    pub blocks: i64,
    /// How many steps are taken in one pass, at most.
    pub steps: i64,
}

/// What fits the second-level caches of most machines: of two arrays of doubles, four steps keep about 200 kB at hand. Smaller
/// blocks would fit the first level, and take longer: arithmetic is slower than the second level, and every block costs
/// something.
pub const USUAL: Sizes = Sizes { block: 2048, blocks: 16, steps: 4 };

/// No number is larger than this that intervals are computed from, but offsets, which may be its square.
const LARGE: i64 = 1 << 28;

/// The function with several steps of a loop in one pass.
pub fn steps(func: &Func) -> Func {
    steps_in(func, &USUAL)
}

/// The same with parts of these sizes.
pub fn steps_in(func: &Func, sizes: &Sizes) -> Func {
    let mut plans = HashMap::default();
    func.body.walk(&mut |inst| {
        if let Some(plan) = Finder::plan(func, inst) {
            plans.insert(inst.blocks[0].params[0], plan);
        }
    });
    if plans.is_empty() {
        return func.clone();
    }
    rebuild(func, &func.name, &mut |copier, b, inst| {
        let counter = inst.blocks.first().and_then(|body| body.params.first());
        let Some(plan) = counter.and_then(|counter| plans.get(counter)) else { return false };
        let results = Tiles { func, inst, plan, sizes, copier }.emit(b);
        for (from, to) in inst.results.iter().zip(results) {
            copier.bind(*from, to);
            func.name_of(*from).iter().for_each(|name| b.name(to, name));
        }
        true
    })
}

struct Tiles<'a> {
    func: &'a Func,
    inst: &'a Inst,
    plan: &'a Plan,
    sizes: &'a Sizes,
    copier: &'a Copier,
}

/// How a loop is taken apart; values of the function under construction.
struct Frame {
    /// Whether it is; otherwise a block holds all rows.
    parts: Value,
    /// Where rows begin.
    start: Value,
    /// Rows of a block, and blocks.
    rows: Value,
    blocks: Value,
    /// How many blocks a group of passes is behind the one before.
    delay: Value,
    /// How many steps are taken in one pass.
    steps: Value,
}

/// Where something lies: the first element and the last, from the first one of a row.
type Interval = (Value, Value);

/// What a loop does: from its counter and arrays to the next arrays.
type Body<'b> = dyn FnMut(&mut Builder, Value, &[Value]) -> Vec<Value> + 'b;

impl Tiles<'_> {
    fn emit(&self, b: &mut Builder) -> Vec<Value> {
        let (func, plan, inst) = (self.func, self.plan, self.inst);
        let args = self.copier.all(func, b, &inst.args);
        let frame = self.frame(b);
        let (zero, one) = (b.i64(0), b.i64(1));
        let end = b.prim(Prim::IMax, &[args[0], args[1]]);
        let count = b.prim(Prim::WSub, &[end, args[0]]);
        // A range too long for an integer does not end while anybody waits for it.
        let (wrapped, most) = (b.prim(Prim::ILt, &[count, zero]), b.i64(i64::MAX));
        let count = b.select(wrapped, most, count);
        let last = b.prim(Prim::WSub, &[count, one]);
        let groups = b.prim(Prim::IDiv, &[last, frame.steps]);
        let groups = b.prim(Prim::WAdd, &[groups, one]);
        let behind = b.i64(plan.groups);
        let behind = b.prim(Prim::WMul, &[behind, frame.steps]);
        let behind = b.prim(Prim::WSub, &[behind, one]);
        let behind = b.prim(Prim::WMul, &[behind, frame.delay]);
        let along = b.prim(Prim::WAdd, &[frame.blocks, behind]);
        let carried = self.looped(b, zero, groups, &args[2..], &mut |b, group, arrays| {
            let first = b.prim(Prim::WMul, &[group, frame.steps]);
            self.looped(b, zero, along, arrays, &mut |b, block, arrays| {
                self.looped(b, zero, frame.steps, arrays, &mut |b, step, arrays| {
                    let number = b.prim(Prim::WAdd, &[first, step]);
                    let counter = b.prim(Prim::WAdd, &[args[0], number]);
                    let runs = b.prim(Prim::ILt, &[number, count]);
                    let mut copier = self.copier.clone();
                    let params = std::iter::once(counter).chain(arrays.iter().copied());
                    for (p, v) in inst.blocks[0].params.iter().zip(params) {
                        copier.bind(*p, v);
                    }
                    self.step(b, &mut copier, &frame, block, step, runs)
                })
            })
        });
        if plan.order == 1 {
            return carried;
        }
        // All arrays are where they were; those of the last step are so many turns on.
        let order = b.i64(plan.order);
        let turns = b.prim(Prim::IMod, &[count, order]);
        self.looped(b, zero, turns, &carried, &mut |_, _, arrays| {
            plan.next.iter().map(|k| arrays[*k]).collect()
        })
    }

    /// A loop that carries the arrays.
    fn looped(
        &self,
        b: &mut Builder,
        from: Value,
        to: Value,
        arrays: &[Value],
        body: &mut Body<'_>,
    ) -> Vec<Value> {
        let types: Vec<Type> = arrays.iter().map(|a| b.ty(*a)).collect();
        let names = self.inst.blocks[0].params[1..].iter().map(|p| self.func.name_of(*p));
        let params: Vec<_> = types.iter().copied().zip(names).collect();
        let values = b.open_block(&[vec![(Type::I64, None)], params].concat());
        let yields = body(b, values[0], &values[1..]);
        let block = Block { numbering: Numbering::Hidden, ..b.close_block(yields) };
        b.at(self.inst.span);
        b.inst(Op::For, [&[from, to], arrays].concat(), &types, vec![block])
    }

    /// What one step does while a block is at hand; gives the arrays of the next one.
    fn step(
        &self,
        b: &mut Builder,
        copier: &mut Copier,
        frame: &Frame,
        block: Value,
        step: Value,
        runs: Value,
    ) -> Vec<Value> {
        let (func, plan, body) = (self.func, self.plan, &self.inst.blocks[0]);
        let groups = b.i64(plan.groups);
        let before = b.prim(Prim::WMul, &[step, groups]);
        for (at, inst) in body.insts.iter().enumerate() {
            let Some(pass) = plan.passes.iter().find(|p| p.at == at) else {
                copier.inst(func, b, inst);
                continue;
            };
            let group = b.i64(pass.group);
            let behind = b.prim(Prim::WAdd, &[before, group]);
            let behind = b.prim(Prim::WMul, &[behind, frame.delay]);
            let block = b.prim(Prim::WSub, &[block, behind]);
            let from = b.prim(Prim::WMul, &[block, frame.rows]);
            let from = b.prim(Prim::WAdd, &[frame.start, from]);
            let to = b.prim(Prim::WAdd, &[from, frame.rows]);
            // In parts, or all of it at once: then nothing is computed from numbers that may be large.
            let (zero, lowest, highest) = (b.i64(0), b.i64(i64::MIN), b.i64(i64::MAX));
            let here = b.prim(Prim::IEq, &[block, zero]);
            let all = b.select(here, lowest, highest);
            let (from, to) = (b.select(frame.parts, from, all), b.select(frame.parts, to, highest));
            let to = b.select(runs, to, from);
            let args = copier.all(func, b, &inst.args);
            let from = b.prim(Prim::IMax, &[args[0], from]);
            let to = b.prim(Prim::IMin, &[args[1], to]);
            let nested = copier.block_with(func, b, &inst.blocks[0], &mut |_, _, _| false);
            let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
            b.at(inst.span);
            let made = b.inst(Op::For, [&[from, to], &args[2..]].concat(), &types, vec![nested]);
            inst.results.iter().zip(made).for_each(|(from, to)| copier.bind(*from, to));
        }
        copier.all(func, b, &body.yields)
    }

    /// How large blocks and delays are, from what is known before the loop.
    fn frame(&self, b: &mut Builder) -> Frame {
        let (func, plan, sizes) = (self.func, self.plan, self.sizes);
        let (zero, one) = (b.i64(0), b.i64(1));
        let body = &self.inst.blocks[0];
        let bounds: Vec<(Value, Value)> = plan
            .passes
            .iter()
            .map(|p| {
                let args = &body.insts[p.at].args;
                (self.copier.get(func, b, args[0]), self.copier.get(func, b, args[1]))
            })
            .collect();
        let start = least(b, bounds.iter().map(|x| x.0));
        let end = greatest(b, bounds.iter().map(|x| x.1));
        let height = b.prim(Prim::WSub, &[end, start]);
        let height = b.prim(Prim::IMax, &[height, one]);
        let width = plan.width.emit(func, self.copier, b);
        let mut question = Question { holds: b.bool(true), asked: HashSet::default() };
        question.within(b, 1, width, LARGE);
        question.within(b, -LARGE, start, LARGE);
        question.within(b, -LARGE, end, LARGE);

        let all: Vec<&Access> = plan.passes.iter().flat_map(|p| &p.accesses).collect();
        let reach = self.reach(b, &mut question, &all, &|k| plan.storage(k));
        for group in 0..plan.groups {
            let passes = plan.passes.iter().filter(|p| p.group == group);
            if passes.clone().count() > 1 {
                // What the passes of a group do to one element, one block does.
                let accesses: Vec<&Access> = passes.flat_map(|p| &p.accesses).collect();
                let reach = self.reach(b, &mut question, &accesses, &|k| k);
                question.ask(b, Prim::ILt, reach, width);
            }
        }
        let width = b.prim(Prim::IMax, &[width, one]);
        let apart = b.prim(Prim::IDiv, &[reach, width]);
        let apart = b.prim(Prim::IMax, &[apart, zero]);
        let elements = b.i64(sizes.block);
        let rows = b.prim(Prim::IDiv, &[elements, width]);
        let rows = b.prim(Prim::IMax, &[rows, one]);
        let delay = divided_up(b, apart, rows);
        let blocks = divided_up(b, height, rows);
        let enough = b.i64(sizes.blocks);
        let most = b.prim(Prim::IDiv, &[blocks, enough]);
        question.ask(b, Prim::ILe, one, most);
        question.ask(b, Prim::ILe, delay, most);
        let holds = question.holds;
        let (order, steps) = (b.i64(plan.order), b.i64(sizes.steps / plan.order * plan.order));
        Frame {
            parts: holds,
            start,
            rows,
            blocks: b.select(holds, blocks, one),
            delay: b.select(holds, delay, one),
            steps: b.select(holds, steps, order),
        }
    }

    /// How far apart the rows can begin of two iterations of which one writes what the other touches. Arrays for which
    /// `storage` says the same may be one.
    fn reach(
        &self,
        b: &mut Builder,
        question: &mut Question,
        accesses: &[&Access],
        storage: &dyn Fn(usize) -> usize,
    ) -> Value {
        let mut reach = b.i64(0);
        for array in (0..self.plan.next.len()).filter(|k| storage(*k) == *k) {
            let touching = accesses.iter().filter(|a| storage(a.array) == array);
            let touched: Vec<(bool, Interval)> =
                touching.map(|a| (a.writes, self.interval(b, question, a))).collect();
            let written: Vec<Interval> = touched.iter().filter(|t| t.0).map(|t| t.1).collect();
            if written.is_empty() {
                continue;
            }
            let (first, last) = hull(b, &written);
            let touched: Vec<Interval> = touched.iter().map(|t| t.1).collect();
            let (low, high) = hull(b, &touched);
            for (high, low) in [(high, first), (last, low)] {
                let apart = b.prim(Prim::WSub, &[high, low]);
                reach = b.prim(Prim::IMax, &[reach, apart]);
            }
        }
        reach
    }

    /// What an access touches in one iteration of its pass.
    fn interval(&self, b: &mut Builder, question: &mut Question, access: &Access) -> Interval {
        let (func, copier) = (self.func, self.copier);
        let offset = access.offset.emit(func, copier, b);
        let one = b.i64(1);
        question.within(b, -LARGE * LARGE, offset, LARGE * LARGE);
        let mut interval = (offset, offset);
        for (counter, factor) in &access.counters {
            let factor = factor.emit(func, copier, b);
            question.within(b, 0, factor, LARGE);
            let range = &self.plan.ranges[counter];
            let (from, to) = (copier.all(func, b, &range.from), copier.all(func, b, &range.to));
            let (from, to) = (least(b, from.into_iter()), greatest(b, to.into_iter()));
            question.within(b, -LARGE, from, LARGE);
            question.within(b, -LARGE, to, LARGE);
            let last = b.prim(Prim::WSub, &[to, one]);
            let (from, last) =
                (b.prim(Prim::WMul, &[factor, from]), b.prim(Prim::WMul, &[factor, last]));
            interval.0 = b.prim(Prim::WAdd, &[interval.0, from]);
            interval.1 = b.prim(Prim::WAdd, &[interval.1, last]);
        }
        interval
    }
}

/// What must hold for blocks and delays to be as computed.
struct Question {
    holds: Value,
    asked: HashSet<(Prim, Value, Value)>,
}

impl Question {
    fn ask(&mut self, b: &mut Builder, prim: Prim, x: Value, y: Value) {
        if self.asked.insert((prim, x, y)) {
            let holds = b.prim(prim, &[x, y]);
            self.holds = b.prim(Prim::And, &[self.holds, holds]);
        }
    }

    /// That a number is at least one and at most another.
    fn within(&mut self, b: &mut Builder, low: i64, v: Value, high: i64) {
        let (low, high) = (b.i64(low), b.i64(high));
        self.ask(b, Prim::ILe, low, v);
        self.ask(b, Prim::ILe, v, high);
    }
}

/// The first and the last element of what intervals cover.
fn hull(b: &mut Builder, intervals: &[Interval]) -> Interval {
    let low = least(b, intervals.iter().map(|i| i.0));
    (low, greatest(b, intervals.iter().map(|i| i.1)))
}

fn least(b: &mut Builder, values: impl Iterator<Item = Value>) -> Value {
    chosen(b, Prim::IMin, values)
}

fn greatest(b: &mut Builder, values: impl Iterator<Item = Value>) -> Value {
    chosen(b, Prim::IMax, values)
}

fn chosen(b: &mut Builder, prim: Prim, values: impl Iterator<Item = Value>) -> Value {
    let mut all: Vec<Value> = values.collect();
    all.sort_unstable();
    all.dedup();
    let first = all[0];
    all[1..].iter().fold(first, |x, y| b.prim(prim, &[x, *y]))
}

/// How many parts of a size make a whole.
fn divided_up(b: &mut Builder, whole: Value, part: Value) -> Value {
    let one = b.i64(1);
    let less = b.prim(Prim::WSub, &[part, one]);
    let sum = b.prim(Prim::WAdd, &[whole, less]);
    b.prim(Prim::IDiv, &[sum, part])
}
