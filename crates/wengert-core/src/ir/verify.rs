//! What a well-formed program is.
//!
//! Types, dominance (structured: a value is visible after its instruction, in its block and the
//! blocks nested there), and linearity: a version of an array or tape is consumed at most once on
//! any path and not used after that. Reading an array (`load`, `len`, `copy`, `sum` ..) does not consume it.

use super::func::{Block, Func, Inst, LoopPlan, Module, Rule, Value};
use super::types::{Op, Phase, Type};
use super::{infer, parallel};
use crate::span::{Diagnostic, Span};
use std::collections::HashSet;

/// Checks every function of a module.
pub fn module(module: &Module) -> Result<(), Diagnostic> {
    module.funcs.iter().try_for_each(|f| func(module, f))?;
    module.loops.iter().try_for_each(|l| plan(module, l))?;
    module.rules.iter().try_for_each(|r| rule(module, r))
}

/// Checks that the functions of a rule have the types that derivatives of its function have.
fn rule(module: &Module, rule: &Rule) -> Result<(), Diagnostic> {
    let error = |message: String| {
        Err(Diagnostic::new("ir-invalid", format!("in the rule of `@{}`: {message}", rule.func)))
    };
    let Some(func) = module.func(&rule.func) else {
        return error("there is no such function".into());
    };
    let floats =
        |types: &[Type]| types.iter().copied().filter(|t| t.is_float()).collect::<Vec<_>>();
    let (params, results) = (func.param_types(), func.results.clone());
    if params.contains(&Type::Tape) || results.contains(&Type::Tape) {
        return error("a function that takes or gives a tape cannot have one".into());
    }
    let (dx, dy) = (floats(&params), floats(&results));
    let jvp = ([&params[..], &dx].concat(), [&results[..], &dy].concat());
    let vjp = ([&params[..], &results, &dy].concat(), dx);
    for (mode, name, (takes, gives)) in [("jvp", &rule.jvp, jvp), ("vjp", &rule.vjp, vjp)] {
        let Some(name) = name else { continue };
        let Some(by) = module.func(name) else {
            return error(format!("there is no function `@{name}`"));
        };
        if by.param_types() != takes || by.results != gives {
            return error(format!(
                "its {mode} `@{name}` must be ({}) -> ({}), but is ({}) -> ({})",
                infer::list(&takes),
                infer::list(&gives),
                infer::list(&by.param_types()),
                infer::list(&by.results)
            ));
        }
    }
    Ok(())
}

/// Checks that the functions of an outlined loop fit together.
fn plan(module: &Module, plan: &LoopPlan) -> Result<(), Diagnostic> {
    let error = |message: String| {
        Err(Diagnostic::new("ir-invalid", format!("in loop `@{}`: {message}", plan.name)))
    };
    let found = |name: &str| module.func(name).map(|f| (f.param_types(), f.results.clone()));
    let (Some(advance), Some(record), Some(reverse)) =
        (found(&plan.advance), found(&plan.record), found(&plan.reverse))
    else {
        return error("one of its functions is missing".into());
    };
    let (integers, tape) = ([Type::I64; 3], Type::Tape);
    let (n, state) = (plan.carries, plan.state);
    let forward = advance.0.len() >= n + 2
        && advance.0[..2] == integers[..2]
        && [&advance.0[2..2 + n], &integers[..2]].concat() == advance.1;
    if !forward {
        return error(
            "`advance` must be (from, to, carries.., captures..) -> (carries.., done, exit)".into(),
        );
    }
    let with_tape = |types: &[Type]| [types, &[tape]].concat();
    if record != (with_tape(&advance.0), with_tape(&advance.1)) {
        return error("`record` must be `advance` with a tape".into());
    }
    let backward = reverse.0.len() >= state + 4
        && reverse.0[..3] == integers
        && reverse.0.last() == Some(&tape)
        && with_tape(&reverse.0[3..3 + state]) == reverse.1;
    if !backward {
        return error(
            "`reverse` must be (from, to, exit, state.., fixed.., tape) -> (state.., tape)".into(),
        );
    }
    let first = state.checked_sub(plan.finals.len());
    let fits = first.is_some_and(|first| {
        let finals = plan.finals.iter().enumerate();
        finals.clone().all(|(k, carry)| advance.1[..n].get(*carry) == reverse.1.get(first + k))
    });
    if fits { Ok(()) } else { error("its finals are not the end of the reverse state".into()) }
}

/// Checks one function against its module.
pub fn func(module: &Module, func: &Func) -> Result<(), Diagnostic> {
    let mut verifier = Verifier {
        module,
        func,
        visible: vec![false; func.values.len()],
        consumed: HashSet::new(),
        left_with: HashSet::new(),
    };
    verifier.visible.fill(false);
    verifier.block(&func.body, &Ends::Function)?;
    let types: Vec<Type> = func.body.yields.iter().map(|y| func.ty(*y)).collect();
    if types != func.results {
        return Err(verifier.error(Span::default(), "the results differ from the declared types"));
    }
    Ok(())
}

/// What the yields of a block must match, and whether `exit_if` may stand in it.
enum Ends {
    Function,
    Loop(Vec<Type>),
    Branch(Vec<Type>),
}

struct Verifier<'a> {
    module: &'a Module,
    func: &'a Func,
    visible: Vec<bool>,
    consumed: HashSet<Value>,
    /// Versions that exits of the loop around take over.
    left_with: HashSet<Value>,
}

type Checked = Result<(), Diagnostic>;

impl Verifier<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let message = format!("in `@{}`: {}", self.func.name, message.into());
        Diagnostic::new("ir-invalid", message).label(span, "this instruction")
    }

    fn show(&self, v: Value) -> String {
        match &self.func.values[v.index()].name {
            Some(name) => format!("%{name}.{}", v.0),
            None => format!("%{}", v.0),
        }
    }

    /// A use that leaves the value as it is.
    fn reads(&self, v: Value, span: Span) -> Checked {
        if v.index() >= self.func.values.len() {
            return Err(self.error(span, format!("`%{}` does not exist", v.0)));
        }
        if self.func.as_const(v).is_some() {
            return Ok(());
        }
        if !self.visible[v.index()] {
            let message = format!("`{}` is used where it is not defined", self.show(v));
            return Err(self.error(span, message));
        }
        if self.consumed.contains(&v) {
            let message = format!(
                "`{}` is used after a `store`, loop, branch or call took it over; use the version that made, or `copy` first",
                self.show(v)
            );
            return Err(self.error(span, message));
        }
        Ok(())
    }

    /// A use that takes a linear value over.
    fn takes(&mut self, v: Value, span: Span) -> Checked {
        self.reads(v, span)?;
        if self.func.ty(v).is_linear() {
            self.consumed.insert(v);
        }
        Ok(())
    }

    fn define(&mut self, v: Value, span: Span) -> Checked {
        if std::mem::replace(&mut self.visible[v.index()], true) {
            return Err(self.error(span, format!("`{}` is defined twice", self.show(v))));
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, ends: &Ends) -> Checked {
        let mut scope: Vec<Value> = block.params.clone();
        for p in &block.params {
            self.define(*p, Span::default())?;
        }
        let mut last = Span::default();
        for inst in &block.insts {
            last = inst.span;
            self.inst(inst, ends)?;
            for r in &inst.results {
                self.define(*r, inst.span)?;
                scope.push(*r);
            }
        }
        for y in &block.yields {
            self.takes(*y, last)?;
        }
        if let Ends::Loop(types) | Ends::Branch(types) = ends {
            let yields: Vec<Type> = block.yields.iter().map(|y| self.func.ty(*y)).collect();
            if yields != *types {
                let message = format!(
                    "a block yields ({}), but ({}) is needed",
                    infer::list(&yields),
                    infer::list(types)
                );
                return Err(self.error(last, message));
            }
        }
        for v in scope {
            self.visible[v.index()] = false;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst, ends: &Ends) -> Checked {
        let types = |values: &[Value]| values.iter().map(|v| self.func.ty(*v)).collect::<Vec<_>>();
        for a in &inst.args {
            self.reads(*a, inst.span)?;
        }
        let (args, results) = (types(&inst.args), types(&inst.results));
        match infer::results(&inst.op, &args) {
            Some(Err(message)) => return Err(self.error(inst.span, message)),
            Some(Ok(expected)) if expected != results => {
                return Err(self.error(inst.span, "the result types do not fit the operation"));
            }
            _ => {}
        }
        match &inst.op {
            op if op.takes().is_some() => {
                let target = inst.args[0];
                if inst.args[1..].contains(&target) {
                    let message = format!(
                        "`{}` is changed in place and used by the same operation; `copy` it for one of them",
                        self.show(target)
                    );
                    return Err(self.error(inst.span, message));
                }
                self.takes(target, inst.span)?;
            }
            // Array handles go onto the tape with their storage.
            Op::Push => inst.args.iter().try_for_each(|a| self.takes(*a, inst.span))?,
            Op::Pop => {
                if args != [Type::Tape] || results.first() != Some(&Type::Tape) {
                    return Err(self.error(inst.span, "`pop` takes a tape and gives it back first"));
                }
                self.takes(inst.args[0], inst.span)?;
            }
            Op::Call(name) => {
                let Some(callee) = self.module.func(name) else {
                    return Err(self.error(inst.span, format!("there is no function `@{name}`")));
                };
                let wanted = callee.param_types();
                if args != wanted || results != callee.results {
                    let message = format!(
                        "`@{name}` is ({}) -> ({}), but is called as ({}) -> ({})",
                        infer::list(&wanted),
                        infer::list(&callee.results),
                        infer::list(&args),
                        infer::list(&results)
                    );
                    return Err(self.error(inst.span, message));
                }
                self.call_args(callee, inst)?;
            }
            Op::Drive(name, phase) => {
                let Some(plan) = self.module.plan(name) else {
                    return Err(self.error(inst.span, format!("there is no loop `@{name}`")));
                };
                let callee = match phase {
                    Phase::Forward => &plan.record,
                    Phase::Reverse => &plan.reverse,
                };
                let Some(callee) = self.module.func(callee) else {
                    return Err(self.error(inst.span, format!("there is no function `@{callee}`")));
                };
                if args != callee.param_types() || results != callee.results {
                    let message = format!("`drive @{name}` does not fit `@{}`", callee.name);
                    return Err(self.error(inst.span, message));
                }
                self.call_args(callee, inst)?;
            }
            Op::If => {
                if args != [Type::Bool] || inst.blocks.len() != 2 {
                    return Err(self.error(inst.span, "`if` takes a bool and two blocks"));
                }
                // A version may be consumed on both paths, once on each.
                let before = self.consumed.clone();
                let ends = Ends::Branch(results);
                self.block(&inst.blocks[0], &ends)?;
                let after_then = std::mem::replace(&mut self.consumed, before);
                self.block(&inst.blocks[1], &ends)?;
                self.consumed.extend(after_then);
            }
            Op::ExitIf => {
                let Ends::Loop(types) = ends else {
                    let message = "`exit_if` must stand directly in the body of a loop";
                    return Err(self.error(inst.span, message));
                };
                if args != [Type::Bool] || inst.blocks.len() != 1 {
                    return Err(self.error(inst.span, "`exit_if` takes a bool and a block"));
                }
                // What the exit consumes is still there when the loop goes on, but not after the loop.
                let before = self.consumed.clone();
                self.block(&inst.blocks[0], &Ends::Branch(types.clone()))?;
                let taken = std::mem::replace(&mut self.consumed, before);
                self.left_with.extend(taken.difference(&self.consumed));
            }
            Op::For | Op::While => self.looping(inst, &args, results)?,
            _ => {}
        }
        Ok(())
    }

    /// A call takes over the arrays its callee writes or hands on; it only reads the others.
    fn call_args(&mut self, callee: &Func, inst: &Inst) -> Checked {
        for (k, (arg, param)) in inst.args.iter().zip(callee.params()).enumerate() {
            if self.func.ty(*arg) == Type::Tape || consumes(self.module, callee, *param) {
                let others = inst.args.iter().enumerate().filter(|(j, _)| *j != k);
                if self.func.ty(*arg).is_linear() && others.map(|(_, a)| a).any(|a| a == arg) {
                    let message = format!(
                        "`{}` is passed twice to `@{}`, which takes it over; `copy` it for one of them",
                        self.show(*arg),
                        callee.name
                    );
                    return Err(self.error(inst.span, message));
                }
                self.takes(*arg, inst.span)?;
            }
        }
        Ok(())
    }

    fn looping(&mut self, inst: &Inst, args: &[Type], results: Vec<Type>) -> Checked {
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let well_formed = inst.blocks.len() == 1
            && args.len() == bounds + results.len()
            && args[..bounds].iter().all(|t| *t == Type::I64)
            && args[bounds..] == results[..];
        let params: Vec<Type> =
            inst.blocks.iter().flat_map(|b| &b.params).map(|p| self.func.ty(*p)).collect();
        if !well_formed || params.first() != Some(&Type::I64) || params[1..] != results[..] {
            let message = "a loop needs integer bounds, a counter, and the same types for carries, block parameters and results";
            return Err(self.error(inst.span, message));
        }
        if inst.blocks[0].parallel {
            parallel::independent(self.func, inst).map_err(|m| self.error(inst.span, m))?;
        }
        for init in &inst.args[bounds..] {
            self.takes(*init, inst.span)?;
        }
        let before = self.consumed.clone();
        let around = std::mem::take(&mut self.left_with);
        self.block(&inst.blocks[0], &Ends::Loop(results))?;
        // A body runs many times: it may consume its own versions only.
        let taken = self.consumed.union(&self.left_with);
        let outer = taken.copied().find(|v| !before.contains(v) && self.visible[v.index()]);
        if let Some(v) = outer {
            let message = format!(
                "the loop body takes over `{}`, which is defined outside it; carry it instead",
                self.show(v)
            );
            return Err(self.error(inst.span, message));
        }
        self.consumed = before;
        self.left_with = around;
        Ok(())
    }
}

/// Whether a function takes over its array or tape parameter `v`: stores into it, carries it, returns it,
/// or passes it to a function of the module that does. Functions that are not there take over nothing.
pub fn consumes(module: &Module, func: &Func, v: Value) -> bool {
    let mut seen = HashSet::new();
    func.ty(v).is_linear() && takes_over(module, &func.body, v, &mut seen)
}

/// The same of a function alone: what only its callees take over does not count.
pub fn consumes_itself(func: &Func, v: Value) -> bool {
    consumes(&Module::default(), func, v)
}

/// `seen` holds the parameters looked at already: recursion adds nothing to what they do.
fn takes_over<'m>(
    module: &'m Module,
    block: &Block,
    v: Value,
    seen: &mut HashSet<(&'m str, usize)>,
) -> bool {
    block.yields.contains(&v)
        || block.insts.iter().any(|inst| {
            let used = inst.args.contains(&v);
            let taken = match &inst.op {
                op if op.takes().is_some() => inst.args[0] == v,
                Op::Push | Op::Pop | Op::For | Op::While => used,
                Op::Call(_) | Op::Drive(..) if used => {
                    let params = callee(module, &inst.op)
                        .into_iter()
                        .flat_map(|f| f.params().iter().enumerate().map(move |(k, p)| (f, k, *p)));
                    let passed = params.filter(|(_, k, _)| inst.args.get(*k) == Some(&v));
                    passed.collect::<Vec<_>>().into_iter().any(|(f, k, p)| {
                        seen.insert((&*f.name, k)) && takes_over(module, &f.body, p, seen)
                    })
                }
                _ => false,
            };
            taken || inst.blocks.iter().any(|b| takes_over(module, b, v, seen))
        })
}

/// The function an instruction calls.
fn callee<'m>(module: &'m Module, op: &Op) -> Option<&'m Func> {
    match op {
        Op::Call(name) => module.func(name),
        Op::Drive(name, Phase::Forward) => module.func(&module.plan(name)?.record),
        Op::Drive(name, Phase::Reverse) => module.func(&module.plan(name)?.reverse),
        _ => None,
    }
}
