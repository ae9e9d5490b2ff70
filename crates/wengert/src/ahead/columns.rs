//! Arrays of structs as arguments and results: programs have one array for each number of the struct, its column.

use crate::Differentiable;
use wengert_core::ahead::{Result, pass};

/// What a column holds: one thing of every struct.
pub fn column<S, T>(items: &[S], of: impl Fn(&S) -> T) -> Vec<T> {
    items.iter().map(of).collect()
}

/// Writes a column of structs that are there.
pub fn write<S, T>(
    items: &mut [S],
    column: impl IntoIterator<Item = T>,
    of: impl for<'a> Fn(&'a mut S) -> &'a mut T,
) -> Result<()> {
    let column: Vec<T> = column.into_iter().collect();
    pass::kept(&[items.len()], &[column.len()])?;
    items.iter_mut().zip(column).for_each(|(to, from)| *of(to) = from);
    Ok(())
}

/// Structs, for as long as columns have something for one more.
pub fn made<S: Differentiable>(next: impl FnMut() -> Option<S::Leaves>) -> Vec<S> {
    std::iter::from_fn(next).map(S::__of).collect()
}

/// As many of them as there should be.
pub fn fixed<S: Differentiable, const N: usize>(
    next: impl FnMut() -> Option<S::Leaves>,
) -> Result<[S; N]> {
    <[S; N]>::try_from(made(next)).map_err(|made| pass::wrong_length(N, made.len()))
}

/// Copies of structs that may have no `Clone`.
pub fn copies<S: Differentiable>(items: &[S]) -> Vec<S> {
    items.iter().map(Differentiable::__copy).collect()
}
