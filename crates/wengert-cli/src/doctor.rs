//! What `wengert doctor` says.

use crate::human::size;
use std::fmt::Write;
use wengert::Doctor;

/// One line per thing, and what follows from them.
pub(crate) fn report() -> String {
    told(&Doctor::look())
}

fn told(found: &Doctor) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<12}{text}");
    };
    let features = match found.features.join(" ") {
        none if none.is_empty() => "no features that matter here".into(),
        some => some,
    };
    line("processor", format!("{}: {features}", found.architecture));
    line(
        "cranelift",
        found
            .cranelift
            .as_ref()
            .map_or_else(|e| format!("does not work: {e}"), |()| "works".into()),
    );
    let compiler = match (&found.compiler, &found.compiles) {
        (Some((program, version)), Some(Err(e))) => {
            format!("{program}, {version}: does not work: {e}")
        }
        (Some((program, version)), _) => format!("{program}, {version}: works"),
        (None, _) => "none: neither $CC nor `cc`, `clang` or `gcc` answers".into(),
    };
    line("C compiler", compiler);
    let cache = match &found.cache {
        Ok(c) => {
            format!("{}: {} libraries, {} of {}", c.folder, c.entries, size(c.bytes), size(c.limit))
        }
        Err(why) if why.contains("WENGERT_CACHE") => format!("not used: {why}"),
        Err(why) => {
            format!("not used: {why}; set WENGERT_CACHE to a folder that only you write to")
        }
    };
    line("cache", cache);
    let through_c = matches!(found.compiles, Some(Ok(())));
    let runs = match (&found.cranelift, through_c) {
        (Ok(()), true) => {
            "native code at once, faster code through C for programs that keep running"
        }
        (Ok(()), false) => "native code by Cranelift",
        (Err(_), true) => "native code with `--backend cc`",
        (Err(_), false) => "the interpreter only: `--backend interp`",
    };
    line("programs", format!("run as {runs}"));
    out
}
