//! Random trees, of the shapes the front end makes.

use std::sync::Arc;

use crate::check::Random;
use crate::ops::Elem;
use crate::span::Span;
use crate::surface::tree::*;

const AT: Span = Span { start: 0, end: 0 };

/// Names of variables that no library function has.
const NAMES: &[&str] = &["a", "b", "x", "i", "größe", "np_", "total"];

/// Names that also are those of libraries and their functions; used only where they are constants.
const HIDING: &[&str] = &["np", "abs", "math", "float", "npt", "bool"];

/// Library functions, reached through Python, numpy, math, wengert, by path, or unknown to all.
const BUILTINS: &[&str] = &[
    "sin",
    "abs",
    "len",
    "float",
    "float32",
    "matmul",
    "sum",
    "sum_items",
    "all",
    "norm",
    "lgamma",
    "int_floor",
    "relu",
    "pi",
    "numpy.erf",
    "numpy.linalg.trace",
    "numpy.something",
    "max",
    "tuple",
];

pub(super) struct Trees {
    random: Random,
    names: Vec<&'static str>,
    loops: u32,
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: AT }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: AT }
}

/// The module a seed names.
pub(super) fn module(seed: u64) -> Module {
    let mut trees = Trees { random: Random(seed), names: NAMES.to_vec(), loops: 0 };
    let mut module = Module::default();
    if trees.one_in(2) {
        trees.names.extend(HIDING);
        for hiding in HIDING {
            let value = trees.expr(2);
            module.constants.push(Constant { name: name(hiding), value, span: AT });
        }
    }
    for k in 0..1 + trees.below(2) {
        module.functions.push(trees.function(&format!("f{k}"), 4, true));
    }
    module
}

impl Trees {
    fn below(&mut self, n: u64) -> usize {
        self.random.below(n) as usize
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64)]
    }

    fn variable(&mut self) -> &'static str {
        let names = self.names.clone();
        self.pick(&names)
    }

    fn function(&mut self, called: &str, depth: u32, declared: bool) -> Function {
        let loops = std::mem::take(&mut self.loops);
        let params = self.params(declared);
        let body = self.block(depth);
        self.loops = loops;
        Function { name: name(called), params, body, span: AT }
    }

    fn params(&mut self, declared: bool) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        let mut defaults = false;
        for _ in 0..self.below(4) {
            let called = self.variable();
            if params.iter().any(|p| p.name.text == called) {
                continue;
            }
            defaults |= self.one_in(3);
            let annotation = (declared && self.one_in(2)).then(|| {
                let elements = [Elem::F64, Elem::F32, Elem::I64, Elem::Bool];
                let elements = (!self.one_in(3)).then(|| self.pick(&elements));
                let types = [DeclaredType::F64, DeclaredType::F32, DeclaredType::I64];
                let others = [
                    DeclaredType::Bool,
                    DeclaredType::Array(elements),
                    DeclaredType::List(elements),
                ];
                let ty = if self.one_in(2) { self.pick(&types) } else { self.pick(&others) };
                Annotation { ty, span: AT }
            });
            let default = defaults.then(|| self.literal());
            params.push(Param {
                name: name(called),
                annotation,
                lengths: Vec::new(),
                default,
                span: AT,
            });
        }
        params
    }

    fn literal(&mut self) -> Expr {
        let number = self.number();
        match self.below(3) {
            0 => expr(ExprKind::Bool(true)),
            1 if !matches!(number.kind, ExprKind::Int(i64::MIN)) => {
                expr(ExprKind::Unary { op: UnaryOp::Neg, operand: Box::new(number) })
            }
            _ => number,
        }
    }

    fn number(&mut self) -> Expr {
        expr(match self.below(4) {
            0 => ExprKind::Int(self.pick(&[0, 1, 2, 17, i64::MAX, i64::MIN])),
            1 => ExprKind::Int(self.below(3) as i64),
            _ => ExprKind::Float(self.pick(&[
                0.0,
                1.0,
                0.1,
                2.5,
                1e16,
                1e-300,
                5e-324,
                f64::MAX,
                f64::INFINITY,
                1e22,
                123456.789,
            ])),
        })
    }

    fn text(&mut self) -> String {
        let pieces =
            ["", "ij,j", "\"", "'", "\\", "\n", "\r\t", "\0", "\x7f", "é€", "\u{85}", "{a}", "N"];
        (0..self.below(5)).map(|_| self.pick(&pieces)).collect()
    }

    fn block(&mut self, depth: u32) -> Block {
        (0..self.below(4)).map(|_| Stmt { kind: self.stmt(depth), span: AT }).collect()
    }

    fn stmt(&mut self, depth: u32) -> StmtKind {
        let next = depth.saturating_sub(1);
        match self.below(if depth == 0 { 9 } else { 14 }) {
            0 | 1 => {
                let targets = (0..1 + self.below(2)).map(|_| self.target(2)).collect();
                StmtKind::Assign { targets, value: self.expr(3) }
            }
            2 => {
                let target = loop {
                    match self.target(2) {
                        Target::Tuple { .. } => {}
                        target => break target,
                    }
                };
                StmtKind::AugAssign { target, op: self.operator(), value: self.expr(3) }
            }
            3 if self.loops > 0 => StmtKind::Break,
            4 if self.loops > 0 => StmtKind::Continue,
            3..=5 => StmtKind::Return { values: self.returned(3) },
            6 => {
                let message = (!self.one_in(3)).then(|| self.text());
                StmtKind::Assert { cond: self.expr(3), message }
            }
            7 => StmtKind::Pass,
            8 => StmtKind::Call(expr(self.call(3))),
            9 | 10 => {
                let (target, iter) = (self.target(2), Box::new(self.iter(2)));
                self.loops += 1;
                let body = self.block(next);
                self.loops -= 1;
                StmtKind::For { target, iter, body }
            }
            11 => {
                let cond = self.expr(3);
                self.loops += 1;
                let body = self.block(next);
                self.loops -= 1;
                StmtKind::While { cond, body }
            }
            12 => {
                let cond = self.expr(3);
                StmtKind::If { cond, then: self.block(next), otherwise: self.block(next) }
            }
            _ => {
                let called = self.variable();
                StmtKind::Define(Arc::new(self.function(called, next, true)))
            }
        }
    }

    /// What `return` gives: a tuple is its elements, unless it has one; `None` is nothing.
    fn returned(&mut self, depth: u32) -> Vec<Expr> {
        let values = self.exprs(depth, 3);
        match values.as_slice() {
            [Expr { kind: ExprKind::Tuple(elements), .. }] if elements.len() != 1 => {
                elements.clone()
            }
            [Expr { kind: ExprKind::None, .. }] => Vec::new(),
            _ => values,
        }
    }

    fn target(&mut self, depth: u32) -> Target {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            3 => {
                let elements = (0..self.below(4)).map(|_| self.target(depth - 1)).collect();
                Target::Tuple { elements, span: AT }
            }
            4 => Target::Element { base: self.expr(1), indices: self.indices(1), span: AT },
            _ => Target::Name(name(self.variable())),
        }
    }

    fn iter(&mut self, depth: u32) -> Iter {
        let plain = |trees: &mut Trees| match trees.below(2) {
            0 => IterKind::Range { start: trees.expr(1), stop: trees.expr(1), step: trees.expr(1) },
            _ => IterKind::Items(trees.expr(2)),
        };
        let kind = match self.below(if depth == 0 { 2 } else { 6 }) {
            0 | 1 => plain(self),
            2 => {
                let of = Box::new(self.iter(depth - 1));
                IterKind::Enumerate { of, start: self.one_in(2).then(|| self.expr(1)) }
            }
            3 => IterKind::Zip((0..1 + self.below(3)).map(|_| self.iter(depth - 1)).collect()),
            4 => IterKind::Reversed(Box::new(Iter { kind: plain(self), span: AT })),
            _ => {
                let (start, stop, step) = (self.expr(1), self.expr(1), self.expr(1));
                let kind = IterKind::Range { start, stop, step };
                IterKind::Parallel(Box::new(Iter { kind, span: AT }))
            }
        };
        Iter { kind, span: AT }
    }

    fn indices(&mut self, depth: u32) -> Vec<Index> {
        let mut indices: Vec<Index> = Vec::new();
        for _ in 0..1 + self.below(3) {
            indices.push(match self.below(5) {
                0 => Index::NewAxis(AT),
                1 if !indices.iter().any(|i| matches!(i, Index::Rest(_))) => Index::Rest(AT),
                2 => {
                    let mut part = || (!self.one_in(3)).then(|| self.expr(depth));
                    let (start, stop) = (part(), part());
                    Index::Slice { start, stop, step: part(), span: AT }
                }
                _ => match self.expr(depth) {
                    Expr { kind: ExprKind::None, .. } => Index::NewAxis(AT),
                    place => Index::At(place),
                },
            });
        }
        indices
    }

    fn exprs(&mut self, depth: u32, most: u64) -> Vec<Expr> {
        (0..self.below(most + 1)).map(|_| self.expr(depth)).collect()
    }

    fn boxed(&mut self, depth: u32) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn operator(&mut self) -> BinaryOp {
        use BinaryOp::*;
        let arithmetic = [Add, Sub, Mul, Div, FloorDiv, Rem, Pow, Pow];
        let bits = [BitAnd, BitOr, BitXor, Shl, Shr];
        if self.one_in(3) { self.pick(&bits) } else { self.pick(&arithmetic) }
    }

    pub(super) fn expr(&mut self, depth: u32) -> Expr {
        let Some(next) = depth.checked_sub(1) else { return self.leaf() };
        let kind = match self.below(16) {
            0 => {
                let ops = [UnaryOp::Neg, UnaryOp::Plus, UnaryOp::Not, UnaryOp::Invert];
                ExprKind::Unary { op: self.pick(&ops), operand: self.boxed(next) }
            }
            1..=4 => {
                // A chain in the place of the first operand is part of the chain.
                let first = match self.expr(next) {
                    Expr { kind: ExprKind::Binary { first, .. }, .. } => first,
                    first => Box::new(first),
                };
                let rest = (0..1 + self.below(3)).map(|_| (self.operator(), self.expr(next)));
                ExprKind::Binary { first, rest: rest.collect() }
            }
            5 => {
                use CompareOp::*;
                let ops = [Eq, Ne, Lt, Le, Gt, Ge];
                let first = self.boxed(next);
                let rest = (0..1 + self.below(2)).map(|_| (self.pick(&ops), self.expr(next)));
                ExprKind::Compare { first, rest: rest.collect() }
            }
            6 => {
                let op = self.pick(&[LogicalOp::And, LogicalOp::Or]);
                let operands = (0..2 + self.below(2)).map(|_| self.expr(next)).collect();
                ExprKind::Logical { op, operands }
            }
            7 => ExprKind::Conditional {
                cond: self.boxed(next),
                then: self.boxed(next),
                otherwise: self.boxed(next),
            },
            8 | 9 => self.call(next),
            10 => ExprKind::Index { base: self.boxed(next), indices: self.indices(next) },
            11 => ExprKind::Tuple(self.exprs(next, 3)),
            12 => ExprKind::List(self.exprs(next, 3)),
            13 => ExprKind::Attribute { base: self.value(next), name: name("shape") },
            14 => {
                let params = self.params(false);
                let values = self.returned(next);
                let body = vec![Stmt { kind: StmtKind::Return { values }, span: AT }];
                let func = Function { name: name("<lambda>"), params, body, span: AT };
                ExprKind::Lambda(Arc::new(func))
            }
            _ => return self.leaf(),
        };
        expr(kind)
    }

    /// An expression with attributes of its own: not a library name.
    fn value(&mut self, depth: u32) -> Box<Expr> {
        loop {
            match self.boxed(depth) {
                e if matches!(e.kind, ExprKind::Builtin(_)) => {}
                e => return e,
            }
        }
    }

    fn call(&mut self, depth: u32) -> ExprKind {
        let called = self.pick(BUILTINS);
        let callee = match self.below(4) {
            0 => Callee::Function(name(self.variable())),
            1 => Callee::Method { base: self.value(depth), name: name("sum") },
            2 => Callee::Builtin(name("matmul")),
            _ => Callee::Builtin(name(called)),
        };
        let mut keywords = Vec::new();
        for key in ["axis", "x"] {
            if self.one_in(4) {
                keywords.push(Keyword { name: name(key), value: self.expr(depth) });
            }
        }
        ExprKind::Call { callee, args: self.exprs(depth, 3), keywords }
    }

    fn leaf(&mut self) -> Expr {
        match self.below(8) {
            0 | 1 => self.number(),
            2 => expr(ExprKind::Bool(false)),
            3 => expr(ExprKind::Builtin(self.pick(BUILTINS).to_owned())),
            4 => expr(ExprKind::Text(self.text())),
            5 if self.one_in(2) => expr(ExprKind::None),
            _ => expr(ExprKind::Name(self.variable().to_owned())),
        }
    }
}
