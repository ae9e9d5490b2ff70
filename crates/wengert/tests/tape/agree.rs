//! The eager tape against the compiler and against finite differences: every row of the rule table, and random programs
//! that run as generic Rust and as Python text.

use crate::programs::{Program, bits};
use wengert::tape::{Tape, Var, grad, hessian, jacobian};
use wengert::{Function, Wrt};
use wengert_core::check::{Derived, Interpreter, Random, floats};
use wengert_core::interp::Val;
use wengert_core::ir::parse;
use wengert_core::ops::{Class, Prim};

/// A row applied to variables by the name it has on the tape.
fn on_tape(row: Prim, x: &[Var]) -> Option<Var> {
    use Prim::*;
    let integer = |x: Var| x.value() as i32;
    Some(match row {
        Add => x[0] + x[1],
        Sub => x[0] - x[1],
        Mul => x[0] * x[1],
        Div => x[0] / x[1],
        Rem => x[0] % x[1],
        Neg => -x[0],
        Fma => x[0].mul_add(x[1], x[2]),
        Abs => x[0].abs(),
        Min => x[0].min(x[1]),
        Max => x[0].max(x[1]),
        Floor => x[0].floor(),
        Round => x[0].round_ties_even(),
        Flush => x[0].flush(),
        StopGradient => x[0].stop_gradient(),
        Ceil => x[0].ceil(),
        Trunc => x[0].trunc(),
        Sign => x[0].sign(),
        CopySign => x[0].copysign(x[1]),
        Relu => x[0].relu(),
        Clamp => x[0].clamp(x[1], x[2]),
        Sqrt => x[0].sqrt(),
        Exp => x[0].exp(),
        Log => x[0].ln(),
        Sin => x[0].sin(),
        Cos => x[0].cos(),
        Tanh => x[0].tanh(),
        Cbrt => x[0].cbrt(),
        Exp2 => x[0].exp2(),
        Expm1 => x[0].exp_m1(),
        Log2 => x[0].log2(),
        Log10 => x[0].log10(),
        Log1p => x[0].ln_1p(),
        Tan => x[0].tan(),
        Asin => x[0].asin(),
        Acos => x[0].acos(),
        Atan => x[0].atan(),
        Atan2 => x[0].atan2(x[1]),
        Sinh => x[0].sinh(),
        Cosh => x[0].cosh(),
        Asinh => x[0].asinh(),
        Acosh => x[0].acosh(),
        Atanh => x[0].atanh(),
        Pow => x[0].powf(x[1]),
        PowI => x[0].powi(integer(x[1])),
        Hypot => x[0].hypot(x[1]),
        LogAddExp => x[0].logaddexp(x[1]),
        XLogY => x[0].xlogy(x[1]),
        Erf => x[0].erf(),
        Erfc => x[0].erfc(),
        NormCdf => x[0].norm_cdf(),
        NormInv => x[0].norm_inv(),
        LGamma => x[0].ln_gamma(),
        PolyGamma => x[1].polygamma(integer(x[0]) as u32),
        Sigmoid => x[0].sigmoid(),
        Softplus => x[0].softplus(),
        _ => return None,
    })
}

/// Whether a row takes and gives floats, integers beside them.
fn is_of_floats(row: Prim) -> bool {
    let (inputs, output) = row.signature().split_once('>').unwrap();
    output == "f" && inputs.chars().all(|letter| "fi".contains(letter)) && inputs.contains('f')
}

#[test]
fn every_row_has_a_name_on_the_tape() {
    for row in Prim::ALL.iter().copied().filter(|row| is_of_floats(*row)) {
        assert!(on_tape(row, &[Var::constant(1.5); 3]).is_some(), "{}", row.name());
    }
}

#[test]
fn every_row_agrees_with_the_compiler() {
    let mut random = Random(7);
    for row in Prim::ALL.iter().copied().filter(|row| is_of_floats(*row)) {
        let letters: Vec<char> = row.signature().chars().take_while(|c| *c != '>').collect();
        let names: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
        let typed = |(name, letter): (&String, &char)| {
            format!("{name}: {}", if *letter == 'i' { "i64" } else { "f64" })
        };
        let params: Vec<String> = names.iter().zip(&letters).map(typed).collect();
        let (params, inputs) = (params.join(", "), names.join(", "));
        let text = format!(
            "func @f({params}) -> f64 {{\n  %y = {} {inputs}\n  return %y\n}}\n",
            row.name()
        );
        let func = parse::module(&text).unwrap().funcs.remove(0);
        let wrt: Vec<usize> = (0..letters.len()).filter(|k| letters[*k] == 'f').collect();
        let derived = Derived::new(func, wrt.clone()).unwrap();
        for _ in 0..50 {
            let mut point = Vec::new();
            for (k, letter) in letters.iter().enumerate() {
                let (low, high) = row.domain(k);
                let x = random.float(low, high);
                point.push(if *letter == 'i' { x.floor().max(0.0) } else { x });
            }
            let val = |(x, letter): (&f64, &char)| match letter {
                'i' => Val::i64(*x as i64),
                _ => Val::f64(*x),
            };
            let args: Vec<Val> = point.iter().zip(&letters).map(val).collect();
            let (value, adjoints) =
                derived.vjp(&mut Interpreter::default(), &args, &[Val::f64(1.0)]).unwrap();
            let (value, wanted) = (floats(&value)[0], floats(&adjoints));

            let tape = Tape::new();
            let x = tape.var_vec(&point);
            let y = on_tape(row, &x).unwrap();
            assert_eq!(y.value().to_bits(), value.to_bits(), "{} at {point:?}", row.name());
            let d = y.backward().unwrap();
            for (k, wanted) in wrt.iter().zip(&wanted) {
                let got = d.wrt(x[*k]).unwrap();
                let close = (got - wanted).abs() <= 1e-12 * wanted.abs().max(1e-300);
                assert!(close, "{} by input {k} at {point:?}: {got} {wanted}", row.name());
                // The other way round, and by differences.
                let along = tape.forward(&[(x[*k], 1.0)], &[y]).unwrap()[0];
                assert!((along - got).abs() <= 1e-14 * got.abs(), "{}: {along} {got}", row.name());
                if row.class() == Class::Smooth {
                    let h = 1e-5 * point[*k].abs().max(0.1);
                    let at = |h: f64| {
                        let mut point = point.clone();
                        point[*k] += h;
                        let x: Vec<Var> = point.iter().map(|x| Var::constant(*x)).collect();
                        on_tape(row, &x).unwrap().value()
                    };
                    let quotient = (at(h) - at(-h)) / (2.0 * h);
                    let scale = got.abs().max(value.abs()).max(1e-3);
                    let close = (quotient - got).abs() <= 1e-4 * scale;
                    // Kinks are not far from points of some domains.
                    let has_kink =
                        matches!(row, Prim::Min | Prim::Max | Prim::Relu | Prim::Clamp | Prim::Abs);
                    assert!(close || has_kink, "{} {k} {point:?}: {quotient} {got}", row.name());
                }
            }
        }
    }
}

/// `WENGERT_PROGRAMS` says how many, `WENGERT_SEED` which.
#[test]
fn random_programs_agree_with_the_compiler() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let (count, seed) =
        (number("WENGERT_PROGRAMS").unwrap_or(200), number("WENGERT_SEED").unwrap_or(now));
    println!("WENGERT_SEED={seed}");
    let mut used = 0;
    for k in 0..count {
        let program = Program::random(seed.wrapping_mul(1_000_003).wrapping_add(k));
        let text = program.python();
        let x = program.point();
        let function = Function::from_source(text.as_str(), "f").unwrap();
        let args: wengert::Args = x.iter().map(|x| wengert::Value::from(*x)).collect();
        let wanted = function.value_and_grad(args, Wrt::All).unwrap();
        let (value, slopes) = (wanted.value, wanted.grad.iter().map(|(_, d)| d.as_f64().unwrap()));
        let slopes: Vec<f64> = slopes.collect();
        let scale = slopes.iter().fold(1.0f64, |most, d| most.max(d.abs()));
        if !value.is_finite() || !scale.is_finite() {
            continue;
        }
        used += 1;
        let tape = Tape::new().guarded();
        let vars = tape.var_vec(&x);
        let y = program.run(&vars);
        let tell = |what: &str, got: f64, want: f64| {
            format!("program {k} of seed {seed}, {what}: {got} {want}\n{text}at {x:?}")
        };
        let scale_y = value.abs().max(1.0);
        assert!(
            (y.value() - value).abs() <= 1e-12 * scale_y,
            "{}",
            tell("value", y.value(), value)
        );
        assert_eq!(program.run(&x).to_bits(), y.value().to_bits(), "{text}");
        let d = tape.reverse(&[(y, 1.0)]).unwrap();
        for (x, want) in vars.iter().zip(&slopes) {
            let got = d.wrt(*x).unwrap();
            assert!((got - want).abs() <= 1e-12 * scale, "{}", tell("slope", got, *want));
            let along = tape.forward(&[(*x, 1.0)], &[y]).unwrap()[0];
            assert!((along - got).abs() <= 1e-12 * scale, "{}", tell("tangent", along, got));
        }
        // Elsewhere nearby: the recording holds, or says that it does not.
        let moved: Vec<(Var, f64)> = vars.iter().zip(&x).map(|(v, x)| (*v, x + 1e-3)).collect();
        let there: Vec<f64> = moved.iter().map(|(_, x)| *x).collect();
        if let Ok(again) = tape.replay(&moved, &[y]) {
            assert_eq!(again[0].to_bits(), program.run(&there).to_bits(), "{text}at {there:?}");
            let anew = grad(|x| program.run(x), &there).unwrap();
            let d = y.backward().unwrap().wrt_all(&vars).unwrap();
            assert_eq!(bits(&d), bits(&anew), "{text}at {there:?}");
        }
    }
    println!("{used} programs compared");
    assert!(used * 10 >= count * 8, "{used} of {count}");
}

#[test]
fn levels_agree_with_the_compiler() {
    for seed in 0..15 {
        let program = Program::random(seed);
        let x = program.point();
        let function = Function::from_source(program.python().as_str(), "f").unwrap();
        let args: wengert::Args = x.iter().map(|x| wengert::Value::from(*x)).collect();
        let wanted = function.hessian(args, Wrt::All).unwrap();
        let h = hessian(|x| program.run(x), &x).unwrap();
        let by_rows = jacobian(|x| vec![program.run(x)], &x).unwrap().remove(0);
        assert_eq!(bits(&by_rows), bits(&grad(|x| program.run(x), &x).unwrap()));
        let scale = h.iter().flatten().fold(1.0f64, |most, d| most.max(d.abs()));
        if !scale.is_finite() {
            continue;
        }
        for (i, row) in h.iter().enumerate() {
            for (j, got) in row.iter().enumerate() {
                let (a, b) = (format!("x{i}"), format!("x{j}"));
                let want = wanted.get(&a, &b).and_then(|d| d.as_f64()).unwrap();
                assert!((got - want).abs() <= 1e-11 * scale, "{seed} {a} {b}: {got} {want}");
            }
        }
    }
}
