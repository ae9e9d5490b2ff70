//! Loops of unknown length: legal, and not much worse than with a known one.

mod common;

use wengert_schedule::*;

/// Runs a schedule that is told its length, and holds it to its word.
fn run(mut schedule: Online, limits: Limits) -> Cost {
    let mut checker = Checker::new(limits);
    while let Some(action) = schedule.next() {
        match action {
            Action::Advance { from, to } if schedule.steps().is_none() && to > limits.steps => {
                if from < limits.steps {
                    checker.act(Action::Advance { from, to: limits.steps }).unwrap();
                }
                schedule.ended(limits.steps).unwrap();
            }
            _ => checker.act(action).unwrap_or_else(|e| panic!("{limits:?}: {e}")),
        }
    }
    let cost = checker.finish().unwrap_or_else(|e| panic!("{limits:?}: {e}"));
    assert_eq!(cost, schedule.cost(), "{limits:?}");
    cost
}

#[test]
fn legal_and_as_told() {
    for n in 0..=60 {
        for s in 1..=8 {
            let limits = Limits::slots(n, s);
            let cost = run(Online::new(s).unwrap(), limits);
            assert_eq!(Ok(cost), check(Online::new(s).unwrap(), limits));
            assert_eq!(cost.records, u128::from(n));
        }
    }
}

#[test]
fn within_a_factor_of_a_known_end() {
    for (s, bound) in [(2, 1.185), (3, 1.125), (5, 1.075), (10, 1.045), (20, 1.025)] {
        let mut schedule = Online::new(s).unwrap();
        let (mut stored, mut worst) = (Vec::new(), (0.0, 0));
        let mut n = 1;
        while n <= 4000 {
            let to = match schedule.next().unwrap() {
                Action::Store { step, slot: Slot::Memory(k) } => {
                    stored.push((step, k));
                    continue;
                }
                Action::Free { slot } => {
                    stored.retain(|(_, k)| Slot::Memory(*k) != slot);
                    continue;
                }
                Action::Advance { to, .. } => to.min(4000),
                other => panic!("{other}"),
            };
            for end in n..=to {
                let ends = stored.iter().skip(1).map(|(step, _)| *step).chain([end]);
                let gaps = stored.iter().zip(ends).enumerate();
                let gaps =
                    gaps.map(|(k, ((from, _), to))| fewest_advances(to - from, (s - k) as u64));
                let back: u128 = gaps.sum();
                // The plan for the way back takes longer than all the rest.
                if end < 50 || end % 97 == 0 {
                    let planned = Resume::new(&stored, s, end, true).unwrap().cost().advances;
                    assert!(planned <= back, "{stored:?}, {end} steps: {planned}, {back}");
                }
                // The sweep up to the last stored state; the steps behind it belong to the way back.
                let online = u128::from(stored[stored.len() - 1].0 + end) + back;
                let known = fewest_advances(end, s as u64) + u128::from(end);
                let ratio = online as f64 / known as f64;
                assert!(ratio >= 1.0);
                if ratio > worst.0 {
                    worst = (ratio, end);
                }
            }
            n = to + 1;
        }
        println!("{s} slots: {:.4} at {} steps", worst.0, worst.1);
        assert!(worst.0 <= bound, "{s} slots: {} at {} steps", worst.0, worst.1);
    }
}
