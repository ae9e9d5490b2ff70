//! Forward mode: a program that computes values and, beside each varied value, its tangent.
//!
//! `@f(x..) -> (y..)` becomes `@f.jvp(x.., dx..) -> (y.., dy..)`, one tangent per parameter in `wrt`
//! and one per float result. Memory does not grow with trip counts: a loop carries its tangents.

use super::activity::Activity;
use super::dce;
use super::emit::{accumulate, partials};
use crate::ir::{Block, Builder, Func, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Class, Partial, Prim};
use crate::span::Diagnostic;
use std::collections::HashMap;
use std::sync::Arc;

/// Differentiates a function forward by the parameters with these indices.
pub fn jvp(func: &Func, wrt: &[usize]) -> Result<Func, Diagnostic> {
    let by: Vec<Value> = wrt.iter().map(|k| func.params()[*k]).collect();
    let name = |v: Value, d: &str| func.name_of(v).map(|n| Arc::from(format!("{d}{n}")));
    let mut params: Vec<(Type, Option<Arc<str>>)> =
        func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    params.extend(by.iter().map(|p| (func.ty(*p), name(*p, "d"))));
    let (b, values) = Builder::new(format!("{}.jvp", func.name), &params);
    let mut jvp = Jvp {
        func,
        activity: Activity::new(func, &by),
        b,
        primal: func.params().iter().copied().zip(values.iter().copied()).collect(),
        tangent: by.iter().copied().zip(values[func.params().len()..].iter().copied()).collect(),
    };
    jvp.insts(&func.body)?;
    let mut results: Vec<Value> = func.body.yields.iter().map(|y| jvp.get(*y)).collect();
    for y in func.body.yields.iter().filter(|y| func.ty(**y).is_float()) {
        let t = jvp.tangent_of(*y);
        results.push(t);
    }
    // Tangents that nothing needs were made along the way.
    Ok(dce::remove_dead(&jvp.b.finish(results)))
}

struct Jvp<'f> {
    func: &'f Func,
    activity: Activity,
    b: Builder,
    primal: HashMap<Value, Value>,
    /// Tangents of varied values; a value without one has tangent zero.
    tangent: HashMap<Value, Value>,
}

type Done<T> = Result<T, Diagnostic>;

impl Jvp<'_> {
    fn get(&mut self, v: Value) -> Value {
        match self.func.as_const(v) {
            Some(c) => self.b.constant(c),
            None => self.primal[&v],
        }
    }

    /// The tangent, made of zeros where there is none.
    fn tangent_of(&mut self, v: Value) -> Value {
        if let Some(t) = self.tangent.get(&v) {
            return *t;
        }
        let zero = self.b.zero(self.func.ty(v));
        if !self.func.ty(v).is_array() {
            return zero;
        }
        let primal = self.get(v);
        let dims = self.b.dims(primal);
        self.b.filled(&dims, zero)
    }

    fn bind(&mut self, v: Value, primal: Value) {
        if let Some(name) = self.func.name_of(v) {
            self.b.name(primal, &name);
        }
        self.primal.insert(v, primal);
    }

    fn bind_tangent(&mut self, v: Value, tangent: Value) {
        if let Some(name) = self.func.name_of(v) {
            self.b.name(tangent, &format!("d{name}").into());
        }
        self.tangent.insert(v, tangent);
    }

    fn insts(&mut self, block: &Block) -> Done<()> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> Done<()> {
        self.b.at(inst.span);
        match &inst.op {
            Op::Prim(prim) => self.prim(*prim, inst),
            Op::Load | Op::Copy | Op::Store | Op::Fill => self.array(inst),
            Op::Dim(_) | Op::Assert(_) => self.plain(inst),
            Op::If => return self.branch(inst),
            Op::For | Op::While => return self.looping(inst),
            Op::ExitIf => unreachable!("handled by the loop"),
            Op::Array(op) => self.array_op(op, inst),
            Op::Tape | Op::Push | Op::Pop | Op::Call(_) | Op::Drive(..) => {
                return Err(Diagnostic::new(
                    "unsupported-transform",
                    "forward mode does not yet pass through calls and tapes",
                )
                .label(inst.span, "this instruction")
                .help("inline calls first; differentiate the original program, not its adjoint"));
            }
        }
        Ok(())
    }

    /// An instruction without a tangent.
    fn plain(&mut self, inst: &Inst) {
        let args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let results = self.b.op(inst.op.clone(), &args);
        for (r, v) in inst.results.iter().zip(results) {
            self.bind(*r, v);
        }
    }

    fn prim(&mut self, prim: Prim, inst: &Inst) {
        let args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let y = self.b.prim(prim, &args);
        self.bind(inst.results[0], y);
        if !self.activity.is_varied(inst.results[0]) {
            return;
        }
        let tangents: Vec<Option<Value>> =
            inst.args.iter().map(|a| self.tangent.get(a).copied()).collect();
        let mut sum = None;
        match prim.class() {
            Class::Select => {
                // Zero needs no array here: a number stands for one.
                let t: Vec<Value> = (1..3)
                    .map(|k| tangents[k].unwrap_or_else(|| self.b.zero(self.func.ty(inst.args[k]))))
                    .collect();
                sum = Some(self.b.select(args[0], t[0], t[1]));
            }
            Class::Cast => sum = tangents[0].map(|t| self.b.prim(prim, &[t])),
            _ => {
                let partials: Vec<Partial<Value>> = partials(&mut self.b, prim, &args, y);
                for (partial, t) in partials.into_iter().zip(tangents) {
                    if let Some(t) = t {
                        sum = Some(accumulate(&mut self.b, partial, t, sum));
                    }
                }
            }
        }
        let Some(mut sum) = sum else { return };
        if self.b.ty(y).is_array() {
            if !self.b.ty(sum).is_array() {
                // Every element moves alike.
                let dims = self.b.dims(y);
                sum = self.b.filled(&dims, sum);
            } else if inst.args.iter().any(|a| self.tangent.get(a) == Some(&sum)) {
                // An array belongs to one value.
                sum = self.b.op(Op::Copy, &[sum])[0];
            }
        }
        self.bind_tangent(inst.results[0], sum);
    }

    /// An array operation: linear ones move tangents as they move values, products obey the product rule.
    fn array_op(&mut self, op: &ArrayOp, inst: &Inst) {
        let factors = match op {
            ArrayOp::Dot => [0, 1],
            ArrayOp::Gemm(..) => [1, 2],
            _ => return self.array(inst),
        };
        let result = inst.results[0];
        let args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let varied = self.activity.is_varied(result);
        let accumulator = (varied && op.in_place()).then(|| self.tangent_of(inst.args[0]));
        self.plain(inst);
        if !varied {
            return;
        }
        let mut sum = accumulator;
        for k in factors {
            let Some(t) = self.tangent.get(&inst.args[k]).copied() else { continue };
            let mut args = args.clone();
            args[k] = t;
            sum = Some(match (op, sum) {
                (ArrayOp::Dot, sum) => {
                    let d = self.b.array(op.clone(), &args);
                    sum.map_or(d, |sum| self.b.add(sum, d))
                }
                (_, Some(c)) => {
                    args[0] = c;
                    self.b.array(op.clone(), &args)
                }
                (_, None) => unreachable!("an accumulator has a tangent"),
            });
        }
        if let Some(sum) = sum {
            self.bind_tangent(result, sum);
        }
    }

    /// Tangents of arrays move as the arrays do. The primal goes first: what is wrong is then said about
    /// the user's own array.
    fn array(&mut self, inst: &Inst) {
        let result = inst.results[0];
        let varied = self.activity.is_varied(result);
        let mut args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        if varied {
            for (k, a) in inst.args.iter().enumerate() {
                if self.func.ty(*a).is_float() {
                    args[k] = self.tangent_of(*a);
                }
            }
        }
        self.plain(inst);
        if varied {
            let t = self.b.op(inst.op.clone(), &args)[0];
            self.bind_tangent(result, t);
        }
    }

    /// Yields of a block: primals, then the tangents of those values of `like` that vary.
    fn yields(&mut self, block: &Block, like: &[Value]) -> Vec<Value> {
        let mut yields: Vec<Value> = block.yields.iter().map(|y| self.get(*y)).collect();
        for (y, r) in block.yields.iter().zip(like) {
            if self.activity.is_varied(*r) {
                yields.push(self.tangent_of(*y));
            }
        }
        yields
    }

    /// Appends an instruction with blocks; its results are primals and then tangents.
    fn finish(&mut self, inst: &Inst, args: Vec<Value>, blocks: Vec<Block>) {
        self.b.at(inst.span);
        let varied: Vec<Value> =
            inst.results.iter().copied().filter(|r| self.activity.is_varied(*r)).collect();
        let types: Vec<Type> =
            inst.results.iter().chain(&varied).map(|r| self.func.ty(*r)).collect();
        let results = self.b.inst(inst.op.clone(), args, &types, blocks);
        for (r, v) in inst.results.iter().zip(&results) {
            self.bind(*r, *v);
        }
        for (r, t) in varied.iter().zip(&results[inst.results.len()..]) {
            self.bind_tangent(*r, *t);
        }
    }

    fn branch(&mut self, inst: &Inst) -> Done<()> {
        let args = vec![self.get(inst.args[0])];
        let mut blocks = Vec::new();
        for block in &inst.blocks {
            let outer = (self.primal.clone(), self.tangent.clone());
            self.b.open_block(&[]);
            self.insts(block)?;
            let yields = self.yields(block, &inst.results);
            blocks.push(self.b.close_block(yields));
            (self.primal, self.tangent) = outer;
        }
        self.finish(inst, args, blocks);
        Ok(())
    }

    fn looping(&mut self, inst: &Inst) -> Done<()> {
        let body = &inst.blocks[0];
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let carries = &body.params[1..];
        let mut args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            body.params.iter().map(|p| (self.func.ty(*p), self.func.name_of(*p))).collect();
        for (p, init) in carries.iter().zip(&inst.args[bounds..]) {
            if self.activity.is_varied(*p) {
                let name = self.func.name_of(*p).map(|n| Arc::from(format!("d{n}")));
                params.push((self.func.ty(*p), name));
                args.push(self.tangent_of(*init));
            }
        }
        let outer = (self.primal.clone(), self.tangent.clone());
        let values = self.b.open_block(&params);
        for (p, v) in body.params.iter().zip(&values) {
            self.primal.insert(*p, *v);
        }
        let varied = carries.iter().filter(|p| self.activity.is_varied(**p));
        for (p, v) in varied.zip(&values[body.params.len()..]) {
            self.tangent.insert(*p, *v);
        }
        for step in &body.insts {
            if step.op == Op::ExitIf {
                let condition = self.get(step.args[0]);
                let exit = &step.blocks[0];
                let inner = (self.primal.clone(), self.tangent.clone());
                self.b.open_block(&[]);
                self.insts(exit)?;
                let yields = self.yields(exit, carries);
                let block = self.b.close_block(yields);
                (self.primal, self.tangent) = inner;
                self.b.at(step.span);
                self.b.inst(Op::ExitIf, vec![condition], &[], vec![block]);
            } else {
                self.inst(step)?;
            }
        }
        let yields = self.yields(body, carries);
        let block = self.b.close_block(yields);
        (self.primal, self.tangent) = outer;
        self.finish(inst, args, vec![block]);
        Ok(())
    }
}
