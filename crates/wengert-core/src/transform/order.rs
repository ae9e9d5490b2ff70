//! The order of a loop's arithmetic: as few numbers alive at a time as can be.
//!
//! There are sixteen registers. What is computed long before it is used lies in one all the while, or in memory, from
//! where it has to be brought back. The instructions of a loop's body are chosen from its end on: of those whose results
//! nothing above needs any more, the one that leaves the fewest numbers alive. What has effects or may fail
//! keeps its order, and so does everything where the registers are enough or nothing is gained. No bit changes.

use crate::ir::{Block, Func, Inst, Op, Value};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cmp::Reverse;

/// How many numbers are kept in registers.
const REGISTERS: usize = 16;

/// Longer bodies are left as they are: looking for the next takes as long as there are instructions to choose from.
const MANY: usize = 2000;

/// The function with the instructions of its loops in that order.
pub fn loops(func: &Func) -> Func {
    let mut result = func.clone();
    result.body.insts.iter_mut().for_each(|inst| nested(func, inst, false));
    result
}

fn nested(func: &Func, inst: &mut Inst, inside: bool) {
    let inside = inside || matches!(inst.op, Op::For | Op::While);
    for block in &mut inst.blocks {
        block.insts.iter_mut().for_each(|inst| nested(func, inst, inside));
        if inside && (REGISTERS..=MANY).contains(&block.insts.len()) {
            order(func, block);
        }
    }
}

/// Whether an instruction computes a number and cannot fail.
fn is_number(func: &Func, inst: &Inst) -> bool {
    let pure = matches!(&inst.op, Op::Prim(prim) if !prim.can_trap());
    pure && func.ty(inst.results[0]).is_scalar()
}

/// Puts the instructions of a block in order.
fn order(func: &Func, block: &mut Block) {
    let count = block.insts.len();
    let made: HashMap<Value, usize> = (block.insts.iter().enumerate())
        .flat_map(|(at, inst)| inst.results.iter().map(move |r| (*r, at)))
        .collect();
    let own: HashSet<Value> = block.params.iter().chain(made.keys()).copied().collect();
    let takes: Vec<Vec<Value>> = (block.insts.iter())
        .map(|inst| {
            let inner = inst.blocks.iter().flat_map(|b| b.captures(func));
            let mut takes: Vec<Value> = inst.args.iter().copied().chain(inner).collect();
            takes.retain(|v| own.contains(v));
            takes.sort_unstable();
            takes.dedup();
            takes
        })
        .collect();
    let now: Vec<usize> = (0..count).collect();
    let before = moves(func, block, &now);
    if before == 0 {
        return;
    }
    // How many instructions that are not placed yet wait for each.
    let mut waiting = vec![0; count];
    for v in takes.iter().flatten() {
        if let Some(at) = made.get(v) {
            waiting[*at] += 1;
        }
    }
    let fixed: Vec<usize> = (0..count).filter(|at| !is_number(func, &block.insts[*at])).collect();
    for pair in fixed.windows(2) {
        waiting[pair[0]] += 1;
    }
    let ahead: HashMap<usize, usize> = fixed.windows(2).map(|pair| (pair[1], pair[0])).collect();

    let mut alive: HashSet<Value> = block.yields.iter().copied().collect();
    let mut ready: Vec<usize> = (0..count).filter(|at| waiting[*at] == 0).collect();
    let mut placed = Vec::with_capacity(count);
    while !ready.is_empty() {
        let cost = |at: usize| {
            let begins = takes[at].iter().filter(|v| !alive.contains(v)).count() as i64;
            let ends = block.insts[at].results.iter().filter(|r| alive.contains(r)).count() as i64;
            begins - ends
        };
        // Of several, the one that uses what has been made last.
        let made_at = |at: usize| takes[at].iter().filter_map(|v| made.get(v)).max().copied();
        let key = |k: &usize| (cost(ready[*k]), Reverse(made_at(ready[*k])), Reverse(ready[*k]));
        let best = (0..ready.len()).min_by_key(key);
        let Some(at) = best.map(|k| ready.swap_remove(k)) else { break };
        placed.push(at);
        block.insts[at].results.iter().for_each(|r| _ = alive.remove(r));
        alive.extend(&takes[at]);
        let above = takes[at].iter().filter_map(|v| made.get(v)).chain(ahead.get(&at));
        for at in above {
            waiting[*at] -= 1;
            if waiting[*at] == 0 {
                ready.push(*at);
            }
        }
    }
    placed.reverse();
    if moves(func, block, &placed) < before {
        let mut insts: Vec<Option<Inst>> = block.insts.drain(..).map(Some).collect();
        block.insts = placed.iter().filter_map(|at| insts[*at].take()).collect();
    }
}

/// How often numbers have to be brought from memory or put there, with the instructions of a block in this order: what is
/// used again last goes first.
fn moves(func: &Func, block: &Block, order: &[usize]) -> usize {
    let number = |v: &Value| func.ty(*v).is_scalar() && func.as_const(*v).is_none();
    let reads: Vec<Vec<Value>> = order
        .iter()
        .map(|at| {
            let inst = &block.insts[*at];
            let inner = inst.blocks.iter().flat_map(|b| b.captures(func));
            inst.args.iter().copied().chain(inner).filter(number).collect()
        })
        .collect();
    let mut uses: HashMap<Value, Vec<usize>> = HashMap::default();
    for (at, v) in reads.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |v| (at, v))) {
        uses.entry(*v).or_default().push(at);
    }
    for v in block.yields.iter().filter(|v| number(v)) {
        uses.entry(*v).or_default().push(order.len());
    }
    uses.values_mut().for_each(|all| all.reverse());

    let mut held: Vec<Value> = block.params.iter().copied().filter(number).collect();
    // What comes from outside the loop is in memory from the beginning.
    let own: HashSet<Value> =
        held.iter().copied().chain(block.insts.iter().flat_map(|i| i.results.clone())).collect();
    let mut in_memory: HashSet<Value> = uses.keys().copied().filter(|v| !own.contains(v)).collect();
    let mut moved = 0;
    for (at, read) in order.iter().zip(&reads) {
        for v in read {
            if !held.contains(v) {
                moved += 1;
                held.push(*v);
            }
        }
        for v in read {
            if let Some(all) = uses.get_mut(v) {
                all.pop();
            }
        }
        held.extend(block.insts[*at].results.iter().filter(|v| number(v)));
        let next = |v: &Value| uses.get(v).and_then(|all| all.last()).copied();
        held.retain(|v| next(v).is_some());
        while held.len() > REGISTERS {
            let Some(k) = (0..held.len()).max_by_key(|k| next(&held[*k])) else { break };
            if in_memory.insert(held.swap_remove(k)) {
                moved += 1;
            }
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::bits;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, parse, verify};

    /// A body that first computes many numbers and then adds each to a sum; something with an effect stands between.
    fn text(many: usize) -> String {
        let first: String = (0..many).map(|k| format!("%p{k} = mul %s, 1.{k}\n")).collect();
        let then: String = (0..many).map(|k| format!("%q{} = add %q{k}, %p{k}\n", k + 1)).collect();
        format!(
            "func @f(%x: [f64], %n: i64) -> (f64, [f64]) {{
               %y, %z = for %i in 0..%n carry (%s = 0.5, %a = %x) {{
                 {first}
                 %q0 = load %a, %i
                 {then}
                 %b = store %a, %i, %q{many}
                 %t = div %q{many}, 40.0
                 yield %t, %b
               }}
               return %y, %z
             }}"
        )
    }

    /// How many numbers of a body are alive at a time.
    fn alive(block: &Block) -> usize {
        let last = |v: &Value| block.insts.iter().rposition(|i| i.args.contains(v));
        let mut most = 0;
        for at in 0..block.insts.len() {
            let made = block.insts[..=at].iter().flat_map(|i| &i.results);
            most = most.max(made.filter(|v| last(v).is_some_and(|last| last > at)).count());
        }
        most
    }

    #[test]
    fn few_are_alive_and_no_bit_changes() {
        for many in [5, 20, 60] {
            let before = parse::module(&text(many)).unwrap();
            let after = Module::of(loops(&before.funcs[0]));
            verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
            let body = |m: &Module| alive(&m.funcs[0].body.insts[0].blocks[0]);
            // Where the registers are enough it stays.
            let fewer = many >= REGISTERS;
            assert_eq!(body(&after) < body(&before), fewer, "{after}");
            assert!(!fewer || body(&after) <= 3, "{after}");
            for n in [0, 1, 6, 9] {
                let run = |m: &Module| {
                    let x = Val::array((0..8).map(f64::from).collect());
                    let out = Interp::new(m).call("f", vec![x, Val::i64(n)]);
                    out.map(|values| bits(&values)).map_err(|fault| (fault.kind, fault.iterations))
                };
                assert_eq!(run(&before), run(&after));
            }
        }
    }
}
