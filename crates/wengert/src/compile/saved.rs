//! What reverse mode saves and computes again, as text.

use crate::compile::source::Source;
use std::fmt::Write as _;
use wengert_core::ir::Type;
use wengert_core::span::Span;
use wengert_core::transform::vjp::report::{
    BlockKind, BlockReport, Field, FieldKind, Overwrite, Part, Report,
};

/// One line per operation that overwrites an array, and what is saved because of it.
pub(crate) fn versions(report: &Report, name: &str, text: &Source) -> String {
    let mut out = format!("versions of the arrays of `{name}`\n");
    for overwrite in &report.overwrites {
        let _ = writeln!(out, "  {}", version(overwrite, text));
    }
    if report.overwrites.is_empty() {
        out.push_str("  no array is overwritten\n");
    }
    out
}

fn version(overwrite: &Overwrite, text: &Source) -> String {
    let name = overwrite.name.as_deref().unwrap_or("an array");
    let line = text.line(overwrite.span);
    let (part, old) = match overwrite.part {
        Part::Element => ("an element", "the old element (8 bytes)"),
        Part::Slice => ("a slice", "the old slice"),
        Part::Whole => ("all of it", "the old elements"),
    };
    let part = source(overwrite.span, text).map_or(part.to_string(), |code| format!("`{code}`"));
    let often = if overwrite.loops.is_empty() { "saved" } else { "saved per iteration" };
    let reads = || {
        let read = |f: &Field| format!("{} (8 bytes{})", named(f, text), at(f.span, text));
        overwrite.reads.iter().map(read).collect::<Vec<_>>().join(", ")
    };
    let saved = match (overwrite.saved, overwrite.reads.is_empty()) {
        (true, _) => old.to_string(),
        (false, true) => "nothing, the reverse sweep does not read what was there".into(),
        (false, false) => format!("what was read before, {}", reads()),
    };
    format!("{name}: line {line} overwrites {part}; {often}: {saved}")
}

/// What each block saves and computes again.
pub(crate) fn records(report: &Report, name: &str, text: &Source) -> String {
    let mut out = String::new();
    for block in &report.blocks {
        if block.kind == BlockKind::Exit && block.fields.is_empty() {
            continue;
        }
        let indent = "  ".repeat(block.depth);
        let _ = writeln!(out, "{indent}{}: {}", title(block, name, text), total(block));
        for field in &block.fields {
            let _ = writeln!(out, "{indent}  saved       {}", saved(field, text));
        }
        for again in &block.recomputed {
            let what = match &again.name {
                Some(name) => format!("{name} ({})", again.operation),
                None => match source(again.span, text) {
                    Some(code) => format!("`{code}` ({})", again.operation),
                    None => again.operation.clone(),
                },
            };
            let _ = writeln!(out, "{indent}  recomputed  {what}{}", at(again.span, text));
        }
    }
    out
}

fn title(block: &BlockReport, name: &str, text: &Source) -> String {
    let line = text.line(block.span);
    match block.kind {
        BlockKind::Function => format!("`{name}`"),
        BlockKind::For => format!("`for` of line {line}, per iteration"),
        BlockKind::While => format!("`while` of line {line}, per iteration"),
        BlockKind::Then => format!("`if` of line {line}"),
        BlockKind::Else => format!("`else` of line {line}"),
        BlockKind::Exit => format!("leaving the loop in line {line}"),
    }
}

fn total(block: &BlockReport) -> String {
    let arrays = block.fields.iter().filter(|f| f.ty.is_array()).count();
    let bytes = format!("{} bytes", block.bytes());
    match arrays {
        0 if block.fields.is_empty() => "nothing is saved".into(),
        0 => bytes,
        1 => format!("{bytes} and an array"),
        n => format!("{bytes} and {n} arrays"),
    }
}

fn saved(field: &Field, text: &Source) -> String {
    let name = named(field, text);
    let what = match field.kind {
        FieldKind::Value => name,
        FieldKind::Old if field.ty.is_array() => format!("what {name} held before"),
        FieldKind::Old => format!("the old element of {name}"),
        FieldKind::Dim => format!("a dimension of {name}"),
        FieldKind::Snapshot => format!("a copy of {name}"),
        FieldKind::Trips => "how often the loop ran".into(),
        FieldKind::Exit => "how the loop was left".into(),
        FieldKind::Storage => format!("{name}, which is not used any more"),
    };
    let size = if field.ty.is_array() { field.ty.to_string() } else { bytes(field.ty) };
    format!("{what}, {size}{}", at(field.span, text))
}

/// The variable, or what the source has at its place.
fn named(field: &Field, text: &Source) -> String {
    match (&field.name, source(field.span, text)) {
        (Some(name), _) => name.to_string(),
        (None, Some(code)) => format!("`{code}`"),
        (None, None) => "a value".into(),
    }
}

fn bytes(ty: Type) -> String {
    format!("8 bytes ({ty})")
}

fn at(span: Span, text: &Source) -> String {
    match span == Span::default() {
        true => String::new(),
        false => format!(", line {}", text.line(span)),
    }
}

/// The source of a place, if it is on one line.
fn source(span: Span, text: &Source) -> Option<&str> {
    let code = text.text().get(span.start as usize..span.end as usize)?;
    (!code.is_empty() && !code.contains('\n')).then_some(code)
}
