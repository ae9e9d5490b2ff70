//! Printing a tree gives text of which parsing makes the same tree.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use super::random;
use crate::surface::tree::Module;
use crate::surface::{print, python};

/// The seed of a run, others each time; `WENGERT_SEED` repeats one.
pub(super) fn seed() -> u64 {
    let given = std::env::var("WENGERT_SEED").ok().and_then(|text| text.parse().ok());
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_secs());
    let seed = given.unwrap_or(now);
    println!("WENGERT_SEED={seed}");
    seed
}

/// A tree as text in which no span stands.
fn bare(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut parts = text.split("Span { start: ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('}').map_or(part, |(_, rest)| rest))
}

pub(super) fn round_trip(tree: &Module, origin: &str) {
    let text = print::module(tree);
    let again = python::parse(&text).unwrap_or_else(|e| panic!("{origin}\n---\n{text}\n{e:#?}"));
    assert_eq!(bare(&again), bare(tree), "{origin}\n---\n{text}");
    assert_eq!(print::module(&again), text, "{origin}");
}

/// The programs in the tests and examples of this repository: every string in them that is one.
pub(super) fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("examples"), root.join("crates")];
    let mut programs = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> =
            fs::read_dir(&folder).unwrap().flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            let ext = path.extension().and_then(|e| e.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if ext == Some("py") {
                programs.push(fs::read_to_string(path).unwrap());
            } else if ext == Some("rs") {
                programs.extend(strings(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    programs
}

/// The string literals of Rust text that hold a Python function, read from every quote on.
fn strings(rust: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in rust.match_indices('"') {
        let mut text = String::new();
        let mut chars = rust[at + 1..].chars();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            match if c == '\\' { chars.next() } else { None } {
                Some('n') => text.push('\n'),
                Some('\n') => {
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                }
                Some(other) => text.push(other),
                None => text.push(c),
            }
        }
        if text.contains("def ") && text.contains(':') {
            found.push(text);
        }
    }
    found
}

#[test]
fn programs_survive_printing() {
    let mut count = 0;
    for program in programs() {
        if let Ok(module) = python::parse(&program) {
            count += usize::from(!module.functions.is_empty());
            round_trip(&module, &program);
        }
    }
    assert!(count >= 60, "only {count} programs were found");
}

#[test]
fn random_trees_survive_printing() {
    let seed = seed();
    for k in 0..300 {
        let tree = random::module(seed.wrapping_mul(1000) + k);
        round_trip(&tree, &format!("WENGERT_SEED={seed}, tree {k}"));
    }
}

/// Python text as it is printed.
const PRINTED: &str = r#"import numpy as np
import math
import wengert
import numpy.typing as npt


g = 9.81
table = [1.0, (2, 3), "te\"xt"]


def f(x: np.ndarray, y: npt.NDArray[np.float32], n: int = -3, tol=1e-8):
    a, (b, x[0]) = b, (a, 1)
    x[1:n, ..., None, ::-1] += -a ** 2 * (b - (n - 1)) ** -(b @ x)
    for i, (u, v) in enumerate(zip(x, reversed(range(n))), 1):
        if not u < v <= 3 and (a or b):
            continue
        elif a & 1 == 0:
            break
        else:
            assert u, "u is zero"
    while True:
        x.sort(axis=0)
        np.matmul(a, b)
    def inner(k):
        return k.T[k], g
    h = lambda u, v=2: (u if u else v, inner)
    return math.floor(np.sum(x)) + sum(x), wengert.relu((1).real), h(inner)


def empty():
    """Nothing."""
"#;

#[test]
fn what_is_printed_reads_like_python() {
    let module = python::parse(PRINTED).unwrap();
    let text = print::module(&module);
    assert_eq!(text, PRINTED, "\n{text}");
}

/// A program that takes a library's name for its own.
#[test]
fn names_of_libraries_give_way_to_those_of_the_program() {
    let source = "import numpy as n, math as m\nnp = 1\ndef f(abs, math: m.pi, float: n.float64):\n    \
                  return n.abs(np) + m.floor(math) + n.max(abs)\n";
    let module = python::parse(source).unwrap();
    let text = print::module(&module);
    assert!(text.contains("import numpy as np_\nimport math as math_\n"), "{text}");
    assert!(text.contains("float: np_.float64"), "{text}");
    assert!(text.contains("return np_.abs(np) + math_.floor(math) + np_.amax(abs)"), "{text}");
    round_trip(&module, source);
}
