//! Functions of power series, by the rule table.
//!
//! If y = f(x), then y' = f'(x) x': coefficient k of y comes from coefficients of x and, up to k - 1, of the slope. A slope
//! is an expression of the table in x and y, so it is a series too, with slopes of its own. What is asked for is computed and kept:
//! sine and cosine give each other coefficients, and no expression stands twice in a [`Series`].
//!
//! Products and quotients are what rings of series have; every other row goes by its slopes.

use super::number::{Elementary, Of};
use super::scalar::Scalar;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};
use wengert_core::ops::{Partial, Prim};

/// Coefficient `k` of a product, without terms that hold coefficient 0 of the second factor up to `from`.
pub(super) fn convolved<T: Scalar>(
    k: usize,
    from: usize,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> T {
    let mut sum = T::of(0.0);
    for j in from..=k {
        let (a, b) = (a(k - j), b(j));
        if a.vanishes() || b.vanishes() {
            continue;
        }
        sum = if sum.vanishes() { a * b } else { sum + a * b };
    }
    sum
}

/// Coefficient `k` of the quotient `y = a / b`, of the lower ones.
pub(super) fn divided<T: Scalar>(
    k: usize,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
    y: impl Fn(usize) -> T,
) -> T {
    (a(k) - convolved(k, 1, y, &b)) / b(0)
}

/// What a series is made of.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Given,
    Constant(f64),
    Row(Prim, [u32; 3]),
}

/// The series of an expression.
struct Entry<T> {
    origin: Origin,
    /// Coefficients that are known.
    known: Vec<T>,
    slopes: Option<[Partial<u32>; 3]>,
}

/// Expressions of given series.
pub(super) struct Series<T> {
    entries: RefCell<Vec<Entry<T>>>,
}

impl<T: Scalar> Series<T> {
    /// No expressions yet.
    pub(super) fn new() -> Series<T> {
        Series { entries: RefCell::new(Vec::new()) }
    }

    /// A series with these coefficients, and 0 for all others.
    pub(super) fn given(&self, coefficients: Vec<T>) -> Term<'_, T> {
        self.push(Origin::Given, coefficients)
    }

    fn push(&self, origin: Origin, known: Vec<T>) -> Term<'_, T> {
        let mut entries = self.entries.borrow_mut();
        entries.push(Entry { origin, known, slopes: None });
        Term { series: self, at: entries.len() as u32 - 1 }
    }

    fn term(&self, at: u32) -> Term<'_, T> {
        Term { series: self, at }
    }

    /// A row of expressions.
    fn row(&self, row: Prim, terms: [Term<'_, T>; 3]) -> Term<'_, T> {
        let mut inputs = [terms[0].at; 3];
        inputs[..row.arity()].copy_from_slice(&terms.map(|term| term.at)[..row.arity()]);
        let origin = Origin::Row(row, inputs);
        let found = self.find(origin).or_else(|| {
            // Minus minus: without this, the slopes of some functions would never meet themselves again.
            match self.entries.borrow()[inputs[0] as usize].origin {
                Origin::Row(Prim::Neg, [x, ..]) if row == Prim::Neg => Some(self.term(x)),
                _ => None,
            }
        });
        found.unwrap_or_else(|| {
            let value = T::row(row, inputs.map(|at| self.coefficient(at, 0)));
            self.push(origin, vec![value])
        })
    }

    /// An expression that is there already.
    fn find(&self, origin: Origin) -> Option<Term<'_, T>> {
        let at = self.entries.borrow().iter().position(|entry| entry.origin == origin)?;
        Some(self.term(at as u32))
    }

    /// Coefficient `k` of an expression.
    pub(super) fn coefficient(&self, at: u32, k: usize) -> T {
        loop {
            let (known, origin) = {
                let entry = &self.entries.borrow()[at as usize];
                if let Some(known) = entry.known.get(k) {
                    return *known;
                }
                (entry.known.len(), entry.origin)
            };
            let Origin::Row(row, inputs) = origin else { return T::of(0.0) };
            let next = self.next(at, row, inputs, known);
            self.entries.borrow_mut()[at as usize].known.push(next);
        }
    }

    /// Coefficient `k > 0` of an expression of which the lower ones are known.
    fn next(&self, at: u32, row: Prim, inputs: [u32; 3], k: usize) -> T {
        let input = |n: usize| move |j: usize| self.coefficient(inputs[n], j);
        match row {
            Prim::Mul => convolved(k, 0, input(0), input(1)),
            Prim::Div => divided(k, input(0), input(1), |j| self.coefficient(at, j)),
            _ => self.by_slopes(at, row, inputs, k),
        }
    }

    fn by_slopes(&self, at: u32, row: Prim, inputs: [u32; 3], k: usize) -> T {
        let known = self.entries.borrow()[at as usize].slopes;
        let slopes = known.unwrap_or_else(|| {
            let slopes = row.slopes(inputs.map(|x| Of(self.term(x))), Of(self.term(at)));
            slopes.map(|slope| match slope {
                Partial::Const(c) => Partial::Const(c),
                Partial::Of(slope) => Partial::Of(slope.0.at),
                Partial::Where(chosen) if chosen.0.number() == 1.0 => Partial::Const(1.0),
                Partial::Where(_) => Partial::Const(0.0),
            })
        });
        self.entries.borrow_mut()[at as usize].slopes = Some(slopes);
        let mut sum = T::of(0.0);
        for (x, slope) in inputs.into_iter().zip(slopes).take(row.slope_count()) {
            let part = match slope {
                Partial::Const(0.0) => continue,
                Partial::Const(1.0) => self.coefficient(x, k),
                Partial::Const(c) => self.coefficient(x, k) * c,
                Partial::Of(slope) | Partial::Where(slope) => self.integrated(slope, x, k),
            };
            sum = if sum.vanishes() { part } else { sum + part };
        }
        sum
    }

    /// Coefficient `k` of the integral of `slope dx`.
    fn integrated(&self, slope: u32, x: u32, k: usize) -> T {
        let mut sum = T::of(0.0);
        for j in 1..=k {
            let x = self.coefficient(x, j);
            // Nothing passes by what is constant, not even an infinite slope.
            if x.vanishes() {
                continue;
            }
            let part = self.coefficient(slope, k - j) * x;
            let part = if j == k { part } else { part * (j as f64 / k as f64) };
            sum = if sum.vanishes() { part } else { sum + part };
        }
        sum
    }
}

/// An expression among others.
pub(super) struct Term<'a, T> {
    series: &'a Series<T>,
    pub(super) at: u32,
}

impl<T> Clone for Term<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Term<'_, T> {}

impl<T: Scalar> Elementary for Term<'_, T> {
    fn row(row: Prim, inputs: [Self; 3]) -> Self {
        inputs[0].series.row(row, inputs)
    }
    fn constant(self, c: f64) -> Self {
        let origin = Origin::Constant(c);
        self.series.find(origin).unwrap_or_else(|| self.series.push(origin, vec![T::of(c)]))
    }
    fn number(self) -> f64 {
        self.series.coefficient(self.at, 0).number()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: Scalar> $trait for Term<'_, T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self::row(Prim::$trait, [self, other, other])
            }
        }
        impl<T: Scalar> $trait<f64> for Term<'_, T> {
            type Output = Self;
            fn $method(self, other: f64) -> Self {
                self.$method(self.constant(other))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<T: Scalar> Neg for Term<'_, T> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::row(Prim::Neg, [self; 3])
    }
}
