//! States and tapes in a number of bytes: against all ways there are, a recurrence, and its end points.

mod common;

use common::search::{Room, least_time};
use common::{Random, count, holds, seed};
use wengert_schedule::*;

#[track_caller]
fn run(n: u64, [state, tape, bytes]: [u64; 3], times: &Times) -> Cost {
    let what = format!("{n} steps, states of {state}, tapes of {tape} bytes in {bytes}, {times:?}");
    let schedule =
        InBytes::new(n, state, tape, bytes, times).unwrap_or_else(|e| panic!("{what}: {e}"));
    holds(schedule, Limits::bytes(n, state, tape, u128::from(bytes)), &what)
}

#[test]
fn no_way_is_faster() {
    let mut random = Random(seed());
    let mut possible = 0;
    for k in 0..count(120) {
        let n = 2 + random.below(5);
        let (state, tape) = (1 + random.below(6), 1 + random.below(6));
        let bytes = random.below((n + 1) * state.max(tape));
        let mut some = |most| random.below(most);
        let times = match k % 3 {
            0 => Times::EVALUATIONS,
            1 => Times {
                advance: 1 + some(9),
                record: some(9),
                reverse: some(9),
                ..Times::default()
            },
            _ => Times {
                advance: 1 + some(9),
                record: some(9),
                store: some(5),
                load: some(5),
                ..Times::default()
            },
        };
        let room = Room { n: n as u32, state, tape, bytes, tapes: 32, disk_slots: 0 };
        let what = format!("{room:?}, {times:?}");
        let best = least_time(&room, &times);
        match InBytes::new(n, state, tape, bytes, &times) {
            Ok(schedule) => {
                possible += 1;
                let limits = Limits::bytes(n, state, tape, u128::from(bytes));
                let cost = holds(schedule, limits, &what);
                assert_eq!(Some(cost.time(&times)), best.map(u128::from), "{what}");
            }
            Err(why) => {
                assert_eq!(best, None, "{what}: {why}");
                let Impossible::TooFewBytes { needed } = why else { panic!("{what}: {why}") };
                let needed = needed as u64;
                assert!(InBytes::new(n, state, tape, needed, &times).is_ok(), "{what}: {why}");
                assert!(InBytes::new(n, state, tape, needed - 1, &times).is_err(), "{what}: {why}");
            }
        }
    }
    assert!(possible > 20, "{possible}");
}
