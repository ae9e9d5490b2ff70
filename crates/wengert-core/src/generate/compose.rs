//! Outlined loops in two parts: `advance` up to an iteration, then `record` from there; and `reverse`
//! of the later iterations, then of the earlier ones.
//!
//! [`split`] rewrites the recording program so that each outlined loop is run both ways, with
//! assertions that the carries agree to the bit. What a schedule may do to a loop is thereby checked
//! with nothing but the interpreter.

use crate::ir::{Builder, Inst, Module, Op, Phase, Type, Value};
use crate::ops::{ArrayOp, Prim};
use crate::transform::copy::{Copier, rebuild};

/// The module with every outlined loop of `name` advanced `head` iterations before it is recorded.
/// The tape then lacks the records of those iterations.
pub fn split(module: &Module, name: &str, head: i64) -> Module {
    let mut result = module.clone();
    for func in &mut result.funcs {
        if *func.name == *name {
            let before = func.clone();
            *func = rebuild(&before, name, &mut |copier, b, inst| {
                let Op::Drive(plan, Phase::Forward) = &inst.op else { return false };
                let args = copier.all(&before, b, &inst.args);
                parts(module, plan, head, copier, b, inst, &args);
                true
            });
        }
    }
    result
}

/// The module with every outlined loop reversed in two parts: the iterations from `head` on, then those
/// before.
pub fn split_reverse(module: &Module, name: &str, head: i64) -> Module {
    let mut result = module.clone();
    for func in &mut result.funcs {
        if *func.name == *name {
            let before = func.clone();
            *func = rebuild(&before, name, &mut |copier, b, inst| {
                let Op::Drive(plan, Phase::Reverse) = &inst.op else { return false };
                let Some(plan) = module.plan(plan) else { return false };
                let args = copier.all(&before, b, &inst.args);
                let types: Vec<Type> = inst.results.iter().map(|r| before.ty(*r)).collect();
                let (from, to, exit) = (args[0], args[1], args[2]);
                let (head, zero) = (b.i64(head), b.i64(0));
                let middle = b.prim(Prim::WAdd, &[from, head]);
                let middle = b.prim(Prim::IMin, &[middle, to]);
                let middle = b.prim(Prim::IMax, &[middle, from]);
                let call = Op::Call(plan.reverse.clone());
                let mut later = vec![middle, to, exit];
                later.extend(&args[3..]);
                let state = b.inst(call.clone(), later, &types, Vec::new());
                let (tape, state) = (state[plan.state], &state[..plan.state]);
                let mut earlier = vec![from, middle, zero];
                earlier.extend(state);
                earlier.extend(&args[3 + plan.state..args.len() - 1]);
                earlier.push(tape);
                let results = b.inst(call, earlier, &types, Vec::new());
                for (r, v) in inst.results.iter().zip(results) {
                    copier.bind(*r, v);
                }
                true
            });
        }
    }
    result
}

fn parts(
    module: &Module,
    plan: &str,
    head: i64,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
    args: &[Value],
) {
    let Some(plan) = module.plan(plan) else { return };
    let Some(advance) = module.func(&plan.advance) else { return };
    let n = plan.carries;
    let (from, to) = (args[0], args[1]);
    let (state, tape) = (&args[2..args.len() - 1], args[args.len() - 1]);
    let (carries, captures) = state.split_at(n);

    // The whole range at once, on copies.
    let mut whole = vec![from, to];
    for c in carries {
        whole.push(if b.ty(*c).is_array() { b.op(Op::Copy, &[*c])[0] } else { *c });
    }
    whole.extend(captures);
    let call = Op::Call(plan.advance.clone());
    let whole = b.inst(call.clone(), whole, &advance.results, Vec::new());

    let (head, zero) = (b.i64(head), b.i64(0));
    let middle = b.prim(Prim::WAdd, &[from, head]);
    let middle = b.prim(Prim::IMin, &[middle, to]);
    let middle = b.prim(Prim::IMax, &[middle, from]);
    let mut first = vec![from, middle];
    first.extend(state);
    let first = b.inst(call, first, &advance.results, Vec::new());
    let ended = b.prim(Prim::INe, &[first[n + 1], zero]);

    b.open_block(&[]);
    let mut yields = first.clone();
    yields.push(tape);
    let at_exit = b.close_block(yields);
    b.open_block(&[]);
    let mut second = vec![middle, to];
    second.extend(&first[..n]);
    second.extend(captures);
    second.push(tape);
    let mut types = advance.results.clone();
    types.push(Type::Tape);
    let second = b.inst(Op::Call(plan.record.clone()), second, &types, Vec::new());
    let on = b.close_block(second);
    let joined = b.inst(Op::If, vec![ended], &types, vec![at_exit, on]);

    for (one, other) in whole.iter().zip(&joined) {
        assert_same(b, *one, *other);
    }
    for (r, v) in inst.results.iter().zip(joined) {
        copier.bind(*r, v);
    }
}

fn assert_same(b: &mut Builder, x: Value, y: Value) {
    let same = match b.ty(x) {
        Type::F64 => {
            let bits = [b.prim(Prim::Bits, &[x]), b.prim(Prim::Bits, &[y])];
            b.prim(Prim::IEq, &bits)
        }
        Type::I64 => b.prim(Prim::IEq, &[x, y]),
        Type::Bool => {
            let not = b.prim(Prim::Not, &[y]);
            b.select(x, y, not)
        }
        Type::F32 => {
            let wide = [b.prim(Prim::Promote, &[x]), b.prim(Prim::Promote, &[y])];
            return assert_same(b, wide[0], wide[1]);
        }
        Type::Array(_, rank) => {
            let one = b.i64(1);
            let mut n = one;
            for axis in 0..rank {
                let dims = [b.op(Op::Dim(axis), &[x])[0], b.op(Op::Dim(axis), &[y])[0]];
                let same = b.prim(Prim::IEq, &dims);
                let message = "both parts give arrays of the same shape".into();
                b.op(Op::Assert(message), &[same]);
                n = b.prim(Prim::IMul, &[n, dims[0]]);
            }
            let zero = b.i64(0);
            let i = b.open_block(&[(Type::I64, None)])[0];
            let peek = |b: &mut Builder, x| b.op(Op::Array(ArrayOp::Peek), &[x, i])[0];
            let (p, q) = (peek(b, x), peek(b, y));
            assert_same(b, p, q);
            let body = b.close_block(Vec::new());
            b.inst(Op::For, vec![zero, n], &[], vec![body]);
            return;
        }
        Type::Tape => return,
    };
    b.op(Op::Assert("both parts give the carries of the whole".into()), &[same]);
}
