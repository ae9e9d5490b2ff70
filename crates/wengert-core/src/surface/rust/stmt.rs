//! Blocks and statements.

use super::scope::Entry;
use super::value::Ty;
use super::value::Val;
use super::{Converter, Made, no};

impl<'a> Converter<'a> {
    /// A block, in a scope of its own: what it evaluates to.
    pub(super) fn block(&mut self, block: &'a syn::Block, want: Option<&Ty>) -> Made<Val<'a>> {
        let at = self.at(block);
        self.scopes.enter();
        let result = self.deeper(at, |c| c.block_here(block, want));
        self.scopes.leave();
        result
    }

    fn block_here(&mut self, block: &'a syn::Block, want: Option<&Ty>) -> Made<Val<'a>> {
        let items = block.stmts.iter().filter_map(|s| match s {
            syn::Stmt::Item(item) => Some(item),
            _ => None,
        });
        let mut errors = Vec::new();
        self.declare(items.clone(), false, &mut errors);
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        for item in items {
            for (source, callee) in self.functions_of(item) {
                self.function(source, &callee)?;
            }
        }
        let mut value = Val::Unit;
        for (k, stmt) in block.stmts.iter().enumerate() {
            let last = k + 1 == block.stmts.len();
            let left = matches!(value, Val::Never);
            value = match stmt {
                syn::Stmt::Local(local) => self.local(local)?,
                syn::Stmt::Item(_) => Val::Unit,
                syn::Stmt::Expr(e, None) if last => {
                    let value = self.expr(e, want)?;
                    if left { Val::Never } else { value }
                }
                syn::Stmt::Expr(e, semi) => {
                    // A call that stands alone gives nothing, for all that is seen of it.
                    let alone = semi.is_some() && self.calls_outside(e);
                    let val = self.expr(e, alone.then_some(&Ty::Unit))?;
                    self.dropped(val)
                }
                syn::Stmt::Macro(m) if last && m.semi_token.is_none() => {
                    let at = self.at(m);
                    self.mac(&m.mac, want, at)?
                }
                syn::Stmt::Macro(m) => {
                    let at = self.at(m);
                    let val = self.mac(&m.mac, None, at)?;
                    self.dropped(val)
                }
            };
            if left {
                value = Val::Never;
            }
        }
        Ok(value)
    }

    /// The value of a statement is not used; a call in it happens.
    fn dropped(&mut self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Never => Val::Never,
            Val::Leaf(leaf) => {
                // An index out of range is an error also where nobody looks.
                self.kept_for_effect(leaf.e);
                Val::Unit
            }
            _ => Val::Unit,
        }
    }

    fn kept_for_effect(&mut self, e: crate::surface::tree::Expr) {
        use crate::surface::tree::{Callee, ExprKind, StmtKind};
        if let ExprKind::Call { callee: Callee::Function(_) | Callee::External(_), .. } = &e.kind {
            let span = e.span;
            self.emit(StmtKind::Call(e), span);
        }
    }

    fn local(&mut self, local: &'a syn::Local) -> Made<Val<'a>> {
        let (pattern, declared) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let ty = match declared {
            Some(syn::Type::Infer(_)) | None => None,
            Some(ty) => self.let_type(ty)?,
        };
        let Some(init) = &local.init else {
            let syn::Pat::Ident(ident) = pattern else {
                let at = self.at(pattern);
                return Err(no::UNSET_PATTERN.at(at));
            };
            self.scopes.set(&ident.ident.to_string(), Entry::Unset(ident, ty));
            return Ok(Val::Unit);
        };
        if let Some((_, diverge)) = &init.diverge {
            let at = self.at(&**diverge);
            return Err(no::LET_ELSE.at(at));
        }
        let hint = match pattern {
            syn::Pat::Ident(ident) => {
                self.hints.get(&(std::ptr::from_ref(ident) as usize)).cloned()
            }
            _ => None,
        };
        let want = ty.clone().or(hint);
        let value = self.expr(&init.expr, want.as_ref())?;
        let at = self.at(&*init.expr);
        if matches!(value, Val::Never) {
            return Ok(Val::Never);
        }
        let value = match &ty {
            Some(ty) => self.fitted(value, ty, at)?,
            None => value,
        };
        self.bind(pattern, value)?;
        Ok(Val::Unit)
    }

    /// The type of a `let`; nothing where part of it is left open.
    fn let_type(&mut self, ty: &syn::Type) -> Made<Option<Ty>> {
        if holds_infer(ty) {
            return Ok(None);
        }
        let (ty, _) = self.passed_type(ty)?;
        Ok(Some(ty.ty()))
    }
}

/// Whether a type has a `_` in it.
pub(super) fn holds_infer(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Infer(_) => true,
        syn::Type::Reference(r) => holds_infer(&r.elem),
        syn::Type::Paren(r) => holds_infer(&r.elem),
        syn::Type::Slice(r) => holds_infer(&r.elem),
        syn::Type::Array(r) => holds_infer(&r.elem),
        syn::Type::Tuple(r) => r.elems.iter().any(holds_infer),
        syn::Type::Path(p) => p.path.segments.iter().any(|s| match &s.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().any(|a| match a {
                syn::GenericArgument::Type(ty) => holds_infer(ty),
                _ => false,
            }),
            _ => false,
        }),
        _ => false,
    }
}
