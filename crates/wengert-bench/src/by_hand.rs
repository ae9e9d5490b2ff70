//! The adjoints by hand as tasks: inputs and memory made once, then run again and again.

use crate::data;
use crate::hand::{self, adam, heat, heston, rnn, solvers};
use crate::hand_scalar;

/// A gradient by hand, ready to run.
pub trait ByHand {
    /// Computes value and gradient, and returns the value.
    fn run(&mut self) -> f64;
    /// The gradient of the last run, in the order of the workload's parameters.
    fn gradient(&self) -> Vec<f64>;
}

/// A task made of its inputs and memory.
struct Task<S> {
    state: S,
    run: fn(&mut S) -> f64,
    gradient: fn(&S) -> Vec<f64>,
}

impl<S> ByHand for Task<S> {
    fn run(&mut self) -> f64 {
        (self.run)(&mut self.state)
    }
    fn gradient(&self) -> Vec<f64> {
        (self.gradient)(&self.state)
    }
}

fn task<S: 'static>(
    state: S,
    run: fn(&mut S) -> f64,
    gradient: fn(&S) -> Vec<f64>,
) -> Box<dyn ByHand> {
    Box::new(Task { state, run, gradient })
}

/// A gradient of a few numbers, at a size, with a tape.
struct Few<const K: usize> {
    n: usize,
    tape: Vec<f64>,
    gradient: [f64; K],
}

impl<const K: usize> Few<K> {
    fn new(n: usize) -> Few<K> {
        Few { n, tape: Vec::new(), gradient: [0.0; K] }
    }

    fn keep(&mut self, (value, gradient): (f64, [f64; K])) -> f64 {
        self.gradient = gradient;
        value
    }
}

/// (w, b, h0) of the recurrence.
pub const A: [f64; 3] = [0.9, 0.1, 0.5];
/// (sigma, rho, beta, x, y, z) of the Lorenz system.
pub const LORENZ: [f64; 6] = [10.0, 28.0, 8.0 / 3.0, 1.0, 1.0, 1.0];
/// (M, e) of Kepler's equation.
pub const KEPLER: [f64; 2] = [0.01, 0.99];

/// Workload a.
pub fn a(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Few<3>| {
        let result = hand::a_grad(A, s.n, &mut s.tape);
        s.keep(result)
    };
    task(Few::new(n), run, |s| s.gradient.to_vec())
}

/// Workload a0.
pub fn a0(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Few<2>| {
        let result = hand::a0_grad([A[0], A[1]], A[2], s.n, &mut s.tape);
        s.keep(result)
    };
    task(Few::new(n), run, |s| s.gradient.to_vec())
}

/// Workloads c and c3.
pub fn c(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Few<6>| {
        let result = hand::c_grad(LORENZ, s.n, &mut s.tape);
        s.keep(result)
    };
    task(Few::new(n), run, |s| s.gradient.to_vec())
}

/// Workload f2.
pub fn f2(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Few<2>| {
        let result = hand::f2_grad(KEPLER, &mut s.tape);
        s.keep(result)
    };
    task(Few::new(n), run, |s| s.gradient.to_vec())
}

/// Workload b.
pub fn b(n: usize) -> Box<dyn ByHand> {
    struct State {
        p: rnn::Weights,
        x: Vec<[f64; 64]>,
        g: rnn::Weights,
        scratch: rnn::Scratch,
    }
    let [w, u, b, x] = data::rnn(n);
    let x = x.as_chunks::<64>().0.to_vec();
    let (p, g) = (rnn::Weights::of(&w, &u, &b), rnn::Weights::zero());
    let state = State { p, x, g, scratch: rnn::Scratch::default() };
    task(state, |s| rnn::grad(&s.p, &s.x, &mut s.g, &mut s.scratch), |s| s.g.flat())
}

struct Plate {
    steps: usize,
    start: Vec<[f64; heat::N]>,
    gradient: Vec<[f64; heat::N]>,
    scratch: heat::Scratch,
}

impl Plate {
    fn new(steps: usize) -> Plate {
        let start = data::plate(heat::N).as_chunks::<{ heat::N }>().0.to_vec();
        Plate { steps, gradient: start.clone(), start, scratch: heat::Scratch::default() }
    }
}

/// Workload d.
pub fn d(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Plate| heat::d_grad(&s.start, s.steps, &mut s.gradient, &mut s.scratch);
    task(Plate::new(n), run, |s| s.gradient.as_flattened().to_vec())
}

/// Workload d2.
pub fn d2(n: usize) -> Box<dyn ByHand> {
    let run = |s: &mut Plate| heat::d2_grad(&s.start, s.steps, &mut s.gradient, &mut s.scratch);
    task(Plate::new(n), run, |s| s.gradient.as_flattened().to_vec())
}

/// Workload e, one path after the other.
pub fn e(n: usize) -> Box<dyn ByHand> {
    struct State {
        z: [Vec<f64>; 2],
        few: Few<5>,
    }
    let steps = data::HESTON.1;
    let state = State { z: data::normals(n, steps), few: Few::new(steps) };
    let run = |s: &mut State| {
        let result = heston::scalar_grad(&s.z[0], &s.z[1], s.few.n, &mut s.few.tape);
        s.few.keep(result)
    };
    task(state, run, |s| s.few.gradient.to_vec())
}

/// Workload e, many paths side by side.
pub fn e_lanes(n: usize) -> Box<dyn ByHand> {
    struct State {
        z: Vec<[[f64; heston::LANES]; 2]>,
        paths: usize,
        tape: Vec<[f64; heston::LANES]>,
        gradient: [f64; 5],
    }
    let [z1, z2] = data::normals(n, data::HESTON.1);
    let z = heston::side_by_side(&z1, &z2, data::HESTON.1);
    let state = State { z, paths: n, tape: Vec::new(), gradient: [0.0; 5] };
    let run = |s: &mut State| {
        let steps = data::HESTON.1;
        let (value, gradient) = heston::lanes_grad(&s.z, s.paths, steps, &mut s.tape);
        s.gradient = gradient;
        value
    };
    task(state, run, |s| s.gradient.to_vec())
}

/// Workload f1.
pub fn f1(_: usize) -> Box<dyn ByHand> {
    struct State {
        a: Box<[[f64; 64]; 64]>,
        g: Box<[[f64; 64]; 64]>,
        scratch: solvers::Power,
    }
    let mut a = Box::new([[0.0; 64]; 64]);
    a.as_flattened_mut().copy_from_slice(&data::power_matrix());
    let state = State { a, g: Box::new([[0.0; 64]; 64]), scratch: solvers::Power::default() };
    let run = |s: &mut State| solvers::f1_grad(&s.a, &[0.125; 64], &mut s.g, &mut s.scratch);
    task(state, run, |s| s.g.as_flattened().to_vec())
}

/// Workload f3.
pub fn f3(_: usize) -> Box<dyn ByHand> {
    struct State {
        b: [f64; solvers::CHAIN],
        tape: Vec<[f64; solvers::CHAIN]>,
        gradient: ([f64; solvers::CHAIN], f64),
    }
    let mut b = [0.0; solvers::CHAIN];
    b.copy_from_slice(&data::chain());
    let state = State { b, tape: Vec::new(), gradient: (b, 0.0) };
    let run = |s: &mut State| {
        let (value, by_b, by_a) = solvers::f3_grad(data::CHAIN_DIAGONAL, &s.b, &mut s.tape);
        s.gradient = (by_b, by_a);
        value
    };
    task(state, run, |s| [&s.gradient.0[..], &[s.gradient.1]].concat())
}

/// Workload g.
pub fn g(n: usize) -> Box<dyn ByHand> {
    struct State {
        problem: [Vec<f64>; 2],
        steps: usize,
        gradient: [f64; 3],
        scratch: adam::Scratch,
    }
    let (problem, scratch) = (data::least_squares(), adam::Scratch::default());
    let state = State { problem, steps: n, gradient: [0.0; 3], scratch };
    let run = |s: &mut State| {
        let [a, y] = &s.problem;
        let (value, gradient) = adam::grad(a, y, data::ADAM_POINT, s.steps, &mut s.scratch);
        s.gradient = gradient;
        value
    };
    task(state, run, |s| s.gradient.to_vec())
}

struct InPlace {
    start: Vec<f64>,
    x: Vec<f64>,
    gradient: Vec<f64>,
    tape: Vec<f64>,
}

fn in_place(n: usize, run: fn(&mut InPlace) -> f64) -> Box<dyn ByHand> {
    let start = hand::h_start(n);
    let state = InPlace { x: start.clone(), start, gradient: vec![0.0; n], tape: Vec::new() };
    task(state, run, |s| s.gradient.clone())
}

/// Workload h, one element at a time.
pub fn h(n: usize) -> Box<dyn ByHand> {
    in_place(n, |s| {
        s.x.copy_from_slice(&s.start);
        hand_scalar::h_grad(&mut s.x, &mut s.gradient, &mut s.tape)
    })
}

/// Workload h, looking ahead in lanes.
pub fn h_lanes(n: usize) -> Box<dyn ByHand> {
    in_place(n, |s| {
        s.x.copy_from_slice(&s.start);
        hand::h_grad(&mut s.x, &mut s.gradient, &mut s.tape)
    })
}
