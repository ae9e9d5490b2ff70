//! Copies of arrays that are taken over and still needed.

use crate::ir::{Block, Func, Inst, Op, Value, uses};
use rustc_hash::FxHashSet as HashSet;

/// The function with copies where it takes over an array that is used later, or that it may not take over: parameters from
/// `kept` on.
pub(super) fn with_copies(mut func: Func, kept: usize) -> Func {
    let mut body = std::mem::take(&mut func.body);
    let lent: HashSet<Value> = body.params[kept..].iter().copied().collect();
    let own = uses::defined(&body).difference(&lent).copied().collect();
    block(&mut func, &mut body, &own);
    func.body = body;
    func
}

/// `own` is what may be taken over.
fn block(func: &mut Func, of: &mut Block, own: &HashSet<Value>) {
    let last = uses::last(of);
    let insts = std::mem::take(&mut of.insts);
    for (at, mut inst) in insts.into_iter().enumerate() {
        let is_over = |v: &Value| last.get(v).is_none_or(|last| *last <= at);
        for k in 0..inst.args.len() {
            let v = inst.args[k];
            let takes = func.ty(v).is_array() && uses::takes(&inst, k);
            if takes && !(own.contains(&v) && is_over(&v) && used_by(&inst, v) == 1) {
                inst.args[k] = copy(func, of, &inst, v);
            }
        }
        for inside in &mut inst.blocks {
            let mut theirs = uses::defined(inside);
            match inst.op {
                Op::If => theirs.extend(own.iter().filter(|v| is_over(v))),
                Op::ExitIf => theirs.extend(own),
                _ => {}
            }
            block(func, inside, &theirs);
        }
        of.insts.push(inst);
    }
    let mut given = HashSet::default();
    for k in 0..of.yields.len() {
        let v = of.yields[k];
        if func.ty(v).is_array() && !(own.contains(&v) && given.insert(v)) {
            let end = Inst {
                op: Op::Copy,
                args: Vec::new(),
                results: Vec::new(),
                blocks: Vec::new(),
                span: of.end,
            };
            of.yields[k] = copy(func, of, &end, v);
        }
    }
}

/// How often an instruction uses a value.
fn used_by(inst: &Inst, v: Value) -> usize {
    let mut count = 0;
    uses::each(inst, &mut |u, _| count += usize::from(u == v));
    count
}

/// Puts a copy of an array at the end of a block, for an instruction.
fn copy(func: &mut Func, of: &mut Block, before: &Inst, v: Value) -> Value {
    let copy = func.value(func.ty(v), func.name_of(v));
    of.insts.push(Inst {
        op: Op::Copy,
        args: vec![v],
        results: vec![copy],
        blocks: Vec::new(),
        span: before.span,
    });
    copy
}
