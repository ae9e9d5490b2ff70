//! Every row of the rule table against high precision: its value, its first and its second derivatives, in
//! double and in single precision; and that the comparison would see a partial that is wrong by a millionth.
//!
//! The references are in `data/rows.txt`, made by `scripts/reference_rows.py`. A new row of the table fails
//! here until it has some.

mod rows;

use rows::{Computed, Programs, Reference, Tolerance, derivative_error, floats, references, wide};
use std::collections::HashMap;
use wengert_core::check::Random;
use wengert_core::ir::{Func, Inst, Op, Value};
use wengert_core::ops::{Class, Partial, Prim, Scalar};

/// What derivatives in double precision are held to.
const DOUBLE: Tolerance = Tolerance(1e-12, 1e-12);
/// What derivatives in single precision are held to: a few roundings of 6e-8 each.
const SINGLE: Tolerance = Tolerance(1e-6, 1e-5);
/// How much a partial is bent to see whether that is noticed.
const BENT: f64 = 1.0 + 1e-6;

/// References by row, and the row's programs.
fn by_row() -> Vec<(Prim, Vec<Reference>)> {
    let mut found: HashMap<Prim, Vec<Reference>> = HashMap::new();
    for reference in references() {
        found.entry(reference.prim).or_default().push(reference);
    }
    let rows = Prim::ALL.iter().copied().filter(|p| rows::has_floats(*p));
    rows.map(|p| (p, found.remove(&p).unwrap_or_default())).collect()
}

fn has_derivative(prim: Prim) -> bool {
    prim.class() != Class::Zero
}

/// Fails with all that is wrong, not only the first.
fn assert_none(errors: Vec<String>) {
    assert!(errors.is_empty(), "{} errors:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn every_row_has_references() {
    for (prim, points) in by_row() {
        assert!(points.len() >= 10, "{}: add it to scripts/reference_rows.py", prim.name());
        let wanted = if has_derivative(prim) { floats(prim).len() } else { 0 };
        for point in points {
            assert_eq!(point.want.first.len(), wanted, "{}", prim.name());
            assert_eq!(point.want.second.len(), rows::pairs(wanted).len(), "{}", prim.name());
        }
    }
}

#[test]
fn values_are_within_their_bounds() {
    let mut errors = Vec::new();
    for (prim, points) in by_row() {
        for point in points {
            let got = Programs::value(prim, "f64", &point.inputs);
            errors.extend(rows::value_error(&point, got));
        }
    }
    assert_none(errors);
}

#[test]
fn derivatives_are_right() {
    let mut errors = Vec::new();
    for (prim, points) in by_row() {
        if floats(prim).is_empty() {
            continue;
        }
        let programs = Programs::new(prim, "f64");
        for (n, point) in points.iter().enumerate() {
            let got = programs.forward(&point.inputs);
            if has_derivative(prim) {
                errors.extend(derivative_error(point, &got, DOUBLE));
            } else if got.first.iter().any(|d| *d != 0.0) {
                errors.push(format!("{} passes a derivative at {:?}", prim.name(), point.inputs));
            }
            // Reverse mode at some of them.
            if has_derivative(prim) && n % 3 == 0 {
                let got = programs.reverse(&point.inputs, point.want.value);
                errors.extend(derivative_error(point, &got, DOUBLE).map(|e| e + " (reverse)"));
            }
        }
    }
    assert_none(errors);
}

/// The exceptions of the comparison are no wider than they must be: each is needed at some point.
#[test]
fn exceptions_are_needed() {
    let rows = by_row();
    for (prim, order, _, why) in rows::EXCEPTIONS {
        let (_, points) = rows.iter().find(|(p, _)| p == prim).unwrap();
        let programs = Programs::new(*prim, "f64");
        let off = |point: &Reference| {
            let got = programs.forward(&point.inputs);
            let (want, got) = match order {
                1 => (point.want.first.clone(), got.first),
                _ => (point.want.second.clone(), got.second),
            };
            want.iter().zip(got).any(|(w, g)| (g - w).abs() > DOUBLE.0 * w.abs())
        };
        assert!(points.iter().any(off), "{} needs no exception ({why})", prim.name());
    }
}

/// Whether a derivative is large enough for a millionth of it to be seen.
fn is_seen(point: &Reference, order: usize, want: f64) -> bool {
    want.abs() * 1e5 > rows::floor(point, order)
}

/// Every derivative, bent by a millionth, is seen to be wrong; those of the table itself too, which are
/// right before they are bent.
#[test]
fn a_millionth_is_seen() {
    for (prim, points) in by_row().into_iter().filter(|(p, _)| has_derivative(*p)) {
        let by = floats(prim);
        let (mut seen, mut zeros) = (vec![0; by.len()], vec![0; by.len()]);
        for point in &points {
            let given = table(point).unwrap_or(point.want.first.clone());
            let right = Computed { first: given, ..point.want.clone() };
            assert_eq!(derivative_error(point, &right, DOUBLE), None);
            for k in 0..by.len() {
                let mut wrong = right.clone();
                let want = point.want.first[k];
                wrong.first[k] = if want == 0.0 { BENT - 1.0 } else { wrong.first[k] * BENT };
                let error = derivative_error(point, &wrong, DOUBLE);
                let name = prim.name();
                if want == 0.0 || is_seen(point, 1, want) {
                    assert!(error.is_some(), "{name} at {:?}: partial {k} bent", point.inputs);
                    seen[k] += 1;
                    zeros[k] += usize::from(want == 0.0);
                }
            }
            for (k, want) in point.want.second.iter().enumerate() {
                let mut wrong = point.want.clone();
                wrong.second[k] = if *want == 0.0 { 1e-6 } else { want * BENT };
                let seen = derivative_error(point, &wrong, DOUBLE).is_some();
                let ask = *want != 0.0 && is_seen(point, 2, *want);
                assert!(seen || !ask, "{} at {:?}: second {k}", prim.name(), point.inputs);
            }
        }
        for (k, seen) in seen.iter().enumerate() {
            assert!(*seen > points.len() / 2, "{}: partial {k} seen {seen} times", prim.name());
        }
        // Only `copysign` by the sign and `powi` by the exponent are zero everywhere.
        let zero = zeros.iter().filter(|n| **n == points.len()).count();
        assert_eq!(zero, usize::from(prim == Prim::CopySign), "{}", prim.name());
    }
}

/// The partials of the table at a point, by float inputs; none for `select` and casts.
fn table(point: &Reference) -> Option<Vec<f64>> {
    let x: Vec<f64> = point.inputs.iter().copied().map(wide).collect();
    let partials = point.prim.partials(&x, wide(point.want.value));
    let number = |p: Partial<f64>| match p {
        Partial::Const(c) => c,
        Partial::Of(x) | Partial::Where(x) => x,
    };
    let all: Vec<f64> = partials.into_iter().map(number).collect();
    (!all.is_empty()).then(|| floats(point.prim).iter().map(|k| all[*k]).collect())
}

/// The same inside the programs: the instruction of the forward program that carries a partial is bent,
/// and both the first and the second derivative made of it are seen to be wrong.
#[test]
fn a_millionth_inside_the_program_is_seen() {
    for (prim, points) in by_row().into_iter().filter(|(p, _)| has_derivative(*p)) {
        let count = floats(prim).len();
        for bent in 0..count {
            let bend = |k: usize, forward: Func| if k == bent { bend(forward) } else { forward };
            let programs = Programs::bent(prim, "f64", bend);
            let mut seen = [0, 0];
            // A partial that is zero everywhere is bent to something else; other zeros stay.
            let zero = points.iter().all(|point| point.want.first[bent] == 0.0);
            for point in &points {
                let got = programs.forward(&point.inputs);
                let first = point.want.first[bent];
                let only = |first: bool| Computed {
                    first: if first { got.first.clone() } else { point.want.first.clone() },
                    second: if first { point.want.second.clone() } else { got.second.clone() },
                    value: got.value,
                };
                let wrong = |first| derivative_error(point, &only(first), DOUBLE).is_some();
                let name = prim.name();
                if zero || first != 0.0 && is_seen(point, 1, first) {
                    assert!(wrong(true), "{name} at {:?}: partial {bent} bent", point.inputs);
                    seen[0] += 1;
                }
                let second = rows::pairs(count).into_iter().zip(&point.want.second);
                let mut by = second.filter(|((j, _), w)| *j == bent && **w != 0.0);
                if by.any(|(_, w)| is_seen(point, 2, *w)) {
                    assert!(wrong(false), "{name} at {:?}: second of {bent}", point.inputs);
                    seen[1] += 1;
                }
            }
            assert!(seen[0] > points.len() / 5, "{}: seen at {seen:?}", prim.name());
            let curved = |p: &Reference| {
                let second = rows::pairs(count).into_iter().zip(&p.want.second);
                second.filter(|((j, _), _)| *j == bent).any(|(_, w)| *w != 0.0)
            };
            assert!(seen[1] > 0 || !points.iter().any(curved), "{}: {seen:?}", prim.name());
        }
    }
}

/// A forward program by one input whose partial is larger by a millionth; where it is the constant 0, it is
/// that millionth.
fn bend(mut func: Func) -> Func {
    let tangent = *func.params().last().unwrap();
    let ty = func.ty(tangent);
    let result = *func.body.yields.last().unwrap();
    let by = func.constant(Scalar::float(ty.elem().unwrap(), BENT));
    let bent = func.value(func.ty(result), None);
    let scaled = |op: Prim, x: Value, by: Value| Inst {
        op: Op::Prim(op),
        args: vec![x, by],
        results: vec![bent],
        blocks: Vec::new(),
        span: Default::default(),
    };
    let carrier = func.body.insts.iter().position(|i| i.args.contains(&tangent));
    match carrier.map(|at| (at, func.body.insts[at].op.clone())) {
        // The partial times the tangent: bend the partial.
        Some((at, Op::Prim(Prim::Mul))) => {
            let args = &mut func.body.insts[at].args;
            let partial = args.iter_mut().find(|a| **a != tangent).unwrap();
            let inst = scaled(Prim::Mul, *partial, by);
            *partial = bent;
            func.body.insts.insert(at, inst);
        }
        // A constant partial: bend the tangent of the result.
        _ if carrier.is_some() || result == tangent => {
            let by = match func.ty(result) == ty {
                true => by,
                false => func.constant(Scalar::float(func.ty(result).elem().unwrap(), BENT)),
            };
            func.body.insts.push(scaled(Prim::Mul, result, by));
            *func.body.yields.last_mut().unwrap() = bent;
        }
        _ => {
            let by = func.constant(Scalar::float(ty.elem().unwrap(), BENT - 1.0));
            func.body.insts.push(scaled(Prim::Mul, tangent, by));
            *func.body.yields.last_mut().unwrap() = bent;
        }
    }
    func
}

/// The distance between a single-precision number and the next larger one, as a double.
fn ulp32(x: f64) -> f64 {
    let x = (x.abs() as f32).min(f32::MAX);
    if x == f32::MAX {
        return 2f64.powi(104);
    }
    f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x)
}

/// Inputs as single-precision numbers, and those same numbers as doubles.
fn rounded(inputs: &[Scalar]) -> (Vec<Scalar>, Vec<Scalar>) {
    let single: Vec<Scalar> = inputs
        .iter()
        .map(|x| if let Scalar::F64(x) = x { Scalar::F32(*x as f32) } else { *x })
        .collect();
    let double = single
        .iter()
        .map(|x| if let Scalar::F32(x) = x { Scalar::F64(f64::from(*x)) } else { *x })
        .collect();
    (single, double)
}

/// Rows that work on floats of either size.
fn either_size() -> impl Iterator<Item = (Prim, Vec<Reference>)> {
    by_row().into_iter().filter(|(p, _)| p.signature().contains(['f', '*']))
}

/// In single precision: the value in double precision, rounded.
#[test]
fn single_precision_values() {
    let mut points_seen = 0;
    for (prim, points) in either_size() {
        for point in points {
            let (single, double) = rounded(&point.inputs);
            let got = Programs::value(prim, "f32", &single);
            let want = Programs::value(prim, "f64", &double);
            let message = || format!("{} at {single:?}: {got}, not {want}", prim.name());
            let (g, w) = (wide(got), wide(want));
            match (got, want) {
                (Scalar::F32(_), Scalar::F64(_)) => {
                    // Results that leave the range, and what `flush` does with those below it.
                    let outside = w.abs() > f64::from(f32::MAX) || w.is_nan();
                    if !outside && w.abs() > f64::from(f32::MIN_POSITIVE) {
                        let most = if prim.bound() == 0.0 { 0.0 } else { 0.500001 };
                        assert!((g - w).abs() <= most * ulp32(w), "{}", message());
                        points_seen += 1;
                    }
                }
                _ => assert_eq!(got, want, "{}", message()),
            }
        }
    }
    assert!(points_seen > 1200, "{points_seen} points");
}

/// Derivatives in single precision, against those in double precision, on the domain of the table.
#[test]
fn single_precision_derivatives() {
    let mut random = Random(21);
    let mut errors = Vec::new();
    for (prim, points) in either_size().filter(|(p, _)| has_derivative(*p)) {
        let (single, double) = (Programs::new(prim, "f32"), Programs::new(prim, "f64"));
        for _ in 0..20 {
            let mut inputs = points[0].inputs.clone();
            for (k, x) in inputs.iter_mut().enumerate() {
                let (lo, hi) = prim.domain(k);
                let within = random.float(lo, hi);
                *x = match *x {
                    Scalar::F64(_) => Scalar::F64(within),
                    Scalar::I64(_) if prim == Prim::PolyGamma => Scalar::I64(within as i64 % 4),
                    Scalar::I64(_) => Scalar::I64(within as i64),
                    other => other,
                };
            }
            let (narrow, inputs) = rounded(&inputs);
            let want = double.forward(&inputs);
            let got = single.forward(&narrow);
            let reference = Reference { prim, inputs, want };
            errors.extend(derivative_error(&reference, &got, SINGLE));
        }
    }
    assert_none(errors);
}
