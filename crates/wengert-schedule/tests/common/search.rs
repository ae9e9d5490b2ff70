//! All legal schedules of a short loop, looked at: what the cheapest of them costs.
//!
//! A situation is which state is live, which states are stored and how far the adjoint has come. Costs are computed
//! backwards from the end, by growing number of steps left to be reversed: reversing is the only thing that cannot be undone.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use wengert_schedule::Times;

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

/// What schedules may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) n: u32,
    pub(crate) state: u64,
    pub(crate) tape: u64,
    pub(crate) bytes: u64,
    /// How many steps may have their tapes held.
    pub(crate) tapes: u32,
    pub(crate) disk_slots: u32,
}

/// Which state is live, which are stored in memory and on disk, which steps are recorded, how far the adjoint has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Situation {
    live: u32,
    stored: u32,
    disk: u32,
    tapes: u32,
    adjoint: u32,
}

/// The least time that reverses a loop from its first state, of all schedules within limits.
pub(crate) fn least_time(room: &Room, times: &Times) -> Option<u64> {
    let first = Situation { live: 0, stored: 0, disk: 0, tapes: 0, adjoint: room.n };
    let mut best = HashMap::from([(first, 0)]);
    let mut heap = BinaryHeap::from([(Reverse(0), first)]);
    while let Some((Reverse(time), now)) = heap.pop() {
        if now.adjoint == 0 {
            return Some(time);
        }
        if best[&now] < time {
            continue;
        }
        let mut reach = |next: Situation, takes: u64| {
            let held = u64::from(next.stored.count_ones()) * room.state
                + u64::from(next.tapes.count_ones()) * room.tape;
            let fits = held <= room.bytes
                && next.tapes.count_ones() <= room.tapes
                && next.disk.count_ones() <= room.disk_slots;
            let known = best.entry(next).or_insert(u64::MAX);
            if fits && time + takes < *known {
                *known = time + takes;
                heap.push((Reverse(time + takes), next));
            }
        };
        let last = 1 << (now.adjoint - 1);
        if now.tapes & last != 0 {
            reach(Situation { adjoint: now.adjoint - 1, tapes: now.tapes & !last, ..now }, 0);
        }
        // Steps that are reversed are of no use any more.
        if now.live < now.adjoint {
            let here = 1 << now.live;
            let on = Situation { live: now.live + 1, ..now };
            reach(on, times.advance);
            if now.tapes & here == 0 {
                let takes = times.record + times.reverse;
                reach(Situation { tapes: now.tapes | here, ..on }, takes);
            }
            if now.stored & here == 0 {
                reach(Situation { stored: now.stored | here, ..now }, times.store);
            }
            if now.disk & here == 0 {
                reach(Situation { disk: now.disk | here, ..now }, times.disk_store);
            }
        }
        for k in 0..room.n {
            let here = 1 << k;
            if now.stored & here != 0 {
                reach(Situation { live: k, ..now }, times.load);
                reach(Situation { stored: now.stored & !here, ..now }, 0);
            }
            if now.disk & here != 0 {
                reach(Situation { live: k, ..now }, times.disk_load);
                reach(Situation { disk: now.disk & !here, ..now }, 0);
            }
        }
    }
    None
}
