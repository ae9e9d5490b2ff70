//! Which functions are compiled, and what is known of each before it is.

use super::link::{Frame, Pieces, Shape, Signature};
use super::{CompileError, abi, written};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::interp::MAX_CALLS;
use wengert_core::ir::driven::{self, Driven};
use wengert_core::ir::{
    Func, LoopPlan, Module, Numbering, Op, Phase, Type, Value, parallel, verify,
};
use wengert_core::math;
use wengert_core::span::Span;

/// The functions reachable from the entries.
pub(super) struct Graph<'m> {
    /// In the module's order.
    pub(super) funcs: Vec<&'m Func>,
    /// The outlined loops among them.
    pub(super) plans: Vec<&'m LoopPlan>,
    framed: Vec<&'m str>,
    module: &'m Module,
    /// Outlined loops that nobody but the driver runs, both ways.
    by_driver: HashSet<&'m str>,
    infos: HashMap<&'m str, Info>,
}

/// What callers need to know of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Info {
    /// Whether calls to it are counted: a chain of calls through it may be too long.
    pub(super) counted: bool,
    /// Whether it, or what it calls, pushes onto a tape.
    pub(super) pushes: bool,
    /// Whether it, or what it calls, pops from one.
    pub(super) pops: bool,
    /// Whether it, or what it calls, makes a tape.
    pub(super) makes_tapes: bool,
    /// Whether it may run on one of several threads that share the room for tapes.
    pub(super) shares: bool,
}

impl<'m> Graph<'m> {
    /// Follows calls and outlined loops from the entries. The module has been verified.
    pub(super) fn new(module: &'m Module, entries: &[&str]) -> Result<Self, CompileError> {
        let (mut framed, mut plans) = (Vec::new(), Vec::<&LoopPlan>::new());
        for name in entries {
            let func = module.func(name);
            let func = func.ok_or_else(|| CompileError::UnknownEntry(name.to_string()))?;
            framed.push(&*func.name);
        }
        let mut calls: HashMap<&str, Vec<&str>> = HashMap::default();
        let mut open = framed.clone();
        while let Some(name) = open.pop() {
            // A loop's functions that no phase needs may be missing.
            let Some(func) = module.func(name) else { continue };
            if calls.contains_key(name) {
                continue;
            }
            let mut called = Vec::new();
            func.body.walk(&mut |inst| match &inst.op {
                Op::Call(callee) => called.push(&**callee),
                Op::Drive(name, phase) => {
                    let plan = module.plan(name).unwrap_or_else(|| unreachable!("verified"));
                    called.push(match phase {
                        Phase::Forward => &*plan.record,
                        Phase::Reverse => &*plan.reverse,
                    });
                    if !plans.iter().any(|p| p.name == plan.name) {
                        plans.push(plan);
                        let steps = [&*plan.record, &*plan.reverse, &*plan.advance];
                        let unstep = plan.unstep.as_ref().map(|unstep| &*unstep.func);
                        framed.extend(steps.into_iter().chain(unstep));
                        open.extend(steps.into_iter().chain(unstep));
                    }
                }
                _ => {}
            });
            open.extend(&called);
            calls.insert(&func.name, called);
        }
        let funcs: Vec<&Func> =
            module.funcs.iter().filter(|f| calls.contains_key(&*f.name)).collect();
        let framed = funcs.iter().map(|f| &*f.name).filter(|f| framed.contains(f)).collect();
        let infos = infos(&funcs, &calls, &plans);
        let by_driver = driven::by_driver(&funcs, &plans);
        Ok(Graph { funcs, plans, framed, module, by_driver, infos })
    }

    /// The functions that are called on frames: entries, and those of outlined loops.
    pub(super) fn framed(&self) -> impl Iterator<Item = &'m str> + '_ {
        self.framed.iter().copied()
    }

    /// Whether a run may have more than one tape.
    pub(super) fn several_tapes(&self) -> bool {
        let tapes = |f: &Func| f.param_types().iter().filter(|t| **t == Type::Tape).count();
        let makes = !self.own_tape() && self.infos.values().any(|info| info.makes_tapes);
        makes || self.funcs.iter().any(|f| tapes(f) > 1)
    }

    /// Whether each iteration of a parallel loop makes a tape, and nothing else has to do with one. Then a thread needs
    /// no more than one, which begins anew with every iteration: what is made in one is not seen in the next.
    pub(super) fn own_tape(&self) -> bool {
        let mut made = Vec::new();
        for func in &self.funcs {
            func.body.walk(&mut |inst| {
                if inst.op == Op::Tape {
                    made.push(&*func.name);
                }
            });
        }
        let [maker] = made[..] else { return false };
        let only_run = |plan: &&LoopPlan| plan.parallel && plan.is_only_run();
        let in_iterations = self.plans.iter().copied().filter(only_run);
        let hands = |f: &Func| f.results.iter().chain(&f.param_types()).any(|t| *t == Type::Tape);
        in_iterations.into_iter().any(|plan| *plan.advance == *maker)
            && !self.info(maker).counted
            && !self.funcs.iter().any(|f| hands(f))
    }

    /// How pieces of a parallel loop can run at the same time: if each of its functions hands back the storage it is
    /// given, takes over nothing else, and touches only what is its own. That a plan says so is not enough: of one that is
    /// only run it is seen here, one that is recorded is vouched for (`finished`).
    pub(super) fn pieces(&self, plan: &LoopPlan) -> Option<Pieces> {
        let frame = |name: &str, first: usize, carried: usize| {
            let func = self.funcs.iter().find(|f| &*f.name == name)?;
            let (params, results) = (func.param_types(), &func.results);
            let apart = match plan.is_only_run() {
                true => parallel::runs_apart(func, carried),
                false => parallel::hands_back(func, func.params().get(first..first + carried)?),
            };
            if !apart {
                return None;
            }
            let mut arrays = Vec::new();
            for (k, p) in func.params().iter().enumerate().skip(first) {
                let ty = func.ty(*p);
                let r = k - first;
                if r >= carried {
                    if ty.is_array() && verify::consumes(self.module, func, *p) {
                        return None;
                    }
                } else if !ty.is_array() {
                    return None;
                } else {
                    let start = abi::slots(&params);
                    let places = (abi::slots(&params[..k]), start + abi::slots(&results[..r]));
                    arrays.push((places.0, places.1, abi::slots(&[ty])));
                }
            }
            let start = abi::slots(&params);
            let tape = (params.last() == Some(&Type::Tape)).then(|| {
                let last = results.len() - 1;
                (start - 1, start + abi::slots(&results[..last]))
            });
            let ended = (first == 2).then(|| start + abi::slots(&results[..carried]));
            Some(Frame { params: start, results: abi::slots(results), arrays, ended, tape })
        };
        if !plan.parallel || !self.by_driver.contains(&*plan.name) {
            return None;
        }
        let forward = frame(&plan.record, 2, plan.carries)?;
        let reverse = match plan.is_only_run() {
            true => None,
            false => Some(frame(&plan.reverse, 3, plan.state)?),
        };
        Some(Pieces { forward, reverse, span: self.driven_at(&plan.name) })
    }

    /// Where in the source a loop is that is called through the driver.
    fn driven_at(&self, plan: &str) -> Span {
        let mut found = None;
        for func in &self.funcs {
            func.body.walk(&mut |inst| match &inst.op {
                Op::Drive(name, _) if **name == *plan => _ = found.get_or_insert(inst.span),
                _ => {}
            });
        }
        found.unwrap_or_default()
    }

    /// What it takes to run a loop in pieces, one after the other, if it can be run so.
    pub(super) fn shape(&self, plan: &LoopPlan) -> Option<Shape> {
        let func = |name: &str| self.funcs.iter().copied().find(|f| &*f.name == name);
        let signature = |func: &Func| {
            let consumed = |p: &Value| verify::consumes(self.module, func, *p);
            let params = func.params().iter().map(|p| (func.ty(*p), consumed(p))).collect();
            Signature { params, results: func.results.clone() }
        };
        if !self.by_driver.contains(&*plan.name) {
            return None;
        }
        let Driven { counted, cut_apart, beside, inside } =
            driven::driven(self.module, &self.funcs, &self.plans, plan)?;
        let (advanced, recorded) = (func(&plan.advance)?, func(&plan.record)?);
        let [advance, record, reverse] = [advanced, recorded, func(&plan.reverse)?].map(signature);
        let (carries, state) = (plan.carries, plan.state);
        let only_written = |of: &Signature, func: &Func, k: usize| {
            of.params[2 + k].1 && written::only_written(func, func.params()[2 + k], k)
        };
        let written = (0..carries)
            .filter(|k| only_written(&advance, advanced, *k))
            .filter(|k| only_written(&record, recorded, *k))
            .collect();
        // One that takes over what it should only read is not used.
        let unstep = plan.unstep.as_ref().and_then(|unstep| {
            let of = signature(func(&unstep.func)?);
            let read = of.params.get(2 + carries..)?;
            let is_lent =
                !read.iter().any(|(ty, taken)| *ty == Type::Tape || (ty.is_array() && *taken));
            let handed_on = of.params[2..2 + carries]
                .iter()
                .zip(&of.results)
                .all(|((ty, _), result)| ty == result && *ty != Type::Tape);
            let is_like = of.params.len() == advance.params.len() && of.results.len() == carries;
            (is_lent && handed_on && is_like).then_some(of)
        });
        let free = plan.unstep.as_ref().map_or_else(Vec::new, |unstep| unstep.free.clone());
        let apart = plan.unstep.as_ref().is_some_and(|unstep| unstep.apart);
        Some(Shape {
            advance,
            record,
            reverse,
            unstep,
            free,
            apart,
            carries,
            written,
            state,
            adjoints: state.saturating_sub(plan.finals.len()),
            counted,
            cut_apart,
            beside,
            inside,
            counts_anew: {
                let mut blocks = advanced.body.insts.iter().flat_map(|inst| &inst.blocks);
                blocks.all(|block| block.numbering == Numbering::FromStart)
            },
            span: self.driven_at(&plan.name),
        })
    }

    /// What is known of a function.
    pub(super) fn info(&self, name: &str) -> Info {
        self.infos.get(name).copied().unwrap_or_default()
    }
}

fn infos<'m>(
    funcs: &[&'m Func],
    calls: &HashMap<&'m str, Vec<&'m str>>,
    plans: &[&LoopPlan],
) -> HashMap<&'m str, Info> {
    let reach: HashMap<&str, HashSet<&str>> =
        funcs.iter().map(|f| (&*f.name, reachable(&f.name, calls))).collect();
    let recursive: Vec<&str> =
        reach.iter().filter(|(f, r)| r.contains(*f)).map(|(f, _)| *f).collect();
    let has = |f: &Func, op: Op| {
        let mut found = false;
        f.body.walk(&mut |inst| found |= inst.op == op);
        found
    };
    let having = |op: Op| -> HashSet<&str> {
        funcs.iter().filter(|f| has(f, op.clone())).map(|f| &*f.name).collect()
    };
    let (pushing, popping, making) = (having(Op::Push), having(Op::Pop), having(Op::Tape));
    let info = |f: &&'m Func| {
        let name = &*f.name;
        let within = |set: &HashSet<&str>| set.contains(name) || !set.is_disjoint(&reach[name]);
        // On a chain of calls that passes through a cycle all functions are counted, so that the
        // count is that of the calls in progress. Without a cycle a chain is no longer than the
        // number of functions.
        let on_chain = |r: &&str| *r == name || reach[name].contains(r) || reach[r].contains(name);
        // Elementary functions are no calls, whether they are in place or not.
        let elementary = math::called(name).is_some() && !reach[name].contains(name);
        let long = funcs.len() > MAX_CALLS || recursive.iter().any(on_chain);
        let counted = long && !elementary;
        let (pushes, pops, makes_tapes) = (within(&pushing), within(&popping), within(&making));
        let pieces = plans.iter().filter(|plan| plan.parallel);
        let mut pieces = pieces.flat_map(|plan| [&*plan.record, &*plan.reverse]);
        let shares = pieces.any(|f| f == name || reach.get(f).is_some_and(|r| r.contains(name)));
        (name, Info { counted, pushes, pops, makes_tapes, shares })
    };
    funcs.iter().map(info).collect()
}

/// What can be reached by one call or more.
fn reachable<'m>(from: &str, calls: &HashMap<&'m str, Vec<&'m str>>) -> HashSet<&'m str> {
    let mut found = HashSet::default();
    let mut open: Vec<&str> = calls.get(from).cloned().unwrap_or_default();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(calls.get(name).into_iter().flatten());
        }
    }
    found
}
