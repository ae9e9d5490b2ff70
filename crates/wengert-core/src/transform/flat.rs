//! One function of a derivative program and all it calls.
//!
//! `@f.vjp` calls `@f.record` and `@f.reverse`, takes a tape and drives outlined loops. [`flat`] puts all of
//! that in place: outlined loops run store-all, the tape is made inside and is empty again at the end.
//! What comes out is a function `(x.., y_bar..) -> (y.., x_bar..)` like any other, which can be called and
//! differentiated again. [`but_loops`] leaves loops that run in pieces what they are.

use super::copy::Copier;
use super::{carries, dce, inline};
use crate::ir::{Block, Builder, Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::span::Diagnostic;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function with everything it calls in place, without tape parameters and results. Calls of
/// functions that stay calls ([`inline::stays`]) stay.
pub fn flat(module: &Module, name: &str) -> Result<Func, Diagnostic> {
    let func = find(module, name)?;
    let plain = func.params().iter().filter(|p| func.ty(**p) != Type::Tape);
    let params: Vec<_> = plain.map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let (mut b, values) = Builder::new(name, &params);
    let mut values = values.into_iter();
    let mut args = Vec::new();
    for p in func.params() {
        args.push(match func.ty(*p) {
            Type::Tape => b.op(Op::Tape, &[])[0],
            _ => values.next().unwrap_or_else(|| unreachable!("one value per parameter")),
        });
    }
    let mut flat = Flat { module, kept: inline::stays(module), driven: HashSet::default() };
    let mut results = flat.body(func, &mut b, &args, false);
    results.retain(|r| b.ty(*r) != Type::Tape);
    Ok(tidy(&b.finish(results)))
}

/// The module with everything that the function calls in place, but for outlined loops that run one iteration after the other: they
/// are driven as before, and tapes stay parameters. Parallel loops are in place.
pub fn but_loops(module: &Module, name: &str) -> Result<Module, Diagnostic> {
    let (parallel, driven): (Vec<&LoopPlan>, Vec<&LoopPlan>) =
        module.loops.iter().partition(|plan| plan.parallel);
    let names = driven.iter().map(|plan| &*plan.name).collect();
    let mut flat = Flat { module, kept: inline::stays(module), driven: names };
    let (rules, externals) = (module.rules.clone(), module.externals.clone());
    let mut made = Module { rules, externals, ..Module::default() };
    made.loops.extend(driven.iter().map(|plan| (*plan).clone()));
    let parts = |plans: &[&LoopPlan]| -> HashSet<String> {
        let parts = plans.iter().flat_map(|plan| [&plan.advance, &plan.record, &plan.reverse]);
        parts.map(|part| part.to_string()).collect()
    };
    let mut placed = parts(&driven);
    placed.insert(name.into());
    let gone = parts(&parallel);
    let entry = find(module, name)?;
    let called = calls(entry);
    for func in &module.funcs {
        if placed.contains(&*func.name) {
            made.funcs.push(flat.whole(func));
        } else if !gone.contains(&*func.name)
            && (!called.contains(&*func.name) || flat.kept.contains(&func.name))
        {
            made.funcs.push(func.clone());
        }
    }
    Ok(made)
}

fn find<'m>(module: &'m Module, name: &str) -> Result<&'m Func, Diagnostic> {
    let unknown = || format!("there is no function `{name}`");
    module.func(name).ok_or_else(|| Diagnostic::new("unknown-function", unknown()))
}

/// What a function calls itself.
fn calls(func: &Func) -> HashSet<&str> {
    let mut found = HashSet::default();
    func.body.walk(&mut |inst| {
        if let Op::Call(name) = &inst.op {
            found.insert(&**name);
        }
    });
    found
}

struct Flat<'m> {
    module: &'m Module,
    kept: inline::Kept,
    /// Outlined loops that stay what they are.
    driven: HashSet<&'m str>,
}

impl Flat<'_> {
    /// The function with what it calls in place.
    fn whole(&mut self, func: &Func) -> Func {
        let params = func.params().iter().map(|p| (func.ty(*p), func.name_of(*p)));
        let (mut b, values) = Builder::new(func.name.clone(), &params.collect::<Vec<_>>());
        let results = self.body(func, &mut b, &values, false);
        tidy(&b.finish(results))
    }

    /// Copies a function's code into the open block. `endless` says that its loop over the range it
    /// is given has no bound.
    fn body(&mut self, func: &Func, b: &mut Builder, args: &[Value], endless: bool) -> Vec<Value> {
        let range = func.params().get(..2).filter(|_| endless).map(<[Value]>::to_vec);
        Copier::of(func, args).body(func, b, &mut |copier, b, inst| {
            self.inst(func, range.as_deref(), copier, b, inst)
        })
    }

    fn inst(
        &mut self,
        func: &Func,
        range: Option<&[Value]>,
        copier: &mut Copier,
        b: &mut Builder,
        inst: &Inst,
    ) -> bool {
        let (callee, endless) = match &inst.op {
            Op::Call(name) if !self.kept.contains(name) => (name, false),
            Op::Drive(name, _) if self.driven.contains(&**name) => return false,
            Op::Drive(name, phase) => match (self.module.plan(name), phase) {
                (Some(plan), Phase::Forward) => (&plan.record, !plan.bounded),
                (Some(plan), Phase::Reverse) => (&plan.reverse, false),
                (None, _) => return false,
            },
            Op::For if range.is_some_and(|range| inst.args.starts_with(range)) => {
                self.unbounded(func, copier, b, inst);
                return true;
            }
            _ => return false,
        };
        let Some(callee) = self.module.func(callee) else { return false };
        let args = copier.all(func, b, &inst.args);
        let results = self.body(callee, b, &args, endless);
        for (r, v) in inst.results.iter().zip(results) {
            copier.bind(*r, v);
        }
        true
    }

    /// The range of an outlined `while` loop is the loop itself again.
    fn unbounded(&mut self, func: &Func, copier: &mut Copier, b: &mut Builder, inst: &Inst) {
        let args = copier.all(func, b, &inst.args[2..]);
        let body = copier.block_with(func, b, &inst.blocks[0], &mut |copier, b, inst| {
            self.inst(func, None, copier, b, inst)
        });
        let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        b.at(inst.span);
        let results = b.inst(Op::While, args, &types, vec![body]);
        for (r, v) in inst.results.iter().zip(results) {
            copier.bind(*r, v);
        }
    }
}

/// Free passes, and records popped where they were pushed.
fn tidy(func: &Func) -> Func {
    let mut func = func.clone();
    let mut body = std::mem::take(&mut func.body);
    cancel(&mut body);
    func.body = body;
    dce::remove_dead(&carries::drop_invariant(&func))
}

/// A record that is popped in the block that pushed it needs no tape.
fn cancel(block: &mut Block) {
    let mut renamed: HashMap<Value, Value> = HashMap::default();
    let mut pushed: HashMap<Value, usize> = HashMap::default();
    let mut gone = vec![false; block.insts.len()];
    for at in 0..block.insts.len() {
        rename(&mut block.insts[at].args, &renamed);
        let inst = &block.insts[at];
        match inst.op {
            Op::Push => {
                pushed.insert(inst.results[0], at);
            }
            Op::Pop => {
                if let Some(push) = pushed.remove(&inst.args[0]) {
                    let fields = block.insts[push].args.clone();
                    let popped = inst.results.iter().copied();
                    renamed.extend(popped.zip(fields));
                    (gone[at], gone[push]) = (true, true);
                }
            }
            _ => {}
        }
        // Names reach into nested code as well.
        if !renamed.is_empty() {
            block.insts[at].blocks.iter_mut().for_each(|b| carries::rename_inside(b, &renamed));
        }
        block.insts[at].blocks.iter_mut().for_each(cancel);
    }
    rename(&mut block.yields, &renamed);
    let mut gone = gone.into_iter();
    block.insts.retain(|_| !gone.next().unwrap_or(false));
}

fn rename(values: &mut [Value], renamed: &HashMap<Value, Value>) {
    for v in values {
        while let Some(other) = renamed.get(v) {
            *v = *other;
        }
    }
}
