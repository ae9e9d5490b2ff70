//! Constant parameters: `fn norm<const N: usize>(x: [f64; N])`.
//!
//! Programs have arrays of any length, so `N` is one more parameter of the function of the tree, an integer, after all
//! others; arrays of `N` elements have a type of their own in the walk ([`Len::Param`]). A call finds the numbers from
//! the types of its arguments.

use super::call::Callee;
use super::types::{IntKind, Length, Mode, RustType, SignatureParam};
use super::value::{Len, Ty, Val, int, named};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::Expr;

/// The lengths that a call gives to constant parameters, as far as they have been found.
pub(super) struct Lengths(Vec<Option<Len>>);

impl<'a> Converter<'a> {
    /// The constant parameters of a function. All others are refused.
    pub(super) fn constant_parameters(
        &mut self,
        generics: &'a syn::Generics,
    ) -> Made<Vec<SignatureParam>> {
        let mut params = Vec::new();
        for param in &generics.params {
            let span = self.at(param);
            match param {
                syn::GenericParam::Lifetime(_) => {}
                syn::GenericParam::Type(_) => return Err(no::GENERICS.at(span)),
                syn::GenericParam::Const(c) => {
                    let ty = self.rust_type(&c.ty)?;
                    if ty != RustType::Int(IntKind::Usize) {
                        return Err(no::CONSTANT_PARAMETER.at(span));
                    }
                    let name = c.ident.to_string();
                    params.push(SignatureParam {
                        name,
                        span: self.at(&c.ident),
                        ty,
                        mode: Mode::Value,
                        nondiff: true,
                        constant: true,
                    });
                }
            }
        }
        Ok(params)
    }

    /// The length of an array type.
    pub(super) fn array_length(&mut self, e: &syn::Expr) -> Made<Length> {
        let name = match e {
            syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            syn::Expr::Block(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(inner, None)] => return self.array_length(inner),
                _ => None,
            },
            _ => None,
        };
        let found = name.and_then(|name| self.constants.iter().position(|(n, _)| *n == name));
        match found {
            Some(k) => Ok(Length::Param(k, self.constants[k].0.clone())),
            None => self.constant_length(e).map(Length::Known),
        }
    }

    /// The number that a constant parameter is.
    pub(super) fn constant_parameter(&mut self, k: usize, at: Span) -> Expr {
        match self.constants.get(k) {
            Some((_, name)) => named(name, at),
            None => int(0, at),
        }
    }

    /// The constant parameters of a callee that a path names: `norm::<3>`.
    pub(super) fn turbofish_of(
        &mut self,
        callee: &Callee,
        given: Option<&syn::AngleBracketedGenericArguments>,
    ) -> Made<Lengths> {
        let count = callee.signature.params.iter().filter(|p| p.constant).count();
        let mut lengths = vec![None; count];
        for (k, arg) in given.iter().flat_map(|g| &g.args).enumerate().take(count) {
            let length = match arg {
                syn::GenericArgument::Const(e) => Some(self.array_length(e)?),
                // A name looks like a type.
                syn::GenericArgument::Type(syn::Type::Path(path)) => {
                    let path =
                        syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() };
                    Some(self.array_length(&syn::Expr::Path(path))?)
                }
                _ => None,
            };
            lengths[k] = length.map(|length| match length {
                Length::Known(n) => Len::Fixed(n),
                Length::Param(k, _) => Len::Param(k),
            });
        }
        Ok(Lengths(lengths))
    }

    /// The numbers for the constant parameters of a callee.
    pub(super) fn constant_arguments(
        &mut self,
        callee: &Callee,
        lengths: &Lengths,
        at: Span,
    ) -> Made<Vec<Val<'a>>> {
        let constants = callee.signature.params.iter().filter(|p| p.constant);
        let mut values = Vec::new();
        for (param, length) in constants.zip(&lengths.0) {
            let e = match length {
                Some(Len::Fixed(n)) => int(*n as i64, at),
                Some(Len::Param(k)) => self.constant_parameter(*k, at),
                _ => {
                    let message = format!("what `{}` is here is not evident", param.name);
                    return Err(Diagnostic::new("unsupported-type", message)
                        .label(at, "here")
                        .help(format!("write it out: `{}::<3>(...)`", callee.signature.name)));
                }
            };
            values.push(Val::of(e, Ty::Int(Some(IntKind::Usize))));
        }
        Ok(values)
    }
}

impl Lengths {
    /// Whether there is anything to find.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A type of the callee as far as the caller knows it: where lengths are open, a slice.
    pub(super) fn known(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Array(elem, len) => {
                let len = match len {
                    Len::Param(k) => self.0.get(*k).copied().flatten().unwrap_or(Len::Slice),
                    len => *len,
                };
                Ty::Array(Box::new(self.known(elem)), len)
            }
            Ty::Tuple(all) => Ty::Tuple(all.iter().map(|ty| self.known(ty)).collect()),
            other => other.clone(),
        }
    }

    /// What an argument or a result of this type says about the lengths in a type of the callee.
    pub(super) fn learn(&mut self, ty: &Ty, found: &Ty) {
        match (ty, found) {
            (Ty::Array(elem, len), Ty::Array(of, given)) => {
                if let (Len::Param(k), Len::Fixed(_) | Len::Param(_)) = (len, given)
                    && let Some(length @ None) = self.0.get_mut(*k)
                {
                    *length = Some(*given);
                }
                self.learn(elem, of);
            }
            (Ty::Tuple(all), Ty::Tuple(found)) => {
                all.iter().zip(found).for_each(|(ty, found)| self.learn(ty, found));
            }
            _ => {}
        }
    }

    /// A value that the callee gives, as the caller sees its type.
    pub(super) fn seen<'a>(&self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Leaf(mut leaf) => {
                leaf.ty = self.known(&leaf.ty);
                Val::Leaf(leaf)
            }
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|val| self.seen(val)).collect()),
            // Fields of structs have no such types.
            other => other,
        }
    }
}
