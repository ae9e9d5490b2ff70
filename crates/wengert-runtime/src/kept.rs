//! Lists of words that runs leave behind for the next ones.
//!
//! New memory from the system comes page by page, which takes longer than to write it. So a list that a run has made
//! long is kept, per thread, and not more than [`KEEP`] bytes in each.

use std::cell::RefCell;

/// Bytes of a list that are kept.
const KEEP: usize = 16 << 20;

/// Lists kept.
const LISTS: usize = 4;

thread_local! {
    static LISTS_LEFT: RefCell<Vec<Vec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// An empty list, which may have room already.
pub(crate) fn list() -> Vec<u64> {
    // Not while the thread ends.
    LISTS_LEFT.try_with(|lists| lists.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// A list that is not used any more.
pub(crate) fn give_back(mut list: Vec<u64>) {
    if list.capacity() == 0 || list.capacity() > KEEP / 8 {
        return;
    }
    list.clear();
    let _ = LISTS_LEFT.try_with(|lists| {
        let mut lists = lists.borrow_mut();
        if lists.len() < LISTS {
            lists.push(list);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_used_again_and_empty() {
        let mut first = list();
        first.extend(0..1000);
        let at = first.as_ptr();
        give_back(first);
        let again = list();
        assert!(again.is_empty() && again.as_ptr() == at);
        give_back(Vec::with_capacity(KEEP));
        assert_eq!(list().capacity(), 0, "it is too long");
    }
}
