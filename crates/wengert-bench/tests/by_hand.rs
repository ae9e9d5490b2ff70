//! The adjoints by hand against the reference gradients.

use wengert_bench::by_hand::ByHand;
use wengert_bench::workload::{ALL, Workload};

/// One run against the reference; and a second one, where that is quick: memory left from the first must not
/// disturb it.
fn compare(workload: &Workload, make: fn(usize) -> Box<dyn ByHand>) {
    let n = workload.size();
    let mut task = make(n);
    let (error, good) = workload.compare(n, task.run(), &task.gradient()).unwrap();
    assert!(good, "{}: off by {error:e}", workload.name);
    let n = workload.small.last().copied().unwrap();
    let mut task = make(n);
    let first = (task.run(), task.gradient());
    assert_eq!((task.run(), task.gradient()), first, "{}", workload.name);
}

#[test]
fn adjoints_by_hand_match_their_references() {
    for workload in ALL.iter().filter(|w| w.reference.is_some()) {
        compare(workload, workload.hand);
        if let Some(lanes) = workload.lanes {
            compare(workload, lanes);
        }
    }
}

/// Sizes that do not fill the last block of steps, or the last group of paths.
#[test]
fn blocks_need_not_be_full() {
    let same = |mut a: Box<dyn ByHand>, mut b: Box<dyn ByHand>| {
        let (x, y) = (a.run(), b.run());
        assert!((x - y).abs() <= 1e-13 * y.abs(), "{x} {y}");
        let scale = b.gradient().iter().fold(0f64, |m, g| m.max(g.abs()));
        let pairs: Vec<_> = a.gradient().into_iter().zip(b.gradient()).collect();
        assert!(pairs.iter().all(|(a, b)| (a - b).abs() <= 1e-12 * scale), "{pairs:?}");
    };
    for name in ["e", "h"] {
        let workload = Workload::named(name).unwrap();
        let lanes = workload.lanes.unwrap();
        for n in [1, 7, 37] {
            same(lanes(n), (workload.hand)(n));
        }
    }
}
