//! A source text with the name it goes by in messages.

use std::io;
use std::path::Path;

/// A program as text, and the name that messages call it by.
///
/// ```
/// use wengert::Source;
///
/// let source = Source::new("square.py", "def square(x):\n    return x * x\n");
/// assert_eq!(source.name(), "square.py");
///
/// let nameless: Source = "def cube(x):\n    return x * x * x\n".into();
/// assert_eq!(nameless.name(), "<source>");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// The text of a file, named by its path.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Source> {
        let path = path.as_ref();
        Ok(Source::new(path.display().to_string(), std::fs::read_to_string(path)?))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<&str> for Source {
    fn from(text: &str) -> Source {
        Source::new("<source>", text)
    }
}

impl From<String> for Source {
    fn from(text: String) -> Source {
        Source::new("<source>", text)
    }
}
