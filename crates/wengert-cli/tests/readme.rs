//! The README: every command in it prints what it says, every program in it is a file that is run.
//!
//! After a change that is meant to change the output, `BLESS=1 cargo test --test readme` writes it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The code blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let open = format!("```{language}\n");
    let parts = text.split(open.as_str()).skip(1);
    parts.map(|part| part.split("```").next().unwrap()).collect()
}

/// What a command prints, errors included.
fn output(command: &str) -> String {
    let installed = command.strip_prefix("wengert ");
    let args = installed.or_else(|| command.strip_prefix("cargo run --release -p wengert-cli -- "));
    let args = words(args.expect("a command this test knows"));
    // As for somebody who runs it for the first time.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing compiled");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    let ran = command.args(args).current_dir(root()).env("WENGERT_CACHE", cache).output().unwrap();
    String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap()
}

/// Words as a shell splits them, as far as the README goes: quotes around whole words.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(k, part)| match k % 2 {
            0 => part.split_whitespace().map(String::from).collect(),
            _ => vec![part.to_string()],
        })
        .collect()
}

/// Whether two outputs say the same, to the last digit: only times differ from run to run.
fn same(said: &str, printed: &str) -> bool {
    tokens(said) == tokens(printed)
}

/// Words and numbers, durations left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens: Vec<&str> = Vec::new();
    for token in text.split([' ', '\n', ',', ';', '[', ']']).filter(|t| !t.is_empty()) {
        if ["µs", "ms", "s"].contains(&token) {
            tokens.pop();
        } else {
            tokens.push(token);
        }
    }
    tokens
}

#[test]
fn commands_print_what_the_readme_says() {
    let mut text = readme();
    let mut wrong = Vec::new();
    for block in blocks(&readme(), "console") {
        let (command, said) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let printed = output(command);
        if !same(said, &printed) {
            wrong.push(format!("$ {command}\n{printed}"));
            let new = format!("$ {command}\n{}\n", printed.trim_end());
            text = text.replacen(block, &new, 1);
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(root().join("README.md"), text).unwrap();
    } else {
        assert!(wrong.is_empty(), "the README says something else than\n\n{}", wrong.join("\n"));
    }
}

#[test]
fn only_durations_may_differ() {
    assert!(same("value 0.5\n(1.25 ms, 8 bytes)", "value 0.5\n(310 µs, 8 bytes)"));
    assert!(!same("value 0.7071067811865476", "value 0.7071067811865475"));
    assert!(!same("(1.25 ms, 8 bytes)", "(1.25 ms, 16 bytes)"));
}

#[test]
fn programs_are_those_of_the_examples() {
    let files = std::fs::read_dir(root().join("examples")).unwrap();
    let python =
        files.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "py"));
    let sources: Vec<String> = python.map(|p| std::fs::read_to_string(p).unwrap()).collect();
    for block in blocks(&readme(), "python") {
        assert!(sources.iter().any(|s| s.contains(block)), "not in examples/:\n{block}");
        let imports = "import math\nimport numpy as np\n";
        wengert::Function::last_of(format!("{imports}{block}").as_str()).unwrap();
    }
}

#[test]
fn linked_files_exist() {
    for page in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/language.md",
        "docs/operations.md",
        "filetests/README.md",
    ] {
        let page = root().join(page);
        let (text, folder) = (std::fs::read_to_string(&page).unwrap(), page.parent().unwrap());
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let exists = link.starts_with("https://") || folder.join(link).exists();
            assert!(exists, "{} links to {link}, which does not exist", page.display());
        }
    }
}

#[test]
fn the_number_of_examples_is_right() {
    let entries = std::fs::read_dir(root().join("examples")).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let count = names.filter(|name| name.ends_with(".py")).count();
    assert!(readme().contains(&format!("[{count} examples](examples/)")), "there are {count}");
}
