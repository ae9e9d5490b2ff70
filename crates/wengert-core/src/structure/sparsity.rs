//! The pattern of a derivative, by running the program.
//!
//! [`Sparsity`] runs a function on given arguments as the interpreter does and carries beside every float
//! the set of input elements it depends on. Loops run as often as they run, an overwritten element forgets
//! what it was, and operations without a derivative (comparisons, rounding) cut the dependence. So the
//! pattern is exact about indices, and holds for every point at which the program takes the same path:
//! the same branches, trip counts and indices. At other points ask again.
//!
//! Dependence is structural: `0.0 * x` depends on `x`.
//!
//! ```
//! use wengert_core::interp::Val;
//! use wengert_core::ir::parse;
//! use wengert_core::structure::Sparsity;
//!
//! let module = parse::module(
//!     "func @f(%x: f64, %y: f64, %z: f64) -> (f64, f64) {
//!        %a = mul %x, %y
//!        %b = floor %z
//!        %c = add %z, %b
//!        return %a, %c
//!      }",
//! )?;
//! let args = [Val::f64(1.0), Val::f64(2.0), Val::f64(3.0)];
//! let sparsity = Sparsity::of(&module.funcs[0]);
//! assert_eq!(sparsity.jacobian(&[0, 1, 2], &args)?.to_string(), "* * .\n. . *");
//! // The product has a second derivative by `x` and `y`, but none by either alone.
//! assert_eq!(sparsity.hessian(&[0, 1, 2], &args)?.to_string(), ". * .\n* . .\n. . .");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::arrays::{self, Arrays};
use super::interactions::Interactions;
use super::pattern::Pattern;
use super::traced::{Deps, Traced, count};
use crate::fault::{Fault, FaultKind};
use crate::interp::{MAX_CALLS, Val};
use crate::ir::verify::consumes;
use crate::ir::{Block, Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::math;
use crate::ops::kernels::{self, Operand};
use crate::ops::value::eval;
use crate::ops::{Array, Prim, Scalar, Trap};
use crate::span::Span;

/// What a result depends on where it is one of two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choices {
    /// On the value chosen at this point.
    #[default]
    Taken,
    /// On both values of a `select`, `min` or `max`. A branch (`if`) or an exit is still followed as taken.
    Both,
}

/// Finds the patterns of a function's derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Sparsity<'f> {
    func: &'f Func,
    module: Option<&'f Module>,
    /// How `select`, `min` and `max` are read.
    pub choices: Choices,
    /// Most iterations a `while` loop may take.
    pub max_iterations: u64,
}

impl<'f> Sparsity<'f> {
    /// Of a verified function that calls no other.
    pub fn of(func: &'f Func) -> Self {
        Sparsity { func, module: None, choices: Choices::Taken, max_iterations: 1_000_000_000 }
    }

    /// The same for a function that calls others of this module.
    #[must_use]
    pub fn within(mut self, module: &'f Module) -> Self {
        self.module = Some(module);
        self
    }

    /// The same with another reading of `select`, `min` and `max`.
    #[must_use]
    pub fn reading(mut self, choices: Choices) -> Self {
        self.choices = choices;
        self
    }

    /// The pattern of the Jacobian: a row for every float of the results, a column for every float of the
    /// parameters in `wrt`, arrays element by element. Arguments fit the parameters; a tape is supplied.
    pub fn jacobian(&self, wrt: &[usize], args: &[Val]) -> Result<Pattern, Fault> {
        let (n, results) = self.trace(&mut Tracer::new(self, false), wrt, args)?;
        let mut pattern = Pattern::without_rows(n);
        for dep in results.iter().flat_map(|r| r.all()) {
            pattern.push_row(|entries| dep.inputs.append_to(entries));
        }
        Ok(pattern)
    }

    /// The pattern of the Hessian of the float result, over every float of the parameters in `wrt`. Of
    /// several results: of any combination of them.
    pub fn hessian(&self, wrt: &[usize], args: &[Val]) -> Result<Pattern, Fault> {
        let mut tracer = Tracer::new(self, true);
        let (n, results) = self.trace(&mut tracer, wrt, args)?;
        let ends = results.iter().flat_map(|r| r.all()).map(|dep| dep.pairs);
        Ok(tracer.interactions.pattern(ends, n))
    }

    /// The values of `watched` when the body of the loop with this counter starts its iteration for the
    /// given time, counted from 0 over the whole run; nothing where it does not come to that.
    pub(super) fn watch(
        &self,
        counter: Value,
        iteration: u64,
        watched: &[Value],
        args: &[Val],
    ) -> Result<Option<Vec<Val>>, Fault> {
        let mut tracer = Tracer::new(self, false);
        tracer.watch = Some(Watch { counter, left: iteration, watched, seen: None });
        let end = self.trace(&mut tracer, &[], args);
        match (tracer.watch.and_then(|w| w.seen), end) {
            (Some(seen), _) => Ok(Some(seen)),
            (None, Ok(_)) => Ok(None),
            (None, Err(fault)) => Err(fault),
        }
    }

    /// Runs the function: how many inputs there are, and its results.
    fn trace(
        &self,
        tracer: &mut Tracer<'f, '_>,
        wrt: &[usize],
        args: &[Val],
    ) -> Result<(usize, Vec<Traced>), Fault> {
        let mut traced: Vec<Traced> = args.iter().cloned().map(Traced::passive).collect();
        let mut n = 0;
        for k in wrt {
            if let Some(slot) = traced.get_mut(*k) {
                *slot = Traced::input(args[*k].clone(), n as u32);
                n += count(&args[*k]).unwrap_or(0);
            }
        }
        if self.func.param_types().contains(&Type::Tape) {
            traced.push(Traced::passive(Val::tape()));
        }
        Ok((n, tracer.run(self.func, traced, Span::default())?))
    }
}

/// A stop before an iteration of a loop.
struct Watch<'w> {
    counter: Value,
    left: u64,
    watched: &'w [Value],
    seen: Option<Vec<Val>>,
}

/// The interpreter, on values with what they depend on.
struct Tracer<'f, 'w> {
    sparsity: Sparsity<'f>,
    interactions: Interactions,
    arrays: Arrays,
    watch: Option<Watch<'w>>,
    depth: usize,
    loops: Vec<(Span, i64)>,
}

type Run<T> = Result<T, Fault>;

/// The values of one call in progress.
struct Env<'f> {
    func: &'f Func,
    values: Vec<Option<Traced>>,
}

/// How a block was left.
enum Flow {
    Yield(Vec<Traced>),
    Exit(Vec<Traced>),
}

impl<'f> Tracer<'f, '_> {
    fn new(sparsity: &Sparsity<'f>, hessian: bool) -> Self {
        Tracer {
            sparsity: *sparsity,
            interactions: Interactions::new(hessian),
            arrays: Arrays::default(),
            watch: None,
            depth: 0,
            loops: Vec::new(),
        }
    }

    fn fault<T>(&self, kind: FaultKind, span: Span) -> Run<T> {
        Err(Fault { kind, span, iterations: self.loops.iter().rev().copied().collect() })
    }

    fn run(&mut self, func: &Func, args: Vec<Traced>, span: Span) -> Run<Vec<Traced>> {
        if self.depth == MAX_CALLS {
            return self.fault(FaultKind::CallDepth(MAX_CALLS), span);
        }
        self.depth += 1;
        let results = self.execute(func, args)?;
        self.depth -= 1;
        Ok(results)
    }

    fn execute(&mut self, func: &Func, args: Vec<Traced>) -> Run<Vec<Traced>> {
        let mut env = Env { func, values: vec![None; func.values.len()] };
        match self.block(&mut env, &func.body, args)? {
            Flow::Yield(results) | Flow::Exit(results) => Ok(results),
        }
    }

    fn block(&mut self, env: &mut Env, block: &Block, args: Vec<Traced>) -> Run<Flow> {
        for (p, a) in block.params.iter().zip(args) {
            env.set(*p, a);
        }
        self.look(env, block)?;
        for inst in &block.insts {
            if inst.op == Op::ExitIf {
                if env.bool(inst.args[0]) {
                    return Ok(Flow::Exit(self.branch(env, &inst.blocks[0])?));
                }
                continue;
            }
            let results = self.inst(env, inst)?;
            for (r, v) in inst.results.iter().zip(results) {
                env.set(*r, v);
            }
        }
        Ok(Flow::Yield(block.yields.iter().map(|y| env.take(*y)).collect()))
    }

    /// Stops the run where it is asked to.
    fn look(&mut self, env: &Env, block: &Block) -> Run<()> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let here = std::ptr::eq(env.func, self.sparsity.func);
        if !here || block.params.first() != Some(&watch.counter) {
            return Ok(());
        }
        if watch.left == 0 {
            watch.seen = Some(watch.watched.iter().map(|v| env.get(*v).val).collect());
            return self.fault(FaultKind::Interrupted, Span::default());
        }
        watch.left -= 1;
        Ok(())
    }

    /// A block that cannot be left early.
    fn branch(&mut self, env: &mut Env, block: &Block) -> Run<Vec<Traced>> {
        match self.block(env, block, Vec::new())? {
            Flow::Yield(values) | Flow::Exit(values) => Ok(values),
        }
    }

    fn inst(&mut self, env: &mut Env, inst: &Inst) -> Run<Vec<Traced>> {
        let args = &inst.args;
        match &inst.op {
            Op::Prim(prim) => Ok(vec![self.prim(env, inst, *prim)?]),
            Op::Push => {
                let mut tape = env.take(args[0]);
                let record = args[1..].iter().map(|a| env.take(*a)).collect();
                if let Deps::Records(records) = &mut tape.deps {
                    records.push(record);
                }
                Ok(vec![tape])
            }
            Op::Pop => {
                let mut tape = env.take(args[0]);
                let record = match &mut tape.deps {
                    Deps::Records(records) => records.pop(),
                    _ => None,
                };
                let wanted = inst.results[1..].iter().map(|r| env.func.ty(*r));
                let Some(record) = record.filter(|r| wanted.eq(r.iter().map(|v| v.val.ty())))
                else {
                    let message = "the last record of the tape is not what is popped";
                    return self.fault(FaultKind::Assert(message.into()), inst.span);
                };
                Ok(std::iter::once(tape).chain(record).collect())
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
                let plan = self.sparsity.module.and_then(|m| m.plan(name));
                let plan = plan.unwrap_or_else(|| unreachable!("verified"));
                match phase {
                    Phase::Forward => self.record_all(env, inst, plan),
                    Phase::Reverse => self.callee(env, inst, &plan.reverse),
                }
            }
            Op::Dim(_) | Op::Load | Op::Store | Op::Fill | Op::Copy | Op::Array(_) => {
                Ok(vec![self.array(env, inst)?])
            }
            Op::Tape => Ok(vec![Traced::passive(Val::tape())]),
        }
    }

    fn array(&mut self, env: &mut Env, inst: &Inst) -> Run<Traced> {
        let taken = inst.op.takes();
        let operand = |(k, a): (usize, &Value)| {
            if taken == Some(k) { env.take(*a) } else { env.get(*a) }
        };
        let args = inst.args.iter().enumerate().map(operand).collect();
        match self.arrays.apply(&mut self.interactions, &inst.op, args) {
            Some(result) => self.kernel(env, inst, result),
            None => unreachable!("every operation is a scalar, array or control operation"),
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

    /// A row of the table: on scalars, or element by element.
    fn prim(&mut self, env: &Env, inst: &Inst, prim: Prim) -> Run<Traced> {
        let args: Vec<Traced> = inst.args.iter().map(|a| env.get(*a)).collect();
        let operands: Vec<Operand> = args.iter().map(arrays::operand).collect();
        let (result, choices) = (env.func.ty(inst.results[0]), self.sparsity.choices);
        let (mut elements, mut deps) = (Vec::new(), Vec::new());
        let shape = if result.is_array() {
            self.kernel(env, inst, kernels::common_shape(prim.name(), &operands))?
        } else {
            Vec::new()
        };
        for k in 0..shape.iter().product() {
            let inputs = kernels::element(&operands, k);
            let y = self.scalar(prim, &inputs, inst)?;
            elements.push(y);
            if result.is_float() {
                let parts = args.iter().map(|a| a.at(k)).collect();
                deps.push(self.interactions.prim(choices, prim, parts, &inputs, y));
            }
        }
        match result.elem() {
            Some(elem) if result.is_array() => {
                let data = kernels::collect(elem, elements.into_iter());
                let deps = if result.is_float() { Deps::each(deps) } else { Deps::None };
                Ok(Traced { val: Val::shaped(Array { shape, data }), deps })
            }
            _ => Ok(Traced {
                val: Val::Scalar(elements[0]),
                deps: deps.pop().map_or(Deps::None, Deps::One),
            }),
        }
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
                    Scalar::F32(x) => Traced::passive(Val::f64(f64::from(*x))),
                    other => Traced::passive(Val::Scalar(*other)),
                });
                match self.execute(math::program(prim), inputs.collect())?[0].val {
                    Val::Scalar(Scalar::F64(y)) if single => Ok(Scalar::F32(y as f32)),
                    Val::Scalar(y) => Ok(y),
                    _ => unreachable!("an elementary function has one result"),
                }
            }
        }
    }

    fn record_all(&mut self, env: &mut Env, inst: &Inst, plan: &LoopPlan) -> Run<Vec<Traced>> {
        if plan.bounded {
            return self.callee(env, inst, &plan.record);
        }
        let (from, limit) = (env.i64(inst.args[0]), self.sparsity.max_iterations);
        let to = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
        let mut args = self.callee_args(env, inst, &plan.record);
        args[1] = Traced::passive(Val::i64(from.saturating_add(to)));
        let results = self.run(self.named(&plan.record), args, inst.span)?;
        match results[plan.carries + 1].val {
            Val::Scalar(Scalar::I64(0)) => self.fault(FaultKind::IterationLimit(limit), inst.span),
            _ => Ok(results),
        }
    }

    /// A function of the module, or one that elementary functions call.
    fn named(&self, name: &str) -> &'f Func {
        let found = self.sparsity.module.and_then(|m| m.func(name));
        found.or_else(|| math::called(name)).unwrap_or_else(|| unreachable!("verified"))
    }

    fn callee(&mut self, env: &mut Env, inst: &Inst, name: &str) -> Run<Vec<Traced>> {
        let mut args = self.callee_args(env, inst, name);
        if self.sparsity.module.is_none_or(|m| m.rule(name).is_none()) {
            return self.run(self.named(name), args, inst.span);
        }
        // What a rule does is up to its author: everything may depend on everything, and not linearly.
        let dep = self.interactions.anything(args.iter().flat_map(|a| a.all()));
        for arg in &mut args {
            if !matches!(arg.deps, Deps::Records(_)) {
                *arg = Traced::passive(arg.val.clone());
            }
        }
        let mut results = self.run(self.named(name), args, inst.span)?;
        for result in &mut results {
            match &mut result.deps {
                Deps::One(one) => *one = dep.clone(),
                Deps::Each(each) => *each = vec![dep.clone(); each.len()].into(),
                Deps::None | Deps::Records(_) => {}
            }
        }
        Ok(results)
    }

    fn callee_args(&self, env: &mut Env, inst: &Inst, name: &str) -> Vec<Traced> {
        let callee = self.named(name);
        let alone = Module::default();
        let module = self.sparsity.module.unwrap_or(&alone);
        let args = inst.args.iter().zip(callee.params());
        args.map(|(a, p)| {
            let taken = callee.ty(*p) == Type::Tape || consumes(module, callee, *p);
            if taken { env.take(*a) } else { env.get(*a) }
        })
        .collect()
    }

    fn looping(
        &mut self,
        env: &mut Env,
        inst: &Inst,
        lo: i64,
        hi: Option<i64>,
        mut carries: Vec<Traced>,
    ) -> Run<Vec<Traced>> {
        let limit = self.sparsity.max_iterations;
        let mut i = lo;
        while hi.is_none_or(|hi| i < hi) {
            if hi.is_none() && i as u64 > limit {
                return self.fault(FaultKind::IterationLimit(limit), inst.span);
            }
            self.loops.push((inst.span, i - lo));
            let counter = Traced::passive(Val::i64(i));
            let args = std::iter::once(counter).chain(carries).collect();
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
}

impl Env<'_> {
    fn set(&mut self, v: Value, traced: Traced) {
        self.values[v.index()] = Some(traced);
    }

    fn get(&self, v: Value) -> Traced {
        match (self.func.as_const(v), &self.values[v.index()]) {
            (Some(c), _) => Traced::passive(Val::Scalar(c)),
            (None, Some(traced)) => traced.clone(),
            (None, None) => panic!("the verifier lets no use of an undefined value through"),
        }
    }

    /// Takes a value over, so that an array can be changed in place.
    fn take(&mut self, v: Value) -> Traced {
        let linear = self.func.ty(v).is_linear();
        match self.values[v.index()].take_if(|_| linear) {
            Some(traced) => traced,
            None => self.get(v),
        }
    }

    fn i64(&self, v: Value) -> i64 {
        match self.get(v).val {
            Val::Scalar(Scalar::I64(x)) => x,
            _ => unreachable!("verified"),
        }
    }

    fn bool(&self, v: Value) -> bool {
        matches!(self.get(v).val, Val::Scalar(Scalar::Bool(true)))
    }
}
