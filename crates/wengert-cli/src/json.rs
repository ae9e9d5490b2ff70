//! Output for programs: one JSON object on one line.

use serde_json::{Map, Number, Value as Json, json};
use wengert::{
    Backend, Comparison, Evaluation, GradReport, Gradient, Mode, Options, Report, Stats, Value,
};

pub(crate) fn gradient(gradient: &Gradient, options: &Options) -> String {
    let grad: Map<String, Json> =
        gradient.grad.iter().map(|(name, v)| (name.clone(), value(v))).collect();
    let mode = match options.mode {
        Mode::Forward => "forward",
        Mode::Reverse => "reverse",
    };
    line(json!({
        "value": float(gradient.value),
        "grad": grad,
        "mode": mode,
        "stats": stats(&gradient.stats, options),
    }))
}

pub(crate) fn evaluation(evaluation: &Evaluation, options: &Options) -> String {
    let values: Vec<Json> = evaluation.values.iter().map(value).collect();
    line(json!({ "values": values, "stats": stats(&evaluation.stats, options) }))
}

pub(crate) fn report(report: &Report, higher: Option<&GradReport>) -> String {
    let mut out = json!({
        "agree": report.passes() && higher.is_none_or(GradReport::passes),
        "forward_error": float(report.forward_error),
        "reverse_error": float(report.reverse_error),
        "unsettled": report.unsettled,
        "directions": report.directions,
    });
    if let Some(higher) = higher {
        let row = |row: &Comparison| {
            json!({
                "modes": row.modes,
                "against": row.against,
                "error": row.error.map(float),
                "agrees": row.agrees(),
            })
        };
        out["orders"] = higher.rows.iter().map(row).collect();
    }
    line(out)
}

fn stats(stats: &Stats, options: &Options) -> Json {
    let backend = match options.backend {
        Backend::Interp => "interp",
        Backend::Jit => "jit",
    };
    json!({
        "backend": backend,
        "tape_bytes": stats.tape_bytes,
        "compile_seconds": stats.compile_seconds,
        "run_seconds": stats.run_seconds,
    })
}

fn value(value: &Value) -> Json {
    match value {
        Value::Float(x) => float(*x),
        Value::Int(n) => json!(n),
        Value::Bool(b) => json!(b),
        Value::Array(x) => x.iter().map(|e| float(*e)).collect(),
    }
}

/// JSON has no NaN and no infinities.
fn float(x: f64) -> Json {
    match Number::from_f64(x) {
        Some(number) => Json::Number(number),
        None if x.is_nan() => "NaN".into(),
        None if x > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

fn line(object: Json) -> String {
    format!("{object}\n")
}
