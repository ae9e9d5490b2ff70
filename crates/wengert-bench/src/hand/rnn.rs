//! Workload b by hand: the recurrent network h = tanh(W h + U x + b), 64 wide.
//!
//! Why it is fast: U x of all steps is one product of matrices before the loop. In the loop, W h and W' d
//! combine rows of W (transposed once for the way forward) in registers, W staying in the first-level
//! cache. Only h is kept. The gradients of W and U are not touched in the loop: the adjoints d of 32 steps
//! are collected and added as one rank-32 update, so those matrices pass through the registers once per 32
//! steps. tanh has no branches and runs in lanes.

use super::dense::{N, Row, Square, add_outer, add_rows, dot, product, transposed};
use crate::hand_math::tanh_lanes;

/// Steps whose outer products are added together.
const BLOCK: usize = 32;

/// W, U and b, or their gradients.
#[derive(Clone, Debug)]
pub struct Weights {
    /// W, by rows.
    pub w: Box<Square>,
    /// U, by rows.
    pub u: Box<Square>,
    /// b.
    pub b: Row,
}

impl Weights {
    /// All zero.
    pub fn zero() -> Weights {
        Weights { w: Box::new([[0.0; N]; N]), u: Box::new([[0.0; N]; N]), b: [0.0; N] }
    }

    /// From three arrays, row by row.
    pub fn of(w: &[f64], u: &[f64], b: &[f64]) -> Weights {
        let mut all = Weights::zero();
        all.w.as_flattened_mut().copy_from_slice(w);
        all.u.as_flattened_mut().copy_from_slice(u);
        all.b.copy_from_slice(b);
        all
    }

    /// W, U and b behind one another.
    pub fn flat(&self) -> Vec<f64> {
        [self.w.as_flattened(), self.u.as_flattened(), &self.b].concat()
    }
}

/// Memory used again from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    /// h_0..h_T.
    states: Vec<Row>,
    /// U x + b of each step.
    inputs: Vec<Row>,
    turned: Vec<Square>,
}

dispatch! {
    /// Value and gradient in W, U and b; `x` has a row per step.
    grad = body(p: &Weights, x: &[Row], g: &mut Weights, s: &mut Scratch) -> f64
}

#[inline(always)]
fn body(p: &Weights, x: &[Row], g: &mut Weights, s: &mut Scratch) -> f64 {
    let steps = x.len();
    s.states.resize(steps + 1, [0.0; N]);
    s.inputs.resize(steps, [0.0; N]);
    s.turned.resize(2, [[0.0; N]; N]);
    let [wt, ut] = &mut s.turned[..] else { return 0.0 };
    transposed(&p.w, wt);
    transposed(&p.u, ut);
    product(x, ut, &p.b, &mut s.inputs);
    let mut h = [0.0; N];
    let mut total = 0.0;
    for (input, state) in s.inputs.iter().zip(&mut s.states[1..]) {
        let mut sum = *input;
        add_rows(&wt[..], &h, &mut sum);
        tanh_lanes(&mut sum);
        h = sum;
        *state = h;
        total += dot(&h, &h);
    }

    *g.w = [[0.0; N]; N];
    *g.u = [[0.0; N]; N];
    g.b = [0.0; N];
    let seed = 1.0 / steps as f64;
    let mut later = [0.0; N];
    let mut block = [[0.0; N]; BLOCK];
    let mut end = steps;
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let block = &mut block[..end - start];
        for t in (start..end).rev() {
            let h = &s.states[t + 1];
            let mut bar = h.map(|h| h * seed);
            add_rows(&p.w[..], &later, &mut bar);
            for j in 0..N {
                later[j] = bar[j] * (-h[j]).mul_add(h[j], 1.0);
                g.b[j] += later[j];
            }
            block[t - start] = later;
        }
        add_outer(block, &s.states[start..end], &mut g.w);
        add_outer(block, &x[start..end], &mut g.u);
        end = start;
    }
    0.5 * total * seed
}
