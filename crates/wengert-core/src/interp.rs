//! The interpreter: the specification of what programs mean.
//!
//! It is simple, slow and obviously right; every other way to run a program is tested against it to
//! the bit. Values are looked up in a table per call, blocks are executed instruction by
//! instruction, and outlined loops are run store-all: record everything, then reverse everything.

use crate::fault::{Fault, FaultKind};
use crate::ir::verify::consumes;
use crate::ir::{Block, Elem, Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::math;
use crate::ops::kernels::{self, Computed, Operand};
use crate::ops::shaped;
use crate::ops::value::eval;
use crate::ops::{Array, Prim, Scalar, Trap};
use crate::span::Span;
use meter::Meter;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

mod meter;
pub use meter::Counters;

/// Deepest nesting of calls. Elementary functions are not calls: compiled code has them inline.
pub const MAX_CALLS: usize = 100;

/// A run-time value.
#[derive(Clone, Debug)]
pub enum Val {
    /// A scalar.
    Scalar(Scalar),
    /// A version of an array. Consuming operations own it alone and work in place.
    Array(Rc<Array>),
    /// A tape: its records, the last one on top.
    Tape(Vec<Vec<Val>>),
}

impl Val {
    /// A float.
    pub fn f64(x: f64) -> Val {
        Val::Scalar(Scalar::F64(x))
    }

    /// An integer.
    pub fn i64(x: i64) -> Val {
        Val::Scalar(Scalar::I64(x))
    }

    /// A vector of doubles.
    pub fn array(x: Vec<f64>) -> Val {
        Val::Array(Rc::new(Array::vector(x)))
    }

    /// Any array.
    pub fn shaped(x: Array) -> Val {
        Val::Array(Rc::new(x))
    }

    /// The type it has.
    pub fn ty(&self) -> Type {
        match self {
            Val::Scalar(s) => s.elem().scalar(),
            Val::Array(x) => Type::of(x.elem(), x.shape.len()),
            Val::Tape(_) => Type::Tape,
        }
    }

    /// An empty tape.
    pub fn tape() -> Val {
        Val::Tape(Vec::new())
    }
}

/// Runs functions of a module.
#[derive(Debug)]
pub struct Interp<'m> {
    module: &'m Module,
    /// Most iterations a `while` loop may take.
    pub max_iterations: u64,
    /// Bytes pushed on tapes, eight per value.
    pub pushed_bytes: u64,
    meter: Meter,
    depth: usize,
    loops: Vec<(Span, i64)>,
    /// Per function called so far: which parameters it takes over.
    taken: HashMap<Arc<str>, Rc<[bool]>>,
}

type Run<T> = Result<T, Fault>;

/// The values of one call in progress.
struct Env<'f> {
    func: &'f Func,
    values: Vec<Option<Val>>,
}

/// How a block was left.
enum Flow {
    Yield(Vec<Val>),
    Exit(Vec<Val>),
}

impl<'m> Interp<'m> {
    /// An interpreter of these functions.
    pub fn new(module: &'m Module) -> Self {
        Interp {
            module,
            max_iterations: 1_000_000_000,
            pushed_bytes: 0,
            meter: Meter::default(),
            depth: 0,
            loops: Vec::new(),
            taken: HashMap::new(),
        }
    }

    /// Calls a function. The module has been verified and the arguments fit its parameters.
    pub fn call(&mut self, name: &str, args: Vec<Val>) -> Run<Vec<Val>> {
        // A call before this one may have ended in a fault.
        self.depth = 0;
        self.loops.clear();
        for arg in &args {
            if let Val::Array(x) = arg {
                self.meter.made(x);
            }
        }
        match self.module.func(name) {
            Some(func) => self.run(func, args, Span::default()),
            None => panic!("the verifier lets no call to a missing function `@{name}` through"),
        }
    }

    /// What the calls so far have cost.
    pub fn counters(&self) -> Counters {
        self.meter.counters
    }

    fn fault<T>(&self, kind: FaultKind, span: Span) -> Run<T> {
        // A loop at the very place of the fault is what a compiler made of one instruction.
        let around = self.loops.iter().rev().filter(|(at, _)| *at != span);
        Err(Fault { kind, span, iterations: around.copied().collect() })
    }

    fn run(&mut self, func: &Func, args: Vec<Val>, span: Span) -> Run<Vec<Val>> {
        if self.depth == MAX_CALLS {
            return self.fault(FaultKind::CallDepth(MAX_CALLS), span);
        }
        self.depth += 1;
        let results = self.execute(func, args)?;
        self.depth -= 1;
        Ok(results)
    }

    fn execute(&mut self, func: &Func, args: Vec<Val>) -> Run<Vec<Val>> {
        let mut env = Env { func, values: vec![None; func.values.len()] };
        let (Flow::Yield(results) | Flow::Exit(results)) =
            self.block(&mut env, &func.body, args)?;
        env.values.into_iter().for_each(|left| self.meter.dropped(left));
        Ok(results)
    }

    fn block(&mut self, env: &mut Env, block: &Block, args: Vec<Val>) -> Run<Flow> {
        let dying = self.meter.dying(env.func, block);
        for (p, a) in block.params.iter().zip(args) {
            self.meter.dropped(env.set(*p, a));
        }
        for (inst, dead) in block.insts.iter().zip(dying.iter()) {
            self.meter.counters.operations += 1;
            if inst.op == Op::ExitIf {
                if env.bool(inst.args[0]) {
                    return Ok(Flow::Exit(self.branch(env, &inst.blocks[0])?));
                }
            } else {
                let results = self.inst(env, inst)?;
                for (r, v) in inst.results.iter().zip(results) {
                    self.meter.dropped(env.set(*r, v));
                }
            }
            // What is not used again makes room, and later updates in place own their array alone.
            for v in dead {
                self.meter.dropped(env.values[v.index()].take());
            }
        }
        Ok(Flow::Yield(block.yields.iter().map(|y| env.take(*y)).collect()))
    }

    /// A block that cannot be left early.
    fn branch(&mut self, env: &mut Env, block: &Block) -> Run<Vec<Val>> {
        match self.block(env, block, Vec::new())? {
            Flow::Yield(values) | Flow::Exit(values) => Ok(values),
        }
    }

    fn inst(&mut self, env: &mut Env, inst: &Inst) -> Run<Vec<Val>> {
        let args = &inst.args;
        let one = |v: Val| Ok(vec![v]);
        match &inst.op {
            Op::Prim(prim) => self.prim(env, inst, *prim),
            Op::Dim(axis) => one(Val::i64(env.array(args[0]).shape[*axis as usize] as i64)),
            Op::Load => {
                let at = self.position(env, inst, &args[1..])?;
                self.meter.moved(meter::element(env.array(args[0])));
                one(Val::Scalar(env.array(args[0]).elements().get(at)))
            }
            Op::Store => {
                let last = args.len() - 1;
                let at = self.position(env, inst, &args[1..last])?;
                let v = env.scalar(args[last]);
                let mut array = env.take_array(args[0]);
                self.meter.moved(meter::element(&array));
                self.meter.own(&mut array).elements_mut().set(at, v);
                one(Val::Array(array))
            }
            Op::Fill => {
                let (v, dims) = args.split_last().unwrap_or_else(|| unreachable!("verified"));
                let operands: Vec<Operand> = dims.iter().map(|d| env.operand(*d)).collect();
                let shape = self.kernel(env, inst, kernels::dims(&operands))?;
                match Array::filled(shape, env.scalar(*v)) {
                    Some(array) => {
                        self.meter.moved(meter::bytes(&array));
                        one(self.made(array))
                    }
                    None => self.fault(FaultKind::OutOfMemory, inst.span),
                }
            }
            Op::Copy => {
                let x = env.array(args[0]).clone();
                self.meter.moved(2 * meter::bytes(&x));
                one(self.made(x))
            }
            Op::Array(op) if op.in_place() => {
                let mut array = env.take_array(args[0]);
                let x = self.meter.own(&mut array);
                let shape = x.shape.clone();
                let others: Vec<Operand> = args[1..].iter().map(|a| env.operand(*a)).collect();
                self.meter.moved(meter::updated(op, x, &others));
                let done = kernels::update(op, &shape, x.elements_mut(), &others);
                self.kernel(env, inst, done)?;
                one(Val::Array(array))
            }
            Op::Array(op) => {
                let operands: Vec<Operand> = args.iter().map(|a| env.operand(*a)).collect();
                let computed = self.kernel(env, inst, kernels::compute(op, &operands))?;
                let made = if let Computed::Array(x) = &computed { meter::bytes(x) } else { 0 };
                self.meter.moved(meter::computed(op, &operands, made));
                match computed {
                    Computed::Scalar(s) => one(Val::Scalar(s)),
                    Computed::Array(x) => one(self.made(x)),
                    Computed::Nothing => Ok(Vec::new()),
                }
            }
            Op::Tape => one(Val::tape()),
            Op::Push => {
                let Val::Tape(mut records) = env.take(args[0]) else { unreachable!("verified") };
                self.pushed_bytes += 8 * (args.len() as u64 - 1);
                records.push(args[1..].iter().map(|a| env.take(*a)).collect());
                one(Val::Tape(records))
            }
            Op::Pop => {
                let Val::Tape(mut records) = env.take(args[0]) else { unreachable!("verified") };
                let wanted = inst.results[1..].iter().map(|r| env.func.ty(*r));
                let Some(record) = records.pop().filter(|r| wanted.eq(r.iter().map(Val::ty)))
                else {
                    let message = "the last record of the tape is not what is popped";
                    return self.fault(FaultKind::Assert(message.into()), inst.span);
                };
                Ok(std::iter::once(Val::Tape(records)).chain(record).collect())
            }
            Op::Assert(message) => {
                if env.bool(args[0]) {
                    Ok(Vec::new())
                } else {
                    self.fault(FaultKind::Assert(message.clone()), inst.span)
                }
            }
            Op::If => {
                let taken = if env.bool(args[0]) { 0 } else { 1 };
                self.branch(env, &inst.blocks[taken])
            }
            Op::For => {
                let (lo, hi) = (env.i64(args[0]), env.i64(args[1]));
                let carries = args[2..].iter().map(|a| env.take(*a)).collect();
                self.looping(env, inst, lo, Some(hi), carries)
            }
            Op::While => {
                let carries = args.iter().map(|a| env.take(*a)).collect();
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

    fn record_all(&mut self, env: &mut Env, inst: &Inst, plan: &LoopPlan) -> Run<Vec<Val>> {
        if plan.bounded {
            return self.callee(env, inst, &plan.record);
        }
        let from = env.i64(inst.args[0]);
        let limit = self.max_iterations.saturating_add(1);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut args = self.callee_args(env, inst, &plan.record);
        args[1] = Val::i64(from.saturating_add(limit));
        let results = self.run_named(&plan.record, args, inst.span)?;
        match results[plan.carries + 1] {
            Val::Scalar(Scalar::I64(0)) => {
                self.fault(FaultKind::IterationLimit(self.max_iterations), inst.span)
            }
            _ => Ok(results),
        }
    }

    fn callee(&mut self, env: &mut Env, inst: &Inst, name: &str) -> Run<Vec<Val>> {
        let args = self.callee_args(env, inst, name);
        self.run_named(name, args, inst.span)
    }

    /// A function of the module, or one that elementary functions call.
    fn named(&self, name: &str) -> &'m Func {
        let found = self.module.func(name).or_else(|| math::called(name));
        found.unwrap_or_else(|| unreachable!("verified"))
    }

    fn run_named(&mut self, name: &str, args: Vec<Val>, span: Span) -> Run<Vec<Val>> {
        let callee = self.named(name);
        self.run(callee, args, span)
    }

    fn callee_args(&mut self, env: &mut Env, inst: &Inst, name: &str) -> Vec<Val> {
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
        env: &mut Env,
        inst: &Inst,
        lo: i64,
        hi: Option<i64>,
        mut carries: Vec<Val>,
    ) -> Run<Vec<Val>> {
        let mut i = lo;
        while hi.is_none_or(|hi| i < hi) {
            // A loop that ends after exactly as many iterations still looks at its condition once more.
            if hi.is_none() && i as u64 > self.max_iterations {
                return self.fault(FaultKind::IterationLimit(self.max_iterations), inst.span);
            }
            self.loops.push((inst.span, i - lo));
            let args = std::iter::once(Val::i64(i)).chain(carries).collect();
            let flow = self.block(env, &inst.blocks[0], args)?;
            self.loops.pop();
            match flow {
                Flow::Yield(next) => carries = next,
                Flow::Exit(results) => return Ok(results),
            }
            i += 1;
        }
        Ok(carries)
    }

    /// A row of the table: on scalars, or element by element.
    fn prim(&mut self, env: &Env, inst: &Inst, prim: Prim) -> Run<Vec<Val>> {
        let result = env.func.ty(inst.results[0]);
        let operands: Vec<Operand> = inst.args.iter().map(|a| env.operand(*a)).collect();
        if result.is_scalar() {
            return Ok(vec![Val::Scalar(self.scalar(
                prim,
                &kernels::element(&operands, 0),
                inst,
            )?)]);
        }
        let shape = self.kernel(env, inst, kernels::common_shape(prim.name(), &operands))?;
        let n = shaped::count(&shape);
        let elements: Run<Vec<Scalar>> =
            (0..n).map(|k| self.scalar(prim, &kernels::element(&operands, k), inst)).collect();
        let elem = result.elem().unwrap_or(Elem::F64);
        let data = kernels::collect(elem, elements?.into_iter());
        let array = Array { shape, data };
        self.meter.moved(meter::operands(&operands) + meter::bytes(&array));
        self.meter.counters.operations += array.len() as u64;
        Ok(vec![self.made(array)])
    }

    /// A new array.
    fn made(&mut self, x: Array) -> Val {
        self.meter.made(&x);
        Val::shaped(x)
    }

    fn scalar(&mut self, prim: Prim, inputs: &[Scalar], inst: &Inst) -> Run<Scalar> {
        match eval(prim, inputs) {
            Some(Ok(value)) => Ok(value),
            Some(Err(Trap::Overflow)) => self.fault(FaultKind::Overflow, inst.span),
            Some(Err(Trap::DivisionByZero)) => self.fault(FaultKind::DivisionByZero, inst.span),
            None => {
                // Elementary functions of single-precision numbers are computed in double precision.
                let single = inputs.iter().any(|x| matches!(x, Scalar::F32(_)));
                let inputs = inputs.iter().map(|x| match x {
                    Scalar::F32(x) => Val::f64(f64::from(*x)),
                    other => Val::Scalar(*other),
                });
                match self.execute(math::program(prim), inputs.collect())?.pop() {
                    Some(Val::Scalar(Scalar::F64(y))) if single => Ok(Scalar::F32(y as f32)),
                    Some(Val::Scalar(y)) => Ok(y),
                    _ => unreachable!("an elementary function has one result"),
                }
            }
        }
    }

    /// A fault of a kernel, told about the array and the place.
    fn kernel<T>(&self, env: &Env, inst: &Inst, result: Result<T, FaultKind>) -> Run<T> {
        result.or_else(|mut kind| {
            if let FaultKind::Index { array, .. } = &mut kind {
                *array = env.func.name_of(inst.args[0]);
            }
            self.fault(kind, inst.span)
        })
    }

    /// The place of an element in row-major order.
    fn position(&self, env: &Env, inst: &Inst, indices: &[Value]) -> Run<usize> {
        let shape = &env.array(inst.args[0]).shape;
        let mut at = 0;
        for (axis, (i, n)) in indices.iter().zip(shape).enumerate() {
            let named = (shape.len() > 1).then_some(axis as u8);
            at = at * n + self.kernel(env, inst, kernels::index(env.i64(*i), *n, named))?;
        }
        Ok(at)
    }
}

impl Env<'_> {
    /// Sets a value; gives back what an earlier iteration left there.
    fn set(&mut self, v: Value, val: Val) -> Option<Val> {
        self.values[v.index()].replace(val)
    }

    /// Reads a value; linear ones stay where they are.
    fn get(&self, v: Value) -> Val {
        match (self.func.as_const(v), &self.values[v.index()]) {
            (Some(c), _) => Val::Scalar(c),
            (None, Some(val)) => val.clone(),
            (None, None) => panic!("the verifier lets no use of an undefined value through"),
        }
    }

    /// Takes a value over, so that an array can be changed in place.
    fn take(&mut self, v: Value) -> Val {
        if self.func.ty(v).is_linear() {
            match self.values[v.index()].take() {
                Some(val) => val,
                None => panic!("the verifier lets no second use of a consumed value through"),
            }
        } else {
            self.get(v)
        }
    }

    fn scalar(&self, v: Value) -> Scalar {
        match self.get(v) {
            Val::Scalar(s) => s,
            _ => unreachable!("verified"),
        }
    }

    fn i64(&self, v: Value) -> i64 {
        match self.scalar(v) {
            Scalar::I64(x) => x,
            _ => unreachable!("verified"),
        }
    }

    fn bool(&self, v: Value) -> bool {
        matches!(self.scalar(v), Scalar::Bool(true))
    }

    fn array(&self, v: Value) -> &Array {
        match &self.values[v.index()] {
            Some(Val::Array(x)) => x,
            _ => unreachable!("verified"),
        }
    }

    fn take_array(&mut self, v: Value) -> Rc<Array> {
        match self.take(v) {
            Val::Array(x) => x,
            _ => unreachable!("verified"),
        }
    }

    fn operand(&self, v: Value) -> Operand<'_> {
        if self.func.ty(v).is_array() {
            let x = self.array(v);
            Operand::Array(&x.shape, x.elements())
        } else {
            Operand::Scalar(self.scalar(v))
        }
    }
}
