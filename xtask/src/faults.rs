//! Faults planted on purpose: every one of them must make a test fail.
//!
//! A fault is one replacement in a source file. The sources that git knows are copied beside the build
//! outputs, one fault at a time is planted in the copy, and the tests named with it are built and run,
//! in order, until one fails. A fault that none of them notices is a hole in the tests.

use crate::fault_list::all;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A change to the source that is wrong.
pub(crate) struct Fault {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// The file it is in, from the root of the repository.
    pub(crate) file: &'static str,
    /// The source it replaces, which occurs once in the file.
    pub(crate) from: &'static str,
    /// What stands there instead.
    pub(crate) to: &'static str,
    /// The tests that can notice it, likeliest first: package and test, or `lib` for its unit tests.
    pub(crate) tests: &'static [(&'static str, &'static str)],
}

/// What tests that scale are given. One failure is enough.
const SETTINGS: [(&str, &str); 3] =
    [("WENGERT_SEED", "1"), ("WENGERT_PROGRAMS", "200"), ("WENGERT_FAILURES", "1")];

/// A test that takes longer with a fault is taken not to end.
const LONGEST: Duration = Duration::from_secs(600);

enum Outcome {
    Caught(String),
    NotCaught,
    /// The fault cannot be planted: something else is wrong.
    Broken(String),
}

/// Plants all faults, or those of these names, one after the other.
pub(crate) fn run(names: &[&str]) -> bool {
    let chosen: Vec<&Fault> =
        all().filter(|f| names.is_empty() || names.contains(&f.name)).collect();
    if let Some(name) = names.iter().find(|name| chosen.iter().all(|f| f.name != **name)) {
        eprintln!("there is no fault `{name}`; these there are:");
        all().for_each(|f| eprintln!("  {}", f.name));
        return false;
    }
    let place = match Place::new() {
        Ok(place) => place,
        Err(error) => {
            eprintln!("the sources cannot be copied: {error}");
            return false;
        }
    };
    let (start, mut missed) = (Instant::now(), 0);
    match place.healthy(&chosen) {
        Ok(None) => {}
        Ok(Some(why)) => {
            eprintln!("without a fault, {why}");
            return false;
        }
        Err(error) => {
            eprintln!("the tests cannot be run: {error}");
            return false;
        }
    }
    for (k, fault) in chosen.iter().enumerate() {
        let begun = Instant::now();
        let outcome = place.plant(fault).unwrap_or_else(|e| Outcome::Broken(e.to_string()));
        let verdict = match outcome {
            Outcome::Caught(by) => format!("caught by {by}"),
            Outcome::NotCaught => "NOT CAUGHT".to_string(),
            Outcome::Broken(why) => format!("CANNOT BE PLANTED: {why}"),
        };
        missed += usize::from(!verdict.starts_with("caught"));
        println!(
            "[{}/{}] {}: {verdict} ({:.0} s)",
            k + 1,
            chosen.len(),
            fault.name,
            begun.elapsed().as_secs_f64()
        );
    }
    let caught = chosen.len() - missed;
    println!("{caught} of {} caught in {:.0} s", chosen.len(), start.elapsed().as_secs_f64());
    missed == 0
}

/// Where the copy is and where it is built.
struct Place {
    tree: PathBuf,
    build: PathBuf,
}

impl Place {
    /// Copies the sources. Files that have not changed keep their times, so that they are not built again.
    fn new() -> io::Result<Place> {
        let root = root();
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
        let place = Place { tree: target.join("faults/tree"), build: target.join("faults/build") };
        let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output()?;
        if !listed.status.success() {
            return Err(io::Error::other("`git ls-files` fails"));
        }
        let names = String::from_utf8_lossy(&listed.stdout).into_owned();
        let names: Vec<&str> =
            names.split('\0').filter(|n| !n.is_empty() && root.join(n).is_file()).collect();
        place.forget(&place.tree, &names)?;
        for name in names {
            let text = fs::read(root.join(name))?;
            write(&place.tree.join(name), &text)?;
        }
        Ok(place)
    }

    /// Removes files of an earlier copy that are no longer there.
    fn forget(&self, folder: &Path, names: &[&str]) -> io::Result<()> {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry?.path();
            let name =
                path.strip_prefix(&self.tree).unwrap_or(&path).to_string_lossy().into_owned();
            if path.is_dir() {
                self.forget(&path, names)?;
            } else if !names.contains(&name.replace('\\', "/").as_str()) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// What is wrong without a fault: the tests must pass, or they prove nothing.
    fn healthy(&self, faults: &[&Fault]) -> io::Result<Option<String>> {
        let mut tests: Vec<_> = faults.iter().flat_map(|f| f.tests).collect();
        tests.sort_unstable();
        tests.dedup();
        for (package, test) in tests {
            println!("without a fault: {package} {test}");
            let failed = match self.built(package, test)? {
                Ok(executable) => self.failure(package, &executable)?,
                Err(why) => Some(why),
            };
            if let Some(by) = failed {
                return Ok(Some(format!("{test} fails: {by}")));
            }
        }
        Ok(None)
    }

    fn plant(&self, fault: &Fault) -> io::Result<Outcome> {
        let file = self.tree.join(fault.file);
        let text = fs::read_to_string(&file)?;
        if text.matches(fault.from).count() != 1 {
            let why = format!("its source does not occur once in {}", fault.file);
            return Ok(Outcome::Broken(why));
        }
        write(&file, text.replace(fault.from, fault.to).as_bytes())?;
        let outcome = self.caught(fault);
        write(&file, text.as_bytes())?;
        outcome
    }

    fn caught(&self, fault: &Fault) -> io::Result<Outcome> {
        for (package, test) in fault.tests {
            let executable = match self.built(package, test)? {
                Ok(executable) => executable,
                Err(why) => return Ok(Outcome::Broken(why)),
            };
            if let Some(by) = self.failure(package, &executable)? {
                return Ok(Outcome::Caught(format!("{test}: {by}")));
            }
        }
        Ok(Outcome::NotCaught)
    }

    /// Builds a test; gives back its executable, or why there is none.
    fn built(&self, package: &str, test: &str) -> io::Result<Result<PathBuf, String>> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["test", "--no-run", "--color=never", "-p", package]);
        if test == "lib" {
            cargo.arg("--lib");
        } else {
            cargo.args(["--test", test]);
        }
        cargo.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.build);
        let output = cargo.output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            let error = said.lines().find(|l| l.starts_with("error")).unwrap_or("it fails");
            return Ok(Err(format!("it does not build: {error}")));
        }
        let line = said.lines().rfind(|l| l.trim_start().starts_with("Executable"));
        let path = line.and_then(|l| Some(l.rsplit_once('(')?.1.strip_suffix(')')?.to_string()));
        Ok(path.map(|path| self.tree.join(path)).ok_or("cargo names no executable".into()))
    }

    /// The first test of an executable that fails, if one does.
    fn failure(&self, package: &str, executable: &Path) -> io::Result<Option<String>> {
        let log = self.build.join("output.txt");
        let mut child = Command::new(executable)
            .current_dir(self.tree.join("crates").join(package))
            .envs(SETTINGS)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&log)?)
            .stderr(Stdio::null())
            .spawn()?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > LONGEST => {
                    child.kill()?;
                    child.wait()?;
                    return Ok(Some("it does not end".into()));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let failed =
            said.lines().find_map(|l| l.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        Ok(match failed {
            Some(test) => Some(test.to_string()),
            None if status.success() => None,
            None => Some("the run is cut short".into()),
        })
    }
}

/// Writes a file unless it has that content already.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_planted() {
        for fault in all() {
            let text = fs::read_to_string(root().join(fault.file))
                .unwrap_or_else(|e| panic!("{}: {}: {e}", fault.name, fault.file));
            let count = text.matches(fault.from).count();
            assert_eq!(count, 1, "{}: its source in {}", fault.name, fault.file);
            assert_ne!(fault.from, fault.to, "{}: nothing changes", fault.name);
            assert!(!fault.tests.is_empty(), "{}: no test is named", fault.name);
        }
    }

    #[test]
    fn names_differ() {
        for (k, fault) in all().enumerate() {
            assert!(all().take(k).all(|f| f.name != fault.name), "two are {}", fault.name);
        }
        assert!(all().count() >= 24);
    }
}
