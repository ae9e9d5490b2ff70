//! Every row in words: what it computes, why it has no derivative, what its derivative is at a kink.
//! docs/operations.md is made of this.

use super::array::{ArrayOp, Check, Direction, Transposed};
use super::table::{Class, Prim};

impl Prim {
    /// What it computes, in terms of `x`, of `a`, `b` and `c`, or of the names in the table.
    pub fn about(self) -> &'static str {
        use Prim::*;
        match self {
            Add => "a + b",
            Sub => "a - b",
            Mul => "a b",
            Div => "a / b",
            Fma => "a b + c, rounded once",
            Neg => "-x",
            Abs => "the size of x, without its sign",
            Min => "the lesser of a and b; b where one is NaN",
            Max => "the greater of a and b; b where one is NaN",
            Floor => "the largest integer not above x",
            Round => "the nearest integer; of two, the even one",
            Flush => "x, but 0 where x is subnormal; keeps adjoints that fade away fast",
            StopGradient => "x; no derivative passes",
            Ceil => "the least integer not below x",
            Trunc => "x without its fraction",
            Sign => "-1 or 1 with the sign of x; zeros and NaN stay",
            CopySign => "the size of a with the sign of b",
            Relu => "x where it is positive, else 0",
            Clamp => "x moved into the range from lo to hi; hi where lo > hi",
            Rem => "the remainder of a / b with the quotient cut off: the sign of a (fmod of C)",
            Sqrt => "the square root",
            Exp => "e to the power x",
            Log => "the natural logarithm",
            Sin => "the sine",
            Cos => "the cosine",
            Tanh => "the hyperbolic tangent",
            Cbrt => "the cube root, of negative numbers too",
            Exp2 => "2 to the power x",
            Expm1 => "e^x - 1, without cancellation near 0",
            Log2 => "the logarithm to base 2",
            Log10 => "the logarithm to base 10",
            Log1p => "log(1 + x), without cancellation near 0",
            Tan => "the tangent",
            Asin => "the inverse of the sine, from -pi/2 to pi/2",
            Acos => "the inverse of the cosine, from 0 to pi",
            Atan => "the inverse of the tangent, from -pi/2 to pi/2",
            Atan2 => "the angle of the point with height a and width b, from -pi to pi",
            Sinh => "the hyperbolic sine",
            Cosh => "the hyperbolic cosine",
            Asinh => "the inverse of the hyperbolic sine",
            Acosh => "the inverse of the hyperbolic cosine, for x >= 1",
            Atanh => "the inverse of the hyperbolic tangent, for -1 <= x <= 1",
            Pow => "a to the power b; NaN for negative a unless b is an integer",
            PowI => "x to an integer power; 0^0 is 1",
            Hypot => "the root of a^2 + b^2, without overflow",
            LogAddExp => "log(e^a + e^b), without overflow",
            XLogY => "x log(z), and 0 where x is 0",
            Erf => "the error function",
            Erfc => "1 - erf(x), without cancellation",
            NormCdf => "the distribution function of the standard normal",
            NormInv => "the inverse of normcdf, for p from 0 to 1",
            LGamma => "the logarithm of the size of the gamma function",
            PolyGamma => "the derivative of order n of digamma; digamma itself for n = 0",
            Sigmoid => "1 / (1 + e^-x)",
            Softplus => "log(1 + e^x)",
            Lt | ILt => "whether a < b",
            Le | ILe => "whether a <= b",
            Gt | IGt => "whether a > b",
            Ge | IGe => "whether a >= b",
            Eq | IEq => "whether a equals b",
            Ne | INe => "whether a differs from b",
            And => "whether both hold",
            Or => "whether one holds",
            Not => "whether it does not hold",
            Select => "b where a holds, else c",
            IAdd => "a + b; overflow is an error",
            ISub => "a - b; overflow is an error",
            IMul => "a b; overflow is an error",
            IDiv => "a / b rounded down; division by zero is an error",
            IMod => "the remainder of that division, with the sign of b",
            INeg => "-x; overflow is an error",
            IMin => "the lesser",
            IMax => "the greater",
            WAdd => "a + b modulo 2^64",
            WSub => "a - b modulo 2^64",
            WMul => "a b modulo 2^64",
            UMulH => "the upper 64 bits of the product of two unsigned integers",
            IAnd => "the bits set in both",
            IOr => "the bits set in one",
            IXor => "the bits set in one alone",
            Shl => "a shifted left by b bits, b taken modulo 64",
            Shr => "a shifted right by b bits, b taken modulo 64, zeros coming in",
            Sar => "a shifted right by b bits, b taken modulo 64, the sign coming in",
            IToF => "the nearest double",
            FToI => "x without its fraction; the nearest integer there is, 0 for NaN",
            Bits => "the bits of a double; those of every NaN are the same",
            FromBits => "the double with these bits",
            Demote => "the nearest single-precision number",
            Promote => "the same number as a double",
        }
    }

    /// Why no derivative passes through it, for rows without one.
    pub fn no_derivative(self) -> Option<&'static str> {
        let (_, output) = self.signature().split_once('>').unwrap_or_default();
        match self {
            _ if self.class() != Class::Zero => None,
            Prim::StopGradient => Some("that is what it is for"),
            Prim::IToF | Prim::FromBits => Some("integers carry no derivative"),
            _ if output == "f" => Some("piecewise constant"),
            _ => Some("the result is not a float"),
        }
    }

    /// What its derivative is where there is none: at kinks, jumps and ends.
    pub fn at_kinks(self) -> Option<&'static str> {
        use Prim::*;
        Some(match self {
            Abs | Relu => "0 at 0",
            CopySign => "0 where a is 0",
            Min | Max => "a tie goes wholly to b",
            Clamp => "a tie goes to x",
            Rem => "at a jump, the slope beside it",
            Hypot | Atan2 => "0 at the origin",
            Pow => "by b, 0 where a is 0 and b is not negative; 0 by both at 0^0",
            PowI => "0 at 0^0",
            LogAddExp => "1/2 by each of two equal infinities",
            Sqrt | Cbrt => "infinite at 0",
            Asin | Acos | Atanh => "infinite at -1 and 1",
            Acosh => "infinite at 1",
            _ => return None,
        })
    }
}

impl ArrayOp {
    /// One of each, as they are listed in documentation.
    pub fn samples() -> Vec<ArrayOp> {
        use ArrayOp::*;
        vec![
            Peek,
            Poke,
            Slice,
            Put,
            AddSlice,
            Reshape,
            Transpose([1, 0].into()),
            Expand(0),
            Sum(None),
            Sum(Some(0)),
            CumSum(0, Direction::Forward),
            CumSum(0, Direction::Backward),
            Dot,
            Gemm(Transposed::Yes, Transposed::No),
            Gather,
            ScatterAdd,
            ArgMax,
            ArgMin,
            ArgSort,
            Conform(Check::Row(Prim::Add)),
            Refill,
        ]
    }

    /// Its operands, and what it does with them.
    pub fn about(&self) -> (&'static str, &'static str) {
        use ArrayOp::*;
        match self {
            Peek => ("x, k", "element k in row-major order"),
            Poke => ("x, k, v", "x with v as element k in row-major order"),
            Slice => ("x, start, count, step ..", "part of x: three integers per axis"),
            Put => ("x, start, count, step .., v", "x with v in place of that part"),
            AddSlice => ("x, start, count, step .., v", "x with v added to that part"),
            Reshape => ("x, n ..", "the same elements in another shape"),
            Transpose(_) => ("x", "the axes in another order"),
            Expand(_) => ("x, n", "x repeated n times along a new axis"),
            Sum(None) => ("x", "the sum of all elements"),
            Sum(Some(_)) => ("x", "sums along one axis"),
            CumSum(_, Direction::Forward) => {
                ("x", "sums of all elements up to each, along an axis")
            }
            CumSum(_, Direction::Backward) => {
                ("x", "sums of all elements from each on, along an axis")
            }
            Dot => ("a, b", "the sum of products of elements"),
            Gemm(..) => {
                ("c, a, b", "c plus the product of matrices, either transposed (`t`) or not (`n`)")
            }
            Gather => ("x, idx", "the elements (rows, ..) of x that idx lists"),
            ScatterAdd => ("x, idx, v", "x with each v[k] added to element idx[k]"),
            ArgMax => ("x", "where the largest element is: the first of equals"),
            ArgMin => ("x", "where the smallest element is: the first of equals"),
            ArgSort => ("x", "the order that sorts a vector"),
            Conform(_) => {
                ("x, y", "nothing, but the error of that operation where shapes do not fit")
            }
            Refill => ("x, v", "x with every element v"),
        }
    }

    /// Where the adjoint of its result goes. Empty where none passes.
    pub fn adjoint(&self) -> &'static str {
        use ArrayOp::*;
        match self {
            Peek => "is added to element k of the adjoint of x",
            Poke | Put => "its part goes to v and is zero for x from there on",
            Slice => "is added to that part of the adjoint of x (`add_slice`)",
            AddSlice => "goes to x whole, and its part to v (`slice`)",
            Reshape => "is reshaped back",
            Transpose(_) => "is transposed back",
            Expand(_) => "is summed along the new axis (`sum`)",
            Sum(_) => "is repeated along what was summed (`expand`)",
            CumSum(..) => "is summed up from the other end",
            Dot => "times b goes to a, times a goes to b",
            Gemm(..) => "goes to c whole; times b transposed to a; a transposed times it to b",
            Gather => "is added to the elements listed (`scatter_add`)",
            ScatterAdd => "goes to x whole, and its elements listed to v (`gather`)",
            Refill => "is summed for v, and is zero for x",
            ArgMax | ArgMin | ArgSort | Conform(_) => "",
        }
    }

    /// Why no derivative passes through it, for rows without one.
    pub fn no_derivative(&self) -> Option<&'static str> {
        match self {
            ArrayOp::Conform(_) => Some("there is no result"),
            _ if self.is_zero() => Some("the result is made of integers, which change in jumps"),
            _ => None,
        }
    }
}
