//! Parts of arrays that a loop walks through, found before it runs.
//!
//! A loop whose indices go up or down by one has its checks here, once: what it is given are slices just as long as it takes
//! steps, of which a compiler sees that no index leaves them. Where a part is not there, there is none, and the loop runs with its
//! checks, one of which fails.

use super::array::{Array, Element};

/// The most steps that a loop takes with windows, so that sums of counts do not overflow.
const MOST: i64 = 1 << 40;

/// How many steps a loop takes; none where it takes none, or very many.
#[inline(always)]
pub fn count(start: i64, end: i64) -> Option<usize> {
    let steps = end.wrapping_sub(start);
    (start < end && 0 < steps && steps <= MOST).then_some(steps as usize)
}

/// Whether sums of a few such numbers and counts do not overflow.
#[inline(always)]
pub fn small(x: i64) -> bool {
    -(1 << 60) < x && x < 1 << 60
}

impl<T: Element, const R: usize> Array<T, R> {
    /// Where that many elements along the last axis begin, if all of them are there.
    #[inline(always)]
    fn begins(&self, at: [i64; R], steps: usize) -> Option<usize> {
        let mut begin = 0_usize;
        for (axis, (k, dim)) in at.into_iter().zip(*self.dims()).enumerate() {
            let (k, last) = (k as usize, axis + 1 == R);
            // A negative index is larger than any length.
            if if last { k > dim || steps > dim - k } else { k >= dim } {
                return None;
            }
            begin = begin.wrapping_mul(dim).wrapping_add(k);
        }
        Some(begin)
    }

    /// Elements along the last axis.
    #[inline(always)]
    pub fn window(&self, at: [i64; R], steps: usize) -> Option<&[T]> {
        let begin = self.begins(at, steps)?;
        self.data().get(begin..)?.get(..steps)
    }

    /// Elements along the last axis, to be written.
    #[inline(always)]
    pub fn window_mut(&mut self, at: [i64; R], steps: usize) -> Option<&mut [T]> {
        let begin = self.begins(at, steps)?;
        self.data_mut().get_mut(begin..)?.get_mut(..steps)
    }

    /// Several such windows, where no element is in two of them.
    #[inline(always)]
    pub fn windows_mut<const W: usize>(
        &mut self,
        all: [([i64; R], usize); W],
    ) -> Option<[&mut [T]; W]> {
        let mut ranges = [const { 0..0 }; W];
        for (range, (at, steps)) in ranges.iter_mut().zip(all) {
            let begin = self.begins(at, steps)?;
            *range = begin..begin.wrapping_add(steps);
        }
        self.data_mut().get_disjoint_mut(ranges).ok()
    }

    /// Elements in row-major order.
    #[inline(always)]
    pub fn run(&self, at: i64, steps: usize) -> Option<&[T]> {
        self.data().get(at as usize..)?.get(..steps)
    }

    /// Elements in row-major order, to be written.
    #[inline(always)]
    pub fn run_mut(&mut self, at: i64, steps: usize) -> Option<&mut [T]> {
        self.data_mut().get_mut(at as usize..)?.get_mut(..steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plate() -> Array<f64, 2> {
        Array::new([2, 3], (0..6).map(f64::from).collect()).unwrap()
    }

    #[test]
    fn parts_of_rows() {
        let mut x = plate();
        assert_eq!(x.window([1, 1], 2), Some(&[4.0, 5.0][..]));
        assert_eq!(x.window([1, 3], 0), Some(&[][..]));
        // A row does not go on in the next.
        assert_eq!(x.window([0, 1], 3), None);
        for at in [[-1, 0], [2, 0], [0, -1], [0, 4], [0, i64::MIN], [i64::MAX, 0]] {
            assert_eq!(x.window(at, 1), None, "{at:?}");
            assert_eq!(x.window_mut(at, 1), None, "{at:?}");
        }
        x.window_mut([0, 0], 2).unwrap().fill(7.0);
        assert_eq!(x.data(), [7.0, 7.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn several_parts() {
        let mut x = plate();
        let [one, other] = x.windows_mut([([1, 0], 2), ([0, 1], 2)]).unwrap();
        std::mem::swap(&mut one[0], &mut other[1]);
        assert_eq!(x.data(), [0.0, 1.0, 3.0, 2.0, 4.0, 5.0]);
        assert_eq!(x.windows_mut([([1, 0], 2), ([1, 1], 2)]), None);
    }

    #[test]
    fn whole_arrays() {
        let mut x = plate();
        assert_eq!(x.run(0, 6).unwrap().len(), 6);
        assert_eq!(x.run(4, 3), None);
        assert_eq!(x.run(-1, 1), None);
        assert_eq!(x.run_mut(2, 2).unwrap(), [2.0, 3.0]);
    }

    #[test]
    fn steps() {
        assert_eq!(count(-2, 3), Some(5));
        assert_eq!(count(3, 3), None);
        assert_eq!(count(4, 3), None);
        assert_eq!(count(i64::MIN, i64::MAX), None);
        assert_eq!(count(i64::MIN, 0), None);
        assert!(small(0) && !small(i64::MIN) && !small(i64::MAX));
    }
}
