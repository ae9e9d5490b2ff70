//! Loops that keep states with fewer digits: exact results, gradients that are as far from the exact ones as is told, more states in the
//! same memory.

use wengert::checkpoint::Shortened;
use wengert::{Args, Array, Backend, Disk, Function, Gradient, Options, Precision, Value};

const BOTH: [Precision; 2] = [Precision::F32, Precision::Bf16];

/// Whole arrays, of any width.
const RIPPLES: &str = "
import numpy as np

def f(u, c, n):
    v = np.zeros(len(u))
    for step in range(n):
        a = np.zeros(len(u))
        a[1:-1] = c * (u[:-2] - 2 * u[1:-1] + u[2:]) - 0.01 * np.sin(u[1:-1])
        v = 0.999 * v + a
        u = u + v
    return np.sum(u * u)
";

/// A matrix and a vector, and an integer beside them.
const MIXED: &str = "
import numpy as np

def f(w, x, n):
    k = 0
    total = 0.0
    for step in range(n):
        x = np.tanh(w @ x + 0.1 * k)
        k = (k + 1) % 7
        total += x[k % len(x)]
    return total / n
";

/// Single precision: nothing is left to be shortened but one number.
const SINGLE: &str = "
import numpy as np

def f(x: np.float32, r: np.float32, n):
    for step in range(n):
        x = r * x * (np.float32(1.0) - x)
    return x
";

/// A loop that ends when it is there.
const UNTIL: &str = "
import numpy as np

def f(x, rate, tol):
    r = x * 1.0
    while np.max(np.abs(r)) > tol:
        r = r - rate * (r + 0.1 * np.sin(r))
    return np.sum(r * r)
";

/// A loop that ends by a comparison, and has two ways to do so.
const NARROW: &str = "
def f(x, y, rate, tol):
    z = 1.0
    while x > tol:
        x = x - rate * x * (1.0 + 0.25 * x)
        y = y - rate * (y - x)
        z = z + rate * y
        if z < 0.0:
            break
    return x * x + y + z
";

/// An assertion about two numbers of a state, which does not hold when each of them is rounded.
const STRICT: &str = "
def f(x, n):
    y = x * x
    for step in range(n):
        assert abs(y - x * x) < 1e-9
        x = 3.5 * x * (1.0 - x)
        y = x * x
    return x
";

fn function(text: &str) -> Function {
    let options = Options { backend: Backend::Jit, ..Options::default() };
    Function::from_source(text, "f").unwrap().with_options(options)
}

fn with(text: &str, memory: u64, precision: Precision) -> Function {
    let memory = Some(memory);
    let options = Options { backend: Backend::Jit, memory, precision, ..Options::default() };
    Function::from_source(text, "f").unwrap().with_options(options)
}

fn numbers(g: &Gradient) -> Vec<f64> {
    let all = g.grad.iter().flat_map(|(_, d)| match d {
        Value::Array(x) => x.to_f64().unwrap(),
        other => vec![other.as_f64().unwrap()],
    });
    all.collect()
}

fn apart(now: &Gradient, exact: &Gradient) -> f64 {
    let (now, exact) = (numbers(now), numbers(exact));
    let largest = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    now.iter().zip(&exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
}

/// What is told of the loop; one that is unrolled has another one before it.
fn shortened(g: &Gradient) -> Shortened {
    let done = g.stats.loops.iter().filter_map(|of| Some((of.memory, of.done?)));
    let told = done.inspect(|(memory, done)| assert!(done.peak_bytes <= *memory, "{done:?}"));
    let mut told: Vec<Shortened> = told.filter_map(|(_, done)| done.shortened).collect();
    told.pop().unwrap()
}

fn row(width: usize) -> Value {
    let x: Vec<f64> = (0..width).map(|k| ((k * k + 1) % 13) as f64 / 20.0 + 0.05).collect();
    x.into()
}

#[test]
fn arrays_of_any_width() {
    let f = function(RIPPLES);
    for (width, n) in [(5, 600), (33, 800), (101, 500)] {
        let args = || -> Args { [row(width), 0.1.into(), Value::Int(n)].into_iter().collect() };
        let exact = f.value_and_grad(args(), ["u", "c"]).unwrap();
        let state = 16 * width as u64 + 16;
        for (precision, states) in BOTH.into_iter().flat_map(|p| [12, 40].map(|s| (p, s))) {
            let g = with(RIPPLES, states * state, precision)
                .value_and_grad(args(), ["u", "c"])
                .unwrap();
            assert_eq!(g.value.to_bits(), exact.value.to_bits());
            let (of, truth) = (shortened(&g), apart(&g, &exact));
            let told = of.effect.unwrap();
            println!("{width} {precision} {states}: {truth:.1e}, told {told:.1e}, {of:?}");
            assert!(of.states > 0 && of.too_large == 0, "{of:?}");
            let bound = if precision == Precision::F32 { 1e-6 } else { 0.1 };
            assert!(truth < 10.0 * told && told < bound, "{truth} {told}");
            assert!(truth < bound && of.rounding > 0.0 && of.rounding <= bound, "{truth} {of:?}");
        }
    }
}

#[test]
fn fewer_iterations_are_run_again() {
    let args = || -> Args { [row(1001), 0.1.into(), Value::Int(2000)].into_iter().collect() };
    let again = [Precision::Exact, Precision::F32, Precision::Bf16].map(|precision| {
        let g = with(RIPPLES, 40 * 16_100, precision).value_and_grad(args(), ["u"]).unwrap();
        g.stats.run_again
    });
    println!("{again:?} of 2000 run again");
    assert!(again[1] < again[0] && again[2] < again[1], "{again:?}");
}

/// Integers in a state stay, and matrices that are only read have gradients that are sums.
#[test]
fn integers_and_matrices() {
    let f = function(MIXED);
    let w: Vec<f64> = (0..49).map(|k| ((k * 5) % 11) as f64 / 20.0 - 0.2).collect();
    let w = Value::Array(Array::new([7, 7], w).unwrap());
    let args = || -> Args { [w.clone(), row(7), Value::Int(900)].into_iter().collect() };
    let exact = f.value_and_grad(args(), ["w", "x"]).unwrap();
    for precision in BOTH {
        let g = with(MIXED, 4_000, precision).value_and_grad(args(), ["w", "x"]).unwrap();
        assert_eq!(g.value.to_bits(), exact.value.to_bits());
        let (of, truth) = (shortened(&g), apart(&g, &exact));
        let told = of.effect.unwrap();
        println!("{precision}: {truth:.1e}, told {told:.1e}, {of:?}");
        assert!(of.states > 0 && of.compared > 0 && truth < 30.0 * told, "{of:?}");
    }
}

#[test]
fn single_precision_has_nothing_to_lose() {
    let f = function(SINGLE);
    let args = || (0.3f32, 3.2f32, 500);
    let exact = f.value_and_grad(args(), ["x", "r"]).unwrap();
    for precision in BOTH {
        let g = with(SINGLE, 300, precision).value_and_grad(args(), ["x", "r"]).unwrap();
        assert_eq!(numbers(&g), numbers(&exact));
        let of = shortened(&g);
        assert!(g.stats.run_again > 0 && of.states == 0 && of.effect == Some(0.0), "{of:?}");
    }
}

/// A loop that ends when it is there ends where it did, or it is an error that says so.
#[test]
fn a_loop_that_ends_when_it_is_there() {
    let f = function(UNTIL);
    let (mut fine, mut astray) = (0, 0);
    for k in 0..30 {
        let tol = 1e-3 * (1.0 + 0.01 * f64::from(k));
        let args = || -> Args { [row(9), 0.02.into(), tol.into()].into_iter().collect() };
        let exact = f.value_and_grad(args(), ["x", "rate"]).unwrap();
        for precision in BOTH {
            match with(UNTIL, 1_500, precision).value_and_grad(args(), ["x", "rate"]) {
                Ok(g) => {
                    fine += 1;
                    assert_eq!(g.value.to_bits(), exact.value.to_bits());
                    let of = shortened(&g);
                    let bound = if precision == Precision::F32 { 1e-5 } else { 0.2 };
                    assert!(of.states > 0 && apart(&g, &exact) < bound, "{of:?}");
                }
                Err(e) => {
                    astray += 1;
                    let said = e.to_string();
                    assert_eq!(e.diagnostics()[0].code, "memory-budget", "{said}");
                    assert!(said.contains("went another way before step"), "{said}");
                    assert!(said.contains("keep states with more digits, or exactly"), "{said}");
                }
            }
        }
    }
    println!("{fine} ended where they did, {astray} did not");
    assert!(fine > 10 && astray > 0, "{fine} {astray}");
}

/// A loop that ends by a hair does not end there when it is run from a state with fewer digits, or earlier: that is found out.
#[test]
fn a_loop_that_ends_by_a_hair() {
    let f = function(NARROW);
    let (rate, mut fine, mut astray, mut went_on) = (0.01, 0, 0, 0);
    for k in 0..40 {
        // States are rounded up in some, and down in others.
        let begin = 0.9 + 0.003 * f64::from(k);
        let mut x = begin;
        (0..300 + k).for_each(|_| x -= rate * x * (1.0 + 0.25 * x));
        // It ends there, or at the step behind.
        let tol = if k % 2 == 0 { x * (1.0 + 1e-12) } else { x * (1.0 - 1e-12) };
        let args = || (begin, 0.2, rate, tol);
        let exact = f.value_and_grad(args(), ["x", "y", "rate"]).unwrap();
        for precision in BOTH {
            let short = with(NARROW, 1_000, precision);
            match short.value_and_grad(args(), ["x", "y", "rate"]) {
                Ok(g) => {
                    fine += 1;
                    assert_eq!(g.value.to_bits(), exact.value.to_bits());
                    let bound = if precision == Precision::F32 { 1e-5 } else { 0.2 };
                    assert!(shortened(&g).states > 0 && apart(&g, &exact) < bound);
                }
                Err(e) => {
                    astray += 1;
                    went_on += usize::from(k % 2 == 0);
                    let said = e.to_string();
                    assert!(said.contains("went another way before step"), "{said}");
                }
            }
        }
    }
    println!("{fine} ended where they did, {astray} did not, of which {went_on} went on");
    assert!(fine > 10 && astray > 10 && went_on > 3, "{fine} {astray} {went_on}");
}

/// What fails only because of fewer digits is not said to be the program's fault.
#[test]
fn a_check_that_fails_because_of_fewer_digits() {
    let f = function(STRICT);
    f.value_and_grad((0.3, 800), "x").unwrap();
    with(STRICT, 700, Precision::Exact).value_and_grad((0.3, 800), "x").unwrap();
    let e = with(STRICT, 700, Precision::Bf16).value_and_grad((0.3, 800), "x").unwrap_err();
    let said = e.to_string();
    assert_eq!(e.diagnostics()[0].code, "memory-budget", "{said}");
    assert!(said.contains("kept as bfloat16, the loop failed"), "{said}");
}

/// States in files; a run with other digits does not go on with them.
#[test]
fn in_a_folder() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("digits");
    let _ = std::fs::remove_dir_all(&folder);
    let f = function(RIPPLES);
    let args = || -> Args { [row(33), 0.1.into(), Value::Int(3_000)].into_iter().collect() };
    let exact = f.value_and_grad(args(), ["u", "c"]).unwrap();
    let on = |precision, resume, watch| {
        let disk = Disk { folder: folder.clone(), bytes: 1_000_000, resume, fsync: false };
        let options = Options {
            backend: Backend::Jit,
            memory: Some(8_000),
            disk: Some(disk),
            precision,
            interrupt: watch,
            ..Options::default()
        };
        let f = Function::from_source(RIPPLES, "f").unwrap().with_options(options);
        f.value_and_grad(args(), ["u", "c"])
    };
    for precision in BOTH {
        let g = on(precision, false, None).unwrap();
        assert_eq!(g.value.to_bits(), exact.value.to_bits());
        assert!(apart(&g, &exact) < 0.5 && shortened(&g).states > 0);
        assert!(!folder.join("loop-1").exists());
    }
}

/// Of the members of a batch, the worst is told.
#[test]
fn members_of_a_batch() {
    let f = with(RIPPLES, 20_000, Precision::F32);
    let u = Array::new([3, 17], vec![0.3; 51]).unwrap();
    let args: Args = [Value::Array(u), 0.1.into(), Value::Int(700)].into_iter().collect();
    let g = f.batch(["u"]).value_and_grad(args, ["u", "c"]).unwrap();
    let [of] = &g.stats.loops[..] else { panic!("{:?}", g.stats) };
    assert!(of.effect().is_some_and(|effect| effect > 0.0 && effect < 1e-4), "{of:?}");
}
