//! Sorting, searching and interpolation.

use crate::ir::{Builder, Op, Type, Value};
use crate::ops::{ArrayOp, Prim};

/// The permutation that sorts a vector: equals stay in order, NaN comes last.
pub fn argsort(b: &mut Builder, x: Value) -> Value {
    b.array(ArrayOp::ArgSort, &[x])
}

/// A vector, sorted. The derivative moves with the elements.
pub fn sort(b: &mut Builder, x: Value) -> Value {
    let order = argsort(b, x);
    b.array(ArrayOp::Gather, &[x, order])
}

/// How many elements of a sorted vector are less than `v` (or not greater, with `right`): where `v` would be
/// put in. By bisection.
pub fn searchsorted(b: &mut Builder, x: Value, v: Value, right: bool) -> Value {
    let n = b.op(Op::Len, &[x])[0];
    let (zero, one) = (b.i64(0), b.i64(1));
    let params = b.open_block(&[(Type::I64, None), (Type::I64, None), (Type::I64, None)]);
    let (low, high) = (params[1], params[2]);
    let done = b.prim(Prim::IGe, &[low, high]);
    b.open_block(&[]);
    let exit = b.close_block(vec![low, high]);
    b.inst(Op::ExitIf, vec![done], &[], vec![exit]);
    let total = b.prim(Prim::IAdd, &[low, high]);
    let middle = b.prim(Prim::Sar, &[total, one]);
    let at = b.load(x, middle);
    let before = b.prim(if right { Prim::Le } else { Prim::Lt }, &[at, v]);
    let above = b.prim(Prim::IAdd, &[middle, one]);
    let low = b.select(before, above, low);
    let high = b.select(before, high, middle);
    let body = b.close_block(vec![low, high]);
    b.inst(Op::While, vec![zero, n], &[Type::I64, Type::I64], vec![body])[0]
}

/// The value at `v` of the broken line through the points `(x[k], y[k])`, `x` increasing; constant beyond the
/// ends. At a corner the derivative is that of the piece on the right.
pub fn interp(b: &mut Builder, v: Value, x: Value, y: Value) -> Value {
    let (n, m) = (b.op(Op::Len, &[x])[0], b.op(Op::Len, &[y])[0]);
    let equal = b.prim(Prim::IEq, &[n, m]);
    let message = "`interp`: there must be as many heights as points";
    b.op(Op::Assert(message.into()), &[equal]);
    let (zero, one, two) = (b.i64(0), b.i64(1), b.i64(2));
    let above = searchsorted(b, x, v, true);
    // The piece, kept within the points there are.
    let k = b.prim(Prim::ISub, &[above, one]);
    let last = b.prim(Prim::ISub, &[n, two]);
    let k = b.prim(Prim::IMin, &[k, last]);
    let k = b.prim(Prim::IMax, &[k, zero]);
    let next = b.prim(Prim::IAdd, &[k, one]);
    let end = b.prim(Prim::ISub, &[n, one]);
    let next = b.prim(Prim::IMin, &[next, end]);
    let (x0, x1, y0, y1) = (b.load(x, k), b.load(x, next), b.load(y, k), b.load(y, next));
    let first = b.prim(Prim::Lt, &[v, x0]);
    let beyond = b.prim(Prim::Ge, &[v, x1]);
    // Outside, the line is not used: nothing infinite may get into it.
    let outside = b.prim(Prim::Or, &[first, beyond]);
    let within = b.select(outside, x0, v);
    let (rise, run, along) = (b.sub(y1, y0), b.sub(x1, x0), b.sub(within, x0));
    let elem = b.ty(run).elem().unwrap_or(crate::ir::Elem::F64);
    let (none, whole) = (b.float(elem, 0.0), b.float(elem, 1.0));
    let flat = b.prim(Prim::Eq, &[run, none]);
    let run = b.select(flat, whole, run);
    let slope = b.prim(Prim::Div, &[rise, run]);
    let part = b.mul(slope, along);
    let inside = b.add(y0, part);
    let low = b.select(first, y0, inside);
    b.select(beyond, y1, low)
}
