//! Operations on whole arrays: the runtime does them.
//!
//! The words of the operands go to a frame on the stack, the result's come back behind them. What the
//! operation is, the runtime looks up by its number.

use super::abi;
use super::emit::Emitter;
use super::machine::Machine;
use super::site::SiteKind;
use crate::kernel::{Kernel, Work};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types::I64;
use wengert_core::ir::{Inst, Type};

impl Emitter<'_, '_, '_> {
    /// Calls the runtime. What works in place gives back its first operand.
    pub(super) fn kernel(&mut self, inst: &Inst, work: Work) -> Option<Machine> {
        let types: Vec<Type> = inst.args.iter().map(|a| self.func.ty(*a)).collect();
        let result = inst.results.first().map(|r| self.func.ty(*r));
        let args: Vec<Machine> = inst.args.iter().map(|a| self.get(*a)).collect();
        let in_place = inst.op.takes().is_some();
        let room: Vec<Type> = result.into_iter().filter(|_| !in_place).collect();
        let (frame, end) = self.frame(&args, &room);
        let number = self.compiler.kernels.len() as i64;
        self.compiler.kernels.push(Kernel::new(work, types, result));
        let number = self.b.ins().iconst(I64, number);
        let hook = self.import(self.compiler.hooks.kernel);
        let call = self.b.ins().call(hook, &[self.context, number, frame]);
        let failed = self.b.inst_results(call)[0];
        let name = self.func.name_of(inst.args[0]);
        self.fault_if(failed, SiteKind::Kernel(name), inst.span, &[]);
        if in_place {
            return Some(args[0]);
        }
        let flags = self.regions.frame;
        abi::load_slots(&mut self.b, flags, frame, end, &room).0.first().copied()
    }
}
