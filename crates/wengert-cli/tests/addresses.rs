//! Where addresses are few, as under `ulimit -v`: what needs little memory still runs, on any number of threads.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

const PROGRAM: &str = "
import numpy as np
import wengert

def f(x, w):
    y = np.zeros(len(x))
    for i in wengert.parallel(range(len(x))):
        a = x[i]
        for k in range(20):
            a = np.sin(a) * w + x[i]
        y[i] = a
    return np.sum(y)
";

#[test]
fn parallel_loops_where_addresses_are_few() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("addresses.py");
    std::fs::write(&file, PROGRAM).unwrap();
    let run = |kilobytes: Option<u64>, threads: &str| {
        let limit = kilobytes.map_or(String::new(), |k| format!("ulimit -v {k}; "));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limit}exec \"$@\""), "sh", env!("CARGO_BIN_EXE_wengert")]);
        command.arg("grad").arg(&file).args(["x=linspace(0, 1, 20000)", "w=0.5", "--wrt=w,x"]);
        command.args(["--backend=jit", "--json", "--threads", threads]).stdin(Stdio::null());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{kilobytes:?} kB, {threads} threads: {told}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["grad"].to_string()
    };
    let wanted = run(None, "1");
    for kilobytes in [1_000_000, 3_000_000, 20_000_000, 100_000_000] {
        for threads in ["1", "2", "8"] {
            assert_eq!(run(Some(kilobytes), threads), wanted);
        }
    }
}
