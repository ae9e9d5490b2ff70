//! `#[derivative(of = f)]`: a derivative that is written by hand.
//!
//! What is made is what `#[differentiable]` makes for callers of a function ([`crate::api::calls`]): a module of its name with the hidden
//! type `__Function`. Its functions call `f` and the derivative where they stand, so what both do is not looked at.

use crate::api::calls;
use crate::errors;
use crate::types::{self, given, in_programs, made, tuple};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::fmt::Write;
use syn::parse::{Parse, ParseStream};
use wengert_core::ir::Type;
use wengert_core::surface::rust::{Mode, RustType, Signature, SignatureParam, Spans};

/// What stands in the parentheses: `of = f`, and `jvp`, or `jvp = g` beside the reverse mode.
struct Of {
    of: Ident,
    jvp: Jvp,
}

/// Where forward mode comes from.
enum Jvp {
    /// The function with the attribute, which is not for reverse mode.
    This,
    Other(syn::Path),
    None,
}

impl Parse for Of {
    fn parse(input: ParseStream) -> syn::Result<Of> {
        let (mut of, mut jvp) = (None, Jvp::None);
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            match word.to_string().as_str() {
                "of" => {
                    input.parse::<syn::Token![=]>()?;
                    of = Some(input.parse::<Ident>()?);
                }
                "jvp" if input.peek(syn::Token![=]) => {
                    input.parse::<syn::Token![=]>()?;
                    jvp = Jvp::Other(input.parse()?);
                }
                "jvp" => jvp = Jvp::This,
                other => {
                    let message = format!(
                        "there is no option `{other}`; write `of = f`, for forward mode `of = f, jvp`, for both `of = f, jvp = g`"
                    );
                    return Err(syn::Error::new(word.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        let missing = || {
            let message = "say what it is the derivative of: `#[derivative(of = f)]`";
            syn::Error::new(Span::call_site(), message)
        };
        Ok(Of { of: of.ok_or_else(missing)?, jvp })
    }
}

/// What is put beside the function with the attribute.
pub(crate) fn expanded(
    options: TokenStream,
    item: TokenStream,
) -> Result<TokenStream, Vec<syn::Error>> {
    let options: Of = syn::parse2(options).map_err(|e| vec![e])?;
    let function: syn::ItemFn = syn::parse2(item).map_err(|_| {
        let message = "`#[derivative(of = f)]` stands before a function";
        vec![syn::Error::new(Span::call_site(), message)]
    })?;
    let mut spans = Spans::table();
    let own = function.sig.ident.span();
    let told = |d: &_, spans: &Spans| vec![errors::error(d, spans, own)];
    let signature = wengert_core::surface::rust::signature(&function, &mut spans)
        .map_err(|d| told(&d, &spans))?;
    let wrong =
        |at: proc_macro2::TokenStream, message: String| vec![syn::Error::new_spanned(at, message)];
    if let Some((k, p)) =
        signature.params.iter().enumerate().find(|(_, p)| p.mode == Mode::RefMut || p.nondiff)
    {
        let message = format!("`{}` must be passed by value or by `&`", p.name);
        return Err(wrong(function.sig.inputs[k].to_token_stream(), message));
    }
    let view = |ty: &RustType| matches!(ty, RustType::NdArray { view: true, .. });
    if let Some((k, _)) = signature.params.iter().enumerate().find(|(_, p)| view(&p.ty)) {
        let message = "a view cannot be passed here\nhelp: pass a reference: `&Array2<f64>`";
        return Err(wrong(function.sig.inputs[k].to_token_stream(), message.into()));
    }
    let of = match &options.jvp {
        Jvp::This => Derivative::forward(&signature),
        _ => Derivative::reverse(&signature),
    };
    let of = of.map_err(|message| {
        let message = format!("{message}\nhelp: {}", shape(&options));
        wrong(function.sig.inputs.to_token_stream(), message)
    })?;
    let text = of.text(&options, &function.sig.ident);
    let made = text.and_then(|text| beside(&options, &function, &of, text));
    let made = made.map_err(|e| vec![syn::Error::new(own, format!("{e}: please report this"))])?;
    Ok(quote! { #function #made })
}

/// What the function must look like.
fn shape(options: &Of) -> String {
    let f = &options.of;
    match options.jvp {
        Jvp::This => format!(
            "where `{f}` takes `x..` and gives `y`, it takes `x.., dx..`, a tangent for each parameter of floats, and gives `(y, dy)`"
        ),
        _ => format!(
            "where `{f}` takes `x..` and gives `y`, it takes `x.., y, y_bar` and gives an adjoint for each parameter of floats"
        ),
    }
}

/// The function that a derivative belongs to, as the derivative has it.
struct Derivative {
    params: Vec<SignatureParam>,
    result: RustType,
    /// How reverse mode is given the result and its adjoint.
    passed: [Mode; 2],
}

/// The type of a tangent or adjoint: `()` for what has none.
fn derivative(ty: &RustType) -> RustType {
    match ty {
        RustType::Tuple(all) => {
            let all: Vec<RustType> = all.iter().map(derivative).collect();
            if all.iter().all(|ty| *ty == RustType::Unit) {
                RustType::Unit
            } else {
                RustType::Tuple(all)
            }
        }
        ty if types::is_float(ty) => ty.clone(),
        _ => RustType::Unit,
    }
}

/// A type as users write it.
fn shown(ty: &RustType) -> String {
    types::owned(ty).replace("::std::vec::", "").replace("::wengert::__private::ndarray::", "")
}

/// A type with slices as vectors: what owns the values.
fn owned(ty: &RustType) -> RustType {
    match ty {
        RustType::Slice(item) => RustType::Vec(item.clone()),
        RustType::Tuple(all) => RustType::Tuple(all.iter().map(owned).collect()),
        other => other.clone(),
    }
}

impl Derivative {
    /// `(x.., y, y_bar) -> x_bar..`
    fn reverse(signature: &Signature) -> Result<Derivative, String> {
        let Some(n) = signature.params.len().checked_sub(2) else {
            return Err(
                "a derivative for reverse mode takes the arguments, the result and its adjoint"
                    .into(),
            );
        };
        let (params, last) = signature.params.split_at(n);
        let result = owned(&last[0].ty);
        if !result.leaves().into_iter().any(types::is_float) {
            return Err(format!(
                "`{}` should be the result, but there are no floats in it",
                last[0].name
            ));
        }
        if owned(&last[1].ty) != derivative(&result) {
            return Err(format!(
                "`{}` should be the adjoint of `{}`: `{}`",
                last[1].name,
                last[0].name,
                shown(&derivative(&result))
            ));
        }
        let made =
            Derivative { params: params.to_vec(), result, passed: [last[0].mode, last[1].mode] };
        let expected = made.adjoints();
        if made.floats().is_empty() {
            return Err("there is no parameter of floats before the result".into());
        }
        if owned(&signature.result) != expected {
            return Err(format!("it should give the adjoints `{}`", shown(&expected)));
        }
        Ok(made)
    }

    /// `(x.., dx..) -> (y, dy)`
    fn forward(signature: &Signature) -> Result<Derivative, String> {
        let RustType::Tuple(both) = &signature.result else {
            return Err("it should give the value and its tangent: `(y, dy)`".into());
        };
        let [y, dy] = both.as_slice() else {
            return Err("it should give the value and its tangent: `(y, dy)`".into());
        };
        if derivative(y) != *dy || *dy == RustType::Unit {
            return Err(
                "it should give the value and its tangent, which is of the same type".into()
            );
        }
        let has = |p: &&SignatureParam| derivative(&p.ty) != RustType::Unit;
        let all = &signature.params;
        let n = (0..=all.len()).find(|n| n + all[..*n].iter().filter(has).count() == all.len());
        let fits = n.filter(|n| {
            let floats = all[..*n].iter().filter(has);
            let pairs = floats.zip(&all[*n..]);
            *n < all.len()
                && pairs
                    .into_iter()
                    .all(|(x, dx)| owned(&derivative(&x.ty)) == owned(&dx.ty) && x.mode == dx.mode)
        });
        let Some(n) = fits else {
            return Err("its last parameters should be tangents of those of floats before them, passed as these are".into());
        };
        let passed = [Mode::Value; 2];
        Ok(Derivative { params: all[..n].to_vec(), result: y.clone(), passed })
    }

    /// The parameters with a derivative.
    fn floats(&self) -> Vec<&SignatureParam> {
        self.params.iter().filter(|p| derivative(&p.ty) != RustType::Unit).collect()
    }

    /// What reverse mode gives.
    fn adjoints(&self) -> RustType {
        let mut all: Vec<RustType> =
            self.floats().iter().map(|p| owned(&derivative(&p.ty))).collect();
        if all.len() == 1 { all.remove(0) } else { RustType::Tuple(all) }
    }

    fn types(&self) -> Vec<Type> {
        let leaves = self.params.iter().flat_map(|p| p.ty.leaves());
        leaves.map(in_programs).collect()
    }

    fn results(&self) -> Vec<Type> {
        self.result.leaves().into_iter().map(in_programs).collect()
    }
}

/// A value of a type out of numbers and arrays of programs, whose names begin with `prefix`.
fn rebuilt(ty: &RustType, prefix: &str, k: &mut usize) -> String {
    match ty {
        RustType::Tuple(all) => tuple_of(all.iter().map(|ty| rebuilt(ty, prefix, k))),
        RustType::Unit => "()".into(),
        ty => {
            *k += 1;
            let name = format!("{prefix}{}", *k - 1);
            made(&owned(ty), &if ty.rank() > 0 { format!("{name}.clone()") } else { name })
        }
    }
}

fn tuple_of(all: impl Iterator<Item = String>) -> String {
    format!("({})", all.map(|x| format!("{x}, ")).collect::<String>())
}

/// The numbers and arrays of programs that a value becomes.
fn taken(ty: &RustType, place: &str) -> Vec<String> {
    match ty {
        RustType::Tuple(all) => {
            let each = all.iter().enumerate();
            each.flat_map(|(k, ty)| taken(ty, &format!("{place}.{k}"))).collect()
        }
        RustType::Unit => Vec::new(),
        ty => vec![given(ty, Mode::Value, place)],
    }
}

/// An argument of a function that is called, which is in a variable.
fn passed(mode: Mode, name: &str) -> String {
    if mode == Mode::Value { name.into() } else { format!("&{name}") }
}

impl Derivative {
    /// `let`s of values, the arguments that they are, from numbers and arrays whose names begin with `prefix`.
    fn lets(
        &self,
        params: &[&SignatureParam],
        prefix: &str,
        tangents: bool,
    ) -> (String, Vec<String>) {
        let (mut text, mut args, mut k) = (String::new(), Vec::new(), 0);
        for (j, p) in params.iter().enumerate() {
            let ty = if tangents { derivative(&p.ty) } else { p.ty.clone() };
            let _ = writeln!(text, "let __{prefix}{j} = {};", rebuilt(&ty, prefix, &mut k));
            args.push(passed(p.mode, &format!("__{prefix}{j}")));
        }
        (text, args)
    }

    /// The functions that derivatives of callers call.
    fn text(&self, options: &Of, own: &Ident) -> Result<String, proc_macro2::LexError> {
        let f = &options.of;
        let all: Vec<&SignatureParam> = self.params.iter().collect();
        let (types, results) = (self.types(), self.results());
        let is_float = |ty: &&Type| ty.is_float();
        let floats = |types: &[Type]| types.iter().filter(is_float).copied().collect::<Vec<_>>();
        let (dx, dy) = (floats(&types), floats(&results));
        let with = |types: &[&[Type]]| types.concat();
        let tape = [Type::Tape];
        let head =
            |name: &str, params: &[Type], results: &[Type]| calls::head_of(name, params, results);
        let (lets, args) = self.lets(&all, "a", false);
        let call = format!("{lets}let __y = {f}({});\n", args.join(", "));
        let outputs = taken(&self.result, "__y");
        let mut text = String::new();
        let mut add = |head: String, body: String| {
            let _ = write!(text, "#[inline]\n{head} {{\n{body}}}\n");
        };
        add(head("value", &types, &results), format!("{call}Ok({})\n", tuple(outputs.clone())));

        // Forward mode.
        let params = with(&[&types, &dx]);
        let body = match &options.jvp {
            Jvp::None => not_given(f, "reverse", "forward"),
            other => {
                let g = match other {
                    Jvp::Other(path) => path.to_token_stream().to_string(),
                    _ => own.to_string(),
                };
                let shift = format!("d{}", "");
                let renamed: String = (0..dx.len())
                    .map(|k| format!("let {shift}{k} = a{};\n", types.len() + k))
                    .collect();
                let (more, along) = self.lets(&self.floats(), &shift, true);
                let args = [args.clone(), along].concat().join(", ");
                let tangents = taken(&derivative(&self.result), "__dy");
                format!(
                    "{renamed}{lets}{more}let (__y, __dy) = {g}({args});\nOk({})\n",
                    tuple([outputs.clone(), tangents].concat())
                )
            }
        };
        add(head("jvp", &params, &with(&[&results, &dy])), body);

        // Reverse mode keeps arguments and results.
        let record = with(&[&types, &tape]);
        let reverse = with(&[&dy, &tape]);
        let at = types.len();
        if matches!(options.jvp, Jvp::This) {
            add(
                head("record", &record, &with(&[&results, &tape])),
                not_given(f, "forward", "reverse"),
            );
            add(
                head("reverse", &reverse, &with(&[&dx, &tape])),
                not_given(f, "forward", "reverse"),
            );
        } else {
            let kept: Vec<(Type, String)> = types
                .iter()
                .enumerate()
                .map(|(k, ty)| (*ty, format!("a{k}")))
                .chain(results.iter().enumerate().map(|(k, ty)| (*ty, format!("__r{k}"))))
                .collect();
            let (arrays, numbers): (Vec<_>, Vec<_>) =
                kept.iter().partition(|(ty, _)| ty.is_array());
            let lets: String = outputs
                .iter()
                .enumerate()
                .map(|(k, output)| format!("let __r{k} = {output};\n"))
                .collect();
            let words: Vec<String> =
                numbers.iter().map(|(_, v)| format!("__a::Word::word({v})")).collect();
            let mut body = format!(
                "{call}{lets}if !a{at}.push([{}]) {{ return Err(__a::no_room(a{at}.bytes(), (0, 0), &[])); }}\n",
                words.join(", ")
            );
            for (_, v) in &arrays {
                let _ = writeln!(body, "a{at}.keep({v}.clone());");
            }
            let _ = writeln!(body, "Ok({})", tuple((0..results.len()).map(|k| format!("__r{k}"))));
            add(head("record", &record, &with(&[&results, &tape])), body);

            let tape_at = dy.len();
            let mut body: String = (0..dy.len()).map(|k| format!("let __s{k} = a{k};\n")).collect();
            let _ = writeln!(body, "let __tape = a{tape_at};");
            let lost = "return Err(__a::at(__a::FaultKind::Record, (0, 0), &[]))";
            for (ty, v) in arrays.iter().rev() {
                let kind = crate::api::kind(*ty);
                let _ = writeln!(body, "let Some({v}) = __tape.give() else {{ {lost} }};");
                let _ = writeln!(body, "let {v}: {kind} = {v};");
            }
            let _ = writeln!(
                body,
                "let Some(__words) = __tape.pop::<{}>() else {{ {lost} }};",
                numbers.len()
            );
            for (k, (ty, v)) in numbers.iter().enumerate() {
                let kind = crate::api::kind(*ty);
                let _ = writeln!(body, "let {v} = <{kind} as __a::Word>::number(__words[{k}]);");
            }
            let (lets, mut args) = self.lets(&all, "a", false);
            body.push_str(&lets);
            let _ = writeln!(body, "let __y = {};", rebuilt(&self.result, "__r", &mut 0));
            let bar = rebuilt(&derivative(&self.result), "__s", &mut 0);
            let _ = writeln!(body, "let __y_bar = {bar};");
            args.push(passed(self.passed[0], "__y"));
            args.push(passed(self.passed[1], "__y_bar"));
            let _ = writeln!(body, "let __x_bar = {own}({});", args.join(", "));
            let made = taken(&self.adjoints(), "__x_bar");
            let mut k = 0;
            for (j, ty) in types.iter().enumerate().filter(|(_, ty)| ty.is_float()) {
                let _ = writeln!(body, "let __g{k} = {};", made[k]);
                if ty.is_array() {
                    let _ = writeln!(
                        body,
                        "__a::pass::fits(\"the adjoint that {own} gives\", __g{k}.dims(), \"the argument\", a{j}.dims())?;"
                    );
                }
                k += 1;
            }
            let _ = writeln!(body, "Ok({})", tuple((0..k).map(|k| format!("__g{k}"))));
            add(head("reverse", &reverse, &with(&[&dx, &tape])), body);
        }
        // What is written by hand is not differentiated.
        let why = format!(
            "the derivative of `{f}` is given by its author and is not differentiated again, which second derivatives need"
        );
        let refused = format!("Err(__a::not_given({why:?}))\n");
        let record_jvp = with(&[&record, &dx]);
        add(head("record_jvp", &record_jvp, &with(&[&results, &tape, &dy])), refused.clone());
        add(head("reverse_jvp", &with(&[&reverse, &dy]), &with(&[&dx, &tape, &dx])), refused);
        Ok(text)
    }
}

fn not_given(f: &Ident, has: &str, wanted: &str) -> String {
    let why = format!("the derivative of `{f}` is given for {has} mode, and not for {wanted} mode");
    format!("Err(__a::not_given({why:?}))\n")
}

/// The module of the function, and what stands beside it, where names mean what they do for the derivative.
fn beside(
    options: &Of,
    function: &syn::ItemFn,
    of: &Derivative,
    text: String,
) -> Result<TokenStream, proc_macro2::LexError> {
    let (f, visibility) = (&options.of, &function.vis);
    let takes = calls::full(&calls::takes(&of.types(), &of.results(), &[]))?;
    let functions = calls::full(&text)?;
    let lints = quote! {
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
    };
    let about = format!("The derivative of `{f}`, for functions that call it.");
    Ok(quote! {
        #[doc = #about]
        #lints
        #visibility mod #f {
            #[doc(hidden)]
            pub struct __Function;
            impl #takes for __Function { type Function = __Function; }
        }
        #lints
        impl #f::__Function { #functions }
    })
}
