//! Array operations: values at small cases, and derivatives in both modes against finite differences.

mod array_rows;

use array_rows::ROWS;
use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type, parse, verify};
use wengert_core::ops::{Array, Data};

/// Differentiates `@f` by all its float parameters and compares the modes and differences.
fn check(text: &str, args: &[Val]) {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = module.funcs[0].clone();
    let types = func.param_types();
    let wrt = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    let derived = Derived::new(func, wrt).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let report = check::derivatives(&derived, &mut Interpreter::default(), args, 3, 7)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(report.passes(), "{report}\n{text}\n{}", derived.reverse);
}

fn tensor(random: &mut Random, shape: &[usize]) -> Val {
    let n = shape.iter().product();
    Val::shaped(Array::new(shape.to_vec(), (0..n).map(|_| random.float(-1.0, 1.0)).collect()))
}

#[test]
fn one_operation_each() {
    let mut r = Random(3);
    for (params, body, shapes) in ROWS {
        // Differences of numbers that are rounded to single precision say nothing.
        if body.contains("demote") {
            continue;
        }
        let args: Vec<Val> = shapes
            .iter()
            .map(|s| if s.is_empty() { Val::f64(r.float(0.2, 1.0)) } else { tensor(&mut r, s) })
            .collect();
        // Squares, so that the derivative depends on where it is taken.
        let text = format!(
            "func @f({params}) -> (f64) {{\n {body}\n %sq = mul %y, %y\n %cu = mul %sq, %y\n %r = sum %cu\n return %r\n}}"
        );
        check(&text, &args);
    }
}

#[test]
fn a_network_in_a_loop() {
    let text = "
        func @f(%w: [[f64]], %b: [f64], %h0: [f64], %n: i64) -> (f64, [f64]) {
          %last, %total = for %i in 0..%n carry (%h = %h0, %s = 0.0) {
            %c = copy %b
            %a = gemm %c, %w, %h
            %next = tanh %a
            %e = dot %next, %next
            %t = add %s, %e
            yield %next, %t
          }
          return %total, %last
        }";
    let mut r = Random(5);
    let (w, b, h) = (tensor(&mut r, &[3, 3]), tensor(&mut r, &[3]), tensor(&mut r, &[3]));
    check(text, &[w, b, h, Val::i64(4)]);
}

#[test]
fn shapes_that_change_in_a_loop() {
    let text = "
        func @f(%x: [f64], %n: i64) -> (f64) {
          %last = for %i in 0..%n carry (%y = %x) {
            %m = len %y
            %k = iadd %m, 1
            %z = fill %k, 0.5
            %v = mul %y, 1.25
            %u = put %z, 0, %m, 1, %v
            %s = sin %u
            yield %s
          }
          %q = dot %last, %last
          return %q
        }";
    let mut r = Random(6);
    check(text, &[tensor(&mut r, &[2]), Val::i64(4)]);
}

#[test]
fn rows_overwritten_in_a_matrix() {
    let text = "
        func @f(%x: [[f64]]) -> (f64) {
          %n = dim[0] %x
          %m = dim[1] %x
          %last = for %i in 1..%n carry (%y = %x) {
            %j = isub %i, 1
            %above = slice %y, %j, 1, 1, 0, %m, 1
            %here = slice %y, %i, 1, 1, 0, %m, 1
            %p = mul %above, %here
            %q = sin %p
            %z = put %y, %i, 1, 1, 0, %m, 1, %q
            %back = slice %z, %i, 1, 1, 0, %m, 1
            %e = exp %back
            %w = add_slice %z, %j, 1, 1, 0, %m, 1, %e
            yield %w
          }
          %sq = mul %last, %last
          %s = sum %sq
          return %s
        }";
    let mut r = Random(8);
    check(text, &[tensor(&mut r, &[4, 3])]);
}

#[test]
fn accumulators_that_are_read_between() {
    let text = "
        func @f(%a: [[f64]], %b: [[f64]], %n: i64) -> (f64) {
          %last = for %i in 0..%n carry (%c = %a) {
            %t = tanh %c
            %d = gemm %c, %t, %b
            %e = mul %d, 0.5
            yield %e
          }
          %s = sum %last
          return %s
        }";
    let mut r = Random(9);
    check(text, &[tensor(&mut r, &[3, 3]), tensor(&mut r, &[3, 3]), Val::i64(3)]);
}

/// The array is made by a loop that carries no derivative, so nothing takes it back.
#[test]
fn arrays_from_loops_without_a_derivative() {
    let text = "
        func @f(%x: f64, %n: i64) -> (f64) {
          %z = fill %n, 0.0
          %t = for %i in 0..%n carry (%in = %z) {
            %v = itof %i
            %u = store %in, %i, %v
            yield %u
          }
          %y = mul %t, %x
          %s = sin %y
          %r = dot %s, %t
          %t2 = store %t, 0, 5.0
          %e = sum %t2
          %r2 = mul %r, %e
          return %r2
        }";
    check(text, &[Val::f64(0.4), Val::i64(4)]);
}

#[test]
fn single_precision() {
    let text = "
        func @f(%x: [f32], %s: f32) -> (f64) {
          %y = mul %x, %s
          %z = tanh %y
          %t = sum %z
          %w = mul %t, 2.0f32
          %r = promote %w
          return %r
        }";
    let module = parse::module(text).unwrap();
    verify::module(&module).unwrap();
    let derived = Derived::new(module.funcs[0].clone(), vec![0, 1]).unwrap();
    let x = Array { shape: vec![3], data: wengert_core::ops::Data::F32(vec![0.5, -1.0, 2.0]) };
    let s = Val::Scalar(wengert_core::ops::Scalar::F32(0.75));
    let engine = &mut Interpreter::default();
    let (values, adjoints) = derived.vjp(engine, &[Val::shaped(x), s], &[Val::f64(1.0)]).unwrap();
    let exact: f64 = [0.5, -1.0, 2.0].iter().map(|x: &f64| 2.0 * (0.75 * x).tanh()).sum();
    let slope = |x: f64| 1.0 - (0.75 * x).tanh().powi(2);
    let want: Vec<f64> = [0.5, -1.0, 2.0].iter().map(|x| 2.0 * 0.75 * slope(*x)).collect();
    let ds: f64 = [0.5, -1.0, 2.0].iter().map(|x| 2.0 * x * slope(*x)).sum();
    assert!((check::floats(&values)[0] - exact).abs() < 1e-6);
    let got = check::floats(&adjoints);
    for (g, w) in got.iter().zip(want.iter().chain([&ds])) {
        assert!((g - w).abs() < 1e-6, "{got:?} {want:?} {ds}");
    }
    assert_eq!(adjoints[0].ty(), Type::Array(wengert_core::ir::Elem::F32, 1));
}

#[test]
fn wrong_shapes_are_told() {
    let run = |text: &str, args: Vec<Val>| -> String {
        let module: Module = parse::module(text).unwrap();
        verify::module(&module).unwrap();
        Interp::new(&module).call("f", args).unwrap_err().to_string()
    };
    let mut r = Random(4);
    assert_eq!(
        run(
            "func @f(%a: [f64], %b: [f64]) -> ([f64]) { %c = add %a, %b  return %c }",
            vec![tensor(&mut r, &[3]), tensor(&mut r, &[4])]
        ),
        "shapes do not fit: `add` of arrays with shapes (3,) and (4,)"
    );
    assert_eq!(
        run(
            "func @f(%a: [[f64]]) -> (f64) { %c = load %a, 1, 3  return %c }",
            vec![tensor(&mut r, &[3, 3])]
        ),
        "index 3 is out of range: `a` has 3 elements along axis 1"
    );
    assert_eq!(
        run(
            "func @f(%a: [[f64]], %b: [[f64]]) -> ([[f64]]) { %z = fill 3, 3, 0.0  %c = gemm %z, %a, %b  return %c }",
            vec![tensor(&mut r, &[3, 2]), tensor(&mut r, &[3, 3])]
        ),
        "shapes do not fit: the product of (3, 2) and (3, 3) does not fit (3, 3)"
    );
}

/// What a program gives, or the error it ends in, as text: arrays that are no vectors with their shape.
fn outcome(program: &str, args: Vec<Val>) -> String {
    let module = parse::module(program).unwrap_or_else(|e| panic!("{e}\n{program}"));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{program}"));
    let shown = |v: &Val| match v {
        Val::Scalar(s) => s.to_string(),
        Val::Array(x) if x.shape.len() == 1 => x.to_string(),
        Val::Array(x) => format!("{x} {:?}", x.shape),
        Val::Tape(_) => unreachable!("no results are tapes"),
    };
    match Interp::new(&module).call("f", args) {
        Ok(values) => values.iter().map(shown).collect::<Vec<_>>().join(" "),
        Err(fault) => fault.to_string(),
    }
}

/// Signature, instructions and what is returned; arguments; what comes out. Every array row is here.
type Exact = (&'static str, Vec<Val>, &'static str);

fn exact_rows() -> Vec<Exact> {
    let nan = f64::NAN;
    let v = |x: &[f64]| Val::array(x.to_vec());
    let m = |rows: usize, x: &[f64]| {
        Val::shaped(Array::new(vec![rows, x.len() / rows.max(1)], x.to_vec()))
    };
    let ints = |x: &[i64]| Val::shaped(Array { shape: vec![x.len()], data: Data::I64(x.to_vec()) });
    let bools =
        |x: &[bool]| Val::shaped(Array { shape: vec![x.len()], data: Data::Bool(x.to_vec()) });
    let none = |shape: &[usize]| Val::shaped(Array::new(shape.to_vec(), Vec::new()));
    let six = || m(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    vec![
        ("(%x: [[f64]]) -> f64 { %y = peek %x, 4", vec![six()], "5.0"),
        (
            "(%x: [[f64]]) -> f64 { %y = peek %x, 6",
            vec![six()],
            "index 6 is out of range: `x` has 6 elements",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = poke %x, 3, 9.0",
            vec![six()],
            "[[1.0, 2.0, 3.0], [9.0, 5.0, 6.0]] [2, 3]",
        ),
        (
            "(%x: [f64]) -> [f64] { %y = poke %x, -1, 9.0",
            vec![v(&[1.0])],
            "index -1 is out of range: `x` has 1 element",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = slice %x, 1, 2, -1, 0, 2, 2",
            vec![six()],
            "[[4.0, 6.0], [1.0, 3.0]] [2, 2]",
        ),
        ("(%x: [f64]) -> [f64] { %y = slice %x, 1, 3, 0", vec![v(&[7.0, 8.0])], "[8.0, 8.0, 8.0]"),
        ("(%x: [f64]) -> [f64] { %y = slice %x, 5, 0, 1", vec![v(&[7.0, 8.0])], "[]"),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = slice %x, 0, 2, 1, 1, 3, 1",
            vec![six()],
            "index 3 is out of range: `x` has 3 elements along axis 1",
        ),
        (
            "(%x: [f64], %z: [f64]) -> [f64] { %y = put %x, 3, 2, -2, %z",
            vec![v(&[1.0, 2.0, 3.0, 4.0]), v(&[8.0, 9.0])],
            "[1.0, 9.0, 3.0, 8.0]",
        ),
        (
            "(%x: [f64], %z: [f64]) -> [f64] { %y = put %x, 0, 2, 0, %z",
            vec![v(&[1.0, 2.0]), v(&[8.0, 9.0])],
            "shapes do not fit: a slice with step 0 names one element several times: it cannot be written",
        ),
        (
            "(%x: [f64], %z: [f64]) -> [f64] { %y = put %x, 0, 1, 1, %z",
            vec![v(&[1.0, 2.0]), v(&[8.0, 9.0])],
            "shapes do not fit: a slice of shape (1,) cannot take an array of shape (2,)",
        ),
        (
            "(%x: [f64], %z: [f64]) -> [f64] { %y = add_slice %x, 1, 3, 0, %z",
            vec![v(&[1.0, 2.0]), v(&[0.5, 0.25, 8.0])],
            "[1.0, 10.75]",
        ),
        (
            "(%x: [[f64]]) -> [f64] { %y = reshape %x, 6",
            vec![six()],
            "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]",
        ),
        ("(%x: [f64]) -> [[f64]] { %y = reshape %x, 0, 4", vec![none(&[0])], "[] [0, 4]"),
        (
            "(%x: [f64]) -> [[f64]] { %y = reshape %x, 2, 2",
            vec![v(&[1.0, 2.0])],
            "shapes do not fit: an array of shape (2,) cannot become one of shape (2, 2)",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = transpose[1,0] %x",
            vec![six()],
            "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]] [3, 2]",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = transpose[1,0] %x",
            vec![none(&[0, 3])],
            "[[], [], []] [3, 0]",
        ),
        (
            "(%x: [f64]) -> [[f64]] { %y = expand[1] %x, 2",
            vec![v(&[1.0, 2.0])],
            "[[1.0, 1.0], [2.0, 2.0]] [2, 2]",
        ),
        ("(%x: [f64]) -> [[f64]] { %y = expand[0] %x, 0", vec![v(&[1.0, 2.0])], "[] [0, 2]"),
        (
            "(%x: [f64]) -> [[f64]] { %y = expand[0] %x, -2",
            vec![v(&[1.0])],
            "an array cannot have -2 elements",
        ),
        ("(%x: [[f64]]) -> f64 { %y = sum %x", vec![six()], "21.0"),
        ("(%x: [f64]) -> f64 { %y = sum %x", vec![none(&[0])], "0.0"),
        ("(%x: [[f64]]) -> [f64] { %y = sum[0] %x", vec![six()], "[5.0, 7.0, 9.0]"),
        ("(%x: [[f64]]) -> [f64] { %y = sum[1] %x", vec![six()], "[6.0, 15.0]"),
        ("(%x: [[f64]]) -> [f64] { %y = sum[0] %x", vec![none(&[0, 3])], "[0.0, 0.0, 0.0]"),
        ("(%x: [[f64]]) -> [f64] { %y = sum[1] %x", vec![none(&[0, 3])], "[]"),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = cumsum[0] %x",
            vec![six()],
            "[[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]] [2, 3]",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = cumsum[1] %x",
            vec![six()],
            "[[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]] [2, 3]",
        ),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = cumsum_back[0] %x",
            vec![six()],
            "[[5.0, 7.0, 9.0], [4.0, 5.0, 6.0]] [2, 3]",
        ),
        (
            "(%x: [f64]) -> [f64] { %y = cumsum_back[0] %x",
            vec![v(&[1.0, 2.0, 4.0])],
            "[7.0, 6.0, 4.0]",
        ),
        ("(%x: [f64]) -> [f64] { %y = cumsum[0] %x", vec![none(&[0])], "[]"),
        ("(%x: [[f64]]) -> f64 { %y = dot %x, %x", vec![six()], "91.0"),
        ("(%x: [f64]) -> f64 { %y = dot %x, %x", vec![none(&[0])], "0.0"),
        (
            "(%x: [f64], %z: [f64]) -> f64 { %y = dot %x, %z",
            vec![v(&[1.0]), v(&[1.0, 2.0])],
            "shapes do not fit: `dot` of arrays with shapes (1,) and (2,)",
        ),
        (
            "(%c: [[f64]], %a: [[f64]]) -> [[f64]] { %y = gemm[n,t] %c, %a, %a",
            vec![m(2, &[100.0, 0.0, 0.0, 0.0]), six()],
            "[[114.0, 32.0], [32.0, 77.0]] [2, 2]",
        ),
        (
            "(%c: [[f64]], %a: [[f64]]) -> [[f64]] { %y = gemm[t,n] %c, %a, %a",
            vec![m(3, &[0.0; 9]), six()],
            "[[17.0, 22.0, 27.0], [22.0, 29.0, 36.0], [27.0, 36.0, 45.0]] [3, 3]",
        ),
        (
            "(%c: [[f64]], %a: [[f64]], %b: [[f64]]) -> [[f64]] { %y = gemm %c, %a, %b",
            vec![m(2, &[0.0; 2]), six(), m(3, &[1.0, 0.0, -1.0])],
            "[[-2.0], [-2.0]] [2, 1]",
        ),
        (
            "(%c: [[f64]], %a: [[f64]], %b: [[f64]]) -> [[f64]] { %y = gemm[t,t] %c, %a, %b",
            vec![m(3, &[0.0; 3]), six(), m(1, &[1.0, -1.0])],
            "[[-3.0], [-3.0], [-3.0]] [3, 1]",
        ),
        (
            "(%c: [f64], %a: [[f64]], %b: [f64]) -> [f64] { %y = gemm %c, %a, %b",
            vec![v(&[1.0, 1.0]), six(), v(&[1.0, 1.0, 1.0])],
            "[7.0, 16.0]",
        ),
        (
            "(%c: [f64], %a: [[f64]], %b: [f64]) -> [f64] { %y = gemm[t,n] %c, %a, %b",
            vec![v(&[0.0; 3]), six(), v(&[1.0, -1.0])],
            "[-3.0, -3.0, -3.0]",
        ),
        (
            "(%c: [[f64]], %a: [f64], %b: [f64]) -> [[f64]] { %y = gemm %c, %a, %b",
            vec![m(2, &[0.0; 4]), v(&[2.0, 3.0]), v(&[5.0, 7.0])],
            "[[10.0, 14.0], [15.0, 21.0]] [2, 2]",
        ),
        (
            "(%c: [[f64]], %a: [[f64]], %b: [[f64]]) -> [[f64]] { %y = gemm %c, %a, %b",
            vec![m(1, &[4.0]), none(&[1, 0]), none(&[0, 1])],
            "[[4.0]] [1, 1]",
        ),
        (
            "(%x: [f64], %i: [i64]) -> [f64] { %y = gather %x, %i",
            vec![v(&[1.0, 2.0, 3.0]), ints(&[2, 0, 2])],
            "[3.0, 1.0, 3.0]",
        ),
        (
            "(%x: [[f64]], %i: [i64]) -> [[f64]] { %y = gather %x, %i",
            vec![six(), ints(&[1])],
            "[[4.0, 5.0, 6.0]] [1, 3]",
        ),
        ("(%x: [f64], %i: [i64]) -> [f64] { %y = gather %x, %i", vec![v(&[1.0]), ints(&[])], "[]"),
        (
            "(%x: [f64], %i: [i64]) -> [f64] { %y = gather %x, %i",
            vec![v(&[1.0]), ints(&[0, -1])],
            "index -1 is out of range: `x` has 1 element",
        ),
        (
            "(%x: [f64], %i: [i64], %v: [f64]) -> [f64] { %y = scatter_add %x, %i, %v",
            vec![v(&[1.0, 2.0, 3.0]), ints(&[2, 0, 2, 2]), v(&[10.0, 20.0, 40.0, 80.0])],
            "[21.0, 2.0, 133.0]",
        ),
        (
            "(%x: [[f64]], %i: [i64], %v: [[f64]]) -> [[f64]] { %y = scatter_add %x, %i, %v",
            vec![six(), ints(&[1, 1]), six()],
            "[[1.0, 2.0, 3.0], [9.0, 12.0, 15.0]] [2, 3]",
        ),
        ("(%x: [f64]) -> i64 { %y = argmax %x", vec![v(&[1.0, 3.0, 3.0, 2.0])], "1"),
        ("(%x: [f64]) -> i64 { %y = argmax %x", vec![v(&[1.0, nan, 3.0, nan])], "1"),
        ("(%x: [f64]) -> i64 { %y = argmax %x", vec![v(&[nan, 3.0])], "0"),
        ("(%x: [[f64]]) -> i64 { %y = argmax %x", vec![six()], "5"),
        ("(%x: [i64]) -> i64 { %y = argmax %x", vec![ints(&[i64::MIN, 7, 7])], "1"),
        ("(%x: [bool]) -> i64 { %y = argmax %x", vec![bools(&[false, true, true])], "1"),
        ("(%x: [bool]) -> i64 { %y = argmax %x", vec![bools(&[false, false])], "0"),
        (
            "(%x: [f64]) -> i64 { %y = argmax %x",
            vec![none(&[0])],
            "shapes do not fit: `argmax` of an array without elements",
        ),
        ("(%x: [f64]) -> i64 { %y = argmin %x", vec![v(&[1.0, -3.0, -3.0, 2.0])], "1"),
        ("(%x: [f64]) -> i64 { %y = argmin %x", vec![v(&[1.0, nan, -3.0, nan])], "1"),
        ("(%x: [i64]) -> i64 { %y = argmin %x", vec![ints(&[3, i64::MIN, i64::MIN])], "1"),
        ("(%x: [bool]) -> i64 { %y = argmin %x", vec![bools(&[true, false, false])], "1"),
        (
            "(%x: [[f64]]) -> i64 { %y = argmin %x",
            vec![none(&[2, 0])],
            "shapes do not fit: `argmin` of an array without elements",
        ),
        (
            "(%x: [f64]) -> [i64] { %y = argsort %x",
            vec![v(&[2.0, nan, 1.0, 2.0, nan, f64::INFINITY, 0.0, -0.0])],
            "[6, 7, 2, 0, 3, 5, 1, 4]",
        ),
        ("(%x: [i64]) -> [i64] { %y = argsort %x", vec![ints(&[5, -1, 5, 0])], "[1, 3, 0, 2]"),
        ("(%x: [bool]) -> [i64] { %y = argsort %x", vec![bools(&[true, false, true])], "[1, 0, 2]"),
        ("(%x: [f64]) -> [i64] { %y = argsort %x", vec![none(&[0])], "[]"),
        (
            "(%x: [f64], %y: [f64]) -> [f64] { conform[mul] %x, %y",
            vec![v(&[1.0]), v(&[1.0, 2.0])],
            "shapes do not fit: `mul` of arrays with shapes (1,) and (2,)",
        ),
        ("(%y: [f64]) -> [f64] { conform[mul] %y, %y", vec![v(&[1.0])], "[1.0]"),
        (
            "(%x: [[f64]]) -> [[f64]] { %y = refill %x, 2.5",
            vec![m(2, &[1.0, nan])],
            "[[2.5], [2.5]] [2, 1]",
        ),
        ("(%x: [i64]) -> [i64] { %y = refill %x, 7", vec![ints(&[1, 2])], "[7, 7]"),
    ]
}

#[test]
fn exact_values() {
    let rows = exact_rows();
    for (program, args, want) in &rows {
        let text = format!("func @f{program}\n return %y }}");
        assert_eq!(outcome(&text, args.clone()), *want, "{text}");
    }
    for (_, body, _) in ROWS {
        for line in body.lines() {
            let name = line.rsplit('=').next().unwrap_or(line).trim();
            let name = name.split([' ', '[']).next().unwrap_or(name);
            let there = |row: &Exact| {
                row.0.contains(&format!("{name} ")) || row.0.contains(&format!("{name}["))
            };
            let array = ["load", "store", "copy", "fill", "len"].contains(&name)
                || wengert_core::ops::Prim::from_name(name).is_some();
            assert!(array || rows.iter().any(there), "`{name}` has no exact value");
        }
    }
}

/// An axis without elements, beside ones whose sizes no memory holds.
#[test]
fn empty_axes_beside_huge_ones() {
    let big = 1i64 << 32;
    for (shape, body, want) in [
        ([0, big, big], "%y = cumsum[1] %x", [0, big, big]),
        ([0, big, big], "%y = cumsum_back[2] %x", [0, big, big]),
        ([big, big, 0], "%y = cumsum[0] %x", [big, big, 0]),
        ([big, 0, big], "%y = copy %x", [big, 0, big]),
        ([big, 0, big], "%y = transpose[2,0,1] %x", [big, big, 0]),
        ([big, big, 0], "%y = transpose[2,0,1] %x", [0, big, big]),
        ([0, 3, big], "%y = reshape %x, %n, %n, 0", [big, big, 0]),
        ([big, big, 0], "%y = slice %x, 0, %n, 1, 3, 5, 1, 0, 0, 1", [big, 5, 0]),
        ([big, big, 0], "%y = add %x, %x", [big, big, 0]),
        ([big, big, 0], "%y = sin %x", [big, big, 0]),
        ([big, big, 0], "%y = refill %x, 2.0", [big, big, 0]),
        ([big, big, 0], "%y = put %x, 0, %n, 1, 0, %n, 1, 0, 0, 1, %x2", [big, big, 0]),
        ([big, big, 0], "%y = add_slice %x, 0, %n, 1, 0, %n, 1, 0, 0, 1, %x2", [big, big, 0]),
        ([0, big, big], "%i = fill 0, 0\n %y = gather %x, %i", [0, big, big]),
        ([big, big, 0], "%i = fill 2, 7\n %y = gather %x, %i", [2, big, 0]),
        ([0, big, big], "%i = fill 0, 0\n %y = scatter_add %x, %i, %x2", [0, big, big]),
        ([big, big, 0], "%z = sum[2] %x\n %y = expand[0] %z, 0", [0, big, big]),
        ([big, big, 0], "%z = sum[1] %x\n %y = expand[1] %z, %n", [big, big, 0]),
        ([0, big, big], "%z = sum[1] %x\n %y = expand[2] %z, %n", [0, big, big]),
    ] {
        let dims = shape.map(|n| n.to_string()).join(", ");
        let text = format!(
            "func @f(%n: i64) -> (i64, i64, i64, f64, f64) {{
               %x = fill {dims}, 1.0
               %x2 = fill {dims}, 1.0
               {body}
               %a = dim[0] %y
               %b = dim[1] %y
               %c = dim[2] %y
               %s = sum %y
               %d = dot %y, %y
               return %a, %b, %c, %s, %d
             }}"
        );
        let want = if body.contains("sum[2]") {
            // The sums of nothing are as many as the axes before it say: too many.
            format!("there is not enough memory for an array of at least {} bytes", u64::MAX)
        } else {
            format!("{} {} {} 0.0 0.0", want[0], want[1], want[2])
        };
        assert_eq!(outcome(&text, vec![Val::i64(big)]), want, "{text}");
    }
    for (c, a, b) in
        [([big, 0], [big, 0], [0, 0]), ([0, big], [0, 0], [0, big]), ([0, 0], [0, 5], [5, 0])]
    {
        let text = format!(
            "func @f() -> (i64, i64) {{
               %c = fill {}, {}, 1.0
               %a = fill {}, {}, 1.0
               %b = fill {}, {}, 1.0
               %y = gemm %c, %a, %b
               %m = dim[0] %y
               %n = dim[1] %y
               return %m, %n
             }}",
            c[0], c[1], a[0], a[1], b[0], b[1]
        );
        assert_eq!(outcome(&text, Vec::new()), format!("{} {}", c[0], c[1]), "{text}");
    }
}
