//! Workloads d and d2 by hand: heat in a plate of 256 by 256 cells, without and with a reaction.
//!
//! d is linear: the adjoint of the interior is the same stencil with an edge of zeros, and needs no states.
//! Both ways run [`LEVELS`] steps in one pass over the plate: while one step is at row i, the next is at row
//! i - 1 and so on, forth and back between two plates, so that the rows at work stay in the first-level
//! cache and the plates are read and written once per [`LEVELS`] steps. The rows are plain loops over constant
//! lengths, in vector lanes. Edge cells only collect from the cells beside them.
//!
//! d2 needs the state of every step. Each step writes the next state straight to its place in the store,
//! and the way back reads them in the opposite order, two plates for the adjoint staying in the second-level
//! cache.
//!
//! A row is half of 4096 bytes. Loads wait for stores whose addresses differ by a multiple of 4096, so the row
//! that is written lies half of that away from the row it is made of: two plates row by row in turn, and a
//! row between one state and the next.

/// Cells along an edge.
pub const N: usize = 256;
/// Steps in one pass, an even number.
const LEVELS: usize = 4;
/// Rows from one kept state to the next.
const STRIDE: usize = N + 1;

type Row = [f64; N];
/// A row of each of two plates.
type Pair = [Row; 2];
/// The gradient of the edge: upper, lower, left, right.
type Edge = [Row; 4];

/// Memory used again from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    plates: Vec<Pair>,
    states: Vec<Row>,
}

/// The inside of a row of the next step: 0.2 times the cell and the four beside it.
#[inline(always)]
fn next_row(out: &mut Row, north: &Row, row: &Row, south: &Row) {
    for j in 1..N - 1 {
        out[j] = 0.2 * ((north[j] + south[j]) + (row[j - 1] + row[j + 1]) + row[j]);
    }
}

/// What the edge receives from a row of interior adjoints.
#[inline(always)]
fn collect(edge: &mut Edge, r: usize, row: &Row) {
    edge[2][r] += row[1];
    edge[3][r] += row[N - 2];
    let beside = match r {
        1 => &mut edge[0],
        r if r == N - 2 => &mut edge[1],
        _ => return,
    };
    for j in 1..N - 1 {
        beside[j] += row[j];
    }
}

/// A row of one step, from one plate to the other.
#[inline(always)]
fn step_row<const BACK: bool>(plates: &mut [Pair], r: usize, odd: bool, edge: &mut Edge) {
    let Some([north, [a, b], south]) = plates[r - 1..].first_chunk_mut::<3>() else { return };
    let (from, to, k) = if odd { (b, a, 1) } else { (a, b, 0) };
    if BACK {
        collect(edge, r, from);
    }
    next_row(to, &north[k], from, &south[k]);
}

/// Steps that begin and end in the first plate. The edges of both plates are the same, and stay. On the way
/// back `edge` collects.
#[inline(always)]
fn run<const BACK: bool>(plates: &mut [Pair], steps: usize, edge: &mut Edge) {
    for _ in 0..steps / LEVELS {
        for front in 1..N - 1 + LEVELS - 1 {
            for level in 0..LEVELS {
                if let Some(r) = front.checked_sub(level).filter(|r| (1..N - 1).contains(r)) {
                    step_row::<BACK>(plates, r, level % 2 == 1, edge);
                }
            }
        }
    }
    let left = steps % LEVELS;
    for level in 0..left {
        for r in 1..N - 1 {
            step_row::<BACK>(plates, r, level % 2 == 1, edge);
        }
    }
    if left % 2 == 1 {
        for pair in plates {
            pair[0] = pair[1];
        }
    }
}

/// Takes the edge off a plate, leaving zeros.
#[inline(always)]
fn without_edge(plates: &mut [Pair]) -> Edge {
    let mut edge = [[0.0; N]; 4];
    (edge[0], edge[1]) = (plates[0][0], plates[N - 1][0]);
    (plates[0], plates[N - 1]) = ([[0.0; N]; 2], [[0.0; N]; 2]);
    for (r, pair) in plates.iter_mut().enumerate().skip(1).take(N - 2) {
        (edge[2][r], edge[3][r]) = (pair[0][0], pair[0][N - 1]);
        for row in pair {
            (row[0], row[N - 1]) = (0.0, 0.0);
        }
    }
    edge
}

/// The gradient: the interior, and around it the edge's own adjoint with 0.2 times what it has collected.
#[inline(always)]
fn with_edge(plates: &[Pair], k: usize, own: &Edge, collected: &Edge, grad: &mut [Row]) {
    for (grad, pair) in grad.iter_mut().zip(plates) {
        *grad = pair[k];
    }
    for j in 0..N {
        grad[0][j] = 0.2f64.mul_add(collected[0][j], own[0][j]);
        grad[N - 1][j] = 0.2f64.mul_add(collected[1][j], own[1][j]);
    }
    for r in 1..N - 1 {
        grad[r][0] = 0.2f64.mul_add(collected[2][r], own[2][r]);
        grad[r][N - 1] = 0.2f64.mul_add(collected[3][r], own[3][r]);
    }
}

/// Both plates are this one.
#[inline(always)]
fn set(plates: &mut Vec<Pair>, plate: &[Row]) {
    plates.clear();
    plates.extend(plate.iter().map(|row| [*row; 2]));
}

#[inline(always)]
fn half_squares(plates: &[Pair]) -> f64 {
    let mut sum = [0.0; 8];
    for [row, _] in plates {
        for part in row.as_chunks::<8>().0 {
            for l in 0..8 {
                sum[l] = part[l].mul_add(part[l], sum[l]);
            }
        }
    }
    0.5 * sum.iter().sum::<f64>()
}

dispatch! {
    /// Workload d: value and gradient in the plate at the start.
    d_grad = d_body(start: &[Row], steps: usize, grad: &mut [Row], s: &mut Scratch) -> f64
}

#[inline(always)]
fn d_body(start: &[Row], steps: usize, grad: &mut [Row], s: &mut Scratch) -> f64 {
    set(&mut s.plates, start);
    let mut collected = [[0.0; N]; 4];
    run::<false>(&mut s.plates, steps, &mut collected);
    let value = half_squares(&s.plates);
    let own = without_edge(&mut s.plates);
    run::<true>(&mut s.plates, steps, &mut collected);
    with_edge(&s.plates, 0, &own, &collected, grad);
    value
}

/// A row of the next step with the reaction 0.01 (c - c^3): c (0.21 - 0.01 c^2) + 0.2 (the four beside it).
#[inline(always)]
fn next_row2(out: &mut Row, north: &Row, row: &Row, south: &Row) {
    for j in 1..N - 1 {
        let around = (north[j] + south[j]) + (row[j - 1] + row[j + 1]);
        let own = (row[j] * row[j]).mul_add(-0.01, 0.21);
        out[j] = row[j].mul_add(own, 0.2 * around);
    }
    out[0] = row[0];
    out[N - 1] = row[N - 1];
}

/// A row of the adjoint before the step, given the state there: w (0.21 - 0.03 c^2) + 0.2 (the four beside it).
#[inline(always)]
fn back_row2(out: &mut Row, north: &Row, row: &Row, south: &Row, state: &Row) {
    for j in 1..N - 1 {
        let around = (north[j] + south[j]) + (row[j - 1] + row[j + 1]);
        let own = (state[j] * state[j]).mul_add(-0.03, 0.21);
        out[j] = row[j].mul_add(own, 0.2 * around);
    }
}

dispatch! {
    /// Workload d2: value and gradient in the plate at the start.
    d2_grad = d2_body(start: &[Row], steps: usize, grad: &mut [Row], s: &mut Scratch) -> f64
}

#[inline(always)]
fn d2_body(start: &[Row], steps: usize, grad: &mut [Row], s: &mut Scratch) -> f64 {
    if s.states.len() < STRIDE * (steps + 1) {
        s.states.resize(STRIDE * (steps + 1), [0.0; N]);
    }
    s.states[..N].copy_from_slice(start);
    for t in 0..steps {
        let (before, after) = s.states.split_at_mut(STRIDE * (t + 1));
        let (from, to) = (&before[STRIDE * t..], &mut after[..N]);
        to[0] = from[0];
        to[N - 1] = from[N - 1];
        for r in 1..N - 1 {
            next_row2(&mut to[r], &from[r - 1], &from[r], &from[r + 1]);
        }
    }
    set(&mut s.plates, &s.states[STRIDE * steps..][..N]);
    let value = half_squares(&s.plates);
    let own = without_edge(&mut s.plates);
    let mut collected = [[0.0; N]; 4];
    for (turn, t) in (0..steps).rev().enumerate() {
        let states = &s.states[STRIDE * t..][..N];
        let k = turn % 2;
        for (r, state) in states.iter().enumerate().take(N - 1).skip(1) {
            let Some([north, [a, b], south]) = s.plates[r - 1..].first_chunk_mut::<3>() else {
                break;
            };
            let (from, to) = if k == 1 { (b, a) } else { (a, b) };
            collect(&mut collected, r, from);
            back_row2(to, &north[k], from, &south[k], state);
        }
    }
    with_edge(&s.plates, steps % 2, &own, &collected, grad);
    value
}
