//! Macros of the standard library.
//!
//! What stands inside a macro is tokens. [`Macros`] parses those of a text before the walk, so that the walk
//! finds them as syntax.

use super::expr::Pending;
use super::value::{Leaf, Len, Ty, Val, compare, truth};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{CompareOp, StmtKind};
use rustc_hash::FxHashMap as HashMap;
use syn::parse::{Parse, ParseStream};
use syn::visit::Visit;

/// What the macros of a text were given, by where each is.
#[derive(Default)]
pub(super) struct Macros(HashMap<usize, Result<Body, String>>);

/// What a macro was given.
enum Body {
    List(Vec<syn::Expr>),
    /// `[value; count]`
    Repeat(Box<(syn::Expr, syn::Expr)>),
}

impl Parse for Body {
    fn parse(input: ParseStream) -> syn::Result<Body> {
        let mut list = Vec::new();
        while !input.is_empty() {
            list.push(input.parse()?);
            if list.len() == 1 && input.parse::<Option<syn::Token![;]>>()?.is_some() {
                let count = input.parse()?;
                let value = list.swap_remove(0);
                return Ok(Body::Repeat(Box::new((value, count))));
            }
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        Ok(Body::List(list))
    }
}

impl Macros {
    /// Those of all items, and those inside them.
    pub(super) fn of(items: &[syn::Item]) -> Macros {
        let mut macros = Macros::default();
        items.iter().for_each(|item| macros.visit_item(item));
        macros
    }
}

impl Visit<'_> for Macros {
    fn visit_macro(&mut self, mac: &syn::Macro) {
        let body = mac.parse_body::<Body>().map_err(|e| e.to_string());
        match &body {
            Ok(Body::List(all)) => all.iter().for_each(|e| self.visit_expr(e)),
            Ok(Body::Repeat(both)) => {
                self.visit_expr(&both.0);
                self.visit_expr(&both.1);
            }
            Err(_) => {}
        }
        self.0.insert(std::ptr::from_ref(mac) as usize, body);
    }
}

impl<'a> Converter<'a> {
    /// A macro.
    pub(super) fn mac(
        &mut self,
        mac: &'a syn::Macro,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let refused = match name.as_str() {
            "vec" => return self.vec_macro(self.given(mac, at)?, want, at),
            "assert" | "debug_assert" => return self.assertion(self.given(mac, at)?, at),
            "assert_eq" | "debug_assert_eq" => {
                return self.comparison(self.given(mac, at)?, CompareOp::Eq, at);
            }
            "assert_ne" | "debug_assert_ne" => {
                return self.comparison(self.given(mac, at)?, CompareOp::Ne, at);
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let message = match self.given(mac, at)? {
                    Body::List(all) => all.first().and_then(text),
                    Body::Repeat(_) => None,
                };
                let message = message.unwrap_or_else(|| format!("`{name}!` was reached"));
                self.emit(StmtKind::Assert { cond: truth(false, at), message: Some(message) }, at);
                return Ok(Val::Never);
            }
            "print" | "println" | "eprint" | "eprintln" | "dbg" | "write" | "writeln" => no::PRINT,
            "format" | "concat" | "stringify" => no::FORMAT,
            _ => no::MACRO,
        };
        Err(refused.at(at))
    }

    fn given(&self, mac: &'a syn::Macro, at: Span) -> Made<&'a Body> {
        match self.macros.0.get(&(std::ptr::from_ref(mac) as usize)) {
            Some(Ok(body)) => Ok(body),
            Some(Err(error)) => Err(Diagnostic::new("syntax", error.clone()).label(at, "in here")),
            None => Err(no::MACRO.at(at)),
        }
    }

    fn vec_macro(&mut self, body: &'a Body, want: Option<&Ty>, at: Span) -> Made<Val<'a>> {
        match body {
            Body::List(all) => {
                let all: Vec<&syn::Expr> = all.iter().collect();
                self.array_of(&all, want, Len::Vec, at)
            }
            Body::Repeat(both) => {
                let mut pending = Pending::default();
                let inner = super::array::element_want(want);
                let value = self.expr(&both.0, inner)?;
                self.next(&mut pending, value)?;
                let count = self.count(&both.1)?;
                self.next(&mut pending, Val::of(count.clone(), Ty::Unit))?;
                let value = pending.done().swap_remove(0);
                self.filled_with(value, count, Len::Vec, at)
            }
        }
    }

    fn assertion(&mut self, body: &'a Body, at: Span) -> Made<Val<'a>> {
        let Body::List(all) = body else { return Err(no::MACRO.at(at)) };
        let Some(cond) = all.first() else { return Err(no::MACRO.at(at)) };
        let cond = self.condition(cond)?;
        self.emit(StmtKind::Assert { cond, message: all.get(1).and_then(text) }, at);
        Ok(Val::Unit)
    }

    fn comparison(&mut self, body: &'a Body, op: CompareOp, at: Span) -> Made<Val<'a>> {
        let Body::List(all) = body else { return Err(no::MACRO.at(at)) };
        let [a, b, rest @ ..] = all.as_slice() else { return Err(no::MACRO.at(at)) };
        let mut pending = Pending::default();
        let left = self.scalar(a, None)?;
        let ty = left.ty.clone();
        self.next(&mut pending, Val::Leaf(left))?;
        let right = self.scalar(b, Some(&ty))?;
        self.next(&mut pending, Val::Leaf(right))?;
        let leaves: Vec<Leaf> = pending.done().iter().flat_map(Val::leaves).collect();
        let [left, right] = leaves.as_slice() else { return Ok(Val::Never) };
        let Some(ty) = left.ty.join(&right.ty) else {
            return Err(super::call::expected(&left.ty, &right.ty, right.e.span));
        };
        let left = self.fitted_leaf(left.clone(), &ty, at)?;
        let right = self.fitted_leaf(right.clone(), &ty, at)?;
        let cond = compare(left.e, op, right.e, at);
        self.emit(StmtKind::Assert { cond, message: rest.first().and_then(text) }, at);
        Ok(Val::Unit)
    }
}

/// The text that an expression is.
fn text(e: &syn::Expr) -> Option<String> {
    match e {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
