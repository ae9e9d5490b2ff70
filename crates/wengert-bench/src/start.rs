//! How long a process takes to start with a gradient that the C compiler has made before: from the folder of
//! compiled code to a function that can be called, and from the text of the program to the end of its first call.
//!
//! Both are measured in processes of their own, as nothing is loaded a second time in one.

use crate::workload::Workload;
use std::process::Command;
use std::time::Instant;
use wengert::{Args, Array, Backend, Function, Options, Value, Wrt};
use wengert_core::check::Derived;
use wengert_core::interp::Val;
use wengert_core::ops::{Data, Scalar};
use wengert_core::transform::pipeline;
use wengert_runtime::Program;
use wengert_runtime::cc::toolchain::Toolchain;

/// Seconds a compiled function may take to be there.
pub const BAR: f64 = 5e-3;

/// Processes per measurement; the least counts.
const PROCESSES: usize = 15;

/// What is measured in a process of its own: `wengert-bench start NAME WHAT`.
pub const WHAT: [&str; 2] = ["load", "call"];

/// One row: a gradient that was compiled before.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload.
    pub workload: &'static str,
    /// Seconds from the program, differentiated, to a function that can be called.
    pub load_s: f64,
    /// Seconds from the text of the program to the end of its first, short call.
    pub call_s: f64,
}

impl Row {
    /// Whether it is there soon enough.
    pub fn met(&self) -> bool {
        self.load_s <= BAR
    }

    /// The row as a line of the table.
    pub fn line(&self) -> String {
        let verdict = if self.met() { "met" } else { "missed" };
        let Row { workload, load_s, call_s } = self;
        format!(
            "{workload:<4} {:>9.2} {:>5.1} {verdict:>7} {:>14.2}",
            load_s * 1e3,
            BAR * 1e3,
            call_s * 1e3
        )
    }

    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let Row { workload, load_s, call_s } = self;
        format!(
            "{{\"workload\": \"{workload}\", \"load_s\": {load_s:e}, \"bar\": {BAR:e}, \"text_to_call_s\": {call_s:e}}}"
        )
    }
}

/// Above the lines of the table.
pub fn heading() -> String {
    format!("{:<4} {:>9} {:>5} {:>7} {:>14}", "", "load ms", "bar", "", "text to call ms")
}

/// Starts processes; nothing where there is no C compiler.
pub fn measure(workload: &'static Workload) -> Result<Option<Row>, String> {
    if Toolchain::get().is_none() {
        return Ok(None);
    }
    let mut seconds = [f64::INFINITY; 2];
    for (what, least) in WHAT.into_iter().zip(&mut seconds) {
        // The first compiles, if nobody has before.
        for k in 0..=PROCESSES {
            let took = process(workload, what)?;
            *least = if k == 0 { *least } else { least.min(took) };
        }
    }
    let [load_s, call_s] = seconds;
    Ok(Some(Row { workload: workload.name, load_s, call_s }))
}

fn process(workload: &Workload, what: &str) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let ran = Command::new(program).args(["start", workload.name, what]).output();
    let ran = ran.map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&ran.stdout);
    let wrong = || format!("{said}{}", String::from_utf8_lossy(&ran.stderr));
    said.trim().parse().map_err(|_| wrong())
}

/// In this process, in which nothing has been compiled yet.
pub fn here(workload: &Workload, what: &str) -> Result<f64, String> {
    match what {
        "load" => load(workload),
        "call" => call(workload),
        other => Err(format!("`{other}` is neither of {WHAT:?}")),
    }
}

fn load(workload: &Workload) -> Result<f64, String> {
    let (ir, function) = workload.lowered().map_err(|e| e.to_string())?;
    let func = pipeline::run(&ir, &function).map_err(|e| e.to_string())?;
    let derived = Derived::new(func, workload.wrt.to_vec()).map_err(|e| e.to_string())?;
    let start = Instant::now();
    let program = Program::compile_c(&derived.reverse, &[&format!("{function}.vjp")]);
    let took = start.elapsed().as_secs_f64();
    program.map(|_| took).map_err(|e| e.to_string())
}

fn call(workload: &Workload) -> Result<f64, String> {
    let n = workload.small.iter().copied().find(|n| *n > 0).unwrap_or(1);
    let args: Option<Vec<Value>> = (workload.args)(n).into_iter().map(value).collect();
    let args: Args = args.ok_or("an argument of another kind")?.into_iter().collect();
    let start = Instant::now();
    let function = Function::last_of(workload.source).map_err(|e| e.to_string())?;
    let names: Vec<String> = function.parameters().map(String::from).collect();
    let names: Vec<String> = workload.wrt.iter().map(|k| names[*k].clone()).collect();
    let options = Options { backend: Backend::Cc, ..Options::default() };
    let gradient = function.with_options(options).value_and_grad(args, Wrt::from(names));
    let took = start.elapsed().as_secs_f64();
    gradient.map(|_| took).map_err(|e| e.to_string())
}

fn value(val: Val) -> Option<Value> {
    match val {
        Val::Scalar(Scalar::F64(x)) => Some(x.into()),
        Val::Scalar(Scalar::I64(n)) => Some(n.into()),
        Val::Array(x) => match &x.data {
            Data::F64(elements) => Array::new(&x.shape[..], elements.clone()).ok().map(Value::from),
            Data::I64(elements) => Array::new(&x.shape[..], elements.clone()).ok().map(Value::from),
            _ => None,
        },
        _ => None,
    }
}
