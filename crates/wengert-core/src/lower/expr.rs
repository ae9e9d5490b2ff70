//! Expressions.

use super::env::{Binding, Unset, UnsetReason};
use super::infer::Infer;
use super::{Lowered, Lowering, Operand, functions, not_yet, quoted};
use crate::ir::{Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Callee, CompareOp, Expr, ExprKind, LogicalOp, UnaryOp};

impl Lowering<'_> {
    /// An expression that must be a scalar.
    pub(super) fn scalar(&mut self, e: &Expr) -> Lowered<Value> {
        match self.expr(e)? {
            Operand::Scalar(v) => Ok(v),
            Operand::Array(_) => Err(self.array_arithmetic(e.span)),
            Operand::Tuple(_) => Err(Diagnostic::new("type", "a number is needed, not a tuple")
                .label(e.span, "this is a tuple")),
        }
    }

    pub(super) fn array_arithmetic(&self, span: Span) -> Diagnostic {
        Diagnostic::new("unsupported-array", "arithmetic on whole arrays is not supported yet")
            .label(span, "this is an array")
            .help("write a loop over its elements: `for i in range(len(x)): ...x[i]...`")
    }

    /// A scalar converted to a float.
    pub(super) fn float(&mut self, e: &Expr) -> Lowered<Value> {
        let v = self.scalar(e)?;
        self.convert(v, Type::F64, e.span)
    }

    /// A scalar that must be an integer.
    pub(super) fn integer(&mut self, e: &Expr, what: &str) -> Lowered<Value> {
        let v = self.scalar(e)?;
        match self.b.ty(v) {
            Type::I64 => Ok(v),
            ty => Err(Diagnostic::new("type", format!("{what} must be an integer"))
                .label(e.span, format!("this is {}", described(ty)))
                .help("use `int(...)` or `//` to make it an integer")),
        }
    }

    /// A truth value.
    pub(super) fn condition(&mut self, e: &Expr) -> Lowered<Value> {
        if let ExprKind::Logical { op, operands } = &e.kind {
            return self.logical(*op, operands);
        }
        let v = self.scalar(e)?;
        self.b.at(e.span);
        Ok(match self.b.ty(v) {
            Type::Bool => v,
            Type::I64 => {
                let zero = self.b.i64(0);
                self.b.prim(Prim::INe, &[v, zero])
            }
            _ => {
                let zero = self.b.f64(0.0);
                self.b.prim(Prim::Ne, &[v, zero])
            }
        })
    }

    /// A scalar as another type, where that loses nothing.
    pub(super) fn convert(&mut self, v: Value, to: Type, span: Span) -> Lowered<Value> {
        let from = self.b.ty(v);
        match (from, to) {
            _ if from == to => Ok(v),
            (Type::I64, Type::F64) => Ok(self.b.prim(Prim::IToF, &[v])),
            (Type::Bool, Type::I64) => {
                let (one, zero) = (self.b.i64(1), self.b.i64(0));
                Ok(self.b.select(v, one, zero))
            }
            (Type::Bool, Type::F64) => {
                let (one, zero) = (self.b.f64(1.0), self.b.f64(0.0));
                Ok(self.b.select(v, one, zero))
            }
            _ => Err(Diagnostic::new(
                "type",
                format!("{} is given where {} is needed", described(from), described(to)),
            )
            .label(span, "here")),
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Lowered<Operand> {
        self.b.at(e.span);
        let v = match &e.kind {
            ExprKind::Int(x) => self.b.i64(*x),
            ExprKind::Float(x) => self.b.f64(*x),
            ExprKind::Bool(x) => self.b.bool(*x),
            ExprKind::Name(name) => return self.name(name, e.span),
            ExprKind::Builtin(name) => self.builtin_constant(name, e.span)?,
            ExprKind::Unary { op, operand } => self.unary(*op, operand, e.span)?,
            ExprKind::Binary { first, rest } => {
                let mut left = self.scalar(first)?;
                for (op, right) in rest {
                    let span = first.span.to(right.span);
                    if *op == BinaryOp::Pow {
                        left = self.power(left, right, span)?;
                    } else {
                        let right = self.scalar(right)?;
                        left = self.binary(*op, left, right, span)?;
                    }
                }
                left
            }
            ExprKind::Compare { first, rest } => {
                let left = self.scalar(first)?;
                self.compare(left, first.span, rest)?
            }
            ExprKind::Logical { op, operands } => {
                self.only_truths(*op, operands)?;
                self.logical(*op, operands)?
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                return self.conditional(cond, then, otherwise, e.span);
            }
            ExprKind::Call { callee, args, keywords } => {
                if let Callee::Function(name) = callee {
                    return self.call(name, args, keywords, e.span, true);
                }
                if let Some(k) = keywords.first() {
                    return Err(Diagnostic::new(
                        "unsupported-syntax",
                        format!(
                            "library functions take no arguments by name here: `{}`",
                            k.name.text
                        ),
                    )
                    .label(k.name.span, "here")
                    .help("give the argument by its position"));
                }
                return match callee {
                    Callee::Builtin(name) => self.builtin(&name.text, args, e.span),
                    Callee::Function(name) => self.call(name, args, keywords, e.span, true),
                    Callee::Method { .. } => Err(not_yet(e.span)),
                };
            }
            ExprKind::Index { base, indices } => self.element(base, indices, e.span)?,
            ExprKind::List(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Lambda(_)
            | ExprKind::Text(_)
            | ExprKind::None => return Err(not_yet(e.span)),
            ExprKind::Tuple(elements) => {
                let operands = elements.iter().map(|x| Ok((self.expr(x)?, x.span)));
                return Ok(Operand::Tuple(operands.collect::<Lowered<_>>()?));
            }
        };
        Ok(Operand::Scalar(v))
    }

    fn name(&mut self, name: &str, span: Span) -> Lowered<Operand> {
        match self.env.get(name) {
            Some((Binding::Scalar(v), _)) => Ok(Operand::Scalar(*v)),
            Some((Binding::Array(s), _)) => Ok(Operand::Array(*s)),
            Some((Binding::Maybe(unset), _)) => Err(maybe_unset(name, unset, span)),
            None => {
                // A name the function assigns anywhere is its own everywhere.
                if let Some(set_at) = self.locals.last().and_then(|l| l.get(name)) {
                    return Err(Diagnostic::new(
                        "undefined-variable",
                        format!("`{name}` is used before it is set"),
                    )
                    .label(span, "used here")
                    .label(*set_at, "set here")
                    .help(format!("set `{name}` first, on every path to here")));
                }
                if let Some(constant) = self.module.constant(name) {
                    return self.expr(&constant.value);
                }
                let error =
                    Diagnostic::new("undefined-variable", format!("`{name}` is not defined"))
                        .label(span, "used here");
                let known = self.env.known_names();
                let near = known.iter().find(|k| similar(k, name));
                Err(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("defined here are {}", quoted(&known))),
                })
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span) -> Lowered<Value> {
        if op == UnaryOp::Not {
            let c = self.condition(operand)?;
            return Ok(self.b.prim(Prim::Not, &[c]));
        }
        let v = self.scalar(operand)?;
        let v = if self.b.ty(v) == Type::Bool { self.convert(v, Type::I64, span)? } else { v };
        self.b.at(span);
        Ok(match (op, self.b.ty(v)) {
            (UnaryOp::Neg, Type::I64) => self.b.prim(Prim::INeg, &[v]),
            (UnaryOp::Neg, _) => self.b.neg(v),
            _ => v,
        })
    }

    /// Two operands made the same type: integers stay integers unless one is a float.
    fn same_type(&mut self, a: Value, b: Value, span: Span) -> Lowered<(Value, Value, Type)> {
        let float = self.b.ty(a) == Type::F64 || self.b.ty(b) == Type::F64;
        let ty = if float { Type::F64 } else { Type::I64 };
        Ok((self.convert(a, ty, span)?, self.convert(b, ty, span)?, ty))
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        span: Span,
    ) -> Lowered<Value> {
        self.b.at(span);
        if op == BinaryOp::Div {
            let (a, b) = (self.convert(a, Type::F64, span)?, self.convert(b, Type::F64, span)?);
            return Ok(self.b.prim(Prim::Div, &[a, b]));
        }
        let (a, b, ty) = self.same_type(a, b, span)?;
        let v = match (op, ty) {
            (BinaryOp::Add, Type::F64) => self.b.add(a, b),
            (BinaryOp::Sub, Type::F64) => self.b.sub(a, b),
            (BinaryOp::Mul, Type::F64) => self.b.mul(a, b),
            (BinaryOp::FloorDiv | BinaryOp::Rem, Type::F64) => {
                return Err(Diagnostic::new(
                    "unsupported-function",
                    "`//` and `%` of floats are not supported yet",
                )
                .label(span, "one of these is a float")
                .help("write `np.floor(a / b)` and `a - b * np.floor(a / b)`, or declare integers: `n: int`"));
            }
            (BinaryOp::Add, _) => self.b.prim(Prim::IAdd, &[a, b]),
            (BinaryOp::Sub, _) => {
                let prim = if self.cannot_underflow(a, b) { Prim::WSub } else { Prim::ISub };
                self.b.prim(prim, &[a, b])
            }
            (BinaryOp::Mul, _) => self.b.prim(Prim::IMul, &[a, b]),
            (BinaryOp::FloorDiv, _) => self.b.prim(Prim::IDiv, &[a, b]),
            _ => self.b.prim(Prim::IMod, &[a, b]),
        };
        self.note_bound(op, a, b, v);
        Ok(v)
    }

    /// `x ** n` for a constant integer `n` by repeated squaring; `x ** 0.5` is a square root.
    pub(super) fn power(&mut self, base: Value, exponent: &Expr, span: Span) -> Lowered<Value> {
        let n = self.scalar(exponent)?;
        self.b.at(span);
        let constant = self.b.func().as_const(n);
        let n = match constant {
            Some(Scalar::I64(n)) if n.unsigned_abs() <= 1024 => n,
            Some(Scalar::F64(0.5)) => {
                let x = self.convert(base, Type::F64, span)?;
                return Ok(self.b.prim(Prim::Sqrt, &[x]));
            }
            Some(Scalar::F64(x)) if x.fract() == 0.0 && x.abs() <= 1024.0 => x as i64,
            _ => {
                return Err(Diagnostic::new(
                    "unsupported-function",
                    "`**` needs a constant integer exponent (or 0.5) for now",
                )
                .label(exponent.span, "this exponent")
                .help("for a positive base write `math.exp(y * math.log(x))`"));
            }
        };
        let float =
            self.b.ty(base) == Type::F64 || n < 0 || !matches!(constant, Some(Scalar::I64(_)));
        let base = if float { self.convert(base, Type::F64, span)? } else { base };
        let times = if float { Prim::Mul } else { Prim::IMul };
        let (mut square, mut result, mut left) = (base, None, n.unsigned_abs());
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    None => square,
                    Some(r) => self.b.prim(times, &[r, square]),
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.b.prim(times, &[square, square]);
            }
        }
        let one = if float { self.b.f64(1.0) } else { self.b.i64(1) };
        let result = result.unwrap_or(one);
        Ok(if n < 0 { self.b.prim(Prim::Div, &[one, result]) } else { result })
    }

    /// `left op a op b ...`. What follows a comparison that fails is not evaluated.
    fn compare(&mut self, left: Value, at: Span, rest: &[(CompareOp, Expr)]) -> Lowered<Value> {
        let Some(((op, e), rest)) = rest.split_first() else { return Ok(self.b.bool(true)) };
        let right = self.scalar(e)?;
        let span = at.to(e.span);
        self.b.at(span);
        let (a, b, ty) = self.same_type(left, right, span)?;
        let prim = match (op, ty) {
            (CompareOp::Eq, Type::F64) => Prim::Eq,
            (CompareOp::Ne, Type::F64) => Prim::Ne,
            (CompareOp::Lt, Type::F64) => Prim::Lt,
            (CompareOp::Le, Type::F64) => Prim::Le,
            (CompareOp::Gt, Type::F64) => Prim::Gt,
            (CompareOp::Ge, Type::F64) => Prim::Ge,
            (CompareOp::Eq, _) => Prim::IEq,
            (CompareOp::Ne, _) => Prim::INe,
            (CompareOp::Lt, _) => Prim::ILt,
            (CompareOp::Le, _) => Prim::ILe,
            (CompareOp::Gt, _) => Prim::IGt,
            (CompareOp::Ge, _) => Prim::IGe,
        };
        let holds = self.b.prim(prim, &[a, b]);
        if rest.is_empty() {
            return Ok(holds);
        }
        if rest.iter().any(|(_, e)| can_fail(e)) {
            return self.branch_value(
                holds,
                span,
                |l| l.compare(right, e.span, rest),
                |l| Ok(l.b.bool(false)),
            );
        }
        let others = self.compare(right, e.span, rest)?;
        Ok(self.b.prim(Prim::And, &[holds, others]))
    }

    /// As a value, `a and b` is one of its operands; only for truth values is that a truth value.
    fn only_truths(&mut self, op: LogicalOp, operands: &[Expr]) -> Lowered<()> {
        let types = self.types();
        for e in operands {
            let ty = Infer::new(self.module).expr(e, &types);
            if ty != Type::Bool {
                let word = if op == LogicalOp::And { "and" } else { "or" };
                let message = format!("the value of `{word}` between numbers is not supported");
                return Err(Diagnostic::new("type", message)
                    .label(e.span, format!("this is {}", described(ty)))
                    .help("compare first (`x != 0`), or write `a if c else b`"));
            }
        }
        Ok(())
    }

    /// `and`, `or`: later operands are evaluated only where they matter, if evaluating them can fail.
    fn logical(&mut self, op: LogicalOp, operands: &[Expr]) -> Lowered<Value> {
        let Some((first, rest)) = operands.split_first() else { return Ok(self.b.bool(true)) };
        let mut left = self.condition(first)?;
        for e in rest {
            left = if can_fail(e) {
                let (rows, cols) = (op == LogicalOp::And, e.span);
                self.branch_value(
                    left,
                    cols,
                    |l| if rows { l.condition(e) } else { Ok(l.b.bool(true)) },
                    |l| if rows { Ok(l.b.bool(false)) } else { l.condition(e) },
                )?
            } else {
                let right = self.condition(e)?;
                let prim = if op == LogicalOp::And { Prim::And } else { Prim::Or };
                self.b.prim(prim, &[left, right])
            };
        }
        Ok(left)
    }

    fn builtin_constant(&mut self, name: &str, span: Span) -> Lowered<Value> {
        Ok(match name {
            "pi" => self.b.f64(std::f64::consts::PI),
            "e" => self.b.f64(std::f64::consts::E),
            "tau" => self.b.f64(std::f64::consts::TAU),
            "inf" => self.b.f64(f64::INFINITY),
            "nan" => self.b.f64(f64::NAN),
            _ => return Err(unknown_function(name, span)),
        })
    }

    fn builtin(&mut self, name: &str, args: &[Expr], span: Span) -> Lowered<Operand> {
        let arity = |n: usize| {
            if args.len() == n {
                return Ok(());
            }
            let s = if n == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {n} argument{s}, but {} are given", args.len());
            Err(Diagnostic::new("argument-count", message).label(span, "this call"))
        };
        if let Some(prim) = functions::row(name) {
            arity(prim.arity())?;
            let x: Vec<Value> = args.iter().map(|a| self.float(a)).collect::<Lowered<_>>()?;
            self.b.at(span);
            return Ok(Operand::Scalar(self.b.prim(prim, &x)));
        }
        Ok(Operand::Scalar(match name {
            "abs" => {
                arity(1)?;
                let x = self.scalar(&args[0])?;
                self.b.at(span);
                if self.b.ty(x) == Type::I64 {
                    let minus = self.b.prim(Prim::INeg, &[x]);
                    self.b.prim(Prim::IMax, &[x, minus])
                } else {
                    let x = self.convert(x, Type::F64, span)?;
                    self.b.prim(Prim::Abs, &[x])
                }
            }
            "min" | "max" | "minimum" | "maximum" => self.extreme(name, args, span)?,
            "float" => {
                arity(1)?;
                self.float(&args[0])?
            }
            "int" | "int_trunc" | "int_floor" => {
                arity(1)?;
                let x = self.scalar(&args[0])?;
                self.b.at(span);
                match self.b.ty(x) {
                    Type::F64 => {
                        let floor = name == "int_floor";
                        let x = if floor { self.b.prim(Prim::Floor, &[x]) } else { x };
                        self.fits_integer(x);
                        self.b.prim(Prim::FToI, &[x])
                    }
                    _ => self.convert(x, Type::I64, span)?,
                }
            }
            "bool" => {
                arity(1)?;
                self.condition(&args[0])?
            }
            "len" => {
                arity(1)?;
                let x = self.array(&args[0])?;
                let x = self.env.version(x);
                self.b.op(Op::Len, &[x])[0]
            }
            "zeros" | "ones" | "empty" | "full" => {
                arity(if name == "full" { 2 } else { 1 })?;
                let n = self.integer(&args[0], "the length of an array")?;
                let v = match name {
                    "ones" => self.b.f64(1.0),
                    "full" => self.float(&args[1])?,
                    _ => self.b.f64(0.0),
                };
                self.b.at(span);
                let x = self.b.op(Op::Fill, &[n, v])[0];
                return Ok(Operand::Array(self.env.new_storage(x)));
            }
            "zeros_like" | "ones_like" | "copy" => {
                arity(1)?;
                let x = self.array(&args[0])?;
                let x = self.env.version(x);
                self.b.at(span);
                let made = if name == "copy" {
                    self.b.op(Op::Copy, &[x])[0]
                } else {
                    let n = self.b.op(Op::Len, &[x])[0];
                    let v = self.b.f64(if name == "ones_like" { 1.0 } else { 0.0 });
                    self.b.op(Op::Fill, &[n, v])[0]
                };
                return Ok(Operand::Array(self.env.new_storage(made)));
            }
            _ => return Err(unknown_function(name, span)),
        }))
    }

    /// Checks that a float has an integer part of 64 bits: NaN and infinities have none.
    fn fits_integer(&mut self, x: Value) {
        let limit = self.b.f64(2f64.powi(63));
        let size = self.b.prim(Prim::Abs, &[x]);
        let fits = self.b.prim(Prim::Lt, &[size, limit]);
        let message = "the number has no integer part that fits 64 bits";
        self.b.op(Op::Assert(message.into()), &[fits]);
    }

    fn extreme(&mut self, name: &str, args: &[Expr], span: Span) -> Lowered<Value> {
        if args.len() < 2 {
            return Err(Diagnostic::new(
                "unsupported-function",
                format!("`{name}` of a single argument is not supported yet"),
            )
            .label(span, "here")
            .help("give at least two numbers, or write a loop over the elements"));
        }
        let is_min = name.starts_with("min");
        let mut best = self.scalar(&args[0])?;
        for a in &args[1..] {
            let v = self.scalar(a)?;
            let (x, y, ty) = self.same_type(best, v, span)?;
            self.b.at(span);
            // The first wins a tie, and where they cannot be compared, as in Python.
            best = match (is_min, ty) {
                (true, Type::F64) => self.b.prim(Prim::Min, &[y, x]),
                (false, Type::F64) => self.b.prim(Prim::Max, &[y, x]),
                (true, _) => self.b.prim(Prim::IMin, &[x, y]),
                (false, _) => self.b.prim(Prim::IMax, &[x, y]),
            };
            // NumPy's give NaN whichever of the two is NaN.
            if name.ends_with("imum") && ty == Type::F64 {
                let nan = self.b.prim(Prim::Ne, &[y, y]);
                best = self.b.select(nan, y, best);
            }
        }
        Ok(best)
    }
}

fn unknown_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new("unsupported-function", format!("`{name}` is not supported yet"))
        .label(span, "here")
        .help(format!(
            "available are {}, abs, min, max, len, zeros, ones, full, zeros_like, copy, int, float, pi, e",
            functions::names()
        ))
}

/// Whether evaluating an expression can fail, so that it must not be evaluated where Python would not.
fn can_fail(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => false,
        ExprKind::Name(_) | ExprKind::Builtin(_) => false,
        ExprKind::Unary { operand, .. } => can_fail(operand),
        ExprKind::Compare { first, rest } => {
            can_fail(first) || rest.iter().any(|(_, r)| can_fail(r))
        }
        ExprKind::Logical { operands, .. } => operands.iter().any(can_fail),
        // Integer arithmetic overflows, elements are out of range, calls do anything.
        _ => true,
    }
}

fn maybe_unset(name: &str, unset: &Unset, span: Span) -> Diagnostic {
    let (code, message, by, help) = match unset.reason {
        UnsetReason::Branch => (
            "maybe-undefined",
            format!("`{name}` is not set on every path to here"),
            "it stays unset on the other path",
            format!("set `{name}` on both paths, or before the `if`"),
        ),
        UnsetReason::Loop => (
            "maybe-undefined",
            format!("`{name}` is set only inside a loop, which may run no iteration"),
            "this loop may not run",
            format!("set `{name}` before the loop"),
        ),
        UnsetReason::Ambiguous => (
            "ambiguous-alias",
            format!("`{name}` stands for different arrays depending on the path taken"),
            "the paths join here",
            format!("make a copy where the paths differ: `{name} = np.copy(...)`"),
        ),
    };
    Diagnostic::new(code, message)
        .label(span, "used here")
        .label(unset.set_at, "set here")
        .label(unset.by, by)
        .help(help)
}

/// Whether one name is a likely slip for the other: one letter added, dropped or changed.
fn similar(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 || a.len().max(b.len()) < 3 {
        return a.iter().collect::<String>().eq_ignore_ascii_case(&b.iter().collect::<String>());
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    start + end + 1 >= a.len().max(b.len())
}

/// A type in the user's words.
pub(super) fn described(ty: Type) -> &'static str {
    match ty {
        Type::F64 => "a float",
        Type::I64 => "an integer",
        Type::Bool => "a truth value",
        Type::F32 => "a single-precision float",
        Type::Array(..) => "an array",
        Type::Tape => "a tape",
    }
}
