//! Derivatives of derivatives: every order of modes, against each other and closed forms.

use wengert_core::check::{self, Interpreter, Engine};
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

fn floats(module: &Module, name: &str) -> Vec<usize> {
    let types = module.func(name).unwrap().param_types();
    (0..types.len()).filter(|k| types[*k].is_float()).collect()
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
        let slope = |m: &str| {
            (higher(text, m, x + h, &[]) - higher(text, m, x - h, &[])) / (2.0 * h)
        };
        for (values, limit) in [(second, slope("r")), (third, slope("rf"))] {
            for d in &values {
                let size = values[0].abs();
                assert!((d - values[0]).abs() <= 1e-10 * size, "{x}: {values:?}");
                assert!((d - limit).abs() <= 1e-5 * (1.0 + size), "{x}: {d} {limit}");
            }
        }
    }
}
