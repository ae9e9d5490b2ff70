//! Forward mode: a program that computes values and, beside each varied value, its tangent.
//!
//! `@f(x..) -> (y..)` becomes `@f.jvp(x.., dx..) -> (y.., dy..)`, one tangent per parameter in `wrt`
//! and one per float result. Memory does not grow with trip counts: a loop carries its tangents.
//! [`many`] does so along several directions at once. A tape has no tangent: its records hold those of
//! their fields.

mod calls;
mod drives;

use super::activity::Activity;
use super::dce;
use super::emit::{accumulate, partials};
use super::when::When;
use crate::ir::{Block, Builder, Func, Inst, Module, Op, Type, Value};
use crate::ops::{ArrayOp, Class, Partial, Prim};
use crate::span::Diagnostic;
use calls::Wanted;
pub use calls::in_module;
use drives::Driven;
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// Differentiates a function forward by the parameters with these indices.
pub fn jvp(func: &Func, wrt: &[usize]) -> Result<Func, Diagnostic> {
    many(func, wrt, 1)
}

/// Differentiates along several directions at once: values and partials are computed once, and every
/// varied value has `directions` tangents.
///
/// `@f(x..) -> (y..)` becomes `@f.jvp8(x.., dx0.., .., dx7..) -> (y.., dy0.., .., dy7..)`: all tangents of
/// one direction, then those of the next.
///
/// Calls are refused: [`in_module`] takes functions with calls.
pub fn many(func: &Func, wrt: &[usize], directions: usize) -> Result<Func, Diagnostic> {
    let title = name(&func.name, directions);
    derive(&Module::default(), func, &title, wrt, directions).map(|derived| derived.func)
}

/// A program, and what else is to be made for it.
struct Derived {
    func: Func,
    /// Callees whose derivatives it calls.
    wanted: Vec<Wanted>,
    /// Outlined loops whose derivatives it drives.
    driven: Vec<Driven>,
}

fn derive(
    module: &Module,
    func: &Func,
    title: &str,
    wrt: &[usize],
    directions: usize,
) -> Result<Derived, Diagnostic> {
    let by = super::calls::parameters(func, wrt)?;
    if directions == 0 {
        let message = "forward mode needs at least one direction";
        return Err(Diagnostic::new("no-direction", message));
    }
    let mut params: Vec<(Type, Option<Arc<str>>)> =
        func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    for d in 0..directions {
        params.extend(by.iter().map(|p| (func.ty(*p), tangent_name(func, *p, d))));
    }
    let (b, values) = Builder::new(title, &params);
    let given = &values[func.params().len()..];
    let tangents = (0..directions)
        .map(|d| by.iter().copied().zip(given[d * by.len()..].iter().copied()).collect());
    // What a caller has pushed may vary.
    let tapes = func.params().iter().copied().filter(|p| func.ty(*p) == Type::Tape);
    let varied: Vec<Value> = by.iter().copied().chain(tapes).collect();
    let activity = Activity::new(func, &varied);
    let mut jvp = Jvp {
        func,
        driven: drives::of(module, func, &activity),
        activity,
        b,
        primal: func.params().iter().copied().zip(values.iter().copied()).collect(),
        tangents: tangents.collect(),
        cases: vec![HashMap::default(); directions],
        direction: 0,
        module,
        wanted: Vec::new(),
    };
    jvp.insts(&func.body)?;
    let mut results: Vec<Value> = func.body.yields.iter().map(|y| jvp.get(*y)).collect();
    for d in 0..directions {
        jvp.direction = d;
        for y in func.body.yields.iter().filter(|y| func.ty(**y).is_float()) {
            let t = jvp.tangent_of(*y);
            results.push(t);
        }
    }
    // Tangents that nothing needs were made along the way.
    let Jvp { b, wanted, driven, .. } = jvp;
    Ok(Derived { func: dce::remove_dead(&b.finish(results)), wanted, driven })
}

/// The name of the program for so many directions.
pub fn name(func: &str, directions: usize) -> String {
    if directions == 1 { format!("{func}.jvp") } else { format!("{func}.jvp{directions}") }
}

/// The name of a tangent: `h` becomes `dh`, in the second direction `d1h`.
fn tangent_name(func: &Func, v: Value, direction: usize) -> Option<Arc<str>> {
    let number = if direction == 0 { String::new() } else { direction.to_string() };
    func.name_of(v).map(|n| format!("d{number}{n}").into())
}

struct Jvp<'f> {
    func: &'f Func,
    activity: Activity,
    b: Builder,
    primal: HashMap<Value, Value>,
    /// Per direction: tangents of varied values; a value without one has tangent zero.
    tangents: Vec<HashMap<Value, Value>>,
    /// Per direction: when a tangent is anything, where that is not always so.
    cases: Vec<HashMap<Value, When>>,
    /// The direction tangents are made for now.
    direction: usize,
    /// Where callees and rules are found.
    module: &'f Module,
    /// Callees whose derivatives are called.
    wanted: Vec<Wanted>,
    /// Outlined loops whose derivatives are driven.
    driven: Vec<Driven>,
}

type Done<T> = Result<T, Diagnostic>;

impl Jvp<'_> {
    fn get(&mut self, v: Value) -> Value {
        match self.func.as_const(v) {
            Some(c) => self.b.constant(c),
            None => self.primal[&v],
        }
    }

    /// Whether a value has tangents of its own. A tape has not: they are in its records.
    fn is_varied(&self, v: Value) -> bool {
        self.activity.is_varied(v) && self.func.ty(v).is_float()
    }

    /// The tangent in the current direction.
    fn tangent(&self, v: Value) -> Option<Value> {
        self.tangents[self.direction].get(&v).copied()
    }

    /// When the tangent in the current direction is anything.
    fn when(&self, v: Value) -> When {
        match self.tangent(v) {
            Some(_) => self.cases[self.direction].get(&v).copied().unwrap_or(When::Always),
            None => When::Never,
        }
    }

    /// The tangent, made of zeros where there is none.
    fn tangent_of(&mut self, v: Value) -> Value {
        if let Some(t) = self.tangent(v) {
            return t;
        }
        let zero = self.b.zero(self.func.ty(v));
        if !self.func.ty(v).is_array() {
            return zero;
        }
        let primal = self.get(v);
        let dims = self.b.dims(primal);
        self.b.filled(&dims, zero)
    }

    /// Tangents of these values, all of one direction before those of the next.
    fn tangents_of(&mut self, values: &[Value]) -> Vec<Value> {
        let mut out = Vec::new();
        for d in 0..self.tangents.len() {
            self.direction = d;
            out.extend(values.iter().map(|v| self.tangent_of(*v)));
        }
        out
    }

    /// Takes over what [`Jvp::tangents_of`] gave, or what has its order.
    fn bind_tangents(&mut self, values: &[Value], tangents: &[Value]) {
        for d in 0..self.tangents.len() {
            self.direction = d;
            for (v, t) in values.iter().zip(&tangents[d * values.len()..]) {
                self.bind_tangent(*v, *t);
            }
        }
    }

    fn bind(&mut self, v: Value, primal: Value) {
        if let Some(name) = self.func.name_of(v) {
            self.b.name(primal, &name);
        }
        self.primal.insert(v, primal);
    }

    fn bind_tangent(&mut self, v: Value, tangent: Value) {
        if let Some(name) = tangent_name(self.func, v, self.direction) {
            self.b.name(tangent, &name);
        }
        self.tangents[self.direction].insert(v, tangent);
    }

    fn insts(&mut self, block: &Block) -> Done<()> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> Done<()> {
        self.b.at(inst.span);
        match &inst.op {
            Op::Prim(prim) => self.prim(*prim, inst),
            Op::Load | Op::Copy | Op::Store | Op::Fill => self.array(inst),
            Op::Dim(_) | Op::Assert(_) | Op::Tape => self.plain(inst),
            Op::Push => self.push(inst),
            Op::Pop => self.pop(inst),
            Op::If => return self.branch(inst),
            Op::For | Op::While => return self.looping(inst),
            Op::ExitIf => unreachable!("handled by the loop"),
            Op::Call(name) => return self.call(name, inst),
            Op::Array(op) => self.array_op(op, inst),
            Op::Drive(name, phase) => return self.drive(name, *phase, inst),
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
        if !self.is_varied(inst.results[0]) {
            return;
        }
        let mut known: Option<Vec<Partial<Value>>> = None;
        for d in 0..self.tangents.len() {
            self.direction = d;
            let tangents: Vec<Option<Value>> = inst.args.iter().map(|a| self.tangent(*a)).collect();
            let cases: Vec<When> = inst.args.iter().map(|a| self.when(*a)).collect();
            let mut when = When::Never;
            let mut sum = None;
            match prim.class() {
                Class::Select => {
                    // Zero needs no array here: a number stands for one.
                    let zero = self.b.zero(self.func.ty(inst.results[0]));
                    let t = [tangents[1].unwrap_or(zero), tangents[2].unwrap_or(zero)];
                    sum = Some(self.b.select(args[0], t[0], t[1]));
                    when = cases[1].and(&mut self.b, args[0], true);
                    let other = cases[2].and(&mut self.b, args[0], false);
                    when = when.or(&mut self.b, other);
                }
                Class::Cast => {
                    sum = tangents[0].map(|t| self.b.prim(prim, &[t]));
                    when = cases[0];
                }
                _ => {
                    let all =
                        known.get_or_insert_with(|| partials(&mut self.b, prim, &args, y, None));
                    for (k, partial) in all.clone().into_iter().enumerate() {
                        if let Some(t) = tangents[k] {
                            let partial = cases[k].factor(&mut self.b, partial);
                            sum = Some(accumulate(&mut self.b, partial, t, sum));
                            let through = cases[k].through(&mut self.b, partial);
                            when = when.or(&mut self.b, through);
                        }
                    }
                }
            }
            let Some(sum) = sum else { continue };
            let sum = self.own(sum, y, &tangents);
            self.bind_tangent(inst.results[0], sum);
            self.cases[d].insert(inst.results[0], when);
        }
    }

    /// A tangent that belongs to `y` alone and has its shape.
    fn own(&mut self, t: Value, y: Value, others: &[Option<Value>]) -> Value {
        if !self.b.ty(y).is_array() {
            t
        } else if !self.b.ty(t).is_array() {
            // Every element moves alike.
            let dims = self.b.dims(y);
            self.b.filled(&dims, t)
        } else if others.contains(&Some(t)) {
            self.b.op(Op::Copy, &[t])[0]
        } else {
            t
        }
    }

    /// An array operation: linear ones move tangents as they move values, products obey the product rule.
    fn array_op(&mut self, op: &ArrayOp, inst: &Inst) {
        let factors = match op {
            ArrayOp::Dot => [0, 1],
            ArrayOp::Gemm(..) => [1, 2],
            ArrayOp::Conform(_) => return self.plain(inst),
            _ => return self.array(inst),
        };
        let result = inst.results[0];
        let args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let varied = self.is_varied(result);
        let mut accumulators = Vec::new();
        if varied && op.in_place() {
            accumulators = self.tangents_of(&inst.args[..1]);
        }
        self.plain(inst);
        for d in 0..if varied { self.tangents.len() } else { 0 } {
            self.direction = d;
            let mut sum = accumulators.get(d).copied();
            for k in factors {
                let Some(t) = self.tangent(inst.args[k]) else { continue };
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
    }

    /// Tangents of arrays move as the arrays do. The primal goes first: what is wrong is then said about
    /// the user's own array.
    fn array(&mut self, inst: &Inst) {
        let result = inst.results[0];
        if !self.is_varied(result) {
            return self.plain(inst);
        }
        let args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let mut each = Vec::new();
        for d in 0..self.tangents.len() {
            self.direction = d;
            let mut args = args.clone();
            for (k, a) in inst.args.iter().enumerate() {
                if self.func.ty(*a).is_float() {
                    args[k] = self.tangent_of(*a);
                }
            }
            each.push(args);
        }
        self.plain(inst);
        for (d, args) in each.into_iter().enumerate() {
            self.direction = d;
            let t = self.b.op(inst.op.clone(), &args)[0];
            self.bind_tangent(result, t);
        }
    }

    /// A record also holds the tangents of its float fields: all of them, so that `push` and `pop` agree
    /// by their types alone.
    fn push(&mut self, inst: &Inst) {
        let floats = self.floats(&inst.args);
        // A field pushed twice is a value like any other; zeros are made anew for each.
        let tangents = self.tangents_of(&floats);
        let mut args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        args.extend(tangents);
        let tape = self.b.op(Op::Push, &args)[0];
        self.bind(inst.results[0], tape);
    }

    fn pop(&mut self, inst: &Inst) {
        let floats = self.floats(&inst.results);
        let tape = self.get(inst.args[0]);
        let n = inst.results.len();
        let mut types: Vec<Type> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        for _ in 0..self.tangents.len() {
            types.extend(floats.iter().map(|r| self.func.ty(*r)));
        }
        let results = self.b.inst(Op::Pop, vec![tape], &types, Vec::new());
        for (r, v) in inst.results.iter().zip(&results) {
            self.bind(*r, *v);
        }
        self.bind_tangents(&floats, &results[n..]);
    }

    fn floats(&self, values: &[Value]) -> Vec<Value> {
        values.iter().copied().filter(|v| self.func.ty(*v).is_float()).collect()
    }

    /// Those of these values that vary.
    fn varied(&self, values: &[Value]) -> Vec<Value> {
        values.iter().copied().filter(|v| self.is_varied(*v)).collect()
    }

    /// Yields of a block: primals, then the tangents of those values of `like` that vary.
    fn yields(&mut self, block: &Block, like: &[Value]) -> Vec<Value> {
        let varied: Vec<Value> = (block.yields.iter().zip(like))
            .filter(|(_, r)| self.is_varied(**r))
            .map(|(y, _)| *y)
            .collect();
        let tangents = self.tangents_of(&varied);
        let primals = block.yields.iter().map(|y| self.get(*y));
        primals.collect::<Vec<_>>().into_iter().chain(tangents).collect()
    }

    /// Appends an instruction with blocks; its results are primals and then tangents.
    fn finish(&mut self, inst: &Inst, args: Vec<Value>, blocks: Vec<Block>) {
        self.b.at(inst.span);
        let varied = self.varied(&inst.results);
        let mut types: Vec<Type> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        for _ in 0..self.tangents.len() {
            types.extend(varied.iter().map(|r| self.func.ty(*r)));
        }
        let results = self.b.inst(inst.op.clone(), args, &types, blocks);
        for (r, v) in inst.results.iter().zip(&results) {
            self.bind(*r, *v);
        }
        self.bind_tangents(&varied, &results[inst.results.len()..]);
    }

    fn branch(&mut self, inst: &Inst) -> Done<()> {
        let condition = self.get(inst.args[0]);
        let mut blocks = Vec::new();
        // Per direction: on which sides each result moves.
        let mut moved = vec![vec![[false; 2]; inst.results.len()]; self.tangents.len()];
        for (side, block) in inst.blocks.iter().enumerate() {
            let outer = (self.primal.clone(), self.tangents.clone());
            self.b.open_block(&[]);
            self.insts(block)?;
            let yields = self.yields(block, &inst.results);
            blocks.push(self.b.close_block(yields));
            for (moved, tangents) in moved.iter_mut().zip(&self.tangents) {
                for (moved, y) in moved.iter_mut().zip(&block.yields) {
                    moved[side] = tangents.contains_key(y);
                }
            }
            (self.primal, self.tangents) = outer;
        }
        self.finish(inst, vec![condition], blocks);
        for (d, moved) in moved.into_iter().enumerate() {
            for (r, moved) in inst.results.iter().zip(moved) {
                let sides = (0..2).filter(|side| moved[*side]);
                let cases = sides.map(|side| When::Is(condition, side == 0));
                let when = cases.fold(When::Never, |a, b| a.or(&mut self.b, b));
                self.cases[d].insert(*r, when);
            }
        }
        Ok(())
    }

    fn looping(&mut self, inst: &Inst) -> Done<()> {
        let body = &inst.blocks[0];
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let carries = &body.params[1..];
        let mut args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            body.params.iter().map(|p| (self.func.ty(*p), self.func.name_of(*p))).collect();
        let pairs = carries.iter().zip(&inst.args[bounds..]);
        let (varied, inits): (Vec<Value>, Vec<Value>) =
            pairs.filter(|(p, _)| self.is_varied(**p)).unzip();
        args.extend(self.tangents_of(&inits));
        for d in 0..self.tangents.len() {
            params
                .extend(varied.iter().map(|p| (self.func.ty(*p), tangent_name(self.func, *p, d))));
        }
        let outer = (self.primal.clone(), self.tangents.clone());
        let values = self.b.open_block(&params);
        for (p, v) in body.params.iter().zip(&values) {
            self.primal.insert(*p, *v);
        }
        self.bind_tangents(&varied, &values[body.params.len()..]);
        for step in &body.insts {
            if step.op == Op::ExitIf {
                let condition = self.get(step.args[0]);
                let exit = &step.blocks[0];
                let inner = (self.primal.clone(), self.tangents.clone());
                self.b.open_block(&[]);
                self.insts(exit)?;
                let yields = self.yields(exit, carries);
                let block = self.b.close_block(yields);
                (self.primal, self.tangents) = inner;
                self.b.at(step.span);
                self.b.inst(Op::ExitIf, vec![condition], &[], vec![block]);
            } else {
                self.inst(step)?;
            }
        }
        let yields = self.yields(body, carries);
        let (parallel, numbering) = (body.parallel, body.numbering);
        let block = Block { parallel, numbering, ..self.b.close_block(yields) };
        (self.primal, self.tangents) = outer;
        self.finish(inst, args, vec![block]);
        Ok(())
    }
}
