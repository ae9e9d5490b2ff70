//! Loops in less memory than their records take: the same bits.

use crate::{Arg, Both, Ran, module, native};
use wengert_core::fault::FaultKind;
use wengert_core::ir::Module;
use wengert_core::transform::{pipeline, vjp};
use wengert_runtime::{Options, Program};

/// Runs a program under one budget after the other: each gives what it gives without one, or says that it is too little.
/// Gives back how often iterations were run again.
pub(crate) fn within(
    (program, options, about): (&Program, &Options, &Module),
    entry: &str,
    args: &[Arg],
    wanted: &Ran,
    memory: &[u64],
) -> u64 {
    let mut again = 0;
    for memory in memory {
        let options = Options { memory: Some(*memory), ..options.clone() };
        let (ran, stats) = native(program, entry, args, &options);
        again += stats.run_again;
        match ran {
            Err(fault) if matches!(fault.kind, FaultKind::Budget(_)) => {}
            ran => assert_eq!(ran, *wanted, "in {memory} bytes @{entry}{args:?}\n{about}"),
        }
    }
    again
}

/// The same by Cranelift, and through C where it is there.
fn agree(both: &Both, entry: &str, args: &[Arg], memory: &[u64]) -> u64 {
    let wanted = both.native(both.program(), entry, args).0;
    let programs = [Some(both.program()), both.printed()].into_iter().flatten();
    programs.map(|p| within((p, &both.options, &both.module), entry, args, &wanted, memory)).sum()
}

/// The gradient of a function by some of its parameters.
fn gradient(text: &str, wrt: &[usize]) -> Both {
    Both::of(vjp::vjp(&pipeline::run(&module(text), "f").unwrap(), wrt).unwrap())
}

const BUDGETS: [u64; 9] = [40, 100, 150, 200, 400, 1_000, 3_000, 20_000, 1 << 30];

#[test]
fn scalars() {
    let both = gradient(
        "func @f(%x: f64, %r: f64, %n: i64) -> f64 {
           %y = for %i in 0..%n carry (%a = %x) {
             %b = sub 1.0, %a
             %c = mul %a, %b
             %d = mul %c, %r
             %s = sin %d
             yield %s
           }
           return %y
         }",
        &[0, 1],
    );
    for n in [0, 1, 2, 7, 8, 9, 100, 1000] {
        let args = [Arg::F64(0.3), Arg::F64(3.7), Arg::I64(n), Arg::F64(1.0)];
        let again = agree(&both, "f.vjp", &args, &BUDGETS);
        assert_eq!(again > 0, n > 2, "{n}: {again}");
    }
}

/// Loops that end before they begin, and may be left early besides.
#[test]
fn no_iterations() {
    let both = gradient(
        "func @f(%x: f64, %n: i64) -> f64 {
           %y = for %i in 2..%n carry (%a = %x) {
             %b = sin %a
             %c = gt %b, 0.9
             exit_if %c {
               yield %b
             }
             %d = mul %b, %x
             yield %d
           }
           %z = mul %y, %x
           return %z
         }",
        &[0],
    );
    for n in [-5, 0, 1, 2, 3, 50] {
        let args = [Arg::F64(0.8), Arg::I64(n), Arg::F64(1.0)];
        agree(&both, "f.vjp", &args, &BUDGETS);
    }
}

/// Parallel loops inside of loops that are run again: what their iterations record counts, whatever the number of threads.
#[test]
fn parallel_loops_inside() {
    let both = gradient(
        "func @f(%x: [f64], %w: [f64], %n: i64) -> f64 {
           %len = len %x
           %y = for %i in 0..%n carry (%a = %x) {
             %out = fill %len, 0.0
             %b = parallel for %j in 0..%len carry (%o = %out) {
               %e = load %a, %j
               %v = load %w, %j
               %p = for %k in 0..4 carry (%q = %e) {
                 %s = sin %q
                 %t = fma %s, %v, %e
                 yield %t
               }
               %r = store %o, %j, %p
               yield %r
             }
             yield %b
           }
           %z = sum %y
           return %z
         }",
        &[0, 1],
    );
    let len = 3000;
    let x: Vec<f64> = (0..len).map(|k| 0.3 + k as f64 / 700.0).collect();
    let w: Vec<f64> = (0..len).map(|k| 0.1 + k as f64 / 9000.0).collect();
    let args = [Arg::Array(&x), Arg::Array(&w), Arg::I64(30), Arg::F64(1.0)];
    let (wanted, everything) = both.native(both.program(), "f.vjp", &args);
    assert!(wanted.is_ok());
    for threads in [1, 2, 3] {
        // A state takes 24,000 bytes, what a step records some 200,000.
        for memory in [600_000, 1_000_000, 2_000_000] {
            let threads = std::num::NonZeroUsize::new(threads);
            let options = Options { threads, memory: Some(memory), ..both.options.clone() };
            let (ran, stats) = native(both.program(), "f.vjp", &args, &options);
            assert_eq!(ran, wanted, "{threads:?}, {memory} bytes");
            assert!(stats.run_again > 0);
            let peak = stats.tape_peak_bytes;
            assert!(peak <= memory, "{threads:?}: {peak} of {memory}, {everything:?}");
        }
    }
}
