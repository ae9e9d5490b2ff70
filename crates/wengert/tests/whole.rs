//! Jacobians, Hessians and products with Hessians, dense and sparse, against closed forms.

use wengert::{Array, Backend, Function, Mode, Options, Value, Wrt};

const ROSENBROCK: &str = "
def rosenbrock(x, a, b):
    s = 0.0
    for i in range(len(x) - 1):
        s += b * (x[i + 1] - x[i] * x[i]) ** 2 + (a - x[i]) ** 2
    return s
";

/// Two results of different shapes, one of them no float, and a loop that overwrites its array.
const SMOOTH: &str = "
import numpy as np

def smooth(u, k, n: int):
    v = np.copy(u)
    for step in range(n):
        for i in range(1, len(v) - 1):
            v[i] = v[i] + k * (v[i - 1] - 2 * v[i] + v[i + 1])
    return v, n, v[1] * v[1]
";

fn with(text: &str, backend: Backend) -> Function {
    let options = Options { backend, ..Options::default() };
    Function::last_of(text).unwrap().with_options(options)
}

fn close(a: &Value, b: &Value) -> bool {
    let all = |v: &Value| match v {
        Value::Array(x) => x.to_f64().unwrap(),
        other => vec![other.as_f64().unwrap()],
    };
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-11 * a.abs().max(1.0);
    a.shape() == b.shape() && all(a).iter().zip(&all(b)).all(near)
}

/// The Hessian of the Rosenbrock function by `x`.
fn rosenbrock_hessian(x: &[f64], b: f64) -> Vec<Vec<f64>> {
    let n = x.len();
    let mut h = vec![vec![0.0; n]; n];
    for i in 0..n - 1 {
        h[i][i] += b * (12.0 * x[i] * x[i] - 4.0 * x[i + 1]) + 2.0;
        h[i + 1][i + 1] += 2.0 * b;
        h[i][i + 1] = -4.0 * b * x[i];
        h[i + 1][i] = -4.0 * b * x[i];
    }
    h
}

#[test]
fn hessians() {
    let x = vec![0.3, -1.2, 0.7, 2.0];
    let (a, b) = (1.5, 10.0);
    let expected = rosenbrock_hessian(&x, b);
    for backend in [Backend::Interp, Backend::Jit] {
        let f = with(ROSENBROCK, backend);
        let h = f.hessian((&x, a, b), Wrt::All).unwrap();
        assert!(close(h.get("x", "x").unwrap(), &expected.clone().try_into().unwrap()));
        assert!(close(h.get("a", "a").unwrap(), &6.0.into()));
        assert!(close(h.get("a", "x").unwrap(), &[-2.0, -2.0, -2.0, 0.0].into()));
        assert_eq!(h.get("a", "x"), h.get("x", "a"));
        assert_eq!(h.get("b", "b"), Some(&0.0.into()));
        let grad = f.value_and_grad((&x, a, b), Wrt::All).unwrap();
        assert!((h.value - grad.value).abs() < 1e-12 && close(&h.grad[0].1, &grad.grad[0].1));

        let sparse = f.sparse_hessian((&x, a, b), "x").unwrap();
        assert_eq!((sparse.matrix.len(), sparse.runs), (10, 3));
        let dense = Value::from(sparse.matrix.to_dense());
        assert!(close(&dense, &expected.clone().try_into().unwrap()), "{dense}");

        let v = [1.0, 0.5, -2.0, 3.0];
        let product: Vec<f64> =
            expected.iter().map(|row| row.iter().zip(&v).map(|(h, v)| h * v).sum()).collect();
        let h = f.hvp((&x, a, b), [("x", v)], ["x", "a"]).unwrap();
        assert!(close(h.get("x").unwrap(), &product.into()), "{:?}", h.product);
        assert!(close(h.get("a").unwrap(), &(-2.0 * (1.0 + 0.5 - 2.0)).into()));
        assert!(close(&h.grad[1].1, grad.get("a").unwrap()));
    }
}

#[test]
fn jacobians_of_several_results() {
    let u = vec![1.0, -0.5, 2.0, 0.25, 3.0];
    let mut seen: Vec<[Value; 3]> = Vec::new();
    for backend in [Backend::Interp, Backend::Jit] {
        let f = with(SMOOTH, backend);
        let args = (&u, 0.2, 3);
        for mode in [Mode::Forward, Mode::Reverse] {
            let j = f.jacobian_in(mode, args, ["k", "u"]).unwrap();
            assert_eq!((j.mode, j.blocks.len(), j.values.len()), (mode, 4, 3));
            assert_eq!(j.get(1, "u"), None, "an integer has no derivative");
            assert_eq!(j.get(0, "u").unwrap().shape(), [5, 5]);
            assert_eq!(j.get(0, "k").unwrap().shape(), [5]);
            assert_eq!(j.get(2, "u").unwrap().shape(), [5]);
            // d(v1^2)/du = 2 v1 dv1/du.
            let v1 = j.values[0].as_slice().unwrap()[1];
            let row = &j.get(0, "u").unwrap().as_slice().unwrap()[5..10];
            let chain: Vec<f64> = row.iter().map(|d| 2.0 * v1 * d).collect();
            assert!(close(j.get(2, "u").unwrap(), &chain.into()));
            // The ends never change.
            assert_eq!(j.get(0, "u").unwrap().as_array().unwrap().get([0, 0]), Some(1.0));
            assert_eq!(j.get(0, "k").unwrap().as_array().unwrap().get([4]), Some(0.0));
            seen.push([(0, "u"), (0, "k"), (2, "k")].map(|(r, p)| j.get(r, p).unwrap().clone()));
        }
        // Six numbers out, six in: forward. By one of them: forward as well.
        assert_eq!(f.jacobian(args, ["k", "u"]).unwrap().mode, Mode::Forward);

        let sparse = f.sparse_jacobian((&u, 0.2, 1), "u").unwrap();
        assert_eq!(sparse.matrix.shape(), (6, 5));
        let dense = f.jacobian((&u, 0.2, 1), "u").unwrap();
        let rows: Vec<f64> = [0, 2]
            .iter()
            .flat_map(|r| dense.get(*r, "u").unwrap().as_slice().unwrap().to_vec())
            .collect();
        let dense = Value::from(Array::new([6, 5], rows).unwrap());
        assert!(close(&sparse.matrix.to_dense().into(), &dense));
        assert_eq!(sparse.values.len(), 3);
    }
    for other in &seen[1..] {
        assert!(seen[0].iter().zip(other).all(|(a, b)| close(a, b)));
    }
}

#[test]
fn a_gradient_in_one_run_whatever_the_size() {
    let f = with(ROSENBROCK, Backend::Jit);
    let j = f.jacobian((vec![0.5; 40], 1.0, 2.0), "x").unwrap();
    assert_eq!(j.mode, Mode::Reverse);
    let g = f.value_and_grad((vec![0.5; 40], 1.0, 2.0), "x").unwrap();
    assert_eq!(j.get(0, "x"), g.get("x"));
}

#[test]
fn later_calls_only_run() {
    let f = with(ROSENBROCK, Backend::Jit);
    let x = vec![0.3, -1.2, 0.7];
    let first = f.hessian((&x, 1.0, 2.0), "x").unwrap();
    let second = f.hessian((&x, 1.0, 2.0), "x").unwrap();
    assert_eq!(first.blocks, second.blocks);
    assert!(second.stats.compile_seconds < 0.5 * first.stats.compile_seconds, "{second:?}");
}

#[test]
fn what_has_no_hessian_or_fits_no_parameter_is_refused() {
    let f = with(SMOOTH, Backend::Interp);
    let error = f.hessian((vec![1.0; 3], 0.1, 1), "u").unwrap_err();
    assert!(error.to_string().contains("a gradient is of one float"), "{error}");
    let f = with(ROSENBROCK, Backend::Interp);
    let args = || (vec![1.0, 2.0], 1.0, 2.0);
    let error = f.hvp(args(), [("x", [1.0, 2.0, 3.0])], "x").unwrap_err();
    assert!(error.to_string().ends_with("`x` has 2 elements, but its tangent has 3"), "{error}");
    let error = f.hvp(args(), [("x", 1.0)], "x").unwrap_err();
    assert!(error.render().contains("give a list, as in `x=[1, 2, 3]`"), "{error:?}");
    let error = f.jacobian(args(), "y").unwrap_err();
    assert!(error.to_string().contains("has no parameter `y`"), "{error}");
}

#[test]
fn arguments_that_cannot_be_what_they_are_declared_to_be() {
    let text = "
import numpy as np

def f(n: int, x: float, on: bool, u: np.ndarray):
    return x
";
    let f = Function::last_of(text).unwrap();
    let good = || [Value::Int(3), 2.0.into(), true.into(), [1.0].into()];
    assert!(f.bind(good()).is_ok());
    for (k, value, message, help) in [
        (0, 2.5.into(), "`n` must be an integer, but a float is given", "`n=3`"),
        (0, 7.0.into(), "`n` must be an integer, but a float is given", "without a point: `n=7`"),
        (1, [1.0].into(), "`x` must be a number, but an array is given", "`x=2.5`"),
        (2, 1.into(), "`on` must be a bool, but an integer is given", "`on=true`"),
        (3, 1.0.into(), "`u` must be an array, but a float is given", "`u=[1, 2, 3]`"),
    ] {
        let mut args: [Value; 4] = good();
        args[k] = value;
        let error = f.bind(args).unwrap_err();
        assert!(error.to_string().ends_with(message), "{error}");
        assert!(error.render().contains(help), "{error:?}");
    }
}

/// A loop that hands nothing on: it is passed by, or never ends.
#[test]
fn a_loop_that_changes_nothing() {
    let text = "def f(x):\n    while x < 1:\n        y = 2 * x\n    return x * x\n";
    for backend in [Backend::Interp, Backend::Jit] {
        let grad = with(text, backend).value_and_grad((3.0,), Wrt::All).unwrap();
        assert_eq!(grad.get("x"), Some(&6.0.into()));
    }
}
