//! Arithmetic and comparisons, on numbers and element by element on arrays.

use super::operand::{Operand, described, described_operand};
use super::{Lowered, Lowering};
use crate::ir::{Block, Elem, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, CompareOp, Expr, UnaryOp};

impl Lowering<'_> {
    /// Whether an operand is a list, on which Python's `+` and `*` are no arithmetic.
    pub(super) fn is_list(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Array(view) => self.env.is_list(view.storage),
            other => matches!(other, Operand::List(_)),
        }
    }

    /// Two operands of arithmetic. Beside an array a list is one, as in NumPy; two lists are not.
    fn both(
        &mut self,
        (a, at_a): (&Operand, Span),
        (b, at_b): (&Operand, Span),
    ) -> Lowered<(Value, Value)> {
        let array = |l: &Self, o: &Operand| {
            matches!(o, Operand::Array(_) | Operand::Fresh(_)) && !l.is_list(o)
        };
        let x = if array(self, b) && self.is_list(a) {
            self.value(a, at_a)?
        } else {
            self.arithmetic(a, at_a)?
        };
        let y = if array(self, a) && self.is_list(b) {
            self.value(b, at_b)?
        } else {
            self.arithmetic(b, at_b)?
        };
        Ok((x, y))
    }

    /// A number or an array as an operand of arithmetic. A list is not one: Python's `+` would join lists.
    fn arithmetic(&mut self, operand: &Operand, span: Span) -> Lowered<Value> {
        if self.is_list(operand) {
            return Err(list_arithmetic(span));
        }
        if let Operand::Tuple(_) | Operand::Function(_) | Operand::Text(_) | Operand::None = operand
        {
            let what = described_operand(operand);
            return Err(Diagnostic::new("type", "a number or an array is needed here")
                .label(span, format!("this is {what}")));
        }
        self.value(operand, span)
    }

    /// `a op b`.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        (a, at_a): (&Operand, Span),
        (b, at_b): (&Operand, Span),
    ) -> Lowered<Operand> {
        let span = at_a.to(at_b);
        if let (BinaryOp::Mul, Operand::List(elements)) = (op, a)
            && let ([(Operand::Scalar(v), _)], Operand::Scalar(n)) = (&elements[..], b)
            && self.b.ty(*n) == Type::I64
        {
            // `[v] * n`: the usual way to make a list of n numbers.
            self.b.at(span);
            let value = self.b.filled(&[*n], *v);
            return Ok(Operand::Array(self.stored_list(value, None)));
        }
        let (x, y) = self.both((a, at_a), (b, at_b))?;
        let v = self.combine(op, x, y, span)?;
        Ok(self.made(v))
    }

    /// Two numbers or arrays, combined.
    pub(super) fn combine(
        &mut self,
        op: BinaryOp,
        x: Value,
        y: Value,
        span: Span,
    ) -> Lowered<Value> {
        self.b.at(span);
        if op == BinaryOp::Pow {
            return self.power(x, y, span);
        }
        let mut elem = self.common_elem(x, y);
        elem = match (op, elem) {
            (BinaryOp::Div, Elem::I64 | Elem::Bool) => Elem::F64,
            (BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, Elem::Bool) => Elem::Bool,
            (_, Elem::Bool) => Elem::I64,
            (_, elem) => elem,
        };
        let (x, y) = (self.convert(x, elem, span)?, self.convert(y, elem, span)?);
        let (x, y) = self.aligned(x, y);
        self.b.at(span);
        let float = elem.is_float();
        self.no_constant_zero(op, x, y, span)?;
        let row = match (op, float) {
            (BinaryOp::Add, true) => Prim::Add,
            (BinaryOp::Sub, true) => Prim::Sub,
            (BinaryOp::Mul, true) => Prim::Mul,
            (BinaryOp::Div, _) => Prim::Div,
            (BinaryOp::FloorDiv, true) => return Ok(self.floor_division(x, y)),
            (BinaryOp::Rem, true) => return Ok(self.modulo(x, y)),
            (BinaryOp::Add, false) => Prim::IAdd,
            (BinaryOp::Sub, false) if self.cannot_underflow(x, y) => Prim::WSub,
            (BinaryOp::Sub, false) => Prim::ISub,
            (BinaryOp::Mul, false) => Prim::IMul,
            (BinaryOp::FloorDiv, false) => Prim::IDiv,
            (BinaryOp::Rem, false) => Prim::IMod,
            (BinaryOp::Pow, _) => unreachable!("handled above"),
            (_, true) => {
                return Err(Diagnostic::new(
                    "type",
                    format!("`{}` works on integers and truth values", op.symbol()),
                )
                .label(span, "one of these is a float")
                .help("compare first, as in `(x > 0) & (y > 0)`, or use `int(...)`"));
            }
            (BinaryOp::BitAnd, _) if elem == Elem::Bool => Prim::And,
            (BinaryOp::BitOr, _) if elem == Elem::Bool => Prim::Or,
            (BinaryOp::BitXor, _) if elem == Elem::Bool => {
                let either = self.b.prim(Prim::Or, &[x, y]);
                let both = self.b.prim(Prim::And, &[x, y]);
                let not_both = self.b.prim(Prim::Not, &[both]);
                return Ok(self.shaped_like(Prim::And, either, not_both));
            }
            (BinaryOp::BitAnd, _) => Prim::IAnd,
            (BinaryOp::BitOr, _) => Prim::IOr,
            (BinaryOp::BitXor, _) => Prim::IXor,
            (BinaryOp::Shl | BinaryOp::Shr, _) => return self.shifted(op, x, y),
        };
        let v = self.shaped_like(row, x, y);
        self.note_bound(op, x, y, v);
        Ok(v)
    }

    /// A number divided by a zero that is written out is a slip: Python refuses it too.
    fn no_constant_zero(&self, op: BinaryOp, x: Value, y: Value, span: Span) -> Lowered<()> {
        let constant = |v: Value| self.b.func().as_const(v);
        let zero = matches!(constant(y), Some(Scalar::F64(0.0) | Scalar::F32(0.0)));
        if op == BinaryOp::Div && zero && constant(x).is_some() {
            return Err(Diagnostic::new("division-by-zero", "division by zero")
                .label(span, "the divisor is 0")
                .help("write `np.inf` or `np.nan` where that is meant"));
        }
        Ok(())
    }

    /// A row on two operands that have been aligned.
    fn shaped_like(&mut self, row: Prim, x: Value, y: Value) -> Value {
        let v = self.b.prim(row, &[x, y]);
        let units = match (self.b.ty(x).is_array(), self.b.ty(y).is_array()) {
            (true, true) => self.units_of(x) & self.units_of(y),
            (true, false) => self.units_of(x),
            _ => self.units_of(y),
        };
        self.note_units(v, units);
        v
    }

    /// Shifts: `x << n` is `x * 2**n`, which can overflow; `x >> n` rounds down.
    fn shifted(&mut self, op: BinaryOp, x: Value, n: Value) -> Lowered<Value> {
        if self.b.ty(x).is_array() || self.b.ty(n).is_array() {
            return Err(Diagnostic::new("unsupported-array", "shifts of arrays are not supported")
                .label(self.b.span(), "here")
                .help("multiply by a power of two, or use `//`"));
        }
        let (zero, last) = (self.b.i64(0), self.b.i64(63));
        let natural = self.b.prim(Prim::IGe, &[n, zero]);
        self.b.op(Op::Assert("a number cannot be shifted by a negative amount".into()), &[natural]);
        if op == BinaryOp::Shr {
            let n = self.b.prim(Prim::IMin, &[n, last]);
            return Ok(self.b.prim(Prim::Sar, &[x, n]));
        }
        // Shifted and back again is the same number, unless bits were lost; 0 stays 0.
        let small = self.b.prim(Prim::ILt, &[n, last]);
        let capped = self.b.prim(Prim::IMin, &[n, last]);
        let left = self.b.prim(Prim::Shl, &[x, capped]);
        let back = self.b.prim(Prim::Sar, &[left, capped]);
        let same = self.b.prim(Prim::IEq, &[back, x]);
        let fits = self.b.prim(Prim::And, &[small, same]);
        let none = self.b.prim(Prim::IEq, &[x, zero]);
        let fits = self.b.prim(Prim::Or, &[fits, none]);
        self.b.op(Op::Assert("the shifted number does not fit 64 bits".into()), &[fits]);
        Ok(self.b.select(none, zero, left))
    }

    /// `x % y` of floats, with the sign of `y`.
    fn modulo(&mut self, x: Value, y: Value) -> Value {
        let rest = self.shaped_like(Prim::Rem, x, y);
        let zero = self.zero(self.elem(x));
        let rest_negative = self.b.prim(Prim::Lt, &[rest, zero]);
        let divisor_negative = self.b.prim(Prim::Lt, &[y, zero]);
        let is_zero = self.b.prim(Prim::Eq, &[rest, zero]);
        // The signs differ where exactly one is negative.
        let either = self.b.prim(Prim::Or, &[rest_negative, divisor_negative]);
        let both = self.b.prim(Prim::And, &[rest_negative, divisor_negative]);
        let not_both = self.b.prim(Prim::Not, &[both]);
        let differ = self.b.prim(Prim::And, &[either, not_both]);
        let not_zero = self.b.prim(Prim::Not, &[is_zero]);
        let wrong = self.b.prim(Prim::And, &[differ, not_zero]);
        let moved = self.b.add(rest, y);
        let nonzero = self.b.select(wrong, moved, rest);
        // A zero has the sign of the divisor too.
        let signed = self.b.prim(Prim::CopySign, &[rest, y]);
        let v = self.b.select(is_zero, signed, nonzero);
        let units = self.units_of(rest);
        self.note_units(v, units);
        v
    }

    /// `x // y` of floats: the whole number of times `y` fits.
    fn floor_division(&mut self, x: Value, y: Value) -> Value {
        let rest = self.modulo(x, y);
        let whole = self.b.sub(x, rest);
        let times = self.b.prim(Prim::Div, &[whole, y]);
        let v = self.b.prim(Prim::Round, &[times]);
        let units = self.units_of(rest);
        self.note_units(v, units);
        v
    }

    /// `x ** n`: repeated squaring for a constant integer `n`, a square root for 0.5.
    fn power(&mut self, x: Value, n: Value, span: Span) -> Lowered<Value> {
        let constant = match self.b.func().as_const(n) {
            Some(Scalar::I64(k)) if k.unsigned_abs() <= 1024 => Some((k, false)),
            Some(Scalar::F64(0.5)) => {
                let elem = self.float_elem(x);
                let x = self.convert(x, elem, span)?;
                return Ok(self.row(Prim::Sqrt, x));
            }
            Some(Scalar::F64(k)) if k.fract() == 0.0 && k.abs() <= 1024.0 => Some((k as i64, true)),
            _ => None,
        };
        if let Some((k, float)) = constant {
            return self.whole_power(x, k, float, span);
        }
        let (base, exponent) = (self.elem(x), self.elem(n));
        let scalars = !self.b.ty(x).is_array() && !self.b.ty(n).is_array();
        match (base.is_float(), exponent) {
            (true, Elem::I64 | Elem::Bool) if scalars => {
                let n = self.convert(n, Elem::I64, span)?;
                self.b.at(span);
                Ok(self.b.prim(Prim::PowI, &[x, n]))
            }
            (false, Elem::I64 | Elem::Bool) if scalars => {
                let x = self.convert(x, Elem::I64, span)?;
                let n = self.convert(n, Elem::I64, span)?;
                Ok(self.integer_power(x, n, span))
            }
            (false, Elem::I64 | Elem::Bool) => Err(Diagnostic::new(
                "unsupported-array",
                "powers of arrays of integers need a constant exponent",
            )
            .label(span, "here")
            .help("make it an array of floats: `x.astype(float) ** n`")),
            _ => {
                let elem = self.common_elem(x, n);
                let elem = if elem.is_float() { elem } else { Elem::F64 };
                let (x, n) = (self.convert(x, elem, span)?, self.convert(n, elem, span)?);
                let (x, n) = self.aligned(x, n);
                self.b.at(span);
                Ok(self.shaped_like(Prim::Pow, x, n))
            }
        }
    }

    fn whole_power(&mut self, x: Value, n: i64, float: bool, span: Span) -> Lowered<Value> {
        let mut elem = self.elem(x);
        if elem == Elem::Bool {
            elem = Elem::I64;
        }
        if !elem.is_float() && (n < 0 || float) {
            elem = Elem::F64;
        }
        let base = self.convert(x, elem, span)?;
        self.b.at(span);
        let times = if elem.is_float() { Prim::Mul } else { Prim::IMul };
        let (mut square, mut result, mut left) = (base, None, n.unsigned_abs());
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    None => square,
                    Some(r) => self.shaped_like(times, r, square),
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.shaped_like(times, square, square);
            }
        }
        let one = if elem.is_float() { self.b.float(elem, 1.0) } else { self.b.i64(1) };
        let result = match result {
            Some(r) => r,
            None if self.b.ty(base).is_array() => {
                let dims = self.b.dims(base);
                let ones = self.b.filled(&dims, one);
                self.keep_units(ones, base);
                ones
            }
            None => one,
        };
        Ok(if n < 0 { self.shaped_like(Prim::Div, one, result) } else { result })
    }

    /// An integer to a power known when it runs, by repeated squaring.
    fn integer_power(&mut self, x: Value, n: Value, span: Span) -> Value {
        self.b.at(span);
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let natural = self.b.prim(Prim::IGe, &[n, zero]);
        let message = "an integer to a negative power is a float: write `float(a) ** n`";
        self.b.op(Op::Assert(message.into()), &[natural]);
        let int = (Type::I64, None);
        let params = self.b.open_block(&[int.clone(), int.clone(), int.clone(), int]);
        let (result, square, left) = (params[1], params[2], params[3]);
        let done = self.b.prim(Prim::IEq, &[left, zero]);
        self.b.open_block(&[]);
        let exit = self.b.close_block(vec![result, square, left]);
        self.b.inst(Op::ExitIf, vec![done], &[], vec![exit]);
        let odd = self.b.prim(Prim::IAnd, &[left, one]);
        let odd = self.b.prim(Prim::INe, &[odd, zero]);
        let factor = self.b.select(odd, square, one);
        let result = self.b.prim(Prim::IMul, &[result, factor]);
        let left = self.b.prim(Prim::Sar, &[left, one]);
        // The last square is not needed, and may not fit.
        let more = self.b.prim(Prim::INe, &[left, zero]);
        let factor = self.b.select(more, square, one);
        let next = self.b.prim(Prim::IMul, &[square, factor]);
        let body: Block = self.b.close_block(vec![result, next, left]);
        let types = [Type::I64; 3];
        self.b.inst(Op::While, vec![one, x, n], &types, vec![body])[0]
    }

    /// The kind of floats an operation on `x` gives.
    pub(super) fn float_elem(&self, x: Value) -> Elem {
        match self.elem(x) {
            Elem::F32 => Elem::F32,
            _ => Elem::F64,
        }
    }

    /// A row of one operand.
    pub(super) fn row(&mut self, row: Prim, x: Value) -> Value {
        let v = self.b.prim(row, &[x]);
        self.keep_units(v, x);
        v
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span) -> Lowered<Operand> {
        if op == UnaryOp::Not {
            let c = self.condition(operand)?;
            return Ok(Operand::Scalar(self.b.prim(Prim::Not, &[c])));
        }
        let x = self.expr(operand)?;
        let x = self.arithmetic(&x, operand.span)?;
        let x = match (op, self.elem(x)) {
            (UnaryOp::Invert, _) => x,
            (_, Elem::Bool) => self.convert(x, Elem::I64, span)?,
            _ => x,
        };
        self.b.at(span);
        let v = match (op, self.elem(x)) {
            (UnaryOp::Neg, Elem::I64) => self.row(Prim::INeg, x),
            (UnaryOp::Neg, _) => self.row(Prim::Neg, x),
            (UnaryOp::Invert, Elem::Bool) if self.b.ty(x).is_array() => self.row(Prim::Not, x),
            (UnaryOp::Invert, Elem::I64 | Elem::Bool) => {
                let x = self.convert(x, Elem::I64, span)?;
                let ones = self.b.i64(-1);
                self.shaped_like(Prim::IXor, x, ones)
            }
            (UnaryOp::Invert, _) => {
                return Err(Diagnostic::new(
                    "type",
                    "`~` works on integers and arrays of truth values",
                )
                .label(operand.span, format!("this is {}", described(self.b.ty(x))))
                .help("for a condition write `not`"));
            }
            _ => x,
        };
        Ok(self.made(v))
    }

    /// `left op right`, element by element.
    pub(super) fn compared(
        &mut self,
        op: CompareOp,
        left: Value,
        right: Value,
        span: Span,
    ) -> Lowered<Value> {
        let elem = match self.common_elem(left, right) {
            Elem::Bool => Elem::I64,
            elem => elem,
        };
        let (a, b) = (self.convert(left, elem, span)?, self.convert(right, elem, span)?);
        let (a, b) = self.aligned(a, b);
        self.b.at(span);
        let row = match (op, elem.is_float()) {
            (CompareOp::Eq, true) => Prim::Eq,
            (CompareOp::Ne, true) => Prim::Ne,
            (CompareOp::Lt, true) => Prim::Lt,
            (CompareOp::Le, true) => Prim::Le,
            (CompareOp::Gt, true) => Prim::Gt,
            (CompareOp::Ge, true) => Prim::Ge,
            (CompareOp::Eq, false) => Prim::IEq,
            (CompareOp::Ne, false) => Prim::INe,
            (CompareOp::Lt, false) => Prim::ILt,
            (CompareOp::Le, false) => Prim::ILe,
            (CompareOp::Gt, false) => Prim::IGt,
            (CompareOp::Ge, false) => Prim::IGe,
        };
        Ok(self.shaped_like(row, a, b))
    }

    /// `left op a op b ...`. What follows a comparison that fails is not evaluated.
    pub(super) fn compare(
        &mut self,
        left: Operand,
        at: Span,
        rest: &[(CompareOp, Expr)],
    ) -> Lowered<Operand> {
        let Some(((op, e), rest)) = rest.split_first() else {
            return Ok(Operand::Scalar(self.b.bool(true)));
        };
        let right = self.expr(e)?;
        let span = at.to(e.span);
        let (x, y) = self.both((&left, at), (&right, e.span))?;
        let holds = self.compared(*op, x, y, span)?;
        if rest.is_empty() {
            return Ok(self.made(holds));
        }
        if self.b.ty(holds).is_array() {
            return Err(Diagnostic::new("type", "a chain of comparisons needs numbers")
                .label(span, "this compares arrays")
                .help("write `(a < x) & (x < b)`"));
        }
        let v = if rest.iter().any(|(_, e)| super::expr::can_fail(e)) {
            let right = right.clone();
            self.branch_value(
                holds,
                span,
                |l| {
                    let others = l.compare(right, e.span, rest)?;
                    l.as_scalar(&others, span)
                },
                |l| Ok(l.b.bool(false)),
            )?
        } else {
            let others = self.compare(right, e.span, rest)?;
            let others = self.as_scalar(&others, span)?;
            self.b.prim(Prim::And, &[holds, others])
        };
        Ok(Operand::Scalar(v))
    }

    /// Whether a number is not zero; only a number has a truth value.
    pub(super) fn truth(&mut self, operand: &Operand, span: Span) -> Lowered<Value> {
        if let Operand::Array(_) | Operand::Fresh(_) | Operand::List(_) = operand {
            return Err(Diagnostic::new("type", "an array has no truth value of its own")
                .label(span, "this is an array")
                .help("say which: `np.any(...)` or `np.all(...)`"));
        }
        let v = self.as_scalar(operand, span)?;
        self.b.at(span);
        Ok(match self.b.ty(v) {
            Type::Bool => v,
            Type::I64 => {
                let zero = self.b.i64(0);
                self.b.prim(Prim::INe, &[v, zero])
            }
            _ => {
                let zero = self.zero(self.elem(v));
                self.b.prim(Prim::Ne, &[v, zero])
            }
        })
    }
}

pub(super) fn list_arithmetic(span: Span) -> Diagnostic {
    Diagnostic::new("type", "arithmetic on a list is not arithmetic on its elements")
        .label(span, "this is a list")
        .help("make it an array: `np.array(...)`, or `np.full(n, v)` for `[v] * n`")
}
