//! Random statements on whole arrays: element by element, slices, shapes, reductions, products, sorting.
//!
//! Elements stay within [`STATE`] and no axis is empty, so that every index can be brought in range.

use super::program::Generator;
use super::scalar::{Float, STATE};
use crate::arrays::{self, Range};
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{ArrayOp, Direction, Prim, Transposed};

/// A matrix of doubles.
pub(super) const MATRIX: Type = Type::Array(Elem::F64, 2);

/// The longest an axis may grow.
const LONGEST: i64 = 6;

/// What an array function makes of operands that fit it.
fn built(made: arrays::Made) -> Value {
    made.unwrap_or_else(|e| panic!("a generated program: {e}"))
}

impl Generator {
    /// One statement that makes or changes an array, or takes a number from one.
    pub(super) fn tensor(&mut self) {
        let Some(x) = self.any_array() else {
            let fresh = self.fresh_tensor(MATRIX);
            return self.see_array(fresh);
        };
        match self.random.below(13) {
            0..=2 => self.elementwise(x),
            12 => self.parallel_map(),
            3 => self.slice(x),
            4 | 5 => self.overwrite_slice(),
            6 => self.rearrange(x),
            7 => self.reduce(x),
            8 => self.scan(x),
            9 => self.product(x),
            10 => self.sorted(x),
            _ => self.grow(x),
        }
    }

    /// A new array of this type, not in sight yet.
    pub(super) fn fresh_tensor(&mut self, ty: Type) -> Value {
        let dims: Vec<Value> = (0..ty.rank())
            .map(|_| {
                let n = 1 + self.random.below(3) as i64;
                self.b.i64(n)
            })
            .collect();
        let v = self.state_float();
        let x = self.b.filled(&dims, v);
        // Elements that differ.
        let along = self.random.below(ty.rank() as u64) as u8;
        let sums = self.b.array(ArrayOp::CumSum(along, Direction::Forward), &[x]);
        self.tame(sums)
    }

    /// Elements within bounds again.
    fn tame(&mut self, x: Value) -> Value {
        let row = [Prim::Sin, Prim::Tanh, Prim::Cos][self.random.below(3) as usize];
        self.b.prim(row, &[x])
    }

    fn see_tamed(&mut self, x: Value) {
        let x = self.tame(x);
        self.see_array(x);
    }

    pub(super) fn see_array(&mut self, x: Value) {
        let ty = self.b.ty(x);
        self.see(x, ty);
    }

    fn elementwise(&mut self, x: Value) {
        let made = match self.random.below(8) {
            0 => self.b.mul(x, x),
            1 => {
                let s = self.state_float();
                self.b.mul(x, s)
            }
            2 => {
                let s = self.state_float();
                self.b.sub(s, x)
            }
            3 => {
                let (s, c) = (self.state_float(), self.state_float());
                let wave = self.b.prim(Prim::Cos, &[x]);
                let scaled = self.b.fma(x, s, c);
                self.b.mul(wave, scaled)
            }
            4 => {
                let square = self.b.mul(x, x);
                let half = self.b.f64(0.5);
                let divisor = self.b.add(square, half);
                let s = self.state_float();
                self.b.prim(Prim::Div, &[s, divisor])
            }
            5 => {
                let s = self.state_float();
                let wave = self.b.prim(Prim::Sin, &[x]);
                let less = self.b.prim(Prim::Lt, &[x, s]);
                self.b.select(less, wave, s)
            }
            6 => {
                let s = self.state_float();
                let row = [Prim::Max, Prim::Min][self.random.below(2) as usize];
                self.b.prim(row, &[x, s])
            }
            _ => {
                let e = self.b.prim(Prim::Exp, &[x]);
                let one = self.b.f64(1.0);
                let f = self.b.add(e, one);
                self.b.prim(Prim::Log, &[f])
            }
        };
        self.see_tamed(made);
    }

    /// A number of elements, at least one, of an axis with `n`.
    fn some_of(&mut self, n: Value) -> Value {
        let i = self.int();
        let one = self.b.i64(1);
        let r = self.b.prim(Prim::IMod, &[i.value, n]);
        self.b.prim(Prim::IAdd, &[r, one])
    }

    /// Where `count` elements can start on an axis with `n`.
    fn start_for(&mut self, n: Value, count: Value) -> Value {
        let i = self.int();
        let one = self.b.i64(1);
        let spare = self.b.prim(Prim::ISub, &[n, count]);
        let places = self.b.prim(Prim::IAdd, &[spare, one]);
        self.b.prim(Prim::IMod, &[i.value, places])
    }

    fn slice(&mut self, x: Value) {
        let made = if self.chance(3) {
            // As Python slices; cut to something, since it may come out empty.
            let step = [1, 2, -1, -2][self.random.below(4) as usize];
            let bound = |g: &mut Self| {
                let some = g.chance(2);
                some.then(|| g.int().value)
            };
            let range = Range { start: bound(self), stop: None, step: Some(step) };
            let part = built(arrays::read_slice(&mut self.b, x, &[range]));
            let whole = self.b.prim(Prim::Sin, &[x]);
            built(arrays::concatenate(&mut self.b, &[part, whole], 0))
        } else {
            let dims = self.b.dims(x);
            let mut args = vec![x];
            for n in dims {
                let count = self.some_of(n);
                let start = self.start_for(n, count);
                let one = self.b.i64(1);
                match self.random.below(4) {
                    0 => {
                        // The same elements, from the last.
                        let last = self.b.prim(Prim::IAdd, &[start, count]);
                        let last = self.b.prim(Prim::ISub, &[last, one]);
                        let back = self.b.i64(-1);
                        args.extend([last, count, back]);
                    }
                    1 => {
                        let none = self.b.i64(0);
                        args.extend([start, count, none]);
                    }
                    _ => args.extend([start, count, one]),
                }
            }
            self.b.array(ArrayOp::Slice, &args)
        };
        self.keep_short(made);
    }

    /// A slice of an array goes into another place of the same array: they may overlap.
    fn overwrite_slice(&mut self) {
        let Some(x) = self.take_any() else { return self.load_statement() };
        let dims = self.b.dims(x);
        let (mut from, mut to) = (vec![x], vec![x]);
        let one = self.b.i64(1);
        for n in dims {
            let count = self.some_of(n);
            let (a, b) = (self.start_for(n, count), self.start_for(n, count));
            from.extend([a, count, one]);
            to.extend([b, count, one]);
        }
        let read = self.b.array(ArrayOp::Slice, &from);
        let s = self.state_float();
        let scaled = self.b.mul(read, s);
        let v = self.tame(scaled);
        to.push(v);
        if self.chance(3) {
            let next = self.b.array(ArrayOp::AddSlice, &to);
            return self.see_tamed(next);
        }
        let next = self.b.array(ArrayOp::Put, &to);
        // What was read is used after it may have been overwritten.
        let used = self.b.mul(read, read);
        let value = self.b.array(ArrayOp::Sum(None), &[used]);
        let made = self.squash(Float { value, bound: 1e3 }, STATE);
        self.scope.floats.push(made);
        self.see_array(next);
    }

    fn rearrange(&mut self, x: Value) {
        let rank = self.b.ty(x).rank();
        let made = match self.random.below(4) {
            0 if rank > 1 => built(arrays::transpose(&mut self.b, x)),
            1 if rank < 3 => {
                let n = 1 + self.random.below(2) as i64;
                let n = self.b.i64(n);
                let axis = self.random.below(rank as u64 + 1) as u8;
                self.b.array(ArrayOp::Expand(axis), &[x, n])
            }
            2 if rank > 1 => {
                let dims = self.b.dims(x);
                let n = dims.into_iter().reduce(|n, d| self.b.prim(Prim::IMul, &[n, d]));
                match n {
                    Some(n) => self.b.array(ArrayOp::Reshape, &[x, n]),
                    None => return,
                }
            }
            _ => {
                let wave = self.b.prim(Prim::Sin, &[x]);
                built(arrays::concatenate(&mut self.b, &[x, wave], rank - 1))
            }
        };
        self.keep_short(made);
    }

    /// Sees an array, cut so that axes do not grow without end.
    fn keep_short(&mut self, x: Value) {
        let dims = self.b.dims(x);
        let mut args = vec![x];
        let (zero, one, most) = (self.b.i64(0), self.b.i64(1), self.b.i64(LONGEST));
        for n in dims {
            let n = self.b.prim(Prim::IMin, &[n, most]);
            args.extend([zero, n, one]);
        }
        let cut = self.b.array(ArrayOp::Slice, &args);
        self.see_array(cut);
    }

    fn reduce(&mut self, x: Value) {
        let rank = self.b.ty(x).rank();
        if rank > 1 && self.chance(2) {
            let axis = self.random.below(rank as u64) as usize;
            let made = match self.random.below(4) {
                0 => built(arrays::max(&mut self.b, x, Some(axis))),
                1 => built(arrays::prod(&mut self.b, x, Some(axis))),
                2 => built(arrays::norm(&mut self.b, x, Some(axis))),
                _ => built(arrays::sum(&mut self.b, x, Some(axis))),
            };
            return self.see_tamed(made);
        }
        let value = match self.random.below(6) {
            0 => built(arrays::sum(&mut self.b, x, None)),
            1 => built(arrays::mean(&mut self.b, x, None)),
            2 => built(arrays::max(&mut self.b, x, None)),
            3 => built(arrays::dot(&mut self.b, x, x)),
            4 => built(arrays::logsumexp(&mut self.b, x, None)),
            _ => {
                let wave = self.b.prim(Prim::Cos, &[x]);
                built(arrays::dot(&mut self.b, x, wave))
            }
        };
        let made = self.squash(Float { value, bound: 1e3 }, STATE);
        self.scope.floats.push(made);
    }

    fn scan(&mut self, x: Value) {
        let rank = self.b.ty(x).rank();
        let made = if rank == 1 && self.chance(3) {
            built(arrays::cumprod(&mut self.b, x, None))
        } else {
            let axis = self.random.below(rank as u64) as u8;
            let way = [Direction::Forward, Direction::Backward][self.random.below(2) as usize];
            self.b.array(ArrayOp::CumSum(axis, way), &[x])
        };
        self.see_tamed(made);
    }

    fn product(&mut self, x: Value) {
        use Transposed::{No, Yes};
        let zero = self.b.f64(0.0);
        let made = match self.b.ty(x).rank() {
            1 => {
                let wave = self.b.prim(Prim::Sin, &[x]);
                built(arrays::outer(&mut self.b, x, wave))
            }
            2 => {
                let dims = self.b.dims(x);
                let (m, n) = (dims[0], dims[1]);
                let wave = self.b.prim(Prim::Cos, &[x]);
                match self.random.below(4) {
                    0 => {
                        let c = self.b.filled(&[m, m], zero);
                        self.b.array(ArrayOp::Gemm(No, Yes), &[c, x, wave])
                    }
                    1 => {
                        let s = self.state_float();
                        let c = self.b.filled(&[n, n], s);
                        self.b.array(ArrayOp::Gemm(Yes, No), &[c, wave, x])
                    }
                    k => {
                        let (size, out, way) = if k == 2 { (n, m, No) } else { (m, n, Yes) };
                        let (s, t) = (self.state_float(), self.state_float());
                        let v = self.b.filled(&[size], s);
                        let c = self.b.filled(&[out], t);
                        self.b.array(ArrayOp::Gemm(way, No), &[c, x, v])
                    }
                }
            }
            _ => return self.elementwise(x),
        };
        self.see_tamed(made);
    }

    fn sorted(&mut self, x: Value) {
        if self.b.ty(x).rank() != 1 {
            return self.reduce(x);
        }
        let order = built(arrays::argsort(&mut self.b, x, None));
        let made = self.b.array(ArrayOp::Gather, &[x, order]);
        if self.chance(2) {
            let base = self.b.prim(Prim::Cos, &[x]);
            let sum = self.b.array(ArrayOp::ScatterAdd, &[base, order, made]);
            return self.see_tamed(sum);
        }
        self.see_array(made);
    }

    /// A vector of another length than the one it comes from.
    fn grow(&mut self, x: Value) {
        if self.b.ty(x).rank() != 1 {
            return self.slice(x);
        }
        let s = self.state_float();
        let one = self.b.i64(1);
        let tail = self.b.filled(&[one], s);
        let longer = built(arrays::concatenate(&mut self.b, &[x, tail], 0));
        self.keep_short(longer);
    }

    /// Takes an array of any rank over.
    fn take_any(&mut self) -> Option<Value> {
        self.take_where(|_| true)
    }

    /// An array of any rank to read.
    fn any_array(&mut self) -> Option<Value> {
        self.readable_where(|_| true)
    }

    /// An element of an array of any rank, wherever.
    pub(super) fn some_element(&mut self, x: Value) -> Value {
        if self.b.ty(x).rank() == 1 {
            let i = self.index(x);
            return self.b.load(x, i);
        }
        let dims = self.b.dims(x);
        let mut args = vec![x];
        for n in dims {
            let i = self.int();
            let at = self.b.prim(Prim::IMod, &[i.value, n]);
            args.push(at);
        }
        self.b.op(Op::Load, &args)[0]
    }
}
