//! The kernels of `wengert_core`, compiled a second time for machines with wide registers.
//!
//! It is the same source: the order of operations is fixed there, a fused multiply-add is rounded once
//! however it is done, and so every bit is the same. Only here it is an instruction, and loops
//! work on four doubles at a time.

use wengert_core::fault::FaultKind;
use wengert_core::ops::ArrayOp;
use wengert_core::ops::kernels::{self, Computed, Operand};
use wengert_core::ops::shaped::ElementsMut;

/// As [`kernels::compute`].
pub(crate) fn compute(op: &ArrayOp, args: &[Operand]) -> Result<Computed, FaultKind> {
    #[cfg(target_arch = "x86_64")]
    if available() {
        // SAFETY: the machine has the instructions.
        return unsafe { compute_wide(op, args) };
    }
    kernels::compute(op, args)
}

/// As [`kernels::update`].
pub(crate) fn update(
    op: &ArrayOp,
    shape: &[usize],
    x: ElementsMut,
    args: &[Operand],
) -> Result<(), FaultKind> {
    #[cfg(target_arch = "x86_64")]
    if available() {
        // SAFETY: the machine has the instructions.
        return unsafe { update_wide(op, shape, x, args) };
    }
    kernels::update(op, shape, x, args)
}

#[cfg(target_arch = "x86_64")]
fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn compute_wide(op: &ArrayOp, args: &[Operand]) -> Result<Computed, FaultKind> {
    kernels::compute(op, args)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn update_wide(
    op: &ArrayOp,
    shape: &[usize],
    x: ElementsMut,
    args: &[Operand],
) -> Result<(), FaultKind> {
    kernels::update(op, shape, x, args)
}
