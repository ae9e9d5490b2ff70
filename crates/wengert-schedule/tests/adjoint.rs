//! An adjoint written by hand, driven by every schedule: the same bits.

mod common;

use common::{Random, count, seed};
use std::collections::HashMap;
use wengert_schedule::*;

type State = [f64; 3];

/// A step of the Lorenz system, and its adjoint; the last adjoint is that of the parameter.
fn step([x, y, z]: State, rho: f64) -> State {
    let h = 0.01;
    [x + h * 10.0 * (y - x), y + h * (x * (rho - z) - y), z + h * (x * y - 2.5 * z)]
}

fn reverse([x, y, z]: State, rho: f64, [dx, dy, dz, drho]: [f64; 4]) -> [f64; 4] {
    let h = 0.01;
    [
        dx - h * 10.0 * dx + h * (rho - z) * dy + h * y * dz,
        dy + h * 10.0 * dx - h * dy + h * x * dz,
        dz - h * x * dy - h * 2.5 * dz,
        drho + h * x * dy,
    ]
}

/// Carries out a schedule on a loop that ends after `n` steps, which only the loop knows.
fn drive(mut schedule: impl Schedule, n: u64) -> (State, [f64; 4]) {
    let rho = 28.0;
    let mut live = (0, [1.0, 1.0, 1.0]);
    let mut slots: HashMap<Slot, (u64, State)> = HashMap::new();
    let mut tapes: Vec<(u64, State)> = Vec::new();
    let (mut result, mut adjoint) = ([0.0; 3], [0.0; 4]);
    while let Some(action) = schedule.next() {
        match action {
            Action::Advance { from, to } => {
                assert_eq!(live.0, from);
                while live.0 < to.min(n) {
                    live = (live.0 + 1, step(live.1, rho));
                }
                if live.0 < to {
                    schedule.ended(n).unwrap();
                }
            }
            Action::Store { step, slot } => {
                assert_eq!(live.0, step);
                assert_eq!(slots.insert(slot, live), None);
            }
            Action::Load { step, slot } => {
                live = slots[&slot];
                assert_eq!(live.0, step);
            }
            Action::Free { slot } => assert!(slots.remove(&slot).is_some()),
            Action::Record { from, to } => {
                assert_eq!(live.0, from);
                while live.0 < to {
                    tapes.push(live);
                    live = (live.0 + 1, step(live.1, rho));
                }
            }
            Action::PrimalDone => {
                assert_eq!(live.0, n);
                (result, adjoint) = (live.1, [1.0, 0.0, 0.0, 0.0]);
            }
            Action::Reverse { from, to } => {
                for k in (from..to).rev() {
                    let (at, state) = tapes.pop().unwrap();
                    assert_eq!(at, k);
                    adjoint = reverse(state, rho, adjoint);
                }
            }
        }
    }
    assert!(slots.is_empty() && tapes.is_empty());
    (result, adjoint)
}

#[test]
fn the_same_bits_with_every_schedule() {
    let mut random = Random(seed());
    for _ in 0..count(60) {
        let n = random.scaled(1000);
        let s = 1 + random.scaled(12) as usize;
        let what = format!("{n} steps, {s} slots");
        let expected = drive(StoreAll::new(n), n);
        let times = Times { disk_store: 3, disk_load: 2, ..Times::EVALUATIONS };
        assert_eq!(
            drive(RecomputeAll::new(n.min(100)), n.min(100)),
            drive(StoreAll::new(n.min(100)), n.min(100))
        );
        assert_eq!(drive(Uniform::new(n, s).unwrap(), n), expected, "{what}");
        assert_eq!(drive(Binomial::new(n, s).unwrap(), n), expected, "{what}");
        assert_eq!(drive(Online::new(s).unwrap(), n), expected, "{what}");
        let bytes = 12 + 24 * s as u64;
        assert_eq!(drive(InBytes::new(n, 24, 12, bytes, &times).unwrap(), n), expected, "{what}");
        assert_eq!(drive(TwoLevel::new(n, s, 5, &times).unwrap(), n), expected, "{what}");
    }
}
