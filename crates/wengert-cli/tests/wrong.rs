//! Wrong programs: every file in `filetests/wrong` is refused, with the text that stands beside it.
//!
//! `BLESS=1` writes the texts.

use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../filetests/wrong");

/// The function and the arguments of a line `# call: f(x=1.0, y=[1, 2])`.
fn call(text: &str) -> (String, Vec<String>) {
    let line = text.lines().next().and_then(|l| l.strip_prefix("# call: ")).unwrap();
    let (name, rest) = line.split_once('(').unwrap();
    let rest = rest.strip_suffix(')').unwrap();
    let (mut args, mut depth, mut current) = (Vec::new(), 0, String::new());
    for c in rest.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                args.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    args.push(current);
    let args = args.iter().map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect();
    (name.to_string(), args)
}

#[test]
fn every_wrong_program_is_refused() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut names: Vec<String> = std::fs::read_dir(FOLDER)
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().into_string().ok())
        .filter(|n| n.ends_with(".py"))
        .collect();
    names.sort();
    assert!(names.len() >= 60);
    let mut failures = Vec::new();
    for name in names {
        let text = std::fs::read_to_string(Path::new(FOLDER).join(&name)).unwrap();
        let (_, args) = call(&text);
        let out = Command::new(env!("CARGO_BIN_EXE_wengert"))
            .current_dir(FOLDER)
            .args(["grad", &name, "--max-iterations", "1000", "--color", "never"])
            .args(&args)
            .output()
            .unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        let code = out.status.code();
        let beside = Path::new(FOLDER).join(name.replace(".py", ".txt"));
        if bless {
            std::fs::write(&beside, &said).unwrap();
        }
        let wanted = std::fs::read_to_string(&beside).unwrap_or_default();
        let refused = matches!(code, Some(1 | 2)) && said.starts_with("error");
        if !refused || said != wanted || !out.stdout.is_empty() {
            failures.push(format!("{name}: exit {code:?}\n{said}\nwanted\n{wanted}"));
        }
    }
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
}
