//! In which order a group of lanes writes its records, and whether its way back reads them in the opposite one.
//!
//! Each lane takes back what it has pushed, the last record first; reverse mode sees to that. In lockstep the records of
//! lanes lie among each other, so the way back must come to the places where records are written in the opposite
//! order, too. Sides of a branch are run one after the other, each in the lanes that take it, on the way back the second
//! one first. What lanes push when they leave a loop lies after the records of all its iterations, exit by exit.

use super::look::Order;
use crate::jit::identity::Identity;
use wengert_core::ir::{Block, Func, Inst, Op, Type, Value};

/// A place where records are written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// A record of these fields.
    Row(Vec<Type>),
    /// In every iteration of a loop.
    Loop(Vec<Rows>),
    /// In some lanes.
    Some(Vec<Rows>),
}

/// The records of a block, in the order in which a group writes or reads them.
pub(super) fn rows(func: &Func, identity: &Identity, block: &Block, order: Order) -> Vec<Rows> {
    block.insts.iter().flat_map(|inst| rows_of(func, identity, inst, order)).collect()
}

fn rows_of(func: &Func, identity: &Identity, inst: &Inst, order: Order) -> Vec<Rows> {
    let types = |values: &[Value]| values.iter().map(|v| func.ty(*v)).collect();
    match inst.op {
        Op::Push => vec![Rows::Row(types(&inst.args[1..]))],
        Op::Pop => vec![Rows::Row(types(&inst.results[1..]))],
        // Either side takes the same ones.
        Op::If if is_swept(func, identity, inst) => rows(func, identity, &inst.blocks[1], order),
        Op::If => {
            let sides = match order {
                Order::Up => [0, 1],
                Order::Down => [1, 0],
            };
            let sides = sides.map(|k: usize| some(rows(func, identity, &inst.blocks[k], order)));
            sides.concat()
        }
        Op::For | Op::While => {
            let (mut each, mut after) = (Vec::new(), Vec::new());
            let only = inst.op == Op::While && count_exits(&inst.blocks[0]) == 1;
            for inner in &inst.blocks[0].insts {
                if inner.op != Op::ExitIf {
                    each.extend(rows_of(func, identity, inner, order));
                    continue;
                }
                // The iteration in which it is left, as far as it gets.
                let last = [each.clone(), rows(func, identity, &inner.blocks[0], order)].concat();
                after.extend(if only { last } else { some(last) });
            }
            let all = if each.is_empty() { None } else { Some(Rows::Loop(each)) };
            all.into_iter().chain(after).collect()
        }
        _ => Vec::new(),
    }
}

/// How many ways lead out of a loop from inside.
pub(super) fn count_exits(body: &Block) -> usize {
    body.insts.iter().filter(|i| i.op == Op::ExitIf).count()
}

/// Records in some lanes.
fn some(rows: Vec<Rows>) -> Vec<Rows> {
    match rows.iter().all(|r| matches!(r, Rows::Some(_))) {
        true => rows,
        false => vec![Rows::Some(rows)],
    }
}

/// The same in the opposite order.
pub(super) fn mirrored(rows: &[Rows]) -> Vec<Rows> {
    let turned = rows.iter().rev().map(|row| match row {
        Rows::Row(types) => Rows::Row(types.clone()),
        Rows::Loop(rows) => Rows::Loop(mirrored(rows)),
        Rows::Some(rows) => Rows::Some(mirrored(rows)),
    });
    turned.collect()
}

/// The tape that a side of a branch is given, if it hands one on.
pub(super) fn given(func: &Func, identity: &Identity, side: &Block) -> Option<Value> {
    let is_tape = |v: &&Value| func.ty(**v) == Type::Tape;
    let used = side.insts.iter().find_map(|inst| match inst.op {
        Op::If => inst.blocks.iter().find_map(|b| given(func, identity, b)),
        _ => inst.args.iter().find(is_tape).map(|v| identity.find(*v)),
    });
    used.or_else(|| side.yields.iter().find(is_tape).map(|v| identity.find(*v)))
}

/// Whether a branch reverses a loop or drops its records, as many in either case: then all lanes do the one or the other.
/// What the second side hands on beside the tape comes from outside.
pub(super) fn is_swept(func: &Func, identity: &Identity, inst: &Inst) -> bool {
    let [swept, dropped] = [&inst.blocks[0], &inst.blocks[1]];
    let [drops] = &dropped.insts[..] else { return false };
    let mut pops_of_swept = 0;
    swept.walk(&mut |i| pops_of_swept += usize::from(i.op == Op::Pop));
    let types = |pop: &Inst| -> Vec<Type> { pop.results.iter().map(|r| func.ty(*r)).collect() };
    // Where it begins, where it ends, the tape it is given, and the record of an iteration.
    let range = |looping: &Inst| {
        let body = &looping.blocks.first()?;
        let pop = body.insts.iter().find(|i| i.op == Op::Pop)?;
        let k = body.params.iter().position(|p| *p == pop.args[0])?.checked_sub(1)?;
        let once = looping.op == Op::For && body.yields[k] == pop.results[0];
        let of = |v: Value| identity.find(v);
        let [lo, hi] = [0, 1].map(|k: usize| of(looping.args[k]));
        once.then(|| (lo, hi, of(looping.args[2 + k]), types(pop), looping.results[k]))
    };
    let Some(other) = range(drops).filter(|_| drops.blocks[0].insts.len() == 1) else {
        return false;
    };
    let same = swept.insts.iter().find_map(range).is_some_and(|found| {
        let tape = inst.results.iter().position(|r| func.ty(*r) == Type::Tape);
        let ends = tape.is_some_and(|k| swept.yields[k] == found.4 && dropped.yields[k] == other.4);
        ends && (found.0, found.1, found.2, &found.3) == (other.0, other.1, other.2, &other.3)
    });
    let outside =
        dropped.yields.iter().all(|y| func.ty(*y) == Type::Tape || !drops.results.contains(y));
    same && outside && pops_of_swept == 1
}
