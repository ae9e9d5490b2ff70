//! Calls between functions that stand in different modules or crates: how a function can be called, and what it calls.
//!
//! Beside the functions for users, the module of a function has those that derivatives of its callers call, hidden and with
//! fixed names: `__value`, `__jvp`, `__record`, `__reverse`, `__record_jvp`, `__reverse_jvp`. They take and give what
//! programs do ([`wengert_core::ir::external`]): numbers, arrays by reference, a tape.
//!
//! What a function calls is behind a trait in its module, one for each function that is called. It is implemented beside the
//! module, where paths mean what they do in the function itself; so the path keeps the places it has in the source, and what
//! the compiler has to say about it is said there.

use super::kind;
use crate::expand::{Program, Programs};
use crate::types::tuple;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeMap;
use std::fmt::Write;
use wengert_core::ir::{External, Type};
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
    let (args, entry) = (args.collect::<Vec<_>>().join(", "), &program.entry);
    let results = given(&program.results);
    format!("#[inline(always)]\npub(super) fn called({typed}) -> {results} {{ {entry}({args}) }}\n")
}

/// The functions that derivatives of callers call.
pub(super) fn callable(programs: &Programs) -> String {
    let mut text = String::new();
    let written = &programs.written;
    let mut add = |name: &str, of: &str, program: &Program, takes_all: bool| {
        let is_written = |k: usize| takes_all && written.contains(&k);
        let types = program.params.iter().enumerate().map(|(k, (ty, _))| match is_written(k) {
            true => format!("__a::Written<{}>", passed(*ty)),
            false => passed(*ty),
        });
        let (typed, results) = (parameters(types), given(&program.results));
        let args = (0..program.params.len()).map(|k| match is_written(k) {
            true => format!("a{k}.0"),
            false => format!("a{k}"),
        });
        let args = args.collect::<Vec<_>>().join(", ");
        // Functions of several modules can call each other in a circle, which no one of them sees.
        let depth = if program.calls_outside() { "let _depth = __a::enter()?;\n" } else { "" };
        let _ = write!(
            text,
            "#[doc(hidden)]\n#[inline(always)]\npub fn __{name}({typed}) -> {results} {{\n\
             {depth}match __{of}::called({args}) {{ Ok(made) => Ok(made), \
             Err(fault) => Err(__a::left(fault, ::std::file!(), __PLACES)) }}\n}}\n"
        );
    };
    add("value", "value", &programs.value, true);
    let Some(called) = &programs.called else { return text };
    match (&called.jvp, &programs.derivatives) {
        (Some(jvp), _) => add("jvp", "called_jvp", jvp, true),
        (None, Some(derivatives)) => add("jvp", "jvp", &derivatives.jvp, true),
        (None, None) => {}
    }
    add("record", "record", &called.record, true);
    add("reverse", "reverse", &called.reverse, false);
    add("record_jvp", "record_jvp", &called.record_jvp, true);
    add("reverse_jvp", "reverse_jvp", &called.reverse_jvp, false);
    for (name, program) in programs.all().into_iter().filter(|(name, _)| is_called_only(name)) {
        let _ = write!(
            text,
            "mod __{name} {{\nuse ::wengert::__private::{{ahead as __a, math as __m}};\n{}{}}}\n",
            program.text,
            entry(program)
        );
    }
    text
}

/// Whether a program is there for callers alone.
fn is_called_only(name: &str) -> bool {
    !["value", "jvp", "vjp", "products"].contains(&name)
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
    let typed = parameters(external.params.iter().map(|ty| passed(*ty)));
    format!("fn {method}({typed}) -> {}", given(&external.results))
}

/// The traits for what is called.
pub(super) fn declared(outside: &[External]) -> String {
    let mut text = String::new();
    for (number, methods) in by_number(outside) {
        let heads: String =
            methods.iter().map(|(method, e)| format!("{};\n", head(method, e))).collect();
        let _ = write!(text, "pub(super) trait __Outside{number} {{\n{heads}}}\n");
    }
    if !outside.is_empty() {
        text.push_str("pub(super) struct __Outside;\n");
    }
    text
}

/// Their implementations, to stand beside the module of the function.
pub(crate) fn outside(
    own: &Ident,
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
        let path = placed(called.path.parse()?, &mut |k, n| if k + 1 < n { first } else { last });
        let mut made = TokenStream::new();
        for (method, external) in methods {
            let takes_all = !method.starts_with("reverse");
            let args = external.params.iter().enumerate().map(|(k, _)| {
                match takes_all && called.external.written.contains(&k) {
                    true => format!("::wengert::__private::ahead::Written(a{k})"),
                    false => format!("a{k}"),
                }
            });
            let args: TokenStream = args.collect::<Vec<_>>().join(", ").parse()?;
            let args = placed(args, &mut |_, _| last);
            let mut group = Group::new(proc_macro2::Delimiter::Parenthesis, args);
            group.set_span(last);
            let entry = Ident::new(&format!("__{method}"), last);
            let head = head(&method, external).replace("__a::", "::wengert::__private::ahead::");
            let head: TokenStream = head.parse()?;
            made.extend(quote! { #[inline(always)] #head { #path::#entry #group } });
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

/// Tokens with other places, by their number and how many there are.
fn placed(tokens: TokenStream, place: &mut dyn FnMut(usize, usize) -> Span) -> TokenStream {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let n = all.len();
    let placed = all.into_iter().enumerate().map(|(k, mut token)| {
        if let TokenTree::Group(group) = &token {
            let inner = placed(group.stream(), &mut |_, _| place(k, n));
            token = TokenTree::Group(Group::new(group.delimiter(), inner));
        }
        token.set_span(place(k, n));
        token
    });
    placed.collect()
}
