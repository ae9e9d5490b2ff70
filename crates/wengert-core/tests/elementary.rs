//! Elementary functions: their IR programs against the machine's math library, and at special values.
//!
//! The library is within one unit in the last place for most functions and within two for some, so
//! agreement within the distances below bounds the error of ours. `WENGERT_POINTS` sets how many points
//! per function are tried.

use wengert_core::check::Random;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, parse};
use wengert_core::ops::{Prim, Scalar};

/// What Rust computes itself, the library does better.
mod library {
    unsafe extern "C" {
        pub(super) safe fn asinh(x: f64) -> f64;
        pub(super) safe fn acosh(x: f64) -> f64;
        pub(super) safe fn atanh(x: f64) -> f64;
    }
}

/// A row, the most units in the last place it may be from the reference, and the reference.
type Row = (Prim, u64, fn(&[f64]) -> f64);

const ROWS: [Row; 33] = [
    (Prim::Ceil, 0, |x| x[0].ceil()),
    (Prim::Trunc, 0, |x| x[0].trunc()),
    (Prim::Sign, 0, |x| if x[0] == 0.0 || x[0].is_nan() { x[0] } else { x[0].signum() }),
    (Prim::CopySign, 0, |x| x[0].copysign(x[1])),
    (Prim::Relu, 0, |x| if x[0] <= 0.0 { 0.0 } else { x[0] }),
    (Prim::Clamp, 0, |x| {
        let t = if x[0] < x[1] { x[1] } else { x[0] };
        if x[2] < t { x[2] } else { t }
    }),
    (Prim::Rem, 0, |x| x[0] % x[1]),
    (Prim::Exp, 2, |x| x[0].exp()),
    (Prim::Log, 2, |x| x[0].ln()),
    (Prim::Sin, 2, |x| x[0].sin()),
    (Prim::Cos, 2, |x| x[0].cos()),
    (Prim::Tanh, 3, |x| x[0].tanh()),
    (Prim::Cbrt, 4, |x| x[0].cbrt()),
    (Prim::Exp2, 2, |x| x[0].exp2()),
    (Prim::Expm1, 3, |x| x[0].exp_m1()),
    (Prim::Log2, 2, |x| x[0].log2()),
    (Prim::Log10, 3, |x| x[0].log10()),
    (Prim::Log1p, 3, |x| x[0].ln_1p()),
    (Prim::Tan, 2, |x| x[0].tan()),
    (Prim::Asin, 2, |x| x[0].asin()),
    (Prim::Acos, 2, |x| x[0].acos()),
    (Prim::Atan, 2, |x| x[0].atan()),
    (Prim::Atan2, 2, |x| x[0].atan2(x[1])),
    (Prim::Sinh, 3, |x| x[0].sinh()),
    (Prim::Cosh, 3, |x| x[0].cosh()),
    (Prim::Asinh, 3, |x| library::asinh(x[0])),
    (Prim::Acosh, 3, |x| library::acosh(x[0])),
    (Prim::Atanh, 3, |x| library::atanh(x[0])),
    (Prim::Pow, 2, |x| x[0].powf(x[1])),
    (Prim::PowI, 3, |x| x[0].powf(x[1])),
    (Prim::Hypot, 2, |x| x[0].hypot(x[1])),
    (Prim::XLogY, 4, |x| if x[0] == 0.0 && !x[1].is_nan() { 0.0 } else { x[0] * x[1].ln() }),
    (Prim::LogAddExp, 4, |x| {
        let (most, least) = (x[0].max(x[1]), x[0].min(x[1]));
        if x[0].is_nan() || x[1].is_nan() {
            f64::NAN
        } else if most.is_infinite() {
            most
        } else {
            most + (least - most).exp().ln_1p()
        }
    }),
];

fn module() -> Module {
    let program = |(prim, _, _): &Row| {
        let letters = prim.signature().split('>').next().unwrap();
        let ty = |letter: char| if letter == 'i' { "i64" } else { "f64" };
        let params: Vec<String> =
            letters.chars().enumerate().map(|(k, c)| format!("%x{k}: {}", ty(c))).collect();
        let args: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
        let name = prim.name();
        format!(
            "func @{name}({}) -> f64 {{\n  %y = {name} {}\n  return %y\n}}\n",
            params.join(", "),
            args.join(", ")
        )
    };
    parse::module(&ROWS.iter().map(program).collect::<String>()).unwrap()
}

/// The value of a row; an integer input is given as a float.
fn eval(interp: &mut Interp, prim: Prim, x: &[f64]) -> f64 {
    let letters = prim.signature().chars();
    let value = |(x, letter): (&f64, char)| match letter {
        'i' => Val::i64(*x as i64),
        _ => Val::f64(*x),
    };
    match interp.call(prim.name(), x.iter().zip(letters).map(value).collect()).unwrap()[0] {
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

/// A point where functions are interesting: near zero, over the usual range, or of any size.
fn point(random: &mut Random) -> f64 {
    let wide = f64::from_bits(random.bits());
    match random.below(4) {
        0 => random.float(-1.0, 1.0),
        1 => random.float(-30.0, 30.0),
        2 => random.float(-750.0, 750.0),
        _ => wide,
    }
}

/// Inputs of a row: logarithms at positive numbers mostly, integers as integers.
fn points(random: &mut Random, prim: Prim) -> Vec<f64> {
    let mut x: Vec<f64> = (0..prim.arity()).map(|_| point(random)).collect();
    let logarithm = matches!(prim, Prim::Log | Prim::Log2 | Prim::Log10 | Prim::Acosh | Prim::Pow);
    if logarithm && random.below(8) > 0 {
        x[0] = x[0].abs();
    }
    if prim == Prim::PowI {
        x[1] = random.float(-40.0, 40.0).round();
    }
    x
}

#[test]
fn close_to_the_library() {
    let count = std::env::var("WENGERT_POINTS").ok().and_then(|n| n.parse().ok());
    let count: u64 = count.unwrap_or(2000);
    let module = module();
    let mut interp = Interp::new(&module);
    for (prim, most, library) in ROWS {
        let mut random = Random(7 + prim as u64);
        let mut worst = 0;
        for _ in 0..count {
            let x = points(&mut random, prim);
            let (got, want) = (eval(&mut interp, prim, &x), library(&x));
            if want.is_nan() {
                assert!(got.is_nan(), "{}({x:?}) = {got}", prim.name());
                continue;
            }
            if prim == Prim::LogAddExp && want.abs() < 0.5 {
                // The reference cancels.
                continue;
            }
            let error = ulps(got, want);
            assert!(error <= most, "{}({x:?}) = {got:e}, not {want:e}", prim.name());
            worst = worst.max(error);
        }
        println!("{}: {count} points, at most {worst} ulp from the library", prim.name());
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = f64::from_bits(1);
const LEAST: f64 = i64::MIN as f64;

/// Inputs and the result, to the bit.
type Case = (Prim, &'static [f64], f64);

const EXACT: &[Case] = &[
    (Prim::Ceil, &[-0.5], -0.0),
    (Prim::Ceil, &[0.5], 1.0),
    (Prim::Ceil, &[-0.0], -0.0),
    (Prim::Ceil, &[INF], INF),
    (Prim::Trunc, &[-0.5], -0.0),
    (Prim::Trunc, &[-1.5], -1.0),
    (Prim::Trunc, &[1.5], 1.0),
    (Prim::Trunc, &[-INF], -INF),
    (Prim::Sign, &[0.0], 0.0),
    (Prim::Sign, &[-0.0], -0.0),
    (Prim::Sign, &[-TINY], -1.0),
    (Prim::Sign, &[INF], 1.0),
    (Prim::CopySign, &[3.0, -0.0], -3.0),
    (Prim::CopySign, &[-3.0, NAN], 3.0),
    (Prim::CopySign, &[-INF, 1.0], INF),
    (Prim::CopySign, &[NAN, -1.0], NAN),
    (Prim::Relu, &[-0.0], 0.0),
    (Prim::Relu, &[-INF], 0.0),
    (Prim::Relu, &[TINY], TINY),
    (Prim::Clamp, &[5.0, 0.0, 1.0], 1.0),
    (Prim::Clamp, &[-5.0, 0.0, 1.0], 0.0),
    (Prim::Clamp, &[0.5, 0.0, 1.0], 0.5),
    (Prim::Clamp, &[0.5, 2.0, 1.0], 1.0),
    (Prim::Clamp, &[NAN, 0.0, 1.0], NAN),
    (Prim::Clamp, &[5.0, 0.0, NAN], 5.0),
    (Prim::Rem, &[-6.0, 3.0], -0.0),
    (Prim::Rem, &[5.0, -3.0], 2.0),
    (Prim::Rem, &[-5.0, 3.0], -2.0),
    (Prim::Rem, &[5.0, INF], 5.0),
    (Prim::Rem, &[INF, 5.0], NAN),
    (Prim::Rem, &[5.0, 0.0], NAN),
    (Prim::Rem, &[0.0, 0.0], NAN),
    (Prim::Rem, &[-0.0, 2.0], -0.0),
    (Prim::Rem, &[f64::MAX, TINY], 0.0),
    (Prim::Rem, &[f64::MAX, 3.0], 2.0),
];

const POWERS: &[Case] = &[
    (Prim::Exp, &[0.0], 1.0),
    (Prim::Exp, &[-0.0], 1.0),
    (Prim::Exp, &[INF], INF),
    (Prim::Exp, &[-INF], 0.0),
    (Prim::Exp, &[710.0], INF),
    (Prim::Exp, &[-746.0], 0.0),
    (Prim::Exp, &[TINY], 1.0),
    (Prim::Exp2, &[10.0], 1024.0),
    (Prim::Exp2, &[-1074.0], TINY),
    (Prim::Exp2, &[-1075.0], 0.0),
    (Prim::Exp2, &[1024.0], INF),
    (Prim::Exp2, &[-INF], 0.0),
    (Prim::Expm1, &[-0.0], -0.0),
    (Prim::Expm1, &[TINY], TINY),
    (Prim::Expm1, &[-INF], -1.0),
    (Prim::Expm1, &[-60.0], -1.0),
    (Prim::Expm1, &[INF], INF),
    (Prim::Expm1, &[710.0], INF),
    (Prim::Log, &[1.0], 0.0),
    (Prim::Log, &[0.0], -INF),
    (Prim::Log, &[-0.0], -INF),
    (Prim::Log, &[INF], INF),
    (Prim::Log, &[-1.0], NAN),
    (Prim::Log2, &[TINY], -1074.0),
    (Prim::Log2, &[8.0], 3.0),
    (Prim::Log2, &[0.0], -INF),
    (Prim::Log2, &[-1.0], NAN),
    (Prim::Log2, &[INF], INF),
    (Prim::Log10, &[1e22], 22.0),
    (Prim::Log10, &[1000.0], 3.0),
    (Prim::Log10, &[1.0], 0.0),
    (Prim::Log10, &[-0.0], -INF),
    (Prim::Log10, &[-INF], NAN),
    (Prim::Log1p, &[-0.0], -0.0),
    (Prim::Log1p, &[TINY], TINY),
    (Prim::Log1p, &[-1.0], -INF),
    (Prim::Log1p, &[-1.5], NAN),
    (Prim::Log1p, &[INF], INF),
    (Prim::Cbrt, &[-27.0], -3.0),
    (Prim::Cbrt, &[-0.0], -0.0),
    (Prim::Cbrt, &[-INF], -INF),
    (Prim::Hypot, &[3.0, -4.0], 5.0),
    (Prim::Hypot, &[-0.0, -0.0], 0.0),
    (Prim::Hypot, &[NAN, -INF], INF),
    (Prim::Hypot, &[INF, 1.0], INF),
    (Prim::Hypot, &[f64::MAX, f64::MAX], INF),
    (Prim::Hypot, &[TINY, 0.0], TINY),
    (Prim::Pow, &[NAN, 0.0], 1.0),
    (Prim::Pow, &[1.0, NAN], 1.0),
    (Prim::Pow, &[-1.0, -INF], 1.0),
    (Prim::Pow, &[-1.0, 3.0], -1.0),
    (Prim::Pow, &[-2.0, -3.0], -0.125),
    (Prim::Pow, &[-2.0, 0.5], NAN),
    (Prim::Pow, &[-0.0, 3.0], -0.0),
    (Prim::Pow, &[-0.0, 2.0], 0.0),
    (Prim::Pow, &[-0.0, -3.0], -INF),
    (Prim::Pow, &[-0.0, -2.5], INF),
    (Prim::Pow, &[-INF, 3.0], -INF),
    (Prim::Pow, &[-INF, -3.0], -0.0),
    (Prim::Pow, &[-INF, 0.5], INF),
    (Prim::Pow, &[0.5, INF], 0.0),
    (Prim::Pow, &[0.5, -INF], INF),
    (Prim::Pow, &[2.0, -INF], 0.0),
    (Prim::Pow, &[2.0, -1074.0], TINY),
    (Prim::Pow, &[TINY, 1.0], TINY),
    (Prim::Pow, &[2.0, 1e300], INF),
    (Prim::Pow, &[-2.0, 9007199254740993.0], INF),
    (Prim::PowI, &[NAN, 0.0], 1.0),
    (Prim::PowI, &[0.0, 0.0], 1.0),
    (Prim::PowI, &[-0.0, -1.0], -INF),
    (Prim::PowI, &[-0.0, -4.0], INF),
    (Prim::PowI, &[-2.0, 5.0], -32.0),
    (Prim::PowI, &[-2.0, -2.0], 0.25),
    (Prim::PowI, &[-INF, 7.0], -INF),
    (Prim::PowI, &[1.0, LEAST], 1.0),
    (Prim::PowI, &[2.0, LEAST], 0.0),
    (Prim::PowI, &[-0.5, LEAST], INF),
    (Prim::XLogY, &[0.0, 0.0], 0.0),
    (Prim::XLogY, &[0.0, INF], 0.0),
    (Prim::XLogY, &[0.0, NAN], NAN),
    (Prim::XLogY, &[2.0, 0.0], -INF),
    (Prim::XLogY, &[2.0, -1.0], NAN),
    (Prim::XLogY, &[-INF, 2.0], -INF),
    (Prim::XLogY, &[1e308, 1e308], INF),
    (Prim::XLogY, &[3.0, 1.0], 0.0),
    (Prim::LogAddExp, &[-INF, -INF], -INF),
    (Prim::LogAddExp, &[-INF, 3.0], 3.0),
    (Prim::LogAddExp, &[INF, -INF], INF),
    (Prim::LogAddExp, &[0.0, 0.0], std::f64::consts::LN_2),
    (Prim::LogAddExp, &[1e300, -1e300], 1e300),
    (Prim::LogAddExp, &[NAN, INF], NAN),
    (Prim::LogAddExp, &[-f64::MAX, -f64::MAX], -f64::MAX),
];

const ANGLES: &[Case] = &[
    (Prim::Sin, &[0.0], 0.0),
    (Prim::Sin, &[-0.0], -0.0),
    (Prim::Sin, &[INF], NAN),
    (Prim::Sin, &[TINY], TINY),
    (Prim::Cos, &[0.0], 1.0),
    (Prim::Cos, &[-INF], NAN),
    (Prim::Tan, &[-0.0], -0.0),
    (Prim::Tan, &[TINY], TINY),
    (Prim::Tan, &[INF], NAN),
    (Prim::Asin, &[-0.0], -0.0),
    (Prim::Asin, &[TINY], TINY),
    (Prim::Asin, &[1.0], std::f64::consts::FRAC_PI_2),
    (Prim::Asin, &[-1.0], -std::f64::consts::FRAC_PI_2),
    (Prim::Asin, &[1.5], NAN),
    (Prim::Acos, &[1.0], 0.0),
    (Prim::Acos, &[-1.0], std::f64::consts::PI),
    (Prim::Acos, &[0.0], std::f64::consts::FRAC_PI_2),
    (Prim::Acos, &[-1.5], NAN),
    (Prim::Atan, &[-0.0], -0.0),
    (Prim::Atan, &[TINY], TINY),
    (Prim::Atan, &[-INF], -std::f64::consts::FRAC_PI_2),
    (Prim::Atan2, &[0.0, 0.0], 0.0),
    (Prim::Atan2, &[-0.0, 0.0], -0.0),
    (Prim::Atan2, &[0.0, -0.0], std::f64::consts::PI),
    (Prim::Atan2, &[-0.0, -1.0], -std::f64::consts::PI),
    (Prim::Atan2, &[1.0, 0.0], std::f64::consts::FRAC_PI_2),
    (Prim::Atan2, &[INF, INF], std::f64::consts::FRAC_PI_4),
    (Prim::Atan2, &[-INF, 1.0], -std::f64::consts::FRAC_PI_2),
    (Prim::Atan2, &[1.0, -INF], std::f64::consts::PI),
    (Prim::Atan2, &[-1.0, INF], -0.0),
    (Prim::Atan2, &[NAN, 1.0], NAN),
    (Prim::Sinh, &[-0.0], -0.0),
    (Prim::Sinh, &[TINY], TINY),
    (Prim::Sinh, &[-INF], -INF),
    (Prim::Sinh, &[-711.0], -INF),
    (Prim::Cosh, &[-0.0], 1.0),
    (Prim::Cosh, &[-INF], INF),
    (Prim::Cosh, &[711.0], INF),
    (Prim::Tanh, &[-0.0], -0.0),
    (Prim::Tanh, &[INF], 1.0),
    (Prim::Tanh, &[-INF], -1.0),
    (Prim::Tanh, &[TINY], TINY),
    (Prim::Tanh, &[40.0], 1.0),
    (Prim::Asinh, &[-0.0], -0.0),
    (Prim::Asinh, &[TINY], TINY),
    (Prim::Asinh, &[-INF], -INF),
    (Prim::Acosh, &[1.0], 0.0),
    (Prim::Acosh, &[0.5], NAN),
    (Prim::Acosh, &[-INF], NAN),
    (Prim::Acosh, &[INF], INF),
    (Prim::Atanh, &[-0.0], -0.0),
    (Prim::Atanh, &[TINY], TINY),
    (Prim::Atanh, &[-1.0], -INF),
    (Prim::Atanh, &[1.5], NAN),
];

#[test]
fn special_values() {
    let module = module();
    let mut interp = Interp::new(&module);
    for (prim, x, want) in EXACT.iter().chain(POWERS).chain(ANGLES) {
        let got = eval(&mut interp, *prim, x);
        let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        assert!(same, "{}({x:?}) = {got:e}, not {want:e}", prim.name());
    }
    for (prim, _, _) in ROWS {
        let x = vec![NAN; prim.arity()];
        if prim != Prim::PowI {
            assert!(eval(&mut interp, prim, &x).is_nan(), "{}", prim.name());
        }
    }
}
