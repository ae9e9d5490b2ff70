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
            Err(fault) if matches!(fault.kind, FaultKind::Budget { .. }) => {}
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

/// A gradient with inner loops outlined as well, under budgets: the bits that `both` gives without, at each of them, by Cranelift
/// and through C, on any number of threads; and neither the tape nor anything beside it takes more. Gives back how often iterations were run again in each.
fn nested(both: &Both, inner: &Both, args: &[Arg], memory: &[u64]) -> Vec<u64> {
    let (wanted, everything) = both.native(both.program(), "f.vjp", args);
    assert_eq!(inner.native(inner.program(), "f.vjp", args).0, wanted, "without a budget");
    let programs = || [Some(inner.program()), inner.printed()].into_iter().flatten();
    let mut again = Vec::new();
    for memory in memory {
        for (program, threads) in programs().flat_map(|p| [1, 2, 3].map(|n| (p, n))) {
            let threads = std::num::NonZeroUsize::new(threads);
            let options = Options { threads, memory: Some(*memory), ..both.options.clone() };
            let (ran, stats) = native(program, "f.vjp", args, &options);
            let about = &inner.module;
            assert_eq!(ran, wanted, "in {memory} bytes, {threads:?}, {args:?}\n{about}");
            let (peak, all) = (stats.tape_peak_bytes, everything.tape_peak_bytes);
            assert!(peak <= *memory, "{peak} bytes of tape in {memory}, of {all}");
            again.push(stats.run_again);
        }
    }
    again
}

/// The gradient of a function twice: as it is, and with inner loops outlined as well.
fn both_ways(text: &str, wrt: &[usize]) -> (Both, Both) {
    let func = pipeline::run(&module(text), "f").unwrap();
    let inner = vjp::nested(&func, wrt).unwrap().unwrap();
    wengert_core::ir::verify::module(&inner).unwrap();
    (Both::of(vjp::vjp(&func, wrt).unwrap()), Both::of(inner))
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

/// What goes wrong in a later piece is told with the iterations of the whole loops.
#[test]
fn faults() {
    let text = "func @f(%x: f64, %w: [f64], %n: i64) -> f64 {
           %y = for %i in 3..%n carry (%a = %x) {
             %m = isub %n, %i
             %b = for %j in 1..%m carry (%c = %a) {
               %at = imul %i, %j
               %v = load %w, %at
               %s = sin %c
               %d = mul %s, %v
               yield %d
             }
             yield %b
           }
           return %y
         }";
    let (both, inner) = both_ways(text, &[0]);
    for len in [40, 400, 900, 1_500] {
        let w = vec![0.9; len];
        let args = [Arg::F64(0.3), Arg::Array(&w), Arg::I64(80), Arg::F64(1.0)];
        let fault = both.native(both.program(), "f.vjp", &args).0.map(|_| ()).unwrap_err();
        assert_eq!(fault.iterations.len(), 2, "{fault:?}");
        agree(&both, "f.vjp", &args, &BUDGETS);
        agree(&inner, "f.vjp", &args, &BUDGETS);
        assert_eq!(inner.native(inner.program(), "f.vjp", &args).0.unwrap_err(), fault);
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

/// What one step of the outer loop records is far too much.
#[test]
fn loops_in_loops() {
    let (both, inner) = both_ways(
        "func @f(%x: f64, %r: f64, %n: i64, %m: i64) -> f64 {
           %y, %t = for %i in 0..%n carry (%a = %x, %s = 0.0) {
             %c = for %j in 0..%m carry (%b = %a) {
               %d = sub 1.0, %b
               %e = mul %b, %d
               %g = mul %e, %r
               %h = sin %g
               yield %h
             }
             %u = fma %c, %r, %s
             yield %c, %u
           }
           %z = add %y, %t
           return %z
         }",
        &[0, 1],
    );
    for (n, m) in [(1, 3000), (7, 1000), (40, 333), (3, 1)] {
        let args = [Arg::F64(0.3), Arg::F64(3.7), Arg::I64(n), Arg::I64(m), Arg::F64(1.0)];
        let again = nested(&both, &inner, &args, &[1_000, 2_000, 5_000, 1 << 30]);
        assert_eq!(again[0] > 0, m > 100, "{n}, {m}: {again:?}");
    }
}

/// Three levels, lengths that depend on the outer loop, and one inner loop after the other.
#[test]
fn loops_in_loops_in_loops() {
    let (both, inner) = both_ways(
        "func @f(%x: f64, %r: f64, %n: i64, %m: i64) -> f64 {
           %y = for %i in 0..%n carry (%a = %x) {
             %long = imul %i, %m
             %c, %sum = for %j in %i..%long carry (%b = %a, %s = %r) {
               %p = for %k in 0..%m carry (%q = %b) {
                 %v = sin %q
                 %w = fma %v, %r, %b
                 yield %w
               }
               %t = fma %p, %r, %s
               %u = cos %p
               yield %u, %t
             }
             %d = for %l in 0..%m carry (%g = %c) {
               %h = cos %g
               %e = fma %h, %sum, %a
               %z = sin %e
               yield %z
             }
             yield %d
           }
           return %y
         }",
        &[0, 1],
    );
    for (n, m) in [(4, 100), (9, 40), (2, 7)] {
        let args = [Arg::F64(0.3), Arg::F64(0.7), Arg::I64(n), Arg::I64(m), Arg::F64(1.0)];
        let again = nested(&both, &inner, &args, &[4_000, 8_000, 20_000]);
        assert!(again[0] > 0 || m < 10, "{n}, {m}: {again:?}");
    }
}

/// Loops without a bound inside of one with exits, which are come by on several ways back.
#[test]
fn early_exits() {
    let (both, inner) = both_ways(
        "func @f(%x: f64, %r: f64, %n: i64, %m: i64) -> f64 {
           %y = for %i in 0..%n carry (%a = %x) {
             %c, %steps = while %j carry (%b = %a, %count = %r) {
               %far = ige %j, %m
               exit_if %far { yield %b, %count }
               %d = sin %b
               %g = fma %d, %r, %a
               %big = gt %g, 1.21
               exit_if %big { %w = mul %g, %r  yield %w, %g }
               %h = cos %g
               %k = fma %count, %d, %h
               yield %h, %k
             }
             %small = lt %c, -0.5
             exit_if %small { yield %c }
             %t = for %l in 0..%m carry (%q = %c) {
               %v = sin %q
               %o = fma %v, %steps, %r
               %e = lt %o, -3.0
               exit_if %e { yield %o }
               yield %v
             }
             yield %t
           }
           return %y
         }",
        &[0, 1],
    );
    for (x, r, n, m) in [(0.3, 0.4, 20, 400), (0.3, 1.7, 20, 400), (-2.9, 0.9, 5, 1000)] {
        let args = [Arg::F64(x), Arg::F64(r), Arg::I64(n), Arg::I64(m), Arg::F64(1.0)];
        nested(&both, &inner, &args, &[2_000, 5_000, 30_000]);
    }
}

/// Arrays that inner loops carry, write and read, and that the outer one writes between.
#[test]
fn arrays_in_inner_loops() {
    let (both, inner) = both_ways(
        "func @f(%x: [f64], %w: [f64], %n: i64, %m: i64) -> f64 {
           %len = len %x
           %last = isub %len, 1
           %y = for %i in 0..%n carry (%a = %x) {
             %first = load %a, 0
             %copy = copy %a
             %b = for %j in 0..%m carry (%p = %copy) {
               %k = imod %j, %len
               %e = load %p, %k
               %old = load %a, %k
               %v = load %w, %k
               %s = sin %e
               %t = fma %s, %v, %old
               %q = store %p, %k, %t
               yield %q
             }
             %half = mul %b, 0.5
             %c = store %half, %last, %first
             yield %c
           }
           %z = sum %y
           return %z
         }",
        &[0, 1],
    );
    let x: Vec<f64> = (0..10).map(|k| 0.3 + f64::from(k) / 7.0).collect();
    let w: Vec<f64> = (0..10).map(|k| 0.1 + f64::from(k) / 90.0).collect();
    for (n, m) in [(6, 700), (30, 300), (1, 5)] {
        let args = [Arg::Array(&x), Arg::Array(&w), Arg::I64(n), Arg::I64(m), Arg::F64(1.0)];
        let again = nested(&both, &inner, &args, &[2_500, 4_000, 9_000]);
        assert!(again[0] > 0 || m < 10, "{n}, {m}: {again:?}");
    }
}
