//! How deep a text can nest, found before the parser builds anything.
//!
//! The parser grows its stack by about 2 KiB for each level and drops its tree recursively, so a
//! megabyte of parentheses would cost gigabytes, and one of `1+1+...` would overflow the stack.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::{Converted, syntax, too_deep};
use crate::span::Span;

/// The most blocks inside each other; Python's own limit.
const MAX_INDENTS: usize = 100;

/// The most operators, brackets and keywords in one statement. Each can add one level to the
/// parser's tree; taking that many levels down stays well below 1 MiB of stack.
const MAX_TOKENS: usize = 2048;

/// Bounds the depth of the tree the parser will build, from the tokens alone.
///
/// Every level of that tree comes from an indent, or from a token of its statement that is not a
/// name, a literal or the punctuation of a list: counting those is enough.
pub(super) fn check(source: &str) -> Converted<()> {
    if u32::try_from(source.len()).is_err() {
        return Err(syntax("the source text is larger than 4 GiB", Span::default(), "starts here")
            .help("split it into several files"));
    }
    let nesting = Nesting::of(source);
    if nesting.indents > MAX_INDENTS {
        let message = format!("more than {MAX_INDENTS} blocks inside each other");
        let place = place_where(source, |nesting| nesting.indents > MAX_INDENTS);
        return Err(too_deep(message, place).help("move the inner blocks into a function"));
    }
    if nesting.tokens > MAX_TOKENS {
        let message = format!("more than {MAX_TOKENS} operators and brackets in one statement");
        let place = place_where(source, |nesting| nesting.tokens > MAX_TOKENS);
        return Err(too_deep(message, place)
            .help("split it into several assignments; or close a bracket that was left open"));
    }
    // Recovering from an f-string that is not closed, the parser reads tokens where the lexer saw a
    // string that goes on to the end: they were not counted.
    if let (Some(first), true) = (nesting.open_strings.first(), source.len() > MAX_TOKENS) {
        let place = place_where(source, |nesting| nesting.strings >= *first);
        return Err(syntax("this f-string is not closed", place, "opened here")
            .help("close it, with `}` for each `{` and then the quotes it began with"));
    }
    Ok(())
}

/// The end of the shortest beginning of the text for which `exceeds` holds; the lexer does not tell
/// positions.
fn place_where(source: &str, exceeds: impl Fn(&Nesting) -> bool) -> Span {
    let (mut low, mut high) = (0, source.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let end = source.floor_char_boundary(middle);
        if exceeds(&Nesting::of(&source[..end])) {
            high = end;
        } else {
            low = middle + 1;
        }
    }
    let start = source.floor_char_boundary(high.saturating_sub(1));
    Span { start: start as u32, end: high as u32 }
}

/// What bounds the depth of a text's tree.
#[derive(Default)]
struct Nesting {
    /// The most indents inside each other.
    indents: usize,
    /// The most tokens of one statement that can each add a level.
    tokens: usize,
    /// How many f-strings begin.
    strings: usize,
    /// Which of them, counted from one, are not closed at the end.
    open_strings: Vec<usize>,
}

impl Nesting {
    /// Reads a text, up to where it exceeds a limit.
    fn of(source: &str) -> Nesting {
        let mut nesting = Nesting::default();
        let mut lexer = lexer::lex(source, Mode::Module);
        let (mut indents, mut tokens) = (0usize, 0usize);
        while nesting.indents <= MAX_INDENTS && nesting.tokens <= MAX_TOKENS {
            match lexer.next_token() {
                TokenKind::EndOfFile => break,
                TokenKind::Newline => tokens = 0,
                TokenKind::Indent => indents += 1,
                TokenKind::Dedent => indents = indents.saturating_sub(1),
                TokenKind::Name
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Complex
                | TokenKind::String
                | TokenKind::FStringMiddle
                | TokenKind::TStringMiddle
                | TokenKind::Comment
                | TokenKind::NonLogicalNewline
                | TokenKind::Comma
                | TokenKind::Rpar
                | TokenKind::Rsqb
                | TokenKind::Rbrace => {}
                TokenKind::FStringEnd | TokenKind::TStringEnd => {
                    nesting.open_strings.pop();
                }
                TokenKind::FStringStart | TokenKind::TStringStart => {
                    nesting.strings += 1;
                    nesting.open_strings.push(nesting.strings);
                    tokens += 1;
                }
                _ => tokens += 1,
            }
            nesting.indents = nesting.indents.max(indents);
            nesting.tokens = nesting.tokens.max(tokens);
        }
        nesting
    }
}
