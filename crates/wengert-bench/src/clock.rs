//! Seconds that work takes.
//!
//! Other programs share the machine, so the time the thread itself spent on a processor is measured beside
//! the time on the wall, and the lesser counts. Unsafe code: the one system call that tells it.

use std::time::Instant;

/// Runs something; the seconds it took, and its result.
pub fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let (wall, thread) = (Instant::now(), thread_seconds());
    let result = work();
    let (wall, end) = (wall.elapsed().as_secs_f64(), thread_seconds());
    let seconds = match (thread, end) {
        (Some(start), Some(end)) => wall.min(end - start),
        _ => wall,
    };
    (seconds, result)
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
        let wall = Instant::now();
        let (worked, sum) =
            seconds(|| (0..3_000_000u64).fold(0, |s, k| std::hint::black_box(s + k)));
        assert_eq!(sum, 4_499_998_500_000);
        assert!(worked > 0.0 && worked <= wall.elapsed().as_secs_f64());
    }
}
