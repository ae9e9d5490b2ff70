//! Patterns of programs, compressed derivatives, and loops one step at a time.

use wengert_core::check::{self, Derived, Engine, Interpreter};
use wengert_core::fault::FaultKind;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Func, Module, parse, verify};
use wengert_core::structure::{
    Choices, Direction, OneStep, Pattern, Plan, Sparsity, colouring, compressed,
};

fn module(text: &str) -> Module {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    verify::module(&module).unwrap();
    module
}

fn func(text: &str) -> Func {
    module(text).funcs.remove(0)
}

fn floats_of(func: &Func) -> Vec<usize> {
    (0..func.params().len()).filter(|k| func.param_types()[*k].is_float()).collect()
}

/// The pattern by all float parameters, after checking the compressed Jacobian in both directions against
/// the one column by column.
fn pattern(text: &str, args: &[Val]) -> Pattern {
    let func = func(text);
    let derived = Derived::new(func.clone(), floats_of(&func)).unwrap();
    let pattern = Sparsity::of(&func).jacobian(&derived.wrt, args).unwrap();
    let engine = &mut Interpreter::default();
    let dense = compressed::dense_jacobian(&derived, engine, args).unwrap();
    for (i, row) in dense.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            assert!(*x == 0.0 || pattern.contains(i, j), "entry {i}, {j} is {x}\n{pattern}");
        }
    }
    let forward = Direction::Forward(colouring::columns(&pattern));
    let reverse = Direction::Reverse(colouring::rows(&pattern));
    for direction in [forward, reverse] {
        let plan = Plan::with(pattern.clone(), direction);
        let sparse = compressed::jacobian_by(&plan, &derived, engine, args).unwrap();
        let disagreement = plan.disagreement(&sparse, &derived, engine, args, 5).unwrap();
        assert!(disagreement < 1e-12, "{disagreement}");
        for (i, row) in sparse.to_dense().iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                match plan.direction() {
                    Direction::Forward(_) => assert_eq!(x.to_bits(), dense[i][j].to_bits()),
                    Direction::Reverse(_) => {
                        assert!((x - dense[i][j]).abs() <= 1e-12 * (1.0 + x.abs()))
                    }
                }
            }
        }
    }
    pattern
}

fn numbers(n: usize) -> Val {
    Val::array((0..n).map(|k| 1.0 + 0.37 * (k as f64).sin()).collect())
}

const MAP: &str = "func @map(%x: [f64]) -> [f64] {
  %n = len %x
  %y = for %i in 0..%n carry (%x1 = %x) {
    %a = load %x1, %i
    %b = sin %a
    %c = mul %a, %b
    %x2 = store %x1, %i, %c
    yield %x2
  }
  return %y
}";

const PREFIX: &str = "func @prefix(%x: [f64]) -> [f64] {
  %n = len %x
  %y, %s = for %i in 0..%n carry (%x1 = %x, %s1 = 0.0) {
    %a = load %x1, %i
    %s2 = add %s1, %a
    %x2 = store %x1, %i, %s2
    yield %x2, %s2
  }
  return %y
}";

/// `steps` explicit steps of the heat equation.
const HEAT: &str = "func @heat(%x: [f64], %steps: i64) -> [f64] {
  %n = len %x
  %last = isub %n, 1
  %end = for %t in 0..%steps carry (%x1 = %x) {
    %y0 = copy %x1
    %y = for %i in 1..%last carry (%y1 = %y0) {
      %l = isub %i, 1
      %r = iadd %i, 1
      %a = load %x1, %l
      %b = load %x1, %i
      %c = load %x1, %r
      %ac = add %a, %c
      %b2 = mul %b, -2.0
      %d = add %ac, %b2
      %e = mul %d, 0.1
      %f = add %b, %e
      %y2 = store %y1, %i, %f
      yield %y2
    }
    yield %y
  }
  return %end
}";

/// Solves a tridiagonal system with 3 on the diagonal and -1 beside it.
const THOMAS: &str = "func @thomas(%d: [f64]) -> [f64] {
  %n = len %d
  %c0 = fill %n, 0.0
  %d0 = load %d, 0
  %d0s = div %d0, 3.0
  %c1 = store %c0, 0, -0.3333333333333333
  %e0 = store %d, 0, %d0s
  %c, %e = for %i in 1..%n carry (%c2 = %c1, %e1 = %e0) {
    %k = isub %i, 1
    %ck = load %c2, %k
    %ek = load %e1, %k
    %ei = load %e1, %i
    %m = add 3.0, %ck
    %cn = div -1.0, %m
    %c3 = store %c2, %i, %cn
    %s = add %ei, %ek
    %en = div %s, %m
    %e2 = store %e1, %i, %en
    yield %c3, %e2
  }
  %top = isub %n, 1
  %x = for %j in 0..%top carry (%x1 = %e) {
    %t = isub %top, %j
    %i2 = isub %t, 1
    %above = load %x1, %t
    %here = load %x1, %i2
    %cc = load %c, %i2
    %p = mul %cc, %above
    %q = sub %here, %p
    %x2 = store %x1, %i2, %q
    yield %x2
  }
  return %x
}";

#[test]
fn a_map_is_diagonal() {
    let p = pattern(MAP, &[numbers(7)]);
    assert_eq!(p, Pattern::diagonal(7));
    assert_eq!(Plan::new(p).runs(), 1);
}

#[test]
fn a_prefix_sum_is_lower_triangular() {
    let p = pattern(PREFIX, &[numbers(90)]);
    assert_eq!(p, Pattern::banded(90, 89, 0));
    assert_eq!(p.describe(), "lower triangular");
}

#[test]
fn heat_steps_are_banded() {
    let p = pattern(HEAT, &[numbers(20), Val::i64(1)]);
    assert_eq!(p.bandwidth(), (1, 1));
    assert_eq!(p.row(0), [0]);
    assert_eq!(Plan::new(p).runs(), 3);
    assert_eq!(pattern(HEAT, &[numbers(20), Val::i64(3)]).bandwidth(), (3, 3));
    assert_eq!(pattern(HEAT, &[numbers(20), Val::i64(0)]), Pattern::diagonal(20));
}

#[test]
fn an_implicit_step_is_dense() {
    assert_eq!(pattern(THOMAS, &[numbers(30)]).describe(), "dense");
}

#[test]
fn large_problems() {
    let n = 10_000;
    let heat = func(HEAT);
    let args = [numbers(n), Val::i64(2)];
    let p = Sparsity::of(&heat).jacobian(&[0], &args).unwrap();
    assert_eq!((p.bandwidth(), p.rows()), ((2, 2), n));
    assert_eq!(Plan::new(p).runs(), 5);
    let p = Sparsity::of(&func(PREFIX)).jacobian(&[0], &[numbers(2000)]).unwrap();
    assert_eq!(p.count(), 2000 * 2001 / 2);
    let arrow = Pattern::new(n, n, (0..n).flat_map(|i| [(0, i), (i, 0), (i, i)])).unwrap();
    assert_eq!(colouring::star(&arrow).unwrap().colours(), 2);
    assert_eq!(Plan::new(arrow).runs(), n);
}

#[test]
fn hessian_of_a_function_with_a_hub() {
    // x[0] times the sum of the squares of the others: an arrow.
    let f = func(
        "func @hub(%x: [f64]) -> f64 {
           %n = len %x
           %h = load %x, 0
           %s = for %i in 1..%n carry (%s1 = 0.0) {
             %a = load %x, %i
             %s2 = fma %a, %a, %s1
             yield %s2
           }
           %y = mul %h, %s
           return %y
         }",
    );
    let n = 3000;
    let p = Sparsity::of(&f).hessian(&[0], &[numbers(n)]).unwrap();
    let places = (1..n).flat_map(|i| [(0, i), (i, 0), (i, i)]);
    assert_eq!(p, Pattern::new(n, n, places).unwrap());
    assert_eq!(colouring::star(&p).unwrap().colours(), 2);
}

#[test]
fn exits_that_depend_on_data() {
    let text = "func @until(%x: [f64], %limit: f64) -> f64 {
      %n = len %x
      %s = for %i in 0..%n carry (%s1 = 0.0) {
        %a = load %x, %i
        %s2 = fma %a, %a, %s1
        %far = gt %s2, %limit
        exit_if %far {
          %r = sub %s2, %limit
          yield %r
        }
        yield %s2
      }
      return %s
    }";
    let x = || Val::array(vec![1.0; 6]);
    assert_eq!(pattern(text, &[x(), Val::f64(2.5)]).to_string(), "* * * . . . *");
    assert_eq!(pattern(text, &[x(), Val::f64(9.5)]).to_string(), "* * * * * * .");
}

#[test]
fn overwritten_elements_forget() {
    let p = pattern(
        "func @f(%x: [f64], %i: i64) -> [f64] {
           %a = load %x, 0
           %b = load %x, 1
           %x1 = store %x, %i, 4.0
           %c = mul %a, %b
           %x2 = store %x1, 0, %c
           return %x2
         }",
        &[numbers(4), Val::i64(2)],
    );
    assert_eq!(p.to_string(), "* * . .\n. * . .\n. . . .\n. . . *");
}

#[test]
fn branches_and_choices() {
    let branch = "func @f(%x: f64, %y: f64) -> (f64, f64, f64) {
      %c = lt %x, %y
      %a = if %c { %s = sin %x yield %s } else { yield %y }
      %b = select %c, %x, %y
      %m = max %x, %y
      return %a, %b, %m
    }";
    let low = [Val::f64(1.0), Val::f64(2.0)];
    let high = [Val::f64(3.0), Val::f64(2.0)];
    assert_eq!(pattern(branch, &low).to_string(), "* .\n* .\n. *");
    assert_eq!(pattern(branch, &high).to_string(), ". *\n. *\n* .");
    let f = func(branch);
    let both = Sparsity::of(&f).reading(Choices::Both).jacobian(&[0, 1], &low).unwrap();
    assert_eq!(both.to_string(), "* .\n* *\n* *");
    // A plan made on one path is found out on another.
    let derived = Derived::new(f, vec![0, 1]).unwrap();
    let (plan, engine) = (Plan::of(&derived, &low).unwrap(), &mut Interpreter::default());
    let wrong = compressed::jacobian_by(&plan, &derived, engine, &high).unwrap();
    assert!(plan.disagreement(&wrong, &derived, engine, &high, 1).unwrap() > 0.01);
}

#[test]
fn calls_are_followed() {
    let m = module(
        "func @f(%x: f64, %y: f64) -> (f64, f64) {
           %a = call @g(%x): f64
           %b = call @g(%y): f64
           return %a, %b
         }
         func @g(%x: f64) -> f64 { %a = exp %x return %a }",
    );
    let args = [Val::f64(1.0), Val::f64(2.0)];
    let p = Sparsity::of(&m.funcs[0]).within(&m).jacobian(&[0, 1], &args).unwrap();
    assert_eq!(p, Pattern::diagonal(2));
}

#[test]
fn faults_are_the_interpreters() {
    let m = module(
        "func @f(%x: [f64], %n: i64) -> f64 {
           %s = for %i in 0..%n carry (%s1 = 0.0) {
             %a = load %x, %i
             %s2 = add %s1, %a
             yield %s2
           }
           return %s
         }",
    );
    let args = vec![numbers(3), Val::i64(5)];
    let fault = Sparsity::of(&m.funcs[0]).jacobian(&[0], &args).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Index { index: 3, .. }));
    assert_eq!(fault, Interp::new(&m).call("f", args).unwrap_err());
    let m = module("func @f() -> i64 { %k = while %i carry (%a = 0) { yield %a } return %k }");
    let mut sparsity = Sparsity::of(&m.funcs[0]);
    sparsity.max_iterations = 10;
    let fault = sparsity.jacobian(&[], &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::IterationLimit(10));
}

const ROSENBROCK: &str = "func @rosenbrock(%x: [f64]) -> f64 {
  %n = len %x
  %last = isub %n, 1
  %s = for %i in 0..%last carry (%s1 = 0.0) {
    %k = iadd %i, 1
    %a = load %x, %i
    %b = load %x, %k
    %aa = mul %a, %a
    %d = sub %b, %aa
    %dd = mul %d, %d
    %d100 = mul %dd, 100.0
    %e = sub 1.0, %a
    %ee = mul %e, %e
    %t = add %d100, %ee
    %s2 = add %s1, %t
    yield %s2
  }
  return %s
}";

/// The pattern of the gradient program: the Hessian's by another way.
fn gradient_pattern(derived: &Derived, args: &[Val]) -> Pattern {
    let engine = &mut Interpreter::default();
    let results = derived.value(engine, args).unwrap();
    let ones = |v: &Val| match v {
        Val::Array(x) => Val::shaped(x.with_floats((0..x.len()).map(|_| 1.0))),
        _ => Val::f64(1.0),
    };
    let weights = results.iter().filter(|v| v.ty().is_float()).map(ones);
    let all: Vec<Val> = args.iter().cloned().chain(weights).collect();
    let vjp = derived.reverse.func(&format!("{}.vjp", derived.func.name)).unwrap();
    let whole = Sparsity::of(vjp).within(&derived.reverse).jacobian(&derived.wrt, &all).unwrap();
    let values = check::floats(&results).len();
    let places = whole.places().filter(|(i, _)| *i >= values).map(|(i, j)| (i - values, j));
    Pattern::new(whole.rows() - values, whole.cols(), places).unwrap()
}

#[test]
fn hessian_of_the_chained_rosenbrock_function() {
    let derived = Derived::new(func(ROSENBROCK), vec![0]).unwrap();
    let args = [numbers(12)];
    let p = Sparsity::of(&derived.func).hessian(&[0], &args).unwrap();
    assert_eq!(p, Pattern::banded(12, 1, 1));
    assert_eq!(p, gradient_pattern(&derived, &args));
    assert_eq!(colouring::star(&p).unwrap().colours(), 3);
    let large = Sparsity::of(&derived.func).hessian(&[0], &[numbers(10_000)]).unwrap();
    assert_eq!(large, Pattern::banded(10_000, 1, 1));

    // Products with the Hessian, from differences of gradients.
    let engine = &mut Interpreter::default();
    let x = check::floats(&args);
    let mut gradient = |moved: Vec<f64>| {
        let (_, g) = derived.vjp(engine, &[Val::array(moved)], &[Val::f64(1.0)])?;
        Ok::<_, wengert_core::fault::Fault>(check::floats(&g))
    };
    let h = 1e-5;
    let shifted = |v: &[f64], h: f64| x.iter().zip(v).map(|(x, v)| x + h * v).collect();
    let run = |v: &[f64]| {
        let (plus, minus) = (gradient(shifted(v, h))?, gradient(shifted(v, -h))?);
        Ok(plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * h)).collect())
    };
    let sparse = compressed::hessian(&p, &colouring::star(&p).unwrap(), run)
        .unwrap_or_else(|e: wengert_core::fault::Fault| panic!("{e}"));
    for k in 0..11 {
        // d2/dx2 of 100 (x1 - x^2)^2 + (1 - x)^2, and the term before.
        let term = 1200.0 * x[k] * x[k] - 400.0 * x[k + 1] + 2.0;
        let diagonal = term + if k > 0 { 200.0 } else { 0.0 };
        assert!((sparse.get(k, k) - diagonal).abs() < 1e-4, "{k}");
        assert!((sparse.get(k, k + 1) + 400.0 * x[k]).abs() < 1e-4, "{k}");
        assert_eq!(sparse.get(k, k + 1), sparse.get(k + 1, k));
    }
}

#[test]
fn hessians_of_small_functions() {
    let hessian = |text: &str, args: &[Val]| {
        let f = func(text);
        let p = Sparsity::of(&f).hessian(&floats_of(&f), args).unwrap();
        let derived = Derived::new(f.clone(), floats_of(&f)).unwrap();
        assert_eq!(p, gradient_pattern(&derived, args));
        p
    };
    let separable = "func @f(%x: [f64]) -> f64 {
      %n = len %x
      %s = for %i in 0..%n carry (%s1 = 0.0) {
        %a = load %x, %i
        %e = exp %a
        %s2 = add %s1, %e
        yield %s2
      }
      return %s
    }";
    assert_eq!(hessian(separable, &[numbers(9)]), Pattern::diagonal(9));
    let three = [Val::f64(1.0), Val::f64(2.0), Val::f64(3.0)];
    // Linear in x; a product; a quotient.
    let f = "func @f(%x: f64, %y: f64, %z: f64) -> f64 {
      %a = div %x, %y
      %b = add %a, %z
      return %b
    }";
    assert_eq!(hessian(f, &three).to_string(), ". * .\n* * .\n. . .");
    // What is nonlinear but not used does not count, nor what an operation without a derivative hides.
    let f = "func @f(%x: f64, %y: f64, %z: f64) -> f64 {
      %a = mul %x, %y
      %b = floor %a
      %c = mul %b, %z
      %d = mul %c, %z
      %e = abs %x
      %g = add %d, %e
      return %g
    }";
    assert_eq!(hessian(f, &three).to_string(), ". . .\n. . .\n. . *");
    // A nonlinear function of a sum: all pairs.
    let f = "func @f(%x: f64, %y: f64, %z: f64) -> f64 {
      %a = add %x, %y
      %b = add %a, %z
      %c = tanh %b
      return %c
    }";
    assert_eq!(hessian(f, &three).describe(), "dense");
}

#[test]
fn one_step_of_the_heat_equation() {
    let heat = func(HEAT);
    let args = [numbers(20), Val::i64(5)];
    let step = OneStep::of(&heat, 0).unwrap();
    assert_eq!((step.carries, step.captures, step.exits), (1, 1, 0));
    assert_eq!(&*step.func.name, "heat.step");
    let engine = &mut Interpreter::default();
    // The whole loop is the product of its steps.
    let mut product =
        Pattern::diagonal(20).places().fold(vec![vec![0.0; 20]; 20], |mut m, (i, j)| {
            m[i][j] = 1.0;
            m
        });
    for k in 0..5 {
        let at = step.state(&args, k).unwrap().unwrap();
        assert_eq!(step.pattern(&at).unwrap().bandwidth(), (1, 1));
        let jacobian = step.jacobian(engine, &at).unwrap();
        let column = |j: usize| product.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..20).map(|j| jacobian.times(&column(j))).collect();
        product = (0..20).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
    }
    assert!(step.state(&args, 5).unwrap().is_none());
    let derived = Derived::new(heat.clone(), vec![0]).unwrap();
    let whole = compressed::dense_jacobian(&derived, engine, &args).unwrap();
    for (a, b) in product.iter().flatten().zip(whole.iter().flatten()) {
        assert!((a - b).abs() < 1e-14);
    }
}

#[test]
fn one_step_of_a_prefix_sum() {
    let prefix = func(PREFIX);
    let step = OneStep::of(&prefix, 0).unwrap();
    let at = step.state(&[numbers(4)], 2).unwrap().unwrap();
    // Elements 0 to 3 and the sum: element 2 becomes the sum so far plus itself.
    let expected = "* . . . .\n. * . . .\n. . * . *\n. . . * .\n. . * . *";
    assert_eq!(step.pattern(&at).unwrap().to_string(), expected);
}

#[test]
fn one_step_with_exits() {
    let f = func(
        "func @f(%x: f64, %y: f64, %limit: f64) -> (f64, f64) {
           %a, %b = while %i carry (%a1 = %x, %b1 = %y) {
             %far = gt %a1, %limit
             exit_if %far { %z = mul %b1, %b1 yield %z, %b1 }
             %a2 = mul %a1, 2.0
             %many = ige %i, 10
             exit_if %many { yield %a2, 0.0 }
             %b2 = add %b1, %a2
             yield %a2, %b2
           }
           return %a, %b
         }",
    );
    let step = OneStep::of(&f, 0).unwrap();
    assert_eq!((step.carries, step.captures, step.exits), (2, 1, 2));
    let module = Module::of(step.func.clone());
    verify::module(&module).unwrap();
    let engine = &mut Interpreter::default();
    let mut run = |a: f64, i: i64| {
        let at = [Val::f64(a), Val::f64(3.0), Val::f64(100.0), Val::i64(i)];
        let results = engine.call(&module, "f.step", &at).unwrap();
        let picture = step.pattern(&at).unwrap().to_string();
        let jacobian = step.jacobian(engine, &at).unwrap();
        (check::floats(&results), check::bits(&results)[2], picture, jacobian.to_dense())
    };
    let on = (vec![2.0, 5.0], 0, "* .\n* *".into(), vec![vec![2.0, 0.0], vec![2.0, 1.0]]);
    assert_eq!(run(1.0, 3), on);
    let first = (vec![9.0, 3.0], 1, ". *\n. *".into(), vec![vec![0.0, 6.0], vec![0.0, 1.0]]);
    assert_eq!(run(101.0, 3), first);
    let second = (vec![2.0, 0.0], 2, "* .\n. .".into(), vec![vec![2.0, 0.0], vec![0.0, 0.0]]);
    assert_eq!(run(1.0, 10), second);
    let missing = OneStep::of(&f, 1).unwrap_err();
    assert_eq!(missing.code, "no-such-loop");
}
