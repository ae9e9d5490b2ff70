//! Developer tasks, on a machine with nothing but Rust.
//!
//! - `cargo xtask test`: everything a change must pass. What CI runs.
//! - `cargo xtask long`: the long runs. More generated programs than in a test, then the tests marked
//!   `#[ignore]`, which stand next to what they test; a new one needs no entry here.
#![forbid(unsafe_code)]

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// How many programs a long run generates.
const GENERATED: &str = "50000";

const USAGE: &str = "\
usage: cargo xtask test   formatting, lints, tests, doc tests, README examples
       cargo xtask long   the tests that take minutes to hours";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let passed = match args[..] {
        ["test"] => test(),
        ["long"] => long(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Stops at the first step that fails.
fn test() -> bool {
    let tests: &[&str] = if available("nextest") {
        &["nextest", "run", "--workspace"]
    } else {
        // The README examples are among the tests.
        &["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]
    };
    optional("fmt", "rustfmt", &["fmt", "--all", "--check"])
        && optional(
            "clippy",
            "clippy",
            &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        )
        && step(tests)
        && step(&["test", "--workspace", "--doc"])
}

/// Optimised, one test at a time, with its output: a long run reports how far it has come.
fn long() -> bool {
    let release = ["test", "--release", "--workspace", "--lib", "--tests", "--"];
    let shown = ["--nocapture", "--test-threads=1"];
    let generated = ["test", "--release", "-p", "wengert-core", "--test", "generated", "--"];
    step_with(&[&generated[..], &shown].concat(), &[("WENGERT_PROGRAMS", GENERATED)])
        && step(&[&release[..], &["--ignored"], &shown].concat())
}

/// A step that needs a component not every installation has.
fn optional(subcommand: &str, component: &str, args: &[&str]) -> bool {
    if available(subcommand) {
        return step(args);
    }
    println!("--- skipped: {component} is missing (`rustup component add {component}`)");
    true
}

fn step(args: &[&str]) -> bool {
    step_with(args, &[])
}

/// A step with environment variables set.
fn step_with(args: &[&str], variables: &[(&str, &str)]) -> bool {
    println!("--- cargo {}", args.join(" "));
    let start = Instant::now();
    let passed = match cargo().args(args).envs(variables.iter().copied()).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo could not be started: {error}");
            false
        }
    };
    let verdict = if passed { "passed" } else { "FAILED" };
    println!("--- {verdict} after {:.0} s", start.elapsed().as_secs_f64());
    passed
}

fn available(subcommand: &str) -> bool {
    let quiet = cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

/// The cargo that runs us, in the workspace.
fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    cargo
}
