//! Outer products of a loop, applied together.
//!
//! The gradient of a weight matrix is a sum of outer products, one per iteration: `gemm C, y, x` reads and
//! writes all of `C` each time. Where a loop changes a matrix it carries in no other way, the vectors are
//! kept as rows of two blocks, and the product of the blocks is added once they are full and after
//! the loop. Every element is a chain of fused multiply-adds in the order of iterations either way, so
//! no bit changes. Shapes that do not fit are reported where the product stood.

use crate::ir::{Block, Elem, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Check, Prim, Scalar, Transposed};
use crate::span::Span;
use rustc_hash::FxHashMap as HashMap;

/// How many outer products are applied at once.
pub const ROWS: i64 = 32;

/// A matrix known to have at most this many elements is not worth it.
const SMALL: i64 = 256;

/// The function with outer products applied in blocks.
pub fn products(from: &Func) -> Func {
    let mut func = from.clone();
    let mut body = std::mem::take(&mut func.body);
    let small = small_fills(from);
    block(&mut func, &mut body, &small);
    func.body = body;
    func
}

/// Arrays made with few elements.
fn small_fills(func: &Func) -> Vec<Value> {
    let mut small = Vec::new();
    func.body.walk(&mut |inst| {
        if inst.op == Op::Fill {
            let dims = inst.args[..inst.args.len() - 1].iter().map(|d| match func.as_const(*d) {
                Some(Scalar::I64(n)) => n,
                _ => i64::MAX,
            });
            if dims.fold(1, i64::saturating_mul) <= SMALL {
                small.extend(&inst.results);
            }
        }
    });
    small
}

fn block(func: &mut Func, block_: &mut Block, small: &[Value]) {
    let insts = std::mem::take(&mut block_.insts);
    for mut inst in insts {
        inst.blocks.iter_mut().for_each(|b| block(func, b, small));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if matches!(inst.op, Op::For | Op::While) {
            for carry in 0..inst.results.len() {
                let init = inst.args[inst.args.len() - inst.results.len() + carry];
                if !small.contains(&init)
                    && let Some(at) = find(func, &inst, carry)
                {
                    defer(func, &mut inst, carry, at, &mut before, &mut after);
                }
            }
        }
        block_.insts.append(&mut before);
        block_.insts.push(inst);
        block_.insts.append(&mut after);
    }
}

/// The place of the one outer product that changes a carried matrix, where nothing else touches it.
fn find(func: &Func, inst: &Inst, carry: usize) -> Option<usize> {
    let body = &inst.blocks[0];
    let c = body.params[carry + 1];
    let at = body.insts.iter().position(|i| {
        matches!(i.op, Op::Array(ArrayOp::Gemm(..)))
            && i.args[0] == c
            && i.args[1..].iter().all(|a| func.ty(*a).rank() == 1)
            && i.results[0] == body.yields[carry]
            && func.ty(c).rank() == 2
    })?;
    let next = body.yields[carry];
    // Besides the product and the hand-over, only exits may name it: as what it is at their place.
    let exits = body.insts.iter().enumerate().filter(|(_, i)| i.op == Op::ExitIf);
    let mut leaving = [0, 0];
    for (place, exit) in exits {
        let current = usize::from(place > at);
        if exit.blocks[0].yields[carry] != [c, next][current] {
            return None;
        }
        leaving[current] += 1;
    }
    let counts = uses::counts(body);
    let used = |v: Value| counts.get(&v).copied().unwrap_or(0);
    (used(c) == 1 + leaving[0] && used(next) == 1 + leaving[1]).then_some(at)
}

/// Appends instructions.
struct Emit<'a> {
    func: &'a mut Func,
    insts: Vec<Inst>,
    span: Span,
}

impl Emit<'_> {
    fn one(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.all(op, args, &[ty], Vec::new())[0]
    }

    fn all(&mut self, op: Op, args: &[Value], types: &[Type], blocks: Vec<Block>) -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|t| self.func.value(*t, None)).collect();
        let (args, span) = (args.to_vec(), self.span);
        self.insts.push(Inst { op, args, results: results.clone(), blocks, span });
        results
    }

    fn int(&mut self, n: i64) -> Value {
        self.func.constant(Scalar::I64(n))
    }

    /// A block with `y` as its row number `count`.
    fn with_row(&mut self, block: Value, count: Value, y: Value, n: Value) -> Value {
        let ty = self.func.ty(block);
        let start = self.one(Op::Prim(Prim::WMul), &[count, n], Type::I64);
        let [j, carried] = [Type::I64, ty].map(|t| self.func.value(t, None));
        let outer = std::mem::take(&mut self.insts);
        let elem = ty.elem().unwrap_or(Elem::F64);
        let v = self.one(Op::Array(ArrayOp::Peek), &[y, j], elem.scalar());
        let at = self.one(Op::Prim(Prim::WAdd), &[start, j], Type::I64);
        let next = self.one(Op::Array(ArrayOp::Poke), &[carried, at, v], ty);
        let insts = std::mem::replace(&mut self.insts, outer);
        let body =
            Block { params: vec![j, carried], insts, yields: vec![next], ..Block::default() };
        let zero = self.int(0);
        self.all(Op::For, &[zero, n, block], &[ty], vec![body])[0]
    }

    /// `C` plus the product of the first `rows` rows of the blocks.
    fn apply(&mut self, c: Value, blocks: [Value; 2], sizes: [Value; 2], rows: Value) -> Value {
        let (zero, one) = (self.int(0), self.int(1));
        let ty = self.func.ty(c);
        let mut factors = vec![c];
        for (x, n) in blocks.into_iter().zip(sizes) {
            let whole = self.func.as_const(rows).is_some();
            let section = [x, zero, rows, one, zero, n, one];
            let slice = Op::Array(ArrayOp::Slice);
            factors.push(if whole { x } else { self.one(slice, &section, ty) });
        }
        let gemm = ArrayOp::Gemm(Transposed::Yes, Transposed::No);
        self.one(Op::Array(gemm), &factors, ty)
    }
}

fn defer(
    func: &mut Func,
    inst: &mut Inst,
    carry: usize,
    at: usize,
    before: &mut Vec<Inst>,
    after: &mut Vec<Inst>,
) {
    let init = inst.args[inst.args.len() - inst.results.len() + carry];
    let matrix = func.ty(init);
    let product = inst.blocks[0].insts.remove(at);
    let (c, next) = (product.args[0], product.results[0]);
    let span = product.span;

    // Before the loop: two empty blocks.
    let mut emit = Emit { func, insts: Vec::new(), span };
    let rows = emit.int(ROWS);
    let (zero, one) = (emit.int(0), emit.int(1));
    let blank = match matrix.elem() {
        Some(Elem::F32) => Scalar::F32(0.0),
        _ => Scalar::F64(0.0),
    };
    let blank = emit.func.constant(blank);
    let sizes = [0, 1].map(|k| emit.one(Op::Dim(k), &[init], Type::I64));
    let blocks = sizes.map(|n| emit.one(Op::Fill, &[rows, n, blank], matrix));
    before.append(&mut emit.insts);

    // In the loop: the vectors become rows; full blocks are applied.
    let params = [matrix, matrix, Type::I64].map(|t| emit.func.value(t, None));
    let count = params[2];
    let check = [c, product.args[1], product.args[2]];
    emit.all(Op::Array(ArrayOp::Conform(Check::Gemm)), &check, &[], Vec::new());
    let mut filled = [params[0], params[1]];
    for k in 0..2 {
        filled[k] = emit.with_row(filled[k], count, product.args[k + 1], sizes[k]);
    }
    let counted = emit.one(Op::Prim(Prim::WAdd), &[count, one], Type::I64);
    let full = emit.one(Op::Prim(Prim::IEq), &[counted, rows], Type::Bool);
    let outer = std::mem::take(&mut emit.insts);
    let applied = emit.apply(c, filled, sizes, rows);
    let apply = std::mem::replace(&mut emit.insts, outer);
    let then = Block { insts: apply, yields: vec![applied, zero], ..Block::default() };
    let wait = Block { yields: vec![c, counted], ..Block::default() };
    let state = emit.all(Op::If, &[full], &[matrix, Type::I64], vec![then, wait]);
    let body = &mut inst.blocks[0];
    let added = emit.insts.len();
    body.insts.splice(at..at, std::mem::take(&mut emit.insts));
    let old = params;
    let new = [filled[0], filled[1], state[1]];
    for (place, exit) in body.insts.iter_mut().enumerate().filter(|(_, i)| i.op == Op::ExitIf) {
        exit.blocks[0].yields.extend(if place >= at + added { new } else { old });
    }
    body.params.extend(params);
    body.yields.extend(new);
    super::carries::rename_inside(body, &HashMap::from_iter([(next, state[0])]));

    // After the loop: what is left over.
    inst.args.extend([blocks[0], blocks[1], zero]);
    let ends = [matrix, matrix, Type::I64].map(|t| emit.func.value(t, None));
    inst.results.extend(ends);
    let unfinished = emit.func.value(matrix, None);
    let result = std::mem::replace(&mut inst.results[carry], unfinished);
    let applied = emit.apply(unfinished, [ends[0], ends[1]], sizes, ends[2]);
    if let Some(last) = emit.insts.last_mut() {
        debug_assert_eq!(last.results, [applied]);
        last.results = vec![result];
    }
    after.append(&mut emit.insts);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;

    #[test]
    fn every_number_of_iterations_gives_the_same_bits() {
        let text = "func @f(%c: [[f64]], %y: [f64], %x: [f64], %n: i64) -> ([[f64]], [f64]) {
           %y0 = copy %y
           %r, %e = for %i in 0..%n carry (%c1 = %c, %y1 = %y0) {
             %c2 = gemm %c1, %y1, %x
             %f = itof %i
             %y2 = store %y1, 0, %f
             yield %c2, %y2
           }
           return %r, %e
         }";
        for n in [0, 1, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS, 3 * ROWS + 5] {
            let args = [array(&[3, 4]), array(&[3]), array(&[4]), Val::i64(n)];
            let func = same(text, products, &args);
            assert_eq!(count(&func, |op| matches!(op, Op::Array(ArrayOp::Gemm(..)))), 2, "{func}");
        }
    }
}
