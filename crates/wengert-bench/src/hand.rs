//! Hand-written adjoints of the benchmark's workloads: the baselines to beat.
//!
//! Every workload has its primal (`*_value`) and its value with the gradient (`*_grad`), written
//! out by hand for one core, in double precision. Tapes live in vectors that the caller keeps, so
//! that repeated calls do not allocate. Each function picks at run time between a build for AVX2
//! with FMA and the plain build of the same body. What works on matrices, plates and many paths is in
//! files of its own, each of which says why it is fast.

use crate::hand_math::{sin, sin_cos, sin_cos_block, tanh};

/// Defines a public function that runs `body` compiled for AVX2 and FMA where the machine has
/// them, and compiled plainly otherwise.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $ty:ty),*) -> $ret:ty) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) -> $ret {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn fused($($arg: $ty),*) -> $ret {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: both features were detected on this machine just above.
                    return unsafe { fused($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

pub mod adam;
mod dense;
pub mod heat;
pub mod heston;
pub mod rnn;
pub mod solvers;

/// Resizes a tape without clearing what it holds.
#[inline(always)]
fn sized(tape: &mut Vec<f64>, len: usize) -> &mut [f64] {
    if tape.len() < len {
        tape.resize(len, 0.0);
    }
    &mut tape[..len]
}

dispatch! {
    /// Workload a, primal: the mean of h_1..h_n for h = tanh(w h + b); `p` is (w, b, h_0).
    a_value = a_value_body(p: [f64; 3], n: usize) -> f64
}

#[inline(always)]
fn a_value_body([w, b, mut h]: [f64; 3], n: usize) -> f64 {
    let mut sum = 0.0;
    for _ in 0..n {
        h = tanh(w.mul_add(h, b));
        sum += h;
    }
    sum / n as f64
}

dispatch! {
    /// Workload a, value and gradient in (w, b, h_0). The tape holds h_0..h_n.
    a_grad = a_grad_body(p: [f64; 3], n: usize, tape: &mut Vec<f64>) -> (f64, [f64; 3])
}

#[inline(always)]
fn a_grad_body([w, b, mut h]: [f64; 3], n: usize, tape: &mut Vec<f64>) -> (f64, [f64; 3]) {
    let tape = sized(tape, n + 1);
    let mut sum = 0.0;
    tape[0] = h;
    for slot in &mut tape[1..] {
        h = tanh(w.mul_add(h, b));
        *slot = h;
        sum += h;
    }
    let seed = 1.0 / n as f64;
    let (mut wb, mut bb, mut hb) = (0.0f64, 0.0, seed);
    for &prev in tape[..n].iter().rev() {
        // slope = dh/du; the factor w is applied to it first, so that the serial chain is one fma
        let slope = (-h).mul_add(h, 1.0);
        let ub = hb * slope;
        wb = ub.mul_add(prev, wb);
        bb += ub;
        hb = (w * slope).mul_add(hb, seed);
        h = prev;
    }
    // the last step back added the seed of h_0, which the sum does not contain
    (sum / n as f64, [wb, bb, hb - seed])
}

dispatch! {
    /// Workload a0, primal: h_n for h = tanh(w h + b); `p` is (w, b) and `h` the start.
    a0_value = a0_value_body(p: [f64; 2], h: f64, n: usize) -> f64
}

#[inline(always)]
fn a0_value_body([w, b]: [f64; 2], mut h: f64, n: usize) -> f64 {
    for _ in 0..n {
        h = tanh(w.mul_add(h, b));
    }
    h
}

/// Nonzero below the normal range: one integer comparison, away from the arithmetic.
#[inline(always)]
fn is_subnormal(x: f64) -> bool {
    (x.to_bits() << 1).wrapping_sub(1) < (f64::MIN_POSITIVE.to_bits() << 1) - 1
}

/// Zero, kept out of line so that flushing stays a branch that is never taken and not a select in
/// the serial chain.
#[cold]
#[inline(never)]
fn flushed() -> f64 {
    0.0
}

dispatch! {
    /// Workload a0, value and gradient in (w, b). The tape holds h_0..h_n. The carried adjoint is
    /// set to zero when it becomes subnormal, since subnormal arithmetic is slow.
    a0_grad = a0_grad_body(p: [f64; 2], h: f64, n: usize, tape: &mut Vec<f64>) -> (f64, [f64; 2])
}

#[inline(always)]
fn a0_grad_body([w, b]: [f64; 2], mut h: f64, n: usize, tape: &mut Vec<f64>) -> (f64, [f64; 2]) {
    let tape = sized(tape, n + 1);
    tape[0] = h;
    for slot in &mut tape[1..] {
        h = tanh(w.mul_add(h, b));
        *slot = h;
    }
    let (mut wb, mut bb, mut hb) = (0.0f64, 0.0, 1.0f64);
    let value = h;
    for &prev in tape[..n].iter().rev() {
        let slope = (-h).mul_add(h, 1.0);
        let ub = hb * slope;
        wb = ub.mul_add(prev, wb);
        bb += ub;
        hb *= w * slope;
        if is_subnormal(hb) {
            hb = flushed();
        }
        h = prev;
    }
    (value, [wb, bb])
}

/// A multiple c of the Lorenz right-hand side f and of its Jacobian, for one stage of the
/// Runge-Kutta step. Folding c into the parameters makes c f(s) + base two operations deep.
#[derive(Clone, Copy)]
struct Slope {
    c: f64,
    sigma: f64,
    rho: f64,
    beta: f64,
}

/// A state and what both `c f` and `c J` need there: c x, c y, c (rho - z) and y - x.
#[derive(Clone, Copy)]
struct Stage {
    s: [f64; 3],
    cx: f64,
    cy: f64,
    crz: f64,
    yx: f64,
}

impl Slope {
    #[inline(always)]
    fn new(c: f64, [sigma, rho, beta]: [f64; 3]) -> Slope {
        Slope { c, sigma: c * sigma, rho: c * rho, beta: c * beta }
    }

    #[inline(always)]
    fn at(&self, s: [f64; 3]) -> Stage {
        let crz = (-self.c).mul_add(s[2], self.rho);
        Stage { s, cx: self.c * s[0], cy: self.c * s[1], crz, yx: s[1] - s[0] }
    }

    /// `base + c f`.
    #[inline(always)]
    fn push(&self, g: &Stage, base: [f64; 3]) -> [f64; 3] {
        [
            self.sigma.mul_add(g.yx, base[0]),
            g.crz.mul_add(g.s[0], (-self.c).mul_add(g.s[1], base[1])),
            g.cx.mul_add(g.s[1], (-self.beta).mul_add(g.s[2], base[2])),
        ]
    }

    /// `base + c J^T v`.
    #[inline(always)]
    fn pull(&self, g: &Stage, v: [f64; 3], base: [f64; 3]) -> [f64; 3] {
        [
            g.cy.mul_add(v[2], g.crz.mul_add(v[1], (-self.sigma).mul_add(v[0], base[0]))),
            g.cx.mul_add(v[2], (-self.c).mul_add(v[1], self.sigma.mul_add(v[0], base[1]))),
            (-self.beta).mul_add(v[2], (-g.cx).mul_add(v[1], base[2])),
        ]
    }
}

/// The slopes of the four stages, times dt/2, dt/2, dt and dt/6.
#[inline(always)]
fn slopes(q: [f64; 3], dt: f64) -> [Slope; 4] {
    [0.5 * dt, 0.5 * dt, dt, dt / 6.0].map(|c| Slope::new(c, q))
}

/// The four stages of a step from `s`.
#[inline(always)]
fn stages(f: &[Slope; 4], s: [f64; 3]) -> [Stage; 4] {
    let g1 = f[0].at(s);
    let g2 = f[1].at(f[0].push(&g1, s));
    let g3 = f[2].at(f[1].push(&g2, s));
    let g4 = f[3].at(f[2].push(&g3, s));
    [g1, g2, g3, g4]
}

/// One classical Runge-Kutta step. The first three slopes are read off the stage states.
#[inline(always)]
fn rk4(f: &[Slope; 4], s: [f64; 3]) -> [f64; 3] {
    let [_, g2, g3, g4] = stages(f, s);
    let mut base = [0.0; 3];
    for j in 0..3 {
        let early = (g3.s[j] - s[j]).mul_add(2.0, g2.s[j] - s[j]);
        let early = early.mul_add(1.0 / 3.0, s[j]);
        base[j] = (g4.s[j] - s[j]).mul_add(1.0 / 3.0, early);
    }
    let last = [
        f[3].sigma * g4.yx,
        g4.crz.mul_add(g4.s[0], -g4.cy),
        g4.cx.mul_add(g4.s[1], -(f[3].beta * g4.s[2])),
    ];
    [base[0] + last[0], base[1] + last[1], base[2] + last[2]]
}

dispatch! {
    /// Workload c, primal: x after time 2 of the Lorenz system by n Runge-Kutta steps; `p` is
    /// (sigma, rho, beta, x_0, y_0, z_0).
    c_value = c_value_body(p: [f64; 6], n: usize) -> f64
}

#[inline(always)]
fn c_value_body([sigma, rho, beta, x, y, z]: [f64; 6], n: usize) -> f64 {
    let f = slopes([sigma, rho, beta], 2.0 / n as f64);
    let mut s = [x, y, z];
    for _ in 0..n {
        s = rk4(&f, s);
    }
    s[0]
}

dispatch! {
    /// Workload c, value and gradient in (sigma, rho, beta, x_0, y_0, z_0). The tape holds the
    /// state at the start of every step; the way back recomputes the stages.
    c_grad = c_grad_body(p: [f64; 6], n: usize, tape: &mut Vec<f64>) -> (f64, [f64; 6])
}

#[inline(always)]
fn c_grad_body(
    [sigma, rho, beta, x, y, z]: [f64; 6],
    n: usize,
    tape: &mut Vec<f64>,
) -> (f64, [f64; 6]) {
    let dt = 2.0 / n as f64;
    let f = slopes([sigma, rho, beta], dt);
    let tape = sized(tape, 3 * n);
    let mut s = [x, y, z];
    for slot in tape.chunks_exact_mut(3) {
        slot.copy_from_slice(&s);
        s = rk4(&f, s);
    }
    let mut back = Back::new();
    for slot in tape.chunks_exact(3).rev() {
        back.step(&f, [slot[0], slot[1], slot[2]]);
    }
    (s[0], back.gradient(dt))
}

dispatch! {
    /// The same with so many states stored, at equal distances, and the states between two of them one after the other.
    c_grad_two_level = c_grad_two_level_body(p: [f64; 6], n: usize, slots: usize, tape: &mut Vec<f64>) -> (f64, [f64; 6])
}

#[inline(always)]
fn c_grad_two_level_body(
    [sigma, rho, beta, x, y, z]: [f64; 6],
    n: usize,
    slots: usize,
    tape: &mut Vec<f64>,
) -> (f64, [f64; 6]) {
    let dt = 2.0 / n as f64;
    let f = slopes([sigma, rho, beta], dt);
    let length = n.div_ceil(slots.max(1)).max(1);
    let segments = n.div_ceil(length);
    let (stored, records) = sized(tape, 3 * (segments + length)).split_at_mut(3 * segments);
    let mut s = [x, y, z];
    let mut result = s[0];
    for (k, slot) in stored.chunks_exact_mut(3).enumerate() {
        slot.copy_from_slice(&s);
        // The last segment is recorded below.
        if k + 1 < segments {
            for _ in 0..length {
                s = rk4(&f, s);
            }
        }
    }
    let mut back = Back::new();
    for (k, slot) in stored.chunks_exact(3).enumerate().rev() {
        let length = length.min(n - k * length);
        let records = &mut records[..3 * length];
        let mut s = [slot[0], slot[1], slot[2]];
        for record in records.chunks_exact_mut(3) {
            record.copy_from_slice(&s);
            s = rk4(&f, s);
        }
        if k + 1 == segments {
            result = s[0];
        }
        for record in records.chunks_exact(3).rev() {
            back.step(&f, [record[0], record[1], record[2]]);
        }
    }
    (result, back.gradient(dt))
}

/// The way back through the Lorenz system: l is the adjoint of the state, and the others what the parameters receive from
/// the stages.
struct Back {
    l: [f64; 3],
    q4: [f64; 3],
    q3: [f64; 3],
    q12: [f64; 3],
}

impl Back {
    #[inline(always)]
    fn new() -> Back {
        Back { l: [1.0, 0.0, 0.0], q4: [0.0; 3], q3: [0.0; 3], q12: [0.0; 3] }
    }

    /// With v4 = l, v3, v2, v1 the adjoints of the stage slopes over dt/6, dt, dt/2, dt/2, every pull uses the same multiple
    /// of the Jacobian as the push did.
    #[inline(always)]
    fn step(&mut self, f: &[Slope; 4], s: [f64; 3]) {
        let l = self.l;
        let g = stages(f, s);
        let l3 = l.map(|l| l * (1.0 / 3.0));
        let v3 = f[3].pull(&g[3], l, l3);
        let v2 = f[2].pull(&g[2], v3, l3.map(|l| l + l));
        let v1 = f[1].pull(&g[1], v2, l3);
        param(&mut self.q4, &g[3], l);
        param(&mut self.q3, &g[2], v3);
        param(&mut self.q12, &g[1], v2);
        param(&mut self.q12, &g[0], v1);
        // l + (v3 - l/3) + (v2 - 2l/3) + (v1 - l/3), the stage states' own adjoints
        let mut base = [0.0; 3];
        for j in 0..3 {
            base[j] = v1[j] + ((v2[j] + v3[j]) + l3[j].mul_add(-4.0, l[j]));
        }
        self.l = f[0].pull(&g[0], v1, base);
    }

    #[inline(always)]
    fn gradient(&self, dt: f64) -> [f64; 6] {
        let Back { l, q4, q3, q12 } = self;
        let total = |j: usize| dt * (q4[j] / 6.0 + q3[j] + 0.5 * q12[j]);
        [total(0), total(1), -total(2), l[0], l[1], l[2]]
    }
}

/// Adds what the parameters sigma, rho and -beta receive from a slope with adjoint `v`.
#[inline(always)]
fn param(q: &mut [f64; 3], g: &Stage, v: [f64; 3]) {
    q[0] = v[0].mul_add(g.yx, q[0]);
    q[1] = v[1].mul_add(g.s[0], q[1]);
    q[2] = v[2].mul_add(g.s[2], q[2]);
}

dispatch! {
    /// Workload f2, primal: Kepler's equation E = M + e sin E by fixed-point iteration from E = M
    /// until a step is at most 1e-14; `p` is (M, e).
    f2_value = f2_value_body(p: [f64; 2]) -> f64
}

#[inline(always)]
fn f2_value_body([m, e]: [f64; 2]) -> f64 {
    let mut big_e = m;
    let mut step = f64::INFINITY;
    while step.abs() > 1e-14 {
        let next = e.mul_add(sin(big_e), m);
        step = next - big_e;
        big_e = next;
    }
    big_e
}

dispatch! {
    /// Workload f2, value and gradient in (M, e). The tape holds sin E and cos E of every
    /// iteration: the cosine is free in the shadow of the serial sine.
    f2_grad = f2_grad_body(p: [f64; 2], tape: &mut Vec<f64>) -> (f64, [f64; 2])
}

#[inline(always)]
fn f2_grad_body([m, e]: [f64; 2], tape: &mut Vec<f64>) -> (f64, [f64; 2]) {
    tape.clear();
    let mut big_e = m;
    let mut step = f64::INFINITY;
    while step.abs() > 1e-14 {
        let (s, c) = sin_cos(big_e);
        tape.extend_from_slice(&[s, c]);
        let next = e.mul_add(s, m);
        step = next - big_e;
        big_e = next;
    }
    let (mut eb, mut mb, mut bar) = (0.0f64, 0.0, 1.0f64);
    for pair in tape.chunks_exact(2).rev() {
        mb += bar;
        eb = bar.mul_add(pair[0], eb);
        bar *= e * pair[1];
    }
    // the start E = M
    (big_e, [mb + bar, eb])
}

/// Workload h, the start array: x_i = 0.8 sin(0.1 i).
pub fn h_start(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.8 * (0.1 * i as f64).sin()).collect()
}

/// Elements whose sines are taken together.
const BLOCK: usize = 32;

dispatch! {
    /// Workload h, primal: x[i] = x[i-1] x[i] + sin x[i] in place for i >= 1; the sum of x.
    h_value = h_value_body(x: &mut [f64]) -> f64
}

#[inline(always)]
fn h_value_body(x: &mut [f64]) -> f64 {
    let Some((&mut first, rest)) = x.split_first_mut() else {
        return 0.0;
    };
    let (mut prev, mut sum) = (first, first);
    let (mut s, mut c) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (blocks, tail) = rest.as_chunks_mut::<BLOCK>();
    for block in blocks {
        sin_cos_block(block, &mut s, &mut c);
        for (v, &s) in block.iter_mut().zip(&s) {
            prev = prev.mul_add(*v, s);
            *v = prev;
            sum += prev;
        }
    }
    for v in tail {
        prev = prev.mul_add(*v, sin(*v));
        *v = prev;
        sum += prev;
    }
    sum
}

dispatch! {
    /// Workload h, value and gradient in the start array. `x` is overwritten as by the primal;
    /// `grad` must be as long as `x`. The tape holds the start values.
    h_grad = h_grad_body(x: &mut [f64], grad: &mut [f64], tape: &mut Vec<f64>) -> f64
}

#[inline(always)]
fn h_grad_body(x: &mut [f64], grad: &mut [f64], tape: &mut Vec<f64>) -> f64 {
    assert_eq!(x.len(), grad.len(), "the gradient is as long as the array");
    let tape = sized(tape, x.len());
    tape.copy_from_slice(x);
    let (Some((&mut first, rest)), Some((grad0, grads)), Some((_, old))) =
        (x.split_first_mut(), grad.split_first_mut(), tape.split_first())
    else {
        return 0.0;
    };
    // Forward, leaving dx_i/d(start x_i) = x_{i-1} + cos(start x_i) in the gradient's place.
    let (mut prev, mut sum) = (first, first);
    let (mut s, mut c) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (blocks, tail) = rest.as_chunks_mut::<BLOCK>();
    let (grad_blocks, grad_tail) = grads.as_chunks_mut::<BLOCK>();
    for (block, grad) in blocks.iter_mut().zip(grad_blocks) {
        sin_cos_block(block, &mut s, &mut c);
        for i in 0..BLOCK {
            grad[i] = prev + c[i];
            prev = prev.mul_add(block[i], s[i]);
            block[i] = prev;
            sum += prev;
        }
    }
    for (v, grad) in tail.iter_mut().zip(grad_tail) {
        let (s, c) = sin_cos(*v);
        *grad = prev + c;
        prev = prev.mul_add(*v, s);
        *v = prev;
        sum += prev;
    }
    // Back: bar_{i-1} = 1 + bar_i (start x_i).
    let mut bar = 1.0f64;
    for (grad, &old) in grads.iter_mut().zip(old).rev() {
        *grad *= bar;
        bar = bar.mul_add(old, 1.0);
    }
    *grad0 = bar;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 3] = [0.9, 0.1, 0.5];
    const C: [f64; 6] = [10.0, 28.0, 8.0 / 3.0, 1.0, 1.0, 1.0];

    /// Every component within `tol` of the reference, relative to the largest one.
    fn close(got: &[f64], want: &[f64], tol: f64) {
        let largest = want.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= tol * largest, "{got:?} against {want:?}");
        }
    }

    #[test]
    fn tanh_recurrence() {
        let n = 1_000_000;
        let (value, grad) = a_grad(A, n, &mut Vec::new());
        close(&[value], &[0.5015959642387042], 1e-10);
        close(&grad, &[1.1499691497411388, 2.2926204264086714, 2.0688111138335905e-06], 1e-10);
        close(&[a_value(A, n)], &[value], 1e-15);
    }

    #[test]
    fn tanh_recurrence_last_state() {
        // A long run forgets its start: the gradient is the fixed point's, h' = f / (1 - w s).
        let n = 100_000;
        let (h, grad) = a0_grad([A[0], A[1]], A[2], n, &mut Vec::new());
        let slope = 1.0 - h * h;
        let d = slope / (1.0 - A[0] * slope);
        close(&grad, &[h * d, d], 1e-10);
        close(&[a0_value([A[0], A[1]], A[2], n)], &[h], 1e-15);
        // A short one does not: against central differences.
        let f = |w: f64, b: f64| a0_value([w, b], A[2], 12);
        let t = 1e-5;
        let (_, grad) = a0_grad([0.9, 0.1], A[2], 12, &mut Vec::new());
        let want = [
            (f(0.9 + t, 0.1) - f(0.9 - t, 0.1)) / (2.0 * t),
            (f(0.9, 0.1 + t) - f(0.9, 0.1 - t)) / (2.0 * t),
        ];
        close(&grad, &want, 1e-8);
    }

    #[test]
    fn lorenz_system() {
        let mut tape = Vec::new();
        let (value, grad) = c_grad(C, 10_000, &mut tape);
        close(&[value, c_value(C, 10_000)], &[-8.173499932239537; 2], 1e-11);
        close(
            &grad,
            &[
                0.05454020252614165,
                -0.8951256868041753,
                -5.021772002876552,
                -0.638842737838243,
                -0.5176357176081137,
                0.25602533261621824,
            ],
            1e-11,
        );
        let (value, grad) = c_grad(C, 1_000_000, &mut tape);
        close(&[value], &[-8.173499932242247], 1e-9);
        close(
            &grad,
            &[
                0.0545402025249461,
                -0.8951256868062302,
                -5.021772002903387,
                -0.6388427378412184,
                -0.5176357176104669,
                0.2560253326160077,
            ],
            1e-9,
        );
    }

    #[test]
    fn kepler_equation() {
        let mut tape = Vec::new();
        let (value, grad) = f2_grad([0.01, 0.99], &mut tape);
        assert_eq!(tape.len(), 2 * 425);
        close(&[value, f2_value([0.01, 0.99])], &[0.34227031649164263; 2], 1e-11);
        close(&grad, &[14.831330137118604, 4.97778864504514], 1e-11);
    }

    #[test]
    fn in_place_recurrence() {
        let n = 100_000;
        let (mut x, mut grad) = (h_start(n), vec![0.0; n]);
        let value = h_grad(&mut x, &mut grad, &mut Vec::new());
        let mut y = h_start(n);
        close(&[value, h_value(&mut y)], &[55479.48190203827; 2], 1e-11);
        assert_eq!(x, y);
        let waves = grad.iter().enumerate().map(|(k, g)| g * (k as f64).cos());
        let digest = [grad[0], grad[n / 2], grad[n - 1], grad.iter().sum(), waves.sum()];
        let want = [
            1.0972593880015984,
            0.17134496513954253,
            0.8986901267797955,
            330157.4325422409,
            -36.351895307363705,
        ];
        close(&digest, &want, 1e-11);
        close(&digest[..3], &want[..3], 1e-11);
    }

    #[test]
    fn empty_arrays() {
        assert_eq!(h_value(&mut []), 0.0);
        assert_eq!(h_grad(&mut [], &mut [], &mut Vec::new()), 0.0);
    }
}
