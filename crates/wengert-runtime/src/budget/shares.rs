//! How loops share the memory.

use crate::jit::link::Plan;
use wengert_checkpoint::Measured;

/// How many parts the memory is cut into, to be given to one loop or another.
const SHARES: u64 = 16;

/// What each of the loops may have of the memory: where all are known from an earlier run, as much as makes all of them together
/// fastest; otherwise the same as the others.
pub(super) fn shares(plans: &[Plan], memory: u64) -> Vec<u64> {
    let loops = || (0..plans.len()).filter(|k| plans[*k].shape.is_some());
    let beside = |k: usize| plans[k].shape.as_ref().map_or(1, |shape| shape.beside.max(1)) as u64;
    let mut all: Vec<u64> = (0..plans.len()).map(|k| memory / beside(k)).collect();
    let count = loops().count() as u64;
    // Where they are fewer than all, others are inside of them.
    let is_flat = loops().all(|k| beside(k) == count);
    let known: Option<Vec<(Measured, u64)>> = loops().map(|k| plans[k].known()).collect();
    let (Some(known), true) = (known, is_flat && (2..=SHARES / 2).contains(&count)) else {
        return all;
    };
    let part = memory / SHARES;
    let mut parts = vec![1; known.len()];
    let time = |k: usize, parts: u64| {
        let (measured, steps) = &known[k];
        let forecast = measured.forecast(*steps, part.saturating_mul(parts));
        // What does not fit needs more than anybody.
        forecast.map_or(u128::MAX / 2, |forecast| forecast.time)
    };
    let mut times: Vec<u128> = (0..known.len()).map(|k| time(k, 1)).collect();
    for _ in count..SHARES {
        let gain = |k: usize| times[k].saturating_sub(time(k, parts[k] + 1));
        let best = (0..known.len()).max_by_key(|k| (gain(*k), times[*k], usize::MAX - k));
        let Some(best) = best else { break };
        parts[best] += 1;
        times[best] = time(best, parts[best]);
    }
    for (k, parts) in loops().zip(parts) {
        all[k] = part * parts;
    }
    all
}
