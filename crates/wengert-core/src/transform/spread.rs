//! Parallel loops as functions over ranges of iterations, for whoever can run several at the same time.
//!
//! [`outline`] is the last thing done before native code: a loop marked `parallel` becomes a plan that is driven
//! (`LoopPlan`), whose one function runs a range. No bit changes: an iteration has nothing to do with others.

use super::copy::{Copier, rebuild};
use super::vjp::chunks::counted;
use crate::ir::pieces::trips_code;
use crate::ir::{Builder, Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::ops::Prim;
use std::sync::Arc;

/// The module with its parallel loops outlined; `None` where it has none. A loop inside another stays.
pub fn outline(module: &Module) -> Option<Module> {
    let has_any = |func: &Func| {
        let mut any = false;
        func.body.walk(&mut |inst| any |= is_parallel(inst));
        any
    };
    if !module.funcs.iter().any(has_any) {
        return None;
    }
    let mut result = Module { funcs: Vec::new(), ..module.clone() };
    let mut made = Vec::new();
    for func in &module.funcs {
        if !has_any(func) {
            result.funcs.push(func.clone());
            continue;
        }
        let mut count = 0;
        let outlined = rebuild(func, &func.name, &mut |copier, b, inst| {
            if is_parallel(inst) {
                let name = format!("{}.parallel{count}", func.name);
                made.push(range(func, &name, inst));
                drive(func, &name, copier, b, inst);
                result.loops.push(plan(&name, inst));
                count += 1;
            }
            is_parallel(inst)
        });
        result.funcs.push(outlined);
    }
    result.funcs.extend(made);
    Some(result)
}

fn is_parallel(inst: &Inst) -> bool {
    inst.op == Op::For && inst.blocks[0].parallel
}

fn plan(name: &str, inst: &Inst) -> LoopPlan {
    let function: Arc<str> = name.into();
    LoopPlan {
        name: function.clone(),
        advance: function.clone(),
        record: function.clone(),
        reverse: function,
        carries: inst.results.len(),
        state: 0,
        finals: Vec::new(),
        bounded: true,
        parallel: true,
        unstep: None,
    }
}

/// What the function of a loop is given beside the range and the carries: the loop's start, and what its body uses.
fn captures(func: &Func, inst: &Inst) -> Vec<Value> {
    let mut captures = inst.blocks[0].captures(func);
    if func.as_const(inst.args[0]).is_none() && !captures.contains(&inst.args[0]) {
        captures.push(inst.args[0]);
    }
    captures
}

/// The instruction that runs the loop.
fn drive(func: &Func, name: &str, copier: &mut Copier, b: &mut Builder, inst: &Inst) {
    let args = copier.all(func, b, &inst.args);
    let zero = b.i64(0);
    let trips = trips_code(b, args[0], args[1]);
    let mut given = vec![zero, trips];
    given.extend(&args[2..]);
    given.extend(copier.all(func, b, &captures(func, inst)));
    let mut types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
    types.extend([Type::I64; 2]);
    b.at(inst.span);
    let results = b.inst(Op::Drive(name.into(), Phase::Forward), given, &types, Vec::new());
    for (r, v) in inst.results.iter().zip(results) {
        if let Some(name) = func.name_of(*r) {
            b.name(v, &name);
        }
        copier.bind(*r, v);
    }
}

/// The function of a loop: `(from, to, carries.., captures..) -> (carries.., done, exit)`.
fn range(func: &Func, name: &str, inst: &Inst) -> Func {
    let body = &inst.blocks[0];
    let captures = captures(func, inst);
    let mut params: Vec<(Type, Option<Arc<str>>)> =
        vec![(Type::I64, Some("from".into())), (Type::I64, Some("to".into()))];
    let given = body.params[1..].iter().chain(&captures);
    params.extend(given.map(|v| (func.ty(*v), func.name_of(*v))));
    let (mut b, values) = Builder::new(name, &params);
    let n = inst.results.len();
    let mut copier = Copier::default();
    for (v, param) in captures.iter().zip(&values[2 + n..]) {
        copier.bind(*v, *param);
    }
    b.at(inst.span);
    let lo = copier.get(func, &mut b, inst.args[0]);
    let block = counted(func, &mut copier, &mut b, body, lo);
    let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
    b.at(inst.span);
    let mut results = b.inst(Op::For, values[..2 + n].to_vec(), &types, vec![block]);
    let done = b.prim(Prim::IMax, &[values[0], values[1]]);
    results.extend([done, b.i64(0)]);
    b.finish(results)
}
