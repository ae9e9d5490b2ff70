//! The result types of each operation: one place for the builder, the parser and the verifier.

use super::types::{Op, Type};
use crate::ops::Prim;

/// The result type of a row of the table at these operand types.
pub fn prim_result(prim: Prim, args: &[Type]) -> Result<Type, String> {
    let (inputs, output) = prim.signature().split_once('>').unwrap_or(("", "f"));
    if inputs.len() != args.len() {
        return Err(format!(
            "`{}` takes {} operands, but {} are given",
            prim.name(),
            inputs.len(),
            args.len()
        ));
    }
    let mut any = None;
    for (k, (letter, ty)) in inputs.chars().zip(args).enumerate() {
        let wanted = match letter {
            'f' => Type::F64,
            'i' => Type::I64,
            'b' => Type::Bool,
            _ => *any.get_or_insert(*ty),
        };
        if *ty != wanted || (letter == '*' && ty.is_linear()) {
            return Err(format!(
                "operand {} of `{}` is {ty}, but must be {}",
                k + 1,
                prim.name(),
                if ty.is_linear() { "a scalar".into() } else { wanted.to_string() }
            ));
        }
    }
    Ok(match output {
        "f" => Type::F64,
        "i" => Type::I64,
        "b" => Type::Bool,
        _ => any.unwrap_or(Type::F64),
    })
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
    Some(match op {
        Op::Prim(p) => prim_result(*p, args).map(|t| vec![t]),
        Op::Len => fixed("len", &[Array], &[I64]),
        Op::Load => fixed("load", &[Array, I64], &[F64]),
        Op::Store => fixed("store", &[Array, I64, F64], &[Array]),
        Op::Fill => fixed("fill", &[I64, F64], &[Array]),
        Op::Copy => fixed("copy", &[Array], &[Array]),
        Op::Assert(_) => fixed("assert", &[Bool], &[]),
        Op::Push => match args.split_first() {
            Some((Tape, rest)) if !rest.contains(&Tape) => Ok(vec![Tape]),
            _ => Err("`push` takes a tape and the values to record".into()),
        },
        Op::Pop | Op::If | Op::For | Op::While | Op::ExitIf | Op::Call(_) | Op::Drive(..) => {
            return None;
        }
    })
}

/// Types as they stand in messages.
pub fn list(types: &[Type]) -> String {
    types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}
