//! What printed programs are made of, `wengert_core::ahead`, with operations on whole arrays by the kernels for the processor at hand.
//!
//! Those are compiled once and called: in each function that the attribute makes, in each of its versions, they would be most of what is compiled.

pub use wengert_core::ahead::*;

/// An operation that makes something new.
pub fn compute<M: Made>(op: &ArrayOp, args: &[Operand]) -> std::result::Result<M, FaultKind> {
    made(wengert_kernels::compute(op, args))
}

/// A check of shapes, which makes nothing.
pub fn nothing(op: &ArrayOp, args: &[Operand]) -> std::result::Result<(), FaultKind> {
    wengert_kernels::compute(op, args).map(|_| ())
}

/// An operation on an array in place; `args` are the other operands.
pub fn update<T: Element, const R: usize>(
    op: &ArrayOp,
    x: &mut Array<T, R>,
    args: &[Operand],
) -> std::result::Result<(), FaultKind> {
    let (dims, elements) = x.parts_mut();
    wengert_kernels::update(op, dims, elements, args)
}
