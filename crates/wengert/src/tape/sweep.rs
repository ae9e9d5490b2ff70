//! Sweeps over a recording, as numbers: back for adjoints, there for tangents, there again for new values.

use super::error::Error;
use super::nodes::{Node, Nodes, Op};
use super::number::{Number, Of};
use super::outside::{Call, counted};
use super::recorder::Recording;
use wengert_core::ops::{Class, Looks, Partial, Prim};

/// Adjoints below this are as good as zero, and arithmetic on them 50 times slower.
const TINY: f64 = f64::MIN_POSITIVE;

/// Adjoints of one entry, in several directions.
pub(super) type Lanes<const L: usize> = [f64; L];

/// One row on the way back.
struct Back<'a, const L: usize> {
    nodes: &'a Nodes,
    node: Node,
    at: usize,
    d: Lanes<L>,
    adjoints: &'a mut [Lanes<L>],
}

impl<const L: usize> Looks for Back<'_, L> {
    type Sees = ();

    #[inline(always)]
    fn at(self, row: Prim) {
        let count = row.slope_count();
        if count == 0 {
            return;
        }
        let (places, slopes) = slopes(self.nodes, self.node, self.at, row);
        for k in 0..count {
            let to = &mut self.adjoints[places[k] as usize];
            for (to, d) in to.iter_mut().zip(self.d) {
                match slopes[k] {
                    Partial::Const(0.0) => {}
                    Partial::Const(c) => *to += c * d,
                    Partial::Of(p) => *to += p.0.0 * d,
                    Partial::Where(p) if p.0.0 == 1.0 => *to += d,
                    Partial::Where(_) => {}
                }
            }
        }
    }
}

/// A run on the way back: entries of one row, each of the one before it and of another that is the same for all, as
/// `y *= f` in a loop records them. Each adjoint waits for the one after it, and all add to one: neither goes through
/// memory here, which would take five times as long as a product.
struct Run<'a, const L: usize> {
    nodes: &'a Nodes,
    from: usize,
    to: usize,
    adjoints: &'a mut [Lanes<L>],
}

impl<const L: usize> Looks for Run<'_, L> {
    /// Up to where entries have not been looked at.
    type Sees = usize;

    #[inline(always)]
    fn at(self, row: Prim) -> usize {
        let Run { nodes, from, to, adjoints } = self;
        if !matches!(row, Prim::Add | Prim::Sub | Prim::Mul | Prim::Div) {
            return from;
        }
        let mut at = from - 1;
        let (Node { op, b, value: mut y, .. }, mut d) = (nodes.get(at), adjoints[at]);
        let (other, mut sum) = (nodes.value(b), adjoints[b as usize]);
        let to = to.max(b as usize + 1);
        'run: while at > to {
            let (entries, ops) = nodes.last_of(to, at);
            let adjoints = &mut adjoints[at - entries.len()..at];
            for ((entry, before), adjoint) in entries.iter().zip(ops).zip(adjoints).rev() {
                // Added to a zero, a product is what it was: the next one need not wait for the sum.
                if *adjoint != [0.0; L] {
                    break 'run;
                }
                let inputs = [entry.value, other, 0.0].map(|x| Of(Number(x)));
                let slopes = row.slopes(inputs, Of(Number(y)));
                for lane in 0..L {
                    sum[lane] += factor(slopes[1]) * d[lane];
                    d[lane] *= factor(slopes[0]);
                    // But a zero loses its sign.
                    adjoint[lane] = 0.0 + d[lane];
                }
                (at, y) = (at - 1, entry.value);
                let fits = *before == op && entry.b == b && entry.a as usize + 1 == at;
                if !fits || is_tiny(d) {
                    break 'run;
                }
            }
        }
        adjoints[b as usize] = sum;
        at + 1
    }
}

/// A partial of a row that chooses nothing.
#[inline(always)]
fn factor(slope: Partial<Of<Number>>) -> f64 {
    match slope {
        Partial::Const(c) => c,
        Partial::Of(p) | Partial::Where(p) => p.0.0,
    }
}

/// Whether nothing need be done for an adjoint.
#[inline(always)]
fn is_tiny<const L: usize>(d: Lanes<L>) -> bool {
    d.iter().all(|d| d.abs() < TINY)
}

/// Takes adjoints back through a run, where one ends at `from`; gives back up to where entries have not been looked at.
#[inline(never)]
fn run<const L: usize>(nodes: &Nodes, from: usize, to: usize, adjoints: &mut [Lanes<L>]) -> usize {
    let node = nodes.get(from - 1);
    let Op::Row(row) = node.op else { return from };
    if node.a as usize + 2 != from || node.b >= node.a || is_tiny(adjoints[from - 1]) {
        return from;
    }
    row.shown(Run { nodes, from, to, adjoints })
}

/// The entries that a row reads, and its partials by them.
#[inline(always)]
pub(super) fn slopes(
    nodes: &Nodes,
    node: Node,
    at: usize,
    row: Prim,
) -> ([u32; 3], [Partial<Of<Number>>; 3]) {
    let count = row.slope_count();
    let third = if count == 3 { nodes.get(at - 1).a } else { 0 };
    let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
    // Those of a linear row need no values.
    if row.class() != Class::Linear {
        x = nodes.value(node.a);
        if count > 1 {
            y = nodes.value(node.b);
        }
        if count > 2 {
            z = nodes.value(third);
        }
    }
    let inputs = [Of(Number(x)), Of(Number(y)), Of(Number(z))];
    ([node.a, node.b, third], row.slopes(inputs, Of(Number(node.value))))
}

/// Takes adjoints back through entries `to..from`.
pub(super) fn reverse<const L: usize>(
    recording: &Recording,
    mut from: usize,
    to: usize,
    adjoints: &mut [Lanes<L>],
) -> Result<(), Error> {
    while from > to {
        from = run(&recording.nodes, from, to, adjoints);
        let next = to.max(from.saturating_sub(PART));
        one_by_one(recording, from, next, adjoints)?;
        from = next;
    }
    Ok(())
}

/// So many entries are looked at before a run is looked for again: other recordings should not be slower for it.
const PART: usize = 1024;

#[inline(never)]
fn one_by_one<const L: usize>(
    recording: &Recording,
    from: usize,
    to: usize,
    adjoints: &mut [Lanes<L>],
) -> Result<(), Error> {
    let nodes = &recording.nodes;
    for at in (to..from).rev() {
        let d = adjoints[at];
        let node = nodes.get(at);
        // Adjoints of calls are looked at when all their outputs have theirs.
        if is_tiny(d) && node.op != Op::Called {
            continue;
        }
        match node.op {
            Op::Row(row) => row.shown(Back { nodes, node, at, d, adjoints }),
            Op::Sum => {
                for (term, slope) in &recording.terms[node.a as usize..][..node.b as usize] {
                    for lane in 0..L {
                        adjoints[*term as usize][lane] += slope * d[lane];
                    }
                }
            }
            Op::Single => {
                for (term, slope) in &recording.singles[node.a as usize..][..node.b as usize] {
                    for lane in 0..L {
                        adjoints[*term as usize][lane] += f64::from(*slope) * d[lane];
                    }
                }
            }
            Op::Called if node.b == 0 => {
                call_back(recording, &recording.calls[node.a as usize], adjoints)?
            }
            Op::Called | Op::Input | Op::Constant | Op::Third => {}
        }
    }
    Ok(())
}

/// The numbers that went into a call and came out of it.
pub(super) fn around(recording: &Recording, call: &Call) -> (Vec<f64>, Vec<f64>) {
    let x = call.inputs.iter().map(|at| recording.nodes.value(*at)).collect();
    let y = (call.first..call.first + call.outputs).map(|at| recording.nodes.value(at)).collect();
    (x, y)
}

#[cold]
fn call_back<const L: usize>(
    recording: &Recording,
    call: &Call,
    adjoints: &mut [Lanes<L>],
) -> Result<(), Error> {
    let (x, y) = around(recording, call);
    let outputs = call.first as usize..(call.first + call.outputs) as usize;
    for lane in 0..L {
        // Results need not reach to the last output.
        let of = |at: usize| adjoints.get(at).map_or(0.0, |d| d[lane]);
        let dy: Vec<f64> = outputs.clone().map(of).collect();
        if dy.iter().all(|d| *d == 0.0) {
            continue;
        }
        let dx = counted(
            call,
            "adjoints of its inputs (`vjp`)",
            call.function.vjp(&x, &y, &dy)?,
            x.len(),
        )?;
        for (at, d) in call.inputs.iter().zip(dx) {
            adjoints[*at as usize][lane] += d;
        }
    }
    Ok(())
}

/// One row on the way there: its tangent.
struct There<'a> {
    nodes: &'a Nodes,
    node: Node,
    at: usize,
    tangents: &'a [f64],
}

impl Looks for There<'_> {
    type Sees = f64;

    #[inline(always)]
    fn at(self, row: Prim) -> f64 {
        let (places, slopes) = slopes(self.nodes, self.node, self.at, row);
        let mut sum = 0.0;
        for k in 0..row.slope_count() {
            let d = self.tangents[places[k] as usize];
            match slopes[k] {
                // A zero as a factor would make NaN of an infinite partial.
                _ if d == 0.0 => {}
                Partial::Const(c) => sum += c * d,
                Partial::Of(p) => sum += p.0.0 * d,
                Partial::Where(p) if p.0.0 == 1.0 => sum += d,
                Partial::Where(_) => {}
            }
        }
        sum
    }
}

/// Takes tangents through all entries; those of inputs are there.
pub(super) fn forward(recording: &Recording, tangents: &mut [f64]) -> Result<(), Error> {
    let nodes = &recording.nodes;
    for at in 0..nodes.len() {
        let node = nodes.get(at);
        match node.op {
            Op::Row(row) => tangents[at] = row.shown(There { nodes, node, at, tangents }),
            Op::Sum => {
                let terms = &recording.terms[node.a as usize..][..node.b as usize];
                tangents[at] =
                    terms.iter().map(|(term, slope)| slope * tangents[*term as usize]).sum();
            }
            Op::Single => {
                let terms = &recording.singles[node.a as usize..][..node.b as usize];
                let term = |(at, slope): &(u32, f32)| f64::from(*slope) * tangents[*at as usize];
                tangents[at] = terms.iter().map(term).sum();
            }
            Op::Called if node.b == 0 => {
                let call = &recording.calls[node.a as usize];
                let (x, y) = around(recording, call);
                let dx: Vec<f64> = call.inputs.iter().map(|at| tangents[*at as usize]).collect();
                let dy = call.function.jvp(&x, &y, &dx)?;
                let dy = counted(call, "tangents of its outputs (`jvp`)", dy, y.len())?;
                tangents[at..at + y.len()].copy_from_slice(&dy);
            }
            Op::Called | Op::Input | Op::Constant | Op::Third => {}
        }
    }
    Ok(())
}
