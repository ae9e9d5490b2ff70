//! Programs, arguments and sizes, as typed on the command line.

use std::io::{self, Read};
use std::str::FromStr;
use wengert::{Arg, Source, Value};

/// `FILE[:FUNCTION]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) file: String,
    pub(crate) function: Option<String>,
}

impl FromStr for Program {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Program, Self::Err> {
        // What follows the last colon is a function only if it can be one: `C:\model.py` is a file.
        Ok(match text.rsplit_once(':') {
            Some((file, function)) if !file.is_empty() && is_identifier(function) => {
                Program { file: file.into(), function: Some(function.into()) }
            }
            _ => Program { file: text.into(), function: None },
        })
    }
}

impl Program {
    pub(crate) fn read(&self) -> io::Result<Source> {
        if self.file == "-" {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            return Ok(Source::new("<stdin>", text));
        }
        Source::read(&self.file)
    }
}

/// `NAME=VALUE`, or a value alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument(pub(crate) Arg);

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> Result<Argument, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (Some(name.trim()), value),
            None => (None, text),
        };
        if let Some(name) = name.filter(|name| !is_identifier(name)) {
            return Err(format!("`{name}` is not a parameter name; write arguments as `a=2.0`"));
        }
        Ok(Argument(Arg { name: name.map(String::from), value: value_of(value.trim())? }))
    }
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

fn value_of(text: &str) -> Result<Value, String> {
    if let Some(list) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let list = list.trim();
        let elements = list.strip_suffix(',').unwrap_or(list);
        if elements.is_empty() {
            return Ok(Value::Array(Vec::new()));
        }
        let numbers = elements.split(',').map(|e| number(e.trim()).and_then(|v| v.as_f64()));
        return match numbers.collect::<Option<Vec<f64>>>() {
            Some(numbers) => Ok(Value::Array(numbers)),
            None => Err(format!("`{text}` is not a list of numbers such as `[1, 2.5, -3e4]`")),
        };
    }
    match text {
        "true" | "True" => Ok(Value::Bool(true)),
        "false" | "False" => Ok(Value::Bool(false)),
        _ => number(text).ok_or_else(|| {
            format!("`{text}` is not a number, `true`, `false`, or a list such as `[1, 2, 3]`")
        }),
    }
}

/// An integer or a float, as Python writes them: `1_000_000`, `1e-3`, `inf`.
fn number(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let between_digits = |k: usize| {
        let digit = |k: Option<usize>| k.and_then(|k| bytes.get(k)).is_some_and(u8::is_ascii_digit);
        digit(k.checked_sub(1)) && digit(k.checked_add(1))
    };
    if !text.match_indices('_').all(|(k, _)| between_digits(k)) {
        return None;
    }
    let digits = text.replace('_', "");
    match digits.parse() {
        Ok(n) => Some(Value::Int(n)),
        Err(_) => digits.parse().ok().map(Value::Float),
    }
}

/// A size: bytes, or a number with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("", 1),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        UNITS
            .iter()
            .find_map(|(unit, factor)| {
                let number = text.strip_suffix(unit)?.trim().replace('_', "");
                number.parse::<u64>().ok()?.checked_mul(*factor).map(Bytes)
            })
            .ok_or_else(|| format!("`{text}` is not a size such as `500000`, `64MiB` or `2GB`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs() {
        let program = |text: &str| {
            let Ok(p) = text.parse::<Program>();
            (p.file, p.function)
        };
        assert_eq!(program("a.py"), ("a.py".into(), None));
        assert_eq!(program("a.py:f"), ("a.py".into(), Some("f".into())));
        assert_eq!(program(r"C:\a.py"), (r"C:\a.py".into(), None));
        assert_eq!(program("-"), ("-".into(), None));
    }

    #[test]
    fn arguments() {
        let value = |text: &str| text.parse::<Argument>().map(|a| a.0.value);
        assert_eq!(value("a=2"), Ok(Value::Int(2)));
        assert_eq!(value("a=-2.5e3"), Ok(Value::Float(-2500.0)));
        assert_eq!(value("n=1_000_000"), Ok(Value::Int(1_000_000)));
        assert_eq!(value("a=inf"), Ok(Value::Float(f64::INFINITY)));
        assert_eq!(value("x=[1, 2.5,]"), Ok(Value::Array(vec![1.0, 2.5])));
        assert_eq!(value("x=[]"), Ok(Value::Array(vec![])));
        assert_eq!(value("on=True"), Ok(Value::Bool(true)));
        assert_eq!(value("3"), Ok(Value::Int(3)));
        assert_eq!("a=2".parse::<Argument>().map(|a| a.0.name), Ok(Some("a".into())));
        for bad in ["a=", "a=two", "x=[1, two]", "x=[1", "2a=3", "x=[[1, 2]]", "a=_1"] {
            assert!(value(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        let bytes = |text: &str| text.parse::<Bytes>().ok().map(|b| b.0);
        assert_eq!(bytes("500000"), Some(500_000));
        assert_eq!(bytes("64MiB"), Some(64 << 20));
        assert_eq!(bytes("2 GB"), Some(2_000_000_000));
        assert_eq!(bytes("lots"), None);
        assert_eq!(bytes("99999999999GiB"), None);
    }
}
