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
use crate::interp::Val;
use crate::interp::machine::{Domain, Env, Machine, Run};
use crate::ir::{Block, Func, Inst, Module, Op, Type, Value};
use crate::ops::kernels::{self, Operand};
use crate::ops::{Array, Prim};
use crate::span::Span;
use std::sync::LazyLock;

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
    module: &'f Module,
    /// How `select`, `min` and `max` are read.
    pub choices: Choices,
    /// Most iterations a `while` loop may take.
    pub max_iterations: u64,
}

impl<'f> Sparsity<'f> {
    /// Of a verified function that calls no other.
    pub fn of(func: &'f Func) -> Self {
        static NO_OTHERS: LazyLock<Module> = LazyLock::new(Module::default);
        let module = &NO_OTHERS;
        Sparsity { func, module, choices: Choices::Taken, max_iterations: 1_000_000_000 }
    }

    /// The same for a function that calls others of this module.
    #[must_use]
    pub fn within(mut self, module: &'f Module) -> Self {
        self.module = module;
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
        let (n, results) = self.trace(&mut self.machine(false), wrt, args)?;
        let mut pattern = Pattern::without_rows(n);
        for dep in results.iter().flat_map(|r| r.all()) {
            pattern.push_row(|entries| dep.inputs.append_to(entries));
        }
        Ok(pattern)
    }

    /// The pattern of the Hessian of the float result, over every float of the parameters in `wrt`. Of
    /// several results: of any combination of them.
    pub fn hessian(&self, wrt: &[usize], args: &[Val]) -> Result<Pattern, Fault> {
        let mut machine = self.machine(true);
        let (n, results) = self.trace(&mut machine, wrt, args)?;
        let ends = results.iter().flat_map(|r| r.all()).map(|dep| dep.pairs);
        Ok(machine.domain.interactions.pattern(ends, n))
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
        let mut machine = self.machine(false);
        machine.domain.watch = Some(Watch { counter, left: iteration, watched, seen: None });
        let end = self.trace(&mut machine, &[], args);
        match (machine.domain.watch.and_then(|w| w.seen), end) {
            (Some(seen), _) => Ok(Some(seen)),
            (None, Ok(_)) => Ok(None),
            (None, Err(fault)) => Err(fault),
        }
    }

    fn machine<'w>(&self, hessian: bool) -> Machine<'f, Tracer<'f, 'w>> {
        let tracer = Tracer {
            sparsity: *self,
            interactions: Interactions::new(hessian),
            arrays: Arrays::default(),
            watch: None,
        };
        Machine::new(self.module, tracer, self.max_iterations)
    }

    /// Runs the function: how many inputs there are, and its results.
    fn trace(
        &self,
        machine: &mut Machine<'f, Tracer<'f, '_>>,
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
        Ok((n, machine.start(self.func, traced)?))
    }
}

/// A stop before an iteration of a loop.
struct Watch<'w> {
    counter: Value,
    left: u64,
    watched: &'w [Value],
    seen: Option<Vec<Val>>,
}

/// Values with what they depend on.
struct Tracer<'f, 'w> {
    sparsity: Sparsity<'f>,
    interactions: Interactions,
    arrays: Arrays,
    watch: Option<Watch<'w>>,
}

impl Domain for Tracer<'_, '_> {
    type Value = Traced;

    fn plain(val: Val) -> Traced {
        Traced::passive(val)
    }

    fn val(value: &Traced) -> &Val {
        &value.val
    }

    fn push(&mut self, tape: &mut Traced, record: Vec<Traced>) {
        let Deps::Records(records) = &mut tape.deps else { unreachable!("verified") };
        records.push(record);
    }

    fn pop(&mut self, tape: &mut Traced) -> Option<Vec<Traced>> {
        let Deps::Records(records) = &mut tape.deps else { unreachable!("verified") };
        records.pop()
    }

    fn data(
        machine: &mut Machine<'_, Self>,
        env: &mut Env<'_, Self>,
        inst: &Inst,
    ) -> Run<Vec<Traced>> {
        if let Op::Prim(prim) = inst.op {
            return Ok(vec![elementwise(machine, env, inst, prim)?]);
        }
        let taken = inst.op.takes();
        let operand = |(k, a): (usize, &Value)| {
            if taken == Some(k) { env.take(*a) } else { env.get(*a) }
        };
        let args = inst.args.iter().enumerate().map(operand).collect();
        let tracer = &mut machine.domain;
        match tracer.arrays.apply(&mut tracer.interactions, &inst.op, args) {
            Some(result) => Ok(vec![machine.kernel(env.func, inst, result)?]),
            None => unreachable!("control flow is the machine's"),
        }
    }

    fn call(
        machine: &mut Machine<'_, Self>,
        callee: &Func,
        mut args: Vec<Traced>,
        span: Span,
    ) -> Run<Vec<Traced>> {
        if machine.domain.sparsity.module.rule(&callee.name).is_none() {
            return machine.run(callee, args, span);
        }
        // What a rule does is up to its author: everything may depend on everything, and not linearly.
        let dep = machine.domain.interactions.anything(args.iter().flat_map(|a| a.all()));
        for arg in &mut args {
            if !matches!(arg.deps, Deps::Records(_)) {
                *arg = Traced::passive(arg.val.clone());
            }
        }
        let mut results = machine.run(callee, args, span)?;
        for result in &mut results {
            match &mut result.deps {
                Deps::One(one) => *one = dep.clone(),
                Deps::Each(each) => *each = vec![dep.clone(); each.len()].into(),
                Deps::None | Deps::Records(_) => {}
            }
        }
        Ok(results)
    }

    /// Stops the run where it is asked to.
    fn enter(machine: &mut Machine<'_, Self>, env: &Env<'_, Self>, block: &Block) -> Run<()> {
        let here = std::ptr::eq(env.func, machine.domain.sparsity.func);
        let Some(watch) = &mut machine.domain.watch else { return Ok(()) };
        if !here || block.params.first() != Some(&watch.counter) {
            return Ok(());
        }
        if watch.left == 0 {
            watch.seen = Some(watch.watched.iter().map(|v| env.get(*v).val).collect());
            return machine.fault(FaultKind::Interrupted, Span::default());
        }
        watch.left -= 1;
        Ok(())
    }
}

/// A row of the table: on scalars, or element by element.
fn elementwise(
    machine: &mut Machine<'_, Tracer<'_, '_>>,
    env: &Env<'_, Tracer<'_, '_>>,
    inst: &Inst,
    prim: Prim,
) -> Run<Traced> {
    let args: Vec<Traced> = inst.args.iter().map(|a| env.get(*a)).collect();
    let operands: Vec<Operand> = args.iter().map(arrays::operand).collect();
    let (result, choices) = (env.func.ty(inst.results[0]), machine.domain.sparsity.choices);
    let (mut elements, mut deps) = (Vec::new(), Vec::new());
    let shape = if result.is_array() {
        let shape = kernels::common_shape(prim.name(), &operands);
        machine.kernel(env.func, inst, shape)?
    } else {
        Vec::new()
    };
    for k in 0..shape.iter().product() {
        let inputs = kernels::element(&operands, k);
        let y = machine.scalar(prim, &inputs, inst)?;
        elements.push(y);
        if result.is_float() {
            let parts = args.iter().map(|a| a.at(k)).collect();
            deps.push(machine.domain.interactions.prim(choices, prim, parts, &inputs, y));
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
