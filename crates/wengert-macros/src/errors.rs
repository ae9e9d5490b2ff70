//! Errors of wengert as errors of the compiler.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use wengert_core::span::Diagnostic;
use wengert_core::surface::rust::Spans;

/// A diagnostic at its place.
pub(crate) fn error(diagnostic: &Diagnostic, spans: &Spans, otherwise: Span) -> syn::Error {
    let mut labels = diagnostic.labels.iter();
    let mut text = diagnostic.message.clone();
    let mut place = None;
    if let Some((span, label)) = labels.next() {
        place = spans.tokens(*span);
        if !["", "here", "not supported"].contains(&label.as_str()) {
            text.push_str(&format!(": {label}"));
        }
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let (first, last) = place.unwrap_or((otherwise, otherwise));
    let mut error = spanned(first, last, &text);
    for (span, label) in labels {
        if let Some((first, last)) = spans.tokens(*span) {
            error.combine(spanned(first, last, label));
        }
    }
    error
}

/// An error from one token to another.
fn spanned(first: Span, last: Span, text: &str) -> syn::Error {
    let mark = |span: Span| {
        let mut token = proc_macro2::Ident::new("_x", span);
        token.set_span(span);
        TokenTree::Ident(token)
    };
    let tokens: TokenStream = [mark(first), mark(last)].into_iter().collect();
    syn::Error::new_spanned(tokens, text)
}

/// Compile errors.
pub(crate) fn alone(errors: &[syn::Error]) -> TokenStream {
    errors.iter().map(syn::Error::to_compile_error).collect()
}

/// Compile errors, and the item as it was, so that what uses it is not wrong as well.
pub(crate) fn tokens(item: TokenStream, errors: &[syn::Error]) -> TokenStream {
    let errors = errors.iter().map(syn::Error::to_compile_error);
    let item = match syn::parse2::<syn::Item>(item.clone()) {
        Ok(item) => crate::without_marks(item).to_token_stream(),
        Err(_) => item,
    };
    quote! { #(#errors)* #item }
}
