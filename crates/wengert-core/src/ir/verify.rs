//! What a well-formed program is.
//!
//! Types, dominance (structured: a value is visible after its instruction, in its block and the
//! blocks nested there), and linearity: a version of an array or tape is consumed at most once on
//! any path and not used after that. Reading an array (`load`, `len`, `copy`, `sum` ..) does not consume it.
//! What is popped must be what was pushed, where both stand in one block.

mod consumes;
mod parts;

use super::func::{Block, Func, Inst, Module, Value};
use super::types::{Op, Phase, Type};
use super::{infer, parallel};
use crate::span::{Diagnostic, Span};
pub use consumes::{consumes, consumes_itself};
use rustc_hash::FxHashMap as HashMap;

/// Checks every function of a module.
pub fn module(module: &Module) -> Result<(), Diagnostic> {
    module.funcs.iter().try_for_each(|f| func(module, f))?;
    module.externals.iter().try_for_each(parts::external)?;
    module.loops.iter().try_for_each(|l| parts::plan(module, l))?;
    module.rules.iter().try_for_each(|r| parts::rule(module, r))
}

/// Checks one function against its module.
pub fn func(module: &Module, func: &Func) -> Result<(), Diagnostic> {
    let mut verifier = Verifier {
        module,
        func,
        visible: vec![false; func.values.len()],
        defined: vec![None; func.values.len()],
        consumed: HashMap::default(),
        left_with: HashMap::default(),
        records: HashMap::default(),
    };
    verifier.block(&func.body, &Ends::Function)?;
    let types: Vec<Type> = func.body.yields.iter().map(|y| func.ty(*y)).collect();
    if types != func.results {
        let message = format!(
            "the function returns ({}), but declares ({})",
            infer::list(&types),
            infer::list(&func.results)
        );
        return Err(verifier.error(func.body.end, message));
    }
    Ok(())
}

/// What the yields of a block must match, and whether `exit_if` may stand in it.
enum Ends {
    Function,
    Loop(Vec<Type>),
    /// A block of an `if`: the first or the second.
    Branch(Vec<Type>, usize),
    Exit(Vec<Type>),
}

/// What took a version over.
#[derive(Clone, Copy)]
struct Taker<'a> {
    span: Span,
    by: By<'a>,
}

#[derive(Clone, Copy)]
enum By<'a> {
    /// An instruction, as this operand.
    Inst(&'a Inst, usize),
    Yield,
    Return,
}

impl<'a> Taker<'a> {
    fn new(inst: &'a Inst, operand: usize) -> Self {
        Taker { span: inst.span, by: By::Inst(inst, operand) }
    }

    /// As it stands in messages.
    fn shown(&self) -> String {
        let inst = match self.by {
            By::Inst(inst, _) => inst,
            By::Yield => return "`yield`".into(),
            By::Return => return "`return`".into(),
        };
        match &inst.op {
            Op::For | Op::While => "the loop".into(),
            Op::Call(name) => format!("`call @{name}`"),
            Op::Drive(name, _) => format!("`drive @{name}`"),
            Op::Push => "`push`".into(),
            Op::Pop => "`pop`".into(),
            Op::Array(op) => format!("`{}`", op.name()),
            _ => "`store`".into(),
        }
    }

    /// The version it made.
    fn next(&self) -> Option<Value> {
        let By::Inst(inst, operand) = self.by else { return None };
        let at = match &inst.op {
            Op::For => operand.checked_sub(2)?,
            Op::While => operand,
            Op::Call(_) | Op::Drive(..) => return None,
            Op::Push if operand > 0 => return None,
            _ => 0,
        };
        inst.results.get(at).copied()
    }
}

/// The last record of a tape, where its `push` stands in the same block.
#[derive(Clone)]
struct Record {
    types: Vec<Type>,
    span: Span,
    /// The tape without it.
    below: Value,
}

struct Verifier<'a> {
    module: &'a Module,
    func: &'a Func,
    visible: Vec<bool>,
    /// Where each value is defined, once it has been.
    defined: Vec<Option<Span>>,
    consumed: HashMap<Value, Taker<'a>>,
    /// Versions that exits of the loop around take over.
    left_with: HashMap<Value, Taker<'a>>,
    /// By version of a tape.
    records: HashMap<Value, Record>,
}

type Checked = Result<(), Diagnostic>;

impl<'a> Verifier<'a> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let message = format!("in `@{}`: {}", self.func.name, message.into());
        Diagnostic::new("ir-invalid", message).label(span, "this instruction")
    }

    fn show(&self, v: Value) -> String {
        let data = &self.func.values[v.index()];
        match (&data.constant, &data.name) {
            (Some(c), _) => c.to_string(),
            (None, Some(name)) => format!("%{name}.{}", v.0),
            (None, None) => format!("%{}", v.0),
        }
    }

    /// What a value is, as it stands in messages.
    fn kind(&self, v: Value) -> String {
        match self.func.ty(v) {
            Type::Tape => "a tape".into(),
            ty => format!("which is {ty}"),
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
            return Err(match self.defined[v.index()] {
                Some(place) => self
                    .error(
                        span,
                        format!("`{}` is used outside the block that defines it", self.show(v)),
                    )
                    .label(place, "defined here")
                    .help("`yield` it from that block, and use the result of the `if` or loop"),
                None => {
                    let message = format!("`{}` is used before it is defined", self.show(v));
                    self.error(span, message)
                }
            });
        }
        let Some(taker) = self.consumed.get(&v) else { return Ok(()) };
        let message = format!(
            "`{}`, {}, is used after {} took it over",
            self.show(v),
            self.kind(v),
            taker.shown()
        );
        let error = self.error(span, message).label(taker.span, "taken over here");
        let is_tape = self.func.ty(v) == Type::Tape;
        Err(match taker.next().map(|next| self.show(next)) {
            Some(next) if is_tape => error.help(format!("use `{next}`, which it made")),
            Some(next) => {
                error.help(format!("use `{next}`, which it made, or `copy` the array before"))
            }
            None if is_tape => error.help("a tape is handed on, never shared"),
            None => error.help("`copy` the array before"),
        })
    }

    /// A use that takes a linear value over.
    fn takes(&mut self, v: Value, taker: Taker<'a>) -> Checked {
        self.reads(v, taker.span)?;
        if self.func.ty(v).is_linear() {
            self.consumed.insert(v, taker);
        }
        Ok(())
    }

    fn define(&mut self, v: Value, span: Span) -> Checked {
        self.defined[v.index()] = Some(span);
        if std::mem::replace(&mut self.visible[v.index()], true) {
            return Err(self.error(span, format!("`{}` is defined twice", self.show(v))));
        }
        Ok(())
    }

    fn block(&mut self, block: &'a Block, ends: &Ends) -> Checked {
        // Whether a nested block runs is not known, so it counts for itself.
        let around = std::mem::take(&mut self.records);
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
        // Programs made by others say only where instructions stand.
        let end = if block.end == Span::default() { last } else { block.end };
        let by = if matches!(ends, Ends::Function) { By::Return } else { By::Yield };
        let taker = Taker { span: end, by };
        for (k, y) in block.yields.iter().enumerate() {
            if self.func.values.get(y.index()).is_some_and(|v| v.ty.is_linear())
                && block.yields[..k].contains(y)
            {
                let message = format!(
                    "{} hands on `{}`, {}, twice",
                    taker.shown(),
                    self.show(*y),
                    self.kind(*y)
                );
                return Err(self.error(end, message).help("`copy` an array for one of them"));
            }
            self.takes(*y, taker)?;
        }
        self.ends(block, ends, end)?;
        self.records = around;
        for v in scope {
            self.visible[v.index()] = false;
        }
        Ok(())
    }

    /// Whether a block yields what it must.
    fn ends(&self, block: &Block, ends: &Ends, span: Span) -> Checked {
        let (types, what, must, help) = match ends {
            Ends::Function => return Ok(()),
            Ends::Loop(types) => (
                types,
                "the body of the loop",
                "the loop carries",
                "a body yields the next value of every carry, in order",
            ),
            Ends::Exit(types) => (
                types,
                "the exit",
                "the loop carries",
                "an exit yields the results of the loop it leaves, one per carry",
            ),
            Ends::Branch(types, k) => (
                types,
                if *k == 0 { "the first block of the `if`" } else { "the `else` block" },
                "the `if` gives",
                "both blocks of an `if` yield values of the same types",
            ),
        };
        let yields: Vec<Type> = block.yields.iter().map(|y| self.func.ty(*y)).collect();
        if yields == *types {
            return Ok(());
        }
        let message = format!(
            "{what} yields ({}), but {must} ({})",
            infer::list(&yields),
            infer::list(types)
        );
        Err(self.error(span, message).help(help))
    }

    fn inst(&mut self, inst: &'a Inst, ends: &Ends) -> Checked {
        let types = |values: &[Value]| values.iter().map(|v| self.func.ty(*v)).collect::<Vec<_>>();
        for a in &inst.args {
            self.reads(*a, inst.span)?;
        }
        let (args, results) = (types(&inst.args), types(&inst.results));
        match infer::results(&inst.op, &args) {
            Some(Err(message)) => return Err(self.error(inst.span, message)),
            Some(Ok(expected)) if expected != results => {
                let message = format!(
                    "the results are ({}), but the operation gives ({})",
                    infer::list(&results),
                    infer::list(&expected)
                );
                return Err(self.error(inst.span, message));
            }
            _ => {}
        }
        match &inst.op {
            op if op.takes().is_some() => {
                let target = inst.args[0];
                if inst.args[1..].contains(&target) {
                    let taker = Taker::new(inst, 0);
                    let message = format!(
                        "`{}` is changed in place by {} and read by it as well",
                        self.show(target),
                        taker.shown()
                    );
                    return Err(self.error(inst.span, message).help("`copy` it for one of them"));
                }
                self.takes(target, Taker::new(inst, 0))?;
            }
            // Array handles go onto the tape with their storage.
            Op::Push => {
                for (k, a) in inst.args.iter().enumerate() {
                    self.takes(*a, Taker::new(inst, k))?;
                }
                let record =
                    Record { types: args[1..].to_vec(), span: inst.span, below: inst.args[0] };
                self.records.insert(inst.results[0], record);
            }
            Op::Pop => self.pop(inst, &args, &results)?,
            Op::Call(name) => {
                let here = self.module.func(name);
                let Some((wanted, gives)) = self.called(name) else {
                    let names = self.module.funcs.iter().map(|f| &*f.name);
                    let names = names.chain(self.module.externals.iter().map(|e| &*e.name));
                    let error = self.error(inst.span, format!("there is no function `@{name}`"));
                    return Err(match super::spell::nearest(name, names) {
                        Some(near) => error.help(format!("is `@{near}` meant?")),
                        None => error,
                    });
                };
                if args != wanted || results != gives {
                    let message = format!(
                        "`@{name}` is ({}) -> ({}), but is called as ({}) -> ({})",
                        infer::list(&wanted),
                        infer::list(&gives),
                        infer::list(&args),
                        infer::list(&results)
                    );
                    return Err(self.error(inst.span, message));
                }
                self.call_args(name, here, inst)?;
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
                    let message = format!(
                        "`drive @{name}` runs `@{}`, which is ({}) -> ({}), but is given as ({}) -> ({})",
                        callee.name,
                        infer::list(&callee.param_types()),
                        infer::list(&callee.results),
                        infer::list(&args),
                        infer::list(&results)
                    );
                    return Err(self.error(inst.span, message));
                }
                self.call_args(&callee.name, Some(callee), inst)?;
            }
            Op::If => {
                if args != [Type::Bool] || inst.blocks.len() != 2 {
                    let message = self.no_condition("if", inst);
                    return Err(self.error(inst.span, message));
                }
                // A version may be consumed on both paths, once on each.
                let before = self.consumed.clone();
                self.block(&inst.blocks[0], &Ends::Branch(results.clone(), 0))?;
                let after_then = std::mem::replace(&mut self.consumed, before);
                self.block(&inst.blocks[1], &Ends::Branch(results, 1))?;
                self.consumed.extend(after_then);
            }
            Op::ExitIf => {
                let Ends::Loop(types) = ends else {
                    let message = "`exit_if` must stand directly in the body of a loop";
                    return Err(self.error(inst.span, message).help(
                        "a block of an `if` can yield whether to leave, for an `exit_if` after it",
                    ));
                };
                if args != [Type::Bool] || inst.blocks.len() != 1 {
                    let message = self.no_condition("exit_if", inst);
                    return Err(self.error(inst.span, message));
                }
                // What the exit consumes is still there when the loop goes on, but not after the loop.
                let before = self.consumed.clone();
                self.block(&inst.blocks[0], &Ends::Exit(types.clone()))?;
                let taken = std::mem::replace(&mut self.consumed, before);
                let new = taken.into_iter().filter(|(v, _)| !self.consumed.contains_key(v));
                self.left_with.extend(new);
            }
            Op::For | Op::While => self.looping(inst, &args, results)?,
            _ => {}
        }
        Ok(())
    }

    fn no_condition(&self, name: &str, inst: &Inst) -> String {
        match inst.args[..] {
            [v] => format!(
                "the condition of `{name}` is a bool, but `{}` is {}",
                self.show(v),
                self.func.ty(v)
            ),
            _ => format!("`{name}` takes one condition, but is given {}", inst.args.len()),
        }
    }

    /// What is popped is what was pushed last, where that is in sight.
    fn pop(&mut self, inst: &'a Inst, args: &[Type], results: &[Type]) -> Checked {
        if args != [Type::Tape] || results.first() != Some(&Type::Tape) {
            let message = format!(
                "`pop` takes a tape and gives it back before the values, but is ({}) -> ({})",
                infer::list(args),
                infer::list(results)
            );
            return Err(self.error(inst.span, message));
        }
        if results[1..].contains(&Type::Tape) {
            let message = "`pop` takes numbers and arrays back, but no tape is ever recorded";
            return Err(self.error(inst.span, message));
        }
        self.takes(inst.args[0], Taker::new(inst, 0))?;
        let Some(record) = self.records.remove(&inst.args[0]) else { return Ok(()) };
        if record.types != results[1..] {
            let message = format!(
                "`pop` takes ({}) from `{}`, but its last record is ({})",
                infer::list(&results[1..]),
                self.show(inst.args[0]),
                infer::list(&record.types)
            );
            return Err(self
                .error(inst.span, message)
                .label(record.span, "pushed here")
                .help("the last record comes back first, with the types it was pushed with"));
        }
        if let Some(below) = self.records.remove(&record.below) {
            self.records.insert(inst.results[0], below);
        }
        Ok(())
    }

    /// What the function of that name takes and gives.
    fn called(&self, name: &str) -> Option<(Vec<Type>, Vec<Type>)> {
        let here = self.module.func(name).map(|f| (f.param_types(), f.results.clone()));
        let external = || self.module.external(name).map(|e| (e.params.clone(), e.results.clone()));
        here.or_else(external)
    }

    /// A call takes over the arrays its callee writes or hands on; it only reads the others. One of a function that is
    /// somewhere else takes over tapes.
    fn call_args(&mut self, name: &str, callee: Option<&Func>, inst: &'a Inst) -> Checked {
        let consumed = |k: usize| callee.is_some_and(|f| consumes(self.module, f, f.params()[k]));
        let taken: Vec<bool> = (0..inst.args.len())
            .map(|k| self.func.ty(inst.args[k]) == Type::Tape || consumed(k))
            .collect();
        for (k, arg) in inst.args.iter().enumerate() {
            if taken[k] {
                let others = inst.args.iter().enumerate().filter(|(j, _)| *j != k);
                if self.func.ty(*arg).is_linear() && others.map(|(_, a)| a).any(|a| a == arg) {
                    let message = format!(
                        "`{}` is passed twice to `@{name}`, which takes it over",
                        self.show(*arg)
                    );
                    return Err(self.error(inst.span, message).help("`copy` it for one of them"));
                }
                self.takes(*arg, Taker::new(inst, k))?;
            }
        }
        Ok(())
    }

    fn looping(&mut self, inst: &'a Inst, args: &[Type], results: Vec<Type>) -> Checked {
        let bounds = if inst.op == Op::For { 2 } else { 0 };
        let well_formed = inst.blocks.len() == 1
            && args.len() == bounds + results.len()
            && args[..bounds].iter().all(|t| *t == Type::I64)
            && args[bounds..] == results[..];
        let params: Vec<Type> =
            inst.blocks.iter().flat_map(|b| &b.params).map(|p| self.func.ty(*p)).collect();
        if !well_formed || params.first() != Some(&Type::I64) || params[1..] != results[..] {
            let message = match inst
                .args
                .iter()
                .take(bounds)
                .find(|a| self.func.ty(**a) != Type::I64)
            {
                Some(v) => format!(
                    "the bounds of a loop are i64, but `{}` is {}",
                    self.show(*v),
                    self.func.ty(*v)
                ),
                None => format!(
                    "a loop needs a counter and the same types for carries ({}), block parameters ({}) and results ({})",
                    infer::list(args.get(bounds..).unwrap_or_default()),
                    infer::list(params.get(1..).unwrap_or_default()),
                    infer::list(&results)
                ),
            };
            return Err(self.error(inst.span, message));
        }
        for (k, init) in inst.args.iter().enumerate().skip(bounds) {
            self.takes(*init, Taker::new(inst, k))?;
        }
        let before = self.consumed.clone();
        let around = std::mem::take(&mut self.left_with);
        self.block(&inst.blocks[0], &Ends::Loop(results))?;
        // A body runs many times: it may consume its own versions only.
        let taken = self.consumed.iter().chain(&self.left_with);
        let outer = taken
            .filter(|(v, _)| !before.contains_key(v) && self.visible[v.index()])
            .min_by_key(|(v, _)| **v);
        if let Some((v, taker)) = outer {
            let name = self.show(*v);
            let message = format!(
                "in the body of a loop, {} takes over `{name}`, {}, from outside it",
                taker.shown(),
                self.kind(*v)
            );
            return Err(self.error(taker.span, message).label(inst.span, "the loop").help(format!(
                "a body runs many times: carry it, `carry (%x = {name})`, and yield its next version"
            )));
        }
        self.consumed = before;
        self.left_with = around;
        // Of a body that is in order.
        if inst.blocks[0].parallel {
            let counter = inst.blocks[0].params[0];
            parallel::independent(self.func, inst)
                .map_err(|c| self.error(inst.span, c.message(self.func, counter)))?;
        }
        Ok(())
    }
}
