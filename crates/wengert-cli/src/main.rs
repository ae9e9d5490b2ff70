//! The `wengert` command.
//!
//! Reading order: here (what can be typed), [`input`] (programs and arguments from the command line),
//! [`command`] (what each command does), [`human`] and [`json`] (the two forms of output).
#![forbid(unsafe_code)]

mod command;
mod human;
mod input;
mod json;

use clap::{Args, Parser, Subcommand, ValueEnum};
use input::{Argument, Bytes, Program};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  it worked
  1  the program failed while it ran (an index out of range, an endless loop), or derivatives disagree
  2  bad input: the command line, the file, the arguments, or a program that cannot be differentiated";

/// Derivatives of programs with loops and state.
///
/// A program is a file of plain Python functions. It may loop a data-dependent number of times, leave
/// loops early and overwrite arrays.
#[derive(Parser, Debug)]
#[command(name = "wengert", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print the value of a function and its gradient.
    #[command(after_help = GRAD_EXAMPLES)]
    Grad(Grad),
    /// Run a function and print what it returns.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Compare forward mode, reverse mode and finite differences.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Print a program as the compiler sees it.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Show),
}

const GRAD_EXAMPLES: &str = "\
Examples:
  wengert grad examples/newton.py a=2 x0=1
  wengert grad examples/lorenz.py:lorenz n=200 --wrt sigma,rho,beta
  wengert grad examples/newton.py a=2 x0=1 --mode forward --json";

const RUN_EXAMPLES: &str = "\
Examples:
  wengert run examples/newton.py a=2 x0=1
  wengert run model.py:energy 'x=[1.0, 2.0, 3.0]' k=0.5 --json";

const CHECK_EXAMPLES: &str = "\
Examples:
  wengert check examples/newton.py a=2 x0=1
  wengert check model.py 'x=[1, 2, 3]' --wrt x --directions 20
  wengert check model.py x=3 --order 2";

const SHOW_EXAMPLES: &str = "\
Examples:
  wengert show examples/newton.py --stage ssa
  wengert show examples/newton.py --stage list
  wengert show examples/lorenz.py n=200 --stage vjp --wrt rho";

/// What every command takes.
#[derive(Args, Debug)]
struct Common {
    /// The file, and the function in it; without one, the last function of the file. `-` reads
    /// standard input.
    #[arg(value_name = "FILE[:FUNCTION]")]
    program: Program,

    /// Arguments: numbers, `true`, `false`, lists such as `[1, 2, 3]`; by name, or in order.
    #[arg(value_name = "NAME=VALUE", allow_negative_numbers = true)]
    args: Vec<Argument>,
}

/// How to run.
#[derive(Args, Debug)]
struct Running {
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = BackendName::Jit)]
    backend: BackendName,

    /// Most iterations of a `while` loop before it is reported as endless.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    max_iterations: u64,

    /// Most bytes of tape, as in `500000`, `64MiB` or `2GiB` [default: most of the free memory].
    #[arg(long, value_name = "BYTES")]
    tape_limit: Option<Bytes>,

    /// Print one JSON object; floats with all their digits, NaN and infinities as strings.
    #[arg(long)]
    json: bool,
}

/// What to differentiate by.
#[derive(Args, Debug)]
struct By {
    /// Parameters to differentiate by, separated by commas [default: all floats and arrays].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    wrt: Vec<String>,
}

#[derive(Args, Debug)]
struct Grad {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    by: By,
    /// Reverse: one sweep back for all parameters. Forward: one run per number, without a tape.
    #[arg(long, value_enum, default_value_t = ModeName::Reverse)]
    mode: ModeName,
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
struct Run {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
struct Check {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    by: By,
    /// How many random directions to compare along.
    #[arg(long, value_name = "N", default_value_t = 10)]
    directions: usize,
    /// Also derivatives of derivatives, up to this order, in every combination of modes (at most 3).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3))]
    order: u64,
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
struct Show {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    by: By,
    /// Which stage of the compiler; `list` names them all.
    #[arg(long, value_name = "STAGE", default_value = "pipeline")]
    stage: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendName {
    /// The interpreter: the specification, and slow.
    Interp,
    /// Native code.
    Jit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Forward,
    Reverse,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Grad(grad) => command::grad(&grad),
        Command::Run(run) => command::run(&run),
        Command::Check(check) => command::check(&check),
        Command::Show(show) => command::show(&show),
    };
    match result {
        Ok(done) => {
            if human::print(&done.output).is_err() {
                // Whoever read our output has stopped doing so, as `| head` does.
                return ExitCode::SUCCESS;
            }
            if done.agrees { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(failure) => {
            anstream::eprintln!("{}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
