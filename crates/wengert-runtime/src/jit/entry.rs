//! The outside's way into a function: `(context, frame) -> status`.
//!
//! Parameters lie in consecutive slots of the frame, results follow them. A tape the function gives
//! back is noted, so that the peak is right when nothing has popped it.

use super::Compiler;
use super::abi::{aside_signature, frame_signature, load_slots, store_slots};
use super::machine::Machine;
use super::memory::Regions;
use crate::context::field;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, FuncRef, Function, InstBuilder, UserFuncName};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module as _};
use wengert_core::ir::{Func, Type};

/// A call of a function with the parameters that lie in a frame.
struct Called {
    context: ir::Value,
    frame: ir::Value,
    regions: Regions,
    /// Where the results go.
    end: i32,
    /// The status, then the results.
    words: Vec<ir::Value>,
}

/// Begins a function `(context, frame)` with that call.
fn call(b: &mut FunctionBuilder, native: FuncRef, func: &Func) -> Called {
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let (context, frame) = (b.block_params(start)[0], b.block_params(start)[1]);
    let regions = Regions::new(b);
    let (params, end) = load_slots(b, regions.frame, frame, 0, &func.param_types());
    let mut args = vec![context];
    args.extend(params.iter().flat_map(Machine::words));
    let call = b.ins().call(native, &args);
    let words = b.inst_results(call).to_vec();
    Called { context, frame, regions, end, words }
}

/// The way into a function that stands aside: it cannot fail, so there is no status.
pub(super) fn aside(compiler: &mut Compiler, func: &Func, id: FuncId) -> Function {
    let native = compiler.declared[&func.name].native;
    let name = UserFuncName::user(0, id.as_u32());
    let mut function = Function::with_name_signature(name, aside_signature());
    let mut b = FunctionBuilder::new(&mut function, &mut compiler.scratch);
    let native = compiler.jit.declare_func_in_func(native, b.func);
    let Called { frame, regions, end, words, .. } = call(&mut b, native, func);
    let results: Vec<Machine> = words[1..].iter().map(|w| Machine::One(*w)).collect();
    store_slots(&mut b, regions.frame, frame, end, &results);
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(compiler.jit.target_config());
    function
}

/// The body of an entry.
pub(super) fn function(compiler: &mut Compiler, func: &Func) -> Function {
    let declared = &compiler.declared[&func.name];
    let id = declared.frame.unwrap_or(declared.native);
    let signature = frame_signature(compiler.jit.isa().default_call_conv());
    let name = UserFuncName::user(0, id.as_u32());
    let mut function = Function::with_name_signature(name, signature);
    let mut b = FunctionBuilder::new(&mut function, &mut compiler.scratch);
    let native = compiler.jit.declare_func_in_func(declared.native, b.func);
    let Called { context, frame, regions, end, words } = call(&mut b, native, func);
    let (good, bad) = (b.create_block(), b.create_block());
    b.ins().brif(words[0], bad, &[], good, &[]);

    b.switch_to_block(good);
    let mut at = 1;
    let mut results = Vec::with_capacity(func.results.len());
    for ty in &func.results {
        let n = super::abi::words(*ty).len();
        results.push(Machine::from_words(*ty, &words[at..at + n]));
        if *ty == Type::Tape && compiler.several_tapes {
            let note = compiler.jit.declare_func_in_func(compiler.hooks.note_tape, b.func);
            b.ins().call(note, &[context, words[at]]);
        } else if *ty == Type::Tape {
            let peak = b.ins().load(I64, regions.context, context, field::TAPE_PEAK);
            let higher = b.ins().umax(words[at], peak);
            b.ins().store(regions.context, higher, context, field::TAPE_PEAK);
        }
        at += n;
    }
    store_slots(&mut b, regions.frame, frame, end, &results);
    b.ins().return_(&words[..1]);

    b.switch_to_block(bad);
    b.set_cold_block(bad);
    b.ins().return_(&words[..1]);
    b.seal_all_blocks();
    b.finalize(compiler.jit.target_config());
    function
}
