//! The result types of each operation: one place for the builder, the parser and the verifier.

use super::types::{Elem, MAX_RANK, Op, Type};
use crate::ops::{ArrayOp, Check, Prim, Transposed};

/// The result type of a row of the table at these operand types.
pub fn prim_result(prim: Prim, args: &[Type]) -> Result<Type, String> {
    let (inputs, output) = prim.signature().split_once('>').unwrap_or(("", "f"));
    if inputs.len() != args.len() {
        return Err(format!(
            "`{}` takes {} operand{}, but {} given",
            prim.name(),
            inputs.len(),
            if inputs.len() == 1 { "" } else { "s" },
            if args.len() == 1 { "1 is".to_string() } else { format!("{} are", args.len()) }
        ));
    }
    // Element by element, an array stands for its elements.
    let rank = args.iter().map(|t| t.rank()).max().unwrap_or(0);
    let mut any = None;
    let mut float = None;
    for (k, (letter, ty)) in inputs.chars().zip(args).enumerate() {
        let wrong = |wanted: &str| {
            Err(format!("operand {} of `{}` is {ty}, but must be {wanted}", k + 1, prim.name()))
        };
        let Some(elem) = ty.elem() else { return wrong("a number or an array") };
        if ty.is_array() && ty.rank() != rank {
            let message =
                "but the others are arrays of another rank; `expand` or `reshape` it first";
            return Err(format!("operand {} of `{}` is {ty}, {message}", k + 1, prim.name()));
        }
        let (fits, wanted) = match letter {
            'f' => {
                let first = float.get_or_insert(elem);
                let wanted = if first.is_float() { *first } else { Elem::F64 };
                (elem == wanted, wanted)
            }
            'd' => (elem == Elem::F64, Elem::F64),
            's' => (elem == Elem::F32, Elem::F32),
            'i' => (elem == Elem::I64, Elem::I64),
            'b' => (elem == Elem::Bool, Elem::Bool),
            _ => {
                let wanted = *any.get_or_insert(elem);
                (elem == wanted, wanted)
            }
        };
        if !fits {
            return wrong(&wanted.scalar().to_string());
        }
    }
    let elem = match output {
        "f" => float.unwrap_or(Elem::F64),
        "d" => Elem::F64,
        "s" => Elem::F32,
        "i" => Elem::I64,
        "b" => Elem::Bool,
        _ => any.unwrap_or(Elem::F64),
    };
    Ok(Type::of(elem, rank))
}

/// The result types of an operation without nested blocks, where the operands decide them.
/// `None` for operations whose types are written down (`pop`, `call`, `drive`) or follow their blocks.
pub fn results(op: &Op, args: &[Type]) -> Option<Result<Vec<Type>, String>> {
    use Type::*;
    let fixed = |name: &str, wanted: &[Type], result: &[Type]| {
        if args == wanted {
            Ok(result.to_vec())
        } else {
            Err(format!("`{name}` takes ({}), but is given ({})", list(wanted), list(args)))
        }
    };
    let given = |what: &str| Err(format!("{what}, but is given ({})", list(args)));
    Some(match op {
        Op::Prim(p) => prim_result(*p, args).map(|t| vec![t]),
        Op::Dim(axis) => match args {
            [Array(_, rank)] if axis < rank => Ok(vec![I64]),
            [Array(..)] => Err(no_axis("dim", *axis, args[0], args[0].rank())),
            _ => given("`dim` and `len` take an array"),
        },
        Op::Load => match args.split_first() {
            Some((Array(elem, rank), indices)) if are_ints(indices, *rank as usize) => {
                Ok(vec![elem.scalar()])
            }
            Some((x @ Array(_, rank), indices)) if indices.iter().all(|t| *t == I64) => {
                Err(format!(
                    "`load` from {x} takes {rank} indices, one per axis, but is given {}",
                    indices.len()
                ))
            }
            _ => given("`load` takes an array and an integer per axis"),
        },
        Op::Store => match args {
            [Array(elem, rank), indices @ .., v]
                if are_ints(indices, *rank as usize) && *v == elem.scalar() =>
            {
                Ok(vec![args[0]])
            }
            [x @ Array(elem, rank), indices @ .., v]
                if *v == elem.scalar() && indices.iter().all(|t| *t == I64) =>
            {
                Err(format!(
                    "`store` into {x} takes {rank} indices, one per axis, but is given {}",
                    indices.len()
                ))
            }
            [x @ Array(elem, rank), indices @ .., v] if are_ints(indices, *rank as usize) => {
                Err(format!(
                    "`store` into {x} takes an element that is {}, but is given {v}",
                    elem.scalar()
                ))
            }
            _ => given("`store` takes an array, an integer per axis and an element"),
        },
        Op::Fill => match args {
            [dims @ .., v]
                if are_ints(dims, dims.len())
                    && v.is_scalar()
                    && (1..=MAX_RANK).contains(&dims.len()) =>
            {
                Ok(vec![Type::of(v.elem().unwrap_or(Elem::F64), dims.len())])
            }
            [dims @ .., v]
                if v.is_scalar() && dims.len() > MAX_RANK && are_ints(dims, dims.len()) =>
            {
                Err(format!(
                    "`fill` makes at most {MAX_RANK} axes, but is given {} sizes",
                    dims.len()
                ))
            }
            _ => given("`fill` takes an integer per axis and a number"),
        },
        Op::Copy => match args {
            [x @ Array(..)] => Ok(vec![*x]),
            _ => given("`copy` takes an array"),
        },
        Op::Array(ArrayOp::Conform(check)) => conform(*check, args),
        Op::Array(op) => array_result(op, args).map(|t| vec![t]),
        Op::Tape => fixed("tape", &[], &[Tape]),
        Op::Assert(_) => fixed("assert", &[Bool], &[]),
        Op::Push => match args.split_first() {
            Some((Tape, rest)) if !rest.contains(&Tape) => Ok(vec![Tape]),
            Some((Tape, _)) => {
                Err("`push` records numbers and arrays, but not another tape".into())
            }
            _ => given("`push` takes a tape and the values to record"),
        },
        Op::Pop | Op::If | Op::For | Op::While | Op::ExitIf | Op::Call(_) | Op::Drive(..) => {
            return None;
        }
    })
}

fn are_ints(types: &[Type], n: usize) -> bool {
    types.len() == n && types.iter().all(|t| *t == Type::I64)
}

/// `conform` has no result; its operands are those of the operation it speaks for.
fn conform(check: Check, args: &[Type]) -> Result<Vec<Type>, String> {
    let alike = |op: &ArrayOp| array_result(op, args).map(|_| Vec::new());
    match (check, args) {
        (Check::Gemm, _) => alike(&ArrayOp::Gemm(Transposed::No, Transposed::No)),
        (Check::Slice, _) => alike(&ArrayOp::Slice),
        (Check::Expand, _) => alike(&ArrayOp::Expand(0)),
        (Check::Row(_), sizes) if !sizes.is_empty() && are_ints(sizes, sizes.len() / 2 * 2) => {
            Ok(Vec::new())
        }
        (Check::Row(_), [a, b]) if a.is_array() && a.rank() == b.rank() => Ok(Vec::new()),
        (Check::Row(_), _) => {
            let what = "two arrays of equal rank or the sizes of two";
            Err(format!("`conform` takes {what}, but is given ({})", list(args)))
        }
    }
}

/// The result type of an array operation with one result at these operand types.
pub fn array_result(op: &ArrayOp, args: &[Type]) -> Result<Type, String> {
    use Type::{Array, I64};
    let name = op.name();
    let given = |what: &str| Err(format!("`{name}` takes {what}, but is given ({})", list(args)));
    let Some((x @ Array(elem, rank), rest)) = args.split_first() else {
        return given("an array first");
    };
    let (elem, rank) = (*elem, *rank as usize);
    let has_axis = |axis: u8| (axis as usize) < rank;
    let no_axis = |axis: u8| Err(no_axis(name, axis, *x, rank));
    let ints = |n: usize| are_ints(rest, n);
    match op {
        ArrayOp::Peek if ints(1) => Ok(elem.scalar()),
        ArrayOp::Peek => given("an array and an integer"),
        ArrayOp::Poke if rest == [I64, elem.scalar()] => Ok(*x),
        ArrayOp::Poke => given("an array, an integer and an element"),
        ArrayOp::Slice if ints(3 * rank) => Ok(*x),
        ArrayOp::Slice => given("an array, and a start, a count and a step per axis"),
        ArrayOp::Put | ArrayOp::AddSlice => match rest.split_last() {
            Some((v, section)) if are_ints(section, 3 * rank) && v == x => {
                if *op == ArrayOp::AddSlice && !elem.is_float() {
                    return given("arrays of floats");
                }
                Ok(*x)
            }
            _ => given("an array, a start, a count and a step per axis, and an array of its type"),
        },
        ArrayOp::Reshape if ints(rest.len()) && (1..=MAX_RANK).contains(&rest.len()) => {
            Ok(Type::of(elem, rest.len()))
        }
        ArrayOp::Reshape => given("an array and an integer per axis of the result"),
        ArrayOp::Transpose(axes) => {
            let mut sorted = axes.to_vec();
            sorted.sort_unstable();
            let all = sorted.iter().copied().eq(0..rank as u8);
            if all && rest.is_empty() {
                Ok(*x)
            } else {
                let axes: Vec<String> = axes.iter().map(u8::to_string).collect();
                Err(format!(
                    "`transpose` of {x} needs each of its {rank} axes once, but has [{}]",
                    axes.join(",")
                ))
            }
        }
        ArrayOp::Expand(_) if rank == MAX_RANK => {
            Err(format!("`expand` of {x}, which has {MAX_RANK} axes, the most there can be"))
        }
        ArrayOp::Expand(axis) if (*axis as usize) > rank => {
            Err(format!("`expand[{axis}]` of {x}: the new axis is one of 0 to {rank}"))
        }
        ArrayOp::Expand(_) if ints(1) => Ok(Type::of(elem, rank + 1)),
        ArrayOp::Expand(_) => given("an array and an integer"),
        ArrayOp::Sum(Some(axis)) | ArrayOp::CumSum(axis, _) if !has_axis(*axis) => no_axis(*axis),
        ArrayOp::Sum(Some(_)) if rank == 1 => {
            Err("`sum[0]` of a vector is `sum`: a sum along an axis gives an array".into())
        }
        ArrayOp::Sum(_) | ArrayOp::CumSum(..) if !elem.is_float() || !rest.is_empty() => {
            given("an array of floats")
        }
        ArrayOp::Sum(None) => Ok(elem.scalar()),
        ArrayOp::Sum(Some(_)) => Ok(Type::of(elem, rank - 1)),
        ArrayOp::CumSum(..) => Ok(*x),
        ArrayOp::Dot if rest == [*x] && elem.is_float() => Ok(elem.scalar()),
        ArrayOp::Dot => given("two arrays of floats, alike"),
        ArrayOp::Gemm(ta, tb) => {
            let ranks: Vec<usize> = args.iter().map(|t| t.rank()).collect();
            let same = args.iter().all(|t| t.elem() == Some(elem)) && elem.is_float();
            let plain = |t: &Transposed| *t == Transposed::No;
            let fits = match ranks[..] {
                [2, 2, 2] => true,
                [1, 2, 1] => plain(tb),
                [2, 1, 1] => plain(ta) && plain(tb),
                _ => false,
            };
            if fits && same {
                Ok(*x)
            } else {
                given(
                    "an accumulator and two factors of floats: matrices, a matrix and a vector with a vector accumulator, or two vectors with a matrix accumulator (and only matrices are transposed)",
                )
            }
        }
        ArrayOp::Gather if rest == [Array(Elem::I64, 1)] => Ok(*x),
        ArrayOp::Gather => given("an array and a vector of integers"),
        ArrayOp::ScatterAdd if rest == [Array(Elem::I64, 1), *x] && elem.is_float() => Ok(*x),
        ArrayOp::ScatterAdd => {
            given("an array of floats, a vector of integers and an array of its type")
        }
        ArrayOp::ArgMax | ArrayOp::ArgMin if rest.is_empty() => Ok(I64),
        ArrayOp::ArgMax | ArrayOp::ArgMin => given("one array"),
        ArrayOp::ArgSort if rest.is_empty() && rank == 1 => Ok(Array(Elem::I64, 1)),
        ArrayOp::ArgSort => given("one vector"),
        ArrayOp::Refill if rest == [elem.scalar()] => Ok(*x),
        ArrayOp::Refill => given("an array and an element"),
        ArrayOp::Conform(_) => given("no result"),
    }
}

fn no_axis(name: &str, axis: u8, x: Type, rank: usize) -> String {
    let axes = if rank == 1 { "only axis 0".into() } else { format!("axes 0 to {}", rank - 1) };
    format!("`{name}[{axis}]` of {x}, which has {axes}")
}

/// Types as they stand in messages.
pub fn list(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}
