//! Simplification: the function rebuilt.
//!
//! The [builder](crate::ir::builder) folds as it appends: constants, identities that hold to the bit,
//! common subexpressions, dimensions and elements of arrays made in sight. Copying puts the branch taken
//! in the place of a branch on a constant and drops loops that never run. Here, exits that are never
//! taken go too.

use super::copy::rebuild;
use crate::ir::{Func, Op};
use crate::ops::Scalar;

/// The function, simplified. No bit changes.
pub fn simplify(func: &Func) -> Func {
    rebuild(func, &func.name, &mut |copier, b, inst| {
        let never = Some(Scalar::Bool(false));
        inst.op == Op::ExitIf && {
            let condition = copier.get(func, b, inst.args[0]);
            b.func().as_const(condition) == never
        }
    })
}
