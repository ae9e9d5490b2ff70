//! `wengert emit`: what it writes is compiled by the system's compiler, run, and compared to the bit with the
//! interpreter; errors come back as a status and a message.
#![cfg(unix)]

use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emit-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn wengert(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    command.args(args).current_dir(ROOT).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The compiler of the system; without one there is nothing to test.
fn compiler() -> Option<&'static str> {
    let found = ["cc", "clang", "gcc"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|told| told.status.success())
    });
    if found.is_none() {
        println!("skipped: there is no C compiler");
        assert!(std::env::var_os("CI").is_none(), "there is no C compiler");
    }
    found
}

/// Compiles files of a folder; warnings count as errors.
fn compile(folder: &Path, flags: &[&str], files: &[&str], out: &str) -> Result<(), String> {
    let Some(compiler) = compiler() else { return Ok(()) };
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]);
    let ran = command.args(flags).args(files).args(["-o", out, "-lm"]).output().unwrap();
    if ran.status.success() { Ok(()) } else { Err(said(&ran)) }
}

/// A value as it is typed.
fn typed(json: &Json) -> String {
    match json {
        Json::Array(items) => {
            format!("[{}]", items.iter().map(typed).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// All numbers of nested lists.
fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        Json::String(text) => vec![text.parse().unwrap()],
        number => vec![number.to_string().parse().unwrap()],
    }
}

/// The numbers on each line of an example's output, by what stands before them.
fn printed(output: &str) -> Vec<(String, Vec<f64>)> {
    let line = |line: &str| {
        let (name, rest) = line.split_once(" =").unwrap();
        (name.to_string(), rest.split_whitespace().map(|x| x.parse().unwrap()).collect())
    };
    output.lines().map(line).collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
}

/// Emits an example, compiles it, runs it, and compares it with the interpreter.
fn attempt(record: &Json, number: usize, root: &Path) -> Result<(), String> {
    let (file, name) = (record["file"].as_str().unwrap(), record["function"].as_str().unwrap());
    let program = format!("examples/{file}:{name}");
    let given = record["args"].as_object().unwrap();
    let given: Vec<String> = given.iter().map(|(n, v)| format!("{n}={}", typed(v))).collect();
    let wrt = record["wrt"].as_array().unwrap().iter().map(|n| n.as_str().unwrap());
    let wrt = wrt.collect::<Vec<_>>().join(",");
    let folder = root.join(number.to_string());
    let shown = folder.display().to_string();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let common = [&[program.as_str()], &given[..], &["--wrt", &wrt]].concat();

    let emitted = wengert(&[&["emit"], &common[..], &["--lang", "c", "--out", &shown]].concat());
    if !emitted.status.success() {
        return Err(said(&emitted));
    }
    // All ways of compiling give the same numbers.
    let flags: &[&str] = match number % 4 {
        0 => &["-O2"],
        1 => &["-O3", "-march=native"],
        2 => &["-O0", "-std=c11"],
        _ => &["-O1"],
    };
    let (library, main) = (format!("{name}.c"), format!("{name}_main.c"));
    compile(&folder, flags, &[&library, &main], "example")?;
    let ran = Command::new(folder.join("example")).output().unwrap();
    if !ran.status.success() {
        return Err(said(&ran));
    }
    let wanted = wengert(&[&["grad"], &common[..], &["--json", "--backend", "interp"]].concat());
    let wanted: Json = serde_json::from_slice(&wanted.stdout).map_err(|e| e.to_string())?;
    let mut all = vec![("value".to_string(), numbers(&wanted["value"]))];
    for (by, partials) in wanted["grad"].as_object().unwrap() {
        all.push((format!("{by}_grad"), numbers(partials)));
    }
    let given = printed(&String::from_utf8_lossy(&ran.stdout));
    let same = given.len() == all.len()
        && given.iter().zip(&all).all(|(g, w)| g.0 == w.0 && bits(&g.1) == bits(&w.1));
    if same { Ok(()) } else { Err(format!("gives\n  {given:?}\nbut should give\n  {all:?}")) }
}

#[test]
fn examples_give_the_bits_of_the_interpreter() {
    if compiler().is_none() {
        return;
    }
    let text = fs::read_to_string(format!("{ROOT}/examples/expected.json")).unwrap();
    let records: Vec<Json> = serde_json::from_str(&text).unwrap();
    // Every example whose result is a number; of several records of one, the first.
    let mut seen = Vec::new();
    let records: Vec<&Json> = records
        .iter()
        .filter(|r| r["result"] == "number")
        .filter(|r| {
            let new = !seen.contains(&&r["file"]);
            seen.push(&r["file"]);
            new
        })
        .collect();
    assert!(records.len() > 40, "only {} examples", records.len());
    let root = folder("examples");
    let waiting = Mutex::new(records.iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some((k, record)) = waiting.lock().unwrap().next() else { return };
            if let Err(error) = attempt(record, k, &root) {
                failures.lock().unwrap().push(format!("{} ({k}): {error}", record["file"]));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
        (0..workers).for_each(|_| _ = scope.spawn(work));
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n\n"));
    let _ = fs::remove_dir_all(root);
}

/// A program in a file of its own, emitted; gives back the folder.
#[track_caller]
fn emitted(name: &str, program: &str, args: &[&str]) -> PathBuf {
    let folder = folder(name);
    let file = folder.join(format!("{name}.py"));
    fs::write(&file, program).unwrap();
    let (file, out) = (file.display().to_string(), folder.display().to_string());
    let ran = wengert(&[&["emit", &file], args, &["--out", &out]].concat());
    assert!(ran.status.success(), "{}", said(&ran));
    folder
}

/// Compiles and runs a program against a library; what it prints.
#[track_caller]
fn run(folder: &Path, library: &str, flags: &[&str], main: &str) -> String {
    fs::write(folder.join("driver.c"), main).unwrap();
    compile(folder, flags, &[library, "driver.c"], "driver").unwrap_or_else(|e| panic!("{e}"));
    let ran = Command::new(folder.join("driver")).output().unwrap();
    assert!(ran.status.success(), "{}", said(&ran));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn errors_are_a_status_and_a_message() {
    if compiler().is_none() {
        return;
    }
    let program = "
def walk(x, n, limit):
    s = 0.0
    for i in range(n):
        for j in range(2):
            s += x[i + j] * x[i]
        assert s < limit, 'too much'
    while s < 0:
        s = s - 1.0
    return s
";
    let folder = emitted("walk", program, &["x=[1, 2, 3]", "n=2", "limit=100"]);
    let main = r#"
#include "walk.h"
#include <stdio.h>
#include <string.h>
static void call(const double *x, int64_t len, int64_t n, double limit) {
  double value = -7, x_grad[8], limit_grad;
  int status = walk_grad(x, len, n, limit, &value, x_grad, &limit_grad);
  printf("%d %g %s\n", status, value, walk_error());
  status = walk_value(x, len, n, limit, &value);
  const char *said = strrchr(walk_error(), '/');
  printf("%d %s\n", status, said ? said + 1 : walk_error());
}
int main(void) {
  double x[4] = { 1, 2, 3, 4 }, down[2] = { -1, 2 };
  call(x, 4, 3, 100);
  call(x, 4, 4, 100);
  call(x, 4, 3, 20);
  call(down, 2, 1, 20);
  call(x, -1, 3, 20);
  call(0, 4, 3, 20);
  return 0;
}
"#;
    let said = run(&folder, "walk.c", &["-O2", "-DWENGERT_MAX_ITERATIONS=50"], main);
    let lines: Vec<&str> = said.lines().collect();
    let ends = |line: usize, start: &str, end: &str| {
        let line = lines[line];
        assert!(line.starts_with(start) && line.ends_with(end), "{line}\nfor {start} .. {end}");
    };
    // 1*1 + 2*1, 2*2 + 3*2, 3*3 + 4*3.
    ends(0, "0 34 ", "");
    assert_eq!(lines[1], "0 ");
    let index = "walk.py:6: index 4 is out of range: `x` has 4 elements (in iteration 1 of the loop on line 5, in iteration 3 of the loop on line 4)";
    ends(2, "1 -7 ", index);
    assert_eq!(lines[3], format!("1 {index}"));
    let assertion = "walk.py:7: assertion failed: too much (in iteration 2 of the loop on line 4)";
    ends(4, "6 -7 ", assertion);
    assert_eq!(lines[5], format!("6 {assertion}"));
    let endless = "walk.py:8: the loop did not end within the limit of 50 iterations";
    ends(6, "7 -7 ", endless);
    ends(8, "11 -7 ", "argument `x` has dimensions that no array has");
    ends(10, "11 -7 ", "argument `x` is a null pointer");
}

/// Arguments are read only, also where the function writes into them; calls do not disturb each other; what is
/// compiled with other arithmetic says so.
#[test]
fn arguments_threads_and_flags() {
    if compiler().is_none() {
        return;
    }
    let program = "
def smooth(u, b, k: int):
    for step in range(k):
        for i in range(1, len(u) - 1):
            u[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
    return sum(u * b) + sum(u[::-1] @ u.reshape((len(u), 1)))
";
    let folder = emitted("smooth", program, &["u=[1, 0, 2, 0]", "b=[3]", "k=5"]);
    let main = r#"
#include "smooth.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static double u[40], b[1] = { 3 }, wanted, wanted_grad[40];
static void *again(void *k) {
  static int failed[4];
  int *mine = &failed[*(int *)k];
  for (int n = 0; n < 200; n++) {
    double value, u_grad[40], b_grad[1];
    *mine |= smooth_grad(u, 40, b, 1, 5 + *(int *)k % 2, &value, u_grad, b_grad);
    if (*(int *)k % 2 == 0) *mine |= value != wanted || memcmp(u_grad, wanted_grad, sizeof u_grad);
    *mine |= smooth_value(u, 0, b, 2, 5, &value) != 11;
  }
  return mine;
}
int main(void) {
  double before[40], b_grad[1];
  for (int k = 0; k < 40; k++) u[k] = before[k] = 1.0 / (1 + k * k % 7);
  int status = smooth_grad(u, 40, b, 1, 5, &wanted, wanted_grad, b_grad);
  printf("%d %d\n", status, memcmp(u, before, sizeof u));
  pthread_t threads[4];
  int numbers[4] = { 0, 1, 2, 3 };
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], 0, again, &numbers[k]);
  for (int k = 0; k < 4; k++) {
    void *failed;
    pthread_join(threads[k], &failed);
    printf("%d\n", *(int *)failed);
  }
  status = smooth_grad(u, 20, u, 20, 5, &wanted, wanted_grad, b_grad);
  printf("%d %s\n", status, strrchr(smooth_error(), '/') + 1);
  return 0;
}
"#;
    let said = run(&folder, "smooth.c", &["-O2", "-pthread", "-DWENGERT_TAPE_BYTES=1000000"], main);
    let unit = "11 smooth.py: argument `b` must have 1 element along axis 0: the library was written for such an array";
    assert_eq!(said, format!("0 0\n0\n0\n0\n0\n{unit}\n"));
    // A tape that is too short, and one without reserved addresses.
    let plain = run(&folder, "smooth.c", &["-pthread", "-DWENGERT_NO_MMAP"], main);
    assert_eq!(plain, said);
    let short = run(&folder, "smooth.c", &["-pthread", "-DWENGERT_TAPE_BYTES=64"], main);
    assert!(short.starts_with("8 0\n"), "{short}");
    if cfg!(target_arch = "x86_64") {
        // Behind our flags these count.
        let fused = ["-pthread", "-O2", "-mfma", "-ffp-contract=fast"];
        if std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|c| c.contains(" fma ")) {
            let said = run(&folder, "smooth.c", &fused, main);
            assert!(said.starts_with("12 0\n"), "{said}");
        }
    }
    let fast = compile(&folder, &["-ffast-math"], &["smooth.c", "driver.c", "-pthread"], "fast");
    assert!(fast.is_err_and(|e| e.contains("without -ffast-math")));
}

#[test]
fn what_cannot_be_emitted_is_said() {
    let folder = folder("refused");
    let out = folder.display().to_string();
    let refused = |args: &[&str], wanted: &str| {
        let ran = wengert(&[&["emit"], args, &["--out", &out]].concat());
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        assert!(said(&ran).contains(wanted), "{}\nfor {wanted}", said(&ran));
    };
    refused(&["examples/newton.py", "--lang", "cobol"], "[possible values: c]");
    refused(&["examples/newton.py:neuton"], "did you mean `newton`?");
    refused(&["examples/array_map.py", "x=[1, 2]"], "a gradient is of one float");
    refused(&["examples/newton.py", "--wrt", "b"], "has no parameter `b`");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    // Files that are somebody else's stay.
    fs::write(folder.join("newton.h"), "/* mine */\n").unwrap();
    refused(&["examples/newton.py"], "was not written by wengert");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_file(folder.join("newton.h")).unwrap();
    // Without values, and once more over its own files.
    for _ in 0..2 {
        let ran = wengert(&["emit", "examples/newton.py", "--out", &out]);
        assert!(ran.status.success(), "{}", said(&ran));
        assert!(said(&ran).contains("cc -O2 -ffp-contract=off newton.c newton_main.c -lm"));
    }
    let text = fs::read_to_string(folder.join("newton.h")).unwrap();
    let head =
        "int newton_grad(double a, double x0, double *value, double *a_grad, double *x0_grad);";
    assert!(text.contains(head), "{text}");
}

/// Fortran is compiled where there is a compiler for it.
#[test]
fn fortran_calls_it() {
    let there = Command::new("gfortran").arg("--version").output();
    if compiler().is_none() || !there.is_ok_and(|told| told.status.success()) {
        println!("skipped: there is no Fortran compiler");
        return;
    }
    let folder = emitted(
        "energy",
        "def energy(x, K, on: bool):\n    s = sum(K @ x * x)\n    return s if on else -s\n",
        &["x=[1, 2]", "K=[[1, 2], [3, 4]]", "on=true"],
    );
    let program = "
program main
  use energy_c
  implicit none
  real(c_double) :: x(2), k(2, 2), total, x_grad(2), k_grad(2, 2)
  integer(c_int) :: status
  x = [1d0, 2d0]
  k = reshape([1d0, 2d0, 3d0, 4d0], [2, 2])
  status = energy_grad(x, 2_c_int64_t, k, 2_c_int64_t, 2_c_int64_t, .true._c_bool, total, x_grad, k_grad)
  print '(i0, 7(1x, f0.1))', status, total, x_grad, k_grad
end program main
";
    fs::write(folder.join("main.f90"), program).unwrap();
    compile(&folder, &["-c"], &["energy.c"], "energy.o").unwrap();
    let files = ["-Wall", "energy.f90", "main.f90", "energy.o", "-o", "main", "-lm"];
    let made = Command::new("gfortran").current_dir(&folder).args(files).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let ran = Command::new(folder.join("main")).output().unwrap();
    assert_eq!(said(&ran).trim(), "0 27.0 12.0 21.0 1.0 2.0 2.0 4.0");
}
