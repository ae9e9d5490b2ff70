//! Numbers with derivatives as elements of the arrays of crate `ndarray`.
//!
//! An array of plain numbers may stand on the right of one of variables; elsewhere `mapv(Var::from)` makes it one of constants.
//!
//! ```
//! use ndarray::array;
//! use wengert::tape::{Tape, Var};
//!
//! let tape = Tape::new();
//! let weight = tape.var(2.0);
//! let x = array![[1.0, 2.0], [3.0, 4.0]].mapv(Var::from);
//! let loss = (weight * x.dot(&x)).sum();
//! assert_eq!(loss.backward()?.wrt(weight)?, 54.0);
//! # Ok::<(), wengert::tape::Error>(())
//! ```

use super::dual::Dual;
use super::jet::Jet;
use super::scalar::Scalar;
use super::var::Var;
use ndarray::{Array, ArrayBase, Data, DataMut, DataOwned, Dimension, ScalarOperand};
use std::ops::{Add, Div, Mul, Sub};

impl ScalarOperand for Var {}
impl<T: Scalar, const N: usize> ScalarOperand for Dual<T, N> {}
impl<T: Scalar, const K: usize> ScalarOperand for Jet<T, K> {}

/// With the number on the left; that crate has the other side.
macro_rules! from_the_left {
    ($($trait:ident $method:ident),*) => {$(
        impl<S: DataOwned<Elem = Var> + DataMut, D: Dimension> $trait<ArrayBase<S, D>> for Var {
            type Output = ArrayBase<S, D>;

            #[track_caller]
            fn $method(self, mut array: ArrayBase<S, D>) -> ArrayBase<S, D> {
                for x in &mut array {
                    *x = $trait::$method(self, *x);
                }
                array
            }
        }

        impl<S: Data<Elem = Var>, D: Dimension> $trait<&ArrayBase<S, D>> for Var {
            type Output = Array<Var, D>;

            #[track_caller]
            fn $method(self, array: &ArrayBase<S, D>) -> Array<Var, D> {
                $trait::$method(self, array.to_owned())
            }
        }
    )*};
}
from_the_left!(Add add, Sub sub, Mul mul, Div div);
