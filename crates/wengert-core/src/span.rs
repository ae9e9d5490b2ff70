//! Where something stands in the user's source, and what to say about it.
//!
//! A [`Span`] is carried by every tree node, every IR instruction and every run-time error. A
//! [`Diagnostic`] is data: it is rendered with its source at the edge (the command line, the
//! Python exception), never here.

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The one-based line this span starts on.
    pub fn line(self, source: &str) -> usize {
        let end = (self.start as usize).min(source.len());
        1 + source.as_bytes()[..end].iter().filter(|b| **b == b'\n').count()
    }
}

/// An error with its places in the source and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// Stable kebab-case name of the kind of error.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Places in the source, the main one first, each with a short text.
    pub labels: Vec<(Span, String)>,
    /// The way out.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { code, message: message.into(), labels: Vec::new(), help: None }
    }

    /// Adds a place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Says how to get out of it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}
