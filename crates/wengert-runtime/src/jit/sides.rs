//! Branches in iterations that run in pairs: both sides are computed, and each lane takes its own.
//!
//! That is what elementary functions are made of: sides of a few rows that cannot fail, on floats and on their bits.
//! Which sides are taken changes from element to element, so a processor guesses wrong often; and a pair of elements
//! takes little more time than one.

use super::emit::Emitter;
use super::pairs::{Looker, Pairs};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64X2, I64, I64X2};
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData};
use std::collections::HashMap;
use wengert_core::ir::{Inst, Op, Type, Value};
use wengert_core::ops::value::CANONICAL_NAN;
use wengert_core::ops::{Prim, Scalar};

/// More instructions than this on sides that may not be taken are more than lanes gain.
pub(super) const MOST: usize = 96;

/// The rows on the bits of floats that lanes are computed with.
fn is_row_of_bits(prim: Prim) -> bool {
    use Prim::*;
    matches!(prim, IAnd | IOr | IXor | WAdd | WSub)
}

impl Looker<'_, '_, '_, '_> {
    /// Whether lanes can take their own sides.
    pub(super) fn branch(&mut self, inst: &Inst) -> bool {
        self.lane(inst.args[0]);
        for side in &inst.blocks {
            self.aside += side.insts.len();
            let plain = |i: &Inst| {
                matches!(i.op, Op::If) || (matches!(i.op, Op::Prim(_)) && i.op.is_pure())
            };
            if !side.insts.iter().all(|i| plain(i) && self.inst(i)) {
                return false;
            }
            side.yields.iter().for_each(|y| self.lane(*y));
        }
        let func = self.emitter.func;
        let mut known = self.aside <= MOST;
        for (k, r) in inst.results.iter().enumerate() {
            match func.ty(*r) {
                Type::F64 | Type::Bool => {}
                Type::I64 if inst.blocks.iter().all(|side| self.bits.contains(&side.yields[k])) => {
                    self.bits.insert(*r);
                }
                _ => known = false,
            }
        }
        known
    }

    /// Whether a row works on the bits of floats, and lanes can be computed with it.
    pub(super) fn row_of_bits(&mut self, prim: Prim, inst: &Inst) -> bool {
        let func = self.emitter.func;
        let known = match prim {
            Prim::Bits => func.ty(inst.args[0]) == Type::F64,
            Prim::FromBits => self.bits.contains(&inst.args[0]),
            Prim::Shl | Prim::Shr => {
                let by = self.emitter.func.as_const(inst.args[1]);
                let few = matches!(by, Some(Scalar::I64(n)) if (0..64).contains(&n));
                few && self.bits.contains(&inst.args[0])
            }
            _ => {
                let lane = |v: &Value| self.bits.contains(v) || self.is_outside(*v);
                let any = inst.args.iter().any(|a| self.bits.contains(a));
                is_row_of_bits(prim) && any && inst.args.iter().all(lane)
            }
        };
        if known {
            let lanes = if matches!(prim, Prim::Shl | Prim::Shr) { 1 } else { inst.args.len() };
            inst.args[..lanes].iter().for_each(|a| self.lane(*a));
            if prim != Prim::FromBits {
                self.bits.insert(inst.results[0]);
            }
        }
        known
    }
}

impl Emitter<'_, '_, '_> {
    /// Both sides of a branch, for two iterations.
    pub(super) fn pair_of_sides(
        &mut self,
        inst: &Inst,
        pairs: &Pairs,
        lanes: &mut HashMap<Value, ir::Value>,
    ) {
        for side in &inst.blocks {
            side.insts.iter().for_each(|i| self.pair(i, pairs, lanes));
        }
        let condition = lanes[&self.identity.find(inst.args[0])];
        for (k, r) in inst.results.iter().enumerate() {
            let [then, otherwise] =
                [0, 1].map(|s: usize| lanes[&self.identity.find(inst.blocks[s].yields[k])]);
            let taken = match self.b.func.dfg.value_type(then) {
                F64X2 => self.choose(condition, then, otherwise),
                _ => self.b.ins().bitselect(condition, then, otherwise),
            };
            lanes.insert(self.identity.find(*r), taken);
        }
    }

    /// A row on the bits of floats, for two iterations.
    pub(super) fn pair_of_bits(
        &mut self,
        prim: Prim,
        inst: &Inst,
        lanes: &mut HashMap<Value, ir::Value>,
    ) {
        let of = |k: usize| lanes[&self.identity.find(inst.args[k])];
        let by = match self.func.as_const(inst.args[inst.args.len() - 1]) {
            Some(Scalar::I64(n)) => n,
            _ => 0,
        };
        let x = of(0);
        let b = &mut self.b;
        let both = match prim {
            Prim::Bits => {
                let bits = b.ins().bitcast(I64X2, same_bits(), x);
                let nan = b.ins().fcmp(FloatCC::Unordered, x, x);
                let canonical = b.ins().iconst(I64, CANONICAL_NAN as i64);
                let canonical = b.ins().splat(I64X2, canonical);
                b.ins().bitselect(nan, canonical, bits)
            }
            Prim::FromBits => b.ins().bitcast(F64X2, same_bits(), x),
            Prim::Shl => b.ins().ishl_imm_u(x, by),
            Prim::Shr => b.ins().ushr_imm_u(x, by),
            Prim::IAnd => b.ins().band(x, of(1)),
            Prim::IOr => b.ins().bor(x, of(1)),
            Prim::IXor => b.ins().bxor(x, of(1)),
            Prim::WAdd => b.ins().iadd(x, of(1)),
            Prim::WSub => b.ins().isub(x, of(1)),
            _ => unreachable!("looked at before"),
        };
        lanes.insert(self.identity.find(inst.results[0]), both);
    }
}

/// A vector as another of as many bits: which lane is which must be said.
fn same_bits() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}
