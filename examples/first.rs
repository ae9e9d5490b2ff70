//! The gradients of two programs with loops: `cargo run --release --example first`.
//!
//! The programs are `newton.py` and `lorenz.py` beside this file.

use std::io::{self, Write};
use std::path::Path;
use wengert::{Args, Function, Source, Wrt};

fn main() -> io::Result<()> {
    write(&mut io::stdout().lock())
}

/// Writes each program, its value and its gradient.
pub(crate) fn write(out: &mut impl Write) -> io::Result<()> {
    // A `while` loop: the derivative by `a` is 1 / (2 sqrt(a)), and the first guess does not matter.
    gradient(out, "newton.py", [("a", 2.0), ("x0", 1.0)].into())?;
    writeln!(out)?;
    // An ordinary differential equation, 200 steps; every parameter has a default.
    gradient(out, "lorenz.py", ().into())
}

fn gradient(out: &mut impl Write, file: &str, args: Args) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let source = Source::new(file, std::fs::read_to_string(folder.join(file))?);
    writeln!(out, "{}\n", source.text().trim_end())?;

    let result = Function::last_of(source).and_then(|f| f.value_and_grad(args, Wrt::All));
    let gradient = result.map_err(|error| io::Error::other(error.render()))?;
    writeln!(out, "value     {:?}", gradient.value)?;
    for (name, derivative) in &gradient.grad {
        writeln!(out, "d/d{name:<6} {derivative}")?;
    }
    Ok(())
}
