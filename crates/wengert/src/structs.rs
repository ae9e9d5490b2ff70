//! Structs as parameters and results of differentiable functions.

/// A struct of numbers and arrays, which functions with `#[differentiable]` can take, give and differentiate by.
///
/// It is derived. Fields are floats, integers, `bool`, arrays, `Vec`, tuples, and other structs that derive it:
///
/// ```
/// # #[cfg(feature = "macros")] mod demo {
/// use wengert::{Differentiable, differentiable};
///
/// #[derive(Clone, Debug, PartialEq, Differentiable)]
/// pub struct Spring {
///     pub stiffness: f64,
///     pub rest: f64,
///     pub windings: u32,
/// }
///
/// #[differentiable]
/// pub fn energy(spring: &Spring, x: f64) -> f64 {
///     0.5 * spring.stiffness * (x - spring.rest).powi(2)
/// }
///
/// # pub fn main() {
/// let spring = Spring { stiffness: 2.0, rest: 1.0, windings: 8 };
/// let (by_spring, by_x) = energy::grad(&spring, 4.0);
/// assert_eq!(by_spring, Spring { stiffness: 4.5, rest: -6.0, windings: 8 });
/// assert_eq!(by_x, 6.0);
/// # }
/// # }
/// # fn main() { #[cfg(feature = "macros")] demo::main() }
/// ```
///
/// The derivative of a struct is such a struct. What it has no derivatives by, integers, `bool` and fields marked
/// `#[nondiff]`, is there as it is in the argument.
///
/// The attribute sees only what it stands before, so the definition comes along with the name of the struct: the derive also
/// makes a macro of that name, for the attribute alone, and `use` brings both.
pub trait Differentiable: Sized {
    /// Its numbers and arrays, in tuples.
    #[doc(hidden)]
    type Leaves;

    /// References to them.
    #[doc(hidden)]
    type Shared<'a>
    where
        Self: 'a;

    /// `&mut` to them.
    #[doc(hidden)]
    type Mutable<'a>
    where
        Self: 'a;

    #[doc(hidden)]
    fn __of(leaves: Self::Leaves) -> Self;

    #[doc(hidden)]
    fn __shared(&self) -> Self::Shared<'_>;

    #[doc(hidden)]
    fn __mutable(&mut self) -> Self::Mutable<'_>;

    #[doc(hidden)]
    fn __copy(&self) -> Self;
}
