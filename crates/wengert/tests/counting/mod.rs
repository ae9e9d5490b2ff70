//! The bytes of this process that are allocated, counted by its allocator. A test that counts is alone in its process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
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

/// How many are allocated.
pub(crate) fn now() -> usize {
    NOW.load(Ordering::Relaxed)
}

/// The most that were while something ran, beyond so many.
pub(crate) fn most_beyond(before: usize, run: impl FnOnce()) -> u64 {
    MOST.store(now(), Ordering::Relaxed);
    run();
    (MOST.load(Ordering::Relaxed) - before) as u64
}

/// The most that were while something ran, beyond those before.
pub(crate) fn most(run: impl FnOnce()) -> u64 {
    most_beyond(now(), run)
}
