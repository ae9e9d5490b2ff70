//! Elementary functions: their IR programs against the machine's math library, and at special values.
//!
//! The library is within one unit in the last place, so agreement within two bounds the error of ours.
//! `WENGERT_POINTS` sets how many points per function are tried.

use wengert_core::check::Random;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, parse};
use wengert_core::ops::{Prim, Scalar};

fn module() -> Module {
    let text: String = ["exp", "log", "sin", "cos", "tanh"]
        .iter()
        .map(|f| format!("func @{f}(%x: f64) -> f64 {{\n  %y = {f} %x\n  return %y\n}}\n"))
        .collect();
    parse::module(&text).unwrap()
}

fn eval(interp: &mut Interp, prim: Prim, x: f64) -> f64 {
    match interp.call(prim.name(), vec![Val::f64(x)]).unwrap()[0] {
        Val::Scalar(Scalar::F64(y)) => y,
        _ => unreachable!("a float function"),
    }
}

/// Distance in units in the last place.
fn ulps(a: f64, b: f64) -> u64 {
    let ordered = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}

fn library(prim: Prim, x: f64) -> f64 {
    match prim {
        Prim::Exp => x.exp(),
        Prim::Log => x.ln(),
        Prim::Sin => x.sin(),
        Prim::Cos => x.cos(),
        _ => x.tanh(),
    }
}

/// A point where the function is interesting: near zero, over the usual range, or of any size.
fn point(random: &mut Random, prim: Prim) -> f64 {
    let wide = f64::from_bits(random.bits());
    let x = match random.below(4) {
        0 => random.float(-1.0, 1.0),
        1 => random.float(-30.0, 30.0),
        2 => random.float(-750.0, 750.0),
        _ => wide,
    };
    if prim == Prim::Log { x.abs() } else { x }
}

#[test]
fn close_to_the_library() {
    let points = std::env::var("WENGERT_POINTS").ok().and_then(|n| n.parse().ok());
    let points: u64 = points.unwrap_or(4000);
    let module = module();
    let mut interp = Interp::new(&module);
    for prim in [Prim::Exp, Prim::Log, Prim::Sin, Prim::Cos, Prim::Tanh] {
        let mut random = Random(7 + prim as u64);
        let mut worst = 0;
        for _ in 0..points {
            let x = point(&mut random, prim);
            let (got, want) = (eval(&mut interp, prim, x), library(prim, x));
            if want.is_nan() {
                assert!(got.is_nan(), "{}({x:e}) = {got}", prim.name());
                continue;
            }
            let error = ulps(got, want);
            // tanh of ours is within 1.5, and the library's own within 2.
            let most = if prim == Prim::Tanh { 3 } else { 2 };
            assert!(error <= most, "{}({x:e}) = {got:e}, not {want:e}", prim.name());
            worst = worst.max(error);
        }
        println!("{}: {points} points, at most {worst} ulp from the library", prim.name());
    }
}

#[test]
fn special_values() {
    let module = module();
    let mut interp = Interp::new(&module);
    let inf = f64::INFINITY;
    let tiny = f64::from_bits(1);
    for (prim, x, want) in [
        (Prim::Exp, 0.0, 1.0),
        (Prim::Exp, -0.0, 1.0),
        (Prim::Exp, inf, inf),
        (Prim::Exp, -inf, 0.0),
        (Prim::Exp, 710.0, inf),
        (Prim::Exp, -746.0, 0.0),
        (Prim::Exp, tiny, 1.0),
        (Prim::Log, 1.0, 0.0),
        (Prim::Log, 0.0, -inf),
        (Prim::Log, -0.0, -inf),
        (Prim::Log, inf, inf),
        (Prim::Log, -1.0, f64::NAN),
        (Prim::Sin, 0.0, 0.0),
        (Prim::Sin, -0.0, -0.0),
        (Prim::Sin, inf, f64::NAN),
        (Prim::Sin, tiny, tiny),
        (Prim::Cos, 0.0, 1.0),
        (Prim::Cos, -inf, f64::NAN),
        (Prim::Tanh, -0.0, -0.0),
        (Prim::Tanh, inf, 1.0),
        (Prim::Tanh, -inf, -1.0),
        (Prim::Tanh, tiny, tiny),
        (Prim::Tanh, 40.0, 1.0),
    ] {
        let got = eval(&mut interp, prim, x);
        let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        assert!(same, "{}({x}) = {got}, not {want}", prim.name());
    }
    for prim in [Prim::Exp, Prim::Log, Prim::Sin, Prim::Cos, Prim::Tanh] {
        assert!(eval(&mut interp, prim, f64::NAN).is_nan(), "{}", prim.name());
    }
}
