//! Array operations on values with what they depend on. All of them, and only they, are here.
//!
//! Operations on arrays move elements, and each element takes along what it depends on. (One that computes,
//! such as a sum, would join what the elements it reads depend on, with `Interactions::join` where it is
//! linear in them.)

use super::traced::{Dep, Deps, Traced};
use crate::fault::FaultKind;
use crate::interp::Val;
use crate::ir::Op;
use crate::ops::Scalar;
use std::rc::Rc;

/// Whether operand `k` is taken over, so that it can be changed in place.
pub(super) fn takes(op: &Op, k: usize) -> bool {
    *op == Op::Store && k == 0
}

/// The result of an array operation; nothing for what is not one. An index out of range is reported
/// without the name of the array.
pub(super) fn apply(op: &Op, mut args: Vec<Traced>) -> Option<Result<Traced, FaultKind>> {
    Some(match op {
        Op::Len => Ok(Traced::passive(Val::i64(elements(&args[0]).len() as i64))),
        Op::Load => index(&args).map(|at| {
            let dep = args[0].all().get(at).cloned().unwrap_or_default();
            Traced { val: Val::f64(elements(&args[0])[at]), deps: Deps::One(dep) }
        }),
        Op::Store => index(&args).map(|at| {
            let (v, dep) = (float(&args[2]), args[2].dep());
            let mut array = args.swap_remove(0);
            if let (Val::Array(x), Deps::Each(deps)) = (&mut array.val, &mut array.deps) {
                Rc::make_mut(x)[at] = v;
                Rc::make_mut(deps)[at] = dep;
            }
            array
        }),
        Op::Fill => match integer(&args[0]) {
            n if n < 0 => Err(FaultKind::NegativeLength(n)),
            n => filled(n as usize, float(&args[1]), args[1].dep()).ok_or(FaultKind::OutOfMemory),
        },
        // Versions are taken over one by one: sharing the storage until then is a copy.
        Op::Copy => Ok(args.swap_remove(0)),
        _ => return None,
    })
}

fn filled(n: usize, v: f64, dep: Dep) -> Option<Traced> {
    let (mut array, mut deps) = (Vec::new(), Vec::new());
    array.try_reserve_exact(n).ok()?;
    deps.try_reserve_exact(n).ok()?;
    array.resize(n, v);
    deps.resize(n, dep);
    Some(Traced { val: Val::array(array), deps: Deps::Each(Rc::new(deps)) })
}

/// The element operand 1 names in operand 0.
fn index(args: &[Traced]) -> Result<usize, FaultKind> {
    let (index, len) = (integer(&args[1]), elements(&args[0]).len() as i64);
    if index < 0 || index >= len {
        return Err(FaultKind::Index { array: None, index, len });
    }
    Ok(index as usize)
}

fn elements(v: &Traced) -> &[f64] {
    match &v.val {
        Val::Array(x) => x,
        _ => &[],
    }
}

fn integer(v: &Traced) -> i64 {
    match v.val {
        Val::Scalar(Scalar::I64(x)) => x,
        _ => 0,
    }
}

fn float(v: &Traced) -> f64 {
    match v.val {
        Val::Scalar(Scalar::F64(x)) => x,
        _ => f64::NAN,
    }
}
