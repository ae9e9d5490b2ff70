//! Several tapes at once, and tapes that hold arrays of several kinds.

use crate::standalone::Standalone;
use crate::{Arg, Both};
use wengert_core::fault::FaultKind;
use wengert_core::ops::{Array, Data};

#[test]
fn records_of_arrays() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [[f32]], %y: [bool], %z: [[[i64]]], %n: i64, %t: tape)
            -> ([[f32]], [bool], [[[i64]]], f32, bool) {
          %t1 = for %i in 0..%n carry (%a = %t) {
            %c = copy %x
            %k = imod %i, 3
            %g = itof %i
            %h = demote %g
            %c1 = store %c, %k, 0, %h
            %b = copy %y
            %d = copy %z
            %p = igt %i, 2
            %a1 = push %a, %c1, %p, %h, %b
            %a2 = push %a1, %d, %i
            yield %a2
          }
          %x2 = copy %x
          %y2 = copy %y
          %z2 = copy %z
          %u, %v, %w, %s, %q, %t2 = for %j in 0..%n
              carry (%x0 = %x2, %y0 = %y2, %z0 = %z2, %d0 = 0.0f32, %e0 = false, %r = %t1) {
            %r1, %z1, %i0 = pop %r : tape, [[[i64]]], i64
            %r2, %x1, %p0, %h0, %y1 = pop %r1 : tape, [[f32]], bool, f32, [bool]
            %l = load %x1, 0, 0
            %m = fma %h0, 2.0f32, %l
            %o = add %m, %d0
            yield %x1, %y1, %z1, %o, %p0, %r2
          }
          return %u, %v, %w, %s, %q
        }";
    let both = Both::new(text);
    let x = Array { shape: vec![3, 2], data: Data::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) };
    let y = Array { shape: vec![3], data: Data::Bool(vec![true, false, true]) };
    let z = Array { shape: vec![2, 1, 2], data: Data::I64(vec![7, -8, 9, i64::MIN]) };
    for n in [0, 1, 2, 5, 40] {
        let args = [Arg::Shaped(&x), Arg::Shaped(&y), Arg::Shaped(&z), Arg::I64(n)];
        both.agree("f", &args).unwrap();
        let stats = both.compiled("f", &args).1;
        assert_eq!(stats.tape_peak_bytes, 8 * n as u64 * (3 + 1 + 1 + 2 + 4 + 1));
    }
}

/// `h <- w h`, its gradient on a tape of its own, in every iteration of a loop that records too.
const NESTED: &str = "
    func @inner(%w: f64, %h0: f64, %n: i64) -> (f64, f64) {
      %t = tape
      %y, %t1 = for %i in 0..%n carry (%h = %h0, %s = %t) {
        %s1 = push %s, %h
        %a = fma %w, %h, 0.125
        yield %a, %s1
      }
      %dh, %dw, %t2 = for %k in 0..%n carry (%d = 1.0, %gw = 0.0, %r = %t1) {
        %r1, %x = pop %r : tape, f64
        %gw1 = fma %d, %x, %gw
        %d1 = mul %d, %w
        yield %d1, %gw1, %r1
      }
      return %y, %dw
    }
    func @f(%w: f64, %n: i64, %m: i64, %t: tape) -> (f64, f64) {
      %y, %t1 = for %i in 0..%m carry (%v = %w, %s = %t) {
        %s1 = push %s, %v
        %h, %g = call @inner(%v, 0.5, %n) : f64, f64
        %s2 = push %s1, %h, %g
        %u = fma %g, 0.001, %v
        yield %u, %s2
      }
      %z, %t2 = for %k in 0..%m carry (%d = 0.0, %r = %t1) {
        %r1, %p, %o = pop %r : tape, f64, f64
        %r2, %l = pop %r1 : tape, f64
        %e = fma %p, %o, %d
        %q, %c = call @inner(%l, %e, %n) : f64, f64
        %x = add %e, %c
        yield %x, %r2
      }
      return %y, %z
    }";

#[test]
fn a_tape_in_every_iteration() {
    let _standalone = Standalone::here(1_000_000_000);
    let both = Both::new(NESTED);
    for (n, m) in [(0, 0), (3, 0), (0, 3), (5, 4), (100, 300)] {
        let args = [Arg::F64(0.75), Arg::I64(n), Arg::I64(m)];
        both.agree("f", &args).unwrap();
        let peak = both.compiled("f", &args).1.tape_peak_bytes;
        let least = 8 * (3 * m + if m > 0 { n } else { 0 }) as u64;
        assert!(least <= peak && peak <= least + 8 * n as u64, "{peak} {least}");
    }
}

#[test]
fn the_limit_holds_for_all() {
    let mut both = Both::new(NESTED);
    both.options.tape_limit = Some(8 * 100);
    let run = |n, m| both.compiled("f", &[Arg::F64(0.5), Arg::I64(n), Arg::I64(m)]).0;
    assert!(run(30, 10).is_ok());
    assert!(run(97, 1).is_ok());
    let fault = run(90, 10).unwrap_err();
    assert_eq!(fault.kind, FaultKind::TapeLimit(800));
    assert!(run(101, 1).is_err());
    assert!(run(1, 34).is_err());
}

/// Tapes that are open at the same time and grow in turn share what there is, and what one gives back the
/// other may use.
#[test]
fn the_limit_holds_for_tapes_that_grow_in_turn() {
    let text = "
        func @f(%n: i64, %m: i64) -> i64 {
          %t = tape
          %u = tape
          %t1, %u1 = for %i in 0..%n carry (%a = %t, %p = %u) {
            %b = push %a, %i
            %q = push %p, %i
            yield %b, %q
          }
          %t2 = for %j in 0..%n carry (%c = %t1) { %d, %x = pop %c : tape, i64  yield %d }
          %u2 = for %k in 0..%m carry (%e = %u1) { %g = push %e, %k  yield %g }
          %u3, %y = pop %u2 : tape, i64
          return %y
        }
        func @given(%t: tape, %u: tape, %n: i64) -> i64 {
          %t1, %u1 = for %i in 0..%n carry (%a = %t, %p = %u) {
            %b = push %a, %i
            %q = push %p, %i
            yield %b, %q
          }
          return %n
        }
        func @left(%n: i64) -> i64 {
          %s = for %i in 0..%n carry (%a = 0) {
            %t = tape
            %t1 = push %t, %i, %i, %i
            yield %i
          }
          return %s
        }";
    let mut both = Both::new(text);
    both.options.tape_limit = Some(800);
    let run = |entry, args: &[i64]| {
        let args: Vec<Arg> = args.iter().map(|x| Arg::I64(*x)).collect();
        let (ran, stats) = both.compiled(entry, &args);
        assert!(stats.tape_peak_bytes <= 800, "{}", stats.tape_peak_bytes);
        ran.map_err(|fault| fault.kind)
    };
    let over = Err(FaultKind::TapeLimit(800));
    assert!(run("f", &[50, 50]).is_ok());
    assert_eq!(run("f", &[51, 1]), over);
    assert_eq!(run("f", &[100, 1]), over);
    assert_eq!(run("f", &[50, 51]), over);
    assert!(run("f", &[20, 80]).is_ok());
    assert_eq!(run("f", &[20, 81]), over);
    assert!(run("given", &[50]).is_ok());
    assert_eq!(run("given", &[51]), over);
    // Records left on a tape go with it.
    assert!(run("left", &[1000]).is_ok());
}

#[test]
fn tapes_that_swap_and_meet() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @make(%x: f64) -> tape { %t = tape  %u = push %t, %x  return %u }
        func @f(%n: i64, %b: bool, %t: tape) -> (f64, f64, i64) {
          %s = tape
          %t0 = push %t, 1.0
          %s0 = push %s, 2.0
          %t1, %s1 = for %i in 0..%n carry (%p = %t0, %q = %s0) {
            %g = itof %i
            %p1 = push %p, %g
            %h = mul %g, 0.5
            %q1 = push %q, %h
            yield %q1, %p1
          }
          %u1, %v1 = if %b { yield %t1, %s1 } else { yield %s1, %t1 }
          %u2 = push %u1, 3.5
          %u3, %x = pop %u2 : tape, f64
          %u4, %y = pop %u3 : tape, f64
          %v4, %z = pop %v1 : tape, f64
          %m = call @make(%y) : tape
          %m1 = push %m, %z
          %m2, %c = pop %m1 : tape, f64
          %m3, %d = pop %m2 : tape, f64
          %e = add %c, %d
          %w = while %k carry (%l = 0) {
            %r = tape
            %o = ige %k, 3
            exit_if %o { %r1 = push %r, %k  %r2, %a = pop %r1 : tape, i64  yield %a }
            %r3 = push %r, %l
            %r4, %a1 = pop %r3 : tape, i64
            %a2 = iadd %a1, 2
            yield %a2
          }
          %f = add %e, %x
          return %f, %y, %w
        }
        func @two(%s: tape, %x: f64, %t: tape) -> f64 {
          %s1 = push %s, %x
          %t1 = push %t, 4.0
          %s2, %a = pop %s1 : tape, f64
          %t2, %b = pop %t1 : tape, f64
          %c = sub %a, %b
          return %c
        }";
    let both = Both::new(text);
    for n in 0..6 {
        for b in [false, true] {
            both.agree("f", &[Arg::I64(n), Arg::Bool(b)]).unwrap();
        }
    }
    both.agree("two", &[Arg::F64(9.0)]).unwrap();
}

/// More tapes one after the other than there are addresses for at once.
#[test]
fn tapes_are_handed_back() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%n: i64) -> i64 {
          %s = for %i in 0..%n carry (%a = 0) {
            %t = tape
            %t1 = push %t, %i
            %x = fill 10, 1.0
            %t2 = push %t1, %x
            %t3, %y = pop %t2 : tape, [f64]
            %t4, %b = pop %t3 : tape, i64
            %c = iadd %a, %b
            yield %c
          }
          return %s
        }";
    let both = Both::new(text);
    both.agree("f", &[Arg::I64(3000)]).unwrap();
    let stats = both.compiled("f", &[Arg::I64(3000)]).1;
    assert_eq!((stats.tape_peak_bytes, stats.array_peak_bytes), (8 * 3, 80));
}
