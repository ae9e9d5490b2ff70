//! `cargo run --release -p wengert-bench -- loops [--json] [--seconds S] [WORKLOAD ...]`
//!
//! Seconds for the value and gradient of each loop workload, against the adjoint by hand.
//!
//! `cargo run --release -p wengert-bench -- passes`
//!
//! Operations, bytes moved and tape bytes of each gradient, before and after the fixed pipeline.

use std::process::ExitCode;
use wengert_bench::measure::measure;
use wengert_bench::passes;
use wengert_bench::workload::{ALL, Workload};

const USAGE: &str = "usage: wengert-bench loops [--json] [--seconds S] [WORKLOAD ...]
       wengert-bench passes
workloads: a a0 c f2 h";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("loops") => {}
        Some("passes") => return count_passes(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    let (mut json, mut budget, mut chosen) = (false, 1.0, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--seconds" => match words.next().and_then(|s| s.parse().ok()) {
                Some(s) => budget = s,
                None => {
                    eprintln!("--seconds takes a number\n{USAGE}");
                    return ExitCode::from(2);
                }
            },
            name => match Workload::named(name) {
                Some(w) => chosen.push(w),
                None => {
                    eprintln!("there is no workload `{name}`\n{USAGE}");
                    return ExitCode::from(2);
                }
            },
        }
    }
    if chosen.is_empty() {
        chosen.extend(ALL);
    }
    if !json {
        println!(
            "{:<4} {:>8} {:>11} {:>11} {:>11} {:>7} {:>11} {:>7} {:>11} {:>9}",
            "",
            "n",
            "value s",
            "gradient s",
            "by hand s",
            "ratio",
            "in lanes s",
            "B/iter",
            "compile s",
            "error"
        );
    }
    let mut failed = false;
    for workload in chosen {
        for n in workload.sizes {
            match measure(workload, *n, budget) {
                Ok(row) if json => println!("{}", row.json()),
                Ok(row) => println!(
                    "{:<4} {:>8} {:>11.3e} {:>11.3e} {:>11.3e} {:>7.2} {:>11} {:>7.1} {:>11.3e} {:>9}",
                    row.workload,
                    row.n,
                    row.primal_s,
                    row.gradient_s,
                    row.hand_s,
                    row.ratio(),
                    row.lanes_s.map_or("-".into(), |s| format!("{s:.3e}")),
                    row.tape_bytes_per_iteration,
                    row.compile_s,
                    match row.error {
                        None => "-".into(),
                        Some((e, true)) => format!("{e:.1e}"),
                        Some((e, false)) => format!("{e:.1e}!"),
                    },
                ),
                Err(e) => {
                    eprintln!("{}: {e}", workload.name);
                    failed = true;
                }
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What the fixed pipeline saves, one line per workload.
fn count_passes() -> ExitCode {
    println!("{}", passes::heading());
    let mut failed = false;
    for workload in ALL {
        match passes::line(workload) {
            Ok(line) => println!("{line}"),
            Err(e) => {
                eprintln!("{}: {e}", workload.name);
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
