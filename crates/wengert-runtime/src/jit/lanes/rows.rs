//! Arithmetic in lockstep: which rows are computed in one register, and which one lane after the other.

use super::Lane;
use crate::jit::emit::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use wengert_core::ir::{Inst, Type, Value};
use wengert_core::ops::Prim;

impl Emitter<'_, '_, '_> {
    /// A row with operands that differ between lanes.
    pub(super) fn lane_prim(&mut self, prim: Prim, inst: &Inst) {
        let integers = self.func.ty(inst.results[0]) == Type::I64;
        // Places in arrays stay in registers of their own; what is made of the bits of floats is in one.
        let in_one = !integers || matches!(prim, Prim::Bits | Prim::FToI) || self.any_vector(inst);
        if matches!(prim, Prim::IAdd | Prim::ISub) && self.any_vector(inst) {
            return self.lane_sum(prim, inst);
        }
        if prim.can_trap() || !in_one {
            return self.one_by_one(inst);
        }
        let args: Vec<ir::Value> = inst.args.iter().map(|a| self.vector(*a)).collect();
        let result = self.lane_row(prim, &args);
        self.set_lane(inst.results[0], Lane::Vector(result));
    }

    /// A sum or difference that must fit.
    fn lane_sum(&mut self, prim: Prim, inst: &Inst) {
        let [x, y] = [0, 1].map(|k: usize| self.vector(inst.args[k]));
        // It does not where the result's sign is not that of the first operand, though it should be.
        let (sum, other) = match prim {
            Prim::IAdd => {
                let sum = self.b.ins().iadd(x, y);
                (sum, self.b.ins().bxor(y, sum))
            }
            _ => (self.b.ins().isub(x, y), self.b.ins().bxor(x, y)),
        };
        if !self.bounds.is_exact(inst.results[0]) {
            let turned = self.b.ins().bxor(x, sum);
            let wrong = self.b.ins().band(turned, other);
            let zero = self.nothing(Type::I64);
            let wrong = self.b.ins().icmp(IntCC::SignedLessThan, wrong, zero);
            self.bail_where(wrong);
        }
        self.set_lane(inst.results[0], Lane::Vector(sum));
    }

    /// Whether any integer operand is in one register.
    fn any_vector(&mut self, inst: &Inst) -> bool {
        let integers: Vec<Value> =
            inst.args.iter().copied().filter(|a| self.func.ty(*a) == Type::I64).collect();
        integers.into_iter().any(|a| self.varies(a) && matches!(self.lane(a), Lane::Vector(_)))
    }
}
