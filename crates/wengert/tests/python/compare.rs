//! One program: wengert against CPython, its modes against each other, native code against the interpreter.

use crate::cpython::{Given, Outcome};
use crate::generate::Program;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wengert::{Arg, Args, Array, Function, Value, Wrt};
use wengert_core::check::{self, Derived, Engine, Interpreter, Random};
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::generate::Case;
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Op, Type, verify};
use wengert_core::lower::{Arg as Lowered, lower};
use wengert_core::ops::Scalar;
use wengert_core::span::Span;
use wengert_core::surface::{print, python};
use wengert_core::transform::pipeline;

/// What came of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Everything agrees.
    Agrees,
    /// It fails, and with the same error in CPython.
    Fails,
    /// Wengert does not take it, with this code and message.
    Refused(&'static str, String),
    /// Rounding decides what it computes.
    Unstable,
    /// Something disagrees: what, in a word, and the whole of it.
    Wrong(&'static str, String),
}

/// Why programs may be refused that are right. They are made so that there is no other reason.
const LEGITIMATE: [&str; 1] = ["ambiguous-alias"];

type Checked<T> = Result<T, Verdict>;

fn wrong<T>(what: &'static str, message: impl ToString) -> Checked<T> {
    Err(Verdict::Wrong(what, message.to_string()))
}

/// Compares everything; panics are findings.
pub(crate) fn verdict(program: &Program, expected: &Outcome, seed: u64) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| compared(program, expected, seed))) {
        Ok(Ok(verdict) | Err(verdict)) => verdict,
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Verdict::Wrong("panic", text.unwrap_or_default())
        }
    }
}

fn compared(program: &Program, expected: &Outcome, seed: u64) -> Checked<Verdict> {
    let Program { text, args } = program;
    let tree = python::parse(text).or_else(|e| wrong("parse", format!("{:?}", e.first())))?;
    let printed = print::module(&tree);
    match python::parse(&printed) {
        Ok(again) if print::module(&again) == printed => {}
        other => return wrong("print", format!("{printed}\n{:?}", other.err())),
    }
    let kinds: Vec<Lowered> = args.iter().map(|a| Lowered::from(a.ty())).collect();
    let ir = lower(&tree, "f", &kinds).map_err(|e| {
        let place = e[0].labels.first().map_or(Span::default(), |(span, _)| *span);
        let at = text.get(place.start as usize..place.end as usize).unwrap_or_default();
        let message = format!("{}: {at}", e[0].message);
        match e[0].code {
            code if LEGITIMATE.contains(&code) => Verdict::Refused(code, message),
            // What CPython finds when it gets there.
            "type" if matches!(expected, Outcome::Exception { .. }) => Verdict::Fails,
            code => Verdict::Wrong(code, message),
        }
    })?;
    verify::module(&ir).or_else(|e| wrong("verify", format!("{e}\n{ir}")))?;
    let prepared = pipeline::module(&ir, "f").or_else(|e| wrong("pipeline", e))?;
    let types = prepared.funcs[0].param_types();
    let convert = |(a, ty): (&Val, &Type)| match (a, ty) {
        (Val::Scalar(Scalar::I64(k)), Type::F64) => Val::f64(*k as f64),
        _ => a.clone(),
    };
    let args: Vec<Val> = args.iter().zip(&types).map(convert).collect();
    let mut value = Ok(Vec::new());
    for (what, module) in [("value", &ir), ("value after the pipeline", &prepared)] {
        value = engine().call(module, "f", &args);
        if let Err(message) = same(&value, expected) {
            if unstable(&ir, &args, &value, seed) || amplifies(text, &kinds, &args, &value) {
                return Ok(Verdict::Unstable);
            }
            return wrong(what, message);
        }
    }
    let native = native(text, program, &value)?;
    let Ok(value) = value else { return Ok(Verdict::Fails) };
    let wrt: Vec<usize> = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    if wrt.is_empty() || !value.iter().any(|v| v.ty().is_float()) {
        return Ok(Verdict::Agrees);
    }
    derivatives(&ir, &prepared, &args, &wrt, seed)?;
    adjoints(&native, program, &prepared, &args, &wrt, &value, seed)?;
    Ok(Verdict::Agrees)
}

fn engine() -> Interpreter {
    Interpreter { max_iterations: 1000 }
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
        Val::Array(x) => (x.shape.clone(), x.scalars().map(number).collect()),
        Val::Tape(_) => unreachable!("no function returns a tape"),
    }
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * scale
}

/// Whether results, or errors, are those of CPython.
fn same(got: &Result<Vec<Val>, Fault>, expected: &Outcome) -> Result<(), String> {
    match (got, expected) {
        (Err(fault), Outcome::Exception { name, message }) => {
            let fits = match &fault.kind {
                FaultKind::Index { .. } => name == "IndexError",
                FaultKind::Check(check, _) if check.code == "index-out-of-range" => {
                    name == "IndexError"
                }
                FaultKind::Assert(_) => name == "AssertionError",
                FaultKind::DivisionByZero => name == "ZeroDivisionError",
                FaultKind::Overflow => name == "OverflowError",
                FaultKind::Shape(_) => name == "ValueError",
                _ => false,
            };
            if fits {
                Ok(())
            } else {
                Err(format!("{fault}, where CPython says {name}: {message}"))
            }
        }
        (Err(fault), Outcome::Results(given)) => {
            Err(format!("{fault}, where CPython gives {given:?}"))
        }
        (Ok(values), Outcome::Exception { name, message }) => {
            Err(format!("{values:?}, where CPython says {name}: {message}"))
        }
        (Ok(values), Outcome::Results(given)) => {
            if values.len() != given.len() {
                return Err(format!("{} results for {}", values.len(), given.len()));
            }
            for (k, (value, want)) in values.iter().zip(given).enumerate() {
                let (shape, data) = numbers(value);
                let scale = data.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
                let fits = |(a, b): (&f64, &f64)| {
                    if want.exact { a == b } else { close(*a, *b, scale) }
                };
                let all = data.len() == want.data.len() && data.iter().zip(&want.data).all(fits);
                if shape != want.shape || !all {
                    return Err(format!("result {k}: {shape:?} {data:?} for {want:?}"));
                }
            }
            Ok(())
        }
    }
}

/// Whether changes of the arguments near rounding change the results by far more.
fn unstable(ir: &Module, args: &[Val], value: &Result<Vec<Val>, Fault>, seed: u64) -> bool {
    let mut random = Random(seed);
    (0..8).any(|_| {
        let moved: Vec<Val> =
            args.iter().map(|v| check::shifted(v, &random.like(v), 1e-14)).collect();
        differs(&engine().call(ir, "f", &moved), value)
    })
}

/// Whether results differ, or only one is an error.
fn differs(there: &Result<Vec<Val>, Fault>, value: &Result<Vec<Val>, Fault>) -> bool {
    match (there, value) {
        (Ok(_), Ok(value)) => {
            let given = |v: &Val| {
                let (shape, data) = numbers(v);
                Given { exact: false, shape, data }
            };
            same(there, &Outcome::Results(value.iter().map(given).collect())).is_err()
        }
        (there, value) => there.is_ok() != value.is_ok(),
    }
}

/// Whether results change by far more than rounding where every elementary function is a little off: numbers
/// of the program itself can be thrown about by rounding as the arguments can.
fn amplifies(text: &str, kinds: &[Lowered], args: &[Val], value: &Result<Vec<Val>, Fault>) -> bool {
    let mut nudged = text.to_string();
    for (k, name) in ELEMENTARY.iter().enumerate() {
        nudged = nudged.replace(&format!("{name}("), &format!("nudged{k}("));
        let off = format!("def nudged{k}(v):\n    return {name}(v) * 1.00000000000001\n");
        nudged = nudged.replace("import numpy as np\n", &format!("import numpy as np\n{off}"));
    }
    let Ok(tree) = python::parse(&format!("import math\n{nudged}")) else { return false };
    let Ok(ir) = lower(&tree, "f", kinds) else { return false };
    differs(&engine().call(&ir, "f", args), value)
}

/// The elementary functions that generated programs call.
const ELEMENTARY: [&str; 10] = [
    "np.sin",
    "np.cos",
    "np.tanh",
    "np.arctan",
    "np.exp",
    "np.sqrt",
    "math.tanh",
    "math.cos",
    "math.exp",
    "math.sin",
];

/// Both modes against each other and finite differences; where nothing stays a call, every other check
/// there is of generated programs.
fn derivatives(
    ir: &Module,
    prepared: &Module,
    args: &[Val],
    wrt: &[usize],
    seed: u64,
) -> Checked<()> {
    let mut calls = false;
    for func in &ir.funcs {
        func.body.walk(&mut |inst| calls |= matches!(inst.op, Op::Call(_)));
    }
    if !calls && seed.is_multiple_of(4) {
        let func = ir.funcs[0].clone();
        let case = Case { func, callees: Vec::new(), args: args.to_vec(), wrt: wrt.to_vec(), seed };
        return case.check().map(|_| ()).or_else(|trouble| wrong(kind(&trouble.kind), trouble));
    }
    let derived =
        Derived::of(prepared, "f", wrt.to_vec()).or_else(|e| wrong("differentiation", e))?;
    let at = |args: &[Val], seed| check::derivatives(&derived, &mut engine(), args, 2, seed);
    let report = at(args, seed).or_else(|e| wrong("derivative program", e))?;
    if report.reverse_error > 1e-9 {
        return wrong("reverse mode", report);
    }
    // A kink may be near, but it is not near everywhere.
    let mut random = Random(seed ^ 0x5eed);
    let mut elsewhere = || {
        let moved: Vec<Val> =
            args.iter().map(|v| check::shifted(v, &random.like(v), 1e-3)).collect();
        at(&moved, seed).is_ok_and(|report| !report.passes())
    };
    if !report.passes() && (0..6).all(|_| elsewhere()) {
        return wrong("forward mode", report);
    }
    Ok(())
}

fn kind(kind: &wengert_core::generate::Kind) -> &'static str {
    use wengert_core::generate::Kind as K;
    match kind {
        K::Invalid => "case: invalid",
        K::Text => "case: text",
        K::Pipeline => "case: pipeline",
        K::Refused => "case: refused",
        K::Panic => "case: panic",
        K::Fault => "case: fault",
        K::Reverse => "case: reverse mode",
        K::Forward => "case: forward mode",
        K::Compose => "case: loops in parts",
        K::Finish => "case: passes after differentiation",
        K::Nested => "case: second derivatives",
    }
}

fn given(v: &Val) -> Value {
    match v {
        Val::Scalar(Scalar::F64(x)) => Value::Float(*x),
        Val::Scalar(Scalar::I64(n)) => Value::Int(*n),
        Val::Array(x) => Value::Array(Array::new(x.shape.clone(), x.floats()).unwrap()),
        other => panic!("no generated program takes {other:?}"),
    }
}

fn given_all(values: &[Val]) -> Args {
    Args(values.iter().map(|v| Arg { name: None, value: given(v) }).collect())
}

/// The bits of the floats of values, and the others as they are.
fn shown(values: &[Value]) -> Vec<String> {
    values.iter().map(|v| v.to_string().replace("-NaN", "NaN")).collect()
}

fn val_of(v: &Val) -> String {
    match v {
        Val::Scalar(Scalar::F64(x)) => Value::Float(*x).to_string(),
        Val::Scalar(Scalar::I64(n)) => Value::Int(*n).to_string(),
        Val::Scalar(Scalar::Bool(b)) => Value::Bool(*b).to_string(),
        Val::Array(x) if v.ty().is_float() => {
            Value::Array(Array::new(x.shape.clone(), x.floats()).unwrap()).to_string()
        }
        other => format!("{other:?}"),
    }
}

/// Native code gives the bits and the errors of the interpreter.
fn native(text: &str, program: &Program, value: &Result<Vec<Val>, Fault>) -> Checked<Function> {
    let function =
        Function::from_source(text, "f").or_else(|e| wrong("native code", e.render()))?;
    let run = function.call(given_all(&program.args));
    let same = match (&run, value) {
        (Ok(run), Ok(value)) => run.values.iter().zip(value).all(|(a, b)| {
            // Arrays of integers and truth values print in their own way.
            !a.to_string().contains('.') || shown(std::slice::from_ref(a))[0] == val_of(b)
        }),
        (Err(error), Err(fault)) => error.fault() == Some(fault),
        _ => false,
    };
    if same { Ok(function) } else { wrong("native code", format!("{run:?} for {value:?}")) }
}

/// The adjoints of native code are those of the interpreter.
fn adjoints(
    function: &Function,
    program: &Program,
    prepared: &Module,
    args: &[Val],
    wrt: &[usize],
    value: &[Val],
    seed: u64,
) -> Checked<()> {
    let derived =
        Derived::of(prepared, "f", wrt.to_vec()).or_else(|e| wrong("differentiation", e))?;
    let mut random = Random(seed);
    let floats = value.iter().filter(|v| v.ty().is_float());
    let weights: Vec<Val> = floats.map(|v| random.like(v)).collect();
    let interpreted =
        derived.vjp(&mut engine(), args, &weights).or_else(|e| wrong("derivative program", e))?.1;
    let names: Vec<String> = function.parameters().map(str::to_string).collect();
    let by = Wrt::Names(wrt.iter().map(|k| names[*k].clone()).collect());
    let run = function
        .vjp(given_all(&program.args), given_all(&weights), by)
        .or_else(|e| wrong("native adjoints", e.render()))?;
    let compiled: Vec<Value> = run.adjoints.into_iter().map(|(_, v)| v).collect();
    let wanted: Vec<String> = interpreted.iter().map(val_of).collect();
    if shown(&compiled) == wanted {
        Ok(())
    } else {
        wrong("native adjoints", format!("{compiled:?} for {wanted:?}"))
    }
}
