//! The engine: reverses a range of steps from states that are stored.
//!
//! It holds a stack of stored states, the last one on top, and the state up to which steps are still to be reversed. The steps
//! behind the topmost state are split by the binomial rule ([`counts`](crate::counts)): advance to the split, store it, and the
//! steps behind that come first. When they are reversed, the state below is loaded again. A stored state may be wanted
//! further on than it is ([`resume`](crate::resume)): it is moved there when its turn comes.
//!
//! Offline, online and resumed schedules all end up here.

use crate::action::{Action, Slot};
use crate::cost::Cost;
use crate::counts::{fewest_advances, split, tally};
use std::collections::VecDeque;

/// A stored state, and where it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) step: u64,
    pub(crate) slot: Slot,
    /// At least `step`: where this state is moved to before steps behind it are reversed.
    pub(crate) wanted: u64,
}

/// Slots that hold nothing: those given back, and all from a number on but for those taken.
#[derive(Clone, Debug)]
pub(crate) struct Spare {
    back: Vec<usize>,
    next: usize,
    /// In falling order.
    taken: Vec<usize>,
}

impl Spare {
    /// All but these.
    pub(crate) fn beside(taken: &[usize]) -> Spare {
        let mut taken = taken.to_vec();
        taken.sort_unstable_by(|a, b| b.cmp(a));
        Spare { back: Vec::new(), next: 0, taken }
    }

    /// The one given back last, or the lowest.
    pub(crate) fn take(&mut self) -> usize {
        if let Some(slot) = self.back.pop() {
            return slot;
        }
        while self.taken.last() == Some(&self.next) {
            self.taken.pop();
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn give(&mut self, slot: usize) {
        self.back.push(slot);
    }
}

/// Reverses steps, one action after another.
#[derive(Clone, Debug)]
pub(crate) struct Reversal {
    /// Stored states, in order; the steps behind the last come first.
    places: Vec<Place>,
    /// How many states may be stored at one time.
    slots: u64,
    spare: Spare,
    /// Steps from here on are reversed.
    end: u64,
    live: Option<u64>,
    primal_done: bool,
    waiting: VecDeque<Action>,
}

impl Reversal {
    /// Reverses the steps from the first place up to `end`. Places are in order, at most `slots` of them, wanted before `end`
    /// and before the next one is.
    pub(crate) fn new(
        places: Vec<Place>,
        slots: u64,
        spare: Spare,
        end: u64,
        live: Option<u64>,
        primal_done: bool,
    ) -> Reversal {
        Reversal { places, slots, spare, end, live, primal_done, waiting: VecDeque::new() }
    }

    /// Reverses a range of steps from its first state, which is live and not stored, with nothing else in memory.
    pub(crate) fn from_live(from: u64, to: u64, slots: u64, primal_done: bool) -> Reversal {
        let slot = Slot::Memory(0);
        let place = Place { step: from, slot, wanted: from };
        let (places, store) = if to - from > 1 { (vec![place], true) } else { (Vec::new(), false) };
        let spare = Spare::beside(&[0]);
        let mut reversal = Reversal::new(places, slots, spare, to, Some(from), primal_done);
        if store {
            reversal.first(Action::Store { step: from, slot });
        } else if from < to {
            reversal.record(from);
        } else if !primal_done {
            reversal.first(Action::PrimalDone);
        }
        reversal
    }

    /// What [`Reversal::from_live`] costs.
    pub(crate) fn cost_from_live(n: u64, slots: u64) -> Cost {
        match n {
            0 => Cost::default(),
            1 => Cost { records: 1, peak_tapes: 1, ..Cost::default() },
            _ => {
                let cost = Reversal::from_live(0, n, slots, false).cost();
                Cost { stores: cost.stores + 1, ..cost }
            }
        }
    }

    /// Puts an action before all others.
    pub(crate) fn first(&mut self, action: Action) {
        self.waiting.push_back(action);
    }

    /// What it costs from the beginning, when nothing has been done yet.
    pub(crate) fn cost(&self) -> Cost {
        let mut cost = Cost::default();
        let mut live = self.live;
        for (k, place) in self.places.iter().enumerate().rev() {
            let above = self.places.get(k + 1).map_or(self.end, |next| next.wanted);
            let (n, slots) = (above - place.wanted, self.slots - k as u64);
            let load = u128::from(live != Some(place.step));
            match place.slot {
                Slot::Memory(_) => cost.loads += load,
                Slot::Disk(_) => cost.disk_loads += load,
            }
            live = None;
            cost.advances += u128::from(place.wanted - place.step) + fewest_advances(n, slots);
            cost.records += u128::from(n);
            // Every split loads the state before it again.
            cost.loads += u128::from(n - 1);
            cost.stores += u128::from(place.wanted > place.step && n > 1);
            let tally = tally(n, slots);
            cost.stores += tally.stores;
            cost.peak_slots = cost.peak_slots.max(k as u64 + tally.peak);
        }
        cost.peak_tapes = u64::from(!self.places.is_empty());
        cost
    }

    /// Finds out what to do next.
    fn go_on(&mut self) {
        let Some(top) = self.places.last().copied() else { return };
        let mut held = true;
        if self.live != Some(top.step) {
            self.waiting.push_back(Action::Load { step: top.step, slot: top.slot });
        }
        if top.wanted > top.step {
            self.waiting.push_back(Action::Free { slot: top.slot });
            self.advance(top.step, top.wanted);
            held = self.end - top.wanted > 1;
            if held {
                self.waiting.push_back(Action::Store { step: top.wanted, slot: top.slot });
                self.places.last_mut().expect("there is one").step = top.wanted;
            }
        }
        let n = self.end - top.wanted;
        if n == 1 {
            if held {
                self.waiting.push_back(Action::Free { slot: top.slot });
            }
            self.places.pop();
            if let Slot::Memory(k) = top.slot {
                self.spare.give(k);
            }
            return self.record(top.wanted);
        }
        let slots = self.slots - (self.places.len() as u64 - 1);
        let at = top.wanted + split(n, slots);
        self.advance(top.wanted, at);
        if self.end - at == 1 {
            return self.record(at);
        }
        let slot = Slot::Memory(self.spare.take());
        self.waiting.push_back(Action::Store { step: at, slot });
        self.places.push(Place { step: at, slot, wanted: at });
    }

    fn advance(&mut self, from: u64, to: u64) {
        self.waiting.push_back(Action::Advance { from, to });
        self.live = Some(to);
    }

    fn record(&mut self, step: u64) {
        self.waiting.push_back(Action::Record { from: step, to: step + 1 });
        if !self.primal_done {
            self.waiting.push_back(Action::PrimalDone);
            self.primal_done = true;
        }
        self.waiting.push_back(Action::Reverse { from: step, to: step + 1 });
        self.live = None;
        self.end = step;
    }
}

impl Iterator for Reversal {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        if self.waiting.is_empty() {
            self.go_on();
        }
        self.waiting.pop_front()
    }
}
