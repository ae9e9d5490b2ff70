//! All legal schedules of a short loop, looked at: what the cheapest of them costs.
//!
//! A situation is which state is live, which states are stored and how far the adjoint has come. Costs are computed
//! backwards from the end, by growing number of steps left to be reversed: reversing is the only thing that cannot be undone.

use std::collections::BinaryHeap;
use std::cmp::Reverse;

/// Advances needed from every situation, with a number of slots and one tape.
pub(crate) struct Search {
    n: u64,
    slots: usize,
    /// By adjoint, stored states as bits and live state; the last of them is none.
    costs: Vec<Vec<u32>>,
}

impl Search {
    pub(crate) fn new(n: u64, slots: usize) -> Search {
        let masks = 1usize << n;
        let states = n as usize + 1;
        let mut search = Search { n, slots, costs: vec![vec![0; masks * states]] };
        for adjoint in 1..=n {
            let mut costs = vec![u32::MAX; masks * states];
            let mut heap = BinaryHeap::new();
            // With the state before the adjoint live, the step can be recorded and reversed.
            for mask in (0..masks).filter(|mask| mask.count_ones() as usize <= slots) {
                let next = search.costs[adjoint as usize - 1][mask * states + n as usize];
                if next < u32::MAX {
                    let at = mask * states + adjoint as usize - 1;
                    costs[at] = next;
                    heap.push((Reverse(next), at));
                }
            }
            // Backwards: from which situations does one get here, and at what cost?
            while let Some((Reverse(cost), at)) = heap.pop() {
                if cost > costs[at] {
                    continue;
                }
                let (mask, live) = (at / states, at % states);
                let mut reach = |mask: usize, live: usize, cost: u32| {
                    let at = mask * states + live;
                    if cost < costs[at] {
                        costs[at] = cost;
                        heap.push((Reverse(cost), at));
                    }
                };
                for k in 0..n as usize {
                    if mask >> k & 1 == 0 && (mask.count_ones() as usize) < slots {
                        // One more was stored, and freed.
                        reach(mask | 1 << k, live, cost);
                    }
                }
                if live == n as usize {
                    continue;
                }
                if live > 0 {
                    reach(mask, live - 1, cost + 1);
                }
                if mask >> live & 1 == 1 {
                    // It was just stored, or just loaded.
                    reach(mask & !(1 << live), live, cost);
                    (0..states).for_each(|before| reach(mask, before, cost));
                }
            }
            search.costs.push(costs);
        }
        search
    }

    /// From these stored states and this live one, if any, to the end. Where more states are stored than there are slots,
    /// some are dropped first.
    pub(crate) fn fewest_advances(&self, live: Option<u64>, stored: u32) -> u32 {
        if stored.count_ones() as usize > self.slots {
            let without = (0..32).filter(|k| stored >> k & 1 == 1).map(|k| stored & !(1 << k));
            return without.map(|rest| self.fewest_advances(live, rest)).min().unwrap_or(u32::MAX);
        }
        let live = live.unwrap_or(self.n);
        self.costs[self.n as usize][stored as usize * (self.n as usize + 1) + live as usize]
    }
}
