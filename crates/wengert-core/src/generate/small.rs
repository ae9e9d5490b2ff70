//! Random statements on small arrays of constant length: what unrolling and scalar replacement are for.

use super::program::Generator;
use super::scalar::{Float, STATE};
use crate::ir::{Op, Type, Value};

impl Generator {
    /// A small array of constant length with constant indices, mostly carried by a loop.
    pub(super) fn small_state(&mut self) {
        let n = 2 + self.random.below(3);
        let (len, v) = (self.b.i64(n as i64), self.state_float());
        let mut array = self.b.op(Op::Fill, &[len, v])[0];
        for _ in 0..self.random.below(3) {
            array = self.small_update(array, n, None);
        }
        if !self.chance(4) {
            // Over all elements, a constant number of times, or as often as an integer says.
            let over = self.chance(3);
            let hi = match (over, self.chance(2)) {
                (true, _) => len,
                (_, true) => self.b.i64(1 + n as i64),
                _ => {
                    let i = self.int();
                    self.remainder(i.value, 4).value
                }
            };
            let outer = self.scope.clone();
            let values = self.b.open_block(&[(Type::I64, None), (Type::VECTOR, None)]);
            let mut next = values[1];
            for _ in 0..1 + self.random.below(3) {
                next = self.small_update(next, n, over.then_some(values[0]));
            }
            let body = self.b.close_block(vec![next]);
            self.scope = outer;
            let lo = self.b.i64(0);
            let args = vec![lo, hi, array];
            array = self.b.inst(Op::For, args, &[Type::VECTOR], vec![body])[0];
        }
        for _ in 0..1 + self.random.below(2) {
            let i = self.small_index(n, None);
            let v = self.b.load(array, i);
            self.see(v, Type::F64);
        }
        if self.chance(3) {
            self.see(array, Type::VECTOR);
        }
    }

    fn small_index(&mut self, n: u64, counter: Option<Value>) -> Value {
        match counter {
            Some(i) if self.chance(2) => i,
            _ => {
                let i = self.random.below(n) as i64;
                self.b.i64(i)
            }
        }
    }

    fn small_update(&mut self, array: Value, n: u64, counter: Option<Value>) -> Value {
        let (i, j) = (self.small_index(n, counter), self.small_index(n, counter));
        let (x, y) = (self.b.load(array, i), self.b.load(array, j));
        let c = self.float();
        let value = self.b.fma(x, c.value, y);
        let made = self.squash(Float { value, bound: STATE * c.bound + STATE }, STATE);
        let k = self.small_index(n, counter);
        self.b.store(array, k, made.value)
    }
}
