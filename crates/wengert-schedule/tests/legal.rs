//! Every schedule can be carried out, within its limits, at the cost it tells beforehand.

mod common;

use common::holds;
use wengert_schedule::*;

#[test]
fn plain_schedules() {
    for n in 0..=60 {
        let one = Limits::slots(n, 1);
        holds(StoreAll::new(n), Limits { slots: 0, tapes: n, ..one }, &format!("{n}, all"));
        let cost = holds(RecomputeAll::new(n), one, &format!("{n}, none"));
        assert_eq!(cost.advances, fewest_advances(n, 1));
        for s in 1..=8 {
            let uniform = Uniform::new(n, s).unwrap();
            let limits = Limits { tapes: uniform.length(), ..Limits::slots(n, s) };
            let most = most_evaluations(uniform.clone());
            holds(uniform, limits, &format!("{n} steps, {s} slots, uniform"));
            assert!(most <= 2);
        }
    }
}

#[test]
fn binomial_schedules() {
    for n in 0..=150 {
        for s in 1..=12 {
            let what = format!("{n} steps, {s} slots");
            let schedule = Binomial::new(n, s).unwrap();
            assert_eq!(schedule.most_evaluations(), most_evaluations(schedule.clone()), "{what}");
            let cost = holds(schedule, Limits::slots(n, s), &what);
            assert_eq!(cost.advances, fewest_advances(n, s as u64), "{what}");
        }
    }
}
