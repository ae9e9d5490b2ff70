//! The table. One row per scalar operation; a new function is one line here.
//!
//! Columns: variant, name in IR text, signature, class, cost, error bound, test domain, partials.
//!
//! - Signature: `f` float (of either size, the same one everywhere), `d` f64, `s` f32, `i` integer, `b` bool,
//!   `*` any scalar (the same one everywhere).
//! - Class: `linear` (constant partials), `smooth` (partials are expressions), `zero` (piecewise
//!   constant or not a float: no derivative passes), `select` (derivative follows the choice), `cast`
//!   (a linear change of type: the derivative changes type with it).
//! - Cost: about the cycles of executing it once; what recomputation is weighed with.
//! - Error bound: the most units in the last place the value may be off: 0 for what is exact, 0.5 for what
//!   is rounded once, a stated bound for elementary functions (absolute bounds near zeros: see `math`).
//! - Domain: where the tests sample: one range for every input, or a list with one range per input.
//! - Partials: one per input, in terms of the inputs and the output `y`; `Zero` by an integer input.
//!
//! Subgradients at kinks: `abs`, `relu` and `copysign` have 0 where their input is 0; `min` and `max`
//! give a tie wholly to the second input, `clamp` to `x`; `hypot` and `atan2` have 0 at the origin;
//! `rem` has the slope beside its jumps. `pow` has 0 by the exponent where the base is 0 and the exponent
//! is not negative, and 0 by both at 0^0. `logaddexp` of two equal infinities has 1/2 for both.

use super::real::{Chosen, One, Partial, Real, Uses, Zero};
use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

/// How derivatives pass through an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Constant partials: no primal value is needed.
    Linear,
    /// Partials are expressions in inputs and output.
    Smooth,
    /// No derivative passes.
    Zero,
    /// `select`: the derivative follows the chosen input.
    Select,
    /// A change of float type.
    Cast,
}

macro_rules! class {
    (linear) => {
        Class::Linear
    };
    (smooth) => {
        Class::Smooth
    };
    (zero) => {
        Class::Zero
    };
    (select) => {
        Class::Select
    };
    (cast) => {
        Class::Cast
    };
}

macro_rules! partial {
    (linear $e:expr) => {
        Partial::Const($e)
    };
    (smooth $e:expr) => {
        $e.partial()
    };
}

macro_rules! domain {
    (($lo:expr, $hi:expr)) => {
        &[($lo, $hi)]
    };
    ([$($range:expr),*]) => {
        &[$($range),*]
    };
}

macro_rules! table {
    ($($variant:ident $name:literal $sig:literal $class:ident $cost:literal
       $bound:literal $domain:tt ($($x:ident),*) $y:ident => [$($partial:expr),*];)*) => {
        /// A scalar operation: one row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Prim { $($variant),* }

        impl Prim {
            /// Every row, in table order.
            pub const ALL: &'static [Prim] = &[$(Prim::$variant),*];

            /// The name in IR text.
            pub fn name(self) -> &'static str {
                match self { $(Prim::$variant => $name),* }
            }

            /// The signature, as written in the table.
            pub fn signature(self) -> &'static str {
                match self { $(Prim::$variant => $sig),* }
            }

            /// How derivatives pass through it.
            #[inline(always)]
            pub const fn class(self) -> Class {
                match self { $(Prim::$variant => class!($class)),* }
            }

            /// About how many cycles executing it once takes.
            pub fn cost(self) -> u32 {
                match self { $(Prim::$variant => $cost),* }
            }

            /// The most units in the last place the value may be off.
            pub fn bound(self) -> f64 {
                match self { $(Prim::$variant => $bound),* }
            }

            /// Where tests sample input `k`.
            pub fn domain(self, k: usize) -> (f64, f64) {
                let ranges: &[(f64, f64)] = match self { $(Prim::$variant => domain!($domain)),* };
                ranges[k.min(ranges.len() - 1)]
            }

            /// The names of the inputs in the partials, as written in the table.
            pub fn input_names(self) -> &'static [&'static str] {
                match self { $(Prim::$variant => &[$(stringify!($x)),*]),* }
            }

            /// The partials, as written in the table.
            pub fn partial_texts(self) -> &'static [&'static str] {
                match self { $(Prim::$variant => &[$(stringify!($partial)),*]),* }
            }

            /// By how many inputs it has a partial: all, or none.
            #[inline(always)]
            pub const fn slope_count(self) -> usize {
                match self { $(Prim::$variant => <[&str]>::len(&[$(stringify!($partial)),*])),* }
            }

            /// The partial derivative by each input, in terms of the inputs and the output. What stands at
            /// places beyond the inputs is not looked at; partials there are 0.
            #[allow(unused_variables)]
            #[inline(always)]
            pub fn slopes<T: Real>(self, inputs: [T; 3], y: T) -> [Partial<T>; 3]
            where
                f64: std::ops::Sub<T, Output = T> + std::ops::Mul<T, Output = T>,
            {
                match self {
                    $(Prim::$variant => {
                        table!(@bind inputs ($($x),*));
                        let $y = y;
                        padded([$(partial!($class $partial)),*])
                    })*
                }
            }

            /// Shows the row to one who looks, as a constant: what he makes of it is made for each row apart.
            #[inline(always)]
            pub fn shown<V: Looks>(self, looks: V) -> V::Sees {
                match self { $(Prim::$variant => looks.at(Prim::$variant)),* }
            }
        }
    };
    (@bind $inputs:ident ()) => {};
    (@bind $inputs:ident ($a:ident)) => { let $a = $inputs[0]; };
    (@bind $inputs:ident ($a:ident, $b:ident)) => { let ($a, $b) = ($inputs[0], $inputs[1]); };
    (@bind $inputs:ident ($a:ident, $b:ident, $c:ident)) => {
        let ($a, $b, $c) = ($inputs[0], $inputs[1], $inputs[2]);
    };
}

table! {
    // float arithmetic
    Add      "add"      "ff>f"  linear  1 0.5 (-10.0, 10.0) (a, b) y => [1.0, 1.0];
    Sub      "sub"      "ff>f"  linear  1 0.5 (-10.0, 10.0) (a, b) y => [1.0, -1.0];
    Mul      "mul"      "ff>f"  smooth  1 0.5 (-10.0, 10.0) (a, b) y => [b, a];
    Div      "div"      "ff>f"  smooth  6 0.5 (0.5, 10.0)   (a, b) y => [b.recip_of(1.0), -(y * b.recip_of(1.0))];
    Fma      "fma"      "fff>f" smooth  1 0.5 (-10.0, 10.0) (a, b, c) y => [b, a, One];
    Neg      "neg"      "f>f"   linear  1 0.0 (-10.0, 10.0) (x) y => [-1.0];
    Abs      "abs"      "f>f"   smooth  1 0.0 (0.1, 10.0)   (x) y => [x.sign()];
    Min      "min"      "ff>f"  smooth  2 0.0 (-10.0, 10.0) (a, b) y => [Chosen(a.less(b)), Chosen(a.less(b).flipped())];
    Max      "max"      "ff>f"  smooth  2 0.0 (-10.0, 10.0) (a, b) y => [Chosen(b.less(a)), Chosen(b.less(a).flipped())];
    Floor    "floor"    "f>f"   zero    2 0.0 (-10.0, 10.0) () y => [];
    Round    "round"    "f>f"   zero    2 0.0 (-10.0, 10.0) () y => [];
    Flush    "flush"    "f>f"   linear  2 0.0 (-10.0, 10.0) (x) y => [1.0];
    StopGradient "stop_gradient" "f>f" zero 0 0.0 (-10.0, 10.0) () y => [];
    Ceil     "ceil"     "f>f"   zero    3 0.0 (-10.0, 10.0) () y => [];
    Trunc    "trunc"    "f>f"   zero    4 0.0 (-10.0, 10.0) () y => [];
    Sign     "sign"     "f>f"   zero    4 0.0 (-10.0, 10.0) () y => [];
    CopySign "copysign" "ff>f"  smooth  4 0.0 (0.1, 10.0)   (a, b) y => [a.sign() * y.sign(), Zero];
    Relu     "relu"     "f>f"   smooth  2 0.0 (-10.0, 10.0) (x) y => [Chosen(y.positive())];
    Clamp    "clamp"    "fff>f" smooth  4 0.0 [(-10.0, 10.0), (-6.0, -2.0), (2.0, 6.0)] (x, lo, hi) y => [Chosen(inside(x, lo, hi)), Chosen(below(x, lo, hi)), Chosen(inside(x, lo, hi).flipped().and(below(x, lo, hi).flipped()))];
    Rem      "rem"      "ff>f"  smooth 20 0.0 [(20.3, 20.8), (3.05, 3.2)] (a, b) y => [One, -((a - y) / b).round()];

    // elementary functions
    Sqrt     "sqrt"     "f>f"   smooth  8 0.5 (0.01, 100.0) (x) y => [y.recip_of(0.5)];
    Exp      "exp"      "f>f"   smooth 40 1.0 (-5.0, 5.0)   (x) y => [y];
    Log      "log"      "f>f"   smooth 40 1.0 (0.01, 100.0) (x) y => [x.recip_of(1.0)];
    Sin      "sin"      "f>f"   smooth 40 1.0 (-10.0, 10.0) (x) y => [x.cos()];
    Cos      "cos"      "f>f"   smooth 40 1.0 (-10.0, 10.0) (x) y => [-x.sin()];
    Tanh     "tanh"     "f>f"   smooth 60 2.0 (-4.0, 4.0)   (x) y => [1.0 - y * y];
    Cbrt     "cbrt"     "f>f"   smooth 40 1.0 (0.1, 100.0)  (x) y => [(y * y).recip_of(1.0 / 3.0)];
    Exp2     "exp2"     "f>f"   smooth 40 1.0 (-5.0, 5.0)   (x) y => [y * LN_2];
    Expm1    "expm1"    "f>f"   smooth 45 1.0 (-5.0, 5.0)   (x) y => [x.exp()];
    Log2     "log2"     "f>f"   smooth 45 1.5 (0.01, 100.0) (x) y => [x.recip_of(LOG2_E)];
    Log10    "log10"    "f>f"   smooth 45 1.0 (0.01, 100.0) (x) y => [x.recip_of(LOG10_E)];
    Log1p    "log1p"    "f>f"   smooth 45 1.0 (-0.9, 50.0)  (x) y => [(x + 1.0).recip_of(1.0)];
    Tan      "tan"      "f>f"   smooth 60 1.5 (-1.2, 1.2)   (x) y => [y * y + 1.0];
    Asin     "asin"     "f>f"   smooth 45 1.0 (-0.9, 0.9)   (x) y => [((1.0 - x) * (x + 1.0)).sqrt().recip_of(1.0)];
    Acos     "acos"     "f>f"   smooth 45 1.0 (-0.9, 0.9)   (x) y => [((1.0 - x) * (x + 1.0)).sqrt().recip_of(-1.0)];
    Atan     "atan"     "f>f"   smooth 45 1.0 (-10.0, 10.0) (x) y => [(x * x + 1.0).recip_of(1.0)];
    Atan2    "atan2"    "ff>f"  smooth 60 1.0 [(0.1, 10.0), (-10.0, 10.0)] (a, b) y => [b / radius(a, b) / radius(a, b), -(a / radius(a, b) / radius(a, b))];
    Sinh     "sinh"     "f>f"   smooth 50 1.0 (-5.0, 5.0)   (x) y => [x.cosh()];
    Cosh     "cosh"     "f>f"   smooth 50 1.0 (-5.0, 5.0)   (x) y => [x.sinh()];
    Asinh    "asinh"    "f>f"   smooth 80 1.0 (-10.0, 10.0) (x) y => [x.hypot_of(1.0).recip_of(1.0)];
    Acosh    "acosh"    "f>f"   smooth 80 1.0 (1.1, 50.0)   (x) y => [((x - 1.0).sqrt() * (x + 1.0).sqrt()).recip_of(1.0)];
    Atanh    "atanh"    "f>f"   smooth 80 1.0 (-0.9, 0.9)   (x) y => [((1.0 - x) * (x + 1.0)).recip_of(1.0)];
    Pow      "pow"      "ff>f"  smooth 110 1.5 [(0.1, 5.0), (-3.0, 3.0)] (a, b) y => [b * a.pow_less_one(b), y * a.log_of_base(b)];
    PowI     "powi"     "fi>f"  smooth 110 1.5 [(0.2, 3.0), (-5.0, 6.0)] (x, n) y => [n.as_float(x) * x.powi_less_one(n), Zero];
    Hypot    "hypot"    "ff>f"  smooth 35 1.0 (-10.0, 10.0) (a, b) y => [a / y.nonzero(), b / y.nonzero()];
    LogAddExp "logaddexp" "ff>f" smooth 110 2.0 (-10.0, 10.0) (a, b) y => [a.gap(b).sigmoid(), b.gap(a).sigmoid()];
    XLogY    "xlogy"    "ff>f"  smooth 90 1.0 [(-10.0, 10.0), (0.01, 100.0)] (x, z) y => [z.log(), x / z];

    // special functions
    Erf      "erf"      "f>f"   smooth 60 1.5 (-2.5, 2.5)   (x) y => [gaussian(x) * TWO_BY_ROOT_PI];
    Erfc     "erfc"     "f>f"   smooth 80 2.0 (-2.5, 2.5)   (x) y => [gaussian(x) * -TWO_BY_ROOT_PI];
    NormCdf  "normcdf"  "f>f"   smooth 80 2.0 (-3.0, 3.0)   (x) y => [(x * x * -0.5).exp() * ROOT_TWO_PI.recip()];
    NormInv  "norminv"  "f>f"   smooth 90 2.0 (0.05, 0.95)  (p) y => [(y * y * 0.5).exp() * ROOT_TWO_PI];
    LGamma   "lgamma"   "f>f"   smooth 120 2.0 (0.3, 10.0)  (x) y => [x.polygamma(x.integer(0))];
    PolyGamma "polygamma" "if>f" smooth 500 2.0 (0.5, 10.0) (n, x) y => [Zero, x.polygamma(n.next())];
    Sigmoid  "sigmoid"  "f>f"   smooth 60 2.0 (-5.0, 5.0)   (x) y => [y * (-x).sigmoid()];
    Softplus "softplus" "f>f"   smooth 90 2.0 (-5.0, 5.0)   (x) y => [x.sigmoid()];

    // comparisons
    Lt       "lt"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Le       "le"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Gt       "gt"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Ge       "ge"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Eq       "eq"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Ne       "ne"       "ff>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    ILt      "ilt"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    ILe      "ile"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IGt      "igt"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IGe      "ige"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IEq      "ieq"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    INe      "ine"      "ii>b"  zero    1 0.0 (-10.0, 10.0) () y => [];

    // logic
    And      "and"      "bb>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Or       "or"       "bb>b"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Not      "not"      "b>b"   zero    1 0.0 (-10.0, 10.0) () y => [];
    Select   "select"   "b**>*" select  1 0.0 (-10.0, 10.0) () y => [];

    // integers: overflow is an error; division and remainder round down, as in Python
    IAdd     "iadd"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    ISub     "isub"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IMul     "imul"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IDiv     "idiv"     "ii>i"  zero   20 0.0 (-10.0, 10.0) () y => [];
    IMod     "imod"     "ii>i"  zero   20 0.0 (-10.0, 10.0) () y => [];
    INeg     "ineg"     "i>i"   zero    1 0.0 (-10.0, 10.0) () y => [];
    IMin     "imin"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IMax     "imax"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];

    // wrapping integers and bits; shift amounts are taken modulo 64
    WAdd     "wadd"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    WSub     "wsub"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    WMul     "wmul"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    UMulH    "umulh"    "ii>i"  zero    2 0.0 (-10.0, 10.0) () y => [];
    IAnd     "iand"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IOr      "ior"      "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    IXor     "ixor"     "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Shl      "shl"      "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Shr      "shr"      "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];
    Sar      "sar"      "ii>i"  zero    1 0.0 (-10.0, 10.0) () y => [];

    // conversions: float to integer truncates and saturates, NaN gives 0; `bits` of any NaN is one NaN
    IToF     "itof"     "i>d"   zero    2 0.5 (-10.0, 10.0) () y => [];
    FToI     "ftoi"     "f>i"   zero    2 0.0 (-10.0, 10.0) () y => [];
    Bits     "bits"     "d>i"   zero    1 0.0 (-10.0, 10.0) () y => [];
    FromBits "frombits" "i>d"   zero    1 0.0 (-10.0, 10.0) () y => [];
    Demote   "demote"   "d>s"   cast    2 0.5 (-10.0, 10.0) () y => [];
    Promote  "promote"  "s>d"   cast    2 0.0 (-10.0, 10.0) () y => [];
}

/// One who is shown a row: see [`Prim::shown`].
pub trait Looks {
    /// What comes of it.
    type Sees;

    /// The row is this one.
    fn at(self, row: Prim) -> Self::Sees;
}

/// With partials of 0 for inputs that there are not.
#[inline(always)]
fn padded<T: Copy, const K: usize>(partials: [Partial<T>; K]) -> [Partial<T>; 3] {
    let mut all = [Partial::Const(0.0); 3];
    all[..K].copy_from_slice(&partials);
    all
}

/// 1 where `clamp` gives `x`, else 0.
fn inside<T: Real>(x: T, lo: T, hi: T) -> T {
    x.less(lo).flipped().and(hi.less(x).flipped())
}

/// 1 where `clamp` gives `lo`, else 0.
fn below<T: Real>(x: T, lo: T, hi: T) -> T {
    x.less(lo).and(hi.less(lo).flipped())
}

/// The distance of a point from the origin, 1 for the origin itself.
fn radius<T: Real>(a: T, b: T) -> T {
    a.hypot(b).nonzero()
}

const TWO_BY_ROOT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;
/// The square root of 2 pi.
const ROOT_TWO_PI: f64 = 2.5066282746310002;

/// `exp(-x^2)`.
fn gaussian<T: Real>(x: T) -> T {
    (-(x * x)).exp()
}

impl Prim {
    /// The row of that name.
    pub fn from_name(name: &str) -> Option<Prim> {
        Prim::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// The partial derivative by each input, in terms of the inputs and the output.
    /// Empty for rows without one.
    pub fn partials<T: Real>(self, inputs: &[T], y: T) -> Vec<Partial<T>>
    where
        f64: std::ops::Sub<T, Output = T> + std::ops::Mul<T, Output = T>,
    {
        let input = |k: usize| inputs.get(k).copied().unwrap_or(y);
        self.slopes([input(0), input(1), input(2)], y)[..self.slope_count()].to_vec()
    }

    /// The row that undoes a change of float type, for derivatives to go back through it.
    pub fn cast_back(self) -> Option<Prim> {
        match self {
            Prim::Demote => Some(Prim::Promote),
            Prim::Promote => Some(Prim::Demote),
            _ => None,
        }
    }

    /// How many inputs it takes.
    pub fn arity(self) -> usize {
        self.signature().find('>').unwrap_or(0)
    }

    /// Whether executing it can fail (and so must not be executed speculatively or dropped).
    pub fn can_trap(self) -> bool {
        use Prim::*;
        matches!(self, IAdd | ISub | IMul | IDiv | IMod | INeg)
    }

    /// Which inputs, and whether the output, the partial by input `k` needs.
    pub fn needs(self, k: usize) -> Uses {
        if self.class() == Class::Select {
            return Uses::input(0);
        }
        let inputs: Vec<Uses> = (0..self.arity()).map(Uses::input).collect();
        match self.partials(&inputs, Uses::OUTPUT).get(k) {
            Some(Partial::Of(uses) | Partial::Where(uses)) => *uses,
            _ => Uses::default(),
        }
    }
}

impl std::ops::Sub<Uses> for f64 {
    type Output = Uses;
    fn sub(self, other: Uses) -> Uses {
        other
    }
}

impl std::ops::Mul<Uses> for f64 {
    type Output = Uses;
    fn mul(self, other: Uses) -> Uses {
        other
    }
}
