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
    let dims = kernels::dims(&n.map(scalar::<i64>))?;
    let count = shaped::count(&dims);
    let Some(mut data) = T::room(count) else { return Err(kernels::no_room(&dims)) };
    data.resize(count, value);
    let dims: [usize; R] = std::array::from_fn(|axis| dims[axis]);
    Ok(Array { data, dims })
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

/// An operation that makes something new.
#[inline(always)]
pub fn compute<M: Made>(op: &ArrayOp, args: &[Operand]) -> Result<M, FaultKind> {
    // The verifier has checked the types.
    M::from(kernels::compute(op, args)?).ok_or(FaultKind::Record)
}

/// A check of shapes, which makes nothing.
pub fn nothing(op: &ArrayOp, args: &[Operand]) -> Result<(), FaultKind> {
    kernels::compute(op, args).map(|_| ())
}

/// An operation on an array in place; `args` are the other operands.
#[inline(always)]
pub fn update<T: Element, const R: usize>(
    op: &ArrayOp,
    x: &mut Array<T, R>,
    args: &[Operand],
) -> Result<(), FaultKind> {
    kernels::update(op, &x.dims, T::elements_mut(&mut x.data), args)
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
