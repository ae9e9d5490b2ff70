//! Jets: a value with its derivatives up to any order, as a truncated Taylor series.

use super::methods::methods;
use super::number::{Elementary, Of};
use super::operators::operators;
use super::scalar::Scalar;
use super::series::{Series, Term, convolved, divided};
use wengert_core::ops::{Class, Partial, Prim};

/// The Taylor series up to order `K` of a function of one number, over any kind of number.
///
/// ```
/// use wengert::tape::Jet;
///
/// let t = Jet::<f64, 3>::variable(0.0);
/// let y = t.exp() * t.cos();
/// assert_eq!(y.derivatives(), [1.0, 1.0, 0.0, -2.0]);
/// ```
///
/// Over variables of a tape, coefficients can be differentiated by whatever they were computed of.
///
/// ```
/// use wengert::tape::{Jet, Tape};
///
/// let tape = Tape::new();
/// let rate = tape.var(2.0);
/// let t = Jet::<_, 2>::variable(0.0.into());
/// let curvature = (t * Jet::constant(rate)).sin().exp().derivative(2);
/// assert_eq!(curvature.value(), 4.0);
/// assert_eq!(curvature.backward()?.wrt(rate)?, 4.0);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Jet<T, const K: usize> {
    value: T,
    /// Coefficients 1 to K.
    higher: [T; K],
}

impl<T: Scalar, const K: usize> Jet<T, K> {
    /// A number of the level below.
    pub fn constant(value: T) -> Self {
        Jet { value, higher: [T::of(0.0); K] }
    }

    /// What the series is in: `value + t`.
    pub fn variable(value: T) -> Self {
        Self::line(value, T::of(1.0))
    }

    /// A point that moves along a direction: `value + t direction`.
    pub fn line(value: T, direction: T) -> Self {
        let mut x = Self::constant(value);
        if let Some(first) = x.higher.first_mut() {
            *first = direction;
        }
        x
    }

    /// The series with given coefficients; those that are not given are 0, and those beyond order `K` are left out.
    pub fn series(coefficients: &[T]) -> Self {
        Self::from_fn(|k| coefficients.get(k).copied().unwrap_or_default())
    }

    fn from_fn(mut coefficient: impl FnMut(usize) -> T) -> Self {
        let value = coefficient(0);
        Jet { value, higher: std::array::from_fn(|k| coefficient(k + 1)) }
    }

    /// Its value.
    #[inline]
    pub fn value(self) -> T {
        self.value
    }

    /// The coefficient of `t` to the power `k`; 0 beyond order `K`, where nothing is known.
    #[inline]
    pub fn coefficient(&self, k: usize) -> T {
        match k {
            0 => self.value,
            _ => self.higher.get(k - 1).copied().unwrap_or_default(),
        }
    }

    /// All coefficients: `K + 1` of them.
    pub fn coefficients(&self) -> Vec<T> {
        (0..=K).map(|k| self.coefficient(k)).collect()
    }

    /// The derivative of order `k`; 0 beyond order `K`, where nothing is known.
    pub fn derivative(&self, k: usize) -> T {
        let factorial: f64 = (1..=k).map(|j| j as f64).product();
        self.coefficient(k) * T::of(factorial)
    }

    /// All derivatives: of order 0, which is the value, to `K`.
    pub fn derivatives(&self) -> Vec<T> {
        (0..=K).map(|k| self.derivative(k)).collect()
    }

    /// The value of the series at a step from where it was made.
    pub fn at(&self, step: T) -> T {
        self.higher.iter().rev().fold(T::of(0.0), |sum, c| (sum + *c) * step) + self.value
    }
}

impl<T: Scalar, const K: usize> Jet<T, K> {
    /// A row. Where the row is known and is an operator, little of this is left.
    #[inline(always)]
    #[track_caller]
    fn of_row(row: Prim, inputs: [Self; 3]) -> Self {
        let [a, b, _] = inputs;
        match (row, row.class()) {
            (Prim::Mul, _) => Self::from_fn(|k| match k {
                0 => a.value * b.value,
                _ => convolved(k, 0, |j| a.coefficient(j), |j| b.coefficient(j)),
            }),
            (Prim::Div, _) => {
                let mut y = Self::constant(a.value / b.value);
                for k in 1..=K {
                    let known = |j: usize| y.coefficient(j);
                    let next = divided(k, |j| a.coefficient(j), |j| b.coefficient(j), known);
                    y.higher[k - 1] = next;
                }
                y
            }
            (_, Class::Linear) => Self::linear(row, inputs),
            _ => Self::by_series(row, inputs),
        }
    }

    /// A row whose slopes are constants: what holds for values holds for every coefficient.
    #[inline(always)]
    #[track_caller]
    fn linear(row: Prim, inputs: [Self; 3]) -> Self {
        let values = inputs.map(|x| x.value);
        let mut y = Self::constant(T::row(row, values));
        let slopes = row.slopes(values.map(Of), Of(y.value));
        for (x, slope) in inputs.iter().zip(slopes).take(row.slope_count()) {
            let Partial::Const(c) = slope else { continue };
            for (sum, d) in y.higher.iter_mut().zip(x.higher) {
                if d.vanishes() {
                    continue;
                }
                let part = if c == 1.0 { d } else { d * c };
                *sum = if sum.vanishes() { part } else { *sum + part };
            }
        }
        y
    }

    #[inline(never)]
    #[track_caller]
    fn by_series(row: Prim, inputs: [Self; 3]) -> Self {
        if row.class() == Class::Zero {
            return Self::constant(T::row(row, inputs.map(|x| x.value)));
        }
        let series = Series::new();
        let mut given = [series.given(inputs[0].coefficients()); 3];
        for k in 1..row.slope_count() {
            given[k] = series.given(inputs[k].coefficients());
        }
        let y = Term::row(row, given);
        Self::from_fn(|k| series.coefficient(y.at, k))
    }
}

impl<T: Scalar, const K: usize> Elementary for Jet<T, K> {
    #[track_caller]
    fn row(row: Prim, inputs: [Self; 3]) -> Self {
        Self::of_row(row, inputs)
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

impl<T: Scalar, const K: usize> Scalar for Jet<T, K> {
    #[inline]
    fn of(number: f64) -> Self {
        Self::constant(T::of(number))
    }
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.higher.iter().all(|c| c.vanishes())
    }
    fn converted(self) -> f64 {
        self.value.converted()
    }
}

operators! { [T: Scalar, const K: usize] Jet<T, K>, operator_of_one, operator }
methods! { [T: Scalar, const K: usize] Jet<T, K>, unary, binary, Jet::row }

#[inline(always)]
#[track_caller]
fn operator_of_one<T: Scalar, const K: usize>(row: Prim, x: Jet<T, K>) -> Jet<T, K> {
    Jet::of_row(row, [x; 3])
}

#[inline(always)]
#[track_caller]
fn operator<T: Scalar, const K: usize>(row: Prim, a: Jet<T, K>, b: Jet<T, K>) -> Jet<T, K> {
    Jet::of_row(row, [a, b, b])
}

#[track_caller]
fn unary<T: Scalar, const K: usize>(row: Prim, x: Jet<T, K>) -> Jet<T, K> {
    Jet::row(row, [x; 3])
}

#[track_caller]
fn binary<T: Scalar, const K: usize>(row: Prim, a: Jet<T, K>, b: Jet<T, K>) -> Jet<T, K> {
    Jet::row(row, [a, b, b])
}

/// The value of a function of one number and its derivatives up to order `K`.
///
/// ```
/// let d = wengert::tape::derivatives::<3>(|x| x.powi(4), 1.0);
/// assert_eq!(d, [1.0, 4.0, 12.0, 24.0]);
/// ```
pub fn derivatives<const K: usize>(f: impl FnOnce(Jet<f64, K>) -> Jet<f64, K>, x: f64) -> Vec<f64> {
    f(Jet::variable(x)).derivatives()
}

/// The coefficients of a function's Taylor series up to order `K`: its derivatives, each divided by the factorial of its order.
///
/// ```
/// let c = wengert::tape::taylor::<3>(|x| x.exp(), 0.0);
/// assert_eq!(c, [1.0, 1.0, 0.5, 1.0 / 6.0]);
/// ```
pub fn taylor<const K: usize>(f: impl FnOnce(Jet<f64, K>) -> Jet<f64, K>, x: f64) -> Vec<f64> {
    f(Jet::variable(x)).coefficients()
}
