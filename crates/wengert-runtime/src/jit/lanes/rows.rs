//! Arithmetic in lockstep: which rows are computed in one register, and which one lane after the other.

use super::Lane;
use crate::jit::emit::Emitter;
use cranelift_codegen::ir;
use wengert_core::ir::{Inst, Type, Value};
use wengert_core::ops::Prim;

impl Emitter<'_, '_, '_> {
    /// A row with operands that differ between lanes.
    pub(super) fn lane_prim(&mut self, prim: Prim, inst: &Inst) {
        let integers = self.func.ty(inst.results[0]) == Type::I64;
        // Places in arrays stay in registers of their own; what is made of the bits of floats is in one.
        let in_one = !integers || matches!(prim, Prim::Bits | Prim::FToI) || self.any_vector(inst);
        if prim.can_trap() || !in_one {
            return self.one_by_one(inst);
        }
        let args: Vec<ir::Value> = inst.args.iter().map(|a| self.vector(*a)).collect();
        let result = self.lane_row(prim, &args);
        self.set_lane(inst.results[0], Lane::Vector(result));
    }

    /// Whether any integer operand is in one register.
    fn any_vector(&mut self, inst: &Inst) -> bool {
        let integers: Vec<Value> =
            inst.args.iter().copied().filter(|a| self.func.ty(*a) == Type::I64).collect();
        integers.into_iter().any(|a| self.varies(a) && matches!(self.lane(a), Lane::Vector(_)))
    }
}
