//! Arguments and results: Rust's arrays to those of printed programs, and back.

use super::array::{Array, Element, copied, filled};
use super::faults::Result;
use crate::fault::{Fault, FaultKind};
use crate::span::Span;

/// What slices, arrays and vectors hold: numbers, and arrays of numbers.
pub trait Item: Sized {
    /// The numbers of programs that stand for it.
    type Number: Element;

    /// The lengths of the axes inside.
    fn axes(dims: &mut Vec<usize>);

    /// All numbers, one after the other.
    fn spread(all: &[Self]) -> Vec<Self::Number>;

    /// The items that numbers make; `None` where one does not fit its type.
    fn gather(numbers: Vec<Self::Number>) -> Option<Vec<Self>>;

    /// Writes them where others were, of which there are as many; nothing where one does not fit its type.
    fn put(to: &mut [Self], numbers: &[Self::Number]) -> Option<()>;
}

macro_rules! same {
    ($($ty:ty)*) => {$(
        impl Item for $ty {
            type Number = $ty;

            fn axes(_: &mut Vec<usize>) {}

            fn spread(all: &[$ty]) -> Vec<$ty> {
                copied(all)
            }

            fn gather(numbers: Vec<$ty>) -> Option<Vec<$ty>> {
                Some(numbers)
            }

            fn put(to: &mut [$ty], numbers: &[$ty]) -> Option<()> {
                to.copy_from_slice(numbers);
                Some(())
            }
        }
    )*};
}
same! { f64 f32 bool }

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Item for $ty {
            type Number = i64;

            fn axes(_: &mut Vec<usize>) {}

            fn spread(all: &[$ty]) -> Vec<i64> {
                // What does not fit becomes negative, which programs refuse.
                all.iter().map(|x| *x as i64).collect()
            }

            fn gather(numbers: Vec<i64>) -> Option<Vec<$ty>> {
                numbers.into_iter().map(|x| x.try_into().ok()).collect()
            }

            fn put(to: &mut [$ty], numbers: &[i64]) -> Option<()> {
                to.copy_from_slice(&Self::gather(numbers.to_vec())?);
                Some(())
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl<T: Item, const N: usize> Item for [T; N] {
    type Number = T::Number;

    fn axes(dims: &mut Vec<usize>) {
        dims.push(N);
        T::axes(dims);
    }

    fn spread(all: &[[T; N]]) -> Vec<T::Number> {
        T::spread(all.as_flattened())
    }

    fn gather(numbers: Vec<T::Number>) -> Option<Vec<[T; N]>> {
        let mut items = T::gather(numbers)?.into_iter();
        let count = items.len().checked_div(N).unwrap_or(0);
        let row = |_| <[T; N]>::try_from(items.by_ref().take(N).collect::<Vec<T>>()).ok();
        (0..count).map(row).collect()
    }

    fn put(to: &mut [[T; N]], numbers: &[T::Number]) -> Option<()> {
        T::put(to.as_flattened_mut(), numbers)
    }
}

/// An argument that is passed by `&mut`, where types say how a function is called ([`Takes`]).
#[derive(Clone, Copy, Debug)]
pub struct ByMut<T>(std::marker::PhantomData<T>);

/// That a function takes arguments of these types and gives results of these, what is behind `&mut` last. So a call in another
/// module or crate that was taken for something else does not compile.
#[diagnostic::on_unimplemented(
    message = "the function is called here as `fn{Args} -> {Results}`, which it is not",
    label = "it takes or gives something else",
    note = "arrays of all kinds are `Array`, integers are `i64`; `ByMut` is an argument passed by `&mut`: \
            write `&*x` where `x` is a `&mut` and the function takes a `&`",
    note = "say with `let y: f64 = f(..);` what a call gives"
)]
pub trait Takes<Args, Results> {
    /// The function.
    type Function;
}

/// An array of the items of a slice.
pub fn array<T: Item, const R: usize>(items: &[T]) -> Result<Array<T::Number, R>> {
    shaped(&[items.len()], items)
}

/// An array of items along these axes.
pub fn shaped<T: Item, const R: usize>(axes: &[usize], items: &[T]) -> Result<Array<T::Number, R>> {
    let mut dims = axes.to_vec();
    T::axes(&mut dims);
    let whole = <[usize; R]>::try_from(dims).ok();
    let made = whole.and_then(|dims| Array::new(dims, T::spread(items)));
    made.ok_or_else(|| misfit("an argument has another shape than it should"))
}

/// The items of an array.
pub fn items<T: Item, const R: usize>(array: Array<T::Number, R>) -> Result<Vec<T>> {
    T::gather(array.into_data()).ok_or_else(|| plain(FaultKind::Overflow))
}

/// The items of an array, as many as there should be.
pub fn fixed<T: Item, const R: usize, const N: usize>(
    array: Array<T::Number, R>,
) -> Result<[T; N]> {
    let items = items::<T, R>(array)?;
    <[T; N]>::try_from(items).map_err(|items| wrong_length(N, items.len()))
}

/// The fault of an array of another length than its type says.
pub fn wrong_length(wanted: usize, found: usize) -> Box<Fault> {
    misfit(&format!("an array should have {wanted} elements, and has {found}"))
}

/// Writes the items of an array where others were.
pub fn write<T: Item, const R: usize>(to: &mut [T], array: Array<T::Number, R>) -> Result<()> {
    let (dims, mut inside) = (array.dims(), Vec::new());
    T::axes(&mut inside);
    if dims[0] != to.len() || dims[1..] != inside {
        return Err(misfit(&format!("{} elements were given, {} came out", to.len(), dims[0])));
    }
    T::put(to, array.data()).ok_or_else(|| plain(FaultKind::Overflow))
}

/// An integer of a narrower type.
pub fn narrow<T: TryFrom<i64>>(x: i64) -> Result<T> {
    T::try_from(x).map_err(|_| plain(FaultKind::Overflow))
}

/// That what is written has the shape of what was there.
pub fn kept(was: &[usize], is: &[usize]) -> Result<()> {
    if was == is {
        return Ok(());
    }
    Err(misfit(&format!("an array of shape {was:?} was given, one of shape {is:?} came out")))
}

/// That what is called `name` has the shape of what it belongs to.
pub fn fits(name: &str, given: &[usize], of: &str, like: &[usize]) -> Result<()> {
    if given == like {
        return Ok(());
    }
    let shape = |dims: &[usize]| match dims {
        [1] => "1 element".to_string(),
        [n] => format!("{n} elements"),
        dims => format!("shape {dims:?}"),
    };
    Err(misfit(&format!("`{name}` has {}, {of} has {}", shape(given), shape(like))))
}

/// Zeros in the shape of an array.
pub fn zeros<T: Element, const R: usize>(like: &Array<T, R>) -> Result<Array<T, R>> {
    filled(*like.dims(), T::default()).map_err(plain)
}

fn misfit(why: &str) -> Box<Fault> {
    plain(FaultKind::Shape(why.into()))
}

/// A fault of no place: of the arguments.
fn plain(kind: FaultKind) -> Box<Fault> {
    Box::new(Fault { kind, span: Span { start: u32::MAX, end: u32::MAX }, iterations: Vec::new() })
}
