//! One iteration of a loop as a function of its own.
//!
//! The Jacobian of a long loop is the product of the Jacobians of its iterations, and these have the
//! structure: a heat step is banded, however dense the whole solution depends on the start. [`OneStep`]
//! holds the body of a loop as a function `@f.step`, to which everything applies that applies to functions:
//! derivatives, patterns, compression.
//!
//! ```
//! use wengert_core::check::Interpreter;
//! use wengert_core::interp::Val;
//! use wengert_core::ir::parse;
//! use wengert_core::structure::OneStep;
//!
//! let module = parse::module(
//!     "func @f(%x: f64, %v: f64, %dt: f64, %n: i64) -> (f64, f64) {
//!        %xn, %vn = for %i in 0..%n carry (%x1 = %x, %v1 = %v) {
//!          %dv = mul %dt, %x1
//!          %v2 = sub %v1, %dv
//!          %dx = mul %dt, %v2
//!          %x2 = add %x1, %dx
//!          yield %x2, %v2
//!        }
//!        return %xn, %vn
//!      }",
//! )?;
//! let args = [Val::f64(1.0), Val::f64(0.0), Val::f64(0.1), Val::i64(50)];
//! let step = OneStep::of(&module.funcs[0], 0)?;
//! let at = step.state(&args, 7)?.expect("the loop comes to iteration 7");
//! let jacobian = step.jacobian(&mut Interpreter::default(), &at)?;
//! // Symplectic Euler keeps areas: the determinant of every step is 1.
//! let det = jacobian.get(0, 0) * jacobian.get(1, 1) - jacobian.get(0, 1) * jacobian.get(1, 0);
//! assert!((det - 1.0).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::compressed::{self, Sparse};
use super::pattern::Pattern;
use super::sparsity::Sparsity;
use crate::check::{Derived, Engine};
use crate::fault::Fault;
use crate::interp::Val;
use crate::ir::{Block, Builder, Func, Inst, Op, Type, Value};
use crate::span::Diagnostic;
use crate::transform::copy::Copier;
use std::sync::Arc;

/// One iteration of a loop.
#[derive(Clone, Debug)]
pub struct OneStep<'f> {
    /// `@f.step(carries.., captures.., i) -> (carries.., exit)`. Where an exit of the loop is taken, the
    /// carries are the results the loop then has, and `exit` is the number of the exit, counted from 1;
    /// otherwise they are what the next iteration starts with, and `exit` is 0.
    pub func: Func,
    /// How many values are carried from one iteration to the next.
    pub carries: usize,
    /// How many values from around the loop the body reads.
    pub captures: usize,
    /// How many exits the body has.
    pub exits: usize,
    whole: &'f Func,
    /// The loop's counter.
    counter: Value,
    /// What the parameters stand for in the whole function.
    stand_for: Vec<Value>,
}

impl<'f> OneStep<'f> {
    /// One iteration of the loop with this number among those not inside another loop, counted from 0 in
    /// the order they are written.
    pub fn of(func: &'f Func, number: usize) -> Result<OneStep<'f>, Diagnostic> {
        let mut loops = Vec::new();
        outermost(&func.body, &mut loops);
        let Some(inst) = loops.get(number) else {
            let message = format!(
                "`{}` has {} loops that are not inside another, so there is none with number {number}",
                func.name,
                loops.len()
            );
            return Err(Diagnostic::new("no-such-loop", message)
                .help("loops are counted from 0, in the order they are written"));
        };
        let body = &inst.blocks[0];
        let (counter, carries) = (body.params[0], &body.params[1..]);
        let captures = body.captures(func);
        let stand_for = [carries, &captures, &[counter]].concat();
        let params: Vec<(Type, Option<Arc<str>>)> =
            stand_for.iter().map(|v| (func.ty(*v), func.name_of(*v))).collect();
        let (mut b, values) = Builder::new(format!("{}.step", func.name), &params);
        let mut copier = Copier::default();
        for (from, to) in stand_for.iter().zip(values) {
            copier.bind(*from, to);
        }
        let results = rest(func, &mut copier, &mut b, body, 0, 1);
        Ok(OneStep {
            func: b.finish(results),
            carries: carries.len(),
            captures: captures.len(),
            exits: body.insts.iter().filter(|i| i.op == Op::ExitIf).count(),
            whole: func,
            counter,
            stand_for,
        })
    }

    /// The arguments of the step for an iteration of the whole function at these arguments, counted from 0;
    /// nothing where the loop ends before.
    pub fn state(&self, args: &[Val], iteration: u64) -> Result<Option<Vec<Val>>, Fault> {
        Sparsity::of(self.whole).watch(self.counter, iteration, &self.stand_for, args)
    }

    /// The carries with a derivative, by the number of their parameter.
    pub fn float_carries(&self) -> Vec<usize> {
        let types = self.func.param_types();
        (0..self.carries).filter(|k| types[*k].is_float()).collect()
    }

    /// Which elements of the next carries depend on which elements of the carries.
    pub fn pattern(&self, at: &[Val]) -> Result<Pattern, Fault> {
        Sparsity::of(&self.func).jacobian(&self.float_carries(), at)
    }

    /// The step with its derivative programs, by its float carries.
    pub fn derived(&self) -> Result<Derived, Diagnostic> {
        Derived::new(self.func.clone(), self.float_carries())
    }

    /// The Jacobian of the next carries by the carries, by as few runs as its pattern allows.
    pub fn jacobian(&self, engine: &mut dyn Engine, at: &[Val]) -> Result<Sparse, Diagnostic> {
        let jacobian = compressed::jacobian(&self.derived()?, engine, at);
        jacobian.map_err(|fault| fault.diagnostic())
    }
}

/// The loops that are not inside another.
fn outermost<'f>(block: &'f Block, found: &mut Vec<&'f Inst>) {
    for inst in &block.insts {
        if matches!(inst.op, Op::For | Op::While) {
            found.push(inst);
        } else {
            inst.blocks.iter().for_each(|b| outermost(b, found));
        }
    }
}

/// Copies the body from instruction `from` on. What follows an exit becomes the other side of a branch on
/// its condition.
fn rest(
    func: &Func,
    copier: &mut Copier,
    b: &mut Builder,
    body: &Block,
    from: usize,
    exit: i64,
) -> Vec<Value> {
    for (k, inst) in body.insts.iter().enumerate().skip(from) {
        if inst.op != Op::ExitIf {
            copier.inst(func, b, inst);
            continue;
        }
        let condition = copier.get(func, b, inst.args[0]);
        let taken = &inst.blocks[0];
        b.open_block(&[]);
        let mut inside = copier.clone();
        taken.insts.iter().for_each(|i| inside.inst(func, b, i));
        let mut yields = inside.all(func, b, &taken.yields);
        yields.push(b.i64(exit));
        let then = b.close_block(yields);
        b.open_block(&[]);
        let yields = rest(func, &mut copier.clone(), b, body, k + 1, exit + 1);
        let types: Vec<Type> = yields.iter().map(|y| b.ty(*y)).collect();
        let otherwise = b.close_block(yields);
        b.at(inst.span);
        return b.inst(Op::If, vec![condition], &types, vec![then, otherwise]);
    }
    let mut yields = copier.all(func, b, &body.yields);
    yields.push(b.i64(0));
    yields
}
