//! Workload h by hand, one element at a time.
//!
//! [`crate::hand::h_grad`] looks ahead: it computes sines and cosines of blocks of elements in vector
//! lanes before the recurrence reaches them. This is the best that one element at a time gives, the
//! baseline for code that keeps the loop's order; the table shows both.

use crate::hand_math::sin_cos;

/// Value and gradient in the start array. `x` is overwritten as by the primal; `grad` is as long as
/// `x`. The tape holds the start values.
pub fn h_grad(x: &mut [f64], grad: &mut [f64], tape: &mut Vec<f64>) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fused(x: &mut [f64], grad: &mut [f64], tape: &mut Vec<f64>) -> f64 {
            body(x, grad, tape)
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features were detected on this machine just above.
            return unsafe { fused(x, grad, tape) };
        }
    }
    body(x, grad, tape)
}

#[inline(always)]
fn body(x: &mut [f64], grad: &mut [f64], tape: &mut Vec<f64>) -> f64 {
    assert_eq!(x.len(), grad.len(), "the gradient is as long as the array");
    tape.clear();
    tape.extend_from_slice(x);
    let Some(first) = x.first().copied() else { return 0.0 };
    let (mut prev, mut sum) = (first, first);
    for ((x, grad), old) in x.iter_mut().zip(grad.iter_mut()).zip(tape.iter()).skip(1) {
        let (s, c) = sin_cos(*old);
        // dx_i / d(start x_i), scaled by the adjoint of x_i on the way back.
        *grad = prev + c;
        prev = prev.mul_add(*old, s);
        *x = prev;
        sum += prev;
    }
    let mut bar = 1.0;
    for (grad, old) in grad.iter_mut().zip(tape.iter()).skip(1).rev() {
        *grad *= bar;
        bar = bar.mul_add(*old, 1.0);
    }
    grad[0] = bar;
    sum
}

#[cfg(test)]
mod tests {
    use crate::hand;

    #[test]
    fn both_ways_agree() {
        let n = 10_000;
        let (mut x, mut y) = (hand::h_start(n), hand::h_start(n));
        let (mut g, mut k) = (vec![0.0; n], vec![0.0; n]);
        let a = hand::h_grad(&mut x, &mut g, &mut Vec::new());
        let b = super::h_grad(&mut y, &mut k, &mut Vec::new());
        assert!((a - b).abs() <= 1e-12 * a.abs());
        let scale = g.iter().fold(0f64, |m, v| m.max(v.abs()));
        assert!(g.iter().zip(&k).all(|(a, b)| (a - b).abs() <= 1e-12 * scale));
    }
}
