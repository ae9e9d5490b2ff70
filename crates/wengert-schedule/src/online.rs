//! Loops of which nobody knows when they end.
//!
//! The first sweep stores states as it goes, and has to give some up again. It does so greedily: when the loop, should it end
//! next, were cheaper to reverse with the live state stored in place of another one, that one goes whose removal raises the
//! cost least. What a state is worth is known exactly: the steps behind the `k`-th of `s` stored states are reversed with
//! `s - k + 1` slots, at the binomial cost. (Stumm and Walther 2010 and Wang, Moin and Iaccarino 2009 place states by
//! other rules, for the same purpose.) When the loop has ended, it is reversed from what is stored at the least cost there
//! is: [`Resume`].

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::counts::fewest_advances;
use crate::resume::Resume;
use crate::reversal::Spare;
use crate::schedule::{Impossible, Schedule};

/// A state is stored no earlier than the square root of its position, divided by this, behind the one before. So a sweep of `n`
/// steps stores fewer than `2 * SPARSE * sqrt(n)` states, and the last steps cost less than `n / (2 * SPARSE^2)` for it.
const SPARSE: u64 = 8;

/// Reverses a loop of unknown length with a number of slots.
///
/// The executor carries out advances as far as the loop goes, and says when it has ended
/// ([`Schedule::ended`]). That the last state was reached is known only then, so the steps behind the last stored state are
/// advanced over once more than by a schedule that knows the end. Apart from that it takes no more than
/// 1.19, 1.12, 1.08, 1.05 and 1.03 times as many evaluations as the best for a known end, with 2, 3, 5, 10 and 20 slots and up
/// to 4,000 steps.
///
/// ```
/// use wengert_schedule::{Limits, Online, check};
///
/// let cost = check(Online::new(10)?, Limits::slots(1000, 10))?;
/// // 4,636 would be the fewest, had the end been known.
/// assert_eq!(cost.evaluations(), 4742);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Online {
    slots: usize,
    /// States and their slots, in order.
    stored: Vec<(u64, usize)>,
    /// The range of the last advance; the live state is at its end.
    last: (u64, u64),
    spare: Spare,
    next: Next,
    cost: Cost,
}

/// What comes next.
#[derive(Clone, Debug)]
enum Next {
    /// Load the last of the stored states.
    Load,
    /// Store the live state in a slot that is free.
    Store(usize),
    /// Drop a stored state, and store the live one in its slot.
    Replace(usize),
    Advance,
    PrimalDone(u64, Resume),
    Reverse(u64, Resume),
}

impl Online {
    /// With so many slots. At least one is needed.
    pub fn new(slots: usize) -> Result<Online, Impossible> {
        if slots == 0 {
            return Err(Impossible::NoSlot);
        }
        Ok(Online {
            slots,
            stored: Vec::new(),
            last: (0, 0),
            spare: Spare::beside(&[0]),
            next: Next::Store(0),
            cost: Cost::default(),
        })
    }

    /// Goes on in the middle of the first sweep, from stored states and their slots: these are numbered below `slots`, and no
    /// state is live.
    pub fn resumed(stored: &[(u64, usize)], slots: usize) -> Result<Online, Impossible> {
        let mut stored = stored.to_vec();
        stored.sort_unstable();
        // Who can be reversed from can be gone on with.
        let end = stored.last().map_or(1, |(step, _)| step.saturating_add(1));
        Resume::new(&stored, slots, end, false)?;
        if stored.len() > slots || stored.iter().any(|(_, slot)| *slot >= slots) {
            return Err(Impossible::NoSlot);
        }
        let at = stored[stored.len() - 1].0;
        let peak_slots = stored.len() as u64;
        let cost = Cost { peak_slots, ..Cost::default() };
        let taken: Vec<usize> = stored.iter().map(|(_, slot)| *slot).collect();
        let spare = Spare::beside(&taken);
        Ok(Online { slots, stored, last: (at, at), spare, next: Next::Load, cost })
    }

    fn store(&mut self, slot: usize) -> Action {
        let step = self.last.1;
        self.stored.push((step, slot));
        self.cost.stores += 1;
        self.cost.peak_slots = self.cost.peak_slots.max(self.stored.len() as u64);
        self.next = Next::Advance;
        Action::Store { step, slot: Slot::Memory(slot) }
    }

    /// Advances to where the next state is to be stored.
    fn advance(&mut self) -> Action {
        let from = self.last.1;
        let (to, next) = if self.stored.len() < self.slots {
            (from.saturating_add(1), Next::Store(self.spare.take()))
        } else {
            match self.replacement() {
                Some((to, victim)) => (to, Next::Replace(victim)),
                None => (u64::MAX, Next::Advance),
            }
        };
        (self.last, self.next) = ((from, to), next);
        self.cost.advances += u128::from(to - from);
        Action::Advance { from, to }
    }

    /// Where it next pays to store a state in place of another, and of which.
    fn replacement(&self) -> Option<(u64, usize)> {
        let top = self.stored.len() - 1;
        if top == 0 {
            return None;
        }
        let last = self.stored[top].0;
        let before = self.stored[top - 1].0;
        let advances = |n: u64, slots: u64| fewest_advances(n, slots).cast_signed();
        let (inner, raise) = self.cheapest().unzip();
        // What is saved by storing the state `x` steps behind the last, should the loop end one step later, in place of an
        // inner state, and in place of the last. Both are convex and not positive at zero, so they stay positive once
        // they are.
        let by_inner = |x: u64| Some(advances(x + 1, 1) - advances(x, 2) - raise?);
        let by_last = |x: u64| {
            advances(x + 1, 1) + advances(last - before, 2) - advances(last + x - before, 2)
        };
        // No loop is longer, and sums fit.
        let most = (u64::MAX / 4).checked_sub(last)?;
        // In a long loop states a few steps apart are hardly worth the work.
        let least = (self.last.1 - last + 1).max(last.isqrt() / SPARSE);
        let x = first(least, most, |x| by_last(x) > 0 || by_inner(x).is_some_and(|y| y > 0))?;
        let victim = if by_inner(x).is_some_and(|y| y >= by_last(x)) { inner? } else { top };
        Some((last + x, victim))
    }

    /// The state between the first and the last whose removal raises the cost of the steps before the last least, and by how
    /// much. States behind it get a slot more, so it may even fall.
    fn cheapest(&self) -> Option<(usize, i128)> {
        let top = self.stored.len() - 1;
        let gap = |from: usize, to: usize, slots: usize| {
            fewest_advances(self.stored[to].0 - self.stored[from].0, slots as u64).cast_signed()
        };
        // What a slot more is worth to all steps behind a state.
        let mut behind = 0;
        let mut best: Option<(usize, i128)> = None;
        for k in (1..top).rev() {
            let slots = self.slots - k;
            let alone = gap(k - 1, k, slots + 1) + gap(k, k + 1, slots);
            let raise = gap(k - 1, k + 1, slots + 1) - alone + behind;
            if best.is_none_or(|(_, least)| raise <= least) {
                best = Some((k, raise));
            }
            behind += gap(k, k + 1, slots + 1) - gap(k, k + 1, slots);
        }
        best
    }
}

/// The first number for which something holds, if it does for all from there on.
fn first(least: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let mut step = 1u64;
    let (mut low, mut high) = (least, least);
    while !holds(high) {
        if high >= most {
            return None;
        }
        low = high + 1;
        high = high.saturating_add(step).min(most);
        step = step.saturating_mul(2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

impl Iterator for Online {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.next {
            Next::Load => {
                self.next = Next::Advance;
                self.cost.loads += 1;
                let (step, slot) = self.stored[self.stored.len() - 1];
                Some(Action::Load { step, slot: Slot::Memory(slot) })
            }
            Next::Store(slot) => {
                let slot = *slot;
                Some(self.store(slot))
            }
            Next::Replace(victim) => {
                let (_, slot) = self.stored.remove(*victim);
                self.next = Next::Store(slot);
                Some(Action::Free { slot: Slot::Memory(slot) })
            }
            Next::Advance => Some(self.advance()),
            Next::PrimalDone(n, resume) => {
                self.next = Next::Reverse(*n, resume.clone());
                Some(Action::PrimalDone)
            }
            Next::Reverse(_, resume) => resume.next(),
        }
    }
}

impl Schedule for Online {
    fn steps(&self) -> Option<u64> {
        match self.next {
            Next::PrimalDone(n, _) | Next::Reverse(n, _) => Some(n),
            _ => None,
        }
    }

    fn ended(&mut self, n: u64) -> Result<(), Impossible> {
        if self.steps().is_some() || n < self.last.0 || n > self.last.1 {
            return Err(Impossible::OtherLength);
        }
        let resume = Resume::new(&self.stored, self.slots, n, true)?;
        let back = resume.cost();
        // The last advance was cut short.
        self.cost.advances -= u128::from(self.last.1 - n);
        self.cost.advances += back.advances;
        self.cost.records += back.records;
        self.cost.stores += back.stores;
        self.cost.loads += back.loads;
        self.cost.peak_slots = self.cost.peak_slots.max(back.peak_slots);
        self.cost.peak_tapes = back.peak_tapes;
        self.next = Next::PrimalDone(n, resume);
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}
