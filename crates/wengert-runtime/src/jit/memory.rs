//! Arrays and the tape.
//!
//! Array elements, tape records and the context never overlap; telling Cranelift so lets a load
//! stand for a later one across a push.

use super::abi;
use super::emit::{Emitter, Machine};
use super::site::SiteKind;
use crate::context::field;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, AliasRegionData, InstBuilder, MemFlagsData};
use cranelift_frontend::FunctionBuilder;
use wengert_core::ir::{Inst, Op, Type, Value};

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

    /// The address of an element, after the check of its index.
    fn element(&mut self, inst: &Inst) -> ir::Value {
        let (address, len) = self.array(inst.args[0]);
        let index = self.one(inst.args[1]);
        let (storage, place) = (self.identity.find(inst.args[0]), self.identity.find(inst.args[1]));
        if !self.bounds.in_range(storage, place) {
            // As unsigned numbers negative indices are larger than any length.
            let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
            let kind = SiteKind::Index(self.func.name_of(inst.args[0]));
            self.fault_if(outside, kind, inst.span, &[index, len]);
            self.bounds.checked(storage, place);
        }
        let three = self.b.ins().iconst(I64, 3);
        let offset = self.b.ins().ishl(index, three);
        self.b.ins().iadd(address, offset)
    }

    pub(super) fn load_element(&mut self, inst: &Inst) -> ir::Value {
        let element = self.element(inst);
        self.b.ins().load(F64, self.regions.arrays, element, 0)
    }

    /// Stores in place. The result is the same machine value as the array: see `identity`.
    pub(super) fn store_element(&mut self, inst: &Inst) {
        let element = self.element(inst);
        let value = self.one(inst.args[2]);
        self.b.ins().store(self.regions.arrays, value, element, 0);
    }

    pub(super) fn fill(&mut self, inst: &Inst) -> Machine {
        let (len, value) = (self.one(inst.args[0]), self.one(inst.args[1]));
        let zero = self.b.ins().iconst(I64, 0);
        let negative = self.b.ins().icmp(IntCC::SignedLessThan, len, zero);
        self.fault_if(negative, SiteKind::NegativeLength, inst.span, &[len]);
        let fill = self.import(self.compiler.hooks.fill);
        let call = self.b.ins().call(fill, &[self.context, len, value]);
        self.bounds.length(inst.results[0], self.identity.find(inst.args[0]));
        self.allocated(inst, call, len)
    }

    pub(super) fn copy(&mut self, inst: &Inst) -> Machine {
        let (address, len) = self.array(inst.args[0]);
        let copy = self.import(self.compiler.hooks.copy);
        let call = self.b.ins().call(copy, &[self.context, address, len]);
        self.allocated(inst, call, len)
    }

    fn allocated(&mut self, inst: &Inst, call: ir::Inst, len: ir::Value) -> Machine {
        let address = self.b.inst_results(call)[0];
        self.fault_unless(address, SiteKind::OutOfMemory, inst.span, &[]);
        Machine::Array(address, len)
    }

    /// Writes a record and gives back the new top.
    pub(super) fn push(&mut self, inst: &Inst) -> ir::Value {
        let top = self.one(inst.args[0]);
        let record: Vec<ir::Value> = self.words_of(&inst.args[1..]);
        let last = self.tape_limit[&record.len()];
        // The old top against the last one that leaves room: the new top is needed after the stores
        // only, and counted up in place.
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, last);
        self.fault_if(over, SiteKind::TapeLimit, inst.span, &[]);
        let size = 8 * record.len() as i64;
        for (k, word) in record.into_iter().enumerate() {
            self.b.ins().store(self.regions.tape, word, top, 8 * k as i32);
        }
        let next = self.b.ins().iadd_imm_s(top, size);
        self.raised.insert(inst.results[0]);
        next
    }

    /// Loads the tape's limit, where the function pushes, and takes off each size of record.
    pub(super) fn find_tape_limits(&mut self) {
        let mut sizes = Vec::new();
        self.func.body.walk(&mut |inst| {
            if inst.op == Op::Push {
                let types: Vec<Type> = inst.args[1..].iter().map(|a| self.func.ty(*a)).collect();
                let size = abi::slots(&types);
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        });
        if sizes.is_empty() {
            return;
        }
        let limit = self.load_context(I64, field::TAPE_LIMIT);
        for size in sizes {
            // The limit is an address, so this does not wrap.
            let last = self.b.ins().iadd_imm_s(limit, -8 * size as i64);
            self.tape_limit.insert(size, last);
        }
    }

    /// Takes the last record back: the lower top, and the values.
    pub(super) fn pop(&mut self, inst: &Inst) {
        if self.is_raised(inst.args[0]) {
            self.note_top(inst.args[0]);
        }
        let top = self.one(inst.args[0]);
        let types: Vec<Type> = inst.results[1..].iter().map(|r| self.func.ty(*r)).collect();
        let size = self.b.ins().iconst(I64, 8 * abi::slots(&types) as i64);
        let below = self.b.ins().isub(top, size);
        let (values, _) = abi::load_slots(&mut self.b, self.regions.tape, below, 0, &types);
        self.set(inst.results[0], Machine::One(below));
        for (r, machine) in inst.results[1..].iter().zip(values) {
            self.set(*r, machine);
        }
    }
}

/// The highest top of the tape is noted where a tape that has risen begins to fall: before a pop,
/// or before a loop or call that pops. A sweep that only records or only reverses notes nothing.
impl Emitter<'_, '_, '_> {
    /// Whether a tape may stand higher than any top noted so far.
    pub(super) fn is_raised(&self, tape: Value) -> bool {
        self.raised.contains(&tape) || self.raised.contains(&self.identity.find(tape))
    }

    /// Notes a top.
    pub(super) fn note_top(&mut self, tape: Value) {
        let top = self.one(tape);
        let peak = self.load_context(I64, field::TAPE_PEAK);
        let higher = self.b.ins().umax(top, peak);
        self.store_context(higher, field::TAPE_PEAK);
    }

    /// Notes the tapes an instruction is given, if it pops.
    pub(super) fn note_tops(&mut self, inst: &Inst, pops: bool) {
        for a in &inst.args {
            if pops && self.func.ty(*a) == Type::Tape && self.is_raised(*a) {
                self.note_top(*a);
            }
        }
    }

    /// The tapes an instruction gives back have risen if it pushes, or if it does neither and was
    /// given one that had.
    pub(super) fn raise_results(&mut self, inst: &Inst, (pushes, pops): (bool, bool)) {
        let given = inst.args.iter().any(|a| self.func.ty(*a) == Type::Tape && self.is_raised(*a));
        if pushes || (!pops && given) {
            let tapes = inst.results.iter().filter(|r| self.func.ty(**r) == Type::Tape);
            self.raised.extend(tapes.copied().collect::<Vec<_>>());
        }
    }
}
