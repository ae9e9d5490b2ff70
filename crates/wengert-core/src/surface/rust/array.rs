//! Arrays, vectors and slices: making, indexing, and their methods.

use super::call::{expected, mismatch};
use super::place::{after, all_of};
use super::types::IntKind;
use super::value::{How, Leaf, Len, Place, Ty, Val, call, compare, int};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::names::EXACT_INDEX;
use crate::surface::tree::{Callee, CompareOp, Expr, ExprKind, Index, StmtKind};

/// The type of indices.
pub(super) const USIZE: Ty = Ty::Int(Some(IntKind::Usize));

impl<'a> Converter<'a> {
    /// `[a, b, c]`.
    pub(super) fn array_of(
        &mut self,
        elements: &[&'a syn::Expr],
        want: Option<&Ty>,
        len: Len,
        at: Span,
    ) -> Made<Val<'a>> {
        let inner = element_want(want);
        let vals = self.all(elements, inner)?;
        if let Some(Val::Struct(def, _)) = vals.first() {
            let def = def.clone();
            return self.rows_of(&def, vals, len, at);
        }
        if vals.is_empty() {
            let Some(inner) = inner else { return Err(no::EMPTY_ARRAY.at(at)) };
            let empty = self.stand_in(&Ty::Array(Box::new(inner.clone()), Len::Fixed(0)), at);
            let Val::Leaf(leaf) = empty else { return Err(no::EMPTY_ARRAY.at(at)) };
            return Ok(Val::of(leaf.e, Ty::Array(Box::new(inner.clone()), len)));
        }
        let (mut ty, mut from) = (Ty::Never, Vec::new());
        for (val, e) in vals.iter().zip(elements) {
            let span = self.at(*e);
            let leaf = match val {
                Val::Leaf(leaf) => leaf.clone(),
                // What is written through its elements would not be written.
                Val::Alias(..) => return Err(no::CHOSEN_REFERENCE.at(span)),
                Val::Never => return Ok(Val::Never),
                Val::Tuple(_) => return Err(no::ARRAY_OF_TUPLES.at(span)),
                Val::Struct(..) | Val::Rows(..) => return Err(no::ARRAY_OF_STRUCTS.at(span)),
                Val::Closure(_) => return Err(no::CLOSURE_VALUE.at(span)),
                _ => return Err(no::OTHER_EXPRESSION.at(span)),
            };
            ty = match ty.join(&leaf.ty) {
                Some(joined) => joined,
                None => return Err(expected(&ty, &leaf.ty, span)),
            };
            from.extend(leaf.from);
        }
        let mut parts = Vec::new();
        for (val, e) in vals.into_iter().zip(elements) {
            let span = self.at(*e);
            let fitted = self.fitted(val, &ty, span)?;
            parts.extend(fitted.leaves().into_iter().map(|leaf| leaf.e));
        }
        let list = Expr { kind: ExprKind::List(parts), span: at };
        let e = call("array", vec![list], at);
        if !ty.is_open() {
            from.clear();
        }
        Ok(Val::Leaf(Leaf { from, ..Leaf::new(e, Ty::Array(Box::new(ty), len)) }))
    }

    /// `[value; count]`.
    pub(super) fn repeated(
        &mut self,
        value: &'a syn::Expr,
        count: Expr,
        len: Len,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let value = self.expr(value, element_want(want))?;
        self.filled_with(value, count, len, at)
    }

    /// So many times a value.
    pub(super) fn filled_with(
        &mut self,
        value: Val<'a>,
        count: Expr,
        len: Len,
        at: Span,
    ) -> Made<Val<'a>> {
        let leaf = match value {
            Val::Leaf(leaf) => leaf,
            Val::Alias(place, ty) => Leaf::new(place.read(), ty),
            Val::Never => return Ok(Val::Never),
            Val::Tuple(_) => return Err(no::ARRAY_OF_TUPLES.at(at)),
            Val::Struct(def, all) => return self.filled_rows(&def, all, count, len, at),
            Val::Rows(..) => return Err(no::ARRAY_OF_STRUCTS.at(at)),
            _ => return Err(no::OTHER_EXPRESSION.at(at)),
        };
        let ty = Ty::Array(Box::new(leaf.ty.clone()), len);
        let e = if leaf.ty.is_scalar() {
            filled(vec![count], leaf.e, at)
        } else if let Some((dims, value)) = as_filled(&leaf.e) {
            filled([vec![count], dims].concat(), value, at)
        } else {
            let base = self.kept(leaf.e);
            let dims = [vec![count], dims(&base, &leaf.ty, at)].concat();
            let shape = Expr { kind: ExprKind::Tuple(dims), span: at };
            call("copy", vec![call("broadcast_to", vec![base, shape], at)], at)
        };
        Ok(Val::Leaf(Leaf { from: leaf.from, ..Leaf::new(e, ty) }))
    }

    /// A number of elements.
    pub(super) fn count(&mut self, e: &'a syn::Expr) -> Made<Expr> {
        let at = self.at(e);
        let leaf = self.integer(e, Some(&USIZE))?;
        match leaf.ty.join(&USIZE) {
            Some(_) => Ok(self.fitted_leaf(leaf, &USIZE, at)?.e),
            None => Err(mismatch("`usize` is needed here".into(), at, &leaf.ty.shown())
                .help("convert it: `n as usize`")),
        }
    }

    /// `base[index]`.
    pub(super) fn index(&mut self, index: &'a syn::ExprIndex, at: Span) -> Made<Val<'a>> {
        let base = self.expr(&index.expr, None)?;
        let at_base = self.at(&*index.expr);
        if let Val::Rows(..) = base {
            return self.row_at(base, &index.index, at);
        }
        let base = self.as_array(base, at_base)?;
        let range = match super::expr::strip(&index.index) {
            syn::Expr::Range(range) => Some(range),
            _ => None,
        };
        if let Some(indices) = several(&index.index).filter(|_| base.ty.axes() > 0) {
            return self.nd_element(base, indices, at);
        }
        // What the index does comes after the base has been found, and before it is read.
        let (stmts, bounds) = self.inside(|c| match range {
            Some(range) => c.bounds(range, at),
            None => Ok((Some(c.count(&index.index)?), None)),
        })?;
        let base = if stmts.is_empty() { base } else { self.found(base)? };
        self.append(stmts);
        let (start, stop) = bounds;
        if range.is_some() {
            return self.part_of(base, start, stop, at);
        }
        let Some(place) = start else { return Ok(Val::Never) };
        let Some(elem) = base.ty.element().cloned() else { return Ok(Val::Never) };
        let e = element(base.e, place, at);
        Ok(Val::Leaf(Leaf { e, ty: elem, how: How::Place, from: base.from }))
    }

    /// An array, whatever it is behind.
    pub(super) fn as_array(&mut self, val: Val<'a>, at: Span) -> Made<Leaf> {
        match val {
            Val::Leaf(leaf) if leaf.ty.is_array() => Ok(leaf),
            other => Err(mismatch("an array is needed here".into(), at, &other.ty().shown())),
        }
    }

    /// A place that stays the same while other things are done; what is in it may change.
    pub(super) fn found(&mut self, base: Leaf) -> Made<Leaf> {
        let e = match base.e.kind {
            ExprKind::Name(_) => base.e,
            ExprKind::Index { base: of, indices } if base.how != How::Fresh => {
                let indices = indices.into_iter().map(|index| self.fixed_index(index)).collect();
                Expr { kind: ExprKind::Index { base: of, indices }, span: base.e.span }
            }
            kind => self.kept(Expr { kind, span: base.e.span }),
        };
        Ok(Leaf { e, ..base })
    }

    /// Both ends of a range, as variables.
    pub(super) fn bounds(
        &mut self,
        range: &'a syn::ExprRange,
        at: Span,
    ) -> Made<(Option<Expr>, Option<Expr>)> {
        let mut bounds = Vec::new();
        for e in [&range.start, &range.end] {
            bounds.push(match e {
                Some(e) => {
                    let count = self.count(e)?;
                    Some(self.kept(count))
                }
                None => None,
            });
        }
        let stop = bounds.pop().flatten();
        let start = bounds.pop().flatten();
        let stop = match (stop, range.limits) {
            (Some(e), syn::RangeLimits::Closed(_)) => {
                let end = after(e, at);
                Some(self.kept(end))
            }
            (stop, _) => stop,
        };
        Ok((start, stop))
    }

    /// The elements from `start` to `stop`, which are asserted to exist.
    pub(super) fn part_of(
        &mut self,
        base: Leaf,
        start: Option<Expr>,
        stop: Option<Expr>,
        at: Span,
    ) -> Made<Val<'a>> {
        let whole = length(&base.e, &base.ty, at);
        let mut chain: Vec<Expr> = [start.clone(), stop.clone()].into_iter().flatten().collect();
        let known: Option<Vec<i64>> =
            chain.iter().chain([&whole]).map(super::constants::known_integer).collect();
        let fits = known.is_some_and(|all| all.is_sorted());
        if !chain.is_empty() && !fits {
            chain.push(whole);
            let first = Box::new(chain.remove(0));
            let rest = chain.into_iter().map(|e| (CompareOp::Le, e)).collect();
            let cond = Expr { kind: ExprKind::Compare { first, rest }, span: at };
            let message = Some("the slice is out of range".into());
            self.emit(StmtKind::Assert { cond, message }, at);
        }
        let elem = base.ty.element().cloned().unwrap_or(Ty::F64);
        let index = Index::Slice { start, stop, step: None, span: at };
        let kind = ExprKind::Index { base: Box::new(base.e), indices: vec![index] };
        let ty = Ty::Array(Box::new(elem), Len::Slice);
        Ok(Val::Leaf(Leaf { e: Expr { kind, span: at }, ty, how: How::Place, from: base.from }))
    }

    /// A method of an array.
    pub(super) fn array_method(
        &mut self,
        base: Leaf,
        name: &str,
        method: &'a syn::ExprMethodCall,
        at: Span,
    ) -> Made<Val<'a>> {
        let args: Vec<&'a syn::Expr> = method.args.iter().collect();
        let at_name = self.at(&method.method);
        let base = match self.nd_method(base, name, &args, at)? {
            Ok(made) => return Ok(made),
            Err(base) => base,
        };
        match (name, args.as_slice()) {
            ("len", []) => Ok(Val::of(length(&base.e, &base.ty, at), USIZE)),
            ("is_empty", []) => {
                let e = compare(length(&base.e, &base.ty, at), CompareOp::Eq, int(0, at), at);
                Ok(Val::of(e, Ty::Bool))
            }
            ("clone" | "to_vec" | "to_owned" | "into_boxed_slice", []) => {
                let ty = match (name, &base.ty) {
                    ("clone", ty) => ty.clone(),
                    ("to_owned", ty) if ty.axes() > 0 => ty.clone(),
                    (_, Ty::Array(elem, _)) => Ty::Array(elem.clone(), Len::Vec),
                    (_, ty) => ty.clone(),
                };
                let e = call("copy", vec![base.e], at);
                Ok(Val::Leaf(Leaf { from: base.from, ..Leaf::new(e, ty) }))
            }
            ("as_slice" | "as_mut_slice" | "as_ref" | "as_mut" | "borrow", []) => {
                Ok(Val::Leaf(Leaf { how: How::Ref, ..base }))
            }
            ("swap", [i, j]) => {
                let i = self.count(i)?;
                let i = self.kept(i);
                let j = self.count(j)?;
                let j = self.kept(j);
                let elem = base.ty.element().cloned().unwrap_or(Ty::F64);
                let mut both = [i, j].into_iter().map(|k| {
                    let e = element(base.e.clone(), k, at);
                    self.element_place(e, elem.clone(), at)
                });
                if let (Some(a), Some(b)) = (both.next(), both.next()) {
                    self.exchange(a, b, at)?;
                }
                Ok(Val::Unit)
            }
            ("fill", [value]) => {
                let elem = base.ty.element().cloned().unwrap_or(Ty::F64);
                let val = self.expr(value, Some(&elem))?;
                let at_value = self.at(*value);
                if elem.is_open() && elem.join(&val.ty()).is_some() {
                    self.learn(&base.from, val.ty().scalar());
                }
                for leaf in self.fitted(val, &elem, at_value)?.leaves() {
                    self.assign(all_of(base.e.clone(), at).target(), leaf.e, at);
                }
                Ok(Val::Unit)
            }
            ("copy_from_slice" | "clone_from_slice" | "clone_from", [source]) => {
                let val = self.expr(source, Some(&base.ty))?;
                let at_value = self.at(*source);
                let source = self.as_array(val, at_value)?;
                let elem = base.ty.element().cloned().unwrap_or(Ty::F64);
                let want = Ty::Array(Box::new(elem), Len::Slice);
                let source = self.fitted_leaf(source, &want, at_value)?;
                let (a, b) =
                    (length(&base.e, &base.ty, at), length(&source.e, &source.ty, at_value));
                let cond = compare(a, CompareOp::Eq, b, at);
                let message = Some("the slices differ in length".into());
                self.emit(StmtKind::Assert { cond, message }, at);
                self.assign(all_of(base.e, at).target(), source.e, at);
                Ok(Val::Unit)
            }
            ("split_at" | "split_at_mut", [mid]) => {
                let mid = self.count(mid)?;
                let mid = self.kept(mid);
                let mut halves = Vec::new();
                for (start, stop) in [(None, Some(mid.clone())), (Some(mid), None)] {
                    let half = self.part_of(base.clone(), start, stop, at)?;
                    halves.extend(half.leaves());
                }
                let by_ref = |leaf: Leaf| Val::Leaf(Leaf { how: How::Ref, ..leaf });
                Ok(Val::Tuple(halves.into_iter().map(by_ref).collect()))
            }
            ("reverse", []) => {
                let turned =
                    call("copy", vec![call("flip", vec![base.e.clone(), int(0, at)], at)], at);
                self.assign(all_of(base.e, at).target(), turned, at);
                Ok(Val::Unit)
            }
            (name, _) if gives_option(name) => Err(no::OPTIONS.at(at_name)),
            (
                "push" | "pop" | "extend" | "resize" | "truncate" | "clear" | "insert" | "remove"
                | "append" | "drain" | "reserve" | "extend_from_slice",
                _,
            ) => Err(no::GROWING.at(at_name)),
            ("sort" | "sort_by" | "sort_unstable" | "sort_by_key" | "sort_unstable_by", _) => {
                Err(no::SORT.at(at_name))
            }
            _ => Err(unknown_method(name, &base.ty, at_name, METHODS)),
        }
    }

    /// An element as what `&mut` of it is.
    fn element_place(&mut self, e: Expr, ty: Ty, at: Span) -> Val<'a> {
        match (e.kind, ty.is_scalar()) {
            (ExprKind::Index { base, indices }, true) => {
                Val::Alias(Place::Element { base: *base, indices, span: at }, ty)
            }
            (kind, _) => {
                let e = Expr { kind, span: e.span };
                Val::Leaf(Leaf { e, ty, how: How::Ref, from: Vec::new() })
            }
        }
    }
}

/// The methods of arrays.
const METHODS: &[&str] = &[
    "len",
    "is_empty",
    "clone",
    "to_vec",
    "swap",
    "fill",
    "copy_from_slice",
    "split_at",
    "split_at_mut",
    "reverse",
    "iter",
    "iter_mut",
    "windows",
    "chunks",
    "chunks_exact",
];

/// The indices of several axes: `a[[i, j]]`.
pub(super) fn several(index: &syn::Expr) -> Option<Vec<&syn::Expr>> {
    match super::expr::strip(index) {
        syn::Expr::Array(all) => Some(all.elems.iter().collect()),
        syn::Expr::Tuple(all) => Some(all.elems.iter().collect()),
        _ => None,
    }
}

/// The error for a method that is not there.
pub(super) fn unknown_method(name: &str, ty: &Ty, at: Span, known: &[&str]) -> Diagnostic {
    let message = format!("`{}` has no method `{name}` that is supported", ty.shown());
    let error = Diagnostic::new("unsupported-function", message).label(at, "not supported");
    error.help(match crate::surface::names::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write it with the methods there are, or as a loop".into(),
    })
}

/// What is wanted of the elements where this is wanted of the array: a number is what its numbers should be.
pub(super) fn element_want(want: Option<&Ty>) -> Option<&Ty> {
    match want {
        Some(Ty::Array(elem, _)) => Some(elem),
        Some(scalar) if scalar.is_scalar() => Some(scalar),
        _ => None,
    }
}

/// `base[index]`, never counted from the end.
pub(super) fn element(base: Expr, index: Expr, at: Span) -> Expr {
    let index = match index.kind {
        // The index itself tells that it is negative.
        ExprKind::Call { callee: Callee::Builtin(name), mut args, .. }
            if name.text == "rust.natural" && !args.is_empty() =>
        {
            args.swap_remove(0)
        }
        kind => Expr { kind, span: index.span },
    };
    let span = index.span;
    let index = match index.kind {
        ExprKind::Int(k) if k >= 0 => index,
        _ => call(EXACT_INDEX, vec![index], span),
    };
    let kind = match base.kind {
        ExprKind::Index { base, mut indices }
            if indices.iter().all(|i| matches!(i, Index::At(_))) =>
        {
            indices.push(Index::At(index));
            ExprKind::Index { base, indices }
        }
        _ => ExprKind::Index { base: Box::new(base), indices: vec![Index::At(index)] },
    };
    Expr { kind, span: at }
}

/// An array of equal numbers.
pub(super) fn filled(mut dims: Vec<Expr>, value: Expr, at: Span) -> Expr {
    let shape = match dims.len() {
        1 => dims.swap_remove(0),
        _ => Expr { kind: ExprKind::Tuple(dims), span: at },
    };
    call("full", vec![shape, value], at)
}

/// The dimensions and the number of an array made by [`filled`].
fn as_filled(e: &Expr) -> Option<(Vec<Expr>, Expr)> {
    let ExprKind::Call { callee: Callee::Builtin(name), args, .. } = &e.kind else { return None };
    let ("full", [shape, value]) = (name.text.as_str(), args.as_slice()) else { return None };
    let dims = match &shape.kind {
        ExprKind::Tuple(dims) => dims.clone(),
        _ => vec![shape.clone()],
    };
    Some((dims, value.clone()))
}

/// How many elements an array has.
pub(super) fn length(e: &Expr, ty: &Ty, at: Span) -> Expr {
    match ty {
        Ty::Array(_, Len::Fixed(n)) => int(*n as i64, at),
        _ => call("len", vec![e.clone()], at),
    }
}

/// The length of each axis.
pub(super) fn dims(e: &Expr, ty: &Ty, at: Span) -> Vec<Expr> {
    let Ty::Array(elem, _) = ty else { return Vec::new() };
    let first = element(e.clone(), int(0, at), at);
    [vec![length(e, ty, at)], dims(&first, elem, at)].concat()
}

/// Whether a method of slices gives an `Option`.
pub(super) fn gives_option(name: &str) -> bool {
    matches!(
        name,
        "first"
            | "last"
            | "get"
            | "get_mut"
            | "first_mut"
            | "last_mut"
            | "split_first"
            | "split_last"
    )
}
