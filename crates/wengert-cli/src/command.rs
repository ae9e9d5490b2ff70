//! What each command does.

use crate::input::{Program, Seed};
use crate::literal::{self, Item};
use crate::progress::{self, Progress};
use crate::{BackendName, By, Check, Common, Grad, ModeName, PrecisionName, Run, Running, Show};
use crate::{colour, human, json, npy};
use std::path::Path;
use wengert::{Arg, Args, Array, Backend, Error, ErrorKind, FaultKind, Function, GradReport};
use wengert::{Mode, Options, Precision, Stage, Value, Wrt};

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

impl Failure {
    /// Bad input.
    pub(crate) fn input(message: impl std::fmt::Display) -> Failure {
        Failure { message: format!("error: {message}"), code: 2 }
    }
}

/// The exit code of what was stopped.
const INTERRUPTED: u8 = 130;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let interrupted = error.fault().is_some_and(|f| f.kind == FaultKind::Interrupted);
        let code = match error.kind() {
            _ if interrupted => INTERRUPTED,
            ErrorKind::Run => 1,
            ErrorKind::Source | ErrorKind::Arguments | ErrorKind::Backend => 2,
        };
        Failure { message: error.render_coloured(), code }
    }
}

pub(crate) type Outcome = Result<Done, Failure>;

pub(crate) fn printed(output: String) -> Outcome {
    Ok(Done { output, agrees: true })
}

pub(crate) fn grad(grad: &Grad) -> Outcome {
    let mode = grad.mode.map(|mode| match mode {
        ModeName::Forward => Mode::Forward,
        ModeName::Reverse => Mode::Reverse,
    });
    let options = Options { mode: mode.unwrap_or_default(), ..options(&grad.running) };
    let function = function(&grad.common.program)?.with_options(options.clone());
    let args = members(&function, arguments(&function, &grad.common)?, &grad.running.batch);
    let progress = Progress::start("differentiating", options.watch.clone());
    let batch = &grad.running.batch;
    let derivatives = match (&grad.seed, grad.jacobian) {
        _ if !batch.is_empty() => {
            if grad.seed.is_some() || grad.jacobian {
                return Err(Failure::input(
                    "`--batch` gives gradients of one number; leave `--seed` and `--jacobian` out",
                ));
            }
            let gradient = function.batch(batch).value_and_grad(args.clone(), wrt(&grad.by))?;
            Derivatives { mode: options.mode, ..Derivatives::from(gradient) }
        }
        (Some(seed), _) => {
            if mode == Some(Mode::Forward) {
                return Err(Failure::input(
                    "`--seed` weights the results, which is reverse mode; leave `--mode forward` out, or ask for the `--jacobian`",
                ));
            }
            let seeds = seeds(&function, &function.call(args.clone())?.values, seed)?;
            Derivatives::from(function.vjp(args.clone(), Args(seeds), wrt(&grad.by))?)
        }
        (None, true) => {
            let jacobian = match mode {
                Some(mode) => function.jacobian_in(mode, args.clone(), wrt(&grad.by))?,
                None => function.jacobian(args.clone(), wrt(&grad.by))?,
            };
            Derivatives::from(jacobian)
        }
        (None, false) => {
            let gradient = function.value_and_grad(args.clone(), wrt(&grad.by));
            let gradient = gradient.map_err(|e| left_in(&options, e.into()))?;
            Derivatives { mode: options.mode, ..Derivatives::from(gradient) }
        }
    };
    drop(progress);
    if let Some(path) = &grad.output {
        save(path, &derivatives.files(), "derivatives", "or choose one with `--wrt`")?;
    }
    printed(if grad.running.json {
        json::derivatives(&derivatives)
    } else {
        let integers = match grad.by.wrt.is_empty() && batch.is_empty() {
            true => function.integers_by_chance(args.clone())?,
            false => Vec::new(),
        };
        let named = named(&function, batch, args)?;
        human::derivatives(function.name(), &named, &derivatives) + &human::integers(&integers)
    })
}

/// Of a run that was stopped and has a folder it is said how to go on.
fn left_in(options: &Options, failure: Failure) -> Failure {
    match &options.disk {
        Some(disk) if failure.code == INTERRUPTED => {
            let folder = disk.folder.display();
            let message = format!(
                "{}\n= help: the same command with `--resume {folder}` goes on from there",
                failure.message.trim_end()
            );
            Failure { message, ..failure }
        }
        _ => failure,
    }
}

/// What `grad` prints: derivatives of one or several results by parameters.
pub(crate) struct Derivatives {
    pub(crate) values: Vec<Value>,
    /// Of each result, or of all results together, by each parameter.
    pub(crate) rows: Vec<Row>,
    /// Whether there is a row for every result.
    pub(crate) jacobian: bool,
    pub(crate) mode: Mode,
    pub(crate) stats: wengert::Stats,
}

/// The derivatives of one result, counted from 0.
pub(crate) struct Row {
    pub(crate) result: usize,
    pub(crate) by: Vec<(String, Value)>,
}

impl From<wengert::Gradient> for Derivatives {
    fn from(g: wengert::Gradient) -> Derivatives {
        let (values, rows) = (vec![Value::Float(g.value)], vec![Row { result: 0, by: g.grad }]);
        Derivatives { values, rows, jacobian: false, mode: Mode::Reverse, stats: g.stats }
    }
}

impl From<wengert::BatchGradient> for Derivatives {
    fn from(g: wengert::BatchGradient) -> Derivatives {
        let values = vec![Value::from(g.values)];
        let rows = vec![Row { result: 0, by: g.grad }];
        Derivatives { values, rows, jacobian: false, mode: Mode::Reverse, stats: g.stats }
    }
}

impl From<wengert::Adjoints> for Derivatives {
    fn from(a: wengert::Adjoints) -> Derivatives {
        let rows = vec![Row { result: 0, by: a.adjoints }];
        Derivatives { values: a.values, rows, jacobian: false, mode: Mode::Reverse, stats: a.stats }
    }
}

impl From<wengert::Jacobian> for Derivatives {
    fn from(j: wengert::Jacobian) -> Derivatives {
        let mut rows: Vec<Row> = Vec::new();
        for block in j.blocks {
            if rows.last().is_none_or(|row| row.result != block.result) {
                rows.push(Row { result: block.result, by: Vec::new() });
            }
            if let Some(row) = rows.last_mut() {
                row.by.push((block.parameter, block.derivative));
            }
        }
        Derivatives { values: j.values, rows, jacobian: true, mode: j.mode, stats: j.stats }
    }
}

impl Derivatives {
    /// The name of the file of each derivative in a directory, and what it holds.
    fn files(&self) -> Vec<(String, &Value)> {
        let several = self.rows.len() > 1;
        let rows = self.rows.iter().flat_map(|row| row.by.iter().map(move |by| (row.result, by)));
        rows.map(|(result, (name, value))| match several {
            true => (format!("result{result}_{name}"), value),
            false => (name.clone(), value),
        })
        .collect()
    }
}

pub(crate) fn run(run: &Run) -> Outcome {
    let function = function(&run.common.program)?.with_options(options(&run.running));
    let args = members(&function, arguments(&function, &run.common)?, &run.running.batch);
    let progress = Progress::start("running", None);
    let batch = &run.running.batch;
    let evaluation = match batch.is_empty() {
        true => function.call(args.clone())?,
        false => function.batch(batch).call(args.clone())?.into(),
    };
    drop(progress);
    if let Some(path) = &run.output {
        let values = evaluation.values.iter().enumerate();
        let files: Vec<_> = values.map(|(k, value)| (format!("result{k}"), value)).collect();
        save(path, &files, "results", "or return one of them")?;
    }
    printed(if run.running.json {
        json::evaluation(&evaluation)
    } else {
        human::evaluation(function.name(), &named(&function, batch, args)?, &evaluation)
    })
}

pub(crate) fn check(check: &Check) -> Outcome {
    if !check.running.batch.is_empty() {
        return Err(Failure::input("`check` takes one point: leave `--batch` out"));
    }
    let function = function(&check.common.program)?.with_options(options(&check.running));
    let args = arguments(&function, &check.common)?;
    let progress = Progress::start("checking", None);
    let report = function.check(args.clone(), wrt(&check.by), check.directions)?;
    let higher = match check.order {
        1 => None,
        order => Some(function.check_grads(args.clone(), order as usize)?),
    };
    let inspection = function.inspect(args, wrt(&check.by))?;
    drop(progress);
    let agrees =
        report.passes() && higher.as_ref().is_none_or(GradReport::passes) && inspection.passes();
    let output = if check.running.json {
        json::report(&report, higher.as_ref(), &inspection, agrees)
    } else {
        let higher = higher.map_or(String::new(), |report| format!("{report}\n"));
        let found = match inspection.findings.is_empty() {
            true => String::new(),
            false => format!("\n{}\n", inspection.render_coloured()),
        };
        format!("{}: {report}\n{higher}{found}", function.name())
    };
    Ok(Done { output, agrees })
}

pub(crate) fn show(show: &Show) -> Outcome {
    if show.stage == "list" {
        return printed(stage_list());
    }
    let Some(stage) = Stage::named(&show.stage) else {
        let message = format!("there is no stage `{}`; there are\n{}", show.stage, stage_list());
        return Err(Failure::input(message.trim_end()));
    };
    let function = function(&show.common.program)?;
    let text = function.show(stage, arguments(&function, &show.common)?, wrt(&show.by))?;
    printed(colour::program(&text))
}

/// The stages of the compiler, in order, with a line about each.
fn stage_list() -> String {
    Stage::all().iter().map(|(name, about)| format!("  {name:<16}{about}\n")).collect()
}

pub(crate) fn explain(code: Option<&str>) -> Outcome {
    let Some(code) = code else {
        let codes = wengert::explanations().map(|(code, text)| {
            let first = text.lines().next().unwrap_or_default();
            format!("  {code:<26}{first}\n")
        });
        return printed(codes.collect());
    };
    // As it stands in a message: `error[index-out-of-range]`.
    let code = code.trim_start_matches("error").trim_matches(['[', ']']);
    match wengert::explain(code) {
        Some(text) => printed(format!("{code}: {text}\n")),
        None => {
            let message = format!("there is no error `{code}`; `wengert explain` lists them");
            Err(Failure::input(message))
        }
    }
}

pub(crate) fn function(program: &Program) -> Result<Function, Failure> {
    let source = program
        .read()
        .map_err(|error| Failure::input(format!("cannot read `{}`: {error}", program.file)))?;
    Ok(match &program.function {
        Some(name) => Function::from_source(source, name)?,
        None => Function::last_of(source)?,
    })
}

/// The arguments typed, and those of the file that are not among them.
pub(crate) fn arguments(function: &Function, common: &Common) -> Result<Args, Failure> {
    let mut args: Vec<Arg> = common.arguments.iter().map(|argument| argument.0.clone()).collect();
    if let Some(path) = &common.args {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::input(format!("cannot read `{shown}`: {e}")))?;
        let json: serde_json::Value = serde_json::from_str(&text)
            .map_err(|e| Failure::input(format!("`{shown}` is not JSON: {e}")))?;
        let serde_json::Value::Object(object) = json else {
            return Err(Failure::input(format!(
                "`{shown}` must hold an object of arguments by name, as in `{{\"a\": 2.0, \"n\": 10}}`"
            )));
        };
        // Those without a name are for the first parameters.
        let unnamed = args.iter().filter(|a| a.name.is_none()).count();
        let typed: Vec<String> = args.iter().filter_map(|a| a.name.clone()).collect();
        let typed: Vec<&str> =
            function.parameters().take(unnamed).chain(typed.iter().map(String::as_str)).collect();
        for (name, value) in &object {
            if typed.contains(&name.as_str()) {
                continue;
            }
            let value = literal::json(value)
                .and_then(Item::value)
                .map_err(|e| Failure::input(format!("in `{shown}`, for `{name}`: {e}")))?;
            args.push(Arg { name: Some(name.clone()), value });
        }
    }
    Ok(Args(args))
}

/// A list of whole numbers is an array of floats, but the members of a batch are numbers as if they had been typed
/// one by one: integers, which become floats where the program has no other use for them.
fn members(function: &Function, mut args: Args, batch: &[String]) -> Args {
    let mut in_order = function.parameters();
    for arg in &mut args.0 {
        let name = arg.name.as_deref().or_else(|| in_order.next());
        let is_member = name.is_some_and(|name| batch.iter().any(|member| member == name));
        let whole = |x: &f64| x.trunc() == *x && x.abs() < 1e15;
        let numbers = arg.value.as_array().filter(|x| x.rank() == 1).and_then(Array::as_f64);
        if let Some(numbers) = numbers.filter(|x| is_member && x.iter().all(whole)) {
            arg.value = Value::from(numbers.iter().map(|x| *x as i64).collect::<Vec<i64>>());
        }
    }
    args
}

/// The adjoints of the float results: one entry of the list for each, or all numbers in a row.
fn seeds(function: &Function, results: &[Value], seed: &Seed) -> Result<Vec<Arg>, Failure> {
    let is_float = |v: &&Value| match v {
        Value::Float(_) | Value::Single(_) => true,
        Value::Array(x) => x.as_f64().is_some() || x.as_f32().is_some(),
        Value::Int(_) | Value::Bool(_) => false,
    };
    let floats: Vec<&Value> = results.iter().filter(is_float).collect();
    let count = |v: &Value| v.as_array().map_or(1, Array::len);
    let total: usize = floats.iter().map(|v| count(v)).sum();
    let numbers = seed.0.numbers().map_err(|e| Failure::input(format!("for `--seed`: {e}")))?;
    let by_result = match &seed.0 {
        Item::List(items) if floats.len() > 1 && items.len() == floats.len() => items
            .iter()
            .zip(&floats)
            .all(|(item, v)| item.numbers().is_ok_and(|n| n.len() == count(v))),
        _ => true,
    };
    if numbers.len() != total || !by_result {
        let shapes: Vec<String> = floats.iter().map(|v| human::size_of(v)).collect();
        let (given, name) = (numbers.len(), function.name());
        return Err(Failure::input(format!(
            "`--seed` has {given} numbers, but `{name}` returns {}: give one number for each of the {total}, as in `--seed '[{}]'`",
            shapes.join(" and "),
            vec!["1"; total.clamp(1, 3)].join(", "),
        )));
    }
    let mut rest = numbers.into_iter();
    let shaped = floats.iter().map(|v| {
        let part: Vec<f64> = rest.by_ref().take(count(v)).collect();
        let value = match v {
            Value::Array(x) => Array::new(x.shape(), part).map(Value::Array),
            _ => Ok(Value::Float(part.first().copied().unwrap_or(0.0))),
        };
        value.map(Arg::from).map_err(|e| Failure::input(e.to_string()))
    });
    shaped.collect()
}

/// Writes one value to a file, or several into a directory.
fn save(
    path: &Path,
    files: &[(String, &Value)],
    what: &str,
    otherwise: &str,
) -> Result<(), Failure> {
    let shown = path.display();
    let as_directory = path.is_dir() || shown.to_string().ends_with(std::path::is_separator);
    let write = |path: &Path, value: &Value| {
        std::fs::write(path, npy::write(value)).map_err(|e| {
            let message = format!("error: cannot write `{}`: {e}", path.display());
            Failure { message, code: 1 }
        })
    };
    if as_directory {
        std::fs::create_dir_all(path).map_err(|e| {
            let message = format!("error: cannot make the directory `{shown}`: {e}");
            Failure { message, code: 1 }
        })?;
        return files.iter().try_for_each(|(name, v)| write(&path.join(format!("{name}.npy")), v));
    }
    let [(_, value)] = files else {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Failure::input(format!(
            "`-o {shown}` names one file, but there are {} {what} ({}): name a directory, as in `-o out/`, {otherwise}",
            files.len(),
            names.join(", ")
        )));
    };
    if path.extension().is_none_or(|e| e != "npy") {
        return Err(Failure::input(format!(
            "`-o {shown}` must end in `.npy`, or in `/` for a directory"
        )));
    }
    write(path, value)
}

/// The arguments as the call reads: each parameter with its value.
fn named(
    function: &Function,
    batch: &[String],
    args: Args,
) -> Result<Vec<(String, Value)>, Failure> {
    let values = match batch.is_empty() {
        true => function.bind(args)?,
        false => function.batch(batch).bind(args)?,
    };
    Ok(function.parameters().map(String::from).zip(values).collect())
}

pub(crate) fn wrt(by: &By) -> Wrt {
    match by.wrt.as_slice() {
        [] => Wrt::All,
        names => Wrt::Names(names.iter().map(|n| n.trim().to_string()).collect()),
    }
}

/// The folder for states: one that is named with its size, or one in which a run was left.
fn disk(running: &Running) -> Option<wengert::Disk> {
    let given = running.disk.as_ref();
    let (folder, bytes) = match (given, &running.resume) {
        (Some(disk), _) => (disk.folder.clone(), disk.bytes),
        (None, Some(folder)) => (folder.clone(), u64::MAX),
        (None, None) => return None,
    };
    Some(wengert::Disk { folder, bytes, resume: running.resume.is_some(), fsync: running.fsync })
}

/// How states are kept.
pub(crate) fn precision(named: Option<PrecisionName>) -> Precision {
    match named {
        None => Precision::Exact,
        Some(PrecisionName::F32) => Precision::F32,
        Some(PrecisionName::Bf16) => Precision::Bf16,
    }
}

fn options(running: &Running) -> Options {
    Options {
        backend: match running.backend {
            BackendName::Auto => Backend::Auto,
            BackendName::Interp => Backend::Interp,
            BackendName::Jit => Backend::Jit,
            BackendName::Cc => Backend::Cc,
        },
        max_iterations: running.max_iterations,
        tape_limit: running.tape_limit.map(|bytes| bytes.0),
        memory: running.memory.map(|bytes| bytes.0),
        invert: running.invert.map(|line| wengert::Invert {
            line: (line > 0).then_some(line),
            every: running.invert_every,
            within: running.invert_within,
        }),
        disk: disk(running),
        precision: precision(running.precision),
        interrupt: Some(progress::interrupt()),
        watch: running.memory.map(|_| std::sync::Arc::default()),
        threads: running.threads.map(usize::from),
        ..Options::default()
    }
}
