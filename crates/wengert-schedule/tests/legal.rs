//! Every schedule can be carried out, within its limits, at the cost it tells beforehand; and the check notices what cannot.

mod common;

use common::{Random, count, holds, seed};
use wengert_schedule::*;

const TIMES: Times =
    Times { advance: 3, record: 5, reverse: 8, store: 1, load: 2, disk_store: 9, disk_load: 4 };

#[test]
fn short_loops() {
    for n in 0..=60 {
        let one = Limits::slots(n, 1);
        holds(StoreAll::new(n), Limits { slots: 0, tapes: n, ..one }, &format!("{n}, all"));
        let cost = holds(RecomputeAll::new(n), one, &format!("{n}, none"));
        assert_eq!(cost.advances, fewest_advances(n, 1));
        for s in 1..=8 {
            let what = format!("{n} steps, {s} slots");
            let limits = Limits::slots(n, s);
            let uniform = Uniform::new(n, s).unwrap();
            assert!(most_evaluations(uniform.clone()) <= 2, "{what}");
            holds(uniform.clone(), Limits { tapes: uniform.length(), ..limits }, &what);
            let binomial = Binomial::new(n, s).unwrap();
            assert_eq!(binomial.most_evaluations(), most_evaluations(binomial.clone()), "{what}");
            let cost = holds(binomial, limits, &what);
            assert_eq!(cost.advances, fewest_advances(n, s as u64), "{what}");
            check(Online::new(s).unwrap(), limits).unwrap_or_else(|e| panic!("{what}: {e}"));
            for (state, tape, bytes) in [(3, 2, 2 + 3 * s as u64), (1, 5, 5 + s as u64)] {
                let limits = Limits::bytes(n, state, tape, bytes.into());
                holds(InBytes::new(n, state, tape, bytes, &TIMES).unwrap(), limits, &what);
            }
            for disk_slots in [0, 1, 4, 100] {
                let two = TwoLevel::new(n, s, disk_slots, &TIMES).unwrap();
                holds(two, Limits { disk_slots, ..limits }, &what);
            }
        }
    }
}

#[test]
fn random_longer_loops() {
    let mut random = Random(seed());
    for _ in 0..count(60) {
        let n = random.scaled(20_000);
        let s = 1 + random.scaled(200) as usize;
        // With few slots there are too many actions.
        let n = if s < 3 { n.min(500) } else { n };
        let what = format!("{n} steps, {s} slots");
        let limits = Limits::slots(n, s);
        let uniform = Uniform::new(n, s).unwrap();
        holds(uniform.clone(), Limits { tapes: uniform.length(), ..limits }, &what);
        let cost = holds(Binomial::new(n, s).unwrap(), limits, &what);
        assert_eq!(cost.advances, fewest_advances(n, s as u64), "{what}");
        check(Online::new(s).unwrap(), limits).unwrap_or_else(|e| panic!("{what}: {e}"));
        let disk_slots = random.scaled(300) as usize;
        let two = TwoLevel::new(n, s, disk_slots, &TIMES).unwrap();
        holds(two, Limits { disk_slots, ..limits }, &format!("{what}, {disk_slots} on disk"));
        let (state, tape) = (random.scaled(1 << 20), random.scaled(1 << 20));
        let bytes = tape + state * s as u64;
        let what = format!("{n} steps, states of {state}, tapes of {tape} bytes in {bytes}");
        let limits = Limits::bytes(n, state, tape, bytes.into());
        let schedule = InBytes::new(n, state, tape, bytes, &TIMES).unwrap();
        let cost = holds(schedule, limits, &what);
        let states = Binomial::new(n, s).unwrap().cost();
        assert!(cost.time(&TIMES) <= states.time(&TIMES), "{what}: {cost:?}, {states:?}");
    }
}

/// Killed anywhere, with the live state and the tapes lost, and perhaps with fewer slots from then on.
#[test]
fn resumed_anywhere() {
    let mut random = Random(seed());
    for _ in 0..count(400) {
        let n = 1 + random.scaled(300);
        let s = 2 + random.below(7) as usize;
        let actions: Vec<Action> = Binomial::new(n, s).unwrap().collect();
        let killed = 1 + random.below(actions.len() as u64 - 1) as usize;
        let mut checker = Checker::new(Limits::slots(n, s));
        for action in &actions[..killed] {
            checker.act(*action).unwrap();
        }
        let held = checker.stored();
        let end = checker.adjoint();
        let index = |slot: &Slot| match slot {
            Slot::Memory(k) | Slot::Disk(k) => *k,
        };
        let stored: Vec<(u64, usize)> =
            held.iter().map(|(step, slot)| (*step, index(slot))).collect();
        let what =
            format!("{n} steps, {s} slots, killed before action {killed}: {stored:?}, {end}");
        if stored.iter().all(|(step, _)| *step > 0) {
            // The first state is not stored any more: it is live, and its step is the last.
            assert!(end <= 1, "{what}");
            continue;
        }
        for slots in [s, 1 + random.below(s as u64) as usize] {
            let done = checker.primal_done();
            let resumed =
                Resume::new(&stored, slots, end, done).unwrap_or_else(|e| panic!("{what}: {e}"));
            let told = resumed.cost();
            let at = Checker::resumed(Limits::slots(end, slots), &held, done);
            let cost = check_from(resumed, at).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(cost, told, "{what}");
            // Where a state is loaded next, nothing is lost, and no plan beats the one that was there.
            if slots == s && matches!(actions[killed], Action::Load { .. }) {
                let rest = actions[killed..].iter().map(|action| match action {
                    Action::Advance { from, to } => u128::from(to - from),
                    _ => 0,
                });
                assert_eq!(cost.advances, rest.sum::<u128>(), "{what}");
            }
        }
    }
}

#[test]
fn every_action_is_needed() {
    let times = Times { disk_store: 1, disk_load: 1, ..Times::EVALUATIONS };
    let limits = Limits { disk_slots: 3, tapes: 100, ..Limits::slots(40, 4) };
    let two: Vec<Action> = TwoLevel::new(40, 2, 3, &times).unwrap().collect();
    assert!(two.iter().any(|a| matches!(a, Action::Store { slot: Slot::Disk(_), .. })));
    let schedules: [Vec<Action>; 4] = [
        Binomial::new(40, 4).unwrap().collect(),
        Uniform::new(40, 4).unwrap().collect(),
        InBytes::new(40, 4, 1, 16, &times).unwrap().collect(),
        two,
    ];
    for actions in schedules {
        Checker::new(limits).run(actions.clone()).unwrap();
        for k in 0..actions.len() {
            let mut without = actions.clone();
            let left_out = without.remove(k);
            let refused = Checker::new(limits).run(without).unwrap_err();
            assert!(refused.position >= k as u64, "{left_out}: {refused}");
            let mut twice = actions.clone();
            twice.insert(k, left_out);
            // Nothing but loading twice does no harm.
            let ran = Checker::new(limits).run(twice);
            assert_eq!(ran.is_ok(), matches!(left_out, Action::Load { .. }), "{left_out}: {ran:?}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    use Action::*;
    let slot = Slot::Memory(0);
    let bytes = Limits::bytes(2, 2, 3, 4);
    let wrong: [(Limits, &[Action], Why); 14] = [
        (Limits::slots(2, 1), &[Advance { from: 1, to: 1 }], Why::EmptyRange),
        (Limits::slots(2, 1), &[Advance { from: 0, to: 3 }], Why::BeyondTheEnd),
        (Limits::slots(2, 1), &[Record { from: 1, to: 2 }], Why::NotLive(Some(0))),
        (Limits::slots(2, 0), &[Store { step: 0, slot }], Why::NoSuchSlot),
        (Limits::slots(2, 9), &[Store { step: 0, slot: Slot::Disk(0) }], Why::NoSuchSlot),
        (
            Limits::slots(2, 1),
            &[Store { step: 0, slot }, Store { step: 0, slot }],
            Why::Occupied(0),
        ),
        (Limits::slots(2, 1), &[Load { step: 0, slot }], Why::NotStored(None)),
        (
            Limits::slots(2, 1),
            &[Store { step: 0, slot }, Load { step: 1, slot }],
            Why::NotStored(Some(0)),
        ),
        (Limits::slots(2, 1), &[Record { from: 0, to: 2 }], Why::TooManyTapes),
        (bytes, &[Store { step: 0, slot }, Record { from: 0, to: 1 }], Why::TooManyBytes(5)),
        (Limits::slots(2, 1), &[PrimalDone], Why::NotThePrimalsEnd),
        (
            Limits::slots(2, 1),
            &[Advance { from: 0, to: 2 }, PrimalDone, Reverse { from: 0, to: 1 }],
            Why::AdjointElsewhere(2),
        ),
        (
            Limits::slots(2, 1),
            &[Advance { from: 0, to: 2 }, PrimalDone, Reverse { from: 1, to: 2 }],
            Why::NotRecorded,
        ),
        (Limits::slots(2, 1), &[Advance { from: 0, to: 2 }, PrimalDone], Why::Unfinished),
    ];
    for (limits, actions, why) in wrong {
        let refused = Checker::new(limits).run(actions.iter().copied()).unwrap_err();
        assert_eq!(refused.why, why, "{refused}");
    }
    // The same steps, a part of them, or steps around them.
    for (from, to) in [(0, 4), (0, 1), (1, 2), (3, 4), (0, 3)] {
        let slot = Slot::Memory(1);
        let mut actions = vec![Store { step: 0, slot: Slot::Memory(0) }];
        actions.extend((1..4).map(|k| Advance { from: k - 1, to: k }).take(from as usize));
        actions.extend([Store { step: from, slot }, Load { step: 0, slot: Slot::Memory(0) }]);
        actions.extend([Record { from: 0, to: 4 }, Load { step: from, slot }, Record { from, to }]);
        let refused = Checker::new(Limits::none(5)).run(actions).unwrap_err();
        assert_eq!(refused.why, Why::RecordedAgain, "{refused}");
    }
    let held = [(0, Slot::Memory(5)), (1, Slot::Memory(7))];
    let checker = Checker::resumed(Limits::slots(2, 1), &held, false);
    let refused =
        checker.run([Load { step: 1, slot: held[1].1 }, Store { step: 1, slot }]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "action 1, store 1 in slot 0: more slots are taken than there are"
    );
}

#[test]
fn impossible_schedules() {
    assert_eq!(Binomial::new(2, 0).unwrap_err(), Impossible::NoSlot);
    assert_eq!(Uniform::new(2, 0).unwrap_err(), Impossible::NoSlot);
    assert_eq!(Online::new(0).unwrap_err(), Impossible::NoSlot);
    assert_eq!(TwoLevel::new(2, 0, 5, &TIMES).unwrap_err(), Impossible::NoSlot);
    let few = InBytes::new(9, 100, 7, 62, &TIMES).unwrap_err();
    assert_eq!(few, Impossible::TooFewBytes { needed: 63 });
    assert_eq!(Resume::new(&[(1, 0)], 2, 5, true).unwrap_err(), Impossible::NoFirstState);
    assert_eq!(Resume::new(&[], 2, 5, true).unwrap_err(), Impossible::NoFirstState);
    assert_eq!(Resume::new(&[(0, 0), (3, 0)], 2, 5, true).unwrap_err(), Impossible::Twice);
    assert_eq!(Resume::new(&[(0, 0), (0, 1)], 2, 5, true).unwrap_err(), Impossible::Twice);
    assert_eq!(Resume::new(&[(0, 0)], 0, 5, true).unwrap_err(), Impossible::NoSlot);
    assert_eq!(Online::resumed(&[(0, 0), (3, 1)], 1).unwrap_err(), Impossible::NoSlot);
    assert_eq!(Binomial::new(5, 2).unwrap().ended(4).unwrap_err(), Impossible::OtherLength);
    let mut online = Online::new(3).unwrap();
    assert_eq!(online.ended(7).unwrap_err(), Impossible::OtherLength);
    assert_eq!(online.by_ref().take(2).last(), Some(Action::Advance { from: 0, to: 1 }));
    assert_eq!(online.ended(2).unwrap_err(), Impossible::OtherLength);
    assert_eq!(online.ended(1), Ok(()));
    assert_eq!(online.ended(1).unwrap_err(), Impossible::OtherLength);
}

/// Numbers at the ends of their ranges: an answer, never a panic, and legal as far as it is run.
#[test]
fn extreme_numbers() {
    let mut random = Random(seed());
    let mut some = || match random.below(6) {
        0 => random.below(4),
        1 => u64::MAX - random.below(3),
        2 => 1 << random.below(64),
        3 => random.bits() >> random.below(64),
        4 => 1_000_000_000_000,
        _ => random.below(1000),
    };
    fn begins(schedule: Result<impl Schedule, Impossible>, limits: Limits, what: &str) {
        let Ok(schedule) = schedule else { return };
        let mut checker = Checker::new(limits);
        for action in schedule.take(2000) {
            checker.act(action).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
    for _ in 0..count(150) {
        let (n, slots, disk_slots) = (some(), some() as usize, some() as usize);
        let (state, tape, bytes) = (some(), some(), some());
        let times = Times {
            advance: some(),
            record: some(),
            reverse: some(),
            store: some(),
            load: some(),
            disk_store: some(),
            disk_load: some(),
        };
        let what = format!("{n} {slots} {disk_slots} {state} {tape} {bytes} {times:?}");
        let free = Limits { disk_slots, ..Limits::none(n) };
        begins(Ok(StoreAll::new(n)), free, &what);
        begins(Ok(RecomputeAll::new(n)), free, &what);
        begins(Uniform::new(n, slots), Limits { slots, ..free }, &what);
        begins(Binomial::new(n, slots), Limits::slots(n, slots), &what);
        begins(
            TwoLevel::new(n, slots, disk_slots, &times),
            Limits { disk_slots, ..Limits::slots(n, slots) },
            &what,
        );
        let sized = InBytes::new(n, state, tape, bytes, &times);
        if let Ok(schedule) = &sized {
            assert!(schedule.cost().peak_bytes <= u128::from(bytes), "{what}");
        }
        begins(sized, Limits::bytes(n, state, tape, bytes.into()), &what);
        let taken = [disk_slots, slots].map(|slot| slot.min(usize::MAX - 1));
        let resumed = Resume::new(&[(0, taken[0]), (state, taken[1])], slots, n, true);
        if let Ok(schedule) = resumed {
            let held = [(0, Slot::Memory(taken[0])), (state, Slot::Memory(taken[1]))];
            let mut checker = Checker::resumed(Limits::slots(n, slots), &held, true);
            for action in schedule.take(2000) {
                checker.act(action).unwrap_or_else(|e| panic!("{what}: {e}"));
            }
        }
    }
}
