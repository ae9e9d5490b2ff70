//! Closures and function names: what can be called without being a function of the text.
//!
//! A closure is written out where it is called, in the scopes where it was made.

use super::call::Callee;
use super::expr::{Pending, strip};
use super::labels::Kind;
use super::methods::Associated;
use super::scope::{Entry, Scopes};
use super::value::{Len, Ty, Val};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use std::rc::Rc;
use syn::visit::Visit;

/// A closure, and what its names stand for.
pub(super) struct Closure<'a> {
    syntax: &'a syn::ExprClosure,
    scopes: Scopes<'a>,
    at: Span,
    returns: bool,
}

/// What an adapter of a sequence calls.
#[derive(Clone)]
pub(super) enum Called<'a> {
    Closure(Rc<Closure<'a>>),
    Function(Rc<Callee>),
    /// A function of a number type: `f64::max`.
    Number(Ty, String),
}

/// How many closures may be written out in one text.
const MAX_EXPANSIONS: usize = 2000;

impl<'a> Converter<'a> {
    /// `|x| ...`.
    pub(super) fn closure(&mut self, syntax: &'a syn::ExprClosure, at: Span) -> Made<Val<'a>> {
        if syntax.asyncness.is_some() {
            return Err(no::ASYNC.at(at));
        }
        let mut used = Used::default();
        used.visit_expr(&syntax.body);
        let mut scopes = self.scopes.clone();
        if syntax.capture.is_some() {
            // What is copied and not moved is copied when the closure is made.
            scopes.enter();
            for name in used.names {
                match self.scopes.get(&name).cloned() {
                    Some(Entry::Variable(Val::Leaf(leaf)))
                        if leaf.ty.is_scalar() || leaf.ty.copies() =>
                    {
                        let key = leaf.from.first().copied().unwrap_or(0);
                        let held = self.held(&name, Val::Leaf(leaf), key, at)?;
                        scopes.set(&name, Entry::Variable(held));
                    }
                    Some(Entry::Variable(
                        val @ (Val::Tuple(_) | Val::Struct(..) | Val::Rows(_, Len::Fixed(_), _)),
                    )) => {
                        let held = self.held(&name, val, 0, at)?;
                        scopes.set(&name, Entry::Variable(held));
                    }
                    _ => {}
                }
            }
        }
        Ok(Val::Closure(Rc::new(Closure { syntax, scopes, at, returns: used.returns })))
    }

    /// A closure with arguments that have been evaluated.
    pub(super) fn apply_closure(
        &mut self,
        closure: &Closure<'a>,
        args: Vec<Val<'a>>,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let syntax = closure.syntax;
        if syntax.inputs.len() != args.len() {
            let message = format!(
                "the closure takes {} arguments, but {} are given",
                syntax.inputs.len(),
                args.len()
            );
            return Err(Diagnostic::new("argument-count", message)
                .label(at, "this call")
                .label(closure.at, "the closure"));
        }
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            return Err(Diagnostic::new("too-large", "closures are called in too many places")
                .label(at, "one of them")
                .help("write a function instead of the closure: `fn`"));
        }
        let result = match &syntax.output {
            syn::ReturnType::Type(_, ty) => Some(self.passed_type(ty)?.0.ty()),
            syn::ReturnType::Default => want.cloned(),
        };
        let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
        let around = std::mem::take(&mut self.around);
        self.scopes.enter();
        let made = self.deeper(at, |c| {
            for (pattern, val) in syntax.inputs.iter().zip(args) {
                c.bind(pattern, val)?;
            }
            let val = if closure.returns {
                c.once(Kind::Closure, None, result.as_ref(), at, |c| {
                    c.expr(&syntax.body, result.as_ref())
                })?
            } else {
                c.expr(&syntax.body, result.as_ref())?
            };
            match &syntax.output {
                syn::ReturnType::Type(..) => match &result {
                    Some(ty) => c.fitted(val, ty, at),
                    None => Ok(val),
                },
                syn::ReturnType::Default => Ok(val),
            }
        });
        self.around = around;
        self.scopes = scopes;
        made
    }

    /// What an adapter is given to call.
    pub(super) fn callable(&mut self, e: &'a syn::Expr) -> Made<Called<'a>> {
        let at = self.at(e);
        match strip(e) {
            syn::Expr::Closure(closure) => match self.closure(closure, at)? {
                Val::Closure(closure) => Ok(Called::Closure(closure)),
                _ => Err(no::CALLED.at(at)),
            },
            syn::Expr::Reference(reference) => self.callable(&reference.expr),
            syn::Expr::Path(path) => {
                let words: Vec<String> =
                    path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                let last = words.last().cloned().unwrap_or_default();
                if let [owner, name] = words.as_slice()
                    && let Some(ty) = super::number::type_named(owner)
                {
                    return Ok(Called::Number(ty, name.clone()));
                }
                match self.scopes.get(&last) {
                    Some(Entry::Variable(Val::Closure(closure))) => {
                        Ok(Called::Closure(closure.clone()))
                    }
                    Some(Entry::Function(callee)) => Ok(Called::Function(callee.clone())),
                    _ => Err(no::CALLED.at(at)),
                }
            }
            _ => Err(no::CALLED.at(at)),
        }
    }

    /// Calls it with values.
    pub(super) fn apply(
        &mut self,
        called: &Called<'a>,
        args: Vec<Val<'a>>,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        match called {
            Called::Closure(closure) => self.apply_closure(closure, args, want, at),
            Called::Function(callee) => {
                if args.len() != callee.signature.params.len() {
                    return Err(no::CALLED.at(at));
                }
                let mut fitted = Vec::new();
                for (val, param) in args.into_iter().zip(&callee.signature.params) {
                    fitted.push(self.fitted(val, &param.ty.ty(), at)?);
                }
                self.called(callee, fitted, at, at)
            }
            Called::Number(ty, name) => self.number_function(ty, name, args, at),
        }
    }

    /// `f(x)`.
    pub(super) fn call_expr(
        &mut self,
        call: &'a syn::ExprCall,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let args: Vec<&'a syn::Expr> = call.args.iter().collect();
        let at_name = self.at(&*call.func);
        let words: Vec<String> = match strip(&call.func) {
            syn::Expr::Path(path) if path.qself.is_none() => {
                path.path.segments.iter().map(|s| s.ident.to_string()).collect()
            }
            syn::Expr::Closure(closure) => {
                let Val::Closure(closure) = self.closure(closure, at_name)? else {
                    return Err(no::CALLED.at(at_name));
                };
                let args = self.all(&args, None)?;
                return self.apply_closure(&closure, args, want, at);
            }
            _ => return Err(no::CALLED.at(at_name)),
        };
        if let syn::Expr::Path(path) = strip(&call.func)
            && let Some(found) = self.of_struct(&path.path, at_name)?
        {
            return match found {
                Associated::Constructor(def) => self.struct_call(&def, &args, at),
                Associated::Function(callee) => {
                    self.call(&callee, &args, turbofish(&call.func), want, at_name, at)
                }
            };
        }
        let last = words.last().cloned().unwrap_or_default();
        let owner = words.len().checked_sub(2).map_or("", |k| words[k].as_str()).to_owned();
        if let Some(ty) = super::number::type_named(&owner) {
            if last == "from" && args.len() == 1 {
                let leaf = self.scalar(args[0], None)?;
                let e = self.converted(leaf, &ty, at)?;
                return Ok(Val::of(e, ty));
            }
            if last == "from_bits" {
                return Err(no::BITS.at(at_name));
            }
            let mut pending = Pending::default();
            for (k, arg) in args.iter().enumerate() {
                let want = super::number::argument(&last, k, &ty);
                let val = self.expr(arg, want.as_ref())?;
                self.next(&mut pending, val)?;
            }
            return self.number_function(&ty, &last, pending.done(), at);
        }
        let is_path = words.len() > 1 && words[0] != "self";
        match self.scopes.get(&last).cloned().filter(|_| !is_path || self.outside.is_none()) {
            Some(Entry::Variable(Val::Closure(closure))) if words.len() == 1 => {
                let args = self.all(&args, None)?;
                return self.apply_closure(&closure, args, want, at);
            }
            Some(Entry::Function(callee)) => {
                return self.call(&callee, &args, turbofish(&call.func), want, at_name, at);
            }
            Some(Entry::Variable(_)) if words.len() == 1 => return Err(no::CALLED.at(at_name)),
            _ => {}
        }
        if let syn::Expr::Path(path) = strip(&call.func)
            && self.is_outside(&path.path)
        {
            return self.outside_call(&path.path, &args, want, at_name, at);
        }
        if let syn::Expr::Path(path) = strip(&call.func)
            && let Some(made) = self.nd_made(&path.path, &args, want, at)?
        {
            return Ok(made);
        }
        self.library_call(&owner, &last, &args, want, at_name, at)
    }

    /// A function of the standard library that is none of a number.
    fn library_call(
        &mut self,
        owner: &str,
        name: &str,
        args: &[&'a syn::Expr],
        want: Option<&Ty>,
        at_name: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        match (owner, name, args) {
            ("mem", "take", _) => Err(no::GROWING.at(at_name)),
            ("mem" | "", "swap" | "replace", [a, b])
                if let Some(refused) =
                    self.reference_itself(a).or_else(|| self.reference_itself(b)) =>
            {
                Err(refused.at(at))
            }
            ("mem" | "", "swap", [a, b]) => {
                let a = self.expr(a, None)?;
                let b = self.expr(b, None)?;
                self.exchange(a, b, at)?;
                Ok(Val::Unit)
            }
            ("mem", "replace", [place, value]) => {
                let place_val = self.expr(place, None)?;
                let at_place = self.at(*place);
                let Val::Alias(place, ty) = place_val else {
                    return Err(super::call::mismatch(
                        "a `&mut` to a number is needed here".into(),
                        at_place,
                        &place_val.ty().shown(),
                    ));
                };
                let at_value = self.at(args[1]);
                let value = self.expr(value, Some(&ty))?;
                let value = self.fitted(value, &ty, at_value)?;
                let old = self.kept(place.read());
                for leaf in value.leaves() {
                    self.assign(place.target(), leaf.e, at);
                }
                Ok(Val::of(old, ty))
            }
            ("Vec", "from", [source]) => {
                let val = self.expr(source, want)?;
                let at_source = self.at(*source);
                let leaf = self.as_array(val, at_source)?;
                let ty = match leaf.ty.clone() {
                    Ty::Array(elem, _) => Ty::Array(elem, super::value::Len::Vec),
                    ty => ty,
                };
                let leaf = self.taken_over(leaf);
                Ok(Val::Leaf(super::value::Leaf { ty, ..leaf }))
            }
            ("array", "from_fn", [made]) => {
                let Some(Ty::Array(_, super::value::Len::Fixed(n))) = want else {
                    return Err(no::INFERRED_TYPE.at(at));
                };
                let (n, called) = (*n, self.callable(made)?);
                self.collected_from(n, &called, at)
            }
            ("cmp" | "", "min" | "max", [a, b]) => {
                let vals = self.all(&[a, b], want)?;
                let mut leaves = vals.iter().flat_map(Val::leaves);
                let (Some(a), Some(b)) = (leaves.next(), leaves.next()) else {
                    return Err(no::CALLED.at(at));
                };
                self.integer_method(a, name, vec![Val::Leaf(b)], at_name, at)
            }
            ("Vec", "new" | "with_capacity", _) => Err(no::GROWING.at(at_name)),
            ("", "Some" | "Ok" | "Err", _) => Err(no::OPTION_TYPE.at(at_name)),
            _ => {
                let message = format!("the function `{name}` is not known here");
                let known: Vec<String> = self.scopes.functions();
                let error =
                    Diagnostic::new("undefined-function", message).label(at_name, "called here");
                Err(match crate::surface::names::nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(
                        "write it inside this function, or put both into a module, with the attribute before it: `#[differentiable] mod m { ... }`",
                    ),
                })
            }
        }
    }
}

/// What stands in `::<..>` after the name of a function.
fn turbofish(called: &syn::Expr) -> Option<&syn::AngleBracketedGenericArguments> {
    match strip(called) {
        syn::Expr::Path(path) => match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(given) => Some(given),
            _ => None,
        },
        _ => None,
    }
}

/// The names in an expression, and whether it returns.
#[derive(Default)]
struct Used {
    names: Vec<String>,
    returns: bool,
}

impl<'ast> Visit<'ast> for Used {
    fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
        let name = ident.to_string();
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn visit_expr_return(&mut self, r: &'ast syn::ExprReturn) {
        self.returns = true;
        syn::visit::visit_expr_return(self, r);
    }

    // What an inner closure returns from is itself.
    fn visit_expr_closure(&mut self, inner: &'ast syn::ExprClosure) {
        let returns = self.returns;
        syn::visit::visit_expr_closure(self, inner);
        self.returns = returns;
    }
}
