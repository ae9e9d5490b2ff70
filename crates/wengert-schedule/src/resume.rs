//! Reversing from whatever states are stored.
//!
//! A loop may have ended where nobody expected it, a process may have been killed, memory may have become less: some states are
//! stored, not where one would want them. Three things can be done with the last stored state: reverse what is behind it; drop
//! it; or move it on, which is to load it, advance and store it in its own slot. Together these are enough: no other way to
//! reverse the loop takes fewer evaluations (the tests compare with all there are).
//!
//! A plan says which states are kept and where each is moved to, at least where it is. The `k`-th of those kept, counted
//! from the first, then has `s - k + 1` of `s` slots for the steps up to where the next one was moved to. With states `c`
//! moved to `d` the plan costs the sum of `d - c` and of the binomial costs of the steps between neighbouring `d`. For given
//! states that is a sum of convex functions under bounds on partial sums, so what is cheapest next is right; states that
//! are not moved cut the plan into blocks that have nothing to do with each other, and the best chain of blocks is a shortest
//! path.

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::counts::{capacity, fewest_advances};
use crate::reversal::{Place, Reversal, Spare};
use crate::schedule::{Impossible, Schedule};

/// How much work a plan may be. Up to about twenty stored states are looked at in every combination, of more only
/// neighbouring ones.
const WORK: u64 = 400_000;

/// Reverses a loop from states that are stored, with as few evaluations as possible.
///
/// Exactly so for up to about twenty stored states. With more of them, and always in very little time, plans are looked at in which
/// few neighbouring states are dropped or moved.
///
/// ```
/// use wengert_schedule::{Resume, Schedule};
///
/// // The adjoint has come down to state 100. Three slots; two of them were found in order.
/// let schedule = Resume::new(&[(0, 0), (90, 2)], 3, 100, true)?;
/// assert_eq!(schedule.cost().evaluations(), 540);
/// # Ok::<(), wengert_schedule::Impossible>(())
/// ```
#[derive(Clone, Debug)]
pub struct Resume {
    steps: u64,
    cost: Cost,
    actions: Reversal,
}

impl Resume {
    /// Reverses the first `steps` steps of a loop. Each stored state comes with its slot in memory; `slots` may be less than
    /// there are stored states, of which some are dropped then. No state is live. Where the first sweep was
    /// not yet over, `primal_done` is false, and `steps` the length of the loop.
    pub fn new(
        stored: &[(u64, usize)],
        slots: usize,
        steps: u64,
        primal_done: bool,
    ) -> Result<Resume, Impossible> {
        let mut stored = stored.to_vec();
        stored.sort_unstable();
        let mut taken: Vec<usize> = stored.iter().map(|(_, slot)| *slot).collect();
        taken.sort_unstable();
        if taken.windows(2).any(|w| w[0] == w[1]) || stored.windows(2).any(|w| w[0].0 == w[1].0) {
            return Err(Impossible::Twice);
        }
        if steps > 0 && stored.first().is_none_or(|(step, _)| *step != 0) {
            return Err(Impossible::NoFirstState);
        }
        if steps > 0 && slots == 0 {
            return Err(Impossible::NoSlot);
        }
        let useful: Vec<u64> =
            stored.iter().map(|(step, _)| *step).take_while(|step| *step < steps).collect();
        let kept = if useful.is_empty() { Vec::new() } else { plan(&useful, slots as u64, steps) };
        let place = |(k, wanted): &(usize, u64)| {
            let (step, slot) = stored[*k];
            Place { step, slot: Slot::Memory(slot), wanted: *wanted }
        };
        let places: Vec<Place> = kept.iter().map(place).collect();
        let mut spare = Spare::beside(&taken);
        let mut is_kept = vec![false; stored.len()];
        kept.iter().for_each(|(k, _)| is_kept[*k] = true);
        let dropped = stored.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
        let dropped: Vec<usize> = dropped.map(|((_, slot), _)| *slot).collect();
        dropped.iter().rev().for_each(|slot| spare.give(*slot));
        let mut actions =
            Reversal::new(places, slots as u64, spare, steps, None, primal_done || steps == 0);
        let mut cost = actions.cost();
        cost.peak_slots = cost.peak_slots.max(stored.len() as u64);
        dropped.iter().for_each(|slot| actions.first(Action::Free { slot: Slot::Memory(*slot) }));
        if steps == 0 && !primal_done {
            actions.first(Action::PrimalDone);
        }
        Ok(Resume { steps, cost, actions })
    }
}

impl Iterator for Resume {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.actions.next()
    }
}

impl Schedule for Resume {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

/// Which of the stored states to keep, by index, and where to move each. The first is state zero, all are before `end`.
fn plan(stored: &[u64], slots: u64, end: u64) -> Vec<(usize, u64)> {
    let count = stored.len();
    let surplus = count.saturating_sub(usize::try_from(slots).unwrap_or(usize::MAX));
    let breadth = (2..=count).take_while(|b| work(count, *b) <= WORK).last().unwrap_or(1);
    if surplus > breadth {
        // Far too many: every so many are kept, and planned for.
        let keep = count - surplus;
        let chosen: Vec<usize> =
            (0..keep).map(|k| (k as u128 * count as u128 / keep as u128) as usize).collect();
        let steps: Vec<u64> = chosen.iter().map(|k| stored[*k]).collect();
        return plan(&steps, slots, end).into_iter().map(|(k, d)| (chosen[k], d)).collect();
    }
    Search { stored, slots, end, breadth, slack: breadth + surplus }.run()
}

/// About how many numbers are computed to look at plans of a breadth.
fn work(count: usize, breadth: usize) -> u64 {
    let fourth = (breadth as u64).saturating_pow(4);
    (count as u64).saturating_mul(fourth) / 16
}

/// The search for the cheapest chain of blocks.
struct Search<'a> {
    stored: &'a [u64],
    slots: u64,
    end: u64,
    /// The most states that are moved in one block.
    breadth: usize,
    /// The most states that are dropped or moved in one block, or dropped in all.
    slack: usize,
}

/// The cheapest way to reverse the steps before a state that is not moved.
#[derive(Clone, Copy)]
struct Best {
    cost: u128,
    /// The state not moved before it, how many are dropped up to that, and how many between them are moved.
    from: (usize, usize, usize),
}

/// What reversing the steps between two states that are not moved takes.
struct Block {
    cost: u128,
    /// The states between them that are moved, and where to.
    moved: Vec<(usize, u64)>,
}

impl Search<'_> {
    fn run(&self) -> Vec<(usize, u64)> {
        let count = self.stored.len();
        // By index, the end being behind the last, and by how many states before it are dropped.
        let mut best: Vec<Vec<Option<Best>>> = vec![vec![None; self.slack + 1]; count + 1];
        best[0][0] = Some(Best { cost: 0, from: (0, 0, 0) });
        for to in 1..=count {
            for from in to.saturating_sub(self.slack + 1)..to {
                for dropped in 0..=self.slack.min(from) {
                    let Some(before) = best[from][dropped] else { continue };
                    let between = to - from - 1;
                    for moved in 0..=between.min(self.breadth) {
                        let dropped_here = dropped + between - moved;
                        // So many are kept up to where this block ends.
                        let kept = (to - dropped_here) as u64;
                        if dropped_here > self.slack || kept > self.slots {
                            continue;
                        }
                        let Some(block) = self.block(from, to, dropped, moved) else { continue };
                        let cost = before.cost.saturating_add(block.cost);
                        let found = &mut best[to][dropped_here];
                        if found.is_none_or(|found| cost < found.cost) {
                            *found = Some(Best { cost, from: (from, dropped, moved) });
                        }
                    }
                }
            }
        }
        let last = (0..=self.slack).filter(|k| best[count][*k].is_some());
        let mut dropped = last.min_by_key(|k| best[count][*k].map(|b| b.cost)).unwrap_or(0);
        let (mut to, mut kept) = (count, Vec::new());
        while to > 0 {
            // Where no chain was found, which does not happen, the first state alone is enough.
            let Some(Best { from: (from, earlier, moved), .. }) = best[to][dropped] else {
                return vec![(0, 0)];
            };
            if let Some(block) = self.block(from, to, earlier, moved) {
                kept.extend(block.moved.into_iter().rev());
            }
            kept.push((from, self.stored[from]));
            (to, dropped) = (from, earlier);
        }
        kept.reverse();
        kept
    }

    /// The cheapest block between two states, with so many dropped before it and so many moved inside.
    fn block(&self, from: usize, to: usize, dropped: usize, moved: usize) -> Option<Block> {
        let begin = self.stored[from];
        let end = self.stored.get(to).copied().unwrap_or(self.end);
        // The slots of the first state of the block.
        let slots = self.slots - (from - dropped) as u64;
        if moved == 0 {
            return Some(Block { cost: fewest_advances(end - begin, slots), moved: Vec::new() });
        }
        let lengths = lengths(end - begin, slots, moved)?;
        let mut cost = 0u128;
        let mut position = begin;
        let mut wanted = Vec::with_capacity(moved);
        for (q, length) in lengths.iter().enumerate() {
            if q > 0 {
                wanted.push(position);
            }
            cost = cost.saturating_add(fewest_advances(*length, slots - q as u64));
            position += length;
        }
        // Each is moved from the last state before it that is still there.
        let mut chosen = Vec::with_capacity(moved);
        let mut next = to - 1;
        for wanted in wanted.into_iter().rev() {
            while next > from && self.stored[next] > wanted {
                next -= 1;
            }
            if next == from {
                return None;
            }
            cost = cost.saturating_add(u128::from(wanted - self.stored[next]));
            chosen.push((next, wanted));
            next -= 1;
        }
        chosen.reverse();
        Some(Block { cost, moved: chosen })
    }
}

/// Cuts `n` steps into one piece more than there are states to be moved, the first of which has `slots` slots, the next one
/// less, and so on, so that the cost is least, each of the states being moved from the beginning of all. Among
/// equals the cuts are as far on as they can be.
fn lengths(n: u64, slots: u64, moved: usize) -> Option<Vec<u64>> {
    let pieces = moved as u64 + 1;
    if n < pieces || slots < pieces {
        return None;
    }
    // A step more in piece `q` costs its repeats there, and moves the states behind it by one. So all pieces hold the steps
    // that cost no more than some price, and what is left are steps that cost just that.
    let length = |q: u64, price: u64| match price.checked_sub(moved as u64 - q) {
        Some(repeats) => capacity(slots - q, repeats),
        None => 1,
    };
    let enough = |price: u64| {
        let sum = (0..pieces).fold(0u128, |sum, q| sum.saturating_add(length(q, price)));
        sum >= u128::from(n)
    };
    let mut high = 1;
    while !enough(high) {
        high *= 2;
    }
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    let below = |q| if low == 0 { 1 } else { length(q, low - 1) };
    let mut left = u128::from(n) - (0..pieces).map(below).sum::<u128>();
    let piece = |q| {
        let more = (length(q, low) - below(q)).min(left);
        left -= more;
        (below(q) + more) as u64
    };
    Some((0..pieces).map(piece).collect())
}
