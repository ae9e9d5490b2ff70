//! `cargo run --release -p wengert-bench -- all [--long] [--json FILE] [--seconds S] [WORKLOAD ...]`
//!
//! Every workload against the adjoint by hand and its bar; how time grows with iterations; compile times.
//!
//! `cargo run --release -p wengert-bench -- loops [--json] [--seconds S] [WORKLOAD ...]`
//!
//! Seconds for the value and gradient of each loop workload, against the adjoint by hand.
//!
//! `cargo run --release -p wengert-bench -- passes`
//!
//! Operations, bytes moved and tape bytes of each gradient, before and after the fixed pipeline.
//!
//! `cargo run --release -p wengert-bench -- lower [--json] [--seconds S]`
//!
//! Milliseconds from Python text to IR, of long and of deeply nested functions.
//!
//! `cargo run --release -p wengert-bench -- start [--json] [WORKLOAD ...]`
//!
//! Milliseconds until a gradient that was compiled before can be called.
//!
//! `cargo run --release -p wengert-bench -- batch [--json] [--seconds S]`
//!
//! Seconds for a hundred thousand runs of small functions, and for their gradients.
//!
//! `cargo run --release -p wengert-bench -- memory [--json] [--seconds S]`
//!
//! What it takes to stay within a budget of memory.
//!
//! `cargo run --release -p wengert-bench -- tape [--long] [--json] [--seconds S]`
//!
//! Nanoseconds and bytes per operation of the eager tape.

use std::process::ExitCode;
use wengert_bench::measure::measure;
use wengert_bench::workload::{ALL, Workload};
use wengert_bench::{ahead, all, batches, lowering, memory, passes, start, tape};

const USAGE: &str = "usage: wengert-bench all [--long] [--json FILE] [--seconds S] [WORKLOAD ...]
       wengert-bench loops [--json] [--seconds S] [WORKLOAD ...]
       wengert-bench passes
       wengert-bench lower [--json] [--seconds S]
       wengert-bench start [--json] [WORKLOAD ...]
       wengert-bench batch [--json] [--seconds S]
       wengert-bench memory [--json] [--seconds S]
       wengert-bench tape [--long] [--json] [--seconds S]
       wengert-bench ahead [--json] [--seconds S] [WORKLOAD ...]
workloads: a a0 b c c3 d d2 e f1 f2 f3 g h";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next();
    match command.as_deref() {
        Some("all" | "loops" | "lower" | "start" | "batch" | "memory" | "tape" | "ahead") => {}
        Some("passes") => return count_passes(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    let everything = command.as_deref() == Some("all");
    let (mut json, mut budget) = (false, 1.0);
    let mut chosen: Vec<&'static Workload> = Vec::new();
    let (mut long, mut file) = (false, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            // In a process of its own.
            what if start::WHAT.contains(&what) && command.as_deref() == Some("start") => {
                return match chosen.first().map(|workload| start::here(workload, what)) {
                    Some(Ok(seconds)) => {
                        println!("{seconds:e}");
                        ExitCode::SUCCESS
                    }
                    Some(Err(e)) => {
                        eprintln!("{e}");
                        ExitCode::FAILURE
                    }
                    None => ExitCode::from(2),
                };
            }
            "--long" if everything || command.as_deref() == Some("tape") => long = true,
            "--json" if everything => match words.next() {
                Some(path) => file = Some(path),
                None => {
                    eprintln!("--json takes a file\n{USAGE}");
                    return ExitCode::from(2);
                }
            },
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
    if everything {
        return match all::run(&all::Plan { budget, long, json: file, chosen }) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(e) => {
                eprintln!("{e}");
                ExitCode::FAILURE
            }
        };
    }
    if command.as_deref() == Some("lower") {
        return time_lowering(json, budget);
    }
    if command.as_deref() == Some("batch") {
        return time_batches(json, budget);
    }
    if command.as_deref() == Some("memory") {
        return time_memory(json, budget);
    }
    if command.as_deref() == Some("tape") {
        return time_tape(json, long, budget);
    }
    if chosen.is_empty() {
        chosen.extend(ALL);
    }
    if command.as_deref() == Some("ahead") {
        return time_ahead(json, budget, &chosen);
    }
    if command.as_deref() == Some("start") {
        return time_starting(json, &chosen);
    }
    if !json {
        println!(
            "{:<4} {:>8} {:>11} {:>11} {:>7} {:>11} {:>7} {:>11} {:>11} {:>7} {:>11} {:>9}",
            "",
            "n",
            "value s",
            "gradient s",
            "ratio",
            "through C",
            "ratio",
            "by hand s",
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
                Ok(row) => {
                    println!(
                        "{:<4} {:>8} {:>11.3e} {:>11.3e} {:>7.2} {:>11} {:>7} {:>11.3e} {:>11} {:>7.1} {:>11.3e} {:>9}",
                        row.workload,
                        row.n,
                        row.primal_s,
                        row.gradient_s,
                        row.ratio(),
                        row.through_c_s.map_or("-".into(), |s| format!("{s:.3e}")),
                        row.ratio_through_c().map_or("-".into(), |r| format!("{r:.2}")),
                        row.hand_s,
                        row.lanes_s.map_or("-".into(), |s| format!("{s:.3e}")),
                        row.tape_bytes_per_iteration,
                        row.compile_s,
                        row.shown_error(),
                    );
                    row.on_two_threads().iter().for_each(|line| println!("     {line}"));
                }
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

/// How long it takes to start with what was compiled before, one line per workload.
fn time_starting(json: bool, chosen: &[&'static Workload]) -> ExitCode {
    if !json {
        println!("{}", start::heading());
    }
    let mut failed = false;
    for workload in chosen {
        match start::measure(workload) {
            Ok(Some(row)) if json => println!("{}", row.json()),
            Ok(Some(row)) => println!("{}", row.line()),
            Ok(None) => eprintln!("there is no C compiler"),
            Err(e) => {
                eprintln!("{}: {e}", workload.name);
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// How long batches take, one line for each way to run one.
fn time_batches(json: bool, budget: f64) -> ExitCode {
    if !json {
        println!("{}", batches::heading());
    }
    let shown = &mut |row: batches::Row| println!("{}", if json { row.json() } else { row.line() });
    ended(batches::measure(budget, shown))
}

/// What it takes to stay within a budget.
fn time_memory(json: bool, budget: f64) -> ExitCode {
    if !json {
        println!("{}", memory::heading());
    }
    let shown = &mut |row: memory::Row| println!("{}", if json { row.json() } else { row.line() });
    ended(memory::measure(budget, shown))
}

/// What functions differentiated ahead of time take.
fn time_ahead(json: bool, budget: f64, chosen: &[&'static Workload]) -> ExitCode {
    let mut agreed = true;
    if !json {
        println!("{}", ahead::Row::heading());
    }
    for row in chosen.iter().filter_map(|workload| ahead::measure(workload, budget)) {
        agreed &= row.error.is_none_or(|(_, within)| within);
        println!("{}", if json { row.json() } else { row.line() });
    }
    if agreed { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// What the eager tape takes.
fn time_tape(json: bool, long: bool, budget: f64) -> ExitCode {
    if !json {
        println!("{}", tape::heading());
    }
    let shown = &mut |row: tape::Row| println!("{}", if json { row.json() } else { row.line() });
    ended(tape::measure(budget, long, shown))
}

fn ended<E: std::fmt::Display>(ran: Result<(), E>) -> ExitCode {
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// How long lowering takes, one line per program.
fn time_lowering(json: bool, budget: f64) -> ExitCode {
    if !json {
        println!("{:<9} {:>10} {:>9} {:>9}", "", "statements", "parse ms", "lower ms");
    }
    let mut failed = false;
    for program in lowering::ALL {
        match lowering::measure(program, budget) {
            Ok(row) if json => println!("{}", row.json()),
            Ok(row) => println!(
                "{:<9} {:>10} {:>9.2} {:>9.2}",
                row.program,
                row.statements,
                row.parse_s * 1e3,
                row.lower_s * 1e3,
            ),
            Err(errors) => {
                eprintln!("{}: {:?}", program.name, errors.first());
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
