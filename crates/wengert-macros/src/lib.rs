//! `#[differentiable]` for crate `wengert`, which re-exports it and says how it is used.
//!
//! The attribute is given the tokens of a function. They go the way of every program: surface tree, IR, derivatives
//! ([`expand`]); what comes out is printed as Rust, and functions around it take and give Rust's own types ([`api`],
//! [`types`]). What cannot be differentiated becomes a compile error at its place ([`errors`]).
#![forbid(unsafe_code)]

mod api;
mod errors;
mod expand;
mod options;
mod types;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// Derivatives of a function, or of all functions of a module: see crate `wengert`.
#[proc_macro_attribute]
pub fn differentiable(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let options: TokenStream = options.into();
    let item: TokenStream = item.into();
    expanded(options, item.clone()).unwrap_or_else(|errors| errors::tokens(item, &errors)).into()
}

fn expanded(options: TokenStream, item: TokenStream) -> Result<TokenStream, Vec<syn::Error>> {
    let options: options::Options = syn::parse2(options).map_err(|e| vec![e])?;
    let item: syn::Item = syn::parse2(item).map_err(|e| vec![e])?;
    match item {
        syn::Item::Fn(function) => {
            let item = [syn::Item::Fn(function)];
            let derived = expand::functions(&item, &options)?;
            let [item] = item.map(without_marks);
            Ok(quote! { #item #derived })
        }
        syn::Item::Mod(module) => self::module(module, &options),
        other => Err(vec![syn::Error::new_spanned(
            head(&other),
            "`#[differentiable]` stands before a function, or before a module with functions in braces",
        )]),
    }
}

/// All functions of a module, each of which can call the others.
fn module(
    mut module: syn::ItemMod,
    options: &options::Options,
) -> Result<TokenStream, Vec<syn::Error>> {
    let Some((_, items)) = &mut module.content else {
        return Err(vec![syn::Error::new_spanned(
            &module.ident,
            "the functions of the module must stand here, in braces",
        )]);
    };
    if let Some(name) = options.batch.first() {
        return Err(vec![syn::Error::new(
            name.span(),
            "`batch` names the parameters of one function: write the attribute before that function",
        )]);
    }
    let derived = expand::functions(items, options)?;
    *items = std::mem::take(items).into_iter().map(without_marks).collect();
    items.push(syn::Item::Verbatim(derived));
    Ok(module.into_token_stream())
}

/// The function that an item is, unless it is there for tests.
fn function(item: &syn::Item) -> Option<&syn::ItemFn> {
    match item {
        syn::Item::Fn(f) if !f.attrs.iter().any(|a| a.path().is_ident("test")) => Some(f),
        _ => None,
    }
}

/// An item without the attributes that are wengert's.
fn without_marks(mut item: syn::Item) -> syn::Item {
    if let syn::Item::Fn(function) = &mut item {
        for input in &mut function.sig.inputs {
            let attrs = match input {
                syn::FnArg::Typed(typed) => &mut typed.attrs,
                syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
            };
            attrs.retain(|a| !a.path().is_ident("nondiff"));
        }
    }
    item
}

/// What an item begins with, for an error.
fn head(item: &syn::Item) -> TokenStream {
    item.to_token_stream().into_iter().take(1).collect()
}
