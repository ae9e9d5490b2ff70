//! Elements kept in registers: an element stored in one iteration and loaded in the next is carried
//! as a scalar.
//!
//! Recurrences over an array pass each element on to the next iteration. Through memory that costs a
//! store and a load on the chain of dependent operations; adjoints of recurrences are such chains. A
//! load qualifies when its index, one iteration on, is the index of a store (both are sums of the
//! counter, constants and values from outside the loop) that no later store of the iteration can
//! overwrite. The first iteration's element is loaded before the loop.
//!
//! In reverse programs every index has been in range before, so the load in the loop goes. In others it stays for the
//! error it may have to report, though nothing waits for it, and the load before the loop is only made where
//! there is such an element. The pass changes no bit.

use crate::ir::{Block, Func, Inst, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;

/// Carries elements in registers.
pub fn carry_elements(func: &Func) -> Func {
    carried(func, Indices::MayBeWrong)
}

/// Carries elements in registers, in a program whose indices are all in range.
pub fn carry_known_elements(func: &Func) -> Func {
    carried(func, Indices::InRange)
}

/// What is known of the indices of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indices {
    InRange,
    MayBeWrong,
}

fn carried(func: &Func, indices: Indices) -> Func {
    let mut result = func.clone();
    let mut sums = Sums::default();
    sums.collect(func, &func.body);
    let mut body = std::mem::take(&mut result.body);
    block(&mut result, &mut body, &sums, indices);
    result.body = body;
    result
}

/// A sum of values with integer factors, modulo 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    constant: i64,
    terms: BTreeMap<Value, i64>,
}

impl Sum {
    fn plus(mut self, other: &Sum, factor: i64) -> Sum {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (v, k) in &other.terms {
            let total = self.terms.entry(*v).or_default();
            *total = total.wrapping_add(k.wrapping_mul(factor));
        }
        self.terms.retain(|_, k| *k != 0);
        self
    }

    /// The same one iteration on.
    fn next(mut self, counter: Value) -> Sum {
        let step = self.terms.get(&counter).copied().unwrap_or(0);
        self.constant = self.constant.wrapping_add(step);
        self
    }

    /// Whether two sums differ whatever their values are.
    fn differs(&self, other: &Sum) -> bool {
        let difference = self.clone().plus(other, -1);
        difference.terms.is_empty() && difference.constant != 0
    }
}

/// Integer values as sums.
#[derive(Default)]
struct Sums {
    of: HashMap<Value, Sum>,
}

impl Sums {
    fn collect(&mut self, func: &Func, block: &Block) {
        block.walk(&mut |inst| {
            let factor = match inst.op {
                Op::Prim(Prim::WAdd | Prim::IAdd) => 1,
                Op::Prim(Prim::WSub | Prim::ISub) => -1,
                _ => return,
            };
            let sum = self.get(func, inst.args[0]).plus(&self.get(func, inst.args[1]), factor);
            self.of.insert(inst.results[0], sum);
        });
    }

    fn get(&self, func: &Func, v: Value) -> Sum {
        match (func.as_const(v), self.of.get(&v)) {
            (Some(Scalar::I64(constant)), _) => Sum { constant, ..Sum::default() },
            (_, Some(sum)) => sum.clone(),
            _ => Sum { constant: 0, terms: BTreeMap::from([(v, 1)]) },
        }
    }
}

fn block(func: &mut Func, block_: &mut Block, sums: &Sums, indices: Indices) {
    let insts = std::mem::take(&mut block_.insts);
    for mut inst in insts {
        inst.blocks.iter_mut().for_each(|b| block(func, b, sums, indices));
        if inst.op == Op::For && !inst.blocks[0].insts.iter().any(|i| i.op == Op::ExitIf) {
            for carry in 0..inst.results.len() {
                if func.ty(inst.results[carry]) == Type::VECTOR {
                    let mut from = 0;
                    while let Some(found) = find(func, &inst, carry, sums, from) {
                        let before = first_element(func, &inst, carry, &found, indices);
                        block_.insts.extend(before.insts);
                        replace(func, &mut inst, &found, before.element, indices);
                        from = found.at + usize::from(indices == Indices::MayBeWrong);
                    }
                }
            }
        }
        block_.insts.push(inst);
    }
}

/// A load that can be carried.
struct Found {
    /// The load's position in the body.
    at: usize,
    /// Its index.
    index: Sum,
    /// What the iteration before has stored there.
    stored: Value,
}

/// The first load at a position or behind it that can be carried.
fn find(func: &Func, inst: &Inst, carry: usize, sums: &Sums, from: usize) -> Option<Found> {
    let body = &inst.blocks[0];
    let (counter, start) = (body.params[0], body.params[carry + 1]);
    let mut inside: HashSet<Value> = body.params[1..].iter().copied().collect();
    inside.extend(body.insts.iter().flat_map(|i| &i.results));
    // The array must come from `start` to the end of the iteration through stores alone.
    let mut stores = Vec::new();
    let mut version = start;
    for i in body.insts.iter().filter(|i| i.op == Op::Store) {
        if i.args[0] == version {
            stores.push((sums.get(func, i.args[1]), i.args[2]));
            version = i.results[0];
        }
    }
    if version != body.yields[carry] || stores.is_empty() {
        return None;
    }
    let loads = body.insts.iter().enumerate().skip(from);
    for (at, load) in loads.filter(|(_, i)| i.op == Op::Load && i.args[0] == start) {
        let index = sums.get(func, load.args[1]);
        if index.terms.keys().any(|v| inside.contains(v)) {
            continue;
        }
        let next = index.clone().next(counter);
        let last = stores.iter().rposition(|(at, _)| *at == next);
        let Some(last) = last else { continue };
        if stores[last + 1..].iter().all(|(at, _)| at.differs(&next)) {
            return Some(Found { at, index, stored: stores[last].1 });
        }
    }
    None
}

/// Code before the loop, and the element it loads.
struct Before {
    insts: Vec<Inst>,
    element: Value,
}

/// Loads the element for the first iteration, if there is one.
fn first_element(
    func: &mut Func,
    inst: &Inst,
    carry: usize,
    found: &Found,
    indices: Indices,
) -> Before {
    let (lo, hi, array) = (inst.args[0], inst.args[1], inst.args[2 + carry]);
    let counter = inst.blocks[0].params[0];
    let mut insts = Vec::new();
    let mut emit = |func: &mut Func, op: Op, args: Vec<Value>, ty: Type, blocks: Vec<Block>| {
        let result = func.value(ty, None);
        insts.push(Inst { op, args, results: vec![result], blocks, span: inst.span });
        result
    };
    let mut index = func.constant(Scalar::I64(found.index.constant));
    for (v, factor) in &found.index.terms {
        let v = if *v == counter { lo } else { *v };
        let factor = func.constant(Scalar::I64(*factor));
        let term = emit(func, Op::Prim(Prim::WMul), vec![v, factor], Type::I64, Vec::new());
        index = emit(func, Op::Prim(Prim::WAdd), vec![index, term], Type::I64, Vec::new());
    }
    let mut runs = emit(func, Op::Prim(Prim::ILt), vec![lo, hi], Type::Bool, Vec::new());
    if indices == Indices::MayBeWrong {
        let zero = func.constant(Scalar::I64(0));
        let length = emit(func, Op::Len, vec![array], Type::I64, Vec::new());
        for (a, b, less) in [(zero, index, Prim::ILe), (index, length, Prim::ILt)] {
            let holds = emit(func, Op::Prim(less), vec![a, b], Type::Bool, Vec::new());
            runs = emit(func, Op::Prim(Prim::And), vec![runs, holds], Type::Bool, Vec::new());
        }
    }
    let loaded = func.value(Type::F64, None);
    let load = Inst {
        op: Op::Load,
        args: vec![array, index],
        results: vec![loaded],
        blocks: Vec::new(),
        span: inst.span,
    };
    let zero = func.constant(Scalar::F64(0.0));
    let then = Block { insts: vec![load], yields: vec![loaded], ..Block::default() };
    let otherwise = Block { yields: vec![zero], ..Block::default() };
    let element = emit(func, Op::If, vec![runs], Type::F64, vec![then, otherwise]);
    Before { insts, element }
}

/// Carries the element instead of loading it.
fn replace(func: &mut Func, inst: &mut Inst, found: &Found, first: Value, indices: Indices) {
    let carried = func.value(Type::F64, None);
    inst.args.push(first);
    inst.results.push(func.value(Type::F64, None));
    let body = &mut inst.blocks[0];
    body.params.push(carried);
    body.yields.push(found.stored);
    let loaded = body.insts[found.at].results[0];
    if indices == Indices::InRange {
        body.insts.remove(found.at);
    }
    super::carries::rename_inside(body, &HashMap::from_iter([(loaded, carried)]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, parse, verify};

    /// Runs the function with and without the pass, and counts the loads of its loops.
    fn loads(text: &str, n: i64) -> usize {
        let module = parse::module(text).unwrap();
        let [checked, after] =
            [carry_elements, carry_known_elements].map(|pass: fn(&Func) -> Func| {
                let after = Module::of(pass(&module.funcs[0]));
                verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
                after
            });
        let run = |module: &Module| {
            let x = Val::array((0..8).map(|k| 0.3 + f64::from(k)).collect());
            let results = Interp::new(module).call("f", vec![x, Val::i64(n)]).unwrap();
            crate::check::bits(&results)
        };
        assert_eq!(run(&module), run(&after), "{after}");
        assert_eq!(run(&module), run(&checked), "{checked}");
        let mut loads = 0;
        let mut in_loops = |inst: &Inst| {
            if inst.op == Op::For {
                loads += inst.blocks[0].insts.iter().filter(|i| i.op == Op::Load).count();
            }
        };
        after.funcs[0].body.walk(&mut |inst| in_loops(inst));
        loads
    }

    fn recurrence(load: &str, store: &str) -> String {
        format!(
            "func @f(%x: [f64], %n: i64) -> [f64] {{
               %y = for %r in 1..%n carry (%a = %x) {{
                 %before = wsub %r, 1
                 %after = wadd %r, 1
                 %p = load %a, %{load}
                 %q = load %a, %r
                 %v = fma %p, %q, 0.5
                 %a1 = store %a, %{store}, %v
                 yield %a1
               }}
               return %y
             }}"
        )
    }

    #[test]
    fn a_recurrence_keeps_its_element() {
        for n in [-1, 1, 2, 6] {
            assert_eq!(loads(&recurrence("before", "r"), n), 1, "n = {n}");
        }
    }

    /// What the next iteration reads is used by nothing but the check of its index.
    #[test]
    fn wrong_indices_are_wrong_where_they_were() {
        for (before, store) in [(1, "r"), (9, "r"), (-6, "r"), (1, "far"), (i64::MIN, "r")] {
            let text = format!(
                "func @f(%x: [f64], %n: i64) -> [f64] {{
                   %y = for %r in 0..%n carry (%a = %x) {{
                     %k = iadd %r, 0
                     %far = iadd %r, 5
                     %before = wsub %k, {before}
                     %p = load %a, %before
                     %q = load %a, %k
                     %v = fma %p, %q, 0.5
                     %a1 = store %a, %{store}, %v
                     yield %a1
                   }}
                   return %y
                 }}"
            );
            let module = parse::module(&text).unwrap();
            let after = Module::of(carry_elements(&module.funcs[0]));
            verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
            for n in [-1, 0, 1, 3, 8, 20] {
                let run = |module: &Module| {
                    let x = Val::array((0..8).map(|k| 0.3 + f64::from(k)).collect());
                    let results = Interp::new(module).call("f", vec![x, Val::i64(n)]);
                    results.map(|r| crate::check::bits(&r)).map_err(|f| (f.kind, f.iterations))
                };
                assert_eq!(run(&module), run(&after), "{before}, {n}:\n{after}");
            }
        }
    }

    #[test]
    fn other_indices_stay_in_memory() {
        // Stored elements are never loaded again, or only two iterations later.
        assert_eq!(loads(&recurrence("after", "before"), 6), 2);
        assert_eq!(loads(&recurrence("before", "after"), 6), 1);
        assert_eq!(loads(&recurrence("before", "before"), 6), 2);
    }

    #[test]
    fn a_store_that_may_hit_the_element_keeps_it_in_memory() {
        let text = "func @f(%x: [f64], %n: i64) -> [f64] {
           %y = for %r in 1..%n carry (%a = %x) {
             %before = wsub %r, 1
             %p = load %a, %before
             %any = imod %n, 3
             %a1 = store %a, %r, %p
             %a2 = store %a1, %any, 7.5
             yield %a2
           }
           return %y
         }";
        assert_eq!(loads(text, 6), 1);
        assert_eq!(loads(&text.replace("%any, 7.5", "%before, 7.5"), 6), 0);
    }
}
