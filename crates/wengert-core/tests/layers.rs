//! The order of the modules, as ARCHITECTURE.md gives it: each uses those before it only.

use std::path::{Path, PathBuf};

/// Modules in one group do not use each other, except the interpreter and the programs it runs.
const ORDER: &[&[&str]] = &[
    &["quantity", "span"],
    &["fault"],
    &["ops"],
    &["ir"],
    &["interp", "math"],
    &["ahead", "arrays"],
    &["emit", "surface", "transform"],
    &["lower"],
    &["check"],
    &["generate", "structure"],
];

fn rank(module: &str) -> usize {
    let found = ORDER.iter().position(|group| group.contains(&module));
    found.unwrap_or_else(|| panic!("`{module}` is not in the order of the modules"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The modules that code uses, its tests and comments left out.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1).map(String::from));
    let word = |path: &str| {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
        path[..end].to_string()
    };
    let mut modules = Vec::new();
    for path in paths {
        match path.strip_prefix('{') {
            // Several at once, on one line or several.
            Some(_) => panic!("write `use crate::{{..}}` as a line for each module: {path}"),
            None => modules.push(word(&path)),
        }
    }
    modules
}

#[test]
fn modules_use_those_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    let mut uses = 0;
    for file in found {
        let path = file.strip_prefix(&src).unwrap();
        let first = path.iter().next().unwrap().to_str().unwrap();
        let module = first.strip_suffix(".rs").unwrap_or(first);
        // Used by tests alone.
        if module == "lib" || path.ends_with("testing.rs") || path.ends_with("tests.rs") {
            continue;
        }
        for other in used(&std::fs::read_to_string(&file).unwrap()) {
            let pair = ["interp", "math"];
            let fine = module == other
                || rank(&other) < rank(module)
                || (pair.contains(&module) && pair.contains(&other.as_str()));
            assert!(fine, "{} uses `{other}`, which comes after it", path.display());
            uses += 1;
        }
    }
    assert!(uses > 200, "only {uses} uses found");
}

#[test]
fn the_page_gives_this_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).unwrap();
    let start = page.find("Inside the core: ").unwrap();
    let said = page[start..].split("([tests/layers.rs]").next().unwrap();
    let groups = said.split("<-").map(|group| {
        let names = group.split('`').skip(1).step_by(2).map(String::from);
        names.collect::<Vec<String>>()
    });
    let groups: Vec<Vec<String>> = groups.collect();
    assert_eq!(groups, ORDER);
}
