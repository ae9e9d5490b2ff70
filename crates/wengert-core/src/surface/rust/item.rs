//! Items: functions and constants, of the text and inside functions.

use super::call::Callee;
use super::nesting;
use super::scope::Entry;
use super::structs::RustStruct;
use super::types::{Mode, RustType, Signature, SignatureParam};
use super::value::{How, Leaf, Place, Ty, Val, call, named};
use super::{Converter, Made, Parsed, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    Annotation, Expr, ExprKind, Function, Module, Name, Param, StmtKind, Target,
};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The function being converted.
#[derive(Debug, Default)]
pub(super) struct Current {
    /// The type of its result.
    pub(super) result: Option<Ty>,
    /// The variables of the tree that hold what it gives back through `&mut`.
    pub(super) written: Vec<(String, Span)>,
    /// The variables that hold its array parameters.
    pub(super) given: Vec<String>,
    /// The constant arrays made at its beginning.
    pub(super) constants: HashMap<String, String>,
}

/// Where a function stands.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Function(&'a syn::ItemFn),
    Method(&'a syn::ImplItemFn),
}

impl<'a> Source<'a> {
    fn parts(self) -> (&'a syn::Signature, &'a syn::Block) {
        match self {
            Source::Function(f) => (&f.sig, &f.block),
            Source::Method(f) => (&f.sig, &f.block),
        }
    }
}

/// How often a function is converted again because more is known of its variables.
const MAX_ROUNDS: usize = 8;

impl<'a> Converter<'a> {
    /// All items of a text.
    pub(super) fn file(mut self, items: &'a [syn::Item]) -> Result<Parsed, Vec<Diagnostic>> {
        let (mut errors, mut bodies) = (Vec::new(), Vec::new());
        self.scopes.enter();
        self.declare(items.iter(), true, &mut errors);
        for item in items {
            for (source, callee) in self.functions_of(item) {
                bodies.extend(self.function(source, &callee).err());
            }
        }
        // Where an item has been refused, what misses it is not another mistake.
        let missing =
            |d: &Diagnostic| d.code.starts_with("undefined-") || d.message == no::MACRO.message;
        let refused = !errors.is_empty();
        errors.extend(bodies.into_iter().filter(|d| !(refused && missing(d))));
        errors.sort_by_key(|d| d.labels.first().map(|(span, _)| span.start));
        if !errors.is_empty() {
            return Err(errors);
        }
        let structs = items.iter().filter_map(|item| match item {
            syn::Item::Struct(s) => self.struct_at(&s.ident.clone().into()).ok(),
            _ => None,
        });
        let structs = structs.collect();
        let module = Module { functions: self.functions, ..Module::default() };
        let outside = self.outside.unwrap_or_default();
        Ok(Parsed { module, signatures: self.signatures, outside, structs })
    }

    /// The struct alone.
    pub(super) fn structure(mut self, item: &'a syn::ItemStruct) -> Made<Arc<RustStruct>> {
        self.scopes.enter();
        let name = item.ident.to_string();
        self.scopes.set(&name, Entry::Struct(item));
        self.struct_at(&item.ident.clone().into())
    }

    /// The functions of an item, once they are declared.
    pub(super) fn functions_of(&mut self, item: &'a syn::Item) -> Vec<(Source<'a>, Rc<Callee>)> {
        match item {
            syn::Item::Fn(f) if !for_tests(&f.attrs) => {
                match self.scopes.get(&f.sig.ident.to_string()) {
                    Some(Entry::Function(callee)) => vec![(Source::Function(f), callee.clone())],
                    _ => Vec::new(),
                }
            }
            syn::Item::Impl(block) => self.methods_of(block),
            _ => Vec::new(),
        }
    }

    /// Names the items of a text or a block.
    pub(super) fn declare(
        &mut self,
        items: impl Iterator<Item = &'a syn::Item> + Clone,
        outside: bool,
        errors: &mut Vec<Diagnostic>,
    ) {
        let mut seen: HashMap<String, Span> = HashMap::default();
        for item in items.clone() {
            let (ident, entry) = match item {
                syn::Item::Const(c) => (&c.ident, Entry::Constant(&c.ty, &c.expr)),
                syn::Item::Static(s) if matches!(s.mutability, syn::StaticMutability::None) => {
                    (&s.ident, Entry::Constant(&s.ty, &s.expr))
                }
                syn::Item::Type(t) => (&t.ident, Entry::Type(&t.ty)),
                syn::Item::Struct(s) => (&s.ident, Entry::Struct(s)),
                _ => continue,
            };
            self.scopes.set(&ident.to_string(), entry);
            errors.extend(self.declared_once(&mut seen, ident).err());
        }
        self.resolve_structs(items.clone());
        for item in items {
            let refused = match item {
                syn::Item::Fn(f) if for_tests(&f.attrs) => continue,
                syn::Item::Fn(f) => {
                    match self.declare_function(f, outside) {
                        Ok(()) => errors.extend(self.declared_once(&mut seen, &f.sig.ident).err()),
                        Err(error) => errors.push(error),
                    }
                    continue;
                }
                syn::Item::Const(_) | syn::Item::Type(_) | syn::Item::Use(_) => continue,
                syn::Item::Static(s) if matches!(s.mutability, syn::StaticMutability::None) => {
                    continue;
                }
                syn::Item::Mod(m) if for_tests(&m.attrs) => continue,
                syn::Item::Static(_) => no::STATIC_MUT,
                // One that programs cannot have may stand here, as long as no function uses it.
                syn::Item::Struct(_) => continue,
                syn::Item::Enum(_) => no::ENUM,
                syn::Item::Union(_) => no::UNION,
                syn::Item::Impl(block) => {
                    self.declare_impl(block, outside, errors);
                    continue;
                }
                syn::Item::Trait(_) | syn::Item::TraitAlias(_) => no::TRAIT,
                syn::Item::Mod(_) => no::MOD,
                syn::Item::Macro(_) => no::MACRO_ITEM,
                syn::Item::ForeignMod(_) | syn::Item::ExternCrate(_) => no::FOREIGN,
                _ => no::OTHER_ITEM,
            };
            let at = self.item_head(item);
            errors.push(refused.at(at));
        }
    }

    /// Where an item begins: its name, where it has one.
    fn item_head(&mut self, item: &syn::Item) -> Span {
        match item {
            syn::Item::Enum(i) => self.at(&i.ident),
            syn::Item::Union(i) => self.at(&i.ident),
            syn::Item::Trait(i) => self.at(&i.ident),
            syn::Item::Mod(i) => self.at(&i.ident),
            syn::Item::Static(i) => self.at(&i.ident),
            other => self.at(other),
        }
    }

    fn declared_once(&mut self, seen: &mut HashMap<String, Span>, ident: &syn::Ident) -> Made<()> {
        let at = self.at(ident);
        match seen.insert(ident.to_string(), at) {
            Some(first) => {
                Err(Diagnostic::new("duplicate-definition", format!("`{ident}` is defined twice"))
                    .label(at, "defined again here")
                    .label(first, "first defined here")
                    .help("remove one of them, or give it another name"))
            }
            None => Ok(()),
        }
    }

    fn declare_function(&mut self, f: &'a syn::ItemFn, outside: bool) -> Made<()> {
        let signature = self.signature(&f.attrs, &f.sig)?;
        let name = if outside {
            self.taken.insert(signature.name.clone());
            signature.name.clone()
        } else {
            self.fresh(&signature.name)
        };
        let callee = Callee::of(name, &f.sig, signature);
        if outside {
            self.signatures.push(callee.signature.clone());
        }
        self.scopes.set(&f.sig.ident.to_string(), Entry::Function(Rc::new(callee)));
        Ok(())
    }

    /// The types of a function.
    pub(super) fn signature(
        &mut self,
        attrs: &'a [syn::Attribute],
        sig: &'a syn::Signature,
    ) -> Made<Signature> {
        let refused = [
            (sig.asyncness.is_some(), no::ASYNC),
            (sig.unsafety.is_some(), no::UNSAFE),
            (sig.variadic.is_some(), no::VARIADIC),
            (sig.abi.is_some(), no::EXTERN),
        ];
        for (found, construct) in refused {
            if found {
                let at = self.at(&sig.ident);
                return Err(construct.at(at));
            }
        }
        let constants = self.constant_parameters(&sig.generics)?;
        let names = constants.iter().map(|p| (p.name.clone(), p.name.clone()));
        let around = std::mem::replace(&mut self.constants, names.collect());
        let signature = self.signature_with(constants, attrs, sig);
        self.constants = around;
        signature
    }

    fn signature_with(
        &mut self,
        constants: Vec<SignatureParam>,
        attrs: &'a [syn::Attribute],
        sig: &'a syn::Signature,
    ) -> Made<Signature> {
        self.attributes(attrs)?;
        let mut params = Vec::new();
        for (k, input) in sig.inputs.iter().enumerate() {
            let typed = match input {
                syn::FnArg::Typed(typed) => typed,
                syn::FnArg::Receiver(receiver) => {
                    params.push(self.receiver(receiver)?);
                    continue;
                }
            };
            let (ty, mode) = self.passed_type(&typed.ty)?;
            let at = self.at(&typed.ty);
            self.no_ragged_rows(&ty, at)?;
            let name = match &*typed.pat {
                syn::Pat::Ident(ident) => ident.ident.to_string(),
                _ => format!("parameter_{k}"),
            };
            let mark = typed.attrs.iter().find(|a| a.path().is_ident("nondiff"));
            let nondiff = mark.is_some();
            if let Some(attr) = mark.filter(|a| a.meta.require_path_only().is_err()) {
                let at = self.at(attr);
                return Err(no::NONDIFF_OPTIONS.at(at));
            }
            let span = self.at(&typed.pat);
            params.push(SignatureParam { name, span, ty, mode, nondiff, constant: false });
        }
        params.extend(constants);
        let result = match &sig.output {
            syn::ReturnType::Default => RustType::Unit,
            syn::ReturnType::Type(_, ty) => {
                let (result, mode) = self.passed_type(ty)?;
                let at = self.at(ty);
                if mode != Mode::Value {
                    return Err(no::REFERENCE_RESULT.at(at));
                }
                self.no_ragged_rows(&result, at)?;
                result
            }
        };
        let (name, span) = (sig.ident.to_string(), self.at(&sig.ident));
        Ok(Signature { name, span, params, result, owner: None })
    }

    /// `self`.
    fn receiver(&mut self, receiver: &'a syn::Receiver) -> Made<SignatureParam> {
        let span = self.at(receiver);
        if self.owner.is_none() {
            return Err(no::SELF.at(span));
        }
        let (ty, mode) = self.passed_type(&receiver.ty)?;
        let nondiff = receiver.attrs.iter().any(|a| a.path().is_ident("nondiff"));
        Ok(SignatureParam { name: "self".into(), span, ty, mode, nondiff, constant: false })
    }

    /// Attributes that change nothing about what a function computes.
    fn attributes(&mut self, attrs: &[syn::Attribute]) -> Made<()> {
        const HARMLESS: &[&str] = &[
            "doc",
            "inline",
            "allow",
            "expect",
            "warn",
            "deny",
            "must_use",
            "differentiable",
            "rustfmt",
            "clippy",
            "cold",
            "track_caller",
            "deprecated",
        ];
        for attr in attrs {
            let word = attr.path().segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            let first =
                attr.path().segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
            if word == "nondiff" {
                let at = self.at(attr);
                return Err(no::NONDIFF_PLACE.at(at));
            }
            if !HARMLESS.contains(&word.as_str()) && !HARMLESS.contains(&first.as_str()) {
                let at = self.at(attr);
                return Err(no::ATTRIBUTE.at(at));
            }
        }
        Ok(())
    }

    /// Converts a function that has been declared.
    pub(super) fn function(&mut self, f: Source<'a>, callee: &Callee) -> Made<()> {
        let owner = std::mem::replace(&mut self.owner, callee.signature.owner.clone());
        let constants = std::mem::take(&mut self.constants);
        let scopes = self.scopes.clone();
        let around = std::mem::take(&mut self.around);
        let blocks = std::mem::take(&mut self.blocks);
        let prologue = std::mem::take(&mut self.prologue);
        let current = self.current.take();
        let (taken, made_before) = (self.taken.clone(), self.functions.len());
        let learned = std::mem::replace(&mut self.learned, false);
        let mut result = Ok(());
        for _ in 0..MAX_ROUNDS {
            self.learned = false;
            self.scopes = scopes.items();
            self.taken = taken.clone();
            self.functions.truncate(made_before);
            self.prologue.clear();
            self.blocks.clear();
            self.around.clear();
            let depth = self.depth;
            result = self.function_once(f, callee);
            self.depth = depth;
            if !self.learned {
                break;
            }
        }
        // Names of inner functions stay taken.
        let inner = self.functions[made_before..].iter().map(|f| f.name.text.clone());
        self.taken = taken.into_iter().chain(inner).collect();
        (self.scopes, self.around, self.blocks) = (scopes, around, blocks);
        (self.prologue, self.current) = (prologue, current);
        (self.learned, self.owner, self.constants) = (learned, owner, constants);
        result
    }

    fn function_once(&mut self, f: Source<'a>, callee: &Callee) -> Made<()> {
        let span = match f {
            Source::Function(f) => self.at(f),
            Source::Method(f) => self.at(f),
        };
        let (sig, block) = f.parts();
        let name = Name { text: callee.name.clone(), span: callee.signature.span };
        self.scopes.enter();
        self.current = Some(Current::default());
        let mut params = Vec::new();
        let (mut stmts, ()) = self.inside(|c| {
            c.bind_parameters(sig, callee, &mut params)?;
            let result = callee.signature.result.ty();
            if let Some(current) = &mut c.current {
                current.result = Some(result.clone());
            }
            let val = c.block(block, Some(&result))?;
            let at = c.tail_span(block);
            if !matches!(val, Val::Never) || !c.has_left() {
                c.give_back(val, at)?;
            }
            Ok(())
        })?;
        self.scopes.leave();
        stmts.splice(0..0, std::mem::take(&mut self.prologue));
        let function = Function { name, params, body: stmts, span };
        if !nesting::fits(&function) {
            return Err(nesting::too_deep(callee.signature.span));
        }
        self.functions.push(function);
        Ok(())
    }

    /// Whether the last statement of the block leaves it.
    pub(super) fn has_left(&self) -> bool {
        let last = self.blocks.last().and_then(|b| b.last());
        last.is_some_and(|s| {
            matches!(s.kind, StmtKind::Return { .. } | StmtKind::Break | StmtKind::Continue)
        })
    }

    fn tail_span(&mut self, block: &syn::Block) -> Span {
        match block.stmts.last() {
            Some(stmt) => self.at(stmt),
            None => self.at(block),
        }
    }

    fn bind_parameters(
        &mut self,
        sig: &'a syn::Signature,
        callee: &Callee,
        params: &mut Vec<Param>,
    ) -> Made<()> {
        // Types of the body refer to them.
        self.constants.clear();
        let mut after = Vec::new();
        for param in callee.signature.params.iter().filter(|p| p.constant) {
            let val = self.parameter(param, &param.name, &param.ty, &mut after);
            for leaf in val.leaves() {
                if let ExprKind::Name(name) = &leaf.e.kind {
                    self.constants.push((param.name.clone(), name.clone()));
                }
            }
            self.scopes.set(&param.name, Entry::Variable(val));
        }
        for (input, param) in sig.inputs.iter().zip(&callee.signature.params) {
            let span = param.span;
            let val = self.parameter(param, &param.name, &param.ty, params);
            let first = params.len();
            for leaf in val.leaves() {
                // Callers in Rust cannot give negative ones; others might.
                if leaf.ty.is_unsigned()
                    && let Some(Place::Name(name)) = self.variable_place(&leaf, span)
                {
                    let checked = natural(leaf.e.clone(), "the argument is negative", span);
                    self.assign(Target::Name(name), checked, span);
                }
                if let (ExprKind::Name(name), true) = (&leaf.e.kind, leaf.ty.is_array())
                    && let Some(current) = &mut self.current
                {
                    current.given.push(name.clone());
                }
            }
            debug_assert!(first <= params.len());
            let mutable = matches!(input, syn::FnArg::Typed(typed)
                if matches!(&*typed.pat, syn::Pat::Ident(i) if i.mutability.is_some()));
            if param.mode == Mode::RefMut {
                for leaf in val.leaves() {
                    let ExprKind::Name(name) = &leaf.e.kind else { continue };
                    let mut name = name.clone();
                    if mutable && leaf.ty.is_array() {
                        // The variable may come to refer to another array.
                        let kept = self.fresh(&name);
                        let target = Target::Name(Name { text: kept.clone(), span });
                        self.assign(target, leaf.e.clone(), span);
                        name = kept;
                    }
                    if let Some(current) = &mut self.current {
                        current.written.push((name, span));
                    }
                }
            }
            let typed = match input {
                syn::FnArg::Typed(typed) => typed,
                syn::FnArg::Receiver(_) => {
                    self.scopes.set("self", Entry::Variable(val));
                    continue;
                }
            };
            match &*typed.pat {
                syn::Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => {
                    self.scopes.set(&ident.ident.to_string(), Entry::Variable(val));
                }
                pattern => self.bind(pattern, val)?,
            }
        }
        params.extend(after);
        Ok(())
    }

    /// A parameter as parameters of the tree.
    fn parameter(
        &mut self,
        param: &SignatureParam,
        wanted: &str,
        ty: &RustType,
        params: &mut Vec<Param>,
    ) -> Val<'a> {
        if let RustType::Tuple(all) = ty {
            let all = all.iter().map(|t| self.parameter(param, wanted, t, params));
            return Val::Tuple(all.collect());
        }
        if let RustType::Struct(def) = ty {
            let mut fields = Vec::new();
            for field in &def.fields {
                let wanted = format!("{wanted}.{}", field.name);
                fields.push(self.parameter(param, &wanted, &field.ty, params));
            }
            return Val::Struct(def.clone(), fields);
        }
        let Some(declared) = ty.declared() else { return Val::Unit };
        let (text, span) = (self.fresh(wanted), param.span);
        let annotation = Some(Annotation { ty: declared, span });
        let name = Name { text: text.clone(), span };
        let lengths = ty.lengths();
        params.push(Param { name: name.clone(), annotation, lengths, default: None, span });
        let how = if param.mode == Mode::Value { How::Place } else { How::Ref };
        if param.mode == Mode::RefMut && ty.rank() == 0 {
            return Val::Alias(Place::Name(name), ty.ty());
        }
        Val::Leaf(Leaf { e: named(&text, span), ty: ty.ty(), how, from: Vec::new() })
    }

    /// Leaves the function with a value.
    pub(super) fn give_back(&mut self, val: Val<'a>, span: Span) -> Made<()> {
        let result = self.current.as_ref().and_then(|c| c.result.clone()).unwrap_or(Ty::Unit);
        let val = if matches!(val, Val::Never) { self.stand_in(&result, span) } else { val };
        let val = self.fitted(val, &result, span)?;
        let mut values = Vec::new();
        for leaf in val.leaves() {
            values.push(self.handed_out(leaf));
        }
        let written = self.current.as_ref().map(|c| c.written.clone()).unwrap_or_default();
        values.extend(written.iter().map(|(name, at)| named(name, *at)));
        self.emit(StmtKind::Return { values }, span);
        Ok(())
    }

    /// A result: nothing that the caller has an array of.
    fn handed_out(&mut self, leaf: Leaf) -> Expr {
        let span = leaf.e.span;
        let own = match &leaf.e.kind {
            ExprKind::Name(name) => {
                let given = self.current.as_ref().is_some_and(|c| c.given.contains(name));
                !given || !leaf.ty.copies()
            }
            _ => false,
        };
        if !leaf.ty.is_array() || leaf.how == How::Fresh || (leaf.how == How::Place && own) {
            return leaf.e;
        }
        call("copy", vec![leaf.e], span)
    }
}

/// An integer that must not be negative.
pub(super) fn natural(e: Expr, message: &str, span: Span) -> Expr {
    if super::constants::known_integer(&e).is_some_and(|k| k >= 0) {
        return e;
    }
    let text = Expr { kind: ExprKind::Text(message.to_owned()), span };
    call("rust.natural", vec![e, text], span)
}

/// Whether an item is there for tests alone.
pub(super) fn for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg")
                && a.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
    })
}
