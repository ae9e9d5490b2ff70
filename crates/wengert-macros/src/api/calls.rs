//! Calls between functions that stand in different modules or crates: how a function can be called, and what it calls.
//!
//! Beside the functions for users, the module of a function has a hidden type `__Function` with those that derivatives of its
//! callers call: `value`, `jvp`, `record`, `reverse`, `record_jvp`, `reverse_jvp`. They take and give what programs do
//! ([`wengert_core::ir::external`]): numbers, arrays by reference, a tape. What the function takes and gives itself is said once, by
//! a trait ([`wengert_core::ahead::Takes`]), through which callers reach them.
//!
//! What a function calls is behind a trait in its module, one for each function that is called. It is implemented beside the
//! module, where paths mean what they do in the function itself; so the path keeps the places it has in the source, and what
//! the compiler has to say about it is said there.

use super::kind;
use crate::expand::{Program, Programs};
use crate::types::tuple;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use std::collections::BTreeMap;
use std::fmt::Write;
use wengert_core::ir::{Elem, External, Type};
use wengert_core::surface::rust::{Outside, Parsed, Spans};

/// The method for a derivative of a function that is somewhere else, by the end of its name in programs.
pub(crate) fn method(part: &str) -> String {
    match part {
        "" => "value".into(),
        part => part.trim_start_matches("call.").replace('.', "_"),
    }
}

/// A parameter of a program, arrays by reference.
fn passed(ty: Type) -> String {
    match ty {
        Type::Tape => "&mut __a::Tape".into(),
        Type::Array(..) => format!("&{}", kind(ty)),
        number => kind(number),
    }
}

/// Parameters `a0`, `a1`.
fn parameters(types: impl Iterator<Item = String>) -> String {
    let typed = types.enumerate().map(|(k, ty)| format!("a{k}: {ty}"));
    typed.collect::<Vec<_>>().join(", ")
}

/// What a program gives.
fn given(results: &[Type]) -> String {
    let results = results.iter().filter(|ty| **ty != Type::Tape);
    format!("__a::Result<{}>", tuple(results.map(|ty| kind(*ty))))
}

/// The program of a module of the text as a function whose arrays are all references.
pub(super) fn entry(program: &Program) -> String {
    let typed = parameters(program.params.iter().map(|(ty, _)| passed(*ty)));
    let args = program.params.iter().enumerate().map(|(k, (ty, shared))| match ty {
        Type::Array(..) if !shared => format!("a{k}.clone()"),
        _ => format!("a{k}"),
    });
    // Loops keep everything: the memory is the caller's.
    let driver = program.driven.then(|| "&mut __a::All".to_string());
    let (args, entry) = (args.chain(driver).collect::<Vec<_>>().join(", "), &program.entry);
    let results = given(&program.results);
    format!(
        "#[inline(always)]\npub(super) fn __called({typed}) -> {results} {{ {entry}({args}) }}\n"
    )
}

/// What says how a function is called: the types of its arguments and results.
pub(crate) fn takes(params: &[Type], results: &[Type], written: &[usize]) -> String {
    let args = params.iter().enumerate().map(|(k, ty)| match written.contains(&k) {
        true => format!("__a::ByMut<{}>, ", kind(*ty)),
        false => format!("{}, ", kind(*ty)),
    });
    let results = tuple(results.iter().map(|ty| kind(*ty)));
    format!("__a::Takes<({}), {results}>", args.collect::<String>())
}

/// The functions that derivatives of callers call.
pub(super) fn callable(programs: &Programs) -> String {
    let mut text = String::new();
    let mut add = |name: &str, of: &str, program: &Program| {
        let typed = parameters(program.params.iter().map(|(ty, _)| passed(*ty)));
        let results = given(&program.results);
        let args: Vec<String> = (0..program.params.len()).map(|k| format!("a{k}")).collect();
        // Functions of several modules can call each other in a circle, which no one of them sees.
        let depth = if program.calls_outside() { "let _depth = __a::enter()?;\n" } else { "" };
        let _ = write!(
            text,
            "#[inline(always)]\npub fn {name}({typed}) -> {results} {{\n\
             {depth}match __{of}::__called({}) {{ Ok(made) => Ok(made), \
             Err(fault) => Err(__a::left(fault, ::std::file!(), __PLACES)) }}\n}}\n",
            args.join(", ")
        );
    };
    add("value", "value", &programs.value);
    if let Some(called) = &programs.called {
        match (&called.jvp, &programs.derivatives) {
            (Some(jvp), _) => add("jvp", "called_jvp", jvp),
            (None, Some(derivatives)) => add("jvp", "jvp", &derivatives.jvp),
            (None, None) => {}
        }
        add("record", "record", &called.record);
        add("reverse", "reverse", &called.reverse);
        add("record_jvp", "record_jvp", &called.record_jvp);
        add("reverse_jvp", "reverse_jvp", &called.reverse_jvp);
    }
    let params: Vec<Type> =
        programs.value.params.iter().map(|(ty, _)| *ty).filter(|ty| *ty != Type::Tape).collect();
    let takes = takes(&params, &programs.value.results, &programs.written);
    let mut text = format!(
        "#[doc(hidden)]\npub struct __Function;\n\
         impl {takes} for __Function {{ type Function = __Function; }}\n\
         impl __Function {{\n{text}}}\n"
    );
    for (name, program) in programs.all().into_iter().filter(|(name, _)| is_called_only(name)) {
        let _ = write!(
            text,
            "mod __{name} {{\nuse ::wengert::__private::{{ahead as __a, functions as __n, math as __m}};\n{}{}}}\n",
            program.text,
            entry(program)
        );
    }
    text
}

/// Whether a program is there for callers alone.
fn is_called_only(name: &str) -> bool {
    !["value", "jvp", "vjp", "products", "nested"].contains(&name)
}

/// By number, what of each function that is somewhere else is called.
fn by_number(outside: &[External]) -> BTreeMap<usize, Vec<(String, &External)>> {
    let mut all: BTreeMap<usize, Vec<(String, &External)>> = BTreeMap::new();
    for external in outside {
        if let Some((number, part)) = Outside::part(&external.name) {
            all.entry(number).or_default().push((method(part), external));
        }
    }
    all
}

fn head(method: &str, external: &External) -> String {
    head_of(method, &external.params, &external.results).replacen("pub ", "", 1)
}

/// The beginning of a function that takes and gives these.
pub(crate) fn head_of(name: &str, params: &[Type], results: &[Type]) -> String {
    let typed = parameters(params.iter().map(|ty| passed(*ty)));
    format!("pub fn {name}({typed}) -> {}", given(results))
}

/// The traits for what is called.
pub(super) fn declared(outside: &[External]) -> String {
    let mut text = String::new();
    for (number, methods) in by_number(outside) {
        let heads: String =
            methods.iter().map(|(method, e)| format!("{};\n", head(method, e))).collect();
        let _ = write!(text, "#[doc(hidden)]\npub trait __Outside{number} {{\n{heads}}}\n");
    }
    if !outside.is_empty() {
        text.push_str("#[doc(hidden)]\npub struct __Outside;\n");
    }
    text
}

/// Their implementations, to stand beside the module of the function.
pub(crate) fn outside(
    own: &TokenStream,
    outside: &[External],
    parsed: &Parsed,
    spans: &Spans,
) -> Result<TokenStream, proc_macro2::LexError> {
    let mut all = TokenStream::new();
    for (number, methods) in by_number(outside) {
        let Some(called) = parsed.outside.get(number) else { continue };
        let (first, last) = match spans.tokens(called.span) {
            Some(places) => places,
            None => (Span::call_site(), Span::call_site()),
        };
        let path = placed(called.path.parse()?, |k, n| if k + 1 < n { first } else { last });
        let types = |all: &[(Elem, usize)]| -> Vec<Type> {
            all.iter().map(|(elem, rank)| Type::of(*elem, *rank)).collect()
        };
        let e = &called.external;
        let (params, mut results) = (types(&e.params), types(&e.results));
        results.extend(e.written.iter().map(|k| params[*k]));
        let takes = full(&self::takes(&params, &results, &e.written))?;
        let entry = Ident::new("__Function", last);
        // In one place all of it, so that what does not fit is told once.
        let takes = placed(takes, |_, _| last);
        let function = quote_spanned!(last=> <#path::#entry as #takes>::Function);
        let mut made = TokenStream::new();
        for (method, external) in methods {
            let args: Vec<String> = (0..external.params.len()).map(|k| format!("a{k}")).collect();
            let args: TokenStream = args.join(", ").parse()?;
            let head = full(&head(&method, external))?;
            let method = Ident::new(&method, last);
            let call = quote_spanned!(last=> <#function>::#method(#args));
            made.extend(quote! { #[inline(always)] #head { #call } });
        }
        let of = Ident::new(&format!("__Outside{number}"), Span::call_site());
        all.extend(quote! {
            #[doc(hidden)]
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #own::#of for #own::__Outside { #made }
        });
    }
    Ok(all)
}

/// Text outside the module, where nothing is in use.
pub(crate) fn full(text: &str) -> Result<TokenStream, proc_macro2::LexError> {
    text.replace("__a::", "::wengert::__private::ahead::").parse()
}

/// Tokens with other places, by their number and how many there are.
fn placed(tokens: TokenStream, place: impl Fn(usize, usize) -> Span + Copy) -> TokenStream {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let n = all.len();
    let placed = all.into_iter().enumerate().map(|(k, mut token)| {
        if let TokenTree::Group(group) = &token {
            let inner = placed(group.stream(), place);
            token = TokenTree::Group(Group::new(group.delimiter(), inner));
        }
        token.set_span(place(k, n));
        token
    });
    placed.collect()
}
