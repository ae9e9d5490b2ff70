//! How many steps can be reversed with how many slots: closed forms.
//!
//! With `s` slots, of which the first state takes one, and no step advanced more than `r` times, `C(s + r, s)` steps can be
//! reversed (Griewank 1992). So the least `r` for `n` steps is known, and with it the fewest advances,
//! `r n - C(s + r, s + 1)` (Griewank and Walther 2000). Everything else here follows from these two.

/// The binomial coefficient, or the largest number where it is larger.
pub(crate) fn choose(n: u128, k: u128) -> u128 {
    if k > n {
        return 0;
    }
    let k = k.min(n - k);
    let mut result: u128 = 1;
    // Every factor is at least 2, so this ends soon, whatever `k` is.
    for i in 1..=k {
        let factor = n - k + i;
        result = match result.checked_mul(factor) {
            Some(product) => product / i,
            None => {
                let common = gcd(result, i);
                match (result / common).checked_mul(factor / (i / common)) {
                    Some(result) => result,
                    None => return u128::MAX,
                }
            }
        };
    }
    result
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How many steps can be reversed with `slots` slots and at most `repeats` advances of each.
pub(crate) fn capacity(slots: u64, repeats: u64) -> u128 {
    choose(u128::from(slots) + u128::from(repeats), u128::from(slots))
}

/// How often a step must be advanced at most, to reverse `n` steps with `slots` slots. There is at least one slot.
pub(crate) fn repeats(n: u64, slots: u64) -> u64 {
    if n <= 1 {
        return 0;
    }
    if slots <= 1 {
        return n - 1;
    }
    // Mostly a few are enough; each capacity follows from the one before.
    let mut reached: u128 = 1;
    for r in 1..=32 {
        reached = match reached.checked_mul(u128::from(slots) + u128::from(r)) {
            Some(product) => product / u128::from(r),
            None => return r,
        };
        if reached >= u128::from(n) {
            return r;
        }
    }
    // The first power of two that is enough, then the least number that is.
    let mut high = 64;
    while capacity(slots, high) < u128::from(n) {
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if capacity(slots, middle) < u128::from(n) { low = middle } else { high = middle }
    }
    high
}

/// The fewest advances that reverse `n` steps with `slots` slots, the last step being recorded at the end of the first
/// sweep.
///
/// With `n > 1` there must be a slot: without one there is no way, and the answer is the largest number.
///
/// ```
/// assert_eq!(wengert_schedule::fewest_advances(10, 3), 15);
/// assert_eq!(wengert_schedule::fewest_advances(1_000_000_000, 100), 5_898_659_124);
/// ```
pub fn fewest_advances(n: u64, slots: u64) -> u128 {
    match (n, slots) {
        (0 | 1, _) => 0,
        (_, 0) => u128::MAX,
        // With more slots than steps, all states are stored.
        _ if slots >= n => u128::from(n - 1),
        _ => {
            let r = repeats(n, slots);
            let less = choose(u128::from(slots) + u128::from(r), u128::from(slots) + 1);
            u128::from(r) * u128::from(n) - less
        }
    }
}

/// Where to put the next checkpoint: how many of `n` steps, at least two, come before it. Of the optimal places the last,
/// for which the steps before it or those behind it are as many as fit.
pub(crate) fn split(n: u64, slots: u64) -> u64 {
    if slots <= 1 {
        return n - 1;
    }
    let r = repeats(n, slots);
    split_of(n, slots, r)
}

/// The same where `r`, the number of repeats, is known.
fn split_of(n: u64, slots: u64, r: u64) -> u64 {
    let full = capacity(slots, r - 1);
    full.min(u128::from(n) - capacity(slots - 1, r - 1)) as u64
}

/// What reversing `n` steps from a stored state does beside evaluating steps.
pub(crate) struct Tally {
    /// States stored.
    pub(crate) stores: u128,
    /// The most slots taken, that of the first state included.
    pub(crate) peak: u64,
}

/// Counts stores. One side of every [`split`] is as many steps as fit, for which there is a formula, so this follows the other
/// side only: at most as many turns as there are slots and repeats. Those that could be billions are taken at once.
pub(crate) fn tally(n: u64, slots: u64) -> Tally {
    // Stores for as many steps as fit, where the first state is stored.
    let full = |slots: u64, r: u64| {
        choose(u128::from(slots) + u128::from(r) - 1, u128::from(slots) - 1) - 1
    };
    let (mut n, mut slots, mut held) = (n, slots, 1);
    let mut tally = Tally { stores: 0, peak: 1 };
    if n <= 1 {
        return tally;
    }
    let mut r = repeats(n, slots);
    while n > 1 && slots > 1 {
        if r == 1 {
            // All states are stored, but for the last.
            tally.stores += u128::from(n) - 2;
            tally.peak = tally.peak.max(held + (n - 2));
            break;
        }
        if r == 2 {
            let turns = turns_of_two_repeats(n, slots);
            if turns > 0 {
                let s = u128::from(slots);
                tally.stores += turns * s - turns * (turns - 1) / 2;
                tally.peak = tally.peak.max(held + slots - 1);
                n -= (turns * (s + 1) - turns * (turns - 1) / 2) as u64;
                (slots, held) = (slots - turns as u64, held + turns as u64);
                r = repeats(n, slots);
                continue;
            }
        }
        if slots == 2 {
            // The last branch below would be taken again and again, each time with one repeat and so one step less.
            let room = capacity(2, r - 1).saturating_sub(u128::from(n - r)).min(u128::from(r) - 1);
            if room > 0 {
                tally.stores += room;
                tally.peak = tally.peak.max(held + 1);
                n -= (room * u128::from(r) - room * (room - 1) / 2) as u64;
                r -= room as u64;
                continue;
            }
        }
        let before = split_of(n, slots, r);
        let behind = n - before;
        if u128::from(before) == capacity(slots, r - 1) {
            tally.stores += full(slots, r - 1);
            tally.peak = tally.peak.max(held + slots - 1);
            if behind == 1 {
                break;
            }
            // These are stored, and take as many repeats.
            (n, slots, held) = (behind, slots - 1, held + 1);
            tally.stores += 1;
            tally.peak = tally.peak.max(held);
        } else {
            tally.stores += 1 + full(slots - 1, r - 1);
            tally.peak = tally.peak.max(held + slots - 1);
            (n, r) = (before, r - 1);
        }
    }
    tally
}

/// With two repeats, a side that is full has one step more than there are slots. So many times there is one more such side, with
/// one slot less each time.
fn turns_of_two_repeats(n: u64, slots: u64) -> u128 {
    let (n, s) = (u128::from(n), u128::from(slots));
    // Whether there is one after so many.
    let another = |k: u128| n + k * k.saturating_sub(1) / 2 + 2 * k > k * (s + 1) + 2 * s;
    let (mut low, mut high) = (0, s - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if another(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients() {
        assert_eq!(choose(5, 2), 10);
        assert_eq!(choose(5, 6), 0);
        assert_eq!(choose(0, 0), 1);
        assert_eq!(choose(100, 50), 100_891_344_545_564_193_334_812_497_256);
        // The largest that fits passes through products that do not.
        assert_eq!(choose(131, 65), 188_694_833_082_770_476_622_296_176_145_946_360_850);
        assert_eq!(choose(1000, 500), u128::MAX);
        let most = u128::from(u64::MAX);
        assert_eq!(choose(most, 2), most * (most - 1) / 2);
    }

    #[test]
    fn fewest_advances_follow_the_recurrence() {
        let (n_most, s_most) = (150, 12);
        let mut table = vec![vec![0u128; n_most + 1]; s_most + 1];
        for s in 1..=s_most {
            for n in 2..=n_most {
                let split = |j: usize| {
                    let behind = if s > 1 { table[s - 1][n - j] } else { 0 };
                    (s > 1 || n - j == 1).then(|| j as u128 + behind + table[s][j])
                };
                let best = (1..n).filter_map(split).min().unwrap();
                assert_eq!(fewest_advances(n as u64, s as u64), best, "{n} steps, {s} slots");
                let j = super::split(n as u64, s as u64) as usize;
                assert_eq!(split(j), Some(best), "{n} steps, {s} slots, split at {j}");
                table[s][n] = best;
            }
        }
    }

    #[test]
    fn nothing_overflows() {
        let most = u64::MAX;
        assert_eq!(fewest_advances(most, 1), u128::from(most) * u128::from(most - 1) / 2);
        assert_eq!(fewest_advances(most, most), u128::from(most - 1));
        assert_eq!(fewest_advances(most, most - 1), u128::from(most - 1));
        assert_eq!(fewest_advances(2, 0), u128::MAX);
        for slots in [1, 2, 3, 10, 64, 1000, 1 << 40, most - 1, most] {
            let j = split(most, slots);
            assert!((1..most).contains(&j), "{slots}");
            let behind = if slots == 1 { 0 } else { fewest_advances(most - j, slots - 1) };
            let sum = u128::from(j) + behind + fewest_advances(j, slots);
            assert_eq!(sum, fewest_advances(most, slots), "{slots}");
        }
    }
}
