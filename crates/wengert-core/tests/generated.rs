//! Generated programs: 200 of them, others each time.
//!
//! `WENGERT_SEED=7 cargo test --test generated` repeats a run; the seed is printed at its start and
//! with every failure. `WENGERT_PROGRAMS=20000` checks more, `WENGERT_FAILURES=1` stops at the first failure.

use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::generate;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, but is `{text}`")))
}

#[test]
fn derivatives_of_generated_programs() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = number("WENGERT_SEED").unwrap_or(now);
    let count = number("WENGERT_PROGRAMS").unwrap_or(200);
    let most = number("WENGERT_FAILURES").unwrap_or(10);
    println!("WENGERT_SEED={seed}");
    let mut failures = 0;
    let coverage = generate::run(seed, count, &mut |k, result| {
        if (k + 1) % 1000 == 0 {
            println!("{} programs", k + 1);
        }
        if let Err(failure) = result {
            failures += 1;
            println!("program {k}: {failure}");
            assert!(failures < most, "WENGERT_SEED={seed}: stopped after {failures} failures");
        }
    });
    println!("{coverage}");
    // A small sample may fall short of what holds on average.
    let slack = if count < 1000 { 10 } else { 0 };
    for (feature, least) in [
        ("nested loops", 30),
        ("overwrite, then read", 20),
        ("data-dependent exits", 20),
        ("errors at other arguments", 20),
    ] {
        let share = coverage.share(feature);
        assert!(share + slack >= least, "only {share} % of the programs have {feature}");
    }
    assert_eq!(failures, 0, "WENGERT_SEED={seed}");
}
