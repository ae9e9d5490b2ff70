//! Rows of the rule table and constants as Rust expressions.

use crate::ops::{Prim, Scalar};

/// How a row can fail, and so what its expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// An `Option` that is `None` where an integer does not fit.
    Overflow,
    /// A call of `floor_div` or `floor_mod`.
    Division,
}

/// A constant, with its type: nothing around it need say which. Negative ones are in parentheses.
pub(super) fn literal(c: Scalar) -> String {
    match c {
        Scalar::F64(x) if x.is_nan() => "f64::NAN".into(),
        Scalar::F64(f64::INFINITY) => "f64::INFINITY".into(),
        Scalar::F64(f64::NEG_INFINITY) => "f64::NEG_INFINITY".into(),
        Scalar::F64(x) if x.is_sign_negative() => format!("({x:?}_f64)"),
        Scalar::F64(x) => format!("{x:?}_f64"),
        Scalar::I64(n) if (0..0x10000).contains(&n) => format!("{n}_i64"),
        Scalar::I64(n) if (-0x10000..0).contains(&n) => format!("({n}_i64)"),
        // Masks and patterns of bits.
        Scalar::I64(n) if n > 0 => format!("0x{n:x}_i64"),
        Scalar::I64(n) => format!("(0x{n:x}_u64 as i64)"),
        Scalar::Bool(b) => b.to_string(),
        Scalar::F32(x) if x.is_nan() => "f32::NAN".into(),
        Scalar::F32(f32::INFINITY) => "f32::INFINITY".into(),
        Scalar::F32(f32::NEG_INFINITY) => "f32::NEG_INFINITY".into(),
        Scalar::F32(x) => format!("({x:?}_f32)"),
    }
}

/// The value of a row of floats of one type as an expression, as [`crate::ops::value`] defines it; `None` for
/// elementary functions. What can fail is made of `failing`, by what an `Option` or `Result` is.
pub(super) fn row(
    prim: Prim,
    float: &str,
    x: &[String],
    failing: &dyn Fn(Failing, String) -> String,
) -> Option<String> {
    use Prim::*;
    let infix = |sign: &str| format!("{} {sign} {}", x[0], x[1]);
    let wrapping = |name: &str| format!("i64::wrapping_{name}({}, {})", x[0], x[1]);
    let fits = |call: String| failing(Failing::Overflow, call);
    let checked = |name: &str| fits(format!("i64::checked_{name}({}, {})", x[0], x[1]));
    let amount = || {
        let constant = x[1].strip_suffix("_i64").and_then(|n| n.parse::<u8>().ok());
        constant.map_or_else(|| format!("{} as u32", x[1]), |n| n.to_string())
    };
    Some(match prim {
        Add => infix("+"),
        Sub => infix("-"),
        Mul => infix("*"),
        Div => infix("/"),
        Fma => format!("{float}::mul_add({}, {}, {})", x[0], x[1], x[2]),
        Neg => format!("-{}", x[0]),
        Abs => format!("{float}::abs({})", x[0]),
        Min => format!("if {0} < {1} {{ {0} }} else {{ {1} }}", x[0], x[1]),
        Max => format!("if {1} < {0} {{ {0} }} else {{ {1} }}", x[0], x[1]),
        Floor => format!("{float}::floor({})", x[0]),
        Round => format!("{float}::round_ties_even({})", x[0]),
        Flush => {
            format!("if {float}::abs({0}) < {float}::MIN_POSITIVE {{ 0.0 }} else {{ {0} }}", x[0])
        }
        Sqrt => format!("{float}::sqrt({})", x[0]),
        StopGradient => x[0].clone(),
        Lt | ILt => infix("<"),
        Le | ILe => infix("<="),
        Gt | IGt => infix(">"),
        Ge | IGe => infix(">="),
        Eq | IEq => infix("=="),
        Ne | INe => infix("!="),
        And => infix("&"),
        Or => infix("|"),
        Not => format!("!{}", x[0]),
        Select => format!("if {} {{ {} }} else {{ {} }}", x[0], x[1], x[2]),
        IAdd => checked("add"),
        ISub => checked("sub"),
        IMul => checked("mul"),
        INeg => fits(format!("i64::checked_neg({})", x[0])),
        IDiv => failing(Failing::Division, format!("floor_div({}, {})", x[0], x[1])),
        IMod => failing(Failing::Division, format!("floor_mod({}, {})", x[0], x[1])),
        IMin => format!("i64::min({}, {})", x[0], x[1]),
        IMax => format!("i64::max({}, {})", x[0], x[1]),
        WAdd => wrapping("add"),
        WSub => wrapping("sub"),
        WMul => wrapping("mul"),
        UMulH => format!("umulh({}, {})", x[0], x[1]),
        IAnd => infix("&"),
        IOr => infix("|"),
        IXor => infix("^"),
        // Amounts count modulo 64, to `wrapping_shl` as well.
        Shl => format!("i64::wrapping_shl({}, {})", x[0], amount()),
        Sar => format!("i64::wrapping_shr({}, {})", x[0], amount()),
        Shr => format!("u64::wrapping_shr({} as u64, {}) as i64", x[0], amount()),
        IToF => format!("{} as f64", x[0]),
        FToI => format!("{} as i64", x[0]),
        Bits => format!("bits({})", x[0]),
        FromBits => format!("f64::from_bits({} as u64)", x[0]),
        Demote => format!("{} as f32", x[0]),
        Promote => format!("f64::from({})", x[0]),
        Ceil | Trunc | Sign | CopySign | Relu | Clamp | Rem => return None,
        Exp | Log | Sin | Cos | Tanh | Cbrt | Exp2 | Expm1 | Log2 | Log10 | Log1p | Tan | Asin
        | Acos | Atan | Atan2 | Sinh | Cosh | Asinh | Acosh | Atanh | Pow | PowI | Hypot
        | LogAddExp | XLogY => return None,
        Erf | Erfc | NormCdf | NormInv | LGamma | PolyGamma | Sigmoid | Softplus => return None,
    })
}
