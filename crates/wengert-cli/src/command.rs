//! What each command does.

use crate::input::Program;
use crate::{BackendName, By, Check, Common, Grad, ModeName, Run, Running, Show};
use crate::{human, json};
use wengert::{Args, Backend, Error, ErrorKind, Function, GradReport, Mode, Options, Stage, Wrt};

/// A command that came to its end.
pub(crate) struct Done {
    /// What to print.
    pub(crate) output: String,
    /// Whether derivatives agree, where that was the question.
    pub(crate) agrees: bool,
}

/// A command that did not.
pub(crate) struct Failure {
    /// What to say, with terminal colours.
    pub(crate) message: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::Run => 1,
            ErrorKind::Source | ErrorKind::Arguments | ErrorKind::Backend => 2,
        };
        Failure { message: error.render_coloured(), code }
    }
}

type Outcome = Result<Done, Failure>;

fn printed(output: String) -> Outcome {
    Ok(Done { output, agrees: true })
}

pub(crate) fn grad(grad: &Grad) -> Outcome {
    let mode = match grad.mode {
        ModeName::Forward => Mode::Forward,
        ModeName::Reverse => Mode::Reverse,
    };
    let options = Options { mode, ..options(&grad.running) };
    let function = function(&grad.common.program)?.with_options(options.clone());
    let args = arguments(&grad.common);
    let gradient = function.value_and_grad(args.clone(), wrt(&grad.by))?;
    printed(if grad.running.json {
        json::gradient(&gradient, &options)
    } else {
        human::gradient(function.name(), &named(&function, args)?, &gradient, &options)
    })
}

pub(crate) fn run(run: &Run) -> Outcome {
    let options = options(&run.running);
    let function = function(&run.common.program)?.with_options(options.clone());
    let args = arguments(&run.common);
    let evaluation = function.value(args.clone())?;
    printed(if run.running.json {
        json::evaluation(&evaluation, &options)
    } else {
        human::evaluation(function.name(), &named(&function, args)?, &evaluation, &options)
    })
}

pub(crate) fn check(check: &Check) -> Outcome {
    let function = function(&check.common.program)?.with_options(options(&check.running));
    let report = function.check(arguments(&check.common), wrt(&check.by), check.directions)?;
    let higher = match check.order {
        1 => None,
        order => Some(function.check_grads(arguments(&check.common), order as usize)?),
    };
    let agrees = report.passes() && higher.as_ref().is_none_or(GradReport::passes);
    let output = if check.running.json {
        json::report(&report, higher.as_ref())
    } else {
        let higher = higher.map_or(String::new(), |report| format!("{report}\n"));
        format!("{}: {report}\n{higher}", function.name())
    };
    Ok(Done { output, agrees })
}

pub(crate) fn show(show: &Show) -> Outcome {
    if show.stage == "list" {
        return printed(stage_list());
    }
    let Some(stage) = Stage::named(&show.stage) else {
        let message =
            format!("error: there is no stage `{}`; there are\n{}", show.stage, stage_list());
        return Err(Failure { message: message.trim_end().into(), code: 2 });
    };
    let function = function(&show.common.program)?;
    printed(function.show(stage, arguments(&show.common), wrt(&show.by))?)
}

/// The stages of the compiler, in order, with a line about each.
fn stage_list() -> String {
    Stage::all().iter().map(|(name, about)| format!("  {name:<16}{about}\n")).collect()
}

fn function(program: &Program) -> Result<Function, Failure> {
    let source = program.read().map_err(|error| Failure {
        message: format!("error: cannot read `{}`: {error}", program.file),
        code: 2,
    })?;
    Ok(match &program.function {
        Some(name) => Function::from_source(source, name)?,
        None => Function::last_of(source)?,
    })
}

fn arguments(common: &Common) -> Args {
    Args(common.args.iter().map(|argument| argument.0.clone()).collect())
}

/// The arguments as the call reads: each parameter with its value.
fn named(function: &Function, args: Args) -> Result<Vec<(String, wengert::Value)>, Failure> {
    let values = function.bind(args)?;
    Ok(function.parameters().map(String::from).zip(values).collect())
}

fn wrt(by: &By) -> Wrt {
    match by.wrt.as_slice() {
        [] => Wrt::All,
        names => Wrt::Names(names.iter().map(|n| n.trim().to_string()).collect()),
    }
}

fn options(running: &Running) -> Options {
    Options {
        backend: match running.backend {
            BackendName::Interp => Backend::Interp,
            BackendName::Jit => Backend::Jit,
        },
        max_iterations: running.max_iterations,
        tape_limit: running.tape_limit.map(|bytes| bytes.0),
        ..Options::default()
    }
}
