//! A crate outside the workspace that uses crate wengert as it is by default.

use std::path::Path;
use std::process::Command;

const MAIN: &str = r#"
use wengert::differentiable;

#[differentiable]
pub fn energy(x: &[f64], k: f64) -> f64 {
    x.windows(2).map(|w| 0.5 * k * (w[1] - w[0]).powi(2)).sum()
}

fn main() {
    let (value, (dx, dk)) = energy::value_and_grad(&[0.0, 1.0, 3.0], 2.0);
    println!("{value} {dx:?} {dk}");
    let tape = wengert::tape::Tape::new();
    let a = tape.var(3.0);
    println!("{}", (a * a).backward().unwrap().wrt(a).unwrap());
}
"#;

#[test]
fn a_crate_by_path() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         wengert = {{ path = {:?} }}\n\n[profile.dev]\ndebug = false\nincremental = false\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy("../../Cargo.lock", folder.join("Cargo.lock")).unwrap();
    std::fs::write(folder.join("src/main.rs"), MAIN).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--offline"]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "5 [-2.0, -2.0, 4.0] 2.5\n6\n");
    // No warning of what was generated is a user's.
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
}
