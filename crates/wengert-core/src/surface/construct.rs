//! What front ends refuse: for each construct, what is wrong and the way out.
//!
//! Each front end has a catalogue of its own, one row per construct. The front end decides where a construct
//! stands; every word it says about it is there, so that the messages can be read, and kept alike, in one place.

use crate::span::{Diagnostic, Span};

/// A refused construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Construct {
    /// What is wrong, in one sentence.
    pub(super) message: &'static str,
    /// The way out.
    pub(super) help: &'static str,
}

impl Construct {
    /// The error for one occurrence.
    pub(super) fn at(self, span: Span) -> Diagnostic {
        Diagnostic::new("unsupported-syntax", self.message)
            .label(span, "not supported")
            .help(self.help)
    }
}

macro_rules! catalogue {
    ($($name:ident $message:literal => $help:literal;)*) => {
        $(pub(super) const $name: Construct = Construct { message: $message, help: $help };)*

        /// Every row.
        #[cfg(test)]
        pub(super) const ALL: &[Construct] = &[$($name),*];
    };
}

pub(super) use catalogue;
