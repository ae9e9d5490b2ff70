//! Functions that call themselves: they stay functions, and their calls stay calls.
//!
//! Such a function is lowered once for the types it is called with. What it returns, and which of the arrays
//! it is given it writes, is found as the carries of a loop are: by lowering it, and those it calls, under
//! a guess until the guess holds. The first guess comes from the paths that do not call: while nothing is
//! known of a function, a branch that calls it is left out ([`UNKNOWN`]). An array that is written is handed
//! back beside what is returned, and the caller goes on with that.

use super::call::arrange;
use super::env::Binding;
use super::names::{assigned, children, exprs_of};
use super::operand::{Fresh, Operand, join_elem};
use super::{Lowered, Lowering};
use crate::ir::{Func, Op, Type, Value};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Callee, Expr, ExprKind, Function, Keyword, Module, Stmt, StmtKind};
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// Most times a function is lowered again.
const MAX_ROUNDS: usize = 20;

/// The code of the error that stands for a call of which nothing is known yet. No user sees it.
pub(super) const UNKNOWN: &str = "unknown-recursion";

/// A function, and the types it is called with; which of them are lists.
type Key = (usize, Vec<(Type, bool)>);

/// The functions of a module that call themselves, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Recursive {
    /// Per function: whether it does.
    itself: Vec<bool>,
    known: HashMap<Key, Signature>,
    /// How many names have been given.
    named: usize,
    done: Vec<Func>,
    /// The functions lowered in this round, with what they were found to be.
    round: Option<Round>,
}

/// One time of lowering functions that call each other.
#[derive(Debug, Default)]
struct Round {
    seen: Vec<Key>,
    made: Vec<Func>,
    changed: bool,
}

/// What a call of such a function gives, as far as known.
#[derive(Clone, Debug, PartialEq)]
struct Signature {
    name: Arc<str>,
    /// What it returns; whether that is a list.
    results: Vec<(Type, bool)>,
    /// Per parameter: whether it is an array that is written, and so handed back.
    written: Vec<bool>,
}

impl Recursive {
    pub(super) fn new(module: &Module) -> Self {
        let index = |name: &str| module.functions.iter().position(|f| f.name.text == name);
        let calls: Vec<Vec<usize>> = module
            .functions
            .iter()
            .map(|f| {
                let mut names = Vec::new();
                called_by(f, &mut names);
                names.iter().filter_map(|n| index(n)).collect()
            })
            .collect();
        let reaches = |from: usize| {
            let mut seen = vec![false; calls.len()];
            let mut work = calls[from].clone();
            while let Some(k) = work.pop() {
                if !std::mem::replace(&mut seen[k], true) {
                    work.extend(&calls[k]);
                }
            }
            seen[from]
        };
        let itself = (0..calls.len()).map(reaches).collect();
        Recursive { itself, ..Recursive::default() }
    }

    pub(super) fn calls_itself(&self, function: usize) -> bool {
        self.itself[function]
    }

    /// The functions lowered.
    pub(super) fn finish(self) -> Vec<Func> {
        self.done
    }
}

/// The names of the functions a function calls, but for those that are its own.
fn called_by(func: &Function, names: &mut Vec<String>) {
    let mut inside = Vec::new();
    called(&func.body, &mut inside);
    let own = assigned(&func.body);
    let given = |name: &String| func.params.iter().any(|p| p.name.text == *name);
    names.extend(inside.into_iter().filter(|name| !own.contains_key(name) && !given(name)));
}

/// The names of the functions statements call.
fn called(stmts: &[Stmt], names: &mut Vec<String>) {
    fn inside(e: &Expr, names: &mut Vec<String>) {
        match &e.kind {
            ExprKind::Call { callee: Callee::Function(name), .. } => names.push(name.text.clone()),
            // A function passed by its name may be called.
            ExprKind::Name(name) => names.push(name.clone()),
            ExprKind::Lambda(func) => called_by(func, names),
            _ => {}
        }
        children(e, &mut |c| inside(c, names));
    }
    for stmt in stmts {
        exprs_of(stmt, &mut |e| inside(e, names));
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => called(body, names),
            StmtKind::If { then, otherwise, .. } => {
                called(then, names);
                called(otherwise, names);
            }
            StmtKind::Define(func) => called_by(func, names),
            _ => {}
        }
    }
}

/// How many values the first `return` of a function gives.
fn return_count(stmts: &[Stmt]) -> Option<usize> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Return { values } => Some(values.len()),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => return_count(body),
        StmtKind::If { then, otherwise, .. } => {
            return_count(then).or_else(|| return_count(otherwise))
        }
        _ => None,
    })
}

impl Lowering<'_> {
    /// A call of a function that calls itself.
    pub(super) fn recursive_call(
        &mut self,
        function: usize,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        let module = self.module;
        let func = &module.functions[function];
        let given = arrange(func, args, keywords, span)?;
        let mut operands = Vec::new();
        for (p, e) in func.params.iter().zip(given) {
            let (operand, at) = match (e, &p.default) {
                (Some(e), _) => (self.expr(e)?, e.span),
                (None, Some(default)) => (self.expr(default)?, span),
                (None, None) => unreachable!("arranged above"),
            };
            let operand = self.declared(func, p.annotation.map(|a| a.ty), operand, at)?;
            operands.push((operand, at));
        }
        let mut values = Vec::new();
        for (operand, at) in &operands {
            values.push(self.value(operand, *at)?);
        }
        let types: Vec<Type> = values.iter().map(|v| self.b.ty(*v)).collect();
        let lists = operands.iter().map(|(o, _)| self.is_list(o));
        let kinds: Vec<(Type, bool)> = types.iter().copied().zip(lists).collect();
        let signature = self.signature(function, func, &kinds, span)?;
        self.no_overlap(func, &signature, &operands)?;
        self.b.at(span);
        let handed: Vec<usize> = (0..types.len()).filter(|k| signature.written[*k]).collect();
        let all: Vec<Type> = signature
            .results
            .iter()
            .map(|(ty, _)| *ty)
            .chain(handed.iter().map(|k| types[*k]))
            .collect();
        let mut results = self.b.inst(Op::Call(signature.name.clone()), values, &all, Vec::new());
        let after = results.split_off(signature.results.len());
        for (k, next) in handed.into_iter().zip(after) {
            if let (Operand::Array(view), at) = &operands[k] {
                self.replace(view, next, *at, span)?;
            }
        }
        // What it returns may be one of the arrays it was given.
        let base = operands.iter().find_map(|(o, _)| match o {
            Operand::Array(view) => Some(view.storage),
            _ => None,
        });
        let mut returned: Vec<(Operand, Span)> = Vec::new();
        for (v, (ty, list)) in results.into_iter().zip(&signature.results) {
            let operand = match (ty.is_array(), list) {
                (true, true) => Operand::Array(self.stored_list(v, base)),
                (true, false) => Operand::Fresh(Fresh { value: v, shares: base }),
                (false, _) => Operand::Scalar(v),
            };
            returned.push((operand, span));
        }
        Ok(match returned.len() {
            0 => Operand::None,
            1 => returned.remove(0).0,
            _ => Operand::Tuple(returned),
        })
    }

    /// An array that is written must not be given twice.
    fn no_overlap(
        &self,
        func: &Function,
        signature: &Signature,
        operands: &[(Operand, Span)],
    ) -> Lowered<()> {
        for (k, (operand, at)) in operands.iter().enumerate() {
            let Operand::Array(view) = operand else { continue };
            for (j, (other, other_at)) in operands.iter().enumerate() {
                let Operand::Array(seen) = other else { continue };
                if j != k && signature.written[k] && seen.storage == view.storage {
                    let (a, b) = (&func.params[k].name.text, &func.params[j].name.text);
                    let message =
                        format!("`{a}` and `{b}` are given the same array, and `{a}` is written");
                    return Err(Diagnostic::new("ambiguous-alias", message)
                        .label(*at, format!("given as `{a}`"))
                        .label(*other_at, format!("given as `{b}`"))
                        .help("give it a copy: `np.copy(...)`"));
                }
            }
        }
        Ok(())
    }

    /// What a call gives, after lowering the function for these types.
    fn signature(
        &mut self,
        function: usize,
        func: &Function,
        kinds: &[(Type, bool)],
        span: Span,
    ) -> Lowered<Signature> {
        let key = (function, kinds.to_vec());
        let unknown = || {
            let message = format!("every path through `{}` calls it again", func.name.text);
            Diagnostic::new(UNKNOWN, message).label(span, "this call")
        };
        let known = self.recursive.known.get(&key).cloned();
        match &self.recursive.round {
            None if known.is_some() => known.ok_or_else(unknown),
            Some(round) if round.seen.contains(&key) => known.ok_or_else(unknown),
            Some(_) => self.visit(key, func),
            None => self.settle(key, func).map_err(|e| match e.code {
                UNKNOWN => Diagnostic::new("recursion", e.message)
                    .label(func.name.span, "this function")
                    .label(span, "called here")
                    .help("let one path return without a call"),
                _ => e,
            }),
        }
    }

    /// Lowers a function, and those it calls, until what is known of them holds.
    fn settle(&mut self, key: Key, func: &Function) -> Lowered<Signature> {
        for _ in 0..MAX_ROUNDS {
            self.recursive.round = Some(Round::default());
            let found = self.visit(key.clone(), func);
            let round = self.recursive.round.take().unwrap_or_default();
            let found = found?;
            if !round.changed {
                self.recursive.done.extend(round.made);
                return Ok(found);
            }
        }
        let message = format!("what `{}` returns cannot be found", func.name.text);
        Err(Diagnostic::new("recursion", message)
            .label(func.name.span, "this function")
            .help("return the same kinds of values on every path"))
    }

    /// Lowers a function once in a round.
    fn visit(&mut self, key: Key, func: &Function) -> Lowered<Signature> {
        if let Some(round) = &mut self.recursive.round {
            round.seen.push(key.clone());
        }
        let guess = self.recursive.known.get(&key).cloned();
        let name = match &guess {
            Some(guess) => guess.name.clone(),
            None => {
                self.recursive.named += 1;
                format!("{}.rec{}", func.name.text, self.recursive.named - 1).into()
            }
        };
        let start = guess.clone().unwrap_or_else(|| Signature {
            name,
            results: Vec::new(),
            written: vec![false; key.1.len()],
        });
        let (next, made) = self.lowered_apart(func, &key.1, &start)?;
        if let Some(round) = &mut self.recursive.round {
            round.changed |= guess.as_ref() != Some(&next);
            round.made.push(made);
        }
        self.recursive.known.insert(key, next.clone());
        Ok(next)
    }

    /// The function under a guess, and the guess that follows from it.
    fn lowered_apart(
        &mut self,
        func: &Function,
        kinds: &[(Type, bool)],
        guess: &Signature,
    ) -> Lowered<(Signature, Func)> {
        let params: Vec<(Type, Option<Arc<str>>)> = func
            .params
            .iter()
            .zip(kinds)
            .map(|(p, (ty, _))| (*ty, Some(p.name.text.as_str().into())))
            .collect();
        let recursive = std::mem::take(&mut self.recursive);
        let (mut inner, values) = Lowering::new(self.module, &guess.name, &params, recursive);
        let made = inner.apart(func, &values, kinds, guess);
        self.recursive = std::mem::take(&mut inner.recursive);
        let (next, results) = made?;
        Ok((next, inner.b.finish(results)))
    }

    fn apart(
        &mut self,
        func: &Function,
        values: &[Value],
        kinds: &[(Type, bool)],
        guess: &Signature,
    ) -> Lowered<(Signature, Vec<Value>)> {
        for ((p, v), (_, list)) in func.params.iter().zip(values).zip(kinds) {
            let binding = self.bind_value(*v);
            if let (Binding::Array(view), true) = (&binding, list) {
                self.env.mark_list(view.storage);
            }
            self.env.bind(&p.name.text, binding, p.name.span);
        }
        let storages: Vec<_> = self.env.all_storage().collect();
        let arrays = values.iter().filter(|v| self.b.ty(**v).is_array());
        let arrays: HashMap<Value, _> = arrays.copied().zip(storages).collect();
        let needs_value = return_count(&func.body).unwrap_or(0) > 0;
        let returned = self.body(func, needs_value)?;
        let mut results = Vec::new();
        let mut next = Signature { results: Vec::new(), ..guess.clone() };
        let lists: Vec<bool> = returned.iter().map(|o| self.is_list(o)).collect();
        let returned = self.distinct(returned)?;
        for (k, (v, list)) in returned.iter().zip(lists).enumerate() {
            let found = self.b.ty(*v);
            let (known, was_list) = guess.results.get(k).copied().unwrap_or((found, list));
            let ty = match (known.elem(), found.elem()) {
                (Some(a), Some(b)) if found.is_array() == known.is_array() => {
                    found.with_elem(join_elem(a, b))
                }
                _ => found,
            };
            next.results.push((ty, list || was_list));
            let elem = ty.elem().unwrap_or(crate::ir::Elem::F64);
            results.push(self.convert(*v, elem, func.name.span)?);
        }
        for (k, v) in values.iter().enumerate() {
            let Some(storage) = arrays.get(v) else { continue };
            let version = self.env.version(*storage);
            next.written[k] |= version != *v;
            if next.written[k] {
                // It may be returned as well.
                let taken = results.contains(&version);
                results.push(if taken { self.copy(version) } else { version });
            }
        }
        Ok((next, results))
    }
}
