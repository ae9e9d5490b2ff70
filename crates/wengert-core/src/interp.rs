//! The interpreter: the specification of what programs mean.
//!
//! It is simple, slow and obviously right; every other way to run a program is tested against it to
//! the bit. Values are looked up in a table per call, blocks are executed instruction by
//! instruction, and outlined loops are run store-all: record everything, then reverse everything.

use crate::fault::{Fault, FaultKind};
use crate::ir::{Elem, Func, Inst, Module, Op, Type, Value};
use crate::ops::kernels::{self, Computed, Operand};
use crate::ops::shaped;
use crate::ops::{Array, Prim, Scalar};
use crate::span::Span;
use machine::{Domain, Env, Machine, Run};
use meter::Meter;
use std::cell::RefCell;
use std::rc::Rc;

pub(crate) mod machine;
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

/// Looks on while a program runs.
pub trait Observer: std::fmt::Debug {
    /// An instruction has run, of a function of the program or of an elementary one.
    fn ran(&mut self, event: &Event<'_>);
}

/// An instruction that has run, or (`exit_if`) is about to decide whether a loop is left.
#[allow(missing_debug_implementations)]
pub struct Event<'e> {
    /// The function it stands in.
    pub func: &'e Func,
    /// The instruction.
    pub inst: &'e Inst,
    /// What it made.
    pub results: &'e [Val],
    env: &'e Env<'e, Meter>,
    machine: &'e Machine<'e, Meter>,
}

impl Event<'_> {
    /// A value of the function, where it is set and has not been taken over.
    pub fn value(&self, v: Value) -> Option<Val> {
        self.env.look(v)
    }

    /// The loops around it, innermost first: the loop's place and the iteration counted from 0.
    pub fn iterations(&self) -> Vec<(Span, i64)> {
        self.machine.around(self.inst.span)
    }
}

/// Runs functions of a module.
#[derive(Debug)]
pub struct Interp<'m> {
    module: &'m Module,
    /// Most iterations a `while` loop may take.
    pub max_iterations: u64,
    machine: Machine<'m, Meter>,
}

impl<'m> Interp<'m> {
    /// An interpreter of these functions.
    pub fn new(module: &'m Module) -> Self {
        let max_iterations = 1_000_000_000;
        let machine = Machine::new(module, Meter::default(), max_iterations);
        Interp { module, max_iterations, machine }
    }

    /// Calls a function. The module has been verified and the arguments fit its parameters.
    pub fn call(&mut self, name: &str, args: Vec<Val>) -> Result<Vec<Val>, Fault> {
        self.machine.max_iterations = self.max_iterations;
        for arg in &args {
            if let Val::Array(x) = arg {
                self.machine.domain.made(x);
            }
        }
        match self.module.func(name) {
            Some(func) => self.machine.start(func, args),
            None if self.module.external(name).is_some() => Err(Fault {
                kind: FaultKind::External(name.into()),
                span: Span::default(),
                iterations: Vec::new(),
            }),
            None => panic!("the verifier lets no call to a missing function `@{name}` through"),
        }
    }

    /// Lets someone look on.
    pub fn observe(&mut self, observer: Rc<RefCell<dyn Observer>>) {
        self.machine.domain.observer = Some(observer);
    }

    /// What the calls so far have cost.
    pub fn counters(&self) -> Counters {
        self.machine.domain.counters
    }
}

/// Plain values, and the count of what is done with them.
impl Domain for Meter {
    type Value = Val;

    fn plain(val: Val) -> Val {
        val
    }

    fn val(value: &Val) -> &Val {
        value
    }

    fn push(&mut self, tape: &mut Val, record: Vec<Val>) {
        let Val::Tape(records) = tape else { unreachable!("verified") };
        self.counters.pushed_bytes += 8 * record.len() as u64;
        records.push(record);
    }

    fn pop(&mut self, tape: &mut Val) -> Option<Vec<Val>> {
        let Val::Tape(records) = tape else { unreachable!("verified") };
        records.pop()
    }

    fn step(&mut self) {
        self.counters.operations += 1;
    }

    fn ran(machine: &mut Machine<'_, Meter>, env: &Env<'_, Meter>, inst: &Inst, results: &[Val]) {
        if let Some(observer) = &machine.domain.observer {
            let event = Event { func: env.func, inst, results, env, machine };
            observer.borrow_mut().ran(&event);
        }
    }

    fn dropped(&mut self, value: Option<Val>) {
        self.forget(value);
    }

    fn data(
        machine: &mut Machine<'_, Meter>,
        env: &mut Env<'_, Meter>,
        inst: &Inst,
    ) -> Run<Vec<Val>> {
        let args = &inst.args;
        let one = |v: Val| Ok(vec![v]);
        match &inst.op {
            Op::Prim(prim) => one(elementwise(machine, env, inst, *prim)?),
            Op::Dim(axis) => one(Val::i64(env.array(args[0]).shape[*axis as usize] as i64)),
            Op::Load => {
                let at = position(machine, env, inst, &args[1..])?;
                machine.domain.moved(meter::element(env.array(args[0])));
                one(Val::Scalar(env.array(args[0]).elements().get(at)))
            }
            Op::Store => {
                let last = args.len() - 1;
                let at = position(machine, env, inst, &args[1..last])?;
                let v = env.scalar(args[last]);
                let mut array = env.take_array(args[0]);
                machine.domain.moved(meter::element(&array));
                machine.domain.own(&mut array).elements_mut().set(at, v);
                one(Val::Array(array))
            }
            Op::Fill => {
                let (v, dims) = args.split_last().unwrap_or_else(|| unreachable!("verified"));
                let operands: Vec<Operand> = dims.iter().map(|d| env.operand(*d)).collect();
                let shape = machine.kernel(env.func, inst, kernels::dims(&operands))?;
                let no_room = kernels::no_room(&shape);
                match Array::filled(shape, env.scalar(*v)) {
                    Some(array) => {
                        machine.domain.moved(meter::bytes(&array));
                        one(machine.domain.new_array(array))
                    }
                    None => machine.fault(no_room, inst.span),
                }
            }
            Op::Copy => {
                let x = env.array(args[0]).clone();
                machine.domain.moved(2 * meter::bytes(&x));
                one(machine.domain.new_array(x))
            }
            Op::Array(op) if op.in_place() => {
                let mut array = env.take_array(args[0]);
                let x = machine.domain.own(&mut array);
                let shape = x.shape.clone();
                let others: Vec<Operand> = args[1..].iter().map(|a| env.operand(*a)).collect();
                machine.domain.moved(meter::updated(op, x, &others));
                let done = kernels::update(op, &shape, x.elements_mut(), &others);
                machine.kernel(env.func, inst, done)?;
                one(Val::Array(array))
            }
            Op::Array(op) => {
                let operands: Vec<Operand> = args.iter().map(|a| env.operand(*a)).collect();
                let computed = kernels::compute(op, &operands);
                let computed = machine.kernel(env.func, inst, computed)?;
                let made = if let Computed::Array(x) = &computed { meter::bytes(x) } else { 0 };
                machine.domain.moved(meter::computed(op, &operands, made));
                match computed {
                    Computed::Scalar(s) => one(Val::Scalar(s)),
                    Computed::Array(x) => one(machine.domain.new_array(x)),
                    Computed::Nothing => Ok(Vec::new()),
                }
            }
            _ => unreachable!("control flow is the machine's"),
        }
    }
}

/// A row of the table: on scalars, or element by element.
fn elementwise(
    machine: &mut Machine<'_, Meter>,
    env: &Env<'_, Meter>,
    inst: &Inst,
    prim: Prim,
) -> Run<Val> {
    let result = env.func.ty(inst.results[0]);
    let operands: Vec<Operand> = inst.args.iter().map(|a| env.operand(*a)).collect();
    if result.is_scalar() {
        return machine.scalar(prim, &kernels::element(&operands, 0), inst).map(Val::Scalar);
    }
    let shape = kernels::common_shape(prim.name(), &operands);
    let shape = machine.kernel(env.func, inst, shape)?;
    let n = shaped::count(&shape);
    let elements: Run<Vec<Scalar>> =
        (0..n).map(|k| machine.scalar(prim, &kernels::element(&operands, k), inst)).collect();
    let elem = result.elem().unwrap_or(Elem::F64);
    let data = kernels::collect(elem, elements?.into_iter());
    let array = Array { shape, data };
    let meter = &mut machine.domain;
    meter.moved(meter::operands(&operands) + meter::bytes(&array));
    meter.counters.operations += array.len() as u64;
    Ok(meter.new_array(array))
}

/// The place of an element in row-major order.
fn position(
    machine: &Machine<'_, Meter>,
    env: &Env<'_, Meter>,
    inst: &Inst,
    indices: &[Value],
) -> Run<usize> {
    let shape = &env.array(inst.args[0]).shape;
    let mut at = 0;
    for (axis, (i, n)) in indices.iter().zip(shape).enumerate() {
        let named = (shape.len() > 1).then_some(axis as u8);
        let index = kernels::index(env.i64(*i), *n, named);
        at = at * n + machine.kernel(env.func, inst, index)?;
    }
    Ok(at)
}

impl Env<'_, Meter> {
    fn array(&self, v: Value) -> &Array {
        match self.at(v) {
            Val::Array(x) => x,
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
