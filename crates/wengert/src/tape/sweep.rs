//! Sweeps over a recording, as numbers: back for adjoints, there for tangents, there again for new values.

use super::error::Error;
use super::guard::holds;
use super::nodes::{Node, Nodes, Op};
use super::number::{Number, Of, value};
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
    from: usize,
    to: usize,
    adjoints: &mut [Lanes<L>],
) -> Result<(), Error> {
    let nodes = &recording.nodes;
    for at in (to..from).rev() {
        let d = adjoints[at];
        let node = nodes.get(at);
        // Adjoints of calls are looked at when all their outputs have theirs.
        if d.iter().all(|d| d.abs() < TINY) && node.op != Op::Called {
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
fn around(recording: &Recording, call: &Call) -> (Vec<f64>, Vec<f64>) {
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
        let dy: Vec<f64> = adjoints[outputs.clone()].iter().map(|d| d[lane]).collect();
        if dy.iter().all(|d| *d == 0.0) {
            continue;
        }
        let dx = counted(
            "adjoints of inputs that `vjp` gives",
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
                let dy = counted("tangents of outputs that `jvp` gives", dy, y.len())?;
                tangents[at..at + y.len()].copy_from_slice(&dy);
            }
            Op::Called | Op::Input | Op::Constant | Op::Third => {}
        }
    }
    Ok(())
}

/// One row on new values.
struct Again<'a> {
    nodes: &'a Nodes,
    node: Node,
    at: usize,
}

impl Looks for Again<'_> {
    type Sees = f64;

    #[inline(always)]
    fn at(self, row: Prim) -> f64 {
        let (a, b) = (self.nodes.value(self.node.a), self.nodes.value(self.node.b));
        let c = if row.slope_count() == 3 {
            self.nodes.value(self.nodes.get(self.at - 1).a)
        } else {
            0.0
        };
        value(row, [a, b, c])
    }
}

/// Computes every entry anew; inputs have their new values. Comparisons that come out otherwise are told.
pub(super) fn replay(recording: &mut Recording) -> Result<(), Error> {
    let mut guard = 0;
    for at in 0..recording.nodes.len() {
        guard = compare(recording, guard, at as u32)?;
        let nodes = &recording.nodes;
        let node = nodes.get(at);
        match node.op {
            Op::Row(row) => {
                let y = row.shown(Again { nodes, node, at });
                recording.nodes.set_value(at as u32, y);
            }
            Op::Sum | Op::Single => {
                let why = "a recording with preaccumulated or fused parts cannot be replayed: their partials hold for the inputs they were recorded at";
                return Err(Error::NotReplayable(why.into()));
            }
            Op::Called if node.b == 0 => {
                let call = recording.calls[node.a as usize].clone();
                let (x, _) = around(recording, &call);
                let y = counted(
                    "outputs of a function",
                    call.function.value(&x)?,
                    call.outputs as usize,
                )?;
                for (k, y) in y.into_iter().enumerate() {
                    recording.nodes.set_value(call.first + k as u32, y);
                }
            }
            Op::Called | Op::Input | Op::Constant | Op::Third => {}
        }
    }
    compare(recording, guard, u32::MAX)?;
    Ok(())
}

/// Makes the comparisons, from one on, that were made before an entry. Gives back the next one.
#[inline(always)]
fn compare(recording: &Recording, mut next: usize, at: u32) -> Result<usize, Error> {
    let Some(guards) = &recording.guards else { return Ok(next) };
    while let Some(guard) = guards.get(next).filter(|guard| guard.before <= at) {
        let (a, b) = (recording.nodes.value(guard.a), recording.nodes.value(guard.b));
        if holds(guard.row, a, b) != guard.holds {
            return Err(Error::OtherBranch {
                number: next,
                was: guard.holds,
                place: Some(guard.at),
            });
        }
        next += 1;
    }
    Ok(next)
}
