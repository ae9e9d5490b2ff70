//! `#[derive(Differentiable)]`: how printed programs get at the numbers and arrays of a struct, and a macro that
//! carries its definition to where the struct is used.

use crate::carried::{self, Definition};
use crate::errors;
use crate::types::owned;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use wengert_core::surface::rust::{Known, RustStruct, RustType, Spans, structure};

/// What the derive makes: at once, or by way of the definitions of the structs in it.
pub(crate) fn derived(item: TokenStream) -> Result<TokenStream, Vec<syn::Error>> {
    let item: syn::Item = syn::parse2(item).map_err(|e| vec![e])?;
    let syn::Item::Struct(item) = item else {
        let name = match &item {
            syn::Item::Enum(e) => &e.ident,
            syn::Item::Union(u) => &u.ident,
            other => return Err(vec![syn::Error::new_spanned(other, "a struct stands here")]),
        };
        let message = "only structs have derivatives\nhelp: use a struct with an integer in it, and `match` on that";
        return Err(vec![syn::Error::new_spanned(name, message)]);
    };
    let plain = plain(item);
    let needed = carried::named_by_fields(&plain);
    if needed.is_empty() {
        return with_definitions(&plain, Vec::new(), &[]);
    }
    let name = plain.ident.to_string();
    Ok(carried::asked("derive", &name, &needed, &TokenStream::new(), &quote! { #plain }))
}

/// The derive, when the definitions of the structs in it are known.
pub(crate) fn with_definitions(
    item: &syn::ItemStruct,
    inner: Vec<Definition>,
    known: &[Known],
) -> Result<TokenStream, Vec<syn::Error>> {
    let mut spans = Spans::table();
    let def = structure(item, known, &mut spans)
        .map_err(|d| vec![errors::error(&d, &spans, item.ident.span())])?;
    let implementation = implementation(&def);
    let carrier = carrier(item, inner);
    Ok(quote! { #implementation #carrier })
}

/// Whether a struct derives what printed programs need.
pub(crate) fn is_derived(item: &syn::ItemStruct) -> bool {
    item.attrs.iter().filter(|a| a.path().is_ident("derive")).any(|a| {
        let mut found = false;
        let parsed = a.parse_nested_meta(|meta| {
            found |= meta.path.segments.last().is_some_and(|s| s.ident == "Differentiable");
            Ok(())
        });
        parsed.is_ok() && found
    })
}

/// The definition without what is of no use elsewhere.
fn plain(mut item: syn::ItemStruct) -> syn::ItemStruct {
    item.attrs.clear();
    for field in &mut item.fields {
        field.attrs.retain(|a| a.path().is_ident("nondiff") || a.path().is_ident("cfg"));
    }
    item
}

/// The macro that carries a definition, under the name of the struct.
fn carrier(item: &syn::ItemStruct, inner: Vec<Definition>) -> TokenStream {
    // Macros of a crate share one place for their names.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut hasher = DefaultHasher::new();
    let start = item.ident.span().start();
    (quote! { #item }.to_string(), item.ident.span().file(), start.line, start.column)
        .hash(&mut hasher);
    let (hash, count) = (hasher.finish(), COUNT.fetch_add(1, Ordering::Relaxed));
    let (name, vis) = (&item.ident, &item.vis);
    let carrier = format_ident!("__wengert_{name}_{hash:016x}_{count}", span = Span::call_site());
    let public = matches!(vis, syn::Visibility::Public(_));
    let export = public.then(|| quote! { #[macro_export] });
    let definition = Definition { id: carrier.to_string(), item: item.clone(), inner, path: None };
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros)]
        #export
        macro_rules! #carrier {
            (($($then:tt)*) $($rest:tt)*) => { $($then)* ! { #definition $($rest)* } };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #vis use #carrier as #name;
    }
}

/// What gets at the numbers and arrays of a struct, where its fields can be named.
pub(crate) fn implementation(def: &RustStruct) -> TokenStream {
    let name = Ident::new(&def.name, Span::call_site());
    let types = |leaf: &dyn Fn(&RustType) -> String| parse(&tuple_of(def, leaf));
    let leaves = types(&|ty| owned(ty));
    let shared = types(&|ty| format!("&'a {}", owned(ty)));
    let mutable = types(&|ty| format!("&'a mut {}", owned(ty)));
    let fields = def.fields.iter().enumerate();
    let made: String = fields
        .map(|(k, f)| format!("{}: {},", f.name, of(&f.ty, &format!("leaves.{k}"))))
        .collect();
    let copied: String = (def.fields.iter())
        .map(|f| format!("{}: {},", f.name, copy(&f.ty, &format!("self.{}", f.name))))
        .collect();
    let each = |mark: &str, method: &str| {
        let all = def.fields.iter();
        let all = all.map(|f| reached(&f.ty, &format!("self.{}", f.name), mark, method) + ",");
        parse(&format!("({})", all.collect::<String>()))
    };
    let (made, copied) = (parse(&made), parse(&copied));
    let (read, write) = (each("&", "__shared"), each("&mut ", "__mutable"));
    quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl ::wengert::Differentiable for #name {
            type Leaves = #leaves;
            type Shared<'a> = #shared;
            type Mutable<'a> = #mutable;
            fn __of(leaves: Self::Leaves) -> Self { #name { #made } }
            #[inline]
            fn __shared(&self) -> Self::Shared<'_> { #read }
            #[inline]
            fn __mutable(&mut self) -> Self::Mutable<'_> { #write }
            fn __copy(&self) -> Self { #name { #copied } }
        }
    }
}

/// The type of the leaves of a struct.
fn tuple_of(def: &RustStruct, leaf: &dyn Fn(&RustType) -> String) -> String {
    let all: String = def.fields.iter().map(|f| tuple_type(&f.ty, leaf) + ",").collect();
    format!("({all})")
}

fn tuple_type(ty: &RustType, leaf: &dyn Fn(&RustType) -> String) -> String {
    match ty {
        RustType::Struct(def) => tuple_of(def, leaf),
        RustType::Tuple(all) => {
            let all: String = all.iter().map(|ty| tuple_type(ty, leaf) + ",").collect();
            format!("({all})")
        }
        RustType::Unit => "()".into(),
        ty => leaf(ty),
    }
}

/// A field out of its leaves.
fn of(ty: &RustType, place: &str) -> String {
    match ty {
        RustType::Struct(_) => format!("::wengert::Differentiable::__of({place})"),
        RustType::Tuple(all) => elements(all, place, &|ty, place| of(ty, place)),
        RustType::Unit => "()".into(),
        _ => place.to_owned(),
    }
}

/// A copy of a value that may have no `Clone`.
pub(crate) fn copy(ty: &RustType, place: &str) -> String {
    match ty {
        RustType::Struct(_) => format!("::wengert::Differentiable::__copy(&{place})"),
        RustType::Tuple(all) => elements(all, place, &|ty, place| copy(ty, place)),
        RustType::Structs(array) => {
            let copies = format!("::wengert::__private::structs::copies(&{place}[..])");
            match &array.like {
                RustType::Array(..) => {
                    format!("{place}.each_ref().map(|s| ::wengert::Differentiable::__copy(s))")
                }
                _ => copies,
            }
        }
        RustType::Unit => "()".into(),
        _ => format!("::std::clone::Clone::clone(&{place})"),
    }
}

/// References to the leaves of a field.
fn reached(ty: &RustType, place: &str, mark: &str, method: &str) -> String {
    match ty {
        RustType::Struct(_) => format!("::wengert::Differentiable::{method}({mark}{place})"),
        RustType::Tuple(all) => elements(all, place, &|ty, place| reached(ty, place, mark, method)),
        RustType::Unit => "()".into(),
        _ => format!("{mark}{place}"),
    }
}

fn elements(all: &[RustType], place: &str, each: &dyn Fn(&RustType, &str) -> String) -> String {
    let all = all.iter().enumerate();
    let all: String = all.map(|(k, ty)| each(ty, &format!("{place}.{k}")) + ",").collect();
    format!("({all})")
}

fn parse(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|_| quote! { compile_error!("please report this") })
}
