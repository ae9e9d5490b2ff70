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

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ops::shaped::Elements;
    use wengert_core::ops::{Direction, Transposed};

    /// Numbers whose sums differ in their last bits where the order differs.
    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn both_instances_give_the_same_bits() {
        for n in [0, 1, 5, 8, 100, 1024, 1025, 5000] {
            let (x, y) = (numbers(n, 1), numbers(n, 2));
            let singles: Vec<f32> = x.iter().map(|x| *x as f32).collect();
            let shape = [n];
            let double = |x| Operand::Array(&shape, Elements::F64(x));
            let single = Operand::Array(&shape, Elements::F32(&singles));
            let ops = [
                (ArrayOp::Sum(None), vec![double(&x)]),
                (ArrayOp::Sum(None), vec![single]),
                (ArrayOp::Dot, vec![double(&x), double(&y)]),
                (ArrayOp::Dot, vec![single, single]),
                (ArrayOp::CumSum(0, Direction::Forward), vec![double(&x)]),
                (ArrayOp::CumSum(0, Direction::Backward), vec![single]),
            ];
            for (op, args) in ops {
                let key = |c: Computed| match c {
                    Computed::Nothing => (Vec::new(), Vec::new()),
                    Computed::Scalar(s) => (vec![], vec![s.key().1]),
                    Computed::Array(x) => x.key(),
                };
                let plain = kernels::compute(&op, &args).map(key);
                assert_eq!(compute(&op, &args).map(key), plain, "{op:?} of {n}");
            }
        }
        for (m, n, k) in [(1, 1, 1), (4, 8, 16), (5, 9, 300), (33, 17, 40), (0, 3, 2), (3, 2, 0)] {
            let (a, b, c) = (numbers(m * k, 3), numbers(k * n, 4), numbers(m * n, 5));
            for (ta, tb) in [(Transposed::No, Transposed::Yes), (Transposed::Yes, Transposed::No)] {
                let sa = if ta == Transposed::No { [m, k] } else { [k, m] };
                let sb = if tb == Transposed::No { [k, n] } else { [n, k] };
                let args = [
                    Operand::Array(&sa, Elements::F64(&a)),
                    Operand::Array(&sb, Elements::F64(&b)),
                ];
                let (mut plain, mut fast) = (c.clone(), c.clone());
                let op = ArrayOp::Gemm(ta, tb);
                kernels::update(&op, &[m, n], ElementsMut::F64(&mut plain), &args).unwrap();
                update(&op, &[m, n], ElementsMut::F64(&mut fast), &args).unwrap();
                assert!(plain.iter().map(|x| x.to_bits()).eq(fast.iter().map(|x| x.to_bits())));
            }
        }
    }
}
