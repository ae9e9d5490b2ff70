//! Functions that are cheaper together: the sine, and the cosine that is its derivative.
//!
//! The way back multiplies by the cosine of an angle whose sine the program takes. Asked for there, it would have to
//! begin anew; beside the sine it costs a few instructions ([`branches`](crate::transform::branches) makes one program of
//! the two). So the program that is differentiated takes both, and what to save decides as for every other value
//! ([`remat`](super::remat)); a companion that is not saved is dead code on the way there.

use crate::ir::{Func, Inst, Op};
use crate::ops::Prim;
use crate::transform::activity::Activity;
use crate::transform::expand::MOST_COPIES;
use crate::transform::{calls as calls_of, copy};
use std::borrow::Cow;

/// The function that the partial of another one is, but for its sign, of the same argument.
pub(super) fn beside(prim: Prim) -> Option<Prim> {
    match prim {
        Prim::Sin => Some(Prim::Cos),
        Prim::Cos => Some(Prim::Sin),
        _ => None,
    }
}

/// The function with companions before every number that has one and a derivative by these parameters.
pub(super) fn added<'f>(func: &'f Func, wrt: &[usize]) -> Cow<'f, Func> {
    let Ok(by) = calls_of::parameters(func, wrt) else { return Cow::Borrowed(func) };
    let mut count = 0;
    func.body.walk(&mut |inst| count += usize::from(of(func, inst).is_some()));
    // Where there are so many that each is a call, the two are no program together.
    if count == 0 || 2 * count > MOST_COPIES {
        return Cow::Borrowed(func);
    }
    let activity = Activity::new(func, &by);
    Cow::Owned(copy::rebuild(func, &func.name, &mut |copier, b, inst| {
        if let Some(prim) = of(func, inst)
            && activity.is_active(inst.results[0])
        {
            let angle = copier.get(func, b, inst.args[0]);
            b.prim(prim, &[angle]);
        }
        false
    }))
}

/// What belongs beside an instruction, where it computes a number.
pub(super) fn of(func: &Func, inst: &Inst) -> Option<Prim> {
    match inst.op {
        Op::Prim(prim) if func.ty(inst.results[0]).is_scalar() => beside(prim),
        _ => None,
    }
}
