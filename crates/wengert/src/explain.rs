//! More about each error than its message says.

/// What an error code means, with an example and the way out; nothing for what is no code.
///
/// ```
/// let text = wengert::explain("index-out-of-range").unwrap();
/// assert!(text.starts_with("An index lies outside its array.\n"));
/// assert_eq!(wengert::explain("no-such-code"), None);
/// ```
pub fn explain(code: &str) -> Option<&'static str> {
    explanations().find(|(known, _)| *known == code).map(|(_, text)| text)
}

/// Every error code with what it means, in alphabetical order.
pub fn explanations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let sections = include_str!("explanations.md").split("\n## ").skip(1);
    sections.filter_map(|section| {
        let (code, text) = section.split_once('\n')?;
        Some((code, text.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn sources(folder: &Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }

    /// The code a text starts with: `"index-out-of-range"`.
    fn quoted(text: &str) -> Option<&str> {
        let (code, _) = text.trim_start().strip_prefix('"')?.split_once('"')?;
        let fits = |c: char| c.is_ascii_lowercase() || c == '-';
        (!code.is_empty() && code.chars().all(fits)).then_some(code)
    }

    #[test]
    fn every_code_is_explained() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut used: BTreeSet<String> = BTreeSet::new();
        for name in ["wengert-core", "wengert-runtime", "wengert", "wengert-cli"] {
            let mut texts = Vec::new();
            sources(&crates.join(name).join("src"), &mut texts);
            for text in &texts {
                let made = text.split("Diagnostic::new(").skip(1).filter_map(quoted);
                used.extend(made.map(String::from));
            }
        }
        used.extend(wengert_core::fault::CHECKS.iter().map(|check| check.code.to_string()));
        // Faults make theirs from a table.
        let faults = std::fs::read_to_string(crates.join("wengert-core/src/fault.rs")).unwrap();
        let table = faults.split("fn diagnostic(").nth(1).unwrap();
        for (at, _) in table.match_indices("=> (").chain(table.match_indices("=> {")) {
            let rest = table[at + 4..].trim_start().trim_start_matches('(');
            used.extend(quoted(rest).map(String::from));
        }
        assert!(used.contains("interrupted") && used.contains("call-depth"), "{used:?}");
        let explained: BTreeSet<String> = explanations().map(|(code, _)| code.into()).collect();
        let missing: Vec<_> = used.difference(&explained).collect();
        assert!(missing.is_empty(), "add them to explanations.md: {missing:?}");
    }

    #[test]
    fn each_has_an_example_and_the_fix() {
        let mut before = "";
        for (code, text) in explanations() {
            let lines = text.lines().filter(|l| !l.trim().is_empty()).count();
            assert!((3..=10).contains(&lines), "{code}: {lines} lines");
            assert!(text.lines().next().unwrap().ends_with('.'), "{code}");
            assert!(text.contains("\n    "), "{code} has no example");
            assert!(text.contains("Fix: "), "{code} has no way out");
            assert!(before < code, "{code} is out of order");
            before = code;
        }
    }
}
