//! IR to native code, through C and the system's compiler.
//!
//! The code is that of `jit` up to the last step: `print` writes it as C, behind `prelude`, instead of handing it to
//! Cranelift. `toolchain` finds a compiler, `cache` keeps what it has made, `load` brings that into this process. A
//! compiler takes a hundred milliseconds and more where Cranelift takes one, and its loops are faster.
//!
//! `standalone` is the same text for others to compile, with a runtime in C.

pub mod cache;
#[allow(unsafe_code)] // loads compiled code
mod load;
mod prelude;
pub(crate) mod print;
pub mod standalone;
pub mod toolchain;

use crate::jit::link::Code;
use crate::jit::{self, CompileError, Printed};
use cache::{Cache, Work};
use std::fmt::Write;
use toolchain::Toolchain;
use wengert_core::ir::Module;

/// The name by which a library's table of functions is found.
const LINK: &str = "wengert_link";

/// The C text of the given entries and everything they call.
///
/// ```
/// let module = wengert_core::ir::parse::module("func @id(%x: f64) -> f64 { return %x }")?;
/// let text = wengert_runtime::cc::text(&module, &["id"])?;
/// assert!(text.contains("id"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn text(module: &Module, entries: &[&str]) -> Result<String, CompileError> {
    Ok(whole(&[jit::print(module, entries, "")?]))
}

/// Modules with their entries, compiled together: one run of the compiler for all.
pub(crate) fn compile(
    modules: &[(&Module, &[&str])],
    cache: Option<&Cache>,
) -> Result<Vec<Code>, CompileError> {
    let print = |(k, (module, entries)): (usize, &(&Module, &[&str]))| {
        jit::print(module, entries, &format!("p{k}"))
    };
    let print = || -> Result<Vec<Printed>, _> { modules.iter().enumerate().map(print).collect() };
    // A compiler takes a millisecond or two to tell its version, in which there is text to print.
    let find = || Some((Toolchain::get()?, toolchain::machine()));
    let (found, printed) = std::thread::scope(|scope| {
        let finding = std::thread::Builder::new().spawn_scoped(scope, find);
        let printed = print();
        (
            finding.map_or_else(|_| find(), |finding| finding.join().unwrap_or_else(|_| find())),
            printed,
        )
    });
    let (toolchain, machine) = found.ok_or(CompileError::NoCCompiler)?;
    let printed = printed?;
    let text = whole(&printed);
    let key = key(&text, toolchain, &machine);
    let failed = |message: String| CompileError::CCompiler(message);
    let found = cache.and_then(|cache| cache.find(&key));
    // An entry that cannot be loaded is made again.
    let library = found.and_then(|path| load::library(&key, &path).ok());
    let library = match library {
        Some(library) => library,
        None => {
            let work =
                Work::new(cache).map_err(|e| failed(format!("no folder to work in: {e}")))?;
            let (source, made) = (work.file("program.c"), work.file("program.so"));
            std::fs::write(&source, &text)
                .map_err(|e| failed(format!("cannot write {}: {e}", source.display())))?;
            toolchain.compile(&source, &made).map_err(failed)?;
            // Loaded where nobody removes it: entries are, by whoever finds too many or takes one for damaged.
            let library = load::library(&key, &made).map_err(failed)?;
            // A full disk is no reason not to run.
            let _ = cache.map(|cache| cache.add(&key, &made));
            library
        }
    };
    Ok(load::codes(&library, printed))
}

/// Everything that decides what a library holds.
fn key(text: &str, toolchain: &Toolchain, machine: &str) -> String {
    let parts = [text, &prelude::VERSION.to_string(), &toolchain.describe(), machine];
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Programs with what stands before and after them: the table of functions, and where the runtime's come in.
fn whole(printed: &[Printed]) -> String {
    let mut out = format!("{}{}", prelude::PRELUDE, prelude::HOOKS);
    printed.iter().for_each(|p| out.push_str(&p.text));
    let table: Vec<&str> = printed.iter().flat_map(|p| &p.framed).map(String::as_str).collect();
    let _ = write!(
        out,
        "\nstatic void *const table[] = {{ {}0 }};\n\
         __attribute__((visibility(\"default\"))) void *const *{LINK}(void *const *hooks, u64 count) {{\n  \
         for (u64 k = 0; k < count && k < 32; k++) H[k] = hooks[k];\n  return table;\n}}\n",
        table.iter().map(|f| format!("(void *){f}, ")).collect::<String>()
    );
    out
}
