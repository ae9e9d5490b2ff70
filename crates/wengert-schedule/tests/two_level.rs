//! Memory and disk: against all ways there are, and where the one or the other is all there is.

mod common;

use common::search::{Room, least_time};
use common::{Random, count, holds, seed};
use wengert_schedule::*;

#[track_caller]
fn run(n: u64, slots: usize, disk_slots: usize, times: &Times) -> Cost {
    let what = format!("{n} steps, {slots} slots, {disk_slots} on disk, {times:?}");
    let schedule = TwoLevel::new(n, slots, disk_slots, times).unwrap();
    holds(schedule, Limits { disk_slots, ..Limits::slots(n, slots) }, &what)
}

#[test]
fn no_way_is_faster() {
    let mut random = Random(seed());
    for _ in 0..count(60).min(1000) {
        let n = 2 + random.below(5);
        let (slots, disk_slots) = (1 + random.below(3), random.below(4));
        let (disk_store, disk_load) = (random.below(4), random.below(4));
        let times = Times {
            advance: 1 + random.below(3),
            record: 1,
            disk_store,
            disk_load,
            ..Times::default()
        };
        let cost = run(n, slots as usize, disk_slots as usize, &times);
        let room = Room {
            n: n as u32,
            state: 1,
            tape: 0,
            bytes: slots,
            tapes: 1,
            disk_slots: disk_slots as u32,
        };
        let best = least_time(&room, &times).map(u128::from);
        assert_eq!(Some(cost.time(&times)), best, "{room:?}, {times:?}");
    }
}

#[test]
fn end_points() {
    let slow = Times { disk_store: 1_000_000, disk_load: 1_000_000, ..Times::EVALUATIONS };
    let fast = Times::EVALUATIONS;
    for n in [1, 2, 10, 300] {
        for s in 1..=4 {
            let memory = fewest_advances(n, s as u64);
            assert_eq!(run(n, s, 0, &fast).advances, memory);
            assert_eq!(run(n, s, 50, &slow).advances, memory);
            // A disk as fast as memory is memory, but for a copy of the first state in each.
            let cost = run(n, s, 7, &fast);
            assert!(cost.advances <= memory && cost.advances >= fewest_advances(n, s as u64 + 7));
            // All states on disk.
            assert_eq!(run(n, s, 1000, &fast).advances, u128::from(n) - 1);
        }
    }
}

/// Long loops are cut at multiples of a number of steps; no slot on disk makes it slower.
#[test]
fn long_loops() {
    let times = Times { disk_store: 20, disk_load: 10, ..Times::EVALUATIONS };
    let n = 30_000;
    let mut before = u128::MAX;
    for disk_slots in [0, 1, 2, 5, 10, 20] {
        let time = run(n, 5, disk_slots, &times).time(&times);
        let bound = fewest_advances(n, 5 + disk_slots as u64) + u128::from(n);
        assert!(time <= before && time >= bound, "{disk_slots} slots on disk: {time}, {before}");
        before = time;
    }
}
