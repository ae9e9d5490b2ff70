//! What a run costs: operations, bytes moved, arrays made.
//!
//! The numbers are those of the program, not of the interpreter: an array operation moves its operands
//! and its result once each, whatever the interpreter does on the way.

use super::{Observer, Val};
use crate::ir::Elem;
use crate::ops::kernels::Operand;
use crate::ops::{Array, ArrayOp};
use std::cell::RefCell;
use std::rc::Rc;

/// What has been spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions executed; an elementwise one counts once per element.
    pub operations: u64,
    /// Bytes of array elements read and written.
    pub moved_bytes: u64,
    /// Bytes of arrays made.
    pub allocated_bytes: u64,
    /// Bytes of arrays that something still uses (those on tapes included).
    pub live_bytes: u64,
    /// The most there have been at any time.
    pub peak_bytes: u64,
    /// Bytes pushed on tapes, eight per value.
    pub pushed_bytes: u64,
}

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) counters: Counters,
    pub(super) observer: Option<Rc<RefCell<dyn Observer>>>,
}

impl Meter {
    /// A new array.
    pub(super) fn new_array(&mut self, x: Array) -> Val {
        self.made(&x);
        Val::shaped(x)
    }

    pub(super) fn made(&mut self, x: &Array) {
        let counters = &mut self.counters;
        counters.allocated_bytes += bytes(x);
        counters.live_bytes += bytes(x);
        counters.peak_bytes = counters.peak_bytes.max(counters.live_bytes);
    }

    /// A value is not needed any more.
    pub(super) fn forget(&mut self, val: Option<Val>) {
        if let Some(Val::Array(x)) = val
            && Rc::strong_count(&x) == 1
        {
            self.counters.live_bytes = self.counters.live_bytes.saturating_sub(bytes(&x));
        }
    }

    /// The array to be changed in place; shared ones are copied first.
    pub(super) fn own<'a>(&mut self, x: &'a mut Rc<Array>) -> &'a mut Array {
        if Rc::strong_count(x) > 1 {
            self.made(x);
            self.counters.moved_bytes += 2 * bytes(x);
        }
        Rc::make_mut(x)
    }

    pub(super) fn moved(&mut self, bytes: u64) {
        self.counters.moved_bytes += bytes;
    }
}

fn size(elem: Elem) -> u64 {
    match elem {
        Elem::F64 | Elem::I64 => 8,
        Elem::F32 => 4,
        Elem::Bool => 1,
    }
}

/// The bytes of an array's elements.
pub(super) fn bytes(x: &Array) -> u64 {
    x.len() as u64 * size(x.elem())
}

/// The bytes of one element.
pub(super) fn element(x: &Array) -> u64 {
    size(x.elem())
}

/// The bytes of all arrays among some operands.
pub(super) fn operands(args: &[Operand]) -> u64 {
    args.iter().map(operand).sum()
}

fn operand(arg: &Operand) -> u64 {
    match arg {
        Operand::Array(_, x) => x.len() as u64 * size(x.elem()),
        Operand::Scalar(_) => 0,
    }
}

/// What an operation moves that makes `made` bytes.
pub(super) fn computed(op: &ArrayOp, args: &[Operand], made: u64) -> u64 {
    match (op, args) {
        (ArrayOp::Peek, [Operand::Array(_, x), ..]) => size(x.elem()),
        (ArrayOp::Slice, _) => 2 * made,
        (ArrayOp::Gather, [_, picked]) => 2 * made + operand(picked),
        (ArrayOp::Conform(_), _) => 0,
        _ => operands(args) + made,
    }
}

/// What an operation moves that changes `x` in place with these other operands.
pub(super) fn updated(op: &ArrayOp, x: &Array, args: &[Operand]) -> u64 {
    let last = args.last().map_or(0, operand);
    match op {
        ArrayOp::Poke => element(x),
        ArrayOp::Put => 2 * last,
        ArrayOp::AddSlice => 3 * last,
        ArrayOp::ScatterAdd => 2 * last + operands(args),
        ArrayOp::Refill => bytes(x),
        _ => 2 * bytes(x) + operands(args),
    }
}
