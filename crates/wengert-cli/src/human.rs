//! Output for people.

use crate::command::{Derivatives, Row};
use crate::foreseen;
use std::fmt::Write as _;
use std::io::{self, Write};
pub(crate) use wengert::quantity::{duration, size};
use wengert::{Backend, Evaluation, Mode, Stats, Value};

/// Writes to standard output; colours only where someone looks.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The values, the derivatives by each parameter, and what it took.
pub(crate) fn derivatives(
    name: &str,
    args: &[(String, Value)],
    derivatives: &Derivatives,
) -> String {
    let mut out = format!("{} = {}\n\n", call(name, args), values(&derivatives.values));
    let several = derivatives.jacobian && derivatives.values.len() > 1;
    let label = |row: &Row, name: &str| match several {
        true => format!("d{}/d{name}", row.result),
        false => format!("d/d{name}"),
    };
    let rows = || derivatives.rows.iter().flat_map(|row| row.by.iter().map(move |by| (row, by)));
    let width = rows().map(|(row, (name, _))| label(row, name).chars().count()).max().unwrap_or(0);
    for (row, (name, derivative)) in rows() {
        // A space where others have a minus, so that the digits stand below each other.
        let text = value(derivative);
        let sign = if text.starts_with(['-', '[']) { "" } else { " " };
        let _ = writeln!(out, "  {:width$}  {sign}{text}", label(row, name));
    }
    if rows().next().is_none() {
        out.push_str("  no result is a float\n");
    }
    let mode = match derivatives.mode {
        Mode::Forward => "forward mode",
        Mode::Reverse => "reverse mode",
    };
    let _ = writeln!(out, "\n{mode}, {}", facts(&derivatives.stats));
    out
}

/// A note for each parameter that has no derivative because it is given integers.
pub(crate) fn integers(names: &[String]) -> String {
    let note = |name: &String| {
        format!(
            "note: `{name}` is given as integers, and has no derivative; give it floats to have one\n"
        )
    };
    names.iter().map(note).collect()
}

/// What the function returned, and what it took.
pub(crate) fn evaluation(name: &str, args: &[(String, Value)], evaluation: &Evaluation) -> String {
    let values = values(&evaluation.values);
    format!("{} = {values}\n\n{}\n", call(name, args), facts(&evaluation.stats))
}

fn values(values: &[Value]) -> String {
    match values {
        [] => "nothing".into(),
        _ => values.iter().map(value).collect::<Vec<_>>().join(", "),
    }
}

fn call(name: &str, args: &[(String, Value)]) -> String {
    let args: Vec<String> = args.iter().map(|(name, v)| format!("{name}={}", value(v))).collect();
    format!("{name}({})", args.join(", "))
}

/// A value; of a long array, its ends and its size.
fn value(value: &Value) -> String {
    let text = value.abridged();
    if text.contains("...") { format!("{text} ({})", size_of(value)) } else { text }
}

/// How large a value is, in words.
pub(crate) fn size_of(value: &Value) -> String {
    match value.shape() {
        [] => "a number".into(),
        [n] => format!("{n} elements"),
        shape => {
            let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("{} elements", dims.join(" x "))
        }
    }
}

fn facts(stats: &Stats) -> String {
    let backend = match stats.backend {
        Backend::Interp => "interpreted",
        Backend::Cc => "native code through C",
        Backend::Jit | Backend::Auto => "native code",
    };
    let tape = match stats.tape_bytes {
        0 => String::new(),
        bytes => format!("; tape {}", size(bytes)),
    };
    let loops = stats.loops.iter().filter_map(foreseen::done);
    let loops: String = loops.map(|of| format!("\n{of}")).collect();
    format!(
        "{backend}{tape}; compiled in {}, ran in {}{loops}",
        duration(stats.compile_seconds),
        duration(stats.run_seconds)
    )
}
