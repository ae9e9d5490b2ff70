//! Arguments to parameters, names to parameters to differentiate by.

use crate::compile::args::{Args, Wrt};
use crate::value::Value;
use wengert_core::ir::{Elem, Func, Type};
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::names::nearest;
use wengert_core::surface::tree::{DeclaredType, Expr, ExprKind, Function, Param, UnaryOp};

type Bound<T> = Result<T, Diagnostic>;

/// One value per parameter, defaults filled in, of the types that are declared.
pub(crate) fn arguments(function: &Function, args: Args) -> Bound<Vec<Value>> {
    let mut values = complete(function, args)?;
    declared(function, &mut values)?;
    Ok(values)
}

/// One value per parameter, as given, defaults filled in.
pub(crate) fn complete(function: &Function, args: Args) -> Bound<Vec<Value>> {
    let mut values = given(function, args)?;
    for (param, value) in function.params.iter().zip(&mut values) {
        if value.is_none() {
            *value = param.default.as_ref().and_then(literal);
        }
    }
    let missing: Vec<usize> = (0..values.len()).filter(|k| values[*k].is_none()).collect();
    if missing.is_empty() {
        return Ok(values.into_iter().flatten().collect());
    }
    let names: Vec<&str> = missing.iter().map(|k| name_of(function, *k)).collect();
    let what = if names.len() == 1 { "a value" } else { "values" };
    let message = format!("`{}` needs {what} for {}", function.name.text, quoted(&names));
    let mut error = Diagnostic::new("missing-argument", message);
    for k in &missing {
        error = error.label(function.params[*k].name.span, "no value is given for this");
    }
    let example: Vec<String> = missing.iter().map(|k| example(&function.params[*k])).collect();
    let it = if names.len() == 1 { "it" } else { "them" };
    Err(error.help(format!("give {it} by name, as in `{}`", example.join(" "))))
}

/// How a value for a parameter can be given.
fn example(param: &Param) -> String {
    let value = match param.annotation.map(|a| a.ty) {
        Some(DeclaredType::I64) => "10",
        Some(DeclaredType::Bool) => "true",
        Some(DeclaredType::Array(_) | DeclaredType::List(_)) => "[1, 2, 3]",
        Some(DeclaredType::F64 | DeclaredType::F32) | None => "1.0",
    };
    format!("{}={value}", param.name.text)
}

/// One value per parameter, where one is given. `args` may leave parameters out.
pub(crate) fn given(function: &Function, args: Args) -> Bound<Vec<Option<Value>>> {
    let count = function.params.len();
    let mut values: Vec<Option<Value>> = vec![None; count];
    let mut position = 0;
    for arg in args.0 {
        let k = match &arg.name {
            Some(name) => parameter(function, name)?,
            None => {
                position += 1;
                position - 1
            }
        };
        if k >= count {
            let plural = if count == 1 { "argument" } else { "arguments" };
            let message =
                format!("`{}` takes {count} {plural}, but more are given", function.name.text);
            return Err(Diagnostic::new("argument-count", message)
                .label(parameters_span(function), "these are its parameters"));
        }
        if values[k].is_some() {
            let message = format!("`{}` is given twice", name_of(function, k));
            return Err(Diagnostic::new("argument-twice", message)
                .label(function.params[k].name.span, "this parameter")
                .help("arguments without a name are taken in order, before those with one"));
        }
        values[k] = Some(arg.value);
    }
    Ok(values)
}

/// The parameters to differentiate by, as indices.
pub(crate) fn by(function: &Function, func: &Func, wrt: &Wrt) -> Bound<Vec<usize>> {
    let types = func.param_types();
    let names = match wrt {
        Wrt::All => {
            let all: Vec<usize> = (0..types.len()).filter(|k| types[*k].is_float()).collect();
            if all.is_empty() {
                let message = format!(
                    "`{}` has no parameter that is a float or an array of floats here",
                    function.name.text
                );
                return Err(Diagnostic::new("nothing-to-differentiate", message)
                    .label(parameters_span(function), "derivatives are by floats"));
            }
            return Ok(all);
        }
        Wrt::Names(names) => names,
    };
    let mut indices = Vec::new();
    for name in names {
        let k = parameter(function, name)?;
        if !types[k].is_float() {
            let what = wanted(types[k]);
            let message = format!("there is no derivative by `{name}`, which is {what}");
            return Err(Diagnostic::new("not-differentiable", message)
                .label(function.params[k].name.span, format!("used as {what}"))
                .help("derivatives are by floats and arrays; leave it out of what to differentiate by"));
        }
        if !indices.contains(&k) {
            indices.push(k);
        }
    }
    Ok(indices)
}

/// The values as they are declared, where they are: an integer may be declared a float, a list of whole
/// numbers an array of integers. What cannot be what it is declared to be is an error.
pub(crate) fn declared(function: &Function, values: &mut [Value]) -> Bound<()> {
    for (k, (param, value)) in function.params.iter().zip(values).enumerate() {
        let Some(annotation) = param.annotation else { continue };
        let ty = match annotation.ty {
            DeclaredType::F64 => Type::F64,
            DeclaredType::F32 => Type::F32,
            DeclaredType::I64 => Type::I64,
            DeclaredType::Bool => Type::Bool,
            DeclaredType::Array(elem) | DeclaredType::List(elem) => {
                let given = value.ty();
                let elem = elem.or(given.elem()).unwrap_or(Elem::F64);
                Type::of(elem, given.rank().max(1))
            }
        };
        *value = value.as_type(ty).ok_or_else(|| wrong_type(function, k, value, ty))?;
    }
    Ok(())
}

/// The values as the lowered function wants them: an integer may have become a float.
pub(crate) fn convert(function: &Function, func: &Func, values: &mut [Value]) -> Bound<()> {
    for (k, (value, ty)) in values.iter_mut().zip(func.param_types()).enumerate() {
        if value.ty() != ty {
            *value = value.as_type(ty).ok_or_else(|| wrong_type(function, k, value, ty))?;
        }
    }
    Ok(())
}

/// `value` does not fit parameter `k`.
pub(crate) fn wrong_type(function: &Function, k: usize, value: &Value, ty: Type) -> Diagnostic {
    let name = name_of(function, k);
    let given = value.ty();
    let same_kind = given.is_array() && ty.is_array();
    let (wanted, is) = match same_kind && given.rank() != ty.rank() {
        true => (with_rank(ty.rank()), with_rank(given.rank())),
        false => (wanted(ty).to_string(), value.kind().to_string()),
    };
    let message = format!("`{name}` must be {wanted}, but {is} is given");
    let whole = value.as_f64().filter(|x| x.trunc() == *x && x.abs() < 1e15);
    let help = match (ty, whole) {
        (Type::I64, Some(x)) => format!("write it without a point: `{name}={x:.0}`"),
        (Type::I64, None) => format!("give a whole number, as in `{name}=3`"),
        (Type::Bool, _) => format!("give `{name}=true` or `{name}=false`"),
        (Type::F64 | Type::F32 | Type::Tape, _) => format!("give one number, as in `{name}=2.5`"),
        (Type::Array(Elem::I64, 1), _) => format!("give whole numbers, as in `{name}=[1, 2, 3]`"),
        (Type::Array(Elem::Bool, 1), _) => format!("give `{name}=[true, false]`"),
        (Type::Array(_, 1), _) => format!("give a list, as in `{name}=[1, 2, 3]`"),
        (Type::Array(_, 2), _) => format!("give a list of rows, as in `{name}=[[1, 2], [3, 4]]`"),
        (Type::Array(..), _) => format!("give nested lists, as in `{name}=[[[1, 2], [3, 4]]]`"),
    };
    Diagnostic::new("argument-type", message)
        .label(function.params[k].name.span, "this parameter")
        .help(help)
}

fn wanted(ty: Type) -> &'static str {
    match ty {
        Type::F64 | Type::F32 => "a number",
        Type::I64 => "an integer",
        Type::Bool => "a bool",
        Type::Array(Elem::I64, _) => "an array of integers",
        Type::Array(Elem::Bool, _) => "an array of bools",
        Type::Array(..) => "an array",
        Type::Tape => "a tape",
    }
}

fn with_rank(rank: usize) -> String {
    match rank {
        1 => "an array of one dimension".into(),
        _ => format!("an array of {rank} dimensions"),
    }
}

/// The index of the parameter of this name.
pub(crate) fn parameter(function: &Function, name: &str) -> Bound<usize> {
    if let Some(k) = function.params.iter().position(|p| p.name.text == name) {
        return Ok(k);
    }
    let known: Vec<&str> = function.params.iter().map(|p| p.name.text.as_str()).collect();
    let message = format!("`{}` has no parameter `{name}`", function.name.text);
    Err(Diagnostic::new("unknown-argument", message)
        .label(parameters_span(function), "these are its parameters")
        .help(match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => "it takes no arguments".into(),
            None => format!("its parameters are {}", quoted(&known)),
        }))
}

pub(crate) fn quoted(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => quoted.join(""),
    }
}

fn name_of(function: &Function, k: usize) -> &str {
    &function.params[k].name.text
}

/// All parameters, or the name of a function that has none.
fn parameters_span(function: &Function) -> Span {
    match (function.params.first(), function.params.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => function.name.span,
    }
}

/// The value of a default, which is a literal.
pub(crate) fn literal(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Int(n) => Some(Value::Int(*n)),
        ExprKind::Float(x) => Some(Value::Float(*x)),
        ExprKind::Bool(b) => Some(Value::Bool(*b)),
        ExprKind::Builtin(name) if name == "nan" => Some(Value::Float(f64::NAN)),
        ExprKind::Unary { op, operand } => match (op, literal(operand)?) {
            (UnaryOp::Plus, value) => Some(value),
            (UnaryOp::Neg, Value::Int(n)) => Some(Value::Int(n.checked_neg()?)),
            (UnaryOp::Neg, Value::Float(x)) => Some(Value::Float(-x)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::surface::python;

    #[test]
    fn another_rank_or_kind_than_wanted() {
        let module = python::parse("def f(u):\n    return u\n").unwrap();
        let function = &module.functions[0];
        let error = |value: Value, ty: Type| {
            let error = wrong_type(function, 0, &value, ty);
            format!("{}; {}", error.message, error.help.unwrap_or_default())
        };
        let matrix = Type::Array(Elem::F64, 2);
        assert_eq!(
            error([1.0].into(), matrix),
            "`u` must be an array of 2 dimensions, but an array of one dimension is given; give a list of rows, as in `u=[[1, 2], [3, 4]]`"
        );
        assert_eq!(
            error([[1.0]].into(), Type::VECTOR),
            "`u` must be an array of one dimension, but an array of 2 dimensions is given; give a list, as in `u=[1, 2, 3]`"
        );
        assert_eq!(
            error([1.5].into(), Type::Array(Elem::I64, 1)),
            "`u` must be an array of integers, but an array is given; give whole numbers, as in `u=[1, 2, 3]`"
        );
        assert_eq!(
            error(2.0.into(), matrix),
            "`u` must be an array, but a float is given; give a list of rows, as in `u=[[1, 2], [3, 4]]`"
        );
    }
}
