//! `wengert emit`: a function and its gradient as files for a C compiler.

use crate::command::{self, Failure, Outcome, printed};
use crate::{Emit, LanguageName};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What every file says at its head. One that says something else is not written over.
const MARK: &str = "written by wengert";

pub(crate) fn emit(emit: &Emit) -> Outcome {
    let function = command::function(&emit.common.program)?;
    let args = command::arguments(&function, &emit.common)?;
    let emitted = match emit.lang {
        LanguageName::C => function.emit_c(args, command::wrt(&emit.by))?,
    };
    let folder = emit.out.as_path();
    let failed = |what: String| Failure { message: format!("error: {what}"), code: 1 };
    fs::create_dir_all(folder)
        .map_err(|e| failed(format!("cannot make the directory `{}`: {e}", folder.display())))?;
    emitted.files.iter().try_for_each(|(name, _)| ours(&folder.join(name)))?;
    for (name, text) in &emitted.files {
        let path = folder.join(name);
        fs::write(&path, text)
            .map_err(|e| failed(format!("cannot write `{}`: {e}", path.display())))?;
    }
    let names: Vec<&str> = emitted.files.iter().map(|(name, _)| name.as_str()).collect();
    let here = folder == Path::new(".");
    let enter = if here { String::new() } else { format!("cd '{}' && ", folder.display()) };
    let place = if here { String::new() } else { format!(" to {}", folder.display()) };
    printed(format!(
        "wrote {}{place}\ncompile and run: {enter}{}\n",
        names.join(", "),
        emitted.command
    ))
}

/// Whether there is no such file, or one that was written here before.
fn ours(path: &Path) -> Result<(), Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Failure::input(format!("cannot read `{}`: {e}", path.display()))),
    };
    let head = text.split(|b| *b == b'\n').next().unwrap_or_default();
    if String::from_utf8_lossy(head).contains(MARK) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "`{}` is there and was not written by wengert: choose another directory with `--out`",
        path.display()
    )))
}
