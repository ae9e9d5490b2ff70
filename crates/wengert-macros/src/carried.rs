//! Definitions of structs that stand elsewhere.
//!
//! A macro sees only its own tokens. So `#[derive(Differentiable)]` makes a macro with the name of the struct, which
//! hands its definition on, and an attribute that finds an unknown type asks the macro of that name: it expands to
//!
//! ```text
//! use geometry::Point as Point_must_be_a_struct_with_derive_Differentiable_for_f;
//! Point_must_be_a_struct_with_derive_Differentiable_for_f! { (..::__with_structs) (function) .. { fn f(..) .. } }
//! ```
//!
//! which expands to `__with_structs! { DEFINITION (function) .. { fn f(..) .. } }`, which asks the next one, or goes on
//! with all that is known. The `use` finds the type and the macro; where there is no such macro, what the compiler says
//! names the way out.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashSet;
use syn::parse::{Parse, ParseStream};
use syn::visit::Visit;
use wengert_core::surface::rust::{Known, is_builtin, written};

/// A definition as macros hand it on: `{ "id" [struct ..] [inner] }`.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) id: String,
    pub(crate) item: syn::ItemStruct,
    pub(crate) inner: Vec<Definition>,
    pub(crate) path: Option<syn::Path>,
}

impl Definition {
    /// It, for the front end.
    pub(crate) fn known(&self) -> Known {
        Known {
            path: self.path.as_ref().map(written).unwrap_or_default(),
            id: self.id.clone(),
            item: self.item.clone(),
            inner: self.inner.iter().map(Definition::known).collect(),
        }
    }
}

impl ToTokens for Definition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Definition { id, item, inner, path } = self;
        tokens.extend(quote! { { #id (#path) [ #item ] [ #(#inner)* ] } });
    }
}

impl Parse for Definition {
    fn parse(input: ParseStream) -> syn::Result<Definition> {
        let braced;
        syn::braced!(braced in input);
        let id = braced.parse::<syn::LitStr>()?.value();
        let (path, item, rest);
        syn::parenthesized!(path in braced);
        let path = if path.is_empty() { None } else { Some(path.parse()?) };
        syn::bracketed!(item in braced);
        let item = item.parse()?;
        syn::bracketed!(rest in braced);
        let inner = definitions(&rest)?;
        Ok(Definition { id, item, inner, path })
    }
}

fn definitions(input: ParseStream) -> syn::Result<Vec<Definition>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        all.push(input.parse()?);
    }
    Ok(all)
}

/// A step of the way: what has been asked, what is known, and what is still to ask.
pub(crate) struct Step {
    pub(crate) purpose: String,
    pub(crate) known: Vec<Definition>,
    pub(crate) options: TokenStream,
    pub(crate) item: TokenStream,
    /// The paths to ask for, each with the name of its macro.
    pending: Vec<(syn::Path, Ident)>,
}

impl Parse for Step {
    fn parse(input: ParseStream) -> syn::Result<Step> {
        let mut answer: Definition = input.parse()?;
        let (purpose, path, known, pending, options, item);
        syn::parenthesized!(purpose in input);
        let purpose = purpose.parse::<Ident>()?.to_string();
        syn::parenthesized!(path in input);
        answer.path = Some(path.parse()?);
        syn::bracketed!(known in input);
        let mut known = definitions(&known)?;
        known.push(answer);
        syn::bracketed!(pending in input);
        let mut asked = Vec::new();
        while !pending.is_empty() {
            let one;
            syn::parenthesized!(one in pending);
            asked.push((one.parse()?, pending.parse()?));
        }
        syn::parenthesized!(options in input);
        let options = options.parse()?;
        syn::braced!(item in input);
        let item = item.parse()?;
        Ok(Step { purpose, known, options, item, pending: asked })
    }
}

impl Step {
    /// Asks for the next definition; nothing where all are known.
    pub(crate) fn next(&self) -> Option<TokenStream> {
        let Step { purpose, known, options, item, pending } = self;
        let (first, rest) = pending.split_first()?;
        Some(ask(purpose, first, known, rest, options, item))
    }
}

/// Asks for definitions, and for what is to be made of them.
pub(crate) fn asked(
    purpose: &str,
    of: &str,
    paths: &[syn::Path],
    options: &TokenStream,
    item: &TokenStream,
) -> TokenStream {
    let mut named: Vec<(syn::Path, Ident)> = Vec::new();
    for path in paths {
        let (name, span) = match path.segments.last() {
            Some(last) => (last.ident.to_string(), last.ident.span()),
            None => (String::new(), proc_macro2::Span::call_site()),
        };
        let name = format!("{name}_must_be_a_struct_with_derive_Differentiable_for_{of}");
        let mut free = name.clone();
        while named.iter().any(|(_, other)| *other == free) {
            free.push('_');
        }
        named.push((path.clone(), Ident::new(&free, span)));
    }
    let uses = named.iter().map(|(path, name)| quote! { #[allow(unused_imports, non_camel_case_types)] use #path as #name; });
    let first =
        named.split_first().map(|(first, rest)| ask(purpose, first, &[], rest, options, item));
    quote! { #(#uses)* #first }
}

fn ask(
    purpose: &str,
    (path, name): &(syn::Path, Ident),
    known: &[Definition],
    pending: &[(syn::Path, Ident)],
    options: &TokenStream,
    item: &TokenStream,
) -> TokenStream {
    let purpose = Ident::new(purpose, proc_macro2::Span::call_site());
    let pending = pending.iter().map(|(path, name)| quote! { (#path) #name });
    quote! {
        #name! { (::wengert::__private::__with_structs) (#purpose) (#path) [ #(#known)* ] [ #(#pending)* ] (#options) { #item } }
    }
}

/// The types that items name and that stand elsewhere.
pub(crate) fn named_by(items: &[syn::Item]) -> Vec<syn::Path> {
    let mut names = Names::of(items);
    for item in items {
        match item {
            syn::Item::Fn(f) if !for_tests(&f.attrs) => names.visit_item_fn(f),
            syn::Item::Impl(block) if block.trait_.is_none() => names.visit_item_impl(block),
            _ => {}
        }
    }
    names.followed()
}

/// The types that the fields of a struct name and that stand elsewhere.
pub(crate) fn named_by_fields(item: &syn::ItemStruct) -> Vec<syn::Path> {
    let mut names = Names::of(&[]);
    names.local.insert(item.ident.to_string());
    names.visit_fields(&item.fields);
    names.followed()
}

fn for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("test"))
}

/// The names of types.
struct Names<'a> {
    structs: Vec<&'a syn::ItemStruct>,
    aliases: Vec<&'a syn::ItemType>,
    /// What is defined here.
    local: HashSet<String>,
    seen: HashSet<String>,
    found: Vec<syn::Path>,
    /// Structs and aliases of here that were named.
    named: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(items: &'a [syn::Item]) -> Names<'a> {
        let mut local = Local::default();
        items.iter().for_each(|item| local.visit_item(item));
        let structs = items.iter().filter_map(|item| match item {
            syn::Item::Struct(s) => Some(s),
            _ => None,
        });
        let aliases = items.iter().filter_map(|item| match item {
            syn::Item::Type(t) => Some(t),
            _ => None,
        });
        Names {
            structs: structs.collect(),
            aliases: aliases.collect(),
            local: local.0,
            seen: HashSet::new(),
            found: Vec::new(),
            named: Vec::new(),
        }
    }

    /// What was found, and what the structs of here that were named refer to.
    fn followed(mut self) -> Vec<syn::Path> {
        while let Some(name) = self.named.pop() {
            let item = self.structs.iter().find(|s| s.ident == name).copied();
            if let Some(item) = item {
                self.visit_fields(&item.fields);
            }
            let alias = self.aliases.iter().find(|t| t.ident == name).copied();
            if let Some(alias) = alias {
                self.visit_type(&alias.ty);
            }
        }
        self.found
    }

    fn path(&mut self, path: &syn::Path) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let generic = path.segments.iter().any(|s| !s.arguments.is_none());
        let first = path.segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
        if !self.seen.insert(written(path)) {
            return;
        }
        if path.segments.len() == 1 && self.local.contains(&name) {
            self.named.push(name);
        } else if !generic && !is_builtin(&name) && first != "Self" {
            self.found.push(path.clone());
        }
    }

    /// What is made or taken apart: variants of enums are left to the front end.
    fn made(&mut self, path: &syn::Path) {
        let capital = |s: &syn::PathSegment| s.ident.to_string().starts_with(char::is_uppercase);
        let mut last = path.segments.iter().rev();
        let known = ["Some", "Ok", "Err", "None"];
        let named = last.next().is_some_and(|s| capital(s) && !known.iter().any(|k| s.ident == k));
        if named && !last.next().is_some_and(capital) {
            self.path(path);
        }
    }
}

impl Visit<'_> for Names<'_> {
    fn visit_type_path(&mut self, ty: &syn::TypePath) {
        if ty.qself.is_none() {
            self.path(&ty.path);
        }
        syn::visit::visit_type_path(self, ty);
    }

    fn visit_expr_struct(&mut self, e: &syn::ExprStruct) {
        self.made(&e.path);
        syn::visit::visit_expr_struct(self, e);
    }

    fn visit_expr_call(&mut self, e: &syn::ExprCall) {
        if let syn::Expr::Path(path) = &*e.func {
            self.made(&path.path);
        }
        syn::visit::visit_expr_call(self, e);
    }

    fn visit_pat_struct(&mut self, p: &syn::PatStruct) {
        self.made(&p.path);
        syn::visit::visit_pat_struct(self, p);
    }

    fn visit_pat_tuple_struct(&mut self, p: &syn::PatTupleStruct) {
        self.made(&p.path);
        syn::visit::visit_pat_tuple_struct(self, p);
    }
}

/// What is defined, anywhere in items.
#[derive(Default)]
struct Local(HashSet<String>);

impl Visit<'_> for Local {
    fn visit_item(&mut self, item: &syn::Item) {
        let name = match item {
            syn::Item::Struct(i) => Some(&i.ident),
            syn::Item::Enum(i) => Some(&i.ident),
            syn::Item::Union(i) => Some(&i.ident),
            syn::Item::Type(i) => Some(&i.ident),
            _ => None,
        };
        self.0.extend(name.map(ToString::to_string));
        syn::visit::visit_item(self, item);
    }

    fn visit_type_param(&mut self, param: &syn::TypeParam) {
        self.0.insert(param.ident.to_string());
    }
}
