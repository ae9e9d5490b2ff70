//! Lowering: the surface tree to IR.
//!
//! One call of [`lower`] specialises one function for the kinds of its arguments. Calls to other
//! functions of the file are lowered in place, so that a called function's writes are seen by its
//! caller. Nothing is executed.
//!
//! Names are bound to scalars or to *storage*. Assigning `b = a` binds a second name to the same
//! storage; a store makes a new version of the storage, whatever name it went through. Loops carry
//! the scalars their body assigns and every storage in sight (a pass drops those left unchanged).
//! Leaving early is a flag like any other variable, except that `if c: ... break` standing directly
//! in a loop is an exit of the loop.
//!
//! Reading order: [`env`] (bindings), [`infer`] (types of variables at loops and branches),
//! [`names`] (what statements assign), [`expr`], [`index`], [`stmt`], [`looping`].

mod branch;
mod env;
mod expr;
mod functions;
mod index;
mod infer;
mod looping;
mod names;
mod stmt;

use crate::ir::{Builder, Module, Type, Value};
use crate::span::{Diagnostic, Span};
use crate::surface::tree;
use env::{Binding, Env};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Deepest nesting of calls, which are lowered in place.
const MAX_CALLS: usize = 64;

/// Most instructions a function may come to, calls included.
const MAX_VALUES: usize = 200_000;

/// Most calls that are written out in one function.
const MAX_EXPANSIONS: usize = 20_000;

/// Lowers a function for arguments of these types. An integer becomes a float unless the function uses
/// it as an index or a bound.
pub fn lower(
    module: &tree::Module,
    function: &str,
    args: &[Type],
) -> Result<Module, Vec<Diagnostic>> {
    let Some(func) = module.function(function) else {
        let known: Vec<&str> = module.functions.iter().map(|f| f.name.text.as_str()).collect();
        let error =
            Diagnostic::new("unknown-function", format!("there is no function `{function}`"));
        return Err(vec![error.help(match known.as_slice() {
            [] => "the file defines no function".into(),
            _ => format!("the file defines {}", quoted(&known)),
        })]);
    };
    if args.len() != func.params.len() {
        let message = format!(
            "`{function}` takes {} arguments, but {} are given",
            func.params.len(),
            args.len()
        );
        let error =
            Diagnostic::new("argument-count", message).label(func.name.span, "defined here");
        return Err(vec![error]);
    }
    let types = infer::parameters(module, func, args).map_err(|e| vec![e])?;
    let params: Vec<(Type, Option<Arc<str>>)> = func
        .params
        .iter()
        .zip(&types)
        .map(|(p, ty)| (*ty, Some(p.name.text.as_str().into())))
        .collect();
    let (b, values) = Builder::new(function, &params);
    let mut lowering = Lowering {
        module,
        b,
        env: Env::default(),
        lower_bounds: HashMap::new(),
        calls: vec![function.to_string()],
        expansions: 0,
        locals: Vec::new(),
        return_counts: Vec::new(),
    };
    for (p, v) in func.params.iter().zip(values) {
        let binding = lowering.bind_value(v);
        lowering.env.bind(&p.name.text, binding, p.name.span);
    }
    let results = lowering.body(func, func.name.span, true).map_err(|e| vec![e])?;
    let results = lowering.distinct(results);
    Ok(Module::of(lowering.b.finish(results)))
}

/// The state of lowering one function.
struct Lowering<'t> {
    module: &'t tree::Module,
    b: Builder,
    env: Env,
    /// What is known of integers from below, to leave out the wrap-around of negative indices.
    lower_bounds: HashMap<Value, i64>,
    /// The functions being lowered, outermost first.
    calls: Vec<String>,
    /// Of each of them: the names it assigns, and where.
    locals: Vec<BTreeMap<String, Span>>,
    /// Of each of them: how many values its first `return` gives, and where.
    return_counts: Vec<Option<(usize, Span)>>,
    /// How many calls have been written out.
    expansions: usize,
}

type Lowered<T> = Result<T, Diagnostic>;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
enum Operand {
    Scalar(Value),
    Array(env::StorageId),
    Tuple(Vec<(Operand, Span)>),
}

impl Lowering<'_> {
    /// A binding for a value just made: arrays get storage of their own.
    fn bind_value(&mut self, v: Value) -> Binding {
        match self.b.ty(v) {
            Type::VECTOR => Binding::Array(self.env.new_storage(v)),
            _ => Binding::Scalar(v),
        }
    }

    /// A function's result must not be the same array twice, nor is it: a second mention is a copy.
    fn distinct(&mut self, results: Vec<Operand>) -> Vec<Value> {
        let mut seen = Vec::new();
        let mut out = Vec::new();
        for r in results {
            out.push(match r {
                Operand::Scalar(v) => v,
                Operand::Array(storage) => {
                    let v = self.env.version(storage);
                    if seen.contains(&storage) {
                        self.b.op(crate::ir::Op::Copy, &[v])[0]
                    } else {
                        seen.push(storage);
                        v
                    }
                }
                Operand::Tuple(_) => unreachable!("results are flat"),
            });
        }
        // A copy reads its source, which must therefore not be handed out before: results are
        // yielded together, after every copy.
        out
    }
}

/// The error for what the tree can say and lowering does not know.
fn not_yet(span: Span) -> Diagnostic {
    Diagnostic::new("unsupported-syntax", "this is not supported yet").label(span, "here")
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
