//! Random programs with loops, branches and arrays: run on any scalar, and printed as Python.
//!
//! Every value stays within a few units and every function is tame there, so that rounding is not blown up.

use std::fmt::Write as _;
use std::ops::{Add, Mul, Sub};
use wengert::tape::Var;
use wengert_core::check::Random;

/// What they compute with.
pub(crate) trait Scalar:
    Copy + From<f64> + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// The function of this number in [`FUNCTIONS`].
    fn apply(self, function: usize) -> Self;
}

/// Functions: as Python writes them, of bounded values with bounded slopes.
const FUNCTIONS: [&str; 10] = [
    "math.sin({})",
    "math.cos({})",
    "math.tanh({})",
    "math.atan({})",
    "math.sqrt({} * {} + 1.0)",
    "math.erf({})",
    "math.log1p({} * {})",
    "math.exp(-({} * {}))",
    "abs({})",
    "1.0 / (1.5 + math.sin({}))",
];

impl Scalar for f64 {
    fn apply(self, function: usize) -> f64 {
        use wengert_math as math;
        let x = self;
        match function {
            0 => math::sin(x),
            1 => math::cos(x),
            2 => math::tanh(x),
            3 => math::atan(x),
            4 => (x * x + 1.0).sqrt(),
            5 => math::erf(x),
            6 => math::log1p(x * x),
            7 => math::exp(-(x * x)),
            8 => x.abs(),
            _ => 1.0 / (1.5 + math::sin(x)),
        }
    }
}

impl Scalar for Var {
    fn apply(self, function: usize) -> Var {
        let x = self;
        match function {
            0 => x.sin(),
            1 => x.cos(),
            2 => x.tanh(),
            3 => x.atan(),
            4 => (x * x + 1.0).sqrt(),
            5 => x.erf(),
            6 => (x * x).ln_1p(),
            7 => (-(x * x)).exp(),
            8 => x.abs(),
            _ => 1.0 / (1.5 + x.sin()),
        }
    }
}

#[derive(Debug)]
enum Expr {
    Local(usize),
    Element(usize),
    Number(f64),
    Sum(Box<Expr>, Box<Expr>),
    Difference(Box<Expr>, Box<Expr>),
    Product(Box<Expr>, Box<Expr>),
    Function(usize, Box<Expr>),
}

#[derive(Debug)]
enum Statement {
    /// A local becomes a number between -1 and 1.
    Set(usize, Expr),
    /// An element of the array, by the loop variable or a number.
    Store(usize, Expr),
    If(Expr, Expr, Vec<Statement>, Vec<Statement>),
    /// A number of times, left early where a local exceeds a number.
    For(usize, Vec<Statement>, Option<(usize, f64)>),
    /// While a local that is halved each time exceeds a number.
    While(usize, f64, Vec<Statement>),
}

/// A program of some arguments, locals and an array.
#[derive(Debug)]
pub(crate) struct Program {
    arguments: usize,
    locals: usize,
    elements: usize,
    body: Vec<Statement>,
    at: Vec<f64>,
}

struct Maker {
    random: Random,
    locals: usize,
    elements: usize,
    left: usize,
}

impl Maker {
    fn below(&mut self, n: usize) -> usize {
        (self.random.float(0.0, n as f64) as usize).min(n - 1)
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let leaf = depth == 0 || self.below(4) == 0;
        if leaf {
            return match self.below(6) {
                0 => Expr::Number((self.random.float(-2.0, 2.0) * 64.0).round() / 64.0),
                1 | 2 => Expr::Element(self.below(self.elements)),
                _ => Expr::Local(self.below(self.locals)),
            };
        }
        let kind = self.below(7);
        let a = Box::new(self.expr(depth - 1));
        match kind {
            0 => Expr::Sum(a, Box::new(self.expr(depth - 1))),
            1 => Expr::Difference(a, Box::new(self.expr(depth - 1))),
            2 | 3 => Expr::Product(a, Box::new(self.expr(depth - 1))),
            _ => Expr::Function(self.below(FUNCTIONS.len()), a),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<Statement> {
        let count = 1 + self.below(4);
        (0..count).filter_map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Option<Statement> {
        self.left = self.left.checked_sub(1)?;
        let kind = if depth == 0 { self.below(3) } else { self.below(7) };
        Some(match kind {
            0 | 1 => Statement::Set(self.below(self.locals), self.expr(3)),
            2 => Statement::Store(self.below(self.elements), self.expr(3)),
            3 => {
                let (a, b) = (self.expr(1), self.expr(1));
                Statement::If(a, b, self.block(depth - 1), self.block(depth - 1))
            }
            4 | 5 => {
                let exit = (self.below(3) == 0).then(|| (self.below(self.locals), 0.7));
                Statement::For(1 + self.below(6), self.block(depth - 1), exit)
            }
            _ => Statement::While(self.below(self.locals), 0.1, self.block(0)),
        })
    }
}

impl Program {
    /// The program of a seed.
    pub(crate) fn random(seed: u64) -> Program {
        let mut random = Random(seed.wrapping_mul(2).wrapping_add(1));
        for _ in 0..4 {
            random.float(0.0, 1.0);
        }
        let mut maker = Maker { random, locals: 4, elements: 3, left: 40 };
        let arguments = 1 + maker.below(3);
        let mut body = maker.block(3);
        for _ in 0..3 {
            body.extend(maker.block(2));
        }
        let at = (0..arguments).map(|_| maker.random.float(-1.0, 1.0)).collect();
        Program { arguments, locals: 4, elements: 3, body, at }
    }

    /// A point to run it at.
    pub(crate) fn point(&self) -> Vec<f64> {
        self.at.clone()
    }

    /// As a Python function `f` of `x0`, `x1`, and so on.
    pub(crate) fn python(&self) -> String {
        let arguments: Vec<String> = (0..self.arguments).map(|k| format!("x{k}")).collect();
        let mut text =
            format!("import math\n\nimport numpy as np\n\n\ndef f({}):\n", arguments.join(", "));
        for k in 0..self.locals {
            let _ = writeln!(text, "    v{k} = x{} + {:?}", k % self.arguments, k as f64 * 0.25);
        }
        let _ = writeln!(text, "    a = np.zeros({})", self.elements);
        for k in 0..self.elements {
            let _ = writeln!(text, "    a[{k}] = 0.5 * x{}", k % self.arguments);
        }
        print_block(&self.body, 1, &mut text);
        let sum: Vec<String> = (0..self.locals).map(|k| format!("v{k}")).collect();
        let _ = writeln!(text, "    return {} + a[0] * a[1] + a[2]", sum.join(" + "));
        text
    }

    /// On any scalar.
    pub(crate) fn run<T: Scalar>(&self, x: &[T]) -> T {
        let local = |k: usize| x[k % self.arguments] + T::from(k as f64 * 0.25);
        let element = |k: usize| T::from(0.5) * x[k % self.arguments];
        let mut state = State {
            locals: (0..self.locals).map(local).collect(),
            elements: (0..self.elements).map(element).collect(),
        };
        state.block(&self.body);
        let v = &state.locals;
        let a = &state.elements;
        v[0] + v[1] + v[2] + v[3] + a[0] * a[1] + a[2]
    }
}

struct State<T> {
    locals: Vec<T>,
    elements: Vec<T>,
}

impl<T: Scalar> State<T> {
    fn expr(&self, expr: &Expr) -> T {
        match expr {
            Expr::Local(k) => self.locals[*k],
            Expr::Element(k) => self.elements[*k],
            Expr::Number(c) => T::from(*c),
            Expr::Sum(a, b) => self.expr(a) + self.expr(b),
            Expr::Difference(a, b) => self.expr(a) - self.expr(b),
            Expr::Product(a, b) => self.expr(a) * self.expr(b),
            Expr::Function(f, a) => self.expr(a).apply(*f),
        }
    }

    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            match statement {
                Statement::Set(k, e) => self.locals[*k] = self.expr(e).apply(2),
                Statement::Store(k, e) => {
                    self.elements[*k] = self.elements[*k] * T::from(0.5) + self.expr(e).apply(2);
                }
                Statement::If(a, b, yes, no) => {
                    let branch = if self.expr(a) < self.expr(b) { yes } else { no };
                    self.block(branch);
                }
                Statement::For(n, body, exit) => {
                    for _ in 0..*n {
                        self.block(body);
                        if exit.is_some_and(|(k, limit)| self.locals[k] > T::from(limit)) {
                            break;
                        }
                    }
                }
                Statement::While(k, limit, body) => {
                    let mut counted = self.locals[*k];
                    while counted > T::from(*limit) {
                        self.block(body);
                        counted = counted * T::from(0.5);
                    }
                }
            }
        }
    }
}

fn print_expr(expr: &Expr) -> String {
    match expr {
        Expr::Local(k) => format!("v{k}"),
        Expr::Element(k) => format!("a[{k}]"),
        Expr::Number(c) => format!("({c:?})"),
        Expr::Sum(a, b) => format!("({} + {})", print_expr(a), print_expr(b)),
        Expr::Difference(a, b) => format!("({} - {})", print_expr(a), print_expr(b)),
        Expr::Product(a, b) => format!("({} * {})", print_expr(a), print_expr(b)),
        Expr::Function(f, a) => FUNCTIONS[*f].replace("{}", &print_expr(a)),
    }
}

fn print_block(block: &[Statement], depth: usize, text: &mut String) {
    let space = "    ".repeat(depth);
    if block.is_empty() {
        let _ = writeln!(text, "{space}pass");
    }
    for (at, statement) in block.iter().enumerate() {
        let _ = match statement {
            Statement::Set(k, e) => writeln!(text, "{space}v{k} = math.tanh({})", print_expr(e)),
            Statement::Store(k, e) => {
                writeln!(text, "{space}a[{k}] = a[{k}] * 0.5 + math.tanh({})", print_expr(e))
            }
            Statement::If(a, b, yes, no) => {
                let _ = writeln!(text, "{space}if {} < {}:", print_expr(a), print_expr(b));
                print_block(yes, depth + 1, text);
                let _ = writeln!(text, "{space}else:");
                print_block(no, depth + 1, text);
                Ok(())
            }
            Statement::For(n, body, exit) => {
                let _ = writeln!(text, "{space}for i{depth} in range({n}):");
                print_block(body, depth + 1, text);
                match exit {
                    Some((k, limit)) => {
                        writeln!(text, "{space}    if v{k} > {limit:?}:\n{space}        break")
                    }
                    None => Ok(()),
                }
            }
            Statement::While(k, limit, body) => {
                let name = format!("w{depth}_{at}");
                let _ = writeln!(text, "{space}{name} = v{k}\n{space}while {name} > {limit:?}:");
                print_block(body, depth + 1, text);
                writeln!(text, "{space}    {name} = {name} * 0.5")
            }
        };
    }
}

/// Numbers to be compared to the bit.
pub(crate) fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}
