//! The variable: a number that is on a tape.

use super::error::{Error, Misuse, remembered};
use super::methods::methods;
use super::number::Elementary;
use super::recorder::{self, CONSTANT, MISUSED, binary, unary};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};
use std::panic::Location;
use wengert_core::ops::Prim;

/// A number whose computation is recorded: 16 bytes that are copied like a number.
///
/// Variables come from [`Tape::var`](super::Tape::var); what is computed of them is recorded on that tape. Numbers mix with them
/// on either side, and [`Var::from`] makes a constant of a number, which is on no tape. Every operation checks that
/// its variables belong where they are used; one that does not makes a result that is a right number without a
/// derivative: whoever asks for that is told what went wrong and in which line.
///
/// ```
/// use wengert::tape::Tape;
///
/// let tape = Tape::new();
/// let (x, y) = (tape.var(3.0), tape.var(2.0));
/// let z = 2.0 * x.powi(2) * y + (x / y).ln();
/// let d = z.backward()?;
/// assert_eq!(d.wrt(x)?, 4.0 * 3.0 * 2.0 + 1.0 / 3.0);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Var {
    value: f64,
    index: u32,
    tag: u32,
}

impl Var {
    pub(super) const fn new(value: f64, index: u32, tag: u32) -> Var {
        Var { value, index, tag }
    }

    /// A number that is on no tape.
    pub const fn constant(value: f64) -> Var {
        Var { value, index: 0, tag: CONSTANT }
    }

    /// Its value.
    #[inline(always)]
    pub const fn value(self) -> f64 {
        self.value
    }

    /// Whether it is on no tape.
    pub const fn is_constant(self) -> bool {
        self.tag == CONSTANT
    }

    #[inline(always)]
    pub(super) const fn index(self) -> u32 {
        self.index
    }

    #[inline(always)]
    pub(super) const fn tag(self) -> u32 {
        self.tag
    }

    /// What is wrong with it, if it came of a misuse.
    pub fn misuse(self) -> Option<Misuse> {
        if self.tag == MISUSED { remembered(self.index) } else { None }
    }

    /// Whether a derivative can be had of it, or by it, on this thread.
    pub(super) fn checked(self, at: &'static Location<'static>) -> Result<Var, Error> {
        if self.tag == CONSTANT {
            return Ok(self);
        }
        if let Some(misuse) = self.misuse() {
            return Err(Error::Misuse(misuse));
        }
        let wrong = recorder::with(|stack| match stack.owner(self) {
            Some(_) => None,
            None => Some(stack.misuse(self)),
        });
        wrong.map_or(Ok(self), |kind| Err(Error::Misuse(Misuse { kind, at })))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $row:ident;)*) => {$(
        impl $trait for Var {
            type Output = Var;
            #[inline]
            #[track_caller]
            fn $method(self, other: Var) -> Var {
                binary(Prim::$row, self, other)
            }
        }
        operators!(@mixed $trait $method (Var, &Var) (&Var, Var) (&Var, &Var));
        operators!(@number $trait $method (Var, f64) (Var, &f64) (&Var, f64) (&Var, &f64) (f64, Var) (f64, &Var) (&f64, Var) (&f64, &Var));
        impl $assign for Var {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: Var) {
                *self = binary(Prim::$row, *self, other);
            }
        }
        impl $assign<&Var> for Var {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: &Var) {
                *self = binary(Prim::$row, *self, *other);
            }
        }
        impl $assign<f64> for Var {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: f64) {
                *self = binary(Prim::$row, *self, Var::constant(other));
            }
        }
    )*};
    (@mixed $trait:ident $method:ident $(($a:ty, $b:ty))*) => {$(
        impl $trait<$b> for $a {
            type Output = Var;
            #[inline]
            #[track_caller]
            fn $method(self, other: $b) -> Var {
                $trait::$method(Var::from(self), Var::from(other))
            }
        }
    )*};
    (@number $trait:ident $method:ident $($pair:tt)*) => {
        operators!(@mixed $trait $method $($pair)*);
    };
}
operators! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Sub;
    Mul mul MulAssign mul_assign Mul;
    Div div DivAssign div_assign Div;
    Rem rem RemAssign rem_assign Rem;
}

impl Neg for Var {
    type Output = Var;
    #[inline]
    #[track_caller]
    fn neg(self) -> Var {
        unary(Prim::Neg, self)
    }
}

impl Neg for &Var {
    type Output = Var;
    #[inline]
    #[track_caller]
    fn neg(self) -> Var {
        unary(Prim::Neg, *self)
    }
}

impl From<f64> for Var {
    #[inline(always)]
    fn from(value: f64) -> Var {
        Var::constant(value)
    }
}

impl From<&f64> for Var {
    #[inline(always)]
    fn from(value: &f64) -> Var {
        Var::constant(*value)
    }
}

impl From<&Var> for Var {
    #[inline(always)]
    fn from(var: &Var) -> Var {
        *var
    }
}

/// A conversion, which tapes count: no derivative passes.
impl From<Var> for f64 {
    fn from(var: Var) -> f64 {
        recorder::converted(var);
        var.value
    }
}

impl Default for Var {
    fn default() -> Var {
        Var::constant(0.0)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag {
            CONSTANT => write!(f, "{:?}", self.value),
            MISUSED => write!(f, "{:?} (misused)", self.value),
            _ => write!(f, "{:?} (%{})", self.value, self.index),
        }
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl fmt::LowerExp for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl std::iter::Sum for Var {
    fn sum<I: Iterator<Item = Var>>(terms: I) -> Var {
        terms.fold(Var::constant(0.0), |sum, x| sum + x)
    }
}

impl<'a> std::iter::Sum<&'a Var> for Var {
    fn sum<I: Iterator<Item = &'a Var>>(terms: I) -> Var {
        terms.copied().sum()
    }
}

impl std::iter::Product for Var {
    fn product<I: Iterator<Item = Var>>(factors: I) -> Var {
        factors.fold(Var::constant(1.0), |product, x| product * x)
    }
}

impl<'a> std::iter::Product<&'a Var> for Var {
    fn product<I: Iterator<Item = &'a Var>>(factors: I) -> Var {
        factors.copied().product()
    }
}

macro_rules! comparisons {
    ($($method:ident $row:ident $op:tt),*) => {$(
        #[inline]
        #[track_caller]
        fn $method(&self, other: &Var) -> bool {
            let holds = self.value $op other.value;
            recorder::compared(Prim::$row, *self, *other, holds, Location::caller());
            holds
        }
    )*};
}

/// By value.
// The provided `ne` would not know the line it is called in.
#[allow(clippy::partialeq_ne_impl)]
impl PartialEq for Var {
    comparisons!(eq Eq ==, ne Ne !=);
}

/// By value.
impl PartialOrd for Var {
    #[inline]
    #[track_caller]
    fn partial_cmp(&self, other: &Var) -> Option<Ordering> {
        let order = self.value.partial_cmp(&other.value);
        let (row, holds) = match order {
            Some(Ordering::Less) => (Prim::Lt, true),
            Some(Ordering::Equal) => (Prim::Eq, true),
            Some(Ordering::Greater) => (Prim::Gt, true),
            None => (Prim::Eq, false),
        };
        recorder::compared(row, *self, *other, holds, Location::caller());
        order
    }

    comparisons!(lt Lt <, le Le <=, gt Gt >, ge Ge >=);
}

macro_rules! with_numbers {
    ($($method:ident),*) => {
        impl PartialEq<f64> for Var {
            #[inline]
            #[track_caller]
            fn eq(&self, other: &f64) -> bool {
                *self == Var::constant(*other)
            }
        }
        impl PartialEq<Var> for f64 {
            #[inline]
            #[track_caller]
            fn eq(&self, other: &Var) -> bool {
                Var::constant(*self) == *other
            }
        }
        impl PartialOrd<f64> for Var {
            #[inline]
            #[track_caller]
            fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
                self.partial_cmp(&Var::constant(*other))
            }
            $(
                #[inline]
                #[track_caller]
                fn $method(&self, other: &f64) -> bool {
                    PartialOrd::$method(self, &Var::constant(*other))
                }
            )*
        }
        impl PartialOrd<Var> for f64 {
            #[inline]
            #[track_caller]
            fn partial_cmp(&self, other: &Var) -> Option<Ordering> {
                Var::constant(*self).partial_cmp(other)
            }
            $(
                #[inline]
                #[track_caller]
                fn $method(&self, other: &Var) -> bool {
                    PartialOrd::$method(&Var::constant(*self), other)
                }
            )*
        }
    };
}
with_numbers!(lt, le, gt, ge);

methods! { [] Var, unary, binary, ternary }

/// A row of three inputs.
#[track_caller]
fn ternary(row: Prim, inputs: [Var; 3]) -> Var {
    recorder::apply(row, inputs, Location::caller())
}

impl Elementary for Var {
    #[track_caller]
    fn row(row: Prim, inputs: [Var; 3]) -> Var {
        let [a, b, _] = inputs;
        match row.slope_count() {
            1 => unary(row, a),
            2 => binary(row, a, b),
            _ => ternary(row, inputs),
        }
    }
    fn constant(self, c: f64) -> Var {
        Var::constant(c)
    }
    fn number(self) -> f64 {
        self.value
    }
}
