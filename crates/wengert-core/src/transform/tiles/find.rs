//! Which loops run several iterations in one pass: what they do to the arrays they carry.

use super::formula::Formula;
use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A loop whose iterations are passes over arrays.
pub(super) struct Plan {
    /// Which of the carried arrays becomes each of them in the next iteration.
    pub(super) next: Vec<usize>,
    /// After how many iterations each of them is in its place again.
    pub(super) order: i64,
    /// The passes of an iteration: which instruction of the body each is.
    pub(super) passes: Vec<Pass>,
    /// How many groups of passes there are.
    pub(super) groups: i64,
    /// How far apart the elements are that an iteration of a pass and the next one begin with.
    pub(super) width: Formula,
    /// Between which values the counters of the loops in the passes lie.
    pub(super) ranges: HashMap<Value, Range>,
}

impl Plan {
    /// One name for all the arrays that an array comes to be in one step or another.
    pub(super) fn storage(&self, array: usize) -> usize {
        let (mut at, mut least) = (self.next[array], array);
        while at != array {
            least = least.min(at);
            at = self.next[at];
        }
        least
    }
}

/// A loop over the elements, or the rows, of arrays.
pub(super) struct Pass {
    pub(super) at: usize,
    /// Passes of one group do not depend on each other, but where they touch the same element.
    pub(super) group: i64,
    pub(super) accesses: Vec<Access>,
}

/// An element that a pass reads or writes.
#[derive(Clone, PartialEq)]
pub(super) struct Access {
    /// Of which of the carried arrays.
    pub(super) array: usize,
    pub(super) writes: bool,
    /// Where, from the first element of the row: a sum of counters of inner loops, each with its factor,
    pub(super) counters: Vec<(Value, Formula)>,
    /// and of what does not change.
    pub(super) offset: Formula,
}

/// The least of the first values and the greatest of the second bound a counter.
#[derive(Clone)]
pub(super) struct Range {
    pub(super) from: Vec<Value>,
    pub(super) to: Vec<Value>,
}

/// Most iterations after which arrays are in their places again.
const MOST_IN_TURN: i64 = 4;

/// Most choices in turn by which a bound is found.
const MOST_CHOICES: usize = 4;

/// Most counters of inner loops in a place: sums of so many products of large numbers are no larger than integers.
const MOST_COUNTERS: usize = 3;

/// Looks at one loop.
pub(super) struct Finder<'f> {
    func: &'f Func,
    makers: HashMap<Value, &'f Inst>,
    /// What the loop defines, nested blocks included.
    inside: HashSet<Value>,
    /// Which carried array a value is a version of.
    arrays: HashMap<Value, usize>,
    /// The counter of the pass that is looked at.
    row: Option<Value>,
    width: Option<Formula>,
    ranges: HashMap<Value, Range>,
    accesses: Vec<Access>,
    /// What indices are known to be.
    formulas: HashMap<Value, Formula>,
}

impl<'f> Finder<'f> {
    /// What becomes of a loop, if it is one of those meant here.
    pub(super) fn plan(func: &'f Func, inst: &'f Inst) -> Option<Plan> {
        let arrays = inst.results.iter().all(|r| func.ty(*r).is_array());
        if inst.op != Op::For || inst.results.is_empty() || !arrays || inst.blocks[0].parallel {
            return None;
        }
        let body = &inst.blocks[0];
        let mut inside: HashSet<Value> = uses::defined(body);
        body.walk(&mut |i| i.blocks.iter().for_each(|b| inside.extend(uses::defined(b))));
        let arrays = body.params[1..].iter().enumerate().map(|(k, p)| (*p, k)).collect();
        let finder = Finder {
            func,
            makers: uses::makers(body),
            inside,
            arrays,
            row: None,
            width: None,
            ranges: HashMap::default(),
            accesses: Vec::new(),
            formulas: HashMap::default(),
        };
        finder.body(body)
    }

    fn body(mut self, body: &'f Block) -> Option<Plan> {
        let mut passes: Vec<Pass> = Vec::new();
        for (at, inst) in body.insts.iter().enumerate() {
            if inst.op == Op::For {
                self.pass(inst)?;
                let accesses = std::mem::take(&mut self.accesses);
                let group = passes.last().map_or(0, |last| {
                    let group = passes.iter().filter(|p| p.group == last.group);
                    let all: Vec<&Access> =
                        group.flat_map(|p| &p.accesses).chain(&accesses).collect();
                    last.group + i64::from(!are_in_step(&all))
                });
                passes.push(Pass { at, group, accesses });
            } else if !self.is_plain(inst) {
                return None;
            }
        }
        let next: Vec<usize> =
            body.yields.iter().map(|y| self.arrays.get(y).copied()).collect::<Option<_>>()?;
        if next.iter().collect::<HashSet<_>>().len() != next.len() {
            return None;
        }
        let groups = passes.last()?.group + 1;
        Some(Plan {
            order: order(&next).filter(|order| *order <= MOST_IN_TURN)?,
            next,
            groups,
            passes,
            width: self.width?,
            ranges: self.ranges,
        })
    }

    /// Whether an instruction computes numbers from numbers, and cannot fail.
    fn is_plain(&self, inst: &Inst) -> bool {
        let numbers = |values: &[Value]| values.iter().all(|v| self.func.ty(*v).is_scalar());
        match inst.op {
            Op::Prim(p) => !p.can_trap() && numbers(&inst.args) && numbers(&inst.results),
            Op::Dim(_) => !self.inside.contains(&inst.args[0]),
            _ => false,
        }
    }

    /// A loop that only reads and writes elements.
    fn pass(&mut self, inst: &'f Inst) -> Option<()> {
        if inst.args[..2].iter().any(|bound| self.inside.contains(bound)) {
            return None;
        }
        self.row = Some(inst.blocks[0].params[0]);
        let arrays = inst.results.iter().all(|r| self.func.ty(*r).is_array());
        arrays.then(|| self.looped(inst)).flatten()
    }

    /// A loop of a pass, or the pass itself.
    fn looped(&mut self, inst: &'f Inst) -> Option<()> {
        let body = &inst.blocks[0];
        if body.parallel {
            return None;
        }
        let carried = |k: usize| self.func.ty(inst.results[k]).is_array();
        let carried: Vec<usize> = (0..inst.results.len()).filter(|k| carried(*k)).collect();
        for k in &carried {
            let array = *self.arrays.get(&inst.args[k + 2])?;
            self.arrays.insert(body.params[k + 1], array);
            self.arrays.insert(inst.results[*k], array);
        }
        self.block(body)?;
        let kept =
            |k: &usize| self.arrays.get(&body.yields[*k]) == self.arrays.get(&inst.results[*k]);
        carried.iter().all(kept).then_some(())
    }

    fn block(&mut self, block: &'f Block) -> Option<()> {
        for inst in &block.insts {
            match inst.op {
                Op::Array(ArrayOp::Peek) => self.access(inst, false)?,
                Op::Array(ArrayOp::Poke) => self.access(inst, true)?,
                Op::If if inst.results.iter().all(|r| self.func.ty(*r).is_scalar()) => {
                    inst.blocks.iter().try_for_each(|b| self.block(b))?;
                }
                Op::For => {
                    let (from, to) = (self.ends(inst.args[0], 0)?, self.ends(inst.args[1], 0)?);
                    self.ranges.insert(inst.blocks[0].params[0], Range { from, to });
                    self.looped(inst)?;
                }
                _ if self.is_plain(inst) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Values from outside the loop, of which a bound is one.
    fn ends(&self, v: Value, depth: usize) -> Option<Vec<Value>> {
        if !self.inside.contains(&v) {
            return Some(vec![v]);
        }
        let inst = self.makers.get(&v)?;
        let choices = match inst.op {
            Op::Prim(Prim::Select) => &inst.args[1..],
            Op::Prim(Prim::IMin | Prim::IMax) => &inst.args[..],
            _ => return None,
        };
        let choices = choices.iter().filter(|_| depth < MOST_CHOICES);
        let ends: Vec<Vec<Value>> =
            choices.map(|v| self.ends(*v, depth + 1)).collect::<Option<_>>()?;
        Some(ends.concat()).filter(|ends| !ends.is_empty())
    }

    fn access(&mut self, inst: &Inst, writes: bool) -> Option<()> {
        let place = self.formula(inst.args[1])?;
        let array = match self.arrays.get(&inst.args[0]) {
            Some(array) => *array,
            // What the loop does not carry, it only reads.
            None if !writes && !self.inside.contains(&inst.args[0]) => return Some(()),
            None => return None,
        };
        if writes {
            self.arrays.insert(inst.results[0], array);
        }
        let (width, mut offset) = place.parted(self.row?)?;
        let mut counters: Vec<(Value, Formula)> = Vec::new();
        let mut inner: Vec<Value> =
            offset.values().filter(|v| self.ranges.contains_key(v)).collect();
        inner.sort_unstable();
        inner.dedup();
        for counter in inner {
            let (factor, rest) = offset.parted(counter)?;
            counters.push((counter, factor));
            offset = rest;
        }
        let factors = counters.iter().map(|(_, factor)| factor);
        let mut fixed = factors.chain([&width, &offset]).flat_map(Formula::values);
        let changes = fixed.any(|v| self.inside.contains(&v));
        drop(fixed);
        let known = self.width.get_or_insert_with(|| width.clone());
        if changes || width.is_zero() || *known != width || counters.len() > MOST_COUNTERS {
            return None;
        }
        let access = Access { array, writes, counters, offset };
        if !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
        Some(())
    }

    /// An index by counters of the pass and values from outside the loop.
    fn formula(&mut self, v: Value) -> Option<Formula> {
        if let Some(known) = self.formulas.get(&v) {
            return Some(known.clone());
        }
        let formula = self.formula_of(v)?;
        self.formulas.insert(v, formula.clone());
        Some(formula)
    }

    fn formula_of(&mut self, v: Value) -> Option<Formula> {
        if let Some(Scalar::I64(c)) = self.func.as_const(v) {
            return Some(Formula::number(c));
        }
        let counts = self.row == Some(v) || self.ranges.contains_key(&v);
        if counts || !self.inside.contains(&v) {
            return (self.func.ty(v) == Type::I64).then(|| Formula::of(v));
        }
        let inst = self.makers.get(&v).copied()?;
        let Op::Prim(prim @ (Prim::WAdd | Prim::WSub | Prim::WMul)) = inst.op else { return None };
        let (x, y) = (self.formula(inst.args[0])?, self.formula(inst.args[1])?);
        match prim {
            Prim::WAdd => Some(x.plus(&y, 1)),
            Prim::WSub => Some(x.plus(&y, -1)),
            _ => x.times(&y),
        }
    }
}

/// Whether arrays that are written are accessed at one place only, from the first element of a row.
fn are_in_step(accesses: &[&Access]) -> bool {
    let written = accesses.iter().filter(|a| a.writes);
    written.into_iter().all(|w| accesses.iter().all(|a| a.array != w.array || a.offset == w.offset))
}

/// How often a permutation is applied until everything is in its place again.
fn order(next: &[usize]) -> Option<i64> {
    let mut at: Vec<usize> = next.to_vec();
    for order in 1..=MOST_IN_TURN {
        if at.iter().enumerate().all(|(k, n)| k == *n) {
            return Some(order);
        }
        at = at.iter().map(|k| next[*k]).collect();
    }
    None
}
