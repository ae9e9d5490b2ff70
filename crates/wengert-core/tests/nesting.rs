//! Derivatives of derivatives: every order of modes, against each other and closed forms.

use wengert_core::check::{self, Engine, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type, parse, verify};
use wengert_core::transform::{derivative, pipeline};

fn prepared(text: &str) -> (Module, String) {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}"));
    let name = module.funcs[0].name.to_string();
    (pipeline::module(&module, &name).unwrap_or_else(|e| panic!("{e}")), name)
}

fn run(module: &Module, name: &str, args: &[Val]) -> Vec<f64> {
    let results = Interpreter::default().call(module, name, args);
    check::floats(&results.unwrap_or_else(|e| panic!("{e}\n{module}")))
}

fn verified(module: &Module) {
    verify::module(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
}

/// The derivative of order `modes.len()` of a function of one float (`x`, then others) at a point: the
/// modes are applied from left to right, `f` forward and `r` reverse.
fn higher(text: &str, modes: &str, x: f64, others: &[Val]) -> f64 {
    let (mut module, mut name) = prepared(text);
    // Which result is the derivative, and what its parameters are.
    let mut args = vec![Val::f64(x)];
    args.extend(others.iter().cloned());
    let mut result = 0;
    for mode in modes.chars() {
        let results = module.func(&name).unwrap().results.clone();
        if mode == 'f' {
            module = derivative::jvp_of(&module, &name, &[0], 1).unwrap_or_else(|e| panic!("{e}"));
            name += ".jvp";
            args.push(Val::f64(1.0));
            let floats = |types: &[Type]| types.iter().filter(|t| t.is_float()).count();
            result = results.len() + floats(&results[..result]);
        } else {
            module = derivative::vjp_of(&module, &name, &[0]).unwrap_or_else(|e| panic!("{e}"));
            name += ".vjp";
            for (k, _) in results.iter().enumerate().filter(|(_, t)| t.is_float()) {
                args.push(Val::f64(if k == result { 1.0 } else { 0.0 }));
            }
            result = results.len();
        }
        verified(&module);
    }
    let out = run(&module, &name, &args);
    out[result]
}

const ALL: [&str; 14] =
    ["f", "r", "ff", "fr", "rf", "rr", "fff", "ffr", "frf", "frr", "rff", "rfr", "rrf", "rrr"];

#[test]
fn a_power_by_a_loop() {
    let text = "func @power(%x: f64, %n: i64) -> f64 {
      %p = for %i in 0..%n carry (%p1 = 1.0) {
        %p2 = mul %p1, %x
        yield %p2
      }
      return %p
    }";
    let x = 1.3f64;
    let exact = [5.0 * x.powi(4), 20.0 * x.powi(3), 60.0 * x.powi(2)];
    for modes in ALL {
        let d = higher(text, modes, x, &[Val::i64(5)]);
        assert!((d - exact[modes.len() - 1]).abs() < 1e-12 * exact[2], "{modes}: {d}");
    }
}

#[test]
fn newtons_iteration() {
    let text = "func @newton(%a: f64) -> f64 {
      %x = while %k carry (%x1 = 1.0) {
        %q = mul %x1, %x1
        %r = sub %q, %a
        %m = abs %r
        %small = lt %m, 1e-30
        %late = igt %k, 12
        %stop = or %small, %late
        exit_if %stop { yield %x1 }
        %d = add %x1, %x1
        %c = div %r, %d
        %x2 = sub %x1, %c
        yield %x2
      }
      return %x
    }";
    let a = 2.0f64;
    let exact = [0.5 * a.powf(-0.5), -0.25 * a.powf(-1.5), 0.375 * a.powf(-2.5)];
    for modes in ALL {
        let d = higher(text, modes, a, &[]);
        assert!((d - exact[modes.len() - 1]).abs() < 1e-11, "{modes}: {d}");
    }
}

#[test]
fn overwritten_arrays() {
    // x[i] = x[i-1]^2 + x[i], from x[0] = a: then y = x[3], a polynomial of degree 8.
    let text = "func @f(%a: f64) -> f64 {
      %z = fill 4, 1.0
      %x0 = store %z, 0, %a
      %x = for %i in 1..4 carry (%x1 = %x0) {
        %m = isub %i, 1
        %l = load %x1, %m
        %r = load %x1, %i
        %q = mul %l, %l
        %v = add %q, %r
        %x2 = store %x1, %i, %v
        yield %x2
      }
      %y = load %x, 3
      return %y
    }";
    // p(a) = ((a^2 + 1)^2 + 1)^2 + 1, with u = a^2 + 1 and v = u^2 + 1.
    let a = 0.7f64;
    let u = [a * a + 1.0, 2.0 * a, 2.0, 0.0];
    let square = |p: [f64; 4]| {
        [
            p[0] * p[0] + 1.0,
            2.0 * p[0] * p[1],
            2.0 * (p[1] * p[1] + p[0] * p[2]),
            2.0 * (3.0 * p[1] * p[2] + p[0] * p[3]),
        ]
    };
    let exact = square(square(u));
    for modes in ALL {
        let d = higher(text, modes, a, &[]);
        let wanted = exact[modes.len()];
        assert!((d - wanted).abs() < 1e-12 * wanted, "{modes}: {d} {wanted}");
    }
}

#[test]
fn exits_and_branches() {
    // Doubles until it is large, then takes the sine of the square.
    let text = "func @f(%x: f64) -> f64 {
      %a, %b = for %i in 0..10 carry (%a1 = %x, %b1 = 1.0) {
        %far = gt %a1, 3.0
        exit_if %far {
          %w = mul %a1, %a1
          %z = sin %w
          yield %z, %b1
        }
        %t = mul %a1, 2.0
        %odd = imod %i, 2
        %is = ieq %odd, 1
        %b2 = if %is {
          %e = exp %t
          %s = mul %e, %b1
          yield %s
        } else {
          %c = cos %t
          %s2 = add %c, %b1
          yield %s2
        }
        yield %t, %b2
      }
      %y = mul %a, %b
      return %y
    }";
    for x in [0.2, 0.5, 1.0, 4.0] {
        let second: Vec<f64> = ["ff", "fr", "rf", "rr"].map(|m| higher(text, m, x, &[])).to_vec();
        let third: Vec<f64> = ALL[6..].iter().map(|m| higher(text, m, x, &[])).collect();
        let h = 1e-5;
        let slope =
            |m: &str| (higher(text, m, x + h, &[]) - higher(text, m, x - h, &[])) / (2.0 * h);
        for (values, limit) in [(second, slope("r")), (third, slope("rf"))] {
            for d in &values {
                let size = values[0].abs();
                assert!((d - values[0]).abs() <= 1e-10 * size, "{x}: {values:?}");
                assert!((d - limit).abs() <= 1e-5 * (1.0 + size), "{x}: {d} {limit}");
            }
        }
    }
}

/// The gradient by both modes at order one, checked against each other and differences.
fn checked(text: &str, args: &[Val], order: usize) {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    let name = module.funcs[0].name.to_string();
    let report = check::check_grads(&module, &name, args, order).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.passes(), "{report}");
    assert_eq!(report.rows.len(), 2 * ((1 << order) - 1), "{report}");
}

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
fn stopped_gradients() {
    let text = "func @f(%x: f64) -> f64 { %s = stop_gradient %x  %y = mul %s, %x  return %y }";
    assert_eq!(higher(text, "f", 3.0, &[]), 3.0);
    assert_eq!(higher(text, "r", 3.0, &[]), 3.0);
    // The derivative is the stopped value, which varies no more.
    for modes in ["ff", "fr", "rf", "rr"] {
        assert_eq!(higher(text, modes, 3.0, &[]), 0.0, "{modes}");
    }
}

/// d/dx (x * d/dy (x + y)) is 1: the inner derivative is by y alone.
#[test]
fn no_perturbation_is_taken_for_another() {
    let inner = "func @inner(%x: f64, %y: f64) -> f64 { %s = add %x, %y  return %s }
      func @product(%x: f64, %y: f64) -> f64 { %s = mul %x, %y  %t = mul %s, %x  return %t }";
    for (inner_mode, outer_mode) in [("f", "f"), ("f", "r"), ("r", "f"), ("r", "r")] {
        for (name, wanted) in [("inner", 1.0), ("product", 3.0 * 4.0)] {
            let module = parse::module(inner).unwrap();
            // d/dy at (x, y), whichever mode: takes (x, y, 1) and gives (value, derivative).
            let (module, derivative) = match inner_mode {
                "f" => (derivative::jvp_of(&module, name, &[1], 1).unwrap(), format!("{name}.jvp")),
                _ => (derivative::vjp_of(&module, name, &[1]).unwrap(), format!("{name}.vjp")),
            };
            let outer = format!(
                "func @outer(%x: f64) -> f64 {{
                   %v, %d = call @{derivative}(%x, %x, 1.0) : f64, f64
                   %p = mul %x, %d
                   return %p
                 }}\n{module}"
            );
            let d = higher(&outer, outer_mode, 2.0, &[]);
            // d/dx (x * x * x) = 3 x^2 for the product, whose derivative by y is x^2.
            assert_eq!(d, wanted, "{outer_mode} over {inner_mode}, {name}");
        }
    }
}

#[test]
fn many_directions_are_single_ones_to_the_bit() {
    let (module, name) = prepared(
        "func @f(%x: [f64], %c: f64, %n: i64) -> (f64, [f64]) {
           %x9, %s = for %i in 1..%n carry (%x1 = %x, %s1 = %c) {
             %m = isub %i, 1
             %a = load %x1, %m
             %b = load %x1, %i
             %p = mul %a, %b
             %q = sin %p
             %far = gt %s1, 2.0
             exit_if %far { yield %x1, %q }
             %up = gt %b, %c
             %v = if %up {
               %e = exp %b
               yield %e
             } else {
               %w = mul %b, %s1
               yield %w
             }
             %x2 = store %x1, %i, %v
             %s2 = fma %q, %v, %s1
             yield %x2, %s2
           }
           return %s, %x9
         }",
    );
    let args = [Val::array(vec![0.3, 0.9, 0.1, 0.7, 0.4]), Val::f64(0.6), Val::i64(5)];
    let mut random = check::Random(3);
    let along: Vec<Vec<Val>> =
        (0..8).map(|_| args[..2].iter().map(|v| random.like(v)).collect()).collect();
    let one = derivative::jvp_of(&module, &name, &[0, 1], 1).unwrap();
    let eight = derivative::jvp_of(&module, &name, &[0, 1], 8).unwrap();
    verified(&eight);
    let call = |module: &Module, name: &str, along: &[Vec<Val>]| {
        let args: Vec<Val> = args.iter().cloned().chain(along.iter().flatten().cloned()).collect();
        Interpreter::default().call(module, name, &args).unwrap()
    };
    let all = call(&eight, "f.jvp8", &along);
    for (d, direction) in along.chunks(1).enumerate() {
        let single = call(&one, "f.jvp", direction);
        assert_eq!(check::bits(&single[..2]), check::bits(&all[..2]));
        assert_eq!(check::bits(&single[2..]), check::bits(&all[2 + 2 * d..4 + 2 * d]));
    }
}

#[test]
fn reverse_over_many_directions() {
    // Each direction's second derivative of sin(x) x, by reversing two tangents at once.
    let text = "func @f(%x: f64) -> f64 { %s = sin %x  %y = mul %s, %x  return %y }";
    let (module, name) = prepared(text);
    let module = derivative::jvp_of(&module, &name, &[0], 2).unwrap();
    let module = derivative::vjp_of(&module, "f.jvp2", &[0]).unwrap();
    verified(&module);
    let x = 0.7f64;
    let second = 2.0 * x.cos() - x * x.sin();
    for (weights, wanted) in [([1.0, 0.0], 2.0 * second), ([0.0, 1.0], 5.0 * second)] {
        let args: Vec<Val> = [x, 2.0, 5.0, 0.0, weights[0], weights[1]].map(Val::f64).to_vec();
        let out = run(&module, "f.jvp2.vjp", &args);
        assert!((out[3] - wanted).abs() < 1e-14 * wanted.abs(), "{out:?}");
    }
}

#[test]
fn third_order_programs_stay_small() {
    let text = "func @power(%x: f64, %n: i64) -> f64 {
      %p = for %i in 0..%n carry (%p1 = 1.0) {
        %p2 = mul %p1, %x
        yield %p2
      }
      return %p
    }";
    for (modes, most) in [("r", 20), ("rr", 60), ("rrr", 200), ("fff", 30), ("rff", 60)] {
        let (mut module, mut name) = prepared(text);
        for mode in modes.chars() {
            if mode == 'f' {
                module = derivative::jvp_of(&module, &name, &[0], 1).unwrap();
                name += ".jvp";
            } else {
                module = derivative::vjp_of(&module, &name, &[0]).unwrap();
                name += ".vjp";
            }
        }
        let mut count = 0;
        module.func(&name).unwrap().body.walk(&mut |_| count += 1);
        assert!(count <= most, "{modes}: {count} instructions\n{}", module.func(&name).unwrap());
    }
}

#[test]
fn every_order_of_an_in_place_stencil() {
    checked(
        "func @f(%x: [f64], %y: [f64], %c: f64) -> f64 {
           %a, %b = for %t in 0..3 carry (%a1 = %x, %b1 = %y) {
             %b9 = for %i in 1..3 carry (%b2 = %b1) {
               %l = isub %i, 1
               %r = iadd %i, 1
               %u = load %a1, %l
               %v = load %a1, %i
               %w = load %a1, %r
               %uw = mul %u, %w
               %s = tanh %v
               %z = fma %uw, %c, %s
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
        &[
            Val::array(vec![0.3, 0.9, 0.1, 0.7]),
            Val::array(vec![0.5, 0.2, 0.4, 0.6]),
            Val::f64(0.8),
        ],
        3,
    );
}

#[test]
fn matrices() {
    checked(
        "func @f(%x: [[f64]], %c: f64) -> f64 {
           %n = dim[0] %x
           %m = dim[1] %x
           %z = fill %n, %m, %c
           %z9, %s9 = for %i in 0..%n carry (%z1 = %z, %s1 = 0.0) {
             %z8, %s8 = for %j in 0..%m carry (%z2 = %z1, %s2 = %s1) {
               %e = load %x, %i, %j
               %q = mul %e, %c
               %z3 = store %z2, %i, %j, %q
               %o = load %z3, 0, %j
               %p = mul %o, %q
               %s3 = add %s2, %p
               yield %z3, %s3
             }
             yield %z8, %s8
           }
           %k = copy %z9
           %k1 = store %k, 1, 1, %s9
           %a = load %k1, 0, 1
           %b = load %k1, 1, 1
           %d = load %z9, 1, 1
           %ab = mul %a, %b
           %y = mul %ab, %d
           return %y
         }",
        &[
            Val::shaped(wengert_core::ops::Array {
                shape: vec![2, 3],
                data: wengert_core::ops::kernels::collect(
                    wengert_core::ir::Elem::F64,
                    (1..7).map(|k| wengert_core::ops::Scalar::F64(0.2 * f64::from(k))),
                ),
            }),
            Val::f64(0.8),
        ],
        2,
    );
}
