//! Forward mode through calls that stay calls.
//!
//! A call of `@g` becomes a call of `@g.jvp.0_2`, the program for the parameters that vary in this call
//! (by number); it is made once, whoever asks for it. A function with a rule is called through its rule,
//! once per direction, and so is one that is somewhere else ([`External::tangent`](crate::ir::External::tangent)). Outlined loops are functions of their own as well: see [`drives`].

use super::{Done, Jvp, drives};
use crate::ir::{Inst, Module, Op, Type, Value};
use crate::span::Diagnostic;
use crate::transform::calls;
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

/// A function to be differentiated, and by which of its parameters.
pub(super) type Wanted = (Arc<str>, Vec<usize>);

/// The name of the program that calls of a function become.
pub(super) fn callee_name(func: &str, wrt: &[usize], directions: usize) -> String {
    let by: Vec<String> = wrt.iter().map(usize::to_string).collect();
    format!("{}.{}", super::name(func, directions), by.join("_"))
}

/// Differentiates a function of a module along `directions` directions; gives back the module with
/// `@f.jvp` and what it calls.
pub fn in_module(
    module: &Module,
    name: &str,
    wrt: &[usize],
    directions: usize,
) -> Result<Module, Diagnostic> {
    let mut result = module.clone();
    let title = super::name(name, directions);
    if module.func(&title).is_some() {
        return Err(calls::taken(&title));
    }
    let derived = super::derive(module, &calls::subject(module, name)?, &title, wrt, directions)?;
    result.funcs.push(derived.func);
    let mut work = derived.wanted;
    for of in derived.driven {
        work.extend(of.add(module, &mut result, directions)?);
    }
    let mut made = HashSet::default();
    while let Some((callee, wrt)) = work.pop() {
        let title = callee_name(&callee, &wrt, directions);
        if !made.insert(title.clone()) {
            continue;
        }
        if let Some(external) = module.external(&callee) {
            calls::declare(&mut result, external.tangent());
            continue;
        }
        let func = calls::find(module, &callee)?;
        let derived = super::derive(module, func, &title, &wrt, directions)?;
        drives::none(&derived.driven, func)?;
        calls::add(&mut result, derived.func)?;
        work.extend(derived.wanted);
    }
    Ok(result)
}

impl Jvp<'_> {
    /// The function that a call with a derivative of its own becomes a call of, once per direction.
    fn given(&mut self, name: &Arc<str>, inst: &Inst) -> Done<Option<Arc<str>>> {
        if let Some(rule) = self.module.rule(name) {
            let Some(by) = &rule.jvp else { return Err(calls::no_rule(name, "jvp", inst.span)) };
            calls::only_reads(self.module, by, inst.span)?;
            return Ok(Some(by.clone()));
        }
        let Some(external) = self.module.external(name) else { return Ok(None) };
        if !external.jvp {
            return Err(calls::no_mode(external, "jvp", inst.span));
        }
        if self.tangents.len() > 1 && external.params.contains(&Type::Tape) {
            let message = format!(
                "calls of `extern @{name}`, which takes a tape, have a derivative along one direction at a time"
            );
            return Err(Diagnostic::new("unsupported-transform", message)
                .label(inst.span, "this call")
                .help("differentiate along each direction by itself"));
        }
        self.wanted.push((name.clone(), Vec::new()));
        Ok(Some(external.tangent().name))
    }

    pub(super) fn call(&mut self, name: &Arc<str>, inst: &Inst) -> Done<()> {
        let func = self.func;
        let varied: Vec<usize> =
            (0..inst.args.len()).filter(|k| self.is_varied(inst.args[*k])).collect();
        // The records a callee pushes hold tangents whether or not its other parameters vary.
        let has_tape = inst.args.iter().any(|a| func.ty(*a) == Type::Tape);
        let mut args: Vec<Value> = inst.args.iter().map(|a| self.get(*a)).collect();
        let mut types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        let floats = self.floats(&inst.results);
        let gives_none = floats.is_empty() && self.module.external(name).is_some();
        if (varied.is_empty() || gives_none) && !has_tape {
            let results = self.b.inst(inst.op.clone(), args, &types, Vec::new());
            inst.results.iter().zip(results).for_each(|(r, v)| self.bind(*r, v));
            return Ok(());
        }
        let n = inst.results.len();
        if let Some(by) = self.given(name, inst)? {
            types.extend(floats.iter().map(|r| func.ty(*r)));
            let inputs = self.floats(&inst.args);
            let mut tangents = Vec::new();
            for d in 0..self.tangents.len() {
                self.direction = d;
                let along = inputs.iter().map(|v| self.tangent_of(*v)).collect::<Vec<_>>();
                let args: Vec<Value> = args.iter().copied().chain(along).collect();
                let results = self.b.inst(Op::Call(by.clone()), args, &types, Vec::new());
                if d == 0 {
                    inst.results.iter().zip(&results).for_each(|(r, v)| self.bind(*r, *v));
                }
                tangents.extend(&results[n..]);
            }
            self.bind_tangents(&floats, &tangents);
            return Ok(());
        }
        calls::only_reads(self.module, name, inst.span)?;
        let by: Vec<Value> = varied.iter().map(|k| inst.args[*k]).collect();
        args.extend(self.tangents_of(&by));
        for _ in 0..self.tangents.len() {
            types.extend(floats.iter().map(|r| func.ty(*r)));
        }
        let callee = callee_name(name, &varied, self.tangents.len());
        let results = self.b.inst(Op::Call(callee.into()), args, &types, Vec::new());
        inst.results.iter().zip(&results).for_each(|(r, v)| self.bind(*r, *v));
        self.bind_tangents(&floats, &results[n..]);
        self.wanted.push((name.clone(), varied));
        Ok(())
    }
}
