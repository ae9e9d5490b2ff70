//! Loops over elements become operations on whole arrays.
//!
//! What is written element by element is differentiated element by element: a record for each, and adjoints that are added to one at a
//! time. The same as operations on arrays has derivatives that are operations on arrays. So loops are made such here, where they are:
//!
//! | loop | operations |
//! |---|---|
//! | writes `x[i]`, or in two loops `x[i][j]`, computed from elements beside it | rows of the table on slices, and a `put` |
//! | adds products of a row of a matrix and a vector to a number | one `gemm` for all rows, before the loop |
//! | adds multiples of rows of a matrix to a vector | one `gemm` |
//!
//! What else such a loop does stays in it, and reads what it computed from the new arrays. Elements are computed as they were, and every sum is a
//! chain of fused multiply-adds in the order of its loop, as it was: values keep their bits. The order in which adjoints are summed is another
//! one, which is why this is part of the fixed pipeline.
//!
//! A loop is left alone where an index may be out of range, as far as shapes are known ([`super::shapes`]), or something else in it may fail.

mod find;
mod look;
mod make;

use super::copy::rebuild;
use super::shapes::Shapes;
use super::{dce, hoist};
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use crate::ops::ArrayOp;
use find::Plan;
use look::{Look, Ranges, defined};
use make::Make;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// How often loops are looked at: what is made of one can make another one of these.
const ROUNDS: usize = 6;

/// The function with such loops as operations on arrays.
pub fn loops(func: &Func) -> Func {
    let mut result = func.clone();
    for round in 0..ROUNDS {
        let Some(next) = once(&result) else {
            if round == 0 {
                return result;
            }
            break;
        };
        result = dce::remove_dead(&next);
    }
    let result = read_the_original(&result);
    hoist::before_differentiation(&dce::remove_dead(&result))
}

/// The loops that can be made anew, by their counters, each with its loop looked at.
struct Finder<'f> {
    func: &'f Func,
    makers: HashMap<Value, &'f Inst>,
    shapes: Shapes,
    ranges: Ranges,
    found: HashMap<Value, Found>,
}

/// What a loop can be made anew as, and what was known of it: what is defined inside, which arrays stand for others, shapes.
struct Found {
    plan: Plan,
    inside: HashSet<Value>,
    first: HashMap<Value, Value>,
    shapes: Shapes,
}

impl Finder<'_> {
    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            let looping = matches!(inst.op, Op::For | Op::While);
            if inst.op == Op::For {
                self.loop_(inst);
            }
            let found = looping && self.found.contains_key(&inst.blocks[0].params[0]);
            for nested in inst.blocks.iter().filter(|_| !found) {
                if looping {
                    self.shapes.enter_loop(self.func, inst);
                } else {
                    self.shapes.enter();
                }
                self.block(nested);
                self.shapes.leave();
            }
            self.shapes.note(self.func, inst);
        }
    }

    fn loop_(&mut self, inst: &Inst) {
        let counter = inst.blocks[0].params[0];
        let mut all = vec![inst];
        while let Some(inst) = all.pop() {
            if inst.op == Op::For {
                self.ranges.insert(inst.blocks[0].params[0], (inst.args[0], inst.args[1]));
            }
            all.extend(inst.blocks.iter().flat_map(|block| &block.insts));
        }
        let mut inside = HashSet::default();
        defined(&inst.blocks[0], &mut inside);
        let (func, makers) = (self.func, &self.makers);
        let (shapes, ranges) = (&self.shapes, &self.ranges);
        let mut look = Look { func, shapes, makers, ranges, inside, first: HashMap::default() };
        if let Some(plan) = Plan::of(&mut look, inst) {
            let Look { inside, first, .. } = look;
            let shapes = self.shapes.clone();
            self.found.insert(counter, Found { plan, inside, first, shapes });
        }
    }
}

/// The function with the loops that were found as they are made anew; none where nothing was found.
fn once(func: &Func) -> Option<Func> {
    let makers = uses::makers(&func.body);
    let (shapes, ranges) = (Shapes::of_params(func), Ranges::default());
    let mut finder = Finder { func, makers, shapes, ranges, found: HashMap::default() };
    finder.block(&func.body);
    let Finder { makers, ranges, found, .. } = finder;
    if found.is_empty() {
        return None;
    }
    Some(rebuild(func, &func.name, &mut |copier, b, inst| {
        let counter = inst.blocks.first().and_then(|body| body.params.first());
        let Some(found) = counter.and_then(|c| found.get(c)).filter(|_| inst.op == Op::For) else {
            return false;
        };
        let (inside, first) = (found.inside.clone(), found.first.clone());
        let (makers, ranges, shapes) = (&makers, &ranges, &found.shapes);
        let look = Look { func, shapes, makers, ranges, inside, first };
        Make::new(&look, copier, b, inst).emit(&found.plan);
        true
    }))
}

/// Slices of a copy that are taken before the original changes are slices of that.
fn read_the_original(func: &Func) -> Func {
    let mut result = func.clone();
    block(&mut result.body);
    result
}

fn block(block_: &mut Block) {
    let insts = &mut block_.insts;
    insts.iter_mut().flat_map(|inst| &mut inst.blocks).for_each(block);
    for at in 0..block_.insts.len() {
        let copy = &block_.insts[at];
        if copy.op != Op::Copy {
            continue;
        }
        let (original, copied) = (copy.args[0], copy.results[0]);
        let mut changed = false;
        let mut sliced = Vec::new();
        let mut otherwise = block_.yields.contains(&copied);
        for (k, inst) in block_.insts.iter().enumerate().skip(at + 1) {
            let slice = inst.op == Op::Array(ArrayOp::Slice) && inst.args[0] == copied;
            if slice && !changed {
                sliced.push(k);
            } else {
                uses::each(inst, &mut |v, _| otherwise |= v == copied);
            }
            uses::each(inst, &mut |v, takes| changed |= takes && v == original);
        }
        if !otherwise {
            sliced.into_iter().for_each(|k| block_.insts[k].args[0] = original);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;
    use crate::ops::Prim;

    fn for_loops(func: &Func) -> usize {
        count(func, |op| *op == Op::For)
    }

    /// A loop over `x`, of length 11 or another, `body` making `%z1` of `%z`.
    fn one_loop(range: &str, body: &str, n: usize) -> Func {
        let text = format!(
            "func @f(%x: [f64], %w: [f64], %c: f64) -> ([f64], f64) {{
               %n = len %x
               %last = wsub %n, 1
               %most = imax %last, 0
               %z0 = copy %x
               %r, %t = for %i in {range} carry (%z = %z0, %s = 0.5) {{
                 {body}
                 yield %z1, %s1
               }}
               return %r, %t
             }}"
        );
        let c = [Val::f64(0.7)];
        same(&text, loops, &[&[array(&[n]), array(&[n])][..], &c].concat())
    }

    #[test]
    fn elements_beside_each_other() {
        let stencil = "%h = wsub %i, 1
            %j = wadd %i, 1
            %a = load %x, %h
            %b = load %x, %j
            %d = load %z, %i
            %e = fma %a, %c, %b
            %g = tanh %e
            %v = mul %d, %g
            %z1 = store %z, %i, %v
            %s1 = fma %v, %b, %s";
        for n in [0, 1, 2, 3, 11] {
            let func = one_loop("1..%most", stencil, n);
            // The sum stays in a loop, which computes nothing anew.
            assert_eq!(for_loops(&func), 1, "{func}");
            assert_eq!(count(&func, |op| *op == Op::Prim(Prim::Tanh)), 1, "{func}");
            assert_eq!(count(&func, |op| *op == Op::Store), 0, "{func}");
        }
        let whole = "%a = load %x, %i  %v = mul %a, %c  %z1 = store %z, %i, %v  %s1 = add %s, 0.0";
        let func = one_loop("0..%n", whole, 9);
        assert_eq!(count(&func, |op| *op == Op::Array(ArrayOp::Put)), 0, "{func}");
    }

    #[test]
    fn what_stays_a_loop() {
        let sum = "%s1 = add %s, 1.0";
        for (range, body) in [
            // The element before is a new one.
            ("1..%n", "%h = wsub %i, 1  %a = load %z, %h  %z1 = store %z, %i, %a"),
            // Out of range.
            ("0..%n", "%h = wsub %i, 1  %j = imax %h, 0  %a = load %x, %j  %z1 = store %z, %i, %a"),
            ("0..%last", "%h = wadd %i, 1  %z1 = store %z, %h, %s"),
            // Elsewhere.
            ("0..%most", "%k = wsub %last, %i  %a = load %x, %k  %z1 = store %z, %i, %a"),
            // Read again after it was written.
            (
                "1..%n",
                "%a = load %x, %i  %y = store %z, %i, %a  %h = wsub %i, 1  %b = load %y, %h  %z1 = store %y, %i, %b",
            ),
        ] {
            let func = one_loop(range, &format!("{body}  {sum}"), 11);
            assert!(count(&func, |op| *op == Op::Store) > 0, "{func}");
        }
    }

    #[test]
    fn indices_out_of_range_are_told_as_they_were() {
        for range in ["0..%n", "1..12"] {
            let body =
                "%j = wadd %i, 1  %a = load %x, %j  %z1 = store %z, %i, %a  %s1 = add %s, 1.0";
            let func = one_loop(range, body, 11);
            assert_eq!(for_loops(&func), 1, "{func}");
        }
    }

    #[test]
    fn plates() {
        let text = "func @f(%x: [[f64]], %w: [f64], %n: i64) -> [[f64]] {
           %rows = len %x
           %columns = dim[1] %x
           %wide = len %w
           %same = ieq %columns, %wide
           assert %same, \"as wide\"
           %r0 = wsub %rows, 1
           %r = imax %r0, 0
           %c = wsub %columns, 1
           %y = for %t in 0..%n carry (%u = %x) {
             %old = copy %u
             %u3 = for %i in 1..%r carry (%u1 = %u) {
               %up = wsub %i, 1
               %u2 = for %j in 1..%c carry (%v = %u1) {
                 %left = wsub %j, 1
                 %right = iadd %j, 1
                 %a = load %old, %up, %j
                 %b = load %old, %i, %left
                 %d = load %old, %i, %right
                 %k = load %w, %j
                 %e = add %a, %b
                 %g = fma %e, %k, %d
                 %v1 = store %v, %i, %j, %g
                 yield %v1
               }
               yield %u2
             }
             yield %u3
           }
           return %y
         }";
        for (rows, columns) in [(4, 5), (9, 8), (1, 5), (0, 3), (5, 0), (3, 1)] {
            let args = [array(&[rows, columns]), array(&[columns]), Val::i64(3)];
            let func = same(text, loops, &args);
            assert_eq!(for_loops(&func), 1, "{func}");
            assert_eq!(count(&func, |op| *op == Op::Copy), 0, "{func}");
        }
    }

    #[test]
    fn whole_rows() {
        let text = "func @f(%x: [[f64]], %w: [[f64]]) -> [[f64]] {
           %rows = len %x
           %columns = dim[1] %x
           %tall = len %w
           %wide = dim[1] %w
           %same = ieq %columns, %wide
           assert %same, \"as wide\"
           %alike = ieq %rows, %tall
           assert %alike, \"as tall\"
           %v = copy %x
           %y = for %i in 2..%rows carry (%u1 = %v) {
             %u2 = for %j in 0..%columns carry (%u = %u1) {
               %a = load %w, %i, %j
               %b = add %a, 1.0
               %u3 = store %u, %i, %j, %b
               yield %u3
             }
             yield %u2
           }
           return %y
         }";
        for (rows, columns) in [(5, 3), (1, 2), (0, 0)] {
            let args = [array(&[rows, columns]), array(&[rows, columns])];
            let func = same(text, loops, &args);
            assert_eq!(count(&func, |op| *op == Op::Array(ArrayOp::Put)), 1, "{func}");
        }
    }

    #[test]
    fn copies_are_read_where_the_original_is_another() {
        let text = "func @f(%x: [f64]) -> ([f64], [f64], [f64]) {
           %z = copy %x
           %old = copy %z
           %a = slice %old, 0, 2, 1
           %z1 = store %z, 0, 9.0
           %b = slice %old, 0, 2, 1
           return %a, %b, %z1
         }";
        let late = same(text, read_the_original, &[array(&[3])]);
        assert_eq!(count(&late, |op| *op == Op::Copy), 2);
        let text = text.replace("%b = slice %old, 0", "%b = slice %z1, 0");
        let read = same(&text, |func| dce::remove_dead(&read_the_original(func)), &[array(&[3])]);
        assert_eq!(count(&read, |op| *op == Op::Copy), 1, "{read}");
    }

    const PRODUCT: &str = "func @f(%a: [[f64]], %x: [f64], %n: i64) -> [f64] {
       %rows = len %a
       %columns = dim[1] %a
       %wide = len %x
       %fits = ieq %columns, %wide
       assert %fits, \"as long\"
       %y = for %t in 0..%n carry (%v = %x) {
         %g0 = fill %columns, 0.0
         %g = for %k in 0..%rows carry (%g1 = %g0) {
           conform[slice] %a, %k, 1, 1, 0, 0, 1
           %r = for %j in 0..%columns carry (%s = 0.25) {
             %c = load %a, %k, %j
             %b = load %v, %j
             %s1 = fma %c, %b, %s
             yield %s1
           }
           %h = tanh %r
           %g3 = for %l in 0..%columns carry (%g2 = %g1) {
             %d = load %a, %k, %l
             %e = load %g2, %l
             %p = fma %d, %h, %e
             %g4 = store %g2, %l, %p
             yield %g4
           }
           yield %g3
         }
         yield %g
       }
       return %y
     }";

    #[test]
    fn rows_and_columns() {
        for (rows, columns) in [(3, 4), (9, 8), (0, 3), (3, 0), (17, 13)] {
            let args = [array(&[rows, columns]), array(&[columns]), Val::i64(3)];
            let func = same(PRODUCT, loops, &args);
            assert_eq!(for_loops(&func), 1, "{func}");
            let gemm = |op: &Op| matches!(op, Op::Array(ArrayOp::Gemm(..)));
            assert_eq!(count(&func, gemm), 2, "{func}");
            // The matrix is turned once.
            let outside = func.body.insts.iter();
            let turned = |i: &&Inst| matches!(i.op, Op::Array(ArrayOp::Transpose(_)));
            assert_eq!(outside.filter(turned).count(), 1, "{func}");
        }
    }

    #[test]
    fn a_sum_that_begins_with_the_last_one_is_one_sum() {
        let text = PRODUCT.replace("carry (%s = 0.25)", "carry (%s = %last)");
        let text = text.replace("carry (%g1 = %g0)", "carry (%g1 = %g0, %last = 0.0)");
        let text = text.replace("%g = for", "%g, %q = for").replace("yield %g3", "yield %g3, %r");
        let func = same(&text, loops, &[array(&[3, 4]), array(&[4]), Val::i64(2)]);
        assert!(for_loops(&func) > 2, "{func}");
    }
}
