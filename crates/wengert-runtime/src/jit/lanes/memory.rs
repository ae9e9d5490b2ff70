//! Elements of arrays and records of tapes in lockstep.

use super::{LANES, Lane};
use crate::jit::bounds::Along;
use crate::jit::emit::Emitter;
use crate::jit::machine::Machine;
use crate::jit::site::SiteKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, F64X8, I8, I64, I64X8};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use wengert_core::ir::{Elem, Inst, Op, Type, Value};
use wengert_core::span::Span;

/// The top below the records that have been read, and their fields.
type Read = (ir::Value, Vec<ir::Value>);

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

    /// Writes the records of all lanes.
    pub(super) fn lane_push(&mut self, inst: &Inst) {
        let top = self.one(inst.args[0]);
        let fields: Vec<ir::Value> = inst.args[1..].iter().map(|v| self.vector(*v)).collect();
        let next = self.push_row(top, &fields, inst.span);
        self.raised.insert(inst.results[0]);
        self.set(inst.results[0], Machine::One(next));
    }

    /// Writes the records of those lanes that have one, and gives back the new top. Where all have one, each field lies
    /// lane by lane, otherwise each lane's record after the other.
    pub(super) fn push_row(
        &mut self,
        top: ir::Value,
        fields: &[ir::Value],
        span: Span,
    ) -> ir::Value {
        let Some(mask) = self.lockstep().recorded else {
            return self.write_row(top, fields, span);
        };
        let record = 8 * fields.len() as i64;
        let [full, part, on] = [(); 3].map(|()| self.b.create_block());
        self.b.append_block_param(on, I64);
        let missing = self.b.ins().bnot(mask);
        let missing = self.any(missing);
        self.b.ins().brif(missing, part, &[], full, &[]);
        self.enter(full);
        let next = self.write_row(top, fields, span);
        self.b.ins().jump(on, &[BlockArg::Value(next)]);
        self.enter(part);
        let (places, next) = self.row_places(mask, top, record);
        let size = self.b.ins().isub(next, top);
        self.take_tape_for(fields.len(), top, size, span);
        for (l, place) in places.into_iter().enumerate() {
            let meant = self.extracted(mask, l, Type::Bool);
            let (write, skip) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(meant, write, &[], skip, &[]);
            self.enter(write);
            for (k, field) in fields.iter().enumerate() {
                let word = self.b.ins().extractlane(*field, l as u8);
                self.b.ins().store(self.regions.tape, word, place, 8 * k as i32);
            }
            self.b.ins().jump(skip, &[]);
            self.enter(skip);
        }
        self.b.ins().jump(on, &[BlockArg::Value(next)]);
        self.enter(on);
        self.b.block_params(on)[0]
    }

    /// Sees that there is room for records that take so much of it.
    fn take_tape_for(&mut self, fields: usize, top: ir::Value, size: ir::Value, span: Span) {
        // What is known is the highest top that leaves room for one record.
        let limit = self.b.ins().iadd_imm_s(self.tape_limit[&fields], 8 * fields as i64);
        let last = self.b.ins().isub(limit, size);
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, last);
        if self.compiler.own_tape {
            // One iteration after the other may need less.
            let (decline, on) = (self.lockstep().decline, self.b.create_block());
            self.b.ins().brif(over, decline, &[], on, &[]);
            self.enter(on);
        } else {
            self.take_tape(over, top, size, span);
        }
    }

    /// Writes the records of eight lanes, and gives back the new top.
    fn write_row(&mut self, top: ir::Value, fields: &[ir::Value], span: Span) -> ir::Value {
        let size = self.b.ins().iconst(I64, (8 * LANES * fields.len()) as i64);
        self.take_tape_for(fields.len(), top, size, span);
        for (k, vector) in fields.iter().enumerate() {
            self.b.ins().store(self.regions.tape, *vector, top, (8 * LANES * k) as i32);
        }
        self.b.ins().iadd(top, size)
    }

    /// Where the records of lanes begin if the first of those that have one is here, and where the last one ends.
    fn row_places(
        &mut self,
        mask: ir::Value,
        first: ir::Value,
        record: i64,
    ) -> ([ir::Value; LANES], ir::Value) {
        let size = self.b.ins().iconst(I64, record);
        let mut next = first;
        let places = std::array::from_fn(|l| {
            let word = self.b.ins().extractlane(mask, l as u8);
            let step = self.b.ins().band(word, size);
            let place = next;
            next = self.b.ins().iadd(place, step);
            place
        });
        (places, next)
    }

    /// Takes the records of all lanes back.
    pub(super) fn lane_pop(&mut self, inst: &Inst) {
        if self.is_raised(inst.args[0]) {
            self.note_top(inst.args[0]);
        }
        let top = self.one(inst.args[0]);
        let types: Vec<Type> = inst.results[1..].iter().map(|r| self.func.ty(*r)).collect();
        let (below, vectors) = match self.lockstep().recorded {
            None => self.read_row(top, &types, inst),
            Some(mask) => self.read_records(mask, top, &types, inst),
        };
        for ((r, ty), mut vector) in inst.results[1..].iter().zip(types).zip(vectors) {
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

    /// The top that is so many bytes lower, which must be there.
    pub(super) fn lowered(&mut self, top: ir::Value, size: ir::Value, pop: &Inst) -> ir::Value {
        let base = self.tape_floor[&(self.tapes.root(pop.args[0]), 0)];
        let held = self.b.ins().isub(top, base);
        let lacking = self.b.ins().icmp(IntCC::UnsignedLessThan, held, size);
        self.fault_if(lacking, SiteKind::Record, pop.span, &[]);
        self.b.ins().isub(top, size)
    }

    /// The top below eight records, and their fields.
    fn read_row(&mut self, top: ir::Value, types: &[Type], pop: &Inst) -> Read {
        let size = self.b.ins().iconst(I64, (8 * LANES * types.len()) as i64);
        let below = self.lowered(top, size, pop);
        let fields = types.iter().enumerate().map(|(k, ty)| {
            let word = if *ty == Type::F64 { F64X8 } else { I64X8 };
            self.b.ins().load(word, self.regions.tape, below, (8 * LANES * k) as i32)
        });
        (below, fields.collect())
    }

    /// The same of some lanes, at least one; what the others get is no matter.
    fn read_records(
        &mut self,
        mask: ir::Value,
        top: ir::Value,
        types: &[Type],
        pop: &Inst,
    ) -> Read {
        let [full, part, on] = [(); 3].map(|()| self.b.create_block());
        self.b.append_block_param(on, I64);
        for ty in types {
            self.b.append_block_param(on, if *ty == Type::F64 { F64X8 } else { I64X8 });
        }
        let missing = self.b.ins().bnot(mask);
        let missing = self.any(missing);
        self.b.ins().brif(missing, part, &[], full, &[]);
        self.enter(full);
        let (below, fields) = self.read_row(top, types, pop);
        let fields: Vec<BlockArg> =
            [below].into_iter().chain(fields).map(BlockArg::Value).collect();
        self.b.ins().jump(on, &fields);

        self.enter(part);
        let record = 8 * types.len() as i64;
        let zero = self.b.ins().iconst(I64, 0);
        let (places, size) = self.row_places(mask, zero, record);
        let below = self.lowered(top, size, pop);
        let places: [ir::Value; LANES] = std::array::from_fn(|l| {
            let meant = self.extracted(mask, l, Type::Bool);
            let place = self.b.ins().select(meant, places[l], zero);
            self.b.ins().iadd(below, place)
        });
        let mut fields = vec![BlockArg::Value(below)];
        for (k, ty) in types.iter().enumerate() {
            let word = if *ty == Type::F64 { F64 } else { I64 };
            let words = places.map(|p| self.b.ins().load(word, self.regions.tape, p, 8 * k as i32));
            // Truth values are still words here.
            let ty = if *ty == Type::Bool { Type::I64 } else { *ty };
            fields.push(BlockArg::Value(self.gathered(words, ty)));
        }
        self.b.ins().jump(on, &fields);
        self.enter(on);
        let words = self.b.block_params(on);
        (words[0], words[1..].to_vec())
    }
}
