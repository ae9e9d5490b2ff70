//! IR to native code, through C and the system's compiler.
//!
//! The code is that of `jit` up to the last step: `print` writes it as C, behind `prelude`, instead of handing it to
//! Cranelift. `toolchain` finds a compiler, `cache` keeps what it has made and `tables` what runs need beside it, `load` brings
//! that into this process. A compiler takes a hundred milliseconds and more where Cranelift takes one, and its
//! loops are faster.
//!
//! What is kept has two keys. A library is found by its text, so that programs which differ in names, or in where they
//! stand in the source, share one, and so do builds that print the same. Tables are found by the program as it is given,
//! before any pass, and by the build that made them of it, and name the library: who starts with a program that was
//! compiled before reads two files.
//!
//! `standalone` is the same text for others to compile, with a runtime in C.

pub mod cache;
#[allow(unsafe_code)] // loads compiled code
mod load;
mod prelude;
pub(crate) mod print;
pub mod standalone;
mod tables;
pub mod toolchain;
mod unfused;
mod vectors;

use crate::jit::link::Code;
use crate::jit::{self, CompileError, Printed};
use cache::{Cache, Work};
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use tables::{Tabled, Tables};
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

/// Modules with their entries, compiled together: one run of the compiler for all, or none where they were compiled
/// before.
pub(crate) fn compile(
    modules: &[(&Module, &[&str])],
    cache: Option<&Cache>,
) -> Result<Vec<Code>, CompileError> {
    Toolchain::look();
    if let Some(codes) = cache.and_then(|cache| cached(modules, cache)) {
        return Ok(codes);
    }
    let print = |(k, (module, entries)): (usize, &(&Module, &[&str]))| {
        jit::print(module, entries, &format!("p{k}"))
    };
    let printed: Result<Vec<Printed>, _> = modules.iter().enumerate().map(print).collect();
    let (host, toolchain) =
        toolchain::host().zip(Toolchain::get()).ok_or(CompileError::NoCCompiler)?;
    let printed = printed?;
    let text = whole(&printed);
    let key = key(&text, host);
    let failed = |message: String| CompileError::CCompiler(message);
    let found = cache.and_then(|cache| cache.find(&key));
    // An entry that cannot be loaded is made again.
    let library = found.and_then(|path| load::library(&key, &path).ok());
    let library = match library {
        Some(library) => library,
        None => {
            let work =
                Work::new(cache).map_err(|e| failed(format!("no folder to work in: {e}")))?;
            let made = work.file("program.so");
            toolchain.compile(&text, &work.file("program"), &made).map_err(failed)?;
            // Loaded where nobody removes it: entries are, by whoever finds too many or takes one for damaged.
            let library = load::library(&key, &made).map_err(failed)?;
            // A full disk is no reason not to run.
            let _ = cache.map(|cache| cache.add(&key, &made));
            library
        }
    };
    let table = |printed: Printed| Tabled { framed: printed.framed.len(), ways: printed.ways };
    let programs = printed.into_iter().map(table).collect();
    let tables = Tables { host: host.to_string(), library: key, programs };
    let _ = cache.map(|cache| cache.add_tables(&program_key(modules), &tables.bytes()));
    Ok(load::codes(&library, tables.programs))
}

/// The same of modules that were compiled before, if they were, by this very build: no pass is run for them, and they
/// need not be verified again.
pub(crate) fn cached(modules: &[(&Module, &[&str])], cache: &Cache) -> Option<Vec<Code>> {
    let bytes = cache.tables(&program_key(modules))?;
    Toolchain::look();
    let entries: Vec<usize> = modules.iter().map(|(_, entries)| entries.len()).collect();
    let tables = Tables::read(&bytes, &entries)?;
    let path = cache.find(&tables.library)?;
    // Whether it is for this compiler and machine is known before any of its code runs.
    let host = toolchain::host()?;
    if host != tables.host {
        return None;
    }
    let library = load::library(&tables.library, &path).ok()?;
    Some(load::codes(&library, tables.programs))
}

/// Everything that decides what a library holds.
fn key(text: &str, host: &str) -> String {
    hashed(&(text, prelude::VERSION, host))
}

/// Everything that decides what becomes of modules, but for the compiler and the machine: those may take time to tell,
/// and most programs were not compiled before.
fn program_key(modules: &[(&Module, &[&str])]) -> String {
    hashed(&(env!("WENGERT_BUILD"), modules))
}

/// The name for a value. `Hash` says where a part of it ends, so different values have different bytes.
fn hashed(value: &impl Hash) -> String {
    struct Bytes(Vec<u8>);
    impl Hasher for Bytes {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }

        fn finish(&self) -> u64 {
            unreachable!("only its bytes are wanted")
        }
    }
    let mut bytes = Bytes(Vec::new());
    value.hash(&mut bytes);
    blake3::hash(&bytes.0).to_hex().to_string()
}

/// Programs with what stands before and after them: the table of functions, and where the runtime's come in.
fn whole(printed: &[Printed]) -> String {
    let mut out = prelude::before(printed.iter().map(|p| &*p.text)) + prelude::HOOKS;
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
