//! Sums that an iteration begins with are taken at the end of the one before.
//!
//! On the way back through a loop whose states all count, as in a mean over time, the adjoint of a state is a product
//! that the last iteration ended with, plus what every state receives. Taken where the product is, the two are
//! one fused operation, and so is each link of the chain that iterations wait for one another by. That rounds once
//! instead of twice: it is part of what reverse mode means, not a pass that can be left out.

use crate::ir::{Block, Func, Inst, Op, Type, Value};
use crate::ops::Prim;
use crate::transform::carries::rename_inside;
use std::collections::HashMap;

/// Takes sums that are adjoints, of something carried and something fixed, at the end of iterations.
pub fn sums(func: &Func, is_adjoint: &dyn Fn(Value) -> bool) -> Func {
    let mut result = func.clone();
    let mut body = std::mem::take(&mut result.body);
    block(&mut result, &mut body, is_adjoint);
    result.body = body;
    result
}

fn block(func: &mut Func, block_: &mut Block, is_adjoint: &dyn Fn(Value) -> bool) {
    for mut inst in std::mem::take(&mut block_.insts) {
        inst.blocks.iter_mut().for_each(|b| block(func, b, is_adjoint));
        let leaves = |body: &Block| body.insts.iter().any(|i| i.op == Op::ExitIf);
        if inst.op == Op::For && !leaves(&inst.blocks[0]) {
            for carry in 0..inst.results.len() {
                if let Some(found) = find(func, &inst, carry, is_adjoint) {
                    block_.insts.push(turn(func, &mut inst, carry, &found));
                }
            }
        }
        block_.insts.push(inst);
    }
}

/// A sum that can be taken at the end.
struct Found {
    /// Its position in the body.
    at: usize,
    /// What is added.
    fixed: Value,
    /// The factors of what is carried.
    factors: [Value; 2],
    /// Whether what is carried is flushed.
    flushed: bool,
}

fn find(
    func: &Func,
    inst: &Inst,
    carry: usize,
    is_adjoint: &dyn Fn(Value) -> bool,
) -> Option<Found> {
    let body = &inst.blocks[0];
    let carried = body.params[carry + 1];
    if func.ty(carried) != Type::F64 || uses(body, carried) != 1 {
        return None;
    }
    let made = |v: Value| body.insts.iter().find(|i| i.results.contains(&v));
    let at = body.insts.iter().position(|i| i.args.contains(&carried))?;
    let sum = &body.insts[at];
    if sum.op != Op::Prim(Prim::Add) || !is_adjoint(sum.results[0]) {
        return None;
    }
    let fixed = if sum.args[0] == carried { sum.args[1] } else { sum.args[0] };
    let last = made(body.yields[carry])?;
    let flushed = last.op == Op::Prim(Prim::Flush);
    let product = if flushed { made(last.args[0])? } else { last };
    let inside = || body.params.contains(&fixed) || made(fixed).is_some();
    if product.op != Op::Prim(Prim::Mul) || inside() {
        return None;
    }
    Some(Found { at, fixed, factors: [product.args[0], product.args[1]], flushed })
}

/// How often a block uses a value, nested code included.
fn uses(block: &Block, v: Value) -> usize {
    let count = |values: &[Value]| values.iter().filter(|u| **u == v).count();
    let inside = |inst: &Inst| inst.blocks.iter().map(|b| uses(b, v)).sum::<usize>();
    let insts: usize = block.insts.iter().map(|i| count(&i.args) + inside(i)).sum();
    insts + count(&block.yields)
}

/// Carries the sum beside what it is of; gives back the instruction that takes the first one, before the loop.
fn turn(func: &mut Func, inst: &mut Inst, carry: usize, found: &Found) -> Inst {
    let mut number = || func.value(Type::F64, None);
    let [first, sum, next, after] = [(); 4].map(|()| number());
    let flushed = found.flushed.then(number);
    let span = inst.span;
    let prim = |prim: Prim, args: Vec<Value>, result: Value| Inst {
        op: Op::Prim(prim),
        args,
        results: vec![result],
        blocks: Vec::new(),
        span,
    };
    let before = prim(Prim::Add, vec![inst.args[2 + carry], found.fixed], first);
    inst.args.push(first);
    inst.results.push(after);
    let body = &mut inst.blocks[0];
    let old = body.insts.remove(found.at).results[0];
    rename_inside(body, &HashMap::from([(old, sum)]));
    body.params.push(sum);
    let factors = found.factors.map(|v| if v == old { sum } else { v });
    let args = vec![factors[0], factors[1], found.fixed];
    body.insts.push(prim(Prim::Fma, args, next));
    body.insts.extend(flushed.map(|flushed| prim(Prim::Flush, vec![next], flushed)));
    body.yields.push(flushed.unwrap_or(next));
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, parse, verify};

    fn turned(text: &str) -> (Module, Module) {
        let before = parse::module(text).unwrap();
        let after = Module::of(sums(&before.funcs[0], &|_| true));
        verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
        (before, after)
    }

    fn value(module: &Module, n: i64) -> Vec<f64> {
        let args = vec![Val::f64(0.7), Val::f64(0.3), Val::i64(n)];
        crate::check::floats(&Interp::new(module).call("f", args).unwrap())
    }

    #[test]
    fn a_chain_of_products_and_sums() {
        for last in ["mul %s, %w", "mul %s, %s", "mul %w, %w"] {
            let text = format!(
                "func @f(%w: f64, %c: f64, %n: i64) -> (f64, f64) {{
                   %r, %t = for %i in 0..%n carry (%x = 1.0, %y = 0.0) {{
                     %s = add %x, %c
                     %z = add %y, %s
                     %p = {last}
                     %q = flush %p
                     yield %q, %z
                   }}
                   return %r, %t
                 }}"
            );
            let (before, after) = turned(&text);
            let body =
                &after.funcs[0].body.insts.iter().find(|i| i.op == Op::For).unwrap().blocks[0];
            assert!(body.insts.iter().any(|i| i.op == Op::Prim(Prim::Fma)), "{after}");
            for n in [-1, 0, 1, 2, 7] {
                for (a, b) in value(&before, n).iter().zip(value(&after, n)) {
                    assert!((a - b).abs() <= 1e-14 * a.abs(), "{n}: {a}, {b}\n{after}");
                }
            }
        }
    }

    /// What is used elsewhere, is added to something of the iteration's own, or is no product.
    #[test]
    fn others_stay() {
        let text = |sum: &str, last: &str| {
            format!(
                "func @f(%w: f64, %c: f64, %n: i64) -> f64 {{
                   %r = for %i in 0..%n carry (%x = 1.0) {{
                     %k = itof %i
                     %s = {sum}
                     %p = {last}
                     yield %p
                   }}
                   return %r
                 }}"
            )
        };
        let cases = [
            ("add %x, %k", "mul %s, %w"),
            ("add %x, %x", "mul %s, %w"),
            ("add %x, %c", "mul %s, %x"),
            ("sub %x, %c", "mul %s, %w"),
            ("add %x, %c", "div %s, %w"),
            ("add %x, %c", "add %s, %w"),
        ];
        for (sum, last) in cases {
            let (before, after) = turned(&text(sum, last));
            assert_eq!(before.to_string(), after.to_string(), "{sum}, {last}");
        }
    }
}
