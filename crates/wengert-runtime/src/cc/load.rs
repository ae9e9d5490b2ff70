//! Compiled libraries in this process.

use super::LINK;
use super::tables::Tabled;
use crate::hooks;
use crate::jit::link::Code;
use libloading::Library;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

/// A library whose hooks are set.
pub(super) struct Loaded {
    library: Arc<Library>,
    /// The first of its functions, in the order they were printed.
    table: *const *const u8,
}

type LinkFn = unsafe extern "C" fn(*const *const u8, u64) -> *const *const u8;

/// Loads a library, or finds it loaded: the system would give the same one twice, and its hooks must not be
/// written while it runs.
pub(super) fn library(key: &str, path: &Path) -> Result<Loaded, String> {
    static LOADED: Mutex<Option<HashMap<String, Weak<Library>>>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let loaded = loaded.get_or_insert_default();
    loaded.retain(|_, library| library.strong_count() > 0);
    let hooks = hooks::table();
    let known = loaded.get(key).and_then(Weak::upgrade);
    let count = if known.is_some() { 0 } else { hooks.len() as u64 };
    let library = match known {
        Some(library) => library,
        None => {
            // SAFETY: the file is one the compiler has just made of our text, or an entry of the cache: nobody
            // else can write to its folder, and its hash is right. It has no code that runs when it is loaded.
            let library = unsafe { Library::new(path) };
            Arc::new(library.map_err(|e| format!("{}: {e}", path.display()))?)
        }
    };
    // SAFETY: our text defines the name with this type.
    let link = unsafe { library.get::<LinkFn>(LINK) }.map_err(|e| e.to_string())?;
    // SAFETY: it copies as many pointers as it is told, and only for a library that is not in use yet.
    let table = unsafe { link(hooks.as_ptr(), count) };
    loaded.insert(key.to_string(), Arc::downgrade(&library));
    Ok(Loaded { library, table })
}

/// The programs of a library, in the order they were printed in.
pub(super) fn codes(loaded: &Loaded, programs: Vec<Tabled>) -> Vec<Code> {
    let mut first = 0;
    let code = |Tabled { framed, ways }: Tabled| {
        let start = first;
        first += framed;
        let ways = ways.map(|k| {
            // SAFETY: the table has an entry for each function of each program, in this order: the library's
            // key is the hash of the text that says so, and tables are kept with that key.
            unsafe { *loaded.table.add(start + k) }
        });
        // SAFETY: framed functions are printed with the frame signature, from the same module.
        unsafe { Code::of_library(loaded.library.clone(), ways) }
    };
    programs.into_iter().map(code).collect()
}
