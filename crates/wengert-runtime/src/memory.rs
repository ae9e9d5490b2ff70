//! How much memory the machine has left.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Asking the system takes longer than a short run, so an answer serves for a while.
const FRESH: Duration = Duration::from_secs(1);

static LAST: Mutex<Option<(Instant, Option<u64>)>> = Mutex::new(None);

/// Bytes that can be used without swapping; `None` where the system does not say.
pub(crate) fn available() -> Option<u64> {
    let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match *last {
        Some((when, bytes)) if when.elapsed() < FRESH => bytes,
        _ => {
            let bytes = now();
            *last = Some((Instant::now(), bytes));
            bytes
        }
    }
}

/// The same at this moment, for those who are about to use much of it.
pub(crate) fn now() -> Option<u64> {
    [machine(), container()].into_iter().flatten().min()
}

/// `MemAvailable` of `/proc/meminfo`, in kibibytes there.
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// What the control group still allows; exceeding it ends the process without a word.
fn container() -> Option<u64> {
    let number =
        |path: &str| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    let limit = number("/sys/fs/cgroup/memory.max")?;
    let used = number("/sys/fs/cgroup/memory.current")?;
    // Cached file pages count as used there but are given back on demand.
    let stat = std::fs::read_to_string("/sys/fs/cgroup/memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cached: u64 = cached.and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ops::room;

    /// The system would promise it, and end the process once it is used.
    #[test]
    fn all_the_memory_is_too_much_for_an_array() {
        room::ask(now);
        let Some(free) = now().and_then(|bytes| usize::try_from(bytes).ok()) else { return };
        assert!(room::reserve::<u8>(free).is_none());
        assert!(room::reserve::<u8>(1 << 20).is_some());
    }
}
