//! Derivatives of small programs in IR text: both modes, against each other and finite differences.

use wengert_core::check::{self, Derived, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Op, Type, parse, verify};
use wengert_core::ops::Prim;
use wengert_core::transform::pipeline;

/// Checks a program by all its float parameters and gives back its gradient for unit seeds.
fn check(text: &str, args: &[Val]) -> Vec<f64> {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    verify::module(&module).unwrap();
    let func = pipeline::run(&module, &module.funcs[0].name).unwrap();
    let wrt: Vec<usize> = (0..func.params().len())
        .filter(|k| matches!(func.param_types()[*k], Type::F64 | Type::VECTOR))
        .collect();
    let derived = Derived::new(func, wrt).unwrap_or_else(|e| panic!("{e}"));
    let mut engine = Interpreter::default();
    let report = check::derivatives(&derived, &mut engine, args, 3, 7).unwrap();
    assert!(report.passes(), "{report}\n{}\n{}", derived.func, derived.reverse);
    let values = derived.value(&mut engine, args).unwrap();
    let seeds: Vec<Val> = values
        .iter()
        .filter_map(|v| match v {
            Val::Array(x) => Some(Val::array(vec![1.0; x.len()])),
            Val::Scalar(wengert_core::ops::Scalar::F64(_)) => Some(Val::f64(1.0)),
            _ => None,
        })
        .collect();
    check::floats(&derived.vjp(&mut engine, args, &seeds).unwrap().1)
}

#[test]
fn straight_line() {
    let g = check(
        "func @f(%x: f64, %y: f64) -> f64 {
           %a = mul %x, %y
           %b = sin %a
           %c = div %b, %x
           return %c
         }",
        &[Val::f64(1.3), Val::f64(0.7)],
    );
    assert_eq!(g.len(), 2);
}

#[test]
fn recurrence_of_tanh() {
    check(
        "func @a(%w: f64, %b: f64, %h0: f64, %n: i64) -> f64 {
           %h, %s = for %i in 0..%n carry (%h1 = %h0, %s1 = 0.0) {
             %t = mul %w, %h1
             %u = add %t, %b
             %h2 = tanh %u
             %s2 = add %s1, %h2
             yield %h2, %s2
           }
           %nf = itof %n
           %l = div %s, %nf
           return %l
         }",
        &[Val::f64(0.9), Val::f64(0.1), Val::f64(0.5), Val::i64(20)],
    );
}

#[test]
fn a_loop_that_does_not_run() {
    for n in [0, -3] {
        let g = check(
            "func @f(%x: f64, %n: i64) -> f64 {
               %h = for %i in 0..%n carry (%h1 = %x) {
                 %h2 = sin %h1
                 yield %h2
               }
               return %h
             }",
            &[Val::f64(0.3), Val::i64(n)],
        );
        assert_eq!(g, [1.0]);
    }
}

#[test]
fn newton_with_a_while_loop() {
    let g = check(
        "func @newton(%a: f64) -> f64 {
           %x = while %k carry (%x1 = 1.0) {
             %q = mul %x1, %x1
             %r = sub %q, %a
             %m = abs %r
             %small = lt %m, 1e-14
             exit_if %small { yield %x1 }
             %d = add %x1, %x1
             %c = div %r, %d
             %x2 = sub %x1, %c
             yield %x2
           }
           return %x
         }",
        &[Val::f64(2.0)],
    );
    assert!((g[0] - 0.5 / 2f64.sqrt()).abs() < 1e-12);
}

const TRAP: &str = "func @trap(%x: [f64], %c: f64, %i: i64, %j: i64) -> f64 {
   %x2, %y = for %k in 0..3 carry (%x1 = %x, %y1 = 0.0) {
     %a = load %x1, %j
     %v = mul %c, %a
     %x3 = store %x1, %i, %v
     %s = sin %a
     %y2 = add %y1, %s
     yield %x3, %y2
   }
   return %y
 }";

#[test]
fn a_value_loaded_before_it_is_overwritten() {
    for (i, j) in [(1, 1), (1, 2), (0, 2)] {
        check(TRAP, &[Val::array(vec![0.3, 0.5, 0.7]), Val::f64(1.7), Val::i64(i), Val::i64(j)]);
    }
}

#[test]
fn in_place_recurrence() {
    let x: Vec<f64> = (0..12).map(|i| 0.8 * (0.1 * i as f64).sin()).collect();
    check(
        "func @h(%x: [f64]) -> f64 {
           %n = len %x
           %x9 = for %i in 1..%n carry (%x1 = %x) {
             %m = isub %i, 1
             %a = load %x1, %m
             %b = load %x1, %i
             %p = mul %a, %b
             %s = sin %b
             %v = add %p, %s
             %x2 = store %x1, %i, %v
             yield %x2
           }
           %l = for %k in 0..%n carry (%l1 = 0.0) {
             %e = load %x9, %k
             %l2 = add %l1, %e
             yield %l2
           }
           return %l
         }",
        &[Val::array(x)],
    );
}

#[test]
fn nested_loops_with_a_count_from_data() {
    check(
        "func @f(%x: f64, %n: i64) -> f64 {
           %s = for %i in 0..%n carry (%s1 = %x) {
             %inner = while %k carry (%t1 = %s1) {
               %big = gt %t1, 3.0
               exit_if %big { yield %t1 }
               %t2 = mul %t1, 1.7
               %t3 = add %t2, 0.1
               yield %t3
             }
             %m = for %j in 0..%i carry (%m1 = %inner) {
               %c = cos %m1
               %m2 = add %m1, %c
               yield %m2
             }
             %d = div %m, 4.0
             yield %d
           }
           return %s
         }",
        &[Val::f64(0.37), Val::i64(5)],
    );
}

#[test]
fn exits_in_the_middle_and_in_the_first_iteration() {
    for x in [0.2, 5.0, 0.9] {
        check(
            "func @f(%x: f64) -> (f64, f64) {
               %a, %b = for %i in 0..10 carry (%a1 = %x, %b1 = 1.0) {
                 %t = mul %a1, 1.5
                 %u = tanh %t
                 %v = mul %u, %b1
                 %far = gt %t, 3.0
                 exit_if %far {
                   %w = mul %v, %t
                   %z = sin %w
                   yield %z, %u
                 }
                 %b2 = add %v, %t
                 %far2 = gt %b2, 6.0
                 exit_if %far2 { yield %b2, %t }
                 yield %t, %b2
               }
               return %a, %b
             }",
            &[Val::f64(x)],
        );
    }
}

#[test]
fn branches_that_write_arrays() {
    for c in [0.2, 0.8] {
        check(
            "func @f(%x: [f64], %c: f64) -> f64 {
               %x5, %s5 = for %i in 0..4 carry (%x1 = %x, %s1 = 0.0) {
                 %e = load %x1, %i
                 %big = gt %e, %c
                 %x4, %s4 = if %big {
                   %q = mul %e, %e
                   %x2 = store %x1, 0, %q
                   %g = load %x2, 1
                   %r = mul %g, %q
                   yield %x2, %r
                 } else {
                   %h = exp %e
                   %m = mul %h, %c
                   %x3 = store %x1, %i, %m
                   yield %x3, %h
                 }
                 %k = load %x4, 2
                 %kk = mul %k, %s4
                 %s2 = add %s1, %kk
                 yield %x4, %s2
               }
               %z = load %x5, 0
               %y = mul %z, %s5
               return %y
             }",
            &[Val::array(vec![0.3, 0.9, 0.1, 0.7]), Val::f64(c)],
        );
    }
}

#[test]
fn carried_arrays_that_swap() {
    check(
        "func @f(%x: [f64], %y: [f64]) -> f64 {
           %a, %b = for %t in 0..5 carry (%a1 = %x, %b1 = %y) {
             %b9 = for %i in 1..3 carry (%b2 = %b1) {
               %l = isub %i, 1
               %r = iadd %i, 1
               %u = load %a1, %l
               %v = load %a1, %i
               %w = load %a1, %r
               %uw = mul %u, %w
               %s = sin %v
               %z = add %uw, %s
               %b3 = store %b2, %i, %z
               yield %b3
             }
             yield %b9, %a1
           }
           %p = load %a, 1
           %q = load %a, 2
           %r2 = mul %p, %q
           return %r2
         }",
        &[Val::array(vec![0.3, 0.9, 0.1, 0.7]), Val::array(vec![0.5, 0.2, 0.4, 0.6])],
    );
}

#[test]
fn arrays_made_in_the_loop() {
    check(
        "func @f(%x: f64, %n: i64) -> f64 {
           %s = for %i in 0..%n carry (%s1 = %x) {
             %z = fill 3, %s1
             %v = sin %s1
             %z2 = store %z, 1, %v
             %c = copy %z2
             %c2 = store %c, 0, %v
             %p = load %z2, 0
             %q = load %c2, 0
             %r = load %c2, 1
             %pq = mul %p, %q
             %t = mul %pq, %r
             %u = add %t, %p
             yield %u
           }
           return %s
         }",
        &[Val::f64(0.4), Val::i64(4)],
    );
}

#[test]
fn a_branch_that_hands_on_an_array_as_it_is() {
    for (c, gradient) in [(0.2, [0.0, 2.0]), (0.8, [2.0, 0.0])] {
        let g = check(
            "func @f(%x: [f64], %y: [f64], %c: f64) -> f64 {
               %big = gt %c, 0.5
               %z = if %big { yield %x } else { yield %y }
               %e = load %z, 0
               %s = add %e, %e
               return %s
             }",
            &[Val::array(vec![0.3]), Val::array(vec![0.9]), Val::f64(c)],
        );
        assert_eq!(g[..2], gradient);
    }
}

#[test]
fn a_branch_with_an_array_is_not_computed_again() {
    check(
        "func @f(%x: f64, %a: [f64]) -> f64 {
           %c = ne 0.5, %x
           %s, %b, %t = if %c { yield %x, %a, 0.5 } else { yield 0.5, %a, %x }
           %p = mul %s, %t
           %q = sin %p
           %e = load %b, 0
           %y = add %q, %e
           return %y
         }",
        &[Val::f64(0.9), Val::array(vec![0.7])],
    );
}

/// The derivative by a factor is the other factor, to the bit: what the reverse program computes again is not
/// rounded otherwise than it was, though its sums of adjoints are fused.
#[test]
fn values_computed_again_keep_their_rounding() {
    let (a, x, c) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, -1.0);
    // In one operation it would be a few units of 2^-105 off.
    let y = a * x + c;
    assert_ne!(a.mul_add(x, c), y);
    let text = "func @f(%a: f64, %x: f64, %c: f64, %z: f64, %n: i64) -> (f64, f64) {
           %r, %q = for %i in 0..%n carry (%s = 0.0, %t = 0.0) {
             %p = mul %a, %x
             %y = add %p, %c
             %m = mul %y, %z
             %u = add %s, %m
             %v = add %t, %p
             yield %u, %v
           }
           return %r, %q
         }";
    let args = [Val::f64(a), Val::f64(x), Val::f64(c), Val::f64(1.0), Val::i64(1)];
    let g = check(text, &args);
    assert_eq!(g[3].to_bits(), y.to_bits());
}

/// A sine in a loop is recorded by its cosine, which is taken beside it.
#[test]
fn sines_are_recorded_by_their_cosines() {
    let text = "func @f(%x: f64, %n: i64) -> f64 {
           %y = for %i in 0..%n carry (%h = %x) {
             %s = sin %h
             %c = cos %s
             yield %c
           }
           return %y
         }";
    let func = parse::module(text).unwrap().funcs.remove(0);
    let derived = Derived::new(func, vec![0]).unwrap();
    let reversed = derived.reverse.funcs.iter().filter(|f| f.name.ends_with(".reverse"));
    let mut angles = 0;
    reversed.for_each(|f| {
        f.body.walk(&mut |i| {
            angles += usize::from(matches!(i.op, Op::Prim(Prim::Sin | Prim::Cos)));
        });
    });
    assert_eq!(angles, 0, "{}", derived.reverse);
    let g = check(text, &[Val::f64(0.4), Val::i64(3)]);
    let (mut h, mut slope) = (0.4f64, 1.0f64);
    for _ in 0..3 {
        slope *= -h.sin().sin() * h.cos();
        h = h.sin().cos();
    }
    assert!((g[0] - slope).abs() < 1e-15);
}
