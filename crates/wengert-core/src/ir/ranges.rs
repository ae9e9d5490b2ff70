//! What integers can be, as far as how they are made says it.
//!
//! Sizes are not negative, and indices are clamped between them, so most sums of theirs fit in 64 bits whatever the
//! program is given. Such a sum cannot fail: it can move out of a loop, and needs no check.

use super::builder::Builder;
use super::func::Value;
use super::types::{Op, Type};
use crate::ops::{Prim, Scalar};

/// How many instructions are looked through.
const LOOK_BACK: usize = 8;

/// The least and the greatest.
type Range = (i128, i128);

const ANY: Range = (i64::MIN as i128, i64::MAX as i128);

impl Builder {
    /// The wrapping form of integer arithmetic that is sure to fit.
    pub(super) fn fitting(&self, prim: Prim, args: &[Value]) -> Option<Prim> {
        let wrapping = match prim {
            Prim::IAdd => Prim::WAdd,
            Prim::ISub => Prim::WSub,
            Prim::IMul => Prim::WMul,
            _ => return None,
        };
        fits(self.computed(prim, args, LOOK_BACK)?).then_some(wrapping)
    }

    fn range(&self, v: Value, depth: usize) -> Range {
        if let Some(Scalar::I64(c)) = self.func.as_const(v) {
            return (c.into(), c.into());
        }
        let found = match self.made.get(&v) {
            Some((Op::Dim(_), _)) => Some((0, ANY.1)),
            Some((Op::Prim(prim), args)) if depth > 0 && self.func.ty(v) == Type::I64 => {
                self.computed(*prim, args, depth - 1)
            }
            _ => None,
        };
        // What does not fit has failed, or has wrapped.
        found.filter(|r| fits(*r)).unwrap_or(ANY)
    }

    /// What a row gives if nothing wraps.
    fn computed(&self, prim: Prim, args: &[Value], depth: usize) -> Option<Range> {
        let of = |k: usize| self.range(args[k], depth);
        let two = |f: fn(i128, i128) -> i128| {
            let (a, b) = (of(0), of(1));
            (f(a.0, b.0), f(a.1, b.1))
        };
        Some(match prim {
            Prim::IAdd | Prim::WAdd => two(|a, b| a + b),
            Prim::ISub | Prim::WSub => {
                let (a, b) = (of(0), of(1));
                (a.0 - b.1, a.1 - b.0)
            }
            Prim::IMul | Prim::WMul => {
                let (a, b) = (of(0), of(1));
                let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                let [first, rest @ ..] = ends;
                rest.iter().fold((first, first), |r, e| (r.0.min(*e), r.1.max(*e)))
            }
            Prim::IMin => two(i128::min),
            Prim::IMax => two(i128::max),
            Prim::IDiv => match of(1) {
                (c, d) if c == d && c > 0 => {
                    let a = of(0);
                    (a.0.div_euclid(c), a.1.div_euclid(c))
                }
                _ => return None,
            },
            Prim::IMod => match of(1) {
                (c, d) if c > 0 => (0, d - 1),
                _ => return None,
            },
            Prim::Select => {
                let (a, b) = (of(1), of(2));
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => return None,
        })
    }
}

fn fits(range: Range) -> bool {
    ANY.0 <= range.0 && range.1 <= ANY.1
}
