//! What `wengert plan FILE` says: what the loops of a program would take in limited memory. And what is said of them afterwards.

use crate::PlanOptions;
use crate::command::{Failure, Outcome, arguments, function, precision, printed, wrt};
use crate::human::{duration, size};
use crate::progress::{self, Progress};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use wengert::checkpoint::Shortened;
use wengert::{LoopReport, Options, TakenBack};

/// Looks at the loops of a program.
pub(crate) fn plan(of: &PlanOptions) -> Outcome {
    let Some(common) = of.common() else {
        return Err(Failure::input("name a FILE, or say how many `--steps` there are"));
    };
    if of.svg {
        return Err(Failure::input(
            "a picture is of a schedule alone: `wengert plan --steps N --slots S --svg`",
        ));
    }
    let memory = of.memory.map(|bytes| bytes.0);
    let interrupt = Some(progress::interrupt());
    let precision = precision(of.precision);
    let options = Options { memory, precision, interrupt, ..Options::default() };
    let function = function(&common.program)?.with_options(options);
    let args = arguments(&function, &common)?;
    let progress = Progress::start("looking at loops", None);
    let loops = function.plan(args, wrt(&of.by))?;
    drop(progress);
    printed(match of.json {
        true => {
            let loops: Vec<Json> = loops.iter().map(|of| foreseen_json(of, memory)).collect();
            format!("{}\n", json!({ "loops": loops }))
        }
        false if loops.is_empty() => {
            "no loop has to be reversed: there is nothing to be kept\n".to_string()
        }
        false => {
            let texts =
                loops.iter().map(|of| of.foreseen().words(memory.map(|_| of.memory), precision));
            let texts: Vec<String> = texts.collect();
            texts.join("\n")
        }
    })
}

fn foreseen_json(of: &LoopReport, memory: Option<u64>) -> Json {
    let plan = |memory: u64| match of.forecast(memory) {
        Some(forecast) => json!({
            "memory": memory,
            "evaluations": number(forecast.evaluations),
            "peak_bytes": forecast.peak_bytes,
            "seconds": forecast.time as f64 / 1e9,
        }),
        None => json!({ "memory": memory, "evaluations": null }),
    };
    json!({
        "line": of.line,
        "steps": of.steps,
        "state_bytes": of.measured.map(|measured| measured.state_bytes),
        "whole_state_bytes": of.measured.map(|measured| measured.whole_bytes),
        "record_bytes": of.measured.map(|measured| measured.record_bytes),
        "everything_bytes": of.everything(),
        "plans": match of.steps {
            Some(1..) => of.foreseen().sizes(memory.map(|_| of.memory)).into_iter().map(plan).collect(),
            _ => Vec::new(),
        },
    })
}

fn number(n: u128) -> Json {
    u64::try_from(n).map_or_else(|_| json!(n.to_string()), |n| json!(n))
}

/// What a loop has taken, beside what it was expected to.
pub(crate) fn done(of: &LoopReport) -> Option<String> {
    if let Some(back) = of.taken_back {
        return Some(taken_back(of, &back));
    }
    let done = of.done?;
    let each = |n: u128| n as f64 / done.steps.max(1) as f64;
    let mut out = format!(
        "the loop of line {}: {} iterations in {} of {}; {:.2} evaluations of each",
        of.line,
        done.steps,
        size(done.peak_bytes),
        size(of.memory),
        each(done.evaluations().into()),
    );
    if done.resumed {
        out += " since it was resumed";
    } else if let Some(forecast) = done.forecast {
        let _ = write!(out, " (planned {:.2})", each(forecast.evaluations));
    } else if let Some(best) = of.forecast(of.memory).filter(|_| done.evaluations() > done.steps) {
        let _ = write!(out, " ({:.2} had its end been known)", each(best.evaluations));
    }
    let _ = write!(out, ", {}", duration(done.time.as_secs_f64()));
    if let Some(forecast) = done.forecast.filter(|_| !done.resumed) {
        let _ = write!(out, " (planned {})", duration(forecast.time as f64 / 1e9));
    }
    if done.written > 0 {
        let _ = write!(out, "; {} states written to disk, {} read", done.written, done.read);
    }
    if let Some(shortened) = done.shortened {
        let _ = write!(out, "\n  {}", kept(&shortened));
    }
    Some(out)
}

/// What a loop has taken that was taken back.
fn taken_back(of: &LoopReport, TakenBack { every, done }: &TakenBack) -> String {
    let mut out = format!("the loop of line {}: taken back {} iterations", of.line, done.unstepped);
    let _ = write!(out, " in {}", size(done.peak_bytes));
    if done.steps > 0 {
        let relative = done.drift.relative;
        let _ = match relative == 0.0 {
            true => write!(out, "; states came out as they were stored"),
            false => {
                write!(out, "; states came out within {relative:.1e} of those stored (relative)")
            }
        };
        let _ = match *every < done.steps {
            true => write!(out, ", checked every {every} iterations"),
            false => write!(out, ", checked at the start"),
        };
    }
    let _ = write!(out, "; {}", duration(done.time.as_secs_f64()));
    out
}

/// How states were kept, and what that does to the gradient.
fn kept(of: &Shortened) -> String {
    let Shortened { precision, states, too_large, rounding, effect, .. } = *of;
    let mut out = format!("states kept as {precision}: ");
    match states {
        0 => out += "none",
        _ => _ = write!(out, "{states} of them, changed by at most {rounding:.1e}"),
    }
    if too_large > 0 {
        let _ = write!(out, ", and {too_large} exactly, because a number is too large");
    }
    match effect {
        Some(0.0) => out += "; no effect on the gradient",
        Some(effect) => _ = write!(out, "; effect on the gradient about {effect:.1e}"),
        None => {
            out +=
                "; the effect on the gradient was not measured: there was too little memory for it"
        }
    }
    out
}

/// The same as JSON.
pub(crate) fn done_json(of: &LoopReport) -> Json {
    if let Some(TakenBack { every, done }) = of.taken_back {
        return json!({
            "line": of.line,
            "steps": done.steps,
            "taken_back": done.unstepped,
            "evaluations": done.evaluations(),
            "states_stored": done.stored,
            "every": every,
            "drift": done.drift.absolute,
            "relative_drift": done.drift.relative,
            "drift_step": done.drift.step,
            "peak_bytes": done.peak_bytes,
            "seconds": done.time.as_secs_f64(),
        });
    }
    let done = of.done.unwrap_or_default();
    let mut out = json!({
        "line": of.line,
        "memory": of.memory,
        "steps": done.steps,
        "evaluations": done.evaluations(),
        "expected_evaluations": done.forecast.map(|forecast| number(forecast.evaluations)),
        "peak_bytes": done.peak_bytes,
        "seconds": done.time.as_secs_f64(),
        "expected_seconds": done.forecast.map(|forecast| forecast.time as f64 / 1e9),
        "disk_writes": done.written,
        "disk_reads": done.read,
    });
    if let Some(of) = done.shortened {
        out["precision"] = json!(of.precision.to_string());
        out["states_shortened"] = json!(of.states);
        out["states_too_large"] = json!(of.too_large);
        out["rounding"] = json!(of.rounding);
        out["ranges_reversed"] = json!(of.reversals);
        out["ranges_compared"] = json!(of.compared);
        out["effect"] = json!(of.effect);
    }
    out
}
