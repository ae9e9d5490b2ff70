//! Timing: compiled gradients against those by hand, turn by turn in one run, so that a noisy machine
//! disturbs both alike. The least of several runs counts.

use crate::clock::Least;
use std::num::NonZeroUsize;
use std::time::Instant;
use wengert_core::check::floats;
use wengert_core::interp::Val;
use wengert_runtime::{Arg, Options};

use crate::workload::{BuildError, Workload};

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload.
    pub workload: &'static str,
    /// Its size.
    pub n: usize,
    /// Seconds for the value.
    pub primal_s: f64,
    /// Seconds for value and gradient with Cranelift's code.
    pub gradient_s: f64,
    /// The same with the C compiler's, where there is one.
    pub through_c_s: Option<f64>,
    /// Seconds for value and gradient by hand.
    pub hand_s: f64,
    /// Seconds by hand with vector lanes, where looking ahead allows them.
    pub lanes_s: Option<f64>,
    /// Tape bytes per iteration.
    pub tape_bytes_per_iteration: f64,
    /// The most bytes of arrays held at once.
    pub array_peak_bytes: u64,
    /// Seconds from source text to native code.
    pub compile_s: f64,
    /// Seconds by the clock for value and gradient on one thread and on two, where the workload has a parallel
    /// loop.
    pub threads_s: Option<[f64; 2]>,
    /// Disagreement with the reference, where there is one for this size.
    pub error: Option<(f64, bool)>,
}

impl Row {
    /// How many times the time by hand, with Cranelift's code.
    pub fn ratio(&self) -> f64 {
        self.gradient_s / self.hand_s
    }

    /// The same with the C compiler's.
    pub fn ratio_through_c(&self) -> Option<f64> {
        self.through_c_s.map(|s| s / self.hand_s)
    }

    /// How much faster two threads are, in words, where the workload has a parallel loop.
    pub fn on_two_threads(&self) -> Option<String> {
        let [one, two] = self.threads_s?;
        Some(format!(
            "{} on two threads: {:.2}x one ({one:.3e} s, {two:.3e} s)",
            self.workload,
            one / two
        ))
    }

    /// Its disagreement with the reference, marked where that is too much.
    pub fn shown_error(&self) -> String {
        match self.error {
            None => "-".into(),
            Some((e, true)) => format!("{e:.1e}"),
            Some((e, false)) => format!("{e:.1e}!"),
        }
    }

    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let given = |x: Option<f64>| x.map_or("null".into(), |x| format!("{x:e}"));
        format!(
            "{{\"workload\": \"{}\", \"n\": {}, \"primal_s\": {:e}, \"gradient_s\": {:e}, \"gradient_through_c_s\": {}, \"hand_s\": {:e}, \"ratio_to_hand\": {:.4}, \"ratio_through_c\": {}, \"tape_bytes_per_iteration\": {}, \"array_peak_bytes\": {}, \"compile_s\": {:e}, \"hand_lanes_s\": {}, \"one_thread_wall_s\": {}, \"two_threads_wall_s\": {}, \"error\": {}}}",
            self.workload,
            self.n,
            self.primal_s,
            self.gradient_s,
            given(self.through_c_s),
            self.hand_s,
            self.ratio(),
            given(self.ratio_through_c()),
            self.tape_bytes_per_iteration,
            self.array_peak_bytes,
            self.compile_s,
            given(self.lanes_s),
            given(self.threads_s.map(|s| s[0])),
            given(self.threads_s.map(|s| s[1])),
            given(self.error.map(|(e, _)| e)),
        )
    }
}

fn args(values: &[Val]) -> Vec<Arg<'_>> {
    values.iter().filter_map(Arg::from_val).collect()
}

/// Measures one workload at one size for about `budget` seconds.
pub fn measure(workload: &Workload, n: usize, budget: f64) -> Result<Row, MeasureError> {
    let (_, compiled) = workload.compile()?;
    let values = (workload.args)(n);
    let primal_args = args(&values);
    let mut gradient_args = primal_args.clone();
    gradient_args.push(Arg::F64(1.0));
    let entry = format!("{}.vjp", compiled.function);
    let on = |threads: usize| Options { threads: NonZeroUsize::new(threads), ..Options::default() };
    let options = on(1);
    let parallel = workload.source.contains("parallel(");
    let mut threads_s = [f64::INFINITY; 2];
    let mut hand = (workload.hand)(n);
    let mut lanes = workload.lanes.map(|lanes| lanes(n));
    let [mut primal, mut backward, mut through_c, mut by_hand, mut in_lanes] =
        [Least::default(); 5];
    let mut peak = wengert_runtime::Stats::default();
    let mut results = Vec::new();
    let start = Instant::now();
    // The first round warms caches and memory and counts like the others: the least is taken.
    let mut rounds = 0;
    while rounds < 3 || (start.elapsed().as_secs_f64() < budget && rounds < 10_000) {
        primal.time(|| compiled.value.call(&compiled.function, &primal_args, &options))?;
        let (out, stats) =
            backward.time(|| compiled.gradient.call(&entry, &gradient_args, &options))?;
        peak = stats;
        results = out;
        if let Some(program) = &compiled.through_c {
            through_c.time(|| program.call(&entry, &gradient_args, &options))?;
        }
        if parallel {
            let program = compiled.through_c.as_ref().unwrap_or(&compiled.gradient);
            for (k, least) in threads_s.iter_mut().enumerate() {
                let start = Instant::now();
                program.call(&entry, &gradient_args, &on(k + 1))?;
                *least = least.min(start.elapsed().as_secs_f64());
            }
        }
        by_hand.time(|| std::hint::black_box(hand.run()));
        if let Some(lanes) = &mut lanes {
            in_lanes.time(|| std::hint::black_box(lanes.run()));
        }
        rounds += 1;
    }
    let results: Vec<Val> = results.into_iter().map(Val::from).collect();
    let flat = floats(&results);
    Ok(Row {
        workload: workload.name,
        n,
        primal_s: primal.seconds(),
        gradient_s: backward.seconds(),
        through_c_s: compiled.through_c.is_some().then(|| through_c.seconds()),
        hand_s: by_hand.seconds(),
        lanes_s: lanes.is_some().then(|| in_lanes.seconds()),
        tape_bytes_per_iteration: peak.tape_peak_bytes as f64 / (workload.iterations)(n) as f64,
        array_peak_bytes: peak.array_peak_bytes,
        compile_s: compiled.compile_s,
        threads_s: parallel.then_some(threads_s),
        error: workload.compare(n, flat[0], &flat[1..]),
    })
}

/// Why a workload could not be measured.
#[derive(Debug)]
pub enum MeasureError {
    /// It does not compile.
    Build(BuildError),
    /// It does not run.
    Run(wengert_runtime::RunError),
}

impl From<BuildError> for MeasureError {
    fn from(e: BuildError) -> Self {
        MeasureError::Build(e)
    }
}
impl From<wengert_runtime::RunError> for MeasureError {
    fn from(e: wengert_runtime::RunError) -> Self {
        MeasureError::Run(e)
    }
}
impl std::fmt::Display for MeasureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MeasureError::Build(e) => write!(f, "{e}"),
            MeasureError::Run(e) => write!(f, "{e}"),
        }
    }
}
impl std::error::Error for MeasureError {}
