//! Methods and associated functions of structs: `impl Point { ... }`.
//!
//! They are functions of the tree like any other, named `Point::length`; `self` is their first parameter.

use super::call::Callee;
use super::item::Source;
use super::scope::Entry;
use super::structs::{RustStruct, shared};
use super::types::{Mode, as_type};
use super::value::{Ty, Val};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::names::nearest;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// What stands in the `impl`s of structs, by the struct and the name.
#[derive(Default)]
pub(super) struct Methods<'a> {
    functions: HashMap<(Arc<RustStruct>, String), Rc<Callee>>,
    constants: HashMap<(Arc<RustStruct>, String), (&'a syn::Type, &'a syn::Expr)>,
}

/// What of a struct is called.
pub(super) enum Associated {
    Constructor(Arc<RustStruct>),
    Function(Rc<Callee>),
}

impl<'a> Converter<'a> {
    /// Names what stands in an `impl`.
    pub(super) fn declare_impl(
        &mut self,
        block: &'a syn::ItemImpl,
        outside: bool,
        errors: &mut Vec<Diagnostic>,
    ) {
        let owner = match self.owner_of(block) {
            Ok(Some(owner)) => owner,
            Ok(None) => return,
            Err(error) => return errors.push(error),
        };
        let around = self.owner.replace(owner.clone());
        for item in &block.items {
            let declared = match item {
                syn::ImplItem::Const(c) => {
                    let key = (owner.clone(), c.ident.to_string());
                    self.methods.constants.insert(key, (&c.ty, &c.expr));
                    Ok(())
                }
                syn::ImplItem::Fn(f) if super::item::for_tests(&f.attrs) => Ok(()),
                syn::ImplItem::Fn(f) => self.declare_method(f, &owner, outside),
                other => {
                    let at = self.at(other);
                    Err(no::OTHER_ITEM.at(at))
                }
            };
            errors.extend(declared.err());
        }
        self.owner = around;
    }

    /// The struct that an `impl` is of; nothing for a trait's, which is left alone.
    fn owner_of(&mut self, block: &'a syn::ItemImpl) -> Made<Option<Arc<RustStruct>>> {
        if block.trait_.is_some() {
            return Ok(None);
        }
        if let Some(p) =
            block.generics.params.iter().find(|p| !matches!(p, syn::GenericParam::Lifetime(_)))
        {
            let at = self.at(p);
            return Err(no::GENERICS.at(at));
        }
        let at = self.at(&*block.self_ty);
        let found = match &*block.self_ty {
            syn::Type::Path(path) if path.qself.is_none() => self.struct_of(&path.path, at)?,
            _ => None,
        };
        found.map(Some).ok_or_else(|| as_type(no::IMPL.at(at)))
    }

    fn declare_method(
        &mut self,
        f: &'a syn::ImplItemFn,
        owner: &Arc<RustStruct>,
        outside: bool,
    ) -> Made<()> {
        let mut signature = self.signature(&f.attrs, &f.sig)?;
        let name = signature.name;
        let wanted = format!("{}::{name}", owner.name);
        signature.name = if outside {
            self.taken.insert(wanted.clone());
            wanted
        } else {
            self.fresh(&wanted)
        };
        signature.owner = Some(owner.clone());
        let callee = Callee::of(signature.name.clone(), &f.sig, signature);
        if outside {
            self.signatures.push(callee.signature.clone());
        }
        let (key, at) = ((owner.clone(), name), callee.signature.span);
        match self.methods.functions.insert(key, Rc::new(callee)) {
            Some(first) => {
                let message = format!("`{}` is defined twice", first.signature.name);
                Err(Diagnostic::new("duplicate-definition", message)
                    .label(at, "defined again here")
                    .label(first.signature.span, "first defined here")
                    .help("remove one of them, or give it another name"))
            }
            None => Ok(()),
        }
    }

    /// The functions of an `impl` that have been declared.
    pub(super) fn methods_of(&mut self, block: &'a syn::ItemImpl) -> Vec<(Source<'a>, Rc<Callee>)> {
        let Ok(Some(owner)) = self.owner_of(block) else { return Vec::new() };
        let functions = block.items.iter().filter_map(|item| match item {
            syn::ImplItem::Fn(f) => Some(f),
            _ => None,
        });
        functions
            .filter_map(|f| {
                let key = (owner.clone(), f.sig.ident.to_string());
                let callee = self.methods.functions.get(&key)?;
                Some((Source::Method(f), callee.clone()))
            })
            .collect()
    }

    /// What a path refers to that is called, where it is of a struct.
    pub(super) fn of_struct(&mut self, path: &syn::Path, at: Span) -> Made<Option<Associated>> {
        let name = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if let Some(owner) = self.owner_in(path, at)? {
            return match self.function_of(&owner, &name) {
                Some(callee) => Ok(Some(Associated::Function(callee))),
                None => Err(self.unknown_of(&owner, &name, at)),
            };
        }
        let other = path.segments.len() == 1
            && matches!(self.scopes.get(&name), Some(Entry::Function(_) | Entry::Variable(_)));
        if other || name.starts_with(char::is_lowercase) {
            return Ok(None);
        }
        Ok(self.struct_of(path, at)?.map(Associated::Constructor))
    }

    /// The error for a function that the struct has not.
    fn unknown_of(&self, of: &Arc<RustStruct>, name: &str, at: Span) -> Diagnostic {
        let known = self.methods.functions.keys().filter(|(owner, _)| owner == of);
        let near = nearest(name, known.map(|(_, name)| name.as_str()));
        let message = format!("`{}` has no method `{name}` that is known here", of.name);
        let error = Diagnostic::new("undefined-function", message).label(at, "called here");
        match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(
                "put the `impl` that has it, the struct and this function into one module, with the attribute before it: `#[differentiable] mod m { ... }`",
            ),
        }
    }

    /// A function of a struct.
    pub(super) fn function_of(&self, owner: &Arc<RustStruct>, name: &str) -> Option<Rc<Callee>> {
        self.methods.functions.get(&(owner.clone(), name.to_owned())).cloned()
    }

    /// The constant of a struct that a path refers to.
    pub(super) fn constant_of(&mut self, path: &syn::Path, span: Span) -> Made<Option<Val<'a>>> {
        let Some(owner) = self.owner_in(path, span)? else { return Ok(None) };
        let name = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let Some((ty, value)) = self.methods.constants.get(&(owner.clone(), name.clone())).copied()
        else {
            return Ok(None);
        };
        let around = self.owner.replace(owner.clone());
        let made = self.constant_value(&format!("{}::{name}", owner.name), ty, value, span);
        self.owner = around;
        made.map(Some)
    }

    /// The struct before the last word of a path.
    pub(super) fn owner_in(
        &mut self,
        path: &syn::Path,
        span: Span,
    ) -> Made<Option<Arc<RustStruct>>> {
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        if owner.segments.is_empty() {
            return Ok(None);
        }
        self.struct_of(&owner, span)
    }

    /// `value.method(...)` of a struct.
    pub(super) fn struct_method(
        &mut self,
        def: &Arc<RustStruct>,
        method: &'a syn::ExprMethodCall,
        evaluated: Option<Val<'a>>,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let name = method.method.to_string();
        let (at_name, at_receiver) = (self.at(&method.method), self.at(&*method.receiver));
        let Some(callee) = self.function_of(def, &name) else {
            if let ("clone", true) = (name.as_str(), method.args.is_empty()) {
                let val = match evaluated {
                    Some(val) => val,
                    None => self.expr(&method.receiver, None)?,
                };
                return Ok(self.cloned(val, at));
            }
            return Err(self.unknown_of(def, &name, at_name));
        };
        let mode = callee.signature.params.first().map(|p| (p.name == "self", p.mode));
        let receiver = match (mode, evaluated) {
            (Some((true, Mode::RefMut)), Some(val)) => {
                let held = self.held("t", val, 0, at_receiver)?;
                self.mutable_reference(held, at_receiver)?
            }
            (Some((true, Mode::RefMut)), None) => self.reference_mut(&method.receiver, None)?,
            (Some((true, Mode::Ref)), Some(val)) => shared(val),
            (Some((true, Mode::Ref)), None) => shared(self.expr(&method.receiver, None)?),
            (Some((true, Mode::Value)), Some(val)) => val,
            (Some((true, Mode::Value)), None) => self.expr(&method.receiver, None)?,
            _ => {
                let message = format!("`{}` has no `self`", callee.signature.name);
                return Err(Diagnostic::new("type", message)
                    .label(at_name, "called as a method here")
                    .help(format!("call it by its path: `{}(...)`", callee.signature.name)));
            }
        };
        let args: Vec<&'a syn::Expr> = method.args.iter().collect();
        let lengths = self.turbofish_of(&callee, method.turbofish.as_ref())?;
        let receiver = Some((receiver, at_receiver));
        self.call_with(&callee, receiver, &args, lengths, want, (at_name, at))
    }

    /// Whether a method call is one of a struct, as far as that is evident before it is evaluated.
    pub(super) fn struct_before(&self, receiver: &syn::Expr) -> Option<Arc<RustStruct>> {
        match self.peek(receiver) {
            Some(Ty::Struct(def)) => Some(def),
            _ => None,
        }
    }
}
