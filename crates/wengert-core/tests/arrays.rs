//! Array operations: values at small cases, and derivatives in both modes against finite differences.

mod array_rows;

use array_rows::ROWS;
use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type, parse, verify};
use wengert_core::ops::Array;

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
