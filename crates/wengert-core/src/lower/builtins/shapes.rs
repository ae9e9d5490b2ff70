//! The same elements in another shape or order, several arrays in one, and some elements of one.

use super::arguments::{Argument, Given, storage_of};
use crate::arrays;
use crate::ir::{Op, Value};
use crate::lower::operand::{Fresh, Operand};
use crate::lower::{Lowered, Lowering};
use crate::ops::{ArrayOp, Prim};
use crate::span::{Diagnostic, Span};

impl Lowering<'_> {
    /// `len(x)`: of a tuple, or along the first axis.
    pub(super) fn length(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        match self.operand(a)? {
            Operand::Tuple(all) | Operand::List(all) => {
                Ok(Operand::Scalar(self.b.i64(all.len() as i64)))
            }
            operand => {
                let view = self.as_view(operand, a.span())?;
                self.b.at(span);
                Ok(Operand::Scalar(self.dims_of(&view)[0]))
            }
        }
    }

    /// `np.shape(x)`, `np.ndim(x)` and `np.size(x)`.
    pub(super) fn shape_property(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let operand = self.operand(a)?;
        self.property(given.name, operand, a.span(), span)
    }

    pub(super) fn property(
        &mut self,
        name: &str,
        operand: Operand,
        at: Span,
        span: Span,
    ) -> Lowered<Operand> {
        let view = self.as_view(operand, at)?;
        self.b.at(span);
        let dims = self.dims_of(&view);
        Ok(match name {
            "shape" => {
                Operand::Tuple(dims.into_iter().map(|d| (Operand::Scalar(d), span)).collect())
            }
            "ndim" => Operand::Scalar(self.b.i64(dims.len() as i64)),
            _ => {
                let n = dims.into_iter().reduce(|n, d| self.b.prim(Prim::IMul, &[n, d]));
                Operand::Scalar(n.unwrap_or_else(|| self.b.i64(1)))
            }
        })
    }

    /// How many elements an array has.
    pub(super) fn count(&mut self, x: Value) -> Value {
        let dims = self.b.dims(x);
        dims.into_iter()
            .reduce(|n, d| self.b.prim(Prim::IMul, &[n, d]))
            .unwrap_or_else(|| self.b.i64(1))
    }

    /// `transpose`, `swapaxes` and `moveaxis`: views with their axes in another order.
    pub(super) fn reordered(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let view = self.view(given, 0)?;
        let rank = self.rank_of(&view);
        let mut order: Vec<usize> = (0..rank).collect();
        match (given.name, given.optional(1)) {
            ("transpose", Some(axes)) => order = self.order(axes, rank)?,
            ("transpose", _) => order.reverse(),
            _ => {
                let (i, j) = (self.axis(given, 1, rank)?, self.axis(given, 2, rank)?);
                let (i, j) = (i.unwrap_or(0), j.unwrap_or(0));
                if given.name == "swapaxes" {
                    order.swap(i, j);
                } else {
                    let axis = order.remove(i);
                    order.insert(j, axis);
                }
            }
        }
        self.b.at(span);
        Ok(Operand::Array(self.permuted(&view, &order)))
    }

    /// The order of axes a `transpose` asks for.
    pub(super) fn order(&mut self, a: &Argument, rank: usize) -> Lowered<Vec<usize>> {
        let dims = self.shape(a)?;
        let order: Option<Vec<usize>> = dims
            .iter()
            .map(|d| {
                let k = self.known_integer(*d)?;
                let k = if k < 0 { k + rank as i64 } else { k };
                (0..rank as i64).contains(&k).then_some(k as usize)
            })
            .collect();
        let all = |order: &Vec<usize>| order.len() == rank && (0..rank).all(|k| order.contains(&k));
        order.filter(all).ok_or_else(|| {
            Diagnostic::new("shape-mismatch", "`transpose` names each axis once")
                .label(a.span(), "these axes")
                .help(format!("name each of 0 to {}", rank.saturating_sub(1)))
        })
    }

    /// `reshape` and `ravel`.
    pub(super) fn reshape(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let operand = self.operand(a)?;
        let dims = match given.optional(1) {
            Some(shape) => Some(self.shape(shape)?),
            _ => None,
        };
        self.reshaped(operand, dims, a.span(), span)
    }

    /// The same elements in another shape; NumPy shares them with the array where it can.
    pub(super) fn reshaped(
        &mut self,
        operand: Operand,
        dims: Option<Vec<Value>>,
        at: Span,
        span: Span,
    ) -> Lowered<Operand> {
        let shares = match &operand {
            Operand::Array(view) => Some(view.storage),
            Operand::Fresh(fresh) => fresh.shares,
            _ => None,
        };
        let x = self.value(&operand, at)?;
        self.b.at(span);
        if !self.b.ty(x).is_array() {
            let dims = dims.unwrap_or_else(|| vec![self.b.i64(1)]);
            return Ok(self.filled(&dims, x, span));
        }
        let mut dims = match dims {
            Some(dims) => dims,
            None => vec![self.count(x)],
        };
        // One size can be left to be found.
        if let Some(open) = dims.iter().position(|d| self.known_integer(*d) == Some(-1)) {
            let all = self.count(x);
            let one = self.b.i64(1);
            let mut rest = one;
            for (k, d) in dims.clone().into_iter().enumerate() {
                if k != open {
                    rest = self.b.prim(Prim::IMul, &[rest, d]);
                }
            }
            // Nothing divided by nothing is nothing.
            let safe = self.b.prim(Prim::IMax, &[rest, one]);
            dims[open] = self.b.prim(Prim::IDiv, &[all, safe]);
        }
        let v = self.b.array(ArrayOp::Reshape, &[&[x][..], &dims].concat());
        self.note_dims(v, &dims);
        Ok(Operand::Fresh(Fresh { value: v, shares }))
    }

    /// `expand_dims` and `squeeze`.
    pub(super) fn axis_more_or_less(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let view = self.view(given, 0)?;
        let rank = self.rank_of(&view);
        let mut dims = self.dims_of(&view);
        let one = self.b.i64(1);
        if given.name == "expand_dims" {
            let axis = self.axis(given, 1, rank + 1)?.unwrap_or(0);
            dims.insert(axis, one);
        } else {
            let axis = self.axis(given, 1, rank)?.unwrap_or(0);
            let n = dims.remove(axis);
            self.b.at(span);
            let single = self.b.prim(Prim::IEq, &[n, one]);
            let message = "this axis does not have one element";
            self.b.op(Op::Assert(message.into()), &[single]);
            if dims.is_empty() {
                let zero = self.b.i64(0);
                return Ok(self.item_of(&view, zero, span));
            }
        }
        self.reshaped(Operand::Array(view), Some(dims), given.span_of(0), span)
    }

    /// `np.broadcast_to`, as an array of its own.
    pub(super) fn broadcast_to(&mut self, given: &Given) -> Lowered<Operand> {
        let a = given.needed(0);
        let operand = self.operand(a)?;
        let (x, shares) = (self.value(&operand, a.span())?, storage_of(&operand));
        let dims = self.shape(given.needed(1))?;
        let v = self.by(given, |b| arrays::broadcast(b, x, &dims))?;
        self.note_dims(v, &dims);
        if v == x {
            return self.copied(v, x);
        }
        Ok(Operand::Fresh(Fresh { value: v, shares }))
    }

    /// `np.roll`.
    pub(super) fn rolled(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let shift = self.whole_number(given, 1)?;
        let axis = self.axis(given, 2, self.b.ty(x).rank())?;
        let v = self.by(given, |b| arrays::roll(b, x, shift, axis))?;
        self.copied(v, x)
    }

    /// `np.tile` and `np.repeat`.
    pub(super) fn repeated(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let n = self.whole_number(given, 1)?;
        let v = self.by(given, |b| match given.name {
            "tile" => arrays::tile(b, x, n),
            _ => arrays::repeat_elements(b, x, n),
        })?;
        self.copied(v, x)
    }

    pub(super) fn joined(&mut self, given: &Given) -> Lowered<Operand> {
        let parts = self.parts(given, 0)?;
        let stacked = matches!(given.name, "stack");
        let rank = self.same_rank(given, &parts, usize::from(given.name == "concatenate"))?;
        let values: Vec<Value> = parts.iter().map(|(v, _)| *v).collect();
        let vertical = given.name == "vstack" && rank < 2;
        let axes = rank + usize::from(stacked);
        let axis = match given.name {
            "concatenate" | "stack" => self.axis(given, 1, axes.max(1))?.unwrap_or(0),
            "hstack" if rank > 1 => 1,
            _ => 0,
        };
        let v = self.by(given, |b| {
            if stacked || vertical || rank == 0 {
                arrays::stack(b, &values, axis)
            } else {
                arrays::concatenate(b, &values, axis)
            }
        })?;
        Ok(self.made(v))
    }

    /// `np.take`.
    pub(super) fn taken(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let idx = self.number(given, 1)?;
        let (x, axis) = match self.axis(given, 2, self.b.ty(x).rank())? {
            Some(axis) => (x, axis),
            None => (self.by(given, |b| arrays::flatten(b, x))?, 0),
        };
        let v = self.by(given, |b| arrays::take(b, x, idx, axis))?;
        Ok(self.made(v))
    }

    /// `np.searchsorted`.
    pub(super) fn search(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, v) = (self.array_value(given, 0)?, self.number(given, 1)?);
        let side = match given.optional(2) {
            Some(a) => match self.operand(a)? {
                Operand::Text(side) if side == "left" || side == "right" => side,
                _ => {
                    return Err(Diagnostic::new("type", "`side` is \"left\" or \"right\"")
                        .label(a.span(), "neither"));
                }
            },
            _ => "left".into(),
        };
        let at = self.by(given, |b| arrays::searchsorted(b, x, v, side == "right"))?;
        self.lower_bounds.insert(at, 0);
        Ok(self.made(at))
    }

    /// `np.interp`.
    pub(super) fn interpolated(&mut self, given: &Given) -> Lowered<Operand> {
        let v = self.number(given, 0)?;
        let (x, y) = (self.array_value(given, 1)?, self.array_value(given, 2)?);
        let y = self.by(given, |b| arrays::interp(b, v, x, y))?;
        Ok(self.made(y))
    }
}
