//! What a run needs to know of its program, as C data: fault sites, operations on whole arrays, outlined loops.

use super::Origin;
use super::names::quoted;
use crate::held;
use crate::jit::Printed;
use crate::jit::site::{Site, SiteKind, Wrote};
use crate::kernel::{Kernel, Work};
use std::fmt::Write;
use wengert_core::fault::Fault;
use wengert_core::ops::ArrayOp;
use wengert_core::ops::array::{Check, Direction, Transposed};
use wengert_core::span::Span;

/// The tables of program `k`.
pub(super) fn write(out: &mut String, k: usize, printed: &Printed, origin: &Origin) {
    let (mut loops, mut sites) = (Vec::new(), Vec::new());
    for site in &printed.ways.sites {
        let first = loops.len();
        loops.extend(site.loops.iter().map(|span| place(*span, origin)));
        sites.push(line(site, first, origin));
    }
    let (mut types, mut kernels) = (String::new(), Vec::new());
    for (number, kernel) in printed.ways.kernels.iter().enumerate() {
        let args: Vec<String> = kernel.args.iter().map(|t| held::code(*t).to_string()).collect();
        let axes = match &kernel.work {
            Work::Array(ArrayOp::Transpose(axes)) => axes.iter().map(u8::to_string).collect(),
            _ => Vec::new(),
        };
        let all: Vec<String> = args.iter().chain(&axes).cloned().collect();
        let _ = writeln!(types, "static const u8 t{k}_{number}[] = {{ {} }};", all.join(", "));
        kernels.push(operation(kernel, &format!("t{k}_{number}"), args.len()));
    }
    let plans = printed.ways.plans.iter().map(|(record, reverse, _)| {
        format!("{{ {}, {} }}", printed.framed[*record], printed.framed[*reverse])
    });
    out.push('\n');
    out.push_str(&types);
    // A table without entries is none in C.
    let table = |out: &mut String, ty: &str, name: &str, lines: Vec<String>| {
        let lines = if lines.is_empty() { vec!["{ 0 }".to_string()] } else { lines };
        let _ = writeln!(out, "static const {ty} {name}{k}[] = {{\n  {}\n}};", lines.join(",\n  "));
    };
    table(out, "place", "loops", loops);
    table(out, "site", "sites", sites);
    table(out, "kernel", "kernels", kernels);
    table(out, "plan", "plans", plans.collect());
    let _ = writeln!(
        out,
        "static const program program{k} = {{ sites{k}, loops{k}, kernels{k}, plans{k} }};"
    );
}

fn place(span: Span, origin: &Origin) -> String {
    // What no instruction of the user's caused has an empty span.
    let line = if span == Span::default() { 0 } else { span.line(origin.text) };
    format!("{{ {}, {}, {line} }}", span.start, span.end)
}

fn line(site: &Site, first_loop: usize, origin: &Origin) -> String {
    let array = |name: &Option<std::sync::Arc<str>>| {
        let name = (origin.array_at)(site.span).or(name.as_ref().map(|n| n.to_string()));
        name.map_or("the array".to_string(), |name| format!("`{name}`"))
    };
    let (kind, status, axis, text) = match &site.kind {
        SiteKind::Index(name, axis) => ("INDEX", "WENGERT_INDEX", *axis, array(name)),
        SiteKind::Kernel(name) => ("KERNEL", "0", None, array(name)),
        SiteKind::NegativeLength => ("LENGTH", "WENGERT_LENGTH", None, String::new()),
        SiteKind::IterationLimit => ("ITERATIONS", "WENGERT_ITERATIONS", None, String::new()),
        SiteKind::TapeLimit => ("TAPE", "WENGERT_TAPE", None, String::new()),
        SiteKind::OutOfMemory => ("MEMORY", "WENGERT_MEMORY", None, String::new()),
        SiteKind::Call => ("CALL", "0", None, String::new()),
        said => {
            let wrote = Wrote { operands: [0; 2], kernel: None, iterations: 0, tape_bytes: 0 };
            let (kind, status) = (said.fault(wrote), status(said));
            let fault = Fault { kind, span: site.span, iterations: Vec::new() };
            ("SAID", status, None, fault.to_string())
        }
    };
    let axis = axis.map_or(-1, i16::from);
    let (at, loops) = (place(site.span, origin), site.loops.len());
    format!("{{ {kind}, {status}, {axis}, {at}, {first_loop}, {loops}, {} }}", quoted(&text))
}

/// The status of what is said as it is.
fn status(kind: &SiteKind) -> &'static str {
    match kind {
        SiteKind::Overflow => "WENGERT_OVERFLOW",
        SiteKind::DivisionByZero => "WENGERT_DIVISION",
        SiteKind::CallDepth => "WENGERT_CALLS",
        SiteKind::NoAddresses => "WENGERT_MEMORY",
        SiteKind::Record | SiteKind::Interrupted => "WENGERT_INTERNAL",
        _ => "WENGERT_ASSERT",
    }
}

/// `types` is where the types of the operands stand, and behind them the axes of a transposition.
fn operation(kernel: &Kernel, types: &str, count: usize) -> String {
    let letter = |t: Transposed| u8::from(t == Transposed::Yes);
    let (op, a, b, name) = match &kernel.work {
        Work::Fill => ("FILL", 0, 0, ""),
        Work::Blank => ("BLANK", 0, 0, ""),
        Work::Copy => ("COPY", 0, 0, ""),
        Work::Keep => ("SLICE", 0, 0, ""),
        Work::Array(op) => match op {
            ArrayOp::Peek => ("PEEK", 0, 0, ""),
            ArrayOp::Poke => ("POKE", 0, 0, ""),
            ArrayOp::Slice => ("SLICE", 0, 0, ""),
            ArrayOp::Put => ("PUT", 0, 0, ""),
            ArrayOp::AddSlice => ("ADD_SLICE", 0, 0, ""),
            ArrayOp::Reshape => ("RESHAPE", 0, 0, ""),
            ArrayOp::Transpose(_) => ("TRANSPOSE", 0, 0, ""),
            ArrayOp::Expand(axis) => ("EXPAND", *axis, 0, ""),
            ArrayOp::Sum(None) => ("SUM", 0, 0, ""),
            ArrayOp::Sum(Some(axis)) => ("SUM_AXIS", *axis, 0, ""),
            ArrayOp::CumSum(axis, way) => {
                ("CUMSUM", *axis, u8::from(*way == Direction::Backward), "")
            }
            ArrayOp::Dot => ("DOT", 0, 0, ""),
            ArrayOp::Gemm(ta, tb) => ("GEMM", letter(*ta), letter(*tb), ""),
            ArrayOp::Gather => ("GATHER", 0, 0, ""),
            ArrayOp::ScatterAdd => ("SCATTER_ADD", 0, 0, ""),
            ArrayOp::ArgMax => ("ARGMAX", 0, 0, ""),
            ArrayOp::ArgMin => ("ARGMIN", 0, 0, ""),
            ArrayOp::ArgSort => ("ARGSORT", 0, 0, ""),
            ArrayOp::Conform(check @ Check::Row(_)) => ("CONFORM_ROW", 0, 0, check.name()),
            ArrayOp::Conform(Check::Gemm) => ("CONFORM_GEMM", 0, 0, ""),
            ArrayOp::Conform(Check::Slice) => ("CONFORM_SLICE", 0, 0, ""),
            ArrayOp::Conform(Check::Expand) => ("CONFORM_EXPAND", 0, 0, ""),
            ArrayOp::Refill => ("REFILL", 0, 0, ""),
        },
    };
    format!("{{ {op}, {a}, {b}, {count}, {types}, {types} + {count}, {} }}", quoted(name))
}
