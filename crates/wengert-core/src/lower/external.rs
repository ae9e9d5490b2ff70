//! Calls of functions that are somewhere else: they stay calls, and every one says what it takes and gives.

use super::operand::Operand;
use super::{Lowered, Lowering};
use crate::ir::{External, Module, Op, Type};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{self, Expr};

impl Lowering<'_> {
    /// A call. An array that is written is handed back, and the caller goes on with that.
    pub(super) fn external(
        &mut self,
        called: &tree::External,
        args: &[Expr],
        span: Span,
    ) -> Lowered<Operand> {
        let mut operands = Vec::new();
        for e in args {
            operands.push((self.expr(e)?, e.span));
        }
        let mut values = Vec::new();
        for ((operand, at), (elem, rank)) in operands.iter().zip(&called.params) {
            let v = self.value(operand, *at)?;
            let (found, wanted) = (self.b.ty(v), Type::of(*elem, *rank));
            if found != wanted {
                let message = format!("`{}` is given {found} for {wanted}", called.name.text);
                return Err(Diagnostic::new("type", message).label(*at, "this argument"));
            }
            values.push(v);
        }
        self.b.at(span);
        let mut types: Vec<Type> =
            called.results.iter().map(|(elem, rank)| Type::of(*elem, *rank)).collect();
        types.extend(called.written.iter().map(|k| self.b.ty(values[*k])));
        let call = Op::Call(called.name.text.as_str().into());
        let mut results = self.b.inst(call, values, &types, Vec::new());
        let after = results.split_off(called.results.len());
        let mut given = Vec::new();
        for v in results {
            given.push(match self.b.ty(v).is_array() {
                true => Operand::fresh(v),
                false => Operand::Scalar(v),
            });
        }
        for (k, v) in called.written.iter().zip(after) {
            given.push(match &operands[*k] {
                (Operand::Array(view), at) => {
                    self.replace(view, v, *at, span)?;
                    operands[*k].0.clone()
                }
                _ if self.b.ty(v).is_array() => Operand::fresh(v),
                _ => Operand::Scalar(v),
            });
        }
        Ok(match given.len() {
            0 => Operand::None,
            1 => given.remove(0),
            _ => Operand::Tuple(given.into_iter().map(|o| (o, span)).collect()),
        })
    }
}

/// Declares what is called and has no body. It is taken to have derivatives in both modes.
pub(super) fn declare(module: &mut Module) {
    let mut found: Vec<External> = Vec::new();
    for func in &module.funcs {
        func.body.walk(&mut |inst| {
            let Op::Call(name) = &inst.op else { return };
            if module.func(name).is_some() || found.iter().any(|e| e.name == *name) {
                return;
            }
            let types = |values: &[_]| values.iter().map(|v| func.ty(*v)).collect();
            found.push(External {
                name: name.clone(),
                params: types(&inst.args),
                results: types(&inst.results),
                jvp: true,
                vjp: true,
            });
        });
    }
    module.externals = found;
}
