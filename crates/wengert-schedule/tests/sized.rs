//! States and tapes in a number of bytes: against all ways there are, a recurrence, and its end points.

mod common;

use common::search::{Room, least_time};
use common::{Random, count, holds, seed};
use std::collections::HashMap;
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

/// Evaluations where the first state is held beside the bytes counted: several tapes as well as states, by the simplest
/// recurrence there is. It does not free a state before the steps behind it are reversed.
fn simplest(
    n: u64,
    [state, tape]: [u64; 2],
    bytes: u64,
    known: &mut HashMap<(u64, u64), u64>,
) -> u64 {
    if n == 0 {
        return 0;
    }
    if let Some(best) = known.get(&(n, bytes)) {
        return *best;
    }
    let sizes = [state, tape];
    let mut best = u64::MAX;
    if let Some(left) = bytes.checked_sub(tape) {
        best = simplest(n - 1, sizes, left, known).saturating_add(1);
    }
    if let Some(left) = bytes.checked_sub(state) {
        for i in 1..n {
            let behind = simplest(n - i, sizes, left, known);
            let before = simplest(i, sizes, bytes, known);
            best = best.min(behind.saturating_add(before).saturating_add(i));
        }
    }
    known.insert((n, bytes), best);
    best
}

#[test]
fn no_worse_than_the_simplest_recurrence() {
    let (mut equal, mut cases) = (0, 0);
    for [state, tape] in [[1, 1], [2, 1], [5, 1], [1, 3], [7, 3], [10, 1]] {
        let mut known = HashMap::new();
        for n in 2..=40 {
            for bytes in (tape..=60).step_by(4) {
                let simplest = simplest(n, [state, tape], bytes, &mut known);
                if simplest == u64::MAX {
                    continue;
                }
                let cost = run(n, [state, tape, bytes + state], &Times::EVALUATIONS);
                assert!(cost.evaluations() <= u128::from(simplest));
                cases += 1;
                equal += u32::from(cost.evaluations() == u128::from(simplest));
            }
        }
    }
    println!("{equal} of {cases} are equal");
    assert!(equal * 10 > cases * 3);
}

#[test]
fn end_points() {
    for n in [1, 2, 7, 100, 3000] {
        // All tapes fit, to the byte.
        let cost = run(n, [100, 3, 3 * n], &Times::EVALUATIONS);
        assert_eq!((cost.advances, cost.stores, cost.peak_bytes), (0, 0, 3 * u128::from(n)));
        // A tape as large as a state, and room for one beside the states: no state is worth giving up.
        for s in 1..=6 {
            let cost = run(n, [10, 1000, 1000 + 10 * s + 9], &Times::EVALUATIONS);
            assert_eq!(cost.advances, if n == 1 { 0 } else { fewest_advances(n, s) }, "{n}, {s}");
        }
    }
    // Without states to speak of everything but the tapes that fit is evaluated twice.
    let cost = run(100, [0, 1, 10], &Times::EVALUATIONS);
    assert_eq!(cost.evaluations(), 190);
}

/// Long loops in groups: as good as the same loop in a hundredth of the steps, each a hundred times as large.
#[test]
fn groups_lose_little() {
    for (n, state, tape, bytes) in
        [(200, 4000, 1000, 60_000), (200, 1000, 1000, 20_000), (150, 5000, 200, 20_000)]
    {
        let exact = InBytes::new(n, state, tape, bytes, &Times::EVALUATIONS).unwrap();
        assert_eq!(exact.group(), 1);
        let sizes = [state, tape / 100, bytes];
        let group = InBytes::new(n * 100, sizes[0], sizes[1], sizes[2], &Times::EVALUATIONS)
            .unwrap()
            .group();
        assert!(group > 1);
        let coarse = exact.cost().evaluations() as f64 / n as f64;
        let fine = run(n * 100, sizes, &Times::EVALUATIONS).evaluations() as f64 / (n * 100) as f64;
        println!("{coarse:.4} evaluations per step, in groups of {group} steps {fine:.4}");
        assert!(fine < coarse * 1.01, "{fine}, {coarse}");
    }
}

/// Without tables there are groups at binomial distances: legal, as costly as they say, and not much worse.
#[test]
fn without_tables() {
    let mut random = Random(seed());
    let none = Effort { sums: 0, bytes: 0, begin: 0 };
    let (mut grouped, mut worst) = (0, 0.0f64);
    for _ in 0..count(300) {
        let n = 2 + random.below(2000);
        let (state, tape) = (1 + random.below(100), 1 + random.below(40));
        let bytes = state + tape + random.below(n * tape);
        let begin = random.below(2) * random.below(1000);
        let what = format!(
            "{n} steps, states of {state}, tapes of {tape} bytes in {bytes}, begin {begin}"
        );
        let effort = Effort { begin, ..none };
        let sizes = [state, tape, bytes];
        let schedule = InBytes::with_effort(n, sizes, &Times::EVALUATIONS, effort).unwrap();
        grouped += u64::from(schedule.group() > 1 && schedule.cost().advances > 0);
        let limits = Limits::bytes(n, state, tape, u128::from(bytes));
        let said = schedule.cost();
        let cost = check(schedule, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!((cost.peak_bytes..=cost.peak_bytes + u128::from(state)).contains(&said.peak_bytes));
        assert_eq!(Cost { peak_bytes: cost.peak_bytes, ..said }, cost, "{what}");
        if begin == 0 && n < 300 {
            let best = run(n, sizes, &Times::EVALUATIONS).evaluations() as f64;
            worst = worst.max(cost.evaluations() as f64 / best);
        }
    }
    println!("{worst} times the fewest");
    assert!(grouped > 0 && worst < 1.5, "{grouped} {worst}");
}
