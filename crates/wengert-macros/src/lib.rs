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
            let derived = expand::function(&function, &[], &options)?;
            let plain = without_marks(function);
            Ok(quote! { #plain #derived })
        }
        syn::Item::Mod(module) => self::module(module, &options),
        other => Err(vec![syn::Error::new_spanned(
            head(&other),
            "`#[differentiable]` stands before a function, or before a module with functions in braces",
        )]),
    }
}

/// All functions of a module, each of which can call the others.
fn module(mut module: syn::ItemMod, options: &options::Options) -> Result<TokenStream, Vec<syn::Error>> {
    let Some((_, items)) = &mut module.content else {
        return Err(vec![syn::Error::new_spanned(
            &module.ident,
            "the functions of the module must stand here, in braces",
        )]);
    };
    let mut errors = Vec::new();
    let mut derived = Vec::new();
    let all = items.clone();
    for item in &all {
        let syn::Item::Fn(function) = item else { continue };
        if function.attrs.iter().any(|a| a.path().is_ident("test")) {
            continue;
        }
        let others: Vec<syn::Item> =
            all.iter().filter(|other| !std::ptr::eq(*other, item)).cloned().collect();
        match expand::function(function, &others, options) {
            Ok(tokens) => derived.push(syn::Item::Verbatim(tokens)),
            Err(more) => errors.extend(more),
        }
    }
    if !errors.is_empty() {
        // What is wrong in a function is found again from each that calls it.
        let mut seen = Vec::new();
        errors.retain(|e| {
            let key = format!("{:?} {e}", e.span());
            let new = !seen.contains(&key);
            seen.push(key);
            new
        });
        return Err(errors);
    }
    for item in items.iter_mut() {
        if let syn::Item::Fn(function) = item {
            *function = without_marks(function.clone());
        }
    }
    items.extend(derived);
    Ok(module.into_token_stream())
}

/// A function without the attributes that are wengert's.
fn without_marks(mut function: syn::ItemFn) -> syn::ItemFn {
    for input in &mut function.sig.inputs {
        let attrs = match input {
            syn::FnArg::Typed(typed) => &mut typed.attrs,
            syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
        };
        attrs.retain(|a| !a.path().is_ident("nondiff"));
    }
    function
}

/// What an item begins with, for an error.
fn head(item: &syn::Item) -> TokenStream {
    item.to_token_stream().into_iter().take(1).collect()
}
