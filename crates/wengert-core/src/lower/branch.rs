//! Branches, and the joining of what they bind.

use super::env::{Binding, Env, Unset, UnsetReason};
use super::infer::{Infer, Types, join};
use super::names::assigned;
use super::{Lowered, Lowering, Operand};
use crate::ir::{Block, Op, Type, Value};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, Stmt, StmtKind};
use std::collections::BTreeMap;

/// One lowered side of a branch: its code so far and its bindings.
struct Side {
    block: Block,
    env: Env,
    /// Whether it always leaves the enclosing block early, so that what it binds is never seen.
    diverges: bool,
}

impl Lowering<'_> {
    /// The types of the names in sight.
    pub(super) fn types(&self) -> Types {
        let known = self.env.names().filter_map(|(name, (binding, _))| match binding {
            Binding::Scalar(v) => Some((name.clone(), self.b.ty(*v))),
            Binding::Array(_) => Some((name.clone(), Type::VECTOR)),
            Binding::Maybe(_) => None,
        });
        known.collect()
    }

    /// `then if cond else otherwise`.
    pub(super) fn conditional(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        span: Span,
    ) -> Lowered<Operand> {
        let types = self.types();
        let mut infer = Infer::new(self.module);
        let ty = join(infer.expr(then, &types), infer.expr(otherwise, &types));
        let c = self.condition(cond)?;
        let side = |l: &mut Self, e: &Expr| {
            let v = l.scalar(e)?;
            l.convert(v, ty, e.span)
        };
        self.branch_value(c, span, |l| side(l, then), |l| side(l, otherwise)).map(Operand::Scalar)
    }

    /// A branch that computes one scalar.
    pub(super) fn branch_value(
        &mut self,
        cond: Value,
        span: Span,
        then: impl FnOnce(&mut Self) -> Lowered<Value>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<Value>,
    ) -> Lowered<Value> {
        let before = self.env.clone();
        self.b.open_block(&[]);
        let t = then(self)?;
        let then = self.close_side(&before, vec![t], false);
        self.b.open_block(&[]);
        let o = otherwise(self)?;
        let otherwise = self.close_side(&before, vec![o], false);
        Ok(self.join(cond, span, then, otherwise, &BTreeMap::new(), vec![self.b.ty(t)])[0])
    }

    fn close_side(&mut self, before: &Env, yields: Vec<Value>, diverges: bool) -> Side {
        let block = self.b.close_block(yields);
        let env = std::mem::replace(&mut self.env, before.clone());
        Side { block, env, diverges }
    }

    /// An `if` statement; each side goes on with `rest` where the other always leaves early.
    pub(super) fn if_statement(
        &mut self,
        cond: Value,
        then: &[&Stmt],
        otherwise: &[&Stmt],
        span: Span,
        known_flag: Option<&str>,
    ) -> Lowered<()> {
        let before = self.env.clone();
        let mut names = BTreeMap::new();
        for stmt in then.iter().chain(otherwise) {
            names.extend(assigned(std::slice::from_ref(*stmt)));
        }
        let mut sides = Vec::new();
        for (k, stmts) in [then, otherwise].into_iter().enumerate() {
            self.b.open_block(&[]);
            if let (1, Some(flag)) = (k, known_flag) {
                let yes = self.b.bool(true);
                self.env.bind(flag, Binding::Scalar(yes), span);
            }
            self.stmts(stmts)?;
            let diverges = diverges(stmts);
            sides.push(self.close_side(&before, Vec::new(), diverges));
        }
        // Flags and returned values are variables of their own.
        for side in &sides {
            for (name, (_, at)) in side.env.names().filter(|(n, _)| n.contains(' ')) {
                names.entry(name.clone()).or_insert(*at);
            }
        }
        let (otherwise, then) = (sides.pop(), sides.pop());
        if let (Some(then), Some(otherwise)) = (then, otherwise) {
            self.join(cond, span, then, otherwise, &names, Vec::new());
        }
        Ok(())
    }

    /// Appends the `if` and binds what both sides leave: named variables, and array versions.
    /// Gives back the results for what the sides yielded already.
    fn join(
        &mut self,
        cond: Value,
        span: Span,
        mut then: Side,
        mut otherwise: Side,
        names: &BTreeMap<String, Span>,
        mut types: Vec<Type>,
    ) -> Vec<Value> {
        let yielded = types.len();
        let before = self.env.clone();
        let count = before.storage_count();
        let mut merged: Vec<(String, Span)> = Vec::new();
        let mut rebound: Vec<(String, Binding, Span)> = Vec::new();
        for (name, set_at) in names {
            let (t, o) = (binding(&then.env, name), binding(&otherwise.env, name));
            let hidden = name.contains(' ');
            let unset = |reason| Binding::Maybe(Unset { reason, set_at: *set_at, by: span });
            match (t, o) {
                (Some(Binding::Scalar(a)), Some(Binding::Scalar(b))) => {
                    if a == b {
                        rebound.push((name.clone(), Binding::Scalar(a), *set_at));
                        continue;
                    }
                    let ty = join(self.b.ty(a), self.b.ty(b));
                    let pair =
                        (self.in_side(&mut then, a, ty), self.in_side(&mut otherwise, b, ty));
                    match pair {
                        (Ok(a), Ok(b)) => {
                            then.block.yields.push(a);
                            otherwise.block.yields.push(b);
                            types.push(ty);
                            merged.push((name.clone(), *set_at));
                        }
                        _ => rebound.push((name.clone(), unset(UnsetReason::Branch), *set_at)),
                    }
                }
                // One side never gets here: the other's value holds.
                (Some(Binding::Scalar(a)), None | Some(Binding::Maybe(_)))
                    if otherwise.diverges || hidden =>
                {
                    let ty = self.b.ty(a);
                    then.block.yields.push(a);
                    let zero = self.zero(ty);
                    otherwise.block.yields.push(zero);
                    types.push(ty);
                    merged.push((name.clone(), *set_at));
                }
                (None | Some(Binding::Maybe(_)), Some(Binding::Scalar(b)))
                    if then.diverges || hidden =>
                {
                    let ty = self.b.ty(b);
                    let zero = self.zero(ty);
                    then.block.yields.push(zero);
                    otherwise.block.yields.push(b);
                    types.push(ty);
                    merged.push((name.clone(), *set_at));
                }
                (Some(Binding::Array(a)), Some(Binding::Array(b))) => {
                    let fresh =
                        |env: &Env, s| env.made_since(s, count) && env.names_of(s).len() == 1;
                    if fresh(&then.env, a) && fresh(&otherwise.env, b) {
                        then.block.yields.push(then.env.version(a));
                        otherwise.block.yields.push(otherwise.env.version(b));
                        types.push(Type::VECTOR);
                        merged.push((name.clone(), *set_at));
                    } else if a == b && !before.made_since(a, count) {
                        rebound.push((name.clone(), Binding::Array(a), *set_at));
                    } else {
                        rebound.push((name.clone(), unset(UnsetReason::Ambiguous), *set_at));
                    }
                }
                (None, None) => {}
                _ => rebound.push((name.clone(), unset(UnsetReason::Branch), *set_at)),
            }
        }
        let mut changed = Vec::new();
        for s in before.all_storage() {
            let (t, o, old) = (then.env.version(s), otherwise.env.version(s), before.version(s));
            if t != old || o != old {
                then.block.yields.push(t);
                otherwise.block.yields.push(o);
                types.push(Type::VECTOR);
                changed.push(s);
            }
        }
        self.env = before;
        self.b.at(span);
        let mut results =
            self.b.inst(Op::If, vec![cond], &types, vec![then.block, otherwise.block]);
        let mut after = results.split_off(yielded).into_iter();
        for ((name, at), v) in merged.into_iter().zip(after.by_ref()) {
            if !name.contains(' ') {
                self.b.name(v, &name.as_str().into());
            }
            let binding = self.bind_value(v);
            self.env.bind(&name, binding, at);
        }
        for (s, v) in changed.into_iter().zip(after) {
            if let Some(name) = self.b.func().name_of(self.env.version(s)) {
                self.b.name(v, &name);
            }
            self.env.set_version(s, v);
        }
        for (name, binding, at) in rebound {
            self.env.bind(&name, binding, at);
        }
        results
    }

    /// A conversion appended to a side that is closed already.
    fn in_side(&mut self, side: &mut Side, v: Value, ty: Type) -> Lowered<Value> {
        if self.b.ty(v) == ty {
            return Ok(v);
        }
        let yields = side.block.yields.clone();
        self.b.reopen_block(std::mem::take(&mut side.block));
        let converted = self.convert(v, ty, Span::default());
        side.block = self.b.close_block(yields);
        converted
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            Type::I64 => self.b.i64(0),
            Type::Bool => self.b.bool(false),
            _ => self.b.f64(0.0),
        }
    }

    /// The error for returned arrays that differ between paths.
    pub(super) fn ambiguous_return(&self, unset: &Unset, span: Span) -> Diagnostic {
        Diagnostic::new(
            "ambiguous-alias",
            "the function returns different arrays on different paths",
        )
        .label(unset.set_at, "returned here")
        .label(unset.by, "the paths join here")
        .label(span, "in this function")
        .help("return a copy on each path: `return np.copy(x)`")
    }
}

fn binding(env: &Env, name: &str) -> Option<Binding> {
    env.get(name).map(|(b, _)| b.clone())
}

/// Whether statements always leave the block around them early.
pub(super) fn diverges(stmts: &[&Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return { .. } => true,
        StmtKind::If { then, otherwise, .. } => {
            let all = |side: &[Stmt]| diverges(&side.iter().collect::<Vec<_>>());
            all(then) && all(otherwise)
        }
        _ => false,
    })
}
