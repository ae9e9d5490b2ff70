//! The Python package: a wheel is built for development, installed into an environment of its own, and tested there.
//!
//! It needs `python3`, 3.11 or newer, and from the package index `maturin`, NumPy, SciPy and pytest, which stay in
//! `target/python`. Where they cannot be had the step is left out and says so, unless `WENGERT_REQUIRE_PYTHON` is 1.
//!
//! With `WENGERT_ECOSYSTEM=1` the libraries it works with are installed as well, and their tests run: JAX and PyTorch among them, which are large.

use crate::run;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is installed from the package index.
const PACKAGES: [&str; 4] = ["maturin>=1.8,<2", "numpy", "scipy", "pytest"];

/// What shows that they are there.
const THERE: &str = "import maturin, numpy, scipy, pytest";

/// What is installed beside, when asked for.
const ECOSYSTEM: [&str; 7] = ["jax", "torch", "casadi", "joblib", "dask", "nbclient", "ipykernel"];

/// What shows that these are there.
const ECOSYSTEM_THERE: &str = "import jax, torch, casadi, joblib, dask, nbclient, ipykernel";

/// What shows that a Python is new enough.
const NEW_ENOUGH: &str = "import sys, venv; sys.exit(sys.version_info < (3, 11))";

/// Builds, installs and tests it.
pub(crate) fn test() -> bool {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let environment = target(root).join("python");
    let (bin, exe) = if cfg!(windows) { ("Scripts", ".exe") } else { ("bin", "") };
    let python = environment.join(bin).join(format!("python{exe}"));
    if !works(&python, THERE) {
        if !works(Path::new("python3"), NEW_ENOUGH) {
            return left_out("there is no `python3`, 3.11 or newer, with `venv`");
        }
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&environment);
        if !run("python3 -m venv target/python", venv) {
            return left_out("`python3 -m venv` fails");
        }
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES);
        if !run(&format!("pip install {}", PACKAGES.join(" ")), pip) {
            return left_out("the packages cannot be installed");
        }
    }
    let is_whole = std::env::var_os("WENGERT_ECOSYSTEM").is_some_and(|x| x == "1");
    if is_whole && !works(&python, ECOSYSTEM_THERE) {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"]).args(ECOSYSTEM);
        if !run(&format!("pip install {}", ECOSYSTEM.join(" ")), pip) {
            return false;
        }
    }
    let wheels = environment.join("wheels");
    // One of an earlier version would be installed as well.
    let _ = std::fs::remove_dir_all(&wheels);
    let mut build = Command::new(&python);
    build.current_dir(root).args(["-m", "maturin", "build", "--quiet", "--profile", "dev"]);
    build.args(["--interpreter"]).arg(&python).arg("--out").arg(&wheels);
    if !run("maturin build --profile dev", build) {
        return false;
    }
    let wheel = std::fs::read_dir(&wheels).ok().and_then(|mut all| all.next()?.ok());
    let Some(wheel) = wheel else {
        eprintln!("there is no wheel in {}", wheels.display());
        return false;
    };
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]);
    let mut tests = Command::new(&python);
    tests.current_dir(root).args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]);
    run("pip install the wheel", {
        install.arg(wheel.path());
        install
    }) && run("pytest", tests)
}

fn works(python: &Path, program: &str) -> bool {
    let mut command = Command::new(python);
    let ran = command.args(["-c", program]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

fn left_out(why: &str) -> bool {
    let is_required = std::env::var_os("WENGERT_REQUIRE_PYTHON").is_some_and(|x| x == "1");
    let verdict = if is_required { "FAILED" } else { "skipped" };
    println!("--- {verdict}: the Python package, because {why}");
    !is_required
}

/// Where cargo builds.
fn target(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}
