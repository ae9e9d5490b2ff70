//! Parallel loops: the same bits and faults on any number of threads.

use crate::{Arg, Both, module};
use std::num::NonZeroUsize;
use wengert_core::fault::FaultKind;
use wengert_core::ir::Module;
use wengert_core::transform::{jvp, pipeline, vjp};
use wengert_runtime::{Options, Program};

/// Shared numbers and arrays, an array read element by element, and inner loops that take their own time.
const PATHS: &str = "
    func @f(%p: f64, %w: [f64], %x: [f64], %lo: i64, %n: i64) -> [f64] {
      %out = fill %n, 0.0
      %m = len %w
      %r = parallel for %i in %lo..%n carry (%o = %out) {
        %v = load %x, %i
        %y = while %t carry (%h = %v) {
          %k = imod %t, %m
          %u = load %w, %k
          %g = fma %h, %p, %u
          %s = sin %g
          %c = imod %i, 7
          %last = igt %t, %c
          exit_if %last { yield %s }
          yield %s
        }
        %o1 = store %o, %i, %y
        yield %o1
      }
      return %r
    }";

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * k) % 97) as f64 / 50.0 - 0.9).collect()
}

#[test]
fn values_and_gradients() {
    let original = module(PATHS);
    let plain = Both::of(original.clone());
    let func = pipeline::run(&original, "f").unwrap();
    let gradient = Both::of(vjp::vjp(&func, &[0, 1, 2]).unwrap());
    let w = [0.3, -0.2, 0.7];
    for n in [0, 1, 2, 63, 64, 65, 1000] {
        let x = numbers(n);
        for lo in [0, 1] {
            let (lo, n) = (Arg::I64(lo), Arg::I64(n as i64));
            let args = [Arg::F64(0.8), Arg::Array(&w), Arg::Array(&x), lo, n];
            plain.agree("f", &args).unwrap();
            let seeds = numbers(x.len());
            let args = [&args[..], &[Arg::Array(&seeds)]].concat();
            gradient.agree("f.vjp", &args).unwrap();
        }
    }
}

/// Loops with enough to do are run by several threads: as they stand, and their derivatives, both ways.
#[test]
fn other_threads_take_part() {
    let original = module(PATHS);
    let func = pipeline::run(&original, "f").unwrap();
    let reverse = vjp::vjp(&func, &[0, 1, 2]).unwrap();
    let forward = Module::of(jvp::jvp(&func, &[0, 1, 2]).unwrap());
    let n = 200_000;
    let (w, x) = ([0.3, -0.2, 0.7], numbers(n));
    let args = vec![Arg::F64(0.8), Arg::Array(&w), Arg::Array(&x), Arg::I64(0), Arg::I64(n as i64)];
    let dots = [Arg::F64(1.0), Arg::Array(&w), Arg::Array(&x)];
    let cases = [
        (original, "f", args.clone(), 1),
        (forward, "f.jvp", [&args[..], &dots].concat(), 1),
        (reverse, "f.vjp", [&args[..], &[Arg::Array(&x)]].concat(), 2),
    ];
    for (module, entry, args, phases) in cases {
        let program = Program::compile(&module, &[entry]).unwrap();
        let run = |threads| {
            let options = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
            program.call(entry, &args, &options).unwrap()
        };
        let (wanted, alone) = run(1);
        assert_eq!(alone.pieces_elsewhere, 0, "{entry}");
        for threads in [2, 4] {
            // A busy machine may leave everything to the caller once, but not always.
            let helped = (0..50).any(|_| {
                let (found, stats) = run(threads);
                assert_eq!(found, wanted, "{entry}");
                let pieces = stats.pieces_elsewhere;
                assert!(pieces <= 64 * phases, "{entry}: {pieces}");
                // On the way back it is those who have recorded.
                assert_eq!(pieces % phases, 0, "{entry}: {pieces}");
                pieces > 0
            });
            assert!(helped, "{entry} on {threads} threads");
        }
    }
}

#[test]
fn the_fault_is_that_of_the_lowest_iteration() {
    let text = "
        func @f(%x: [f64], %n: i64) -> [f64] {
          %out = fill %n, 0.0
          %r = parallel for %i in 1..%n carry (%o = %out) {
            %at = imul %i, 3
            %v = load %x, %at
            %o1 = store %o, %i, %v
            yield %o1
          }
          return %r
        }";
    let x = numbers(1000);
    let fault = Both::new(text).agree("f", &[Arg::Array(&x), Arg::I64(900)]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Index { index: 1002, len: 1000, .. }), "{fault:?}");
    assert_eq!(fault.iterations.iter().map(|(_, i)| *i).collect::<Vec<_>>(), [333]);

    let func = pipeline::run(&module(text), "f").unwrap();
    let gradient = Both::of(vjp::vjp(&func, &[0]).unwrap());
    let args = [Arg::Array(&x), Arg::I64(900), Arg::Array(&x[..900])];
    let fault = gradient.agree("f.vjp", &args).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Index { index: 1002, len: 1000, .. }), "{fault:?}");
    assert_eq!(fault.iterations.iter().map(|(_, i)| *i).collect::<Vec<_>>(), [333]);
}

/// Rows of matrices, arrays made in every iteration and saved, inside a loop over time.
#[test]
fn rows_in_a_loop_over_time() {
    let text = "
        func @f(%a: [[f64]], %b: [f64], %steps: i64) -> [[f64]] {
          %n = len %a
          %m = dim[1] %a
          %r = for %t in 0..%steps carry (%x = %a) {
            %y = parallel for %i in 0..%n carry (%z = %x) {
              %row = slice %z, %i, 1, 1, 0, %m, 1
              %flat = reshape %row, %m
              %d = dot %flat, %b
              %e = mul %flat, %d
              %s = sin %e
              %back = reshape %s, 1, %m
              %z1 = put %z, %i, 1, 1, 0, %m, 1, %back
              yield %z1
            }
            yield %y
          }
          return %r
        }";
    let original = module(text);
    let plain = Both::of(original.clone());
    let func = pipeline::run(&original, "f").unwrap();
    let gradient = Both::of(vjp::vjp(&func, &[0, 1]).unwrap());
    for n in [1, 5, 64, 130] {
        let array = |seed: usize| wengert_core::ops::Array {
            shape: vec![n, 3],
            data: wengert_core::ops::Data::F64(numbers(3 * n + seed)[seed..].to_vec()),
        };
        let (a, seeds) = (array(0), array(5));
        let b = [0.5, 1.5, -0.7];
        let args = [Arg::Shaped(&a), Arg::Array(&b), Arg::I64(4)];
        plain.agree("f", &args).unwrap();
        gradient.agree("f.vjp", &[&args[..], &[Arg::Shaped(&seeds)]].concat()).unwrap();
    }
}

/// A plan that says it is parallel and is not: every iteration reads and changes the same element.
const NOT_APART: &str = "
    func @f(%x: [f64], %n: i64) -> [f64] {
      %c = copy %x
      %r, %done, %exit = drive @l forward (0, %n, %c, %x) : [f64], i64, i64
      return %r
    }
    func @range(%from: i64, %to: i64, %c: [f64], %x: [f64]) -> ([f64], i64, i64) {
      %r = for %i in %from..%to carry (%o = %c) {
        %v = load %o, INDEX
        %w = load %x, %i
        %s = add %v, %w
        %o1 = store %o, INDEX, %s
        yield %o1
      }
      %done = imax %from, %to
      return %r, %done, 0
    }
    loop @l parallel for carries 1 state 0 finals () advance @range record @range reverse @range";

/// The same, recorded and reversed.
const NOT_APART_RECORDED: &str = "
    func @f(%x: [f64], %n: i64, %t: tape) -> ([f64], [f64], tape) {
      %c = copy %x
      %d = copy %x
      %r, %done, %exit, %t1 = drive @l forward (0, %n, %c, %x, %t) : [f64], i64, i64, tape
      %d1, %t2 = drive @l reverse (0, %n, 0, %d, %t1) : [f64], tape
      return %r, %d1, %t2
    }
    func @advance(%from: i64, %to: i64, %c: [f64], %x: [f64]) -> ([f64], i64, i64) {
      %done = imax %from, %to
      return %c, %done, 0
    }
    func @record(%from: i64, %to: i64, %c: [f64], %x: [f64], %t: tape) -> ([f64], i64, i64, tape) {
      %r, %t1 = for %i in %from..%to carry (%o = %c, %u = %t) {
        %v = load %o, INDEX
        %w = load %x, %i
        %s = add %v, %w
        %o1 = store %o, INDEX, %s
        %u1 = push %u, %s
        yield %o1, %u1
      }
      %done = imax %from, %to
      return %r, %done, 0, %t1
    }
    func @reverse(%from: i64, %to: i64, %exit: i64, %d: [f64], %t: tape) -> ([f64], tape) {
      %trips = isub %to, %from
      %last = isub %to, 1
      %r, %t1 = for %k in 0..%trips carry (%o = %d, %u = %t) {
        %i = isub %last, %k
        %u1, %s = pop %u : tape, f64
        %v = load %o, INDEX
        %w = add %v, %s
        %o1 = store %o, INDEX, %w
        yield %o1, %u1
      }
      return %r, %t1
    }
    loop @l parallel for carries 1 state 1 finals () advance @advance record @record reverse @reverse";

/// Sees whether other threads take part when there are several, and that nobody can tell by the results.
fn takes_threads(module: &Module, entry: &str, args: &[Arg], wanted: bool) {
    let program = Program::compile(module, &[entry]).unwrap();
    let printed = crate::printed(&[module]).and_then(|mut made| made.pop());
    for program in [Some(program), printed].into_iter().flatten() {
        let run = |threads| {
            let options = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
            program.call(entry, args, &options).unwrap()
        };
        let (alone, stats) = run(1);
        assert_eq!(stats.pieces_elsewhere, 0);
        // A busy machine may leave everything to the caller for a while.
        let times = if wanted { 300 } else { 10 };
        let helped = (0..times).any(|_| {
            let (found, stats) = run(4);
            assert_eq!(found, alone);
            stats.pieces_elsewhere > 0
        });
        assert_eq!(helped, wanted, "{module}");
    }
}

#[test]
fn a_plan_that_only_says_it_is_parallel_runs_in_order() {
    let n = 1_000_000;
    let x = numbers(n);
    let args = [Arg::Array(&x), Arg::I64(n as i64)];
    // One that is only run can be looked at; what is recorded must have been made by reverse mode.
    let cases = [
        (NOT_APART, "0", false),
        (NOT_APART, "%i", true),
        (NOT_APART_RECORDED, "0", false),
        (NOT_APART_RECORDED, "%i", false),
    ];
    for (text, index, apart) in cases {
        let text = text.replace("INDEX", index);
        takes_threads(&module(&text), "f", &args, apart);
        Both::new(&text).agree("f", &args).unwrap();
    }
    // Apart in the loop, but not after it.
    let after = "%done = imax %from, %to
      %seen = load %r, 0
      %fits = lt %seen, 1e300
      assert %fits, \"small\"";
    let text = NOT_APART.replace("INDEX", "%i").replace("%done = imax %from, %to", after);
    takes_threads(&module(&text), "f", &args, false);
    Both::new(&text).agree("f", &args).unwrap();
}

/// Chunks as reverse mode makes them, written by hand: `NEXT` is where the one after begins, `INDEX` what an iteration
/// touches.
const CHUNKS: &str = "
    func @f(%x: [f64], %n: i64, %t: tape) -> ([f64], [f64], [f64], tape) {
      %c = copy %x
      %d = copy %x
      %sums = fill 64, 0.0
      %each = idiv %n, 64
      %covered = wmul %each, 64
      %more = wsub %n, %covered
      %r, %done, %exit, %t1 = drive @l forward (0, 64, %c, %each, %more, %x, %t) : [f64], i64, i64, tape
      %d1, %s1, %t2 = drive @l reverse (0, 64, 0, %d, %sums, %each, %more, %t1) : [f64], [f64], tape
      return %r, %d1, %s1, %t2
    }
    func @advance(%from: i64, %to: i64, %c: [f64], %each: i64, %more: i64, %x: [f64]) -> ([f64], i64, i64) {
      %done = imax %from, %to
      return %c, %done, 0
    }
    func @record(%from: i64, %to: i64, %c: [f64], %each: i64, %more: i64, %x: [f64], %t: tape) -> ([f64], i64, i64, tape) {
      %n = len %x
      %r, %t1 = hidden for %chunk in %from..%to carry (%o = %c, %u = %t) {
        %next = wadd %chunk, NEXT
        %a = wmul %each, %chunk
        %b = imin %chunk, %more
        %lo = wadd %a, %b
        %e = wmul %each, %next
        %g = imin %next, %more
        %h = wadd %e, %g
        %hi = imin %h, %n
        %o2, %u2 = counted for %i in %lo..%hi carry (%p = %o, %q = %u) {
          %w = load %x, %i
          %j = INDEX
          %v = load %p, %j
          %s = fma %v, 0.5, %w
          %p1 = store %p, %j, %s
          %q1 = push %q, %s
          yield %p1, %q1
        }
        yield %o2, %u2
      }
      %done = imax %from, %to
      return %r, %done, 0, %t1
    }
    func @reverse(%from: i64, %to: i64, %exit: i64, %d: [f64], %sums: [f64], %each: i64, %more: i64, %t: tape) -> ([f64], [f64], tape) {
      %n = len %d
      %trips = wsub %to, %from
      %last = wsub %to, 1
      %r, %z, %t1 = hidden for %k in 0..%trips carry (%o = %d, %y = %sums, %u = %t) {
        %chunk = wsub %last, %k
        %next = wadd %chunk, NEXT
        %a = wmul %each, %chunk
        %b = imin %chunk, %more
        %lo = wadd %a, %b
        %e = wmul %each, %next
        %g = imin %next, %more
        %h = wadd %e, %g
        %hi = imin %h, %n
        %many = wsub %hi, %lo
        %end = wsub %hi, 1
        %o2, %sum, %u2 = for %m in 0..%many carry (%p = %o, %st = 0.0, %q = %u) {
          %i = wsub %end, %m
          %q1, %s = pop %q : tape, f64
          %j = INDEX
          %v = load %p, %j
          %w = fma %v, 0.5, %s
          %p1 = store %p, %j, %w
          %st1 = add %st, %s
          yield %p1, %st1, %q1
        }
        %y1 = store %y, %chunk, %sum
        yield %o2, %y1, %u2
      }
      return %r, %z, %t1
    }
    loop @l parallel for carries 1 state 2 finals () advance @advance record @record reverse @reverse";

/// Chunks written by anybody run in order, whether their bounds are right, overlap or are all the same, and whatever
/// indices they touch.
#[test]
fn forged_chunks_run_in_order() {
    let n = 40_000;
    let x = numbers(n);
    let args = [Arg::Array(&x), Arg::I64(n as i64)];
    let forged = [
        ("1", "wadd %i, 0"),
        ("2", "wadd %i, 0"),
        ("64", "wadd %i, 0"),
        ("1", "imod %i, 7"),
        ("1", "imax %i, 100"),
    ];
    for (next, index) in forged {
        let text = CHUNKS.replace("NEXT", next).replace("INDEX", index);
        let forged = module(&text);
        Both::of(forged.clone()).agree("f", &args).unwrap();
        takes_threads(&forged, "f", &args, false);
    }
}

/// What reverse mode has made runs on threads; the same as text, or with a function changed, does not.
#[test]
fn only_what_reverse_mode_has_made_runs_on_threads() {
    let func = pipeline::run(&module(PATHS), "f").unwrap();
    let made = vjp::vjp(&func, &[0, 1, 2]).unwrap();
    let n = 40_000;
    let (w, x) = ([0.3, -0.2, 0.7], numbers(n));
    let args = [Arg::F64(0.8), Arg::Array(&w), Arg::Array(&x), Arg::I64(0), Arg::I64(n as i64)];
    let args = [&args[..], &[Arg::Array(&x)]].concat();
    takes_threads(&made, "f.vjp", &args, true);
    let text = made.to_string();
    let read = module(&text);
    takes_threads(&read, "f.vjp", &args, false);
    let mut changed = made.clone();
    changed.funcs = module(&text.replace(" = sin ", " = cos ")).funcs;
    takes_threads(&changed, "f.vjp", &args, false);
    // Compiled again, it is still what it was.
    takes_threads(&made, "f.vjp", &args, true);
}
