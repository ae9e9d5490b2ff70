//! Types of the parameters of a function for given arguments.
//!
//! An integer argument becomes a float, and can be differentiated by, unless the function uses it as a
//! number of things: an index, a bound, a size, an operand of `//`, `%` or of bit operations.

use super::Arg;
use super::names::{children, exprs_of};
use super::operand::described;
use crate::ir::{Elem, Type};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    BinaryOp, Callee, DeclaredType, Expr, ExprKind, Function, Index, Iter, IterKind, Module, Stmt,
    StmtKind, Target, UnaryOp,
};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The IR types of a function's parameters for arguments of these kinds.
pub(super) fn types(
    module: &Module,
    func: &Function,
    args: &[Arg],
) -> Result<Vec<Type>, Diagnostic> {
    let integers = Demand::new(module, true).names(func);
    let indices = indices(module, func);
    let params = func.params.iter().zip(args);
    params
        .map(|(p, arg)| {
            let declared = p.annotation.map(|a| a.ty);
            let name = &p.name.text;
            let mismatch = |wanted: &str, help: &str| {
                let given = described(arg.ty);
                Diagnostic::new(
                    "argument-type",
                    format!("`{name}` is declared as {wanted}, but {given} is given"),
                )
                .label(p.span, "declared here")
                .help(help)
            };
            let Some(declared) = declared else {
                return Ok(match arg.ty {
                    Type::I64 if !integers.contains(name) => Type::F64,
                    // Numbers that pick elements are integers, however they were written.
                    Type::Array(Elem::F64, rank) if indices.contains(name) => {
                        Type::Array(Elem::I64, rank)
                    }
                    ty => ty,
                });
            };
            if let Some(elements) = declared.elements() {
                return match (elements, arg.ty) {
                    (None, ty @ Type::Array(..)) => Ok(ty),
                    (Some(elem), Type::Array(given, rank)) => match (given, elem) {
                        _ if given == elem => Ok(Type::Array(elem, rank)),
                        (Elem::I64, Elem::F64) | (Elem::F64 | Elem::I64, Elem::F32) => {
                            Ok(Type::Array(elem, rank))
                        }
                        _ => Err(mismatch("another kind of array", "give it numbers of that kind")),
                    },
                    _ => {
                        let help = format!("give several numbers: `{name}=[1, 2, 3]`");
                        Err(mismatch("an array", &help))
                    }
                };
            }
            match (declared, arg.ty) {
                (_, Type::Array(..) | Type::Tape) => {
                    Err(mismatch("a number", "give one number, or change the annotation"))
                }
                (DeclaredType::I64, Type::F64 | Type::F32) => {
                    Err(mismatch("an integer", "leave out the decimal point, or the annotation"))
                }
                (DeclaredType::I64, Type::I64) => Ok(Type::I64),
                (DeclaredType::F64, Type::I64 | Type::F64 | Type::F32) => Ok(Type::F64),
                (DeclaredType::F32, Type::I64 | Type::F64 | Type::F32) => Ok(Type::F32),
                (DeclaredType::Bool, Type::Bool) => Ok(Type::Bool),
                (DeclaredType::Bool, _) => Err(mismatch("a truth value", "give true or false")),
                (_, Type::Bool) => Err(mismatch("a number", "give a number")),
                (DeclaredType::Array(_) | DeclaredType::List(_), _) => {
                    unreachable!("handled above")
                }
            }
        })
        .collect()
}

/// The names a function uses as a number of things, not counting what is divided with a remainder.
pub(super) fn indices(module: &Module, func: &Function) -> BTreeSet<String> {
    Demand::new(module, false).names(func)
}

/// Finds the names functions use as a number of things, directly or through assignments and calls.
struct Demand<'t> {
    module: &'t Module,
    /// Whether what is divided with a remainder is among them: an integer then stays one, but an array of floats
    /// may be divided so too.
    counting: bool,
    /// Functions defined inside functions.
    inner: BTreeMap<&'t str, &'t Function>,
    /// What is known of functions, by their places; nothing for one that is being looked at.
    known: HashMap<Span, BTreeSet<String>>,
}

impl<'t> Demand<'t> {
    fn new(module: &'t Module, counting: bool) -> Self {
        let mut inner = BTreeMap::new();
        module.functions.iter().for_each(|f| collect(&f.body, &mut inner));
        Demand { module, counting, inner, known: HashMap::default() }
    }

    /// Whether the operands of an operator are counted, and that is looked for.
    fn counts(&self, op: BinaryOp) -> bool {
        self.counting && counts(op)
    }

    fn names(&mut self, func: &Function) -> BTreeSet<String> {
        if let Some(known) = self.known.get(&func.span) {
            return known.clone();
        }
        self.known.insert(func.span, BTreeSet::new());
        let mut names = BTreeSet::new();
        loop {
            let before = names.len();
            func.body.iter().for_each(|s| self.stmt(s, &mut names));
            if names.len() == before {
                break;
            }
            self.known.insert(func.span, names.clone());
        }
        self.known.insert(func.span, names.clone());
        names
    }

    fn stmt(&mut self, stmt: &Stmt, names: &mut BTreeSet<String>) {
        exprs_of(stmt, &mut |e| self.inside(e, names));
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for t in targets {
                    demand_target(t, value, names);
                }
            }
            StmtKind::AugAssign { target, op, value } => {
                if let (Target::Name(n), true) = (target, self.counts(*op)) {
                    names.insert(n.text.clone());
                    demand_number(value, names);
                }
                demand_target(target, value, names);
            }
            StmtKind::For { target, iter, body } => {
                if let (Target::Name(n), IterKind::Items(e)) = (target, &iter.kind)
                    && names.contains(&n.text)
                {
                    demand(e, names);
                }
                demand_iter(iter, names);
                if let Target::Element { indices, .. } = target {
                    indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names));
                }
                body.iter().for_each(|s| self.stmt(s, names));
            }
            StmtKind::While { body, .. } => body.iter().for_each(|s| self.stmt(s, names)),
            StmtKind::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).for_each(|s| self.stmt(s, names));
            }
            // What an inner function uses so, unless the name is its own.
            StmtKind::Define(func) => {
                let own: BTreeSet<&String> = func.params.iter().map(|p| &p.name.text).collect();
                let inner = self.names(func);
                names.extend(inner.into_iter().filter(|n| !own.contains(n)));
            }
            _ => {}
        }
    }

    /// Finds indices, sizes and integer parameters anywhere in an expression.
    fn inside(&mut self, e: &Expr, names: &mut BTreeSet<String>) {
        match &e.kind {
            ExprKind::Binary { first, rest } if rest.iter().any(|(op, _)| self.counts(*op)) => {
                // A quotient is measured, and beside a number that is written as a float nothing is counted.
                let float = |e: &Expr| matches!(e.kind, ExprKind::Float(_));
                let whole = rest.iter().take_while(|(op, _)| *op != BinaryOp::Div).count();
                let last = rest[..whole].iter().rposition(|(op, _)| self.counts(*op));
                let counted = &rest[..last.map_or(0, |k| k + 1)];
                let counted = || std::iter::once(&**first).chain(counted.iter().map(|(_, r)| r));
                if last.is_some() && !counted().any(float) {
                    counted().for_each(|e| demand_number(e, names));
                }
            }
            // `[v] * n`
            ExprKind::Binary { first, rest } => {
                if let (ExprKind::List(_), [(BinaryOp::Mul, n)]) = (&first.kind, &rest[..]) {
                    demand(n, names);
                }
            }
            ExprKind::Unary { op: UnaryOp::Invert, operand } => demand(operand, names),
            ExprKind::Index { indices, .. } => {
                indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names));
            }
            ExprKind::Call { callee: Callee::Builtin(name), args, keywords } => {
                sizes(&name.text, args).iter().for_each(|a| demand(a, names));
                for k in keywords.iter().filter(|k| SIZES.contains(&k.name.text.as_str())) {
                    demand(&k.value, names);
                }
            }
            ExprKind::Call { callee: Callee::Method { name, .. }, args, .. }
                if matches!(name.text.as_str(), "reshape" | "repeat" | "take") =>
            {
                args.iter().for_each(|a| demand(a, names));
            }
            ExprKind::Call { callee: Callee::Function(name), args, keywords } => {
                let inner = self.inner.get(name.text.as_str()).copied();
                if let Some(callee) = inner.or_else(|| self.module.function(&name.text)) {
                    let counted = self.names(callee);
                    for (k, p) in callee.params.iter().enumerate() {
                        let named = keywords.iter().find(|w| w.name.text == p.name.text);
                        let given = args.get(k).or(named.map(|w| &w.value));
                        let declared = matches!(p.annotation, Some(a) if a.ty == DeclaredType::I64);
                        if declared || counted.contains(&p.name.text) {
                            given.iter().for_each(|a| demand(a, names));
                        }
                    }
                }
            }
            _ => {}
        }
        children(e, &mut |c| self.inside(c, names));
    }
}

/// The functions defined in statements.
fn collect<'t>(stmts: &'t [Stmt], inner: &mut BTreeMap<&'t str, &'t Function>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Define(func) => {
                inner.insert(&func.name.text, func);
                collect(&func.body, inner);
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => collect(body, inner),
            StmtKind::If { then, otherwise, .. } => {
                collect(then, inner);
                collect(otherwise, inner);
            }
            _ => {}
        }
    }
}

/// Keywords of library functions that count.
const SIZES: &[&str] = &["num", "axis", "shape", "N", "M", "k", "shift", "ddof", "reps"];

/// The arguments of a library function that count.
fn sizes<'e>(name: &str, args: &'e [Expr]) -> &'e [Expr] {
    let (from, to) = match name {
        "zeros" | "ones" | "empty" | "full" | "range" => (0, 1),
        "eye" | "identity" => (0, 2),
        "reshape" | "tile" | "repeat" | "broadcast_to" | "roll" | "take" => (1, args.len()),
        "linspace" => (2, 3),
        _ => (0, 0),
    };
    &args[from.min(args.len())..to.min(args.len())]
}

fn demand_target(target: &Target, value: &Expr, names: &mut BTreeSet<String>) {
    match (target, &value.kind) {
        (Target::Name(n), _) if names.contains(&n.text) => demand(value, names),
        (Target::Element { indices, .. }, _) => {
            indices.iter().flat_map(Index::exprs).for_each(|i| demand(i, names));
        }
        (Target::Tuple { elements, .. }, ExprKind::Tuple(values)) => {
            elements.iter().zip(values).for_each(|(t, v)| demand_target(t, v, names));
        }
        _ => {}
    }
}

fn demand_iter(iter: &Iter, names: &mut BTreeSet<String>) {
    match &iter.kind {
        IterKind::Range { start, stop, step } => {
            [start, stop, step].into_iter().for_each(|b| demand(b, names));
        }
        IterKind::Items(_) => {}
        IterKind::Enumerate { of, start } => {
            demand_iter(of, names);
            start.iter().for_each(|s| demand(s, names));
        }
        IterKind::Zip(all) => all.iter().for_each(|i| demand_iter(i, names)),
        IterKind::Reversed(of) | IterKind::Parallel(of) => demand_iter(of, names),
    }
}

/// What is divided with a remainder, shifted or masked is counted, not measured.
fn counts(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::FloorDiv
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
    )
}

/// Marks the names whose integer value an expression passes on.
fn demand(e: &Expr, names: &mut BTreeSet<String>) {
    passed_on(e, true, names);
}

/// The same; what is divided with a remainder may be an element of an array of floats.
fn demand_number(e: &Expr, names: &mut BTreeSet<String>) {
    passed_on(e, false, names);
}

fn passed_on(e: &Expr, elements: bool, names: &mut BTreeSet<String>) {
    let demand = |e: &Expr, names: &mut BTreeSet<String>| passed_on(e, elements, names);
    match &e.kind {
        ExprKind::Name(n) => {
            names.insert(n.clone());
        }
        ExprKind::Index { base, .. } if elements => demand(base, names),
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
            if matches!(name.text.as_str(), "min" | "max" | "abs" | "arange") =>
        {
            args.iter().for_each(|a| demand(a, names));
        }
        ExprKind::Tuple(elements) | ExprKind::List(elements) => {
            elements.iter().for_each(|a| demand(a, names));
        }
        _ => {}
    }
}
