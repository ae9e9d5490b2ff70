//! The arrays of one run.
//!
//! Compiled code knows an array as an address and its dimensions. The storage belongs to the run: it is
//! freed when compiled code says that the array is dead, at the latest when the run ends, except
//! for the arrays among its results, which move out.
//!
//! Of a large array the second element begins a cache line (loops over what lies inside an edge start with it), and each
//! begins at another place of its page. A processor takes a load for one
//! from a store before it where their addresses differ by a multiple of 4096 bytes, and waits; arrays of the same size, as
//! systems hand them out, lie that far apart element by element.

use crate::addresses::Addresses;
use crate::small::Small;
use std::collections::{HashMap, VecDeque};
use wengert_core::ops::shaped::Elements;
use wengert_core::ops::{Data, Elem, room};

/// The address of arrays without elements: aligned for every kind, and not null.
const EMPTY: usize = 16;

/// How many arrays are looked through before the others are looked up. Most live for a few instructions.
const RECENT: usize = 8;

/// Arrays of so many doubles and more are large.
const LARGE: usize = 4096;

/// Doubles in a page.
const PAGE: usize = 512;

/// Doubles in a cache line.
const LINE: usize = 8;

/// Where in its page an array begins, in cache lines, from where the one made before it does: no small multiple of it
/// is near a whole page, or near half of one.
const NEXT: usize = 25;

/// Owns every array a run allocates.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    /// Small ones of doubles, except for those that kernels make.
    small: Small,
    /// The last ones made, with their addresses. Empty arrays have no storage and are not listed.
    recent: VecDeque<(usize, Owned)>,
    /// Older ones, by address.
    owned: HashMap<usize, Owned, Addresses>,
    /// How many large ones have been made.
    large: usize,
    bytes: u64,
    peak: u64,
    /// Addresses of arrays made since somebody began to watch; the last one who did comes last.
    watched: Vec<Vec<usize>>,
}

/// The storage of an array.
#[derive(Debug)]
struct Owned {
    data: Data,
    /// How many elements lie before its first one.
    skipped: usize,
}

impl Arrays {
    /// A new vector of equal doubles; `None` where there is not enough memory.
    pub(crate) fn fill(&mut self, len: usize, value: f64) -> Option<usize> {
        if let Some(address) = self.make_small(len) {
            self.small.set(address, value);
            return Some(address);
        }
        let mut array = room::reserve(with_room(len))?;
        let skipped = self.skipped(&array, len);
        array.resize(skipped + len, value);
        Some(self.owned(Data::F64(array), skipped))
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
        let mut array = room::blank(with_room(len))?;
        let skipped = self.skipped(&array, len);
        array.truncate(skipped + len);
        Some(self.owned(Data::F64(array), skipped))
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
            Elements::F64(x) => {
                let mut array = room::reserve(with_room(x.len()))?;
                let skipped = self.skipped(&array, x.len());
                array.resize(skipped, 0.0);
                array.extend_from_slice(x);
                return Some(self.owned(Data::F64(array), skipped));
            }
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
        if let Some(made) = self.watched.last_mut() {
            made.push(address);
        }
        Some(address)
    }

    #[inline]
    fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.peak = self.peak.max(self.bytes);
    }

    /// How many elements to leave out at the start of storage that has room for them.
    fn skipped(&mut self, storage: &[f64], len: usize) -> usize {
        if len < LARGE {
            return 0;
        }
        self.large += 1;
        let wanted = self.large * NEXT * LINE - 1;
        let at = storage.as_ptr() as usize / size_of::<f64>();
        wanted.wrapping_sub(at) % PAGE
    }

    /// Takes over an array; gives back its address.
    pub(crate) fn own(&mut self, array: Data) -> usize {
        self.owned(array, 0)
    }

    fn owned(&mut self, data: Data, skipped: usize) -> usize {
        let mut array = Owned { data, skipped };
        let (address, bytes) = array.place();
        if bytes == 0 {
            return EMPTY;
        }
        self.count(bytes);
        if self.recent.len() == RECENT {
            self.owned.extend(self.recent.pop_front());
        }
        self.recent.push_back((address, array));
        if let Some(made) = self.watched.last_mut() {
            made.push(address);
        }
        address
    }

    /// From now on arrays that are made are noted, after these.
    pub(crate) fn watch(&mut self, first: &[u64]) {
        self.watched.push(first.iter().map(|address| *address as usize).collect());
    }

    /// Those of the arrays noted since the last [`Arrays::watch`] that there are, each once. Who has begun to watch before that has them
    /// noted as well.
    pub(crate) fn watched(&mut self) -> Vec<usize> {
        let mut made = self.watched.pop().unwrap_or_default();
        made.sort_unstable();
        made.dedup();
        made.retain(|address| self.owns(*address));
        if let Some(before) = self.watched.last_mut() {
            before.extend_from_slice(&made);
        }
        made
    }

    /// Whether there is an array of this run at the address.
    pub(crate) fn owns(&self, address: usize) -> bool {
        self.small.bytes(address).is_some()
            || self.recent.iter().any(|(at, _)| *at == address)
            || self.owned.contains_key(&address)
    }

    /// The array at this address, which is not listed any more.
    fn remove(&mut self, address: usize) -> Option<Owned> {
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
        let Owned { mut data, skipped } = self.remove(address)?;
        if let Data::F64(x) = &mut data {
            x.drain(..skipped);
        }
        Some(data)
    }

    /// Frees the array at this address, if it is one of this run's.
    pub(crate) fn free(&mut self, address: usize) {
        if let Some(bytes) = self.small.free(address) {
            self.bytes -= bytes as u64;
            return;
        }
        if let Some(mut array) = self.remove(address) {
            self.bytes -= array.place().1;
            #[cfg(debug_assertions)]
            poison(&mut array.data);
            spare(array.data);
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
        self.recent.drain(..).chain(self.owned.drain()).for_each(|(_, array)| spare(array.data));
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

/// Room for so many doubles, and for leaving out some where there are many.
fn with_room(len: usize) -> usize {
    if len < LARGE { len } else { len.saturating_add(PAGE) }
}

impl Owned {
    /// Where elements lie, and how many bytes they take.
    fn place(&mut self) -> (usize, u64) {
        fn of<T>(x: &mut [T]) -> (usize, u64) {
            (x.as_mut_ptr() as usize, size_of_val(x) as u64)
        }
        match &mut self.data {
            Data::F64(x) => of(&mut x[self.skipped..]),
            Data::F32(x) => of(x),
            Data::I64(x) => of(x),
            Data::Bool(x) => of(x),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_lie_apart() {
        let elements: Vec<f64> = (0..5000).map(f64::from).collect();
        let mut arrays = Arrays::default();
        let made = [
            arrays.fill(5000, 1.5).unwrap(),
            arrays.blank(5000).unwrap(),
            arrays.copy(Elements::F64(&elements)).unwrap(),
        ];
        assert_eq!(arrays.peak_bytes(), 3 * 40_000);
        for (k, a) in made.into_iter().enumerate() {
            assert_eq!((a + 8) % 64, 0);
            for b in &made[..k] {
                let apart = a.abs_diff(*b) % 4096;
                assert!((256..=4096 - 256).contains(&apart), "{apart}");
            }
        }
        assert_eq!(arrays.take(made[2], Elem::F64, 5000), Some(Data::F64(elements)));
        assert_eq!(arrays.take(made[0], Elem::F64, 5000), Some(Data::F64(vec![1.5; 5000])));
        arrays.free(made[1]);
        // Small ones are as they are.
        let small = arrays.fill(10, 0.5).unwrap();
        assert_eq!(arrays.take(small, Elem::F64, 10), Some(Data::F64(vec![0.5; 10])));
    }
}
