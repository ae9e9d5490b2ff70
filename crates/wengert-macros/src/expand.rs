//! From a function to its derivative programs, and their text.

use crate::apart::{Apart, apart};
use crate::api;
use crate::errors;
use crate::methods::{Methods, Seen};
use crate::options::Options;
use crate::structs;
use crate::types;
use proc_macro2::TokenStream;
use wengert_core::emit::rust::{self, Calls};
use wengert_core::ir::verify::consumes;
use wengert_core::ir::{External, Module, Type};
use wengert_core::lower;
use wengert_core::ops::Prim;
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::rust::{
    Known, Mode, Outside, Parsed, RustStruct, RustType, Signature, Spans, convert,
};
use wengert_core::transform::{derivative, jvp, pipeline, vjp};

/// A program as Rust text, and how its entry is called.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) entry: String,
    /// The types of what the entry takes, and whether it takes a reference.
    pub(crate) params: Vec<(Type, bool)>,
    pub(crate) results: Vec<Type>,
    /// What it calls and is somewhere else.
    outside: Vec<External>,
    /// Whether a driver of its loops is the last argument.
    pub(crate) driven: bool,
}

/// What is made of a function.
pub(crate) struct Programs {
    pub(crate) value: Program,
    /// None where there is nothing to differentiate, or by.
    pub(crate) derivatives: Option<Derivatives>,
    /// What derivatives of its callers call, where such have a part in them.
    pub(crate) called: Option<Called>,
    /// The parameters of programs that are `&mut` parameters of the function, by number.
    pub(crate) written: Vec<usize>,
    /// What all of these call and is somewhere else.
    pub(crate) outside: Vec<External>,
}

/// The programs that derivatives of callers call. Tangents and adjoints are there for all floats.
pub(crate) struct Called {
    /// None where it is that of the function itself.
    pub(crate) jvp: Option<Program>,
    pub(crate) record: Program,
    pub(crate) reverse: Program,
    /// Their tangents.
    pub(crate) record_jvp: Program,
    pub(crate) reverse_jvp: Program,
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

    fn seldom(&self, prim: Prim) -> String {
        format!("__n::{}", prim.name())
    }

    fn sine_and_cosine(&self) -> Option<String> {
        Some("__m::sin_cos".into())
    }

    fn function(&self, name: &str) -> String {
        match Outside::part(name) {
            Some((number, part)) => {
                format!(
                    "<super::__Outside as super::__Outside{number}>::{}",
                    api::calls::method(part)
                )
            }
            // Methods are called `Point::length`.
            None => name.replace("::", "__").replace('.', "_"),
        }
    }
}

/// Text as tokens: read by the compiler alone, where this is run by it. `proc_macro2` would read text itself before, as long again where macros
/// are compiled without optimisation.
fn tokens(text: &str) -> Result<TokenStream, String> {
    if proc_macro::is_available() {
        let tokens: Result<proc_macro::TokenStream, _> = text.parse();
        return tokens.map(Into::into).map_err(|e| e.to_string());
    }
    text.parse().map_err(|e: proc_macro2::LexError| e.to_string())
}

/// A function that is differentiated.
struct Source<'a> {
    ident: &'a syn::Ident,
    vis: &'a syn::Visibility,
    attrs: &'a [syn::Attribute],
}

impl Source<'_> {
    fn for_tests(&self) -> bool {
        self.attrs.iter().any(|a| a.path().is_ident("test"))
    }
}

/// The name of what stands among items, for a name made of it.
pub(crate) fn name_of(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Fn(f) => Some(f.sig.ident.to_string()),
        syn::Item::Impl(block) => match &*block.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The modules of the derivatives of all functions among items, which may use each other.
pub(crate) fn functions(
    items: &[syn::Item],
    known: &[Known],
    options: &Options,
) -> Result<TokenStream, Vec<syn::Error>> {
    let mut spans = Spans::table();
    let converted = convert(items, known, &mut spans);
    let parsed = converted.map_err(|all| {
        let told = all.iter().map(|d| errors::error(d, &spans, proc_macro2::Span::call_site()));
        told.collect::<Vec<_>>()
    })?;
    let places = places(&spans);
    let (mut made, mut wrong) = (TokenStream::new(), Vec::new());
    let mut beside = TokenStream::new();
    let mut module = |signature: &Signature, source: &Source<'_>, seen: Seen<'_>| {
        let at = source.ident.span();
        if let Err(error) = fits_batch(signature, options) {
            wrong.push(error);
            return TokenStream::new();
        }
        if let Some(error) = needs_feature(signature, cfg!(feature = "ndarray")) {
            wrong.push(errors::error(&error, &spans, at));
            return TokenStream::new();
        }
        match programs(&parsed, signature, options) {
            Ok(programs) => {
                let surroundings = seen.surroundings(signature, source.vis);
                let signature = seen.signature(signature);
                let text = api::module(&signature, &programs, &surroundings, &places, options);
                let own = seen.module_of(source.ident);
                let outside = api::calls::outside(&own, &programs.outside, &parsed, &spans);
                let outside = outside.map_err(|e| e.to_string());
                match tokens(&text).and_then(|made| Ok((made, outside?))) {
                    Ok((tokens, outside)) => {
                        beside.extend(outside);
                        return tokens;
                    }
                    Err(e) => wrong.push(syn::Error::new(at, format!("{e}: please report this"))),
                }
            }
            Err(all) => wrong.extend(all.iter().map(|d| errors::error(d, &spans, at))),
        }
        TokenStream::new()
    };
    let mut methods: Vec<Methods> = Vec::new();
    for item in items {
        match item {
            syn::Item::Fn(f) => {
                let source = Source { ident: &f.sig.ident, vis: &f.vis, attrs: &f.attrs };
                if let (Some(signature), false) =
                    (parsed.signature(&f.sig.ident.to_string()), source.for_tests())
                {
                    made.extend(module(signature, &source, Seen::beside()));
                }
            }
            syn::Item::Impl(block) if block.trait_.is_none() => {
                let Some(owner) = name_of(item) else { continue };
                let group = match methods.iter().position(|m| m.owner == owner) {
                    Some(k) => &mut methods[k],
                    None => {
                        methods.push(Methods::of(&owner));
                        let last = methods.len() - 1;
                        &mut methods[last]
                    }
                };
                for item in &block.items {
                    let syn::ImplItem::Fn(f) = item else { continue };
                    let source = Source { ident: &f.sig.ident, vis: &f.vis, attrs: &f.attrs };
                    let name = format!("{owner}::{}", f.sig.ident);
                    if let (Some(signature), false) = (parsed.signature(&name), source.for_tests())
                    {
                        let tokens = module(signature, &source, Seen::inside(&owner));
                        group.add(&f.vis, tokens);
                    }
                }
            }
            _ => {}
        }
    }
    made.extend(methods.into_iter().map(Methods::module));
    made.extend(beside);
    made.extend(implementations(items, &parsed));
    if wrong.is_empty() { Ok(made) } else { Err(wrong) }
}

/// What printed programs need of the structs that stand among the items, as far as functions take or give them.
fn implementations(items: &[syn::Item], parsed: &Parsed) -> TokenStream {
    let types =
        parsed.signatures.iter().flat_map(|s| s.params.iter().map(|p| &p.ty).chain([&s.result]));
    let mut used: Vec<&RustStruct> = Vec::new();
    types.for_each(|ty| structs_of(ty, &mut used));
    let local = items.iter().filter_map(|item| match item {
        syn::Item::Struct(s) if !structs::is_derived(s) => Some(s),
        _ => None,
    });
    local
        .filter_map(|s| parsed.structs.iter().find(|def| s.ident == def.name))
        .filter(|def| used.contains(&&***def))
        .map(|def| structs::implementation(def))
        .collect()
}

fn structs_of<'a>(ty: &'a RustType, found: &mut Vec<&'a RustStruct>) {
    match ty {
        RustType::Tuple(all) => all.iter().for_each(|ty| structs_of(ty, found)),
        RustType::Struct(def) if !found.contains(&&**def) => {
            found.push(def);
            def.fields.iter().for_each(|f| structs_of(&f.ty, found));
        }
        RustType::Structs(array) if !found.contains(&&*array.item) => {
            found.push(&array.item);
            array.item.fields.iter().for_each(|f| structs_of(&f.ty, found));
        }
        _ => {}
    }
}

/// The error for arrays of crate `ndarray` where crate `wengert` has been built without them.
pub(crate) fn needs_feature(signature: &Signature, is_on: bool) -> Option<Diagnostic> {
    let is_nd = |ty: &&RustType| matches!(ty, RustType::NdArray { .. });
    let params = signature.params.iter().map(|p| (&p.ty, p.span));
    let mut all = params.chain([(&signature.result, signature.span)]);
    let (_, span) = all.find(|(ty, _)| ty.leaves().iter().any(is_nd)).filter(|_| !is_on)?;
    let message = "arrays of crate `ndarray` need the feature of that name";
    Some(
        Diagnostic::new("unsupported-type", message).label(span, "here").help(
            "write `features = [\"ndarray\"]` at the dependency on `wengert` in `Cargo.toml`",
        ),
    )
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
        // Their lengths would have to differ, too.
        if p.constant {
            let message = format!("`{over}` is the same for all members of a batch");
            return Err(syn::Error::new(over.span(), message));
        }
        let shared = signature.params.iter().find(|p| {
            let (mut structs, named) = (Vec::new(), options.batch.iter().any(|o| o == &p.name));
            structs_of(&p.ty, &mut structs);
            !named && !p.nondiff && !structs.is_empty()
        });
        if let Some(shared) = shared {
            let message = format!(
                "the derivatives by `{0}` would be summed over all members, and structs are not summed\nhelp: name it as well, \
                 `batch({over}, {0})`, so that each member has its own",
                shared.name
            );
            return Err(syn::Error::new(over.span(), message));
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
    let primal = pipeline::module(&lowered, name).map_err(one)?;
    let wrt: Vec<usize> =
        leaves.iter().enumerate().filter(|(_, leaf)| leaf.diff).map(|(k, _)| k).collect();
    let floats: Vec<usize> =
        leaves.iter().enumerate().filter(|(_, l)| types::is_float(&l.ty)).map(|(k, _)| k).collect();
    let gives_floats = signature.outputs().into_iter().any(types::is_float);
    let (callable, differentiable) =
        (!floats.is_empty() && gives_floats, !wrt.is_empty() && gives_floats);
    let (primal, floats, wrt, show) = (&primal, &floats[..], &wrt[..], options.show);
    // Most of the time of a compilation with the attribute is spent here, and no program waits for another.
    let (value, called, derivatives) = std::thread::scope(|scope| {
        let called = callable.then(|| apart(scope, move || called(primal, name, floats, wrt)));
        let derivatives = differentiable.then(|| {
            let products = apart(scope, move || {
                let products = derivative::products(primal, name, wrt, wrt).map_err(one)?;
                program(&products, &format!("{name}.vjp.jvp"))
            });
            let forward = apart(scope, move || {
                let forward = jvp::in_module(primal, name, wrt, 1).map_err(one)?;
                program(&forward, &jvp::name(name, 1))
            });
            let nested = apart(scope, move || nested(primal, name, wrt));
            (apart(scope, move || reverse(primal, name, wrt, show)), nested, forward, products)
        });
        let value = program(primal, name);
        let derivatives = derivatives.map(|(reverse, nested, forward, products)| {
            Ok::<_, Vec<Diagnostic>>(Derivatives {
                jvp: forward.get()?,
                vjp: reverse.get()?,
                nested: nested.get()?,
                products: products.get()?,
            })
        });
        (value, called.map(Apart::get), derivatives)
    });
    let (value, called) = (value?, called.transpose()?);
    Ok(Programs::new(value, derivatives.transpose()?, called, &leaves))
}

/// The program of reverse mode.
fn reverse(
    primal: &Module,
    name: &str,
    wrt: &[usize],
    show: bool,
) -> Result<Program, Vec<Diagnostic>> {
    let reverse = vjp::in_module(primal, name, wrt).map_err(one)?;
    if show {
        eprintln!("{reverse}");
    }
    program(&reverse, &format!("{name}.vjp"))
}

/// The one whose loops inside others can be run in pieces, where there are any.
fn nested(primal: &Module, name: &str, wrt: &[usize]) -> Result<Option<Program>, Vec<Diagnostic>> {
    let nested = vjp::nested_in_module(primal, name, wrt).map_err(one)?;
    nested.map(|nested| program(&nested, &format!("{name}.vjp"))).transpose()
}

fn one(d: Diagnostic) -> Vec<Diagnostic> {
    vec![d]
}

/// What derivatives of callers call: derivatives by all floats, which are zero for those that are not among `wrt`.
fn called(
    primal: &Module,
    name: &str,
    floats: &[usize],
    wrt: &[usize],
) -> Result<Called, Vec<Diagnostic>> {
    let mut held = primal.clone();
    let others: Vec<usize> = floats.iter().copied().filter(|k| !wrt.contains(k)).collect();
    for func in held.funcs.iter_mut().filter(|func| *func.name == *name && !others.is_empty()) {
        *func = derivative::held(func, &others);
    }
    let jvp = match others.is_empty() {
        true => None,
        false => {
            let forward = jvp::in_module(&held, name, floats, 1).map_err(one)?;
            Some(program(&forward, &jvp::name(name, 1))?)
        }
    };
    let calls = &vjp::callee_in_module(&held, name).map_err(one)?;
    let tangent = move |part: &str| {
        let floats = calls.func(part).map_or(Vec::new(), |func| {
            let types = func.param_types();
            (0..types.len()).filter(|k| types[*k].is_float()).collect()
        });
        let made = jvp::in_module(calls, part, &floats, 1).map_err(one)?;
        program(&made, &jvp::name(part, 1))
    };
    let [record, reverse] = &["record", "reverse"].map(|part| format!("{name}.call.{part}"));
    std::thread::scope(|scope| {
        let record_jvp = apart(scope, move || tangent(record));
        let reverse_jvp = apart(scope, move || tangent(reverse));
        let reverse = apart(scope, move || program(calls, reverse));
        let record = program(calls, record);
        Ok(Called {
            jvp,
            record_jvp: record_jvp.get()?,
            reverse_jvp: reverse_jvp.get()?,
            record: record?,
            reverse: reverse.get()?,
        })
    })
}

impl Programs {
    fn new(
        value: Program,
        derivatives: Option<Derivatives>,
        called: Option<Called>,
        leaves: &[api::Leaf],
    ) -> Programs {
        let written = (0..leaves.len()).filter(|k| leaves[*k].mode == Mode::RefMut).collect();
        let mut programs = Programs { value, derivatives, called, written, outside: Vec::new() };
        let mut outside: Vec<External> = Vec::new();
        for external in programs.all().iter().flat_map(|(_, program)| &program.outside) {
            if !outside.contains(external) {
                outside.push(external.clone());
            }
        }
        programs.outside = outside;
        programs
    }

    /// All programs, each with the name of its module of the text.
    pub(crate) fn all(&self) -> Vec<(&'static str, &Program)> {
        let mut all = vec![("value", &self.value)];
        if let Some(derivatives) = &self.derivatives {
            all.push(("jvp", &derivatives.jvp));
            all.push(("vjp", &derivatives.vjp));
            all.push(("products", &derivatives.products));
            all.extend(derivatives.nested.as_ref().map(|nested| ("nested", nested)));
        }
        if let Some(called) = &self.called {
            all.extend(called.jvp.as_ref().map(|jvp| ("called_jvp", jvp)));
            all.push(("record", &called.record));
            all.push(("reverse", &called.reverse));
            all.push(("record_jvp", &called.record_jvp));
            all.push(("reverse_jvp", &called.reverse_jvp));
        }
        all
    }
}

impl Program {
    /// Whether it calls what is somewhere else, and so may come to call itself unseen.
    pub(crate) fn calls_outside(&self) -> bool {
        !self.outside.is_empty()
    }
}

fn program(module: &Module, entry: &str) -> Result<Program, Vec<Diagnostic>> {
    let finished = pipeline::finish_with(&module.reached(entry), &pipeline::Passes::TEXT);
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
        outside: finished.externals.clone(),
    })
}

/// Whether a parameter is a reference: an array that the function does not take over.
fn is_shared(ty: Type, consumed: bool) -> bool {
    matches!(ty, Type::Array(..)) && !consumed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_ndarray_need_its_feature() {
        let told = |text: &str, is_on: bool| {
            let function = syn::parse_str(text).unwrap();
            let made = wengert_core::surface::rust::signature(&function, &mut Spans::table());
            needs_feature(&made.unwrap(), is_on).map(|error| error.message)
        };
        for text in [
            "fn f(x: ArrayView1<f64>) -> f64 { x[0] }",
            "fn f(x: f64, y: &mut Array2<f64>) {}",
            "fn f(x: f64) -> (f64, Array1<f64>) { (x, Array1::zeros(2)) }",
        ] {
            assert_eq!(told(text, true), None);
            assert!(told(text, false).is_some_and(|message| message.contains("ndarray")));
        }
        assert_eq!(told("fn f(x: &[f64]) -> f64 { x[0] }", false), None);
    }
}
