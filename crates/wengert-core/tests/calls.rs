//! Derivatives through calls that stay calls: recursion, and functions with rules of their own.

mod nested;

use nested::{ALL, checked, higher, prepared, run, verified};
use wengert_core::check::{self, Engine, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::parse;
use wengert_core::transform::{derivative, pipeline};

#[test]
fn recursion() {
    // x^n = x * x^(n - 1)
    let power = "func @power(%x: f64, %n: i64) -> f64 {
      %end = ile %n, 0
      %p = if %end { yield 1.0 } else {
        %m = isub %n, 1
        %q = call @power(%x, %m) : f64
        %r = mul %q, %x
        yield %r
      }
      return %p
    }";
    let x = 1.3f64;
    let exact = [5.0 * x.powi(4), 20.0 * x.powi(3), 60.0 * x.powi(2)];
    for modes in ALL {
        let d = higher(power, modes, x, &[Val::i64(5)]);
        assert!((d - exact[modes.len() - 1]).abs() < 1e-12 * exact[2], "{modes}: {d}");
    }
    let (module, name) = prepared(power);
    let module = derivative::vjp_of(&module, &name, &[0]).unwrap();
    let args = [Val::f64(1.0), Val::i64(200), Val::f64(1.0)];
    let fault = Interpreter::default().call(&module, "power.vjp", &args).unwrap_err();
    assert!(fault.to_string().contains("nested more than"), "{fault}");
}

#[test]
fn mutual_recursion() {
    checked(
        "func @even(%x: f64, %n: i64) -> f64 {
           %end = ile %n, 0
           %p = if %end { yield %x } else {
             %m = isub %n, 1
             %q = call @odd(%x, %m) : f64
             %r = sin %q
             yield %r
           }
           return %p
         }
         func @odd(%x: f64, %n: i64) -> f64 {
           %end = ile %n, 0
           %p = if %end { yield 1.0 } else {
             %m = isub %n, 1
             %q = call @even(%x, %m) : f64
             %r = mul %q, %x
             yield %r
           }
           return %p
         }",
        &[Val::f64(0.8), Val::i64(6)],
        2,
    );
}

#[test]
fn recursion_over_an_array_that_is_overwritten() {
    // Sums the halves; every call scales its own copy of the array first.
    checked(
        "func @f(%x: [f64], %a: f64) -> f64 {
           %n = len %x
           %c = copy %x
           %s = call @sum(%c, 0, %n, %a) : f64
           %e = load %x, 1
           %y = mul %s, %e
           return %y
         }
         func @sum(%x: [f64], %lo: i64, %hi: i64, %a: f64) -> f64 {
           %size = isub %hi, %lo
           %one = ile %size, 1
           %s = if %one {
             %e = load %x, %lo
             %q = mul %e, %e
             yield %q
           } else {
             %half = idiv %size, 2
             %mid = iadd %lo, %half
             %old = load %x, %lo
             %new = mul %old, %a
             %x1 = store %x, %lo, %new
             %x2 = copy %x1
             %l = call @sum(%x2, %lo, %mid, %a) : f64
             %r = call @sum(%x1, %mid, %hi, %a) : f64
             %t = add %l, %r
             yield %t
           }
           return %s
         }",
        &[Val::array(vec![0.3, 0.9, 0.1, 0.7, 0.4]), Val::f64(1.2)],
        2,
    );
}

#[test]
fn recursive_calls_in_loops_with_exits() {
    checked(
        "func @f(%x: f64) -> f64 {
           %y = for %i in 0..5 carry (%y1 = %x) {
             %p = call @power(%y1, %i) : f64
             %far = gt %p, 3.0
             exit_if %far {
               %q = call @power(%p, 2) : f64
               yield %q
             }
             %y2 = add %p, %x
             yield %y2
           }
           return %y
         }
         func @power(%x: f64, %n: i64) -> f64 {
           %end = ile %n, 0
           %p = if %end { yield 1.0 } else {
             %m = isub %n, 1
             %q = call @power(%x, %m) : f64
             %r = mul %q, %x
             yield %r
           }
           return %p
         }",
        &[Val::f64(0.6)],
        3,
    );
}

const RULED: &str = "func @f(%x: f64, %a: [f64]) -> f64 {
   %y = for %i in 0..3 carry (%y1 = %x) {
     %c = copy %a
     %s, %b = call @g(%y1, %c, %i) : f64, [f64]
     %e = load %b, 1
     %p = mul %s, %e
     yield %p
   }
   return %y
 }
 func @g(%x: f64, %a: [f64], %k: i64) -> (f64, [f64]) {
   %e = load %a, %k
   %s = mul %e, %x
   %y = sin %s
   %b = store %a, 1, %y
   return %y, %b
 }
 func @forward(%x: f64, %a: [f64], %k: i64, %dx: f64, %da: [f64]) -> (f64, [f64], f64, [f64]) {
   %a1 = copy %a
   %y, %b = call @g(%x, %a1, %k) : f64, [f64]
   %e = load %a, %k
   %de = load %da, %k
   %s = mul %e, %x
   %c = cos %s
   %p = mul %e, %dx
   %q = mul %de, %x
   %r = add %p, %q
   %dy = mul %c, %r
   %db = store %da, 1, %dy
   return %y, %b, %dy, %db
 }
 func @backward(%x: f64, %a: [f64], %k: i64, %y: f64, %b: [f64], %y_bar: f64, %b_bar: [f64]) -> (f64, [f64]) {
   %e = load %a, %k
   %s = mul %e, %x
   %c = cos %s
   %d = load %b_bar, 1
   %t = add %y_bar, %d
   %u = mul %t, %c
   %x_bar = mul %u, %e
   %e_bar = mul %u, %x
   %a1 = store %b_bar, 1, 0.0
   %o = load %a1, %k
   %v = add %o, %e_bar
   %a2 = store %a1, %k, %v
   return %x_bar, %a2
 }
";

#[test]
fn rules_are_used_and_differentiated() {
    let args = [Val::f64(0.7), Val::array(vec![0.4, 0.9, 1.1])];
    checked(&format!("{RULED} rule @g jvp @forward vjp @backward"), &args, 2);

    // Rules that are wrong on purpose show that they are used.
    let text = "func @f(%x: f64) -> f64 { %y = call @g(%x) : f64  return %y }
      func @g(%x: f64) -> f64 { %y = mul %x, %x  return %y }
      func @j(%x: f64, %dx: f64) -> (f64, f64) { return 1.0, 7.0 }
      func @v(%x: f64, %y: f64, %y_bar: f64) -> f64 { %a = mul %x, %y  return %a }
      rule @g jvp @j vjp @v";
    let (module, name) = prepared(text);
    let forward = derivative::jvp_of(&module, &name, &[0], 3).unwrap();
    verified(&forward);
    let args: Vec<Val> = [3.0, 1.0, 1.0, 1.0].map(Val::f64).to_vec();
    assert_eq!(run(&forward, "f.jvp3", &args), [1.0, 7.0, 7.0, 7.0]);
    let reverse = derivative::vjp_of(&module, &name, &[0]).unwrap();
    verified(&reverse);
    assert_eq!(run(&reverse, "f.vjp", &args[..2]), [9.0, 27.0]);
    // d/dx (x * g(x)) with g's own tangent rule, which says 7.
    let again = derivative::jvp_of(&reverse, "f.vjp", &[0], 1).unwrap();
    verified(&again);
    assert_eq!(run(&again, "f.vjp.jvp", &args[..3])[2..], [7.0, 1.0 + 3.0 * 7.0]);
}

#[test]
fn the_rule_of_the_function_itself() {
    let text = "func @g(%x: f64) -> f64 { %y = mul %x, %x  return %y }
      func @j(%x: f64, %dx: f64) -> (f64, f64) { return 1.0, 7.0 }
      func @v(%x: f64, %y: f64, %y_bar: f64) -> f64 { return 8.0 }
      rule @g jvp @j vjp @v";
    assert_eq!(higher(text, "f", 3.0, &[]), 7.0);
    assert_eq!(higher(text, "r", 3.0, &[]), 8.0);
}

#[test]
fn a_rule_for_one_mode() {
    for (rule, other) in [("jvp @forward", "vjp"), ("vjp @backward", "jvp")] {
        let module = parse::module(&format!("{RULED} rule @g {rule}")).unwrap();
        let module = pipeline::module(&module, "f").unwrap();
        let forward = derivative::jvp_of(&module, "f", &[0], 1);
        let reverse = derivative::vjp_of(&module, "f", &[0]);
        let (works, fails) = if other == "vjp" { (forward, reverse) } else { (reverse, forward) };
        verified(&works.unwrap());
        let message = fails.unwrap_err().to_string();
        assert!(message.contains(&format!("the rule of `@g` has no {other}")), "{message}");
    }
}

#[test]
fn a_loop_around_calls_that_read_an_array() {
    checked(
        "func @f(%x: [f64], %c: f64) -> f64 {
           %n = len %x
           %y = for %i in 1..%n carry (%y1 = %c) {
             %s = call @sum(%x, %i, %y1) : f64
             %t = sin %s
             yield %t
           }
           %e = load %x, 2
           %z = mul %y, %e
           return %z
         }
         func @sum(%x: [f64], %n: i64, %c: f64) -> f64 {
           %end = ile %n, 0
           %s = if %end { yield %c } else {
             %m = isub %n, 1
             %r = call @sum(%x, %m, %c) : f64
             %e = load %x, %m
             %p = mul %e, %r
             %q = add %p, %c
             yield %q
           }
           return %s
         }",
        &[Val::array(vec![0.3, 0.9, 0.1, 0.7]), Val::f64(0.8)],
        3,
    );
}

#[test]
fn a_wrong_rule_is_found() {
    let text = "func @f(%x: f64) -> f64 { %y = call @g(%x) : f64  return %y }
      func @g(%x: f64) -> f64 { %y = mul %x, %x  return %y }
      func @j(%x: f64, %dx: f64) -> (f64, f64) { %y = call @g(%x) : f64  %d = mul %x, %dx  return %y, %d }
      func @v(%x: f64, %y: f64, %y_bar: f64) -> f64 { %a = mul %x, %y_bar  return %a }
      rule @g jvp @j vjp @v";
    let module = parse::module(text).unwrap();
    let args = [Val::f64(0.5)];
    let report = check::check_jvp(&module, "f", &args).unwrap();
    assert!(!report.passes());
    let shown = report.to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "mode     compared                       error  verdict", "{shown}");
    assert!(lines[1].starts_with("forward  differences of the function  "), "{shown}");
    assert!(lines[1].ends_with("  DISAGREES"), "{shown}");
    // The two rules agree with each other, and with their own derivatives.
    assert!(check::check_vjp(&module, "f", &args).unwrap().passes());
    let report = check::check_grads(&module, "f", &args, 2).unwrap();
    assert_eq!(report.rows.iter().filter(|row| !row.agrees()).count(), 3, "{report}");
    assert!(check::check_grads(&module, "f", &args, 4).is_err());
}
