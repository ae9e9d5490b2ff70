//! Array functions on what they cannot take: what is known of ranks, axes and kinds is said when the code is made,
//! the rest when it runs.

use super::{run, tensor};
use wengert_core::arrays::{self, Made, Range};
use wengert_core::check::Random;
use wengert_core::ir::{Builder, Elem, Type, Value};
use wengert_core::ops::{Array, Prim};

/// What is said while code is made for a vector, a matrix, a float, a whole number and a vector of those.
fn refusal(build: impl FnOnce(&mut Builder, [Value; 5]) -> Made) -> String {
    let types =
        [Type::VECTOR, Type::of(Elem::F64, 2), Type::F64, Type::I64, Type::of(Elem::I64, 1)];
    let (mut b, v) = Builder::new("f", &types.map(|ty| (ty, None)));
    build(&mut b, [v[0], v[1], v[2], v[3], v[4]]).expect_err("it is taken")
}

#[test]
fn ranks_axes_and_kinds() {
    let vector = "of a vector, which has only axis 0";
    let matrix = "of an array with 2 axes, counted from 0 to 1";
    type Reduction = fn(&mut Builder, Value, Option<usize>) -> Made;
    let reductions: [(&str, Reduction); 19] = [
        ("sum", arrays::sum),
        ("prod", arrays::prod),
        ("mean", arrays::mean),
        ("max", arrays::max),
        ("min", arrays::min),
        ("argmax", arrays::argmax),
        ("argmin", arrays::argmin),
        ("any", arrays::any),
        ("all", arrays::all),
        ("norm", arrays::norm),
        ("softmax", arrays::softmax),
        ("logsumexp", arrays::logsumexp),
        ("cumsum", arrays::cumsum),
        ("cumprod", arrays::cumprod),
        ("diff", arrays::diff),
        ("flip", arrays::flip),
        ("sort", arrays::sort),
        ("argsort", arrays::argsort),
        ("std", |b, x, axis| arrays::std(b, x, axis, 0)),
    ];
    for (name, reduce) in reductions {
        let along = |axis: usize, of: &str| format!("`{name}` along axis {axis} {of}");
        assert_eq!(refusal(|b, v| reduce(b, v[0], Some(1))), along(1, vector));
        assert_eq!(refusal(|b, v| reduce(b, v[1], Some(2))), along(2, matrix));
        let number = format!("`{name}` takes an array, but is given a float");
        assert_eq!(refusal(|b, v| reduce(b, v[2], None)), number);
    }
    let texts = [
        refusal(|b, v| arrays::roll(b, v[0], v[2], None)),
        refusal(|b, v| arrays::take(b, v[0], v[2], 0)),
        refusal(|b, v| arrays::take(b, v[0], v[3], 1)),
        refusal(|b, v| arrays::matmul(b, v[0], v[2])),
        refusal(|b, v| arrays::dot(b, v[0], v[1])),
        refusal(|b, v| arrays::trace(b, v[0])),
        refusal(|b, v| arrays::transpose_by(b, v[1], &[0, 0])),
        refusal(|b, v| arrays::swapaxes(b, v[1], 0, 2)),
        refusal(|b, v| arrays::expand_dims(b, v[1], 3)),
        refusal(|b, v| arrays::reshape(b, v[0], &[None, None])),
        refusal(|b, v| arrays::reshape(b, v[0], &[Some(v[2])])),
        refusal(|b, v| arrays::linspace(b, v[2], v[2], v[2], true)),
        refusal(|b, v| arrays::arange(b, v[3], v[0], v[3])),
        refusal(|b, v| arrays::interp(b, v[2], v[1], v[0])),
        refusal(|b, v| arrays::concatenate(b, &[v[0], v[1]], 0)),
        refusal(|b, v| arrays::trapezoid(b, v[0], Some(v[0]), Some(v[2]))),
        refusal(|b, v| arrays::read_slice(b, v[0], &[Range::default(); 2])),
        refusal(|b, v| arrays::read_slice(b, v[2], &[])),
        refusal(|b, v| arrays::write_slice(b, v[4], &[], v[0])),
        refusal(|b, v| arrays::elementwise_same(b, Prim::Add, v[0], v[4])),
    ];
    let wanted = [
        "`roll`: the shift must be a whole number, but is a float",
        "`take`: places are whole numbers, but a float is given",
        "`take` along axis 1 of a vector, which has only axis 0",
        "`matmul` takes an array, but is given a float",
        "`dot` of arrays with 1 and 2 axes; `matmul` multiplies those",
        "`trace` takes a matrix, but is given a vector of floats",
        "`transpose` needs each of the 2 axes of the array once, counted from 0, but is given [0, 0]",
        "`swapaxes` along axis 2 of an array with 2 axes, counted from 0 to 1",
        "`expand_dims`: the new axis is one of 0 to 2, not 3",
        "`reshape`: only one size can follow from the others",
        "`reshape`: a size must be a whole number, but is a float",
        "`linspace`: the number of elements must be a whole number, but is a float",
        "`arange` takes numbers, but is given a vector of floats",
        "`interp`: the points must be a vector, but is a matrix of floats",
        "`concatenate` takes arrays with equally many axes, not a vector of floats and a matrix of floats",
        "`trapezoid` takes the places `x` or their distance `dx`, not both",
        "2 slices of an array with 1 axis",
        "only arrays have slices, not a float",
        "a vector of floats cannot be written into a vector of whole numbers",
        "operand 2 of `add` is [i64], but must be f64",
    ];
    assert_eq!(texts, wanted);
}

#[test]
fn sizes_and_values() {
    let mut r = Random(12);
    let (x, y, v) = (tensor(&mut r, &[2, 3]), tensor(&mut r, &[4]), tensor(&mut r, &[3]));
    let none = Array::new(vec![2, 0], vec![]);
    type Case<'a> = (&'a [&'a Array], fn(&mut Builder, &[Value]) -> Made, &'a str);
    let cases: &[Case] = &[
        (
            &[&none],
            |b, v| arrays::max(b, v[0], Some(1)),
            "`max` along axis 1, which has no elements",
        ),
        (&[&none], |b, v| arrays::min(b, v[0], None), "`min` of an array without elements"),
        (&[&x], |b, v| arrays::squeeze(b, v[0], 1), "`squeeze`: axis 1 must have one element"),
        (
            &[&x],
            |b, v| {
                let four = b.i64(4);
                arrays::reshape(b, v[0], &[Some(four), None])
            },
            "the sizes given do not divide the number of elements",
        ),
        (
            &[&x],
            |b, v| arrays::reshape(b, v[0], &[]),
            "only an array of one element becomes a number",
        ),
        (
            &[&y],
            |b, v| {
                let k = b.i64(-5);
                arrays::take(b, v[0], k, 0)
            },
            "index -5 is out of range",
        ),
        (
            &[&y],
            |b, v| {
                let (n, k) = (b.i64(2), b.i64(4));
                let places = b.filled(&[n], k);
                arrays::take(b, v[0], places, 0)
            },
            "index 4 is out of range",
        ),
        (
            &[&y, &v],
            |b, v| arrays::trapezoid(b, v[0], Some(v[1]), None),
            "as many places `x` as heights",
        ),
        (&[&x, &y], |b, v| arrays::matmul(b, v[0], v[1]), "shapes do not fit: the product of"),
        (
            &[&y, &v],
            |b, v| arrays::vdot(b, v[0], v[1]),
            "`dot` of arrays with shapes (4,) and (3,)",
        ),
        (&[&x, &y], |b, v| arrays::maximum(b, v[0], v[1]), "shapes do not broadcast"),
        (
            &[&y, &v],
            |b, v| arrays::maximum(b, v[0], v[1]),
            "`max` of arrays with shapes (4,) and (3,)",
        ),
        (&[&y, &v], |b, v| arrays::concatenate(b, &[v[0], v[1]], 0), ""),
        (
            &[&y],
            |b, v| {
                let (zero, one) = (b.i64(0), b.i64(1));
                let k = arrays::arange(b, one, one, zero)?;
                arrays::take(b, v[0], k, 0)
            },
            "`arange`: the step cannot be 0",
        ),
        (
            &[&y],
            |b, v| {
                let (zero, k) = (b.i64(0), b.i64(0));
                let (end, step) = (b.load(v[0], k), b.f64(0.0));
                let start = arrays::convert(b, zero, Elem::F64)?;
                arrays::arange(b, start, end, step)
            },
            "`arange`: the step cannot be 0",
        ),
        (
            &[&y],
            |b, v| {
                let n = b.i64(-1);
                arrays::tile(b, v[0], n)
            },
            "an array cannot have -1 elements",
        ),
    ];
    for (k, (inputs, build, message)) in cases.iter().enumerate() {
        match run(inputs, build) {
            Ok(_) => assert!(message.is_empty(), "case {k} should fail: {message}"),
            Err(e) => assert!(!message.is_empty() && e.contains(message), "case {k}: {e}"),
        }
    }
}
