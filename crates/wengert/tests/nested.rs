//! Loops in loops, in less memory than one iteration of the outer one records.

use wengert::{Backend, Function, Gradient, Options, Value};

const LOGISTIC: &str = "
def f(x, r, n, m):
    total = 0.0
    for i in range(n):
        for j in range(m):
            x = r * x * (1 - x)
        total += x * x
    return total
";

const UNTIL: &str = "
from math import sin

def f(x, r, n, m):
    total = 0.0
    for i in range(n):
        y = x + i / n
        k = 0
        while y < 0.999 and k < m:
            y = y + (1 - y) * r * sin(y) / m
            k += 1
        total += y
        if total > 1000:
            break
    return total
";

fn gradient(f: &Function, n: i64, m: i64) -> Result<Gradient, wengert::Error> {
    f.value_and_grad((0.3, 3.7, n, m), ["x", "r"])
}

fn bits(g: &Gradient) -> Vec<u64> {
    let floats = g.grad.iter().map(|(_, d)| Value::as_f64(d).unwrap());
    std::iter::once(g.value).chain(floats).map(f64::to_bits).collect()
}

#[test]
fn in_twenty_kilobytes() {
    for text in [LOGISTIC, UNTIL] {
        for backend in [Backend::Jit, Backend::Auto] {
            let options = Options { backend, ..Options::default() };
            let f = Function::from_source(text, "f").unwrap().with_options(options.clone());
            let everything = gradient(&f, 20, 20_000).unwrap();
            assert!(everything.stats.tape_bytes > 800_000, "{:?}", everything.stats);
            let f = f.with_options(Options { memory: Some(20_000), ..options });
            // The second time it is known what is needed.
            for _ in 0..2 {
                let g = gradient(&f, 20, 20_000).unwrap();
                assert_eq!(bits(&g), bits(&everything));
                let stats = g.stats;
                assert!(stats.tape_bytes <= 20_000 && stats.run_again > 10_000, "{stats:?}");
            }
        }
    }
}

/// Reverse over reverse has no pieces to run again.
#[test]
fn reverse_over_reverse_is_refused() {
    let f = Function::from_source(LOGISTIC, "f").unwrap();
    assert!(f.check_grads((0.3, 3.7, 2_i64, 2_i64), 2).is_ok());
    let f = f.with_options(Options { memory: Some(20_000), ..Options::default() });
    let error = f.check_grads((0.3, 3.7, 2_i64, 2_i64), 2).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "memory-budget");
    assert!(error.to_string().contains("reverse mode of reverse mode"), "{error}");
}

/// There are limits.
#[test]
fn in_nothing() {
    let f = Function::from_source(LOGISTIC, "f").unwrap();
    let f = f.with_options(Options { memory: Some(60), ..Options::default() });
    let error = gradient(&f, 20, 20_000).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "memory-budget");
}
