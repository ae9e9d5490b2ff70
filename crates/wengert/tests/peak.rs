//! The memory that a gradient takes under a budget, counted where it is allocated and seen by the kernel.

mod counting;

use counting::{most, most_beyond};
use wengert::{Array, Backend, Function, Invert, Options};

/// The most memory of this process that was resident, in bytes, where the kernel tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// From now on the most is of what comes, where the kernel can do that.
fn forget_resident() {
    _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// One test, because what is counted is of the whole process.
#[test]
fn within_the_budget() {
    ten_million_iterations_in_one_mebibyte();
    arrays_in_three_mebibytes();
    a_plate_in_256_mebibytes();
    taken_back();
}

fn ten_million_iterations_in_one_mebibyte() {
    const MEMORY: u64 = 1 << 20;
    let source = std::fs::read_to_string("../../examples/workload_c.py").unwrap();
    let options = Options { backend: Backend::Jit, memory: Some(MEMORY), ..Options::default() };
    let lorenz = Function::from_source(source, "lorenz").unwrap().with_options(options);
    let gradient = |n: i64| {
        let numbers = [10.0, 28.0, 2.5, 1.0, 1.0, 1.0].map(wengert::Value::from);
        let args: wengert::Args = numbers.into_iter().chain([n.into()]).collect();
        lorenz.value_and_grad(args, ["sigma", "rho", "beta"]).unwrap()
    };
    // What it takes to compile, and to run at all.
    gradient(10_000);
    let (seen, mut tape) = (resident(), 0);
    let allocated = most(|| {
        let stats = gradient(10_000_000).stats;
        assert!(stats.run_again > 9_000_000, "{}", stats.run_again);
        tape = stats.tape_bytes;
    });
    // The tape is not the allocator's.
    let most = allocated + tape;
    assert!(most <= MEMORY + MEMORY / 20, "{most} bytes");
    if let (Some(before), Some(after)) = (seen, resident()) {
        assert!(after - before <= MEMORY + (4 << 20), "{} bytes more", after - before);
    }
}

/// A plate of 512 by 512 cells, everything that it takes included. `WENGERT_ITERATIONS=20000` is a long run.
fn a_plate_in_256_mebibytes() {
    const MEMORY: u64 = 256 << 20;
    let n = std::env::var("WENGERT_ITERATIONS").map_or(300, |n| n.parse::<i64>().unwrap());
    let source = std::fs::read_to_string("../../examples/workload_d2.py").unwrap();
    let options = Options { backend: Backend::Jit, memory: Some(MEMORY), ..Options::default() };
    let react = Function::from_source(source, "react").unwrap().with_options(options);
    let gradient = |n: i64| {
        let cells = (0..512 * 512).map(|k| f64::from(k % 7) / 7.0).collect();
        let cells = Array::new([512, 512], cells).unwrap();
        react.value_and_grad((cells, n), "u").unwrap().stats
    };
    // What it takes to compile.
    gradient(1);
    forget_resident();
    let (seen, before) = (resident(), counting::now());
    let (mut tape, mut done) = (0, None);
    let allocated = most_beyond(before, || {
        let stats = gradient(n);
        assert!(stats.run_again as i64 > n / 2, "{}", stats.run_again);
        (tape, done) = (stats.tape_bytes, stats.loops[0].done);
    });
    let most = allocated + tape;
    println!("{n} iterations: {most} bytes, {done:?}");
    assert!(most <= MEMORY + MEMORY / 20, "{most} bytes");
    if let (Some(before), Some(after)) = (seen, resident()) {
        println!("{} bytes more are resident", after - before);
        assert!(after - before <= MEMORY + MEMORY / 20, "{} bytes more", after - before);
    }
}

/// Two million iterations of a loop that is taken back, in the memory of twenty thousand.
fn taken_back() {
    let text = "
import math

def pendulum(x, v, h, n):
    for i in range(n):
        v -= h * math.sin(x)
        x += h * v
    return x
";
    let invert = Some(Invert::default());
    let options = Options { backend: Backend::Jit, invert, ..Options::default() };
    let pendulum = Function::from_source(text, "pendulum").unwrap().with_options(options);
    let taken = |n: i64| {
        let mut tape = 0;
        let allocated = most(|| {
            let all = pendulum.value_and_grad((1.0, 0.0, 0.01, n), "x").unwrap();
            assert_eq!(all.stats.loops[0].taken_back.unwrap().done.unstepped, n as u64);
            tape = all.stats.tape_bytes;
        });
        allocated + tape
    };
    taken(20_000);
    let (few, many) = (taken(20_000), taken(2_000_000));
    assert!(many <= few + 1024 && many < 32 << 10, "{few} and {many} bytes");
}

/// States that are no longer needed make room for records, and the other way round.
fn arrays_in_three_mebibytes() {
    const MEMORY: u64 = 3 << 20;
    let source = std::fs::read_to_string("../../examples/workload_d2.py").unwrap();
    let options = Options { backend: Backend::Jit, memory: Some(MEMORY), ..Options::default() };
    let react = Function::from_source(source, "react").unwrap().with_options(options);
    let gradient = |n: i64| {
        let cells = Array::new([80, 80], (0..6400).map(|k| f64::from(k % 7)).collect()).unwrap();
        let stats = react.value_and_grad((cells, n), "u").unwrap().stats;
        (stats.run_again, stats.tape_bytes)
    };
    // What it takes to compile; and to run at all.
    gradient(1);
    let least = most(|| _ = gradient(1));
    // Storage that is kept for the next run counts.
    let before = counting::now();
    for n in [300, 1000, 3000] {
        let (mut again, mut tape) = (0, 0);
        let allocated = most_beyond(before, || (again, tape) = gradient(n)) + tape - least;
        println!("{n} iterations: {allocated} bytes");
        assert!(again > n as u64 / 2, "{again}");
        assert!(allocated <= MEMORY + MEMORY / 20, "{n} iterations: {allocated} bytes");
        assert!(allocated >= MEMORY / 2, "{n} iterations: {allocated} bytes");
    }
}
