//! Lowering: the surface tree to IR.
//!
//! One call of [`lower`] specialises one function for the types of its arguments. Calls to other
//! functions of the file are lowered in place, so that a called function's writes are seen by its
//! caller. Nothing is executed.
//!
//! Names are bound to scalars or to views of *storage* ([`env`]). Assigning `b = a` binds a second name to the
//! same storage; a store makes a new version of the storage, whatever name it went through. Leaving early
//! is a flag like any other variable, except that `if c: ... break` standing directly in a loop is an exit
//! of the loop.
//!
//! What a loop carries, and with which types, is found by trying: its body is lowered under a guess, and
//! again under a wider one if the body does not leave the variables as the guess has them ([`looping`]).
//!
//! Reading order: [`env`] (bindings, storage, sharing), [`operand`] (what expressions evaluate to), [`params`]
//! (types of the parameters); [`expr`], [`arith`], [`bounds`] (integers from below), [`broadcast`] (one kind and
//! one shape), [`view`] (parts of storage), [`place`] (what `x[...]` names), [`builtins`] and [`functions`] (the
//! library); [`stmt`], [`names`] (what statements assign), [`branch`], [`call`], [`recursion`], [`external`]; [`looping`] with
//! [`items`] (what a loop goes over), [`guess`] (what it is taken to carry) and [`ends`] (where an iteration
//! ends).

mod arith;
mod bounds;
mod branch;
mod broadcast;
mod builtins;
mod call;
mod ends;
mod env;
mod expr;
mod external;
mod functions;
mod guess;
mod items;
mod looping;
mod names;
mod operand;
mod parallel;
mod params;
mod place;
mod recursion;
mod stmt;
mod sums;
mod view;

use crate::ir::{Builder, Module, Op, Type, Value};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{self, DeclaredType};
use call::Scope;
use env::{Binding, Env};
use guess::Found;
use operand::Operand;
use recursion::Recursive;
use rustc_hash::FxHashMap as HashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Deepest nesting of calls, which are lowered in place.
const MAX_CALLS: usize = 64;

/// Most instructions a function may come to, calls included.
const MAX_VALUES: usize = 400_000;

/// Most calls that are written out in one function.
const MAX_EXPANSIONS: usize = 20_000;

/// An argument a function is specialised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arg {
    /// Its type. An integer becomes a float unless the function uses it as an index or a bound.
    pub ty: Type,
    /// The axes of an array that have one element, as bits: they broadcast.
    pub units: u8,
}

impl From<Type> for Arg {
    fn from(ty: Type) -> Arg {
        Arg { ty, units: 0 }
    }
}

/// Lowers a function for these arguments.
pub fn lower<A: Into<Arg> + Copy>(
    module: &tree::Module,
    function: &str,
    args: &[A],
) -> Result<Module, Vec<Diagnostic>> {
    let args: Vec<Arg> = args.iter().map(|a| (*a).into()).collect();
    let Some(func) = module.function(function) else {
        let known: Vec<&str> = module.functions.iter().map(|f| f.name.text.as_str()).collect();
        let error =
            Diagnostic::new("unknown-function", format!("there is no function `{function}`"));
        return Err(vec![error.help(match known.as_slice() {
            [] => "the file defines no function".into(),
            _ => format!("the file defines {}", quoted(&known)),
        })]);
    };
    let whole = with_captured(module, func);
    if args.len() != whole.params.len() {
        let message = format!(
            "`{function}` takes {} arguments, but {} are given",
            whole.params.len(),
            args.len()
        );
        let error =
            Diagnostic::new("argument-count", message).label(func.name.span, "defined here");
        return Err(vec![error]);
    }
    let types = params::types(module, &whole, &args).map_err(|e| vec![e])?;
    let params: Vec<(Type, Option<Arc<str>>)> = whole
        .params
        .iter()
        .zip(&types)
        .map(|(p, ty)| (*ty, Some(p.name.text.as_str().into())))
        .collect();
    let recursive = Recursive::new(module);
    let (mut lowering, values) = Lowering::new(module, function, &params, recursive);
    let own = func.params.len();
    let given: Vec<_> = whole.params.iter().zip(values).zip(&args).collect();
    if given.len() > own {
        lowering.captured = Some(0);
        given[own..].iter().for_each(|((p, v), arg)| lowering.parameter(p, *v, arg.units));
        lowering.env.enter(Some(0));
    }
    given[..own].iter().for_each(|((p, v), arg)| lowering.parameter(p, *v, arg.units));
    let results = lowering.body(func, true).map_err(|e| vec![e])?;
    let results = lowering.distinct(results).map_err(|e| vec![e])?;
    let mut module = Module::of(lowering.b.finish(results));
    module.funcs.extend(lowering.recursive.finish());
    external::declare(&mut module);
    Ok(module)
}

/// A function with what is captured among its parameters.
fn with_captured<'t>(module: &tree::Module, func: &'t tree::Function) -> Cow<'t, tree::Function> {
    if module.captured.is_empty() {
        return Cow::Borrowed(func);
    }
    let params = [&func.params[..], &module.captured].concat();
    Cow::Owned(tree::Function { params, ..func.clone() })
}

/// The parameters of a function that it uses as a number of things: an index, a bound, a size.
pub fn counted_parameters(module: &tree::Module, function: &str) -> Vec<String> {
    let Some(func) = module.function(function) else { return Vec::new() };
    let counted = params::indices(module, func);
    let names = func.params.iter().map(|p| p.name.text.clone());
    names.filter(|name| counted.contains(name)).collect()
}

/// The state of lowering one function.
struct Lowering<'t> {
    module: &'t tree::Module,
    b: Builder,
    env: Env,
    /// What is known of integers from below, to leave out the wrap-around of negative indices.
    lower_bounds: HashMap<Value, i64>,
    /// The axes of arrays that are known to have one element, as bits.
    units: HashMap<Value, u8>,
    /// The functions being lowered, outermost first.
    scopes: Vec<Scope>,
    /// What loops were found to carry, for when they are lowered again.
    found: HashMap<(usize, Span), Found>,
    /// The variables that are set wherever the loop being lowered is left by `break`, each with the hidden
    /// variable that holds it then.
    kept: Vec<(String, String)>,
    /// What the parallel loop lowered last sums up.
    sums: Vec<parallel::Sum>,
    /// How many calls have been written out.
    expansions: usize,
    /// Functions that call themselves.
    recursive: Recursive,
    /// The frame of what is captured from outside the text.
    captured: Option<usize>,
}

type Lowered<T> = Result<T, Diagnostic>;

impl<'t> Lowering<'t> {
    /// Starts a function; gives back the values of its parameters.
    fn new(
        module: &'t tree::Module,
        name: &str,
        params: &[(Type, Option<Arc<str>>)],
        recursive: Recursive,
    ) -> (Self, Vec<Value>) {
        let (b, values) = Builder::new(name, params);
        let lowering = Lowering {
            module,
            b,
            env: Env::default(),
            lower_bounds: HashMap::default(),
            units: HashMap::default(),
            scopes: Vec::new(),
            found: HashMap::default(),
            kept: Vec::new(),
            sums: Vec::new(),
            expansions: 0,
            recursive,
            captured: None,
        };
        (lowering, values)
    }

    /// Binds a parameter of the function that is lowered.
    fn parameter(&mut self, p: &tree::Param, v: Value, units: u8) {
        self.note_units(v, units);
        let binding = self.bind_value(v);
        if let (Binding::Array(view), Some(DeclaredType::List(_))) =
            (&binding, p.annotation.map(|a| a.ty))
        {
            self.env.mark_list(view.storage);
        }
        self.env.bind(&p.name.text, binding, p.name.span);
        for (axis, length) in p.lengths.iter().enumerate() {
            let Some(length) = *length else { continue };
            self.b.at(p.span);
            let found = self.b.op(Op::Dim(axis as u8), &[v])[0];
            let wanted = self.b.i64(length);
            let fits = self.b.prim(Prim::IEq, &[found, wanted]);
            let message =
                format!("axis {axis} of `{}` does not have {length} elements", p.name.text);
            self.b.op(Op::Assert(message.into()), &[fits]);
        }
    }

    /// A function's result must not be the same array twice, nor is it: a second mention is a copy.
    fn distinct(&mut self, results: Vec<Operand>) -> Lowered<Vec<Value>> {
        let mut seen = Vec::new();
        let mut out = Vec::new();
        for r in results {
            out.push(match r {
                Operand::Array(view) if view.part.is_none() => {
                    let v = self.env.version(view.storage);
                    if seen.contains(&view.storage) {
                        self.copy(v)
                    } else {
                        seen.push(view.storage);
                        v
                    }
                }
                other => self.value(&other, Span::default())?,
            });
        }
        // A copy reads its source, which must therefore not be handed out before: results are
        // yielded together, after every copy.
        Ok(out)
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
