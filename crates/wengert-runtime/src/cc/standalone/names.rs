//! Names and texts as C and Fortran take them.

use rustc_hash::FxHashSet as HashSet;
use std::fmt::Write;

/// Words that a name in C cannot be, or should not: keywords, and what headers and compilers define.
const TAKEN: &[&str] = &[
    "NULL",
    "EOF",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "I",
    "alignas",
    "alignof",
    "and",
    "asm",
    "assert",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "complex",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "fprintf",
    "friend",
    "goto",
    "if",
    "imaginary",
    "inline",
    "int",
    "long",
    "main",
    "mutable",
    "namespace",
    "new",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "printf",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "status",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "linux",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "wengert_array",
    "xor",
];

/// A name with nothing in it but what C allows.
///
/// ```
/// use wengert_runtime::cc::standalone::identifier;
///
/// assert_eq!(identifier("x0"), "x0");
/// assert_eq!(identifier("λ"), "u03bb");
/// assert_eq!(identifier("default"), "default_");
/// ```
pub fn identifier(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '_' | '0'..='9' => out.push(c),
            other => _ = write!(out, "u{:04x}", other as u32),
        }
    }
    if TAKEN.contains(&out.as_str())
        || out.starts_with('_')
        || out.starts_with(|c: char| c.is_ascii_digit())
    {
        out = format!(
            "{}_",
            if out.starts_with(|c: char| c.is_ascii_alphabetic()) {
                out
            } else {
                format!("v{out}")
            }
        );
    }
    out
}

/// Names of which no two are alike.
pub(super) struct Names {
    taken: HashSet<String>,
    /// Whether capitals are other letters.
    cased: bool,
    longest: usize,
}

impl Names {
    /// For C.
    pub(super) fn of_c() -> Names {
        Names { taken: HashSet::default(), cased: true, longest: usize::MAX }
    }

    /// For Fortran, which has none of these yet.
    pub(super) fn of_fortran(taken: &[&str]) -> Names {
        Names { taken: taken.iter().map(|t| t.to_string()).collect(), cased: false, longest: 60 }
    }

    /// A name like this one.
    pub(super) fn fresh(&mut self, like: &str) -> String {
        let mut name: String = identifier(like).chars().take(self.longest).collect();
        let key = |name: &str| if self.cased { name.to_string() } else { name.to_lowercase() };
        let stem = name.clone();
        let mut number = 2;
        while self.taken.contains(&key(&name)) {
            name = format!("{}_{number}", stem.chars().take(self.longest - 8).collect::<String>());
            number += 1;
        }
        let key = key(&name);
        self.taken.insert(key);
        name
    }
}

/// A text as C writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' | b'?' => out.extend(['\\', char::from(b)]),
            b' '..=b'~' => out.push(char::from(b)),
            _ => _ = write!(out, "\\{b:03o}"),
        }
    }
    out.push('"');
    out
}

/// A text that ends no comment.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_where_languages_see_no_difference() {
        let mut c = Names::of_c();
        assert_eq!(["x", "X", "x"].map(|n| c.fresh(n)), ["x", "X", "x_2"]);
        let mut fortran = Names::of_fortran(&["value"]);
        assert_eq!(["x", "X", "Value"].map(|n| fortran.fresh(n)), ["x", "X_2", "Value_2"]);
        assert_eq!(identifier("_x"), "v_x_");
    }

    #[test]
    fn texts_mean_what_they_are() {
        assert_eq!(quoted("a \"b\" \\ ??/ ü\n"), r#""a \"b\" \\ \?\?/ \303\274\012""#);
        assert_eq!(comment("a */ b"), "a * / b");
    }
}
