//! Elementary functions for the hand-written adjoints.
//!
//! The same methods as the programs in the compiler's own math library (short latency, fused
//! multiply-add, at most 1.5 ulp), written in Rust so that they inline into the hand-written
//! loops. Meant for builds with hardware `fma`; without it they are right but slow.

/// 1.5 * 2^52: adding it rounds to an integer and leaves that integer in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// pi/2 in three parts of 53, 33 and 53 bits.
const PIO2: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.12323399538461e-17, 3.5215598651832e-27];
/// Below this the three-part reduction is accurate.
const REDUCE_LIMIT: f64 = 1.0e6;

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let ax = x.abs();
    if ax < 0.9 {
        // x + x^3 P(x^2) / Q(x^2); the fma with +0 keeps tanh(-0) = -0
        let z = x * x;
        let z2 = z * z;
        let xz = x.mul_add(z, 0.0);
        let p0 = z.mul_add(-0.06423708278571469, -1.0);
        let p1 = z.mul_add(-5.193477463090182e-08, -0.0007302456843328979);
        let q0 = z.mul_add(1.3927112483571435, 3.0);
        let q1 = z.mul_add(0.0007633498349077354, 0.07356095068158265);
        let p = z2.mul_add(p1, p0);
        let q = z2.mul_add(q1, q0);
        x + xz * p / q
    } else {
        tanh_far(x, ax)
    }
}

/// exp(2 ax) as scale (1 + em1), for `0 <= ax <= 20`: `(em1, scale)`.
#[inline(always)]
fn exp_twice(ax: f64) -> (f64, f64) {
    let kd = ax.mul_add(2.0 * std::f64::consts::LOG2_E, MAGIC);
    let n = kd - MAGIC;
    let r = n.mul_add(-std::f64::consts::LN_2, ax + ax);
    let scale = f64::from_bits((kd.to_bits() << 52).wrapping_add(1.0f64.to_bits()));
    let r2 = r * r;
    let r4 = r2 * r2;
    let e0 = r.mul_add(0.1666666666666642, 0.5000000000000011);
    let e1 = r.mul_add(0.008333333333490218, 0.041666666666526596);
    let e2 = r.mul_add(0.0001984126951649935, 0.001388888894451334);
    let e3 = r.mul_add(2.7557576800090774e-06, 2.480149221124442e-05);
    let e4 = r.mul_add(2.5003327706230185e-08, 2.7630560280471973e-07);
    let g = r4.mul_add(r4.mul_add(e4, r2.mul_add(e3, e2)), r2.mul_add(e1, e0));
    (r2.mul_add(g, r), scale)
}

/// `tanh` for `|x| >= 0.9`: sign(x) (1 - 2 / (exp(2|x|) + 1)).
#[inline(always)]
fn tanh_far(x: f64, ax: f64) -> f64 {
    let one = 1.0f64.copysign(x);
    if ax < 20.0 {
        let (em1, scale) = exp_twice(ax);
        one - (one + one) / scale.mul_add(em1, scale + 1.0)
    } else if x.is_nan() {
        x
    } else {
        one
    }
}

/// Hyperbolic tangent of each element, without branches: em1 / (em1 + 2) with em1 = exp(2|x|) - 1.
#[inline(always)]
pub fn tanh_lanes<const N: usize>(x: &mut [f64; N]) {
    for x in x {
        let ax = if x.abs() > 20.0 { 20.0 } else { x.abs() };
        let (em1, scale) = exp_twice(ax);
        let em1 = scale.mul_add(em1, scale - 1.0);
        *x = (em1 / (em1 + 2.0)).copysign(*x);
    }
}

/// x = n pi/2 + r + rl for `|x| < REDUCE_LIMIT`: `(r, rl, bits whose low bits are n)`.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64, u64) {
    let kd = x.mul_add(std::f64::consts::FRAC_2_PI, MAGIC);
    let n = kd - MAGIC;
    let rh = n.mul_add(-PIO2[0], x);
    let np = n * PIO2[1];
    let r = rh - np;
    let rl = n.mul_add(-PIO2[2], (rh - r) - np);
    (r, rl, kd.to_bits())
}

/// `sin(r + rl)` for `|r| <= pi/4`, given z = r^2.
#[inline(always)]
fn sin_kernel(r: f64, rl: f64, z: f64) -> f64 {
    let z2 = z * z;
    let rz = r.mul_add(z, 0.0);
    let p0 = z.mul_add(0.008333333333321898, -0.1666666666666663);
    let p1 = z.mul_add(2.7557313570498283e-06, -0.00019841269829431722);
    let p2 = z.mul_add(1.589580555011928e-10, -2.5050740180718966e-08);
    let p = z2.mul_add(z2.mul_add(p2, p1), p0);
    r + rz.mul_add(p, rl)
}

/// `cos(r + rl)` for `|r| <= pi/4`, given z = r^2.
#[inline(always)]
fn cos_kernel(r: f64, rl: f64, z: f64) -> f64 {
    let z2 = z * z;
    let head = z.mul_add(-0.5, 1.0);
    let tail = (-r).mul_add(rl, z.mul_add(-0.5, 1.0 - head));
    let p0 = z.mul_add(-0.0013888888888874459, 0.0416666666666666);
    let p1 = z.mul_add(-2.755731439375834e-07, 2.4801587289653715e-05);
    let p2 = z.mul_add(-1.1359857818710249e-11, 2.0875728035958986e-09);
    let p = z2.mul_add(z2.mul_add(p2, p1), p0);
    head + z2.mul_add(p, tail)
}

/// Sine and cosine together.
#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    let ax = x.abs();
    if ax <= std::f64::consts::FRAC_PI_4 {
        let z = x * x;
        (sin_kernel(x, -0.0, z), cos_kernel(x, -0.0, z))
    } else if ax < REDUCE_LIMIT {
        sin_cos_mid(x)
    } else {
        far(x)
    }
}

/// Sine. The parity of the quadrant is a branch, so only one polynomial is evaluated.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let ax = x.abs();
    if ax <= std::f64::consts::FRAC_PI_4 {
        return sin_kernel(x, -0.0, x * x);
    }
    if ax >= REDUCE_LIMIT || ax.is_nan() {
        return far(x).0;
    }
    let (r, rl, n) = reduce(x);
    let sign = f64::from_bits(1.0f64.to_bits() | (n & 2) << 62);
    if n & 1 == 0 {
        sin_kernel(r * sign, rl * sign, r * r)
    } else {
        sign * cos_kernel(r, rl, r * r)
    }
}

/// Sine and cosine for `|x| < 1e6` without branches: a loop of these vectorises.
#[inline(always)]
pub fn sin_cos_mid(x: f64) -> (f64, f64) {
    let (r, rl, n) = reduce(x);
    let z = r * r;
    let s = sin_kernel(r, rl, z).to_bits();
    let c = cos_kernel(r, rl, z).to_bits();
    // odd quadrants swap the two; bit 1 of n and of n + 1 are the signs
    let swap = (s ^ c) & (n & 1).wrapping_neg();
    let sin = (s ^ swap) ^ (n & 2) << 62;
    let cos = (c ^ swap) ^ (n.wrapping_add(1) & 2) << 62;
    (f64::from_bits(sin), f64::from_bits(cos))
}

/// Sine and cosine of a block, element by element.
#[inline(always)]
pub fn sin_cos_block<const N: usize>(x: &[f64; N], sin: &mut [f64; N], cos: &mut [f64; N]) {
    let mut near = true;
    for v in x {
        near &= v.abs() < REDUCE_LIMIT;
    }
    if near {
        for i in 0..N {
            (sin[i], cos[i]) = sin_cos_mid(x[i]);
        }
    } else {
        for i in 0..N {
            (sin[i], cos[i]) = sin_cos(x[i]);
        }
    }
}

/// Sine and cosine of huge arguments, infinities and NaN.
#[cold]
fn far(x: f64) -> (f64, f64) {
    x.sin_cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of the expected value.
    fn ulps(got: f64, want: f64) -> f64 {
        if got == want {
            return 0.0;
        }
        let ulp = f64::from_bits(want.abs().to_bits() + 1) - want.abs();
        (got - want).abs() / ulp
    }

    #[test]
    fn agree_with_the_platform() {
        for i in -200_000..200_000 {
            let x = f64::from(i) * 1.37e-4;
            assert!(ulps(tanh(x), x.tanh()) <= 3.0, "tanh {x}");
            let (s, c) = sin_cos(x);
            assert!(ulps(s, x.sin()) <= 2.0 && ulps(c, x.cos()) <= 2.0, "sin_cos {x}");
            assert!(ulps(sin(x), x.sin()) <= 2.0, "sin {x}");
            let mut lanes = [x; 4];
            tanh_lanes(&mut lanes);
            assert!(lanes.iter().all(|t| ulps(*t, x.tanh()) <= 4.0), "tanh_lanes {x}");
            assert!(ulps(sin_cos_mid(x).1, x.cos()) <= 2.0, "sin_cos_mid {x}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(tanh(f64::INFINITY), 1.0);
        assert_eq!(tanh(f64::NEG_INFINITY), -1.0);
        assert!(tanh(f64::NAN).is_nan() && sin(f64::NAN).is_nan() && sin(f64::INFINITY).is_nan());
        assert!(tanh(-0.0).is_sign_negative() && sin(-0.0).is_sign_negative());
        assert_eq!(sin(1e22), 1e22f64.sin());
    }
}
