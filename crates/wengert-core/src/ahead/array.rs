//! Arrays of a rank that the compiler knows.
//!
//! The memory of large ones goes from an array that is gone to the next of its size ([`room`]): new memory comes from the system page by
//! page, which takes longer than to fill it.

use crate::fault::FaultKind;
use crate::ops::kernels::{self, Computed, Operand};
use crate::ops::room;
use crate::ops::shaped::{self, Data, Elements, ElementsMut};
use crate::ops::{ArrayOp, Scalar};

/// What arrays hold.
pub trait Element: Copy + Default + 'static {
    /// Borrowed elements, for kernels.
    fn elements(x: &[Self]) -> Elements<'_>;
    /// Borrowed elements that can be written, for kernels.
    fn elements_mut(x: &mut [Self]) -> ElementsMut<'_>;
    /// The elements of what a kernel has made, where they are of this kind.
    fn taken(data: Data) -> Option<Vec<Self>>;
    /// Elements of their own.
    fn data(x: Vec<Self>) -> Data;
    /// Memory for so many elements; `None` where there is none.
    fn room(n: usize) -> Option<Vec<Self>>;
    /// Leaves memory to the next array of its size.
    fn leave(x: Vec<Self>);
    /// One of them.
    fn scalar(self) -> Scalar;
    /// The number that a kernel has made, where it is of this kind.
    fn of(scalar: Scalar) -> Option<Self>;
}

macro_rules! elements {
    ($($ty:ty, $kind:ident, $leave:expr;)*) => {$(
        impl Element for $ty {
            #[inline(always)]
            fn elements(x: &[$ty]) -> Elements<'_> {
                Elements::$kind(x)
            }

            #[inline(always)]
            fn elements_mut(x: &mut [$ty]) -> ElementsMut<'_> {
                ElementsMut::$kind(x)
            }

            fn taken(data: Data) -> Option<Vec<$ty>> {
                match data {
                    Data::$kind(x) => Some(x),
                    _ => None,
                }
            }

            fn data(x: Vec<$ty>) -> Data {
                Data::$kind(x)
            }

            #[inline(always)]
            fn room(n: usize) -> Option<Vec<$ty>> {
                if n >= LARGE {
                    return room::reserve(n);
                }
                let mut room = Vec::new();
                room.try_reserve_exact(n).ok()?;
                Some(room)
            }

            #[inline(always)]
            fn leave(x: Vec<$ty>) {
                $leave(x);
            }

            #[inline(always)]
            fn scalar(self) -> Scalar {
                Scalar::$kind(self)
            }

            #[inline(always)]
            fn of(scalar: Scalar) -> Option<$ty> {
                match scalar {
                    Scalar::$kind(x) => Some(x),
                    _ => None,
                }
            }
        }
    )*};
}
elements! {
    f64, F64, left;
    f32, F32, drop;
    i64, I64, drop;
    bool, Bool, drop;
}

/// So many elements or more are worth keeping their memory.
const LARGE: usize = room::SMALL / size_of::<f64>();

/// Memory that is worth it is kept.
#[inline(always)]
fn left(x: Vec<f64>) {
    if x.capacity() >= LARGE {
        room::give_back(x);
    }
}

/// An array: elements in row-major order, and how many there are along each axis.
#[derive(Debug, PartialEq)]
pub struct Array<T: Element, const R: usize> {
    data: Vec<T>,
    dims: [usize; R],
}

impl<T: Element, const R: usize> Clone for Array<T, R> {
    fn clone(&self) -> Array<T, R> {
        Array { data: copied(&self.data), dims: self.dims }
    }
}

impl<T: Element, const R: usize> Drop for Array<T, R> {
    #[inline(always)]
    fn drop(&mut self) {
        T::leave(std::mem::take(&mut self.data));
    }
}

/// The elements once more.
pub(super) fn copied<T: Element>(x: &[T]) -> Vec<T> {
    let mut copy =
        if x.len() >= LARGE { room::vector(x.len()) } else { Vec::with_capacity(x.len()) };
    copy.extend_from_slice(x);
    copy
}

impl<T: Element, const R: usize> Array<T, R> {
    /// Elements in row-major order; `None` where there are not as many as the shape says.
    pub fn new(dims: [usize; R], data: Vec<T>) -> Option<Array<T, R>> {
        (shaped::checked_count(&dims) == Some(data.len())).then_some(Array { data, dims })
    }

    /// Elements along each axis.
    #[inline(always)]
    pub fn dims(&self) -> &[usize; R] {
        &self.dims
    }

    /// The elements, last axis fastest.
    #[inline(always)]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The elements, to be written.
    #[inline(always)]
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The elements alone.
    pub fn into_data(mut self) -> Vec<T> {
        std::mem::take(&mut self.data)
    }

    /// The number of elements along an axis.
    #[inline(always)]
    pub fn dim(&self, axis: usize) -> i64 {
        // Of a vector it is what indices are compared with.
        (if R == 1 { self.data.len() } else { self.dims[axis] }) as i64
    }

    /// Where an element is, if it is in range. Negative indices are larger than every length.
    #[inline(always)]
    fn place(&self, index: [i64; R]) -> Option<usize> {
        if R == 1 {
            return Some(index[0] as usize);
        }
        let mut at = 0_usize;
        for (k, dim) in index.into_iter().zip(self.dims) {
            if k as usize >= dim {
                return None;
            }
            at = at.wrapping_mul(dim).wrapping_add(k as usize);
        }
        Some(at)
    }

    /// An element.
    #[inline(always)]
    pub fn get(&self, index: [i64; R]) -> Option<T> {
        self.data.get(self.place(index)?).copied()
    }

    /// Sets an element; false where there is none.
    #[inline(always)]
    pub fn set(&mut self, index: [i64; R], value: T) -> bool {
        match self.place(index).and_then(|at| self.data.get_mut(at)) {
            Some(element) => {
                *element = value;
                true
            }
            None => false,
        }
    }

    /// An element by its number in row-major order.
    #[inline(always)]
    pub fn peek(&self, k: i64) -> Result<T, FaultKind> {
        match self.data.get(k as usize) {
            Some(element) => Ok(*element),
            None => Err(outside(k, self.data.len())),
        }
    }

    /// Sets an element by its number in row-major order.
    #[inline(always)]
    pub fn poke(&mut self, k: i64, value: T) -> Result<(), FaultKind> {
        let len = self.data.len();
        match self.data.get_mut(k as usize) {
            Some(element) => {
                *element = value;
                Ok(())
            }
            None => Err(outside(k, len)),
        }
    }

    /// How many elements there are along each axis, and the elements, to be written by a kernel.
    #[inline(always)]
    pub fn parts_mut(&mut self) -> (&[usize], ElementsMut<'_>) {
        (&self.dims, T::elements_mut(&mut self.data))
    }

    /// A slice that lies in one piece, where it is there and does: of one row, or of one element of each axis but the last.
    #[inline(always)]
    pub fn piece(&self, slice: [[i64; 3]; R]) -> Option<Array<T, R>> {
        let (last, lead) = slice.split_last()?;
        if lead.iter().any(|[_, count, _]| *count != 1) || last[2] != 1 {
            return None;
        }
        if !has_slice(&self.dims, slice) {
            return None;
        }
        let mut at = 0;
        for ([start, ..], dim) in slice.into_iter().zip(self.dims) {
            at = at * dim + start as usize;
        }
        let dims = slice.map(|[_, count, _]| count as usize);
        Some(Array { data: copied(self.data.get(at..at + last[1] as usize)?), dims })
    }

    /// The same elements in another shape.
    pub fn reshaped<const S: usize>(mut self, n: [i64; S]) -> Result<Array<T, S>, FaultKind> {
        let dims = n.map(|n| n as usize);
        // Negative lengths are larger than every array.
        if shaped::checked_count(&dims) == Some(self.data.len()) {
            return Ok(Array { data: std::mem::take(&mut self.data), dims });
        }
        let n = n.map(scalar::<i64>);
        let all: Vec<Operand> = std::iter::once(self.operand()).chain(n).collect();
        compute(&ArrayOp::Reshape, &all)
    }

    /// The array as an operand of a kernel.
    #[inline(always)]
    pub fn operand(&self) -> Operand<'_> {
        Operand::Array(&self.dims, T::elements(&self.data))
    }

    /// What a kernel has made.
    fn of(array: shaped::Array) -> Option<Array<T, R>> {
        Array::new(array.shape.try_into().ok()?, T::taken(array.data)?)
    }
}

#[cold]
#[inline(never)]
fn outside(index: i64, len: usize) -> FaultKind {
    FaultKind::Index { array: None, index, len: len as i64, axis: None }
}

/// Operands of kernels that are numbers.
#[inline(always)]
pub fn scalar<T: Element>(x: T) -> Operand<'static> {
    Operand::Scalar(x.scalar())
}

/// A new array of that shape.
pub fn fill<T: Element, const R: usize>(n: [i64; R], value: T) -> Result<Array<T, R>, FaultKind> {
    let mut dims = [0; R];
    for (dim, n) in dims.iter_mut().zip(n) {
        *dim = kernels::length(n)?;
    }
    kernels::reserve(&dims)?;
    filled(dims, value)
}

/// A new array of a shape that memory holds.
pub(super) fn filled<T: Element, const R: usize>(
    dims: [usize; R],
    value: T,
) -> Result<Array<T, R>, FaultKind> {
    let count = shaped::count(&dims);
    let Some(mut data) = T::room(count) else { return Err(kernels::no_room(&dims)) };
    data.resize(count, value);
    Ok(Array { data, dims })
}

/// Whether an array of that shape has a slice, given by start, count and step per axis. A slice of other steps than
/// upwards, or of numbers that are not small, may be there where this says no.
#[inline(always)]
pub fn has_slice<const R: usize>(dims: &[usize; R], slice: [[i64; 3]; R]) -> bool {
    const SMALL: i64 = 1 << 30;
    dims.iter().zip(slice).all(|(dim, [start, count, step])| {
        let small = |x: i64| (0..SMALL).contains(&x);
        let last = start.wrapping_add(count.wrapping_sub(1).wrapping_mul(step));
        small(start)
            && small(count)
            && small(step)
            && step > 0
            && (count == 0 || (last as usize) < *dim)
    })
}

/// What an operation makes of its operands.
pub trait Made: Sized {
    /// From what a kernel gives.
    fn from(computed: Computed) -> Option<Self>;
}

impl<T: Element> Made for T {
    #[inline(always)]
    fn from(computed: Computed) -> Option<T> {
        match computed {
            Computed::Scalar(x) => T::of(x),
            _ => None,
        }
    }
}

impl<T: Element, const R: usize> Made for Array<T, R> {
    #[inline(always)]
    fn from(computed: Computed) -> Option<Array<T, R>> {
        match computed {
            Computed::Array(x) => Array::of(x),
            _ => None,
        }
    }
}

/// What came of an operation that makes something new, as what its type says.
#[inline(always)]
pub fn made<M: Made>(computed: Result<Computed, FaultKind>) -> Result<M, FaultKind> {
    // The verifier has checked the types.
    M::from(computed?).ok_or(FaultKind::Record)
}

/// An operation that makes something new.
pub fn compute<M: Made>(op: &ArrayOp, args: &[Operand]) -> Result<M, FaultKind> {
    made(kernels::compute(op, args))
}

/// A check of shapes, which makes nothing.
pub fn nothing(op: &ArrayOp, args: &[Operand]) -> Result<(), FaultKind> {
    kernels::compute(op, args).map(|_| ())
}

/// An operation on an array in place; `args` are the other operands.
pub fn update<T: Element, const R: usize>(
    op: &ArrayOp,
    x: &mut Array<T, R>,
    args: &[Operand],
) -> Result<(), FaultKind> {
    let (dims, elements) = x.parts_mut();
    kernels::update(op, dims, elements, args)
}

/// The sum over all elements.
#[inline(always)]
pub fn sum<T: kernels::Float + Element, const R: usize>(x: &Array<T, R>) -> T {
    kernels::sum(&x.data)
}

/// The sum of products over all elements, where there are as many in both.
#[inline(always)]
pub fn dot<T: kernels::Float + Element, const R: usize>(
    x: &Array<T, R>,
    y: &Array<T, R>,
) -> Result<T, FaultKind> {
    if x.dims != y.dims {
        return kernels::different("dot", &x.dims, &y.dims);
    }
    Ok(kernels::dot(&x.data, &y.data))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every slice of a small range of starts, counts and steps.
    fn slices(mut look: impl FnMut([[i64; 3]; 2])) {
        let axis =
            || (-1..5).flat_map(|s| (-1..4).flat_map(move |n| (-1..3).map(move |d| [s, n, d])));
        axis().for_each(|rows| axis().for_each(|columns| look([rows, columns])));
    }

    #[test]
    fn slices_in_one_piece_are_those_of_the_kernel() {
        let x = Array::new([3, 4], (0..12).map(|k| k as f64).collect()).unwrap();
        let (mut pieces, mut there) = (0, 0);
        slices(|slice| {
            let mut args = vec![x.operand()];
            args.extend(slice.into_iter().flatten().map(|n| scalar(n)));
            let wanted: Result<Array<f64, 2>, FaultKind> = compute(&ArrayOp::Slice, &args);
            if let Some(piece) = x.piece(slice) {
                assert_eq!(Ok(piece), wanted, "{slice:?}");
                pieces += 1;
            }
            if has_slice(x.dims(), slice) {
                assert!(wanted.is_ok(), "{slice:?}");
                there += 1;
            }
        });
        // Three rows, with two steps that make no difference; up to three elements of four, and none from five starts.
        assert_eq!(pieces, 3 * 2 * (5 + 4 + 3 + 2));
        assert!(there > pieces);
        let far = [[i64::MAX, 1, 1], [0, 4, i64::MAX]];
        assert!(!has_slice(x.dims(), far) && x.piece(far).is_none());
    }

    #[test]
    fn what_is_reshaped_is_what_the_kernel_makes() {
        for wanted in [[2, 6], [12, 1], [0, 12], [-3, -4], [3, 5], [i64::MAX, 2]] {
            let x = Array::new([3, 4], (0..12).map(|k| k as f64).collect()).unwrap();
            let args = [x.operand(), scalar(wanted[0]), scalar(wanted[1])];
            let made: Result<Array<f64, 2>, FaultKind> = compute(&ArrayOp::Reshape, &args);
            assert_eq!(x.clone().reshaped(wanted), made, "{wanted:?}");
        }
    }
}
