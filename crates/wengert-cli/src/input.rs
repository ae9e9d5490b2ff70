//! Programs, arguments and sizes, as typed on the command line.

use crate::literal::{self, Item};
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;
use wengert::{Arg, Source};

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
        let value = literal::value(value).map_err(|e| match name {
            Some(name) => format!("for `{name}`: {e}"),
            None => e,
        })?;
        Ok(Argument(Arg { name: name.map(String::from), value }))
    }
}

/// A value or nested lists of any lengths: adjoints of several results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seed(pub(crate) Item);

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        if text.trim().starts_with('@') {
            return literal::value(text).map(|value| Seed(Item::from(&value)));
        }
        literal::item(text).map(Seed)
    }
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// A size: bytes, or a number with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        wengert::quantity::bytes(text).map(Bytes)
    }
}

/// A folder and how many bytes may be written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) folder: PathBuf,
    pub(crate) bytes: u64,
}

impl FromStr for Disk {
    type Err = String;

    fn from_str(text: &str) -> Result<Disk, String> {
        let wrong = || format!("`{text}` is not a folder and a size such as `run/:10GiB`");
        let (folder, bytes) = text.rsplit_once(':').ok_or_else(wrong)?;
        if folder.is_empty() {
            return Err(wrong());
        }
        Ok(Disk { folder: folder.into(), bytes: bytes.parse::<Bytes>()?.0 })
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
        let read = |text: &str| text.parse::<Argument>().map(|a| (a.0.name, a.0.value.to_string()));
        assert_eq!(read("a=2"), Ok((Some("a".into()), "2".into())));
        assert_eq!(read("3"), Ok((None, "3".into())));
        assert!(read("2a=3").unwrap_err().contains("write arguments as `a=2.0`"));
        assert!(read("a=two").unwrap_err().starts_with("for `a`: `two` is not a number"));
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
