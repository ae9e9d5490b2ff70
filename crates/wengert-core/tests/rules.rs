//! Every row of the rule table: its partials against finite differences of its own value, in both
//! modes, at random points of its domain; and the partials of its partials likewise.

use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::interp::Val;
use wengert_core::ir::{Func, Type, parse};
use wengert_core::ops::{Class, Partial, Prim, Uses};
use wengert_core::transform::jvp::jvp;

/// A function that applies a row to its parameters, conditions fixed.
fn program(prim: Prim) -> Func {
    let inputs = prim.signature().split('>').next().unwrap();
    let (mut params, mut args) = (Vec::new(), Vec::new());
    for (k, letter) in inputs.chars().enumerate() {
        if letter == 'b' {
            args.push("true".to_string());
        } else {
            params.push(format!("%x{k}: {}", if letter == 'i' { "i64" } else { "f64" }));
            args.push(format!("%x{k}"));
        }
    }
    let text = format!(
        "func @f({}) -> f64 {{\n  %y = {} {}\n  return %y\n}}\n",
        params.join(", "),
        prim.name(),
        args.join(", ")
    );
    parse::module(&text).unwrap().funcs.remove(0)
}

fn float_params(func: &Func) -> Vec<usize> {
    let types = func.param_types();
    (0..types.len()).filter(|k| types[*k] == Type::F64).collect()
}

/// A point of the row's domain.
fn point(prim: Prim, func: &Func, random: &mut Random) -> Vec<Val> {
    let input = |(k, ty): (usize, &Type)| {
        let (lo, hi) = prim.domain(k);
        let x = random.float(lo, hi);
        if *ty == Type::I64 { Val::i64(x.floor() as i64) } else { Val::f64(x) }
    };
    func.param_types().iter().enumerate().map(input).collect()
}

fn rows_with_derivatives() -> impl Iterator<Item = Prim> {
    Prim::ALL.iter().copied().filter(|p| !matches!(p.class(), Class::Zero | Class::Cast))
}

#[test]
fn partials_are_the_derivatives_of_values() {
    let mut random = Random(11);
    for prim in rows_with_derivatives() {
        let func = program(prim);
        let wrt = float_params(&func);
        let derived = Derived::new(func.clone(), wrt).unwrap();
        for _ in 0..20 {
            let args = point(prim, &func, &mut random);
            let mut engine = Interpreter::default();
            let report =
                check::derivatives(&derived, &mut engine, &args, 2, random.bits()).unwrap();
            assert!(report.passes(), "{} at {args:?}: {report}", prim.name());
        }
    }
    assert!(rows_with_derivatives().count() >= 41);
}

/// Forward mode of each row, differentiated again both ways.
#[test]
fn partials_have_derivatives() {
    let mut random = Random(12);
    for prim in rows_with_derivatives() {
        let func = program(prim);
        let tangent = jvp(&func, &float_params(&func)).unwrap();
        let wrt = float_params(&tangent);
        let derived = Derived::new(tangent, wrt).unwrap();
        for _ in 0..10 {
            let mut args = point(prim, &func, &mut random);
            args.extend(float_params(&func).iter().map(|_| Val::f64(random.float(-1.0, 1.0))));
            let mut engine = Interpreter::default();
            let report =
                check::derivatives(&derived, &mut engine, &args, 2, random.bits()).unwrap();
            assert!(report.passes(), "{} at {args:?}: {report}", prim.name());
        }
    }
}

/// The tangent of a row along its first input and its second, at a point.
fn slopes(prim: Prim, args: &[Val]) -> Vec<f64> {
    let func = program(prim);
    let wrt = float_params(&func);
    let derived = Derived::new(func, wrt.clone()).unwrap();
    let mut engine = Interpreter::default();
    let (_, reverse) = derived.vjp(&mut engine, args, &[Val::f64(1.0)]).unwrap();
    let slopes = check::floats(&reverse);
    for (k, want) in slopes.iter().copied().enumerate() {
        let along: Vec<Val> = (0..wrt.len()).map(|j| Val::f64(f64::from(j == k))).collect();
        let (_, forward) = derived.jvp(&mut engine, args, &along).unwrap();
        let got = check::floats(&forward)[0];
        // A tangent of zero times an infinite slope of another input is no number.
        let infinite = |(j, s): (usize, &f64)| j != k && s.is_infinite();
        let lost = got.is_nan() && slopes.iter().enumerate().any(infinite);
        assert!(got == want || lost, "{} at {args:?}: {got} and {want}", prim.name());
    }
    slopes
}

#[test]
fn slopes_at_kinks_and_ends() {
    let inf = f64::INFINITY;
    let cases: &[(Prim, &[f64], &[f64])] = &[
        (Prim::Relu, &[0.0], &[0.0]),
        (Prim::CopySign, &[0.0, -1.0], &[0.0, 0.0]),
        (Prim::CopySign, &[-2.0, -1.0], &[1.0, 0.0]),
        (Prim::Clamp, &[1.0, 1.0, 3.0], &[1.0, 0.0, 0.0]),
        (Prim::Clamp, &[3.0, 1.0, 3.0], &[1.0, 0.0, 0.0]),
        (Prim::Clamp, &[0.0, 1.0, 3.0], &[0.0, 1.0, 0.0]),
        (Prim::Clamp, &[2.0, 4.0, 3.0], &[0.0, 0.0, 1.0]),
        (Prim::Rem, &[7.5, -2.0], &[1.0, 3.0]),
        (Prim::Hypot, &[0.0, 0.0], &[0.0, 0.0]),
        (Prim::Hypot, &[3e300, 4e300], &[0.6, 0.8]),
        (Prim::Atan2, &[0.0, 0.0], &[0.0, 0.0]),
        (Prim::Atan2, &[0.0, 2.0], &[0.5, 0.0]),
        (Prim::Pow, &[0.0, 2.0], &[0.0, 0.0]),
        (Prim::Pow, &[0.0, 1.0], &[1.0, 0.0]),
        (Prim::Pow, &[0.0, 0.0], &[0.0, 0.0]),
        (Prim::Pow, &[1e-310, 0.0], &[0.0, -713.8013788281542]),
        (Prim::Pow, &[0.0, 0.5], &[inf, 0.0]),
        (Prim::Cbrt, &[0.0], &[inf]),
        (Prim::LogAddExp, &[inf, 1.0], &[1.0, 0.0]),
        (Prim::LogAddExp, &[-inf, 1.0], &[0.0, 1.0]),
        (Prim::LogAddExp, &[-inf, -inf], &[0.5, 0.5]),
        (Prim::LogAddExp, &[1e20, 1e20], &[0.5, 0.5]),
    ];
    for (prim, x, want) in cases {
        let args: Vec<Val> = x.iter().map(|x| Val::f64(*x)).collect();
        assert_eq!(slopes(*prim, &args), *want, "{} at {x:?}", prim.name());
    }
    for (x, n, want) in
        [(0.0, 0, 0.0), (0.0, 1, 1.0), (0.0, 2, 0.0), (3.0, 2, 6.0), (2.0, -1, -0.25)]
    {
        let args = [Val::f64(x), Val::i64(n)];
        assert_eq!(slopes(Prim::PowI, &args), [want], "{x}^{n}");
    }
    assert_eq!(slopes(Prim::PowI, &[Val::f64(1.0), Val::i64(i64::MIN)]), [i64::MIN as f64]);
}

/// Where a partial compares its inputs, its own derivative must not be lost at a tie.
#[test]
fn second_slopes_at_a_tie() {
    for (x, y, want) in [(2.0, 2.0, 0.25), (0.0, 0.0, 0.25), (800.0, 0.0, 0.0), (0.0, 800.0, 0.0)] {
        let func = program(Prim::LogAddExp);
        let tangent = jvp(&func, &[0]).unwrap();
        let derived = Derived::new(tangent, vec![0]).unwrap();
        let args = [x, y, 1.0].map(Val::f64);
        let mut engine = Interpreter::default();
        let (_, second) = derived.jvp(&mut engine, &args, &[Val::f64(1.0)]).unwrap();
        assert_eq!(check::floats(&second)[1], want, "at {x}, {y}");
    }
}

/// The derivative by the exponent of the derivative by the base is 1 / a where the exponent is 0.
#[test]
fn second_slopes_of_powers() {
    for a in [2.0, 0.5, 1e-300] {
        let tangent = jvp(&program(Prim::Pow), &[0]).unwrap();
        let derived = Derived::new(tangent, vec![1]).unwrap();
        let args = [a, 0.0, 1.0].map(Val::f64);
        let mut engine = Interpreter::default();
        let (_, second) = derived.jvp(&mut engine, &args, &[Val::f64(1.0)]).unwrap();
        let got = check::floats(&second)[1];
        assert!((got * a - 1.0).abs() < 1e-12, "{got} at {a}");
    }
}

#[test]
fn rows_are_well_formed() {
    for prim in Prim::ALL.iter().copied() {
        assert_eq!(Prim::from_name(prim.name()), Some(prim), "two rows are called {}", prim.name());
        let inputs: Vec<Uses> = (0..prim.arity()).map(Uses::input).collect();
        let partials = prim.partials(&inputs, Uses::OUTPUT);
        match prim.class() {
            Class::Linear | Class::Smooth => assert_eq!(partials.len(), prim.arity()),
            Class::Zero | Class::Select | Class::Cast => {
                assert!(partials.is_empty(), "{}", prim.name())
            }
        }
        if prim.class() == Class::Linear {
            let constant = |p: &Partial<Uses>| matches!(p, Partial::Const(_));
            assert!(partials.iter().all(constant), "{}", prim.name());
        }
    }
}
