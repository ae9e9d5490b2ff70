//! The arguments of library functions: in the order of the parameters, and read as what is needed.

use crate::ir::{Builder, Elem, Type, Value};
use crate::lower::env::{StorageId, View};
use crate::lower::operand::{Operand, described, described_operand, described_rank, join_elem};
use crate::lower::{Lowered, Lowering};
use crate::ops::Scalar;
use crate::span::{Diagnostic, Span};
use crate::surface::names::shown;
use crate::surface::tree::{Expr, ExprKind, Keyword};

/// The arguments of a library function, in the order of its parameters.
pub(super) struct Given<'e> {
    pub(super) name: &'e str,
    pub(super) args: Vec<Option<Argument<'e>>>,
    pub(super) span: Span,
}

/// One argument: still to be evaluated, or the value a method is called on.
pub(super) enum Argument<'e> {
    Expr(&'e Expr),
    Value(Operand, Span),
}

impl Argument<'_> {
    pub(super) fn span(&self) -> Span {
        match self {
            Argument::Expr(e) => e.span,
            Argument::Value(_, span) => *span,
        }
    }
}

impl<'e> Given<'e> {
    /// The name of the function for people.
    pub(super) fn shown(&self) -> &str {
        shown(self.name)
    }

    /// Argument `k`, which cannot be left out.
    pub(super) fn needed(&self, k: usize) -> &Argument<'e> {
        match self.optional(k) {
            Some(a) => a,
            None => unreachable!("arranged"),
        }
    }

    /// Argument `k`, if it is given.
    pub(super) fn optional(&self, k: usize) -> Option<&Argument<'e>> {
        self.args.get(k).and_then(Option::as_ref)
    }

    /// Where argument `k` stands; the call where it is left out.
    pub(super) fn span_of(&self, k: usize) -> Span {
        self.optional(k).map_or(self.span, Argument::span)
    }
}

impl Lowering<'_> {
    /// The value of an argument that is a number or an array.
    pub(super) fn argument(&mut self, a: &Argument) -> Lowered<Value> {
        let operand = self.operand(a)?;
        self.value(&operand, a.span())
    }

    /// What an argument evaluates to. A list that is kept is an array just made: NumPy makes one of it.
    pub(super) fn operand(&mut self, a: &Argument) -> Lowered<Operand> {
        Ok(match self.given_as(a)? {
            Operand::Array(view) if self.env.is_list(view.storage) => {
                Operand::fresh(self.read(&view, a.span()))
            }
            operand => operand,
        })
    }

    /// The same, lists being lists.
    pub(super) fn given_as(&mut self, a: &Argument) -> Lowered<Operand> {
        match a {
            Argument::Expr(e) => self.expr(e),
            Argument::Value(operand, _) => Ok(operand.clone()),
        }
    }

    /// An argument that is a number or an array.
    pub(super) fn number(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let a = given.needed(k);
        self.argument(a)
    }

    /// An argument that must be an array, as a view: what was just made gets storage.
    pub(super) fn view(&mut self, given: &Given, k: usize) -> Lowered<View> {
        let a = given.needed(k);
        let operand = self.operand(a)?;
        self.as_view(operand, a.span())
    }

    /// The value of an argument that must be an array.
    pub(super) fn array_value(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let v = self.argument(given.needed(k))?;
        self.is_array(given, k, v)?;
        Ok(v)
    }

    /// The same, and the storage it shares memory with.
    pub(super) fn shared_value(
        &mut self,
        given: &Given,
        k: usize,
    ) -> Lowered<(Value, Option<StorageId>)> {
        let a = given.needed(k);
        let operand = self.operand(a)?;
        let v = self.value(&operand, a.span())?;
        self.is_array(given, k, v)?;
        Ok((v, storage_of(&operand)))
    }

    /// Whether an argument that has been evaluated is an array.
    pub(super) fn is_array(&self, given: &Given, k: usize, v: Value) -> Lowered<()> {
        let a = given.needed(k);
        if self.b.ty(v).is_array() {
            return Ok(());
        }
        let message = format!("`{}` takes an array", given.shown());
        Err(Diagnostic::new("type", message)
            .label(a.span(), format!("this is {}", described(self.b.ty(v))))
            .help("make one, as in `np.array([a, b])`"))
    }

    /// An integer that is written out.
    pub(super) fn constant(&mut self, given: &Given, k: usize, what: &str) -> Lowered<Option<i64>> {
        let Some(a) = given.optional(k) else { return Ok(None) };
        let operand = self.operand(a)?;
        if matches!(operand, Operand::None) {
            return Ok(None);
        }
        self.written_integer(&operand, a.span(), what).map(Some)
    }

    fn written_integer(&mut self, operand: &Operand, at: Span, what: &str) -> Lowered<i64> {
        let v = self.as_scalar(operand, at)?;
        match self.b.func().as_const(v) {
            Some(Scalar::I64(k)) => Ok(k),
            Some(Scalar::Bool(b)) => Ok(i64::from(b)),
            _ => Err(Diagnostic::new("type", format!("{what} must be written out"))
                .label(at, "this is known only when it runs")
                .help("write the number itself")),
        }
    }

    /// The axes given as argument `k`: one, or a tuple of them; from the last to the first.
    pub(super) fn axes(
        &mut self,
        given: &Given,
        k: usize,
        rank: usize,
    ) -> Lowered<Option<Vec<usize>>> {
        let Some(a) = given.optional(k) else { return Ok(None) };
        let items = match self.operand(a)? {
            Operand::None => return Ok(None),
            Operand::Tuple(items) | Operand::List(items) => items,
            one => vec![(one, a.span())],
        };
        let mut axes = Vec::new();
        for (item, at) in items {
            let axis = self.written_integer(&item, at, "an axis")?;
            axes.push(counted_axis(axis, rank, at)?);
        }
        axes.sort_unstable_by(|a, b| b.cmp(a));
        if axes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Diagnostic::new("shape-mismatch", "an axis is named twice")
                .label(a.span(), "these axes")
                .help("name each axis once"));
        }
        Ok(Some(axes))
    }

    /// The axis given as argument `k`, for an array of this rank.
    pub(super) fn axis(&mut self, given: &Given, k: usize, rank: usize) -> Lowered<Option<usize>> {
        match self.constant(given, k, "an axis")? {
            Some(axis) => counted_axis(axis, rank, given.span_of(k)).map(Some),
            None => Ok(None),
        }
    }

    /// A shape: an integer or a tuple of them.
    pub(super) fn shape(&mut self, a: &Argument) -> Lowered<Vec<Value>> {
        let operand = self.operand(a)?;
        let sizes = match operand {
            Operand::Tuple(sizes) | Operand::List(sizes) => sizes,
            one => vec![(one, a.span())],
        };
        let mut dims = Vec::new();
        for (size, at) in sizes {
            let v = self.as_scalar(&size, at)?;
            if self.b.ty(v) != Type::I64 {
                return Err(Diagnostic::new("type", "the size of an array must be an integer")
                    .label(at, format!("this is {}", described(self.b.ty(v))))
                    .help("use `int(...)` or `//` to make it an integer"));
            }
            dims.push(v);
        }
        if dims.len() > crate::ir::MAX_RANK || dims.is_empty() {
            let message = format!("an array has 1 to {} axes", crate::ir::MAX_RANK);
            return Err(Diagnostic::new("shape-mismatch", message).label(a.span(), "this shape"));
        }
        Ok(dims)
    }

    /// The kind of numbers a `dtype` names.
    pub(super) fn dtype(&mut self, given: &Given, k: usize) -> Lowered<Option<Elem>> {
        let Some(a) = given.optional(k) else { return Ok(None) };
        let name = match a {
            Argument::Expr(e) => match &e.kind {
                ExprKind::Builtin(name) | ExprKind::Text(name) => name.clone(),
                ExprKind::None => return Ok(None),
                _ => String::new(),
            },
            Argument::Value(..) => String::new(),
        };
        Ok(Some(match name.as_str() {
            "float" | "float64" | "f64" | "f8" | "d" => Elem::F64,
            "float32" | "f32" | "f4" => Elem::F32,
            "int" | "int64" | "i8" => Elem::I64,
            "bool" => Elem::Bool,
            _ => {
                return Err(Diagnostic::new("type", "this is not a kind of number there is here")
                    .label(a.span(), "this type")
                    .help("use `float`, `np.float32`, `int` or `bool`"));
            }
        }))
    }

    /// Several arrays given as a list or a tuple.
    pub(super) fn parts(&mut self, given: &Given, k: usize) -> Lowered<Vec<(Value, Span)>> {
        let a = given.needed(k);
        match self.operand(a)? {
            Operand::Tuple(all) | Operand::List(all) if !all.is_empty() => {
                let mut values = Vec::new();
                for (part, at) in all {
                    values.push((self.value(&part, at)?, at));
                }
                let elem = values.iter().map(|(v, _)| self.elem(*v)).reduce(join_elem);
                let elem = elem.unwrap_or(Elem::F64);
                values.into_iter().map(|(v, at)| Ok((self.convert(v, elem, at)?, at))).collect()
            }
            other => {
                Err(Diagnostic::new("type", format!("`{}` takes a list of arrays", given.shown()))
                    .label(a.span(), format!("this is {}", described_operand(&other)))
                    .help(format!("write `np.{}([a, b])`", given.shown())))
            }
        }
    }

    pub(super) fn same_rank(
        &self,
        given: &Given,
        parts: &[(Value, Span)],
        least: usize,
    ) -> Lowered<usize> {
        let rank = self.b.ty(parts[0].0).rank();
        let odd = parts
            .iter()
            .find(|(v, _)| self.b.ty(*v).rank() != rank || self.b.ty(*v).rank() < least);
        match odd {
            None => Ok(rank),
            Some((v, at)) => {
                let message = format!("`{}` takes arrays of one rank", given.shown());
                Err(Diagnostic::new("shape-mismatch", message)
                    .label(*at, format!("this is {}", described_rank(self.b.ty(*v).rank())))
                    .label(parts[0].1, format!("the first is {}", described_rank(rank))))
            }
        }
    }

    /// An argument that must be one integer.
    pub(super) fn whole_number(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let a = given.needed(k);
        let dims = self.shape(a)?;
        match dims[..] {
            [n] => Ok(n),
            _ => {
                Err(Diagnostic::new("type", format!("`{}` takes one integer here", given.shown()))
                    .label(a.span(), "several numbers"))
            }
        }
    }

    /// Truth values: conditions, or what numbers are not zero.
    pub(super) fn truths(&mut self, given: &Given, k: usize) -> Lowered<Value> {
        let v = self.number(given, k)?;
        self.cast_to(v, Elem::Bool, given.span)
    }

    /// What a function of arrays appends, at the place of the call.
    pub(super) fn by(
        &mut self,
        given: &Given,
        make: impl FnOnce(&mut Builder) -> Result<Value, String>,
    ) -> Lowered<Value> {
        self.b.at(given.span);
        make(&mut self.b).map_err(|message| {
            Diagnostic::new("shape-mismatch", message)
                .label(given.span, "this call")
                .help("look at the ranks and kinds of its arguments")
        })
    }

    /// A result that may be the operand itself, which others may write.
    pub(super) fn copied(&mut self, v: Value, operand: Value) -> Lowered<Operand> {
        if v != operand || !self.b.ty(v).is_array() {
            return Ok(self.made(v));
        }
        Ok(Operand::fresh(self.copy(v)))
    }
}

/// An axis counted from 0.
fn counted_axis(axis: i64, rank: usize, span: Span) -> Lowered<usize> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    if (0..rank as i64).contains(&at) {
        return Ok(at as usize);
    }
    let message = format!("axis {axis} does not exist: this is {}", described_rank(rank));
    Err(Diagnostic::new("shape-mismatch", message)
        .label(span, "this axis")
        .help(format!("use one of 0 to {}", rank.saturating_sub(1))))
}

/// The storage an array shares memory with.
pub(super) fn storage_of(operand: &Operand) -> Option<StorageId> {
    match operand {
        Operand::Array(view) => Some(view.storage),
        Operand::Fresh(fresh) => fresh.shares,
        _ => None,
    }
}

/// The arguments in the order of the parameters.
pub(super) fn arrange<'e>(
    name: &'e str,
    params: &[&str],
    args: Vec<Argument<'e>>,
    keywords: &'e [Keyword],
    span: Span,
) -> Lowered<Given<'e>> {
    let (canonical, name) = (name, shown(name));
    let many = params.last() == Some(&"*");
    let names: Vec<&str> = params.iter().map(|p| p.trim_end_matches('?')).collect();
    let wrong = |message: String| {
        Diagnostic::new("argument-count", message).label(span, "this call").help(format!(
            "its arguments are {}",
            params.iter().map(|p| p.replace('*', "...")).collect::<Vec<_>>().join(", ")
        ))
    };
    if args.len() > params.len() && !many {
        let s = if params.len() == 1 { "" } else { "s" };
        return Err(wrong(format!(
            "`{name}` takes {} argument{s}, but {} are given",
            params.len(),
            args.len()
        )));
    }
    let mut given: Vec<Option<Argument>> = args.into_iter().map(Some).collect();
    let fixed = if many { params.len() - 1 } else { params.len() };
    while given.len() < fixed {
        given.push(None);
    }
    for k in keywords {
        let at = names.iter().position(|p| *p == k.name.text && *p != "*");
        let Some(at) = at else {
            return Err(wrong(format!("`{name}` has no argument `{}` here", k.name.text))
                .label(k.name.span, "this one"));
        };
        if given[at].replace(Argument::Expr(&k.value)).is_some() {
            return Err(wrong(format!("`{}` is given twice", k.name.text)));
        }
    }
    for (p, slot) in params.iter().zip(&given) {
        if slot.is_none() && !p.ends_with('?') && *p != "*" {
            return Err(wrong(format!("`{name}` is called without its `{p}`")));
        }
    }
    Ok(Given { name: canonical, args: given, span })
}
