//! Dual numbers: a value with its derivatives in several directions, carried along.

use super::error::Error;
use super::methods::methods;
use super::number::{Elementary, Of};
use super::operators::operators;
use super::scalar::Scalar;
use wengert_core::ops::{Partial, Prim};

/// A value and its derivatives in `N` directions, over any kind of number.
///
/// ```
/// use wengert::tape::Dual;
///
/// // Two directions: by x and by y.
/// let [x, y] = Dual::variables([3.0, 4.0]);
/// let area = x * x * y;
/// assert_eq!(area.value(), 36.0);
/// assert_eq!(area.tangents(), &[24.0, 9.0]);
/// ```
///
/// Over variables of a tape, a reverse sweep differentiates the derivative: a Hessian times a direction costs little more than a
/// gradient, whatever the number of inputs.
///
/// ```
/// use wengert::tape::{Dual, Tape, Var};
///
/// fn f(x: &[Dual<Var, 1>]) -> Dual<Var, 1> {
///     x[0].powi(3) * x[1]
/// }
///
/// let tape = Tape::new();
/// let at = tape.vars([2.0, 5.0]);
/// let along = [1.0, 10.0];
/// let x: Vec<_> = at.iter().zip(along).map(|(x, d)| Dual::new(*x, [d.into()])).collect();
/// let [slope] = *f(&x).tangents();
/// assert_eq!(slope.backward()?.wrt_all(&at)?, [60.0 + 120.0, 12.0]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
///
/// Levels nest by type: `Dual<Dual<f64, 1>, 1>` has second derivatives, and a number of one level enters another only through
/// [`Dual::constant`], so that no derivative is taken for that of another level.
///
/// ```compile_fail
/// use wengert::tape::Dual;
///
/// let x = Dual::<f64, 1>::variable(1.0, 0);
/// let y = Dual::<Dual<f64, 1>, 1>::variable(x, 0);
/// let sum = x + y; // Dual::constant(x) + y
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dual<T, const N: usize = 1> {
    value: T,
    tangents: [T; N],
}

impl<T: Scalar, const N: usize> Dual<T, N> {
    /// A value with given derivatives.
    pub fn new(value: T, tangents: [T; N]) -> Self {
        Dual { value, tangents }
    }

    /// A number of the level below: its derivatives are 0 in all directions.
    pub fn constant(value: T) -> Self {
        Dual { value, tangents: [T::of(0.0); N] }
    }

    /// What direction `k` goes along: its derivative is 1 in that direction.
    ///
    /// # Panics
    ///
    /// Where there is no direction `k`.
    #[track_caller]
    pub fn variable(value: T, k: usize) -> Self {
        assert!(k < N, "direction {k} of a dual number that has {N}");
        let mut x = Self::constant(value);
        x.tangents[k] = T::of(1.0);
        x
    }

    /// As many variables as directions.
    pub fn variables(values: [T; N]) -> [Self; N] {
        std::array::from_fn(|k| Self::variable(values[k], k))
    }

    /// Its value.
    #[inline]
    pub fn value(self) -> T {
        self.value
    }

    /// Its derivatives, one for each direction.
    #[inline]
    pub fn tangents(&self) -> &[T; N] {
        &self.tangents
    }
}

impl<T: Scalar, const N: usize> Dual<T, N> {
    /// A row by its slopes. Where the row is known, little of this is left.
    #[inline(always)]
    #[track_caller]
    fn by_slopes(row: Prim, inputs: [Self; 3]) -> Self {
        let values = inputs.map(|x| x.value);
        let inputs = &inputs[..row.slope_count()];
        let mut y = Self::constant(T::row(row, values));
        // Over variables, partials that nobody asks for would be recorded.
        let varies = |x: &Self| x.tangents.iter().any(|d| !d.vanishes());
        if !inputs.iter().any(varies) {
            return y;
        }
        let slopes = row.slopes(values.map(Of), Of(y.value));
        for (x, slope) in inputs.iter().zip(slopes) {
            for (sum, d) in y.tangents.iter_mut().zip(x.tangents) {
                // Nothing passes by what is constant, not even an infinite slope.
                if d.vanishes() {
                    continue;
                }
                let part = match slope {
                    Partial::Const(0.0) => continue,
                    Partial::Const(1.0) => d,
                    Partial::Const(c) => d * c,
                    Partial::Of(slope) => slope.0 * d,
                    Partial::Where(chosen) if chosen.0.number() == 1.0 => d,
                    Partial::Where(_) => continue,
                };
                *sum = if sum.vanishes() { part } else { *sum + part };
            }
        }
        y
    }
}

impl<T: Scalar, const N: usize> Elementary for Dual<T, N> {
    #[track_caller]
    fn row(row: Prim, inputs: [Self; 3]) -> Self {
        Self::by_slopes(row, inputs)
    }
    #[inline]
    fn constant(self, c: f64) -> Self {
        Self::of(c)
    }
    #[inline]
    fn number(self) -> f64 {
        self.value.number()
    }
}

impl<T: Scalar, const N: usize> Scalar for Dual<T, N> {
    #[inline]
    fn of(number: f64) -> Self {
        Self::constant(T::of(number))
    }
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.tangents.iter().all(|d| d.vanishes())
    }
    fn converted(self) -> f64 {
        self.value.converted()
    }
}

operators! { [T: Scalar, const N: usize] Dual<T, N>, operator_of_one, operator }
methods! { [T: Scalar, const N: usize] Dual<T, N>, unary, binary, Dual::row }

#[inline(always)]
#[track_caller]
fn operator_of_one<T: Scalar, const N: usize>(row: Prim, x: Dual<T, N>) -> Dual<T, N> {
    Dual::by_slopes(row, [x; 3])
}

#[inline(always)]
#[track_caller]
fn operator<T: Scalar, const N: usize>(row: Prim, a: Dual<T, N>, b: Dual<T, N>) -> Dual<T, N> {
    Dual::by_slopes(row, [a, b, b])
}

#[track_caller]
fn unary<T: Scalar, const N: usize>(row: Prim, x: Dual<T, N>) -> Dual<T, N> {
    Dual::row(row, [x; 3])
}

#[track_caller]
fn binary<T: Scalar, const N: usize>(row: Prim, a: Dual<T, N>, b: Dual<T, N>) -> Dual<T, N> {
    Dual::row(row, [a, b, b])
}

/// The derivative of a function of one number, at any level: what the function uses of the level it is called from, it lifts by
/// [`Dual::constant`].
///
/// ```
/// use wengert::tape::{Dual, derivative};
///
/// // d/dx (x * d/dy (x + y)) = 1, whatever x and y are called.
/// let slope = derivative(|x| x * derivative(|y| Dual::constant(x) + y, x), 1.0);
/// assert_eq!(slope, 1.0);
/// ```
pub fn derivative<T: Scalar>(f: impl FnOnce(Dual<T, 1>) -> Dual<T, 1>, x: T) -> T {
    f(Dual::variable(x, 0)).tangents[0]
}

/// The values of a function with several results, and their derivatives along a direction.
///
/// ```
/// let (y, dy) = wengert::tape::jvp(|x| vec![x[0] * x[1], x[0].sin()], &[0.0, 5.0], &[1.0, 2.0])?;
/// assert_eq!((y, dy), (vec![0.0, 0.0], vec![5.0, 1.0]));
/// # Ok::<(), wengert::tape::Error>(())
/// ```
pub fn jvp(
    f: impl FnOnce(&[Dual<f64, 1>]) -> Vec<Dual<f64, 1>>,
    x: &[f64],
    direction: &[f64],
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    if x.len() != direction.len() {
        let what = "numbers of a direction";
        return Err(Error::Count { what, wanted: x.len(), given: direction.len() });
    }
    let x: Vec<_> = x.iter().zip(direction).map(|(x, d)| Dual::new(*x, [*d])).collect();
    Ok(f(&x).iter().map(|y| (y.value, y.tangents[0])).unzip())
}
