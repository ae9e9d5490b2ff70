//! What each row computes: the value column of the table.
//!
//! These are the definitions every backend must reproduce to the bit. Elementary functions have no
//! entry here: they are IR programs (see `math`), and [`eval`] returns `None` for them.

use super::table::Prim;

/// The kinds of scalars, which are also what arrays hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// Doubles.
    F64,
    /// Single-precision floats.
    F32,
    /// 64-bit integers.
    I64,
    /// Truth values.
    Bool,
}

impl Elem {
    /// Whether it can carry a derivative.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F64 | Elem::F32)
    }
}

/// A scalar value.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A double.
    F64(f64),
    /// A single-precision float.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
}

/// The one NaN that bit casts and fingerprints see.
pub const CANONICAL_NAN: u64 = 0x7ff8_0000_0000_0000;

/// The bits of a float, any NaN being the same NaN.
pub fn canonical_bits(x: f64) -> u64 {
    if x.is_nan() { CANONICAL_NAN } else { x.to_bits() }
}

/// The one single-precision NaN.
const CANONICAL_NAN_32: u32 = 0x7fc0_0000;

impl Scalar {
    /// A float of this kind.
    pub fn float(elem: Elem, x: f64) -> Scalar {
        if elem == Elem::F32 { Scalar::F32(x as f32) } else { Scalar::F64(x) }
    }

    /// What kind of scalar it is.
    pub fn elem(self) -> Elem {
        match self {
            Scalar::F64(_) => Elem::F64,
            Scalar::F32(_) => Elem::F32,
            Scalar::I64(_) => Elem::I64,
            Scalar::Bool(_) => Elem::Bool,
        }
    }

    /// A key under which equal bits (and any two NaN) compare equal.
    pub fn key(self) -> (u8, u64) {
        match self {
            Scalar::F64(x) => (0, canonical_bits(x)),
            Scalar::I64(x) => (1, x as u64),
            Scalar::Bool(x) => (2, x as u64),
            Scalar::F32(x) => {
                (3, u64::from(if x.is_nan() { CANONICAL_NAN_32 } else { x.to_bits() }))
            }
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Scalar {}
impl std::hash::Hash for Scalar {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::F64(x) if x.is_nan() => write!(f, "nan"),
            Scalar::F64(x) if x.is_infinite() => {
                write!(f, "{}", if *x > 0.0 { "inf" } else { "-inf" })
            }
            Scalar::F64(x) => write!(f, "{x:?}"),
            Scalar::F32(x) if x.is_nan() => write!(f, "nanf32"),
            Scalar::F32(x) if x.is_infinite() => {
                write!(f, "{}", if *x > 0.0 { "inff32" } else { "-inff32" })
            }
            Scalar::F32(x) => write!(f, "{x:?}f32"),
            Scalar::I64(x) => write!(f, "{x}"),
            Scalar::Bool(x) => write!(f, "{x}"),
        }
    }
}

/// Why a scalar operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// An integer result does not fit 64 bits.
    Overflow,
    /// Integer division or remainder by zero.
    DivisionByZero,
}

/// Division rounding down.
pub fn floor_div(a: i64, b: i64) -> Result<i64, Trap> {
    if b == 0 {
        return Err(Trap::DivisionByZero);
    }
    let q = a.checked_div(b).ok_or(Trap::Overflow)?;
    Ok(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
}

/// The remainder of [`floor_div`]; it has the sign of the divisor.
pub fn floor_mod(a: i64, b: i64) -> Result<i64, Trap> {
    if b == 0 {
        return Err(Trap::DivisionByZero);
    }
    let r = a.wrapping_rem(b);
    Ok(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
}

/// The rows of floats, for one size of them.
macro_rules! float_rows {
    ($plain:ident, $name:ident, $float:ident, $kind:ident) => {
        /// The value of a row that gives a float of floats; `None` for others and for elementary functions.
        #[inline(always)]
        pub fn $plain(prim: Prim, [a, b, c]: [$float; 3]) -> Option<$float> {
            use Prim::*;
            Some(match prim {
                Add => a + b,
                Sub => a - b,
                Mul => a * b,
                Div => a / b,
                Fma => a.mul_add(b, c),
                Neg => -a,
                Abs => a.abs(),
                Min => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Max => {
                    if b < a {
                        a
                    } else {
                        b
                    }
                }
                Floor => a.floor(),
                Round => a.round_ties_even(),
                // An adjoint that decays into subnormals would run 50 times slower.
                Flush => {
                    if a.abs() < $float::MIN_POSITIVE {
                        0.0
                    } else {
                        a
                    }
                }
                Sqrt => a.sqrt(),
                StopGradient => a,
                _ => return None,
            })
        }

        fn $name(prim: Prim, x: &[Scalar]) -> Option<Scalar> {
            use Prim::*;
            let f = |k: usize| match x.get(k) {
                Some(Scalar::$kind(v)) => *v,
                _ => $float::NAN,
            };
            let bool = Scalar::Bool;
            Some(match prim {
                Lt => bool(f(0) < f(1)),
                Le => bool(f(0) <= f(1)),
                Gt => bool(f(0) > f(1)),
                Ge => bool(f(0) >= f(1)),
                Eq => bool(f(0) == f(1)),
                Ne => bool(f(0) != f(1)),
                FToI => Scalar::I64(f(0) as i64),
                Demote => Scalar::F32(f(0) as f32),
                Promote => Scalar::F64(f64::from(f(0))),
                _ => return $plain(prim, [f(0), f(1), f(2)]).map(Scalar::$kind),
            })
        }
    };
}
float_rows!(double, of_doubles, f64, F64);
float_rows!(single, of_singles, f32, F32);

/// The value of a row at its inputs; `None` for elementary functions that are IR programs.
///
/// The inputs have the types of the row's signature; the verifier has checked that.
pub fn eval(prim: Prim, x: &[Scalar]) -> Option<Result<Scalar, Trap>> {
    use Prim::*;
    let f = |k: usize| match x[k] {
        Scalar::F64(v) => v,
        _ => f64::NAN,
    };
    let i = |k: usize| match x[k] {
        Scalar::I64(v) => v,
        _ => 0,
    };
    let b = |k: usize| matches!(x[k], Scalar::Bool(true));
    let float = |v: f64| Ok(Scalar::F64(v));
    let int = |v: i64| Ok(Scalar::I64(v));
    let bool = |v: bool| Ok(Scalar::Bool(v));
    let checked = |v: Option<i64>| v.map(Scalar::I64).ok_or(Trap::Overflow);
    Some(match prim {
        Add | Sub | Mul | Div | Fma | Neg | Abs | Min | Max | Floor | Round | Flush | Sqrt
        | StopGradient | Lt | Le | Gt | Ge | Eq | Ne | FToI | Demote | Promote => {
            let single = x.iter().any(|x| matches!(x, Scalar::F32(_)));
            return if single { of_singles(prim, x) } else { of_doubles(prim, x) }.map(Ok);
        }
        Ceil | Trunc | Sign | CopySign | Relu | Clamp | Rem => return None,
        Exp | Log | Sin | Cos | Tanh | Cbrt | Exp2 | Expm1 | Log2 | Log10 | Log1p | Tan | Asin
        | Acos | Atan | Atan2 | Sinh | Cosh | Asinh | Acosh | Atanh | Pow | PowI | Hypot
        | LogAddExp | XLogY => return None,
        Erf | Erfc | NormCdf | NormInv | LGamma | PolyGamma | Sigmoid | Softplus => return None,
        ILt => bool(i(0) < i(1)),
        ILe => bool(i(0) <= i(1)),
        IGt => bool(i(0) > i(1)),
        IGe => bool(i(0) >= i(1)),
        IEq => bool(i(0) == i(1)),
        INe => bool(i(0) != i(1)),
        And => bool(b(0) && b(1)),
        Or => bool(b(0) || b(1)),
        Not => bool(!b(0)),
        Select => Ok(if b(0) { x[1] } else { x[2] }),
        IAdd => checked(i(0).checked_add(i(1))),
        ISub => checked(i(0).checked_sub(i(1))),
        IMul => checked(i(0).checked_mul(i(1))),
        IDiv => floor_div(i(0), i(1)).map(Scalar::I64),
        IMod => floor_mod(i(0), i(1)).map(Scalar::I64),
        INeg => checked(i(0).checked_neg()),
        IMin => int(i(0).min(i(1))),
        IMax => int(i(0).max(i(1))),
        WAdd => int(i(0).wrapping_add(i(1))),
        WSub => int(i(0).wrapping_sub(i(1))),
        WMul => int(i(0).wrapping_mul(i(1))),
        UMulH => int(((i(0) as u64 as u128 * i(1) as u64 as u128) >> 64) as i64),
        IAnd => int(i(0) & i(1)),
        IOr => int(i(0) | i(1)),
        IXor => int(i(0) ^ i(1)),
        Shl => int(i(0).wrapping_shl(i(1) as u32)),
        Shr => int((i(0) as u64).wrapping_shr(i(1) as u32) as i64),
        Sar => int(i(0).wrapping_shr(i(1) as u32)),
        IToF => float(i(0) as f64),
        Bits => int(canonical_bits(f(0)) as i64),
        FromBits => float(f64::from_bits(i(0) as u64)),
    })
}
