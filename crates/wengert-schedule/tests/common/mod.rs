//! What tests of schedules share: random numbers, and all ways there are.
#![allow(dead_code)]

pub(crate) mod search;

use std::time::{SystemTime, UNIX_EPOCH};
use wengert_schedule::{Cost, Limits, Schedule, check};

/// Random numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A number up to `most`, small ones as often as large ones.
    pub(crate) fn scaled(&mut self, most: u64) -> u64 {
        let bits = self.below(u64::from(most.ilog2()) + 1) + 1;
        self.below(1 << bits).min(most)
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, but is `{text}`")))
}

/// How many random cases to look at: `WENGERT_PROGRAMS`, or this.
pub(crate) fn count(usual: u64) -> u64 {
    number("WENGERT_PROGRAMS").unwrap_or(usual)
}

/// The seed of this run, printed: `WENGERT_SEED=7` repeats one.
pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = number("WENGERT_SEED").unwrap_or(now);
    println!("WENGERT_SEED={seed}");
    seed
}

/// Runs a schedule, and holds it to its own word.
#[track_caller]
pub(crate) fn holds(schedule: impl Schedule, limits: Limits, what: &str) -> Cost {
    let told = schedule.cost();
    let cost = check(schedule, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(cost, told, "{what}");
    assert_eq!(cost.records, u128::from(limits.steps), "{what}: every step is recorded once");
    cost
}
