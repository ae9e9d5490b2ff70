//! The C compiler: which one, which version, how it is called.

use super::{prelude, unfused};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How code is compiled. Nothing here may change a bit: products and sums are not contracted (the program says
/// where they are fused) and nothing is reassociated.
const FLAGS: [&str; 9] = [
    "-O3",
    NATIVE,
    "-std=gnu11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-fvisibility=hidden",
    // Variables that a path does not set, comparisons that are always true: what is printed is no C by hand.
    "-w",
];

/// What GCC needs to be told: a loop over many arrays is worth the comparisons that show them to lie apart.
const GCC_FLAGS: [&str; 1] = ["--param=vect-max-version-for-alias-checks=200"];

/// What GCC is told where a text has no lanes of its own: not to compute two things that have nothing to do with each
/// other in two lanes of a register. Putting them in and taking them out is on the way of whatever waits for either,
/// as in a loop in which each iteration waits for the one before.
const GCC_SCALAR: &str = "-fno-tree-slp-vectorize";

/// Code for this very machine.
const NATIVE: &str = if cfg!(target_arch = "x86_64") { "-march=native" } else { "-mcpu=native" };

/// Registers as wide as there are. For processors that it takes for certain ones of Intel's, GCC prefers half of
/// them: what is in vectors of eight already is then in two halves, and takes twice to three times as long.
const WIDEST: &str = "-mprefer-vector-width=512";

/// A compiler that has told its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    program: PathBuf,
    /// What `$CC` says behind the program.
    words: Vec<String>,
    version: String,
}

impl Toolchain {
    /// The compiler of this process: `$CC`, else `cc`, `clang` or `gcc`, the first that answers. It is looked
    /// for once.
    pub fn get() -> Option<&'static Toolchain> {
        static FOUND: OnceLock<Option<Toolchain>> = OnceLock::new();
        let path = std::env::var_os("PATH").unwrap_or_default();
        FOUND.get_or_init(|| Toolchain::find(std::env::var("CC").ok().as_deref(), &path)).as_ref()
    }

    /// The same with other values of `$CC` and `$PATH`.
    pub fn find(cc: Option<&str>, path: &OsStr) -> Option<Toolchain> {
        let wanted = cc.into_iter().filter(|cc| !cc.trim().is_empty());
        wanted.chain(["cc", "clang", "gcc"]).find_map(|words| {
            let mut words = words.split_whitespace().map(String::from);
            let program = locate(&words.next()?, path)?;
            let words: Vec<String> = words.collect();
            let told = Command::new(&program)
                .args(&words)
                .arg("--version")
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output();
            let told = told.ok().filter(|told| told.status.success())?;
            let version = String::from_utf8_lossy(&told.stdout);
            let version = version.lines().next().unwrap_or("").trim().to_string();
            Some(Toolchain { program, words, version })
        })
    }

    /// Where it lies.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What it says of itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    fn flags(&self) -> Vec<&'static str> {
        let mut flags = FLAGS.to_vec();
        if self.is_gcc() {
            flags.splice(0..0, GCC_FLAGS);
        }
        if cfg!(target_arch = "x86_64") {
            flags.push(WIDEST);
        }
        flags
    }

    fn is_gcc(&self) -> bool {
        !self.version.contains("clang")
    }

    /// Everything about it that decides what it makes of a text.
    fn describe(&self) -> String {
        format!(
            "{:?} {:?} {} {:?} {GCC_SCALAR}",
            self.program,
            self.words,
            self.version,
            self.flags()
        )
    }

    /// Begins to look for the compiler of this process, for those who will ask: it takes a millisecond or two to
    /// tell its version, in which there is something else to do.
    pub(super) fn look() {
        if HOST.get().is_none() {
            // Without a thread, whoever asks looks.
            let _ = std::thread::Builder::new().spawn(host);
        }
    }

    /// Compiles a text to a library; files beside it begin with a name.
    pub(super) fn compile(&self, text: &str, beside: &Path, library: &Path) -> Result<(), String> {
        let (source, assembly) = (beside.with_extension("c"), beside.with_extension("s"));
        let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
        let scalar = (self.is_gcc() && !prelude::has_lanes(text)).then_some(GCC_SCALAR);
        let translate = |text: &str, more: &[&str]| {
            std::fs::write(&source, text).map_err(|e| failed(&source, e))?;
            let mut command = self.command();
            command.args(self.flags()).args(scalar).args(more).args(["-S", "-x", "c"]);
            self.run(command.arg(&source).arg("-o").arg(&assembly))?;
            std::fs::read_to_string(&assembly).map_err(|e| failed(&assembly, e))
        };
        let made = translate(text, &[])?;
        let fused = unfused::fused(&made);
        if !fused.is_empty() {
            let made = translate(&unfused::without_lanes(text, &fused), &[])?;
            if !unfused::fused(&made).is_empty() {
                translate(text, &["-fno-tree-vectorize"])?;
            }
        }
        let mut command = self.command();
        self.run(command.arg("-shared").arg(&assembly).arg("-o").arg(library).arg("-lm"))
    }

    fn command(&self) -> Command {
        let mut command = watched(&self.program);
        command.args(&self.words);
        command
    }

    fn run(&self, command: &mut Command) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.program.display());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        // Open until the compiler has ended, or this process has.
        let _held = child.stdin.take();
        let ran = child.wait_with_output().map_err(failed)?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        let mut said: String = said.trim().chars().take(2000).collect();
        if said.is_empty() {
            said = "it says nothing".into();
        }
        Err(format!("{} ended with {}: {said}", self.program.display(), ran.status))
    }
}

/// A command that ends with this process, however it ends: compilers take up to minutes, and nobody would take what they
/// leave. Its input stays open as long as the process is there.
#[cfg(unix)]
fn watched(program: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    const SCRIPT: &str = "exec 3<&0
        \"$@\" 3<&- </dev/null & made=$!
        { read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & watch=$!
        exec 3<&-
        wait $made; status=$?
        kill -9 $watch
        exit $status";
    let mut command = Command::new("/bin/sh");
    // A group of its own, because the compiler has children, too.
    command.process_group(0).args(["-c", SCRIPT, "sh"]).arg(program);
    command
}

#[cfg(not(unix))]
fn watched(program: &Path) -> Command {
    Command::new(program)
}

/// A program by its path, or by its name along `$PATH`.
fn locate(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        let program = PathBuf::from(name);
        return program.is_file().then_some(program);
    }
    // An empty entry would mean the current folder, in which anything may lie.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}

static HOST: OnceLock<Option<String>> = OnceLock::new();

/// Everything about the compiler of this process and about the machine that decides what is made of a text.
pub(super) fn host() -> Option<&'static str> {
    let host = || Some(format!("{} {}", Toolchain::get()?.describe(), machine()));
    HOST.get_or_init(host).as_deref()
}

/// The machine, as far as compilers care.
fn machine() -> String {
    // One processor speaks for all; the system takes its time for each of many.
    let told = std::fs::File::open("/proc/cpuinfo").map(BufReader::new).map(BufRead::lines);
    let told: Vec<String> =
        told.into_iter().flatten().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
    let line = |name: &str| {
        let mut lines =
            told.iter().filter(|l| l.split(':').next().is_some_and(|k| k.trim() == name));
        lines.next().and_then(|l| l.split_once(':')).map(|(_, value)| value.trim().to_string())
    };
    let facts = ["model name", "flags", "Features", "CPU part"].into_iter().filter_map(line);
    let facts: Vec<String> = facts.collect();
    format!("{} {} {}", std::env::consts::ARCH, std::env::consts::OS, facts.join(" "))
}

/// What of the machine makes loops faster, by the names it is known by.
pub fn cpu_features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("sse4.1", is_x86_feature_detected!("sse4.1")),
            ("avx", is_x86_feature_detected!("avx")),
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
        ];
        known.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_compiler_is_no_error() {
        assert_eq!(Toolchain::find(Some("/nonexistent"), OsStr::new("")), None);
        assert_eq!(Toolchain::find(Some(" "), OsStr::new(".:relative")), None);
        assert_eq!(Toolchain::find(None, OsStr::new("/nonexistent")), None);
    }

    /// One that is asked for and missing does not hide those that are there.
    #[test]
    fn the_first_that_answers() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        assert_eq!(Toolchain::find(Some("/nonexistent"), &path), Toolchain::find(None, &path));
        if let Some(found) = Toolchain::find(None, &path) {
            assert!(found.program().is_absolute() && !found.version().is_empty());
        }
    }
}
