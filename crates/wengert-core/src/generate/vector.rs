//! Random statements on vectors, element by element: loads, stores, and the traps between them.

use super::program::Generator;
use super::scalar::{Float, STATE};
use crate::ir::{Op, Type, Value};
use crate::ops::Prim;

impl Generator {
    /// An index that is in range of an array.
    pub(super) fn index(&mut self, array: Value) -> Value {
        let known: Vec<Value> = self
            .scope
            .element_of
            .iter()
            .filter(|(_, of)| *of == array)
            .map(|(counter, _)| *counter)
            .collect();
        if !known.is_empty() && self.chance(2) {
            return known[self.random.below(known.len() as u64) as usize];
        }
        let n = self.b.op(Op::Len, &[array])[0];
        let i = self.int();
        self.b.prim(Prim::IMod, &[i.value, n])
    }

    /// A vector to read.
    pub(super) fn readable(&mut self) -> Option<Value> {
        self.readable_where(|ty| ty == Type::VECTOR)
    }

    /// An array of such a type to read.
    pub(super) fn readable_where(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let arrays = self.scope.arrays.iter().map(|a| a.value);
        let found: Vec<Value> = arrays.filter(|v| fits(self.b.ty(*v))).collect();
        if found.is_empty() {
            return None;
        }
        let k = self.recent(found.len());
        Some(found[k])
    }

    /// A vector to take over; it is no longer in sight.
    pub(super) fn take_array(&mut self) -> Option<Value> {
        self.take_where(|ty| ty == Type::VECTOR)
    }

    /// An array of such a type to take over.
    pub(super) fn take_where(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let arrays = self.scope.arrays.iter().enumerate();
        let owned: Vec<usize> =
            arrays.filter(|(_, a)| a.owned && fits(self.b.ty(a.value))).map(|(k, _)| k).collect();
        if owned.is_empty() {
            return None;
        }
        let k = owned[self.recent(owned.len())];
        Some(self.scope.arrays.remove(k).value)
    }

    /// An array to hand on: one in sight, changed or not, or a fresh one.
    pub(super) fn hand_on_array(&mut self) -> Value {
        let taken = if self.chance(6) { None } else { self.take_array() };
        match taken {
            Some(array) => array,
            None => self.fresh_array(),
        }
    }

    /// A new array, not in sight yet.
    pub(super) fn fresh_array(&mut self) -> Value {
        if self.chance(2)
            && let Some(array) = self.readable()
        {
            return self.b.op(Op::Copy, &[array])[0];
        }
        let v = self.state_float();
        let n = if self.chance(2) {
            let i = self.int();
            let r = self.remainder(i.value, 3);
            let one = self.b.i64(1);
            self.b.prim(Prim::IAdd, &[r.value, one])
        } else {
            let n = 1 + self.random.below(4) as i64;
            self.b.i64(n)
        };
        self.b.op(Op::Fill, &[n, v])[0]
    }

    pub(super) fn load_statement(&mut self) {
        if let Some(array) = self.readable() {
            let i = self.index(array);
            let v = self.b.load(array, i);
            self.see(v, Type::F64);
        } else {
            self.float_expression();
        }
    }

    pub(super) fn store_statement(&mut self) {
        if let Some(array) = self.take_array() {
            let i = self.index(array);
            if self.chance(2) {
                self.float_expression();
            }
            let v = self.state_float();
            let next = self.b.store(array, i, v);
            self.see(next, Type::VECTOR);
        } else {
            self.float_expression();
        }
    }

    /// The trap: an element is read, overwritten (or not: the indices meet at run time) and used after.
    pub(super) fn overwrite(&mut self) {
        let Some(array) = self.take_array() else {
            return self.load_statement();
        };
        let j = self.index(array);
        let a = self.b.load(array, j);
        let i = if self.chance(2) { j } else { self.index(array) };
        let c = self.state_float();
        let v = if self.chance(2) {
            let c = Float { value: c, bound: STATE };
            let product = Float { value: self.b.mul(a, c.value), bound: STATE * STATE };
            self.squash(product, STATE).value
        } else {
            c
        };
        let next = self.b.store(array, i, v);
        let prim = [Prim::Sin, Prim::Cos, Prim::Tanh][self.random.below(3) as usize];
        let used = if self.chance(4) { self.b.mul(a, a) } else { self.b.prim(prim, &[a]) };
        let bound = STATE * STATE;
        self.scope.floats.push(Float { value: used, bound });
        self.scope.floats.push(Float { value: a, bound: STATE });
        self.see(next, Type::VECTOR);
    }

    /// Several elements read, one written: what makes taking an array back cheaper than saving loads.
    pub(super) fn stencil(&mut self) {
        let Some(array) = self.take_array() else {
            return self.load_statement();
        };
        let loads: Vec<Value> = (0..2 + self.random.below(3))
            .map(|_| {
                let i = self.index(array);
                self.b.load(array, i)
            })
            .collect();
        let mut sum = self.float().value;
        for pair in loads.windows(2) {
            let smooth = self.b.prim(Prim::Sin, &[pair[0]]);
            let product = self.b.mul(smooth, pair[1]);
            sum = self.b.fma(product, pair[0], sum);
        }
        let made = self.squash(Float { value: sum, bound: 16.0 + 2.0 * STATE }, STATE);
        self.scope.floats.push(made);
        let v = if self.chance(4) { self.state_float() } else { made.value };
        let i = self.index(array);
        let next = self.b.store(array, i, v);
        self.see(next, Type::VECTOR);
    }
}
