//! The binomial schedule: numbers that are known, optimality, and loops too long to be run.

mod common;

use common::search::Search;
use wengert_schedule::*;

/// Steps, slots, evaluations.
const KNOWN: [(u64, usize, u128); 7] = [
    (10, 3, 25),
    (100, 5, 416),
    (1000, 10, 4636),
    (10_000, 20, 47_976),
    (1_000_000, 100, 4_817_896),
    (1_000_000_000, 100, 6_898_659_124),
    (1_000_000_000_000, 100, 9_620_091_152_461),
];

#[test]
fn known_numbers() {
    for (n, s, evaluations) in KNOWN {
        let cost = Binomial::new(n, s).unwrap().cost();
        assert_eq!(cost.evaluations(), evaluations, "{n} steps, {s} slots");
        assert_eq!((cost.loads, cost.peak_slots), (u128::from(n) - 1, s as u64));
    }
}

#[test]
fn no_way_is_cheaper() {
    for n in 1..=10 {
        for s in 1..=5 {
            let best = Search::new(n, s).fewest_advances(Some(0), 0);
            assert_eq!(fewest_advances(n, s as u64), u128::from(best), "{n} steps, {s} slots");
        }
    }
}

/// The recurrence behind the closed form, of which everything up to here is a solution.
#[test]
fn the_recurrence_up_to_2000_steps_and_64_slots() {
    let (most, slots) = (2000usize, 64u64);
    let mut fewer: Vec<u32> = (0..=most as u32).map(|n| n * n.saturating_sub(1) / 2).collect();
    for s in 2..=slots {
        let mut table = vec![0u32; most + 1];
        for n in 2..=most {
            let split = |j: usize| j as u32 + fewer[n - j] + table[j];
            // What is best moves on by at most a step with every step.
            let best = (1..n).map(split).min();
            table[n] = best.unwrap();
            assert_eq!(fewest_advances(n as u64, s), u128::from(table[n]), "{n} steps, {s} slots");
        }
        fewer = table;
    }
}

#[test]
fn more_steps_than_can_be_run() {
    for (n, s, actions) in
        [(1_000_000_000_000, 100, 1_000_000), (u64::MAX, 3, 100_000), (u64::MAX, 1 << 20, 100_000)]
    {
        let schedule = Binomial::new(n, s).unwrap();
        let told = schedule.cost();
        let mut checker = Checker::new(Limits::slots(n, s));
        for action in schedule.take(actions) {
            checker.act(action).unwrap_or_else(|e| panic!("{n} steps, {s} slots: {e}"));
        }
        let cost = checker.cost();
        assert!(cost.advances < told.advances && cost.stores < told.stores);
        assert!(cost.peak_slots <= told.peak_slots);
    }
}

#[test]
fn others_with_more_steps_than_can_be_run() {
    let n = 1_000_000_000_000;
    let times = Times { disk_store: 1000, disk_load: 1000, ..Times::EVALUATIONS };
    let two = TwoLevel::new(n, 50, 1000, &times).unwrap();
    let in_bytes = InBytes::new(n, 24, 8, 1 << 30, &times).unwrap();
    let best = Binomial::new(n, 50).unwrap().cost();
    assert!(two.cost().time(&times) < best.time(&times));
    println!("two levels {:?}\nmemory {:?}\nin bytes {:?}", two.cost(), best, in_bytes.cost());
    let mut checker = Checker::new(Limits { disk_slots: 1000, ..Limits::slots(n, 50) });
    two.take(100_000).for_each(|action| checker.act(action).unwrap());
    let mut checker = Checker::new(Limits::bytes(n, 24, 8, 1 << 30));
    in_bytes.take(100_000).for_each(|action| checker.act(action).unwrap());
}

#[test]
fn a_long_loop_of_unknown_length() {
    let (n, slots) = (5_000_000, 50);
    let mut online = Online::new(slots).unwrap();
    let mut checker = Checker::new(Limits::slots(n, slots));
    let mut stores = 0;
    // The sweep, and the beginning of the way back.
    while checker.adjoint() > n - 1000 {
        match online.next().unwrap() {
            Action::Advance { from, to } if online.steps().is_none() && to > n => {
                checker.act(Action::Advance { from, to: n }).unwrap();
                online.ended(n).unwrap();
                stores = checker.cost().stores;
            }
            action => checker.act(action).unwrap(),
        }
    }
    let best = Binomial::new(n, slots).unwrap().cost();
    let ratio = online.cost().evaluations() as f64 / best.evaluations() as f64;
    println!("{ratio} of the evaluations for a known end; {stores} stores in the first sweep");
    assert!(ratio < 1.03 && stores < 40_000, "{ratio}, {stores}");
}
