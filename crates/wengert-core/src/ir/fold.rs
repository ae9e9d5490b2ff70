//! What the builder knows without an instruction: constants, identities, and reads of arrays whose
//! shape or element is in sight.
//!
//! Each identity holds to the bit for every input, NaN and signed zeros included. (`not` of a
//! comparison is not the opposite comparison: with NaN both are false.)

use super::builder::Builder;
use super::func::Value;
use super::types::Op;
use crate::ops::value::eval;
use crate::ops::{ArrayOp, Prim, Scalar};

/// How many versions of an array are looked through.
const LOOK_BACK: usize = 64;

impl Builder {
    /// Constant folding and identities of scalar rows.
    pub(super) fn fold(&mut self, prim: Prim, args: &[Value]) -> Option<Value> {
        use Prim::*;
        let constants: Vec<Option<Scalar>> = args.iter().map(|a| self.func.as_const(*a)).collect();
        let inputs: Option<Vec<Scalar>> = constants.iter().copied().collect();
        if let Some(Some(Ok(value))) = inputs.map(|inputs| eval(prim, &inputs)) {
            return Some(self.func.constant(value));
        }
        let is = |k: usize, c: Scalar| constants.get(k).copied().flatten() == Some(c);
        let float = |k: usize, c: f64| is(k, Scalar::F64(c)) || is(k, Scalar::F32(c as f32));
        let same = args.len() == 2 && args[0] == args[1];
        match prim {
            Mul if float(1, 1.0) => Some(args[0]),
            Mul if float(0, 1.0) => Some(args[1]),
            Div if float(1, 1.0) => Some(args[0]),
            Div => self.times_reciprocal(args),
            Sub if float(1, 0.0) => Some(args[0]),
            Add if float(1, -0.0) => Some(args[0]),
            Add if float(0, -0.0) => Some(args[1]),
            Add if float(1, 0.0) && self.is_no_negative_zero(args[0], 4) => Some(args[0]),
            Add if float(0, 0.0) && self.is_no_negative_zero(args[1], 4) => Some(args[1]),
            Min | Max if same => Some(args[0]),
            Neg | Not | INeg => self.operand_of(prim, args[0]),
            Flush | StopGradient if self.operand_of(prim, args[0]).is_some() => Some(args[0]),
            IAdd | WAdd | ISub | WSub if is(1, Scalar::I64(0)) => Some(args[0]),
            IAdd | WAdd if is(0, Scalar::I64(0)) => Some(args[1]),
            IMul | WMul if is(1, Scalar::I64(1)) => Some(args[0]),
            IMul | WMul if is(0, Scalar::I64(1)) => Some(args[1]),
            IMul | WMul if is(0, Scalar::I64(0)) || is(1, Scalar::I64(0)) => Some(self.i64(0)),
            ISub | WSub if same => Some(self.i64(0)),
            IMin | IMax if same => Some(args[0]),
            IEq | ILe | IGe if same => Some(self.bool(true)),
            INe | ILt | IGt if same => Some(self.bool(false)),
            IDiv if is(1, Scalar::I64(1)) => Some(args[0]),
            IAdd | WAdd | ISub | WSub | IMul => {
                self.add_constants(prim, args).or_else(|| self.without_check(prim, args))
            }
            Select if is(0, Scalar::Bool(true)) => Some(args[1]),
            Select if is(0, Scalar::Bool(false)) => Some(args[2]),
            Select if args[1] == args[2] => Some(args[1]),
            And if is(0, Scalar::Bool(true)) || same => Some(args[1]),
            And if is(1, Scalar::Bool(true)) => Some(args[0]),
            And if is(0, Scalar::Bool(false)) => Some(args[0]),
            And if is(1, Scalar::Bool(false)) => Some(args[1]),
            Or if is(0, Scalar::Bool(false)) || same => Some(args[1]),
            Or if is(1, Scalar::Bool(false)) => Some(args[0]),
            Or if is(0, Scalar::Bool(true)) => Some(args[0]),
            Or if is(1, Scalar::Bool(true)) => Some(args[1]),
            _ => None,
        }
    }

    /// Integer arithmetic that is sure to fit.
    fn without_check(&mut self, prim: Prim, args: &[Value]) -> Option<Value> {
        let fitting = self.fitting(prim, args)?;
        Some(self.prim(fitting, args))
    }

    /// Division by a power of two: its reciprocal is exact, so the product rounds as the quotient does.
    fn times_reciprocal(&mut self, args: &[Value]) -> Option<Value> {
        let reciprocal = match self.func.as_const(args[1])? {
            Scalar::F64(c) => {
                let r = 1.0 / c;
                let power = c.to_bits() << 12 == 0 && c.is_normal() && r.is_normal();
                power.then_some(Scalar::F64(r))
            }
            Scalar::F32(c) => {
                let r = 1.0 / c;
                let power = c.to_bits() << 9 == 0 && c.is_normal() && r.is_normal();
                power.then_some(Scalar::F32(r))
            }
            _ => None,
        }?;
        let reciprocal = self.func.constant(reciprocal);
        Some(self.prim(Prim::Mul, &[args[0], reciprocal]))
    }

    /// What a value is this row of, where the row takes one operand.
    fn operand_of(&self, prim: Prim, v: Value) -> Option<Value> {
        match self.made.get(&v) {
            Some((Op::Prim(p), args)) if *p == prim => Some(args[0]),
            _ => None,
        }
    }

    /// Whether a float is known not to be -0.0. A sum is -0.0 only where both of its terms are.
    fn is_no_negative_zero(&self, v: Value, depth: usize) -> bool {
        match (self.func.as_const(v), self.made.get(&v)) {
            (Some(Scalar::F64(c)), _) => c != 0.0 || c.is_sign_positive(),
            (Some(Scalar::F32(c)), _) => c != 0.0 || c.is_sign_positive(),
            (_, Some((Op::Prim(Prim::Add), args))) if depth > 0 => {
                args.iter().any(|a| self.is_no_negative_zero(*a, depth - 1))
            }
            _ => false,
        }
    }

    /// `(x + c) + d` is `x + (c + d)`. Where the inner sum is checked it stands already, so `x + c` is in
    /// range, and the outer sum fails exactly where `x + (c + d)` does.
    fn add_constants(&mut self, prim: Prim, args: &[Value]) -> Option<Value> {
        let (v, d) = self.plus_constant(prim, args)?;
        let (inner, inner_args) = match self.made.get(&v)? {
            (Op::Prim(inner), args) => (*inner, args.clone()),
            _ => return None,
        };
        let (x, c) = self.plus_constant(inner, &inner_args)?;
        let checked = |p: Prim| matches!(p, Prim::IAdd | Prim::ISub);
        let (total, add, sub) = match (checked(prim), checked(inner)) {
            (true, true) => (c.checked_add(d)?, Prim::IAdd, Prim::ISub),
            // What wraps says nothing about what may overflow.
            (true, false) => return None,
            (false, _) => (c.wrapping_add(d), Prim::WAdd, Prim::WSub),
        };
        let (prim, size) = if total < 0 { (sub, total.checked_neg()?) } else { (add, total) };
        let size = self.i64(size);
        Some(self.prim(prim, &[x, size]))
    }

    /// A sum or difference as a value plus a constant.
    fn plus_constant(&self, prim: Prim, args: &[Value]) -> Option<(Value, i64)> {
        let int = |v: Value| match self.func.as_const(v) {
            Some(Scalar::I64(c)) => Some(c),
            _ => None,
        };
        match (prim, int(*args.first()?), int(*args.get(1)?)) {
            (Prim::IAdd | Prim::WAdd, None, Some(c)) => Some((args[0], c)),
            (Prim::IAdd | Prim::WAdd, Some(c), None) => Some((args[1], c)),
            (Prim::ISub | Prim::WSub, None, Some(c)) => Some((args[0], c.checked_neg()?)),
            _ => None,
        }
    }

    /// What a read of an array gives, where that is in sight.
    pub(super) fn known_read(&mut self, op: &Op, args: &[Value]) -> Option<Value> {
        match op {
            Op::Dim(axis) => self.known_dim(*axis as usize, args[0]),
            Op::Load | Op::Array(ArrayOp::Peek) => self.known_element(op, args[0], &args[1..]),
            _ => None,
        }
    }

    /// A dimension that follows from the operands the array was made of.
    fn known_dim(&self, axis: usize, array: Value) -> Option<Value> {
        let (mut x, mut axis) = (array, axis);
        for _ in 0..LOOK_BACK {
            if let Some(n) = self.standing(&(Op::Dim(axis as u8), vec![x])) {
                return Some(n);
            }
            let (op, args) = self.made.get(&x)?;
            match op {
                Op::Fill => return args.get(axis).copied(),
                Op::Store | Op::Copy => x = args[0],
                Op::Prim(_) => x = *args.iter().find(|a| self.func.ty(**a).is_array())?,
                Op::Array(op) => match op {
                    ArrayOp::Reshape => return args.get(1 + axis).copied(),
                    ArrayOp::Slice => return args.get(2 + 3 * axis).copied(),
                    ArrayOp::Expand(at) if *at as usize == axis => return args.get(1).copied(),
                    ArrayOp::Expand(at) => {
                        axis -= usize::from((*at as usize) < axis);
                        x = args[0];
                    }
                    ArrayOp::Transpose(axes) => (x, axis) = (args[0], axes[axis] as usize),
                    ArrayOp::CumSum(..) | ArrayOp::ArgSort => x = args[0],
                    ArrayOp::Sum(Some(at)) => {
                        axis += usize::from((*at as usize) <= axis);
                        x = args[0];
                    }
                    ArrayOp::Gather => x = if axis == 0 { args[1] } else { args[0] },
                    op if op.in_place() => x = args[0],
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    /// An element at constant indices that was stored in sight, or that the array was filled with.
    fn known_element(&self, read: &Op, array: Value, indices: &[Value]) -> Option<Value> {
        let int = |v: &Value| match self.func.as_const(*v) {
            Some(Scalar::I64(c)) => Some(c),
            _ => None,
        };
        let wanted: Vec<i64> = indices.iter().map(int).collect::<Option<_>>()?;
        let write = if *read == Op::Load { Op::Store } else { Op::Array(ArrayOp::Poke) };
        let mut x = array;
        for _ in 0..LOOK_BACK {
            let (op, args) = self.made.get(&x)?;
            match op {
                Op::Copy => x = args[0],
                Op::Fill => {
                    let (v, dims) = args.split_last()?;
                    let dims: Vec<i64> = dims.iter().map(int).collect::<Option<_>>()?;
                    let inside = if *read == Op::Load {
                        wanted.iter().zip(&dims).all(|(i, n)| 0 <= *i && i < n)
                    } else {
                        let n = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
                        0 <= wanted[0] && n.is_some_and(|n| wanted[0] < n)
                    };
                    return inside.then_some(*v);
                }
                op if *op == write => {
                    let (v, at) = args[1..].split_last()?;
                    let at: Vec<i64> = at.iter().map(int).collect::<Option<_>>()?;
                    if at == wanted {
                        return Some(*v);
                    }
                    x = args[0];
                }
                _ => return None,
            }
        }
        None
    }
}
