//! Arrays: in place, carried, swapped, captured, copied; the caller's stay as they are.

use crate::standalone::Standalone;
use crate::{Arg, Bits, Both, agree};
use wengert_runtime::{Options, Out, Program};

#[test]
fn stores_in_a_loop() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %c: f64) -> ([f64], f64) {
          %n = len %x
          %y, %s = for %i in 0..%n carry (%a = %x, %t = 0.0) {
            %v = load %a, %i
            %u = mul %v, %c
            %a1 = store %a, %i, %u
            %w = load %a1, %i
            %t1 = add %t, %w
            yield %a1, %t1
          }
          return %y, %s
        }";
    let both = Both::new(text);
    for n in [0, 1, 7, 1000] {
        let x: Vec<f64> = (0..n).map(|k| k as f64 - 3.5).collect();
        let before = x.clone();
        both.agree("f", &[Arg::Array(&x), Arg::F64(-0.75)]).unwrap();
        assert_eq!(x, before, "the caller's array has changed");
    }
}

#[test]
fn arrays_that_swap() {
    let _standalone = Standalone::here(1_000_000_000);
    // A stencil between two buffers.
    let text = "
        func @f(%x: [f64], %n: i64) -> ([f64], [f64]) {
          %len = len %x
          %zero = fill %len, 0.0
          %m = isub %len, 1
          %p, %q = for %t in 0..%n carry (%a = %x, %b = %zero) {
            %c = for %i in 1..%m carry (%d = %b) {
              %l = isub %i, 1
              %r = iadd %i, 1
              %u = load %a, %l
              %v = load %a, %r
              %w = add %u, %v
              %h = mul %w, 0.5
              %d1 = store %d, %i, %h
              yield %d1
            }
            yield %c, %a
          }
          return %p, %q
        }";
    let both = Both::new(text);
    let x: Vec<f64> = (0..20).map(|k| (k * k) as f64).collect();
    for n in 0..6 {
        both.agree("f", &[Arg::Array(&x), Arg::I64(n)]).unwrap();
    }
}

#[test]
fn captured_copied_and_filled() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %n: i64) -> ([f64], [f64], f64, i64) {
          %c = copy %x
          %z = fill %n, 2.5
          %len = len %x
          %d, %s = for %i in 0..%n carry (%e = %c, %t = 0.0) {
            %k = imod %i, %len
            %v = load %x, %k
            %w = load %z, %i
            %u = fma %v, %w, %t
            %e1 = store %e, %k, %u
            %g = copy %e1
            %h = load %g, 0
            %t1 = add %u, %h
            yield %e1, %t1
          }
          %l = len %d
          return %d, %z, %s, %l
        }";
    let both = Both::new(text);
    let x = [1.0, -2.0, 3.0];
    for n in [0, 1, 2, 10] {
        both.agree("f", &[Arg::Array(&x), Arg::I64(n)]).unwrap();
    }
}

#[test]
fn arrays_through_branches() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %y: [f64], %b: bool) -> ([f64], f64) {
          %z = if %b {
            %x1 = store %x, 0, 5.0
            yield %x1
          } else {
            %y1 = store %y, 1, 6.0
            yield %y1
          }
          %z1 = store %z, 2, 7.0
          %v = load %z1, 0
          return %z1, %v
        }";
    let both = Both::new(text);
    let (x, y) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]);
    for b in [false, true] {
        both.agree("f", &[Arg::Array(&x), Arg::Array(&y), Arg::Bool(b)]).unwrap();
    }
    assert_eq!((x[0], y[1]), (1.0, 5.0));
}

#[test]
fn an_array_that_is_only_read_is_not_copied() {
    let text = "func @f(%x: [f64], %i: i64) -> f64 { %v = load %x, %i  return %v }";
    let module = crate::module(text);
    let program = Program::compile(&module, &["f"]).unwrap();
    let x = vec![1.5; 1000];
    let args = [Arg::Array(&x), Arg::I64(999)];
    let (out, stats) = program.call("f", &args, &Options::default()).unwrap();
    assert_eq!((out, stats.array_peak_bytes), (vec![Out::F64(1.5)], 0));
}

#[test]
fn a_parameter_that_is_returned() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "func @f(%x: [f64], %y: [f64]) -> ([f64], [f64]) { return %y, %x }";
    let (x, y) = ([1.0], [2.0, 3.0]);
    let wanted =
        [&y[..], &x[..]].map(|a: &[f64]| Bits::Array(a.iter().map(|v| v.to_bits()).collect()));
    assert_eq!(agree(text, &[Arg::Array(&x), Arg::Array(&y)]), Ok(wanted.to_vec()));
    agree(text, &[Arg::Array(&[]), Arg::Array(&[])]).unwrap();
}

#[test]
fn known_indices_are_not_checked_and_others_are() {
    let _standalone = Standalone::here(1_000_000_000);
    // The counter runs to the length of another array than the one indexed.
    let text = "
        func @f(%x: [f64], %y: [f64]) -> f64 {
          %n = len %x
          %s = for %i in 0..%n carry (%t = 0.0) {
            %u = load %x, %i
            %v = load %y, %i
            %w = load %y, %i
            %a = fma %u, %v, %t
            %b = add %a, %w
            yield %b
          }
          return %s
        }";
    let both = Both::new(text);
    let x = [1.0, 2.0, 3.0];
    both.agree("f", &[Arg::Array(&x), Arg::Array(&x)]).unwrap();
    assert!(both.agree("f", &[Arg::Array(&x), Arg::Array(&x[..2])]).is_err());
    let text = "
        func @f(%x: [f64], %lo: i64) -> f64 {
          %n = len %x
          %s = for %i in %lo..%n carry (%t = 0.0) {
            %u = load %x, %i
            %b = add %t, %u
            yield %b
          }
          return %s
        }";
    assert!(agree(text, &[Arg::Array(&x), Arg::I64(-1)]).is_err());
}

#[test]
fn a_check_in_a_branch_does_not_count_outside() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %i: i64, %b: bool) -> f64 {
          %v = if %b { %u = load %x, %i  yield %u } else { yield 0.0 }
          %w = load %x, %i
          %s = add %v, %w
          return %s
        }";
    let both = Both::new(text);
    for b in [false, true] {
        for i in [-1, 0, 1, 2] {
            let _ = both.agree("f", &[Arg::Array(&[1.0, 2.0]), Arg::I64(i), Arg::Bool(b)]);
        }
    }
}

#[test]
fn dead_arrays_are_freed() {
    let _standalone = Standalone::here(1_000_000_000);
    // A new state in every iteration, a scratch array that an exit leaves behind, one in a branch
    // and one in a callee: at no time more than a few arrays.
    let text = "
        func @norm(%x: [f64]) -> f64 {
          %y = copy %x
          %n = len %y
          %s = for %i in 0..%n carry (%t = 0.0) { %v = load %y, %i  %u = fma %v, %v, %t  yield %u }
          return %s
        }
        func @take(%x: [f64]) -> f64 { %y = store %x, 0, 1.0  %v = load %y, 0  return %v }
        func @f(%x: [f64], %n: i64) -> ([f64], f64) {
          %len = len %x
          %y, %s = for %i in 0..%n carry (%a = %x, %t = 0.0) {
            %new = fill %len, 0.0
            %b = for %j in 0..%len carry (%c = %new) {
              %v = load %a, %j
              %w = fma %v, 0.5, 1.0
              %c1 = store %c, %j, %w
              yield %c1
            }
            %k = while %m carry (%q = 0) {
              %scratch = copy %b
              %p = ige %m, 2
              exit_if %p { %e = copy %scratch  %l = len %e  yield %l }
              yield %q
            }
            %r = imod %i, 2
            %even = ieq %r, 0
            %g = if %even { %tmp = copy %b  %h = load %tmp, 0  yield %h } else { yield 0.0 }
            %d = call @norm(%b) : f64
            %mine = copy %b
            %o = call @take(%mine) : f64
            %t1 = add %d, %g
            %t2 = add %t1, %o
            yield %b, %t2
          }
          return %y, %s
        }";
    let both = Both::new(text);
    let x: Vec<f64> = (0..100).map(|k| k as f64).collect();
    for n in [0, 1, 2, 50] {
        let args = [Arg::Array(&x), Arg::I64(n)];
        both.agree("f", &args).unwrap();
        let peak = both.compiled("f", &args).1.array_peak_bytes;
        assert!(peak <= 5 * 800, "{peak} bytes after {n} iterations");
    }
}

#[test]
fn arrays_that_swap_live_on() {
    let _standalone = Standalone::here(1_000_000_000);
    // Rotating three arrays through carries, one of them replaced now and then.
    let text = "
        func @f(%x: [f64], %n: i64) -> ([f64], [f64], [f64]) {
          %y = copy %x
          %z = copy %x
          %a, %b, %c = for %i in 0..%n carry (%p = %x, %q = %y, %r = %z) {
            %m = imod %i, 3
            %k = ieq %m, 1
            %s = if %k {
              %f = itof %i
              %u = fill 3, %f
              yield %u
            } else {
              %v = load %q, %m
              %w = add %v, 0.25
              %t = store %p, %m, %w
              yield %t
            }
            yield %q, %r, %s
          }
          return %a, %b, %c
        }";
    let both = Both::new(text);
    for n in 0..30 {
        both.agree("f", &[Arg::Array(&[1.0, 2.0, 3.0]), Arg::I64(n)]).unwrap();
    }
}

/// Shapes that are compared in one branch are not known after it.
#[test]
fn shapes_compared_on_one_way_only() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %y: [f64], %b: bool) -> (f64, f64) {
          %c = if %b {
            conform[add] %x, %y
            yield 1.0
          } else {
            yield 2.0
          }
          %n = len %x
          %s = for %i in 0..%n carry (%t = 0.0) {
            %v = load %y, %i
            %u = add %t, %v
            yield %u
          }
          return %s, %c
        }
        func @g(%x: [f64], %y: [f64], %z: [f64]) -> f64 {
          conform[add] %x, %y
          conform[mul] %z, %y
          %n = len %x
          %s = for %i in 0..%n carry (%t = 0.0) {
            %v = load %z, %i
            %w = load %y, %i
            %u = fma %v, %w, %t
            yield %u
          }
          return %s
        }";
    let both = Both::new(text);
    let long = [1.0, 2.0, 3.0, 4.0];
    for n in 0..=4 {
        let (short, x) = (&long[..n], Arg::Array(&long));
        for b in [false, true] {
            let ran = both.agree("f", &[x, Arg::Array(short), Arg::Bool(b)]);
            assert_eq!(ran.is_ok(), n == 4);
        }
        assert_eq!(both.agree("g", &[x, x, Arg::Array(short)]).is_ok(), n == 4);
        assert_eq!(both.agree("g", &[Arg::Array(short), x, x]).is_ok(), n == 4);
    }
}
