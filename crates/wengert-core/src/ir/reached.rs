//! What of a module a function needs.

use super::func::Module;
use super::types::Op;
use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

impl Module {
    /// The module without what is not called, driven or declared for a function and those it leads to, rules left out.
    pub fn reached(&self, entry: &str) -> Module {
        let mut found: HashSet<Arc<str>> = HashSet::default();
        let mut work: Vec<Arc<str>> = vec![entry.into()];
        while let Some(name) = work.pop() {
            if !found.insert(name.clone()) {
                continue;
            }
            let Some(func) = self.func(&name) else { continue };
            func.body.walk(&mut |inst| match &inst.op {
                Op::Call(callee) => work.push(callee.clone()),
                Op::Drive(name, _) => {
                    let plans = self.plan(name).into_iter();
                    work.extend(plans.flat_map(|plan| {
                        let parts = [&plan.name, &plan.advance, &plan.record, &plan.reverse];
                        let unstep = plan.unstep.as_ref().map(|unstep| &unstep.func);
                        parts.into_iter().chain(unstep).cloned().collect::<Vec<_>>()
                    }));
                }
                _ => {}
            });
        }
        Module {
            funcs: self.funcs.iter().filter(|f| found.contains(&f.name)).cloned().collect(),
            externals: self.externals.iter().filter(|e| found.contains(&e.name)).cloned().collect(),
            loops: self.loops.iter().filter(|plan| found.contains(&plan.name)).cloned().collect(),
            rules: Vec::new(),
            origin: self.origin.clone(),
        }
    }
}
