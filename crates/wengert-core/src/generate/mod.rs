//! Random programs, and what must hold of every one of them.
//!
//! A seed names a program. [`check_program`] generates it, puts it through every check, and on
//! failure gives back the smallest program found that fails the same way. [`run`] does so for many.
//!
//! Reading order: [`program`] (what is generated; scalar expressions are in `scalar`, branches and loops in
//! `control`, arrays in `vector`, `small` and `tensor`; loops over time alone in [`stencils`], loops that can be taken back in [`coupling`]), [`case`]
//! (what is checked; loops in two parts in `compose`, arguments that do not fit in `unusual`), [`shrink`], [`coverage`].
//!
//! ```
//! use wengert_core::generate;
//!
//! let coverage = generate::run(1, 3, &mut |_, result| {
//!     if let Err(failure) = result {
//!         panic!("{failure}");
//!     }
//! });
//! assert_eq!(coverage.programs, 3);
//! ```

pub mod case;
mod compose;
mod control;
pub mod coupling;
pub mod coverage;
mod parallel;
pub mod program;
mod scalar;
pub mod shrink;
mod small;
pub mod stencils;
mod tensor;
mod unusual;
mod vector;

use crate::check::Random;
use crate::interp::Val;
use crate::ops::Scalar;
pub use case::{Case, Kind, Trouble};
pub use compose::{split, split_reverse};
pub use coverage::Coverage;
pub use program::Program;
use std::fmt;
pub use unusual::same_fault;

/// A program that fails a check.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed that generates it.
    pub seed: u64,
    /// What was found.
    pub trouble: Trouble,
    /// The smallest case found that fails the same way.
    pub smallest: Case,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the program with seed {} fails: {}", self.seed, self.trouble)?;
        let args: Vec<String> = self.smallest.args.iter().map(show).collect();
        writeln!(f, "smallest: at ({}), by {:?}", args.join(", "), self.smallest.wrt)?;
        if let Err(trouble) = self.smallest.check() {
            writeln!(f, "{trouble}")?;
        }
        write!(f, "{}", self.smallest.func)
    }
}

fn show(v: &Val) -> String {
    match v {
        Val::Scalar(Scalar::F64(x)) => format!("{x:?}"),
        Val::Scalar(s) => s.to_string(),
        Val::Array(x) => x.to_string(),
        Val::Tape(_) => "tape".into(),
    }
}

/// The case a seed names: its program by all float parameters, or now and then by some of them.
pub fn case(seed: u64) -> Case {
    let Program { func, callees, args } = program::program(seed);
    let mut random = Random(seed ^ 0xa11);
    let types = func.param_types();
    let floats: Vec<usize> = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    let mut wrt = floats.clone();
    if random.below(4) == 0 {
        wrt.retain(|_| random.below(2) == 0);
        if wrt.is_empty() {
            wrt.push(floats[random.below(floats.len() as u64) as usize]);
        }
    }
    Case { func, callees, args, wrt, seed: random.bits() }
}

/// What came of checking a program.
pub type Outcome = Result<Coverage, Box<Failure>>;

/// Checks the program a seed names.
pub fn check_program(seed: u64) -> Outcome {
    let case = case(seed);
    case.check().map_err(|trouble| {
        let smallest = shrink::shrink(&case, &trouble);
        Box::new(Failure { seed, trouble, smallest })
    })
}

/// Checks `count` programs, the seeds of which follow from `seed`. `each` is told what came of each, in
/// order; the coverage of those that passed is given back.
pub fn run(seed: u64, count: u64, each: &mut dyn FnMut(u64, &Outcome)) -> Coverage {
    let mut seeds = Random(seed);
    let mut total = Coverage::default();
    for k in 0..count {
        let result = check_program(seeds.bits());
        each(k, &result);
        if let Ok(coverage) = result {
            total.add(&coverage);
        }
    }
    total
}
