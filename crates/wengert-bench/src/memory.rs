//! What it takes to stay within a budget of memory: the Lorenz system, workload c, in a hundredth of its tape, against what
//! the number of evaluations lets expect; with a thousand states, against the same by hand; and what the driver costs
//! where nothing is run again. And how long it takes to plan.

use crate::by_hand::LORENZ;
use crate::clock::Least;
use crate::data::uniform;
use crate::hand;
use std::time::Instant;
use wengert::{Args, Array, Backend, Error, Function, Options, Stats, Value};
use wengert_runtime::cc::toolchain::Toolchain;

/// Iterations of the Lorenz system.
pub const N: usize = 1_000_000;

/// What a state and what the record of an iteration take.
const STATE: u64 = 24;

/// What the driver needs beside a state.
const PER_STATE: u64 = 48;

/// A ratio, and what it may be at most.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is compared with what.
    pub what: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// What they are divided by.
    pub of: f64,
    /// What the ratio may be.
    pub bar: f64,
}

impl Row {
    /// The row as a line of a table.
    pub fn line(&self) -> String {
        let Row { what, seconds, of, bar } = self;
        let ratio = seconds / of;
        let missed = if ratio > *bar { "  missed" } else { "" };
        format!("{what:<62} {seconds:>10.3e} {of:>10.3e} {ratio:>7.3} {bar:>6.2}{missed}")
    }

    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let Row { what, seconds, of, bar } = self;
        format!(
            "{{\"what\": \"{what}\", \"seconds\": {seconds:e}, \"of\": {of:e}, \"bar\": {bar}}}"
        )
    }
}

/// What stands above the lines.
pub fn heading() -> String {
    format!("{:<62} {:>10} {:>10} {:>7} {:>6}", "", "s", "of s", "ratio", "bar")
}

/// The least seconds of several runs, within a time, and the last run's figures.
fn least(
    budget: f64,
    mut run: impl FnMut() -> Result<Stats, Error>,
) -> Result<(f64, Stats), Error> {
    let (mut least, start) = (Least::default(), Instant::now());
    let mut stats = run()?;
    while start.elapsed().as_secs_f64() < budget || least.seconds().is_infinite() {
        stats = least.time(&mut run)?;
    }
    Ok((least.seconds(), stats))
}

fn gradient(
    text: &str,
    backend: Backend,
    memory: Option<u64>,
    args: &Args,
    budget: f64,
) -> Result<(f64, Stats), Error> {
    let options = Options { backend, memory, ..Options::default() };
    let function = Function::last_of(text)?.with_options(options);
    least(budget, || Ok(function.value_and_grad(args.clone(), wengert::Wrt::All)?.stats))
}

/// Every row.
pub fn measure(budget: f64, row: &mut dyn FnMut(Row)) -> Result<(), Error> {
    let lorenz = include_str!("../../../examples/workload_c.py");
    let jit = Options { backend: Backend::Jit, ..Options::default() };
    let run = Function::last_of(lorenz)?.with_options(jit);
    let args: Args = LORENZ.iter().map(|x| Value::from(*x)).chain([(N as i64).into()]).collect();
    let (everything, _) = gradient(lorenz, Backend::Jit, None, &args, budget)?;
    let (value, _) = least(budget, || Ok(run.call(args.clone())?.stats))?;
    let (seconds, stats) =
        gradient(lorenz, Backend::Jit, Some(STATE * N as u64 / 100), &args, budget)?;
    let again = stats.run_again as f64 / N as f64;
    row(Row {
        what: "c in 1% of its tape, of what its evaluations predict",
        seconds,
        of: everything + again * value,
        bar: 1.15,
    });
    if let Some(of) = stats.loops.last() {
        let (planning, _) = least(budget, || {
            std::hint::black_box(of.forecast(of.memory));
            Ok(Stats::default())
        })?;
        row(Row { what: "planning that, of the run", seconds: planning, of: seconds, bar: 0.01 });
    }
    // A thousand states and what each takes beside its bytes, and the records of a thousand iterations.
    let slots = 1000;
    let memory = Some((2 * STATE + PER_STATE) * slots);
    // What `auto` runs after a while.
    let fastest = Toolchain::get().map_or(Backend::Jit, |_| Backend::Cc);
    let (seconds, _) = gradient(lorenz, fastest, memory, &args, budget)?;
    let mut tape = Vec::new();
    let (by_hand, _) = least(budget, || {
        std::hint::black_box(hand::c_grad_two_level(LORENZ, N, slots as usize, &mut tape));
        Ok(Stats::default())
    })?;
    row(Row { what: "c with 1,000 states, of the same by hand", seconds, of: by_hand, bar: 1.25 });
    let react = include_str!("../../../examples/workload_d2.py");
    let cells: Vec<f64> = (0..48 * 48).map(uniform).collect();
    let Ok(cells) = Array::new([48, 48], cells) else { return Ok(()) };
    let args: Args = [Value::from(cells), 2000.into()].into_iter().collect();
    // In turn, because they differ by less than the machine does from one moment to the next.
    let with = |memory| -> Result<_, Error> {
        let options = Options { backend: Backend::Jit, memory, ..Options::default() };
        Ok((Function::last_of(react)?.with_options(options), Least::default()))
    };
    let (mut both, start) = ([with(None)?, with(Some(1 << 40))?], Instant::now());
    while start.elapsed().as_secs_f64() < 4.0 * budget {
        for (function, least) in &mut both {
            least.time(|| function.value_and_grad(args.clone(), wengert::Wrt::All))?;
        }
    }
    let [plain, seconds] = both.map(|(_, least)| least.seconds());
    row(Row { what: "d2, 48 x 48: the driver, of no driver", seconds, of: plain, bar: 1.02 });
    Ok(())
}
