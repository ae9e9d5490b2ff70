//! Output for programs: one JSON object on one line.

use crate::command::{Derivatives, Row};
use crate::foreseen;
use serde_json::{Map, Number, Value as Json, json};
use wengert::{
    Array, Backend, Comparison, Evaluation, Finding, FindingKind, GradReport, Inspection, Mode,
    Report, Stats, Value,
};

pub(crate) fn derivatives(derivatives: &Derivatives) -> String {
    let by = |row: &Row| -> Map<String, Json> {
        row.by.iter().map(|(name, v)| (name.clone(), value(v))).collect()
    };
    let mode = match derivatives.mode {
        Mode::Forward => "forward",
        Mode::Reverse => "reverse",
    };
    let mut object = Map::new();
    object.insert(
        "value".into(),
        match derivatives.values.as_slice() {
            [one] => value(one),
            several => several.iter().map(value).collect(),
        },
    );
    let rows = match (derivatives.jacobian, derivatives.values.len(), derivatives.rows.as_slice()) {
        (false, _, [row]) | (true, 1, [row]) => Json::Object(by(row)),
        // One entry per result; those that are not floats have none.
        (_, results, rows) => (0..results)
            .map(|k| rows.iter().find(|row| row.result == k).map_or(Json::Null, |r| by(r).into()))
            .collect(),
    };
    object.insert(if derivatives.jacobian { "jacobian" } else { "grad" }.into(), rows);
    object.insert("mode".into(), mode.into());
    object.insert("stats".into(), stats(&derivatives.stats));
    line(Json::Object(object))
}

pub(crate) fn evaluation(evaluation: &Evaluation) -> String {
    let values: Vec<Json> = evaluation.values.iter().map(value).collect();
    line(json!({ "values": values, "stats": stats(&evaluation.stats) }))
}

pub(crate) fn report(
    report: &Report,
    higher: Option<&GradReport>,
    inspection: &Inspection,
    agrees: bool,
) -> String {
    let finding = |found: &Finding| {
        let (kind, margin) = match found.kind {
            FindingKind::NaN => ("nan", None),
            FindingKind::Infinity => ("infinity", None),
            FindingKind::Kink { .. } => ("kink", None),
            FindingKind::Tie => ("tie", None),
            FindingKind::Stopping { margin } => ("stopping", Some(float(margin))),
        };
        let mut object = json!({
            "kind": kind,
            "message": found.to_string(),
            "variable": found.name.as_deref(),
            "line": inspection.line(found),
            "iterations": found.iterations.iter().map(|(_, i)| *i).collect::<Vec<i64>>(),
            "times": found.times,
        });
        if let Some(margin) = margin {
            object["margin"] = margin;
        }
        object
    };
    let mut out = json!({
        "agree": agrees,
        "forward_error": float(report.forward_error),
        "reverse_error": float(report.reverse_error),
        "unsettled": report.unsettled,
        "directions": report.directions,
        "findings": inspection.findings.iter().map(finding).collect::<Json>(),
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

fn stats(stats: &Stats) -> Json {
    let backend = match stats.backend {
        Backend::Interp => "interp",
        Backend::Cc => "cc",
        Backend::Jit | Backend::Auto => "jit",
    };
    let mut out = json!({
        "backend": backend,
        "tape_bytes": stats.tape_bytes,
        "run_again": stats.run_again,
        "compile_seconds": stats.compile_seconds,
        "run_seconds": stats.run_seconds,
    });
    if !stats.loops.is_empty() {
        out["loops"] = stats.loops.iter().map(foreseen::done_json).collect();
    }
    out
}

fn value(value: &Value) -> Json {
    match value {
        Value::Float(x) => float(*x),
        Value::Int(n) => json!(n),
        Value::Bool(b) => json!(b),
        Value::Single(x) => float32(*x),
        Value::Array(x) => array(x),
    }
}

/// Nested lists with every element.
fn array(x: &Array) -> Json {
    let items: Vec<Json> = None
        .or(x.as_f64().map(|x| x.iter().map(|x| float(*x)).collect()))
        .or(x.as_f32().map(|x| x.iter().map(|x| float32(*x)).collect()))
        .or(x.as_i64().map(|x| x.iter().map(|x| json!(x)).collect()))
        .or(x.as_bool().map(|x| x.iter().map(|x| json!(x)).collect()))
        .unwrap_or_default();
    nested(x.shape(), &mut items.into_iter())
}

fn nested(shape: &[usize], items: &mut dyn Iterator<Item = Json>) -> Json {
    match shape {
        [] => items.next().unwrap_or(Json::Null),
        [n, inner @ ..] => (0..*n).map(|_| nested(inner, items)).collect(),
    }
}

/// The shortest digits that read back as the same single-precision float.
fn float32(x: f32) -> Json {
    let short = format!("{x:?}").parse().unwrap_or(f64::from(x));
    float(if x.is_finite() { short } else { f64::from(x) })
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
