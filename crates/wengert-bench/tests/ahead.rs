//! The workloads as plain Rust functions: their gradients by `#[differentiable]` are those by hand.

use wengert_bench::ahead;
use wengert_bench::workload::ALL;

#[test]
fn gradients_are_those_by_hand() {
    let mut compared = 0;
    for workload in ALL {
        for n in workload.small.iter().copied().filter(|n| *n > 0) {
            let Some(mut task) = ahead::task(workload.name, n) else { continue };
            let (value, gradient) = task();
            let mut by_hand = (workload.hand)(n);
            let wanted = by_hand.run();
            assert!((value - wanted).abs() <= 1e-9 * wanted.abs(), "{} {n}", workload.name);
            let by_hand = by_hand.gradient();
            let scale = by_hand.iter().fold(0f64, |m, x| m.max(x.abs()));
            assert_eq!(gradient.len(), by_hand.len(), "{} {n}", workload.name);
            for (a, b) in gradient.iter().zip(by_hand) {
                assert!((a - b).abs() <= 1e-7 * scale, "{} {n}: {a} {b}", workload.name);
            }
            compared += 1;
        }
    }
    assert!(compared >= 11);
}
