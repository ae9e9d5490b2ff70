//! The arrays of one run.
//!
//! Compiled code knows an array as an address and a length. The storage belongs to the run: it is
//! freed when compiled code says that the array is dead, at the latest when the run ends, except
//! for the arrays among its results, which move out.

use std::collections::HashMap;
use std::ptr::NonNull;

/// Owns every array a run allocates.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    /// By address. Empty arrays have no storage and are not listed.
    owned: HashMap<usize, Vec<f64>>,
    bytes: u64,
    peak: u64,
}

impl Arrays {
    /// A new array of equal elements; `None` where there is not enough memory.
    pub(crate) fn fill(&mut self, len: usize, value: f64) -> Option<NonNull<f64>> {
        let mut array = self.reserve(len)?;
        array.resize(len, value);
        Some(self.own(array))
    }

    /// A new array with these elements; `None` where there is not enough memory.
    pub(crate) fn copy(&mut self, elements: &[f64]) -> Option<NonNull<f64>> {
        let mut array = self.reserve(elements.len())?;
        array.extend_from_slice(elements);
        Some(self.own(array))
    }

    /// Hands the array at this address out; `None` if it is not one of this run's.
    pub(crate) fn take(&mut self, address: usize, len: usize) -> Option<Vec<f64>> {
        if len == 0 {
            return Some(Vec::new());
        }
        self.owned.remove(&address).filter(|array| array.len() == len)
    }

    /// Frees the array at this address, if it is one of this run's.
    pub(crate) fn free(&mut self, address: usize) {
        if let Some(array) = self.owned.remove(&address) {
            self.bytes -= 8 * array.len() as u64;
            #[cfg(debug_assertions)]
            poison(array);
        }
    }

    /// The most bytes held at once.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak
    }

    fn reserve(&self, len: usize) -> Option<Vec<f64>> {
        let mut array = Vec::new();
        array.try_reserve_exact(len).ok()?;
        Some(array)
    }

    fn own(&mut self, mut array: Vec<f64>) -> NonNull<f64> {
        let address = NonNull::new(array.as_mut_ptr()).unwrap_or(NonNull::dangling());
        if !array.is_empty() {
            self.bytes += 8 * array.len() as u64;
            self.peak = self.peak.max(self.bytes);
            self.owned.insert(address.as_ptr() as usize, array);
        }
        address
    }
}

/// Makes a use of freed storage visible in tests.
#[cfg(debug_assertions)]
fn poison(mut array: Vec<f64>) {
    array.fill(-1.234_567_890_123e300);
    std::hint::black_box(&array);
}
