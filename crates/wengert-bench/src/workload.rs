//! The workloads: ordinary loops, compiled from their source, with reference gradients.
//!
//! The names are those of the benchmark table: `a` scalar recurrence, `a0` the same whose adjoint
//! decays, `c` Lorenz by RK4, `f2` Kepler's equation by fixed point, `h` in-place recurrence.
// References come from extended precision and keep all its digits.
#![allow(clippy::excessive_precision)]

use std::time::Instant;
use wengert_core::check::Derived;
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type};
use wengert_core::lower::lower;
use wengert_core::span::Diagnostic;
use wengert_core::surface::python;
use wengert_core::transform::pipeline;
use wengert_runtime::{CompileError, Program};

use crate::{hand, hand_scalar};

/// A workload: its source, its arguments for a size, and the adjoint by hand.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    source: &'static str,
    /// Parameters differentiated by.
    pub wrt: &'static [usize],
    /// Sizes it is measured at.
    pub sizes: &'static [usize],
    /// Arguments for a size.
    pub args: fn(usize) -> Vec<Val>,
    /// Value and gradient by hand: the value, then the gradient, written behind one another.
    pub hand: fn(usize, &mut Scratch) -> Vec<f64>,
    /// The same where it can look ahead and use vector lanes.
    pub lanes: Option<fn(usize, &mut Scratch) -> f64>,
    /// Iterations the loop makes at a size.
    pub iterations: fn(usize) -> usize,
    /// Reference value and gradient (or its digest) at a size, and the agreement expected.
    pub reference: Option<Reference>,
}

/// What a workload must give.
pub struct Reference {
    /// The size it holds for.
    pub n: usize,
    /// The value, then the gradient or its digest.
    pub expected: &'static [f64],
    /// Largest disagreement relative to the largest component.
    pub tolerance: f64,
}

/// Memory the adjoints by hand use again from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    tape: Vec<f64>,
    x: Vec<f64>,
    start: Vec<f64>,
    grad: Vec<f64>,
}

const A: [f64; 3] = [0.9, 0.1, 0.5];
const LORENZ: [f64; 6] = [10.0, 28.0, 8.0 / 3.0, 1.0, 1.0, 1.0];
const KEPLER: [f64; 2] = [0.01, 0.99];

fn numbers(values: &[f64], n: usize) -> Vec<Val> {
    values.iter().map(|x| Val::f64(*x)).chain([Val::i64(n as i64)]).collect()
}

fn joined(value: f64, gradient: &[f64]) -> Vec<f64> {
    std::iter::once(value).chain(gradient.iter().copied()).collect()
}

/// Every workload.
pub const ALL: &[Workload] = &[
    Workload {
        name: "a",
        source: include_str!("../programs/a.py"),
        wrt: &[0, 1, 2],
        sizes: &[1_000_000],
        args: |n| numbers(&A, n),
        hand: |n, s| {
            let (value, grad) = hand::a_grad(A, n, &mut s.tape);
            joined(value, &grad)
        },
        lanes: None,
        iterations: |n| n,
        reference: Some(Reference {
            n: 1_000_000,
            expected: &[
                5.01595964238704254e-01,
                1.14996914974113894e+00,
                2.29262042640867127e+00,
                2.06881111383359055e-06,
            ],
            tolerance: 1e-10,
        }),
    },
    Workload {
        name: "a0",
        source: include_str!("../programs/a0.py"),
        wrt: &[0, 1],
        sizes: &[1_000_000],
        args: |n| numbers(&A, n),
        hand: |n, s| {
            let (value, grad) = hand::a0_grad([A[0], A[1]], A[2], n, &mut s.tape);
            joined(value, &grad)
        },
        lanes: None,
        iterations: |n| n,
        reference: None,
    },
    Workload {
        name: "c",
        source: include_str!("../programs/c.py"),
        wrt: &[0, 1, 2, 3, 4, 5],
        sizes: &[1_000_000],
        args: |n| numbers(&LORENZ, n),
        hand: |n, s| {
            let (value, grad) = hand::c_grad(LORENZ, n, &mut s.tape);
            joined(value, &grad)
        },
        lanes: None,
        iterations: |n| n,
        reference: Some(Reference {
            n: 1_000_000,
            expected: &[
                -8.17349993224224777e+00,
                5.45402025249461052e-02,
                -8.95125686806230130e-01,
                -5.02177200290338762e+00,
                -6.38842737841218317e-01,
                -5.17635717610466943e-01,
                2.56025332616007705e-01,
            ],
            tolerance: 1e-9,
        }),
    },
    Workload {
        name: "f2",
        source: include_str!("../programs/f2.py"),
        wrt: &[0, 1],
        sizes: &[425],
        args: |_| KEPLER.iter().map(|x| Val::f64(*x)).collect(),
        hand: |_, s| {
            let (value, grad) = hand::f2_grad(KEPLER, &mut s.tape);
            joined(value, &grad)
        },
        lanes: None,
        iterations: |_| 425,
        reference: Some(Reference {
            n: 425,
            expected: &[3.4227031649164263e-01, 1.4831330137118604e+01, 4.9777886450451403e+00],
            tolerance: 1e-11,
        }),
    },
    Workload {
        name: "h",
        source: include_str!("../programs/h.py"),
        wrt: &[0],
        sizes: &[1_000, 10_000, 100_000, 1_000_000],
        args: |n| vec![Val::array(hand::h_start(n))],
        hand: |n, s| {
            if s.start.len() != n {
                s.start = hand::h_start(n);
                s.grad = vec![0.0; n];
            }
            s.x.clear();
            s.x.extend_from_slice(&s.start);
            let value = hand_scalar::h_grad(&mut s.x, &mut s.grad, &mut s.tape);
            // The gradient stays where it is: handing it on is not part of the work.
            let last = s.grad.last().copied().unwrap_or(0.0);
            vec![value, last]
        },
        lanes: Some(|n, s| {
            if s.start.len() != n {
                s.start = hand::h_start(n);
                s.grad = vec![0.0; n];
            }
            s.x.clear();
            s.x.extend_from_slice(&s.start);
            hand::h_grad(&mut s.x, &mut s.grad, &mut s.tape)
        }),
        iterations: |n| n,
        reference: Some(Reference {
            n: 100_000,
            expected: &[
                5.5479481902038271e+04,
                1.0972593880015984e+00,
                1.7134496513954253e-01,
                8.9869012677979554e-01,
                3.3015743254224089e+05,
                -3.6351895307363705e+01,
            ],
            tolerance: 1e-11,
        }),
    },
];

impl Workload {
    /// The workload of that name.
    pub fn named(name: &str) -> Option<&'static Workload> {
        ALL.iter().find(|w| w.name == name)
    }

    /// Compiles the workload; also gives the seconds that took, from source text to native code.
    pub fn compile(&self) -> Result<(Derived, Compiled), BuildError> {
        let start = Instant::now();
        let (ir, function) = self.lowered()?;
        let func = pipeline::run(&ir, &function)?;
        let derived = Derived::new(func, self.wrt.to_vec())?;
        let native = |module: &Module, entry: &str| Program::compile(module, &[entry]);
        let value = native(&derived.primal, &function)?;
        let gradient = native(&derived.reverse, &format!("{function}.vjp"))?;
        let compile_s = start.elapsed().as_secs_f64();
        Ok((derived, Compiled { function, value, gradient, compile_s }))
    }

    /// The IR of the workload as lowered, and the name of its function.
    pub fn lowered(&self) -> Result<(Module, String), BuildError> {
        let module = python::parse(self.source)?;
        let function = module.functions.last().map(|f| f.name.text.clone()).unwrap_or_default();
        let kinds: Vec<Type> = (self.args)(1).iter().map(Val::ty).collect();
        let ir = lower(&module, &function, &kinds)?;
        Ok((ir, function))
    }

    /// Compares a value and gradient with the reference for this size, where there is one: the largest
    /// disagreement relative to the largest component, and whether it is within tolerance.
    pub fn compare(&self, n: usize, value: f64, gradient: &[f64]) -> Option<(f64, bool)> {
        let reference = self.reference.as_ref().filter(|r| r.n == n)?;
        let got = if gradient.len() > 8 { digest(gradient) } else { gradient.to_vec() };
        let expected = &reference.expected[1..];
        let scale = expected.iter().fold(0f64, |m, x| m.max(x.abs()));
        let worst = got.iter().zip(expected).fold(0f64, |m, (g, e)| m.max((g - e).abs() / scale));
        let value_error = ((value - reference.expected[0]) / reference.expected[0]).abs();
        let worst = worst.max(value_error);
        Some((worst, worst <= reference.tolerance))
    }
}

/// The native code of a workload.
#[derive(Debug)]
pub struct Compiled {
    /// The function's name.
    pub function: String,
    /// The function itself.
    pub value: Program,
    /// Value and gradient.
    pub gradient: Program,
    /// Seconds from source text to native code, for both.
    pub compile_s: f64,
}

/// Why a workload does not compile.
#[derive(Debug)]
pub enum BuildError {
    /// Its source.
    Source(Vec<Diagnostic>),
    /// The backend.
    Native(CompileError),
}

impl From<Vec<Diagnostic>> for BuildError {
    fn from(errors: Vec<Diagnostic>) -> Self {
        BuildError::Source(errors)
    }
}
impl From<Diagnostic> for BuildError {
    fn from(error: Diagnostic) -> Self {
        BuildError::Source(vec![error])
    }
}
impl From<CompileError> for BuildError {
    fn from(error: CompileError) -> Self {
        BuildError::Native(error)
    }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Source(errors) => {
                errors.iter().try_for_each(|e| write!(f, "{}: {}", e.code, e.message))
            }
            BuildError::Native(error) => write!(f, "{error}"),
        }
    }
}
impl std::error::Error for BuildError {}

/// First, middle and last element, sum, and sum weighted by cosines.
pub fn digest(g: &[f64]) -> Vec<f64> {
    let sum = g.iter().sum();
    let weighted = g.iter().enumerate().map(|(k, x)| x * (k as f64).cos()).sum();
    vec![g[0], g[g.len() / 2], g[g.len() - 1], sum, weighted]
}
