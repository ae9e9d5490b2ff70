//! What compiled code calls.
//!
//! Each hook is an `extern "C"` function whose first argument is the run's [`Context`], except for those that only
//! compute. None of them panics: a panic here would end the process.

use crate::budget;
use crate::context::Context;
use crate::driver;
use crate::held;
use crate::workers;
use std::slice;
use wengert_core::ir::Phase;
use wengert_core::ops::shaped::Elements;
use wengert_kernels::Entries;

/// The names compiled code refers to hooks by, with their addresses.
pub(crate) fn symbols() -> [(&'static str, *const u8); 26] {
    let Entries { rows, columns, many, add, dot, sum } = wengert_kernels::entries();
    [
        (FILL, fill as *const u8),
        (BLANK, blank as *const u8),
        (COPY, copy as *const u8),
        (FREE, free as *const u8),
        (NOTE_SITE, note_site as *const u8),
        (DRIVE, drive as *const u8),
        (KERNEL, kernel as *const u8),
        (NEW_TAPE, new_tape as *const u8),
        (TAPE_BASE, tape_base as *const u8),
        (NOTE_TAPE, note_tape as *const u8),
        (END_TAPE, end_tape as *const u8),
        (HOLD_ARRAY, hold_array as *const u8),
        (TAKE_ARRAY, take_array as *const u8),
        (REFILL, refill as *const u8),
        (ROWS, rows as *const u8),
        (COLUMNS, columns as *const u8),
        (MANY, many as *const u8),
        (ADD, add as *const u8),
        (DOT, dot as *const u8),
        (SUM, sum as *const u8),
        // Machines without these instructions call them.
        ("fma", fma as *const u8),
        ("floor", floor as *const u8),
        ("nearbyint", nearest as *const u8),
        ("fmaf", fma_single as *const u8),
        ("floorf", floor_single as *const u8),
        ("nearbyintf", nearest_single as *const u8),
    ]
}

/// The addresses of those that every backend calls, in the order of `hook_signatures` in `jit::abi`.
pub(crate) fn table() -> [*const u8; 20] {
    let all = symbols();
    std::array::from_fn(|k| all[k].1)
}

/// `(context, len, value) -> address`, 0 where there is not enough memory.
pub(crate) const FILL: &str = "wengert_fill";
/// `(context, len) -> address`, 0 where there is not enough memory: an array to be written before it is read.
pub(crate) const BLANK: &str = "wengert_blank";
/// `(context, address, len) -> address`, 0 where there is not enough memory.
pub(crate) const COPY: &str = "wengert_copy";
/// `(context, address)`: the array at the address is not used again.
pub(crate) const FREE: &str = "wengert_free";
/// `(context)`: keeps the site of a fault while it passes through a call.
pub(crate) const NOTE_SITE: &str = "wengert_note_site";
/// `(context, loop, phase, frame) -> status`.
pub(crate) const DRIVE: &str = "wengert_drive";
/// `(context, kernel, frame) -> status`.
pub(crate) const KERNEL: &str = "wengert_kernel";
/// `(context) -> top`, 0 where there is no address space.
pub(crate) const NEW_TAPE: &str = "wengert_new_tape";
/// `(context, top) -> address`: where the tape begins.
pub(crate) const TAPE_BASE: &str = "wengert_tape_base";
/// `(context, top)`: a tape stands there.
pub(crate) const NOTE_TAPE: &str = "wengert_note_tape";
/// `(context, top)`: the tape is not used again.
pub(crate) const END_TAPE: &str = "wengert_end_tape";
/// `(context, slot, type)`: an array has been pushed, its words lie there.
pub(crate) const HOLD_ARRAY: &str = "wengert_hold_array";
/// `(context, slot, type) -> whether there is one`: its words lie there again.
pub(crate) const TAKE_ARRAY: &str = "wengert_take_array";
/// `(address, len, value)`: every element of an array becomes that.
pub(crate) const REFILL: &str = "wengert_refill";
/// `(c, matrix, vector, m, k)`: see [`Entries`], as for the others.
pub(crate) const ROWS: &str = "wengert_rows";
/// `(c, matrix, vector, m, k)`.
pub(crate) const COLUMNS: &str = "wengert_columns";
/// `(c, matrix, vectors, m, k, n)`.
pub(crate) const MANY: &str = "wengert_many";
/// `(c, x, len)`.
pub(crate) const ADD: &str = "wengert_add";
/// `(x, y, len) -> sum of products`.
pub(crate) const DOT: &str = "wengert_dot";
/// `(x, len) -> sum`.
pub(crate) const SUM: &str = "wengert_sum";

/// The phase as compiled code passes it.
pub(crate) fn phase_code(phase: Phase) -> i64 {
    match phase {
        Phase::Forward => 0,
        Phase::Reverse => 1,
    }
}

unsafe extern "C" fn fill(context: *mut Context, len: i64, value: f64) -> usize {
    // SAFETY: compiled code passes on the context its entry was called with; no other reference to
    // it exists while that call runs.
    let context = unsafe { &mut *context };
    let len = usize::try_from(len).ok();
    len.and_then(|len| context.arrays.fill(len, value)).unwrap_or(0)
}

unsafe extern "C" fn blank(context: *mut Context, len: i64) -> usize {
    // SAFETY: as in `fill`.
    let context = unsafe { &mut *context };
    let len = usize::try_from(len).ok();
    len.and_then(|len| context.arrays.blank(len)).unwrap_or(0)
}

unsafe extern "C" fn copy(context: *mut Context, from: *const f64, len: i64) -> usize {
    // SAFETY: as in `fill`.
    let context = unsafe { &mut *context };
    // SAFETY: address and length are those of an array of this run or of an argument of it, both
    // alive and unchanged during this call; an empty array's address is aligned and not null.
    let elements = unsafe { slice::from_raw_parts(from, len as usize) };
    context.arrays.copy(Elements::F64(elements)).unwrap_or(0)
}

unsafe extern "C" fn free(context: *mut Context, address: usize) {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.arrays.free(address);
}

unsafe extern "C" fn note_site(context: *mut Context) {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.note_site();
}

unsafe extern "C" fn drive(context: *mut Context, plan: u64, phase: i64, frame: *mut u64) -> u32 {
    // SAFETY: as in `fill`; the reference ends here, before compiled code runs again, and the
    // program outlives the run.
    let (program, threads) = unsafe { ((*context).program, (*context).threads) };
    // SAFETY: as above. What steps record must lie where the driver counts it and can drop it.
    let threads = if unsafe { (*context).budget.is_inside() } { 1 } else { threads };
    let phase = if phase == 0 { Phase::Forward } else { Phase::Reverse };
    let number = plan as usize;
    let plan = &program.plans[number];
    let pieces = plan.pieces.as_ref().filter(|_| threads > 1);
    let pieces = pieces.and_then(|pieces| match phase {
        Phase::Forward => Some(&pieces.forward),
        Phase::Reverse => pieces.reverse.as_ref(),
    });
    if let Some(layout) = pieces {
        // SAFETY: the frame is laid out for the plan's functions, as below; nobody else uses the context.
        return unsafe { workers::drive(context, (number, plan), (phase, layout), frame) };
    }
    // SAFETY: as above.
    if unsafe { (*context).budget.is_for(plan) } {
        // SAFETY: the frame is laid out for the plan's functions, as below; nobody else uses the context.
        return unsafe { budget::drive(context, (number, plan), phase, frame) };
    }
    driver::drive(plan, phase, |step| {
        // SAFETY: the caller laid the frame out for this loop's functions, which have the
        // parameters and results of the `drive` instruction: the verifier has checked that.
        unsafe { step.call(context, frame) }
    })
}

unsafe extern "C" fn kernel(context: *mut Context, number: u64, frame: *mut u64) -> u32 {
    // SAFETY: as in `fill`.
    let context = unsafe { &mut *context };
    let kernel = &context.program.kernels[number as usize];
    // SAFETY: the frame was laid out for this kernel when its call was compiled. Arrays in it are
    // alive: they are freed behind their last use. One that is changed in place has no other
    // version in use, which the verifier has checked, and is no argument of the caller's: those are
    // copied where they are taken over.
    match unsafe { kernel.run(&mut context.arrays, frame) } {
        Ok(()) => 0,
        Err(fault) => {
            context.kernel_fault = Some(fault);
            1
        }
    }
}

unsafe extern "C" fn new_tape(context: *mut Context) -> usize {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.tapes.open().unwrap_or(0)
}

unsafe extern "C" fn tape_base(context: *mut Context, top: usize) -> usize {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.tapes.base(top)
}

unsafe extern "C" fn hold_array(context: *mut Context, slot: *const u64, code: i64) {
    // SAFETY: as in `fill`.
    let context = unsafe { &mut *context };
    // SAFETY: compiled code has just written the words of an array of that type there.
    let words = unsafe { slice::from_raw_parts(slot, held::words(code)) };
    context.held.hold(slot as usize, code, words);
}

unsafe extern "C" fn take_array(context: *mut Context, slot: *mut u64, code: i64) -> u32 {
    // SAFETY: as in `fill`.
    let context = unsafe { &mut *context };
    // SAFETY: the words of an array of that type lie between the beginning of a tape and its top, which
    // compiled code has checked; nothing else refers to them.
    let words = unsafe { slice::from_raw_parts_mut(slot, held::words(code)) };
    u32::from(context.held.take(slot as usize, code, words))
}

unsafe extern "C" fn note_tape(context: *mut Context, top: usize) {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.tapes.note(top);
}

unsafe extern "C" fn end_tape(context: *mut Context, top: usize) {
    // SAFETY: as in `fill`.
    unsafe { &mut *context }.tapes.end(top);
}

unsafe extern "C" fn refill(address: *mut f64, len: usize, value: f64) {
    // SAFETY: an array of that many elements lies there, which the caller takes over; one without elements has an
    // address that is aligned and not null.
    unsafe { slice::from_raw_parts_mut(address, len) }.fill(value);
}

extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn floor(x: f64) -> f64 {
    x.floor()
}

extern "C" fn nearest(x: f64) -> f64 {
    x.round_ties_even()
}

extern "C" fn fma_single(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

extern "C" fn floor_single(x: f32) -> f32 {
    x.floor()
}

extern "C" fn nearest_single(x: f32) -> f32 {
    x.round_ties_even()
}
