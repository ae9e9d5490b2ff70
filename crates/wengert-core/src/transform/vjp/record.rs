//! The recording program: the function itself, pushing what the layout says.
//!
//! Outermost active loops become two functions each: `record`, which runs a range of iterations
//! and pushes one record per iteration, and `advance`, which runs them without recording. Both
//! take `(from, to, carries.., captures..)` and give back `(carries.., done, exit)`: how far they
//! came, and by which exit they ended (0 for none).

use super::layout::{End, Layout, Slot, dims};
use super::nest::{BlockId, Nest, carried, named_once, written_at};
use super::reverse_loop::loop_name;
use crate::ir::{Block, Builder, Func, Inst, Module, Op, Phase, Type, Value};
use crate::ops::{ArrayOp, Prim};
use crate::transform::activity::Activity;
use crate::transform::copy::Copier;
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

pub(super) struct Record<'a> {
    /// Where rules are found.
    pub(super) module: &'a Module,
    pub(super) nest: &'a Nest<'a>,
    activity: &'a Activity,
    layout: &'a Layout,
    outlined: &'a [Value],
    pub(super) b: Builder,
    pub(super) copier: Copier,
    /// The tape, in a program that records.
    pub(super) tape: Option<Value>,
    /// Fields of records that are not values of the program.
    pub(super) slots: HashMap<Slot, Value>,
    funcs: Vec<Func>,
}

impl<'a> Record<'a> {
    /// `@f(x.., tape) -> (y.., tape)` and the functions of its outlined loops.
    pub(super) fn function(
        module: &'a Module,
        nest: &'a Nest<'a>,
        activity: &'a Activity,
        layout: &'a Layout,
        outlined: &'a [Value],
    ) -> Vec<Func> {
        let func = nest.func;
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
        params.push((Type::Tape, None));
        let (b, values) = Builder::new(format!("{}.record", func.name), &params);
        let mut record = Record {
            module,
            nest,
            activity,
            layout,
            outlined,
            b,
            copier: Copier::default(),
            tape: values.last().copied(),
            slots: HashMap::default(),
            funcs: Vec::new(),
        };
        for (p, v) in func.params().iter().zip(values) {
            record.copier.bind(*p, v);
        }
        record.insts(&func.body, func.body.insts.len());
        record.push(0, End::Block);
        let mut results = record.all(&func.body.yields);
        results.extend(record.tape);
        let func = record.b.finish(results);
        record.funcs.insert(0, func);
        record.funcs
    }

    pub(super) fn get(&mut self, v: Value) -> Value {
        self.copier.get(self.nest.func, &mut self.b, v)
    }

    pub(super) fn all(&mut self, values: &[Value]) -> Vec<Value> {
        self.copier.all(self.nest.func, &mut self.b, values)
    }

    /// Pushes the record of a block.
    fn push(&mut self, id: BlockId, end: End) {
        let Some(tape) = self.tape else { return };
        let yields = &self.nest.blocks[id].block.yields;
        let is_function = self.nest.blocks[id].parent.is_none();
        let mut fields = Vec::new();
        for slot in self.layout.slots(self.nest, id, end) {
            fields.push(match slot {
                Slot::Value(v) => self.get(v),
                Slot::Held(v) => {
                    let array = self.get(v);
                    if is_function && yields.contains(&v) {
                        self.b.op(Op::Copy, &[array])[0]
                    } else {
                        array
                    }
                }
                other => self.slots[&other],
            });
        }
        self.tape = Some(self.b.push(tape, &fields));
    }

    /// Notes what the layout asks for of arrays just defined: they may be gone when the block ends.
    fn note_arrays(&mut self, values: &[Value]) {
        if self.tape.is_none() {
            return;
        }
        for slot in values.iter().flat_map(|v| dims(self.nest, *v)) {
            if let (Slot::Dim(v, axis), true) = (slot, self.layout.asked.contains(&slot)) {
                let array = self.get(v);
                let n = self.b.op(Op::Dim(axis), &[array])[0];
                self.slots.insert(slot, n);
            }
        }
        for v in values {
            if self.layout.snapshots.contains(v) {
                let array = self.get(*v);
                let copy = self.b.op(Op::Copy, &[array])[0];
                self.slots.insert(Slot::Snapshot(*v), copy);
            }
        }
    }

    /// What an operation in place is about to overwrite.
    fn old(&mut self, inst: &Inst) -> Value {
        let x = self.get(inst.args[0]);
        let at = self.all(written_at(inst));
        let args: Vec<Value> = std::iter::once(x).chain(at).collect();
        match &inst.op {
            Op::Store => self.b.op(Op::Load, &args)[0],
            Op::Array(ArrayOp::Poke) => self.b.array(ArrayOp::Peek, &args),
            Op::Array(ArrayOp::Put) => self.b.array(ArrayOp::Slice, &args),
            Op::Array(ArrayOp::AddSlice) => {
                let args = named_once(&mut self.b, &args);
                self.b.array(ArrayOp::Slice, &args)
            }
            _ => self.b.op(Op::Copy, &[x])[0],
        }
    }

    fn insts(&mut self, block: &Block, upto: usize) {
        self.note_arrays(&block.params);
        for inst in &block.insts[..upto] {
            self.inst(inst);
            self.note_arrays(&inst.results);
        }
    }

    fn inst(&mut self, inst: &Inst) {
        self.b.at(inst.span);
        let reversed = self.tape.is_some() && self.activity.is_active_inst(inst);
        match &inst.op {
            Op::Call(name) if reversed => self.call(name, inst),
            _ if self.layout.takes_back(self.nest, inst) && self.tape.is_some() => {
                let old = self.old(inst);
                self.slots.insert(Slot::Old(inst.results[0]), old);
                self.copier.inst(self.nest.func, &mut self.b, inst);
            }
            Op::If if reversed => self.branch(inst),
            Op::For | Op::While if reversed => {
                let counter = inst.blocks[0].params[0];
                match self.outlined.iter().position(|c| *c == counter) {
                    Some(ordinal) => self.outlined_loop(inst, ordinal),
                    None => self.looping(inst),
                }
            }
            _ => self.copier.inst(self.nest.func, &mut self.b, inst),
        }
    }

    fn branch(&mut self, inst: &Inst) {
        let condition = self.get(inst.args[0]);
        let outer = self.tape;
        let mut blocks = Vec::new();
        for block in &inst.blocks {
            self.b.open_block(&[]);
            self.tape = outer;
            self.insts(block, block.insts.len());
            self.push(self.nest.id(block), End::Block);
            let mut yields = self.all(&block.yields);
            yields.extend(self.tape);
            blocks.push(self.b.close_block(yields));
        }
        let mut types: Vec<Type> = inst.results.iter().map(|r| self.nest.func.ty(*r)).collect();
        types.push(Type::Tape);
        self.b.at(inst.span);
        let results = self.b.inst(Op::If, vec![condition], &types, blocks);
        self.bind_results(inst, &results);
        self.tape = results.last().copied();
    }

    pub(super) fn bind_results(&mut self, inst: &Inst, results: &[Value]) {
        for (r, v) in inst.results.iter().zip(results) {
            if let Some(name) = self.nest.func.name_of(*r) {
                self.b.name(*v, &name);
            }
            self.copier.bind(*r, *v);
        }
    }

    /// A loop inside another: recorded in place.
    fn looping(&mut self, inst: &Inst) {
        let range = if inst.op == Op::For {
            let bounds = self.all(&inst.args[..2]);
            (bounds[0], Some(bounds[1]))
        } else {
            (self.b.i64(0), None)
        };
        let inits = self.all(carried(inst));
        let results = self.body(inst, range, inits);
        self.bind_results(inst, &results);
        self.finish_loop(inst, &results);
    }

    /// Notes how a loop ended; `results` are the carries, `done`, `exit` and the tape.
    fn finish_loop(&mut self, inst: &Inst, results: &[Value]) {
        let counter = inst.blocks[0].params[0];
        let n = inst.results.len();
        self.slots.insert(Slot::Done(counter), results[n]);
        self.slots.insert(Slot::Exit(counter), results[n + 1]);
        self.tape = results.get(n + 2).copied();
    }

    /// The loop itself over a range; gives back carries, `done`, `exit`, and the tape if there is one.
    fn body(
        &mut self,
        inst: &Inst,
        (from, to): (Value, Option<Value>),
        inits: Vec<Value>,
    ) -> Vec<Value> {
        let func = self.nest.func;
        let block = &inst.blocks[0];
        let id = self.nest.id(block);
        let exits = block.insts.iter().any(|i| i.op == Op::ExitIf);
        let (zero, one) = (self.b.i64(0), self.b.i64(1));

        let mut params: Vec<(Type, Option<Arc<str>>)> =
            block.params.iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
        let mut args = inits;
        if exits {
            params.extend([(Type::I64, Some("done".into())), (Type::I64, Some("exit".into()))]);
            args.extend([from, zero]);
        }
        if self.tape.is_some() {
            params.push((Type::Tape, None));
            args.extend(self.tape);
        }
        let values = self.b.open_block(&params);
        for (p, v) in block.params.iter().zip(&values) {
            self.copier.bind(*p, *v);
        }
        let recording = self.tape.is_some();
        if recording {
            self.tape = values.last().copied();
        }
        self.note_arrays(&block.params);
        let i = values[0];
        let mut exit_number = 0;
        for (at, step) in block.insts.iter().enumerate() {
            if step.op != Op::ExitIf {
                self.inst(step);
                self.note_arrays(&step.results);
                continue;
            }
            exit_number += 1;
            let condition = self.get(step.args[0]);
            let outer = self.tape;
            let exit = &step.blocks[0];
            self.b.at(step.span);
            self.b.open_block(&[]);
            self.insts(exit, exit.insts.len());
            self.push(self.nest.id(exit), End::Block);
            self.push(id, End::Exit(at));
            let mut yields = self.all(&exit.yields);
            let number = self.b.i64(exit_number);
            yields.extend([i, number]);
            yields.extend(self.tape);
            let exit = self.b.close_block(yields);
            self.tape = outer;
            self.b.inst(Op::ExitIf, vec![condition], &[], vec![exit]);
        }
        self.push(id, End::Block);
        let mut yields = self.all(&block.yields);
        if exits {
            let next = self.b.prim(Prim::WAdd, &[i, one]);
            yields.extend([next, zero]);
        }
        yields.extend(self.tape);
        let numbering = block.numbering;
        let body = Block { numbering, ..self.b.close_block(yields) };

        let types: Vec<Type> = params[1..].iter().map(|(t, _)| *t).collect();
        let op = if to.is_some() { Op::For } else { Op::While };
        let bounds = to.map(|to| [from, to]).into_iter().flatten();
        let args: Vec<Value> = bounds.chain(args).collect();
        self.b.at(inst.span);
        let mut results = self.b.inst(op, args, &types, vec![body]);
        if !exits {
            let done = match to {
                Some(to) => self.b.prim(Prim::IMax, &[from, to]),
                None => zero,
            };
            let n = inst.results.len();
            results.insert(n, done);
            results.insert(n + 1, zero);
        }
        if !recording {
            self.tape = None;
        }
        results
    }

    /// An outermost loop: two functions, and a call through the plan driver.
    fn outlined_loop(&mut self, inst: &Inst, ordinal: usize) {
        let name = loop_name(&self.nest.func.name, ordinal);
        let captures = inst.blocks[0].captures(self.nest.func);
        let (from, to) = if inst.op == Op::For {
            let bounds = self.all(&inst.args[..2]);
            (bounds[0], bounds[1])
        } else {
            (self.b.i64(0), self.b.i64(i64::MAX))
        };
        let mut args = vec![from, to];
        args.extend(self.all(carried(inst)));
        args.extend(self.all(&captures));
        let recorded = self.range_function(inst, &format!("{name}.record"), &captures, true);
        let advance = self.range_function(inst, &format!("{name}.advance"), &captures, false);
        let types = recorded.results.clone();
        self.funcs.extend([advance, recorded]);
        args.extend(self.tape);
        self.b.at(inst.span);
        let results = self.b.inst(Op::Drive(name.into(), Phase::Forward), args, &types, Vec::new());
        self.bind_results(inst, &results);
        self.finish_loop(inst, &results);
    }

    fn range_function(
        &mut self,
        inst: &Inst,
        name: &str,
        captures: &[Value],
        record: bool,
    ) -> Func {
        let func = self.nest.func;
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            vec![(Type::I64, Some("from".into())), (Type::I64, Some("to".into()))];
        let carries = &inst.blocks[0].params[1..];
        let state = carries.iter().chain(captures);
        params.extend(state.map(|v| (func.ty(*v), func.name_of(*v))));
        if record {
            params.push((Type::Tape, None));
        }
        let (b, values) = Builder::new(name, &params);
        let caller = std::mem::replace(&mut self.b, b);
        let outer = std::mem::take(&mut self.copier);
        let tape = std::mem::replace(&mut self.tape, values.last().copied().filter(|_| record));
        for (v, param) in captures.iter().zip(&values[2 + carries.len()..]) {
            self.copier.bind(*v, *param);
        }
        let inits = values[2..2 + carries.len()].to_vec();
        let mut results = self.body(inst, (values[0], Some(values[1])), inits);
        if !record {
            results.truncate(inst.results.len() + 2);
        }
        self.tape = tape;
        self.copier = outer;
        std::mem::replace(&mut self.b, caller).finish(results)
    }
}
