//! Random Python programs, written the way people write them.
//!
//! A seed names a program: some helper functions and `f`, with arguments to call it with. Shapes are known
//! while a program is made, so indices are in range and shapes fit by construction, and numbers stay
//! bounded; a few programs fail on purpose. Reading order: [`Writer`] (what is in scope, and the lines so
//! far), [`numbers`] and [`arrays`] (expressions), [`statements`], [`loops`], [`functions`].

mod arrays;
mod functions;
mod loops;
mod numbers;
mod statements;

use wengert_core::check::Random;
use wengert_core::interp::Val;
use wengert_core::ops::Array;

/// A program, and what to call its last function `f` with.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The file.
    pub(crate) text: String,
    /// The arguments of `f`.
    pub(crate) args: Vec<Val>,
}

/// What a variable holds. Shapes are those of the arguments the program comes with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Float,
    Int,
    Bool,
    /// An array of floats, of one or two axes.
    Array(Vec<usize>),
    /// A vector of integers, each at least 0 and less than the second number.
    Ints(usize, usize),
    /// A list of floats.
    List(usize),
    /// A tuple of floats.
    Tuple(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// What an integer that is never assigned again lies between.
    pub(crate) range: Option<(i64, i64)>,
    /// Never assigned again.
    pub(crate) fixed: bool,
    /// Never written in place: it may or may not be another array.
    pub(crate) frozen: bool,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, Kind, bool)>,
    pub(crate) results: Vec<Kind>,
    /// Whether it writes the arrays it is given.
    pub(crate) writes: bool,
}

/// A program being written.
pub(crate) struct Writer {
    random: Random,
    lines: Vec<String>,
    indent: usize,
    scope: Vec<Var>,
    callables: Vec<Callable>,
    /// Names made so far.
    names: usize,
    /// Loops around, and the product of their iterations.
    loops: usize,
    iterations: usize,
    /// Statements that may still be written.
    budget: i64,
    /// What the function being written returns.
    results: Vec<Kind>,
    /// Whether a statement that fails is still to be written.
    fails: bool,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let fails = random.below(20) == 0;
    let mut w = Writer {
        random,
        lines: vec!["import math".into(), "import numpy as np".into()],
        indent: 0,
        scope: Vec::new(),
        callables: Vec::new(),
        names: 0,
        loops: 0,
        iterations: 1,
        budget: 0,
        results: Vec::new(),
        fails: false,
    };
    if w.chance(3) {
        w.line("SCALE = 0.75");
        w.scope.push(fixed("SCALE", Kind::Float));
    }
    if w.chance(5) {
        w.line("COUNT = 3");
        w.scope.push(Var { range: Some((3, 3)), ..fixed("COUNT", Kind::Int) });
    }
    for _ in 0..w.below(4) {
        w.helper();
    }
    w.fails = fails;
    let args = w.main();
    Program { text: w.lines.join("\n") + "\n", args }
}

pub(crate) fn fixed(name: &str, kind: Kind) -> Var {
    Var { name: name.into(), kind, range: None, fixed: true, frozen: false }
}

pub(crate) fn free(name: &str, kind: Kind) -> Var {
    Var { fixed: false, ..fixed(name, kind) }
}

impl Writer {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// True one time in `n`.
    pub(crate) fn chance(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let k = self.below(of.len());
        of[k].clone()
    }

    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push("    ".repeat(self.indent) + text.as_ref());
    }

    /// A name not used before; now and then one that was, where nothing of that name is in scope.
    pub(crate) fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Variables in scope that satisfy something.
    pub(crate) fn vars(&self, which: impl Fn(&Var) -> bool) -> Vec<Var> {
        self.scope.iter().filter(|v| which(v)).cloned().collect()
    }

    /// A variable in scope that satisfies something.
    pub(crate) fn var(&mut self, which: impl Fn(&Var) -> bool) -> Option<Var> {
        let all = self.vars(which);
        if all.is_empty() { None } else { Some(self.pick(&all)) }
    }

    /// An array in scope.
    pub(crate) fn any_array(&mut self) -> Option<(Var, Vec<usize>)> {
        let var = self.var(|v| matches!(v.kind, Kind::Array(_)))?;
        let Kind::Array(shape) = var.kind.clone() else { return None };
        Some((var, shape))
    }

    /// What was defined since is forgotten: it is set on some paths only.
    pub(crate) fn forget(&mut self, vars: usize, callables: usize) {
        self.scope.truncate(vars);
        self.callables.truncate(callables);
    }

    /// The last function, and its arguments.
    fn main(&mut self) -> Vec<Val> {
        let mut args = Vec::new();
        let mut params = Vec::new();
        let before = self.scope.len();
        for k in 0..1 + self.below(4) {
            let name = ["x", "y", "u", "v"][k];
            let (val, kind) = match self.below(10) {
                0..4 => (Val::f64(self.number(1.5)), Kind::Float),
                4..8 => {
                    let n = 2 + self.below(4);
                    (self.values(vec![n]), Kind::Array(vec![n]))
                }
                _ => {
                    let shape = vec![2 + self.below(3), 2 + self.below(3)];
                    (self.values(shape.clone()), Kind::Array(shape))
                }
            };
            args.push(val);
            let declared = match &kind {
                Kind::Float if self.chance(4) => format!("{name}: float"),
                Kind::Array(_) if self.chance(4) => format!("{name}: np.ndarray"),
                _ => name.to_string(),
            };
            params.push(declared);
            self.scope.push(free(name, kind));
        }
        if self.chance(2) {
            let n = 2 + self.below(5) as i64;
            args.push(Val::i64(n));
            params.push("n: int".into());
            self.scope.push(Var { range: Some((n, n)), ..fixed("n", Kind::Int) });
        }
        self.results = self.result_kinds();
        self.line(format!("def f({}):", params.join(", ")));
        self.indent += 1;
        self.budget = 6 + self.below(26) as i64;
        self.body();
        if self.fails {
            self.failure();
        }
        self.finish();
        self.indent -= 1;
        self.scope.truncate(before);
        args
    }

    /// What a function returns: at least one float, or an array of floats.
    pub(crate) fn result_kinds(&mut self) -> Vec<Kind> {
        let first = match self.below(4) {
            0 => Kind::Array(vec![2 + self.below(3)]),
            1 if self.chance(3) => Kind::Array(vec![2 + self.below(2), 2 + self.below(2)]),
            _ => Kind::Float,
        };
        let mut kinds = vec![first];
        while kinds.len() < 4 && self.chance(3) {
            let kind = match self.below(6) {
                0 => Kind::Int,
                1 => Kind::Bool,
                2 => Kind::Array(vec![2 + self.below(3)]),
                _ => Kind::Float,
            };
            kinds.push(kind);
        }
        kinds
    }

    pub(crate) fn number(&mut self, most: f64) -> f64 {
        (self.random.float(-most, most) * 1e4).round() / 1e4
    }

    fn values(&mut self, shape: Vec<usize>) -> Val {
        let n = shape.iter().product();
        let elements = (0..n).map(|_| self.number(1.5)).collect();
        Val::shaped(Array::new(shape, elements))
    }
}
