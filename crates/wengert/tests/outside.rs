//! Crates outside the workspace that use crate wengert as it is by default: one calls functions of the other.

use std::path::Path;
use std::process::Command;

/// A library whose functions are called, and one of which gives its derivative itself.
const SPRING: &str = r#"
use wengert::{derivative, differentiable};

/// The force of a spring that hardens.
#[differentiable]
pub fn force(x: f64, stiffness: f64) -> f64 {
    -stiffness * x - 0.25 * x.powi(3)
}

#[differentiable]
pub fn relax(u: &mut [f64], rate: f64) {
    let first = u[0];
    for i in 1..u.len() {
        u[i] += rate * first;
    }
}

pub fn squared(x: f64) -> f64 {
    x * x
}

#[derivative(of = squared)]
pub fn squared_vjp(x: f64, _y: f64, y_bar: f64) -> f64 {
    2.0 * x * y_bar
}
"#;

const MAIN: &str = r#"
use spring::force;
use wengert::differentiable;

#[differentiable]
fn swing(x: f64, k: f64, u: &mut [f64]) -> f64 {
    let mut y = x;
    for _ in 0..3 {
        let f: f64 = force(y, k);
        y += 0.5 * f;
        spring::relax(u, y);
    }
    let z: f64 = spring::squared(y);
    z + u[1]
}

#[differentiable]
pub fn energy(x: &[f64], k: f64) -> f64 {
    x.windows(2).map(|w| 0.5 * k * (w[1] - w[0]).powi(2)).sum()
}

/// With a struct of another crate, by way of a module that exports it again.
#[differentiable]
pub fn height(b: &shapes::again::Body, t: f64) -> f64 {
    b.start.1 + b.speed * t - 0.5 * b.gravity[b.planet] * t * t
}

#[differentiable]
pub fn thrown(mut b: shapes::Body, by: f64) -> shapes::Body {
    b.speed *= by;
    b
}

fn main() {
    let body = shapes::Body::new();
    let (value, (db, dt)) = height::value_and_grad(&body, 2.0);
    println!("{value} {} {} {:?} {} {dt}", db.start.1, db.speed, db.gravity, db.planet);
    println!("{}", thrown::jvp(body, 3.0, shapes::Body::new(), 1.0).1.speed);
    let (value, (dx, dk)) = energy::value_and_grad(&[0.0, 1.0, 3.0], 2.0);
    println!("{value} {dx:?} {dk}");
    let tape = wengert::tape::Tape::new();
    let a = tape.var(3.0);
    println!("{}", (a * a).backward().unwrap().wrt(a).unwrap());
    let by_hand = |x: f64, k: f64| swing(x, k, &mut [1.0, 2.0]);
    let (value, (dx, dk, du)) = swing::value_and_grad(0.5, 1.5, &mut [1.0, 2.0]);
    let h = 1e-6;
    assert!((value - by_hand(0.5, 1.5)).abs() < 1e-14);
    assert!((dx - (by_hand(0.5 + h, 1.5) - by_hand(0.5 - h, 1.5)) / (2.0 * h)).abs() < 1e-8);
    assert!((dk - (by_hand(0.5, 1.5 + h) - by_hand(0.5, 1.5 - h)) / (2.0 * h)).abs() < 1e-8);
    println!("{}", du[1]);
    let error = swing::try_value(0.5, 1.5, &mut []).unwrap_err();
    println!("{error}");
}
"#;

/// A crate that has structs, and no function that is differentiated.
const SHAPES: &str = r#"
use wengert::Differentiable;

#[derive(Clone, Differentiable)]
pub struct Point(pub f64, pub f64);

#[derive(Differentiable)]
pub struct Body {
    pub start: Point,
    pub speed: f64,
    pub gravity: Vec<f64>,
    pub planet: usize,
    name: (bool, u8),
}

impl Body {
    pub fn new() -> Body {
        Body { start: Point(0.0, 1.0), speed: 12.0, gravity: vec![1.5, 10.0], planet: 1, name: (true, 3) }
    }
}

pub mod again {
    pub use crate::Body;
}
"#;

#[test]
fn a_crate_by_path() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         wengert = {{ path = {:?} }}\nshapes = {{ path = \"shapes\" }}\nspring = {{ path = \"spring\" }}\n\n[profile.dev]\ndebug = false\nincremental = false\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    let spring = format!(
        "[package]\nname = \"spring\"\nedition = \"2024\"\n\n[dependencies]\nwengert = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    let shapes = format!(
        "[package]\nname = \"shapes\"\nedition = \"2024\"\n\n[dependencies]\nwengert = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    std::fs::create_dir_all(folder.join("shapes/src")).unwrap();
    std::fs::write(folder.join("shapes/Cargo.toml"), shapes).unwrap();
    std::fs::write(folder.join("shapes/src/lib.rs"), SHAPES).unwrap();
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::create_dir_all(folder.join("spring/src")).unwrap();
    std::fs::write(folder.join("spring/Cargo.toml"), spring).unwrap();
    std::fs::write(folder.join("spring/src/lib.rs"), SPRING).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy("../../Cargo.lock", folder.join("Cargo.lock")).unwrap();
    std::fs::write(folder.join("src/main.rs"), MAIN).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--offline"]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    // The last line tells of both crates.
    let (numbers, fault) = out.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(numbers, "5 1 2 [0.0, -2.0] 1 -8\n48\n5 [-2.0, -2.0, 4.0] 2.5\n6\n1");
    let expected = "spring/src/lib.rs:12:17: index 0 is out of range: `u` has 0 elements, \
                    called in src/main.rs:11:9, in iteration 0 of the loop in line 8";
    assert_eq!(fault, expected);
    // No warning of what was generated is a user's.
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
}
