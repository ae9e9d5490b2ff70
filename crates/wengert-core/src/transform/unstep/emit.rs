//! The code that takes iterations back.
//!
//! Values are made when something needs them, so that a program holds nothing it has no use for, and what a block inside needs is made
//! before it. Arrays are taken over as if nobody else needed them; copies are put in afterwards ([`super::legal`]).

use super::rules::{self, Dims};
use super::solve::{How, Inside, Made, Solution, Solver, is_used};
use crate::ir::{Block, Builder, Func, Inst, Numbering, Op, Type, Value};
use crate::ops::{ArrayOp, Prim};
use crate::transform::copy::Copier;
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

/// `name(from, to, carries.., captures..) -> (carries..)`: the iterations of a loop from the last one back. The loop is instruction `at`
/// of a function that runs them forwards.
pub(super) fn function(
    solver: &Solver,
    solution: &Solution,
    name: &str,
    carries: usize,
    at: usize,
) -> Func {
    let advance = solver.func;
    let inst = &advance.body.insts[at];
    let (b, copier, params) = like(advance, name);
    let mut emitter = Emitter { solver, b, copier };
    for before in &advance.body.insts[..at] {
        emitter.copier.inst(advance, &mut emitter.b, before);
    }
    emitter.b.at(inst.span);
    // What the loop ends with is what is handed on.
    let (mut taken, mut inits) = (Vec::new(), Vec::new());
    for (j, r) in inst.results.iter().enumerate() {
        if let Some(k) = advance.body.yields[..carries].iter().position(|y| y == r) {
            taken.push(j);
            inits.push(params[2 + k]);
        }
    }
    let results = emitter.looping(solution, &taken, [params[0], params[1]], inits);
    let mut all = Vec::new();
    for (k, y) in advance.body.yields[..carries].iter().enumerate() {
        let carry = taken.iter().position(|j| inst.results[*j] == *y);
        // What the loop leaves alone is what it was.
        all.push(carry.map_or(params[2 + k], |at| results[at]));
    }
    emitter.b.finish(all)
}

/// The same of a loop that changes nothing.
pub(super) fn unchanged(advance: &Func, carries: usize, name: &str) -> Func {
    let (b, _, params) = like(advance, name);
    b.finish(params[2..2 + carries].to_vec())
}

/// A function with the parameters of another one.
fn like(func: &Func, name: &str) -> (Builder, Copier, Vec<Value>) {
    let params: Vec<(Type, Option<Arc<str>>)> =
        func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let (b, values) = Builder::new(name, &params);
    (b, Copier::of(func, &values), values)
}

struct Emitter<'a, 'f> {
    solver: &'a Solver<'f>,
    b: Builder,
    copier: Copier,
}

impl<'f> Emitter<'_, 'f> {
    /// The iterations of a loop backwards, on some of its carries.
    fn looping(
        &mut self,
        of: &Solution<'f>,
        carries: &[usize],
        [lo, hi]: [Value; 2],
        inits: Vec<Value>,
    ) -> Vec<Value> {
        let (func, block) = (self.solver.func, of.block);
        let named = |v: Value| (func.ty(v), func.name_of(v));
        let mut params = vec![named(block.params[0])];
        params.extend(carries.iter().map(|k| named(block.params[k + 1])));
        let one = self.b.i64(1);
        let ends = self.b.prim(Prim::WAdd, &[lo, hi]);
        let last = self.b.prim(Prim::WSub, &[ends, one]);
        let (outer, span) = (self.copier.clone(), self.b.span());
        let values = self.b.open_block(&params);
        let counter = self.b.prim(Prim::WSub, &[last, values[0]]);
        self.copier.bind(block.params[0], counter);
        for (k, out) in carries.iter().zip(&values[1..]) {
            if of.how.contains_key(&block.yields[*k]) {
                self.copier.bind(block.yields[*k], *out);
            }
        }
        let mut yields = Vec::new();
        for (k, out) in carries.iter().zip(&values[1..]) {
            let carry = block.params[k + 1];
            // Whatever it was, nothing depends on it.
            let is_free = !is_used(block, carry);
            yields.push(if is_free { *out } else { self.value(of, carry) });
        }
        self.b.at(span);
        let body = Block { numbering: Numbering::Hidden, ..self.b.close_block(yields) };
        self.copier = outer;
        let types: Vec<Type> = params[1..].iter().map(|(ty, _)| *ty).collect();
        let args = [lo, hi].into_iter().chain(inits).collect();
        self.b.inst(Op::For, args, &types, vec![body])
    }

    /// A value, made when it is first needed.
    fn value(&mut self, of: &Solution<'f>, v: Value) -> Value {
        let func = self.solver.func;
        if func.as_const(v).is_none() && !self.copier.knows(v) {
            let how = of.how.get(&v).cloned();
            // Everything a value is made of is known, by way of values that were known before it.
            let how = how.unwrap_or_else(|| unreachable!("`%{}` is not known", v.0));
            for needed in self.operands(of, v, &how) {
                self.value(of, needed);
            }
            // What was made along with another value is there now.
            if !self.copier.knows(v) {
                self.make(of, v, &how);
            }
        }
        self.copier.get(func, &mut self.b, v)
    }

    /// What must be there before a value can be made.
    fn operands(&self, of: &Solution<'f>, v: Value, how: &How) -> Vec<Value> {
        let func = self.solver.func;
        let inst = |at: usize| &of.block.insts[at];
        match how {
            How::Given => Vec::new(),
            How::Again => {
                let inst = self.solver.maker(v);
                let captures = |inst: &Inst| -> Vec<Value> {
                    inst.blocks.iter().flat_map(|b| b.captures(func)).collect()
                };
                inst.map_or_else(Vec::new, |i| [&i.args[..], &captures(i)].concat())
            }
            How::Back(at, k, dims) => {
                let inst = inst(*at);
                let others: Vec<Value> = match dims {
                    // The lengths it was given have become others.
                    Some(Dims::Like(array)) => vec![*array],
                    Some(Dims::Are(dims)) => dims.clone(),
                    None => (0..inst.args.len()).filter(|j| j != k).map(|j| inst.args[j]).collect(),
                };
                [&others[..], &inst.results].concat()
            }
            How::Written(at) => {
                let place = rules::parts_of_write(inst(*at)).map_or(&[][..], |(_, place, _)| place);
                [place, &inst(*at).results].concat()
            }
            How::Before(at, old) => {
                let place = rules::parts_of_write(inst(*at)).map_or(&[][..], |(_, place, _)| place);
                [place, &inst(*at).results, &[*old]].concat()
            }
            How::Aside(read, write) => [&inst(*read).args[1..], &inst(*write).results].concat(),
            How::Length(like, _) => vec![*like],
            How::Inside(number) => self.needed_inside(&of.inside[*number]),
            How::Remade(made) => made.cuts.iter().map(|(_, from)| *from).collect(),
        }
    }

    /// What a loop or branches inside need of what is around them.
    fn needed_inside(&self, inside: &Inside<'f>) -> Vec<Value> {
        match inside {
            Inside::Loop { inst, carries, body } => {
                let mut all = inst.args[..2].to_vec();
                all.extend(carries.iter().map(|k| inst.results[*k]));
                let wanted: Vec<Value> = carries.iter().map(|k| body.block.params[k + 1]).collect();
                self.needs(body, &wanted, &mut all);
                all
            }
            Inside::Branch { inst, outs, values, sides } => {
                let mut all = vec![inst.args[0]];
                all.extend(outs.iter().map(|k| inst.results[*k]));
                sides.iter().for_each(|side| self.needs(side, values, &mut all));
                all
            }
        }
    }

    /// What values of a block need of what is outside.
    fn needs(&self, of: &Solution<'f>, wanted: &[Value], all: &mut Vec<Value>) {
        let (mut open, mut seen) = (wanted.to_vec(), HashSet::default());
        while let Some(v) = open.pop() {
            if !seen.insert(v) || self.solver.func.as_const(v).is_some() {
                continue;
            }
            match of.how.get(&v) {
                Some(how) => open.extend(self.operands(of, v, how)),
                None if is_defined(of.block, v) => {}
                None => all.push(v),
            }
        }
    }

    fn make(&mut self, of: &Solution<'f>, v: Value, how: &How) {
        let func = self.solver.func;
        let span = self.b.span();
        let made = match how {
            // It has been there from the beginning.
            How::Given => return,
            How::Again => {
                if let Some(inst) = self.solver.maker(v) {
                    self.copier.inst(func, &mut self.b, inst);
                }
                self.b.at(span);
                return;
            }
            How::Back(at, k, dims) => {
                let inst = &of.block.insts[*at];
                self.b.at(inst.span);
                self.back(of, inst, *k, dims.as_ref())
            }
            How::Written(at) => {
                let inst = &of.block.insts[*at];
                let place = rules::parts_of_write(inst).map_or(&[][..], |(_, place, _)| place);
                self.read(of, rules::read_of(&inst.op), inst.results[0], place)
            }
            How::Aside(read, write) => {
                let (read, array) = (&of.block.insts[*read], of.block.insts[*write].results[0]);
                self.read(of, Some(read.op.clone()), array, &read.args[1..])
            }
            How::Before(at, old) => {
                let inst = &of.block.insts[*at];
                self.b.at(inst.span);
                let place = rules::parts_of_write(inst).map_or(&[][..], |(_, place, _)| place);
                let mut args = vec![self.value(of, inst.results[0])];
                args.extend(place.iter().map(|i| self.value(of, *i)));
                args.push(self.value(of, *old));
                self.b.op(inst.op.clone(), &args)[0]
            }
            How::Length(like, axis) => {
                let array = self.value(of, *like);
                self.b.op(Op::Dim(*axis), &[array])[0]
            }
            How::Inside(number) => return self.inside(of, &of.inside[*number]),
            How::Remade(made) => self.remade(of, made),
        };
        self.b.at(span);
        if let Some(name) = func.name_of(v) {
            self.b.name(made, &name);
        }
        self.copier.bind(v, made);
    }

    fn read(&mut self, of: &Solution<'f>, op: Option<Op>, array: Value, place: &[Value]) -> Value {
        let mut args = vec![self.value(of, array)];
        args.extend(place.iter().map(|i| self.value(of, *i)));
        self.b.op(op.unwrap_or(Op::Load), &args)[0]
    }

    /// Operand `k` of an instruction from its result.
    fn back(&mut self, of: &Solution<'f>, inst: &Inst, k: usize, dims: Option<&Dims>) -> Value {
        let y = self.value(of, inst.results[0]);
        let others = |this: &mut Self| -> Vec<Value> {
            let arg = |j: usize| if j == k { y } else { this.value(of, inst.args[j]) };
            (0..inst.args.len()).map(arg).collect()
        };
        match &inst.op {
            Op::Prim(prim) => {
                let args = others(self);
                rules::undo(&mut self.b, *prim, k, &args, y)
            }
            Op::Copy => self.b.op(Op::Copy, &[y])[0],
            Op::Array(ArrayOp::Transpose(axes)) => {
                let place = |axis: usize| axes.iter().position(|a| usize::from(*a) == axis);
                let back = (0..axes.len()).map(|axis| place(axis).unwrap_or(axis) as u8).collect();
                self.b.array(ArrayOp::Transpose(back), &[y])
            }
            Op::Array(ArrayOp::Reshape) => {
                let dims = match dims {
                    Some(Dims::Like(array)) => {
                        let array = self.value(of, *array);
                        self.b.dims(array)
                    }
                    Some(Dims::Are(dims)) => dims.iter().map(|n| self.value(of, *n)).collect(),
                    None => Vec::new(),
                };
                let args: Vec<Value> = std::iter::once(y).chain(dims).collect();
                self.b.array(ArrayOp::Reshape, &args)
            }
            // What was added is taken away.
            Op::Array(op) => {
                let mut args = others(self);
                let added = match op {
                    ArrayOp::Gemm(..) => 1,
                    _ => args.len() - 1,
                };
                args[added] = self.b.neg(args[added]);
                self.b.array(op.clone(), &args)
            }
            _ => y,
        }
    }

    /// A loop or branches, taken back.
    fn inside(&mut self, of: &Solution<'f>, inside: &Inside<'f>) {
        let func = self.solver.func;
        match inside {
            Inside::Loop { inst, carries, body } => {
                let span = self.b.span();
                self.b.at(inst.span);
                let bounds = [self.value(of, inst.args[0]), self.value(of, inst.args[1])];
                let inits = carries.iter().map(|k| self.value(of, inst.results[*k])).collect();
                let results = self.looping(body, carries, bounds, inits);
                self.b.at(span);
                for (k, v) in carries.iter().zip(results) {
                    let init = inst.args[2 + k];
                    if func.as_const(init).is_none() && !self.copier.knows(init) {
                        self.copier.bind(init, v);
                    }
                }
            }
            Inside::Branch { inst, outs, values, sides } => {
                let condition = self.value(of, inst.args[0]);
                let results: Vec<Value> =
                    outs.iter().map(|k| self.value(of, inst.results[*k])).collect();
                let span = self.b.span();
                let mut blocks = Vec::new();
                for side in sides {
                    let outer = self.copier.clone();
                    self.b.open_block(&[]);
                    for (k, out) in outs.iter().zip(&results) {
                        if side.how.contains_key(&side.block.yields[*k]) {
                            self.copier.bind(side.block.yields[*k], *out);
                        }
                    }
                    let yields = values.iter().map(|v| self.value(side, *v)).collect();
                    blocks.push(self.b.close_block(yields));
                    self.copier = outer;
                }
                self.b.at(inst.span);
                let types: Vec<Type> = values.iter().map(|v| func.ty(*v)).collect();
                let found = self.b.inst(Op::If, vec![condition], &types, blocks);
                self.b.at(span);
                values.iter().zip(found).for_each(|(v, to)| self.copier.bind(*v, to));
            }
        }
    }

    /// What the iteration before has made of what it ended with.
    fn remade(&mut self, of: &Solution<'f>, made: &Made) -> Value {
        let (func, block) = (self.solver.func, of.block);
        let counter = self.value(of, block.params[0]);
        let one = self.b.i64(1);
        let before = self.b.prim(Prim::WSub, &[counter, one]);
        let mut again = Copier::default();
        again.bind(block.params[0], before);
        for (v, from) in &made.cuts {
            again.bind(*v, self.value(of, *from));
        }
        for v in block.captures(func) {
            again.bind(v, self.copier.get(func, &mut self.b, v));
        }
        for at in &made.insts {
            again.inst(func, &mut self.b, &block.insts[*at]);
        }
        again.get(func, &mut self.b, made.value)
    }
}

/// Whether a block defines a value itself, or a block inside it does.
fn is_defined(block: &Block, v: Value) -> bool {
    block.params.contains(&v)
        || block.insts.iter().any(|inst| {
            inst.results.contains(&v) || inst.blocks.iter().any(|inside| is_defined(inside, v))
        })
}
