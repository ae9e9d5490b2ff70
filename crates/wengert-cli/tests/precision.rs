//! States with fewer digits, as typed.

use serde_json::Value as Json;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const LORENZ: [&str; 6] =
    ["grad", "examples/workload_c.py", "sigma=10", "rho=20", "beta=2.5", "--backend=jit"];

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn out(args: &[&str]) -> String {
    let output = command(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(output: &Output) -> Json {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The largest difference of two gradients, relative to the largest number.
fn apart(now: &Json, exact: &Json) -> f64 {
    let numbers = |of: &Json| -> Vec<f64> {
        of["grad"].as_object().unwrap().values().map(|d| d.as_f64().unwrap()).collect()
    };
    let (now, exact) = (numbers(now), numbers(exact));
    let largest = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    now.iter().zip(&exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
}

#[test]
fn what_is_told() {
    let with = |more: &[&'static str]| [&LORENZ[..], &["n=20000"], more].concat();
    let exact = out(&with(&["--memory", "20kB"]));
    assert!(!exact.contains("states kept as"), "{exact}");
    for (name, shown) in [("f32", "float32"), ("bf16", "bfloat16")] {
        let text = out(&with(&["--memory", "20kB", "--precision", name]));
        println!("{text}");
        assert_eq!(text.lines().next(), exact.lines().next(), "results are exact");
        let line = text.lines().last().unwrap();
        assert!(line.starts_with(&format!("  states kept as {shown}: ")), "{text}");
        assert!(line.contains(" of them, changed by at most "), "{text}");
        assert!(line.contains("; effect on the gradient about "), "{text}");
    }
    let exact = json(&command(&with(&["--json"])).output().unwrap());
    let short = with(&["--memory", "20kB", "--precision", "f32", "--json"]);
    let short = json(&command(&short).output().unwrap());
    assert_eq!(short["value"], exact["value"]);
    let of = &short["stats"]["loops"][0];
    assert_eq!(of["precision"], "float32");
    assert!(of["states_shortened"].as_u64().unwrap() > 10, "{of}");
    let (told, truth) = (of["effect"].as_f64().unwrap(), apart(&short, &exact));
    assert!(truth < 30.0 * told && told < 1e-4, "{truth} {told}");
    // Everything fits.
    let text = out(&with(&["--memory", "1GB", "--precision", "f32"]));
    assert!(text.contains("states kept as float32: none; no effect on the gradient"), "{text}");
}

#[test]
fn only_where_memory_is_limited() {
    let ran = command(&[&LORENZ[..], &["n=100", "--precision", "f32"]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2));
    assert!(said.contains("--memory <BYTES>"), "{said}");
    let other = [&LORENZ[..], &["n=100", "--memory", "1kB", "--precision", "f16"]].concat();
    let ran = command(&other).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(2) && said.contains("f32, bf16"), "{said}");
}

#[test]
fn plans() {
    let args = ["sigma=10", "rho=20", "beta=2.5", "n=100000", "--memory", "20kB"];
    let program = [&["plan", "examples/workload_c.py"][..], &args].concat();
    let exact = out(&program);
    assert!(exact.contains("; a state takes 24 bytes, the record"), "{exact}");
    let short = out(&[&program[..], &["--precision", "bf16"]].concat());
    assert!(short.contains("a state takes 10 bytes as bfloat16 (24 bytes exactly)"), "{short}");
    let plan = |more: &[&str]| json(&command(&[&program[..], more].concat()).output().unwrap());
    let (exact, short) = (plan(&["--json"]), plan(&["--json", "--precision", "f32"]));
    let sizes = |of: &Json| {
        let of = &of["loops"][0];
        ["state_bytes", "whole_state_bytes"].map(|name| of[name].as_u64().unwrap())
    };
    assert_eq!((sizes(&exact), sizes(&short)), ([24, 24], [16, 24]));
    // One number is as short as what would be said about it.
    let text =
        "def f(x, n):\n    for i in range(n):\n        x = 3.7 * x * (1 - x)\n    return x\n";
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one_number.py");
    std::fs::write(&program, text).unwrap();
    let text = out(&["plan", program.to_str().unwrap(), "x=0.3", "n=1001", "--precision", "f32"]);
    assert!(text.contains("a state takes 8 bytes (float32 would spare nothing)"), "{text}");
}

/// A run that is killed goes on with the same digits, and not with others.
#[test]
#[cfg(unix)]
fn killed_and_gone_on_with() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("precision-killed");
    let _ = std::fs::remove_dir_all(&folder);
    let program = [&LORENZ[..], &["n=20000000", "--json"]].concat();
    let exact = json(&command(&program).output().unwrap());
    let (disk, folder) = (format!("{}:100kB", folder.display()), folder.to_str().unwrap());
    let more = ["--memory", "64kB", "--disk", &disk, "--resume", folder, "--precision"];
    let short = [&program[..], &more, &["f32"]].concat();
    let mut kills = 0;
    for wait in [500, 350, 700] {
        let mut child = command(&short).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        if Path::new(folder).join("loop-1/journal").exists() {
            for other in [&["bf16"][..], &[]] {
                let more = &more[..more.len() - usize::from(other.is_empty())];
                let ran = command(&[&program[..], more, other].concat()).output().unwrap();
                let said = String::from_utf8_lossy(&ran.stderr);
                assert_eq!(ran.status.code(), Some(1), "{said}");
                assert!(said.contains("ask for the same precision as then"), "{said}");
            }
        }
    }
    let done = json(&command(&short).output().unwrap());
    assert_eq!(done["value"], exact["value"]);
    let (truth, of) = (apart(&done, &exact), &done["stats"]["loops"][0]);
    println!("{kills} kills; {truth:.1e} from the exact gradient; {of}");
    assert!(truth < 1e-4 && kills > 0, "{truth} {kills}");
}
