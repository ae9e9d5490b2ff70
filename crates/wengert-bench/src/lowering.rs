//! Seconds from Python text to IR, of long and of deeply nested functions.
//!
//! What is guessed, tried and thrown away again grows with the number of names and the depth of loops: these
//! programs have many of both. The least of several runs counts.

use std::fmt::Write;
use std::time::Instant;
use wengert_core::ir::{Elem, Type};
use wengert_core::lower::lower;
use wengert_core::span::Diagnostic;
use wengert_core::surface::python;

/// One program to lower.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What it is called in the table.
    pub name: &'static str,
    /// Its text; the function is `f(x, v, m, n)`.
    pub text: fn() -> String,
}

/// All of them.
pub const ALL: &[Program] = &[
    Program { name: "mixed", text: mixed },
    Program { name: "nested", text: nested },
    Program { name: "branches", text: branches },
    Program { name: "widening", text: widening },
];

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program.
    pub program: &'static str,
    /// Its statements.
    pub statements: usize,
    /// Seconds to parse it.
    pub parse_s: f64,
    /// Seconds to lower it.
    pub lower_s: f64,
}

impl Row {
    /// The row as a JSON object.
    pub fn json(&self) -> String {
        format!(
            "{{\"program\": \"{}\", \"statements\": {}, \"parse_s\": {:e}, \"lower_s\": {:e}}}",
            self.program, self.statements, self.parse_s, self.lower_s
        )
    }
}

/// Measures one program for about `budget` seconds.
pub fn measure(program: &Program, budget: f64) -> Result<Row, Vec<Diagnostic>> {
    let text = (program.text)();
    let types = [Type::F64, Type::Array(Elem::F64, 1), Type::Array(Elem::F64, 2), Type::I64];
    let mut best = [f64::INFINITY; 2];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || (start.elapsed().as_secs_f64() < budget && rounds < 10_000) {
        let begin = Instant::now();
        let module = python::parse(&text)?;
        best[0] = best[0].min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        std::hint::black_box(lower(&module, "f", &types)?);
        best[1] = best[1].min(begin.elapsed().as_secs_f64());
        rounds += 1;
    }
    // Every line in a function is a statement, but for empty ones and `else`.
    let lines = text.lines().filter(|l| l.starts_with(' ')).map(str::trim);
    let statements = lines.filter(|l| !l.is_empty() && *l != "else:").count();
    Ok(Row { program: program.name, statements, parse_s: best[0], lower_s: best[1] })
}

/// A thousand statements of every kind.
fn mixed() -> String {
    let mut text = String::from(
        "import numpy as np

def smooth(a, b):
    d = a - b
    return np.sqrt(d * d + 1e-6)

def f(x, v, m, n):
    b = x * 0.5
    s = 0.0
    w = v * 2.0
",
    );
    for k in 0..53 {
        let _ = write!(
            text,
            "    a{k} = x * {k}.5 + b
    b = np.sin(a{k}) - b / (1.0 + x * x)
    t{k} = a{k} * b + 0.5 * x - {k} * s
    c{k}, d{k} = t{k} * 2.0, t{k} - a{k}
    i = {k} % n
    v[i] = v[i - 1] * 0.5 + t{k}
    w[{k}] = max(v[i], c{k}) + w[i]
    if b > t{k} and d{k} < 1.0:
        b = b * 0.9
        v[{k}] = b
    else:
        b = b - abs(t{k})
    for i in range(n):
        r = v[i] * a{k}
        for j in range(1, n):
            m[i, j] = m[i, j - 1] * 0.5 + r
            s += m[i, j] * w[j]
    w = v * b + w * np.exp(-w * w)
    w[1:3] += 0.5 * v[0:2]
    s += np.sum(w * v) + smooth(s, b)
"
        );
    }
    text.push_str("    return s + b\n");
    text
}

/// Loops eight deep, twenty variables at each level.
fn nested() -> String {
    let (depth, width) = (8, 20);
    let mut text = String::from("def f(x, v, m, n):\n    s = x\n");
    for d in 0..depth {
        let pad = "    ".repeat(d + 1);
        for k in 0..width {
            let _ = writeln!(text, "{pad}a{d}_{k} = s * {k}.25 + v[{k}]");
        }
        let _ = writeln!(text, "{pad}for i{d} in range(n):");
    }
    let _ = writeln!(text, "{}s = s + v[i7] * a0_0", "    ".repeat(depth + 1));
    for d in (0..depth).rev() {
        let pad = "    ".repeat(d + 2);
        for k in 0..width {
            let _ = writeln!(text, "{pad}a{d}_{k} = a{d}_{k} * 0.5 + s");
        }
    }
    text.push_str("    return s + a0_0\n");
    text
}

/// Two hundred branches among three hundred variables.
fn branches() -> String {
    let mut text = String::from("def f(x, v, m, n):\n");
    for k in 0..300 {
        let _ = writeln!(text, "    a{k} = x * {k}.25 + v[{k}]");
    }
    for k in 0..200 {
        let (from, to) = (k + 1, (k * 7) % 300);
        let _ = write!(
            text,
            "    if a{k} > a{from}:
        a{to} = a{from} * 2.0
        v[{k}] = a{to}
    else:
        a{k} = a{to} - 1.0
"
        );
    }
    text.push_str("    return a0 + a150 + v[0]\n");
    text
}

/// Loops twelve deep, in which integers become floats, arrays change places, an inner function writes an array
/// and a name is used for things of two kinds: none of that is seen before the innermost loop is lowered.
fn widening() -> String {
    let depth = 12;
    let mut text = String::from(
        "def f(x, v, m, n):
    s = 0
    u = v
    h = v * 2.0
    def touch(y):
        h[0] = y
        return y
",
    );
    for d in 0..depth {
        let pad = "    ".repeat(d + 1);
        let _ = writeln!(text, "{pad}c{d} = 0");
        let _ = writeln!(text, "{pad}w{d} = v");
        let _ = writeln!(text, "{pad}t{d} = 0.0");
        let _ = writeln!(text, "{pad}for i{d} in range(n):");
    }
    let pad = "    ".repeat(depth + 1);
    let _ = writeln!(text, "{pad}s = s + 0.5");
    let _ = writeln!(text, "{pad}c0 = c0 + touch(x)");
    for d in (0..depth).rev() {
        let pad = "    ".repeat(d + 2);
        let _ = writeln!(text, "{pad}c{d} = c{d} + s");
        let _ = writeln!(text, "{pad}w{d} = w{d} * 0.5");
        let _ = writeln!(text, "{pad}t{d} = w{d}");
        let _ = writeln!(text, "{pad}u = t{d}");
    }
    text.push_str("    return s + c0 + u[0] + h[0]\n");
    text
}
