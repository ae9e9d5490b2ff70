//! Programs on arrays against CPython and NumPy, which ran the same text
//! (`scripts/reference_language.py` writes `data/language/expected.json`).

use serde_json::Value as Json;
use wengert_core::check::{self, Derived, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Elem, Type, verify};
use wengert_core::lower::{Arg, lower};
use wengert_core::ops::shaped::Data;
use wengert_core::ops::{Array, Scalar};
use wengert_core::surface::python;
use wengert_core::transform::pipeline;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/language");

/// A number or an array of floats.
fn argument(json: &Json) -> Val {
    match json {
        Json::Number(n) if n.is_i64() => Val::i64(n.as_i64().unwrap()),
        Json::Number(n) => Val::f64(n.as_f64().unwrap()),
        list => {
            let (shape, data) = flat(list);
            Val::shaped(Array::new(shape, data))
        }
    }
}

/// The shape of nested lists and their numbers; truths count as 0 and 1.
fn flat(json: &Json) -> (Vec<usize>, Vec<f64>) {
    match json {
        Json::Array(items) => {
            let inner: Vec<(Vec<usize>, Vec<f64>)> = items.iter().map(flat).collect();
            let mut shape = vec![items.len()];
            shape.extend(inner.first().map_or(Vec::new(), |(s, _)| s.clone()));
            (shape, inner.into_iter().flat_map(|(_, d)| d).collect())
        }
        Json::Bool(b) => (Vec::new(), vec![f64::from(u8::from(*b))]),
        number => (Vec::new(), vec![number.as_f64().unwrap()]),
    }
}

fn numbers(val: &Val) -> (Vec<usize>, Vec<f64>) {
    let number = |s: Scalar| match s {
        Scalar::F64(x) => x,
        Scalar::F32(x) => f64::from(x),
        Scalar::I64(n) => n as f64,
        Scalar::Bool(b) => f64::from(u8::from(b)),
    };
    match val {
        Val::Scalar(s) => (Vec::new(), vec![number(*s)]),
        Val::Array(x) => {
            (x.shape.clone(), (0..x.len()).map(|k| number(x.elements().get(k))).collect())
        }
        Val::Tape(_) => unreachable!("no function returns a tape"),
    }
}

/// Runs one recorded call; says what is wrong.
fn attempt(record: &Json) -> Result<(), String> {
    let (file, name) = (record["file"].as_str().unwrap(), record["function"].as_str().unwrap());
    let text = std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap();
    let module = python::parse(&text).map_err(|e| format!("{e:?}"))?;
    let args: Vec<Val> = record["args"].as_array().unwrap().iter().map(argument).collect();
    let kinds: Vec<Arg> = args.iter().map(|a| Arg::from(a.ty())).collect();
    let ir = lower(&module, name, &kinds).map_err(|e| format!("{e:?}"))?;
    verify::module(&ir).map_err(|e| format!("{e}\n{ir}"))?;
    let prepared = pipeline::module(&ir, name).map_err(|e| format!("{e}\n{ir}"))?;
    let types = prepared.funcs[0].param_types();
    let convert = |(a, ty): (&Val, &Type)| match (a, ty) {
        (Val::Scalar(Scalar::I64(k)), Type::F64) => Val::f64(*k as f64),
        (Val::Array(x), Type::Array(Elem::I64, _)) => {
            let data = x.floats().iter().map(|v| *v as i64).collect();
            Val::shaped(Array { shape: x.shape.clone(), data: Data::I64(data) })
        }
        _ => a.clone(),
    };
    let args: Vec<Val> = args.iter().zip(&types).map(convert).collect();
    let wrt: Vec<usize> = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    let derived = Derived::of(&prepared, name, wrt.clone()).map_err(|e| format!("{e}\n{ir}"))?;
    let mut engine = Interpreter::default();
    let values = derived.value(&mut engine, &args).map_err(|e| format!("{e}\n{ir}"))?;
    let wanted = record["results"].as_array().unwrap();
    if values.len() != wanted.len() {
        return Err(format!("{} results for {}", values.len(), wanted.len()));
    }
    for (k, (got, want)) in values.iter().zip(wanted).enumerate() {
        let (got, want) = (numbers(got), flat(want));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        // A list of no elements has no shape.
        let same_shape = got.0 == want.0 || want.1.is_empty();
        if !same_shape || got.1.len() != want.1.len() || !got.1.iter().zip(&want.1).all(close) {
            return Err(format!("result {k}: {got:?} for {want:?}\n{ir}"));
        }
    }
    if !wrt.is_empty() && values.iter().any(|v| v.ty().is_float()) {
        let report = check::derivatives(&derived, &mut engine, &args, 2, 3)
            .map_err(|e| format!("{e}\n{ir}"))?;
        if !report.passes() {
            return Err(format!("{report}\n{ir}"));
        }
    }
    Ok(())
}

#[test]
fn programs_as_numpy_runs_them() {
    let text = std::fs::read_to_string(format!("{FOLDER}/expected.json")).unwrap();
    let records: Json = serde_json::from_str(&text).unwrap();
    let mut failures = Vec::new();
    for record in records.as_array().unwrap() {
        let outcome = std::panic::catch_unwind(|| attempt(record));
        if let Err(error) = outcome.unwrap_or_else(|_| Err("a panic".into())) {
            failures.push(format!("{}: {error}", record["function"]));
        }
    }
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n\n"));
}
