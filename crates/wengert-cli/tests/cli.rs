//! The command as typed: what it prints, where, and its exit code.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    command.args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn finish(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn wengert(args: &[&str]) -> Ran {
    finish(command(args), "")
}

/// A program from standard input.
fn piped(text: &str, args: &[&str]) -> Ran {
    finish(command(args), text)
}

#[track_caller]
fn json(ran: &Ran) -> serde_json::Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

const WALK: &str = "\
def walk(x, n):
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s
";

#[test]
fn grad_in_every_way_gives_the_same() {
    for extra in [
        &["--mode", "forward"][..],
        &["--mode", "reverse"],
        &["--backend", "interp"],
        &["--tape-limit", "64MiB", "--max-iterations", "100"],
    ] {
        let args = [&["grad", "examples/newton.py", "a=2", "x0=1", "--json"], extra].concat();
        let object = json(&wengert(&args));
        let a = object["grad"]["a"].as_f64().unwrap();
        assert!((a - 0.5 / 2f64.sqrt()).abs() < 1e-12, "{object}");
        assert!((object["value"].as_f64().unwrap() - 2f64.sqrt()).abs() < 1e-12, "{object}");
        let mode = if extra.contains(&"forward") { "forward" } else { "reverse" };
        assert_eq!(object["mode"], mode);
        assert!(object["stats"]["run_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(object["stats"]["tape_bytes"].as_u64().unwrap() > 0, mode == "reverse");
    }
}

#[test]
fn grad_for_people() {
    let ran = wengert(&["grad", "examples/lorenz.py:lorenz", "n=50", "--wrt", "rho,sigma"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("lorenz(sigma=10.0, rho=28.0, beta=2.5, dt=0.01, n=50) = "));
    assert!(lines[2].starts_with("  d/drho     "), "{}", lines[2]);
    assert!(lines[3].starts_with("  d/dsigma   "), "{}", lines[3]);
    assert!(lines[5].starts_with("reverse mode, native code; tape "), "{}", lines[5]);
    assert_eq!(lines.len(), 6);
}

#[test]
fn floats_keep_every_digit_and_special_values_are_strings() {
    let text = "def f(x, y):\n    return x, 1 / y, -1 / y, y / y, 0.1 + 0.2, x > y\n";
    let object = json(&piped(text, &["run", "-", "1e-310", "y=0.0", "--json"]));
    let values = &object["values"];
    assert_eq!(values[0].as_f64(), Some(1e-310));
    assert_eq!((&values[1], &values[2]), (&"Infinity".into(), &"-Infinity".into()));
    assert_eq!((&values[3], &values[5]), (&"NaN".into(), &true.into()));
    assert_eq!(values[4].to_string(), "0.30000000000000004");
}

#[test]
fn arrays_and_the_function_by_name() {
    let text = format!("{WALK}\ndef other(x):\n    return x\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two functions.py");
    std::fs::write(&file, &text).unwrap();
    let walk = format!("{}:walk", file.display());
    let object = json(&wengert(&["grad", &walk, "x=[1, 2.5]", "n=2", "--json"]));
    assert_eq!(object["grad"]["x"], serde_json::json!([2.0, 5.0]));
    // Without a name, the last function.
    let ran = piped(&text, &["run", "-", "3"]);
    assert!(ran.out.starts_with("other(x=3) = 3"), "{}", ran.out);
    // Long arrays are cut short, in the output for people only.
    let list = format!("x={:?}", vec![1.0; 30]);
    let ran = piped(WALK, &["grad", "-", &list, "n=30"]);
    assert!(ran.out.contains("2.0, ... 30 elements]"), "{}", ran.out);
}

#[test]
fn check_agrees_and_exits_with_0() {
    let ran = wengert(&["check", "examples/heat.py", "u=[1, 0, 0, 2]", "k=0.2", "n=5"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("heat: derivatives agree along 10 directions\n"), "{}", ran.out);
    let args = ["check", "examples/newton.py", "3", "1", "--directions", "2", "--json"];
    assert_eq!(json(&wengert(&args))["agree"], true);
}

#[test]
fn check_that_disagrees_exits_with_1() {
    // `float(int(x * 1e9)) / 1e9` looks smooth to finite differences; its derivative is zero.
    let text = "def f(x):\n    return float(int(x * 1e9)) / 1e9 + 0.5 * x\n";
    let ran = piped(text, &["check", "-", "0.7"]);
    assert!(ran.out.starts_with("f: derivatives DISAGREE"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 1);
}

#[test]
fn stages_are_listed() {
    let list = wengert(&["show", "examples/newton.py", "--stage", "list"]);
    assert!(list.out.contains("  unroll "), "{}", list.out);
    let stages = list.out.lines().filter_map(|l| l.split_whitespace().next());
    for stage in stages.filter(|s| *s != "native") {
        let ran = wengert(&["show", "examples/newton.py", "--stage", stage]);
        assert!(ran.out.contains("newton"), "{stage}: {}", ran.out);
    }
    let unknown = wengert(&["show", "examples/newton.py", "--stage", "unrolled"]);
    assert!(unknown.err.contains("there is no stage `unrolled`"), "{}", unknown.err);
    assert!(unknown.err.contains("  unroll "), "{}", unknown.err);
}

#[test]
fn show_every_stage() {
    for (stage, text) in [
        ("surface", "while abs(x * x - a) > 1e-12:"),
        ("ssa", "exit_if"),
        ("pipeline", "fma"),
        ("jvp", "func @newton.jvp("),
        ("vjp", "func @newton.reverse("),
        ("native", "@newton.vjp"),
    ] {
        let ran = wengert(&["show", "examples/newton.py", "--stage", stage]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(text), "{stage}: {}", ran.out);
    }
}

#[test]
fn a_program_that_fails_exits_with_1() {
    let ran = piped(WALK, &["grad", "-", "x=[1, 2, 3]", "n=5"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let expected = "\
error[index-out-of-range]: index 3 is out of range: `x` has 3 elements
 --> <stdin>:4:14
  |
3 |     for i in range(n):
  |     ------------------ in iteration 3 of this loop
4 |         s += x[i] * x[i]
  |              ^^^^ this index
";
    assert!(ran.err.starts_with(expected), "{}", ran.err);

    let endless = ["run", "examples/newton.py", "a=-2", "x0=1", "--max-iterations", "50"];
    let ran = wengert(&endless);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("within the limit of 50 iterations"), "{}", ran.err);

    let ran = wengert(&["grad", "examples/lorenz.py", "n=100000", "--tape-limit", "64KiB"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("the tape needs more than the 65536 bytes"), "{}", ran.err);
}

#[test]
fn bad_input_exits_with_2() {
    for (args, text) in [
        (&["grad", "missing.py", "a=2"][..], "error: cannot read `missing.py`: "),
        (&["grad", "examples/newton.py:neuton", "a=2"], "did you mean `newton`?"),
        (&["grad", "examples/newton.py", "b=2", "x0=1"], "`newton` has no parameter `b`"),
        (&["grad", "examples/newton.py", "a=2"], "`newton` needs a value for `x0`"),
        (&["grad", "examples/newton.py", "a=2", "x0=1", "--wrt", "b"], "has no parameter `b`"),
        (&["grad", "examples/newton.py", "a=two"], "`two` is not a number"),
        (&["grad", "examples/lorenz.py", "n=2.5"], "12 |     for step in range(n):"),
        (&["grad", "examples/lorenz.py", "--wrt", "n"], "no derivative by `n`"),
        (&["grad", "examples/newton.py", "--tape-limit", "much"], "`much` is not a size"),
        (
            &["grad", "examples/newton.py", "--mode", "sideways"],
            "possible values: forward, reverse",
        ),
        (&["run", "README.md", "1"], "error[syntax]"),
        (&["differentiate"], "unrecognized subcommand"),
        (&[], "Usage: wengert <COMMAND>"),
    ] {
        let ran = wengert(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(text), "{args:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}");
    }
    let ran = piped("def f(x):\n    return x * rate\n", &["run", "-", "1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("2 |     return x * rate"), "{}", ran.err);
}

#[test]
fn no_colours_when_nobody_looks() {
    let ran = wengert(&["grad", "examples/newton.py"]);
    assert!(ran.err.starts_with("error[missing-argument]"), "{}", ran.err);
    assert!(!ran.err.contains('\x1b'));
}

#[test]
fn help_shows_examples() {
    for name in ["grad", "run", "check", "show"] {
        let ran = wengert(&[name, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains(&format!("Examples:\n  wengert {name} ")), "{}", ran.out);
    }
    assert!(wengert(&["--help"]).out.contains("Exit codes:"));
}
