//! Memory for arrays.
//!
//! Systems promise more memory than they have and end the process that uses it. So a large request is first
//! compared with what is left, where somebody has said how to find that out.

use std::sync::OnceLock;

/// Bytes that can be used without swapping; `None` where the system does not say.
pub type Available = fn() -> Option<u64>;

/// Smaller requests are not worth the question.
const LARGE: usize = 256 << 20;

static AVAILABLE: OnceLock<Available> = OnceLock::new();

/// Says how to find out how much memory is left. The first to say so counts.
pub fn ask(available: Available) {
    AVAILABLE.get_or_init(|| available);
}

/// Room for so many elements; `None` where there is not enough memory.
pub fn reserve<T>(n: usize) -> Option<Vec<T>> {
    let bytes = n.checked_mul(size_of::<T>())?;
    let left = || AVAILABLE.get().and_then(|available| available());
    // A tenth is left to everything else.
    if bytes >= LARGE && left().is_some_and(|left| bytes as u64 > left / 10 * 9) {
        return None;
    }
    let mut room = Vec::new();
    room.try_reserve_exact(n).ok()?;
    Some(room)
}
