//! New arrays: of a shape, of a list, of a range.

use super::arguments::{Argument, Given};
use crate::arrays;
use crate::ir::{Elem, Value};
use crate::lower::operand::{Operand, described_operand};
use crate::lower::{Lowered, Lowering};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::ExprKind;

impl Lowering<'_> {
    /// `zeros`, `ones`, `empty` and `full`.
    pub(super) fn new_array(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let dims = self.shape(a)?;
        let v = if given.name == "full" {
            let v = self.number(given, 1)?;
            match self.dtype(given, 2)? {
                Some(elem) => self.convert(v, elem, span)?,
                None => v,
            }
        } else {
            let elem = self.dtype(given, 1)?.unwrap_or(Elem::F64);
            if given.name == "ones" { self.one(elem) } else { self.zero(elem) }
        };
        if self.b.ty(v).is_array() {
            return Err(Diagnostic::new("type", "an array is filled with one number")
                .label(given.needed(1).span(), "this is an array")
                .help("use `np.broadcast_to(x, shape)`"));
        }
        Ok(self.filled(&dims, v, span))
    }

    /// The same with the shape of another array.
    pub(super) fn new_like(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let view = self.view(given, 0)?;
        let elem = self.elem(self.env.version(view.storage));
        self.b.at(span);
        let dims = self.dims_of(&view);
        let v = match given.name {
            "full_like" => {
                let v = self.number(given, 1)?;
                self.convert(v, elem, span)?
            }
            "ones_like" => self.one(elem),
            _ => self.zero(elem),
        };
        Ok(self.filled(&dims, v, span))
    }

    /// An array of equal elements.
    pub(super) fn filled(&mut self, dims: &[Value], v: Value, span: Span) -> Operand {
        self.b.at(span);
        let x = self.b.filled(dims, v);
        self.note_dims(x, dims);
        Operand::fresh(x)
    }

    /// `list(...)` and `tuple(...)` of what is one of them already; `list(...)` of a vector.
    pub(super) fn kept_items(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        match self.given_as(a)? {
            items @ (Operand::Tuple(_) | Operand::List(_)) => Ok(items),
            operand if given.name == "list" && self.is_vector(&operand) => {
                let value = self.value(&operand, a.span())?;
                self.b.at(span);
                Ok(Operand::Array(self.stored_list(value, None)))
            }
            other => {
                let message = format!("`{}` of {}", given.shown(), described_operand(&other));
                let message = format!("{message} is not supported");
                Err(Diagnostic::new("unsupported-function", message)
                    .label(span, "here")
                    .help("use the array itself: it can be indexed, looped over and returned"))
            }
        }
    }

    fn is_vector(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Array(view) => self.rank_of(view) == 1,
            Operand::Fresh(fresh) => self.b.ty(fresh.value).rank() == 1,
            _ => false,
        }
    }

    /// `np.array(...)` and `np.copy(...)`: an array that shares nothing.
    pub(super) fn array_or_copy(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let v = self.number(given, 0)?;
        let fresh = match given.needed(0) {
            Argument::Expr(e) => !matches!(e.kind, ExprKind::List(_)),
            Argument::Value(..) => true,
        };
        let elem = if given.name == "array" { self.dtype(given, 1)? } else { None };
        let elem = elem.unwrap_or(self.elem(v));
        if elem != self.elem(v) {
            let v = self.cast_to(v, elem, span)?;
            return Ok(self.made(v));
        }
        self.b.at(span);
        if !fresh || !self.b.ty(v).is_array() {
            return Ok(self.made(v));
        }
        Ok(Operand::fresh(self.copy(v)))
    }

    /// `np.asarray(...)`: the array itself where it is one of that kind.
    pub(super) fn as_array(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let a = given.needed(0);
        let operand = self.operand(a)?;
        match self.dtype(given, 1)? {
            None => Ok(match operand {
                Operand::List(all) => Operand::fresh(self.array_of(&all, span)?),
                other => other,
            }),
            Some(elem) => {
                let v = self.value(&operand, a.span())?;
                let v = self.cast_to(v, elem, span)?;
                Ok(self.made(v))
            }
        }
    }

    /// `np.arange`.
    pub(super) fn arange(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let first = self.number(given, 0)?;
        let mut bounds = [None, Some(first), None];
        if let Some(a) = given.optional(1) {
            bounds = [Some(first), Some(self.argument(a)?), None];
        }
        if let Some(a) = given.optional(2) {
            bounds[2] = Some(self.argument(a)?);
        }
        let float = bounds.iter().flatten().any(|v| self.elem(*v).is_float());
        let elem = if float { Elem::F64 } else { Elem::I64 };
        let defaults = [0.0, 0.0, 1.0];
        let mut values = Vec::new();
        for (bound, default) in bounds.into_iter().zip(defaults) {
            let v = match bound {
                Some(v) => v,
                None => self.b.i64(default as i64),
            };
            values.push(self.convert(v, elem, span)?);
        }
        let v = self.by(given, |b| arrays::arange(b, values[0], values[1], values[2]))?;
        Ok(self.made(v))
    }

    /// `np.linspace`.
    pub(super) fn linspace(&mut self, given: &Given) -> Lowered<Operand> {
        let span = given.span;
        let (start, stop) = (self.number(given, 0)?, self.number(given, 1)?);
        let (start, stop) =
            (self.convert(start, Elem::F64, span)?, self.convert(stop, Elem::F64, span)?);
        let n = match given.optional(2) {
            Some(_) => self.whole_number(given, 2)?,
            _ => self.b.i64(50),
        };
        let endpoint = self.constant(given, 3, "`endpoint`")?.unwrap_or(1) != 0;
        let v = self.by(given, |b| arrays::linspace(b, start, stop, n, endpoint))?;
        Ok(self.made(v))
    }

    /// `np.eye` and `np.identity`.
    pub(super) fn eye(&mut self, given: &Given) -> Lowered<Operand> {
        let n = self.whole_number(given, 0)?;
        let m = match given.optional(1) {
            Some(_) => self.whole_number(given, 1)?,
            _ => n,
        };
        let v = self.by(given, |b| arrays::eye(b, n, m, Elem::F64))?;
        Ok(self.made(v))
    }
}
