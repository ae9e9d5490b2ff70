//! From a function to its derivative programs, and their text.

use crate::api;
use crate::errors;
use crate::options::Options;
use crate::types;
use proc_macro2::TokenStream;
use wengert_core::emit::rust::{self, Calls};
use wengert_core::ir::verify::consumes;
use wengert_core::ir::{Module, Type};
use wengert_core::lower;
use wengert_core::ops::Prim;
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::rust::{Mode, Parsed, Signature, Spans, convert};
use wengert_core::transform::{derivative, jvp, pipeline, vjp};

/// A program as Rust text, and how its entry is called.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) entry: String,
    /// The types of what the entry takes, and whether it takes a reference.
    pub(crate) params: Vec<(Type, bool)>,
    pub(crate) results: Vec<Type>,
    /// Whether a driver of its loops is the last argument.
    pub(crate) driven: bool,
}

/// What is made of a function.
pub(crate) struct Programs {
    pub(crate) value: Program,
    /// None where there is nothing to differentiate, or by.
    pub(crate) derivatives: Option<Derivatives>,
}

/// The derivative programs.
pub(crate) struct Derivatives {
    pub(crate) jvp: Program,
    pub(crate) vjp: Program,
    /// The same with loops inside others that can be run in pieces, where there are any.
    pub(crate) nested: Option<Program>,
    /// Forward over reverse.
    pub(crate) products: Program,
}

/// Names of what the text calls.
struct Names;

impl Calls for Names {
    fn row(&self, prim: Prim) -> String {
        format!("__m::{}", prim.name())
    }
}

/// The modules of the derivatives of all functions among items, which may use each other.
pub(crate) fn functions(
    items: &[syn::Item],
    options: &Options,
) -> Result<TokenStream, Vec<syn::Error>> {
    let mut spans = Spans::table();
    let converted = convert(items, &mut spans);
    let parsed = converted.map_err(|all| {
        let told = all.iter().map(|d| errors::error(d, &spans, proc_macro2::Span::call_site()));
        told.collect::<Vec<_>>()
    })?;
    let places = places(&spans);
    let (mut made, mut wrong) = (TokenStream::new(), Vec::new());
    for function in items.iter().filter_map(crate::function) {
        let at = function.sig.ident.span();
        let Some(signature) = parsed.signature(&function.sig.ident.to_string()) else { continue };
        if let Err(error) = fits_batch(signature, options) {
            wrong.push(error);
            continue;
        }
        match programs(&parsed, signature, options) {
            Ok(programs) => {
                let text = api::module(signature, &programs, &function.vis, &places, options);
                match text.parse::<TokenStream>() {
                    Ok(tokens) => made.extend(tokens),
                    Err(e) => wrong.push(syn::Error::new(at, format!("{e}: please report this"))),
                }
            }
            Err(all) => wrong.extend(all.iter().map(|d| errors::error(d, &spans, at))),
        }
    }
    if wrong.is_empty() { Ok(made) } else { Err(wrong) }
}

/// Whether the function can be run for the members of a batch, where that was asked for.
fn fits_batch(signature: &Signature, options: &Options) -> syn::Result<()> {
    let name = &signature.name;
    for (k, over) in options.batch.iter().enumerate() {
        let Some(p) = signature.params.iter().find(|p| over == &p.name) else {
            let message = format!("`{name}` has no parameter `{over}`");
            return Err(syn::Error::new(over.span(), message));
        };
        if options.batch[..k].contains(over) {
            return Err(syn::Error::new(over.span(), format!("`{over}` is named twice")));
        }
        // All members would write to one place, or each would need one of its own.
        let written = signature.params.iter().find(|p| p.mode == Mode::RefMut);
        if let Some(written) = written {
            let message = format!(
                "a batch of `{name}` is not possible, because `{}` is behind `&mut`\nhelp: return what is computed instead",
                written.name
            );
            return Err(syn::Error::new(
                if p.mode == Mode::RefMut { over } else { &options.batch[0] }.span(),
                message,
            ));
        }
    }
    Ok(())
}

/// Lines and columns of the places that faults refer to.
fn places(spans: &Spans) -> String {
    let mut text = String::new();
    for k in 0.. {
        let Some((first, _)) = spans.tokens(Span { start: k, end: k }) else { break };
        let start = first.start();
        text.push_str(&format!("{}:{} ", start.line, start.column + 1));
    }
    text
}

fn programs(
    parsed: &Parsed,
    signature: &Signature,
    options: &Options,
) -> Result<Programs, Vec<Diagnostic>> {
    let name = signature.name.as_str();
    let leaves: Vec<_> = api::leaves(signature);
    let args: Vec<Type> = leaves.iter().map(|leaf| types::in_programs(&leaf.ty)).collect();
    let lowered = lower::lower(&parsed.module, name, &args)?;
    let one = |d: Diagnostic| vec![d];
    let primal = pipeline::module(&lowered, name).map_err(one)?;
    let wrt: Vec<usize> =
        leaves.iter().enumerate().filter(|(_, leaf)| leaf.diff).map(|(k, _)| k).collect();
    let value = program(&primal, name)?;
    if wrt.is_empty() || !signature.outputs().into_iter().any(types::is_float) {
        return Ok(Programs { value, derivatives: None });
    }
    let reverse = vjp::in_module(&primal, name, &wrt).map_err(one)?;
    if options.show {
        eprintln!("{reverse}");
    }
    let nested = vjp::nested_in_module(&primal, name, &wrt).map_err(one)?;
    let forward = jvp::in_module(&primal, name, &wrt, 1).map_err(one)?;
    let products = derivative::products(&primal, name, &wrt, &wrt).map_err(one)?;
    Ok(Programs {
        value,
        derivatives: Some(Derivatives {
            jvp: program(&forward, &jvp::name(name, 1))?,
            vjp: program(&reverse, &format!("{name}.vjp"))?,
            nested: nested.map(|nested| program(&nested, &format!("{name}.vjp"))).transpose()?,
            products: program(&products, &format!("{name}.vjp.jvp"))?,
        }),
    })
}

fn program(module: &Module, entry: &str) -> Result<Program, Vec<Diagnostic>> {
    let finished = pipeline::finish_with(module, &pipeline::Passes::TEXT);
    let told = |what: String| vec![Diagnostic::new("unsupported", what)];
    let text = rust::module(&finished, "__a::", &Names).map_err(|e| told(e.to_string()))?;
    let Some(func) = finished.func(entry) else {
        return Err(told(format!("`@{entry}` was lost: please report this")));
    };
    let params = func.params().iter();
    Ok(Program {
        driven: rust::takes_driver(&finished, entry),
        text,
        entry: Names.function(entry),
        params: params
            .map(|p| (func.ty(*p), is_shared(func.ty(*p), consumes(&finished, func, *p))))
            .collect(),
        results: func.results.iter().copied().filter(|ty| *ty != Type::Tape).collect(),
    })
}

/// Whether a parameter is a reference: an array that the function does not take over.
fn is_shared(ty: Type, consumed: bool) -> bool {
    matches!(ty, Type::Array(..)) && !consumed
}
