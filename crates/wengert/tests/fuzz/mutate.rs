//! Texts near programs: those there are, changed by bytes, by words, by lines, and spliced.

use crate::generate;
use std::path::Path;
use wengert_core::check::Random;

/// Folders with programs, and with files that are wrong on purpose.
const FOLDERS: [&str; 3] =
    ["examples", "filetests/wrong", "crates/wengert-core/tests/data/language"];

/// What is put in: words of the language, and what lexers trip over.
const WORDS: &[&str] = &[
    "def",
    "return",
    "if",
    "elif",
    "else",
    "for",
    "while",
    "in",
    "break",
    "continue",
    "pass",
    "lambda",
    "and",
    "or",
    "not",
    "True",
    "False",
    "None",
    "assert",
    "import",
    "from",
    "as",
    "range",
    "enumerate",
    "zip",
    "reversed",
    "len",
    "np.zeros",
    "np.sum",
    "np.dot",
    "np.where",
    "np.einsum",
    "np.concatenate",
    "np.stack",
    "np.reshape",
    "np.arange",
    "np.linspace",
    "np.sort",
    "np.take",
    "np.interp",
    "math.exp",
    "abs",
    "min",
    "max",
    "int",
    "float",
    "round",
    "sum",
    "x",
    "y",
    "n",
    "i",
    "x.T",
    "x.shape",
    "x[0]",
    "x[-1]",
    "x[:, None]",
    "x[::-1]",
    "x[...]",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    "->",
    ":=",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "&",
    "|",
    "^",
    "~",
    "<<",
    ">>",
    "+=",
    "*=",
    "**=",
    "@=",
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e308",
    "1e-320",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "0x7f",
    "1j",
    "\"ij,jk->ik\"",
    "\"\"",
    "'''",
    "\"\"\"",
    "f\"{x}\"",
    "\n",
    "\n    ",
    "\n        ",
    "\t",
    "\\\n",
    "#",
    "é",
    "∂",
    "🦀",
    "\u{feff}",
    "\0",
    "axis=0",
    "axis=-1",
    "keepdims=True",
    "dtype=int",
    "*args",
    "**kw",
    "x: int",
    "x: float",
    "x=1",
];

pub(crate) struct Corpus {
    random: Random,
    texts: Vec<String>,
}

impl Corpus {
    pub(crate) fn new(seed: u64) -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut texts = Vec::new();
        for folder in FOLDERS {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|e| e == "py") {
                    texts.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
                }
            }
        }
        texts.sort();
        Corpus { random: Random(seed), texts }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1) as u64) as usize
    }

    /// A text of the corpus, or a program made up.
    fn base(&mut self) -> String {
        match self.below(3) {
            0 => generate::program(self.random.bits()).text,
            _ => {
                let k = self.below(self.texts.len());
                self.texts[k].clone()
            }
        }
    }

    /// The next text.
    pub(crate) fn text(&mut self) -> String {
        let mut text = self.base();
        for _ in 0..1 + self.below(4) {
            text = match self.below(10) {
                0 => self.bytes(&text),
                1..5 => self.words(&text),
                5..8 => self.lines(&text),
                8 => self.nested(&text),
                _ => self.spliced(&text),
            };
        }
        text.truncate(text.floor_char_boundary(20_000));
        text
    }

    fn bytes(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 if !bytes.is_empty() => bytes[at] = self.below(256) as u8,
                1 if !bytes.is_empty() => {
                    bytes.remove(at);
                }
                _ => bytes.insert(at, self.below(128) as u8),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Words, numbers and signs are replaced, removed, doubled and swapped.
    fn words(&mut self, text: &str) -> String {
        let mut words = split(text);
        for _ in 0..1 + self.below(3) {
            let solid: Vec<usize> =
                (0..words.len()).filter(|k| !words[*k].trim().is_empty()).collect();
            if solid.is_empty() {
                break;
            }
            let (at, other) = (solid[self.below(solid.len())], solid[self.below(solid.len())]);
            match self.below(6) {
                0 => words[at] = WORDS[self.below(WORDS.len())].into(),
                1 => words.insert(at, format!(" {} ", WORDS[self.below(WORDS.len())])),
                2 => {
                    words.remove(at);
                }
                3 => words.swap(at, other),
                4 => words[at] = words[other].clone(),
                _ => {
                    let word = words[at].clone();
                    words.insert(at, word);
                }
            }
        }
        words.concat()
    }

    fn lines(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_string).collect();
        let (at, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(6) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let line = lines[at].clone();
                lines.insert(other, line);
            }
            2 => lines.swap(at, other),
            3 => lines[at] = format!("    {}", lines[at]),
            4 => lines[at] = lines[at].strip_prefix("    ").unwrap_or(&lines[at]).to_string(),
            _ => {
                // Another line's work at this line's place.
                let indent = lines[at].len() - lines[at].trim_start().len();
                lines[at] = " ".repeat(indent) + lines[other].trim_start();
            }
        }
        lines.join("\n")
    }

    /// Something nested deep, or repeated often.
    fn nested(&mut self, text: &str) -> String {
        let depth = [3, 20, 60, 99, 150, 500][self.below(6)];
        let (open, close) = [
            ("(", ")"),
            ("[", "]"),
            ("-", ""),
            ("not ", ""),
            ("(1+", ")"),
            ("np.sin(", ")"),
            ("x[", "]"),
            ("lambda v: ", ""),
            ("1 if x > 0 else ", ""),
            ("x + ", ""),
            ("x.T", ""),
            ("x ** ", ""),
        ][self.below(12)];
        let mut words = split(text);
        let at = self.below(words.len());
        if let Some(word) = words.get_mut(at) {
            *word = format!("{}{word}{}", open.repeat(depth), close.repeat(depth));
        }
        words.concat()
    }

    fn spliced(&mut self, text: &str) -> String {
        let other = self.base();
        let (a, b) = (self.below(text.len()), self.below(other.len()));
        let (a, b) = (text.floor_char_boundary(a), other.floor_char_boundary(b));
        // At the start of lines, mostly.
        let (a, b) = match self.below(3) {
            0 => (a, b),
            _ => (
                text[..a].rfind('\n').map_or(0, |k| k + 1),
                other[..b].rfind('\n').map_or(0, |k| k + 1),
            ),
        };
        format!("{}{}", &text[..a], &other[b..])
    }
}

/// Words, numbers, signs and the space between them.
fn split(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<String> = Vec::new();
    let mut last = 3;
    for c in text.chars() {
        let now = class(c);
        match words.last_mut() {
            Some(word) if now == last && now != 2 => word.push(c),
            _ => words.push(c.into()),
        }
        last = now;
    }
    words
}
