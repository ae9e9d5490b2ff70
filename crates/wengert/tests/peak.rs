//! The memory that a gradient takes under a budget, counted where it is allocated and seen by the kernel.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use wengert::{Backend, Function, Options};

/// Counts bytes that are allocated, and the most there were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory of this process that was resident, in bytes, where the kernel tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// One test, because what is counted is of the whole process.
#[test]
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
    let (before, seen) = (NOW.load(Ordering::Relaxed), resident());
    MOST.store(before, Ordering::Relaxed);
    let all = gradient(10_000_000);
    assert!(all.stats.run_again > 9_000_000, "{}", all.stats.run_again);
    // The tape is not the allocator's.
    let most = (MOST.load(Ordering::Relaxed) - before) as u64 + all.stats.tape_bytes;
    println!("{most} bytes; {:?}", all.stats.loops);
    assert!(most <= MEMORY + MEMORY / 20, "{most} bytes");
    if let (Some(before), Some(after)) = (seen, resident()) {
        assert!(after - before <= MEMORY + (4 << 20), "{} bytes more", after - before);
    }
}
