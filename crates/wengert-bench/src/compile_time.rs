//! How long compiling takes: bodies of many statements, and derivatives of second order.

use crate::clock::{Least, seconds};
use std::fmt::Write;
use wengert::{Backend, Error, Function, Options};

/// Statements in the body of workload k.
pub const LENGTHS: [usize; 4] = [10, 100, 1000, 10_000];

/// Workload k: a loop whose body has so many statements of one operation each.
pub fn long_body(statements: usize) -> String {
    let mut text =
        String::from("import math\n\n\ndef long_body(w, b, h, n):\n    for i in range(n):\n");
    for j in 0..statements {
        let statement = ["h = w * h", "h = h + b", "h = math.sin(h)", "h = h * h"][j % 4];
        let _ = writeln!(text, "        {statement}");
    }
    text.push_str("    return h\n");
    text
}

/// One row: something that was compiled.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it was.
    pub what: String,
    /// Seconds from the text to a derivative ready to run.
    pub compile_s: f64,
    /// Seconds of a run.
    pub run_s: f64,
}

impl Row {
    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let Row { what, compile_s, run_s } = self;
        format!("{{\"what\": \"{what}\", \"compile_s\": {compile_s:e}, \"run_s\": {run_s:e}}}")
    }
}

/// Compiles something with Cranelift and runs it for about `budget` seconds. The first call compiles.
fn row(
    what: String,
    text: &str,
    budget: f64,
    call: impl Fn(&Function) -> Result<(), Error>,
) -> Result<Row, Error> {
    let (first, function) = seconds(|| {
        let options = Options { backend: Backend::Jit, ..Options::default() };
        let function = Function::last_of(text)?.with_options(options);
        call(&function)?;
        Ok::<_, Error>(function)
    });
    let function = function?;
    let (mut run, mut rounds, start) = (Least::default(), 0, std::time::Instant::now());
    while rounds < 3 || start.elapsed().as_secs_f64() < budget {
        run.time(|| call(&function))?;
        rounds += 1;
    }
    let run_s = run.seconds();
    Ok(Row { what, compile_s: (first - run_s).max(0.0), run_s })
}

/// The gradient of workload k, with 1000 iterations to run.
pub fn body(statements: usize, budget: f64) -> Result<Row, Error> {
    let what = format!("k, {statements} statements: gradient");
    row(what, &long_body(statements), budget, |f| {
        f.value_and_grad((0.9, 0.1, 0.5, 1000), ["w", "b", "h"]).map(|_| ())
    })
}

const LORENZ: &str = include_str!("../../../examples/workload_c.py");
const BY: [&str; 3] = ["sigma", "rho", "beta"];
/// (sigma, rho, beta, x, y, z) and the steps of workload l.
const POINT: (f64, f64, f64, f64, f64, f64, i64) = (10.0, 28.0, 8.0 / 3.0, 1.0, 1.0, 1.0, 10_000);

/// The direction of workload l's product.
const ALONG: [(&str, f64); 3] = [("sigma", 1.0), ("rho", 2.0), ("beta", 3.0)];

/// The product of workload l's Hessian with (1, 2, 3).
pub fn lorenz_product(f: &Function) -> Result<wengert::HessianProduct, Error> {
    f.hvp(POINT, ALONG, BY)
}

/// Workload l's Hessian.
pub fn lorenz_hessian(f: &Function) -> Result<wengert::Hessian, Error> {
    f.hessian(POINT, BY)
}

/// Workload l's function.
pub fn lorenz() -> Result<Function, Error> {
    Function::last_of(LORENZ)
}

/// Workload l: gradient, a product with the Hessian, and the Hessian.
pub fn second_order(budget: f64) -> Result<Vec<Row>, Error> {
    Ok(vec![
        row("l: gradient".into(), LORENZ, budget, |f| f.value_and_grad(POINT, BY).map(|_| ()))?,
        row("l: Hessian-vector product".into(), LORENZ, budget, |f| lorenz_product(f).map(|_| ()))?,
        row("l: Hessian".into(), LORENZ, budget, |f| lorenz_hessian(f).map(|_| ()))?,
    ])
}
