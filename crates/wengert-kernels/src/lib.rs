//! The kernels of `wengert_core` for machines with wide registers.
//!
//! Most are the same source compiled a second time: the order of operations is fixed there, a fused multiply-add
//! is rounded once however it is done, and so every bit is the same. Only here it is an instruction, and loops
//! work on four doubles at a time. Products of doubles are written out in lanes, in the same order
//! ([`products`]).

pub mod entries;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod products;

pub use entries::{Entries, entries};
use wengert_core::fault::FaultKind;
use wengert_core::ops::ArrayOp;
use wengert_core::ops::kernels::{self, Computed, Operand};
use wengert_core::ops::shaped::ElementsMut;

/// As [`kernels::compute`].
pub fn compute(op: &ArrayOp, args: &[Operand]) -> Result<Computed, FaultKind> {
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        // SAFETY: the machine has the instructions.
        return unsafe { x86::compute(op, args) };
    }
    kernels::compute(op, args)
}

/// As [`kernels::update`].
pub fn update(
    op: &ArrayOp,
    shape: &[usize],
    x: ElementsMut,
    args: &[Operand],
) -> Result<(), FaultKind> {
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        return x86::update(op, shape, x, args);
    }
    kernels::update(op, shape, x, args)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::entries::{wide_256, wide_512};
    use super::lanes::{One, Two};
    use super::products;
    use wengert_core::fault::FaultKind;
    use wengert_core::ops::ArrayOp;
    use wengert_core::ops::kernels::{self, Computed, How, Operand, Product};
    use wengert_core::ops::shaped::{Elements, ElementsMut};

    pub(super) fn available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    pub(super) fn has_512() -> bool {
        available() && is_x86_feature_detected!("avx512f")
    }

    pub(super) fn update(
        op: &ArrayOp,
        shape: &[usize],
        mut x: ElementsMut,
        args: &[Operand],
    ) -> Result<(), FaultKind> {
        if let (ArrayOp::Gemm(ta, tb), ElementsMut::F64(c)) = (op, &mut x)
            && let [Operand::Array(sa, Elements::F64(a)), Operand::Array(sb, Elements::F64(b))] =
                args
        {
            let product = Product::new(shape, (sa, *ta), (sb, *tb))?;
            // SAFETY: the machine has the instructions, and the shapes are those of the arrays.
            if unsafe { multiply(has_512(), &product, c, a, b) } {
                return Ok(());
            }
        }
        // SAFETY: the machine has the instructions.
        unsafe { update_wide(op, shape, x, args) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn compute(op: &ArrayOp, args: &[Operand]) -> Result<Computed, FaultKind> {
        kernels::compute(op, args)
    }

    #[target_feature(enable = "avx2,fma")]
    fn update_wide(
        op: &ArrayOp,
        shape: &[usize],
        x: ElementsMut,
        args: &[Operand],
    ) -> Result<(), FaultKind> {
        kernels::update(op, shape, x, args)
    }

    /// The product, added to `c`, with registers of 512 or of 256 bits; `false` where the plain kernel does as well.
    ///
    /// # Safety
    /// The machine has the instructions. The arrays have the shapes the product was made for.
    pub(super) unsafe fn multiply(
        widest: bool,
        p: &Product,
        c: &mut [f64],
        a: &[f64],
        b: &[f64],
    ) -> bool {
        let entries = if widest { wide_512::ENTRIES } else { wide_256::ENTRIES };
        let times = match p.how {
            How::Outer => return false,
            How::Rows => entries.rows,
            How::Columns => entries.columns,
            // SAFETY: the caller's promises.
            How::Matrices => unsafe {
                match widest {
                    true => matrices_512(p, c, a, b),
                    false => matrices_256(p, c, a, b),
                }
                return true;
            },
        };
        // SAFETY: the caller's promises.
        unsafe { times(c.as_mut_ptr(), a.as_ptr(), b.as_ptr(), p.m, p.k) };
        true
    }

    #[target_feature(enable = "avx512f,avx2,fma")]
    unsafe fn matrices_512(p: &Product, c: &mut [f64], a: &[f64], b: &[f64]) {
        // SAFETY: the caller's promise; the instructions are those of this function.
        unsafe { products::matrices::<One>(p, c, a, b) }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn matrices_256(p: &Product, c: &mut [f64], a: &[f64], b: &[f64]) {
        // SAFETY: the caller's promise; the instructions are those of this function.
        unsafe { products::matrices::<Two>(p, c, a, b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ops::Direction;
    use wengert_core::ops::shaped::Elements;

    /// Numbers whose sums differ in their last bits where the order differs.
    pub(super) fn numbers(n: usize, seed: u64) -> Vec<f64> {
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
    }
}
