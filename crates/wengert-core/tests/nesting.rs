//! Derivatives of derivatives: every order of modes, against each other and closed forms.

mod nested;

use nested::{ALL, checked, higher, prepared, run, verified};
use wengert_core::check::{self, Engine, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, parse};
use wengert_core::transform::derivative;

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
    for (modes, most) in [("r", 40), ("rr", 130), ("rrr", 500), ("fff", 160), ("rff", 320)] {
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
        assert!(count <= most, "{modes}: {count} instructions");
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

#[test]
fn a_hessian_at_once() {
    // Rosenbrock's function over an array, its Hessian along all unit vectors.
    let (module, name) = prepared(
        "func @f(%x: [f64]) -> f64 {
           %s = for %i in 0..2 carry (%s1 = 0.0) {
             %j = iadd %i, 1
             %a = load %x, %i
             %b = load %x, %j
             %q = mul %a, %a
             %d = sub %b, %q
             %e = sub 1.0, %a
             %d2 = mul %d, %d
             %d3 = mul %d2, 100.0
             %s2 = fma %e, %e, %s1
             %s3 = add %s2, %d3
             yield %s3
           }
           return %s
         }",
    );
    let module = derivative::vjp_of(&module, &name, &[0]).unwrap();
    let module = derivative::jvp_of(&module, "f.vjp", &[0], 3).unwrap();
    verified(&module);
    let x = [0.3, 0.7, -0.4];
    let mut args = vec![Val::array(x.to_vec()), Val::f64(1.0)];
    args.extend((0..3).map(|k| Val::array((0..3).map(|j| f64::from(j == k)).collect())));
    let out = run(&module, "f.vjp.jvp3", &args);
    let diagonal = |a: f64, b: f64| 2.0 - 400.0 * (b - a * a) + 800.0 * a * a;
    let exact = [
        [diagonal(x[0], x[1]), -400.0 * x[0], 0.0],
        [-400.0 * x[0], diagonal(x[1], x[2]) + 200.0, -400.0 * x[1]],
        [0.0, -400.0 * x[1], 200.0],
    ];
    // The value and the gradient come first, then one tangent of each per direction.
    for (row, found) in exact.iter().zip(out[4..].chunks(4)) {
        for (a, b) in row.iter().zip(&found[1..]) {
            assert!((a - b).abs() < 1e-12 * 800.0, "{exact:?}\n{out:?}");
        }
    }
}

#[test]
fn what_cannot_be_differentiated_by_is_said() {
    let (module, name) = prepared("func @f(%x: f64, %n: i64) -> f64 { return %x }");
    let message = |e: wengert_core::span::Diagnostic| e.to_string();
    for (wrt, wanted) in [(1, "parameter 1 of `@f` is i64"), (2, "`@f` has no parameter 2")] {
        let forward = derivative::jvp_of(&module, &name, &[wrt], 1).map_err(message).unwrap_err();
        let reverse = derivative::vjp_of(&module, &name, &[wrt]).map_err(message).unwrap_err();
        assert!(forward.contains(wanted) && reverse.contains(wanted), "{forward} {reverse}");
    }
    assert!(derivative::jvp_of(&module, &name, &[0], 0).is_err());
    assert!(derivative::vjp_of(&module, "g", &[0]).is_err());
    let once = derivative::vjp_of(&module, &name, &[0]).unwrap();
    assert!(derivative::vjp_of(&once, &name, &[0]).is_err());
}

/// Gradient descent inside the function that is differentiated: the inner derivative, with a loop and a
/// tape of its own, stands in a loop of the outer function.
#[test]
fn a_derivative_inside_a_loop() {
    // The loss is (x - theta)^2 / 2, its square taken by a loop.
    let inner = parse::module(
        "func @loss(%x: f64, %theta: f64) -> f64 {
           %d = sub %x, %theta
           %p = for %i in 0..2 carry (%p1 = 0.5) {
             %p2 = mul %p1, %d
             yield %p2
           }
           return %p
         }",
    )
    .unwrap();
    let (steps, rate, start, theta) = (7, 0.3f64, 2.0, 0.4);
    let shrunk = (1.0 - rate).powi(steps);
    for mode in ["f", "r"] {
        let (module, gradient) = match mode {
            "f" => (derivative::jvp_of(&inner, "loss", &[0], 1).unwrap(), "loss.jvp"),
            _ => (derivative::vjp_of(&inner, "loss", &[0]).unwrap(), "loss.vjp"),
        };
        let outer = format!(
            "func @descend(%theta: f64, %rate: f64, %x0: f64, %n: i64) -> f64 {{
               %x = for %k in 0..%n carry (%x1 = %x0) {{
                 %v, %d = call @{gradient}(%x1, %theta, 1.0) : f64, f64
                 %step = mul %rate, %d
                 %x2 = sub %x1, %step
                 yield %x2
               }}
               return %x
             }}\n{module}"
        );
        let others = [Val::f64(rate), Val::f64(start), Val::i64(steps.into())];
        for modes in ["f", "r"] {
            let d = higher(&outer, modes, theta, &others);
            assert!((d - (1.0 - shrunk)).abs() < 1e-14, "{modes} over {mode}: {d}");
        }
        let args = [Val::f64(theta), Val::f64(rate), Val::f64(start), Val::i64(steps.into())];
        checked(&outer, &args, 2);
    }
}

/// A branch that pops a record and computes nothing with a derivative from it is reversed all the same.
#[test]
fn a_record_popped_for_a_comparison() {
    let text = "func @f(%x: f64, %w: f64) -> (f64, f64) {
      %t = tape
      %s = sin %x
      %t1 = push %t, %s
      %t2 = push %t1, %s
      %t3, %a = pop %t2 : tape, f64
      %y = mul %a, %x
      %c = gt %w, 0.0
      %z = if %c {
        %t4, %b = pop %t3 : tape, f64
        %p = gt %b, 0.5
        %q = select %p, %w, 0.0
        yield %q
      } else {
        yield %w
      }
      return %y, %z
    }";
    let module = parse::module(text).unwrap();
    let derived = check::Derived::new(module.funcs[0].clone(), vec![0]).unwrap();
    let args = [Val::f64(0.7), Val::f64(0.3)];
    let report = check::derivatives(&derived, &mut Interpreter::default(), &args, 2, 1).unwrap();
    assert!(report.passes(), "{report}");
}
