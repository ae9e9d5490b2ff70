//! How values travel: between functions in registers, to and from the outside in frames.

use super::machine::Machine;
use crate::hooks;
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlagsData, Signature};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use wengert_core::ir::{Block, Func, MAX_RANK, Op, Type};

/// The machine types of a value.
pub(super) fn words(ty: Type) -> &'static [ir::Type] {
    // The address, then the dimensions.
    const ARRAY: [ir::Type; 1 + MAX_RANK] = [I64; 1 + MAX_RANK];
    match ty {
        Type::F64 => &[F64],
        Type::F32 => &[F32],
        Type::I64 => &[I64],
        Type::Bool => &[I8],
        Type::Array(_, rank) => &ARRAY[..1 + rank as usize],
        Type::Tape => &[I64],
    }
}

/// How many slots of eight bytes these take in a frame or on the tape.
pub(crate) fn slots(types: &[Type]) -> usize {
    types.iter().map(|t| words(*t).len()).sum()
}

/// `(context, parameters..) -> (status, results..)`. The convention is the one that gives back many
/// values in registers.
pub(super) fn native_signature(func: &Func) -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    let params = func.params().iter().flat_map(|p| words(func.ty(*p)));
    signature.params = [&I64].into_iter().chain(params).map(|t| AbiParam::new(*t)).collect();
    let results = func.results.iter().flat_map(|t| words(*t));
    signature.returns = [&I32].into_iter().chain(results).map(|t| AbiParam::new(*t)).collect();
    signature
}

/// `(context, frame) -> status`, called from Rust.
pub(super) fn frame_signature(host: CallConv) -> Signature {
    signature(host, &[I64, I64], &[I32])
}

/// `(context, frame)`, for functions that stand aside: calls to them change no register, so a slow
/// path costs the loop around it nothing.
pub(super) fn aside_signature() -> Signature {
    signature(CallConv::PreserveAll, &[I64, I64], &[])
}

/// Whether a function is called aside: scalar code that cannot fail.
pub(super) fn stands_aside(func: &Func) -> bool {
    fn is_scalar(block: &Block) -> bool {
        block.insts.iter().all(|inst| match &inst.op {
            Op::Prim(prim) => !prim.can_trap(),
            Op::If => inst.blocks.iter().all(is_scalar),
            _ => false,
        })
    }
    let linear = |t: &Type| t.is_linear();
    !func.param_types().iter().any(linear)
        && !func.results.iter().any(linear)
        && is_scalar(&func.body)
}

/// The hooks' names and signatures, in the order of `Hooks`.
pub(super) fn hook_signatures(host: CallConv) -> [(&'static str, Signature); 20] {
    [
        (hooks::FILL, signature(host, &[I64, I64, F64], &[I64])),
        (hooks::BLANK, signature(host, &[I64, I64], &[I64])),
        (hooks::COPY, signature(host, &[I64, I64, I64], &[I64])),
        (hooks::FREE, signature(host, &[I64, I64], &[])),
        (hooks::NOTE_SITE, signature(host, &[I64], &[])),
        (hooks::DRIVE, signature(host, &[I64, I64, I64, I64], &[I32])),
        (hooks::KERNEL, signature(host, &[I64, I64, I64], &[I32])),
        (hooks::NEW_TAPE, signature(host, &[I64], &[I64])),
        (hooks::TAPE_BASE, signature(host, &[I64, I64], &[I64])),
        (hooks::NOTE_TAPE, signature(host, &[I64, I64], &[])),
        (hooks::END_TAPE, signature(host, &[I64, I64], &[])),
        (hooks::HOLD_ARRAY, signature(host, &[I64, I64, I64], &[])),
        (hooks::TAKE_ARRAY, signature(host, &[I64, I64, I64], &[I32])),
        (hooks::REFILL, signature(host, &[I64, I64, F64], &[])),
        (hooks::ROWS, signature(host, &[I64, I64, I64, I64, I64], &[])),
        (hooks::COLUMNS, signature(host, &[I64, I64, I64, I64, I64], &[])),
        (hooks::MANY, signature(host, &[I64, I64, I64, I64, I64, I64], &[])),
        (hooks::ADD, signature(host, &[I64, I64, I64], &[])),
        (hooks::DOT, signature(host, &[I64, I64, I64], &[F64])),
        (hooks::SUM, signature(host, &[I64, I64], &[F64])),
    ]
}

fn signature(host: CallConv, params: &[ir::Type], returns: &[ir::Type]) -> Signature {
    let mut signature = Signature::new(host);
    signature.params = params.iter().map(|t| AbiParam::new(*t)).collect();
    signature.returns = returns.iter().map(|t| AbiParam::new(*t)).collect();
    signature
}

/// Writes values to consecutive slots, from `offset` on; gives back the offset after them.
pub(super) fn store_slots(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    base: ir::Value,
    mut offset: i32,
    values: &[Machine],
) -> i32 {
    for word in values.iter().flat_map(Machine::words) {
        // A slot is a whole word, so that the outside can read it as one.
        let full = match b.func.dfg.value_type(word) {
            I8 => b.ins().uextend(I64, word),
            F32 => {
                let bits = b.ins().bitcast(I32, MemFlagsData::new(), word);
                b.ins().uextend(I64, bits)
            }
            _ => word,
        };
        b.ins().store(flags, full, base, offset);
        offset += 8;
    }
    offset
}

/// Reads values of these types from consecutive slots; gives back the offset after them.
pub(super) fn load_slots(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    base: ir::Value,
    mut offset: i32,
    types: &[Type],
) -> (Vec<Machine>, i32) {
    let mut values = Vec::with_capacity(types.len());
    for ty in types {
        let parts: Vec<ir::Value> = words(*ty)
            .iter()
            .map(|word| {
                offset += 8;
                b.ins().load(*word, flags, base, offset - 8)
            })
            .collect();
        values.push(Machine::from_words(*ty, &parts));
    }
    (values, offset)
}
