//! Python text to values and derivatives, by the interpreter.

use std::time::Instant;
use wengert_core::check::{self, Derived, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Elem, Type, verify};
use wengert_core::lower::lower;
use wengert_core::ops::Scalar;
use wengert_core::span::Diagnostic;
use wengert_core::surface::python;
use wengert_core::transform::pipeline;

/// Lowers the last function of a text for these arguments, which are converted to its types.
fn compile(text: &str, args: &[Val]) -> Result<(Derived, Vec<Val>), Vec<Diagnostic>> {
    let module = python::parse(text)?;
    let name = &module.functions.last().unwrap().name.text;
    let kinds: Vec<Type> = args.iter().map(Val::ty).collect();
    let ir = lower(&module, name, &kinds)?;
    verify::module(&ir).unwrap_or_else(|e| panic!("{e}\n{ir}"));
    let func = pipeline::run(&ir, name).map_err(|e| vec![e])?;
    let types = func.param_types();
    let args: Vec<Val> = args
        .iter()
        .zip(&types)
        .map(|(a, ty)| match (a, ty) {
            (Val::Scalar(Scalar::I64(k)), Type::F64) => Val::f64(*k as f64),
            _ => a.clone(),
        })
        .collect();
    let wrt = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    let derived = Derived::new(func, wrt).unwrap_or_else(|e| panic!("{e}\n{ir}"));
    Ok((derived, args))
}

/// The value of a program, after checking its derivatives.
fn run(text: &str, args: &[Val]) -> Vec<f64> {
    let (derived, args) = compile(text, args).unwrap_or_else(|e| panic!("{e:?}"));
    let mut engine = Interpreter::default();
    let report = check::derivatives(&derived, &mut engine, &args, 2, 3).unwrap();
    assert!(report.passes(), "{report}\n{}", derived.func);
    let values = derived.value(&mut engine, &args).unwrap();
    values
        .iter()
        .flat_map(|v| match v {
            Val::Scalar(Scalar::F64(x)) => vec![*x],
            Val::Scalar(Scalar::F32(x)) => vec![f64::from(*x)],
            Val::Scalar(Scalar::I64(x)) => vec![*x as f64],
            Val::Scalar(Scalar::Bool(x)) => vec![f64::from(u8::from(*x))],
            Val::Array(x) => x.floats(),
            Val::Tape(_) => vec![],
        })
        .collect()
}

fn f(x: f64) -> Val {
    Val::f64(x)
}

#[test]
fn newton() {
    let text = "
def newton(a, x0):
    x = x0
    while abs(x * x - a) > 1e-14:
        x = x - (x * x - a) / (2 * x)
    return x
";
    assert_eq!(run(text, &[f(2.0), f(1.0)]), [2f64.sqrt()]);
}

#[test]
fn integers_become_floats_where_carries_join() {
    let text = "
def total(x):
    s = 0
    for i in range(len(x)):
        s = s + x[i]
    return s
";
    assert_eq!(run(text, &[Val::array(vec![1.0, 2.5, 4.0])]), [7.5]);
}

#[test]
fn break_continue_return() {
    let text = "
def f(x, n):
    s = 0.0
    for i in range(n):
        if i == 2:
            continue
        if i == 7:
            s += 100.0
            break
        if s > 1000:
            return -1.0
        s += x * i
    return s
";
    assert_eq!(run(text, &[f(2.0), Val::i64(5)]), [16.0]);
    assert_eq!(run(text, &[f(2.0), Val::i64(50)]), [138.0]);
    assert_eq!(run(text, &[f(2000.0), Val::i64(50)]), [-1.0]);
}

#[test]
fn leaving_from_nested_branches() {
    let text = "
def f(x, n):
    for i in range(n):
        for j in range(n):
            if x * i > 3.0:
                if j == 1:
                    break
                elif j > 5:
                    return x * 100 + j
                x = x + 0.5
            else:
                x = x * 1.5
        if x > 50.0:
            return x
    return x * x
";
    let python = |mut x: f64, n: i64| -> f64 {
        for i in 0..n {
            for j in 0..n {
                if x * i as f64 > 3.0 {
                    if j == 1 {
                        break;
                    } else if j > 5 {
                        return x * 100.0 + j as f64;
                    }
                    x += 0.5;
                } else {
                    x *= 1.5;
                }
            }
            if x > 50.0 {
                return x;
            }
        }
        x * x
    };
    for x in [0.1, 0.5, 1.0, 3.0] {
        for n in [0, 1, 2, 4, 8] {
            assert_eq!(run(text, &[f(x), Val::i64(n)]), [python(x, n)], "x={x} n={n}");
        }
    }
}

#[test]
fn early_return_without_a_loop() {
    let text = "
def f(x):
    if x < 0:
        return 0
    y = x * x
    if y > 4:
        return 4.0
    return y
";
    assert_eq!(run(text, &[f(-1.0)]), [0.0]);
    assert_eq!(run(text, &[f(1.5)]), [2.25]);
    assert_eq!(run(text, &[f(3.0)]), [4.0]);
}

#[test]
fn a_called_function_writes_its_callers_array() {
    let text = "
def fill(a, i, v):
    a[i] = v
    a[0] += v
    return v * 2

def f(x):
    a = [0.0]
    return x

def g(x):
    a = zeros(3)
    b = a
    t = fill(b, 1, x)
    return a[0] + a[1] * t
";
    let text = text.replace("def f(x):\n    a = [0.0]\n    return x\n\n", "");
    let text = format!("from numpy import zeros\n{text}");
    assert_eq!(run(&text, &[f(3.0)]), [3.0 + 3.0 * 6.0]);
}

#[test]
fn swapped_buffers() {
    let text = "
import numpy as np
def heat(u, n):
    v = np.copy(u)
    for t in range(n):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.2 * (u[i - 1] - 2 * u[i] + u[i + 1]) + 0.01 * u[i] ** 3
        u, v = v, u
    s = 0.0
    for i in range(len(u)):
        s += u[i] ** 2
    return s
";
    let u = Val::array((0..8).map(|i| (i as f64).sin()).collect());
    run(text, &[u.clone(), Val::i64(5)]);
    run(text, &[u, Val::i64(0)]);
}

#[test]
fn ranges_and_negative_indices() {
    let text = "
def f(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -2):
        s = s * 2 + x[i]
    for i in range(-1, -3, -1):
        s = s * 3 + x[i]
    for i in range(5, 5):
        s = 0.0
    return s
";
    assert_eq!(
        run(text, &[Val::array(vec![1.0, 2.0, 3.0, 4.0])]),
        [(4.0 * 2.0 + 2.0) * 9.0 + 4.0 * 3.0 + 3.0]
    );
}

#[test]
fn conditions_stop_early() {
    let text = "
def f(x, v):
    i = 0
    while i < len(x) and x[i] < v:
        i = i + 1
    return v * i
";
    let x = Val::array(vec![1.0, 2.0, 3.0]);
    assert_eq!(run(text, &[x.clone(), f(2.5)]), [5.0]);
    assert_eq!(run(text, &[x, f(9.0)]), [27.0]);
}

#[test]
fn constants_tuples_and_conditional_expressions() {
    let text = "
import math
G = 9.81
def split(x):
    return x * G, x + 1 if x > 0 else x - 1
def f(x):
    a, b = split(x)
    a, b = b, a
    c = d = a * math.pi
    return a + 2 * b + c * d, b
";
    let (a, b): (f64, f64) = (2.5 + 1.0, 2.5 * 9.81);
    let c = a * std::f64::consts::PI;
    let got = run(text, &[f(2.5)]);
    assert!((got[0] - (a + 2.0 * b + c * c)).abs() < 1e-12);
    assert_eq!(got[1], b);
}

#[test]
fn powers_and_integer_arithmetic() {
    let text = "
def f(x, n):
    k = (7 * n - 3) // 4 % 5
    y = x ** 3 - x ** -2 + x ** 0.5
    z = 0.0
    for i in range(k):
        z += y
    return z + k
";
    let got = run(text, &[f(1.7), Val::i64(3)]);
    let y = 1.7f64.powi(3) - 1.7f64.powi(-2) + 1.7f64.sqrt();
    assert!((got[0] - (4.0 * y + 4.0)).abs() < 1e-12, "{got:?}");
}

#[test]
fn the_loop_variable_keeps_its_last_value() {
    let text = "
def f(x, n):
    i = 10
    for i in range(n):
        x = x + 1
        if i == 5:
            break
    return x * i
";
    for (n, want) in [(3, 4.5 * 2.0), (0, 15.0), (50, 7.5 * 5.0)] {
        assert_eq!(run(text, &[f(1.5), Val::i64(n)]), [want]);
    }
    let nested = "
def g(x, n):
    i = 0
    for n in range(n):
        for i in range(n):
            x = x + i * x
            i = i * 2
    return x + 100 * n + i
";
    let mut x = 0.5;
    let (mut i, mut last) = (0, 0);
    for n in 0..5 {
        last = n;
        for k in 0..n {
            x += k as f64 * x;
            i = k * 2;
        }
    }
    let want = x + 100.0 * last as f64 + i as f64;
    assert_eq!(run(nested, &[f(0.5), Val::i64(5)]), [want]);
}

#[test]
fn comparisons_stop_at_the_first_that_fails() {
    let text = "
def step(a):
    a[0] = a[0] + 1
    return a[0]
def f(x, i):
    a = x
    y = 0.0
    if 9 < step(a) < step(a):
        y = 100.0
    if 0 <= i < len(x) > a[i]:
        y += 5.0
    return y + a[0]
";
    assert_eq!(run(text, &[Val::array(vec![3.0, 1.0]), Val::i64(7)]), [4.0]);
    assert_eq!(run(text, &[Val::array(vec![30.0, 1.0]), Val::i64(1)]), [100.0 + 5.0 + 32.0]);
}

#[test]
fn calls_for_their_effect_and_by_name() {
    let text = "
def push(a, i, by=2.0, scale=1.0):
    if i < 0:
        return
    a[i] += by * scale
def f(x):
    push(x, 0)
    push(x, by=3.0, i=1)
    push(x, -1, scale=100.0)
    push(x, 1, scale=0.5)
    return x[0] * x[1]
";
    assert_eq!(run(text, &[Val::array(vec![1.0, 1.0])]), [3.0 * 5.0]);
}

#[test]
fn an_index_returned_from_a_loop() {
    let text = "
def find(a, t):
    for i in range(len(a)):
        if a[i] > t:
            return i
    return 0
def f(a, t):
    return a[find(a, t)] * t
";
    assert_eq!(run(text, &[Val::array(vec![1.0, 5.0, 9.0]), f(4.0)]), [20.0]);
}

#[test]
fn integers_with_remainders_stay_integers() {
    let text = "
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a
";
    assert_eq!(run(text, &[Val::i64(9007199254740993), Val::i64(2)]), [1.0]);
}

#[test]
fn extremes_of_what_cannot_be_compared() {
    let text = "
import numpy as np
def f(x, y):
    return max(x, y), min(x, y), np.maximum(x, y), np.minimum(x, y)
";
    let (derived, args) = compile(text, &[f(f64::NAN), f(1.0)]).unwrap();
    let at =
        |args: &[Val]| check::floats(&derived.value(&mut Interpreter::default(), args).unwrap());
    assert!(at(&args).iter().all(|x| x.is_nan()));
    let swapped = at(&[f(1.0), f(f64::NAN)]);
    assert_eq!(swapped[..2], [1.0, 1.0]);
    assert!(swapped[2].is_nan() && swapped[3].is_nan());
}

#[test]
fn a_loop_without_an_end_is_differentiated_and_reported() {
    let text = "
def f(x):
    while True:
        x = x + 1
    return x
";
    let (derived, args) = compile(text, &[f(1.0)]).unwrap();
    let mut engine = Interpreter { max_iterations: 10 };
    let fault = derived.vjp(&mut engine, &args, &[f(1.0)]).unwrap_err();
    assert_eq!(fault.diagnostic().code, "iteration-limit");
}

#[test]
fn deeply_nested_loops_compile_at_once() {
    let mut text = "def f(x):\n    s = 0\n".to_string();
    for depth in 0..40 {
        text += &format!("{}for i{depth} in range(1):\n", "    ".repeat(depth + 1));
    }
    text += &format!("{}s = s + x\n    return s\n", "    ".repeat(41));
    let start = std::time::Instant::now();
    assert_eq!(run(&text, &[f(2.5)]), [2.5]);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn what_has_no_integer_part_is_an_error() {
    let text = "
def f(x):
    return int(x) * 1.0
";
    let (derived, _) = compile(text, &[f(1.0)]).unwrap();
    let value = |x: f64| derived.value(&mut Interpreter::default(), &[f(x)]);
    assert_eq!(check::floats(&value(-2.9).unwrap()), [-2.0]);
    for x in [f64::NAN, f64::INFINITY, 1e19] {
        assert_eq!(value(x).unwrap_err().diagnostic().code, "no-integer");
    }
}

#[test]
fn a_limit_of_ten_iterations_allows_ten() {
    let text = "
def f(x, n):
    while n > 0.5:
        x = x * 1.5
        n = n - 1.0
    return x
";
    let (derived, _) = compile(text, &[f(1.0), f(1.0)]).unwrap();
    let mut engine = Interpreter { max_iterations: 10 };
    for (n, ends) in [(9.0, true), (10.0, true), (12.0, false)] {
        let args = [f(1.0), f(n)];
        assert_eq!(derived.value(&mut engine, &args).is_ok(), ends, "{n} iterations");
        assert_eq!(derived.vjp(&mut engine, &args, &[f(1.0)]).is_ok(), ends, "{n} recorded");
    }
}

/// Forty functions that call each other twice would be written out a million million times.
#[test]
fn calls_that_multiply_are_refused_at_once() {
    let mut text = "def f0(x):\n    return x * x\n".to_string();
    for k in 1..40 {
        let half = k - 1;
        text += &format!("def f{k}(x):\n    y = f{half}(x + 1.0) if x > 0 else f{half}(x)\n");
        text += &format!("    for i in range(2):\n        y = y + f{half}(y)\n    return y\n");
    }
    let start = std::time::Instant::now();
    assert_eq!(error(&text, &[f(1.0)]).0, "too-large");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Long bodies are walked without deep recursion: tests run on small stacks.
#[test]
fn a_body_of_many_statements() {
    let statements = "        h = w * h\n        h = h + b\n".repeat(6000);
    let text = format!("def f(w, b, h, n):\n    for i in range(n):\n{statements}    return h\n");
    let args = [f(0.5), f(0.25), f(0.3), Val::i64(2)];
    let (derived, args) = compile(&text, &args).unwrap();
    let (_, gradient) = derived.vjp(&mut Interpreter::default(), &args, &[f(1.0)]).unwrap();
    // h tends to b / (1 - w).
    let got = check::floats(&gradient);
    for (got, want) in got.iter().zip([1.0, 2.0, 0.0]) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
}

/// The code of the first error of a program, and the text its main label covers.
fn error(text: &str, args: &[Val]) -> (&'static str, String) {
    match compile(text, args) {
        Ok(_) => panic!("no error"),
        Err(errors) => {
            let (span, _) = errors[0].labels.first().copied_label();
            (errors[0].code, text[span.start as usize..span.end as usize].to_string())
        }
    }
}

trait CopiedLabel {
    fn copied_label(self) -> (wengert_core::span::Span, String);
}
impl CopiedLabel for Option<&(wengert_core::span::Span, String)> {
    fn copied_label(self) -> (wengert_core::span::Span, String) {
        self.cloned().unwrap_or_default()
    }
}

#[test]
fn functions_of_numbers() {
    let text = "
import math
import numpy as np
import wengert

def f(x, y):
    a = math.atan2(x, y) + np.arctan(x) * math.erf(y)
    b = np.clip(x, -1, 1) + math.fmod(y, 2) + np.logaddexp(x, y)
    return a + b + wengert.sigmoid(x) + math.lgamma(y)
";
    let (x, y) = (0.4f64, 2.6f64);
    let erf = 0.999_763_965_583_470_7;
    let want = x.atan2(y)
        + x.atan() * erf
        + (x + 0.6 + (x.exp() + y.exp()).ln())
        + 1.0 / (1.0 + (-x).exp())
        + 0.357_411_863_548_979_36;
    let got = run(text, &[f(x), f(y)])[0];
    assert!((got - want).abs() < 1e-12, "{got} {want}");
}

/// Loops nested `depth` deep, in which integers become floats, arrays are bound anew, an inner function writes an
/// array and a name holds things of two kinds.
fn nest(depth: usize) -> String {
    let mut text = String::from("def f(x, v, n):\n    s = 0\n    u = v\n    h = v * 2.0\n");
    text += "    def touch(y):\n        h[0] = y\n        return y\n";
    for d in 0..depth {
        let pad = "    ".repeat(d + 1);
        text += &format!("{pad}c{d} = 0\n{pad}w{d} = v\n{pad}t{d} = 0.0\n");
        text += &format!("{pad}for i{d} in range(n):\n");
    }
    let pad = "    ".repeat(depth + 1);
    text += &format!("{pad}s = s + 0.5\n{pad}c0 = c0 + touch(x)\n");
    for d in (0..depth).rev() {
        let pad = "    ".repeat(d + 2);
        text += &format!("{pad}c{d} = c{d} + s\n{pad}w{d} = w{d} * 0.5\n");
        text += &format!("{pad}t{d} = w{d}\n{pad}u = t{d}\n");
    }
    text + "    return s + c0 + u[0] + h[0]\n"
}

#[test]
fn nested_loops_do_not_multiply_the_work() {
    // As CPython runs it.
    let values = run(&nest(3), &[f(2.0), Val::array(vec![8.0]), Val::i64(2)]);
    assert_eq!(values, [30.0]);
    // Lowered twice for each of the loops around it, the innermost would be lowered 65,536 times.
    let module = python::parse(&nest(16)).unwrap();
    let types = [Type::F64, Type::Array(Elem::F64, 1), Type::I64];
    let start = Instant::now();
    let ir = lower(&module, "f", &types).unwrap();
    let taken = start.elapsed();
    verify::module(&ir).unwrap_or_else(|e| panic!("{e}"));
    assert!(taken.as_secs() < 5, "{taken:?}");
}

/// On one path the names are one array, on the other two: a write to one leaves the other unknown.
#[test]
fn one_array_on_one_path_only() {
    let text = "
import numpy as np

def f(x, v):
    if v > 0:
        a = np.zeros(2)
        b = a
    else:
        a = np.zeros(2)
        b = np.ones(2)
    b[0] = v
    return a[0]
";
    let args = [Val::array(vec![1.0, 2.0]), f(0.5)];
    assert_eq!(error(text, &args), ("ambiguous-alias", "a".into()));
}

/// The array a loop goes over is written in its first iteration, and another one in the second.
#[test]
fn written_and_rebound_in_a_loop() {
    let text = "
def f(x, v):
    s = 0.0
    for e in x:
        s = s * 0.5 + e
        if len(x) < 5:
            x[:] = v
            x = -x
    return s + x[0]
";
    let args = [Val::array(vec![1.0, 2.0]), f(0.5)];
    match compile(text, &args) {
        Err(errors) => assert_eq!(errors[0].code, "ambiguous-alias"),
        Ok(_) => assert_eq!(run(text, &args), [0.5 + 0.5 + 0.5]),
    }
}
