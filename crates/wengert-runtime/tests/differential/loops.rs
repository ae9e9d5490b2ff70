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

/// Branches in inner loops over doubles, which run in pairs: each lane takes its own side.
#[test]
fn sides_of_pairs() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %y: [f64], %c: i64, %t: bool, %n: i64) -> ([f64], [f64]) {
          %m = len %x
          %r, %g = for %i in 0..%n carry (%u = %x, %h = %y) {
            %v = for %j in 0..%m carry (%w = %u) {
              %a = peek %w, %j
              %p = lt %a, 0.5
              %b, %k, %q = if %p {
                %a1 = mul %a, %a
                %a2 = bits %a1
                %z = le %a1, %a
                yield %a1, %a2, %z
              } else {
                %b0 = bits %a
                %b1 = iand %b0, %c
                %b2 = ior %b1, 1024
                %b3 = shl %b2, 1
                %b4 = shr %b3, 2
                %b5 = ixor %b4, %b0
                %b6 = wsub %b5, %b1
                %b7 = frombits %b6
                %o = if %t { yield %b7 } else { %o1 = neg %a  yield %o1 }
                yield %o, %b6, %t
              }
              %k1 = wadd %k, 3
              %e = frombits %k1
              %l = select %q, %b, %e
              %w1 = poke %w, %j, %l
              yield %w1
            }
            %h1 = tanh %h
            %h2 = exp %h1
            %h3 = sub %h2, 0.25
            yield %v, %h3
          }
          return %r, %g
        }";
    let both = Both::new(text);
    let special = [0.0, -0.0, 0.3, -0.95, f64::NAN, f64::INFINITY, 5e-324, -720.0, 19.0, 1e300];
    for n in 0..14 {
        let x: Vec<f64> = (0..n).map(|k| special[(k * 7 + 2) % 10]).collect();
        let y: Vec<f64> = (0..n).map(|k| special[(k * 3 + n) % 10]).collect();
        for (c, t, times) in [(-1, true, 1), (i64::MIN, false, 2), (0x7ff0 << 48, true, 3)] {
            let arrays = [Arg::Array(&x), Arg::Array(&y)];
            let others = [Arg::I64(c), Arg::Bool(t), Arg::I64(times)];
            both.agree("f", &[&arrays[..], &others].concat()).unwrap();
        }
    }
}

/// Inner loops over doubles, which run in pairs: every row that lanes know, special values, lengths even and odd, and
/// places in the array itself. Where a loop reads what it wrote one iteration before, it cannot.
#[test]
fn pairs_of_iterations() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %y: [f64], %c: f64, %t: bool, %n: i64, %from: i64, %to: i64, %far: i64) -> [f64] {
          %r = for %i in 0..%n carry (%u = %x) {
            %v = for %j in %from..%to carry (%w = %u) {
              %k = iadd %j, %far
              %a = peek %y, %k
              %b = peek %w, %j
              %e = peek %y, 0
              %s1 = add %a, %b
              %s2 = sub %s1, %c
              %s3 = mul %s2, 0.75
              %s4 = div %s3, %e
              %s5 = neg %a
              %s6 = abs %s4
              %s7 = min %s6, %s5
              %s8 = max %s7, %b
              %s9 = flush %s8
              %q = abs %a
              %s10 = sqrt %q
              %s11 = fma %s9, %c, %s10
              %s12 = floor %s11
              %s13 = round %b
              %m1 = lt %a, %b
              %m2 = le %s12, %s13
              %m3 = gt %a, %c
              %m4 = ge %s11, %b
              %m5 = eq %s12, %s13
              %m6 = ne %s12, %s13
              %m7 = and %m1, %m2
              %m8 = or %m3, %m7
              %m9 = not %m8
              %m10 = select %t, %m9, %m4
              %m11 = or %m5, %m10
              %m12 = and %m6, %t
              %s14 = select %m11, %s11, %s13
              %s15 = select %m12, %s14, %s8
              %w1 = poke %w, %j, %s15
              yield %w1
            }
            yield %v
          }
          return %r
        }";
    let both = Both::new(text);
    let special = [0.0, -0.0, 1.5, -2.5, f64::NAN, f64::INFINITY, 5e-324, -1e-310, 3.0, 1e300];
    for n in 0..12 {
        let x: Vec<f64> = (0..n).map(|k| special[(k * 7 + 2) % 10]).collect();
        let y: Vec<f64> = (0..n + 2).map(|k| special[(k * 3 + n) % 10]).collect();
        for (from, to, far) in [(0, n as i64, 0), (0, n as i64, 2), (1, n as i64, 1), (3, 1, 0)] {
            for t in [false, true] {
                let ints = [2, from, to, far].map(Arg::I64);
                let mut args = vec![Arg::Array(&x), Arg::Array(&y), Arg::F64(0.7)];
                args.push(Arg::Bool(t));
                args.extend(ints);
                let _ = both.agree("f", &args);
            }
        }
        // Out of range: the iteration is named.
        let ints = [1, 0, n as i64, 3].map(Arg::I64);
        let arrays = [Arg::Array(&x), Arg::Array(&y), Arg::F64(0.7), Arg::Bool(true)];
        let _ = both.agree("f", &[&arrays[..], &ints].concat());
    }

    let chained = "
        func @f(%x: [f64], %far: i64) -> [f64] {
          %n = len %x
          %m = wsub %n, 3
          %r = for %i in 0..3 carry (%u = %x) {
            %v = for %j in 0..%m carry (%w = %u) {
              %k = wadd %j, %far
              %a = peek %w, %k
              %b = add %a, 1.0
              %p = wadd %j, 2
              %w1 = poke %w, %p, %b
              yield %w1
            }
            yield %v
          }
          return %r
        }";
    let both = Both::new(chained);
    for far in 0..4 {
        let x: Vec<f64> = (0..9).map(|k| k as f64 * 1.25).collect();
        let _ = both.agree("f", &[Arg::Array(&x), Arg::I64(far)]);
    }
}
