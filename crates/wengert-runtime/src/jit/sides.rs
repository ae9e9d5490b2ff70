//! Branches in iterations that run in pairs: both sides are computed, and each lane takes its own.
//!
//! That is what elementary functions are made of: sides of a few rows that cannot fail, on floats and on their bits.
//! Which sides are taken changes from element to element, so a processor guesses wrong often; and a pair of elements
//! takes little more time than one.

use super::emit::Emitter;
use super::pairs::{Looker, Pairs};
use cranelift_codegen::ir::{self, InstBuilder};
use rustc_hash::FxHashMap as HashMap;
use wengert_core::ir::{Inst, Op, Type, Value};
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
        places: &HashMap<Value, ir::Value>,
        at: (ir::Value, i32),
    ) {
        for side in &inst.blocks {
            side.insts.iter().for_each(|i| self.pair(i, pairs, lanes, places, at));
        }
        let condition = lanes[&self.identity.find(inst.args[0])];
        for (k, r) in inst.results.iter().enumerate() {
            let [then, otherwise] =
                [0, 1].map(|s: usize| lanes[&self.identity.find(inst.blocks[s].yields[k])]);
            let taken = self.choose(condition, then, otherwise);
            lanes.insert(self.identity.find(*r), taken);
        }
    }

    /// Bits moved by as many places in both lanes.
    pub(super) fn pair_of_shifts(
        &mut self,
        prim: Prim,
        inst: &Inst,
        lanes: &mut HashMap<Value, ir::Value>,
    ) {
        let x = lanes[&self.identity.find(inst.args[0])];
        let by = match self.func.as_const(inst.args[1]) {
            Some(Scalar::I64(n)) => n,
            _ => unreachable!("looked at before"),
        };
        let both = match prim {
            Prim::Shl => self.b.ins().ishl_imm_u(x, by),
            _ => self.b.ins().ushr_imm_u(x, by),
        };
        lanes.insert(self.identity.find(inst.results[0]), both);
    }
}
