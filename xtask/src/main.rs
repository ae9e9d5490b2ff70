//! Developer tasks, on a machine with nothing but Rust.
//!
//! - `cargo xtask test`: everything a change must pass. What CI runs.
//! - `cargo xtask python`: the Python package, as a wheel, under pytest; part of `test`. See [`python`].
//! - `cargo xtask long`: tests that scale with an environment variable, scaled up; see [`LONG`]. Then the elementary
//!   functions against MPFR, where a C compiler, make and m4 are there to build it, the sanitizers and the faults.
//! - `cargo xtask fuzz --seconds 600`: texts near programs, each of which must be answered.
//! - `cargo xtask sanitize`: tests under tools that watch memory; see [`sanitize`].
//! - `cargo xtask faults`: faults planted in the source, each of which a test must catch; see [`faults`].
#![forbid(unsafe_code)]

mod fault_list;
mod faults;
mod python;
mod sanitize;

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// A long run: package, test, and the variables that scale it.
type Run<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// The long runs.
const LONG: &[Run] = &[
    // Random programs: modes against each other and finite differences, loops run in parts.
    ("wengert-core", "generated", &[("WENGERT_PROGRAMS", "20000")]),
    // Random programs: native code against the interpreter, to the bit; C takes the longest, so there are fewer.
    ("wengert-runtime", "differential", &[("WENGERT_PROGRAMS", "5000")]),
    (
        "wengert-runtime",
        "differential",
        &[("WENGERT_PROGRAMS", "20000"), ("WENGERT_THROUGH_C", "16")],
    ),
    // Random programs: patterns and compressed derivatives, loops one step at a time.
    ("wengert-core", "structure_random", &[("WENGERT_PROGRAMS", "5000")]),
    // Random Python programs: CPython with NumPy against both modes and native code.
    ("wengert", "python", &[("WENGERT_PROGRAMS", "5000")]),
    // Random programs as generic Rust on the eager tape, against the same as Python text.
    ("wengert", "tape", &[("WENGERT_PROGRAMS", "5000")]),
    // Examples as Rust functions in the versions of a release: debug builds have one.
    ("wengert", "differentiable_examples", &[]),
    // Random programs as Rust text, compiled by rustc, against the interpreter.
    ("wengert-core", "rust_programs", &[("WENGERT_PROGRAMS", "1000")]),
    // Random Rust functions through `#[differentiable]`, against the interpreter and Rust itself.
    ("wengert", "differentiable_random", &[("WENGERT_PROGRAMS", "1000")]),
    // Checkpoint schedules from random stored states, against all ways there are.
    ("wengert-schedule", "resume", &[("WENGERT_PROGRAMS", "5000")]),
    // Texts near programs.
    ("wengert", "fuzz", &[("WENGERT_FUZZ_SECONDS", "600")]),
    // Workloads against their references; the plates take seconds.
    ("wengert-bench", "references", &[("WENGERT_ITERATIONS", "1000")]),
    // Processes killed while they fill the folder of compiled code.
    ("wengert-cli", "compilers", &[("WENGERT_KILLS", "500")]),
    // Runs in limited memory killed, and gone on with.
    ("wengert-cli", "resume", &[("WENGERT_KILLS", "200")]),
    // The memory that gradients take, among them that of a large plate over 20,000 steps.
    ("wengert", "peak", &[("WENGERT_ITERATIONS", "20000")]),
    // Elementary functions against the machine's library; `precision` compares them with MPFR.
    ("wengert-core", "elementary", &[("WENGERT_POINTS", "2000000")]),
    // Elementary functions as Rust against the interpreter, to the bit.
    ("wengert-math", "bits", &[("WENGERT_POINTS", "200000")]),
];

/// The other compiler, where it is installed: tests that run what it makes.
const CLANG: [Run; 3] = [
    ("wengert-runtime", "differential", &[("CC", "clang"), ("WENGERT_PROGRAMS", "500")]),
    ("wengert", "examples", &[("CC", "clang")]),
    ("wengert", "parallel", &[("CC", "clang")]),
];

const USAGE: &str = "\
usage: cargo xtask test   formatting, lints, tests, doc tests, README examples, the Python package
       cargo xtask python   the Python package as an installed wheel, under pytest
       cargo xtask long   the same tests on many more programs and points: many minutes,
                          the sanitizers and the faults
       cargo xtask fuzz [--seconds N]   texts near programs, each of which must be answered
       cargo xtask sanitize   AddressSanitizer and valgrind on the runtime and the code it makes
       cargo xtask faults [NAME..]   plants faults in the source, one at a time: a test must catch each";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let passed = match args[..] {
        ["test"] => test(),
        ["python"] => python::test(),
        ["long"] => long() && sanitize::run() && faults::run(&[]),
        ["fuzz"] => fuzz("600"),
        ["fuzz", "--seconds", seconds] if seconds.parse::<u64>().is_ok() => fuzz(seconds),
        ["sanitize"] => sanitize::run(),
        ["faults", ref names @ ..] => faults::run(names),
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
        // As most depend on it: without the features that the rest of the workspace turns on.
        && optional("clippy", "clippy", &["clippy", "-p", "wengert", "--", "-D", "warnings"])
        && step(tests)
        && step(&["test", "--workspace", "--doc"])
        && python::test()
}

/// The tests that scale with an environment variable, scaled up and optimised, with their output: a
/// long run reports how far it has come.
fn long() -> bool {
    let clang: &[Run] = if answers(Command::new("clang")) { &CLANG } else { &[] };
    if clang.is_empty() {
        println!("--- skipped: `clang` is missing, with which tests of C are run once more");
    }
    LONG.iter().chain(clang).all(|run| scaled(*run)) && precision()
}

fn fuzz(seconds: &str) -> bool {
    scaled(("wengert", "fuzz", &[("WENGERT_FUZZ_SECONDS", seconds)]))
}

fn scaled((package, test, variables): Run) -> bool {
    let args = ["test", "--release", "-p", package, "--test", test, "--", "--nocapture"];
    step_with(&args, variables)
}

/// Elementary functions against MPFR: a package of its own, because MPFR takes C tools to build.
fn precision() -> bool {
    let missing = ["cc", "make", "m4"].into_iter().find(|tool| !answers(Command::new(tool)));
    if let Some(tool) = missing {
        println!("--- skipped: `{tool}` is missing, with which MPFR is built");
        return true;
    }
    let points = std::env::var("WENGERT_POINTS").unwrap_or("1000000".into());
    let args = ["run", "--release", "--manifest-path", "precision/Cargo.toml"];
    step_with(&args, &[("WENGERT_POINTS", &points)])
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
    let mut command = cargo();
    command.args(args).envs(variables.iter().copied());
    run(&format!("cargo {}", args.join(" ")), command)
}

/// Runs a command, and says what it is, how it ended and after how long.
fn run(what: &str, mut command: Command) -> bool {
    println!("--- {what}");
    let start = Instant::now();
    let passed = match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("it could not be started: {error}");
            false
        }
    };
    let verdict = if passed { "passed" } else { "FAILED" };
    println!("--- {verdict} after {:.0} s", start.elapsed().as_secs_f64());
    passed
}

fn available(subcommand: &str) -> bool {
    let mut command = cargo();
    command.arg(subcommand);
    answers(command)
}

/// Whether a program is there to tell its version.
fn answers(mut program: Command) -> bool {
    let quiet = program.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// The cargo that runs us, in the workspace.
fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    cargo
}
