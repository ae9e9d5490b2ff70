//! Output for people.

use std::fmt::Write as _;
use std::io::{self, Write};
use wengert::{Backend, Evaluation, Gradient, Mode, Options, Stats, Value};

/// Elements of an array that are printed.
const SHOWN: usize = 8;

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The value, the derivative by each parameter, and what it took.
pub(crate) fn gradient(
    name: &str,
    args: &[(String, Value)],
    gradient: &Gradient,
    options: &Options,
) -> String {
    let mut out = format!("{} = {:?}\n\n", call(name, args), gradient.value);
    let width = gradient.grad.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, derivative) in &gradient.grad {
        // A space where others have a minus, so that the digits stand below each other.
        let text = value(derivative);
        let sign = if text.starts_with(['-', '[']) { "" } else { " " };
        let _ = writeln!(out, "  d/d{name:width$}  {sign}{text}");
    }
    let mode = match options.mode {
        Mode::Forward => "forward mode",
        Mode::Reverse => "reverse mode",
    };
    let _ = writeln!(out, "\n{mode}, {}", facts(&gradient.stats, options));
    out
}

/// What the function returned, and what it took.
pub(crate) fn evaluation(
    name: &str,
    args: &[(String, Value)],
    evaluation: &Evaluation,
    options: &Options,
) -> String {
    let values: Vec<String> = evaluation.values.iter().map(value).collect();
    let values = if values.is_empty() { "nothing".to_string() } else { values.join(", ") };
    format!("{} = {values}\n\n{}\n", call(name, args), facts(&evaluation.stats, options))
}

fn call(name: &str, args: &[(String, Value)]) -> String {
    let args: Vec<String> = args.iter().map(|(name, v)| format!("{name}={}", value(v))).collect();
    format!("{name}({})", args.join(", "))
}

/// A value; of a long array, the first elements.
fn value(value: &Value) -> String {
    match value {
        Value::Array(x) if x.len() > SHOWN => {
            let shown: Vec<String> = x[..SHOWN].iter().map(|e| format!("{e:?}")).collect();
            format!("[{}, ... {} elements]", shown.join(", "), x.len())
        }
        other => other.to_string(),
    }
}

fn facts(stats: &Stats, options: &Options) -> String {
    let backend = match options.backend {
        Backend::Interp => "interpreted",
        Backend::Jit => "native code",
    };
    let tape = match stats.tape_bytes {
        0 => String::new(),
        bytes => format!("; tape {}", size(bytes)),
    };
    format!(
        "{backend}{tape}; compiled in {}, ran in {}",
        duration(stats.compile_seconds),
        duration(stats.run_seconds)
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
