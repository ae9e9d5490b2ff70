//! Random scalar expressions whose values stay tame.
//!
//! Every float comes with a bound on its size. An expression that would exceed [`LIMIT`] is squashed,
//! so no program overflows, divides by zero or leaves the domain of a function, whatever its loops do.

use super::program::Generator;
use crate::ir::Value;
use crate::ops::Prim;

/// Largest size of a float before it is squashed.
const LIMIT: f64 = 4.0;

/// Largest size of what arrays and carries hold.
pub(super) const STATE: f64 = 2.0;

/// Largest size of an integer before its remainder is taken.
const INT_LIMIT: i64 = 50;

/// A float and a bound on its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Float {
    pub(super) value: Value,
    pub(super) bound: f64,
}

/// An integer and a bound on its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Int {
    pub(super) value: Value,
    pub(super) bound: i64,
}

impl Generator {
    /// A float in sight, mostly a recent one.
    pub(super) fn float(&mut self) -> Float {
        if self.scope.floats.is_empty() || self.chance(8) {
            let c = [0.0, 1.0, -1.0, 0.5, 2.0, -0.25, 1.5, 0.7][self.random.below(8) as usize];
            return Float { value: self.b.f64(c), bound: f64::abs(c) };
        }
        let n = self.scope.floats.len();
        let k = self.recent(n);
        self.scope.floats[k]
    }

    /// A float that is small enough to be kept in a carry or an array.
    pub(super) fn state_float(&mut self) -> Value {
        let x = self.float();
        self.squash(x, STATE).value
    }

    pub(super) fn squash(&mut self, x: Float, limit: f64) -> Float {
        if x.bound <= limit {
            return x;
        }
        let (value, bound) = match self.random.below(4) {
            0 => (self.b.prim(Prim::Tanh, &[x.value]), 1.0),
            1 => (self.b.prim(Prim::Sin, &[x.value]), 1.0),
            2 => {
                let size = self.b.prim(Prim::Abs, &[x.value]);
                let one = self.b.f64(1.0);
                let size = self.b.add(size, one);
                (self.b.prim(Prim::Div, &[x.value, size]), 1.0)
            }
            _ => {
                let c = self.b.f64(0.25);
                let quarter = self.b.mul(x.value, c);
                (quarter, 0.25 * x.bound)
            }
        };
        self.squash(Float { value, bound }, limit)
    }

    /// Appends a float expression and puts it in sight.
    pub(super) fn float_expression(&mut self) -> Float {
        let made = self.float_operation();
        let made = self.squash(made, LIMIT);
        self.scope.floats.push(made);
        made
    }

    fn float_operation(&mut self) -> Float {
        let (a, c) = (self.float(), self.float());
        let one = self.b.f64(1.0);
        let (value, bound) = match self.random.below(25) {
            0 | 1 => (self.b.add(a.value, c.value), a.bound + c.bound),
            2 => (self.b.sub(a.value, c.value), a.bound + c.bound),
            3..=5 => (self.b.mul(a.value, c.value), a.bound * c.bound),
            6 => {
                let d = self.float();
                (self.b.fma(a.value, c.value, d.value), a.bound * c.bound + d.bound)
            }
            7 => {
                let square = self.b.mul(c.value, c.value);
                let half = self.b.f64(0.5);
                let divisor = self.b.add(square, half);
                (self.b.prim(Prim::Div, &[a.value, divisor]), 2.0 * a.bound)
            }
            8 => {
                let prim = [Prim::Min, Prim::Max][self.random.below(2) as usize];
                (self.b.prim(prim, &[a.value, c.value]), a.bound.max(c.bound))
            }
            9 => (self.b.prim(Prim::Abs, &[a.value]), a.bound),
            10 => (self.b.neg(a.value), a.bound),
            11 | 12 => {
                let condition = self.bool();
                (self.b.select(condition, a.value, c.value), a.bound.max(c.bound))
            }
            13 | 14 => (self.b.prim(Prim::Sin, &[a.value]), 1.0),
            15 => (self.b.prim(Prim::Cos, &[a.value]), 1.0),
            16 => (self.b.prim(Prim::Tanh, &[a.value]), 1.0),
            17 => {
                let small = self.b.prim(Prim::Tanh, &[a.value]);
                (self.b.prim(Prim::Exp, &[small]), std::f64::consts::E)
            }
            18 => {
                let more = self.b.fma(a.value, a.value, one);
                (self.b.prim(Prim::Log, &[more]), (1.0 + a.bound * a.bound).ln())
            }
            19 => {
                let more = self.b.fma(a.value, a.value, one);
                (self.b.prim(Prim::Sqrt, &[more]), 1.0 + a.bound)
            }
            20..=22 => self.elementary(a, c),
            23 => {
                let i = self.int();
                let f = self.b.prim(Prim::IToF, &[i.value]);
                let tenth = self.b.f64(0.1);
                (self.b.mul(f, tenth), 0.1 * i.bound as f64)
            }
            _ => {
                let prim = [Prim::Floor, Prim::Round][self.random.below(2) as usize];
                let step = self.b.prim(prim, &[a.value]);
                (self.b.add(step, c.value), a.bound + 1.0 + c.bound)
            }
        };
        Float { value, bound }
    }

    /// One of the many functions: of what lies in its domain, with a bound on its value.
    fn elementary(&mut self, a: Float, c: Float) -> (Value, f64) {
        use Prim::*;
        let bound = a.bound;
        // Functions of any number.
        let anywhere = [
            (Atan, 1.6),
            (Asinh, 1.0 + bound),
            (Erf, 1.0),
            (Erfc, 2.0),
            (NormCdf, 1.0),
            (Sigmoid, 1.0),
            (Softplus, 1.0 + bound),
            (Relu, bound),
        ];
        // Functions of a number between 0.1 and 0.9.
        let between = [
            (Asin, 1.2),
            (Acos, 1.6),
            (Atanh, 1.5),
            (NormInv, 1.3),
            (Tan, 1.3),
            (Expm1, 1.5),
            (Exp2, 1.9),
            (Log1p, 1.0),
            (Log2, 3.4),
            (Log10, 1.0),
            (LGamma, 2.3),
            (Sinh, 1.1),
            (Cosh, 1.5),
            (Cbrt, 1.0),
        ];
        let pair = [a.value, c.value];
        match self.random.below(6) {
            0 | 1 => {
                let (row, bound) = anywhere[self.random.below(anywhere.len() as u64) as usize];
                (self.b.prim(row, &[a.value]), bound)
            }
            2 | 3 => {
                let (row, bound) = between[self.random.below(between.len() as u64) as usize];
                let x = self.between(a.value);
                (self.b.prim(row, &[x]), bound)
            }
            4 => match self.random.below(3) {
                0 => (self.b.prim(Atan2, &pair), 3.2),
                1 => (self.b.prim(Hypot, &pair), a.bound + c.bound),
                _ => (self.b.prim(LogAddExp, &pair), a.bound + c.bound + 1.0),
            },
            _ => {
                let x = self.between(a.value);
                match self.random.below(3) {
                    0 => {
                        let y = self.b.prim(Tanh, &[c.value]);
                        (self.b.prim(Pow, &[x, y]), 10.0)
                    }
                    1 => {
                        let n = self.int();
                        let n = self.remainder(n.value, 3);
                        (self.b.prim(PowI, &[x, n.value]), 1.0)
                    }
                    _ => {
                        let n = self.int();
                        let n = self.remainder(n.value, 2);
                        let one = self.b.f64(1.0);
                        let x = self.b.add(x, one);
                        (self.b.prim(PolyGamma, &[n.value, x]), 2.0)
                    }
                }
            }
        }
    }

    /// A number between 0.1 and 0.9 that depends on this one.
    fn between(&mut self, x: Value) -> Value {
        let wave = self.b.prim(Prim::Sin, &[x]);
        let (width, middle) = (self.b.f64(0.4), self.b.f64(0.5));
        self.b.fma(wave, width, middle)
    }

    /// An integer in sight.
    pub(super) fn int(&mut self) -> Int {
        if self.scope.ints.is_empty() || self.chance(4) {
            let c = self.random.below(5) as i64;
            return Int { value: self.b.i64(c), bound: c };
        }
        let n = self.scope.ints.len();
        let k = self.recent(n);
        self.scope.ints[k]
    }

    /// Appends an integer expression and puts it in sight.
    pub(super) fn int_expression(&mut self) -> Int {
        let (a, c) = (self.int(), self.int());
        let both = [a.value, c.value];
        let (value, bound) = match self.random.below(8) {
            0 => (self.b.prim(Prim::IAdd, &both), a.bound + c.bound),
            1 => (self.b.prim(Prim::ISub, &both), a.bound + c.bound),
            2 => (self.b.prim(Prim::IMul, &both), a.bound * c.bound),
            3 => (self.b.prim(Prim::IMin, &both), a.bound.max(c.bound)),
            4 => (self.b.prim(Prim::IMax, &both), a.bound.max(c.bound)),
            5 => {
                let condition = self.bool();
                (self.b.select(condition, a.value, c.value), a.bound.max(c.bound))
            }
            6 => {
                let two = self.b.i64(2);
                (self.b.prim(Prim::IDiv, &[a.value, two]), a.bound)
            }
            _ => {
                let x = self.float();
                let three = self.b.f64(3.0);
                let wide = self.b.mul(x.value, three);
                (self.b.prim(Prim::FToI, &[wide]), 1 + (3.0 * x.bound) as i64)
            }
        };
        let made = if bound > INT_LIMIT { self.remainder(value, 7) } else { Int { value, bound } };
        self.scope.ints.push(made);
        made
    }

    /// `value mod n`, which is in `0..n`.
    pub(super) fn remainder(&mut self, value: Value, n: i64) -> Int {
        let divisor = self.b.i64(n);
        Int { value: self.b.prim(Prim::IMod, &[value, divisor]), bound: n - 1 }
    }

    /// A truth value: one in sight, or a new one.
    pub(super) fn bool(&mut self) -> Value {
        if !self.scope.bools.is_empty() && self.chance(2) {
            let n = self.scope.bools.len();
            let k = self.recent(n);
            return self.scope.bools[k];
        }
        self.bool_expression()
    }

    /// Appends a truth value and puts it in sight.
    pub(super) fn bool_expression(&mut self) -> Value {
        let made = match self.random.below(8) {
            0..=4 => self.float_comparison(),
            5 | 6 => {
                let prims = [Prim::ILt, Prim::ILe, Prim::IGt, Prim::IGe, Prim::IEq, Prim::INe];
                let (a, c) = (self.int(), self.int());
                let prim = prims[self.random.below(6) as usize];
                self.b.prim(prim, &[a.value, c.value])
            }
            _ if self.scope.bools.is_empty() => self.float_comparison(),
            _ => {
                let n = self.scope.bools.len();
                let (i, j) = (self.recent(n), self.recent(n));
                let (a, c) = (self.scope.bools[i], self.scope.bools[j]);
                match self.random.below(3) {
                    0 => self.b.prim(Prim::And, &[a, c]),
                    1 => self.b.prim(Prim::Or, &[a, c]),
                    _ => self.b.prim(Prim::Not, &[a]),
                }
            }
        };
        self.scope.bools.push(made);
        made
    }

    /// A condition on floats: what makes exits and branches depend on the data.
    pub(super) fn float_comparison(&mut self) -> Value {
        let prims = [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Ne, Prim::Lt, Prim::Gt];
        let prim = prims[self.random.below(7) as usize];
        let (a, c) = (self.float(), self.float());
        self.b.prim(prim, &[a.value, c.value])
    }
}
