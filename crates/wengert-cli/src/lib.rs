//! The `wengert` command, for `main` and for other programs that have it among theirs: [`run`].
//!
//! Reading order: here (what can be typed), [`input`] and [`literal`] (programs and arguments from the
//! command line, with [`npy`] and [`csv`] files), [`command`] (what each command does), [`human`] and
//! [`json`] (the two forms of output), [`emit`] (C files), [`plan`] and [`picture`] (schedules of loops), [`doctor`] (what there is to run with), [`colour`], [`progress`] (what a terminal shows meanwhile).
#![forbid(unsafe_code)]

mod colour;
mod command;
mod csv;
mod doctor;
mod emit;
mod foreseen;
mod human;
mod input;
mod json;
mod literal;
mod npy;
mod picture;
mod plan;
mod progress;

pub use plan::schedule_in_bytes;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use input::{Argument, Bytes, Disk, Program, Seed};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0    it worked
  1    the program failed while it ran (an index out of range, an endless loop), derivatives disagree,
       or the output could not be written
  2    bad input: the command line, the file, the arguments, or a program that cannot be differentiated
  130  interrupted (Ctrl-C)";

/// Derivatives of programs with loops and state.
///
/// A program is a file of plain Python functions. It may loop a data-dependent number of times, leave
/// loops early and overwrite arrays.
#[derive(Parser, Debug)]
#[command(name = "wengert", version, after_help = EXIT_CODES)]
struct Cli {
    /// Colours in messages and in `show`. NO_COLOR in the environment is respected.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourName::Auto)]
    color: ColourName,

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
    /// Compare forward mode, reverse mode and finite differences, and look for trouble in the run.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Print a program as the compiler sees it.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Show),
    /// Write a function and its gradient as C, to be compiled without wengert.
    #[command(after_help = EMIT_EXAMPLES)]
    Emit(Emit),
    /// Say what it costs to reverse a loop with little memory, before anything is run.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanOptions),
    /// Say more about an error, by the code in its brackets; without one, list them all.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// The code, as in `error[index-out-of-range]`.
        code: Option<String>,
    },
    /// Say what programs run with on this machine: processor, compilers, the folder of compiled code.
    Doctor,
    /// Print a script that makes a shell complete this command.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

const GRAD_EXAMPLES: &str = "\
Examples:
  wengert grad examples/newton.py a=2 x0=1
  wengert grad examples/lorenz.py:lorenz n=200 --wrt sigma,rho,beta
  wengert grad examples/newton.py a=2 x0=1 --mode forward --json
  wengert grad examples/heat.py 'u=linspace(0, 1, 100)' k=0.25 n=10 --wrt u -o grad.npy
  wengert grad model.py 'x=[[1, 2], [3, 4]]' w=@weights.npy --args rest.json
  wengert grad model.py 'x=[1, 2]' --seed '[1, 0]'      of a function that returns an array
  wengert grad model.py 'x=[1, 2]' --jacobian
  wengert grad examples/newton.py 'a=linspace(1, 9, 1000)' x0=1 --batch a       a thousand roots

With --json: {\"value\": .., \"grad\": {\"a\": .., ..}, \"mode\": .., \"stats\": {..}}; with --jacobian,
\"jacobian\" instead of \"grad\", for several results a list of such objects. Several values are a list.
JSON has no NaN and no infinities: they are the strings \"NaN\", \"Infinity\" and \"-Infinity\".";

const RUN_EXAMPLES: &str = "\
Examples:
  wengert run examples/newton.py a=2 x0=1
  wengert run model.py:energy 'x=[1.0, 2.0, 3.0]' k=0.5 --json
  wengert run examples/heat.py 'u=zeros(100)' k=0.25 --args rest.json -o u.npy

With --json: {\"values\": [..], \"stats\": {..}}; NaN and infinities are the strings \"NaN\", \"Infinity\" and
\"-Infinity\".";

const CHECK_EXAMPLES: &str = "\
Examples:
  wengert check examples/newton.py a=2 x0=1
  wengert check model.py 'x=[1, 2, 3]' --wrt x --directions 20
  wengert check model.py x=3 --order 2

Beside the comparison it says where a NaN or an infinity first appears, where the run stands exactly on a
kink (`abs(x)` at 0, `max(a, b)` of equals), and where a loop's stopping test that depends on what is
differentiated by came very near to deciding otherwise. A NaN in a result fails the check; the others are
warnings.";

const SHOW_EXAMPLES: &str = "\
Examples:
  wengert show examples/newton.py --stage ssa
  wengert show examples/newton.py --stage list
  wengert show examples/heat.py 'u=zeros(5)' n=10 --stage functional
  wengert show examples/lorenz.py n=200 --stage vjp --wrt rho --color always | less -R";

const EMIT_EXAMPLES: &str = "\
Examples:
  wengert emit examples/newton.py a=2 x0=1
  wengert emit examples/heat.py 'u=[0, 1, 0]' k=0.25 n=10 --lang c --out build --wrt u

Writes NAME.c, NAME.h, NAME_main.c (a program that calls it with these arguments) and NAME.f90 (the same functions
for Fortran), and prints how they are compiled. The C needs a compiler and its library, nothing else, and gives the
numbers of `wengert grad` to the bit. The arguments decide kinds and numbers of dimensions, and which dimensions are 1;
one that is left out is what its default or annotation says, or else a float.";

const PLAN_EXAMPLES: &str = "\
Examples:
  wengert plan examples/workload_c.py n=1000000 --memory 240kB --precision f32
  wengert plan --steps 1000000 --slots 100
  wengert plan --steps 1000 --slots 10 --online --json
  wengert plan --steps 100 --slots 5 --svg > schedule.svg
  wengert plan --steps 20000 --state-bytes 2MB --tape-bytes 500kB --memory 256MiB
  wengert plan --steps 100000 --slots 10 --disk-slots 200 --write-cost 3 --read-cost 2

Of a file, a few iterations of each loop are run to see what they take. With --json: {\"loops\": [..]}, and for a
schedule alone {\"evaluations\": .., \"advances\": .., \"max_evaluations_of_a_step\": .., ..}; the last is null where counting
would take too long.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  wengert explain
  wengert explain iteration-limit";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  wengert completions bash > ~/.local/share/bash-completion/completions/wengert
  wengert completions zsh > ~/.zfunc/_wengert
  wengert completions fish > ~/.config/fish/completions/wengert.fish";

/// What every command takes.
#[derive(Args, Debug)]
struct Common {
    /// The file, and the function in it; without one, the last function of the file. `-` reads
    /// standard input.
    #[arg(value_name = "FILE[:FUNCTION]")]
    program: Program,

    /// Arguments, by name or in order: numbers, `true`, `false`, lists `[1, 2]` and `[[1, 2], [3, 4]]`,
    /// `zeros(3, 4)`, `ones(3)`, `arange(10)`, `linspace(0, 1, 100)`, `@file.npy`, `@file.csv`.
    #[arg(value_name = "NAME=VALUE", allow_negative_numbers = true)]
    arguments: Vec<Argument>,

    /// A JSON file with an object of arguments by name; those typed take precedence.
    #[arg(long, value_name = "FILE.json")]
    args: Option<PathBuf>,
}

/// How to run.
#[derive(Args, Debug)]
struct Running {
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = BackendName::Auto)]
    backend: BackendName,

    /// Most iterations of a `while` loop before it is reported as endless.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    max_iterations: u64,

    /// Most bytes of tape, as in `500000`, `64MiB` or `2GiB` [default: most of the free memory].
    #[arg(long, value_name = "BYTES")]
    tape_limit: Option<Bytes>,

    /// Bytes for what the way back through loops needs, as in `64MiB`: where it needs more, iterations are run again. Changes
    /// no bit [default: everything is kept].
    #[arg(long, value_name = "BYTES")]
    memory: Option<Bytes>,

    /// Take loops back, step by step, instead of keeping what they were: memory does not grow with the number of iterations. For loops that
    /// can be undone, as leapfrog; with a line, the loop of that line. Rounding makes states drift, which is measured and told.
    #[arg(long, value_name = "LINE", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    invert: Option<usize>,

    /// Store a state every so many iterations of a loop that is taken back.
    #[arg(long, value_name = "N", requires = "invert", value_parser = clap::value_parser!(u64).range(1..))]
    invert_every: Option<u64>,

    /// How far a state that is taken back may come out from the one that was stored, relative to the largest number.
    #[arg(long, value_name = "DRIFT", requires = "invert", default_value_t = 1e-6)]
    invert_within: f64,

    /// A folder for states of loops beside the memory, and how many bytes they may take there, as in `run/:10GiB`. What is
    /// written there is removed at the end; a run that was killed leaves it.
    #[arg(long, value_name = "FOLDER:BYTES", requires = "memory")]
    disk: Option<Disk>,

    /// Go on with a run that was left in this folder: the same command, with this.
    #[arg(long, value_name = "FOLDER", requires = "memory")]
    resume: Option<PathBuf>,

    /// Keep states with fewer digits, so that more of them fit the memory: results stay exact, gradients do not, and about how far
    /// they are from the exact ones is told [default: states are exact].
    #[arg(long, value_enum, value_name = "KIND", requires = "memory")]
    precision: Option<PrecisionName>,

    /// What is written to the folder survives a loss of power.
    #[arg(long)]
    fsync: bool,

    /// Arguments that have one value per member of a batch along their first axis, separated by commas: runs all
    /// members. Derivatives by the other arguments are summed over them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    batch: Vec<String>,

    /// How many threads run a batch or a parallel loop; changes no bit [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Print one JSON object; floats with all their digits, NaN and infinities as strings.
    #[arg(long)]
    json: bool,
}

/// A loop, and what may be held of it.
#[derive(Args, Debug)]
struct PlanOptions {
    /// The file, and the function in it, whose loops are looked at.
    #[arg(value_name = "FILE[:FUNCTION]", conflicts_with = "steps")]
    program: Option<Program>,

    /// Its arguments, as for the other commands.
    #[arg(value_name = "NAME=VALUE", allow_negative_numbers = true)]
    arguments: Vec<Argument>,

    /// A JSON file with an object of arguments by name; those typed take precedence.
    #[arg(long, value_name = "FILE.json", conflicts_with = "steps")]
    args: Option<PathBuf>,

    #[command(flatten)]
    by: By,

    /// How many steps the loop has, for a schedule alone.
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// How many states may be stored in memory; the first one is among them.
    #[arg(long, value_name = "S", conflicts_with = "memory")]
    slots: Option<usize>,

    /// Bytes for states and records together, in place of a number of states.
    #[arg(long, value_name = "BYTES")]
    memory: Option<Bytes>,

    /// Of a file: states are kept with fewer digits.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "steps")]
    precision: Option<PrecisionName>,

    /// Bytes of a state.
    #[arg(long, value_name = "BYTES", requires = "memory")]
    state_bytes: Option<Bytes>,

    /// Bytes of the record of one step.
    #[arg(long, value_name = "BYTES", requires = "memory")]
    tape_bytes: Option<Bytes>,

    /// How many states may be on disk as well.
    #[arg(long, value_name = "D", conflicts_with = "memory")]
    disk_slots: Option<usize>,

    /// How long it takes to write a state to disk, in steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1, requires = "disk_slots")]
    write_cost: u64,

    /// How long it takes to read a state from disk, in steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1, requires = "disk_slots")]
    read_cost: u64,

    /// The number of steps is not known until the loop ends.
    #[arg(long, conflicts_with = "memory")]
    online: bool,

    /// Print one JSON object.
    #[arg(long, conflicts_with = "svg")]
    json: bool,

    /// Print a picture, of up to 200,000 evaluations.
    #[arg(long)]
    svg: bool,
}

impl PlanOptions {
    /// The program and its arguments, if there is one.
    fn common(&self) -> Option<Common> {
        let (arguments, args) = (self.arguments.clone(), self.args.clone());
        self.program.clone().map(|program| Common { program, arguments, args })
    }
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
    /// Reverse: one sweep back for all parameters. Forward: one run per number, without a tape
    /// [default: reverse; with --jacobian, whichever takes fewer runs].
    #[arg(long, value_enum)]
    mode: Option<ModeName>,
    /// For a function that returns an array or several values: what to weight them with, one number per
    /// element or value, nested lists allowed.
    #[arg(long, value_name = "LIST", conflicts_with = "jacobian", allow_hyphen_values = true)]
    seed: Option<Seed>,
    /// The derivative of every result by every parameter.
    #[arg(long)]
    jacobian: bool,
    /// Write the derivative to a .npy file; of several parameters, NAME.npy each into a directory.
    #[arg(short, long, value_name = "FILE.npy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
struct Run {
    #[command(flatten)]
    common: Common,
    /// Write what it returns to a .npy file; several values, resultN.npy each into a directory.
    #[arg(short, long, value_name = "FILE.npy")]
    output: Option<PathBuf>,
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

#[derive(Args, Debug)]
struct Emit {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    by: By,
    /// The language.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value_t = LanguageName::C)]
    lang: LanguageName,
    /// The directory to write to; it is made where there is none.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LanguageName {
    C,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendName {
    /// Native code at once; faster code by the C compiler for programs that keep running.
    Auto,
    /// The interpreter: the specification, and slow.
    Interp,
    /// Native code by Cranelift.
    Jit,
    /// Native code by the C compiler, compiled first; an error where there is none.
    Cc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrecisionName {
    /// Floats of four bytes, with 24 binary digits.
    F32,
    /// Floats of two bytes, with 8 binary digits.
    Bf16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Forward,
    Reverse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColourName {
    /// On a terminal.
    Auto,
    Always,
    Never,
}

/// Runs the command with what was typed, its own name first; gives back its exit code.
pub fn run(typed: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(typed) {
        Ok(cli) => cli,
        Err(told) => {
            // Where it cannot be said, there is nobody to say it to.
            let _ = told.print();
            return u8::try_from(told.exit_code()).unwrap_or(2);
        }
    };
    match cli.color {
        ColourName::Auto => anstream::ColorChoice::Auto,
        ColourName::Always => anstream::ColorChoice::Always,
        ColourName::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let result = match cli.command {
        Command::Grad(grad) => command::grad(&grad),
        Command::Run(run) => command::run(&run),
        Command::Check(check) => command::check(&check),
        Command::Show(show) => command::show(&show),
        Command::Emit(emit) => emit::emit(&emit),
        Command::Plan(options) if options.steps.is_none() => foreseen::plan(&options),
        Command::Plan(options) => plan::plan(&options),
        Command::Explain { code } => command::explain(code.as_deref()),
        Command::Doctor => command::printed(doctor::report()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "wengert", &mut script);
            command::printed(String::from_utf8_lossy(&script).into_owned())
        }
    };
    match result {
        Ok(done) => {
            let code = if done.agrees { 0 } else { 1 };
            match human::print(&done.output) {
                Ok(()) => code,
                // Whoever read our output has stopped doing so, as `| head` does.
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => code,
                Err(e) => {
                    anstream::eprintln!("error: cannot write the output: {e}");
                    1
                }
            }
        }
        Err(failure) => {
            anstream::eprintln!("{}", failure.message);
            failure.code
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
