//! Reversing from arbitrary stored states, against all ways there are.

mod common;

use common::search::Search;
use common::{Random, count, seed};
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
            let mask = (random.bits() & random.bits()) as u32 % (1 << n) | 1;
            let stored = stored(mask);
            let schedule = Resume::new(&stored, slots, n, true).unwrap();
            let cost = run(schedule, &stored, slots, n);
            let best = search.fewest_advances(None, mask);
            assert_eq!(cost.advances, u128::from(best), "{stored:?}, {slots} slots, {n} steps");
        }
    }
}
