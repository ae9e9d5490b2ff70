//! The memory that loops on the tape take, counted where it is allocated.

mod counting;

use counting::most;
use wengert::tape::{Tape, Var};

/// What there is beside the memory allowed: the recording of one step, and small things.
const BESIDE: u64 = 320 << 10;

/// Cells that diffuse and react: `count` numbers, some fifteen operations for each in a step.
fn react(_: usize, u: &[Var], p: &[Var]) -> Vec<Var> {
    let n = u.len();
    let next = |i: usize| {
        let (left, right) = (u[(i + n - 1) % n], u[(i + 1) % n]);
        u[i] + (left + right - u[i] * 2.0) * p[0] + u[i] * (1.0 - u[i]) * p[1] * 0.1
    };
    (0..n).map(next).collect()
}

fn gradient(cells: usize, steps: Option<usize>, memory: u64) {
    let tape = Tape::new();
    // What earlier tapes have left is not to be found.
    tape.free();
    let u: Vec<f64> = (0..cells).map(|k| (k as f64).sin().abs()).collect();
    let (u, p) = (tape.var_vec(&u), tape.vars([0.1, 0.7]));
    let last = match steps {
        Some(steps) => tape.for_each(steps, &u, &p, react, memory).unwrap(),
        None => u,
    };
    let sum: Var = last.into_iter().sum();
    sum.backward().unwrap().wrt_all(&p).unwrap();
}

/// One test, because what is counted is of the whole process.
#[test]
fn loops_keep_to_their_memory() {
    for (cells, steps, memory) in [
        (3, 1_000_000, 256 << 10),
        (3, 300_000, 4 << 20),
        (100, 20_000, 1 << 20),
        (1000, 1000, 1 << 20),
        // A step takes more than a chunk of the tape.
        (4000, 100, 4 << 20),
    ] {
        // What it takes without the loop.
        gradient(cells, None, memory);
        Tape::new().free();
        let outside = most(|| gradient(cells, None, memory));
        Tape::new().free();
        let taken = most(|| gradient(cells, Some(steps), memory));
        let (most, all) = (memory + memory / 20 + BESIDE, cells as u64 * steps as u64 * 8);
        println!(
            "{cells} cells, {steps} steps: {taken} bytes, {memory} allowed, {outside} outside, states {all}"
        );
        assert!(taken <= most + outside, "{cells} cells: {taken} of {memory} + {outside} bytes");
    }
}
