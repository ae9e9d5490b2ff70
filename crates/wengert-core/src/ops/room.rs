//! Memory for arrays.
//!
//! Systems promise more memory than they have and end the process that uses it. So a large request is first
//! compared with what is left, where somebody has said how to find that out.
//!
//! A loop that makes arrays makes arrays of the same sizes in every iteration. New memory from the system comes
//! page by page, which takes longer than to fill it, so storage of doubles that has been given back is kept for
//! the next array of its size: per thread, and not more than [`KEEP`] bytes, or [`KEEP_MOST`] where that is little beside
//! what the system has left (a program called again keeps as many states of its loop as before).

use rustc_hash::FxHashMap as HashMap;
use std::any::Any;
use std::cell::RefCell;
use std::sync::OnceLock;

/// Bytes that can be used without swapping; `None` where the system does not say.
pub type Available = fn() -> Option<u64>;

/// Smaller requests are not worth the question.
const LARGE: usize = 256 << 20;

/// Bytes of storage that a thread keeps, without asking how much is left.
pub const KEEP: usize = 64 << 20;

/// Bytes of storage that a thread keeps at most.
pub const KEEP_MOST: usize = 1 << 30;

/// How many times what a thread keeps must be left, for it to be little.
const LITTLE: u64 = 16;

/// Smaller storage is not worth keeping: an allocator has it at hand.
pub(crate) const SMALL: usize = 32 << 10;

static AVAILABLE: OnceLock<Available> = OnceLock::new();

thread_local! {
    static SPARE: RefCell<Spare> = RefCell::default();
}

/// Storage that has been given back.
#[derive(Debug, Default)]
struct Spare {
    /// By how many elements there is room for.
    by_size: HashMap<usize, Vec<Vec<f64>>>,
    bytes: usize,
    /// How much more than [`KEEP`] may be kept, as far as has been asked.
    more: usize,
    /// Whether there was too little left once: then nobody asks again.
    refused: bool,
    /// What may be kept at most for the time being.
    most: Option<usize>,
}

impl Spare {
    /// Whether there is room for so many bytes more.
    fn takes(&mut self, bytes: usize) -> bool {
        self.takes_of(bytes, AVAILABLE.get().copied())
    }

    /// The same, where the system has that much left.
    fn takes_of(&mut self, bytes: usize, available: Option<Available>) -> bool {
        let wanted = self.bytes + bytes;
        if let Some(most) = self.most {
            return wanted <= most;
        }
        if wanted > KEEP + self.more && wanted <= KEEP_MOST && !self.refused {
            let enough = (self.more + 2 * KEEP) as u64 * LITTLE;
            let left = available.and_then(|available| available());
            self.refused = left.is_none_or(|left| left < enough);
            self.more += if self.refused { 0 } else { KEEP };
        }
        wanted <= (KEEP + self.more).min(KEEP_MOST)
    }
}

/// Says how to find out how much memory is left. The first to say so counts.
pub fn ask(available: Available) {
    AVAILABLE.get_or_init(|| available);
}

/// Room for so many elements; `None` where there is not enough memory.
pub fn reserve<T: 'static>(n: usize) -> Option<Vec<T>> {
    let bytes = n.checked_mul(size_of::<T>())?;
    if let Some(kept) = spare(n) {
        return Some(kept);
    }
    let left = || AVAILABLE.get().and_then(|available| available());
    // A tenth is left to everything else.
    if bytes >= LARGE && left().is_some_and(|left| bytes as u64 > left / 10 * 9) {
        return None;
    }
    let mut room = Vec::new();
    room.try_reserve_exact(n).ok()?;
    Some(room)
}

/// Whether there is room for so many bytes.
pub fn fits(bytes: usize) -> bool {
    // Asking takes as long as getting it, so less than that is taken to fit.
    bytes < KEEP / 4 || reserve::<u8>(bytes).is_some()
}

/// So many doubles that will be written before anything reads them; `None` where there is not enough memory. What
/// they are until then depends on what was there before.
pub fn blank(n: usize) -> Option<Vec<f64>> {
    let mut room = match kept(n) {
        Some(kept) => kept,
        None => reserve(n)?,
    };
    room.resize(n, 0.0);
    // Shows in tests that something does read them.
    #[cfg(debug_assertions)]
    room.fill(-1.234_567_890_123e300);
    Some(room)
}

/// Room for so many elements, which are known to fit.
pub fn vector<T: 'static>(n: usize) -> Vec<T> {
    spare(n).unwrap_or_else(|| Vec::with_capacity(n))
}

/// Storage that is not used any more.
pub fn give_back(storage: Vec<f64>) {
    let (n, bytes) = (storage.capacity(), storage.capacity() * size_of::<f64>());
    if bytes < SMALL {
        return;
    }
    // Not while the thread ends: then it is freed.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.takes(bytes) {
            spare.bytes += bytes;
            spare.by_size.entry(n).or_default().push(storage);
        }
    });
}

/// What is given back is kept for the time being as long as it is no more than `most`, of which there is `now` already; what is there
/// and does not fit in goes back to the system.
pub fn keep(now: usize, most: usize) {
    let _ = SPARE.try_with(|spare| {
        let spare = &mut *spare.borrow_mut();
        spare.most = Some(most);
        let room = most.saturating_sub(now);
        for (n, storage) in &mut spare.by_size {
            let bytes = n * size_of::<f64>();
            let many = spare.bytes.saturating_sub(room).div_ceil(bytes.max(1)).min(storage.len());
            storage.truncate(storage.len() - many);
            spare.bytes -= many * bytes;
        }
        spare.by_size.retain(|_, storage| !storage.is_empty());
    });
}

/// As much is kept as usual.
pub fn keep_as_usual() {
    let _ = SPARE.try_with(|spare| spare.borrow_mut().most = None);
}

/// Storage for exactly so many elements that has been given back.
fn spare<T: 'static>(n: usize) -> Option<Vec<T>> {
    let mut none: Option<Vec<T>> = None;
    // Only doubles are kept.
    let found = (&mut none as &mut dyn Any).downcast_mut::<Option<Vec<f64>>>()?;
    *found = kept(n);
    found.iter_mut().for_each(Vec::clear);
    none
}

/// Storage for exactly so many doubles that has been given back, as it was.
fn kept(n: usize) -> Option<Vec<f64>> {
    let bytes = n.checked_mul(size_of::<f64>()).filter(|bytes| *bytes >= SMALL)?;
    let taken = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let found = spare.by_size.get_mut(&n)?.pop()?;
        spare.bytes -= bytes;
        Some(found)
    });
    taken.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_is_kept_for_a_while() {
        let some = || {
            let mut storage: Vec<f64> = vector(10_000);
            storage.resize(10_000, 1.0);
            storage
        };
        let kept = || SPARE.with(|spare| spare.borrow().bytes);
        let (a, b, c) = (some(), some(), some());
        give_back(a);
        give_back(b);
        assert_eq!(kept(), 160_000);
        // One of them fits beside what there is.
        keep(20_000, 100_000);
        assert_eq!(kept(), 80_000);
        give_back(c);
        assert_eq!(kept(), 80_000);
        let a = some();
        assert_eq!(kept(), 0);
        give_back(a);
        assert_eq!(kept(), 80_000);
        keep(0, 0);
        assert_eq!(kept(), 0);
        keep_as_usual();
        give_back(some());
        assert_eq!(kept(), 80_000);
    }

    #[test]
    fn storage_is_used_again() {
        let mut first: Vec<f64> = reserve(10_000).unwrap();
        first.resize(10_000, 2.0);
        let at = first.as_ptr();
        give_back(first);
        let other: Vec<i64> = vector(10_000);
        let again: Vec<f64> = vector(10_000);
        assert!(other.capacity() >= 10_000);
        assert!(again.as_ptr() == at && again.is_empty() && again.capacity() == 10_000);
        let third: Vec<f64> = vector(10_000);
        assert_ne!(third.as_ptr(), at, "it is in use");
    }

    #[test]
    fn more_is_kept_where_there_is_plenty() {
        let kept = |left: Option<Available>| {
            let mut spare = Spare::default();
            for _ in 0..40 {
                if spare.takes_of(KEEP / 2, left) {
                    spare.bytes += KEEP / 2;
                }
            }
            spare.bytes
        };
        assert_eq!(kept(None), KEEP);
        assert_eq!(kept(Some(|| None)), KEEP);
        assert_eq!(kept(Some(|| Some(1 << 60))), KEEP_MOST);
        let some: Available = || Some(3 * KEEP as u64 * LITTLE);
        assert_eq!(kept(Some(some)), 3 * KEEP);
    }

    #[test]
    fn not_more_is_kept_than_is_said() {
        let many: Vec<Vec<f64>> = (0..40).map(|_| vector(1 << 18)).collect();
        many.into_iter().for_each(give_back);
        SPARE.with(|spare| assert_eq!(spare.borrow().bytes, KEEP));
    }
}
