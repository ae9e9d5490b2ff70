//! Operations on arrays in the place of loops.

use super::find::{Columns, Matrix, Plan, Rows, Stores};
use super::look::Look;
use crate::ir::{Block, Builder, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar, Transposed};
use crate::transform::copy::Copier;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::Arc;

/// A counter: where it begins, and how many values it takes.
#[derive(Clone, Copy)]
struct Axis {
    start: Value,
    count: Value,
}

/// Puts operations on arrays in the place of one loop.
pub(super) struct Make<'a, 'l> {
    pub(super) look: &'a Look<'l>,
    pub(super) copier: &'a mut Copier,
    pub(super) b: &'a mut Builder,
    pub(super) inst: &'a Inst,
    axes: HashMap<Value, Axis>,
    made: HashMap<(Value, Vec<Value>), Vector>,
}

/// A number or an array of numbers.
#[derive(Clone, Copy)]
struct Vector {
    v: Value,
    /// Whether it is an array that nothing else has.
    own: bool,
}

impl<'a, 'l> Make<'a, 'l> {
    pub(super) fn new(
        look: &'a Look<'l>,
        copier: &'a mut Copier,
        b: &'a mut Builder,
        inst: &'a Inst,
    ) -> Self {
        Make { look, copier, b, inst, axes: HashMap::default(), made: HashMap::default() }
    }

    pub(super) fn emit(mut self, plan: &Plan) {
        self.b.at(self.inst.span);
        let body = &self.inst.blocks[0];
        self.axis(body.params[0], [self.inst.args[0], self.inst.args[1]]);
        match plan {
            Plan::Stores(plan) => self.stores(plan),
            Plan::Rows(plan) => self.rows(plan),
            Plan::Columns(plan) => self.columns(plan),
        }
    }

    fn get(&mut self, v: Value) -> Value {
        self.copier.get(self.look.func, self.b, v)
    }

    fn axis(&mut self, counter: Value, range: [Value; 2]) {
        let (func, [start, end]) = (self.look.func, range.map(|v| self.get(v)));
        let mut count = self.b.prim(Prim::WSub, &[end, start]);
        // What is as long as an array is seen to be so.
        let from_zero = func.as_const(range[0]) == Some(Scalar::I64(0));
        if !from_zero || !self.look.shapes.is_size(func, range[1]) {
            let zero = self.b.i64(0);
            count = self.b.prim(Prim::IMax, &[count, zero]);
        }
        self.axes.insert(counter, Axis { start, count });
    }

    fn plus(&mut self, v: Value, offset: i64) -> Value {
        let offset = self.b.i64(offset);
        self.b.prim(Prim::WAdd, &[v, offset])
    }

    /// The array that a version of one stands for before the loop.
    fn array(&mut self, array: Value) -> Value {
        let first = self.look.first.get(&array).copied().unwrap_or(array);
        self.get(first)
    }

    /// A float of an iteration as an array of those of all iterations; a number that is the same in all of them stays one.
    fn vector(&mut self, v: Value, counters: &[Value]) -> Vector {
        let key = (v, counters.to_vec());
        if let Some(made) = self.made.get(&key) {
            return *made;
        }
        let made = match self.look.maker(v) {
            None => Vector { v: self.get(v), own: false },
            Some(inst) => match inst.op {
                Op::Prim(prim) => {
                    let args: Vec<Value> =
                        inst.args.iter().map(|a| self.vector(*a, counters).v).collect();
                    self.b.at(inst.span);
                    Vector { v: self.b.prim(prim, &args), own: true }
                }
                _ => self.elements(inst, counters),
            },
        };
        self.made.insert(key, made);
        made
    }

    /// The elements that a load gives.
    fn elements(&mut self, load: &Inst, counters: &[Value]) -> Vector {
        let x = self.array(load.args[0]);
        self.b.at(load.span);
        let index: Vec<_> = load.args[1..].iter().map(|v| self.look.index(*v)).collect();
        let sizes = self.look.sizes(load.args[0]).unwrap_or_default();
        let (mut section, mut along, mut whole) = (vec![x], Vec::new(), true);
        let one = self.b.i64(1);
        let mut fixed = Vec::new();
        for (index, size) in index.iter().zip(&sizes) {
            let axis = index.of.and_then(|of| self.axes.get(&of).copied().map(|axis| (of, axis)));
            let (start, count) = match (axis, index.of) {
                (Some((counter, axis)), _) if counters.contains(&counter) => {
                    whole &= self.look.is_whole(counter, index.offset, size);
                    along.push((counter, axis.count));
                    (self.plus(axis.start, index.offset), axis.count)
                }
                (_, of) => {
                    whole = false;
                    let from = match of {
                        Some(of) => self.get(of),
                        None => self.b.i64(0),
                    };
                    (self.plus(from, index.offset), one)
                }
            };
            fixed.push(start);
            section.extend([start, count, one]);
        }
        if along.is_empty() {
            return Vector { v: self.b.element(x, &fixed), own: true };
        }
        if whole && along.len() == counters.len() {
            return Vector { v: x, own: false };
        }
        let mut made = if whole { x } else { self.b.array(ArrayOp::Slice, &section) };
        if !whole && along.len() < index.len() {
            let shape: Vec<Value> =
                std::iter::once(made).chain(along.iter().map(|(_, count)| *count)).collect();
            made = self.b.array(ArrayOp::Reshape, &shape);
        }
        for (place, counter) in counters.iter().enumerate() {
            if !along.iter().any(|(c, _)| c == counter) {
                let count = self.axes[counter].count;
                made = self.b.array(ArrayOp::Expand(place as u8), &[made, count]);
            }
        }
        Vector { v: made, own: true }
    }

    /// The same as an array that can be changed.
    fn owned(&mut self, v: Value, counters: &[Value]) -> Value {
        let key = (v, counters.to_vec());
        let v = self.vector(v, counters).v;
        // What is computed here is read here, and nowhere else until it is handed on.
        let own = self.made.get_mut(&key).is_some_and(|made| std::mem::take(&mut made.own));
        let is_array = self.b.ty(v).is_array();
        match (is_array, own) {
            (true, true) => v,
            (true, false) => self.b.op(Op::Copy, &[v])[0],
            (false, _) => {
                let counts: Vec<Value> = counters.iter().map(|c| self.axes[c].count).collect();
                self.b.filled(&counts, v)
            }
        }
    }

    fn bind(&mut self, result: Value, made: Value) {
        self.copier.bind(result, made);
        self.look.func.name_of(result).iter().for_each(|name| self.b.name(made, name));
    }

    fn stores(&mut self, plan: &Stores) {
        let inst = self.inst;
        if let [_, j] = plan.counters[..]
            && let Some(inner) = inst.blocks[0].insts.iter().find(|i| i.op == Op::For)
        {
            self.axis(j, [inner.args[0], inner.args[1]]);
        }
        let mut made = Vec::new();
        for write in &plan.writes {
            made.push(self.owned(write.value, &plan.counters));
        }
        let dropped = plan.writes.iter().map(|w| w.versions[1]).collect();
        let values = plan.writes.iter().map(|w| w.value).zip(made.iter().copied()).collect();
        self.rest(&dropped, &values);
        let one = self.b.i64(1);
        for (write, v) in plan.writes.iter().zip(made) {
            let mut after = v;
            if !write.whole {
                let mut args = vec![self.get(inst.args[write.carry + 2])];
                for (counter, offset) in plan.counters.iter().zip(&write.offsets) {
                    let Axis { start, count } = self.axes[counter];
                    args.extend([self.plus(start, *offset), count, one]);
                }
                args.push(v);
                after = self.b.array(ArrayOp::Put, &args);
            }
            self.bind(inst.results[write.carry], after);
        }
        for (carry, _) in &plan.unchanged {
            let first = self.get(inst.args[carry + 2]);
            self.copier.bind(inst.results[*carry], first);
        }
    }

    /// What is left of the loop: the numbers it carries. Of each of `values` there is an array.
    fn rest(&mut self, dropped: &HashSet<Value>, values: &HashMap<Value, Value>) {
        let (inst, func) = (self.inst, self.look.func);
        let body = &inst.blocks[0];
        let scalar = |k: &usize| func.ty(inst.results[*k]).is_scalar();
        let carries: Vec<usize> = (0..inst.results.len()).filter(scalar).collect();
        if carries.is_empty() {
            return;
        }
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            vec![(Type::I64, func.name_of(body.params[0]))];
        params.extend(
            carries.iter().map(|k| (func.ty(inst.results[*k]), func.name_of(body.params[k + 1]))),
        );
        let mut args = vec![self.get(inst.args[0]), self.get(inst.args[1])];
        args.extend(carries.iter().map(|k| self.copier.get(func, self.b, inst.args[k + 2])));
        let start = args[0];
        let mut copier = self.copier.clone();
        for (version, first) in &self.look.first {
            let first = self.copier.get(func, self.b, *first);
            copier.bind(*version, first);
        }
        let given = self.b.open_block(&params);
        copier.bind(body.params[0], given[0]);
        carries.iter().zip(&given[1..]).for_each(|(k, v)| copier.bind(body.params[k + 1], *v));
        let numbers = carries.iter().map(|k| body.yields[*k]);
        let needed = needed(body, numbers, values);
        for i in &body.insts {
            match i.results.first() {
                // Nothing here can fail.
                _ if !i.results.iter().any(|r| needed.contains(r)) => {}
                Some(result) if dropped.contains(result) => {}
                Some(result) if values.contains_key(result) => {
                    let at = self.b.prim(Prim::WSub, &[given[0], start]);
                    let v = self.b.load(values[result], at);
                    copier.bind(*result, v);
                }
                _ => copier.inst_with(func, self.b, i, &mut |_, _, _| false),
            }
        }
        let yields = carries.iter().map(|k| copier.get(func, self.b, body.yields[*k])).collect();
        let mut block = self.b.close_block(yields);
        block.numbering = body.numbering;
        self.b.at(inst.span);
        let types: Vec<Type> = carries.iter().map(|k| func.ty(inst.results[*k])).collect();
        let results = self.b.inst(Op::For, args, &types, vec![block]);
        for (k, v) in carries.iter().zip(results) {
            self.bind(inst.results[*k], v);
        }
    }

    /// The part of a matrix that two loops go through.
    fn matrix(&mut self, matrix: &Matrix, counters: [Value; 2]) -> Value {
        let x = self.get(matrix.array);
        if matrix.whole == [true; 2] {
            return x;
        }
        let one = self.b.i64(1);
        let mut section = vec![x];
        for (counter, offset) in counters.iter().zip(matrix.offsets) {
            let Axis { start, count } = self.axes[counter];
            section.extend([self.plus(start, offset), count, one]);
        }
        self.b.array(ArrayOp::Slice, &section)
    }

    /// One element of a vector per row: a chain in the order of the columns, as the loop inside adds them.
    fn rows(&mut self, plan: &Rows) {
        let [i, j] = plan.counters;
        self.axis(j, plan.range);
        let sums = self.owned(plan.start, &[i]);
        let matrix = self.matrix(&plan.matrix, plan.counters);
        let turned = self.b.array(ArrayOp::Transpose([1, 0].into()), &[matrix]);
        let factor = self.filled(plan.factor, j);
        let chains = ArrayOp::Gemm(Transposed::Yes, Transposed::No);
        let sums = self.b.array(chains, &[sums, turned, factor]);
        let (func, inst) = (self.look.func, self.inst);
        let start = self.axes[&i].start;
        self.copier.inst_with(func, self.b, inst, &mut |copier, b, inner| {
            let found = inner.results.first() == Some(&plan.sum);
            if found {
                let counter = copier.get(func, b, i);
                let at = b.prim(Prim::WSub, &[counter, start]);
                let v = b.load(sums, at);
                copier.bind(plan.sum, v);
            }
            found
        });
    }

    /// An array of a float, also where all of its elements are the same.
    fn filled(&mut self, v: Value, counter: Value) -> Value {
        let made = self.vector(v, &[counter]).v;
        match self.b.ty(made).is_array() {
            true => made,
            false => self.b.filled(&[self.axes[&counter].count], made),
        }
    }

    /// The vector plus all rows: a chain per element in the order of the rows.
    fn columns(&mut self, plan: &Columns) {
        let [k, j] = plan.counters;
        self.axis(j, plan.range);
        let factor = self.filled(plan.factor, k);
        let matrix = self.matrix(&plan.matrix, plan.counters);
        let dropped = HashSet::from_iter([plan.inner]);
        self.rest(&dropped, &HashMap::default());
        let first = self.get(self.inst.args[plan.carry + 2]);
        let chains = ArrayOp::Gemm(Transposed::Yes, Transposed::No);
        let after = self.b.array(chains, &[first, matrix, factor]);
        self.bind(self.inst.results[plan.carry], after);
    }
}

/// What is needed to compute these; of `values` there are arrays.
fn needed(
    body: &Block,
    of: impl Iterator<Item = Value>,
    values: &HashMap<Value, Value>,
) -> HashSet<Value> {
    let mut needed: HashSet<Value> = of.collect();
    for inst in body.insts.iter().rev() {
        let is_made = inst.results.iter().any(|r| values.contains_key(r));
        if !is_made && inst.results.iter().any(|r| needed.contains(r)) {
            uses::each(inst, &mut |v, _| {
                needed.insert(v);
            });
        }
    }
    needed
}
