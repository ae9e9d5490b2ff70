//! The functions of numbers a program can call: canonical name and row of the rule table.
//!
//! All take and give floats; integers among the arguments become floats.

use crate::ops::Prim;

/// Canonical names and their rows.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, Prim)] = &[
    ("exp", Prim::Exp), ("exp2", Prim::Exp2), ("expm1", Prim::Expm1),
    ("log", Prim::Log), ("log2", Prim::Log2), ("log10", Prim::Log10), ("log1p", Prim::Log1p),
    ("sqrt", Prim::Sqrt), ("cbrt", Prim::Cbrt), ("hypot", Prim::Hypot),
    ("sin", Prim::Sin), ("cos", Prim::Cos), ("tan", Prim::Tan),
    ("asin", Prim::Asin), ("acos", Prim::Acos), ("atan", Prim::Atan), ("atan2", Prim::Atan2),
    ("sinh", Prim::Sinh), ("cosh", Prim::Cosh), ("tanh", Prim::Tanh),
    ("asinh", Prim::Asinh), ("acosh", Prim::Acosh), ("atanh", Prim::Atanh),
    ("erf", Prim::Erf), ("erfc", Prim::Erfc), ("lgamma", Prim::LGamma),
    ("normcdf", Prim::NormCdf), ("norminv", Prim::NormInv),
    ("sigmoid", Prim::Sigmoid), ("softplus", Prim::Softplus), ("relu", Prim::Relu),
    ("logaddexp", Prim::LogAddExp), ("xlogy", Prim::XLogY),
    ("floor", Prim::Floor), ("ceil", Prim::Ceil), ("trunc", Prim::Trunc),
    ("sign", Prim::Sign), ("copysign", Prim::CopySign), ("fmod", Prim::Rem),
    ("stop_gradient", Prim::StopGradient),
];

/// The row that computes a function.
pub(super) fn row(name: &str) -> Option<Prim> {
    FUNCTIONS.iter().find(|(canonical, _)| *canonical == name).map(|(_, prim)| *prim)
}

/// Their names.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}
