//! Arbitrary text: whatever is given to wengert, it answers with a program or with errors that lie in the text.
//!
//! Programs and files with mistakes are changed at random (`mutate`) and go through everything up to a short run
//! (`attempt`), in a process of their own, on a small stack. A panic, a crash, a stack that overflows or no
//! answer within ten seconds is a failure; its text is kept under `target/fuzz`.
//!
//! `cargo xtask fuzz --seconds 600` runs longer. `WENGERT_SEED=7` repeats a run. `WENGERT_FUZZ_TEXT=FILE
//! cargo test -p wengert --test fuzz worker -- --nocapture` tries one text again.

mod attempt;
#[path = "../python/generate/mod.rs"]
#[allow(dead_code)]
mod generate;
mod mutate;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wengert_core::check::Random;

/// Longest time one text may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of addresses the child may use: what allocates without asking fails.
const KIBIBYTES: u64 = 4 << 20;

/// The stack texts are tried on: the smallest default of the systems there are.
const STACK: usize = 1 << 20;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, but is `{text}`")))
}

fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    target.join("fuzz")
}

#[test]
fn any_text_is_answered() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let mut seed = number("WENGERT_SEED").unwrap_or(now);
    let seconds = number("WENGERT_FUZZ_SECONDS").unwrap_or(5);
    let most = number("WENGERT_FAILURES").unwrap_or(20);
    println!("WENGERT_SEED={seed}");
    let end = Instant::now() + Duration::from_secs(seconds);
    let home = folder().join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let (mut texts, mut failures) = (0, Vec::new());
    while Instant::now() < end && (failures.len() as u64) < most {
        let (tried, failure) = watch(&mut child(seed, end, &home), &home);
        texts += tried;
        failures.extend(failure);
        seed = Random(seed).bits();
    }
    // What the children noticed themselves.
    for entry in std::fs::read_dir(&home).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("failure-") {
            let reason = std::fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
            if name.ends_with(".py") {
                failures.push(keep(&std::fs::read(&path).unwrap(), &reason));
            }
        }
    }
    std::fs::remove_dir_all(&home).unwrap();
    println!("{texts} texts in {seconds} s, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Starts a process that tries texts until `end`.
fn child(seed: u64, end: Instant, home: &Path) -> Child {
    let left = end.saturating_duration_since(Instant::now()).as_secs().max(1);
    let own = std::env::current_exe().unwrap();
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("ulimit -v {KIBIBYTES}; ulimit -c 0; exec \"$0\" \"$@\"")])
            .arg(own);
        shell
    } else {
        Command::new(own)
    };
    command
        .args(["worker", "--exact", "--nocapture"])
        .env("WENGERT_FUZZ_HOME", home)
        .env("WENGERT_SEED", seed.to_string())
        .env("WENGERT_FUZZ_SECONDS", left.to_string())
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits for a process as long as it makes progress: how many texts it tried, and what ended it.
fn watch(child: &mut Child, home: &Path) -> (u64, Option<String>) {
    let count = || {
        let text = std::fs::read_to_string(home.join("count")).unwrap_or_default();
        text.parse().unwrap_or(0u64)
    };
    let text = || std::fs::read(home.join("current.py")).unwrap_or_default();
    std::fs::write(home.join("count"), "0").unwrap();
    let (mut last, mut since) = (0, Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(50));
        if let Some(status) = child.try_wait().unwrap() {
            let failure = (!status.success()).then(|| keep(&text(), &format!("ended by {status}")));
            return (count(), failure);
        }
        let now = count();
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return (now, Some(keep(&text(), "no answer after ten seconds")));
        }
    }
}

/// Keeps a text that fails; gives back what to print.
fn keep(text: &[u8], reason: &str) -> String {
    let name = text
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    let path = folder().join(format!("{name:016x}.py"));
    std::fs::write(&path, text).unwrap();
    format!("{reason}\n{}\n{}", path.display(), String::from_utf8_lossy(text))
}

/// The process that tries texts. It counts them in a file, and leaves the one it tries in another. With
/// `WENGERT_FUZZ_TEXT` it tries the text of that file alone; started by nobody, it has nothing to do.
#[test]
fn worker() {
    if let Ok(path) = std::env::var("WENGERT_FUZZ_TEXT") {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        for seed in 0..50 {
            attempt::on_a_small_stack(&text, seed, STACK).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    let Some(home) = std::env::var_os("WENGERT_FUZZ_HOME").map(PathBuf::from) else { return };
    let seed = number("WENGERT_SEED").unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(number("WENGERT_FUZZ_SECONDS").unwrap_or(1));
    let mut corpus = mutate::Corpus::new(seed);
    let mut failures = 0;
    let mut count = 0u64;
    while Instant::now() < end && failures < 5 {
        let text = corpus.text();
        std::fs::write(home.join("current.py"), &text).unwrap();
        count += 1;
        std::fs::write(home.join("count"), count.to_string()).unwrap();
        if let Err(reason) = attempt::on_a_small_stack(&text, seed ^ count, STACK) {
            failures += 1;
            let path = home.join(format!("failure-{seed}-{count}.py"));
            std::fs::write(path.with_extension("txt"), reason).unwrap();
            std::fs::write(path, &text).unwrap();
        }
    }
}
