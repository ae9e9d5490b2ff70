//! The surface tree as Python text, from which parsing makes the same tree.
//!
//! Library names are printed with a prefix that leads to their canonical name; a module begins with
//! the imports that takes. Whatever the program itself calls `np` or `abs` keeps its name, and the
//! library goes by another.
//!
//! ```
//! # use wengert_core::surface::{print, python};
//! let module = python::parse("from math import sin\ndef f(x): return (sin(-x) + 1) * x\n").unwrap();
//! let text = "import numpy as np\n\n\ndef f(x):\n    return (np.sin(-x) + 1) * x\n";
//! assert_eq!(print::module(&module), text);
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use super::names::{Library, spellings};
use super::tree::{
    BinaryOp, Block, Callee, DeclaredType, Expr, ExprKind, Function, Index, Iter, IterKind,
    LogicalOp, Module, Param, Stmt, StmtKind, Target, UnaryOp,
};
use crate::ops::Elem;

/// A module: its imports, its constants, its functions.
pub fn module(module: &Module) -> String {
    twice(|printer| {
        let mut parts = Vec::new();
        if !module.constants.is_empty() {
            let constants = module.constants.iter().map(|constant| {
                let value = printer.value(&constant.value);
                format!("{} = {value}\n", printer.name(&constant.name.text))
            });
            parts.push(constants.collect::<String>());
        }
        for func in &module.functions {
            let mut text = String::new();
            printer.function(&mut text, func, 0);
            parts.push(text);
        }
        let imports: String = printer.libraries.iter().map(|l| printer.import(*l)).collect();
        if !imports.is_empty() {
            parts.insert(0, imports);
        }
        parts.join("\n\n")
    })
}

/// A function, without the imports it needs.
pub fn function(function: &Function) -> String {
    twice(|printer| {
        let mut text = String::new();
        printer.function(&mut text, function, 0);
        text
    })
}

/// Prints once to see which names the program uses, and again with other ones for libraries.
fn twice(print: impl Fn(&mut Printer) -> String) -> String {
    let mut first = Printer::default();
    print(&mut first);
    print(&mut Printer { taken: first.seen, ..Printer::default() })
}

#[derive(Default)]
struct Printer {
    /// The names of the program, which libraries cannot have.
    taken: BTreeSet<String>,
    /// The names of the program that have been printed.
    seen: BTreeSet<String>,
    /// The libraries that have been named.
    libraries: BTreeSet<Library>,
}

/// How tightly expressions hold together, from the loosest.
mod level {
    pub(super) const LAMBDA: u8 = 0;
    pub(super) const CONDITIONAL: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const NOT: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const BIT_OR: u8 = 6;
    pub(super) const BIT_XOR: u8 = 7;
    pub(super) const BIT_AND: u8 = 8;
    pub(super) const SHIFT: u8 = 9;
    pub(super) const SUM: u8 = 10;
    pub(super) const PRODUCT: u8 = 11;
    pub(super) const SIGN: u8 = 12;
    pub(super) const POWER: u8 = 13;
    /// A number: `1.name` would be another number.
    pub(super) const NUMBER: u8 = 14;
    pub(super) const ATOM: u8 = 15;
}

impl Printer {
    /// A name of the program.
    fn name<'a>(&mut self, name: &'a str) -> &'a str {
        self.seen.insert(name.to_owned());
        name
    }

    /// The name of a library.
    fn library(&mut self, library: Library) -> String {
        if library == Library::Linalg {
            return self.library(Library::Numpy) + ".linalg";
        }
        self.libraries.insert(library);
        self.alias(library)
    }

    fn alias(&self, library: Library) -> String {
        let mut alias = match library {
            Library::Numpy => "np".to_owned(),
            Library::NumpyTyping => "npt".to_owned(),
            other => other.path().replace('.', "_"),
        };
        while self.taken.contains(&alias) {
            alias.push('_');
        }
        alias
    }

    fn import(&self, library: Library) -> String {
        let (path, alias) = (library.path(), self.alias(library));
        if path == alias {
            format!("import {path}\n")
        } else {
            format!("import {path} as {alias}\n")
        }
    }

    /// A library name, spelled so that it is found under its canonical name.
    fn builtin(&mut self, canonical: &str) -> String {
        // NumPy's have an axis, which Python's of the same name do not.
        let bare = |member: &str| !["all", "any"].contains(&member);
        let (mut found, mut hidden) = (None, None);
        for (library, member) in spellings(canonical) {
            if library != Library::Python {
                found = found.or(Some((library, member)));
            } else if self.taken.contains(member) || !bare(member) {
                hidden = Some(member);
            } else {
                return member.to_owned();
            }
        }
        if let (None, Some(member)) = (found, hidden) {
            return member.to_owned();
        }
        let by_path = canonical.rsplit_once('.');
        let by_path = by_path.and_then(|(path, member)| Some((Library::from_path(path)?, member)));
        let (library, member) = found.or(by_path).unwrap_or((Library::Numpy, canonical));
        format!("{}.{member}", self.library(library))
    }

    fn function(&mut self, out: &mut String, func: &Function, depth: usize) {
        let params = self.params(&func.params);
        line(out, depth, &format!("def {}({params}):", self.name(&func.name.text)));
        self.block(out, &func.body, depth + 1);
    }

    fn params(&mut self, params: &[Param]) -> String {
        let mut texts = Vec::new();
        for param in params {
            let mut text = self.name(&param.name.text).to_owned();
            if let Some(annotation) = param.annotation {
                text = format!("{text}: {}", self.declared(annotation.ty));
            }
            if let Some(default) = &param.default {
                let equals = if param.annotation.is_some() { " = " } else { "=" };
                text = text + equals + &self.expr(default, level::LAMBDA);
            }
            texts.push(text);
        }
        texts.join(", ")
    }

    fn declared(&mut self, ty: DeclaredType) -> String {
        match ty {
            DeclaredType::F64 => self.builtin("float"),
            DeclaredType::F32 => self.builtin("float32"),
            DeclaredType::I64 => self.builtin("int"),
            DeclaredType::Bool => self.builtin("bool"),
            DeclaredType::Array(None) => self.builtin("ndarray"),
            DeclaredType::List(None) => self.builtin("list"),
            DeclaredType::List(Some(elements)) => {
                let elements = match elements {
                    Elem::F64 => DeclaredType::F64,
                    Elem::F32 => DeclaredType::F32,
                    Elem::I64 => DeclaredType::I64,
                    Elem::Bool => DeclaredType::Bool,
                };
                format!("{}[{}]", self.builtin("list"), self.declared(elements))
            }
            DeclaredType::Array(Some(elements)) => {
                let elements = match elements {
                    Elem::F64 => "float64",
                    Elem::F32 => "float32",
                    Elem::I64 => "int64",
                    Elem::Bool => "bool_",
                };
                let numpy = self.library(Library::Numpy);
                format!("{}[{numpy}.{elements}]", self.builtin("NDArray"))
            }
        }
    }

    fn block(&mut self, out: &mut String, block: &Block, depth: usize) {
        if block.is_empty() {
            line(out, depth, "\"\"\"Nothing.\"\"\"");
        }
        for stmt in block {
            self.stmt(out, stmt, depth);
        }
    }

    fn stmt(&mut self, out: &mut String, stmt: &Stmt, depth: usize) {
        let text = match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let targets: String =
                    targets.iter().map(|t| self.outer_target(t) + " = ").collect();
                targets + &self.value(value)
            }
            StmtKind::AugAssign { target, op, value } => {
                let target = self.target(target);
                format!("{target} {}= {}", op.symbol(), self.expr(value, level::LAMBDA))
            }
            StmtKind::For { target, iter, body } => {
                let target = self.outer_target(target);
                line(out, depth, &format!("for {target} in {}:", self.iter(iter)));
                return self.block(out, body, depth + 1);
            }
            StmtKind::While { cond, body } => {
                line(out, depth, &format!("while {}:", self.expr(cond, level::OR)));
                return self.block(out, body, depth + 1);
            }
            StmtKind::If { .. } => return self.branch(out, stmt, "if", depth),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Return { values } if values.is_empty() => "return".to_owned(),
            StmtKind::Return { values } => format!("return {}", self.list(values)),
            StmtKind::Assert { cond, message } => {
                let cond = self.expr(cond, level::OR);
                let message = message.as_ref().map(|text| format!(", {}", quoted(text)));
                format!("assert {cond}{}", message.unwrap_or_default())
            }
            StmtKind::Pass => "pass".to_owned(),
            StmtKind::Call(Expr { kind: ExprKind::Call { callee, args, keywords }, .. }) => {
                let arguments = self.arguments(args, keywords);
                format!("{}({arguments})", self.callee(callee))
            }
            StmtKind::Call(other) => self.expr(other, level::LAMBDA),
            StmtKind::Define(func) => return self.function(out, func, depth),
        };
        line(out, depth, &text);
    }

    fn branch(&mut self, out: &mut String, stmt: &Stmt, word: &str, depth: usize) {
        let StmtKind::If { cond, then, otherwise } = &stmt.kind else { return };
        line(out, depth, &format!("{word} {}:", self.expr(cond, level::OR)));
        self.block(out, then, depth + 1);
        match otherwise.as_slice() {
            [] => {}
            [inner @ Stmt { kind: StmtKind::If { .. }, .. }] => {
                self.branch(out, inner, "elif", depth);
            }
            _ => {
                line(out, depth, "else:");
                self.block(out, otherwise, depth + 1);
            }
        }
    }

    /// A target that stands alone: a tuple needs no parentheses.
    fn outer_target(&mut self, target: &Target) -> String {
        match target {
            Target::Tuple { elements, .. } if elements.len() > 1 => {
                elements.iter().map(|t| self.target(t)).collect::<Vec<_>>().join(", ")
            }
            other => self.target(other),
        }
    }

    fn target(&mut self, target: &Target) -> String {
        match target {
            Target::Name(name) => self.name(&name.text).to_owned(),
            Target::Tuple { elements, .. } => {
                parenthesised(elements.iter().map(|t| self.target(t)).collect())
            }
            Target::Element { base, indices, .. } => self.element(base, indices),
        }
    }

    fn iter(&mut self, iter: &Iter) -> String {
        match &iter.kind {
            IterKind::Range { start, stop, step } => {
                let from_zero = matches!(start.kind, ExprKind::Int(0));
                let by_one = matches!(step.kind, ExprKind::Int(1));
                let parts: &[&Expr] = match (from_zero, by_one) {
                    (true, true) => &[stop],
                    (false, true) => &[start, stop],
                    _ => &[start, stop, step],
                };
                let parts: Vec<String> =
                    parts.iter().map(|e| self.expr(e, level::LAMBDA)).collect();
                format!("range({})", parts.join(", "))
            }
            IterKind::Items(items) => self.expr(items, level::OR),
            IterKind::Enumerate { of, start } => {
                let of = self.iter(of);
                let start = start.as_ref().map(|e| format!(", {}", self.expr(e, level::LAMBDA)));
                format!("enumerate({of}{})", start.unwrap_or_default())
            }
            IterKind::Zip(of) => {
                let of: Vec<String> = of.iter().map(|of| self.iter(of)).collect();
                format!("zip({})", of.join(", "))
            }
            IterKind::Reversed(of) => format!("reversed({})", self.iter(of)),
            IterKind::Parallel(of) => {
                let of = self.iter(of);
                format!("{}({of})", self.builtin("parallel"))
            }
        }
    }

    /// A value that stands alone: a tuple needs no parentheses.
    fn value(&mut self, value: &Expr) -> String {
        match &value.kind {
            ExprKind::Tuple(elements) if elements.len() > 1 => self.list(elements),
            _ => self.expr(value, level::LAMBDA),
        }
    }

    fn texts(&mut self, exprs: &[Expr]) -> Vec<String> {
        exprs.iter().map(|e| self.expr(e, level::LAMBDA)).collect()
    }

    fn list(&mut self, exprs: &[Expr]) -> String {
        self.texts(exprs).join(", ")
    }

    /// An expression, in parentheses if it holds together less tightly than it must.
    fn expr(&mut self, e: &Expr, least: u8) -> String {
        let (text, level) = self.bare(e);
        if level < least { format!("({text})") } else { text }
    }

    /// An expression without parentheses, and how tightly it holds together.
    fn bare(&mut self, e: &Expr) -> (String, u8) {
        let text = match &e.kind {
            ExprKind::Int(n) => {
                return (n.to_string(), if *n < 0 { level::SIGN } else { level::NUMBER });
            }
            ExprKind::Float(x) => return float(*x),
            ExprKind::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            ExprKind::Name(name) => self.name(name).to_owned(),
            ExprKind::Builtin(name) => self.builtin(name),
            ExprKind::Unary { op, operand } => {
                let (symbol, level) = match op {
                    UnaryOp::Neg => ("-", level::SIGN),
                    UnaryOp::Plus => ("+", level::SIGN),
                    UnaryOp::Invert => ("~", level::SIGN),
                    UnaryOp::Not => ("not ", level::NOT),
                };
                return (format!("{symbol}{}", self.expr(operand, level)), level);
            }
            ExprKind::Binary { first, rest } => return self.binary(first, rest),
            ExprKind::Compare { first, rest } => {
                let mut text = self.expr(first, level::BIT_OR);
                for (op, operand) in rest {
                    text = format!("{text} {} {}", op.symbol(), self.expr(operand, level::BIT_OR));
                }
                return (text, level::COMPARE);
            }
            ExprKind::Logical { op, operands } => {
                let (word, level) = match op {
                    LogicalOp::And => (" and ", level::AND),
                    LogicalOp::Or => (" or ", level::OR),
                };
                let operands: Vec<String> =
                    operands.iter().map(|e| self.expr(e, level + 1)).collect();
                return (operands.join(word), level);
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                let (then, cond) = (self.expr(then, level::OR), self.expr(cond, level::OR));
                let otherwise = self.expr(otherwise, level::CONDITIONAL);
                return (format!("{then} if {cond} else {otherwise}"), level::CONDITIONAL);
            }
            ExprKind::Call { callee, args, keywords } => {
                if let (Callee::Builtin(name), [a, b], []) = (callee, &args[..], &keywords[..])
                    && name.text == "matmul"
                {
                    let left = self.expr(a, level::PRODUCT);
                    return (format!("{left} @ {}", self.expr(b, level::SIGN)), level::PRODUCT);
                }
                let arguments = self.arguments(args, keywords);
                format!("{}({arguments})", self.callee(callee))
            }
            ExprKind::Index { base, indices } => self.element(base, indices),
            ExprKind::Tuple(elements) => parenthesised(self.texts(elements)),
            ExprKind::List(elements) => format!("[{}]", self.list(elements)),
            ExprKind::Attribute { base, name } => {
                format!("{}.{}", self.expr(base, level::ATOM), name.text)
            }
            ExprKind::Lambda(func) => return (self.lambda(func), level::LAMBDA),
            ExprKind::Text(text) => quoted(text),
            ExprKind::None => "None".to_owned(),
        };
        (text, level::ATOM)
    }

    fn binary(&mut self, first: &Expr, rest: &[(BinaryOp, Expr)]) -> (String, u8) {
        let (mut text, mut left) = self.bare(first);
        for (op, operand) in rest {
            let (level, least_left, least_right) = match op {
                BinaryOp::BitOr => (level::BIT_OR, level::BIT_OR, level::BIT_XOR),
                BinaryOp::BitXor => (level::BIT_XOR, level::BIT_XOR, level::BIT_AND),
                BinaryOp::BitAnd => (level::BIT_AND, level::BIT_AND, level::SHIFT),
                BinaryOp::Shl | BinaryOp::Shr => (level::SHIFT, level::SHIFT, level::SUM),
                BinaryOp::Add | BinaryOp::Sub => (level::SUM, level::SUM, level::PRODUCT),
                BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem => {
                    (level::PRODUCT, level::PRODUCT, level::SIGN)
                }
                BinaryOp::Pow => (level::POWER, level::NUMBER, level::SIGN),
            };
            if left < least_left {
                text = format!("({text})");
            }
            text = format!("{text} {} {}", op.symbol(), self.expr(operand, least_right));
            left = level;
        }
        (text, left)
    }

    fn callee(&mut self, callee: &Callee) -> String {
        match callee {
            Callee::Builtin(name) => self.builtin(&name.text),
            Callee::Function(name) => self.name(&name.text).to_owned(),
            Callee::External(external) => external.name.text.clone(),
            Callee::Method { base, name } => {
                format!("{}.{}", self.expr(base, level::ATOM), name.text)
            }
        }
    }

    fn arguments(&mut self, args: &[Expr], keywords: &[super::tree::Keyword]) -> String {
        let mut texts = self.texts(args);
        for keyword in keywords {
            let value = self.expr(&keyword.value, level::LAMBDA);
            texts.push(format!("{}={value}", keyword.name.text));
        }
        texts.join(", ")
    }

    fn lambda(&mut self, func: &Function) -> String {
        let params = self.params(&func.params);
        let space = if params.is_empty() { "" } else { " " };
        let value = match func.body.as_slice() {
            [Stmt { kind: StmtKind::Return { values }, .. }] => match values.as_slice() {
                [] => "None".to_owned(),
                [value] => self.expr(value, level::LAMBDA),
                values => parenthesised(self.texts(values)),
            },
            _ => "None".to_owned(),
        };
        format!("lambda{space}{params}: {value}")
    }

    fn element(&mut self, base: &Expr, indices: &[Index]) -> String {
        let base = self.expr(base, level::ATOM);
        // A tuple between the brackets would be taken for the indices.
        let tuple = matches!(indices, [Index::At(Expr { kind: ExprKind::Tuple(_), .. })]);
        let indices: Vec<String> = indices.iter().map(|index| self.index(index)).collect();
        format!("{base}[{}{}]", indices.join(", "), if tuple { "," } else { "" })
    }

    fn index(&mut self, index: &Index) -> String {
        match index {
            Index::At(place) => self.expr(place, level::OR),
            Index::Slice { start, stop, step, .. } => {
                let mut part = |part: &Option<Expr>| {
                    part.as_ref().map_or(String::new(), |e| self.expr(e, level::OR))
                };
                let bounds = format!("{}:{}", part(start), part(stop));
                if step.is_some() { format!("{bounds}:{}", part(step)) } else { bounds }
            }
            Index::NewAxis(_) => "None".to_owned(),
            Index::Rest(_) => "...".to_owned(),
        }
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:indent$}{text}", "", indent = 4 * depth);
}

fn parenthesised(elements: Vec<String>) -> String {
    let comma = if elements.len() == 1 { "," } else { "" };
    format!("({}{comma})", elements.join(", "))
}

fn float(x: f64) -> (String, u8) {
    let text = match x {
        // What is too large for a float is read as an infinity.
        f64::INFINITY => "1e999".to_owned(),
        f64::NEG_INFINITY => "-1e999".to_owned(),
        x if x.is_nan() => "(1e999 - 1e999)".to_owned(),
        x => format!("{x:?}"),
    };
    let level = if text.starts_with('-') { level::SIGN } else { level::NUMBER };
    (text, level)
}

/// Text between quotes, with what cannot stand there escaped.
fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
