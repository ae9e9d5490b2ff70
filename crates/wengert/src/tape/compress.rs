//! Smaller recordings of the same results.
//!
//! Entries are written anew, one after the other: those that results need, without the ones that only hand a value on, and each
//! computation once. On request single-use chains become sums with known partials (`fuse`), in doubles or singles.
//!
//! Values and partials stay what they were, to the bit; where a value is used in more places than before, its adjoint
//! is summed in another order.

use super::error::Error;
use super::fuse;
use super::guard::Guard;
use super::nodes::{Node, Nodes, Op};
use super::outside::Call;
use super::recorder::{CONSTANT, Recording, with};
use super::stats::Stats;
use super::var::Var;
use super::{Misuse, MisuseKind, Tape};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use wengert_core::ops::Prim;

/// What [`Tape::compress_with`] does beyond what every compression does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// Chains of operations whose results are used once become one entry with the partials by what they begin with, where that is smaller.
    /// Such a recording has the same derivatives; it can no longer be replayed, nor become a program.
    pub fuse: bool,
    /// Partials of such entries, and of preaccumulated parts, are kept in single precision, where they are in its range.
    pub single: bool,
}

/// What a compression gives: variables that stand for those before it, and what it has saved.
///
/// All other variables of the tape are no longer any: using one is an error.
#[derive(Clone, Debug, Default)]
pub struct Compressed {
    /// All inputs of the tape, in the order they were made.
    pub inputs: Vec<Var>,
    /// The outputs, in the order they were given.
    pub outputs: Vec<Var>,
    /// The recording before.
    pub before: Stats,
    /// The recording now.
    pub after: Stats,
    /// Entries that no output needs.
    pub unused: usize,
    /// Entries that only hand on a value: `x * 1`, `x - 0`, `-(-x)`.
    pub trivial: usize,
    /// Entries that compute what stood there already.
    pub repeated: usize,
    /// Entries that have become part of others.
    pub fused: usize,
    /// The largest relative error of a partial that is kept in single precision.
    pub largest_error: f64,
}

impl fmt::Display for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (&self.before, &self.after);
        writeln!(f, "{} entries, now {}", before.entries, after.entries)?;
        writeln!(f, "{} bytes, now {}", before.bytes, after.bytes)?;
        let counts = [self.unused, self.trivial, self.repeated, self.fused];
        let [unused, trivial, repeated, fused] = counts;
        write!(f, "{unused} unused, {trivial} trivial, {repeated} repeated, {fused} fused")?;
        if self.largest_error > 0.0 {
            write!(f, "\npartials are off by at most {:.1e} of their size", self.largest_error)?;
        }
        Ok(())
    }
}

impl Tape {
    /// Writes the recording anew with only what these outputs need: without entries that hand on a value, and each computation
    /// once. Comparisons stay, and so do functions with derivatives of their own.
    ///
    /// Entries get other numbers, so the variables of before are no longer any: the inputs and outputs are given
    /// back as they are now.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(0.5);
    /// let unused = x.exp();
    /// let y = x.sin() * x.sin() * 1.0;
    /// let small = tape.compress(&[y])?;
    /// assert_eq!((small.before.entries, small.after.entries), (7, 3));
    /// let (x, y) = (small.inputs[0], small.outputs[0]);
    /// assert_eq!(y.backward()?.wrt(x)?, 2.0 * 0.5_f64.sin() * 0.5_f64.cos());
    /// assert!((unused + 1.0).misuse().is_some());
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn compress(&self, outputs: &[Var]) -> Result<Compressed, Error> {
        self.compress_with(outputs, Compression::default())
    }

    /// The same, and more on request.
    ///
    /// ```
    /// use wengert::tape::{Compression, Tape};
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(1.0);
    /// let y = (0..1000).fold(x, |y, _| y.sin());
    /// let before = y.backward()?.wrt(x)?;
    /// let small = tape.compress_with(&[y], Compression { fuse: true, single: true })?;
    /// assert_eq!(small.after.entries, 2);
    /// let after = small.outputs[0].backward()?.wrt(small.inputs[0])?;
    /// assert!(small.largest_error < 6e-8 && (after - before).abs() < 6e-8 * before.abs());
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn compress_with(&self, outputs: &[Var], how: Compression) -> Result<Compressed, Error> {
        let at = Location::caller();
        for y in outputs {
            y.checked(at)?;
        }
        let before = self.stats();
        let (inputs, places, mut all) = self.swept(|recording| {
            if !recording.primals.is_empty() {
                let why = "a recording of variables of an earlier tape is not compressed: compress the earlier one";
                return Err(Error::NotReplayable(why.into()));
            }
            if outputs.iter().any(|y| y.tag() != CONSTANT && !recording.owns(*y)) {
                return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
            }
            let roots: Vec<u32> =
                outputs.iter().filter(|y| y.tag() != CONSTANT).map(|y| y.index()).collect();
            let mut all = Compressed::default();
            let (mut next, mut places) = all.rewritten(recording, &roots);
            if all.trivial > 0 {
                // What led only to trivial entries is unused now.
                let roots: Vec<u32> = roots.iter().map(|at| places[*at as usize]).collect();
                let (last, to) = all.rewritten(&next, &roots);
                (next, places) = (last, led_on(places, &to));
            }
            if how.fuse || how.single {
                let roots: Vec<u32> = roots.iter().map(|at| places[*at as usize]).collect();
                let fused = fuse::fused(&next, &roots, how);
                (all.fused, all.largest_error) = (fused.count, fused.largest_error);
                (next, places) = (fused.next, led_on(places, &fused.places));
            }
            *recording = next;
            let nodes = recording.nodes.iter();
            let inputs: Vec<u32> =
                nodes.filter(|(_, node)| node.op == Op::Input).map(|(at, _)| at as u32).collect();
            Ok((inputs, places, all))
        })??;
        // Under a new tag, so that no variable of before is taken for another entry.
        let var = with(|stack| {
            let tag = stack.tag();
            let recorder = stack.find(self.id).ok_or(Error::NoTape)?;
            recorder.begin_anew(tag);
            let nodes = &recorder.recording.nodes;
            let var = |at: u32| Var::new(nodes.value(at), at, tag);
            let outputs = outputs.iter().map(|y| match y.tag() {
                CONSTANT => *y,
                _ => var(places[y.index() as usize]),
            });
            Ok::<_, Error>((inputs.into_iter().map(var).collect(), outputs.collect()))
        });
        (all.inputs, all.outputs) = var?;
        (all.before, all.after) = (before, self.stats());
        Ok(all)
    }
}

/// The place of an entry that is gone.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Compressed {
    /// A recording with only what these results need, and where its entries are now.
    fn rewritten(&mut self, from: &Recording, roots: &[u32]) -> (Recording, Vec<u32>) {
        let mut made = Making::new(from, roots);
        made.entries();
        self.unused += made.unused;
        self.trivial += made.trivial;
        self.repeated += made.repeated;
        (made.next, made.places)
    }
}

/// Where entries are that were moved twice.
fn led_on(places: Vec<u32>, to: &[u32]) -> Vec<u32> {
    let on = |place: u32| to.get(place as usize).copied().unwrap_or(NOWHERE);
    places.into_iter().map(on).collect()
}

/// A recording as it is written anew.
struct Making<'a> {
    from: &'a Recording,
    next: Recording,
    live: Vec<bool>,
    /// Where entries are now.
    places: Vec<u32>,
    constants: HashMap<u64, u32>,
    /// Entries by a hash of operation and inputs; a power of two of them.
    known: Vec<u32>,
    unused: usize,
    trivial: usize,
    repeated: usize,
}

impl<'a> Making<'a> {
    fn new(from: &'a Recording, roots: &[u32]) -> Making<'a> {
        let live = live(from, roots);
        let count = live.iter().filter(|live| **live).count();
        Making {
            from,
            next: empty_like(from),
            live,
            places: vec![NOWHERE; from.nodes.len()],
            constants: HashMap::new(),
            known: vec![NOWHERE; (2 * count).next_power_of_two()],
            unused: 0,
            trivial: 0,
            repeated: 0,
        }
    }

    fn entries(&mut self) {
        let from = self.from;
        let mut guards = from.guards.iter().flatten().peekable();
        for (at, node) in from.nodes.iter() {
            while let Some(guard) = guards.next_if(|guard| guard.before as usize <= at) {
                self.guard(guard);
            }
            if !self.live[at] {
                self.unused += usize::from(node.op != Op::Third || !self.live[at + 1]);
                continue;
            }
            self.places[at] = match node.op {
                Op::Constant => match self.constants.get(&node.value.to_bits()) {
                    Some(known) => {
                        self.repeated += 1;
                        *known
                    }
                    None => {
                        let place = write(&mut self.next, from, at, node);
                        self.constants.insert(node.value.to_bits(), place);
                        place
                    }
                },
                Op::Row(row) => self.row(at, node, row),
                Op::Sum => {
                    let first = self.next.terms.len() as u32;
                    let terms = from.terms[node.a as usize..][..node.b as usize].iter();
                    let places = &self.places;
                    let terms = terms.map(|(at, slope)| (places[*at as usize], *slope));
                    self.next.terms.extend(terms);
                    write(&mut self.next, from, at, Node { a: first, ..node })
                }
                Op::Single => {
                    let first = self.next.singles.len() as u32;
                    let terms = from.singles[node.a as usize..][..node.b as usize].iter();
                    let places = &self.places;
                    let terms = terms.map(|(at, slope)| (places[*at as usize], *slope));
                    self.next.singles.extend(terms);
                    write(&mut self.next, from, at, Node { a: first, ..node })
                }
                Op::Called => called(&mut self.next, from, at, node, &self.places),
                Op::Input | Op::Third => write(&mut self.next, from, at, node),
            };
        }
        guards.for_each(|guard| self.guard(guard));
    }

    fn guard(&mut self, guard: &Guard) {
        keep_guard(&mut self.next, guard, &self.places);
    }

    /// A row: what it hands on, where it stands already, or a new entry.
    fn row(&mut self, at: usize, node: Node, row: Prim) -> u32 {
        let arity = row.arity();
        let mut inputs = [0; 3];
        for (to, place) in inputs.iter_mut().zip(self.from.nodes.inputs(at, node)).take(arity) {
            *to = self.places[place as usize];
        }
        if let Some(same) = handed_on(&self.next.nodes, row, inputs) {
            self.trivial += 1;
            return same;
        }
        let slot = match self.standing(row, inputs) {
            Ok(same) => {
                self.repeated += 1;
                return same;
            }
            Err(slot) => slot,
        };
        let place = write_row(&mut self.next, self.from, at, node, inputs, arity);
        self.known[slot] = place;
        place
    }

    /// The entry that computes this already, or the slot for it.
    fn standing(&self, row: Prim, inputs: [u32; 3]) -> Result<u32, usize> {
        let mix = |hash: u64, x: u32| (hash ^ u64::from(x)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = inputs.into_iter().fold(mix(0, row as u32), mix);
        let last = self.known.len() - 1;
        let mut slot = (hash >> 32) as usize & last;
        loop {
            let at = self.known[slot];
            if at == NOWHERE {
                return Err(slot);
            }
            let node = self.next.nodes.get(at as usize);
            if node.op == Op::Row(row) && self.next.nodes.inputs(at as usize, node) == inputs {
                return Ok(at);
            }
            slot = (slot + 1) & last;
        }
    }
}

/// An empty recording that keeps what another does.
pub(super) fn empty_like(from: &Recording) -> Recording {
    Recording {
        places: from.places.as_ref().map(|_| Vec::new()),
        guards: from.guards.as_ref().map(|_| Vec::new()),
        conversions: from.conversions,
        ..Recording::default()
    }
}

/// Writes an entry, with the line of the one that it was.
pub(super) fn write(next: &mut Recording, from: &Recording, at: usize, node: Node) -> u32 {
    if let (Some(places), Some(before)) = (&mut next.places, &from.places) {
        places.push(before[at]);
    }
    next.nodes.push(node.op, node.a, node.b, node.value)
}

/// Writes a row of these entries.
pub(super) fn write_row(
    next: &mut Recording,
    from: &Recording,
    at: usize,
    node: Node,
    [a, b, c]: [u32; 3],
    arity: usize,
) -> u32 {
    if arity == 3 {
        write(next, from, at, Node { op: Op::Third, a: c, b: 0, value: 0.0 });
    }
    write(next, from, at, Node { a, b, ..node })
}

/// Writes an output of a call, and the call with its first one.
pub(super) fn called(
    next: &mut Recording,
    from: &Recording,
    at: usize,
    node: Node,
    places: &[u32],
) -> u32 {
    if node.b == 0 {
        let call = &from.calls[node.a as usize];
        let inputs = call.inputs.iter().map(|at| places[*at as usize]).collect();
        let first = next.nodes.len() as u32;
        let (function, outputs) = (call.function.clone(), call.outputs);
        next.calls.push(Rc::new(Call { function, inputs, first, outputs, at: call.at }));
    }
    let number = next.calls.len() as u32 - 1;
    write(next, from, at, Node { a: number, ..node })
}

/// Keeps a comparison of entries that have other numbers now.
pub(super) fn keep_guard(next: &mut Recording, guard: &Guard, places: &[u32]) {
    let before = next.nodes.len() as u32;
    let (a, b) = (places[guard.a as usize], places[guard.b as usize]);
    if let Some(guards) = &mut next.guards {
        guards.push(Guard { a, b, before, ..*guard });
    }
}

/// Which entries results, comparisons and calls need. Inputs stay.
fn live(from: &Recording, roots: &[u32]) -> Vec<bool> {
    let nodes = &from.nodes;
    let mut live = vec![false; nodes.len()];
    let guards = from.guards.iter().flatten().flat_map(|guard| [guard.a, guard.b]);
    for at in roots.iter().copied().chain(guards) {
        live[at as usize] = true;
    }
    for (at, node) in nodes.iter().rev() {
        match node.op {
            Op::Input => live[at] = true,
            Op::Called if node.b == 0 => {
                let call = &from.calls[node.a as usize];
                let outputs = at..at + call.outputs as usize;
                if live[outputs.clone()].iter().any(|live| *live) {
                    live[outputs].fill(true);
                    call.inputs.iter().for_each(|at| live[*at as usize] = true);
                }
            }
            _ if !live[at] => {}
            Op::Row(row) => {
                for place in nodes.inputs(at, node).into_iter().take(row.arity()) {
                    live[place as usize] = true;
                }
            }
            Op::Sum => {
                let terms = &from.terms[node.a as usize..][..node.b as usize];
                terms.iter().for_each(|(at, _)| live[*at as usize] = true);
            }
            Op::Single => {
                let terms = &from.singles[node.a as usize..][..node.b as usize];
                terms.iter().for_each(|(at, _)| live[*at as usize] = true);
            }
            Op::Called | Op::Constant | Op::Third => {}
        }
    }
    live
}

/// The entry that a row only hands on: value and partial are the same to the bit, whatever the input is.
fn handed_on(nodes: &Nodes, row: Prim, [a, b, _]: [u32; 3]) -> Option<u32> {
    let is = |at: u32, c: f64| {
        let node = nodes.get(at as usize);
        node.op == Op::Constant && node.value.to_bits() == c.to_bits()
    };
    match row {
        Prim::Mul | Prim::Div if is(b, 1.0) => Some(a),
        Prim::Mul if is(a, 1.0) => Some(b),
        Prim::Sub if is(b, 0.0) => Some(a),
        Prim::Add if is(b, -0.0) || is(b, 0.0) && is_no_negative_zero(nodes, a) => Some(a),
        Prim::Add if is(a, -0.0) || is(a, 0.0) && is_no_negative_zero(nodes, b) => Some(b),
        Prim::Neg => {
            let inner = nodes.get(a as usize);
            (inner.op == Op::Row(Prim::Neg)).then_some(inner.a)
        }
        _ => None,
    }
}

/// Whether an entry cannot be -0.0, to which 0.0 would make a difference.
fn is_no_negative_zero(nodes: &Nodes, at: u32) -> bool {
    let node = nodes.get(at as usize);
    match node.op {
        Op::Constant => node.value.to_bits() != (-0.0_f64).to_bits(),
        Op::Row(Prim::Mul) => node.a == node.b,
        // A sum is -0.0 only where both of its terms are.
        Op::Row(Prim::Add) => [node.a, node.b].iter().any(|at| {
            let term = nodes.get(*at as usize);
            term.op == Op::Constant && term.value.to_bits() != (-0.0_f64).to_bits()
        }),
        Op::Row(row) => matches!(
            row,
            Prim::Abs | Prim::Exp | Prim::Exp2 | Prim::Cosh | Prim::Sigmoid | Prim::Softplus
        ),
        _ => false,
    }
}
