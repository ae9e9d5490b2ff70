//! What expressions evaluate to, and conversions between kinds of numbers.

use super::call::Callable;
use super::env::{Binding, StorageId, View, element_name};
use super::{Lowered, Lowering};
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::Expr;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Scalar(Value),
    /// An array that has storage: writes through it are seen by others.
    Array(View),
    /// An array just made.
    Fresh(Fresh),
    Tuple(Vec<(Operand, Span)>),
    /// `[a, b]`: a list of numbers becomes an array when it is kept.
    List(Vec<(Operand, Span)>),
    Function(Callable),
    Text(String),
    None,
}

/// An array just made, and the storage Python would share it with.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) value: Value,
    pub(super) shares: Option<StorageId>,
}

impl Operand {
    pub(super) fn fresh(value: Value) -> Operand {
        Operand::Fresh(Fresh { value, shares: None })
    }
}

/// The kind that holds numbers of both.
pub(super) fn join_elem(a: Elem, b: Elem) -> Elem {
    match (a, b) {
        _ if a == b => a,
        (Elem::Bool, other) | (other, Elem::Bool) => other,
        _ => Elem::F64,
    }
}

impl Lowering<'_> {
    /// A number or an array made by an operation, as an operand.
    pub(super) fn made(&mut self, v: Value) -> Operand {
        if self.b.ty(v).is_array() { Operand::fresh(v) } else { Operand::Scalar(v) }
    }

    /// A binding for a value just made: arrays get storage of their own.
    pub(super) fn bind_value(&mut self, v: Value) -> Binding {
        if self.b.ty(v).is_array() {
            Binding::Array(View::whole(self.env.new_storage(v)))
        } else {
            Binding::Scalar(v)
        }
    }

    /// An array as a view: what was just made gets storage.
    pub(super) fn stored(&mut self, fresh: &Fresh) -> View {
        // A value that is an array already gets storage of its own.
        let taken = self.env.all_storage().any(|s| self.env.version(s) == fresh.value);
        let value = if taken { self.b.op(Op::Copy, &[fresh.value])[0] } else { fresh.value };
        self.keep_units(value, fresh.value);
        let storage = self.env.new_storage(value);
        if let Some(base) = fresh.shares {
            self.env.share(storage, base);
        }
        View::whole(storage)
    }

    /// A list just made, as a view.
    pub(super) fn stored_list(&mut self, value: Value, shares: Option<StorageId>) -> View {
        let view = self.stored(&Fresh { value, shares });
        self.env.mark_list(view.storage);
        view
    }

    /// Keeps a value under a name.
    pub(super) fn bind(&mut self, name: &str, operand: Operand, span: Span) -> Lowered<()> {
        let binding = match operand {
            Operand::Scalar(v) => {
                if !name.contains(' ') {
                    self.b.name(v, &name.into());
                }
                Binding::Scalar(v)
            }
            Operand::Array(view) => Binding::Array(view),
            Operand::Fresh(fresh) => {
                if !name.contains(' ') {
                    self.b.name(fresh.value, &name.into());
                }
                Binding::Array(self.stored(&fresh))
            }
            Operand::List(elements)
                if !elements.is_empty()
                    && elements.iter().all(|(e, _)| matches!(e, Operand::Scalar(_))) =>
            {
                let value = self.array_of(&elements, span)?;
                self.b.name(value, &name.into());
                Binding::Array(self.stored_list(value, None))
            }
            Operand::Tuple(elements) | Operand::List(elements) => {
                let n = elements.len();
                for (k, (element, at)) in elements.into_iter().enumerate() {
                    self.bind(&element_name(name, k), element, at)?;
                }
                Binding::Tuple(n)
            }
            Operand::Function(callable) => Binding::Function(callable),
            Operand::Text(_) | Operand::None => {
                let what = if matches!(operand, Operand::None) { "`None`" } else { "text" };
                return Err(Diagnostic::new(
                    "unsupported-syntax",
                    format!("{what} cannot be kept in a variable"),
                )
                .label(span, "this variable")
                .help("use a number or a bool that stands for it"));
            }
        };
        self.env.bind(name, binding, span);
        Ok(())
    }

    /// The value of a number or an array. What is part of an array is read out of it.
    pub(super) fn value(&mut self, operand: &Operand, span: Span) -> Lowered<Value> {
        match operand {
            Operand::Scalar(v) => Ok(*v),
            Operand::Array(view) => Ok(self.read(view, span)),
            Operand::Fresh(fresh) => Ok(fresh.value),
            Operand::List(elements) => self.array_of(elements, span),
            other => Err(Diagnostic::new("type", "a number or an array is needed here")
                .label(span, format!("this is {}", described_operand(other)))),
        }
    }

    /// A number.
    pub(super) fn as_scalar(&mut self, operand: &Operand, span: Span) -> Lowered<Value> {
        match operand {
            Operand::Scalar(v) => Ok(*v),
            other => {
                let error = Diagnostic::new("type", "a number is needed here")
                    .label(span, format!("this is {}", described_operand(other)));
                Err(match other {
                    Operand::Array(_) | Operand::Fresh(_) => error
                        .help("name one element, as in `x[i]`, or reduce it, as in `np.sum(x)`"),
                    Operand::Function(_) => error.help("call it, as in `f(x)`"),
                    _ => error,
                })
            }
        }
    }

    /// An array with storage.
    pub(super) fn as_view(&mut self, operand: Operand, span: Span) -> Lowered<View> {
        match operand {
            Operand::Array(view) => Ok(view),
            Operand::Fresh(fresh) => Ok(self.stored(&fresh)),
            Operand::List(elements) => {
                let value = self.array_of(&elements, span)?;
                Ok(self.stored(&Fresh { value, shares: None }))
            }
            other => Err(Diagnostic::new("type", "an array is needed here")
                .label(span, format!("this is {}", described_operand(&other)))
                .help("make one, as in `np.zeros(n)` or `np.array([a, b])`")),
        }
    }

    /// An expression that must be a scalar.
    pub(super) fn scalar(&mut self, e: &Expr) -> Lowered<Value> {
        let operand = self.expr(e)?;
        self.as_scalar(&operand, e.span)
    }

    /// A scalar that must be an integer.
    pub(super) fn integer(&mut self, e: &Expr, what: &str) -> Lowered<Value> {
        let v = self.scalar(e)?;
        match self.b.ty(v) {
            Type::I64 => Ok(v),
            Type::Bool => self.convert(v, Elem::I64, e.span),
            ty => Err(Diagnostic::new("type", format!("{what} must be an integer"))
                .label(e.span, format!("this is {}", described(ty)))
                .help("use `int(...)` or `//` to make it an integer")),
        }
    }

    /// The kind of the elements of a number or an array.
    pub(super) fn elem(&self, v: Value) -> Elem {
        self.b.ty(v).elem().unwrap_or(Elem::F64)
    }

    /// Numbers of another kind, where that loses nothing (or precision only: a double to a single).
    pub(super) fn convert(&mut self, v: Value, to: Elem, span: Span) -> Lowered<Value> {
        let from = self.elem(v);
        if let (Some(c), true) = (self.b.func().as_const(v), to.is_float()) {
            // A constant is written down in the other kind.
            let x = match c {
                Scalar::F64(x) => Some(x),
                Scalar::I64(n) => Some(n as f64),
                Scalar::Bool(b) => Some(f64::from(u8::from(b))),
                Scalar::F32(_) => None,
            };
            if let Some(x) = x {
                return Ok(self.b.float(to, x));
            }
        }
        Ok(match (from, to) {
            _ if from == to => v,
            (Elem::I64, Elem::F64) => self.cast(Prim::IToF, v),
            (Elem::F32, Elem::F64) => self.cast(Prim::Promote, v),
            (Elem::F64, Elem::F32) => self.cast(Prim::Demote, v),
            (Elem::I64, Elem::F32) => {
                let wide = self.cast(Prim::IToF, v);
                self.cast(Prim::Demote, wide)
            }
            (Elem::Bool, Elem::I64) => {
                let (one, zero) = (self.b.i64(1), self.b.i64(0));
                self.chosen(v, one, zero)
            }
            (Elem::Bool, _) => {
                let (one, zero) = (self.b.float(to, 1.0), self.b.float(to, 0.0));
                self.chosen(v, one, zero)
            }
            _ => {
                let (from, to) = (described(from.scalar()), described(to.scalar()));
                let message = format!("{from} is given where {to} is needed");
                return Err(Diagnostic::new("type", message)
                    .label(span, "here")
                    .help("convert it, as in `int(x)` or `x > 0`"));
            }
        })
    }

    fn cast(&mut self, prim: Prim, v: Value) -> Value {
        let out = self.b.prim(prim, &[v]);
        self.keep_units(out, v);
        out
    }

    fn chosen(&mut self, c: Value, a: Value, b: Value) -> Value {
        let out = self.b.select(c, a, b);
        self.keep_units(out, c);
        out
    }

    /// The float zero, integer zero or `False` of a kind.
    pub(super) fn zero(&mut self, elem: Elem) -> Value {
        match elem {
            Elem::I64 => self.b.i64(0),
            Elem::Bool => self.b.bool(false),
            float => self.b.float(float, 0.0),
        }
    }

    /// The one of a kind; `True` among truth values.
    pub(super) fn one(&mut self, elem: Elem) -> Value {
        match elem {
            Elem::I64 => self.b.i64(1),
            Elem::Bool => self.b.bool(true),
            float => self.b.float(float, 1.0),
        }
    }

    /// A copy of an array.
    pub(super) fn copy(&mut self, v: Value) -> Value {
        let copy = self.b.op(Op::Copy, &[v])[0];
        self.keep_units(copy, v);
        copy
    }

    /// A value of a type that is never looked at; of an array that stands for one, a part may be taken that is not
    /// looked at either, such as its first row.
    pub(super) fn stand_in(&mut self, ty: Type) -> Value {
        let v = self.zero(ty.elem().unwrap_or(Elem::F64));
        if !ty.is_array() {
            return v;
        }
        let one = self.b.i64(1);
        let dims = vec![one; ty.rank()];
        self.b.filled(&dims, v)
    }

    /// An array of these elements: numbers, or arrays of equal shape.
    pub(super) fn array_of(&mut self, elements: &[(Operand, Span)], span: Span) -> Lowered<Value> {
        if elements.is_empty() {
            return Err(Diagnostic::new("unsupported-array", "an empty list has no type")
                .label(span, "this list is empty")
                .help("say how long it becomes: `x = np.zeros(n)`, and assign its elements"));
        }
        let mut values = Vec::new();
        for (element, at) in elements {
            values.push((self.value(element, *at)?, *at));
        }
        let rank = self.b.ty(values[0].0).rank();
        if let Some((odd, at)) = values.iter().find(|(v, _)| self.b.ty(*v).rank() != rank) {
            let found = described_rank(self.b.ty(*odd).rank());
            return Err(Diagnostic::new(
                "shape-mismatch",
                "the elements of an array must have equal shapes",
            )
            .label(*at, format!("this is {found}"))
            .label(values[0].1, format!("but the first is {}", described_rank(rank))));
        }
        let elem = values.iter().map(|(v, _)| self.elem(*v)).reduce(join_elem);
        let elem = elem.unwrap_or(Elem::F64);
        let mut parts = Vec::new();
        for (v, at) in values {
            parts.push(self.convert(v, elem, at)?);
        }
        self.b.at(span);
        if rank > 0 {
            return crate::arrays::stack(&mut self.b, &parts, 0)
                .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "this list"));
        }
        // Numbers: an array filled with the first, then the others.
        let n = self.b.i64(parts.len() as i64);
        let mut x = self.b.op(Op::Fill, &[n, parts[0]])[0];
        for (k, v) in parts.into_iter().enumerate().skip(1) {
            let k = self.b.i64(k as i64);
            x = self.b.store(x, k, v);
        }
        Ok(x)
    }
}

/// A type in the user's words.
pub(super) fn described(ty: Type) -> &'static str {
    match ty {
        Type::F64 => "a float",
        Type::I64 => "an integer",
        Type::Bool => "a truth value",
        Type::F32 => "a single-precision float",
        Type::Array(..) => "an array",
        Type::Tape => "a tape",
    }
}

/// What an array of this many axes is called.
pub(super) fn described_rank(rank: usize) -> String {
    match rank {
        0 => "a number".into(),
        1 => "a vector".into(),
        2 => "a matrix".into(),
        n => format!("an array of {n} axes"),
    }
}

/// An operand in the user's words.
pub(super) fn described_operand(operand: &Operand) -> &'static str {
    match operand {
        Operand::Scalar(_) => "a number",
        Operand::Array(_) | Operand::Fresh(_) => "an array",
        Operand::Tuple(_) => "a tuple",
        Operand::List(_) => "a list",
        Operand::Function(_) => "a function",
        Operand::Text(_) => "text",
        Operand::None => "`None`",
    }
}
