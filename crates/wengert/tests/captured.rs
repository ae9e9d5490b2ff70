//! What functions read from outside their text; texts put together from parts of files; programs called many times with arguments that lie
//! elsewhere.

use wengert::{Backend, Borrowed, ErrorKind, Function, Options, Source, Value, Wrt};

const TEXT: &str = "
import numpy as np

def weighted(x, i: int):
    return weights[i] * x[i]

def total(x):
    sum = 0.0
    for i in range(len(weights)):
        sum += weighted(x, i) * scale
    return sum
";

/// The same with what is captured written as parameters.
const PLAIN: &str = "
import numpy as np

def weighted(x, i: int, weights):
    return weights[i] * x[i]

def total(x, weights, scale):
    sum = 0.0
    for i in range(len(weights)):
        sum += weighted(x, i, weights) * scale
    return sum
";

fn captured(text: &str, name: &str, names: &[&str]) -> Function {
    Function::from_source(text, name).unwrap().capturing(names.iter().copied()).unwrap()
}

fn bits(values: &[Value]) -> Vec<String> {
    values.iter().map(|v| format!("{v:?}")).collect()
}

#[test]
fn functions_read_what_is_captured_as_if_it_were_passed_to_them() {
    let f = captured(TEXT, "total", &["weights", "scale"]);
    let plain = Function::from_source(PLAIN, "total").unwrap();
    let args = || (vec![1.0, 2.0, 3.0], vec![0.5, 0.25, 4.0], 3.0);
    for backend in [Backend::Jit, Backend::Interp] {
        let options = Options { backend, ..Options::default() };
        let f = f.clone().with_options(options.clone());
        let plain = plain.clone().with_options(options);
        let (a, b) = (f.value_and_grad(args(), Wrt::All), plain.value_and_grad(args(), Wrt::All));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!((a.value, &a.grad), (b.value, &b.grad));
        assert_eq!(a.get("scale"), Some(&13.0.into()));
        assert_eq!(
            f.hessian(args(), "x").unwrap().blocks,
            plain.hessian(args(), "x").unwrap().blocks
        );
    }
    assert!(f.check(args(), Wrt::All, 5).unwrap().passes());
}

#[test]
fn what_is_captured_may_be_overwritten() {
    let text = "
def f(x):
    def put(i: int, y):
        buffer[i] = y
        return y
    for i in range(len(buffer)):
        buffer[i] = buffer[i] * x + put(0, x)
    return buffer[0] + buffer[1]
";
    let f = captured(text, "f", &["buffer"]);
    let buffer = vec![1.0, 2.0];
    // buffer = [x * x + x, ..]: the element is read before `put` writes it; then `put` writes the first one again.
    let python = |x: f64| {
        let mut b = [1.0, 2.0];
        for i in 0..2 {
            let before = b[i] * x;
            b[0] = x;
            b[i] = before + x;
        }
        b[0] + b[1]
    };
    let g = f.value_and_grad((3.0, buffer.clone()), "x").unwrap();
    assert_eq!(g.value, python(3.0));
    let slope = (python(3.0 + 1e-6) - python(3.0 - 1e-6)) / 2e-6;
    assert!((g.get("x").unwrap().as_f64().unwrap() - slope).abs() < 1e-7);
    assert!(f.check((3.0, buffer), Wrt::All, 5).unwrap().passes());
}

#[test]
fn a_name_of_its_own_hides_what_is_captured() {
    let text = "
def inner(k):
    return k + 1.0

def f(x):
    k2 = inner(x)
    return k2 * k
";
    let f = captured(text, "f", &["k"]);
    assert_eq!(f.call([2.0, 10.0]).unwrap().values, [30.0.into()]);
}

#[test]
fn what_cannot_be_captured() {
    let error = Function::from_source(TEXT, "total").unwrap().capturing(["x"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Source);
    assert!(error.to_string().contains("`x` is a parameter, and also a variable from outside"));

    let text = "
def power(x, n: int):
    if n == 0:
        return k
    return x * power(x, n - 1)

def f(x):
    return power(x, 3)
";
    let error = captured(text, "f", &["k"]).call([2.0, 1.0]).unwrap_err();
    let told = "a function that calls itself cannot read `k`, which is from outside";
    assert!(error.to_string().contains(told), "{error}");
    assert!(error.render().contains("pass it as an argument"));
}

#[test]
fn errors_name_the_file_of_each_part() {
    let tools = ("tools.py", 40, "def third(x, i):\n    return x[3 + i]");
    let main = (
        "main.py",
        7,
        "def f(x):\n    total = 0.0\n    for i in range(20):\n        total += third(x, i)\n    return total\n",
    );
    let f = Function::from_source(Source::of_parts([tools, main]), "f").unwrap();
    let error = f.value_and_grad([vec![1.0]], "x").unwrap_err();
    assert_eq!(error.place(), Some(("tools.py", 41, 12)));
    assert_eq!(error.iterations(), [(9, 0)]);
    assert_eq!(
        error.render(),
        "\
error[index-out-of-range]: index 3 is out of range: `x` has 1 element
  --> tools.py:41:12
   |
41 |     return x[3 + i]
   |            ^^^^^^^^ this index
   |
  ::: main.py:9:5
   |
 9 |     for i in range(20):
   |     ------------------- in iteration 0 of this loop
   |
   = help: indices run from 0 to the number of elements less one, or back from -1; check the bounds of the loop"
    );
    let long =
        ("main.py", 7, "def f(x, n):\n    for i in range(n):\n        x = x * 0.5\n    return x\n");
    let f = Function::from_source(Source::of_parts([("a.py", 1, "K = 1\n"), long]), "f").unwrap();
    assert_eq!(f.plan((1.0, 1000), "x").unwrap()[0].line, 8);
}

#[test]
fn specialised_programs_give_the_same_bits() {
    let text = "
import numpy as np

def f(x, m, k, on, n: int):
    y = np.copy(x)
    for i in range(n):
        y = np.tanh(m @ y) * k
    return np.sum(y) if on else np.sum(x)
";
    let f = Function::from_source(text, "f").unwrap();
    let (x, m) = ([0.3, -0.7], [0.5, 1.5, -0.25, 2.0]);
    let args = |on| {
        [
            Borrowed::F64(&[2], &x),
            Borrowed::F64(&[2, 2], &m),
            Borrowed::Int(3),
            Borrowed::Bool(on),
            Borrowed::Int(4),
        ]
    };
    let owned = |on| args(on).iter().map(|a| a.to_value()).collect::<wengert::Args>();
    for backend in [Backend::Jit, Backend::Interp, Backend::Auto] {
        let options = Options { backend, ..Options::default() };
        let value = f.specialised(&args(true), &options).unwrap();
        let gradient = f.specialised_gradient(&args(true), ["x", "k"], &options).unwrap();
        assert_eq!(gradient.by(), [0, 2]);
        for on in [true, false, true] {
            assert!(value.fits(&args(on)));
            let want = f.value_and_grad(owned(on), ["x", "k"]).unwrap();
            let (got, _) = value.run(&args(on), &options).unwrap();
            assert_eq!(bits(&got), bits(&[want.value.into()]));
            let (got, stats) = gradient.run(&args(on), &options).unwrap();
            let all: Vec<Value> = std::iter::once(want.value.into())
                .chain(want.grad.into_iter().map(|(_, d)| d))
                .collect();
            assert_eq!(bits(&got), bits(&all));
            assert!(stats.run_seconds > 0.0);
        }
    }
}

#[test]
fn specialised_programs_refuse_what_does_not_fit() {
    let f = Function::from_source("def f(x, k):\n    return x[k[0]]\n", "f").unwrap();
    let options = Options::default();
    let args = [Borrowed::F64(&[2], &[1.0, 2.0]), Borrowed::F64(&[1], &[1.0])];
    let program = f.specialised(&args, &options).unwrap();
    // Whole numbers pick elements, however they were written.
    assert_eq!(program.run(&args, &options).unwrap().0, [2.0.into()]);
    let other = [args[0], Borrowed::F64(&[1], &[0.5])];
    assert!(!program.fits(&[args[0]]) && !program.fits(&[args[0], Borrowed::Float(1.0)]));
    let longer = [Borrowed::F64(&[3], &[1.0, 2.0, 3.0]), Borrowed::F64(&[1], &[0.0])];
    assert!(program.fits(&longer));
    let error = program.run(&other, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments);
    let beyond = [args[0], Borrowed::F64(&[1], &[5.0])];
    assert_eq!(program.run(&beyond, &options).unwrap_err().kind(), ErrorKind::Run);
    // An axis of one element is another kind: it broadcasts.
    let one = [Borrowed::F64(&[1], &[1.0]), args[1]];
    assert!(!program.fits(&one));
    let wrong = f.specialised_gradient(&args, "k", &options).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Arguments);
}

#[test]
fn clones_share_what_is_compiled() {
    let f = Function::from_source("def f(x):\n    return x * x\n", "f").unwrap();
    let g = f.clone().with_options(Options { max_iterations: 5, ..Options::default() });
    g.value_and_grad([2.0], Wrt::All).unwrap();
    let again = f.value_and_grad([3.0], Wrt::All).unwrap();
    assert!(again.stats.compile_seconds < 1e-3, "{}", again.stats.compile_seconds);
}
