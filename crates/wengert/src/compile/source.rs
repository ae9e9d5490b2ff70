//! A source text with the name it goes by in messages.

use std::io;
use std::ops::Range;
use std::path::Path;
use wengert_core::span::Span;

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
    /// Where parts begin after the first, which begins where the text does. The first line of the text is that of this number
    /// in its file.
    parts: Vec<Part>,
    line: usize,
}

/// A part of a text that stands elsewhere than what is before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    start: usize,
    name: String,
    line: usize,
}

/// The part of a text around a place.
pub(crate) struct Around<'s> {
    /// Where it is in the text.
    pub(crate) range: Range<usize>,
    /// The name of its file.
    pub(crate) name: &'s str,
    /// The line of that file with which it begins, counted from 1.
    pub(crate) line: usize,
}

impl Source {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), parts: Vec::new(), line: 1 }
    }

    /// A text put together from parts of files: each with the name of its file, the line of the file it begins with, counted
    /// from 1, and the text itself. Messages name those files and lines.
    ///
    /// ```
    /// use wengert::{Function, Source};
    ///
    /// let half = ("tools.py", 30, "def half(x):\n    return x / two\n");
    /// let quarter = ("main.py", 7, "def quarter(x):\n    return half(half(x))\n");
    /// let f = Function::from_source(Source::of_parts([half, quarter]), "quarter")?;
    /// assert!(f.call([1.0]).unwrap_err().to_string().starts_with("tools.py:31:16: "));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn of_parts<N: Into<String>>(
        parts: impl IntoIterator<Item = (N, usize, impl AsRef<str>)>,
    ) -> Source {
        let mut all = Source::new("<source>", "");
        for (k, (name, line, text)) in parts.into_iter().enumerate() {
            match k {
                0 => (all.name, all.line) = (name.into(), line),
                _ => all.parts.push(Part { start: all.text.len(), name: name.into(), line }),
            }
            all.text.push_str(text.as_ref());
            if !all.text.ends_with('\n') {
                all.text.push('\n');
            }
        }
        all
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

    /// The line of its file on which a place is, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        let around = self.around(span.start as usize);
        let before = span.line(&self.text) - Span::line(at(around.range.start), &self.text);
        around.line + before
    }

    /// The part around a place.
    pub(crate) fn around(&self, place: usize) -> Around<'_> {
        let k = self.parts.partition_point(|part| part.start <= place);
        let end = self.parts.get(k).map_or(self.text.len(), |next| next.start);
        match k.checked_sub(1).map(|k| &self.parts[k]) {
            Some(part) => Around { range: part.start..end, name: &part.name, line: part.line },
            None => Around { range: 0..end, name: &self.name, line: self.line },
        }
    }
}

/// The place of a byte.
fn at(byte: usize) -> Span {
    Span { start: byte as u32, end: byte as u32 }
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
