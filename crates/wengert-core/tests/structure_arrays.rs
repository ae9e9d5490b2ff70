//! Patterns through operations on whole arrays.

mod array_rows;

use array_rows::{ROWS, Row};
use wengert_core::check::{self, Derived, Interpreter, Random};
use wengert_core::fault::FaultKind;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Func, Module, parse, verify};
use wengert_core::ops::shaped::Data;
use wengert_core::ops::{Array, Scalar};
use wengert_core::structure::{
    Choices, Direction, OneStep, Pattern, Plan, Sparsity, colouring, compressed,
};

fn module(text: &str) -> Module {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.labels));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

fn func(text: &str) -> Func {
    module(text).funcs.remove(0)
}

fn derived(text: &str) -> Derived {
    let func = func(text);
    let types = func.param_types();
    let floats = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    Derived::new(func, floats).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Numbers without structure, so that no entry is zero by chance.
fn tensor(random: &mut Random, shape: &[usize]) -> Val {
    if shape.is_empty() {
        return Val::f64(random.float(0.5, 1.5));
    }
    let n = shape.iter().product();
    Val::shaped(Array::new(shape.to_vec(), (0..n).map(|_| random.float(0.5, 1.5)).collect()))
}

fn vector(n: usize) -> Val {
    tensor(&mut Random(n as u64), &[n])
}

/// The pattern by all float parameters, after checking that it is where the Jacobian column by column is
/// not zero, and that compression gives the same entries.
fn pattern(text: &str, args: &[Val]) -> Pattern {
    let derived = derived(text);
    let pattern = Sparsity::of(&derived.func).jacobian(&derived.wrt, args).unwrap();
    let engine = &mut Interpreter::default();
    let dense = compressed::dense_jacobian(&derived, engine, args).unwrap();
    assert_eq!(dense.len(), pattern.rows(), "{text}");
    for (i, row) in dense.iter().enumerate() {
        assert_eq!(row.len(), pattern.cols(), "{text}");
        for (j, x) in row.iter().enumerate() {
            assert_eq!(*x != 0.0, pattern.contains(i, j), "entry {i}, {j} is {x}\n{text}");
        }
    }
    let forward = Direction::Forward(colouring::columns(&pattern));
    let reverse = Direction::Reverse(colouring::rows(&pattern));
    for direction in [forward, reverse] {
        let plan = Plan::with(pattern.clone(), direction);
        let sparse = compressed::jacobian_by(&plan, &derived, engine, args).unwrap();
        for (a, b) in sparse.to_dense().iter().flatten().zip(dense.iter().flatten()) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} for {b}\n{text}");
        }
    }
    pattern
}

/// The pattern of the Hessian of the one result, after checking that it is where moving an input changes
/// the derivative by another.
fn hessian(text: &str, args: &[Val]) -> Pattern {
    let derived = derived(text);
    let pattern = Sparsity::of(&derived.func).hessian(&derived.wrt, args).unwrap();
    let engine = &mut Interpreter::default();
    let mut gradient = |args: &[Val]| {
        let (_, adjoints) = derived.vjp(engine, args, &[Val::f64(1.0)]).unwrap();
        check::floats(&adjoints)
    };
    let here = gradient(args);
    let mut j = 0;
    for k in &derived.wrt {
        let n = check::floats(&args[*k..=*k]).len();
        for at in 0..n {
            let one = (0..n).map(|k| f64::from(u8::from(k == at)));
            let direction = match &args[*k] {
                Val::Array(x) => Val::shaped(x.with_floats(one)),
                _ => Val::f64(1.0),
            };
            let mut moved = args.to_vec();
            moved[*k] = check::shifted(&args[*k], &direction, 1e-6);
            for (i, (a, b)) in here.iter().zip(gradient(&moved)).enumerate() {
                assert_eq!(
                    *a != b,
                    pattern.contains(i, j),
                    "{i}, {j}: {a}, {b}\n{pattern}\n{text}"
                );
            }
            j += 1;
        }
    }
    assert_eq!((pattern.rows(), pattern.cols()), (j, j));
    pattern
}

fn arguments((_, _, shapes): &Row, random: &mut Random) -> Vec<Val> {
    shapes.iter().map(|s| tensor(random, s)).collect()
}

#[test]
fn one_operation_each() {
    let mut random = Random(5);
    for row @ (params, body, _) in ROWS {
        let ty = result(params, body);
        pattern(
            &format!("func @f({params}) -> {ty} {{\n {body}\n return %y\n}}"),
            &arguments(row, &mut random),
        );
    }
}

/// The type of `%y`: found by letting the verifier refuse the others.
fn result(params: &str, body: &str) -> &'static str {
    let types = ["[f64]", "[[f64]]", "[[[f64]]]"];
    let fits = |ty: &&&str| {
        let text = format!("func @f({params}) -> {ty} {{\n {body}\n return %y\n}}");
        parse::module(&text).is_ok_and(|m| verify::module(&m).is_ok())
    };
    types.iter().find(fits).unwrap_or_else(|| panic!("{body}"))
}

#[test]
fn second_derivatives_of_one_operation_each() {
    let mut random = Random(6);
    for row @ (params, body, _) in ROWS {
        if body.contains("demote") {
            continue;
        }
        let args = arguments(row, &mut random);
        // The operation alone, its elements weighted; and squared.
        let weigh = "%w1 = mul %y, 0.7\n %s1 = sum %w1";
        hessian(&format!("func @f({params}) -> f64 {{\n {body}\n {weigh}\n return %s1\n}}"), &args);
        let square = "%s1 = dot %y, %y\n";
        hessian(&format!("func @f({params}) -> f64 {{\n {body}\n {square} return %s1\n}}"), &args);
    }
}

#[test]
fn prefix_sums_are_lower_triangular() {
    let cumsum = "func @f(%x: [f64]) -> [f64] { %y = cumsum[0] %x return %y }";
    let looped = "func @f(%x: [f64]) -> [f64] {
      %n = len %x
      %y, %s = for %i in 0..%n carry (%x1 = %x, %s1 = 0.0) {
        %a = load %x1, %i
        %s2 = add %s1, %a
        %x2 = store %x1, %i, %s2
        yield %x2, %s2
      }
      return %y
    }";
    for text in [cumsum, looped] {
        let p = pattern(text, &[vector(40)]);
        assert_eq!(p, Pattern::banded(40, 39, 0));
        assert_eq!(p.describe(), "lower triangular");
    }
    let back = "func @f(%x: [f64]) -> [f64] { %y = cumsum_back[0] %x return %y }";
    assert_eq!(pattern(back, &[vector(9)]), Pattern::banded(9, 0, 8));
    let large = Sparsity::of(&func(cumsum)).jacobian(&[0], &[vector(3000)]).unwrap();
    assert_eq!(large.count(), 3000 * 3001 / 2);
}

#[test]
fn maps_are_diagonal() {
    let text = "func @f(%x: [[f64]]) -> [[f64]] {
      %a = sin %x
      %b = mul %a, %x
      %c = add %b, 2.0
      return %c
    }";
    let p = pattern(text, &[tensor(&mut Random(1), &[4, 3])]);
    assert_eq!(p, Pattern::diagonal(12));
    assert_eq!(Plan::new(p).runs(), 1);
}

const HEAT: &str = "func @heat(%x: [f64], %steps: i64) -> [f64] {
  %n = len %x
  %m = isub %n, 2
  %end = for %t in 0..%steps carry (%x1 = %x) {
    %l = slice %x1, 0, %m, 1
    %c = slice %x1, 1, %m, 1
    %r = slice %x1, 2, %m, 1
    %lr = add %l, %r
    %d = fma %c, -2.0, %lr
    %e = mul %d, 0.1
    %x2 = add_slice %x1, 1, %m, 1, %e
    yield %x2
  }
  return %end
}";

#[test]
fn heat_steps_by_slices_are_banded() {
    let p = pattern(HEAT, &[vector(20), Val::i64(1)]);
    assert_eq!(p.bandwidth(), (1, 1));
    assert_eq!((p.row(0), p.row(1)), (&[0][..], &[0, 1, 2][..]));
    assert_eq!(Plan::new(p).runs(), 3);
    assert_eq!(pattern(HEAT, &[vector(20), Val::i64(3)]).bandwidth(), (3, 3));
    let large = Sparsity::of(&func(HEAT)).jacobian(&[0], &[vector(10_000), Val::i64(5)]).unwrap();
    assert_eq!((large.bandwidth(), Plan::new(large).runs()), ((5, 5), 11));
    // One step as a function of its own.
    let heat = func(HEAT);
    let step = OneStep::of(&heat, 0).unwrap();
    let at = step.state(&[vector(20), Val::i64(4)], 3).unwrap().unwrap();
    assert_eq!(step.pattern(&at).unwrap().bandwidth(), (1, 1));
    let jacobian = step.jacobian(&mut Interpreter::default(), &at).unwrap();
    assert!((jacobian.get(5, 5) - 0.8).abs() < 1e-15 && (jacobian.get(5, 6) - 0.1).abs() < 1e-15);
}

#[test]
fn products_with_matrices() {
    let text = "func @f(%a: [[f64]], %x: [f64]) -> [f64] {
      %m = len %a
      %z = fill %m, 0.0
      %y = gemm %z, %a, %x
      return %y
    }";
    let mut random = Random(2);
    let args = [tensor(&mut random, &[3, 4]), tensor(&mut random, &[4])];
    let p = pattern(text, &args);
    // By the matrix, one row of it each; by the vector, everything.
    assert_eq!(
        p.to_string(),
        "* * * * . . . . . . . . * * * *\n. . . . * * * * . . . . * * * *\n. . . . . . . . * * * * * * * *"
    );
    let sparsity = func(text);
    assert_eq!(Sparsity::of(&sparsity).jacobian(&[1], &args).unwrap(), Pattern::dense(3, 4));
    // Every element of the matrix meets one element of the vector.
    let h = Sparsity::of(&sparsity).hessian(&[0, 1], &args).unwrap();
    let places = (0..12).flat_map(|k| [(k, 12 + k % 4), (12 + k % 4, k)]);
    assert_eq!(h, Pattern::new(16, 16, places).unwrap());
    // Rows of a product of matrices stay rows.
    let text = "func @f(%x: [[f64]], %w: [[f64]]) -> [[f64]] {
      %z = fill 3, 2, 0.0
      %w1 = stop_gradient %w
      %y = gemm %z, %x, %w1
      %t = tanh %y
      return %t
    }";
    let f = func(text);
    let args = [tensor(&mut random, &[3, 4]), tensor(&mut random, &[4, 2])];
    let p = Sparsity::of(&f).jacobian(&[0], &args).unwrap();
    let rows = (0..6).flat_map(|i| (0..4).map(move |j| (i, i / 2 * 4 + j)));
    assert_eq!(p, Pattern::new(6, 12, rows).unwrap());
    let h = Sparsity::of(&f).hessian(&[0, 1], &args).unwrap();
    let blocks = (0..12).flat_map(|i| (0..4).map(move |j| (i, i / 4 * 4 + j)));
    assert_eq!(h, Pattern::new(20, 20, blocks).unwrap());
}

#[test]
fn moved_elements_are_permutations() {
    let permutation = |text: &str, args: &[Val]| {
        let p = pattern(text, args);
        assert!((0..p.rows()).all(|i| p.row(i).len() == 1));
        (0..p.rows()).map(|i| p.row(i)[0]).collect::<Vec<u32>>()
    };
    let x = tensor(&mut Random(3), &[2, 3]);
    let text = "func @f(%x: [[f64]]) -> [[f64]] { %y = transpose[1,0] %x return %y }";
    assert_eq!(permutation(text, std::slice::from_ref(&x)), [0, 3, 1, 4, 2, 5]);
    let text = "func @f(%x: [[f64]]) -> [[f64]] { %y = slice %x, 1, 2, -1, 2, 2, -2 return %y }";
    assert_eq!(permutation(text, &[x]), [5, 3, 2, 0]);
    let text = "func @f(%x: [f64]) -> [f64] {
      %i = argsort %x
      %y = gather %x, %i
      return %y
    }";
    assert_eq!(permutation(text, &[Val::array(vec![3.0, 1.0, 4.0, 1.5])]), [1, 3, 0, 2]);
}

#[test]
fn a_hessian_from_a_few_products() {
    // 0.5 x' K x + the sum of cubes, with K tridiagonal: the product with its Hessian is known.
    let text = "func @energy(%x: [[f64]], %w: f64) -> f64 {
      %n = dim[1] %x
      %m = isub %n, 1
      %v = reshape %x, %n
      %l = slice %v, 0, %m, 1
      %r = slice %v, 1, %m, 1
      %d = sub %r, %l
      %e = dot %d, %d
      %h = mul %e, 0.5
      %q = mul %v, %v
      %c = dot %q, %v
      %cw = mul %c, %w
      %y = add %h, %cw
      return %y
    }";
    let (f, n) = (func(text), 50);
    let args = [tensor(&mut Random(8), &[1, n]), Val::f64(2.0)];
    let x = check::floats(&args[..1]);
    let mut runs = 0;
    let h = compressed::hessian_with(&Sparsity::of(&f), &[0], &args, |along| {
        runs += 1;
        assert_eq!(along[0].ty(), args[0].ty());
        let v = check::floats(along);
        let product = |i: usize| {
            let below = if i > 0 { v[i] - v[i - 1] } else { 0.0 };
            let above = if i + 1 < n { v[i] - v[i + 1] } else { 0.0 };
            below + above + 12.0 * x[i] * v[i]
        };
        Ok(vec![Val::array((0..n).map(product).collect())])
    });
    let h = h.unwrap();
    assert_eq!((runs, &h.pattern), (3, &Pattern::banded(n, 1, 1)));
    assert_eq!((h.get(7, 7), h.get(7, 8)), (2.0 + 12.0 * x[7], -1.0));
    // The same, forward over reverse.
    let twice = Derived::new(f, vec![0]).unwrap();
    let engine = &mut Interpreter::default();
    let again = compressed::hessian_of(&twice, engine, &args, &[Val::f64(1.0)]).unwrap();
    assert_eq!(again.pattern, h.pattern);
    assert!(again.values.iter().zip(&h.values).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn functions_with_a_rule_may_depend_on_everything() {
    let m = module(
        "func @f(%x: [f64], %z: f64) -> ([f64], f64) {
           %y = call @g(%x): [f64]
           %s = add %z, 1.0
           return %y, %s
         }
         func @g(%x: [f64]) -> [f64] { %y = floor %x return %y }
         func @g_jvp(%x: [f64], %d: [f64]) -> ([f64], [f64]) {
           %y = floor %x
           %e = copy %d
           return %y, %e
         }
         rule @g jvp @g_jvp",
    );
    let sparsity = Sparsity::of(&m.funcs[0]).within(&m);
    let args = [vector(2), Val::f64(1.0)];
    assert_eq!(sparsity.jacobian(&[0, 1], &args).unwrap().to_string(), "* * .\n* * .\n. . *");
    assert_eq!(sparsity.hessian(&[0, 1], &args).unwrap().to_string(), "* * .\n* * .\n. . .");
}

#[test]
fn rows_made_of_straight_pieces() {
    let text = "func @f(%x: [f64], %lo: f64, %hi: f64) -> ([f64], [f64]) {
      %c = clamp %x, %lo, %hi
      %r = relu %x
      return %c, %r
    }";
    let args = [Val::array(vec![-2.0, 0.5, 3.0]), Val::f64(-1.0), Val::f64(1.0)];
    let expected = ". . . * .\n. * . . .\n. . . . *\n. . . . .\n. * . . .\n. . * . .";
    assert_eq!(pattern(text, &args).to_string(), expected);
    assert_eq!(Sparsity::of(&func(text)).hessian(&[0, 1, 2], &args).unwrap().count(), 0);
    let text = "func @f(%a: [f64], %b: [f64]) -> ([f64], [f64]) {
      %c = copysign %a, %b
      %r = rem %a, %b
      return %c, %r
    }";
    let args = [Val::array(vec![7.0, 1.0]), Val::array(vec![3.0, 3.0])];
    assert_eq!(pattern(text, &args).to_string(), "* . . .\n. * . .\n* . * .\n. * . .");
}

#[test]
fn choices_element_by_element() {
    let text = "func @f(%x: [f64], %y: [f64]) -> [f64] { %m = max %x, %y return %m }";
    let args = [Val::array(vec![1.0, 5.0]), Val::array(vec![2.0, 3.0])];
    assert_eq!(pattern(text, &args).to_string(), ". . * .\n. * . .");
    let f = func(text);
    let both = Sparsity::of(&f).reading(Choices::Both).jacobian(&[0, 1], &args).unwrap();
    assert_eq!(both.to_string(), "* . * .\n. * . *");
}

#[test]
fn single_precision_counts_as_float() {
    let text = "func @f(%x: [f32], %s: f32) -> ([f32], f32, f64) {
      %a = exp %x
      %b = mul %a, %s
      %c = sum %x
      %d = promote %s
      return %b, %c, %d
    }";
    let x = vector(2);
    let Val::Array(x) = &x else { unreachable!() };
    let single =
        Array { shape: vec![2], data: Data::F32(x.floats().iter().map(|x| *x as f32).collect()) };
    let args = [Val::shaped(single), Val::Scalar(Scalar::F32(0.5))];
    assert_eq!(pattern(text, &args).to_string(), "* . *\n. * *\n* * .\n. . *");
    let h = Sparsity::of(&func(text)).hessian(&[0, 1], &args).unwrap();
    assert_eq!(h.to_string(), "* . *\n. * *\n* * .");
}

#[test]
fn records_keep_what_arrays_depend_on() {
    let f = func(
        "func @f(%x: [f64], %s: f64) -> ([f64], f64) {
           %t = tape
           %a = mul %x, 2.0
           %t1 = push %t, %a, %s
           %t2, %b, %c = pop %t1 : tape, [f64], f64
           return %b, %c
         }",
    );
    let args = [vector(3), Val::f64(2.0)];
    assert_eq!(Sparsity::of(&f).jacobian(&[0, 1], &args).unwrap(), Pattern::diagonal(4));
}

#[test]
fn faults_are_the_interpreters() {
    for body in [
        "%y = add %x, %z",
        "%i = load %k, 0\n %y = slice %x, %i, 3, 1",
        "%y = put %x, 0, 2, 1, %z",
        "%y = gather %x, %k",
        "%y = scatter_add %x, %k, %z",
        "%y = reshape %x, 2",
        "%v = peek %x, 3\n %y = fill 2, %v",
        "%y = poke %x, -1, 2.0",
        "%y = fill -2, 1.0",
        "%m = fill 2, 2, 0.0\n %v = load %m, 1, 2\n %y = fill 1, %v",
        "%a = fill 2, 2, 0.0\n %y = gemm %x, %a, %z",
        "%e = slice %x, 0, 0, 1\n %i = argmax %e\n %f = itof %i\n %y = fill 1, %f",
        "%d = idiv %k, 0\n %y = gather %x, %d",
    ] {
        let m = module(&format!(
            "func @f(%x: [f64], %z: [f64], %k: [i64]) -> [f64] {{\n {body}\n return %y\n}}"
        ));
        let k = Array { shape: vec![1], data: Data::I64(vec![7]) };
        let args = vec![vector(3), vector(4), Val::shaped(k)];
        let fault = Sparsity::of(&m.funcs[0]).jacobian(&[0, 1], &args).unwrap_err();
        assert!(!matches!(fault.kind, FaultKind::Interrupted));
        assert_eq!(fault, Interp::new(&m).call("f", args).unwrap_err(), "{body}");
    }
}
