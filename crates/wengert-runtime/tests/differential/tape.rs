//! The tape, and loops run by the driver.

use crate::{Arg, Bits, Both, agree, float, module};
use wengert_core::fault::FaultKind;
use wengert_core::ops::Scalar;
use wengert_runtime::Program;

/// `h <- w h + b`, its gradient by a record and a reverse loop in one function.
const INLINE: &str = "
    func @f(%w: f64, %b: f64, %h0: f64, %n: i64, %t: tape) -> (f64, f64, f64, f64) {
      %y, %t1 = for %i in 0..%n carry (%h = %h0, %s = %t) {
        %s1 = push %s, %h
        %a = fma %w, %h, %b
        yield %a, %s1
      }
      %dh, %dw, %db, %t2 = for %k in 0..%n carry (%d = 1.0, %gw = 0.0, %gb = 0.0, %r = %t1) {
        %r1, %x = pop %r : tape, f64
        %gw1 = fma %d, %x, %gw
        %gb1 = add %gb, %d
        %d1 = mul %d, %w
        %d2 = flush %d1
        yield %d2, %gw1, %gb1, %r1
      }
      return %y, %dh, %dw, %db
    }";

#[test]
fn record_and_reverse() {
    let both = Both::new(INLINE);
    for n in [0, 1, 10, 3000, 100_000] {
        let args = [Arg::F64(0.75), Arg::F64(0.1), Arg::F64(0.5), Arg::I64(n)];
        both.agree("f", &args).unwrap();
        assert_eq!(both.compiled("f", &args).1.tape_peak_bytes, 8 * n as u64);
    }
}

#[test]
fn the_limit() {
    let mut both = Both::new(INLINE);
    let args = |n| [Arg::F64(0.75), Arg::F64(0.1), Arg::F64(0.5), Arg::I64(n)];
    both.options.tape_limit = Some(800);
    assert!(both.compiled("f", &args(100)).0.is_ok());
    let fault = both.compiled("f", &args(101)).0.unwrap_err();
    assert_eq!((fault.kind, fault.iterations[0].1), (FaultKind::TapeLimit(800), 100));
    both.options.tape_limit = Some(0);
    assert!(both.compiled("f", &args(0)).0.is_ok());
    assert!(both.compiled("f", &args(1)).0.is_err());
    // Two gibibytes asked for, one mebibyte allowed: refused at once.
    both.options.tape_limit = Some(1 << 20);
    assert!(both.compiled("f", &args(1 << 28)).0.is_err());
}

#[test]
fn a_tape_that_grows() {
    let both = Both::new(INLINE);
    // Twice, so that the second run finds pages of the first.
    for n in [40_000_000i64, 30_000_000] {
        let args = [Arg::F64(0.999), Arg::F64(0.1), Arg::F64(0.5), Arg::I64(n)];
        let (out, stats) = both.compiled("f", &args);
        assert_eq!(stats.tape_peak_bytes, 8 * n as u64);
        let Bits::Scalar(Scalar::F64(y)) = out.unwrap()[0] else { panic!() };
        assert!((y - 100.0).abs() < 1e-9, "{y}");
    }
}

#[test]
fn records_of_every_type() {
    let text = "
        func @f(%x: [f64], %b: bool, %t: tape) -> (f64, i64, bool, [f64], [f64], f64) {
          %z = fill 2, 0.5
          %t1 = push %t, 1.5, %b, -7, %x
          %t2 = push %t1, %z
          %t3 = push %t2, -0.0
          %t4, %a = pop %t3 : tape, f64
          %t5, %c = pop %t4 : tape, [f64]
          %t6, %d, %e, %g, %h = pop %t5 : tape, f64, bool, i64, [f64]
          %h1 = store %h, 0, %a
          %s = load %c, 1
          return %d, %g, %e, %h1, %c, %s
        }";
    let both = Both::new(text);
    for b in [false, true] {
        let args = [Arg::Array(&[3.0, 4.0]), Arg::Bool(b)];
        both.agree("f", &args).unwrap();
        assert_eq!(both.compiled("f", &args).1.tape_peak_bytes, 8 * (5 + 2 + 1));
    }
}

#[test]
fn overwritten_elements_are_put_back() {
    let text = "
        func @f(%x: [f64], %n: i64, %t: tape) -> ([f64], [f64]) {
          %len = len %x
          %y, %t1 = for %i in 0..%n carry (%a = %x, %s = %t) {
            %k = imod %i, %len
            %old = load %a, %k
            %s1 = push %s, %old
            %v = tanh %old
            %u = add %v, 0.5
            %a1 = store %a, %k, %u
            yield %a1, %s1
          }
          %z = copy %y
          %w, %t2 = for %j in 0..%n carry (%c = %y, %r = %t1) {
            %m = isub %n, 1
            %q = isub %m, %j
            %p = imod %q, %len
            %r1, %o = pop %r : tape, f64
            %c1 = store %c, %p, %o
            yield %c1, %r1
          }
          return %z, %w
        }";
    let both = Both::new(text);
    let x = [0.25, -1.5, 3.0];
    for n in [0, 1, 3, 50] {
        let out = both.agree("f", &[Arg::Array(&x), Arg::I64(n)]).unwrap();
        assert_eq!(out[1], Bits::Array(x.iter().map(|v| v.to_bits()).collect()));
    }
}

#[test]
fn the_peak_is_between_the_sweeps_of_an_inner_loop() {
    let text = "
        func @f(%n: i64, %m: i64, %t: tape) -> i64 {
          %s, %t0 = for %o in 0..%n carry (%c = 0, %q = %t) {
            %u = imul %m, %o
            %t1 = for %i in 0..%u carry (%a = %q) { %b = push %a, %i  yield %b }
            %v, %t2 = for %j in 0..%u carry (%d = %c, %g = %t1) {
              %h, %w = pop %g : tape, i64
              %e = iadd %d, %w
              yield %e, %h
            }
            yield %v, %t2
          }
          return %s
        }";
    let both = Both::new(text);
    let args = [Arg::I64(4), Arg::I64(5)];
    both.agree("f", &args).unwrap();
    assert_eq!(both.compiled("f", &args).1.tape_peak_bytes, 8 * 15);
}

#[test]
fn a_tape_that_is_returned_counts() {
    let text = "
        func @g(%n: i64, %t: tape) -> tape {
          %t1 = for %i in 0..%n carry (%a = %t) { %b = push %a, %i  yield %b }
          return %t1
        }
        func @f(%n: i64, %t: tape) -> (i64, tape) {
          %u = call @g(%n, %t) : tape
          return %n, %u
        }";
    let both = Both::new(text);
    assert_eq!(both.compiled("f", &[Arg::I64(9)]).1.tape_peak_bytes, 72);
    assert_eq!(both.compiled("g", &[Arg::I64(9)]).1.tape_peak_bytes, 72);
}

/// A loop outlined by hand: `while x < limit: x = w x + b`, at most `to` iterations.
const DRIVEN: &str = "
    func @advance(%from: i64, %to: i64, %x0: f64, %w: f64, %limit: f64) -> (f64, i64, i64) {
      %x, %done, %exit = for %i in %from..%to carry (%v = %x0, %d = %to, %e = 0) {
        %c = ge %v, %limit
        exit_if %c { yield %v, %i, 1 }
        %u = fma %w, %v, 0.5
        yield %u, %d, %e
      }
      return %x, %done, %exit
    }
    func @record(%from: i64, %to: i64, %x0: f64, %w: f64, %limit: f64, %t: tape) -> (f64, i64, i64, tape) {
      %x, %done, %exit, %t1 = for %i in %from..%to carry (%v = %x0, %d = %to, %e = 0, %s = %t) {
        %c = ge %v, %limit
        exit_if %c { yield %v, %i, 1, %s }
        %s1 = push %s, %v
        %u = fma %w, %v, 0.5
        yield %u, %d, %e, %s1
      }
      return %x, %done, %exit, %t1
    }
    func @reverse(%from: i64, %to: i64, %exit: i64, %dx0: f64, %dw0: f64, %w: f64, %t: tape) -> (f64, f64, tape) {
      %dx, %dw, %t1 = for %i in %from..%to carry (%d = %dx0, %g = %dw0, %s = %t) {
        %s1, %v = pop %s : tape, f64
        %g1 = fma %d, %v, %g
        %d1 = mul %d, %w
        %k = iadd %i, 9223372036854775700
        yield %d1, %g1, %s1
      }
      return %dx, %dw, %t1
    }
    func @f(%x0: f64, %w: f64, %limit: f64, %to: i64, %t: tape) -> (f64, i64, i64, f64, f64) {
      %y, %n, %exit, %t1 = drive @l forward (0, %to, %x0, %w, %limit, %t) : f64, i64, i64, tape
      %dx, %dw, %t2 = drive @l reverse (0, %n, %exit, 1.0, 0.0, %w, %t1) : f64, f64, tape
      return %y, %n, %exit, %dx, %dw
    }
    func @outer(%x0: f64, %n: i64, %t: tape) -> f64 {
      %s, %t9 = for %j in 0..%n carry (%a = 0.0, %q = %t) {
        %to = imul %j, 60
        %y, %m, %exit, %t1 = drive @l forward (0, %to, %x0, 0.5, 100.0, %q) : f64, i64, i64, tape
        %dx, %dw, %t2 = drive @l reverse (0, %m, %exit, 1.0, 0.0, 0.5, %t1) : f64, f64, tape
        %b = add %a, %dw
        yield %b, %t2
      }
      return %s
    }
    loop @l for carries 1 state 2 finals () advance @advance record @record reverse @reverse";

#[test]
fn a_driven_loop() {
    let both = Both::new(DRIVEN);
    for (limit, to) in [(10.0, 100), (10.0, 3), (-1.0, 5), (1e300, 0), (1e300, 100)] {
        let args = [Arg::F64(1.0), Arg::F64(1.25), Arg::F64(limit), Arg::I64(to)];
        let out = both.agree("f", &args).unwrap();
        let Bits::Scalar(Scalar::I64(n)) = out[1] else { panic!() };
        assert_eq!(both.compiled("f", &args).1.tape_peak_bytes, 8 * n as u64);
    }
    assert_eq!(
        both.agree("f", &[Arg::F64(2.0), Arg::F64(2.0), Arg::F64(1.0), Arg::I64(3)]).unwrap()[0],
        float(2.0)
    );
}

#[test]
fn a_driven_loop_without_a_bound() {
    let mut both = Both::new(&DRIVEN.replace("loop @l for", "loop @l while"));
    for most in [0, 1, 10, 1000] {
        both.options.max_iterations = most;
        for limit in [-1.0, 3.0, 10.0, 1e30] {
            // The bound given is not the loop's.
            let args = [Arg::F64(1.0), Arg::F64(1.25), Arg::F64(limit), Arg::I64(0)];
            let _ = both.agree("f", &args);
        }
        assert!(both.agree("outer", &[Arg::F64(1.0), Arg::I64(2)]).is_err());
    }
    both.options.max_iterations = u64::MAX;
    both.agree("f", &[Arg::F64(1.0), Arg::F64(1.25), Arg::F64(1e6), Arg::I64(0)]).unwrap();
}

#[test]
fn a_fault_in_a_driven_loop_names_the_loops_around_the_drive() {
    let both = Both::new(DRIVEN);
    both.agree("outer", &[Arg::F64(1.0), Arg::I64(2)]).unwrap();
    let fault = both.agree("outer", &[Arg::F64(1.0), Arg::I64(5)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Overflow);
    assert_eq!(fault.iterations.iter().map(|l| l.1).collect::<Vec<_>>(), [108, 2]);
}

#[test]
fn a_module_of_loops_that_nothing_drives() {
    agree(
        &format!("{DRIVEN}\nfunc @g(%x: f64) -> f64 {{ return %x }}")
            .replace("@f(", "@unused(")
            .replace("@g(", "@f("),
        &[Arg::F64(1.0)],
    )
    .unwrap();
}

/// The runtime supplies empty tapes, so what an entry pops it must have pushed.
#[test]
fn more_is_popped_than_was_pushed() {
    let text = "
        func @empty(%x: f64, %t: tape) -> f64 { %t2, %a = pop %t : tape, f64  return %a }
        func @f(%n: i64, %m: i64, %t: tape) -> f64 {
          %t1 = for %i in 0..%n carry (%a = %t) { %b = push %a, 1.5, %i  yield %b }
          %s, %t2 = for %j in 0..%m carry (%c = 0.0, %d = %t1) {
            %e, %x, %k = pop %d : tape, f64, i64
            %y = add %c, %x
            yield %y, %e
          }
          return %s
        }
        func @two(%n: i64, %m: i64, %t: tape) -> f64 {
          %u = tape
          %t1, %u1 = for %i in 0..%n carry (%a = %t, %p = %u) {
            %b = push %a, 1.5
            %q = push %p, 2.5
            yield %b, %q
          }
          %s, %u2, %t2 = for %j in 0..%m carry (%c = 0.0, %d = %u1, %g = %t1) {
            %e, %x = pop %d : tape, f64
            %y = add %c, %x
            yield %y, %g, %e
          }
          return %s
        }";
    let both = Both::new(text);
    let fault = both.agree("empty", &[Arg::F64(1.0)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Record);
    for n in [0, 1, 5] {
        for m in [n, n + 1, 2 * n, 2 * n + 1, 1000] {
            for entry in ["f", "two"] {
                let ran = both.agree(entry, &[Arg::I64(n), Arg::I64(m)]);
                let enough = m <= if entry == "f" { n } else { 2 * n };
                assert_eq!(ran.is_ok(), enough, "@{entry} {n} {m}");
            }
        }
    }
}

#[test]
fn an_array_is_popped_where_none_was_pushed() {
    // In nested blocks, where the verifier does not follow records.
    let text = |pushed: &str, popped: &str, then: &str| {
        format!(
            "func @f(%x: f64, %i: i64, %p: bool, %t: tape) -> f64 {{
               %v = fill 3, 0.25
               %n = fill 3, 7
               %t1 = if %p {{ %a = push %t, {pushed}  yield %a }} else {{ yield %t }}
               %r = if %p {{
                 %b, {popped}
                 {then}
                 yield %y
               }} else {{ yield %x }}
               return %r
             }}"
        )
    };
    let args = [Arg::F64(1.0), Arg::I64(1 << 40), Arg::Bool(true)];
    let load = "%y = load %w, 1";
    for (pushed, popped) in [
        ("%i, %i", "%w = pop %t1 : tape, [f64]"),
        ("%x, %x", "%w = pop %t1 : tape, [f64]"),
        ("%i, %v", "%w, %k = pop %t1 : tape, [f64], i64"),
        ("%n", "%w = pop %t1 : tape, [f64]"),
    ] {
        let fault = agree(&text(pushed, popped, load), &args).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Record, "{pushed} as {popped}");
    }
    let right = text("%i, %v", "%k, %w = pop %t1 : tape, i64, [f64]", load);
    assert_eq!(agree(&right, &args), Ok(vec![float(0.25)]));

    // An array that was popped as numbers is there once.
    let twice = "
        func @f(%p: bool, %t: tape) -> f64 {
          %v = fill 3, 0.25
          %t1 = if %p { %a = push %t, %v  yield %a } else { yield %t }
          %t2, %i, %n = if %p {
            %b, %j, %m = pop %t1 : tape, i64, i64
            yield %b, %j, %m
          } else { yield %t1, 0, 0 }
          %t3 = if %p { %c = push %t2, %i, %n  %d = push %c, %i, %n  yield %d } else { yield %t2 }
          %r = if %p {
            %e, %x = pop %t3 : tape, [f64]
            %y = load %x, 0
            yield %y
          } else { yield 1.0 }
          return %r
        }";
    let fault = Both::new(twice).compiled("f", &[Arg::Bool(true)]).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Record);
}

/// Other numbers than 0 and 1 are no truth values, and must not get into an array of them.
#[test]
fn a_truth_value_is_popped_where_a_number_was_pushed() {
    let text = "
        func @f(%i: i64, %p: bool, %t: tape) -> [bool] {
          %x = fill 1, false
          %t1 = if %p { %a = push %t, %i  yield %a } else { yield %t }
          %r = if %p { %b, %q = pop %t1 : tape, bool  yield %q } else { yield %p }
          %y = store %x, 0, %r
          return %y
        }";
    let both = Both::new(text);
    for i in 0..300 {
        let out = both.compiled("f", &[Arg::I64(i), Arg::Bool(true)]).0.unwrap();
        let Bits::Shaped(_, (_, elements)) = &out[0] else { panic!() };
        assert_eq!(elements[0], i as u64 & 1);
    }
}

#[test]
fn no_tape_is_popped() {
    let text = "
        func @f(%i: i64, %p: bool, %t: tape) -> i64 {
          %t1 = push %t, %i
          %r = if %p { %b, %u = pop %t1 : tape, tape  %u1 = push %u, %i  yield 1 } else { yield 0 }
          return %r
        }";
    let error = Program::compile(&module(text), &["f"]).unwrap_err().to_string();
    assert!(error.contains("no tape is ever recorded"), "{error}");
}
