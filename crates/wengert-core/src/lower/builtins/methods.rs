//! Attributes and methods of arrays; most methods are functions of the same name.

use super::arguments::{Argument, arrange};
use crate::arrays;
use crate::ir::{Elem, Op};
use crate::lower::env::View;
use crate::lower::operand::Operand;
use crate::lower::{Lowered, Lowering};
use crate::ops::{ArrayOp, Prim};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, ExprKind, Keyword, Name};

impl Lowering<'_> {
    /// `x.name`.
    pub(in crate::lower) fn attribute(
        &mut self,
        base: &Expr,
        name: &Name,
        span: Span,
    ) -> Lowered<Operand> {
        let operand = self.expr(base)?;
        match name.text.as_str() {
            "T" => {
                let view = self.as_view(operand, base.span)?;
                let order: Vec<usize> = (0..self.rank_of(&view)).rev().collect();
                self.b.at(span);
                Ok(Operand::Array(self.permuted(&view, &order)))
            }
            "shape" | "size" | "ndim" => self.property(&name.text, operand, base.span, span),
            other => Err(Diagnostic::new(
                "unsupported-syntax",
                format!("`.{other}` is not supported"),
            )
            .label(name.span, "this attribute")
            .help(
                "arrays have `.shape`, `.size`, `.ndim` and `.T`; pass other values as arguments",
            )),
        }
    }

    /// `x.name(...)`: most methods are functions of the same name.
    pub(in crate::lower) fn method(
        &mut self,
        base: &Expr,
        name: &Name,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        if name.text == "append" {
            return Err(Diagnostic::new("unsupported-syntax", "lists cannot grow")
                .label(span, "this makes the list longer")
                .help("allocate an array before the loop, `states = np.zeros(n)`, and assign its elements, `states[i] = x`"));
        }
        let operand = self.expr(base)?;
        let all = |receiver: Operand| {
            let rest = args.iter().map(Argument::Expr);
            std::iter::once(Argument::Value(receiver, base.span)).chain(rest).collect()
        };
        match name.text.as_str() {
            "copy" if self.is_list(&operand) => {
                let args = all(operand);
                self.function("list", args, keywords, span)
            }
            "max" => self.function("amax", all(operand), keywords, span),
            "min" => self.function("amin", all(operand), keywords, span),
            "sum" | "mean" | "prod" | "argmax" | "argmin" | "cumsum" | "cumprod" | "dot"
            | "copy" | "clip" | "any" | "all" | "argsort" | "round" | "ravel" | "take"
            | "swapaxes" | "searchsorted" | "std" | "var" | "trace" | "repeat" | "squeeze" => {
                self.function(&name.text, all(operand), keywords, span)
            }
            "flatten" => {
                let flat = self.function("ravel", all(operand), keywords, span)?;
                let v = self.value(&flat, span)?;
                Ok(Operand::fresh(self.copy(v)))
            }
            "reshape" | "transpose" if args.len() > 1 => {
                // `x.reshape(2, 3)` is `x.reshape((2, 3))`.
                let kind = ExprKind::Tuple(args.to_vec());
                let shape = Expr { kind, span: args[0].span.to(args[args.len() - 1].span) };
                let given = vec![Argument::Value(operand, base.span), Argument::Expr(&shape)];
                self.function(&name.text, given, keywords, span)
            }
            "reshape" | "transpose" => self.function(&name.text, all(operand), keywords, span),
            "astype" => {
                let given = arrange("asarray", &["a", "dtype?"], all(operand), keywords, span)?;
                let v = self.number(&given, 0)?;
                let elem = self.dtype(&given, 1)?.unwrap_or(Elem::F64);
                let cast = self.cast_to(v, elem, span)?;
                if cast != v || !self.b.ty(v).is_array() {
                    return Ok(self.made(cast));
                }
                Ok(Operand::fresh(self.copy(v)))
            }
            "item" => {
                let v = self.value(&operand, base.span)?;
                if !self.b.ty(v).is_array() {
                    return Ok(Operand::Scalar(v));
                }
                self.b.at(span);
                let n = self.count(v);
                let (zero, one) = (self.b.i64(0), self.b.i64(1));
                let single = self.b.prim(Prim::IEq, &[n, one]);
                let message = "`item` needs an array with one element";
                self.b.op(Op::Assert(message.into()), &[single]);
                Ok(Operand::Scalar(self.b.array(ArrayOp::Peek, &[v, zero])))
            }
            "fill" => {
                let view = self.as_view(operand, base.span)?;
                let [value] = args else {
                    return Err(Diagnostic::new("argument-count", "`fill` takes one number")
                        .label(span, "this call"));
                };
                let v = self.scalar(value)?;
                self.put(&view, v, value.span, span)?;
                Ok(Operand::None)
            }
            "sort" => {
                let view: View = self.as_view(operand, base.span)?;
                let x = self.read(&view, span);
                self.b.at(span);
                let sorted = arrays::sort(&mut self.b, x, None)
                    .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "this call"))?;
                self.replace(&view, sorted, span, span)?;
                Ok(Operand::None)
            }
            other => Err(Diagnostic::new(
                "unsupported-function",
                format!("the method `{other}` is not supported"),
            )
            .label(name.span, "this method")
            .help(format!("write `np.{other}(x)` if there is such a function, or a loop"))),
        }
    }
}
