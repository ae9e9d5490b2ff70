//! A name for this very build, part of the key of compiled programs: whoever changes a pass, the printer or what the
//! runtime and compiled code agree on changes it, without having to remember.
//!
//! It is made of the sources of this crate and of `wengert-core`, the versions of what they depend on, the
//! compiler and what it was told. In a package of this crate alone only its own sources are there; versions
//! stand for the others, which do not change once they are published.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Files and folders, beside this one.
const SOURCES: [&str; 5] =
    ["build.rs", "Cargo.toml", "src", "../wengert-core/src", "../../Cargo.lock"];

fn main() -> io::Result<()> {
    let mut files = BTreeMap::new();
    for source in SOURCES.map(Path::new).into_iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
        collect(source, &mut files)?;
    }
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let told = |name: &str| {
        let prefixes = ["CARGO_CFG_", "CARGO_FEATURE_", "TARGET", "OPT_LEVEL"];
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let told: BTreeMap<String, String> = env::vars().filter(|(name, _)| told(name)).collect();
    told.hash(&mut hasher);
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(compiler).arg("-vV").output()?.stdout.hash(&mut hasher);
    println!("cargo::rustc-env=WENGERT_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// The files below a path, with what is in them.
fn collect(path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.insert(path.to_path_buf(), fs::read(path)?);
    }
    Ok(())
}
