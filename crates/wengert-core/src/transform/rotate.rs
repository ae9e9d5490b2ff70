//! Sums that an iteration begins with are taken at the end of the one before.
//!
//! On the way back through a loop whose states all count, as in a mean over time, the adjoint of a state is a product
//! that the last iteration ended with, plus what every state receives. Taken where the product is, the two are
//! one fused operation, and so is each link of the chain that iterations wait for one another by. That rounds once
//! instead of twice: it is part of what reverse mode means, not a pass that can be left out.
//!
//! A loop that is run in pieces must round the same wherever they begin. So in a function over a range the sum that is carried comes in
//! and goes out with the rest of its state, and who drives the loop takes the first one ([`hand_on`]).

use crate::ir::{Block, Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::ops::Prim;
use crate::transform::carries::rename_inside;
use rustc_hash::FxHashMap as HashMap;

/// Takes sums that are adjoints, of something carried and something fixed, at the end of iterations. In a function over a
/// range, those of the loop over it only where both are parameters.
pub fn sums(func: &Func, is_ranged: bool, is_adjoint: &dyn Fn(Value) -> bool) -> Func {
    let mut result = func.clone();
    let mut body = std::mem::take(&mut result.body);
    let given = is_ranged.then(|| body.params.clone());
    block(&mut result, &mut body, given.as_deref(), is_adjoint);
    result.body = body;
    result
}

fn block(
    func: &mut Func,
    block_: &mut Block,
    given: Option<&[Value]>,
    is_adjoint: &dyn Fn(Value) -> bool,
) {
    for mut inst in std::mem::take(&mut block_.insts) {
        inst.blocks.iter_mut().for_each(|b| block(func, b, None, is_adjoint));
        let range = given.and_then(|given| length(&block_.insts, given));
        let leaves = |body: &Block| body.insts.iter().any(|i| i.op == Op::ExitIf);
        if inst.op == Op::For && !leaves(&inst.blocks[0]) {
            for carry in 0..inst.results.len() {
                let found = find(func, &inst, carry, is_adjoint).filter(|found| {
                    let of = [inst.args[2 + carry], found.fixed];
                    let is_over_range = Some(inst.args[1]) == range;
                    let are_given = |given: &[Value]| of.iter().all(|v| given.contains(v));
                    given.is_none_or(|given| is_over_range && are_given(given))
                });
                if let Some(found) = found {
                    block_.insts.push(turn(func, &mut inst, carry, &found));
                }
            }
        }
        block_.insts.push(inst);
    }
}

/// The length of the range of a function over one, where it is computed: what the loop over it counts to.
fn length(insts: &[Inst], given: &[Value]) -> Option<Value> {
    let of = [*given.get(1)?, *given.first()?];
    let length = insts.iter().find(|i| i.op == Op::Prim(Prim::WSub) && i.args[..] == of)?;
    Some(length.results[0])
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
    rename_inside(body, &HashMap::from_iter([(old, sum)]));
    body.params.push(sum);
    let factors = found.factors.map(|v| if v == old { sum } else { v });
    let args = vec![factors[0], factors[1], found.fixed];
    body.insts.push(prim(Prim::Fma, args, next));
    body.insts.extend(flushed.map(|flushed| prim(Prim::Flush, vec![next], flushed)));
    body.yields.push(flushed.unwrap_or(next));
    before
}

/// Makes first sums of loops over a range part of the state that their functions are given and give back.
pub fn hand_on(module: &mut Module) {
    let Module { funcs, loops, .. } = module;
    for plan in loops {
        let reverse = funcs.iter().position(|f| f.name == plan.reverse);
        while let Some(sum) = reverse.and_then(|k| take_first(&mut funcs[k], plan)) {
            for func in funcs.iter_mut() {
                let mut body = std::mem::take(&mut func.body);
                give_first(func, &mut body, plan, &sum);
                func.body = body;
            }
            plan.state += 1;
        }
    }
}

/// A first sum: the parameters it is of.
struct First {
    of: [usize; 2],
}

/// Where a value of its own lies in the state of a plan: behind the adjoints.
fn place(plan: &LoopPlan) -> usize {
    plan.state - plan.finals.len()
}

/// Makes the first sum of a loop over a range a parameter of the function, if there is one that is not.
fn take_first(func: &mut Func, plan: &LoopPlan) -> Option<First> {
    let param = |v: Value| func.params().iter().position(|p| *p == v).filter(|k| *k >= 3);
    let (at, of, last) = func.body.insts.iter().enumerate().find_map(|(at, inst)| {
        let of = match inst.op {
            Op::Prim(Prim::Add) => [param(inst.args[0])?, param(inst.args[1])?],
            _ => return None,
        };
        let sum = inst.results[0];
        let range = length(&func.body.insts, func.params())?;
        let is_first =
            |i: &&Inst| i.op == Op::For && i.args[1] == range && i.args[2..].contains(&sum);
        let looping = func.body.insts.iter().find(is_first)?;
        let carry = looping.args[2..].iter().position(|v| *v == sum)?;
        (uses(&func.body, sum) == 1).then(|| (at, of, looping.results[carry]))
    })?;
    let sum = func.body.insts.remove(at).results[0];
    let place = place(plan);
    func.body.params.insert(3 + place, sum);
    func.results.insert(place, Type::F64);
    func.body.yields.insert(place, last);
    Some(First { of })
}

/// Takes the first sum before every reversal of a loop.
fn give_first(func: &mut Func, block: &mut Block, plan: &LoopPlan, first: &First) {
    for mut inst in std::mem::take(&mut block.insts) {
        inst.blocks.iter_mut().for_each(|b| give_first(func, b, plan, first));
        if matches!(&inst.op, Op::Drive(name, Phase::Reverse) if *name == plan.name) {
            let [sum, last] = [(); 2].map(|()| func.value(Type::F64, None));
            block.insts.push(Inst {
                op: Op::Prim(Prim::Add),
                args: first.of.map(|k| inst.args[k]).to_vec(),
                results: vec![sum],
                blocks: Vec::new(),
                span: inst.span,
            });
            inst.args.insert(3 + place(plan), sum);
            inst.results.insert(place(plan), last);
        }
        block.insts.push(inst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::split_reverse;
    use crate::interp::{Interp, Val};
    use crate::ir::{parse, verify};
    use crate::transform::{pipeline, vjp};

    fn turned(text: &str) -> (Module, Module) {
        let before = parse::module(text).unwrap();
        let after = Module::of(sums(&before.funcs[0], false, &|_| true));
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

    /// Wherever the pieces of a loop begin, it rounds the same.
    #[test]
    fn in_pieces() {
        let text = "func @f(%w: f64, %c: f64, %n: i64) -> f64 {
           %x, %t = for %i in 0..%n carry (%h = 0.5, %s = 0.0) {
             %a = fma %w, %h, %c
             %b = sin %a
             %u = add %s, %b
             yield %b, %u
           }
           return %t
         }";
        let func = pipeline::run(&parse::module(text).unwrap(), "f").unwrap();
        let whole = vjp::vjp(&func, &[0, 1]).unwrap();
        let reverse = whole.func("f.loop0.reverse").unwrap();
        let fused = |i: &Inst| i.op == Op::Prim(Prim::Fma) && i.args[2] == reverse.params()[4];
        let body = &reverse.body.insts.iter().find(|i| i.op == Op::For).unwrap().blocks[0];
        assert!(body.insts.iter().any(fused), "the sum is taken at the end\n{whole}");
        let bits = |module: &Module| {
            let mut args = vec![Val::f64(0.9), Val::f64(0.3), Val::i64(40)];
            args.extend([Val::f64(1.7), Val::tape()]);
            crate::check::bits(&Interp::new(module).call("f.vjp", args).unwrap())
        };
        for head in 0..41 {
            let parts = split_reverse(&whole, "f.reverse", head);
            verify::module(&parts).unwrap_or_else(|e| panic!("{e}\n{parts}"));
            assert_eq!(bits(&parts), bits(&whole), "{head}\n{parts}");
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
