//! Random loops whose iterations may run in any order, with loops inside that iterations run for different times.

use super::program::Generator;
use crate::arrays;
use crate::ir::{Builder, Op, Type, Value};
use crate::ops::Prim;

/// What an iteration does with its number.
#[derive(Clone, Copy)]
enum Shape {
    /// Nothing but a row.
    Plain,
    /// A `while` that ends by the iteration, or by what it computes.
    Until { most: i64, by_value: bool },
    /// A `for` with ways out, the second of which computes.
    Broken { most: i64, limit: f64 },
    /// A `for` that runs from and to somewhere else in each iteration.
    Unequal { from: i64, to: i64 },
    /// One of these in a `for`, or on one side of a branch.
    Nested { most: i64, in_branch: bool },
}

impl Generator {
    /// A loop whose iterations each change their own element, reading others of another array.
    pub(super) fn parallel_map(&mut self) {
        let taken = if self.chance(2) { None } else { self.take_where(|ty| ty == Type::VECTOR) };
        let x = match taken {
            Some(x) => x,
            None => {
                // More than a few, so that they can run in lockstep.
                let n = 1 + self.random.below(20) as i64;
                let (n, s) = (self.b.i64(n), self.state_float());
                self.b.op(Op::Fill, &[n, s])[0]
            }
        };
        let n = self.b.op(Op::Len, &[x])[0];
        // Into itself, or, as in most programs, into another array.
        let apart = !self.chance(4);
        let into = if apart { self.b.op(Op::Copy, &[x])[0] } else { x };
        let (s, other) = (self.state_float(), self.readable_where(|ty| ty == Type::VECTOR));
        let most = 1 + self.random.below(7) as i64;
        let shape = match self.random.below(6) {
            0 => Shape::Plain,
            1 => Shape::Until { most, by_value: self.chance(2) },
            2 => Shape::Broken { most, limit: self.random.below(10) as f64 / 10.0 },
            3 => Shape::Unequal { from: self.random.below(4) as i64, to: most },
            _ => Shape::Nested { most, in_branch: self.chance(2) },
        };
        let looped = arrays::repeat(&mut self.b, n, &[into], |b, i, carry| {
            let own = b.load(if apart { x } else { carry[0] }, i);
            let seen = match other {
                Some(y) => {
                    let m = b.op(Op::Len, &[y])[0];
                    let at = b.prim(Prim::IMod, &[i, m]);
                    b.load(y, at)
                }
                None => s,
            };
            let v = b.fma(own, s, seen);
            let count = b.prim(Prim::IToF, &[i]);
            let few = b.f64(0.3);
            let v = b.fma(count, few, v);
            let v = b.prim(Prim::Sin, &[v]);
            let v = computed(b, shape, i, v, s);
            vec![b.store(carry[0], i, v)]
        });
        self.b.mark_parallel();
        self.see_array(looped[0]);
    }
}

/// What becomes of a number `v` in iteration `i`.
fn computed(b: &mut Builder, shape: Shape, i: Value, v: Value, s: Value) -> Value {
    match shape {
        Shape::Plain => v,
        Shape::Until { most, by_value } => {
            let end = masked(b, i, most);
            let p = b.open_block(&[(Type::I64, None), (Type::F64, None), (Type::I64, None)]);
            let mut done = b.prim(Prim::IGe, &[p[0], end]);
            if by_value {
                let limit = b.f64(0.7);
                let high = b.prim(Prim::Gt, &[p[1], limit]);
                done = b.prim(Prim::Or, &[done, high]);
            }
            leave(b, done, |_| vec![p[1], p[2]]);
            let next = step(b, p[1], s);
            let two = b.i64(2);
            let count = b.prim(Prim::IAdd, &[p[2], two]);
            let body = b.close_block(vec![next, count]);
            let zero = b.i64(0);
            let types = [Type::F64, Type::I64];
            let ends = b.inst(Op::While, vec![v, zero], &types, vec![body]);
            let count = b.prim(Prim::IToF, &[ends[1]]);
            let product = b.mul(count, ends[0]);
            b.prim(Prim::Sin, &[product])
        }
        Shape::Broken { most, limit } => {
            let (lo, hi, limit) = (b.i64(0), b.i64(most), b.f64(limit));
            let p = b.open_block(&[(Type::I64, None), (Type::F64, None)]);
            let next = step(b, p[1], s);
            let high = b.prim(Prim::Gt, &[next, limit]);
            leave(b, high, |b| vec![b.mul(next, p[1])]);
            let end = masked(b, i, most);
            let late = b.prim(Prim::IGt, &[p[0], end]);
            leave(b, late, |_| vec![next]);
            let next = b.prim(Prim::Cos, &[next]);
            let body = b.close_block(vec![next]);
            b.inst(Op::For, vec![lo, hi, v], &[Type::F64], vec![body])[0]
        }
        Shape::Unequal { from, to } => {
            let (lo, hi) = (masked(b, i, from), masked(b, i, to));
            let p = b.open_block(&[(Type::I64, None), (Type::F64, None)]);
            let count = b.prim(Prim::IToF, &[p[0]]);
            let next = b.fma(count, s, p[1]);
            let next = step(b, next, s);
            let body = b.close_block(vec![next]);
            b.inst(Op::For, vec![lo, hi, v], &[Type::F64], vec![body])[0]
        }
        Shape::Nested { most, in_branch } => {
            let inner = |b: &mut Builder, v: Value| {
                let first = computed(b, Shape::Unequal { from: 1, to: most }, i, v, s);
                computed(b, Shape::Until { most, by_value: true }, i, first, s)
            };
            if in_branch {
                let zero = b.f64(0.0);
                let high = b.prim(Prim::Gt, &[v, zero]);
                b.open_block(&[]);
                let then = inner(b, v);
                let then = b.close_block(vec![then]);
                b.open_block(&[]);
                let otherwise = computed(b, Shape::Broken { most, limit: 0.5 }, i, v, s);
                let otherwise = b.close_block(vec![otherwise]);
                return b.inst(Op::If, vec![high], &[Type::F64], vec![then, otherwise])[0];
            }
            let (lo, hi) = (b.i64(0), b.i64(3));
            let p = b.open_block(&[(Type::I64, None), (Type::F64, None)]);
            let next = inner(b, p[1]);
            let body = b.close_block(vec![next]);
            b.inst(Op::For, vec![lo, hi, v], &[Type::F64], vec![body])[0]
        }
    }
}

/// A number from 0 to `most` that differs between iterations.
fn masked(b: &mut Builder, i: Value, most: i64) -> Value {
    let most = b.i64(most);
    b.prim(Prim::IAnd, &[i, most])
}

/// A number near the one before.
fn step(b: &mut Builder, v: Value, s: Value) -> Value {
    let near = b.f64(0.9);
    let moved = b.fma(v, near, s);
    b.prim(Prim::Sin, &[moved])
}

/// A way out of a loop.
fn leave(b: &mut Builder, when: Value, with: impl FnOnce(&mut Builder) -> Vec<Value>) {
    b.open_block(&[]);
    let yields = with(b);
    let block = b.close_block(yields);
    b.inst(Op::ExitIf, vec![when], &[], vec![block]);
}
