//! What crate wengert brings: Cranelift comes with feature `compile` alone.

use std::process::Command;

/// What begins the names of crates that only functions given as text need.
const COMPILER: [&str; 4] = ["cranelift", "ruff", "wasmtime", "wengert-runtime"];

/// The crates that are built with crate wengert.
fn built_with(features: &[&str]) -> Vec<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["tree", "--offline", "--locked", "-p", "wengert", "-e", "no-dev"]);
    cargo.args(["--prefix", "none", "--format", "{p}", "--features", &features.join(",")]);
    let ran = cargo.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().lines().map(String::from).collect()
}

/// Those of the compiler among them.
fn compiler(features: &[&str]) -> Vec<String> {
    let crates = built_with(features);
    assert!(crates.iter().any(|name| name.starts_with("wengert-math ")), "{crates:?}");
    let is_of_it = |name: &String| COMPILER.iter().any(|start| name.starts_with(start));
    crates.into_iter().filter(is_of_it).collect()
}

#[test]
fn only_feature_compile_brings_the_compiler() {
    assert_eq!(compiler(&[]), [""; 0]);
    assert_eq!(compiler(&["nalgebra", "ndarray"]), [""; 0]);
    assert!(compiler(&["compile"]).iter().any(|name| name.starts_with("cranelift-codegen ")));
}
