//! Colours for programs of the compiler.

use std::fmt::Write as _;

const KEYWORD: &str = "\x1b[35m";
const FUNCTION: &str = "\x1b[1;34m";
const VALUE: &str = "\x1b[36m";
const NUMBER: &str = "\x1b[33m";
const TYPE: &str = "\x1b[32m";
const COMMENT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

const KEYWORDS: &[&str] = &[
    "func", "loop", "rule", "return", "yield", "for", "while", "if", "else", "in", "carry",
    "exit_if", "parallel", "counted", "hidden", "call", "drive", "forward", "reverse", "assert",
    "push", "pop", "tape", "def", "break", "continue",
];

const TYPES: &[&str] = &["f64", "f32", "i64", "bool"];

/// IR text, or an outline of a program, with terminal colours.
pub(crate) fn program(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for line in text.split_inclusive('\n') {
        let (code, comment) = match line.find(" ; ").or(line.starts_with(';').then_some(0)) {
            Some(at) => line.split_at(at),
            None => (line, ""),
        };
        coloured(code, &mut out);
        if !comment.is_empty() {
            let _ = write!(out, "{COMMENT}{}{RESET}", comment.trim_end_matches('\n'));
            out.push_str(if comment.ends_with('\n') { "\n" } else { "" });
        }
    }
    out
}

fn coloured(mut code: &str, out: &mut String) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    while let Some(first) = code.chars().next() {
        let starts = first == '%' || first == '@' || in_word(first);
        let rest = &code[first.len_utf8()..];
        let end = match starts {
            true => rest.find(|c| !in_word(c)).unwrap_or(rest.len()),
            false => 0,
        };
        let (word, after) = code.split_at(first.len_utf8() + end);
        let style = match first {
            '%' => VALUE,
            '@' => FUNCTION,
            c if c.is_ascii_digit() => NUMBER,
            _ if KEYWORDS.contains(&word) => KEYWORD,
            _ if TYPES.contains(&word) => TYPE,
            _ => "",
        };
        match style {
            "" => out.push_str(word),
            _ => {
                let _ = write!(out, "{style}{word}{RESET}");
            }
        }
        code = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_added() {
        let text = "func @f(%x: f64) -> f64 { ; say\n  %y.2 = mul %x, 1.5e-3\n  return %y.2\n}\nü";
        let coloured = program(text);
        assert!(coloured.contains("\x1b[1;34m@f\x1b[0m("), "{coloured}");
        let mut plain = coloured;
        for style in [KEYWORD, FUNCTION, VALUE, NUMBER, TYPE, COMMENT, RESET] {
            plain = plain.replace(style, "");
        }
        assert_eq!(plain, text);
    }
}
