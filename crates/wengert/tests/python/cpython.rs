//! Running programs with CPython and NumPy.

use serde_json::{Value as Json, json};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use wengert_core::interp::Val;
use wengert_core::ops::Scalar;

use crate::generate::Program;

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/run_programs.py");

/// What a program gave, or the exception it ended with.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Results(Vec<Given>),
    Exception { name: String, message: String },
}

/// One result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// Integers and truth values must be met exactly.
    pub(crate) exact: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

/// Why programs cannot be run, where they cannot.
pub(crate) fn missing() -> Option<String> {
    let output = Command::new("python3").args(["-c", "import numpy"]).output();
    match output {
        Err(error) => Some(format!("python3 could not be started: {error}")),
        Ok(output) if !output.status.success() => Some("python3 has no numpy".into()),
        Ok(_) => None,
    }
}

fn argument(val: &Val) -> Json {
    fn nested(shape: &[usize], data: &[f64]) -> Json {
        match shape {
            [] => json!(data[0]),
            [n, rest @ ..] => {
                let size = data.len() / (*n).max(1);
                (0..*n).map(|k| nested(rest, &data[k * size..(k + 1) * size])).collect()
            }
        }
    }
    match val {
        Val::Scalar(Scalar::I64(n)) => json!(n),
        Val::Scalar(Scalar::F64(x)) => json!(x),
        Val::Array(x) => nested(&x.shape, &x.floats()),
        other => panic!("no generated program takes {other:?}"),
    }
}

fn number(json: &Json) -> f64 {
    match json {
        Json::Bool(b) => f64::from(u8::from(*b)),
        Json::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

/// What each program gives, all in one process.
pub(crate) fn run(programs: &[Program]) -> Vec<Outcome> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let count = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder =
        std::env::temp_dir().join(format!("wengert-python-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join("programs.json"), folder.join("results.json"));
    let all: Vec<Json> = programs
        .iter()
        .map(|p| {
            let args: Vec<Json> = p.args.iter().map(argument).collect();
            json!({"text": p.text, "function": "f", "args": args})
        })
        .collect();
    std::fs::write(&input, Json::from(all).to_string()).unwrap();
    let status = Command::new("python3").arg(DRIVER).arg(&input).arg(&output).status().unwrap();
    assert!(status.success(), "{DRIVER} failed");
    let results: Json = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    results.as_array().unwrap().iter().map(outcome).collect()
}

fn outcome(json: &Json) -> Outcome {
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_string();
    let Some(results) = json["results"].as_array() else {
        return Outcome::Exception { name: text("error"), message: text("message") };
    };
    let given = results.iter().map(|r| Given {
        exact: r["kind"] != "float",
        shape: r["shape"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap() as usize)
            .collect(),
        data: r["data"].as_array().unwrap().iter().map(number).collect(),
    });
    Outcome::Results(given.collect())
}
