//! Reductions, products, and what goes along an axis.

use super::arguments::Given;
use crate::arrays;
use crate::ir::Value;
use crate::lower::operand::{Fresh, Operand};
use crate::lower::{Lowered, Lowering};
use crate::ops::ArrayOp;
use crate::span::Diagnostic;
use crate::surface::tree::BinaryOp;

impl Lowering<'_> {
    /// Reductions that are called alike.
    pub(super) fn reduction(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let rank = self.b.ty(x).rank();
        let axes = self.axes(given, 1, rank)?;
        let along: Vec<Option<usize>> = match &axes {
            Some(axes) if axes.len() < rank => axes.iter().map(|a| Some(*a)).collect(),
            _ => vec![None],
        };
        if along.len() > 1 && given.name == "median" {
            let message = "`median` goes along one axis, or over all elements";
            return Err(Diagnostic::new("unsupported-function", message)
                .label(given.span_of(1), "these axes")
                .help("join the axes first: `x.reshape(n, -1)`"));
        }
        let mut v = x;
        for axis in along {
            v = self.by(given, |b| match given.name {
                "sum" => arrays::sum(b, v, axis),
                "mean" => arrays::mean(b, v, axis),
                "prod" => arrays::prod(b, v, axis),
                "amax" => arrays::max(b, v, axis),
                "amin" => arrays::min(b, v, axis),
                "any" => arrays::any(b, v, axis),
                "all" => arrays::all(b, v, axis),
                "median" => arrays::median(b, v, axis),
                _ => arrays::logsumexp(b, v, axis),
            })?;
        }
        self.keep_axes(given, 2, x, axes.as_deref(), v)
    }

    /// `np.std` and `np.var`.
    pub(super) fn deviation(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let axis = self.axis(given, 1, self.b.ty(x).rank())?;
        let ddof = self.constant(given, 2, "`ddof`")?.unwrap_or(0);
        let v = self.by(given, |b| match given.name {
            "std" => arrays::std(b, x, axis, ddof),
            _ => arrays::variance(b, x, axis, ddof),
        })?;
        self.keep_axes(given, 3, x, axis.as_ref().map(std::slice::from_ref), v)
    }

    /// `np.linalg.norm`.
    pub(super) fn norm(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let order = self.constant(given, 1, "the order of a norm")?;
        if !matches!(order, None | Some(2)) {
            let span = given.span_of(1);
            return Err(Diagnostic::new("unsupported-function", "only the 2-norm is supported")
                .label(span, "this order")
                .help(
                    "for others write `np.sum(np.abs(x) ** p) ** (1 / p)` or `np.max(np.abs(x))`",
                ));
        }
        let axis = self.axis(given, 2, self.b.ty(x).rank())?;
        let v = self.by(given, |b| arrays::norm(b, x, axis))?;
        self.keep_axes(given, 3, x, axis.as_ref().map(std::slice::from_ref), v)
    }

    /// Puts back the axes a reduction took away; all of them where none is named.
    fn keep_axes(
        &mut self,
        given: &Given,
        k: usize,
        x: Value,
        axes: Option<&[usize]>,
        v: Value,
    ) -> Lowered<Operand> {
        if self.constant(given, k, "`keepdims`")?.unwrap_or(0) == 0 {
            return Ok(self.made(v));
        }
        let one = self.b.i64(1);
        let mut dims = self.b.dims(x);
        match axes {
            Some(axes) => axes.iter().for_each(|axis| dims[*axis] = one),
            None => dims.iter_mut().for_each(|d| *d = one),
        }
        let v = if self.b.ty(v).is_array() {
            self.b.array(ArrayOp::Reshape, &[&[v][..], &dims].concat())
        } else {
            self.b.filled(&dims, v)
        };
        self.note_dims(v, &dims);
        Ok(Operand::fresh(v))
    }

    /// `math.dist`.
    pub(super) fn distance(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (x, y) = (self.array_value(given, 0)?, self.array_value(given, 1)?);
        let d = self.combine(BinaryOp::Sub, x, y, span)?;
        let v = self.by(given, |b| arrays::norm(b, d, None))?;
        Ok(self.made(v))
    }

    /// Python's `sum` and `math.prod`: of the items of a list or an array along its first axis.
    pub(super) fn folded(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let op = if given.name == "prod_items" { BinaryOp::Mul } else { BinaryOp::Add };
        let start = match given.optional(1) {
            Some(start) => Some((self.operand(start)?, start.span())),
            _ => None,
        };
        let total = match self.operand(a)? {
            Operand::Tuple(items) | Operand::List(items) => {
                let one = self.b.i64(i64::from(op == BinaryOp::Mul));
                let mut total = Operand::Scalar(one);
                for (item, at) in items {
                    total = self.binary(op, (&total, span), (&item, at))?;
                }
                total
            }
            operand => {
                let x = self.value(&operand, a.span())?;
                let rank = self.b.ty(x).rank();
                let axis = (rank > 1).then_some(0);
                let v = self.by(given, |b| match op {
                    BinaryOp::Mul => arrays::prod(b, x, axis),
                    _ => arrays::sum(b, x, axis),
                })?;
                self.made(v)
            }
        };
        match start {
            Some((start, at)) => self.binary(op, (&start, at), (&total, span)),
            None => Ok(total),
        }
    }

    /// What goes along one axis, or all elements in order.
    pub(super) fn along_axis(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, shares) = self.shared_value(given, 0)?;
        let rank = self.b.ty(x).rank();
        let axis = if given.name == "sorted" { None } else { self.axis(given, 1, rank)? };
        let v = self.by(given, |b| match given.name {
            "argmax" => arrays::argmax(b, x, axis),
            "argmin" => arrays::argmin(b, x, axis),
            "cumsum" => arrays::cumsum(b, x, axis),
            "cumprod" => arrays::cumprod(b, x, axis),
            "softmax" => arrays::softmax(b, x, axis),
            "argsort" => arrays::argsort(b, x, axis),
            "flip" => arrays::flip(b, x, axis),
            _ => arrays::sort(b, x, axis),
        })?;
        if matches!(given.name, "argmax" | "argmin") {
            self.lower_bounds.insert(v, 0);
        }
        if given.name == "flip" {
            return Ok(Operand::Fresh(Fresh { value: v, shares }));
        }
        if given.name == "sorted" {
            return Ok(Operand::Array(self.stored_list(v, None)));
        }
        self.copied(v, x)
    }

    /// `np.diff`.
    pub(super) fn differences(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let x = self.array_value(given, 0)?;
        if !matches!(self.constant(given, 1, "`n`")?, None | Some(1)) {
            return Err(Diagnostic::new(
                "unsupported-function",
                "only first differences are supported",
            )
            .label(span, "this call")
            .help("call `np.diff` again on the result"));
        }
        let axis = self.axis(given, 2, self.b.ty(x).rank())?;
        let v = self.by(given, |b| arrays::diff(b, x, axis))?;
        Ok(self.made(v))
    }

    /// `np.trapezoid`.
    pub(super) fn trapezoid(&mut self, given: &Given) -> Lowered<Operand> {
        let y = self.array_value(given, 0)?;
        let mut others = [None, None];
        for (k, slot) in others.iter_mut().enumerate() {
            if let Some(a) = given.optional(k + 1) {
                *slot = Some(self.argument(a)?);
            }
        }
        let v = self.by(given, |b| arrays::trapezoid(b, y, others[0], others[1]))?;
        Ok(self.made(v))
    }

    /// `dot`, `matmul`, `vdot`, `inner`, `outer` and `cross`.
    pub(super) fn product(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (x, y) = (self.number(given, 0)?, self.number(given, 1)?);
        let scalars = [x, y].iter().any(|v| !self.b.ty(*v).is_array());
        if scalars && matches!(given.name, "dot" | "inner") {
            let v = self.combine(BinaryOp::Mul, x, y, span)?;
            return Ok(self.made(v));
        }
        for (v, k) in [(x, 0), (y, 1)] {
            self.is_array(given, k, v)?;
        }
        let ranks = (self.b.ty(x).rank(), self.b.ty(y).rank());
        let v = self.by(given, |b| match given.name {
            "dot" if ranks.0 == 1 && ranks.1 == 1 => arrays::dot(b, x, y),
            "dot" if ranks.0 <= 2 && ranks.1 <= 2 => arrays::matmul(b, x, y),
            "dot" => {
                Err("`dot` of arrays with more than two axes: use `matmul` or `einsum`".into())
            }
            "matmul" => arrays::matmul(b, x, y),
            "vdot" => arrays::vdot(b, x, y),
            "inner" => arrays::inner(b, x, y),
            "cross" => arrays::cross(b, x, y),
            _ => arrays::outer(b, x, y),
        })?;
        Ok(self.made(v))
    }

    /// `np.diag` and `np.trace`.
    pub(super) fn diagonal(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, shares) = self.shared_value(given, 0)?;
        let v = self.by(given, |b| match given.name {
            "diag" => arrays::diag(b, x),
            _ => arrays::trace(b, x),
        })?;
        // The diagonal of a matrix is part of it.
        let part = given.name == "diag" && self.b.ty(x).rank() == 2;
        Ok(if part { Operand::Fresh(Fresh { value: v, shares }) } else { self.made(v) })
    }

    /// `np.tril` and `np.triu`.
    pub(super) fn triangle(&mut self, given: &Given) -> Lowered<Operand> {
        let x = self.array_value(given, 0)?;
        let k = match given.optional(1) {
            Some(_) => self.whole_number(given, 1)?,
            None => self.b.i64(0),
        };
        let v = self.by(given, |b| arrays::triangle(b, x, k, given.name == "triu"))?;
        Ok(self.made(v))
    }

    /// `np.tensordot` over a number of axes.
    pub(super) fn tensor_product(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, y) = (self.array_value(given, 0)?, self.array_value(given, 1)?);
        if let Some(a) = given.optional(2)
            && let Operand::Tuple(_) | Operand::List(_) = self.operand(a)?
        {
            let message = "`tensordot` takes the number of axes to sum over";
            return Err(Diagnostic::new("unsupported-function", message)
                .label(a.span(), "these are the axes themselves")
                .help("say which axes are summed by `np.einsum('ij,jk->ik', a, b)`"));
        }
        let axes = self.constant(given, 2, "the number of axes")?.unwrap_or(2);
        let Ok(axes) = usize::try_from(axes) else {
            let message = "the number of axes cannot be negative";
            return Err(
                Diagnostic::new("shape-mismatch", message).label(given.span_of(2), "this number")
            );
        };
        let v = self.by(given, |b| arrays::tensordot(b, x, y, axes))?;
        Ok(self.made(v))
    }

    /// `np.convolve`.
    pub(super) fn convolution(&mut self, given: &Given) -> Lowered<Operand> {
        let (x, y) = (self.array_value(given, 0)?, self.array_value(given, 1)?);
        let mode = match given.optional(2) {
            Some(a) => self.operand(a)?,
            None => Operand::Text("full".into()),
        };
        let overlap = match &mode {
            Operand::Text(mode) if mode == "full" => arrays::Overlap::Full,
            Operand::Text(mode) if mode == "same" => arrays::Overlap::Same,
            Operand::Text(mode) if mode == "valid" => arrays::Overlap::Valid,
            _ => {
                let message = "`mode` is \"full\", \"same\" or \"valid\"";
                return Err(
                    Diagnostic::new("type", message).label(given.span_of(2), "none of them")
                );
            }
        };
        let v = self.by(given, |b| arrays::convolve(b, x, y, overlap))?;
        Ok(self.made(v))
    }

    pub(super) fn einsum(&mut self, given: &Given) -> Lowered<Operand> {
        let a = given.needed(0);
        let Operand::Text(formula) = self.operand(a)? else {
            return Err(Diagnostic::new("type", "`einsum` starts with its formula")
                .label(a.span(), "not text")
                .help("write it first: `np.einsum('ij,j->i', a, x)`"));
        };
        let mut values = Vec::new();
        for k in 1..given.args.len() {
            values.push(self.number(given, k)?);
        }
        let shaped =
            |message| Diagnostic::new("shape-mismatch", message).label(given.span, "this call");
        let values = arrays::alike(&mut self.b, &values).map_err(shaped)?;
        self.b.at(given.span);
        match arrays::einsum(&mut self.b, &formula, &values) {
            Ok(v) => Ok(self.made(v)),
            Err(message) => Err(Diagnostic::new("shape-mismatch", message)
                .label(a.span(), "this formula")
                .help("one letter for each axis, as in `np.einsum('ij,jk->ik', a, b)`")),
        }
    }
}
