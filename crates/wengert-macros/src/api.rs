//! The functions that users call.
//!
//! Each takes and gives Rust's own types, and hands numbers and arrays to a printed program. They are built from the
//! signature alone.

mod batch;
pub(crate) mod calls;
mod code;
mod jacobian;
mod places;
mod within;

use crate::expand::{Derivatives, Program, Programs};
use crate::methods::Surroundings;
use crate::options::Options;
use crate::types::{self, given, owned, passed, tuple};
use places::{Filled, Place, derivative, differentiated, parts, shaped};
use std::fmt::Write;
use wengert_core::ir::Type;
use wengert_core::surface::rust::{Mode, RustType, Signature, SignatureParam, StructArray};

/// A number or an array among the parameters.
pub(crate) struct Leaf {
    pub(crate) ty: RustType,
    pub(crate) mode: Mode,
    /// How it is reached from the parameter.
    place: Place,
    /// The parameter.
    param: usize,
    /// Whether it is differentiated by.
    pub(crate) diff: bool,
}

/// How programs are run: in the version for the processor. Debug builds have one version, for every processor, which takes half as
/// long to compile.
const FASTEST: &str = "#[inline(always)]\nfn __fastest<W: __Work>(work: W) -> W::Out {\n\
    if ::std::cfg!(debug_assertions) { work.run() } else { ::wengert::__private::fastest(work) }\n}\n";

/// The numbers and arrays among the parameters.
pub(crate) fn leaves(signature: &Signature) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for (k, p) in signature.params.iter().enumerate() {
        for part in parts(&p.ty) {
            let diff = types::is_float(&part.ty) && !p.nondiff && !part.nondiff;
            let (ty, place) = (part.ty, part.place);
            leaves.push(Leaf { ty, mode: p.mode, place, param: k, diff });
        }
    }
    leaves
}

/// The module of a function.
pub(crate) fn module(
    signature: &Signature,
    programs: &Programs,
    surroundings: &Surroundings,
    places: &str,
    options: &Options,
) -> String {
    let name = &signature.name;
    let Surroundings { visibility, imports, usage } = surroundings;
    let mut api = Api {
        signature,
        leaves: leaves(signature),
        text: String::new(),
        memory: options.memory,
        within: String::new(),
    };
    api.code("value", &programs.value);
    api.value(&programs.value);
    if let Some(derivatives) = &programs.derivatives {
        api.code("jvp", &derivatives.jvp);
        api.code("vjp", &derivatives.vjp);
        api.code("products", &derivatives.products);
        if let Some(nested) = &derivatives.nested {
            api.code("nested", nested);
        }
        api.jvp(&derivatives.jvp);
        api.vjp(derivatives);
        if matches!(signature.result, RustType::F64 | RustType::F32) {
            api.gradient(derivatives);
            api.products(&derivatives.products);
        }
        api.jacobian();
        api.plan(derivatives);
        api.push_within();
    }
    if !options.batch.is_empty() {
        api.batch(&options.batch);
    }
    let calls = calls::callable(programs);
    let declared = calls::declared(&programs.outside);
    format!(
        "/// `{name}` and its derivatives.\n\
         #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]\n\
         {visibility} mod {name} {{\n\
         use ::wengert::__private::{{Members as __Members, Within as __Within, Work as __Work, ahead as __a}};\n\
         {imports}\
         {FASTEST}\
         const __PLACES: &str = \"{places}\";\n\
         fn __told(fault: ::std::boxed::Box<__a::Fault>) -> __a::RunError {{\n\
         __a::RunError::new(fault, ::std::file!(), __PLACES)\n}}\n{}{calls}{declared}}}\n\
         // Where only derivatives are called, the function is still used.\n\
         const _: () = {{ {usage} }};\n",
        api.text
    )
}

/// What is given to a program and comes back, on the way to text.
struct Api<'a> {
    signature: &'a Signature,
    leaves: Vec<Leaf>,
    text: String,
    /// The bytes that functions of reverse mode keep to where nothing else is said.
    memory: Option<u64>,
    /// Those that keep to what a caller says, as methods.
    within: String,
}

/// A function to be written.
struct Function {
    name: &'static str,
    about: String,
    params: Vec<(String, String)>,
    result: String,
    body: String,
    /// Whether it is reverse mode, and may be asked to keep to a memory; whether it has loops then.
    reverse: Option<bool>,
}

impl Api<'_> {
    /// A name that no parameter has.
    fn free(&self, wanted: String) -> String {
        let mut name = wanted;
        while self.signature.params.iter().any(|p| p.name == name) {
            name.push('_');
        }
        name
    }

    fn tangent(&self, p: &SignatureParam) -> String {
        self.free(format!("d{}", p.name))
    }

    fn adjoint(&self, p: &SignatureParam) -> String {
        self.free(format!("{}_bar", p.name))
    }

    /// The parameters of the function itself.
    fn own(&self) -> Vec<(String, String)> {
        let params = self.signature.params.iter().filter(|p| !p.constant);
        params.map(|p| (p.name.clone(), passed(&p.ty, p.mode))).collect()
    }

    /// Its constant parameters, and how they are handed on.
    fn constants(&self) -> (String, String) {
        let all = self.signature.params.iter().filter(|p| p.constant);
        let names: Vec<&str> = all.map(|p| p.name.as_str()).collect();
        if names.is_empty() {
            return (String::new(), String::new());
        }
        let typed: Vec<String> = names.iter().map(|n| format!("const {n}: usize")).collect();
        (format!("<{}>", typed.join(", ")), format!("::<{}>", names.join(", ")))
    }

    /// Whether a parameter has a derivative.
    fn differs(&self, k: usize) -> bool {
        self.leaves.iter().any(|leaf| leaf.param == k && leaf.diff)
    }

    /// The parameters that are differentiated by.
    fn active(&self) -> Vec<&SignatureParam> {
        let params = self.signature.params.iter().enumerate();
        params.filter(|(k, _)| self.differs(*k)).map(|(_, p)| p).collect()
    }

    fn written(&self) -> Vec<usize> {
        let all = self.leaves.iter().enumerate();
        all.filter(|(_, leaf)| leaf.mode == Mode::RefMut).map(|(k, _)| k).collect()
    }

    /// `let`s of the arguments of a program.
    fn arguments(&self) -> String {
        let mut text = String::new();
        for (k, leaf) in self.leaves.iter().enumerate() {
            let (place, mode) = leaf.place.of(&self.signature.params[leaf.param].name, leaf.mode);
            text.push_str(&format!("let __x{k} = {};\n", given(&leaf.ty, mode, &place)));
        }
        text
    }

    /// How many results the function has in programs, and which are floats.
    fn outputs(&self) -> Vec<RustType> {
        self.signature.outputs().into_iter().cloned().collect()
    }

    /// The function's result, out of the results of a program from `__r{first}` on.
    fn result(&self, first: usize) -> String {
        let mut values = (first..).map(|k| format!("__r{k}"));
        shaped(&self.signature.result, &mut values)
    }

    /// Writes back what `&mut` parameters came to.
    fn write_back(&self) -> String {
        let first = self.signature.result.leaves().len();
        let mut text = String::new();
        for (k, leaf) in self.written().into_iter().map(|k| &self.leaves[k]).enumerate() {
            let place = &self.signature.params[leaf.param].name;
            text.push_str(&leaf.place.write(&leaf.ty, place, &format!("__r{}", first + k)));
            text.push('\n');
        }
        text
    }

    /// Writes a function that fails, and one that panics.
    fn push(&mut self, function: Function) {
        let Function { name, about, params, result, body, reverse } = function;
        let (constants, turbofish) = self.constants();
        let typed: Vec<String> = params.iter().map(|(p, ty)| format!("{p}: {ty}")).collect();
        let names: Vec<&str> = params.iter().map(|(p, _)| p.as_str()).collect();
        let (typed, names) = (typed.join(", "), names.join(", "));
        let call = match reverse {
            None => format!("(|| -> __a::Result<{result}> {{\n{body}}})()"),
            Some(driven) => self.driven(name, driven, (&typed, &names), &result, &body),
        };
        write!(
            self.text,
            "/// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and memory that is not there.\n\
             #[inline]\npub fn try_{name}{constants}({typed}) -> ::std::result::Result<{result}, __a::RunError> {{\n\
             {call}.map_err(__told)\n}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would. [`try_{name}`] gives an error instead.\n\
             #[inline]\n#[track_caller]\npub fn {name}{constants}({typed}) -> {result} {{\n\
             match try_{name}{turbofish}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n",
            of = self.signature.name,
        )
        .unwrap_or_default();
        if reverse.is_some() {
            self.push_method(name, &about, (&typed, &names), &result);
        }
    }

    fn value(&mut self, program: &Program) {
        let body = format!(
            "{}{}{}Ok({})\n",
            self.arguments(),
            self.run("value", program, &[]),
            self.write_back(),
            self.result(0)
        );
        let about = "The value, with the same bits on every machine: elementary functions are wengert's own, \
                     and products and sums may be rounded once, so the last bits may differ from the function's.";
        self.push(Function {
            name: "value",
            about: about.into(),
            params: self.own(),
            result: owned(&self.signature.result),
            body,
            reverse: None,
        });
    }

    fn jvp(&mut self, program: &Program) {
        let mut params = self.own();
        for p in self.active() {
            params.push((self.tangent(p), passed_derivative(p)));
        }
        let mut body = self.arguments();
        let mut others = Vec::new();
        for (k, leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.diff) {
            let p = &self.signature.params[leaf.param];
            let (place, mode) = leaf.place.of(&self.tangent(p), leaf.mode);
            body.push_str(&format!("let __d{k} = {};\n", given(&leaf.ty, mode, &place)));
            if leaf.ty.rank() > 0 {
                let shown = leaf.place.shown(&self.tangent(p));
                body.push_str(&self.fits(&shown, &format!("__d{k}"), leaf, &format!("__x{k}")));
            }
            others.push(format!("__d{k}"));
        }
        body.push_str(&self.run("jvp", program, &others));
        body.push_str(&self.write_back());
        // Tangents of the float results, then those of what was written.
        let outputs = self.outputs();
        let tangents: Vec<usize> =
            (0..outputs.len()).filter(|k| types::is_float(&outputs[*k])).collect();
        let place = |of: usize| {
            let at = tangents.iter().position(|k| *k == of).unwrap_or(0);
            format!("__r{}", outputs.len() + at)
        };
        let own = self.signature.result.leaves().len();
        for (j, k) in self.written().into_iter().enumerate() {
            let leaf = &self.leaves[k];
            if leaf.diff {
                let p = &self.signature.params[leaf.param];
                body.push_str(&leaf.place.write(&leaf.ty, &self.tangent(p), &place(own + j)));
                body.push('\n');
            }
        }
        let d = derivative(&self.signature.result);
        let own = parts(&self.signature.result);
        let mut values = own.iter().enumerate().map(|(k, part)| {
            if types::is_float(&part.ty) {
                return Filled::Made(place(k));
            }
            Filled::Same(types::made(&part.ty, &format!("__r{k}.clone()")))
        });
        let tangent = differentiated(&self.signature.result, &mut values);
        body.push_str(&format!("let __t = {tangent};\nOk(({}, __t))\n", self.result(0)));
        let about = "The value, and its derivative along a direction: forward mode. What is behind `&mut` is changed, and \
                     so is its tangent.";
        let result = format!("({}, {})", owned(&self.signature.result), owned(&d));
        self.push(Function {
            name: "jvp",
            about: about.into(),
            params,
            result,
            body,
            reverse: None,
        });
    }

    fn fits(&self, name: &str, given: &str, of: &Leaf, like: &str) -> String {
        let of = of.place.shown(&self.signature.params[of.param].name);
        format!("__a::pass::fits(\"{name}\", {given}.dims(), \"`{of}`\", {like}.dims())?;\n")
    }

    fn vjp(&mut self, derivatives: &Derivatives) {
        let mut params = self.own();
        let bar = self.free("result_bar".into());
        let d = derivative(&self.signature.result);
        let own = self.signature.result.leaves();
        if own.iter().any(|ty| types::is_float(ty)) {
            params.push((bar.clone(), passed(&unsized_(&d), reference(&d))));
        }
        for p in self.active().into_iter().filter(|p| p.mode == Mode::RefMut) {
            params.push((self.adjoint(p), passed_derivative(p)));
        }
        let mut body = self.arguments();
        let (mut seeds, mut after) = (Vec::new(), String::new());
        for (k, part) in parts(&self.signature.result).into_iter().enumerate() {
            let ty = part.ty;
            if types::is_float(&ty) {
                let seed = format!("__s{k}");
                let (place, mode) = part.place.of(&bar, reference(&d));
                body.push_str(&format!("let {seed} = {};\n", given(&unsized_(&ty), mode, &place)));
                if ty.rank() > 0 {
                    let place = part.place.shown(&bar);
                    body.push_str(&format!("let __n{k} = *{seed}.dims();\n"));
                    after.push_str(&format!(
                        "__a::pass::fits(\"{place}\", &__n{k}, \"the result\", __r{k}.dims())?;\n"
                    ));
                }
                seeds.push(seed);
            }
        }
        for j in self.written() {
            let leaf = &self.leaves[j];
            if !types::is_float(&leaf.ty) {
                continue;
            }
            let (p, seed) = (&self.signature.params[leaf.param], format!("__w{j}"));
            if leaf.diff {
                let (place, mode) = leaf.place.of(&self.adjoint(p), leaf.mode);
                body.push_str(&format!("let {seed} = {};\n", given(&leaf.ty, mode, &place)));
                if leaf.ty.rank() > 0 {
                    let shown = leaf.place.shown(&self.adjoint(p));
                    body.push_str(&self.fits(&shown, &seed, leaf, &format!("__x{j}")));
                }
            } else {
                body.push_str(&format!("let {seed} = {};\n", nothing(leaf, j)));
            }
            seeds.push(seed);
        }
        body.push_str(&self.run_back(derivatives, &seeds));
        body.push_str(&after);
        body.push_str(&self.write_back());
        let first = self.outputs().len();
        let wrt: Vec<usize> = (0..self.leaves.len()).filter(|k| self.leaves[*k].diff).collect();
        let place =
            |of: usize| format!("__r{}", first + wrt.iter().position(|k| *k == of).unwrap_or(0));
        for k in self.written() {
            let leaf = &self.leaves[k];
            if leaf.diff {
                let p = &self.signature.params[leaf.param];
                body.push_str(&leaf.place.write(&leaf.ty, &self.adjoint(p), &place(k)));
                body.push('\n');
            }
        }
        let (ty, adjoints) = self.adjoints(&wrt, first, &|p| p.mode != Mode::RefMut);
        body.push_str(&format!("Ok(({}, {adjoints}))\n", self.result(0)));
        let about = "The value, and what reverse mode makes of the adjoint of the result: the adjoints of the parameters. \
                     What is behind `&mut` is changed; its adjoint is given as that of what it ends with, and becomes that \
                     of what it began with.";
        let result = format!("({}, {ty})", owned(&self.signature.result));
        let reverse = Some(derivatives.vjp.driven);
        self.push(Function { name: "vjp", about: about.into(), params, result, body, reverse });
    }

    /// The type and value of derivatives by parameters, which are results from `__r{first}` on.
    fn adjoints(
        &self,
        wrt: &[usize],
        first: usize,
        which: &dyn Fn(&SignatureParam) -> bool,
    ) -> (String, String) {
        let (mut kinds, mut values) = (Vec::new(), Vec::new());
        for (k, p) in self.signature.params.iter().enumerate() {
            if !self.differs(k) || !which(p) {
                continue;
            }
            let d = derivative(&p.ty);
            let own = self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.param == k);
            let mut filled = own.map(|(j, leaf)| match wrt.iter().position(|of| *of == j) {
                Some(j) => Filled::Made(format!("__r{}", first + j)),
                None => {
                    let (place, _) = leaf.place.of(&p.name, p.mode);
                    Filled::Same(crate::structs::copy(&leaf.ty, &place))
                }
            });
            kinds.push(owned(&d));
            values.push(differentiated(&p.ty, &mut filled));
        }
        (tuple(kinds), tuple(values))
    }

    /// Seeds for the gradient of the result alone.
    fn seeds(&self) -> Vec<String> {
        let one = match self.signature.result {
            RustType::F32 => "1.0_f32",
            _ => "1.0_f64",
        };
        let mut seeds = vec![one.to_string()];
        for k in self.written() {
            if types::is_float(&self.leaves[k].ty) {
                seeds.push(nothing(&self.leaves[k], k));
            }
        }
        seeds
    }

    /// `let`s of seeds: they are made before the arguments are given away.
    fn seeded(&self) -> (String, Vec<String>) {
        let seeds = self.seeds();
        let names: Vec<String> = (0..seeds.len()).map(|k| format!("__s{k}")).collect();
        let lets = names.iter().zip(&seeds).map(|(name, seed)| format!("let {name} = {seed};\n"));
        (lets.collect(), names)
    }

    fn gradient(&mut self, derivatives: &Derivatives) {
        let (lets, seeds) = self.seeded();
        let wrt: Vec<usize> = (0..self.leaves.len()).filter(|k| self.leaves[*k].diff).collect();
        let (ty, gradient) = self.adjoints(&wrt, self.outputs().len(), &|_| true);
        let value = owned(&self.signature.result);
        let body = format!(
            "{}{lets}{}{}Ok(({}, {gradient}))\n",
            self.arguments(),
            self.run_back(derivatives, &seeds),
            self.write_back(),
            self.result(0)
        );
        let by: Vec<String> = self.active().iter().map(|p| format!("`{}`", p.name)).collect();
        let by = by.join(", ");
        let params = self.own();
        self.push(Function {
            name: "value_and_grad",
            about: format!("The value, and its gradient by {by}: reverse mode."),
            params: params.clone(),
            result: format!("({value}, {ty})"),
            body,
            reverse: Some(derivatives.vjp.driven),
        });
        let names: Vec<&str> = params.iter().map(|(p, _)| p.as_str()).collect();
        let names = names.join(", ");
        // The error has been told already.
        let typed: Vec<String> = params.iter().map(|(p, ty)| format!("{p}: {ty}")).collect();
        let typed = typed.join(", ");
        let of = &self.signature.name;
        let (constants, turbofish) = self.constants();
        self.push_grad_method(&by, (&typed, &names), &ty);
        write!(
            self.text,
            "/// The gradient by {by}: reverse mode.\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and memory \
             that is not there.\n\
             #[inline]\npub fn try_grad{constants}({typed}) -> ::std::result::Result<{ty}, __a::RunError> {{\n\
             try_value_and_grad{turbofish}({names}).map(|both| both.1)\n}}\n\
             /// The gradient by {by}: reverse mode.\n///\n/// # Panics\n///\n/// Where `{of}` would.\n\
             #[inline]\n#[track_caller]\npub fn grad{constants}({typed}) -> {ty} {{\nvalue_and_grad{turbofish}({names}).1\n}}\n"
        )
        .unwrap_or_default();
    }

    fn products(&mut self, program: &Program) {
        let mut params = self.own();
        let (mut body, mut tangents) = (self.arguments(), Vec::new());
        for p in self.active() {
            let ty = derivative(&p.ty);
            let mode = if p.mode == Mode::Value { Mode::Value } else { Mode::Ref };
            params.push((self.tangent(p), passed(&ty, mode)));
        }
        for (k, leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.diff) {
            let p = &self.signature.params[leaf.param];
            let mode = if leaf.mode == Mode::Value { Mode::Value } else { Mode::Ref };
            let (place, mode) = leaf.place.of(&self.tangent(p), mode);
            body.push_str(&format!("let __d{k} = {};\n", given(&leaf.ty, mode, &place)));
            if leaf.ty.rank() > 0 {
                let shown = leaf.place.shown(&self.tangent(p));
                body.push_str(&self.fits(&shown, &format!("__d{k}"), leaf, &format!("__x{k}")));
            }
            tangents.push(format!("__d{k}"));
        }
        let (lets, seeds) = self.seeded();
        body.push_str(&lets);
        body.push_str(&self.run("products", program, &[seeds, tangents].concat()));
        body.push_str(&self.write_back());
        // Results, adjoints, tangents of the float results, and what is asked for.
        let outputs = self.outputs();
        let wrt: Vec<usize> = (0..self.leaves.len()).filter(|k| self.leaves[*k].diff).collect();
        let floats = outputs.iter().filter(|ty| types::is_float(ty)).count();
        let (ty, products) = self.adjoints(&wrt, outputs.len() + wrt.len() + floats, &|_| true);
        body.push_str(&format!("Ok({products})\n"));
        let about = "The second derivatives times a direction: how the gradient changes along it.";
        let reverse = Some(program.driven);
        self.push(Function { name: "hvp", about: about.into(), params, result: ty, body, reverse });
    }
}

/// The type of a value in programs.
pub(crate) fn kind(ty: Type) -> String {
    match ty {
        Type::F64 => "f64".into(),
        Type::F32 => "f32".into(),
        Type::I64 => "i64".into(),
        Type::Bool => "bool".into(),
        Type::Tape => "__a::Tape".into(),
        Type::Array(elem, rank) => format!("__a::Array<{}, {rank}>", kind(elem.scalar())),
    }
}

/// A derivative of a parameter, passed as the parameter is.
fn passed_derivative(p: &SignatureParam) -> String {
    passed(&derivative(&p.ty), p.mode)
}

/// How an adjoint of a result is passed: arrays by reference.
fn reference(ty: &RustType) -> Mode {
    let is_large = ty.rank() > 0 || matches!(ty, RustType::Struct(_) | RustType::Structs(_));
    if is_large { Mode::Ref } else { Mode::Value }
}

/// A vector behind a reference as a slice.
fn unsized_(ty: &RustType) -> RustType {
    match ty {
        RustType::Vec(item) => RustType::Slice(item.clone()),
        RustType::Structs(array) => RustType::Structs(std::sync::Arc::new(StructArray {
            like: unsized_(&array.like),
            ..(**array).clone()
        })),
        other => other.clone(),
    }
}

/// An adjoint of nothing, for a parameter.
fn nothing(leaf: &Leaf, k: usize) -> String {
    match leaf.ty {
        RustType::F64 => "0.0_f64".into(),
        RustType::F32 => "0.0_f32".into(),
        _ => format!("__a::pass::zeros(&__x{k})?"),
    }
}
