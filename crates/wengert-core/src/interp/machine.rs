//! Control flow: how blocks, loops, calls and tapes run, whatever the values are.
//!
//! A [`Domain`] says what a value is and what one instruction does to values. The plain interpreter is
//! one; running a program on values that carry what they depend on is another.

use super::{MAX_CALLS, Val};
use crate::fault::{Fault, FaultKind};
use crate::ir::verify::consumes;
use crate::ir::{Block, Func, Inst, LoopPlan, Module, Numbering, Op, Phase, Type, Value, uses};
use crate::math;
use crate::ops::value::eval;
use crate::ops::{Prim, Scalar, Trap};
use crate::span::Span;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// What running comes to: a result, or the fault that ended it.
pub(crate) type Run<T> = Result<T, Fault>;

/// The values a program runs on.
pub(crate) trait Domain: Sized {
    /// A value. To clone an array is to share it.
    type Value: Clone;

    /// A plain value.
    fn plain(val: Val) -> Self::Value;

    /// What it is without what comes beside it. Of a tape only the type counts.
    fn val(value: &Self::Value) -> &Val;

    /// What an instruction makes of its arguments: rows of the table and array operations.
    fn data(
        machine: &mut Machine<'_, Self>,
        env: &mut Env<'_, Self>,
        inst: &Inst,
    ) -> Run<Vec<Self::Value>>;

    /// Adds a record to a tape.
    fn push(&mut self, tape: &mut Self::Value, record: Vec<Self::Value>);

    /// Takes the last record off a tape.
    fn pop(&mut self, tape: &mut Self::Value) -> Option<Vec<Self::Value>>;

    /// Calls a function of the program.
    fn call(
        machine: &mut Machine<'_, Self>,
        callee: &Func,
        args: Vec<Self::Value>,
        span: Span,
    ) -> Run<Vec<Self::Value>> {
        machine.run(callee, args, span)
    }

    /// A block is entered, its parameters are set.
    fn enter(_machine: &mut Machine<'_, Self>, _env: &Env<'_, Self>, _block: &Block) -> Run<()> {
        Ok(())
    }

    /// An instruction runs.
    fn step(&mut self) {}

    /// An instruction has run and made these results, or is about to decide whether a loop is left.
    fn ran(
        _machine: &mut Machine<'_, Self>,
        _env: &Env<'_, Self>,
        _inst: &Inst,
        _results: &[Self::Value],
    ) {
    }

    /// A value is not needed any more.
    fn dropped(&mut self, _value: Option<Self::Value>) {}
}

/// Runs functions of a module on the values of a domain.
#[derive(Debug)]
pub(crate) struct Machine<'m, D> {
    module: &'m Module,
    pub(crate) domain: D,
    /// Most iterations a `while` loop may take.
    pub(crate) max_iterations: u64,
    depth: usize,
    loops: Vec<(Span, i64)>,
    /// Per function called so far: which parameters it takes over.
    taken: HashMap<Arc<str>, Rc<[bool]>>,
    /// Per block (by its address, which stays while it is interpreted) and instruction: arrays not used
    /// after it.
    dying: HashMap<*const Block, Rc<Vec<Vec<Value>>>>,
}

/// The values of one call in progress.
pub(crate) struct Env<'f, D: Domain> {
    pub(crate) func: &'f Func,
    values: Vec<Option<D::Value>>,
}

/// How a block was left.
enum Flow<V> {
    Yield(Vec<V>),
    Exit(Vec<V>),
}

impl<'m, D: Domain> Machine<'m, D> {
    pub(crate) fn new(module: &'m Module, domain: D, max_iterations: u64) -> Self {
        Machine {
            module,
            domain,
            max_iterations,
            depth: 0,
            loops: Vec::new(),
            taken: HashMap::default(),
            dying: HashMap::default(),
        }
    }

    /// Calls a function from outside, on arguments that fit its parameters.
    pub(crate) fn start(&mut self, func: &Func, args: Vec<D::Value>) -> Run<Vec<D::Value>> {
        // A call before this one may have ended in a fault.
        self.depth = 0;
        self.loops.clear();
        self.run(func, args, Span::default())
    }

    pub(crate) fn fault<T>(&self, kind: FaultKind, span: Span) -> Run<T> {
        Err(Fault { kind, span, iterations: self.around(span) })
    }

    /// The loops around a place and their iterations, innermost first.
    pub(crate) fn around(&self, span: Span) -> Vec<(Span, i64)> {
        // A loop at the very place is what a compiler made of one instruction.
        self.loops.iter().rev().filter(|(at, _)| *at != span).copied().collect()
    }

    /// A fault of a kernel, told about the array and the place.
    pub(crate) fn kernel<T>(
        &self,
        func: &Func,
        inst: &Inst,
        result: Result<T, FaultKind>,
    ) -> Run<T> {
        result.or_else(|mut kind| {
            if let FaultKind::Index { array, .. } = &mut kind {
                *array = func.name_of(inst.args[0]);
            }
            self.fault(kind, inst.span)
        })
    }

    /// Calls a function.
    pub(crate) fn run(
        &mut self,
        func: &Func,
        args: Vec<D::Value>,
        span: Span,
    ) -> Run<Vec<D::Value>> {
        if self.depth == MAX_CALLS {
            return self.fault(FaultKind::CallDepth(MAX_CALLS), span);
        }
        self.depth += 1;
        let results = self.execute(func, args)?;
        self.depth -= 1;
        Ok(results)
    }

    /// A row of the table on scalars. Elementary functions are not calls: compiled code has them inline.
    pub(crate) fn scalar(&mut self, prim: Prim, inputs: &[Scalar], inst: &Inst) -> Run<Scalar> {
        match eval(prim, inputs) {
            Some(Ok(value)) => Ok(value),
            Some(Err(Trap::Overflow)) => self.fault(FaultKind::Overflow, inst.span),
            Some(Err(Trap::DivisionByZero)) => self.fault(FaultKind::DivisionByZero, inst.span),
            None => {
                // Elementary functions of single-precision numbers are computed in double precision.
                let single = inputs.iter().any(|x| matches!(x, Scalar::F32(_)));
                let inputs = inputs.iter().map(|x| match x {
                    Scalar::F32(x) => D::plain(Val::f64(f64::from(*x))),
                    other => D::plain(Val::Scalar(*other)),
                });
                let results = self.execute(math::program(prim), inputs.collect())?;
                match results.first().map(D::val) {
                    Some(Val::Scalar(Scalar::F64(y))) if single => Ok(Scalar::F32(*y as f32)),
                    Some(Val::Scalar(y)) => Ok(*y),
                    _ => unreachable!("an elementary function has one result"),
                }
            }
        }
    }

    fn execute(&mut self, func: &Func, args: Vec<D::Value>) -> Run<Vec<D::Value>> {
        let mut env = Env { func, values: vec![None; func.values.len()] };
        let (Flow::Yield(results) | Flow::Exit(results)) =
            self.block(&mut env, &func.body, args)?;
        env.values.into_iter().for_each(|left| self.domain.dropped(left));
        Ok(results)
    }

    fn block(
        &mut self,
        env: &mut Env<D>,
        block: &Block,
        args: Vec<D::Value>,
    ) -> Run<Flow<D::Value>> {
        let dying = self.dying(env.func, block);
        for (p, a) in block.params.iter().zip(args) {
            self.domain.dropped(env.set(*p, a));
        }
        D::enter(self, env, block)?;
        for (inst, dead) in block.insts.iter().zip(dying.iter()) {
            self.domain.step();
            if inst.op == Op::ExitIf {
                D::ran(self, env, inst, &[]);
                if env.bool(inst.args[0]) {
                    return Ok(Flow::Exit(self.branch(env, &inst.blocks[0])?));
                }
            } else {
                let results = self.inst(env, inst)?;
                D::ran(self, env, inst, &results);
                for (r, v) in inst.results.iter().zip(results) {
                    self.domain.dropped(env.set(*r, v));
                }
            }
            // What is not used again makes room, and later updates in place own their array alone.
            for v in dead {
                self.domain.dropped(env.values[v.index()].take());
            }
        }
        Ok(Flow::Yield(env.take_all(&block.yields)))
    }

    /// The arrays of a block that die after each of its instructions.
    fn dying(&mut self, func: &Func, block: &Block) -> Rc<Vec<Vec<Value>>> {
        let found = self.dying.entry(std::ptr::from_ref(block));
        found.or_insert_with(|| Rc::new(uses::dying(func, block))).clone()
    }

    /// A block that cannot be left early.
    fn branch(&mut self, env: &mut Env<D>, block: &Block) -> Run<Vec<D::Value>> {
        match self.block(env, block, Vec::new())? {
            Flow::Yield(values) | Flow::Exit(values) => Ok(values),
        }
    }

    fn inst(&mut self, env: &mut Env<D>, inst: &Inst) -> Run<Vec<D::Value>> {
        let args = &inst.args;
        match &inst.op {
            Op::Prim(_) | Op::Array(_) => D::data(self, env, inst),
            Op::Dim(_) | Op::Load | Op::Store | Op::Fill | Op::Copy => D::data(self, env, inst),
            Op::Tape => Ok(vec![D::plain(Val::tape())]),
            Op::Push => {
                let mut tape = env.take(args[0]);
                self.domain.push(&mut tape, env.take_all(&args[1..]));
                Ok(vec![tape])
            }
            Op::Pop => {
                let mut tape = env.take(args[0]);
                let wanted = inst.results[1..].iter().map(|r| env.func.ty(*r));
                let fits = |r: &Vec<D::Value>| wanted.eq(r.iter().map(|v| D::val(v).ty()));
                let Some(record) = self.domain.pop(&mut tape).filter(fits) else {
                    return self.fault(FaultKind::Record, inst.span);
                };
                Ok(std::iter::once(tape).chain(record).collect())
            }
            Op::Assert(message) => {
                if env.bool(args[0]) {
                    Ok(Vec::new())
                } else {
                    self.fault(FaultKind::assertion(message), inst.span)
                }
            }
            Op::If => {
                let taken = if env.bool(args[0]) { 0 } else { 1 };
                self.branch(env, &inst.blocks[taken])
            }
            Op::For => {
                let (lo, hi) = (env.i64(args[0]), env.i64(args[1]));
                let carries = env.take_all(&args[2..]);
                self.looping(env, inst, lo, Some(hi), carries)
            }
            Op::While => {
                let carries = env.take_all(args);
                self.looping(env, inst, 0, None, carries)
            }
            Op::ExitIf => unreachable!("handled by the block"),
            Op::Call(name) => self.callee(env, inst, name),
            Op::Drive(name, phase) => {
                let plan = self.module.plan(name).unwrap_or_else(|| unreachable!("verified"));
                // Store-all: one record sweep over every iteration, one reverse sweep.
                match phase {
                    Phase::Forward => self.record_all(env, inst, plan),
                    Phase::Reverse => self.callee(env, inst, &plan.reverse),
                }
            }
        }
    }

    fn record_all(&mut self, env: &mut Env<D>, inst: &Inst, plan: &LoopPlan) -> Run<Vec<D::Value>> {
        if plan.bounded {
            return self.callee(env, inst, &plan.record);
        }
        let from = env.i64(inst.args[0]);
        let limit = self.max_iterations.saturating_add(1);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut args = self.callee_args(env, inst, &plan.record);
        args[1] = D::plain(Val::i64(from.saturating_add(limit)));
        let results = D::call(self, self.named(&plan.record), args, inst.span)?;
        match D::val(&results[plan.carries + 1]) {
            Val::Scalar(Scalar::I64(0)) => {
                self.fault(FaultKind::IterationLimit(self.max_iterations), inst.span)
            }
            _ => Ok(results),
        }
    }

    fn callee(&mut self, env: &mut Env<D>, inst: &Inst, name: &str) -> Run<Vec<D::Value>> {
        if self.module.external(name).is_some() {
            return self.fault(FaultKind::External(name.into()), inst.span);
        }
        let args = self.callee_args(env, inst, name);
        match self.module.func(name) {
            Some(func) => D::call(self, func, args, inst.span),
            // Within an elementary function: not counted.
            None => self.execute(self.named(name), args),
        }
    }

    /// A function of the module, or one that elementary functions call.
    fn named(&self, name: &str) -> &'m Func {
        let found = self.module.func(name).or_else(|| math::called(name));
        found.unwrap_or_else(|| unreachable!("verified"))
    }

    fn callee_args(&mut self, env: &mut Env<D>, inst: &Inst, name: &str) -> Vec<D::Value> {
        let callee = self.named(name);
        let known = self.taken.entry(callee.name.clone()).or_insert_with(|| {
            let taken =
                |p: &Value| callee.ty(*p) == Type::Tape || consumes(self.module, callee, *p);
            callee.params().iter().map(taken).collect()
        });
        let args = inst.args.iter().zip(known.iter());
        args.map(|(a, taken)| if *taken { env.take(*a) } else { env.get(*a) }).collect()
    }

    fn looping(
        &mut self,
        env: &mut Env<D>,
        inst: &Inst,
        lo: i64,
        hi: Option<i64>,
        mut carries: Vec<D::Value>,
    ) -> Run<Vec<D::Value>> {
        let mut i = lo;
        while hi.is_none_or(|hi| i < hi) {
            // A loop that ends after exactly as many iterations still looks at its condition once more.
            if hi.is_none() && i as u64 > self.max_iterations {
                return self.fault(FaultKind::IterationLimit(self.max_iterations), inst.span);
            }
            let numbering = inst.blocks[0].numbering;
            match numbering {
                Numbering::FromStart => self.loops.push((inst.span, i - lo)),
                Numbering::ByCounter => self.loops.push((inst.span, i)),
                Numbering::Hidden => {}
            }
            let args = std::iter::once(D::plain(Val::i64(i))).chain(carries).collect();
            let flow = self.block(env, &inst.blocks[0], args)?;
            if numbering != Numbering::Hidden {
                self.loops.pop();
            }
            match flow {
                Flow::Yield(next) => carries = next,
                Flow::Exit(results) => return Ok(results),
            }
            i += 1;
        }
        Ok(carries)
    }
}

impl<D: Domain> Env<'_, D> {
    /// Sets a value; gives back what an earlier iteration left there.
    fn set(&mut self, v: Value, value: D::Value) -> Option<D::Value> {
        self.values[v.index()].replace(value)
    }

    /// A value that is no constant.
    pub(crate) fn at(&self, v: Value) -> &D::Value {
        match &self.values[v.index()] {
            Some(value) => value,
            None => panic!("the verifier lets no use of an undefined value through"),
        }
    }

    /// A value, where it is set and has not been taken over.
    pub(crate) fn look(&self, v: Value) -> Option<D::Value> {
        match self.func.as_const(v) {
            Some(c) => Some(D::plain(Val::Scalar(c))),
            None => self.values[v.index()].clone(),
        }
    }

    /// Reads a value; linear ones stay where they are.
    pub(crate) fn get(&self, v: Value) -> D::Value {
        match self.func.as_const(v) {
            Some(c) => D::plain(Val::Scalar(c)),
            None => self.at(v).clone(),
        }
    }

    /// Takes a value over, so that an array can be changed in place.
    pub(crate) fn take(&mut self, v: Value) -> D::Value {
        if self.func.ty(v).is_linear() {
            match self.values[v.index()].take() {
                Some(value) => value,
                None => panic!("the verifier lets no second use of a consumed value through"),
            }
        } else {
            self.get(v)
        }
    }

    fn take_all(&mut self, values: &[Value]) -> Vec<D::Value> {
        values.iter().map(|v| self.take(*v)).collect()
    }

    pub(crate) fn scalar(&self, v: Value) -> Scalar {
        match self.func.as_const(v) {
            Some(c) => c,
            None => match D::val(self.at(v)) {
                Val::Scalar(s) => *s,
                _ => unreachable!("verified"),
            },
        }
    }

    pub(crate) fn i64(&self, v: Value) -> i64 {
        match self.scalar(v) {
            Scalar::I64(x) => x,
            _ => unreachable!("verified"),
        }
    }

    fn bool(&self, v: Value) -> bool {
        matches!(self.scalar(v), Scalar::Bool(true))
    }
}
