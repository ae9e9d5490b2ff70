//! Which of its parameters a function takes over.

use super::super::func::{Block, Func, Module, Value};
use super::super::types::{Op, Phase};
use rustc_hash::FxHashSet as HashSet;

/// Whether a function takes over its array or tape parameter `v`: stores into it, carries it, returns it,
/// or passes it to a function of the module that does. Functions that are not there take over nothing.
pub fn consumes(module: &Module, func: &Func, v: Value) -> bool {
    let mut seen = HashSet::default();
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
