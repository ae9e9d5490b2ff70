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
        // Users name their variables in any alphabet.
        let is_name = |(at, c): &(usize, char)| {
            c.is_alphanumeric() || *c == '_' || (*c == '.' && !is_range(from + at))
        };
        let name = text[from..].char_indices().take_while(is_name);
        name.last().map_or(from, |(at, c)| from + at + c.len_utf8())
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
                return Err(error(start, start + 1, format!("a name must follow `{}`", c as char)));
            }
            if c == b'%' { Token::Value(name) } else { Token::Symbol(name) }
        } else if c == b'"' {
            let (message, length) = quoted(rest).map_err(|wrong| match wrong {
                None => {
                    let line = start + rest.find('\n').unwrap_or(rest.len());
                    error(start, line, "this quotation has no end")
                        .help("messages end with `\"`; inside one, write `\\\"`")
                }
                Some(at) => error(start + at, start + at + 1, "nothing is written so after `\\`")
                    .help("these there are: `\\n`, `\\t`, `\\r`, `\\0`, `\\\"`, `\\'`, `\\\\`, `\\u{41}`"),
            })?;
            at += length;
            Token::Text(message)
        } else if c.is_ascii_digit() || c == b'-' {
            at = number_end(bytes, at);
            number(&text[start..at])
                .map_err(|e| Diagnostic { labels: error(start, at, "").labels, ..e })?
        } else if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
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
            let error =
                error(start, start + shown.len_utf8(), format!("`{shown}` has no meaning here"));
            let sign = matches!(shown, '+' | '*' | '/' | '<' | '>' | '!' | '&' | '|');
            return Err(match sign {
                true => error.help("operations are words before their operands: `add %a, %b`"),
                false => error,
            });
        };
        out.push((token, Span { start: start as u32, end: at as u32 }));
    }
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    out.push((Token::End, end));
    Ok(out)
}

/// A message and the length of its quotation; where it has no end, nothing; else where it goes wrong.
fn quoted(rest: &str) -> Result<(String, usize), Option<usize>> {
    let mut message = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((k, c)) = chars.next() {
        match c {
            '"' => return Ok((message, k + 1)),
            '\\' => message.push(match chars.next().ok_or(None)?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let mut code = String::new();
                    if chars.next().is_none_or(|(_, c)| c != '{') {
                        return Err(Some(k));
                    }
                    code.extend(chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}'));
                    let code = u32::from_str_radix(&code, 16).ok();
                    code.and_then(char::from_u32).ok_or(Some(k))?
                }
                other @ ('"' | '\'' | '\\') => other,
                _ => return Err(Some(k)),
            }),
            other => message.push(other),
        }
    }
    Err(None)
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

fn number(text: &str) -> Result<Token, Diagnostic> {
    let wrong = |why: &str, help: &str| {
        Err(Diagnostic::new("ir-syntax", format!("`{text}` {why}")).help(help))
    };
    const FORMS: &str =
        "numbers are `3` (i64), `1.5` or `1e-3` (f64), `1.5f32` (f32), or `0x7ff` for bits";
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits == "inf" || digits == "inff32" {
        return Ok(match (digits, text.len() > digits.len()) {
            ("inf", minus) => Token::Float(if minus { -f64::INFINITY } else { f64::INFINITY }),
            (_, minus) => Token::Single(if minus { -f32::INFINITY } else { f32::INFINITY }),
        });
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return wrong("is not a number", FORMS);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return match u64::from_str_radix(hex, 16) {
            Ok(bits) if !hex.starts_with('+') => Ok(Token::Int(bits as i64)),
            _ => wrong("is not a number", "after `0x` stand 1 to 16 of the digits 0-9 and a-f"),
        };
    }
    let infinite = "is too large: it would be infinite";
    if let Some(single) = text.strip_suffix("f32") {
        return match single.parse::<f32>() {
            Ok(x) if x.is_finite() => Ok(Token::Single(x)),
            Ok(_) => wrong(infinite, "write `inff32` if that is meant"),
            Err(_) => wrong("is not a number", FORMS),
        };
    }
    if text.contains(['.', 'e', 'E']) {
        return match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Token::Float(x)),
            Ok(_) => wrong(infinite, "write `inf` if that is meant"),
            Err(_) => wrong("is not a number", FORMS),
        };
    }
    match text.parse() {
        Ok(n) => Ok(Token::Int(n)),
        Err(_) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            wrong("does not fit 64 bits", "a float is written with a point: `1e30`, `12.0`")
        }
        Err(_) => wrong("is not a number", FORMS),
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
