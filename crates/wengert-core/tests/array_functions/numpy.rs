//! What numpy makes of small arrays (`tests/data/arrays.txt`), made by the functions here: values, and
//! derivatives in both modes against finite differences.

use wengert_core::arrays::{self, Made};
use wengert_core::check::{self, Derived, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Builder, Elem, Func, Module, Value};
use wengert_core::ops::{Array, Data, Prim, Scalar};
use wengert_core::transform::pipeline;

/// A value as the file writes it: `d[2,3] 0.5 ..`.
fn parsed(text: &str) -> Val {
    let (kind, rest) = text.trim().split_once('[').unwrap();
    let (shape, elements) = rest.split_once(']').unwrap();
    let sizes = shape.split(',').filter(|n| !n.is_empty());
    let shape: Vec<usize> = sizes.map(|n| n.parse().unwrap()).collect();
    let elements: Vec<f64> = elements.split_whitespace().map(|x| x.parse().unwrap()).collect();
    let data = match kind {
        "d" => Data::F64(elements),
        "i" => Data::I64(elements.iter().map(|x| *x as i64).collect()),
        "b" => Data::Bool(elements.iter().map(|x| *x != 0.0).collect()),
        kind => panic!("`{kind}` is no kind"),
    };
    let array = Array { shape, data };
    match array.shape.is_empty() {
        true => Val::Scalar(array.elements().get(0)),
        false => Val::shaped(array),
    }
}

/// The function of that name; its options are the words after it.
fn build(b: &mut Builder, name: &str, options: &[&str], v: &[Value]) -> Made {
    let axis = |k: usize| options[k].parse::<usize>().ok();
    let at = |k: usize| options[k].parse::<usize>().unwrap();
    let elem = |k: usize| match options[k] {
        "i64" => Elem::I64,
        "bool" => Elem::Bool,
        _ => Elem::F64,
    };
    match name {
        "sum" => arrays::sum(b, v[0], axis(0)),
        "prod" => arrays::prod(b, v[0], axis(0)),
        "mean" => arrays::mean(b, v[0], axis(0)),
        "max" => arrays::max(b, v[0], axis(0)),
        "min" => arrays::min(b, v[0], axis(0)),
        "argmax" => arrays::argmax(b, v[0], axis(0)),
        "argmin" => arrays::argmin(b, v[0], axis(0)),
        "any" => arrays::any(b, v[0], axis(0)),
        "all" => arrays::all(b, v[0], axis(0)),
        "cumsum" => arrays::cumsum(b, v[0], axis(0)),
        "cumprod" => arrays::cumprod(b, v[0], axis(0)),
        "norm" => arrays::norm(b, v[0], axis(0)),
        "variance" => arrays::variance(b, v[0], axis(0), at(1) as i64),
        "std" => arrays::std(b, v[0], axis(0), at(1) as i64),
        "softmax" => arrays::softmax(b, v[0], axis(0)),
        "logsumexp" => arrays::logsumexp(b, v[0], axis(0)),
        "arange" => arrays::arange(b, v[0], v[1], v[2]),
        "linspace" => arrays::linspace(b, v[0], v[1], v[2], options[0] == "True"),
        "eye" => arrays::eye(b, v[0], v[1], elem(0)),
        "diag" => arrays::diag(b, v[0]),
        "trace" => arrays::trace(b, v[0]),
        "flip" => arrays::flip(b, v[0], axis(0)),
        "roll" => arrays::roll(b, v[0], v[1], axis(0)),
        "tile" => arrays::tile(b, v[0], v[1]),
        "repeat_elements" => arrays::repeat_elements(b, v[0], v[1]),
        "diff" => arrays::diff(b, v[0], axis(0)),
        "trapezoid" => {
            let given = |word: &str| (options.first() == Some(&word)).then(|| v[1]);
            arrays::trapezoid(b, v[0], given("x"), given("dx"))
        }
        "expand_dims" => arrays::expand_dims(b, v[0], at(0)),
        "squeeze" => arrays::squeeze(b, v[0], at(0)),
        "swapaxes" => arrays::swapaxes(b, v[0], at(0), at(1)),
        "transpose_by" => {
            let order: Vec<usize> = (0..options.len()).map(at).collect();
            arrays::transpose_by(b, v[0], &order)
        }
        "transpose" => arrays::transpose(b, v[0]),
        "flatten" => arrays::flatten(b, v[0]),
        "reshape" => {
            let mut given = v[1..].iter().copied();
            let size = |word: &&str| if *word == "_" { None } else { given.next() };
            let dims: Vec<Option<Value>> = options.iter().map(size).collect();
            arrays::reshape(b, v[0], &dims)
        }
        "dot" => arrays::dot(b, v[0], v[1]),
        "vdot" => arrays::vdot(b, v[0], v[1]),
        "inner" => arrays::inner(b, v[0], v[1]),
        "matmul" => arrays::matmul(b, v[0], v[1]),
        "outer" => arrays::outer(b, v[0], v[1]),
        "cross" => arrays::cross(b, v[0], v[1]),
        "tensordot" => arrays::tensordot(b, v[0], v[1], at(0)),
        "convolve" => {
            let overlap = match options[0] {
                "full" => arrays::Overlap::Full,
                "same" => arrays::Overlap::Same,
                _ => arrays::Overlap::Valid,
            };
            arrays::convolve(b, v[0], v[1], overlap)
        }
        "median" => arrays::median(b, v[0], axis(0)),
        "triangle" => {
            let k = b.i64(options[1].parse().unwrap());
            arrays::triangle(b, v[0], k, options[0] == "upper")
        }
        "take" => arrays::take(b, v[0], v[1], at(0)),
        "searchsorted" => arrays::searchsorted(b, v[0], v[1], options[0] == "right"),
        "interp" => arrays::interp(b, v[0], v[1], v[2]),
        "sort" => arrays::sort(b, v[0], axis(0)),
        "argsort" => arrays::argsort(b, v[0], axis(0)),
        "maximum" => arrays::maximum(b, v[0], v[1]),
        "minimum" => arrays::minimum(b, v[0], v[1]),
        "choose" => arrays::choose(b, v[0], v[1], v[2]),
        "clip" => arrays::clip(b, v[0], v[1], v[2]),
        "convert" => arrays::convert(b, v[0], elem(0)),
        "heaviside" => arrays::heaviside(b, v[0], v[1]),
        "square" => arrays::square(b, v[0]),
        "round_half_even" => arrays::round_half_even(b, v[0]),
        "isnan" => arrays::isnan(b, v[0]),
        "isinf" => arrays::isinf(b, v[0]),
        "isfinite" => arrays::isfinite(b, v[0]),
        "elementwise" => arrays::elementwise(b, Prim::Mul, v[0], v[1]),
        "elementwise_same" if options == ["expanded"] => {
            let column = arrays::expand_dims(b, v[0], 1)?;
            arrays::elementwise_same(b, Prim::Mul, column, v[1])
        }
        "elementwise_same" => arrays::elementwise_same(b, Prim::Mul, v[0], v[1]),
        "einsum" => arrays::einsum(b, options[0], v),
        "stack" => arrays::stack(b, v, at(0)),
        "concatenate" => arrays::concatenate(b, v, at(0)),
        name => panic!("what is `{name}`?"),
    }
}

fn close(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::F64(a), Scalar::F64(b)) => {
            a == b || (a - b).abs() <= 1e-14 * (1.0 + b.abs()) || (a.is_nan() && b.is_nan())
        }
        (a, b) => a == b,
    }
}

fn same(got: &Val, want: &Val) -> bool {
    match (got, want) {
        (Val::Scalar(a), Val::Scalar(b)) => close(*a, *b),
        (Val::Array(a), Val::Array(b)) => {
            a.shape == b.shape
                && a.elem() == b.elem()
                && a.scalars().zip(b.scalars()).all(|(a, b)| close(a, b))
        }
        _ => false,
    }
}

fn try_case(line: &str) -> Result<(), String> {
    let (given, want) = line.split_once(" => ").unwrap();
    let mut given = given.split(" | ");
    let mut words = given.next().unwrap().split_whitespace();
    let name = words.next().unwrap();
    let options: Vec<&str> = words.collect();
    let (args, want): (Vec<Val>, Val) = (given.map(parsed).collect(), parsed(want));
    let params: Vec<_> = args.iter().map(|a| (a.ty(), None)).collect();
    let (mut b, values) = Builder::new("f", &params);
    let result = build(&mut b, name, &options, &values)?;
    let func = b.finish(vec![result]);
    // As it is made, and after the passes that come before differentiation.
    let passed =
        pipeline::run(&Module::of(func.clone()), "f").map_err(|e| format!("{e}\n{func}"))?;
    for func in [func, passed] {
        let text = func.to_string();
        compare(func, &args, &want).map_err(|e| format!("{e}\n{text}"))?;
    }
    Ok(())
}

fn compare(func: Func, args: &[Val], want: &Val) -> Result<(), String> {
    let floats: Vec<usize> = (0..args.len()).filter(|k| args[*k].ty().is_float()).collect();
    let derived = Derived::new(func, floats.clone()).map_err(|e| format!("{e} {:?}", e.labels))?;
    let engine = &mut Interpreter::default();
    let got = derived.value(engine, args).map_err(|e| e.to_string())?;
    if !same(&got[0], want) {
        return Err(format!("{got:?} instead of {want:?}"));
    }
    let finite = check::floats(args).iter().chain(&check::floats(&got)).all(|x| x.is_finite());
    if want.ty().is_float() && !floats.is_empty() && finite {
        let report = check::derivatives(&derived, engine, args, 2, 5).map_err(|e| e.to_string())?;
        if !report.passes() {
            return Err(report.to_string());
        }
    }
    Ok(())
}

#[test]
fn as_numpy() {
    let cases = include_str!("../data/arrays.txt");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        if let Err(e) = try_case(line) {
            wrong.push(format!("{line}\n{e}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases.lines().count() > 500);
}
