//! How long batches take: many runs of a small function, on one thread and on two.

use crate::clock::Least;
use crate::data::uniform;
use std::time::Instant;
use wengert::{Array, Backend, Error, Function, Options, Value};
use wengert_runtime::cc::toolchain::Toolchain;

const PENDULUM: &str = include_str!("../programs/pendulum.py");
const PATH: &str = include_str!("../programs/path.py");

/// How many members there are.
pub const MEMBERS: usize = 100_000;
/// The steps of each.
const STEPS: usize = 20;

/// One row: a batch, run in one way.
#[derive(Clone, Debug)]
pub struct Row {
    /// What each member is.
    pub program: &'static str,
    /// Who has made the code.
    pub backend: Backend,
    /// How many threads there were.
    pub threads: usize,
    /// Seconds for the values of all members.
    pub value_s: f64,
    /// Seconds for values and gradients.
    pub gradient_s: f64,
}

impl Row {
    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let Row { program, backend, threads, value_s, gradient_s } = self;
        format!(
            "{{\"program\": \"{program}\", \"backend\": \"{backend:?}\", \"threads\": {threads}, \"members\": {MEMBERS}, \"value_s\": {value_s:e}, \"gradient_s\": {gradient_s:e}}}"
        )
    }

    /// The row as a line of a table.
    pub fn line(&self) -> String {
        let each = |s: f64| s * 1e9 / MEMBERS as f64;
        let Row { program, backend, threads, value_s, gradient_s } = self;
        format!(
            "{program:<9} {:>8} {threads:>8} {value_s:>11.3e} {:>10.0} {gradient_s:>11.3e} {:>10.0}",
            format!("{backend:?}"),
            each(*value_s),
            each(*gradient_s),
        )
    }
}

/// What stands above the lines.
pub fn heading() -> String {
    format!(
        "{:<9} {:>8} {:>8} {:>11} {:>10} {:>11} {:>10}",
        "", "code", "threads", "values s", "ns each", "gradients s", "ns each"
    )
}

/// Every batch in every way.
pub fn measure(budget: f64, row: &mut dyn FnMut(Row)) -> Result<(), Error> {
    let numbers = |count: usize| -> Vec<f64> { (0..count as u64).map(uniform).collect() };
    let starts: [Value; 4] =
        [numbers(MEMBERS).into(), numbers(MEMBERS).into(), 9.81.into(), 0.01.into()];
    let normals = Array::new([MEMBERS, STEPS], numbers(MEMBERS * STEPS));
    let normals = normals.map_or(Value::Float(0.0), Value::from);
    let paths: [Value; 3] = [normals, 0.001.into(), 0.02.into()];
    let programs: [(&'static str, &str, &[&str], &[Value]); 2] =
        [("pendulum", PENDULUM, &["theta", "omega"], &starts), ("path", PATH, &["z"], &paths)];
    let compiler = Toolchain::get().map(|_| Backend::Cc);
    for (program, text, over, args) in programs {
        for backend in [Backend::Jit].into_iter().chain(compiler) {
            for threads in [1, 2] {
                let options = Options { backend, threads: Some(threads), ..Options::default() };
                let function = Function::last_of(text)?.with_options(options);
                let batch = function.batch(over.iter().copied());
                let args = || args.iter().cloned().collect::<wengert::Args>();
                let value_s = least(budget, threads, || batch.call(args()).map(|_| ()))?;
                let gradient_s = least(budget, threads, || {
                    batch.value_and_grad(args(), wengert::Wrt::All).map(|_| ())
                })?;
                row(Row { program, backend, threads, value_s, gradient_s });
            }
        }
    }
    Ok(())
}

/// The least seconds of several runs; the first compiles. Of one thread it is its own time that counts, where several work it
/// is the clock.
fn least(
    budget: f64,
    threads: usize,
    mut run: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    run()?;
    let (mut own, mut wall, mut rounds) = (Least::default(), f64::INFINITY, 0);
    let begin = Instant::now();
    while rounds < 3 || begin.elapsed().as_secs_f64() < budget {
        let start = Instant::now();
        own.time(&mut run)?;
        wall = wall.min(start.elapsed().as_secs_f64());
        rounds += 1;
    }
    Ok(if threads == 1 { own.seconds() } else { wall })
}
