//! Writes to parts of an array become one loop over the whole.
//!
//! A stencil overwrites the inner part of an array with what is computed from shifted parts of it, and its adjoint adds
//! several shifted parts to one array. Taken one after the other, each such write goes through all of the memory. A
//! chain of them, on an array that a loop carries, is made one pass here: a new array whose every element is what
//! the chain makes of it, computed from the array as it was. The order of the sums of an element stays, so no bit
//! changes.
//!
//! ```text
//! %b = put %a, .., %v            %b' = fill ..        every element of it is written
//! %c = add_slice %b, .., %w  ->  for each element:    where all parts meet, without questions;
//!                                                     near the edges, asking which parts it lies in
//! ```
//!
//! That pays where the parts are most of the array, and saves the checks where all of them lie inside; neither is
//! known before the program runs. So the loop is made twice, and before it there is the question which one it shall be.

use super::copy::{Copier, rebuild};
use super::shapes;
use crate::ir::{Builder, Func, Inst, Op, Type, Value, uses};
use crate::ops::Prim;
use crate::span::Span;
use find::Finder;
use gather::Gather;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

mod find;
mod gather;

/// The function with chains of writes to parts as one loop each.
pub fn whole(func: &Func) -> Func {
    let kept = shapes::kept_carries(func);
    let mut plans = HashMap::default();
    func.body.walk(&mut |inst| {
        if let Some(plan) = Finder::new(func, &kept, inst).and_then(|finder| finder.plan()) {
            plans.insert(inst.blocks[0].params[0], plan);
        }
    });
    if plans.is_empty() {
        return func.clone();
    }
    let mut pass = Pass { func, makers: uses::makers(&func.body), plans, within: None };
    rebuild(func, &func.name, &mut |copier, b, inst| pass.inst(copier, b, inst))
}

/// One write to a part of an array.
struct Link {
    adds: bool,
    /// Start and count per axis.
    starts: Vec<Value>,
    counts: Vec<Value>,
    value: Value,
}

/// Writes to one array, one after the other.
struct Chain {
    /// The carry they begin with, and what it starts with.
    target: Value,
    init: Value,
    links: Vec<Link>,
    result: Value,
    /// Operations, parts and writes that the new loop does, by their results.
    nodes: HashSet<Value>,
    /// Operations on arrays of which it is not known that they have one shape, in order.
    conforming: Vec<Conforming>,
}

/// How large an array is that a link is computed from.
#[derive(Clone, Debug, PartialEq)]
enum Sizes {
    /// As the part it comes to stand in: the question before the loop says so.
    Known(Vec<Value>),
    /// As this array.
    Of(Value),
}

/// Two arrays that an operation takes to have one shape.
#[derive(Clone, PartialEq)]
struct Conforming {
    /// Which instruction of the body it is.
    at: usize,
    span: Span,
    row: Prim,
    sizes: [Sizes; 2],
}

/// What a loop becomes.
struct Plan {
    chains: Vec<Chain>,
    /// What must hold: these are equal, and these parts lie in arrays.
    equal: Vec<(Value, Value)>,
    inside: Vec<Part>,
    /// What nothing needs as an array any more.
    gone: HashSet<Value>,
}

/// A part of an array that exists before the loop.
struct Part {
    array: Value,
    starts: Vec<Value>,
    counts: Vec<Value>,
}

struct Pass<'f> {
    func: &'f Func,
    makers: HashMap<Value, &'f Inst>,
    plans: HashMap<Value, Plan>,
    /// The loop that is being copied; loops in it are copied as they are.
    within: Option<Within>,
}

/// A loop that is being copied.
enum Within {
    /// As it is.
    Plain,
    /// With its chains as loops: its counter, and per array that a chain begins with, its frame.
    Anew(Value, HashMap<Value, Frame>),
}

/// What is known of an array before the loop.
struct Frame {
    sizes: Vec<Value>,
    /// Where all parts meet, per axis: from where up to where.
    meet: Vec<(Value, Value)>,
}

impl Pass<'_> {
    fn inst(&mut self, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> bool {
        match &self.within {
            None => {
                let counter = inst.blocks.first().and_then(|body| body.params.first()).copied();
                let Some(counter) = counter.filter(|c| self.plans.contains_key(c)) else {
                    return false;
                };
                self.twice(copier, b, inst, counter);
                true
            }
            Some(Within::Plain) => false,
            Some(Within::Anew(counter, frames)) => {
                let plan = &self.plans[counter];
                if let Some(chain) = plan.chains.iter().find(|c| inst.results.contains(&c.result)) {
                    let frame = &frames[&chain.target];
                    let (func, makers) = (self.func, &self.makers);
                    let made = Gather { func, makers, copier, b, chain, frame }.emit();
                    copier.bind_named(func, b, chain.result, made);
                    return true;
                }
                inst.results.first().is_some_and(|r| plan.gone.contains(r))
            }
        }
    }

    /// The loop made anew, and as it is; a question before it says which one runs.
    fn twice(&mut self, copier: &mut Copier, b: &mut Builder, inst: &Inst, counter: Value) {
        let func = self.func;
        let plan = &self.plans[&counter];
        let holds = question(func, copier, b, plan);
        let frames =
            plan.chains.iter().map(|c| (c.target, Frame::of(func, copier, b, c))).collect();
        let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        let blocks = [Within::Anew(counter, frames), Within::Plain].map(|within| {
            self.within = Some(within);
            let mut copier = copier.clone();
            b.open_block(&[]);
            copier.inst_with(func, b, inst, &mut |copier, b, i| {
                // The loop itself, then what stands in it.
                i.results != inst.results && self.inst(copier, b, i)
            });
            let yields = copier.all(func, b, &inst.results);
            b.close_block(yields)
        });
        self.within = None;
        b.at(inst.span);
        let results = b.inst(Op::If, vec![holds], &types, blocks.into());
        for (from, to) in inst.results.iter().zip(results) {
            copier.bind_named(func, b, *from, to);
        }
    }
}

/// Whether the parts of a plan lie in their arrays and fit each other, and those written are most of theirs.
fn question(func: &Func, copier: &Copier, b: &mut Builder, plan: &Plan) -> Value {
    let mut all = b.bool(true);
    let mut asked = HashSet::default();
    let mut ask = |b: &mut Builder, prim: Prim, x: Value, y: Value| {
        if asked.insert((prim, x, y)) {
            let holds = b.prim(prim, &[x, y]);
            all = b.prim(Prim::And, &[all, holds]);
        }
    };
    let zero = b.i64(0);
    for part in &plan.inside {
        let array = copier.get(func, b, part.array);
        let sizes = b.dims(array);
        let (starts, counts) =
            (copier.all(func, b, &part.starts), copier.all(func, b, &part.counts));
        for ((size, start), count) in sizes.into_iter().zip(starts).zip(counts) {
            ask(b, Prim::ILe, zero, start);
            ask(b, Prim::ILe, zero, count);
            // No difference of what is not negative wraps.
            let room = b.prim(Prim::WSub, &[size, count]);
            ask(b, Prim::ILe, start, room);
        }
    }
    for (x, y) in &plan.equal {
        let (x, y) = (copier.get(func, b, *x), copier.get(func, b, *y));
        ask(b, Prim::IEq, x, y);
    }
    for chain in &plan.chains {
        let init = copier.get(func, b, chain.init);
        let sizes = b.dims(init);
        for link in &chain.links {
            let counts = copier.all(func, b, &link.counts);
            for (size, count) in sizes.iter().zip(counts) {
                let rest = b.prim(Prim::WSub, &[*size, count]);
                ask(b, Prim::ILe, rest, count);
            }
        }
    }
    all
}

impl Frame {
    fn of(func: &Func, copier: &Copier, b: &mut Builder, chain: &Chain) -> Frame {
        let init = copier.get(func, b, chain.init);
        let sizes = b.dims(init);
        let meet = (0..sizes.len()).map(|axis| {
            let (mut from, mut to) = (b.i64(0), sizes[axis]);
            for link in &chain.links {
                let start = copier.get(func, b, link.starts[axis]);
                let count = copier.get(func, b, link.counts[axis]);
                let end = b.prim(Prim::WAdd, &[start, count]);
                from = b.prim(Prim::IMax, &[from, start]);
                to = b.prim(Prim::IMin, &[to, end]);
            }
            (from, b.prim(Prim::IMax, &[from, to]))
        });
        let meet = meet.collect();
        Frame { sizes, meet }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;
    use crate::ops::{Array, ArrayOp, Data};

    /// Integers from -1 up, mostly small.
    fn integers() -> impl FnMut(u64) -> i64 {
        let mut state = 7u64;
        move |below| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below) as i64 - i64::from((state >> 20).is_multiple_of(16))
        }
    }

    fn is_made(func: &Func) -> bool {
        count(func, |op| *op == Op::If) > 0 && count(func, |op| *op == Op::Array(ArrayOp::Poke)) > 0
    }

    #[test]
    fn parts_of_a_matrix() {
        let text = "func @f(%x: [[f64]], %w: [[f64]], %n: i64, %a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %g: i64) -> [[f64]] {
           %r = for %i in 0..%n carry (%u = %x) {
             %p = slice %u, %a, %c, 1, %b, %d, 1
             %q = slice %u, %e, %c, 1, %g, %d, 1
             %z = fill %c, %d, 0.0
             %h = mul 0.5, %p
             %k = mul %h, %w
             %u1 = put %u, %a, %c, 1, %b, %d, 1, %z
             %l = copy %h
             %u2 = add_slice %u1, %a, %c, 1, %b, %d, 1, %k
             %u3 = add_slice %u2, %e, %c, 1, %g, %d, 1, %l
             %u4 = add_slice %u3, %a, %c, 1, %g, %d, 1, %q
             yield %u4
           }
           return %r
         }";
        let mut next = integers();
        let (mut fitting, mut most) = (0, 0);
        for _ in 0..2000 {
            let sizes = [next(6).max(0), next(6).max(0)];
            let counts = [0, 1].map(|k: usize| (sizes[k] - next(3)).max(0));
            let starts: [i64; 4] = std::array::from_fn(|_| next(3));
            let odd = i64::from(next(9) == 0);
            let shape = [sizes[0] as usize, sizes[1] as usize];
            let args = [
                array(&shape),
                array(&[counts[0] as usize, (counts[1] + odd) as usize]),
                Val::i64(next(4)),
                Val::i64(starts[0]),
                Val::i64(starts[1]),
                Val::i64(counts[0]),
                Val::i64(counts[1]),
                Val::i64(starts[2]),
                Val::i64(starts[3]),
            ];
            assert!(is_made(&same(text, whole, &args)));
            let within =
                (0..4).all(|k| 0 <= starts[k] && starts[k] + counts[k % 2] <= sizes[k % 2]);
            fitting += i32::from(within);
            most += i32::from(within && (0..2).all(|k| 2 * counts[k] >= sizes[k]));
        }
        assert!(fitting - most > 20 && most > 100, "{fitting} {most}");
    }

    /// Two arrays side by side, the second computed from parts of the first: what one chain computes element by element
    /// the other reads as an array.
    #[test]
    fn two_chains() {
        let puts = ["%u1 = put %u, 1, %m, 1, %d", "%w1 = put %w, 1, %m, 1, %e"];
        // Behind a write that can fail, a check may not move.
        for (puts, left) in [(puts, 3), ([puts[1], puts[0]], 2)] {
            let text = format!(
                "func @f(%x: [f64], %y: [f64], %n: i64) -> (f64, f64) {{
                   %k = len %x
                   %m = wsub %k, 2
                   %r, %s = for %i in 0..%n carry (%u = %x, %w = %y) {{
                     %a = slice %u, 0, %m, 1
                     %b = slice %u, 2, %m, 1
                     %c = slice %w, 1, %m, 1
                     %d = mul %a, %b
                     %e = mul %d, %c
                     {}
                     {}
                     yield %u1, %w1
                   }}
                   %p = dot %r, %r
                   %q = dot %s, %s
                   return %p, %q
                 }}",
                puts[0], puts[1]
            );
            for (k, l) in [(0, 0), (1, 1), (2, 2), (3, 3), (5, 5), (9, 9), (9, 8)] {
                let func = same(&text, whole, &[array(&[k]), array(&[l]), Val::i64(3)]);
                assert_eq!(count(&func, |op| *op == Op::Array(ArrayOp::Put)), left, "{func}");
            }
        }
    }

    #[test]
    fn parts_of_a_vector() {
        let text = "func @f(%x: [f32], %n: i64, %a: i64, %b: i64, %c: i64, %d: i64) -> f32 {
           %r = for %i in 0..%n carry (%u = %x) {
             %p = slice %u, %a, %c, 1
             %q = slice %u, %b, %c, 1
             %s = add %p, %q
             %u1 = put %u, %b, %c, 1, %s
             %u2 = add_slice %u1, %d, %c, 1, %p
             yield %u2
           }
           %y = dot %r, %r
           return %y
         }";
        let mut next = integers();
        for _ in 0..500 {
            let size = next(8).max(0);
            let count = (size - next(4)).max(0);
            let singles = (0..size).map(|k| 0.3 + (k as f32 * 1.7).sin()).collect();
            let ints = [next(4), next(3), next(3), count, next(3)].map(Val::i64);
            let args = [
                vec![Val::shaped(Array { shape: vec![size as usize], data: Data::F32(singles) })],
                ints.into(),
            ]
            .concat();
            assert!(is_made(&same(text, whole, &args)));
        }
    }

    /// What a loop makes of parts that it finds while it runs, of arrays that are gone, or of a version in between.
    #[test]
    fn other_loops_stay() {
        for line in [
            "%v = put %u, %i, 2, 1, %p",
            "%t = put %u, 0, 2, 1, %p  %y = dot %t, %t  %v = add_slice %t, 1, 2, 1, %p",
            "%v = put %u, 0, 2, 2, %p",
            "%o = load %u, 0  %m = ftoi %o  %v = put %u, %m, 2, 1, %p",
        ] {
            let text = format!(
                "func @f(%x: [f64]) -> [f64] {{
                   %r = for %i in 0..2 carry (%u = %x) {{
                     %q = slice %u, 0, 2, 1
                     %p = mul 2.0, %q
                     {line}
                     yield %v
                   }}
                   return %r
                 }}"
            );
            let func = same(&text, whole, &[array(&[5])]);
            // The second has a chain of one before the dot product.
            assert_eq!(is_made(&func), line.contains("dot"), "{func}");
        }
    }
}
