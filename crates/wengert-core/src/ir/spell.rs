//! Names of operations as they stand in the text, and which of them a misspelt one comes nearest.

use crate::ops::Prim;

/// Operations that are not rows of the table of scalar operations.
const OTHERS: [&str; 39] = [
    "len",
    "dim",
    "load",
    "store",
    "fill",
    "copy",
    "push",
    "pop",
    "tape",
    "if",
    "for",
    "parallel",
    "counted",
    "hidden",
    "while",
    "exit_if",
    "call",
    "drive",
    "assert",
    "peek",
    "poke",
    "slice",
    "put",
    "add_slice",
    "reshape",
    "transpose",
    "expand",
    "sum",
    "cumsum",
    "cumsum_back",
    "dot",
    "gemm",
    "gather",
    "scatter_add",
    "argmax",
    "argmin",
    "argsort",
    "conform",
    "refill",
];

/// The operation a word comes nearest, if one is near.
pub(super) fn operation(word: &str) -> Option<&'static str> {
    let rows = Prim::ALL.iter().map(|p| p.name());
    nearest(word, rows.chain(OTHERS))
}

/// The name a word comes nearest, if it takes few edits to make one of the other.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Of names that are equally near, one that starts the same.
    let starts = |name: &str| name.chars().next() != word.chars().next();
    let near = names.map(|name| (distance(word, name), starts(name), name));
    let (edits, _, name) = near.min()?;
    let letters = word.chars().count();
    (edits <= 1 + letters / 4 && edits < letters).then_some(name)
}

/// How many letters must be put in, left out or changed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names() {
        for (word, meant) in
            [("sine", "sin"), ("tanhh", "tanh"), ("gatter", "gather"), ("exitif", "exit_if")]
        {
            assert_eq!(operation(word), Some(meant), "{word}");
        }
        assert_eq!(operation("frobnicate"), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
