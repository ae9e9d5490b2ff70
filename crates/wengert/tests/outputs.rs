//! Loops that fill arrays: what they only write is no part of a state.

use wengert::{Backend, Function, Options, Value};

/// What one iteration hands to the next is a number, or two, beside the arrays.
const ONLY_WRITTEN: &[(&str, &str)] = &[
    (
        "one after the other",
        "
    out = np.zeros(n)
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        out[i] = y * y
    return np.sum(out)",
    ),
    (
        "rows, and what is there already",
        "
    out = np.ones((n, 3))
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        out[i] = np.array([y, y * y, 2.0])
        if y > 1.2:
            out[0, 0] = y
    return np.sum(out) + out[0, 0] * out[n - 1, 1]",
    ),
    (
        "some of them, some twice, until something happens",
        "
    out = np.zeros(n)
    k = 0
    y = x
    while y < 2.9 and k < n:
        y = y + 0.01 * np.sin(y)
        if k % 3 != 1:
            out[k] = y
        else:
            out[k - 1] = y * y
        k += 1
    return np.sum(out * out) * y",
    ),
    (
        "iterations that record more and more",
        "
    out = np.zeros(n)
    y = x
    for i in range(n):
        z = y
        for j in range(i // 50):
            z = z * np.cos(z)
        y = y + 0.01 * np.sin(z)
        out[i] = y
    return np.sum(out * out)",
    ),
    (
        "what is written is changed afterwards",
        "
    out = np.zeros(n)
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        out[i] = y
    total = np.sum(out * out)
    for i in range(n):
        out[i] = 0.5 * i
    return total + np.sum(out) * y",
    ),
];

/// Here an iteration looks at what others have written, or adds to it.
const READ: &[(&str, &str)] = &[
    (
        "the one before",
        "
    out = np.ones(n)
    y = x
    for i in range(1, n):
        y = y + 0.01 * np.sin(y * out[i - 1])
        out[i] = y
    return np.sum(out)",
    ),
    (
        "sums",
        "
    out = np.zeros(n)
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        out[i % 7] += y * y
    return np.sum(out * out)",
    ),
    (
        "two that change places",
        "
    a = np.zeros(n)
    b = np.ones(n)
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        a[i] = y
        a, b = b, a
    return np.sum(a * a) + y * np.sum(b)",
    ),
];

const N: i64 = 700;

fn function(body: &str, options: Options) -> Function {
    let text = format!("import numpy as np\ndef f(x, n: int):{body}\n");
    Function::from_source(text, "f").unwrap_or_else(|e| panic!("{e}")).with_options(options)
}

/// The value and first and second derivatives, and the smallest state of a loop, if that is known.
fn bits(f: &Function) -> Result<(Vec<u64>, Option<u64>), wengert::Error> {
    let g = f.value_and_grad((1.0, N), "x")?;
    let h = f.hvp((1.0, N), [("x", 1.0)], "x")?;
    let numbers = [g.value, h.value].into_iter();
    let derivatives = g.grad.iter().chain(&h.grad).chain(&h.product);
    let derivatives = derivatives.filter_map(|(_, d)| Value::as_f64(d));
    let bits = numbers.chain(derivatives).map(f64::to_bits).collect();
    let states = g.stats.loops.iter().filter_map(|of| of.measured.map(|m| m.state_bytes));
    Ok((bits, states.min()))
}

fn in_little_memory(programs: &[(&str, &str)], smallest: std::ops::RangeInclusive<u64>) {
    for (name, body) in programs {
        for backend in [Backend::Jit, Backend::Cc] {
            let options = Options { backend, ..Options::default() };
            let (wanted, _) = bits(&function(body, options.clone())).unwrap();
            let mut ran = 0;
            for memory in [400, 1_000, 3_000, 8_000, 20_000, 60_000, 1_000_000] {
                let f = function(body, Options { memory: Some(memory), ..options.clone() });
                match bits(&f) {
                    Ok((bits, state)) => {
                        assert_eq!(bits, wanted, "{name} in {memory} bytes");
                        let fits = state.is_none_or(|state| smallest.contains(&state));
                        assert!(fits, "{name}: {state:?} bytes");
                        ran += 1;
                    }
                    Err(e) => assert_eq!(e.diagnostics()[0].code, "memory-budget", "{name}: {e}"),
                }
            }
            assert!(ran >= 2, "{name}: {ran}");
        }
    }
}

#[test]
fn what_is_only_written_is_not_stored() {
    in_little_memory(ONLY_WRITTEN, 8..=40);
}

#[test]
fn what_is_read_is_stored() {
    in_little_memory(READ, 8 * N as u64..=20 * N as u64);
}

/// Arrays of others than doubles, and arrays that came from the caller.
#[test]
fn other_elements() {
    let text = "
import numpy as np
def f(x, out, n: int):
    many = np.zeros(n, dtype=int)
    large = np.zeros(n, dtype=bool)
    y = x
    for i in range(n):
        y = y + 0.01 * np.sin(y)
        out[i] = y
        many[i] = i + 1
        large[i] = y > 2.0
    return y * np.sum(out) + np.sum(many) + np.sum(large)
";
    let given = vec![3.0; N as usize];
    let run = |memory: Option<u64>| {
        let options = Options { backend: Backend::Jit, memory, ..Options::default() };
        let f = Function::from_source(text, "f").unwrap().with_options(options);
        let g = f.value_and_grad((1.0, given.clone(), N), ["x", "out"]).unwrap();
        (g.value.to_bits(), format!("{:?}", g.grad), g.stats)
    };
    let everything = run(None);
    for memory in [1_000, 3_000] {
        let little = run(Some(memory));
        assert_eq!((little.0, &little.1), (everything.0, &everything.1), "{memory}");
        let states = little.2.loops.iter().filter_map(|of| of.measured.map(|m| m.state_bytes));
        assert_eq!(states.max(), Some(8), "{memory}");
        assert!(little.2.run_again > 100);
    }
}
