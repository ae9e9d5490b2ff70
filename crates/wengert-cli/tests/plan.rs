//! What `wengert plan` says of schedules.

use std::process::{Command, Output};

fn plan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wengert")).arg("plan").args(args).output().unwrap()
}

#[track_caller]
fn json(args: &[&str]) -> serde_json::Value {
    let output = plan(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Griewank and Walther's counts.
#[test]
fn counts() {
    let known = [
        ("10", "3", 25u64, 3u64),
        ("100", "5", 416, 6),
        ("1000", "10", 4636, 6),
        ("10000", "20", 47976, 6),
        ("1000000", "100", 4817896, 6),
        ("1000000000", "100", 6898659124, 8),
    ];
    for (steps, slots, evaluations, most) in known {
        let told = json(&["--steps", steps, "--slots", slots]);
        assert_eq!(told["evaluations"], evaluations);
        assert_eq!(told["advances"], evaluations - steps.parse::<u64>().unwrap());
        let given = told["max_evaluations_of_a_step"].as_u64().unwrap();
        assert!(given <= most, "{steps} {slots}: {given}");
    }
}

#[test]
fn other_schedules() {
    let sized = ["--state-bytes", "800", "--tape-bytes", "100", "--memory", "8kB"];
    let told = json(&[&["--steps", "200"], &sized[..]].concat());
    assert_eq!(told["evaluations"], 336);
    assert!(told["peak_bytes"].as_u64().unwrap() <= 8000);
    let online = json(&["--steps", "1000", "--slots", "10", "--online"]);
    assert_eq!(online["evaluations"], 4742);
    assert_eq!(online["evaluations_with_known_end"], 4636);
    let disk = ["--disk-slots", "20", "--write-cost", "3", "--read-cost", "2"];
    let told = json(&[&["--steps", "1000", "--slots", "3"], &disk[..]].concat());
    let alone = json(&["--steps", "1000", "--slots", "3"]);
    let evaluations = |told: &serde_json::Value| told["evaluations"].as_u64().unwrap();
    assert!(evaluations(&told) < evaluations(&alone));
    assert!(told["disk_stores"].as_u64().unwrap() > 0);
    let text = plan(&["--steps", "1000", "--slots", "10", "--online"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("4742, 4.742 per step"), "{text}");
}

#[test]
fn what_cannot_be_planned() {
    let told = |args: &[&str]| {
        let output = plan(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told(&["--steps", "10"]).contains("--slots"));
    assert!(told(&["--steps", "10", "--slots", "0"]).contains("no slot"));
    assert!(told(&["--steps", "10", "--memory", "1kB"]).contains("--state-bytes"));
    let bytes = ["--steps", "10", "--memory", "1kB", "--state-bytes", "1kB", "--tape-bytes", "1kB"];
    assert!(told(&bytes).contains("at least 2000 bytes"));
    assert!(told(&["--steps", "9000000000", "--slots", "3", "--online"]).contains("step by step"));
    assert!(told(&["--steps", "9000000", "--slots", "3", "--svg"]).contains("too many"));
}

#[test]
fn a_picture() {
    let output = plan(&["--steps", "100", "--slots", "5", "--svg"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    let lines =
        |colour: &str| text.matches(&format!("stroke=\"{colour}\" stroke-width=\"1.6\"")).count();
    assert_eq!((lines("#d1601f"), lines("#2b6cb0")), (100, 100));
    assert!(lines("#8fa3b8") > 10);
}
