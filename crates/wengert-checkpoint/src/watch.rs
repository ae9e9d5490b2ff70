//! Where a run stands, for those who look on.

use std::sync::atomic::{AtomicU64, Ordering};

/// Where a run stands; it may be looked at from another thread while the loop runs.
#[derive(Debug, Default)]
pub struct Watch {
    /// One more than the number of steps, 0 where it is not known.
    steps: AtomicU64,
    position: AtomicU64,
    is_back: AtomicU64,
    evaluations: AtomicU64,
    expected: AtomicU64,
}

/// What a look at a [`Watch`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How many steps the loop has, where that is known.
    pub steps: Option<u64>,
    /// How far the sweep has come: steps done in the first one, steps not yet reversed in the second.
    pub position: u64,
    /// Whether it is the second sweep, the way back.
    pub is_back: bool,
    /// Steps evaluated so far, recorded or not.
    pub evaluations: u64,
    /// How many will have been at the end, as far as can be told; 0 where it cannot.
    pub expected: u64,
}

impl Seen {
    /// Which part of the work is done, where that can be told. Reversing a step counts as two evaluations.
    pub fn part(&self) -> Option<f64> {
        let steps = self.steps? as f64;
        let reversed = if self.is_back { steps - self.position as f64 } else { 0.0 };
        let (done, all) =
            (self.evaluations as f64 + 2.0 * reversed, self.expected as f64 + 2.0 * steps);
        (self.expected > 0).then(|| (done / all).clamp(0.0, 1.0))
    }
}

impl Watch {
    /// Where it stands.
    pub fn look(&self) -> Seen {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Seen {
            steps: get(&self.steps).checked_sub(1),
            position: get(&self.position),
            is_back: get(&self.is_back) != 0,
            evaluations: get(&self.evaluations),
            expected: get(&self.expected),
        }
    }

    pub(crate) fn show(&self, seen: &Seen) {
        let set = |number: &AtomicU64, value| number.store(value, Ordering::Relaxed);
        set(&self.steps, seen.steps.map_or(0, |steps| steps.saturating_add(1)));
        set(&self.position, seen.position);
        set(&self.is_back, u64::from(seen.is_back));
        set(&self.evaluations, seen.evaluations);
        set(&self.expected, seen.expected);
    }
}
