//! Loops: trip counts, nesting, exits, carries that stay or swap.

use crate::standalone::Standalone;
use crate::{Arg, Both, agree, float, int};

const AFFINE: &str = "
    func @f(%w: f64, %b: f64, %h0: f64, %lo: i64, %hi: i64) -> (f64, i64) {
      %h, %k = for %i in %lo..%hi carry (%x = %h0, %c = 0) {
        %m = mul %w, %x
        %a = add %m, %b
        %d = iadd %c, %i
        yield %a, %d
      }
      return %h, %k
    }";

#[test]
fn trip_counts() {
    let _standalone = Standalone::here(1_000_000_000);
    let both = Both::new(AFFINE);
    let bounds = [
        (0, 0),
        (0, 1),
        (0, 1000),
        (5, 3),
        (-3, 4),
        (7, 8),
        (i64::MAX - 2, i64::MAX),
        (i64::MIN, i64::MIN + 1),
        (i64::MAX, i64::MIN),
        // Chunks end at multiples of 65536.
        (0, 65535),
        (0, 65536),
        (0, 65537),
        (-1, 131073),
    ];
    for (lo, hi) in bounds {
        let args = [Arg::F64(0.9), Arg::F64(0.1), Arg::F64(1.0), Arg::I64(lo), Arg::I64(hi)];
        let _ = both.agree("f", &args);
    }
}

#[test]
fn nested() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%n: i64, %m: i64) -> (f64, i64) {
          %s, %c = for %i in 0..%n carry (%s1 = 1.0, %c1 = 0) {
            %s2, %c2 = for %j in %i..%m carry (%s3 = %s1, %c3 = %c1) {
              %s4 = for %k in 0..2 carry (%s5 = %s3) {
                %fk = itof %k
                %s6 = fma %s5, 1.0009765625, %fk
                yield %s6
              }
              %c4 = iadd %c3, 1
              yield %s4, %c4
            }
            yield %s2, %c2
          }
          return %s, %c
        }";
    let both = Both::new(text);
    for (n, m) in [(0, 5), (5, 0), (3, 3), (10, 7), (40, 60)] {
        both.agree("f", &[Arg::I64(n), Arg::I64(m)]).unwrap();
    }
}

#[test]
fn exits() {
    let _standalone = Standalone::here(1_000_000_000);
    // Exits at the head, in the middle (twice) and at the end, with work done in the exits.
    let text = "
        func @f(%x: f64, %a: i64, %b: i64, %c: i64, %d: i64) -> (f64, i64) {
          %r, %k = while %i carry (%y = %x, %z = 0) {
            %p = ige %i, %a
            exit_if %p { %e = mul %y, 2.0  yield %e, 1 }
            %y1 = add %y, 0.5
            %q = ige %i, %b
            exit_if %q { %g = exp %y1  yield %g, %i }
            %r1 = ige %i, %c
            exit_if %r1 { yield %x, %z }
            %y2 = mul %y1, 0.75
            %z1 = iadd %z, 3
            %s = ige %i, %d
            exit_if %s { yield %y2, %z1 }
            yield %y2, %z1
          }
          return %r, %k
        }";
    let both = Both::new(text);
    for which in 0..4 {
        for at in [0, 1, 2, 100, 70000] {
            let mut args = [i64::MAX; 4];
            args[which] = at;
            let [a, b, c, d] = args.map(Arg::I64);
            both.agree("f", &[Arg::F64(0.3), a, b, c, d]).unwrap();
        }
    }
}

#[test]
fn a_for_loop_with_exits() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: f64, %n: i64, %at: i64) -> (f64, f64) {
          %y, %u = for %i in 0..%n carry (%v = %x, %w = %x) {
            %p = ieq %i, %at
            exit_if %p { yield 7.0, %v }
            %v1 = mul %v, 1.5
            yield %v1, %w
          }
          return %y, %u
        }";
    let both = Both::new(text);
    for n in [0, 1, 5] {
        for at in [-1, 0, 3, 4, 5] {
            both.agree("f", &[Arg::F64(2.0), Arg::I64(n), Arg::I64(at)]).unwrap();
        }
    }
}

#[test]
fn the_iteration_limit() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%n: i64) -> i64 {
          %s = for %j in 3..5 carry (%t = 0) {
            %k = while %i carry (%c = %t) {
              %p = ige %i, %n
              exit_if %p { yield %c }
              %d = iadd %c, 1
              yield %d
            }
            yield %k
          }
          return %s
        }";
    let mut both = Both::new(text);
    for limit in [0, 1, 10, 65536, 65537, 100_000] {
        both.options.max_iterations = limit;
        for n in [0, 1, 9, 10, 11, 65535, 65536, 65537, 99_999] {
            let _ = both.agree("f", &[Arg::I64(n)]);
        }
        assert!(both.agree("f", &[Arg::I64(200_000)]).is_err());
    }
}

#[test]
fn a_loop_without_an_exit_ends_by_the_limit() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "func @f(%x: f64) -> f64 {
        %y = while %i carry (%v = %x) { %w = mul %v, 0.5  yield %w }
        return %y
      }";
    let mut both = Both::new(text);
    both.options.max_iterations = 1000;
    assert!(both.agree("f", &[Arg::F64(1.0)]).is_err());
}

#[test]
fn carries_that_swap_and_stay() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%a: f64, %b: f64, %c: f64, %n: i64) -> (f64, f64, f64, f64) {
          %p, %q, %r, %s = for %i in 0..%n carry (%x = %a, %y = %b, %z = %c, %w = %a) {
            yield %y, %x, %z, %z
          }
          return %p, %q, %r, %s
        }";
    for n in 0..5 {
        agree(text, &[Arg::F64(1.0), Arg::F64(2.0), Arg::F64(3.0), Arg::I64(n)]).unwrap();
    }
}

#[test]
fn a_carry_that_stays_but_not_in_the_exit() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%a: f64, %n: i64) -> f64 {
          %p = for %i in 0..10 carry (%x = %a) {
            %c = ieq %i, %n
            exit_if %c { %y = add %x, 1.0  yield %y }
            yield %x
          }
          return %p
        }";
    assert_eq!(agree(text, &[Arg::F64(1.0), Arg::I64(3)]), Ok(vec![float(2.0)]));
    assert_eq!(agree(text, &[Arg::F64(1.0), Arg::I64(30)]), Ok(vec![float(1.0)]));
}

#[test]
fn branches() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: f64, %n: i64) -> (f64, i64, bool) {
          %y, %k, %b = for %i in 0..%n carry (%v = %x, %c = 0, %d = false) {
            %p = lt %v, 0.5
            %v1, %c1 = if %p {
              %q = imod %i, 3
              %r = ieq %q, 0
              %w = if %r { %e = exp %v  yield %e } else { %u = add %v, 0.25  yield %u }
              yield %w, %q
            } else {
              %h = mul %v, 0.375
              yield %h, %c
            }
            %e2 = or %p, %d
            yield %v1, %c1, %e2
          }
          return %y, %k, %b
        }";
    let both = Both::new(text);
    for n in 0..60 {
        both.agree("f", &[Arg::F64(0.1), Arg::I64(n)]).unwrap();
        both.agree("f", &[Arg::F64(f64::NAN), Arg::I64(n)]).unwrap();
    }
}

#[test]
fn elementary_functions_in_a_loop() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: f64, %n: i64) -> (f64, f64) {
          %y, %s = for %i in 0..%n carry (%v = %x, %t = 0.0) {
            %a = tanh %v
            %b = sin %a
            %c = cos %v
            %d = exp %c
            %e = log %d
            %g = fma %b, 1.75, %e
            %u = add %t, %g
            yield %g, %u
          }
          return %y, %s
        }";
    let both = Both::new(text);
    for x in [0.3, -25.0, 1e9, 1e300, f64::NAN, f64::INFINITY, 5e-324] {
        both.agree("f", &[Arg::F64(x), Arg::I64(200)]).unwrap();
    }
    assert_ne!(both.agree("f", &[Arg::F64(0.3), Arg::I64(2)]).unwrap(), [int(0)]);
}
