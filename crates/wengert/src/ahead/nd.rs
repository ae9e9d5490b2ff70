//! Arrays of crate `ndarray` as arguments and results of differentiable functions.
//!
//! Programs have arrays in row-major order. What lies otherwise in memory, a transposed view or every second row, is copied in
//! that order; what lies so is copied as it is, as slices are.

use ndarray::{ArrayBase, ArrayViewMut, Data, Dimension};
use wengert_core::ahead::pass::{self, Item};
use wengert_core::ahead::{Array, Result};

/// The array of a program.
pub fn given<T, S, D, const R: usize>(x: &ArrayBase<S, D>) -> Result<Array<T::Number, R>>
where
    T: Item + Clone,
    S: Data<Elem = T>,
    D: Dimension,
{
    match x.as_slice() {
        Some(items) => pass::shaped(x.shape(), items),
        None => pass::shaped(x.shape(), &x.iter().cloned().collect::<Vec<T>>()),
    }
}

/// The array that a program has made.
pub fn made<T: Item, D: Dimension, const R: usize>(
    array: Array<T::Number, R>,
) -> Result<ndarray::Array<T, D>> {
    let mut dims = D::zeros(R);
    dims.as_array_view_mut().iter_mut().zip(array.dims()).for_each(|(to, from)| *to = *from);
    let items = pass::items::<T, R>(array)?;
    Ok(ndarray::Array::from_shape_vec(dims, items)
        .unwrap_or_else(|e| unreachable!("its shape fits its elements: {e}")))
}

/// Writes what a program has made where another array was.
pub fn write<T: Item, D: Dimension, const R: usize>(
    mut to: ArrayViewMut<'_, T, D>,
    array: Array<T::Number, R>,
) -> Result<()> {
    pass::kept(to.shape(), array.dims())?;
    let items = pass::items::<T, R>(array)?;
    to.iter_mut().zip(items).for_each(|(to, from)| *to = from);
    Ok(())
}
