//! Where functions are compared: of any size, and denser where programs go wrong: near zeros and poles,
//! where a program switches from one method to another, in the tails, at the ends of the range.

use std::f64::consts::{FRAC_PI_4, LN_2, SQRT_2};
use wengert_core::check::Random;
use wengert_core::ops::{Prim, Scalar};

/// An endless row of inputs of one function.
pub struct Points {
    prim: Prim,
    random: Random,
}

/// Ranges and places to look at, for the functions of one float.
fn places(prim: Prim) -> (&'static [(f64, f64)], &'static [f64]) {
    match prim {
        Prim::Ceil | Prim::Trunc | Prim::Sign | Prim::Relu => {
            (&[(-10.0, 10.0), (-1e16, 1e16)], &[0.0, 0.5, 1.0, 2.5, 4503599627370496.0])
        }
        Prim::Sqrt | Prim::Cbrt => (&[(0.0, 10.0), (0.0, 1e300)], &[1.0, 2.0, 8.0, 1e-308]),
        Prim::Exp => (&[(-1.0, 1.0), (-745.2, -700.0), (700.0, 709.79), (-750.0, 710.0)], &[0.0]),
        Prim::Exp2 => (&[(-1.0, 1.0), (-1075.0, -1000.0), (-1080.0, 1025.0)], &[0.0, 0.5, -1022.0]),
        Prim::Expm1 => (&[(-1.0, 1.0), (-40.0, 5.0), (-60.0, 710.0)], &[0.0, 0.55, -0.55, 709.78]),
        Prim::Log | Prim::Log2 | Prim::Log10 => {
            (&[(0.5, 2.0), (0.0, 100.0)], &[1.0, SQRT_2, 0.5 * SQRT_2, 2.0, 1e-308])
        }
        Prim::Log1p => (&[(-1.0, 1.0), (-1.0, 100.0)], &[0.0, -1.0, 0.414, -0.292, 1.0]),
        Prim::Sin | Prim::Cos | Prim::Tan => (
            &[(-1.0, 1.0), (-7.0, 7.0), (-1e3, 1e3), (-2e6, 2e6)],
            &[0.0, FRAC_PI_4, 2.0 * FRAC_PI_4, 4.0 * FRAC_PI_4, 1e6],
        ),
        Prim::Tanh => (&[(-1.0, 1.0), (-5.0, 5.0), (-25.0, 25.0)], &[0.0, 0.9, -0.9, 20.0]),
        Prim::Asin | Prim::Acos => (&[(-1.0, 1.0), (0.4, 0.6)], &[0.0, 0.5, -0.5, 1.0, -1.0]),
        Prim::Atan => (&[(-1.0, 1.0), (-10.0, 10.0)], &[0.0, 0.41421356, 1.0, 2.41421356, -1.0]),
        Prim::Sinh | Prim::Cosh => {
            (&[(-2.0, 2.0), (-30.0, 30.0), (-711.0, 711.0)], &[0.0, 1.0, -1.0, 710.475, 22.0])
        }
        Prim::Asinh => {
            (&[(-2.0, 2.0), (-1e3, 1e3), (0.0, 2e9)], &[0.0, 9.5367431640625e-7, 1.0, 1073741824.0])
        }
        Prim::Acosh => (&[(1.0, 2.0), (1.0, 1e3), (1.0, 2e9)], &[1.0, 2.0, 1073741824.0]),
        Prim::Atanh => (&[(-1.0, 1.0)], &[0.0, 9.5367431640625e-7, 1.0, -1.0, 0.5]),
        Prim::Erf => (&[(-1.0, 1.0), (-6.5, 6.5)], &[0.0, 0.48, -0.48, 6.0]),
        Prim::Erfc => (&[(-1.0, 1.0), (-7.0, 28.0), (26.0, 27.3)], &[0.0, 0.47, -0.47, 26.5]),
        Prim::NormCdf => (&[(-2.0, 2.0), (-39.0, 9.0), (-38.6, -37.0)], &[0.0, 0.5, -0.5, -0.68]),
        Prim::NormInv => (&[(0.0, 1.0), (0.0, 0.2), (0.1, 0.14)], &[0.5, 0.12, 0.88, 1.0, 1e-9]),
        Prim::LGamma => {
            (&[(-0.5, 4.0), (0.0, 20.0), (-30.0, 0.0)], &[0.0, 1.0, 2.0, 0.5, 1.5, 3.0, 8.0, -1.0])
        }
        Prim::Sigmoid => (&[(-5.0, 5.0), (-45.0, 40.0), (-746.0, -700.0)], &[0.0, -40.0, -36.7]),
        Prim::Softplus => (&[(-5.0, 5.0), (-45.0, 40.0), (-746.0, 710.0)], &[0.0, -37.0, 36.0]),
        _ => (&[(-10.0, 10.0)], &[0.0, 1.0]),
    }
}

impl Points {
    pub fn new(prim: Prim) -> Points {
        Points { prim, random: Random(101 + prim as u64) }
    }

    /// The next inputs, all finite.
    pub fn next(&mut self) -> Vec<Scalar> {
        let floats = |x: &[f64]| x.iter().copied().map(Scalar::F64).collect();
        match self.prim {
            Prim::Atan2 | Prim::Hypot | Prim::Rem | Prim::CopySign => floats(&self.pair()),
            Prim::Clamp => {
                let [a, b] = self.pair();
                floats(&[self.any(), a, b])
            }
            Prim::Pow => floats(&self.power()),
            Prim::PowI => {
                let [x, y] = self.power();
                let n = if self.random.below(2) == 0 { y } else { self.random.float(-5.0, 7.0) };
                vec![Scalar::F64(x), Scalar::I64(n.round() as i64)]
            }
            Prim::LogAddExp => floats(&self.terms()),
            Prim::XLogY => {
                let z = if self.random.below(2) == 0 { self.random.float(0.5, 2.0) } else { self.one().abs() };
                floats(&[self.any(), z])
            }
            Prim::PolyGamma => {
                let n =
                    if self.random.below(2) == 0 { 0 } else { 1 + self.random.below(20) as i64 };
                vec![Scalar::I64(n), Scalar::F64(self.gamma())]
            }
            Prim::LGamma if self.random.below(2) == 0 => floats(&[self.gamma()]),
            Prim::LGamma => {
                // Far below 0, MPFR takes more and more bits.
                let x = self.one();
                floats(&[if x < -1e4 { -x } else { x }])
            }
            Prim::NormInv => {
                let x = self.one().abs();
                floats(&[if x > 1.0 { 1.0 / x } else { x }])
            }
            _ => floats(&[self.one()]),
        }
    }

    /// A number of any size.
    fn any(&mut self) -> f64 {
        loop {
            let x = f64::from_bits(self.random.bits());
            if x.is_finite() {
                return x;
            }
        }
    }

    fn subnormal(&mut self) -> f64 {
        f64::from_bits(self.random.bits() & 0x800f_ffff_ffff_ffff)
    }

    /// A number at a distance from `c` that is a power of two: few units in the last place, or far.
    fn beside(&mut self, c: f64) -> f64 {
        let size = if c == 0.0 { 1.0 } else { c.abs() };
        let far = self.random.float(-1.0, 1.0) * 2f64.powf(self.random.float(-54.0, -1.0));
        c + size * far
    }

    /// The input of a function of one float.
    fn one(&mut self) -> f64 {
        let (ranges, places) = places(self.prim);
        let pick = |random: &mut Random, n: usize| random.below(n as u64) as usize;
        match self.random.below(16) {
            0 | 1 => self.any(),
            2 => self.subnormal(),
            3..=9 => {
                let (lo, hi) = ranges[pick(&mut self.random, ranges.len())];
                self.random.float(lo, hi)
            }
            // Of any size, about 1.
            10 | 11 => {
                let size = 2f64.powf(self.random.float(-40.0, 12.0));
                if self.random.below(2) == 0 { size } else { -size }
            }
            12 => {
                // Where arguments are reduced: multiples of pi/4, of ln2/2, roots of powers of two.
                let k = self.random.float(-1.0, 1.0) * 2f64.powf(self.random.float(0.0, 21.0));
                let step = [FRAC_PI_4, LN_2 / 2.0, 0.5][pick(&mut self.random, 3)];
                let c = match self.prim {
                    Prim::Log | Prim::Log2 | Prim::Log10 | Prim::Cbrt | Prim::Sqrt => {
                        2f64.powi((k % 1000.0) as i32) * if k < 0.0 { SQRT_2 } else { 1.0 }
                    }
                    _ => k.round() * step,
                };
                self.beside(c)
            }
            _ => {
                let c = places[pick(&mut self.random, places.len())];
                self.beside(c)
            }
        }
    }

    /// Inputs of the functions of the gamma family: by poles and zeros too.
    fn gamma(&mut self) -> f64 {
        match self.random.below(6) {
            0 => self.random.float(0.0, 3.0),
            1 => self.random.float(0.0, 40.0),
            2 => self.random.float(-30.0, 0.0),
            3 => {
                let c = -(self.random.below(20) as f64);
                self.beside(c)
            }
            // The zero of digamma.
            4 => self.beside(1.4616321449683622),
            _ => 2f64.powf(self.random.float(-30.0, 60.0)),
        }
    }

    /// Two numbers: of any size each, or of sizes that matter to each other.
    fn pair(&mut self) -> [f64; 2] {
        let a = match self.random.below(4) {
            0 => self.any(),
            1 => self.subnormal(),
            _ => self.random.float(-10.0, 10.0),
        };
        let b = match self.random.below(5) {
            0 => self.any(),
            1 => self.random.float(-10.0, 10.0),
            2 => a * 2f64.powf(self.random.float(-60.0, 60.0)),
            // Where the programs switch: equal sizes, and the tangents of pi/8 and 3 pi/8.
            3 => {
                let ratio = [1.0, -1.0, 0.41421356, 2.41421356][self.random.below(4) as usize];
                self.beside(a * ratio)
            }
            _ => a * self.random.float(-3.0, 3.0),
        };
        [a, if b.is_finite() { b } else { 1.0 }]
    }

    /// A base and an exponent, mostly such that the power is a number.
    fn power(&mut self) -> [f64; 2] {
        let base = match self.random.below(5) {
            0 => self.any().abs(),
            1 => self.beside(1.0),
            2 => self.subnormal().abs(),
            _ => self.random.float(0.0, 10.0),
        };
        let sign = if self.random.below(8) == 0 { -1.0 } else { 1.0 };
        let size = base.log2();
        let exponent = match self.random.below(6) {
            0 => self.any(),
            1 => self.random.float(-5.0, 5.0),
            2 => self.random.float(-40.0, 40.0).round(),
            3 => self.random.float(-1080.0, -1000.0) / size,
            _ => self.random.float(-1080.0, 1030.0) / size,
        };
        let exponent = if exponent.is_finite() { exponent } else { 2.0 };
        [base * sign, if sign < 0.0 { exponent.round() } else { exponent }]
    }

    /// Two exponents, some of them with powers that add up to almost 1.
    fn terms(&mut self) -> [f64; 2] {
        let a = match self.random.below(4) {
            0 => self.any(),
            1 => self.random.float(-750.0, 750.0),
            _ => self.random.float(-5.0, 5.0),
        };
        let b = match self.random.below(5) {
            0 => self.any(),
            1 => self.random.float(-750.0, 750.0),
            2 => self.beside(a),
            3 => self.beside((-(-a.abs()).exp()).ln_1p()),
            _ => a + self.random.float(-40.0, 40.0),
        };
        let a = if a > 0.0 && self.random.below(2) == 0 { -a } else { a };
        [a, if b.is_finite() { b } else { 0.0 }]
    }
}
