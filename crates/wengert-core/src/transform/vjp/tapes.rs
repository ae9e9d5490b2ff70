//! Reversing tapes: `push` and `pop` are each other's transpose.
//!
//! The adjoint of a tape is a tape. Where the program pushed a record, the reverse sweep pops the
//! adjoints of its float fields from the adjoint tape; where it popped one, the reverse sweep pushes
//! them. All float fields take part, active or not, so that both sides agree by their types alone; a
//! record without floats has no adjoint record. A tape dropped with records on it has no adjoints for
//! them: the reverse of their `push` finds none, which is a fault.

use super::reverse::Reverse;
use crate::ir::{Inst, Type, Value};

impl Reverse<'_> {
    /// `t2 = push t1, v..`
    pub(super) fn push(&mut self, inst: &Inst) {
        let Some(bar) = self.scope.adjoint.take(inst.results[0]) else { return };
        let func = self.nest.func;
        let floats: Vec<Value> =
            inst.args[1..].iter().copied().filter(|v| func.ty(*v).is_float()).collect();
        let types: Vec<Type> = floats.iter().map(|v| func.ty(*v)).collect();
        let (bar, adjoints) = self.b.pop(bar, &types);
        for (v, d) in floats.into_iter().zip(adjoints) {
            self.contribute(v, d);
        }
        self.contribute(inst.args[0], bar);
    }

    /// `t2, v.. = pop t1`
    pub(super) fn pop(&mut self, inst: &Inst) {
        if !self.activity.is_active(inst.args[0]) {
            return;
        }
        let bar = self.adjoint_or_zero(inst.results[0]);
        let func = self.nest.func;
        let floats = inst.results[1..].iter().copied().filter(|v| func.ty(*v).is_float());
        let adjoints: Vec<Value> = floats.map(|v| self.adjoint_or_zero(v)).collect();
        inst.results.iter().for_each(|r| {
            self.scope.adjoint.take(*r);
        });
        let bar = self.b.push(bar, &adjoints);
        self.contribute(inst.args[0], bar);
    }
}
