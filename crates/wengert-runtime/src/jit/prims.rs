//! Scalar rows, to the bit as `ops::value` defines them.

use super::emit::Emitter;
use super::site::SiteKind;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData};
use wengert_core::ir::{Inst, Value};
use wengert_core::ops::value::CANONICAL_NAN;
use wengert_core::ops::{Prim, Scalar};

impl Emitter<'_, '_, '_> {
    /// The value of a row.
    pub(super) fn prim(&mut self, prim: Prim, inst: &Inst) -> ir::Value {
        use Prim::*;
        match prim {
            IAdd | ISub | IMul | INeg => return self.checked(prim, inst),
            IDiv | IMod => return self.divide(prim, inst),
            _ => {}
        }
        let mut args = self.words_of(&inst.args);
        if prim == Fma && self.overwrites_badly(inst) {
            args.swap(0, 1);
        }
        let x = |k: usize| args[k];
        let b = &mut self.b;
        match prim {
            Add => b.ins().fadd(x(0), x(1)),
            Sub => b.ins().fsub(x(0), x(1)),
            Mul => b.ins().fmul(x(0), x(1)),
            Div => b.ins().fdiv(x(0), x(1)),
            Fma => b.ins().fma(x(0), x(1), x(2)),
            Neg => b.ins().fneg(x(0)),
            Abs => b.ins().fabs(x(0)),
            Min => {
                let less = b.ins().fcmp(FloatCC::LessThan, x(0), x(1));
                b.ins().select(less, x(0), x(1))
            }
            Max => {
                let less = b.ins().fcmp(FloatCC::LessThan, x(1), x(0));
                b.ins().select(less, x(0), x(1))
            }
            Floor => b.ins().floor(x(0)),
            Round => b.ins().nearest(x(0)),
            Flush => {
                // Zero and subnormals are the numbers whose exponent field is zero. They are rare, so
                // the test is off the chain of dependent operations, and nothing is moved.
                let float = b.func.dfg.value_type(x(0));
                let (int, shift, mask) =
                    if float == F32 { (I32, 23, 0xff) } else { (I64, 52, 0x7ff) };
                let bits = b.ins().bitcast(int, MemFlagsData::new(), x(0));
                let shift = b.ins().iconst(int, shift);
                let exponent = b.ins().ushr(bits, shift);
                let mask = b.ins().iconst(int, mask);
                let exponent = b.ins().band(exponent, mask);
                let (tiny, on) = (b.create_block(), b.create_block());
                let flushed = b.append_block_param(on, float);
                b.ins().brif(exponent, on, &[BlockArg::Value(x(0))], tiny, &[]);
                b.set_cold_block(tiny);
                b.switch_to_block(tiny);
                let zero = match float {
                    F32 => b.ins().f32const(0.0),
                    _ => b.ins().f64const(0.0),
                };
                b.ins().jump(on, &[BlockArg::Value(zero)]);
                b.switch_to_block(on);
                flushed
            }
            Sqrt => b.ins().sqrt(x(0)),
            StopGradient => x(0),
            Demote => b.ins().fdemote(F32, x(0)),
            Promote => b.ins().fpromote(F64, x(0)),
            Lt => b.ins().fcmp(FloatCC::LessThan, x(0), x(1)),
            Le => b.ins().fcmp(FloatCC::LessThanOrEqual, x(0), x(1)),
            Gt => b.ins().fcmp(FloatCC::GreaterThan, x(0), x(1)),
            Ge => b.ins().fcmp(FloatCC::GreaterThanOrEqual, x(0), x(1)),
            Eq => b.ins().fcmp(FloatCC::Equal, x(0), x(1)),
            Ne => b.ins().fcmp(FloatCC::NotEqual, x(0), x(1)),
            ILt => b.ins().icmp(IntCC::SignedLessThan, x(0), x(1)),
            ILe => b.ins().icmp(IntCC::SignedLessThanOrEqual, x(0), x(1)),
            IGt => b.ins().icmp(IntCC::SignedGreaterThan, x(0), x(1)),
            IGe => b.ins().icmp(IntCC::SignedGreaterThanOrEqual, x(0), x(1)),
            IEq => b.ins().icmp(IntCC::Equal, x(0), x(1)),
            INe => b.ins().icmp(IntCC::NotEqual, x(0), x(1)),
            And | IAnd => b.ins().band(x(0), x(1)),
            Or | IOr => b.ins().bor(x(0), x(1)),
            Not => {
                let one = b.ins().iconst(ir::types::I8, 1);
                b.ins().bxor(x(0), one)
            }
            Select => b.ins().select(x(0), x(1), x(2)),
            IMin => b.ins().smin(x(0), x(1)),
            IMax => b.ins().smax(x(0), x(1)),
            WAdd => b.ins().iadd(x(0), x(1)),
            WSub => b.ins().isub(x(0), x(1)),
            WMul => b.ins().imul(x(0), x(1)),
            UMulH => b.ins().umulhi(x(0), x(1)),
            IXor => b.ins().bxor(x(0), x(1)),
            Shl => b.ins().ishl(x(0), x(1)),
            Shr => b.ins().ushr(x(0), x(1)),
            Sar => b.ins().sshr(x(0), x(1)),
            IToF => b.ins().fcvt_from_sint(F64, x(0)),
            FToI => b.ins().fcvt_to_sint_sat(I64, x(0)),
            Bits => {
                let bits = b.ins().bitcast(I64, MemFlagsData::new(), x(0));
                let nan = b.ins().fcmp(FloatCC::Unordered, x(0), x(0));
                let canonical = b.ins().iconst(I64, CANONICAL_NAN as i64);
                b.ins().select(nan, canonical, bits)
            }
            FromBits => b.ins().bitcast(F64, MemFlagsData::new(), x(0)),
            IAdd | ISub | IMul | INeg | IDiv | IMod => unreachable!("handled above"),
            _ => unreachable!("expanded into its program"),
        }
    }

    /// The first factor's register takes the result, so the first should be one that is not needed
    /// again: a constant (it is loaded anew anyway), else a value from inside the loop, best one
    /// that has no use behind. Either order of the factors has the same bits.
    fn overwrites_badly(&self, inst: &Inst) -> bool {
        let [a, b] = [0, 1].map(|k: usize| self.identity.find(inst.args[k]));
        let start = self.loops.last().map(|l| l.first);
        let cost = |v: Value| match self.last_uses[v.index()] {
            _ if self.func.as_const(v).is_some() => 0,
            _ if start.is_some_and(|first| v < first) => 3,
            Some(last) if last == inst.results[0] => 1,
            _ => 2,
        };
        cost(b) < cost(a)
    }

    fn constant(&self, v: Value) -> Option<i64> {
        match self.func.as_const(self.identity.find(v)) {
            Some(Scalar::I64(c)) => Some(c),
            _ => None,
        }
    }

    /// Addition, subtraction, multiplication and negation that must fit.
    fn checked(&mut self, prim: Prim, inst: &Inst) -> ir::Value {
        let x = self.one(inst.args[0]);
        if self.bounds.is_exact(inst.results[0]) {
            let y = self.one(inst.args[1]);
            return match prim {
                Prim::IAdd => self.b.ins().iadd(x, y),
                Prim::ISub => self.b.ins().isub(x, y),
                _ => self.b.ins().imul(x, y),
            };
        }
        let (result, overflow) = match prim {
            Prim::INeg => {
                let least = self.b.ins().iconst(I64, i64::MIN);
                (self.b.ins().ineg(x), self.b.ins().icmp(IntCC::Equal, x, least))
            }
            Prim::IMul => {
                let y = self.one(inst.args[1]);
                self.b.ins().smul_overflow(x, y)
            }
            _ => {
                let y = self.one(inst.args[1]);
                let add = prim == Prim::IAdd;
                let constant = self.constant(inst.args[1]).map(|c| (c, x));
                let swapped = self.constant(inst.args[0]).filter(|_| add).map(|c| (c, y));
                match constant.or(swapped) {
                    // Adding a constant overflows if the sum lies on its wrong side: one compare.
                    Some((c, other)) => {
                        let result =
                            if add { self.b.ins().iadd(x, y) } else { self.b.ins().isub(x, y) };
                        let wrong = if (c > 0) == add {
                            IntCC::SignedLessThan
                        } else {
                            IntCC::SignedGreaterThan
                        };
                        (result, self.b.ins().icmp(wrong, result, other))
                    }
                    None if add => self.b.ins().sadd_overflow(x, y),
                    None => self.b.ins().ssub_overflow(x, y),
                }
            }
        };
        self.fault_if(overflow, SiteKind::Overflow, inst.span, &[]);
        result
    }

    /// Division and remainder, rounding down.
    fn divide(&mut self, prim: Prim, inst: &Inst) -> ir::Value {
        let (x, y) = (self.one(inst.args[0]), self.one(inst.args[1]));
        let divisor = self.constant(inst.args[1]);
        if let Some(c) = divisor {
            // Rounding down, a power of two is a shift and a mask.
            if c > 0 && c & (c - 1) == 0 {
                return if prim == Prim::IDiv {
                    let shift = self.b.ins().iconst(I64, c.trailing_zeros() as i64);
                    self.b.ins().sshr(x, shift)
                } else {
                    let mask = self.b.ins().iconst(I64, c - 1);
                    self.b.ins().band(x, mask)
                };
            }
        }
        if divisor.is_none_or(|c| c == 0) {
            self.fault_unless(y, SiteKind::DivisionByZero, inst.span, &[]);
        }
        if prim == Prim::IDiv && divisor.is_none_or(|c| c == -1) {
            let least = self.b.ins().iconst(I64, i64::MIN);
            let minus_one = self.b.ins().iconst(I64, -1);
            let (p, q) = (
                self.b.ins().icmp(IntCC::Equal, x, least),
                self.b.ins().icmp(IntCC::Equal, y, minus_one),
            );
            let both = self.b.ins().band(p, q);
            self.fault_if(both, SiteKind::Overflow, inst.span, &[]);
        }
        let zero = self.b.ins().iconst(I64, 0);
        let b = &mut self.b;
        let (quotient, remainder) = if prim == Prim::IDiv {
            let quotient = b.ins().sdiv(x, y);
            let product = b.ins().imul(quotient, y);
            (Some(quotient), b.ins().isub(x, product))
        } else {
            (None, b.ins().srem(x, y))
        };
        // The machine rounds towards zero: one step down where the remainder is not zero and its
        // sign is not the divisor's.
        let signs = b.ins().bxor(remainder, y);
        let differ = b.ins().icmp(IntCC::SignedLessThan, signs, zero);
        let inexact = b.ins().icmp(IntCC::NotEqual, remainder, zero);
        let down = b.ins().band(differ, inexact);
        match quotient {
            Some(quotient) => {
                let down = b.ins().uextend(I64, down);
                b.ins().isub(quotient, down)
            }
            None => {
                let up = b.ins().iadd(remainder, y);
                b.ins().select(down, up, remainder)
            }
        }
    }
}
