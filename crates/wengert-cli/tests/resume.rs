//! Runs in a folder: killed at any moment, and gone on with to the same bits.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PROGRAM: [&str; 8] = [
    "grad",
    "examples/workload_c.py",
    "sigma=10",
    "rho=28",
    "beta=2.5",
    "n=20000000",
    "--json",
    "--backend=jit",
];

fn command(more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wengert"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.args(PROGRAM).args(more).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A folder for a run, which is not there yet.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[track_caller]
fn gradient(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    json["grad"].to_string()
}

/// `WENGERT_KILLS` says how often.
#[test]
fn killed_runs_are_gone_on_with() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let (kills, mut random): (u64, u64) =
        (number("WENGERT_KILLS").unwrap_or(20), number("WENGERT_SEED").unwrap_or(now));
    println!("WENGERT_SEED={random}");
    let wanted = gradient(command(&[]).output().unwrap());
    let folder = folder("killed");
    let disk = format!("{}:20kB", folder.display());
    let resume = ["--memory", "64kB", "--disk", &disk, "--resume", folder.to_str().unwrap()];
    let (mut at_work, mut before) = (0, 0);
    let mut done = 0;
    while done < kills {
        for _ in 0..4 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let part = (random >> 40) as f64 / (1u64 << 24) as f64;
            let mut child = command(&resume).spawn().unwrap();
            std::thread::sleep(Duration::from_secs_f64(0.05 + 1.8 * part));
            child.kill().unwrap();
            child.wait().unwrap();
            done += 1;
            match folder.join("loop-1/journal").exists() {
                true => at_work += 1,
                false => before += 1,
            }
        }
        assert_eq!(gradient(command(&resume).output().unwrap()), wanted);
        assert!(!folder.join("loop-1").exists());
    }
    println!(
        "{done} kills, {at_work} of runs that had written where they stood, {before} of others"
    );
    assert!(at_work > 0);
}

/// Who asks it to end is told how to go on.
#[test]
fn a_run_that_is_asked_to_end() {
    let wanted = gradient(command(&[]).output().unwrap());
    let folder = folder("ended");
    let disk = format!("{}:20kB", folder.display());
    let child = command(&["--memory", "64kB", "--disk", &disk]).spawn().unwrap();
    wait_for(&folder.join("loop-1/journal"));
    let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("interrupted") && told.contains("--resume"), "{told}");
    // It has written where it stood when it was asked, and not been ended by force.
    assert!(told.contains("while running this"), "{told}");
    let resume = ["--memory", "64kB", "--resume", folder.to_str().unwrap(), "--fsync"];
    assert_eq!(gradient(command(&resume).output().unwrap()), wanted);
    assert!(!folder.join("loop-1").exists());
}

/// The same command by a shell that lets no file grow: what is written fails, as on a full disk.
fn on_a_full_disk(more: &[&str]) -> String {
    let mut full = Command::new("sh");
    full.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    full.arg(env!("CARGO_BIN_EXE_wengert")).args(PROGRAM).args(more);
    // Not what the C compiler made.
    let output = full.env("WENGERT_CACHE", "").stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = folder("full");
    let disk = format!("{}:20kB", folder.display());
    let told = on_a_full_disk(&["--memory", "64kB", "--disk", &disk]);
    assert!(told.contains("error[folder]") && told.contains("run-full"), "{told}");
    assert!(told.contains("--disk") && !told.contains("panic"), "{told}");
    assert!(!folder.join("loop-1").exists());
    // A file is no folder, and nobody makes one there.
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-folder");
    std::fs::write(&file, "").unwrap();
    for place in [file.as_path(), Path::new("/proc/wengert")] {
        let disk = format!("{}:20kB", place.join("run").display());
        let output = command(&["--memory", "64kB", "--disk", &disk]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("error[folder]"), "{told}");
        assert!(told.contains(&*place.to_string_lossy()), "{told}");
    }
}

/// A disk that becomes full, on the way there and on the way back: nothing that was written is lost.
#[test]
fn a_disk_that_becomes_full() {
    let wanted = gradient(command(&[]).output().unwrap());
    let folder = folder("filled");
    let disk = format!("{}:20kB", folder.display());
    let resume = ["--memory", "64kB", "--disk", &disk, "--resume", folder.to_str().unwrap()];
    for seconds in [0.0, 0.6, 1.2] {
        let mut child = command(&resume).spawn().unwrap();
        wait_for(&folder.join("loop-1/journal"));
        std::thread::sleep(Duration::from_secs_f64(seconds));
        child.kill().unwrap();
        child.wait().unwrap();
        if folder.join("loop-1/journal").exists() {
            let told = on_a_full_disk(&resume);
            assert!(told.contains("error[folder]"), "{told}");
            assert!(folder.join("loop-1/journal").exists(), "after {seconds} seconds");
        }
    }
    assert_eq!(gradient(command(&resume).output().unwrap()), wanted);
}

/// Waits until a file is there.
fn wait_for(file: &Path) {
    for _ in 0..600 {
        if file.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} does not come", file.display());
}

#[test]
fn what_was_left_is_not_overwritten() {
    let folder = folder("left");
    let disk = format!("{}:20kB", folder.display());
    let run = ["--memory", "64kB", "--disk", &disk];
    let mut child = command(&run).spawn().unwrap();
    let journal = folder.join("loop-1/journal");
    wait_for(&journal);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(journal.exists());
    let refused = |more: &[&str]| {
        let output = command(more).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = refused(&run);
    assert!(told.contains("a run was left there"), "{told}");
    let resume = ["--memory", "64kB", "--resume", folder.to_str().unwrap()];
    // Other arguments are another run.
    let told = refused(&[&resume[..], &["--wrt=rho"]].concat());
    assert!(told.contains("belongs to another loop"), "{told}");
    let good = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &good[..good.len() - 3]).unwrap();
    let told = refused(&resume);
    assert!(told.contains("journal"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}
