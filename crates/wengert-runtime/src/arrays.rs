//! The arrays of one run.
//!
//! Compiled code knows an array as an address and its dimensions. The storage belongs to the run: it is
//! freed when compiled code says that the array is dead, at the latest when the run ends, except
//! for the arrays among its results, which move out.

use crate::addresses::Addresses;
use crate::small::Small;
use std::collections::{HashMap, VecDeque};
use wengert_core::ops::shaped::Elements;
use wengert_core::ops::{Data, Elem, room};

/// The address of arrays without elements: aligned for every kind, and not null.
const EMPTY: usize = 16;

/// How many arrays are looked through before the others are looked up. Most live for a few instructions.
const RECENT: usize = 8;

/// Owns every array a run allocates.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    /// Small ones of doubles, except for those that kernels make.
    small: Small,
    /// The last ones made, with their addresses. Empty arrays have no storage and are not listed.
    recent: VecDeque<(usize, Data)>,
    /// Older ones, by address.
    owned: HashMap<usize, Data, Addresses>,
    bytes: u64,
    peak: u64,
}

impl Arrays {
    /// A new vector of equal doubles; `None` where there is not enough memory.
    pub(crate) fn fill(&mut self, len: usize, value: f64) -> Option<usize> {
        if let Some(address) = self.make_small(len) {
            self.small.set(address, value);
            return Some(address);
        }
        let mut array = room::reserve(len)?;
        array.resize(len, value);
        Some(self.own(Data::F64(array)))
    }

    /// A new vector of doubles that will be written before anything reads them; `None` where there is not enough
    /// memory.
    pub(crate) fn blank(&mut self, len: usize) -> Option<usize> {
        if let Some(address) = self.make_small(len) {
            // Shows in tests that something does read them.
            #[cfg(debug_assertions)]
            self.small.set(address, -1.234_567_890_123e300);
            return Some(address);
        }
        let array = room::blank(len)?;
        Some(self.own(Data::F64(array)))
    }

    /// A new array with these elements; `None` where there is not enough memory.
    pub(crate) fn copy(&mut self, elements: Elements) -> Option<usize> {
        fn all<T: Copy + 'static>(x: &[T]) -> Option<Vec<T>> {
            let mut array = room::reserve(x.len())?;
            array.extend_from_slice(x);
            Some(array)
        }
        if let Elements::F64(x) = elements
            && let Some(address) = self.make_small(x.len())
        {
            self.small.copy(address, x);
            return Some(address);
        }
        let data = match elements {
            Elements::F64(x) => Data::F64(all(x)?),
            Elements::F32(x) => Data::F32(all(x)?),
            Elements::I64(x) => Data::I64(all(x)?),
            Elements::Bool(x) => Data::Bool(all(x)?),
        };
        Some(self.own(data))
    }

    /// The address of a new small array; `None` where it is none.
    #[inline]
    fn make_small(&mut self, len: usize) -> Option<usize> {
        let address = self.small.make(len)?;
        self.count(8 * len as u64);
        Some(address)
    }

    #[inline]
    fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.peak = self.peak.max(self.bytes);
    }

    /// Takes over an array; gives back its address.
    pub(crate) fn own(&mut self, mut array: Data) -> usize {
        let (address, bytes) = place(&mut array);
        if bytes == 0 {
            return EMPTY;
        }
        self.count(bytes);
        if self.recent.len() == RECENT {
            self.owned.extend(self.recent.pop_front());
        }
        self.recent.push_back((address, array));
        address
    }

    /// The array at this address, which is not listed any more.
    fn remove(&mut self, address: usize) -> Option<Data> {
        match self.recent.iter().rposition(|(at, _)| *at == address) {
            Some(k) => self.recent.remove(k).map(|(_, array)| array),
            None => self.owned.remove(&address),
        }
    }

    /// Hands the array at this address out; `None` if it is not one of this run's.
    pub(crate) fn take(&mut self, address: usize, elem: Elem, len: usize) -> Option<Data> {
        if len == 0 {
            return Some(none(elem));
        }
        if let Some(elements) = self.small.elements(address) {
            let mut array = room::vector(elements.len());
            array.extend_from_slice(elements);
            self.small.free(address);
            return Some(Data::F64(array));
        }
        self.remove(address)
    }

    /// Frees the array at this address, if it is one of this run's.
    pub(crate) fn free(&mut self, address: usize) {
        if let Some(bytes) = self.small.free(address) {
            self.bytes -= bytes as u64;
            return;
        }
        if let Some(mut array) = self.remove(address) {
            self.bytes -= place(&mut array).1;
            #[cfg(debug_assertions)]
            poison(&mut array);
            spare(array);
        }
    }

    /// The most bytes held at once.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak
    }
}

/// What is left goes where the next run finds it.
impl Drop for Arrays {
    fn drop(&mut self) {
        self.recent.drain(..).chain(self.owned.drain()).for_each(|(_, array)| spare(array));
    }
}

/// Storage for other arrays.
fn spare(array: Data) {
    if let Data::F64(storage) = array {
        room::give_back(storage);
    }
}

/// An array without elements.
fn none(elem: Elem) -> Data {
    match elem {
        Elem::F64 => Data::F64(Vec::new()),
        Elem::F32 => Data::F32(Vec::new()),
        Elem::I64 => Data::I64(Vec::new()),
        Elem::Bool => Data::Bool(Vec::new()),
    }
}

/// Where elements lie, and how many bytes they take.
fn place(array: &mut Data) -> (usize, u64) {
    fn of<T>(x: &mut Vec<T>) -> (usize, u64) {
        (x.as_mut_ptr() as usize, size_of_val(x.as_slice()) as u64)
    }
    match array {
        Data::F64(x) => of(x),
        Data::F32(x) => of(x),
        Data::I64(x) => of(x),
        Data::Bool(x) => of(x),
    }
}

/// Makes a use of freed storage visible in tests.
#[cfg(debug_assertions)]
fn poison(array: &mut Data) {
    match array {
        Data::F64(x) => x.fill(-1.234_567_890_123e300),
        Data::F32(x) => x.fill(-1.234_567_9e30),
        Data::I64(x) => x.fill(-1_234_567_890_123_456_789),
        Data::Bool(x) => x.iter_mut().for_each(|b| *b = !*b),
    }
    std::hint::black_box(array);
}
