//! True values, by MPFR at 160 bits, or more where something cancels.

use rug::Float;
use rug::float::Constant;
use rug::ops::{CompleteRound, Pow};
use wengert_core::ops::{Prim, Scalar};

const BITS: u32 = 160;
/// For what cancels.
const MANY: u32 = 320;

/// The value of a row at these inputs; `None` where it is not compared. `near` is the value to check: a
/// start for inverse functions.
pub fn value(prim: Prim, inputs: &[Scalar], near: f64) -> Option<Float> {
    let x = |k: usize| match inputs[k] {
        Scalar::F64(x) => Float::with_val(BITS, x),
        Scalar::F32(x) => Float::with_val(BITS, x),
        Scalar::I64(n) => Float::with_val(BITS, n),
        Scalar::Bool(_) => Float::new(BITS),
    };
    let order = if let Scalar::I64(n) = inputs[0] { n } else { 0 };
    let a = x(0);
    Some(match prim {
        Prim::Ceil => a.ceil(),
        Prim::Trunc => a.trunc(),
        Prim::Sign => match a.cmp0() {
            Some(std::cmp::Ordering::Less) => Float::with_val(BITS, -1),
            Some(std::cmp::Ordering::Greater) => Float::with_val(BITS, 1),
            _ => a,
        },
        Prim::CopySign => a.copysign(&x(1)),
        Prim::Relu => {
            if a > 0 || a.is_nan() {
                a
            } else {
                Float::new(BITS)
            }
        }
        Prim::Clamp => {
            let a = if a < x(1) { x(1) } else { a };
            if x(2) < a { x(2) } else { a }
        }
        Prim::Rem => a % x(1),
        Prim::Sqrt => a.sqrt(),
        Prim::Exp => a.exp(),
        Prim::Log => a.ln(),
        Prim::Sin => a.sin(),
        Prim::Cos => a.cos(),
        Prim::Tan => a.tan(),
        Prim::Tanh => a.tanh(),
        Prim::Cbrt => a.cbrt(),
        Prim::Exp2 => a.exp2(),
        Prim::Expm1 => a.exp_m1(),
        Prim::Log2 => a.log2(),
        Prim::Log10 => a.log10(),
        Prim::Log1p => a.ln_1p(),
        Prim::Asin => a.asin(),
        Prim::Acos => a.acos(),
        Prim::Atan => a.atan(),
        Prim::Atan2 => a.atan2(&x(1)),
        Prim::Sinh => a.sinh(),
        Prim::Cosh => a.cosh(),
        Prim::Asinh => a.asinh(),
        Prim::Acosh => a.acosh(),
        Prim::Atanh => a.atanh(),
        Prim::Pow | Prim::PowI => a.pow(x(1)),
        Prim::Hypot => a.hypot(&x(1)),
        Prim::LogAddExp => log_add_exp(a, x(1)),
        // 0 whatever the logarithm is, as long as it is a number.
        Prim::XLogY if a.is_zero() && !x(1).is_nan() => Float::with_val(a.prec(), 0),
        Prim::XLogY => a * x(1).ln(),
        Prim::Erf => a.erf(),
        Prim::Erfc => a.erfc(),
        Prim::NormCdf => normal(&a),
        Prim::NormInv => inverse_normal(a, near)?,
        Prim::LGamma => a.ln_abs_gamma().0,
        // Poles are among the special values of the tests.
        Prim::PolyGamma if x(1) <= 0 && x(1).is_integer() => return None,
        Prim::PolyGamma if order == 0 => x(1).digamma(),
        Prim::PolyGamma => polygamma(order, x(1)),
        Prim::Sigmoid => ((-a).exp() + 1u32).recip(),
        Prim::Softplus => log_add_exp(a, Float::new(BITS)),
        _ => panic!("`{}` has no reference", prim.name()),
    })
}

fn log_add_exp(a: Float, b: Float) -> Float {
    if a.is_nan() || b.is_nan() {
        return a + b;
    }
    let (most, least) = if a < b { (b, a) } else { (a, b) };
    if most.is_infinite() {
        return most;
    }
    // The difference of two doubles can have 2100 bits; what is far below does not count.
    let gap = Float::with_val(MANY, &least - &most);
    gap.exp().ln_1p() + Float::with_val(MANY, most)
}

/// The normal distribution function.
fn normal(x: &Float) -> Float {
    let root = Float::with_val(MANY, 2).sqrt();
    (-(x / root)).erfc() / 2u32
}

/// One step of Newton's iteration from a value that is good to double precision makes it good to twice that.
fn inverse_normal(p: Float, near: f64) -> Option<Float> {
    if p <= 0 || p >= 1 {
        // The ends are among the special values of the tests.
        return None;
    }
    if !near.is_finite() {
        return Some(Float::with_val(BITS, rug::float::Special::Zero));
    }
    let y = Float::with_val(MANY, near);
    let tau = Float::with_val(MANY, Constant::Pi) * 2u32;
    let density = (-(y.square_ref().complete(MANY)) / 2u32).exp() / tau.sqrt();
    Some(y.clone() - (normal(&y) - p) / density)
}

/// `(-1)^(n+1) n!` times the sum of `1 / (x + k)^(n+1)`: terms one by one, then Euler and Maclaurin.
fn polygamma(n: i64, x: Float) -> Float {
    let s = (n + 1) as u32;
    let mut a = Float::with_val(MANY, x);
    let mut sum = Float::new(MANY);
    while a < s + 40 {
        sum += a.clone().pow(s).recip();
        a += 1u32;
    }
    let power = a.clone().pow(s).recip();
    sum += Float::with_val(MANY, &power * &a) / (s - 1) + Float::with_val(MANY, &power / 2u32);
    // B_2j / (2j)! s (s + 1) .. (s + 2j - 2) / a^(s + 2j - 1), by |B_2j| / (2j)! = 2 zeta(2j) / (2 pi)^2j.
    let tau = Float::with_val(MANY, Constant::Pi) * 2u32;
    let mut rest = power * s / &a;
    let square = Float::with_val(MANY, a.square_ref());
    for j in 1u32..=20 {
        let ratio = Float::with_val(MANY, Float::zeta_u(2 * j)) * 2u32 / tau.clone().pow(2 * j);
        let term = Float::with_val(MANY, &rest * &ratio);
        if j % 2 == 1 {
            sum += term
        } else {
            sum -= term
        }
        rest *= (s + 2 * j - 1) * (s + 2 * j);
        rest /= &square;
    }
    let value = sum * Float::with_val(MANY, Float::factorial(n as u32));
    if n % 2 == 1 { value } else { -value }
}
