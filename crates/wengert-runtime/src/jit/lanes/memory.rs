//! Elements of arrays and records of tapes in lockstep.

use super::{LANES, Lane};
use crate::jit::abi;
use crate::jit::bounds::Along;
use crate::jit::emit::Emitter;
use crate::jit::machine::Machine;
use crate::jit::site::SiteKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, F64X8, I8, I64, I64X8};
use cranelift_codegen::ir::{self, InstBuilder};
use wengert_core::ir::{Elem, Inst, Op, Type, Value};

/// Where the elements lie that lanes read or write.
enum Places {
    /// Side by side, from this address on.
    Row(ir::Value),
    /// Each at its own address.
    Each([ir::Value; LANES]),
}

impl Emitter<'_, '_, '_> {
    /// Sees that an index is in range in all lanes that are meant. Gives it back for all lanes: where it was not known
    /// to be in range, the others read the first element.
    fn lane_index(&mut self, array: Value, along: Along, index: Value) -> [ir::Value; LANES] {
        let (storage, place) = (self.identity.find(array), self.identity.find(index));
        let mask = self.lockstep().mask;
        let known = self.bounds.in_range(storage, along, place);
        if known && (mask.is_none() || !self.varies(index)) {
            return self.words_each(index);
        }
        let len = self.length_along(array, along);
        if !self.varies(index) {
            // As unsigned numbers negative indices are larger than any length.
            let index = self.one(index);
            let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
            self.fault_if(outside, SiteKind::Record, Default::default(), &[]);
            self.bounds.checked(storage, along, place);
            return [index; LANES];
        }
        let lengths = self.b.ins().splat(I64X8, len);
        let indices = self.vector(index);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, indices, lengths);
        self.bail_where(outside);
        self.bounds.checked(storage, along, place);
        if mask.is_none() {
            return self.words_each(index);
        }
        // A lane that is meant has found an element, so there is a first.
        let safe = self.b.ins().band_not(indices, outside);
        std::array::from_fn(|l| self.extracted(safe, l, Type::I64))
    }

    /// Where the elements are that an instruction reads or writes, after the check of its indices.
    fn places(&mut self, inst: &Inst) -> Places {
        let array = self.array(inst.args[0]);
        let flat = matches!(inst.op, Op::Array(_));
        let rank = array.dims().len();
        let axes = if flat { 1 } else { rank };
        let mut at: Option<[ir::Value; LANES]> = None;
        // How far neighbours are apart in memory.
        let mut apart = Some(0);
        for axis in 0..axes {
            let along = if flat { Along::All(rank as u8) } else { Along::Axis(axis as u8) };
            let index = inst.args[1 + axis];
            let each = self.lane_index(inst.args[0], along, index);
            let step = self.apart(index);
            at = Some(match at {
                None => each,
                Some(at) => std::array::from_fn(|l| {
                    let row = self.b.ins().imul(at[l], array.dims()[axis]);
                    self.b.ins().iadd(row, each[l])
                }),
            });
            apart = apart.filter(|before| *before == 0).and(step);
        }
        let at = at.unwrap_or_else(|| unreachable!("verified: one dimension at least"));
        let doubles = self.func.ty(inst.args[0]).elem() == Some(Elem::F64);
        // Lanes that are not meant may be elsewhere.
        if apart == Some(1) && doubles && self.lockstep().mask.is_none() {
            return Places::Row(self.place(inst, &array, at[0]).0);
        }
        Places::Each(at.map(|at| self.place(inst, &array, at).0))
    }

    /// Elements that differ between lanes.
    pub(super) fn lane_load(&mut self, inst: &Inst) {
        let flags = self.regions.arrays;
        let lane = match (self.places(inst), self.func.ty(inst.results[0])) {
            (Places::Row(address), _) => Lane::Vector(self.b.ins().load(F64X8, flags, address, 0)),
            (Places::Each(each), Type::I64) => {
                Lane::Each(each.map(|address| self.b.ins().load(I64, flags, address, 0)), None)
            }
            (Places::Each(each), ty) => {
                let word = if ty == Type::F64 { F64 } else { I8 };
                let words = each.map(|address| self.b.ins().load(word, flags, address, 0));
                Lane::Vector(self.gathered(words, ty))
            }
        };
        self.set_lane(inst.results[0], lane);
    }

    /// Stores in place, each lane an element of its own.
    pub(super) fn lane_store(&mut self, inst: &Inst) {
        let flags = self.regions.arrays;
        let value = inst.args[inst.args.len() - 1];
        let mask = self.lockstep().mask;
        match self.places(inst) {
            Places::Row(address) => {
                let vector = self.vector(value);
                self.b.ins().store(flags, vector, address, 0);
            }
            Places::Each(each) => {
                let words = self.words_each(value);
                for (l, (word, address)) in words.into_iter().zip(each).enumerate() {
                    let Some(mask) = mask else {
                        self.b.ins().store(flags, word, address, 0);
                        continue;
                    };
                    let meant = self.extracted(mask, l, Type::Bool);
                    let (write, on) = (self.b.create_block(), self.b.create_block());
                    self.b.ins().brif(meant, write, &[], on, &[]);
                    self.enter(write);
                    self.b.ins().store(flags, word, address, 0);
                    self.b.ins().jump(on, &[]);
                    self.enter(on);
                }
            }
        }
    }

    /// Writes the records of all lanes: each field, lane by lane.
    pub(super) fn lane_push(&mut self, inst: &Inst) {
        let top = self.one(inst.args[0]);
        let fields = inst.args.len() - 1;
        let size = (8 * LANES * fields) as i64;
        let last = self.tape_limit[&fields];
        let last = self.b.ins().iadd_imm_s(last, 8 * fields as i64 - size);
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, last);
        if self.compiler.own_tape {
            // One iteration after the other may need less.
            let (decline, on) = (self.lockstep().decline, self.b.create_block());
            self.b.ins().brif(over, decline, &[], on, &[]);
            self.enter(on);
        } else {
            self.take_tape(over, top, size, inst.span);
        }
        for (k, v) in inst.args[1..].iter().enumerate() {
            let vector = self.vector(*v);
            self.b.ins().store(self.regions.tape, vector, top, (8 * LANES * k) as i32);
        }
        let next = self.b.ins().iadd_imm_s(top, size);
        self.raised.insert(inst.results[0]);
        self.set(inst.results[0], Machine::One(next));
    }

    /// Takes the records of all lanes back.
    pub(super) fn lane_pop(&mut self, inst: &Inst) {
        if self.is_raised(inst.args[0]) {
            self.note_top(inst.args[0]);
        }
        let top = self.one(inst.args[0]);
        let types: Vec<Type> = inst.results[1..].iter().map(|r| self.func.ty(*r)).collect();
        let size = (8 * LANES * abi::slots(&types)) as i64;
        let base = self.tape_floor[&(self.tapes.root(inst.args[0]), 0)];
        let held = self.b.ins().isub(top, base);
        let needed = self.b.ins().iconst(I64, size);
        let lacking = self.b.ins().icmp(IntCC::UnsignedLessThan, held, needed);
        self.fault_if(lacking, SiteKind::Record, inst.span, &[]);
        let below = self.b.ins().isub(top, needed);
        for (k, (r, ty)) in inst.results[1..].iter().zip(types).enumerate() {
            let offset = (8 * LANES * k) as i32;
            let word = if ty == Type::F64 { F64X8 } else { I64X8 };
            let mut vector = self.b.ins().load(word, self.regions.tape, below, offset);
            if ty == Type::Bool {
                // Nothing but all bits or none is a mask.
                let one = self.b.ins().iconst(I64, 1);
                let one = self.b.ins().splat(I64X8, one);
                let bit = self.b.ins().band(vector, one);
                vector = self.b.ins().ineg(bit);
            }
            self.set_lane(*r, Lane::Vector(vector));
        }
        self.set(inst.results[0], Machine::One(below));
    }
}
