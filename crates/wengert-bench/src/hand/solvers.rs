//! Workloads f1 and f3 by hand: loops that run until they settle.
//!
//! f1, power iteration on a 64 by 64 matrix: A v and A' g combine rows in registers (the transpose is made
//! once), the states are kept, and the gradient of A is collected from blocks of 32 outer products.
//!
//! f3, Gauss and Seidel's method on a chain of 32: the one division is made once, and each element waits for the
//! one before it only by a multiply-add. The way back has the same shape; it needs the elements of every
//! sweep for the gradient of the diagonal, and keeps them. Everything else is outside that chain of
//! multiply-adds, so the processor overlaps one sweep with the next.

use super::dense::{N, Row, Square, add_outer, add_rows, dot, transposed};

const BLOCK: usize = 32;

/// Memory power iteration uses again from call to call.
#[derive(Debug, Default)]
pub struct Power {
    /// v at the start of each iteration and at the end.
    states: Vec<Row>,
    /// The length of A v in each.
    lengths: Vec<f64>,
    turned: Vec<Square>,
}

impl Power {
    /// Iterations of the last call.
    pub fn iterations(&self) -> usize {
        self.lengths.len()
    }
}

dispatch! {
    /// Workload f1: v'Av + sum sin(i) v_i for the leading eigenvector of A, and its gradient in A.
    f1_grad = f1_body(a: &Square, v: &Row, g: &mut Square, s: &mut Power) -> f64
}

#[inline(always)]
fn f1_body(a: &Square, start: &Row, g: &mut Square, s: &mut Power) -> f64 {
    s.turned.resize(1, [[0.0; N]; N]);
    transposed(a, &mut s.turned[0]);
    let turned = &s.turned[0];
    s.states.clear();
    s.lengths.clear();
    let mut v = *start;
    let mut change = f64::INFINITY;
    while change > 1e-12 {
        s.states.push(v);
        let mut new = [0.0; N];
        add_rows(&turned[..], &v, &mut new);
        let length = dot(&new, &new).sqrt();
        let shrink = 1.0 / length;
        let mut step = [0.0; N];
        for j in 0..N {
            new[j] *= shrink;
            step[j] = new[j] - v[j];
        }
        change = dot(&step, &step).sqrt();
        s.lengths.push(length);
        v = new;
    }
    let mut av = [0.0; N];
    add_rows(&turned[..], &v, &mut av);
    let mut bar = av;
    let mut value = dot(&v, &av);
    for j in 0..N {
        let wave = (j as f64).sin();
        value = wave.mul_add(v[j], value);
        bar[j] += wave;
    }
    add_rows(&a[..], &v, &mut bar);

    *g = [[0.0; N]; N];
    add_outer(&[v], &[v], g);
    let mut block = [[0.0; N]; BLOCK];
    let mut end = s.lengths.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let block = &mut block[..end - start];
        for k in (start..end).rev() {
            // new / |new| passes on what is across it.
            let along = dot(&v, &bar);
            let shrink = 1.0 / s.lengths[k];
            let mut new = [0.0; N];
            for j in 0..N {
                new[j] = shrink * (-along).mul_add(v[j], bar[j]);
            }
            block[k - start] = new;
            bar = [0.0; N];
            add_rows(&a[..], &new, &mut bar);
            v = s.states[k];
        }
        add_outer(block, &s.states[start..end], g);
        end = start;
    }
    value
}

/// Elements of the chain.
pub const CHAIN: usize = 32;

dispatch! {
    /// Workload f3: the sum of squares of the solution of a x_i = b_i + x_{i-1} + x_{i+1}, and its gradient in b and
    /// in a. The tape holds the elements after each sweep.
    f3_grad = f3_body(a: f64, b: &[f64; CHAIN], tape: &mut Vec<[f64; CHAIN]>) -> (f64, [f64; CHAIN], f64)
}

#[inline(always)]
fn f3_body(a: f64, b: &[f64; CHAIN], tape: &mut Vec<[f64; CHAIN]>) -> (f64, [f64; CHAIN], f64) {
    let inverse = 1.0 / a;
    tape.clear();
    let mut x = [0.0; CHAIN];
    let mut change = [f64::INFINITY; 4];
    while change.iter().any(|c| *c > 1e-12) {
        change = [0.0; 4];
        let mut before = 0.0f64;
        for i in 0..CHAIN {
            let after = if i + 1 < CHAIN { x[i + 1] } else { 0.0 };
            let new = before.mul_add(inverse, (b[i] + after) * inverse);
            change[i % 4] = change[i % 4].max((new - x[i]).abs());
            x[i] = new;
            before = new;
        }
        tape.push(x);
    }
    let value = x.iter().map(|x| x * x).sum();
    let mut bar = x.map(|x| 2.0 * x);
    let mut by_b = [0.0f64; CHAIN];
    let mut by_a = [0.0f64; 4];
    for x in tape.iter().rev() {
        // Element i passes g_i to b_i, to the new element before it and to the old one after it.
        let mut g = 0.0f64;
        for i in (0..CHAIN).rev() {
            g = g.mul_add(inverse, bar[i] * inverse);
            by_b[i] += g;
            by_a[i % 4] = g.mul_add(x[i], by_a[i % 4]);
            if i + 1 < CHAIN {
                bar[i + 1] = g;
            }
        }
        bar[0] = 0.0;
    }
    (value, by_b, -by_a.iter().sum::<f64>())
}
