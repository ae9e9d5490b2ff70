//! The loops of a group: one over positions, or one per axis where a part of an array is read in place.

use crate::ir::{Block, Elem, Func, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::Span;
use rustc_hash::FxHashMap as HashMap;

/// Appends instructions with one result.
pub(super) struct Emit<'a> {
    pub(super) func: &'a mut Func,
    pub(super) out: &'a mut Vec<Inst>,
    pub(super) span: Span,
}

impl Emit<'_> {
    pub(super) fn one(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let result = self.func.value(ty, None);
        let (results, blocks) = (vec![result], Vec::new());
        self.out.push(Inst { op, args, results, blocks, span: self.span });
        result
    }

    fn int(&mut self, prim: Prim, a: Value, b: Value) -> Value {
        self.one(Op::Prim(prim), vec![a, b], Type::I64)
    }

    /// The row-major position of some indices, each counted from a first one; `sizes` are those of all axes but the
    /// first. What an inner loop does not count is added up before.
    fn position(&mut self, indices: &[(Option<Value>, Value)], sizes: &[Value]) -> Value {
        let mut position: Option<Value> = None;
        for (axis, (first, i)) in indices.iter().enumerate() {
            let row = position.map(|at| self.int(Prim::WMul, at, sizes[axis - 1]));
            let before = match (row, *first) {
                (Some(row), Some(first)) => Some(self.int(Prim::WAdd, row, first)),
                (row, first) => row.or(first),
            };
            position = Some(before.map_or(*i, |before| self.int(Prim::WAdd, before, *i)));
        }
        position.unwrap_or_else(|| unreachable!("arrays have an axis"))
    }
}

/// A slice or expansion that is read where its elements come from.
pub(super) struct View {
    inst: Inst,
    /// The sizes of what it is a part of, but for the first axis.
    sizes: Vec<Value>,
}

impl View {
    pub(super) fn new(emit: &mut Emit, inst: Inst) -> View {
        let x = inst.args[0];
        let rest = 1..emit.func.ty(x).rank() as u8;
        let sizes = rest.map(|k| emit.one(Op::Dim(k), vec![x], Type::I64)).collect();
        View { inst, sizes }
    }

    /// The array to read, and the position of the element with these indices.
    fn place(&self, emit: &mut Emit, counters: &[Value]) -> (Value, Value) {
        let mut indices: Vec<(Option<Value>, Value)> =
            counters.iter().map(|i| (None, *i)).collect();
        if let Op::Array(ArrayOp::Expand(axis)) = self.inst.op {
            indices.remove(axis as usize);
        } else {
            for ((first, i), triple) in indices.iter_mut().zip(self.inst.args[1..].chunks(3)) {
                *first = Some(triple[0]);
                *i = emit.int(Prim::WMul, *i, triple[2]);
            }
        }
        (self.inst.args[0], emit.position(&indices, &self.sizes))
    }
}

/// What the loops do.
pub(super) struct Nest<'a> {
    pub(super) members: Vec<&'a Inst>,
    /// Members whose results are made.
    pub(super) outputs: &'a [Value],
    /// The operand each of them is written over.
    pub(super) taken: &'a [Option<Value>],
    pub(super) views: HashMap<Value, View>,
    /// How far each loop runs; one loop runs over positions.
    pub(super) bounds: Vec<Value>,
    pub(super) span: Span,
}

impl Nest<'_> {
    /// The loop inside of those with these counters.
    pub(super) fn level(
        &self,
        func: &mut Func,
        counters: &mut Vec<Value>,
        inits: &[Value],
    ) -> Inst {
        let counter = func.value(Type::I64, None);
        let named = |func: &mut Func, o: &Value| func.value(func.ty(*o), func.name_of(*o));
        let carries: Vec<Value> = self.outputs.iter().map(|o| named(func, o)).collect();
        let results = self.outputs.iter().map(|o| func.value(func.ty(*o), None)).collect();
        let bound = self.bounds[counters.len()];
        counters.push(counter);
        let (insts, yields) = if counters.len() == self.bounds.len() {
            self.innermost(func, counters, &carries)
        } else {
            let inner = self.level(func, counters, &carries);
            let yields = inner.results.clone();
            (vec![inner], yields)
        };
        counters.pop();
        let body = Block {
            params: [&[counter], &carries[..]].concat(),
            insts,
            yields,
            ..Block::default()
        };
        let start = func.constant(Scalar::I64(0));
        let args = [&[start, bound], inits].concat();
        Inst { op: Op::For, args, results, blocks: vec![body], span: self.span }
    }

    /// Elements are read once; results are written at their position.
    fn innermost(
        &self,
        func: &mut Func,
        counters: &[Value],
        carries: &[Value],
    ) -> (Vec<Inst>, Vec<Value>) {
        let mut insts = Vec::new();
        let mut emit = Emit { func, out: &mut insts, span: self.span };
        let indices: Vec<(Option<Value>, Value)> = counters.iter().map(|i| (None, *i)).collect();
        let k = emit.position(&indices, &self.bounds[1..]);
        let mut element: HashMap<Value, Value> = HashMap::default();
        for m in &self.members {
            emit.span = m.span;
            let mut args = Vec::new();
            for a in &m.args {
                let Type::Array(elem, _) = emit.func.ty(*a) else {
                    args.push(*a);
                    continue;
                };
                args.push(*element.entry(*a).or_insert_with(|| {
                    // What is overwritten is read through the version the loop carries.
                    let over = self.taken.iter().position(|t| *t == Some(*a));
                    let (from, at) = match (self.views.get(a), over) {
                        (Some(view), _) => view.place(&mut emit, counters),
                        (None, Some(carry)) => (carries[carry], k),
                        (None, None) => (*a, k),
                    };
                    emit.one(Op::Array(ArrayOp::Peek), vec![from, at], elem.scalar())
                }));
            }
            let elem = emit.func.ty(m.results[0]).elem().unwrap_or(Elem::F64);
            let value = emit.one(m.op.clone(), args, elem.scalar());
            element.insert(m.results[0], value);
        }
        let mut yields = Vec::new();
        for (o, carry) in self.outputs.iter().zip(carries) {
            let maker = self.members.iter().find(|m| m.results[0] == *o);
            emit.span = maker.map_or(self.span, |m| m.span);
            let ty = emit.func.ty(*o);
            yields.push(emit.one(Op::Array(ArrayOp::Poke), vec![*carry, k, element[o]], ty));
        }
        (insts, yields)
    }
}
