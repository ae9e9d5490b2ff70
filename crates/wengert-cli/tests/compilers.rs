//! The C compiler and its cache, as the command meets them: none, one that fails, folders that are not ours, two
//! processes at once, one that is killed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of a test's own, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compilers-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// The libraries in the cache.
    fn libraries(&self) -> Vec<PathBuf> {
        let found = fs::read_dir(self.cache()).into_iter().flatten().flatten().map(|e| e.path());
        found.filter(|p| p.extension().is_some_and(|e| e == "so")).collect()
    }

    /// A script to stand for a compiler.
    fn script(&self, text: &str) -> String {
        let path = self.0.join("compiler");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    command.args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.env("WENGERT_CACHE", folder.cache()).env_remove("CC");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const GRAD: [&str; 7] = ["grad", "examples/newton.py", "a=2", "x0=1", "--json", "--backend", "cc"];

/// The derivatives, and what ran.
#[track_caller]
fn told(output: Output) -> (String, String) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    (json["grad"].to_string(), json["stats"]["backend"].as_str().unwrap().to_string())
}

/// The derivatives without a C compiler.
fn wanted(folder: &Folder) -> String {
    let mut args = GRAD;
    args[6] = "jit";
    let (grad, backend) = told(command(folder, &args).output().unwrap());
    assert_eq!(backend, "jit");
    grad
}

fn there_is_a_compiler() -> bool {
    ["cc", "clang", "gcc"].into_iter().any(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|told| told.status.success())
    })
}

#[test]
fn without_a_compiler_everything_works() {
    let folder = Folder::new("none");
    let wanted = wanted(&folder);
    for backend in ["cc", "auto"] {
        let mut args = GRAD;
        args[6] = backend;
        let mut command = command(&folder, &args);
        command.env("CC", "/nonexistent").env("PATH", "");
        assert_eq!(told(command.output().unwrap()), (wanted.clone(), "jit".to_string()));
    }
    let mut doctor = command(&folder, &["doctor"]);
    let said = doctor.env("CC", "/nonexistent").env("PATH", "").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("C compiler  none"), "{said}");
    assert!(said.contains("run as native code by Cranelift"), "{said}");
}

#[test]
fn a_compiler_that_fails_is_an_error_only_where_it_is_asked_for() {
    let folder = Folder::new("fails");
    let wanted = wanted(&folder);
    let compiler = folder
        .script("[ \"$1\" = --version ] && { echo broken 1.0; exit 0; }\necho no luck >&2\nexit 3");
    let ran = command(&folder, &GRAD).env("CC", &compiler).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("the C compiler failed") && said.contains("no luck"), "{said}");
    let mut args = GRAD;
    args[6] = "auto";
    let ran = command(&folder, &args).env("CC", &compiler).output().unwrap();
    assert_eq!(told(ran).0, wanted);
    let said = command(&folder, &["doctor"]).env("CC", &compiler).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("broken 1.0: does not work"), "{said}");
}

#[test]
fn the_cache_serves_again_and_survives_damage() {
    let folder = Folder::new("damage");
    if !there_is_a_compiler() {
        return;
    }
    let wanted = (wanted(&folder), "cc".to_string());
    let run = || told(command(&folder, &GRAD).output().unwrap());
    assert_eq!(run(), wanted);
    let libraries = folder.libraries();
    let [library] = &libraries[..] else { panic!("{libraries:?}") };
    let whole = fs::read(library).unwrap();
    // It serves again: there is nothing to compile with any more.
    let compiler = folder.script("exit 1");
    let used = fs::metadata(library).unwrap().modified().unwrap();
    assert_eq!(run(), wanted);
    assert!(fs::metadata(library).unwrap().modified().unwrap() >= used);
    // Torn, changed, replaced by something else: made again.
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0xff;
    for damaged in [&whole[..whole.len() / 2], &changed, b"", b"#!/bin/sh\n"] {
        fs::write(library, damaged).unwrap();
        assert_eq!(run(), wanted);
        assert_ne!(fs::read(library).unwrap(), damaged);
    }
    // Another compiler, another entry: this one makes nothing.
    let ran = command(&folder, &GRAD).env("CC", compiler).output().unwrap();
    assert_eq!(told(ran), wanted);
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let folder = Folder::new("open");
    if !there_is_a_compiler() {
        return;
    }
    fs::create_dir(folder.cache()).unwrap();
    fs::set_permissions(folder.cache(), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(told(command(&folder, &GRAD).output().unwrap()).1, "cc");
    assert_eq!(fs::read_dir(folder.cache()).unwrap().count(), 0);
    let said = command(&folder, &["doctor"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("not used") && said.contains("written to by others"), "{said}");
}

#[test]
fn several_processes_fill_it_at_once() {
    let folder = Folder::new("several");
    if !there_is_a_compiler() {
        return;
    }
    let wanted = (wanted(&folder), "cc".to_string());
    let children: Vec<Child> = (0..4).map(|_| command(&folder, &GRAD).spawn().unwrap()).collect();
    for child in children {
        assert_eq!(told(child.wait_with_output().unwrap()), wanted);
    }
    assert_eq!(folder.libraries().len(), 1);
}

#[test]
fn a_process_that_is_killed_leaves_nothing_in_the_way() {
    let folder = Folder::new("killed");
    if !there_is_a_compiler() {
        return;
    }
    let wanted = (wanted(&folder), "cc".to_string());
    let started = folder.0.join("started");
    let compiler = folder.script(&format!(
        "[ \"$1\" = --version ] && {{ echo slow 1.0; exit 0; }}\ntouch {}\nexec sleep 2",
        started.display()
    ));
    let mut child = command(&folder, &GRAD).env("CC", compiler).spawn().unwrap();
    let begin = Instant::now();
    while !started.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the compiler was not started");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.libraries().len(), 0);
    assert_eq!(told(command(&folder, &GRAD).output().unwrap()), wanted);
    assert_eq!(folder.libraries().len(), 1);
}

/// However long it takes, a run that is not repeated starts no compiler.
#[test]
fn one_run_starts_no_compiler() {
    let folder = Folder::new("once");
    let started = folder.0.join("started");
    let compiler = folder.script(&format!("touch {}", started.display()));
    let text =
        "def f(x):\n    for i in range(100000000):\n        x = x * 0.5 + 1.0\n    return x\n";
    let program = folder.0.join("long.py");
    fs::write(&program, text).unwrap();
    let args = ["run", program.to_str().unwrap(), "1.0", "--json"];
    let ran = command(&folder, &args).env("CC", compiler).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(json["stats"]["run_seconds"].as_f64().unwrap() > 0.05, "{json}");
    assert!(!started.exists());
}
