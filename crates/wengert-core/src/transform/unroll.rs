//! Unrolling: a loop becomes its iterations, one after another.
//!
//! [`small_loops`] unrolls `for` loops with constant bounds that give little code. Inner loops go with
//! their outer ones, so that bounds that depend on an outer counter are constants too. A loop stays where
//!
//! - it has more than [`MOST_TRIPS`] iterations, or they give more than [`MOST_CODE`] instructions;
//! - it has exits, or a loop in it stays;
//! - something in it can fail, other than by a constant index or by shapes that differ: the error would no
//!   longer say in which iteration (an index or a shape says it).
//!
//! [`tiny_loops`] unrolls in part: iterations in groups of [`GROUP`], and a loop for the rest. What a group
//! computes from the state it starts with need not be saved for the reverse sweep: one record instead of
//! four. That pays where computing an iteration again costs less than saving its state, so it is done
//! for innermost loops that
//!
//! - have bounds known when they run, no exits, and carry scalars only;
//! - hold scalar instructions alone, none of which can fail;
//! - cost at most [`MOST_COST`] per iteration, in the units of the rule table's cost column (saving
//!   eight bytes costs 24 of them).
//!
//! A recurrence with one elementary function, or with an array, is left as it is.

use super::copy::{Copier, rebuild};
use crate::ir::{Block, Builder, Func, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

/// Most iterations of a loop that is unrolled in full.
pub const MOST_TRIPS: i64 = 16;

/// Most instructions all its iterations may give together.
pub const MOST_CODE: usize = 256;

/// Iterations in a group, where a loop is unrolled in part.
pub const GROUP: i64 = 4;

/// Highest cost of an iteration of a loop that is unrolled in part.
pub const MOST_COST: u32 = 8;

/// The function with small loops of constant bounds unrolled. No bit changes.
pub fn small_loops(func: &Func) -> Func {
    let mut refused = HashSet::default();
    rebuild(func, &func.name, &mut |copier, b, inst| whole(func, copier, b, inst, &mut refused))
}

/// Unrolls one loop where that is worth it. `refused` holds the counters of loops that have to stay.
fn whole(
    func: &Func,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
    refused: &mut HashSet<Value>,
) -> bool {
    if inst.op != Op::For || refused.contains(&inst.blocks[0].params[0]) {
        return false;
    }
    let body = &inst.blocks[0];
    let args = copier.all(func, b, &inst.args);
    let bound = |k: usize| b.func().as_const(args[k]);
    let (Some(Scalar::I64(lo)), Some(Scalar::I64(hi))) = (bound(0), bound(1)) else { return false };
    let trips = hi.saturating_sub(lo).max(0);
    let code = size(body).saturating_mul(usize::try_from(trips).unwrap_or(usize::MAX));
    let exits = body.insts.iter().any(|i| i.op == Op::ExitIf);
    // Folding makes code smaller, but hardly by more than this.
    let mut fits = !exits && trips <= MOST_TRIPS && code <= 4 * MOST_CODE;
    let mut carried = args[2..].to_vec();
    b.open_block(&[]);
    let mut made = 0;
    for i in lo..lo.saturating_add(if fits { trips } else { 0 }) {
        let i = b.i64(i);
        for (p, v) in body.params.iter().zip(std::iter::once(i).chain(carried)) {
            copier.bind(*p, v);
        }
        b.open_block(&[]);
        copier.insts_with(func, b, body, &mut |copier, b, inst| {
            whole(func, copier, b, inst, refused)
        });
        carried = copier.all(func, b, &body.yields);
        let iteration = b.close_block(Vec::new());
        made += size(&iteration);
        fits = made <= MOST_CODE && stays_clear(b.func(), &iteration);
        b.splice(iteration);
        if !fits {
            break;
        }
    }
    let iterations = b.close_block(Vec::new());
    if !fits {
        refused.insert(body.params[0]);
        return false;
    }
    b.splice(iterations);
    for (r, v) in inst.results.iter().zip(carried) {
        copier.bind(*r, v);
        if let Some(name) = func.name_of(*r) {
            b.name(v, &name);
        }
    }
    true
}

/// The number of instructions.
fn size(block: &Block) -> usize {
    let mut n = 0;
    block.walk(&mut |_| n += 1);
    n
}

/// Whether the code has no loop, and every error in it says where it comes from without one.
fn stays_clear(func: &Func, block: &Block) -> bool {
    let mut clear = true;
    block.walk(&mut |inst| {
        let constant = |values: &[Value]| values.iter().all(|v| func.as_const(*v).is_some());
        clear &= match &inst.op {
            Op::For | Op::While => false,
            Op::If => true,
            Op::Load | Op::Array(ArrayOp::Peek) => constant(&inst.args[1..]),
            Op::Store | Op::Array(ArrayOp::Poke) => constant(&inst.args[1..inst.args.len() - 1]),
            Op::Fill => constant(&inst.args[..inst.args.len() - 1]),
            op => op.is_pure(),
        };
    });
    clear
}

/// The function with tiny loops unrolled by [`GROUP`], where the cost rule says so. No bit changes.
pub fn tiny_loops(func: &Func) -> Func {
    partly(func, &|inst| is_tiny(func, inst))
}

/// Whether unrolling in part pays for a loop.
fn is_tiny(func: &Func, inst: &Inst) -> bool {
    let body = &inst.blocks[0];
    let known = func.as_const(inst.args[0]).is_some() && func.as_const(inst.args[1]).is_some();
    let mut cost = 0;
    let plain = body.insts.iter().all(|i| match i.op {
        Op::Prim(p) => {
            cost += p.cost();
            !p.can_trap() && func.ty(i.results[0]).is_scalar()
        }
        _ => false,
    });
    let floats = inst.results.iter().any(|r| func.ty(*r).is_float());
    let scalars = inst.results.iter().all(|r| func.ty(*r).is_scalar());
    !known && plain && floats && scalars && cost <= MOST_COST
}

/// The function with the chosen `for` loops without exits in groups of iterations.
pub fn partly(func: &Func, chosen: &dyn Fn(&Inst) -> bool) -> Func {
    rebuild(func, &func.name, &mut |copier, b, inst| {
        let exits = |body: &Block| body.insts.iter().any(|i| i.op == Op::ExitIf);
        if inst.op != Op::For || exits(&inst.blocks[0]) || !chosen(inst) {
            return false;
        }
        let results = grouped(func, copier, b, inst);
        for (r, v) in inst.results.iter().zip(results) {
            copier.bind(*r, v);
            if let Some(name) = func.name_of(*r) {
                b.name(v, &name);
            }
        }
        true
    })
}

/// `for` over groups, then `for` over the rest.
fn grouped(func: &Func, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> Vec<Value> {
    let body = &inst.blocks[0];
    let args = copier.all(func, b, &inst.args);
    let (lo, hi) = (args[0], args[1]);
    let (zero, group) = (b.i64(0), b.i64(GROUP));
    // A range too long for an integer wraps to a negative count: then there are no groups.
    let end = b.prim(Prim::IMax, &[lo, hi]);
    let count = b.prim(Prim::WSub, &[end, lo]);
    let shift = b.i64(i64::from(GROUP.trailing_zeros()));
    let groups = b.prim(Prim::Sar, &[count, shift]);
    let groups = b.prim(Prim::IMax, &[groups, zero]);
    let covered = b.prim(Prim::WMul, &[groups, group]);
    let rest = b.prim(Prim::WAdd, &[lo, covered]);

    let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
    let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, None)];
    params.extend(body.params[1..].iter().map(|p| (func.ty(*p), func.name_of(*p))));
    let values = b.open_block(&params);
    let mut carried = values[1..].to_vec();
    let before = b.prim(Prim::WMul, &[values[0], group]);
    let first = b.prim(Prim::WAdd, &[lo, before]);
    for k in 0..GROUP {
        let k = b.i64(k);
        let i = b.prim(Prim::WAdd, &[first, k]);
        for (p, v) in body.params.iter().zip(std::iter::once(i).chain(carried)) {
            copier.bind(*p, v);
        }
        copier.insts_with(func, b, body, &mut |_, _, _| false);
        carried = copier.all(func, b, &body.yields);
    }
    let block = b.close_block(carried);
    b.at(inst.span);
    let args = [&[zero, groups], &args[2..]].concat();
    let after_groups = b.inst(Op::For, args, &types, vec![block]);

    let block = copier.block_with(func, b, body, &mut |_, _, _| false);
    b.at(inst.span);
    let args = [&[rest, hi], &after_groups[..]].concat();
    b.inst(Op::For, args, &types, vec![block])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::bits;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, parse, verify};

    fn parsed(text: &str) -> Func {
        parse::module(text).unwrap_or_else(|e| panic!("{e}")).funcs.remove(0)
    }

    fn run(func: &Func, args: &[Val]) -> Vec<u64> {
        let module = Module::of(func.clone());
        verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
        bits(&Interp::new(&module).call("f", args.to_vec()).unwrap())
    }

    fn loops(func: &Func) -> usize {
        let mut n = 0;
        func.body.walk(&mut |inst| n += usize::from(inst.op == Op::For));
        n
    }

    #[test]
    fn groups_of_any_loop_give_the_same() {
        let text = "func @f(%x: [f64], %lo: i64, %hi: i64) -> ([f64], f64) {
           %y, %s = for %i in %lo..%hi carry (%a = %x, %s1 = 0.0) {
             %k = imod %i, 5
             %v = load %a, %k
             %w = sin %v
             %s2 = fma %w, 0.5, %s1
             %a1 = store %a, %k, %s2
             yield %a1, %s2
           }
           return %y, %s
         }";
        let func = parsed(text);
        let grouped = partly(&func, &|_| true);
        assert_eq!(loops(&grouped), 2);
        for lo in [-3, 0, i64::MAX - 6, i64::MIN] {
            for n in [-4i64, -1, 0, 1, 3, 4, 5, 6] {
                let x = Val::array(vec![0.1, 0.2, 0.3, 0.4, 0.5]);
                let args = [x, Val::i64(lo), Val::i64(lo.wrapping_add(n))];
                if lo != i64::MIN || n >= 0 {
                    assert_eq!(run(&func, &args), run(&grouped, &args), "{lo} {n}\n{grouped}");
                }
            }
        }
    }

    #[test]
    fn a_range_longer_than_an_integer_is_not_grouped_wrongly() {
        // An early iteration fails and says which it was.
        let func = parsed(
            "func @f(%x: [f64], %lo: i64, %hi: i64) -> f64 {
               %y = for %i in %lo..%hi carry (%s = 0.0) {
                 %v = load %x, %i
                 %t = add %s, %v
                 yield %t
               }
               return %y
             }",
        );
        let grouped = partly(&func, &|_| true);
        assert_eq!(loops(&grouped), 2);
        let all = [i64::MIN, i64::MIN + 1, -5, -1, 0, 3, i64::MAX - 1, i64::MAX];
        for (lo, hi) in all.into_iter().flat_map(|lo| all.map(|hi| (lo, hi))) {
            let run = |func: &Func| {
                let args = vec![Val::array(vec![0.5]), Val::i64(lo), Val::i64(hi)];
                let module = Module::of(func.clone());
                Interp::new(&module).call("f", args).map(|v| bits(&v)).map_err(|fault| fault.kind)
            };
            assert_eq!(run(&func), run(&grouped), "{lo}..{hi}\n{grouped}");
            assert_eq!(run(&func).is_err(), lo < hi);
        }
    }

    #[test]
    fn loops_with_exits_are_not_grouped() {
        let func = parsed(
            "func @f(%lo: i64, %hi: i64) -> i64 {
               %y = for %i in %lo..%hi carry (%a = 0) {
                 %c = igt %a, 5
                 exit_if %c { yield %i }
                 %a1 = wadd %a, 1
                 yield %a1
               }
               return %y
             }",
        );
        assert_eq!(loops(&partly(&func, &|_| true)), 1);
    }

    #[test]
    fn deep_nests_are_looked_at_once() {
        const DEEP: usize = 24;
        let mut text = String::new();
        for k in 0..DEEP {
            let from = if k == 0 { "x".into() } else { format!("h{}", k - 1) };
            text += &format!("%r{k} = for %i{k} in 0..2 carry (%h{k} = %{from}) {{ ");
        }
        // What can fail keeps every loop around it.
        text += &format!("%v = idiv %h{}, %n yield %v }}", DEEP - 1);
        for k in (1..DEEP).rev() {
            text += &format!(" yield %r{k} }}");
        }
        let func = parsed(&format!("func @f(%x: i64, %n: i64) -> i64 {{ {text} return %r0 }}"));
        assert_eq!(loops(&small_loops(&func)), DEEP);
    }
}
