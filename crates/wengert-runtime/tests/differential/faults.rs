//! Faults: kind, place, names, operands and the iterations of every loop around.

use crate::standalone::Standalone;
use crate::{Arg, Both, agree};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wengert_core::fault::FaultKind;
use wengert_core::ops::Array;

/// Writes to parts become one loop over the whole, whose result is still the array that the program knows.
#[test]
fn an_index_into_what_was_written_in_parts() {
    let both = Both::new(
        "func @f(%x: [f64]) -> [f64] {
           %n = len %x
           %r = for %i in 0..%n carry (%u = %x) {
             %p = slice %u, 0, %n, 1
             %h = mul %p, 0.8
             %v = put %u, 0, %n, 1, %h
             %e = load %v, 7
             yield %v
           }
           return %r
         }",
    );
    let fault = both.agree("f", &[Arg::Array(&[1.0, 2.0, 3.0])]).unwrap_err();
    let array = Some("v".into());
    assert_eq!(fault.kind, FaultKind::Index { array, index: 7, len: 3, axis: None });
}

#[test]
fn an_index_in_nested_loops() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [f64], %n: i64, %m: i64) -> f64 {
          %s = for %i in 2..%n carry (%t = 0.0) {
            %u = for %j in -1..%m carry (%v = %t) {
              %k = while %w carry (%c = 0) {
                %p = ige %w, 2
                exit_if %p { yield %c }
                %q = imul %i, %j
                %e = load %x, %q
                %d = iadd %c, 1
                yield %d
              }
              yield %v
            }
            yield %u
          }
          return %s
        }";
    let both = Both::new(text);
    let x = vec![0.0; 10];
    for (n, m) in [(3, 0), (2, 5), (9, 9)] {
        let _ = both.agree("f", &[Arg::Array(&x), Arg::I64(n), Arg::I64(m)]);
    }
    let fault = both.agree("f", &[Arg::Array(&x), Arg::I64(9), Arg::I64(9)]).unwrap_err();
    let array = Some("x".into());
    assert_eq!(fault.kind, FaultKind::Index { array, index: -2, len: 10, axis: None });
    assert_eq!(fault.iterations.len(), 3);
}

#[test]
fn everything_that_can_fail() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @fill(%n: i64) -> [f64] {
          %y = for %i in 0..3 carry (%x = %n) { %z = isub %x, 2  %w = fill %z, 1.0  yield %z }
          %r = fill %y, 0.0
          return %r
        }
        func @assert(%n: i64) -> i64 {
          %y = for %i in 0..10 carry (%x = %n) {
            %p = ine %i, %x
            assert %p, \"i must not be n\"
            yield %x
          }
          return %y
        }
        func @store(%x: [f64], %i: i64) -> [f64] { %y = store %x, %i, 1.0  return %y }
        func @exit(%n: i64) -> i64 {
          %y = while %i carry (%x = 0) {
            %p = ige %i, 3
            exit_if %p { %q = idiv 10, %n  yield %q }
            yield %x
          }
          return %y
        }";
    let both = Both::new(text);
    for n in [-5, 0, 3, 5, 7, 100] {
        let _ = both.agree("fill", &[Arg::I64(n)]);
        let _ = both.agree("assert", &[Arg::I64(n)]);
        let _ = both.agree("store", &[Arg::Array(&[1.0, 2.0, 3.0]), Arg::I64(n)]);
        let _ = both.agree("exit", &[Arg::I64(n)]);
    }
    let fault = both.agree("fill", &[Arg::I64(i64::MAX)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfMemory(u64::MAX));
    let fault = both.agree("fill", &[Arg::I64((1 << 55) + 6)]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        format!("there is not enough memory for an array of {} bytes", (1u64 << 58) + 32)
    );
    assert_eq!(both.agree("exit", &[Arg::I64(0)]).unwrap_err().iterations[0].1, 3);
}

#[test]
fn overflow_in_a_branch_of_a_callee_of_a_callee() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @h(%n: i64) -> i64 {
          %s = for %i in 0..4 carry (%t = %n) {
            %p = igt %t, 5
            %u = if %p { %v = imul %t, %t  yield %v } else { %w = iadd %t, 1  yield %w }
            yield %u
          }
          return %s
        }
        func @g(%n: i64) -> i64 {
          %s = for %i in 0..3 carry (%t = %n) { %u = call @h(%t) : i64  yield %u }
          return %s
        }
        func @f(%n: i64) -> i64 {
          %s = for %i in -7..9 carry (%t = %n) {
            %r = while %j carry (%c = %t) {
              %p = ige %j, 1
              exit_if %p { yield %c }
              %u = call @g(%c) : i64
              yield %u
            }
            yield %r
          }
          return %s
        }";
    let both = Both::new(text);
    for n in -40..40 {
        let _ = both.agree("f", &[Arg::I64(n)]);
    }
    let fault = both.agree("f", &[Arg::I64(0)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Overflow);
    assert_eq!(fault.iterations.len(), 4);
}

#[test]
fn a_program_runs_again_after_a_fault() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "func @f(%n: i64) -> i64 { %m = iadd %n, 1  return %m }";
    let both = Both::new(text);
    assert!(both.agree("f", &[Arg::I64(i64::MAX)]).is_err());
    assert!(both.agree("f", &[Arg::I64(1)]).is_ok());
    assert!(agree(text, &[Arg::I64(i64::MAX)]).is_err());
}

#[test]
fn interrupted() {
    let loops = [
        // one chunked loop, a `while`, a loop around a loop
        "%y = for %i in 0..9000000000000 carry (%v = %x) { %w = mul %v, 0.5  yield %w }",
        "%y = while %i carry (%v = %x) {
           %c = gt %v, 2.0
           exit_if %c { yield %v }
           %w = mul %v, 0.5
           yield %w
         }",
        "%y = for %i in 0..9000000000000 carry (%v = %x) {
           %u = for %j in 0..10 carry (%t = %v) { %w = mul %t, 0.5  yield %w }
           yield %u
         }",
    ];
    for text in loops {
        let text = format!("func @f(%x: f64) -> f64 {{ {text} return %y }}");
        let mut both = Both::new(&text);
        both.options.max_iterations = u64::MAX;
        for through_c in [false, true] {
            let flag = Arc::new(AtomicBool::new(false));
            both.options.interrupt = Some(flag.clone());
            let program = if through_c { both.printed() } else { Some(both.program()) };
            let Some(program) = program else { continue };
            let setter = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                flag.store(true, Ordering::Relaxed);
            });
            let fault = both.native(program, "f", &[Arg::F64(1.0)]).0.unwrap_err();
            setter.join().unwrap();
            assert_eq!(fault.kind, FaultKind::Interrupted);
            assert!(fault.iterations[0].1 > 0);
        }
    }
}

/// An index that has been in range along one axis may be out of range along the other.
#[test]
fn every_axis_is_checked() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%m: [[f64]], %k: i64) -> f64 {
          %a = load %m, 0, %k
          %b = load %m, %k, 0
          %c = add %a, %b
          return %c
        }
        func @g(%m: [[f64]], %k: i64) -> f64 {
          %a = load %m, %k, 0
          %b = load %m, 0, %k
          %c = add %a, %b
          return %c
        }";
    let both = Both::new(text);
    for (shape, entry, axis) in [([2, 4], "f", 0), ([4, 2], "g", 1)] {
        let m = Array::new(shape.to_vec(), vec![1.5; 8]);
        assert!(both.agree(entry, &[Arg::Shaped(&m), Arg::I64(1)]).is_ok());
        let fault = both.agree(entry, &[Arg::Shaped(&m), Arg::I64(2)]).unwrap_err();
        let wanted = format!("index 2 is out of range: `m` has 2 elements along axis {axis}");
        assert_eq!(fault.to_string(), wanted);
    }
}
