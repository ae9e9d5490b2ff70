//! `as`: conversions between numbers.

use super::item::natural;
use super::types::IntKind;
use super::value::{Leaf, Ty, Val, binary, call, float, int};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{BinaryOp, Expr, ExprKind};

impl<'a> Converter<'a> {
    /// `value as type`.
    pub(super) fn cast(&mut self, cast: &'a syn::ExprCast, at: Span) -> Made<Val<'a>> {
        let ty = self.rust_type(&cast.ty)?.ty();
        let literal = matches!(super::expr::strip(&cast.expr), syn::Expr::Lit(_));
        let want = Some(&ty).filter(|_| literal);
        let leaf = self.scalar(&cast.expr, want)?;
        if leaf.ty == Ty::Never {
            return Ok(Val::Never);
        }
        let e = self.converted(leaf, &ty, at)?;
        Ok(Val::of(e, ty))
    }

    /// A number as one of another type, as `as` makes it.
    pub(super) fn converted(&mut self, leaf: Leaf, ty: &Ty, at: Span) -> Made<Expr> {
        Ok(match (&leaf.ty, ty) {
            (from, to) if from == to => leaf.e,
            (Ty::F64 | Ty::Float | Ty::Int(_), Ty::F32) => call("float32", vec![leaf.e], at),
            (Ty::Float, Ty::F64) => leaf.e,
            (Ty::F32, Ty::F64) => call("float", vec![leaf.e], at),
            (Ty::Int(_), Ty::F64) => match leaf.e.kind {
                ExprKind::Int(k) => float(k as f64, at),
                _ => call("float", vec![leaf.e], at),
            },
            (from, Ty::Int(Some(kind))) if from.is_float() => cut(leaf.e, *kind, at),
            (Ty::Bool, Ty::Int(Some(_))) => call("int", vec![leaf.e], at),
            (Ty::Int(from), Ty::Int(Some(to))) => {
                let known = super::constants::known_integer(&leaf.e);
                let ((low, high), (least, most)) =
                    (from.unwrap_or(IntKind::I64).range(), to.range());
                if known.is_some_and(|k| least <= k && k <= most) || (least <= low && high <= most)
                {
                    leaf.e
                } else if to.bits() == 64 {
                    natural(leaf.e, "a negative number is cast to an unsigned integer", at)
                } else {
                    wrapped(leaf.e, *to, at)
                }
            }
            _ => return Err(no::CAST.at(at)),
        })
    }
}

/// A float cut to an integer; what does not fit becomes the nearest that does.
fn cut(e: Expr, kind: IntKind, at: Span) -> Expr {
    let (least, most) = kind.range();
    let mut e = call("rust.saturate", vec![e], at);
    if least > i64::MIN {
        e = call("max", vec![e, int(least, at)], at);
    }
    if most < i64::MAX {
        e = call("min", vec![e, int(most, at)], at);
    }
    e
}

/// The bits of an integer that fit a type.
pub(super) fn wrapped(e: Expr, kind: IntKind, at: Span) -> Expr {
    if kind.bits() == 64 {
        return e;
    }
    let low = binary(e, BinaryOp::BitAnd, int((1 << kind.bits()) - 1, at), at);
    if kind.unsigned() {
        return low;
    }
    let half = int(1 << (kind.bits() - 1), at);
    let turned = binary(low, BinaryOp::BitXor, half.clone(), at);
    binary(turned, BinaryOp::Sub, half, at)
}
