//! `#[differentiable]` and `#[derivative]` for crate `wengert`, which re-exports them and says how they are used.
//!
//! The attribute is given the tokens of a function. They go the way of every program: surface tree, IR, derivatives
//! ([`expand`]); what comes out is printed as Rust, and functions around it take and give Rust's own types ([`api`],
//! [`types`]). Structs that stand elsewhere bring their definitions along ([`structs`], [`carried`]). Derivatives that are written by
//! hand take the same places ([`given`]). What cannot be differentiated becomes a compile error at its place ([`errors`]).
#![forbid(unsafe_code)]

mod apart;
mod api;
mod carried;
mod errors;
mod expand;
#[cfg(test)]
mod expansion_time;
mod given;
mod methods;
mod options;
mod structs;
mod types;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// Derivatives of a function, of the methods of an `impl`, or of all functions of a module: see crate `wengert`.
#[proc_macro_attribute]
pub fn differentiable(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let options: TokenStream = options.into();
    let item: TokenStream = item.into();
    expanded(options, item.clone()).unwrap_or_else(|errors| errors::tokens(item, &errors)).into()
}

/// A derivative that is written by hand: see crate `wengert`.
#[proc_macro_attribute]
pub fn derivative(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let item: TokenStream = item.into();
    let made = given::expanded(options.into(), item.clone());
    made.unwrap_or_else(|errors| errors::tokens(item, &errors)).into()
}

/// What `#[differentiable]` needs to know of a struct that stands elsewhere: see trait `Differentiable` of crate
/// `wengert`.
#[proc_macro_derive(Differentiable, attributes(nondiff))]
pub fn derive(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    structs::derived(item.into()).unwrap_or_else(|errors| errors::alone(&errors)).into()
}

/// Goes on with a definition that was asked for.
#[doc(hidden)]
#[proc_macro]
pub fn __with_structs(step: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let step = match syn::parse::<carried::Step>(step) {
        Ok(step) => step,
        Err(error) => return errors::alone(&[error]).into(),
    };
    let made = match step.next() {
        Some(asked) => Ok(asked),
        None => with_structs(step),
    };
    made.unwrap_or_else(|errors| errors::alone(&errors)).into()
}

fn with_structs(step: carried::Step) -> Result<TokenStream, Vec<syn::Error>> {
    let known: Vec<_> = step.known.iter().map(carried::Definition::known).collect();
    if step.purpose == "derive" {
        let item = syn::parse2(step.item).map_err(|e| vec![e])?;
        return structs::with_definitions(&item, step.known, &known);
    }
    let options: options::Options = syn::parse2(step.options).map_err(|e| vec![e])?;
    let file: syn::File = syn::parse2(step.item).map_err(|e| vec![e])?;
    expand::functions(&file.items, &known, &options)
}

fn expanded(options: TokenStream, item: TokenStream) -> Result<TokenStream, Vec<syn::Error>> {
    let item: syn::Item = syn::parse2(item).map_err(|e| vec![e])?;
    match item {
        syn::Item::Fn(_) => {
            let item = [item];
            let derived = derivatives(&item, &options)?;
            let [item] = item.map(without_marks);
            Ok(quote! { #item #derived })
        }
        syn::Item::Impl(ref block) => {
            if let Some((_, path, _)) = &block.trait_ {
                let message = "implementations of traits are not supported\n\
                     help: put the method into `impl Type { ... }`, with the attribute before it, and call it from the trait's";
                return Err(vec![syn::Error::new_spanned(path, message)]);
            }
            without_batch(&options)?;
            let item = [item];
            let derived = derivatives(&item, &options)?;
            let [item] = item.map(without_marks);
            Ok(quote! { #item #derived })
        }
        syn::Item::Mod(module) => self::module(module, &options),
        syn::Item::Struct(item) => Err(vec![syn::Error::new_spanned(
            &item.ident,
            "a struct is no function\nhelp: write `#[derive(Differentiable)]` before it, or put both into one module with the attribute",
        )]),
        other => Err(vec![syn::Error::new_spanned(
            head(&other),
            "`#[differentiable]` stands before a function, an `impl`, or a module with functions in braces",
        )]),
    }
}

/// The derivatives of all functions among items, at once, or by way of the definitions of structs that stand elsewhere.
fn derivatives(items: &[syn::Item], options: &TokenStream) -> Result<TokenStream, Vec<syn::Error>> {
    let read: options::Options = syn::parse2(options.clone()).map_err(|e| vec![e])?;
    let needed = carried::named_by(items);
    if needed.is_empty() {
        return expand::functions(items, &[], &read);
    }
    let of = items.iter().find_map(expand::name_of).unwrap_or_default();
    Ok(carried::asked("function", &of, &needed, options, &quote! { #(#items)* }))
}

/// Where the attribute stands before several functions: that none of them is to be run for many members.
fn without_batch(options: &TokenStream) -> Result<(), Vec<syn::Error>> {
    let read: options::Options = syn::parse2(options.clone()).map_err(|e| vec![e])?;
    let message =
        "`batch` names the parameters of one function: write the attribute before that function";
    match read.batch.first() {
        Some(name) => Err(vec![syn::Error::new(name.span(), message)]),
        None => Ok(()),
    }
}

/// All functions of a module, each of which can call the others.
fn module(mut module: syn::ItemMod, options: &TokenStream) -> Result<TokenStream, Vec<syn::Error>> {
    let Some((_, items)) = &mut module.content else {
        return Err(vec![syn::Error::new_spanned(
            &module.ident,
            "the functions of the module must stand here, in braces",
        )]);
    };
    without_batch(options)?;
    let derived = derivatives(items, options)?;
    *items = std::mem::take(items).into_iter().map(without_marks).collect();
    items.push(syn::Item::Verbatim(derived));
    Ok(module.into_token_stream())
}

/// An item without the attributes that are wengert's.
fn without_marks(mut item: syn::Item) -> syn::Item {
    match &mut item {
        syn::Item::Fn(function) => {
            // There it is refused.
            function.attrs.retain(|a| !a.path().is_ident("nondiff"));
            unmarked(&mut function.sig);
        }
        syn::Item::Impl(block) => {
            for item in &mut block.items {
                if let syn::ImplItem::Fn(function) = item {
                    unmarked(&mut function.sig);
                }
            }
        }
        syn::Item::Struct(item) if !structs::is_derived(item) => {
            for field in &mut item.fields {
                field.attrs.retain(|a| !a.path().is_ident("nondiff"));
            }
        }
        _ => {}
    }
    item
}

fn unmarked(sig: &mut syn::Signature) {
    for input in &mut sig.inputs {
        let attrs = match input {
            syn::FnArg::Typed(typed) => &mut typed.attrs,
            syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
        };
        attrs.retain(|a| !a.path().is_ident("nondiff"));
    }
}

/// What an item begins with, for an error.
fn head(item: &syn::Item) -> TokenStream {
    item.to_token_stream().into_iter().take(1).collect()
}
