//! Tape memory: one contiguous stack that grows without copying.
//!
//! A [`Tape`] reserves a range of addresses far larger than memory; the operating system commits
//! pages as they are first touched. Records can therefore be pushed by raw stores with one compare
//! against a limit. Page faults cost more than the sweep that fills the pages, so tapes are kept in a
//! pool with their pages for the next run, up to [`KEEP`] bytes over all of them.
//!
//! Compiled code gets the addresses [`Tape::base`] and [`Tape::limit_address`] and stays between
//! them; nothing else reads or writes the memory.

use crate::memory;
use memmap2::{MmapMut, MmapOptions};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of touched pages the pool keeps for later runs.
pub const KEEP: usize = 256 << 20;
/// The largest reservation asked for: the addresses of a tape, not its memory.
const RESERVE: usize = 1 << 40;
/// Smaller than this, a tape is of no use.
const RESERVE_LEAST: usize = 1 << 20;
/// Where addresses are few, tapes after the first one are so many times shorter.
const OTHERS: usize = 16;
/// What is reserved for the next tape.
static NEXT: AtomicUsize = AtomicUsize::new(RESERVE);
/// The last bytes of a reservation stay unused, so that no tape ends where another begins.
const APART: usize = 64;
/// Below this offset pages stay small, so that a short run does not clear two mebibytes.
const SMALL_PAGES: usize = 2 << 20;
/// Tapes kept in the pool; address space is not endless.
const POOLED: usize = 16;

/// What is given back to the system comes in units of this.
const PAGE: usize = 64 << 10;

static POOL: Mutex<Vec<Tape>> = Mutex::new(Vec::new());

/// A tape taken from the pool; goes back when dropped.
#[derive(Debug)]
pub struct Lease {
    tape: Option<Tape>,
    limit: usize,
    used: usize,
}

/// There is no address space for a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no address space for a tape")]
pub struct NoTape;

/// An empty tape that may hold this many bytes, by default most of the memory that is left.
///
/// ```
/// let tape = wengert_runtime::tape::lease(Some(1 << 20))?;
/// assert_eq!(tape.limit(), 1 << 20);
/// # Ok::<(), wengert_runtime::tape::NoTape>(())
/// ```
pub fn lease(limit: Option<u64>) -> Result<Lease, NoTape> {
    let pooled = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
    let tape = match pooled {
        Some(tape) => tape,
        None => Tape::reserve().ok_or(NoTape)?,
    };
    let most = tape.map.len() - APART;
    let limit = limit.or_else(|| {
        // Four fifths of what is left, counting the pages this tape already holds.
        memory::available().map(|free| free / 5 * 4 + tape.resident as u64)
    });
    let limit = limit.map_or(most, |bytes| usize::try_from(bytes).unwrap_or(most).min(most));
    Ok(Lease { tape: Some(tape), limit, used: limit })
}

impl Lease {
    /// Bytes the tape may hold.
    pub fn limit(&self) -> u64 {
        self.limit as u64
    }

    /// Says how many bytes were written at most, so that only touched pages are handed back.
    pub fn used(&mut self, bytes: u64) {
        self.used = usize::try_from(bytes).unwrap_or(self.limit).min(self.limit);
    }

    /// Gives pages back to the system, of a tape that holds `top` bytes and was written up to `touched`.
    pub fn give_back_above(&mut self, top: usize, touched: usize) {
        if let Some(tape) = &mut self.tape {
            tape.resident = tape.resident.max(touched.min(self.limit));
            // Whole pages.
            tape.trim(top.next_multiple_of(PAGE));
        }
    }

    /// The address of the empty tape.
    pub fn base(&mut self) -> usize {
        self.tape.as_mut().map_or(0, |tape| tape.map.as_mut_ptr() as usize)
    }

    /// One past the last address that may be written.
    pub fn limit_address(&mut self) -> usize {
        self.base() + self.limit
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(mut tape) = self.tape.take() else { return };
        tape.resident = tape.resident.max(self.used);
        let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if pool.len() < POOLED {
            let kept: usize = pool.iter().map(|t| t.resident).sum();
            if tape.trim(KEEP.saturating_sub(kept)) {
                pool.push(tape);
            }
        }
    }
}

#[derive(Debug)]
struct Tape {
    map: MmapMut,
    /// At most this many bytes from the start hold pages.
    resident: usize,
}

impl Tape {
    fn reserve() -> Option<Tape> {
        let most = NEXT.load(Ordering::Relaxed);
        let mut bytes = most;
        while bytes >= RESERVE_LEAST {
            match Tape::of(bytes) {
                Some(tape) if bytes == most => return Some(tape),
                Some(tape) => {
                    // Addresses are few: half of them, and less for those to come, because others need some, too.
                    drop(tape);
                    let half = (bytes / 2).max(RESERVE_LEAST);
                    NEXT.store((half / OTHERS).max(RESERVE_LEAST), Ordering::Relaxed);
                    return Tape::of(half);
                }
                None => bytes /= 2,
            }
        }
        None
    }

    /// Addresses for so many bytes, if there are any.
    fn of(bytes: usize) -> Option<Tape> {
        let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()?;
        // Advice only: a kernel without huge pages refuses it, and nothing is lost.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(
            memmap2::Advice::HugePage,
            SMALL_PAGES.min(bytes),
            bytes - SMALL_PAGES.min(bytes),
        );
        Some(Tape { map, resident: 0 })
    }

    /// Hands pages beyond `keep` bytes back; `false` where the system cannot.
    fn trim(&mut self, keep: usize) -> bool {
        let keep = keep / PAGE * PAGE;
        if self.resident <= keep {
            return true;
        }
        #[cfg(unix)]
        {
            let length = self.resident.next_multiple_of(PAGE).min(self.map.len()) - keep;
            // SAFETY: the pages become zeros. Nobody holds a reference into the map: either the lease that
            // gave out its address is being dropped, and its run has ended, or the tape ends below them.
            let done = unsafe {
                self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, keep, length)
            };
            self.resident = keep;
            done.is_ok()
        }
        #[cfg(not(unix))]
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_is_reused_and_trimmed() {
        let mut first = lease(Some(1 << 30)).unwrap();
        let base = first.base();
        assert_eq!(first.limit_address() - base, 1 << 30);
        first.used(512 << 20);
        drop(first);
        let resident: usize = POOL.lock().unwrap().iter().map(|t| t.resident).sum();
        assert!(resident <= KEEP, "{resident} bytes are kept");
        // Other tests lease tapes too, so the one handed back need not be the next one. A new one may lie
        // where it lay, but holds no pages.
        let mut taken: Vec<Lease> = (0..POOLED).map(|_| lease(Some(1 << 20)).unwrap()).collect();
        let again = taken.iter_mut().position(|tape| tape.base() == base).expect("the same tape");
        assert!(taken[again].tape.as_ref().unwrap().resident > 0, "the pages are gone");
    }

    /// Bytes of memory behind a range of addresses, as the system counts them.
    #[cfg(target_os = "linux")]
    fn committed(from: usize, bytes: usize) -> usize {
        use std::io::{Read, Seek, SeekFrom};
        let page = 4096;
        let mut map = std::fs::File::open("/proc/self/pagemap").unwrap();
        map.seek(SeekFrom::Start((from / page * 8) as u64)).unwrap();
        let mut entries = vec![0; bytes / page * 8];
        map.read_exact(&mut entries).unwrap();
        let present = |entry: &&[u8; 8]| u64::from_le_bytes(**entry) >> 63 == 1;
        entries.as_chunks::<8>().0.iter().filter(present).count() * page
    }

    /// Memory comes as it is touched, nothing is moved, and what is more than is kept goes back.
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_taken_as_it_is_used_and_handed_back() {
        const MEBI: usize = 1 << 20;
        let all = 400 * MEBI;
        // A new one, so that it holds nothing.
        let tape = Tape::reserve().unwrap();
        let mut tape = Lease { tape: Some(tape), limit: all, used: all };
        let base = tape.base();
        let touch = |from: usize, to: usize| {
            for at in (from..to).step_by(4096) {
                // SAFETY: below the limit of a tape that nobody else has.
                unsafe { ((base + at) as *mut usize).write(at) };
            }
        };
        assert_eq!(committed(base, all), 0);
        touch(0, MEBI);
        assert_eq!(committed(base, all), MEBI);
        touch(MEBI, 10 * MEBI);
        let some = committed(base, all);
        assert!((10 * MEBI..=12 * MEBI).contains(&some), "{some}");
        touch(10 * MEBI, all);
        assert_eq!((tape.base(), committed(base, all)), (base, all));
        for at in (0..all).step_by(4096) {
            // SAFETY: as above.
            assert_eq!(unsafe { ((base + at) as *const usize).read() }, at);
        }
        let mut inner = tape.tape.take().unwrap();
        inner.resident = all;
        assert!(inner.trim(KEEP));
        assert_eq!(committed(base, all), KEEP);
        assert!(inner.trim(0));
        assert_eq!(committed(base, all), 0);
    }

    /// Pages of two mebibytes are asked for beyond the first two.
    #[test]
    #[cfg(target_os = "linux")]
    fn large_pages_are_asked_for() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let mut tape = Tape::reserve().unwrap();
        let base = tape.map.as_mut_ptr() as usize;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let flags_at = |address: usize| {
            let mut lines = maps.lines().skip_while(|line| {
                let range = line.split_whitespace().next().and_then(|r| r.split_once('-'));
                let bounds = range.map(|(from, to)| {
                    (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
                });
                !matches!(bounds, Some((Ok(from), Ok(to))) if (from..to).contains(&address))
            });
            let flags = lines.find_map(|line| line.strip_prefix("VmFlags:"));
            flags.unwrap_or("").split_whitespace().any(|flag| flag == "hg")
        };
        assert!(!flags_at(base));
        // Where addresses are few, it is short.
        let far = (1 << 30).min(tape.map.len() - 1);
        assert!(flags_at(base + SMALL_PAGES) && flags_at(base + far));
    }

    #[test]
    fn the_default_limit_is_less_than_memory() {
        let tape = lease(None).unwrap();
        if let Some(free) = memory::available() {
            assert!(tape.limit() <= free + KEEP as u64);
        }
    }
}
