//! Reversing from arbitrary stored states, against all ways there are.

mod common;

use common::search::Search;
use common::{Random, count, seed};
use std::collections::HashMap;
use wengert_schedule::*;

fn stored(mask: u32) -> Vec<(u64, usize)> {
    (0..32).filter(|k| mask >> k & 1 == 1).enumerate().map(|(slot, k)| (k, slot)).collect()
}

fn run(schedule: Resume, stored: &[(u64, usize)], slots: usize, steps: u64) -> Cost {
    let told = schedule.cost();
    let held: Vec<(u64, Slot)> = stored.iter().map(|(k, s)| (*k, Slot::Memory(*s))).collect();
    let checker = Checker::resumed(Limits::slots(steps, slots), &held, true);
    let what = format!("{stored:?}, {slots} slots, {steps} steps");
    let cost = check_from(schedule, checker).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(cost, told, "{what}");
    cost
}

#[test]
fn no_way_is_cheaper() {
    for n in 1..=9u64 {
        for slots in 1..=4usize {
            let search = Search::new(n, slots);
            for mask in (1..1u32 << n).step_by(2) {
                let stored = stored(mask);
                let schedule = Resume::new(&stored, slots, n, true).unwrap();
                let cost = run(schedule, &stored, slots, n);
                let best = search.fewest_advances(None, mask);
                assert_eq!(cost.advances, u128::from(best), "{stored:?}, {slots} slots, {n} steps");
            }
        }
    }
}

#[test]
fn no_way_is_cheaper_for_random_states() {
    let mut random = Random(seed());
    for (n, slots) in [(13, 2), (13, 3), (12, 5)] {
        let search = Search::new(n, slots);
        for _ in 0..count(200) {
            let mask = ((random.bits() & random.bits()) as u32 % (1 << n)) | 1;
            let stored = stored(mask);
            let schedule = Resume::new(&stored, slots, n, true).unwrap();
            let cost = run(schedule, &stored, slots, n);
            let best = search.fewest_advances(None, mask);
            assert_eq!(cost.advances, u128::from(best), "{stored:?}, {slots} slots, {n} steps");
        }
    }
}

/// The three things that can be done with the last stored state, tried in all orders.
struct Rule {
    slots: usize,
    known: HashMap<(Vec<u64>, u64), u128>,
}

impl Rule {
    fn least(&mut self, stored: &[u64], end: u64) -> u128 {
        let Some((last, below)) = stored.split_last() else { return 0 };
        if let Some(least) = self.known.get(&(stored.to_vec(), end)) {
            return *least;
        }
        let free = (self.slots - below.len()) as u64;
        let mut least = fewest_advances(end - last, free) + self.least(below, *last);
        for k in 1..stored.len() {
            let mut without = stored.to_vec();
            without.remove(k);
            least = least.min(self.least(&without, end));
        }
        if !below.is_empty() {
            for to in last + 1..end {
                let moved = u128::from(to - last) + fewest_advances(end - to, free);
                least = least.min(moved + self.least(below, to));
            }
        }
        self.known.insert((stored.to_vec(), end), least);
        least
    }
}

#[test]
fn the_rule_for_longer_loops() {
    let mut random = Random(seed());
    for _ in 0..count(100) {
        let n = 20 + random.below(100);
        let slots = 3 + random.below(4) as usize;
        let mut steps: Vec<u64> = (1..slots).map(|_| 1 + random.scaled(n - 2)).chain([0]).collect();
        steps.sort_unstable();
        steps.dedup();
        let stored: Vec<(u64, usize)> = steps.iter().copied().zip(0..).collect();
        let cost = run(Resume::new(&stored, slots, n, true).unwrap(), &stored, slots, n);
        let least = Rule { slots, known: HashMap::new() }.least(&steps, n);
        assert_eq!(cost.advances, least, "{stored:?}, {slots} slots, {n} steps");
    }
}

#[test]
fn very_many_stored_states() {
    let mut random = Random(seed());
    for (count, slots, n) in [(30, 30, 2000), (300, 300, 5000), (300, 20, 1000), (5000, 4000, 9000)]
    {
        let mut steps: Vec<u64> = (1..count).map(|_| 1 + random.below(n - 1)).chain([0]).collect();
        steps.sort_unstable();
        steps.dedup();
        let stored: Vec<(u64, usize)> = steps.iter().rev().copied().zip(10..).collect();
        let schedule = Resume::new(&stored, slots, n, true).unwrap();
        let cost = run(schedule, &stored, slots, n);
        // Starting again from the first state is worse.
        assert!(cost.advances <= fewest_advances(n, slots as u64), "{count}, {slots}, {n}");
    }
}

#[test]
fn a_sweep_goes_on() {
    let mut random = Random(seed());
    for _ in 0..count(100) {
        let slots = 1 + random.below(8) as usize;
        let n = random.scaled(500);
        let mut checker = Checker::new(Limits::slots(n.max(1000), slots));
        let mut before = Online::new(slots).unwrap();
        for _ in 0..1 + random.below(60) {
            let action = before.next().unwrap();
            if matches!(action, Action::Advance { to, .. } if to > n) {
                break;
            }
            checker.act(action).unwrap();
        }
        let held = checker.stored();
        let stored: Vec<(u64, usize)> = held
            .iter()
            .map(|(step, slot)| match slot {
                Slot::Memory(k) | Slot::Disk(k) => (*step, *k),
            })
            .collect();
        let what = format!("{slots} slots, {n} steps: {stored:?}");
        if stored.is_empty() {
            continue;
        }
        let resumed = Online::resumed(&stored, slots).unwrap_or_else(|e| panic!("{what}: {e}"));
        let at = Checker::resumed(Limits::slots(n, slots), &held, false);
        let cost = check_from(resumed, at).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(cost.records, u128::from(n), "{what}");
    }
}
