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
    assert!(ran.out.contains("2.0, ..., 2.0, 2.0, 2.0] (30 elements)"), "{}", ran.out);
}

#[test]
fn batches() {
    let run = |threads: &str| {
        let args = ["grad", "-", "x=[[1, 2], [3, 4], [5, 6]]", "n=2", "--batch", "x", "--json"];
        let mut found = json(&piped(WALK, &[&args[..], &["--threads", threads]].concat()));
        found["stats"] = serde_json::Value::Null;
        found
    };
    let found = run("1");
    assert_eq!(found["value"], serde_json::json!([5.0, 25.0, 61.0]));
    assert_eq!(found["grad"]["x"], serde_json::json!([[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]));
    assert_eq!(run("2"), found);
    assert_eq!(run("3"), found);
    let values =
        json(&piped(WALK, &["run", "-", "x=[1, 2]", "n=[1, 2]", "--batch", "n", "--json"]));
    assert_eq!(values["values"], serde_json::json!([[1.0, 5.0]]));

    for (args, said) in [
        (&["grad", "-", "x=[[1]]", "n=1", "--batch", "x", "--jacobian"][..], "leave `--seed` and"),
        (&["check", "-", "x=[[1]]", "n=1", "--batch", "x"], "leave `--batch` out"),
        (&["grad", "-", "x=[[1]]", "n=1", "--batch", "x,n"], "`n` must have one value per member"),
        (&["grad", "-", "x=[1]", "n=1", "--threads", "0"], "0 is not in 1.."),
    ] {
        let ran = piped(WALK, args);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    let ran = piped(WALK, &["grad", "-", "x=[1]", "n=[1, 7, 9]", "--batch", "n"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("member 1 of the batch"), "{}", ran.err);
}

#[test]
fn loops_that_are_taken_back() {
    let given = ["angle=1", "speed=0", "length=1", "dt=0.01", "n=10000", "--seed", "[1, 0]"];
    let pendulum = |more: &[&str]| {
        wengert(&[&["grad", "examples/pendulum.py", "--wrt", "length"], &given[..], more].concat())
    };
    let by = |ran: &Ran| json(ran)["grad"]["length"].as_f64().unwrap();
    let exact = by(&pendulum(&["--json"]));
    let ran = pendulum(&["--invert", "--invert-every", "1000"]);
    let told = "the loop of line 10: taken back 10000 iterations in ";
    assert!(ran.out.contains(told), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(" of those stored (relative), checked every 1000 iterations; "));
    let ran = pendulum(&["--invert=10", "--json"]);
    assert!((by(&ran) - exact).abs() < 1e-8 * exact.abs());
    let back = &json(&ran)["stats"]["loops"][0];
    assert_eq!((&back["taken_back"], &back["states_stored"]), (&10000.into(), &2.into()));
    let drift = back["relative_drift"].as_f64().unwrap();
    assert!(drift > 0.0 && drift < 1e-10);
    assert_eq!(by(&pendulum(&["--invert", "--invert-every", "1", "--json"])), exact);
    // Of a line without a loop, with a bound that is too strict, and of a loop that cannot be.
    let ran = pendulum(&["--invert=9"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[not-invertible]: there is no loop"), "{}", ran.err);
    let ran = pendulum(&["--invert", "--invert-within", "1e-18"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("error[drift]: the state before step 0 came out"), "{}", ran.err);
    let ran = wengert(&["grad", "examples/lorenz.py", "--invert"]);
    assert!(ran.err.contains("error[not-invertible]: this loop cannot be taken back: `x`"));
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
        ("c", "/* newton.vjp */"),
    ] {
        let ran = wengert(&["show", "examples/newton.py", "--stage", stage]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(text), "{stage}: {}", ran.out);
    }
}

#[test]
fn declared_arguments_are_shown_as_they_are_run() {
    let text = "def f(x: list[float], k: list[int]):\n    return x[k[0]] * x[k[1]]\n";
    let args = ["-", "x=[1.5, 2]", "k=[0, 1]"];
    for command in [&["run"][..], &["grad"], &["show", "--stage", "vjp"]] {
        let ran = piped(text, &[command, &args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
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
        (&[], "Usage: wengert [OPTIONS] <COMMAND>"),
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
    for name in ["grad", "run", "check", "show", "explain", "completions"] {
        let ran = wengert(&[name, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains(&format!("Examples:\n  wengert {name}")), "{}", ran.out);
    }
    assert!(wengert(&["--help"]).out.contains("Exit codes:"));
}

/// Two results, one of them an array.
const SCALED: &str = "\
import numpy as np

def scaled(x, k):
    y = np.copy(x)
    for i in range(len(x)):
        y[i] = k * x[i] * x[i]
    return y, k * k
";

const SQUARES: &str = "\
def squares(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return s
";

/// A file of the tests, with its path.
fn temporary(name: &str, contents: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).unwrap();
    path.display().to_string()
}

#[test]
fn arguments_in_every_form() {
    let csv = temporary("points.csv", b"x\n1\n2\n3\n");
    let object = json(&piped(SQUARES, &["grad", "-", &format!("x=@{csv}"), "--json"]));
    assert_eq!(object["grad"]["x"], serde_json::json!([2.0, 4.0, 6.0]));
    for (text, value) in
        [("x=arange(4)", 14.0), ("x=ones(5)", 5.0), ("x=linspace(0, 2, 3)", 5.0), ("x=[]", 0.0)]
    {
        let object = json(&piped(SQUARES, &["run", "-", text, "--json"]));
        assert_eq!(object["values"][0].as_f64(), Some(value), "{text}");
    }
    // From a file, of which typed arguments take the place.
    let args = temporary("args.json", br#"{"x": [1, 2], "k": 10}"#);
    let object = json(&piped(SCALED, &["run", "-", "--args", &args, "k=2", "--json"]));
    assert_eq!(object["values"], serde_json::json!([[2.0, 8.0], 4.0]));
    let object = json(&piped(SCALED, &["run", "-", "[3]", "--args", &args, "--json"]));
    assert_eq!(object["values"], serde_json::json!([[90.0], 100.0]));
}

#[test]
fn arrays_go_to_files_and_come_back() {
    let npy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gradient.npy").display().to_string();
    let ran = piped(SQUARES, &["grad", "-", "x=[1, 2, 3]", "-o", &npy]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The gradient of the sum of squares at twice the point.
    let object = json(&piped(SQUARES, &["grad", "-", &format!("x=@{npy}"), "--json"]));
    assert_eq!(object["grad"]["x"], serde_json::json!([4.0, 8.0, 12.0]));

    let heat = ["grad", "examples/heat.py", "u=[1, 0, 0, 0]", "k=0.2", "n=2", "-o"];
    let ran = wengert(&[&heat[..], &[&npy]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there are 2 derivatives (u, k): name a directory"), "{}", ran.err);
    let folder = format!("{}/gradients/", env!("CARGO_TARGET_TMPDIR"));
    let ran = wengert(&[&heat[..], &[&folder]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(Path::new(&folder).join("u.npy").exists() && Path::new(&folder).join("k.npy").exists());
    let ran = wengert(&[&heat[..], &["gradient.txt", "--wrt", "u"]].concat());
    assert!(ran.err.contains("must end in `.npy`"), "{}", ran.err);
}

#[test]
fn integers_from_a_file_have_no_derivative_and_that_is_said() {
    let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend([1i64, 0].iter().flat_map(|n| n.to_le_bytes()));
    let file = format!("x=@{}", temporary("integers.npy", &bytes));
    let note = "note: `x` is given as integers, and has no derivative";
    let text = "def f(x, y):\n    return x[0] * y\n";
    let ran = piped(text, &["grad", "-", &file, "y=2"]);
    assert!(ran.out.contains(note), "{}{}", ran.out, ran.err);
    assert!(json(&piped(text, &["grad", "-", &file, "y=2", "--json"]))["grad"]["y"] == 1.0);
    for text in [
        "def f(x, y):\n    return y * (5 if x[0] > 0 else y)\n".replace("x, y", "x: list[int], y"),
        "import numpy as np\n\ndef f(x, y):\n    return y * np.zeros(3)[x[0]]\n".into(),
    ] {
        let ran = piped(&text, &["grad", "-", &file, "y=2"]);
        assert!(ran.code == 0 && !ran.out.contains("note"), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn several_results_take_a_seed_or_have_a_jacobian() {
    let base = ["grad", "-", "x=[1, 2]", "k=3"];
    let seeded = |seed: &str| {
        let ran = piped(SCALED, &[&base[..], &["--seed", seed, "--json"]].concat());
        json(&ran)["grad"].clone()
    };
    let expected = serde_json::json!({"x": [6.0, 120.0], "k": 641.0});
    assert_eq!(seeded("[[1, 10], 100]"), expected);
    // The same in a row.
    assert_eq!(seeded("[1, 10, 100]"), expected);

    let object = json(&piped(SCALED, &[&base[..], &["--jacobian", "--json"]].concat()));
    assert_eq!(object["value"], serde_json::json!([[3.0, 12.0], 9.0]));
    let by_x = serde_json::json!([[6.0, 0.0], [0.0, 12.0]]);
    assert_eq!(object["jacobian"][0], serde_json::json!({"x": by_x, "k": [1.0, 4.0]}));
    assert_eq!(object["jacobian"][1], serde_json::json!({"x": [0.0, 0.0], "k": 6.0}));
    for mode in ["forward", "reverse"] {
        let args = [&base[..], &["--jacobian", "--json", "--mode", mode]].concat();
        let again = json(&piped(SCALED, &args));
        assert_eq!((&again["jacobian"], &again["mode"]), (&object["jacobian"], &mode.into()));
    }
    let ran = piped(SCALED, &[&base[..], &["--jacobian"]].concat());
    assert!(ran.out.contains("\n  d0/dx  [[6.0, 0.0], [0.0, 12.0]]\n"), "{}", ran.out);

    let ran = piped(SCALED, &base);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("(`--seed`), or `jacobian` (`--jacobian`)"), "{}", ran.err);
    let ran = piped(SCALED, &[&base[..], &["--seed", "[1, 2]"]].concat());
    let text = "`--seed` has 2 numbers, but `scaled` returns 2 elements and a number: give one number for each of the 3";
    assert!(ran.err.contains(text), "{}", ran.err);
}

#[test]
fn bad_arguments_name_the_way_out() {
    for (argument, text) in [
        ("a=two", "for `a`: `two` is not a number; give a number, `true`, `false`, a list"),
        (
            "a=1e999",
            "`1e999` is too large for a float, whose largest is about 1.8e308; write `inf`",
        ),
        ("a=9223372036854775808", "this integer does not fit in 64 bits; write it as a float"),
        ("a=[[1, 2], [3]]", "its rows differ in length (2 and 1); an array has rows of one length"),
        ("a=[1, 2", "a `]` is missing at its end; write lists as `[1, 2, 3]`"),
        ("a=zeros(x)", "`x` is not a number"),
        ("a=@nowhere.npy", "cannot read `nowhere.npy`: "),
        ("a=@README.md", "give `@file.npy` or `@file.csv`"),
        ("2a=1", "write arguments as `a=2.0`"),
    ] {
        let ran = wengert(&["grad", "examples/newton.py", argument, "x0=1"]);
        assert_eq!(ran.code, 2, "{argument}");
        assert!(ran.err.contains(text), "{argument}: {}", ran.err);
    }
    for (contents, text) in [
        ("[1]", "must hold an object of arguments by name, as in `{\"a\": 2.0, \"n\": 10}`"),
        ("{\"a\": 1e999}", "for `a`: `1e+999` is too large for a float"),
        ("{\"a\": 99999999999999999999}", "this integer does not fit in 64 bits"),
        ("{\"a\": \"2\"}", "for `a`: \"2\" is not a number"),
        ("{\"b\": 2}", "`newton` has no parameter `b`"),
        ("{", "is not JSON: "),
    ] {
        let file = temporary("bad.json", contents.as_bytes());
        let ran = wengert(&["grad", "examples/newton.py", "x0=1", "--args", &file]);
        assert_eq!(ran.code, 2, "{contents}");
        assert!(ran.err.contains(text), "{contents}: {}", ran.err);
    }
}

#[test]
fn every_error_is_explained() {
    let list = wengert(&["explain"]);
    assert_eq!(list.code, 0);
    assert!(list.out.lines().count() > 40, "{}", list.out);
    for line in list.out.lines() {
        let code = line.split_whitespace().next().unwrap();
        assert!(wengert::explain(code).is_some(), "{code}");
    }
    let ran = wengert(&["explain", "iteration-limit"]);
    assert!(ran.out.starts_with("iteration-limit: A `while` loop ran"), "{}", ran.out);
    assert_eq!(wengert(&["explain", "error[iteration-limit]"]).out, ran.out);
    let ran = wengert(&["explain", "nothing"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("`wengert explain` lists them"), "{}", ran.err);
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let ran = wengert(&["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("max-iterations"), "{shell}");
    }
}

#[test]
fn check_reports_what_makes_a_derivative_doubtful() {
    let text = "def f(x, n: int):\n    for i in range(n):\n        x = abs(x - 1)\n    return x\n";
    let ran = piped(text, &["check", "-", "3", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("warning: `abs` stands exactly on its kink"), "{}", ran.out);
    assert!(ran.out.contains("first in iteration 2 of this loop"), "{}", ran.out);

    let text = "import math\n\ndef g(x, n: int):\n    y = 0.0\n    for i in range(n):\n        y = math.log(x - i)\n    return y\n";
    let ran = piped(text, &["check", "-", "2.5", "4", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &object["agree"]), (1, &false.into()), "{}", ran.err);
    let found = &object["findings"][0];
    assert_eq!((&found["kind"], &found["variable"]), (&"nan".into(), &"y".into()), "{found}");
    assert_eq!((&found["line"], &found["iterations"][0]), (&6.into(), &3.into()), "{found}");

    let text = "def h(x):\n    while x < 8:\n        x = 2 * x\n    return x\n";
    let ran = piped(text, &["check", "-", "1.0000001"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = "warning: how often the loop runs depends on what is differentiated by; its test came within ";
    assert!(ran.out.contains(text), "{}", ran.out);
}

#[test]
fn check_is_quiet_where_nothing_is_wrong() {
    for (text, args) in [
        // The slope by the start of an iteration that has converged is next to nothing.
        (
            "def f(a, x):\n    while abs(x * x - a) > 1e-14:\n        x = 0.5 * (x + a / x)\n    return x\n",
            &["a=2", "x=1.4", "--wrt", "x"][..],
        ),
        (
            "import numpy as np\n\ndef f(x: np.float32):\n    return np.sin(x) * np.exp(x) / (1 + x * x)\n",
            &["x=0.7"],
        ),
        (
            "import numpy as np\n\ndef f(x):\n    return np.sum(np.where(x > 0, np.log(x), x))\n",
            &["x=[-1.5, 2.0]"],
        ),
        (
            "import numpy as np\n\ndef f(x):\n    return np.max(x) + max(x)\n",
            &["x=[1.5, 2.0, 0.5]"],
        ),
    ] {
        let ran = piped(text, &[&["check", "-"], args].concat());
        assert_eq!(ran.code, 0, "{text}{}{}", ran.out, ran.err);
        assert!(!ran.out.contains("warning"), "{text}{}", ran.out);
    }
}

#[test]
fn stages_for_people() {
    let heat = ["show", "examples/heat.py", "u=zeros(5)", "k=0.1", "n=3", "--stage"];
    let ran = wengert(&[&heat[..], &["functional"]].concat());
    assert!(ran.out.contains("\n  u: line "), "{}", ran.out);
    assert!(ran.out.contains("saved per iteration: "), "{}", ran.out);
    let ran = wengert(&[&heat[..], &["remat"]].concat());
    assert!(ran.out.contains("`heat`: "), "{}", ran.out);
    assert!(ran.out.contains(", per iteration: "), "{}", ran.out);
    assert!(ran.out.contains("recomputed  "), "{}", ran.out);
    let ran = wengert(&[&heat[..], &["lifetime"]].concat());
    assert!(ran.out.contains("func @heat.vjp("), "{}", ran.out);
    // Colours where they are asked for.
    assert!(!ran.out.contains('\x1b'));
    let ran = wengert(&[&heat[..], &["ssa", "--color", "always"]].concat());
    assert!(ran.out.contains("\x1b["), "{}", ran.out);
    let ran = wengert(&["grad", "examples/newton.py", "--color", "always"]);
    assert!(ran.err.contains("\x1b["), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() {
    let mut full = command(&["run", "examples/newton.py", "a=2", "x0=1"]);
    full.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = full.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("error: cannot write the output: "), "{err}");

    // A reader that stops reading is no error, and changes no exit code.
    let text = "def f(x):\n    return float(int(x * 1e9)) / 1e9 + 0.5 * x\n";
    for (args, code) in [(&["run", "-", "0.7"][..], 0), (&["check", "-", "0.7"], 1)] {
        let mut closed = command(args);
        closed.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = closed.spawn().unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_run_with_130() {
    for backend in ["jit", "interp"] {
        let text = "def f(x):\n    while x > 0:\n        x = x + 1\n    return x\n";
        let max = ["--max-iterations", "1000000000000000", "--backend", backend];
        let mut endless = command(&[&["run", "-", "1"][..], &max].concat());
        endless.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = endless.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{backend}");
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("error[interrupted]: interrupted"), "{err}");
    }
}
