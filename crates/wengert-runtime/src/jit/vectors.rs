//! Rows on vectors: the same as `prims`, in every lane. Truth values are masks: all bits or none.

use super::emit::Emitter;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData};
use wengert_core::ops::Prim;
use wengert_core::ops::value::CANONICAL_NAN;

impl Emitter<'_, '_, '_> {
    /// A row in every lane.
    pub(super) fn lane_row(&mut self, prim: Prim, x: &[ir::Value]) -> ir::Value {
        use Prim::*;
        let b = &mut self.b;
        match prim {
            Add => b.ins().fadd(x[0], x[1]),
            Sub => b.ins().fsub(x[0], x[1]),
            Mul => b.ins().fmul(x[0], x[1]),
            Div => b.ins().fdiv(x[0], x[1]),
            Fma => b.ins().fma(x[0], x[1], x[2]),
            Neg => b.ins().fneg(x[0]),
            Abs => b.ins().fabs(x[0]),
            Floor => b.ins().floor(x[0]),
            Round => b.ins().nearest(x[0]),
            Sqrt => b.ins().sqrt(x[0]),
            StopGradient => x[0],
            Min => {
                let less = b.ins().fcmp(FloatCC::LessThan, x[0], x[1]);
                self.choose(less, x[0], x[1])
            }
            Max => {
                let less = b.ins().fcmp(FloatCC::LessThan, x[1], x[0]);
                self.choose(less, x[0], x[1])
            }
            Flush => {
                // Zero and subnormals are the numbers whose exponent field is zero.
                let float = b.func.dfg.value_type(x[0]);
                let int = float.as_int();
                let bits = b.ins().bitcast(int, same_bits(), x[0]);
                let exponent = b.ins().iconst(I64, 0x7ff << 52);
                let exponent = b.ins().splat(int, exponent);
                let exponents = b.ins().band(bits, exponent);
                let zero = b.ins().iconst(I64, 0);
                let zeros = b.ins().splat(int, zero);
                let tiny = b.ins().icmp(IntCC::Equal, exponents, zeros);
                let kept = b.ins().band_not(bits, tiny);
                b.ins().bitcast(float, same_bits(), kept)
            }
            Lt => b.ins().fcmp(FloatCC::LessThan, x[0], x[1]),
            Le => b.ins().fcmp(FloatCC::LessThanOrEqual, x[0], x[1]),
            Gt => b.ins().fcmp(FloatCC::GreaterThan, x[0], x[1]),
            Ge => b.ins().fcmp(FloatCC::GreaterThanOrEqual, x[0], x[1]),
            Eq => b.ins().fcmp(FloatCC::Equal, x[0], x[1]),
            Ne => b.ins().fcmp(FloatCC::NotEqual, x[0], x[1]),
            And => b.ins().band(x[0], x[1]),
            Or => b.ins().bor(x[0], x[1]),
            Not => b.ins().bnot(x[0]),
            Select => self.choose(x[0], x[1], x[2]),
            _ => self.integer_row(prim, x),
        }
    }

    /// The same with integers, in registers that are wide enough for all of it.
    fn integer_row(&mut self, prim: Prim, x: &[ir::Value]) -> ir::Value {
        use Prim::*;
        let b = &mut self.b;
        let ty = b.func.dfg.value_type(x[0]);
        let float = ir::types::F64.by(ty.lane_count()).unwrap_or(ty);
        match prim {
            ILt => b.ins().icmp(IntCC::SignedLessThan, x[0], x[1]),
            ILe => b.ins().icmp(IntCC::SignedLessThanOrEqual, x[0], x[1]),
            IGt => b.ins().icmp(IntCC::SignedGreaterThan, x[0], x[1]),
            IGe => b.ins().icmp(IntCC::SignedGreaterThanOrEqual, x[0], x[1]),
            IEq => b.ins().icmp(IntCC::Equal, x[0], x[1]),
            INe => b.ins().icmp(IntCC::NotEqual, x[0], x[1]),
            IMin => b.ins().smin(x[0], x[1]),
            IMax => b.ins().smax(x[0], x[1]),
            WAdd => b.ins().iadd(x[0], x[1]),
            WSub => b.ins().isub(x[0], x[1]),
            WMul => b.ins().imul(x[0], x[1]),
            UMulH => b.ins().umulhi(x[0], x[1]),
            IAnd => b.ins().band(x[0], x[1]),
            IOr => b.ins().bor(x[0], x[1]),
            IXor => b.ins().bxor(x[0], x[1]),
            Shl => b.ins().ishl(x[0], x[1]),
            Shr => b.ins().ushr(x[0], x[1]),
            Sar => b.ins().sshr(x[0], x[1]),
            IToF => b.ins().fcvt_from_sint(float, x[0]),
            FToI => b.ins().fcvt_to_sint_sat(ty.as_int(), x[0]),
            Bits => {
                let bits = b.ins().bitcast(ty.as_int(), same_bits(), x[0]);
                let nan = b.ins().fcmp(FloatCC::Unordered, x[0], x[0]);
                let canonical = b.ins().iconst(I64, CANONICAL_NAN as i64);
                let canonical = b.ins().splat(ty.as_int(), canonical);
                b.ins().bitselect(nan, canonical, bits)
            }
            FromBits => b.ins().bitcast(float, same_bits(), x[0]),
            _ => unreachable!("looked at before"),
        }
    }

    /// One or the other by a mask.
    pub(super) fn choose(&mut self, mask: ir::Value, x: ir::Value, y: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(x);
        let mask = match ty.lane_type().is_float() {
            true => self.b.ins().bitcast(ty, same_bits(), mask),
            false => mask,
        };
        self.b.ins().bitselect(mask, x, y)
    }
}

/// A vector as another of as many bits: which lane is which must be said.
fn same_bits() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}
