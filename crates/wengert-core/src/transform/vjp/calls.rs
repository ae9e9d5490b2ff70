//! Reverse mode through calls that stay calls.
//!
//! A call of `@g` is recorded by `@g.call.record(x.., tape)` and reversed by
//! `@g.call.reverse(y_bar.., tape)`: the reverse program of `@g` by all its floats. A function with a rule
//! is called as it is; its inputs and results are kept for its rule, arrays as copies on the tape. One that is somewhere else has
//! those programs there ([`External::record`](crate::ir::External::record)).

use super::layout::Slot;
use super::record::Record;
use super::reverse::Reverse;
use crate::ir::{Func, Inst, Module, Op, Type, Value};
use crate::span::Diagnostic;
use crate::transform::activity::Activity;
use crate::transform::calls;
use std::sync::Arc;

/// The name that stands for a function in the programs its calls become.
pub(super) fn callee_name(func: &str) -> String {
    format!("{func}.call")
}

/// The functions without a rule, some of them somewhere else, that active calls call.
pub(super) fn callees(
    module: &Module,
    func: &Func,
    activity: &Activity,
) -> Result<Vec<Arc<str>>, Diagnostic> {
    let mut found = Vec::new();
    let mut error = None;
    func.body.walk(&mut |inst| {
        let Op::Call(name) = &inst.op else { return };
        if !activity.is_active_inst(inst) || error.is_some() {
            return;
        }
        let checked = match module.rule(name).map(|rule| &rule.vjp) {
            Some(Some(by)) => calls::only_reads(module, name, inst.span)
                .and_then(|()| calls::find(module, by).map(|_| ())),
            Some(None) => Err(calls::no_rule(name, "vjp", inst.span)),
            None if module.external(name).is_some_and(|external| !external.vjp) => {
                let external = module.external(name);
                external.map_or(Ok(()), |e| Err(calls::no_mode(e, "vjp", inst.span)))
            }
            None => {
                found.push(name.clone());
                calls::only_reads(module, name, inst.span)
            }
        };
        error = checked.err();
    });
    error.map_or(Ok(found), Err)
}

/// What a rule is given, operands and results; arrays with the field that keeps a copy of them.
fn given(func: &Func, inst: &Inst) -> Vec<(Value, Option<Slot>)> {
    let all = inst.args.iter().chain(&inst.results).enumerate();
    let copied = |k| Slot::Copied(inst.results[0], k as u16);
    all.map(|(k, v)| (*v, func.ty(*v).is_array().then(|| copied(k)))).collect()
}

impl Record<'_> {
    /// A call with a part in the derivative.
    pub(super) fn call(&mut self, name: &str, inst: &Inst) {
        if self.module.rule(name).is_some() {
            let given = given(self.nest.func, inst);
            let (before, after) = given.split_at(inst.args.len());
            self.keep_copies(before);
            self.copier.inst(self.nest.func, &mut self.b, inst);
            self.keep_copies(after);
            return;
        }
        let mut args = self.all(&inst.args);
        args.extend(self.tape);
        let mut types: Vec<Type> = inst.results.iter().map(|r| self.nest.func.ty(*r)).collect();
        types.push(Type::Tape);
        let record = Op::Call(format!("{}.record", callee_name(name)).into());
        let results = self.b.inst(record, args, &types, Vec::new());
        self.bind_results(inst, &results);
        self.tape = results.last().copied();
    }

    fn keep_copies(&mut self, given: &[(Value, Option<Slot>)]) {
        for (v, slot) in given {
            if let Some(slot) = slot {
                let array = self.get(*v);
                let copy = self.b.op(Op::Copy, &[array])[0];
                self.slots.insert(*slot, copy);
            }
        }
    }
}

impl Reverse<'_> {
    pub(super) fn call(&mut self, name: &str, inst: &Inst) {
        let func = self.nest.func;
        let with_adjoint = |values: &[Value]| -> Vec<Value> {
            values.iter().copied().filter(|v| func.ty(*v).has_adjoint()).collect()
        };
        let outputs = with_adjoint(&inst.results);
        let mut args = Vec::new();
        let rule = self.module.rule(name).and_then(|rule| rule.vjp.clone());
        if rule.is_some() {
            for (v, copied) in given(func, inst) {
                args.push(match copied {
                    Some(slot) => self.ask(slot),
                    None => self.get(v),
                });
            }
        }
        args.extend(outputs.iter().map(|y| self.adjoint_or_zero(*y)).collect::<Vec<_>>());
        outputs.iter().for_each(|y| {
            self.scope.adjoint.take(*y);
        });
        let inputs = with_adjoint(&inst.args);
        let mut types: Vec<Type> = inputs.iter().map(|x| func.ty(*x)).collect();
        let adjoints = match rule {
            Some(by) => self.b.inst(Op::Call(by), args, &types, Vec::new()),
            None => {
                args.push(self.tape);
                types.push(Type::Tape);
                let reverse = Op::Call(format!("{}.reverse", callee_name(name)).into());
                let mut results = self.b.inst(reverse, args, &types, Vec::new());
                self.tape = results.pop().unwrap_or(self.tape);
                results
            }
        };
        for (x, d) in inputs.into_iter().zip(adjoints) {
            self.contribute(x, d);
        }
    }
}
