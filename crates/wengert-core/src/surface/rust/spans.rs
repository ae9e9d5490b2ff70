//! Places in the source: bytes of a text, or numbers of a table that a macro keeps.
//!
//! Inside a macro the compiler tells no byte positions. There every span of the tree is the number of an entry
//! of the table, as start and as end; a span made of two covers from the first entry to the second.

use crate::span::Span;
use proc_macro2::Span as Token;
use quote::ToTokens;
use syn::spanned::Spanned;

/// How places of syntax become spans of the tree.
#[derive(Debug)]
pub struct Spans {
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// Byte positions, up to this many.
    Bytes(usize),
    /// Entries, the first and the last token of each.
    Table(Vec<(Token, Token)>),
}

impl Default for Spans {
    fn default() -> Self {
        Spans::table()
    }
}

impl Spans {
    /// An empty table, for a macro.
    pub fn table() -> Spans {
        Spans { way: Way::Table(Vec::new()) }
    }

    /// Bytes of a text.
    pub(super) fn text(source: &str) -> Spans {
        Spans { way: Way::Bytes(source.len()) }
    }

    /// The tokens a span of the tree covers: the first and the last one. Nothing for a span of a text, or one
    /// that was made from nothing.
    pub fn tokens(&self, span: Span) -> Option<(Token, Token)> {
        let Way::Table(entries) = &self.way else { return None };
        let first = entries.get(span.start as usize)?;
        let last = entries.get(span.end as usize)?;
        Some((first.0, last.1))
    }

    /// The token, or where spans can be joined the tokens, to put a compiler's error at.
    pub fn token(&self, span: Span) -> Option<Token> {
        let (first, last) = self.tokens(span)?;
        Some(first.join(last).unwrap_or(first))
    }

    /// The place of a token.
    pub(super) fn look(&self, token: Token) -> Span {
        match &self.way {
            Way::Bytes(length) => bytes(token, token, *length),
            Way::Table(_) => Span::default(),
        }
    }

    /// The place of a piece of syntax.
    pub(super) fn of(&mut self, syntax: &impl ToTokens) -> Span {
        match &mut self.way {
            // Outside macros spans can be joined.
            Way::Bytes(length) => {
                let whole = syntax.span();
                bytes(whole, whole, *length)
            }
            Way::Table(entries) => {
                let mut tokens = syntax.to_token_stream().into_iter();
                let first = tokens.next().map_or_else(Token::call_site, |t| t.span());
                let last = tokens.last().map_or(first, |t| t.span());
                entries.push((first, last));
                let k = entries.len() as u32 - 1;
                Span { start: k, end: k }
            }
        }
    }
}

fn bytes(first: Token, last: Token, length: usize) -> Span {
    let (start, end) = (first.byte_range().start, last.byte_range().end);
    let within = |at: usize| at.min(length) as u32;
    Span { start: within(start), end: within(end.max(start)) }
}
