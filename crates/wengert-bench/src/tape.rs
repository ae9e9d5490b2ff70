//! How fast the eager tape is: recording, sweeping back, replaying.

use crate::clock::Least;
use crate::generic::{Input, inputs, run};
use crate::workload::Workload;
use std::time::Instant;
use wengert::tape::{Adjoints, Error, Tape, Var};

/// What one recording takes.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload.
    pub name: &'static str,
    /// Entries of its tape.
    pub ops: usize,
    /// Nanoseconds per entry: recording, and sweeping back once.
    pub ns_per_op: f64,
    /// The recording alone.
    pub record_ns: f64,
    /// The sweep back alone.
    pub reverse_ns: f64,
    /// Computing the recording anew.
    pub replay_ns: f64,
    /// Bytes that an entry takes.
    pub bytes_per_op: f64,
    /// Recording and sweep against the same program on plain numbers.
    pub ratio_to_primal: f64,
}

impl Row {
    /// Its measured numbers, with their names.
    fn numbers(&self) -> [(&'static str, f64); 6] {
        [
            ("ns_per_op", self.ns_per_op),
            ("record_ns", self.record_ns),
            ("reverse_ns", self.reverse_ns),
            ("replay_ns", self.replay_ns),
            ("bytes_per_op", self.bytes_per_op),
            ("ratio_to_primal", self.ratio_to_primal),
        ]
    }

    /// The row as a JSON object.
    pub fn json(&self) -> String {
        let numbers = self.numbers().map(|(name, number)| format!("\"{name}\": {number:.3}"));
        format!("{{\"name\": \"{}\", \"ops\": {}, {}}}", self.name, self.ops, numbers.join(", "))
    }

    /// The row as a line of a table.
    pub fn line(&self) -> String {
        let numbers = self.numbers().map(|(_, number)| format!("{number:>10.2}"));
        format!("{:<6} {:>10} {}", self.name, self.ops, numbers.join(" "))
    }
}

/// What stands above the lines.
pub fn heading() -> String {
    format!(
        "{:<6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "entries", "ns each", "record ns", "reverse ns", "replay ns", "bytes", "ratio"
    )
}

/// Workloads and the sizes at which they are recorded: some millions of entries each.
const SIZES: [(&str, usize); 11] = [
    ("a", 1_000_000),
    ("b", 300),
    ("c", 50_000),
    ("d", 6),
    ("d2", 6),
    ("e", 500),
    ("f1", 205),
    ("f2", 425),
    ("f3", 1195),
    ("g", 100),
    ("h", 1_000_000),
];

/// Every workload, then a chain of many multiplications.
pub fn measure(budget: f64, long: bool, row: &mut dyn FnMut(Row)) -> Result<(), Error> {
    for (name, n) in SIZES {
        let Some(workload) = Workload::named(name) else { continue };
        let args = (workload.args)(n);
        let plain = inputs(&args, |_, x| x);
        let primal = |_: &[f64]| run(name, &plain).unwrap_or(f64::NAN);
        let made = |tape: &Tape| -> (Vec<Input<Var>>, Vec<Var>) {
            let mut by = Vec::new();
            let inputs = inputs(&args, |k, x| {
                if !workload.wrt.contains(&k) {
                    return Var::constant(x);
                }
                by.push(tape.var(x));
                by[by.len() - 1]
            });
            (inputs, by)
        };
        row(one(name, budget, primal, |tape| {
            let (inputs, by) = made(tape);
            (run(name, &inputs).unwrap_or_default(), by)
        })?);
    }
    let length = if long { 100_000_000 } else { 10_000_000 };
    let factor = 1.0 + 1e-9;
    let chain = |tape: &Tape| {
        let x = tape.var(1.0);
        let mut y = x;
        for _ in 0..length {
            y *= factor;
        }
        (y, vec![x])
    };
    let primal = |x: &[f64]| {
        let mut y = x[0];
        for _ in 0..length {
            y *= factor;
        }
        y
    };
    row(one("chain", budget, primal, chain)?);
    Ok(())
}

fn one(
    name: &'static str,
    budget: f64,
    primal: impl Fn(&[f64]) -> f64,
    record: impl Fn(&Tape) -> (Var, Vec<Var>),
) -> Result<Row, Error> {
    let tape = Tape::new();
    let mut adjoints = Adjoints::default();
    let [mut plain, mut recorded, mut reversed, mut replayed] =
        std::array::from_fn(|_| Least::default());
    let start = Instant::now();
    let mut runs = 0;
    // The first recording asks for memory; what counts are those that find it there.
    while runs < 3 || start.elapsed().as_secs_f64() < budget {
        std::hint::black_box(plain.time(|| primal(std::hint::black_box(&[1.0]))));
        tape.clear()?;
        let (y, by) = recorded.time(|| record(&tape));
        reversed.time(|| tape.reverse_into(&[(y, 1.0)], &mut adjoints))?;
        std::hint::black_box(adjoints.wrt_all(&by)?);
        let values: Vec<(Var, f64)> = by.iter().map(|x| (*x, x.value())).collect();
        replayed.time(|| tape.replay(&values, &[y]))?;
        runs += 1;
    }
    let ops = tape.len();
    let each = |least: &Least| least.seconds() * 1e9 / ops as f64;
    let ns_per_op = each(&recorded) + each(&reversed);
    Ok(Row {
        name,
        ops,
        ns_per_op,
        record_ns: each(&recorded),
        reverse_ns: each(&reversed),
        replay_ns: each(&replayed),
        bytes_per_op: tape.stats().bytes as f64 / ops as f64,
        ratio_to_primal: ns_per_op / each(&plain),
    })
}
