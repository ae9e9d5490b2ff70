//! Types of variables where paths join: an abstract run of the tree over types alone.
//!
//! Carries join, so `s = 0` before a loop and `s = s + x[i]` in it make `s` a float from the start.
//! What is no type error here may still be one when the code is lowered; this only has to find the
//! types that well-typed code has.

use super::MAX_CALLS;
use crate::ir::Type;
use crate::span::Diagnostic;
use crate::surface::tree::{
    BinaryOp, Callee, DeclaredType, Expr, ExprKind, Function, Index, IterKind, Keyword, Module,
    Stmt, StmtKind, Target, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Types of names at one point.
pub(super) type Types = BTreeMap<String, Type>;

/// The IR types of a function's parameters for arguments of these kinds.
pub(super) fn parameters(
    module: &Module,
    func: &Function,
    args: &[Type],
) -> Result<Vec<Type>, Diagnostic> {
    let integers = integer_names(module, func, 0);
    let params = func.params.iter().zip(args);
    params
        .map(|(p, arg)| {
            let declared = p.annotation.map(|a| a.ty);
            let name = &p.name.text;
            let mismatch = |wanted: &str, given: &str| {
                Diagnostic::new(
                    "argument-type",
                    format!("`{name}` is declared as {wanted}, but {given} is given"),
                )
                .label(p.span, "declared here")
            };
            match (declared, *arg) {
                (Some(DeclaredType::F32), _) | (_, Type::F32) => Err(Diagnostic::new(
                    "unsupported-type",
                    format!("`{name}` is declared as a 32-bit float, which is not supported yet"),
                )
                .label(p.span, "declared here")
                .help("declare it as `float`, or leave the annotation out")),
                (None | Some(DeclaredType::Array(_)), Type::VECTOR) => Ok(Type::VECTOR),
                (_, Type::Array(..) | Type::Tape) => {
                    Err(mismatch("a number or a vector", "something else"))
                }
                (Some(DeclaredType::Array(_)), _) => Err(mismatch("an array", "a number")),
                (Some(DeclaredType::I64), Type::F64) => Err(mismatch("an integer", "a float")),
                (Some(DeclaredType::I64), Type::I64) => Ok(Type::I64),
                (Some(DeclaredType::F64), Type::I64 | Type::F64) => Ok(Type::F64),
                (None | Some(DeclaredType::Bool), Type::Bool) => Ok(Type::Bool),
                (Some(DeclaredType::Bool), _) => Err(mismatch("a truth value", "a number")),
                (Some(_), Type::Bool) => Err(mismatch("a number", "a truth value")),
                (None, Type::F64) => Ok(Type::F64),
                (None, Type::I64) if integers.contains(name) => Ok(Type::I64),
                (None, Type::I64) => Ok(Type::F64),
            }
        })
        .collect()
}

/// Names a function uses as an index, a bound, a length or in a division with remainder, directly or
/// through assignments.
fn integer_names(module: &Module, func: &Function, depth: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    loop {
        let before = names.len();
        func.body.iter().for_each(|s| demand_stmt(module, s, depth, &mut names));
        if names.len() == before {
            return names;
        }
    }
}

fn demand_stmt(module: &Module, stmt: &Stmt, depth: usize, names: &mut BTreeSet<String>) {
    let look = |e: &Expr, names: &mut BTreeSet<String>| demand_inside(module, e, depth, names);
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            look(value, names);
            for t in targets {
                match t {
                    Target::Name(n) if names.contains(&n.text) => demand(value, names),
                    Target::Element { indices, .. } => {
                        indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names))
                    }
                    _ => {}
                }
            }
        }
        StmtKind::AugAssign { target, op, value } => {
            look(value, names);
            if let (Target::Name(n), BinaryOp::FloorDiv | BinaryOp::Rem) = (target, op) {
                names.insert(n.text.clone());
                demand(value, names);
            }
            match target {
                Target::Name(n) if names.contains(&n.text) => demand(value, names),
                Target::Element { indices, .. } => {
                    indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names))
                }
                _ => {}
            }
        }
        StmtKind::For { iter, body, .. } => {
            if let IterKind::Range { start, stop, step } = &iter.kind {
                for bound in [start, stop, step] {
                    look(bound, names);
                    demand(bound, names);
                }
            }
            body.iter().for_each(|s| demand_stmt(module, s, depth, names));
        }
        StmtKind::While { cond, body } => {
            look(cond, names);
            body.iter().for_each(|s| demand_stmt(module, s, depth, names));
        }
        StmtKind::If { cond, then, otherwise } => {
            look(cond, names);
            then.iter().chain(otherwise).for_each(|s| demand_stmt(module, s, depth, names));
        }
        StmtKind::Return { values } => values.iter().for_each(|v| look(v, names)),
        StmtKind::Assert { cond, .. } => look(cond, names),
        StmtKind::Call(e) => look(e, names),
        StmtKind::Break | StmtKind::Continue | StmtKind::Pass | StmtKind::Define(_) => {}
    }
}

/// Finds indices, lengths and integer parameters anywhere in an expression.
fn demand_inside(module: &Module, e: &Expr, depth: usize, names: &mut BTreeSet<String>) {
    match &e.kind {
        // What is divided with a remainder is counted, not measured.
        ExprKind::Binary { first, rest }
            if rest.iter().any(|(op, _)| matches!(op, BinaryOp::FloorDiv | BinaryOp::Rem)) =>
        {
            demand(first, names);
            rest.iter().for_each(|(_, r)| demand(r, names));
        }
        ExprKind::Index { indices, .. } => {
            indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names))
        }
        ExprKind::Call { callee: Callee::Builtin(name), args, .. } => {
            if matches!(name.text.as_str(), "zeros" | "ones" | "empty" | "full") {
                args.iter().take(1).for_each(|a| demand(a, names));
            }
        }
        ExprKind::Call { callee: Callee::Function(name), args, .. } if depth < 8 => {
            if let Some(callee) = module.function(&name.text) {
                let inner = integer_names(module, callee, depth + 1);
                for (p, a) in callee.params.iter().zip(args) {
                    if inner.contains(&p.name.text) {
                        demand(a, names);
                    }
                }
            }
        }
        _ => {}
    }
    children(e, &mut |c| demand_inside(module, c, depth, names));
}

/// Marks the names whose integer value an expression passes on.
fn demand(e: &Expr, names: &mut BTreeSet<String>) {
    match &e.kind {
        ExprKind::Name(n) => {
            names.insert(n.clone());
        }
        ExprKind::Unary { operand, .. } => demand(operand, names),
        ExprKind::Binary { first, rest } if rest.iter().all(|(op, _)| *op != BinaryOp::Div) => {
            demand(first, names);
            rest.iter().for_each(|(_, r)| demand(r, names));
        }
        ExprKind::Conditional { then, otherwise, .. } => {
            demand(then, names);
            demand(otherwise, names);
        }
        ExprKind::Call { callee: Callee::Builtin(name), args, .. }
            if matches!(name.text.as_str(), "min" | "max" | "abs") =>
        {
            args.iter().for_each(|a| demand(a, names));
        }
        ExprKind::Tuple(elements) => elements.iter().for_each(|a| demand(a, names)),
        _ => {}
    }
}

fn children(e: &Expr, f: &mut impl FnMut(&Expr)) {
    match &e.kind {
        ExprKind::Unary { operand, .. } => f(operand),
        ExprKind::Binary { first, rest } => {
            f(first);
            rest.iter().for_each(|(_, r)| f(r));
        }
        ExprKind::Compare { first, rest } => {
            f(first);
            rest.iter().for_each(|(_, r)| f(r));
        }
        ExprKind::Logical { operands, .. } => operands.iter().for_each(f),
        ExprKind::Conditional { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|c| f(c));
        }
        ExprKind::Call { args, keywords, .. } => {
            args.iter().for_each(&mut *f);
            keywords.iter().for_each(|k| f(&k.value));
        }
        ExprKind::Index { base, indices } => {
            f(base);
            indices.iter().flat_map(Index::exprs).for_each(f);
        }
        ExprKind::Tuple(elements) => elements.iter().for_each(f),
        _ => {}
    }
}

/// The abstract run.
pub(super) struct Infer<'t> {
    pub(super) module: &'t Module,
    /// Types of the values returned so far, per position.
    pub(super) returned: Vec<Type>,
    depth: usize,
    /// What functions return for arguments of given types: each is run once.
    known: HashMap<(String, Vec<Type>), Vec<Type>>,
}

impl<'t> Infer<'t> {
    pub(super) fn new(module: &'t Module) -> Self {
        Infer { module, returned: Vec::new(), depth: 0, known: HashMap::new() }
    }

    /// Runs statements, updating the types of names.
    pub(super) fn block(&mut self, stmts: &[Stmt], types: &mut Types) {
        stmts.iter().for_each(|s| self.stmt(s, types));
    }

    /// The types at the head of a loop: those before it joined with those its body leaves. Gives back
    /// the latter.
    pub(super) fn loop_head(&mut self, body: &[Stmt], types: &mut Types) -> Types {
        // Int can only become float, so this ends after at most one round per name. Mostly the first
        // round changes nothing, and nested loops take no longer than plain code.
        loop {
            let mut after = types.clone();
            self.block(body, &mut after);
            let joined: Types = types
                .iter()
                .map(|(n, t)| (n.clone(), after.get(n).map_or(*t, |a| join(*t, *a))))
                .collect();
            if joined == *types {
                return after;
            }
            *types = joined;
        }
    }

    fn stmt(&mut self, stmt: &Stmt, types: &mut Types) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let ty = self.values(value, types);
                targets.iter().for_each(|t| assign(t, &ty, types));
            }
            StmtKind::AugAssign { target: Target::Name(n), op, value } => {
                let right = self.expr(value, types);
                let left = types.get(&n.text).copied().unwrap_or(right);
                types.insert(n.text.clone(), binary(*op, left, right));
            }
            StmtKind::For { target, body, .. } => {
                let before = types.clone();
                assign(target, &[Type::I64], types);
                *types = self.loop_head(body, types);
                join_all(types, &before);
            }
            StmtKind::While { body, .. } => {
                let before = types.clone();
                *types = self.loop_head(body, types);
                join_all(types, &before);
            }
            StmtKind::If { then, otherwise, .. } => {
                let mut other = types.clone();
                self.block(then, types);
                self.block(otherwise, &mut other);
                join_all(types, &other);
            }
            StmtKind::Return { values } => {
                let tys: Vec<Type> = values.iter().flat_map(|v| self.values(v, types)).collect();
                for (k, ty) in tys.into_iter().enumerate() {
                    match self.returned.get_mut(k) {
                        Some(known) => *known = join(*known, ty),
                        None => self.returned.push(ty),
                    }
                }
            }
            _ => {}
        }
    }

    /// The types of an expression that may be a tuple.
    fn values(&mut self, e: &Expr, types: &Types) -> Vec<Type> {
        match &e.kind {
            ExprKind::Tuple(elements) => elements.iter().map(|x| self.expr(x, types)).collect(),
            ExprKind::Call { callee: Callee::Function(name), args, keywords } => {
                self.call(&name.text, args, keywords, types)
            }
            _ => vec![self.expr(e, types)],
        }
    }

    fn call(
        &mut self,
        name: &str,
        args: &[Expr],
        keywords: &[Keyword],
        types: &Types,
    ) -> Vec<Type> {
        let Some(callee) = self.module.function(name).filter(|_| self.depth < MAX_CALLS) else {
            return vec![Type::F64];
        };
        let mut types_given = Vec::new();
        for (k, p) in callee.params.iter().enumerate() {
            let named = keywords.iter().find(|w| w.name.text == p.name.text).map(|w| &w.value);
            let given = args.get(k).or(named).or(p.default.as_ref());
            types_given.push(given.map_or(Type::F64, |e| self.expr(e, types)));
        }
        let key = (name.to_string(), types_given);
        if let Some(results) = self.known.get(&key) {
            return results.clone();
        }
        let params = callee.params.iter().map(|p| p.name.text.clone());
        let mut bound: Types = params.zip(key.1.iter().copied()).collect();
        let mut inner = Infer {
            module: self.module,
            returned: Vec::new(),
            depth: self.depth + 1,
            known: std::mem::take(&mut self.known),
        };
        inner.block(&callee.body, &mut bound);
        self.known = inner.known;
        self.known.insert(key, inner.returned.clone());
        inner.returned
    }

    /// The type of an expression.
    pub(super) fn expr(&mut self, e: &Expr, types: &Types) -> Type {
        match &e.kind {
            ExprKind::Int(_) => Type::I64,
            ExprKind::Float(_) | ExprKind::Builtin(_) | ExprKind::Index { .. } => Type::F64,
            ExprKind::Bool(_) | ExprKind::Compare { .. } | ExprKind::Logical { .. } => Type::Bool,
            ExprKind::Name(n) => match types.get(n) {
                Some(ty) => *ty,
                None => match self.module.constant(n) {
                    Some(c) => self.expr(&c.value, &Types::new()),
                    None => Type::F64,
                },
            },
            ExprKind::Unary { op: UnaryOp::Not, .. } => Type::Bool,
            ExprKind::Unary { operand, .. } => self.expr(operand, types),
            ExprKind::Binary { first, rest } => {
                let mut ty = self.expr(first, types);
                for (op, r) in rest {
                    let negative = matches!(r.kind, ExprKind::Unary { op: UnaryOp::Neg, .. });
                    ty = match (op, negative) {
                        (BinaryOp::Pow, true) => Type::F64,
                        _ => binary(*op, ty, self.expr(r, types)),
                    };
                }
                ty
            }
            ExprKind::Conditional { then, otherwise, .. } => {
                join(self.expr(then, types), self.expr(otherwise, types))
            }
            ExprKind::Call { callee: Callee::Function(name), args, keywords } => {
                let results = self.call(&name.text, args, keywords, types);
                results.first().copied().unwrap_or(Type::F64)
            }
            ExprKind::List(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Lambda(_)
            | ExprKind::Text(_)
            | ExprKind::None
            | ExprKind::Call { callee: Callee::Method { .. }, .. } => Type::F64,
            ExprKind::Call { callee: Callee::Builtin(name), args, .. } => {
                match name.text.as_str() {
                    "len" | "int" | "int_floor" | "int_ceil" | "int_trunc" | "int_round" => {
                        Type::I64
                    }
                    "bool" => Type::Bool,
                    "zeros" | "ones" | "empty" | "full" | "zeros_like" | "ones_like" | "copy" => {
                        Type::VECTOR
                    }
                    "abs" | "min" | "max" => {
                        args.iter().map(|a| self.expr(a, types)).reduce(join).unwrap_or(Type::F64)
                    }
                    _ => Type::F64,
                }
            }
            ExprKind::Tuple(elements) => {
                elements.first().map_or(Type::F64, |x| self.expr(x, types))
            }
        }
    }
}

fn assign(target: &Target, values: &[Type], types: &mut Types) {
    match target {
        Target::Name(n) => {
            types.insert(n.text.clone(), values.first().copied().unwrap_or(Type::F64));
        }
        Target::Tuple { elements, .. } => {
            for (k, t) in elements.iter().enumerate() {
                let ty = values.get(k).copied().unwrap_or(Type::F64);
                assign(t, &[ty], types);
            }
        }
        Target::Element { .. } => {}
    }
}

fn join_all(types: &mut Types, others: &Types) {
    for (name, other) in others {
        let ty = types.get(name).map_or(*other, |t| join(*t, *other));
        types.insert(name.clone(), ty);
    }
}

/// The type that holds values of both.
pub(super) fn join(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::I64, Type::F64) | (Type::F64, Type::I64) => Type::F64,
        (Type::Bool, other) => other,
        _ => a,
    }
}

fn binary(op: BinaryOp, a: Type, b: Type) -> Type {
    match op {
        BinaryOp::Div => Type::F64,
        _ if a == Type::VECTOR || b == Type::VECTOR => Type::VECTOR,
        _ if a == Type::F64 || b == Type::F64 => Type::F64,
        _ => Type::I64,
    }
}
