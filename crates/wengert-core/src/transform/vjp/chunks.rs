//! Parallel loops on the way to reverse mode: a loop over chunks, and in it a loop over the iterations of one.
//!
//! A value from outside that all iterations read has an adjoint that all of them add to. The order of these sums must
//! not depend on who runs what when, so it is fixed here: each chunk sums up from zero, into a place of its own
//! (`reverse_loop`), and the sums of the chunks are added after the loop. How many chunks there are
//! depends on the number of iterations, and on how many elements each of them sums up: more than its iterations are worth
//! would take longer than the loop. Whoever runs a range of chunks, in order or at the same time as
//! others, gives the same bits, and what is made here is plain IR: without threads it runs as it stands.

use crate::ir::pieces::{Split, trips_code};
use crate::ir::{Block, Builder, Func, Inst, MAX_RANK, Numbering, Op, Type, Value, parallel};
use crate::ops::{Prim, Scalar};
use crate::transform::activity::Activity;
use crate::transform::copy::{Copier, rebuild};
use std::sync::Arc;

/// The most chunks a loop is run in. So many that threads find enough to do where each of them runs several chunks
/// in lockstep.
const MOST: i64 = 512;

/// The same where each of them sums up whole arrays, which is not done in lockstep.
const MOST_WITH_ARRAYS: i64 = 64;

/// Elements of shared adjoints that a chunk may sum up for each of its iterations, about.
const WORTH: i64 = 4;

/// A loop over chunks.
#[derive(Debug)]
pub(super) struct Chunks {
    /// Its counter, which stands for it.
    pub(super) counter: Value,
    /// Arrays from outside of which every iteration reads elements of its own only: no two chunks add to the
    /// same of their adjoints.
    pub(super) own: Vec<Value>,
}

/// The function with its active parallel loops in chunks, where it has any. One inside another runs in order.
pub(super) fn split(func: &Func, activity: &Activity) -> Option<(Func, Vec<Chunks>)> {
    let mut any = false;
    func.body.walk(&mut |inst| any |= is_split(func, activity, inst));
    if !any {
        return None;
    }
    let mut found = Vec::new();
    let name = func.name.clone();
    let split = rebuild(func, &name, &mut |copier, b, inst| {
        let split = is_split(func, activity, inst);
        if split {
            found.push(in_chunks(func, activity, copier, b, inst));
        }
        split
    });
    Some((split, found))
}

fn is_split(func: &Func, activity: &Activity, inst: &Inst) -> bool {
    if inst.op != Op::For || !inst.blocks[0].parallel || !activity.is_active_inst(inst) {
        return false;
    }
    // What is made of it is vouched for: that it is marked is not enough.
    if parallel::independent(func, inst).is_err() {
        return false;
    }
    // The sums of the chunks take one axis more.
    let fits = |v: &Value| {
        func.ty(*v).rank() < MAX_RANK
            || !activity.is_active(*v)
            || parallel::reads_own(func, inst, *v)
    };
    // An array that is carried and read anywhere has adjoints that chunks share.
    let shared = |p: &Value| activity.is_active(*p);
    inst.blocks[0].captures(func).iter().all(fits) && !parallel::unchanged(inst).iter().any(shared)
}

fn in_chunks(
    func: &Func,
    activity: &Activity,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
) -> Chunks {
    let body = &inst.blocks[0];
    let arrays = body.captures(func).into_iter().filter(|v| func.ty(*v).is_array());
    let (own, shared): (Vec<Value>, Vec<Value>) =
        arrays.partition(|v| parallel::reads_own(func, inst, *v));
    let own: Vec<Value> = own.iter().map(|v| copier.get(func, b, *v)).collect();
    let args = copier.all(func, b, &inst.args);
    let (lo, hi) = (args[0], args[1]);
    let (zero, one) = (b.i64(0), b.i64(1));
    let trips = trips_code(b, lo, hi);
    let mut elements = b.i64(1);
    let sums_arrays = shared.iter().any(|v| activity.is_active(*v));
    for v in shared.iter().filter(|v| activity.is_active(**v)) {
        let array = copier.get(func, b, *v);
        let dims = b.dims(array).into_iter();
        let count = dims.reduce(|n, d| b.prim(Prim::WMul, &[n, d])).unwrap_or(zero);
        let total = b.prim(Prim::WAdd, &[elements, count]);
        elements = b.prim(Prim::IMax, &[total, one]);
    }
    // Enough for any array, and its product with the next line fits.
    let (many, worth) = (b.i64(1 << 48), b.i64(WORTH));
    let counted_trips = b.prim(Prim::IMin, &[trips, many]);
    let affordable = b.prim(Prim::WMul, &[counted_trips, worth]);
    let affordable = b.prim(Prim::IDiv, &[affordable, elements]);
    let affordable = b.prim(Prim::IMax, &[affordable, one]);
    let most = b.i64(if sums_arrays { MOST_WITH_ARRAYS } else { MOST });
    let most = b.prim(Prim::IMin, &[most, affordable]);
    let chunks = b.prim(Prim::IMin, &[trips, most]);
    let split = Split::code(b, trips, chunks);

    let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
    let carries: Vec<_> =
        body.params[1..].iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, Some("chunk".into()))];
    params.extend(carries.iter().cloned());
    let outer = b.open_block(&params);
    let counter = outer[0];
    let next = b.prim(Prim::WAdd, &[counter, one]);
    let [from, to] = [counter, next].map(|chunk| split.start_code(b, chunk));
    let inner = counted(func, copier, b, body, lo);
    let args_inner = [&[from, to], &outer[1..]].concat();
    b.at(inst.span);
    let after = b.inst(Op::For, args_inner, &types, vec![inner]);
    let chunk = Block { numbering: Numbering::Hidden, ..b.close_block(after) };
    b.at(inst.span);
    let results = b.inst(Op::For, [&[zero, chunks], &args[2..]].concat(), &types, vec![chunk]);
    for (r, v) in inst.results.iter().zip(results) {
        if let Some(name) = func.name_of(*r) {
            b.name(v, &name);
        }
        copier.bind(*r, v);
    }
    Chunks { counter, own }
}

/// The body of a loop, as that of one over a part of its iterations, which are counted from 0.
pub(crate) fn counted(
    func: &Func,
    copier: &mut Copier,
    b: &mut Builder,
    body: &Block,
    lo: Value,
) -> Block {
    let at_zero = b.func().as_const(lo) == Some(Scalar::I64(0));
    let mut params: Vec<(Type, Option<Arc<str>>)> =
        body.params.iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    if !at_zero {
        params[0].1 = None;
    }
    let values = b.open_block(&params);
    for (p, v) in body.params.iter().zip(&values) {
        copier.bind(*p, *v);
    }
    if !at_zero {
        let counter = b.prim(Prim::WAdd, &[lo, values[0]]);
        copier.bind(body.params[0], counter);
    }
    copier.insts_with(func, b, body, &mut |_, _, _| false);
    let yields = copier.all(func, b, &body.yields);
    Block { numbering: Numbering::ByCounter, end: body.end, ..b.close_block(yields) }
}
