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
