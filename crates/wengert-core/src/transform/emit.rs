//! The rule table, evaluated into IR: partials become instructions.

use crate::ir::{Builder, Elem, Value};
use crate::ops::{Partial, Prim, Real};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The partials of a row as values of the function under construction.
///
/// Expressions are appended whether or not their partial is used; what is not is dead code.
pub fn partials(b: &mut Builder, prim: Prim, inputs: &[Value], y: Value) -> Vec<Partial<Value>> {
    let cell = RefCell::new(b);
    let emit = |v: Value| Emit { b: &cell, v };
    let inputs: Vec<Emit> = inputs.iter().map(|v| emit(*v)).collect();
    let partials = prim.partials(&inputs, emit(y));
    let plain = partials.into_iter().map(|p| match p {
        Partial::Const(c) => Partial::Const(c),
        Partial::Of(e) => Partial::Of(e.v),
    });
    plain.collect()
}

/// `partial * d`, added to `sum` where there is one: the one way derivatives are accumulated.
pub fn accumulate(b: &mut Builder, partial: Partial<Value>, d: Value, sum: Option<Value>) -> Value {
    match (partial, sum) {
        (Partial::Const(1.0), None) => d,
        (Partial::Const(1.0), Some(sum)) => b.add(sum, d),
        (Partial::Const(-1.0), None) => b.neg(d),
        (Partial::Const(-1.0), Some(sum)) => b.sub(sum, d),
        (Partial::Const(c), sum) => {
            let c = b.float(b.ty(d).elem().unwrap_or(Elem::F64), c);
            accumulate(b, Partial::Of(c), d, sum)
        }
        (Partial::Of(p), None) => b.mul(p, d),
        (Partial::Of(p), Some(sum)) => b.fma(p, d, sum),
    }
}

/// A value that appends an instruction for every operator applied to it.
#[derive(Clone, Copy)]
struct Emit<'a, 'b> {
    b: &'a RefCell<&'b mut Builder>,
    v: Value,
}

impl Emit<'_, '_> {
    fn prim(self, prim: Prim, args: &[Value]) -> Self {
        Emit { v: self.b.borrow_mut().prim(prim, args), ..self }
    }

    fn constant(self, c: f64) -> Value {
        let mut b = self.b.borrow_mut();
        let elem = b.ty(self.v).elem().unwrap_or(Elem::F64);
        b.float(elem, c)
    }
}

macro_rules! emit_op {
    ($($trait:ident $method:ident $prim:ident),*) => {$(
        impl $trait for Emit<'_, '_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.prim(Prim::$prim, &[self.v, other.v])
            }
        }
        impl $trait<f64> for Emit<'_, '_> {
            type Output = Self;
            fn $method(self, c: f64) -> Self {
                let c = self.constant(c);
                self.prim(Prim::$prim, &[self.v, c])
            }
        }
        impl<'a, 'b> $trait<Emit<'a, 'b>> for f64 {
            type Output = Emit<'a, 'b>;
            fn $method(self, other: Emit<'a, 'b>) -> Emit<'a, 'b> {
                let c = other.constant(self);
                other.prim(Prim::$prim, &[c, other.v])
            }
        }
    )*};
}
emit_op!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);

impl Neg for Emit<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.prim(Prim::Neg, &[self.v])
    }
}

impl Real for Emit<'_, '_> {
    fn sqrt(self) -> Self {
        self.prim(Prim::Sqrt, &[self.v])
    }
    fn exp(self) -> Self {
        self.prim(Prim::Exp, &[self.v])
    }
    fn log(self) -> Self {
        self.prim(Prim::Log, &[self.v])
    }
    fn sin(self) -> Self {
        self.prim(Prim::Sin, &[self.v])
    }
    fn cos(self) -> Self {
        self.prim(Prim::Cos, &[self.v])
    }
    fn less(self, other: Self) -> Self {
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        let c = self.prim(Prim::Lt, &[self.v, other.v]);
        self.prim(Prim::Select, &[c.v, one, zero])
    }
    fn recip_of(self, c: f64) -> Self {
        c / self
    }
    fn sign(self) -> Self {
        let (one, zero, minus) = (self.constant(1.0), self.constant(0.0), self.constant(-1.0));
        let negative = self.prim(Prim::Lt, &[self.v, zero]);
        let below = self.prim(Prim::Select, &[negative.v, minus, zero]);
        let positive = self.prim(Prim::Gt, &[self.v, zero]);
        self.prim(Prim::Select, &[positive.v, one, below.v])
    }
}
