//! Random Python programs, run by CPython with NumPy and by wengert: the same values, the same errors,
//! derivatives that agree, and native code with the bits of the interpreter.
//!
//! `WENGERT_SEED=7 cargo test -p wengert --test python` repeats a run; the seed is printed at its start and
//! with every failure. `WENGERT_PROGRAMS=5000` compares more, `WENGERT_FAILURES=1` stops at the first
//! failure, `WENGERT_EXPLAIN=1` says why programs are refused. Without CPython and NumPy the test is skipped, unless `WENGERT_REQUIRE_PYTHON=1`.

mod compare;
mod cpython;
mod generate;
mod shrink;

use compare::{Verdict, verdict};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::Random;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, but is `{text}`")))
}

#[test]
fn programs_as_cpython_runs_them() {
    if let Some(why) = cpython::missing() {
        assert!(number("WENGERT_REQUIRE_PYTHON") != Some(1), "{why}");
        println!("skipped: {why}");
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = number("WENGERT_SEED").unwrap_or(now);
    let count = number("WENGERT_PROGRAMS").unwrap_or(200);
    let most = number("WENGERT_FAILURES").unwrap_or(10);
    println!("WENGERT_SEED={seed}");
    let explain = number("WENGERT_EXPLAIN") == Some(1);
    let mut seeds = Random(seed);
    let seeds: Vec<u64> = (0..count).map(|_| seeds.bits()).collect();
    let programs: Vec<_> = seeds.iter().map(|s| generate::program(*s)).collect();
    let outcomes = cpython::run(&programs, 10.0);

    let (mut tally, mut failures) = (BTreeMap::new(), 0);
    for (k, ((seed_k, program), outcome)) in seeds.iter().zip(&programs).zip(&outcomes).enumerate()
    {
        if (k + 1) % 1000 == 0 {
            println!("{} programs", k + 1);
        }
        let found = verdict(program, outcome, *seed_k);
        let entry = match &found {
            Verdict::Agrees => "agree".to_string(),
            Verdict::Fails => "fail as in CPython".to_string(),
            Verdict::Unstable => "decided by rounding".to_string(),
            Verdict::Refused(code, message) => {
                if explain {
                    println!("program {k} (seed {seed_k}): {code}: {message}");
                }
                format!("refused: {code}")
            }
            Verdict::Wrong(what, _) => format!("WRONG: {what}"),
        };
        *tally.entry(entry).or_insert(0u64) += 1;
        if let Verdict::Wrong(what, message) = found {
            failures += 1;
            println!("program {k} (seed {seed_k}): {what}, being made smaller");
            let (smallest, why) = shrink::shrink(program, what, *seed_k);
            let message = if why.is_empty() { message } else { why };
            println!("program {k} (seed {seed_k}): {what}: {message}");
            println!("arguments {:?}\n{}", smallest.args, smallest.text);
            assert!(failures < most, "WENGERT_SEED={seed}: stopped after {failures} failures");
        }
    }
    let percent = |n: u64| 100.0 * n as f64 / count.max(1) as f64;
    for (what, n) in &tally {
        println!("{:6.1} %  {what}", percent(*n));
    }
    let refused = tally.iter().filter(|(what, _)| what.starts_with("refused"));
    let refused = percent(refused.map(|(_, n)| n).sum());
    println!("{refused:6.1} %  refused in all");
    assert_eq!(failures, 0, "WENGERT_SEED={seed}");
    // A small sample may fall short of what holds on average.
    assert!(refused < if count < 1000 { 43.0 } else { 33.0 }, "too many programs are refused");
}
