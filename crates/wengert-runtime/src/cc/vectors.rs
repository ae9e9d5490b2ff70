//! Operations on vectors as C: eight lanes, by the compilers' vector types and the helpers of the prelude.

use super::print::{Body, Unknown};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64X8, I64X8};
use cranelift_codegen::ir::{InstructionData, Opcode, Value, ValueDef};

/// Lanes are put into a vector one after the other; the last one makes the whole, so the others are not printed.
pub(super) fn is_part(data: &InstructionData) -> bool {
    matches!(data, InstructionData::TernaryImm8 { opcode: Opcode::Insertlane, imm, .. } if *imm < 7)
}

impl Body<'_> {
    /// What a value is that is a vector or is made of one; nothing where it has to do with neither.
    pub(super) fn vector(
        &self,
        data: &InstructionData,
        result: Value,
    ) -> Option<Result<String, Unknown>> {
        let dfg = &self.func.dfg;
        let ty = dfg.value_type(result);
        // Loads are those of the memory they are from.
        if matches!(data, InstructionData::Load { .. }) {
            return None;
        }
        let first = data.arguments(&dfg.value_lists).first().map(|v| dfg.value_type(*v));
        if !ty.is_vector() && !first.is_some_and(|ty| ty.is_vector()) {
            return None;
        }
        let text = self.vector_text(data, result);
        Some(text.ok_or_else(|| Unknown(format!("{} of vectors", data.opcode()))))
    }

    fn vector_text(&self, data: &InstructionData, result: Value) -> Option<String> {
        let dfg = &self.func.dfg;
        let ty = dfg.value_type(result);
        let floats = ty == F64X8;
        if !floats && ty != I64X8 && ty.is_vector() {
            return None;
        }
        let opcode = data.opcode();
        let v = |v: Value| self.value(v);
        Some(match *data {
            InstructionData::Unary { arg, .. } => {
                let x = v(arg);
                match opcode {
                    Opcode::Splat if floats => format!("v8d_all({x})"),
                    Opcode::Splat => format!("v8u_all({x})"),
                    Opcode::Fneg => format!("v8d_neg({x})"),
                    Opcode::Fabs => format!("v8d_abs({x})"),
                    Opcode::Floor => format!("v8d_floor({x})"),
                    Opcode::Nearest => format!("v8d_nearest({x})"),
                    Opcode::Sqrt => format!("v8d_sqrt({x})"),
                    Opcode::Ineg => format!("-{x}"),
                    Opcode::Bnot => format!("~{x}"),
                    Opcode::VanyTrue => format!("v8u_any({x})"),
                    Opcode::FcvtFromSint => format!("__builtin_convertvector((v8i){x}, v8d)"),
                    Opcode::FcvtToSintSat => format!("v8u_whole({x})"),
                    _ => return None,
                }
            }
            InstructionData::Binary { args, .. } => {
                let [x, y] = args.map(v);
                match opcode {
                    Opcode::Fadd | Opcode::Iadd => format!("{x} + {y}"),
                    Opcode::Fsub | Opcode::Isub => format!("{x} - {y}"),
                    Opcode::Fmul | Opcode::Imul => format!("{x} * {y}"),
                    Opcode::Fdiv => format!("{x} / {y}"),
                    Opcode::Band => format!("{x} & {y}"),
                    Opcode::Bor => format!("{x} | {y}"),
                    Opcode::Bxor => format!("{x} ^ {y}"),
                    Opcode::Smin => format!("v8u_choose((v8u)((v8i){x} < (v8i){y}), {x}, {y})"),
                    Opcode::Smax => format!("v8u_choose((v8u)((v8i){x} > (v8i){y}), {x}, {y})"),
                    // Shifts take the last bits of their second operand.
                    Opcode::Ishl => format!("{x} << ({y} & 63)"),
                    Opcode::Ushr => format!("{x} >> ({y} & 63)"),
                    Opcode::Sshr => format!("(v8u)((v8i){x} >> (v8i)({y} & 63))"),
                    Opcode::Umulhi => format!("v8u_mulh({x}, {y})"),
                    _ => return None,
                }
            }
            InstructionData::Ternary { args, .. } => {
                let [x, y, z] = args.map(v);
                match opcode {
                    Opcode::Fma => format!("v8d_fma({x}, {y}, {z})"),
                    Opcode::Bitselect if floats => format!("v8d_choose((v8u){x}, {y}, {z})"),
                    Opcode::Bitselect => format!("v8u_choose({x}, {y}, {z})"),
                    _ => return None,
                }
            }
            InstructionData::IntCompare { args, cond, .. } => {
                let (number, word) = match cond {
                    IntCC::Equal => ("v8u", "=="),
                    IntCC::NotEqual => ("v8u", "!="),
                    IntCC::SignedLessThan => ("v8i", "<"),
                    IntCC::SignedLessThanOrEqual => ("v8i", "<="),
                    IntCC::SignedGreaterThan => ("v8i", ">"),
                    IntCC::SignedGreaterThanOrEqual => ("v8i", ">="),
                    IntCC::UnsignedGreaterThanOrEqual => ("v8u", ">="),
                    _ => return None,
                };
                let [x, y] = args.map(v);
                format!("(v8u)(({number}){x} {word} ({number}){y})")
            }
            InstructionData::FloatCompare { args, cond, .. } => {
                let [x, y] = args.map(v);
                let word = match cond {
                    FloatCC::LessThan => "<",
                    FloatCC::LessThanOrEqual => "<=",
                    FloatCC::GreaterThan => ">",
                    FloatCC::GreaterThanOrEqual => ">=",
                    FloatCC::Equal => "==",
                    FloatCC::NotEqual => "!=",
                    FloatCC::Unordered => {
                        return Some(format!("(v8u)({x} != {x}) | (v8u)({y} != {y})"));
                    }
                    _ => return None,
                };
                format!("(v8u)({x} {word} {y})")
            }
            InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } => {
                format!("({}){}", super::print::ctype(ty), v(arg))
            }
            InstructionData::BinaryImm8 { opcode: Opcode::Extractlane, arg, imm } => {
                format!("{}[{imm}]", v(arg))
            }
            InstructionData::TernaryImm8 { opcode: Opcode::Insertlane, args, .. } => {
                let lanes: Vec<String> = self.inserted(args)?.into_iter().map(v).collect();
                format!("({}){{{}}}", super::print::ctype(ty), lanes.join(", "))
            }
            _ => return None,
        })
    }

    /// The lanes of a vector that has been put together lane by lane, by the last step of that.
    fn inserted(&self, [mut before, last]: [Value; 2]) -> Option<Vec<Value>> {
        let dfg = &self.func.dfg;
        let mut lanes = vec![last];
        while lanes.len() < 8 {
            let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(before)) else {
                return None;
            };
            let InstructionData::TernaryImm8 { opcode: Opcode::Insertlane, args, imm } =
                dfg.insts[inst]
            else {
                return None;
            };
            if usize::from(imm) != 7 - lanes.len() {
                return None;
            }
            lanes.push(args[1]);
            before = args[0];
        }
        lanes.reverse();
        Some(lanes)
    }
}
