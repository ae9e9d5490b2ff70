//! Seconds that work takes: the least of several runs.
//!
//! Other programs share the machine. Short work finds moments between them, if it is repeated; long work does
//! not, so for that the time the thread itself spent on a processor is measured too. (Below a millisecond that
//! clock is off by too much to be of use.) Unsafe code: the one system call that tells it.

use std::time::Instant;

/// Work on which the clock of the thread can be relied.
const LONG: f64 = 2e-3;

/// The least seconds of the runs so far.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    wall: f64,
    thread: f64,
}

impl Default for Least {
    fn default() -> Least {
        Least { wall: f64::INFINITY, thread: f64::INFINITY }
    }
}

impl Least {
    /// Runs something once more.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (wall, thread) = (Instant::now(), thread_seconds());
        let result = work();
        let (wall, end) = (wall.elapsed().as_secs_f64(), thread_seconds());
        self.wall = self.wall.min(wall);
        if let (Some(start), Some(end)) = (thread, end) {
            self.thread = self.thread.min(end - start);
        }
        result
    }

    /// The least of them; infinite before the first.
    pub fn seconds(&self) -> f64 {
        if self.wall < LONG { self.wall } else { self.wall.min(self.thread) }
    }
}

/// Runs something once; the seconds it took, and its result.
pub fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let mut least = Least::default();
    let result = least.time(work);
    (least.seconds(), result)
}

/// Seconds this thread has spent on a processor.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn thread_seconds() -> Option<f64> {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const THREAD_CPU: i32 = 3;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the C library's function, whose `timespec` on 64-bit Linux is these two fields; it writes one.
    let failed = unsafe { clock_gettime(THREAD_CPU, &raw mut time) };
    (failed == 0).then_some(time.seconds as f64 + 1e-9 * time.nanoseconds as f64)
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn thread_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let sleep = || std::thread::sleep(Duration::from_millis(50));
        let (slept, ()) = seconds(sleep);
        if thread_seconds().is_some() {
            assert!(slept < 0.04, "{slept}");
        }
        // The lesser of two runs counts.
        let mut least = Least::default();
        assert_eq!(least.seconds(), f64::INFINITY);
        for work in [100_000u64, 10] {
            least.time(|| (0..work).fold(0, |s, k| std::hint::black_box(s + k)));
        }
        assert!(least.seconds() < 1e-4, "{least:?}");
        let wall = Instant::now();
        let (worked, sum) =
            seconds(|| (0..3_000_000u64).fold(0, |s, k| std::hint::black_box(s + k)));
        assert_eq!(sum, 4_499_998_500_000);
        assert!(worked > 0.0 && worked <= wall.elapsed().as_secs_f64());
    }
}
