//! Special functions: their IR programs against reference values, at special values, and twice
//! differentiated.

use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, parse, verify};
use wengert_core::math;
use wengert_core::ops::{Prim, Scalar};
use wengert_core::transform::{jvp, pipeline};

const UNARY: [Prim; 7] = [
    Prim::Erf,
    Prim::Erfc,
    Prim::NormCdf,
    Prim::NormInv,
    Prim::LGamma,
    Prim::Sigmoid,
    Prim::Softplus,
];

fn module() -> Module {
    let mut text = String::from(
        "func @polygamma(%n: i64, %x: f64) -> f64 { %y = polygamma %n, %x  return %y }\n",
    );
    for prim in UNARY {
        let name = prim.name();
        text += &format!("func @{name}(%x: f64) -> f64 {{ %y = {name} %x  return %y }}\n");
    }
    parse::module(&text).unwrap()
}

/// The value at `x`; `n` is the order of `polygamma`.
fn eval(interp: &mut Interp, prim: Prim, n: i64, x: f64) -> f64 {
    let mut args = vec![Val::f64(x)];
    if prim == Prim::PolyGamma {
        args.insert(0, Val::i64(n));
    }
    match interp.call(prim.name(), args).unwrap()[0] {
        Val::Scalar(Scalar::F64(y)) => y,
        _ => unreachable!("a float function"),
    }
}

/// The distance between a number and the next larger one.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    if x >= f64::MAX { 2f64.powi(971) } else { f64::from_bits(x.to_bits() + 1) - x }
}

/// The lines of `special.txt`: name, order (of `polygamma` only), argument, value.
fn references() -> impl Iterator<Item = (Prim, i64, f64, f64)> {
    include_str!("data/special.txt").lines().filter(|l| !l.starts_with('#')).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |k: usize| words[words.len() - k].parse::<f64>().unwrap();
        let n = if words.len() == 4 { words[1].parse().unwrap() } else { 0 };
        (Prim::from_name(words[0]).unwrap(), n, number(2), number(1))
    })
}

#[test]
fn within_the_bound_of_reference_values() {
    let module = module();
    let mut interp = Interp::new(&module);
    let mut lines = 0;
    for (prim, n, x, want) in references() {
        let got = eval(&mut interp, prim, n, x);
        let mut inputs = vec![Scalar::F64(x)];
        if prim == Prim::PolyGamma {
            inputs.insert(0, Scalar::I64(n));
        }
        let scale = ulp(want.abs().max(math::absolute_below(prim, &inputs)));
        let close = got == want || (got - want).abs() <= prim.bound() * scale;
        assert!(close, "{}({n}, {x:?}) = {got:?}, not {want:?}", prim.name());
        lines += 1;
    }
    assert!(lines > 700);
}

#[test]
fn special_values() {
    let module = module();
    let mut interp = Interp::new(&module);
    let (inf, nan, tiny) = (f64::INFINITY, f64::NAN, f64::from_bits(1));
    for (prim, x, want) in [
        (Prim::Erf, 0.0, 0.0),
        (Prim::Erf, -0.0, -0.0),
        (Prim::Erf, inf, 1.0),
        (Prim::Erf, -inf, -1.0),
        (Prim::Erf, 1e300, 1.0),
        (Prim::Erfc, 0.0, 1.0),
        (Prim::Erfc, -0.0, 1.0),
        (Prim::Erfc, inf, 0.0),
        (Prim::Erfc, -inf, 2.0),
        (Prim::Erfc, 27.3, 0.0),
        (Prim::Erfc, tiny, 1.0),
        (Prim::NormCdf, 0.0, 0.5),
        (Prim::NormCdf, -0.0, 0.5),
        (Prim::NormCdf, inf, 1.0),
        (Prim::NormCdf, -inf, 0.0),
        (Prim::NormCdf, -39.0, 0.0),
        (Prim::NormInv, 0.0, -inf),
        (Prim::NormInv, -0.0, -inf),
        (Prim::NormInv, 1.0, inf),
        (Prim::NormInv, 0.5, 0.0),
        (Prim::NormInv, -tiny, nan),
        (Prim::NormInv, 1.0 + f64::EPSILON, nan),
        (Prim::NormInv, inf, nan),
        (Prim::NormInv, -inf, nan),
        (Prim::LGamma, 1.0, 0.0),
        (Prim::LGamma, 2.0, 0.0),
        (Prim::LGamma, 0.0, inf),
        (Prim::LGamma, -0.0, inf),
        (Prim::LGamma, -1.0, inf),
        (Prim::LGamma, -1e300, inf),
        (Prim::LGamma, inf, inf),
        (Prim::LGamma, -inf, inf),
        (Prim::LGamma, 2.559983327851639e305, inf),
        (Prim::Sigmoid, 0.0, 0.5),
        (Prim::Sigmoid, inf, 1.0),
        (Prim::Sigmoid, -inf, 0.0),
        (Prim::Softplus, inf, inf),
        (Prim::Softplus, -inf, 0.0),
        (Prim::Softplus, f64::MAX, f64::MAX),
        (Prim::Softplus, -800.0, 0.0),
    ] {
        let got = eval(&mut interp, prim, 0, x);
        let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        assert!(same, "{}({x:e}) = {got}, not {want}", prim.name());
    }
    for (n, x, want) in [
        (0, 0.0, -inf),
        (0, -0.0, inf),
        (0, tiny, -inf),
        (0, -3.0, nan),
        (0, -1e300, nan),
        (0, inf, inf),
        (0, -inf, nan),
        (1, 0.0, inf),
        (1, -0.0, inf),
        (1, -2.0, inf),
        (2, 0.0, -inf),
        (2, -0.0, inf),
        (2, -2.0, nan),
        (1, inf, 0.0),
        (2, inf, -0.0),
        (3, -inf, nan),
        (3, tiny, inf),
        (4, tiny, -inf),
        (4, -tiny, inf),
        (7, 1e300, 0.0),
        (-1, 1.0, nan),
        (i64::MIN, 1.0, nan),
        (i64::MAX, 1.0, nan),
    ] {
        let got = eval(&mut interp, Prim::PolyGamma, n, x);
        let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        assert!(same, "polygamma({n}, {x:e}) = {got}, not {want}");
    }
    for prim in UNARY {
        assert!(eval(&mut interp, prim, 0, nan).is_nan(), "{}", prim.name());
    }
    for n in 0..4 {
        assert!(eval(&mut interp, Prim::PolyGamma, n, nan).is_nan(), "polygamma({n})");
    }
}

/// What native code is made of computes the same bits.
#[test]
fn expanded_programs_agree() {
    let before = module();
    let after = pipeline::finish(&before);
    verify::module(&after).unwrap();
    let (mut plain, mut expanded) = (Interp::new(&before), Interp::new(&after));
    for (prim, n, x, _) in references() {
        let (a, b) = (eval(&mut plain, prim, n, x), eval(&mut expanded, prim, n, x));
        assert_eq!(a.to_bits(), b.to_bits(), "{}({n}, {x:?})", prim.name());
    }
}

#[test]
fn exact_where_symmetric() {
    let module = module();
    let mut interp = Interp::new(&module);
    let mut random = Random(3);
    for _ in 0..200 {
        let x = random.float(-7.0, 7.0);
        assert_eq!(eval(&mut interp, Prim::Erf, 0, -x), -eval(&mut interp, Prim::Erf, 0, x));
        // Multiples of 2^-20: 1 - p is exact.
        let p = (random.float(0.0, 1.0) * 1048576.0).floor() / 1048576.0;
        let (low, high) =
            (eval(&mut interp, Prim::NormInv, 0, p), eval(&mut interp, Prim::NormInv, 0, 1.0 - p));
        assert_eq!(low, -high, "norminv({p})");
    }
}

/// Partials are rows with derivatives themselves: the tangent program is differentiated again.
#[test]
fn second_derivatives() {
    let mut random = Random(5);
    let mut cases: Vec<(Prim, String)> = UNARY.iter().map(|p| (*p, String::new())).collect();
    cases.extend([0, 1, 2].map(|n| (Prim::PolyGamma, format!("{n}, "))));
    for (prim, order) in cases {
        let name = prim.name();
        let text = format!("func @f(%x: f64) -> f64 {{ %y = {name} {order}%x  return %y }}");
        let first = jvp::jvp(&parse::module(&text).unwrap().funcs[0], &[0]).unwrap();
        let derived = Derived::new(first, vec![0, 1]).unwrap();
        let (lo, hi) = prim.domain(prim.arity() - 1);
        for _ in 0..5 {
            let args = [Val::f64(random.float(lo, hi)), Val::f64(1.0)];
            let mut engine = Interpreter::default();
            let report =
                check::derivatives(&derived, &mut engine, &args, 2, random.bits()).unwrap();
            assert!(report.passes(), "{name} {order} at {args:?}: {report}");
        }
    }
}

/// The order comes out of a loop: the reverse sweep brings back integers too.
#[test]
fn an_order_that_varies() {
    let text = "
        func @f(%x: f64, %n: i64) -> f64 {
          %s = for %i in 0..%n carry (%a = %x) {
            %p = polygamma %i, %a
            %q = mul %p, %p
            %g = lgamma %q
            %b = sigmoid %g
            %c = add %b, 1.0
            yield %c
          }
          return %s
        }";
    let func = parse::module(text).unwrap().funcs.remove(0);
    let derived = Derived::new(func, vec![0]).unwrap();
    for n in 0..4 {
        let args = [Val::f64(1.7), Val::i64(n)];
        let mut engine = Interpreter::default();
        let report = check::derivatives(&derived, &mut engine, &args, 2, 1).unwrap();
        assert!(report.passes(), "{n} rounds: {report}");
    }
}
