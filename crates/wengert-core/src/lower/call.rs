//! Functions: their bodies, and calls of them, which are lowered in place.

use super::env::{Binding, UnsetReason};
use super::expr::maybe_unset;
use super::names::assigned;
use super::operand::Operand;
use super::stmt::{RETURNED, returned};
use super::{Lowered, Lowering, MAX_CALLS, MAX_EXPANSIONS, MAX_VALUES};
use crate::ir::{Elem, Type};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{DeclaredType, Expr, Function, Keyword, Name};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) enum Callable {
    /// One of the module, by its number.
    Module(usize),
    /// One defined in a function, and the depth of the call it is defined in.
    Inner(Arc<Function>, usize),
}

impl Callable {
    pub(super) fn inner(func: &Arc<Function>, depth: usize) -> Callable {
        Callable::Inner(func.clone(), depth)
    }
}

impl PartialEq for Callable {
    fn eq(&self, other: &Callable) -> bool {
        match (self, other) {
            (Callable::Module(a), Callable::Module(b)) => a == b,
            (Callable::Inner(a, m), Callable::Inner(b, n)) => Arc::ptr_eq(a, b) && m == n,
            _ => false,
        }
    }
}

/// A function whose body is being lowered.
#[derive(Debug)]
pub(super) struct Scope {
    /// Where it is defined: no two functions are at one place.
    defined_at: Span,
    /// The names it assigns, and where.
    pub(super) locals: BTreeMap<String, Span>,
    /// How many values its first `return` gives, and where.
    pub(super) returns: Option<(usize, Span)>,
    /// Tells this call from others of the same function.
    pub(super) path: usize,
}

impl Lowering<'_> {
    /// Lowers the body of a function whose parameters are bound; gives back what it returns.
    /// A function called for what it writes alone (`needs_value` is false) may return nothing.
    pub(super) fn body(&mut self, func: &Function, needs_value: bool) -> Lowered<Vec<Operand>> {
        let path = (self.scopes.last().map(|s| s.path), self.b.span(), func.span);
        self.scopes.push(Scope {
            defined_at: func.span,
            locals: assigned(&func.body),
            returns: None,
            path: 0,
        });
        self.enter_path(path);
        let results = self.body_in_scope(func, needs_value);
        self.scopes.pop();
        results
    }

    /// Tells the code lowered now from other copies of the same statements.
    pub(super) fn enter_path(&mut self, path: impl Hash) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        if let Some(scope) = self.scopes.last_mut() {
            scope.path = hasher.finish() as usize;
        }
    }

    fn body_in_scope(&mut self, func: &Function, needs_value: bool) -> Lowered<Vec<Operand>> {
        let no = self.b.bool(false);
        self.env.bind(RETURNED, Binding::Scalar(no), func.name.span);
        self.stmts(&func.body.iter().collect::<Vec<_>>())?;
        let yes = self.b.bool(true);
        let always = matches!(self.env.own(RETURNED), Some((Binding::Scalar(v), _)) if *v == yes);
        if !needs_value && !always {
            return Ok(Vec::new());
        }
        let name = &func.name.text;
        if !always {
            let message = format!("`{name}` does not return a value on every path");
            return Err(Diagnostic::new("missing-return", message)
                .label(func.name.span, "this function")
                .help("end it with `return` and the value to differentiate"));
        }
        let mut results = Vec::new();
        while let Some((binding, _)) = self.env.own(&returned(results.len())) {
            let binding = binding.clone();
            if let Binding::Maybe(unset) = &binding {
                if unset.reason == UnsetReason::Kind {
                    let message =
                        "the `return` statements give different numbers or kinds of values";
                    return Err(Diagnostic::new("return-mismatch", message)
                        .label(unset.set_at, "one of them")
                        .label(func.name.span, "in this function")
                        .help("return the same kinds of values on every path"));
                }
                return Err(maybe_unset(name, unset, func.name.span));
            }
            results.push(self.bound(&returned(results.len()), &binding, func.name.span)?);
        }
        if results.is_empty() && needs_value {
            let message = format!("`{name}` returns nothing");
            return Err(Diagnostic::new("missing-return", message)
                .label(func.name.span, "this function")
                .help("return the value to differentiate"));
        }
        Ok(results)
    }

    /// A call of a function by its name.
    pub(super) fn call(
        &mut self,
        name: &Name,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
        needs_value: bool,
    ) -> Lowered<Operand> {
        let callable = self.callable(name)?;
        self.call_of(&callable, args, keywords, span, needs_value)
    }

    fn callable(&mut self, name: &Name) -> Lowered<Callable> {
        match self.env.get(&name.text).map(|(b, _)| b.clone()) {
            Some(Binding::Function(callable)) => Ok(callable),
            Some(Binding::Maybe(unset)) => Err(maybe_unset(&name.text, &unset, name.span)),
            Some(_) => Err(Diagnostic::new("type", format!("`{}` is not a function", name.text))
                .label(name.span, "called here")
                .help("call a function by its name, or rename the variable")),
            None => {
                let found = self.module.functions.iter().position(|f| f.name.text == name.text);
                found.map(Callable::Module).ok_or_else(|| {
                    let message = format!("there is no function `{}`", name.text);
                    Diagnostic::new("undefined-function", message)
                        .label(name.span, "called here")
                        .help("define it in the same file, or import it from math or numpy")
                })
            }
        }
    }

    fn call_of(
        &mut self,
        callable: &Callable,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
        needs_value: bool,
    ) -> Lowered<Operand> {
        let (func, outer) = match callable {
            Callable::Module(k) => (&self.module.functions[*k], self.captured),
            Callable::Inner(func, depth) => (&**func, Some(*depth)),
        };
        let name = &func.name.text;
        if let Callable::Module(k) = callable
            && self.recursive.calls_itself(*k)
        {
            return self.recursive_call(*k, args, keywords, span);
        }
        if self.scopes.iter().any(|s| s.defined_at == func.span) || self.scopes.len() >= MAX_CALLS {
            return Err(Diagnostic::new("recursion", format!("`{name}` calls itself"))
                .label(span, "this call")
                .help(
                    "move the function out of the one around it, or write the recursion as a loop",
                ));
        }
        self.expansions += 1;
        if self.b.func().values.len() > MAX_VALUES || self.expansions > MAX_EXPANSIONS {
            return Err(Diagnostic::new("too-large", "the program grows too large")
                .label(span, "when this call is written out")
                .help(
                    "functions are expanded where they are called: call them from a loop instead",
                ));
        }
        let given = arrange(func, args, keywords, span)?;
        let mut operands = Vec::new();
        for e in &given {
            operands.push(match e {
                Some(e) => Some((self.expr(e)?, e.span)),
                None => None,
            });
        }
        self.b.at(span);
        self.env.enter(outer);
        for (p, operand) in func.params.iter().zip(operands) {
            let (operand, at) = match (operand, &p.default) {
                (Some(given), _) => given,
                (None, Some(default)) => (self.expr(default)?, span),
                (None, None) => unreachable!("arranged above"),
            };
            let operand = self.declared(func, p.annotation.map(|a| a.ty), operand, at)?;
            self.bind(&p.name.text, operand, p.name.span)?;
        }
        self.b.at(span);
        let results = self.body(func, needs_value);
        // What a failed attempt leaves behind is thrown away with it.
        let mut results = results?;
        self.env.leave();
        if results.iter().any(|r| self.outlives(r)) {
            let message = "a function cannot outlive the one it is defined in";
            return Err(Diagnostic::new("unsupported-syntax", message)
                .label(span, "this call returns an inner function")
                .label(func.name.span, "defined in here")
                .help("define it where it is used, and pass what it needs as arguments"));
        }
        self.b.at(span);
        Ok(match results.len() {
            0 => Operand::None,
            1 => results.remove(0),
            _ => Operand::Tuple(results.into_iter().map(|r| (r, span)).collect()),
        })
    }

    /// Whether a value holds a function whose variables are gone.
    fn outlives(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Function(Callable::Inner(_, depth)) => *depth >= self.env.depth(),
            Operand::Tuple(all) | Operand::List(all) => all.iter().any(|(o, _)| self.outlives(o)),
            _ => false,
        }
    }

    /// An argument as its annotation wants it. Python does nothing with annotations; a float where an
    /// integer is declared would be one here.
    pub(super) fn declared(
        &mut self,
        func: &Function,
        declared: Option<DeclaredType>,
        operand: Operand,
        at: Span,
    ) -> Lowered<Operand> {
        let elem = match declared {
            Some(DeclaredType::F64) => Elem::F64,
            Some(DeclaredType::F32) => Elem::F32,
            _ => return Ok(operand),
        };
        let Operand::Scalar(v) = operand else { return Ok(operand) };
        if self.b.ty(v) == Type::F64 && elem == Elem::F64 {
            return Ok(operand);
        }
        let converted = self.convert(v, elem, at);
        converted.map(Operand::Scalar).map_err(|e| e.label(func.name.span, "declared here"))
    }
}

/// The arguments of a call in the order of the parameters; none where the default is to be taken.
pub(super) fn arrange<'e>(
    func: &Function,
    args: &'e [Expr],
    keywords: &'e [Keyword],
    span: Span,
) -> Lowered<Vec<Option<&'e Expr>>> {
    let name = &func.name.text;
    let wrong = |message: String| {
        Diagnostic::new("argument-count", message)
            .label(span, "this call")
            .label(func.name.span, "defined here")
    };
    let mut given: Vec<Option<&Expr>> = vec![None; func.params.len()];
    if args.len() > given.len() {
        let s = if given.len() == 1 { "" } else { "s" };
        let message =
            format!("`{name}` takes {} argument{s}, but {} are given", given.len(), args.len());
        return Err(wrong(message));
    }
    for (slot, e) in given.iter_mut().zip(args) {
        *slot = Some(e);
    }
    for k in keywords {
        let Some(at) = func.params.iter().position(|p| p.name.text == k.name.text) else {
            return Err(wrong(format!("`{name}` has no parameter `{}`", k.name.text)));
        };
        if given[at].replace(&k.value).is_some() {
            return Err(wrong(format!("`{}` is given twice", k.name.text)));
        }
    }
    for (p, slot) in func.params.iter().zip(&given) {
        if slot.is_none() && p.default.is_none() {
            return Err(wrong(format!("`{name}` is called without its `{}`", p.name.text)));
        }
    }
    Ok(given)
}
