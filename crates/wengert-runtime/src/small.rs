//! Small arrays of doubles.
//!
//! A loop makes and leaves behind arrays of the same few sizes in every iteration. They lie in one range of
//! addresses, in whole lines of memory: one that has been freed is the next one of its size, others follow the last
//! one made. So whether an array lies here is a comparison, and making or freeing one a few instructions.
//!
//! The size of each is kept beside the range, so that only what begins there, and is in use, is freed.

use crate::kept;
use crate::tape::{self, Lease};
use std::ptr;

/// Arrays of more bytes lie elsewhere: for those it pays to look for storage that has been used before.
const LARGE: usize = 32 << 10;

/// Bytes of a line of memory.
const LINE: usize = 64;

/// Lines of a page.
const PAGE: usize = 4096 / LINE;

/// Lines left out before the first array, and behind one of whole pages. A processor takes a load for one from a store
/// before it where their addresses differ by whole pages, and waits: so arrays do not begin where tapes do, nor all
/// at the same place of a page.
const APART: usize = 25;

/// The arrays, and what is free.
#[derive(Debug)]
pub(crate) struct Small {
    /// The range they lie in, from the first array on; `None` where there is no address space.
    range: Option<Option<Lease>>,
    base: usize,
    /// Behind the last array made.
    top: usize,
    limit: usize,
    /// Per line, the bytes of the array in use that begins there, or 0.
    bytes: Vec<u64>,
    /// By how many lines they take: arrays that have been freed.
    spare: Vec<Vec<usize>>,
}

impl Default for Small {
    fn default() -> Self {
        let (bytes, spare) = (kept::list(), Vec::new());
        Small { range: None, base: 0, top: 0, limit: 0, bytes, spare }
    }
}

impl Small {
    /// The address of a new array, whose elements are not set; `None` if it is to lie elsewhere.
    #[inline]
    pub(crate) fn make(&mut self, len: usize) -> Option<usize> {
        let bytes = len.checked_mul(8).filter(|bytes| (1..=LARGE).contains(bytes))?;
        let lines = bytes.div_ceil(LINE);
        let address = match self.spare.get_mut(lines).and_then(Vec::pop) {
            Some(address) => address,
            None => self.further(lines)?,
        };
        self.bytes[(address - self.base) / LINE] = bytes as u64;
        Some(address)
    }

    /// The lines behind the last array.
    fn further(&mut self, lines: usize) -> Option<usize> {
        if self.range.is_none() {
            let mut range = tape::lease(Some(u64::MAX)).ok();
            if let Some(range) = &mut range {
                self.base = range.base();
                self.limit = range.limit_address();
                self.top = self.limit.min(self.base + APART * LINE);
            }
            self.range = Some(range);
        }
        let address = self.top;
        let taken = lines + if lines.is_multiple_of(PAGE) { APART } else { 0 };
        if self.limit - address < taken * LINE {
            return None;
        }
        self.top += taken * LINE;
        self.bytes.resize((self.top - self.base) / LINE, 0);
        if self.spare.len() <= lines {
            self.spare.resize_with(lines + 1, Vec::new);
        }
        Some(address)
    }

    /// The bytes of the array in use at this address, if there is one here.
    #[inline]
    pub(crate) fn bytes(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.base)?;
        let bytes = *self.bytes.get(offset / LINE)? as usize;
        (bytes > 0 && offset.is_multiple_of(LINE)).then_some(bytes)
    }

    /// Frees the array at this address; gives back its bytes, if there is one here.
    #[inline]
    pub(crate) fn free(&mut self, address: usize) -> Option<usize> {
        let bytes = self.bytes(address)?;
        // Shows in tests that something still reads it.
        #[cfg(debug_assertions)]
        self.set(address, -1.234_567_890_123e300);
        self.bytes[(address - self.base) / LINE] = 0;
        self.spare[bytes.div_ceil(LINE)].push(address);
        Some(bytes)
    }

    /// Sets every element of the array in use at this address.
    #[inline]
    pub(crate) fn set(&mut self, address: usize, value: f64) {
        let count = self.bytes(address).unwrap_or(0) / 8;
        // SAFETY: an array of that many doubles lies there, in the range; only compiled code refers to it, which is
        // waiting.
        unsafe { std::slice::from_raw_parts_mut(address as *mut f64, count) }.fill(value);
    }

    /// Sets the elements of the array in use at this address, which has as many.
    #[inline]
    pub(crate) fn copy(&mut self, address: usize, elements: &[f64]) {
        let count = elements.len().min(self.bytes(address).unwrap_or(0) / 8);
        // SAFETY: as in `set`; the elements are those of another array, or of the same one.
        unsafe { ptr::copy(elements.as_ptr(), address as *mut f64, count) };
    }

    /// The elements of the array in use at this address, if there is one here.
    pub(crate) fn elements(&self, address: usize) -> Option<&[f64]> {
        let bytes = self.bytes(address)?;
        // SAFETY: as in `set`; who made the array has set every element by now, and nobody does so while the
        // reference is in use.
        Some(unsafe { std::slice::from_raw_parts(address as *const f64, bytes / 8) })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        if let Some(Some(range)) = &mut self.range {
            range.used((self.top - self.base) as u64);
        }
        kept::give_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_are_freed_are_used_again() {
        let mut small = Small::default();
        let [a, b, c] = [5, 64, 60].map(|n| small.make(n).unwrap());
        assert!([a, b, c].iter().all(|x| x % LINE == 0));
        assert_eq!(
            (small.bytes(a), small.bytes(b), small.bytes(c)),
            (Some(40), Some(512), Some(480))
        );
        assert_eq!(small.free(b), Some(512));
        assert_eq!((small.free(b), small.bytes(b)), (None, None), "it is freed once");
        assert_eq!(small.free(c + 8), None, "no array begins there");
        assert_eq!(small.free(c + LINE), None, "no array begins there");
        let [d, e] = [57, 60].map(|n| small.make(n).unwrap());
        assert_eq!(d, b, "as many lines");
        assert!(![a, b, c].contains(&e));
        small.set(e, 2.0);
        small.copy(d, small.elements(e).unwrap().to_vec().as_slice());
        assert_eq!(small.elements(d).unwrap(), [2.0; 57]);
    }

    #[test]
    fn arrays_begin_at_different_places_of_a_page() {
        let mut small = Small::default();
        let places = [512, 512, 1024, 1024].map(|n| small.make(n).unwrap() % 4096);
        assert!(!places.contains(&0), "tapes begin there");
        assert!((1..4).all(|k| !places[..k].contains(&places[k])), "{places:?}");
    }

    #[test]
    fn what_lies_elsewhere_is_not_here() {
        let mut small = Small::default();
        assert_eq!(
            (small.make(0), small.make(LARGE / 8 + 1), small.make(usize::MAX)),
            (None, None, None)
        );
        assert_eq!((small.free(0), small.free(16), small.free(usize::MAX)), (None, None, None));
        let a = small.make(LARGE / 8).unwrap();
        assert_eq!(
            (small.free(a - LINE), small.free(a + LARGE), small.free(16)),
            (None, None, None)
        );
        assert_eq!(small.free(a), Some(LARGE));
    }
}
