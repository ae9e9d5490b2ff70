//! A machine with little memory: what does not fit is an error that says how much there is, and no more.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs with so many kibibytes of addresses for everything.
fn with_little(kibibytes: u64, args: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_wengert");
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {kibibytes} && exec '{program}' {args}")])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap()
}

#[test]
fn a_tape_that_does_not_fit() {
    // Fits; as many steps as bytes of addresses do not.
    let ran = with_little(2_000_000, "grad examples/lorenz.py n=100000 --backend jit");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = with_little(2_000_000, "grad examples/lorenz.py n=2000000000 --backend jit");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let bytes = said.split("the tape needs more than the ").nth(1);
    let bytes: u64 = bytes.and_then(|s| s.split(' ').next()?.parse().ok()).expect(&said);
    assert!((100_000_000..2_048_000_000).contains(&bytes), "{said}");
    assert!(said.contains("raise the limit with `--tape-limit`"), "{said}");
    assert!(said.contains("for step in range(n):"), "{said}");
}

#[test]
fn an_array_that_does_not_fit() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("large.py");
    let text = "def f(x, n):\n    a = np.zeros(n)\n    for i in range(n):\n        a[i] = x\n    return a[n - 1]\n";
    std::fs::write(&program, format!("import numpy as np\n{text}")).unwrap();
    let args = format!("grad '{}' 1.0 {{}} --wrt x --backend jit", program.display());
    let ran = with_little(2_000_000, &args.replace("{}", "1000"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = with_little(2_000_000, &args.replace("{}", "400000000"));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let wanted = "there is not enough memory for an array of 3200000000 bytes";
    assert!(said.contains(wanted) && said.contains("a = np.zeros(n)"), "{said}");
}
