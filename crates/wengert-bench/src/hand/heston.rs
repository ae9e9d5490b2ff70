//! Workload e by hand: the price of a call option under Heston's model, by simulation.
//!
//! A step keeps one number, s = sqrt(vp dt): the way back gets vp = s^2 / dt from it by a product, so the way
//! forward has the square root and the way back the one division. What is kept of a path stays in the
//! first-level cache, because a path goes forward and back before the next begins.
//!
//! [`lanes_grad`] runs [`LANES`] paths side by side, one step of all of them at a time, branches becoming
//! selections; its normal numbers lie the same way. [`scalar_grad`] runs one path after the other, in the order the
//! program is written in, and leaves out the way back of paths that end worthless.

use crate::data::{HESTON_POINT, HESTON_RATE};

/// Paths side by side: two vectors of four. With more of them, the sums no longer fit into registers.
pub const LANES: usize = 8;

const DT: f64 = 1.0 / 252.0;
const STRIKE: f64 = 100.0;
const FLOOR: f64 = 1e-6;

/// Value, and gradient in (v0, kappa, theta, xi, rho).
pub type Result = (f64, [f64; 5]);

/// Two rows of normal numbers per path as rows of [`LANES`] paths per step, the first and the second numbers in
/// turn. The last group is filled up with zeros.
pub fn side_by_side(z1: &[f64], z2: &[f64], steps: usize) -> Vec<[[f64; LANES]; 2]> {
    let paths = z1.len() / steps;
    let mut rows = vec![[[0.0; LANES]; 2]; paths.div_ceil(LANES) * steps];
    for p in 0..paths {
        for t in 0..steps {
            let row = &mut rows[p / LANES * steps + t];
            row[0][p % LANES] = z1[p * steps + t];
            row[1][p % LANES] = z2[p * steps + t];
        }
    }
    rows
}

dispatch! {
    /// Value and gradient, [`LANES`] paths at a time. The tape is kept from call to call.
    lanes_grad = lanes_body(z: &[[[f64; LANES]; 2]], paths: usize, steps: usize, tape: &mut Vec<[f64; LANES]>) -> Result
}

#[inline(always)]
fn lanes_body(
    z: &[[[f64; LANES]; 2]],
    paths: usize,
    steps: usize,
    tape: &mut Vec<[f64; LANES]>,
) -> Result {
    let [v0, kappa, theta, xi, rho] = HESTON_POINT;
    let other = (1.0 - rho * rho).sqrt();
    let slope = rho / other;
    let scale = (-HESTON_RATE).exp() / paths as f64;
    let least = (FLOOR * DT).sqrt();
    tape.resize(steps, [0.0; LANES]);
    let mut total = 0.0;
    let mut sums = [[0.0; LANES]; 5];
    for (group, z) in z.chunks_exact(steps).enumerate() {
        let mut x = [STRIKE.ln(); LANES];
        let mut v = [v0; LANES];
        for (z, kept) in z.iter().zip(tape.iter_mut()) {
            for l in 0..LANES {
                let vp = v[l].max(FLOOR);
                let s = (vp * DT).sqrt();
                kept[l] = s;
                x[l] += s.mul_add(z[0][l], vp.mul_add(-0.5 * DT, HESTON_RATE * DT));
                let w = rho.mul_add(z[0][l], other * z[1][l]);
                let drift = vp.mul_add(-kappa * DT, v[l] + kappa * theta * DT);
                v[l] = (xi * w).mul_add(s, drift);
            }
        }
        // The adjoint of X is the same in all steps.
        let mut xb = [0.0; LANES];
        for l in 0..LANES.min(paths - group * LANES) {
            let price = x[l].exp();
            if price > STRIKE {
                total += price - STRIKE;
                xb[l] = scale * price;
            }
        }
        if xb == [0.0; LANES] {
            continue;
        }
        let mut vb = [0.0f64; LANES];
        let [_, kappas, thetas, xis, rhos] = &mut sums;
        for (z, kept) in z.iter().zip(tape.iter()).rev() {
            for l in 0..LANES {
                let s = kept[l];
                let vp = s * s * (1.0 / DT);
                let w = rho.mul_add(z[0][l], other * z[1][l]);
                let vs = vb[l] * s;
                kappas[l] = vb[l].mul_add(theta - vp, kappas[l]);
                thetas[l] += vb[l];
                xis[l] = vs.mul_add(w, xis[l]);
                rhos[l] = vs.mul_add((-slope).mul_add(z[1][l], z[0][l]), rhos[l]);
                let sb = (vb[l] * xi).mul_add(w, xb[l] * z[0][l]);
                let own = xb[l].mul_add(-0.5 * DT, vb[l] * (-kappa * DT));
                let vpb = sb.mul_add(0.5 * DT / s, own);
                vb[l] += if s > least { vpb } else { 0.0 };
            }
        }
        for l in 0..LANES {
            sums[0][l] += vb[l];
        }
    }
    let [v0b, kappab, thetab, xib, rhob] = sums.map(|s| s.iter().sum::<f64>());
    (total * scale, [v0b, kappab * DT, thetab * kappa * DT, xib, rhob * xi])
}

dispatch! {
    /// Value and gradient, one path after the other; the normal numbers have a row per path.
    scalar_grad = scalar_body(z1: &[f64], z2: &[f64], steps: usize, tape: &mut Vec<f64>) -> Result
}

#[inline(always)]
fn scalar_body(z1: &[f64], z2: &[f64], steps: usize, tape: &mut Vec<f64>) -> Result {
    let [v0, kappa, theta, xi, rho] = HESTON_POINT;
    let other = (1.0 - rho * rho).sqrt();
    let slope = rho / other;
    let paths = z1.len() / steps;
    let scale = (-HESTON_RATE).exp() / paths as f64;
    let least = (FLOOR * DT).sqrt();
    tape.resize(steps, 0.0);
    let mut total = 0.0;
    let [mut v0b, mut kappab, mut thetab, mut xib, mut rhob] = [0.0f64; 5];
    for (z1, z2) in z1.chunks_exact(steps).zip(z2.chunks_exact(steps)) {
        let (mut x, mut v) = (STRIKE.ln(), v0);
        for ((&z1, &z2), kept) in z1.iter().zip(z2).zip(tape.iter_mut()) {
            let vp = v.max(FLOOR);
            let s = (vp * DT).sqrt();
            *kept = s;
            x += s.mul_add(z1, vp.mul_add(-0.5 * DT, HESTON_RATE * DT));
            let w = rho.mul_add(z1, other * z2);
            let drift = vp.mul_add(-kappa * DT, v + kappa * theta * DT);
            v = (xi * w).mul_add(s, drift);
        }
        let price = x.exp();
        if price <= STRIKE {
            continue;
        }
        total += price - STRIKE;
        let xb = scale * price;
        let mut vb = 0.0f64;
        for ((&z1, &z2), &s) in z1.iter().zip(z2).zip(tape.iter()).rev() {
            let vp = s * s * (1.0 / DT);
            let w = rho.mul_add(z1, other * z2);
            let vs = vb * s;
            kappab = vb.mul_add(theta - vp, kappab);
            thetab += vb;
            xib = vs.mul_add(w, xib);
            rhob = vs.mul_add((-slope).mul_add(z2, z1), rhob);
            // Everything but the adjoint of v is known ahead, so the chain is one multiply-add deep.
            let root = 0.5 * DT / s;
            let (mut keep, mut add) = (0.0, 0.0);
            if s > least {
                keep = (xi * w).mul_add(root, -kappa * DT);
                add = xb * z1.mul_add(root, -0.5 * DT);
            }
            vb = (1.0 + keep).mul_add(vb, add);
        }
        v0b += vb;
    }
    (total * scale, [v0b, kappab * DT, thetab * kappa * DT, xib, rhob * xi])
}
