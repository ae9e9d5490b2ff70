//! The gradient of a misfit by the speed of sound in every point of a grid, in the memory allowed.
//!
//! Steps and adjoints are written by hand ([`wave`]); what is stored, and what is run again, is left to
//! [`Run`]. `cargo run --release -p wengert-checkpoint --example wave3d -- --help` says what there is to choose.

mod options;
mod wave;

use options::{Options, USAGE};
use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;
use wave::{STEP, Setup, Wave};
use wengert_checkpoint::{Folder, Inverted, Run, Steps};

/// The grid on which results are checked.
const SMALL: Setup = Setup { size: 20, steps: 150, sponge: 3 };

/// Differences of the misfit come as near to the gradient as this.
const NEAR: f64 = 1e-6;

/// How near the gradient is with steps taken back, relative to its largest entry.
const NEAR_INVERTED: f64 = 1e-9;

fn main() -> ExitCode {
    let done = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => carry_out(&options),
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(e) => Err(e),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

/// A misfit and its gradient, and what they took.
struct Found {
    misfit: f64,
    gradient: Vec<f64>,
    /// Runs of a step for each step.
    evaluations: f64,
    peak_bytes: u64,
    time: Duration,
    /// How far steps that were taken back have drifted.
    drift: Option<f64>,
}

/// Whether all checks came out well.
fn carry_out(options: &Options) -> Result<bool, String> {
    let Options { setup, memory, .. } = options;
    let observed = setup.traces(&setup.true_model()?)?;
    let wave = Wave::new(*setup, &setup.known_model()?, observed.clone())?;
    let receivers = setup.receivers().len();
    let (state, record) = (wave.state_bytes(), 8 * (setup.size as u64 - 2).pow(3));
    let (size, edge) = (setup.size, setup.sponge);
    line("grid", format!("{size} x {size} x {size}, a sponge of {edge}, {receivers} receivers"));
    line("steps", format!("{} of {:.3} ms", setup.steps, 1e3 * STEP));
    line("a state", mebibytes(state));
    let everything = record.saturating_mul(setup.steps);
    line("everything", format!("{}, {} each step", mebibytes(everything), mebibytes(record)));
    line("allowed", mebibytes(*memory));
    line(
        "beside that",
        format!("{}: the model, the live state, the adjoint", mebibytes(4 * state)),
    );

    let found = if options.invert { inverted(options, wave)? } else { planned(options, wave)? };
    line("peak", mebibytes(found.peak_bytes));
    let since = if options.resume { ", since it was resumed" } else { "" };
    line("evaluations", format!("{:.2} of each step{since}", found.evaluations));
    line("time", format!("{:.2} s", found.time.as_secs_f64()));
    line("misfit", format!("{:.12e}", found.misfit));
    let norm = found.gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
    line("gradient", format!("{} entries, norm {norm:.12e}", found.gradient.len()));
    if let Some(drift) = found.drift {
        line("drift", format!("{drift:.1e}"));
    }

    let mut is_well = found.peak_bytes <= *memory;
    if options.check {
        println!("\nchecks on this grid");
        is_well &= compare(&found, &everything_stored(*setup)?);
        is_well &= differences(*setup, &found, &observed)?;
    }
    println!("\nchecks on {0} x {0} x {0}, {1} steps", SMALL.size, SMALL.steps);
    let sponge = if options.invert { 0 } else { SMALL.sponge };
    let setup = Setup { sponge, ..SMALL };
    // Five states, a twentieth of everything.
    let memory = 5 * 16 * setup.points() as u64;
    let options = Options { setup, memory, folder: None, ..options.clone() };
    let observed = setup.traces(&setup.true_model()?)?;
    let wave = Wave::new(setup, &setup.known_model()?, observed.clone())?;
    let found = if options.invert { inverted(&options, wave)? } else { planned(&options, wave)? };
    is_well &= compare(&found, &everything_stored(setup)?);
    is_well &= differences(setup, &found, &observed)?;
    Ok(is_well)
}

/// In the memory allowed, and in a folder if one is given.
fn planned(options: &Options, mut wave: Wave) -> Result<Found, String> {
    let steps = options.setup.steps;
    let mut run = Run::new(options.memory, Some(steps), None);
    if let Some(path) = &options.folder {
        let folder = Folder {
            path: path.clone(),
            bytes: options.disk,
            // Of other arguments nothing is taken up.
            owner: wave.owner(),
            synced: false,
        };
        let begun = match options.resume {
            true => run.resumed(&folder),
            false => run.in_folder(&folder),
        };
        run = begun.map_err(told)?;
    }
    run.forward(&mut wave).map_err(told)?;
    // The adjoint of the last state is zero: residuals come in where they were heard.
    run.backward(&mut wave).map_err(told)?;
    let done = run.done();
    Ok(Found {
        misfit: wave.misfit(),
        gradient: wave.gradient(),
        evaluations: done.evaluations() as f64 / steps as f64,
        peak_bytes: done.peak_bytes,
        time: done.time,
        drift: None,
    })
}

/// With steps taken back.
fn inverted(options: &Options, mut wave: Wave) -> Result<Found, String> {
    let steps = options.setup.steps;
    let mut run = Inverted::new(options.memory, steps);
    if let Some(every) = options.every {
        run = run.storing_every(every);
    }
    run.forward(&mut wave).map_err(told)?;
    run.backward(&mut wave).map_err(told)?;
    let done = run.done();
    Ok(Found {
        misfit: wave.misfit(),
        gradient: wave.gradient(),
        evaluations: done.evaluations() as f64 / steps as f64,
        peak_bytes: done.peak_bytes,
        time: done.time,
        drift: Some(done.drift.relative),
    })
}

fn everything_stored(setup: Setup) -> Result<Found, String> {
    let observed = setup.traces(&setup.true_model()?)?;
    let wave = Wave::new(setup, &setup.known_model()?, observed)?;
    let options = Options::parse([])?.ok_or("there is nothing to do")?;
    planned(&Options { setup, memory: u64::MAX, ..options }, wave)
}

/// Whether a gradient is that of everything stored: bit for bit, or nearly where steps were taken back.
fn compare(found: &Found, all: &Found) -> bool {
    let saved = format!("{} of {}", mebibytes(found.peak_bytes), mebibytes(all.peak_bytes));
    if found.drift.is_none() {
        let pairs = found.gradient.iter().zip(&all.gradient);
        let other = pairs.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        let same = other == 0 && found.misfit.to_bits() == all.misfit.to_bits();
        let what = if same { "the same bits".into() } else { format!("{other} others") };
        line("everything stored", format!("{what}, in {saved}"));
        return same;
    }
    let largest = all.gradient.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let pairs = found.gradient.iter().zip(&all.gradient);
    let difference = pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / largest;
    line("everything stored", format!("within {difference:.1e} of the largest, in {saved}"));
    difference <= NEAR_INVERTED
}

/// Whether differences of the misfit along some direction are what the gradient says.
fn differences(setup: Setup, found: &Found, observed: &[f64]) -> Result<bool, String> {
    let speed = setup.known_model()?;
    // Up to a metre per second, and as likely up as down.
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let direction: Vec<f64> = speed.iter().map(|_| random()).collect();
    let moved = |by: f64| {
        let speed: Vec<f64> = speed.iter().zip(&direction).map(|(c, d)| c + by * d).collect();
        setup.misfit(&speed, observed)
    };
    let by = 0.01;
    let differences = (moved(by)? - moved(-by)?) / (2.0 * by);
    let along: f64 = found.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
    let apart = (along - differences).abs() / differences.abs();
    line("differences", format!("{differences:.9e}, gradient {along:.9e}, {apart:.1e} apart"));
    // One that is no number is not near.
    Ok(apart <= NEAR)
}

fn line(name: &str, what: impl Display) {
    println!("{name:18} {what}");
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20))
}

fn told(error: impl Display) -> String {
    error.to_string()
}
