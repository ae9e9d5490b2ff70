//! Places: what can be assigned to, and assignments.

use super::array::several;
use super::expr::{Pending, is_place, strip};
use super::scope::Entry;
use super::structs::{field_of, holds_alias};
use super::value::{How, Leaf, Place, Ty, Val, binary, call};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::construct::Construct;
use crate::surface::tree::{BinaryOp, Expr, ExprKind, Index, StmtKind, Target};

impl<'a> Converter<'a> {
    /// The place an expression names, which is one number or array.
    pub(super) fn place(&mut self, e: &'a syn::Expr) -> Made<(Place, Ty)> {
        let at = self.at(e);
        self.deeper(at, |c| c.place_here(e, at))
    }

    fn place_here(&mut self, e: &'a syn::Expr, at: Span) -> Made<(Place, Ty)> {
        match strip(e) {
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                match self.expr(&unary.expr, None)? {
                    Val::Leaf(leaf) if leaf.ty.is_array() => Ok((all_of(leaf.e, at), leaf.ty)),
                    // A number behind a `&`: there is nothing to assign to.
                    Val::Leaf(_) => Err(no::TARGET.at(at)),
                    val => self.place_of(val, at),
                }
            }
            syn::Expr::Path(_) | syn::Expr::Field(_) => {
                let val = self.expr(e, None)?;
                self.place_of(val, at)
            }
            syn::Expr::Index(index) => {
                let val = self.index(index, at)?;
                self.place_of(val, at)
            }
            _ => Err(no::TARGET.at(at)),
        }
    }

    /// The place that a value is read from.
    pub(super) fn place_of(&mut self, val: Val<'a>, at: Span) -> Made<(Place, Ty)> {
        match val {
            Val::Alias(place, ty) => Ok((place, ty)),
            Val::Leaf(leaf) => match &leaf.e.kind {
                ExprKind::Index { base, indices } => {
                    let mut fixed = Vec::new();
                    for index in indices.clone() {
                        fixed.push(self.fixed_index(index));
                    }
                    let base = (**base).clone();
                    Ok((Place::Element { base, indices: fixed, span: at }, leaf.ty))
                }
                _ => match self.variable_place(&leaf, at) {
                    Some(place) => Ok((place, leaf.ty)),
                    None => Err(no::TARGET.at(at)),
                },
            },
            Val::Tuple(_) => Err(no::TUPLE_PLACE.at(at)),
            Val::Struct(..) | Val::Rows(..) => Err(no::STRUCT_PLACE.at(at)),
            _ => Err(no::TARGET.at(at)),
        }
    }

    /// An index that stays the same while the place is used.
    pub(super) fn fixed_index(&mut self, index: Index) -> Index {
        match index {
            Index::At(e) => Index::At(self.fixed(e)),
            Index::Slice { start, stop, step, span } => Index::Slice {
                start: start.map(|e| self.fixed(e)),
                stop: stop.map(|e| self.fixed(e)),
                step,
                span,
            },
            other => other,
        }
    }

    fn fixed(&mut self, e: Expr) -> Expr {
        match e.kind {
            ExprKind::Call { callee, mut args, keywords } if args.len() == 1 => {
                let inner = self.fixed(args.remove(0));
                Expr { kind: ExprKind::Call { callee, args: vec![inner], keywords }, span: e.span }
            }
            // Loop variables and the like stay; others may be assigned before the place is used.
            _ => self.kept(e),
        }
    }

    /// The type of a place, without looking closer.
    pub(super) fn peek(&self, e: &syn::Expr) -> Option<Ty> {
        match strip(e) {
            syn::Expr::Path(path) => match self.scopes.get(&path.path.get_ident()?.to_string())? {
                Entry::Variable(val) => Some(val.ty()),
                Entry::Unset(pat, ty) => {
                    let key = std::ptr::from_ref(*pat) as usize;
                    ty.clone().or_else(|| self.hints.get(&key).cloned())
                }
                _ => None,
            },
            syn::Expr::Index(index) => {
                let base = self.peek(&index.expr)?;
                match strip(&index.index) {
                    syn::Expr::Range(_) => Some(base),
                    _ if base.axes() > 0 && several(&index.index).is_some() => {
                        Some(base.scalar().clone())
                    }
                    _ => base.element().cloned(),
                }
            }
            syn::Expr::Unary(unary) => self.peek(&unary.expr),
            syn::Expr::Reference(reference) => self.peek(&reference.expr),
            syn::Expr::Field(field) => match (self.peek(&field.base)?, &field.member) {
                (Ty::Tuple(types), syn::Member::Unnamed(k)) => types.get(k.index as usize).cloned(),
                (Ty::Struct(def), member) => {
                    let k = field_of(&def, member, Span::default()).ok()?;
                    Some(def.fields[k].ty.ty())
                }
                _ => None,
            },
            syn::Expr::Tuple(tuple) => {
                let types = tuple.elems.iter().map(|e| self.peek(e));
                types.collect::<Option<_>>().map(Ty::Tuple)
            }
            _ => None,
        }
    }

    /// The variables a path has its type from.
    pub(super) fn declared_by(&self, e: &syn::Expr) -> Vec<usize> {
        match strip(e) {
            syn::Expr::Path(path) => match path.path.get_ident().map(|i| i.to_string()) {
                Some(name) => match self.scopes.get(&name) {
                    Some(Entry::Variable(Val::Leaf(leaf))) => leaf.from.clone(),
                    _ => Vec::new(),
                },
                None => Vec::new(),
            },
            syn::Expr::Index(index) => self.declared_by(&index.expr),
            syn::Expr::Unary(unary) => self.declared_by(&unary.expr),
            _ => Vec::new(),
        }
    }

    /// Why what an expression refers to cannot be exchanged, where that is a reference itself.
    pub(super) fn reference_itself(&self, e: &syn::Expr) -> Option<Construct> {
        let syn::Expr::Reference(reference) = strip(e) else { return None };
        let syn::Expr::Path(path) = strip(&reference.expr) else { return None };
        match self.scopes.get(&path.path.get_ident()?.to_string()) {
            Some(Entry::Variable(Val::Alias(..))) => Some(no::CHOSEN_REFERENCE),
            Some(Entry::Variable(Val::Leaf(leaf)))
                if leaf.how == How::Ref && leaf.ty.is_array() =>
            {
                Some(no::EXCHANGED_REFERENCE)
            }
            _ => None,
        }
    }

    /// `place = value`.
    pub(super) fn assignment(&mut self, assign: &'a syn::ExprAssign, at: Span) -> Made<Val<'a>> {
        let left = strip(&assign.left);
        let want = self.peek(left);
        let value = self.expr(&assign.right, want.as_ref())?;
        let at_value = self.at(&*assign.right);
        if matches!(value, Val::Never) {
            return Ok(Val::Never);
        }
        if let syn::Expr::Infer(_) = left {
            return Ok(Val::Unit);
        }
        if let syn::Expr::Path(path) = left
            && let Some(ident) = path.path.get_ident()
            && let Some(Entry::Unset(pat, ty)) = self.scopes.get(&ident.to_string()).cloned()
        {
            let value = match ty {
                Some(ty) => self.fitted(value, &ty, at_value)?,
                None => value,
            };
            // In a branch the reference would be this one or another; a closure likewise.
            if !self.scopes.is_innermost(&ident.to_string()) && refers(&value) {
                return Err(no::CHOSEN_REFERENCE.at(at_value));
            }
            let key = std::ptr::from_ref(pat) as usize;
            let held = self.held(&ident.to_string(), value, key, at)?;
            self.scopes.replace(&ident.to_string(), Entry::Variable(held));
            return Ok(Val::Unit);
        }
        let mut pending = Pending::default();
        self.next(&mut pending, value)?;
        let targets = self.targets(left)?;
        self.next(&mut pending, Val::Unit)?;
        let value = pending.done().swap_remove(0);
        self.store(targets, value, at_value, at)?;
        Ok(Val::Unit)
    }

    /// What stands on the left of `=`.
    fn targets(&mut self, e: &'a syn::Expr) -> Made<Targets> {
        let at = self.at(e);
        match strip(e) {
            syn::Expr::Tuple(tuple) => {
                let all = tuple.elems.iter().map(|e| self.targets(e));
                Ok(Targets::Tuple(all.collect::<Made<_>>()?))
            }
            syn::Expr::Infer(_) => Ok(Targets::Nothing),
            inner if is_place(inner) => {
                if let syn::Expr::Path(_) = inner {
                    let val = self.expr(inner, None)?;
                    if holds_alias(&val) {
                        return Err(no::REBOUND.at(at));
                    }
                    return self.targets_of(val, false, at);
                }
                let struct_behind = match inner {
                    syn::Expr::Unary(unary) => {
                        matches!(self.peek(&unary.expr), Some(Ty::Struct(_)))
                    }
                    syn::Expr::Index(_) => matches!(self.peek(inner), Some(Ty::Struct(_))),
                    _ => false,
                };
                if struct_behind || matches!(inner, syn::Expr::Field(_)) {
                    let (val, inside) = self.raw(inner)?;
                    return self.targets_of(val, inside, at);
                }
                let from = self.declared_by(inner);
                let (place, ty) = self.place(inner)?;
                Ok(Targets::One(place, ty, from))
            }
            _ => Err(no::TARGET.at(at)),
        }
    }

    /// A value as what is assigned to; arrays of a struct behind a reference are those of somebody else, so it is
    /// their elements that are assigned to.
    fn targets_of(&mut self, val: Val<'a>, inside: bool, at: Span) -> Made<Targets> {
        match val {
            Val::Tuple(all) | Val::Struct(_, all) | Val::Rows(_, _, all) => {
                let all = all.into_iter().map(|v| self.targets_of(v, inside, at));
                Ok(Targets::Tuple(all.collect::<Made<_>>()?))
            }
            Val::Leaf(leaf) if inside && leaf.ty.is_array() && leaf.how == How::Ref => {
                Ok(Targets::One(all_of(leaf.e, at), leaf.ty, leaf.from))
            }
            val => {
                let from = match &val {
                    Val::Leaf(leaf) => leaf.from.clone(),
                    _ => Vec::new(),
                };
                let (place, ty) = self.place_of(val, at)?;
                Ok(Targets::One(place, ty, from))
            }
        }
    }

    fn store(&mut self, targets: Targets, value: Val<'a>, at_value: Span, span: Span) -> Made<()> {
        let (mut pairs, several) = (Vec::new(), !matches!(targets, Targets::One(..)));
        self.pairs(targets, value, several, at_value, &mut pairs)?;
        match pairs.len() {
            0 => {}
            1 => {
                let (place, value) = pairs.swap_remove(0);
                self.assign(place.target(), value, span);
            }
            _ => {
                let (targets, values): (Vec<Target>, Vec<Expr>) =
                    pairs.into_iter().map(|(p, v)| (p.target(), v)).unzip();
                let target = Target::Tuple { elements: targets, span };
                let value = Expr { kind: ExprKind::Tuple(values), span: at_value };
                self.assign(target, value, span);
            }
        }
        Ok(())
    }

    fn pairs(
        &mut self,
        targets: Targets,
        value: Val<'a>,
        several: bool,
        at: Span,
        pairs: &mut Vec<(Place, Expr)>,
    ) -> Made<()> {
        match (targets, value) {
            (Targets::Nothing, _) => Ok(()),
            (_, Val::Alias(..)) => Err(no::REBOUND.at(at)),
            (
                Targets::Tuple(targets),
                Val::Tuple(values) | Val::Struct(_, values) | Val::Rows(_, _, values),
            ) if targets.len() == values.len() => {
                let both = targets.into_iter().zip(values);
                both.into_iter().try_for_each(|(t, v)| self.pairs(t, v, several, at, pairs))
            }
            (Targets::One(place, ty, from), value) => {
                if ty.is_open() {
                    let found = value.ty();
                    if ty.join(&found).is_some() {
                        self.learn(&from, found.scalar());
                    }
                }
                for leaf in self.fitted(value, &ty, at)?.leaves() {
                    let leaf = match place {
                        Place::Name(_) if leaf.how != How::Ref => self.taken_over(leaf),
                        // One of several that are stored may be overwritten by another before it is read.
                        Place::Element { .. } if several && leaf.how == How::Place => {
                            let span = leaf.e.span;
                            let e = call("copy", vec![leaf.e], span);
                            Leaf { e, how: How::Fresh, ..leaf }
                        }
                        _ => leaf,
                    };
                    pairs.push((place.clone(), leaf.e));
                }
                Ok(())
            }
            (_, value) => Err(Diagnostic::new("tuple-length", "the two sides do not fit")
                .label(at, format!("this is `{}`", value.ty().shown()))),
        }
    }

    /// `place op= value`.
    pub(super) fn update(
        &mut self,
        left: &'a syn::Expr,
        op: syn::BinOp,
        right: &'a syn::Expr,
        at: Span,
    ) -> Made<Val<'a>> {
        let shift = matches!(op, syn::BinOp::Shl(_) | syn::BinOp::Shr(_));
        let want = self.peek(left).filter(|_| !shift);
        let value = self.scalar(right, want.as_ref())?;
        let mut pending = Pending::default();
        self.next(&mut pending, Val::Leaf(value.clone()))?;
        let from = self.declared_by(left);
        let (place, ty) = self.place(strip(left))?;
        self.next(&mut pending, Val::Unit)?;
        if !ty.is_scalar() {
            let at_left = self.at(left);
            return Err(super::call::mismatch(
                "a number is updated here".into(),
                at_left,
                &ty.shown(),
            )
            .help("write a loop over its elements"));
        }
        let e = match pending.done().swap_remove(0) {
            Val::Leaf(leaf) => leaf.e,
            _ => value.e.clone(),
        };
        let value = Leaf { e, ..value };
        let old = Leaf { from, ..Leaf::new(place.read(), ty.clone()) };
        let direct = match op {
            syn::BinOp::Add(_) => Some(BinaryOp::Add),
            syn::BinOp::Sub(_) if !ty.is_unsigned() => Some(BinaryOp::Sub),
            syn::BinOp::Mul(_) => Some(BinaryOp::Mul),
            syn::BinOp::Div(_) if ty.is_float() => Some(BinaryOp::Div),
            _ => None,
        };
        let new = self.combined(old.clone(), &op, value.clone(), at)?;
        let Val::Leaf(new) = new else { return Ok(Val::Never) };
        match direct {
            Some(op) if new.ty.is_number() => {
                let value = self.fitted_leaf(value, &new.ty, at)?.e;
                self.emit(StmtKind::AugAssign { target: place.target(), op, value }, at);
            }
            _ => {
                let new = self.fitted_leaf(new, &ty, at)?;
                self.assign(place.target(), new.e, at);
            }
        }
        Ok(Val::Unit)
    }

    /// Exchanges what is in two places.
    pub(super) fn exchange(&mut self, a: Val<'a>, b: Val<'a>, span: Span) -> Made<()> {
        match (a, b) {
            (Val::Struct(d, a), Val::Struct(e, b)) | (Val::Rows(d, _, a), Val::Rows(e, _, b))
                if d == e =>
            {
                a.into_iter().zip(b).try_for_each(|(a, b)| self.exchange(a, b, span))
            }
            (Val::Tuple(a), Val::Tuple(b)) if a.len() == b.len() => {
                a.into_iter().zip(b).try_for_each(|(a, b)| self.exchange(a, b, span))
            }
            (a, b) => self.exchange_two(a, b, span),
        }
    }

    fn exchange_two(&mut self, a: Val<'a>, b: Val<'a>, span: Span) -> Made<()> {
        let (a, b) = (self.swapped(a, span)?, self.swapped(b, span)?);
        let (Some(joined), true) = (a.1.join(&b.1), a.1.is_array() == b.1.is_array()) else {
            return Err(super::call::expected(&a.1, &b.1, span));
        };
        let by_name = matches!((&a.0, &b.0), (Place::Name(_), Place::Name(_)));
        let mut values = [b.0.read(), a.0.read()];
        if joined.is_array() && !by_name {
            // Contents change places, so one of them is kept aside.
            values = values.map(|e| call("copy", vec![e.clone()], e.span));
        }
        let target = Target::Tuple { elements: vec![a.0.target(), b.0.target()], span };
        self.assign(target, Expr { kind: ExprKind::Tuple(values.to_vec()), span }, span);
        Ok(())
    }

    fn swapped(&mut self, val: Val<'a>, span: Span) -> Made<(Place, Ty)> {
        match val {
            Val::Alias(place, ty) => Ok((place, ty)),
            Val::Leaf(leaf) if leaf.ty.is_array() => {
                let ty = leaf.ty.clone();
                match &leaf.e.kind {
                    ExprKind::Index { .. } => self.place_of(Val::Leaf(leaf), span),
                    _ => Ok((all_of(leaf.e, span), ty)),
                }
            }
            other => Err(super::call::mismatch(
                "a `&mut` is needed here".into(),
                span,
                &other.ty().shown(),
            )),
        }
    }
}

/// What is assigned to.
enum Targets {
    One(Place, Ty, Vec<usize>),
    Tuple(Vec<Targets>),
    Nothing,
}

/// All elements of an array, as a place.
pub(super) fn all_of(base: Expr, span: Span) -> Place {
    let all = Index::Slice { start: None, stop: None, step: None, span };
    Place::Element { base, indices: vec![all], span }
}

/// One more than an expression.
pub(super) fn after(e: Expr, span: Span) -> Expr {
    binary(e, BinaryOp::Add, super::value::int(1, span), span)
}

/// Whether a value is a `&mut` to a number, or code, or holds one.
fn refers(val: &Val<'_>) -> bool {
    match val {
        Val::Alias(..) | Val::Closure(_) => true,
        Val::Tuple(all) | Val::Struct(_, all) | Val::Rows(_, _, all) => all.iter().any(refers),
        _ => false,
    }
}
