//! Some slots in memory, more of them on disk, which take time to write and read.
//!
//! As in H-Revolve and its predecessor (Aupy, Herrmann, Hovland and Robert 2016): the loop is cut by states on disk, and
//! steps between two of them are reversed in memory, by the binomial rule. With `c` slots free on disk, `w` and `r` the times to
//! write and read a state, `t` the time of the binomial rule:
//!
//! ```text
//! fresh(c, n)  = min(t(n), w + stored(c, n))
//! stored(c, n) = min(t(n), min over j: j advance + fresh(c - 1, n - j) + r + stored(c, j))
//! ```
//!
//! `fresh` begins at a state that is live only, `stored` at one that is on disk as well and live. A state leaves the disk when the
//! steps behind it are reversed in memory. Long loops are cut at multiples of a number of steps; in memory they are reversed
//! as well as ever.

use crate::action::{Action, Slot};
use crate::cost::{Cost, Times};
use crate::counts::fewest_advances;
use crate::reversal::{Reversal, Spare};
use crate::schedule::{Impossible, Schedule};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How many sums a table may take to compute, if nothing else is said.
const WORK: u64 = 20_000_000;

/// What takes longer than can be told. Sums of a few such numbers fit.
const NEVER: u128 = u128::MAX / 8;

/// Reverses a known number of steps with slots in memory and slots on disk, as fast as possible.
///
/// The optimum for loops of some thousand steps; how many depends on the slots on disk. In longer ones states on disk
/// are at multiples of a number of steps.
///
/// ```
/// use wengert_schedule::{Schedule, Times, TwoLevel};
///
/// // A state takes as long to write as five steps, and as long to read as three.
/// let times = Times { disk_store: 5, disk_load: 3, ..Times::EVALUATIONS };
/// let cost = TwoLevel::new(1000, 5, 20, &times)?.cost();
/// assert!(cost.peak_slots <= 5 && cost.peak_disk_slots <= 20);
/// // With memory alone it would take longer.
/// let memory = wengert_schedule::fewest_advances(1000, 5) + 1000;
/// assert_eq!((cost.time(&times), memory), (4436, 7284));
/// # Ok::<(), wengert_schedule::Impossible>(())
/// ```
#[derive(Clone, Debug)]
pub struct TwoLevel {
    steps: u64,
    slots: u64,
    table: Arc<Table>,
    /// What is left to do, the next on top.
    parts: Vec<Part>,
    /// Steps that are being reversed in memory.
    inner: Option<Reversal>,
    live: Option<usize>,
    primal_done: bool,
    spare: Spare,
    waiting: VecDeque<Action>,
}

/// Something to be done with groups of steps, with slots free on disk.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// From a live state.
    Fresh { from: usize, to: usize, free: usize },
    /// From a state on disk; its slot is among those free.
    Stored { from: usize, to: usize, free: usize, slot: usize },
}

impl TwoLevel {
    /// For so many steps, slots in memory and slots on disk. What is fastest is decided by the times to advance, write and
    /// read. At least one slot must be in memory.
    pub fn new(
        steps: u64,
        slots: usize,
        disk_slots: usize,
        times: &Times,
    ) -> Result<TwoLevel, Impossible> {
        TwoLevel::with_effort(steps, slots, disk_slots, times, WORK)
    }

    /// The same with no more than so many sums, about a nanosecond each, to find the way. Fewer, and states on disk are at multiples
    /// of a larger number of steps.
    pub fn with_effort(
        steps: u64,
        slots: usize,
        disk_slots: usize,
        times: &Times,
        sums: u64,
    ) -> Result<TwoLevel, Impossible> {
        if steps > 1 && slots == 0 {
            return Err(Impossible::NoSlot);
        }
        let slots = slots as u64;
        let disk_slots = (disk_slots as u64).min(steps);
        // Few rows and many groups; or so many slots for fewer groups that they are never too few, and one row will do.
        let sums = sums.saturating_mul(2);
        let few = steps.min((sums / disk_slots.max(1)).isqrt().max(1));
        let many = steps.min(disk_slots).min(sums.isqrt());
        let candidates = [few, many].into_iter().filter(|groups| *groups > 0 || steps == 0);
        let tables = candidates.map(|groups| Table::new(steps, groups, slots, disk_slots, times));
        let table = tables.min_by_key(Table::time).ok_or(Impossible::NoSlot)?;
        let part = Part::Fresh { from: 0, to: table.groups, free: table.rows };
        Ok(TwoLevel {
            steps,
            slots,
            table: Arc::new(table),
            parts: vec![part],
            inner: None,
            live: Some(0),
            primal_done: false,
            spare: Spare::beside(&[]),
            waiting: VecDeque::new(),
        })
    }

    /// States on disk are at multiples of this number of steps.
    pub fn group(&self) -> u64 {
        self.table.group
    }

    /// The first step of a group. The last group may be short.
    fn step(&self, group: usize) -> u64 {
        (group as u64).saturating_mul(self.table.group).min(self.steps)
    }

    fn go_on(&mut self, part: Part) {
        match part {
            Part::Fresh { from, to, free } => {
                if self.table.choose_fresh(free, to - from).1 {
                    let slot = self.spare.take();
                    let (step, on_disk) = (self.step(from), Slot::Disk(slot));
                    self.waiting.push_back(Action::Store { step, slot: on_disk });
                    self.parts.push(Part::Stored { from, to, free, slot });
                } else {
                    self.reverse_in_memory(from, to);
                }
            }
            Part::Stored { from, to, free, slot } => {
                let (step, on_disk) = (self.step(from), Slot::Disk(slot));
                if self.live != Some(from) {
                    self.waiting.push_back(Action::Load { step, slot: on_disk });
                }
                match self.table.choose_stored(free, to - from).1 {
                    0 => {
                        self.waiting.push_back(Action::Free { slot: on_disk });
                        self.spare.give(slot);
                        self.reverse_in_memory(from, to);
                    }
                    by => {
                        let at = from + by;
                        self.waiting.push_back(Action::Advance { from: step, to: self.step(at) });
                        self.live = Some(at);
                        self.parts.push(Part::Stored { from, to: at, free, slot });
                        let free = self.table.fewer(free);
                        self.parts.push(Part::Fresh { from: at, to, free });
                    }
                }
            }
        }
    }

    fn reverse_in_memory(&mut self, from: usize, to: usize) {
        let (from, to) = (self.step(from), self.step(to));
        self.inner = Some(Reversal::from_live(from, to, self.slots, self.primal_done));
        self.primal_done = true;
        self.live = None;
    }

    /// What the rest of it costs, where the inner part is not begun.
    fn tally(mut self) -> Cost {
        let mut cost = Cost::default();
        let mut held = 0;
        // Many are as long as others.
        let mut known: HashMap<u64, Cost> = HashMap::new();
        while let Some(part) = self.parts.pop() {
            let (Part::Fresh { from, to, .. } | Part::Stored { from, to, .. }) = part;
            self.go_on(part);
            for action in self.waiting.drain(..) {
                match action {
                    Action::Advance { from, to } => cost.advances += u128::from(to - from),
                    Action::Store { .. } => {
                        cost.disk_stores += 1;
                        held += 1;
                        cost.peak_disk_slots = cost.peak_disk_slots.max(held);
                    }
                    Action::Load { .. } => cost.disk_loads += 1,
                    _ => held -= 1,
                }
            }
            if self.inner.take().is_some() {
                let n = self.step(to) - self.step(from);
                let slots = self.slots;
                let inner = *known.entry(n).or_insert_with(|| Reversal::cost_from_live(n, slots));
                cost.advances += inner.advances;
                cost.records += inner.records;
                cost.stores += inner.stores;
                cost.loads += inner.loads;
                cost.peak_slots = cost.peak_slots.max(inner.peak_slots);
                cost.peak_tapes = cost.peak_tapes.max(inner.peak_tapes);
            }
        }
        cost
    }
}

impl Iterator for TwoLevel {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        loop {
            if let Some(action) = self.waiting.pop_front() {
                return Some(action);
            }
            if let Some(action) = self.inner.as_mut().and_then(Iterator::next) {
                return Some(action);
            }
            self.inner = None;
            let part = self.parts.pop()?;
            self.go_on(part);
        }
    }
}

impl Schedule for TwoLevel {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn cost(&self) -> Cost {
        let (to, free) = (self.table.groups, self.table.rows);
        let beginning = TwoLevel {
            parts: vec![Part::Fresh { from: 0, to, free }],
            inner: None,
            live: Some(0),
            spare: Spare::beside(&[]),
            waiting: VecDeque::new(),
            ..self.clone()
        };
        beginning.tally()
    }
}

/// The least times, by slots free on disk and groups.
#[derive(Debug)]
struct Table {
    groups: usize,
    group: u64,
    /// How many slots on disk are told apart.
    rows: usize,
    /// Whether there are always slots enough on disk: then one row is all.
    enough: bool,
    /// In memory, by groups.
    memory: Vec<u128>,
    /// By slots, then groups.
    fresh: Vec<u128>,
    stored: Vec<u128>,
    advance: u128,
    write: u128,
    read: u128,
}

impl Table {
    /// For about so many groups.
    fn new(steps: u64, groups: u64, slots: u64, disk_slots: u64, times: &Times) -> Table {
        let group = steps.div_ceil(groups.max(1)).max(1);
        let groups = steps.div_ceil(group);
        let memory = (0..=groups).map(|k| {
            let n = k.saturating_mul(group).min(steps);
            fewest_advances(n, slots).saturating_mul(u128::from(times.advance)).min(NEVER)
        });
        let enough = disk_slots >= groups;
        let rows = if enough { disk_slots.min(1) } else { disk_slots } as usize;
        let size = (groups as usize + 1) * (rows + 1);
        let mut table = Table {
            groups: groups as usize,
            group,
            rows,
            enough,
            memory: memory.collect(),
            fresh: vec![0; size],
            stored: vec![0; size],
            // However long it takes, sums of it fit.
            advance: (u128::from(times.advance) * u128::from(group))
                .min(NEVER / (u128::from(groups) + 1)),
            write: u128::from(times.disk_store),
            read: u128::from(times.disk_load),
        };
        for free in 0..=rows {
            for n in 1..=table.groups {
                let at = table.at(free, n);
                table.stored[at] = table.choose_stored(free, n).0;
                table.fresh[at] = table.choose_fresh(free, n).0;
            }
        }
        table
    }

    fn at(&self, free: usize, n: usize) -> usize {
        free * (self.groups + 1) + n
    }

    /// What is free when one more is taken.
    fn fewer(&self, free: usize) -> usize {
        if self.enough { free } else { free - 1 }
    }

    /// All of it.
    fn time(&self) -> u128 {
        self.fresh[self.at(self.rows, self.groups)]
    }

    /// The least time at a live state, and whether it is stored for it.
    fn choose_fresh(&self, free: usize, n: usize) -> (u128, bool) {
        let stored = (self.write + self.stored[self.at(free, n)]).min(NEVER);
        let memory = self.memory[n];
        if free > 0 && stored < memory { (stored, true) } else { (memory, false) }
    }

    /// The least time at a state on disk, and how many groups to advance by; none: the rest is done in memory.
    fn choose_stored(&self, free: usize, n: usize) -> (u128, usize) {
        let mut best = (self.memory[n], 0);
        if free == 0 {
            return best;
        }
        let fresh = &self.fresh[self.at(self.fewer(free), 0)..][..n];
        let stored = &self.stored[self.at(free, 0)..][..n];
        let mut advances = self.read;
        for j in 1..n {
            advances += self.advance;
            let time = advances + fresh[n - j] + stored[j];
            if time < best.0 {
                best = (time, j);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lose_little() {
        let times = Times { disk_store: 20, disk_load: 10, ..Times::EVALUATIONS };
        for (slots, disk_slots) in [(2, 3), (5, 8), (10, 2), (3, 2000)] {
            let exact = Table::new(2000, 2000, slots, disk_slots, &times).time();
            let grouped = Table::new(2000, 200, slots, disk_slots, &times);
            assert_eq!(grouped.group, 10);
            let ratio = grouped.time() as f64 / exact as f64;
            println!("{slots} slots, {disk_slots} on disk: {ratio:.4}");
            assert!((1.0..1.02).contains(&ratio), "{slots} slots, {disk_slots} on disk: {ratio}");
        }
    }
}
