//! Patterns: of `let`, loops and parameters, which always fit, and of `match`, which are tested.

use super::scope::Entry;
use super::structs::{owned, shared};
use super::value::{How, Leaf, Ty, Val, compare};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{CompareOp, Expr, ExprKind, LogicalOp};

impl<'a> Converter<'a> {
    /// Gives the names of a pattern that always fits their values.
    pub(super) fn bind(&mut self, pattern: &'a syn::Pat, val: Val<'a>) -> Made<()> {
        let at = self.at(pattern);
        match pattern {
            syn::Pat::Ident(ident) => {
                if ident.subpat.is_some() {
                    return Err(no::AT_PATTERN.at(at));
                }
                let name = ident.ident.to_string();
                let val = match val {
                    // `ref` makes a reference of what it is given.
                    Val::Leaf(leaf) if ident.by_ref.is_some() => {
                        Val::Leaf(Leaf { how: How::Ref, ..leaf })
                    }
                    val @ Val::Struct(..) if ident.by_ref.is_some() => {
                        if ident.mutability.is_some() {
                            self.mutable_reference(val, at)?
                        } else {
                            shared(val)
                        }
                    }
                    val => val,
                };
                if let Val::Unit = val {
                    return Ok(());
                }
                let key = std::ptr::from_ref(ident) as usize;
                let val = match self.hints.get(&key).cloned() {
                    Some(ty) if val.ty().scalar().join(&ty).is_some() && val.ty().is_scalar() => {
                        self.fitted(val, &ty, at)?
                    }
                    _ => val,
                };
                let held = self.held(&name, val, key, at)?;
                self.scopes.set(&name, Entry::Variable(held));
                Ok(())
            }
            syn::Pat::Wild(_) => Ok(()),
            syn::Pat::Paren(inner) => self.bind(&inner.pat, val),
            syn::Pat::Type(typed) => {
                let (ty, _) = self.passed_type(&typed.ty)?;
                let val = self.fitted(val, &ty.ty(), at)?;
                self.bind(&typed.pat, val)
            }
            // `|&v|` takes the number itself.
            syn::Pat::Reference(reference) => {
                let val = match val {
                    Val::Leaf(leaf) if leaf.how == How::Ref => {
                        Val::Leaf(Leaf { how: How::Place, ..leaf })
                    }
                    Val::Alias(place, ty) => Val::of(place.read(), ty),
                    val @ Val::Struct(..) => owned(val),
                    other => other,
                };
                self.bind(&reference.pat, val)
            }
            syn::Pat::Tuple(tuple) => {
                let Val::Tuple(all) = val else {
                    return Err(Diagnostic::new("type", "only a tuple can be taken apart")
                        .label(at, format!("this is given `{}`", val.ty().shown())));
                };
                if tuple.elems.iter().any(|p| matches!(p, syn::Pat::Rest(_))) {
                    return Err(no::REST_PATTERN.at(at));
                }
                if all.len() != tuple.elems.len() {
                    let message = format!(
                        "{} values cannot be taken apart into {} names",
                        all.len(),
                        tuple.elems.len()
                    );
                    return Err(Diagnostic::new("tuple-length", message).label(at, "these names"));
                }
                let pairs: Vec<_> = tuple.elems.iter().zip(all).collect();
                pairs.into_iter().try_for_each(|(p, v)| self.bind(p, v))
            }
            syn::Pat::Slice(slice) => self.bind_elements(slice, val, at),
            syn::Pat::Struct(_) | syn::Pat::TupleStruct(_) => {
                let pairs = self.taken_apart(pattern, &val)?;
                pairs.into_iter().try_for_each(|(p, v)| self.bind(p, v))
            }
            _ => Err(no::REFUTABLE.at(at)),
        }
    }

    /// `let [a, b] = x`.
    fn bind_elements(&mut self, slice: &'a syn::PatSlice, val: Val<'a>, at: Span) -> Made<()> {
        let Val::Leaf(leaf) = val else { return Err(no::REFUTABLE.at(at)) };
        let (Ty::Array(elem, super::value::Len::Fixed(n)), false) =
            (&leaf.ty, slice.elems.iter().any(|p| matches!(p, syn::Pat::Rest(_))))
        else {
            return Err(no::REST_PATTERN.at(at));
        };
        if *n != slice.elems.len() {
            let message =
                format!("{n} elements cannot be taken apart into {} names", slice.elems.len());
            return Err(Diagnostic::new("tuple-length", message).label(at, "these names"));
        }
        let base = self.kept(leaf.e.clone());
        for (k, pattern) in slice.elems.iter().enumerate() {
            let e = super::array::element(base.clone(), super::value::int(k as i64, at), at);
            let how = if elem.is_array() { How::Place } else { How::Fresh };
            let val = Val::Leaf(Leaf { e, ty: (**elem).clone(), how, from: Vec::new() });
            self.bind(pattern, val)?;
        }
        Ok(())
    }

    /// The test of a pattern of `match`, nothing where it always fits. Its names are bound in the scope.
    pub(super) fn tested(&mut self, pattern: &'a syn::Pat, val: &Val<'a>) -> Made<Option<Expr>> {
        let at = self.at(pattern);
        self.deeper(at, |c| c.tested_here(pattern, val, at))
    }

    fn tested_here(
        &mut self,
        pattern: &'a syn::Pat,
        val: &Val<'a>,
        at: Span,
    ) -> Made<Option<Expr>> {
        let number = |val: &Val<'a>| val.leaves().into_iter().next().filter(|l| l.ty.is_scalar());
        match pattern {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => Ok(None),
            syn::Pat::Paren(inner) => self.tested(&inner.pat, val),
            syn::Pat::Reference(inner) => self.tested(&inner.pat, val),
            syn::Pat::Ident(ident) => {
                let name = ident.ident.to_string();
                let constant = matches!(self.scopes.get(&name), Some(Entry::Constant(..)));
                if constant && ident.subpat.is_none() {
                    let value = self.name_value(&name, at)?;
                    return self.equal(val, value, at).map(Some);
                }
                let test = match &ident.subpat {
                    Some((_, inner)) => self.tested(inner, val)?,
                    None => None,
                };
                let bound = match (ident.mutability, val) {
                    (Some(_), Val::Leaf(leaf)) if leaf.ty.is_scalar() => {
                        let key = std::ptr::from_ref(ident) as usize;
                        self.held(&name, val.clone(), key, at)?
                    }
                    _ => val.clone(),
                };
                self.scopes.set(&name, Entry::Variable(bound));
                Ok(test)
            }
            syn::Pat::Lit(lit) => {
                let ty = val.ty();
                let (stmts, value) = self.inside(|c| c.pattern_number(&lit.lit, &ty, at))?;
                debug_assert!(stmts.is_empty());
                self.equal(val, Val::Leaf(value), at).map(Some)
            }
            syn::Pat::Const(_) => Err(no::CONST_BLOCK.at(at)),
            syn::Pat::Path(path) => {
                let value = self.path_value(&path.path, at)?;
                self.equal(val, value, at).map(Some)
            }
            syn::Pat::Range(range) => {
                let Some(leaf) = number(val) else { return Err(no::REFUTABLE.at(at)) };
                let mut tests = Vec::new();
                if let Some(start) = &range.start {
                    let from = self.bound_of(start, &leaf.ty)?;
                    tests.push(compare(leaf.e.clone(), CompareOp::Ge, from, at));
                }
                if let Some(end) = &range.end {
                    let to = self.bound_of(end, &leaf.ty)?;
                    let op = match range.limits {
                        syn::RangeLimits::HalfOpen(_) => CompareOp::Lt,
                        syn::RangeLimits::Closed(_) => CompareOp::Le,
                    };
                    tests.push(compare(leaf.e.clone(), op, to, at));
                }
                Ok(joined(LogicalOp::And, tests, at))
            }
            syn::Pat::Or(or) => {
                let mut tests = Vec::new();
                for case in &or.cases {
                    match self.tested(case, val)? {
                        Some(test) => tests.push(test),
                        None => return Ok(None),
                    }
                }
                Ok(joined(LogicalOp::Or, tests, at))
            }
            syn::Pat::Tuple(tuple) => {
                let Val::Tuple(all) = val else { return Err(no::REFUTABLE.at(at)) };
                if all.len() != tuple.elems.len() {
                    return Err(no::REST_PATTERN.at(at));
                }
                let mut tests = Vec::new();
                for (pattern, val) in tuple.elems.iter().zip(all) {
                    tests.extend(self.tested(pattern, val)?);
                }
                Ok(joined(LogicalOp::And, tests, at))
            }
            syn::Pat::Struct(_) | syn::Pat::TupleStruct(_) => {
                let mut tests = Vec::new();
                for (pattern, val) in self.taken_apart(pattern, val)? {
                    tests.extend(self.tested(pattern, &val)?);
                }
                Ok(joined(LogicalOp::And, tests, at))
            }
            _ => Err(no::REFUTABLE.at(at)),
        }
    }

    fn pattern_number(&mut self, lit: &syn::Lit, ty: &Ty, at: Span) -> Made<Leaf> {
        match lit {
            syn::Lit::Int(k) => match k.base10_parse::<i64>() {
                Ok(k) => Ok(Leaf::new(super::value::int(k, at), ty.clone())),
                Err(_) => Err(no::BIG_INTEGER.at(at)),
            },
            syn::Lit::Bool(b) => Ok(Leaf::new(super::value::truth(b.value, at), Ty::Bool)),
            syn::Lit::Float(x) => {
                let x = x.base10_digits().parse().unwrap_or(0.0);
                let e = self.float_of(x, *ty == Ty::F32, at);
                Ok(Leaf::new(e, ty.clone()))
            }
            _ => Err(no::TEXT.at(at)),
        }
    }

    /// The bound of a range pattern.
    fn bound_of(&mut self, e: &'a syn::Expr, ty: &Ty) -> Made<Expr> {
        let leaf = self.scalar(e, Some(ty))?;
        let at = self.at(e);
        Ok(self.fitted_leaf(leaf, ty, at)?.e)
    }

    fn equal(&mut self, val: &Val<'a>, other: Val<'a>, at: Span) -> Made<Expr> {
        let (Some(a), Some(b)) =
            (val.leaves().into_iter().next(), other.leaves().into_iter().next())
        else {
            return Err(no::REFUTABLE.at(at));
        };
        if !a.ty.is_scalar() || a.ty.join(&b.ty).is_none() {
            return Err(super::call::expected(&a.ty, &b.ty, at));
        }
        // A truth value is its own test.
        if let (Ty::Bool, ExprKind::Bool(b)) = (&a.ty, &b.e.kind) {
            return Ok(if *b { a.e } else { super::value::not(a.e, at) });
        }
        Ok(compare(a.e, CompareOp::Eq, b.e, at))
    }
}

/// A test and another.
pub(super) fn both(a: Expr, b: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Logical { op: LogicalOp::And, operands: vec![a, b] }, span }
}

/// Tests as one; nothing where there are none.
fn joined(op: LogicalOp, mut tests: Vec<Expr>, span: Span) -> Option<Expr> {
    match tests.len() {
        0 => None,
        1 => tests.pop(),
        _ => Some(Expr { kind: ExprKind::Logical { op, operands: tests }, span }),
    }
}
