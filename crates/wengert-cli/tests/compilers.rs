//! The C compiler and its cache, as the command meets them: none, one that fails, folders that are not ours, two
//! processes at once, one that is killed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
        self.entries("so")
    }

    /// What runs need beside them.
    fn tables(&self) -> Vec<PathBuf> {
        self.entries("tables")
    }

    fn entries(&self, kind: &str) -> Vec<PathBuf> {
        let found = fs::read_dir(self.cache()).into_iter().flatten().flatten().map(|e| e.path());
        found.filter(|p| p.extension().is_some_and(|e| e == kind)).collect()
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

/// What `doctor` says, one line per thing.
fn doctor(mut command: Command) -> String {
    let said = command.arg("doctor").output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}

#[test]
fn without_a_compiler_only_cc_does_not_work() {
    let folder = Folder::new("none");
    let wanted = wanted(&folder);
    // Asked for and missing, not asked for, and a file that is no program.
    let nothing = folder.0.join("nothing");
    fs::write(&nothing, "").unwrap();
    for cc in [Some("/nonexistent"), None, nothing.to_str()] {
        let bare = |args: &[&str]| {
            let mut command = command(&folder, args);
            command.env("PATH", "").envs(cc.map(|cc| ("CC", cc)));
            command
        };
        let mut args = GRAD;
        args[6] = "auto";
        assert_eq!(told(bare(&args).output().unwrap()), (wanted.clone(), "jit".to_string()));
        let ran = bare(&GRAD).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        let why = "there is no C compiler: neither $CC nor `cc`, `clang` or `gcc` answers";
        let way =
            "install one or set CC to it, or choose the backend `auto` or `jit`, which need none";
        assert!(said.contains(why) && said.contains(way), "{said}");
        let said = doctor(bare(&[]));
        assert!(said.contains("C compiler  none: neither $CC nor `cc`"), "{said}");
        assert!(said.contains("run as native code by Cranelift"), "{said}");
    }
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
    let mut command = command(&folder, &[]);
    command.env("CC", &compiler);
    let said = doctor(command);
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
    // What is no file at all, or lies somewhere else.
    let whole = fs::read(library).unwrap();
    fs::remove_file(library).unwrap();
    fs::create_dir_all(library.join("folder")).unwrap();
    assert_eq!(run(), wanted);
    assert!(library.is_file());
    let away = folder.0.join("away");
    fs::write(&away, whole).unwrap();
    fs::remove_file(library).unwrap();
    std::os::unix::fs::symlink(&away, library).unwrap();
    assert_eq!(run(), wanted);
    assert!(!library.is_symlink() && away.is_file());
    // Another compiler, another entry: this one makes nothing.
    let ran = command(&folder, &GRAD).env("CC", compiler).output().unwrap();
    assert_eq!(told(ran), wanted);
}

/// What runs need beside a library is as good as whole or not there.
#[test]
fn damaged_tables_are_made_again() {
    let folder = Folder::new("tables");
    if !there_is_a_compiler() {
        return;
    }
    let wanted = (wanted(&folder), "cc".to_string());
    let run = || told(command(&folder, &GRAD).output().unwrap());
    assert_eq!(run(), wanted);
    let number = |path: &Path| fs::metadata(path).unwrap().ino();
    let (libraries, found) = (folder.libraries(), folder.tables());
    let ([library], [tables]) = (&libraries[..], &found[..]) else { panic!("{found:?}") };
    let (whole, made, compiled) = (fs::read(tables).unwrap(), number(tables), number(library));
    // They serve as they are, with every backend that can make use of them.
    let mut auto = GRAD;
    auto[6] = "auto";
    assert_eq!(run(), wanted);
    assert_eq!(told(command(&folder, &auto).output().unwrap()), wanted);
    assert_eq!(number(tables), made);
    // Every part of them, damaged; and nothing is compiled for that.
    let mut damaged: Vec<Vec<u8>> = (0..whole.len())
        .step_by(1 + whole.len() / 40)
        .flat_map(|k| {
            let mut changed = whole.clone();
            changed[k] ^= 0x10;
            [whole[..k].to_vec(), changed]
        })
        .collect();
    damaged.push([&whole[..], b"more"].concat());
    damaged.push(fs::read(library).unwrap());
    for damaged in damaged {
        fs::write(tables, &damaged).unwrap();
        assert_eq!(run(), wanted);
        assert_eq!(fs::read(tables).unwrap(), whole);
        assert_eq!(number(library), compiled);
    }
    fs::write(tables, b"").unwrap();
    assert_eq!(told(command(&folder, &auto).output().unwrap()), (wanted.0.clone(), "jit".into()));
    // A folder in their place, a link to what lies somewhere else, what others can write to.
    let _ = fs::remove_file(tables);
    fs::create_dir_all(tables.join("folder")).unwrap();
    assert_eq!(run(), wanted);
    assert!(tables.is_file());
    let away = folder.0.join("away");
    fs::rename(tables, &away).unwrap();
    std::os::unix::fs::symlink(&away, tables).unwrap();
    assert_eq!(run(), wanted);
    assert!(!tables.is_symlink());
    fs::set_permissions(tables, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(run(), wanted);
    assert_eq!(fs::metadata(tables).unwrap().mode() & 0o022, 0);
    // They are left alone when the library is gone, and the library is made again.
    fs::remove_file(library).unwrap();
    assert_eq!(told(command(&folder, &auto).output().unwrap()), (wanted.0.clone(), "jit".into()));
    assert_eq!(run(), wanted);
    assert_eq!(folder.libraries(), libraries);
    assert_eq!(folder.tables(), found);
}

/// What one compiler has made is not for another.
#[test]
fn compilers_have_libraries_of_their_own() {
    let folder = Folder::new("others");
    if !there_is_a_compiler() {
        return;
    }
    let run = |compiler: Option<&str>| {
        let mut command = command(&folder, &GRAD);
        command.envs(compiler.map(|compiler| ("CC", compiler)));
        told(command.output().unwrap())
    };
    let wanted = run(None);
    assert_eq!(folder.libraries().len(), 1);
    let other =
        folder.script("[ \"$1\" = --version ] && { echo other 1.0; exit 0; }\nexec cc \"$@\"");
    for _ in 0..2 {
        assert_eq!(run(Some(&other)), wanted);
        assert_eq!(run(None), wanted);
        assert_eq!((folder.libraries().len(), folder.tables().len()), (2, 1));
    }
}

/// The same program further down in its file shares the library, and errors name the lines where it stands.
#[test]
fn programs_that_move_share_a_library() {
    let folder = Folder::new("moves");
    if !there_is_a_compiler() {
        return;
    }
    let text =
        "def f(x, n):\n    s = 0.0\n    for i in range(n):\n        s += x[i]\n    return s\n";
    let program = folder.0.join("moves.py");
    let args = ["grad", program.to_str().unwrap(), "[1.0,2.0]", "5", "--wrt", "x"];
    let args = [&args[..], &["--backend", "cc"]].concat();
    for lines in [0, 3, 0, 3] {
        fs::write(&program, format!("{}{text}", "# more\n".repeat(lines))).unwrap();
        let ran = command(&folder, &args).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains(&format!("moves.py:{}:", lines + 4)), "{said}");
    }
    assert_eq!((folder.libraries().len(), folder.tables().len()), (1, 2));
}

/// Nothing is put there or taken from there, and `doctor` says why.
#[test]
fn folders_that_are_not_ours_are_not_used() {
    let folder = Folder::new("open");
    if !there_is_a_compiler() {
        return;
    }
    let (cache, away) = (folder.cache(), folder.0.join("away"));
    let mode = |mode: u32| {
        fs::create_dir(&cache).unwrap();
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
    };
    let refused = |why: &str| {
        assert_eq!(told(command(&folder, &GRAD).output().unwrap()).1, "cc");
        assert!(fs::read_dir(&cache).map_or(0, |entries| entries.count()) == 0, "{why}");
        let wanted = format!(
            "cache       not used: `{}` {why}; set WENGERT_CACHE to a folder that only you write to\n",
            cache.display()
        );
        let said = doctor(command(&folder, &[]));
        assert!(said.contains(&wanted), "{said}");
    };
    for open in [0o777, 0o1777, 0o720] {
        mode(open);
        refused("can be written to by others");
        fs::remove_dir(&cache).unwrap();
    }
    fs::create_dir(&away).unwrap();
    std::os::unix::fs::symlink(&away, &cache).unwrap();
    refused("is a link");
    fs::remove_file(&cache).unwrap();
    fs::write(&cache, "").unwrap();
    refused("is no folder");
    fs::remove_file(&cache).unwrap();
    // Only the system can make folders of others.
    mode(0o755);
    if std::os::unix::fs::chown(&cache, Some(12345), None).is_ok() {
        refused("belongs to somebody else");
    }
}

#[test]
fn several_processes_fill_it_at_once() {
    let folder = Folder::new("several");
    if !there_is_a_compiler() {
        return;
    }
    let wanted = (wanted(&folder), "cc".to_string());
    for processes in [2, 4] {
        let _ = fs::remove_dir_all(folder.cache());
        let start = |_| command(&folder, &GRAD).spawn().unwrap();
        let children: Vec<Child> = (0..processes).map(start).collect();
        for child in children {
            assert_eq!(told(child.wait_with_output().unwrap()), wanted);
        }
        assert_eq!(folder.libraries().len(), 1);
        assert_eq!(folder.tables().len(), 1);
        assert_eq!(fs::read_dir(folder.cache()).unwrap().count(), 2, "nothing else is left");
    }
}

/// The least recently used go, not what has just been made.
#[test]
fn it_takes_no_more_than_it_may() {
    let folder = Folder::new("full");
    if !there_is_a_compiler() {
        return;
    }
    assert_eq!(told(command(&folder, &GRAD).output().unwrap()).1, "cc");
    let first = folder.libraries().remove(0);
    // Files with nothing in them take no disk: 300 MB, of which 192 MiB may stay.
    let planted: Vec<PathBuf> = (0..6).map(|k| folder.cache().join(format!("{k}.so"))).collect();
    for (k, path) in planted.iter().enumerate() {
        let file = fs::File::create(path).unwrap();
        file.set_len(50_000_000).unwrap();
        let age = Duration::from_secs(1000 * (k as u64 + 1));
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    // What is found is left as it is; what is added makes room.
    assert_eq!(told(command(&folder, &GRAD).output().unwrap()).1, "cc");
    assert_eq!(folder.libraries().len(), 7);
    let mut args = GRAD;
    (args[1], args[2], args[3]) = ("examples/lorenz.py", "n=10", "sigma=10");
    assert_eq!(told(command(&folder, &args).output().unwrap()).1, "cc");
    let left: Vec<bool> = planted.iter().map(|path| path.exists()).collect();
    assert_eq!(left, [true, true, true, true, false, false]);
    assert!(first.exists());
    assert_eq!(folder.libraries().len(), 6);
}

/// A process is killed somewhere on the way from nothing to an entry: what it leaves serves, or is not there.
/// `WENGERT_KILLS` says how often.
#[test]
fn killed_at_any_moment_it_leaves_a_cache_that_works() {
    let folder = Folder::new("kills");
    if !there_is_a_compiler() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let (kills, mut random) =
        (number("WENGERT_KILLS").unwrap_or(20), number("WENGERT_SEED").unwrap_or(now));
    println!("WENGERT_SEED={random}");
    let wanted = (wanted(&folder), "cc".to_string());
    let run = || told(command(&folder, &GRAD).output().unwrap());
    // The first run is slower than those that are killed.
    assert_eq!(run(), wanted);
    fs::remove_dir_all(folder.cache()).unwrap();
    let begin = Instant::now();
    assert_eq!(run(), wanted);
    let whole = begin.elapsed();
    // Most of the time passes in the compiler: half of the moments are around its end, when the entry is made.
    let mut entries = 0;
    for kill in 0..kills {
        folder.libraries().iter().for_each(|library| fs::remove_file(library).unwrap());
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let part = (random >> 40) as f64 / (1u64 << 24) as f64;
        let part = if kill % 2 == 0 { part } else { 0.75 + 0.35 * part };
        folder.tables().iter().for_each(|tables| fs::remove_file(tables).unwrap());
        let mut child = command(&folder, &GRAD).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(part));
        child.kill().unwrap();
        child.wait().unwrap();
        if let [library] = &folder.libraries()[..] {
            // It serves as it is.
            let made = fs::metadata(library).unwrap().ino();
            assert_eq!(run(), wanted, "kill {kill}");
            assert_eq!(fs::metadata(library).unwrap().ino(), made, "kill {kill}");
            entries += 1;
        } else if kill % 10 == 0 {
            assert_eq!(run(), wanted, "kill {kill}");
        }
    }
    let left = fs::read_dir(folder.cache()).unwrap().flatten();
    let unfinished = left.filter(|entry| entry.path().is_dir()).count();
    println!("{kills} kills, {entries} after the entry was there, {unfinished} left something");
    assert!(unfinished > 0, "nothing was killed at work");
    assert_eq!(run(), wanted);
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
    // A child of the compiler works for a minute, as those of real ones do.
    let compiler = folder.script(&format!(
        "[ \"$1\" = --version ] && {{ echo slow 1.0; exit 0; }}
        sh -c 'for k in $(seq 600); do echo $k >> {}; sleep 0.1; done'
        exit 1",
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
    // The compiler and its child end with it.
    let written = || fs::metadata(&started).unwrap().len();
    let (mut last, mut since) = (written(), Instant::now());
    while since.elapsed() < Duration::from_secs(1) {
        assert!(begin.elapsed() < Duration::from_secs(30), "the compiler works on");
        std::thread::sleep(Duration::from_millis(20));
        if written() > last {
            (last, since) = (written(), Instant::now());
        }
    }
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
