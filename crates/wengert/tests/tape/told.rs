//! How errors of the tape are looked at: what is wrong, in which line, and the way out.

use wengert::tape::{Error, Outside};

/// The error says all of this, and the line is one of the test.
#[track_caller]
pub(crate) fn says<T>(result: Result<T, Error>, words: &[&str]) {
    let text = match result {
        Ok(_) => panic!("it is not refused"),
        Err(error) => error.to_string(),
    };
    println!("{text}");
    assert!(text.contains("tests/tape/misuse"), "no line: {text}");
    for word in words {
        assert!(text.contains(word), "no `{word}`: {text}");
    }
}

pub(crate) const STALE: [&str; 2] =
    ["after its tape has ended, was cleared or was rewound", "`.value()`"];
pub(crate) const THREAD: [&str; 2] = ["on another thread", "give each its own tape"];
pub(crate) const OTHER: [&str; 2] = ["of another tape", "the tape that it was made on"];
pub(crate) const BUSY: [&str; 2] = ["used while it is swept", "on a tape that they make"];
pub(crate) const CONSTANT: [&str; 2] = ["by a constant", "`tape.var`"];
pub(crate) const COMPUTED: [&str; 2] = ["that was computed", "`tape.var`"];
pub(crate) const LATER: [&str; 2] = ["of the same tape, or of a later one", "use it as it is"];
pub(crate) const CAPTURED: [&str; 2] = ["not among its inputs", "name it among the inputs"];
pub(crate) const AGAIN: [&str; 2] = ["does not compute the same", "keep counters"];
pub(crate) const POSITION: [&str; 2] = ["cannot go back to position", "`tape.position()`"];

/// A function with derivatives of its own.
pub(crate) struct Twice;

impl Outside for Twice {
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        double(x)
    }
    fn vjp(&self, _: &[f64], _: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        double(dy)
    }
    fn jvp(&self, _: &[f64], _: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        double(dx)
    }
}

pub(crate) fn double(x: &[f64]) -> Result<Vec<f64>, Error> {
    Ok(x.iter().map(|x| 2.0 * x).collect())
}
