//! Bytes instead of slots: states and tapes share a memory.
//!
//! Where tapes are small, some of them are better kept than states: what is recorded need not be evaluated again. With states of
//! `a` bytes, tapes of `b` bytes for one step, and `m` bytes left, there are two situations. At a state that is live only
//! (`fresh`), its step is recorded and the tape kept, which leaves `m - b`, or the state is stored, which leaves `m - a`.
//! At a state that is stored (`stored`), it is freed and its step recorded, which leaves `m + a - b`, or the sweep goes on by some
//! steps; what is behind them comes first, with `m` bytes, then the stored state is loaded again:
//!
//! ```text
//! fresh(n, m)  = min(record + fresh(n - 1, m - b), store + stored(n, m - a))
//! stored(n, m) = min(record + fresh(n - 1, m + a - b), min over i: i advance + fresh(n - i, m) + load + stored(i, m))
//! ```
//!
//! There is no closed form, and nothing in it is convex, so the table is computed. Long loops are planned in groups of steps:
//! all steps of a group are recorded together. Several sizes of groups are tried, and so are the binomial schedule, of steps and
//! of groups of them, and states at equal distances.

use crate::action::{Action, Slot};
use crate::binomial::Binomial;
use crate::check::{Checker, Limits};
use crate::cost::{Cost, Times};
use crate::plain::Uniform;
use crate::reversal::Spare;
use crate::schedule::{Impossible, Schedule};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How much may be put into planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many sums a table may take to compute, about a nanosecond each. At most five tables are computed.
    pub sums: u64,
    /// How many bytes a table may take.
    pub bytes: u64,
    /// How long it takes to begin the recording of a range of steps, in the unit of the other times.
    pub begin: u64,
}

impl Default for Effort {
    /// Some tenths of a second, whatever the loop takes.
    fn default() -> Effort {
        Effort { sums: 20_000_000, bytes: u64::MAX, begin: 0 }
    }
}

/// How many numbers of bytes left are told apart at most.
const MOST_LEVELS: u64 = 50_000;

/// How many groups a dry run may have.
const DRY: u64 = 4096;

/// What cannot be done. Sums of two such numbers fit.
const NEVER: u64 = u64::MAX / 4;

/// Reverses a known number of steps in a number of bytes, for states and tapes together, as fast as possible.
///
/// The optimum for loops of some hundred steps (how many depends on how many states and tapes fit), for longer ones the
/// best in groups of steps. Where all tapes fit it is [`StoreAll`](crate::StoreAll), where one fits,
/// [`Binomial`].
///
/// ```
/// use wengert_schedule::{Schedule, InBytes, Times};
///
/// // States of 800 bytes, tapes of 100 for each of 200 steps. All tapes would take 20,000 bytes.
/// let schedule = InBytes::new(200, 800, 100, 8_000, &Times::EVALUATIONS)?;
/// let cost = schedule.cost();
/// assert!(cost.peak_bytes <= 8_000);
/// // Nine states and a tape would fit as well.
/// let states = wengert_schedule::fewest_advances(200, 9) + 200;
/// assert_eq!((cost.evaluations(), states), (336, 734));
/// # Ok::<(), wengert_schedule::Impossible>(())
/// ```
#[derive(Clone, Debug)]
pub struct InBytes {
    cost: Cost,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    Binomial(Binomial),
    Uniform(Uniform),
    Units(Units),
    Grouped(Grouped),
}

impl InBytes {
    /// For so many steps, bytes of a state, bytes of the tape of one step, and bytes for all that is held at one time beside
    /// the live state. What is fastest is decided by `times`.
    pub fn new(
        steps: u64,
        state_bytes: u64,
        tape_bytes: u64,
        bytes: u64,
        times: &Times,
    ) -> Result<InBytes, Impossible> {
        InBytes::with_effort(steps, [state_bytes, tape_bytes, bytes], times, Effort::default())
    }

    /// The same for bytes of a state, of a tape and of everything, with a limit on how long it may take to plan.
    pub fn with_effort(
        steps: u64,
        [state_bytes, tape_bytes, bytes]: [u64; 3],
        times: &Times,
        effort: Effort,
    ) -> Result<InBytes, Impossible> {
        let [state, tape, all] = [state_bytes, tape_bytes, bytes].map(u128::from);
        let needed = (tape * u128::from(steps)).min(state + tape);
        if all < needed {
            return Err(Impossible::TooFewBytes { needed });
        }
        let sizes = Sizes { state: state_bytes, tape: tape_bytes, bytes, effort };
        if tape * u128::from(steps) <= all {
            return Ok(sizes.uniform(steps, steps.max(1)));
        }
        // One after the other: tables take memory.
        let plans = std::iter::once(sizes.binomial(steps)?)
            .chain(sizes.longest_pieces(steps).map(|length| sizes.uniform(steps, length)))
            .chain(sizes.groups(steps).filter_map(|group| sizes.grouped(steps, group, times)))
            .chain(sizes.units(steps));
        let time = |plan: &InBytes| {
            let begun = u128::from(steps.div_ceil(plan.group())) * u128::from(effort.begin);
            plan.cost.time(times).saturating_add(begun)
        };
        let best = plans.min_by_key(time).map(|plan| plan.exact(sizes));
        best.ok_or(Impossible::TooFewBytes { needed })
    }

    /// With what a short dry run counts, of one whose bytes are not known exactly.
    fn exact(mut self, sizes: Sizes) -> InBytes {
        if let Plan::Units(units) = &self.plan
            && units.steps / units.group <= DRY
        {
            let Sizes { state, tape, bytes, .. } = sizes;
            let limits = Limits::bytes(units.steps, state, tape, bytes.into());
            let counted = Checker::new(limits).run(units.clone());
            debug_assert!(counted.is_ok(), "{counted:?}");
            self.cost.peak_bytes = counted.map_or(self.cost.peak_bytes, |cost| cost.peak_bytes);
        }
        self
    }

    /// How many steps are recorded together.
    pub fn group(&self) -> u64 {
        match &self.plan {
            Plan::Binomial(_) => 1,
            Plan::Uniform(uniform) => uniform.length(),
            Plan::Units(units) => units.group,
            Plan::Grouped(grouped) => grouped.group,
        }
    }
}

/// The bytes of a state, of the tape of one step, and of everything.
#[derive(Clone, Copy)]
struct Sizes {
    state: u64,
    tape: u64,
    bytes: u64,
    effort: Effort,
}

impl Sizes {
    /// One tape, and as many states as fit.
    fn binomial(self, steps: u64) -> Result<InBytes, Impossible> {
        let slots = (self.bytes - self.tape).checked_div(self.state).unwrap_or(steps).min(steps);
        let binomial = Binomial::new(steps, usize::try_from(slots).unwrap_or(usize::MAX))?;
        let mut cost = binomial.cost();
        cost.peak_bytes = self.held(cost.peak_slots.into(), 1);
        Ok(InBytes { cost, plan: Plan::Binomial(binomial) })
    }

    /// The bytes of so many states and tapes.
    fn held(self, states: u128, tapes: u64) -> u128 {
        states * u128::from(self.state) + u128::from(tapes) * u128::from(self.tape)
    }

    /// States at equal distances, and the tapes of the steps between two of them.
    fn uniform(self, steps: u64, length: u64) -> InBytes {
        let uniform = Uniform::of(steps, length, false);
        let mut cost = uniform.cost();
        let last = steps - (steps.saturating_sub(1) / length * length);
        // The last piece is short, but the state before it is stored.
        let states = u128::from(cost.peak_slots);
        let first = self.held(states, last);
        cost.peak_bytes = if states > 0 { first.max(self.held(states - 1, length)) } else { first };
        InBytes { cost, plan: Plan::Uniform(uniform) }
    }

    /// How many steps between two states fit at most, if any.
    fn longest_pieces(self, steps: u64) -> Option<u64> {
        let fits = |length: u64| {
            let states = u128::from(steps.div_ceil(length) - 1);
            let tapes = u128::from(length) * u128::from(self.tape);
            states * u128::from(self.state) + tapes <= u128::from(self.bytes)
        };
        // Shorter pieces take fewer bytes as long as there are more bytes in tapes than in states.
        let balanced =
            (u128::from(steps) * u128::from(self.state)).div_ceil(u128::from(self.tape)).isqrt();
        let mut low = (balanced as u64).clamp(1, steps);
        if !fits(low) {
            return None;
        }
        let mut high = steps;
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        Some(low)
    }

    /// The smallest groups for which the table is not too large, and some larger ones.
    fn groups(self, steps: u64) -> impl Iterator<Item = u64> {
        let most = self.bytes / self.tape.max(1);
        let affordable = move |group: u64| {
            Levels::new(steps.div_ceil(group), self, group)
                .is_some_and(|levels| levels.is_affordable(self.effort))
        };
        let sizes = std::iter::successors(Some(1u64), |group| group.checked_add(group.div_ceil(4)));
        let first = sizes.take_while(move |group| *group <= most).find(|group| affordable(*group));
        let several = |first: u64| if first == 1 { 1 } else { 4 };
        let larger =
            first.into_iter().flat_map(move |first| (0..several(first)).map(move |k| first << k));
        larger.filter(move |group| *group <= most)
    }

    /// One tape of a group of steps, and as many states as fit beside it, for groups of several sizes. When the first group's
    /// turn comes no state is stored any more: it is at most as long as the others, or as long as fits alone.
    fn units(self, steps: u64) -> impl Iterator<Item = InBytes> {
        let sizes = std::iter::successors(Some(1u64), |group| group.checked_add(group.div_ceil(4)));
        let alone = self.bytes / self.tape.max(1);
        sizes
            .take_while(move |group| *group < steps && *group <= alone)
            .flat_map(move |group| [(group, group), (group, alone)])
            .filter(|&(group, first)| first > group || group > 1)
            .filter_map(move |(group, first)| self.unit(steps, group, first))
    }

    /// Groups of so many steps, and the first of at most `most`.
    fn unit(self, steps: u64, group: u64, most: u64) -> Option<InBytes> {
        let left = self.bytes.checked_sub(self.tape.checked_mul(group)?)?;
        let slots = left.checked_div(self.state).unwrap_or(steps).min(steps);
        let others = steps.saturating_sub(most).div_ceil(group);
        let first = steps.checked_sub(others.checked_mul(group)?).filter(|first| *first > 0)?;
        let units = Binomial::new(others.checked_add(1)?, usize::try_from(slots).ok()?).ok()?;
        let mut cost = units.cost();
        // Those that begin at the first state pass over the first group, each on the way to an earlier one.
        let over_first = u128::from(units.most_evaluations() - 1);
        let over_others = (cost.advances - over_first).saturating_mul(group.into());
        cost.advances = over_others.saturating_add(over_first * u128::from(first));
        cost.records = u128::from(steps);
        cost.peak_tapes = if others > 0 { group.max(first) } else { first };
        // At most: groups may be recorded with fewer states stored.
        cost.peak_bytes = self.held(cost.peak_slots.into(), group).max(self.held(0, first));
        Some(InBytes { cost, plan: Plan::Units(Units { steps, group, first, units }) })
    }

    fn grouped(self, steps: u64, group: u64, times: &Times) -> Option<InBytes> {
        let table = Table::new(Levels::new(steps.div_ceil(group), self, group)?, group, times);
        if !table.is_possible() {
            return None;
        }
        let grouped = Grouped::new(steps, group, table);
        let limits = Limits::bytes(steps, self.state, self.tape, self.bytes.into());
        let dry = Checker::new(limits).run(grouped.clone());
        debug_assert!(dry.is_ok(), "{dry:?}");
        Some(InBytes { cost: dry.ok()?, plan: Plan::Grouped(grouped) })
    }
}

impl Iterator for InBytes {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.plan {
            Plan::Binomial(binomial) => binomial.next(),
            Plan::Uniform(uniform) => uniform.next(),
            Plan::Units(units) => units.next(),
            Plan::Grouped(grouped) => grouped.next(),
        }
    }
}

impl Schedule for InBytes {
    fn steps(&self) -> Option<u64> {
        match &self.plan {
            Plan::Binomial(binomial) => binomial.steps(),
            Plan::Uniform(uniform) => uniform.steps(),
            Plan::Units(units) => Some(units.steps),
            Plan::Grouped(grouped) => Some(grouped.steps),
        }
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

/// A schedule of groups of steps, of which the first is as long as is left of all.
#[derive(Clone, Debug)]
struct Units {
    steps: u64,
    group: u64,
    first: u64,
    units: Binomial,
}

impl Iterator for Units {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let step = |k: u64| if k == 0 { 0 } else { self.first + (k - 1) * self.group };
        let range = |from: u64, to: u64| (step(from), step(to));
        Some(match self.units.next()? {
            Action::Advance { from, to } => {
                let (from, to) = range(from, to);
                Action::Advance { from, to }
            }
            Action::Record { from, to } => {
                let (from, to) = range(from, to);
                Action::Record { from, to }
            }
            Action::Reverse { from, to } => {
                let (from, to) = range(from, to);
                Action::Reverse { from, to }
            }
            Action::Store { step: at, slot } => Action::Store { step: step(at), slot },
            Action::Load { step: at, slot } => Action::Load { step: step(at), slot },
            other => other,
        })
    }
}

/// The numbers of bytes that can be left, the fewest first. What is left depends on how many states and tapes are held,
/// not in which order they came.
#[derive(Debug)]
struct Levels {
    groups: u64,
    state: u64,
    tape: u64,
    left: Vec<u64>,
}

impl Levels {
    /// None where there are too many.
    fn new(groups: u64, sizes: Sizes, group: u64) -> Option<Levels> {
        let Sizes { state, tape, bytes, effort } = sizes;
        let tape = tape.checked_mul(group)?;
        let times = |by: u64| bytes.checked_div(by).unwrap_or(0).min(groups).saturating_add(1);
        let pairs = times(state).checked_mul(times(tape))?;
        let common = gcd(state, tape).max(1);
        let multiples = (bytes / common).saturating_add(1);
        // To list them takes memory, too.
        let few = multiples.min(pairs);
        if few > MOST_LEVELS || few.saturating_mul(16) > effort.bytes {
            return None;
        }
        let left: BTreeSet<u64> = if multiples <= pairs {
            (0..multiples).map(|k| bytes - k * common).collect()
        } else {
            let all = (0..times(state)).flat_map(|i| (0..times(tape)).map(move |j| (i, j)));
            all.filter_map(|(i, j)| bytes.checked_sub(i * state)?.checked_sub(j * tape)).collect()
        };
        Some(Levels { groups, state, tape, left: left.into_iter().collect() })
    }

    /// Whether the table can be computed in the time there is.
    fn is_affordable(&self, effort: Effort) -> bool {
        let numbers = (self.left.len() as u64).saturating_mul(self.groups);
        let sums = numbers.saturating_mul(self.groups) / 2;
        sums <= effort.sums && numbers.saturating_mul(16) <= effort.bytes
    }

    /// Which one it is.
    fn find(&self, left: Option<u64>) -> Option<usize> {
        self.left.binary_search(&left?).ok()
    }

    /// With a state less, with a tape less, and with a tape in place of a state.
    fn without(&self, left: u64) -> [Option<usize>; 3] {
        let swapped = left.checked_add(self.state).and_then(|left| left.checked_sub(self.tape));
        [
            self.find(left.checked_sub(self.state)),
            self.find(left.checked_sub(self.tape)),
            self.find(swapped),
        ]
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least times, for every number of groups and every number of bytes left.
#[derive(Debug)]
struct Table {
    groups: usize,
    /// The levels that follow from each: see [`Levels::without`].
    without: Vec<[Option<usize>; 3]>,
    /// By level, then number of groups.
    fresh: Vec<u64>,
    stored: Vec<u64>,
    times: Times,
}

/// The columns of `Table::without`.
const STATE: usize = 0;
const TAPE: usize = 1;
const SWAP: usize = 2;

impl Table {
    fn new(levels: Levels, group: u64, times: &Times) -> Table {
        let groups = levels.groups as usize;
        let size = (groups + 1) * levels.left.len();
        let mut table = Table {
            groups,
            without: levels.left.iter().map(|left| levels.without(*left)).collect(),
            fresh: vec![NEVER; size],
            stored: vec![NEVER; size],
            times: per_group(times, group, levels.groups),
        };
        table.fill();
        table
    }

    fn at(&self, level: usize, n: usize) -> usize {
        level * (self.groups + 1) + n
    }

    fn fill(&mut self) {
        for level in 0..self.without.len() {
            let at = self.at(level, 0);
            (self.fresh[at], self.stored[at]) = (0, 0);
        }
        for n in 1..=self.groups {
            for level in 0..self.without.len() {
                let (best, _) = self.choose_stored(level, n);
                let at = self.at(level, n);
                self.stored[at] = best;
            }
            for level in 0..self.without.len() {
                let (best, _) = self.choose_fresh(level, n);
                let at = self.at(level, n);
                self.fresh[at] = best;
            }
        }
    }

    /// The least time at a live state, and whether its step is recorded for it.
    fn choose_fresh(&self, level: usize, n: usize) -> (u64, bool) {
        let [state, tape, _] = self.without[level];
        let recorded = self.recorded(tape, n);
        let kept = state.map_or(NEVER, |state| self.stored[self.at(state, n)]);
        let kept = (self.times.store + kept).min(NEVER);
        if recorded <= kept { (recorded, true) } else { (kept, false) }
    }

    /// The least time at a stored state, and how many groups to advance by; none: it is freed and its step recorded.
    fn choose_stored(&self, level: usize, n: usize) -> (u64, usize) {
        let mut best = (self.recorded(self.without[level][SWAP], n), 0);
        let fresh = &self.fresh[self.at(level, 0)..][..n];
        let stored = &self.stored[self.at(level, 0)..][..n];
        let Times { advance, load, .. } = self.times;
        let mut advances = load;
        for i in 1..n {
            advances += advance;
            let time = advances + fresh[n - i] + stored[i];
            if time < best.0 {
                best = (time, i);
            }
        }
        best
    }

    /// The time where the first of `n` groups is recorded and its tape kept.
    fn recorded(&self, left: Option<usize>, n: usize) -> u64 {
        let rest = left.map_or(NEVER, |left| self.fresh[self.at(left, n - 1)]);
        (self.times.record + rest).min(NEVER)
    }

    fn top(&self) -> usize {
        self.without.len() - 1
    }

    fn is_possible(&self) -> bool {
        self.fresh[self.at(self.top(), self.groups)] < NEVER
    }
}

/// Times of groups, made small enough for sums of them to fit: recording and reversing together, for each group once.
fn per_group(times: &Times, group: u64, groups: u64) -> Times {
    let times = [
        u128::from(times.advance).saturating_mul(u128::from(group)),
        (u128::from(times.record) + u128::from(times.reverse)).saturating_mul(u128::from(group)),
        u128::from(times.store),
        u128::from(times.load),
    ];
    // Each happens at most so often.
    let most = u128::from(groups + 1) * u128::from(groups + 1);
    let mut shift = 0;
    while times.iter().any(|t| (t >> shift).saturating_mul(most) >= u128::from(NEVER / 8)) {
        shift += 1;
    }
    let [advance, record, store, load] = times.map(|t| (t >> shift) as u64);
    Times { advance, record, store, load, ..Times::default() }
}

/// Follows a table, group by group.
#[derive(Clone, Debug)]
struct Grouped {
    steps: u64,
    group: u64,
    table: Arc<Table>,
    /// What is left to do, the next on top.
    parts: Vec<Part>,
    live: Option<usize>,
    spare: Spare,
    waiting: VecDeque<Action>,
}

/// Something to be done with groups.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// From a live state.
    Fresh { from: usize, to: usize, level: usize },
    /// From a stored state, whose bytes are not among those left.
    Stored { from: usize, to: usize, level: usize, slot: usize },
    /// From tapes.
    Recorded { from: usize, to: usize },
}

impl Grouped {
    fn new(steps: u64, group: u64, table: Table) -> Grouped {
        let (to, level) = (table.groups, table.top());
        Grouped {
            steps,
            group,
            table: Arc::new(table),
            parts: vec![Part::Fresh { from: 0, to, level }],
            live: Some(0),
            spare: Spare::beside(&[]),
            waiting: if steps == 0 { [Action::PrimalDone].into() } else { VecDeque::new() },
        }
    }

    /// The first step of a group. The last group may be short.
    fn step(&self, group: usize) -> u64 {
        (group as u64).saturating_mul(self.group).min(self.steps)
    }

    fn go_on(&mut self, part: Part) {
        match part {
            Part::Recorded { from, to } => {
                let (from, to) = (self.step(from), self.step(to));
                self.waiting.push_back(Action::Reverse { from, to });
            }
            Part::Fresh { from, to, level } if from < to => {
                if self.table.choose_fresh(level, to - from).1 {
                    let left = self.table.without[level][TAPE];
                    self.record(from, to, left);
                } else if let Some(level) = self.table.without[level][STATE] {
                    let slot = self.spare.take();
                    let (step, to_slot) = (self.step(from), Slot::Memory(slot));
                    self.waiting.push_back(Action::Store { step, slot: to_slot });
                    self.parts.push(Part::Stored { from, to, level, slot });
                }
            }
            Part::Fresh { .. } => {}
            Part::Stored { from, to, level, slot } => {
                let (step, from_slot) = (self.step(from), Slot::Memory(slot));
                if self.live != Some(from) {
                    self.waiting.push_back(Action::Load { step, slot: from_slot });
                }
                match self.table.choose_stored(level, to - from).1 {
                    0 => {
                        self.waiting.push_back(Action::Free { slot: from_slot });
                        self.spare.give(slot);
                        let left = self.table.without[level][SWAP];
                        self.record(from, to, left);
                    }
                    by => {
                        let at = from + by;
                        self.waiting.push_back(Action::Advance { from: step, to: self.step(at) });
                        self.live = Some(at);
                        self.parts.push(Part::Stored { from, to: at, level, slot });
                        self.parts.push(Part::Fresh { from: at, to, level });
                    }
                }
            }
        }
    }

    /// Records a group, with so much left behind it, and all that the table wants recorded next.
    fn record(&mut self, from: usize, to: usize, left: Option<usize>) {
        let (mut at, mut left) = (from + 1, left);
        while let Some(level) = left {
            if at == to || !self.table.choose_fresh(level, to - at).1 {
                break;
            }
            (at, left) = (at + 1, self.table.without[level][TAPE]);
        }
        self.waiting.push_back(Action::Record { from: self.step(from), to: self.step(at) });
        if at == self.table.groups {
            self.waiting.push_back(Action::PrimalDone);
        }
        self.live = Some(at);
        self.parts.push(Part::Recorded { from, to: at });
        if let Some(level) = left {
            self.parts.push(Part::Fresh { from: at, to, level });
        }
    }
}

impl Iterator for Grouped {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        while self.waiting.is_empty() {
            let part = self.parts.pop()?;
            self.go_on(part);
        }
        self.waiting.pop_front()
    }
}
