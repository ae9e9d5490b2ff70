//! Which instructions can be undone, and how.

use super::solve::Solver;
use crate::ir::{Block, Builder, Func, Inst, Op, Value};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::FxHashMap as HashMap;

/// Whether operand `k` of an operation follows from its result and the other operands.
pub(super) fn undoes(prim: Prim, k: usize) -> bool {
    use Prim::*;
    match prim {
        Add | Sub | Mul | Neg | Fma | IAdd | ISub | INeg | WAdd | WSub | IXor | Not => true,
        Div => k == 0,
        _ => false,
    }
}

/// The operand that the result is divided by to get operand `k`, or that it was divided by.
pub(super) fn divisor(prim: Prim, k: usize) -> Option<usize> {
    match (prim, k) {
        (Prim::Mul | Prim::Fma, 0) | (Prim::Div, 0) => Some(1),
        (Prim::Mul | Prim::Fma, 1) => Some(0),
        _ => None,
    }
}

/// Operand `k`, from the result and the other operands.
pub(super) fn undo(b: &mut Builder, prim: Prim, k: usize, args: &[Value], y: Value) -> Value {
    use Prim::*;
    let other = args[args.len().min(2) - 1 - k.min(1)];
    match prim {
        Add => b.sub(y, other),
        Sub if k == 0 => b.add(y, other),
        Sub => b.sub(other, y),
        Neg | INeg | Not => b.prim(prim, &[y]),
        Mul => b.prim(Div, &[y, other]),
        Div => b.mul(y, other),
        Fma if k == 2 => {
            // The sign of a number, rather than of every element.
            let (less, by) = match b.ty(args[0]).is_array() {
                true => (args[1], args[0]),
                false => (args[0], args[1]),
            };
            let less = b.neg(less);
            b.fma(less, by, y)
        }
        Fma => {
            let product = b.sub(y, args[2]);
            b.prim(Div, &[product, other])
        }
        IAdd => b.prim(ISub, &[y, other]),
        ISub if k == 0 => b.prim(IAdd, &[y, other]),
        ISub => b.prim(ISub, &[other, y]),
        WAdd => b.prim(WSub, &[y, other]),
        WSub if k == 0 => b.prim(WAdd, &[y, other]),
        WSub => b.prim(WSub, &[other, y]),
        IXor => b.prim(IXor, &[y, other]),
        Promote => b.prim(Demote, &[y]),
        _ => y,
    }
}

/// What reads where an operation in place writes.
pub(super) fn read_of(op: &Op) -> Option<Op> {
    match op {
        Op::Store => Some(Op::Load),
        Op::Array(ArrayOp::Poke) => Some(Op::Array(ArrayOp::Peek)),
        Op::Array(ArrayOp::Put) => Some(Op::Array(ArrayOp::Slice)),
        _ => None,
    }
}

/// The array, the place and the value of a write.
pub(super) fn parts_of_write(inst: &Inst) -> Option<(Value, &[Value], Value)> {
    read_of(&inst.op)?;
    let (array, rest) = inst.args.split_first()?;
    let (value, place) = rest.split_last()?;
    Some((*array, place, *value))
}

/// Whether two places in an array are different ones: some index is another one by a constant.
pub(super) fn are_apart(solver: &Solver, a: &[Value], b: &[Value]) -> bool {
    let differ = |(a, b): (&Value, &Value)| {
        let ((from_a, a), (from_b, b)) = (offset(solver, *a), offset(solver, *b));
        from_a == from_b && a != b
    };
    a.len() == b.len() && a.iter().zip(b).any(differ)
}

/// An index as another one and a constant; of a constant there is no other one.
fn offset(solver: &Solver, v: Value) -> (Option<Value>, i128) {
    let constant = |v: Value| match solver.func.as_const(v) {
        Some(Scalar::I64(c)) => Some(i128::from(c)),
        _ => None,
    };
    if let Some(c) = constant(v) {
        return (None, c);
    }
    let made = solver.maker(v).map(|inst| (&inst.op, &inst.args[..]));
    let (from, by) = match made {
        // Neither wraps: both are valid indices where they are used.
        Some((Op::Prim(Prim::IAdd | Prim::WAdd), [a, b])) => match (constant(*a), constant(*b)) {
            (_, Some(c)) => (*a, c),
            (Some(c), _) => (*b, c),
            _ => return (Some(v), 0),
        },
        Some((Op::Prim(Prim::ISub | Prim::WSub), [a, b])) => match constant(*b) {
            Some(c) => (*a, -c),
            None => return (Some(v), 0),
        },
        _ => return (Some(v), 0),
    };
    let (base, before) = offset(solver, from);
    (base, before + by)
}

/// Where the lengths of an array come from.
#[derive(Clone, Debug)]
pub(super) enum Dims {
    /// From an array of the same shape.
    Like(Value),
    /// They are these.
    Are(Vec<Value>),
}

/// Where the lengths of an array come from that is not known itself.
pub(super) fn dims(
    func: &Func,
    makers: &HashMap<Value, &Inst>,
    v: Value,
    is_known: &dyn Fn(Value) -> bool,
) -> Option<Dims> {
    if is_known(v) {
        return Some(Dims::Like(v));
    }
    let inst = makers.get(&v)?;
    let rank = func.ty(v).rank();
    let given: Vec<Value> = match &inst.op {
        Op::Array(ArrayOp::Slice) => (0..rank).map(|axis| inst.args[3 * axis + 2]).collect(),
        Op::Array(ArrayOp::Reshape) => inst.args[1..].to_vec(),
        Op::Fill => inst.args[..rank].to_vec(),
        Op::Prim(_) => {
            let mut arrays = inst.args.iter().filter(|a| func.ty(**a).is_array());
            return arrays.find_map(|a| dims(func, makers, *a, is_known));
        }
        Op::Copy => return dims(func, makers, inst.args[0], is_known),
        op if op.takes() == Some(0) => return dims(func, makers, inst.args[0], is_known),
        _ => return None,
    };
    given.iter().all(|n| is_known(*n)).then_some(Dims::Are(given))
}

/// An array that is known and has the shape of one that is not, because a block makes it of that one.
pub(super) fn same_shape(
    func: &Func,
    block: &Block,
    v: Value,
    is_known: &dyn Fn(Value) -> bool,
) -> Option<Value> {
    let like = |inst: &&Inst| {
        let keeps = match &inst.op {
            Op::Prim(_) => inst.args.contains(&v),
            op => op.takes() == Some(0) && inst.args[0] == v,
        };
        let of = |r: &Value| func.ty(*r).rank() == func.ty(v).rank() && is_known(*r);
        keeps && inst.results.first().is_some_and(of)
    };
    block.insts.iter().find(like).map(|inst| inst.results[0])
}
