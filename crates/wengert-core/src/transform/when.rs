//! When a derivative is anything but a zero that was left aside.
//!
//! What a branch or a choice leaves aside has a derivative that is 0 whatever its operands are. Where a slope is
//! infinite as well (`sqrt` at 0), 0 times that would be NaN, for something nobody looked at. So both modes
//! keep, with tangents and adjoints, a condition under which they are anything but a zero of that kind, as far as
//! it is known; partials are left out where it does not hold. Zeros that are computed are no such
//! zeros: they stay factors.

use crate::ir::{Builder, Value};
use crate::ops::{Partial, Prim, Scalar};

/// The cases in which a derivative may be something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// None.
    Never,
    /// Where a truth value of the derived program is this one (an array of them: element by element).
    Is(Value, bool),
    /// All.
    Always,
}

impl When {
    /// The cases of either.
    pub(super) fn or(self, b: &mut Builder, other: When) -> When {
        match (self.known(b), other.known(b)) {
            (When::Never, when) | (when, When::Never) => when,
            (When::Is(c, holds), When::Is(d, also)) if (c, holds) == (d, also) => self,
            (When::Is(c, _), When::Is(d, _)) if c != d => {
                let both = [self.truth(b), other.truth(b)];
                When::Is(b.prim(Prim::Or, &both), true)
            }
            _ => When::Always,
        }
    }

    /// The cases among these in which a truth value is this one.
    pub(super) fn and(self, b: &mut Builder, c: Value, holds: bool) -> When {
        match self {
            When::Never => When::Never,
            When::Always => When::Is(c, holds),
            When::Is(d, also) if c == d && holds == also => self,
            When::Is(d, _) if c == d => When::Never,
            When::Is(..) => {
                let both = [self.truth(b), When::Is(c, holds).truth(b)];
                When::Is(b.prim(Prim::And, &both), true)
            }
        }
    }

    /// A factor of such a derivative: 0 in all other cases.
    pub(super) fn factor(self, b: &mut Builder, partial: Partial<Value>) -> Partial<Value> {
        let Partial::Of(p) = partial else { return partial };
        let zero = b.zero(b.ty(p));
        match self {
            When::Never => Partial::Of(zero),
            When::Is(c, true) => Partial::Of(b.select(c, p, zero)),
            When::Is(c, false) => Partial::Of(b.select(c, zero, p)),
            When::Always => partial,
        }
    }

    /// The cases in which there is something left after a partial.
    pub(super) fn through(self, b: &mut Builder, partial: Partial<Value>) -> When {
        match partial {
            Partial::Where(c) => self.and(b, c, true),
            _ => self,
        }
    }

    /// As a truth value.
    pub(super) fn truth(self, b: &mut Builder) -> Value {
        match self {
            When::Never => b.bool(false),
            When::Always => b.bool(true),
            When::Is(c, true) => c,
            When::Is(c, false) => b.prim(Prim::Not, &[c]),
        }
    }

    /// The same, where a condition is a constant.
    fn known(self, b: &Builder) -> When {
        let When::Is(c, holds) = self else { return self };
        match b.func().as_const(c) {
            Some(Scalar::Bool(c)) if c == holds => When::Always,
            Some(_) => When::Never,
            None => self,
        }
    }
}
