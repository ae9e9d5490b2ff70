//! The text form: tokens.

use crate::span::{Diagnostic, Span};

/// A token of IR text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `%name`
    Value(String),
    /// `@name`
    Symbol(String),
    /// A keyword or an operation.
    Word(String),
    /// A float, with a point, an exponent or a name (`inf`, `nan`).
    Float(f64),
    /// The same with `f32` behind it.
    Single(f32),
    /// An integer; hexadecimal ones are bit patterns.
    Int(i64),
    /// A quoted message.
    Text(String),
    /// Punctuation: one of `( ) { } [ ] , : = -> ..`
    Mark(&'static str),
    /// The end of the text.
    End,
}

const MARKS: [&str; 11] = ["->", "..", "(", ")", "{", "}", "[", "]", ",", ":", "="];

fn error(start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
    let span = Span { start: start as u32, end: end as u32 };
    Diagnostic::new("ir-syntax", message).label(span, "here")
}

/// Splits IR text into tokens with their spans.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let name_end = |from: usize| {
        // Two dots are a range, not part of a name: `%from.0..%to.1`.
        let is_range = |at: usize| bytes[at..].starts_with(b"..");
        let is_name = |at: usize| {
            bytes[at].is_ascii_alphanumeric()
                || bytes[at] == b'_'
                || (bytes[at] == b'.' && !is_range(at))
        };
        (from..bytes.len()).find(|at| !is_name(*at)).unwrap_or(bytes.len())
    };
    while at < bytes.len() {
        let start = at;
        let rest = &text[at..];
        let c = bytes[at];
        let token = if c.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
            at += mark.len();
            Token::Mark(mark)
        } else if c == b'%' || c == b'@' {
            at = name_end(at + 1);
            let name = text[start + 1..at].to_string();
            if name.is_empty() {
                return Err(error(start, at, format!("a name must follow `{}`", c as char)));
            }
            if c == b'%' { Token::Value(name) } else { Token::Symbol(name) }
        } else if c == b'"' {
            let (message, length) = quoted(rest)
                .ok_or_else(|| error(start, bytes.len(), "this quotation has no end"))?;
            at += length;
            Token::Text(message)
        } else if c.is_ascii_digit() || c == b'-' {
            at = number_end(bytes, at);
            number(&text[start..at]).ok_or_else(|| {
                error(start, at, format!("`{}` is not a number", &text[start..at]))
            })?
        } else if c.is_ascii_alphabetic() {
            at = name_end(at);
            match &text[start..at] {
                "inf" => Token::Float(f64::INFINITY),
                "nan" => Token::Float(f64::NAN),
                "inff32" => Token::Single(f32::INFINITY),
                "nanf32" => Token::Single(f32::NAN),
                word => Token::Word(word.to_string()),
            }
        } else {
            let shown = rest.chars().next().unwrap_or('?');
            return Err(error(
                start,
                start + shown.len_utf8(),
                format!("`{shown}` has no meaning here"),
            ));
        };
        out.push((token, Span { start: start as u32, end: at as u32 }));
    }
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    out.push((Token::End, end));
    Ok(out)
}

fn quoted(rest: &str) -> Option<(String, usize)> {
    let mut message = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((k, c)) = chars.next() {
        match c {
            '"' => return Some((message, k + 1)),
            '\\' => match chars.next()?.1 {
                'n' => message.push('\n'),
                't' => message.push('\t'),
                other => message.push(other),
            },
            other => message.push(other),
        }
    }
    None
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        let c = bytes[at];
        let exponent_sign = (c == b'-' || c == b'+') && matches!(bytes[at - 1], b'e' | b'E');
        let range = c == b'.' && bytes.get(at + 1) == Some(&b'.');
        if range || !(c.is_ascii_alphanumeric() || c == b'.' || exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

fn number(text: &str) -> Option<Token> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|bits| Token::Int(bits as i64));
    }
    if let Some(single) = text.strip_suffix("f32") {
        return single.parse().ok().map(Token::Single);
    }
    match text {
        "-inf" => Some(Token::Float(f64::NEG_INFINITY)),
        _ if text.contains(['.', 'e', 'E']) => text.parse().ok().map(Token::Float),
        _ => text.parse().ok().map(Token::Int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_a_range() {
        let tokens = tokens("%from.0..%to.1").unwrap();
        let value = |name: &str| Token::Value(name.into());
        let found: Vec<Token> = tokens.into_iter().map(|(token, _)| token).collect();
        assert_eq!(found, [value("from.0"), Token::Mark(".."), value("to.1"), Token::End]);
    }
}
