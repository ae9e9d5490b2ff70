//! Texts that are nearly programs: none makes the front end panic, and every error is inside its text.

use super::printed::{programs, round_trip, seed};
use crate::check::Random;
use crate::surface::python;

/// What is put into texts: tokens, their beginnings, and characters that are no part of any.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "(", ")", "[", "]", "{", "}", ":", ",", ".", "...", "=", "==", ":=", "@", "@=", "**", "*", "/", "~", "not ", "-",
    "lambda ", "lambda x: ", "def f(x):\n", "    def g(y): return y\n", "for i in ", "in ", "if ", "elif x:\n",
    "else:\n", "while ", "return ", "import ", "from ", "as ", "class ", "with ", "try:\n", "yield ", "await ", "async ",
    "match x:\n", "case ", "del ", "global ", "nonlocal ", "None", "True", "range(", "enumerate(", "zip(", "reversed(",
    "np.", "x[1:]", "x[...]", "x.T", "x.sum()", "1", "0x", "1e", "1e999", "2j", "9223372036854775808", "'", "\"", "'''",
    "\"\"\"", "f'", "f'{", "f\"\"\"{", "}'", "b'", "r'", "\\", "\\\n", "\n", "\r", "\r\n", "\t", "    ", " ", ";", "#", "!",
    "$", "?", "`", "\0", "\u{feff}", "é", "€", "𝒳", "\u{2028}", "\u{c}", "ﬁ",
];

/// The end of the character at or after a place.
fn boundary(text: &str, random: &mut Random) -> usize {
    text.ceil_char_boundary(random.below(text.len() as u64 + 1) as usize)
}

fn piece(text: &str, random: &mut Random) -> String {
    let (a, b) = (boundary(text, random), boundary(text, random));
    let end = text.ceil_char_boundary(a.min(b) + 40).min(a.max(b));
    text[a.min(b)..end].to_owned()
}

fn mutated(programs: &[String], random: &mut Random) -> String {
    let pick = |random: &mut Random| &programs[random.below(programs.len() as u64) as usize];
    let mut text = pick(random).clone();
    for _ in 0..1 + random.below(4) {
        let at = boundary(&text, random);
        let new = match random.below(8) {
            0 => {
                let end = text.ceil_char_boundary(at + random.below(12) as usize).min(text.len());
                text.replace_range(at..end, "");
                String::new()
            }
            1 => piece(&text, random),
            2 => piece(pick(random), random),
            3 => piece(&text, random).repeat(random.below(400) as usize),
            4 => {
                text.truncate(at);
                String::new()
            }
            _ => PIECES[random.below(PIECES.len() as u64) as usize].to_owned(),
        };
        let at = text.floor_char_boundary(at);
        text.insert_str(at, &new);
    }
    text
}

#[test]
fn no_text_makes_the_front_end_panic() {
    let seed = seed();
    let programs = programs();
    let mut random = Random(seed);
    let mut accepted = 0;
    for k in 0..2000 {
        let text = mutated(&programs, &mut random);
        let parsed = std::panic::catch_unwind(|| python::parse(&text));
        let Ok(parsed) = parsed else { panic!("WENGERT_SEED={seed}, text {k}:\n{text:?}") };
        match parsed {
            Ok(module) => {
                accepted += 1;
                // A long statement can have too many tokens when its names have prefixes.
                if text.len() < 4000 {
                    round_trip(&module, &text);
                }
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for (span, _) in errors.iter().flat_map(|e| &e.labels) {
                    let range = span.start as usize..span.end as usize;
                    assert!(text.get(range).is_some(), "{seed}, {k}: {span:?} in {text:?}");
                }
            }
        }
    }
    assert!(accepted >= 20, "only {accepted} texts were programs");
}
