//! Arrays, element by element.
//!
//! Array elements, tape records and the context never overlap; telling Cranelift so lets a load
//! stand for a later one across a push.

use super::bounds::Along;
use super::emit::Emitter;
use super::machine::{Machine, Shaped};
use super::site::SiteKind;
use crate::kernel::Work;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{self, AliasRegionData, InstBuilder, MemFlagsData};
use cranelift_frontend::FunctionBuilder;
use wengert_core::ir::{Elem, Inst, Op, Type, Value};

/// How each kind of memory is accessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regions {
    pub(super) arrays: MemFlagsData,
    pub(super) tape: MemFlagsData,
    pub(super) context: MemFlagsData,
    pub(super) frame: MemFlagsData,
}

impl Regions {
    /// The regions of a function.
    pub(super) fn new(b: &mut FunctionBuilder) -> Self {
        let mut region = |user_id, description: &'static str| {
            let data = AliasRegionData { user_id, description: description.into() };
            let region = b.func.dfg.alias_regions.insert(data);
            MemFlagsData::trusted().with_alias_region(Some(region))
        };
        Regions {
            arrays: region(0, "arrays"),
            tape: region(1, "tape"),
            context: region(2, "context"),
            frame: region(3, "frame"),
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// A field of the context.
    pub(super) fn load_context(&mut self, ty: ir::Type, offset: i32) -> ir::Value {
        self.b.ins().load(ty, self.regions.context, self.context, offset)
    }

    /// Writes a field of the context.
    pub(super) fn store_context(&mut self, value: ir::Value, offset: i32) {
        self.b.ins().store(self.regions.context, value, self.context, offset);
    }

    /// A fault where an index is out of range, unless it is known not to be.
    fn check_index(&mut self, inst: &Inst, along: Along, index: Value, len: ir::Value) {
        let (storage, place) = (self.identity.find(inst.args[0]), self.identity.find(index));
        if self.bounds.in_range(storage, along, place) {
            return;
        }
        let index = self.one(index);
        // As unsigned numbers negative indices are larger than any length.
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
        let axis = match along {
            Along::Axis(axis) => (self.func.ty(inst.args[0]).rank() > 1).then_some(axis),
            Along::All(_) => None,
        };
        let kind = SiteKind::Index(self.func.name_of(inst.args[0]), axis);
        self.fault_if(outside, kind, inst.span, &[index, len]);
        self.bounds.checked(storage, along, place);
    }

    /// The address of an element, after the check of its indices.
    fn element(&mut self, inst: &Inst) -> (ir::Value, ir::Type) {
        let array = self.array(inst.args[0]);
        let mut at = None;
        for (axis, len) in array.dims().iter().enumerate() {
            let index = inst.args[1 + axis];
            self.check_index(inst, Along::Axis(axis as u8), index, *len);
            let index = self.one(index);
            at = Some(match at {
                None => index,
                Some(at) => {
                    let row = self.b.ins().imul(at, *len);
                    self.b.ins().iadd(row, index)
                }
            });
        }
        let at = at.unwrap_or_else(|| unreachable!("verified: one dimension at least"));
        self.place(inst, &array, at)
    }

    /// The address of an element by its place in row-major order, which exists.
    pub(super) fn place(
        &mut self,
        inst: &Inst,
        array: &Shaped,
        at: ir::Value,
    ) -> (ir::Value, ir::Type) {
        let (ty, shift) = match self.func.ty(inst.args[0]).elem() {
            Some(Elem::F32) => (F32, 2),
            Some(Elem::I64) => (I64, 3),
            Some(Elem::Bool) => (I8, 0),
            _ => (F64, 3),
        };
        let offset = match shift {
            0 => at,
            _ => {
                let shift = self.b.ins().iconst(I64, shift);
                self.b.ins().ishl(at, shift)
            }
        };
        (self.b.ins().iadd(array.address(), offset), ty)
    }

    /// The address of an element by its place in row-major order, after the check of that.
    fn flat_element(&mut self, inst: &Inst) -> (ir::Value, ir::Type) {
        let array = self.array(inst.args[0]);
        let along = Along::All(array.dims().len() as u8);
        let count = self.length_along(inst.args[0], along);
        self.check_index(inst, along, inst.args[1], count);
        let at = self.one(inst.args[1]);
        self.place(inst, &array, at)
    }

    /// How far an index of an array may count.
    pub(super) fn length_along(&mut self, array: Value, along: Along) -> ir::Value {
        let shaped = self.array(array);
        match along {
            Along::Axis(axis) => shaped.dims()[axis as usize],
            Along::All(_) => {
                let known = self.counts.get(&self.identity.find(array)).copied();
                known.unwrap_or(shaped.dims()[0])
            }
        }
    }

    /// How many elements an array has.
    pub(super) fn count(&mut self, array: &Shaped) -> ir::Value {
        let dims = array.dims();
        // In order: where a dimension is zero, what comes after it may be large.
        dims[1..].iter().fold(dims[0], |n, d| self.b.ins().imul(n, *d))
    }

    /// The address of an element by an instruction that reads or writes it, after the check of its indices.
    pub(super) fn address_of(&mut self, inst: &Inst) -> ir::Value {
        match inst.op {
            Op::Array(_) => self.flat_element(inst).0,
            _ => self.element(inst).0,
        }
    }

    pub(super) fn load_element(&mut self, inst: &Inst) -> ir::Value {
        let (element, ty) = self.element(inst);
        self.b.ins().load(ty, self.regions.arrays, element, 0)
    }

    pub(super) fn peek(&mut self, inst: &Inst) -> ir::Value {
        let (element, ty) = self.flat_element(inst);
        self.b.ins().load(ty, self.regions.arrays, element, 0)
    }

    /// Stores in place. The result is the same machine value as the array: see `identity`.
    pub(super) fn store_element(&mut self, inst: &Inst) {
        let (element, _) = self.element(inst);
        let value = self.one(inst.args[inst.args.len() - 1]);
        self.b.ins().store(self.regions.arrays, value, element, 0);
    }

    /// As `store_element`.
    pub(super) fn poke(&mut self, inst: &Inst) {
        let (element, _) = self.flat_element(inst);
        let value = self.one(inst.args[2]);
        self.b.ins().store(self.regions.arrays, value, element, 0);
    }

    pub(super) fn fill(&mut self, inst: &Inst) -> Machine {
        for (axis, dim) in inst.args[..inst.args.len() - 1].iter().enumerate() {
            self.bounds.length(inst.results[0], axis as u8, self.identity.find(*dim));
        }
        if self.func.ty(inst.results[0]) != Type::VECTOR {
            let doubles = self.func.ty(inst.results[0]).elem() == Some(Elem::F64);
            let blank = doubles && self.blank.contains(&inst.results[0]);
            let work = if blank { Work::Blank } else { Work::Fill };
            return self.kernel(inst, work).unwrap_or_else(|| unreachable!("has a result"));
        }
        let len = self.one(inst.args[0]);
        let zero = self.b.ins().iconst(I64, 0);
        let negative = self.b.ins().icmp(IntCC::SignedLessThan, len, zero);
        self.fault_if(negative, SiteKind::NegativeLength, inst.span, &[len]);
        let call = if self.blank.contains(&inst.results[0]) {
            let blank = self.import(self.compiler.hooks.blank);
            self.b.ins().call(blank, &[self.context, len])
        } else {
            let value = self.one(inst.args[1]);
            let fill = self.import(self.compiler.hooks.fill);
            self.b.ins().call(fill, &[self.context, len, value])
        };
        self.allocated(inst, call, len, &[len])
    }

    pub(super) fn copy(&mut self, inst: &Inst) -> Machine {
        let array = self.array(inst.args[0]);
        if self.func.ty(inst.args[0]).elem() != Some(Elem::F64) {
            return self.kernel(inst, Work::Copy).unwrap_or_else(|| unreachable!("has a result"));
        }
        let count = self.count(&array);
        let copy = self.import(self.compiler.hooks.copy);
        let call = self.b.ins().call(copy, &[self.context, array.address(), count]);
        self.allocated(inst, call, count, array.dims())
    }

    fn allocated(
        &mut self,
        inst: &Inst,
        call: ir::Inst,
        count: ir::Value,
        dims: &[ir::Value],
    ) -> Machine {
        let address = self.b.inst_results(call)[0];
        self.fault_unless(address, SiteKind::OutOfMemory, inst.span, &[count]);
        Machine::Array(Shaped::new(address, dims))
    }
}
