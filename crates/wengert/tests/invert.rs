//! Gradients of loops that are taken back: near to those that keep everything, in memory that does not grow.

use wengert::{
    Args, Backend, Error, Function, Gradient, Invert, LoopReport, Options, TakenBack, Value,
};

const PENDULUM: &str = "
import math

def pendulum(x, v, h, n):
    for i in range(n):
        v -= h * math.sin(x)
        x += h * v
    return x
";

const BODIES: &str = "
import numpy as np

def accelerations(x, y, m):
    ax = np.zeros(len(x))
    ay = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            r = (dx * dx + dy * dy + 0.1) ** 1.5
            ax[i] += m[j] * dx / r
            ay[i] += m[j] * dy / r
    return ax, ay

def bodies(x, y, u, v, m, h, n):
    for step in range(n):
        x += 0.5 * h * u
        y += 0.5 * h * v
        ax, ay = accelerations(x, y, m)
        u += h * ax
        v += h * ay
        x += 0.5 * h * u
        y += 0.5 * h * v
    return np.sum(x * x) + np.sum(u * u)
";

const VERLET: &str = "
import numpy as np

def force(x, k):
    return -k * np.sin(x)

def verlet(x, v, k, h, n):
    a = force(x, k)
    for step in range(n):
        v = v + 0.5 * h * a
        x = x + h * v
        a = force(x, k)
        v = v + 0.5 * h * a
    return np.sum(x * x)
";

const WAVE: &str = "
import numpy as np

def wave(u, c, n):
    old = np.copy(u)
    now = np.copy(u)
    for step in range(n):
        for i in range(1, len(u) - 1):
            old[i] = 2 * now[i] - old[i] + c[i] * (now[i - 1] - 2 * now[i] + now[i + 1])
        old, now = now, old
    return np.sum(now * now)
";

const SLICES: &str = "
import numpy as np

def slices(u, c, h, n):
    v = np.zeros(len(u))
    for step in range(n):
        v[1:-1] += h * c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u += h * v
    return np.sum(u * u)
";

const FOURTH: &str = "
import math
import numpy as np

def fourth(x, v, c, d, h, n):
    for step in range(n):
        for k in range(len(c)):
            x += h * c[k] * v
            v -= h * d[k] * math.sin(x)
    return x * x + v
";

const MOMENTUM: &str = "
def momentum(x, y, h, n):
    u, v = 0.0, 0.0
    for step in range(n):
        gx = 2 * (x - 1) + 0.3 * y
        gy = 4 * y + 0.3 * x
        u = 0.9 * u - h * gx
        v = 0.9 * v - h * gy
        x += u
        y += v
    return x * x + y * y
";

const GENERATOR: &str = "
import math

def generator(x, v, h, n):
    state = 12345
    for step in range(n):
        state = (state + 7919) ^ 46341
        noise = (state % 1000) / 1000 - 0.5
        v += h * (noise - math.tanh(x))
        x += h * v
    return x
";

const SINGLE: &str = "
import numpy as np

def single(x, v, h, n):
    x = x.astype(np.float32)
    v = v.astype(np.float32)
    for step in range(n):
        v -= np.float32(0.125) * np.sin(x)
        x += np.float32(0.125) * v
    return np.sum(x * x) * h
";

fn options(backend: Backend, invert: Option<Invert>) -> Options {
    Options { backend, invert, ..Options::default() }
}

fn gradient(text: &str, args: &Args, options: Options) -> Result<Gradient, Error> {
    Function::last_of(text)
        .unwrap()
        .with_options(options)
        .value_and_grad(args.clone(), wengert::Wrt::All)
}

fn flat(of: &Gradient) -> Vec<f64> {
    let mut all = Vec::new();
    for (_, value) in &of.grad {
        match value {
            Value::Array(x) => all.extend(x.as_f64().unwrap()),
            other => all.extend(other.as_f64()),
        }
    }
    all
}

fn bits(of: &Gradient) -> Vec<u64> {
    flat(of).iter().map(|x| x.to_bits()).collect()
}

fn taken_back(of: &Gradient) -> Vec<TakenBack> {
    of.stats.loops.iter().filter_map(|of: &LoopReport| of.taken_back).collect()
}

fn backends() -> Vec<Backend> {
    let compiler = wengert_runtime::cc::toolchain::Toolchain::get();
    [Backend::Jit].into_iter().chain(compiler.map(|_| Backend::Cc)).collect()
}

/// How exact a gradient is, and what it takes: of so many steps and of ten times as many.
fn check(text: &str, args: impl Fn(i64) -> Args, steps: i64, drift: f64) {
    for backend in backends() {
        let mut peaks = Vec::new();
        for n in [steps, 10 * steps] {
            let args = args(n);
            let exact = gradient(text, &args, options(backend, None)).unwrap();
            let invert = Invert { within: drift, ..Invert::default() };
            let near = gradient(text, &args, options(backend, Some(invert))).unwrap();
            assert_eq!(near.value, exact.value);
            let (near_by, exact_by) = (flat(&near), flat(&exact));
            let most = exact_by.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let back = taken_back(&near);
            assert!(!back.is_empty());
            let drifted = back.iter().fold(0.0, |most: f64, of| most.max(of.done.drift.relative));
            for (x, y) in near_by.iter().zip(&exact_by) {
                // A gradient that grows with the steps feels a drift so much more.
                let allowed = (1e3 * drifted + 1e-13) * most;
                assert!((x - y).abs() <= allowed, "{x}, not {y}: {drifted:e} {most:e}");
            }
            // The first iteration may be left out.
            let unstepped = back.iter().map(|of| of.done.unstepped).sum::<u64>();
            assert!((n as u64 - 1..=n as u64).contains(&unstepped), "{unstepped}");
            peaks.push(back.iter().map(|of| of.done.peak_bytes).max().unwrap());
            println!("{n} steps: {} bytes, drift {drifted:.1e}", peaks[peaks.len() - 1]);
            // With every state stored nothing is approximate.
            let all = Invert { every: Some(1), ..Invert::default() };
            let all = gradient(text, &args, options(backend, Some(all))).unwrap();
            assert_eq!(bits(&all), bits(&exact));
            // In limited memory, with states on the way.
            let limited = Options { memory: Some(64 << 10), ..options(backend, Some(invert)) };
            let limited = gradient(text, &args, limited).unwrap();
            let back = taken_back(&limited);
            assert!(back.iter().all(|of| of.done.peak_bytes <= 64 << 10 && of.done.stored > 2));
        }
        assert_eq!(peaks[0], peaks[1], "memory grows with the number of steps");
    }
}

fn some(n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|k| f(k as f64)).collect()
}

#[test]
fn a_pendulum() {
    check(PENDULUM, |n| (1.0, 0.0, 0.01, n).into(), 10_000, 1e-10);
}

#[test]
fn bodies_that_attract_each_other() {
    let args = |n| -> Args {
        let (x, y) = (some(4, |k| (2.0 * k).cos() + k), some(4, |k| (3.0 * k).sin() - k));
        let (u, v) = (some(4, |k| 0.1 * k), some(4, |k| 0.2 - 0.1 * k));
        (x, y, u, v, some(4, |k| 1.0 + 0.1 * k), 0.01, n).into()
    };
    check(BODIES, args, 100, 1e-9);
}

#[test]
fn an_acceleration_that_is_made_again() {
    check(VERLET, |n| (some(5, f64::sin), some(5, f64::cos), 1.5, 0.05, n).into(), 200, 1e-10);
}

#[test]
fn what_is_not_made_before_the_first_iteration() {
    // Sloppy, but what it says: nothing accelerates the first half step.
    let text = VERLET.replace("a = force(x, k)\n    for", "a = np.zeros(len(x))\n    for");
    check(&text, |n| (some(5, f64::sin), some(5, f64::cos), 1.5, 0.05, n).into(), 200, 1e-10);
    for n in [1, 2, 64, 65] {
        let args: Args = (some(3, f64::sin), some(3, f64::cos), 1.5, 0.05, n).into();
        let exact = gradient(&text, &args, options(Backend::Jit, None)).unwrap();
        let near = gradient(&text, &args, options(Backend::Jit, Some(Invert::default()))).unwrap();
        for (x, y) in flat(&near).iter().zip(flat(&exact)) {
            assert!((x - y).abs() <= 1e-10 * (1.0 + y.abs()), "{x}, not {y}");
        }
    }
}

#[test]
fn a_wave_in_two_arrays_that_change_places() {
    let args = |n| (some(40, |k| (0.3 * k).sin()), some(40, |k| 0.2 + 0.001 * k), n).into();
    check(WAVE, args, 300, 1e-10);
}

#[test]
fn a_wave_by_slices() {
    check(SLICES, |n| (some(40, |k| (0.3 * k).sin()), 0.7, 0.5, n).into(), 300, 1e-10);
}

#[test]
fn a_method_of_fourth_order() {
    let (a, b) = (0.6756035959798289, -0.17560359597982889);
    let (c, d) = (vec![a, b, b, a], vec![2.0 * a, 2.0 * (b - a), 2.0 * a, 0.0]);
    check(FOURTH, move |n| (1.0, 0.1, c.clone(), d.clone(), 0.1, n).into(), 1000, 1e-9);
}

#[test]
fn a_generator_of_integers() {
    check(GENERATOR, |n| (1.0, 0.0, 0.01, n).into(), 1000, 1e-9);
}

#[test]
fn single_precision() {
    let args = |n| (some(6, |k| 0.2 * k), some(6, |k| 0.1 - 0.05 * k), 1.5, n).into();
    check(SINGLE, args, 100, 1e-3);
}

#[test]
fn damping_needs_states_on_the_way() {
    let args: Args = (0.5, 0.5, 0.01, 2000).into();
    for backend in backends() {
        let run = |invert| gradient(MOMENTUM, &args, options(backend, Some(invert)));
        let error = run(Invert::default()).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, "drift", "{error}");
        let text = error.render();
        assert!(
            text.contains("the state before step 0 came out")
                && text.contains("for step in range(n)"),
            "{text}"
        );
        let exact = gradient(MOMENTUM, &args, options(backend, None)).unwrap();
        let often = run(Invert { every: Some(20), within: 1e-12, ..Invert::default() }).unwrap();
        let back = taken_back(&often)[0];
        assert_eq!((back.every, back.done.stored, back.done.unstepped), (20, 101, 2000));
        assert!(back.done.drift.relative > 0.0);
        for (x, y) in flat(&often).iter().zip(flat(&exact)) {
            assert!((x - y).abs() <= 1e-9 * y.abs(), "{x}, not {y}");
        }
        // A bound that nothing keeps to.
        let strict = run(Invert { every: Some(20), within: 0.0, ..Invert::default() }).unwrap_err();
        assert_eq!(strict.diagnostics()[0].code, "drift");
    }
}

const LORENZ: &str = "
def lorenz(x, y, z, h, n):
    for i in range(n):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 2.5 * z
        x = x + h * dx
        y = y + h * dy
        z = z + h * dz
    return x
";

/// The code, the message and the lines it points to.
fn refused(
    text: &str,
    args: impl Into<Args>,
    options: Options,
) -> (&'static str, String, Vec<usize>) {
    let error = gradient(text, &args.into(), options).unwrap_err();
    let told = &error.diagnostics()[0];
    let lines = told.labels.iter().map(|(span, _)| span.line(text)).collect();
    assert!(told.help.is_some());
    (told.code, told.message.clone(), lines)
}

#[test]
fn what_cannot_be_taken_back_says_why() {
    let all = || options(Backend::Jit, Some(Invert::default()));
    let (code, why, lines) = refused(LORENZ, (1.0, 1.0, 1.0, 0.01, 100), all());
    assert_eq!((code, lines), ("not-invertible", vec![7, 3]));
    assert!(
        why.contains("`x` is changed by something that depends on it in more than one place"),
        "{why}"
    );
    let text = "
def f(x, y, n):
    for i in range(n):
        z = x
        x = x + y
        y = z * z
    return x
";
    let (code, why, lines) = refused(text, (1.0, 1.0, 100), all());
    assert_eq!((code, lines[0]), ("not-invertible", 6), "{why}");
    assert!(why.contains("`y` is overwritten by something that does not contain it"), "{why}");
    let text = "
def f(x, n):
    for i in range(n):
        x += 1.5
        if x > 10.0:
            break
    return x
";
    let (code, why, lines) = refused(text, (1.0, 100), all());
    assert_eq!((code, lines[0]), ("not-invertible", 3), "{why}");
    assert!(why.contains("before its last iteration"), "{why}");
}

#[test]
fn one_loop_of_several() {
    let text = "
import math

def f(x, v, h, n):
    for i in range(20):
        x = x - 0.1 * math.sin(x) * x
    for i in range(n):
        v -= h * math.sin(x)
        x += h * v
    return x
";
    let args: Args = (1.0, 0.0, 0.01, 1000).into();
    let at = |line| Some(Invert { line, ..Invert::default() });
    let (_, why, lines) = refused(text, args.clone(), options(Backend::Jit, at(None)));
    assert_eq!(lines, [6, 5], "{why}");
    let one = gradient(text, &args, options(Backend::Jit, at(Some(7)))).unwrap();
    let exact = gradient(text, &args, options(Backend::Jit, None)).unwrap();
    let back = taken_back(&one);
    assert_eq!((back.len(), back[0].done.unstepped), (1, 1000));
    for (x, y) in flat(&one).iter().zip(flat(&exact)) {
        assert!((x - y).abs() <= 1e-9 * y.abs(), "{x}, not {y}");
    }
    let (code, why, _) = refused(text, args, options(Backend::Jit, at(Some(8))));
    assert_eq!(code, "not-invertible");
    assert!(why.contains("no loop to be taken back at line 8"), "{why}");
}

#[test]
fn nothing_is_taken_back_without_being_asked() {
    // Both ways, one after the other, by one function: each has its own program.
    let args: Args = (1.0, 0.0, 0.01, 1000).into();
    let exact = gradient(PENDULUM, &args, Options::default()).unwrap();
    let f = Function::last_of(PENDULUM)
        .unwrap()
        .with_options(options(Backend::Jit, Some(Invert::default())));
    let near = f.value_and_grad(args.clone(), wengert::Wrt::All).unwrap();
    assert!(taken_back(&near)[0].done.drift.relative > 0.0);
    let f = f.with_options(options(Backend::Jit, None));
    let again = f.value_and_grad(args.clone(), wengert::Wrt::All).unwrap();
    assert_eq!(bits(&again), bits(&exact));
    assert!(taken_back(&again).is_empty());
    // No iteration at all, and one.
    for n in [0, 1] {
        let args: Args = (1.0, 0.5, 0.01, n).into();
        let near =
            gradient(PENDULUM, &args, options(Backend::Jit, Some(Invert::default()))).unwrap();
        assert_eq!(bits(&near), bits(&gradient(PENDULUM, &args, Options::default()).unwrap()));
    }
}

#[test]
fn what_does_not_go_together() {
    let args: Args = (1.0, 0.0, 0.01, 1000).into();
    let invert = Some(Invert::default());
    let (code, ..) = refused(PENDULUM, args.clone(), options(Backend::Interp, invert));
    assert_eq!(code, "not-invertible");
    let f = Function::last_of(PENDULUM).unwrap().with_options(options(Backend::Jit, invert));
    let twice = f.hessian(args, ["x"]).unwrap_err();
    assert_eq!(twice.diagnostics()[0].code, "memory-budget");
}
