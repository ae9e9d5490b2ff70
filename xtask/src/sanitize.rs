//! Tests under tools that watch memory: unsafe code of the runtime, and code it has made.
//!
//! - [`address`]: AddressSanitizer in the runtime and in what the C compiler makes of programs. Cranelift's code is
//!   not instrumented; what it calls is.
//! - [`memcheck`]: valgrind, which sees every access of every kind of code, on written programs.
//!
//! Both are for x86-64 and Linux; what is missing is named.

use crate::{answers, cargo};
use std::path::PathBuf;
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Arguments of `cargo test` that say what is run; those after `--` are the tests'.
type Tests = &'static [&'static [&'static str]];

/// The runtime's own tests, programs against the interpreter, many threads over one program. Not arithmetic on
/// scalars at thousands of points, which touches no memory and takes minutes.
const ADDRESS: Tests = &[
    &["-p", "wengert-kernels", "--lib"],
    &["-p", "wengert-runtime", "--lib", "--tests", "--", "--skip", "prims::"],
    &["-p", "wengert", "--test", "batch"],
    // One of them forgets a tape on purpose, which is a leak.
    &["-p", "wengert", "--test", "tape", "--", "--skip", "a_tape_that_was_forgotten"],
    // Examples in the documentation are linked without the sanitizer.
    &["-p", "wengert-math", "--lib", "--tests"],
];

/// The same, but for what is slow because it is large, a tape of hundreds of megabytes, and for programs at arguments
/// where a product vanishes: under valgrind 3.19 `vfmadd` of a product too small for any number, and a zero, has the
/// zero's sign instead of the product's, so code with one where other code has none gives another zero there.
const MEMCHECK: Tests = &[
    &["-p", "wengert-kernels", "--lib"],
    &["-p", "wengert-runtime", "--lib", "--", "--skip", "memory_is_taken"],
    &[
        "-p",
        "wengert-runtime",
        "--test",
        "differential",
        "--",
        "--skip",
        "prims::",
        "--skip",
        "generated::",
        "--skip",
        "lanes::elementary_functions",
        "--skip",
        "lanes::branches_that_lanes_take_differently",
        "--skip",
        "lanes::random_programs",
        "--skip",
        "a_tape_that_grows",
    ],
    &["-p", "wengert", "--test", "batch"],
    &[
        "-p",
        "wengert",
        "--test",
        "tape",
        "--",
        "--skip",
        "random",
        "--skip",
        "a_long_chain",
        "--skip",
        "what_is_exact",
    ],
];

/// Both, as far as they are there.
pub(crate) fn run() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("--- skipped: sanitizers are set up for {TARGET}");
        return true;
    }
    address() && memcheck()
}

/// AddressSanitizer: a nightly toolchain where there is one, otherwise this one, told to act as such.
fn address() -> bool {
    let mut nightly = Command::new("cargo");
    nightly.arg("+nightly");
    let nightly = answers(nightly);
    // GCC links a runtime of its own to libraries, where the executable has one already.
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    let through_c = format!("{compiler} -fsanitize=address -nodefaultlibs");
    let programs = std::env::var("WENGERT_PROGRAMS").unwrap_or("100".into());
    ADDRESS.iter().all(|tests| {
        let mut command = if nightly { Command::new("cargo") } else { cargo() };
        if nightly {
            command.arg("+nightly").current_dir(cargo().get_current_dir().unwrap_or(".".as_ref()));
        } else {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command.args(["test", "--target", TARGET]).arg("--target-dir").arg(folder("address"));
        command.args(*tests);
        // Libraries find the sanitizer's functions in the executable.
        command.env("RUSTFLAGS", "-Zsanitizer=address -Clink-arg=-Wl,--export-dynamic");
        command.env("CC", &through_c).env("WENGERT_PROGRAMS", &programs);
        // The interpreter allocates for every value; to note by whom takes most of the time. Some tests ask for more
        // memory than there is.
        command.env("ASAN_OPTIONS", "malloc_context_size=6:allocator_may_return_null=1");
        command.env("WENGERT_THROUGH_C", "4").env("WENGERT_CACHE", folder("address/libraries"));
        command.env(
            "WENGERT_STANDALONE_FLAGS",
            "-fsanitize=address,undefined -fno-sanitize-recover=all",
        );
        step("AddressSanitizer", tests, command)
    })
}

/// Valgrind's memcheck.
fn memcheck() -> bool {
    if !answers(Command::new("valgrind")) {
        println!("--- skipped: valgrind is missing");
        return true;
    }
    // Code is made and thrown away at the same addresses, which the default does not expect outside of stacks. The
    // C compiler is not watched, so it sees the machine, of which valgrind knows less.
    let valgrind = "valgrind --quiet --error-exitcode=99 --smc-check=all-non-file \
                    --leak-check=no --num-callers=30";
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    let through_c = format!("{compiler} -mno-avx512f");
    MEMCHECK.iter().all(|tests| {
        let mut command = cargo();
        command.arg("test").args(*tests);
        command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", valgrind);
        command.env("CC", &through_c).env("WENGERT_CACHE", folder("memcheck"));
        step("valgrind", tests, command)
    })
}

/// A folder among the build outputs.
fn folder(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../target").into());
    target.join(name)
}

fn step(tool: &str, tests: &[&str], command: Command) -> bool {
    crate::run(&format!("{tool}: cargo test {}", tests.join(" ")), command)
}
